// Adds up more numbers than the accelerator holds at once. The numbers come in chunks, through two staging arrays.
// While the accelerator adds up one chunk, the host reads and sends the next chunk.
#include <amp.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

using namespace concurrency;

static const int chunk_size = 1 << 18;

// Stands for a read from a file.
void read_chunk(int chunk, float *values) {
    unsigned random = static_cast<unsigned>(chunk) * 2654435761u + 1;
    for (int i = 0; i < chunk_size; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = static_cast<float>(random >> 8) / 16777216.0f;
    }
}

// Adds a chunk to the sums. Each thread has one sum, and adds every thread_count-th element of the chunk to it.
void add_chunk(const accelerator_view &where, const array<float, 1> &chunk, array<float, 1> &sums) {
    const int thread_count = sums.extent[0];
    parallel_for_each(
        where, sums.extent, [ =, &chunk, &sums ](index<1> idx) restrict(amp) {
            float sum = 0.0f;
            for (int i = idx[0]; i < chunk_size; i += thread_count)
                sum += chunk[i];
            sums[idx] += sum;
        });
}

double sum_of_chunks(int chunk_count) {
    const accelerator_view where = accelerator().default_view;
    const accelerator_view host = accelerator(accelerator::cpu_accelerator).default_view;
    const extent<1> shape(chunk_size);
    array<float, 1> staging[2] = {array<float, 1>(shape, host, where), array<float, 1>(shape, host, where)};
    array<float, 1> chunks[2] = {array<float, 1>(shape, where), array<float, 1>(shape, where)};
    std::vector<float> result(4096);
    array<float, 1> sums(static_cast<int>(result.size()), result.begin(), result.end(), where);

    completion_future sent[2];
    read_chunk(0, staging[0].data());
    sent[0] = copy_async(staging[0], chunks[0]);
    for (int i = 0; i < chunk_count; i++) {
        const int now = i % 2, next = 1 - now;
        sent[now].get();
        add_chunk(where, chunks[now], sums);
        if (i + 1 == chunk_count) break;
        read_chunk(i + 1, staging[next].data());
        sent[next] = copy_async(staging[next], chunks[next]);
    }
    copy(sums, result.begin());
    return std::accumulate(result.begin(), result.end(), 0.0);
}

int main(int argc, char **argv) {
    const int chunk_count = argc > 1 ? std::atoi(argv[1]) : 24;
    if (chunk_count < 1 || chunk_count > 100000) {
        std::wcerr << "usage: chunked_sum [CHUNKS, 1 to 100000]\n";
        return 2;
    }
    const accelerator device; // found before the clock starts
    const auto start = std::chrono::steady_clock::now();
    const double sum = sum_of_chunks(chunk_count);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    double expected = 0;
    std::vector<float> values(chunk_size);
    for (int i = 0; i < chunk_count; i++) {
        read_chunk(i, values.data());
        expected = std::accumulate(values.begin(), values.end(), expected);
    }
    const bool right = std::fabs(sum - expected) <= 1e-5 * expected;
    std::wcout << L"sum of " << chunk_count << L" chunks of " << chunk_size << L" numbers on " << device.description
               << L": " << sum << L" in " << time.count() << L" ms, " << (right ? L"right" : L"WRONG") << std::endl;
    return right ? 0 : 1;
}
