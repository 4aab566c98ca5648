// Tests of short vectors, norm, unorm, fast_math, precise_math and direct3d, in restrict(cpu) and restrict(amp) code.
#include "conformance.h"

using namespace concurrency::graphics;

inline bool near(float a, float b, float tolerance = 1e-4f) restrict(amp, cpu) {
    return a - b < tolerance && b - a < tolerance;
}

struct vector_constructors {
    static int run() restrict(amp, cpu) {
        int_2 a, b(3), c(1, 2);
        float_3 d(1.0f, 2.0f, 3.0f), e(0.5f);
        uint_4 f(1u, 2u, 3u, 4u);
        REQUIRE(a.x == 0 && b.x == 3 && b.y == 3 && c.y == 2 && d.z == 3.0f && e.z == 0.5f && f.w == 4u);
        float_2 g(c);
        int_3 h(d);
        uint_4 i(float_4(1.5f, 2.5f, 3.5f, 4.5f));
        REQUIRE(g.y == 2.0f && h.z == 3 && i.w == 4u);
        return 0;
    }
};
struct vector_arithmetic {
    static int run() restrict(amp, cpu) {
        const float_3 a(1, 2, 3), b(4, 5, 6);
        REQUIRE(a + b == float_3(5, 7, 9) && b - a == float_3(3, 3, 3) && a * b == float_3(4, 10, 18) &&
                b / a == float_3(4, 2.5f, 2));
        REQUIRE(a * 2.0f == float_3(2, 4, 6) && 2.0f * a == a + a && 6.0f / a == float_3(6, 3, 2) &&
                a - 1.0f == float_3(0, 1, 2) && -a == float_3(-1, -2, -3));
        float_3 c(a);
        c += b;
        c -= 1.0f;
        c *= float_3(1, 2, 3);
        c /= 2.0f;
        REQUIRE(c == float_3(2, 6, 12));
        REQUIRE(++c == float_3(3, 7, 13) && c-- == float_3(3, 7, 13) && c != a);
        return 0;
    }
};
struct vector_integers {
    static int run() restrict(amp, cpu) {
        const int_4 a(1, 2, 3, 4);
        REQUIRE(a % 2 == int_4(1, 0, 1, 0) && (a << 1) == int_4(2, 4, 6, 8) && (a >> 1) == int_4(0, 1, 1, 2) &&
                (a & 1) == int_4(1, 0, 1, 0));
        REQUIRE((a | 8) == int_4(9, 10, 11, 12) && (a ^ a) == int_4(0) && ~a == int_4(-2, -3, -4, -5));
        uint_2 u(5u, 6u);
        u %= 4u;
        u <<= 2u;
        u |= uint_2(1u, 2u);
        REQUIRE(u == uint_2(5u, 10u));
        return 0;
    }
};
struct vector_swizzles {
    static int run() restrict(amp, cpu) {
        float_4 v(1, 2, 3, 4);
        const float_2 a = v.xy, b = v.wz;
        const float_3 c = v.bgr;
        REQUIRE(a == float_2(1, 2) && b == float_2(4, 3) && c == float_3(3, 2, 1) && v.a == 4 && v.g == 2);
        v.xy = float_2(10, 20);
        v.wz = v.xy;
        REQUIRE(v == float_4(10, 20, 20, 10));
        v.rgba = v.abgr;
        REQUIRE(v == float_4(10, 20, 20, 10));
        v.x += 5;
        v.zyx = float_3(1, 2, 3);
        REQUIRE(v == float_4(3, 2, 1, 10));
        float_2 sum = v.xy + v.zw;
        REQUIRE(sum == float_2(4, 12) && float_2(v.xz * 2.0f) == float_2(6, 2));
        return 0;
    }
};
struct vector_accessors {
    static int run() restrict(amp, cpu) {
        int_3 v(1, 2, 3);
        REQUIRE(v.get_x() == 1 && v.get_zy() == int_2(3, 2) && v.get_zyx() == int_3(3, 2, 1));
        v.set_x(10);
        v.set_yz(int_2(20, 30));
        v.ref_z() += 1;
        v.ref_r() -= 1;
        REQUIRE(v == int_3(9, 20, 31) && int_3::size == 3);
        return 0;
    }
};
template <typename V> typename V::value_type sum_of(const V &v) restrict(amp, cpu) {
    return v.x + v.y;
}
struct vector_traits {
    static int run() restrict(amp, cpu) {
        short_vector<float, 3>::type a(1, 2, 3);
        short_vector<int, 1>::type b = 4;
        short_vector_traits<uint_2>::value_type c = 5u;
        REQUIRE(a.z == 3 && b == 4 && c == 5u && short_vector_traits<uint_2>::size == 2 &&
                short_vector_traits<float>::size == 1);
        REQUIRE(sum_of(int_2(1, 2)) == 3 && sum_of(float_4(0.5f)) == 1.0f);
        return 0;
    }
};
struct vectors_of_doubles {
    static int run() restrict(amp, cpu) {
        double_2 a(1.0, 2.0), b(float_2(0.5f, 0.25f));
        const double_2 c = a * b + 1.0;
        REQUIRE(c.x == 1.5 && c.y == 1.5);
        const int_2 d(c * 2.0);
        REQUIRE(d == int_2(3, 3));
        return 0;
    }
};
struct unorms {
    static int run() restrict(amp, cpu) {
        unorm a(1.5f), b(-1.0f), c(0.25f), d;
        REQUIRE(float(a) == 1.0f && float(b) == 0.0f && float(c) == 0.25f && float(d) == 0.0f);
        REQUIRE(float(c + a) == 1.0f && float(c - a) == 0.0f && float(c * unorm(0.5f)) == 0.125f && c < a && c != a);
        c += unorm(0.25f);
        c *= unorm(0.5f);
        REQUIRE(float(c) == 0.25f);
        const float f = c + 0.5f;
        REQUIRE(f == 0.75f);
        return 0;
    }
};
struct norms {
    static int run() restrict(amp, cpu) {
        norm a(-1.5f), b(0.5f), c(unorm(0.75f));
        REQUIRE(float(a) == -1.0f && float(-b) == -0.5f && float(c) == 0.75f && float(a - b) == -1.0f &&
                float(b + c) == 1.0f);
        REQUIRE(b > a && a <= b && a == norm(-2));
        unorm d(a);
        REQUIRE(float(d) == 0.0f);
        return 0;
    }
};
struct vectors_of_norms {
    static int run() restrict(amp, cpu) {
        unorm_4 a(0.5f, 1.5f, -1.0f, 0.25f);
        norm_2 b(-3.0f, 0.5f);
        REQUIRE(float(a.y) == 1.0f && float(a.z) == 0.0f && float(b.x) == -1.0f);
        a += unorm_4(unorm(0.25f));
        REQUIRE(float(a.x) == 0.75f && float(a.y) == 1.0f);
        const norm_2 c = -b;
        const float_2 d(c);
        REQUIRE(d == float_2(1.0f, -0.5f));
        return 0;
    }
};
struct short_vector_aliases {
    static int run() restrict(amp, cpu) {
        using namespace concurrency::graphics::direct3d;
        float3 a(1, 2, 3);
        uint4 b(1u);
        int2 c(4, 5);
        REQUIRE(a.z == 3 && b.w == 1u && c.y == 5);
        return 0;
    }
};
struct particle_of_vectors {
    float_3 position;
    int_2 cell;
    float weight;
};
struct vectors_in_memory {
    static int run() {
        std::vector<particle_of_vectors> data(8);
        array_view<particle_of_vectors> v(data);
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) {
                particle_of_vectors p;
                p.position = float_3(float(i[0]), 1, 2);
                p.cell.xy = int_2(i[0], -i[0]).yx;
                p.weight = p.position.x * 0.5f;
                v[i] = p;
                v[i].position.yz = v[i].position.zy;
                v[i].cell.x -= 1;
            });
        REQUIRE(v[6].position == float_3(6, 2, 1) && v[6].cell == int_2(-7, 6) && v[6].weight == 3.0f);
        return 0;
    }
};
struct vectors_captured {
    static int run() {
        std::vector<float_4> data(4);
        array_view<float_4> v(data);
        const float_4 add(1, 2, 3, 4);
        const int_2 pair(3, 4);
        parallel_for_each(
            v.extent, [=](index<1> i) restrict(amp) { v[i] = add * float(pair.y) + add.wzyx * float(i[0]); });
        REQUIRE(v[2] == float_4(12, 14, 16, 18));
        return 0;
    }
};
struct tile_static_vectors {
    static int run() {
        std::vector<float_2> data(16);
        array_view<float_2> v(data);
        parallel_for_each(
            v.extent.tile<8>(), [=](tiled_index<8> t) restrict(amp) {
                tile_static float_2 a[8];
                tile_static int_4 shared;
                a[t.local[0]] = float_2(float(t.global[0]), 1.0f);
                if (t.local[0] == 0) shared = int_4(1, 2, 3, 4);
                t.barrier.wait();
                v[t] = a[7 - t.local[0]].yx + float(shared.w);
            });
        REQUIRE(v[0] == float_2(5, 11) && v[15] == float_2(5, 12));
        return 0;
    }
};

struct fast_functions {
    static int run() restrict(amp, cpu) {
        const float x = 0.5f;
        REQUIRE(near(fast_math::sqrt(2.0f), 1.41421356f) && near(fast_math::rsqrt(4.0f), 0.5f) &&
                near(fast_math::exp(1.0f), 2.7182818f) && near(fast_math::log(x), -0.6931472f));
        REQUIRE(near(fast_math::sin(x), 0.4794255f) && near(fast_math::cos(x), 0.8775826f) &&
                near(fast_math::tan(x), 0.5463025f) && near(fast_math::atan2(1.0f, -1.0f), 2.3561945f));
        REQUIRE(near(fast_math::pow(2.0f, 10.0f), 1024.0f, 0.01f) && near(fast_math::exp2(3.0f), 8.0f) &&
                near(fast_math::log2(8.0f), 3.0f) && near(fast_math::log10(1000.0f), 3.0f));
        REQUIRE(fast_math::floor(-1.5f) == -2.0f && fast_math::ceil(-1.5f) == -1.0f &&
                fast_math::trunc(-1.5f) == -1.0f && fast_math::fabs(-3.0f) == 3.0f);
        REQUIRE(fast_math::fmax(1.0f, 2.0f) == 2.0f && fast_math::fmin(1.0f, 2.0f) == 1.0f &&
                fast_math::fmod(7.5f, 2.0f) == 1.5f);
        float s, c, whole;
        fast_math::sincos(x, &s, &c);
        int e;
        const float m = fast_math::frexp(12.0f, &e);
        REQUIRE(near(s, 0.4794255f) && near(c, 0.8775826f) && near(fast_math::modf(3.25f, &whole), 0.25f) &&
                whole == 3.0f && m == 0.75f && e == 4 && fast_math::ldexp(m, e) == 12.0f);
        REQUIRE(fast_math::isnan(x) == 0 && fast_math::isfinite(x) != 0 && fast_math::isinf(x) == 0 &&
                fast_math::signbit(-x) != 0);
        REQUIRE(near(fast_math::sinf(x), fast_math::sin(x)) && near(fast_math::tanhf(x), 0.4621172f) &&
                near(fast_math::asin(x), 0.5235988f, 1e-3f) && near(fast_math::acos(x), 1.0471976f, 1e-3f));
        return 0;
    }
};
struct precise_functions {
    static int run() restrict(amp, cpu) {
        REQUIRE(near(precise_math::cbrt(27.0f), 3.0f) && near(precise_math::hypot(3.0f, 4.0f), 5.0f) &&
                near(precise_math::erf(0.5f), 0.5204999f) && near(precise_math::tgamma(5.0f), 24.0f, 0.01f));
        REQUIRE(near(precise_math::expm1(0.5f), 0.6487213f) && near(precise_math::log1p(0.5f), 0.4054651f) &&
                near(precise_math::sinpi(0.5f), 1.0f) && precise_math::copysign(2.0f, -1.0f) == -2.0f);
        REQUIRE(precise_math::fma(2.0f, 3.0f, 4.0f) == 10.0f && precise_math::fdim(5.0f, 3.0f) == 2.0f &&
                precise_math::nearbyint(2.5f) == 2.0f && precise_math::ilogb(10.0f) == 3);
        REQUIRE(near(precise_math::phi(0.0f), 0.5f) && near(precise_math::asinh(1.0f), 0.8813736f) &&
                precise_math::remainder(7.0f, 4.0f) == -1.0f);
        return 0;
    }
};
struct precise_functions_of_doubles {
    static int run() restrict(amp, cpu) {
        const double x = precise_math::exp(1.0) - 2.718281828459045, y = precise_math::sqrt(2.0) - 1.4142135623730951,
                     z = precise_math::sin(0.5) - 0.479425538604203;
        REQUIRE(x < 1e-12 && x > -1e-12 && y < 1e-12 && y > -1e-12 && z < 1e-12 && z > -1e-12);
        const double p = precise_math::pow(1.5, 3.0), l = precise_math::log(p) / precise_math::log(1.5);
        REQUIRE(p > 3.37499999 && p < 3.37500001 && l > 2.99999999 && l < 3.00000001);
        return 0;
    }
};
struct direct3d_functions {
    static int run() restrict(amp, cpu) {
        REQUIRE(concurrency::direct3d::clamp(5, 0, 3) == 3 && concurrency::direct3d::clamp(-1.0f, 0.0f, 1.0f) == 0.0f &&
                concurrency::direct3d::countbits(0xf0u) == 4u && concurrency::direct3d::reversebits(1u) == 0x80000000u);
        REQUIRE(concurrency::direct3d::firstbithigh(16) == 4 && concurrency::direct3d::firstbitlow(24) == 3 &&
                concurrency::direct3d::imax(-1, 2) == 2 && concurrency::direct3d::umin(1u, 0xffffffffu) == 1u);
        REQUIRE(concurrency::direct3d::mad(2, 3, 4) == 10 && concurrency::direct3d::mad(2.0f, 3.0f, 4.0f) == 10.0f &&
                near(concurrency::direct3d::rcp(4.0f), 0.25f) && concurrency::direct3d::sign(-2.5f) == -1);
        REQUIRE(concurrency::direct3d::saturate(1.5f) == 1.0f && concurrency::direct3d::step(1.0f, 2.0f) == 1.0f &&
                near(concurrency::direct3d::radians(180.0f), 3.1415927f) &&
                near(concurrency::direct3d::smoothstep(0.0f, 1.0f, 0.25f), 0.15625f));
        return 0;
    }
};

int main() {
    const conformance::feature features[] = {BOTH(vector_constructors),
                                             BOTH(vector_arithmetic),
                                             BOTH(vector_integers),
                                             BOTH(vector_swizzles),
                                             BOTH(vector_accessors),
                                             BOTH(vector_traits),
                                             BOTH(vectors_of_doubles),
                                             BOTH(unorms),
                                             BOTH(norms),
                                             BOTH(vectors_of_norms),
                                             BOTH(short_vector_aliases),
                                             CALLED_ON_HOST(vectors_in_memory),
                                             CALLED_ON_HOST(vectors_captured),
                                             CALLED_ON_HOST(tile_static_vectors),
                                             BOTH(fast_functions),
                                             AMP(precise_functions),
                                             AMP(precise_functions_of_doubles),
                                             BOTH(direct3d_functions)};
    return conformance::main(features);
}
