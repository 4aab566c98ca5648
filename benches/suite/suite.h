// The kernel suite: untuned kernels, as users write them, similar to those in Rodinia, SHOC, Parboil, PolyBench-ACC and
// HeCBench. Each family of kernels has a .cpp file for C++ AMP and a .cu file for CUDA, with the same algorithms,
// blocks and data. A loop on the CPU computes the expected results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace suite {

enum class Kind { f32, f64, i32 };

// The host's copy of a buffer that a kernel reads or writes.
struct Buffer {
    std::vector<char> bytes;
    Kind kind;
    bool result; // the contents are compared
};

// The data of a case.
struct Problem {
    bool large = false;     // true: sized for a GPU; false: small enough for a software device
    std::vector<int> n;     // sizes, the same for C++ AMP, CUDA and the CPU
    double bytes = 0;       // bytes that one run moves, if the case is memory-bound
    double tolerance = 0;   // allowed error, relative to |expected| + the mean of all |expected|
    double wrong_share = 0; // the fraction of the results whose error may exceed the tolerance
    std::vector<Buffer> buffers;

    int pick(int small_size, int large_size) const { return large ? large_size : small_size; }
    template <class T> T *add(size_t count, bool result) {
        const Kind kind = std::is_same<T, double>::value  ? Kind::f64
                          : std::is_same<T, float>::value ? Kind::f32
                                                          : Kind::i32;
        static_assert(std::is_arithmetic<T>::value, "numbers alone are compared");
        buffers.push_back({std::vector<char>(count * sizeof(T)), kind, result});
        return reinterpret_cast<T *>(buffers.back().bytes.data());
    }
    // Adds a zeroed buffer that is not compared: input or scratch.
    template <class T> T *in(size_t count) { return add<T>(count, false); }
    // Adds a zeroed buffer that is compared.
    template <class T> T *out(size_t count) { return add<T>(count, true); }
    // Adds a buffer of random numbers, uniform in [low, high).
    float *floats(size_t count, float low = 0, float high = 1, bool result = false) {
        return add_random<float>(count, low, high, result);
    }
    double *doubles(size_t count, double low = 0, double high = 1) {
        return add_random<double>(count, low, high, false);
    }
    // Adds a buffer of random numbers below `end`, or of all 32-bit values if `end` is 0.
    unsigned *numbers(size_t count, unsigned end = 0) {
        unsigned *to = in<unsigned>(count);
        for (size_t i = 0; i < count; i++)
            to[i] = end ? next() % end : next() * 2654435761U;
        return to;
    }
    uint32_t next() {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<uint32_t>(state >> 33);
    }
    template <class T> T *at(size_t buffer) { return reinterpret_cast<T *>(buffers[buffer].bytes.data()); }

  private:
    uint64_t state = 12345;
    template <class T> T *add_random(size_t count, T low, T high, bool result) {
        T *to = add<T>(count, result);
        for (size_t i = 0; i < count; i++)
            to[i] = low + (high - low) * static_cast<T>(next() >> 7) / static_cast<T>(1 << 24);
        return to;
    }
};

class Arrays;

struct Case {
    const char *name; // also the name of the CUDA case
    void (*data)(Problem &);
    void (*cpu)(Problem &); // computes the expected results
    void (*amp)(Arrays &);  // launches the kernels
};

// A case that is ready to run on an accelerator.
class PreparedCase {
  public:
    virtual ~PreparedCase() = default;
    virtual void run(unsigned times) = 0; // waits at the end
    virtual void upload(const Problem &from) = 0;
    virtual void download(Problem &to) = 0;
};
std::unique_ptr<PreparedCase> prepare_case(const Case &which, const Problem &problem, const std::string &device_path);

// Throws std::runtime_error if the results in `got` are wrong.
void compare(const Problem &got, const Problem &expected);

} // namespace suite
