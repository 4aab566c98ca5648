// revamp: the begin and end times of launches and copies, by the device's clock.
//
//     #include <amp.h>
//     #include <revamp/times.hpp>
//
//     completion_future done =
//         revamp::timed_parallel_for_each(view, out.extent, [=](index<1> i) restrict(amp) { ... });
//     std::chrono::nanoseconds took = revamp::times_of(done).duration();
//
// A timed launch runs alone on its accelerator_view. A timed copy runs on a thread of the library. Launches and copies
// that are not timed do not become slower. Kernels of <revamp/kernel.h> are timed in the same way.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_TIMES_HPP
#define REVAMP_TIMES_HPP

#include "detail/copy.h"
#include "detail/launch.h"

#include <chrono>

REVAMP_DETAIL_BEGIN

// Starts a launch like revamp_parallel_for_each(), but timed.
struct timed_start {
    Concurrency::completion_future *done;

    revamp_status operator()(revamp_accelerator_view view, const revamp_parallel_for_each_info &info) const {
        const revamp_async_options options = timed_options();
        revamp_completion begun = nullptr;
        const revamp_status status = revamp_parallel_for_each_async(view, &info, &options, &begun);
        if (status == REVAMP_OK) *done = access::adopt(begun);
        return status;
    }
};

template <class T> constexpr bool is_array_or_view = false;
template <class T, int N> constexpr bool is_array_or_view<Concurrency::array<T, N>> = true;
template <class T, int N> constexpr bool is_array_or_view<Concurrency::array_view<T, N>> = true;

// Returns the memory that an iterator points to, as one side of a copy. The other side has the extent `shape`.
template <class T, class It, int N> host_region<N> timed_memory(const It &it, const Concurrency::extent<N> &shape) {
    static_assert(
        is_memory_of<std::remove_const_t<T>, It>,
        "a timed copy needs an iterator to contiguous elements of the array's type; copy to or from a std::vector");
    return host_region<N>(contiguous<It>::address(it), shape);
}

inline Concurrency::completion_future timed_copy(const revamp_region &source, const revamp_region &destination) {
    const revamp_async_options options = timed_options();
    return copy_regions_async(source, destination, &options);
}

REVAMP_DETAIL_END

namespace revamp {
inline namespace REVAMP_ABI {

// The times at which an operation began and ended.
struct device_times {
    std::chrono::nanoseconds begin, end;
    // The maximum deviation of `begin` and `end` from the host's clock; 0 if they are on a clock of the device.
    std::chrono::nanoseconds deviation;
    // True if `begin` and `end` are on the host's clock, like std::chrono::steady_clock::now().time_since_epoch().
    // False if they are on a clock of the device.
    bool is_host_clock;

    std::chrono::nanoseconds duration() const { return end - begin; }
};

// Waits for a timed operation. Throws its failure, and a runtime_exception if the operation is not timed.
inline device_times times_of(const Concurrency::completion_future &operation) {
    if (!operation.valid()) throw std::future_error(std::future_errc::no_state);
    const revamp_completion completion = detail::access::native(operation);
    if (!completion)
        throw Concurrency::runtime_exception(
            "the operation is not timed; begin the copy with revamp::timed_copy_async()", detail::failed);
    revamp_times found = REVAMP_TIMES_INIT;
    detail::check(revamp_completion_get_times(completion, &found));
    typedef std::chrono::nanoseconds time;
    return {time(found.begin), time(found.end), time(found.deviation), found.is_host_clock};
}

// A timed parallel_for_each(domain, kernel). `domain` is an extent or a tiled_extent.
template <int N, class Kernel>
Concurrency::completion_future timed_parallel_for_each(const Concurrency::extent<N> &domain, const Kernel &kernel,
                                                       detail::call_site site = detail::call_site()) {
    Concurrency::completion_future done;
    detail::launch_untiled(nullptr, domain, kernel, site, detail::timed_start{&done});
    return done;
}
template <int D0, int D1, int D2, class Kernel>
Concurrency::completion_future timed_parallel_for_each(const Concurrency::tiled_extent<D0, D1, D2> &domain,
                                                       const Kernel &kernel,
                                                       detail::call_site site = detail::call_site()) {
    Concurrency::completion_future done;
    detail::launch_tiled(nullptr, domain, kernel, site, detail::timed_start{&done});
    return done;
}

// A timed parallel_for_each(view, domain, kernel).
template <int N, class Kernel>
Concurrency::completion_future timed_parallel_for_each(const Concurrency::accelerator_view &view,
                                                       const Concurrency::extent<N> &domain, const Kernel &kernel,
                                                       detail::call_site site = detail::call_site()) {
    Concurrency::completion_future done;
    detail::launch_untiled(&view, domain, kernel, site, detail::timed_start{&done});
    return done;
}
template <int D0, int D1, int D2, class Kernel>
Concurrency::completion_future
timed_parallel_for_each(const Concurrency::accelerator_view &view, const Concurrency::tiled_extent<D0, D1, D2> &domain,
                        const Kernel &kernel, detail::call_site site = detail::call_site()) {
    Concurrency::completion_future done;
    detail::launch_tiled(&view, domain, kernel, site, detail::timed_start{&done});
    return done;
}

// A timed copy_async(source, destination) for arrays and array_views. The source or the destination may instead be an
// iterator to contiguous elements.
template <class Source, class Destination>
Concurrency::completion_future timed_copy_async(const Source &source, Destination &&destination) {
    typedef std::decay_t<Destination> Target;
    static_assert(detail::is_array_or_view<Source> || detail::is_array_or_view<Target>,
                  "the source or the destination of a timed copy must be an array or array_view");
    if constexpr (!detail::is_array_or_view<Source>) {
        typedef typename Target::value_type T;
        return detail::timed_copy(detail::timed_memory<T>(source, destination.extent), detail::region_of(destination));
    } else if constexpr (!detail::is_array_or_view<Target>) {
        typedef typename Source::value_type T;
        static_assert(detail::check_output<T, Target>(), "");
        return detail::timed_copy(detail::region_of(source), detail::timed_memory<T>(destination, source.extent));
    } else {
        return detail::timed_copy(detail::region_of(source), detail::region_of(destination));
    }
}

} // namespace REVAMP_ABI
} // namespace revamp

#endif // REVAMP_TIMES_HPP
