// Tests that integer divisions by zero, and of the most negative number by -1, have the same result on all devices
// (docs/spec/language.md#integer-division).
#include "device.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace concurrency;

namespace {

// The specified results. Numbers with fewer than 32 bits are divided as int.
template <typename T> T quotient(T left, T right) {
    using Divided = decltype(left / right);
    const Divided a = left, b = right;
    if (b == 0) return T(-1);
    if (std::is_signed<Divided>::value && b == Divided(-1)) return T(0 - std::make_unsigned_t<Divided>(a));
    return T(a / b);
}
template <typename T> T remainder(T left, T right) {
    using Divided = decltype(left % right);
    const Divided a = left, b = right;
    if (b == 0) return T(-1);
    if (std::is_signed<Divided>::value && b == Divided(-1)) return 0;
    return T(a % b);
}

template <typename T> std::vector<T> numbers() {
    using Limits = std::numeric_limits<T>;
    return {T(0), T(1),  T(-1),  Limits::min(), Limits::max(), T(Limits::min() + 1),
            T(7), T(-7), T(100), T(-100),       T(2),          T(-2)};
}

// Elements of views have at least four bytes.
template <typename T> using Element = std::conditional_t<sizeof(T) < 4, int, T>;
template <typename T> using Elements = std::vector<Element<T>>;

template <typename E> void compare(const char *what, const std::vector<E> &found, const std::vector<E> &expected) {
    for (std::size_t n = 0; n < found.size(); ++n)
        if (found[n] != expected[n])
            check::fail(what, int(n),
                        (std::to_string(found[n]) + " instead of " + std::to_string(expected[n])).c_str());
}

struct Devices {
    accelerator_view host = accelerator(accelerator::direct3d_warp).default_view;
    accelerator_view device = vulkan_view();
};

// All pairs of numbers, with the specified quotients and remainders.
template <typename T> struct Pairs {
    Elements<T> left, right, quotients, remainders;
    Pairs() {
        for (const T a : numbers<T>())
            for (const T b : numbers<T>()) {
                left.push_back(a);
                right.push_back(b);
                quotients.push_back(quotient(a, b));
                remainders.push_back(remainder(a, b));
            }
    }
    int count() const { return int(left.size()); }
};

template <typename T> void by_variables(const accelerator_view &where, const char *name) {
    Pairs<T> all;
    Elements<T> quotients(all.count()), remainders(all.count());
    array_view<const Element<T>> left(all.count(), all.left), right(all.count(), all.right);
    array_view<Element<T>> q(all.count(), quotients), r(all.count(), remainders);
    parallel_for_each(
        where, q.get_extent(), [=](index<1> i) restrict(amp) {
            const T a = T(left[i]), b = T(right[i]);
            q[i] = T(a / b);
            r[i] = T(a % b);
        });
    q.synchronize();
    r.synchronize();
    compare(name, quotients, all.quotients);
    compare(name, remainders, all.remainders);
}

// A kernel in which all threads divide by the same number, in a loop after a barrier.
template <typename T> void by_uniform_divisor(const accelerator_view &where, const char *name) {
    const std::vector<T> data = numbers<T>();
    for (const T by : data) {
        Elements<T> found(data.begin(), data.end()), expected(found);
        for (Element<T> &x : expected)
            x = T(quotient(T(x), by) ^ remainder(T(x), by));
        array_view<Element<T>> view(int(found.size()), found);
        parallel_for_each(
            where, view.get_extent().template tile<4>(), [=](tiled_index<4> t) restrict(amp) {
                tile_static Element<T> all[4];
                all[t.local[0]] = view[t.global];
                t.barrier.wait();
                T x = 0;
                for (int n = 0; n < 4; ++n) {
                    const T divided = T(all[n]), rest = T(divided % by);
                    if (n == t.local[0]) x = T(divided / by ^ rest);
                }
                view[t.global] = x;
            });
        view.synchronize();
        compare(name, found, expected);
    }
}

template <typename T, int by> void by_constant(const accelerator_view &where, const char *name) {
    const std::vector<T> data = numbers<T>();
    Elements<T> found(data.begin(), data.end()), expected(found);
    for (Element<T> &x : expected)
        x = T(quotient(T(x), T(by)) ^ remainder(T(x), T(by)));
    array_view<Element<T>> view(int(found.size()), found);
    parallel_for_each(
        where, view.get_extent(), [=](index<1> i) restrict(amp) {
            const T x = T(view[i]), rest = T(x % T(by));
            view[i] = T(x / T(by) ^ rest);
        });
    view.synchronize();
    compare(name, found, expected);
}

template <typename T> void all_forms(const char *name) {
    const Devices devices;
    for (const accelerator_view &where : {devices.host, devices.device}) {
        by_variables<T>(where, name);
        by_uniform_divisor<T>(where, name);
        by_constant<T, 0>(where, name);
        by_constant<T, -1>(where, name);
        by_constant<T, 7>(where, name);
    }
}

TEST(of_8_bits) {
    all_forms<signed char>("signed char");
    all_forms<unsigned char>("unsigned char");
}

TEST(of_16_bits) {
    all_forms<std::int16_t>("int16_t");
    all_forms<std::uint16_t>("uint16_t");
}

TEST(of_32_bits) {
    all_forms<std::int32_t>("int32_t");
    all_forms<std::uint32_t>("uint32_t");
}

TEST(of_64_bits) {
    all_forms<std::int64_t>("int64_t");
    all_forms<std::uint64_t>("uint64_t");
}

// A condition that guards a division must keep its effect.
TEST(a_condition_guards_a_division) {
    const Devices devices;
    for (const accelerator_view &where : {devices.host, devices.device}) {
        const Pairs<int> all;
        std::vector<int> found(all.count()), expected(all.count());
        for (int n = 0; n < all.count(); ++n)
            expected[n] = all.right[n] == 0 ? 5 : quotient(all.left[n], all.right[n]);
        array_view<const int> left(all.count(), all.left), right(all.count(), all.right);
        array_view<int> q(all.count(), found);
        parallel_for_each(
            where, q.get_extent(), [=](index<1> i) restrict(amp) { q[i] = right[i] ? left[i] / right[i] : 5; });
        q.synchronize();
        compare("guarded by a condition", found, expected);
    }
}

} // namespace

CHECK_MAIN
