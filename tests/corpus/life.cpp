// Conway's Game of Life on a torus, with two arrays that are swapped: a simple version, and a tiled one with a halo.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace concurrency;

typedef std::vector<int> board;

enum cell_state { dead = 0, alive = 1 };

inline int wrap(int x, int size) restrict(cpu, amp) {
    return (x + size) % size;
}

inline int next_state(int state, int neighbours) restrict(cpu, amp) {
    return neighbours == 3 || (state == alive && neighbours == 2) ? alive : dead;
}

class game_of_life {
  public:
    game_of_life(int _rows, int _columns)
        : rows(_rows), columns(_columns), current(new array<int, 2>(_rows, _columns)),
          next(new array<int, 2>(_rows, _columns)) {}
    game_of_life(const game_of_life &) = delete;

    void set(const board &cells) { copy(cells.begin(), cells.end(), *current); }
    board get() const { return *current; }

    void step_simple() {
        const array<int, 2> &from = *current;
        array<int, 2> &to = *next;
        const int rows = this->rows, columns = this->columns;
        parallel_for_each(
            from.extent, [&from, &to, rows, columns ](index<2> idx) restrict(amp) {
                int neighbours = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (dy != 0 || dx != 0) neighbours += from(wrap(idx[0] + dy, rows), wrap(idx[1] + dx, columns));
                to[idx] = next_state(from[idx], neighbours);
            });
        std::swap(current, next);
    }

    void step_tiled() {
        static const int ts = 8;
        const array<int, 2> &from = *current;
        array<int, 2> &to = *next;
        const int rows = this->rows, columns = this->columns;
        parallel_for_each(
            from.extent.tile<ts, ts>(), [&, rows, columns ](tiled_index<ts, ts> t) restrict(amp) {
                tile_static int cells[ts + 2][ts + 2];
                const int y = t.local[0] + 1, x = t.local[1] + 1;
                const int gy = t.global[0], gx = t.global[1];
                cells[y][x] = from[t];
                if (y == 1) cells[0][x] = from(wrap(gy - 1, rows), gx);
                if (y == ts) cells[ts + 1][x] = from(wrap(gy + 1, rows), gx);
                if (x == 1) cells[y][0] = from(gy, wrap(gx - 1, columns));
                if (x == ts) cells[y][ts + 1] = from(gy, wrap(gx + 1, columns));
                if ((y == 1 || y == ts) && (x == 1 || x == ts)) {
                    const int dy = y == 1 ? -1 : 1, dx = x == 1 ? -1 : 1;
                    cells[y + dy][x + dx] = from(wrap(gy + dy, rows), wrap(gx + dx, columns));
                }
                t.barrier.wait_with_tile_static_memory_fence();
                int neighbours = -cells[y][x];
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        neighbours += cells[y + dy][x + dx];
                to[t] = next_state(cells[y][x], neighbours);
            });
        std::swap(current, next);
    }

  private:
    const int rows, columns;
    std::unique_ptr<array<int, 2>> current, next;
};

board step_cpu(const board &cells, int rows, int columns) {
    board result(cells.size());
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            int neighbours = -cells[y * columns + x];
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    neighbours += cells[wrap(y + dy, rows) * columns + wrap(x + dx, columns)];
            result[y * columns + x] = next_state(cells[y * columns + x], neighbours);
        }
    }
    return result;
}

int main() {
    const int rows = 24, columns = 40, generations = 24;
    board start(rows * columns);
    // a glider and noise
    const char *glider[] = {".#.", "..#", "###"};
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            start[(y + 1) * columns + x + 1] = glider[y][x] == '#';
    srand(1970);
    for (int i = rows / 2 * columns; i < rows * columns; i++)
        start[i] = rand() % 3 == 0;

    board expected(start);
    for (int i = 0; i < generations; i++)
        expected = step_cpu(expected, rows, columns);

    game_of_life life(rows, columns);
    life.set(start);
    for (int i = 0; i < generations; i++)
        life.step_simple();
    const board simple = life.get();
    life.set(start);
    for (int i = 0; i < generations; i++)
        life.step_tiled();
    const board tiled = life.get();

    for (int y = 0; y < rows; y += 2) {
        std::string line;
        for (int x = 0; x < columns; x++)
            line += simple[y * columns + x] ? '#' : '.';
        std::cout << line << '\n';
    }
    std::cout << "simple: " << (simple == expected ? "right" : "WRONG")
              << ", tiled: " << (tiled == expected ? "right" : "WRONG") << std::endl;
    return simple == expected && tiled == expected ? 0 : 1;
}
