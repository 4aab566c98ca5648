// What the tests of the rules use: memory of their own for all accelerators, so that bytes that move are counted;
// accelerators that run kernels, host threads and Vulkan devices alike.
#ifndef RULES_HPP
#define RULES_HPP

#include <amp.h>

#include "../check.hpp"

#include <revamp/kernel.h>

#include <cstdlib>
#include <memory>
#include <numeric>

[[maybe_unused]] static const int separate_memory = setenv("REVAMP_MEMORY", "separate", 1);

// Bytes moved to and from accelerators since it was asked last.
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

// Of the view's elements, the bytes that are valid on an accelerator_view.
template <class T, int N>
std::uint64_t valid(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    revamp_residency residency = {};
    residency.struct_size = sizeof residency;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &residency));
    return residency.valid_bytes;
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

// One accelerator with its kernels. A target of null is none.
class engine {
  public:
    explicit engine(const concurrency::accelerator &a);

    concurrency::accelerator_view normal() const { return m_accelerator.default_view; }
    concurrency::accelerator_view another() const { return m_accelerator.create_view(); }
    const concurrency::accelerator &accelerator() const { return m_accelerator; }
    bool is_vulkan() const { return m_step != nullptr; }

    // Each number x becomes 3 x + 1. It is read and written.
    template <class Numbers> void step(const concurrency::accelerator_view *target, Numbers &data) const {
        if (is_vulkan())
            launch(target, data.extent, *m_step, data);
        else
            launch(target, data.extent, stepping<Numbers>{data});
    }
    template <class Numbers> void step(const concurrency::accelerator_view &target, Numbers &data) const {
        step(&target, data);
    }
    // out = a + 2 b; a and b are read.
    template <class A>
    void sum(const concurrency::accelerator_view *target, A &a, const concurrency::array_view<const number> &b,
             const numbers_view &out) const {
        if (is_vulkan())
            launch(target, out.extent, *m_sum, a, b, out);
        else
            launch(target, out.extent, adding<A>{a, b, out});
    }
    // Both halves of a kernel that reads a view: what it reads comes to an array of `target`.
    std::vector<number> read(const concurrency::accelerator_view &target,
                             const concurrency::array_view<const number> &view) const {
        concurrency::array<number> zeros(view.extent, std::vector<number>(view.extent.size()).begin(), target);
        concurrency::array<number> out(view.extent, target);
        if (is_vulkan())
            launch(&target, view.extent, *m_sum, view, zeros, out);
        else
            concurrency::parallel_for_each(
                target, view.extent, [ view, &out ](concurrency::index<1> i) restrict(amp) { out[i] = view[i]; });
        return out;
    }

  private:
    concurrency::accelerator m_accelerator;
    std::unique_ptr<revamp::kernel> m_step, m_sum;

    // Captured as what they are: views by value, arrays by reference.
    template <class T> struct captured { typedef T &type; };
    template <class T, int N> struct captured<concurrency::array_view<T, N>> {
        typedef concurrency::array_view<T, N> type;
    };
    template <class T, int N> struct captured<const concurrency::array_view<T, N>> {
        typedef concurrency::array_view<T, N> type;
    };
    template <class Numbers> struct stepping {
        typename captured<Numbers>::type data;
        void operator()(concurrency::index<1> i) const restrict(amp) { data[i] = 3 * data[i] + 1; }
    };
    template <class A> struct adding {
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

inline engine::engine(const concurrency::accelerator &a) : m_accelerator(a) {
    if (a.device_path.compare(0, 6, L"vulkan") != 0) return;
    m_step = std::make_unique<revamp::kernel>(a, step_words, sizeof step_words);
    m_sum = std::make_unique<revamp::kernel>(a, sum_words, sizeof sum_words);
}

// All of them.
inline std::vector<engine> engines() {
    std::vector<engine> all;
    for (const concurrency::accelerator &one : concurrency::accelerator::get_all())
        if (one.device_path == L"host" || one.device_path.compare(0, 6, L"vulkan") == 0) all.emplace_back(one);
    return all;
}
// Calls `test` with each two different ones; skips the test if there is but one.
template <class Test> void for_each_two(const Test &test) {
    const std::vector<engine> all = engines();
    if (all.size() < 2) SKIP("there is only one accelerator that runs kernels");
    for (const engine &p : all)
        for (const engine &q : all)
            if (&p != &q) test(p, q);
}

#endif
