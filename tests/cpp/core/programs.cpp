// Small programs in the style of a conformance suite, one for each feature of C++ in restrict(amp) code. Each program
// fills eight numbers, which must be the same with the kernel compiler and with host compilers.
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "../check.hpp"

using namespace concurrency;

namespace {

void check_results(void (*run)(array_view<int>), std::initializer_list<int> expected) {
    std::vector<int> out(8, -7);
    array_view<int> o(8, out);
    run(o);
    o.synchronize();
    CHECK(std::equal(out.begin(), out.end(), expected.begin(), expected.end()));
}

namespace in_free_both {
int f(int x) restrict(amp, cpu) {
    return x + 1;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = f(i[0]); });
}
} // namespace in_free_both

namespace in_amp_calls_both {
int f(int x) restrict(cpu, amp) {
    return x + 1;
}
int g(int x) restrict(amp) {
    return f(x) * 2;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = g(i[0]); });
}
} // namespace in_amp_calls_both

namespace in_functor_member {
struct add {
    int n;
    add(int a) restrict(amp, cpu) : n(a) {}
    int operator()(int x) const restrict(amp, cpu) { return x + n; }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            add a(5);
            o[i] = a(i[0]);
        });
}
} // namespace in_functor_member

namespace in_template_fn {
template <class T, int N> T f(T x) restrict(amp) {
    T r = 0;
    for (int k = 0; k < N; ++k)
        r += x;
    return r;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = f<int, 3>(i[0]) + int(f<float, 2>(1.5f)); });
}
} // namespace in_template_fn

namespace in_casts {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            float f = 2.75f + i[0];
            unsigned u = static_cast<unsigned>(f);
            int q = (int)f;
            o[i] = int(u) + q + static_cast<int>(true) + int(-1.5f);
        });
}
} // namespace in_casts

namespace in_nested_lambdas {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            auto a = [](int x) { return x + 1; };
            auto b = [=](int x) {
                auto c = [=](int y) { return a(y) * 2; };
                return c(x) + a(x);
            };
            o[i] = b(i[0]);
        });
}
} // namespace in_nested_lambdas

namespace in_nested_lambda_amp {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            auto a = [](int x) restrict(amp)->int {
                return x + 1;
            };
            auto b = [&](int x) restrict(amp) {
                return a(x) * 2;
            };
            o[i] = b(i[0]);
        });
}
} // namespace in_nested_lambda_amp

namespace in_local_class {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            struct c {
                int z;
                c(int q) : z(q) {}
                c(const c &o) : z(o.z + 1) {}
                c &operator=(const c &o) {
                    z = o.z;
                    return *this;
                }
                ~c() {}
                int get() const { return z; }
                int operator[](int k) { return z + k; }
                static int st() { return 100; }
            };
            c a(i[0]);
            c b(a);
            c d(0);
            d = b;
            o[i] = d.get() + d[1] + c::st();
        });
}
} // namespace in_local_class

namespace in_operators {
struct v2 {
    int x, y;
};
v2 operator+(v2 a, v2 b) restrict(amp, cpu) {
    return {a.x + b.x, a.y + b.y};
}
v2 &operator+=(v2 &a, const v2 &b) restrict(amp, cpu) {
    a = a + b;
    return a;
}
bool operator==(v2 a, v2 b) restrict(amp, cpu) {
    return a.x == b.x && a.y == b.y;
}
v2 operator-(v2 a) restrict(amp, cpu) {
    return {-a.x, -a.y};
}
v2 operator++(v2 &a, int) restrict(amp, cpu) {
    v2 t = a;
    a.x++;
    return t;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            v2 a = {i[0], 1};
            v2 b = a + a;
            b += a;
            v2 t = b++;
            v2 m = -b;
            o[i] = b.x + (t == b) * 100 + m.y;
        });
}
} // namespace in_operators

namespace in_inheritance {
struct a {
    int x;
    a(int n) restrict(amp, cpu) : x(n) {}
    int get() const restrict(amp, cpu) { return x; }
};
struct b : a {
    int y;
    b(int n) restrict(amp, cpu) : a(n), y(2 * n) {}
    int get() const restrict(amp, cpu) { return a::get() + y; }
};
struct c : b {
    c(int n) restrict(amp, cpu) : b(n + 1) {}
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            c q(i[0]);
            a &r = q;
            o[i] = q.get() + r.get();
        });
}
} // namespace in_inheritance

namespace in_multi_inherit {
struct a {
    int x;
};
struct b {
    int y;
    int f() const restrict(amp) { return y; }
};
struct c : a, b {
    int z;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            c q;
            q.x = 1;
            q.y = i[0];
            q.z = 3;
            b &r = q;
            o[i] = r.f() + q.x + q.z;
        });
}
} // namespace in_multi_inherit

namespace in_enums {
enum color { red, green = 5, blue };
enum class ec : int { one = 1, two };
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            color c = i[0] % 2 ? green : blue;
            ec e = i[0] > 3 ? ec::one : ec::two;
            o[i] = c * 10 + int(e);
        });
}
} // namespace in_enums

namespace in_unions {
union u {
    int i;
    float f;
    unsigned n;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            u x;
            x.f = 1.0f;
            o[i] = (x.n >> 23) + i[0];
        });
}
} // namespace in_unions

namespace in_references {
void sw(int &a, int &b) restrict(amp) {
    int t = a;
    a = b;
    b = t;
}
int &pick(int &a, int &b, bool c) restrict(amp) {
    return c ? a : b;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int a = i[0], b = 10;
            sw(a, b);
            pick(a, b, i[0] % 2 == 0) += 100;
            o[i] = a * 1000 + b;
        });
}
} // namespace in_references

namespace in_pointers {
int sum(const int *p, int n) restrict(amp) {
    int s = 0;
    for (const int *q = p; q != p + n; ++q)
        s += *q;
    return s;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int a[4] = {1, 2, 3, i[0]};
            int *p = a;
            *(p + 1) = 7;
            o[i] = sum(a, 4) + int(&a[3] - p);
        });
}
} // namespace in_pointers

namespace in_switches {
int f(int x) restrict(amp) {
    switch (x) {
    case 0:
        return 5;
    case 1:
    case 2:
        x += 10;
    case 3:
        x += 100;
        break;
    default:
        x = -x;
    }
    return x;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = f(i[0]); });
}
} // namespace in_switches

namespace in_loops {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int s = 0;
            for (int k = 0; k < 10; ++k) {
                if (k == i[0]) continue;
                if (k > 7) break;
                int j = k;
                while (j > 0) {
                    j /= 2;
                    s++;
                }
                do {
                    s += 10;
                } while (0);
            }
            o[i] = s;
        });
}
} // namespace in_loops

namespace in_static_const {
struct k {
    static const int n = 4;
    static constexpr float f = 2.5f;
    enum { e = 3 };
};
const int g = 7;
constexpr int h[3] = {1, 2, 3};
static const float gf = 0.5f;
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            o[i] = k::n + int(k::f * 2) + k::e + g + h[i[0] % 3] + int(gf * 4);
        });
}
} // namespace in_static_const

namespace in_namespaces {
namespace a {
namespace b {
int f(int x) restrict(amp) {
    return x + 1;
}
} // namespace b
using namespace b;
} // namespace a
namespace c = a::b;
namespace {
int anon(int x) restrict(amp) {
    return x;
}
} // namespace
inline namespace v {
int iv() restrict(amp) {
    return 3;
}
} // namespace v
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = a::f(i[0]) + c::f(0) + anon(1) + iv(); });
}
} // namespace in_namespaces

namespace in_short_vectors {
using namespace concurrency::graphics;
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int_3 a(1, 2, i[0]);
            float_4 f(1.0f);
            f.xy = float_2(2.0f, 3.0f);
            int_3 b = a.zyx + int_3(1);
            uint_2 u(3, 4);
            o[i] = b.x * 100 + b.z + int(f.x + f.y + f.w) + u.y;
        });
}
} // namespace in_short_vectors

namespace in_captured_struct {
struct pack {
    array_view<int> v;
    array_view<const int> w;
    int n;
    index<1> k;
    extent<1> e;
};
void run(array_view<int> o) {
    std::vector<int> d1(8, 3), d2(8, 4);
    pack p = {array_view<int>(8, d1), array_view<const int>(8, d2), 2, index<1>(5), extent<1>(6)};
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = p.v[i] + p.w[i] * p.n + p.k[0] + p.e[0]; });
}
} // namespace in_captured_struct

namespace in_sections {

void run(array_view<int> o) {
    std::vector<int> d1(8);
    for (int k = 0; k < 8; ++k)
        d1[k] = k;
    array_view<int> q(8, d1);
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            array_view<int> s = q.section(2, 4);
            array_view<int> t = s.section(index<1>(1));
            o[i] = s[i[0] % 4] * 100 + t[0] + s.extent[0];
        });
}
} // namespace in_sections

namespace in_projection {

void run(array_view<int> o) {
    std::vector<int> d1(8);
    for (int k = 0; k < 8; ++k)
        d1[k] = k * k;
    array_view<int, 2> q(2, 4, d1);
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            array_view<int, 1> r = q[i[0] % 2];
            o[i] = r[i[0] / 2] + q(1, 3);
        });
}
} // namespace in_projection

namespace in_view_as {

void run(array_view<int> o) {
    std::vector<int> d1(8);
    for (int k = 0; k < 8; ++k)
        d1[k] = k * k;
    array_view<int> q(8, d1);
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            array_view<int, 2> m = q.view_as(extent<2>(2, 4));
            array_view<float> f = q.reinterpret_as<float>();
            o[i] = m(i[0] / 4, i[0] % 4) + (f[0] == 0.0f);
        });
}
} // namespace in_view_as

namespace in_array_ref {
template <class A> int read(const A &a, index<1> i) restrict(amp) {
    return a[i];
}
void run(array_view<int> o) {
    std::vector<int> d1(8, 3);
    array<int> a(8, d1.begin());
    parallel_for_each(
        extent<1>(8), [ =, &a ](index<1> i) restrict(amp) {
            a[i] += 1;
            array_view<int> v(a);
            v[i] *= 2;
            o[i] = read(a, i) + a(i[0]) + a.extent[0];
        });
}
} // namespace in_array_ref

namespace in_default_args {
int f(int a, int b = 3, int c = 4) restrict(amp) {
    return a + b * c;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = f(i[0]) + f(1, 2) + f(1, 1, 1); });
}
} // namespace in_default_args

namespace in_ctor_kinds {
struct s {
    int a, b;
    s() restrict(amp, cpu) : a(1), b(2) {}
    explicit s(int x) restrict(amp, cpu) : a(x), b(x) {}
    s(int x, int y) restrict(amp, cpu) : a(x), b(y) {}
    s(const s &o) restrict(amp, cpu) : a(o.a + 1), b(o.b) {}
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s x;
            s y(i[0]);
            s z = y;
            s w{3, 4};
            s arr[2] = {s(1), s(2)};
            o[i] = x.a + y.b + z.a + w.b + arr[1].a;
        });
}
} // namespace in_ctor_kinds

namespace in_conversion {
struct m {
    float v;
    m(float x) restrict(amp, cpu) : v(x) {}
    operator float() const restrict(amp, cpu) { return v; }
    operator bool() const restrict(amp, cpu) { return v > 2; }
    explicit operator int() const restrict(amp, cpu) { return int(v) * 10; }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            m a{float(i[0])};
            float f = a;
            o[i] = int(f) + (bool(a) ? 100 : 0) + static_cast<int>(a);
        });
}
} // namespace in_conversion

namespace in_class_template {
template <class T, int N> struct st {
    T d[N];
    int n;
    st() restrict(amp) : n(0) {}
    void push(const T &t) restrict(amp) { d[n++] = t; }
    T pop() restrict(amp) { return d[--n]; }
    bool empty() const restrict(amp) { return n == 0; }
};
template <class T> struct st<T, 1> {
    T x;
    int n;
    st() restrict(amp) : n(0) {}
    void push(T t) restrict(amp) {
        x = t;
        n = 1;
    }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            st<int, 4> s;
            s.push(i[0]);
            s.push(5);
            int t = s.pop();
            st<int, 1> u;
            u.push(2);
            o[i] = t * 10 + s.pop() + u.x + s.empty();
        });
}
} // namespace in_class_template

namespace in_crtp {
template <class D> struct base {
    int call(int x) restrict(amp) { return static_cast<D *>(this)->impl(x); }
};
struct der : base<der> {
    int k;
    int impl(int x) restrict(amp) { return x * k; }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            der d;
            d.k = 3;
            o[i] = d.call(i[0]);
        });
}
} // namespace in_crtp

namespace in_variadic {
int sum() restrict(amp) {
    return 0;
}
template <class T, class... U> int sum(T t, U... u) restrict(amp) {
    return t + sum(u...);
}
template <class... T> int fold(T... t) restrict(amp) {
    return (t + ...);
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = sum(1, 2, i[0]) + fold(i[0], 3); });
}
} // namespace in_variadic

namespace in_bools {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            bool a = i[0] & 1, b = i[0] > 3;
            o[i] = (a && b) * 1 + (a || b) * 2 + (!a) * 4 + (a != b) * 8 + (a ? b ? 16 : 32 : 64);
        });
}
} // namespace in_bools

namespace in_ints {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int a = i[0] - 4;
            unsigned u = unsigned(a);
            o[i] = a / 3 + a % 3 + (a >> 1) + int(u >> 28) + a * 4 + (~a & 7) + (a ^ 5);
        });
}
} // namespace in_ints

namespace in_structs_copy {
struct in {
    int a[3];
};
struct outer {
    in x, y;
    float f;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            outer p = {{{1, 2, 3}}, {{4, 5, i[0]}}, 1.5f};
            outer q = p;
            q.x = q.y;
            in r = q.x;
            o[i] = r.a[2] + q.x.a[0] + int(q.f * 2);
        });
}
} // namespace in_structs_copy

namespace in_captured_arrays {
struct t {
    int d[4];
    float m[2][2];
};
void run(array_view<int> o) {
    t c = {{1, 2, 3, 4}, {{1, 2}, {3, 4}}};
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = c.d[i[0] % 4] + int(c.m[1][i[0] % 2]); });
}
} // namespace in_captured_arrays

namespace in_math {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            float x = i[0] + 0.5f;
            o[i] = int(fast_math::sqrt(x) * 100) + int(precise_math::floor(x)) + int(fast_math::fmax(x, 3.0f) * 2) +
                   int(direct3d::clamp(x, 1.0f, 2.0f) * 2);
        });
}
} // namespace in_math

namespace in_recursion_template {
template <int N> struct fact {
    static int get() restrict(amp) { return N * fact<N - 1>::get(); }
};
template <> struct fact<0> {
    static int get() restrict(amp) { return 1; }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = fact<5>::get() + i[0]; });
}
} // namespace in_recursion_template

namespace in_comma_ternary {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int a = 0, b = 0;
            (a = i[0], b = a + 1);
            int &r = i[0] > 3 ? a : b;
            r += 50;
            o[i] = a * 100 + b;
        });
}
} // namespace in_comma_ternary

namespace in_typedefs {
typedef int num;
typedef num arr[4];
using f1 = float;
template <class T> using vec = T[2];
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            arr a = {1, 2, 3, 4};
            vec<f1> v = {1.5f, 2.5f};
            o[i] = a[i[0] % 4] + num(v[1]);
        });
}
} // namespace in_typedefs

namespace in_decltype_auto {
auto twice(int x) restrict(amp) {
    return x * 2;
}
template <class A, class B> auto add(A a, B b) restrict(amp) -> decltype(a + b) {
    return a + b;
}
decltype(auto) dd(int &x) restrict(amp) {
    return (x);
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int q = i[0];
            dd(q) += 1;
            o[i] = twice(q) + int(add(1, 2.5f));
        });
}
} // namespace in_decltype_auto

namespace in_range_for {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int a[4] = {1, 2, 3, i[0]};
            int s = 0;
            for (int x : a)
                s += x;
            for (int &x : a)
                x = 1;
            for (auto x : a)
                s += x;
            o[i] = s;
        });
}
} // namespace in_range_for

namespace in_structured_bindings {
struct p {
    int a;
    float b;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            p q = {i[0], 2.5f};
            auto [a, b] = q;
            auto &[c, d] = q;
            c += 3;
            if (int z = q.a; z > 5)
                o[i] = a + int(b) + z;
            else
                o[i] = -z;
        });
}
} // namespace in_structured_bindings

namespace in_constexpr_if {
template <class T> int f(T t) restrict(amp) {
    if constexpr (sizeof(T) == 4)
        return int(t) + 1;
    else
        return 2;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = f(i[0]) + f(2.0); });
}
} // namespace in_constexpr_if

namespace in_indices {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            index<2> a(i[0], 2);
            index<2> b = a + index<2>(1, 1);
            b *= 2;
            extent<2> e(4, 5);
            index<3> c(1, 2, 3);
            ++c;
            o[i] = b[0] * 100 + b[1] + e.size() + e.contains(a) * 1000 + c[2] + (a == b);
        });
}
} // namespace in_indices

namespace in_std_algo {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            std::array<int, 3> a = {{3, 1, 2}};
            std::pair<int, float> p(i[0], 2.0f);
            int m = std::min(a[0], p.first);
            o[i] = m + std::max(1, 2) + int(p.second) + int(a.size());
        });
}
} // namespace in_std_algo

namespace in_function_template_arguments {
template <int (*F)(int)> struct ap {
    int operator()(int x) const restrict(amp) { return F(x); }
};
int sq(int x) restrict(amp) {
    return x * x;
}
int cu(int x) restrict(amp, cpu) {
    return x * x * x;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            ap<sq> a;
            ap<cu> b;
            o[i] = a(i[0]) + b(2);
        });
}
} // namespace in_function_template_arguments

namespace in_higher_order_functions {
template <class F> int apply(F f, int n) restrict(amp) {
    return f(n) + f(n + 1);
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int k = 3;
            o[i] = apply([=](int x) { return x * k; }, i[0]) + apply(
                                                                   [&](int x) restrict(amp) { return x + k; }, 1);
        });
}
} // namespace in_higher_order_functions

namespace in_data_dependent_loop {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            int n = 0;
            for (int k = i[0]; k < 100; k = k * 2 + 1)
                ++n;
            o[i] = n;
        });
}
} // namespace in_data_dependent_loop

namespace in_early_return {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            o[i] = 1;
            if (i[0] % 2) return;
            o[i] = 2;
            for (int k = 0; k < 9; ++k)
                if (k * i[0] > 10) return;
            o[i] = 3;
        });
}
} // namespace in_early_return

namespace in_const_member {
struct s {
    const int a;
    const float b;
    s(int x) restrict(amp, cpu) : a(x), b(2) {}
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s q(i[0]);
            const s &r = q;
            o[i] = r.a + int(r.b);
        });
}
} // namespace in_const_member

namespace in_init_members {
struct s {
    int a = 4;
    float b = 1.5f;
    int c[2] = {1, 2};
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s q;
            s r{i[0]};
            o[i] = q.a + r.a + r.c[1] + int(q.b * 2);
        });
}
} // namespace in_init_members

namespace in_delegating {
struct s {
    int a, b;
    s(int x, int y) restrict(amp) : a(x), b(y) {}
    s(int x) restrict(amp) : s(x, x + 1) {}
    using self = s;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s q(i[0]);
            o[i] = q.a * q.b;
        });
}
} // namespace in_delegating

namespace in_inherit_ctor {
struct a {
    int x;
    a(int n) restrict(amp, cpu) : x(n) {}
};
struct b : a {
    using a::a;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            b q(i[0]);
            o[i] = q.x;
        });
}
} // namespace in_inherit_ctor

namespace in_mutable_lambda {

void run(array_view<int> o) {
    int n = 5;
    parallel_for_each(
        extent<1>(8), [=](index<1> i) mutable restrict(amp) {
            n += i[0];
            o[i] = n;
        });
}
} // namespace in_mutable_lambda

namespace in_friends {
class c {
    int x;
    friend int peek(const c &q) restrict(amp) { return q.x; }
    template <class T> friend T get(const c &);

  public:
    explicit c(int n) restrict(amp) : x(n) {}
    friend c operator*(const c &a, int k) restrict(amp) { return c(a.x * k); }
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            c a(i[0]);
            o[i] = peek(a * 3);
        });
}
} // namespace in_friends

namespace in_state_machine {
enum st { s0, s1, s2, done };
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            st s = s0;
            int n = i[0], c = 0;
            while (s != done) {
                switch (s) {
                case s0:
                    s = n > 3 ? s1 : s2;
                    break;
                case s1:
                    n -= 2;
                    s = s0;
                    ++c;
                    break;
                case s2:
                    c += 10;
                    s = done;
                    break;
                default:
                    s = done;
                }
            }
            o[i] = c * 10 + n;
        });
}
} // namespace in_state_machine

namespace in_number_conversions {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            float f = float(i[0]) / 3.0f;
            double d = f;
            long long l = (long long)(d * 1000);
            short sh = short(l);
            unsigned char ch = (unsigned char)(l);
            o[i] = int(l % 77) + sh + ch;
        });
}
} // namespace in_number_conversions

namespace in_linked_list_by_index {
struct node {
    int v;
    int next;
};
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            node l[4];
            for (int k = 0; k < 4; ++k) {
                l[k].v = k * i[0];
                l[k].next = k - 1;
            }
            int s = 0;
            for (int k = 3; k >= 0; k = l[k].next)
                s += l[k].v;
            o[i] = s;
        });
}
} // namespace in_linked_list_by_index

namespace in_restriction_macros {
#define SQ(x) ((x) * (x))
#define GPU restrict(amp)
#define BOTH restrict(amp, cpu)
int a1(int x) GPU {
    return SQ(x);
}
int a2(int x) BOTH {
    return x;
}
template <class T> struct q {
    T t;
    T g() const BOTH;
};
template <class T> T q<T>::g() const BOTH {
    return t;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            q<int> z = {4};
            o[i] = a1(i[0]) + a2(1) + z.g();
        });
}
} // namespace in_restriction_macros

#undef SQ
#undef GPU
#undef BOTH
namespace in_out_of_class {
struct s {
    int x;
    s(int) restrict(amp);
    int f(int) const restrict(amp);
    static int g(int) restrict(amp, cpu);
    s &operator+=(int) restrict(amp);
    operator int() const restrict(amp);
    template <class T> T t(T) restrict(amp);
    struct in {
        int h() restrict(amp);
    };
};
s::s(int n) restrict(amp) : x(n) {}
int s::f(int k) const restrict(amp) {
    return x + k;
}
int s::g(int k) restrict(amp, cpu) {
    return k;
}
s &s::operator+=(int k) restrict(amp) {
    x += k;
    return *this;
}
s::operator int() const restrict(amp) {
    return x;
}
template <class T> T s::t(T v) restrict(amp) {
    return v + x;
}
int s::in::h() restrict(amp) {
    return 9;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s q(i[0]);
            q += 2;
            s::in n;
            o[i] = q.f(1) + s::g(2) + int(q) + q.t(1) + n.h();
        });
}
} // namespace in_out_of_class

namespace in_forward {
int defined_later(int) restrict(amp);
int user(int x) restrict(amp) {
    return defined_later(x) + 1;
}
int defined_later(int x) restrict(amp) {
    return x * 2;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = user(i[0]); });
}
} // namespace in_forward

namespace in_declared_variants {
int v1(int x) restrict(amp), v2(int x) restrict(amp, cpu);
int v1(int x) restrict(amp) {
    return x;
}
int v2(int x) restrict(cpu, amp) {
    return x + 1;
}
static inline int v3(int x) restrict(amp) {
    return x + 2;
}
constexpr int v4(int x) restrict(amp, cpu) {
    return x + 3;
}
__attribute__((always_inline)) inline int v5(int x) restrict(amp) {
    return 1;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = v1(i[0]) + v2(0) + v3(0) + v4(0) + v5(0); });
}
} // namespace in_declared_variants

namespace in_restrict_arrow_members {
struct s {
    int x;
    auto f() const restrict(amp) -> int { return x; }
    auto g(int a) restrict(amp) noexcept -> const int & {
        x += a;
        return x;
    }
    s(int n) restrict(amp) noexcept : x(n) {}
    bool operator<(const s &o) const restrict(amp) noexcept { return x < o.x; }
};
template <class T> auto h(T t) restrict(amp) noexcept(true) -> T {
    return t;
}
void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            s q(i[0]);
            o[i] = q.f() + q.g(1) + h(3) + (q < s(4));
        });
}
} // namespace in_restrict_arrow_members

namespace in_lambda_specs {

void run(array_view<int> o) {

    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            auto a = [](int x) restrict(amp) noexcept->int {
                return x;
            };
            auto b = [=](int x) mutable restrict(amp) {
                return x + 1;
            };
            auto c = [](auto x) { return x * 2; };
            auto d = [k = i[0]](int x) { return x + k; };
            o[i] = a(1) + b(2) + c(3) + d(4);
        });
}
} // namespace in_lambda_specs

namespace in_view_args {
int rd(array_view<const int> v, int k) restrict(amp) {
    return v[k];
}
void wr(const array_view<int> &v, index<1> k, int x) restrict(amp) {
    v[k] = x;
}
int rr(array_view<int> &v) restrict(amp) {
    return v.extent.size();
}
void run(array_view<int> o) {
    std::vector<int> d1(8, 6);
    array_view<const int> q(8, d1);
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) {
            array_view<int> w = o;
            wr(o, i, rd(q, i[0]) + rr(w));
        });
}
} // namespace in_view_args

namespace in_const_view {

void run(array_view<int> o) {
    const std::vector<int> d1(8, 6);
    const array_view<const int> cq(8, d1);
    parallel_for_each(
        extent<1>(8), [=](index<1> i) restrict(amp) { o[i] = cq[i] + cq(i[0]) + cq.get_extent()[0]; });
}
} // namespace in_const_view

} // namespace

TEST(amp_cpu_function) {
    check_results(in_free_both::run, {1, 2, 3, 4, 5, 6, 7, 8});
}
TEST(amp_function_calls_amp_cpu_function) {
    check_results(in_amp_calls_both::run, {2, 4, 6, 8, 10, 12, 14, 16});
}
TEST(functor_member) {
    check_results(in_functor_member::run, {5, 6, 7, 8, 9, 10, 11, 12});
}
TEST(template_fn) {
    check_results(in_template_fn::run, {3, 6, 9, 12, 15, 18, 21, 24});
}
TEST(casts) {
    check_results(in_casts::run, {4, 6, 8, 10, 12, 14, 16, 18});
}
TEST(nested_lambdas) {
    check_results(in_nested_lambdas::run, {3, 6, 9, 12, 15, 18, 21, 24});
}
TEST(nested_lambda_amp) {
    check_results(in_nested_lambda_amp::run, {2, 4, 6, 8, 10, 12, 14, 16});
}
TEST(local_class) {
    check_results(in_local_class::run, {103, 105, 107, 109, 111, 113, 115, 117});
}
TEST(operators) {
    check_results(in_operators::run, {-2, 1, 4, 7, 10, 13, 16, 19});
}
TEST(inheritance) {
    check_results(in_inheritance::run, {4, 8, 12, 16, 20, 24, 28, 32});
}
TEST(multi_inherit) {
    check_results(in_multi_inherit::run, {4, 5, 6, 7, 8, 9, 10, 11});
}
TEST(enums) {
    check_results(in_enums::run, {62, 52, 62, 52, 61, 51, 61, 51});
}
TEST(unions) {
    check_results(in_unions::run, {127, 128, 129, 130, 131, 132, 133, 134});
}
TEST(references) {
    check_results(in_references::run, {110000, 10101, 110002, 10103, 110004, 10105, 110006, 10107});
}
TEST(pointers) {
    check_results(in_pointers::run, {14, 15, 16, 17, 18, 19, 20, 21});
}
TEST(switches) {
    check_results(in_switches::run, {5, 111, 112, 103, -4, -5, -6, -7});
}
TEST(loops) {
    check_results(in_loops::run, {87, 86, 85, 85, 84, 84, 84, 84});
}
TEST(static_const) {
    check_results(in_static_const::run, {22, 23, 24, 22, 23, 24, 22, 23});
}
TEST(namespaces) {
    check_results(in_namespaces::run, {6, 7, 8, 9, 10, 11, 12, 13});
}
TEST(short_vectors) {
    check_results(in_short_vectors::run, {112, 212, 312, 412, 512, 612, 712, 812});
}
TEST(captured_struct) {
    check_results(in_captured_struct::run, {22, 22, 22, 22, 22, 22, 22, 22});
}
TEST(sections) {
    check_results(in_sections::run, {207, 307, 407, 507, 207, 307, 407, 507});
}
TEST(projection) {
    check_results(in_projection::run, {49, 65, 50, 74, 53, 85, 58, 98});
}
TEST(view_as) {
    check_results(in_view_as::run, {1, 2, 5, 10, 17, 26, 37, 50});
}
TEST(array_ref) {
    check_results(in_array_ref::run, {24, 24, 24, 24, 24, 24, 24, 24});
}
TEST(default_args) {
    check_results(in_default_args::run, {23, 24, 25, 26, 27, 28, 29, 30});
}
TEST(ctor_kinds) {
    check_results(in_ctor_kinds::run, {8, 10, 12, 14, 16, 18, 20, 22});
}
TEST(conversion) {
    check_results(in_conversion::run, {0, 11, 22, 133, 144, 155, 166, 177});
}
TEST(class_template) {
    check_results(in_class_template::run, {53, 54, 55, 56, 57, 58, 59, 60});
}
TEST(crtp) {
    check_results(in_crtp::run, {0, 3, 6, 9, 12, 15, 18, 21});
}
TEST(variadic) {
    check_results(in_variadic::run, {6, 8, 10, 12, 14, 16, 18, 20});
}
TEST(bools) {
    check_results(in_bools::run, {68, 42, 68, 42, 78, 19, 78, 19});
}
TEST(ints) {
    check_results(in_ints::run, {-9, -6, 0, 3, 12, 15, 23, 24});
}
TEST(structs_copy) {
    check_results(in_structs_copy::run, {7, 8, 9, 10, 11, 12, 13, 14});
}
TEST(captured_arrays) {
    check_results(in_captured_arrays::run, {4, 6, 6, 8, 4, 6, 6, 8});
}
TEST(math) {
    check_results(in_math::run, {78, 132, 170, 201, 229, 254, 277, 299});
}
TEST(recursion_template) {
    check_results(in_recursion_template::run, {120, 121, 122, 123, 124, 125, 126, 127});
}
TEST(comma_ternary) {
    check_results(in_comma_ternary::run, {51, 152, 253, 354, 5405, 5506, 5607, 5708});
}
TEST(typedefs) {
    check_results(in_typedefs::run, {3, 4, 5, 6, 3, 4, 5, 6});
}
TEST(decltype_auto) {
    check_results(in_decltype_auto::run, {5, 7, 9, 11, 13, 15, 17, 19});
}
TEST(range_for) {
    check_results(in_range_for::run, {10, 11, 12, 13, 14, 15, 16, 17});
}
TEST(structured_bindings) {
    check_results(in_structured_bindings::run, {-3, -4, -5, 11, 13, 15, 17, 19});
}
TEST(constexpr_if) {
    check_results(in_constexpr_if::run, {3, 4, 5, 6, 7, 8, 9, 10});
}
TEST(indices) {
    check_results(in_indices::run, {1230, 1430, 1630, 1830, 1030, 1230, 1430, 1630});
}
TEST(std_algo) {
    check_results(in_std_algo::run, {7, 8, 9, 10, 10, 10, 10, 10});
}
TEST(function_template_arguments) {
    check_results(in_function_template_arguments::run, {8, 9, 12, 17, 24, 33, 44, 57});
}
TEST(higher_order_functions) {
    check_results(in_higher_order_functions::run, {12, 18, 24, 30, 36, 42, 48, 54});
}
TEST(data_dependent_loop) {
    check_results(in_data_dependent_loop::run, {7, 6, 6, 5, 5, 5, 4, 4});
}
TEST(early_return) {
    check_results(in_early_return::run, {3, 1, 2, 1, 2, 1, 2, 1});
}
TEST(const_member) {
    check_results(in_const_member::run, {2, 3, 4, 5, 6, 7, 8, 9});
}
TEST(init_members) {
    check_results(in_init_members::run, {9, 10, 11, 12, 13, 14, 15, 16});
}
TEST(delegating) {
    check_results(in_delegating::run, {0, 2, 6, 12, 20, 30, 42, 56});
}
TEST(inherit_ctor) {
    check_results(in_inherit_ctor::run, {0, 1, 2, 3, 4, 5, 6, 7});
}
TEST(mutable_lambda) {
    check_results(in_mutable_lambda::run, {5, 6, 7, 8, 9, 10, 11, 12});
}
TEST(friends) {
    check_results(in_friends::run, {0, 3, 6, 9, 12, 15, 18, 21});
}
TEST(state_machine) {
    check_results(in_state_machine::run, {100, 101, 102, 103, 112, 113, 122, 123});
}
TEST(number_conversions) {
    check_results(in_number_conversions::run, {0, 435, 870, 1308, 1410, 1845, 2283, 2385});
}
TEST(linked_list_by_index) {
    check_results(in_linked_list_by_index::run, {0, 6, 12, 18, 24, 30, 36, 42});
}
TEST(restriction_macros) {
    check_results(in_restriction_macros::run, {5, 6, 9, 14, 21, 30, 41, 54});
}
TEST(out_of_class) {
    check_results(in_out_of_class::run, {19, 22, 25, 28, 31, 34, 37, 40});
}
TEST(forward_declaration) {
    check_results(in_forward::run, {1, 3, 5, 7, 9, 11, 13, 15});
}
TEST(declared_variants) {
    check_results(in_declared_variants::run, {7, 8, 9, 10, 11, 12, 13, 14});
}
TEST(restrict_arrow_members) {
    check_results(in_restrict_arrow_members::run, {5, 7, 9, 10, 12, 14, 16, 18});
}
TEST(lambda_specs) {
    check_results(in_lambda_specs::run, {14, 15, 16, 17, 18, 19, 20, 21});
}
TEST(view_args) {
    check_results(in_view_args::run, {14, 14, 14, 14, 14, 14, 14, 14});
}
TEST(const_view) {
    check_results(in_const_view::run, {20, 20, 20, 20, 20, 20, 20, 20});
}
CHECK_MAIN
