// Tests of how processes that use a Vulkan device end (decision 5). `exits WAY MICROSECONDS` ends in the named way.
// Some ways pause for MICROSECONDS first. `exits all TIMES` runs each way TIMES times, and fails if a status is not 0.
#include <amp.h>
#include <amp_math.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <random>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace concurrency;

namespace {

std::vector<float> data(1024, 1.0f);

// Each value of K makes a different kernel, which the driver compiles in some milliseconds.
template <int K> void launch() {
    const array_view<float> view(data);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < K * 10; ++k)
                sum += K % 2 ? fast_math::sin(view[i] * k) : precise_math::pow(view[i], k + 0.5f);
            view[i] = sum;
        });
    if constexpr (K > 1) launch<K - 1>();
}

void pause(int microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

struct end {
    const char *name;
    // The longest pause.
    int microseconds;
    void (*run)(int);
};

const end ends[] = {
    {"with_a_first_kernel", 40000,
     [](int microseconds) {
         launch<1>();
         pause(microseconds);
     }},
    {"with_many_kernels", 200000,
     [](int microseconds) {
         launch<6>();
         pause(microseconds);
     }},
    {"after_a_refused_launch", 0,
     [](int) {
         try {
             parallel_for_each(extent<1>(-1), [=](index<1>) restrict(amp){});
         } catch (const runtime_exception &) {
         }
     }},
    {"by_another_thread", 40000,
     [](int microseconds) {
         std::thread([] { launch<1>(); }).join();
         std::thread([=] {
             pause(microseconds);
             std::exit(0);
         }).join();
     }},
    {"while_a_thread_launches", 90000,
     [](int microseconds) {
         std::thread([] {
             try {
                 for (;;)
                     launch<2>();
             } catch (const runtime_exception &) {
             }
         }).detach();
         pause(microseconds);
     }},
    {"with_a_static_array", 0,
     [](int) {
         static array<float> kept(1024);
         array<float> &all = kept;
         parallel_for_each(
             all.extent, [&all](index<1> i) restrict(amp) { all[i] = fast_math::sqrt(static_cast<float>(i[0])); });
     }},
    {"with_static_views", 0,
     [](int) {
         static const accelerator_view view = accelerator().create_view();
         static const array_view<float> kept(data);
         const array_view<float> all = kept;
         parallel_for_each(
             view, all.extent, [=](index<1> i) restrict(amp) { all[i] = fast_math::exp(static_cast<float>(i[0])); });
     }},
    {"with_a_task_that_waits", 30000,
     [](int microseconds) {
         launch<1>();
         static std::shared_future<void> all = accelerator().get_default_view().create_marker();
         static std::future<void> task = std::async(std::launch::async, [] {
             try {
                 all.get();
                 launch<1>();
             } catch (const runtime_exception &) {
             }
         });
         pause(microseconds);
     }},
    {"with_a_copy", 0,
     [](int) {
         static array<float> from(1024, data.begin()), to(1024);
         copy_async(from.section(index<1>(3), extent<1>(500)), to.section(index<1>(1), extent<1>(500)));
     }},
};

int run_all(const char *self, int times) {
    // Caches are off, so that each process must compile its kernels.
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    setenv("REVAMP_CACHE", "off", 1);
    unsetenv("REVAMP_VALIDATION");
    std::mt19937 random(static_cast<unsigned>(getpid()));
    int runs = 0, failures = 0;
    for (int n = 0; n < times; ++n)
        for (const end &one : ends) {
            const std::string pause = std::to_string(one.microseconds ? random() % unsigned(one.microseconds) : 0);
            const pid_t pid = fork();
            if (pid == 0) {
                alarm(60);
                execl(self, self, one.name, pause.c_str(), nullptr);
                _exit(127);
            }
            int status = -1;
            if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
                std::printf("%s %s: status %#x\n", one.name, pause.c_str(), unsigned(status));
                ++failures;
            }
            ++runs;
        }
    std::printf("%d of %d processes failed\n", failures, runs);
    return failures ? 1 : 0;
}

} // namespace

int main(int count, char **arguments) {
    if (count < 3) return 2;
    if (!std::strcmp(arguments[1], "all")) return run_all(arguments[0], std::atoi(arguments[2]));
    for (const end &one : ends)
        if (!std::strcmp(arguments[1], one.name)) {
            one.run(std::atoi(arguments[2]));
            return 0;
        }
    return 2;
}
