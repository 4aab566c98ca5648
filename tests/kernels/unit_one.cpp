// Part of the test units.cpp: unit_two.cpp has another same_name(), functor and launch(), also with internal linkage.
#include "units.hpp"

static int same_name(int x) restrict(amp, cpu) {
    return x + 1;
}

namespace {
struct functor {
    concurrency::array_view<int> view;
    void operator()(concurrency::index<1> i) const restrict(amp, cpu) { view[i] = same_name(view[i]) * 10; }
};
} // namespace

static void launch(const concurrency::array_view<int> &view) {
    parallel_for_each(vulkan_view(), view.extent, functor{view});
    parallel_for_each(
        vulkan_view(), view.extent, [=](concurrency::index<1> i) restrict(amp) { view[i] += 1; });
}

int run_unit_one(int x) {
    std::vector<int> v(4, x);
    const concurrency::array_view<int> view(v);
    launch(view);
    double_all(view);
    return view[3];
}
