// Conway's Game of Life on a torus: each generation reads one view and writes another.
#include <amp.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

using namespace concurrency;

void generation(const array_view<const int, 2> &cells, const array_view<int, 2> &next) {
    next.discard_data();
    parallel_for_each(
        cells.extent, [=](index<2> idx) restrict(amp) {
            const int height = cells.extent[0], width = cells.extent[1];
            const int up = idx[0] > 0 ? idx[0] - 1 : height - 1, down = idx[0] < height - 1 ? idx[0] + 1 : 0;
            const int left = idx[1] > 0 ? idx[1] - 1 : width - 1, right = idx[1] < width - 1 ? idx[1] + 1 : 0;
            const int neighbours = cells(up, left) + cells(up, idx[1]) + cells(up, right) + cells(idx[0], left) +
                                   cells(idx[0], right) + cells(down, left) + cells(down, idx[1]) + cells(down, right);
            next[idx] = neighbours == 3 || (neighbours == 2 && cells[idx] == 1) ? 1 : 0;
        });
}

void generation_on_host(const std::vector<int> &cells, std::vector<int> &next, int height, int width) {
    for (int row = 0; row < height; row++)
        for (int col = 0; col < width; col++) {
            int neighbours = 0;
            for (int y = -1; y <= 1; y++)
                for (int x = -1; x <= 1; x++)
                    if (x != 0 || y != 0)
                        neighbours += cells.data()[(row + y + height) % height * width + (col + x + width) % width];
            const int lives = cells.data()[row * width + col];
            next.data()[row * width + col] = neighbours == 3 || (neighbours == 2 && lives == 1);
        }
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? std::atoi(argv[1]) : 200;
    if (width < 2 || width > 16384) {
        std::wcerr << "usage: life [WIDTH, 2 to 16384]\n";
        return 2;
    }
    const int height = width / 2 + 1, generations = 50;
    std::vector<int> world(unsigned(width) * unsigned(height));
    for (unsigned i = 0; i < world.size(); i++)
        world[i] = i * 2654435761u >> 30 == 0;
    std::vector<int> expected = world, expected_next = world;

    array_view<int, 2> cells(height, width, world), next(height, width);
    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < generations; i++) {
        generation(cells, next);
        std::swap(cells, next);
    }
    std::vector<int> result(world.size());
    copy(cells, result.begin());
    // The contents of both views are no longer needed, so nothing is written back.
    cells.discard_data();
    next.discard_data();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    for (int i = 0; i < generations; i++) {
        generation_on_host(expected, expected_next, height, width);
        expected.swap(expected_next);
    }
    const bool is_right = result == expected;
    std::wcout << generations << L" generations of " << width << L"x" << height << L" cells on " << device.description
               << L": " << time.count() << L" ms, " << std::accumulate(result.begin(), result.end(), 0) << L" live, "
               << (is_right ? L"right" : L"WRONG") << std::endl;
    return is_right ? 0 : 1;
}
