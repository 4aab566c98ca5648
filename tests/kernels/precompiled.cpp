// Tests kernels in a source whose only header is the precompiled header that CMakeLists.txt adds.
using namespace concurrency;

namespace {

TEST(kernels_read_precompiled_headers_as_text) {
    std::vector<int> v(100);
    const array_view<int> view(v);
    fill(view, 7);
    parallel_for_each(
        vulkan_view(), view.extent, [=](index<1> i) restrict(amp) { view[i] += i[0]; });
    double_all(view);
    CHECK(view[99] == 2 * (7 + 99));
}

} // namespace

CHECK_MAIN
