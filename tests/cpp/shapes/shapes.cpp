// Tests of index, extent, tiled_extent, tiled_index, tile_barrier (docs/spec/shapes.md, docs/spec/launches.md).
#include <revamp/detail/exceptions.h>
#include <revamp/detail/shapes.h>

#include "../check.hpp"

#include <atomic>
#include <climits>
#include <type_traits>
#include <vector>

template <template <int> class Shape> void check_construction() {
    static_assert(Shape<1>::rank == 1 && Shape<128>::rank == 128, "");
    static_assert(std::is_same<typename Shape<2>::value_type, int>::value, "");
    static_assert(std::is_trivially_copyable<Shape<3>>::value && sizeof(Shape<3>) == 3 * sizeof(int), "");
    static_assert(!std::is_convertible<int, Shape<1>>::value && !std::is_convertible<const int *, Shape<2>>::value,
                  "explicit");

    const Shape<128> zero;
    for (unsigned d = 0; d < 128; ++d)
        CHECK(zero[d] == 0);
    const Shape<1> one(7);
    CHECK(one[0] == 7);
    const Shape<2> two = {7, -8};
    CHECK(two[0] == 7 && two[1] == -8);
    const Shape<3> three(1, 2, 3);
    CHECK(three[0] == 1 && three[1] == 2 && three[2] == 3);
    const int numbers[] = {4, 5, 6, 7};
    const Shape<4> four(numbers);
    CHECK(four[0] == 4 && four[3] == 7);
    const int single[] = {9};
    CHECK(Shape<1>(single)[0] == 9);

    Shape<4> copy(four);
    CHECK(copy == four);
    copy[2] = 60;
    CHECK(copy != four && copy[2] == 60 && four[2] == 6);
    // Shapes are indexed by any integer type without a warning, and by classes that convert to an integer.
    const int signed_number = 3;
    const std::size_t large_number = 3;
    const char small_number = 3;
    enum { number = 3 };
    const struct {
        operator unsigned() const { return 3; }
    } object = {};
    CHECK(four[signed_number] == 7 && four[large_number] == 7 && four[small_number] == 7);
    CHECK(four[number] == 7 && four[object] == 7 && four[3u] == 7);
    copy[signed_number] = 8;
    CHECK(copy[3u] == 8 && four[3u] == 7);
    copy[large_number] = 7;

    Shape<4> assigned;
    CHECK(&(assigned = copy) == &assigned && assigned == copy);
}
TEST(index_construction) {
    check_construction<Concurrency::index>();
}
TEST(extent_construction) {
    check_construction<Concurrency::extent>();
}

template <template <int> class Shape> void check_arithmetic() {
    const Shape<3> a(7, 20, -9);
    const Shape<3> b(2, 3, 4);
    CHECK(a + b == Shape<3>(9, 23, -5));
    CHECK(a - b == Shape<3>(5, 17, -13));
    CHECK(a + 1 == Shape<3>(8, 21, -8) && 1 + a == a + 1);
    CHECK(a - 1 == Shape<3>(6, 19, -10));
    CHECK(1 - a == Shape<3>(-6, -19, 10));
    CHECK(a * 2 == Shape<3>(14, 40, -18) && 2 * a == a * 2);
    CHECK(a / 4 == Shape<3>(1, 5, -2));
    CHECK(40 / a == Shape<3>(5, 2, -4));
    CHECK(a % 4 == Shape<3>(3, 0, -1));
    CHECK(40 % a == Shape<3>(5, 0, 4));

    Shape<3> c = a;
    CHECK(&(c += b) == &c && c == a + b);
    CHECK(&(c -= b) == &c && c == a);
    CHECK(&(c += 5) == &c && c == a + 5);
    CHECK(&(c -= 5) == &c && c == a);
    CHECK(&(c *= 3) == &c && c == a * 3);
    CHECK(&(c /= 3) == &c && c == a);
    CHECK(&(c %= 4) == &c && c == a % 4);
    c = a;
    CHECK(&++c == &c && c == a + 1);
    CHECK(&--c == &c && c == a);
    CHECK(c++ == a && c == a + 1);
    CHECK(c-- == a + 1 && c == a);
    c += c;
    CHECK(c == 2 * a);
    CHECK(Shape<3>(1, 2, 3) != Shape<3>(1, 2, 4) && !(a != a));
}
TEST(index_arithmetic) {
    check_arithmetic<Concurrency::index>();
}
TEST(extent_arithmetic) {
    check_arithmetic<Concurrency::extent>();
}

TEST(extent_and_index) {
    using namespace Concurrency;
    typedef Concurrency::index<2> position;
    extent<2> e(10, 20);
    static_assert(std::is_same<decltype(e + position()), extent<2>>::value, "");
    static_assert(std::is_same<decltype(e - position()), extent<2>>::value, "");
    CHECK(e + position(1, 2) == extent<2>(11, 22));
    CHECK(e - position(1, 2) == extent<2>(9, 18));
    CHECK(&(e += position(1, 2)) == &e && e == extent<2>(11, 22));
    CHECK(&(e -= position(1, 2)) == &e && e == extent<2>(10, 20));
    e += 1;
    e += extent<2>(1, 1);
    CHECK(e == extent<2>(12, 22));
}

TEST(extent_size) {
    using Concurrency::extent;
    static_assert(std::is_same<decltype(extent<1>().size()), unsigned>::value, "");
    CHECK(extent<1>(5).size() == 5);
    CHECK(extent<3>(2, 3, 4).size() == 24);
    CHECK(extent<3>(2, 0, 4).size() == 0);
    CHECK(extent<2>(-2, 3).size() == unsigned(-6));
    CHECK(extent<2>(-2, -3).size() == 6);
    CHECK(extent<2>(65537, 65535).size() == 4294967295u);
    extent<128> large;
    CHECK(large.size() == 0);
    CHECK((large + 1).size() == 1);
}

TEST(extent_contains) {
    using Concurrency::extent;
    typedef Concurrency::index<2> position;
    const extent<2> e(3, 4);
    CHECK(e.contains(position()) && e.contains(position(2, 3)));
    CHECK(!e.contains(position(3, 0)) && !e.contains(position(0, 4)));
    CHECK(!e.contains(position(-1, 0)) && !e.contains(position(0, -1)));
    CHECK(!extent<2>(3, 0).contains(position(0, 0)));
    CHECK(!extent<2>(-3, 4).contains(position(-1, 0)));
    CHECK(!extent<1>().contains(Concurrency::index<1>()));
}

TEST(shapes_are_constants) {
    using namespace Concurrency;
    constexpr Concurrency::index<2> i(1, 2);
    static_assert(i[1] == 2 && (i + 1)[0] == 2, "");
    constexpr extent<2> e(5, 7);
    static_assert(e.size() == 35 && e.contains(i), "");
    static_assert(e.tile<4, 4>().pad() == extent<2>(8, 8), "");
}

TEST(tiled_extents) {
    using namespace Concurrency;
    const tiled_extent<16> empty;
    CHECK(empty == extent<1>() && empty.size() == 0);
    static_assert(tiled_extent<16>::rank == 1 && tiled_extent<16>::tile_dim0 == 16, "");
    static_assert(tiled_extent<2, 3>::rank == 2 && tiled_extent<2, 3>::tile_dim1 == 3, "");
    static_assert(tiled_extent<2, 3, 4>::rank == 3 && tiled_extent<2, 3, 4>::tile_dim0 == 2 &&
                      tiled_extent<2, 3, 4>::tile_dim1 == 3 && tiled_extent<2, 3, 4>::tile_dim2 == 4,
                  "");
    static_assert(std::is_base_of<extent<2>, tiled_extent<2, 3>>::value, "");
    static_assert(std::is_convertible<extent<2>, tiled_extent<2, 3>>::value, "implicit");

    const tiled_extent<2, 3> t = extent<2>(10, 20);
    CHECK(t[0] == 10 && t[1] == 20 && t.size() == 200);
    CHECK(t.tile_extent == extent<2>(2, 3) && t.get_tile_extent() == extent<2>(2, 3));
    CHECK(tiled_extent<7>().tile_extent == extent<1>(7));
    CHECK((tiled_extent<2, 3, 4>().tile_extent == extent<3>(2, 3, 4)));
    tiled_extent<2, 3> u(t);
    CHECK(u == t && u.tile_extent == t.tile_extent);
    u[0] = 3;
    CHECK(u != t);
    CHECK(&(u = t) == &u && u == t);
    u = extent<2>(1, 1);
    CHECK((u == extent<2>(1, 1)));
    extent<2> sliced = t;
    CHECK(sliced == t && t == sliced);
    CHECK(t + 1 == extent<2>(11, 21));

    static_assert(std::is_same<decltype(extent<1>().tile<8>()), tiled_extent<8>>::value, "");
    static_assert(std::is_same<decltype(extent<2>().tile<8, 4>()), tiled_extent<8, 4>>::value, "");
    static_assert(std::is_same<decltype(extent<3>().tile<8, 4, 2>()), tiled_extent<8, 4, 2>>::value, "");
    CHECK((extent<3>(1, 2, 3).tile<8, 4, 2>() == extent<3>(1, 2, 3)));
    // The largest tile of a launch (PFE-6).
    CHECK((extent<1>(1).tile<1024>().size() == 1));
    // Larger tiles are valid types: only launches reject them.
    CHECK((extent<1>(5000).tile<4096>().pad().size() == 8192 && extent<3>(65, 1, 1).tile<65, 1, 1>().size() == 65));
    static_assert(sizeof(tiled_index<2048>) > 0 && tiled_extent<65536, 65536>::tile_dim1 == 65536, "");
    CHECK((extent<2>(1, 1).tile<1, 1024>().size() == 1 && extent<2>(1, 1).tile<1024, 1>().size() == 1));
    CHECK((extent<3>(1, 1, 1).tile<64, 4, 4>().size() == 1 && extent<3>(1, 1, 1).tile<1, 1, 1024>().size() == 1));
    // An explicitly constructed tiled_extent may have a larger tile too.
    CHECK((tiled_extent<4096>(extent<1>(5000)).pad()[0] == 8192));
}

TEST(pad_and_truncate) {
    using namespace Concurrency;
    CHECK(tiled_extent<4>(extent<1>(25)).pad() == extent<1>(28));
    CHECK(tiled_extent<4>(extent<1>(25)).truncate() == extent<1>(24));
    CHECK(tiled_extent<4>(extent<1>(24)).pad() == extent<1>(24));
    CHECK(tiled_extent<4>(extent<1>(3)).truncate() == extent<1>(0));
    CHECK(tiled_extent<4>(extent<1>(0)).pad() == extent<1>(0));
    CHECK(tiled_extent<4>(extent<1>(1)).pad() == extent<1>(4));
    const tiled_extent<2, 3, 5> three(extent<3>(3, 6, 11));
    static_assert(std::is_same<decltype(three.pad()), tiled_extent<2, 3, 5>>::value, "");
    CHECK((three.pad() == extent<3>(4, 6, 15)));
    CHECK((three.truncate() == extent<3>(2, 6, 10)));
    // The padded extent overflows int: the result is no valid size of an array or launch.
    CHECK(tiled_extent<4>(extent<1>(INT_MAX)).pad()[0] <= 0);
    CHECK(tiled_extent<1>(extent<1>(INT_MAX)).pad()[0] == INT_MAX);
    CHECK(tiled_extent<4>(extent<1>(INT_MAX)).truncate()[0] == INT_MAX - 3);
}

template <int D0, int D1 = 0, int D2 = 0> Concurrency::tiled_index<D0, D1, D2> any_tiled_index() {
    static const int global[] = {11, 22, 33}, local[] = {1, 2, 3}, tile[] = {5, 10, 15}, origin[] = {10, 20, 30};
    static revamp_thread_id thread = {};
    thread.global = global;
    thread.local = local;
    thread.tile = tile;
    thread.tile_origin = origin;
    return revamp::detail::tiled_index_of<D0, D1, D2>(thread);
}

TEST(tiled_indices) {
    using namespace Concurrency;
    const auto t = any_tiled_index<2, 4, 8>();
    static_assert(std::is_same<decltype(t), const tiled_index<2, 4, 8>>::value, "");
    typedef Concurrency::index<3> position;
    CHECK(t.global == position(11, 22, 33));
    CHECK(t.local == position(1, 2, 3));
    CHECK(t.tile == position(5, 10, 15));
    CHECK(t.tile_origin == position(10, 20, 30) && t.global - t.local == t.tile_origin);
    CHECK(t.tile_extent == extent<3>(2, 4, 8) && t.get_tile_extent() == extent<3>(2, 4, 8));
    static_assert(std::is_same<decltype(t.global), const Concurrency::index<3>>::value, "");
    static_assert(std::is_same<decltype(t.barrier), const tile_barrier>::value, "");
    static_assert(tiled_index<2, 4, 8>::rank == 3 && tiled_index<2, 4, 8>::tile_dim2 == 8, "");
    static_assert(tiled_index<2, 4>::rank == 2 && tiled_index<2>::rank == 1 && tiled_index<2>::tile_dim0 == 2, "");

    const position converted = t;
    CHECK(converted == t.global);
    CHECK(t == converted && converted == t);
    const tiled_index<2, 4, 8> copy(t);
    CHECK(copy.global == t.global && copy.tile_extent == t.tile_extent);
    const tiled_index<2, 4, 8> constructed(t.global, t.local, t.tile, t.tile_origin, t.barrier);
    CHECK(constructed.local == t.local);
    CHECK(any_tiled_index<3>().global == Concurrency::index<1>(11));
    CHECK((any_tiled_index<3, 4>().tile == Concurrency::index<2>(5, 10)));
    static_assert(!std::is_copy_assignable<tiled_index<2>>::value, "");
    static_assert(!std::is_default_constructible<tile_barrier>::value && !std::is_copy_assignable<tile_barrier>::value,
                  "by copying only");
}

// Kernels on host threads. Each thread writes one tile_static cell and, after the barrier, reads another thread's cell.
namespace {
constexpr int tiles = 37, width = 16;
struct run {
    std::vector<int> out = std::vector<int>(tiles * width);
    void (*wait)(const Concurrency::tile_barrier &);
};
void kernel(const revamp_thread_id *id, void *context) {
    run &state = *static_cast<run *>(context);
    const auto t = revamp::detail::tiled_index_of<width, 0, 0>(*id);
    int *shared = static_cast<int *>(id->tile_memory);
    shared[t.local[0]] = t.global[0];
    state.wait(t.barrier);
    state.out[static_cast<std::size_t>(t.global[0])] = shared[width - 1 - t.local[0]];
}
void check_mirrored(void (*wait)(const Concurrency::tile_barrier &)) {
    run state;
    state.wait = wait;
    const int extent[] = {tiles * width}, tile[] = {width};
    revamp_parallel_for_each_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = extent;
    info.tile = tile;
    info.tile_memory = width * sizeof(int);
    info.function = kernel;
    info.context = &state;
    revamp_accelerator host = nullptr;
    revamp_accelerator_view view = nullptr;
    revamp::detail::check(revamp_accelerator_get_default(REVAMP_CODE_HOST, &host));
    revamp::detail::check(revamp_accelerator_get_default_view(host, &view));
    revamp::detail::check(revamp_parallel_for_each(view, &info));
    revamp::detail::check(revamp_accelerator_view_wait(view));
    for (int i = 0; i < tiles * width; ++i)
        CHECK(state.out[static_cast<std::size_t>(i)] == i / width * width + width - 1 - i % width);
}
} // namespace

TEST(barrier_wait) {
    check_mirrored([](const Concurrency::tile_barrier &barrier) { barrier.wait(); });
}
TEST(barrier_wait_with_fences) {
    check_mirrored([](const Concurrency::tile_barrier &barrier) { barrier.wait_with_all_memory_fence(); });
    check_mirrored([](const Concurrency::tile_barrier &barrier) { barrier.wait_with_global_memory_fence(); });
    check_mirrored([](const Concurrency::tile_barrier &barrier) { barrier.wait_with_tile_static_memory_fence(); });
}
TEST(barrier_copies) {
    check_mirrored([](const Concurrency::tile_barrier &barrier) {
        const Concurrency::tile_barrier copy(barrier);
        copy.wait();
        copy.wait();
    });
}

// Template arguments are deduced from the shapes.
template <int N> int rank_of(const Concurrency::extent<N> &) {
    return N;
}
template <int N> int rank_of(const Concurrency::index<N> &) {
    return N;
}
TEST(deduction) {
    CHECK((rank_of(Concurrency::tiled_extent<2, 3>()) == 2));
    CHECK(rank_of(Concurrency::tiled_extent<2>().tile_extent) == 1);
    CHECK((rank_of(any_tiled_index<2, 2>().local) == 2));
}

CHECK_MAIN
