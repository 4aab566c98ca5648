// Tests overload resolution in restrict(amp), restrict(cpu) and restrict(amp, cpu) functions: only callable candidates
// are ranked. A restrict(amp, cpu) function may thus call different candidates on a device and on the host.
#include "device.hpp"

using namespace concurrency;

// a: the amp candidate matches better than the amp,cpu candidate
int a(float) restrict(amp, cpu) {
    return 1;
}
int a(int) restrict(amp) {
    return 2;
}
// b: the cpu candidate matches better than the amp,cpu candidate
int b(float) restrict(amp, cpu) {
    return 1;
}
int b(int) restrict(cpu) {
    return 3;
}
// c: the amp candidate and the cpu candidate match better than the amp,cpu candidate
int c(float) restrict(amp, cpu) {
    return 1;
}
int c(int) restrict(amp) {
    return 2;
}
int c(int) restrict(cpu) {
    return 3;
}
// d: an amp,cpu template, and a cpu function that matches exactly
template <class T> int d(T) restrict(amp, cpu) {
    return 1;
}
int d(int) {
    return 3;
}
// e: an amp template that matches exactly, and an amp,cpu function that needs a conversion
template <class T> int e(T) restrict(amp) {
    return 2;
}
int e(float) restrict(amp, cpu) {
    return 1;
}
struct s {
    int m(float) const restrict(amp, cpu) { return 1; }
    int m(int) const { return 3; }
    int n(float) const restrict(amp, cpu) { return 1; }
    int n(int) const restrict(amp) { return 2; }
    int operator()(float) const restrict(amp, cpu) { return 1; }
    int operator()(int) const restrict(amp) { return 2; }
    int operator[](const int &) const restrict(amp, cpu) { return 1; }
    int operator[](int &) const restrict(amp) { return 2; }
};
int operator+(s, float) restrict(amp, cpu) {
    return 1;
}
int operator+(s, int) {
    return 3;
}
struct k {
    int v;
    k(float) restrict(amp, cpu) : v(1) {}
    k(int) : v(3) {}
};
struct l {
    int v;
    l(float) restrict(amp, cpu) : v(1) {}
    l(int) restrict(amp) : v(2) {}
};
void all(int *r) restrict(amp, cpu) {
    s x;
    int i = 0;
    r[0] = a(1);
    r[1] = b(1);
    r[2] = c(1);
    r[3] = d(1);
    r[4] = e(1);
    r[5] = x.m(1);
    r[6] = x.n(1);
    r[7] = x(1);
    r[8] = x[i];
    r[9] = x + 1;
    r[10] = k(1).v;
    r[11] = l(1).v;
}

// Move-only classes of the program and of the standard library. Only host code can move their objects.
struct move_only {
    std::unique_ptr<int> p;
    std::thread t;
    move_only(int n) : p(new int(n)) {}
    move_only(const move_only &) = delete;
    move_only(move_only &&other) noexcept : p(std::move(other.p)), t(std::move(other.t)) {}
};
struct holder {
    move_only m;
    std::future<int> f;
};

TEST(host_code_moves_move_only_objects) {
    std::vector<holder> all;
    for (int n = 0; n < 4; ++n)
        all.push_back(holder{move_only(n), {}});
    std::vector<std::thread> threads(2);
    threads.emplace_back([] {});
    threads.back().join();
    const holder last = std::move(all.back());
    CHECK(*last.m.p == 3 && threads.size() == 3);
}

TEST(host_and_device_call_their_best_viable_candidates) {
    std::vector<int> on_device(12), on_host(12);
    const array_view<int> v(on_device);
    parallel_for_each(
        vulkan_view(), extent<1>(1), [=](index<1>) restrict(amp) {
            int r[12];
            all(r);
            for (int n = 0; n < 12; ++n)
                v[n] = r[n];
        });
    v.synchronize();
    all(on_host.data());
    const std::vector<int> device = {2, 1, 2, 1, 2, 1, 2, 2, 2, 1, 1, 2}, host = {1, 3, 3, 3, 1, 3, 1, 1, 1, 3, 3, 1};
    CHECK(on_device == device && on_host == host);
}

// Both amp code and cpu code may call defaulted comparison operators, as they may call implicit members of a class.
struct comparable {
    int a, b;
    bool operator==(const comparable &) const = default;
    friend auto operator<=>(const comparable &, const comparable &) = default;
};
template <class T> struct comparable_wrapper {
    T part;
    bool operator==(const comparable_wrapper &) const = default;
};

TEST(defaulted_comparisons_are_callable_in_amp_and_cpu_code) {
    for (const accelerator_view &on : {vulkan_view(), accelerator(accelerator::direct3d_warp).default_view}) {
        std::vector<int> v(5);
        array_view<int> view(v);
        parallel_for_each(
            on, view.extent, [=](index<1> i) restrict(amp) {
                const comparable x = {i[0], 1}, y = {3, 1};
                const comparable_wrapper<comparable> z = {x}, w = {y};
                view[i] = (x == y) + (x != y) * 10 + (x < y) * 100 + (x >= y) * 1000 + (z == w) * 10000;
            });
        CHECK(view[2] == 110 && view[3] == 11001 && view[4] == 1010);
    }
    CHECK(comparable{1, 2} == comparable({1, 2}) && comparable{1, 2} < comparable({1, 3}));
}

CHECK_MAIN
