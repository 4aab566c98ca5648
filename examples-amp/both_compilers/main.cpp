// Smooths and adds up samples by kernels that both cl.exe and revamp compile, and checks the results.
#include "stdafx.h"

#include "filters.h"

int main() {
    std::vector<float> samples(1000);
    for (size_t n = 0; n < samples.size(); n++)
        samples[n] = static_cast<float>(n % 5);
    const std::vector<float> smoothed = smooth(samples);
    // The samples 498 to 502 are 3, 4, 0, 1, 2, and have the weights 0, 1/2, 1, 1/2, 0.
    const float expected = (4 * tent(0.5f) + 1 * tent(0.5f)) / (1 + 2 * tent(0.5f));
    const float difference = smoothed[500] - expected;
    const float sum = total(samples);
    std::printf("%f, expected %f; sum %f\n", smoothed[500], expected, sum);
    return difference < 1e-5f && difference > -1e-5f && sum == 2000 ? 0 : 1;
}
