// What revamp-trace gives advice on, and the same done right. scripts/test-trace expects advice for the line marked
// with the name of a violation, and none for its twin. usage: advice NAME
#include <amp.h>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace concurrency;

namespace {

const int count = 4096, rounds = 5;
std::vector<int> table(count, 1), result(count);

// Caching, guideline B: the views of a loop.
void renewed() {
    for (int n = 0; n < rounds; n++) {
        const array_view<const int> in(count, table);
        const array_view<int> out(count, result);
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; }); // advice: renewed
        out.synchronize();
    }
}
void kept() {
    const array_view<const int> in(count, table);
    const array_view<int> out(count, result);
    for (int n = 0; n < rounds; n++) {
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; });
        out.synchronize();
    }
}

// Caching, guideline C: one element read on the host in each round.
void read_whole() {
    const array_view<int> view(count, result);
    int sum = 0;
    for (int n = 0; n < rounds; n++) {
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
        sum += view[0]; // advice: read_whole
    }
    view.synchronize();
    if (sum < 0) std::puts("");
}
void read_section() {
    const array_view<int> view(count, result);
    int sum = 0;
    for (int n = 0; n < rounds; n++) {
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
        const array_view<const int> first = view.section(0, 1);
        sum += first[0];
    }
    view.synchronize();
    if (sum < 0) std::puts("");
}

// Destruction, guideline B: the destructor writes back.
void destructor() {
    const array_view<int> out(count, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
} // advice: destructor
void synchronized() {
    const array_view<int> out(count, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
    out.synchronize();
}

// A kernel writes all elements, whose old values are moved.
void undiscarded() {
    const array_view<int> out(count, result);
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; }); // advice: undiscarded
    out.synchronize();
}
void discarded() {
    synchronized();
}

// What is written is never read.
void unread() {
    const array_view<int> out(count, result);
    for (int n = 0; n < rounds; n++) {
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; }); // advice: unread
    }
    out.discard_data();
}
void read_each() {
    const array_view<int> out(count, result);
    for (int n = 0; n < rounds; n++) {
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
        out.synchronize();
    }
}

// Many launches of kernels that do next to nothing, and one that does it all.
void small() {
    const array_view<int> out(1, result);
    for (int n = 0; n < 500; n++)
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] += 1; }); // advice: small
    out.synchronize();
}
void large() {
    const array_view<int> out(1, result);
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) {
            for (int n = 0; n < 500; n++)
                out[i] += 1;
        });
    out.synchronize();
}

const struct {
    const char *name;
    void (*run)();
} programs[] = {{"renewed", renewed},
                {"kept", kept},
                {"read_whole", read_whole},
                {"read_section", read_section},
                {"destructor", destructor},
                {"synchronized", synchronized},
                {"undiscarded", undiscarded},
                {"discarded", discarded},
                {"unread", unread},
                {"read_each", read_each},
                {"small", small},
                {"large", large}};

} // namespace

int main(int argc, char **argv) {
    for (const auto &program : programs)
        if (argc > 1 && !std::strcmp(program.name, argv[1])) return program.run(), 0;
    return 2;
}
