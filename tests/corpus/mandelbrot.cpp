// Mandelbrot with complex numbers in a float_2, in 2-D tiles. Several accelerators compute one band of rows each.
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <iostream>
#include <thread>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

class complex {
    float_2 v;

  public:
    complex() restrict(cpu, amp) : v(0.0f, 0.0f) {}
    complex(float real, float imaginary = 0) restrict(cpu, amp) : v(real, imaginary) {}
    explicit complex(const float_2 &_v) restrict(cpu, amp) : v(_v) {}
    float real() const restrict(cpu, amp) { return v.x; }
    float imag() const restrict(cpu, amp) { return v.y; }
    float norm() const restrict(cpu, amp) {
        float_2 sq = v * v;
        return sq.r + sq.g;
    }
    complex &operator+=(const complex &other) restrict(cpu, amp) {
        v += other.v;
        return *this;
    }
    friend complex operator+(complex a, const complex &b) restrict(cpu, amp) { return a += b; }
    friend complex operator*(const complex &a, const complex &b) restrict(cpu, amp) {
        return complex(a.v.x * b.v.x - a.v.y * b.v.y, a.v.x * b.v.y + a.v.y * b.v.x);
    }
    friend complex operator*(float s, const complex &a) restrict(cpu, amp) { return complex(a.v * s); }
};

static const int max_iterations = 64;

int iterate(const complex &c) restrict(cpu, amp) {
    complex z;
    int n = 0;
    while (n < max_iterations && z.norm() < 4.0f) {
        z = z * z + c;
        n++;
    }
    return n;
}

unsigned set_hsb(float hue, float saturate, float bright) restrict(amp) {
    float red, green, blue;
    red = green = blue = bright;
    if (saturate != 0) {
        const float h = fast_math::fmod(hue * 6.0f, 6.0f);
        const int sector = static_cast<int>(fast_math::floor(h));
        const float f = h - sector;
        const float p = bright * (1.0f - saturate), q = bright * (1.0f - saturate * f),
                    t = bright * (1.0f - saturate * (1.0f - f));
        switch (sector) {
        case 0:
            red = bright;
            green = t;
            blue = p;
            break;
        case 1:
            red = q;
            green = bright;
            blue = p;
            break;
        case 2:
            red = p;
            green = bright;
            blue = t;
            break;
        case 3:
            red = p;
            green = q;
            blue = bright;
            break;
        case 4:
            red = t;
            green = p;
            blue = bright;
            break;
        default:
            red = bright;
            green = p;
            blue = q;
            break;
        }
    }
    const unorm_3 clamped(red, green, blue);
    const float_3 scaled = float_3(clamped.x, clamped.y, clamped.z) * 255.0f;
    return 0xff000000u | (unsigned(scaled.r) << 16) | (unsigned(scaled.g) << 8) | unsigned(scaled.b);
}

class mandelbrot {
    float_2 m_from, m_step;

  public:
    mandelbrot(float_2 from, float_2 to, int_2 size) : m_from(from), m_step((to - from) / float_2(size)) {}

    complex at(int_2 pixel) const restrict(cpu, amp) { return complex(m_from + float_2(pixel.yx) * m_step); }

    void render(accelerator_view av, array_view<unsigned, 2> pixels, array_view<int, 2> counts, int first_row) const {
        const mandelbrot self = *this;
        pixels.discard_data();
        counts.discard_data();
        parallel_for_each(
            av, pixels.extent.tile<8, 8>(), [=](tiled_index<8, 8> idx) restrict(amp) {
                const int n = iterate(self.at(int_2(idx.global[0] + first_row, idx.global[1])));
                counts[idx] = n;
                pixels[idx] = n == max_iterations ? 0xff000000u : set_hsb(float(n) / max_iterations, 0.8f, 1.0f);
            });
    }
};

int main() {
    const int height = 64, width = 96;
    std::vector<accelerator> accls = accelerator::get_all();
    accls.erase(std::remove_if(accls.begin(), accls.end(), [](const accelerator &a) { return a.is_emulated; }),
                accls.end());
    if (accls.empty()) accls.push_back(accelerator());
    std::vector<unsigned> pixels(width * height);
    std::vector<int> counts(width * height);
    mandelbrot picture(float_2(-2.1f, -1.2f), float_2(0.9f, 1.2f), int_2(width, height));

    // Each thread renders a band of rows, on the next accelerator of the list
    Timer timer;
    timer.Start();
    {
        array_view<unsigned, 2> pixels_vw(height, width, pixels);
        array_view<int, 2> counts_vw(height, width, counts);
        const int workers = 2, rows = height / workers;
        std::vector<std::thread> threads;
        for (int i = 0; i < workers; i++) {
            threads.push_back(std::thread([=, &picture, &accls]() {
                accelerator_view av = accls[i % accls.size()].create_view();
                std::vector<unsigned> band(rows * width);
                array_view<unsigned, 2> band_vw(rows, width, band);
                array_view<int, 2> band_counts(rows, width);
                picture.render(av, band_vw, band_counts, i * rows);
                band_vw.copy_to(pixels_vw.section(i * rows, 0, rows, width));
                band_counts.copy_to(counts_vw.section(i * rows, 0, rows, width));
            }));
        }
        for (auto &t : threads)
            t.join();
    }
    timer.Stop();

    int wrong = 0, inside = 0;
    const char shades[] = " .:-=+*#%@";
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const int n = iterate(picture.at(int_2(y, x)));
            wrong += n != counts[y * width + x] ? 1 : 0;
            inside += n == max_iterations ? 1 : 0;
            if (n == max_iterations && pixels[y * width + x] != 0xff000000u) ++wrong;
            if (y % 4 == 0 && x % 2 == 0) std::cout << shades[counts[y * width + x] * 9 / max_iterations];
        }
        if (y % 4 == 0) std::cout << "\n";
    }
    std::cout << wrong << " of " << width * height << " points differ, " << inside << " are inside, " << timer.Elapsed()
              << " ms" << std::endl;
    // a fused multiply-add may change the count of a point near the border
    return wrong <= width * height / 50 && inside > 500 ? 0 : 1;
}
