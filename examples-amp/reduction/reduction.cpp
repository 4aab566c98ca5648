// Computes the sum of many numbers in three ways. `simple`: launches add pairs of elements, and each launch has half
// the size of the previous. `tiled`: each tile adds up its elements in a tree. `cascade`: before the tree, each thread
// adds up many elements; this takes the fewest launches and barriers.
#include <amp.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

using namespace concurrency;

// Each launch adds the upper half of the remaining elements to the lower half.
float reduce_simple(const std::vector<float> &data) {
    int count = static_cast<int>(data.size());
    array<float, 1> values(count, data.begin(), data.end());
    while (count > 1) {
        const int half = (count + 1) / 2;
        parallel_for_each(
            extent<1>(count - half), [ =, &values ](index<1> idx) restrict(amp) { values[idx] += values[idx + half]; });
        count = half;
    }
    std::vector<float> result(1);
    copy(values.section(0, 1), result.begin());
    return result[0];
}

// Adds up `tile_sums`, which has one element for each thread of a tile; thread 0 finds the sum in part[0].
template <int tile_size> void add_up(float *tile_sums, const tiled_index<tile_size> &tidx) restrict(amp) {
    const int local = tidx.local[0];
    for (int half = tile_size / 2; half > 0; half /= 2) {
        tidx.barrier.wait_with_tile_static_memory_fence();
        if (local < half) tile_sums[local] += tile_sums[local + half];
    }
}

// Each launch leaves one sum for each tile.
template <int tile_size> float reduce_tiled(const std::vector<float> &data) {
    int count = static_cast<int>(data.size());
    array<float, 1> values(count, data.begin(), data.end());
    array<float, 1> tiles((count + tile_size - 1) / tile_size);
    array_view<float, 1> source(values), sums(tiles);
    while (count > 1) {
        const array_view<const float, 1> read(source);
        sums.discard_data();
        parallel_for_each(
            extent<1>(count).tile<tile_size>().pad(), [=](tiled_index<tile_size> tidx) restrict(amp) {
                tile_static float tile_sums[tile_size];
                tile_sums[tidx.local[0]] = tidx.global[0] < count ? read[tidx.global] : 0.0f;
                add_up<tile_size>(tile_sums, tidx);
                if (tidx.local[0] == 0) sums[tidx.tile] = tile_sums[0];
            });
        std::swap(source, sums);
        count = (count + tile_size - 1) / tile_size;
    }
    const array_view<const float, 1> sum = source.section(0, 1);
    return sum[0];
}

// Uses a fixed number of threads. Each thread adds up its share of the elements, then each tile adds up the sums of its
// threads.
template <int tile_size, int tile_count> float reduce_cascade(const std::vector<float> &data) {
    const int count = static_cast<int>(data.size());
    const int thread_count = tile_size * tile_count;
    array_view<const float, 1> source(count, data);
    std::vector<float> sums(tile_count);
    array_view<float, 1> tiles(tile_count, sums);
    tiles.discard_data();
    parallel_for_each(
        extent<1>(thread_count).tile<tile_size>(), [=](tiled_index<tile_size> tidx) restrict(amp) {
            tile_static float tile_sums[tile_size];
            float sum = 0.0f;
            for (int i = tidx.global[0]; i < count; i += thread_count)
                sum += source[i];
            tile_sums[tidx.local[0]] = sum;
            add_up<tile_size>(tile_sums, tidx);
            if (tidx.local[0] == 0) tiles[tidx.tile] = tile_sums[0];
        });
    tiles.synchronize();
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

template <class Reduce>
bool measure(const wchar_t *name, const std::vector<float> &data, double expected, const Reduce &reduce) {
    const auto start = std::chrono::steady_clock::now();
    const float sum = reduce(data);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    const bool right = std::fabs(sum - expected) <= 1e-5 * expected;
    std::wcout << name << L": " << sum << L" in " << time.count() << L" ms, " << (right ? L"right" : L"WRONG")
               << std::endl;
    return right;
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000003;
    if (count < 1 || count > 1 << 28) {
        std::wcerr << "usage: reduction [COUNT, 1 to 268435456]\n";
        return 2;
    }
    std::mt19937 engine(1);
    std::uniform_real_distribution<float> distribution(0.0f, 1.0f);
    std::vector<float> data(static_cast<unsigned>(count));
    for (float &element : data)
        element = distribution(engine);
    const double expected = std::accumulate(data.begin(), data.end(), 0.0);

    std::wcout << L"sum of " << count << L" numbers on " << accelerator().description << std::endl;
    bool right = measure(L"simple", data, expected, reduce_simple);
    right &= measure(L"tiled", data, expected, reduce_tiled<128>);
    right &= measure(L"cascade", data, expected, reduce_cascade<128, 64>);
    return right ? 0 : 1;
}
