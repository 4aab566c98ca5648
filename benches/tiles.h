// Algorithms in tiles, in the ways that case_tiles.cpp times beside each other.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tiles {

enum class Algorithm {
    matmul,      // n x n floats: c = a b, tiles of 16 x 16
    scan,        // running sums of each 256 of n floats, a to c
    reduction,   // the sum of each 256 of n floats, a to c
    histogram,   // of n numbers below 256, i to k; a tile counts 16384 of them
    convolution, // an image of n x n floats with 17 weights (b) along its rows, then its columns, a to c
    transpose,   // n x n floats, a to c, tiles of 16 x 16
    fft,       // n transforms of 1024 complex numbers: real parts, then imaginary parts of all in a, and c; roots in b
    bitonic,   // each 256 of n numbers sorted, i to k
    nbody,     // pulls on n bodies (x, y, z, mass; a to c), tiles of 256
    lu,        // a = l u, n x n, blocks of 16 x 16, a to c
    needleman, // Needleman-Wunsch: the table of n + 1 x n + 1 scores (k) of n x n costs (i), blocks of 16 x 16
};

// What an algorithm reads and writes.
struct Data {
    int n = 0;
    std::vector<float> a, b, c;
    std::vector<int> i, k;
};

constexpr int radius = 8, bins = 256, points = 1024, penalty = 10;

typedef std::function<void()> Action;

// How to do an algorithm on these data, which stay where they are.
namespace native {
Action make(Algorithm algorithm, Data &data);
}
namespace coroutines {
Action make(Algorithm algorithm, Data &data);
}
namespace untiled {
Action make(Algorithm algorithm, Data &data);
}
namespace openmp_v1 {
Action make(Algorithm algorithm, Data &data);
}
namespace openmp_v3 {
Action make(Algorithm algorithm, Data &data);
}
namespace openmp_v4 {
Action make(Algorithm algorithm, Data &data);
}

// An OpenCL device of the host's processor, as pocl has it.
class OpenCl {
  public:
    virtual ~OpenCl() = default;
    virtual Action make(Algorithm algorithm, Data &data) = 0;
    std::string name;
};
// Throws std::runtime_error where there is none.
std::unique_ptr<OpenCl> make_opencl();

} // namespace tiles
