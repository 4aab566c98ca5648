// A histogram that reads past the end of the data, like a sample of Microsoft's:
// the padding threads load elements that do not exist. Direct3D returns 0,
// and the program subtracts these zeros from the histogram. Writes past the end
// are dropped. Needs -famp-bounds=zero.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int tile_size = 64;
static const int bins = 64;

int main() {
    const int count = 1000; // not a multiple of the tile
    std::vector<unsigned> data(count), histogram(bins), expected(bins);
    for (int i = 0; i < count; ++i) {
        data[i] = (i * 2654435761u) >> 26;
        expected[data[i]]++;
    }
    array<unsigned> a_data(count, data.begin());
    array<unsigned> a_copy(count);
    array<int> a_scaled(count);
    {
        array_view<unsigned> av_histogram(bins, histogram);
        const tiled_extent<tile_size> domain = a_data.extent.tile<tile_size>().pad();
        const int padding = domain[0] - count;
        parallel_for_each(
            domain, [ =, &a_data, &a_copy ](tiled_index<tile_size> t) restrict(amp) {
                tile_static unsigned local[bins];
                local[t.local[0]] = 0;
                t.barrier.wait_with_tile_static_memory_fence();
                const unsigned value = a_data[t.global]; // 0 past the end
                atomic_fetch_inc(&local[value]);
                t.barrier.wait_with_tile_static_memory_fence();
                atomic_fetch_add(&av_histogram[t.local[0]], local[t.local[0]]);
                a_copy[t.global] = value; // dropped past the end
            });
        // each thread past the end has counted one zero
        av_histogram[0] -= padding;
    }
    // A stencil that reads past both ends, and an atomic past the end, which is dropped
    parallel_for_each(
        extent<1>(count), [ =, &a_data, &a_scaled ](index<1> i) restrict(amp) {
            a_scaled[i] = int(a_data[i - 1]) + int(a_data[i + 1]);
            atomic_fetch_add(&a_scaled[i[0] + count], 1);
        });
    const std::vector<unsigned> copied = a_copy;
    const std::vector<int> scaled = a_scaled;
    int failed = histogram == expected && copied == data ? 0 : 1;
    for (int i = 0; i < count; ++i)
        if (scaled[i] != int(i ? data[i - 1] : 0) + int(i + 1 < count ? data[i + 1] : 0)) ++failed;
    std::wcout << (failed ? L"FAILED" : L"PASS") << std::endl;
    return failed ? 1 : 0;
}
