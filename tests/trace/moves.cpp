// A program for scripts/test-trace: a launch implicitly moves 65,536 bytes, which later come back in one transfer.
// usage: moves [crash | launches COUNT]
#include <amp.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using namespace concurrency;

int main(int argc, char **argv) {
    const bool crashes = argc > 1 && !std::strcmp(argv[1], "crash");
    const int launches = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<int> numbers(16384);
    array_view<int> view(16384, numbers);
    for (int n = 0; n < launches; n++)
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    const int first = view[0];
    if (crashes) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        std::abort();
    }
    return first == launches ? 0 : 1;
}
