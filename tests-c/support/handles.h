/* Helpers of the tests of bad handles. These tests call every library function that takes a handle. One handle is bad
 * (null, freed, foreign, or of another type); the other arguments are valid. */
#ifndef HANDLES_H
#define HANDLES_H

#include "views.h"

typedef enum { ACCELERATOR, VIEW, ARRAY, ARRAY_VIEW, KERNEL, COMPLETION, TEXTURE, USER, TYPES } handle_type;
extern const char *const type_names[TYPES];

typedef struct {
    const char *name;
    handle_type type;
    enum { BAD_HANDLE, OTHER_ERROR, NO_ERROR } null_result; /* what the call returns for a null handle */
    bool needs_kernel; /* the call first checks its kernel argument; only Vulkan devices have kernels */
    revamp_status (*call)(void *handle);
} handle_case;

typedef struct {
    const handle_case *cases;
    size_t count;
} handle_table;
/* view_functions: the functions for array_views. other_functions: all other functions that take handles. */
extern const handle_table view_functions, other_functions;

/* Good handles for the other arguments, valid from make_good() to free_good(). */
enum { GOOD_COUNT = 256, GOOD_BYTES = GOOD_COUNT * 4 };
extern uint32_t good_data[GOOD_COUNT];
extern struct good_handles {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array array;
    revamp_array_view over; /* a view of good_data, of the same shape as the array */
    revamp_completion completion;
    revamp_texture texture;
    revamp_user user;
    revamp_kernel kernel; /* NULL without Vulkan */
} good;
void make_good(void);
void free_good(void);
void *handle_of_type(handle_type type);
/* A host kernel that does nothing. */
void ignore_id(const revamp_thread_id *id, void *context);

/* True if the function can be called on this machine. */
bool is_possible(const handle_case *c);
#define FOR_EACH_CASE(c, table)                                                                                        \
    for (const handle_case *c = (table)->cases; c < (table)->cases + (table)->count; c++)                              \
        if (is_possible(c))
/* Checks that the call fails with a bad-handle error whose message contains the given text and the expected type. */
void check_bad(const handle_case *c, void *handle, const char *expected_text);

/* Call all functions of a table with one kind of bad handle. The library must still work afterwards. */
void check_null_handles(const handle_table *table);
void check_foreign_handles(const handle_table *table);
void check_handles_of_another_type(const handle_table *table);
void check_freed_handles(const handle_table *table);
/* The bad handles are good handles with a changed generation or slot. */
void check_altered_handles(const handle_table *table);

#endif
