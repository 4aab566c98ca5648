// Tests that a program and two libraries each run their own kernels although the kernels have the same names. A test is
// named after the visibility of the libraries' symbols, the link options (namesakes.cmake) and the flag of dlopen().
#define NUMBER 9
#include "device.hpp"
#include "namesake.hpp"

#include <dlfcn.h>

using namespace concurrency;

static int (*load_run_function(const std::string &library, int dlopen_flag))(const accelerator_view *) {
    void *handle = dlopen(library.c_str(), RTLD_NOW | dlopen_flag);
    if (!handle) check::fail(__FILE__, __LINE__, dlerror());
    REQUIRE(handle);
    const auto run = reinterpret_cast<int (*)(const accelerator_view *)>(dlsym(handle, "run_namesakes"));
    REQUIRE(run);
    return run;
}

static void run_all(const std::string &kind, int dlopen_flag) {
    const auto run_first = load_run_function("namesake_1_" + kind + ".so", dlopen_flag);
    const auto run_second = load_run_function("namesake_2_" + kind + ".so", dlopen_flag);
    const auto check_on = [&](const accelerator_view &where) {
        // Two rounds, because the second launch of a kernel may reuse the first launch, which revamp cached.
        for (int round = 0; round < 2; ++round) {
            CHECK(run_first(&where) == 0);
            CHECK(run_second(&where) == 0);
            CHECK(wrong_results(where) == 0);
        }
    };
    check_on(accelerator(accelerator::direct3d_warp).default_view);
    check_on(vulkan_view());
}

TEST(hidden_local) {
    run_all("hidden_plain", RTLD_LOCAL);
}
TEST(hidden_global) {
    run_all("hidden_plain", RTLD_GLOBAL);
}
TEST(hidden_symbolic_local) {
    run_all("hidden_symbolic", RTLD_LOCAL);
}
TEST(hidden_symbolic_global) {
    run_all("hidden_symbolic", RTLD_GLOBAL);
}
TEST(hidden_folded_local) {
    run_all("hidden_folded", RTLD_LOCAL);
}
TEST(hidden_folded_global) {
    run_all("hidden_folded", RTLD_GLOBAL);
}
TEST(exported_local) {
    run_all("default_plain", RTLD_LOCAL);
}
TEST(exported_global) {
    run_all("default_plain", RTLD_GLOBAL);
}
TEST(exported_symbolic_local) {
    run_all("default_symbolic", RTLD_LOCAL);
}
TEST(exported_symbolic_global) {
    run_all("default_symbolic", RTLD_GLOBAL);
}
TEST(exported_folded_local) {
    run_all("default_folded", RTLD_LOCAL);
}
TEST(exported_folded_global) {
    run_all("default_folded", RTLD_GLOBAL);
}

CHECK_MAIN
