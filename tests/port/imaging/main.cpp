// main.cpp: imagetool INPUT OUTPUT [RADIUS]
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "pch.h"
#include "Filters.h"
#include <conio.h> //@ conio.h
#include <shellapi.h> //@ shellapi.h
#include <iomanip>

#pragma comment(lib, "shell32.lib") //@ #pragma comment

using namespace imaging;

struct StopWatch
{
    LARGE_INTEGER m_start, m_frequency; //@ LARGE_INTEGER

    StopWatch()
    {
        QueryPerformanceFrequency(&m_frequency); //@ QueryPerformanceFrequency
        QueryPerformanceCounter(&m_start);       //@ QueryPerformanceCounter
    }

    double Elapsed() const
    {
        LARGE_INTEGER now; //@ LARGE_INTEGER
        QueryPerformanceCounter(&now); //@ QueryPerformanceCounter
        return 1000.0 * (now.QuadPart - m_start.QuadPart) / m_frequency.QuadPart;
    }
};

static BOOL FileExists(const std::wstring &path) //@ BOOL
{
    DWORD attributes = GetFileAttributesW(path.c_str()); //@ DWORD; GetFileAttributesW
    return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY); //@ INVALID_FILE_ATTRIBUTES; FILE_ATTRIBUTE_DIRECTORY
}

static void Usage(const wchar_t *program)
{
    wchar_t name[MAX_PATH]; //@ MAX_PATH
    wcscpy_s(name, MAX_PATH, program); //@ wcscpy_s; MAX_PATH
    std::wcerr << L"usage: " << name << L" input.bmp output.bmp [radius]" << std::endl;
}

static void Report(Bitmap &bitmap, StopWatch &watch)
{
    std::wcout << bitmap.GetWidth() << L" x " << bitmap.GetHeight() << L", " << std::setprecision(3) << watch.Elapsed()
               << L" ms" << std::endl;
}

// The porting tool must not report Windows API names in a comment: CreateEvent, DWORD, __int64.
int wmain(int argc, wchar_t *argv[]) //@ wmain
{
    if (argc < 3)
    {
        Usage(argv[0]);
        return EXIT_FAILURE;
    }
    if (!FileExists(argv[1]))
    {
        std::wcerr << argv[1] << L" is not there; \"DWORD\" is a word in a string" << std::endl;
        return EXIT_FAILURE;
    }
    Bitmap bitmap;
    if (!bitmap.Load(argv[1]))
        return EXIT_FAILURE;
    int radius = argc > 3 ? _wtoi(argv[3]) : 2; //@ _wtoi
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(std::make_unique<BoxBlur>(radius));
    filters.push_back(std::make_unique<Grayscale>());
    for (auto &filter : filters)
    {
        StopWatch watch;
        filter->Apply(bitmap);
        _tprintf(_T("%s: "), filter->Name()); //@ _tprintf; _T(
        Report(bitmap, StopWatch()); //@ StopWatch()
    }
    if (!bitmap.Save(argv[2]))
    {
        wprintf(L"cannot write %s\n", argv[2]); //@ wprintf; %s
        return EXIT_FAILURE;
    }
#ifdef _WIN32
    ShellExecuteW(NULL, L"open", argv[2], NULL, NULL, SW_SHOW);
#else
    std::system("true");
#endif
#ifdef _DEBUG
    _getch(); //@ _getch
#endif
    return EXIT_SUCCESS;
}
