// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "pch.h"
#include "Bitmap.h"

#pragma warning(disable : 4996) //@ #pragma warning

namespace imaging
{

Bitmap::Bitmap() : m_width(0), m_height(0), m_lastError(ERROR_SUCCESS) {} //@ ERROR_SUCCESS

Bitmap::Bitmap(UINT width, UINT height)
    : m_width(width), m_height(height), m_pixels(width * height), m_lastError(ERROR_SUCCESS) //@ ERROR_SUCCESS
{
}

Bitmap::Bitmap(LPCWSTR path) : Bitmap() //@ LPCWSTR
{
    if (!Load(path))
        throw std::exception("the bitmap cannot be loaded"); //@ exception(
}

Bitmap::~Bitmap() {}

void Bitmap::Swap(Bitmap &other)
{
    std::swap(m_width, other.m_width);
    std::swap(m_height, other.m_height);
    m_pixels.swap(other.m_pixels);
}

bool Bitmap::Load(const std::wstring &path)
{
    std::ifstream file(path, std::ios::binary); //@ ifstream
    if (!file)
    {
        m_lastError = GetLastError(); //@ GetLastError
        return false;
    }
    BITMAPFILEHEADER header;     //@ BITMAPFILEHEADER
    BITMAPINFOHEADER info = {0}; //@ BITMAPINFOHEADER
    ZeroMemory(&header, sizeof(header)); //@ ZeroMemory
    file.read(reinterpret_cast<char *>(&header), sizeof(header));
    file.read(reinterpret_cast<char *>(&info), sizeof(info));
    if (header.bfType != MAKEWORD('B', 'M')) //@ MAKEWORD
    {
        OutputDebugStringW(L"not a bitmap\n"); //@ OutputDebugStringW
        return false;
    }
    if (info.biCompression != BI_RGB) //@ BI_RGB
    {
        SetLastError(ERROR_NOT_SUPPORTED); //@ SetLastError; ERROR_NOT_SUPPORTED
        return false;
    }
    m_width = info.biWidth;
    m_height = abs(info.biHeight);
    const UINT stride = ((m_width * 3) + 3) & ~3u;
    std::vector<BYTE> row(stride); //@ BYTE
    m_pixels.resize(m_width * m_height);
    file.seekg(header.bfOffBits);
    for (UINT y = 0; y < m_height; ++y)
    {
        file.read((char *)row.data(), row.size());
        for (UINT x = 0; x < m_width; ++x)
        {
            Pixel &p = At(x, m_height - 1 - y);
            p.b = row[3 * x];
            p.g = row[3 * x + 1];
            p.r = row[3 * x + 2];
            p.a = 0xFF;
        }
    }
    return true;
}

bool Bitmap::Save(const std::wstring &path) const
{
    FILE *file = nullptr;
    if (_wfopen_s(&file, path.c_str(), L"wb") != 0) //@ _wfopen_s
        return false;
    BITMAPFILEHEADER header = {}; //@ BITMAPFILEHEADER
    BITMAPINFOHEADER info = {};   //@ BITMAPINFOHEADER
    const DWORD stride = ((m_width * 3) + 3) & ~3u; //@ DWORD
    header.bfType = 0x4D42;
    header.bfOffBits = sizeof(header) + sizeof(info);
    header.bfSize = header.bfOffBits + stride * m_height;
    info.biSize = sizeof(info);
    info.biWidth = static_cast<LONG>(m_width); //@ LONG
    info.biHeight = static_cast<LONG>(m_height); //@ LONG
    info.biPlanes = 1;
    info.biBitCount = 24;
    fwrite(&header, sizeof(header), 1, file);
    fwrite(&info, sizeof(info), 1, file);
    for each (const Pixel &p in m_pixels) //@ for each
    {
        fwrite(&p, 3, 1, file);
    }
    fclose(file);
    return true;
}

std::string Narrow(const std::wstring &text)
{
    if (text.empty())
        return std::string();
    int size = WideCharToMultiByte(CP_UTF8, 0, text.data(), (int)text.size(), NULL, 0, NULL, NULL); //@ WideCharToMultiByte; CP_UTF8
    std::string result(size, '\0');
    WideCharToMultiByte(CP_UTF8, 0, text.data(), (int)text.size(), &result[0], size, NULL, NULL); //@ WideCharToMultiByte; CP_UTF8
    return result;
}

std::wstring Widen(const std::string &text)
{
    int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), (int)text.size(), NULL, 0); //@ MultiByteToWideChar; CP_UTF8
    std::wstring result(size, L'\0');
    MultiByteToWideChar(CP_UTF8, 0, text.data(), (int)text.size(), &result[0], size); //@ MultiByteToWideChar; CP_UTF8
    return result;
}

} // namespace imaging
