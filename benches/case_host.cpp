// Benchmarks of the host-thread accelerator: launches of a host function, and the cost of a tile barrier. These cases
// have no goals.
#include "bench.h"

namespace {

struct SaxpyContext {
    float a;
    const float *x;
    float *y;
};

void saxpy_element(const revamp_thread_id *id, void *context) {
    const auto *s = static_cast<const SaxpyContext *>(context);
    const int32_t i = id->global[0];
    s->y[i] = s->a * s->x[i] + s->y[i];
}

void empty_function(const revamp_thread_id *, void *) {}

constexpr int tile = 256, tiles = 64, barriers = 50;

void wait_often(const revamp_thread_id *id, void *context) {
    const int count = *static_cast<const int *>(context);
    for (int i = 0; i < count; i++)
        revamp_tile_barrier_wait(id);
}

revamp_parallel_for_each_info launch_of(revamp_host_kernel function, void *context, const int32_t *extent) {
    revamp_parallel_for_each_info info{};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = extent;
    info.function = function;
    info.context = context;
    return info;
}

void launch(Bench &b, const revamp_parallel_for_each_info &info) {
    ours::must(revamp_parallel_for_each(b.host_view, &info), "revamp_parallel_for_each");
    ours::wait(b.host_view);
}

void empty_launch(Bench &b, const std::string &name) {
    Case c;
    c.name = name;
    const int32_t extent = 1;
    const auto info = launch_of(empty_function, nullptr, &extent);
    c.ways.push_back({"revamp", "", [&] { return timed([&] { launch(b, info); }); }, {}});
#ifdef _OPENMP
    c.ways.push_back({"OpenMP",
                      "empty parallel region",
                      [] {
                          return timed([] {
#pragma omp parallel
                              { asm volatile("" ::: "memory"); }
                          });
                      },
                      {}});
#endif
    b.run(c);
}

void saxpy(Bench &b, const std::string &name) {
    const int32_t count = 16 << 20;
    Case c;
    c.name = name;
    c.bytes = 12.0 * count;
    std::vector<float> x(count, 3), y(count);
    SaxpyContext context{2, x.data(), y.data()};
    const auto info = launch_of(saxpy_element, &context, &count);
    auto verified = [&](const std::function<void()> &run) {
        return [&y, run] {
            for (float &v : y)
                v = 1;
            run();
            for (const float v : y)
                if (v != 7) throw std::runtime_error("saxpy: an element is " + std::to_string(v) + ", not 7");
        };
    };
    auto ours_run = [&] { launch(b, info); };
    c.ways.push_back(
        {"revamp", "function for each element", [ours_run] { return timed(ours_run); }, verified(ours_run)});
#ifdef _OPENMP
    auto openmp_run = [&] {
        const float a = context.a;
        const float *from = x.data();
        float *to = y.data();
#pragma omp parallel for simd schedule(static)
        for (int32_t i = 0; i < count; i++)
            to[i] = a * from[i] + to[i];
    };
    c.ways.push_back({"OpenMP", "parallel loop", [openmp_run] { return timed(openmp_run); }, verified(openmp_run)});
#endif
    b.run(c);
}

void barrier(Bench &b, const std::string &name) {
    Case c;
    c.name = name;
    const int32_t extent = tile * tiles, tile_extent = tile;
    int many = barriers, one = 1; // each launch has at least one barrier, so that both launches run on coroutines
    auto many_barriers = launch_of(wait_often, &many, &extent), one_barrier = launch_of(wait_often, &one, &extent);
    many_barriers.tile = one_barrier.tile = &tile_extent;
    c.ways.push_back({"revamp",
                      "",
                      [&] {
                          const double extra_seconds =
                              timed([&] { launch(b, many_barriers); }) - timed([&] { launch(b, one_barrier); });
                          return extra_seconds / (double(tiles) * (barriers - 1));
                      },
                      {}});
    b.run(c);
}

} // namespace

void bench_host(Bench &b) {
    if (!b.with_ours) return;
    const std::string empty = "host threads: dispatch + wait, one element", loop = "host threads: saxpy, 16 Mi floats",
                      wait = "host threads: one barrier of a tile of 256, wall time with all threads busy";
    b.guarded(empty, [&] { empty_launch(b, empty); });
    b.guarded(loop, [&] { saxpy(b, loop); });
    b.guarded(wait, [&] { barrier(b, wait); });
}
