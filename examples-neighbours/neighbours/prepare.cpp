// The OpenMP code of the program, in a source without kernels.
#include "prepare.h"

#include <omp.h>

int prepare(std::vector<float> &numbers) {
    int threads = 0;
    const int count = static_cast<int>(numbers.size());
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < count; i++)
            numbers[static_cast<unsigned>(i)] = static_cast<float>(i * 7 % 13) - 6.0f;
    }
    return threads;
}
