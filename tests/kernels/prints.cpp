// What kernels print: run by prints.cmake, which compares it. The argument says what is to happen.
#include "device.hpp"

using namespace concurrency;

namespace {

int show(int x) restrict(amp, cpu) {
    direct3d_printf("in a function: %d\n", x);
    return x + 1;
}

// Of each kind one, and what a thread computes after it.
void values(const accelerator_view &on) {
    std::vector<int> v(8);
    array_view<int> a(8, v);
    parallel_for_each(
        on, a.extent, [=](index<1> i) restrict(amp) {
            const float x = 0.5f * static_cast<float>(i[0]);
            const unsigned u = 0xfffffff0u + static_cast<unsigned>(i[0]);
            if (i[0] == 3) direct3d_printf("100%% of %s %c: %d %i %5d|%-4d|%+d\n", "50% x", 'A', i[0], -i[0], 12, 3, 4);
            if (i[0] == 4) direct3d_printf("%u %x %X %#x %o %08x\n", u, u, u, u, 8u, 255u);
            if (i[0] == 5) direct3d_printf("%f %.2f %8.3f %e %g\n", x, x, x, x, x);
            if (i[0] == 6) direct3d_printf("%lu %8llx %lld %d\n", 5000000000ul + i[0], 0xabcull, -7000000000ll, 1);
            if (i[0] == 7) direct3d_printf("small %hd %d %d\n", static_cast<short>(-7), i[0] > 3, static_cast<char>(9));
            a[i] = show(i[0]);
        });
    for (int i = 0; i < 8; ++i)
        CHECK(a[i] == i + 1);
}

// A layer that prints has floats only.
void doubles(const accelerator_view &on) {
    if (!on.accelerator.supports_double_precision) SKIP("the device has no doubles");
    std::vector<double> v(4, 2);
    array_view<double> a(4, v);
    parallel_for_each(
        on, a.extent, [=](index<1> i) restrict(amp) {
            if (i[0] == 2) direct3d_printf("%.15f %g %d %-8.2e|\n", a[i] / 3, a[i] * -1e200, 2, a[i]);
            a[i] += 1;
        });
    CHECK(a[2] == 3);
}

// What a thread does after the end of its kernel is not done.
void ends(const accelerator_view &on, bool prints, bool with_text) {
    std::vector<int> v(64);
    array_view<int> a(64, v);
    std::string told;
    try {
        parallel_for_each(
            on, a.extent, [=](index<1> i) restrict(amp) {
                for (int k = 0; k < 4; ++k) {
                    a[i] += 1;
                    if (i[0] == 17 && k == 2) {
                        if (with_text)
                            direct3d_errorf("thread %d at %d", i[0], k);
                        else
                            direct3d_abort();
                    }
                }
            });
        on.wait();
    } catch (const runtime_exception &e) {
        told = e.what();
    }
    const std::string text = with_text ? "thread 17 at 2" : "Reference Rasterizer: Shader abort instruction hit";
    CHECK(told == (prints ? text : ""));
    on.wait(); // told once
    for (int i = 0; i < 64; ++i)
        CHECK(a[i] == (i == 17 ? 3 : 4));
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "", prints = argc > 2 ? argv[2] : "";
    try {
        const accelerator_view on = vulkan_view();
        if (what == "values") values(on);
        if (what == "doubles") doubles(on);
        if (what == "errorf") ends(on, prints == "prints", true);
        if (what == "abort") ends(on, prints == "prints", false);
    } catch (const check::skipped &skip) {
        std::cout << "skipped: " << skip.why << std::endl;
        return 77;
    }
    return check::failures() == 0 ? 0 : 1;
}
