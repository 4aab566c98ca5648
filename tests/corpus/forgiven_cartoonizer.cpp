// The tiled frame processor of the C++ AMP book's Cartoonizer: tiles at the borders
// load pixels outside of the frame, and threads below the frame write results.
// Needs -famp-bounds=zero.
#include "stdafx.h"
#include <amp.h>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int TileSize = 8;
static const int window = 2;

inline unsigned average(unsigned sum) restrict(amp, cpu) {
    return sum / ((2 * window + 1) * (2 * window + 1));
}

int main() {
    const int height = 42, width = 50;
    std::vector<unsigned> source(height * width), result(height * width);
    for (int i = 0; i < height * width; ++i)
        source[i] = (i * 37) % 251;
    array<unsigned, 2> frame(height, width, source.begin(), source.end()), out(height, width);
    tiled_extent<TileSize, TileSize> domain = frame.extent.tile<TileSize, TileSize>().pad();
    parallel_for_each(
        domain, [ =, &frame, &out ](tiled_index<TileSize, TileSize> t) restrict(amp) {
            tile_static unsigned pixels[TileSize + 2 * window][TileSize + 2 * window];
            for (int y = t.local[0]; y < TileSize + 2 * window; y += TileSize)
                for (int x = t.local[1]; x < TileSize + 2 * window; x += TileSize)
                    pixels[y][x] = frame[t.tile_origin[0] + y - window][t.tile_origin[1] + x - window];
            t.barrier.wait();
            unsigned sum = 0;
            for (int y = 0; y <= 2 * window; ++y)
                for (int x = 0; x <= 2 * window; ++x)
                    sum += pixels[t.local[0] + y][t.local[1] + x];
            const unsigned value = average(sum);
            if (t.global[1] < width) out[t.global] = value; // writes past the last row are dropped
        });
    copy(out, result.begin());
    int wrong = 0;
    for (int y = window; y < height - window; ++y) {
        for (int x = window; x < width - window; ++x) {
            unsigned sum = 0;
            for (int dy = -window; dy <= window; ++dy)
                for (int dx = -window; dx <= window; ++dx)
                    sum += source[(y + dy) * width + x + dx];
            wrong += result[y * width + x] != average(sum);
        }
    }
    std::wcout << wrong << L" wrong pixels" << std::endl;
    return wrong ? 1 : 0;
}
