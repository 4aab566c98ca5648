// Code that C++ AMP forbids. A comment after a line has a part of the message that the compiler must report there:
// `error` in all modes, `strict` only with -famp-strict. No other messages may appear (tests/verify.py). Code that does
// not compile for other reasons is in refused.cpp.
// clang-format off
#include <amp.h>
#include <amp_graphics.h>
#include <string>
#include <typeinfo>
#include <vector>

using namespace concurrency;

// Cpu functions called in amp code that no kernel reaches.
int of_the_host(int x) {
    return x + 1;
}
int of_the_host_too(int x) restrict(cpu) {
    return x + 1;
}
struct host_class {
    int x;
    host_class() : x(3) {}
    explicit host_class(int y) : x(y) {}
    int get() const { return x; }
    static int made() { return 3; }
    int operator+(int y) const { return x + y; }
    operator float() const { return 1.0f; }
    int operator()(int y) const { return x + y; }
    int operator[](int y) const { return x + y; }
};
struct host_destructor {
    int x;
    ~host_destructor() {}
};
inline int calls_1() restrict(amp, cpu) {
    return of_the_host(1); // error: 'of_the_host' is a cpu function
}
inline int calls_2() restrict(amp, cpu) {
    return of_the_host_too(1); // error: 'of_the_host_too' is a cpu function
}
inline int calls_3() restrict(amp, cpu) {
    host_class c; // error: 'host_class' is a cpu function
    return c.x;
}
inline int calls_4() restrict(amp, cpu) {
    host_class c(2); // error: 'host_class' is a cpu function
    return c.x;
}
inline int calls_5(const host_class &c) restrict(amp, cpu) {
    return c.get(); // error: 'get' is a cpu function
}
inline int calls_6() restrict(amp, cpu) {
    return host_class::made(); // error: 'made' is a cpu function
}
inline int calls_7(const host_class &c) restrict(amp, cpu) {
    return c + 2; // error: is a cpu function
}
inline float calls_8(const host_class &c) restrict(amp, cpu) {
    return c; // error: is a cpu function
}
inline int calls_9(const host_class &c) restrict(amp, cpu) {
    return c(4); // error: is a cpu function
}
inline int calls_10(const host_class &c) restrict(amp, cpu) {
    return c[4]; // error: is a cpu function
}
static inline int calls_11(int x) restrict(amp, cpu) {
    auto inner = [=](int y) { return of_the_host(y); }; // error: 'of_the_host' is a cpu function
    return inner(x);
}
template <class T> T calls_12(T x) restrict(amp, cpu) {
    return T(of_the_host(x)); // error: 'of_the_host' is a cpu function
}
inline int calls_13() restrict(amp, cpu) {
    return calls_12(1);
}
inline int calls_14() restrict(amp, cpu) {
    host_destructor d = {3}; // error: '~host_destructor' is a cpu function
    return d.x;
}
inline int calls_18() restrict(amp, cpu) {
    host_destructor d[2] = {{3}, {4}}; // error: '~host_destructor' is a cpu function
    return d[1].x;
}
struct destroys_member {
    host_destructor parts[2];
    ~destroys_member() restrict(amp, cpu) {} // error: '~host_destructor' is a cpu function
};
struct destroys_base : host_destructor {
    ~destroys_base() restrict(amp) {} // error: '~host_destructor' is a cpu function
};
struct amp_functor {
    int operator()() const restrict(amp) { return 1; }
};
template <class F> int calls_functor(F f) restrict(amp, cpu) {
    return f(); // error: 'operator()' is an amp function
}
template <class F> int hands_functor_on(F f) restrict(amp, cpu) {
    return calls_functor(f);
}
inline int host_calls_functor() {
    return hands_functor_on(amp_functor());
}
template <class F> int calls_for_amp(F f) restrict(amp, cpu) {
    return f(); // strict: 'operator()' is an amp function
}
inline int amp_calls_functor() restrict(amp) {
    return calls_for_amp(amp_functor());
}
struct volatile_method {
    int x;
    int get() volatile restrict(amp) { return x; } // strict: the member function is volatile
};
struct caller {
    int x;
    int method() const restrict(amp, cpu) { return of_the_host(x); } // error: 'of_the_host' is a cpu function
    caller(int y) restrict(amp, cpu) : x(of_the_host(y)) {}          // error: 'of_the_host' is a cpu function
    int operator-(int y) const restrict(amp, cpu) {
        return of_the_host_too(y); // error: 'of_the_host_too' is a cpu function
    }
};
template <class T> struct generic {
    T x;
    T method() const restrict(amp, cpu) { return of_the_host(x); } // error: 'of_the_host' is a cpu function
};
inline int calls_15(const generic<int> &g) restrict(amp, cpu) {
    return g.method();
}
inline int calls_16() restrict(amp, cpu) {
    return rand(); // error: 'rand' is a cpu function
}
inline int calls_17() restrict(amp, cpu) {
    std::vector<int> v(3); // error: a 'std::vector' keeps its elements in host memory
    return 1;
}

struct holds_host_class {
    host_class inner, other;
    holds_host_class() restrict(amp, cpu) : inner() {} // error: 'host_class' is a cpu function
};
struct amp_destructor {
    int x;
    ~amp_destructor() restrict(amp) {}
};
void destroys() {
    amp_destructor d; // error: '~amp_destructor' is an amp function
    (void)d;
}
void unmarked(array_view<int> v) {
    parallel_for_each(v.extent, [=](index<1> i) { v[i] = 1; }); // error: the kernel is a cpu function
}

// Captures.
struct with_pointer {
    int *p;
    int x;
};
struct pointer_functor {
    int *p;
    array_view<int> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = 1; } // strict: the class of 'operator()'
};
struct reference_functor {
    int &r;
    array_view<int> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = 1; } // strict: the class of 'operator()'
};
struct inner_pointer_functor {
    array_view<int> v;
    with_pointer inner[2];
    void operator()(index<1> i) const restrict(amp) { v[i] = 1; } // strict: the class of 'operator()'
};
void captures(array_view<int> v, array<int> &data, std::vector<int> &vector) {
    int *p = &vector[0];
    const float *q = nullptr;
    int n = 3;
    float f = 2;
    with_pointer w = {p, 2};
    int (*function)(int) = of_the_host;
    int *pointers[2] = {p, p};
    array<int, 2> square(2, 2);
    (void)f, (void)q, (void)w, (void)function, (void)pointers, (void)n;
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = *p; }); // error: 'p' is captured and is a pointer
    parallel_for_each(
        v.extent, [ v, p ](index<1> i) restrict(amp) { v[i] = p ? 1 : 0; }); // error: 'p' is captured and is a pointer
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = int(*q); }); // error: 'q' is captured and is a pointer
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = w.x; }); // error: 'w' is captured and holds in 'p' a pointer
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { // error: 'function' is captured and is a pointer
            v[i] = function == nullptr; // error: a pointer to a function is not allowed
        });
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { // error: 'pointers' is captured and is a pointer
            v[i] = pointers[0] == pointers[1];
        });
    parallel_for_each(
        v.extent, [ =, &n ](index<1> i) restrict(amp) { v[i] = n; }); // error: 'n' ('int &') is captured by reference
    parallel_for_each(
        v.extent, [&](index<1> i) restrict(amp) { data[i] = n; }); // error: 'n' ('int &') is captured by reference
    parallel_for_each(
        v.extent, [&v](index<1> i) restrict(amp) { v[i] = 1; }); // error: 'v' ('array_view<int> &') is captured by reference
    parallel_for_each(
        v.extent, [ =, &f ](index<1> i) restrict(amp) { v[i] = int(f); }); // error: 'f' ('float &') is captured by reference
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { // error: 'data' ('array<int>') is captured by value
            v[i] = data[i];
        });
    parallel_for_each(
        v.extent, [ v, square ](index<1> i) restrict(amp) { // error: 'square' ('array<int, 2>') is captured by value
            v[i] = square(0, 1);
        });
    parallel_for_each(v.extent, pointer_functor{p, v});        // error: holds a pointer ('int *') in 'p'
    parallel_for_each(v.extent, reference_functor{n, v});      // error: holds a reference ('int &') in 'r'
    parallel_for_each(v.extent, inner_pointer_functor{v, {}}); // error: holds a pointer ('int *') in 'inner.p'
    auto early = [p](int x) restrict(amp) { // error: 'p' is captured and is a pointer
        return p ? x : 0;
    };
    auto both = [&n](int x) restrict(amp, cpu) { // error: 'n' ('int &') is captured by reference
        return n + x;
    };
    (void)early, (void)both;
}
void captures_of_no_use(array_view<int> v) {
    int with_pointer::*member = &with_pointer::x;
    long double wide = 1;
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = member == nullptr; }); // error: 'member'
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = wide > 0; }); // error: 'wide'
}
template <class T> void captures_of_templates(array_view<T> v) {
    T x = 1, *p = &x;
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = *p; }); // error: 'p' is captured and is a pointer
    parallel_for_each(
        v.extent, [ v, &x ](index<1> i) restrict(amp) { v[i] = x; }); // error: is captured by reference
}
void instantiates(array_view<float> v) {
    captures_of_templates(v);
}
struct holder {
    int member;
    void of_this(array_view<int> v) {
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) { v[i] = member; }); // error: 'this' is captured
    }
};

// tile_static.
tile_static int everywhere[4]; // error: 'everywhere': tile_static variables exist in amp code only
void tile_static_on_the_host() {
    tile_static int x; // error: 'x': tile_static variables exist in amp code only
    (void)x;
    auto l = [] {
        tile_static float y; // error: 'y': tile_static variables exist in amp code only
        (void)y;
    };
    l();
}
void tile_static_restricted() restrict(cpu) {
    tile_static int x[3]; // error: 'x': tile_static variables exist in amp code only
    (void)x;
    tile_static with_pointer w; // error: 'w': tile_static variables exist in amp code only
    (void)w;
}
struct with_tile_static {
    void f() {
        tile_static int z; // error: 'z': tile_static variables exist in amp code only
        (void)z;
    }
};
template <class T> inline T tile_static_of(T x, tiled_index<4> t) restrict(amp) {
    tile_static T large[1 << 14];     // error: 'large' takes 131072 bytes
    tile_static float right[1 << 13]; // exactly the limit
    tile_static float more[(1 << 13) + 1]; // strict: 'more' takes 32772 bytes
    large[t.local[0]] = x;
    right[t.local[0]] = more[t.local[0]] = 1;
    t.barrier.wait();
    return large[0] + right[1] + more[2];
}
inline double tile_static_in_a_template(tiled_index<4> t) restrict(amp) {
    return tile_static_of(1.0, t);
}
void tile_static_pointers(array_view<int> v) {
    parallel_for_each(
        v.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) {
            tile_static int *p;    // error: 'p': tile_static variables cannot be pointers or references
            tile_static int *q[2]; // error: 'q': tile_static variables cannot be pointers or references
            tile_static with_pointer r; // error: 'r': tile_static variables cannot be pointers or references
            p = q[0] = nullptr;
            v[t.global] = p == q[0];
        });
}
inline int tile_static_function() restrict(amp) {
    tile_static const float *p; // error: 'p': tile_static variables cannot be pointers or references
    return p == nullptr;
}

// Misplaced restrictions.
int variable restrict(amp) = 3;          // error: 'variable' is a variable
int variable_too restrict(cpu) = 3;      // error: restrict
static float several restrict(amp, cpu); // error: restrict
typedef int integer restrict(amp);       // error: only functions and lambdas can have restrict
struct members {
    int x restrict(amp);                             // error: only functions and lambdas can have restrict
    static int y restrict(amp);                      // error: 'y' is a variable
    virtual int f() restrict(amp);                   // error: 'f' is virtual
    virtual int g() restrict(amp, cpu) { return 1; } // error: 'g' is virtual
};
struct derived : members {
    int g() restrict(amp, cpu) override { return 2; } // error: 'g' is virtual
};
struct derived_silently : members {
    int g() restrict(amp, cpu) { return 2; } // error: 'g' is virtual
};
struct virtual_destructor {
    virtual ~virtual_destructor() restrict(amp, cpu) {} // error: is virtual
};

// Statements and expressions.
inline int jumps(int x) restrict(amp) {
    if (x > 3) goto end; // error: 'goto' is not allowed
    x = 2;
end:
    return x;
}
inline int labelled(int x) restrict(amp) {
unused: // error: a label is not allowed
    return x;
}
inline int back(int x) restrict(amp, cpu) {
again:
    if (++x < 9) goto again; // error: 'goto' is not allowed
    return x;
}
inline int assembles() restrict(amp) {
    asm("nop"); // error: 'asm' is not allowed
    return 1;
}
struct any_class {
    int x;
};
struct base_class {
    int x;
    virtual ~base_class();
};
struct derived_class : base_class {};
inline bool asks(base_class *c) restrict(amp) { // strict: it has virtual functions
    return dynamic_cast<derived_class *>(c) != nullptr; // error: 'dynamic_cast' is not allowed
}
inline int makes() restrict(amp) {
    int *p = new int(2); // error: 'new' is not allowed
    delete p;            // error: 'delete' is not allowed
    return 1;
}
inline bool identifies() restrict(amp) {
    return &typeid(int) == nullptr; // error: 'typeid' is not allowed
}
inline bool identifies(any_class &c) restrict(amp) {
    return &typeid(c) == nullptr; // error: 'typeid' is not allowed
}
inline bool says() restrict(amp) {
    const auto &text = "text"; // error: a string that is not the format
    return &text != nullptr;
}
inline int numbers(int *p) restrict(amp) {
    return int(reinterpret_cast<unsigned long>(p)); // error: a cast between a pointer and a number
}
inline int numbers_too(int *p) restrict(amp) {
    return (unsigned long)p ? 1 : 0; // error: a cast between a pointer and a number
}
inline int *pointers(unsigned long n) restrict(amp) {
    return reinterpret_cast<int *>(n); // error: a cast between a pointer and a number
}
inline float *pointers_too(unsigned long n) restrict(amp) {
    return (float *)n; // error: a cast between a pointer and a number
}
inline int throws(int x) restrict(amp, cpu) {
    if (x) throw 3; // error: 'throw' is not allowed
    return x;
}
inline int tries(int x) restrict(amp, cpu) {
    try { // error: 'try' is not allowed
        return x;
    } catch (...) { // error: 'try' is not allowed
        return 1;
    }
}
inline int recurses(int x) restrict(amp, cpu) {
    return x < 2 ? x : recurses(x - 1); // error: 'recurses': recursion is not allowed
}
inline int one(int x) restrict(amp, cpu);
inline int other(int x) restrict(amp, cpu) {
    return one(x - 1); // error: 'one': recursion is not allowed
}
inline int one(int x) restrict(amp, cpu) {
    return x < 2 ? x : other(x - 1); // error: 'other': recursion is not allowed
}
inline int remembers() restrict(amp) {
    static const int fixed[2] = {1, 2};
    return fixed[1];
}
inline int remembers_its_first(int x) restrict(amp, cpu) {
    static const int length = sizeof(x), first = x; // error: 'first': a static variable that is not a constant
    return first + length;
}
inline int keeps() restrict(amp, cpu) {
    static int calls = 0; // error: 'calls': a static, thread_local or extern variable is not allowed
    return ++calls;
}
int global_counter = 0;
inline int counts() restrict(amp, cpu) {
    return global_counter; // error: 'global_counter': a global variable that is not a constant
}
inline bool compares_functions() restrict(amp, cpu) {
    return &counts == nullptr; // error: a pointer to a function is not allowed
}
inline int chooses_function(int x) restrict(amp, cpu) {
    return (x ? counts : keeps)(); // error: a pointer to a function is not allowed
}
inline int takes_function(int (*f)(int)) restrict(amp, cpu) { // error: is a pointer to a function
    return f(1);
}
inline int variable_arguments(int n, ...) restrict(amp, cpu) { // error: takes variable arguments
    return n;
}
inline int references(int x) restrict(amp) {
    auto l = [&](int y) { return x + y; }; // strict: 'x' ('int &') is captured by reference
    return l(1);
}

// Variables of types that revamp allows, but C++ AMP does not.
inline int variables() restrict(amp) {
    char a = 1;                   // strict: 'char' is not a number type
    signed char b = 1;            // strict: 'signed char' is not a number type
    unsigned char c = 1;          // strict: 'unsigned char' is not a number type
    short d = 1;                  // strict: 'short' is not a number type
    unsigned short e = 1;         // strict: 'unsigned short' is not a number type
    long long f = 1;              // strict: 'long long' is not a number type
    unsigned long long g = 1;     // strict: 'unsigned long long' is not a number type
    wchar_t h = 1;                // strict: 'wchar_t' is not a number type
    char16_t i = 1;               // strict: 'char16_t' is not a number type
    char32_t j = 1;               // strict: 'char32_t' is not a number type
    volatile int k = 1;           // strict: is volatile
    int l = 0, *m = &l, **n = &m; // strict: 'int **' is a pointer to a pointer
    char o[3] = {};               // strict: 'char' is not a number type
    const short p = 1;            // strict: 'short' is not a number type
    volatile float q[2];          // strict: is volatile
    bool r[4] = {};               // strict: are not aligned to four bytes
    char *s = nullptr;            // strict: 'char' is not a number type
    volatile int *t = &l;         // strict: is volatile
    short &u = d;                 // strict: 'short' is not a number type
    int x[4], (*v)[4] = &x;
    (void)i, (void)j, (void)n, (void)o, (void)q, (void)r, (void)s, (void)t, (void)u, (void)v;
    return a + b + c + d + e + int(f + g) + h + k + p;
}
// Signatures.
inline char result_char() restrict(amp) { // strict: the result of 'result_char': 'char' is not a number type
    return 1;
}
inline short result_short() restrict(amp, cpu) { // strict: 'short' is not a number type
    return 1;
}
inline unsigned short result_unsigned_short() restrict(amp) { // strict: 'unsigned short' is not a number type
    return 1;
}
inline long long result_long_long() restrict(amp) { // strict: 'long long' is not a number type
    return 1;
}
inline int **result_pointers() restrict(amp) { // strict: is a pointer to a pointer
    return nullptr;
}
inline volatile int *result_volatile() restrict(amp) { // strict: is volatile
    return nullptr;
}
inline int parameter_char(char x) restrict(amp) { // strict: the parameter 'x': 'char' is not a number type
    return x;
}
inline int parameter_short(short x) restrict(amp, cpu) { // strict: 'short' is not a number type
    return x;
}
inline int parameter_reference(const unsigned char &x) restrict(amp) { // strict: 'unsigned char' is not a number type
    return x;
}
inline int parameter_pointer(short *x) restrict(amp) { // strict: 'short' is not a number type
    return *x;
}
inline int parameter_pointers(int **x) restrict(amp) { // strict: is a pointer to a pointer
    return **x;
}
inline int parameter_volatile(volatile int &x) restrict(amp) { // strict: is volatile
    return x;
}
inline int parameter_array(char x[4]) restrict(amp) { // strict: 'char' is not a number type
    return x[0];
}
inline int parameter_wide(wchar_t) restrict(amp) { // strict: 'wchar_t' is not a number type
    return 1;
}
inline int parameter_long_long(long long x) restrict(amp) { // strict: 'long long' is not a number type
    return int(x);
}
inline int parameter_member_function(int (any_class::*)()) restrict(amp) { // error: is a pointer to a member
    return 1;
}
inline int parameter_member(int any_class::*) restrict(amp) { // error: is a pointer to a member
    return 1;
}
struct has_methods {
    int x;
    short method() const restrict(amp) { return short(x); }     // strict: 'short' is not a number type
    int operator*(char y) const restrict(amp) { return x * y; } // strict: 'char' is not a number type
    has_methods(unsigned short y) restrict(amp) : x(y) {}       // strict: 'unsigned short' is not a number type
    operator char() const restrict(amp) { return 1; }           // strict: 'char' is not a number type
};
template <class T> T of_any(T x) restrict(amp) { // strict: 'short' is not a number type
    T y = x;                                     // strict: 'short' is not a number type
    return y;
}
inline int of_short(int x) restrict(amp) {
    return of_any(short(x)); // strict: the cast: 'short' is not a number type
}
// Members.
struct member_char {
    int x;
    char c;
};
struct member_short {
    short s[2];
};
struct member_long_long {
    long long x;
};
struct member_bits {
    int a : 3, b : 4;
};
struct member_volatile {
    volatile int x;
};
struct member_pointer {
    int *p;
};
struct member_reference {
    int &r;
};
struct member_bools {
    bool a, b;
};
struct member_class {
    member_char inner;
};
struct base_of_char : member_char {};
struct plain_base {
    int x;
};
struct virtual_base : virtual plain_base {};
struct member_virtual {
    int x;
    virtual void f();
};
union member_union {
    int x;
    short y;
};
struct __attribute__((packed)) member_packed {
    bool a;
    int x;
};
enum small : char { small_one };
enum class wide : unsigned long long { one };
struct member_small {
    small x;
};
inline int members_1(member_char x) restrict(amp) { // strict: its member 'c': 'char'
    return x.x;
}
inline int members_2(const member_short &x) restrict(amp) { // strict: its member 's': 'short'
    return x.s[0];
}
inline int members_3(member_long_long *x) restrict(amp) { // strict: its member 'x': 'long long'
    return int(x->x);
}
inline int members_4(member_bits x) restrict(amp) { // strict: its member 'a' is a bit-field
    return x.a;
}
inline int members_5(member_volatile &x) restrict(amp) { // strict: is volatile
    return x.x;
}
inline int members_6(member_pointer x) restrict(amp) { // strict: its member 'p': 'int *' is a pointer
    return *x.p;
}
inline int members_7(member_reference x) restrict(amp) { // strict: its member 'r': 'int &' is a reference
    return x.r;
}
inline int members_8(member_bools x) restrict(amp) { // strict: its member 'b' is not aligned
    return x.a;
}
inline int members_9(member_class x) restrict(amp) { // strict: its member 'inner'
    return x.inner.x;
}
inline int members_10(base_of_char x) restrict(amp) { // strict: its member 'c'
    return x.x;
}
inline int members_11(virtual_base &x) restrict(amp) { // strict: it has a virtual base
    return x.x;
}
inline int members_12(member_virtual &x) restrict(amp) { // strict: it has virtual functions
    return x.x;
}
inline int members_13(member_union x) restrict(amp) { // strict: its member 'y': 'short'
    return x.x;
}
inline int members_14(member_packed x) restrict(amp) { // strict: its member 'x' is not aligned
    return x.x;
}
inline int members_15(small x) restrict(amp) { // strict: the enumeration 'small' is stored as 'char'
    return x;
}
inline int members_16(wide x) restrict(amp) { // strict: is stored as 'unsigned long long'
    return int(x);
}
inline int members_17(member_small x) restrict(amp) { // strict: its member 'x': the enumeration
    return x.x;
}
inline int members_18() restrict(amp) {
    member_char x[2] = {}; // strict: its member 'c': 'char'
    return x[0].x;
}
struct methods_of_char {
    char c;
    int get() const restrict(amp) { return c; } // strict: its member 'c': 'char'
};
inline int of_the_device(const accelerator &) restrict(amp) { // strict: belongs to the host
    return 1;
}
inline int by_value(array<int> x) restrict(amp) { // error: is an array by value ('array<int>')
    return 1;
}
// Casts.
inline int casts(int x, float y) restrict(amp) {
    x += (char)x;               // strict: the cast: 'char' is not a number type
    x += static_cast<short>(y); // strict: the cast: 'short' is not a number type
    x += int((long long)y);     // strict: the cast: 'long long' is not a number type
    return x;
}
inline int literals() restrict(amp) {
    return int(1LL)    // strict: the literal: 'long long'
           + int(1.0L) // error: the literal: 'long double'
           + int(2ull) // strict: the literal: 'unsigned long long'
           + L'a';     // strict: the literal: 'wchar_t'
}
inline int threads() restrict(amp, cpu) {
    thread_local int x; // error: 'x': a static, thread_local or extern variable
    return x;
}
inline int outside() restrict(amp, cpu) {
    extern int elsewhere; // error: 'elsewhere': a static, thread_local or extern variable
    return 1;
}
inline void tile_static_of_both() restrict(amp, cpu) {
    tile_static int x; // error: 'x': tile_static variables exist in amp code only, and this function is restrict(cpu) too
    (void)x;
}
// Captures, and variables in kernels.
void kernels(array_view<int> v) {
    char c = 1;
    member_char m = {1, 2};
    short s[2] = {};
    long long n = 3;
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = c; }); // strict: 'c', which is captured: 'char'
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = m.x; }); // strict: 'm', which is captured
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = s[0]; }); // strict: 's', which is captured
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = int(n); }); // strict: 'n', which is captured
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) {
            short t = 3;                                    // strict: the variable 't': 'short'
            auto l = [](unsigned char x) { return x + 1; }; // strict: the parameter 'x': 'unsigned char'
            v[i] = t + l(2);
        });
    parallel_for_each(
        v.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) {
            tile_static short shared[4];  // strict: the variable 'shared': 'short'
            tile_static member_bits bits; // strict: its member 'a' is a bit-field
            shared[t.local[0]] = 1, bits.a = 1;
            v[t.global] = shared[0];
        });
}

// Amp functions called in cpu code, or in amp,cpu code.
inline int of_amp(int x) restrict(amp) {
    return x + 1;
}
struct amp_class {
    int x;
    amp_class() restrict(amp, cpu) : x(1) {}
    explicit amp_class(int y) restrict(amp) : x(y) {}
    int get() const restrict(amp) { return x; }
    static int made() restrict(amp) { return 1; }
    int operator+(int y) const restrict(amp) { return x + y; }
    operator float() const restrict(amp) { return 1.0f; }
    int operator()(int y) const restrict(amp) { return x + y; }
};
inline int cpu_calls(amp_class c) {
    int sum = of_amp(1);     // error: of_amp
    sum += c.get();          // error: 'get' is an amp function
    sum += amp_class::made(); // error: 'made' is an amp function
    sum += c + 2;            // error: is an amp function
    sum += int(float(c));    // error: is an amp function
    sum += c(3);             // error: 'operator()' is an amp function
    return sum;
}
inline int both_calls(amp_class c) restrict(amp, cpu) {
    return of_amp(1) + // error: 'of_amp' is an amp function
           c.get();    // error: 'get' is an amp function
}
inline int by_default(int x = of_amp(1)) { // error: of_amp
    return x;
}
int from_amp = of_amp(1); // error: of_amp
inline int calls_amp_lambdas() {
    auto amp = [](int x) restrict(amp) { return x; };
    auto both = [](int x) restrict(amp, cpu) { return x; };
    auto cpu = [](int x) { return x; };
    return amp(1) + both(2) + cpu(3); // error: the lambda is restrict(amp), and cpu code calls it
}
inline int calls_cpu_lambdas(int y) restrict(amp) {
    auto cpu = [](int x) restrict(cpu) { return x; };
    auto both = [](int x) restrict(amp, cpu) { return x; };
    auto no_restriction = [](int x) { return x; };
    return cpu(y) + both(2) + no_restriction(3); // error: the lambda is restrict(cpu), and amp code calls it
}
inline void prints_on_the_host(int x) {
    direct3d_printf("%d", x); // error: 'direct3d_printf' is for amp code only
    direct3d_errorf("%d", x); // error: 'direct3d_errorf' is for amp code only
    if (x) direct3d_abort();  // error: 'direct3d_abort' is for amp code only
}
struct with_amp_destructor {
    amp_destructor inner;
};
inline void destroys_member() {
    with_amp_destructor d; // error: '~amp_destructor' is an amp function
    (void)d;
}
inline void destroys_on_the_heap(amp_destructor *p) {
    delete p; // error: '~amp_destructor' is an amp function
}
inline void destroys_parameter(amp_destructor p) { // error: '~amp_destructor' is an amp function
    (void)p;
}
int (*amp_pointer)(int) = of_amp;                                // error: 'of_amp' is an amp function
int (*cpu_pointer)(int) restrict(amp, cpu) = of_the_host;        // error: 'of_the_host' is a cpu function
inline int (*amp_pointer_too)(int) restrict(cpu) = &of_amp;      // error: 'of_amp' is an amp function
inline int atomics_on_the_host(int *p) {
    return atomic_fetch_add(p, 1); // strict: 'atomic_fetch_add' is for amp code only
}
inline int atomics_on_both(int *p) restrict(amp, cpu) {
    return atomic_exchange(p, 1); // strict: 'atomic_exchange' is for amp code only
}
inline void barrier_on_the_host(const tile_barrier &b) {
    b.wait();            // error: 'wait' is for amp code only
    all_memory_fence(b); // error: 'all_memory_fence' is for amp code only
}

// Cpu functions in local classes, in friends, and called implicitly.
inline int local_of_the_host() restrict(amp) {
    struct local {
        int of_cpu() restrict(cpu) { return 1; }
    } l;
    return l.of_cpu(); // error: 'of_cpu'
}
struct friendly {
    int x;
    friend int befriended(friendly f) restrict(amp) { return of_the_host(f.x); } // error: 'of_the_host'
};
struct implicit_constructor {
    host_class inner;
};
struct implicit_by_base : host_class {};
struct host_copy {
    int x;
    host_copy() restrict(amp, cpu) : x(1) {}
    host_copy(const host_copy &other) : x(other.x) {}
    host_copy &operator=(const host_copy &other) { x = other.x; return *this; }
};
struct implicit_copy {
    host_copy inner;
};
inline int implicit_members(const implicit_copy &c, implicit_copy &d) restrict(amp) {
    implicit_constructor a; // error: 'host_class' is a cpu function
    implicit_by_base b;     // error: 'host_class' is a cpu function
    implicit_copy e(c);     // error: 'host_copy' is a cpu function
    d = c;                  // error: 'operator=' is a cpu function
    return a.inner.x + b.x + e.inner.x;
}
// Implicit calls deeper in classes, in arrays and in template instances.
struct holds_implicit_copy {
    implicit_copy outer;
};
struct implicit_copies {
    host_copy all[2][3];
};
struct implicit_constructors {
    host_class all[2];
};
struct implicit_copy_by_base : host_copy {};
struct implicit_copy_by_two_bases : implicit_copy_by_base {};
template <class T> struct implicit_box {
    T held;
    struct within {
        T held;
    };
};
template <class T> struct implicit_box_by_base : implicit_box<T> {};
template <class T> struct copies_on_the_host {
    T held;
    copies_on_the_host() restrict(amp, cpu) {}
    copies_on_the_host(const copies_on_the_host &other) : held(other.held) {}
};
struct holds_copies_on_the_host {
    copies_on_the_host<int> inner;
};
struct defaulted_copy {
    host_copy inner;
    defaulted_copy() = default;
    defaulted_copy(const defaulted_copy &) = default;
};
struct holds_defaulted_copy {
    defaulted_copy inner;
};
inline void implicit_members_deeper(holds_implicit_copy &a, implicit_copies &b, holds_copies_on_the_host &c,
                                    holds_defaulted_copy &d) restrict(amp) {
    holds_implicit_copy e = a; // error: its member 'outer': its member 'inner': 'host_copy' is a cpu function
    e = a;                     // error: its member 'outer': its member 'inner': 'operator=' is a cpu function
    implicit_copies f = b;     // error: its member 'all': 'host_copy' is a cpu function
    f = b;                     // error: its member 'all': 'operator=' is a cpu function
    implicit_constructors g;   // error: its member 'all': 'host_class' is a cpu function
    holds_copies_on_the_host h = c; // error: its member 'inner': 'copies_on_the_host' is a cpu function
    holds_defaulted_copy i = d;     // error: its member 'inner': its member 'inner': 'host_copy' is a cpu function
    (void)e, (void)f, (void)g, (void)h, (void)i;
}
inline void implicit_members_of_templates(implicit_box<host_copy> &a, implicit_box_by_base<host_copy> &b,
                                          implicit_box<host_copy>::within &c) restrict(amp) {
    implicit_box<host_copy> d = a;         // error: its member 'held': 'host_copy' is a cpu function
    d = a;                                 // error: its member 'held': 'operator=' is a cpu function
    implicit_box<host_class> e;            // error: its member 'held': 'host_class' is a cpu function
    implicit_box<host_class> f[2];         // error: its member 'held': 'host_class' is a cpu function
    implicit_box_by_base<host_copy> g = b; // error: its member 'held': 'host_copy' is a cpu function
    implicit_box<host_copy>::within h = c; // error: its member 'held': 'host_copy' is a cpu function
    (void)d, (void)e, (void)f, (void)g, (void)h;
}
implicit_copy_by_two_bases passes_implicit_copy(implicit_copy_by_two_bases c) restrict(amp) {
    return c; // error: its base 'implicit_copy_by_base': its base 'host_copy': 'host_copy' is a cpu function
}
inline void hands_implicit_copy(implicit_copy_by_two_bases &c) restrict(amp) {
    passes_implicit_copy(c); // error: its base 'implicit_copy_by_base': its base 'host_copy': 'host_copy' is a cpu function
}
void implicit_copy_in_a_kernel(array_view<int> a) {
    parallel_for_each(
        a.extent, [=](index<1> i) restrict(amp) {
            holds_implicit_copy o;
            holds_implicit_copy p = o; // error: its member 'outer': its member 'inner': 'host_copy' is a cpu function
            a[i] = p.outer.inner.x;
        });
}
struct member_initializer {
    int x = of_the_host(1); // error: 'of_the_host'
    member_initializer() restrict(amp) {}
};
inline int takes_host_destructor(host_destructor d) restrict(amp) { // error: '~host_destructor' is a cpu function
    return d.x;
}
template <class Function> int applies(Function f) restrict(amp, cpu) {
    return f(1); // error: is a cpu function
}
template <class Function> int applies_in_amp(Function f) restrict(amp) {
    return f(1); // error: is a cpu function
}
template <class Function> int applies_on_the_host(Function f) restrict(amp, cpu) {
    return f(1); // strict: is a cpu function
}
void unmarked_lambdas(array_view<int> v) {
    auto l = [](int x) { return x; };
    auto cpu = [](int x) restrict(cpu) { return x; };
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) {
            v[i] = l(1);               // error: is a cpu function
            v[i] += cpu(1);            // error: the lambda is restrict(cpu)
            v[i] += applies(l);
            v[i] += applies_in_amp(l);
        });
    v[0] = applies_on_the_host(l);
}

// Captures by reference in templates.
template <class T> void captures_in_a_template(array_view<T> v, T n) {
    parallel_for_each(
        v.extent, [v, &n](index<1> i) restrict(amp) { v[i] = n; }); // error: 'n' ('float &') is captured by reference
}
void captures_by_a_template(array_view<float> v) {
    captures_in_a_template(v, 1.0f);
}

// Captures of many kinds of host objects.
struct polymorphic {
    int x;
    virtual ~polymorphic() {}
};
struct virtually : virtual with_pointer {};
struct holds_array_by_value {
    array<int> a;
    void operator()(index<1> i) const restrict(amp) { a[i]; } // strict: the class of 'operator()'
};
struct holds_arrays {
    int x;
    struct inner {
        array<float, 2> grids[2];
    } all;
};
void captures_of_holders(array_view<int> v, holds_arrays &h, const array<int> &a) {
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = h.x; }); // error: 'h' is captured and holds in 'all.grids' an array or a texture by value
    parallel_for_each(
        v.extent, [ =, &a ](index<1> i) restrict(amp) { v[i] = a[i]; });
}
int &of_the_program = global_counter;
const int &constant_of_the_program = 3;
inline int references_of_the_program() restrict(amp, cpu) {
    return of_the_program; // error: 'of_the_program': a global reference
}
void captures_of_the_host(array_view<int> v, polymorphic p, accelerator a, accelerator_view w, holds_array_by_value &h) {
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = p.x; }); // error: 'polymorphic' has virtual functions
    parallel_for_each(
        v.extent, [ v, a ](index<1> i) restrict(amp) { v[i] = 1; }); // error: belongs to the host
    parallel_for_each(
        v.extent, [ v, w ](index<1> i) restrict(amp) { v[i] = 1; }); // error: belongs to the host
    parallel_for_each(v.extent, h); // error: holds an array or a texture by value in 'a'
}

// Restrictions and tile_static in places that the grammar of C++ AMP does not allow.
int restrict(amp) before_the_name() { return 1; }   // error: must follow the parameters of a function
restrict(amp) int before_the_type() { return 1; }   // error: must follow the parameters of a function
using of_a_type = int restrict(amp);                // error: must follow the parameters of a function
struct befriends {
    friend struct members restrict(amp); // error: must follow the parameters of a function
};
auto lambda_before = [] restrict(amp) (int x) { return x; };           // error: must follow the parameters of a lambda
auto lambda_without = [] restrict(amp, cpu) { return 1; };             // strict: must follow the parameters of a lambda
inline int texels_on_the_host(const graphics::texture<int, 2> &t) {
    return t(1, 2); // error: 'operator()' is for amp code only
}
inline float texels_of_views(const graphics::texture_view<const float, 1> &v) restrict(amp, cpu) {
    return v.sample(0.5f); // error: 'sample' is for amp code only
}
inline void views_of_textures(graphics::texture<float, 1> &one, graphics::texture<graphics::unorm_4, 1> &four) restrict(amp) {
    graphics::texture_view<const float, 1> a(one);             // error: only from textures with several components
    graphics::texture_view<graphics::unorm_4, 1> b(four);      // error: only from textures with one component
    graphics::writeonly_texture_view<graphics::unorm_4, 1> c(four); // error: only from textures with one component
    graphics::texture_view<float, 1> d(one);
    graphics::texture_view<const graphics::unorm_4, 1> e(four);
    (void)a, (void)b, (void)c, (void)d, (void)e;
}
inline void texture_by_value(graphics::texture<float, 1> &t, graphics::texture_view<float, 1> v) {
    parallel_for_each(t.extent, [=](index<1> i) restrict(amp) { v.set(i, t[i]); }); // error: 't' ('graphics::texture<float, 1>') is captured by value
}
struct texture_member {
    float weight;
    graphics::texture<float, 1> texels;
};
struct texture_base : graphics::texture<float, 1> {
    using graphics::texture<float, 1>::texture;
};
struct texture_functor {
    graphics::texture_view<float, 1> v;
    graphics::texture<float, 1> texels;
    void operator()(index<1> i) const restrict(amp) { v.set(i, texels[i]); } // strict: its member 'texels'
};
inline void textures_in_classes(const texture_member &m, const texture_base &b, const texture_functor &f) {
    const graphics::texture_view<float, 1> v = f.v;
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { v.set(i, m.texels[i]); }); // error: 'm' is captured and holds in 'texels' an array or a texture by value
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) { v.set(i, b[i]); }); // error: 'b' is captured and is an array or a texture by value
    parallel_for_each(v.extent, [&b, v](index<1> i) restrict(amp) { v.set(i, b[i]); }); // error: is captured by reference
    parallel_for_each(v.extent, f); // error: holds an array or a texture by value in 'texels'
}
struct holds_a_view {
    float weight;
    graphics::texture_view<const float, 1> from;
};
struct is_a_view : graphics::writeonly_texture_view<float, 1> {};
inline void textures_as_elements(const std::vector<holds_a_view> &some, array_view<float> v) {
    array_view<const holds_a_view> a(4, some); // error: 'a': its elements hold a texture or a view of a texture in 'from'
    array<is_a_view> b(4);                     // error: 'b': its elements are textures or views of textures
    (void)a, (void)b;
    parallel_for_each(v.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) {
        tile_static graphics::texture<float, 1> texels;                    // error: 'texels': tile_static variables cannot hold textures
        tile_static graphics::texture_view<const float, 1> view;           // error: 'view': tile_static variables cannot hold textures
        tile_static graphics::writeonly_texture_view<float, 1> written[2]; // error: 'written': tile_static variables cannot hold textures
        tile_static holds_a_view held;                                     // error: 'held': tile_static variables cannot hold textures
        v[t] = 0;
        (void)texels, (void)view, (void)written, (void)held;
    });
}
auto lambda_mutable = [](int x) restrict(amp, cpu) mutable { return x; }; // strict: must follow 'mutable'
inline void two_storage_classes() restrict(amp) {
    static tile_static int x; // error: is a storage class
    (void)x;
}
tile_static int returns_tile_static() restrict(amp) { return 1; } // error: only variables can be tile_static
extern "C" int of_c(int x) restrict(amp) { return x; }
extern "C" int of_c(int x) restrict(cpu) { return x; } // error: cannot differ only in their restrictions
extern "C" int of_c_and_both(int x) restrict(amp, cpu) { return x; } // strict: cannot have the linkage of C (C++ AMP, 2.4.2)
extern "C" int of_c_and_amp(int x) restrict(amp) { return x; }

// Exception specifications, destructors, wide literals, and array_views.
struct thrown {};
inline int throws_int(int x) restrict(amp, cpu) throw(int) { return x; } // strict: 'throws_int' has an exception specification
struct throws {
    int method(int x) const throw(thrown, int) restrict(amp) { return x; } // strict: 'method' has an exception specification
    int none(int x) const throw() restrict(amp) { return x; }
};
struct destroyed_by_the_host {
    destroyed_by_the_host() restrict(amp) {}
    destroyed_by_the_host(int) restrict(cpu) {}
    ~destroyed_by_the_host() {} // strict: a destructor needs the restrictions of all constructors (C++ AMP, 2.2.2)
};
struct made_by_a_template {
    template <class T> made_by_a_template(T) restrict(amp) {}
    ~made_by_a_template() {} // strict: a destructor needs the restrictions of all constructors (C++ AMP, 2.2.2)
};
struct destroyed_by_both {
    destroyed_by_both() restrict(amp) {}
    destroyed_by_both(int) restrict(cpu) {}
    ~destroyed_by_both() restrict(amp, cpu) {}
};
inline unsigned wide_literals() restrict(amp) {
    return unsigned(4294967296 >> 32) + // strict: the literal 4294967296: it is a 'long long' in MSVC
           unsigned(0x1ffffffffUL >> 32) + // strict: the literal 8589934591
           unsigned(4294967295 >> 1);
}
struct holds_a_pointer_to_elements {
    int count;
    array_view<int> elements;
};
void views(array_view<int> v) {
    v.extent = extent<1>(2); // error: 'extent' is a property that can only be read
    parallel_for_each(v.extent.tile<4>(), [=](tiled_index<4> t) restrict(amp) {
        tile_static array_view<int> some[2]; // error: 'some': tile_static variables cannot hold array_views
        tile_static holds_a_pointer_to_elements held; // error: 'held': tile_static variables cannot hold array_views
        array_view<int> copy = v;
        copy.extent = extent<1>(1); // error: 'extent' is a property that can only be read
        (void)some, (void)held;
        copy[t] = 0;
    });
}

// Default arguments have the restriction of their function. Local classes have the restriction of the code around them.
int of_amp_only(int x) restrict(amp) { return x; }
int defaults_to_the_host(int x = of_the_host(3)) restrict(amp); // error: 'of_the_host' is a cpu function
int defaults_to_amp(int x = of_amp_only(3)); // error: 'of_amp_only' is an amp function, and cpu code calls it
int defaults_for_both(int x = of_the_host(3)) restrict(amp, cpu) { return x; } // error: 'of_the_host' is a cpu function
inline int local_classes(int x) restrict(amp) {
    struct of_char {
        char c;
        int get() const { return c; } // strict: the class of 'get': 'of_char': its member 'c': 'char' is not a number type
        int wide(long long y) const { return int(y); } // strict: the parameter 'y': 'long long' is not a number type
    };
    of_char one = {'a'}; // strict: the variable 'one': 'of_char': its member 'c': 'char' is not a number type
    return one.get() + x;
}

// Implicit members of classes and of partial specializations.
struct host_default {
    int n;
    host_default(int x = 3) : n(x) {}
};
struct host_of_any {
    int n;
    template <class... T> host_of_any(T...) : n(3) {}
};
struct host_copied {
    int n;
    host_copied() restrict(amp, cpu) : n(5) {}
    host_copied(const host_copied &o, int more = 1) : n(o.n + more) {}
};
struct host_assignment {
    int n;
    host_assignment &operator=(const host_assignment &o) {
        n = o.n + 1;
        return *this;
    }
};
struct host_assignment_by_value {
    int n;
    host_assignment_by_value &operator=(host_assignment_by_value o) {
        n = o.n + 1;
        return *this;
    }
};
struct has_default { host_default m; };
struct has_of_any { host_of_any m; };
struct has_assignment { host_assignment_by_value m; };
template <class T, int N> struct many { int n; };
template <class T> struct many<T, 2> { host_copied m; };
template <class T> struct many<T, 3> { host_assignment m; };
template <class T> struct many<T, 4> {
    int n;
    many(int x = 3) : n(x) {}
};
struct has_many { many<int, 4> m; };
struct leaves_out {
    host_default m;
    int n;
    leaves_out() restrict(amp, cpu) : n(1) {} // error: 'host_default' is a cpu function
};
// A constructor that requires an argument does not hide the default constructor of the host.
struct host_default_beside {
    int n;
    host_default_beside() : n(7) {}
    host_default_beside(const index<1> &) restrict(amp) : n(0) {}
};
struct has_default_beside { host_default_beside m; };
struct defaults_to_an_index {
    int n;
    defaults_to_an_index(index<1> i = index<1>()) : n(i[0]) {}
};
struct has_default_index { defaults_to_an_index m; };
struct leaves_out_an_index {
    index<1> at;
    defaults_to_an_index m;
    leaves_out_an_index() restrict(amp, cpu) {} // error: 'defaults_to_an_index' is a cpu function
};
inline int made_by_the_compiler() restrict(amp) {
    has_default a;  // error: its member 'm': 'host_default' is a cpu function
    has_of_any b;   // error: its member 'm': 'host_of_any' is a cpu function
    has_many c;     // error: its member 'm': 'many' is a cpu function
    many<int, 2> d;
    many<int, 2> e(d); // error: its member 'm': 'host_copied' is a cpu function
    many<int, 3> f, g;
    f = g; // error: its member 'm': 'operator=' is a cpu function
    has_assignment h, i;
    h = i; // error: its member 'm': 'operator=' is a cpu function
    has_default_beside j; // error: its member 'm': 'host_default_beside' is a cpu function
    has_default_index k;  // error: its member 'm': 'defaults_to_an_index' is a cpu function
    return j.m.n + k.m.n + a.m.n + b.m.n + c.m.n + e.m.n + f.m.n + h.m.n;
}
template <class T, int N> struct kernel_of {
    array_view<T> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = 1; }
};
template <class T> struct kernel_of<T, 2> {
    array_view<T> v;
    void operator()(index<1> i) const { v[i] = 2; }
};
void launches_a_specialization(array_view<int> v) {
    parallel_for_each(v.extent, kernel_of<int, 1>{v});
    parallel_for_each(v.extent, kernel_of<int, 2>{v}); // error: the kernel is a cpu function
}

// The program's constants, standard library functions, and element types.
const int table[3] = {1, 2, 3};
const float factor = 2.5f;
inline float constants(int n) restrict(amp) {
    return table[n] + // strict: 'table': a global variable other than a constant number
           factor;
}
inline float standard(float x) restrict(amp) {
    return std::sqrt(x); // strict: 'sqrt' is a cpu function
}
inline int standard_too(int x) restrict(amp) {
    return std::max(x, 3); // strict: 'max' is a cpu function
}
struct short_pair {
    short a, b;
};
void elements(array_view<short_pair> v) {
    array<short_pair> all(3); // strict: 'short' is not a number type
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) { v[i] = short_pair(); }); // strict: 'short' is not a number type
}

// An amp,cpu template that is instantiated for a host class.
template <class T> int counts(const T &) restrict(amp, cpu) { return 1; } // strict: unsupported type in amp restricted code
inline int counts_a_vector() {
    return counts(std::vector<float>(3));
}
