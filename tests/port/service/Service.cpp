// Service.cpp: a Windows service that sums files in the background.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "pch.h" //@ pch.h
#include <windows.h> //@ windows.h
#include <winsvc.h> //@ winsvc.h
#include <evntprov.h> //@ evntprov.h
#include <amp.h>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#ifdef UNICODE
#error "narrow only"
#endif

#define SERVICE_NAME "FileSums"
#define MAX_FILES 64
#pragma optimize("gt", on) //@ #pragma optimize

SERVICE_STATUS g_status; //@ SERVICE_STATUS
SERVICE_STATUS_HANDLE g_handle; //@ SERVICE_STATUS_HANDLE
static volatile LONG g_stop = 0; //@ LONG
__declspec(selectany) int g_runs = 0; //@ selectany

template <class Container> struct Summing
{
    typedef typename Container::value_type value_type;

    static value_type Of(Container &values)
    {
        Container::iterator i = values.begin(); //@ Container::iterator
        value_type sum = value_type();
        for (; i != values.end(); ++i) sum += Weight(*i, 1); //@ Weight
        return sum;
    }
};

inline int Weight(int value, int by) { return value * by; }

static std::vector<int> Read(const char *name)
{
    std::ifstream file(name, std::ios::binary);
    std::vector<int> values;
    int value;
    while (file.read(reinterpret_cast<char *>(&value), sizeof(value))) values.push_back(value);
    return values;
}

static void ReportStatus(DWORD state, DWORD wait = 0) //@ DWORD
{
    g_status.dwCurrentState = state;
    g_status.dwWaitHint = wait;
    g_status.dwControlsAccepted = state == SERVICE_START_PENDING ? 0 : SERVICE_ACCEPT_STOP; //@ SERVICE_START_PENDING; SERVICE_ACCEPT_STOP
    SetServiceStatus(g_handle, &g_status); //@ SetServiceStatus
}

static DWORD WINAPI Control(DWORD code, DWORD, LPVOID, LPVOID) //@ DWORD; WINAPI; LPVOID
{
    if (code == SERVICE_CONTROL_STOP) InterlockedExchange(&g_stop, 1L); //@ SERVICE_CONTROL_STOP; InterlockedExchange
    return NO_ERROR; //@ NO_ERROR
}

static int SumFiles(const char *pattern)
{
    WIN32_FIND_DATAA data; //@ WIN32_FIND_DATAA
    HANDLE find = FindFirstFileA(pattern, &data); //@ HANDLE; FindFirstFileA
    if (find == INVALID_HANDLE_VALUE) return 0; //@ INVALID_HANDLE_VALUE
    int total = 0, files = 0;
    do
    {
        if (data.dwFileAttributes & FILE_ATTRIBUTE_HIDDEN) continue; //@ FILE_ATTRIBUTE_HIDDEN
        total += Summing<std::vector<int>>::Of(Read(data.cFileName)); //@ Read(
        if (++files == MAX_FILES) break;
    } while (FindNextFileA(find, &data)); //@ FindNextFileA
    FindClose(find); //@ FindClose
    std::vector<int> one(1, total);
    concurrency::array_view<int, 1> view(1, one);
    concurrency::parallel_for_each(view.extent, [=](concurrency::index<1> i) restrict(amp) { view[i] += 0; });
    view.synchronize();
    return one[0];
}

VOID WINAPI ServiceMain(DWORD argc, LPSTR *argv) //@ VOID; WINAPI; DWORD; LPSTR
{
    g_handle = RegisterServiceCtrlHandlerEx(SERVICE_NAME, Control, NULL); //@ RegisterServiceCtrlHandlerEx
    ReportStatus(SERVICE_RUNNING); //@ SERVICE_RUNNING
    while (!g_stop)
    {
        char text[32];
        _ui64toa_s(GetTickCount64(), text, sizeof(text), 10); //@ _ui64toa_s; GetTickCount64
        const std::uint64_t sum = SumFiles(argc > 1 ? argv[1] : "*.bin");
        EventWriteString(0, 0, 0, L"summed"); //@ EventWriteString
        g_runs += sum != 0;
        SleepEx(1000, TRUE); //@ SleepEx; TRUE
    }
    ReportStatus(SERVICE_STOPPED); //@ SERVICE_STOPPED
}

int main()
{
    SERVICE_TABLE_ENTRY table[] = {{const_cast<LPSTR>(SERVICE_NAME), &ServiceMain}, {NULL, NULL}}; //@ SERVICE_TABLE_ENTRY; LPSTR
    return StartServiceCtrlDispatcher(table) ? EXIT_SUCCESS : EXIT_FAILURE; //@ StartServiceCtrlDispatcher
}
