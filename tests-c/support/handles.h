/* Calls every function that takes a handle with one bad handle and otherwise valid arguments. The bad handles are null,
 * freed, foreign, and of another type. */
#ifndef HANDLES_H
#define HANDLES_H

#include "views.h"

typedef enum { ACCELERATOR, VIEW, ARRAY, ARRAY_VIEW, KERNEL, COMPLETION, TEXTURE, USER, TYPES } handle_type;
extern const char *const type_names[TYPES];

typedef struct {
    const char *name;
    handle_type type;
    enum { BAD_HANDLE, OTHER_ERROR, NO_ERROR } null_is;
    bool needs_kernel; /* a launch looks at its kernel first; without Vulkan there is none */
    revamp_status (*call)(void *handle);
} handle_case;

typedef struct {
    const handle_case *cases;
    size_t count;
} handle_table;
/* Functions that take array_views, and all others. */
extern const handle_table view_functions, other_functions;

/* Good handles to put beside the bad one. They live as long as the test. */
enum { GOOD_COUNT = 256, GOOD_BYTES = GOOD_COUNT * 4 };
extern uint32_t good_data[GOOD_COUNT];
extern struct good_handles {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array array;
    revamp_array_view over; /* good_data, of the same shape as the array */
    revamp_completion completion;
    revamp_texture texture;
    revamp_user user;
    revamp_kernel kernel; /* where there is Vulkan */
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
/* The error says that the handle is bad, and which type is expected. */
void check_bad(const handle_case *c, void *handle, const char *says);

/* All functions of a table, given one kind of wrong handle. The process goes on. */
void check_null_handles(const handle_table *table);
void check_foreign_handles(const handle_table *table);
void check_handles_of_another_type(const handle_table *table);
void check_freed_handles(const handle_table *table);
/* A handle near a good one: its generation or slot changed. */
void check_neighbours(const handle_table *table);

#endif
