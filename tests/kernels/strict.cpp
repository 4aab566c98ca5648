// Tests overloads that differ only by restriction. Kernels call the amp overload, even if they run on host threads.
#include "device.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <strict_library.h>
#include <thread>

using namespace concurrency;

int which() restrict(cpu) {
    return 1;
}
int which() restrict(amp) {
    return 2;
}

TEST(the_amp_one_is_taken) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = which(); });
    CHECK(view[3] == 2 && which() == 1);
}

// A function without a restriction is a cpu function. In each pair of overloads, the amp overload returns 1 and the cpu
// overload returns 2.
#define ONLY restrict(amp)
int f() restrict(amp) {
    return 1;
}
int f() {
    return 2;
}
struct s {
    int h() restrict(amp) { return 1; }
    int h() { return 2; }
    operator int() const restrict(amp) { return 1; }
    operator int() const { return 2; }
};
int k(int &) restrict(amp) {
    return 1;
}
int k(const int &) {
    return 2;
}
int k2(const int &) restrict(amp) {
    return 1;
}
int k2(int &) {
    return 2;
}
template <class T> int t(T) ONLY {
    return 1;
}
template <class T> int t(T) {
    return 2;
}
struct base {
    int b;
    base() restrict(amp) : b(1) {}
    base() : b(2) {}
    base(const base &o) restrict(amp) : b(o.b + 10) {}
    base(const base &o) : b(o.b + 20) {}
};
struct derived : base {
    int x;
};
struct holds {
    base y;
    int x;
};
struct as {
    int v;
    as() restrict(amp, cpu) : v(0) {}
    as &operator=(const as &) restrict(amp) {
        v = 1;
        return *this;
    }
    as &operator=(const as &) {
        v = 2;
        return *this;
    }
};
struct ash {
    as a;
};
int operator+(as, as) restrict(amp) {
    return 1;
}
int operator+(as, as) {
    return 2;
}
struct cd {
    int v;
    cd(const s &) restrict(amp) : v(1) {}
    cd(const s &) : v(2) {}
};
int both() restrict(amp, cpu) {
    s x;
    int n = 0;
    as p, q;
    p = q;
    ash r, u;
    r = u;
    return f() * 100000000 + x.h() * 10000000 + int(x) * 1000000 + k(n) * 100000 + k2(n) * 10000 + t(1) * 1000 +
           p.v * 100 + r.a.v * 10 + (p + q);
}
int implicit() restrict(cpu, amp, cpu) {
    derived d;
    derived e(d);
    holds h;
    holds l = h;
    return e.b * 100 + l.y.b;
}
int conv() restrict(amp, cpu) {
    s x;
    cd c = x;
    return c.v;
}
void loc(int &x) restrict(amp, cpu) {
    struct c {
        void g(int &y) { y = 1; }
    };
    c o;
    o.g(x);
}
void loc2(int &x) __GPU {
    struct c {
        int z;
        c() : z(4) {}
        void g(int &y) { y = z; }
    };
    c o;
    o.g(x);
}
int loc3() restrict(amp) {
    struct c {
        int z;
        c(int q) : z(q) {}
        int g() const { return z; }
        int operator()(int a) { return a + z; }
    };
    return c(3).g() + c(4)(5);
}

TEST(amp_and_cpu_code_call_their_own_overloads) {
    std::vector<int> v(8);
    array_view<int> a(8, v);
    parallel_for_each(
        vulkan_view(), a.extent, [=](index<1>) restrict(amp) {
            a[0] = both();
            a[1] = implicit();
            a[2] = conv();
            loc(a[3]);
            loc2(a[4]);
            a[5] = loc3();
            int n = 0;
            a[6] = k(n) * 10 + k2(n);
            struct in {
                int m() { return 7; }
            };
            a[7] = in().m();
        });
    const std::vector<int> expected = {111111111, 1111, 1, 1, 4, 12, 11, 7};
    a.synchronize();
    CHECK(v == expected);
    int n = 0, x = 0;
    loc(x);
    CHECK(both() == 222222222 && implicit() == 2222 && conv() == 2 && k(n) * 10 + k2(n) == 22 && x == 1);
}

// Template arguments of kernels. They have internal linkage, or one of the compiler's passes treats them as internal.
int squared(int x) restrict(amp) {
    return x * x;
}
static int internal_linkage(int x) restrict(amp) {
    return 2 * x;
}
static const int constant = 50;
namespace {
int unnamed(int x) restrict(amp, cpu) {
    return 3 * x;
}
} // namespace
namespace names {
int within(int x) restrict(amp) {
    return 4 * x;
}
inline auto lambda() restrict(amp, cpu) {
    return [](int x) restrict(amp, cpu) {
        return 5 * x;
    };
}
} // namespace names
static auto local_class() restrict(amp, cpu) {
    struct six {
        int operator()(int x) const restrict(amp, cpu) { return 6 * x; }
    };
    return six();
}
template <class T> static T template_function(T x) restrict(amp, cpu) {
    return 7 * x;
}
template <int (*F)(int)> struct mapped {
    array_view<int> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = F(i[0]); }
};
template <class K> int element_3_of(const K &kernel) {
    parallel_for_each(vulkan_view(), kernel.v.extent, kernel);
    return kernel.v[3];
}
template <class F> int apply_to_3(F f) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = f(i[0]); });
    return view[3];
}
template <const int *P> int add_constant_at_pointer() {
    return apply_to_3([](int x) restrict(amp) { return *P + x; });
}

TEST(functions_as_template_arguments_of_kernels) {
    std::vector<int> v(4);
    const array_view<int> view(v);
    CHECK(element_3_of(mapped<squared>{view}) == 9);
    CHECK(element_3_of(mapped<internal_linkage>{view}) == 6);
    CHECK(element_3_of(mapped<unnamed>{view}) == 9);
    CHECK(element_3_of(mapped<names::within>{view}) == 12);
    CHECK(apply_to_3(names::lambda()) == 15);
    CHECK(apply_to_3(local_class()) == 18);
    CHECK(element_3_of(mapped<template_function<int>>{view}) == 21);
    CHECK(add_constant_at_pointer<&constant>() == 53);
}

// Candidates that are found by argument-dependent lookup, in a base class, or in a library.
namespace geometry {
struct point {
    int x;
};
inline int norm(const point &) {
    return 2;
}
} // namespace geometry
namespace kernels {
inline int norm(geometry::point) restrict(amp) {
    return 1;
}
struct functor {
    array_view<int> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = norm(geometry::point{i[0]}); }
};
} // namespace kernels
struct host_only {
    int get(int) const { return 2; }
    int get(double) const { return 3; }
};
struct host_and_amp : host_only {
    using host_only::get;
    int get(float) const restrict(amp) { return 1; }
};
float abs(float x) restrict(amp) {
    return x < 0 ? 100 - x : x;
}

TEST(overloads_found_by_adl_in_base_classes_and_libraries) {
    std::vector<int> v(8);
    array_view<int> view(v);
    parallel_for_each(vulkan_view(), view.extent, kernels::functor{view});
    CHECK(view[3] == 1 && norm(geometry::point()) == 2);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            int n = i[0];
            view[i] =
                host_and_amp().get(n) + 10 * library::pick(n) + 10 * library::tag().go(1.0f) + int(abs(-2)) * 1000;
        });
    int n = 0;
    CHECK(view[3] == 102111 && host_and_amp().get(1) == 2 && host_and_amp().get(1.0) == 3 && library::pick(n) == 2 &&
          abs(-2) == 2);
}

// In a source that overloads by restriction, host code can still move objects of move-only classes. Amp code cannot.
struct move_only {
    std::unique_ptr<int> p = std::make_unique<int>(3);
    move_only() {}
    move_only(const move_only &) = delete;
    move_only(move_only &&other) noexcept : p(std::move(other.p)) {}
};
struct owner {
    move_only m;
    owner() {}
    owner(owner &&) = default;
};
static_assert(std::is_move_constructible_v<owner> && std::is_move_constructible_v<std::unique_ptr<int>>);

TEST(host_code_moves_move_only_objects) {
    std::vector<owner> owners(2);
    owners.emplace_back();
    std::map<int, std::unique_ptr<int>> map;
    map[1] = std::move(owners[2].m.p);
    std::thread([&] { owners.pop_back(); }).join();
    CHECK(*map[1] == 3 && owners.size() == 2);
    // The base class of `derived` has an amp copy constructor and a cpu copy constructor.
    std::vector<derived> sorted(40);
    for (int n = 0; n < 40; ++n)
        sorted[n].x = 39 - n;
    std::sort(sorted.begin(), sorted.end(), [](const derived &a, const derived &b) { return a.x < b.x; });
    CHECK(sorted[7].x == 7);
}

template <class T> T twice(T x) restrict(amp, cpu) {
    return x + x;
}
template int twice<int>(int) restrict(amp, cpu);
template <> float twice<float>(float x) restrict(amp, cpu) {
    return x + x + 1;
}
template <class T> int only(T) restrict(amp) {
    return 1;
}
template int only<int>(int) restrict(amp);
template <class T> int only(T) {
    return 2;
}
template int only<int>(int);
struct adds {
    int &to, n;
    adds(int &t, int m) restrict(amp) : to(t), n(m) {}
    adds(int &t, int m) : to(t), n(-m) {}
    ~adds() restrict(amp, cpu) { to += n; }
};
template <class T> struct nested {
    T a;
    T go(T x) const restrict(amp) {
        struct first {
            T v;
            first(T q) : v(q) {}
            T twice() const { return v + v; }
        };
        struct second : first {
            second(T q) : first(q) {}
            T plus(T u) const { return u + this->twice(); }
            operator T() const { return this->v; }
        };
        second s(x);
        return s.plus(a) + T(s);
    }
};

TEST(instantiations_destructors_and_local_classes) {
    std::vector<int> v(8);
    array_view<int> view(v);
    const nested<int> n = {5};
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            int sum = 0;
            { adds a(sum, i[0]); }
            view[i] = sum + 10 * twice(2) + 100 * int(twice(1.0f)) + 1000 * only(1) + 10000 * n.go(1);
        });
    int sum = 0;
    { adds a(sum, 3); }
    CHECK(view[3] == 81343 && sum == -3 && only(1) == 2);
}

// Members of a class template. Explicit specializations replace only the amp overload, or both overloads.
template <class T> struct overloaded_members {
    int get() const restrict(amp);
    int get() const { return 2; }
    overloaded_members operator+(T) restrict(amp) { return *this; }
    overloaded_members operator+(T) restrict(cpu) { return *this; }
    static int made() restrict(amp) { return 10; }
    static int made() restrict(cpu) { return 20; }
    int value = 0;
};
template <class T> int overloaded_members<T>::get() const restrict(amp) {
    return 1;
}
template <> int overloaded_members<int>::get() const restrict(amp) {
    return 3;
}
template <> int overloaded_members<int>::get() const {
    return 4;
}
template <> overloaded_members<int> overloaded_members<int>::operator+(int x) restrict(amp) {
    value += x;
    return *this;
}
template <> overloaded_members<int> overloaded_members<int>::operator+(int x) restrict(cpu) {
    value -= x;
    return *this;
}
template <> int overloaded_members<char>::made() restrict(amp) {
    return 30;
}
template <class T> int call_members(T x) restrict(amp, cpu) {
    overloaded_members<T> s;
    return s.get() + s.made() + 100 * (s + x).value;
}

TEST(members_are_specialized_for_one_restriction) {
    std::vector<int> v(3);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            view[i] = i[0] == 0 ? call_members(5) : i[0] == 1 ? call_members(5.0f) : call_members(char(5));
        });
    CHECK(view[0] == 513 && view[1] == 11 && view[2] == 31);
    CHECK(call_members(5) == -476 && call_members(5.0f) == 22 && call_members(char(5)) == 22);
}

// Default and copy constructors of `default_args` have default arguments, those of `variadic` have a parameter pack.
// A partial specialization has a member of the first type, and a class derived from it has one of the second type.
struct default_args {
    int n;
    default_args(int x = 3) restrict(amp) : n(x) {}
    default_args(int x = 4) restrict(cpu) : n(x) {}
    default_args(const default_args &o, int more = 10) restrict(amp) : n(o.n + more) {}
    default_args(const default_args &o, int more = 20) restrict(cpu) : n(o.n + more) {}
};
template <class T, int N> struct several { int n; };
template <class T> struct several<T, 2> {
    default_args m;
    int k = 1;
};
struct variadic {
    int n;
    template <class... T> variadic(T...) restrict(amp) : n(100) {}
    template <class... T> variadic(T...) restrict(cpu) : n(200) {}
};
struct holds_several : several<int, 2> {
    variadic a;
};
int construct_and_copy() restrict(amp) {
    holds_several x;
    holds_several y(x);
    return y.m.n + y.k + y.a.n;
}
int construct_and_copy() {
    holds_several x;
    holds_several y(x);
    return y.m.n + y.k + y.a.n;
}

TEST(implicit_members_follow_default_arguments) {
    std::vector<int> v(1);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = construct_and_copy(); });
    CHECK(view[0] == 114 && construct_and_copy() == 225);
}

// decltype, sizeof and auto see the overload that the surrounding code would call.
float overloaded_result(int) restrict(amp) {
    return 1.5f;
}
double overloaded_result(int) {
    return 1.5;
}
#define SIZES                                                                                                          \
    decltype(overloaded_result(1)) x = 0;                                                                              \
    auto y = overloaded_result(1);                                                                                     \
    return int(sizeof(x) + 10 * sizeof(y) + 100 * sizeof(overloaded_result(1)) +                                       \
               1000 * sizeof(decltype(overloaded_result(1) + 1.0f)))
int sizes() restrict(amp) {
    SIZES;
}
int sizes() {
    SIZES;
}
// Conversion functions to different types, and members of a partial specialization, defined in the class or after it.
struct converted {
    operator float() const restrict(amp) { return 1; }
    operator int() const { return 2; }
};
template <class T> struct partial {};
template <class T> struct __declspec(align(16)) partial<T *> {
    struct inner {
        int f(const T &) const restrict(amp);
        int f(T &) const;
    };
    operator float() const restrict(amp) { return 1; }
    operator T() const { return 2; }
    template <class U> int m(const U &) restrict(amp);
    template <class U> int m(U &);
    friend int of(const partial &, const T &) restrict(amp) { return 1; }
    friend int of(const partial &, T &) { return 2; }
};
template <class T> int partial<T *>::inner::f(const T &) const restrict(amp) {
    return 1;
}
template <class T> int partial<T *>::inner::f(T &) const {
    return 2;
}
template <class T> template <class U> int partial<T *>::m(const U &) restrict(amp) {
    return 1;
}
template <class T> template <class U> int partial<T *>::m(U &) {
    return 2;
}
#define MEMBERS                                                                                                        \
    int n = 0, c = converted(), d = partial<int *>();                                                                  \
    return c + 10 * d + 100 * partial<int *>().m(n) + 1000 * partial<int *>::inner().f(n) +                            \
           10000 * of(partial<int *>(), n)
int members() restrict(amp) {
    MEMBERS;
}
int members() {
    MEMBERS;
}

TEST(decltype_conversions_and_partial_specializations) {
    std::vector<int> v(2);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0] ? members() : sizes(); });
    CHECK(view[0] == 4444 && sizes() == 8888);
    CHECK(view[1] == 11111 && members() == 22222);
}

#if __cplusplus >= 202002L
// Constraints after a restriction, and a comparison operator that is defaulted outside of its class. The operator is a
// cpu function, because its declaration has no restriction.
template <class T>
requires(sizeof(T) == 4) && std::is_integral_v<T> T constrained(T x) restrict(amp) requires(T(1) > T(0)) {
    return x + 1;
}
struct sized {
    template <class T> int get(T) const noexcept restrict(amp, cpu) requires(sizeof(T) == 8) { return 8; }
    template <class T> int get(T) const restrict(amp, cpu) { return 1; }
    bool operator==(const sized &) const;
};
bool sized::operator==(const sized &) const = default;
#endif

TEST(constraints_may_follow_restrictions) {
#if __cplusplus >= 202002L
    std::vector<int> v(1);
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            view[i] = constrained(4) + 10 * sized().get(1) + 100 * sized().get(1.0);
        });
    CHECK(view[0] == 815 && sized() == sized());
#else
    SKIP("C++17 has no constraints");
#endif
}

// strict_utility.cpp, a source without launches, defines this function.
int utility_result();
TEST(sources_without_launches_may_overload_by_restriction) {
    CHECK(utility_result() == 2);
}

// In a source that overloads by restriction, amp code can still call functions of the standard library.
TEST(standard_absolute_values) {
    std::vector<int> v{-1, 2, -3, 4};
    array_view<int> view(v);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) {
            const long wide = -5;
            view[i] = std::abs(view[i]) + 10 * int(std::abs(wide)) + 100 * int(std::abs(-1.5f) * 2) + 1000 * which();
        });
    CHECK(view[0] == 2351 && view[2] == 2353);
}

TEST(kernels_on_host_threads_call_the_amp_overload) {
    std::vector<int> v(4);
    array_view<int> view(v);
    parallel_for_each(
        accelerator(accelerator::direct3d_warp).default_view,
        view.extent, [=](index<1> i) restrict(amp) { view[i] = which(); });
    CHECK(view[3] == 2 && which() == 1);
}

CHECK_MAIN
