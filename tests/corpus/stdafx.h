// Replaces the stdafx.h of Visual Studio projects: defines the Windows names that the samples use, and a helper of
// their checks.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define _tmain main
#define _TCHAR char

typedef union {
    long long QuadPart;
} LARGE_INTEGER;

inline int QueryPerformanceFrequency(LARGE_INTEGER *frequency) {
    frequency->QuadPart = 1000000000;
    return 1;
}

inline int QueryPerformanceCounter(LARGE_INTEGER *count) {
    count->QuadPart =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    return 1;
}

// The larger of two differences. If a difference is not a number, the result is not a number, unlike that of std::max.
template <class T> T worse(T a, T b) {
    return a >= b || a != a ? a : b;
}
