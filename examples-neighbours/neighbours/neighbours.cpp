// C++ AMP together with OpenMP, TBB and Eigen. OpenMP fills a matrix, and an accelerator squares it. Each TBB task
// launches a kernel on some rows of the square. Eigen computes the expected result. There are never more working
// threads than processors.
#include <amp.h>

#include "prepare.h"

#include <Eigen/Core>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace concurrency;
typedef Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix;

// The number of threads of the process, according to Linux.
static int threads_now() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, 8, "Threads:") == 0) return std::stoi(line.substr(8));
    return 0;
}

int main() {
    const int size = 128, processors = int(std::thread::hardware_concurrency());
    std::vector<float> numbers(size * size);
    const int omp_threads = prepare(numbers);

    // The accelerator multiplies the matrix by itself, directly in Eigen's memory.
    const matrix a = Eigen::Map<const matrix>(numbers.data(), size, size);
    matrix product(size, size);
    const array_view<const float, 2> from(size, size, a.data());
    const array_view<float, 2> to(size, size, product.data());
    to.discard_data();
    parallel_for_each(
        to.extent, [=](index<2> at) restrict(amp) {
            float sum = 0;
            for (int i = 0; i < size; i++)
                sum += from(at[0], i) * from(i, at[1]);
            to[at] = sum;
        });
    to.synchronize();
    bool right = (product - a * a).cwiseAbs().maxCoeff() < 1e-2f;

    // TBB's tasks launch kernels. The rows of each task are a separate data source.
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::size_t(processors));
    tbb::parallel_for(0, 8, [&](int part) {
        const array_view<float, 2> rows(size / 8, size, product.data() + part * (size / 8) * size);
        parallel_for_each(
            rows.extent, [=](index<2> at) restrict(amp) { rows[at] = rows[at] * 0.5f; });
        rows.synchronize();
    });
    right &= (product - 0.5f * (a * a)).cwiseAbs().maxCoeff() < 1e-2f;

    // OpenMP, TBB and the library each have about one thread for each processor: the total is a sum, not a product.
    const int threads = threads_now(), max_threads = 4 * processors + 16;
    right &= omp_threads <= processors && threads <= max_threads;
    std::wcout << accelerator().description << L": " << threads << L" threads in all, OpenMP " << omp_threads
               << L", of " << processors << L" processors: " << (right ? L"right" : L"WRONG") << std::endl;
    return right ? 0 : 1;
}
