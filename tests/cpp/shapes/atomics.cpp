// Tests of atomics, fences and debug intrinsics (docs/spec/launches.md).
#include <revamp/detail/atomics.h>

#include "../check.hpp"

#include <climits>
#include <thread>
#include <type_traits>

using namespace Concurrency;

template <class T> void each_returns_the_old_value() {
    T x = T(12);
    CHECK(atomic_exchange(&x, T(20)) == T(12) && x == T(20));
    CHECK(atomic_fetch_add(&x, T(5)) == T(20) && x == T(25));
    CHECK(atomic_fetch_sub(&x, T(4)) == T(25) && x == T(21));
    CHECK(atomic_fetch_max(&x, T(20)) == T(21) && x == T(21));
    CHECK(atomic_fetch_max(&x, T(22)) == T(21) && x == T(22));
    CHECK(atomic_fetch_min(&x, T(23)) == T(22) && x == T(22));
    CHECK(atomic_fetch_min(&x, T(12)) == T(22) && x == T(12));
    CHECK(atomic_fetch_and(&x, T(10)) == T(12) && x == T(8));
    CHECK(atomic_fetch_or(&x, T(3)) == T(8) && x == T(11));
    CHECK(atomic_fetch_xor(&x, T(6)) == T(11) && x == T(13));
    CHECK(atomic_fetch_inc(&x) == T(13) && x == T(14));
    CHECK(atomic_fetch_dec(&x) == T(14) && x == T(13));
    T expected = T(12);
    CHECK(!atomic_compare_exchange(&x, &expected, T(1)) && expected == T(13) && x == T(13));
    CHECK(atomic_compare_exchange(&x, &expected, T(1)) && expected == T(13) && x == T(1));
    static_assert(std::is_same<decltype(atomic_fetch_inc(&x)), T>::value, "");
    static_assert(std::is_same<decltype(atomic_compare_exchange(&x, &x, x)), bool>::value, "");
}
TEST(atomics_on_int) {
    each_returns_the_old_value<int>();
}
TEST(atomics_on_unsigned) {
    each_returns_the_old_value<unsigned>();
}

TEST(signs_and_wrapping) {
    int i = -5;
    CHECK(atomic_fetch_max(&i, -6) == -5 && i == -5);
    CHECK(atomic_fetch_min(&i, -6) == -5 && i == -6);
    CHECK(atomic_fetch_max(&i, 1) == -6 && i == 1);
    unsigned u = 0x80000000u;
    CHECK(atomic_fetch_max(&u, 1u) == 0x80000000u && u == 0x80000000u);
    CHECK(atomic_fetch_min(&u, 1u) == 0x80000000u && u == 1);
    u = 0;
    CHECK(atomic_fetch_dec(&u) == 0 && u == UINT_MAX);
    CHECK(atomic_fetch_inc(&u) == UINT_MAX && u == 0);
    i = INT_MAX;
    CHECK(atomic_fetch_inc(&i) == INT_MAX && i == INT_MIN);
}

TEST(exchange_of_float) {
    float x = 1.5f;
    CHECK(atomic_exchange(&x, -2.25f) == 1.5f && x == -2.25f);
    static_assert(std::is_same<decltype(atomic_exchange(&x, x)), float>::value, "");
}

TEST(from_several_threads) {
    int sum = 0, largest = INT_MIN, smallest = INT_MAX, swapped = 0;
    unsigned bits = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20000; ++i) {
                atomic_fetch_add(&sum, 1);
                atomic_fetch_max(&largest, t * 20000 + i);
                atomic_fetch_min(&smallest, -t * 20000 - i);
                atomic_fetch_xor(&bits, 1u << (i % 32));
                int expected = 0;
                while (!atomic_compare_exchange(&swapped, &expected, expected + 1)) {
                }
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(sum == 80000 && largest == 79999 && smallest == -79999 && bits == 0 && swapped == 80000);
}

#if !REVAMP_DEVICE_LANGUAGE
// The kernel compiler rejects these functions in cpu code.
TEST(fences) {
    const tile_barrier barrier = revamp::detail::tile_barrier_access::make(nullptr);
    int x = 0;
    x = 1;
    all_memory_fence(barrier);
    global_memory_fence(barrier);
    tile_static_memory_fence(barrier);
    CHECK(x == 1);
}

TEST(debug_intrinsics) {
    CHECK_THROWS(runtime_exception, (direct3d_abort(), 0),
                 CHECK_CONTAINS(e.what(), "Reference Rasterizer: Shader abort instruction hit"));
    CHECK_THROWS(runtime_exception, (direct3d_errorf("at %d: %s\n", 17, "wrong"), 0),
                 CHECK(e.what() == std::string("at 17: wrong\n")));
    CHECK_THROWS(runtime_exception, (direct3d_errorf("plain"), 0), CHECK(e.what() == std::string("plain")));
    direct3d_printf("%d %g\n", 5, 2.5);
}
#endif

CHECK_MAIN
