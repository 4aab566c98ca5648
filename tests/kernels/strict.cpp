// Functions that differ only by restriction: kernels take the device's, on host threads as native code.
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

TEST(host_threads_take_it_too) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        accelerator(accelerator::direct3d_warp).default_view,
        view.extent, [=](index<1> i) restrict(amp) { view[i] = which(); });
    CHECK(view[3] == 2 && which() == 1);
}

CHECK_MAIN
