// One of two translation units that include the headers. link_two.cpp has the test.
#include <amp_math.h>
#include <amp_short_vectors.h>
#include <revamp/detail/msvc_words.h>
#include <revamp/detail/property.h>

concurrency::graphics::float_3 scaled(const concurrency::graphics::float_3 &v) {
    concurrency::graphics::float_3 w = v;
    w.zyx = w.xyz * concurrency::fast_math::sqrt(4.0f);
    return w;
}
double other_phi() {
    return concurrency::precise_math::phi(0.25) + concurrency::graphics::float_3::size;
}
const int *other_size() {
    return &concurrency::graphics::float_4::size;
}
