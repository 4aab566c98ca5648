// Tests kernels in several translation units, in function templates, and in lambdas of headers.
#include "units.hpp"

using namespace concurrency;

TEST(statics_of_the_same_name) {
    (void)vulkan_view();
    CHECK(run_unit_one(3) == ((3 + 1) * 10 + 1) * 2);
    CHECK(run_unit_two(3) == ((3 + 2) * 10 + 2) * 2);
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

TEST(sources_without_launches_are_not_compiled_as_hip) {
    CHECK(plain(3) == 3);
}

CHECK_MAIN
