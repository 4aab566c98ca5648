// revamp: SPIR-V kernels in C++ AMP programs, for kernels that exist already in GLSL, HLSL or Slang.
//
//     #include <amp.h>
//     #include <revamp/kernel.h>
//
//     // layout(local_size_x = 64) in;
//     // layout(set = 0, binding = 0) readonly buffer X { float x[]; };
//     // layout(set = 0, binding = 1) buffer Y { float y[]; };
//     // layout(push_constant) uniform Push { float a; uint n; };
//     accelerator_view gpu = ...;
//     revamp::kernel saxpy(gpu.accelerator, words, sizeof words);
//     array_view<const float> x(n, xs);
//     array_view<float> y(n, ys);
//     parallel_for_each(gpu, y.extent, saxpy, x, y, 2.0f, unsigned(n));
//
// revamp::kernel::find(accelerator, "saxpy") loads a kernel that is compiled into the program. The arguments come in
// the kernel's order.
//
// - array_views and arrays are bound to the kernel's storage buffers, in the order of (set, binding). The library
//   makes views valid where the kernel runs, as for a lambda. An array_view<const T> is read. For other views, the
//   kernel's declaration of the buffer says whether the kernel reads or writes. For a view with gaps (a section, a
//   projection), the kernel sees all elements from the first to the last, so the program must pass the distance between
//   rows.
// - Other values (numbers, structures of numbers, index, extent) are push constants, each at the next multiple of its
//   alignment, as in a C structure: pass vec3 and similar types as structures with alignas. Together they must fill the
//   push-constant block.
// - A kernel whose only push constant is one 64-bit address (GL_EXT_buffer_reference) takes an argument block: one C
//   structure of all arguments in order. In it, arrays and views are the addresses of their first elements.
// - revamp::constant(id, value) sets a specialization constant; its position among the arguments does not matter.
//
// Enough workgroups run to cover the extent; if the extent is not a multiple of the workgroup, the kernel must check
// its bounds. The last dimension of the extent is Vulkan's x. Without an accelerator_view, the library selects a view
// of the kernel's accelerator by the rules for a lambda (SEL-5 to SEL-19). Errors are exceptions as in any other
// parallel_for_each; the text names the argument.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_KERNEL_H
#define REVAMP_KERNEL_H

#include "detail/array.h"
#include "detail/completion.h"
#include "detail/config.h"
#include "detail/exceptions.h"
#include "detail/view.h"

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_DETAIL_BEGIN
#ifdef _WIN32
inline const bool program_is_known = program_has_spirv = true;
#else
REVAMP_VISIBLE __attribute__((weak)) extern const char program_has_spirv = 1;
#endif
REVAMP_DETAIL_END

namespace revamp {
inline namespace REVAMP_ABI {

// A SPIR-V kernel loaded on an accelerator. It is a handle: copies are the same kernel.
class REVAMP_VISIBLE kernel {
  public:
    // Loads a copy of a module of `size` bytes. `entry_point` may be null if the module has only one. Messages show
    // `label`.
    kernel(const Concurrency::accelerator &accelerator, const void *spirv, std::size_t size,
           const char *entry_point = nullptr, const char *label = nullptr)
        : m_kernel(nullptr) {
        revamp_kernel_options options = {};
        options.struct_size = sizeof options;
        options.spirv = spirv;
        options.spirv_size = size;
        options.entry_point = entry_point;
        options.label = label;
        detail::check(revamp_kernel_create(detail::access::native(accelerator), &options, &m_kernel));
    }
    kernel(const Concurrency::accelerator &accelerator, const std::vector<std::uint32_t> &spirv,
           const char *entry_point = nullptr, const char *label = nullptr)
        : kernel(accelerator, spirv.data(), spirv.size() * sizeof(std::uint32_t), entry_point, label) {}
    // Loads a kernel that is compiled into the program by revamp_embed_spirv() of CMake.
    static kernel find(const Concurrency::accelerator &accelerator, const char *name) {
        revamp_kernel found = nullptr;
        detail::check(revamp_kernel_find(detail::access::native(accelerator), name, &found));
        return kernel(found);
    }
    kernel(const kernel &other) noexcept : m_kernel(other.m_kernel) {
        if (m_kernel) (void)revamp_kernel_retain(m_kernel);
    }
    kernel(kernel &&other) noexcept : m_kernel(std::exchange(other.m_kernel, nullptr)) {}
    kernel &operator=(kernel other) noexcept {
        std::swap(m_kernel, other.m_kernel);
        return *this;
    }
    ~kernel() {
        if (m_kernel) (void)revamp_kernel_release(m_kernel);
    }

    // The workgroup size, buffers and constants that the kernel declares.
    revamp_kernel_info info() const {
        revamp_kernel_info info = {};
        info.struct_size = sizeof info;
        detail::check(revamp_kernel_get_info(native(), &info));
        return info;
    }
    revamp_binding_info binding(unsigned number) const {
        revamp_binding_info info = {};
        info.struct_size = sizeof info;
        detail::check(revamp_kernel_get_binding(native(), number, &info));
        return info;
    }
    // The handle for the C API. It is borrowed: do not release it.
    revamp_kernel native() const {
        if (!m_kernel)
            throw Concurrency::uninitialized_object(
                "this revamp::kernel was moved to another object; use the other object");
        return m_kernel;
    }

  private:
    revamp_kernel m_kernel;

    explicit kernel(revamp_kernel owned_handle) noexcept : m_kernel(owned_handle) {}
};

// A value for the specialization constant `id`.
template <class T> struct specialization {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "a specialization constant must be a number or bool");
    std::uint32_t id;
    T value;
};
template <class T> specialization<T> constant(std::uint32_t id, T value) {
    return {id, value};
}

namespace detail {

// The arguments of a launch, added one by one.
class kernel_arguments {
  public:
    explicit kernel_arguments(const kernel &spirv_kernel) : m_kernel(spirv_kernel), m_info(spirv_kernel.info()) {}

    template <class T, int N> void add(const Concurrency::array_view<T, N> &view) {
        revamp_argument &argument = add_buffer(std::is_const_v<T>);
        argument.view = view_access::handle(view);
    }
    template <class T, int N> void add(const Concurrency::array<T, N> &array) {
        add_buffer(false).array = array_access::region(array).array;
    }
    template <class T> void add(const specialization<T> &constant) {
        // A bool specialization constant has 4 bytes.
        typedef std::conditional_t<std::is_same_v<T, bool>, std::uint32_t, T> stored_type;
        const stored_type value = constant.value;
        m_constants.push_front(0);
        __builtin_memcpy(&m_constants.front(), &value, sizeof value);
        m_arguments.push_back(revamp_argument_specialization(constant.id, &m_constants.front(), sizeof value));
    }
    template <class T> void add(const T &value) {
        static_assert(!std::is_pointer_v<T> && !std::is_reference_v<T>,
                      "a pointer cannot be an argument of a SPIR-V kernel; pass an array_view");
        static_assert(std::is_trivially_copyable_v<T>,
                      "an argument of a SPIR-V kernel must be an array_view, an array, or a trivially copyable value");
        static_assert(!is_small_integer<T>, "an argument of a SPIR-V kernel must not be char or short; pass an int");
        static_assert(
            !std::is_same_v<T, bool>,
            "a bool cannot be an argument of a SPIR-V kernel, because SPIR-V blocks cannot hold bool; pass an int");
        put(&value, sizeof(T), alignof(T));
    }

    // Launches the kernel. If `completion` is not null, the launch is timed and `*completion` becomes its completion.
    template <int N>
    void dispatch(const Concurrency::accelerator_view *target, const Concurrency::extent<N> &domain,
                  revamp_completion *completion = nullptr) {
        if (m_buffers != m_info.binding_count && !m_info.takes_block)
            throw Concurrency::runtime_exception(("the kernel has " + std::to_string(m_info.binding_count) +
                                                  " storage buffers, but " + std::to_string(m_buffers) +
                                                  " arrays and array_views were passed")
                                                     .c_str(),
                                                 failed);
        int extent_storage[N];
        revamp_dispatch_info info = {};
        info.struct_size = sizeof info;
        info.rank = N;
        info.extent = views::values(domain, extent_storage);
        if (m_info.takes_block) {
            info.block = m_bytes.data();
            info.block_size = m_bytes.size();
        } else if (!m_bytes.empty()) {
            m_arguments.push_back(revamp_argument_push_constant(0, m_bytes.data(), m_bytes.size()));
        }
        info.arguments = m_arguments.data();
        info.argument_count = m_arguments.size();
        const bool has_explicit_view = target && !target->is_auto_selection;
        const revamp_accelerator_view view = has_explicit_view ? access::native(*target) : nullptr;
        const revamp_async_options options = timed_options();
        check(completion ? revamp_dispatch_async(view, m_kernel.native(), &info, &options, completion)
                         : revamp_dispatch(view, m_kernel.native(), &info));
    }

  private:
    const kernel &m_kernel;
    const revamp_kernel_info m_info;
    std::vector<revamp_argument> m_arguments;
    std::vector<unsigned char> m_bytes;
    // The values of specialization constants. Arguments point to them.
    std::forward_list<std::uint64_t> m_constants;
    std::uint32_t m_buffers = 0;

    std::size_t put(const void *bytes, std::size_t size, std::size_t alignment) {
        const std::size_t at = (m_bytes.size() + alignment - 1) / alignment * alignment;
        m_bytes.resize(at + size);
        __builtin_memcpy(m_bytes.data() + at, bytes, size);
        return at;
    }
    revamp_argument &add_buffer(bool read_only) {
        revamp_argument argument = REVAMP_ARGUMENT_INIT;
        if (m_info.takes_block) {
            const std::uint64_t placeholder = 0;
            argument.kind = REVAMP_ARGUMENT_ADDRESS;
            argument.offset = static_cast<std::uint32_t>(put(&placeholder, sizeof placeholder, alignof(std::uint64_t)));
            argument.access = read_only ? REVAMP_ACCESS_READ : REVAMP_ACCESS_READ_WRITE;
        } else {
            if (m_buffers == m_info.binding_count)
                throw Concurrency::runtime_exception(("the kernel has " + std::to_string(m_info.binding_count) +
                                                      " storage buffers, but more arrays and array_views were passed")
                                                         .c_str(),
                                                     failed);
            const revamp_binding_info binding = m_kernel.binding(m_buffers);
            if (read_only && binding.access & REVAMP_ACCESS_WRITE)
                throw Concurrency::runtime_exception(
                    ("argument " + std::to_string(m_buffers) + " of the kernel's storage buffers" +
                     (binding.name ? std::string(" (") + binding.name + ")" : std::string()) +
                     " is written by the kernel; pass an array_view of non-const elements")
                        .c_str(),
                    failed);
            argument.kind = REVAMP_ARGUMENT_BUFFER;
            argument.set = binding.set;
            argument.binding = binding.binding;
            argument.access = binding.access;
        }
        ++m_buffers;
        m_arguments.push_back(argument);
        return m_arguments.back();
    }
};

} // namespace detail
} // namespace REVAMP_ABI
} // namespace revamp

REVAMP_NAMESPACE_BEGIN

// Runs a SPIR-V kernel; see the top of this file.
template <int N, class... Arguments>
void parallel_for_each(const accelerator_view &view, const extent<N> &domain, const revamp::kernel &kernel,
                       const Arguments &...arguments) {
    revamp::detail::kernel_arguments launch_arguments(kernel);
    (launch_arguments.add(arguments), ...);
    launch_arguments.dispatch(&view, domain);
}
template <int N, class... Arguments>
void parallel_for_each(const extent<N> &domain, const revamp::kernel &kernel, const Arguments &...arguments) {
    revamp::detail::kernel_arguments launch_arguments(kernel);
    (launch_arguments.add(arguments), ...);
    launch_arguments.dispatch(nullptr, domain);
}

REVAMP_NAMESPACE_END

namespace revamp {
inline namespace REVAMP_ABI {

// Run a SPIR-V kernel as parallel_for_each() does, and time the launch for times_of() of <revamp/times.hpp>.
template <int N, class... Arguments>
Concurrency::completion_future timed_parallel_for_each(const Concurrency::accelerator_view &view,
                                                       const Concurrency::extent<N> &domain, const kernel &kernel,
                                                       const Arguments &...arguments) {
    detail::kernel_arguments launch_arguments(kernel);
    (launch_arguments.add(arguments), ...);
    revamp_completion done = nullptr;
    launch_arguments.dispatch(&view, domain, &done);
    return detail::access::adopt(done);
}
template <int N, class... Arguments>
Concurrency::completion_future timed_parallel_for_each(const Concurrency::extent<N> &domain, const kernel &kernel,
                                                       const Arguments &...arguments) {
    detail::kernel_arguments launch_arguments(kernel);
    (launch_arguments.add(arguments), ...);
    revamp_completion done = nullptr;
    launch_arguments.dispatch(nullptr, domain, &done);
    return detail::access::adopt(done);
}

} // namespace REVAMP_ABI
} // namespace revamp

#endif // REVAMP_KERNEL_H
