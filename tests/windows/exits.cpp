// Tests the end of a program by `return` or `exit` while launches still run. All launches must end before the program's
// exit handler runs. The program includes windows.h with its macros, as programs for Windows do.
#include <windows.h>

#include <intrin.h>

#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace concurrency;

namespace {
enum { N = 1 << 20, LAUNCHES = 50 };
std::vector<int> numbers(N, 1);

void check_results() {
    for (int value : numbers)
        if (value != 1 + LAUNCHES) return;
    std::puts("all there");
}
} // namespace

int main(int count, char **arguments) {
    std::atexit(check_results);
    // The view is never destroyed, so no destructor waits for the last launch.
    const auto &view = *new array_view<int>(N, numbers);
    for (int i = 0; i < LAUNCHES; i++)
        parallel_for_each(
            view.extent, [view = view](index<1> at) restrict(amp) { view[at] += 1; });
    if (count > 1 && !std::strcmp(arguments[1], "exit")) std::exit(0);
    return 0;
}
