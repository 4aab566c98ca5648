// Runs filters on textures of a picture: a Gaussian blur, the edges of the blurred picture (Sobel), and a cartoon made
// from the blurred picture and its edges. Then draws all mipmap levels of the cartoon. Usage:
// `image_filters [IN.png [OUT.png]]`. Without IN, the program generates a picture.
//
// Colours are unorm_4 of 8 bits: kernels see numbers from 0 to 1, and writes are rounded. Outside the picture the
// sampler repeats its edge. The stb headers (Debian: libstb-dev) read and write PNG.
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

typedef texture<unorm_4, 2> picture;

struct gauss {
    static const int radius = 5;
    float weights[radius + 1];

    explicit gauss(float sigma) {
        float sum = 0.0f;
        for (int i = 0; i <= radius; i++) {
            weights[i] = std::exp(-float(i * i) / (2.0f * sigma * sigma));
            sum += i == 0 ? weights[i] : 2.0f * weights[i];
        }
        for (float &weight : weights)
            weight /= sum;
    }
};

// The colour at a texel; outside the picture, the colour of the nearest texel.
inline float_4 colour(const texture_view<const unorm_4, 2> &from, index<2> at) restrict(amp) {
    const float_2 coordinates((float(at[1]) + 0.5f) / float(from.extent[1]),
                              (float(at[0]) + 0.5f) / float(from.extent[0]));
    return float_4(from.sample<filter_point, address_clamp>(coordinates));
}

inline float brightness(const float_4 &c) restrict(amp, cpu) {
    return 0.299f * c.r + 0.587f * c.g + 0.114f * c.b;
}

void blur(const picture &from, picture &to, const gauss &g, index<2> step) {
    const texture_view<const unorm_4, 2> source(from);
    const texture_view<unorm_4, 2> target(to);
    parallel_for_each(
        target.extent, [=](index<2> i) restrict(amp) {
            float_4 sum = colour(source, i) * g.weights[0];
            for (int n = 1; n <= gauss::radius; n++)
                sum += (colour(source, i + step * n) + colour(source, i - step * n)) * g.weights[n];
            target.set(i, unorm_4(sum.r, sum.g, sum.b, sum.a));
        });
}

// Computes the gradient of the brightness. A texel of the result is one float of 16 bits.
void sobel(const picture &from, texture<float, 2> &to) {
    const texture_view<const unorm_4, 2> source(from);
    const texture_view<float, 2> target(to);
    parallel_for_each(
        target.extent, [=](index<2> i) restrict(amp) {
            float neighbours[3][3];
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 3; x++)
                    neighbours[y][x] = brightness(colour(source, i + index<2>(y - 1, x - 1)));
            const float gx = neighbours[0][2] + 2.0f * neighbours[1][2] + neighbours[2][2] - neighbours[0][0] -
                             2.0f * neighbours[1][0] - neighbours[2][0];
            const float gy = neighbours[2][0] + 2.0f * neighbours[2][1] + neighbours[2][2] - neighbours[0][0] -
                             2.0f * neighbours[0][1] - neighbours[0][2];
            target.set(i, fast_math::sqrt(gx * gx + gy * gy));
        });
}

// Draws the picture with few colours, and dark lines where the gradient is steep.
void cartoon(const picture &from, const texture<float, 2> &edges, picture &to) {
    const writeonly_texture_view<unorm_4, 2> target(to);
    parallel_for_each(
        target.extent, [ =, &from, &edges ](index<2> i) restrict(amp) {
            const float steps = 5.0f;
            float_4 c = float_4(from[i]) * steps;
            c = float_4(fast_math::floor(c.r + 0.5f), fast_math::floor(c.g + 0.5f), fast_math::floor(c.b + 0.5f),
                        0.0f) /
                steps;
            const float line = edges[i] > 0.6f ? 0.1f : 1.0f;
            c *= line;
            target.set(i, unorm_4(c.r, c.g, c.b, float(from[i].a)));
        });
}

// Makes each mipmap level from the previous level. A texel is one filtered sample in the middle of four texels.
void make_mipmaps(picture &levels) {
    for (unsigned level = 1; level < levels.mipmap_levels; level++) {
        const texture_view<const unorm_4, 2> finer(levels, level - 1, 1);
        const texture_view<unorm_4, 2> coarser(levels, level);
        parallel_for_each(
            coarser.extent, [=](index<2> i) restrict(amp) {
                const float_2 coordinates((float(i[1]) + 0.5f) / float(coarser.extent[1]),
                                          (float(i[0]) + 0.5f) / float(coarser.extent[0]));
                coarser.set(i, finer.sample<filter_linear, address_clamp>(coordinates));
            });
    }
}

// Draws level 0, and to its right all other levels, one below the other.
void draw_levels(const picture &levels, picture &to) {
    const texture_view<const unorm_4, 2> source(levels);
    const texture_view<unorm_4, 2> target(to);
    parallel_for_each(
        target.extent, [=](index<2> i) restrict(amp) {
            unorm_4 c(0.0f, 0.0f, 0.0f, 1.0f);
            index<2> from = i;
            for (unsigned level = 0; level < source.mipmap_levels; level++) {
                const extent<2> size = source.get_mipmap_extent(level);
                if (size.contains(from)) c = source.get(from, level);
                // Level 1 is to the right of level 0, further levels below it.
                if (level == 0)
                    from[1] -= size[1];
                else
                    from[0] -= size[0];
            }
            target.set(i, c);
        });
}

std::vector<unsigned char> texels(const picture &of) {
    std::vector<unsigned char> bytes(of.data_length);
    copy(of, bytes.data(), unsigned(bytes.size()));
    return bytes;
}

void write_png(const std::string &name, const picture &what) {
    const int width = what.extent[1];
    if (!stbi_write_png(name.c_str(), width, what.extent[0], 4, texels(what).data(), 4 * width)) {
        std::cerr << "cannot write " << name << "\n";
        std::exit(1);
    }
    std::cout << name << "\n";
}

// Generates a picture of rings and a bright disc.
std::vector<unsigned char> generated_picture(int width, int height) {
    std::vector<unsigned char> bytes;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double dx = x - width * 0.4, dy = y - height * 0.6, distance = std::sqrt(dx * dx + dy * dy);
            const double ring = 0.5 + 0.5 * std::sin(distance / 9.0);
            const bool disc = (x - width * 0.75) * (x - width * 0.75) + (y - height * 0.3) * (y - height * 0.3) < 1600;
            for (const double component :
                 {disc ? 1.0 : ring, disc ? 0.8 : ring * x / width, disc ? 0.2 : 1.0 - ring, 1.0})
                bytes.push_back(static_cast<unsigned char>(component * 255));
        }
    return bytes;
}

// Blurs the red component along rows on the host. Returns the largest difference from `got`, in steps of 1/255.
int difference(const std::vector<unsigned char> &from, const std::vector<unsigned char> &got, int width, int height,
               const gauss &g) {
    int worst = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int n = -gauss::radius; n <= gauss::radius; n++) {
                const int at = x + n < 0 ? 0 : x + n < width ? x + n : width - 1;
                sum += from[std::size_t(y * width + at) * 4] * double(g.weights[std::abs(n)]);
            }
            worst = std::max(worst, std::abs(got[std::size_t(y * width + x) * 4] - int(sum + 0.5)));
        }
    return worst;
}

int main(int argc, char **argv) {
    int width = 320, height = 240;
    std::vector<unsigned char> bytes;
    if (argc > 1) {
        unsigned char *const read = stbi_load(argv[1], &width, &height, nullptr, 4);
        if (!read) {
            std::cerr << "cannot read " << argv[1] << ": " << stbi_failure_reason() << "\n";
            return 1;
        }
        bytes.assign(read, read + std::size_t(width) * std::size_t(height) * 4);
        stbi_image_free(read);
    } else {
        bytes = generated_picture(width, height);
    }
    std::string out = argc > 2 ? argv[2] : "image_filters.png";
    const std::string name = out.substr(0, out.rfind('.'));

    const picture source(height, width, bytes.data(), unsigned(bytes.size()), 8U);
    picture rows(source.extent, 8U), blurred(source.extent, 8U), drawn(source.extent, 8U);
    texture<float, 2> edges(source.extent, 16U);
    const gauss g(2.0f);
    blur(source, rows, g, index<2>(0, 1));
    blur(rows, blurred, g, index<2>(1, 0));
    sobel(blurred, edges);
    cartoon(blurred, edges, drawn);
    write_png(out, drawn);

    picture levels(source.extent, 8U, 0U), sheet(height, width + width / 2, 8U);
    copy(drawn, texture_view<unorm_4, 2>(levels, 0));
    make_mipmaps(levels);
    draw_levels(levels, sheet);
    write_png(name + "_levels.png", sheet);

    const int worst = difference(bytes, texels(rows), width, height, g);
    // The last level is about the mean of all texels, because each level rounds.
    const std::vector<unsigned char> last_level = texels(levels), whole = texels(drawn);
    double mean = 0;
    for (std::size_t i = 0; i < whole.size(); i += 4)
        mean += whole[i] * 4.0 / double(whole.size());
    const bool right = worst <= 1 && (argc > 1 || std::abs(last_level[last_level.size() - 4] - mean) < 12);
    std::cout << (right ? "right" : "wrong") << ": blurred to within " << worst << "/255, mean " << mean
              << ", last level " << int(last_level[last_level.size() - 4]) << "\n";
    return right ? 0 : 1;
}
