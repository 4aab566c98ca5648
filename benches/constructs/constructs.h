// The C++ AMP side of the construct matrix: what the generated sources amp_N.cpp share, and their cases.
#pragma once
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace concurrency;

// A buffer of a kernel for n threads: n * per / divide elements, or `fixed` ones, behind `offset` unused ones.
struct BufferKind {
    const char *words; // of an element: f, d, i: float, double, int; _ is 4 bytes of padding
    int per, divide, fixed, offset;
    const char *fill; // even: over [low, high); sorted: the same, in order
    double low, high;
    bool result; // compared

    size_t element() const {
        size_t bytes = 0;
        for (const char *word = words; *word; word++)
            bytes += *word == 'd' ? 8 : 4;
        return bytes;
    }
    size_t bytes(int n) const {
        const size_t count = fixed ? size_t(fixed) : size_t(n) * size_t(per) / size_t(divide);
        return (count + size_t(offset)) * element();
    }
};

using Bytes = std::vector<char>;

// The buffers of a kernel as arrays on an accelerator.
class Device {
    struct Slot {
        std::shared_ptr<void> array;
        std::function<void(char *)> down;
    };
    const std::vector<Bytes> &from;
    std::vector<Slot> slots;

  public:
    accelerator_view view;

    Device(const std::vector<Bytes> &bytes, const accelerator_view &on) : from(bytes), slots(bytes.size()), view(on) {}
    template <class T> array<T> &get(size_t buffer) {
        Slot &slot = slots[buffer];
        if (!slot.array) {
            const T *data = reinterpret_cast<const T *>(from[buffer].data());
            const size_t count = from[buffer].size() / sizeof(T);
            auto made = std::make_shared<array<T>>(static_cast<int>(count), data, data + count, view);
            array<T> *pointer = made.get();
            slot.array = made;
            slot.down = [pointer](char *to) { copy(*pointer, reinterpret_cast<T *>(to)); };
        }
        return *static_cast<array<T> *>(slot.array.get());
    }
    void download(size_t buffer, char *to) { slots[buffer].down(to); }
};

struct Case {
    const char *name, *constructs;
    std::vector<BufferKind> buffers;
    double tolerance; // of results, beside the expected one and the mean of all; 0: equal
    void (*amp)(Device &, int n);
};
