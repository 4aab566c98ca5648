// revamp: parallel_for_each (docs/spec/launches.md), on host threads and by compiled kernels.
//
// The functor is copied while a capture scope is open, so that every array_view in the copy registers its address. To
// find captured references, launch() looks up each pointer in the functor's bytes among the addresses of arrays and
// textures. The views and arrays become arguments of the launch: the library makes their data valid, and writes the
// addresses of their elements into a copy of the functor's bytes, which the threads run.
//
// In a source that the kernel compiler compiles, each launch has a device entry point in addition to the function for
// host threads. The library gets both addresses, and runs the entry point or the function, depending on the target.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_LAUNCH_H
#define REVAMP_DETAIL_LAUNCH_H

#include "array.h"
#include "config.h"
#include "device_abi.h"
#include "exceptions.h"
#include "restrict.h"
#include "runtime.h"
#include "shapes.h"
#include "view.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

#if REVAMP_DEVICE_LANGUAGE && !REVAMP_DEVICE_PASS && !defined(_WIN32)
// Clang registers the kernels of a translation unit after the static initialisers, which may launch kernels. So this
// code calls Clang's registration function before the static initialisers. The library ignores the later call by Clang.
// Priority 101 is the earliest that programs may use. Initialisers of the program at priority 101 may run before this
// code.
extern "C" void *revamp_image_register_early(void (*registration)());
extern "C" void revamp_image_unregister(void *image);
extern "C" void (*revamp_unit_registration)();
__asm__(".pushsection .data.rel.local,\"aw\"\n.p2align 3\nrevamp_unit_registration: .8byte __hip_module_ctor\n"
        ".popsection");
namespace {
void *revamp_unit_kernels;
__attribute__((constructor(101))) void revamp_unit_begins() {
    revamp_unit_kernels = revamp_image_register_early(revamp_unit_registration);
}
__attribute__((destructor(101))) void revamp_unit_ends() {
    revamp_image_unregister(revamp_unit_kernels);
}
} // namespace
#endif

REVAMP_PER_BINARY_BEGIN
REVAMP_DETAIL_BEGIN

// The bytes that a kernel gets. On host threads, they are the context; in a compiled kernel, the argument block. The
// struct has at least two members, because a struct with one member would be passed as that member.
template <class Kernel, int N> struct launch_block {
    Kernel kernel;
    Concurrency::extent<N> domain;
    // Without `unused`, the domain would be the only member if the functor is empty.
    unsigned unused;
#if REVAMP_DEVICE_ON_HOST
    // This destructor is not trivial, so that the calling convention of every CPU passes the struct by address.
    REVAMP_HD ~launch_block() {}
#endif

    static constexpr std::size_t domain_offset = (sizeof(Kernel) + alignof(Concurrency::extent<N>) - 1) /
                                                 alignof(Concurrency::extent<N>) * alignof(Concurrency::extent<N>);
};

// Functors of up to this many bytes are copied for each row of threads (in a tiled launch, for each thread), so that
// the compiler sees their contents.
constexpr std::size_t max_copied_functor = 512;

// The views, arrays and textures that the functor of a launch captures.
class capture {
  public:
    capture(const capture &) = delete;
    const short_list<revamp_argument, 8> &arguments() const { return m_arguments; }
    // True if a view or array has more elements than compiled kernels can count (element_offset).
    bool large() const { return m_large && !large_views; }

  protected:
    capture(void *bytes, std::size_t size) : m_bytes(static_cast<unsigned char *>(bytes)), m_size(size) {}
    ~capture() = default;

    // While a scope exists, views and arrays that are constructed on this thread register in it.
    struct scope : capture_scope {
        scope() {
            outer = this_thread.scope;
            this_thread.scope = this;
        }
        ~scope() { this_thread.scope = outer; }
        scope(const scope &) = delete;
    };

    bool holds_array(const scope &captures) const {
        std::size_t offset = 0;
        for (const void *array : captures.arrays)
            if (offset_of(array, offset)) return true;
        return false;
    }
    [[noreturn]] static void throw_captured_array() {
        throw Concurrency::runtime_exception(
            "the kernel of a parallel_for_each captured an array or texture by value; capture it by reference", failed);
    }
    void find(const scope &captures) {
        for (const captured_view &view : captures.views) {
            std::size_t offset = 0;
            // Temporaries are outside the functor. A view that was assigned to is listed more than once.
            if (!offset_of(view.view, offset)) continue;
            void *control = nullptr;
            __builtin_memcpy(&control, view.control, sizeof control);
            if (!control) continue;
            m_patched.push_back({view.control, control});
            if (__builtin_expect(view.texture != nullptr, 0)) {
                add_texture(view, offset);
            } else {
                const revamp_array_view handle = static_cast<view_control *>(control)->view();
                m_arguments.push_back(
                    revamp_argument_view_address(static_cast<std::uint32_t>(offset), handle, view.access));
            }
            m_large |= view.large;
            __builtin_memset(view.control, 0, sizeof control);
        }
        // A captured reference is the address of an array or texture.
        const live_objects::reader objects;
        if (!objects.any()) return;
        for (std::size_t offset = 0; offset + sizeof(void *) <= m_size; offset += alignof(void *)) {
            void *word;
            __builtin_memcpy(&word, m_bytes + offset, sizeof word);
            if (reinterpret_cast<std::uintptr_t>(word) < 4096) continue;
            const live_object *object = objects.find(word);
            if (!object) continue;
            revamp_argument argument = object->argument;
            argument.offset = static_cast<std::uint32_t>(offset);
            argument.data = object->header.data();
            argument.size = object->header.size();
            m_arguments.push_back(argument);
            m_large |= object->large;
        }
    }
    [[gnu::noinline, gnu::cold]] void add_texture(const captured_view &view, std::size_t offset) {
        revamp_argument argument = view.texture(view.view);
        argument.offset = static_cast<std::uint32_t>(offset);
        argument.access = view.access;
        m_arguments.push_back(argument);
    }
    // Restores the patched bytes, before the functor's destructor uses them.
    void restore() {
        for (const patch &one : m_patched)
            __builtin_memcpy(one.at, &one.original, sizeof one.original);
    }

  private:
    struct patch {
        void *at, *original;
    };
    unsigned char *const m_bytes;
    const std::size_t m_size;
    short_list<patch, 8> m_patched;
    short_list<revamp_argument, 8> m_arguments;
    bool m_large = false;

    bool offset_of(const void *address, std::size_t &offset) const {
        const auto first = reinterpret_cast<std::uintptr_t>(m_bytes), at = reinterpret_cast<std::uintptr_t>(address);
        offset = at - first;
        return at >= first && offset < m_size;
    }
};

template <class Kernel, int N> class captured_functor : public capture {
  public:
    typedef launch_block<Kernel, N> block;

    captured_functor(const Kernel &kernel, const Concurrency::extent<N> &domain) : capture(m_bytes, sizeof(Kernel)) {
        const scope captures;
        new (m_bytes) Kernel(kernel);
        new (m_bytes + block::domain_offset) Concurrency::extent<N>(domain);
        if (holds_array(captures)) {
            destroy();
            throw_captured_array();
        }
        try {
            find(captures);
        } catch (...) {
            restore();
            destroy();
            throw;
        }
    }
    ~captured_functor() {
        restore();
        destroy();
    }
    const void *bytes() const { return m_bytes; }

  private:
    alignas(block) alignas(void *) unsigned char m_bytes[sizeof(block)];

    void destroy() { reinterpret_cast<Kernel *>(m_bytes)->~Kernel(); }
};

// The type through which the functor is called. It is const if a const call operator exists, because the original
// implementation accepts no other call operator.
template <class Kernel, class Index>
using functor_to_call = std::conditional_t<std::is_invocable_v<const Kernel &, Index &>, const Kernel, Kernel>;

// True if functors are copied by their copy constructor, which shows the compiler that the views in them have no
// control objects. A copy constructor that may throw is not used, because it might do more than copy. All other
// functors are copied as bytes, and only if the call may change them.
template <class Kernel>
constexpr bool is_copied = sizeof(Kernel) <= max_copied_functor &&std::is_nothrow_copy_constructible_v<Kernel>;
// Not destroyed: copies in kernels own nothing, and a destructor would hide the contents of the views from the
// compiler.
template <class Kernel> union functor_copy {
    Kernel kernel;
    explicit functor_copy(const void *functor) : kernel(*static_cast<const Kernel *>(functor)) {}
    ~functor_copy() {}
};
template <class Kernel> struct functor_bytes {
    alignas(Kernel) unsigned char bytes[sizeof(Kernel)];
    explicit functor_bytes(const void *functor) { __builtin_memcpy(bytes, functor, sizeof bytes); }
    Kernel &kernel() { return *reinterpret_cast<Kernel *>(bytes); }
};

// Runs a kernel's function. An exception that leaves the function makes the launch fail: waiting for the launch throws
// a runtime_exception with the text.
template <class Function> void fail_on_exception(const revamp_thread_id *id, const Function &function) noexcept {
    try {
        function();
    } catch (const std::exception &e) {
        (void)revamp_host_kernel_fail(id, e.what());
    } catch (const char *text) {
        (void)revamp_host_kernel_fail(id, text);
    } catch (...) {
        (void)revamp_host_kernel_fail(id, "a kernel threw something that is not a std::exception");
    }
}

// The functions that host threads run. `context` is the functor.
template <class Kernel, int N> struct untiled_kernel {
    typedef Concurrency::index<N> position;
    typedef functor_to_call<Kernel, position> functor;

    static void row(const revamp_thread_id *first, std::uint32_t count, void *context) noexcept {
        const kernel_guard guard;
        fail_on_exception(first, [=] {
            const position at(first->global);
            if constexpr (is_copied<Kernel>) {
                functor_copy<Kernel> copy(context);
                run(copy.kernel, at, count);
            } else if constexpr (std::is_const_v<functor>) {
                run(*static_cast<const Kernel *>(context), at, count);
            } else {
                functor_bytes<Kernel> copy(context);
                run(copy.kernel(), at, count);
            }
        });
    }

  private:
    static void run(functor &kernel, position at, std::uint32_t count) {
        // Signed, so that the compiler may assume that the counter does not wrap around, and vectorise.
        const int end = at[unsigned(N - 1)] + static_cast<int>(count);
        for (int last = at[unsigned(N - 1)]; last < end; ++last) {
            position i = at;
            i[unsigned(N - 1)] = last;
            if constexpr (std::is_const_v<functor>) {
                kernel(i);
            } else {
                // The functor may change itself, so each thread has its own copy.
                functor_bytes<Kernel> thread_copy(&kernel);
                thread_copy.kernel()(i);
            }
        }
    }
};

template <class Kernel, int D0, int D1, int D2> struct tiled_kernel {
    typedef Concurrency::tiled_index<D0, D1, D2> position;
    typedef functor_to_call<Kernel, position> functor;

    static void thread(const revamp_thread_id *id, void *context) noexcept {
        const kernel_guard guard;
        fail_on_exception(id, [=] {
            position i = tiled_index_of<D0, D1, D2>(*id);
            if constexpr (is_copied<Kernel>) {
                functor_copy<Kernel> copy(context);
                functor &kernel = copy.kernel;
                kernel(i);
            } else if constexpr (std::is_const_v<functor>) {
                (*static_cast<const Kernel *>(context))(i);
            } else {
                functor_bytes<Kernel> copy(context);
                copy.kernel()(i);
            }
        });
    }
};

#if REVAMP_DEVICE_LANGUAGE
// The compiled kernels.
#if REVAMP_DEVICE_PASS
// The same choice as `functor_to_call`, in a context where device functions may be called.
struct last_choice {};
struct second_choice : last_choice {};
struct first_choice : second_choice {};
template <class Kernel, class Index>
REVAMP_DEVICE inline auto call_kernel(Kernel &kernel, Index &i, first_choice)
    -> decltype(static_cast<const Kernel &>(kernel)(i)) {
    return static_cast<const Kernel &>(kernel)(i);
}
template <class Kernel, class Index>
REVAMP_DEVICE inline auto call_kernel(Kernel &kernel, Index &i, second_choice) -> decltype(kernel(i)) {
    alignas(Kernel) unsigned char storage[sizeof(Kernel)];
    return (*static_cast<Kernel *>(__revamp_own(__builtin_addressof(kernel), storage, sizeof storage)))(i);
}
// The kernel can be called in neither way; this call makes the compiler report why.
template <class Kernel, class Index> REVAMP_DEVICE inline void call_kernel(Kernel &kernel, Index &i, last_choice) {
    kernel(i);
}
template <class Kernel, class Index> REVAMP_DEVICE inline void run_kernel(Kernel &kernel, Index &i) {
    static_assert(std::is_void_v<decltype(call_kernel(kernel, i, first_choice()))>,
                  "the kernel of a parallel_for_each must return void");
    static_assert(!std::is_polymorphic_v<Kernel>, "the kernel of a parallel_for_each must not have virtual functions");
    call_kernel(kernel, i, first_choice());
}
#if defined(REVAMP_AMP_IS_BOTH)
// Another pass has checked this code. Clang follows calls from a kernel to find code that devices must not run, and
// would refuse code that C++ AMP allows: captured references to arrays, members of local classes. Clang does not
// follow calls through variables, so this code calls run_kernel through one.
template <class Kernel, class Index>
REVAMP_DEVICE constexpr void (*start_kernel)(Kernel &, Index &) = &run_kernel<Kernel, Index>;
#else
template <class Kernel, class Index> REVAMP_DEVICE inline void start_kernel(Kernel &kernel, Index &i) {
    run_kernel(kernel, i);
}
#endif
#endif

template <class Kernel, int N> REVAMP_KERNEL void untiled_entry([[maybe_unused]] launch_block<Kernel, N> block) {
#if REVAMP_DEVICE_ON_HOST
    const on_host::ordered ordered;
    on_host::kernel_thread &row = *on_host::this_thread();
    std::jmp_buf end;
    row.end = &end;
    // A thread that ends early has made the launch fail, so the later threads of its row do not begin.
    if (REVAMP_SET_JUMP(&end) != 0) return;
    for (row.running = 0; row.running < row.count; ++row.running) {
        Concurrency::index<N> i(row.id->global);
        i[N - 1] += static_cast<int>(row.running);
        start_kernel<Kernel, Concurrency::index<N>>(block.kernel, i);
    }
#elif REVAMP_DEVICE_PASS
    __revamp_workgroup_auto(N);
#if defined(REVAMP_CHECK_BOUNDS)
    __revamp_host_checks();
#endif
    Concurrency::index<N> i;
    const unsigned x = __revamp_global_id(0);
    i[N - 1] = static_cast<int>(x);
    bool is_in_domain = x < unsigned(block.domain[N - 1]);
    unsigned y = 0, rest = 0;
    if constexpr (N > 1) {
        y = __revamp_global_id(1);
        i[N - 2] = static_cast<int>(y);
        is_in_domain = is_in_domain && y < unsigned(block.domain[N - 2]);
    }
    if constexpr (N > 2) {
        // The leading dimensions are folded into z.
        rest = __revamp_global_id(2);
        for (int d = N - 3; d > 0; --d) {
            i[d] = static_cast<int>(rest % unsigned(block.domain[d]));
            rest /= unsigned(block.domain[d]);
        }
        i[0] = static_cast<int>(rest);
        is_in_domain = is_in_domain && rest < unsigned(block.domain[0]);
    }
    if (__revamp_within(is_in_domain)) {
        // LLVM does not know that no extent is negative.
        if (!__revamp_for_host()) {
            __builtin_assume(x <= INT_MAX);
            __builtin_assume(y <= INT_MAX);
            __builtin_assume(rest <= INT_MAX);
        }
        start_kernel<Kernel, Concurrency::index<N>>(block.kernel, i);
    }
#endif
}

template <class Kernel, int D0, int D1, int D2>
REVAMP_KERNEL void tiled_entry([[maybe_unused]] launch_block<Kernel, tile_dimensions<D0, D1, D2>::rank> block) {
#if REVAMP_DEVICE_ON_HOST
    typedef Concurrency::tiled_index<D0, D1, D2> position;
    const on_host::ordered ordered;
    on_host::kernel_thread &thread = *on_host::this_thread();
    std::jmp_buf end;
    thread.end = &end;
    if (REVAMP_SET_JUMP(&end) != 0) return;
    position i = tiled_index_of<D0, D1, D2>(*thread.id);
    start_kernel<Kernel, position>(block.kernel, i);
#elif REVAMP_DEVICE_PASS
    constexpr int N = tile_dimensions<D0, D1, D2>::rank;
    __revamp_workgroup_size(N == 1 ? D0 : N == 2 ? D1 : D2, N == 1 ? 1 : N == 2 ? D0 : D1, N == 3 ? D0 : 1);
    typedef Concurrency::tiled_index<D0, D1, D2> position;
    position i = this_tiled_index<D0, D1, D2>();
#if defined(REVAMP_CHECK_BOUNDS)
    __revamp_host_checks();
#endif
    start_kernel<Kernel, position>(block.kernel, i);
#endif
}
#endif

// The file and line of a call.
struct call_site {
    const char *file;
    int line;

    explicit call_site(const char *file_name = __builtin_FILE(), int line_number = __builtin_LINE())
        : file(file_name), line(line_number) {}
};

// Reports that the accelerator cannot run the launch. Most often, the program has no compiled kernel for it.
[[noreturn, gnu::cold]] inline void throw_not_supported(const call_site &site, bool large) {
    std::string why(site.file);
    why.append(":").append(std::to_string(site.line)).append(": parallel_for_each: ");
    why.append(large ? "the kernel uses an array or array_view with more than 2147483647 elements; compile the whole "
                       "program with -DREVAMP_LARGE_VIEWS, which makes kernels a little slower"
                     : revamp_last_error_message());
    throw Concurrency::unsupported_feature(why.c_str());
}

template <class Kernel, class Index> constexpr void check_kernel() {
    constexpr bool callable = std::is_invocable_v<functor_to_call<Kernel, Index> &, Index &>;
    static_assert(callable, "the operator() of a kernel must take an index<N> in a launch over an extent<N>, and a "
                            "tiled_index in a launch over a tiled_extent");
    if constexpr (callable)
        static_assert(std::is_void_v<std::invoke_result_t<functor_to_call<Kernel, Index> &, Index &>>,
                      "the kernel of a parallel_for_each must return void");
    static_assert(!std::is_polymorphic_v<Kernel>, "the kernel of a parallel_for_each must not have virtual functions");
}

// Starts a launch. This class is the default of `Start` below; <revamp/times.hpp> has a class for timed launches.
struct plain_start {
    revamp_status operator()(revamp_accelerator_view view, const revamp_parallel_for_each_info &info) const {
        return revamp_parallel_for_each(view, &info);
    }
};

template <class Kernel, int N, class Start>
void launch(const Concurrency::accelerator_view *target, const Concurrency::extent<N> &domain, const Kernel &kernel,
            revamp_parallel_for_each_info &info, const call_site &site, Start start) {
    static_assert(alignof(Kernel) <= 64,
                  "the functor of a parallel_for_each must not need more than 64 bytes of alignment");
    const captured_functor<Kernel, N> functor(kernel, domain);
    typedef typename captured_functor<Kernel, N>::block block;
    int storage[N];
    info.struct_size = sizeof info;
    info.rank = N;
    info.extent = views::values(domain, storage);
    info.arguments = functor.arguments().data();
    info.argument_count = functor.arguments().size();
    info.block = functor.bytes();
    info.block_size = sizeof(block);
    info.block_alignment = alignof(block);
    const bool has_explicit_view = target && !target->is_auto_selection;
    const bool large = info.compiled && functor.large();
    if (large) info.compiled = nullptr; // host threads count in 64 bits
    release_order();
    const revamp_status status = start(has_explicit_view ? access::native(*target) : nullptr, info);
    if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE) throw_not_supported(site, large);
    check(status);
#if !REVAMP_DEVICE_LANGUAGE
    // A functor without views and arrays may have captured references, which only the kernel compiler refuses. The
    // referenced objects must exist until the kernel has run, and no later use of a view or array would report a
    // failure. So launch() waits.
    if (info.argument_count == 0 && !std::is_empty_v<Kernel> && !in_kernel())
        (has_explicit_view ? *target : Concurrency::accelerator().default_view).wait();
#endif
}

// In the device pass, these functions only instantiate the kernels.
template <class Kernel, int N, class Start = plain_start>
void launch_untiled([[maybe_unused]] const Concurrency::accelerator_view *target,
                    [[maybe_unused]] const Concurrency::extent<N> &domain, [[maybe_unused]] const Kernel &kernel,
                    [[maybe_unused]] const call_site &site, [[maybe_unused]] Start start = {}) {
    revamp_parallel_for_each_info info = {};
#if REVAMP_DEVICE_LANGUAGE
    info.compiled = reinterpret_cast<const void *>(&untiled_entry<Kernel, N>);
#endif
#if !REVAMP_DEVICE_PASS
#if REVAMP_HOST_RUNS_KERNELS
    check_kernel<Kernel, Concurrency::index<N>>();
    info.row_function = &untiled_kernel<Kernel, N>::row;
#endif
    launch(target, domain, kernel, info, site, start);
#endif
}

template <class Kernel, int D0, int D1, int D2, class Start = plain_start>
void launch_tiled([[maybe_unused]] const Concurrency::accelerator_view *target,
                  [[maybe_unused]] const Concurrency::tiled_extent<D0, D1, D2> &domain,
                  [[maybe_unused]] const Kernel &kernel, [[maybe_unused]] const call_site &site,
                  [[maybe_unused]] Start start = {}) {
    static_assert(tile_limits<D0, D1, D2>::meets_requirements, "");
    revamp_parallel_for_each_info info = {};
#if REVAMP_DEVICE_LANGUAGE
    info.compiled = reinterpret_cast<const void *>(&tiled_entry<Kernel, D0, D1, D2>);
#endif
#if !REVAMP_DEVICE_PASS
#if REVAMP_HOST_RUNS_KERNELS
    check_kernel<Kernel, Concurrency::tiled_index<D0, D1, D2>>();
    info.function = &tiled_kernel<Kernel, D0, D1, D2>::thread;
#endif
    constexpr int N = tile_dimensions<D0, D1, D2>::rank;
    int tile[N];
    info.tile = views::values(domain.tile_extent, tile);
    launch(target, static_cast<const Concurrency::extent<N> &>(domain), kernel, info, site, start);
#endif
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// Calls the kernel once for each index of the domain (rules PFE-1 to PFE-11). May return before the kernel has run.
template <int N, class Kernel>
void parallel_for_each(const extent<N> &domain, const Kernel &kernel,
                       revamp::detail::call_site site = revamp::detail::call_site()) {
    revamp::detail::launch_untiled(nullptr, domain, kernel, site);
}
template <int N, class Kernel>
void parallel_for_each(const accelerator_view &view, const extent<N> &domain, const Kernel &kernel,
                       revamp::detail::call_site site = revamp::detail::call_site()) {
    revamp::detail::launch_untiled(&view, domain, kernel, site);
}

// One overload per number of dimensions, so that programs can name the tile: parallel_for_each<16, 16>(extent, kernel).
#define REVAMP_TILED_LAUNCHES(parameters, arguments)                                                                   \
    template <REVAMP_LIST parameters, class Kernel>                                                                    \
    void parallel_for_each(const tiled_extent<REVAMP_LIST arguments> &domain, const Kernel &kernel,                    \
                           revamp::detail::call_site site = revamp::detail::call_site()) {                             \
        revamp::detail::launch_tiled(nullptr, domain, kernel, site);                                                   \
    }                                                                                                                  \
    template <REVAMP_LIST parameters, class Kernel>                                                                    \
    void parallel_for_each(const accelerator_view &view, const tiled_extent<REVAMP_LIST arguments> &domain,            \
                           const Kernel &kernel, revamp::detail::call_site site = revamp::detail::call_site()) {       \
        revamp::detail::launch_tiled(&view, domain, kernel, site);                                                     \
    }
#define REVAMP_LIST(...) __VA_ARGS__
REVAMP_TILED_LAUNCHES((int D0), (D0))
REVAMP_TILED_LAUNCHES((int D0, int D1), (D0, D1))
REVAMP_TILED_LAUNCHES((int D0, int D1, int D2), (D0, D1, D2))
#undef REVAMP_LIST
#undef REVAMP_TILED_LAUNCHES

REVAMP_NAMESPACE_END
REVAMP_PER_BINARY_END

#endif // REVAMP_DETAIL_LAUNCH_H
