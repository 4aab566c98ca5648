#include <amp.h>
using namespace concurrency;

void barriers(array_view<float> a, array_view<float> b, array_view<float> c) {
    parallel_for_each(
        a.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            const int g = t.global[0];
            a[g] = b[g];
            t.barrier.wait();
            c[g] = a[g ^ 1];
            t.barrier.wait();
            b[g] = 1;
            t.barrier.wait_with_tile_static_memory_fence();
            c[g] += b[g];
        });
    parallel_for_each(
        a.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            const int g = t.global[0];
            a[g] = 1;
            t.barrier.wait();
            c[g] = b[g ^ 1];
        });
}

void reduction(array_view<float> a, array_view<float> sums) {
    parallel_for_each(
        a.extent.tile<64>(), [=](tiled_index<64> t) restrict(amp) {
            tile_static float s[64];
            const int local = t.local[0];
            s[local] = a[t.global];
            t.barrier.wait_with_tile_static_memory_fence();
            for (int half = 32; half > 0; half /= 2) {
                if (local < half) s[local] += s[local + half];
                t.barrier.wait_with_tile_static_memory_fence();
            }
            if (local == 0) sums[t.tile] = s[0];
        });
}

// clang-format off
// 8:13: kernel of # instructions, # bytes of SPIR-V
// 9:23: the barrier orders device memory, because different threads may access the same memory before and after the barrier; if no threads do so, wait_with_tile_static_memory_fence() is cheaper
// 11:23: the barrier orders device memory, because different threads may access the same memory before and after the barrier; if no threads do so, wait_with_tile_static_memory_fence() is cheaper
// 19:13: kernel of # instructions, # bytes of SPIR-V
// 20:23: the barrier orders device memory in launches whose arrays or array_views overlap; wait_with_tile_static_memory_fence() never orders device memory
// 30:13: kernel of # instructions, # bytes of SPIR-V
// 32:13: loop unrolled completely: 6 iterations
// 33:27: divergent branch: the condition differs between threads of a tile because of the thread's index; 2 loads and 1 store depend on the branch (6 times)
// 36:23: divergent branch: the condition differs between threads of a tile because of the thread's index; 1 load and 1 store depend on the branch
// 8:13: native code: loop over threads in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 8:20: native code: loop over threads, up to line 10, in vectors of 8 (x86-64-v3), 16 (x86-64-v4)
// 8:20: native code: loop over threads, up to line 10, not vectorized (x86-64): LLVM expects vectors to be slower
// 8:20: native code: loop over threads, up to line 12, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 8:20: native code: loop over threads, up to line 14, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 19:13: native code: loop over threads in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 19:13: native code: loop over threads, up to line 21, in vectors of 8 (x86-64-v3), 16 (x86-64-v4)
// 19:13: native code: loop over threads, up to line 21, not vectorized (x86-64): LLVM expects vectors to be slower
// 30:13: native code: loop over threads not vectorized (x86-64, x86-64-v3, x86-64-v4): LLVM expects vectors to be slower
// 30:13: native code: loop over threads, up to line 33, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4), 8 (x86-64-v4)
