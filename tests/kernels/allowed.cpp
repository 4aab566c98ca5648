// Code that is similar to that in forbidden.cpp, but must compile without messages, even with -famp-strict.
#include <algorithm>
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <amp_short_vectors.h>
#include <functional>
#include <iostream>
#include <string>
#include <typeinfo>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

// Code that is restrict(cpu) may use all of C++.
struct of_the_host {
    char c = 1;
    short s[3];
    int bits : 3;
    volatile int v;
    std::string text;
    int *p = nullptr, **pp = nullptr;
    virtual ~of_the_host() {}
    virtual int get() { return 1; }
    int only() restrict(cpu) { return c; }
};
int cpu_function(long long x, char *y, ...) {
    static int calls = 0;
    try {
        if (x > 3) throw std::string("text");
        if (x > 2) goto end;
    } catch (const std::string &) {
        ++calls;
    }
end:
    auto lambda = [&, y](int n) { return y ? n + calls : int(reinterpret_cast<std::uintptr_t>(y)); };
    of_the_host *made = new of_the_host;
    calls += typeid(*made) == typeid(of_the_host);
    delete made;
    return lambda(2);
}
int cpu_function(long double) restrict(cpu) {
    return 1;
}

// Overloads by restriction.
int pick(int x) restrict(amp) {
    return x;
}
int pick(int x) restrict(cpu) {
    return cpu_function(x, nullptr);
}
inline int picks(int x) restrict(amp) {
    return pick(x);
}
inline int picks_both(int x) restrict(amp, cpu) {
    return pick(x);
}
inline constexpr int constant_function(int x) {
    return x * 2;
}
inline int calls_constexpr(int x) restrict(amp, cpu) {
    return constant_function(x);
}
inline int calls_builtin(float x) restrict(amp, cpu) {
    return __builtin_popcount(unsigned(x));
}
inline float maths(float x) restrict(amp) {
    return fast_math::sqrt(x) + precise_math::sin(x);
}
static const int table_size = 4;
const float factor = 2.5f;
constexpr unsigned mask = 7;
enum colour { red, green };
enum class kind : unsigned { one, two };
inline float constants(colour c, kind k) restrict(amp) {
    static const int local_constant = 3;
    return factor * table_size + float(mask) + local_constant + (c == green) + (k == kind::two);
}

// Classes.
struct pair {
    int first;
    float second;
};
struct holder : pair {
    pair more[2];
    unsigned n;
    bool flag;
    int_3 vector;
    index<2> at;
    extent<2> size;
    holder() restrict(amp, cpu) : n(0), flag(false) {}
    holder(const holder &other) restrict(amp, cpu) = default;
    int sum() const restrict(amp, cpu) { return first + more[1].first; }
    static int made() restrict(amp, cpu) { return 3; }
    void on_the_host() { std::cout << n; }
    template <class T> T as() const restrict(amp, cpu) { return T(n); }
    int operator[](int i) const restrict(amp, cpu) { return more[i].first; }
    operator float() const restrict(amp, cpu) { return second; }
};
struct holds_view {
    array_view<int> v;
    int n;
};
struct holds_array {
    array<int> &data;
    explicit holds_array(array<int> &a) : data(a) {}
    int get(index<1> i) const restrict(amp) { return data[i]; }
};
struct mixed {
    int x;
    explicit mixed(std::string text) : x(int(text.size())) {}
    mixed(const mixed &other) restrict(amp, cpu) : x(other.x) {}
    ~mixed() restrict(amp, cpu) {}
    int device() const restrict(amp) { return x; }
    int host() const { return cpu_function(x, nullptr); }
};
struct base {
    int x;
    int get() const restrict(amp, cpu) { return x; }
};
struct derived : base {
    int y;
};
union either {
    int i;
    float f;
};

// Pointers and references with one level of indirection, to allowed types.
inline int pointers(int *p, const float *q, pair &r, const pair *s, either &e) restrict(amp) {
    int *local = p + 1;
    int(&reference)[2] = *reinterpret_cast<int(*)[2]>(p);
    const float *&alias = q;
    return *local + int(*q) + r.first + s->first + int(reinterpret_cast<const unsigned &>(*alias)) + reference[0] + e.i;
}
inline int null(int *p) restrict(amp) {
    return p == nullptr ? 1 : 0;
}
inline int *returns(int *p) restrict(amp) {
    return p;
}
inline int array_reference(const array<int, 2> &a, array<int> *b) restrict(amp) {
    return a(0, 0) + (*b)[0];
}
inline int local_types(int n) restrict(amp) {
    typedef unsigned number;
    using real = double;
    struct local {
        int a;
        int get() const restrict(amp) { return a; }
    } l = {n};
    long wide = n;
    unsigned long wider = n;
    std::size_t size = wider;
    bool flag = n > 2;
    int all[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    auto x = all[n & 1][1];
    decltype(n) y = x;
    return int(number(wide) + real(size)) + flag + y + l.get();
}
inline int casts(float x, void *p) restrict(amp) {
    const int &c = 3;
    return static_cast<int>(x) + int(x) + (int)x + const_cast<int &>(c) + int(*static_cast<float *>(p)) +
           *reinterpret_cast<int *>(&x) + (p ? 1 : 0) + static_cast<unsigned>('a');
}
inline int flow(int n) restrict(amp) {
    for (int i = 0; i < n; ++i) {
        if (i == 3) continue;
        if (i == 5) break;
        switch (i) {
        case 1:
            n += 1;
        default:
            n += 2;
        }
    }
    do {
        --n;
    } while (n > 3);
    return n ? n : -n;
}
template <class T> T generic(T x) restrict(amp, cpu) {
    T y = x;
    return y + T(1);
}
template <class T, int N> struct fixed {
    T values[N];
    T get(int i) const restrict(amp, cpu) { return values[i]; }
    T on_the_host() const { return T(cpu_function(values[0], nullptr)); }
};
template <class Function> int apply(Function f, int x) restrict(amp, cpu) {
    return f(x);
}
// A class with a call operator for each restriction, used in a restrict(amp,cpu) template.
struct for_each_side {
    int operator()(int x) const restrict(amp) { return x; }
    int operator()(int x) const { return cpu_function(x, nullptr); }
};
inline int applies_in_amp(int x) restrict(amp) {
    return apply(for_each_side(), x);
}
inline int applies_in_cpu(int x) {
    return apply(for_each_side(), x);
}
inline int applies_in_both(int x) restrict(amp, cpu) {
    return apply(for_each_side(), x);
}
inline int nested(int n) restrict(amp) {
    auto by_value = [n](int x) restrict(amp) {
        return x + n;
    };
    auto unmarked = [=](int x) { return x * n; };
    return by_value(1) + apply(unmarked, 2);
}
inline void prints(int n) restrict(amp) {
    direct3d_printf("n is %d and %s\n", n, "text");
    if (n > 3) direct3d_errorf("n is %d\n", n);
}
int declared_only(int) restrict(amp, cpu);

inline int local_classes(int n) restrict(amp) {
    struct local {
        int x;
        ~local() {}
        int get() { return x; }
    } l = {n};
    return l.get();
}

// Functors.
struct functor {
    array_view<int> v;
    int n;
    holder h;
    functor(array_view<int> view, std::vector<int> &values) : v(view), n(int(values.size())) {}
    void operator()(index<1> i) const restrict(amp) { v[i] = n + h.sum(); }
};
struct array_functor {
    array<int> &a;
    const array<int, 2> &b;
    void operator()(index<1> i) const restrict(amp) { a[i] = b(0, 0); }
};
template <class T> struct generic_functor {
    array_view<T> v;
    void operator()(index<1> i) const restrict(amp) { v[i] = generic(v[i]); }
};

void launches(std::vector<int> &values, array<int> &data, array<int, 2> &square) {
    array_view<int> v(int(values.size()), values);
    array_view<const int> constant(v);
    array_view<int, 2> v2 = square;
    int n = 3;
    float numbers[3] = {1, 2, 3};
    holder h;
    fixed<int, 3> f = {};
    holds_view inside = {v, 2};
    holds_array outside(data);
    mixed m("text");
    derived d = {};
    colour c = red;
    extent<1> domain = v.extent;
    parallel_for_each(
        domain, [=](index<1> i) restrict(amp) { v[i] = n + int(numbers[1]) + h.sum() + f.get(1) + d.get(); });
    parallel_for_each(
        domain, [ =, &data ](index<1> i) restrict(amp) { data[i] = constant[i]; });
    parallel_for_each(
        domain, [&data, &square, n ](index<1> i) restrict(amp) { data[i] = square(0, 0) + n; });
    parallel_for_each(
        domain, [&](index<1> i) restrict(amp) { data[i] = square[0][1]; });
    parallel_for_each(
        domain, [&, v ](index<1> i) restrict(amp) { data[i] = v[i]; });
    parallel_for_each(
        domain, [=](index<1> i) restrict(amp) { v[i] = inside.v[i] + inside.n + m.device() + c; });
    parallel_for_each(
        domain, [outside](index<1> i) restrict(amp) { outside.data[i] = outside.get(i); });
    parallel_for_each(
        domain, [v](index<1> i) mutable restrict(amp) { v[i] = 1; });
    parallel_for_each(
        domain, [ k = n + 1, v ](index<1> i) restrict(amp) { v[i] = k; });
    parallel_for_each(domain, functor(v, values));
    parallel_for_each(domain, array_functor{data, square});
    parallel_for_each(domain, generic_functor<int>{v});
    parallel_for_each(
        v2.extent, [=](index<2> i) restrict(amp) { v2[i] = pick(v2[i]) + picks_both(1); });
    parallel_for_each(
        v.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
            tile_static int shared[16];
            tile_static float grid[4][4];
            tile_static pair pairs[2];
            tile_static int one;
            int *p = &shared[1];
            shared[t.local[0]] = v[t.global];
            grid[0][0] = 1, pairs[0].first = 2, one = 3;
            t.barrier.wait();
            v[t.global] = *p + int(grid[0][0]) + pairs[0].first + one;
        });
    const auto helper = [=](int x) restrict(amp, cpu) {
        return x + n;
    };
    const auto plain = [&](int x) { return x + n + cpu_function(x, nullptr); };
    parallel_for_each(
        domain, [=](index<1> i) restrict(amp) { v[i] = helper(v[i]); });
    values[0] = helper(plain(1));
}
template <class T> void launches_of_any(array_view<T> v, T x, array<T> &data) {
    parallel_for_each(
        v.extent, [ =, &data ](index<1> i) restrict(amp) { v[i] = generic(x) + data[i]; });
}
void instantiates(array_view<float> v, array<float> &a, array<int> &b) {
    launches_of_any(v, 2.0f, a);
    launches_of_any<int>(v.reinterpret_as<int>(), 2, b);
}
class owner {
    std::vector<int> values;
    array<int> member_array;
    int n = 2;

  public:
    owner() : values(4), member_array(4) {}
    void run() {
        array<int> &data = member_array;
        const int copy = n;
        parallel_for_each(
            data.extent, [ =, &data ](index<1> i) restrict(amp) { data[i] = copy; });
        array_view<int> view(values);
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp) { view[i] = helper(copy); });
    }
    static int helper(int x) restrict(amp, cpu) { return x; }
};
int main() {
    owner().run();
}

// `[&]` captures the arrays that the body names. A parameter of another function has the name of a captured array.
unsigned twice_of(unsigned key) restrict(amp, cpu) {
    return 2 * key;
}
void arrays_captured_by_default(const array<unsigned> &a, const array<unsigned> &b, array<unsigned> &out) {
    const array<unsigned> &in = a, &key = b;
    parallel_for_each(
        out.extent, [&](index<1> i) restrict(amp) { out[i] = in[i] + twice_of(key[i]); });
}

// Templates that capture arrays by reference. The program calls some instances, the standard library the others.
struct fills {
    template <class T> void operator()(T &a) const {
        parallel_for_each(
            a.extent, [&a](index<1> i) restrict(amp) { a[i] = 1; });
    }
};
struct fills_by_default {
    template <class T> void operator()(T &a) const {
        parallel_for_each(
            a.extent, [&](index<1> i) restrict(amp) { a[i] = 1; });
    }
};
void arrays_captured_in_templates(array<float> &a, array<unsigned> &b) {
    fills()(a);
    fills_by_default()(a);
    std::invoke(fills(), b);
    std::invoke(fills_by_default(), b);
    std::for_each(&b, &b + 1, [](auto &each) {
        parallel_for_each(
            each.extent, [&](index<1> i) restrict(amp) { each[i] = 1; });
    });
}

// Textures: references to textures, texture_views that kernels create and pass on, explicit template arguments.
struct texture_reader {
    const graphics::texture<float, 2> &texels;
    graphics::texture_view<float, 2> to;
    graphics::sampler by;
    static float around(const graphics::texture<float, 2> &of, index<2> i) restrict(amp) { return of(i[0] - 1, i[1]); }
    void operator()(index<2> i) const restrict(amp) { to.set(i, around(texels, i) + float(by.address_mode)); }
};
template <class V> graphics::float_4 reads_by_template(V view, graphics::float_2 at) restrict(amp) {
    return view.sample<graphics::filter_point, graphics::address_wrap>(at) +
           view.gather_red<graphics::address_mirror>(at);
}
void textures(const graphics::texture<float, 2> &in, graphics::texture<float, 2> &out,
              const graphics::texture<graphics::float_4, 2> &colours) {
    // A lambda in restrict(cpu) code that launches a kernel.
    const auto cleared = [](graphics::texture<graphics::float_4, 2> &t) {
        const graphics::texture_view<graphics::float_4, 2> all(t);
        parallel_for_each(
            all.extent, [=](index<2> i) restrict(amp) { all.set(i, graphics::float_4()); });
    };
    (void)cleared;
    const graphics::texture_view<float, 2> to(out);
    const graphics::texture_view<const graphics::float_4, 2> from(colours);
    parallel_for_each(out.extent, texture_reader{in, to, graphics::sampler()});
    parallel_for_each(
        out.extent, [&](index<2> i) restrict(amp) {
            graphics::texture_view<float, 2> made(out);
            made.set(i, in[i] + colours[i].x);
        });
    parallel_for_each(
        out.extent, [=](index<2> i) restrict(amp) { to.set(i, reads_by_template(from, graphics::float_2(0.5f)).x); });
}

// Implicit members of classes whose members or bases have one overload for each restriction, or one for both.
struct two_copies {
    int x;
    two_copies() restrict(amp) : x(0) {}
    two_copies() restrict(cpu) : x(1) {}
    two_copies(const two_copies &other) restrict(amp) : x(other.x + 1) {}
    two_copies(const two_copies &other) restrict(cpu) : x(other.x + 2) {}
    two_copies &operator=(const two_copies &other) restrict(amp) { return x = other.x, *this; }
    two_copies &operator=(const two_copies &other) restrict(cpu) { return x = -other.x, *this; }
};
struct holds_two_copies {
    two_copies all[2][2];
    struct {
        two_copies held;
    } inner;
};
struct outer_of_two_copies {
    holds_two_copies outer;
};
struct two_copies_by_base : two_copies {};
struct two_copies_by_two_bases : two_copies_by_base {};
template <class T> struct box_of_any { T held; };
template <class T> struct box_of_any_by_base : box_of_any<T> {};
struct copies_for_both {
    int x;
    copies_for_both() restrict(amp, cpu) : x(0) {}
    copies_for_both(const copies_for_both &other) restrict(amp, cpu) : x(other.x + 1) {}
};
struct holds_copies_for_both {
    box_of_any<copies_for_both> all[2];
};
// An instance of box_of_any that only host code uses.
struct copied_on_the_host {
    int x;
    copied_on_the_host() : x(0) {}
    copied_on_the_host(const copied_on_the_host &other) : x(other.x + 1) {}
};
inline int copies_box_on_the_host() {
    box_of_any<copied_on_the_host> a, b = a;
    return b.held.x;
}
template <class T> T passes_any(T of) restrict(amp, cpu) {
    return of;
}
template <class T> void implicit_members_of(array_view<int> v) {
    parallel_for_each(
        v.extent, [=](index<1> i) restrict(amp) {
            T a, b = a, some[2];
            b = passes_any(a);
            some[1] = b;
            v[i] = sizeof(some);
        });
}
// Host constructors whose parameter types contain expressions. None of these expressions is a default argument.
struct takes_arguments {
    int n;
    takes_arguments(const index<1> &i) : n(i[0]) {}
    takes_arguments(index<2>) : n(2) {}
    takes_arguments(int (&a)[4]) : n(a[0]) {}
    takes_arguments(int a[3], int) : n(a[0]) {}
    takes_arguments(decltype(1.5f + 1)) : n(3) {}
    takes_arguments() restrict(amp, cpu) : n(0) {}
    takes_arguments(const takes_arguments &o) restrict(amp, cpu) : n(o.n) {}
    takes_arguments(const takes_arguments &, index<2>) : n(1) {}
};
struct default_for_each_side {
    int n;
    default_for_each_side() restrict(cpu) : n(1) {}
    default_for_each_side() restrict(amp) : n(2) {}
};
struct names_no_members {
    takes_arguments all;
    index<1> at;
    default_for_each_side by_side;
    names_no_members() restrict(amp) {}
    ~names_no_members() = default;
};
struct holds_what_takes_arguments {
    takes_arguments held;
};
void implicit_members(array_view<int> v) {
    implicit_members_of<names_no_members>(v);
    implicit_members_of<holds_what_takes_arguments>(v);
    implicit_members_of<outer_of_two_copies>(v);
    implicit_members_of<two_copies_by_two_bases>(v);
    implicit_members_of<box_of_any<two_copies>>(v);
    implicit_members_of<box_of_any_by_base<outer_of_two_copies>>(v);
    implicit_members_of<holds_copies_for_both>(v);
}
