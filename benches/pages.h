// Page-aligned memory for four-byte elements. Devices that share memory with the host can use it in place.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

class Pages {
  public:
    explicit Pages(size_t count)
        : data_(static_cast<uint32_t *>(std::aligned_alloc(4096, (count * 4 + 4095) / 4096 * 4096))) {
        if (!data_) throw std::bad_alloc();
        std::fill_n(data_, count, 0);
    }
    ~Pages() { std::free(data_); }
    Pages(Pages &&other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Pages &operator=(Pages &&) = delete;
    uint32_t *data() const { return data_; }

  private:
    uint32_t *data_;
};
