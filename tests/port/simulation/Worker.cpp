// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "stdafx.h"
#include "Worker.h"

CWorker::CWorker() : m_thread(NULL), m_wakeUp(NULL), m_idle(NULL), m_done(0), m_stop(false)
{
    InitializeCriticalSection(&m_section); //@ InitializeCriticalSection
    m_wakeUp = CreateEvent(NULL, FALSE, FALSE, NULL); //@ CreateEvent; FALSE
    m_idle = CreateEvent(NULL, TRUE, TRUE, L"Local\\SimulationIdle"); //@ CreateEvent; TRUE
    unsigned id = 0;
    m_thread = reinterpret_cast<HANDLE>(_beginthreadex(NULL, 0, &CWorker::ThreadProc, this, 0, &id)); //@ HANDLE; _beginthreadex
    SetThreadPriority(m_thread, THREAD_PRIORITY_BELOW_NORMAL); //@ SetThreadPriority; THREAD_PRIORITY_BELOW_NORMAL
}

CWorker::~CWorker()
{
    m_stop = true;
    SetEvent(m_wakeUp); //@ SetEvent
    WaitForSingleObject(m_thread, INFINITE); //@ WaitForSingleObject; INFINITE
    CloseHandle(m_thread); //@ CloseHandle
    CloseHandle(m_wakeUp); //@ CloseHandle
    CloseHandle(m_idle); //@ CloseHandle
    DeleteCriticalSection(&m_section); //@ DeleteCriticalSection
}

void CWorker::Post(int steps)
{
    CLock lock(m_section);
    m_queue.push_back(steps);
    ResetEvent(m_idle); //@ ResetEvent
    SetEvent(m_wakeUp); //@ SetEvent
}

bool CWorker::Wait(DWORD milliseconds) //@ DWORD
{
    HANDLE handles[] = {m_idle, m_thread}; //@ HANDLE
    DWORD result = WaitForMultipleObjects(2, handles, FALSE, milliseconds); //@ DWORD; WaitForMultipleObjects; FALSE
    return result == WAIT_OBJECT_0; //@ WAIT_OBJECT_0
}

unsigned __stdcall CWorker::ThreadProc(void *argument) //@ __stdcall
{
    CWorker *self = static_cast<CWorker *>(argument);
    while (!self->m_stop)
    {
        if (WaitForSingleObject(self->m_wakeUp, 100) == WAIT_TIMEOUT) //@ WaitForSingleObject; WAIT_TIMEOUT
        {
            SwitchToThread(); //@ SwitchToThread
            continue;
        }
        for (;;)
        {
            int steps = 0;
            {
                CLock lock(self->m_section);
                if (self->m_queue.empty())
                    break;
                steps = self->m_queue.front();
                self->m_queue.erase(self->m_queue.begin());
            }
            __try //@ __try
            {
                self->Run(steps);
            }
            __except (EXCEPTION_EXECUTE_HANDLER) //@ __except; EXCEPTION_EXECUTE_HANDLER
            {
                OutputDebugStringA("the step failed\n"); //@ OutputDebugStringA
            }
            InterlockedIncrement(&self->m_done); //@ InterlockedIncrement
            __raise self->StepDone(steps); //@ __raise
        }
        SetEvent(self->m_idle); //@ SetEvent
    }
    _endthreadex(0); //@ _endthreadex
    return 0;
}
