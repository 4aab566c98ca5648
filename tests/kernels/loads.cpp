// Tests of a program without compiled kernels: the error of a launch on a device, and libraries that contain kernels.
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
    // Outside the macro, because compilers number the lines of macro arguments differently.
    const std::string call_site = "loads.cpp:" + std::to_string(__LINE__ + 1);
    const auto launch = [&] { parallel_for_each(gpu, view.extent, kernel); };
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), call_site);
                 CHECK_CONTAINS(e.what(), "no compiled kernel"); CHECK_CONTAINS(e.what(), "revamp-c++");
                 CHECK_CONTAINS(e.what(), "revamp_add_kernels"); CHECK_CONTAINS(e.what(), "direct3d\\warp"));
    CHECK(v[0] == 0);
    // A launch without a target runs on host threads.
    parallel_for_each(view.extent, kernel);
    CHECK(view[3] == 1);
}

TEST(a_library_is_loaded_and_unloaded) {
    const accelerator_view gpu = vulkan_view();
    std::vector<int> values(4);
    const array_view<int> kept(values);
    for (int round = 0; round < 3; ++round) {
        void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library);
        const auto run = reinterpret_cast<int (*)(const accelerator_view *, int)>(dlsym(library, "plugin_run"));
        REQUIRE(run);
        CHECK(run(&gpu, 5 + round) == (5 + round) * 3 + 1);
        // Each round repeats the launch of the first round, although the kernel has been unloaded and loaded again.
        const auto add = reinterpret_cast<void (*)(const accelerator_view *, const array_view<int> *, int)>(
            dlsym(library, "plugin_add"));
        REQUIRE(add);
        add(&gpu, &kept, 1 + round);
        gpu.wait();
        dlclose(library);
    }
    CHECK(kept[2] == 4 * (1 + 2 + 3));
}

// Without kernels, the default is host threads. A loaded library with kernels changes the default to the best device.
TEST(kernels_of_a_library_move_the_default) {
    const accelerator before;
    CHECK(before.device_path == L"host");
    std::vector<int> values(4);
    const array_view<int> program_view(values);
    const auto launch = [&] {
        program_view.discard_data();
        parallel_for_each(
            program_view.extent, [=](index<1> i) restrict(amp) { program_view[i] = i[0] + 1; });
        CHECK(program_view[3] == 4);
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
    // The program's own lambda still runs on host threads, because it has no compiled kernel.
    launch();
    dlclose(library);
    CHECK(accelerator() == before);
    launch();
}

// On host threads, kernels are code of the library. dlclose() must not unload the code while it runs.
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
