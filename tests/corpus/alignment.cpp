// Sequence alignment by Needleman-Wunsch: along diagonals of elements, and along diagonals of tiles.
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <iostream>
#include <string>
#include <vector>

using namespace concurrency;

#define BLOCK_SIZE 16
#define PENALTY 2

inline int maximum(int a, int b, int c) restrict(amp, cpu) {
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}

inline int similarity(unsigned a, unsigned b) restrict(amp, cpu) {
    return a == b ? 3 : -1;
}

void align_cpu(std::vector<int> &matrix, const std::vector<unsigned> &a, const std::vector<unsigned> &b, int cols) {
    for (int i = 1; i < cols; ++i)
        for (int j = 1; j < cols; ++j)
            matrix[i * cols + j] = maximum(matrix[(i - 1) * cols + j - 1] + similarity(a[i], b[j]),
                                           matrix[i * cols + j - 1] - PENALTY, matrix[(i - 1) * cols + j] - PENALTY);
}

void align_simple(array_view<int, 2> matrix, array_view<const unsigned> a, array_view<const unsigned> b) {
    const int n = matrix.extent[0] - 1;
    for (int d = 2; d <= 2 * n; ++d) {
        const int first = std::max(1, d - n), last = std::min(n, d - 1);
        parallel_for_each(
            extent<1>(last - first + 1), [=](index<1> idx) restrict(amp) {
                const int i = first + idx[0], j = d - i;
                matrix(i, j) = maximum(matrix(i - 1, j - 1) + similarity(a[i], b[j]), matrix(i, j - 1) - PENALTY,
                                       matrix(i - 1, j) - PENALTY);
            });
    }
}

// One tile computes a block. All blocks of a diagonal run in one launch.
void process_block(tiled_index<BLOCK_SIZE> tidx, array_view<int, 2> matrix, array_view<const unsigned> a,
                   array_view<const unsigned> b, int block_y, int block_x) restrict(amp) {
    tile_static int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    tile_static struct {
        unsigned row[BLOCK_SIZE];
        unsigned column[BLOCK_SIZE];
    } letters;
    const int tx = tidx.local[0];
    const int base_y = block_y * BLOCK_SIZE, base_x = block_x * BLOCK_SIZE;

    letters.row[tx] = a[base_y + tx + 1];
    letters.column[tx] = b[base_x + tx + 1];
    temp[0][tx + 1] = matrix(base_y, base_x + tx + 1);
    temp[tx + 1][0] = matrix(base_y + tx + 1, base_x);
    if (tx == 0) temp[0][0] = matrix(base_y, base_x);
    tidx.barrier.wait();

    for (int m = 0; m < 2 * BLOCK_SIZE - 1; ++m) {
        const int x = tx + 1, y = m - tx + 1;
        if (y >= 1 && y <= BLOCK_SIZE)
            temp[y][x] = maximum(temp[y - 1][x - 1] + similarity(letters.row[y - 1], letters.column[x - 1]),
                                 temp[y][x - 1] - PENALTY, temp[y - 1][x] - PENALTY);
        tidx.barrier.wait_with_tile_static_memory_fence();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ++ty)
        matrix(base_y + ty + 1, base_x + tx + 1) = temp[ty + 1][tx + 1];
}

void align_tiled(array_view<int, 2> matrix, array_view<const unsigned> a, array_view<const unsigned> b) {
    const int blocks = (matrix.extent[0] - 1) / BLOCK_SIZE;
    for (int d = 0; d < 2 * blocks - 1; ++d) {
        const int first = d < blocks ? 0 : d - blocks + 1;
        const int count = std::min(d, blocks - 1) - first + 1;
        parallel_for_each(
            extent<1>(count * BLOCK_SIZE).tile<BLOCK_SIZE>(), [=](tiled_index<BLOCK_SIZE> tidx) restrict(amp) {
                const int block_y = first + tidx.tile[0];
                process_block(tidx, matrix, a, b, block_y, d - block_y);
            });
    }
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;

    const int length = 96, cols = length + 1;
    std::vector<unsigned> a(cols), b(cols);
    srand(7);
    for (int i = 1; i < cols; ++i) {
        a[i] = rand() % 4;
        b[i] = rand() % 10 < 7 ? a[i] : rand() % 4;
    }
    std::vector<int> start(cols * cols);
    for (int i = 0; i < cols; ++i)
        start[i] = start[i * cols] = -i * PENALTY;
    std::vector<int> reference(start), simple(start), tiled(start);
    align_cpu(reference, a, b, cols);

    array_view<const unsigned> av_a(a), av_b(b);
    array_view<int, 2> av_simple(cols, cols, simple), av_tiled(cols, cols, tiled);
    align_simple(av_simple, av_a, av_b);
    align_tiled(av_tiled, av_a, av_b);
    av_simple.synchronize();
    av_tiled.synchronize();

    // Trace back
    std::string top, bottom;
    for (int i = length, j = length; i > 0 && j > 0;) {
        const int score = tiled[i * cols + j];
        if (score == tiled[(i - 1) * cols + j - 1] + similarity(a[i], b[j])) {
            top += "ACGT"[a[i--]];
            bottom += "ACGT"[b[j--]];
        } else if (score == tiled[i * cols + j - 1] - PENALTY) {
            top += '-';
            bottom += "ACGT"[b[j--]];
        } else {
            top += "ACGT"[a[i--]];
            bottom += '-';
        }
    }
    std::reverse(top.begin(), top.end());
    std::reverse(bottom.begin(), bottom.end());
    std::cout << top << std::endl << bottom << std::endl << "score " << reference.back() << std::endl;
    const bool ok = simple == reference && tiled == reference && top.size() == bottom.size();
    std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
    return ok ? 0 : 1;
}
