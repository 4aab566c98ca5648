// Benchmarks of how the cost of an operation depends on the number of live views, sections or threads, or on a size.
// The table shows the cost at the largest number as revamp's figure, and the costs at smaller numbers as peers. The
// goal is a flat cost: at the largest number, the cost is at most twice the cost at the smallest number.
#include <algorithm>
#include <cstring>

#include "bench.h"
#include "launcher.h"
#include "pages.h"

namespace {

const Goal flat{Goal::time_at_most, 2.0};

std::string with_commas(uint64_t n) {
    std::string text = std::to_string(n);
    for (size_t at = text.size(); at > 3; at -= 3)
        text.insert(at - 3, ",");
    return text;
}

// Measures `op` at each point. Each call of `op` creates its own objects, so the objects of one point do not affect the
// other points.
template <class Op> void curve(Bench &b, const std::string &name, const std::vector<unsigned> &points, Op &&op) {
    Case c;
    c.name = name + ", at " + with_commas(points.back());
    one_operation_per_repetition(c);
    c.effort.min_repetitions = 3;
    c.goals["at " + with_commas(points.front())] = flat;
    c.ways.push_back({"revamp", "", [&op, n = points.back()] { return op(n); }, {}});
    for (size_t i = 0; i + 1 < points.size(); i++)
        c.ways.push_back({"at " + with_commas(points[i]), "the same", [&op, n = points[i]] { return op(n); }, {}});
    b.run(c);
}

constexpr unsigned max_views = 10000;
const std::vector<unsigned> view_counts{10, 100, 1000, max_views};
// The counts for a case that divides the time of a launch by the number of views. With fewer views, the fixed cost of
// the launch would dominate.
const std::vector<unsigned> large_view_counts{1000, 3000, max_views};

// ---- Live views

enum class Operation { section, access, launch, launch_after_access };

void live_views(Bench &b, Operation operation, const std::string &name) {
    const Pages memory(size_t{max_views} * 16);
    const ours::View source = ours::View::over(memory.data(), {int32_t{max_views}, 16});
    std::unique_ptr<Launcher> launch;
    if (operation == Operation::launch || operation == Operation::launch_after_access)
        launch = std::make_unique<Launcher>(b, !b.plain);
    curve(b, name, operation == Operation::launch_after_access ? large_view_counts : view_counts, [&](unsigned count) {
        std::vector<ours::View> views;
        views.reserve(count);
        auto section = [&](unsigned i) { return source.section({static_cast<int32_t>(i % max_views), 0}, {1, 16}); };
        for (unsigned i = 0; i < count; i++)
            views.push_back(section(i));
        if (operation == Operation::section || operation == Operation::access) {
            constexpr unsigned many = max_views;
            return thread_timed([&] {
                       for (unsigned i = 0; i < many; i++) {
                           const ours::View new_section = section(i);
                           if (operation == Operation::access) new_section.access(REVAMP_ACCESS_READ_WRITE);
                       }
                   }) /
                   many;
        }
        const std::vector<revamp_argument> argument{
            revamp_argument_view_address(address_offset(0), views.front(), REVAMP_ACCESS_NONE)};
        auto launches = [&](unsigned many) {
            const double spent = thread_timed([&] {
                for (unsigned i = 0; i < many; i++)
                    (*launch)(argument, 1);
            });
            launch->wait();
            return spent / many;
        };
        launches(1);
        if (operation == Operation::launch) return launches(200);
        // The launch ends the host access of all views: it clears the state word of each view.
        const unsigned rounds = std::max(1U, max_views / count);
        double spent = 0;
        for (unsigned round = 0; round < rounds; round++) {
            for (const ours::View &view : views)
                view.access(REVAMP_ACCESS_READ_WRITE);
            spent += launches(1);
        }
        return spent / rounds / count;
    });
}

void live_sources(Bench &b, bool with_launch, const std::string &name) {
    const Pages memory(size_t{max_views} * 16 + 16);
    std::unique_ptr<Launcher> launch;
    if (with_launch) launch = std::make_unique<Launcher>(b, !b.plain);
    curve(b, name, view_counts, [&](unsigned count) {
        std::vector<ours::View> views;
        views.reserve(count);
        for (unsigned i = 0; i < count; i++)
            views.push_back(ours::View::over(memory.data() + size_t{i} * 16, {16}));
        if (!with_launch) {
            constexpr unsigned many = 2000;
            return thread_timed([&] {
                       for (unsigned i = 0; i < many; i++)
                           ours::View::over(memory.data() + size_t{max_views} * 16, {16});
                   }) /
                   many;
        }
        std::vector<std::vector<revamp_argument>> arguments;
        for (const ours::View &view : views)
            arguments.push_back({revamp_argument_view_address(address_offset(0), view, REVAMP_ACCESS_NONE)});
        auto launch_each = [&] {
            return thread_timed([&] {
                for (const auto &argument : arguments)
                    (*launch)(argument, 1);
            });
        };
        launch_each();
        launch->wait();
        const unsigned rounds = std::max(1U, 1000 / count);
        double spent = 0;
        for (unsigned round = 0; round < rounds; round++) {
            spent += launch_each();
            launch->wait();
        }
        return spent / rounds / count;
    });
}

// ---- Sections created and released

void sections(Bench &b, const std::string &name) {
    constexpr int32_t rows = 4096, columns = 64;
    const Pages memory(size_t{rows} * columns);
    const ours::View matrix = ours::View::over(memory.data(), {rows, columns});
    curve(b, name, {1000, 10000, 100000, 1000000}, [&](unsigned count) {
        return thread_timed([&] {
                   for (unsigned i = 0; i < count; i++)
                       matrix.section({static_cast<int32_t>(i % rows), 0}, {1, columns});
               }) /
               count;
    });
}

// ---- Threads

struct OwnedView {
    OwnedView(revamp_accelerator accelerator) {
        ours::must(revamp_accelerator_create_view(accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &handle),
                   "revamp_accelerator_create_view");
    }
    ~OwnedView() { revamp_accelerator_view_release(handle); }
    OwnedView(const OwnedView &) = delete;
    revamp_accelerator_view handle = nullptr;
};

// Each thread launches on an accelerator_view of its own. Measures the seconds for one launch: the elapsed time, or the
// sum of the threads' processor times, divided by the launches of all threads.
void threads(Bench &b, bool processor_time, const std::string &name) {
    const std::vector<unsigned> counts{1, 2, 4, 8, 16, 32, 64};
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    std::vector<std::unique_ptr<OwnedView>> views;
    std::vector<std::unique_ptr<ours::Array>> arrays;
    std::vector<std::unique_ptr<Workers>> workers;
    for (unsigned i = 0; i < counts.back(); i++) {
        views.push_back(std::make_unique<OwnedView>(b.accelerator));
        arrays.push_back(std::make_unique<ours::Array>(views.back()->handle, std::initializer_list<int32_t>{64}));
    }
    for (const unsigned count : counts)
        workers.push_back(std::make_unique<Workers>(count));
    curve(b, name, counts, [&](unsigned count) {
        const unsigned launches = std::max(100U, 3200 / count);
        std::vector<double> spent(count);
        Workers &pool = **std::find_if(workers.begin(), workers.end(), [&](auto &w) { return w->count() == count; });
        const double all = timed([&] {
            pool.run([&](unsigned t) {
                const AddOneBlock block{0, 64, {}};
                const revamp_argument argument =
                    revamp_argument_address(address_offset(0), *arrays[t], REVAMP_ACCESS_READ_WRITE);
                revamp_dispatch_info info{};
                info.struct_size = sizeof info;
                info.groups[0] = info.groups[1] = info.groups[2] = 1;
                info.block = &block;
                info.block_size = sizeof block;
                info.arguments = &argument;
                info.argument_count = 1;
                spent[t] = thread_timed([&] {
                    for (unsigned i = 0; i < launches; i++)
                        ours::must(revamp_dispatch(views[t]->handle, kernel, &info), "revamp_dispatch");
                });
                ours::wait(views[t]->handle);
            });
        });
        double sum = 0;
        for (const double s : spent)
            sum += s;
        return (processor_time ? sum : all) / (double(launches) * count);
    });
}

// ---- 2-D sections of a large view

constexpr int32_t side = 4096;
const std::vector<unsigned> square_sizes{64, 256, 1024, side};

ours::View square(const ours::View &matrix, unsigned n) {
    const auto extent = static_cast<int32_t>(n), at = n == side ? 0 : (side - extent) / 2;
    return matrix.section({at, at}, {extent, extent});
}

void capture_square(Bench &b, const std::string &name) {
    const Pages memory(size_t{side} * side);
    const ours::View matrix = ours::View::over(memory.data(), {side, side});
    Launcher launch(b, !b.plain);
    curve(b, name, square_sizes, [&](unsigned n) {
        constexpr unsigned many = 500;
        const ours::View square_section = square(matrix, n);
        const std::vector<revamp_argument> argument{
            revamp_argument_view_address(address_offset(0), square_section, REVAMP_ACCESS_NONE)};
        launch(argument, 1);
        launch.wait();
        const double spent = thread_timed([&] {
            for (unsigned i = 0; i < many; i++)
                launch(argument, 1);
        });
        launch.wait();
        return spent / many;
    });
}

// Copies a section in the middle of an array's view to an array of the section's size, on the device.
void copy_square(Bench &b, unsigned n, const std::string &name) {
    const auto extent = static_cast<int32_t>(n);
    const size_t bytes = size_t{n} * n * 4;
    Case c;
    c.name = name;
    c.bytes = 2.0 * double(bytes);
    ours::Array from(b.view, {side, side}), to(b.view, {extent, extent});
    const ours::View matrix = ours::View::over(from), square_section = square(matrix, n), whole = ours::View::over(to);
    auto copy = [&] {
        ours::copy(ours::region(square_section), ours::region(whole));
        ours::wait(b.view);
    };
    auto check = [&] {
        b.refill(size_t{side} * side * 4);
        from.upload(b.source.data(), size_t{side} * side * 4);
        copy();
        to.download(b.target.data(), bytes);
        const size_t at = n == side ? 0 : (side - n) / 2;
        for (size_t y = 0; y < n; y++)
            if (std::memcmp(&b.target[y * n * 4], &b.source[((at + y) * side + at) * 4], size_t{n} * 4) != 0)
                throw std::runtime_error("wrong in row " + std::to_string(y));
    };
    c.ways.push_back({"revamp", "", [&] { return timed(copy); }, check});
    b.run(c);
}

// ---- Large arrays

void large_array(Bench &b, uint64_t gib, const std::string &name) {
    revamp_accelerator_info device_info{};
    device_info.struct_size = sizeof device_info;
    ours::must(revamp_accelerator_get_info(b.accelerator, &device_info), "revamp_accelerator_get_info");
    const uint64_t bytes = gib << 30, count = bytes / 4, device_memory = uint64_t{device_info.dedicated_memory} << 10;
    if (device_memory < bytes + bytes / 8)
        throw std::runtime_error("the device has " + std::to_string(device_memory >> 20) + " MiB of memory");
    constexpr int32_t row = 1 << 26; // 64 Mi elements, which are 256 MiB
    const ours::Kernel kernel(b.accelerator, fill_large_shader);
    struct {
        uint64_t data, count;
    } block{0, count};
    auto expected = [](uint64_t i) { return uint32_t(i) ^ (uint32_t(i >> 32) * 2654435761U); };
    auto fill_and_check = [&] {
        const ours::Array array(b.view, {static_cast<int32_t>(count / row), row});
        const revamp_argument argument = revamp_argument_address(0, array, REVAMP_ACCESS_WRITE);
        revamp_dispatch_info info{};
        info.struct_size = sizeof info;
        info.groups[0] = 1 << 14;
        info.groups[1] = info.groups[2] = 1;
        info.block = &block;
        info.block_size = sizeof block;
        info.arguments = &argument;
        info.argument_count = 1;
        ours::must(revamp_dispatch(b.view, kernel, &info), "revamp_dispatch");
        ours::wait(b.view);
        // Checks sixteen elements at each end, and on both sides of each multiple of 4 GiB.
        std::vector<uint64_t> offsets{0, count - 16};
        for (uint64_t border = uint64_t{1} << 30; border < count; border += uint64_t{1} << 30) {
            offsets.push_back(border - 16);
            offsets.push_back(border);
        }
        for (const uint64_t offset : offsets) {
            uint32_t got[16];
            const int32_t origin[] = {static_cast<int32_t>(offset / row), static_cast<int32_t>(offset % row)};
            const int32_t extent[] = {1, 16};
            revamp_region host_region{};
            host_region.struct_size = sizeof host_region;
            host_region.host = got;
            host_region.host_rank = 2;
            host_region.host_element_size = 4;
            host_region.extent = extent;
            ours::copy(ours::region(array, origin, extent), host_region);
            for (uint64_t i = 0; i < 16; i++)
                if (got[i] != expected(offset + i))
                    throw std::runtime_error("wrong: element " + std::to_string(offset + i) + " is " +
                                             std::to_string(got[i]));
        }
    };
    Case c;
    c.name = name;
    c.bytes = double(bytes);
    c.effort.min_repetitions = b.plain->software() ? 1 : 3;
    c.effort.max_repetitions = 5;
    c.effort.repetition = 0;
    c.ways.push_back({"revamp", "", [&] { return timed(fill_and_check); }, {}});
    b.run(c);
}

} // namespace

void bench_scale(Bench &b) {
    if (!b.with_ours) return;
    const std::pair<Operation, const char *> operations[] = {
        {Operation::section, "make and drop a section"},
        {Operation::access, "make a section, access it on the host, drop it"},
        {Operation::launch, "a launch on one of them, already valid"},
        {Operation::launch_after_access, "a launch on one, after host access to all: for each of them"},
    };
    for (const auto &[operation, text] : operations) {
        const std::string name = std::string("live views of one data source: ") + text;
        b.guarded(name, [&, operation = operation] { live_views(b, operation, name); });
    }
    for (const bool with_launch : {false, true}) {
        const std::string name = std::string("live views of as many data sources: ") +
                                 (with_launch ? "a launch on each in turn" : "make and drop one more");
        b.guarded(name, [&] { live_sources(b, with_launch, name); });
    }
    const std::string dropped = "sections made and dropped, each",
                      captured = "launch on a square section of 4096x4096, already valid";
    b.guarded(dropped, [&] { sections(b, dropped); });
    b.guarded(captured, [&] { capture_square(b, captured); });
    if (!b.plain) return;
    for (const bool processor_time : {false, true}) {
        const std::string name = std::string("threads launching on accelerator_views of their own: ") +
                                 (processor_time ? "processor time of a launch" : "time of a launch, all together");
        b.guarded(name, [&] { threads(b, processor_time, name); });
    }
    for (const unsigned n : square_sizes) {
        const std::string size = std::to_string(n),
                          name = "copy of a section " + size + "x" + size + " of 4096x4096 floats (read + written)";
        b.guarded(name, [&] { copy_square(b, n, name); });
    }
    for (const uint64_t gib : {1, 4, 16, 32}) {
        const std::string name =
            "array of " + std::to_string(gib) + " GiB: make, fill by a kernel, read in places, drop";
        b.guarded(name, [&] { large_array(b, gib, name); });
    }
}
