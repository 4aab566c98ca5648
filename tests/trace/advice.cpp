// Tests the advice of revamp-trace with pairs of functions: one has a fault, and its twin does not. advice.py compares
// the advice for a function with its marks. A twin has no mark and must get no advice. usage: advice NAME
#include <amp.h>
#include <revamp/trace.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace concurrency;

namespace {

const int count = 4096, many = 65536, rounds = 5;
std::vector<int> table(count, 1), result(count);

// Caching, guideline B: a loop creates the same views in each round.
void renewed() {
    for (int n = 0; n < rounds; n++) {
        const array_view<const int> in(count, table);
        const array_view<int> out(count, result);
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; }); // advice: renewed view 65536
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

// Caching, guideline C: the host reads one element in each round.
void read_whole() {
    const array_view<int> view(count, result);
    int sum = 0;
    for (int n = 0; n < rounds; n++) {
        parallel_for_each(
            view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
        sum += view[0]; // advice: round trip 147456
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

// Caching, guideline A: the kernel uses few elements of the view that it captures.
void whole() {
    std::vector<int> values(many, 1);
    const array_view<const int> in(many, values);
    const array_view<int> out(64, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; }); // advice: unused part 261888
    out.synchronize();
}
void part() {
    std::vector<int> values(many, 1);
    const array_view<const int> all(many, values), in = all.section(0, 64);
    const array_view<int> out(64, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; });
    out.synchronize();
}

// Destruction, guideline A: the kernel only reads a view that allows writes.
void writable() {
    const array_view<int> in(count, table), out(count, result);
    revamp::set_label(in, "values"); // code: const array_view<const T, N> values(extent, memory);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; }); // advice: view only read 0
    out.synchronize();
}
void constant() {
    const array_view<const int> in(count, table);
    const array_view<int> out(count, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = in[i]; });
    out.synchronize();
}

// Destruction, guideline B: the destructor writes back.
void destructor() {
    const array_view<int> out(count, result);
    revamp::set_label(out, "results"); // code: results.synchronize();
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
} // advice: destructor write-back 16384
void synchronized() {
    const array_view<int> out(count, result);
    out.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
    out.synchronize();
}

// A kernel writes all elements, but their old values are moved first.
void undiscarded() {
    const array_view<int> out(count, result);
    revamp::set_label(out, "results"); // code: results.discard_data();
    parallel_for_each(
        out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; }); // advice: missing discard 16384
    out.synchronize();
}
void discarded() {
    synchronized();
}

// Nobody reads the values that a kernel writes.
void unread() {
    const array_view<int> out(count, result);
    for (int n = 0; n < rounds; n++) {
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; }); // advice: unread result 0
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
    // A copy to another view reads what the kernel writes.
    const array_view<int> copied(count, table);
    for (int n = 0; n < rounds; n++) {
        out.discard_data();
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] = i[0]; });
        copy(out, copied);
    }
    // What the first kernel of a round writes is not discarded.
    const array_view<int> left = out.section(0, count / 2), right = out.section(count / 2, count / 2);
    for (int n = 0; n < rounds; n++) {
        left.discard_data();
        parallel_for_each(
            left.extent, [=](index<1> i) restrict(amp) { left[i] = i[0]; });
        right.discard_data();
        parallel_for_each(
            right.extent, [=](index<1> i) restrict(amp) { right[i] = i[0]; });
        out.synchronize();
    }
}

// The host waits for single elements one after the other.
void single() {
    const array_view<int> view(count, result);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    int sum = 0;
    for (int n = 0; n < rounds; n++) {
        const array_view<const int> one = view.section(n * 64, 1);
        sum += one[0]; // advice: single read 16
    }
    view.synchronize();
    if (sum < 0) std::puts("");
}
void together() {
    const array_view<int> view(count, result);
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    view.synchronize();
    int sum = 0;
    for (int n = 0; n < rounds; n++) {
        const array_view<const int> one = view.section(n * 64, 1);
        sum += one[0];
    }
    if (sum < 0) std::puts("");
}

// Copies repeatedly from the same memory, which is not a staging array.
void unstaged() {
    std::vector<int> host(many);
    array<int> device(many);
    for (int n = 0; n < rounds; n++)
        copy(host.begin(), host.end(), device); // advice: staged copy 1310720
}
void staged() {
    array<int> device(many),
        host(many, accelerator(accelerator::cpu_accelerator).default_view, device.accelerator_view);
    for (int n = 0; n < rounds; n++)
        copy(host, device);
}

// Fills an array. The launch takes so long that a later copy must wait for it.
void fill_slowly(array<int> &data) {
    parallel_for_each(
        data.extent, [&data](index<1> i) restrict(amp) {
            unsigned value = i[0];
            for (int n = 0; n < 500; n++)
                value = value * 1664525 + (value >> 16);
            data[i] = value;
        });
}

// The host waits for copies between arrays.
void waiting() {
    array<int> from(many), to(many);
    revamp::set_label(to, "destination"); // code: completion_future copied = copy_async(from, destination);
    for (int n = 0; n < rounds; n++) {
        fill_slowly(from);
        copy(from, to); // advice: waiting copy 1310720
    }
}
void asynchronous() {
    array<int> from(many), to(many);
    completion_future done;
    for (int n = 0; n < rounds; n++) {
        if (done.valid()) done.get();
        fill_slowly(from);
        done = copy_async(from, to);
    }
    done.get();
}

// A launch writes a view that an asynchronous copy still reads. REVAMP_CHECK=1 reports this.
void racing() {
    std::vector<int> host(count);
    const array_view<int> view(count, result);
    completion_future done = copy_async(view, host.begin());
    parallel_for_each( // advice: race 0
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    done.get();
    view.synchronize();
}
void ordered() {
    std::vector<int> host(count);
    const array_view<int> view(count, result);
    copy_async(view, host.begin()).get();
    parallel_for_each(
        view.extent, [=](index<1> i) restrict(amp) { view[i] += 1; });
    view.synchronize();
}

// Launches a kernel that does very little many times. The twin does all the work in one launch.
void small() {
    const array_view<int> out(1, result);
    for (int n = 0; n < 500; n++)
        parallel_for_each(
            out.extent, [=](index<1> i) restrict(amp) { out[i] += 1; }); // advice: small kernel 0
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
                {"whole", whole},
                {"part", part},
                {"writable", writable},
                {"constant", constant},
                {"destructor", destructor},
                {"synchronized", synchronized},
                {"undiscarded", undiscarded},
                {"discarded", discarded},
                {"unread", unread},
                {"read_each", read_each},
                {"single", single},
                {"together", together},
                {"unstaged", unstaged},
                {"staged", staged},
                {"waiting", waiting},
                {"asynchronous", asynchronous},
                {"racing", racing},
                {"ordered", ordered},
                {"small", small},
                {"large", large}};

} // namespace

int main(int argc, char **argv) {
    for (const auto &program : programs)
        if (argc > 1 && !std::strcmp(program.name, argv[1])) return program.run(), 0;
    return 2;
}
