// What libcuda_peer.so offers: the CUDA peer, built by nvcc where there is one, loaded at run time.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct CudaPeer {
    // Each returns null, or what went wrong.
    const char *(*open)(const uint8_t *uuid, const char **device); // uuid: 16 bytes, as Vulkan's deviceUUID
    const char *(*allocate)(size_t size, int pinned_host, void **memory);
    const char *(*release)(void *memory, int pinned_host);
    const char *(*copy)(void *destination, const void *source, size_t size);                  // any way; waits
    const char *(*empty_launch)(void);                                                        // launch and wait
    const char *(*increments)(uint32_t *values, unsigned launches, double *host_seconds);     // dependent; then waits
    const char *(*saxpy)(float a, const float *x, float *y, size_t count, unsigned launches); // then waits
    // A piece of work of compiled_kernels.h with its buffers, of size n; then waits.
    const char *(*work)(unsigned work, void *const *buffers, int n, unsigned launches);
    // Memory on the device with this UUID; `device` gets CUDA's number of it. Afterwards the device of `open` is
    // current.
    const char *(*allocate_on)(const uint8_t *uuid, size_t size, void **memory, int *device);
    // Between two devices; waits.
    const char *(*copy_between)(void *destination, int to, const void *source, int from, size_t size);
    // `rows` rows of `width` bytes, any way; waits.
    const char *(*copy_rows)(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                             size_t rows);
    // An image of n x n texels of four unorm components of 8 bits, as a CUDA array with texture objects, and memory for
    // what kernels make of it.
    const char *(*make_image)(int n, void **made);
    const char *(*free_image)(void *made);
    // The image, from and to host memory; wait.
    const char *(*upload_image)(void *made, const void *from);
    const char *(*download_image)(void *made, void *to);
    // Sampled between texels, or convolved by 7 x 7 texels; then waits.
    const char *(*run_image)(void *made, int bilinear, unsigned launches);
    const char *(*image_result)(void *made, void *to);
};

// Exported as `cuda_peer`.
typedef const struct CudaPeer *(*cuda_peer_function)(void);
