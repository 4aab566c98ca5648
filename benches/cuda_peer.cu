// The CUDA peer of the benchmarks: the same work, written for the CUDA runtime.
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <initializer_list>

#include "cuda_peer.h"

namespace {

__global__ void empty_kernel() {}
__global__ void increment_kernel(uint32_t *values) {
    values[threadIdx.x] += 1;
}
__global__ void saxpy_kernel(float a, const float *x, float *y, size_t count) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < count) y[i] = a * x[i] + y[i];
}

// The kernels of compiled_kernels.cpp in idiomatic CUDA.
__global__ void matmul_kernel(const float *a, const float *b, float *c, int n) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
__global__ void tiled_matmul_kernel(const float *a, const float *b, float *c, int n) {
    __shared__ float left[16][16], right[16][16];
    const int row = threadIdx.y, column = threadIdx.x, y = blockIdx.y * 16 + row, x = blockIdx.x * 16 + column;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[row][column] = a[y * n + k + column];
        right[row][column] = b[(k + row) * n + x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += left[row][j] * right[j][column];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__device__ void tree_reduce(float *part, int local, float *result) {
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (local < half) part[local] += part[local + half];
        __syncthreads();
    }
    if (local == 0) *result = part[0];
}
__global__ void reduce_kernel(const float *in, float *sums) {
    __shared__ float part[256];
    const int local = threadIdx.x, first = blockIdx.x * 4096 + local;
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += in[first + k * 256];
    part[local] = sum;
    tree_reduce(part, local, sums + blockIdx.x);
}
__global__ void reduce_last_kernel(const float *sums, float *total, int count) {
    __shared__ float part[256];
    const int local = threadIdx.x;
    float sum = 0;
    for (int k = local; k < count; k += 256)
        sum += sums[k];
    part[local] = sum;
    tree_reduce(part, local, total);
}
__global__ void nbody_kernel(const float4 *bodies, float4 *acceleration, int n) {
    __shared__ float4 chunk[256];
    const int at = blockIdx.x * 256 + threadIdx.x;
    const float4 me = bodies[at];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += 256) {
        chunk[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            const float4 other = chunk[j];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float s = other.w * inverse * inverse * inverse;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        __syncthreads();
    }
    acceleration[at] = make_float4(x, y, z, 0);
}
__global__ void stencil_kernel(const float *in, float *out, int n) {
    const int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= n || x >= n) return;
    const int i = y * n + x;
    if (y > 0 && x > 0 && y + 1 < n && x + 1 < n) {
        out[i] = 0.5f * in[i] + 0.125f * (in[i - n] + in[i + n] + in[i - 1] + in[i + 1]);
    } else {
        out[i] = in[i];
    }
}
__global__ void histogram_kernel(const unsigned *in, unsigned *counts) {
    __shared__ unsigned part[256];
    const int local = threadIdx.x, first = blockIdx.x * 16384 + local;
    part[local] = 0;
    __syncthreads();
    for (int k = 0; k < 64; k++)
        atomicAdd(&part[in[first + k * 256] & 255], 1U);
    __syncthreads();
    atomicAdd(&counts[local], part[local]);
}

const char *text(cudaError_t error) {
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char *finish() {
    const cudaError_t launch_error = cudaGetLastError();
    return text(launch_error != cudaSuccess ? launch_error : cudaDeviceSynchronize());
}

const char *open(const uint8_t *uuid, const char **device) {
    static cudaDeviceProp device_properties;
    int count = 0;
    if (const char *e = text(cudaGetDeviceCount(&count))) return e;
    for (int i = 0; i < count; i++) {
        if (const char *e = text(cudaGetDeviceProperties(&device_properties, i))) return e;
        if (std::memcmp(device_properties.uuid.bytes, uuid, 16) != 0) continue;
        *device = device_properties.name;
        if (const char *e = text(cudaSetDevice(i))) return e;
        return text(cudaFree(nullptr));
    }
    return "no CUDA device has that UUID";
}

const char *allocate(size_t size, int pinned_host, void **memory) {
    return text(pinned_host ? cudaMallocHost(memory, size) : cudaMalloc(memory, size));
}

const char *release(void *memory, int pinned_host) {
    return text(pinned_host ? cudaFreeHost(memory) : cudaFree(memory));
}

// cudaMemcpy may return before the last bytes of a pageable upload, or of a copy between devices, have arrived.
// Therefore this function waits.
const char *copy(void *destination, const void *source, size_t size) {
    if (const char *e = text(cudaMemcpy(destination, source, size, cudaMemcpyDefault))) return e;
    return text(cudaDeviceSynchronize());
}

const char *empty_launch() {
    empty_kernel<<<1, 64>>>();
    return finish();
}

const char *increments(uint32_t *values, unsigned launches, double *host_seconds) {
    const auto start = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < launches; i++)
        increment_kernel<<<1, 64>>>(values);
    if (host_seconds) *host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return finish();
}

const char *saxpy(float a, const float *x, float *y, size_t count, unsigned launches) {
    for (unsigned i = 0; i < launches; i++)
        saxpy_kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(a, x, y, count);
    return finish();
}

const char *work(unsigned which, void *const *buffers, int n, unsigned launches) {
    auto floats = [buffers](int i) { return static_cast<float *>(buffers[i]); };
    const dim3 wide_block(32, 8), wide_grid((n + 31) / 32, (n + 7) / 8);
    for (unsigned i = 0; i < launches; i++) {
        switch (which) {
        case 0:
            saxpy_kernel<<<(n + 255) / 256, 256>>>(2, floats(0), floats(1), size_t(n));
            break;
        case 1:
            matmul_kernel<<<wide_grid, wide_block>>>(floats(0), floats(1), floats(2), n);
            break;
        case 2:
            tiled_matmul_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(floats(0), floats(1), floats(2), n);
            break;
        case 3:
            reduce_kernel<<<n / 4096, 256>>>(floats(0), floats(1));
            reduce_last_kernel<<<1, 256>>>(floats(1), floats(2), n / 4096);
            break;
        case 4:
            nbody_kernel<<<n / 256, 256>>>(static_cast<float4 *>(buffers[0]), static_cast<float4 *>(buffers[1]), n);
            break;
        case 5:
            stencil_kernel<<<wide_grid, wide_block>>>(floats(0), floats(1), n);
            break;
        case 6:
            histogram_kernel<<<n / 16384, 256>>>(static_cast<unsigned *>(buffers[0]),
                                                 static_cast<unsigned *>(buffers[1]));
            break;
        default:
            return "no such work";
        }
    }
    return finish();
}

const char *allocate_on(const uint8_t *uuid, size_t size, void **memory, int *device) {
    int count = 0, current = 0;
    if (const char *e = text(cudaGetDevice(&current))) return e;
    if (const char *e = text(cudaGetDeviceCount(&count))) return e;
    for (int i = 0; i < count; i++) {
        cudaDeviceProp device_properties;
        if (const char *e = text(cudaGetDeviceProperties(&device_properties, i))) return e;
        if (std::memcmp(device_properties.uuid.bytes, uuid, 16) != 0) continue;
        *device = i;
        const char *allocate_error = text(cudaSetDevice(i));
        if (!allocate_error) allocate_error = text(cudaMalloc(memory, size));
        // Lets the device access the other devices' memory directly, if the machine supports it.
        for (int other = 0; other < count && !allocate_error; other++) {
            int can_access = 0;
            if (other != i && cudaDeviceCanAccessPeer(&can_access, i, other) == cudaSuccess && can_access)
                cudaDeviceEnablePeerAccess(other, 0);
        }
        cudaGetLastError(); // clears "already enabled", which is not an error here
        const char *restore_error = text(cudaSetDevice(current));
        return allocate_error ? allocate_error : restore_error;
    }
    return "no CUDA device has that UUID";
}

const char *copy_between(void *destination, int to, const void *source, int from, size_t size) {
    if (const char *e = text(cudaMemcpyPeer(destination, to, source, from, size))) return e;
    // The copy is ordered in the default streams of both devices, so wait for both.
    int current = 0;
    if (const char *e = text(cudaGetDevice(&current))) return e;
    for (const int device : {from, to}) {
        if (const char *e = text(cudaSetDevice(device))) return e;
        if (const char *e = text(cudaDeviceSynchronize())) return e;
    }
    return text(cudaSetDevice(current));
}

const char *copy_rows(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                      size_t rows) {
    if (const char *e = text(cudaMemcpy2D(destination, pitch, source, source_pitch, width, rows, cudaMemcpyDefault)))
        return e;
    return text(cudaDeviceSynchronize());
}

struct Image {
    cudaArray_t texels = nullptr;
    // `sampled` has a linear filter and clamps; `fetched` is read by index and gives 0 outside.
    cudaTextureObject_t sampled = 0, fetched = 0;
    uchar4 *result = nullptr;
    int n = 0;
};

__device__ uchar4 to_unorm8(float4 v) {
    return make_uchar4(v.x * 255 + 0.5f, v.y * 255 + 0.5f, v.z * 255 + 0.5f, v.w * 255 + 0.5f);
}
__global__ void bilinear_kernel(cudaTextureObject_t from, uchar4 *to, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float step = 1.0f / n;
    to[y * n + x] = to_unorm8(tex2D<float4>(from, (x + 0.8f) * step, (y + 0.7f) * step));
}
__global__ void convolve_kernel(cudaTextureObject_t from, uchar4 *to, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int y = -3; y <= 3; ++y)
        for (int x = -3; x <= 3; ++x) {
            const float4 texel = tex2D<float4>(from, column + x + 0.5f, row + y + 0.5f);
            sum.x += texel.x, sum.y += texel.y, sum.z += texel.z, sum.w += texel.w;
        }
    const float part = 1.0f / 49;
    to[row * n + column] = to_unorm8(make_float4(sum.x * part, sum.y * part, sum.z * part, sum.w * part));
}

const char *free_image(void *image_handle) {
    Image *image = static_cast<Image *>(image_handle);
    cudaDestroyTextureObject(image->sampled);
    cudaDestroyTextureObject(image->fetched);
    cudaFreeArray(image->texels);
    cudaFree(image->result);
    delete image;
    return text(cudaDeviceSynchronize());
}

const char *make_image(int n, void **image_handle) {
    Image *image = new Image;
    image->n = n;
    const cudaChannelFormatDesc texels = cudaCreateChannelDesc<uchar4>();
    const char *e = text(cudaMallocArray(&image->texels, &texels, n, n));
    if (!e) e = text(cudaMalloc(&image->result, size_t(n) * n * 4));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = image->texels;
    for (const bool linear : {true, false}) {
        cudaTextureDesc texture_desc = {};
        texture_desc.addressMode[0] = texture_desc.addressMode[1] =
            linear ? cudaAddressModeClamp : cudaAddressModeBorder;
        texture_desc.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        texture_desc.readMode = cudaReadModeNormalizedFloat;
        texture_desc.normalizedCoords = linear;
        if (!e)
            e = text(
                cudaCreateTextureObject(linear ? &image->sampled : &image->fetched, &resource, &texture_desc, nullptr));
    }
    if (e) {
        free_image(image);
        return e;
    }
    *image_handle = image;
    return nullptr;
}

const char *upload_image(void *image_handle, const void *from) {
    const Image &image = *static_cast<Image *>(image_handle);
    const size_t row = size_t(image.n) * 4;
    if (const char *e =
            text(cudaMemcpy2DToArray(image.texels, 0, 0, from, row, row, size_t(image.n), cudaMemcpyHostToDevice)))
        return e;
    return text(cudaDeviceSynchronize());
}
const char *download_image(void *image_handle, void *to) {
    const Image &image = *static_cast<Image *>(image_handle);
    const size_t row = size_t(image.n) * 4;
    return text(cudaMemcpy2DFromArray(to, row, image.texels, 0, 0, row, size_t(image.n), cudaMemcpyDeviceToHost));
}
const char *run_image(void *image_handle, int bilinear, unsigned launches) {
    const Image &image = *static_cast<Image *>(image_handle);
    const unsigned n = static_cast<unsigned>(image.n);
    const dim3 block(32, 8), blocks((n + 31) / 32, (n + 7) / 8);
    for (unsigned i = 0; i < launches; i++)
        if (bilinear)
            bilinear_kernel<<<blocks, block>>>(image.sampled, image.result, image.n);
        else
            convolve_kernel<<<blocks, block>>>(image.fetched, image.result, image.n);
    return finish();
}
const char *image_result(void *image_handle, void *to) {
    const Image &image = *static_cast<Image *>(image_handle);
    return copy(to, image.result, size_t(image.n) * image.n * 4);
}

const CudaPeer table = {open,       allocate,     release,        copy,         empty_launch, increments,
                        saxpy,      work,         allocate_on,    copy_between, copy_rows,    make_image,
                        free_image, upload_image, download_image, run_image,    image_result};

} // namespace

extern "C" const CudaPeer *cuda_peer() {
    return &table;
}
