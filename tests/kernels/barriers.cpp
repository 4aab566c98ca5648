// Tile barriers under conditions that differ, or may differ, between the threads of a tile. A comment has a part of
// the message of its line (tests/verify.py): `error`, `warning`, or `strict` (-famp-strict only; warnings are errors).
// clang-format off
#include <amp.h>
#include <amp_math.h>

using namespace concurrency;

void wait_in(const tiled_index<16> &t) restrict(amp) {
    t.barrier.wait(); // error: tile barrier operation found in control flow that is not the same
}
void wait_anywhere(const tiled_index<16> &t) restrict(amp) {
    t.barrier.wait();
}

void proven(array_view<int> v, int n) {
    const auto domain = v.extent.tile<16>();
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.local[0] == 0) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.local[0] < 8) {
                v[t.global] = 1;
                t.barrier.wait(); // error: (C3561)
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.global[0] < n) {
                t.barrier.wait_with_all_memory_fence(); // error: (C3561)
                v[t.global] = 1;
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.global[0] >= n) return;
            v[t.global] = 1;
            t.barrier.wait_with_tile_static_memory_fence(); // error: (C3561)
            v[t.global] += 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            for (int i = 0; i < t.local[0]; ++i) {
                v[t.global] += i;
                t.barrier.wait_with_global_memory_fence(); // error: (C3561)
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            for (int i = t.local[0]; i < n; i += 16) {
                v[t.global] += i;
                t.barrier.wait(); // error: (C3561)
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int i = t.local[0];
            while (i > 0) {
                t.barrier.wait(); // error: (C3561)
                i /= 2;
            }
            v[t.global] = i;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            switch (t.local[0]) {
            case 0:
                t.barrier.wait(); // error: (C3561)
                break;
            case 3:
                v[t.global] = 3;
                break;
            default:
                v[t.global] = 1;
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.local[0] % 2 == 0)
                v[t.global] = 1;
            else
                t.barrier.wait(); // error: (C3561)
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.local[0] == 3) wait_in(t);
            wait_anywhere(t);
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (n > 3 && t.local[0] == 3) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            do {
                if (t.local[0] > n) break;
                t.barrier.wait(); // error: (C3561)
            } while (v[t.tile] > 3);
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int sum = 0;
            for (int i = 0; i < n; ++i) {
                if ((t.local[0] & 3) == 1) continue;
                sum += i;
                t.barrier.wait(); // error: (C3561)
            }
            v[t.global] = sum;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            const bool first = t.local[0] == 0;
            if (!first) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            bool flag = false;
            if (t.local[0] == 5) flag = true;
            if (flag) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int end = t.local[0] + n;
            for (int i = n; i < end; ++i) {
                t.barrier.wait(); // error: (C3561)
                v[t.global] = i;
            }
        });
}
void proven_in_two(array_view<int, 2> v) {
    parallel_for_each(
        v.extent.tile<4, 8>(), [=](tiled_index<4, 8> t) restrict(amp) {
            if (t.local[0] == 1) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        v.extent.tile<4, 8>(), [=](tiled_index<4, 8> t) restrict(amp) {
            if (t.local[0] == t.local[1]) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
    parallel_for_each(
        v.extent.tile<4, 8>(), [=](tiled_index<4, 8> t) restrict(amp) {
            if (t.local[0] * 8 + t.local[1] < 17) t.barrier.wait(); // error: (C3561)
            v[t.global] = 1;
        });
}

void perhaps(array_view<int> v, array_view<const int> w) {
    const auto domain = v.extent.tile<16>();
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (w[t.global] > 3) t.barrier.wait(); // warning: in control flow that
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            for (int i = w[t.global]; i > 0; --i) {
                v[t.global] = i;
                t.barrier.wait(); // warning: in control flow that
            }
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (w[t.global] < 0) return;
            t.barrier.wait(); // warning: in control flow that
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            const int turn = atomic_fetch_add(&v[0], 1);
            if (turn == 3) t.barrier.wait(); // warning: in control flow that
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int i = 0;
            while (w[t.global] > i)
                ++i;
            // The number of iterations may differ between threads, so `i` may differ.
            if (i > 3) t.barrier.wait(); // warning: in control flow that
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (fast_math::sqrt(float(t.local[0])) < 3.5f) t.barrier.wait(); // warning: in control flow that
            v[t.global] = 1;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            s[t.local[0]] = w[t.global];
            t.barrier.wait();
            if (s[t.local[0]] > 2) t.barrier.wait(); // warning: in control flow that
            v[t.global] = s[0];
        });
    // `done` is the same for all threads unless threads race. HLSL's compiler does not recognise that.
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            tile_static int done;
            if (t.local[0] == 0) done = w[t.tile];
            t.barrier.wait();
            while (done < 9) {
                v[t.global] += done;
                t.barrier.wait(); // strict: in control flow that
                if (t.local[0] == 0) ++done;
                t.barrier.wait(); // strict: in control flow that
            }
        });
}

void uniform(array_view<int> v, array_view<const int> w, int n) {
    const auto domain = v.extent.tile<16>();
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            tile_static int s[16];
            s[t.local[0]] = w[t.global];
            t.barrier.wait();
            for (int step = 8; step > 0; step /= 2) {
                if (t.local[0] < step) s[t.local[0]] += s[t.local[0] + step];
                t.barrier.wait();
            }
            if (t.local[0] == 0) v[t.tile] = s[0];
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (n > 3) t.barrier.wait();
            if (t.tile[0] == 2) t.barrier.wait();
            if (t.tile_origin[0] > n) t.barrier.wait();
            if (v.extent[0] > n) t.barrier.wait();
            if (w[0] == 3 || w[t.tile] > n) t.barrier.wait();
            v[t.global] = n;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            for (int i = 0; i < n; i += 16) {
                v[t.global] += w[i + t.local[0]];
                t.barrier.wait();
            }
            for (int i = 0; i < w[t.tile]; ++i)
                t.barrier.wait();
            int k = n;
            while (k > 1) {
                k = k % 2 ? 3 * k + 1 : k / 2;
                t.barrier.wait();
            }
            do
                t.barrier.wait();
            while (++k < n);
        });
    // Conditions that are always true, or that are uniform because of the shape of the tile.
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (t.local[0] < 16) t.barrier.wait();
            if (t.local[0] >= 0) t.barrier.wait();
            if (t.local[0] / 16 == 0) t.barrier.wait();
            if (t.global[0] / 16 == t.tile[0]) t.barrier.wait();
            if (t.global[0] / 32 == n) t.barrier.wait();
            if (t.global[0] < 64) t.barrier.wait();
            if (t.global[0] - t.local[0] == n) t.barrier.wait();
            if (t.global[0] - t.tile_origin[0] == t.local[0]) t.barrier.wait();
            for (int i = t.local[0]; i < 64; i += 16)
                t.barrier.wait();
            v[t.global] = n;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int sum = 0;
            if (w[t.global] > 3) sum = 1;
            t.barrier.wait();
            for (int i = 0; i < 4; ++i) {
                if (t.local[0] == i) continue;
                sum += i;
            }
            t.barrier.wait();
            for (int i = 0; i < t.local[0]; ++i) {
                if (i == 3) break;
                sum += i;
            }
            t.barrier.wait();
            switch (w[t.global]) {
            case 1:
                sum = 2;
                break;
            case 2:
                sum = 4;
            }
            t.barrier.wait();
            v[t.global] = sum;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            int keep[4] = {n, 2, 3, 4};
            for (int i = 0; i < 3; ++i)
                keep[i] += keep[(i + n) & 3];
            if (keep[n & 3] > 2) t.barrier.wait();
            struct pair {
                int a, b;
            } p = {n, t.local[0]};
            if (p.a > 3) t.barrier.wait();
            v[t.global] = keep[1] + p.b;
        });
    parallel_for_each(
        domain, [=](tiled_index<16> t) restrict(amp) {
            if (n < 0) return;
            t.barrier.wait();
            if (w[t.global] < 0) direct3d_abort();
            t.barrier.wait();
            v[t.global] = 1;
        });
}
void uniform_in_two(array_view<int, 2> v, int n) {
    // The tile has one row, so the first local index is always 0.
    parallel_for_each(
        v.extent.tile<1, 16>(), [=](tiled_index<1, 16> t) restrict(amp) {
            if (t.local[0] == 0) t.barrier.wait();
            if (t.global[0] < n) t.barrier.wait();
            v[t.global] = 1;
        });
    // A tiled matrix product.
    parallel_for_each(
        v.extent.tile<4, 4>(), [=](tiled_index<4, 4> t) restrict(amp) {
            tile_static int a[4][4];
            int sum = 0;
            const int row = t.local[0], col = t.local[1];
            for (int i = 0; i < v.extent[1]; i += 4) {
                a[row][col] = t.global[0] < n && col + i < n ? v(t.global[0], col + i) : 0;
                t.barrier.wait();
                for (int k = 0; k < 4; k++)
                    sum += a[row][k] * a[k][col];
                t.barrier.wait();
            }
            if (t.global[0] < n && t.global[1] < n) v[t.global] = sum;
        });
}
