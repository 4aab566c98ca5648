// Wrappers of revamp's C API with exceptions and owning handles. The wrappers are so thin that their time is the time
// of the C call.
#pragma once
#include <revamp.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "shaders.h"

namespace ours {

inline void must(revamp_status status, const char *what) {
    if (status != REVAMP_OK)
        throw std::runtime_error(std::string(what) + ": " + revamp_status_name(status) + ": " +
                                 revamp_last_error_message());
}

class Array {
  public:
    // The elements have four bytes.
    Array(revamp_accelerator_view view, std::initializer_list<int32_t> extent,
          revamp_accelerator_view associated = nullptr) {
        revamp_array_options options{};
        options.struct_size = sizeof options;
        options.associated_view = associated;
        must(revamp_array_create(view, static_cast<uint32_t>(extent.size()), extent.begin(), 4, &options, &handle_),
             "revamp_array_create");
    }
    ~Array() {
        if (handle_) revamp_array_destroy(handle_);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    operator revamp_array() const { return handle_; }
    void *data(revamp_access access) const {
        void *pointer = nullptr;
        must(revamp_array_data(handle_, access, &pointer), "revamp_array_data");
        return pointer;
    }
    void upload(const void *from, size_t bytes) const {
        must(revamp_copy_to_array(from, bytes, handle_), "revamp_copy_to_array");
    }
    void download(void *to, size_t bytes) const {
        must(revamp_copy_from_array(handle_, to, bytes), "revamp_copy_from_array");
    }

  private:
    revamp_array handle_ = nullptr;
};

// An array_view with four-byte elements. It can be moved, not copied.
class View {
  public:
    View() = default;
    View(View &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    View &operator=(View &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~View() {
        if (handle_) revamp_array_view_release(handle_);
    }
    static View over(void *memory, std::initializer_list<int32_t> extent) {
        View v;
        must(revamp_array_view_create_host(memory, static_cast<uint32_t>(extent.size()), extent.begin(), 4, nullptr,
                                           &v.handle_),
             "revamp_array_view_create_host");
        return v;
    }
    static View over(revamp_array array) {
        View v;
        must(revamp_array_view_create_array(array, nullptr, &v.handle_), "revamp_array_view_create_array");
        return v;
    }
    View section(std::initializer_list<int32_t> origin, std::initializer_list<int32_t> extent) const {
        View v;
        must(revamp_array_view_section(handle_, origin.begin(), extent.begin(), &v.handle_),
             "revamp_array_view_section");
        return v;
    }
    View read_only() const {
        View v;
        must(revamp_array_view_as_read_only(handle_, &v.handle_), "revamp_array_view_as_read_only");
        return v;
    }
    operator revamp_array_view() const { return handle_; }
    void *access(revamp_access access) const {
        void *pointer = nullptr;
        must(revamp_array_view_data(handle_, access, &pointer), "revamp_array_view_data");
        return pointer;
    }
    void synchronize_to(revamp_accelerator_view where, revamp_access access) const {
        must(revamp_array_view_synchronize_to(handle_, where, access), "revamp_array_view_synchronize_to");
    }

  private:
    revamp_array_view handle_ = nullptr;
};

class Kernel {
  public:
    Kernel(revamp_accelerator accelerator, const Shader &shader) {
        revamp_kernel_options options{};
        options.struct_size = sizeof options;
        options.spirv = shader.words;
        options.spirv_size = shader.bytes;
        must(revamp_kernel_create(accelerator, &options, &handle_), "revamp_kernel_create");
    }
    ~Kernel() {
        if (handle_) revamp_kernel_release(handle_);
    }
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;
    operator revamp_kernel() const { return handle_; }

  private:
    revamp_kernel handle_ = nullptr;
};

// Describes a launch with one thread for each of `extent` elements. All arguments of this function must live until the
// launch.
template <size_t N>
revamp_dispatch_info over(const int32_t &extent, const revamp_argument (&arguments)[N], const void *block = nullptr,
                          size_t block_size = 0) {
    revamp_dispatch_info info{};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = N;
    info.block = block;
    info.block_size = block_size;
    return info;
}

inline revamp_region region(revamp_array array, const int32_t *origin = nullptr, const int32_t *extent = nullptr) {
    revamp_region r{};
    r.struct_size = sizeof r;
    r.array = array;
    r.origin = origin;
    r.extent = extent;
    return r;
}

// The region of a contiguous matrix of four-byte elements in host memory.
inline revamp_region region(void *host, const int32_t (&extent)[2]) {
    revamp_region r{};
    r.struct_size = sizeof r;
    r.host = host;
    r.extent = extent;
    r.host_rank = 2;
    r.host_element_size = 4;
    return r;
}

inline revamp_region region(const View &view) {
    revamp_region r{};
    r.struct_size = sizeof r;
    r.view = view;
    return r;
}

inline void copy(const revamp_region &from, const revamp_region &to) {
    must(revamp_copy(&from, &to), "revamp_copy");
}
inline void wait(revamp_accelerator_view view) {
    must(revamp_accelerator_view_wait(view), "revamp_accelerator_view_wait");
}

} // namespace ours
