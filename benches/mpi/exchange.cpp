// Times three exchanges of data between two neighbouring ranks: a row, a column, and a row while a kernel runs. Also
// times the parts of an exchange: packing and unpacking by the accelerator, and MPI between host memories. Run this
// program with mpirun -n 1 (the rank exchanges with itself), -n 2, or -n 4 (two pairs). docs/mpi.md has the figures.
// plain_cuda.cu does the same with CUDA.
#include <revamp/mpi.hpp>

#include "pattern.h"

using namespace concurrency;
namespace mpi = revamp::mpi;

static void fill(const array_view<float, 1> &elements, int rank) {
    parallel_for_each(
        elements.extent, [=](index<1> at) restrict(amp) {
            elements[at] = static_cast<float>(rank * 1000 + at[0] % 997);
        });
}
static void fill_untouched(const array_view<float, 1> &elements) {
    parallel_for_each(
        elements.extent, [=](index<1> at) restrict(amp) { elements[at] = -1.0f; });
}
static std::vector<float> read(const array_view<float, 1> &elements) {
    std::vector<float> values(static_cast<std::size_t>(elements.extent[0]));
    copy(elements, values.begin());
    return values;
}

static void measure(const mpi::communicator &world, const accelerator_view &device, int count, int kernel_iterations) {
    const int rank = world.rank(), size = world.size(), other = neighbour(rank, size), times = times_of(count);
    array<float, 1> sent(count * column_pitch, device), received(count * column_pitch, device);
    const array_view<float, 1> from(sent), to(received);
    fill(from, rank);
    const array_view<float, 1> row = from.section(0, count), received_row = to.section(0, count);
    const auto column_of = [count](const array_view<float, 1> &elements) {
        return elements.view_as(extent<2>(count, column_pitch)).section(0, column_at, count, 1);
    };
    const array_view<float, 2> column = column_of(from), received_column = column_of(to);
    const auto report_time = [&](const char *what, double time) { report("revamp", rank, size, what, count, time); };

    const auto rows = [&] { world.exchange(row, other, received_row, other).wait(); };
    const auto columns = [&] { world.exchange(column, other, received_column, other).wait(); };
    fill_untouched(to);
    rows();
    check_elements(read(to), count, 1, 0, other, "a row");
    fill_untouched(to);
    columns();
    check_elements(read(to), count, column_pitch, column_at, other, "a column");
    report_time("row", median_of(times, rows));
    report_time("column", median_of(times, columns));

    // The parts of an exchange: copies by the accelerator from and to host memory, and MPI between host memories.
    const accelerator_view cpu = accelerator(accelerator::cpu_accelerator).default_view;
    array<float, 1> packed(count, cpu, device);
    array<float, 2> packed_column(count, 1, cpu, device);
    report_time("pack_row", median_of(times, [&] { copy(row, packed); }));
    report_time("unpack_row", median_of(times, [&] { copy(packed, received_row); }));
    report_time("pack_column", median_of(times, [&] { copy(column, packed_column); }));
    report_time("unpack_column", median_of(times, [&] { copy(packed_column, received_column); }));
    std::vector<float> mine(static_cast<std::size_t>(count)), theirs(mine.size());
    report_time("mpi_alone", median_of(times, [&] {
                    MPI_Sendrecv(mine.data(), count, MPI_FLOAT, other, 1, theirs.data(), count, MPI_FLOAT, other, 1,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }));

    array<float, 1> work(1 << 20, device);
    const auto kernel = [&] {
        parallel_for_each(
            device, work.extent, [&work, kernel_iterations ](index<1> at) restrict(amp) {
                float sum = 0;
                for (int i = 0; i < kernel_iterations; i++)
                    sum = sum * 0.5f + float(at[0] + i);
                work[at] = sum;
            });
    };
    kernel();
    device.wait();
    const int few_times = std::min(times, 20);
    report_time("kernel", median_of(few_times, [&] {
                    kernel();
                    device.wait();
                }));
    report_time("kernel_and_row", median_of(few_times, [&] {
                    mpi::request exchange_request = world.exchange(row, other, received_row, other);
                    kernel();
                    exchange_request.wait();
                    device.wait();
                }));
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    if (world.size() > 1 && world.size() % 2 != 0) {
        std::fprintf(stderr, "exchange: the number of ranks must be 1 or even, because ranks exchange in pairs\n");
        return 2;
    }
    // The largest number of floats in a message, and the iterations of the kernel that runs during an exchange.
    const int max_count = argc > 1 ? std::atoi(argv[1]) : 1 << 30,
              kernel_iterations = argc > 2 ? std::atoi(argv[2]) : 2000;
    for (int count : message_counts)
        if (count <= max_count) measure(world, session.accelerator().default_view, count, kernel_iterations);
    double reduced = 1;
    const double reduction = median_of(100, [&] { reduced = world.all_reduce(reduced, mpi::operation::maximum); });
    report("revamp", world.rank(), world.size(), "all_reduce", 2, reduction);
}
