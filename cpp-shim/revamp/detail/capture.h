// revamp: the state of a thread while it prepares a launch or runs a kernel.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_CAPTURE_H
#define REVAMP_DETAIL_CAPTURE_H

#include "config.h"
#include "runtime.h"
#include "short_list.h"

REVAMP_DETAIL_BEGIN

// The state of a thread: the nesting depth of kernels, and the launch that is being prepared. All modules of a program
// share it, even under -fvisibility=hidden.
struct capture_scope;
struct thread_state {
    unsigned kernels = 0;
    capture_scope *scope = nullptr;
};
#if REVAMP_DEVICE_PASS
extern thread_state this_thread; // for host code, which the device pass only parses
#else
REVAMP_VISIBLE inline thread_local thread_state this_thread;
#endif

// A view that was found in a kernel's functor.
struct captured_view {
    void *view;    // the view, whose first member is the address of its elements
    void *control; // the address of its member m_control
    revamp_access access;
    bool large; // too large for element_offset in kernels
    // Makes the launch argument of a texture view; null for an array_view.
    revamp_argument (*texture)(const void *view);
};

// The views and arrays that are copied while a launch copies its functor.
struct capture_scope {
    short_list<captured_view, 8> views;
    short_list<const void *, 8> arrays;
    capture_scope *outer;
};

#if REVAMP_DEVICE_PASS
REVAMP_HD constexpr bool in_kernel() noexcept {
    return true;
}
#else
// gnu::const, because the result changes only where a kernel begins or ends. The compiler therefore keeps one call per
// function, and none after the constructor of a kernel_guard, even if it cannot prove that `kernels` is unchanged.
[[gnu::noinline, gnu::const]] REVAMP_HD inline bool in_kernel() noexcept {
    return this_thread.kernels != 0;
}
#endif

// Marks the code of a kernel, and tells the compiler that views in it have no control objects. For use only at the
// beginning of functions that the library calls.
struct kernel_guard {
    kernel_guard() noexcept {
#if !REVAMP_DEVICE_PASS
        acquire_order();
        ++this_thread.kernels;
        if (!in_kernel()) __builtin_unreachable();
#endif
    }
    ~kernel_guard() {
#if !REVAMP_DEVICE_PASS
        --this_thread.kernels;
        release_order();
#endif
    }
    kernel_guard(const kernel_guard &) = delete;
};

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_CAPTURE_H
