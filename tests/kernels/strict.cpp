// Functions that differ only by restriction: such kernels are the device's alone.
#include "device.hpp"

using namespace concurrency;

int which() restrict(cpu) {
    return 1;
}
int which() restrict(amp) {
    return 2;
}

TEST(the_amp_one_is_taken) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = which(); });
    CHECK(view[3] == 2 && which() == 1);
}

TEST(host_threads_cannot_run_it) {
    std::vector<int> v(4);
    array_view<int> view(v);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     accelerator(accelerator::direct3d_warp).default_view,
                     view.extent, [=](index<1> i) restrict(amp) { view[i] = which(); }),
                 CHECK_CONTAINS(e.what(), "restrict(amp)");
                 CHECK_CONTAINS(e.what(), "strict.cpp:"));
}

CHECK_MAIN
