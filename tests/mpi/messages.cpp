// Tests <revamp/mpi.hpp> on any number of ranks: `messages MODE` (scripts/test-mpi lists the modes). Rank 0 prints
// "right" if all ranks pass.
#include <revamp/mpi.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace concurrency;
namespace mpi = revamp::mpi;

static int failures = 0;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "messages.cpp:%d: %s\n", __LINE__, #condition);                                       \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

// The text of the mpi::error that `call` throws, or an empty string.
template <class F> static std::string error_text_of(F call) {
    try {
        call();
    } catch (const mpi::error &e) {
        return e.what();
    }
    return "";
}
static bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
static int value(int rank, int y, int x) restrict(amp, cpu) {
    return rank * 1000000 + y * 1000 + x;
}
static void fill(const array_view<int, 2> &view, int rank) {
    parallel_for_each(
        view.extent, [=](index<2> at) restrict(amp) { view[at] = value(rank, at[0], at[1]); });
}

// Each rank sends columns, rows, arrays and three-dimensional sections to the next rank. The elements around a received
// section must stay unchanged.
static void sections(const mpi::communicator &world) {
    const int rank = world.rank(), next = (rank + 1) % world.size(), prev = (rank + world.size() - 1) % world.size();
    array_view<int, 2> from(50, 70), to(50, 70);
    fill(from, rank);
    fill(to, 77);
    mpi::request requests;
    requests += world.exchange(from.section(0, 3, 50, 2), next, to.section(0, 68, 50, 2), prev);
    requests += world.exchange(from.section(7, 0, 1, 60), next, to.section(9, 1, 1, 60), prev, 5);
    requests.wait();
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 70; x++) {
            int expected = value(77, y, x);
            if (x >= 68) expected = value(prev, y, x - 65);
            if (y == 9 && x >= 1 && x < 61) expected = value(prev, 7, x - 1);
            CHECK(to(y, x) == expected);
        }

    array<int, 3> cube(4, 5, 6), other(4, 5, 6);
    parallel_for_each(
        cube.extent, [ =, &cube ](index<3> at) restrict(amp) { cube[at] = value(rank, at[0], at[1] * 10 + at[2]); });
    world.exchange(cube, next, other, prev, 1).wait();
    const array_view<int, 3> seen(other);
    for (int i = 0; i < 120; i++)
        CHECK(seen(i / 30, i / 6 % 5, i % 6) == value(prev, i / 30, i / 6 % 5 * 10 + i % 6));

    // A message can be a section of an array.
    mpi::request part = world.send(array_view<const int, 3>(cube).section(1, 1, 1, 2, 3, 4), next, 2);
    array_view<int, 3> block(2, 3, 4);
    world.receive(block, prev, 2).wait();
    part.wait();
    CHECK(block(1, 2, 3) == value(prev, 2, 34));

    // MPI_PROC_NULL stands for a neighbour that does not exist. Nothing is sent or received.
    mpi::request none = world.exchange(from, MPI_PROC_NULL, to, MPI_PROC_NULL);
    CHECK(none.is_done());
    none.wait();
}

// Messages with the same tag arrive in the order in which they were sent, however long it takes to pack each of them.
static void order(const mpi::communicator &world) {
    const int rank = world.rank(), next = (rank + 1) % world.size(), prev = (rank + world.size() - 1) % world.size();
    const int count = 12;
    std::vector<array_view<int, 2>> sent, received;
    mpi::request requests;
    for (int i = 0; i < count; i++) {
        const int rows = i % 3 ? 1 : 300;
        sent.emplace_back(rows, 20);
        received.emplace_back(rows, 20);
        fill(sent.back(), rank * 100 + i);
        requests += world.send(sent.back(), next);
    }
    for (int i = 0; i < count; i++)
        requests += world.receive(received[unsigned(i)], prev);
    requests.wait();
    for (int i = 0; i < count; i++)
        CHECK(received[unsigned(i)](0, 3) == value(prev * 100 + i, 0, 3));
}

// Kernels run while a message is in transit. The message has the values that the view had at the time of the call.
static void overlap(const mpi::communicator &world) {
    const int rank = world.rank(), next = (rank + 1) % world.size(), prev = (rank + world.size() - 1) % world.size();
    array_view<int, 2> from(200, 100), to(200, 100), work(64, 64);
    fill(from, rank);
    mpi::request moving = world.exchange(from, next, to, prev);
    fill(work, rank);
    for (int n = 0; n < 20; n++)
        parallel_for_each(
            work.extent, [=](index<2> at) restrict(amp) { work[at] += 1; });
    while (!moving.is_done())
        std::this_thread::yield();
    moving.wait();
    CHECK(to(199, 99) == value(prev, 199, 99));
    CHECK(work(5, 6) == value(rank, 5, 6) + 20);
}

static void reductions(const mpi::communicator &world) {
    const int rank = world.rank(), size = world.size();
    array_view<int, 2> sums(30, 40);
    fill(sums, 0);
    world.all_reduce(sums.section(2, 3, 20, 30), mpi::operation::sum).wait();
    CHECK(sums(2, 3) == size * value(0, 2, 3) && sums(21, 32) == size * value(0, 21, 32));
    CHECK(sums(1, 3) == value(0, 1, 3) && sums(22, 3) == value(0, 22, 3));

    std::vector<float> numbers(600, float(rank + 1));
    const array_view<float, 1> shared(600, numbers);
    world.reduce(shared, mpi::operation::maximum, size - 1).wait();
    CHECK(shared[599] == float(rank == size - 1 ? size : rank + 1));
    world.broadcast(shared, size - 1).wait();
    CHECK(shared[0] == float(size) && shared[599] == float(size));

    int factorial = 1;
    for (int n = 2; n <= size; n++)
        factorial *= n;
    CHECK(world.all_reduce(rank + 1, mpi::operation::product) == factorial);
    CHECK(world.all_reduce(double(rank), mpi::operation::minimum) == 0.0);

    const mpi::communicator half = world.split(rank % 2);
    CHECK(half.size() == (size + 1 - rank % 2) / 2);
    CHECK(half.all_reduce(rank, mpi::operation::minimum) == rank % 2);
}

// Two threads of each rank exchange messages at the same time. Each thread uses its own tag, the same on all ranks.
static void threads(const mpi::communicator &world) {
    const int rank = world.rank(), next = (rank + 1) % world.size(), prev = (rank + world.size() - 1) % world.size();
    std::atomic<int> wrong{0};
    const auto work = [&](int tag) {
        for (int n = 0; n < 10; n++) {
            std::vector<int> mine(100, rank * 100 + tag * 10 + n), theirs(100);
            const array_view<int, 1> from(100, mine), to(100, theirs);
            world.exchange(from, next, to, prev, tag).wait();
            if (to[99] != prev * 100 + tag * 10 + n) wrong++;
        }
    };
    std::thread first(work, 1), second(work, 2);
    first.join();
    second.join();
    CHECK(wrong == 0);
}

// The extents of sender and receiver differ. With REVAMP_CHECK=1, both ranks get the same error and can continue.
static void extents(const mpi::communicator &world) {
    const int rank = world.rank();
    array_view<int, 2> wide(4, 8), tall(8, 4), same(3, 3);
    fill(wide, rank);
    fill(tall, rank);
    if (rank < 2 && world.size() > 1) {
        const std::string text = rank == 0 ? error_text_of([&] { world.send(wide, 1, 3).wait(); })
                                           : error_text_of([&] { world.receive(tall, 0, 3).wait(); });
        CHECK(contains(text, "rank 0 sends an extent of (4, 8)") &&
              contains(text, "rank 1 receives an extent of (8, 4)"));
        CHECK(contains(text, "tag 3"));
        // Both ranks have finished the failed message, and must not mistake the next message for the failed one.
        if (rank == 0)
            world.send(wide, 1, 3).wait();
        else
            world.receive(wide, 0, 3).wait();
        CHECK(wide(3, 7) == value(0, 3, 7));
    }
    if (world.size() > 1) {
        array_view<int, 2> sums = rank == 0 ? wide : tall;
        const std::string text = error_text_of([&] { world.all_reduce(sums, mpi::operation::sum).wait(); });
        CHECK(contains(text, "the ranks pass different elements") &&
              contains(text, rank == 0 ? "this rank has an extent of (4, 8)" : "(8, 4)"));
    }
    fill(same, 1);
    world.all_reduce(same, mpi::operation::sum).wait();
    CHECK(same(2, 2) == world.size() * value(1, 2, 2));
}

// Without REVAMP_CHECK, the receiver gets an error if a message is longer or shorter than the receive operation. Long
// messages travel in pieces of 1000 bytes. The next message with the same tag must arrive complete.
static void lengths(const mpi::communicator &world) {
    if (world.size() < 2 || world.rank() > 1) return;
    const struct {
        int sent, received;
    } pairs[] = {{200, 100}, {100, 200}, {3 << 20, 100}, {100, 3 << 20}, {500, 500},
                 {500, 501}, {250, 249}, {250, 251},     {750, 250},     {750, 1250}};
    for (const auto &pair : pairs) {
        std::vector<int> sent(unsigned(pair.sent), 6), received(unsigned(pair.received), 7);
        std::vector<int> after(100, pair.sent), next(100);
        if (world.rank() == 0) {
            world.send(array_view<const int, 1>(pair.sent, sent), 1, 3).wait();
            world.send(array_view<const int, 1>(100, after), 1, 3).wait();
            continue;
        }
        const std::string expected = "rank 0 sent " + std::to_string(pair.sent * 4) + " bytes, rank 1 receives " +
                                     std::to_string(pair.received * 4) + ",";
        const std::string text =
            error_text_of([&] { world.receive(array_view<int, 1>(pair.received, received), 0, 3).wait(); });
        if (pair.sent == pair.received)
            CHECK(text.empty());
        else
            CHECK(contains(text, expected.c_str()));
        array_view<int, 1> following(100, next);
        world.receive(following, 0, 3).wait();
        CHECK(following[99] == pair.sent);
    }
}

static void invalid_calls(const mpi::communicator &world) {
    array_view<int, 1> one_element(1);
    CHECK(contains(error_text_of([&] { world.send(one_element, world.size()).wait(); }), "there is no rank"));
    CHECK(contains(error_text_of([&] { world.receive(one_element, MPI_ANY_SOURCE).wait(); }),
                   "MPI_ANY_SOURCE is not supported"));
    CHECK(contains(error_text_of([&] { world.receive(one_element, 0, -7).wait(); }), "tag"));
    CHECK(contains(error_text_of([] { mpi::session second; }), "already has a session"));
    // A request that an exception destroys does not block its rank.
    try {
        std::vector<int> lost(10);
        mpi::request never = world.receive(array_view<int, 1>(10, lost), world.rank(), 9);
        throw 1;
    } catch (int) {
    }
}

#ifdef REVAMP_TEST_FAIL
// Compiles one of the expressions that must be rejected. scripts/test-mpi lists them with the expected messages.
static void must_not_compile(const mpi::communicator &world, const array_view<const float, 1> &fixed) {
    (void)(REVAMP_TEST_FAIL);
}
#endif

// Tests which device each rank on a machine gets, given the devices that each of these ranks sees.
static void device_assignment() {
    typedef std::vector<std::string> list;
    using mpi::detail::assign_accelerators;
    const list two = {"a", "b"};
    CHECK(assign_accelerators({two, two}) == (list{"a", "b"}));
    CHECK(assign_accelerators({two, two, two, two}) == (list{"a", "b", "a", "b"}));
    CHECK(assign_accelerators({{"a"}, {"b"}, {"c"}}) == (list{"a", "b", "c"}));
    CHECK(assign_accelerators({{"a"}, {"a", "b"}, {"b", "a"}}) == (list{"a", "b", "b"}));
    CHECK(assign_accelerators({{}, {"a"}}) == (list{"", "a"}));
}

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "all";
    if (mode == "single" || mode == "own") {
        // The program itself initializes MPI: `single` with a thread level that is too low, `own` with a high one.
        int level = 0;
        MPI_Init_thread(&argc, &argv, mode == "own" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
        std::string text;
        if (level < MPI_THREAD_SERIALIZED) {
            text = error_text_of([] { mpi::session session; });
            CHECK(contains(text, "MPI_THREAD_SERIALIZED"));
        } else {
            mpi::session session;
            sections(session.world());
        }
        int rank = 0, is_finalized = 1;
        MPI_Finalized(&is_finalized);
        CHECK(!is_finalized);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Finalize();
        CHECK(contains(error_text_of([] { mpi::session again; }), "MPI_Finalize was called"));
        if (rank == 0 && failures == 0) std::puts("right");
        return failures != 0;
    }
    if (mode == "leave") {
        // An exception destroys the session of rank 0. All ranks must end, even those that wait for rank 0.
        try {
            mpi::session session;
            const mpi::communicator &world = session.world();
            std::vector<int> numbers(10);
            if (world.rank() == 0) throw std::runtime_error("as it may happen");
            world.receive(array_view<int, 1>(10, numbers), 0).wait();
        } catch (const std::runtime_error &) {
        }
        std::puts("went on");
        return 0;
    }
    // The program uses this data after the session. The end of the session ends MPI, but accelerators stay usable.
    std::vector<int> numbers_of_view(10, 1);
    int rank = 0;
    std::vector<mpi::communicator> communicators;
    {
        mpi::session session(argc, argv);
        const mpi::communicator &world = session.world();
        rank = world.rank();
        communicators.push_back(world);
        CHECK(session.local_size() == world.size() && session.local_rank() == rank);
        CHECK(accelerator() == session.accelerator());
        device_assignment();
        if (mode == "extents") {
            extents(world);
        } else {
            sections(world);
            order(world);
            overlap(world);
            reductions(world);
            threads(world);
            lengths(world);
            invalid_calls(world);
        }
        failures = world.all_reduce(failures, mpi::operation::sum);
    }
    const array_view<int, 1> view(10, numbers_of_view);
    parallel_for_each(
        view.extent, [=](index<1> at) restrict(amp) { view[at] += 1; });
    CHECK(view[9] == 2);
    CHECK(contains(error_text_of([&] { communicators[0].send(view, 0).wait(); }), "has ended"));
    CHECK(contains(error_text_of([&] { communicators[0].all_reduce(1, mpi::operation::sum); }), "has ended"));
    if (rank == 0 && failures == 0) std::puts("right");
    return failures != 0;
}
