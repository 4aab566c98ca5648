// The discrete cosine transform of 8 x 8 blocks with quantization, as in image codecs. Member functions of class
// templates launch the kernels.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;

static const int block_size = 8;

struct block_matrix {
    float elements[block_size][block_size];
};

// The orthonormal basis of cos((2 n + 1) k pi / 16)
block_matrix make_basis() {
    block_matrix m;
    for (int k = 0; k < block_size; ++k)
        for (int n = 0; n < block_size; ++n)
            m.elements[k][n] = (k == 0 ? std::sqrt(1.0f / block_size) : std::sqrt(2.0f / block_size)) *
                               std::cos((2 * n + 1) * k * 3.14159265f / (2 * block_size));
    return m;
}

class codec_base {
  protected:
    block_matrix m_basis;
    float m_quantum;
    codec_base(float quantum) : m_basis(make_basis()), m_quantum(quantum) {}

    float step(int y, int x) const restrict(amp, cpu) { return m_quantum * (1.0f + 0.25f * (x + y)); }
};

template <typename Pixel> class codec : public codec_base {
  public:
    typedef array_view<const Pixel, 2> source_view;
    typedef array_view<int, 2> coefficient_view;

    explicit codec(float quantum) : codec_base(quantum) {}

    void encode(const source_view &source, const coefficient_view &out) const {
        const codec self(*this);
        out.discard_data();
        parallel_for_each(
            source.extent.template tile<block_size, block_size>(), [=
        ](tiled_index<block_size, block_size> t) restrict(amp) {
                tile_static block_matrix pixels, rows;
                const int y = t.local[0], x = t.local[1];
                pixels.elements[y][x] = static_cast<float>(source[t]) - 128.0f;
                t.barrier.wait_with_tile_static_memory_fence();
                rows.elements[y][x] = self.dot_rows(pixels, self.m_basis, y, x);
                t.barrier.wait_with_tile_static_memory_fence();
                const float c = self.dot_columns(self.m_basis, rows, y, x);
                out[t] = static_cast<int>(fast_math::round(c / self.step(y, x)));
            });
    }

    void decode(const coefficient_view &coefficients, const array_view<Pixel, 2> &out) const {
        const codec self(*this);
        out.discard_data();
        const array_view<const int, 2> in(coefficients);
        parallel_for_each(
            in.extent.tile<block_size, block_size>(), [=](tiled_index<block_size, block_size> t) restrict(amp) {
                tile_static block_matrix values, rows;
                const int y = t.local[0], x = t.local[1];
                values.elements[y][x] = in[t.global] * self.step(y, x);
                t.barrier.wait();
                float sum = 0;
                for (int k = 0; k < block_size; ++k)
                    sum += values.elements[y][k] * self.m_basis.elements[k][x];
                rows.elements[y][x] = sum;
                t.barrier.wait();
                sum = 0;
                for (int k = 0; k < block_size; ++k)
                    sum += self.m_basis.elements[k][y] * rows.elements[k][x];
                out[t.global] = clamp(sum + 128.0f);
            });
    }

    std::vector<int> encode_cpu(const std::vector<Pixel> &source, int height, int width) const {
        std::vector<int> out(source.size());
        for (int by = 0; by < height; by += block_size)
            for (int bx = 0; bx < width; bx += block_size) {
                block_matrix pixels, rows;
                for (int y = 0; y < block_size; ++y)
                    for (int x = 0; x < block_size; ++x)
                        pixels.elements[y][x] = source[(by + y) * width + bx + x] - 128.0f;
                for (int y = 0; y < block_size; ++y)
                    for (int x = 0; x < block_size; ++x)
                        rows.elements[y][x] = dot_rows(pixels, m_basis, y, x);
                for (int y = 0; y < block_size; ++y)
                    for (int x = 0; x < block_size; ++x)
                        out[(by + y) * width + bx + x] =
                            static_cast<int>(std::round(dot_columns(m_basis, rows, y, x) / step(y, x)));
            }
        return out;
    }

  private:
    static float dot_rows(const block_matrix &a, const block_matrix &b, int y, int x) restrict(amp, cpu) {
        float sum = 0;
        for (int k = 0; k < block_size; ++k)
            sum += a.elements[y][k] * b.elements[x][k];
        return sum;
    }
    static float dot_columns(const block_matrix &a, const block_matrix &b, int y, int x) restrict(amp, cpu) {
        float sum = 0;
        for (int k = 0; k < block_size; ++k)
            sum += a.elements[y][k] * b.elements[k][x];
        return sum;
    }
    static Pixel clamp(float v) restrict(amp) {
        return static_cast<Pixel>(fast_math::fmin(fast_math::fmax(v, 0.0f), 255.0f));
    }
};

template <typename Pixel> int run(const char *name) {
    const int height = 32, width = 48;
    std::vector<Pixel> image(height * width), decoded(image.size());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            image[y * width + x] = static_cast<Pixel>(128 + 100 * std::sin(x * 0.2f) * std::cos(y * 0.15f));
    std::vector<int> coefficients(image.size());
    codec<Pixel> c(4.0f);
    array_view<const Pixel, 2> image_vw(height, width, image);
    array_view<int, 2> coefficients_vw(height, width, coefficients);
    array_view<Pixel, 2> decoded_vw(height, width, decoded);
    c.encode(image_vw, coefficients_vw);
    c.decode(coefficients_vw, decoded_vw);
    coefficients_vw.synchronize();
    decoded_vw.synchronize();
    const std::vector<int> expected = c.encode_cpu(image, height, width);
    int mismatches = 0, zero_count = 0;
    double squares = 0;
    for (size_t i = 0; i < image.size(); ++i) {
        mismatches += std::abs(coefficients[i] - expected[i]) > 1 ? 100 : coefficients[i] != expected[i];
        zero_count += coefficients[i] == 0;
        squares += (double(image[i]) - decoded[i]) * (double(image[i]) - decoded[i]);
    }
    const double psnr = 10 * std::log10(255.0 * 255.0 / (squares / image.size()));
    std::cout << name << ": " << zero_count << " zeros of " << image.size() << ", " << mismatches
              << " differ from the CPU's, PSNR " << psnr << std::endl;
    return mismatches < 10 && psnr > 35 && zero_count > int(image.size()) / 2 ? 0 : 1;
}

int main() {
    const int failed = run<float>("float") + run<int>("int") + run<unsigned>("unsigned");
    return failed ? 1 : 0;
}
