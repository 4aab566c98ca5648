// What a porter writes once for projects that came from Visual Studio: the words of their stdafx.h.
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
