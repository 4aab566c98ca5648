// Capture.cpp: takes pictures of the screen, compares them in kernels, and writes what changed.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#define NOMINMAX
#include <windows.h> //@ windows.h
#include <wincodec.h> //@ wincodec.h
#include <mmdeviceapi.h> //@ mmdeviceapi.h
#include <atlcomcli.h> //@ atlcomcli.h
#include <amp.h>
#include <algorithm>
#include <list>
#include <string>
#include <vector>

using namespace concurrency;

template <class T, size_t Rank> class Grid;

template <class T> class Plane
{
public:
    typedef T Value;
    typedef std::list<T> Column;
    Plane(int width, int height) : m_width(width), m_height(height), m_data(width * height) {}
    virtual ~Plane() {}
    int Width() const { return m_width; }
    T &At(int x, int y) { return m_data[y * m_width + x]; }
    void Assign(std::vector<T> &data) { m_data.swap(data); }

protected:
    int m_width, m_height;
    std::vector<T> m_data;
};

template <class T> class Difference : public Plane<T>
{
    typedef Plane<T> Base;

public:
    Difference(int width, int height) : Base(width, height), m_limit(0) {}

    void Compare(const Plane<T> &other, T limit)
    {
        const int count = Width() * m_height; //@ Width; m_height
        array_view<T, 1> mine(count, m_data); //@ m_data
        for (int i = 0; i < count; ++i)
            this->m_data[i] = m_limit;
        m_limit = limit;
        Report(count); //@ Report
    }

    Base::Column Row(int y) //@ Base::Column
    {
        Base::Column row; //@ Base::Column
        for (int x = 0; x < Base::Width(); x++)
            row.push_back(At(x, y)); //@ At
        return row;
    }

    template <size_t N> static void Blur(tiled_index<N> t, array_view<T, 1> v) restrict(amp) //@ tiled_index
    {
        v[t.global] = v[t.global] / 2;
    }

private:
    T m_limit;
};

static void Report(int count)
{
    printf("%d values\n", count);
}

template <class T> typename Plane<T>::Value Sum(const std::vector<T> &values)
{
    typename std::vector<T>::const_iterator i;
    T sum = T();
    for (i = values.begin(); i != values.end(); ++i)
        sum += *i;
    return sum;
}

static std::vector<int> Samples(int count) { return std::vector<int>(count, 1); }

struct Worker
{
    PTP_WORK work; //@ PTP_WORK
    CHAR name[32]; //@ CHAR
    static VOID NTAPI Callback(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) //@ VOID; NTAPI; PTP_CALLBACK_INSTANCE; PVOID; PTP_WORK
    {
        static_cast<Worker *>(context)->Run();
    }
    void Run() { Sleep(0); } //@ Sleep(
};

class Screen
{
public:
    Screen() : m_dc(::GetDC(nullptr)), m_copy(CreateCompatibleDC(m_dc)) {} //@ GetDC; CreateCompatibleDC
    ~Screen() { DeleteDC(m_copy); } //@ DeleteDC

    bool Take(Plane<int> &to)
    {
        HBITMAP bitmap = CreateCompatibleBitmap(m_dc, to.Width(), 1); //@ HBITMAP; CreateCompatibleBitmap
        HGDIOBJ old = SelectObject(m_copy, bitmap); //@ HGDIOBJ; SelectObject
        BOOL done = BitBlt(m_copy, 0, 0, to.Width(), 1, m_dc, 0, 0, SRCCOPY | CAPTUREBLT); //@ BOOL; BitBlt; SRCCOPY; CAPTUREBLT
        GetBitmapBits(bitmap, to.Width() * sizeof(int), &to.At(0, 0)); //@ GetBitmapBits
        SelectObject(m_copy, old); //@ SelectObject
        to.Assign(Samples(16)); //@ Samples(
        return !!done;
    }

private:
    HDC m_dc, m_copy; //@ HDC
};

static HRESULT Encode(const wchar_t *name)
{
    CComPtr<IWICImagingFactory> factory; //@ CComPtr; IWICImagingFactory
    HRESULT hr = CoCreateInstance(CLSID_WICImagingFactory, NULL, CLSCTX_INPROC_SERVER, IID_PPV_ARGS(&factory)); //@ CoCreateInstance; CLSID_WICImagingFactory; CLSCTX_INPROC_SERVER; IID_PPV_ARGS
    if (FAILED(hr)) return hr;
    CComPtr<IWICStream> stream; //@ CComPtr; IWICStream
    hr = factory->CreateStream(&stream);
    if (SUCCEEDED(hr)) hr = stream->InitializeFromFilename(name, GENERIC_WRITE); //@ GENERIC_WRITE
    std::wofstream log(L"capture.log"); //@ wofstream; wofstream
    log << name << std::endl;
    return hr;
}

int wmain(int argc, WCHAR **argv) //@ wmain; WCHAR
{
    ::CoInitializeEx(0, COINIT_APARTMENTTHREADED); //@ CoInitializeEx; COINIT_APARTMENTTHREADED
    SetProcessDPIAware(); //@ SetProcessDPIAware
    Screen screen;
    Difference<int> before(640, 1), after(640, 1);
    if (!screen.Take(before) || !screen.Take(after)) return ::GetLastError(); //@ GetLastError
    after.Compare(before, 3);
    Worker worker = {};
    worker.work = CreateThreadpoolWork(&Worker::Callback, &worker, nullptr); //@ CreateThreadpoolWork
    strncpy_s(worker.name, "capture", _TRUNCATE); //@ strncpy_s; _TRUNCATE
    SubmitThreadpoolWork(worker.work); //@ SubmitThreadpoolWork
    WaitForThreadpoolWorkCallbacks(worker.work, FALSE); //@ WaitForThreadpoolWorkCallbacks; FALSE
    INPUT input = {INPUT_KEYBOARD}; //@ INPUT; INPUT_KEYBOARD
    SendInput(1, &input, sizeof(INPUT)); //@ SendInput; INPUT
    if (OpenClipboard(NULL)) //@ OpenClipboard
        CloseClipboard(); //@ CloseClipboard
    return SUCCEEDED(Encode(argc > 1 ? argv[1] : L"capture.png")) ? 0 : 1;
}
