// Rotates an image with a bilinear filter and makes a thumbnail: each pixel is an unsigned, rows are projections.
#include "stdafx.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

typedef array_view<const unsigned int, 2> image_in;
typedef array_view<unsigned int, 2> image_out;

inline float_4 unpack(unsigned int p) restrict(amp, cpu) {
    return float_4(float(p & 0xff), float((p >> 8) & 0xff), float((p >> 16) & 0xff), float(p >> 24));
}
inline unsigned int pack(const float_4 &c) restrict(amp, cpu) {
    const uint_4 u(c + 0.5f);
    return u.x | (u.y << 8) | (u.z << 16) | (u.w << 24);
}

template <typename Image> float_4 fetch(const Image &img, const int_2 &p, int height, int width) restrict(amp, cpu) {
    if (p.x < 0 || p.y < 0 || p.x >= width || p.y >= height) return float_4(0.0f);
    return unpack(img(p.y, p.x));
}

template <typename Image>
float_4 bilinear(const Image &img, const float_2 &p, int height, int width) restrict(amp, cpu) {
    const int_2 at(int(p.x + 1000) - 1000, int(p.y + 1000) - 1000);
    const float_2 f = p - float_2(at);
    const float_4 top = fetch(img, at, height, width) * (1 - f.x) + fetch(img, at + int_2(1, 0), height, width) * f.x;
    const float_4 bottom =
        fetch(img, at + int_2(0, 1), height, width) * (1 - f.x) + fetch(img, at + 1, height, width) * f.x;
    return top * (1 - f.y) + bottom * f.y;
}

struct rotation {
    float sine, cosine;
    float_2 center;
    rotation(float angle, float_2 c) : sine(std::sin(angle)), cosine(std::cos(angle)), center(c) {}
    float_2 operator()(int y, int x) const restrict(amp, cpu) {
        const float_2 d = float_2(float(x), float(y)) - center;
        return float_2(cosine * d.x + sine * d.y, cosine * d.y - sine * d.x) + center;
    }
};

void rotate(const image_in &in, const image_out &out, const rotation &r) {
    out.discard_data();
    const int height = in.extent[0], width = in.extent[1];
    parallel_for_each(
        out.extent, [=](index<2> idx) restrict(amp) {
            out[idx] = pack(bilinear(in, r(idx[0], idx[1]), height, width));
        });
}

// Averages 2 x 2 pixels. Each launch reads two rows, which are projections of the image.
void thumbnail(const image_in &in, const image_out &out) {
    for (int y = 0; y < out.extent[0]; ++y) {
        array_view<const unsigned int, 1> first = in[2 * y], second = in[2 * y + 1];
        array_view<unsigned int, 1> row = out[y];
        row.discard_data();
        parallel_for_each(
            row.extent, [=](index<1> i) restrict(amp) {
                const int x = 2 * i[0];
                float_4 sum;
                sum += unpack(first[x]);
                sum += unpack(first[x + 1]);
                sum += unpack(second[x]);
                sum += unpack(second[x + 1]);
                row[i] = pack(sum.rgba / 4.0f);
            });
    }
}

bool close(unsigned int a, unsigned int b) {
    for (int s = 0; s < 32; s += 8)
        if (std::abs(int((a >> s) & 0xff) - int((b >> s) & 0xff)) > 1) return false;
    return true;
}

int main() {
    const int height = 40, width = 56;
    std::vector<unsigned int> picture(height * width), rotated(height * width), small(height / 2 * width / 2);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            picture[y * width + x] =
                0xff000000u | ((x * 4) & 0xff) | (((y * 6) & 0xff) << 8) | (((x / 8 + y / 8) % 2 ? 250u : 10u) << 16);

    image_in in(height, width, picture);
    image_out out(extent<2>(height, width), rotated), out_small(extent<2>(height / 2, width / 2), small);
    const rotation r(0.6f, float_2(width / 2.0f, height / 2.0f));
    rotate(in, out, r);
    thumbnail(in, out_small);
    out.synchronize();
    out_small.synchronize();

    const image_in &host = in; // on the host the view is read in place
    int wrong = 0, wrong_small = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            wrong += !close(rotated[y * width + x], pack(bilinear(host, r(y, x), height, width)));
            if (y % 2 == 0 && x % 2 == 0) {
                const float_4 sum =
                    unpack(host(y, x)) + unpack(host(y, x + 1)) + unpack(host(y + 1, x)) + unpack(host(y + 1, x + 1));
                wrong_small += !close(small[y / 2 * (width / 2) + x / 2], pack(sum / 4.0f));
            }
        }
    }
    std::wcout << L"rotated: " << wrong << L" wrong pixels, thumbnail: " << wrong_small << std::endl;
    return wrong + wrong_small ? 1 : 0;
}
