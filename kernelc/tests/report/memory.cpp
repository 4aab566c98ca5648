#include <amp.h>
using namespace concurrency;

struct color {
    float r, g, b;
};

void structs(array_view<color> a, array_view<const float> b) {
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            a[i] = color{b[i], 2, 3};
        });
}

void arrays(array_view<int> a, array_view<int> b) {
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) {
            int sorted[4];
            for (int k = 0; k < 4; ++k)
                sorted[k] = a[4 * i[0] + k];
            int counts[8] = {};
            for (int k = 0; k < 4; ++k)
                counts[sorted[k] & 7] += k;
            b[i] = counts[a[i] & 7];
        });
}

void loads(array_view<float> a, array_view<const float> factor, array_view<float> b, int n) {
    parallel_for_each(
        b.extent, [=](index<1> i) restrict(amp) {
            b[i] = a[i] * factor[0];
            b[i[0] + n] = a[i] + factor[0];
            int k = 0;
            do
                b[k] += factor[1];
            while (++k < n);
        });
}

void tables(array_view<int> a) {
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            const int squares[6] = {0, 1, 4, 9, 16, 25};
            int copy[64];
            for (int k = 0; k < 64; ++k)
                copy[k] = a[k];
            int sum = 0;
            for (int k = 0; k < 100; ++k)
                sum += squares[a[k] & 3] + copy[sum & 63];
            a[i] = sum;
        });
}

// clang-format off
// 11:13: kernel of # instructions, # bytes of SPIR-V
// 11:18: 3 stores to adjacent addresses (12 bytes) are not merged, because their address is a multiple of only 4 bytes
// 20:29: kernel of # instructions, # bytes of SPIR-V
// 19:13: loop unrolled completely: 4 iterations
// 20:17: a local array of 16 bytes is in registers (SSA values)
// 21:17: a local variable is not in SSA values, but in one Function variable of 32 bytes, because indices are known only at run time; the driver may keep that variable in memory
// 22:13: loop unrolled completely: 4 iterations
// 31:13: kernel of # instructions, # bytes of SPIR-V
// 32:27: loaded again, because a store between the two loads uses another array or array_view, which may be the same memory; keep the value in a variable
// 32:34: loaded again, because a store between the two loads uses another array or array_view, which may be the same memory; keep the value in a variable
// 34:13: loop unrolled by 8: its trip count is known only at run time
// 35:22: 8 stores to adjacent addresses (32 bytes) are not merged, because the kernel accesses other memory between them, or other bytes surround them
// 35:25: loaded again, because a store between the two loads uses another array or array_view, which may be the same memory; keep the value in a variable (7 times)
// 35:25: loaded from the same address in each iteration, because the loop stores to another array or array_view, which may be the same memory; load the value before the loop (2 times)
// 44:13: kernel of # instructions, # bytes of SPIR-V
// 45:13: a local variable is not in SSA values, but in one Function variable of 256 bytes, because indices are known only at run time; the driver may keep that variable in memory
// 45:13: loop unrolled by 16
// 48:13: loop unrolled by 5
// 11:13: native code: loop over threads in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 19:13: native code: loops over threads are not marked as parallel, because all threads share the memory of an indexed local variable
// 31:13: native code: loop over threads, up to line 36, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 31:13: native code: loop over threads, up to line 36, not vectorized (x86-64, x86-64-v3, x86-64-v4): cannot prove it is safe to reorder floating-point operations
// 44:13: native code: loops over threads are not marked as parallel, because all threads share the memory of an indexed local variable
