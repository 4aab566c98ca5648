// Tests of restrict, the names of Microsoft's headers, and `index` next to the C library's (docs/spec/language.md).
#ifdef WORDS_FIRST
#include <revamp/detail/msvc_words.h>
#include <revamp/detail/restrict.h>
#endif
// Headers that use `__restrict` or declare ::index, and headers that programs usually include.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <random>
#include <regex.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <variant>
#include <vector>
#include <wchar.h>
#ifndef WORDS_FIRST
#include <revamp/detail/msvc_words.h>
#include <revamp/detail/restrict.h>
#endif
#include <type_traits>

#include "../check.hpp"

// A stand-in for Concurrency::index, in the same namespace.
REVAMP_NAMESPACE_BEGIN
template <int N> struct index { int values[N]; };
REVAMP_NAMESPACE_END

using namespace concurrency;

namespace {

int on_both(int x) restrict(amp, cpu) {
    return x + 1;
}
int on_cpu() restrict(cpu) {
    return 1;
}
int on_any(int x) restrict(auto) {
    return x;
}
int old_both(int x) __GPU {
    return x;
}
int old_only(int x) __GPU_ONLY {
    return x;
}
int old_cpu(int x) __CPU_ONLY {
    return x;
}
struct functor {
    int by;
    functor(int n) restrict(amp, cpu) : by(n) {}
    ~functor() restrict(amp, cpu) {}
    int operator()(index<1> i) const restrict(amp, cpu) { return i.values[0] + by; }
    template <class T> static T twice(T x) restrict(amp, cpu) { return x + x; }
};
// The macro `restrict` does not change these qualifiers: it is expanded only before a parenthesis.
void copy_ints(int *__restrict to, const int *__restrict__ from) {
    *to = *from;
}

void annotated(_In_ const int *in, _Out_ int *out, _Inout_ int *both, _In_opt_ void *, _In_reads_(3) const int *) {
    *out = *in;
    *both += *in;
}
_Success_(return != 0) _Check_return_
    int found(_In_opt_z_ _Printf_format_string_ const char *text, _Out_writes_to_(size, *count) int *, int size,
              _Out_range_(0, size) int *count, _In_opt_ _Post_invalid_ void *) {
    *count = text == nullptr ? 0 : size;
    return *count;
}
HRESULT result(UINT which) {
    return which == 0 ? S_OK : which == 1 ? E_FAIL : E_INVALIDARG;
}

} // namespace

TEST(names_of_microsoft_headers) {
    index<1> i = {{4}};
    auto lambda = [=](index<1> k) restrict(amp) {
        return k.values[0] + i.values[0];
    };
    auto typed = [](index<1> k) restrict(amp, cpu)->float {
        return static_cast<float>(k.values[0]);
    };
    CHECK(lambda(i) == 8 && typed(i) == 4.0f && functor(3)(i) == 7 && functor::twice(4) == 8);
    CHECK(on_both(1) == 2 && on_cpu() == 1 && on_any(3) == 3 && old_both(1) + old_only(1) + old_cpu(1) == 3);
    int a = 1, b = 2, c = 3;
    copy_ints(&b, &a);
    annotated(&a, &b, &c, nullptr, &a);
    CHECK(b == 1 && c == 4);
    CHECK(SUCCEEDED(result(0)) && FAILED(result(1)) && result(2) == E_INVALIDARG && E_FAIL < 0);
    CHECK(found("", &a, 1, &b, nullptr) == 1 && static_cast<UINT>(E_BOUNDS) == 0x8000000BU && FAILED(E_PENDING) &&
          FAILED(E_HANDLE));
    static_assert(sizeof(HRESULT) == 4 && std::is_same<HRESULT, Concurrency::HRESULT>::value, "");
    IUnknown *unknown = nullptr;
    CHECK(unknown == nullptr);
    // The C library's string functions and std::variant::index() still work.
    CHECK(std::strcmp("a", "a") == 0 && strcasecmp("AB", "ab") == 0 && strchr("abc", 'b') != nullptr && ffs(4) == 3);
    const std::string text = "xyz";
    CHECK(text.size() == 3 && std::variant<int, float>(1.0f).index() == 1);
}

CHECK_MAIN
