// Tests of builds without native kernels. Host threads then run the code that a kernel has for devices, one kernel
// thread at a time, and calls resolve to the restrict(amp) overloads.
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
// The tests are also built with NDEBUG.
#undef NDEBUG
#include <cassert>
#include <check.hpp>

using namespace concurrency;

static int called_overload(int) restrict(cpu) {
    return 1;
}
static int called_overload(int) restrict(amp) {
    return 2;
}
static int overload_called_by_both(int x) restrict(amp, cpu) {
    return called_overload(x);
}

static accelerator_view host_threads() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

template <class Kernel> static std::vector<int> results_of(int count, const Kernel &make_kernel) {
    std::vector<int> numbers(static_cast<unsigned>(count), -1);
    const array_view<int> out(count, numbers);
    parallel_for_each(host_threads(), out.extent, make_kernel(out));
    out.synchronize();
    return numbers;
}

TEST(functions_of_the_device_side_are_called) {
    const auto found = results_of(3, [](const array_view<int> &out) {
        return [=](index<1> i) restrict(amp) {
            out[i] = i[0] * 100 + called_overload(0) * 10 + overload_called_by_both(0);
        };
    });
    CHECK(found == (std::vector<int>{22, 122, 222}));
    CHECK(overload_called_by_both(0) == 1);
}

namespace {
struct two_call_operators {
    array_view<int> out;
    void operator()(index<1> i) const restrict(amp) { out[i] = 7; }
    void operator()(int i) const restrict(cpu, amp) { out[i] = 8; }
};
struct counting {
    array_view<int> out;
    int seen;
    void operator()(index<1> i) restrict(amp) { out[i] = ++seen; }
};
} // namespace
TEST(the_amp_call_operator_of_a_functor_is_called) {
    CHECK(results_of(2, [](const array_view<int> &out) { return two_call_operators{out}; }) ==
          (std::vector<int>{7, 7}));
}
TEST(each_thread_changes_a_functor_of_its_own) {
    CHECK(results_of(3, [](const array_view<int> &out) { return counting{out, 4}; }) == (std::vector<int>{5, 5, 5}));
}

TEST(threads_of_a_tile_meet_at_barriers) {
    std::vector<int> numbers(24);
    const array_view<int, 2> out(4, 6, numbers);
    parallel_for_each(
        host_threads(), out.extent.tile<2, 3>(), [=](tiled_index<2, 3> t) restrict(amp) {
            tile_static int values[2][3];
            tile_static int sum;
            if (t.local == index<2>(0, 0)) sum = 0;
            values[t.local[0]][t.local[1]] = t.global[0] * 10 + t.global[1];
            t.barrier.wait_with_tile_static_memory_fence();
            atomic_fetch_add(&sum, called_overload(0));
            const int other = values[1 - t.local[0]][2 - t.local[1]];
            t.barrier.wait();
            out[t] = other * 100 + sum;
        });
    out.synchronize();
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x) {
            const int other = (y / 2 * 2 + 1 - y % 2) * 10 + x / 3 * 3 + 2 - x % 3;
            CHECK(numbers[unsigned(y * 6 + x)] == other * 100 + 12);
        }
}

TEST(domains_of_many_dimensions) {
    std::vector<int> numbers(2 * 3 * 2 * 5);
    const int sizes[] = {2, 3, 2, 5};
    const array_view<int, 4> out(extent<4>(sizes), numbers);
    parallel_for_each(
        host_threads(), out.extent, [=](index<4> i) restrict(amp) {
            out[i] = i[0] * 1000 + i[1] * 100 + i[2] * 10 + i[3] + called_overload(0) * 10000;
        });
    out.synchronize();
    CHECK(numbers.front() == 20000 && numbers.back() == 21214 && numbers[31] == 21001);
}

TEST(mathematics_is_the_c_librarys) {
    std::vector<float> numbers(4, 0.7f);
    const array_view<float> out(4, numbers);
    parallel_for_each(
        host_threads(), extent<1>(1), [=](index<1>) restrict(amp) {
            out[0] = precise_math::sin(out[0]) + float(called_overload(0) - 2);
            out[1] = fast_math::exp(out[1]);
            out[2] = float(precise_math::pow(double(out[2]), 1.5));
            out[3] = precise_math::cospi(out[3] - 0.2f);
        });
    out.synchronize();
    CHECK(numbers[0] == std::sin(0.7f) && numbers[1] == std::exp(0.7f));
    CHECK(numbers[2] == float(std::pow(double(0.7f), 1.5)) && std::fabs(numbers[3]) < 1e-6f);
}

TEST(textures) {
    using namespace graphics;
    std::vector<unsigned char> bytes = {0, 51, 102, 255};
    const texture<unorm, 1> from(4, bytes.data(), unsigned(bytes.size()), 8u, host_threads());
    const texture_view<const unorm, 1> view(from);
    std::vector<float> numbers(4);
    const array_view<float> out(4, numbers);
    parallel_for_each(
        host_threads(),
        out.extent, [=](index<1> i) restrict(amp) { out[i] = float(view[i]) * float(called_overload(0)); });
    out.synchronize();
    CHECK(numbers[1] == 0.4f && numbers[3] == 2.0f);
}

// Runs a kernel with two tiles of two threads. The second thread of each tile calls `function` after a barrier. Returns
// the text of the error, or "none".
template <class Function> static std::string failure(const Function &function) {
    std::vector<int> numbers(4);
    const array_view<int> out(4, numbers);
    try {
        parallel_for_each(
            host_threads(), out.extent.tile<2>(), [=](tiled_index<2> t) restrict(amp) {
                t.barrier.wait();
                if (t.local[0] == 1) function(t.global[0] * called_overload(0));
                t.barrier.wait();
                out[t] = 1;
            });
        out.synchronize();
    } catch (const runtime_exception &e) {
        return e.what();
    }
    return "none";
}
TEST(a_thread_ends_with_an_error) {
    // The text must name the line of the call, and the thread: 1 or 3, because either tile may run first.
    const auto expect = [](const std::string &text, const std::string &what, int line) {
        CHECK_CONTAINS(text, what);
        CHECK_CONTAINS(text, "by_threads.cpp:" + std::to_string(line));
        CHECK(text.find("thread (1)") != std::string::npos || text.find("thread (3)") != std::string::npos);
    };
    expect(failure([](int x) restrict(amp) { direct3d_errorf("bad %d\n", x + 1000 - x); }), "bad 1000 (", __LINE__);
    expect(failure([](int) restrict(amp) { direct3d_abort(); }), "Shader abort instruction hit (", __LINE__);
    expect(failure([](int x) restrict(amp) { assert(x == 0 && "here"); }), "failed. (thread (", __LINE__);
    CHECK(failure([](int) restrict(amp){}) == "none");
}
TEST(a_division_by_zero_is_defined) {
    std::vector<int> divisors = {0, 2, -1, 0};
    const array_view<const int> by(4, divisors);
    const auto found = results_of(4, [by](const array_view<int> &out) {
        return [=](index<1> i) restrict(amp) {
            const int quotient = 7 * (called_overload(0) - 1) / by[i];
            out[i] = by[i] == 0 ? quotient - 4 : quotient;
        };
    });
    CHECK(found == (std::vector<int>{-5, 3, -7, -5}));
}
TEST(an_error_names_the_thread_of_a_row) {
    std::vector<int> numbers(100);
    const array_view<int, 2> out(4, 25, numbers);
    const auto run = [&] {
        parallel_for_each(
            host_threads(), out.extent, [=](index<2> i) restrict(amp) {
                if (i == index<2>(2, 19)) direct3d_errorf("here %d", called_overload(0));
                out[i] = 1;
            });
        out.synchronize();
    };
    CHECK_THROWS(runtime_exception, run(), CHECK_CONTAINS(e.what(), "here 2 ("));
    CHECK_THROWS(runtime_exception, run(), CHECK_CONTAINS(e.what(), "thread (2, 19))"));
}

CHECK_MAIN
