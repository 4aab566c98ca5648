// Support for the tests of the rules: counters of transferred bytes, and the accelerators that run kernels (host
// threads and Vulkan devices). The tests run in both memory modes. With REVAMP_MEMORY=separate, every accelerator has
// memory of its own. By default (auto), accelerators on the host's processors use the program's memory, and nothing is
// transferred.
#ifndef RULES_HPP
#define RULES_HPP

#include <amp.h>

#include "../check.hpp"

#include <revamp/kernel.h>

#include <cstdlib>
#include <memory>
#include <numeric>

// A call returns the bytes moved to and from accelerators since the previous call.
class counter {
  public:
    counter() : m_before(moved()) {}
    std::uint64_t operator()() {
        const std::uint64_t now = moved();
        return now - std::exchange(m_before, now);
    }

  private:
    std::uint64_t m_before;
    static std::uint64_t moved() {
        revamp_transfer_counters counters = {};
        counters.struct_size = sizeof counters;
        revamp::detail::check(revamp_get_transfers(&counters));
        return counters.implicit_to_bytes + counters.implicit_from_bytes + counters.explicit_to_bytes +
               counters.explicit_from_bytes;
    }
};

// Returns the bytes moved to and from one accelerator so far.
inline std::uint64_t bytes_moved_by(const concurrency::accelerator &a) {
    revamp_transfer_counters counters = {};
    counters.struct_size = sizeof counters;
    revamp::detail::check(revamp_accelerator_get_transfers(revamp::detail::access::native(a), &counters));
    return counters.implicit_to_bytes + counters.implicit_from_bytes + counters.explicit_to_bytes +
           counters.explicit_from_bytes;
}

// The memory that an accelerator holds now.
inline revamp_memory_usage memory_of(const concurrency::accelerator &a) {
    revamp_memory_usage usage = {};
    usage.struct_size = sizeof usage;
    revamp::detail::check(revamp_accelerator_get_memory_usage(revamp::detail::access::native(a), &usage));
    return usage;
}

template <class T, int N>
revamp_residency residency(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    revamp_residency result = {};
    result.struct_size = sizeof result;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &result));
    return result;
}
// Returns how many bytes of the view are valid on an accelerator_view.
template <class T, int N>
std::uint64_t count_valid_bytes(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    return residency(view, where).valid_bytes;
}

// True if the accelerator has memory of its own for the program's data.
inline bool has_own_memory(const concurrency::accelerator &a) {
    std::vector<unsigned> data(64);
    const concurrency::array_view<unsigned> view(data);
    const bool own = !residency(view, a.default_view).shares_home;
    const char *memory = std::getenv("REVAMP_MEMORY");
    if (memory && std::string(memory) == "separate")
        REQUIRE(own);
    else if (a.is_emulated)
        REQUIRE(!own);
    return own;
}
// The bytes that are counted for a transfer of `bytes` to or from the accelerator.
inline std::uint64_t counted_bytes(const concurrency::accelerator &a, std::uint64_t bytes) {
    return has_own_memory(a) ? bytes : 0;
}

static const std::uint32_t step_words[] = {
#include "step.inc"
};
static const std::uint32_t sum_words[] = {
#include "sets.inc"
};

typedef unsigned number;
typedef concurrency::array_view<number> numbers_view;
constexpr int count = 1000;
constexpr std::uint64_t all_bytes = count * sizeof(number);

inline std::vector<number> numbers(number first = 0) {
    std::vector<number> v(count);
    std::iota(v.begin(), v.end(), first);
    return v;
}

// One accelerator and its kernels (SPIR-V modules or functions). Launches with a null target name no accelerator_view.
class engine {
  public:
    enum kernels { modules, functions };
    engine(const concurrency::accelerator &a, kernels which);

    concurrency::accelerator_view normal() const { return m_accelerator.default_view; }
    concurrency::accelerator_view new_view() const { return m_accelerator.create_view(); }
    const concurrency::accelerator &accelerator() const { return m_accelerator; }
    bool has_modules() const { return m_step != nullptr; }
    // True if launches without a target may run on the accelerator. A module is loaded on one accelerator only (SEL-8).
    bool is_default() const { return has_modules() || m_accelerator == concurrency::accelerator(); }
    // True if the accelerator has its own memory for the program's data.
    bool has_own_memory() const { return m_has_own_memory; }
    // The bytes that are counted for a transfer of `bytes` bytes to or from the accelerator.
    std::uint64_t counted_bytes(std::uint64_t bytes) const { return m_has_own_memory ? bytes : 0; }

    // Replaces each number x with 3 x + 1. The kernel reads and writes `data`.
    template <class Numbers> void step(const concurrency::accelerator_view *target, Numbers &data) const {
        if (has_modules())
            launch(target, data.extent, *m_step, data);
        else
            launch(target, data.extent, step_functor<Numbers>{data});
    }
    template <class Numbers> void step(const concurrency::accelerator_view &target, Numbers &data) const {
        step(&target, data);
    }
    // Computes out = a + 2 b. The kernel only reads a and b.
    template <class A>
    void sum(const concurrency::accelerator_view *target, A &a, const concurrency::array_view<const number> &b,
             const numbers_view &out) const {
        if (has_modules())
            launch(target, out.extent, *m_sum, a, b, out);
        else
            launch(target, out.extent, sum_functor<A>{a, b, out});
    }
    // Runs a kernel on `target` that reads the view, and returns what it read.
    std::vector<number> read(const concurrency::accelerator_view &target,
                             const concurrency::array_view<const number> &view) const {
        concurrency::array<number> zeros(view.extent, std::vector<number>(view.extent.size()).begin(), target);
        concurrency::array<number> out(view.extent, target);
        if (has_modules())
            launch(&target, view.extent, *m_sum, view, zeros, out);
        else
            concurrency::parallel_for_each(
                target, view.extent, [ view, &out ](concurrency::index<1> i) restrict(amp) { out[i] = view[i]; });
        return out;
    }

  private:
    concurrency::accelerator m_accelerator;
    bool m_has_own_memory;
    std::unique_ptr<revamp::kernel> m_step, m_sum;

    // How the functor captures an operand: views by value, arrays by reference.
    template <class T> struct captured { typedef T &type; };
    template <class T, int N> struct captured<concurrency::array_view<T, N>> {
        typedef concurrency::array_view<T, N> type;
    };
    template <class T, int N> struct captured<const concurrency::array_view<T, N>> {
        typedef concurrency::array_view<T, N> type;
    };
    template <class Numbers> struct step_functor {
        typename captured<Numbers>::type data;
        void operator()(concurrency::index<1> i) const restrict(amp) { data[i] = 3 * data[i] + 1; }
    };
    template <class A> struct sum_functor {
        std::conditional_t<std::is_convertible_v<A &, concurrency::array_view<const number>> &&
                               !std::is_same_v<A, concurrency::array<number>>,
                           concurrency::array_view<const number>, A &>
            a;
        concurrency::array_view<const number> b;
        numbers_view out;
        void operator()(concurrency::index<1> i) const restrict(amp) { out[i] = a[i] + 2 * b[i]; }
    };

    template <class... Arguments>
    static void launch(const concurrency::accelerator_view *target, const concurrency::extent<1> &domain,
                       const Arguments &...arguments) {
        if (target)
            concurrency::parallel_for_each(*target, domain, arguments...);
        else
            concurrency::parallel_for_each(domain, arguments...);
    }
};

inline engine::engine(const concurrency::accelerator &a, kernels which)
    : m_accelerator(a), m_has_own_memory(::has_own_memory(a)) {
    if (which == functions) return;
    m_step = std::make_unique<revamp::kernel>(a, step_words, sizeof step_words);
    m_sum = std::make_unique<revamp::kernel>(a, sum_words, sizeof sum_words);
}

// All engines: host threads run functions, Vulkan devices run modules. A default Vulkan device also runs functions.
inline std::vector<engine> engines() {
    std::vector<engine> all;
    for (const concurrency::accelerator &one : concurrency::accelerator::get_all()) {
        const bool is_vulkan = one.device_path.compare(0, 6, L"vulkan") == 0;
        if (is_vulkan) all.emplace_back(one, engine::modules);
        if (one.device_path == L"host" || (is_vulkan && one == concurrency::accelerator()))
            all.emplace_back(one, engine::functions);
    }
    return all;
}
// The engines on which launches without a target may run.
inline std::vector<engine> default_engines() {
    std::vector<engine> all;
    for (engine &one : engines())
        if (one.is_default()) all.push_back(std::move(one));
    return all;
}
// Calls `test` with each pair of different accelerators. Skips the test if there is only one accelerator.
template <class Test> void for_each_pair(const Test &test) {
    const std::vector<engine> all = engines();
    bool is_run = false;
    for (const engine &p : all)
        for (const engine &q : all)
            if (p.accelerator() != q.accelerator()) {
                is_run = true;
                test(p, q);
            }
    if (!is_run) SKIP("there is only one accelerator that runs kernels");
}

#endif
