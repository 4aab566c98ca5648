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

// 7:19: kernel of # instructions, # bytes of SPIR-V
// 7:24: division of floats, rounded correctly: a reciprocal, two corrections and a branch; with -ffast-math or #pragma
// clang fp reciprocal(on) it is a product with the device's reciprocal 8:13: divergent branch: it may differ between
// threads of a tile by what each thread reads from memory for itself; 5 loads depend on it 8:13: precise_math:
// sin<float> is # instructions of the kernel; fast_math::sin is one of the device 15:20: kernel of # instructions, #
// bytes of SPIR-V 15:25: division of doubles: there is no cheaper form but a product with a reciprocal that is reused
// 16:16: precise_math: sqrt<double> is # instructions of the kernel
// 7:19: native code: loop over threads, up to line 9, in vectors of 4 (x86-64), 8 (x86-64-v3), 16 (x86-64-v4)
// 15:20: native code: loop over threads, up to line 16, in vectors of 2 (x86-64), 4 (x86-64-v3), 8 (x86-64-v4)
