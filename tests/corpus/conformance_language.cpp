// Tests of the language in restrict(amp) code: functions, classes, statements and tile_static variables.
#include "conformance.h"

namespace functions {
int twice(int x) restrict(amp, cpu) {
    return 2 * x;
}
int declared_before(int x) restrict(amp, cpu);
inline int with_default(int x, int y = 5) restrict(amp, cpu) {
    return x * y;
}
void through_reference(int &x) restrict(amp, cpu) {
    x += 1;
}
void through_pointer(int *x) restrict(amp, cpu) {
    *x *= 3;
}
int overloaded(int) restrict(amp, cpu) {
    return 1;
}
int overloaded(float) restrict(amp, cpu) {
    return 2;
}
int overloaded(const int *) restrict(amp, cpu) {
    return 3;
}
int overloaded(int, int) restrict(amp, cpu) {
    return 4;
}
template <typename T> T of_template(T a, T b) restrict(amp, cpu) {
    return a < b ? b : a;
}
template <> float of_template<float>(float a, float b) restrict(amp, cpu) {
    return a + b;
}
template <int N> struct factorial {
    static int value() restrict(amp, cpu) { return N * factorial<N - 1>::value(); }
};
template <> struct factorial<0> {
    static int value() restrict(amp, cpu) { return 1; }
};
int declared_before(int x) restrict(amp, cpu) {
    return x - 1;
}

struct calls {
    static int run() restrict(amp, cpu) {
        REQUIRE(twice(4) == 8 && declared_before(4) == 3 && with_default(2) == 10 && with_default(2, 2) == 4);
        int x = 1;
        through_reference(x);
        through_pointer(&x);
        REQUIRE(x == 6);
        return 0;
    }
};
struct overloads {
    static int run() restrict(amp, cpu) {
        int x = 0;
        REQUIRE(overloaded(1) == 1 && overloaded(1.0f) == 2 && overloaded(&x) == 3 && overloaded(1, 2) == 4);
        return 0;
    }
};
struct templates {
    static int run() restrict(amp, cpu) {
        REQUIRE(of_template(3, 4) == 4 && of_template(3.0f, 4.0f) == 7.0f && of_template<unsigned>(3, 4u) == 4u &&
                factorial<5>::value() == 120);
        return 0;
    }
};
int &larger(int &a, int &b) restrict(amp, cpu) {
    return a < b ? b : a;
}
struct references_as_results {
    static int run() restrict(amp, cpu) {
        int a = 1, b = 2;
        larger(a, b) = 10;
        REQUIRE(b == 10);
        int &r = larger(a, b);
        r++;
        REQUIRE(b == 11);
        return 0;
    }
};
int sum(const int (&v)[4]) restrict(amp, cpu) {
    return v[0] + v[1] + v[2] + v[3];
}
int sum_of(const int *v, int n) restrict(amp, cpu) {
    int s = 0;
    while (n-- > 0)
        s += *v++;
    return s;
}
struct arrays_and_pointers {
    static int run() restrict(amp, cpu) {
        int v[4] = {1, 2, 3, 4}, m[2][3] = {{1, 2, 3}, {4, 5, 6}};
        REQUIRE(sum(v) == 10 && sum_of(v + 1, 2) == 5 && sum_of(&m[1][0], 3) == 15 && sizeof(m) / sizeof(m[0][0]) == 6);
        int *p = v, *const q = &v[3];
        ++p;
        p[1] = 30;
        *q = 40;
        REQUIRE(v[2] == 30 && v[3] == 40 && q - p == 2 && p < q && *(q - 2) == 2);
        return 0;
    }
};
} // namespace functions

namespace classes {
class base {
  protected:
    int m_x;

  public:
    base(int x) restrict(amp, cpu) : m_x(x) {}
    int get() const restrict(amp, cpu) { return m_x; }
    int hidden() const restrict(amp, cpu) { return 1; }
};
class derived : public base {
    float m_y;

  public:
    derived(int x, float y) restrict(amp, cpu) : base(x), m_y(y) {}
    int hidden() const restrict(amp, cpu) { return base::hidden() + 1; }
    float both() const restrict(amp, cpu) { return m_x + m_y; }
};
struct inheritance {
    static int run() restrict(amp, cpu) {
        derived d(3, 0.5f);
        base &b = d;
        const base sliced = d;
        REQUIRE(d.get() == 3 && d.both() == 3.5f && d.hidden() == 2 && b.hidden() == 1 && sliced.get() == 3);
        return 0;
    }
};
struct left_part {
    int l;
};
struct right_part {
    int r;
};
struct with_two_bases : left_part, right_part {
    int member;
};
struct multiple_inheritance {
    static int run() restrict(amp, cpu) {
        with_two_bases t;
        t.l = 1;
        t.r = 2;
        t.member = 3;
        right_part &r = t;
        left_part *l = &t;
        r.r = 20;
        l->l = 10;
        REQUIRE(t.l + t.r + t.member == 33);
        return 0;
    }
};
struct number {
    int v;
    number(int x = 0) restrict(amp, cpu) : v(x) {}
    number(const number &o) restrict(amp, cpu) : v(o.v) {}
    ~number() restrict(amp, cpu) {}
    number &operator=(const number &o) restrict(amp, cpu) {
        v = o.v;
        return *this;
    }
    number &operator+=(const number &o) restrict(amp, cpu) {
        v += o.v;
        return *this;
    }
    number operator-() const restrict(amp, cpu) { return number(-v); }
    number &operator++() restrict(amp, cpu) {
        ++v;
        return *this;
    }
    number operator++(int) restrict(amp, cpu) { return number(v++); }
    bool operator!() const restrict(amp, cpu) { return v == 0; }
    operator float() const restrict(amp, cpu) { return v + 0.25f; }
    int operator()(int a, int b) const restrict(amp, cpu) { return v * a + b; }
    int &operator[](int) restrict(amp, cpu) { return v; }
    friend number operator*(const number &a, const number &b) restrict(amp, cpu) { return number(a.v * b.v); }
    friend bool operator<(const number &a, const number &b) restrict(amp, cpu) { return a.v < b.v; }
};
struct operators {
    static int run() restrict(amp, cpu) {
        number a(3), b = 4, c;
        c = a;
        c += b;
        REQUIRE(c.v == 7 && (-c).v == -7 && (a * b).v == 12 && a < b && !number());
        REQUIRE((++c).v == 8 && (c++).v == 8 && c.v == 9 && c(2, 1) == 19);
        c[0] = 5;
        float f = c;
        REQUIRE(f == 5.25f && static_cast<float>(a) == 3.25f);
        return 0;
    }
};
struct counted {
    array_view<int> m_count;
    counted(const array_view<int> &count) restrict(amp, cpu) : m_count(count) { ++m_count[0]; }
    ~counted() restrict(amp, cpu) { m_count[0] += 100; }
};
struct destructors_run {
    static int run() restrict(amp, cpu) {
        int memory[1] = {0};
        array_view<int> count(memory);
        {
            counted a(count), b(count);
            if (count[0] == 2) {
                counted c(count);
            }
        }
        for (int i = 0; i < 3; ++i) {
            counted d(count);
            if (i == 1) break;
        }
        REQUIRE(count[0] == 505);
        return 0;
    }
};
struct with_statics {
    static const int constant = 7;
    enum { enumerated = 9 };
    typedef int inner_type;
    struct nested {
        inner_type x;
        int twice() const restrict(amp, cpu) { return x * 2; }
    };
    static int function(int x) restrict(amp, cpu) { return x + constant; }
};
struct statics_and_nested_classes {
    static int run() restrict(amp, cpu) {
        with_statics::nested n = {21};
        REQUIRE(with_statics::constant == 7 && with_statics::enumerated == 9 && with_statics::function(1) == 8 &&
                n.twice() == 42);
        return 0;
    }
};
struct local_classes {
    static int run() restrict(amp, cpu) {
        struct local {
            int x;
            int plus(int y) const { return x + y; }
            static int minus(int a, int b) { return a - b; }
        };
        local l = {5};
        REQUIRE(l.plus(3) == 8 && local::minus(5, 3) == 2);
        return 0;
    }
};
union bits {
    float f;
    unsigned u;
};
struct unions {
    static int run() restrict(amp, cpu) {
        bits b;
        b.f = 1.0f;
        REQUIRE(b.u == 0x3f800000u);
        b.u = 0x40000000u;
        REQUIRE(b.f == 2.0f);
        return 0;
    }
};
struct member_functions {
    int x;
    member_functions &add(int y) restrict(amp, cpu) {
        this->x += y;
        return *this;
    }
    int get() restrict(amp, cpu) { return x; }
    int get() const restrict(amp, cpu) { return -x; }
    static int run() restrict(amp, cpu) {
        member_functions m = {1};
        const member_functions &c = m;
        member_functions *p = &m;
        REQUIRE(m.add(2).add(3).get() == 6 && c.get() == -6 && p->add(1).x == 7 && (*p).get() == 7);
        return 0;
    }
};
} // namespace classes

namespace statements {
struct loops {
    static int run() restrict(amp, cpu) {
        int sum = 0;
        for (int i = 0, j = 10; i < j; ++i, --j) {
            if (i == 2) continue;
            sum += j;
        }
        REQUIRE(sum == 10 + 9 + 7 + 6);
        int n = 0;
        do {
            n += 3;
        } while (n < 10);
        while (true)
            if (++n > 20) break;
        REQUIRE(n == 21);
        for (;;) {
            if (n-- < 5) return n == 3 ? 0 : __LINE__;
        }
    }
};
struct switches {
    static int choose(int x) restrict(amp, cpu) {
        switch (x) {
        case 0:
            return 10;
        case 1:
        case 2: {
            int y = x * 100;
            return y;
        }
        case 3:
            x += 5;
            // falls through
        case 4:
            x += 1;
            break;
        default:
            return -1;
        }
        return x;
    }
    static int run() restrict(amp, cpu) {
        REQUIRE(choose(0) == 10 && choose(1) == 100 && choose(2) == 200 && choose(3) == 9 && choose(4) == 5 &&
                choose(99) == -1);
        return 0;
    }
};
enum color { red, green = 5, blue };
enum class strong : int { one = 1, two };
struct enumerations {
    static int run() restrict(amp, cpu) {
        color c = blue;
        strong s = strong::two;
        REQUIRE(c == 6 && static_cast<int>(s) == 2 && s != strong::one && color(5) == green);
        switch (s) {
        case strong::one:
            return __LINE__;
        case strong::two:
            break;
        }
        return 0;
    }
};
struct arithmetic {
    static int run() restrict(amp, cpu) {
        int a = -7;
        unsigned u = 0x80000000u;
        REQUIRE(a / 2 == -3 && a % 2 == -1 && (a >> 1) == -4 && (u >> 31) == 1u && (u << 1) == 0u && ~a == 6);
        REQUIRE((a & 0xff) == 0xf9 && (a ^ a) == 0 && (5 | 2) == 7 && -a == 7 && +a == -7);
        REQUIRE(static_cast<unsigned>(-1) == 0xffffffffu && static_cast<int>(3.99f) == 3 &&
                static_cast<int>(-3.99f) == -3 && static_cast<float>(u) == 2147483648.0f);
        REQUIRE(1 / 2 * 2 == 0 && 1.0f / 4 == 0.25f && 7u % 4 == 3);
        a += 10;
        a -= 1;
        a *= 6;
        a /= 4;
        a %= 2;
        a <<= 4;
        a |= 3;
        a &= ~1;
        a ^= 0xf0;
        a >>= 1;
        REQUIRE(a == ((((((2 * 6) / 4) % 2) << 4 | 3) & ~1) ^ 0xf0) >> 1);
        return 0;
    }
};
struct logic {
    static bool count(int &calls, bool result) restrict(amp, cpu) {
        ++calls;
        return result;
    }
    static int run() restrict(amp, cpu) {
        int calls = 0;
        bool b = count(calls, false) && count(calls, true);
        REQUIRE(!b && calls == 1);
        b = count(calls, true) || count(calls, true);
        REQUIRE(b && calls == 2);
        int x = b ? 5 : 6, y = (x++, x + 1);
        REQUIRE(x == 6 && y == 7 && (true ? 1 : 2) == 1 && !!x == true);
        const bool yes = true, no = false;
        REQUIRE(yes + no + b == 2);
        return 0;
    }
};
struct casts {
    static int run() restrict(amp, cpu) {
        float f = 2.5f;
        const int c = 3;
        int x = (int)f + int(2.5) + static_cast<int>(f) + const_cast<int &>(c);
        REQUIRE(x == 9 && *reinterpret_cast<unsigned *>(&f) == 0x40200000u);
        classes::derived d(1, 2.0f);
        classes::base *b = &d;
        REQUIRE(static_cast<classes::derived *>(b)->both() == 3.0f);
        return 0;
    }
};
struct lambdas {
    static int run() restrict(amp, cpu) {
        int base = 10;
        auto add = [=](int x) restrict(amp, cpu) {
            return base + x;
        };
        auto twice = [add](int x) restrict(amp, cpu)->int {
            return add(add(x));
        };
        auto none = [](float x) restrict(amp, cpu) {
            return x * 0.5f;
        };
        base = 0;
        REQUIRE(add(1) == 11 && twice(1) == 21 && none(3.0f) == 1.5f);
        auto counter = [base]() mutable restrict(amp, cpu) {
            return ++base;
        };
        REQUIRE(counter() == 1 && counter() == 2 && base == 0);
        return 0;
    }
};
struct constants_of_the_file {
    static int run() restrict(amp, cpu);
};
const int file_constant = 12;
static const float file_float = 1.5f;
constexpr int file_table[] = {1, 2, 3};
int constants_of_the_file::run() restrict(amp, cpu) {
    REQUIRE(file_constant == 12 && file_float * 2 == 3.0f && file_table[2] == 3);
    return 0;
}
struct auto_and_decltype {
    static int run() restrict(amp, cpu) {
        auto x = 1.5f;
        decltype(x) y = x + 1;
        const auto &r = y;
        int v[] = {1, 2, 3}, sum = 0;
        for (auto i : v)
            sum += i;
        for (int &i : v)
            i *= 2;
        REQUIRE(r == 2.5f && sum == 6 && v[2] == 6);
        return 0;
    }
};
} // namespace statements

namespace tiles {
using concurrency::graphics::float_2;
struct cell {
    int count;
    float_2 position;
};
struct storage {
    cell cells[4][2];
    int total;
};
struct tile_static_structs {
    static int run() {
        std::vector<int> out(16);
        array_view<int> v(out);
        parallel_for_each(
            v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                tile_static storage s;
                const int l = t.local[0];
                s.cells[l / 2][l % 2].count = t.global[0];
                s.cells[l / 2][l % 2].position = float_2(float(l), 0.5f);
                if (l == 0) s.total = 0;
                t.barrier.wait();
                atomic_fetch_add(&s.total, s.cells[(7 - l) / 2][(7 - l) % 2].count);
                t.barrier.wait();
                v[t] = s.total + int(s.cells[3][1].position.x);
            });
        REQUIRE(v[0] == 28 + 7 && v[15] == 92 + 7);
        return 0;
    }
};
int exchange(tiled_index<4, 4> t, int value) restrict(amp) {
    tile_static int slots[4][4];
    slots[t.local[0]][t.local[1]] = value;
    t.barrier.wait_with_tile_static_memory_fence();
    const int result = slots[t.local[1]][t.local[0]];
    t.barrier.wait_with_tile_static_memory_fence();
    return result;
}
struct tile_static_in_functions {
    static int run() {
        std::vector<int> out(32);
        array_view<int, 2> v(4, 8, out);
        parallel_for_each(
            v.extent.tile<4, 4>(), [=](tiled_index<4, 4> t) restrict(amp) {
                const int once = exchange(t, t.global[0] * 10 + t.global[1]);
                v[t] = exchange(t, once + 1000);
            });
        REQUIRE(v(1, 2) == 1012 && v(3, 7) == 1037);
        return 0;
    }
};
struct barriers_and_fences {
    static int run() {
        std::vector<int> out(64);
        array_view<int> v(out);
        parallel_for_each(
            v.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                tile_static int a[16];
                const int l = t.local[0];
                a[l] = l;
                t.barrier.wait();
                int sum = a[(l + 1) % 16];
                t.barrier.wait_with_all_memory_fence();
                a[l] = sum;
                t.barrier.wait_with_tile_static_memory_fence();
                sum += a[(l + 1) % 16];
                v[t] = sum;
                t.barrier.wait_with_global_memory_fence();
                const int neighbour = v[t.tile_origin[0] + (l + 1) % 16];
                all_memory_fence(t.barrier);
                global_memory_fence(t.barrier);
                tile_static_memory_fence(t.barrier);
                t.barrier.wait();
                v[t] = neighbour;
            });
        REQUIRE(v[0] == 2 + 3 && v[13] == 15 + 0 && v[63] == 1 + 2);
        return 0;
    }
};
template <typename T, int N> struct tile_sum {
    static T of(tiled_index<N> t, T value) restrict(amp) {
        tile_static T slots[N];
        slots[t.local[0]] = value;
        for (int half = N / 2; half > 0; half /= 2) {
            t.barrier.wait();
            if (t.local[0] < half) slots[t.local[0]] += slots[t.local[0] + half];
        }
        t.barrier.wait();
        const T sum = slots[0];
        t.barrier.wait();
        return sum;
    }
};
struct tile_static_in_class_templates {
    static int run() {
        std::vector<float> out(32);
        array_view<float> v(out);
        parallel_for_each(
            v.extent.tile<16>(), [=](tiled_index<16> t) restrict(amp) {
                v[t] = tile_sum<int, 16>::of(t, t.global[0]) + tile_sum<float, 16>::of(t, 0.5f);
            });
        REQUIRE(v[0] == 128.0f && v[31] == 384.0f);
        return 0;
    }
};
struct pointers_to_tile_static {
    static int run() {
        std::vector<int> out(8);
        array_view<int> v(out);
        parallel_for_each(
            v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                tile_static int a[8];
                int *p = a + t.local[0];
                *p = 7 - t.local[0];
                t.barrier.wait();
                const int *q = &a[*p];
                v[t] = *q + functions::sum_of(a, 8);
            });
        REQUIRE(v[0] == 28 && v[7] == 35);
        return 0;
    }
};
struct tile_barrier_as_argument {
    static void wait(const tile_barrier &b) restrict(amp) { b.wait(); }
    static void wait_by_value(tile_barrier b) restrict(amp) { b.wait_with_tile_static_memory_fence(); }
    static int run() {
        std::vector<int> out(8);
        array_view<int> v(out);
        parallel_for_each(
            v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                tile_static int a[8];
                a[t.local[0]] = t.local[0];
                wait(t.barrier);
                const int x = a[7 - t.local[0]];
                wait_by_value(t.barrier);
                a[t.local[0]] = x * 2;
                wait(t.barrier);
                v[t] = a[0];
            });
        REQUIRE(v[3] == 14);
        return 0;
    }
};
} // namespace tiles

int main() {
    const conformance::feature features[] = {BOTH(functions::calls),
                                             BOTH(functions::overloads),
                                             BOTH(functions::templates),
                                             BOTH(functions::references_as_results),
                                             BOTH(functions::arrays_and_pointers),
                                             BOTH(classes::inheritance),
                                             BOTH(classes::multiple_inheritance),
                                             BOTH(classes::operators),
                                             BOTH(classes::destructors_run),
                                             BOTH(classes::statics_and_nested_classes),
                                             BOTH(classes::local_classes),
                                             BOTH(classes::unions),
                                             BOTH(classes::member_functions),
                                             BOTH(statements::loops),
                                             BOTH(statements::switches),
                                             BOTH(statements::enumerations),
                                             BOTH(statements::arithmetic),
                                             BOTH(statements::logic),
                                             BOTH(statements::casts),
                                             BOTH(statements::lambdas),
                                             BOTH(statements::constants_of_the_file),
                                             BOTH(statements::auto_and_decltype),
                                             CALLED_ON_HOST(tiles::tile_static_structs),
                                             CALLED_ON_HOST(tiles::tile_static_in_functions),
                                             CALLED_ON_HOST(tiles::barriers_and_fences),
                                             CALLED_ON_HOST(tiles::tile_static_in_class_templates),
                                             CALLED_ON_HOST(tiles::pointers_to_tile_static),
                                             CALLED_ON_HOST(tiles::tile_barrier_as_argument)};
    return conformance::main(features);
}
