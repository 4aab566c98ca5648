// Tests of REVAMP_CHECK_BOUNDS: kernels on host threads, and host code, report indices outside an extent.
#define REVAMP_CHECK_BOUNDS
#include "../check.hpp"
#include <amp.h>

#include <string>
#include <vector>

using namespace concurrency;

namespace {

// True if `run` throws a runtime_exception whose message contains `text`.
template <class Run> bool throws_with(const Run &run, const char *text) {
    try {
        run();
    } catch (const runtime_exception &e) {
        return std::string(e.what()).find(text) != std::string::npos;
    }
    return false;
}

accelerator_view host_threads_view() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

} // namespace

TEST(kernels_report_index_and_extent) {
    std::vector<int> values(12);
    const array_view<int> v(12, values);
    const array_view<int, 2> w(3, 4, values);
    const auto launch = [&](int at, int row, int column) {
        parallel_for_each(
            host_threads_view(), extent<1>(1), [=](index<1>) restrict(amp) {
                v[at] = 1;
                w(row, column) = 2;
                w[row][column] = 3;
            });
        host_threads_view().wait();
    };
    launch(11, 2, 3);
    CHECK(values[11] == 3);
    CHECK(throws_with([&] { launch(12, 0, 0); }, "index (12), extent (12)"));
    CHECK(throws_with([&] { launch(-1, 0, 0); }, "index (-1), extent (12)"));
    // Index (1, 4) is inside the memory, but outside the row.
    CHECK(throws_with([&] { launch(0, 1, 4); }, "index (1, 4), extent (3, 4)"));
    CHECK(throws_with([&] { launch(0, 3, 0); }, "index (3, 0), extent (3, 4)"));
}

TEST(arrays_and_tiles_tell) {
    array<int, 2> a(4, 4, host_threads_view());
    const auto launch = [&](int row, int column) {
        parallel_for_each(
            host_threads_view(), extent<1>(4).tile<4>(), [ =, &a ](tiled_index<4> t) restrict(amp) {
                a(row, t.local[0]) = 1;
                t.barrier.wait();
                a[index<2>(t.local[0], column)] = 2;
            });
        host_threads_view().wait();
    };
    launch(1, 3);
    const std::vector<int> values = a;
    CHECK(values[4] == 1 && values[6] == 1 && values[7] == 2 && values[15] == 2);
    // Any thread may be the first that fails.
    CHECK(throws_with([&] { launch(4, 0); }, "index (4, "));
    CHECK(throws_with([&] { launch(4, 0); }, "), extent (4, 4)"));
    CHECK(throws_with([&] { launch(0, -1); }, ", -1), extent (4, 4)"));
}

TEST(the_host_reports_bad_indices) {
    std::vector<int> values(6);
    const array_view<int, 2> v(2, 3, values);
    CHECK(v(1, 2) == 0);
    CHECK(throws_with([&] { v(1, 3) = 1; }, "index (1, 3), extent (2, 3)"));
    CHECK(throws_with([&] { v[2][0] = 1; }, "index (2), extent (2)"));
    const array_view<const int> row = v[1];
    CHECK(throws_with([&] { (void)row[index<1>(-1)]; }, "index (-1), extent (3)"));
}

CHECK_MAIN
