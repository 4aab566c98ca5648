// The API before and after main(): the kernels of a program are registered from before the construction of its static
// objects until the last of them is destroyed.
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

// The API in a static initialiser.
struct early {
    accelerator chosen;
    std::size_t offered = accelerator::get_all().size();
    std::vector<int> by_default;
    std::string failed;

    early() {
        try {
            by_default = launched(nullptr, 3);
        } catch (const std::exception &e) {
            failed = e.what();
        }
    }
};

struct on_device {
    std::vector<int> results;
    std::string failed;

    on_device() {
        try {
            const accelerator_view gpu = vulkan_view();
            results = launched(&gpu, 4);
        } catch (const check::skipped &skip) {
            failed = skip.why;
        } catch (const std::exception &e) {
            failed = e.what();
        }
    }
};

// Launches when static objects are destroyed; the process fails if that does not work.
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

static const accelerator at_namespace_scope;
static const early before_main;

// The earliest priority that a program may use.
static struct first {
    std::vector<int> results;
    first() : results(launched(nullptr, 2)) {}
} first __attribute__((init_priority(102)));

static const on_device device_before_main;

// Constructed after the first use of a device. Objects constructed before it are destroyed after the library
// (ShutDown).
static late after_main;

TEST(the_default_is_the_same_before_main) {
    CHECK(at_namespace_scope == accelerator());
    CHECK(before_main.chosen == accelerator());
    // If the default depends on the program's kernels.
    if (std::getenv("REVAMP_TEST")) CHECK(accelerator() == vulkan_view().accelerator);
}

TEST(devices_are_offered_before_main) {
    CHECK(before_main.offered == accelerator::get_all().size());
}

TEST(static_initialisers_launch) {
    CHECK_EQUAL(before_main.failed, "");
    CHECK(before_main.by_default == expected(3));
    CHECK(first.results == expected(2));
}

TEST(static_initialisers_launch_on_devices) {
    const accelerator_view gpu = vulkan_view();
    CHECK_EQUAL(device_before_main.failed, "");
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
