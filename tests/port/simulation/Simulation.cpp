// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "stdafx.h"
#include "SimApi.h"
#include "Worker.h"

#ifdef _DEBUG
#define new DEBUG_NEW //@ DEBUG_NEW
#endif

using namespace concurrency;

namespace
{
    const int kTile = 16;

    class CGrid : public CWorker
    {
        typedef CWorker BaseClass;

    public:
        CGrid(const SIM_PARAMS &params)
            : m_params(params), m_front(params.width * params.height), m_back(params.width * params.height)
        {
            ::memset(m_front.data(), 0, m_front.size() * sizeof(float));
            ::CopyMemory(m_back.data(), m_front.data(), m_front.size() * sizeof(float)); //@ CopyMemory
        }

        void Step()
        {
            extent<2> e(m_params.height, m_params.width);
            array_view<const float, 2> in(e, m_front);
            array_view<float, 2> out(e, m_back);
            out.discard_data();
            const float k = m_params.viscosity * m_params.timeStep;
            const int width = m_params.width, height = m_params.height;
            parallel_for_each(e, [=](index<2> i) restrict(amp) {
                const int y = i[0], x = i[1];
                const int l = max(x - 1, 0), r = min(x + 1, width - 1); //@ max(; min(
                const int t = max(y - 1, 0), b = min(y + 1, height - 1); //@ max(; min(
                const float c = in[i];
                out[i] = c + k * (in(y, l) + in(y, r) + in(t, x) + in(b, x) - 4 * c);
            });
            out.synchronize();
            m_front.swap(m_back);
        }

        float Energy() const
        {
            std::vector<float>::const_iterator it = m_front.begin();
            double sum = 0;
            for (; it != m_front.end(); ++it)
                sum += *it * *it;
            return _finite(sum) ? (float)sum : 0.0f; //@ _finite
        }

        void Name(wchar_t *buffer, size_t count) const
        {
            swprintf_s(buffer, count, L"grid %d x %d", m_params.width, m_params.height); //@ swprintf_s
            wcscat_s(buffer, count, L" (float)"); //@ wcscat_s
        }

        std::vector<float> &Values() { return m_front; }

    protected:
        virtual void Run(int steps)
        {
            for (int i = 0; i < steps; i++)
                Step();
            __super::Wait(0); //@ __super
        }

    private:
        SIM_PARAMS m_params;
        std::vector<float> m_front, m_back;
    };

    SRWLOCK g_lock = SRWLOCK_INIT; //@ SRWLOCK; SRWLOCK_INIT
    std::map<SIM_HANDLE, CGrid *> g_grids;
    __declspec(thread) int g_lastSteps; //@ thread

    CGrid *Find(SIM_HANDLE handle)
    {
        AcquireSRWLockShared(&g_lock); //@ AcquireSRWLockShared
        std::map<SIM_HANDLE, CGrid *>::iterator found = g_grids.find(handle);
        CGrid *grid = found == g_grids.end() ? nullptr : found->second;
        ReleaseSRWLockShared(&g_lock); //@ ReleaseSRWLockShared
        return grid;
    }
}

BOOL APIENTRY DllMain(HMODULE module, DWORD reason, LPVOID reserved) //@ BOOL; APIENTRY; DllMain; HMODULE; DWORD; LPVOID
{
    switch (reason)
    {
    case DLL_PROCESS_ATTACH: //@ DLL_PROCESS_ATTACH
        DisableThreadLibraryCalls(module); //@ DisableThreadLibraryCalls
        break;
    case DLL_PROCESS_DETACH: //@ DLL_PROCESS_DETACH
        break;
    }
    UNREFERENCED_PARAMETER(reserved); //@ UNREFERENCED_PARAMETER
    return TRUE; //@ TRUE
}

SIM_API SIM_HANDLE SIM_CALL SimCreate(const SIM_PARAMS *params)
{
    if (!params || IsBadReadPtr(params, sizeof(*params))) //@ IsBadReadPtr
        return NULL;
    CGrid *grid = new CGrid(*params);
    AcquireSRWLockExclusive(&g_lock); //@ AcquireSRWLockExclusive
    g_grids[grid] = grid;
    ReleaseSRWLockExclusive(&g_lock); //@ ReleaseSRWLockExclusive
    return grid;
}

SIM_API VOID SIM_CALL SimDestroy(SIM_HANDLE handle) //@ VOID
{
    CGrid *grid = Find(handle);
    AcquireSRWLockExclusive(&g_lock); //@ AcquireSRWLockExclusive
    g_grids.erase(handle);
    ReleaseSRWLockExclusive(&g_lock); //@ ReleaseSRWLockExclusive
    delete grid;
}

SIM_API HRESULT SIM_CALL SimStep(SIM_HANDLE handle, int steps, SIM_CALLBACK callback, PVOID context) //@ PVOID
{
    CGrid *grid = Find(handle);
    if (!grid)
        return HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE); //@ HRESULT_FROM_WIN32; ERROR_INVALID_HANDLE
    try
    {
        for (int i = 0; i < steps; i++)
        {
            grid->Step();
            if (callback)
                callback(context, i);
        }
        g_lastSteps = steps;
    }
    catch (runtime_exception &e)
    {
        return e.get_error_code();
    }
    return S_OK;
}

SIM_API BOOL SIM_CALL SimRead(SIM_HANDLE handle, float *values, SIZE_T count) //@ BOOL; SIZE_T
{
    CGrid *grid = Find(handle);
    if (!grid || grid->Values().size() < count)
        return FALSE; //@ FALSE
    memcpy_s(values, count * sizeof(float), grid->Values().data(), count * sizeof(float)); //@ memcpy_s
    return TRUE; //@ TRUE
}

SIM_API INT64 SIM_CALL SimTicks() //@ INT64
{
    FILETIME time; //@ FILETIME
    GetSystemTimeAsFileTime(&time); //@ GetSystemTimeAsFileTime
    ULARGE_INTEGER ticks; //@ ULARGE_INTEGER
    ticks.LowPart = time.dwLowDateTime;
    ticks.HighPart = time.dwHighDateTime;
    return (INT64)ticks.QuadPart; //@ INT64
}
