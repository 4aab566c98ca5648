// Rays through a volume: a texture of three dimensions, sampled between its texels, as scanners of bodies are shown.
// `volume [OUT.ppm]` writes the picture.
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

static const int side = 64, width = 256, height = 256, steps = 96;

// A ball and a ring around it: how dense it is there, of coordinates from 0 to 1.
inline float density(float x, float y, float z) restrict(amp) {
    const float dx = x - 0.5f, dy = y - 0.5f, dz = z - 0.5f;
    const float ball = 0.2f - fast_math::sqrt(dx * dx + dy * dy + dz * dz);
    const float far = fast_math::sqrt(dx * dx + dz * dz) - 0.36f;
    const float ring = 0.08f - fast_math::sqrt(far * far + dy * dy);
    return fast_math::fmax(0.0f, fast_math::fmin(1.0f, 8.0f * fast_math::fmax(ball, ring) + 0.5f));
}

int main(int argc, char **argv) {
    // One component of 8 bits: a megabyte for 100 x 100 x 100.
    texture<unorm, 3> volume(extent<3>(side, side, side), 8U);
    const texture_view<unorm, 3> filled(volume);
    parallel_for_each(
        filled.extent, [=](index<3> i) restrict(amp) {
            const float scale = 1.0f / float(side);
            filled.set(i, unorm(density((float(i[2]) + 0.5f) * scale, (float(i[1]) + 0.5f) * scale,
                                        (float(i[0]) + 0.5f) * scale)));
        });

    // Outside there is nothing: the border is black.
    const sampler smooth(filter_linear, address_border, float_4(0.0f));
    const texture_view<const unorm, 3> scanned(volume);
    std::vector<float> light(width * height);
    array_view<float, 2> picture(height, width, light);
    picture.discard_data();
    parallel_for_each(
        picture.extent, [=](index<2> i) restrict(amp) {
            // A turned box, looked at from the front.
            const float c = 0.8f, s = 0.6f;
            const float u = (float(i[1]) + 0.5f) / float(width) - 0.5f, v = 0.5f - (float(i[0]) + 0.5f) / float(height);
            float left = 1.0f, sum = 0.0f;
            for (int n = 0; n < steps; n++) {
                const float depth = (float(n) + 0.5f) / float(steps) * 1.6f - 0.8f;
                const float y = c * v - s * depth, z = s * v + c * depth;
                // x of the coordinates runs along the last component of an index.
                const float_3 at(u * 1.2f + 0.5f, y * 1.2f + 0.5f, z * 1.2f + 0.5f);
                const float dense = float(scanned.sample(smooth, at)) * 0.12f;
                const float above = scanned.sample(smooth, at + float_3(0.0f, 0.02f, 0.0f));
                sum += left * dense * (1.2f - above);
                left *= 1.0f - dense;
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
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width / 2; x++)
            worst = std::max(worst, std::abs(light[std::size_t(y) * width + std::size_t(x)] -
                                             light[std::size_t(y) * width + std::size_t(width - 1 - x)]));
    const bool right = middle > 0.3f && light.front() == 0.0f && light.back() == 0.0f && worst < 0.01f;
    std::cout << (right ? "right" : "wrong") << ": " << middle << " in the middle, left and right differ by " << worst
              << "\n";
    return right && file.good() ? 0 : 1;
}
