// Uses of atomics and fences that must not compile (docs/spec/launches.md). See revamp_cpp_rejections() in
// ../CMakeLists.txt.
#include <revamp/detail/atomics.h>

namespace c = concurrency;

void cases();
void cases() {
#ifdef FAIL_fence_without_barrier // too few arguments|no matching
    c::all_memory_fence();
#endif
#ifdef FAIL_atomic_double // no matching|invalid conversion|cannot convert
    double x = 0;
    c::atomic_exchange(&x, 1.0);
#endif
#ifdef FAIL_atomic_float_and // no matching|invalid conversion|cannot convert
    float x = 0;
    c::atomic_fetch_and(&x, 1.0f);
#endif
#ifdef FAIL_atomic_constant // no matching|invalid conversion
    const int x = 0;
    c::atomic_fetch_add(&x, 1);
#endif
#ifdef FAIL_atomic_inc_value // too many arguments|no matching
    int x = 0;
    c::atomic_fetch_inc(&x, 2);
#endif
}
