// revamp: the exceptions of C++ AMP, and the conversion of the C API's status codes to them (docs/spec/errors.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_EXCEPTIONS_H
#define REVAMP_DETAIL_EXCEPTIONS_H

#include "config.h"
#include "msvc_words.h"

#include <revamp.h>

#include <exception>
#include <memory>
#include <string>

#ifndef REVAMP_NO_MSVC_WORDS
#ifndef E_HANDLE
#define E_HANDLE (static_cast<HRESULT>(0x80070006U))
#endif
#ifndef DXGI_ERROR_DEVICE_REMOVED
#define DXGI_ERROR_DEVICE_REMOVED (static_cast<HRESULT>(0x887A0005U))
#endif
#ifndef DXGI_ERROR_DEVICE_HUNG
#define DXGI_ERROR_DEVICE_HUNG (static_cast<HRESULT>(0x887A0006U))
#endif
#ifndef DXGI_ERROR_DEVICE_RESET
#define DXGI_ERROR_DEVICE_RESET (static_cast<HRESULT>(0x887A0007U))
#endif
#endif

REVAMP_DETAIL_BEGIN

// Error codes that the shim itself uses. They equal the library's HRESULTs.
constexpr int not_implemented = static_cast<int>(0x80004001U);
constexpr int failed = static_cast<int>(0x80004005U);
constexpr int no_memory = static_cast<int>(0x8007000EU);
constexpr int device_removed = static_cast<int>(0x887A0005U);

REVAMP_DETAIL_END

REVAMP_NAMESPACE_BEGIN

class REVAMP_VISIBLE runtime_exception : public std::exception {
  public:
    runtime_exception(const char *message, HRESULT code) noexcept;
    explicit runtime_exception(HRESULT code) noexcept : m_code(code) {}
    runtime_exception(const runtime_exception &) noexcept = default;
    runtime_exception &operator=(const runtime_exception &) noexcept = default;
    ~runtime_exception() noexcept override = default;

    const char *what() const noexcept override { return m_message ? m_message->c_str() : ""; }
    HRESULT get_error_code() const noexcept { return m_code; }

  private:
    std::shared_ptr<const std::string> m_message;
    HRESULT m_code;
};

#if !REVAMP_DEVICE_PASS
inline runtime_exception::runtime_exception(const char *message, HRESULT code) noexcept : m_code(code) {
    // If there is no memory for the message, the exception has no message.
    try {
        if (message) m_message = std::make_shared<const std::string>(message);
    } catch (...) {
    }
}
#endif

class REVAMP_VISIBLE invalid_compute_domain : public runtime_exception {
  public:
    explicit invalid_compute_domain(const char *message) noexcept
        : runtime_exception(message, revamp::detail::failed) {}
    invalid_compute_domain() noexcept : runtime_exception(revamp::detail::failed) {}
};

class REVAMP_VISIBLE out_of_memory : public runtime_exception {
  public:
    explicit out_of_memory(const char *message) noexcept : runtime_exception(message, revamp::detail::no_memory) {}
    out_of_memory() noexcept : runtime_exception(revamp::detail::no_memory) {}
};

class REVAMP_VISIBLE uninitialized_object : public runtime_exception {
  public:
    explicit uninitialized_object(const char *message) noexcept : runtime_exception(message, revamp::detail::failed) {}
    uninitialized_object() noexcept : runtime_exception(revamp::detail::failed) {}
};

class REVAMP_VISIBLE unsupported_feature : public runtime_exception {
  public:
    explicit unsupported_feature(const char *message) noexcept
        : runtime_exception(message, revamp::detail::not_implemented) {}
    unsupported_feature() noexcept : runtime_exception(revamp::detail::not_implemented) {}
};

class REVAMP_VISIBLE accelerator_view_removed : public runtime_exception {
  public:
    accelerator_view_removed(const char *message, HRESULT reason) noexcept
        : runtime_exception(message, revamp::detail::device_removed), m_reason(reason) {}
    explicit accelerator_view_removed(HRESULT reason) noexcept
        : runtime_exception(revamp::detail::device_removed), m_reason(reason) {}

    HRESULT get_view_removed_reason() const noexcept { return m_reason; }

  private:
    HRESULT m_reason;
};

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// Throws the exception for `status`, which is an error. `code` is the library's HRESULT for it.
[[noreturn]] inline void throw_status(revamp_status status, const char *message, int code) {
    switch (status) {
    case REVAMP_ERROR_INVALID_COMPUTE_DOMAIN:
        throw Concurrency::invalid_compute_domain(message);
    case REVAMP_ERROR_OUT_OF_MEMORY:
        throw Concurrency::out_of_memory(message);
    case REVAMP_ERROR_UNINITIALIZED_OBJECT:
        throw Concurrency::uninitialized_object(message);
    case REVAMP_ERROR_UNSUPPORTED_FEATURE:
        throw Concurrency::unsupported_feature(message);
    case REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED:
        throw Concurrency::accelerator_view_removed(message, code);
    default:
        throw Concurrency::runtime_exception(message, code);
    }
}

// Throws the exception for this thread's last error, whose status is `status`.
[[noreturn]] inline void throw_last_error(revamp_status status) {
    // A status from another thread or from an operation is not this thread's last error.
    const bool is_last = revamp_last_error_status() == status;
    throw_status(status, is_last ? revamp_last_error_message() : revamp_status_name(status),
                 is_last ? revamp_last_error_hresult() : failed);
}

// Wraps every call of the C API. REVAMP_TIMEOUT is not an error.
inline void check(revamp_status status) {
    acquire_order();
    if (__builtin_expect(status < 0, 0)) throw_last_error(status);
}

// The exception for `status`, to be thrown later; null for success.
inline std::exception_ptr exception_of(revamp_status status) noexcept {
    try {
        check(status);
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_EXCEPTIONS_H
