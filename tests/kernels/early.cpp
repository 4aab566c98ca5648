// Tests of the API before and after main(). A program's kernels are registered before the first of its static objects
// is constructed, and stay registered until the last of these objects is destroyed.
#include "device.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

using namespace concurrency;

static std::vector<int> launched(const accelerator_view *where, int by) {
    std::vector<int> results(4, 5);
    const array_view<int> all(results);
    const auto kernel = [=](index<1> i) restrict(amp) {
        all[i] = all[i] * by + i[0];
    };
    if (where)
        parallel_for_each(*where, all.extent, kernel);
    else
        parallel_for_each(all.extent, kernel);
    all.synchronize();
    return results;
}

static std::vector<int> expected(int by) {
    return {5 * by, 5 * by + 1, 5 * by + 2, 5 * by + 3};
}

// Uses the API in a static initialiser.
struct early {
    accelerator default_accelerator;
    std::size_t accelerator_count = accelerator::get_all().size();
    std::vector<int> default_results;
    std::string error;

    early() {
        try {
            default_results = launched(nullptr, 3);
        } catch (const std::exception &e) {
            error = e.what();
        }
    }
};

struct on_device {
    std::vector<int> results;
    std::string error;

    on_device() {
        try {
            const accelerator_view gpu = vulkan_view();
            results = launched(&gpu, 4);
        } catch (const check::skipped &skip) {
            error = skip.why;
        } catch (const std::exception &e) {
            error = e.what();
        }
    }
};

// Launches a kernel in a static destructor. The process fails if the launch fails.
struct late {
    bool active = false;
    const accelerator_view *where = nullptr;
    ~late() {
        try {
            if (!active || launched(where, 7) == expected(7)) return;
        } catch (const std::exception &e) {
            std::fprintf(stderr, "a static destructor: %s\n", e.what());
        }
        std::_Exit(3);
    }
};

static const accelerator namespace_scope_default;
static const early before_main;

// The earliest priority whose initialisers may launch kernels: launch.h registers the kernels at priority 101.
static struct first {
    std::vector<int> results;
    first() : results(launched(nullptr, 2)) {}
} first __attribute__((init_priority(102)));

static const on_device device_before_main;

// Constructed after the first use of a device. Objects constructed before that are destroyed after the library has
// shut down (ErrorKind::ShutDown).
static late after_main;

TEST(the_default_is_the_same_before_main) {
    CHECK(namespace_scope_default == accelerator());
    CHECK(before_main.default_accelerator == accelerator());
    // With REVAMP_TEST=gpu, the default depends on the program's kernels.
    if (std::getenv("REVAMP_TEST")) CHECK(accelerator() == vulkan_view().accelerator);
}

TEST(devices_are_offered_before_main) {
    CHECK(before_main.accelerator_count == accelerator::get_all().size());
}

TEST(static_initialisers_launch) {
    CHECK_EQUAL(before_main.error, "");
    CHECK(before_main.default_results == expected(3));
    CHECK(first.results == expected(2));
}

TEST(static_initialisers_launch_on_devices) {
    const accelerator_view gpu = vulkan_view();
    CHECK_EQUAL(device_before_main.error, "");
    CHECK(device_before_main.results == expected(4));
}

TEST(static_destructors_launch) {
    after_main.active = true;
}

TEST(static_destructors_launch_on_devices) {
    static const accelerator_view gpu = vulkan_view();
    after_main.where = &gpu;
    after_main.active = true;
}

CHECK_MAIN
