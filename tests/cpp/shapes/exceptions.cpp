// Tests of the exception classes, and of the status codes that they come from (docs/spec/errors.md).
#include <revamp/detail/exceptions.h>

#include "../check.hpp"

#include <type_traits>

using namespace concurrency;

template <class E> constexpr bool derived = std::is_base_of<runtime_exception, E>::value;

TEST(classes) {
    static_assert(std::is_base_of<std::exception, runtime_exception>::value, "");
    static_assert(derived<invalid_compute_domain> && derived<out_of_memory> && derived<uninitialized_object> &&
                      derived<unsupported_feature> && derived<accelerator_view_removed>,
                  "");
    static_assert(!std::is_base_of<out_of_memory, accelerator_view_removed>::value, "");
    static_assert(std::is_signed<HRESULT>::value && sizeof(HRESULT) == 4, ""); // long on Windows
    static_assert(std::is_nothrow_copy_constructible<accelerator_view_removed>::value &&
                      std::is_nothrow_copy_assignable<runtime_exception>::value &&
                      std::is_nothrow_constructible<runtime_exception, const char *, HRESULT>::value &&
                      std::is_nothrow_constructible<unsupported_feature>::value &&
                      !std::is_convertible<HRESULT, runtime_exception>::value &&
                      !std::is_convertible<const char *, out_of_memory>::value,
                  "");
    CHECK(static_cast<unsigned>(E_INVALIDARG) == 0x80070057u && E_INVALIDARG < 0);
    CHECK(static_cast<unsigned>(E_FAIL) == 0x80004005u);
    CHECK(static_cast<unsigned>(E_OUTOFMEMORY) == 0x8007000Eu);
    CHECK(static_cast<unsigned>(DXGI_ERROR_DEVICE_REMOVED) == 0x887A0005u);
    CHECK(static_cast<unsigned>(DXGI_ERROR_DEVICE_HUNG) == 0x887A0006u);
    CHECK(static_cast<unsigned>(DXGI_ERROR_DEVICE_RESET) == 0x887A0007u);
}

TEST(messages_and_error_codes) {
    std::string text = "a text";
    const runtime_exception e(text.c_str(), E_INVALIDARG);
    text = "another";
    CHECK(e.what() == std::string("a text") && e.get_error_code() == E_INVALIDARG);
    runtime_exception copy(e);
    CHECK(copy.what() == std::string("a text") && copy.get_error_code() == E_INVALIDARG);
    copy = runtime_exception(E_FAIL);
    CHECK(copy.what() == std::string() && copy.get_error_code() == E_FAIL);
    CHECK(runtime_exception(nullptr, E_FAIL).what() == std::string());

    CHECK(invalid_compute_domain("x").what() == std::string("x"));
    CHECK(invalid_compute_domain().what() == std::string() && invalid_compute_domain().get_error_code() == E_FAIL);
    CHECK(out_of_memory("x").get_error_code() == E_OUTOFMEMORY && out_of_memory().get_error_code() == E_OUTOFMEMORY);
    CHECK(uninitialized_object("x").what() == std::string("x") && uninitialized_object().get_error_code() < 0);
    CHECK(unsupported_feature("x").what() == std::string("x") && unsupported_feature().get_error_code() < 0);
    const accelerator_view_removed removed("gone", DXGI_ERROR_DEVICE_HUNG);
    CHECK(removed.what() == std::string("gone") && removed.get_view_removed_reason() == DXGI_ERROR_DEVICE_HUNG);
    CHECK(accelerator_view_removed(DXGI_ERROR_DEVICE_RESET).get_view_removed_reason() == DXGI_ERROR_DEVICE_RESET);
}

TEST(status_codes) {
    using revamp::detail::throw_status;
    CHECK_THROWS(runtime_exception, (throw_status(REVAMP_ERROR_RUNTIME, "t", E_FAIL), 0), CHECK(e.what()[0] == 't'));
    CHECK_THROWS(runtime_exception, (throw_status(REVAMP_ERROR_INVALID_ARGUMENT, "t", E_INVALIDARG), 0),
                 CHECK(e.get_error_code() == E_INVALIDARG));
    CHECK_THROWS(invalid_compute_domain, (throw_status(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN, "t", E_FAIL), 0));
    CHECK_THROWS(out_of_memory, (throw_status(REVAMP_ERROR_OUT_OF_MEMORY, "t", E_OUTOFMEMORY), 0));
    CHECK_THROWS(uninitialized_object, (throw_status(REVAMP_ERROR_UNINITIALIZED_OBJECT, "t", E_FAIL), 0));
    CHECK_THROWS(unsupported_feature, (throw_status(REVAMP_ERROR_UNSUPPORTED_FEATURE, "t", E_NOTIMPL), 0));
    CHECK_THROWS(accelerator_view_removed,
                 (throw_status(REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED, "t", DXGI_ERROR_DEVICE_HUNG), 0),
                 CHECK(e.get_view_removed_reason() == DXGI_ERROR_DEVICE_HUNG);
                 CHECK(e.get_error_code() == DXGI_ERROR_DEVICE_REMOVED));
    for (revamp_status other : {REVAMP_ERROR_INVALID_HANDLE, REVAMP_ERROR_VALIDATION, REVAMP_ERROR_SHUT_DOWN,
                                REVAMP_ERROR_FORKED, REVAMP_ERROR_INTERNAL, static_cast<revamp_status>(-1000)})
        CHECK_THROWS(runtime_exception, (throw_status(other, "t", E_FAIL), 0));
}

TEST(errors_of_calls) {
    revamp::detail::check(REVAMP_OK);
    revamp::detail::check(REVAMP_TIMEOUT);
    revamp_accelerator found = nullptr;
    const char *no_path = nullptr;
    CHECK_THROWS(runtime_exception, (revamp::detail::check(revamp_accelerator_find("nowhere", &found)), 0),
                 CHECK_CONTAINS(e.what(), "nowhere"));
    CHECK_THROWS(runtime_exception, (revamp::detail::check(revamp_accelerator_find(no_path, &found)), 0),
                 CHECK(e.get_error_code() == E_INVALIDARG));
    // The message is not the message of this thread's previous failure.
    CHECK_THROWS(out_of_memory, (revamp::detail::check(REVAMP_ERROR_OUT_OF_MEMORY), 0),
                 CHECK_CONTAINS(e.what(), "OUT_OF_MEMORY"));
    CHECK(!revamp::detail::exception_of(REVAMP_OK));
    try {
        std::rethrow_exception(revamp::detail::exception_of(revamp_accelerator_find("nowhere", &found)));
    } catch (const runtime_exception &e) {
        CHECK_CONTAINS(e.what(), "nowhere");
    }
}

CHECK_MAIN
