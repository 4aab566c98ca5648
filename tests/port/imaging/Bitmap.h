// Bitmap.h: a picture with 32 bits per pixel in memory, and its file format.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once

#include "pch.h"

#ifdef IMAGING_EXPORTS
#define IMAGING_API __declspec(dllexport) //@ dllexport
#else
#define IMAGING_API __declspec(dllimport) //@ dllimport
#endif

namespace imaging
{
    struct Pixel
    {
        BYTE b, g, r, a; //@ BYTE
    };

    enum class Format : BYTE //@ BYTE
    {
        Unknown = 0,
        Bgr24,
        Bgra32
    };

#pragma pack(push, 1)
    struct TileHeader
    {
        WORD  magic;   //@ WORD
        DWORD size;    //@ DWORD
        INT16 level;   //@ INT16
        __int64 offset; //@ __int64
    };
#pragma pack(pop)

    __interface IProgress //@ __interface
    {
        void OnProgress(int percent);
    };

    class IMAGING_API Bitmap sealed //@ sealed
    {
    public:
        Bitmap();
        Bitmap(UINT width, UINT height);
        explicit Bitmap(LPCWSTR path); //@ LPCWSTR
        virtual ~Bitmap();

        bool Load(const std::wstring &path);
        bool Save(const std::wstring &path) const;

        __declspec(property(get = GetWidth)) UINT Width;   //@ property
        __declspec(property(get = GetHeight)) UINT Height; //@ property

        UINT GetWidth() const { return m_width; }
        UINT GetHeight() const { return m_height; }
        __forceinline Pixel &At(UINT x, UINT y) { return m_pixels[y * m_width + x]; } //@ __forceinline
        const std::vector<Pixel> &Pixels() const { return m_pixels; }
        std::vector<Pixel> &Pixels() { return m_pixels; }
        void Swap(Bitmap &other);
        bool IsEmpty() const { return m_pixels.empty(); }

    private:
        UINT m_width, m_height;
        std::vector<Pixel> m_pixels;
        mutable DWORD m_lastError; //@ DWORD
    };

    IMAGING_API std::string Narrow(const std::wstring &text);
    IMAGING_API std::wstring Widen(const std::string &text);
}
