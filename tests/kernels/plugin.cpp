// A library whose kernels come and go with it.
#include <amp.h>

#include <atomic>

// Made while the library is loaded.
static const concurrency::accelerator at_namespace_scope;
extern "C" const concurrency::accelerator *plugin_default() {
    return &at_namespace_scope;
}

extern "C" int plugin_run(const concurrency::accelerator_view *view, int x) {
    std::vector<int> v(4, x);
    const concurrency::array_view<int> all(v);
    parallel_for_each(
        *view, all.extent, [=](concurrency::index<1> i) restrict(amp) { all[i] = all[i] * 3 + i[0]; });
    return all[1];
}

// On a view of the program that loads it.
extern "C" void plugin_add(const concurrency::accelerator_view *view, const concurrency::array_view<int> *to, int by) {
    const concurrency::array_view<int> all = *to;
    for (int n = 0; n < 4; ++n)
        parallel_for_each(
            *view, all.extent, [=](concurrency::index<1> i) restrict(amp) { all[i] += by; });
}

// Work that is under way when the library is closed: a kernel that waits, or a long one.
extern "C" void plugin_begin(const concurrency::accelerator_view *host, std::atomic<int> *open,
                             const concurrency::array_view<int> *results) {
    const int one = 1;
    revamp_parallel_for_each_info info{};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &one;
    info.context = open;
    info.function = [](const revamp_thread_id *, void *context) {
        while (!*static_cast<std::atomic<int> *>(context)) {
        }
    };
    revamp_accelerator_view view = nullptr;
    revamp_accelerator accelerator = nullptr;
    if (revamp_accelerator_find("direct3d\\warp", &accelerator) != REVAMP_OK ||
        revamp_accelerator_get_default_view(accelerator, &view) != REVAMP_OK ||
        revamp_parallel_for_each(view, &info) != REVAMP_OK)
        std::abort();
    const concurrency::array_view<int> all = *results;
    parallel_for_each(
        *host, all.extent, [=](concurrency::index<1> i) restrict(amp, cpu) {
            unsigned sum = 0;
            for (unsigned k = 0; k < 1000; ++k)
                sum = sum * 31 + static_cast<unsigned>(i[0]) + k;
            all[i] = static_cast<int>(sum);
        });
}
