// The program that debugging.py runs in debuggers and under sanitizers.
#include <amp.h>
#include <amp_short_vectors.h>
#include <cstdio>
#include <vector>

using namespace concurrency;

static float changed(float x) restrict(amp) {
    return x * 2; // in_amp
}
static float changed(float x) restrict(cpu) {
    return x * -2;
}

int main(int count, char **) {
    std::vector<float> numbers(64);
    for (unsigned i = 0; i < 64; ++i)
        numbers[i] = float(i);
    const array_view<float, 2> a(8, 8, numbers);
    const graphics::float_4 offset(1, 2, 3, 4);
    parallel_for_each(
        a.extent.tile<4, 4>(), [=](tiled_index<4, 4> t) restrict(amp) {
            tile_static float s[4][4];
            const index<2> idx = t.global;
            s[t.local[0]][t.local[1]] = changed(a[idx]); // calls
            t.barrier.wait();
            const float other = s[4 - t.local[0] - count][3 - t.local[1]]; // behind
            a[idx] = other + offset.x;                                     // writes
        });
    a.synchronize();
    const array_view<float> row(64, numbers);
    parallel_for_each(
        row.extent, [=](index<1> i) restrict(amp) {
            row[i[0] + count - 1] += 1; // outside
        });
    row.synchronize();
    std::printf("%g %g %g\n", numbers[0], numbers[63], changed(1));
}
