// Accelerators that run kernels, host threads and Vulkan devices alike, for the tests of the rules.
#ifndef ENGINES_HPP
#define ENGINES_HPP

#include "moved.hpp"

#include <revamp/kernel.h>

#include <memory>
#include <numeric>

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

// All of them.
std::vector<engine> engines();
// Calls `test` with each two different ones; skips the test if there is but one.
template <class Test> void for_each_two(const Test &test) {
    const std::vector<engine> all = engines();
    if (all.size() < 2) SKIP("there is only one accelerator that runs kernels");
    for (const engine &p : all)
        for (const engine &q : all)
            if (&p != &q) test(p, q);
}

#endif
