// Prefix sums (scan): each element becomes the sum of all previous elements. Each tile scans a block in tile_static
// memory, up and down a tree (work-efficient). The sums of the blocks are scanned in the same way, then added to the
// elements of the blocks.
#include <amp.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int tile_size = 128;
static const int block_size = 2 * tile_size;

void exclusive_scan(const array_view<int, 1> &data) {
    const int count = data.extent[0];
    const int block_count = (count + block_size - 1) / block_size;
    array<int, 1> sums(block_count);
    parallel_for_each(
        extent<1>(block_count * tile_size).tile<tile_size>(), [ =, &sums ](tiled_index<tile_size> tidx) restrict(amp) {
            tile_static int block[block_size];
            const int local = tidx.local[0];
            const int first = tidx.tile[0] * block_size + local, second = first + tile_size;
            block[local] = first < count ? data[first] : 0;
            block[local + tile_size] = second < count ? data[second] : 0;

            // Up: each node becomes the sum of the leaves below it.
            int stride = 1;
            for (int nodes = tile_size; nodes > 0; nodes /= 2) {
                tidx.barrier.wait();
                if (local < nodes) {
                    const int right = stride * (2 * local + 2) - 1;
                    block[right] += block[right - stride];
                }
                stride *= 2;
            }
            if (local == 0) {
                sums[tidx.tile] = block[block_size - 1];
                block[block_size - 1] = 0;
            }
            // Down: each node gets the sum of the leaves before its own leaves, and passes it on to its children.
            for (int nodes = 1; nodes <= tile_size; nodes *= 2) {
                stride /= 2;
                tidx.barrier.wait();
                if (local < nodes) {
                    const int right = stride * (2 * local + 2) - 1;
                    const int left_sum = block[right - stride];
                    block[right - stride] = block[right];
                    block[right] += left_sum;
                }
            }
            tidx.barrier.wait();
            if (first < count) data[first] = block[local];
            if (second < count) data[second] = block[local + tile_size];
        });
    if (block_count == 1) return;
    array_view<int, 1> before(sums);
    exclusive_scan(before);
    const array_view<const int, 1> offsets(before);
    parallel_for_each(
        data.extent, [=](index<1> idx) restrict(amp) { data[idx] += offsets[idx / block_size]; });
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000003;
    if (count < 1 || count > 1 << 28) {
        std::wcerr << "usage: scan [COUNT, 1 to 268435456]\n";
        return 2;
    }
    std::vector<int> data(static_cast<unsigned>(count)), expected(data.size());
    int sum = 0;
    for (unsigned i = 0; i < data.size(); i++) {
        data[i] = static_cast<int>(i * 2654435761u >> 29);
        expected[i] = sum;
        sum += data[i];
    }

    array_view<int, 1> view(count, data);
    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    exclusive_scan(view);
    view.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    const bool is_right = data == expected;
    std::wcout << L"scan of " << count << L" numbers on " << device.description << L": " << time.count() << L" ms, "
               << (is_right ? L"right" : L"WRONG") << std::endl;
    return is_right ? 0 : 1;
}
