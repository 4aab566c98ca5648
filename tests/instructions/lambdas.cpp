#include "lambdas.h"

using namespace concurrency;

void launch_one(const accelerator_view &where, const ints &sum, int rounds) {
    parallel_for_each(
        where, sum.extent, [=](index<1> i) restrict(amp, cpu) {
            int v = sum[i];
            for (int r = 0; r < rounds; r++)
                v = (v ^ r) + 1;
            sum[i] = v;
        });
}

void launch_four(const accelerator_view &where, const const_ints &a, const const_ints &b, const const_ints &c,
                 const ints &sum) {
    parallel_for_each(
        where, sum.extent, [=](index<1> i) restrict(amp, cpu) { sum[i] += a[i] + b[i] + c[i]; });
}
