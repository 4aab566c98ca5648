//--------------------------------------------------------------------------------------
// File: Histogram.cpp
//
// Implements a histogram of 256 bins in C++ AMP: partial histograms in tile_static memory, then their sums.
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <cassert>
#include <iostream>
#include <vector>

using namespace concurrency;

#define DATA_SIZE (1 << 16)
#define LOG2_THREAD_SIZE (5)
#define THREAD_SIZE (1 << LOG2_THREAD_SIZE)
#define HISTOGRAM256_BIN_COUNT 256
#define THREAD_COUNT_PER_TILE_FOR_256 4
#define HISTOGRAM256_TILE_SIZE (THREAD_COUNT_PER_TILE_FOR_256 * THREAD_SIZE)
#define HISTOGRAM256_TILE_STATIC_MEM_SIZE (THREAD_COUNT_PER_TILE_FOR_256 * HISTOGRAM256_BIN_COUNT)
#define MERGE_TILE_SIZE 128
#define PARTIAL_HISTOGRAM256_COUNT (16)

class histogram {
  public:
    histogram(unsigned data_size);
    void execute();
    bool verify();
    ~histogram() {}

  private:
    void histo_amp();
    static void increment_bins(unsigned *bins, unsigned packed) restrict(amp);
    template <int _tile_size> void merge_histo(array<unsigned, 1> &partial, array_view<unsigned, 1> histo, int count);

    std::vector<unsigned> data; // each element packs four 8-bit values
    std::vector<unsigned> histo_amp_result;
};

histogram::histogram(unsigned data_size) {
    data.resize(data_size / sizeof(unsigned));
    srand(2012);
    for (unsigned i = 0; i < data.size(); i++)
        data[i] = (rand() & 0xFFFF) | ((rand() & 0x3FFF) << 16);
    histo_amp_result.resize(HISTOGRAM256_BIN_COUNT);
}

void histogram::increment_bins(unsigned *bins, unsigned packed) restrict(amp) {
    atomic_fetch_add(&bins[packed & 0xFF], 1U);
    atomic_fetch_add(&bins[(packed >> 8) & 0xFF], 1U);
    atomic_fetch_inc(&bins[(packed >> 16) & 0xFF]);
    atomic_fetch_inc(&bins[(packed >> 24) & 0xFF]);
}

void histogram::histo_amp() {
    array<unsigned, 1> a_data((int)data.size(), data.begin());
    array<unsigned, 1> a_partial(PARTIAL_HISTOGRAM256_COUNT * HISTOGRAM256_BIN_COUNT);
    array_view<unsigned, 1> histo(HISTOGRAM256_BIN_COUNT, histo_amp_result);
    const unsigned thread_count = PARTIAL_HISTOGRAM256_COUNT * HISTOGRAM256_TILE_SIZE;
    const unsigned count = (unsigned)data.size();

    parallel_for_each(
        extent<1>(thread_count).tile<HISTOGRAM256_TILE_SIZE>(),
        [ =, &a_data, &a_partial ](tiled_index<HISTOGRAM256_TILE_SIZE> tidx) restrict(amp) {
            tile_static unsigned bins[THREAD_COUNT_PER_TILE_FOR_256][HISTOGRAM256_BIN_COUNT];
            const unsigned lid = tidx.local[0];
            const unsigned warp = lid >> LOG2_THREAD_SIZE;

            for (unsigned i = lid; i < HISTOGRAM256_TILE_STATIC_MEM_SIZE; i += HISTOGRAM256_TILE_SIZE)
                (&bins[0][0])[i] = 0;
            tidx.barrier.wait_with_tile_static_memory_fence();

            for (unsigned pos = tidx.global[0]; pos < count; pos += thread_count)
                increment_bins(bins[warp], a_data[pos]);
            tidx.barrier.wait_with_tile_static_memory_fence();

            for (unsigned bin = lid; bin < HISTOGRAM256_BIN_COUNT; bin += HISTOGRAM256_TILE_SIZE) {
                unsigned sum = 0;
                for (unsigned i = 0; i < THREAD_COUNT_PER_TILE_FOR_256; i++)
                    sum += bins[i][bin];
                a_partial[tidx.tile[0] * HISTOGRAM256_BIN_COUNT + bin] = sum;
            }
        });
    merge_histo<MERGE_TILE_SIZE>(a_partial, histo, PARTIAL_HISTOGRAM256_COUNT);
}

template <int _tile_size>
void histogram::merge_histo(array<unsigned, 1> &partial, array_view<unsigned, 1> histo, int partial_histo_count) {
    histo.discard_data();
    extent<1> e_compute(HISTOGRAM256_BIN_COUNT * _tile_size);
    parallel_for_each(
        e_compute.tile<_tile_size>(), [ =, &partial ](tiled_index<_tile_size> tidx) restrict(amp) {
            unsigned sum = 0;
            for (int i = tidx.local[0]; i < partial_histo_count; i += _tile_size)
                sum += partial[tidx.tile[0] + i * HISTOGRAM256_BIN_COUNT];
            tile_static unsigned s_data[_tile_size];
            s_data[tidx.local[0]] = sum;
            for (int stride = _tile_size / 2; stride > 0; stride >>= 1) {
                tidx.barrier.wait();
                if (tidx.local[0] < stride) s_data[tidx.local[0]] += s_data[tidx.local[0] + stride];
            }
            if (tidx.local[0] == 0) histo[tidx.tile] = s_data[0];
        });
    histo.synchronize();
}

void histogram::execute() {
    histo_amp();
}

bool histogram::verify() {
    std::vector<unsigned> histo_cpu(HISTOGRAM256_BIN_COUNT);
    for (unsigned i = 0; i < data.size(); i++) {
        for (int shift = 0; shift < 32; shift += 8)
            histo_cpu[(data[i] >> shift) & 0xFF]++;
    }
    for (unsigned i = 0; i < HISTOGRAM256_BIN_COUNT; i++) {
        if (histo_cpu[i] != histo_amp_result[i]) {
            std::cout << i << ": " << histo_cpu[i] << " <> " << histo_amp_result[i] << std::endl;
            std::cout << "***FAIL" << std::endl;
            return false;
        }
    }
    std::cout << "PASS" << std::endl;
    return true;
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;
    histogram _histo_char(DATA_SIZE);
    _histo_char.execute();
    return _histo_char.verify() ? 0 : 1;
}
