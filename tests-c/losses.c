/* Launches that were accepted and then lost: whoever wants what they were to write is told, until it is written anew.
 * Each case runs in children in which REVAMP_TEST lets the Nth submission fail, or lose the device, for each N. */
#include "engines.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024, BYTES = N * 4, ROUNDS = 6 };

static bool is_loss(revamp_status status) {
    return status == REVAMP_ERROR_OUT_OF_MEMORY || status == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED;
}

static bool loses_device(void) {
    return strstr(getenv("REVAMP_TEST"), "lose-device") != NULL;
}

/* Data with what they must be: what the host wrote and each accepted launch made of it. */
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
    capture none = {0}, it = {m->view, NULL, 0};
    revamp_status status = try_use(p, OPERATION_STEP, it, none, 0);
    if (status == REVAMP_OK) step_naive(m->expected, N, 1);
    return status;
}

/* Right, or the access says that it is not: then it says so again, and why. An access whose own transfer failed may be
 * repeated. */
static bool right_or_told(model *m) {
    revamp_status status = revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ);
    const char *why = revamp_last_error_message();
    if (status == REVAMP_ERROR_OUT_OF_MEMORY && (!strstr(why, "lost") || strstr(why, "can be repeated")))
        status = revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ);
    if (status == REVAMP_OK) return CHECK_SAME(m->data, m->expected, BYTES);
    CHECK_FAILS(status, AS_MEMORY | AS_REMOVED, "lost");
    void *data = NULL;
    CHECK(is_loss(revamp_array_view_data(m->view, REVAMP_ACCESS_READ, &data)));
    CHECK(is_loss(revamp_array_view_synchronize(m->view, REVAMP_ACCESS_READ)));
    if (!loses_device()) CHECK_TEXT(revamp_last_error_message(), "a launch of kernel");
    return false;
}

/* The same whether the launch says so at once, the data, or both. */
CHILD(launches_on_two_views) {
    const place *p = some_place(runs_spirv);
    static model a, b;
    int failed = 0;
    begin(&a, 1);
    begin(&b, 2);
    for (int i = 0; i < ROUNDS; i++) {
        failed += step(p, &a) != REVAMP_OK;
        failed += step(p, &b) != REVAMP_OK;
    }
    bool a_is_right = right_or_told(&a), b_is_right = right_or_told(&b);
    /* Who was told of nothing else has lost nothing. */
    if (!loses_device() && failed > 1) CHECK(!a_is_right || !b_is_right);
    /* Lost data stay lost for launches, also such as only promise to write. */
    const place *other = loses_device() ? some_place(runs_host_kernels) : p;
    model *all[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        bool is_right = i == 0 ? a_is_right : b_is_right;
        capture none = {0}, it = {all[i]->view, NULL, 0}, whole = {all[i]->view, NULL, REVAMP_ACCESS_WRITE};
        if (!is_right) {
            CHECK(is_loss(try_use(other, OPERATION_STEP, it, none, 0)));
            CHECK(is_loss(try_use(other, OPERATION_FILL, whole, none, 7)));
        }
        /* Then they are written anew, in three ways, and all is as ever. */
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
        bool is_new = right_or_told(all[i]);
        CHECK_OK(revamp_array_view_discard_data(all[i]->view));
        if (try_use(other, OPERATION_FILL, whole, none, 7)) CHECK_OK(try_use(other, OPERATION_FILL, whole, none, 7));
        fill_naive(all[i]->expected, N, 7);
        /* The one failure there is may have come late. */
        if (!right_or_told(all[i])) CHECK(a_is_right && b_is_right && is_new);
        drop(all[i]->view);
    }
}

static void with_each(const char *child, const char *what) {
    static const char *memories[] = {"REVAMP_MEMORY=auto", "REVAMP_MEMORY=separate"};
    some_place(runs_spirv);
    for (int m = 0; m < 2; m++) {
        for (int n = 1; n <= 8; n++) {
            char setting[64];
            snprintf(setting, sizeof setting, "REVAMP_TEST=%s=%d", what, n);
            child_result r = run_child(child, setting, memories[m], NULL);
            if (!check_child(&r, __FILE__, __LINE__)) printf("%s %s\n", setting, memories[m]);
        }
    }
}

TEST(DST_8_lost_launches_are_told_by_their_data) {
    with_each("launches_on_two_views", "fail-submit");
}

/* Whichever submission is lost, also the one in which an image came into its layout: written anew, it is right. */
CHILD(images_on_a_busy_view) {
    enum { SIZE = 16, TEXELS = SIZE * SIZE };
    static const int32_t extent[] = {SIZE, SIZE};
    const place *p = some_place(runs_spirv);
    static model other;
    begin(&other, 1);
    uint32_t sent[TEXELS], got[TEXELS];
    fill_bytes(sent, sizeof sent, 4);
    for (int i = 0; i < ROUNDS; i++)
        (void)step(p, &other);
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = 2;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1;
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    revamp_texture texture = NULL;
    while (revamp_texture_create(p->view, &options, &texture))
        CHECK_TEXT(revamp_last_error_message(), "memory");
    revamp_texture_region all = levels_of(texture, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        (void)step(p, &other);
        WHATEVER(revamp_copy_to_texture(sent, sizeof sent, &all));
    }
    WHATEVER(revamp_copy_from_texture(&all, got, sizeof got));
    if (revamp_copy_to_texture(sent, sizeof sent, &all)) CHECK_OK(revamp_copy_to_texture(sent, sizeof sent, &all));
    if (revamp_copy_from_texture(&all, got, sizeof got)) {
        CHECK_OK(revamp_copy_to_texture(sent, sizeof sent, &all));
        CHECK_OK(revamp_copy_from_texture(&all, got, sizeof got));
    }
    CHECK_SAME(got, sent, sizeof got);
    CHECK_OK(revamp_texture_release(texture));
    (void)right_or_told(&other);
    drop(other.view);
}

TEST(DST_8_images_keep_their_layout) {
    with_each("images_on_a_busy_view", "fail-submit");
}

TEST(DST_8_data_of_a_lost_device_say_so) {
    with_each("launches_on_two_views", "lose-device");
}
