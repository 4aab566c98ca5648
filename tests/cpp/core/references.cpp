// Tests of views captured by reference. The kernel compiler rejects them. With other compilers, the launch fails.
#include "../check.hpp"

#include <amp.h>
#include <amp_graphics.h>

#include <vector>

using namespace concurrency;

static const char *const expected_error = "captured by reference";

// Launches a kernel that calls `use` with a view captured by reference. The launch must fail and write nothing.
template <class Use> static void check_launch_fails(const Use &use) {
    std::vector<int> data(64);
    const array_view<int, 2> view(8, 8, data);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<2> i) restrict(amp, cpu) { use(view, i); }),
                 CHECK_CONTAINS(e.what(), expected_error);
                 CHECK_CONTAINS(e.what(), "int"); CHECK_CONTAINS(e.what(), "(8, 8)"));
    CHECK(data == std::vector<int>(64));
}

TEST(elements) {
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view[i] = 1; });
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view(i) = 1; });
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view(i[0], i[1]) = 1; });
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view.get_ref(i) = 1; });
}

TEST(projections_and_sections) {
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view[i[0]][i[1]] = 1; });
    check_launch_fails([](const array_view<int, 2> &view, index<2> i) { view.section(i, extent<2>(1, 1))(0, 0) = 1; });
}

TEST(shapes_of_rank_1) {
    std::vector<int> data(8);
    const array_view<int> view(data);
    CHECK_THROWS(
        runtime_exception,
        parallel_for_each(
            view.extent, [&](index<1> i) restrict(amp, cpu) { view.view_as(extent<2>(2, 4))(0, i[0] % 4) = 1; }),
        CHECK_CONTAINS(e.what(), expected_error));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<1> i) restrict(amp, cpu) { view.reinterpret_as<float>()[i] = 1; }),
                 CHECK_CONTAINS(e.what(), expected_error));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<1> i) restrict(amp, cpu) { view.data()[i[0]] = 1; }),
                 CHECK_CONTAINS(e.what(), expected_error));
}

// One view is captured by value, one by reference. The error is reported when the results are read.
TEST(one_view_by_value_and_one_by_reference) {
    std::vector<int> data(8, 1), results(8);
    const array_view<const int> from(data);
    const array_view<int> to(results);
    const auto launch = [&] {
        parallel_for_each(
            to.extent, [ to, &from ](index<1> i) restrict(amp, cpu) { to[i] = from[i]; });
        to.synchronize();
    };
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), expected_error);
                 CHECK_CONTAINS(e.what(), "const int"));
}

struct holder {
    array_view<int> view;
    explicit holder(std::vector<int> &data) : view(data) {}
    void untiled() const {
        parallel_for_each(
            view.extent, [this](index<1> i) restrict(amp, cpu) { view[i] = 1; });
    }
    void tiled() const {
        parallel_for_each(
            view.extent.tile<4>(), [this](tiled_index<4> i) restrict(amp, cpu) {
                i.barrier.wait();
                view[i.global] = 1;
            });
    }
    void by_value() const {
        parallel_for_each(
            view.extent, [view_copy = view](index<1> i) restrict(amp, cpu) { view_copy[i] = i[0]; });
    }
};

TEST(members) {
    std::vector<int> data(8);
    const holder object(data);
    CHECK_THROWS(runtime_exception, object.untiled(), CHECK_CONTAINS(e.what(), expected_error));
    CHECK_THROWS(runtime_exception, object.tiled(), CHECK_CONTAINS(e.what(), expected_error));
    object.by_value();
    object.view.synchronize();
    CHECK(data[5] == 5);
}

TEST(texture_views) {
    const graphics::texture<int, 1> texture(8, std::vector<int>(8).data(), 8u * sizeof(int), 32u);
    const graphics::texture_view<const int, 1> view(texture);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(8), [&view](index<1> i) restrict(amp, cpu) { (void)view[i]; }),
                 CHECK_CONTAINS(e.what(), expected_error));
}

// Host variables may be captured by reference: the launch then waits until the kernel has run.
TEST(variables_of_the_host) {
    std::vector<int> results(1000);
    {
        const std::vector<int> factors(1000, 3);
        int *const to = results.data();
        parallel_for_each(
            extent<1>(1000),
            [&, to ](index<1> i) restrict(amp, cpu) { to[i[0]] = factors[static_cast<unsigned>(i[0])] * i[0]; });
    }
    CHECK(results[999] == 2997);
}

CHECK_MAIN
