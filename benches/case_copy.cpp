// Copies between the host and the device: from and to ordinary memory, and from and to staging arrays.
#include <algorithm>
#include <cstring>

#include "bench.h"

namespace {

constexpr double at_least = 0.95;
constexpr size_t KiB = 1024, MiB = 1024 * KiB;

int32_t elements(size_t bytes) {
    return static_cast<int32_t>(bytes / 4);
}

// What a copy's check does around it: put fresh numbers where it reads, fetch them from where it wrote, compare.
struct Around {
    std::function<void()> store; // source -> device
    std::function<void()> fetch; // device -> target
};

std::function<void()> checked(Bench &b, Direction direction, size_t size, std::function<void()> copy, Around around) {
    return [&b, direction, size, copy, around] {
        b.fresh(size);
        if (direction == Direction::up) {
            copy();
            around.fetch();
        } else {
            around.store();
            copy();
        }
        b.compare(size, direction == Direction::up ? "upload" : "download");
    };
}

void add(Bench &b, Case &c, const char *group, const std::string &name, Direction direction, size_t size,
         std::function<void()> copy, const Around &around) {
    c.ways.push_back({group, name, [copy] { return timed(copy); }, checked(b, direction, size, copy, around)});
}

std::vector<Lane> lanes(const Bench &b) {
    if (b.plain->has(Lane::transfer)) return {Lane::compute, Lane::transfer};
    return {Lane::compute};
}

// The ways to wait worth trying: on long copies they differ by nothing that matters.
std::vector<Wait> waits(const Bench &b, size_t size) {
    if (size > 4 * MiB) return {b.plain->best_wait};
    return b.plain->waits();
}

void pageable(Bench &b, Direction direction, size_t size, const std::string &name) {
    const bool up = direction == Direction::up;
    Case c;
    c.name = name;
    c.bytes = static_cast<double>(size);
    c.goals = {{"plain Vulkan", {Goal::speed_at_least, at_least}}};
    // Where memory is one, the copy is a memcpy; below a MiB the call around it would be all that is measured.
    if (b.plain->unified() && size >= MiB) c.goals["plain Vulkan, mapped"] = {Goal::speed_at_least, at_least};
    b.need_host_memory(size);
    void *host = up ? b.source.data() : b.target.data();

    std::unique_ptr<ours::Array> array;
    if (b.with_ours) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements(size)});
        const Around around{[&] { array->upload(b.source.data(), size); },
                            [&] { array->download(b.target.data(), size); }};
        add(b, c, "revamp", "", direction, size, up ? around.store : around.fetch, around);
    }

    const Buffer device(*b.plain, size, Memory::device);
    // Checks go through these two, whatever the way that is checked.
    const auto checks = b.plain->buffer(size, Memory::readback);
    WholeCopy store(*b.plain, Lane::compute, Direction::up, device, size, checks);
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, device, size, checks);
    const auto staging_buffer = b.plain->buffer(size, up ? Memory::upload : Memory::readback);
    const Around around{[&] { store.run(b.source.data(), Wait::block); },
                        [&] { fetch.run(b.target.data(), Wait::block); }};
    std::vector<std::unique_ptr<WholeCopy>> wholes;
    std::vector<std::unique_ptr<RingCopy>> rings;
    for (const Lane lane : lanes(b)) {
        wholes.push_back(std::make_unique<WholeCopy>(*b.plain, lane, direction, device, size, staging_buffer));
        for (const Wait wait : waits(b, size))
            add(
                b, c, "plain Vulkan", std::string("staged whole, ") + name_of(lane) + ", " + name_of(wait), direction,
                size, [whole = wholes.back().get(), host, wait] { whole->run(host, wait); }, around);
        auto ring = [&](Workers &workers, size_t chunk, Memory staging) {
            rings.push_back(std::make_unique<RingCopy>(*b.plain, workers, RingCopy::Shape{lane, chunk, staging},
                                                       direction, device, size));
            add(
                b, c, "plain Vulkan",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread, " : " threads, ") +
                    size_text(static_cast<double>(chunk)) + " chunks, " + name_of(lane) +
                    (staging == Memory::upload_cached ? ", cached" : ""),
                direction, size, [r = rings.back().get(), host] { r->run(host); }, around);
        };
        const Memory staging = up ? Memory::upload : Memory::readback;
        if (size >= MiB) {
            const size_t chunk = std::clamp(size / 4, 256 * KiB, 2 * MiB);
            ring(b.one, chunk, staging);
            ring(b.many, std::min(chunk, MiB), staging);
            if (size >= 64 * MiB) ring(b.many, 4 * MiB, staging);
            // Write-combined memory is the usual advice; on some machines the cached kind is faster to fill.
            if (up && b.plain->type_of(Memory::upload) != b.plain->type_of(Memory::upload_cached))
                ring(b.many, std::min(chunk, MiB), Memory::upload_cached);
        }
    }

    std::unique_ptr<Buffer> mapped;
    std::unique_ptr<WholeCopy> mapped_store, mapped_fetch;
    if (b.mapped_peer && b.plain->has(Memory::direct) && (up || b.plain->unified())) { // ReBAR is far too slow to read
        mapped = std::make_unique<Buffer>(*b.plain, size, Memory::direct);
        mapped_store = std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::up, *mapped, size, checks);
        mapped_fetch = std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::down, *mapped, size, checks);
        const Around through{[&] { mapped_store->run(b.source.data(), Wait::block); },
                             [&] { mapped_fetch->run(b.target.data(), Wait::block); }};
        auto direct = [&](Workers &workers) {
            add(
                b, c, "plain Vulkan, mapped",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread" : " threads"), direction, size,
                [&workers, direction, host, size, m = mapped.get()] {
                    direct_copy(workers, direction, *m, host, size);
                },
                through);
        };
        direct(b.one);
        if (size >= MiB) direct(b.many);
    }

    std::shared_ptr<void> cuda_device;
    if (b.cuda) {
        cuda_device = cuda_memory(*b.cuda, size, false);
        void *device_memory = cuda_device.get();
        const Around copies{
            [&b, device_memory, size] { cuda_check(b.cuda->copy(device_memory, b.source.data(), size)); },
            [&b, device_memory, size] { cuda_check(b.cuda->copy(b.target.data(), device_memory, size)); }};
        add(b, c, "CUDA", "pageable", direction, size, up ? copies.store : copies.fetch, copies);
    }
    b.run(c);
}

void pinned(Bench &b, Direction direction, size_t size, const std::string &name) {
    const bool up = direction == Direction::up;
    Case c;
    c.name = name;
    c.bytes = static_cast<double>(size);
    c.goals = {{"plain Vulkan", {Goal::speed_at_least, at_least}}};
    b.need_host_memory(size);

    std::unique_ptr<ours::Array> array, staging;
    if (b.with_ours) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements(size)});
        staging = std::make_unique<ours::Array>(b.cpu_view, std::initializer_list<int32_t>{elements(size)}, b.view);
        auto copy = [&, up] { ours::copy(ours::region(up ? *staging : *array), ours::region(up ? *array : *staging)); };
        c.ways.push_back({"revamp", "staging array", [copy] { return timed(copy); },
                          [&, copy, up] {
                              b.fresh(size);
                              if (up) {
                                  std::memcpy(staging->data(REVAMP_ACCESS_WRITE), b.source.data(), size);
                                  copy();
                                  array->download(b.target.data(), size);
                              } else {
                                  array->upload(b.source.data(), size);
                                  copy();
                                  std::memcpy(b.target.data(), staging->data(REVAMP_ACCESS_READ), size);
                              }
                              b.compare(size, "staging array");
                          }});
    }

    const Buffer device(*b.plain, size, Memory::device), host(*b.plain, size, up ? Memory::upload : Memory::readback);
    const auto checks = b.plain->buffer(size, Memory::readback);
    WholeCopy store(*b.plain, Lane::compute, Direction::up, device, size, checks);
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, device, size, checks);
    std::vector<std::unique_ptr<Job>> jobs;
    for (const Lane lane : lanes(b)) {
        jobs.push_back(std::make_unique<Job>(*b.plain, lane, [&](VkCommandBuffer commands) {
            const VkBufferCopy all{0, 0, size};
            vk.CmdCopyBuffer(commands, up ? host.handle : device.handle, up ? device.handle : host.handle, 1, &all);
            if (!up) host_barrier(commands);
        }));
        for (const Wait wait : b.plain->waits()) {
            auto copy = [job = jobs.back().get(), wait] { job->run(wait); };
            c.ways.push_back({"plain Vulkan", std::string("pinned, ") + name_of(lane) + ", " + name_of(wait),
                              [copy] { return timed(copy); },
                              [&, copy, up] {
                                  b.fresh(size);
                                  if (up) {
                                      std::memcpy(host.data, b.source.data(), size);
                                      copy();
                                      fetch.run(b.target.data(), Wait::block);
                                  } else {
                                      store.run(b.source.data(), Wait::block);
                                      copy();
                                      std::memcpy(b.target.data(), host.data, size);
                                  }
                                  b.compare(size, "pinned copy");
                              }});
        }
    }
    std::shared_ptr<void> cuda_device, cuda_host;
    if (b.cuda) {
        cuda_device = cuda_memory(*b.cuda, size, false);
        cuda_host = cuda_memory(*b.cuda, size, true);
        void *to = up ? cuda_device.get() : cuda_host.get(), *from = up ? cuda_host.get() : cuda_device.get();
        c.ways.push_back({"CUDA",
                          "pinned",
                          [&b, to, from, size] { return timed([&] { cuda_check(b.cuda->copy(to, from, size)); }); },
                          {}});
    }
    b.run(c);
}

} // namespace

void bench_copy(Bench &b) {
    for (const size_t size : {4 * KiB, 64 * KiB, MiB, 16 * MiB, 64 * MiB, 256 * MiB})
        for (const Direction direction : {Direction::up, Direction::down}) {
            const std::string name = std::string("copy ") +
                                     (direction == Direction::up ? "host to device, " : "device to host, ") +
                                     size_text(static_cast<double>(size));
            b.guarded(name, [&] { pageable(b, direction, size, name); });
        }
    for (const size_t size : {4 * KiB, MiB, 16 * MiB, 256 * MiB})
        for (const Direction direction : {Direction::up, Direction::down}) {
            const std::string name =
                std::string("copy ") +
                (direction == Direction::up ? "staging array to device, " : "device to staging array, ") +
                size_text(static_cast<double>(size));
            b.guarded(name, [&] { pinned(b, direction, size, name); });
        }
}
