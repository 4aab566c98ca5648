/* Tests of traces, labels, and revamp_check_no_transfers(). scripts/test-trace checks the contents of traces. */
#include "system.h"
#include "views.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1024, BYTES = NUMBERS * 4 };

/* Returns the contents of a file, and stores their size in `*size`. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char *contents = calloc(1, 1 << 20);
    REQUIRE(contents);
    *size = fread(contents, 1, 1 << 20, file);
    fclose(file);
    return contents;
}

static bool has_text(const char *bytes, size_t size, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; i++)
        if (!memcmp(bytes + i, text, length)) return true;
    return false;
}

/* Launches a kernel that needs the data of `view` on `p`, then reads the data on the host. */
static void step_there_and_read(const place *p, revamp_kernel step, revamp_array_view view) {
    const void *data = NULL;
    revamp_argument argument = revamp_argument_view(0, view);
    int32_t extent = NUMBERS;
    REQUIRE_OK(launch(p->view, step, 1, &extent, &argument, 1));
    REQUIRE_OK(revamp_array_view_data(view, REVAMP_ACCESS_READ, (void **)&data));
}

TEST(a_trace_has_launches_transfers_and_labels) {
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/trace", folder);
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *all = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(all, NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        meter m = meter_of(view);
        REQUIRE_OK(revamp_set_label(view, "label of a view"));
        REQUIRE_OK(revamp_trace_begin(path));
        CHECK_STATUS(revamp_trace_begin(path), REVAMP_ERROR_RUNTIME);
        step_there_and_read(p, step, view);
        REQUIRE_OK(revamp_trace_end());
        CHECK_STATUS(revamp_trace_end(), REVAMP_ERROR_RUNTIME);
        size_t size = 0;
        char *trace = read_file(path, &size);
        CHECK(has_text(trace, size, "launch"));
        CHECK(has_text(trace, size, "label of a view"));
        CHECK(has_text(trace, size, "revamp_array_view_data"));
        revamp_transfer_counters moved = source_transfers(view);
        bool is_moved = moved.implicit_to_count > m.begin.implicit_to_count;
        CHECK(has_text(trace, size, "upload") == is_moved);
        free(trace);
        drop(view);
        CHECK_OK(revamp_kernel_release(step));
    }
    remove_folder(folder);
}

/* True if the trace in `path` has this text. */
static bool trace_has(const char *path, const char *text) {
    size_t size = 0;
    char *trace = read_file(path, &size);
    bool found = has_text(trace, size, text);
    free(trace);
    return found;
}

TEST(a_trace_has_accesses_to_arrays_that_transfer) {
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/trace", folder);
    FOR_EACH_PLACE(p, runs_spirv) {
        void *data = NULL;
        revamp_array array = array_with(cpu_view(), numbers(NUMBERS, 1), NUMBERS);
        revamp_array_view view = view_of_array(array);
        step_on(p, view);
        REQUIRE_OK(revamp_trace_begin(path));
        REQUIRE_OK(revamp_array_data(array, REVAMP_ACCESS_READ, &data));
        REQUIRE_OK(revamp_trace_end());
        CHECK(trace_has(path, "revamp_array_data") || !has_separate_memory());
        CHECK(trace_has(path, "COH-12") || !has_separate_memory());
        /* Now the access need not transfer or wait. */
        REQUIRE_OK(revamp_trace_begin(path));
        REQUIRE_OK(revamp_array_data(array, REVAMP_ACCESS_READ, &data));
        REQUIRE_OK(revamp_trace_end());
        CHECK(!trace_has(path, "revamp_array_data"));
        drop(view);
        CHECK_OK(revamp_array_destroy(array));
    }
    remove_folder(folder);
}

static void *set_soon(void *trigger) {
    pause_milliseconds(20);
    CHECK_OK(revamp_completion_set(trigger, REVAMP_OK, NULL));
    return NULL;
}

/* Traces an access to a staging texture that waits for a copy, unless this thread is late. True if the access waited.
 */
static bool access_waits(const char *path, revamp_texture_region *from, revamp_texture_region *to) {
    void *data = NULL;
    revamp_completion trigger = NULL, copied = NULL;
    REQUIRE_OK(revamp_completion_create(&trigger));
    revamp_async_options options = REVAMP_ASYNC_OPTIONS_INIT;
    options.after = &trigger;
    options.after_count = 1;
    REQUIRE_OK(revamp_copy_texture_async(from, to, &options, &copied));
    pthread_t thread;
    REQUIRE(!pthread_create(&thread, NULL, set_soon, trigger));
    REQUIRE_OK(revamp_trace_begin(path));
    REQUIRE_OK(revamp_texture_data(to->texture, REVAMP_ACCESS_READ, &data));
    REQUIRE_OK(revamp_trace_end());
    pthread_join(thread, NULL);
    CHECK_OK(revamp_completion_get(copied));
    CHECK_OK(revamp_completion_release(copied));
    CHECK_OK(revamp_completion_release(trigger));
    return trace_has(path, "revamp_texture_data");
}

TEST(a_trace_has_accesses_to_textures_that_wait) {
    enum { TRIES = 100 };
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/trace", folder);
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_texture_region from = texture_1d(p->view, NULL, NUMBERS), to = texture_1d(cpu_view(), p->view, NUMBERS);
        int tries = 0;
        while (tries < TRIES && !access_waits(path, &from, &to))
            tries++;
        CHECK(tries < TRIES);
        CHECK_OK(revamp_texture_release(from.texture));
        CHECK_OK(revamp_texture_release(to.texture));
    }
    remove_folder(folder);
}

TEST(invalid_trace_calls_fail) {
    CHECK_FAILS(revamp_trace_begin("no such folder/trace"), AS_RUNTIME, "no such folder/trace");
    CHECK_STATUS(revamp_trace_begin(NULL), REVAMP_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(revamp_trace_end(), REVAMP_ERROR_RUNTIME);
}

TEST(views_arrays_and_queues_have_labels) {
    uint32_t all[4] = {0};
    revamp_array_view view = view_of(all, 4), section = NULL;
    revamp_array array = array_1d(cpu_view(), 4, 4);
    CHECK_OK(revamp_set_label(array, "an array"));
    CHECK_OK(revamp_set_label(host_view(), "a queue"));
    CHECK_OK(revamp_set_label(view, "prices"));
    CHECK_STATUS(revamp_set_label(view, NULL), REVAMP_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(revamp_set_label(NULL, "nothing"), REVAMP_ERROR_INVALID_HANDLE);
    CHECK_STATUS(revamp_set_label(find("cpu"), "an accelerator"), REVAMP_ERROR_INVALID_HANDLE);
    /* Error messages contain the label, including those about sections. */
    int32_t out_of_range = 9;
    CHECK_FAILS(revamp_array_view_section(view, &out_of_range, NULL, &section), AS_RUNTIME, "prices");
    int32_t one = 1;
    REQUIRE_OK(revamp_array_view_section(view, &one, NULL, &section));
    revamp_array_view none = NULL;
    CHECK_FAILS(revamp_array_view_section(section, &out_of_range, NULL, &none), AS_RUNTIME, "prices");
    drop(section);
    drop(view);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(check_no_transfers_lists_the_transfers) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *all = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(all, NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        uint64_t first = 0;
        REQUIRE_OK(revamp_transfer_log_next(&first));
        CHECK_OK(revamp_check_no_transfers(first));
        step_there_and_read(p, step, view);
        if (source_transfers(view).implicit_to_count) {
            CHECK_FAILS(revamp_check_no_transfers(first), AS_RUNTIME, "4096 bytes from host to");
            CHECK(strstr(revamp_last_error_message(), "implicit (AV-2), by revamp_dispatch"));
            CHECK(strstr(revamp_last_error_message(), "implicit (AV-4), by revamp_array_view_data"));
        } else {
            CHECK_OK(revamp_check_no_transfers(first));
        }
        REQUIRE_OK(revamp_transfer_log_next(&first));
        CHECK_OK(revamp_check_no_transfers(first));
        drop(view);
        CHECK_OK(revamp_kernel_release(step));
    }
    CHECK_STATUS(revamp_transfer_log_next(NULL), REVAMP_ERROR_INVALID_ARGUMENT);
}

TEST(transfers_that_have_left_the_log_are_noticed) {
    enum { LOGGED = 4096 };
    revamp_array from = array_1d(cpu_view(), 4, 4), to = array_1d(cpu_view(), 4, 4);
    revamp_region a = whole(from), b = whole(to);
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *all = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(all, NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        uint64_t first = 0, after = 0;
        REQUIRE_OK(revamp_transfer_log_next(&first));
        step_there_and_read(p, step, view);
        REQUIRE_OK(revamp_transfer_log_next(&after));
        /* Copies within one memory displace the other transfers from the log. */
        for (int i = 0; i < LOGGED; i++)
            REQUIRE_OK(revamp_copy(&a, &b));
        if (source_transfers(view).implicit_to_count) {
            CHECK_FAILS(revamp_check_no_transfers(first), AS_RUNTIME,
                        "at least 1 transfers happened, but none was expected");
            CHECK_TEXT(revamp_last_error_message(), "no longer in the log of the latest 4096");
        } else {
            CHECK_OK(revamp_check_no_transfers(first));
        }
        CHECK_OK(revamp_check_no_transfers(after));
        drop(view);
        CHECK_OK(revamp_kernel_release(step));
    }
    CHECK_OK(revamp_array_destroy(from));
    CHECK_OK(revamp_array_destroy(to));
}

/* Checks that `rule` caused the only transfer since `*first`. In shared memory, there may be no transfer. */
static void check_moved_by_rule(const char *rule, uint64_t *first) {
    if (revamp_check_no_transfers(*first)) {
        CHECK_TEXT(revamp_last_error_message(), "1 transfers");
        CHECK_TEXT(revamp_last_error_message(), rule);
    } else {
        CHECK(!has_separate_memory());
    }
    REQUIRE_OK(revamp_transfer_log_next(first));
}

TEST(transfers_name_the_rule_that_caused_them) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *all = numbers(NUMBERS, 1);
        const int32_t extent = NUMBERS;
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array device_array = array_with(p->view, all, NUMBERS);
        revamp_array staging = staging_array(cpu_view(), p->view, 1, &extent, 4);
        uint64_t first = 0;
        REQUIRE_OK(revamp_transfer_log_next(&first));
        revamp_array_view view = view_of(all, NUMBERS);
        step_on(p, view);
        check_moved_by_rule("implicit (AV-2)", &first);
        host_access(view, REVAMP_ACCESS_READ);
        check_moved_by_rule("implicit (AV-4)", &first);
        step_on(p, view);
        drop(view);
        check_moved_by_rule("implicit (DST-1)", &first);
        view = view_of_array(device_array);
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        check_moved_by_rule("implicit (AV-4)", &first);
        CHECK_OK(launch_step(p->view, step, device_array));
        check_moved_by_rule("implicit (COH-12)", &first);
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        check_moved_by_rule("implicit (AV-4)", &first);
        drop(view);
        check_moved_by_rule("implicit (DST-4)", &first);
        view = view_of_array(staging);
        step_on(p, view);
        check_moved_by_rule("implicit (STG-11)", &first);
        host_access(view, REVAMP_ACCESS_READ);
        check_moved_by_rule("implicit (STG-12)", &first);
        drop(view);
        CHECK_OK(revamp_array_destroy(staging));
        CHECK_OK(revamp_array_destroy(device_array));
        CHECK_OK(revamp_kernel_release(step));
    }
}

/* Launches a kernel on `p` and returns the error of revamp_check_no_transfers(): the list of the launch's transfers. */
static const char *transfers_of_step(const place *p, revamp_array_view view) {
    uint64_t first = 0;
    REQUIRE_OK(revamp_transfer_log_next(&first));
    step_on(p, view);
    return revamp_check_no_transfers(first) ? revamp_last_error_message() : "";
}

TEST(transfers_by_way_of_home_name_COH_19) {
    FOR_EACH_TWO_RUNNERS(p, q) {
        revamp_array_view view = view_of(numbers(NUMBERS, 1), NUMBERS);
        bool is_separate = bytes_if_separate(view, p, 1) && bytes_if_separate(view, q, 1);
        CHECK(!strstr(transfers_of_step(p, view), "COH-19"));
        const char *text = transfers_of_step(q, view);
        if (is_separate) {
            CHECK_TEXT(text, "2 transfers");
            const char *home = strstr(text, "to host: implicit (COH-19), by revamp_");
            REQUIRE(home);
            CHECK_TEXT(home, "from host to");
            CHECK_TEXT(home, "implicit (AV-2), by revamp_");
        } else {
            /* One of the accelerators works in the memory of home. */
            CHECK(!strstr(text, "COH-19"));
        }
        drop(view);
    }
}
