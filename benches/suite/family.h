// Common code of the C++ AMP side of all families of the kernel suite.
#pragma once
#include <amp.h>
#include <amp_math.h>

#include <algorithm>
#include <cmath>

#include "suite.h"

#ifdef SUITE_FAST
#define SUITE_FAMILY suite_fast
namespace math = concurrency::fast_math;
#else
#define SUITE_FAMILY suite_plain
namespace math = concurrency::precise_math;
#endif

namespace suite {

// The buffers of a problem as arrays on an accelerator. `get` returns the array of a buffer, with the type and rank
// that the kernel needs.
class Arrays final : public PreparedCase {
    struct Slot {
        std::shared_ptr<void> array;
        std::function<void(const char *)> up;
        std::function<void(char *)> down;
    };
    void (*amp)(Arrays &);
    const Problem *from;
    std::vector<Slot> slots;

  public:
    concurrency::accelerator_view view;
    const std::vector<int> n;

    Arrays(const Case &which, const Problem &problem, const concurrency::accelerator_view &on)
        : amp(which.amp), from(&problem), slots(problem.buffers.size()), view(on), n(problem.n) {}

    template <class T, int R> concurrency::array<T, R> &get(size_t buffer, const concurrency::extent<R> &shape) {
        Slot &slot = slots[buffer];
        if (!slot.array) {
            const T *bytes = reinterpret_cast<const T *>(from->buffers[buffer].bytes.data());
            auto new_array = std::make_shared<concurrency::array<T, R>>(shape, bytes, bytes + shape.size(), view);
            auto *array = new_array.get();
            slot.array = new_array;
            slot.up = [array](const char *data) {
                const T *numbers = reinterpret_cast<const T *>(data);
                concurrency::copy(numbers, numbers + array->extent.size(), *array);
            };
            slot.down = [array](char *data) { concurrency::copy(*array, reinterpret_cast<T *>(data)); };
        }
        return *static_cast<concurrency::array<T, R> *>(slot.array.get());
    }
    template <class T> concurrency::array<T, 1> &get(size_t buffer, int count) {
        return get<T, 1>(buffer, concurrency::extent<1>(count));
    }
    template <class T> concurrency::array<T, 2> &get(size_t buffer, int rows, int columns) {
        return get<T, 2>(buffer, concurrency::extent<2>(rows, columns));
    }
    template <class T> concurrency::array<T, 3> &get(size_t buffer, int planes, int rows, int columns) {
        return get<T, 3>(buffer, concurrency::extent<3>(planes, rows, columns));
    }

    void run(unsigned times) override {
        for (unsigned i = 0; i < times; i++)
            amp(*this);
        view.wait();
    }
    void upload(const Problem &problem) override {
        for (size_t i = 0; i < slots.size(); i++)
            if (slots[i].up) slots[i].up(problem.buffers[i].bytes.data());
    }
    void download(Problem &problem) override {
        for (size_t i = 0; i < slots.size(); i++)
            if (slots[i].down) slots[i].down(problem.buffers[i].bytes.data());
    }
};

} // namespace suite

using namespace concurrency;
using suite::Arrays;
using suite::Case;
using suite::Problem;
