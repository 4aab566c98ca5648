// Benchmarks of several Vulkan accelerators in one machine: the same work on one accelerator and on all accelerators,
// and copies between two accelerators.
#include <algorithm>

#include "bench.h"

namespace {

struct VulkanAccelerator {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    std::string name, path;
    bool emulated;
};

// The usable Vulkan accelerators, beginning with the one that the other cases use.
std::vector<VulkanAccelerator> vulkan_accelerators(const Bench &b) {
    size_t count = 0;
    ours::must(revamp_accelerator_list(nullptr, 0, &count), "revamp_accelerator_list");
    std::vector<revamp_accelerator> all(count);
    ours::must(revamp_accelerator_list(all.data(), all.size(), &count), "revamp_accelerator_list");
    std::vector<VulkanAccelerator> usable;
    for (const revamp_accelerator accelerator : all) {
        revamp_accelerator_info info{};
        info.struct_size = sizeof info;
        ours::must(revamp_accelerator_get_info(accelerator, &info), "revamp_accelerator_get_info");
        if (info.kind != REVAMP_ACCELERATOR_VULKAN || info.unusable_reason) continue;
        VulkanAccelerator other{accelerator, nullptr, info.description, info.device_path, info.is_emulated};
        ours::must(revamp_accelerator_get_default_view(accelerator, &other.view),
                   "revamp_accelerator_get_default_view");
        usable.insert(accelerator == b.accelerator ? usable.begin() : usable.end(), other);
    }
    return usable;
}

uint32_t high_bits(uint32_t element, uint32_t turns) {
    uint32_t state = element * 2654435761U + 1, count = 0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        state = state * 1664525 + 1013904223;
        count += state >> 31;
    }
    return count;
}

// Divides the elements among the accelerators, launches a kernel on each, and gathers the results in host memory.
class DividedWork {
  public:
    DividedWork(const std::vector<VulkanAccelerator> &on, uint32_t elements, uint32_t turns) : turns_(turns) {
        const auto parts = static_cast<uint32_t>(on.size());
        for (uint32_t i = 0; i < parts; i++) {
            const uint32_t first = elements / parts * i, last = i + 1 == parts ? elements : elements / parts * (i + 1);
            parts_.push_back({on[i].view, std::make_unique<ours::Kernel>(on[i].accelerator, orbit_shader), nullptr,
                              first, last - first});
            parts_.back().array = std::make_unique<ours::Array>(
                on[i].view, std::initializer_list<int32_t>{static_cast<int32_t>(last - first)});
        }
    }
    void run(uint32_t *result) {
        for (const Part &p : parts_) {
            const struct {
                uint64_t data;
                uint32_t first, count, turns, unused;
            } block{0, p.first, p.count, turns_, 0};
            const revamp_argument argument = revamp_argument_address(0, *p.array, REVAMP_ACCESS_WRITE);
            revamp_dispatch_info info{};
            info.struct_size = sizeof info;
            info.groups[0] = (p.count + 255) / 256;
            info.groups[1] = info.groups[2] = 1;
            info.block = &block;
            info.block_size = sizeof block;
            info.arguments = &argument;
            info.argument_count = 1;
            ours::must(revamp_dispatch(p.view, *p.kernel, &info), "revamp_dispatch");
            ours::must(revamp_accelerator_view_flush(p.view), "revamp_accelerator_view_flush");
        }
        std::vector<revamp_completion> done;
        for (const Part &p : parts_) {
            revamp_completion completion;
            ours::must(
                revamp_copy_from_array_async(*p.array, result + p.first, size_t{p.count} * 4, nullptr, &completion),
                "revamp_copy_from_array_async");
            done.push_back(completion);
        }
        for (const revamp_completion completion : done) {
            const revamp_status status = revamp_completion_get(completion);
            revamp_completion_release(completion);
            ours::must(status, "revamp_copy_from_array_async");
        }
    }

  private:
    struct Part {
        revamp_accelerator_view view;
        std::unique_ptr<ours::Kernel> kernel;
        std::unique_ptr<ours::Array> array;
        uint32_t first, count;
    };
    std::vector<Part> parts_;
    const uint32_t turns_;
};

void compare_one_with_all(Bench &b, const std::vector<VulkanAccelerator> &all, const std::string &name) {
    const bool soft = all.front().emulated;
    const uint32_t elements = soft ? 1 << 18 : 1 << 24, turns = soft ? 200 : 20000;
    const bool same_name =
        std::all_of(all.begin(), all.end(), [&](const VulkanAccelerator &o) { return o.name == all.front().name; });
    Case c;
    c.name = name + ": " + std::to_string(all.size());
    if (same_name && !soft && all.size() > 1)
        c.goals["one accelerator"] = {Goal::speed_at_least, 0.9 * double(all.size())};
    std::vector<uint32_t> result(elements);
    DividedWork one({all.front()}, elements, turns), on_all(all, elements, turns);
    auto add = [&](const char *group, DividedWork &work) {
        auto run = [&] { work.run(result.data()); };
        c.ways.push_back({group, "the same work", [run] { return timed(run); },
                          [&, run] {
                              std::fill(result.begin(), result.end(), ~0U);
                              run();
                              for (uint32_t i = 0; i < elements; i += 4099)
                                  if (result[i] != high_bits(i, turns))
                                      throw std::runtime_error("wrong: element " + std::to_string(i));
                              if (result.back() != high_bits(elements - 1, turns))
                                  throw std::runtime_error("wrong: the last element");
                          }});
    };
    add("revamp", on_all);
    add("one accelerator", one);
    b.run(c);
}

// The sixteen bytes of the UUID in "vulkan\<uuid>".
std::vector<uint8_t> uuid_in(const std::string &path) {
    std::string digits;
    for (const char c : path.substr(path.find('\\') + 1))
        if (c != '-') digits += c;
    std::vector<uint8_t> uuid;
    for (size_t i = 0; i + 1 < digits.size() && uuid.size() < 16; i += 2)
        uuid.push_back(static_cast<uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    uuid.resize(16);
    return uuid;
}

void copy_between(Bench &b, const VulkanAccelerator &first, const VulkanAccelerator &second, size_t size,
                  const std::string &name) {
    Case c;
    c.name = name;
    c.bytes = double(size);
    if (!second.emulated) c.goals["plain Vulkan"] = {Goal::speed_at_least, 0.95};
    b.need_host_memory(size);
    auto make_check = [&b, size](std::function<void()> store, std::function<void()> copy, std::function<void()> fetch) {
        return [=, &b] {
            b.refill(size);
            store();
            copy();
            fetch();
            b.compare(size, "copy between accelerators");
        };
    };
    const std::initializer_list<int32_t> extent{static_cast<int32_t>(size / 4)};
    const ours::Array from(first.view, extent), to(second.view, extent);
    auto copy = [&] {
        ours::copy(ours::region(from), ours::region(to));
        ours::wait(second.view);
    };
    c.ways.push_back({"revamp", "", [copy] { return timed(copy); },
                      make_check([&, size] { from.upload(b.source.data(), size); }, copy,
                                 [&, size] { to.download(b.target.data(), size); })});

    // The plain Vulkan peer runs only if the two devices have the same name. They then have the same driver, and the
    // functions in `vk` work for both devices.
    std::unique_ptr<PlainVulkan> other;
    if (first.name == second.name) other = std::make_unique<PlainVulkan>(uuid_in(second.path).data());
    std::unique_ptr<Buffer> source, target;
    std::unique_ptr<WholeCopy> down, store, fetch;
    std::unique_ptr<Job> up;
    std::unique_ptr<RingCopy> rings_down, rings_up;
    std::shared_ptr<Buffer> pinned;
    std::vector<char> pageable;
    if (other) {
        const Lane lane = b.plain->has(Lane::transfer) ? Lane::transfer : Lane::compute;
        source = std::make_unique<Buffer>(*b.plain, size, Memory::device);
        target = std::make_unique<Buffer>(*other, size, Memory::device);
        pinned = other->buffer(size, Memory::readback);
        down = std::make_unique<WholeCopy>(*b.plain, lane, Direction::down, *source, size);
        up = std::make_unique<Job>(*other, lane, [&](VkCommandBuffer commands) {
            const VkBufferCopy whole{0, 0, size};
            vk.CmdCopyBuffer(commands, pinned->handle, target->handle, 1, &whole);
        });
        store = std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::up, *source, size);
        fetch = std::make_unique<WholeCopy>(*other, Lane::compute, Direction::down, *target, size);
        pageable.resize(size);
        const RingCopy::Shape shape{lane, std::min<VkDeviceSize>(size / 4, 4 << 20), Memory::readback};
        rings_down = std::make_unique<RingCopy>(*b.plain, b.copy_threads, shape, Direction::down, *source, size);
        rings_up = std::make_unique<RingCopy>(*other, b.copy_threads, shape, Direction::up, *target, size);
        auto add_plain_vulkan = [&](const char *way, std::function<void()> work) {
            c.ways.push_back({"plain Vulkan", way, [work] { return timed(work); },
                              make_check([&] { store->run(b.source.data(), Wait::block); }, work,
                                         [&] { fetch->run(b.target.data(), Wait::block); })});
        };
        add_plain_vulkan("whole, pinned memory of each", [&] {
            down->run(pinned->data, b.plain->best_wait);
            up->run(b.plain->best_wait);
        });
        add_plain_vulkan("rings of pinned memory, ordinary memory between", [&] {
            rings_down->run(pageable.data());
            rings_up->run(pageable.data());
        });
    }
    std::shared_ptr<void> cuda_from, cuda_to;
    int ordinal_from = 0, ordinal_to = 0;
    if (b.cuda) {
        auto memory = [&](const VulkanAccelerator &on, int &number) {
            void *pointer = nullptr;
            cuda_check(b.cuda->allocate_on(uuid_in(on.path).data(), size, &pointer, &number));
            return std::shared_ptr<void>(pointer, [&b](void *m) { b.cuda->release(m, false); });
        };
        cuda_from = memory(first, ordinal_from);
        cuda_to = memory(second, ordinal_to);
        auto work = [&, size] {
            cuda_check(b.cuda->copy_between(cuda_to.get(), ordinal_to, cuda_from.get(), ordinal_from, size));
        };
        c.ways.push_back(
            {"CUDA", "cudaMemcpyPeer", [work] { return timed(work); },
             make_check([&, size] { cuda_check(b.cuda->copy(cuda_from.get(), b.source.data(), size)); }, work,
                        [&, size] { cuda_check(b.cuda->copy(b.target.data(), cuda_to.get(), size)); })});
    }
    b.run(c);
}

} // namespace

void bench_accelerators(Bench &b) {
    if (!b.with_ours) return;
    const std::string work = "the same work on all Vulkan accelerators, gathered on the host";
    const std::vector<VulkanAccelerator> all = vulkan_accelerators(b);
    b.guarded(work, [&] { compare_one_with_all(b, all, work); });
    for (const size_t mib : {1, 64, 256}) {
        const std::string name = "copy from one accelerator to another, " + std::to_string(mib) + " MiB";
        b.guarded(name, [&] {
            if (all.size() < 2) throw std::runtime_error("there is only one Vulkan accelerator");
            copy_between(b, all[0], all[1], mib << 20, name);
        });
    }
}
