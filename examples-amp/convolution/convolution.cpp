// Blurs a picture by a separable filter: along the rows, then along the columns. A tile loads its elements and the halo
// around these elements into tile_static memory.
#include <amp.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int tile_size = 16;
static const int radius = 7;

struct filter {
    float weights[2 * radius + 1];
};

// The index of the nearest element inside the picture: outside, the picture repeats its edge.
inline int clamped(int i, int count) restrict(amp, cpu) {
    return i < 0 ? 0 : i < count ? i : count - 1;
}

void blur_rows(const array_view<const float, 2> &from, const array_view<float, 2> &to, const filter &f) {
    to.discard_data();
    parallel_for_each(
        to.extent.tile<tile_size, tile_size>().pad(), [=](tiled_index<tile_size, tile_size> tidx) restrict(amp) {
            tile_static float tile_elements[tile_size][tile_size + 2 * radius];
            const int row = tidx.local[0], col = tidx.local[1];
            const int y = clamped(tidx.global[0], from.extent[0]);
            for (int i = col; i < tile_size + 2 * radius; i += tile_size)
                tile_elements[row][i] = from(y, clamped(tidx.tile_origin[1] + i - radius, from.extent[1]));
            tidx.barrier.wait_with_tile_static_memory_fence();
            float sum = 0.0f;
            for (int i = 0; i <= 2 * radius; i++)
                sum += f.weights[i] * tile_elements[row][col + i];
            if (to.extent.contains(tidx.global)) to[tidx.global] = sum;
        });
}

void blur_columns(const array_view<const float, 2> &from, const array_view<float, 2> &to, const filter &f) {
    to.discard_data();
    parallel_for_each(
        to.extent.tile<tile_size, tile_size>().pad(), [=](tiled_index<tile_size, tile_size> tidx) restrict(amp) {
            tile_static float tile_elements[tile_size + 2 * radius][tile_size];
            const int row = tidx.local[0], col = tidx.local[1];
            const int x = clamped(tidx.global[1], from.extent[1]);
            for (int i = row; i < tile_size + 2 * radius; i += tile_size)
                tile_elements[i][col] = from(clamped(tidx.tile_origin[0] + i - radius, from.extent[0]), x);
            tidx.barrier.wait_with_tile_static_memory_fence();
            float sum = 0.0f;
            for (int i = 0; i <= 2 * radius; i++)
                sum += f.weights[i] * tile_elements[row + i][col];
            if (to.extent.contains(tidx.global)) to[tidx.global] = sum;
        });
}

// One pass on the host over `lines` lines of `length` elements. `line_step` and `step` are distances in `from`: from
// one line to the next, and from one element of a line to the next.
std::vector<double> blur_on_host(const std::vector<double> &from, int lines, int line_step, int length, int step,
                                 const filter &f) {
    std::vector<double> to(from.size());
    for (int line = 0; line < lines; line++) {
        const double *source = from.data() + line * line_step;
        double *result = to.data() + line * line_step;
        for (int at = 0; at < length; at++)
            for (int i = 0; i <= 2 * radius; i++)
                result[at * step] += double(f.weights[i]) * source[clamped(at + i - radius, length) * step];
    }
    return to;
}

int main(int argc, char **argv) {
    const int width = argc > 1 ? std::atoi(argv[1]) : 500;
    if (width < 1 || width > 16384) {
        std::wcerr << "usage: convolution [WIDTH, 1 to 16384]\n";
        return 2;
    }
    const int height = (3 * width + 3) / 4;
    filter f;
    float total = 0.0f;
    for (int i = 0; i <= 2 * radius; i++)
        total += f.weights[i] = std::exp(static_cast<float>(-(i - radius) * (i - radius)) / 18.0f);
    for (float &weight : f.weights)
        weight /= total;
    std::vector<float> picture(unsigned(width) * unsigned(height)), blurred(picture.size());
    for (unsigned i = 0; i < picture.size(); i++)
        picture[i] = static_cast<float>(i * 2654435761u >> 24) / 255.0f;

    array_view<const float, 2> source(height, width, picture);
    array_view<float, 2> rows(height, width), result(height, width, blurred);
    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    blur_rows(source, rows, f);
    blur_columns(rows, result, f);
    result.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    std::vector<double> expected(picture.begin(), picture.end());
    expected = blur_on_host(expected, height, width, width, 1, f);
    expected = blur_on_host(expected, width, 1, height, width, f);
    bool right = true;
    for (std::size_t i = 0; i < blurred.size(); i++)
        right &= std::fabs(blurred[i] - expected[i]) <= 1e-5;
    std::wcout << L"picture of " << width << L"x" << height << L" blurred on " << device.description << L": "
               << time.count() << L" ms, " << (right ? L"right" : L"WRONG") << std::endl;
    return right ? 0 : 1;
}
