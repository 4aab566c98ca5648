// Each FAIL_ case must not compile, and its error must match the comment (revamp_cpp_rejections(), ../CMakeLists.txt).
#include <revamp/detail/shapes.h>

namespace c = concurrency;

void cases(const c::tile_barrier &barrier) {
    (void)barrier;
#ifdef FAIL_index_rank_0 // the rank of an index or extent must be at least 1
    c::index<0> x;
#endif
#ifdef FAIL_index_rank_negative // the rank of an index or extent must be at least 1
    c::index<-1> x;
#endif
#ifdef FAIL_extent_rank_0 // the rank of an index or extent must be at least 1
    c::extent<0> x;
#endif
#ifdef FAIL_extent_rank_negative // the rank of an index or extent must be at least 1
    c::extent<-3> x;
#endif
#ifdef FAIL_index_2_of_one // from one number only if its rank is 1
    c::index<2> x(1);
#endif
#ifdef FAIL_index_1_of_two // from two numbers only if its rank is 2
    c::index<1> x(1, 2);
#endif
#ifdef FAIL_index_3_of_two // from two numbers only if its rank is 2
    c::index<3> x(1, 2);
#endif
#ifdef FAIL_index_2_of_three // from three numbers only if its rank is 3
    c::index<2> x(1, 2, 3);
#endif
#ifdef FAIL_index_4_of_three // from three numbers only if its rank is 3
    c::index<4> x(1, 2, 3);
#endif
#ifdef FAIL_index_4_of_four // no matching
    c::index<4> x(1, 2, 3, 4);
#endif
#ifdef FAIL_extent_3_of_one // from one number only if its rank is 1
    c::extent<3> x(1);
#endif
#ifdef FAIL_extent_1_of_two // from two numbers only if its rank is 2
    c::extent<1> x(1, 2);
#endif
#ifdef FAIL_extent_1_of_three // from three numbers only if its rank is 3
    c::extent<1> x(1, 2, 3);
#endif
#ifdef FAIL_index_implicit // conversion from|no viable conversion
    c::index<1> x = 1;
#endif
#ifdef FAIL_extent_implicit // conversion from|no viable conversion
    c::extent<1> x = 1;
#endif
#ifdef FAIL_index_of_other_rank // no matching
    c::index<2> x = c::index<2>(c::index<3>());
#endif
#ifdef FAIL_assign_other_rank // no match|no viable
    c::index<2> x;
    x = c::index<3>();
#endif
#ifdef FAIL_index_of_extent // no matching
    c::index<2> x = c::index<2>(c::extent<2>());
#endif
#ifdef FAIL_extent_of_index // no matching
    c::extent<2> x = c::extent<2>(c::index<2>());
#endif
#ifdef FAIL_index_equal_mixed // operands of == have different ranks
    (void)(c::index<2>() == c::index<3>());
#endif
#ifdef FAIL_index_unequal_mixed // operands of != have different ranks
    (void)(c::index<1>() != c::index<3>());
#endif
#ifdef FAIL_index_plus_mixed // operands of \+ have different ranks
    (void)(c::index<2>() + c::index<3>());
#endif
#ifdef FAIL_index_minus_mixed // operands of - have different ranks
    (void)(c::index<2>() - c::index<1>());
#endif
#ifdef FAIL_extent_equal_mixed // operands of == have different ranks
    (void)(c::extent<2>() == c::extent<3>());
#endif
#ifdef FAIL_extent_plus_mixed // operands of \+ have different ranks
    (void)(c::extent<2>() + c::extent<3>());
#endif
#ifdef FAIL_extent_plus_index_mixed // operands of \+ have different ranks
    (void)(c::extent<2>() + c::index<3>());
#endif
#ifdef FAIL_extent_minus_index_mixed // operands of - have different ranks
    (void)(c::extent<2>() - c::index<3>());
#endif
#ifdef FAIL_add_assign_mixed // no match|no viable
    c::index<2> x;
    x += c::index<3>();
#endif
#ifdef FAIL_extent_add_assign_mixed // no match|no viable
    c::extent<2> x;
    x += c::index<3>();
#endif
#ifdef FAIL_index_times_index // no match|invalid operands
    (void)(c::index<2>() * c::index<2>());
#endif
#ifdef FAIL_index_by_index // no match|invalid operands
    (void)(c::index<2>() / c::index<2>());
#endif
#ifdef FAIL_index_modulo_index // no match|invalid operands
    (void)(c::index<2>() % c::index<2>());
#endif
#ifdef FAIL_extent_times_extent // no match|invalid operands
    (void)(c::extent<2>() * c::extent<2>());
#endif
#ifdef FAIL_index_plus_extent // no match|invalid operands
    (void)(c::index<2>() + c::extent<2>());
#endif
#ifdef FAIL_index_equal_extent // no match|invalid operands
    (void)(c::index<2>() == c::extent<2>());
#endif
#ifdef FAIL_index_times_assign // no match|no viable
    c::index<2> x;
    x *= c::index<2>();
#endif
#ifdef FAIL_index_less // no match|invalid operands
    (void)(c::index<1>() < c::index<1>());
#endif
#ifdef FAIL_write_to_constant // assignment of read-only|not assignable|lvalue required
    const c::index<1> x(1);
    x[0] = 2;
#endif
#ifdef FAIL_contains_mixed // no known conversion|cannot convert|no viable conversion
    (void)c::extent<2>().contains(c::index<3>());
#endif
#ifdef FAIL_tile_1_of_rank_2 // tile<D0>\(\) needs an extent of rank 1
    (void)c::extent<2>().tile<4>();
#endif
#ifdef FAIL_tile_2_of_rank_1 // tile<D0, D1>\(\) needs an extent of rank 2
    (void)c::extent<1>().tile<4, 4>();
#endif
#ifdef FAIL_tile_3_of_rank_2 // tile<D0, D1, D2>\(\) needs an extent of rank 3
    (void)c::extent<2>().tile<4, 4, 4>();
#endif
#ifdef FAIL_tile_1_of_rank_4 // tile<D0>\(\) needs an extent of rank 1
    (void)c::extent<4>().tile<4>();
#endif
#ifdef FAIL_tile_of_0 // every dimension of a tile must be at least 1
    (void)c::extent<1>().tile<0>();
#endif
#ifdef FAIL_tile_of_minus_1 // every dimension of a tile must be at least 1
    (void)c::extent<1>().tile<-1>();
#endif
#ifdef FAIL_tile_of_4_0 // every dimension of a tile must be at least 1
    (void)c::extent<2>().tile<4, 0>();
#endif
#ifdef FAIL_tile_of_4_4_minus_4 // every dimension of a tile must be at least 1
    (void)c::extent<3>().tile<4, 4, -4>();
#endif
#ifdef FAIL_tiled_extent_0 // every dimension of a tile must be at least 1
    c::tiled_extent<0> x;
#endif
#ifdef FAIL_tiled_extent_minus_2 // every dimension of a tile must be at least 1
    c::tiled_extent<2, -2> x;
#endif
#ifdef FAIL_tiled_extent_2_0_2 // every dimension of a tile must be at least 1
    c::tiled_extent<2, 0, 2> x;
#endif
#ifdef FAIL_tiled_extent_of_other_rank // conversion from|no viable conversion
    c::tiled_extent<2> x = c::extent<2>();
#endif
#ifdef FAIL_tiled_extent_of_other_tile // conversion from|no viable conversion
    c::tiled_extent<2> x = c::tiled_extent<2, 2>();
#endif
#ifdef FAIL_tile_extent_assigned // no match|no viable|discards|assignment of read-only
    c::tiled_extent<2> x;
    x.tile_extent = c::extent<1>(3);
#endif
#ifdef FAIL_tile_dim1_of_one // no member named|is not a member
    (void)c::tiled_extent<2>::tile_dim1;
#endif
#ifdef FAIL_tiled_index_tile_dim2_of_two // no member named|is not a member
    (void)c::tiled_index<2, 2>::tile_dim2;
#endif
#ifdef FAIL_tiled_index_default // no matching
    c::tiled_index<2> x;
#endif
#ifdef FAIL_tiled_index_of_other_rank // conversion from|no viable conversion
    extern c::tiled_index<2> t;
    c::index<2> x = t;
#endif
#ifdef FAIL_tiled_index_write // no match|no viable|discards|assignment of read-only
    extern c::tiled_index<2> t;
    t.global = c::index<1>(1);
#endif
#ifdef FAIL_barrier_default // no matching
    c::tile_barrier x;
#endif
#ifdef FAIL_barrier_assign // deleted
    extern c::tile_barrier x;
    x = barrier;
#endif
}
