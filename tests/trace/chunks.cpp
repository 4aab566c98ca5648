// Processes chunks of data on an accelerator: while a kernel works on one chunk, the next one is copied from a staging
// array. A trace of this program on a GPU with its own memory shows copies and kernels that overlap. usage: chunks
// [COUNT]
#include <amp.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace concurrency;

int main(int argc, char **argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 32, size = 1 << 20, steps = 2000;
    const accelerator_view device = accelerator().default_view;
    const accelerator_view host = accelerator(accelerator::cpu_accelerator).default_view;
    array<unsigned> staging(size, host, device), first(size, device), second(size, device), sums(size, device);
    for (int i = 0; i < size; i++)
        staging.data()[i] = static_cast<unsigned>(i);
    const std::vector<unsigned> zeros(size);
    copy(zeros.begin(), sums);
    array<unsigned> *chunks[2] = {&first, &second};
    std::vector<completion_future> copies;
    copies.push_back(copy_async(staging, first));
    for (int chunk = 0; chunk < count; chunk++) {
        copies.back().get();
        array<unsigned> &now = *chunks[chunk % 2];
        parallel_for_each(
            device, sums.extent, [&now, &sums ](index<1> i) restrict(amp) {
                unsigned number = now[i];
                for (int step = 0; step < steps; step++)
                    number = (number ^ number >> 13) * 1664525u;
                sums[i] += number;
            });
        device.flush();
        copies.push_back(copy_async(staging, *chunks[1 - chunk % 2]));
    }
    copies.back().get();
    unsigned expected = 1;
    for (int step = 0; step < steps; step++)
        expected = (expected ^ expected >> 13) * 1664525u;
    const std::vector<unsigned> results = sums;
    const bool is_right = results[1] == expected * static_cast<unsigned>(count);
    std::puts(is_right ? "right" : "wrong");
    return is_right ? 0 : 1;
}
