/* Tests of launches that were accepted and then lost. Every use of the data that a lost launch should have written
 * fails, until the data is written again. Each case runs in child processes: in child N, REVAMP_TEST makes submission N
 * fail or lose the device. */
#include "engines.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024, BYTES = N * 4, ROUNDS = 6 };

static bool is_loss(revamp_status status) {
    return status == REVAMP_ERROR_OUT_OF_MEMORY || status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED;
}

/* A child prints this text if the forced failure reached the program. */
static const char failure_mark[] = "the forced failure reached the program";

static bool loses_device(void) {
    return strstr(getenv("REVAMP_TEST"), "lose-device") != NULL;
}

/* Data, and its expected contents after the host's writes and all accepted launches. */
typedef struct {
    uint32_t data[N], expected[N];
    revamp_array_view view;
} model;

static void begin(model *m, uint32_t seed) {
    fill_bytes(m->data, BYTES, seed);
    memcpy(m->expected, m->data, BYTES);
    m->view = view_of(m->data, N);
}

static revamp_status step(const place *p, model *m) {
    capture none = {0}, target = {m->view, NULL, 0};
    revamp_status status = try_use(p, OPERATION_STEP, target, none, 0);
    if (status == REVAMP_OK) step_naive(m->expected, N, 1);
    return status;
}

/* Returns true if the data is right. Otherwise every access must fail and name the cause. An access whose own transfer
 * failed may be repeated. */
static bool is_right_or_reported(model *m) {
    revamp_status status = revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ);
    const char *message = revamp_last_error_message();
    if (status == REVAMP_ERROR_OUT_OF_MEMORY && (!strstr(message, "lost") || strstr(message, "can be repeated")))
        status = revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ);
    if (status == REVAMP_OK) return CHECK_SAME(m->data, m->expected, BYTES);
    CHECK_FAILS(status, AS_MEMORY | AS_REMOVED, "lost");
    void *data = NULL;
    CHECK(is_loss(revamp_array_view_data(m->view, REVAMP_ACCESS_READ, &data)));
    CHECK(is_loss(revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ)));
    if (!loses_device()) CHECK_TEXT(revamp_last_error_message(), "a launch of kernel");
    return false;
}

/* The launch, the access to its data, or both report the loss. */
CHILD(launches_on_two_views) {
    const place *p = first_place_or_skip(runs_spirv);
    static model a, b;
    int failed = 0;
    begin(&a, 1);
    begin(&b, 2);
    for (int i = 0; i < ROUNDS; i++) {
        failed += step(p, &a) != REVAMP_OK;
        failed += step(p, &b) != REVAMP_OK;
    }
    bool a_is_right = is_right_or_reported(&a), b_is_right = is_right_or_reported(&b);
    if (failed > 0 || !a_is_right || !b_is_right) puts(failure_mark);
    /* Only one submission fails, so a second launch can fail only because data was lost. */
    if (!loses_device() && failed > 1) CHECK(!a_is_right || !b_is_right);
    /* Launches on lost data fail, even if they promise to write all of it. */
    const place *other = loses_device() ? first_place_or_skip(runs_host_kernels) : p;
    model *all[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        bool is_right = i == 0 ? a_is_right : b_is_right;
        capture none = {0}, target = {all[i]->view, NULL, 0}, whole = {all[i]->view, NULL, REVAMP_ACCESS_WRITE};
        if (!is_right) {
            CHECK(is_loss(try_use(other, OPERATION_STEP, target, none, 0)));
            CHECK(is_loss(try_use(other, OPERATION_FILL, whole, none, 7)));
        }
        /* After the data is written again (by host access, a copy or a kernel), everything works as before. */
        uint32_t *fresh = numbers(N, 9);
        memcpy(all[i]->expected, fresh, BYTES);
        if (i == 0) {
            void *host = NULL;
            CHECK_OK(revamp_array_view_data(all[i]->view, REVAMP_ACCESS_WRITE, &host));
            memcpy(host, fresh, BYTES);
        } else {
            const int32_t extent = N;
            revamp_region from = host_region(fresh, 1, &extent, 4), to = region_of(all[i]->view);
            CHECK_OK(revamp_copy(&from, &to));
        }
        if (step(other, all[i])) CHECK_OK(step(other, all[i]));
        bool is_rewritten_right = is_right_or_reported(all[i]);
        CHECK_OK(revamp_array_view_discard_data(all[i]->view));
        if (try_use(other, OPERATION_FILL, whole, none, 7)) CHECK_OK(try_use(other, OPERATION_FILL, whole, none, 7));
        fill_naive(all[i]->expected, N, 7);
        /* The forced failure may happen as late as here. */
        if (!is_right_or_reported(all[i])) CHECK(a_is_right && b_is_right && is_rewritten_right);
        drop(all[i]->view);
    }
}

/* Runs the child once for each N from 1 to 8, in both memory modes. In each mode, at least one failure must reach the
 * program. */
static void run_with_each_number(const char *child, const char *failure) {
    static const char *memories[] = {"REVAMP_MEMORY=auto", "REVAMP_MEMORY=separate"};
    first_place_or_skip(runs_spirv);
    for (int m = 0; m < 2; m++) {
        int reached = 0;
        for (int n = 1; n <= 8; n++) {
            char setting[64];
            snprintf(setting, sizeof setting, "REVAMP_TEST=%s=%d", failure, n);
            child_result r = run_child(child, setting, memories[m], NULL);
            if (!check_child(&r, __FILE__, __LINE__)) printf("%s %s\n", setting, memories[m]);
            reached += strstr(r.output, failure_mark) != NULL;
        }
        CHECK(reached > 0);
    }
}

TEST(DST_8_use_of_lost_data_is_an_error) {
    run_with_each_number("launches_on_two_views", "fail-submit");
}

/* Any submission may be lost, including the first layout transition of an image. A rewritten image must be right. */
CHILD(images_on_a_busy_view) {
    enum { SIZE = 16, TEXELS = SIZE * SIZE };
    static const int32_t extent[] = {SIZE, SIZE};
    const place *p = first_place_or_skip(runs_spirv);
    static model other;
    begin(&other, 1);
    uint32_t sent[TEXELS], got[TEXELS];
    int failed = 0;
    fill_bytes(sent, sizeof sent, 4);
    for (int i = 0; i < ROUNDS; i++)
        failed += step(p, &other) != REVAMP_OK;
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = 2;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1;
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    revamp_texture texture = NULL;
    for (; revamp_texture_create(p->view, &options, &texture); failed++)
        CHECK_TEXT(revamp_last_error_message(), "memory");
    revamp_texture_region all = levels_of(texture, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        failed += step(p, &other) != REVAMP_OK;
        failed += revamp_copy_to_texture(sent, sizeof sent, &all) != REVAMP_OK;
    }
    failed += revamp_copy_from_texture(&all, got, sizeof got) != REVAMP_OK;
    if (failed > 0) puts(failure_mark);
    if (revamp_copy_to_texture(sent, sizeof sent, &all)) CHECK_OK(revamp_copy_to_texture(sent, sizeof sent, &all));
    if (revamp_copy_from_texture(&all, got, sizeof got)) {
        CHECK_OK(revamp_copy_to_texture(sent, sizeof sent, &all));
        CHECK_OK(revamp_copy_from_texture(&all, got, sizeof got));
    }
    CHECK_SAME(got, sent, sizeof got);
    CHECK_OK(revamp_texture_release(texture));
    (void)is_right_or_reported(&other);
    drop(other.view);
}

TEST(DST_8_images_keep_their_layout) {
    run_with_each_number("images_on_a_busy_view", "fail-submit");
}

TEST(DST_8_data_of_a_lost_device_say_so) {
    run_with_each_number("launches_on_two_views", "lose-device");
}
