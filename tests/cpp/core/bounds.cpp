// REVAMP_CHECK_BOUNDS: what is outside of an extent is told, by kernels on host threads and by the host.
#define REVAMP_CHECK_BOUNDS
#include <amp.h>
#include <check.hpp>

#include <string>
#include <vector>

using namespace concurrency;

namespace {

// What is thrown has the text.
template <class Run> bool told(const Run &run, const char *text) {
    try {
        run();
    } catch (const runtime_exception &e) {
        return std::string(e.what()).find(text) != std::string::npos;
    }
    return false;
}

accelerator_view threads() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

} // namespace

TEST(kernels_tell_index_and_extent) {
    std::vector<int> values(12);
    const array_view<int> v(12, values);
    const array_view<int, 2> w(3, 4, values);
    const auto launch = [&](int at, int row, int column) {
        parallel_for_each(
            threads(), extent<1>(1), [=](index<1>) restrict(amp) {
                v[at] = 1;
                w(row, column) = 2;
                w[row][column] = 3;
            });
        threads().wait();
    };
    launch(11, 2, 3);
    CHECK(values[11] == 3);
    CHECK(told([&] { launch(12, 0, 0); }, "index (12), extent (12)"));
    CHECK(told([&] { launch(-1, 0, 0); }, "index (-1), extent (12)"));
    // Inside of the memory, but not of the row.
    CHECK(told([&] { launch(0, 1, 4); }, "index (1, 4), extent (3, 4)"));
    CHECK(told([&] { launch(0, 3, 0); }, "index (3, 0), extent (3, 4)"));
}

TEST(arrays_and_tiles_tell) {
    array<float, 2> a(4, 4, threads());
    CHECK(told(
        [&] {
            parallel_for_each(
                threads(), extent<1>(8).tile<4>(), [&a](tiled_index<4> t) restrict(amp) {
                    a(t.global[0], 0) = 1;
                    t.barrier.wait();
                    a[index<2>(0, t.local[0])] = 2;
                });
            threads().wait();
        },
        "extent (4, 4)"));
}

TEST(the_host_tells) {
    std::vector<int> values(6);
    const array_view<int, 2> v(2, 3, values);
    CHECK(v(1, 2) == 0);
    CHECK(told([&] { v(1, 3) = 1; }, "index (1, 3), extent (2, 3)"));
    CHECK(told([&] { v[2][0] = 1; }, "index (2), extent (2)"));
    const array_view<const int> row = v[1];
    CHECK(told([&] { (void)row[index<1>(-1)]; }, "index (-1), extent (3)"));
}

CHECK_MAIN
