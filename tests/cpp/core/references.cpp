// Views that kernels capture by reference, which the kernel compiler refuses: without it the launch fails and says why.
#include "../check.hpp"

#include <amp.h>
#include <amp_graphics.h>

#include <vector>

using namespace concurrency;

static const char *const why = "captured by reference";

// What uses the view by reference: an element, a section, a row, a copy, a helper function.
template <class Use> static void refused(const Use &use) {
    std::vector<int> data(64);
    const array_view<int, 2> view(8, 8, data);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<2> i) restrict(amp, cpu) { use(view, i); }),
                 CHECK_CONTAINS(e.what(), why);
                 CHECK_CONTAINS(e.what(), "int"); CHECK_CONTAINS(e.what(), "(8, 8)"));
    CHECK(data == std::vector<int>(64));
}

TEST(elements) {
    refused([](const array_view<int, 2> &view, index<2> i) { view[i] = 1; });
    refused([](const array_view<int, 2> &view, index<2> i) { view(i) = 1; });
    refused([](const array_view<int, 2> &view, index<2> i) { view(i[0], i[1]) = 1; });
    refused([](const array_view<int, 2> &view, index<2> i) { view.get_ref(i) = 1; });
}

TEST(parts) {
    refused([](const array_view<int, 2> &view, index<2> i) { view[i[0]][i[1]] = 1; });
    refused([](const array_view<int, 2> &view, index<2> i) { view.section(i, extent<2>(1, 1))(0, 0) = 1; });
}

TEST(shapes_of_rank_1) {
    std::vector<int> data(8);
    const array_view<int> view(data);
    CHECK_THROWS(
        runtime_exception,
        parallel_for_each(
            view.extent, [&](index<1> i) restrict(amp, cpu) { view.view_as(extent<2>(2, 4))(0, i[0] % 4) = 1; }),
        CHECK_CONTAINS(e.what(), why));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<1> i) restrict(amp, cpu) { view.reinterpret_as<float>()[i] = 1; }),
                 CHECK_CONTAINS(e.what(), why));
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     view.extent, [&](index<1> i) restrict(amp, cpu) { view.data()[i[0]] = 1; }),
                 CHECK_CONTAINS(e.what(), why));
}

// A view by reference beside one by value: the error comes with the results.
TEST(beside_a_view_by_value) {
    std::vector<int> data(8, 1), results(8);
    const array_view<const int> from(data);
    const array_view<int> to(results);
    const auto launch = [&] {
        parallel_for_each(
            to.extent, [ to, &from ](index<1> i) restrict(amp, cpu) { to[i] = from[i]; });
        to.synchronize();
    };
    CHECK_THROWS(runtime_exception, launch(), CHECK_CONTAINS(e.what(), why); CHECK_CONTAINS(e.what(), "const int"));
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
            view.extent, [own = view](index<1> i) restrict(amp, cpu) { own[i] = i[0]; });
    }
};

TEST(members) {
    std::vector<int> data(8);
    const holder held(data);
    CHECK_THROWS(runtime_exception, held.untiled(), CHECK_CONTAINS(e.what(), why));
    CHECK_THROWS(runtime_exception, held.tiled(), CHECK_CONTAINS(e.what(), why));
    held.by_value();
    held.view.synchronize();
    CHECK(data[5] == 5);
}

TEST(texture_views) {
    const graphics::texture<int, 1> texture(8, std::vector<int>(8).data(), 8u * sizeof(int), 32u);
    const graphics::texture_view<const int, 1> view(texture);
    CHECK_THROWS(runtime_exception,
                 parallel_for_each(
                     extent<1>(8), [&view](index<1> i) restrict(amp, cpu) { (void)view[i]; }),
                 CHECK_CONTAINS(e.what(), why));
}

// What the host's own variables hold is there until the kernel has run.
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
