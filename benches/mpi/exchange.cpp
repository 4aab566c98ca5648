// What an exchange of two neighbours costs: all of it, MPI's part alone (host memory, the same bytes), and a kernel
// beside it. mpirun -n 2 exchange, or -n 4 for two pairs; the figures of docs/mpi.md are its output.
#include <revamp/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace concurrency;
namespace mpi = revamp::mpi;

// Microseconds of one `call`, the median of many.
template <class F> static double median(const mpi::communicator &world, int times, F call) {
    std::vector<double> all;
    for (int n = 0; n < times; n++) {
        world.barrier();
        const auto start = std::chrono::steady_clock::now();
        call();
        all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(all.begin(), all.end());
    return world.all_reduce(all[all.size() / 2], mpi::operation::maximum);
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    const int other = world.rank() ^ 1;
    const accelerator_view device = session.accelerator().default_view;
    if (world.size() % 2 != 0) {
        std::fprintf(stderr, "exchange: run it with 2 ranks, or 4: pairs that exchange at the same time\n");
        return 2;
    }
    if (world.rank() == 0)
        std::printf("| bytes | exchange, us | a column, us | MPI alone, us | a kernel, us | kernel and exchange, us |\n"
                    "| --- | --- | --- | --- | --- | --- |\n");
    for (int count = 1; count <= 1 << 20; count *= 32) {
        array<float, 1> sent(count * 4, device), received(count * 4, device);
        array_view<float, 1> from(sent), to(received);
        parallel_for_each(
            device, from.extent, [=](index<1> at) restrict(amp) { from[at] = to[at] = 1; });
        device.wait();
        const array_view<float, 1> row = from.section(0, count), coming = to.section(0, count);
        const array_view<float, 2> column = from.view_as(extent<2>(count, 4)).section(0, 1, count, 1);
        const array_view<float, 2> arriving = to.view_as(extent<2>(count, 4)).section(0, 1, count, 1);
        array<float, 1> work(1 << 15, device);
        const auto kernel = [&] {
            parallel_for_each(
                device, work.extent, [&work](index<1> at) restrict(amp) {
                    float sum = 0;
                    for (int i = 0; i < 20; i++)
                        sum = sum * 0.5f + float(at[0] + i);
                    work[at] = sum;
                });
        };
        kernel();
        device.wait();
        const int times = count > 1 << 16 ? 20 : 100;
        const double plain = median(world, times, [&] { world.exchange(row, other, coming, other).wait(); });
        const double strided = median(world, times, [&] { world.exchange(column, other, arriving, other).wait(); });
        std::vector<float> mine(static_cast<std::size_t>(count)), theirs(mine.size());
        const double alone = median(world, times, [&] {
            MPI_Sendrecv(mine.data(), count, MPI_FLOAT, other, 1, theirs.data(), count, MPI_FLOAT, other, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
        const double busy = median(world, times, [&] {
            kernel();
            device.wait();
        });
        const double both = median(world, times, [&] {
            mpi::request moving = world.exchange(row, other, coming, other);
            kernel();
            moving.wait();
            device.wait();
        });
        if (world.rank() == 0)
            std::printf("| %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n", count * 4, plain, strided, alone, busy, both);
    }
    double one = 1;
    const double reduction = median(world, 100, [&] { one = world.all_reduce(one, mpi::operation::maximum); });
    if (world.rank() == 0) std::printf("all_reduce of one number: %.1f us\n", reduction);
}
