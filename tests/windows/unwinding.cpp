// Exceptions thrown and caught in functions of a source that has native kernels: its object is joined of several
// (unwinding.awk).
#include <amp.h>

#include <cstdio>
#include <future>
#include <string>
#include <vector>

using namespace concurrency;

namespace {
int failures;

void expect(bool is_so, const char *what) {
    if (is_so) return;
    failures++;
    std::printf("not so: %s\n", what);
}

struct noisy {
    int &left;
    ~noisy() { left++; }
};

__attribute__((noinline, cold)) void fail(int n) {
    if (n > 3) throw std::string("four");
}

int squares(int n, int &left);
template <int Tile> int reversed(int n, int &left);
} // namespace

// The first function, and large: what is wrongly said of later places in .text is said of it.
int main() {
    int left = 0;
    auto later = std::async(std::launch::async, [] { return accelerator::get_all().size(); });
    expect(later.get() > 0, "there are accelerators");
    expect(squares(3, left) == 4 && left == 2, "squares");
    try {
        squares(10, left);
        expect(false, "squares of 10 throw");
    } catch (const std::string &why) {
        expect(why == "four" && left == 4, "squares of 10");
    }
    expect(reversed<8>(16, left) == 7 && left == 5, "reversed");
    try {
        reversed<32>(48, left);
        expect(false, "48 is no multiple of 32");
    } catch (const invalid_compute_domain &) {
        expect(left == 6, "locals are destroyed");
    }
    try {
        std::vector<int> data(8);
        array_view<int, 2> view(2, 4, data);
        parallel_for_each(
            view.extent.tile<2, 3>(), [=](tiled_index<2, 3> t) restrict(amp) { view[t.global] = 1; });
        expect(false, "4 is no multiple of 3");
    } catch (const runtime_exception &e) {
        expect(e.get_error_code() != 0, "a code");
    }
    if (!failures) std::puts("right");
    return failures != 0;
}

namespace {
int squares(int n, int &left) {
    noisy first{left};
    std::vector<int> data(n);
    array_view<int> view(n, data);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] = i[0] * i[0]; });
    noisy second{left};
    fail(n);
    view.synchronize();
    return data.back();
}

template <int Tile> int reversed(int n, int &left) {
    noisy only{left};
    std::vector<int> data(n, Tile);
    array_view<int> view(n, data);
    parallel_for_each(
        view.extent.template tile<Tile>(), [=](tiled_index<Tile> t) restrict(amp) {
            tile_static int kept[Tile];
            kept[t.local[0]] = t.global[0];
            t.barrier.wait();
            view[t.global] = kept[Tile - 1 - t.local[0]];
        });
    view.synchronize();
    return data[0];
}
} // namespace
