// Kernels of several translation units, templates, lambdas in headers.
#include "units.hpp"

using namespace concurrency;

TEST(statics_of_the_same_name) {
    (void)vulkan_view();
    CHECK(one(3) == ((3 + 1) * 10 + 1) * 2);
    CHECK(two(3) == ((3 + 2) * 10 + 2) * 2);
}

TEST(templates) {
    std::vector<int> v(3);
    std::vector<float> w(3);
    array_view<int> view(v);
    array_view<float> floats(w);
    fill(view, 7);
    fill(floats, 2.5f);
    double_all(view);
    CHECK(view[2] == 14 && floats[2] == 2.5f);
}

TEST(only_sources_that_are_named) {
    CHECK(plain(3) == 3);
}

CHECK_MAIN
