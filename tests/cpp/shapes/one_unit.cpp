// Tests the headers in two translation units (see other_unit.cpp): inline objects and types must be the same in both.
#include <revamp/detail/atomics.h>
#include <revamp/detail/runtime.h>
#include <revamp/detail/shapes.h>

#include <cstdio>

namespace other {
concurrency::accelerator accelerator();
concurrency::index<2> twice(const concurrency::index<2> &i);
const wchar_t *path_of_cpu();
void fail();
int *counter();
} // namespace other

int main() {
    using namespace concurrency;
    const accelerator host(accelerator::direct3d_warp);
    const bool same_record = &host.device_path == &other::accelerator().device_path;
    const bool same_constant = other::path_of_cpu() == accelerator::cpu_accelerator;
    const bool index_is_doubled = other::twice(concurrency::index<2>(1, 2)) == concurrency::index<2>(2, 4);
    bool caught = false;
    try {
        other::fail();
    } catch (const invalid_compute_domain &) {
        caught = true;
    }
    atomic_fetch_inc(other::counter());
    if (same_record && same_constant && index_is_doubled && caught && *other::counter() == 1) return 0;
    std::printf("%d %d %d %d\n", same_record, same_constant, index_is_doubled, caught);
    return 1;
}
