// N queens: the host places the first rows, each thread counts the rest with local arrays instead of recursion. And a
// Sudoku, by elimination in tiles.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <vector>

using namespace concurrency;

template <int N> struct placement {
    int columns, left, right; // bits of what is attacked in the next row
};

template <int N, int Depth> int count_solutions(placement<N> start) restrict(amp, cpu) {
    const int all = (1 << N) - 1;
    int columns[Depth + 1], left[Depth + 1], right[Depth + 1], free_cells[Depth + 1];
    int row = 0, found = 0;
    columns[0] = start.columns;
    left[0] = start.left;
    right[0] = start.right;
    free_cells[0] = all & ~(columns[0] | left[0] | right[0]);
    while (row >= 0) {
        if (free_cells[row] == 0) {
            --row;
            continue;
        }
        const int bit = free_cells[row] & -free_cells[row];
        free_cells[row] ^= bit;
        if (row == Depth - 1) {
            ++found;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        ++row;
        free_cells[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    return found;
}

template <int N> void first_rows(std::vector<placement<N>> &out, placement<N> p, int rows) {
    if (rows == 0) {
        out.push_back(p);
        return;
    }
    for (int c = 0; c < N; ++c) {
        const int bit = 1 << c;
        if ((p.columns | p.left | p.right) & bit) continue;
        placement<N> next = {p.columns | bit, (p.left | bit) << 1, (p.right | bit) >> 1};
        first_rows<N>(out, next, rows - 1);
    }
}

template <int N> int queens() {
    const int host_rows = 3;
    std::vector<placement<N>> starts;
    placement<N> empty = {0, 0, 0};
    first_rows<N>(starts, empty, host_rows);
    array_view<const placement<N>> av(starts);
    std::vector<int> total(1);
    array_view<int> av_total(total);
    parallel_for_each(
        av.extent, [=](index<1> i) restrict(amp) {
            const int found = count_solutions<N, N - host_rows>(av[i]);
            if (found) atomic_fetch_add(&av_total[0], found);
        });
    av_total.synchronize();
    return total[0];
}

// One tile solves one easy Sudoku: each thread owns a cell and its candidates.
int sudoku(const char *puzzle, std::vector<int> &solved) {
    std::vector<int> cells(81);
    for (int i = 0; i < 81; ++i)
        cells[i] = puzzle[i] == '.' ? 0 : puzzle[i] - '0';
    array_view<const int, 2> av_in(9, 9, cells);
    array<int, 2> result(9, 9);
    parallel_for_each(
        av_in.extent.tile<9, 9>(), [ =, &result ](tiled_index<9, 9> t) restrict(amp) {
            tile_static int mask[9][9];
            const int y = t.local[0], x = t.local[1];
            const int given = av_in[t.global];
            mask[y][x] = given ? 1 << (given - 1) : 0x1FF;
            t.barrier.wait();
            for (int round = 0; round < 40; ++round) {
                int mine = mask[y][x], others_row = 0, others_column = 0, others_box = 0, known = 0;
                for (int k = 0; k < 9; ++k) {
                    const int by = y / 3 * 3 + k / 3, bx = x / 3 * 3 + k % 3;
                    const int row = mask[y][k], column = mask[k][x], box = mask[by][bx];
                    if (k != x) {
                        others_row |= row;
                        known |= (row & (row - 1)) == 0 ? row : 0;
                    }
                    if (k != y) {
                        others_column |= column;
                        known |= (column & (column - 1)) == 0 ? column : 0;
                    }
                    if (by != y || bx != x) {
                        others_box |= box;
                        known |= (box & (box - 1)) == 0 ? box : 0;
                    }
                }
                mine &= ~known;
                if (mine & ~others_row) mine &= ~others_row;
                if (mine & ~others_column) mine &= ~others_column;
                if (mine & ~others_box) mine &= ~others_box;
                t.barrier.wait_with_tile_static_memory_fence();
                mask[y][x] = mine;
                t.barrier.wait_with_tile_static_memory_fence();
            }
            int digit = 0;
            for (int d = 0; d < 9; ++d)
                if (mask[y][x] == 1 << d) digit = d + 1;
            result[t] = digit;
        });
    solved = result;
    int bad = 0;
    for (int i = 0; i < 9; ++i) {
        int row = 0, column = 0;
        for (int k = 0; k < 9; ++k) {
            row |= 1 << solved[i * 9 + k];
            column |= 1 << solved[k * 9 + i];
        }
        bad += row != 0x3FE || column != 0x3FE;
    }
    return bad;
}

int main() {
    std::wcout << L"Device: " << accelerator().get_description() << std::endl;
    const int eight = queens<8>(), nine = queens<9>();
    std::wcout << L"8 queens: " << eight << L" solutions, 9 queens: " << nine << std::endl;
    std::vector<int> solved;
    const int bad = sudoku("53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79", solved);
    for (int y = 0; y < 9; ++y) {
        for (int x = 0; x < 9; ++x)
            std::wcout << solved[y * 9 + x] << L" ";
        std::wcout << std::endl;
    }
    return eight == 92 && nine == 352 && bad == 0 ? 0 : 1;
}
