// N queens: the host places the queens of the first rows. Each thread counts the solutions of one placement, with local
// arrays instead of recursion. Also solves a Sudoku by elimination in one tile.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <vector>

using namespace concurrency;

template <int N> struct placement {
    int columns, left, right; // bits of the cells that are attacked in the next row
};

template <int N, int Depth> int count_solutions(placement<N> start) restrict(amp, cpu) {
    const int all_columns = (1 << N) - 1;
    int columns[Depth + 1], left[Depth + 1], right[Depth + 1], free_cells[Depth + 1];
    int row = 0, solution_count = 0;
    columns[0] = start.columns;
    left[0] = start.left;
    right[0] = start.right;
    free_cells[0] = all_columns & ~(columns[0] | left[0] | right[0]);
    while (row >= 0) {
        if (free_cells[row] == 0) {
            --row;
            continue;
        }
        const int bit = free_cells[row] & -free_cells[row];
        free_cells[row] ^= bit;
        if (row == Depth - 1) {
            ++solution_count;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        ++row;
        free_cells[row] = all_columns & ~(columns[row] | left[row] | right[row]);
    }
    return solution_count;
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
            const int solution_count = count_solutions<N, N - host_rows>(av[i]);
            if (solution_count) atomic_fetch_add(&av_total[0], solution_count);
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
                int candidates = mask[y][x], row_candidates = 0, column_candidates = 0, box_candidates = 0,
                    taken_digits = 0;
                for (int k = 0; k < 9; ++k) {
                    const int by = y / 3 * 3 + k / 3, bx = x / 3 * 3 + k % 3;
                    const int row = mask[y][k], column = mask[k][x], box = mask[by][bx];
                    if (k != x) {
                        row_candidates |= row;
                        taken_digits |= (row & (row - 1)) == 0 ? row : 0;
                    }
                    if (k != y) {
                        column_candidates |= column;
                        taken_digits |= (column & (column - 1)) == 0 ? column : 0;
                    }
                    if (by != y || bx != x) {
                        box_candidates |= box;
                        taken_digits |= (box & (box - 1)) == 0 ? box : 0;
                    }
                }
                candidates &= ~taken_digits;
                if (candidates & ~row_candidates) candidates &= ~row_candidates;
                if (candidates & ~column_candidates) candidates &= ~column_candidates;
                if (candidates & ~box_candidates) candidates &= ~box_candidates;
                t.barrier.wait_with_tile_static_memory_fence();
                mask[y][x] = candidates;
                t.barrier.wait_with_tile_static_memory_fence();
            }
            int digit = 0;
            for (int d = 0; d < 9; ++d)
                if (mask[y][x] == 1 << d) digit = d + 1;
            result[t] = digit;
        });
    solved = result;
    int wrong_lines = 0;
    for (int i = 0; i < 9; ++i) {
        int row = 0, column = 0;
        for (int k = 0; k < 9; ++k) {
            row |= 1 << solved[i * 9 + k];
            column |= 1 << solved[k * 9 + i];
        }
        wrong_lines += row != 0x3FE || column != 0x3FE;
    }
    return wrong_lines;
}

int main() {
    std::wcout << L"Device: " << accelerator().get_description() << std::endl;
    const int eight = queens<8>(), nine = queens<9>();
    std::wcout << L"8 queens: " << eight << L" solutions, 9 queens: " << nine << std::endl;
    std::vector<int> solved;
    const int wrong_lines =
        sudoku("53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79", solved);
    for (int y = 0; y < 9; ++y) {
        for (int x = 0; x < 9; ++x)
            std::wcout << solved[y * 9 + x] << L" ";
        std::wcout << std::endl;
    }
    return eight == 92 && nine == 352 && wrong_lines == 0 ? 0 : 1;
}
