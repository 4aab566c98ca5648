// What array_views cost where nothing has to move: captured by a launch, read on the host, made and dropped in numbers.
#include <atomic>
#include <cstddef>
#include <ctime>

#include "bench.h"
#include "pages.h"

namespace {

constexpr size_t most_captures = 9;
constexpr int32_t rows = 4096, columns = 64, block_columns = 32, elements = 4096;
const Goal capture_goal{Goal::seconds_at_most, 200e-9}, element_goal{Goal::seconds_at_most, 2e-9};

// Seconds of processor time of this thread: a launch's own work, without what the device and others do meanwhile.
double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

template <class F> double thread_timed(F &&work) {
    const double start = thread_seconds();
    work();
    return thread_seconds() - start;
}

// One operation of these cases is a mean over many already.
void as_is(Case &c) {
    c.effort.repetition = 0;
}

uint64_t bytes_moved() {
    revamp_transfer_counters t{};
    t.struct_size = sizeof t;
    ours::must(revamp_get_transfers(&t), "revamp_get_transfers");
    return t.implicit_to_bytes + t.implicit_from_bytes + t.implicit_local_bytes + t.explicit_to_bytes +
           t.explicit_from_bytes + t.explicit_local_bytes;
}

enum class Shape { whole, column_block, one };

struct CaptureCase {
    Shape shape;
    bool read_only, on_host;
};

std::string name_of(const CaptureCase &k) {
    const char *shape = k.shape == Shape::whole          ? "whole 1-D"
                        : k.shape == Shape::column_block ? "4096-row column block"
                                                         : "1 element";
    return std::string("capture an array_view already valid: ") + shape +
           (k.read_only ? ", read only" : ", read-write") + (k.on_host ? ", host kernel" : "");
}

void nothing(const revamp_thread_id *, void *) {}

// Launches an empty kernel on the first so many of some arguments.
class Launcher {
  public:
    Launcher(Bench &b, bool on_host) : on_host_(on_host), view_(on_host ? b.host_view : b.view) {
        if (on_host) {
            host_.struct_size = sizeof host_;
            host_.rank = 1;
            host_.extent = &extent_;
            host_.function = nothing;
            host_.block = &block_;
            host_.block_size = sizeof block_;
        } else {
            kernel_ = std::make_unique<ours::Kernel>(b.accelerator, add_one_shader);
            device_.struct_size = sizeof device_;
            device_.groups[0] = device_.groups[1] = device_.groups[2] = 1;
            device_.block = &block_;
            device_.block_size = sizeof block_;
        }
    }
    void operator()(const std::vector<revamp_argument> &arguments, size_t count) {
        if (on_host_) {
            host_.arguments = arguments.data();
            host_.argument_count = count;
            ours::must(revamp_host_dispatch(view_, &host_), "revamp_host_dispatch");
        } else {
            device_.arguments = arguments.data();
            device_.argument_count = count;
            ours::must(revamp_dispatch(view_, *kernel_, &device_), "revamp_dispatch");
        }
    }
    void wait() const { ours::wait(view_); }

  private:
    bool on_host_;
    revamp_accelerator_view view_;
    std::unique_ptr<ours::Kernel> kernel_;
    const AddOneBlock block_{};
    const int32_t extent_ = 1;
    revamp_host_dispatch_info host_{};
    revamp_dispatch_info device_{};
};

uint32_t address_offset(size_t n) {
    return static_cast<uint32_t>(offsetof(AddOneBlock, data) + 8 * n);
}

// What each argument more adds to a launch's call: nine against one. Of several short bursts of each the least counts:
// the bursts in which nothing else got in between.
double per_argument(Launcher &launch, const std::vector<revamp_argument> &arguments) {
    constexpr unsigned bursts = 16, launches = 25;
    double least[2] = {1, 1};
    for (unsigned burst = 0; burst < 2 * bursts; burst++) {
        const bool all = (burst + burst / 2) % 2; // 0 1 1 0: neither always goes first
        const double spent = thread_timed([&] {
            for (unsigned i = 0; i < launches; i++)
                launch(arguments, all ? most_captures : 1);
        });
        launch.wait();
        least[all] = std::min(least[all], spent);
    }
    return (least[1] - least[0]) / (launches * double(most_captures - 1));
}

void capture(Bench &b, const CaptureCase &k) {
    Case c;
    c.name = name_of(k);
    c.goals = {{"revamp", capture_goal}};
    as_is(c);
    Launcher launch(b, k.on_host);

    // Data sources of their own, and for the block the columns beside it, so that the directory has 8192 segments.
    std::vector<Pages> memory;
    std::vector<ours::View> sources, captured, beside;
    std::vector<std::unique_ptr<ours::Array>> arrays;
    std::vector<revamp_argument> views, plain;
    const int32_t from[2] = {0, 0}, block_extent[2] = {rows, block_columns}, one = 1;
    for (size_t n = 0; n < most_captures; n++) {
        const bool matrix = k.shape == Shape::column_block;
        memory.emplace_back(matrix ? size_t{rows} * columns : size_t{elements});
        if (matrix) {
            sources.push_back(ours::View::over(memory.back().data(), {rows, columns}));
            beside.push_back(sources.back().section({0, block_columns}, {rows, columns - block_columns}));
            arrays.push_back(std::make_unique<ours::Array>(k.on_host ? b.host_view : b.view,
                                                           std::initializer_list<int32_t>{rows, columns}));
        } else {
            sources.push_back(ours::View::over(memory.back().data(), {elements}));
            arrays.push_back(std::make_unique<ours::Array>(k.on_host ? b.host_view : b.view,
                                                           std::initializer_list<int32_t>{elements}));
        }
        ours::View part = matrix                  ? sources.back().section({0, 0}, {rows, block_columns})
                          : k.shape == Shape::one ? sources.back().section({0}, {1})
                                                  : sources.back().section({0}, {elements});
        captured.push_back(k.read_only ? part.read_only() : std::move(part));
        views.push_back(revamp_argument_view_address(address_offset(n), captured.back()));
        plain.push_back(revamp_argument_address(address_offset(n), *arrays.back(),
                                                k.read_only ? REVAMP_ACCESS_READ : REVAMP_ACCESS_READ_WRITE));
        plain.back().origin = k.shape == Shape::whole ? nullptr : from;
        plain.back().extent = matrix ? block_extent : k.shape == Shape::one ? &one : nullptr;
    }
    auto make_valid = [&] {
        launch(views, most_captures);
        launch.wait();
        for (const ours::View &other : beside)
            other.access(REVAMP_ACCESS_READ_WRITE);
        launch(views, most_captures);
        launch.wait();
        const uint64_t before = bytes_moved();
        launch(views, most_captures);
        launch.wait();
        if (bytes_moved() != before) throw std::runtime_error("wrong: a valid view was moved");
    };
    c.ways.push_back({"revamp", "array_views", [&] { return per_argument(launch, views); }, make_valid});
    c.ways.push_back({"arrays", "plain arrays", [&] { return per_argument(launch, plain); }, {}});
    b.run(c);
}

// How an array_view's operator[] of the C++ header asks before each element: the state word, then the pointer it keeps.
struct Checked {
    const std::atomic<uint32_t> *word;
    uint32_t bit;
    revamp_array_view view;
    revamp_access access;
    uint32_t *data;

    uint32_t &operator[](size_t i) {
        if (__builtin_expect(!(word->load(std::memory_order_acquire) & bit), 0)) ask();
        return data[i];
    }
    [[gnu::noinline]] void ask() {
        void *pointer = nullptr;
        ours::must(revamp_array_view_access(view, access, &pointer), "revamp_array_view_access");
        data = static_cast<uint32_t *>(pointer);
    }
};

constexpr unsigned passes = 64;

[[gnu::noinline]] uint32_t sum(Checked c) {
    uint32_t total = 0;
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++)
            total += c[i];
    return total;
}

[[gnu::noinline]] void fill(Checked c) {
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++)
            c[i] = pass;
}

// The same loops through the pointer alone; `asm` keeps the passes and the elements apart as the acquire loads do
// above.
[[gnu::noinline]] uint32_t plain_sum(const uint32_t *data) {
    uint32_t total = 0;
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++) {
            total += data[i];
            asm volatile("" : "+r"(total));
        }
    return total;
}

[[gnu::noinline]] void plain_fill(uint32_t *data) {
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++) {
            data[i] = pass;
            asm volatile("" ::: "memory");
        }
}

void element(Bench &b, bool write, const std::string &name) {
    Case c;
    c.name = name;
    c.goals = {{"revamp", element_goal}};
    as_is(c);
    const Pages memory(elements);
    const ours::View view = ours::View::over(memory.data(), {elements});
    const uint32_t *word = nullptr;
    ours::must(revamp_array_view_state(view, &word), "revamp_array_view_state");
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the state word is read in place");
    Checked ready{reinterpret_cast<const std::atomic<uint32_t> *>(word),
                  static_cast<uint32_t>(write ? REVAMP_HOST_MAY_WRITE : REVAMP_HOST_MAY_READ), view,
                  static_cast<revamp_access>(write ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ), nullptr};
    ready.ask();
    uint32_t wanted = 0;
    for (int32_t i = 0; i < elements; i++)
        wanted += memory.data()[i] = static_cast<uint32_t>(i);
    auto each = [](double seconds) { return seconds / (double(passes) * elements); };
    auto expect = [&](uint32_t got, uint32_t expected) {
        if (got != expected) throw std::runtime_error("wrong: " + std::to_string(got));
    };
    if (write) {
        c.ways.push_back({"revamp", "state word", [&] { return each(thread_timed([&] { fill(ready); })); },
                          [&] {
                              fill(ready);
                              expect(memory.data()[elements - 1], passes - 1);
                          }});
        c.ways.push_back(
            {"pointer", "no check", [&] { return each(thread_timed([&] { plain_fill(memory.data()); })); }, {}});
    } else {
        uint32_t got = 0;
        c.ways.push_back({"revamp", "state word", [&, each] { return each(thread_timed([&] { got += sum(ready); })); },
                          [&] { expect(sum(ready), wanted * passes); }});
        c.ways.push_back({"pointer", "no check",
                          [&, each] { return each(thread_timed([&] { got += plain_sum(memory.data()); })); },
                          [&] { expect(plain_sum(memory.data()), wanted * passes); }});
    }
    b.run(c);
}

void host_call(Bench &b, bool write, const std::string &name) {
    Case c;
    c.name = name;
    as_is(c);
    const Pages memory(elements);
    const ours::View view = ours::View::over(memory.data(), {elements});
    const revamp_access access = write ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ;
    c.ways.push_back({"revamp",
                      "",
                      [&] {
                          constexpr unsigned calls = 10000;
                          return thread_timed([&] {
                                     for (unsigned i = 0; i < calls; i++)
                                         view.access(access);
                                 }) /
                                 calls;
                      },
                      {}});
    b.run(c);
}

// A million sections, one after the other; the shape decides what making one computes.
void sections(Bench &b, const std::string &name) {
    Case c;
    c.name = name;
    as_is(c);
    c.effort.least = 3;
    const Pages memory(size_t{rows} * columns);
    const ours::View matrix = ours::View::over(memory.data(), {rows, columns});
    c.ways.push_back({"revamp",
                      "make and drop",
                      [&] {
                          constexpr unsigned count = 1000000;
                          return thread_timed([&] {
                                     for (unsigned i = 0; i < count; i++)
                                         matrix.section({static_cast<int32_t>(i % rows), 0}, {1, columns});
                                 }) /
                                 count;
                      },
                      {}});
    b.run(c);
}

constexpr int32_t crowd = 10000;

enum class Crowd { make, drop, host_access, launch_after_access, launch };

// What one operation costs among 10,000 live views of one data source.
void live_views(Bench &b, Crowd what, const std::string &name) {
    Case c;
    c.name = name;
    as_is(c);
    c.effort.least = 3;
    const Pages memory(size_t{crowd} * 16);
    const ours::View source = ours::View::over(memory.data(), {crowd, 16});
    std::unique_ptr<Launcher> launch;
    if (what == Crowd::launch || what == Crowd::launch_after_access) launch = std::make_unique<Launcher>(b, !b.plain);
    std::vector<ours::View> views;
    views.reserve(crowd);
    auto make = [&](int32_t count) {
        for (int32_t i = 0; i < count; i++)
            views.push_back(source.section({i, 0}, {1, 16}));
    };
    auto access = [&] {
        for (const ours::View &view : views)
            view.access(REVAMP_ACCESS_READ_WRITE);
    };
    auto launches = [&](unsigned count) {
        const std::vector<revamp_argument> argument{revamp_argument_view_address(address_offset(0), views.front())};
        for (unsigned i = 0; i < count; i++)
            (*launch)(argument, 1);
    };
    // On a view that is valid already.
    auto launch_among = [&](int32_t count) {
        views.clear();
        make(count);
        constexpr unsigned many = 200;
        launches(1);
        launch->wait();
        const double spent = thread_timed([&] { launches(many); });
        launch->wait();
        return spent / many;
    };
    auto op = [&, what]() -> double {
        views.clear();
        if (what == Crowd::make) return thread_timed([&] { make(crowd); }) / crowd;
        make(crowd);
        if (what == Crowd::drop) return thread_timed([&] { views.clear(); }) / crowd;
        if (what == Crowd::host_access) return thread_timed(access) / crowd;
        // The launch takes back what all of them say of the host.
        launches(1);
        launch->wait();
        access();
        const double spent = thread_timed([&] { launches(1); });
        launch->wait();
        return spent;
    };
    if (what == Crowd::launch) {
        c.ways.push_back({"revamp", "10,000 live views", [&] { return launch_among(crowd); }, {}});
        c.ways.push_back({"few", "1 live view", [&] { return launch_among(1); }, {}});
    } else {
        c.ways.push_back({"revamp", "", op, {}});
    }
    b.run(c);
}

// 10,000 data sources, each with a view.
void live_sources(Bench &b, const std::string &name) {
    Case c;
    c.name = name;
    as_is(c);
    c.effort.least = 3;
    const Pages memory(size_t{crowd} * 16);
    c.ways.push_back({"revamp",
                      "make and drop",
                      [&] {
                          std::vector<ours::View> views;
                          views.reserve(crowd);
                          return thread_timed([&] {
                                     for (int32_t i = 0; i < crowd; i++)
                                         views.push_back(ours::View::over(memory.data() + size_t(i) * 16, {16}));
                                     views.clear();
                                 }) /
                                 crowd;
                      },
                      {}});
    b.run(c);
}

// A launch that writes a block with 4096 gaps, the matrix being valid there and at home: the directory gets 8192
// segments. The peer writes as many elements in one piece.
void first_touch(Bench &b, unsigned before, const std::string &name) {
    Case c;
    c.name = name;
    as_is(c);
    const Pages memory(size_t{rows} * columns);
    Launcher launch(b, !b.plain);
    auto touch = [&, before](bool gaps) {
        const ours::View matrix = ours::View::over(memory.data(), {rows, columns}), whole = matrix.read_only();
        const ours::View part = gaps ? matrix.section({0, 0}, {rows, block_columns})
                                     : matrix.section({0, 0}, {rows * block_columns / columns, columns});
        const std::vector<revamp_argument> all{revamp_argument_view_address(address_offset(0), whole)};
        const std::vector<revamp_argument> some{revamp_argument_view_address(address_offset(0), part)};
        launch(all, 1);
        launch.wait();
        for (unsigned i = 0; i < before; i++)
            launch(some, 1);
        launch.wait();
        const double spent = thread_timed([&] { launch(some, 1); });
        launch.wait();
        return spent;
    };
    c.ways.push_back({"revamp", "4096 rows", [&] { return touch(true); }, {}});
    c.ways.push_back({"one piece", "as many elements", [&] { return touch(false); }, {}});
    b.run(c);
}

} // namespace

void bench_view(Bench &b) {
    if (!b.with_ours) return;
    for (const bool on_host : {false, true})
        for (const Shape shape : {Shape::whole, Shape::column_block, Shape::one})
            for (const bool read_only : {true, false}) {
                const CaptureCase k{shape, read_only, on_host};
                if (on_host || b.plain) b.guarded(name_of(k), [&] { capture(b, k); });
            }
    for (const bool write : {false, true}) {
        const std::string kind = write ? "write" : "read",
                          inline_name = "host access already valid: " + kind + " an element, state word checked inline",
                          call_name = "host access already valid: revamp_array_view_access, " + kind;
        b.guarded(inline_name, [&] { element(b, write, inline_name); });
        b.guarded(call_name, [&] { host_call(b, write, call_name); });
    }
    const std::pair<Crowd, const char *> crowds[] = {
        {Crowd::make, "make a section"},
        {Crowd::drop, "drop one"},
        {Crowd::host_access, "revamp_array_view_access, first time"},
        {Crowd::launch, "a launch on one of them, already valid"},
        {Crowd::launch_after_access, "a launch on one, after host access to all"},
    };
    for (const auto &[what, text] : crowds) {
        const std::string name = std::string("10,000 live views: ") + text;
        b.guarded(name, [&, what = what] { live_views(b, what, name); });
    }
    const std::string sources = "10,000 views of as many data sources: make and drop, each",
                      million = "1,000,000 sections made and dropped, each",
                      first = "4096-row column block: first launch that writes it, the call",
                      next = "4096-row column block: next launch that writes it, the call";
    b.guarded(sources, [&] { live_sources(b, sources); });
    b.guarded(million, [&] { sections(b, million); });
    b.guarded(first, [&] { first_touch(b, 0, first); });
    b.guarded(next, [&] { first_touch(b, 1, next); });
}
