// Tests the search for the best workgroup size of kernels without tiles (decision 37). With every workgroup size, each
// thread must run exactly once. The ctest entries set REVAMP_WORKGROUPS=force, so that software devices also search.
// Child processes that use the cache have a separate cache folder.
#include "device.hpp"

#include <atomic>
#include <cstring>
#include <fstream>
#include <mutex>
#include <numeric>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace concurrency;

namespace {

std::mutex guard;
std::vector<std::string> messages;

void record_message(revamp_log_level, const char *message, void *) {
    const std::lock_guard<std::mutex> lock(guard);
    messages.push_back(message);
}
// The number of messages about a workgroup that contain `what`.
int count_messages(const char *what) {
    const std::lock_guard<std::mutex> lock(guard);
    return static_cast<int>(std::count_if(messages.begin(), messages.end(), [&](const std::string &message) {
        return message.find("workgroup [") != std::string::npos && message.find(what) != std::string::npos;
    }));
}
int finished_searches() {
    return count_messages("million threads");
}
void begin() {
    const char *setting = std::getenv("REVAMP_WORKGROUPS");
    if (!setting || std::strcmp(setting, "force") != 0) SKIP("REVAMP_WORKGROUPS=force is not set");
    REQUIRE(revamp_set_log_callback(record_message, nullptr, REVAMP_LOG_DEBUG) == REVAMP_OK);
}

// Launches a kernel with changing factors until this process has finished `searches` searches. Checks every element.
template <int N> void search(const accelerator_view &gpu, const extent<N> &domain, int searches) {
    std::vector<int> data(domain.size(), 1);
    const array_view<int, N> view(domain, data);
    unsigned factor = 3, expected = 1;
    for (int launch = 0; launch < 3000 && (launch == 0 || finished_searches() < searches); ++launch, factor += 2) {
        parallel_for_each(
            gpu, domain, [=](index<N> i) restrict(amp) {
                int linear_index = 0;
                for (int k = 0; k < N; ++k)
                    linear_index = linear_index * domain[k] + i[k];
                view[i] =
                    static_cast<int>(static_cast<unsigned>(view[i]) * factor + static_cast<unsigned>(linear_index));
            });
        expected *= factor;
        view.synchronize();
        // Each launch adds `linear_index` once, and the later launches multiply it by their factors.
        static thread_local unsigned sum;
        sum = launch == 0 ? 1 : sum * factor + 1;
        for (std::size_t n = 0; n < data.size(); ++n)
            if (static_cast<unsigned>(data[n]) != expected + sum * static_cast<unsigned>(n)) {
                CHECK(!"an element is wrong");
                return;
            }
    }
    CHECK(finished_searches() >= searches);
}

// Runs one test of this program in another process, with these environment settings. Returns its output.
std::string run_in_child(const std::string &test, const std::string &settings) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    REQUIRE(length > 0);
    const std::string program(self, static_cast<std::size_t>(length));
    FILE *pipe =
        popen(("env CHILD=1 " + settings + " '" + program + "' " + test + " 2>&1; echo status $?").c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    char part[1024];
    while (const std::size_t n = fread(part, 1, sizeof part, pipe))
        text.append(part, n);
    pclose(pipe);
    return text;
}
bool is_child() {
    return std::getenv("CHILD") != nullptr;
}

} // namespace

TEST(every_thread_runs_once_whatever_the_workgroup) {
    begin();
    const accelerator_view gpu = vulkan_view();
    search(gpu, extent<1>(10007), 1);
    search(gpu, extent<2>(211, 307), 2);
    search(gpu, extent<3>(31, 29, 67), 3);
    const int four[] = {5, 7, 11, 61};
    search(gpu, extent<4>(four), 4);
    // The first domain needs a fifth search. The second domain needs no search: it allows no other workgroup size.
    search(gpu, extent<2>(3, 5001), 5);
    search(gpu, extent<3>(300, 3, 3), 5);
}

TEST(repeats_begin_when_it_is_found) {
    begin();
    const accelerator_view gpu = vulkan_view();
    std::vector<int> data(5000);
    const array_view<int> view(data);
    int expected = 0;
    const auto add = [&](int by) {
        parallel_for_each(
            gpu, view.extent, [=](index<1> i) restrict(amp) { view[i] += by; });
        expected += by;
    };
    // This loop does not wait, so that many launches are running at each step of the search.
    for (int n = 0; n < 200; ++n)
        add(n);
    for (int n = 0; n < 100000 && finished_searches() == 0; ++n) {
        add(n);
        gpu.wait();
    }
    CHECK(finished_searches() == 1);
    for (int n = 0; n < 300; ++n)
        add(n);
    view.synchronize();
    CHECK(std::count(data.begin(), data.end(), expected) == 5000);
}

TEST(threads_that_launch_at_once) {
    begin();
    const accelerator_view shared_view = vulkan_view();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const accelerator_view gpu = t % 2 ? shared_view : shared_view.accelerator.create_view();
            std::vector<int> data(66 * 96);
            const array_view<int, 2> view(66, 96, data);
            // On a fast device, many launches end before the pipelines of the search are built.
            for (int n = 1; n <= 150 || (n < 100000 && finished_searches() == 0); ++n) {
                parallel_for_each(
                    gpu, view.extent, [=](index<2> i) restrict(amp) { view[i] += i[0] * 96 + i[1]; });
                if (n % 10) continue;
                view.synchronize();
                for (int e = 0; e < 66 * 96; ++e)
                    wrong += data[static_cast<std::size_t>(e)] != n * e;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(wrong == 0);
    CHECK(finished_searches() == 1);
}

TEST(atomic_operations) {
    begin();
    const accelerator_view gpu = vulkan_view();
    std::vector<int> counts(7);
    std::vector<float> sums(1);
    const array_view<int> count(counts);
    const array_view<float> sum(sums);
    const extent<1> domain(7 * 1001);
    for (int n = 1; n <= 40 || (n < 100000 && finished_searches() == 0); ++n) {
        parallel_for_each(
            gpu, domain, [=](index<1> i) restrict(amp) { atomic_fetch_inc(&count[i[0] % 7]); });
        // A sum of floats, whose last bits can depend on the order of the threads.
        parallel_for_each(
            gpu, domain, [=](index<1>) restrict(amp) {
                int *bits = reinterpret_cast<int *>(&sum[0]);
                int old = *bits;
                for (;;) {
                    float next;
                    next = *reinterpret_cast<float *>(&old) + 1.0f;
                    if (atomic_compare_exchange(bits, &old, *reinterpret_cast<int *>(&next))) break;
                }
            });
        count.synchronize();
        sum.synchronize();
        CHECK(std::count(counts.begin(), counts.end(), n * 1001) == 7);
        // The sum is exact up to 2^24.
        CHECK(n > 2000 || sums[0] == static_cast<float>(n * 7 * 1001));
    }
    CHECK(finished_searches() == 1);
}

TEST(what_was_found_is_on_disk) {
    if (is_child()) {
        begin();
        const accelerator_view gpu = vulkan_view();
        std::vector<int> data(999);
        const array_view<int> view(data);
        for (int n = 0; n < 100000 && finished_searches() == 0 && count_messages("found by an earlier search") == 0;
             ++n) {
            parallel_for_each(
                gpu, view.extent, [=](index<1> i) restrict(amp) { view[i] += i[0]; });
            view.synchronize();
            CHECK(data[7] == 7 * (n + 1));
        }
        std::cout << (finished_searches()                            ? "searched"
                      : count_messages("found by an earlier search") ? "known"
                                                                     : "neither")
                  << std::endl;
        return;
    }
    begin();
    char folder[] = "/tmp/revamp-workgroups-XXXXXX";
    REQUIRE(mkdtemp(folder));
    const auto child_result = [&](const char *settings = "") {
        const std::string text = run_in_child("what_was_found_is_on_disk", std::string("REVAMP_CACHE_DIR=") + folder +
                                                                               " REVAMP_CACHE=rw " + settings);
        CHECK_CONTAINS(text, "status 0");
        return text.substr(0, text.find('\n'));
    };
    CHECK(child_result() == "searched");
    CHECK(child_result() == "known");
    CHECK(child_result("REVAMP_CACHE=off") == "searched");
    const std::string files = std::string("ls ") + folder + "/workgroups-*";
    FILE *list = popen(files.c_str(), "r");
    char path[256] = {};
    REQUIRE(list && fgets(path, sizeof path, list));
    pclose(list);
    path[std::strcspn(path, "\n")] = 0;
    // The library ignores files that have a wrong byte, are truncated, have other contents, or are writable by others.
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-2, std::ios::end).put(9);
    CHECK(child_result() == "searched");
    CHECK(child_result() == "known");
    CHECK(truncate(path, 110) == 0);
    CHECK(child_result() == "searched");
    std::ofstream(path) << "something else";
    CHECK(child_result() == "searched");
    CHECK(chmod(path, 0666) == 0);
    CHECK(child_result() == "searched");
    CHECK(system((std::string("rm -r ") + folder).c_str()) == 0);
}

TEST(a_device_that_is_lost_meanwhile) {
    if (is_child()) {
        begin();
        const accelerator_view gpu = vulkan_view();
        int failed = 0;
        for (int n = 0; n < 60 && failed == 0; ++n)
            try {
                std::vector<int> data(3000);
                const array_view<int> view(data);
                parallel_for_each(
                    gpu, view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0]; });
                view.synchronize();
                CHECK(data[2999] == 2999);
            } catch (const runtime_exception &) {
                ++failed;
            }
        CHECK(failed == 1);
        // The library opens the device again.
        const accelerator_view anew = gpu.accelerator.create_view();
        for (int n = 0; n < 40; ++n) {
            std::vector<int> data(3000);
            const array_view<int> view(data);
            parallel_for_each(
                anew, view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0] + n; });
            view.synchronize();
            CHECK(data[2999] == 2999 + n);
        }
        return;
    }
    begin();
    for (int n = 2; n < 40; n += 5)
        CHECK_CONTAINS(run_in_child("a_device_that_is_lost_meanwhile", "REVAMP_TEST=lose-device=" + std::to_string(n)),
                       "status 0");
}

TEST(the_end_while_pipelines_are_built) {
    if (is_child()) {
        begin();
        const int launches = std::atoi(std::getenv("LAUNCHES"));
        {
            const accelerator_view gpu = vulkan_view();
            std::vector<int> data(3000);
            const array_view<int> view(data);
            for (int n = 0; n < launches; ++n) {
                parallel_for_each(
                    gpu, view.extent, [=](index<1> i) restrict(amp) { view[i] += i[0]; });
                if (n < 5) view.synchronize();
            }
            view.synchronize();
            CHECK(data[2999] == 2999 * launches);
        }
        if (std::getenv("UNINITIALIZE")) CHECK(revamp_uninitialize() == REVAMP_OK);
        return;
    }
    begin();
    // The sixth launch starts building pipelines.
    for (int n = 4; n <= 8; ++n)
        for (const char *how : {"", " UNINITIALIZE=1"})
            CHECK_CONTAINS(run_in_child("the_end_while_pipelines_are_built", "LAUNCHES=" + std::to_string(n) + how),
                           "status 0");
}

CHECK_MAIN
