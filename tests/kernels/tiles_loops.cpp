// Tests kernels with barriers in loops, branches and switches. tiles.hpp explains KERNEL and HOST.
#include "tiles.hpp"

#include <cmath>

namespace {

KERNEL(nested_loops) {
    auto d = input(1024);
    array_view<int> a(1024, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            for (int k = 2; k <= 64; k *= 2)
                for (int j = k / 2; j > 0; j /= 2) {
                    int p = l ^ j;
                    if (p > l) {
                        bool up = (l & k) == 0;
                        if ((s[l] > s[p]) == up) {
                            int x = s[l];
                            s[l] = s[p];
                            s[p] = x;
                        }
                    }
                    t.barrier.wait();
                }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}
// The kernel is a bitonic sort of each tile.
HOST(nested_loops) {
    return transform_tiles(input(1024), 64, [](int, Numbers &a) { std::sort(a.begin(), a.end()); });
}

KERNEL(do_while) {
    auto d = input(256);
    array_view<int> a(256, d);
    int limit = 5;
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            tile_static int done;
            int l = t.local[0], step = 0;
            s[l] = a[t.global];
            if (l == 0) done = 0;
            t.barrier.wait();
            do {
                ++step;
                int v = s[(l + 1) % 16];
                t.barrier.wait();
                s[l] = s[l] / 2 + v / 2;
                t.barrier.wait();
                if (step == 2) continue;
                if (l == 0) done = s[0] < 300;
                t.barrier.wait();
                if (done) break;
            } while (step < limit);
            a[t.global] = s[l] * 10 + step;
        });
    a.synchronize();
    return d;
}
HOST(do_while) {
    return transform_tiles(input(256), 16, [](int, Numbers &a) {
        int steps = 0;
        bool done = false;
        while (steps < 5 && !done) {
            ++steps;
            a = compute_phase(16, [&](int l) { return a[l] / 2 + a[(l + 1) % 16] / 2; });
            done = steps != 2 && a[0] < 300; // the kernel skips its check in the second step
        }
        a = compute_phase(16, [&](int l) { return a[l] * 10 + steps; });
    });
}

KERNEL(switch_uniform) {
    auto d = input(640);
    array_view<int> a(640, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            t.barrier.wait();
            switch (t.tile[0] % 4) {
            case 0: {
                int v = s[63 - l];
                t.barrier.wait();
                s[l] = v;
                break;
            }
            case 1:
                for (int i = 0; i < 3; ++i) {
                    int v = s[(l + 1) & 63];
                    t.barrier.wait();
                    s[l] += v;
                    t.barrier.wait();
                } // fallthrough
            case 2:
                if (l < 32) s[l] -= s[l + 32];
                t.barrier.wait();
                break;
            default:
                return;
            }
            t.barrier.wait();
            a[t.global] = s[(l * 7) & 63];
        });
    a.synchronize();
    return d;
}
HOST(switch_uniform) {
    return transform_tiles(input(640), 64, [](int tile, Numbers &a) {
        const int branch = tile % 4;
        if (branch == 3) return;
        if (branch == 0) std::reverse(a.begin(), a.end());
        for (int i = 0; branch == 1 && i < 3; ++i)
            a = compute_phase(64, [&](int l) { return a[l] + a[(l + 1) % 64]; });
        for (int l = 0; branch != 0 && l < 32; ++l)
            a[l] -= a[l + 32];
        a = compute_phase(64, [&](int l) { return a[l * 7 % 64]; });
    });
}

KERNEL(barriers_in_a_do_while_loop) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            int l = t.local[0], n = 0;
            s[l] = a[t.global];
            do {
                t.barrier.wait();
                int v = s[(l + 1) & 15];
                t.barrier.wait();
                s[l] = v + n;
            } while (++n < 5 + t.tile[0] % 3);
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}
HOST(barriers_in_a_do_while_loop) {
    return transform_tiles(input(256), 16, [](int tile, Numbers &a) {
        // Iteration n moves all elements by one position, and adds n to each element.
        const int times = 5 + tile % 3, added = times * (times - 1) / 2;
        a = compute_phase(16, [&](int l) { return a[(l + times) % 16] + added; });
    });
}

int left(int *s, const tiled_index<16> &t) restrict(amp) {
    int v = s[t.local[0] ^ 1];
    t.barrier.wait();
    return v;
}
int right(int *s, const tiled_index<16> &t) restrict(amp) {
    t.barrier.wait();
    int v = s[t.local[0] ^ 2];
    t.barrier.wait();
    return -v;
}
KERNEL(ternary) {
    auto d = input(160);
    array_view<int> a(160, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            s[t.local[0]] = a[t.global];
            t.barrier.wait();
            int v = t.tile[0] % 3 == 0 ? left(s, t) : right(s, t);
            bool both = t.tile[0] > 4 && right(s, t) < 0;
            s[t.local[0]] = v;
            t.barrier.wait();
            a[t.global] = s[15 - t.local[0]] + both;
        });
    a.synchronize();
    return d;
}
HOST(ternary) {
    return transform_tiles(input(160), 16, [](int tile, Numbers &a) {
        a = compute_phase(16, [&](int l) {
            const int other = 15 - l;
            const int v = tile % 3 == 0 ? a[other ^ 1] : -a[other ^ 2];
            return v + (tile > 4 && a[l ^ 2] > 0);
        });
    });
}

KERNEL(return_in_loop) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            for (int i = 0; i < 10; ++i) {
                t.barrier.wait();
                int v = s[(l + 1) & 63], z = s[0];
                t.barrier.wait();
                if (z % 5 == 0) {
                    a[t.global] = -i;
                    return;
                }
                s[l] = v + 1;
            }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}
HOST(return_in_loop) {
    return transform_tiles(input(512), 64, [](int, Numbers &a) {
        // Before iteration i, element l of the kernel's tile is a[l + i] + i.
        int i = 0;
        while (i < 10 && (a[i] + i) % 5 != 0)
            ++i;
        a = compute_phase(64, [&](int l) { return i < 10 ? -i : a[(l + 10) % 64] + 10; });
    });
}

KERNEL(queue) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int left, s[32];
            int l = t.local[0], mine = 0;
            s[l] = a[t.global];
            if (l == 0) left = 40 + t.tile[0];
            t.barrier.wait();
            while (left > 0) {
                int at = left;
                t.barrier.wait();
                if (at - l > 0) mine += s[(at + l) & 31] * at;
                if (l == 0) left = at - 32;
                t.barrier.wait();
            }
            a[t.global] = mine;
        });
    a.synchronize();
    return d;
}
HOST(queue) {
    return transform_tiles(input(256), 32, [](int tile, Numbers &a) {
        Numbers mine(32);
        for (int left = 40 + tile; left > 0; left -= 32)
            for (int l = 0; l < std::min(left, 32); ++l)
                mine[l] += a[(left + l) % 32] * left;
        a = mine;
    });
}

KERNEL(values_set_in_some_branches) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0], v = 7, w;
            if (a[t.global] & 1) {
                v = a[t.global];
                w = v * 2;
            } else if (a[t.global] % 3 == 0) {
                w = 5;
            } else {
                w = l;
                v -= l;
            }
            s[l] = v;
            t.barrier.wait();
            if (s[63 - l] > 300) w += s[63 - l];
            t.barrier.wait();
            s[l] = w;
            t.barrier.wait();
            a[t.global] = s[(l + 13) & 63] + w * 1000 + v;
        });
    a.synchronize();
    return d;
}
HOST(values_set_in_some_branches) {
    return transform_tiles(input(512), 64, [](int, Numbers &a) {
        const auto is_odd = [&](int l) { return a[l] % 2 == 1; };
        const auto is_divisible_by_3 = [&](int l) { return a[l] % 3 == 0; };
        const Numbers v = compute_phase(64, [&](int l) { return is_odd(l) ? a[l] : is_divisible_by_3(l) ? 7 : 7 - l; });
        const Numbers w = compute_phase(64, [&](int l) {
            const int initial = is_odd(l) ? 2 * a[l] : is_divisible_by_3(l) ? 5 : l, opposite = v[63 - l];
            return opposite > 300 ? initial + opposite : initial;
        });
        a = compute_phase(64, [&](int l) { return w[(l + 13) % 64] + w[l] * 1000 + v[l]; });
    });
}

KERNEL(swaps) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0], x = a[t.global], y = l, z = 1;
            for (int i = 0; i < 7; ++i) {
                s[l] = x;
                t.barrier.wait();
                int n = s[(l + i) & 31];
                t.barrier.wait();
                int o = x;
                x = y;
                y = z;
                z = o ^ n;
            }
            a[t.global] = x * 3 + y * 5 + z * 7;
        });
    a.synchronize();
    return d;
}
HOST(swaps) {
    return transform_tiles(input(256), 32, [](int, Numbers &a) {
        Numbers x = a, y = compute_phase(32, [](int l) { return l; }), z(32, 1);
        for (int i = 0; i < 7; ++i) {
            const Numbers next = compute_phase(32, [&](int l) { return x[l] ^ x[(l + i) % 32]; });
            x = y;
            y = z;
            z = next;
        }
        a = compute_phase(32, [&](int l) { return x[l] * 3 + y[l] * 5 + z[l] * 7; });
    });
}

KERNEL(barrier_in_header) {
    auto d = input(256);
    array_view<int> a(256, d);
    parallel_for_each(
        where, a.get_extent().tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            int l = t.local[0];
            s[l] = a[t.global];
            for (int i = (t.barrier.wait(), s[0] & 3); t.barrier.wait(), i < 6; t.barrier.wait(), ++i) {
                int v = s[(l + i) & 15];
                t.barrier.wait();
                s[l] = v + i;
            }
            a[t.global] = s[l];
        });
    a.synchronize();
    return d;
}
HOST(barrier_in_header) {
    return transform_tiles(input(256), 16, [](int, Numbers &a) {
        for (int i = a[0] % 4; i < 6; ++i)
            a = compute_phase(16, [&](int l) { return a[(l + i) % 16] + i; });
    });
}

KERNEL(nonuniform_switch) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            int l = t.local[0];
            s[l] = a[t.global];
            int state = a[t.global] % 5, v = 0;
            for (int i = 0; i < 6; ++i) {
                t.barrier.wait();
                switch (state) {
                case 0:
                    v += s[l];
                    state = 2;
                    break;
                case 1:
                    v -= 3; // fallthrough
                case 2:
                    v ^= s[(l + 1) & 63];
                    state = (state + v) & 3;
                    continue;
                case 3:
                    if (v & 1) {
                        state = 4;
                        break;
                    }
                    v += 9;
                    state = 0;
                    break;
                default:
                    v = -v;
                    state = 1;
                }
                v += i;
            }
            a[t.global] = v;
        });
    a.synchronize();
    return d;
}
HOST(nonuniform_switch) {
    return transform_tiles(input(512), 64, [](int, Numbers &a) {
        a = compute_phase(64, [&](int l) {
            int state = a[l] % 5, v = 0;
            for (int i = 0; i < 6; ++i) {
                if (state == 1) v -= 3;
                if (state == 1 || state == 2) {
                    v ^= a[(l + 1) % 64];
                    state = (state + v) & 3;
                } else if (state == 0) {
                    v += a[l] + i;
                    state = 2;
                } else if (state == 4) {
                    v = i - v;
                    state = 1;
                } else if (v % 2 != 0) {
                    v += i;
                    state = 4;
                } else {
                    v += 9 + i;
                    state = 0;
                }
            }
            return v;
        });
    });
}

KERNEL(dependent_uniform_trip_counts) {
    auto d = input(512);
    array_view<int> a(512, d);
    parallel_for_each(
        where, extent<1>(512).tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static int s[32];
            int l = t.local[0], g = t.tile_origin[0];
            s[l] = a[t.global];
            t.barrier.wait();
            int lo = 0, hi = 31, rounds = 0;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (s[mid] > 400)
                    hi = mid;
                else
                    lo = mid + 1;
                t.barrier.wait();
                if (l == mid) s[l] += lo;
                t.barrier.wait();
                ++rounds;
            }
            int n = s[lo] & 7;
            t.barrier.wait();
            for (int i = 0; i < n; ++i) {
                s[(l + i) & 31] ^= i + rounds;
                t.barrier.wait();
            }
            a[t.global] = s[l] + lo * 1000 + g;
        });
    a.synchronize();
    return d;
}
HOST(dependent_uniform_trip_counts) {
    return transform_tiles(input(512), 32, [](int tile, Numbers &a) {
        int low = 0, high = 31, rounds = 0;
        for (; low < high; ++rounds) {
            const int middle = (low + high) / 2;
            if (a[middle] > 400)
                high = middle;
            else
                low = middle + 1;
            a[middle] += low;
        }
        const int times = a[low] % 8;
        for (int i = 0; i < times; ++i)
            for (int &n : a)
                n ^= i + rounds;
        for (int &n : a)
            n += low * 1000 + tile * 32;
    });
}

KERNEL(nan_conditions) {
    auto i = input(256);
    std::vector<float> f(256);
    for (int k = 0; k < 256; ++k)
        f[k] = k % 7 == 0 ? NAN : float(i[k]);
    array_view<const float> a(256, f);
    Numbers r(256);
    array_view<int> o(256, r);
    parallel_for_each(
        where, o.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
            tile_static float s[32];
            int l = t.local[0], n = 0;
            s[l] = a[t.global];
            t.barrier.wait();
            for (int k = 0; k < 32; ++k) {
                if (s[k] < s[l]) n += 1;
                if (!(s[k] >= s[l])) n += 100;
                if (s[k] != s[k]) n += 10000;
            }
            if (s[0] != s[0]) {
                t.barrier.wait();
                s[l] = 5;
                t.barrier.wait();
                n += int(s[31 - l]);
            }
            o[t.global] = n;
        });
    o.synchronize();
    return r;
}
// The host compares integers. The index of an element determines whether the kernel sees a NaN there.
HOST(nan_conditions) {
    return transform_tiles(input(256), 32, [](int tile, Numbers &a) {
        const auto is_nan = [&](int l) { return (tile * 32 + l) % 7 == 0; };
        a = compute_phase(32, [&](int l) {
            int n = is_nan(0) ? 5 : 0;
            for (int k = 0; k < 32; ++k) {
                const bool unordered = is_nan(k) || is_nan(l), is_less = !unordered && a[k] < a[l];
                n += is_less * 1 + (unordered || is_less) * 100 + is_nan(k) * 10000;
            }
            return n;
        });
    });
}

KERNEL(early_out_search) {
    auto d = input(1024);
    array_view<int> a(1024, d);
    parallel_for_each(
        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static int s[64];
            tile_static int found;
            int l = t.local[0];
            s[l] = a[t.global];
            if (l == 0) found = 64;
            t.barrier.wait();
            for (int i = l; i < 64; ++i)
                if (s[i] % 17 == l % 17) {
                    atomic_fetch_min(&found, i);
                    break;
                }
            t.barrier.wait();
            if (found == 64) {
                a[t.global] = -1;
                return;
            }
            t.barrier.wait();
            int f = found;
            t.barrier.wait();
            for (int i = 0; i < 64; ++i) {
                if (i == f) break;
                if (l == i) s[l] = -s[l];
                t.barrier.wait();
            }
            t.barrier.wait();
            a[t.global] = s[63 - l] + f;
        });
    a.synchronize();
    return d;
}
HOST(early_out_search) {
    return transform_tiles(input(1024), 64, [](int, Numbers &a) {
        // `found` is the least i such that a[i] % 17 == l % 17 for some thread l <= i. The least such l is a[i] % 17.
        int found = 0;
        while (found < 64 && a[found] % 17 > found)
            ++found;
        if (found == 64) {
            a = Numbers(64, -1);
            return;
        }
        for (int l = 0; l < found; ++l)
            a[l] = -a[l];
        a = compute_phase(64, [&](int l) { return a[63 - l] + found; });
    });
}

TEST(loops_with_barriers_on_host_threads_and_on_a_device) {
    compare_kernels();
}

} // namespace

CHECK_MAIN
