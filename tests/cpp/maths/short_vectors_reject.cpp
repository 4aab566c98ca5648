// Each FAIL_ case must not compile, and the error names the reason. Without a case, the file compiles.
#include <amp_short_vectors.h>
using namespace concurrency::graphics;

void cases(float_2 f2, float_3 f3, int_2 i2, uint_2 u2, unorm_2 un2, norm n, const float_4 &constant) {
    (void)f2, (void)f3, (void)i2, (void)u2, (void)un2, (void)n, (void)constant;
#ifdef FAIL_negate_uint // no match for|invalid argument type
    -u2;
#endif
#ifdef FAIL_negate_unorm // no match for|invalid argument type
    -un2;
#endif
#ifdef FAIL_float_modulo // no match for|invalid operands
    f2 % f2;
#endif
#ifdef FAIL_float_complement // no match for|invalid argument type
    ~f2;
#endif
#ifdef FAIL_ordering // no match for|invalid operands
    f2 < f2;
#endif
#ifdef FAIL_sizes_differ // no match for|invalid operands
    f2 + f3;
#endif
#ifdef FAIL_types_differ // no match for|invalid operands
    f2 + i2;
#endif
#ifdef FAIL_implicit_conversion // conversion from|no viable conversion
    float_2 v = i2;
#endif
#ifdef FAIL_sizes_convert // no matching function|no matching con
    float_2 v(f3);
#endif
#ifdef FAIL_repeated // has no member named|no member named
    f2.xx;
#endif
#ifdef FAIL_mixed_letters // has no member named|no member named
    f2.xg;
#endif
#ifdef FAIL_too_long // has no member named|no member named
    f2.xyz;
#endif
#ifdef FAIL_no_third // has no member named|no member named
    f2.z;
#endif
#ifdef FAIL_constant_swizzle // discards qualifiers|no match for|no viable overloaded
    constant.xy = f2;
#endif
#ifdef FAIL_constant_component // read-only|cannot assign
    constant.x = 1;
#endif
#ifdef FAIL_norm_from_float // conversion from|no viable conversion
    norm m = 0.5f;
#endif
#ifdef FAIL_unorm_from_norm // conversion from|no viable conversion
    unorm m = n;
#endif
#ifdef FAIL_bad_scalar // the scalar type must be int, unsigned int, float, double, norm or unorm
    short_vector<short, 2>::type v;
#endif
#ifdef FAIL_bad_size // and the size must be 1 to 4
    short_vector<float, 5>::type v;
#endif
#ifdef FAIL_bad_traits // the type must be a short vector, or the scalar type of a short vector
    (void)short_vector_traits<short>::size;
#endif
#ifdef FAIL_too_few // no matching function|no matching con
    float_3 v(1.0f, 2.0f);
#endif
}
