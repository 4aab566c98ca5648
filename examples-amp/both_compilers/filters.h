#pragma once
#include <vector>

// Overloads on restriction: the host's lies in weights.cpp, the kernels' must be seen where they are launched.
float tent(float distance) restrict(cpu);
inline float tent(float distance) restrict(amp) {
    return concurrency::fast_math::fmax(1 - distance, 0.0f);
}

std::vector<float> smooth(const std::vector<float> &samples);
float total(const std::vector<float> &samples);
