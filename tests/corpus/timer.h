// The timer class of the samples.
#pragma once
#include "stdafx.h"

struct Timer {
  public:
    void Start() { QueryPerformanceCounter(&m_start); }
    void Stop() {
        LARGE_INTEGER t;
        QueryPerformanceCounter(&t);
        m_elapsed = t.QuadPart - m_start.QuadPart;
    }
    double Elapsed() { // ms
        LARGE_INTEGER freq;
        QueryPerformanceFrequency(&freq);
        return m_elapsed * 1000.0 / freq.QuadPart;
    }

  private:
    LARGE_INTEGER m_start;
    long long m_elapsed;
};
