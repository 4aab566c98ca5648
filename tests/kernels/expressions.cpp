// Tests the table of floating-point expressions on host threads and on a Vulkan device. Results must be identical to
// the host's, but a kernel may fuse a product into a sum of the same expression. With -ffp-contract=off, nothing is
// fused (CONTRACTION_off). With -ffp-contract=fast, products are also fused across statements (CONTRACTION_fast).
#include "expressions.hpp"

#include "device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

namespace {

#if defined(CONTRACTION_off) || defined(CONTRACTION_fast)
constexpr bool is_default_contraction = false;
#else
constexpr bool is_default_contraction = true;
#endif
#if defined(CONTRACTION_off)
constexpr bool fuses = false;
#else
constexpr bool fuses = true;
#endif
#if defined(CONTRACTION_fast)
constexpr bool across_statements = true;
#else
constexpr bool across_statements = false;
#endif

template <class T> struct rows {
    std::vector<T> a, b, c, d;
    std::vector<whole<T>> i;
    void add(T one, T two, T three, T four, whole<T> number) {
        a.push_back(one), b.push_back(two), c.push_back(three), d.push_back(four), i.push_back(number);
    }
};

template <class T> rows<T> numbers() {
    std::mt19937_64 random(7);
    rows<T> all;
    const auto number = [&random](int exponents) {
        const T digits = T(1) + std::ldexp(T(random() >> 11), -53);
        const int exponent = int(random() % unsigned(2 * exponents + 1)) - exponents;
        return std::ldexp(random() % 2 == 0 ? digits : -digits, exponent);
    };
    constexpr int bits = int(sizeof(whole<T>)) * 8;
    for (int n = 0; n < 512; ++n) {
        const T a = number(n % 20), b = number(n % 11), d = number(9);
        T c = number(n % 30);
        if (n % 3 == 0) c = -a * b;
        if (n % 3 == 1) c = std::nextafter(-a * b, T(n % 2 == 0 ? 0 : 1e9));
        all.add(a, b, c, n % 4 == 0 ? std::nextafter(a, b) : d, whole<T>(random() >> (66 - bits + n % 9)));
    }
    return all;
}

// All pairs of the values as a and b, with other values as c and d.
template <class T> rows<T> pairs(const std::vector<T> &values) {
    rows<T> all;
    std::size_t n = 0;
    for (T a : values)
        for (T b : values)
            all.add(a, b, values[n * 5 % values.size()], values[n * 7 / 3 % values.size()], whole<T>(n)), ++n;
    return all;
}

template <class T> rows<T> special_values() {
    using limits = std::numeric_limits<T>;
    const std::vector<T> values = {T(0),
                                   T(-0.0),
                                   T(1),
                                   T(-1),
                                   T(0.1),
                                   T(-3),
                                   big<T>,
                                   limits::max(),
                                   -limits::max(),
                                   infinite<T>,
                                   -infinite<T>,
                                   limits::quiet_NaN(),
                                   std::nextafter(T(1), T(0))};
    return pairs(values);
}

// Operands with which many results are below the smallest normal number.
template <class T> rows<T> subnormal_numbers() {
    using limits = std::numeric_limits<T>;
    const T smallest_normal = limits::min(), smallest_subnormal = limits::denorm_min();
    const std::vector<T> values = {smallest_subnormal,
                                   -smallest_subnormal,
                                   smallest_normal - smallest_subnormal,
                                   smallest_normal * T(-0.3),
                                   smallest_normal,
                                   smallest_normal * T(1.7),
                                   smallest_normal * T(-8),
                                   T(0.3),
                                   T(-1),
                                   T(5),
                                   big<T>,
                                   limits::max()};
    return pairs(values);
}

template <class T> bool same(T x, T y) {
    return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0;
}

constexpr int expressions_per_kernel = 8;

// The results of the expressions from First on, one after the other. One kernel computes several expressions, because
// the compile time depends on the number of kernels.
template <int First, class T, int... N>
std::vector<T> results(const accelerator_view &where, const rows<T> &in, std::integer_sequence<int, N...>) {
    const int count = int(in.a.size());
    std::vector<T> all(in.a.size() * sizeof...(N));
    const array_view<const T> a(count, in.a), b(count, in.b), c(count, in.c), d(count, in.d);
    const array_view<const whole<T>> i(count, in.i);
    const array_view<T, 2> out(int(sizeof...(N)), count, all);
    out.discard_data();
    parallel_for_each(
        where, a.extent, [=](index<1> n) restrict(amp) {
            ((out(N, n[0]) = expression<First + N>::template value<T>(a[n], b[n], c[n], d[n], i[n])), ...);
        });
    out.synchronize();
    return all;
}

// Devices may flush subnormal numbers to zero (docs/maths.md). NVIDIA's GPUs flush floats; lavapipe flushes nothing.
template <class T> bool keeps_subnormals(const accelerator_view &where) {
    if (where.accelerator.is_emulated) return true;
    std::vector<T> data = {std::numeric_limits<T>::denorm_min(), T(0)};
    const array_view<T> numbers(2, data);
    parallel_for_each(
        where, extent<1>(1), [=](index<1>) restrict(amp) { numbers[1] += numbers[0]; });
    numbers.synchronize();
    return data[1] != 0;
}

// Skips a test if REVAMP_TEST=plain-floats simulates a device that does not report that it keeps infinities and NaN.
// lavapipe keeps infinities and NaN in any case. The test runs on all other devices, because programs cannot query
// what a device reports.
void need_special_values(const accelerator_view &where) {
    const char *const test = std::getenv("REVAMP_TEST");
    if (!where.accelerator.is_emulated && test && std::strstr(test, "plain-floats"))
        SKIP("the device does not report that it keeps infinities and NaN");
}

template <class E, class T> void compare(const T *computed, const rows<T> &in, int excluded_inputs) {
    if ((E::input_flags & excluded_inputs) != 0) return;
    const std::size_t count = in.a.size();
    int mismatches = 0;
    for (std::size_t n = 0; n < count; ++n) {
        const T a = in.a[n], b = in.b[n], c = in.c[n], d = in.d[n];
        const T expected = E::template value<T>(a, b, c, d, in.i[n]);
        bool is_allowed = same(computed[n], expected);
        for (T fused : E::template fused<T>(a, b, c, d))
            is_allowed = is_allowed || (fuses && same(computed[n], fused));
        if (is_allowed || ++mismatches > 1) continue;
        std::printf("%s of %s: a = %a, b = %a, c = %a, d = %a, i = %lld: %a, not %a\n", E::name,
                    sizeof(T) == 4 ? "float" : "double", double(a), double(b), double(c), double(d),
                    static_cast<long long>(in.i[n]), double(computed[n]), double(expected));
    }
    if (mismatches == 0) return;
    std::printf("%s of %s: %d of %zu differ\n", E::name, sizeof(T) == 4 ? "float" : "double", mismatches, count);
    check::fail(__FILE__, __LINE__, E::name);
}

template <int First, class T, int... N>
void compare_some(const accelerator_view &where, const rows<T> &in, int excluded_inputs,
                  std::integer_sequence<int, N...> some) {
    const std::vector<T> computed = results<First>(where, in, some);
    (compare<expression<First + N>>(computed.data() + N * in.a.size(), in, excluded_inputs), ...);
}
template <class T, int... Group>
void compare_groups(const accelerator_view &where, const rows<T> &in, int excluded_inputs,
                    std::integer_sequence<int, Group...>) {
    (compare_some<Group * expressions_per_kernel>(
         where, in, excluded_inputs,
         std::make_integer_sequence<int,
                                    std::min(expressions_per_kernel, expressions - Group * expressions_per_kernel)>()),
     ...);
}
template <class T> void compare_all(const accelerator_view &where, const rows<T> &in, bool special) {
    if (sizeof(T) == 8 && !where.accelerator.supports_double_precision) return;
    const int excluded_inputs = (across_statements ? SEPARATE : 0) | (special ? NUMBERS : 0) |
                                (special && !keeps_subnormals<T>(where) ? SMALL : 0);
    if constexpr (sizeof(T) == 4 || is_default_contraction)
        compare_groups(
            where, in, excluded_inputs,
            std::make_integer_sequence<int, (expressions + expressions_per_kernel - 1) / expressions_per_kernel>());
    else
        SKIP("doubles are tested only with the default contraction");
}

accelerator_view host_threads() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

} // namespace

static_assert(expressions >= 60, "the table has 60 expressions");

TEST(floats_on_host_threads) {
    compare_all(host_threads(), numbers<float>(), false);
    compare_all(host_threads(), special_values<float>(), true);
    compare_all(host_threads(), subnormal_numbers<float>(), true);
}
TEST(doubles_on_host_threads) {
    compare_all(host_threads(), numbers<double>(), false);
    compare_all(host_threads(), special_values<double>(), true);
    compare_all(host_threads(), subnormal_numbers<double>(), true);
}
TEST(floats_on_a_device) {
    compare_all(vulkan_view(), numbers<float>(), false);
}
TEST(doubles_on_a_device) {
    compare_all(vulkan_view(), numbers<double>(), false);
}
TEST(special_floats_on_a_device) {
    need_special_values(vulkan_view());
    compare_all(vulkan_view(), special_values<float>(), true);
}
TEST(special_doubles_on_a_device) {
    need_special_values(vulkan_view());
    compare_all(vulkan_view(), special_values<double>(), true);
}
TEST(subnormal_floats_on_a_device) {
    if (!keeps_subnormals<float>(vulkan_view())) SKIP("the device takes subnormal floats for zero");
    compare_all(vulkan_view(), subnormal_numbers<float>(), true);
}
TEST(subnormal_doubles_on_a_device) {
    if (!vulkan_view().accelerator.supports_double_precision || !keeps_subnormals<double>(vulkan_view()))
        SKIP("the device takes subnormal doubles for zero, or has no doubles");
    compare_all(vulkan_view(), subnormal_numbers<double>(), true);
}
// If kernels for the device have the fast path of kernelc/src/lower/quotients.rs, nearly all these reciprocals take it.
TEST(reciprocals_of_all_fractions_on_a_device) {
    const int count = 1 << 23;
    std::vector<float> computed(count);
    array_view<float> reciprocals(count, computed);
    for (const float scale : {1.0f, -0x1p-100f, 0x1p90f}) {
        reciprocals.discard_data();
        parallel_for_each(
            vulkan_view(), reciprocals.extent, [=](index<1> i) restrict(amp) {
                reciprocals[i] = 1 / (scale * (1 + float(i[0]) * 0x1p-23f));
            });
        reciprocals.synchronize();
        int mismatches = 0;
        for (int n = 0; n < count; ++n)
            mismatches += computed[n] != 1 / (scale * (1 + float(n) * 0x1p-23f));
        CHECK(mismatches == 0);
    }
}

CHECK_MAIN
