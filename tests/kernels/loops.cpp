// Tests of loops that a compiler cannot prove to end, or considers infinite. They end because of atomics, floats,
// counters that wrap around or other threads, or no thread enters them. Run on a Vulkan device and on host threads.
#include "device.hpp"

#include <amp_math.h>
#include <cmath>
#include <vector>

using namespace concurrency;

namespace {

// Calls `kernel` with the accelerator_view of host threads, and then with the accelerator_view of the Vulkan device.
template <class Kernel> void everywhere(const Kernel &kernel) {
    kernel(accelerator(accelerator::direct3d_warp).default_view);
    kernel(vulkan_view());
}

int position_of(array_view<const int> v, int x) restrict(amp) {
    for (int i = 0;; ++i) {
        if (v[i] == x) return i;
    }
}
int common_divisor(int a, int b) restrict(amp) {
    for (;;) {
        if (b == 0) return a;
        const int rest = a % b;
        a = b;
        b = rest;
    }
}

// A loop with several exits, one of them in an inner loop. The result depends on both loops.
int search(const array_view<const int> &v, int from, int wanted) restrict(amp, cpu) {
    int sum = 0, k = 0;
    float scale = 1;
    while (k < 40) {
        const int x = v[(from + k) & 63];
        if (x == wanted) break;
        if (x > 50) {
            sum += 1000;
            if (x & 1) break;
            sum += 3 * x;
        }
        int inner = 0;
        for (; inner < x % 7; ++inner) {
            if ((inner ^ x) == 5) break;
            sum += inner;
            if (sum > 4000) return -sum;
        }
        scale *= 0.5f;
        if (inner == 6 && sum > 100) {
            sum -= 50;
            if (k > 9) return k + sum;
            break;
        }
        ++k;
    }
    return k * 100000 + sum + (scale < 0.01f ? 7 : 0);
}
// Divides integers of several widths, mostly by powers of two. Returns a weighted sum of the results.
unsigned quotients_and_remainders_by_constants(int a, int b) restrict(amp, cpu) {
    const auto c = static_cast<short>(a);
    const auto d = static_cast<signed char>(a);
    const long long e = static_cast<long long>(a) * 4294967291LL + b;
    unsigned sum = unsigned(a / 2) * 3u + unsigned(a % 2) * 5u + unsigned(a / 1024) * 7u + unsigned(a % 1024) * 9u;
    sum += unsigned(a / (1 << 30)) * 11u + unsigned(a % (1 << 30)) * 13u + unsigned(a / -4) * 17u;
    sum += unsigned(c / 4) * 19u + unsigned(c % 16384) * 21u + unsigned(d / 64) * 23u + unsigned(d % 2) * 25u;
    using word = unsigned long long;
    const word wide = word(e / 2) * 27 + word(e % 8) * 29 + word(e / (1LL << 40)) * 31 + word(e % (1LL << 62));
    return sum + unsigned(wide) + unsigned(wide >> 32) * 33u;
}
int remainders(int a, int b) restrict(amp, cpu) {
    const short c = static_cast<short>(a), d = static_cast<short>(b);
    const int sum = a % b + 3 * (d == 0 ? 0 : c % d) + 5 * (a % 12) + 7 * (b % -8);
    return static_cast<int>(static_cast<unsigned>(sum) + quotients_and_remainders_by_constants(a, b));
}

} // namespace

TEST(loops_that_atomic_operations_end) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> counts(64), shared(4);
        const array_view<int> v(64, counts), n(4, shared);
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                int k = 0;
                while (true) {
                    ++k;
                    if (atomic_fetch_add(&n[0], 1) >= 1000) break;
                }
                v[i] = k;
            });
        int sum = 0;
        for (int i = 0; i < 64; ++i)
            sum += v[i];
        CHECK(sum == 1064 && n[0] == 1064);
        // A lock, which each thread takes once.
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                bool done = false;
                while (!done) {
                    int free = 0;
                    if (atomic_compare_exchange(&n[1], &free, 1)) {
                        atomic_fetch_add(&n[2], i[0]);
                        done = true;
                        atomic_exchange(&n[1], 0);
                    }
                }
            });
        CHECK(n[1] == 0 && n[2] == 2016);
        parallel_for_each(
            where, v.extent, [=](index<1>) restrict(amp) {
                int old = atomic_fetch_or(&n[3], 0);
                for (;;) {
                    const int wanted = old + 3;
                    if (atomic_compare_exchange(&n[3], &old, wanted)) break;
                }
            });
        CHECK(n[3] == 192);
    });
}

// The first tile sets a flag. The other tiles wait for the flag with atomic operations that change nothing.
TEST(loops_wait_for_another_tile) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> values(64), flags(2);
        const array_view<int> v(64, values), n(2, flags);
        parallel_for_each(
            where, v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                if (t.tile[0] == 0) {
                    if (t.local[0] == 0) atomic_exchange(&n[0], 1);
                } else {
                    while (atomic_fetch_add(&n[0], 0) == 0)
                        ;
                }
                t.barrier.wait();
                while (atomic_fetch_or(&n[0], 0) != 1) {
                }
                int one;
                do {
                    one = 1;
                } while (!atomic_compare_exchange(&n[0], &one, 1));
                v[t] = t.tile[0] + one;
            });
        CHECK(v[0] == 1 && v[63] == 8);
    });
}

TEST(counters_that_wrap_around) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> counts(8);
        const array_view<int> v(8, counts);
        const int three = 3;
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                int n = 0;
                for (unsigned k = 5; k < 6; --k)
                    ++n;
                for (unsigned k = 0xfffffff0u; k != unsigned(three); ++k)
                    ++n;
                for (unsigned k = 1u << 31; k; k >>= 1) {
                    if (k == 4) continue;
                    ++n;
                }
                unsigned short s = 65530;
                while (s != 4) {
                    ++s;
                    ++n;
                }
                unsigned z = unsigned(i[0]);
                do {
                    z = z * 5 + 3;
                    ++n;
                } while ((z & 255) != unsigned(i[0]));
                v[i] = n;
            });
        for (int i = 0; i < 8; ++i)
            CHECK(v[i] == 6 + 19 + 31 + 10 + 256);
    });
}

TEST(loops_that_a_float_comparison_ends) {
    everywhere([](const accelerator_view &where) {
        std::vector<float> roots(8);
        std::vector<int> counts(8);
        const array_view<float> v(8, roots);
        const array_view<int> n(8, counts);
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                const float a = float(i[0] + 2);
                float x = 1;
                while (precise_math::fabs(x * x - a) > 1e-5f * a)
                    x = (x + a / x) / 2;
                v[i] = x;
                int k = 0;
                for (float f = 0; f != 1.0f; f += 0.125f)
                    ++k;
                float g = a;
                for (;;) {
                    g = g * 2 + 1;
                    if (g > 1000.0f) break;
                    if (!(g == g)) return;
                    ++k;
                }
                double unused = 0;
                while (unused < 100.0)
                    unused += 1.5;
                n[i] = k;
            });
        CHECK(std::fabs(v[2] - 2) < 1e-3f && n[0] == 16 && n[6] == 14);
    });
}

TEST(barriers_in_loops_that_a_tile_static_variable_ends) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> values(64);
        const array_view<int> v(64, values);
        parallel_for_each(
            where, v.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                tile_static int n;
                tile_static float f;
                if (t.local[0] == 0) n = t.tile[0];
                if (t.local[0] == 15) f = 1;
                t.barrier.wait();
                for (;;) {
                    const int m = n;
                    t.barrier.wait();
                    if (m >= 5) break;
                    if (t.local[0] == 3) n = m + 1;
                    t.barrier.wait();
                }
                bool more;
                do {
                    more = f < 50.0f;
                    t.barrier.wait();
                    if (t.local[0] == 0 && more) f *= 3;
                    t.barrier.wait();
                } while (more);
                v[t] = n + int(f);
            });
        CHECK(v[0] == 86 && v[63] == 86);
    });
}

TEST(returns_switches_and_jumps_out_of_loops) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> found(8), descending(64);
        for (int i = 0; i < 64; ++i)
            descending[std::size_t(i)] = 63 - i;
        const array_view<int> v(8, found);
        const array_view<const int> w(64, descending);
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                int state = 0, n = 0;
                while (state != 1) {
                    switch (state) {
                    case 0:
                        state = 3;
                        break;
                    case 3:
                        n += 5;
                        state = i[0] & 1 ? 2 : 1;
                        continue;
                    default:
                        n += 7;
                        state = 1;
                    }
                    n += 100;
                }
                v[i] = position_of(w, i[0]) + common_divisor(12, 18) * 1000 + n * 10000;
            });
        const int even = 5 + 100, odd = 5 + 7 + 2 * 100;
        CHECK(v[2] == (63 - 2) + 6 * 1000 + even * 10000 && v[3] == (63 - 3) + 6 * 1000 + odd * 10000);
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                int a = 0;
                for (;;) {
                    int b = 0;
                    for (;;) {
                        if (++b > i[0]) break;
                        if (a > 3) {
                            v[i] = a * 100 + b;
                            return;
                        }
                    }
                    if (++a == 9) break;
                }
                v[i] = -1;
            });
        CHECK(v[0] == -1 && v[5] == 401);
    });
}

// Also tests quotients and remainders of all signs.
TEST(loops_that_are_left_in_several_places) {
    const int ends[] = {-2147483647 - 1, -2147483647, -65537, -13, -8, -1, 1, 2, 7, 12, 40000, 2147483647};
    std::vector<int> numbers(64);
    unsigned state = 5;
    for (int &n : numbers)
        n = static_cast<int>((state = state * 1664525u + 1013904223u) >> 26);
    std::copy(std::begin(ends), std::end(ends), numbers.begin() + 50);
    everywhere([&](const accelerator_view &where) {
        const array_view<const int> v(64, numbers);
        std::vector<int> found(4096);
        const array_view<int, 2> got(64, 64, found);
        parallel_for_each(
            where, got.extent, [=](index<2> i) restrict(amp) {
                const int a = v[i[0]], b = v[i[1]];
                const bool defined = b != 0 && !(b == -1 && a < -2147483647);
                got[i] = search(v, i[0], i[1]) ^ (defined ? remainders(a, b) : 0);
            });
        int mismatches = 0;
        for (int i = 0; i < 64; ++i)
            for (int k = 0; k < 64; ++k) {
                const int a = v[i], b = v[k];
                const bool defined = b != 0 && !(b == -1 && a < -2147483647);
                mismatches += got(i, k) != (search(v, i, k) ^ (defined ? remainders(a, b) : 0));
            }
        CHECK(mismatches == 0);
    });
}

// The trip count of the loop over `n` is below 8. It is at least 1, because the loop over `k` runs only if `given` is
// odd.
TEST(a_loop_of_fewer_than_8_iterations_within_a_loop_of_at_most_one) {
    everywhere([](const accelerator_view &where) {
        for (const unsigned given : {0u, 6u, 7u, 13u}) {
            std::vector<unsigned> values(64);
            const array_view<unsigned> v(64, values);
            parallel_for_each(
                where, v.extent, [=](index<1> i) restrict(amp) {
                    const unsigned l = unsigned(i[0]);
                    unsigned sum = v[i] + l;
                    for (unsigned k = 0; k < given % 2; ++k)
                        switch (sum % 3) {
                        case 0:
                            for (unsigned n = 0; n < given % 8; ++n)
                                for (unsigned m = 0; m < ((12 + l) & 7); ++m)
                                    sum += 742740;
                            break;
                        case 1:
                            sum = sum * 3 + 1;
                            break;
                        default:
                            sum ^= 5;
                        }
                    v[i] = sum;
                });
            const unsigned rounds = given % 2 * (given % 8);
            CHECK(v[9] == 9 + rounds * (21 & 7) * 742740u && v[2] == (given % 2 != 0 ? 7u : 2u));
        }
    });
}

// These loops would never end, but no thread enters them.
TEST(loops_that_no_thread_enters) {
    everywhere([](const accelerator_view &where) {
        std::vector<int> values(8);
        const array_view<int> v(8, values);
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                if (i[0] > 100) {
                    while (true) {
                    }
                }
                int x = v[i];
                if (x > 1000)
                    for (;;)
                        x = x * 3;
                if (x > 2000)
                    for (;;)
                        v[i] += 1;
                v[i] = 3 + x;
            });
        CHECK(v[0] == 3 && v[7] == 3);
        parallel_for_each(
            where, v.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) {
                for (int round = 0; round < 3; ++round) {
                    if (v[t] < 0)
                        while (true)
                            ;
                    t.barrier.wait();
                    v[t] += round;
                }
            });
        CHECK(v[0] == 6 && v[7] == 6);
        unsigned start = 27; // of a Collatz sequence
        parallel_for_each(
            where, v.extent, [=](index<1> i) restrict(amp) {
                unsigned n = start;
                while (n != 1)
                    n = n & 1 ? n * 3 + 1 : n / 2;
                v[i] = int(n);
            });
        CHECK(v[5] == 1);
    });
}

// A lock that each thread takes and releases in one iteration of a loop. The compiler must not sink the critical
// section out of the loop: threads in lockstep reach the code after the loop only when all of them have left the loop.
template <class Body> void test_lock(int expected, const Body &body) {
    everywhere([&](const accelerator_view &where) {
        std::vector<int> values(4);
        const array_view<int> v(4, values);
        parallel_for_each(
            where, extent<1>(64).tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                body(v, t.global[0]);
                int old = v[3];
                while (!atomic_compare_exchange(&v[3], &old, old + 3)) {
                }
            });
        CHECK_EQUAL(v[2], expected);
        CHECK_EQUAL(v[3], 192);
    });
}

TEST(locks_within_loops) {
    using view = const array_view<int> &;
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            bool done = false;
            while (!done) {
                int free = 0;
                if (atomic_compare_exchange(&v[1], &free, 1)) {
                    v[2] += i;
                    done = true;
                    atomic_exchange(&v[1], 0);
                }
            }
        });
    test_lock(
        4032, [](view v, int i) restrict(amp) {
            for (int k = 0; k < 2; ++k)
                for (bool done = false; !done;) {
                    if (atomic_exchange(&v[1], 1) != 0) continue;
                    for (int n = 0; n < 4; ++n)
                        v[2] += i;
                    v[2] -= 3 * i;
                    v[1] = 0;
                    done = true;
                }
        });
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            int retry = 1;
            do {
                if (atomic_fetch_or(&v[1], 1) == 0) {
                    v[2] += i;
                    retry = 0;
                    atomic_fetch_and(&v[1], 0);
                }
            } while (retry);
        });
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            const int ticket = atomic_fetch_inc(&v[0]);
            int tries = 0;
            for (bool done = false; !done && tries < 1000000; ++tries)
                if (atomic_fetch_add(&v[1], 0) == ticket) {
                    v[2] += i;
                    done = true;
                    atomic_fetch_inc(&v[1]);
                }
        });
    // In these loops, the block that takes the lock leaves the loop, or the critical section follows the loop. So in
    // the control-flow graph the critical section is already outside of the loop.
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            for (;;) {
                int free = 0;
                if (atomic_compare_exchange(&v[1], &free, 1)) {
                    v[2] += i;
                    atomic_exchange(&v[1], 0);
                    break;
                }
            }
        });
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            while (true)
                if (atomic_exchange(&v[1], 1) == 0) {
                    for (int n = 0; n < 4; ++n)
                        v[2] += n == 3 ? i : 0;
                    atomic_exchange(&v[1], 0);
                    return;
                }
        });
    test_lock(
        4032, [](view v, int i) restrict(amp) {
            for (int k = 0; k < 2; ++k) {
                while (atomic_fetch_or(&v[1], 1) != 0)
                    ;
                for (;;)
                    if (atomic_exchange(&v[0], 1) == 0) {
                        v[2] += i;
                        atomic_fetch_dec(&v[0]);
                        break;
                    }
                v[1] = 0;
            }
        });
    test_lock(
        2016, [](view v, int i) restrict(amp) {
            const int ticket = atomic_fetch_inc(&v[0]);
            do {
            } while (atomic_fetch_add(&v[1], 0) != ticket);
            v[2] += i;
            atomic_fetch_inc(&v[1]);
        });
}

// A lock that threads of several tiles take. Each owner must see the writes of the previous owner, with and without
// fences.
template <class Expected, class Body> void test_lock_of_several_tiles(const Expected &expected, const Body &body) {
    everywhere([&](const accelerator_view &where) {
        // llvmpipe leaves a loop after 65,535 iterations. A thread that waits for another tile could reach this limit
        // while the operating system has suspended the llvmpipe thread that runs that tile. So only one tile runs.
        const bool limited = where.accelerator.description.find(L"llvmpipe") != std::wstring::npos;
        const int tiles = limited ? 1 : 16;
        std::vector<int> values(64);
        const array_view<int> v(64, values);
        parallel_for_each(
            where, extent<1>(64 * tiles).tile<64>(), [=](tiled_index<64> t) restrict(amp) { body(v, t); });
        CHECK_EQUAL(v[2], expected(tiles));
    });
}

TEST(locks_that_several_tiles_take) {
    using view = const array_view<int> &;
    using tile = const tiled_index<64> &;
    const auto threads = [](int tiles) { return 64 * tiles; };
    test_lock_of_several_tiles(
        threads, [](view v, tile) restrict(amp) {
            for (bool done = false; !done;) {
                int free = 0;
                if (atomic_compare_exchange(&v[1], &free, 1)) {
                    v[2] += 1;
                    done = true;
                    atomic_exchange(&v[1], 0);
                }
            }
        });
    test_lock_of_several_tiles(
        threads, [](view v, tile) restrict(amp) {
            for (;;)
                if (atomic_exchange(&v[1], 1) == 0) {
                    v[2] += 1;
                    v[1] = 0;
                    break;
                }
        });
    test_lock_of_several_tiles(
        threads, [](view v, tile t) restrict(amp) {
            for (bool done = false; !done;)
                if (atomic_exchange(&v[1], 1) == 0) {
                    global_memory_fence(t.barrier);
                    v[2] += 1;
                    all_memory_fence(t.barrier);
                    done = true;
                    atomic_fetch_sub(&v[1], 1);
                }
        });
    // One thread of each tile takes the lock, and all threads of the tile work while that thread holds it.
    test_lock_of_several_tiles([](int tiles) { return tiles; }, [](view v, tile t) restrict(amp) {
        if (t.local[0] == 0)
            while (atomic_exchange(&v[1], 1) != 0) {
            }
        t.barrier.wait();
        if (t.local[0] >= 3) v[t.local[0]] += 1;
        t.barrier.wait();
        if (t.local[0] == 0) {
            int same = 1;
            for (int k = 3; k < 64; ++k)
                same &= v[k] == v[3];
            v[2] += same;
            atomic_exchange(&v[1], 0);
        }
    });
    // A ticket lock, with one ticket for each tile.
    test_lock_of_several_tiles([](int tiles) { return tiles * (tiles - 1) / 2; }, [](view v, tile t) restrict(amp) {
        if (t.local[0] != 0) return;
        const int ticket = atomic_fetch_inc(&v[0]);
        while (atomic_fetch_add(&v[1], 0) != ticket) {
        }
        v[2] += ticket;
        atomic_fetch_inc(&v[1]);
    });
}

// A thread that takes the lock must reread variables that other threads wrote while they held the lock.
TEST(locks_in_tile_static_memory) {
    everywhere([&](const accelerator_view &where) {
        std::vector<int> values(3);
        const array_view<int> v(3, values);
        parallel_for_each(
            where, extent<1>(192).tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                tile_static int lock, sum, other;
                if (t.local[0] == 0) lock = sum = other = 0;
                t.barrier.wait();
                for (bool done = false; !done;)
                    if (atomic_exchange(&lock, 1) == 0) {
                        sum += t.global[0];
                        atomic_exchange(&lock, 0);
                        done = true;
                    }
                t.barrier.wait();
                for (;;)
                    if (atomic_exchange(&lock, 1) == 0) {
                        other++;
                        atomic_exchange(&lock, 0);
                        break;
                    }
                t.barrier.wait();
                if (t.local[0] == 0) v[t.tile[0]] = sum + other;
            });
        v.synchronize();
        for (int tile = 0; tile < 3; ++tile) {
            int expected = 64;
            for (int l = 0; l < 64; ++l)
                expected += tile * 64 + l;
            CHECK_EQUAL(values[std::size_t(tile)], expected);
        }
    });
}

CHECK_MAIN

// Divides two numbers by the same divisor, so that the divisions may share its reciprocal. Tests signed and unsigned
// quotients and remainders of numbers near powers of two and of pseudo-random numbers.
TEST(divisions_by_the_same_divisor) {
    std::vector<unsigned> edges;
    for (int bit = 0; bit < 32; ++bit)
        for (int near = -2; near <= 2; ++near)
            edges.push_back((1U << bit) + static_cast<unsigned>(near));
    for (unsigned x = 1; edges.size() < 512; x = x * 1664525U + 1013904223U)
        edges.push_back(edges.size() % 3 ? x : x >> x % 29);
    const int n = static_cast<int>(edges.size());
    everywhere([&](const accelerator_view &where) {
        const array_view<const unsigned> numbers(n, edges);
        std::vector<unsigned> results(static_cast<size_t>(n) * n * 4);
        const array_view<unsigned, 3> got(n, n, 4, results);
        parallel_for_each(
            where, extent<2>(n, n), [=](index<2> i) restrict(amp) {
                const unsigned a = numbers[i[0]], b = numbers[i[1]];
                const int c = static_cast<int>(a), d = static_cast<int>(b);
                const bool defined = b != 0, signed_defined = defined && !(a == 0x80000000U && d == -1);
                got(i[0], i[1], 0) = defined ? a / b + ((a ^ 0x5555U) / b) * 3 : 0;
                got(i[0], i[1], 1) = defined ? a % b + ((a ^ 0x5555U) % b) * 3 : 0;
                got(i[0], i[1], 2) =
                    signed_defined ? static_cast<unsigned>(c / d) + static_cast<unsigned>(c / 2 / d) * 3 : 0;
                got(i[0], i[1], 3) =
                    signed_defined ? static_cast<unsigned>(c % d) + static_cast<unsigned>(c / 2 % d) * 3 : 0;
            });
        got.synchronize();
        int mismatches = 0;
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k) {
                const unsigned a = edges[i], b = edges[k];
                const int c = static_cast<int>(a), d = static_cast<int>(b);
                const bool defined = b != 0, signed_defined = defined && !(a == 0x80000000U && d == -1);
                const unsigned *r = &results[(static_cast<size_t>(i) * n + k) * 4];
                mismatches += r[0] != (defined ? a / b + ((a ^ 0x5555U) / b) * 3 : 0);
                mismatches += r[1] != (defined ? a % b + ((a ^ 0x5555U) % b) * 3 : 0);
                mismatches +=
                    r[2] != (signed_defined ? static_cast<unsigned>(c / d) + static_cast<unsigned>(c / 2 / d) * 3 : 0);
                mismatches +=
                    r[3] != (signed_defined ? static_cast<unsigned>(c % d) + static_cast<unsigned>(c / 2 % d) * 3 : 0);
            }
        CHECK(mismatches == 0);
    });
}
