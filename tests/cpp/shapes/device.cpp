// Kernels that call the functions of the headers. Both passes of Clang compile the kernels, which never run.
#include <revamp/detail/atomics.h>
#include <revamp/detail/shapes.h>

#include <cstddef>

// Declarations that Clang's host pass needs for a launch.
struct dim3 {
    unsigned x, y, z;
};
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, std::size_t, void *);

using namespace concurrency;

template <class Id, class Kernel> __attribute__((global)) void entry(Id id, Kernel kernel) {
    kernel(id);
}

struct tiled {
    int *numbers;
    unsigned *words;
    float *reals;
    Concurrency::extent<2> domain;

    __attribute__((device)) void operator()(const tiled_index<16, 16> &t) const {
        static __attribute__((shared)) int tile[16][16];
        tile[t.local[0]][t.local[1]] = numbers[t.global[0]];
        t.barrier.wait();
        t.barrier.wait_with_all_memory_fence();
        t.barrier.wait_with_global_memory_fence();
        t.barrier.wait_with_tile_static_memory_fence();
        const tile_barrier copy(t.barrier);
        copy.wait();
        all_memory_fence(t.barrier);
        global_memory_fence(t.barrier);
        tile_static_memory_fence(t.barrier);
        Concurrency::index<2> i = t;
        i += t.tile_origin - t.tile * 16 % 3 / 2;
        ++i;
        if (domain.contains(i) && i != t.local) atomic_fetch_add(&numbers[i[0]], t.tile_extent[1]);
        numbers[0] = tile[t.local[1]][t.local[0]];
        atomic_fetch_max(numbers, i[1]);
        atomic_fetch_min(words, domain.size());
        atomic_fetch_max(words, 3u);
        atomic_fetch_sub(numbers, 1);
        atomic_fetch_and(words, 1u);
        atomic_fetch_or(words, 1u);
        atomic_fetch_xor(words, 1u);
        atomic_fetch_inc(numbers);
        atomic_fetch_dec(words);
        numbers[1] = atomic_exchange(numbers, 4);
        reals[1] = atomic_exchange(reals, 1.5f);
        int expected = 3;
        if (!atomic_compare_exchange(numbers + 4, &expected, 5)) numbers[5] = expected;
        const auto padded = domain.tile<16, 16>().pad();
        numbers[2] = padded[0] + padded.truncate()[1] + padded.tile_extent[0];
        direct3d_printf("%d\n", 1);
        direct3d_errorf("%d\n", 1);
        direct3d_abort();
    }
};
template __attribute__((global)) void entry(tiled_index<16, 16>, tiled);

struct flat {
    int *numbers;
    __attribute__((device)) void operator()(const Concurrency::index<5> &i) const {
        numbers[i[4]] = (i + 1 == 2 * i) ? i[0] : (i - 1)[3];
    }
};
template __attribute__((global)) void entry(Concurrency::index<5>, flat);
