// revamp: parallel_for_each (digest section 7.1) on host threads.
//
// The functor is copied while a capture scope is open, so that every array_view in it tells where it is; references to
// arrays are found by their address. What was found becomes arguments of the launch: the library makes it valid and writes
// the addresses into the functor's bytes, a copy of which is what the threads run.
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
#include <type_traits>
#include <vector>

REVAMP_DETAIL_BEGIN

// Functors up to this size are copied for each row or thread: then the compiler sees into them.
constexpr std::size_t copied_functor = 512;

// A functor on its way to a launch.
template <class Kernel> class captured_functor {
  public:
    captured_functor(const captured_functor &) = delete;
    explicit captured_functor(const Kernel &kernel) {
        {
            struct opened : capture_scope {
                opened() {
                    outer = this_thread.scope;
                    this_thread.scope = this;
                }
                ~opened() { this_thread.scope = outer; }
                opened(const opened &) = delete;
            } scope;
            new (m_bytes) Kernel(kernel);
            m_views.swap(scope.views);
        }
        find_views();
        find_arrays();
    }
    ~captured_functor() {
        // What was patched is as it was before the destructor sees it.
        for (const found_view &found : m_found)
            *found.at.control = found.control;
        for (const found_array &found : m_arrays)
            put(found.offset, found.array);
        reinterpret_cast<Kernel *>(m_bytes)->~Kernel();
    }

    const void *bytes() const { return m_bytes; }
    const std::vector<revamp_argument> &arguments() const { return m_arguments; }

  private:
    struct found_view {
        captured_view at;
        view_control *control;
    };
    struct found_array {
        std::size_t offset;
        void *array;
    };
    alignas(Kernel) alignas(void *) unsigned char m_bytes[sizeof(Kernel)];
    std::vector<captured_view> m_views;
    std::vector<found_view> m_found;
    std::vector<found_array> m_arrays;
    std::vector<revamp_argument> m_arguments;

    bool offset_of(const void *address, std::size_t &offset) const {
        const auto first = reinterpret_cast<std::uintptr_t>(m_bytes), at = reinterpret_cast<std::uintptr_t>(address);
        offset = at - first;
        return at >= first && offset < sizeof(Kernel);
    }
    void find_views() {
        for (const captured_view &view : m_views) {
            std::size_t offset = 0;
            // Temporaries lie elsewhere, and a view may have been assigned to more than once.
            if (!offset_of(view.view, offset) || !*view.control) continue;
            m_found.push_back({view, *view.control});
            revamp_argument argument = revamp_argument_view_address(static_cast<std::uint32_t>(offset), (*view.control)->handle);
            argument.access = view.access;
            m_arguments.push_back(argument);
            *view.control = nullptr;
        }
    }
    // Captured references are addresses of arrays.
    void find_arrays() {
        constexpr std::size_t step = alignof(void *);
        for (std::size_t offset = 0; offset + sizeof(void *) <= sizeof(Kernel); offset += step) {
            void *word;
            __builtin_memcpy(&word, m_bytes + offset, sizeof word);
            if (reinterpret_cast<std::uintptr_t>(word) < 4096) continue;
            array_control *control = live_arrays::all().find(word);
            if (!control) continue;
            m_arrays.push_back({offset, word});
            revamp_argument argument = revamp_argument_buffer(0, control->handle);
            argument.access = REVAMP_ACCESS_READ_WRITE;
            m_arguments.push_back(argument);
            put(offset, control->face);
        }
    }
    void put(std::size_t offset, void *word) { __builtin_memcpy(m_bytes + offset, &word, sizeof word); }
};

// What the threads run. The functor is the context; a const or mutable call operator will do.
template <class Kernel, int N> struct untiled_kernel {
    static void row(const revamp_thread_id *first, std::uint32_t count, void *context) noexcept {
        const kernel_guard guard;
        Concurrency::index<N> at(first->global);
        if constexpr (sizeof(Kernel) <= copied_functor) {
            Kernel kernel(*static_cast<const Kernel *>(context));
            run(kernel, at, count);
        } else {
            run(*static_cast<Kernel *>(context), at, count);
        }
    }

  private:
    static void run(Kernel &kernel, Concurrency::index<N> at, std::uint32_t count) {
        // Signed, so that the compiler may take it that nothing wraps around, and vectorise.
        const int end = at[unsigned(N - 1)] + static_cast<int>(count);
        for (int last = at[unsigned(N - 1)]; last < end; ++last) {
            Concurrency::index<N> position = at;
            position[unsigned(N - 1)] = last;
            kernel(position);
        }
    }
};

template <class Kernel, int D0, int D1, int D2> struct tiled_kernel {
    static void thread(const revamp_thread_id *id, void *context) noexcept {
        const kernel_guard guard;
        Concurrency::tiled_index<D0, D1, D2> position = tiled_index_of<D0, D1, D2>(*id);
        if constexpr (sizeof(Kernel) <= copied_functor) {
            Kernel kernel(*static_cast<const Kernel *>(context));
            kernel(position);
        } else {
            (*static_cast<Kernel *>(context))(position);
        }
    }
};

template <class Kernel> void launch(const Concurrency::accelerator_view *target, const Kernel &kernel, revamp_host_dispatch_info &info) {
    static_assert(alignof(Kernel) <= 64, "the functor of a parallel_for_each must not need more than 64 bytes of alignment");
    const captured_functor<Kernel> functor(kernel);
    info.struct_size = sizeof info;
    info.arguments = functor.arguments().data();
    info.argument_count = functor.arguments().size();
    info.block = functor.bytes();
    info.block_size = sizeof(Kernel);
    const bool is_chosen = target && !target->is_auto_selection;
    check(revamp_host_dispatch(is_chosen ? access::native(*target) : nullptr, &info));
}

template <class Kernel, int N>
void launch_untiled(const Concurrency::accelerator_view *target, const Concurrency::extent<N> &domain, const Kernel &kernel) {
    int room[N];
    revamp_host_dispatch_info info = {};
    info.rank = N;
    info.extent = views::values(domain, room);
    info.row_function = &untiled_kernel<Kernel, N>::row;
    launch(target, kernel, info);
}

template <class Kernel, int D0, int D1, int D2>
void launch_tiled(const Concurrency::accelerator_view *target, const Concurrency::tiled_extent<D0, D1, D2> &domain, const Kernel &kernel) {
    static_assert(tile_limits<D0, D1, D2>::kept, "");
    constexpr int N = tile_dimensions<D0, D1, D2>::rank;
    int room[N], tile[N];
    revamp_host_dispatch_info info = {};
    info.rank = N;
    info.extent = views::values(static_cast<const Concurrency::extent<N> &>(domain), room);
    info.tile = views::values(domain.tile_extent, tile);
    info.function = &tiled_kernel<Kernel, D0, D1, D2>::thread;
    launch(target, kernel, info);
}

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// Calls the kernel once for each index of the domain (rules PFE-1 to PFE-11). Returns before it has run.
template <int N, class Kernel> void parallel_for_each(const extent<N> &domain, const Kernel &kernel) {
    revamp::detail::launch_untiled(nullptr, domain, kernel);
}
template <int N, class Kernel> void parallel_for_each(const accelerator_view &view, const extent<N> &domain, const Kernel &kernel) {
    revamp::detail::launch_untiled(&view, domain, kernel);
}
template <int D0, int D1, int D2, class Kernel>
void parallel_for_each(const tiled_extent<D0, D1, D2> &domain, const Kernel &kernel) {
    revamp::detail::launch_tiled(nullptr, domain, kernel);
}
template <int D0, int D1, int D2, class Kernel>
void parallel_for_each(const accelerator_view &view, const tiled_extent<D0, D1, D2> &domain, const Kernel &kernel) {
    revamp::detail::launch_tiled(&view, domain, kernel);
}

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_LAUNCH_H
