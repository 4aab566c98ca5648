// The kernels of case_compiled.cpp in idiomatic C++ AMP. The same algorithms are in cuda_peer.cu and in shaders/.
#include "compiled_kernels.h"

#include <amp.h>
#include <amp_math.h>

#include <stdexcept>
#include <vector>

using namespace concurrency;

namespace {

struct Base : CompiledWork {
    accelerator_view view;
    std::vector<array<unsigned, 1>> data;
    const int n;

    Base(Work work, size_t size, const std::string &path)
        : view(accelerator(std::wstring(path.begin(), path.end())).get_default_view()), n(static_cast<int>(size)) {
        for (const size_t count : buffers_of(work, size))
            data.emplace_back(static_cast<int>(count), view);
    }
    void upload(unsigned buffer, const void *from) override {
        const auto *words = static_cast<const unsigned *>(from);
        copy(words, words + data[buffer].extent.size(), data[buffer]);
    }
    void download(unsigned buffer, void *to) override { copy(data[buffer], static_cast<unsigned *>(to)); }
    void run(unsigned launches) override {
        for (unsigned i = 0; i < launches; i++)
            launch_once();
        view.wait();
    }
    virtual void launch_once() = 0;

    template <class T> array_view<T, 1> view_of_type(unsigned buffer) {
        return array_view<unsigned, 1>(data[buffer]).reinterpret_as<T>();
    }
    template <class T> array_view<T, 2> matrix(unsigned buffer) {
        return view_of_type<T>(buffer).view_as(extent<2>(n, n));
    }
};

struct Saxpy : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const float> x = view_of_type<float>(0);
        const array_view<float> y = view_of_type<float>(1);
        const float a = 2;
        parallel_for_each(
            view, y.extent, [=](index<1> i) restrict(amp) { y[i] = a * x[i] + y[i]; });
    }
};

struct Matmul : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const float, 2> a = matrix<float>(0), b = matrix<float>(1);
        const array_view<float, 2> c = matrix<float>(2);
        const int count = n;
        parallel_for_each(
            view, c.extent, [=](index<2> i) restrict(amp) {
                float sum = 0;
                for (int k = 0; k < count; k++)
                    sum += a(i[0], k) * b(k, i[1]);
                c[i] = sum;
            });
    }
};

struct TiledMatmul : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const float, 2> a = matrix<float>(0), b = matrix<float>(1);
        const array_view<float, 2> c = matrix<float>(2);
        const int count = n;
        parallel_for_each(
            view, c.extent.tile<16, 16>(), [=](tiled_index<16, 16> t) restrict(amp) {
                tile_static float left[16][16], right[16][16];
                const int row = t.local[0], column = t.local[1];
                float sum = 0;
                for (int k = 0; k < count; k += 16) {
                    left[row][column] = a(t.global[0], k + column);
                    right[row][column] = b(k + row, t.global[1]);
                    t.barrier.wait_with_tile_static_memory_fence();
                    for (int j = 0; j < 16; j++)
                        sum += left[row][j] * right[j][column];
                    t.barrier.wait_with_tile_static_memory_fence();
                }
                c[t.global] = sum;
            });
    }
};

// Each thread adds up 16 elements. Each tile adds up the sums of its threads. Then one tile adds up the sums of the
// tiles.
struct Reduction : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const float> in = view_of_type<float>(0);
        const array_view<float> sums = view_of_type<float>(1), total = view_of_type<float>(2);
        parallel_for_each(
            view, extent<1>(n / 16).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static float part[256];
                const int local = t.local[0], first = t.tile[0] * 4096 + local;
                float sum = 0;
                for (int k = 0; k < 16; k++)
                    sum += in[first + k * 256];
                part[local] = sum;
                t.barrier.wait_with_tile_static_memory_fence();
                for (int half = 128; half > 0; half /= 2) {
                    if (local < half) part[local] += part[local + half];
                    t.barrier.wait_with_tile_static_memory_fence();
                }
                if (local == 0) sums[t.tile] = part[0];
            });
        const array_view<const float> from = sums;
        parallel_for_each(
            view, extent<1>(256).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static float part[256];
                const int local = t.local[0];
                float sum = 0;
                for (int k = local; k < from.extent[0]; k += 256)
                    sum += from[k];
                part[local] = sum;
                t.barrier.wait_with_tile_static_memory_fence();
                for (int half = 128; half > 0; half /= 2) {
                    if (local < half) part[local] += part[local + half];
                    t.barrier.wait_with_tile_static_memory_fence();
                }
                if (local == 0) total[0] = part[0];
            });
    }
};

struct alignas(16) Body {
    float x, y, z, mass;
};

struct NBody : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const Body> bodies = view_of_type<Body>(0);
        const array_view<Body> acceleration = view_of_type<Body>(1);
        parallel_for_each(
            view, bodies.extent.tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static Body chunk[256];
                const Body me = bodies[t.global];
                float x = 0, y = 0, z = 0;
                for (int first = 0; first < bodies.extent[0]; first += 256) {
                    chunk[t.local[0]] = bodies[first + t.local[0]];
                    t.barrier.wait_with_tile_static_memory_fence();
                    for (int j = 0; j < 256; j++) {
                        const Body other = chunk[j];
                        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
                        const float inverse = fast_math::rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
                        const float s = other.mass * inverse * inverse * inverse;
                        x += dx * s;
                        y += dy * s;
                        z += dz * s;
                    }
                    t.barrier.wait_with_tile_static_memory_fence();
                }
                const Body result = {x, y, z, 0};
                acceleration[t.global] = result;
            });
    }
};

struct Stencil : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const float, 2> in = matrix<float>(0);
        const array_view<float, 2> out = matrix<float>(1);
        parallel_for_each(
            view, out.extent, [=](index<2> i) restrict(amp) {
                const int y = i[0], x = i[1];
                if (y > 0 && x > 0 && y + 1 < in.extent[0] && x + 1 < in.extent[1]) {
                    out[i] = 0.5f * in(y, x) + 0.125f * (in(y - 1, x) + in(y + 1, x) + in(y, x - 1) + in(y, x + 1));
                } else {
                    out[i] = in(y, x);
                }
            });
    }
};

// Each thread counts 64 numbers in tile_static memory.
struct Histogram : Base {
    using Base::Base;
    void launch_once() override {
        const array_view<const unsigned> in = view_of_type<unsigned>(0);
        const array_view<unsigned> counts = view_of_type<unsigned>(1);
        parallel_for_each(
            view, extent<1>(n / 64).tile<256>(), [=](tiled_index<256> t) restrict(amp) {
                tile_static unsigned part[256];
                const int local = t.local[0], first = t.tile[0] * 16384 + local;
                part[local] = 0;
                t.barrier.wait_with_tile_static_memory_fence();
                for (int k = 0; k < 64; k++)
                    atomic_fetch_add(&part[in[first + k * 256] & 255], 1U);
                t.barrier.wait_with_tile_static_memory_fence();
                atomic_fetch_add(&counts[local], part[local]);
            });
    }
};

} // namespace

std::unique_ptr<CompiledWork> make_compiled(Work work, size_t n, const std::string &path) {
    switch (work) {
    case Work::saxpy:
        return std::make_unique<Saxpy>(work, n, path);
    case Work::matmul:
        return std::make_unique<Matmul>(work, n, path);
    case Work::tiled_matmul:
        return std::make_unique<TiledMatmul>(work, n, path);
    case Work::reduction:
        return std::make_unique<Reduction>(work, n, path);
    case Work::nbody:
        return std::make_unique<NBody>(work, n, path);
    case Work::stencil:
        return std::make_unique<Stencil>(work, n, path);
    case Work::histogram:
        return std::make_unique<Histogram>(work, n, path);
    }
    throw std::runtime_error("no such work");
}
