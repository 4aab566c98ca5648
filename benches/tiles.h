// Tiled algorithms in several implementations, which case_tiles.cpp compares.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tiles {

// `a`, `b`, `c`, `i` and `k` are the members of Data.
enum class Algorithm {
    matmul,      // n x n floats: c = a b, tiles of 16 x 16
    scan,        // prefix sums in each block of 256 of n floats, a to c
    reduction,   // the sum of each block of 256 of n floats, a to c
    histogram,   // of n numbers below 256, i to k; a tile counts 16384 numbers
    convolution, // an image of n x n floats with 17 weights (b), along rows, then along columns, a to c
    transpose,   // n x n floats, a to c, tiles of 16 x 16
    fft,         // n transforms of 1024 complex numbers, a to c: all real parts, then all imaginary parts; roots in b
    bitonic,     // sorts each block of 256 of n numbers, i to k
    nbody,       // accelerations by gravity of n bodies (x, y, z, mass; a to c), tiles of 256
    lu,          // a = l u, n x n, blocks of 16 x 16, a to c
    needleman,   // Needleman-Wunsch: n x n costs (i) give (n + 1) x (n + 1) scores (k), blocks of 16 x 16
};

// The inputs and outputs of an algorithm.
struct Data {
    int n = 0;
    std::vector<float> a, b, c;
    std::vector<int> i, k;
};

constexpr int radius = 8, bins = 256, points = 1024, penalty = 10;

typedef std::function<void()> Action;

// Each make() returns a function that runs the algorithm on `data`, which must not move or be destroyed.
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

// The host's CPU as an OpenCL device, such as pocl's.
class OpenCl {
  public:
    virtual ~OpenCl() = default;
    virtual Action make(Algorithm algorithm, Data &data) = 0;
    std::string name;
};
// Throws std::runtime_error if there is no such device.
std::unique_ptr<OpenCl> make_opencl();

} // namespace tiles
