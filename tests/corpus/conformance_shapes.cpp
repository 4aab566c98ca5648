// Tests of index, extent, tiled_extent and tiled_index, in restrict(cpu) and restrict(amp) code.
#include "conformance.h"

struct index_default_is_zero {
    static int run() restrict(amp, cpu) {
        index<1> a;
        index<3> b;
        index<5> c;
        REQUIRE(a[0] == 0 && b[0] == 0 && b[2] == 0 && c[4] == 0);
        return 0;
    }
};
struct index_constructors {
    static int run() restrict(amp, cpu) {
        index<1> a(-3);
        index<2> b(1, 2);
        index<3> c(4, 5, 6);
        int v[4] = {7, 8, 9, 10};
        index<4> d(v);
        REQUIRE(a[0] == -3 && b[1] == 2 && c[2] == 6 && d[0] == 7 && d[3] == 10);
        index<4> e(d);
        index<4> f = e;
        REQUIRE(f == d);
        return 0;
    }
};
struct index_is_assigned {
    static int run() restrict(amp, cpu) {
        index<2> a(1, 2), b;
        b = a;
        a[0] = 9;
        REQUIRE(b[0] == 1 && b[1] == 2 && a[0] == 9);
        index<2> &r = (b = index<2>(5, 6));
        REQUIRE(&r == &b && b[1] == 6);
        return 0;
    }
};
struct index_compares {
    static int run() restrict(amp, cpu) {
        REQUIRE(index<3>(1, 2, 3) == index<3>(1, 2, 3));
        REQUIRE(!(index<3>(1, 2, 3) == index<3>(1, 2, 4)));
        REQUIRE(index<2>(1, 2) != index<2>(2, 1));
        REQUIRE(!(index<2>(1, 2) != index<2>(1, 2)));
        return 0;
    }
};
struct index_adds_and_subtracts {
    static int run() restrict(amp, cpu) {
        const index<2> a(10, 20), b(1, 2);
        REQUIRE(a + b == index<2>(11, 22) && a - b == index<2>(9, 18));
        index<2> c(a);
        c += b;
        REQUIRE(c == index<2>(11, 22));
        c -= a;
        REQUIRE(c == b);
        return 0;
    }
};
struct index_with_numbers {
    static int run() restrict(amp, cpu) {
        const index<2> a(10, 21);
        REQUIRE(a + 1 == index<2>(11, 22) && 1 + a == index<2>(11, 22));
        REQUIRE(a - 1 == index<2>(9, 20) && 30 - a == index<2>(20, 9));
        REQUIRE(a * 2 == index<2>(20, 42) && 2 * a == index<2>(20, 42));
        REQUIRE(a / 2 == index<2>(5, 10) && 42 / a == index<2>(4, 2));
        REQUIRE(a % 4 == index<2>(2, 1) && 25 % a == index<2>(5, 4));
        return 0;
    }
};
struct index_compound_with_numbers {
    static int run() restrict(amp, cpu) {
        index<3> a(10, 20, 30);
        a += 5;
        REQUIRE(a == index<3>(15, 25, 35));
        a -= 1;
        a *= 2;
        REQUIRE(a == index<3>(28, 48, 68));
        a /= 3;
        REQUIRE(a == index<3>(9, 16, 22));
        a %= 5;
        REQUIRE(a == index<3>(4, 1, 2));
        return 0;
    }
};
struct index_increments {
    static int run() restrict(amp, cpu) {
        index<2> a(1, 2);
        REQUIRE(++a == index<2>(2, 3));
        REQUIRE(a++ == index<2>(2, 3) && a == index<2>(3, 4));
        REQUIRE(--a == index<2>(2, 3));
        REQUIRE(a-- == index<2>(2, 3) && a == index<2>(1, 2));
        (++a)[1] = 50;
        REQUIRE(a == index<2>(2, 50));
        return 0;
    }
};
struct index_of_high_rank {
    static int run() restrict(amp, cpu) {
        int v[12];
        for (int i = 0; i < 12; ++i)
            v[i] = i * i;
        index<12> a(v);
        const index<12> b = a * 2 - a;
        for (int i = 0; i < 12; ++i)
            REQUIRE(b[i] == i * i);
        return 0;
    }
};
struct index_rank_and_value_type {
    static int run() restrict(amp, cpu) {
        REQUIRE(index<4>::rank == 4);
        index<4>::value_type v = 3;
        REQUIRE(v == 3);
        return 0;
    }
};
struct extent_constructors {
    static int run() restrict(amp, cpu) {
        extent<1> a(3), z;
        extent<2> b(1, 2);
        extent<3> c(4, 5, 6);
        const int v[5] = {1, 2, 3, 4, 5};
        extent<5> d(v);
        REQUIRE(z[0] == 0 && a[0] == 3 && b[1] == 2 && c[2] == 6 && d[4] == 5);
        return 0;
    }
};
struct extent_size {
    static int run() restrict(amp, cpu) {
        REQUIRE(extent<1>(7).size() == 7 && extent<2>(3, 4).size() == 12 && extent<3>(2, 3, 4).size() == 24);
        REQUIRE(extent<2>(5, 0).size() == 0 && extent<3>().size() == 0);
        return 0;
    }
};
struct extent_contains {
    static int run() restrict(amp, cpu) {
        const extent<2> e(3, 4);
        REQUIRE(e.contains(index<2>(0, 0)) && e.contains(index<2>(2, 3)));
        REQUIRE(!e.contains(index<2>(3, 0)) && !e.contains(index<2>(0, 4)) && !e.contains(index<2>(-1, 0)));
        REQUIRE(!extent<1>(0).contains(index<1>(0)));
        return 0;
    }
};
struct extent_with_index {
    static int run() restrict(amp, cpu) {
        const extent<2> e(10, 20);
        REQUIRE(e + index<2>(1, 2) == extent<2>(11, 22) && e - index<2>(1, 2) == extent<2>(9, 18));
        extent<2> f(e);
        f += index<2>(3, 3);
        f -= index<2>(1, 1);
        REQUIRE(f == extent<2>(12, 22));
        return 0;
    }
};
struct extent_with_numbers {
    static int run() restrict(amp, cpu) {
        const extent<3> e(4, 6, 8);
        REQUIRE(e + 1 == extent<3>(5, 7, 9) && 1 + e == extent<3>(5, 7, 9) && 10 - e == extent<3>(6, 4, 2));
        REQUIRE(e * 2 == extent<3>(8, 12, 16) && e / 2 == extent<3>(2, 3, 4) && 24 / e == extent<3>(6, 4, 3) &&
                e % 5 == extent<3>(4, 1, 3) && 7 % e == extent<3>(3, 1, 7));
        extent<3> f(e);
        f += 1;
        f -= 2;
        f *= 3;
        f /= 2;
        f %= 6;
        REQUIRE(f == extent<3>(4, 1, 4));
        REQUIRE((++f)[0] == 5 && (f++)[0] == 5 && (--f)[0] == 5 && (f--)[0] == 5 && f[0] == 4);
        return 0;
    }
};
struct extent_and_extent {
    static int run() restrict(amp, cpu) {
        extent<2> e(4, 6);
        REQUIRE(e + extent<2>(1, 1) == extent<2>(5, 7) && e - extent<2>(1, 1) == extent<2>(3, 5));
        e += extent<2>(2, 2);
        e -= extent<2>(1, 0);
        REQUIRE(e == extent<2>(5, 8) && e != extent<2>(5, 9));
        return 0;
    }
};
struct tiled_extent_of_one_dimension {
    static int run() restrict(amp, cpu) {
        tiled_extent<4> t = extent<1>(10).tile<4>();
        REQUIRE(t[0] == 10 && t.pad()[0] == 12 && t.truncate()[0] == 8 && t.tile_dim0 == 4 && t.rank == 1);
        REQUIRE(t.tile_extent[0] == 4 && t.get_tile_extent() == extent<1>(4));
        return 0;
    }
};
struct tiled_extent_of_two_dimensions {
    static int run() restrict(amp, cpu) {
        tiled_extent<4, 8> t(extent<2>(9, 16));
        REQUIRE(t.pad() == extent<2>(12, 16) && t.truncate() == extent<2>(8, 16));
        REQUIRE(t.tile_dim0 == 4 && t.tile_dim1 == 8 && t.size() == 144);
        tiled_extent<4, 8> u;
        u = t;
        REQUIRE(u == t && !(u != t));
        return 0;
    }
};
struct tiled_extent_of_three_dimensions {
    static int run() restrict(amp, cpu) {
        const tiled_extent<2, 3, 4> t = extent<3>(5, 5, 5).tile<2, 3, 4>();
        REQUIRE(t.pad() == extent<3>(6, 6, 8) && t.truncate() == extent<3>(4, 3, 4));
        extent<3> plain = t.pad();
        REQUIRE(plain.size() == 288 && t.contains(index<3>(4, 4, 4)));
        REQUIRE((tiled_extent<2, 3, 4>::tile_dim2 == 4) && t.tile_extent == extent<3>(2, 3, 4));
        return 0;
    }
};
struct tiled_extent_divisible {
    static int run() restrict(amp, cpu) {
        const tiled_extent<5> t = extent<1>(15).tile<5>();
        REQUIRE(t.pad() == t && t.truncate() == t && t.pad().pad().truncate() == t);
        return 0;
    }
};
struct large_tiled_extents {
    static int run() restrict(amp, cpu) {
        const tiled_extent<64, 32, 2> t = extent<3>(65, 33, 3).tile<64, 32, 2>();
        REQUIRE(t.pad() == extent<3>(128, 64, 4));
        return 0;
    }
};
// The use of index and extent as members, arguments and results
struct window {
    index<2> from;
    extent<2> size;
    window(const index<2> &f, const extent<2> &s) restrict(amp, cpu) : from(f), size(s) {}
    index<2> last() const restrict(amp, cpu) { return from + index<2>(size[0], size[1]) - 1; }
};
window move(window w, index<2> by) restrict(amp, cpu) {
    w.from += by;
    return w;
}
struct shapes_as_members {
    static int run() restrict(amp, cpu) {
        const window w = move(window(index<2>(1, 2), extent<2>(3, 4)), index<2>(10, 10));
        REQUIRE(w.last() == index<2>(13, 15));
        window many[2] = {w, window(index<2>(), extent<2>(1, 1))};
        many[0].size[1] = 7;
        REQUIRE(many[0].last()[1] == 18 && many[1].last() == index<2>(0, 0));
        return 0;
    }
};
template <typename Shape> int sum_of(const Shape &s) restrict(amp, cpu) {
    int sum = 0;
    for (int i = 0; i < Shape::rank; ++i)
        sum += s[i];
    return sum;
}
struct shapes_in_templates {
    static int run() restrict(amp, cpu) {
        REQUIRE(sum_of(index<3>(1, 2, 3)) == 6 && sum_of(extent<2>(4, 5)) == 9 &&
                sum_of(tiled_extent<2>(extent<1>(8))) == 8);
        return 0;
    }
};

struct tiled_index_members {
    static int run() {
        std::vector<int> wrong(1);
        array_view<int> wrong_vw(wrong);
        parallel_for_each(
            extent<2>(6, 8).tile<3, 4>(), [=](tiled_index<3, 4> t) restrict(amp) {
                const index<2> as_index = t;
                bool ok = t.global == t.tile_origin + t.local && as_index == t.global;
                ok = ok && t.tile_origin[0] == t.tile[0] * t.tile_dim0 && t.tile_origin[1] == t.tile[1] * t.tile_dim1;
                ok = ok && t.tile_extent == extent<2>(3, 4) && t.get_tile_extent()[1] == 4;
                ok = ok && extent<2>(3, 4).contains(t.local) && extent<2>(2, 2).contains(t.tile);
                ok = ok && tiled_index<3, 4>::rank == 2;
                if (!ok) atomic_fetch_inc(&wrong_vw[0]);
            });
        REQUIRE(wrong_vw[0] == 0);
        return 0;
    }
};
int by_value(tiled_index<2, 2, 2> t) restrict(amp) {
    return t.local[0] * 4 + t.local[1] * 2 + t.local[2];
}
int by_reference(const tiled_index<2, 2, 2> &t) restrict(amp) {
    tiled_index<2, 2, 2> copy(t);
    copy.barrier.wait();
    return by_value(copy);
}
struct tiled_index_is_passed_on {
    static int run() {
        std::vector<int> sums(8);
        array_view<int, 3> sums_vw(2, 2, 2, sums);
        parallel_for_each(
            extent<3>(4, 2, 2).tile<2, 2, 2>(), [=](tiled_index<2, 2, 2> t) restrict(amp) {
                tile_static int slots[2][2][2];
                slots[t.local[0]][t.local[1]][t.local[2]] = by_reference(t);
                tile_barrier b(t.barrier);
                b.wait_with_all_memory_fence();
                const index<3> turned(1 - t.local[0], 1 - t.local[1], 1 - t.local[2]);
                atomic_fetch_add(&sums_vw[t.local], slots[turned[0]][turned[1]][turned[2]]);
            });
        for (int i = 0; i < 8; ++i)
            REQUIRE(sums_vw(i / 4, i / 2 % 2, i % 2) == 2 * (7 - i));
        return 0;
    }
};
template <int Rank> int domain_of(const extent<Rank> &e) {
    std::vector<int> hits(e.size());
    array_view<int> hits_vw(hits);
    parallel_for_each(
        e, [=](index<Rank> idx) restrict(amp) {
            int flat = 0;
            for (int i = 0; i < Rank; ++i)
                flat = flat * e[i] + idx[i];
            atomic_fetch_inc(&hits_vw[flat]);
        });
    for (unsigned i = 0; i < e.size(); ++i)
        REQUIRE(hits_vw[i] == 1);
    return 0;
}
struct domains_of_ranks {
    static int run() {
        const int four[] = {2, 3, 4, 5}, six[] = {1, 2, 3, 2, 1, 4};
        REQUIRE(domain_of(extent<1>(130)) == 0 && domain_of(extent<2>(3, 70)) == 0 &&
                domain_of(extent<3>(5, 1, 9)) == 0);
        REQUIRE(domain_of(extent<4>(four)) == 0 && domain_of(extent<6>(six)) == 0);
        return 0;
    }
};

int main() {
    const conformance::feature features[] = {BOTH(index_default_is_zero),
                                             BOTH(index_constructors),
                                             BOTH(index_is_assigned),
                                             BOTH(index_compares),
                                             BOTH(index_adds_and_subtracts),
                                             BOTH(index_with_numbers),
                                             BOTH(index_compound_with_numbers),
                                             BOTH(index_increments),
                                             BOTH(index_of_high_rank),
                                             BOTH(index_rank_and_value_type),
                                             BOTH(extent_constructors),
                                             BOTH(extent_size),
                                             BOTH(extent_contains),
                                             BOTH(extent_with_index),
                                             BOTH(extent_with_numbers),
                                             BOTH(extent_and_extent),
                                             BOTH(tiled_extent_of_one_dimension),
                                             BOTH(tiled_extent_of_two_dimensions),
                                             BOTH(tiled_extent_of_three_dimensions),
                                             BOTH(tiled_extent_divisible),
                                             BOTH(large_tiled_extents),
                                             BOTH(shapes_as_members),
                                             BOTH(shapes_in_templates),
                                             CALLED_ON_HOST(tiled_index_members),
                                             CALLED_ON_HOST(tiled_index_is_passed_on),
                                             CALLED_ON_HOST(domains_of_ranks)};
    return conformance::main(features);
}
