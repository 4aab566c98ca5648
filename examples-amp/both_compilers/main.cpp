#include "stdafx.h"

#include "filters.h"

int main() {
    std::vector<float> samples(1000);
    for (size_t n = 0; n < samples.size(); n++)
        samples[n] = static_cast<float>(n % 5);
    const std::vector<float> made = smooth(samples);
    // Around sample 500: 3, 4, 0, 1, 2 with the weights 0, 1/2, 1, 1/2, 0.
    const float expected = (4 * tent(0.5f) + 1 * tent(0.5f)) / (1 + 2 * tent(0.5f));
    const float difference = made[500] - expected;
    const float sum = total(samples);
    std::printf("%f, expected %f; sum %f\n", made[500], expected, sum);
    return difference < 1e-5f && difference > -1e-5f && sum == 2000 ? 0 : 1;
}
