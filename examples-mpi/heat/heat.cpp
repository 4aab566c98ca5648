// Simulates heat that spreads over a plate. Each rank has some rows of the plate, and a halo: one row of the rank above
// and one of the rank below. While messages transfer the halos, the accelerator computes the rows that need no halo.
#include <revamp/mpi.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;
namespace mpi = revamp::mpi;

// Computes one time step of all rows of `to`. `from` has the heat before the step, and one more row above and below.
void step(const array_view<const float, 2> &from, const array_view<float, 2> &to) {
    const int width = to.extent[1];
    to.discard_data();
    parallel_for_each(
        to.extent, [=](index<2> at) restrict(amp) {
            const int y = at[0] + 1, x = at[1];
            const float here = from(y, x);
            const float left = x > 0 ? from(y, x - 1) : here, right = x + 1 < width ? from(y, x + 1) : here;
            to[at] = here + 0.2f * (from(y - 1, x) + from(y + 1, x) + left + right - 4.0f * here);
        });
}

// The heat at the start. Outside of the plate, the rows above are hot and the rows below are cold.
float initial_heat(int y, int x, int rows) {
    if (y < 0) return 100.0f;
    if (y >= rows) return 0.0f;
    return float((y * 31 + x * 17) % 50);
}

// Computes `steps` time steps, and returns rows `first` to `first + count - 1` of a plate of `rows` rows. The other
// ranks of `world` compute the other rows; if `world` is null, there are none. `time` becomes the microseconds per
// step.
std::vector<float> spread(const mpi::communicator *world, int first, int count, int rows, int width, int steps,
                          double *time = nullptr) {
    const int up = world && world->rank() > 0 ? world->rank() - 1 : MPI_PROC_NULL;
    const int down = world && world->rank() + 1 < world->size() ? world->rank() + 1 : MPI_PROC_NULL;
    std::vector<float> start;
    for (int y = first - 1; y <= first + count; y++)
        for (int x = 0; x < width; x++)
            start.push_back(initial_heat(y, x, rows));
    array<float, 2> one(count + 2, width, start.begin(), start.end()),
        other(count + 2, width, start.begin(), start.end());
    array_view<float, 2> now(one), next(other);
    one.accelerator_view.wait();
    if (world) world->barrier();
    const auto begun = std::chrono::steady_clock::now();
    for (int n = 0; n < steps; n++) {
        mpi::request halos;
        if (world) {
            halos = world->exchange(now.section(1, 0, 1, width), up, now.section(count + 1, 0, 1, width), down);
            halos += world->exchange(now.section(count, 0, 1, width), down, now.section(0, 0, 1, width), up, 1);
        }
        if (count > 2) step(now.section(1, 0, count, width), next.section(2, 0, count - 2, width));
        halos.wait();
        step(now.section(0, 0, 3, width), next.section(1, 0, 1, width));
        if (count > 1) step(now.section(count - 1, 0, 3, width), next.section(count, 0, 1, width));
        std::swap(now, next);
    }
    one.accelerator_view.wait();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
    if (time) *time = took.count() / steps;
    std::vector<float> result(std::size_t(count) * std::size_t(width));
    copy(now.section(1, 0, count, width), result.begin());
    return result;
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    const int rows_each = argc > 1 ? std::atoi(argv[1]) : 500, width = argc > 2 ? std::atoi(argv[2]) : 1000;
    const int steps = argc > 3 ? std::atoi(argv[3]) : 40;
    const bool check = argc <= 4 || std::atoi(argv[4]) != 0;
    if (rows_each < 1 || width < 1 || steps < 1) {
        if (world.rank() == 0) std::wcerr << L"usage: heat [ROWS OF EACH RANK] [WIDTH] [STEPS] [CHECK: 0 or 1]\n";
        return 2;
    }
    const int rows = rows_each * world.size();
    (void)spread(&world, world.rank() * rows_each, rows_each, rows, width, 2); // loads the kernels
    double time = 0;
    std::vector<float> mine = spread(&world, world.rank() * rows_each, rows_each, rows, width, steps, &time);
    const double slowest = world.all_reduce(time, mpi::operation::maximum);

    // Rank 0 receives the whole plate, and computes it alone for comparison.
    double worst = 0;
    if (check && world.rank() == 0) {
        std::vector<float> all(std::size_t(rows) * std::size_t(width));
        array_view<float, 2> plate(rows, width, all);
        copy(mine.begin(), mine.end(), plate.section(0, 0, rows_each, width));
        mpi::request gathered;
        for (int rank = 1; rank < world.size(); rank++)
            gathered += world.receive(plate.section(rank * rows_each, 0, rows_each, width), rank, 2);
        gathered.wait();
        plate.synchronize();
        const std::vector<float> alone = spread(nullptr, 0, rows, rows, width, steps);
        for (std::size_t i = 0; i < all.size(); i++)
            worst = std::fmax(worst, std::fabs(double(all[i]) - double(alone[i])));
    } else if (check) {
        world.send(array_view<const float, 2>(rows_each, width, mine), 0, 2).wait();
    }
    worst = world.all_reduce(worst, mpi::operation::maximum);
    const bool right = worst < 1e-3;
    if (world.rank() == 0)
        std::wcout << world.size() << L" ranks, " << session.accelerator().description << L": a plate of " << rows
                   << L"x" << width << L", " << slowest << L" microseconds a step, "
                   << (!check  ? L"not checked"
                       : right ? L"right"
                               : L"WRONG")
                   << std::endl;
    return right ? 0 : 1;
}
