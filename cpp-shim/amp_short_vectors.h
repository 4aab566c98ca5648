// concurrency::graphics: norm, unorm and the short vectors int_2 ... unorm_4, for host and device.
//
// `v.xy` is a member of an anonymous union that shares the vector's storage, so it costs nothing and reads and writes
// the components in place. Its type is not a vector but converts to one: arithmetic, comparisons, assignments and
// arguments of type float_2 work as with a vector. The swizzle's components are members (`v.xyz.x`). A copy of a
// swizzle (`auto s = v.xy;`) holds a copy of the whole vector, so the copy may outlive `v`. Vector types are not
// deduced from a swizzle: `template <class T> T f(T)`, `c ? v.xy : v.yx` and `v.xyz.xy` need a cast, float_2(v.xy).
// `v.x` is a plain T.
// (Swizzles of swizzles as members would make each call that takes a vector by value slow to compile with GCC.)
//
// A vector has the size and alignment of its components, and trivial copy construction and destruction. Its
// assignment is not trivial: `a.xy = b.xy` must not copy the whole vector, and a union with such a member has no
// trivial assignment. So a vector is not formally "trivially copyable", but copying its bytes works.
#ifndef REVAMP_AMP_SHORT_VECTORS_H
#define REVAMP_AMP_SHORT_VECTORS_H

#include "revamp/detail/config.h"
#include "revamp/detail/restrict.h"
#include "revamp/detail/swizzles.h"

#include <type_traits>

REVAMP_NAMESPACE_BEGIN
namespace graphics {

typedef unsigned int uint;

class unorm;

// A float in [-1, 1]. The constructors clamp.
class norm {
  public:
    constexpr norm() : value_(0.0f) {}
    explicit constexpr norm(float value) : value_(clamp(value)) {}
    explicit constexpr norm(unsigned int value) : value_(clamp(static_cast<float>(value))) {}
    explicit constexpr norm(int value) : value_(clamp(static_cast<float>(value))) {}
    // Clamps before rounding to float: the result is the same, and the rounding cannot overflow.
    explicit constexpr norm(double value)
        : value_(static_cast<float>(value < -1.0  ? -1.0
                                    : value > 1.0 ? 1.0
                                                  : value)) {}
    constexpr norm(const unorm &other);

    constexpr operator float() const { return value_; }

    constexpr norm &operator+=(const norm &other) { return *this = *this + other; }
    constexpr norm &operator-=(const norm &other) { return *this = *this - other; }
    constexpr norm &operator*=(const norm &other) { return *this = *this * other; }
    constexpr norm &operator/=(const norm &other) { return *this = *this / other; }
    constexpr norm &operator++() { return *this = norm(value_ + 1.0f); }
    constexpr norm &operator--() { return *this = norm(value_ - 1.0f); }
    constexpr norm operator++(int) {
        norm old = *this;
        ++*this;
        return old;
    }
    constexpr norm operator--(int) {
        norm old = *this;
        --*this;
        return old;
    }
    constexpr norm operator-() const { return norm(-value_); }

    friend constexpr norm operator+(const norm &a, const norm &b) { return norm(a.value_ + b.value_); }
    friend constexpr norm operator-(const norm &a, const norm &b) { return norm(a.value_ - b.value_); }
    friend constexpr norm operator*(const norm &a, const norm &b) { return norm(a.value_ * b.value_); }
    friend constexpr norm operator/(const norm &a, const norm &b) { return norm(a.value_ / b.value_); }
    friend constexpr bool operator==(const norm &a, const norm &b) { return a.value_ == b.value_; }
    friend constexpr bool operator!=(const norm &a, const norm &b) { return a.value_ != b.value_; }
    friend constexpr bool operator<(const norm &a, const norm &b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(const norm &a, const norm &b) { return a.value_ > b.value_; }
    friend constexpr bool operator<=(const norm &a, const norm &b) { return a.value_ <= b.value_; }
    friend constexpr bool operator>=(const norm &a, const norm &b) { return a.value_ >= b.value_; }

  private:
    static constexpr float clamp(float value) { return value < -1.0f ? -1.0f : value > 1.0f ? 1.0f : value; }

    float value_;
};

// A float in [0, 1].
class unorm {
  public:
    constexpr unorm() : value_(0.0f) {}
    explicit constexpr unorm(float value) : value_(clamp(value)) {}
    explicit constexpr unorm(unsigned int value) : value_(clamp(static_cast<float>(value))) {}
    explicit constexpr unorm(int value) : value_(clamp(static_cast<float>(value))) {}
    explicit constexpr unorm(double value)
        : value_(static_cast<float>(value < 0.0   ? 0.0
                                    : value > 1.0 ? 1.0
                                                  : value)) {}
    explicit constexpr unorm(const norm &other) : value_(clamp(other)) {}

    constexpr operator float() const { return value_; }

    constexpr unorm &operator+=(const unorm &other) { return *this = *this + other; }
    constexpr unorm &operator-=(const unorm &other) { return *this = *this - other; }
    constexpr unorm &operator*=(const unorm &other) { return *this = *this * other; }
    constexpr unorm &operator/=(const unorm &other) { return *this = *this / other; }
    constexpr unorm &operator++() { return *this = unorm(value_ + 1.0f); }
    constexpr unorm &operator--() { return *this = unorm(value_ - 1.0f); }
    constexpr unorm operator++(int) {
        unorm old = *this;
        ++*this;
        return old;
    }
    constexpr unorm operator--(int) {
        unorm old = *this;
        --*this;
        return old;
    }

    friend constexpr unorm operator+(const unorm &a, const unorm &b) { return unorm(a.value_ + b.value_); }
    friend constexpr unorm operator-(const unorm &a, const unorm &b) { return unorm(a.value_ - b.value_); }
    friend constexpr unorm operator*(const unorm &a, const unorm &b) { return unorm(a.value_ * b.value_); }
    friend constexpr unorm operator/(const unorm &a, const unorm &b) { return unorm(a.value_ / b.value_); }
    friend constexpr bool operator==(const unorm &a, const unorm &b) { return a.value_ == b.value_; }
    friend constexpr bool operator!=(const unorm &a, const unorm &b) { return a.value_ != b.value_; }
    friend constexpr bool operator<(const unorm &a, const unorm &b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(const unorm &a, const unorm &b) { return a.value_ > b.value_; }
    friend constexpr bool operator<=(const unorm &a, const unorm &b) { return a.value_ <= b.value_; }
    friend constexpr bool operator>=(const unorm &a, const unorm &b) { return a.value_ >= b.value_; }

  private:
    static constexpr float clamp(float value) { return value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value; }

    float value_;
};

constexpr norm::norm(const unorm &other) : value_(other) {}

} // namespace graphics
REVAMP_NAMESPACE_END

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"
#pragma clang diagnostic ignored "-Wnested-anon-types"
#endif

REVAMP_DETAIL_BEGIN

using Concurrency::graphics::norm;
using Concurrency::graphics::unorm;

template <class T> constexpr bool is_normalized = std::is_same<T, norm>::value || std::is_same<T, unorm>::value;
template <class> constexpr bool always_false = false;
template <class T> constexpr bool is_component = std::is_arithmetic<T>::value || is_normalized<T>;

// Converts a component to another type. norm and unorm convert by way of float; a number becomes a norm or unorm by way
// of double.
template <class To, class From> constexpr To convert_component(From value) {
    if constexpr (std::is_same<To, From>::value)
        return value;
    else if constexpr (is_normalized<To> && is_normalized<From>)
        return To(static_cast<float>(value));
    else if constexpr (is_normalized<To>)
        return To(static_cast<double>(value));
    else if constexpr (is_normalized<From>)
        return static_cast<To>(static_cast<float>(value));
    else
        return static_cast<To>(value);
}

// The vector of N components, N from 2 to 4.
template <class T, int N> class vec;

// The components I... of the N-vector at the swizzle's own address. R is vec<T, sizeof...(I)>; it is a template
// argument so that argument-dependent lookup finds R's operators.
template <class R, class T, int N, int... I> class swizzle;

// The parameter of the constructor of swizzles. Because they have a constructor, `{1, 2}` initialises a vector, never
// the storage of a swizzle.
struct swizzle_tag {};

// One component of a swizzle. (A component of a vector is a plain T.)
template <class T, int N, int I> class swizzle_component {
    T storage_[N];

    REVAMP_HD T *components() { return reinterpret_cast<T *>(this); }
    REVAMP_HD const T *components() const { return reinterpret_cast<const T *>(this); }

  public:
    explicit constexpr swizzle_component(swizzle_tag) : storage_() {}
    swizzle_component(const swizzle_component &) = default;
    REVAMP_HD operator T() const { return components()[I]; }
    REVAMP_HD swizzle_component &operator=(const swizzle_component &other) { return *this = static_cast<T>(other); }
    REVAMP_HD swizzle_component &operator=(const T &value) {
        components()[I] = value;
        return *this;
    }
    REVAMP_HD T operator++() { return ++components()[I]; }
    REVAMP_HD T operator--() { return --components()[I]; }
    REVAMP_HD T operator++(int) { return components()[I]++; }
    REVAMP_HD T operator--(int) { return components()[I]--; }
#define REVAMP_COMPOUND(op)                                                                                            \
    REVAMP_HD swizzle_component &operator op##=(const T &value) {                                                      \
        return *this = T(components()[I] op value);                                                                    \
    }
#define REVAMP_INTEGER_COMPOUND(op)                                                                                    \
    template <class U = T, std::enable_if_t<std::is_integral<U>::value, int> = 0>                                      \
    REVAMP_HD swizzle_component &operator op##=(const T &value) {                                                      \
        return *this = T(components()[I] op value);                                                                    \
    }
    // clang-format off
    REVAMP_COMPOUND(+) REVAMP_COMPOUND(-) REVAMP_COMPOUND(*) REVAMP_COMPOUND(/)
    REVAMP_INTEGER_COMPOUND(%) REVAMP_INTEGER_COMPOUND(&) REVAMP_INTEGER_COMPOUND(|)
    REVAMP_INTEGER_COMPOUND(^) REVAMP_INTEGER_COMPOUND(<<) REVAMP_INTEGER_COMPOUND(>>)
    // clang-format on
#undef REVAMP_COMPOUND
#undef REVAMP_INTEGER_COMPOUND
};

// Members of swizzles of every length. All components are read before one is written, so that `v.xy = v.yx` swaps.
// Components are accessed through a T * made from `this`, not through `revamp_storage`: the compiler would assume that
// objects of two swizzle types do not overlap.
#define REVAMP_SWIZZLE_MEMBERS                                                                                         \
    explicit constexpr swizzle(swizzle_tag) : revamp_storage() {}                                                      \
    swizzle(const swizzle &) = default;                                                                                \
    REVAMP_HD swizzle &operator=(const swizzle &other) {                                                               \
        return *this = static_cast<R>(other);                                                                          \
    }                                                                                                                  \
                                                                                                                       \
  private:                                                                                                             \
    REVAMP_HD T *components() {                                                                                        \
        return reinterpret_cast<T *>(this);                                                                            \
    }                                                                                                                  \
    REVAMP_HD const T *components() const {                                                                            \
        return reinterpret_cast<const T *>(this);                                                                      \
    }                                                                                                                  \
                                                                                                                       \
  public:

template <class R, class T, int N, int I0, int I1> class swizzle<R, T, N, I0, I1> {
  public:
    union {
        T revamp_storage[N];
        swizzle_component<T, N, I0> x, r;
        swizzle_component<T, N, I1> y, g;
    };

    REVAMP_SWIZZLE_MEMBERS
    REVAMP_HD operator R() const { return R(components()[I0], components()[I1]); }
    REVAMP_HD swizzle &operator=(const R &value) {
        const T values[] = {value.x, value.y};
        components()[I0] = values[0];
        components()[I1] = values[1];
        return *this;
    }
};

template <class R, class T, int N, int I0, int I1, int I2> class swizzle<R, T, N, I0, I1, I2> {
  public:
    union {
        T revamp_storage[N];
        swizzle_component<T, N, I0> x, r;
        swizzle_component<T, N, I1> y, g;
        swizzle_component<T, N, I2> z, b;
    };

    REVAMP_SWIZZLE_MEMBERS
    REVAMP_HD operator R() const { return R(components()[I0], components()[I1], components()[I2]); }
    REVAMP_HD swizzle &operator=(const R &value) {
        const T values[] = {value.x, value.y, value.z};
        components()[I0] = values[0];
        components()[I1] = values[1];
        components()[I2] = values[2];
        return *this;
    }
};

template <class R, class T, int N, int I0, int I1, int I2, int I3> class swizzle<R, T, N, I0, I1, I2, I3> {
  public:
    union {
        T revamp_storage[N];
        swizzle_component<T, N, I0> x, r;
        swizzle_component<T, N, I1> y, g;
        swizzle_component<T, N, I2> z, b;
        swizzle_component<T, N, I3> w, a;
    };

    REVAMP_SWIZZLE_MEMBERS
    REVAMP_HD operator R() const { return R(components()[I0], components()[I1], components()[I2], components()[I3]); }
    REVAMP_HD swizzle &operator=(const R &value) {
        const T values[] = {value.x, value.y, value.z, value.w};
        components()[I0] = values[0];
        components()[I1] = values[1];
        components()[I2] = values[2];
        components()[I3] = values[3];
        return *this;
    }
};

#undef REVAMP_SWIZZLE_MEMBERS

// The operators that modify a swizzle. They are not members, because the compiler would process members for each of the
// 60 swizzle classes of a vector of four.
template <class R, class T, int N, int... I> REVAMP_HD swizzle<R, T, N, I...> &operator++(swizzle<R, T, N, I...> &one) {
    return one += R(T(1));
}
template <class R, class T, int N, int... I> REVAMP_HD swizzle<R, T, N, I...> &operator--(swizzle<R, T, N, I...> &one) {
    return one -= R(T(1));
}
template <class R, class T, int N, int... I> REVAMP_HD R operator++(swizzle<R, T, N, I...> &one, int) {
    R old = one;
    ++one;
    return old;
}
template <class R, class T, int N, int... I> REVAMP_HD R operator--(swizzle<R, T, N, I...> &one, int) {
    R old = one;
    --one;
    return old;
}
#define REVAMP_SWIZZLE_COMPOUND(op, condition)                                                                         \
    template <class R, class T, int N, int... I>                                                                       \
    REVAMP_HD swizzle<R, T, N, I...> &operator op##=(swizzle<R, T, N, I...> &left,                                     \
                                                     const std::enable_if_t<condition, R> &right) {                    \
        return left = static_cast<R>(left) op right;                                                                   \
    }
// clang-format off
REVAMP_SWIZZLE_COMPOUND(+, true) REVAMP_SWIZZLE_COMPOUND(-, true)
REVAMP_SWIZZLE_COMPOUND(*, true) REVAMP_SWIZZLE_COMPOUND(/, true)
REVAMP_SWIZZLE_COMPOUND(%, std::is_integral<T>::value) REVAMP_SWIZZLE_COMPOUND(&, std::is_integral<T>::value)
REVAMP_SWIZZLE_COMPOUND(|, std::is_integral<T>::value) REVAMP_SWIZZLE_COMPOUND(^, std::is_integral<T>::value)
REVAMP_SWIZZLE_COMPOUND(<<, std::is_integral<T>::value) REVAMP_SWIZZLE_COMPOUND(>>, std::is_integral<T>::value)
// clang-format on
#undef REVAMP_SWIZZLE_COMPOUND

// The operators of vectors of every length. REVAMP_EACH(op) is the list `T(a.x op b.x), ...`, REVAMP_ALL compares all
// components. The operators are hidden friends that do not deduce the vector type, so that swizzles and scalars
// convert.
#define REVAMP_BINARY(op)                                                                                              \
    friend constexpr vec operator op(const vec &a, const vec &b) {                                                     \
        return vec(REVAMP_EACH(op));                                                                                   \
    }                                                                                                                  \
    constexpr vec &operator op##=(const vec &other) {                                                                  \
        return *this = *this op other;                                                                                 \
    }
#define REVAMP_INTEGER_BINARY(op)                                                                                      \
    template <class U = T, std::enable_if_t<std::is_integral<U>::value, int> = 0>                                      \
    friend constexpr vec operator op(const vec &a, const vec &b) {                                                     \
        return vec(REVAMP_EACH(op));                                                                                   \
    }                                                                                                                  \
    template <class U = T, std::enable_if_t<std::is_integral<U>::value, int> = 0>                                      \
    constexpr vec &operator op##=(const vec &other) {                                                                  \
        return *this = *this op other;                                                                                 \
    }
#define REVAMP_VEC_OPERATORS                                                                                           \
    REVAMP_BINARY(+)                                                                                                   \
    REVAMP_BINARY(-)                                                                                                   \
    REVAMP_BINARY(*)                                                                                                   \
    REVAMP_BINARY(/)                                                                                                   \
    REVAMP_INTEGER_BINARY(%)                                                                                           \
    REVAMP_INTEGER_BINARY(&)                                                                                           \
    REVAMP_INTEGER_BINARY(|)                                                                                           \
    REVAMP_INTEGER_BINARY(^)                                                                                           \
    REVAMP_INTEGER_BINARY(<<)                                                                                          \
    REVAMP_INTEGER_BINARY(>>)                                                                                          \
    template <class U = T, std::enable_if_t<std::is_integral<U>::value, int> = 0>                                      \
    friend constexpr vec operator~(const vec &a) {                                                                     \
        return vec(REVAMP_MAP(~));                                                                                     \
    }                                                                                                                  \
    template <class U = T, std::enable_if_t<std::is_signed<U>::value || std::is_same<U, norm>::value, int> = 0>        \
    friend constexpr vec operator-(const vec &a) {                                                                     \
        return vec(REVAMP_MAP(-));                                                                                     \
    }                                                                                                                  \
    constexpr vec &operator++() {                                                                                      \
        return *this += vec(T(1));                                                                                     \
    }                                                                                                                  \
    constexpr vec &operator--() {                                                                                      \
        return *this -= vec(T(1));                                                                                     \
    }                                                                                                                  \
    constexpr vec operator++(int) {                                                                                    \
        vec old = *this;                                                                                               \
        ++*this;                                                                                                       \
        return old;                                                                                                    \
    }                                                                                                                  \
    constexpr vec operator--(int) {                                                                                    \
        vec old = *this;                                                                                               \
        --*this;                                                                                                       \
        return old;                                                                                                    \
    }                                                                                                                  \
    friend constexpr bool operator==(const vec &a, const vec &b) {                                                     \
        return REVAMP_ALL;                                                                                             \
    }                                                                                                                  \
    friend constexpr bool operator!=(const vec &a, const vec &b) {                                                     \
        return !(a == b);                                                                                              \
    }

#define REVAMP_MEMBER_2(a, b, c, d, i, j) swizzle<vec<T, 2>, T, size, i, j> a##b, c##d;
#define REVAMP_MEMBER_3(a, b, c, d, e, f, i, j, k) swizzle<vec<T, 3>, T, size, i, j, k> a##b##c, d##e##f;
#define REVAMP_MEMBER_4(a, b, c, d, e, f, g, h, i, j, k, l)                                                            \
    swizzle<vec<T, 4>, T, size, i, j, k, l> a##b##c##d, e##f##g##h;

#define REVAMP_ACCESS_1(a, c)                                                                                          \
    constexpr T get_##a() const {                                                                                      \
        return a;                                                                                                      \
    }                                                                                                                  \
    constexpr void set_##a(const T &value) {                                                                           \
        a = value;                                                                                                     \
    }                                                                                                                  \
    constexpr T &ref_##a() {                                                                                           \
        return a;                                                                                                      \
    }                                                                                                                  \
    REVAMP_HD T &ref_##c() {                                                                                           \
        return c;                                                                                                      \
    }
#define REVAMP_ACCESS_2(a, b, c, d, i, j)                                                                              \
    constexpr vec<T, 2> get_##a##b() const {                                                                           \
        return vec<T, 2>(a, b);                                                                                        \
    }                                                                                                                  \
    constexpr void set_##a##b(vec<T, 2> value) {                                                                       \
        a = value.x;                                                                                                   \
        b = value.y;                                                                                                   \
    }
#define REVAMP_ACCESS_3(a, b, c, d, e, f, i, j, k)                                                                     \
    constexpr vec<T, 3> get_##a##b##c() const {                                                                        \
        return vec<T, 3>(a, b, c);                                                                                     \
    }                                                                                                                  \
    constexpr void set_##a##b##c(vec<T, 3> value) {                                                                    \
        a = value.x;                                                                                                   \
        b = value.y;                                                                                                   \
        c = value.z;                                                                                                   \
    }
#define REVAMP_ACCESS_4(a, b, c, d, e, f, g, h, i, j, k, l)                                                            \
    constexpr vec get_##a##b##c##d() const {                                                                           \
        return vec(a, b, c, d);                                                                                        \
    }                                                                                                                  \
    constexpr void set_##a##b##c##d(vec value) {                                                                       \
        a = value.x;                                                                                                   \
        b = value.y;                                                                                                   \
        c = value.z;                                                                                                   \
        d = value.w;                                                                                                   \
    }

#define REVAMP_EACH(op) T(a.x op b.x), T(a.y op b.y)
#define REVAMP_MAP(op) T(op a.x), T(op a.y)
#define REVAMP_ALL (a.x == b.x && a.y == b.y)
                    template <class T>
                    class vec<T, 2> {
  public:
    typedef T value_type;
    static constexpr int size = 2;

    union {
        __extension__ struct { T x, y; };
        __extension__ struct { T r, g; };
        REVAMP_SWIZZLES_2(REVAMP_MEMBER_2)
    };

    constexpr vec() : x(), y() {}
    constexpr vec(T value) : x(value), y(value) {}
    constexpr vec(T x_value, T y_value) : x(x_value), y(y_value) {}
    constexpr vec(const vec &) = default;
    // Norm and unorm vectors also convert from other component types.
    template <class U, std::enable_if_t<is_normalized<T> && is_component<U> && !std::is_same<U, T>::value, int> = 0>
    constexpr vec(U value) : vec(convert_component<T>(value)) {}
    template <class A, class B,
              std::enable_if_t<is_normalized<T> && is_component<A> && is_component<B> &&
                                   !(std::is_same<A, T>::value && std::is_same<B, T>::value),
                               int> = 0>
    constexpr vec(A x_value, B y_value) : vec(convert_component<T>(x_value), convert_component<T>(y_value)) {}
    template <class U, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    explicit constexpr vec(const vec<U, 2> &other)
        : vec(convert_component<T>(other.x), convert_component<T>(other.y)) {}
    template <class U, int N, int... I, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    REVAMP_HD explicit vec(const swizzle<vec<U, 2>, U, N, I...> &other) : vec(static_cast<vec<U, 2>>(other)) {}

    constexpr vec &operator=(const vec &other) {
        const T values[] = {other.x, other.y};
        x = values[0];
        y = values[1];
        return *this;
    }

    REVAMP_VEC_OPERATORS
    REVAMP_ACCESS_1(x, r)
    REVAMP_ACCESS_1(y, g)
    REVAMP_SWIZZLES_2(REVAMP_ACCESS_2)
};
#undef REVAMP_EACH
#undef REVAMP_MAP
#undef REVAMP_ALL

#define REVAMP_EACH(op) T(a.x op b.x), T(a.y op b.y), T(a.z op b.z)
#define REVAMP_MAP(op) T(op a.x), T(op a.y), T(op a.z)
#define REVAMP_ALL (a.x == b.x && a.y == b.y && a.z == b.z)
template <class T> class vec<T, 3> {
  public:
    typedef T value_type;
    static constexpr int size = 3;

    union {
        __extension__ struct { T x, y, z; };
        __extension__ struct { T r, g, b; };
        REVAMP_SWIZZLES_3(REVAMP_MEMBER_2, REVAMP_MEMBER_3)
    };

    constexpr vec() : x(), y(), z() {}
    constexpr vec(T value) : x(value), y(value), z(value) {}
    constexpr vec(T x_value, T y_value, T z_value) : x(x_value), y(y_value), z(z_value) {}
    constexpr vec(const vec &) = default;
    // Norm and unorm vectors also convert from other component types.
    template <class U, std::enable_if_t<is_normalized<T> && is_component<U> && !std::is_same<U, T>::value, int> = 0>
    constexpr vec(U value) : vec(convert_component<T>(value)) {}
    template <
        class A, class B, class C,
        std::enable_if_t<is_normalized<T> && is_component<A> && is_component<B> && is_component<C> &&
                             !(std::is_same<A, T>::value && std::is_same<B, T>::value && std::is_same<C, T>::value),
                         int> = 0>
    constexpr vec(A x_value, B y_value, C z_value)
        : vec(convert_component<T>(x_value), convert_component<T>(y_value), convert_component<T>(z_value)) {}
    template <class U, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    explicit constexpr vec(const vec<U, 3> &other)
        : vec(convert_component<T>(other.x), convert_component<T>(other.y), convert_component<T>(other.z)) {}
    template <class U, int N, int... I, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    REVAMP_HD explicit vec(const swizzle<vec<U, 3>, U, N, I...> &other) : vec(static_cast<vec<U, 3>>(other)) {}

    constexpr vec &operator=(const vec &other) {
        const T values[] = {other.x, other.y, other.z};
        x = values[0];
        y = values[1];
        z = values[2];
        return *this;
    }

    REVAMP_VEC_OPERATORS
    REVAMP_ACCESS_1(x, r)
    REVAMP_ACCESS_1(y, g)
    REVAMP_ACCESS_1(z, b)
    REVAMP_SWIZZLES_3(REVAMP_ACCESS_2, REVAMP_ACCESS_3)
};
#undef REVAMP_EACH
#undef REVAMP_MAP
#undef REVAMP_ALL

#define REVAMP_EACH(op) T(a.x op b.x), T(a.y op b.y), T(a.z op b.z), T(a.w op b.w)
#define REVAMP_MAP(op) T(op a.x), T(op a.y), T(op a.z), T(op a.w)
#define REVAMP_ALL (a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w)
template <class T> class vec<T, 4> {
  public:
    typedef T value_type;
    static constexpr int size = 4;

    union {
        __extension__ struct { T x, y, z, w; };
        __extension__ struct { T r, g, b, a; };
        REVAMP_SWIZZLES_4(REVAMP_MEMBER_2, REVAMP_MEMBER_3, REVAMP_MEMBER_4)
    };

    constexpr vec() : x(), y(), z(), w() {}
    constexpr vec(T value) : x(value), y(value), z(value), w(value) {}
    constexpr vec(T x_value, T y_value, T z_value, T w_value) : x(x_value), y(y_value), z(z_value), w(w_value) {}
    constexpr vec(const vec &) = default;
    // Norm and unorm vectors also convert from other component types.
    template <class U, std::enable_if_t<is_normalized<T> && is_component<U> && !std::is_same<U, T>::value, int> = 0>
    constexpr vec(U value) : vec(convert_component<T>(value)) {}
    template <
        class A, class B, class C, class D,
        std::enable_if_t<is_normalized<T> && is_component<A> && is_component<B> && is_component<C> && is_component<D> &&
                             !(std::is_same<A, T>::value && std::is_same<B, T>::value && std::is_same<C, T>::value &&
                               std::is_same<D, T>::value),
                         int> = 0>
    constexpr vec(A x_value, B y_value, C z_value, D w_value)
        : vec(convert_component<T>(x_value), convert_component<T>(y_value), convert_component<T>(z_value),
              convert_component<T>(w_value)) {}
    template <class U, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    explicit constexpr vec(const vec<U, 4> &other)
        : vec(convert_component<T>(other.x), convert_component<T>(other.y), convert_component<T>(other.z),
              convert_component<T>(other.w)) {}
    template <class U, int N, int... I, std::enable_if_t<!std::is_same<U, T>::value, int> = 0>
    REVAMP_HD explicit vec(const swizzle<vec<U, 4>, U, N, I...> &other) : vec(static_cast<vec<U, 4>>(other)) {}

    constexpr vec &operator=(const vec &other) {
        const T values[] = {other.x, other.y, other.z, other.w};
        x = values[0];
        y = values[1];
        z = values[2];
        w = values[3];
        return *this;
    }

    REVAMP_VEC_OPERATORS
    REVAMP_ACCESS_1(x, r)
    REVAMP_ACCESS_1(y, g)
    REVAMP_ACCESS_1(z, b)
    REVAMP_ACCESS_1(w, a)
    REVAMP_SWIZZLES_4(REVAMP_ACCESS_2, REVAMP_ACCESS_3, REVAMP_ACCESS_4)
};
#undef REVAMP_EACH
#undef REVAMP_MAP
#undef REVAMP_ALL

#undef REVAMP_BINARY
#undef REVAMP_INTEGER_BINARY
#undef REVAMP_VEC_OPERATORS
#undef REVAMP_MEMBER_2
#undef REVAMP_MEMBER_3
#undef REVAMP_MEMBER_4
#undef REVAMP_ACCESS_1
#undef REVAMP_ACCESS_2
#undef REVAMP_ACCESS_3
#undef REVAMP_ACCESS_4
#undef REVAMP_SWIZZLES_2
#undef REVAMP_SWIZZLES_3
#undef REVAMP_SWIZZLES_4

REVAMP_DETAIL_END

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

REVAMP_NAMESPACE_BEGIN
namespace graphics {

typedef revamp::detail::vec<int, 2> int_2;
typedef revamp::detail::vec<int, 3> int_3;
typedef revamp::detail::vec<int, 4> int_4;
typedef revamp::detail::vec<unsigned int, 2> uint_2;
typedef revamp::detail::vec<unsigned int, 3> uint_3;
typedef revamp::detail::vec<unsigned int, 4> uint_4;
typedef revamp::detail::vec<float, 2> float_2;
typedef revamp::detail::vec<float, 3> float_3;
typedef revamp::detail::vec<float, 4> float_4;
typedef revamp::detail::vec<double, 2> double_2;
typedef revamp::detail::vec<double, 3> double_3;
typedef revamp::detail::vec<double, 4> double_4;
typedef revamp::detail::vec<norm, 2> norm_2;
typedef revamp::detail::vec<norm, 3> norm_3;
typedef revamp::detail::vec<norm, 4> norm_4;
typedef revamp::detail::vec<unorm, 2> unorm_2;
typedef revamp::detail::vec<unorm, 3> unorm_3;
typedef revamp::detail::vec<unorm, 4> unorm_4;

// short_vector<Scalar, Size>::type: the vector of Size components; for Size 1 the scalar itself.
template <class Scalar, int Size> struct short_vector {
    static_assert(revamp::detail::always_false<Scalar>, "short_vector: the scalar type must be int, unsigned int, "
                                                        "float, double, norm or unorm, and the size must be 1 to 4");
};
// short_vector_traits<V>: the value_type and size of a scalar or short vector.
template <class V> struct short_vector_traits {
    static_assert(revamp::detail::always_false<V>,
                  "short_vector_traits: the type must be a short vector, or the scalar type of a short vector");
};

#define REVAMP_SHORT_VECTOR(scalar, n, vector)                                                                         \
    template <> struct short_vector<scalar, n> { typedef vector type; };                                               \
    template <> struct short_vector_traits<vector> {                                                                   \
        typedef scalar value_type;                                                                                     \
        static constexpr int size = n;                                                                                 \
    };
#define REVAMP_SHORT_VECTORS(scalar, name)                                                                             \
    REVAMP_SHORT_VECTOR(scalar, 1, scalar)                                                                             \
    REVAMP_SHORT_VECTOR(scalar, 2, name##_2)                                                                           \
    REVAMP_SHORT_VECTOR(scalar, 3, name##_3)                                                                           \
    REVAMP_SHORT_VECTOR(scalar, 4, name##_4)
REVAMP_SHORT_VECTORS(int, int)
REVAMP_SHORT_VECTORS(unsigned int, uint)
REVAMP_SHORT_VECTORS(float, float)
REVAMP_SHORT_VECTORS(double, double)
REVAMP_SHORT_VECTORS(norm, norm)
REVAMP_SHORT_VECTORS(unorm, unorm)
#undef REVAMP_SHORT_VECTOR
#undef REVAMP_SHORT_VECTORS

// The same vectors by their HLSL names.
namespace direct3d {
using graphics::uint;
typedef int_2 int2;
typedef int_3 int3;
typedef int_4 int4;
typedef uint_2 uint2;
typedef uint_3 uint3;
typedef uint_4 uint4;
typedef float_2 float2;
typedef float_3 float3;
typedef float_4 float4;
typedef double_2 double2;
typedef double_3 double3;
typedef double_4 double4;
typedef norm_2 norm2;
typedef norm_3 norm3;
typedef norm_4 norm4;
typedef unorm_2 unorm2;
typedef unorm_3 unorm3;
typedef unorm_4 unorm4;

// Adds to each component i of `accumulator` the sum of absolute differences between the four bytes of `reference` and
// bytes i to i + 3 of `source`. Zero bytes of `reference` do not count. A template, so that only programs that use it
// pay for the compilation of its vectors.
template <class Uint = uint>
constexpr typename short_vector<Uint, 4>::type msad4(uint reference, typename short_vector<Uint, 2>::type source,
                                                     typename short_vector<Uint, 4>::type accumulator) {
    uint sums[4] = {accumulator.x, accumulator.y, accumulator.z, accumulator.w};
    const unsigned long long bytes = static_cast<unsigned long long>(source.y) << 32 | source.x;
    for (uint i = 0; i < 4; ++i)
        for (uint k = 0; k < 4; ++k) {
            const uint a = reference >> (8 * k) & 0xFF;
            const uint b = static_cast<uint>(bytes >> (8 * (i + k)) & 0xFF);
            if (a != 0) sums[i] += a > b ? a - b : b - a;
        }
    return {sums[0], sums[1], sums[2], sums[3]};
}

} // namespace direct3d
} // namespace graphics
REVAMP_NAMESPACE_END

#define NORM_ZERO (Concurrency::graphics::norm(0.0f))
#define NORM_MIN (Concurrency::graphics::norm(-1.0f))
#define NORM_MAX (Concurrency::graphics::norm(1.0f))
#define UNORM_ZERO (Concurrency::graphics::unorm(0.0f))
#define UNORM_MIN (Concurrency::graphics::unorm(0.0f))
#define UNORM_MAX (Concurrency::graphics::unorm(1.0f))

#endif
