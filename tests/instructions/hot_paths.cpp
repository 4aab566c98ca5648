// Runs the library's hot paths in callgrind (--separate-threads=yes --instr-atstart=no), for scripts/test-instructions.
// Each case repeats one operation in steady state. Callgrind dumps the counts of this thread after each repetition.
#include <revamp.h>
#include <valgrind/callgrind.h>

#include <dlfcn.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lambdas.h"

using namespace concurrency;

namespace {

constexpr int repetitions = 16;  // repetitions in a pass
constexpr int warmup_passes = 8; // passes that are not counted
constexpr int elements = 1024;
std::string selected_case; // the name of the case, if one was named

void must(revamp_status status, const char *what) {
    if (status == REVAMP_OK) return;
    std::fprintf(stderr, "%s: %s\n", what, revamp_last_error_message());
    std::exit(1);
}
#define MUST(call) must(call, #call)

// Counts the instructions of `op` in the last pass. Each dump has the instructions of this thread since the previous
// dump. Calls `before` before each repetition, and `begin` and `end` around each pass. Does nothing if the command line
// names another case. (Collection stays on: while off, callgrind still counts calls, but does not reset these counts.)
template <class Begin, class Before, class Op, class End>
void count(const char *name, Begin &&begin, Before &&before, Op &&op, End &&end) {
    if (!selected_case.empty() && name != selected_case) return;
    const std::string mark = std::string("case:") + name;
    for (int pass = 0; pass <= warmup_passes; pass++) {
        begin();
        for (int i = 0; i < repetitions; i++) {
            before();
            if (pass < warmup_passes) {
                op();
                continue;
            }
            CALLGRIND_DUMP_STATS_AT("between");
            op();
            CALLGRIND_DUMP_STATS_AT(mark.c_str());
        }
        end();
    }
}

const auto nothing = [] {};

// Waits until a burst of launches has ended (see BURST in src/device/vulkan/burst.rs).
void wait_for_burst_end() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// Four data sources for one case. Cases have their own data, so that they do not affect each other.
struct Data {
    std::vector<int> memory[4];
    std::vector<ints> views;
    Data() {
        for (auto &m : memory) {
            m.assign(elements, 1);
            views.emplace_back(elements, m);
        }
    }
};

struct View { // a view of the C API
    std::vector<unsigned> memory = std::vector<unsigned>(elements, 1);
    revamp_array_view handle = nullptr;
    View() {
        const int32_t extent = elements;
        MUST(revamp_array_view_create_host(memory.data(), 1, &extent, 4, nullptr, &handle));
    }
    ~View() { revamp_array_view_release(handle); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;
};

// ---- SPIR-V kernels

struct Spirv {
    revamp_accelerator_view where = nullptr;
    revamp_kernel one = nullptr, four = nullptr;
    View busy, single, several[4];

    explicit Spirv(revamp_accelerator device) {
        MUST(revamp_accelerator_create_view(device, REVAMP_QUEUING_MODE_AUTOMATIC, &where));
        MUST(revamp_kernel_find(device, "one_view", &one));
        MUST(revamp_kernel_find(device, "four_views", &four));
    }
    void launch(revamp_kernel kernel, const revamp_argument *arguments, size_t argument_count, int32_t extent) const {
        revamp_dispatch_info info{};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = argument_count;
        MUST(revamp_dispatch(where, kernel, &info));
    }
    void launch_one(const View &view, uint32_t rounds) const {
        const revamp_argument arguments[] = {revamp_argument_view(0, view.handle),
                                             revamp_argument_push_constant(0, &rounds, sizeof rounds)};
        launch(one, arguments, 2, elements);
    }
    void launch_four() const {
        revamp_argument arguments[4];
        for (uint32_t i = 0; i < 4; i++)
            arguments[i] = revamp_argument_view(i, several[i].handle);
        launch(four, arguments, 4, elements);
    }
    void wait() const { MUST(revamp_accelerator_view_wait(where)); }
    // Keeps the device busy until the host has queued a pass.
    void occupy() const { launch_one(busy, 20000); }
};

void spirv_launches(revamp_accelerator device) {
    const Spirv s(device);
    const auto idle = [&s] {
        s.wait();
        wait_for_burst_end();
    };
    const auto busy = [&s] { s.occupy(); };
    const auto wait = [&s] { s.wait(); };
    const auto one = [&s] { s.launch_one(s.single, 1); };
    const auto four = [&s] { s.launch_four(); };
    count("spirv_launch_1_view_idle", nothing, idle, one, wait);
    count("spirv_launch_4_views_idle", nothing, idle, four, wait);
    count("spirv_launch_1_view_behind", busy, nothing, one, wait);
    count("spirv_launch_4_views_behind", busy, nothing, four, wait);

    // For some seconds after a use of staging memory, a waiting thread searches for idle staging memory every 50 ms.
    // Each repetition first uses staging memory and waits 60 ms, so that the count does not depend on the machine's
    // speed.
    const int32_t extent = 1024;
    revamp_array array;
    MUST(revamp_array_create(s.where, 1, &extent, 4, nullptr, &array));
    static char memory[4096];
    const auto staged = [&] {
        MUST(revamp_copy_from_array(array, memory, sizeof memory));
        idle();
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    };
    count(
        "marker_and_wait_idle", nothing, staged,
        [&s] {
            revamp_completion marker;
            MUST(revamp_accelerator_view_create_marker(s.where, &marker));
            MUST(revamp_completion_wait(marker));
            MUST(revamp_completion_release(marker));
        },
        nothing);
    count("view_wait_idle", nothing, staged, wait, nothing);
    MUST(revamp_array_destroy(array));
}

void copies(revamp_accelerator device) {
    revamp_accelerator_view where;
    MUST(revamp_accelerator_create_view(device, REVAMP_QUEUING_MODE_AUTOMATIC, &where));
    const int32_t extent = 1024;
    revamp_array array;
    MUST(revamp_array_create(where, 1, &extent, 4, nullptr, &array));
    static char memory[4096];
    const auto idle = [&] {
        MUST(revamp_accelerator_view_wait(where));
        wait_for_burst_end();
    };
    count(
        "copy_4_KiB_to_array", nothing, idle, [&] { MUST(revamp_copy_to_array(memory, sizeof memory, array)); },
        nothing);
    count(
        "copy_4_KiB_from_array", nothing, idle, [&] { MUST(revamp_copy_from_array(array, memory, sizeof memory)); },
        nothing);
    MUST(revamp_array_destroy(array));
    MUST(revamp_accelerator_view_release(where));
}

// ---- C++ AMP

void lambda_launches(const std::string &name, const accelerator_view &where, bool with_busy_device) {
    const Data data, other;
    const auto &v = data.views;
    const auto wait = [&] { where.wait(); };
    const auto idle = [&] {
        where.wait();
        wait_for_burst_end();
    };
    const auto busy = [&] { launch_one(where, other.views[0], 20000); };
    const auto one = [&] { launch_one(where, v[0], 1); };
    const auto four = [&] { launch_four(where, v[0], v[1], v[2], v[3]); };
    count((name + "_launch_1_view_idle").c_str(), nothing, idle, one, wait);
    count((name + "_launch_4_views_idle").c_str(), nothing, idle, four, wait);
    if (!with_busy_device) return;
    count((name + "_launch_1_view_behind").c_str(), busy, nothing, one, wait);
    count((name + "_launch_4_views_behind").c_str(), busy, nothing, four, wait);
}

void views_on_the_host() {
    Data data;
    const ints &view = data.views[0];
    int sum = 0;
    // The state word of the view says that the elements are valid on the host.
    const auto read = [&] {
        for (int i = 0; i < 64; i++)
            sum += view[i];
    };
    const auto write = [&] {
        for (int i = 0; i < 64; i++)
            view[i] = i;
    };
    count("host_read_of_64_elements", nothing, nothing, read, nothing);
    count("host_write_of_64_elements", nothing, nothing, write, nothing);
    const array_view<int, 2> plane(8, elements / 8, data.memory[1]);
    const auto read_rows = [&] {
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                sum += plane[y][x];
    };
    count("host_read_of_64_elements_by_rows", nothing, nothing, read_rows, nothing);
    if (sum == 0) std::printf("nothing was read\n");

    const View plain;
    void *at = nullptr;
    count(
        "array_view_access_read", nothing, nothing,
        [&] { MUST(revamp_array_view_data(plain.handle, REVAMP_ACCESS_READ, &at)); }, nothing);
    count(
        "array_view_access_write", nothing, nothing,
        [&] { MUST(revamp_array_view_data(plain.handle, REVAMP_ACCESS_WRITE, &at)); }, nothing);
    count(
        "make_and_drop_section", nothing, nothing, [&] { view.section(index<1>(16), extent<1>(64)); }, nothing);
}

std::wstring wide(const char *path) {
    return std::wstring(path, path + std::strlen(path));
}

} // namespace

int main(int argument_count, char **arguments) {
    if (argument_count > 1) selected_case = arguments[1];
    size_t found = 0;
    MUST(revamp_accelerator_list(nullptr, 0, &found));
    std::vector<revamp_accelerator> all(found);
    MUST(revamp_accelerator_list(all.data(), all.size(), &found));
    const auto info_of = [](revamp_accelerator a) {
        revamp_accelerator_info info{};
        info.struct_size = sizeof info;
        MUST(revamp_accelerator_get_info(a, &info));
        return info;
    };
    revamp_accelerator device = nullptr;
    for (const revamp_accelerator a : all) {
        const revamp_accelerator_info info = info_of(a);
        if (info.kind == REVAMP_ACCELERATOR_VULKAN && info.is_emulated && !info.unusable_reason) device = a;
    }
    if (!device) {
        std::fprintf(stderr, "no software Vulkan device (lavapipe)\n");
        return 1;
    }
    CALLGRIND_START_INSTRUMENTATION;
    spirv_launches(device);
    // Without the layer, no descriptor writes would be counted.
    if (!dlopen(COUNTING_LAYER, RTLD_NOW | RTLD_NOLOAD)) {
        std::fprintf(stderr, "the Vulkan loader has not loaded the layer " COUNTING_LAYER "\n");
        return 1;
    }
    copies(device);
#ifdef HAS_KERNELS
    lambda_launches("compiled", accelerator(wide(info_of(device).device_path)).create_view(), true);
#endif
    // The other cases do not depend on the memory mode.
    const char *memory = std::getenv("REVAMP_MEMORY");
    if (memory && !std::strcmp(memory, "separate")) return 0;
    lambda_launches("host", accelerator(accelerator::direct3d_warp).create_view(), false);
    views_on_the_host();
    return 0;
}
