// The second of two translation units that include the headers. one_unit.cpp has the test.
#include <revamp/detail/atomics.h>
#include <revamp/detail/runtime.h>
#include <revamp/detail/shapes.h>

namespace other {
concurrency::accelerator accelerator() {
    return concurrency::accelerator(concurrency::accelerator::direct3d_warp);
}
concurrency::index<2> twice(const concurrency::index<2> &i);
concurrency::index<2> twice(const concurrency::index<2> &i) {
    return i * 2;
}
const wchar_t *path_of_cpu();
const wchar_t *path_of_cpu() {
    return concurrency::accelerator::cpu_accelerator;
}
void fail();
void fail() {
    throw concurrency::invalid_compute_domain("no");
}
int *counter();
int *counter() {
    static int count = 0;
    return &count;
}
} // namespace other
