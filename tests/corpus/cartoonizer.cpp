//===============================================================================
//  The Cartoonizer of the C++ AMP book, without a window: colour simplification and edge detection of a frame.
//===============================================================================
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <iostream>
#include <memory>
#include <vector>

using namespace concurrency;

typedef unsigned long ArgbPackedPixel;

struct RgbPixel {
    unsigned int r;
    unsigned int g;
    unsigned int b;
};

const int fixedAlpha = 0xFF;
const float Wr = 0.299f;
const float Wb = 0.114f;
const float wg = 1.0f - Wr - Wb;

inline ArgbPackedPixel PackPixel(const RgbPixel &rgb) restrict(amp, cpu) {
    return (rgb.b | (rgb.g << 8) | (rgb.r << 16) | (fixedAlpha << 24));
}

inline RgbPixel UnpackPixel(const ArgbPackedPixel &packedArgb) restrict(amp, cpu) {
    RgbPixel rgb;
    rgb.b = packedArgb & 0xFF;
    rgb.g = (packedArgb & 0xFF00) >> 8;
    rgb.r = (packedArgb & 0xFF0000) >> 16;
    return rgb;
}

namespace ImageUtils {
inline void RGBToYUV(const RgbPixel &pixel, float &y, float &u, float &v) restrict(amp, cpu) {
    y = Wr * pixel.r + wg * pixel.g + Wb * pixel.b;
    u = 0.436f * (pixel.b - y) / (1 - Wb);
    v = 0.615f * (pixel.r - y) / (1 - Wr);
}
inline float GetDistance(const RgbPixel &pixel1, const RgbPixel &pixel2) restrict(amp, cpu) {
    float y1, u1, v1, y2, u2, v2;
    RGBToYUV(pixel1, y1, u1, v1);
    RGBToYUV(pixel2, y2, u2, v2);
    const float y = y1 - y2, u = u1 - u2, v = v1 - v2;
    return y * y + u * u + v * v;
}
inline int ClipPixel(int x) restrict(amp, cpu) {
    return (x < 0) ? 0 : ((x > 255) ? 255 : x);
}
} // namespace ImageUtils

class FilterSettings {
  public:
    float SimplifierExponent;
    float Sigma;
    FilterSettings() : SimplifierExponent(1.5f), Sigma(2000.0f) {}
};

class FrameProcessorAmpBase {
  protected:
    std::unique_ptr<array<ArgbPackedPixel, 2>> m_frame;
    std::unique_ptr<array<ArgbPackedPixel, 2>> m_result;
    FilterSettings m_settings;
    extent<2> m_size;

  public:
    virtual void Simplify(int neighborWindow) = 0;
    virtual ~FrameProcessorAmpBase() {}

    void Process(const std::vector<ArgbPackedPixel> &source, std::vector<ArgbPackedPixel> &destination,
                 const extent<2> &size, int neighborWindow, int phases) {
        m_size = size;
        m_frame = std::unique_ptr<array<ArgbPackedPixel, 2>>(
            new array<ArgbPackedPixel, 2>(size, source.begin(), source.end()));
        m_result.reset(new array<ArgbPackedPixel, 2>(size));
        copy(*m_frame, *m_result);
        for (int i = 0; i < phases; ++i) {
            Simplify(neighborWindow);
            std::swap(m_frame, m_result);
        }
        copy(*m_frame, *m_result);
        DetectEdge();
        copy(*m_result, destination.begin());
    }

    void DetectEdge() {
        array<ArgbPackedPixel, 2> &frame = *m_frame;
        array<ArgbPackedPixel, 2> &result = *m_result;
        const extent<2> inner(m_size[0] - 2, m_size[1] - 2);
        parallel_for_each(
            inner, [ =, &frame, &result ](index<2> idx) restrict(amp) {
                const index<2> center = idx + index<2>(1, 1);
                float vertical = 0.0f, horizontal = 0.0f;
                for (int d = -1; d <= 1; ++d) {
                    const int weight = d == 0 ? 2 : 1;
                    float y0, y1, u, v;
                    ImageUtils::RGBToYUV(UnpackPixel(frame(center[0] + d, center[1] - 1)), y0, u, v);
                    ImageUtils::RGBToYUV(UnpackPixel(frame(center[0] + d, center[1] + 1)), y1, u, v);
                    vertical += weight * (y1 - y0);
                    ImageUtils::RGBToYUV(UnpackPixel(frame(center[0] - 1, center[1] + d)), y0, u, v);
                    ImageUtils::RGBToYUV(UnpackPixel(frame(center[0] + 1, center[1] + d)), y1, u, v);
                    horizontal += weight * (y1 - y0);
                }
                if (fast_math::sqrt(vertical * vertical + horizontal * horizontal) > 60.0f) result[center] = 0xFF000000;
            });
    }
};

// The weighted average of a pixel's neighbours. The caller reads the neighbours from a frame or from a tile.
class Simplifier {
    RgbPixel m_center;
    float m_r, m_g, m_b, m_total;

  public:
    explicit Simplifier(const RgbPixel &center) restrict(amp, cpu)
        : m_center(center), m_r(0), m_g(0), m_b(0), m_total(0) {}
    void Add(const RgbPixel &other, const FilterSettings &settings) restrict(amp, cpu) {
        const float distance = ImageUtils::GetDistance(m_center, other);
        const float k = settings.Sigma / (settings.Sigma + settings.SimplifierExponent * distance);
        m_r += k * other.r;
        m_g += k * other.g;
        m_b += k * other.b;
        m_total += k;
    }
    ArgbPackedPixel Result() const restrict(amp, cpu) {
        RgbPixel rgb;
        rgb.r = ImageUtils::ClipPixel(int(m_r / m_total + 0.5f));
        rgb.g = ImageUtils::ClipPixel(int(m_g / m_total + 0.5f));
        rgb.b = ImageUtils::ClipPixel(int(m_b / m_total + 0.5f));
        return PackPixel(rgb);
    }
};

template <typename Frame>
ArgbPackedPixel SimplifyIndex(const Frame &frame, index<2> idx, int window,
                              const FilterSettings &settings) restrict(amp, cpu) {
    Simplifier simplifier(UnpackPixel(frame(idx[0], idx[1])));
    for (int y = -window; y <= window; ++y)
        for (int x = -window; x <= window; ++x)
            simplifier.Add(UnpackPixel(frame(idx[0] + y, idx[1] + x)), settings);
    return simplifier.Result();
}

ArgbPackedPixel SimplifyIndexTiled(const RgbPixel *pixels, int width, index<2> idx, int window,
                                   const FilterSettings &settings) restrict(amp) {
    Simplifier simplifier(pixels[idx[0] * width + idx[1]]);
    for (int y = -window; y <= window; ++y)
        for (int x = -window; x <= window; ++x)
            simplifier.Add(pixels[(idx[0] + y) * width + idx[1] + x], settings);
    return simplifier.Result();
}

class FrameProcessorAmpSimple : public FrameProcessorAmpBase {
  public:
    void Simplify(int window) {
        array<ArgbPackedPixel, 2> &frame = *m_frame;
        array<ArgbPackedPixel, 2> &result = *m_result;
        const FilterSettings settings = m_settings;
        parallel_for_each(
            extent<2>(m_size[0] - 2 * window, m_size[1] - 2 * window),
            [ =, &frame, &result ](index<2> idx) restrict(amp) {
                const index<2> idc(idx[0] + window, idx[1] + window);
                result[idc] = SimplifyIndex(frame, idc, window, settings);
            });
    }
};

//  Each tile loads its pixels and the halo around them. The domain is padded, so tiles at the borders check
//  that a pixel is inside the frame.
class FrameProcessorAmpTiled : public FrameProcessorAmpBase {
    static const int TileSize = 8;
    static const int MaxWindow = 2;

  public:
    void Simplify(int window) {
        array<ArgbPackedPixel, 2> &frame = *m_frame;
        array<ArgbPackedPixel, 2> &result = *m_result;
        const FilterSettings settings = m_settings;
        const extent<2> size = m_size;
        tiled_extent<TileSize, TileSize> domain = size.tile<TileSize, TileSize>().pad();
        parallel_for_each(
            domain, [ =, &frame, &result ](tiled_index<TileSize, TileSize> tidx) restrict(amp) {
                const int side = TileSize + 2 * MaxWindow;
                tile_static RgbPixel pixels[side * side];
                const int width = TileSize + 2 * window;
                for (int i = tidx.local[0] * TileSize + tidx.local[1]; i < width * width; i += TileSize * TileSize) {
                    // Tiles at the borders of the frame reach outside of it.
                    const index<2> from(tidx.tile_origin[0] - window + i / width,
                                        tidx.tile_origin[1] - window + i % width);
                    pixels[i] = size.contains(from) ? UnpackPixel(frame[from]) : RgbPixel();
                }
                tidx.barrier.wait();
                const int y = tidx.global[0], x = tidx.global[1];
                if (y >= window && y < size[0] - window && x >= window && x < size[1] - window) {
                    const index<2> at(tidx.local[0] + window, tidx.local[1] + window);
                    result[tidx.global] = SimplifyIndexTiled(pixels, width, at, window, settings);
                }
            });
    }
};

int main() {
    const extent<2> size(42, 52);
    const int window = 2, phases = 2;
    std::vector<ArgbPackedPixel> source(size.size());
    for (int y = 0; y < size[0]; ++y) {
        for (int x = 0; x < size[1]; ++x) {
            RgbPixel rgb = {unsigned((x * 5) & 0xFF), unsigned((y * 6) & 0xFF), (x / 8 + y / 8) % 2 ? 230u : 20u};
            source[y * size[1] + x] = PackPixel(rgb);
        }
    }

    // Simplifies the frame on the CPU, with the same functions.
    std::vector<ArgbPackedPixel> frame(source), next(source);
    FilterSettings settings;
    for (int p = 0; p < phases; ++p) {
        array_view<const ArgbPackedPixel, 2> at(size, frame);
        for (int y = window; y < size[0] - window; ++y)
            for (int x = window; x < size[1] - window; ++x)
                next[y * size[1] + x] = SimplifyIndex(at, index<2>(y, x), window, settings);
        std::swap(frame, next);
    }

    int failed = 0, version = 0;
    std::vector<std::unique_ptr<FrameProcessorAmpBase>> processors;
    processors.push_back(std::unique_ptr<FrameProcessorAmpBase>(new FrameProcessorAmpSimple()));
    processors.push_back(std::unique_ptr<FrameProcessorAmpBase>(new FrameProcessorAmpTiled()));
    for (auto &processor : processors) {
        std::vector<ArgbPackedPixel> result(size.size());
        processor->Process(source, result, size, window, phases);
        int edges = 0, wrong = 0;
        for (int i = 0; i < int(size.size()); ++i) {
            const RgbPixel a = UnpackPixel(result[i]), b = UnpackPixel(frame[i]);
            if (a.r == 0 && a.g == 0 && a.b == 0)
                ++edges;
            else if (abs(int(a.r - b.r)) > 1 || abs(int(a.g - b.g)) > 1 || abs(int(a.b - b.b)) > 1)
                ++wrong;
        }
        std::wcout << L"Frame processor " << version++ << L": " << edges << L" edge pixels, " << wrong
                   << L" wrong pixels" << std::endl;
        if (wrong || edges < 100 || edges > 1500) ++failed;
    }
    return failed;
}
