// The C++ AMP side of the construct matrix: the common code of the generated sources amp_N.cpp, and the type of their
// cases.
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

// Describes a buffer of a kernel with n threads. After `offset` unused elements, the buffer has `fixed` elements. If
// `fixed` is 0, it has n * per / divide elements instead.
struct BufferKind {
    const char *field_letters; // the fields of an element: f float, d double, i int, _ 4 bytes of padding
    int per, divide, fixed, offset;
    const char *fill; // even: random values in [low, high); sorted: ascending from low to high
    double low, high;
    bool result; // true: the buffer is compared

    size_t element() const {
        size_t bytes = 0;
        for (const char *letter = field_letters; *letter; letter++)
            bytes += *letter == 'd' ? 8 : 4;
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
            auto new_array = std::make_shared<array<T>>(static_cast<int>(count), data, data + count, view);
            array<T> *pointer = new_array.get();
            slot.array = new_array;
            slot.down = [pointer](char *to) { copy(*pointer, reinterpret_cast<T *>(to)); };
        }
        return *static_cast<array<T> *>(slot.array.get());
    }
    void download(size_t buffer, char *to) { slots[buffer].down(to); }
};

struct Case {
    const char *name, *constructs;
    std::vector<BufferKind> buffers;
    double tolerance; // allowed error, relative to |expected| + the mean of all |expected|
    void (*amp)(Device &, int n);
};
