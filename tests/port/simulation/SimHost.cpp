// SimHost.cpp : loads the simulation at run time and tests it.
// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "stdafx.h"
#include "SimApi.h"
#include <iostream>
#include "resources\strings.h" //@ resources\strings.h

typedef SIM_HANDLE(SIM_CALL *PFN_CREATE)(const SIM_PARAMS *);
typedef VOID(SIM_CALL *PFN_DESTROY)(SIM_HANDLE); //@ VOID
typedef HRESULT(SIM_CALL *PFN_STEP)(SIM_HANDLE, int, SIM_CALLBACK, PVOID); //@ PVOID
typedef BOOL(SIM_CALL *PFN_READ)(SIM_HANDLE, float *, SIZE_T); //@ BOOL; SIZE_T

static void CALLBACK OnStep(PVOID context, int step) //@ CALLBACK; PVOID
{
    volatile LONG *count = static_cast<volatile LONG *>(context); //@ LONG
    InterlockedExchangeAdd(count, 1); //@ InterlockedExchangeAdd
}

class Library
{
public:
    Library(const wchar_t *name) : m_module(LoadLibraryW(name)) //@ LoadLibraryW
    {
        if (!m_module)
        {
            LPWSTR text = NULL; //@ LPWSTR
            FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM, NULL, GetLastError(), 0, (LPWSTR)&text, 0, NULL); //@ FormatMessageW; FORMAT_MESSAGE_ALLOCATE_BUFFER; FORMAT_MESSAGE_FROM_SYSTEM; GetLastError; LPWSTR
            std::wcerr << text << std::endl;
            LocalFree(text); //@ LocalFree
            ExitProcess(2); //@ ExitProcess
        }
    }
    ~Library() { FreeLibrary(m_module); } //@ FreeLibrary
    template <class F> F Get(const char *name) { return (F)GetProcAddress(m_module, name); } //@ GetProcAddress

private:
    HMODULE m_module; //@ HMODULE
};

static int ReadSetting(LPCTSTR name, int otherwise) //@ LPCTSTR
{
    TCHAR path[_MAX_PATH]; //@ TCHAR; _MAX_PATH
    GetModuleFileName(NULL, path, _MAX_PATH); //@ GetModuleFileName; _MAX_PATH
    PathRemoveFileSpec(path); //@ PathRemoveFileSpec
    _tcscat_s(path, _T("\\simulation.ini")); //@ _tcscat_s; _T(
    return GetPrivateProfileInt(_T("simulation"), name, otherwise, path); //@ GetPrivateProfileInt; _T(
}

int _tmain(int argc, _TCHAR *argv[]) //@ _tmain; _TCHAR
{
    _CrtSetDbgFlag(_CRTDBG_ALLOC_MEM_DF | _CRTDBG_LEAK_CHECK_DF); //@ _CrtSetDbgFlag; _CRTDBG_ALLOC_MEM_DF; _CRTDBG_LEAK_CHECK_DF
    SetConsoleOutputCP(CP_UTF8); //@ SetConsoleOutputCP; CP_UTF8
    Library library(L"Simulation.dll");
    PFN_CREATE create = library.Get<PFN_CREATE>("SimCreate");
    PFN_DESTROY destroy = library.Get<PFN_DESTROY>("SimDestroy");
    PFN_STEP step = library.Get<PFN_STEP>("SimStep");
    PFN_READ read = library.Get<PFN_READ>("SimRead");

    SIM_PARAMS params = {0};
    params.width = ReadSetting(_T("width"), 256); //@ _T(
    params.height = ReadSetting(_T("height"), 256); //@ _T(
    params.viscosity = 0.1f;
    params.timeStep = 0.5f;

    SYSTEM_INFO info; //@ SYSTEM_INFO
    GetSystemInfo(&info); //@ GetSystemInfo
    printf("%u processors\n", info.dwNumberOfProcessors);

    volatile LONG calls = 0; //@ LONG
    SIM_HANDLE handle = create(&params);
    DWORD begin = GetTickCount(); //@ DWORD; GetTickCount
    HRESULT hr = step(handle, 100, OnStep, (PVOID)&calls); //@ PVOID
    if (FAILED(hr))
    {
        MessageBox(NULL, _T("The step failed."), _T("Simulation"), MB_OK | MB_ICONERROR); //@ MessageBox; _T(; MB_OK; MB_ICONERROR
        return 1;
    }
    printf_s("100 steps in %lu ms, %ld calls\n", GetTickCount() - begin, calls); //@ printf_s; GetTickCount; %ld
    std::vector<float> values(params.width * params.height);
    if (!read(handle, &values[0], values.size()))
        return 1;
    destroy(handle);

    char line[64];
    sprintf_s(line, sizeof(line), "%I64d values", (__int64)values.size()); //@ sprintf_s; %I64d; __int64
    puts(line);
    SYSTEMTIME now; //@ SYSTEMTIME
    GetLocalTime(&now); //@ GetLocalTime
    printf("%04d-%02d-%02d\n", now.wYear, now.wMonth, now.wDay);
    Sleep(10); //@ Sleep(
    system("pause"); //@ system(
    return calls == 100 ? 0 : 1;
}
