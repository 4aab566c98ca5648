#include <amp.h>
#include <amp_math.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <typeinfo>
#include <vector>
#include "messages.hpp"
using namespace concurrency;
namespace of_helper {
float scale(float x) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = scale(v[i]); //!
    });
}
}
namespace of_helper_cpu {
float scale(float x) restrict(cpu) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = scale(v[i]); //!
    });
}
}
namespace of_std_function {
void run(array_view<float> v) {
    std::function<float(float)> f = [](float x) { return x; };
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = f(v[i]);
    });
}
}
namespace of_by_reference_all {
void run(array_view<float> v) {
    float factor = 2;
    parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        v[i] = factor;
    });
}
}
namespace of_by_reference_one {
void run(array_view<float> v) {
    float factor = 2;
    parallel_for_each(v.extent, [=, &factor](index<1> i) restrict(amp) { //!
        v[i] = factor;
    });
}
}
namespace of_this_capture {
struct filter { float factor; void go(array_view<float> v) {
        parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
            v[i] = factor;
        });
    } };
}
namespace of_vector_capture {
void run(array_view<float> v) {
    std::vector<float> d(10);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = d[i[0]];
    });
}
}
namespace of_vector_reference {
void run(array_view<float> v) {
    std::vector<float> d(10);
    parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        d[i[0]] = 1;
    });
}
}
namespace of_rand {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(rand()); //!
    });
}
}
namespace of_printf {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        printf("%d\n", i[0]); //!
    });
}
}
namespace of_global {
int counter = 0;
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        counter = counter + 1; //!
    });
}
}
namespace of_virtual_call {
struct shape { float r; virtual float area() const { return r; } };
void run(array_view<float> v) {
    shape s;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = s.area();
    });
}
}
namespace of_virtual_amp {
struct shape { float r; virtual float area() const restrict(amp) { return r; } }; //!
}
namespace of_wrong_rank {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<2> i) restrict(amp) { //!
        v[i[0]] = 1;
    });
}
}
namespace of_wrong_rank_view {
void run(array_view<float> v) {
    array_view<float, 2> m(2, 2, v.data());
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        m[i] = 1; //!
    });
}
}
namespace of_wrong_tiled {
void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<16>(), [=](tiled_index<8> t) restrict(amp) { //!
        v[t] = 1;
    });
}
}
namespace of_no_restrict {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) { //!
        v[i] = 1;
    });
}
}
namespace of_cpu_lambda {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(cpu) { //!
        v[i] = 1;
    });
}
}
namespace of_functor_no_restrict {
struct fill { array_view<float> v; void operator()(index<1> i) const { v[i] = 1; } };
void run(array_view<float> v) {
    parallel_for_each(v.extent, fill{v}); //!
}
}
namespace of_inner_lambda_cpu {
void run(array_view<float> v) {
    auto g = [](float x) { return x; };
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = g(v[i]); //!
    });
}
}
namespace of_recursion {
int fact(int n) restrict(amp) { return n < 2 ? 1 : n * fact(n - 1); } //!
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(fact(3));
    });
}
}
namespace of_throw {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        if (v[i] < 0) throw 1; //!
    });
}
}
namespace of_try {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        try { v[i] = 1; } catch (...) {} //!
    });
}
}
namespace of_new {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float *p = new float[4]; v[i] = p[0]; //!
    });
}
}
namespace of_static_local {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        static int n = 0; v[i] = float(++n); //!
    });
}
}
namespace of_goto {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        if (v[i] > 0) goto end; //!
        v[i] = 1;
        end:;
    });
}
}
namespace of_function_pointer {
float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    float (*p)(float) = nullptr;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = p(v[i]);
    });
}
}
namespace of_function_pointer_local {
float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float (*p)(float) = twice; v[i] = p(v[i]); //!
    });
}
}
namespace of_char_elements {
void run(array_view<float> v) {
    std::vector<char> d(10); array_view<char> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 'a';
    });
}
}
namespace of_short_elements {
void run(array_view<float> v) {
    std::vector<short> d(10); array_view<short> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 1;
    });
}
}
namespace of_bool_elements {
void run(array_view<float> v) {
    bool d[10]; array_view<bool> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = true;
    });
}
}
namespace of_pointer_pointer {
void run(array_view<float> v) {
    float **p = nullptr;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = **p;
    });
}
}
namespace of_raw_pointer {
void run(array_view<float> v) {
    float *p = new float[10];
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = p[i[0]];
    });
}
}
namespace of_array_by_value {
void run(array_view<float> v) {
    array<float> a(10);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = a[i];
    });
}
}
namespace of_const_view {
void run(array_view<float> v) {
    array_view<const float> c(v);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 1; //!
    });
}
}
namespace of_long_double {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        long double d = v[i]; v[i] = float(d); //!
    });
}
}
namespace of_tile_size_zero {
void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<0>(), [=](tiled_index<0> t) restrict(amp) { //!
        v[t] = 1;
    });
}
}
namespace of_tile_too_large {
void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<2048>(), [=](tiled_index<2048> t) restrict(amp) { //!
        v[t] = 1;
    });
}
}
namespace of_dynamic_cast {
struct base { virtual ~base(); }; struct derived : base {};
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        base *p = nullptr; v[i] = dynamic_cast<derived *>(p) ? 1 : 0; //!
    });
}
}
namespace of_typeid {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = typeid(int) == typeid(float) ? 1 : 0; //!
    });
}
}
namespace of_asm {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        asm("nop"); v[i] = 1; //!
    });
}
}
namespace of_varargs {
float sum(int n, ...) restrict(amp) { return 1; } //!
}
namespace of_tile_static_host {
void run(array_view<float> v) {
    tile_static float t[16]; v[0] = t[0]; //!
}
}
namespace of_barrier_untiled {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        i.barrier.wait(); v[i] = 1; //!
    });
}
}
namespace of_barrier_host {
void f(tile_barrier b) { b.wait(); } //!
}
namespace of_string {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        std::string s; v[i] = 1; //!
    });
}
}
namespace of_delete {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float *p = nullptr; delete p; //!
    });
}
}
namespace of_cout {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        std::cout << v[i]; //!
    });
}
}
namespace of_return_value {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        return v[i];
    });
}
}
namespace of_amp_from_cpu {
float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    v[0] = twice(1); //!
}
}
namespace of_member_host {
struct point { float x; float length() const { return x; } };
void run(array_view<float> v) {
    point p{1};
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = p.length(); //!
    });
}
}
namespace of_constructor_host {
struct point { float x; point(float a) : x(a) {} };
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        point p(v[i]); v[i] = p.x; //!
    });
}
}
namespace of_operator_host {
struct point { float x; }; point operator+(point a, point b) { return {a.x + b.x}; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        point a, b; v[i] = (a + b).x; //!
    });
}
}
namespace of_template_helper {
template <class T> T larger(T a, T b) { return a > b ? a : b; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = larger(v[i], 1.0f); //!
    });
}
}
namespace of_comparison {
struct inner { int x; bool operator==(const inner &o) const { return x == o.x; } }; struct outer { inner i; bool operator==(const outer &) const = default; }; //!
void run(array_view<float> v) {
    outer a{}, b{};
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = a == b ? 1 : 0;
    });
}
}
namespace of_synchronize {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v.synchronize(); //!
    });
}
}
namespace of_host_class {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        accelerator a; v[i] = 1; //!
    });
}
}
namespace of_nested_pfe {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        parallel_for_each(v.extent, [=](index<1> j) restrict(amp) { v[j] = 1; }); //!
    });
}
}
namespace of_extent_int {
void run(array_view<float> v) {
    parallel_for_each(10, [=](index<1> i) restrict(amp) { //!
        v[i] = 1;
    });
}
}
namespace of_c_array_ref {
void run(array_view<float> v) {
    float d[10]; parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        v[i] = d[i[0]];
    });
}
}
namespace of_virtual_call_by_reference {
struct shape { float r; virtual float area() const { return r; } };
float area_of(const shape &s) restrict(amp) { return s.area(); } //!
}
namespace of_defaulted_beside_a_call {
struct inner { float x; float get() const { return x; } };
struct outer { outer() = default; float f(inner &i) const restrict(amp) { return i.get(); } }; //!
}
namespace of_functor_of_two {
struct fill {
    array_view<float> v;
    void operator()(index<2> i) const restrict(amp) { v[i[0]] = 1; }
    void operator()(index<3> i) const restrict(amp) { v[i[0]] = 1; }
};
void run(array_view<float> v) {
    parallel_for_each(v.extent, fill{v}); //!
}
}
namespace of_bessel {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(::j0(double(v[i]))); //!
    });
}
}
namespace of_sqrt_of_double {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(::sqrt(double(v[i]))); //!
    });
}
}
namespace of_snprintf {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        char text[4]; snprintf(text, 4, "1"); //!
    });
}
}
namespace of_sqrtf {
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = ::sqrtf(v[i]); //!
    });
}
}
