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

// What of ordinary memory is copied.
enum class Part {
    whole, // all of it, to and from an array
    view,  // all of it, by an array_view over it that is made valid on the device, and on the host
    // The middle of a matrix, half of it each way:
    section,       // in ordinary memory, to and from an array
    section_view,  // in ordinary memory, by a section of an array_view over it that is made valid on the device, and on
                   // the host
    array_section, // of an array, to and from ordinary memory in one piece
};

bool has_host_rows(Part part) {
    return part == Part::section || part == Part::section_view;
}

// The section's place in its matrix, whose side is twice its own.
struct Square {
    explicit Square(size_t bytes) {
        while (size_t(side) * side < bytes)
            side *= 2;
    }
    int32_t side = 1; // of the matrix, four-byte elements: a quarter of them are the section's
    Rows rows() const { return {size_t(side) * 2, size_t(side) * 4, (size_t(side) / 4 * side + side / 4) * 4}; }
    int32_t half() const { return side / 2; }
    // Calls `each(packed offset, offset in the matrix, bytes)` for each row.
    template <class Each> void for_each_row(Each each) const {
        const Rows r = rows();
        for (size_t y = 0; y < size_t(half()); y++)
            each(y * r.bytes, r.begin + y * r.pitch, r.bytes);
    }
};

// What a copy's check does around it: put fresh numbers where it reads, fetch them from where it wrote, compare.
struct Around {
    std::function<void()> store; // source -> device
    std::function<void()> fetch; // device -> target
};

std::function<void()> checked(Bench &b, Part part, Direction direction, size_t size, std::function<void()> copy,
                              Around around) {
    return [&b, part, direction, size, copy, around] {
        const char *what = direction == Direction::up ? "upload" : "download";
        b.fresh(has_host_rows(part) ? 4 * size : size);
        if (direction == Direction::up) {
            copy();
            around.fetch();
        } else {
            around.store();
            copy();
        }
        if (!has_host_rows(part)) return b.compare(size, what);
        Square(size).for_each_row([&](size_t packed, size_t there, size_t bytes) {
            const char *sent = &b.source[direction == Direction::up ? there : packed];
            const char *got = &b.target[direction == Direction::up ? packed : there];
            if (std::memcmp(sent, got, bytes) != 0)
                throw std::runtime_error(std::string(what) + ": wrong in the row at " + std::to_string(there));
        });
    };
}

void add(Bench &b, Case &c, const char *group, const std::string &name, Part part, Direction direction, size_t size,
         std::function<void()> copy, const Around &around) {
    c.ways.push_back({group, name, [copy] { return timed(copy); }, checked(b, part, direction, size, copy, around)});
}

// An array_view over all of the memory, or a section of it: written on one side, which is not timed, and made valid on
// the other.
void add_view(Bench &b, Case &c, Part part, Direction direction, size_t size, const ours::View &view) {
    const bool up = direction == Direction::up, apart = !b.plain->unified();
    auto copy = [&b, &view, up] {
        if (up) {
            view.synchronize_to(b.view, REVAMP_ACCESS_READ);
        } else {
            view.access(REVAMP_ACCESS_READ);
        }
    };
    auto once = [&b, &view, up, copy] {
        if (up) {
            view.access(REVAMP_ACCESS_WRITE);
        } else {
            view.synchronize_to(b.view, REVAMP_ACCESS_READ_WRITE);
        }
        return timed(copy);
    };
    // What the host holds is overwritten behind the view's back, where it is not what the device uses.
    auto check = [&b, &view, part, up, apart, size] {
        const size_t all = has_host_rows(part) ? 4 * size : size;
        view.access(REVAMP_ACCESS_WRITE);
        b.fresh(all);
        std::memcpy(b.target.data(), b.source.data(), all);
        view.synchronize_to(b.view, REVAMP_ACCESS_READ);
        view.synchronize_to(b.view, REVAMP_ACCESS_READ_WRITE);
        char *used = up ? b.source.data() : b.target.data(), *kept = up ? b.target.data() : b.source.data();
        if (apart) std::memset(used, 0, all);
        view.access(REVAMP_ACCESS_READ);
        // Elements beside the section stay as they are.
        if (apart && has_host_rows(part)) {
            std::vector<char> expected(all);
            Square(size).for_each_row(
                [&](size_t, size_t there, size_t bytes) { std::memcpy(&expected[there], kept + there, bytes); });
            std::memcpy(kept, expected.data(), all);
        }
        b.compare(all, "array_view");
    };
    c.ways.push_back({"revamp", part == Part::section_view ? "section of an array_view" : "array_view", once, check});
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

void pageable(Bench &b, Part part, Direction direction, size_t size, const std::string &name) {
    const bool up = direction == Direction::up;
    Case c;
    c.name = name;
    c.bytes = static_cast<double>(size);
    c.goals = {{"plain Vulkan", {Goal::speed_at_least, at_least}}};
    // Where memory is one, the copy is a memcpy; below a MiB the call around it would be all that is measured.
    const bool whole = part == Part::whole;
    if (whole && b.plain->unified() && size >= MiB) c.goals["plain Vulkan, mapped"] = {Goal::speed_at_least, at_least};
    b.need_host_memory(has_host_rows(part) ? 4 * size : size);
    const Square square(size);
    const int32_t half = square.half();
    const Rows rows = has_host_rows(part) ? square.rows() : Rows{};
    const Rows device_rows = part == Part::array_section ? square.rows() : Rows{};
    const size_t device_size = device_rows.bytes ? 4 * size : size;
    char *host = up ? b.source.data() : b.target.data();

    std::unique_ptr<ours::Array> array;
    ours::View view, section;
    if (b.with_ours && part == Part::view) {
        view = ours::View::over(host, {elements(size)});
        add_view(b, c, part, direction, size, view);
    } else if (b.with_ours && part == Part::section_view) {
        view = ours::View::over(host, {square.side, square.side});
        section = view.section({half / 2, half / 2}, {half, half});
        add_view(b, c, part, direction, size, section);
    } else if (b.with_ours && part == Part::array_section) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{square.side, square.side});
        auto copy = [&array, host, half, up] {
            const int32_t origin[] = {half / 2, half / 2}, extent[] = {half, half};
            const revamp_region there = ours::region(*array, origin, extent), here = ours::region(host, extent);
            ours::copy(up ? here : there, up ? there : here);
        };
        // The check moves the whole matrix.
        const Around around{[&b, &array, square, size] {
                                std::vector<char> matrix(4 * size);
                                square.for_each_row([&](size_t packed, size_t there, size_t bytes) {
                                    std::memcpy(&matrix[there], &b.source[packed], bytes);
                                });
                                array->upload(matrix.data(), matrix.size());
                            },
                            [&b, &array, square, size] {
                                std::vector<char> matrix(4 * size);
                                array->download(matrix.data(), matrix.size());
                                square.for_each_row([&](size_t packed, size_t there, size_t bytes) {
                                    std::memcpy(&b.target[packed], &matrix[there], bytes);
                                    std::memset(&matrix[there], 0, bytes);
                                });
                                if (std::any_of(matrix.begin(), matrix.end(), [](char c) { return c != 0; }))
                                    throw std::runtime_error("the copy wrote beside the section");
                            }};
        if (up) array->upload(std::vector<char>(4 * size).data(), 4 * size);
        add(b, c, "revamp", "section of an array", part, direction, size, copy, around);
    } else if (b.with_ours) {
        array = whole ? std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements(size)})
                      : std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{half, half});
        const Around around{[&] { array->upload(b.source.data(), size); },
                            [&] { array->download(b.target.data(), size); }};
        if (whole) {
            add(b, c, "revamp", "", part, direction, size, up ? around.store : around.fetch, around);
        } else {
            view = ours::View::over(host, {square.side, square.side});
            section = view.section({half / 2, half / 2}, {half, half});
            auto copy = [&array, &section, up] {
                const revamp_region here = ours::region(*array), there = ours::region(section);
                ours::copy(up ? there : here, up ? here : there);
                if (!up) section.access(REVAMP_ACCESS_READ);
            };
            // The check writes the matrix itself, and looks at it.
            const Around with_access{[&view, around] {
                                         around.store();
                                         view.access(REVAMP_ACCESS_WRITE);
                                     },
                                     around.fetch};
            auto checked_copy = [&view, copy, up] {
                if (up) view.access(REVAMP_ACCESS_WRITE);
                copy();
            };
            c.ways.push_back({"revamp", "section of an array_view", [copy] { return timed(copy); },
                              checked(b, part, direction, size, checked_copy, with_access)});
        }
    }

    const Buffer device(*b.plain, device_size, Memory::device);
    // Checks go through these two, whatever the way that is checked.
    const auto checks = b.plain->buffer(size, Memory::readback);
    WholeCopy store(*b.plain, Lane::compute, Direction::up, device, size, checks, device_rows);
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, device, size, checks, device_rows);
    const auto staging_buffer = b.plain->buffer(size, up ? Memory::upload : Memory::readback);
    const Around around{[&] { store.run(b.source.data(), Wait::block); },
                        [&] { fetch.run(b.target.data(), Wait::block); }};
    std::vector<std::unique_ptr<WholeCopy>> wholes;
    std::vector<std::unique_ptr<RingCopy>> rings;
    for (const Lane lane : lanes(b)) {
        wholes.push_back(
            std::make_unique<WholeCopy>(*b.plain, lane, direction, device, size, staging_buffer, device_rows));
        for (const Wait wait : waits(b, size))
            add(
                b, c, "plain Vulkan", std::string("staged whole, ") + name_of(lane) + ", " + name_of(wait), part,
                direction, size, [w = wholes.back().get(), host, wait, rows] { w->run(host, wait, rows); }, around);
        auto ring = [&](Workers &workers, size_t chunk, Memory staging) {
            rings.push_back(std::make_unique<RingCopy>(*b.plain, workers, RingCopy::Shape{lane, chunk, staging},
                                                       direction, device, size, device_rows));
            add(
                b, c, "plain Vulkan",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread, " : " threads, ") +
                    size_text(static_cast<double>(chunk)) + " chunks, " + name_of(lane) +
                    (staging == Memory::upload_cached ? ", cached" : ""),
                part, direction, size, [r = rings.back().get(), host, rows] { r->run(host, rows); }, around);
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
    if (whole && b.mapped_peer && b.plain->has(Memory::direct) &&
        (up || b.plain->unified())) { // ReBAR is far too slow to read
        mapped = std::make_unique<Buffer>(*b.plain, size, Memory::direct);
        mapped_store = std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::up, *mapped, size, checks);
        mapped_fetch = std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::down, *mapped, size, checks);
        const Around through{[&] { mapped_store->run(b.source.data(), Wait::block); },
                             [&] { mapped_fetch->run(b.target.data(), Wait::block); }};
        auto direct = [&](Workers &workers) {
            add(
                b, c, "plain Vulkan, mapped",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread" : " threads"), part, direction,
                size,
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
        cuda_device = cuda_memory(*b.cuda, device_size, false);
        void *there = cuda_device.get();
        auto move = [&b, there, device_rows, size](Direction d, char *here, Rows rows) {
            const size_t width = rows.bytes ? rows.bytes : device_rows.bytes ? device_rows.bytes : size;
            if (width == size) {
                cuda_check(d == Direction::up ? b.cuda->copy(there, here, size) : b.cuda->copy(here, there, size));
                return;
            }
            char *near = here + rows.begin, *far = static_cast<char *>(there) + device_rows.begin;
            const size_t near_pitch = rows.bytes ? rows.pitch : width,
                         far_pitch = device_rows.bytes ? device_rows.pitch : width, count = size / width;
            cuda_check(d == Direction::up ? b.cuda->copy_rows(far, far_pitch, near, near_pitch, width, count)
                                          : b.cuda->copy_rows(near, near_pitch, far, far_pitch, width, count));
        };
        // The check's own copies are of packed ordinary memory.
        const Around copies{[move, &b] { move(Direction::up, b.source.data(), {}); },
                            [move, &b] { move(Direction::down, b.target.data(), {}); }};
        add(
            b, c, "CUDA", rows.bytes || device_rows.bytes ? "pageable, cudaMemcpy2D" : "pageable", part, direction,
            size, [move, direction, host, rows] { move(direction, host, rows); }, copies);
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
    const std::vector<Direction> both{Direction::up, Direction::down};
    const std::vector<size_t> all{4 * KiB, 64 * KiB, MiB, 16 * MiB, 64 * MiB, 256 * MiB, 1024 * MiB};
    auto ordinary = [&](Part part, size_t size, const char *up, const char *down) {
        for (const Direction direction : both) {
            const std::string name =
                std::string("copy ") + (direction == Direction::up ? up : down) + size_text(static_cast<double>(size));
            b.guarded(name, [&] { pageable(b, part, direction, size, name); });
        }
    };
    for (const size_t size : all)
        ordinary(Part::whole, size, "host to device, ", "device to host, ");
    for (const size_t size : all)
        ordinary(Part::view, size, "by array_view, valid on the device, ", "by array_view, valid on the host, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        ordinary(Part::section, size, "section of a host matrix to device, ", "device to section of a host matrix, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        ordinary(Part::section_view, size, "section by array_view, valid on the device, ",
                 "section by array_view, valid on the host, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        ordinary(Part::array_section, size, "host to section of an array, ", "section of an array to host, ");
    for (const size_t size : {4 * KiB, MiB, 16 * MiB, 256 * MiB, 1024 * MiB})
        for (const Direction direction : both) {
            const std::string name =
                std::string("copy ") +
                (direction == Direction::up ? "staging array to device, " : "device to staging array, ") +
                size_text(static_cast<double>(size));
            b.guarded(name, [&] { pinned(b, direction, size, name); });
        }
}
