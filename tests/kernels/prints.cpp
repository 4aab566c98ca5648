// Kernels that print. prints.cmake runs this program and compares its output. The first argument selects a test.
#include "device.hpp"

using namespace concurrency;

namespace {

int show(int x) restrict(amp, cpu) {
    direct3d_printf("in a function: %d\n", x);
    return x + 1;
}

// Prints values with many format conversions, and checks what the threads compute afterwards.
void values(const accelerator_view &view) {
    std::vector<int> v(8);
    array_view<int> a(8, v);
    parallel_for_each(
        view, a.extent, [=](index<1> i) restrict(amp) {
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

// The validation layer can print only floats, so the library formats doubles.
void doubles(const accelerator_view &view) {
    if (!view.accelerator.supports_double_precision) SKIP("the device has no doubles");
    std::vector<double> v(4, 2);
    array_view<double> a(4, v);
    parallel_for_each(
        view, a.extent, [=](index<1> i) restrict(amp) {
            if (i[0] == 2) direct3d_printf("%.15f %g %d %-8.2e|\n", a[i] / 3, a[i] * -1e200, 2, a[i]);
            a[i] += 1;
        });
    CHECK(a[2] == 3);
}

// A call of direct3d_errorf or direct3d_abort ends the calling thread.
void test_thread_end(const accelerator_view &view, bool prints, bool with_text) {
    std::vector<int> v(64);
    array_view<int> a(64, v);
    std::string error_text;
    try {
        parallel_for_each(
            view, a.extent, [=](index<1> i) restrict(amp) {
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
        view.wait();
    } catch (const runtime_exception &e) {
        error_text = e.what();
    }
    const std::string text = with_text ? "thread 17 at 2" : "Reference Rasterizer: Shader abort instruction hit";
    CHECK(error_text == (prints ? text : ""));
    view.wait(); // the error is reported only once
    for (int i = 0; i < 64; ++i)
        CHECK(a[i] == (i == 17 ? 3 : 4));
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "", prints = argc > 2 ? argv[2] : "";
    try {
        const accelerator_view view = vulkan_view();
        if (what == "values") {
            values(view);
        } else if (what == "doubles") {
            doubles(view);
        } else if (what == "errorf" || what == "abort") {
            test_thread_end(view, prints == "prints", what == "errorf");
        } else {
            std::cerr << "usage: prints values|doubles|errorf|abort [prints]" << std::endl;
            return 2;
        }
    } catch (const check::skipped &skip) {
        std::cout << "skipped: " << skip.why << std::endl;
        return 77;
    }
    return check::failures() == 0 ? 0 : 1;
}
