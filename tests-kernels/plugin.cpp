// A library whose kernels come and go with it.
#include <amp.h>

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
