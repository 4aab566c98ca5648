// Each CASE must not compile, and its message names the reason; without one the file does.
#include <amp_short_vectors.h>
using namespace concurrency::graphics;

void cases(float_2 f2, float_3 f3, int_2 i2, uint_2 u2, unorm_2 un2, norm n, const float_4 &constant) {
    (void)f2, (void)f3, (void)i2, (void)u2, (void)un2, (void)n, (void)constant;
#ifdef CASE_negate_uint // no match for|invalid argument type
    -u2;
#elif defined(CASE_negate_unorm)        // no match for|invalid argument type
    -un2;
#elif defined(CASE_float_modulo)        // no match for|invalid operands
    f2 % f2;
#elif defined(CASE_float_complement)    // no match for|invalid argument type
    ~f2;
#elif defined(CASE_ordering)            // no match for|invalid operands
    f2 < f2;
#elif defined(CASE_sizes_differ)        // no match for|invalid operands
    f2 + f3;
#elif defined(CASE_types_differ)        // no match for|invalid operands
    f2 + i2;
#elif defined(CASE_implicit_conversion) // conversion from|no viable conversion
    float_2 v = i2;
#elif defined(CASE_sizes_convert)       // no matching function|no matching con
    float_2 v(f3);
#elif defined(CASE_repeated)            // has no member named|no member named
    f2.xx;
#elif defined(CASE_mixed_letters)       // has no member named|no member named
    f2.xg;
#elif defined(CASE_too_long)            // has no member named|no member named
    f2.xyz;
#elif defined(CASE_no_third)            // has no member named|no member named
    f2.z;
#elif defined(CASE_constant_swizzle)    // discards qualifiers|no match for|no viable overloaded
    constant.xy = f2;
#elif defined(CASE_constant_component)  // read-only|cannot assign
    constant.x = 1;
#elif defined(CASE_norm_from_float)     // conversion from|no viable conversion
    norm m = 0.5f;
#elif defined(CASE_unorm_from_norm)     // conversion from|no viable conversion
    unorm m = n;
#elif defined(CASE_bad_scalar)          // the scalar is int, unsigned int, float, double, norm or unorm
    short_vector<short, 2>::type v;
#elif defined(CASE_bad_size)            // and the size 1 to 4
    short_vector<float, 5>::type v;
#elif defined(CASE_bad_traits)          // not a short vector nor a scalar of one
    (void)short_vector_traits<short>::size;
#elif defined(CASE_too_few)             // no matching function|no matching con
    float_3 v(1.0f, 2.0f);
#endif
}
