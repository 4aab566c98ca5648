// Benchmarks of array_views that are already valid: the cost of a capture by a launch, and of an access on the host.
// case_scale.cpp measures many views.
#include <atomic>

#include "bench.h"
#include "launcher.h"
#include "pages.h"

namespace {

constexpr size_t max_captures = 9;
constexpr int32_t rows = 4096, columns = 64, block_columns = 32, elements = 4096;
const Goal capture_goal{Goal::seconds_at_most, 200e-9}, element_goal{Goal::seconds_at_most, 2e-9};

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

// Returns the time that each further argument adds to a launch: the time with nine arguments minus the time with one
// argument, divided by eight. The fastest of several short bursts counts, because other work disturbed it least.
double per_argument(Launcher &launch, const std::vector<revamp_argument> &arguments) {
    constexpr unsigned bursts = 16, launches = 25;
    double fastest[2] = {1, 1};
    for (unsigned burst = 0; burst < 2 * bursts; burst++) {
        const bool all = (burst + burst / 2) % 2; // in the order 0 1 1 0, so that neither count always goes first
        const double spent = thread_timed([&] {
            for (unsigned i = 0; i < launches; i++)
                launch(arguments, all ? max_captures : 1);
        });
        launch.wait();
        fastest[all] = std::min(fastest[all], spent);
    }
    return (fastest[1] - fastest[0]) / (launches * double(max_captures - 1));
}

void capture(Bench &b, const CaptureCase &k) {
    Case c;
    c.name = name_of(k);
    c.goals = {{"revamp", capture_goal}};
    one_operation_per_repetition(c);
    Launcher launch(b, k.on_host);

    // Each view has a data source of its own. For the column block, another view covers the remaining columns, so that
    // the coherence directory of the data source has 8192 segments.
    std::vector<Pages> memory;
    std::vector<ours::View> sources, captured, other_columns;
    std::vector<std::unique_ptr<ours::Array>> arrays;
    std::vector<revamp_argument> views, plain;
    const int32_t from[2] = {0, 0}, block_extent[2] = {rows, block_columns}, one = 1;
    for (size_t n = 0; n < max_captures; n++) {
        const bool matrix = k.shape == Shape::column_block;
        memory.emplace_back(matrix ? size_t{rows} * columns : size_t{elements});
        if (matrix) {
            sources.push_back(ours::View::over(memory.back().data(), {rows, columns}));
            other_columns.push_back(sources.back().section({0, block_columns}, {rows, columns - block_columns}));
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
        views.push_back(revamp_argument_view_address(address_offset(n), captured.back(), REVAMP_ACCESS_NONE));
        plain.push_back(revamp_argument_address(address_offset(n), *arrays.back(),
                                                k.read_only ? REVAMP_ACCESS_READ : REVAMP_ACCESS_READ_WRITE));
        plain.back().origin = k.shape == Shape::whole ? nullptr : from;
        plain.back().extent = matrix ? block_extent : k.shape == Shape::one ? &one : nullptr;
    }
    auto make_valid = [&] {
        launch(views, max_captures);
        launch.wait();
        for (const ours::View &other : other_columns)
            other.access(REVAMP_ACCESS_READ_WRITE);
        launch(views, max_captures);
        launch.wait();
        const uint64_t before = bytes_moved();
        launch(views, max_captures);
        launch.wait();
        if (bytes_moved() != before) throw std::runtime_error("wrong: a valid view was moved");
    };
    c.ways.push_back({"revamp", "array_views", [&] { return per_argument(launch, views); }, make_valid});
    c.ways.push_back({"arrays", "plain arrays", [&] { return per_argument(launch, plain); }, {}});
    b.run(c);
}

// Accesses an element like operator[] of the C++ array_view: tests the state word, then uses the stored pointer.
struct CheckedElements {
    const std::atomic<uint32_t> *word;
    uint32_t bit;
    revamp_array_view view;
    revamp_access access;
    uint32_t *data;

    uint32_t &operator[](size_t i) {
        if (__builtin_expect(!(word->load(std::memory_order_acquire) & bit), 0)) request_access();
        return data[i];
    }
    [[gnu::noinline]] void request_access() {
        void *pointer = nullptr;
        ours::must(revamp_array_view_data(view, access, &pointer), "revamp_array_view_data");
        data = static_cast<uint32_t *>(pointer);
    }
};

constexpr unsigned passes = 64;

[[gnu::noinline]] uint32_t sum(CheckedElements c) {
    uint32_t total = 0;
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++)
            total += c[i];
    return total;
}

[[gnu::noinline]] void fill(CheckedElements c) {
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < size_t{elements}; i++)
            c[i] = pass;
}

// The same loops through the pointer alone. `asm` prevents the same optimisations across passes and elements as the
// acquire loads above.
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
    one_operation_per_repetition(c);
    const Pages memory(elements);
    const ours::View view = ours::View::over(memory.data(), {elements});
    const uint32_t *word = nullptr;
    ours::must(revamp_array_view_get_host_access(view, &word), "revamp_array_view_get_host_access");
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the state word is read in place");
    CheckedElements checked{reinterpret_cast<const std::atomic<uint32_t> *>(word),
                            static_cast<uint32_t>(write ? REVAMP_HOST_MAY_WRITE : REVAMP_HOST_MAY_READ), view,
                            static_cast<revamp_access>(write ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ), nullptr};
    checked.request_access();
    uint32_t expected_sum = 0;
    for (int32_t i = 0; i < elements; i++)
        expected_sum += memory.data()[i] = static_cast<uint32_t>(i);
    auto per_element = [](double seconds) { return seconds / (double(passes) * elements); };
    auto expect = [&](uint32_t got, uint32_t expected) {
        if (got != expected) throw std::runtime_error("wrong: " + std::to_string(got));
    };
    if (write) {
        c.ways.push_back({"revamp", "state word", [&] { return per_element(thread_timed([&] { fill(checked); })); },
                          [&] {
                              fill(checked);
                              expect(memory.data()[elements - 1], passes - 1);
                          }});
        c.ways.push_back(
            {"pointer", "no check", [&] { return per_element(thread_timed([&] { plain_fill(memory.data()); })); }, {}});
    } else {
        uint32_t got = 0;
        c.ways.push_back({"revamp", "state word",
                          [&, per_element] { return per_element(thread_timed([&] { got += sum(checked); })); },
                          [&] { expect(sum(checked), expected_sum * passes); }});
        c.ways.push_back(
            {"pointer", "no check",
             [&, per_element] { return per_element(thread_timed([&] { got += plain_sum(memory.data()); })); },
             [&] { expect(plain_sum(memory.data()), expected_sum * passes); }});
    }
    b.run(c);
}

void host_call(Bench &b, bool write, const std::string &name) {
    Case c;
    c.name = name;
    one_operation_per_repetition(c);
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

// Times a launch that writes a column block of a matrix. The block has 4096 gaps. Before the launch, the matrix is
// valid on the device and in host memory, so the launch splits the matrix's coherence directory into 8192 segments. The
// peer writes as many elements in one contiguous range.
void first_touch(Bench &b, unsigned before, const std::string &name) {
    Case c;
    c.name = name;
    one_operation_per_repetition(c);
    const Pages memory(size_t{rows} * columns);
    Launcher launch(b, !b.plain);
    auto time_launch = [&, before](bool gaps) {
        const ours::View matrix = ours::View::over(memory.data(), {rows, columns}), whole = matrix.read_only();
        const ours::View part = gaps ? matrix.section({0, 0}, {rows, block_columns})
                                     : matrix.section({0, 0}, {rows * block_columns / columns, columns});
        const std::vector<revamp_argument> all{
            revamp_argument_view_address(address_offset(0), whole, REVAMP_ACCESS_NONE)};
        const std::vector<revamp_argument> section_argument{
            revamp_argument_view_address(address_offset(0), part, REVAMP_ACCESS_NONE)};
        launch(all, 1);
        launch.wait();
        for (unsigned i = 0; i < before; i++)
            launch(section_argument, 1);
        launch.wait();
        const double spent = thread_timed([&] { launch(section_argument, 1); });
        launch.wait();
        return spent;
    };
    c.ways.push_back({"revamp", "4096 rows", [&] { return time_launch(true); }, {}});
    c.ways.push_back({"one piece", "as many elements", [&] { return time_launch(false); }, {}});
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
                          call_name = "host access already valid: revamp_array_view_data, " + kind;
        b.guarded(inline_name, [&] { element(b, write, inline_name); });
        b.guarded(call_name, [&] { host_call(b, write, call_name); });
    }
    const std::string first = "4096-row column block: first launch that writes it, the call",
                      next = "4096-row column block: next launch that writes it, the call";
    b.guarded(first, [&] { first_touch(b, 0, first); });
    b.guarded(next, [&] { first_touch(b, 1, next); });
}
