// The interface of libcuda_peer.so, the CUDA peer. nvcc builds the library, and the benchmarks load it at run time.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct CudaPeer {
    // All functions return null on success, else an error message.
    const char *(*open)(const uint8_t *uuid, const char **device); // uuid: 16 bytes, as Vulkan's deviceUUID
    const char *(*allocate)(size_t size, int pinned_host, void **memory);
    const char *(*release)(void *memory, int pinned_host);
    const char *(*copy)(void *destination, const void *source, size_t size); // in any direction; then waits
    const char *(*empty_launch)(void);                                       // launches an empty kernel, then waits
    // Launches, `launches` times, a kernel that increments 64 values, then waits. Sets `host_seconds`, unless null, to
    // the time of the launches without the wait.
    const char *(*increments)(uint32_t *values, unsigned launches, double *host_seconds);
    const char *(*saxpy)(float a, const float *x, float *y, size_t count, unsigned launches); // then waits
    // Launches the kernels of a `Work` (compiled_kernels.h) of size n `launches` times, then waits.
    const char *(*work)(unsigned work, void *const *buffers, int n, unsigned launches);
    // Allocates memory on the device with this UUID and sets `device` to its CUDA number. The device of `open` stays
    // current.
    const char *(*allocate_on)(const uint8_t *uuid, size_t size, void **memory, int *device);
    // Copies between two devices with the CUDA numbers `to` and `from`, then waits.
    const char *(*copy_between)(void *destination, int to, const void *source, int from, size_t size);
    // Copies `rows` rows of `width` bytes in any direction, then waits.
    const char *(*copy_rows)(void *destination, size_t pitch, const void *source, size_t source_pitch, size_t width,
                             size_t rows);
    // Creates an image of n x n texels with four 8-bit unorm components: a CUDA array with texture objects, and memory
    // for the results of kernels.
    const char *(*make_image)(int n, void **image_handle);
    const char *(*free_image)(void *image_handle);
    // upload_image copies from host memory to the image, download_image from the image to host memory. They wait.
    const char *(*upload_image)(void *image_handle, const void *from);
    const char *(*download_image)(void *image_handle, void *to);
    // Launches, `launches` times, a kernel that samples the image bilinearly or convolves 7 x 7 texels, then waits.
    const char *(*run_image)(void *image_handle, int bilinear, unsigned launches);
    const char *(*image_result)(void *image_handle, void *to);
};

// Exported as `cuda_peer`.
typedef const struct CudaPeer *(*cuda_peer_function)(void);
