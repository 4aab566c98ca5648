// C++ AMP as programs write it: parallel_for_each on host threads beside OpenMP with the same loop body, and elements
// through an array_view on the host beside a pointer.
#include <amp.h>
#include <amp_math.h>
#include <amp_short_vectors.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "bench.h"

using namespace concurrency;

namespace {

typedef std::function<void()> Action;

// A loop, ours and OpenMP's: each is checked on the same data.
struct Loop {
    std::string name;
    double bytes;
    Action ours, openmp, reset, verify;
    const char *openmp_name = "the same loop body";
};

// Threads of either side may look for more work for a while after a loop; they must not take the other's processor.
double timed_alone(const Action &run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return timed(run);
}

void add(Case &c, const Loop &loop, const char *group, const char *name, const Action &run) {
    c.ways.push_back({group, name, [&run] { return timed_alone(run); },
                      [&loop, &run] {
                          loop.reset();
                          run();
                          loop.verify();
                      }});
}

// Their speed / ours, 0 if it could not be measured.
double beside_openmp(Bench &b, const Loop &loop, const Goal &goal) {
    Case c;
    c.name = loop.name;
    c.bytes = loop.bytes;
    add(c, loop, "revamp", "parallel_for_each", loop.ours);
    if (loop.openmp) add(c, loop, "OpenMP", loop.openmp_name, loop.openmp);
    if (goal.kind != Goal::none) c.goals["OpenMP"] = goal;
    const auto samples = b.run(c);
    for (const Samples &s : samples)
        if (!s.failure.empty()) return 0;
    return samples.size() == 2 ? samples[1].median() / samples[0].median() : 0;
}

accelerator_view host_threads() {
    return accelerator(accelerator::direct3d_warp).default_view;
}

void equal(const float *values, size_t count, float expected, float tolerance, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (!(std::fabs(values[i] - expected) <= tolerance))
            throw std::runtime_error(std::string(what) + ": element " + std::to_string(i) + " is " +
                                     std::to_string(values[i]) + ", not " + std::to_string(expected));
}

std::vector<float> numbers(size_t count) {
    std::vector<float> all(count);
    uint32_t random = 1;
    for (float &v : all) {
        random = random * 1664525U + 1013904223U;
        v = static_cast<float>(random >> 8) / 16777216.0F;
    }
    return all;
}

// What one way computed, to be compared with what the other computes.
struct Kept {
    std::vector<float> values;
    void same(const float *now, size_t count, float tolerance) {
        if (values.empty()) {
            values.assign(now, now + count);
            return;
        }
        for (size_t i = 0; i < count; i++)
            if (!(std::fabs(values[i] - now[i]) <= tolerance * std::fabs(values[i])))
                throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(now[i]) +
                                         " one way and " + std::to_string(values[i]) + " the other");
    }
};

double saxpy(Bench &b, const std::string &name, const Goal &goal) {
    const int count = 16 << 20;
    const float a = 2;
    std::vector<float> from(count, 3), to(count);
    const accelerator_view where = host_threads();
    const array_view<const float> x(count, from);
    const array_view<float> y(count, to);
    Loop loop{name, 12.0 * count, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, y.extent, [=](index<1> i) restrict(amp) { y[i] = a * x[i] + y[i]; });
        where.wait();
    };
#ifdef _OPENMP
    loop.openmp = [&] {
        const float *x = from.data();
        float *y = to.data();
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; i++)
            y[i] = a * x[i] + y[i];
    };
#endif
    loop.reset = [&] {
        for (float &v : to)
            v = 1;
    };
    loop.verify = [&] { equal(to.data(), to.size(), 7, 0, "saxpy"); };
    return beside_openmp(b, loop, goal);
}

double saxpy_of_arrays(Bench &b, const std::string &name, const Goal &goal) {
    const int count = 16 << 20;
    const float a = 2;
    std::vector<float> from(count, 3), to(count);
    const accelerator_view where = host_threads();
    const array<float> x(count, from.begin(), from.end(), where);
    array<float> y(count, where);
    Loop loop{name, 12.0 * count, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, y.extent, [ =, &x, &y ](index<1> i) restrict(amp) { y[i] = a * x[i] + y[i]; });
        where.wait();
    };
#ifdef _OPENMP
    loop.openmp = [&] {
        const float *x = from.data();
        float *y = to.data();
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; i++)
            y[i] = a * x[i] + y[i];
    };
#endif
    loop.reset = [&] {
        to.assign(to.size(), 1);
        copy(to.begin(), to.end(), y);
    };
    // Either way leaves the other's memory as it was.
    loop.verify = [&] {
        std::vector<float> ours(count);
        copy(y, ours.begin());
        equal(ours[0] == 1 ? to.data() : ours.data(), to.size(), 7, 0, "saxpy of arrays");
    };
    return beside_openmp(b, loop, goal);
}

double bodies(Bench &b, const std::string &name, const Goal &goal) {
    using graphics::float_4;
    const int count = 8192;
    const std::vector<float> random = numbers(4 * count);
    std::vector<float_4> places(count), pulls(count);
    for (size_t i = 0; i < places.size(); i++)
        places[i] = float_4(random[4 * i], random[4 * i + 1], random[4 * i + 2], random[4 * i + 3]);
    const accelerator_view where = host_threads();
    const array_view<const float_4> at(count, places);
    const array_view<float_4> pull(count, pulls);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, pull.extent, [=](index<1> i) restrict(amp) {
                const float_4 self = at[i];
                float x = 0, y = 0, z = 0;
                for (int j = 0; j < count; j++) {
                    const float_4 other = at[j];
                    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
                    const float inverse = fast_math::rsqrt(dx * dx + dy * dy + dz * dz + 0.01F);
                    const float factor = other.w * inverse * inverse * inverse;
                    x += dx * factor;
                    y += dy * factor;
                    z += dz * factor;
                }
                pull[i] = float_4(x, y, z, 0);
            });
        where.wait();
    };
#ifdef _OPENMP
    struct Four {
        float x, y, z, w;
    };
    std::vector<Four> plain_places(count), plain_pulls(count);
    std::memcpy(plain_places.data(), random.data(), sizeof(Four) * count);
    loop.openmp = [&] {
        const Four *at = plain_places.data();
        Four *pull = plain_pulls.data();
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; i++) {
            const Four self = at[i];
            float x = 0, y = 0, z = 0;
            for (int j = 0; j < count; j++) {
                const Four other = at[j];
                const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
                const float inverse = 1.0F / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01F);
                const float factor = other.w * inverse * inverse * inverse;
                x += dx * factor;
                y += dy * factor;
                z += dz * factor;
            }
            pull[i] = Four{x, y, z, 0};
        }
        std::memcpy(static_cast<void *>(pulls.data()), pull, sizeof(Four) * count);
    };
#endif
    Kept kept;
    loop.reset = [&] { pulls.assign(pulls.size(), float_4(-1)); };
    loop.verify = [&] {
        std::vector<float> sizes;
        for (const float_4 &p : pulls)
            sizes.push_back(std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z));
        kept.same(sizes.data(), sizes.size(), 1e-4F);
    };
    return beside_openmp(b, loop, goal);
}

double product(Bench &b, const std::string &name, const Goal &goal) {
    const int n = 512;
    const std::vector<float> left = numbers(n * n), right = numbers(n * n);
    std::vector<float> result(n * n);
    const accelerator_view where = host_threads();
    const array_view<const float, 2> a(n, n, left), b_view(n, n, right);
    const array_view<float, 2> c(n, n, result);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, c.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += a(i[0], k) * b_view(k, i[1]);
                c[i] = sum;
            });
        where.wait();
    };
#ifdef _OPENMP
    loop.openmp = [&] {
        const float *a = left.data(), *b = right.data();
        float *c = result.data();
#pragma omp parallel for schedule(static)
        for (int row = 0; row < n; row++)
            for (int col = 0; col < n; col++) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += a[row * n + k] * b[k * n + col];
                c[row * n + col] = sum;
            }
    };
#endif
    Kept kept;
    loop.reset = [&] { result.assign(result.size(), -1); };
    loop.verify = [&] { kept.same(result.data(), result.size(), 1e-4F); };
    return beside_openmp(b, loop, goal);
}

// 4096 sums of as many elements each; the few sums are added up by the caller.
double reduction(Bench &b, const std::string &name, const Goal &goal) {
    const int parts = 4096, part = 4096;
    const std::vector<float> data = numbers(size_t(parts) * part);
    std::vector<float> sums(parts);
    double expected = 0, sum = 0;
    for (const float v : data)
        expected += v;
    const accelerator_view where = host_threads();
    const array_view<const float> x(parts * part, data);
    const array_view<float> y(parts, sums);
    Loop loop{name, 4.0 * parts * part, {}, {}, {}, {}};
    auto add_up = [&] {
        sum = 0;
        for (const float s : sums)
            sum += s;
    };
    loop.ours = [&] {
        y.discard_data();
        parallel_for_each(
            where, y.extent, [=](index<1> i) restrict(amp) {
                const int first = i[0] * part;
                float s = 0;
                for (int k = 0; k < part; k++)
                    s += x[first + k];
                y[i] = s;
            });
        y.synchronize();
        add_up();
    };
#ifdef _OPENMP
    loop.openmp = [&] {
        const float *x = data.data();
        float *y = sums.data();
#pragma omp parallel for schedule(static)
        for (int i = 0; i < parts; i++) {
            const int first = i * part;
            float s = 0;
            for (int k = 0; k < part; k++)
                s += x[first + k];
            y[i] = s;
        }
        add_up();
    };
#endif
    loop.reset = [&] { sums.assign(sums.size(), -1); };
    loop.verify = [&] {
        if (!(std::fabs(sum - expected) <= 1e-5 * expected))
            throw std::runtime_error("the sum is " + std::to_string(sum) + ", not " + std::to_string(expected));
    };
    return beside_openmp(b, loop, goal);
}

double stencil(Bench &b, const std::string &name, const Goal &goal) {
    const int n = 4096;
    const std::vector<float> before = numbers(size_t(n) * n);
    std::vector<float> after(before.size());
    const accelerator_view where = host_threads();
    const array_view<const float, 2> from(n, n, before);
    const array_view<float, 2> to(n, n, after);
    const extent<2> inner(n - 2, n - 2);
    Loop loop{name, 8.0 * n * n, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, inner, [=](index<2> i) restrict(amp) {
                const int y = i[0] + 1, x = i[1] + 1;
                to(y, x) = 0.2F * (from(y, x) + from(y - 1, x) + from(y + 1, x) + from(y, x - 1) + from(y, x + 1));
            });
        where.wait();
    };
#ifdef _OPENMP
    loop.openmp = [&] {
        const float *from = before.data();
        float *to = after.data();
#pragma omp parallel for schedule(static)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                to[y * n + x] = 0.2F * (from[y * n + x] + from[(y - 1) * n + x] + from[(y + 1) * n + x] +
                                        from[y * n + x - 1] + from[y * n + x + 1]);
    };
#endif
    Kept kept;
    loop.reset = [&] { after.assign(after.size(), -1); };
    loop.verify = [&] { kept.same(after.data(), after.size(), 1e-5F); };
    return beside_openmp(b, loop, goal);
}

// Of all threads of the program.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void tiled_product(Bench &b, const std::string &name, const std::string &each) {
    constexpr int n = 512, tile = 16;
    const std::vector<float> left = numbers(n * n), right = numbers(n * n);
    std::vector<float> result(n * n);
    const accelerator_view where = host_threads();
    const array_view<const float, 2> a(n, n, left), b_view(n, n, right);
    const array_view<float, 2> c(n, n, result);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            where, c.extent.tile<tile, tile>(), [=](tiled_index<tile, tile> t) restrict(amp) {
                tile_static float a_block[tile][tile];
                tile_static float b_block[tile][tile];
                const int row = t.local[0], col = t.local[1];
                float sum = 0;
                for (int k = 0; k < n; k += tile) {
                    a_block[row][col] = a(t.global[0], k + col);
                    b_block[row][col] = b_view(k + row, t.global[1]);
                    t.barrier.wait();
                    for (int j = 0; j < tile; j++)
                        sum += a_block[row][j] * b_block[j][col];
                    t.barrier.wait();
                }
                c[t.global] = sum;
            });
        where.wait();
    };
#ifdef _OPENMP
    // What a barrier separates become loops over the threads of the tile.
    loop.openmp_name = "the same tiles, their threads as inner loops";
    loop.openmp = [&] {
        const float *a = left.data(), *b = right.data();
        float *c = result.data();
#pragma omp parallel for collapse(2) schedule(static)
        for (int y = 0; y < n; y += tile)
            for (int x = 0; x < n; x += tile) {
                float a_block[tile][tile], b_block[tile][tile], sum[tile][tile] = {};
                for (int k = 0; k < n; k += tile) {
                    for (int row = 0; row < tile; row++)
                        for (int col = 0; col < tile; col++) {
                            a_block[row][col] = a[(y + row) * n + k + col];
                            b_block[row][col] = b[(k + row) * n + x + col];
                        }
                    for (int row = 0; row < tile; row++)
                        for (int col = 0; col < tile; col++)
                            for (int j = 0; j < tile; j++)
                                sum[row][col] += a_block[row][j] * b_block[j][col];
                }
                for (int row = 0; row < tile; row++)
                    for (int col = 0; col < tile; col++)
                        c[(y + row) * n + x + col] = sum[row][col];
            }
    };
#endif
    Kept kept;
    loop.reset = [&] { result.assign(result.size(), -1); };
    loop.verify = [&] { kept.same(result.data(), result.size(), 1e-4F); };
    (void)beside_openmp(b, loop, {});

    Case c_each;
    c_each.name = each;
    const double waits = double(n) * n * 2 * (n / tile);
    c_each.ways.push_back({"revamp",
                           "",
                           [&] {
                               const double start = processor_seconds();
                               loop.ours();
                               return (processor_seconds() - start) / waits;
                           },
                           {}});
    c_each.goals["revamp"] = {Goal::seconds_at_most, 50e-9};
    c_each.effort.most_ops = 1;
    b.run(c_each);
}

// Functions of their own, as a program has them: the compiler sees nothing of the view but its type.
[[gnu::noinline]] float sum_of(const array_view<const float> &values) {
    float sum = 0;
    for (int i = 0; i < values.extent[0]; i++)
        sum += values[i];
    return sum;
}
[[gnu::noinline]] float sum_of(const float *values, int count) {
    float sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}
[[gnu::noinline]] void saxpy_of(float a, const array_view<const float> &x, const array_view<float> &y) {
    for (int i = 0; i < y.extent[0]; i++)
        y[i] = a * x[i] + y[i];
}
[[gnu::noinline]] void saxpy_of(float a, const float *x, float *y, int count) {
    for (int i = 0; i < count; i++)
        y[i] = a * x[i] + y[i];
}
[[gnu::noinline]] void fill(const array_view<float> &y, float value) {
    for (int i = 0; i < y.extent[0]; i++)
        y[i] = value;
}
[[gnu::noinline]] void fill(float *y, int count, float value) {
    for (int i = 0; i < count; i++)
        y[i] = value;
}

void beside_pointer(Bench &b, const std::string &name, const Action &ours, const Action &pointer, const Action &reset,
                    const Action &verify, const Goal &goal) {
    b.guarded(name, [&] {
        Case c;
        c.name = name;
        const Loop loop{name, 0, {}, {}, reset, verify};
        add(c, loop, "revamp", "av[i]", ours);
        add(c, loop, "pointer", "p[i]", pointer);
        if (goal.kind != Goal::none) c.goals["pointer"] = goal;
        b.run(c);
    });
}

void elements(Bench &b) {
    const std::string sum_name = "C++ AMP on the host: sum of 16 Mi floats through av[i]",
                      saxpy_name = "C++ AMP on the host: saxpy of 16 Mi floats through av[i]",
                      fill_name = "C++ AMP on the host: fill of 16 Mi floats through av[i]";
    if (!b.wanted(sum_name) && !b.wanted(saxpy_name) && !b.wanted(fill_name)) return;
    const int count = 16 << 20;
    std::vector<float> from(count, 0.25F), to(count);
    const array_view<const float> x(count, from);
    const array_view<float> y(count, to);
    float sum = 0;
    beside_pointer(
        b, sum_name, [&] { sum = sum_of(x); }, [&] { sum = sum_of(from.data(), count); }, [&] { sum = 0; },
        [&] { equal(&sum, 1, 0.25F * static_cast<float>(count), 0, "sum"); }, {Goal::time_at_most, 1.5});
    auto ones = [&] { to.assign(to.size(), 1); };
    beside_pointer(
        b, saxpy_name, [&] { saxpy_of(2, x, y); }, [&] { saxpy_of(2, from.data(), to.data(), count); }, ones,
        [&] { equal(to.data(), to.size(), 1.5F, 0, "saxpy"); }, {});
    beside_pointer(
        b, fill_name, [&] { fill(y, 4); }, [&] { fill(to.data(), count, 4); }, ones,
        [&] { equal(to.data(), to.size(), 4, 0, "fill"); }, {});
}

} // namespace

void bench_amp(Bench &b) {
    if (!b.with_ours) return;
    const struct {
        const char *name;
        double (*measure)(Bench &, const std::string &, const Goal &);
    } loops[] = {{"C++ AMP on host threads: saxpy, 16 Mi floats", saxpy},
                 {"C++ AMP on host threads: N-body, 8192 bodies", bodies},
                 {"C++ AMP on host threads: matrix product, 512", product},
                 {"C++ AMP on host threads: sum, 16 Mi floats", reduction},
                 {"C++ AMP on host threads: 5-point stencil, 4096x4096", stencil}};
    double logarithms = 0;
    int measured = 0;
    for (const auto &loop : loops)
        b.guarded(loop.name, [&] {
            const double ratio = loop.measure(b, loop.name, {Goal::speed_at_least, 0.7});
            if (ratio <= 0) return;
            logarithms += std::log(ratio);
            measured++;
        });
    // The mean says something of all of them only.
    if (measured == int(std::size(loops)))
        b.report.add_ratio("C++ AMP on host threads: geometric mean of those without barriers", "OpenMP",
                           std::exp(logarithms / measured), 0.9);
    const std::string by_reference = "C++ AMP on host threads: saxpy, 16 Mi floats in arrays captured by reference";
    b.guarded(by_reference, [&] { (void)saxpy_of_arrays(b, by_reference, {}); });
    const std::string tiled = "C++ AMP on host threads: matrix product in tiles of 16x16, 512",
                      each = tiled + ", processor time for each thread and barrier, arithmetic included";
    b.guarded(tiled, [&] { tiled_product(b, tiled, each); });
    elements(b);
}
