// A program and two libraries whose kernels have the same names run their own, however they are linked and loaded.
#define NUMBER 9
#include "device.hpp"
#include "namesake.hpp"

#include <dlfcn.h>

using namespace concurrency;

static int (*loaded(const std::string &library, int how))(const accelerator_view *) {
    void *opened = dlopen(library.c_str(), RTLD_NOW | how);
    if (!opened) check::fail(__FILE__, __LINE__, dlerror());
    REQUIRE(opened);
    const auto run = reinterpret_cast<int (*)(const accelerator_view *)>(dlsym(opened, "run_namesakes"));
    REQUIRE(run);
    return run;
}

static void run_all(const std::string &kind, int how) {
    const auto one = loaded("namesake_1_" + kind + ".so", how);
    const auto two = loaded("namesake_2_" + kind + ".so", how);
    const auto on = [&](const accelerator_view &where) {
        // Twice: the second launch is a repeated one.
        for (int round = 0; round < 2; ++round) {
            CHECK(one(&where) == 0);
            CHECK(two(&where) == 0);
            CHECK(wrong_results(where) == 0);
        }
    };
    on(accelerator(accelerator::direct3d_warp).default_view);
    on(vulkan_view());
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
