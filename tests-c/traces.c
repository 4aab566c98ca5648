/* Traces, labels, and checks that nothing moves. scripts/test-trace looks at what a trace says. */
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1024, BYTES = NUMBERS * 4 };

/* The contents of a file and their size. */
static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char *read = calloc(1, 1 << 20);
    REQUIRE(read);
    *size = fread(read, 1, 1 << 20, file);
    fclose(file);
    return read;
}

static bool has_text(const char *bytes, size_t size, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; i++)
        if (!memcmp(bytes + i, text, length)) return true;
    return false;
}

/* A launch that takes a view there, and an access that brings it back. */
static void step_there_and_read(const place *p, revamp_kernel step, revamp_array_view view) {
    const void *data = NULL;
    revamp_argument argument = revamp_argument_view(0, view);
    int32_t extent = NUMBERS;
    REQUIRE_OK(launch(p->view, step, 1, &extent, &argument, 1));
    REQUIRE_OK(revamp_array_view_data(view, REVAMP_ACCESS_READ, (void **)&data));
}

TEST(a_trace_has_launches_transfers_and_labels) {
    const char *path = "revamp_test.pftrace";
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
        char *trace = contents(path, &size);
        CHECK(has_text(trace, size, "launch"));
        CHECK(has_text(trace, size, "label of a view"));
        CHECK(has_text(trace, size, "revamp_array_view_data"));
        revamp_transfer_counters moved = source_transfers(view);
        bool is_moved = moved.implicit_to_count > m.begin.implicit_to_count;
        CHECK(has_text(trace, size, "upload") == is_moved);
        free(trace);
        remove(path);
        drop(view);
        CHECK_OK(revamp_kernel_release(step));
    }
}

TEST(what_is_not_recorded_costs_no_file) {
    CHECK_FAILS(revamp_trace_begin("no such folder/trace"), REVAMP_ERROR_RUNTIME, "no such folder/trace");
    CHECK_STATUS(revamp_trace_begin(NULL), REVAMP_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(revamp_trace_end(), REVAMP_ERROR_RUNTIME);
}

TEST(labels_are_for_views_arrays_and_queues) {
    uint32_t all[4] = {0};
    revamp_array_view view = view_of(all, 4), section = NULL;
    revamp_array array = array_1d(cpu_view(), 4, 4);
    CHECK_OK(revamp_set_label(array, "an array"));
    CHECK_OK(revamp_set_label(host_view(), "a queue"));
    CHECK_OK(revamp_set_label(view, "prices"));
    CHECK_STATUS(revamp_set_label(view, NULL), REVAMP_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(revamp_set_label(NULL, "nothing"), REVAMP_ERROR_INVALID_HANDLE);
    CHECK_STATUS(revamp_set_label(find("cpu"), "an accelerator"), REVAMP_ERROR_INVALID_HANDLE);
    /* Messages have the label, those about sections too. */
    int32_t far = 9;
    CHECK_FAILS(revamp_array_view_section(view, &far, NULL, &section), REVAMP_ERROR_RUNTIME, "prices");
    int32_t one = 1;
    REQUIRE_OK(revamp_array_view_section(view, &one, NULL, &section));
    revamp_array_view none = NULL;
    CHECK_FAILS(revamp_array_view_section(section, &far, NULL, &none), REVAMP_ERROR_RUNTIME, "prices");
    drop(section);
    drop(view);
    CHECK_OK(revamp_array_destroy(array));
}

TEST(transfers_are_listed_where_none_was_expected) {
    FOR_EACH_PLACE(p, runs_spirv) {
        uint32_t *all = numbers(NUMBERS, 1);
        revamp_array_view view = view_of(all, NUMBERS);
        revamp_kernel step = load(p->accelerator, &step_module);
        uint64_t first = 0;
        REQUIRE_OK(revamp_transfer_log_next(&first));
        CHECK_OK(revamp_check_no_transfers(first));
        step_there_and_read(p, step, view);
        if (source_transfers(view).implicit_to_count) {
            CHECK_FAILS(revamp_check_no_transfers(first), REVAMP_ERROR_RUNTIME, "4096 bytes from host to");
            CHECK(strstr(revamp_last_error_message(), "implicit, by revamp_dispatch"));
            CHECK(strstr(revamp_last_error_message(), "implicit, by revamp_array_view_data"));
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
