// Kernels as users write them who tune nothing, of the kinds that Rodinia, SHOC, Parboil, PolyBench-ACC and HeCBench
// have. Each has the same algorithm, block and data in C++ AMP (a family's .cpp) and in CUDA (the family's .cu), and a
// loop for the processor that says what is right.
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

// Memory that a kernel reads or writes, as the host has it.
struct Buffer {
    std::vector<char> bytes;
    Kind kind;
    bool result; // compared
};

// The data of a case.
struct Problem {
    bool large = false;   // for a GPU; else small enough for a software device
    std::vector<int> n;   // sizes, the same on all sides
    double bytes = 0;     // that one run moves, where memory bounds it
    double tolerance = 0; // of results, beside the expected one and the mean of all
    double share = 0;     // of results that may be off all the same (counts of iterations)
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
    // What is only read, and what is left over: zeros at first.
    template <class T> T *in(size_t count) { return add<T>(count, false); }
    // What is compared.
    template <class T> T *out(size_t count) { return add<T>(count, true); }
    // Even over [low, high).
    float *floats(size_t count, float low = 0, float high = 1, bool result = false) {
        return spread<float>(count, low, high, result);
    }
    double *doubles(size_t count, double low = 0, double high = 1) { return spread<double>(count, low, high, false); }
    // Below `end`; all numbers if that is 0.
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
    template <class T> T *spread(size_t count, T low, T high, bool result) {
        T *to = add<T>(count, result);
        for (size_t i = 0; i < count; i++)
            to[i] = low + (high - low) * static_cast<T>(next() >> 7) / static_cast<T>(1 << 24);
        return to;
    }
};

class Arrays;

struct Case {
    const char *name; // CUDA's has the same
    void (*data)(Problem &);
    void (*cpu)(Problem &); // makes of the data the results
    void (*amp)(Arrays &);  // launches
};

// A problem on an accelerator.
class Running {
  public:
    virtual ~Running() = default;
    virtual void run(unsigned times) = 0; // and waits
    virtual void upload(const Problem &from) = 0;
    virtual void download(Problem &to) = 0;
};
std::unique_ptr<Running> make_running(const Case &which, const Problem &problem, const std::string &device_path);

// Throws what is wrong with the results in `got`.
void compare(const Problem &got, const Problem &expected);

} // namespace suite
