//----------------------------------------------------------------------------
// File: Transpose.cpp
//
// Matrix transpose: simple, tiled, and tiled with a truncated or a padded extent.
//----------------------------------------------------------------------------
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace concurrency;

#define TILE_SIZE 8

extent<2> transpose(const extent<2> &e) restrict(amp, cpu) {
    return extent<2>(e[1], e[0]);
}
index<2> transpose(const index<2> &i) restrict(amp, cpu) {
    return index<2>(i[1], i[0]);
}

template <typename value_type>
void simple_transpose(const array_view<const value_type, 2> &data, const array_view<value_type, 2> &data_transpose) {
    data_transpose.discard_data();
    parallel_for_each(
        data.extent, [=](index<2> idx) restrict(amp) { data_transpose[transpose(idx)] = data[idx]; });
}

template <typename value_type, int tile_size>
void tiled_transpose(const array_view<const value_type, 2> &data, const array_view<value_type, 2> &data_transpose) {
    data_transpose.discard_data();
    parallel_for_each(
        data.extent.template tile<tile_size, tile_size>(), [=](tiled_index<tile_size, tile_size> t_idx) restrict(amp) {
            tile_static value_type tile_data[tile_size][tile_size];
            tile_data[t_idx.local[1]][t_idx.local[0]] = data[t_idx.global];
            t_idx.barrier.wait();
            index<2> out_idx = transpose(t_idx.tile_origin) + t_idx.local;
            data_transpose[out_idx] = tile_data[t_idx.local[0]][t_idx.local[1]];
        });
}

// The tiled kernel transposes the whole tiles. The simple kernel transposes the rows and columns that remain.
template <typename value_type, int tile_size>
void truncated_transpose(const array_view<const value_type, 2> &data, const array_view<value_type, 2> &data_transpose) {
    tiled_extent<tile_size, tile_size> e_truncated = data.extent.template tile<tile_size, tile_size>().truncate();
    const extent<2> whole = data.extent;
    data_transpose.discard_data();
    parallel_for_each(
        e_truncated, [=](tiled_index<tile_size, tile_size> t_idx) restrict(amp) {
            tile_static value_type tile_data[t_idx.tile_dim0][tile_size];
            tile_data[t_idx.local[1]][t_idx.local[0]] = data[t_idx];
            t_idx.barrier.wait();
            data_transpose[transpose(t_idx.tile_origin) + t_idx.local] = tile_data[t_idx.local[0]][t_idx.local[1]];
        });
    auto transpose_rest = [=](index<2> origin, extent<2> size) {
        if (size.size() == 0) return;
        array_view<const value_type, 2> part = data.section(origin, size);
        array_view<value_type, 2> part_out = data_transpose.section(transpose(origin), transpose(size));
        parallel_for_each(
            size, [=](index<2> idx) restrict(amp) { part_out[transpose(idx)] = part[idx]; });
    };
    transpose_rest(index<2>(e_truncated[0], 0), extent<2>(whole[0] - e_truncated[0], whole[1]));
    transpose_rest(index<2>(0, e_truncated[1]), extent<2>(e_truncated[0], whole[1] - e_truncated[1]));
}

template <typename T, int Rank>
T guarded_read(const array_view<const T, Rank> &A, const index<Rank> &idx) restrict(amp) {
    return A.extent.contains(idx) ? A[idx] : T();
}
template <typename T, int Rank>
void guarded_write(const array_view<T, Rank> &A, const index<Rank> &idx, const T &val) restrict(amp) {
    if (A.extent.contains(idx)) A[idx] = val;
}

template <typename value_type, int tile_size>
void padded_transpose(const array_view<const value_type, 2> &data, const array_view<value_type, 2> &data_transpose) {
    tiled_extent<tile_size, tile_size> e_padded = data.extent.template tile<tile_size, tile_size>().pad();
    data_transpose.discard_data();
    parallel_for_each(
        e_padded, [=](tiled_index<tile_size, tile_size> t_idx) restrict(amp) {
            tile_static value_type tile_data[tile_size][tile_size];
            tile_data[t_idx.local[1]][t_idx.local[0]] = guarded_read(data, t_idx.global);
            t_idx.barrier.wait();
            guarded_write(data_transpose, transpose(t_idx.tile_origin) + t_idx.local,
                          tile_data[t_idx.local[0]][t_idx.local[1]]);
        });
}

template <typename value_type>
bool run(const std::wstring &name, extent<2> size,
         void (*function)(const array_view<const value_type, 2> &, const array_view<value_type, 2> &)) {
    std::vector<value_type> source(size.size()), result(size.size(), value_type(-1));
    for (size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<value_type>(i);
    array_view<const value_type, 2> av(size, source);
    array_view<value_type, 2> av_t(transpose(size), result);
    function(av, av_t);
    av_t.synchronize();
    bool ok = true;
    for (int y = 0; y < size[0]; ++y)
        for (int x = 0; x < size[1]; ++x)
            ok = ok && result[x * size[0] + y] == source[y * size[1] + x];
    std::wcout << std::setw(24) << std::left << name << size[0] << L" x " << size[1]
               << (ok ? L"  Verified" : L"  FAILED") << std::endl;
    return ok;
}

int main() {
    bool ok = true;
    ok &= run<float>(L"simple", extent<2>(24, 40), simple_transpose<float>);
    ok &= run<float>(L"tiled", extent<2>(24, 40), tiled_transpose<float, TILE_SIZE>);
    ok &= run<unsigned>(L"tiled", extent<2>(64, 32), tiled_transpose<unsigned, 16>);
    ok &= run<float>(L"truncated", extent<2>(27, 45), truncated_transpose<float, TILE_SIZE>);
    ok &= run<double>(L"truncated, small", extent<2>(3, 17), truncated_transpose<double, 2>);
    ok &= run<float>(L"padded", extent<2>(27, 45), padded_transpose<float, TILE_SIZE>);
    ok &= run<int>(L"padded", extent<2>(1, 1), padded_transpose<int, 4>);
    return ok ? 0 : 1;
}
