// revamp: parallel_for_each (digest section 7.1) on host threads.
//
// The functor is copied while a capture scope is open, so that every array_view in it tells where it is; references to
// arrays are found by their address. What was found becomes arguments of the launch: the library makes it valid and
// writes the addresses into the functor's bytes, a copy of which is what the threads run.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_LAUNCH_H
#define REVAMP_DETAIL_LAUNCH_H

#include "array.h"
#include "config.h"
#include "exceptions.h"
#include "runtime.h"
#include "shapes.h"
#include "view.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

REVAMP_DETAIL_BEGIN

// Functors up to this size are copied for each row or thread: then the compiler sees into them.
constexpr std::size_t copied_functor = 512;

// A functor on its way to a launch: what was found in its bytes.
class capture {
  public:
    capture(const capture &) = delete;
    const std::vector<revamp_argument> &arguments() const { return m_arguments; }

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
            "the kernel of a parallel_for_each captured an array by value; capture it by reference", failed);
    }
    void find(const scope &found) {
        for (const captured_view &view : found.views) {
            std::size_t offset = 0;
            // Temporaries lie elsewhere, and a view may have been assigned to more than once.
            if (!offset_of(view.view, offset) || !*view.control) continue;
            m_patched.push_back({view.control, *view.control});
            revamp_argument argument =
                revamp_argument_view_address(static_cast<std::uint32_t>(offset), (*view.control)->view());
            argument.access = view.access;
            m_arguments.push_back(argument);
            *view.control = nullptr;
        }
        // Captured references are addresses of arrays.
        for (std::size_t offset = 0; offset + sizeof(void *) <= m_size; offset += alignof(void *)) {
            void *word;
            __builtin_memcpy(&word, m_bytes + offset, sizeof word);
            if (reinterpret_cast<std::uintptr_t>(word) < 4096) continue;
            array_control *control = live_arrays::all().find(word);
            if (!control) continue;
            m_patched.push_back({m_bytes + offset, word});
            revamp_argument argument = revamp_argument_buffer(0, control->handle);
            argument.access = REVAMP_ACCESS_READ_WRITE;
            m_arguments.push_back(argument);
            put(m_bytes + offset, control->face);
        }
    }
    // What was patched is as it was before the destructor sees it.
    void restore() {
        for (const patch &one : m_patched)
            put(one.at, one.was);
    }

  private:
    struct patch {
        void *at, *was;
    };
    unsigned char *const m_bytes;
    const std::size_t m_size;
    std::vector<patch> m_patched;
    std::vector<revamp_argument> m_arguments;

    bool offset_of(const void *address, std::size_t &offset) const {
        const auto first = reinterpret_cast<std::uintptr_t>(m_bytes), at = reinterpret_cast<std::uintptr_t>(address);
        offset = at - first;
        return at >= first && offset < m_size;
    }
    static void put(void *at, void *word) { __builtin_memcpy(at, &word, sizeof word); }
};

template <class Kernel> class captured_functor : public capture {
  public:
    explicit captured_functor(const Kernel &kernel) : capture(m_bytes, sizeof(Kernel)) {
        const scope found;
        new (m_bytes) Kernel(kernel);
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
    alignas(Kernel) alignas(void *) unsigned char m_bytes[sizeof(Kernel)];

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

// What the threads run. The functor is the context.
template <class Kernel, int N> struct untiled_kernel {
    typedef Concurrency::index<N> position;
    typedef called<Kernel, position> functor;

    static void row(const revamp_thread_id *first, std::uint32_t count, void *context) noexcept {
        const kernel_guard guard;
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
    }

  private:
    static void run(functor &kernel, position at, std::uint32_t count) {
        // Signed, so that the compiler may take it that nothing wraps around, and vectorise.
        const int end = at[unsigned(N - 1)] + static_cast<int>(count);
        for (int last = at[unsigned(N - 1)]; last < end; ++last) {
            position i = at;
            i[unsigned(N - 1)] = last;
            kernel(i);
        }
    }
};

template <class Kernel, int D0, int D1, int D2> struct tiled_kernel {
    typedef Concurrency::tiled_index<D0, D1, D2> position;
    typedef called<Kernel, position> functor;

    static void thread(const revamp_thread_id *id, void *context) noexcept {
        const kernel_guard guard;
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
    }
};

// Where a program calls a function.
struct call_site {
    const char *file;
    int line;

    explicit call_site(const char *file_name = __builtin_FILE(), int line_number = __builtin_LINE())
        : file(file_name), line(line_number) {}
};

// The program's lambda is asked to run where only SPIR-V runs.
[[noreturn, gnu::cold]] inline void no_compiled_kernel(const call_site &site, const char *reason) {
    std::string why(site.file);
    why.append(":").append(std::to_string(site.line)).append(": parallel_for_each: ").append(reason);
    why.append("; this program has no compiled kernel for it. Two ways out: run it on host threads, "
               "accelerator(accelerator::direct3d_warp), or give parallel_for_each a revamp::kernel made from SPIR-V");
    throw Concurrency::runtime_exception(why.c_str(), failed);
}

template <class Kernel, class Index> constexpr void check_kernel() {
    constexpr bool callable = std::is_invocable_v<called<Kernel, Index> &, Index &>;
    static_assert(
        callable,
        "the kernel of a parallel_for_each is called with the index<N> of its extent<N>, or the tiled_index of its "
        "tiled_extent: give its operator() that parameter");
    if constexpr (callable)
        static_assert(std::is_void_v<std::invoke_result_t<called<Kernel, Index> &, Index &>>,
                      "the kernel of a parallel_for_each must return void");
    static_assert(!std::is_polymorphic_v<Kernel>, "the kernel of a parallel_for_each must not have virtual functions");
}

template <class Kernel>
void launch(const Concurrency::accelerator_view *target, const Kernel &kernel, revamp_host_dispatch_info &info,
            const call_site &site) {
    static_assert(alignof(Kernel) <= 64,
                  "the functor of a parallel_for_each must not need more than 64 bytes of alignment");
    const captured_functor<Kernel> functor(kernel);
    info.struct_size = sizeof info;
    info.arguments = functor.arguments().data();
    info.argument_count = functor.arguments().size();
    info.block = functor.bytes();
    info.block_size = sizeof(Kernel);
    const bool is_chosen = target && !target->is_auto_selection;
    release_order();
    const revamp_status status = revamp_host_dispatch(is_chosen ? access::native(*target) : nullptr, &info);
    if (status == REVAMP_ERROR_UNSUPPORTED_FEATURE) no_compiled_kernel(site, revamp_last_error_message());
    check(status);
}

#if REVAMP_DEVICE_LANGUAGE
// A call operator that is restrict(amp) is not callable on the host.
constexpr char in_hip[] = "the program was compiled in HIP mode without a kernel compiler";
#endif

template <class Kernel, int N>
void launch_untiled(const Concurrency::accelerator_view *target, const Concurrency::extent<N> &domain,
                    const Kernel &kernel, const call_site &site) {
#if REVAMP_DEVICE_LANGUAGE
    (void)target, (void)domain, (void)kernel;
    no_compiled_kernel(site, in_hip);
#else
    check_kernel<Kernel, Concurrency::index<N>>();
    int room[N];
    revamp_host_dispatch_info info = {};
    info.rank = N;
    info.extent = views::values(domain, room);
    info.row_function = &untiled_kernel<Kernel, N>::row;
    launch(target, kernel, info, site);
#endif
}

template <class Kernel, int D0, int D1, int D2>
void launch_tiled(const Concurrency::accelerator_view *target, const Concurrency::tiled_extent<D0, D1, D2> &domain,
                  const Kernel &kernel, const call_site &site) {
#if REVAMP_DEVICE_LANGUAGE
    (void)target, (void)domain, (void)kernel;
    no_compiled_kernel(site, in_hip);
#else
    check_kernel<Kernel, Concurrency::tiled_index<D0, D1, D2>>();
    static_assert(tile_limits<D0, D1, D2>::kept, "");
    constexpr int N = tile_dimensions<D0, D1, D2>::rank;
    int room[N], tile[N];
    revamp_host_dispatch_info info = {};
    info.rank = N;
    info.extent = views::values(static_cast<const Concurrency::extent<N> &>(domain), room);
    info.tile = views::values(domain.tile_extent, tile);
    info.function = &tiled_kernel<Kernel, D0, D1, D2>::thread;
    launch(target, kernel, info, site);
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
template <int D0, int D1, int D2, class Kernel>
void parallel_for_each(const tiled_extent<D0, D1, D2> &domain, const Kernel &kernel,
                       revamp::detail::call_site site = revamp::detail::call_site()) {
    revamp::detail::launch_tiled(nullptr, domain, kernel, site);
}
template <int D0, int D1, int D2, class Kernel>
void parallel_for_each(const accelerator_view &view, const tiled_extent<D0, D1, D2> &domain, const Kernel &kernel,
                       revamp::detail::call_site site = revamp::detail::call_site()) {
    revamp::detail::launch_tiled(&view, domain, kernel, site);
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_LAUNCH_H
