// Benchmarks of C++ AMP on the host. Compares parallel_for_each on host threads with OpenMP loops of the same body, and
// element access through an array_view with access through a pointer.
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

// One loop in C++ AMP and in OpenMP. The two versions are checked on the same data.
struct Loop {
    std::string name;
    double bytes;
    Action ours, openmp, reset, verify;
    const char *openmp_name = "the same loop body";
};

// After a loop, the threads of a runtime (revamp or OpenMP) may spin for a while. The sleep keeps them from disturbing
// the other runtime.
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

// Returns OpenMP's time divided by revamp's, or 0 if it could not be measured.
double compare_with_openmp(Bench &b, const Loop &loop, const Goal &goal) {
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

void check_equal(const float *values, size_t count, float expected, float tolerance, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (!(std::fabs(values[i] - expected) <= tolerance))
            throw std::runtime_error(std::string(what) + ": element " + std::to_string(i) + " is " +
                                     std::to_string(values[i]) + ", not " + std::to_string(expected));
}

std::vector<float> random_floats(size_t count) {
    std::vector<float> random_values(count);
    uint32_t random = 1;
    for (float &v : random_values) {
        random = random * 1664525U + 1013904223U;
        v = static_cast<float>(random >> 8) / 16777216.0F;
    }
    return random_values;
}

// Keeps the results of the first way that runs, and compares the results of the other way with them.
struct FirstResult {
    std::vector<float> values;
    void check_same(const float *now, size_t count, float tolerance) {
        if (values.empty()) {
            values.assign(now, now + count);
            return;
        }
        for (size_t i = 0; i < count; i++)
            if (!(std::fabs(values[i] - now[i]) <= tolerance * std::fabs(values[i])))
                throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(now[i]) + ", but " +
                                         std::to_string(values[i]) + " by the first way");
    }
};

double saxpy(Bench &b, const std::string &name, const Goal &goal) {
    const int count = 16 << 20;
    const float a = 2;
    std::vector<float> from(count, 3), to(count);
    const accelerator_view host_view = host_threads();
    const array_view<const float> x(count, from);
    const array_view<float> y(count, to);
    Loop loop{name, 12.0 * count, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, y.extent, [=](index<1> i) restrict(amp) { y[i] = a * x[i] + y[i]; });
        host_view.wait();
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
    loop.verify = [&] { check_equal(to.data(), to.size(), 7, 0, "saxpy"); };
    return compare_with_openmp(b, loop, goal);
}

double saxpy_of_arrays(Bench &b, const std::string &name, const Goal &goal) {
    const int count = 16 << 20;
    const float a = 2;
    std::vector<float> from(count, 3), to(count);
    const accelerator_view host_view = host_threads();
    const array<float> x(count, from.begin(), from.end(), host_view);
    array<float> y(count, host_view);
    Loop loop{name, 12.0 * count, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, y.extent, [ =, &x, &y ](index<1> i) restrict(amp) { y[i] = a * x[i] + y[i]; });
        host_view.wait();
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
    // revamp writes the array, OpenMP writes `to`. If the array still holds ones, OpenMP ran.
    loop.verify = [&] {
        std::vector<float> ours(count);
        copy(y, ours.begin());
        check_equal(ours[0] == 1 ? to.data() : ours.data(), to.size(), 7, 0, "saxpy of arrays");
    };
    return compare_with_openmp(b, loop, goal);
}

double bodies(Bench &b, const std::string &name, const Goal &goal) {
    using graphics::float_4;
    const int count = 8192;
    const std::vector<float> random = random_floats(4 * count);
    std::vector<float_4> positions(count), accelerations(count);
    for (size_t i = 0; i < positions.size(); i++)
        positions[i] = float_4(random[4 * i], random[4 * i + 1], random[4 * i + 2], random[4 * i + 3]);
    const accelerator_view host_view = host_threads();
    const array_view<const float_4> at(count, positions);
    const array_view<float_4> acceleration(count, accelerations);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, acceleration.extent, [=](index<1> i) restrict(amp) {
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
                acceleration[i] = float_4(x, y, z, 0);
            });
        host_view.wait();
    };
#ifdef _OPENMP
    struct Four {
        float x, y, z, w;
    };
    std::vector<Four> plain_positions(count), plain_accelerations(count);
    std::memcpy(plain_positions.data(), random.data(), sizeof(Four) * count);
    loop.openmp = [&] {
        const Four *at = plain_positions.data();
        Four *acceleration = plain_accelerations.data();
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
            acceleration[i] = Four{x, y, z, 0};
        }
        std::memcpy(static_cast<void *>(accelerations.data()), acceleration, sizeof(Four) * count);
    };
#endif
    FirstResult first_result;
    loop.reset = [&] { accelerations.assign(accelerations.size(), float_4(-1)); };
    loop.verify = [&] {
        std::vector<float> sizes;
        for (const float_4 &p : accelerations)
            sizes.push_back(std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z));
        first_result.check_same(sizes.data(), sizes.size(), 1e-4F);
    };
    return compare_with_openmp(b, loop, goal);
}

double product(Bench &b, const std::string &name, const Goal &goal) {
    const int n = 512;
    const std::vector<float> left = random_floats(n * n), right = random_floats(n * n);
    std::vector<float> result(n * n);
    const accelerator_view host_view = host_threads();
    const array_view<const float, 2> a(n, n, left), b_view(n, n, right);
    const array_view<float, 2> c(n, n, result);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, c.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < n; k++)
                    sum += a(i[0], k) * b_view(k, i[1]);
                c[i] = sum;
            });
        host_view.wait();
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
    FirstResult first_result;
    loop.reset = [&] { result.assign(result.size(), -1); };
    loop.verify = [&] { first_result.check_same(result.data(), result.size(), 1e-4F); };
    return compare_with_openmp(b, loop, goal);
}

// The kernel computes 4096 sums of 4096 elements each. The calling thread adds up the 4096 sums.
double reduction(Bench &b, const std::string &name, const Goal &goal) {
    const int parts = 4096, elements_per_sum = 4096;
    const std::vector<float> data = random_floats(size_t(parts) * elements_per_sum);
    std::vector<float> sums(parts);
    double expected = 0, sum = 0;
    for (const float v : data)
        expected += v;
    const accelerator_view host_view = host_threads();
    const array_view<const float> x(parts * elements_per_sum, data);
    const array_view<float> y(parts, sums);
    Loop loop{name, 4.0 * parts * elements_per_sum, {}, {}, {}, {}};
    auto add_up = [&] {
        sum = 0;
        for (const float s : sums)
            sum += s;
    };
    loop.ours = [&] {
        y.discard_data();
        parallel_for_each(
            host_view, y.extent, [=](index<1> i) restrict(amp) {
                const int first = i[0] * elements_per_sum;
                float s = 0;
                for (int k = 0; k < elements_per_sum; k++)
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
            const int first = i * elements_per_sum;
            float s = 0;
            for (int k = 0; k < elements_per_sum; k++)
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
    return compare_with_openmp(b, loop, goal);
}

double stencil(Bench &b, const std::string &name, const Goal &goal) {
    const int n = 4096;
    const std::vector<float> before = random_floats(size_t(n) * n);
    std::vector<float> after(before.size());
    const accelerator_view host_view = host_threads();
    const array_view<const float, 2> from(n, n, before);
    const array_view<float, 2> to(n, n, after);
    const extent<2> inner(n - 2, n - 2);
    Loop loop{name, 8.0 * n * n, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, inner, [=](index<2> i) restrict(amp) {
                const int y = i[0] + 1, x = i[1] + 1;
                to(y, x) = 0.2F * (from(y, x) + from(y - 1, x) + from(y + 1, x) + from(y, x - 1) + from(y, x + 1));
            });
        host_view.wait();
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
    FirstResult first_result;
    loop.reset = [&] { after.assign(after.size(), -1); };
    loop.verify = [&] { first_result.check_same(after.data(), after.size(), 1e-5F); };
    return compare_with_openmp(b, loop, goal);
}

// Processor time of all threads of the program.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void tiled_product(Bench &b, const std::string &name, const std::string &per_barrier_name) {
    constexpr int n = 512, tile = 16;
    const std::vector<float> left = random_floats(n * n), right = random_floats(n * n);
    std::vector<float> result(n * n);
    const accelerator_view host_view = host_threads();
    const array_view<const float, 2> a(n, n, left), b_view(n, n, right);
    const array_view<float, 2> c(n, n, result);
    Loop loop{name, 0, {}, {}, {}, {}};
    loop.ours = [&] {
        parallel_for_each(
            host_view, c.extent.tile<tile, tile>(), [=](tiled_index<tile, tile> t) restrict(amp) {
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
        host_view.wait();
    };
#ifdef _OPENMP
    // Each section between two barriers becomes a loop over the threads of the tile.
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
    FirstResult first_result;
    loop.reset = [&] { result.assign(result.size(), -1); };
    loop.verify = [&] { first_result.check_same(result.data(), result.size(), 1e-4F); };
    (void)compare_with_openmp(b, loop, {});

    Case per_barrier_case;
    per_barrier_case.name = per_barrier_name;
    const double barrier_waits = double(n) * n * 2 * (n / tile);
    per_barrier_case.ways.push_back({"revamp",
                                     "",
                                     [&] {
                                         const double start = processor_seconds();
                                         loop.ours();
                                         return (processor_seconds() - start) / barrier_waits;
                                     },
                                     {}});
    per_barrier_case.goals["revamp"] = {Goal::seconds_at_most, 50e-9};
    per_barrier_case.effort.max_ops = 1;
    b.run(per_barrier_case);
}

// These functions are not inlined. The compiler therefore knows only the type of the view, as in a real program.
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

void compare_with_pointer(Bench &b, const std::string &name, const Action &ours, const Action &pointer,
                          const Action &reset, const Action &verify, const Goal &goal) {
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

void element_access(Bench &b) {
    const std::string sum_name = "C++ AMP on the host: sum of 16 Mi floats through av[i]",
                      saxpy_name = "C++ AMP on the host: saxpy of 16 Mi floats through av[i]",
                      fill_name = "C++ AMP on the host: fill of 16 Mi floats through av[i]";
    if (!b.is_selected(sum_name) && !b.is_selected(saxpy_name) && !b.is_selected(fill_name)) return;
    const int count = 16 << 20;
    std::vector<float> from(count, 0.25F), to(count);
    const array_view<const float> x(count, from);
    const array_view<float> y(count, to);
    float sum = 0;
    compare_with_pointer(
        b, sum_name, [&] { sum = sum_of(x); }, [&] { sum = sum_of(from.data(), count); }, [&] { sum = 0; },
        [&] { check_equal(&sum, 1, 0.25F * static_cast<float>(count), 0, "sum"); }, {Goal::time_at_most, 1.5});
    auto ones = [&] { to.assign(to.size(), 1); };
    compare_with_pointer(
        b, saxpy_name, [&] { saxpy_of(2, x, y); }, [&] { saxpy_of(2, from.data(), to.data(), count); }, ones,
        [&] { check_equal(to.data(), to.size(), 1.5F, 0, "saxpy"); }, {});
    compare_with_pointer(
        b, fill_name, [&] { fill(y, 4); }, [&] { fill(to.data(), count, 4); }, ones,
        [&] { check_equal(to.data(), to.size(), 4, 0, "fill"); }, {});
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
    int measured_count = 0;
    for (const auto &loop : loops)
        b.guarded(loop.name, [&] {
            const double ratio = loop.measure(b, loop.name, {Goal::speed_at_least, 0.7});
            if (ratio <= 0) return;
            logarithms += std::log(ratio);
            measured_count++;
        });
    // The mean is comparable only if all loops were measured.
    if (measured_count == int(std::size(loops)))
        b.report.add_ratio("C++ AMP on host threads: geometric mean of those without barriers", "OpenMP",
                           std::exp(logarithms / measured_count), 0.9);
    const std::string by_reference = "C++ AMP on host threads: saxpy, 16 Mi floats in arrays captured by reference";
    b.guarded(by_reference, [&] { (void)saxpy_of_arrays(b, by_reference, {}); });
    const std::string tiled = "C++ AMP on host threads: matrix product in tiles of 16x16, 512",
                      per_barrier_name = tiled + ", processor time for each thread and barrier, arithmetic included";
    b.guarded(tiled, [&] { tiled_product(b, tiled, per_barrier_name); });
    element_access(b);
}
