// Tests of SPIR-V kernels launched from C++ (revamp/kernel.h).
#include <amp.h>
#include <revamp/kernel.h>

#include "../check.hpp"

#include <cstdint>

using namespace concurrency;

namespace {

const std::uint32_t saxpy_words[] = {
#include "saxpy.inc"
};
const std::uint32_t pointer_words[] = {
#include "pointer.inc"
};
const std::uint32_t factor_words[] = {
#include "factor.inc"
};

accelerator vulkan() {
    for (const accelerator &one : accelerator::get_all())
        if (one.device_path.compare(0, 6, L"vulkan") == 0) return one;
    SKIP("there is no Vulkan device");
}

} // namespace

TEST(bindings_and_push_constants) {
    const accelerator gpu = vulkan();
    const revamp::kernel saxpy(gpu, saxpy_words, sizeof saxpy_words, nullptr, "saxpy");
    CHECK(saxpy.info().binding_count == 2 && saxpy.info().workgroup_size[0] == 64 &&
          saxpy.binding(0).access == REVAMP_ACCESS_READ);
    std::vector<float> xs(100, 3.0f), ys(100, 1.0f);
    {
        array_view<const float> x(xs);
        array_view<float> y(ys);
        parallel_for_each(gpu.default_view, y.extent, saxpy, x, y, 2.0f, 100u);
        CHECK(y[99] == 7.0f);
        parallel_for_each(gpu.create_view(), extent<1>(64), saxpy, x.section(0, 64), y.section(0, 64), 1.0f, 64u);
        CHECK(y[0] == 10.0f && y[64] == 7.0f);
    }
    CHECK(ys[63] == 10.0f);
    // The kernel only reads `a`, but gets a view of non-const elements. The launch also has an array argument and push
    // constants in one struct, and names no accelerator_view.
    array<float> a(100, xs.begin(), gpu.default_view), b(100, ys.begin(), gpu.default_view);
    struct {
        float factor;
        unsigned count;
    } push = {-1.0f, 100};
    parallel_for_each(extent<1>(128), saxpy, array_view<float>(a), b, push);
    CHECK(std::vector<float>(b)[99] == 4.0f && std::vector<float>(b)[0] == 7.0f);
    const array<float> &constant = a;
    concurrency::parallel_for_each(extent<2>(2, 64), saxpy, constant, b, 0.0f, 0u);
    std::vector<revamp::kernel> kernels(3, saxpy);
    kernels[0] = revamp::kernel(gpu, std::vector<std::uint32_t>(saxpy_words, saxpy_words + sizeof saxpy_words / 4));
    revamp::kernel moved(std::move(kernels[1]));
    CHECK_THROWS(uninitialized_object, kernels[1].info());
    parallel_for_each(extent<1>(100), kernels[0], a, b, 1.0f, 100u);
    CHECK(std::vector<float>(b)[99] == 7.0f && moved.native() == saxpy.native());
}

TEST(argument_block) {
    const accelerator gpu = vulkan();
    const revamp::kernel saxpy(gpu, pointer_words, sizeof pointer_words);
    CHECK(saxpy.info().takes_block);
    std::vector<float> xs(100, 3.0f), ys(100, 1.0f);
    array_view<const float> x(xs);
    array_view<float> y(ys);
    parallel_for_each(gpu.default_view, y.extent, saxpy, x, y, 2.0f, 100u);
    CHECK(y[99] == 7.0f);
    array<float> a(100, xs.begin(), gpu.default_view);
    parallel_for_each(y.extent, saxpy, a, y.section(50, 50), 1.0f, 50u);
    CHECK(y[50] == 10.0f && y[49] == 7.0f);
}

TEST(specialization_constants) {
    const accelerator gpu = vulkan();
    const revamp::kernel factor(gpu, factor_words, sizeof factor_words);
    std::vector<int> v(32), w(4);
    array_view<int> data(v);
    array_view<unsigned> widths = array_view<int>(w).reinterpret_as<unsigned>();
    parallel_for_each(gpu.default_view, data.extent, factor, revamp::constant(0, 8u), data, revamp::constant(3, true),
                      widths, revamp::constant(1, 10u), revamp::constant(2, 1.0f));
    CHECK(data[3] == -32 && data[31] == -312 && widths[3] == 8u);
}

TEST(PFE_10_unsupported_capabilities) {
    const accelerator gpu = vulkan();
    // The same kernel with one more capability, which no Vulkan device has.
    struct {
        std::uint32_t capability;
        const char *name;
    } const unsupported[] = {{6, "Kernel"}, {5696, "SubgroupAvcMotionEstimation"}, {5948, "FPGAReg"}};
    for (const auto &one : unsupported) {
        std::vector<std::uint32_t> words(saxpy_words, saxpy_words + sizeof saxpy_words / 4);
        constexpr int header = 5;
        words.insert(words.begin() + header, {2U << 16 | 17U, one.capability});
        CHECK_THROWS(unsupported_feature, revamp::kernel(gpu, words), CHECK_CONTAINS(e.what(), one.name));
    }
    // Other accelerators cannot run SPIR-V.
    for (const accelerator &one : accelerator::get_all())
        if (one.device_path.compare(0, 6, L"vulkan") != 0)
            CHECK_THROWS(unsupported_feature, revamp::kernel(one, saxpy_words, sizeof saxpy_words),
                         CHECK_CONTAINS(e.what(), "SPIR-V"));
    // The device still works afterwards.
    const revamp::kernel saxpy(gpu, saxpy_words, sizeof saxpy_words);
    std::vector<float> v(64, 1.0f);
    array_view<float> view(v);
    parallel_for_each(gpu.default_view, view.extent, saxpy, array<float>(64, v.begin(), gpu.default_view), view, 2.0f,
                      64u);
    CHECK(view[63] == 3.0f);
}

TEST(kernel_errors) {
    const accelerator gpu = vulkan();
    const revamp::kernel saxpy(gpu, saxpy_words, sizeof saxpy_words);
    std::vector<float> v(10);
    array_view<float> x(v);
    const array_view<const float> c(x);
    const accelerator_view view = gpu.default_view;
    CHECK_THROWS(runtime_exception, parallel_for_each(view, x.extent, saxpy, x, 1.0f, 10u),
                 CHECK_CONTAINS(e.what(), "2 storage buffers"));
    CHECK_THROWS(runtime_exception, parallel_for_each(view, x.extent, saxpy, x, x, x, 1.0f, 10u),
                 CHECK_CONTAINS(e.what(), "2 storage buffers"));
    CHECK_THROWS(runtime_exception, parallel_for_each(view, x.extent, saxpy, c, c, 1.0f, 10u),
                 CHECK_CONTAINS(e.what(), "const"));
    CHECK_THROWS(runtime_exception, parallel_for_each(view, x.extent, saxpy, c, x, 1.0f));
    CHECK_THROWS(runtime_exception, parallel_for_each(view, x.extent, saxpy, c, x, 1.0f, 10u, 3));
    CHECK_THROWS(invalid_compute_domain, parallel_for_each(view, extent<1>(0), saxpy, c, x, 1.0f, 10u));
    CHECK_THROWS(runtime_exception, parallel_for_each(accelerator(accelerator::direct3d_warp).default_view, x.extent,
                                                      saxpy, c, x, 1.0f, 10u));
    CHECK_THROWS(runtime_exception, revamp::kernel(gpu, "no module", 8));
    CHECK_THROWS(runtime_exception, revamp::kernel::find(gpu, "of no such name"),
                 CHECK_CONTAINS(e.what(), "of no such name"));
    CHECK_THROWS(runtime_exception,
                 revamp::kernel(accelerator(accelerator::cpu_accelerator), saxpy_words, sizeof saxpy_words));
}

CHECK_MAIN
