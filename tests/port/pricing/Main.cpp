// Main.cpp: prices a portfolio, once in order and once by tasks. The house rule: naïve loops are never parallel. //@ Windows-1252
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "Option.h"
#include <iostream>
#include <memory>
#include <comdef.h> //@ comdef.h
#include <mmsystem.h> //@ mmsystem.h

#pragma comment(lib, "winmm") //@ #pragma comment

namespace Pricing { IPricer *MakeMonteCarlo(int paths); }

using namespace Pricing;
using concurrency::task;

#pragma region Timing //@ #pragma region

class Timer
{
public:
    Timer() : m_start(timeGetTime()) {} //@ timeGetTime
    Milliseconds Elapsed() const { return timeGetTime() - m_start; } //@ timeGetTime

private:
    Milliseconds m_start;
};

#pragma endregion //@ #pragma endregion

static std::wstring RegistryPath()
{
    HKEY key = NULL; //@ HKEY
    wchar_t value[260];
    ULONG size = sizeof(value); //@ ULONG
    if (RegOpenKeyExW(HKEY_CURRENT_USER, L"Software\\Pricing", 0, KEY_READ, &key) != ERROR_SUCCESS) //@ RegOpenKeyExW; HKEY_CURRENT_USER; KEY_READ; ERROR_SUCCESS
        return L"portfolio.csv";
    RegQueryValueExW(key, L"Portfolio", NULL, NULL, reinterpret_cast<LPBYTE>(value), &size); //@ RegQueryValueExW; LPBYTE
    RegCloseKey(key); //@ RegCloseKey
    return value;
}

static void Log(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    _vsnprintf_s(text, _TRUNCATE, format, arguments); //@ _vsnprintf_s; _TRUNCATE
    va_end(arguments);
    time_t now;
    time(&now);
    tm local;
    localtime_s(&local, &now); //@ localtime_s
    fprintf(stderr, "%02d:%02d %s\n", local.tm_hour, local.tm_min, text);
}

static void ByTasks(const Portfolio &portfolio, IPricer &pricer, Concurrency::concurrent_vector<Result> &results) //@ concurrent_vector
{
    std::vector<task<void>> tasks;
    for (size_t i = 0; i < portfolio.Size(); ++i)
    {
        tasks.push_back(concurrency::create_task([&results, &portfolio, &pricer, i] { results.push_back(pricer.Price(portfolio[i])); })); //@ create_task
    }
    concurrency::when_all(tasks.begin(), tasks.end()).wait();
}

static float Sum(const std::vector<Result> &results)
{
    float sum = 0;
    std::for_each(results.begin(), results.end(), [&](const Result &r) { sum += r.price; });
    return sum;
}

void main(int argc, char **argv) //@ void main
{
    CoInitializeEx(NULL, COINIT_MULTITHREADED); //@ CoInitializeEx; COINIT_MULTITHREADED
    timeBeginPeriod(1); //@ timeBeginPeriod
    std::unique_ptr<IPricer> pricer(MakeMonteCarlo(1 << 18));
    Portfolio portfolio;
    try
    {
        CW2T path(RegistryPath().c_str()); //@ CW2T
        portfolio.Load(CString(path)); //@ CString
    }
    catch (const _com_error &e) //@ _com_error
    {
        std::wcerr << e.ErrorMessage() << std::endl;
    }
    catch (const Error &e)
    {
        Log("error %08lx", e.Code());
        exit(1);
    }
    POINT origin = {0, 0};
    Pricing::Sleep(origin.x);
    Timer timer;
    std::vector<Result> results;
    for (size_t i = 0; i < portfolio.Size(); i++)
        results.push_back(pricer->Price(portfolio[i]));
    Log("in order: %u ms, sum %f", timer.Elapsed(), Sum(results));

    Concurrency::concurrent_vector<Result> others; //@ concurrent_vector
    Concurrency::event ready; //@ event
    ByTasks(portfolio, *pricer, others);
    ready.set();
    Log("by tasks: %zu results", others.size());

    std::auto_ptr<int> count(new int(0)); //@ auto_ptr
    std::random_shuffle(results.begin(), results.end()); //@ random_shuffle
    char name[_MAX_FNAME]; //@ _MAX_FNAME
    _splitpath_s(argv[0], NULL, 0, NULL, 0, name, _MAX_FNAME, NULL, 0); //@ _splitpath_s; _MAX_FNAME
    _itoa_s((int)results.size(), name, 10); //@ _itoa_s
    Log("%s: %s", _strlwr(name), pricer->Name()); //@ _strlwr
    timeEndPeriod(1); //@ timeEndPeriod
    CoUninitialize(); //@ CoUninitialize
}
