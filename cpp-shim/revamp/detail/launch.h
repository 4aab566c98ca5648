// revamp: parallel_for_each (docs/spec/launches.md), on host threads and by compiled kernels.
//
// The functor is copied while a capture scope is open, so that every array_view in it tells where it is; references to
// arrays are found by their address. What was found becomes arguments of the launch: the library makes it valid and
// writes the addresses into a copy of the functor's bytes, which is what the threads run.
//
// A source that the kernel compiler compiles holds, for each launch, an entry point of the device besides the function
// for host threads; the library gets the addresses of both and runs the one that fits where the launch goes.
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
// Clang registers the kernels of a translation unit behind its static initialisers, which may launch them. So its
// function runs here, before them; the library then ignores it at its time.
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

REVAMP_OWN_BEGIN
REVAMP_DETAIL_BEGIN

// What a kernel gets, byte for byte: on host threads as its context, as a compiled kernel in its argument block. Of two
// members, as a struct of one would be handed over as that member.
template <class Kernel, int N> struct launch_block {
    Kernel kernel;
    Concurrency::extent<N> domain;
    // Of an empty functor the domain would be the only one.
    unsigned unused;
#if REVAMP_DEVICE_ON_HOST
    // Not trivial, so that every processor's calling convention hands over its address.
    REVAMP_HD ~launch_block() {}
#endif

    static constexpr std::size_t domain_offset = (sizeof(Kernel) + alignof(Concurrency::extent<N>) - 1) /
                                                 alignof(Concurrency::extent<N>) * alignof(Concurrency::extent<N>);
};

// Functors up to this size are copied for each row or thread: then the compiler sees into them.
constexpr std::size_t copied_functor = 512;

// A functor on its way to a launch: what was found in its bytes.
class capture {
  public:
    capture(const capture &) = delete;
    const short_list<revamp_argument, 8> &arguments() const { return m_arguments; }
    // It uses more elements of a view or array than compiled kernels count (element_offset).
    bool large() const { return m_large && !large_views; }

  protected:
    capture(void *bytes, std::size_t size) : m_bytes(static_cast<unsigned char *>(bytes)), m_size(size) {}
    ~capture() = default;

    // While it lives, what comes into being on this thread is told to it.
    struct scope : capture_scope {
        scope() {
            outer = this_thread.scope;
            this_thread.scope = this;
        }
        ~scope() { this_thread.scope = outer; }
        scope(const scope &) = delete;
    };

    bool holds_array(const scope &found) const {
        std::size_t offset = 0;
        for (const void *array : found.arrays)
            if (offset_of(array, offset)) return true;
        return false;
    }
    [[noreturn]] static void refuse_array() {
        throw Concurrency::runtime_exception(
            "the kernel of a parallel_for_each captured an array or texture by value; capture it by reference", failed);
    }
    void find(const scope &found) {
        for (const captured_view &view : found.views) {
            std::size_t offset = 0;
            // Temporaries lie elsewhere, and a view may have been assigned to more than once.
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
        // Captured references are addresses of arrays and textures.
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
    // What was patched is as it was before the destructor sees it.
    void restore() {
        for (const patch &one : m_patched)
            __builtin_memcpy(one.at, &one.was, sizeof one.was);
    }

  private:
    struct patch {
        void *at, *was;
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
        const scope found;
        new (m_bytes) Kernel(kernel);
        new (m_bytes + block::domain_offset) Concurrency::extent<N>(domain);
        if (holds_array(found)) {
            destroy();
            refuse_array();
        }
        try {
            find(found);
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

// A const call operator is preferred, as the original implementation has no other.
template <class Kernel, class Index>
using called = std::conditional_t<std::is_invocable_v<const Kernel &, Index &>, const Kernel, Kernel>;

// Functors are copied by their constructor, so that the compiler sees that their views have no handles; but not where a
// copy constructor of the program's own might do more than copy. Those are copied as bytes, and only if the call may
// change them.
template <class Kernel>
constexpr bool is_copied = sizeof(Kernel) <= copied_functor &&std::is_nothrow_copy_constructible_v<Kernel>;
// Not destroyed: copies in kernels own nothing, and a destructor is where the compiler would lose sight of their views.
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

// Runs a kernel's function. What leaves it makes the launch fail: waiting for it throws a runtime_exception with the
// text.
template <class Function> void contained(const revamp_thread_id *id, const Function &function) noexcept {
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

// What the threads run. The functor is the context.
template <class Kernel, int N> struct untiled_kernel {
    typedef Concurrency::index<N> position;
    typedef called<Kernel, position> functor;

    static void row(const revamp_thread_id *first, std::uint32_t count, void *context) noexcept {
        const kernel_guard guard;
        contained(first, [=] {
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
        // Signed, so that the compiler may take it that nothing wraps around, and vectorise.
        const int end = at[unsigned(N - 1)] + static_cast<int>(count);
        for (int last = at[unsigned(N - 1)]; last < end; ++last) {
            position i = at;
            i[unsigned(N - 1)] = last;
            if constexpr (std::is_const_v<functor>) {
                kernel(i);
            } else {
                // It may change itself, and each thread has one of its own.
                functor_bytes<Kernel> own(&kernel);
                own.kernel()(i);
            }
        }
    }
};

template <class Kernel, int D0, int D1, int D2> struct tiled_kernel {
    typedef Concurrency::tiled_index<D0, D1, D2> position;
    typedef called<Kernel, position> functor;

    static void thread(const revamp_thread_id *id, void *context) noexcept {
        const kernel_guard guard;
        contained(id, [=] {
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
// As `called`, asked where functions of the device may be called.
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
    alignas(Kernel) unsigned char room[sizeof(Kernel)];
    return (*static_cast<Kernel *>(__revamp_own(__builtin_addressof(kernel), room, sizeof room)))(i);
}
// It can be called in neither way: the compiler says why.
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
// This pass makes code of what another one has checked. Clang looks for what device code must not do along calls from a
// kernel, and would find what C++ AMP allows: captured references of arrays, members of local classes. It does not look
// into variables.
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
    // A thread that ends early has made the launch fail: no other thread of its row begins.
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
    i[N - 1] = static_cast<int>(__revamp_global_id(0));
    bool runs = unsigned(i[N - 1]) < unsigned(block.domain[N - 1]);
    if constexpr (N > 1) {
        i[N - 2] = static_cast<int>(__revamp_global_id(1));
        runs = runs && unsigned(i[N - 2]) < unsigned(block.domain[N - 2]);
    }
    if constexpr (N > 2) {
        // The leading dimensions are folded into z.
        unsigned rest = __revamp_global_id(2);
        for (int d = N - 3; d > 0; --d) {
            i[d] = static_cast<int>(rest % unsigned(block.domain[d]));
            rest /= unsigned(block.domain[d]);
        }
        i[0] = static_cast<int>(rest);
        runs = runs && rest < unsigned(block.domain[0]);
    }
    if (__revamp_within(runs)) start_kernel<Kernel, Concurrency::index<N>>(block.kernel, i);
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

// Where a program calls a function.
struct call_site {
    const char *file;
    int line;

    explicit call_site(const char *file_name = __builtin_FILE(), int line_number = __builtin_LINE())
        : file(file_name), line(line_number) {}
};

// The launch needs what the accelerator does not have; most often, the program has no compiled kernel for it.
[[noreturn, gnu::cold]] inline void not_supported(const call_site &site, bool large) {
    std::string why(site.file);
    why.append(":").append(std::to_string(site.line)).append(": parallel_for_each: ");
    why.append(large
                   ? "an array or array_view of more than 2147483647 elements; define REVAMP_LARGE_VIEWS for the whole "
                     "program, which makes kernels a little slower"
                   : revamp_last_error_message());
    throw Concurrency::unsupported_feature(why.c_str());
}

template <class Kernel, class Index> constexpr void check_kernel() {
    constexpr bool callable = std::is_invocable_v<called<Kernel, Index> &, Index &>;
    static_assert(
        callable,
        "the operator() of a kernel must take the index<N> of its extent<N>, or the tiled_index of its tiled_extent");
    if constexpr (callable)
        static_assert(std::is_void_v<std::invoke_result_t<called<Kernel, Index> &, Index &>>,
                      "the kernel of a parallel_for_each must return void");
    static_assert(!std::is_polymorphic_v<Kernel>, "the kernel of a parallel_for_each must not have virtual functions");
}

// Begins a launch; <revamp/times.hpp> has another one.
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
    int room[N];
    info.struct_size = sizeof info;
    info.rank = N;
    info.extent = views::values(domain, room);
    info.arguments = functor.arguments().data();
    info.argument_count = functor.arguments().size();
    info.block = functor.bytes();
    info.block_size = sizeof(block);
    info.block_alignment = alignof(block);
    const bool is_chosen = target && !target->is_auto_selection;
    const bool large = info.compiled && functor.large();
    if (large) info.compiled = nullptr; // host threads count in 64 bits
    release_order();
    const revamp_status status = start(is_chosen ? access::native(*target) : nullptr, info);
    if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE) not_supported(site, large);
    check(status);
#if !REVAMP_DEVICE_LANGUAGE
    // It holds references at most, which the kernel compiler would have refused: what they name must be there until the
    // kernel has run, and no view or array tells of its failure.
    if (info.argument_count == 0 && !std::is_empty_v<Kernel> && !in_kernel())
        (is_chosen ? *target : Concurrency::accelerator().default_view).wait();
#endif
}

// The device pass only looks for kernels.
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
    static_assert(tile_limits<D0, D1, D2>::kept, "");
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

// Calls the kernel once for each index of the domain (rules PFE-1 to PFE-11). Returns before it has run.
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

// One for each number of dimensions, so that the tile may be given by hand: parallel_for_each<16, 16>(extent, kernel).
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
REVAMP_OWN_END

#endif // REVAMP_DETAIL_LAUNCH_H
