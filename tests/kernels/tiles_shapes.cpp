// Tests tiles of several dimensions and unusual sizes, many tiles, and launches from several threads (see tiles.hpp).
#include "tiles.hpp"

#include <array>
#include <thread>

namespace {

using Box = std::array<int, 3>;

// Calls `visit` for each thread of the tile at `tile_position`. The first argument is the thread's number in the tile.
// The second is the index of the thread's element in the data, or -1 if the thread is outside of the domain.
template <class F> void threads_of_tile(const Box &domain, const Box &tile, const Box &tile_position, F visit) {
    int l = 0;
    for (int z = tile_position[0] * tile[0]; z < (tile_position[0] + 1) * tile[0]; ++z)
        for (int y = tile_position[1] * tile[1]; y < (tile_position[1] + 1) * tile[1]; ++y)
            for (int x = tile_position[2] * tile[2]; x < (tile_position[2] + 1) * tile[2]; ++x) {
                const bool in = z < domain[0] && y < domain[1] && x < domain[2];
                visit(l++, in ? (z * domain[1] + y) * domain[2] + x : -1);
            }
}

// Like `transform_tiles`, but in three dimensions: calls change(position, elements) for each tile, with the elements in
// row-major order. Elements outside of the domain are 0, and their new values are dropped.
template <class F> Numbers transform_boxes(Numbers data, const Box &domain, const Box &tile, F change) {
    const auto tiles = [&](int n) { return (domain[n] + tile[n] - 1) / tile[n]; };
    for (int z = 0; z < tiles(0); ++z)
        for (int y = 0; y < tiles(1); ++y)
            for (int x = 0; x < tiles(2); ++x) {
                const Box tile_position = {z, y, x};
                Numbers elements(tile[0] * tile[1] * tile[2]);
                threads_of_tile(domain, tile, tile_position,
                                [&](int l, int data_index) { elements[l] = data_index < 0 ? 0 : data[data_index]; });
                change(tile_position, elements);
                threads_of_tile(domain, tile, tile_position, [&](int l, int data_index) {
                    if (data_index >= 0) data[data_index] = elements[l];
                });
            }
    return data;
}

KERNEL(tiles_3d) {
    auto d = input(8 * 12 * 16);
    Numbers r(8 * 12 * 16);
    array_view<const int, 3> a(8, 12, 16, d);
    array_view<int, 3> o(8, 12, 16, r);
    parallel_for_each(
        where, a.get_extent().tile<2, 3, 8>(), [=](tiled_index<2, 3, 8> t) restrict(amp) {
            tile_static int s[2][3][8];
            int z = t.local[0], y = t.local[1], x = t.local[2];
            s[z][y][x] = a[t.global];
            t.barrier.wait();
            int v = s[1 - z][2 - y][7 - x];
            for (int i = 0; i < 3; ++i) {
                t.barrier.wait();
                s[z][y][x] += v;
                t.barrier.wait();
                v = s[z][(y + 1) % 3][(x + i) % 8];
            }
            o[t.global] = v;
        });
    o.synchronize();
    return r;
}
HOST(tiles_3d) {
    return transform_boxes(input(8 * 12 * 16), {8, 12, 16}, {2, 3, 8}, [](const Box &, Numbers &s) {
        Numbers v(s.rbegin(), s.rend());
        for (int i = 0; i < 3; ++i) {
            for (int l = 0; l < 48; ++l)
                s[l] += v[l];
            v = compute_phase(48, [&](int l) {
                const int z = l / 24, y = l / 8 % 3, x = l % 8;
                return s[z * 24 + (y + 1) % 3 * 8 + (x + i) % 8];
            });
        }
        s = v;
    });
}

KERNEL(unusual_shapes) {
    auto d = input(6 * 10 * 64);
    {
        array_view<int, 3> a(6, 10, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<1, 1, 64>(), [=](tiled_index<1, 1, 64> t) restrict(amp) {
                tile_static int s[64];
                s[t.local[2]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[63 - t.local[2]] + t.tile[1];
            });
        a.synchronize();
    }
    {
        array_view<int, 2> a(60, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<60, 1>(), [=](tiled_index<60, 1> t) restrict(amp) {
                tile_static int s[60];
                s[t.local[0]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[59 - t.local[0]] * 2 + t.tile[1];
            });
        a.synchronize();
    }
    {
        array_view<int, 2> a(60, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<3, 1>(), [=](tiled_index<3, 1> t) restrict(amp) {
                tile_static int s[3][1];
                s[t.local[0]][t.local[1]] = a[t.global];
                t.barrier.wait();
                a[t.global] = s[2 - t.local[0]][0];
            });
        a.synchronize();
    }
    {
        array_view<int, 3> a(6, 10, 64, d);
        parallel_for_each(
            where, a.get_extent().tile<3, 5, 7>().pad(), [=](tiled_index<3, 5, 7> t) restrict(amp) {
                tile_static int s[3][5][7];
                bool in = a.extent.contains(t.global);
                s[t.local[0]][t.local[1]][t.local[2]] = in ? a[t.global] : 0;
                t.barrier.wait();
                int v = s[2 - t.local[0]][4 - t.local[1]][6 - t.local[2]];
                if (in) a[t.global] = v;
            });
        a.synchronize();
    }
    return d;
}
// Each of the four launches reverses the elements of every tile.
HOST(unusual_shapes) {
    Numbers d = input(6 * 10 * 64);
    d = transform_boxes(d, {6, 10, 64}, {1, 1, 64}, [](const Box &tile, Numbers &s) {
        std::reverse(s.begin(), s.end());
        for (int &n : s)
            n += tile[1];
    });
    d = transform_boxes(d, {1, 60, 64}, {1, 60, 1}, [](const Box &tile, Numbers &s) {
        std::reverse(s.begin(), s.end());
        for (int &n : s)
            n = n * 2 + tile[2];
    });
    const auto reverse_tile = [](const Box &, Numbers &s) { std::reverse(s.begin(), s.end()); };
    d = transform_boxes(d, {1, 60, 64}, {1, 3, 1}, reverse_tile);
    return transform_boxes(d, {6, 10, 64}, {3, 5, 7}, reverse_tile);
}

KERNEL(many_tiles) {
    int n = 60000;
    Numbers d(n);
    array_view<int> a(n, d);
    parallel_for_each(
        where, a.get_extent().tile<2>(), [=](tiled_index<2> t) restrict(amp) {
            tile_static int s[2];
            s[t.local[0]] = t.global[0];
            t.barrier.wait();
            a[t.global] = s[1 - t.local[0]] + t.tile[0];
        });
    a.synchronize();
    return d;
}
HOST(many_tiles) {
    return compute_phase(60000, [](int n) { return (n ^ 1) + n / 2; });
}

// If LLVM treated the index that wraps around as a counter, the kernel would read outside of the tile.
KERNEL(neighbours_with_wraparound) {
    Numbers d(2048, 1);
    array_view<int> a(2048, d);
    parallel_for_each(
        where, a.get_extent().tile<256>(), [=](tiled_index<256> t) restrict(amp) {
            a[t.global] = t.local[0] + 5;
            t.barrier.wait();
            int right = a[t.tile_origin + index<1>((t.local[0] + 1) % 256)];
            int distant = a[t.tile_origin + index<1>((t.local[0] + 200) & 255)];
            t.barrier.wait();
            a[t.global] = right * 3 + distant;
        });
    a.synchronize();
    return d;
}
HOST(neighbours_with_wraparound) {
    return compute_phase(2048, [](int n) { return ((n + 1) % 256 + 5) * 3 + (n + 200) % 256 + 5; });
}

KERNEL(launches_from_several_threads) {
    Numbers results(4 * 256);
    std::vector<std::thread> ts;
    for (int k = 0; k < 4; ++k)
        ts.emplace_back([&, k] {
            auto d = input(256, k + 2);
            for (int n = 0; n < 8; ++n) {
                array_view<int> a(256, d);
                if (k & 1)
                    parallel_for_each(
                        where, a.get_extent().tile<32>(), [=](tiled_index<32> t) restrict(amp) {
                            tile_static int s[32];
                            s[t.local[0]] = a[t.global];
                            t.barrier.wait();
                            a[t.global] = s[31 - t.local[0]] + k;
                        });
                else
                    parallel_for_each(
                        where, a.get_extent().tile<64>(), [=](tiled_index<64> t) restrict(amp) {
                            tile_static long long s[64];
                            s[t.local[0]] = a[t.global];
                            t.barrier.wait();
                            int v = int(s[(t.local[0] + 1) % 64]);
                            t.barrier.wait();
                            s[t.local[0]] = v;
                            t.barrier.wait();
                            a[t.global] = int(s[t.local[0] ^ 5]) - n;
                        });
                a.synchronize();
            }
            for (int n = 0; n < 256; ++n)
                results[k * 256 + n] = d[n];
        });
    for (auto &t : ts)
        t.join();
    return results;
}
HOST(launches_from_several_threads) {
    Numbers results;
    for (int k = 0; k < 4; ++k) {
        Numbers d = input(256, k + 2);
        for (int n = 0; n < 8; ++n) {
            const auto reversed = [&](int, Numbers &a) { a = compute_phase(32, [&](int l) { return a[31 - l] + k; }); };
            const auto moved = [&](int, Numbers &a) {
                a = compute_phase(64, [&](int l) { return a[((l ^ 5) + 1) % 64] - n; });
            };
            d = k % 2 == 1 ? transform_tiles(d, 32, reversed) : transform_tiles(d, 64, moved);
        }
        results.insert(results.end(), d.begin(), d.end());
    }
    return results;
}

TEST(tile_shapes_on_host_threads_and_on_a_device) {
    compare_kernels();
}

// What each thread does in a round, before the barrier at its end: adds the next thread's element (neighbours), changes
// its element of the view (view), or runs a loop with dependent iterations on its tile_static element (own).
enum class Round { neighbours, view, own };
template <int Y, int X, Round kind> Numbers rounds_by_kernel(const accelerator_view &where, Numbers data, int rounds) {
    array_view<int, 2> a(10 * Y, X, data);
    parallel_for_each(
        where, a.get_extent().template tile<Y, X>(), [=](tiled_index<Y, X> t) restrict(amp) {
            tile_static int s[Y * X];
            const int l = t.local[0] * X + t.local[1];
            s[l] = a[t.global];
            t.barrier.wait();
            for (int round = 0; round < rounds; ++round) {
                if (kind == Round::neighbours) {
                    const int next = s[(l + 1) % (Y * X)];
                    t.barrier.wait();
                    s[l] += next;
                } else if (kind == Round::view) {
                    a[t.global] = int(unsigned(a[t.global]) * 3 + round);
                } else {
                    for (int n = 0; n < rounds; ++n)
                        s[l] = int(unsigned(s[l]) * 3 + n);
                }
                t.barrier.wait();
            }
            if (kind != Round::view) a[t.global] = s[l];
        });
    a.synchronize();
    return data;
}
template <int Y, int X, Round kind> Numbers rounds_by_host(Numbers data, int rounds) {
    constexpr int threads = Y * X;
    for (std::size_t tile = 0; tile < data.size(); tile += threads)
        for (int round = 0; round < rounds; ++round) {
            const Numbers before(data.begin() + tile, data.begin() + tile + threads);
            for (int l = 0; l < threads; ++l) {
                int &x = data[tile + l];
                if (kind == Round::neighbours) x += before[(l + 1) % threads];
                if (kind == Round::view) x = int(unsigned(x) * 3 + round);
                for (int n = 0; kind == Round::own && n < rounds; ++n)
                    x = int(unsigned(x) * 3 + n);
            }
        }
    return data;
}
template <int Y, int X, Round kind>
void compare_rounds(const accelerator_view &where, const std::string &name, const std::string &what) {
    const Numbers data = input(10 * Y * X);
    for (const int rounds : {1, 7, 16})
        compare(std::to_string(Y) + " x " + std::to_string(X) + ", " + what + ", " + std::to_string(rounds) +
                    " rounds, on " + name,
                rounds_by_kernel<Y, X, kind>(where, data, rounds), rounds_by_host<Y, X, kind>(data, rounds));
}
template <int Y, int X> void compare_rounds(const accelerator_view &where, const std::string &name) {
    compare_rounds<Y, X, Round::neighbours>(where, name, "neighbours");
    compare_rounds<Y, X, Round::view>(where, name, "view");
    compare_rounds<Y, X, Round::own>(where, name, "own");
}

TEST(loops_around_barriers_in_small_tiles) {
    on_host_threads_and_on_a_device([](const accelerator_view &where, const std::string &name) {
        compare_rounds<3, 5>(where, name);
        compare_rounds<3, 7>(where, name);
        compare_rounds<4, 4>(where, name);
        compare_rounds<1, 2>(where, name);
        compare_rounds<7, 1>(where, name);
        compare_rounds<8, 3>(where, name);
    });
}

} // namespace

CHECK_MAIN
