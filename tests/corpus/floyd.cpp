//--------------------------------------------------------------------------------------
// File: FloydWarshall.cpp
//
// Shortest paths between all pairs of vertices: simple with one launch per vertex, and tiled in three phases.
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <limits.h>
#include <vector>

using namespace concurrency;

static const int num_vertices = 48;
static const int TS = 16;
static const unsigned no_path = UINT_MAX / 4;

void kernel_simple(const array_view<unsigned, 2> &distances) {
    for (int k = 0; k < num_vertices; ++k) {
        parallel_for_each(
            distances.extent, [=](index<2> idx) restrict(amp) {
                const unsigned through = distances(idx[0], k) + distances(k, idx[1]);
                if (through < distances[idx]) distances[idx] = through;
            });
    }
}

// Relaxes element (y, x) by the path through vertex k, from the tiles a and b. Both may be the tile of the element.
inline unsigned relax(unsigned current, const unsigned (&a)[TS][TS], const unsigned (&b)[TS][TS], int y, int x,
                      int k) restrict(amp) {
    const unsigned through = a[y][k] + b[k][x];
    return through < current ? through : current;
}

template <int phase> void run_phase(const array_view<unsigned, 2> &d, int block) {
    const int blocks = num_vertices / TS;
    const extent<2> tiles =
        phase == 1 ? extent<2>(1, 1) : (phase == 2 ? extent<2>(2, blocks) : extent<2>(blocks, blocks));
    parallel_for_each((tiles * TS).template tile<TS, TS>(), [=](tiled_index<TS, TS> t) restrict(amp) {
        tile_static unsigned current[TS][TS], left[TS][TS], top[TS][TS];
        const int y = t.local[0], x = t.local[1];
        int by = block, bx = block;
        if (phase == 2) {
            if (t.tile[0] == 0)
                bx = t.tile[1];
            else
                by = t.tile[1];
        } else if (phase == 3) {
            by = t.tile[0];
            bx = t.tile[1];
        }
        const int gy = by * TS + y, gx = bx * TS + x;
        current[y][x] = d(gy, gx);
        left[y][x] = d(gy, block * TS + x);
        top[y][x] = d(block * TS + y, gx);
        t.barrier.wait();
        for (int k = 0; k < TS; ++k) {
            const unsigned best = relax(current[y][x], left, top, y, x, k);
            t.barrier.wait();
            current[y][x] = best;
            if (bx == block) left[y][x] = best;
            if (by == block) top[y][x] = best;
            t.barrier.wait();
        }
        // Phase 1 has written the diagonal block, and phase 2 the other blocks of its row and column.
        if (phase == 1 || (phase == 2 ? (bx != block || by != block) : (bx != block && by != block)))
            d(gy, gx) = current[y][x];
    });
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;
    std::vector<unsigned> distances(num_vertices * num_vertices, no_path);
    srand(12345);
    for (int i = 0; i < num_vertices; i++) {
        distances[i * num_vertices + i] = 0;
        for (int e = 0; e < 3; e++) {
            const int to = rand() % (num_vertices - 2);
            if (to != i) distances[i * num_vertices + to] = 1 + rand() % 20;
        }
    }
    std::vector<unsigned> reference(distances), simple(distances), tiled(distances);
    for (int k = 0; k < num_vertices; k++)
        for (int i = 0; i < num_vertices; i++)
            for (int j = 0; j < num_vertices; j++) {
                const unsigned through = reference[i * num_vertices + k] + reference[k * num_vertices + j];
                if (through < reference[i * num_vertices + j]) reference[i * num_vertices + j] = through;
            }
    {
        array_view<unsigned, 2> view(num_vertices, num_vertices, simple);
        kernel_simple(view);
        array_view<unsigned, 2> tiled_view(num_vertices, num_vertices, tiled);
        for (int block = 0; block < num_vertices / TS; block++) {
            run_phase<1>(tiled_view, block);
            run_phase<2>(tiled_view, block);
            run_phase<3>(tiled_view, block);
        }
        // No synchronize(): the destructors synchronize.
    }
    bool passed = true;
    for (int i = 0; i < num_vertices * num_vertices; i++) {
        if (simple[i] != reference[i] || tiled[i] != reference[i]) {
            std::cout << "(" << i / num_vertices << ", " << i % num_vertices << "): " << reference[i] << ", simple "
                      << simple[i] << ", tiled " << tiled[i] << std::endl;
            passed = false;
            break;
        }
    }
    std::cout << (passed ? "Passed" : "Failed") << std::endl;
    return passed ? 0 : 1;
}
