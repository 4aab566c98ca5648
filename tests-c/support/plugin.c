/* A shared library with host kernels and callbacks. process.c closes this library before these functions have run. */
#include <revamp.h>

#include <stddef.h>

/* The program owns this object and shares it with this library. */
typedef struct {
    int open, ran;
} gate;

static void wait_and_run(gate *g) {
    while (!__atomic_load_n(&g->open, __ATOMIC_SEQ_CST)) {
    }
    __atomic_fetch_add(&g->ran, 1, __ATOMIC_SEQ_CST);
}

static void kernel(const revamp_thread_id *id, void *context) {
    (void)id;
    wait_and_run(context);
}

static void row_kernel(const revamp_thread_id *first, uint32_t count, void *context) {
    (void)first, (void)count;
    wait_and_run(context);
}

static void callback(revamp_status status, void *context) {
    (void)status;
    wait_and_run(context);
}

static void log_message(revamp_log_level level, const char *message, void *context) {
    (void)level, (void)message;
    wait_and_run(context);
}

/* Queues or registers a function of this library; the first letter of `what` selects the function. */
revamp_status plugin_begin(const char *what, revamp_accelerator_view view, void *shared);
revamp_status plugin_begin(const char *what, revamp_accelerator_view view, void *shared) {
    const int32_t extent = 1;
    revamp_completion marker = NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.context = shared;
    switch (*what) {
    case 'k':
        info.function = kernel;
        return revamp_parallel_for_each(view, &info);
    case 'r':
        info.row_function = row_kernel;
        return revamp_parallel_for_each(view, &info);
    case 'l':
        return revamp_set_log_callback(log_message, shared, REVAMP_LOG_DEBUG);
    default:
        break;
    }
    revamp_status status = revamp_accelerator_view_create_marker(view, &marker);
    if (status == REVAMP_OK) status = revamp_completion_then(marker, callback, shared);
    return status == REVAMP_OK ? revamp_completion_release(marker) : status;
}
