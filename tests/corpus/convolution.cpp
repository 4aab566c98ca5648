//--------------------------------------------------------------------------------------
// File: ConvolutionSeparable.cpp
//
// Separable convolution with global memory and with tile_static memory.
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

#define DEFAULT_WIDTH 96
#define DEFAULT_HEIGHT 64

template <typename _type, int radius> class convolution_separable {
  public:
    convolution_separable(int width, int height);
    void execute();
    bool verify();
    ~convolution_separable() {}

  private:
    enum convolution_dim { convolution_row, convolution_col };
    static const int tile_size = 32;

    static _type sample(const array<_type, 2> &img, int y, int x, int clamp_y, int clamp_x) restrict(amp) {
        y = y < 0 ? 0 : (y > clamp_y ? clamp_y : y);
        x = x < 0 ? 0 : (x > clamp_x ? clamp_x : x);
        return img(y, x);
    }

    template <convolution_dim dim>
    static void dim_convolve(const array<_type, 2> &img, const array<_type, 1> &filter, array<_type, 2> &out);
    template <convolution_dim dim>
    static void dim_convolve_tile(const array<_type, 2> &img, const array<_type, 1> &filter, array<_type, 2> &out);
    void convolve_cpu();
    bool verify_one(const char *name, const std::vector<_type> &result);

    int img_width, img_height;
    std::vector<_type> filter;
    std::vector<_type> img, ref, result_global, result_tiled;
};

template <typename _type, int radius>
convolution_separable<_type, radius>::convolution_separable(int width, int height)
    : img_width(width), img_height(height) {
    _type sum = 0;
    for (int i = 0; i < 2 * radius + 1; i++) {
        _type dist = _type(i - radius) / _type(radius);
        filter.push_back(exp(-dist * dist / 2));
        sum += filter.back();
    }
    for (auto &f : filter)
        f /= sum;
    img.resize(width * height);
    ref.resize(img.size());
    result_global.resize(img.size());
    result_tiled.resize(img.size());
    srand(7);
    for (auto &p : img)
        p = (_type)(rand() & 0xFF);
}

template <typename _type, int radius>
template <typename convolution_separable<_type, radius>::convolution_dim dim>
void convolution_separable<_type, radius>::dim_convolve(const array<_type, 2> &img, const array<_type, 1> &filter,
                                                        array<_type, 2> &out) {
    const int clamp_y = img.extent[0] - 1, clamp_x = img.extent[1] - 1;
    parallel_for_each(
        img.extent, [ =, &img, &filter, &out ](index<2> idx) restrict(amp) {
            _type sum = 0;
            for (int k = -radius; k <= radius; k++) {
                int y = idx[0], x = idx[1];
                if (dim == convolution_row)
                    x += k;
                else
                    y += k;
                sum += sample(img, y, x, clamp_y, clamp_x) * filter[k + radius];
            }
            out[idx] = sum;
        });
}

template <typename _type, int radius>
template <typename convolution_separable<_type, radius>::convolution_dim dim>
void convolution_separable<_type, radius>::dim_convolve_tile(const array<_type, 2> &img, const array<_type, 1> &filter,
                                                             array<_type, 2> &out) {
    static const int valid = tile_size - 2 * radius;
    static_assert(valid > 0, "the filter is larger than the tile");
    const int width = img.extent[1], height = img.extent[0];
    const int length = dim == convolution_row ? width : height;
    const int tiles = (length + valid - 1) / valid;
    const extent<2> domain(dim == convolution_row ? height : width, tiles * tile_size);
    parallel_for_each(
        domain.tile<1, tile_size>(), [ =, &img, &filter, &out ](tiled_index<1, tile_size> tidx) restrict(amp) {
            tile_static _type local[tile_size];
            const int at = tidx.tile[1] * valid + tidx.local[1] - radius;
            const int line = tidx.global[0];
            local[tidx.local[1]] = dim == convolution_row ? sample(img, line, at, height - 1, width - 1)
                                                          : sample(img, at, line, height - 1, width - 1);
            tidx.barrier.wait();
            if (tidx.local[1] >= radius && tidx.local[1] < radius + valid && at < length) {
                _type sum = 0;
                for (int k = -radius; k <= radius; k++)
                    sum += local[tidx.local[1] + k] * filter[k + radius];
                if (dim == convolution_row)
                    out(line, at) = sum;
                else
                    out(at, line) = sum;
            }
        });
}

template <typename _type, int radius> void convolution_separable<_type, radius>::execute() {
    array<_type, 2> a_img(img_height, img_width, img.begin(), img.end()), a_row(img_height, img_width),
        a_out(img_height, img_width);
    array<_type, 1> a_filter(2 * radius + 1, filter.begin());
    dim_convolve<convolution_row>(a_img, a_filter, a_row);
    dim_convolve<convolution_col>(a_row, a_filter, a_out);
    result_global = a_out;
    dim_convolve_tile<convolution_row>(a_img, a_filter, a_row);
    dim_convolve_tile<convolution_col>(a_row, a_filter, a_out);
    copy(a_out, result_tiled.begin());
}

template <typename _type, int radius> void convolution_separable<_type, radius>::convolve_cpu() {
    std::vector<_type> row(img.size());
    auto clamp = [](int x, int top) { return x < 0 ? 0 : (x > top ? top : x); };
    for (int y = 0; y < img_height; y++)
        for (int x = 0; x < img_width; x++)
            for (int k = -radius; k <= radius; k++)
                row[y * img_width + x] += img[y * img_width + clamp(x + k, img_width - 1)] * filter[k + radius];
    for (int y = 0; y < img_height; y++)
        for (int x = 0; x < img_width; x++)
            for (int k = -radius; k <= radius; k++)
                ref[y * img_width + x] += row[clamp(y + k, img_height - 1) * img_width + x] * filter[k + radius];
}

template <typename _type, int radius>
bool convolution_separable<_type, radius>::verify_one(const char *name, const std::vector<_type> &result) {
    for (unsigned i = 0; i < result.size(); i++) {
        if (!(fabs(result[i] - ref[i]) <= 0.001)) {
            printf("%s: FAILED at %u: %f, not %f\n", name, i, (double)result[i], (double)ref[i]);
            return false;
        }
    }
    printf("%s: PASSED\n", name);
    return true;
}

template <typename _type, int radius> bool convolution_separable<_type, radius>::verify() {
    convolve_cpu();
    const bool global = verify_one("global", result_global);
    return verify_one("tile_static", result_tiled) && global;
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    convolution_separable<float, 7> conv(DEFAULT_WIDTH, DEFAULT_HEIGHT);
    conv.execute();
    return conv.verify() ? 0 : 1;
}
