// Functions on samples that filters.cpp computes by kernels, and the weight function that host and kernels use.
#pragma once
#include <vector>

// Two overloads on restriction. weights.cpp defines the overload for the host. The overload for kernels must be visible
// where kernels are launched.
float tent(float distance) restrict(cpu);
inline float tent(float distance) restrict(amp) {
    return concurrency::fast_math::fmax(1 - distance, 0.0f);
}

std::vector<float> smooth(const std::vector<float> &samples);
float total(const std::vector<float> &samples);
