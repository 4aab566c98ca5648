#!/usr/bin/env python3
"""Compiles programs with typical beginners' errors, and compares the compiler's messages, word by word, with the tables in this file.
usage: messages.py FOLDER COMMAND...; messages.py --page writes the table messages.md
Each program must cause exactly one message: an error with the text of the table, at the program's line with `//!`. All programs of a table
are compiled as one source, each in its own namespace. Other tables have the programs that only -famp-strict refuses, and those with warnings."""
import json
import pathlib
import re
import subprocess
import sys

PROLOGUE = """#include <amp.h>
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
"""

# Errors in the program's header are reported at the lines of the header.
HEADER = """#pragma once
#include <amp.h>
inline float of_the_host(float x) { return x; }
inline float calls_it(float x) restrict(amp) {
    return of_the_host(x); //!
}
template <class T> void captures(concurrency::array_view<T> v) {
    T n = 2;
    parallel_for_each(v.extent, [&](concurrency::index<1> i) restrict(amp) { //!
        v[i] = n;
    });
}
template <class T> void other_rank(concurrency::array_view<T> v) {
    parallel_for_each(v.extent, [=](concurrency::index<2> i) restrict(amp) { //!
        v[i[0]] = 1;
    });
}
inline void generic_of_two(concurrency::array_view<float> v) {
    parallel_for_each(v.extent, [=](auto i, auto j) restrict(amp) { //!
        v[i] = j;
    });
}
struct held {
    int n(concurrency::array_view<unsigned char> *p) { return p->extent[0]; } //!
};
inline void instantiates(concurrency::array_view<float> v) {
    captures(v);
    other_rank(v);
}
"""
HEADER_MESSAGES = [
    "'of_the_host' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'of_the_host'",
    "'v' ('concurrency::array_view<float> &') and 'n' ('float &') are captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of array and texture; capture them by value, or use array_views",
    "the kernel takes 'index<2>', but a launch over 'extent<1>' passes 'index<1>': change the parameter of operator() to this type",
    "no matching function for call to object of type '(lambda at messages.hpp:19:33)'",
    "the elements of an array or array_view must not be char, short or bool: their size must be a multiple of 4 bytes",
]

PROGRAMS = {
    "helper": (
        r"""float scale(float x) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = scale(v[i]); //!
    });
}
""",
        "'scale' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'scale'",
    ),
    "helper_cpu": (
        r"""float scale(float x) restrict(cpu) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = scale(v[i]); //!
    });
}
""",
        "'scale' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'scale'",
    ),
    "std_function": (
        r"""void run(array_view<float> v) {
    std::function<float(float)> f = [](float x) { return x; };
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = f(v[i]);
    });
}
""",
        "'f' is captured, and a 'std::function' keeps its callable in host memory: variable captured has an unsupported type in lambda that is amp restricted (C3596); capture the lambda or the functor itself, in a variable of type 'auto'",
    ),
    "by_reference_all": (
        r"""void run(array_view<float> v) {
    float factor = 2;
    parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        v[i] = factor;
    });
}
""",
        "'v' ('array_view<float> &') and 'factor' ('float &') are captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of array and texture; capture them by value, or use array_views",
    ),
    "by_reference_one": (
        r"""void run(array_view<float> v) {
    float factor = 2;
    parallel_for_each(v.extent, [=, &factor](index<1> i) restrict(amp) { //!
        v[i] = factor;
    });
}
""",
        "'factor' ('float &') is captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of array and texture; capture it by value, or use an array_view",
    ),
    "this_capture": (
        r"""struct filter { float factor; void go(array_view<float> v) {
        parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
            v[i] = factor;
        });
    } };
""",
        "'this' is captured: by-reference capture or 'this' capture is unsupported if the lambda is amp restricted (C3590); copy the members that the kernel needs into local variables",
    ),
    "vector_capture": (
        r"""void run(array_view<float> v) {
    std::vector<float> d(10);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = d[i[0]];
    });
}
""",
        "'d' is captured, and a 'std::vector' keeps its elements in host memory: variable captured has an unsupported type in lambda that is amp restricted (C3596); write array_view<T> view(size, vector) in cpu code, and capture the view by value",
    ),
    "vector_reference": (
        r"""void run(array_view<float> v) {
    std::vector<float> d(10);
    parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        d[i[0]] = 1;
    });
}
""",
        "'d' ('std::vector<float> &') is captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of array and texture; a 'std::vector' keeps its elements in host memory: write array_view<T> view(size, vector) in cpu code, and capture the view by value",
    ),
    "rand": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(rand()); //!
    });
}
""",
        "'rand' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); it belongs to a library of the host: write a function of your own that is restrict(amp, cpu)",
    ),
    "printf": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        printf("%d\n", i[0]); //!
    });
}
""",
        "'printf' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write direct3d_printf",
    ),
    "global": (
        r"""int counter = 0;
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        counter = counter + 1; //!
    });
}
""",
        "'counter': a global variable that is not a constant is not allowed in amp restricted code (C++ AMP, 2.4.3); copy it into a local variable that the kernel captures, or pass it as an argument",
    ),
    "virtual_call": (
        r"""struct shape { float r; virtual float area() const { return r; } };
void run(array_view<float> v) {
    shape s;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = s.area();
    });
}
""",
        "'s' is captured, and '@::shape' has virtual functions: variable captured has an unsupported type in lambda that is amp restricted (C3596); use a class that holds only the data",
    ),
    "virtual_amp": (
        r"""struct shape { float r; virtual float area() const restrict(amp) { return r; } }; //!
""",
        "'area' is virtual: virtual functions cannot be restrict(amp) (C++ AMP, 2.4.2); write a template",
    ),
    "wrong_rank": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<2> i) restrict(amp) { //!
        v[i[0]] = 1;
    });
}
""",
        "the kernel takes 'index<2>', but a launch over 'extent<1>' passes 'index<1>': change the parameter of operator() to this type",
    ),
    "wrong_rank_view": (
        r"""void run(array_view<float> v) {
    array_view<float, 2> m(2, 2, v.data());
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        m[i] = 1; //!
    });
}
""",
        "no viable overloaded operator[] for type 'const array_view<float, 2>': no known conversion from 'index<1>' to 'const index<2>' for 1st argument",
    ),
    "wrong_tiled": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<16>(), [=](tiled_index<8> t) restrict(amp) { //!
        v[t] = 1;
    });
}
""",
        "the kernel takes 'tiled_index<8>', but a launch over 'tiled_extent<16>' passes 'tiled_index<16>': change the parameter of operator() to this type",
    ),
    "no_restrict": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) { //!
        v[i] = 1;
    });
}
""",
        'the kernel is a cpu function: write restrict(amp) after the parameters of the lambda (C3930)',
    ),
    "cpu_lambda": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(cpu) { //!
        v[i] = 1;
    });
}
""",
        'the kernel is a cpu function: write restrict(amp) after the parameters of the lambda (C3930)',
    ),
    "functor_no_restrict": (
        r"""struct fill { array_view<float> v; void operator()(index<1> i) const { v[i] = 1; } };
void run(array_view<float> v) {
    parallel_for_each(v.extent, fill{v}); //!
}
""",
        "the kernel is a cpu function: write restrict(amp) after the parameters of 'operator()' (C3930)",
    ),
    "inner_lambda_cpu": (
        r"""void run(array_view<float> v) {
    auto g = [](float x) { return x; };
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = g(v[i]); //!
    });
}
""",
        "'operator()' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'operator()'",
    ),
    "recursion": (
        r"""int fact(int n) restrict(amp) { return n < 2 ? 1 : n * fact(n - 1); } //!
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(fact(3));
    });
}
""",
        "'fact': recursion is not allowed in amp restricted code (C++ AMP, 2.4.3); write a loop",
    ),
    "throw": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        if (v[i] < 0) throw 1; //!
    });
}
""",
        "'throw' is not allowed in amp restricted code (C++ AMP, 2.4.3); store an error code that cpu code reads",
    ),
    "try": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        try { v[i] = 1; } catch (...) {} //!
    });
}
""",
        "'try' is not allowed in amp restricted code (C++ AMP, 2.4.3); nothing in amp code throws",
    ),
    "new": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float *p = new float[4]; v[i] = p[0]; //!
    });
}
""",
        "'new' is not allowed in amp restricted code (C++ AMP, 2.4.3); use a local array of constant length, or an array_view",
    ),
    "static_local": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        static int n = 0; v[i] = float(++n); //!
    });
}
""",
        "'n': a static, thread_local or extern variable is not allowed in amp restricted code (C++ AMP, 2.4.3); store the value in an array_view",
    ),
    "goto": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        if (v[i] > 0) goto end; //!
        v[i] = 1;
        end:;
    });
}
""",
        "'goto' is not allowed in amp restricted code (C++ AMP, 2.4.3); write a loop, 'break' or 'return'",
    ),
    "function_pointer": (
        r"""float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    float (*p)(float) = nullptr;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = p(v[i]);
    });
}
""",
        "'p' is captured and is a pointer ('float (*)(float)'): variable captured has an unsupported type in lambda that is amp restricted (C3596); pass a lambda or a functor to a template",
    ),
    "function_pointer_local": (
        r"""float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float (*p)(float) = twice; v[i] = p(v[i]); //!
    });
}
""",
        "the variable 'p': 'float (*)(float)' is a pointer to a function, which amp code cannot keep: pass a lambda or a functor to a template (C3581)",
    ),
    "char_elements": (
        r"""void run(array_view<float> v) {
    std::vector<char> d(10); array_view<char> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 'a';
    });
}
""",
        'the elements of an array or array_view must not be char, short or bool: their size must be a multiple of 4 bytes',
    ),
    "short_elements": (
        r"""void run(array_view<float> v) {
    std::vector<short> d(10); array_view<short> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 1;
    });
}
""",
        'the elements of an array or array_view must not be char, short or bool: their size must be a multiple of 4 bytes',
    ),
    "bool_elements": (
        r"""void run(array_view<float> v) {
    bool d[10]; array_view<bool> c(10, d); //!
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = true;
    });
}
""",
        'the elements of an array or array_view must not be char, short or bool: their size must be a multiple of 4 bytes',
    ),
    "pointer_pointer": (
        r"""void run(array_view<float> v) {
    float **p = nullptr;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = **p;
    });
}
""",
        "'p' is captured and is a pointer ('float **'): variable captured has an unsupported type in lambda that is amp restricted (C3596); use an array_view",
    ),
    "raw_pointer": (
        r"""void run(array_view<float> v) {
    float *p = new float[10];
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = p[i[0]];
    });
}
""",
        "'p' is captured and is a pointer ('float *'): variable captured has an unsupported type in lambda that is amp restricted (C3596); use an array_view",
    ),
    "array_by_value": (
        r"""void run(array_view<float> v) {
    array<float> a(10);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = a[i];
    });
}
""",
        "'a' ('array<float>') is captured by value: capture it by reference ('&')",
    ),
    "const_view": (
        r"""void run(array_view<float> v) {
    array_view<const float> c(v);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        c[i] = 1; //!
    });
}
""",
        'the elements cannot be assigned to: write array_view<T> instead of array_view<const T>',
    ),
    "long_double": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        long double d = v[i]; v[i] = float(d); //!
    });
}
""",
        "the variable 'd': 'long double' is not a number type of amp code: write double (C3581)",
    ),
    "tile_size_zero": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<0>(), [=](tiled_index<0> t) restrict(amp) { //!
        v[t] = 1;
    });
}
""",
        'every dimension of a tile must be at least 1',
    ),
    "tile_too_large": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent.tile<2048>(), [=](tiled_index<2048> t) restrict(amp) { //!
        v[t] = 1;
    });
}
""",
        'a tile has at most 1024 threads',
    ),
    "dynamic_cast": (
        r"""struct base { virtual ~base(); }; struct derived : base {};
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        base *p = nullptr; v[i] = dynamic_cast<derived *>(p) ? 1 : 0; //!
    });
}
""",
        "'dynamic_cast' is not allowed in amp restricted code (C++ AMP, 2.4.3); write a template",
    ),
    "typeid": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = typeid(int) == typeid(float) ? 1 : 0; //!
    });
}
""",
        "'typeid' is not allowed in amp restricted code (C++ AMP, 2.4.3); write a template",
    ),
    "asm": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        asm("nop"); v[i] = 1; //!
    });
}
""",
        "'asm' is not allowed in amp restricted code (C++ AMP, 2.4.3); write it in C++",
    ),
    "varargs": (
        r"""float sum(int n, ...) restrict(amp) { return 1; } //!
""",
        "'sum' takes variable arguments, which amp functions cannot take: write a template",
    ),
    "tile_static_host": (
        r"""void run(array_view<float> v) {
    tile_static float t[16]; v[0] = t[0]; //!
}
""",
        "'t': tile_static variables exist in amp code only; put the variable into the kernel, or into a function that is restrict(amp)",
    ),
    "barrier_untiled": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        i.barrier.wait(); v[i] = 1; //!
    });
}
""",
        "no member named 'barrier' in 'Concurrency::index<1>': only tiled launches have tiles and barriers; launch over extent.tile<...>() with a tiled_index",
    ),
    "barrier_host": (
        r"""void f(tile_barrier b) { b.wait(); } //!
""",
        "'wait' is for amp code only, and cpu code calls it (C3930)",
    ),
    "string": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        std::string s; v[i] = 1; //!
    });
}
""",
        "the variable 's': a 'std::basic_string' keeps its elements in host memory: copy the elements into a vector, and capture an array_view over it by value (C3581)",
    ),
    "delete": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        float *p = nullptr; delete p; //!
    });
}
""",
        "'delete' is not allowed in amp restricted code (C++ AMP, 2.4.3); amp code allocates no memory",
    ),
    "cout": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        std::cout << v[i]; //!
    });
}
""",
        "'cout': a global variable that is not a constant is not allowed in amp restricted code (C++ AMP, 2.4.3); write direct3d_printf",
    ),
    "return_value": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        return v[i];
    });
}
""",
        'the kernel of a parallel_for_each must return void',
    ),
    "amp_from_cpu": (
        r"""float twice(float x) restrict(amp) { return 2 * x; }
void run(array_view<float> v) {
    v[0] = twice(1); //!
}
""",
        "'twice' is an amp function, and cpu code calls it (C3930): write restrict(amp, cpu)",
    ),
    "member_host": (
        r"""struct point { float x; float length() const { return x; } };
void run(array_view<float> v) {
    point p{1};
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = p.length(); //!
    });
}
""",
        "'length' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'length'",
    ),
    "constructor_host": (
        r"""struct point { float x; point(float a) : x(a) {} };
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        point p(v[i]); v[i] = p.x; //!
    });
}
""",
        "'point' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'point'",
    ),
    "operator_host": (
        r"""struct point { float x; }; point operator+(point a, point b) { return {a.x + b.x}; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        point a, b; v[i] = (a + b).x; //!
    });
}
""",
        "'operator+' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'operator+'",
    ),
    "template_helper": (
        r"""template <class T> T larger(T a, T b) { return a > b ? a : b; }
void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = larger(v[i], 1.0f); //!
    });
}
""",
        "'larger' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'larger'",
    ),
    "comparison": (
        r"""struct inner { int x; bool operator==(const inner &o) const { return x == o.x; } }; struct outer { inner i; bool operator==(const outer &) const = default; }; //!
void run(array_view<float> v) {
    outer a{}, b{};
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = a == b ? 1 : 0;
    });
}
""",
        "the defaulted 'operator==' calls 'operator==' of 'inner', which is a cpu function (C3930); write restrict(amp, cpu) after the parameters of the cpu function",
    ),
    "synchronize": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v.synchronize(); //!
    });
}
""",
        "'synchronize' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); call it in cpu code",
    ),
    "host_class": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        accelerator a; v[i] = 1; //!
    });
}
""",
        "'accelerator' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); call it in cpu code",
    ),
    "nested_pfe": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        parallel_for_each(v.extent, [=](index<1> j) restrict(amp) { v[j] = 1; }); //!
    });
}
""",
        "'parallel_for_each' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); call it in cpu code",
    ),
    "extent_int": (
        r"""void run(array_view<float> v) {
    parallel_for_each(10, [=](index<1> i) restrict(amp) { //!
        v[i] = 1;
    });
}
""",
        "no matching function for call to 'parallel_for_each': could not match 'extent<N>' against 'int'",
    ),
    "c_array_ref": (
        r"""void run(array_view<float> v) {
    float d[10]; parallel_for_each(v.extent, [&](index<1> i) restrict(amp) { //!
        v[i] = d[i[0]];
    });
}
""",
        "'v' ('array_view<float> &') and 'd' ('float (&)[10]') are captured by reference: by-reference capture is unsupported if the lambda is amp restricted (C3590), except of array and texture; capture them by value, or use array_views",
    ),
    "virtual_call_by_reference": (
        r"""struct shape { float r; virtual float area() const { return r; } };
float area_of(const shape &s) restrict(amp) { return s.area(); } //!
""",
        "'area' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); virtual functions cannot be restrict(amp): pass the class to a template",
    ),
    "defaulted_beside_a_call": (
        r"""struct inner { float x; float get() const { return x; } };
struct outer { outer() = default; float f(inner &i) const restrict(amp) { return i.get(); } }; //!
""",
        "'get' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write restrict(amp, cpu) after the parameters of 'get'",
    ),
    "functor_of_two": (
        r"""struct fill {
    array_view<float> v;
    void operator()(index<2> i) const restrict(amp) { v[i[0]] = 1; }
    void operator()(index<3> i) const restrict(amp) { v[i[0]] = 1; }
};
void run(array_view<float> v) {
    parallel_for_each(v.extent, fill{v}); //!
}
""",
        "no matching function for call to object of type '@::fill'",
    ),
    "bessel": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(::j0(double(v[i]))); //!
    });
}
""",
        "'j0' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); it belongs to a library of the host: write a function of your own that is restrict(amp, cpu)",
    ),
    "sqrt_of_double": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = float(::sqrt(double(v[i]))); //!
    });
}
""",
        "'sqrt' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write concurrency::precise_math::sqrt (amp_math.h)",
    ),
    "snprintf": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        char text[4]; snprintf(text, 4, "1"); //!
    });
}
""",
        "'snprintf' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); it belongs to a library of the host: write a function of your own that is restrict(amp, cpu)",
    ),
    "sqrtf": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        v[i] = ::sqrtf(v[i]); //!
    });
}
""",
        "'sqrtf' is a cpu function, and amp code calls it: 'no overloaded function has restriction specifiers that are compatible with the ambient context' (C3930); write concurrency::fast_math::sqrtf or concurrency::precise_math::sqrtf (amp_math.h)",
    ),
}

# Programs that only -famp-strict refuses.
STRICT = {
    "char_strict": (
        r"""float f(char x) restrict(amp) { return x; } //!
""",
        "the parameter 'x': 'char' is not a number type of amp code: unsupported type in amp restricted code (C3581); allowed are int, unsigned, long, unsigned long, float, double, bool, and classes and arrays of them",
    ),
    "volatile_strict": (
        r"""void run(array_view<float> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
        volatile int n = 1; v[i] = float(n); //!
    });
}
""",
        "the variable 'n': 'volatile int' is volatile, which amp code does not support: unsupported type in amp restricted code (C3581); allowed are int, unsigned, long, unsigned long, float, double, bool, and classes and arrays of them",
    ),
}


# Programs that the warning options report.
WARNINGS = {
    "read_only": (
        r"""void run(array_view<float> in, array_view<const float> too, array_view<float> out) {
    parallel_for_each(out.extent, [=](index<1> i) restrict(amp) { //!
        if (in[i] > 0) out[i] = in[in.extent[0] - 1 - i[0]] + too[i];
    });
}
""",
        "the kernel only reads 'in': capture an array_view<const float>, which is not copied back [-Wamp-read-only]",
    ),
    "read_only_members": (
        r"""struct point { float x; float y[2]; float norm() const restrict(amp, cpu) { return x; } };
void run(const array_view<point, 2> &in, array_view<float> out) {
    parallel_for_each(out.extent, [=](index<1> i) restrict(amp) { //!
        const point &same = in[0][i[0]];
        point copy = in(0, 1);
        out[i] = in(i[0], 0).x + in[index<2>(0, 1)].y[1] + in(1, 1).norm() + same.x + copy.x;
    });
}
""",
        "the kernel only reads 'in': capture an array_view<const point, 2>, which is not copied back [-Wamp-read-only]",
    ),
    "unsynchronized": (
        r"""void run(std::vector<float> &data) {
    array_view<float> v(int(data.size()), data);
    v.discard_data();
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { //!
        v[i] = 1;
    });
}
""",
        "'v' is destroyed while this kernel's writes are pending, so errors of the copy back are lost: call v.synchronize() after the launch [-Wamp-unsynchronized]",
    ),
    "unsynchronized_pointer": (
        r"""void run(float *data, int count) {
    for (int n = 0; n < count; ++n) {
        array_view<float, 2> v(4, 4, data);
        parallel_for_each(v.extent, [=](index<2> i) restrict(amp) { v[i] += 1; });
        parallel_for_each(v.extent, [=](index<2> i) restrict(amp) { atomic_fetch_add(&v[i], 1.0f); });
        parallel_for_each(v.extent, [=](index<2> i) restrict(amp) { v(i[0], i[1]) = 2; v[i]++; }); //!
    }
}
""",
        "'v' is destroyed while this kernel's writes are pending, so errors of the copy back are lost: call v.synchronize() after the launch [-Wamp-unsynchronized]",
    ),
}

# Code that the warning options do not report.
SILENT = r"""
namespace silent {
struct base { int n; };
struct derived : base { void put() restrict(amp, cpu) { n = 1; } };
void pass(array_view<float> v) restrict(amp, cpu) { v[0] = 1; }
void change(float &x) restrict(amp, cpu) { x = 1; }
void written(array_view<float> a, array_view<derived> b, array_view<derived> c, array_view<float> d, array_view<float> e,
             array_view<int> f, array_view<float> g, array_view<float> h, array_view<float, 2> k) {
    parallel_for_each(a.extent, [=](index<1> i) restrict(amp) {
        float &x = a[i];
        x = 1;
        base &y = b[i];
        y.n = 1;
        c[i].put();
        array_view<float> same = d;
        same[i] = 1;
        e.data()[0] = 1;
        atomic_fetch_inc(&f[i]);
        pass(g);
        change(h[i]);
        k[0][i[0]] = 1;
    });
}
array_view<float> pending(std::vector<float> &data, float *more, bool some) {
    array_view<float> a(8, data), b(8, data), c(8, data), d(8, data), e(8, more), f(8, more), g(8, more), h(8, more), k(8, more);
    parallel_for_each(a.extent, [=](index<1> i) restrict(amp) {
        a[i] = 1, b[i] = 1, c[i] = 1, d[i] = 1, e[i] = 1, f[i] = 1, g[i] = 1, h[i] = 1;
        k[i] += 1;
    });
    a.synchronize();
    if (some) b.synchronize();
    data[0] = c[0];
    copy(d, data.begin());
    pass(e);
    f.discard_data();
    auto later = [=] { g.synchronize(); };
    array_view<float> other(h);
    later();
    return k;
}
void no_memory(std::vector<float> &data, array_view<float> given) {
    array<float> memory(8);
    array_view<float> a(8), b(memory), c(given), &d = given;
    parallel_for_each(a.extent, [=](index<1> i) restrict(amp) { a[i] = 1, b[i] = 1, c[i] = 1, d[i] = 1; });
}
template <class T> void of_a_template(std::vector<T> &data, array_view<T> in) {
    array_view<T> v(8, data);
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { v[i] = in[i]; });
}
void makes(std::vector<float> &data) { of_a_template<float>(data, array_view<float>(8, data)); }
}
"""


def marked_lines(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("//!")]


def check(folder, command, name, programs, header, header_messages, kind="error", silent=""):
    """Compiles the programs. Returns the differences from the expected messages, one line each."""
    source, header_file = folder / f"{name}.cpp", folder / "messages.hpp"
    text, wanted = PROLOGUE + silent, []
    header_file.write_text(header, encoding="utf-8")
    marks = marked_lines(header)
    assert len(marks) == len(header_messages), f"the header has {len(marks)} lines with //!"
    wanted += [("messages.hpp", number, said) for number, said in zip(marks, header_messages)]
    for program, (code, said) in programs.items():
        first = text.count("\n") + 1
        text += f"namespace of_{program} {{\n{code}}}\n"
        marks = marked_lines(code)
        assert len(marks) == 1, f"{program} has {len(marks)} lines with //!"
        wanted.append((source.name, first + marks[0], said.replace("@::", f"of_{program}::")))
    source.write_text(text, encoding="utf-8")
    ran = subprocess.run([*command, "-std=c++20", "-O1", "-c", "-o", folder / "messages.o", source], capture_output=True, text=True)
    lines = re.findall(r"^(?:.*/)?([^/:]+):(\d+):\d+: (\w+): (.*)$", ran.stderr, re.M)
    said = [(file, int(number), message.replace(f"{folder}/", "")) for file, number, severity, message in lines if severity == kind]
    differences = [f"missing: {one}" for one in wanted if one not in said]
    differences += [f"not expected: {one}" for one in said if one not in wanted]
    differences += [f"a note: {one}" for one in lines if one[2] != kind]
    if len(said) != len(wanted) or (ran.returncode == 0) != (kind == "warning"):
        differences.append(f"{len(said)} of {len(wanted)} messages; the compiler ended with {ran.returncode}: {ran.stderr[-300:] if not said else ''}")
    print(f"{name}: {len(programs)} programs")
    return differences


BEFORE_TEXTS = pathlib.Path(__file__).with_name("messages_before.json")
PAGE = pathlib.Path(__file__).with_name("messages.md")


def page():
    """The page messages.md: a table of the programs, with their messages at commit a61f82b and now."""
    before = json.loads(BEFORE_TEXTS.read_text(encoding="utf-8"))

    def cell(text):
        return text.replace("|", "\\|").replace("<", "&lt;").replace("@::", "")

    lines = [
        "# Messages",
        "",
        "Messages of the kernel compiler for typical errors. `tests/kernels/messages.py --page` generates this page from its programs, and tests their",
        "messages word by word. The column *before* has the messages at commit a61f82b. The last column has MSVC's number for the error, if it is known.",
        "",
        "| program | its line | before | now | MSVC |",
        "| --- | --- | --- | --- | --- |",
    ]
    for program, (code, said) in {**PROGRAMS, **STRICT, **WARNINGS}.items():
        line = next(line for line in code.splitlines() if line.endswith("//!"))[:-3].strip()
        number = re.search(r"C\d{4}", said)
        # Commit a61f82b had none of these warnings.
        old = "nothing" if program in WARNINGS else cell(before[program])
        lines.append(f"| {program} | `{line.replace('|', chr(92) + '|')}` | {old} | {cell(said)} | {number[0] if number else ''} |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1] == "--page":
        PAGE.write_text(page(), encoding="utf-8")
        return
    folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    differences = check(folder, command, "messages", PROGRAMS, HEADER, HEADER_MESSAGES)
    differences += check(folder, [*command, "-famp-strict"], "messages_strict", STRICT, "", [])
    options = ["-Wamp-read-only", "-Wamp-unsynchronized"]
    differences += check(folder, [*command, *options], "messages_warnings", WARNINGS, "", [], "warning", SILENT)
    differences += check(folder, [*command, *options, "-Werror"], "messages_werror", {p: (c, t.replace("[-W", "[-Werror,-W")) for p, (c, t) in WARNINGS.items()}, "", [])
    if PAGE.read_text(encoding="utf-8") != page():
        differences.append(f"{PAGE.name} is out of date: run messages.py --page")
    print("\n".join(differences) or "all as expected")
    sys.exit(1 if differences else 0)


main()
