// What an operation costs as the number of live views, of sections, of threads, or the size grows. The largest number
// is ours, the smaller ones stand as its peers: a cost that is flat is at most twice that at the smallest.
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

// A line for each point; `op` is made anew for each, so that one point's objects are gone when the next is measured.
template <class Op> void curve(Bench &b, const std::string &name, const std::vector<unsigned> &points, Op &&op) {
    Case c;
    c.name = name + ", at " + with_commas(points.back());
    as_is(c);
    c.effort.least = 3;
    c.goals["at " + with_commas(points.front())] = flat;
    c.ways.push_back({"revamp", "", [&op, n = points.back()] { return op(n); }, {}});
    for (size_t i = 0; i + 1 < points.size(); i++)
        c.ways.push_back({"at " + with_commas(points[i]), "the same", [&op, n = points[i]] { return op(n); }, {}});
    b.run(c);
}

constexpr unsigned crowd = 10000;
const std::vector<unsigned> crowds{10, 100, 1000, crowd};
// Where each of them costs less than the one launch that all of them share.
const std::vector<unsigned> large_crowds{1000, 3000, crowd};

// ---- Live views

enum class Act { section, access, launch, launch_after_access };

void live_views(Bench &b, Act act, const std::string &name) {
    const Pages memory(size_t{crowd} * 16);
    const ours::View source = ours::View::over(memory.data(), {int32_t{crowd}, 16});
    std::unique_ptr<Launcher> launch;
    if (act == Act::launch || act == Act::launch_after_access) launch = std::make_unique<Launcher>(b, !b.plain);
    curve(b, name, act == Act::launch_after_access ? large_crowds : crowds, [&](unsigned count) {
        std::vector<ours::View> views;
        views.reserve(count);
        auto section = [&](unsigned i) { return source.section({static_cast<int32_t>(i % crowd), 0}, {1, 16}); };
        for (unsigned i = 0; i < count; i++)
            views.push_back(section(i));
        if (act == Act::section || act == Act::access) {
            constexpr unsigned many = crowd;
            return thread_timed([&] {
                       for (unsigned i = 0; i < many; i++) {
                           const ours::View made = section(i);
                           if (act == Act::access) made.access(REVAMP_ACCESS_READ_WRITE);
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
        if (act == Act::launch) return launches(200);
        // The launch takes back what all of them say of the host: for each of them a word.
        const unsigned rounds = std::max(1U, crowd / count);
        double spent = 0;
        for (unsigned round = 0; round < rounds; round++) {
            for (const ours::View &view : views)
                view.access(REVAMP_ACCESS_READ_WRITE);
            spent += launches(1);
        }
        return spent / rounds / count;
    });
}

void live_sources(Bench &b, bool launching, const std::string &name) {
    const Pages memory(size_t{crowd} * 16 + 16);
    std::unique_ptr<Launcher> launch;
    if (launching) launch = std::make_unique<Launcher>(b, !b.plain);
    curve(b, name, crowds, [&](unsigned count) {
        std::vector<ours::View> views;
        views.reserve(count);
        for (unsigned i = 0; i < count; i++)
            views.push_back(ours::View::over(memory.data() + size_t{i} * 16, {16}));
        if (!launching) {
            constexpr unsigned many = 2000;
            return thread_timed([&] {
                       for (unsigned i = 0; i < many; i++)
                           ours::View::over(memory.data() + size_t{crowd} * 16, {16});
                   }) /
                   many;
        }
        std::vector<std::vector<revamp_argument>> arguments;
        for (const ours::View &view : views)
            arguments.push_back({revamp_argument_view_address(address_offset(0), view, REVAMP_ACCESS_NONE)});
        auto each = [&] {
            return thread_timed([&] {
                for (const auto &argument : arguments)
                    (*launch)(argument, 1);
            });
        };
        each();
        launch->wait();
        const unsigned rounds = std::max(1U, 1000 / count);
        double spent = 0;
        for (unsigned round = 0; round < rounds; round++) {
            spent += each();
            launch->wait();
        }
        return spent / rounds / count;
    });
}

// ---- Sections made and dropped

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

struct OwnView {
    OwnView(revamp_accelerator accelerator) {
        ours::must(revamp_accelerator_create_view(accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &handle),
                   "revamp_accelerator_create_view");
    }
    ~OwnView() { revamp_accelerator_view_release(handle); }
    OwnView(const OwnView &) = delete;
    revamp_accelerator_view handle = nullptr;
};

// Threads that launch on accelerator_views of their own: seconds for a launch, of all together or of a thread's
// processor time.
void threads(Bench &b, bool processor_time, const std::string &name) {
    const std::vector<unsigned> counts{1, 2, 4, 8, 16, 32, 64};
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    std::vector<std::unique_ptr<OwnView>> views;
    std::vector<std::unique_ptr<ours::Array>> arrays;
    std::vector<std::unique_ptr<Workers>> workers;
    for (unsigned i = 0; i < counts.back(); i++) {
        views.push_back(std::make_unique<OwnView>(b.accelerator));
        arrays.push_back(std::make_unique<ours::Array>(views.back()->handle, std::initializer_list<int32_t>{64}));
    }
    for (const unsigned count : counts)
        workers.push_back(std::make_unique<Workers>(count));
    curve(b, name, counts, [&](unsigned count) {
        const unsigned launches = std::max(100U, 3200 / count);
        std::vector<double> spent(count);
        Workers &own = **std::find_if(workers.begin(), workers.end(), [&](auto &w) { return w->count() == count; });
        const double all = timed([&] {
            own.run([&](unsigned t) {
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
const std::vector<unsigned> squares{64, 256, 1024, side};

ours::View square(const ours::View &matrix, unsigned n) {
    const auto extent = static_cast<int32_t>(n), at = n == side ? 0 : (side - extent) / 2;
    return matrix.section({at, at}, {extent, extent});
}

void capture_square(Bench &b, const std::string &name) {
    const Pages memory(size_t{side} * side);
    const ours::View matrix = ours::View::over(memory.data(), {side, side});
    Launcher launch(b, !b.plain);
    curve(b, name, squares, [&](unsigned n) {
        constexpr unsigned many = 500;
        const ours::View part = square(matrix, n);
        const std::vector<revamp_argument> argument{
            revamp_argument_view_address(address_offset(0), part, REVAMP_ACCESS_NONE)};
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

// From the middle of a view of an array to an array of the section's size, on the device.
void copy_square(Bench &b, unsigned n, const std::string &name) {
    const auto extent = static_cast<int32_t>(n);
    const size_t bytes = size_t{n} * n * 4;
    Case c;
    c.name = name;
    c.bytes = 2.0 * double(bytes);
    ours::Array from(b.view, {side, side}), to(b.view, {extent, extent});
    const ours::View matrix = ours::View::over(from), part = square(matrix, n), whole = ours::View::over(to);
    auto copy = [&] {
        ours::copy(ours::region(part), ours::region(whole));
        ours::wait(b.view);
    };
    auto check = [&] {
        b.fresh(size_t{side} * side * 4);
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
    revamp_accelerator_info about{};
    about.struct_size = sizeof about;
    ours::must(revamp_accelerator_get_info(b.accelerator, &about), "revamp_accelerator_get_info");
    const uint64_t bytes = gib << 30, count = bytes / 4, has = uint64_t{about.dedicated_memory} << 10;
    if (has < bytes + bytes / 8)
        throw std::runtime_error("the device has " + std::to_string(has >> 20) + " MiB of memory");
    constexpr int32_t row = 1 << 26; // elements: 256 MiB
    const ours::Kernel kernel(b.accelerator, fill_large_shader);
    struct {
        uint64_t data, count;
    } block{0, count};
    auto expected = [](uint64_t i) { return uint32_t(i) ^ (uint32_t(i >> 32) * 2654435761U); };
    auto use = [&] {
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
        // Sixteen elements at each end, and at both sides of each border of 4 GiB of bytes and of elements.
        std::vector<uint64_t> places{0, count - 16};
        for (uint64_t border = uint64_t{1} << 30; border < count; border += uint64_t{1} << 30) {
            places.push_back(border - 16);
            places.push_back(border);
        }
        for (const uint64_t place : places) {
            uint32_t got[16];
            const int32_t origin[] = {static_cast<int32_t>(place / row), static_cast<int32_t>(place % row)};
            const int32_t extent[] = {1, 16};
            revamp_region here{};
            here.struct_size = sizeof here;
            here.host = got;
            here.host_rank = 2;
            here.host_element_size = 4;
            here.extent = extent;
            ours::copy(ours::region(array, origin, extent), here);
            for (uint64_t i = 0; i < 16; i++)
                if (got[i] != expected(place + i))
                    throw std::runtime_error("wrong: element " + std::to_string(place + i) + " is " +
                                             std::to_string(got[i]));
        }
    };
    Case c;
    c.name = name;
    c.bytes = double(bytes);
    c.effort.least = b.plain->software() ? 1 : 3;
    c.effort.most = 5;
    c.effort.repetition = 0;
    c.ways.push_back({"revamp", "", [&] { return timed(use); }, {}});
    b.run(c);
}

} // namespace

void bench_scale(Bench &b) {
    if (!b.with_ours) return;
    const std::pair<Act, const char *> acts[] = {
        {Act::section, "make and drop a section"},
        {Act::access, "make a section, access it on the host, drop it"},
        {Act::launch, "a launch on one of them, already valid"},
        {Act::launch_after_access, "a launch on one, after host access to all: for each of them"},
    };
    for (const auto &[act, text] : acts) {
        const std::string name = std::string("live views of one data source: ") + text;
        b.guarded(name, [&, act = act] { live_views(b, act, name); });
    }
    for (const bool launching : {false, true}) {
        const std::string name = std::string("live views of as many data sources: ") +
                                 (launching ? "a launch on each in turn" : "make and drop one more");
        b.guarded(name, [&] { live_sources(b, launching, name); });
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
    for (const unsigned n : squares) {
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
