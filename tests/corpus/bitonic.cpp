//--------------------------------------------------------------------------------------
// File: BitonicSort.cpp
//
// Implements Bitonic sort in C++ AMP
//--------------------------------------------------------------------------------------
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <assert.h>
#include <iostream>
#include <vector>

using namespace concurrency;

// The number of elements to sort is limited to an even power of 2
static const int NUM_ELEMENTS = 64 * 64;
static const int BITONIC_TILE_SIZE = 64;
static const int MATRIX_WIDTH = BITONIC_TILE_SIZE;
static const int MATRIX_HEIGHT = NUM_ELEMENTS / BITONIC_TILE_SIZE;
static const int TRANSPOSE_TILE_SIZE = 16;

// Should be a square matrix
static_assert(NUM_ELEMENTS == MATRIX_WIDTH * MATRIX_HEIGHT, "NUM_ELEMENTS is not the size of the matrix");
static_assert(((NUM_ELEMENTS % BITONIC_TILE_SIZE) == 0), "NUM_ELEMENTS is not a multiple of the tile");

template <typename _type>
void bitonic_sort_kernel(array<_type, 1> &data, unsigned ulevel, unsigned ulevelmask,
                         tiled_index<BITONIC_TILE_SIZE> tidx) restrict(amp) {
    tile_static _type sh_data[BITONIC_TILE_SIZE];

    int local_idx = tidx.local[0];
    int global_idx = tidx.global[0];

    // Cooperatively load data - each thread will load data from global memory into tile_static
    sh_data[local_idx] = data[global_idx];
    tidx.barrier.wait();

    // Sort data in tile_static memory
    for (unsigned int j = ulevel >> 1; j > 0; j >>= 1) {
        _type result = ((sh_data[local_idx & ~j] <= sh_data[local_idx | j]) == (bool)(ulevelmask & global_idx))
                           ? sh_data[local_idx ^ j]
                           : sh_data[local_idx];
        tidx.barrier.wait();
        sh_data[local_idx] = result;
        tidx.barrier.wait();
    }
    data[global_idx] = sh_data[local_idx];
}

template <typename _type>
void transpose_kernel(array<_type, 1> &data_in, array<_type, 1> &data_out, unsigned width, unsigned height,
                      tiled_index<TRANSPOSE_TILE_SIZE, TRANSPOSE_TILE_SIZE> tidx) restrict(amp) {
    tile_static _type transpose_shared_data[TRANSPOSE_TILE_SIZE][TRANSPOSE_TILE_SIZE];
    transpose_shared_data[tidx.local[1]][tidx.local[0]] = data_in[tidx.global[0] * width + tidx.global[1]];
    tidx.barrier.wait();
    data_out[(tidx.tile_origin[1] + tidx.local[0]) * height + tidx.tile_origin[0] + tidx.local[1]] =
        transpose_shared_data[tidx.local[0]][tidx.local[1]];
}

template <typename _type> void bitonic_sort_amp(std::vector<_type> &data_in, std::vector<_type> &data_out) {
    array<_type, 1> temp(NUM_ELEMENTS, data_in.begin());
    array<_type, 1> data(NUM_ELEMENTS);
    array<_type, 1> *pTemp = &temp;

    // Sort the data: first sort the rows for the levels up to the block size
    extent<1> compute_domain(NUM_ELEMENTS);
    for (unsigned int level = 2; level <= BITONIC_TILE_SIZE; level = level * 2) {
        array<_type, 1> &a = *pTemp;
        parallel_for_each(
            compute_domain.tile<BITONIC_TILE_SIZE>(), [ level, &a ](tiled_index<BITONIC_TILE_SIZE> tidx) restrict(amp) {
                bitonic_sort_kernel<_type>(a, level, level, tidx);
            });
    }

    // Then sort the rows and columns for the levels above the block size: transpose, sort the columns, transpose, sort
    // the rows
    for (unsigned int level = (BITONIC_TILE_SIZE * 2); level <= NUM_ELEMENTS; level = level * 2) {
        extent<2> transpose_domain(MATRIX_HEIGHT, MATRIX_WIDTH);
        parallel_for_each(
            transpose_domain.tile<TRANSPOSE_TILE_SIZE, TRANSPOSE_TILE_SIZE>(),
            [&temp, &data ](tiled_index<TRANSPOSE_TILE_SIZE, TRANSPOSE_TILE_SIZE> tidx) restrict(amp) {
                transpose_kernel<_type>(temp, data, MATRIX_WIDTH, MATRIX_HEIGHT, tidx);
            });
        unsigned int ulevel = level / BITONIC_TILE_SIZE, ulevelmask = (level & ~NUM_ELEMENTS) / BITONIC_TILE_SIZE;
        parallel_for_each(
            compute_domain.tile<BITONIC_TILE_SIZE>(), [ =, &data ](tiled_index<BITONIC_TILE_SIZE> tidx) restrict(amp) {
                bitonic_sort_kernel<_type>(data, ulevel, ulevelmask, tidx);
            });
        parallel_for_each(
            transpose_domain.tile<TRANSPOSE_TILE_SIZE, TRANSPOSE_TILE_SIZE>(),
            [&temp, &data ](tiled_index<TRANSPOSE_TILE_SIZE, TRANSPOSE_TILE_SIZE> tidx) restrict(amp) {
                transpose_kernel<_type>(data, temp, MATRIX_HEIGHT, MATRIX_WIDTH, tidx);
            });
        parallel_for_each(
            compute_domain.tile<BITONIC_TILE_SIZE>(), [ =, &temp ](tiled_index<BITONIC_TILE_SIZE> tidx) restrict(amp) {
                bitonic_sort_kernel<_type>(temp, BITONIC_TILE_SIZE, level, tidx);
            });
    }
    copy(temp, data_out.begin());
}

template <typename _type> bool test(const wchar_t *name) {
    std::vector<_type> data_in(NUM_ELEMENTS), data_out(NUM_ELEMENTS);
    for (int i = 0; i < NUM_ELEMENTS; ++i)
        data_in[i] = _type((_type)rand() * 100 / (RAND_MAX + 1.0));
    bitonic_sort_amp(data_in, data_out);
    std::sort(data_in.begin(), data_in.end());
    const bool passed = data_in == data_out;
    std::wcout << name << L": " << (passed ? L"Data matches" : L"Data mismatch") << std::endl;
    return passed;
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;
    srand(2012);
    bool passed = test<int>(L"int");
    passed = test<float>(L"float") && passed;
    if (default_device.supports_limited_double_precision) passed = test<double>(L"double") && passed;
    return passed ? 0 : 1;
}
