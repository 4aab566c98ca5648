// Tests of norm, unorm and the short vectors (docs/spec/maths.md).
#include <amp_short_vectors.h>

#include "../check.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

template <class V> void check_layout() {
    typedef typename V::value_type T;
    static_assert(sizeof(V) == sizeof(T) * V::size, "no storage but the components");
    static_assert(alignof(V) == alignof(T), "no stricter than a component");
    static_assert(std::is_trivially_copy_constructible<V>::value && std::is_trivially_move_constructible<V>::value, "");
    static_assert(std::is_trivially_destructible<V>::value && std::is_standard_layout<V>::value, "");
    static_assert(std::is_same<typename short_vector<T, V::size>::type, V>::value, "");
    static_assert(std::is_same<typename short_vector_traits<V>::value_type, T>::value, "");
    static_assert(short_vector_traits<V>::size == V::size && short_vector_traits<T>::size == 1, "");
    static_assert(std::is_same<typename short_vector<T, 1>::type, T>::value, "");
    static_assert(std::is_same<typename short_vector_traits<T>::value_type, T>::value, "");
    static_assert(std::is_convertible<T, V>::value, "");
    const int *size = &V::size;
    CHECK(*size == V::size);
}

// Component `i` of the test vectors. All four are distinct. Integers have other values, because they cannot hold 0.25.
template <class T> T value(int i) {
    const float values[] = {0.0f, 1.0f, 0.25f, 0.5f};
    return std::is_integral<T>::value ? T(7 + 3 * i) : T(values[i]);
}
template <class V> V sample();
template <class V> V sample_2() {
    return V(value<typename V::value_type>(0), value<typename V::value_type>(1));
}
template <class V> V sample_3() {
    typedef typename V::value_type T;
    return V(value<T>(0), value<T>(1), value<T>(2));
}
template <class V> V sample_4() {
    typedef typename V::value_type T;
    return V(value<T>(0), value<T>(1), value<T>(2), value<T>(3));
}

template <class R> R reversed(R v) {
    for (int i = 0; i < R::size / 2; ++i)
        std::swap((&v.x)[i], (&v.x)[R::size - 1 - i]);
    return v;
}

// `xyzw`, `rgba` and `got` are a swizzle of the sample, read by its two names and by get_. `by_xyzw`, `by_rgba` and
// `by_set` are the sample after the reversed swizzle was written. `zero` is a zero vector with the swizzle assigned.
template <class V, class R> struct order {
    R xyzw, rgba, got;
    V by_xyzw, by_rgba, by_set, zero;

    void check(std::initializer_list<int> list, const char *name) const {
        typedef typename V::value_type T;
        const int *component_numbers = list.begin();
        bool good = xyzw == rgba && xyzw == got && by_xyzw == by_rgba && by_xyzw == by_set;
        for (int i = 0; i < R::size; ++i)
            good = good && (&xyzw.x)[i] == value<T>(component_numbers[i]);
        for (int i = 0; i < V::size; ++i) {
            T written = value<T>(i), assigned = T();
            for (int k = 0; k < R::size; ++k)
                if (component_numbers[k] == i) {
                    written = value<T>(component_numbers[R::size - 1 - k]);
                    assigned = value<T>(i);
                }
            good = good && (&by_xyzw.x)[i] == written && (&zero.x)[i] == assigned;
        }
        if (!good) ::check::fail(__FILE__, __LINE__, name);
    }
};

// `o.zero.name = original.name` assigns a swizzle of a const vector. `kept` is a copied swizzle, which keeps its value.
#define CHECK_ORDER(V, make, name, name_rgba, R, ...)                                                                  \
    {                                                                                                                  \
        V v = make<V>();                                                                                               \
        const V original = v;                                                                                          \
        const auto kept = v.name;                                                                                      \
        order<V, R> o = {original.name, original.name_rgba, original.get_##name(), v, v, v, V()};                      \
        const R r = reversed(o.xyzw);                                                                                  \
        v = V();                                                                                                       \
        o.by_xyzw.name = r;                                                                                            \
        o.by_rgba.name_rgba = r;                                                                                       \
        o.by_set.set_##name(r);                                                                                        \
        o.zero.name = original.name;                                                                                   \
        o.check({__VA_ARGS__}, #name);                                                                                 \
        CHECK(kept == o.xyzw);                                                                                         \
    }

template <class V2, class V3, class V4> void check_swizzles_of_2() {
    CHECK_ORDER(V2, sample_2, xy, rg, V2, 0, 1)
    CHECK_ORDER(V2, sample_2, yx, gr, V2, 1, 0)
}
template <class V2, class V3, class V4> void check_swizzles_of_3() {
#define THREE_PAIR(p, q, i, j) CHECK_ORDER(V3, sample_3, p, q, V2, i, j)
#define THREE(p, q, i, j, k) CHECK_ORDER(V3, sample_3, p, q, V3, i, j, k)
    THREE_PAIR(xy, rg, 0, 1)
    THREE_PAIR(xz, rb, 0, 2)
    THREE_PAIR(yx, gr, 1, 0)
    THREE_PAIR(yz, gb, 1, 2)
    THREE_PAIR(zx, br, 2, 0)
    THREE_PAIR(zy, bg, 2, 1)
    THREE(xyz, rgb, 0, 1, 2)
    THREE(xzy, rbg, 0, 2, 1)
    THREE(yxz, grb, 1, 0, 2)
    THREE(yzx, gbr, 1, 2, 0)
    THREE(zxy, brg, 2, 0, 1)
    THREE(zyx, bgr, 2, 1, 0)
}
template <class V2, class V3, class V4> void check_swizzles_of_4() {
#define ORDER2(p, q, i, j) CHECK_ORDER(V4, sample_4, p, q, V2, i, j)
#define ORDER3(p, q, i, j, k) CHECK_ORDER(V4, sample_4, p, q, V3, i, j, k)
#define ORDER4(p, q, i, j, k, l) CHECK_ORDER(V4, sample_4, p, q, V4, i, j, k, l)
#include "swizzles.inc"
}

// Components by name, by accessor and by reference.
template <class V2, class V3, class V4> void check_components() {
    typedef typename V4::value_type T;
    V4 v = sample_4<V4>();
    CHECK(v.x == value<T>(0) && v.y == value<T>(1) && v.z == value<T>(2) && v.w == value<T>(3));
    CHECK(v.r == v.x && v.g == v.y && v.b == v.z && v.a == v.w);
    CHECK(v.get_x() == v.x && v.get_y() == v.y && v.get_z() == v.z && v.get_w() == v.w);
    CHECK(&v.ref_x() == &v.x && &v.ref_w() == &v.w && &v.ref_g() == &v.y && &v.ref_a() == &v.w);
    CHECK(&v.ref_y() == &v.y && &v.ref_z() == &v.z && &v.ref_r() == &v.x && &v.ref_b() == &v.z);
    static_assert(std::is_same<decltype(v.x), T>::value && std::is_same<decltype(v.a), T>::value, "plain components");
    v.x = v.w;
    v.g = v.z;
    v.set_z(value<T>(0));
    v.ref_a() = value<T>(1);
    CHECK(v == V4(value<T>(3), value<T>(2), value<T>(0), value<T>(1)));
    CHECK(v != V4(value<T>(3), value<T>(2), value<T>(0), value<T>(0)));
    CHECK(V2() == V2(T()) && V3() == V3(T(), T(), T()) && V4() == V4(T(), T(), T(), T()));
    V3 copy = sample_3<V3>(), assigned;
    assigned = copy;
    CHECK(assigned == sample_3<V3>() && V3(copy) == assigned);
    CHECK(V2(value<T>(1)) == V2(value<T>(1), value<T>(1)));
}

// Arithmetic that every element type has. Integers are below 2^20, so the results are exact.
template <class V2, class V3, class V4> void check_arithmetic() {
    typedef typename V4::value_type T;
    const T c[] = {value<T>(1), value<T>(2), value<T>(3), value<T>(1)};
    const V4 a = sample_4<V4>(), b(c[0], c[1], c[2], c[3]);
    const T *p = &a.x;
#define COMPONENTS(op)                                                                                                 \
    {                                                                                                                  \
        const V4 expected(T(p[0] op c[0]), T(p[1] op c[1]), T(p[2] op c[2]), T(p[3] op c[3]));                         \
        CHECK((a op b) == expected);                                                                                   \
        V4 v = a;                                                                                                      \
        v op## = b;                                                                                                    \
        CHECK(v == expected);                                                                                          \
        CHECK((a op c[1]) == (a op V4(c[1])) && (c[1] op b) == (V4(c[1]) op b));                                       \
        V4 w = a;                                                                                                      \
        w op## = c[1];                                                                                                 \
        CHECK(w == (a op V4(c[1])));                                                                                   \
        V4 s = a;                                                                                                      \
        s.zx op## = b.yw;                                                                                              \
        CHECK(s == V4(T(p[0] op c[3]), p[1], T(p[2] op c[1]), p[3]));                                                  \
        CHECK((a.xy op b.xy) == V2(expected.x, expected.y) && (a.rgb op c[1]) == (V3(a.rgb) op V3(c[1])));             \
        CHECK((c[1] op b.wz) == (V2(c[1]) op V2(c[3], c[2])));                                                         \
    }
    // clang-format off
    COMPONENTS(+) COMPONENTS(-) COMPONENTS(*) COMPONENTS(/)
        // clang-format on
        V4 v = a;
    CHECK(++v == a + V4(T(1)) && v == a + T(1));
    CHECK(v++ == a + T(1) && --v == a + T(1) + T(1) - T(1));
    V4 w = v;
    CHECK(w-- == v && w == v - T(1));
    V4 s = a;
    CHECK(++s.xy == V2(a.xy) + T(1) && s.z == a.z);
    CHECK(s.zw++ == V2(a.zw) && s.zw == V2(a.zw) + T(1));
    s = a;
    CHECK(--s.yx == V2(a.yx) - T(1) && s.wz-- == V2(a.wz) && s.zw == V2(a.zw) - T(1));
}

template <class V2, class V3, class V4> void check_integers() {
    typedef typename V4::value_type T;
    const T c[] = {1, 2, 3, 4};
    const V4 a = sample_4<V4>(), b(c[0], c[1], c[2], c[3]);
    const T *p = &a.x;
    // clang-format off
    COMPONENTS(%) COMPONENTS(&) COMPONENTS(|) COMPONENTS(^) COMPONENTS(<<) COMPONENTS(>>)
        // clang-format on
        CHECK(~a == V4(T(~a.x), T(~a.y), T(~a.z), T(~a.w)) && ~a.zx == V2(T(~a.z), T(~a.x)));
    V4 s = a;
    s.xyz.x = T(100);
    s.xyz.z %= T(4);
    s.xyz.y <<= T(2);
    CHECK(s == V4(T(100), T(a.y << 2), T(a.z % 4), a.w));
}

template <class V2, class V3, class V4> void check_negation() {
    typedef typename V4::value_type T;
    const V4 a = sample_4<V4>();
    CHECK(-a == V4(T(-a.x), T(-a.y), T(-a.z), T(-a.w)) && -a.zx == V2(T(-a.z), T(-a.x)) && - -a == a);
}

// Components of a swizzle.
template <class V2, class V3, class V4> void check_chains() {
    typedef typename V4::value_type T;
    V4 v = sample_4<V4>();
    CHECK(v.wzy.x == v.w && v.wzy.g == v.z && v.zw.y == v.w && v.bgra.b == v.x && v.wzyx.a == v.x);
    v.wzy.y = value<T>(0);
    v.bgra.a = v.bgra.g;
    CHECK(v == V4(value<T>(0), value<T>(1), value<T>(0), value<T>(1)));
    auto s = v.wzyx;
    s.x = value<T>(2);
    CHECK(s == V4(value<T>(2), v.z, v.y, v.x) && v.w == value<T>(1));
    T component = s.x;
    CHECK(component == value<T>(2) && v.xy.x == v.x);
    v.wx.x -= v.wx.x;
    v.wx.y += value<T>(1);
    CHECK(v.w == T() && v.x == T(value<T>(0) + value<T>(1)));
    CHECK(++v.wx.x == T(1) && v.wx.x-- == T(1) && v.w == T());
}

// Conversions from the other element types; all types represent 0 and 1 exactly.
template <class V2, class V3, class V4, class From2, class From3, class From4> void check_conversion() {
    typedef typename V4::value_type T;
    typedef typename From4::value_type F;
    const From4 f(F(1), F(0), F(1), F(1));
    CHECK(V4(f) == V4(T(1), T(0), T(1), T(1)));
    CHECK(V2(From2(F(0), F(1))) == V2(T(0), T(1)) && V3(From3(F(0), F(1), F(1))) == V3(T(0), T(1), T(1)));
    CHECK(V2(f.yx) == V2(T(0), T(1)) && static_cast<V3>(f.bgr) == V3(T(1), T(0), T(1)));
    static_assert(std::is_same<T, F>::value || !std::is_convertible<From4, V4>::value, "explicit");
    static_assert(!std::is_constructible<V4, From2>::value && !std::is_constructible<V2, From3>::value, "same size");
}

template <class V2, class V3, class V4> void check_all() {
    check_layout<V2>();
    check_layout<V3>();
    check_layout<V4>();
    check_components<V2, V3, V4>();
    check_arithmetic<V2, V3, V4>();
    check_chains<V2, V3, V4>();
    check_conversion<V2, V3, V4, int_2, int_3, int_4>();
    check_conversion<V2, V3, V4, uint_2, uint_3, uint_4>();
    check_conversion<V2, V3, V4, float_2, float_3, float_4>();
    check_conversion<V2, V3, V4, double_2, double_3, double_4>();
    check_conversion<V2, V3, V4, norm_2, norm_3, norm_4>();
    check_conversion<V2, V3, V4, unorm_2, unorm_3, unorm_4>();
}

void check_norms() {
    const float infinite = std::numeric_limits<float>::infinity();
    CHECK(norm() == 0.0f && unorm() == 0.0f);
    CHECK(norm(0.5f) == 0.5f && norm(2.0f) == 1.0f && norm(-2.0f) == -1.0f);
    CHECK(unorm(0.5f) == 0.5f && unorm(2.0f) == 1.0f && unorm(-2.0f) == 0.0f);
    CHECK(norm(infinite) == 1.0f && norm(-infinite) == -1.0f && unorm(infinite) == 1.0f && unorm(-infinite) == 0.0f);
    CHECK(norm(7) == 1.0f && norm(-7) == -1.0f && norm(7u) == 1.0f && norm(0u) == 0.0f && norm(1e300) == 1.0f);
    CHECK(unorm(7) == 1.0f && unorm(-7) == 0.0f && unorm(7u) == 1.0f && unorm(1e300) == 1.0f && unorm(-1e300) == 0.0f);
    CHECK(norm(1.0 / 3) == static_cast<float>(1.0 / 3) && unorm(1.0 / 3) == static_cast<float>(1.0 / 3));
    norm from_unorm = unorm(0.25f);
    CHECK(from_unorm == norm(0.25f) && unorm(norm(-0.25f)) == unorm(0.0f) && unorm(norm(0.75f)) == 0.75f);
    static_assert(std::is_convertible<unorm, norm>::value && !std::is_convertible<norm, unorm>::value, "");
    static_assert(!std::is_convertible<float, norm>::value && !std::is_convertible<float, unorm>::value, "");
    static_assert(!std::is_convertible<int, norm>::value && !std::is_convertible<double, unorm>::value, "");
    static_assert(std::is_trivially_copyable<norm>::value && sizeof(norm) == 4 && sizeof(unorm) == 4, "");

    const norm a(0.75f), b(-0.5f);
    CHECK(a + a == norm(1.0f) && b - a == norm(-1.0f) && a * b == norm(-0.375f) && a / b == norm(-1.0f));
    CHECK(b / a == norm(-0.5f / 0.75f) && -a == norm(-0.75f) && a > b && b < a && a >= a && b <= b && a != b);
    norm n(0.5f);
    CHECK((n += a) == norm(1.0f) && (n -= norm(0.25f)) == norm(0.75f) && (n *= b) == norm(-0.375f));
    CHECK((n /= norm(0.25f)) == norm(-1.0f) && ++n == norm(0.0f) && n++ == norm(0.0f) && n == norm(1.0f));
    CHECK(n-- == norm(1.0f) && --n == norm(-1.0f) && --n == norm(-1.0f));
    static_assert(std::is_same<decltype(a + b), norm>::value && std::is_same<decltype(-a), norm>::value, "");
    static_assert(std::is_same<decltype(a + unorm()), norm>::value && std::is_same<decltype(unorm() * a), norm>::value,
                  "");
    CHECK(a + 0.5f == 1.25f && 2 * a == 1.5f && a < 0.8f && 0.5 < a && a == 0.75f && a + unorm(1.0f) == norm(1.0f));

    const unorm u(0.75f), v(0.5f);
    CHECK(u + v == unorm(1.0f) && v - u == unorm(0.0f) && u * v == unorm(0.375f) && v / u == unorm(0.5f / 0.75f));
    CHECK(u > v && v < u && u >= u && v <= v && u != v && u == norm(0.75f) && norm(0.75f) == u);
    unorm m(0.5f);
    CHECK((m += u) == unorm(1.0f) && (m -= v) == unorm(0.5f) && (m *= v) == unorm(0.25f) && (m /= v) == unorm(0.5f));
    CHECK(++m == unorm(1.0f) && m-- == unorm(1.0f) && m == unorm(0.0f) && --m == unorm(0.0f) && m++ == unorm(0.0f));

    CHECK(norm_2(2.0f) == norm_2(norm(1.0f)) && norm_2(-2.0f, 0.5) == norm_2(norm(-1.0f), norm(0.5f)));
    CHECK(unorm_3(-1, 1.0f, 3u) == unorm_3(unorm(), unorm(1.0f), unorm(1.0f)));
    CHECK(norm_4(unorm(0.5f), norm(-0.5f), 1.0f, -3) == norm_4(0.5f, -0.5f, 1.0f, -1.0f));
    norm_2 vector = 0.5f;
    CHECK(vector + norm_2(0.75f) == norm_2(1.0f) && vector * 0.5f == norm_2(0.25f) && 3.0f * vector == norm_2(0.5f));
    CHECK(NORM_MIN == -1.0f && NORM_MAX == 1.0f && NORM_ZERO == 0.0f);
    CHECK(UNORM_MIN == 0.0f && UNORM_MAX == 1.0f && UNORM_ZERO == 0.0f);
}

// Short vectors as users write them.
float length_2(const float_2 &v) {
    return std::sqrt(v.x * v.x + v.y * v.y);
}
float_3 by_value(float_3 v) {
    return v;
}
int overloaded(float_2) {
    return 2;
}
int overloaded(float_3) {
    return 3;
}
template <class T> int deduced(const T &) {
    return 1;
}

void check_use() {
    float_4 v(3, 4, 0, 1);
    CHECK(length_2(v.xy) == 5.0f && by_value(v.rgb) == float_3(3, 4, 0));
    CHECK(overloaded(v.xy) == 2 && overloaded(v.xyz) == 3 && deduced(v.xy) == 1);
    v.xy = v.yx;
    CHECK(v == float_4(4, 3, 0, 1));
    v.xyzw = v.wzyx;
    CHECK(v == float_4(1, 0, 3, 4));
    v.yx = {7, 8};
    CHECK(v == float_4(8, 7, 3, 4));
    v.zw = 2.5f;
    v.xz += 1;
    CHECK(v == float_4(9, 7, 3.5f, 2.5f) && v.xy != v.zw);
    float_2 w(1, 2);
    w.yx = w; // the right side aliases the left side
    CHECK(w == float_2(2, 1));
    w = w.yx;
    CHECK(w == float_2(1, 2));
    w = 2 * w - v.xy / 2.0f + 1;
    CHECK(w == float_2(-1.5f, 1.5f));
    w = true ? w : v.xy;
    CHECK(std::fabs(w.x) == 1.5f);
    w *= w.y;
    CHECK(w == float_2(-2.25f, 2.25f));
    std::vector<float_4> many(3, v);
    const std::vector<float_4> constant = many;
    many[1].xyz = constant[2].zyx;
    many[2].xyz = constant[0].xyz;
    std::swap(many[0], many[1]);
    CHECK(many[0] == float_4(3.5f, 7, 9, 2.5f) && many[1] == v && many[2] == v);
    auto copied = v.xy;
    v.xy = float_2(0, 0);
    CHECK(copied == float_2(9, 7) && float_2(copied) + 1 == float_2(10, 8));
    auto returned = [](const float_4 &four) { return four.wz; }(v);
    CHECK(returned == float_2(2.5f, 3.5f));
    uint count = 3;
    uint_2 counts(count, 4);
    CHECK((counts << 1) == uint_2(6, 8) && (counts & 1u) == uint_2(1, 0));
    const int_2 half = int_2(float_2(2.75f, -2.75f));
    CHECK(half == int_2(2, -2));
    CHECK(int_2(-1, 3) % 2 == int_2(-1, 1) && (int_2(-8, 8) >> 1) == int_2(-4, 4));
}

void check_direct3d() {
    namespace d3d = concurrency::graphics::direct3d;
    static_assert(std::is_same<d3d::float3, float_3>::value && std::is_same<d3d::unorm4, unorm_4>::value, "");
    static_assert(std::is_same<d3d::int2, int_2>::value && std::is_same<d3d::uint4, uint_4>::value, "");
    static_assert(std::is_same<d3d::double3, double_3>::value && std::is_same<d3d::norm2, norm_2>::value, "");
    // Component k adds the absolute differences of the bytes 1 2 3 4 and the bytes k to k+3 of 5 6 7 8 9 10 11 12.
    const d3d::uint4 sums = d3d::msad4(0x04030201u, d3d::uint2(0x08070605u, 0x0c0b0a09u), d3d::uint4(100, 0, 0, 1));
    CHECK(sums == d3d::uint4(116, 20, 24, 29));
    CHECK(d3d::msad4(0x00030000u, d3d::uint2(0xff01ffffu, 0), d3d::uint4()) == d3d::uint4(2, 252, 3, 3));
}

constexpr float_3 constant(1, 2, 3);
static_assert(constant.x + constant.y + constant.z == 6, "");
static_assert(constant * 2 - float_3(1) == float_3(1, 3, 5) && constant.get_zx() == float_2(3, 1), "");
static_assert(float_2(int_2(3, 4)) == float_2(3, 4) && (int_2(6, 5) & 3) == int_2(2, 1), "");
static_assert(norm(2) == norm(1) && norm_2(5, -5) == norm_2(norm(1), norm(-1)), "");

// Checks all swizzle names. All vectors have the same members, so one arithmetic type and one class suffice.
template <class V2, class V3, class V4> void check_swizzles() {
    check_swizzles_of_2<V2, V3, V4>();
    check_swizzles_of_3<V2, V3, V4>();
    check_swizzles_of_4<V2, V3, V4>();
}

} // namespace

TEST(vectors) {
    check_swizzles<float_2, float_3, float_4>();
    check_swizzles<norm_2, norm_3, norm_4>();
    check_all<int_2, int_3, int_4>();
    check_all<uint_2, uint_3, uint_4>();
    check_all<float_2, float_3, float_4>();
    check_all<double_2, double_3, double_4>();
    check_all<norm_2, norm_3, norm_4>();
    check_all<unorm_2, unorm_3, unorm_4>();
    check_integers<int_2, int_3, int_4>();
    check_integers<uint_2, uint_3, uint_4>();
    check_negation<int_2, int_3, int_4>();
    check_negation<float_2, float_3, float_4>();
    check_negation<double_2, double_3, double_4>();
    check_negation<norm_2, norm_3, norm_4>();
    check_norms();
    check_use();
    check_direct3d();
}

CHECK_MAIN
