/**
 * @file revamp_objects.h
 * revamp: the functions that object files from the kernel compiler call. Programs do not call these
 * functions themselves: the compiler writes the calls. Therefore a program needs the library with the
 * soname for which the program was compiled.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#ifndef REVAMP_OBJECTS_H
#define REVAMP_OBJECTS_H

#include <revamp.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A kernel as native code for host threads. */
typedef struct revamp_native_kernel {
    /** The kernel's name in the image. */
    const char *name;
    /** The kernel's functions for x86-64-v1, -v3 and -v4; with flag 2 all three are the same. */
    const void *functions[3];
    /** Bytes of memory that a tile uses while it runs. */
    uint64_t memory;
    /** Threads of a tile in x, y and z; zeros if the kernel has no tiles. */
    uint32_t tile[3];
    /** 1: the kernel checks accesses; 2: a call runs one thread of a tile, or one row of threads. */
    uint32_t flags;
} revamp_native_kernel;

/** The threads that a call of a compiled kernel runs. */
typedef struct revamp_kernel_state {
    /** The first thread. */
    const revamp_thread_id *id;
    /** Number of threads. */
    uint32_t count;
    /** The index of the running thread; only the kernel writes it. */
    uint32_t running;
    /** A jmp_buf at which threads that end early continue; only the kernel uses it. */
    void *end;
} revamp_kernel_state;

/** Registers the kernels of an object file; `wrapper` names their image. Returns the image's handle. */
REVAMP_API void *revamp_image_register(const void *wrapper);

/** Runs the registration function of an object file earlier than the static constructor of the file
 * would. Returns the image's handle. */
REVAMP_API void *revamp_image_register_early(void (*registration)(void));

/** The registration function of an object file without kernels: does nothing. */
REVAMP_API void revamp_image_none(void);

/** Makes launches of `stub` run the image's kernel `name`. Clang passes the other arguments, which
 * this function ignores. */
REVAMP_API int revamp_image_add(
    void *image, const void *stub, const char *name, const char *device_name, int thread_limit,
    void *thread, void *block, void *block_size, void *grid_size, int *warp_size);

/** Adds native code for host threads to kernels of an image. `table` lists the kernels by name. */
REVAMP_API void revamp_image_add_native(void *image, const revamp_native_kernel *table, uint64_t count);

/** Unregisters the kernels of an object file that is about to be unloaded. */
REVAMP_API void revamp_image_unregister(void *image);

/** The state of the kernel call that the calling thread runs. */
REVAMP_API revamp_kernel_state *revamp_kernel_thread(void);

/** Makes the launch of the calling thread fail with the message `text`; if `shown`, also prints the message. */
REVAMP_API void revamp_kernel_fail(const char *text, bool shown, const char *file, uint32_t line);

/**
 * Finds the memory of the launch that contains `address`. Returns its start (`what` 0) or its size;
 * 0 if no memory contains `address`. `table`: the table after the argument block, with `entries` entries.
 */
REVAMP_API uint64_t revamp_native_found(
    const uint8_t *table, uint64_t entries, uint64_t address, uint32_t what);

/** The calling thread's buffer of 4,096 bytes. A kernel writes to it why the kernel abandons its tile. */
REVAMP_API char *revamp_native_text(void);

#ifdef __cplusplus
}
#endif

#endif /* REVAMP_OBJECTS_H */
