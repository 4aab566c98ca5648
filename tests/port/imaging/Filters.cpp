// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "pch.h"
#include "Filters.h"
#include <ppl.h> //@ ppl.h

using namespace concurrency;

namespace imaging
{

static std::vector<unsigned int> Packed(const Bitmap &bitmap)
{
    std::vector<unsigned int> result(bitmap.Pixels().size());
    // All cores copy in parallel.
    parallel_for(size_t(0), result.size(), [&](size_t i) { //@ parallel_for
        const Pixel &p = bitmap.Pixels()[i];
        result[i] = RGB(p.b, p.g, p.r); //@ RGB
    });
    return result;
}

static void Unpacked(const std::vector<unsigned int> &values, Bitmap &bitmap)
{
    for (size_t i = 0; i < values.size(); i++)
    {
        Pixel &p = bitmap.Pixels()[i];
        p.r = GetRValue(values[i]); //@ GetRValue
        p.g = LOBYTE(values[i] >> 8); //@ LOBYTE
        p.b = LOBYTE(LOWORD(values[i])); //@ LOBYTE; LOWORD
        p.a = HIBYTE(HIWORD(values[i])); //@ HIBYTE; HIWORD
    }
}

void BoxBlur::Apply(Bitmap &bitmap)
{
    const int width = bitmap.GetWidth(), height = bitmap.GetHeight();
    std::vector<unsigned int> source = Packed(bitmap), target(source.size());
    array_view<const unsigned int, 2> in(height, width, source);
    array_view<unsigned int, 2> out(height, width, target);
    out.discard_data();
    const int radius = m_radius;
    static const int tile = 16;
    parallel_for_each(out.extent.tile<tile, tile>().pad(), [=](tiled_index<tile, tile> t) restrict(amp) {
        tile_static unsigned int local[tile][tile];
        const int y = t.global[0], x = t.global[1];
        local[t.local[0]][t.local[1]] = y < height && x < width ? in(y, x) : 0;
        t.barrier.wait();
        unsigned int r = 0, g = 0, b = 0, n = 0;
        for (int dy = -radius; dy <= radius; dy++)
        {
            for (int dx = -radius; dx <= radius; dx++)
            {
                unsigned int p = in(Clamp(y + dy, 0, height - 1), Clamp(x + dx, 0, width - 1));
                r += (p >> 16) & 0xFF;
                g += (p >> 8) & 0xFF;
                b += p & 0xFF;
                n++;
            }
        }
        if (y < height && x < width)
            out[t.global] = Pack(r / n, g / n, b / n);
    });
    out.synchronize();
    Unpacked(target, bitmap);
}

void Grayscale::Apply(Bitmap &bitmap)
{
    std::vector<unsigned int> pixels = Packed(bitmap);
    array_view<unsigned int, 1> view((int)pixels.size(), pixels);
    try
    {
        parallel_for_each(view.extent, [=](index<1> i) restrict(amp) {
            const unsigned int l = static_cast<unsigned int>(Luminance(view[i]));
            view[i] = Pack(l, l, l);
        });
        view.synchronize();
    }
    catch (const concurrency::runtime_exception &e)
    {
        HRESULT hr = e.get_error_code();
        TCHAR text[256]; //@ TCHAR
        StringCchPrintf(text, _countof(text), _T("error 0x%08X"), hr); //@ StringCchPrintf; _countof; _T(
        OutputDebugString(text); //@ OutputDebugString
        throw;
    }
    Unpacked(pixels, bitmap);
}

} // namespace imaging
