// revamp: the functions of concurrency::direct3d beside the intrinsics (docs/spec/maths.md#direct3d). Two have a
// meaning without Direct3D; a program that uses one of the others is told why it does not compile.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_DIRECT3D_H
#define REVAMP_DETAIL_DIRECT3D_H

#include "config.h"
#include "element.h"
#include "runtime.h"

#include <atomic>

REVAMP_DETAIL_BEGIN

template <class...> constexpr bool without_direct3d = false;

// A view that was made without a timeout, and the one before it. Handles are never used again, so none is taken out.
struct view_without_timeout {
    const revamp_accelerator_view view;
    view_without_timeout *next;
};
inline std::atomic<view_without_timeout *> views_without_timeout{nullptr};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
namespace direct3d {

// A new view. revamp sets no timeouts, whatever `disable_timeout` is; the driver's own remain.
inline accelerator_view create_accelerator_view(const accelerator &accelerator, bool disable_timeout,
                                                queuing_mode mode = queuing_mode_automatic) {
    accelerator_view view = accelerator.create_view(mode);
    if (disable_timeout) {
        auto &all = revamp::detail::views_without_timeout;
        auto *const one = new revamp::detail::view_without_timeout{revamp::detail::access::native(view), all.load()};
        while (!all.compare_exchange_weak(one->next, one)) {
        }
    }
    return view;
}
// Whether create_accelerator_view() made the view so.
inline bool is_timeout_disabled(const accelerator_view &view) {
    const auto *one = revamp::detail::views_without_timeout.load();
    while (one && one->view != revamp::detail::access::native(view))
        one = one->next;
    return one != nullptr;
}

// What is about objects of Direct3D.
template <class Unknown> accelerator_view create_accelerator_view(Unknown *, queuing_mode = queuing_mode_automatic) {
    static_assert(
        revamp::detail::without_direct3d<Unknown>,
        "create_accelerator_view of a Direct3D device: revamp has no Direct3D; use accelerator::create_view(), "
        "or revamp::vulkan::create_accelerator_view() of <revamp/vulkan.hpp> for a VkDevice");
    __builtin_unreachable();
}
template <class View> void *get_device(const View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "get_device: revamp has no Direct3D, and an accelerator_view no Direct3D device; "
                  "revamp::vulkan::get_view_info() of <revamp/vulkan.hpp> gives the VkDevice");
    __builtin_unreachable();
}
template <class Array> void *get_buffer(const Array &) {
    static_assert(revamp::detail::without_direct3d<Array>,
                  "get_buffer: revamp has no Direct3D; read and write the array with copy(), "
                  "or get its VkBuffer by revamp::vulkan::get_buffer() of <revamp/vulkan.hpp>");
    __builtin_unreachable();
}
template <class T, int N, class... Arguments> array<T, N> make_array(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<T, Arguments...>,
                  "make_array: revamp has no Direct3D, whose buffer could become an array; make the array by its "
                  "constructor and fill it with copy(), or over a VkBuffer by revamp::vulkan::make_array() of "
                  "<revamp/vulkan.hpp>");
    __builtin_unreachable();
}
template <class View> void d3d_access_lock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_lock: revamp has no Direct3D device that others could use at the same time; "
                  "revamp::vulkan::queue_lock of <revamp/vulkan.hpp> locks a VkQueue");
}
template <class View> bool d3d_access_try_lock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_try_lock: revamp has no Direct3D device that others could use at the same time; "
                  "revamp::vulkan::queue_lock of <revamp/vulkan.hpp> locks a VkQueue");
    __builtin_unreachable();
}
template <class View> void d3d_access_unlock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_unlock: revamp has no Direct3D device that others could use at the same time; "
                  "revamp::vulkan::queue_lock of <revamp/vulkan.hpp> locks a VkQueue");
}
struct adopt_d3d_access_lock_t {};
class scoped_d3d_access_lock {
  public:
    template <class View, class... Adopt> explicit scoped_d3d_access_lock(View &, Adopt...) {
        static_assert(revamp::detail::without_direct3d<View>,
                      "scoped_d3d_access_lock: revamp has no Direct3D device that others could use at the same time; "
                      "revamp::vulkan::queue_lock of <revamp/vulkan.hpp> locks a VkQueue");
    }
};

} // namespace direct3d
REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_DIRECT3D_H
