// A prefix sum from a library that pads its tiles: reads past the end give 0, and
// writes past the end are dropped. Needs -famp-bounds=zero.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int tile_size = 32;

template <typename T>
void scan_tiles(const array_view<const T> &in, const array_view<T> &out, const array_view<T> &totals) {
    parallel_for_each(
        in.extent.tile<tile_size>().pad(), [=](tiled_index<tile_size> t) restrict(amp) {
            tile_static T data[2][tile_size];
            const int l = t.local[0];
            int from = 0;
            data[0][l] = in[t.global];
            t.barrier.wait();
            for (int offset = 1; offset < tile_size; offset *= 2) {
                data[1 - from][l] = data[from][l] + (l >= offset ? data[from][l - offset] : T());
                from = 1 - from;
                t.barrier.wait();
            }
            out[t.global] = data[from][l];
            if (l == tile_size - 1) totals[t.tile] = data[from][l];
        });
}

template <typename T> int test(int count) {
    const int tiles = (count + tile_size - 1) / tile_size;
    std::vector<T> source(count), sums(count), totals(tiles);
    for (int i = 0; i < count; ++i)
        source[i] = T(i % 7);
    array<T> a_out(count), a_totals(tiles), a_in(count, source.begin());
    scan_tiles<T>(array_view<const T>(a_in), array_view<T>(a_out), array_view<T>(a_totals));
    array_view<T> out(a_out), tile_totals(a_totals);
    parallel_for_each(
        extent<1>(tiles * tile_size), [=](index<1> i) restrict(amp) {
            T sum = T();
            for (int k = i[0] / tile_size - 1; k >= -2; --k)
                sum += tile_totals[k]; // reads before the beginning give 0
            out[i] += sum;
        });
    copy(out, sums.begin());
    T sum = T();
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        sum += source[i];
        wrong += sums[i] != sum;
    }
    std::wcout << count << L" numbers: " << wrong << L" wrong" << std::endl;
    return wrong ? 1 : 0;
}

int main() {
    return test<int>(100) + test<float>(33) + test<unsigned>(1000) + test<int>(1);
}
