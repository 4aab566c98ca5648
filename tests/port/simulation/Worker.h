// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "stdafx.h"

// Holds a critical section during its lifetime. CWorker guards its queue with one.
class CLock
{
public:
    CLock(CRITICAL_SECTION &section) : m_section(section) { EnterCriticalSection(&m_section); } //@ CRITICAL_SECTION; EnterCriticalSection
    ~CLock() { LeaveCriticalSection(&m_section); } //@ LeaveCriticalSection

private:
    CLock &operator=(const CLock &);
    CRITICAL_SECTION &m_section; //@ CRITICAL_SECTION
};

class CWorker
{
public:
    CWorker();
    ~CWorker();

    void Post(int steps);
    bool Wait(DWORD milliseconds); //@ DWORD
    LONG Done() const { return m_done; } //@ LONG

    // Raised when a step is done.
    __event void StepDone(int step); //@ __event

protected:
    virtual void Run(int steps) = 0;

private:
    static unsigned __stdcall ThreadProc(void *argument); //@ __stdcall

    HANDLE m_thread; //@ HANDLE
    HANDLE m_wakeUp; //@ HANDLE
    HANDLE m_idle;   //@ HANDLE
    CRITICAL_SECTION m_section; //@ CRITICAL_SECTION
    std::vector<int> m_queue;
    volatile LONG m_done; //@ LONG
    volatile bool m_stop;
};
