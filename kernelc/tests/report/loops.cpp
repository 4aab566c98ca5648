#include <amp.h>
using namespace concurrency;

void constant(array_view<float> a, array_view<float> b) {
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < 4; ++k)
                sum += a[i[0] + k];
            for (int k = 0; k < 100; ++k)
                sum = sum * a[k] + 1;
            b[i] = sum;
        });
}

void variable(array_view<float> a, array_view<float> b, int n) {
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < n; ++k)
                sum += a[k];
            while (sum > 1)
                sum *= a[i];
            for (int k = 0; k < n; ++k) {
                if (a[k] < 0) break;
                sum += a[k] * sum;
            }
            b[i] = sum;
        });
}

void tiles(array_view<float> a, array_view<float> b, int n) {
    parallel_for_each(
        b.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static float s[64];
            float sum = 0;
            for (int k = 0; k < n; ++k) {
                s[t.local[0]] = a[t.global[0] + k];
                t.barrier.wait_with_tile_static_memory_fence();
                sum += s[63 - t.local[0]];
                t.barrier.wait_with_tile_static_memory_fence();
            }
            b[t.global] = sum;
        });
}

void divisions(array_view<const unsigned> a, array_view<unsigned> b, unsigned n) {
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) {
            unsigned sum = 0;
            for (unsigned k = 0; k < n; ++k)
                sum += a[k % 6] * k;
            b[i] = sum;
        });
}

// clang-format off
// 9:21: kernel of # instructions, # bytes of SPIR-V
// 8:13: loop unrolled completely: 4 iterations
// 10:13: loop unrolled by 10
// 20:13: kernel of # instructions, # bytes of SPIR-V
// 20:13: loop unrolled by 8: its trip count is known only at run time
// 22:13: divergent branch: the condition may differ between threads of a tile because of memory that each thread reads at its own address; 1 load depends on the branch
// 22:13: loop not unrolled: its trip count is not constant, and is small, is costly to compute, or cannot be computed before the loop
// 24:13: loop not unrolled: its trip count is not constant, and it has several exits
// 37:13: kernel of # instructions, # bytes of SPIR-V
// 37:13: loop not unrolled: it has a tile barrier, so the unroll factor must divide a constant trip count
// 51:13: kernel of # instructions, # bytes of SPIR-V
// 51:13: loop unrolled by 8: its trip count is known only at run time
// 8:13: native code: loop over threads, up to line 12, not vectorized (x86-64, x86-64-v3, x86-64-v4): it contains a loop that each thread runs
// 20:13: native code: loop over threads, up to line 28, not vectorized (x86-64, x86-64-v3, x86-64-v4): LLVM expects vectors to be slower
// 37:13: native code: loop over threads, up to line 43, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 37:13: native code: loop over threads, up to line 43, not vectorized (x86-64, x86-64-v3, x86-64-v4): LLVM expects vectors to be slower
// 40:21: native code: loop over threads in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 51:13: native code: loop over threads, up to line 53, not vectorized (x86-64, x86-64-v3, x86-64-v4): LLVM expects vectors to be slower
