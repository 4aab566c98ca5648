// A program without kernels of its own: what it says, and libraries that bring theirs.
#include "device.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

using namespace concurrency;

TEST(a_launch_without_a_kernel) {
    std::vector<int> v(4);
    array_view<int> view(v);
    const auto kernel = [=](index<1> i) restrict(amp) {
        view[i] = 1;
    };
    const accelerator_view gpu = vulkan_view();
    // Not inside of the macro, whose lines compilers number differently.
    const std::string here = "loads.cpp:" + std::to_string(__LINE__ + 1);
    const auto launch = [&] { parallel_for_each(gpu, view.extent, kernel); };
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), here);
                 CHECK_CONTAINS(e.what(), "no compiled kernel"); CHECK_CONTAINS(e.what(), "revamp-c++");
                 CHECK_CONTAINS(e.what(), "revamp_add_kernels"); CHECK_CONTAINS(e.what(), "direct3d\\warp"));
    CHECK(v[0] == 0);
    // Without a target host threads run it.
    parallel_for_each(view.extent, kernel);
    CHECK(view[3] == 1);
}

TEST(a_library_comes_and_goes) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> values(4);
    const array_view<int> kept(values);
    for (int round = 0; round < 3; ++round) {
        void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library);
        const auto run = reinterpret_cast<int (*)(const accelerator_view *, int)>(dlsym(library, "plugin_run"));
        REQUIRE(run);
        CHECK(run(&gpu, 5 + round) == (5 + round) * 3 + 1);
        // The same launch again and again, also after the kernel has gone and come back.
        const auto add = reinterpret_cast<void (*)(const accelerator_view *, const array_view<int> *, int)>(
            dlsym(library, "plugin_add"));
        REQUIRE(add);
        add(&gpu, &kept, 1 + round);
        gpu.wait();
        dlclose(library);
    }
    CHECK(kept[2] == 4 * (1 + 2 + 3));
}

// Without kernels a program has host threads as its default; with those of a library the best device.
TEST(kernels_of_a_library_move_the_default) {
    const accelerator before;
    CHECK(before.device_path == L"host");
    std::vector<int> values(4);
    const array_view<int> own(values);
    const auto launch = [&] {
        own.discard_data();
        parallel_for_each(
            own.extent, [=](index<1> i) restrict(amp) { own[i] = i[0] + 1; });
        CHECK(own[3] == 4);
    };
    launch();
    void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const accelerator_view view = accelerator().default_view;
    const auto of_library = reinterpret_cast<const accelerator *(*)()>(dlsym(library, "plugin_default"));
    REQUIRE(of_library);
    CHECK(*of_library() == view.accelerator);
    if (std::getenv("REVAMP_TEST")) CHECK(view.accelerator == vulkan_view().accelerator);
    const auto run = reinterpret_cast<int (*)(const accelerator_view *, int)>(dlsym(library, "plugin_run"));
    REQUIRE(run);
    CHECK(run(&view, 5) == 16);
    // The program's own lambda still runs where it can.
    launch();
    dlclose(library);
    CHECK(accelerator() == before);
    launch();
}

// On host threads the library's own code runs: closing the library does not take it away.
TEST(a_library_is_closed_while_its_host_kernels_run) {
    accelerator_view host = accelerator(accelerator::direct3d_warp).default_view;
    std::vector<int> results(20000);
    const array_view<int> all(results);
    std::atomic<int> open(0);
    void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const auto begin =
        reinterpret_cast<void (*)(const accelerator_view *, std::atomic<int> *, const array_view<int> *)>(
            dlsym(library, "plugin_begin"));
    REQUIRE(begin);
    begin(&host, &open, &all);
    dlclose(library);
    open = 1;
    all.synchronize();
    for (int i = 0; i < 20000; ++i) {
        unsigned sum = 0;
        for (unsigned k = 0; k < 1000; ++k)
            sum = sum * 31 + static_cast<unsigned>(i) + k;
        REQUIRE(results[i] == static_cast<int>(sum));
    }
}

CHECK_MAIN
