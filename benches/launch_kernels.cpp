// The C++ AMP launches that case_launch.cpp times (launch_kernels.h).
#include "launch_kernels.h"

#include <amp.h>

#include <vector>

using namespace concurrency;

namespace {

constexpr int count = 64;

struct Base : LambdaLaunch {
    accelerator_view view;
    std::vector<unsigned> memory[4];
    array_view<const unsigned> a, b, c;
    array_view<unsigned> d;

    explicit Base(const std::string &path)
        : view(accelerator(std::wstring(path.begin(), path.end())).get_default_view()),
          memory{std::vector<unsigned>(count), std::vector<unsigned>(count), std::vector<unsigned>(count),
                 std::vector<unsigned>(count)},
          a(count, memory[0]), b(count, memory[1]), c(count, memory[2]), d(count, memory[3]) {}
    void wait() override { view.wait(); }
    uint32_t value() override { return d[0]; }
};

struct Empty : Base {
    using Base::Base;
    void launch(unsigned times) override {
        const array_view<const unsigned> x = a, y = b, z = c;
        const array_view<unsigned> out = d;
        const int end = count;
        for (unsigned n = 0; n < times; n++)
            parallel_for_each(
                view, out.extent, [=](index<1> i) restrict(amp) {
                    if (i[0] >= end) out[i] = x[i] + y[i] + z[i];
                });
    }
};

struct Increment : Base {
    using Base::Base;
    void launch(unsigned times) override {
        const array_view<const unsigned> x = a, y = b, z = c;
        const array_view<unsigned> out = d;
        for (unsigned n = 0; n < times; n++)
            parallel_for_each(
                view, out.extent, [=](index<1> i) restrict(amp) { out[i] += x[i] + y[i] + z[i] + 1; });
    }
};

} // namespace

std::unique_ptr<LambdaLaunch> make_lambda_launch(bool increments, const std::string &path) {
    if (increments) return std::make_unique<Increment>(path);
    return std::make_unique<Empty>(path);
}
