// Draws a volume by ray casting, as for medical scans. The volume is a three-dimensional texture, and samples are
// interpolated between texels. Usage: `volume [OUT.ppm]` writes the picture.
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

static const int volume_size = 64, width = 256, height = 256, steps = 96;

// The density of a ball and a ring around it, at coordinates from 0 to 1.
inline float density(float x, float y, float z) restrict(amp) {
    const float dx = x - 0.5f, dy = y - 0.5f, dz = z - 0.5f;
    const float ball = 0.2f - fast_math::sqrt(dx * dx + dy * dy + dz * dz);
    const float radial_offset = fast_math::sqrt(dx * dx + dz * dz) - 0.36f;
    const float ring = 0.08f - fast_math::sqrt(radial_offset * radial_offset + dy * dy);
    return fast_math::fmax(0.0f, fast_math::fmin(1.0f, 8.0f * fast_math::fmax(ball, ring) + 0.5f));
}

int main(int argc, char **argv) {
    // A texel has one component of 8 bits, so the volume takes 256 KiB.
    texture<unorm, 3> volume(extent<3>(volume_size, volume_size, volume_size), 8U);
    const texture_view<unorm, 3> filled(volume);
    parallel_for_each(
        filled.extent, [=](index<3> i) restrict(amp) {
            const float scale = 1.0f / float(volume_size);
            filled.set(i, unorm(density((float(i[2]) + 0.5f) * scale, (float(i[1]) + 0.5f) * scale,
                                        (float(i[0]) + 0.5f) * scale)));
        });

    // Outside, the volume is empty: the border is black.
    const sampler smooth(filter_linear, address_border, float_4(0.0f));
    const texture_view<const unorm, 3> scanned(volume);
    std::vector<float> light(width * height);
    array_view<float, 2> picture(height, width, light);
    picture.discard_data();
    parallel_for_each(
        picture.extent, [=](index<2> i) restrict(amp) {
            // The box is rotated and seen from the front.
            const float c = 0.8f, s = 0.6f;
            const float u = (float(i[1]) + 0.5f) / float(width) - 0.5f, v = 0.5f - (float(i[0]) + 0.5f) / float(height);
            float transmittance = 1.0f, sum = 0.0f;
            for (int n = 0; n < steps; n++) {
                const float depth = (float(n) + 0.5f) / float(steps) * 1.6f - 0.8f;
                const float y = c * v - s * depth, z = s * v + c * depth;
                // The coordinate x belongs to the last component of an index.
                const float_3 at(u * 1.2f + 0.5f, y * 1.2f + 0.5f, z * 1.2f + 0.5f);
                const float opacity = float(scanned.sample(smooth, at)) * 0.12f;
                const float density_above = scanned.sample(smooth, at + float_3(0.0f, 0.02f, 0.0f));
                sum += transmittance * opacity * (1.2f - density_above);
                transmittance *= 1.0f - opacity;
            }
            picture[i] = sum;
        });
    picture.synchronize();

    std::ofstream file(argc > 1 ? argv[1] : "volume.ppm", std::ios::binary);
    file << "P6\n" << width << " " << height << "\n255\n";
    for (const float value : light) {
        const char grey = static_cast<char>(static_cast<unsigned char>(255.0f * std::min(1.0f, std::max(0.0f, value))));
        file.put(grey).put(grey).put(grey);
    }

    // The middle is the ball, the corners are empty, and left and right are alike.
    const float middle = light[std::size_t(height / 2) * width + width / 2];
    float worst = 0.0f;
    bool right = middle > 0.3f && light.front() == 0.0f && light.back() == 0.0f;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width / 2; x++) {
            const float difference = std::abs(light[std::size_t(y) * width + std::size_t(x)] -
                                              light[std::size_t(y) * width + std::size_t(width - 1 - x)]);
            worst = std::max(worst, difference);
            right &= difference < 0.01f;
        }
    std::cout << (right ? "right" : "wrong") << ": " << middle << " in the middle, left and right differ by " << worst
              << "\n";
    return right && file.good() ? 0 : 1;
}
