//----------------------------------------------------------------------------
// File: MatrixMult.cpp
//
// Implements matrix multiplication on the CPU, and with a simple and a tiled
// version on the GPU.
//----------------------------------------------------------------------------
#include "stdafx.h"
#include <amp.h>
#include <assert.h>
#include <iostream>
#include <vector>
#define TILE_SIZE 8

using namespace concurrency;

template <typename _type> void initialize_array(std::vector<_type> &v_data, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
        v_data[i] = (_type)((_type)rand() * 100 / (_type)(RAND_MAX + 1.0));
    }
}

template <typename _type> bool verify(std::vector<_type> &v_res, std::vector<_type> &v_ref, int len) {
    bool passed = true;
    for (int i = 0; i < len; ++i) {
        if (!(fabs(v_res[i] - v_ref[i]) <= 0.01 * fabs(v_ref[i]))) {
            std::cout << "v_res[" << i << "] = " << v_res[i] << ", v_ref[" << i << "] = " << v_ref[i] << std::endl;
            passed = false;
            break;
        }
    }
    return passed;
}

template <typename _type>
void mxm_single_cpu(int M, int N, int W, const std::vector<_type> &va, const std::vector<_type> &vb,
                    std::vector<_type> &vresult) {
    if ((va.size() != M * N) || (vb.size() != N * W) || (vresult.size() != M * W))
        throw "Expected matrix dimension result(M*W) = MA(M*N) * MB(N*W)";
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < W; ++j) {
            _type result = 0;
            for (int k = 0; k < N; ++k) {
                int idx_a = i * N + k;
                int idx_b = k * W + j;
                result += va[idx_a] * vb[idx_b];
            }
            vresult[i * W + j] = result;
        }
    }
}

template <typename _type>
void mxm_amp_simple(int M, int N, int W, const std::vector<_type> &va, const std::vector<_type> &vb,
                    std::vector<_type> &vresult) {
    extent<2> e_a(M, N), e_b(N, W), e_c(M, W);

    array_view<const _type, 2> av_a(e_a, va);
    array_view<const _type, 2> av_b(e_b, vb);
    array_view<_type, 2> av_c(e_c, vresult);
    av_c.discard_data();

    parallel_for_each(
        av_c.extent, [=](index<2> idx) restrict(amp) {
            _type result = 0;
            for (int i = 0; i < av_a.extent[1]; ++i) {
                index<2> idx_a(idx[0], i);
                index<2> idx_b(i, idx[1]);
                result += av_a[idx_a] * av_b[idx_b];
            }
            av_c[idx] = result;
        });
    // explicitly copies the result out
    av_c.synchronize();
}

template <typename _type, int tile_size>
void mxm_amp_tiled(int M, int N, int W, const std::vector<_type> &va, const std::vector<_type> &vb,
                   std::vector<_type> &vresult) {
    assert((M % tile_size) == 0);
    assert((W % tile_size) == 0);
    assert((N % tile_size) == 0);

    extent<2> e_a(M, N), e_b(N, W), e_c(M, W);
    array_view<const _type, 2> av_a(e_a, va);
    array_view<const _type, 2> av_b(e_b, vb);
    array_view<_type, 2> av_c(e_c, vresult);
    av_c.discard_data();

    extent<2> compute_domain(e_c);

    parallel_for_each(
        compute_domain.tile<tile_size, tile_size>(), [=](tiled_index<tile_size, tile_size> tidx) restrict(amp) {
            _type temp_c = 0;
            index<2> localIdx = tidx.local;
            index<2> globalIdx = tidx.global;

            for (int i = 0; i < N; i += tile_size) {
                tile_static _type localB[tile_size][tile_size];
                tile_static _type localA[tile_size][tile_size];

                localA[localIdx[0]][localIdx[1]] = av_a(globalIdx[0], i + localIdx[1]);
                localB[localIdx[0]][localIdx[1]] = av_b(i + localIdx[0], globalIdx[1]);
                tidx.barrier.wait();

                for (unsigned k = 0; k < tile_size; k++) {
                    temp_c += localA[localIdx[0]][k] * localB[k][localIdx[1]];
                }
                tidx.barrier.wait();
            }
            av_c[tidx] = temp_c;
        });
    av_c.synchronize();
}

int main() {
    accelerator default_device;
    std::wcout << L"Using device : " << default_device.get_description() << std::endl;
    if (default_device == accelerator(accelerator::direct3d_ref))
        std::cout << "WARNING!! Running on very slow emulator! Only use this accelerator for debugging." << std::endl;

    srand(2012);

    const int M = 64;
    const int N = 48;
    const int W = 56;

    std::vector<float> v_a(M * N);
    std::vector<float> v_b(N * W);
    std::vector<float> v_c_simple(M * W);
    std::vector<float> v_c_tiled(M * W);
    std::vector<float> v_ref(M * W);

    initialize_array(v_a, M * N);
    initialize_array(v_b, N * W);

    std::cout << "Matrix dimension C(" << M << " x " << W << ") = A(" << M << " x " << N << ") * B(" << N << " x " << W
              << ")" << std::endl;
    std::cout << "CPU(single core) exec ..." << std::endl;
    mxm_single_cpu(M, N, W, v_a, v_b, v_ref);

    bool passed = true;
    mxm_amp_simple(M, N, W, v_a, v_b, v_c_simple);
    std::cout << "AMP Simple" << std::endl;
    bool ok = verify(v_c_simple, v_ref, M * W);
    std::cout << "\t" << (ok ? "Data matches" : "Data mismatch") << std::endl;
    passed = passed && ok;

    mxm_amp_tiled<float, TILE_SIZE>(M, N, W, v_a, v_b, v_c_tiled);
    std::cout << "AMP Tiled" << std::endl;
    ok = verify(v_c_tiled, v_ref, M * W);
    std::cout << "\t" << (ok ? "Data matches" : "Data mismatch") << std::endl;
    passed = passed && ok;

    std::vector<int> i_a(M * N), i_b(N * W), i_c(M * W), i_ref(M * W);
    initialize_array(i_a, M * N);
    initialize_array(i_b, N * W);
    mxm_single_cpu(M, N, W, i_a, i_b, i_ref);
    mxm_amp_tiled<int, 4>(M, N, W, i_a, i_b, i_c);
    ok = i_c == i_ref;
    std::cout << "AMP Tiled, int: " << (ok ? "Data matches" : "Data mismatch") << std::endl;
    passed = passed && ok;
    return passed ? 0 : 1;
}
