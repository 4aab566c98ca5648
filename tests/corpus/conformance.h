// The test framework of the conformance programs. A feature is a class with a static function run(), for the host or
// for a kernel. run() returns 0, or the line of the check that failed.
#pragma once
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <iostream>
#include <vector>

using namespace concurrency;

#define REQUIRE(condition)                                                                                             \
    if (!(condition)) return __LINE__

namespace conformance {

inline int &failures() {
    static int count = 0;
    return count;
}

inline void report(const char *name, const char *side, int line) {
    if (line == 0) return;
    std::cout << "FAILED: " << name << " on the " << side << ", line " << line << std::endl;
    ++failures();
}

template <typename Feature> int invoke_on_amp(accelerator_view av) {
    int result = -1;
    array_view<int> result_vw(1, &result);
    result_vw.discard_data();
    parallel_for_each(
        av, result_vw.extent, [=](index<1> idx) restrict(amp) { result_vw[idx] = Feature::run(); });
    result_vw.synchronize();
    return result;
}

template <typename Feature> void on_both(const char *name, accelerator_view av) {
    report(name, "cpu", Feature::run());
    report(name, "accelerator", invoke_on_amp<Feature>(av));
}
template <typename Feature> void on_amp(const char *name, accelerator_view av) {
    report(name, "accelerator", invoke_on_amp<Feature>(av));
}
template <typename Feature> void on_cpu(const char *name, accelerator_view) {
    report(name, "cpu", Feature::run());
}

struct feature {
    const char *name;
    void (*run)(const char *, accelerator_view);
};

template <int count> int main(const feature (&features)[count]) {
    accelerator_view av = accelerator().default_view;
    for (const feature &f : features) {
        try {
            f.run(f.name, av);
        } catch (const std::exception &e) {
            std::cout << "FAILED: " << f.name << ": " << e.what() << std::endl;
            ++failures();
        }
    }
    std::cout << count << " features, " << failures() << " failures" << std::endl;
    return failures() ? 1 : 0;
}

} // namespace conformance

// BOTH calls run() on the host and in a kernel. AMP calls run() in a kernel. CALLED_ON_HOST calls run() on the host,
// where run() may launch kernels.
#define BOTH(feature)                                                                                                  \
    { #feature, conformance::on_both < feature> }
#define AMP(feature)                                                                                                   \
    { #feature, conformance::on_amp < feature> }
#define CALLED_ON_HOST(feature)                                                                                        \
    { #feature, conformance::on_cpu < feature> }
