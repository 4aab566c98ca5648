/**
 * @file revamp_objects.h
 * revamp: what the objects of its kernel compiler call. Not for programs: the compiler writes the
 * calls, and a program needs the library of the soname that it was compiled for.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#ifndef REVAMP_OBJECTS_H
#define REVAMP_OBJECTS_H

#include <revamp.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A kernel's form for host threads. */
typedef struct revamp_native_kernel {
    /** Its name in the image. */
    const char *name;
    /** Its code. */
    const void *functions[3];
    /** Bytes of tile_static memory. */
    uint64_t memory;
    /** Threads of a tile; zeros: it has none. */
    uint32_t tile[3];
    /** 1: it checks accesses; 2: it runs a thread of a tile, or a row. */
    uint32_t flags;
} revamp_native_kernel;

/** What a function of the kernel compiler runs now. */
typedef struct revamp_kernel_state {
    /** The first thread. */
    const revamp_thread_id *id;
    /** Number of threads. */
    uint32_t count;
    /** Which of them runs: the kernel's own. */
    uint32_t running;
    /** Where a thread goes on that ends early: the kernel's own. */
    void *end;
} revamp_kernel_state;

/** Registers the kernels of an object, whose image is behind `wrapper`; gives their handle. */
REVAMP_API void *revamp_image_register(const void *wrapper);

/** Runs the registration of an object before its time; gives the handle. */
REVAMP_API void *revamp_image_register_early(void (*registration)(void));

/** The registration of an object without kernels. */
REVAMP_API void revamp_image_none(void);

/** Launches whose stub is `stub` run the image's kernel `name`; the others are Clang's, unused. */
REVAMP_API int revamp_image_add(
    void *image, const void *stub, const char *name, const char *device_name, int thread_limit,
    void *thread, void *block, void *block_size, void *grid_size, int *warp_size);

/** Gives kernels of an image, by their names, forms for host threads. */
REVAMP_API void revamp_image_add_native(void *image, const revamp_native_kernel *table, uint64_t count);

/** Unregisters the kernels of an object that is about to be unloaded. */
REVAMP_API void revamp_image_unregister(void *image);

/** What the calling thread of a kernel runs. */
REVAMP_API revamp_kernel_state *revamp_kernel_thread(void);

/** Makes the launch of the calling thread fail; `shown`: the text is printed too. */
REVAMP_API void revamp_kernel_fail(const char *text, bool shown, const char *file, uint32_t line);

/**
 * Of the launch's memory in which `address` lies, where it begins (`what` 0) or its size; 0 if it
 * lies in none. `table`: behind the argument block, with so many entries.
 */
REVAMP_API uint64_t revamp_native_found(
    const uint8_t *table, uint64_t entries, uint64_t address, uint32_t what);

/** Where a kernel writes why it abandons its tile: 4,096 bytes of this thread. */
REVAMP_API char *revamp_native_text(void);

#ifdef __cplusplus
}
#endif

#endif /* REVAMP_OBJECTS_H */
