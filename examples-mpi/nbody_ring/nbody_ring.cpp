// Computes the forces between bodies that attract each other, on a ring of ranks. Each rank keeps its own bodies.
// Copies of all ranks' bodies, the guests, travel around the ring. While the accelerator computes the forces of guests
// on the rank's own bodies, MPI sends the guests to the next rank.
#include <revamp/mpi.hpp>

#include <amp_math.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;
namespace mpi = revamp::mpi;

struct body {
    float x, y, z, mass;
};

// Adds the forces of `guests` on `bodies`.
void attract(const array_view<const body, 1> &bodies, const array_view<const body, 1> &guests,
             const array_view<body, 1> &forces) {
    parallel_for_each(
        bodies.extent, [=](index<1> at) restrict(amp) {
            const body me = bodies[at];
            body sum = forces[at];
            for (int i = 0; i < guests.extent[0]; i++) {
                const body other = guests[i];
                const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
                const float inverse_distance = fast_math::rsqrt(x * x + y * y + z * z + 0.01f);
                const float pull = other.mass * inverse_distance * inverse_distance * inverse_distance;
                sum.x += pull * x;
                sum.y += pull * y;
                sum.z += pull * z;
            }
            forces[at] = sum;
        });
}

// Makes bodies `first` to `first + count - 1` of all ranks' bodies.
std::vector<body> bodies_from(int first, int count) {
    std::vector<body> made;
    for (int i = first; i < first + count; i++) {
        const float angle = 0.37f * float(i), radius = 1.0f + 0.01f * float(i % 97);
        made.push_back(
            body{radius * std::cos(angle), radius * std::sin(angle), 0.1f * float(i % 7), 1.0f + float(i % 3)});
    }
    return made;
}

std::vector<body> forces_in_ring(const mpi::communicator &world, int count) {
    const int next = (world.rank() + 1) % world.size(), before = (world.rank() + world.size() - 1) % world.size();
    const std::vector<body> mine = bodies_from(world.rank() * count, count);
    std::vector<body> forces(mine.size());
    array<body, 1> one(count, mine.begin(), mine.end()), other(count);
    array_view<const body, 1> bodies(mine);
    array_view<body, 1> sums(forces), guests(one), next_guests(other);
    for (int n = 0; n < world.size(); n++) {
        mpi::request travel;
        if (n + 1 < world.size()) travel = world.exchange(guests, next, next_guests, before);
        attract(bodies, guests, sums);
        travel.wait();
        std::swap(guests, next_guests);
    }
    sums.synchronize();
    return forces;
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    const int count = argc > 1 ? std::atoi(argv[1]) : 300;
    if (count < 1 || count > 1000000) {
        if (world.rank() == 0) std::wcerr << L"usage: nbody_ring [BODIES OF EACH RANK, 1 to 1000000]\n";
        return 2;
    }
    const std::vector<body> forces = forces_in_ring(world, count);

    // For comparison, computes the forces on this rank's bodies from all bodies at once.
    const std::vector<body> mine = bodies_from(world.rank() * count, count), all = bodies_from(0, count * world.size());
    std::vector<body> alone(mine.size());
    array_view<body, 1> sums(alone);
    attract(array_view<const body, 1>(mine), array_view<const body, 1>(all), sums);
    sums.synchronize();
    float worst = 0;
    for (std::size_t i = 0; i < forces.size(); i++) {
        const float scale = 1.0f + std::fabs(alone[i].x) + std::fabs(alone[i].y) + std::fabs(alone[i].z);
        worst = std::fmax(worst, std::fabs(forces[i].x - alone[i].x) / scale);
        worst = std::fmax(worst, std::fabs(forces[i].y - alone[i].y) / scale);
        worst = std::fmax(worst, std::fabs(forces[i].z - alone[i].z) / scale);
    }
    worst = world.all_reduce(worst, mpi::operation::maximum);
    if (world.rank() == 0)
        std::wcout << world.size() << L" ranks, " << session.accelerator().description << L": " << count * world.size()
                   << L" bodies, differs from one rank by " << worst << (worst < 1e-4f ? L", right" : L", WRONG")
                   << std::endl;
    return worst < 1e-4f ? 0 : 1;
}
