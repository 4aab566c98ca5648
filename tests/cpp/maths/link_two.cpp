// Tests the headers in two translation units: the types are the same, and no symbol is defined twice (link_one.cpp).
#include <amp_math.h>
#include <amp_short_vectors.h>
#include <revamp/detail/msvc_words.h>
#include <revamp/detail/property.h>

#include "../check.hpp"

Concurrency::graphics::float_3 scaled(const Concurrency::graphics::float_3 &v);
double other_phi();
const int *other_size();

TEST(two_units) {
    CHECK(scaled(concurrency::graphics::float_3(1, 2, 3)) == concurrency::graphics::float_3(6, 4, 2));
    CHECK(other_phi() == concurrency::precise_math::phi(0.25) + 3);
    CHECK(other_size() == &concurrency::graphics::float_4::size);
}

CHECK_MAIN
