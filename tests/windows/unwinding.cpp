// Tests exceptions in a source that has native kernels. The compiler joins several object files into the object file of
// such a source. unwinding.awk checks the unwind table of the program.
#include <amp.h>

#include <cstdio>
#include <future>
#include <string>
#include <vector>

using namespace concurrency;

namespace {
int failures;

void expect(bool condition, const char *what) {
    if (condition) return;
    failures++;
    std::printf("failed: %s\n", what);
}

struct counts_destruction {
    int &destroyed;
    ~counts_destruction() { destroyed++; }
};

__attribute__((noinline, cold)) void fail(int n) {
    if (n > 3) throw std::string("four");
}

int squares(int n, int &destroyed);
template <int Tile> int reverse_tiles(int n, int &destroyed);
} // namespace

// main() is large and the first function in .text. Wrong unwind entries of later functions would fall into its range.
int main() {
    int destroyed = 0;
    auto accelerator_count = std::async(std::launch::async, [] { return accelerator::get_all().size(); });
    expect(accelerator_count.get() > 0, "there are accelerators");
    expect(squares(3, destroyed) == 4 && destroyed == 2, "squares");
    try {
        squares(10, destroyed);
        expect(false, "squares of 10 throw");
    } catch (const std::string &why) {
        expect(why == "four" && destroyed == 4, "squares of 10");
    }
    expect(reverse_tiles<8>(16, destroyed) == 7 && destroyed == 5, "reversed");
    try {
        reverse_tiles<32>(48, destroyed);
        expect(false, "a domain of 48 in tiles of 32 throws");
    } catch (const invalid_compute_domain &) {
        expect(destroyed == 6, "locals are destroyed");
    }
    try {
        std::vector<int> data(8);
        array_view<int, 2> view(2, 4, data);
        parallel_for_each(
            view.extent.tile<2, 3>(), [=](tiled_index<2, 3> t) restrict(amp) { view[t.global] = 1; });
        expect(false, "a domain of 4 in tiles of 3 throws");
    } catch (const runtime_exception &e) {
        expect(e.get_error_code() != 0, "the exception has an error code");
    }
    if (!failures) std::puts("right");
    return failures != 0;
}

namespace {
int squares(int n, int &destroyed) {
    counts_destruction first{destroyed};
    std::vector<int> data(n);
    array_view<int> view(n, data);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0] * i[0]; });
    counts_destruction second{destroyed};
    fail(n);
    view.synchronize();
    return data.back();
}

template <int Tile> int reverse_tiles(int n, int &destroyed) {
    counts_destruction only{destroyed};
    std::vector<int> data(n, Tile);
    array_view<int> view(n, data);
    parallel_for_each(
        view.extent.template tile<Tile>(), [=](tiled_index<Tile> t) restrict(amp) {
            tile_static int values[Tile];
            values[t.local[0]] = t.global[0];
            t.barrier.wait();
            view[t.global] = values[Tile - 1 - t.local[0]];
        });
    view.synchronize();
    return data[0];
}
} // namespace
