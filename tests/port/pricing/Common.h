// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once

// Compiler warnings that this project ignores.
#pragma warning(push) //@ #pragma warning
#pragma warning(disable : 4251 4275) //@ #pragma warning

#ifdef _WIN32
#include <SDKDDKVer.h>
#include <windows.h>
typedef DWORD Milliseconds;
#else
#include <cstdint>
typedef std::uint32_t Milliseconds;
#endif

#if defined(_MSC_VER) && _MSC_VER >= 1900
#define PRICING_INLINE __forceinline
#elif defined(__GNUC__)
#define PRICING_INLINE inline
#else
#error "which compiler is this?"
#endif

#include <amp.h>
#include <amp_math.h>
#include <string>
#include <vector>
#include <ppltasks.h> //@ ppltasks.h
#include <concurrent_vector.h> //@ concurrent_vector.h
#include <concurrent_queue.h> //@ concurrent_queue.h
#include <atlbase.h> //@ atlbase.h
#include <atlstr.h> //@ atlstr.h

#pragma warning(pop) //@ #pragma warning

#define CHECK_HR(expression) do { HRESULT hr_ = (expression); if (FAILED(hr_)) throw Pricing::Error(hr_); } while (0)
#define SAFE_DELETE(p) { if (p) { delete (p); (p) = nullptr; } }

namespace Pricing
{
    class Error
    {
    public:
        explicit Error(HRESULT hr) : m_hr(hr) {}
        HRESULT Code() const { return m_hr; }

    private:
        HRESULT m_hr;
    };

    // Names of this program that headers of Windows also define.
    struct POINT { int x, y; };
    enum { ERROR_MARGIN = 4, FILE_COLUMNS = 6 };
    inline void Sleep(int) {}
}
