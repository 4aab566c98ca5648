// Tests of programs with compiled kernels that fork before they use the library, such as daemons and servers.
#include "device.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace concurrency;

namespace {

// True if a kernel computes the right results on host threads, and on a Vulkan device if there is one.
bool computes() {
    bool all_right = true;
    for (const accelerator &one : accelerator::get_all()) {
        if (one.device_path.compare(0, 6, L"vulkan") != 0 && one.device_path != L"host") continue;
        accelerator_view on = one.default_view;
        std::vector<int> v(1000, 3);
        const array_view<int> all(v);
        parallel_for_each(
            on, all.extent, [=](index<1> i) restrict(amp, cpu) { all[i] = all[i] * 2 + i[0]; });
        all.synchronize();
        all_right = all_right && v[7] == 13 && v[999] == 1005;
    }
    return all_right;
}

// The exit status of a process that runs `work`.
template <class Work> int status_of_child(const Work &work) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        alarm(60);
        int status = 2;
        try {
            status = work() ? 0 : 1;
        } catch (const std::exception &e) {
            std::cerr << e.what() << std::endl;
        }
        // No exit(), because the objects of the test belong to the parent.
        _exit(status);
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST(a_daemon_computes) {
    // Forks twice, as daemons do.
    CHECK(status_of_child([] {
              setsid();
              return status_of_child(computes) == 0;
          }) == 0);
}

TEST(workers_compute) {
    for (int worker = 0; worker < 3; ++worker)
        CHECK(status_of_child(computes) == 0);
    CHECK(computes());
}

TEST(a_child_after_use_gets_an_error) {
    CHECK(computes());
    CHECK(status_of_child([] {
              try {
                  computes();
                  return false;
              } catch (const runtime_exception &e) {
                  return std::string(e.what()).find("fork") != std::string::npos;
              }
          }) == 0);
    CHECK(computes());
}

TEST(a_child_forks_after_use) {
    CHECK(computes());
    CHECK(status_of_child([] { return status_of_child([] { return true; }) == 0; }) == 0);
}

CHECK_MAIN
