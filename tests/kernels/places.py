#!/usr/bin/env python3
"""Writes a C++ source that tests statements in all syntactic contexts of amp code. C++ AMP forbids most of the statements and allows some.
Each pair of a statement and a context is one line. A comment on the line gives the expected error, as in forbidden.cpp (tests/verify.py)."""

PROLOGUE = """#include <amp.h>
#include <cassert>
#include <cstdlib>
#include <typeinfo>
using namespace concurrency;
inline int host(int x) { return x + 1; }
inline int host_too(int x) restrict(cpu) { return x + 1; }
struct of_host { int m; of_host() : m(1) {} of_host(int y) : m(y) {} static int made() { return 1; } ~of_host() {} };
struct base { virtual ~base(); };
struct derived : base {};
inline int amp(int x) restrict(amp, cpu) { return x; }
struct of_data { int m; int f() restrict(amp, cpu) { return m; } };
struct with_virtual { int m; with_virtual() restrict(amp, cpu) {} virtual int f() { return m; } }; // strict: it has virtual functions
int global = 1;
extern int elsewhere;"""

# Contexts for a statement that uses an int x: restrict(amp, cpu) code (BOTH) and restrict(amp) code (AMP). In AMP, Clang rejects more statements.
BOTH = {
    "function": "inline int f(int x) restrict(amp, cpu) { %s; return x; }",
    "branch": "inline int f(int x) restrict(cpu, amp) { if (x) { %s; } return x; }",
}
AMP = {
    "function": "inline int f(int x) restrict(amp) { %s; return x; }",
    "static function": "static int f(int x) restrict(amp) { %s; return x; }",
    "member": "struct s { int m; int f(int x) const restrict(amp) { %s; return x; } };",
    "static member": "struct s { static int f(int x) restrict(amp) { %s; return x; } };",
    "operator": "struct s { int m; int operator+(int x) const restrict(amp) { %s; return x; } };",
    "conversion": "struct s { int m; operator int() const restrict(amp) { int x = 1; %s; return x; } };",
    "constructor": "struct s { int m; s(int x) restrict(amp) : m(x) { %s; } };",
    "destructor": "struct s { int m; ~s() restrict(amp) { int x = 1; %s; (void)x; } };",
    "outside": "struct s { int f(int x) restrict(amp); }; inline int s::f(int x) restrict(amp) { %s; return x; }",
    "friend": "struct s { int m; friend int f(const s &a, int x) restrict(amp) { %s; return a.m + x; } };",
    "base": "struct b { int f(int x) const restrict(amp) { %s; return x; } }; struct d : b {};",
    "class in class": "struct o { struct s { static int f(int x) restrict(amp) { %s; return x; } }; };",
    "kernel": "void k(array_view<int> v) { parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { int x = v[i]; %s; v[i] = x; }); }",
    "tiled kernel": "void k(array_view<int> v) { parallel_for_each(v.extent.tile<4>(), [=](tiled_index<4> i) restrict(amp) "
    "{ int x = v[i.global]; %s; v[i.global] = x; }); }",
    "nested lambda": "void k(array_view<int> v) { parallel_for_each(v.extent, [=](index<1> i) restrict(amp) "
    "{ auto g = [=](int x) restrict(amp) { %s; return x; }; v[i] = g(1); }); }",
    "held lambda": "void k() { auto g = [](int x) restrict(amp) { %s; return x; }; (void)g; }",
    "functor": "struct fu { array_view<int> v; fu(array_view<int> w) : v(w) {} void operator()(index<1> i) const restrict(amp) "
    "{ int x = 1; %s; v[i] = x; } }; void k(array_view<int> v) { parallel_for_each(v.extent, fu(v)); }",
    "functor, not launched": "struct fu { void operator()(index<1> i) const restrict(amp) { int x = i[0]; %s; (void)x; } };",
    "function template": "template <class T> T f(T x) restrict(amp) { %s; return x; } "
    "inline int g(int x) restrict(amp) { return f(x); }",
    "template of a kernel": "template <class T> void k(array_view<T> v) { parallel_for_each(v.extent, [=](index<1> i) restrict(amp) "
    "{ int x = 1; %s; v[i] = x; }); } void g(array_view<int> v) { k(v); }",
    "class template": "template <class T> struct s { T m; T f(T x) const restrict(amp) { %s; return x; } }; "
    "inline int g(const s<int> &a) restrict(amp) { return a.f(2); }",
    "specialization": "template <class T> T f(T x) restrict(amp) { return x; } "
    "template <> inline int f<int>(int x) restrict(amp) { %s; return x; }",
    "loop": "inline int f(int x) restrict(amp) { for (int i = 0; i < x; ++i) { %s; } return x; }",
    "switch": "inline int f(int x) restrict(amp) { switch (x) { case 1: { %s; } default: break; } return x; }",
}
# Contexts in functions without a restriction specifier, which inherit the restriction of the surrounding function.
INHERITED = {
    "nested lambda": "void k(array_view<int> v) { parallel_for_each(v.extent, [=](index<1> i) restrict(amp) "
    "{ auto g = [=](int x) { %s; return x; }; v[i] = g(1); }); }",
    "local class": "inline int f(int y) restrict(amp) { struct s { int g(int x) { %s; return x; } } a; return a.g(y); }",
}

# Statements that are always rejected, each with a part of the expected error.
ERRORS = {
    "x = host(x)": "host",
    "x = host_too(x)": "host_too",
    "of_host c; x = c.m": "of_host",
    "x = of_host::made()": "made",
    "x = rand()": "rand",
    "accelerator a; x = 1": "accelerator",
    "x = &typeid(int) == nullptr": "'typeid'",
    "base *p = nullptr; x = dynamic_cast<derived *>(p) != nullptr": "'dynamic_cast'",
    'asm("nop")': "'asm'",
    "int *p = new int(2); x = *p": "'new'",
    "int *p = nullptr; delete p": "'delete'",
    "static int n = 0; x = ++n": "static",
    "if (x) throw 1": "'throw'",
    "try { x = 1; } catch (...) { x = 2; }": "'try'",
    "if (x) goto e; x = 2; e: ++x": "'goto'",
    'const auto &text = "text"; x = &text != nullptr': "a string",
    'x = "abc"[1]': "a string",
    'x = L"abc"[1]': "a string",
    "long double c = 1; x = int(c)": "'long double'",
    "x = 3.0L": "'long double'",
    "int (*p)(int) = nullptr; x = p != nullptr": "a pointer to a function",
    "int (of_host::*p)() const = nullptr; x = p != nullptr": "a pointer to a member",
    "int *p = &x; x = int((unsigned long)p)": "between a pointer and a number",
    "x = global": "'global'",
    "global = x": "'global'",
    "int *p = &global; x = *p": "'global'",
    "x = elsewhere": "'elsewhere'",
    "int (of_data::*p)() = &of_data::f; of_data d = {1}; x = (d.*p)()": "a pointer to a member",
    "int of_data::*p = &of_data::m; of_data d = {1}; x = d.*p": "a pointer to a member",
    "int (&p)(int) = amp; x = p(x)": "a reference to a function",
    "using t = int (*)(int); t p[2] = {amp, amp}; x = p[x & 1](x)": "is a pointer",
    "struct fp { int (*p)(int); } c = {amp}; x = c.p(x)": "is a pointer",
    "x = (void *)amp != nullptr": "a cast of a function",
    "x = reinterpret_cast<int *>(&amp) != nullptr": "a cast of a function",
    "int *p = reinterpret_cast<int *>((unsigned long)x); x = p != nullptr": "between a pointer and a number",
    "struct ld { long double m; } c = {1}; x = int(c.m)": "'long double'",
    "with_virtual c; x = c.m": "virtual functions",
}
# Statements that only -famp-strict rejects, each with a part of the expected error.
STRICT = {
    "char c = 1; x = c": "'char'",
    "unsigned char c = 1; x = c": "'unsigned char'",
    "short c = 1; x = c": "'short'",
    "long long c = 1; x = int(c)": "'long long'",
    "unsigned long long c = 1; x = int(c)": "'unsigned long long'",
    "wchar_t c = 1; x = c": "'wchar_t'",
    "char c[4] = {1}; x = c[0]": "'char'",
    "x = (char)x": "'char'",
    "x = static_cast<short>(x)": "'short'",
    "x = char(x)": "'char'",
    "x = 3LL": "'long long'",
    "x = L'a'": "'wchar_t'",
    "volatile int c = 1; x = c": "volatile",
    "int *p = &x; int **q = &p; x = **q": "a pointer to a pointer",
    "int *p = (int *)8ul; x = *p": "between a pointer and a number",
    "struct bf { int a : 3; int b : 2; } c = {1, 1}; x = c.a": "bit-field",
    "struct pm { int *p; } c = {&x}; x = *c.p": "is a pointer",
    "struct rm { int &p; } c = {x}; x = c.p": "is a reference",
    "enum class ec : char { a } c = ec::a; x = int(c)": "is stored as 'char'",
    "auto l = [&](int y) { return y + x; }; x = l(1)": "by reference",
}
# Statements that are allowed.
ALLOWED = [
    "x = sizeof(char) + sizeof(short)",
    "x = 'a'",
    "int *p = &x; *p = 3",
    "int &p = x; p = 3",
    "int *p = &x; int *&q = p; x = *q",
    "static const int n = 3; x = n",
    "bool b = x > 1; x = b",
    "double d = x; long l = 3l; unsigned u = 3u; x = int(d + l + u)",
    "int *p = (int *)0; x = p == nullptr && !(bool)p",
    "static_assert(sizeof(int) == 4, \"text\")",
    "decltype(global) y = x; x = y",
    "assert(x && \"text\")",
    "float *p = reinterpret_cast<float *>(&x); x = p != nullptr",
    "void *p = &x; x = *static_cast<int *>(p)",
    "(void)amp; x = amp(x)",
    "auto l = [=](int y) restrict(amp, cpu) { return y + 1; }; x = l(x)",
    "index<2> at(1, 2); extent<1> e(3); x = at[1] + e[0]",
]


def main():
    lines, count = [PROLOGUE], 0
    contexts = [*BOTH.values(), *AMP.values(), *INHERITED.values()]
    cases = [(s, p, "error", text) for s, text in ERRORS.items() for p in contexts]
    cases += [(s, p, "strict", text) for s, text in STRICT.items() for p in contexts]
    cases += [(s, p, None, "") for s in ALLOWED for p in contexts]
    for statement, place, kind, text in cases:
        count += 1
        said = f" // {kind}: {text}" if kind else ""
        lines.append(f"namespace n{count} {{ {place % statement} }}{said}")
    print("\n".join(lines))


main()
