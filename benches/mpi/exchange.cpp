// What an exchange of two neighbours costs: rows, columns, each of its terms (packing and unpacking by the accelerator,
// MPI between memories of the host), and a kernel beside it. mpirun -n 1 (with itself), 2, or 4 for two pairs;
// docs/mpi.md has its figures, plain_cuda.cu is the same by CUDA.
#include <revamp/mpi.hpp>

#include "pattern.h"

using namespace concurrency;
namespace mpi = revamp::mpi;

static void fill(const array_view<float, 1> &all, int rank) {
    parallel_for_each(
        all.extent, [=](index<1> at) restrict(amp) { all[at] = static_cast<float>(rank * 1000 + at[0] % 997); });
}
static void fill_untouched(const array_view<float, 1> &all) {
    parallel_for_each(
        all.extent, [=](index<1> at) restrict(amp) { all[at] = -1.0f; });
}
static std::vector<float> read(const array_view<float, 1> &all) {
    std::vector<float> values(static_cast<std::size_t>(all.extent[0]));
    copy(all, values.begin());
    return values;
}

static void measure(const mpi::communicator &world, const accelerator_view &device, int count, int rounds) {
    const int rank = world.rank(), size = world.size(), other = neighbour(rank, size), times = times_of(count);
    array<float, 1> sent(count * column_pitch, device), received(count * column_pitch, device);
    const array_view<float, 1> from(sent), to(received);
    fill(from, rank);
    const array_view<float, 1> row = from.section(0, count), coming = to.section(0, count);
    const auto column_of = [count](const array_view<float, 1> &all) {
        return all.view_as(extent<2>(count, column_pitch)).section(0, column_at, count, 1);
    };
    const array_view<float, 2> column = column_of(from), arriving = column_of(to);
    const auto say = [&](const char *what, double time) { report("revamp", rank, size, what, count, time); };

    const auto rows = [&] { world.exchange(row, other, coming, other).wait(); };
    const auto columns = [&] { world.exchange(column, other, arriving, other).wait(); };
    fill_untouched(to);
    rows();
    check_elements(read(to), count, 1, 0, other, "a row");
    fill_untouched(to);
    columns();
    check_elements(read(to), count, column_pitch, column_at, other, "a column");
    say("row", median_of(times, rows));
    say("column", median_of(times, columns));

    // The terms: to and from memory of the host, by the accelerator; and MPI between memories of the host.
    const accelerator_view cpu = accelerator(accelerator::cpu_accelerator).default_view;
    array<float, 1> packed(count, cpu, device);
    array<float, 2> packed_column(count, 1, cpu, device);
    say("pack_row", median_of(times, [&] { copy(row, packed); }));
    say("unpack_row", median_of(times, [&] { copy(packed, coming); }));
    say("pack_column", median_of(times, [&] { copy(column, packed_column); }));
    say("unpack_column", median_of(times, [&] { copy(packed_column, arriving); }));
    std::vector<float> mine(static_cast<std::size_t>(count)), theirs(mine.size());
    say("mpi_alone", median_of(times, [&] {
            MPI_Sendrecv(mine.data(), count, MPI_FLOAT, other, 1, theirs.data(), count, MPI_FLOAT, other, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }));

    array<float, 1> work(1 << 20, device);
    const auto kernel = [&] {
        parallel_for_each(
            device, work.extent, [&work, rounds ](index<1> at) restrict(amp) {
                float sum = 0;
                for (int i = 0; i < rounds; i++)
                    sum = sum * 0.5f + float(at[0] + i);
                work[at] = sum;
            });
    };
    kernel();
    device.wait();
    const int few = std::min(times, 20);
    say("kernel", median_of(few, [&] {
            kernel();
            device.wait();
        }));
    say("kernel_and_row", median_of(few, [&] {
            mpi::request moving = world.exchange(row, other, coming, other);
            kernel();
            moving.wait();
            device.wait();
        }));
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    if (world.size() > 1 && world.size() % 2 != 0) {
        std::fprintf(stderr, "exchange: run it with 1 rank, 2, or 4: pairs that exchange at the same time\n");
        return 2;
    }
    // The most floats of a message, and how long the kernel beside it is.
    const int most = argc > 1 ? std::atoi(argv[1]) : 1 << 30, rounds = argc > 2 ? std::atoi(argv[2]) : 2000;
    for (int count : message_counts)
        if (count <= most) measure(world, session.accelerator().default_view, count, rounds);
    double one = 1;
    const double reduction = median_of(100, [&] { one = world.all_reduce(one, mpi::operation::maximum); });
    report("revamp", world.rank(), world.size(), "all_reduce", 2, reduction);
}
