#include <amp.h>
#include <amp_math.h>
using namespace concurrency;

void floats(array_view<float> a) {
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            float x = a[i] / a[i[0] + 1];
            x = precise_math::sin(x);
            a[i] = fast_math::sin(x);
        });
}

void doubles(array_view<double> a) {
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            double x = a[i] / a[i[0] + 1];
            a[i] = precise_math::sqrt(x);
        });
}

// clang-format off
// 8:23: kernel of # instructions, # bytes of SPIR-V
// 8:28: division of floats: correct rounding takes a reciprocal, two corrections and a branch; with -ffast-math or #pragma clang fp reciprocal(on), the kernel only multiplies by the device's reciprocal
// 9:17: divergent branch: the condition may differ between threads of a tile because of memory that each thread reads at its own address; 5 loads depend on the branch
// 9:17: precise_math: sin<float> takes # instructions of the kernel; fast_math::sin is a single instruction of the device
// 17:24: kernel of # instructions, # bytes of SPIR-V
// 17:29: division of doubles: if several divisions have the same divisor, multiplications by its reciprocal are cheaper
// 18:20: precise_math: sqrt<double> takes # instructions of the kernel
// 8:23: native code: loop over threads, up to line 10, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 17:24: native code: loop over threads, up to line 18, in vectors of 2 (x86-64), 4 (x86-64-v3), 8 (x86-64-v4)
