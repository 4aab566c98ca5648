// Textures for random kernels (kernelc/examples/generate.rs). Each accelerator has its own textures with the same
// texels. No result depends on a device's precision: sampled texels are whole numbers, and samples are taken where all
// weights are quarters or eighths.
#pragma once

#include "compare.hpp"

#include <amp_graphics.h>

using namespace concurrency::graphics;

struct textures {
    texture<unsigned, 1> line, other_line;
    texture<uint_4, 2> plane;
    texture<int_2, 3> block;
    texture<unorm_4, 2> colours;
    texture<float_4, 2> numbers;
    // Each thread writes its own texel.
    texture<uint_4, 2> written;
    texture<unorm_2, 1> shades;
    texture<float_2, 1> halves;
    texture<int, 1> counted;

    explicit textures(const accelerator_view &on)
        : line(61, 8U, on), other_line(50, 16U, on), plane(extent<2>(13, 17), 16U, on),
          block(extent<3>(6, 5, 7), 32U, 2U, on), colours(extent<2>(16, 16), 8U, 0U, on),
          numbers(extent<2>(16, 16), 32U, 0U, on), written(8, 14, 8U, on), shades(int(count), 16U, on),
          halves(int(count), 16U, on), counted(int(count), 32U, on) {
        fill(line, 3);
        fill(other_line, 5);
        fill(plane, 7);
        fill(block, 11);
        fill(colours, 13);
        std::vector<float> whole(numbers.data_length / sizeof(float));
        for (unsigned n = 0; n < whole.size(); ++n)
            whole[n] = float(n * 37 % 251);
        copy(whole.data(), numbers.data_length, numbers);
    }
    void restart() {
        fill(written, 17);
        fill(shades, 19);
        fill(halves, 0);
        fill(counted, 23);
    }
    // Combines the texels that a thread has written with the thread's element of `ints`, which compare() checks.
    void finish() const {
        add(written);
        add(shades);
        add(halves);
        add(counted);
    }

  private:
    template <class Texture> static void fill(Texture &to, unsigned factor) {
        std::vector<unsigned char> bytes(to.data_length);
        for (unsigned n = 0; n < bytes.size(); ++n)
            bytes[n] = static_cast<unsigned char>((n * factor >> 1) ^ n >> 5);
        copy(bytes.data(), to.data_length, to);
    }
    template <class Texture> static void add(const Texture &from) {
        std::vector<unsigned char> bytes(from.data_length);
        copy(from, bytes.data(), from.data_length);
        const unsigned size = from.data_length / count;
        for (unsigned n = 0; n < bytes.size(); ++n) {
            int &number = shared_views().ints[int(n / size)];
            number = int(unsigned(number) * 31u + bytes[n]);
        }
    }
};
inline textures &textures_on(const accelerator_view &view) {
    static textures of_host(host());
    if (view == host()) return of_host;
    static textures of_vulkan(vulkan());
    return of_vulkan;
}

// A class with a texture and its sampler. Programs pass objects of such classes to functions.
struct sampled {
    texture_view<const float_4, 2> from;
    sampler by;

    float at(unsigned x, unsigned y, float level) const restrict(amp) {
        return from
            .sample(by, float_2(float(int(x & 255u) - 64) * 0.015625f, float(int(y & 255u) - 64) * 0.015625f), level)
            .y;
    }
};
inline unsigned texel(const texture_view<const uint_4, 2> &from, unsigned x, unsigned y) restrict(amp) {
    const uint_4 all = from(int(x & 31u) - 3, int(y & 31u) - 3);
    return all.x + all.w * 3u;
}
inline unsigned steps(unorm number) restrict(amp) {
    return unsigned(float(number) * 255.0f + 0.5f);
}
inline unorm shade(unsigned steps) restrict(amp) {
    return unorm(float(int(steps & 127u) - 20) * 0.015625f);
}
inline unsigned units(float number) restrict(amp) {
    return unsigned(int(number * 128.0f));
}

// The captures of a kernel: views of the textures of `on`, and samplers.
#define REVAMP_COMPARE_TEXTURES                                                                                        \
    const texture_view<const unsigned, 1> line(on.line), other_line(on.other_line);                                    \
    const texture_view<const uint_4, 2> plane(on.plane);                                                               \
    const texture_view<const int_2, 3> block(on.block);                                                                \
    const texture_view<const unorm_4, 2> colours(on.colours), small_colours(on.colours, 1, 2);                         \
    const texture_view<const float_4, 2> numbers(on.numbers);                                                          \
    const texture_view<uint_4, 2> written(on.written);                                                                 \
    const texture_view<unorm_2, 1> shades(on.shades);                                                                  \
    const texture_view<float_2, 1> halves(on.halves);                                                                  \
    const texture_view<int, 1> counted(on.counted);                                                                    \
    const sampler wrapping(filter_linear, address_wrap), nearest(filter_point, address_mirror);                        \
    const sampled held = {numbers, wrapping},                                                                          \
                  bordered = {numbers, sampler(filter_linear, address_border, float_4(3.0f, 8.0f, 2.0f, 1.0f))}

template <class Domain, class Make>
void compare_textures(int kernel, bool inexact, const Domain &domain, const Make &make) {
    compare(kernel, inexact, [&](const accelerator_view &view) {
        textures &on = textures_on(view);
        on.restart();
        parallel_for_each(view, domain, make(on));
        on.finish();
    });
}
