// Benchmarks of copies between host and device. The host side is pageable memory or a staging array.
#include <algorithm>
#include <cstring>

#include "bench.h"

namespace {

constexpr double min_speed_ratio = 0.95;
constexpr size_t KiB = 1024, MiB = 1024 * KiB;

int32_t elements(size_t bytes) {
    return static_cast<int32_t>(bytes / 4);
}

// The operands of a copy.
enum class Operands {
    whole, // a block of host memory, and an array
    view,  // an array_view over host memory, made valid on the device or on the host
    // The next three copy the middle section of a matrix. The section is half as wide and half as high as the matrix.
    section,       // the matrix is in host memory; the other operand is an array
    section_view,  // the matrix is in host memory; a section of an array_view over it is made valid on the device or on
                   // the host
    array_section, // the matrix is an array; the other operand is contiguous host memory
};

bool has_host_rows(Operands operands) {
    return operands == Operands::section || operands == Operands::section_view;
}

// A section of `bytes` bytes in the middle of a matrix that is twice as wide and twice as high.
struct MiddleSection {
    explicit MiddleSection(size_t bytes) {
        while (size_t(side) * side < bytes)
            side *= 2;
    }
    int32_t side = 1; // the side of the matrix, in 4-byte elements; the side of the section is half()
    Rows rows() const { return {size_t(side) * 2, size_t(side) * 4, (size_t(side) / 4 * side + side / 4) * 4}; }
    int32_t half() const { return side / 2; }
    // Calls `each(packed offset, offset in the matrix, bytes)` for each row.
    template <class Each> void for_each_row(Each each) const {
        const Rows r = rows();
        for (size_t y = 0; y < size_t(half()); y++)
            each(y * r.bytes, r.begin + y * r.pitch, r.bytes);
    }
};

// The untimed copies that a check needs before and after the checked copy.
struct CheckCopies {
    std::function<void()> store; // source -> device
    std::function<void()> fetch; // device -> target
};

std::function<void()> make_check(Bench &b, Operands operands, Direction direction, size_t size,
                                 std::function<void()> copy, CheckCopies check_copies) {
    return [&b, operands, direction, size, copy, check_copies] {
        const char *what = direction == Direction::up ? "upload" : "download";
        b.refill(has_host_rows(operands) ? 4 * size : size);
        if (direction == Direction::up) {
            copy();
            check_copies.fetch();
        } else {
            check_copies.store();
            copy();
        }
        if (!has_host_rows(operands)) return b.compare(size, what);
        MiddleSection(size).for_each_row([&](size_t packed, size_t there, size_t bytes) {
            const char *sent = &b.source[direction == Direction::up ? there : packed];
            const char *got = &b.target[direction == Direction::up ? packed : there];
            if (std::memcmp(sent, got, bytes) != 0)
                throw std::runtime_error(std::string(what) + ": wrong in the row at " + std::to_string(there));
        });
    };
}

void add(Bench &b, Case &c, const char *group, const std::string &name, Operands operands, Direction direction,
         size_t size, std::function<void()> copy, const CheckCopies &check_copies) {
    c.ways.push_back(
        {group, name, [copy] { return timed(copy); }, make_check(b, operands, direction, size, copy, check_copies)});
}

// Adds the way that uses an array_view over the memory, or a section of that array_view. The untimed part writes the
// view on one side. The timed part makes the view valid on the other side.
void add_view(Bench &b, Case &c, Operands operands, Direction direction, size_t size, const ours::View &view) {
    const bool up = direction == Direction::up, separate_memory = !b.plain->unified();
    auto copy = [&b, &view, up] {
        if (up) {
            view.synchronize_to(b.view, REVAMP_ACCESS_READ);
        } else {
            view.access(REVAMP_ACCESS_READ);
        }
    };
    auto run_once = [&b, &view, up, copy] {
        if (up) {
            view.access(REVAMP_ACCESS_WRITE);
        } else {
            view.synchronize_to(b.view, REVAMP_ACCESS_READ_WRITE);
        }
        return timed(copy);
    };
    // If host and device have separate memory, the check overwrites the host's copy without access through the view.
    auto check = [&b, &view, operands, up, separate_memory, size] {
        const size_t all = has_host_rows(operands) ? 4 * size : size;
        view.access(REVAMP_ACCESS_WRITE);
        b.refill(all);
        std::memcpy(b.target.data(), b.source.data(), all);
        view.synchronize_to(b.view, REVAMP_ACCESS_READ);
        view.synchronize_to(b.view, REVAMP_ACCESS_READ_WRITE);
        char *view_memory = up ? b.source.data() : b.target.data(), *reference = up ? b.target.data() : b.source.data();
        if (separate_memory) std::memset(view_memory, 0, all);
        view.access(REVAMP_ACCESS_READ);
        // Elements outside the section stay zero.
        if (separate_memory && has_host_rows(operands)) {
            std::vector<char> expected(all);
            MiddleSection(size).for_each_row(
                [&](size_t, size_t there, size_t bytes) { std::memcpy(&expected[there], reference + there, bytes); });
            std::memcpy(reference, expected.data(), all);
        }
        b.compare(all, "array_view");
    };
    c.ways.push_back(
        {"revamp", operands == Operands::section_view ? "section of an array_view" : "array_view", run_once, check});
}

std::vector<Lane> lanes(const Bench &b) {
    if (b.plain->has(Lane::transfer)) return {Lane::compute, Lane::transfer};
    return {Lane::compute};
}

// The ways to wait that are worth timing. For long copies the differences are negligible.
std::vector<Wait> waits(const Bench &b, size_t size) {
    if (size > 4 * MiB) return {b.plain->best_wait};
    return b.plain->waits();
}

void pageable(Bench &b, Operands operands, Direction direction, size_t size, const std::string &name) {
    const bool up = direction == Direction::up;
    Case c;
    c.name = name;
    c.bytes = static_cast<double>(size);
    c.goals = {{"plain Vulkan", {Goal::speed_at_least, min_speed_ratio}}};
    // With unified memory the copy is a memcpy. Below 1 MiB the overhead of the call would dominate.
    const bool whole = operands == Operands::whole;
    if (whole && b.plain->unified() && size >= MiB)
        c.goals["plain Vulkan, mapped"] = {Goal::speed_at_least, min_speed_ratio};
    b.need_host_memory(has_host_rows(operands) ? 4 * size : size);
    const MiddleSection square(size);
    const int32_t half = square.half();
    const Rows rows = has_host_rows(operands) ? square.rows() : Rows{};
    const Rows device_rows = operands == Operands::array_section ? square.rows() : Rows{};
    const size_t device_size = device_rows.bytes ? 4 * size : size;
    char *host = up ? b.source.data() : b.target.data();

    std::unique_ptr<ours::Array> array;
    ours::View view, section;
    if (b.with_ours && operands == Operands::view) {
        view = ours::View::over(host, {elements(size)});
        add_view(b, c, operands, direction, size, view);
    } else if (b.with_ours && operands == Operands::section_view) {
        view = ours::View::over(host, {square.side, square.side});
        section = view.section({half / 2, half / 2}, {half, half});
        add_view(b, c, operands, direction, size, section);
    } else if (b.with_ours && operands == Operands::array_section) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{square.side, square.side});
        auto copy = [&array, host, half, up] {
            const int32_t origin[] = {half / 2, half / 2}, extent[] = {half, half};
            const revamp_region there = ours::region(*array, origin, extent), here = ours::region(host, extent);
            ours::copy(up ? here : there, up ? there : here);
        };
        // The check copies the whole matrix.
        const CheckCopies check_copies{[&b, &array, square, size] {
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
                                               throw std::runtime_error("the copy wrote outside the section");
                                       }};
        if (up) array->upload(std::vector<char>(4 * size).data(), 4 * size);
        add(b, c, "revamp", "section of an array", operands, direction, size, copy, check_copies);
    } else if (b.with_ours) {
        array = whole ? std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements(size)})
                      : std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{half, half});
        const CheckCopies check_copies{[&] { array->upload(b.source.data(), size); },
                                       [&] { array->download(b.target.data(), size); }};
        if (whole) {
            add(b, c, "revamp", "", operands, direction, size, up ? check_copies.store : check_copies.fetch,
                check_copies);
        } else {
            view = ours::View::over(host, {square.side, square.side});
            section = view.section({half / 2, half / 2}, {half, half});
            auto copy = [&array, &section, up] {
                const revamp_region here = ours::region(*array), there = ours::region(section);
                ours::copy(up ? there : here, up ? here : there);
                if (!up) section.access(REVAMP_ACCESS_READ);
            };
            // The check accesses the matrix by its pointer, so it requests access to the view first.
            const CheckCopies with_access{[&view, check_copies] {
                                              check_copies.store();
                                              view.access(REVAMP_ACCESS_WRITE);
                                          },
                                          check_copies.fetch};
            auto checked_copy = [&view, copy, up] {
                if (up) view.access(REVAMP_ACCESS_WRITE);
                copy();
            };
            c.ways.push_back({"revamp", "section of an array_view", [copy] { return timed(copy); },
                              make_check(b, operands, direction, size, checked_copy, with_access)});
        }
    }

    const Buffer device(*b.plain, device_size, Memory::device);
    // The checks of all plain Vulkan ways use `store` and `fetch`.
    const auto check_staging = b.plain->buffer(size, Memory::readback);
    WholeCopy store(*b.plain, Lane::compute, Direction::up, device, size, check_staging, device_rows);
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, device, size, check_staging, device_rows);
    const auto staging_buffer = b.plain->buffer(size, up ? Memory::upload : Memory::readback);
    const CheckCopies check_copies{[&] { store.run(b.source.data(), Wait::block); },
                                   [&] { fetch.run(b.target.data(), Wait::block); }};
    std::vector<std::unique_ptr<WholeCopy>> wholes;
    std::vector<std::unique_ptr<RingCopy>> rings;
    for (const Lane lane : lanes(b)) {
        wholes.push_back(
            std::make_unique<WholeCopy>(*b.plain, lane, direction, device, size, staging_buffer, device_rows));
        for (const Wait wait : waits(b, size))
            add(
                b, c, "plain Vulkan", std::string("staged whole, ") + name_of(lane) + ", " + name_of(wait), operands,
                direction, size, [w = wholes.back().get(), host, wait, rows] { w->run(host, wait, rows); },
                check_copies);
        auto ring = [&](Workers &workers, size_t chunk, Memory staging) {
            rings.push_back(std::make_unique<RingCopy>(*b.plain, workers, RingCopy::Shape{lane, chunk, staging},
                                                       direction, device, size, device_rows));
            add(
                b, c, "plain Vulkan",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread, " : " threads, ") +
                    size_text(static_cast<double>(chunk)) + " chunks, " + name_of(lane) +
                    (staging == Memory::upload_cached ? ", cached" : ""),
                operands, direction, size, [r = rings.back().get(), host, rows] { r->run(host, rows); }, check_copies);
        };
        const Memory staging = up ? Memory::upload : Memory::readback;
        if (size >= MiB) {
            const size_t chunk = std::clamp(size / 4, 256 * KiB, 2 * MiB);
            ring(b.one_worker, chunk, staging);
            ring(b.copy_threads, std::min(chunk, MiB), staging);
            if (size >= 64 * MiB) ring(b.copy_threads, 4 * MiB, staging);
            // Write-combined memory is the usual advice, but on some machines cached memory is faster to fill.
            if (up && b.plain->type_of(Memory::upload) != b.plain->type_of(Memory::upload_cached))
                ring(b.copy_threads, std::min(chunk, MiB), Memory::upload_cached);
        }
    }

    std::unique_ptr<Buffer> mapped;
    std::unique_ptr<WholeCopy> mapped_store, mapped_fetch;
    if (whole && b.mapped_peer && b.plain->has(Memory::direct) &&
        (up || b.plain->unified())) { // the host reads device memory over the bus far too slowly
        mapped = std::make_unique<Buffer>(*b.plain, size, Memory::direct);
        mapped_store =
            std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::up, *mapped, size, check_staging);
        mapped_fetch =
            std::make_unique<WholeCopy>(*b.plain, Lane::compute, Direction::down, *mapped, size, check_staging);
        const CheckCopies mapped_checks{[&] { mapped_store->run(b.source.data(), Wait::block); },
                                        [&] { mapped_fetch->run(b.target.data(), Wait::block); }};
        auto direct = [&](Workers &workers) {
            add(
                b, c, "plain Vulkan, mapped",
                std::to_string(workers.count()) + (workers.count() == 1 ? " thread" : " threads"), operands, direction,
                size,
                [&workers, direction, host, size, m = mapped.get()] {
                    direct_copy(workers, direction, *m, host, size);
                },
                mapped_checks);
        };
        direct(b.one_worker);
        if (size >= MiB) direct(b.copy_threads);
    }

    std::shared_ptr<void> cuda_device;
    if (b.cuda) {
        cuda_device = cuda_memory(*b.cuda, device_size, false);
        void *there = cuda_device.get();
        auto cuda_copy = [&b, there, device_rows, size](Direction d, char *here, Rows rows) {
            const size_t width = rows.bytes ? rows.bytes : device_rows.bytes ? device_rows.bytes : size;
            if (width == size) {
                cuda_check(d == Direction::up ? b.cuda->copy(there, here, size) : b.cuda->copy(here, there, size));
                return;
            }
            char *host_row = here + rows.begin, *device_row = static_cast<char *>(there) + device_rows.begin;
            const size_t host_pitch = rows.bytes ? rows.pitch : width,
                         device_pitch = device_rows.bytes ? device_rows.pitch : width, count = size / width;
            cuda_check(d == Direction::up
                           ? b.cuda->copy_rows(device_row, device_pitch, host_row, host_pitch, width, count)
                           : b.cuda->copy_rows(host_row, host_pitch, device_row, device_pitch, width, count));
        };
        // In the copies of the check, the host memory is contiguous.
        const CheckCopies copies{[cuda_copy, &b] { cuda_copy(Direction::up, b.source.data(), {}); },
                                 [cuda_copy, &b] { cuda_copy(Direction::down, b.target.data(), {}); }};
        add(
            b, c, "CUDA", rows.bytes || device_rows.bytes ? "pageable, cudaMemcpy2D" : "pageable", operands, direction,
            size, [cuda_copy, direction, host, rows] { cuda_copy(direction, host, rows); }, copies);
    }
    b.run(c);
}

void pinned(Bench &b, Direction direction, size_t size, const std::string &name) {
    const bool up = direction == Direction::up;
    Case c;
    c.name = name;
    c.bytes = static_cast<double>(size);
    c.goals = {{"plain Vulkan", {Goal::speed_at_least, min_speed_ratio}}};
    b.need_host_memory(size);

    std::unique_ptr<ours::Array> array, staging;
    if (b.with_ours) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements(size)});
        staging = std::make_unique<ours::Array>(b.cpu_view, std::initializer_list<int32_t>{elements(size)}, b.view);
        auto copy = [&, up] { ours::copy(ours::region(up ? *staging : *array), ours::region(up ? *array : *staging)); };
        c.ways.push_back({"revamp", "staging array", [copy] { return timed(copy); },
                          [&, copy, up] {
                              b.refill(size);
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
    const auto check_staging = b.plain->buffer(size, Memory::readback);
    WholeCopy store(*b.plain, Lane::compute, Direction::up, device, size, check_staging);
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, device, size, check_staging);
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
                                  b.refill(size);
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
    auto add_pageable = [&](Operands operands, size_t size, const char *up, const char *down) {
        for (const Direction direction : both) {
            const std::string name =
                std::string("copy ") + (direction == Direction::up ? up : down) + size_text(static_cast<double>(size));
            b.guarded(name, [&] { pageable(b, operands, direction, size, name); });
        }
    };
    for (const size_t size : all)
        add_pageable(Operands::whole, size, "host to device, ", "device to host, ");
    for (const size_t size : all)
        add_pageable(Operands::view, size, "by array_view, valid on the device, ",
                     "by array_view, valid on the host, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        add_pageable(Operands::section, size, "section of a host matrix to device, ",
                     "device to section of a host matrix, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        add_pageable(Operands::section_view, size, "section by array_view, valid on the device, ",
                     "section by array_view, valid on the host, ");
    for (const size_t size : {MiB, 16 * MiB, 256 * MiB})
        add_pageable(Operands::array_section, size, "host to section of an array, ", "section of an array to host, ");
    for (const size_t size : {4 * KiB, MiB, 16 * MiB, 256 * MiB, 1024 * MiB})
        for (const Direction direction : both) {
            const std::string name =
                std::string("copy ") +
                (direction == Direction::up ? "staging array to device, " : "device to staging array, ") +
                size_text(static_cast<double>(size));
            b.guarded(name, [&] { pinned(b, direction, size, name); });
        }
}
