// revamp: traces of a C++ AMP program (docs/tracing.md), labels of its objects, and scopes without transfers.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_TRACE_HPP
#define REVAMP_TRACE_HPP

#include "detail/array.h"
#include "detail/view.h"

#include <cstdint>
#include <exception>
#include <string>

namespace revamp {

// Begins to record the library's work in a file that ui.perfetto.dev and revamp-trace can open.
inline void trace_begin(const std::string &path) {
    detail::check_library();
    detail::check(revamp_trace_begin(path.c_str()));
}

// Ends the trace. Work that devices have not finished is not recorded.
inline void trace_end() {
    detail::check(revamp_trace_end());
}

// Names an object in messages, traces and Vulkan tools.
template <class T, int N> void set_label(const Concurrency::array_view<T, N> &view, const std::string &label) {
    detail::check(revamp_set_label(detail::view_access::handle(view), label.c_str()));
}
template <class T, int N> void set_label(const Concurrency::array<T, N> &array, const std::string &label) {
    detail::check(revamp_set_label(detail::array_access::handle(array), label.c_str()));
}
inline void set_label(const Concurrency::accelerator_view &view, const std::string &label) {
    detail::check(revamp_set_label(detail::access::native(view), label.c_str()));
}

// For tests: a scope in which no bytes may move between memories, on any thread. If bytes moved, check() or the end of
// the scope throws a runtime_exception with the transfers and their causes, as far as the log of the latest 4096
// transfers has them. A scope that ends by another exception throws nothing.
class assert_no_transfers {
    std::uint64_t m_first = 0;
    int m_exceptions = std::uncaught_exceptions();

  public:
    assert_no_transfers() {
        detail::check_library();
        detail::check(revamp_transfer_log_next(&m_first));
    }
    ~assert_no_transfers() noexcept(false) {
        if (std::uncaught_exceptions() == m_exceptions) check();
    }
    assert_no_transfers(const assert_no_transfers &) = delete;
    assert_no_transfers &operator=(const assert_no_transfers &) = delete;

    void check() const { detail::check(revamp_check_no_transfers(m_first)); }
};

} // namespace revamp

#endif // REVAMP_TRACE_HPP
