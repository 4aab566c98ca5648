// Ends with work under way, by `return` or `exit`: all of it is done when the program's own exit handlers have run.
// With its macros, as programs of Windows have it.
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
std::vector<int> kept(N, 1);

void tell() {
    for (int value : kept)
        if (value != 1 + LAUNCHES) return;
    std::puts("all there");
}
} // namespace

int main(int count, char **arguments) {
    std::atexit(tell);
    // Never destroyed: nothing waits for the last launch.
    const auto &view = *new array_view<int>(N, kept);
    for (int i = 0; i < LAUNCHES; i++)
        parallel_for_each(
            view.extent, [view = view](index<1> at) restrict(amp) { view[at] += 1; });
    if (count > 1 && !std::strcmp(arguments[1], "exit")) std::exit(0);
    return 0;
}
