//===============================================================================
//  The Cartoonizer of the C++ AMP book without its window: colour simplification and edge detection of a frame.
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
inline int ClipPixel(int x) restrict(amp, cpu) { return (x < 0) ? 0 : ((x > 255) ? 255 : x); }
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

    void Process(const std::vector<ArgbPackedPixel> &source, std::vector<ArgbPackedPixel> &destination, const extent<2> &size, int neighborWindow, int phases) {
        m_size = size;
        m_frame = std::unique_ptr<array<ArgbPackedPixel, 2>>(new array<ArgbPackedPixel, 2>(size, source.begin(), source.end()));
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
        parallel_for_each(inner, [=, &frame, &result](index<2> idx) restrict(amp) {
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
            if (fast_math::sqrt(vertical * vertical + horizontal * horizontal) > 60.0f)
                result[center] = 0xFF000000;
        });
    }
};

template <typename Source> ArgbPackedPixel SimplifyIndex(const Source &source, index<2> idx, int window, const FilterSettings &settings) restrict(amp, cpu) {
    const RgbPixel center = UnpackPixel(source(idx[0], idx[1]));
    float r = 0, g = 0, b = 0, total = 0;
    for (int y = -window; y <= window; ++y) {
        for (int x = -window; x <= window; ++x) {
            const RgbPixel other = UnpackPixel(source(idx[0] + y, idx[1] + x));
            const float distance = ImageUtils::GetDistance(center, other);
            const float k = settings.Sigma / (settings.Sigma + settings.SimplifierExponent * distance);
            r += k * other.r;
            g += k * other.g;
            b += k * other.b;
            total += k;
        }
    }
    RgbPixel rgb = {static_cast<unsigned int>(ImageUtils::ClipPixel(int(r / total + 0.5f))), static_cast<unsigned int>(ImageUtils::ClipPixel(int(g / total + 0.5f))),
                    static_cast<unsigned int>(ImageUtils::ClipPixel(int(b / total + 0.5f)))};
    return PackPixel(rgb);
}

class FrameProcessorAmpSimple : public FrameProcessorAmpBase {
public:
    void Simplify(int window) {
        array<ArgbPackedPixel, 2> &frame = *m_frame;
        array<ArgbPackedPixel, 2> &result = *m_result;
        const FilterSettings settings = m_settings;
        parallel_for_each(extent<2>(m_size[0] - 2 * window, m_size[1] - 2 * window), [=, &frame, &result](index<2> idx) restrict(amp) {
            const index<2> idc(idx[0] + window, idx[1] + window);
            result[idc] = SimplifyIndex(frame, idc, window, settings);
        });
    }
};

//  Each tile loads its pixels and the halo around them. The domain is padded: Direct3D forgives what is read outside of the frame.
class FrameProcessorAmpTiled : public FrameProcessorAmpBase {
    static const int TileSize = 8;
    static const int MaxWindow = 2;

    struct TileSource {
        const RgbPixel *pixels;
        int width;
        ArgbPackedPixel operator()(int y, int x) const restrict(amp, cpu) { return PackPixel(pixels[y * width + x]); }
    };

public:
    void Simplify(int window) {
        array<ArgbPackedPixel, 2> &frame = *m_frame;
        array<ArgbPackedPixel, 2> &result = *m_result;
        const FilterSettings settings = m_settings;
        const extent<2> size = m_size;
        tiled_extent<TileSize, TileSize> domain = size.tile<TileSize, TileSize>().pad();
        parallel_for_each(domain, [=, &frame, &result](tiled_index<TileSize, TileSize> tidx) restrict(amp) {
            const int side = TileSize + 2 * MaxWindow;
            tile_static RgbPixel pixels[side * side];
            const int width = TileSize + 2 * window;
            for (int i = tidx.local[0] * TileSize + tidx.local[1]; i < width * width; i += TileSize * TileSize) {
                // Outside of the frame at its borders.
                const index<2> from(tidx.tile_origin[0] - window + i / width, tidx.tile_origin[1] - window + i % width);
#if FORGIVING
                pixels[i] = UnpackPixel(frame[from]);
#else
                pixels[i] = size.contains(from) ? UnpackPixel(frame[from]) : RgbPixel();
#endif
            }
            tidx.barrier.wait();
            const int y = tidx.global[0], x = tidx.global[1];
            if (y >= window && y < size[0] - window && x >= window && x < size[1] - window) {
                TileSource tile = {pixels, width};
                result[tidx.global] = SimplifyIndex(tile, index<2>(tidx.local[0] + window, tidx.local[1] + window), window, settings);
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

    // The same on the CPU, with the same functions.
    std::vector<ArgbPackedPixel> frame(source), next(source);
    FilterSettings settings;
    for (int p = 0; p < phases; ++p) {
        auto at = [&](int y, int x) { return frame[y * size[1] + x]; };
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
        std::wcout << L"Frame processor " << version++ << L": " << edges << L" edge pixels, " << wrong << L" wrong pixels" << std::endl;
        if (wrong || edges < 100 || edges > 1500)
            ++failed;
    }
    return failed;
}
