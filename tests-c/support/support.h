/* Helpers that the tests share: accelerators to test on, arrays, kernels. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "check.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A usable accelerator, with its default view. */
typedef struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_accelerator_info info;
} place;

typedef bool (*ability)(const revamp_accelerator_info *info);
bool holds_arrays(const revamp_accelerator_info *info);
bool runs_spirv(const revamp_accelerator_info *info);
bool runs_host_kernels(const revamp_accelerator_info *info);
bool is_shared_vulkan(const revamp_accelerator_info *info);

/* The usable accelerators for which `can` is true; an entry without a view ends the list. */
const place *places_that(ability can);
/* Returns places_that(can); skips the test if that list is empty. */
const place *first_place_or_skip(ability can);
/* Runs its body for each entry of first_place_or_skip(can). */
#define FOR_EACH_PLACE(p, can) for (const place *p = first_place_or_skip(can); p->view; p++)

revamp_accelerator_info info_of(revamp_accelerator accelerator);
revamp_array_info array_info(revamp_array array);
revamp_kernel_info kernel_info(revamp_kernel kernel);
/* The region of `count` levels of a texture, beginning with `level`. If `count` is 0, it ends with the last level. */
revamp_texture_region levels_of(revamp_texture texture, uint32_t level, uint32_t count);
revamp_accelerator_view_info view_info(revamp_accelerator_view view);
/* All accelerators, usable or not. */
revamp_accelerator *all_accelerators(size_t *count);
revamp_accelerator find(const char *path);
revamp_accelerator_view default_view(revamp_accelerator accelerator);
revamp_accelerator_view cpu_view(void);
revamp_accelerator_view host_view(void);
revamp_accelerator_view new_view(revamp_accelerator accelerator, revamp_queuing_mode mode);

/* Settings of this run, from environment variables. */
bool is_setting(const char *variable, const char *value);
bool has_validation(void);
bool has_separate_memory(void);

/* A SPIR-V module of the test program. */
typedef struct {
    const uint32_t *words;
    size_t size;
} module;
extern const module saxpy_module, sets_module, step_module, fill_module, coverage_module, coverage_2d_module,
    coverage_3d_module, factor_module, address_module, pointer_module, pair_module, ends_module, doubles_module,
    image_module, wide_module, empty_module, two_entries_module, sizes_module, view_module, overlap_module,
    sample_module, halve_module, images_module, codes_module, limits_module, nested_module, bytes_module;
extern const module box_module;

revamp_kernel load(revamp_accelerator accelerator, const module *spirv);
revamp_status try_load(revamp_accelerator accelerator, const void *spirv, size_t size, const char *entry_point,
                       revamp_kernel *kernel);
/* Copies a module and declares one more capability in the copy. */
uint32_t *with_capability(const module *spirv, uint32_t capability, size_t *size);

/* Arrays. */
revamp_array array_1d(revamp_accelerator_view view, int32_t count, size_t element_size);
revamp_array array_of(revamp_accelerator_view view, uint32_t rank, const int32_t *extent, size_t element_size);
revamp_array staging_array(revamp_accelerator_view view, revamp_accelerator_view associated, uint32_t rank,
                           const int32_t *extent, size_t element_size);
revamp_array shared_array(revamp_accelerator_view view, int32_t count, size_t element_size, revamp_access access);
/* A one-dimensional array of 4-byte numbers with these contents. */
revamp_array array_with(revamp_accelerator_view view, const void *contents, int32_t count);
void write_array(revamp_array array, const void *contents);
/* The contents, in memory from memory(). */
void *read_array(revamp_array array);
void *data_of(revamp_array array, revamp_access access);
size_t size_of(revamp_array array);
/* All of a new one-dimensional texture of 32-bit unsigned numbers. `associated`: the view for which it is a staging
 * texture, or NULL. */
revamp_texture_region texture_1d(revamp_accelerator_view view, revamp_accelerator_view associated, int32_t count);

/* Regions and launches. */
revamp_region whole(revamp_array array);
revamp_region section(revamp_array array, const int32_t *origin, const int32_t *extent);
revamp_region host_region(void *host, uint32_t rank, const int32_t *extent, size_t element_size);
revamp_status launch(revamp_accelerator_view view, revamp_kernel kernel, uint32_t rank, const int32_t *extent,
                     const revamp_argument *arguments, size_t count);
revamp_status launch_groups(revamp_accelerator_view view, revamp_kernel kernel, uint32_t x, uint32_t y, uint32_t z,
                            const revamp_argument *arguments, size_t count);
revamp_argument with_access(revamp_argument argument, revamp_access access);
revamp_argument in_set(revamp_argument argument, uint32_t set);

/* Launches the kernel of many tests, which replaces each number n of the array with 3 n + 1. */
revamp_status launch_step(revamp_accelerator_view view, revamp_kernel step, revamp_array array);
void step_naive(uint32_t *numbers, size_t count, unsigned times);

/* Numbers. */
uint32_t random_number(uint32_t *state);
uint32_t *numbers(size_t count, uint32_t seed);
void fill_bytes(void *bytes, size_t size, uint32_t seed);
/* Converts a row-major position to an index. */
void unfold(uint64_t position, uint32_t rank, const int32_t *extent, int32_t *index);
uint64_t product(uint32_t rank, const int32_t *extent);

/* Waits for a completion, expects success, and releases it. */
void expect_done(revamp_completion completion);

/* A small copy that must succeed: it shows that the library still works after an error. */
void small_job(void);
/* Makes the copy of small_job() on every usable accelerator, and runs a kernel on each Vulkan device. */
void full_job(void);

/* A gate: threads wait in pass_gate() until open_gate() is called. */
typedef struct gate gate;
gate *new_gate(void);
void open_gate(gate *g);
void pass_gate(gate *g);
/* Queues a host kernel on `view` that waits for the gate. */
void block_view(revamp_accelerator_view view, gate *g);

#endif
