// Counts how often each value of a byte occurs. Tiles count with atomics in tile_static memory, and add their counts to
// the result. C++ AMP has no bytes in kernels, so one unsigned int holds four pixels of one byte each.
#include <amp.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int bin_count = 256; // also the number of threads of a tile: each thread adds one bin to the result
static const int tile_count = 64;

std::vector<unsigned> histogram(const std::vector<unsigned> &pixels) {
    const int count = static_cast<int>(pixels.size());
    const int thread_count = bin_count * tile_count;
    std::vector<unsigned> bins(bin_count);
    array_view<const unsigned, 1> source(count, pixels);
    array_view<unsigned, 1> result(bin_count, bins);
    parallel_for_each(
        extent<1>(thread_count).tile<bin_count>(), [=](tiled_index<bin_count> tidx) restrict(amp) {
            tile_static unsigned tile_bins[bin_count];
            const int local = tidx.local[0];
            tile_bins[local] = 0;
            tidx.barrier.wait_with_tile_static_memory_fence();
            for (int i = tidx.global[0]; i < count; i += thread_count) {
                const unsigned four_pixels = source[i];
                atomic_fetch_add(&tile_bins[four_pixels & 255], 1u);
                atomic_fetch_add(&tile_bins[four_pixels >> 8 & 255], 1u);
                atomic_fetch_add(&tile_bins[four_pixels >> 16 & 255], 1u);
                atomic_fetch_add(&tile_bins[four_pixels >> 24], 1u);
            }
            tidx.barrier.wait_with_tile_static_memory_fence();
            atomic_fetch_add(&result[local], tile_bins[local]);
        });
    result.synchronize();
    return bins;
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 500000;
    if (count < 1 || count > 1 << 28) {
        std::wcerr << "usage: histogram [WORDS OF FOUR PIXELS, 1 to 268435456]\n";
        return 2;
    }
    std::vector<unsigned> pixels(static_cast<unsigned>(count));
    unsigned random = 1;
    for (unsigned &four_pixels : pixels) {
        random = random * 1664525u + 1013904223u;
        four_pixels = random & random >> 7; // some values come more often than others
    }

    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    const std::vector<unsigned> bins = histogram(pixels);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    std::vector<unsigned> expected(bin_count);
    for (unsigned four_pixels : pixels)
        for (int shift = 0; shift < 32; shift += 8)
            expected[four_pixels >> shift & 255]++;
    const bool right = bins == expected;
    std::wcout << L"histogram of " << 4LL * count << L" pixels on " << device.description << L": " << time.count()
               << L" ms, " << (right ? L"right" : L"WRONG") << std::endl;
    return right ? 0 : 1;
}
