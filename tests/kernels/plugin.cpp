// A library that programs load and close at run time, together with its kernels.
#include <amp.h>

#include <atomic>

// The constructor of this object runs while the library is being loaded.
static const concurrency::accelerator at_namespace_scope;
extern "C" const concurrency::accelerator *plugin_default() {
    return &at_namespace_scope;
}

extern "C" int plugin_run(const concurrency::accelerator_view *view, int x) {
    std::vector<int> v(4, x);
    const concurrency::array_view<int> elements(v);
    parallel_for_each(
        *view, elements.extent, [=](concurrency::index<1> i) restrict(amp) { elements[i] = elements[i] * 3 + i[0]; });
    return elements[1];
}

// Adds `increment` four times to an array_view of the program that loads the library.
extern "C" void plugin_add(const concurrency::accelerator_view *view, const concurrency::array_view<int> *to,
                           int increment) {
    const concurrency::array_view<int> elements = *to;
    for (int n = 0; n < 4; ++n)
        parallel_for_each(
            *view, elements.extent, [=](concurrency::index<1> i) restrict(amp) { elements[i] += increment; });
}

// Starts work that still runs when the library is closed: a host function (until `*open` is set), then a long kernel.
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
    const concurrency::array_view<int> elements = *results;
    parallel_for_each(
        *host, elements.extent, [=](concurrency::index<1> i) restrict(amp, cpu) {
            unsigned sum = 0;
            for (unsigned k = 0; k < 1000; ++k)
                sum = sum * 31 + static_cast<unsigned>(i[0]) + k;
            elements[i] = static_cast<int>(sum);
        });
}
