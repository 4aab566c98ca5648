// The common part of the programs that kernelc/examples/generate.rs generates.
// Each kernel runs on host threads and on the Vulkan accelerator with the same
// data, and must give the same results. On host threads, the results must be
// bit-identical in all modes (REVAMP_HOST_KERNELS).
#pragma once

#include <amp.h>
#include <amp_math.h>

#include <cfloat>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <unistd.h>

using namespace concurrency;

constexpr unsigned count = 112;
constexpr float endless = std::numeric_limits<float>::infinity();

struct both {
    unsigned first, second;
    unsigned sum() const restrict(amp, cpu) { return first * 3u + second; }
};
inline both pair_of(unsigned x, unsigned y) restrict(amp, cpu) {
    both b = {x ^ 0x55u, y};
    if ((x & 1u) != 0) b.second += x;
    return b;
}
inline unsigned mixed(unsigned x, unsigned y) restrict(amp, cpu) {
    for (int n = 0; n < 3; ++n) {
        if ((x & 2u) != 0) {
            x = x * 0x9E3779B1u + y;
            continue;
        }
        x ^= y >> n;
        if (x == 7u) break;
    }
    return x;
}
inline int wrap(unsigned x) restrict(amp, cpu) {
    return int(x % count);
}
// Limits a number, so that sums of limited numbers are far from overflow.
inline float bounded(float x) restrict(amp, cpu) {
    return x > 1000.0f ? 1000.0f - (x > 1e6f ? 1e6f : x) * 0.0009765625f : (x < -1000.0f ? -500.0f : x);
}

inline float times(float x, float y) restrict(amp, cpu) {
    return x * y * 0.03125f;
}
inline float product(float x, float y) restrict(amp, cpu) {
    return x * y;
}
// Checks a computed x * y + z. `got` may be the value rounded twice, the value rounded once (fused), or NaN. Then the
// function returns the value rounded twice, otherwise 12345.
inline float legal(float got, float x, float y, float z) restrict(amp, cpu) {
    const float twice = product(x, y) + z, once = precise_math::fma(x, y, z);
    return got == twice || got == once || got != got ? twice : 12345.0f;
}

struct data {
    std::vector<int> a, ints, sums;
    std::vector<unsigned> u;
    std::vector<float> f, floats;

    data() : a(count), ints(count), sums(32), u(count), f(count), floats(count) {
        unsigned x = 12345;
        for (unsigned n = 0; n < count; ++n) {
            x = x * 1664525u + 1013904223u;
            a[n] = int(x) >> (n % 20);
            u[n] = n % 7 == 0 ? n : x ^ (x >> 11);
            f[n] = float(int(x >> 8) % 4096) / 64.0f - 20.0f;
        }
    }
    void clear() {
        ints.assign(count, -1);
        floats.assign(count, -1.0f);
        sums.assign(32, 5);
    }
};
inline data &all() {
    static data one;
    return one;
}
inline int &failures() {
    static int n = 0;
    return n;
}

struct views {
    array_view<const int> a;
    array_view<const unsigned> u;
    array_view<const float> f;
    array_view<int> ints, sums;
    array_view<float> floats;

    views()
        : a(int(count), all().a), u(int(count), all().u), f(int(count), all().f), ints(int(count), all().ints),
          sums(32, all().sums), floats(int(count), all().floats) {}
    void restart() {
        all().clear();
        ints.refresh();
        sums.refresh();
        floats.refresh();
    }
    // Called after a launch that failed. synchronize() throws if data of the view is lost. Only then does
    // discard_data() make the view usable again.
    void forget() {
        const auto of = [](auto &view) {
            try {
                view.synchronize();
            } catch (const runtime_exception &) {
                view.discard_data();
            }
        };
        of(ints);
        of(sums);
        of(floats);
    }
    void finish() {
        ints.synchronize();
        sums.synchronize();
        floats.synchronize();
    }
};
inline views &shared_views() {
    static views one;
    return one;
}

// The captures of a kernel.
#define REVAMP_COMPARE_VIEWS                                                                                           \
    const array_view<const int> a = shared_views().a;                                                                  \
    const array_view<const unsigned> u = shared_views().u;                                                             \
    const array_view<const float> f = shared_views().f;                                                                \
    const array_view<int> ints = shared_views().ints, sums = shared_views().sums;                                      \
    const array_view<float> floats = shared_views().floats;                                                            \
    const unsigned given = all().u[5]

// The accelerator_view of host threads, or of the accelerator that COMPARE_HOST names, such as direct3d\ref.
inline const accelerator_view &host() {
    static accelerator_view view = [] {
        const std::string path = std::getenv("COMPARE_HOST") ? std::getenv("COMPARE_HOST") : "direct3d\\warp";
        return accelerator(std::wstring(path.begin(), path.end())).get_default_view();
    }();
    return view;
}
inline const accelerator_view &vulkan() {
    static accelerator_view view = [] {
        for (const accelerator &one : accelerator::get_all())
            if (one.get_device_path().find(L"vulkan") == 0) return one.get_default_view();
        std::printf("no Vulkan accelerator\n");
        std::exit(77);
    }();
    return view;
}

// Subnormal numbers count as zero, because a device may flush them (an H200
// does). Results of divisions and square roots may differ: Vulkan allows errors
// of 2.5 and 3 units in the last place.
inline bool close(float x, float y, bool inexact) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return true;
    if (std::fabs(x) < FLT_MIN && std::fabs(y) < FLT_MIN) return true;
    return inexact && std::fabs(x - y) <= 1e-4f * (1.0f + std::fabs(x));
}

// The checksum of a launch's results on host threads.
struct outcome {
    int kernel;
    std::uint64_t checksum;
};
inline std::vector<outcome> &outcomes() {
    static std::vector<outcome> all;
    return all;
}
inline void add_outcome(int kernel) {
    std::uint64_t checksum = 1469598103934665603U;
    const auto add = [&](unsigned word) { checksum = (checksum ^ word) * 1099511628211U; };
    for (int number : all().ints)
        add(unsigned(number));
    for (int number : all().sums)
        add(unsigned(number));
    for (float number : all().floats) {
        unsigned bits = 0x7FC00000; // the bits of NaNs may differ
        if (!std::isnan(number)) std::memcpy(&bits, &number, sizeof bits);
        add(bits);
    }
    outcomes().push_back({kernel, checksum});
}
// True if this run only prints checksums.
inline bool only_checksums() {
    return std::getenv("COMPARE_CHECKSUMS") != nullptr;
}

// The message that is printed if the current kernel does not end in time.
inline char (&under_way())[64] {
    static char text[64];
    return text;
}
template <class Run> void watched(int kernel, const char *where, Run run) {
    std::snprintf(under_way(), sizeof under_way(), "kernel %d does not end on %s\n", kernel, where);
    std::signal(SIGALRM, [](int) {
        if (write(STDOUT_FILENO, under_way(), std::strlen(under_way())) >= 0) _exit(1);
        _exit(2);
    });
    struct end {
        ~end() { alarm(0); }
    } const at_end;
    alarm(90);
    run();
}

// Runs a kernel on the Vulkan accelerator. Returns false if the kernel exceeds
// a limit of the accelerator (docs/devices.md has the limits of llvmpipe).
template <class Run> bool runs_on_vulkan(int kernel, Run run) {
    views &v = shared_views();
    try {
        watched(kernel, "the Vulkan accelerator", [&] {
            run(vulkan());
            v.finish();
        });
        return true;
    } catch (const runtime_exception &e) {
        const std::string text = e.what();
        if (text.find("65,535") == std::string::npos && text.find("levels deep") == std::string::npos) throw;
        std::printf("kernel %d exceeds a limit of the Vulkan accelerator\n", kernel);
        v.forget();
        return false;
    }
}

template <class Run> void compare(int kernel, bool inexact, Run run) {
    views &v = shared_views();
    v.restart();
    watched(kernel, "host threads", [&] {
        run(host());
        v.finish();
    });
    add_outcome(kernel);
    if (only_checksums()) return;
    const std::vector<int> ints = all().ints, sums = all().sums;
    const std::vector<float> floats = all().floats;
    v.restart();
    if (!runs_on_vulkan(kernel, run)) return;
    unsigned mismatches = 0;
    for (unsigned n = 0; n < count; ++n) {
        // Integers that depend on inexact floats may differ too.
        const bool same = (inexact || ints[n] == all().ints[n]) && close(floats[n], all().floats[n], inexact);
        if (same || ++mismatches > 3) continue;
        std::printf("kernel %d, thread %u: host %d %.9g, Vulkan %d %.9g\n", kernel, n, ints[n], double(floats[n]),
                    all().ints[n], double(all().floats[n]));
    }
    for (unsigned n = 0; n < 32 && !inexact; ++n)
        if (sums[n] != all().sums[n] && ++mismatches < 4)
            std::printf("kernel %d, sum %u: host %d, Vulkan %d\n", kernel, n, sums[n], all().sums[n]);
    if (mismatches != 0) {
        std::printf("kernel %d: %u numbers differ\n", kernel, mismatches);
        ++failures();
    }
}

template <class Domain, class Kernel>
void compare_over(int kernel, bool inexact, const Domain &domain, const Kernel &run) {
    compare(kernel, inexact, [&](const accelerator_view &view) { parallel_for_each(view, domain, run); });
}

// Compares the checksums with those of a run of this program in another mode of REVAMP_HOST_KERNELS.
inline void compare_mode(const char *mode) {
    const std::string command =
        std::string("COMPARE_CHECKSUMS=1 REVAMP_HOST_KERNELS=") + mode + " /proc/" + std::to_string(getpid()) + "/exe";
    std::FILE *const other = popen(command.c_str(), "r");
    unsigned long long checksum = 0;
    std::size_t at = 0;
    for (; other && at < outcomes().size() && std::fscanf(other, "%llx", &checksum) == 1; ++at)
        if (checksum != outcomes()[at].checksum) {
            std::printf("kernel %d: results on host threads differ with REVAMP_HOST_KERNELS=%s\n",
                        outcomes()[at].kernel, mode);
            ++failures();
        }
    if (!other || pclose(other) != 0 || at != outcomes().size()) {
        std::printf("this program fails with REVAMP_HOST_KERNELS=%s\n", mode);
        ++failures();
    }
}

inline int finish() {
    if (only_checksums()) {
        for (const outcome &one : outcomes())
            std::printf("%llx\n", static_cast<unsigned long long>(one.checksum));
        return 0;
    }
#ifndef COMPARE_NATIVE_ONLY
    compare_mode("coroutines");
#endif
    for (const char *mode : {"v1", "v3"})
        compare_mode(mode);
    std::printf("%d kernels differ\n", failures());
    return failures() != 0;
}
