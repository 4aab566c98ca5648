// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "Bitmap.h"
#include <functional>

namespace imaging
{
    using concurrency::array_view;
    using concurrency::extent;
    using concurrency::index;

    class Filter abstract //@ abstract
    {
    public:
        virtual ~Filter() {}
        virtual void Apply(Bitmap &bitmap) = 0;
        virtual LPCTSTR Name() const = 0; //@ LPCTSTR
    };

    class BoxBlur : public Filter
    {
    public:
        explicit BoxBlur(int radius) : m_radius(radius) {}
        virtual void Apply(Bitmap &bitmap) override;
        virtual LPCTSTR Name() const override { return _T("box blur"); } //@ LPCTSTR; _T(
    private:
        int m_radius;
    };

    class Grayscale : public Filter
    {
    public:
        virtual void Apply(Bitmap &bitmap) override;
        virtual LPCTSTR Name() const override { return TEXT("grayscale"); } //@ LPCTSTR; TEXT(
    };

    typedef std::function<void(int)> ProgressCallback;

    // Functions on packed pixels, for kernels and the host.
    inline unsigned int Pack(unsigned int r, unsigned int g, unsigned int b) restrict(amp, cpu)
    {
        return (r << 16) | (g << 8) | b;
    }

    inline float Luminance(unsigned int p) restrict(amp, cpu)
    {
        return 0.299f * ((p >> 16) & 0xFF) + 0.587f * ((p >> 8) & 0xFF) + 0.114f * (p & 0xFF);
    }

    inline int Clamp(int v, int lo, int hi) restrict(amp)
    {
        return concurrency::direct3d::clamp(v, lo, hi);
    }

    inline int Clamp(int v, int lo, int hi) restrict(cpu) //@ Clamp
    {
        return std::min(std::max(v, lo), hi);
    }
}
