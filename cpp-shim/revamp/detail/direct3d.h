// revamp: the functions of concurrency::direct3d other than the intrinsics (docs/spec/maths.md#direct3d). Two have a
// meaning without Direct3D. The others do not compile, and their messages name a replacement.
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

// An entry in the list of views that were created without a timeout. Handles are never reused, so entries are never
// removed.
struct view_without_timeout {
    const revamp_accelerator_view view;
    view_without_timeout *next;
};
inline std::atomic<view_without_timeout *> views_without_timeout{nullptr};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN
namespace direct3d {

// Creates a view. revamp sets no timeouts, whatever `disable_timeout` is; the driver may have its own.
inline accelerator_view create_accelerator_view(const accelerator &accelerator, bool disable_timeout,
                                                queuing_mode mode = queuing_mode_automatic) {
    accelerator_view view = accelerator.create_view(mode);
    if (disable_timeout) {
        auto &all = revamp::detail::views_without_timeout;
        auto *const entry = new revamp::detail::view_without_timeout{revamp::detail::access::native(view), all.load()};
        while (!all.compare_exchange_weak(entry->next, entry)) {
        }
    }
    return view;
}
// True if create_accelerator_view() created the view with `disable_timeout`.
inline bool is_timeout_disabled(const accelerator_view &view) {
    const auto *entry = revamp::detail::views_without_timeout.load();
    while (entry && entry->view != revamp::detail::access::native(view))
        entry = entry->next;
    return entry != nullptr;
}

// Functions on objects of Direct3D.
template <class Unknown> accelerator_view create_accelerator_view(Unknown *, queuing_mode = queuing_mode_automatic) {
    static_assert(
        revamp::detail::without_direct3d<Unknown>,
        "create_accelerator_view of a Direct3D device: revamp has no Direct3D; use accelerator::create_view(), "
        "or revamp::vulkan::create_accelerator_view() of <revamp/vulkan.hpp> for a VkDevice");
    __builtin_unreachable();
}
template <class View> void *get_device(const View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "get_device: revamp has no Direct3D, so an accelerator_view has no Direct3D device; "
                  "call revamp::vulkan::get_view_info() of <revamp/vulkan.hpp> to get the VkDevice");
    __builtin_unreachable();
}
template <class Array> void *get_buffer(const Array &) {
    static_assert(revamp::detail::without_direct3d<Array>,
                  "get_buffer: revamp has no Direct3D; read and write the array with copy(), "
                  "or get its VkBuffer with revamp::vulkan::get_buffer() of <revamp/vulkan.hpp>");
    __builtin_unreachable();
}
template <class T, int N, class... Arguments> array<T, N> make_array(const Arguments &...) {
    static_assert(revamp::detail::without_direct3d<T, Arguments...>,
                  "make_array: revamp has no Direct3D, so there is no Direct3D buffer to use; construct the array and "
                  "fill it with copy(), or call revamp::vulkan::make_array() of <revamp/vulkan.hpp> for a VkBuffer");
    __builtin_unreachable();
}
template <class View> void d3d_access_lock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_lock: revamp has no Direct3D device, so there is nothing to lock; to lock a VkQueue, use "
                  "revamp::vulkan::queue_lock of <revamp/vulkan.hpp>");
}
template <class View> bool d3d_access_try_lock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_try_lock: revamp has no Direct3D device, so there is nothing to lock; to lock a VkQueue, "
                  "use revamp::vulkan::queue_lock of <revamp/vulkan.hpp>");
    __builtin_unreachable();
}
template <class View> void d3d_access_unlock(View &) {
    static_assert(revamp::detail::without_direct3d<View>,
                  "d3d_access_unlock: revamp has no Direct3D device, so there is nothing to lock; to lock a VkQueue, "
                  "use revamp::vulkan::queue_lock of <revamp/vulkan.hpp>");
}
struct adopt_d3d_access_lock_t {};
class scoped_d3d_access_lock {
  public:
    template <class View, class... Adopt> explicit scoped_d3d_access_lock(View &, Adopt...) {
        static_assert(revamp::detail::without_direct3d<View>,
                      "scoped_d3d_access_lock: revamp has no Direct3D device, so there is nothing to lock; to lock a "
                      "VkQueue, use revamp::vulkan::queue_lock of <revamp/vulkan.hpp>");
    }
};

} // namespace direct3d
REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_DIRECT3D_H
