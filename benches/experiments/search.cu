// string search in CUDA, one thing changed at a time: microseconds of the search's launch alone, medians of 15.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
enum { Plain, Strong, NoAtomics, StrongNoAtomics, Flag, Constant };
template <int How> __device__ unsigned get(const unsigned *p) {
    unsigned x;
    if (How == Strong || How == StrongNoAtomics)
        asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(x) : "l"(p));
    else
        x = *p;
    return x;
}
template <int How>
__global__ void search(const unsigned *text, const unsigned *pattern, int *count, unsigned *found, int n, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    if (How == Flag) {
        bool more = length > 0;
        while (more) {
            more = false;
            if ((text[(i + k) / 4] >> (i + k) % 4 * 8 & 255) == pattern[k]) {
                k++;
                more = k < length;
            }
        }
    } else
        while (k < length && (get<How>(&text[(i + k) / 4]) >> (i + k) % 4 * 8 & 255) == get<How>(&pattern[k]))
            k++;
    if (k < length) return;
    if (How == NoAtomics || How == StrongNoAtomics) {
        found[i / 32] = i;
        return;
    }
    atomicAdd(count, 1);
    atomicOr(&found[i / 32], 1U << i % 32);
}
int main() {
    const int n = 1 << 24;
    std::vector<unsigned> t(n / 4 + 2);
    unsigned long long s = 12345;
    for (auto &x : t) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        x = unsigned(s >> 33) * 2654435761U & 0x01010101;
    }
    unsigned pat[8];
    for (int i = 0; i < 8; i++)
        pat[i] = i % 3 == 0;
    unsigned *text, *pattern, *found;
    int *count;
    cudaMalloc(&text, t.size() * 4);
    cudaMalloc(&pattern, 32);
    cudaMalloc(&found, n / 8);
    cudaMalloc(&count, 4);
    cudaMemcpy(text, t.data(), t.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(pattern, pat, 32, cudaMemcpyHostToDevice);
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    auto time = [&](const char *name, auto kernel, int block) {
        std::vector<float> all;
        for (int r = 0; r < 15; r++) {
            cudaEventRecord(a);
            for (int k = 0; k < 20; k++)
                kernel<<<n / block, block>>>(text, pattern, count, found, n, 8);
            cudaEventRecord(b);
            cudaEventSynchronize(b);
            float ms;
            cudaEventElapsedTime(&ms, a, b);
            all.push_back(ms * 50);
        }
        std::sort(all.begin(), all.end());
        std::printf("%-28s block %4d  %8.2f us\n", name, block, all[7]);
    };
    for (int block : {64, 128, 256, 512, 1024}) {
        time("plain", search<Plain>, block);
        time("loads as Vulkan's (relaxed)", search<Strong>, block);
        time("no atomics", search<NoAtomics>, block);
        time("relaxed, no atomics", search<StrongNoAtomics>, block);
        time("a flag", search<Flag>, block);
    }
    // The counter in the line of the pattern, which all threads read.
    unsigned *both;
    cudaMalloc(&both, 8192);
    cudaMemcpy(both, pat, 32, cudaMemcpyHostToDevice);
    pattern = both;
    for (int apart : {32, 64, 96, 128, 256, 4096}) {
        std::printf("the counter %d bytes behind the pattern\n", apart);
        count = reinterpret_cast<int *>(both + apart / 4);
        time("plain", search<Plain>, 256);
    }
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
