// Radix sort of 32-bit keys. Each pass sorts by four bits: histograms of the tiles, a prefix sum, a stable scatter.
#include "stdafx.h"
#include "timer.h"
#include <algorithm>
#include <amp.h>
#include <iostream>
#include <random>
#include <vector>

using namespace Concurrency;

namespace amp_radix {

static const int key_bit_width = 4;
static const int bin_count = 1 << key_bit_width;

template <typename T> inline unsigned int radix_key(const T value, int shift) restrict(amp, cpu) {
    return (static_cast<unsigned int>(value) >> shift) & (bin_count - 1);
}

// Flips the sign bit, so that signed numbers sort as unsigned ones.
inline unsigned int encode(int value) restrict(amp, cpu) {
    return static_cast<unsigned int>(value) ^ 0x80000000u;
}
inline unsigned int encode(unsigned int value) restrict(amp, cpu) {
    return value;
}

template <int tile_size, typename T> class radix_sorter {
    accelerator_view m_view;

  public:
    radix_sorter(const accelerator_view &view) : m_view(view) {}

    __declspec(property(get = get_view)) accelerator_view view;
    accelerator_view get_view() const { return m_view; }

    void sort(array_view<T> &data) const {
        const int size = data.extent.size();
        array<T> scratch(size, view);
        array_view<T> in(data), out(scratch);
        for (int shift = 0; shift < 32; shift += key_bit_width) {
            pass(in, out, shift);
            std::swap(in, out);
        }
    }

  private:
    void pass(const array_view<T> &in, const array_view<T> &out, int shift) const {
        const int size = in.extent.size();
        const int tile_count = (size + tile_size - 1) / tile_size;
        // One row per bin, one column per tile. The prefix sum in row-major order gives the output positions.
        array<unsigned int, 2> histograms(bin_count, tile_count, view);
        array_view<unsigned int, 2> histograms_vw(histograms);
        out.discard_data();

        parallel_for_each(
            view, in.extent.tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
                tile_static unsigned int bins[bin_count];
                const int gidx = tidx.global[0], lidx = tidx.local[0];
                if (lidx < bin_count) bins[lidx] = 0;
                tidx.barrier.wait_with_tile_static_memory_fence();
                if (gidx < size) atomic_fetch_inc(&bins[radix_key(encode(in[gidx]), shift)]);
                tidx.barrier.wait_with_tile_static_memory_fence();
                if (lidx < bin_count) histograms_vw(lidx, tidx.tile[0]) = bins[lidx];
            });

        // One thread suffices for these few numbers
        const int cells = bin_count * tile_count;
        array_view<unsigned int> flat = histograms.view_as(extent<1>(cells));
        parallel_for_each(
            view, extent<1>(1), [=](index<1>) restrict(amp) {
                unsigned int sum = 0;
                for (int i = 0; i < cells; ++i) {
                    const unsigned int count = flat[i];
                    flat[i] = sum;
                    sum += count;
                }
            });

        parallel_for_each(
            view, in.extent.tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
                tile_static unsigned int keys[tile_size];
                const int gidx = tidx.global[0], lidx = tidx.local[0];
                const unsigned int key = gidx < size ? radix_key(encode(in[gidx]), shift) : bin_count;
                keys[lidx] = key;
                tidx.barrier.wait();
                if (gidx < size) {
                    unsigned int rank = 0;
                    for (int i = 0; i < lidx; ++i)
                        rank += keys[i] == key ? 1 : 0;
                    out[static_cast<int>(histograms_vw(key, tidx.tile[0]) + rank)] = in[gidx];
                }
            });
    }
};

template <typename T> void radix_sort(const accelerator_view &view, array_view<T> data) {
    radix_sorter<64, T>(view).sort(data);
}

} // namespace amp_radix

template <typename T> bool check(const accelerator_view &view, int size) {
    std::mt19937 engine(size);
    std::vector<T> data(size);
    std::generate(data.begin(), data.end(), [&]() { return static_cast<T>(engine()); });
    std::vector<T> expected(data);
    std::sort(expected.begin(), expected.end());
    Timer timer;
    timer.Start();
    {
        array_view<T> av(size, data);
        amp_radix::radix_sort(view, av);
    }
    timer.Stop();
    std::wcout << size << L" keys: " << (data == expected ? L"sorted" : L"NOT SORTED") << L", " << timer.Elapsed()
               << L" ms" << std::endl;
    return data == expected;
}

int main() {
    accelerator_view view = accelerator(accelerator::default_accelerator).create_view(queuing_mode_automatic);
    bool ok = true;
    for (int size : {1, 63, 64, 1000, 4097}) {
        ok = check<unsigned int>(view, size) && ok;
        ok = check<int>(view, size) && ok;
    }
    return ok ? 0 : 1;
}
