// Adds up more numbers than the accelerators hold at once. Each rank reads its chunks through two staging arrays in
// turn: while the accelerator adds up one chunk, the rank reads and sends the next chunk. Then the ranks add up their
// sums.
#include <revamp/mpi.hpp>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

using namespace concurrency;
namespace mpi = revamp::mpi;

static const int chunk_size = 1 << 16, threads = 1024;

// Stands for a read from a file.
void read_chunk(int chunk, unsigned *values) {
    unsigned random = unsigned(chunk) * 2654435761u + 1;
    for (int i = 0; i < chunk_size; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = random >> 24;
    }
}

// Adds up the chunks first, first + step, ..., up to chunk_count. Returns one sum for each thread.
std::vector<unsigned> sums_of(const accelerator_view &where, int first, int step, int chunk_count) {
    const accelerator_view host = accelerator(accelerator::cpu_accelerator).default_view;
    const extent<1> shape(chunk_size);
    array<unsigned, 1> staging[2] = {array<unsigned, 1>(shape, host, where), array<unsigned, 1>(shape, host, where)};
    array<unsigned, 1> chunks[2] = {array<unsigned, 1>(shape, where), array<unsigned, 1>(shape, where)};
    std::vector<unsigned> result(threads);
    array<unsigned, 1> sums(threads, result.begin(), result.end(), where);
    completion_future sent[2];
    const auto send = [&](int chunk, int buffer) {
        read_chunk(chunk, staging[buffer].data());
        sent[buffer] = copy_async(staging[buffer], chunks[buffer]);
    };
    if (first < chunk_count) send(first, 0);
    for (int i = first, buffer = 0; i < chunk_count; i += step, buffer = 1 - buffer) {
        sent[buffer].get();
        array<unsigned, 1> &chunk = chunks[buffer];
        parallel_for_each(
            where, sums.extent, [&chunk, &sums ](index<1> at) restrict(amp) {
                unsigned sum = 0;
                for (int n = at[0]; n < chunk_size; n += threads)
                    sum += chunk[n];
                sums[at] += sum;
            });
        if (i + step < chunk_count) send(i + step, 1 - buffer);
    }
    copy(sums, result.begin());
    return result;
}
unsigned long long total(const std::vector<unsigned> &sums) {
    return std::accumulate(sums.begin(), sums.end(), 0ull);
}

int main(int argc, char **argv) {
    mpi::session session(argc, argv);
    const mpi::communicator &world = session.world();
    const int chunk_count = argc > 1 ? std::atoi(argv[1]) : 25;
    if (chunk_count < 1 || chunk_count > 100000) {
        if (world.rank() == 0) std::wcerr << L"usage: out_of_core_sum [CHUNKS, 1 to 100000]\n";
        return 2;
    }
    const accelerator_view where = session.accelerator().default_view;
    std::vector<unsigned> sums = sums_of(where, world.rank(), world.size(), chunk_count);
    array_view<unsigned, 1> shared(sums);
    world.all_reduce(shared, mpi::operation::sum).wait();
    shared.synchronize();

    bool right = true;
    if (world.rank() == 0) {
        const unsigned long long sum = total(sums), alone = total(sums_of(where, 0, 1, chunk_count));
        right = sum == alone;
        std::wcout << world.size() << L" ranks, " << session.accelerator().description << L": the sum of "
                   << chunk_count << L" chunks of " << chunk_size << L" numbers is " << sum
                   << (right ? L", right" : L", WRONG") << std::endl;
    }
    return world.all_reduce(int(right), mpi::operation::minimum) ? 0 : 1;
}
