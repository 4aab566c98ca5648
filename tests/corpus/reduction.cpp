//===============================================================================
//  The reductions of the C++ AMP book in one file. Each variant is a class that implements IReduce.
//===============================================================================
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace concurrency;

class IReduce {
  public:
    virtual int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const = 0;
    virtual ~IReduce() {}
};

template <typename Func> double TimeFunc(accelerator_view &view, Func f) {
    view.wait();
    Timer timer;
    timer.Start();
    f();
    view.wait();
    timer.Stop();
    return timer.Elapsed();
}

class SimpleReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        int elementCount = static_cast<int>(source.size());
        array<int, 1> a(elementCount, source.cbegin(), source.cend(), view);
        std::vector<int> partialResult(1);
        computeTime = TimeFunc(view, [&]() {
            for (int stride = (elementCount / 2); stride > 0; stride /= 2) {
                parallel_for_each(
                    view, extent<1>(stride), [ =, &a ](index<1> idx) restrict(amp) { a[idx] += a[idx + stride]; });
            }
        });
        copy(a.section(0, 1), partialResult.begin());
        return partialResult[0];
    }
};

class SimpleArrayViewReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        int elementCount = static_cast<int>(source.size());
        std::vector<int> data(source);
        array_view<int, 1> av(elementCount, data);
        computeTime = TimeFunc(view, [&]() {
            for (int stride = (elementCount / 2); stride > 0; stride /= 2)
                parallel_for_each(
                    view, extent<1>(stride), [=](index<1> idx) restrict(amp) { av[idx] += av[idx + stride]; });
        });
        return av[0];
    }
};

class SimpleOptimizedReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        const int windowWidth = 8;
        int elementCount = static_cast<int>(source.size());
        array<int, 1> a(elementCount, source.cbegin(), source.cend(), view);
        computeTime = TimeFunc(view, [&]() {
            int stride;
            for (stride = (elementCount / windowWidth); stride > 0; stride /= windowWidth) {
                parallel_for_each(
                    view, extent<1>(stride), [ =, &a ](index<1> idx) restrict(amp) {
                        int sum = 0;
                        for (int i = 0; i < windowWidth; i++)
                            sum += a[idx + i * stride];
                        a[idx] = sum;
                    });
            }
        });
        std::vector<int> partialResult(1);
        copy(a.section(0, 1), partialResult.begin());
        return partialResult[0];
    }
};

//  Runs the passes of a tiled variant. Each pass reduces groups of perTile elements, and then swaps the two arrays.
template <int TileSize, typename Kernel>
int ReduceTiled(accelerator_view &view, const std::vector<int> &source, double &computeTime, int perTile,
                Kernel kernel) {
    int elementCount = static_cast<int>(source.size());
    array<int, 1> arr_1(elementCount, source.cbegin(), source.cend(), view);
    array<int, 1> arr_2((elementCount / perTile) ? (elementCount / perTile) : 1, view);
    array_view<int, 1> av_src(arr_1);
    array_view<int, 1> av_dst(arr_2);
    av_dst.discard_data();
    computeTime = TimeFunc(view, [&]() {
        while ((elementCount % perTile) == 0) {
            kernel(view, av_src.section(0, elementCount), av_dst, elementCount);
            elementCount /= perTile;
            std::swap(av_src, av_dst);
            av_dst.discard_data();
        }
    });
    //  The host adds the remaining elements.
    std::vector<int> result(elementCount);
    copy(av_src.section(0, elementCount), result.begin());
    return std::accumulate(result.cbegin(), result.cend(), 0);
}

template <int TileSize> class TiledReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        return ReduceTiled<TileSize>(
            view, source, computeTime, TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        int tid = tidx.local[0];
                        //  Sums in place, in global memory.
                        for (int stride = 1; stride < TileSize; stride *= 2) {
                            if (tid % (2 * stride) == 0) src[tidx.global] += src[tidx.global + stride];
                            tidx.barrier.wait_with_global_memory_fence();
                        }
                        if (tid == 0) dst[tidx.tile] = src[tidx.global];
                    });
            });
    }
};

template <int TileSize> class TiledSharedMemoryReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        return ReduceTiled<TileSize>(
            view, source, computeTime, TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        int tid = tidx.local[0];
                        tile_static int tileData[TileSize];
                        tileData[tid] = src[tidx.global[0]];
                        tidx.barrier.wait();
                        for (int stride = 1; stride < TileSize; stride *= 2) {
                            if (tid % (2 * stride) == 0) tileData[tid] += tileData[tid + stride];
                            tidx.barrier.wait_with_tile_static_memory_fence();
                        }
                        if (tid == 0) dst[tidx.tile[0]] = tileData[0];
                    });
            });
    }
};

template <int TileSize> class TiledMinimizedDivergenceReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        return ReduceTiled<TileSize>(
            view, source, computeTime, TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        int tid = tidx.local[0];
                        tile_static int tileData[TileSize];
                        tileData[tid] = src[tidx.global];
                        tidx.barrier.wait();
                        for (int stride = 1; stride < TileSize; stride *= 2) {
                            int index = 2 * stride * tid;
                            if (index < TileSize) tileData[index] += tileData[index + stride];
                            tidx.barrier.wait();
                        }
                        if (tid == 0) dst[tidx.tile[0]] = tileData[0];
                    });
            });
    }
};

template <int TileSize> class TiledBankConflictsReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        return ReduceTiled<TileSize>(
            view, source, computeTime, TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        int tid = tidx.local[0];
                        tile_static int tileData[TileSize];
                        tileData[tid] = src[tidx.global];
                        tidx.barrier.wait();
                        for (int stride = (TileSize / 2); stride > 0; stride /= 2) {
                            if (tid < stride) tileData[tid] += tileData[tid + stride];
                            tidx.barrier.wait();
                        }
                        if (tid == 0) dst[tidx.tile[0]] = tileData[0];
                    });
            });
    }
};

//  Each thread adds two elements as it loads them.
template <int TileSize> class TiledStalledThreadsReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        return ReduceTiled<TileSize>(
            view, source, computeTime, 2 * TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count / 2).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        int tid = tidx.local[0];
                        tile_static int tileData[TileSize];
                        int relIdx = tidx.tile[0] * (TileSize * 2) + tid;
                        tileData[tid] = src[relIdx] + src[relIdx + TileSize];
                        tidx.barrier.wait();
                        for (int stride = (TileSize / 2); stride > 0; stride /= 2) {
                            if (tid < stride) tileData[tid] += tileData[tid + stride];
                            tidx.barrier.wait();
                        }
                        if (tid == 0) dst[tidx.tile[0]] = tileData[0];
                    });
            });
    }
};

template <int TileSize> class TiledUnrolledReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        static_assert(TileSize >= 64, "the tile has at least 64 threads");
        return ReduceTiled<TileSize>(
            view, source, computeTime, TileSize,
            [](accelerator_view &view, array_view<int, 1> src, array_view<int, 1> dst, int count) {
                parallel_for_each(
                    view, extent<1>(count).tile<TileSize>(), [=](tiled_index<TileSize> tidx) restrict(amp) {
                        const int tid = tidx.local[0];
                        tile_static int tileData[TileSize];
                        tileData[tid] = src[tidx.global];
                        tidx.barrier.wait();
                        if (TileSize >= 128) {
                            if (tid < 64) {
                                tileData[tid] += tileData[tid + 64];
                            }
                            tidx.barrier.wait();
                        }
                        if (tid < 32) {
                            tileData[tid] += tileData[tid + 32];
                        }
                        tidx.barrier.wait();
                        if (tid < 16) {
                            tileData[tid] += tileData[tid + 16];
                        }
                        tidx.barrier.wait();
                        if (tid < 8) {
                            tileData[tid] += tileData[tid + 8];
                        }
                        tidx.barrier.wait();
                        if (tid < 4) {
                            tileData[tid] += tileData[tid + 4];
                        }
                        tidx.barrier.wait();
                        if (tid < 2) {
                            tileData[tid] += tileData[tid + 2];
                        }
                        tidx.barrier.wait();
                        if (tid == 0) dst[tidx.tile[0]] = tileData[0] + tileData[1];
                    });
            });
    }
};

//  A fixed number of tiles iterates over all elements.
template <int TileSize, int TileCount> class CascadingReduction : public IReduce {
  public:
    int Reduce(accelerator_view &view, const std::vector<int> &source, double &computeTime) const {
        int elementCount = static_cast<int>(source.size());
        int stride = (TileSize * TileCount * 2);
        array<int, 1> a(elementCount, source.cbegin(), source.cend(), view);
        array<int, 1> a_partial(TileCount, view);
        computeTime = TimeFunc(view, [&]() {
            parallel_for_each(
                view, extent<1>(TileCount * TileSize).tile<TileSize>(),
                [ =, &a, &a_partial ](tiled_index<TileSize> tidx) restrict(amp) {
                    int tid = tidx.local[0];
                    tile_static int tileData[TileSize];
                    int i = tidx.tile[0] * 2 * TileSize + tid;
                    tileData[tid] = 0;
                    do {
                        tileData[tid] += a[i] + a[i + TileSize];
                        i += stride;
                    } while (i < elementCount);
                    tidx.barrier.wait();
                    for (int stride = (TileSize / 2); stride > 0; stride >>= 1) {
                        if (tid < stride) tileData[tid] += tileData[tid + stride];
                        tidx.barrier.wait();
                    }
                    if (tid == 0) a_partial[tidx.tile[0]] = tileData[tid];
                });
        });
        std::vector<int> partial(TileCount);
        copy(a_partial, partial.begin());
        return std::accumulate(partial.cbegin(), partial.cend(), 0);
    }
};

typedef std::pair<std::shared_ptr<IReduce>, std::wstring> ReducerDescription;

int main() {
    const size_t elementCount = 8 * 8 * 8 * 8 * 8;
    const int tileSize = 64;

    accelerator_view view = accelerator().default_view;
    std::wcout << L"Running kernels with " << elementCount << L" elements, " << elementCount * sizeof(int) / 1024
               << L" KB of data ..." << std::endl;
    std::wcout << L"Tile size:     " << tileSize << std::endl;
    std::wcout << L"Using device: " << view.accelerator.description << std::endl;

    std::vector<int> source(elementCount);
    int i = 0;
    std::generate(source.begin(), source.end(), [&i]() { return (i++ & 0xf); });
    const int expectedResult = static_cast<int>((elementCount / 16) * ((15 * 16) / 2));

    std::vector<ReducerDescription> reducers;
    reducers.push_back(ReducerDescription(std::make_shared<SimpleReduction>(), L"Simple"));
    reducers.push_back(ReducerDescription(std::make_shared<SimpleArrayViewReduction>(), L"Simple array_view"));
    reducers.push_back(ReducerDescription(std::make_shared<SimpleOptimizedReduction>(), L"Simple optimized"));
    reducers.push_back(ReducerDescription(std::make_shared<TiledReduction<tileSize>>(), L"Tiled"));
    reducers.push_back(
        ReducerDescription(std::make_shared<TiledSharedMemoryReduction<tileSize>>(), L"Tiled shared memory"));
    reducers.push_back(ReducerDescription(std::make_shared<TiledMinimizedDivergenceReduction<tileSize>>(),
                                          L"Tiled minimized divergence"));
    reducers.push_back(
        ReducerDescription(std::make_shared<TiledBankConflictsReduction<tileSize>>(), L"Tiled no bank conflicts"));
    reducers.push_back(ReducerDescription(std::make_shared<TiledStalledThreadsReduction<tileSize>>(),
                                          L"Tiled stalled threads reduced"));
    reducers.push_back(ReducerDescription(std::make_shared<TiledUnrolledReduction<tileSize>>(), L"Tiled unrolled"));
    reducers.push_back(ReducerDescription(std::make_shared<TiledUnrolledReduction<128>>(), L"Tiled unrolled, 128"));
    reducers.push_back(ReducerDescription(std::make_shared<CascadingReduction<tileSize, 16>>(), L"Cascading"));

    int failed = 0;
    std::wcout << std::endl
               << L"                                                           Total : Calc" << std::endl
               << std::endl;
    for (const auto &r : reducers) {
        double computeTime = 0.0, totalTime = 0.0;
        int result = 0;
        const IReduce *reducerImpl = r.first.get();
        totalTime = TimeFunc(view, [&]() { result = reducerImpl->Reduce(view, source, computeTime); });
        if (result != expectedResult) {
            std::wcout << L"FAILED:  " << r.second << std::endl
                       << L"  Expected " << expectedResult << L" but found " << result << std::endl;
            ++failed;
            continue;
        }
        std::wcout << L"SUCCESS: " << std::left << std::setw(40) << r.second << std::right << std::fixed
                   << std::setprecision(2) << totalTime << L" : " << computeTime << L" (ms)" << std::endl;
    }
    return failed ? 1 : 0;
}
