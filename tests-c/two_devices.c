/* Tests of copies between two Vulkan devices. If the machine has only one device, a copy of the software driver
 * provides the second device, because the loader treats the copy as another driver. */
#include "system.h"
#include "views.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

#define FOR_EACH_TWO_DEVICES(p, q)                                                                                     \
    for (const place *p = first_place_or_skip(runs_spirv); p->view; p++)                                               \
        for (const place *q = places_that(runs_spirv); q->view; q++)                                                   \
            if (p->accelerator != q->accelerator)

/* Launches a kernel before and after each copy, so that the copy must be ordered between them. */
static void there_and_back(const place *p, const place *q, int32_t count) {
    const void *mark = memory_mark();
    uint32_t *expected = numbers((size_t)count, (uint32_t)count);
    revamp_kernel step_here = load(p->accelerator, &step_module), step_there = load(q->accelerator, &step_module);
    revamp_array here = array_with(p->view, expected, count), there = array_1d(q->view, count, 4);
    revamp_region a = whole(here), b = whole(there);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(launch_step(p->view, step_here, here));
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_OK(launch_step(q->view, step_there, there));
        CHECK_OK(revamp_copy(&b, &a));
    }
    step_naive(expected, (size_t)count, 6);
    CHECK_SAME(read_array(here), expected, (size_t)count * 4);
    CHECK_SAME(read_array(there), expected, (size_t)count * 4);
    CHECK_OK(revamp_array_destroy(here));
    CHECK_OK(revamp_array_destroy(there));
    CHECK_OK(revamp_kernel_release(step_here));
    CHECK_OK(revamp_kernel_release(step_there));
    free_memory_since(mark);
}

static void copy_sections(const place *p, const place *q) {
    enum { ROWS = 700, COLUMNS = 1100 };
    const int32_t extent[] = {ROWS, COLUMNS}, part[] = {600, 999}, from[] = {50, 31}, to[] = {99, 100};
    uint32_t *sent = numbers((size_t)ROWS * COLUMNS, 1), *expected = numbers((size_t)ROWS * COLUMNS, 2);
    revamp_array here = array_of(p->view, 2, extent, 4), there = array_of(q->view, 2, extent, 4);
    write_array(here, sent);
    write_array(there, expected);
    revamp_region a = section(here, from, part), b = section(there, to, part);
    CHECK_OK(revamp_copy(&a, &b));
    for (int32_t y = 0; y < part[0]; y++)
        memcpy(expected + (size_t)(to[0] + y) * COLUMNS + to[1], sent + (size_t)(from[0] + y) * COLUMNS + from[1],
               (size_t)part[1] * 4);
    CHECK_SAME(read_array(there), expected, (size_t)ROWS * COLUMNS * 4);
    CHECK_OK(revamp_array_destroy(here));
    CHECK_OK(revamp_array_destroy(there));
}

static void use_view_on_two_devices(const place *p, const place *q) {
    enum { N = 3 * MIB / 4 + 7 };
    uint32_t *data = numbers(N, 1), *expected = numbers(N, 1);
    revamp_array_view view = view_of(data, N), part = range_of(view, 1000, N / 2);
    for (int i = 0; i < 4; i++) {
        uint64_t first = 0;
        step_on(p, view);
        REQUIRE_OK(revamp_transfer_log_next(&first));
        step_on(q, part);
        /* In shared memory, no bytes move. */
        if (revamp_check_no_transfers(first)) {
            CHECK_TEXT(revamp_last_error_message(), "implicit (COH-19)");
            CHECK_TEXT(revamp_last_error_message(), "implicit (AV-2)");
        } else {
            CHECK(!has_separate_memory());
        }
        step_naive(expected, N, 1);
        step_naive(expected + 1000, N / 2, 1);
    }
    drop(part);
    drop(view);
    CHECK_SAME(data, expected, (size_t)N * 4);
}

typedef struct {
    const place *p, *q;
    uint32_t seed;
} pair;

static void *copy_both_ways(void *context) {
    enum { N = MIB, ROUNDS = 6 };
    const pair *w = context;
    uint32_t *sent = memory((size_t)N * 4), *got = memory((size_t)N * 4);
    fill_bytes(sent, (size_t)N * 4, w->seed);
    for (int i = 0; i < ROUNDS; i++) {
        revamp_array here = array_1d(w->p->view, N, 4), there = array_1d(w->q->view, N, 4);
        revamp_region a = whole(here), b = whole(there);
        sent[i] = (uint32_t)i;
        CHECK_OK(revamp_copy_to_array(sent, (size_t)N * 4, here));
        CHECK_OK(revamp_copy(&a, &b));
        CHECK_OK(revamp_copy_from_array(there, got, (size_t)N * 4));
        CHECK_SAME(got, sent, (size_t)N * 4);
        CHECK_OK(revamp_array_destroy(here));
        CHECK_OK(revamp_array_destroy(there));
    }
    return NULL;
}

CHILD(copies_between_two_devices) {
    enum { THREADS = 4 };
    static const int32_t counts[] = {3, 20 * KIB, 64 * KIB, MIB / 4 + 3, 5 * MIB + 1};
    size_t pairs = 0;
    FOR_EACH_TWO_DEVICES(p, q) {
        pairs++;
        for (size_t i = 0; i < COUNT(counts); i++)
            there_and_back(p, q, counts[i]);
        copy_sections(p, q);
        use_view_on_two_devices(p, q);
        pthread_t threads[THREADS];
        pair work[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            work[i] = i % 2 ? (pair){p, q, i} : (pair){q, p, i};
            REQUIRE(!pthread_create(&threads[i], NULL, copy_both_ways, &work[i]));
        }
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    REQUIRE(pairs >= 2);
    /* The staging memory of the copies is released after five idle seconds. */
    pause_milliseconds(5100);
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_memory_usage usage = {0};
        usage.struct_size = sizeof usage;
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK_OK(revamp_accelerator_get_memory_usage(p->accelerator, &usage));
        CHECK_NUMBER(usage.staging, 0);
        CHECK(usage.staging_limit > 0);
    }
    CHECK_OK(revamp_uninitialize());
}

/* A texture, and its expected bytes in the host form. */
typedef struct {
    revamp_texture texture;
    uint8_t *bytes;
    size_t size;
} test_texture;

static test_texture filled_texture(revamp_accelerator_view view, revamp_accelerator_view associated, uint32_t storage,
                                   uint32_t levels, uint32_t seed) {
    static const int32_t extent[] = {11, 45, 67};
    test_texture made = {0};
    revamp_texture_options options = {0};
    options.struct_size = sizeof options;
    options.rank = 3;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_UNORM;
    options.components = 2;
    options.bits = 8;
    options.levels = levels;
    options.storage = storage;
    options.associated_view = associated;
    REQUIRE_OK(revamp_texture_create(view, &options, &made.texture));
    revamp_texture_info info = {0};
    info.struct_size = sizeof info;
    REQUIRE_OK(revamp_texture_get_info(made.texture, &info));
    made.size = (size_t)info.size;
    made.bytes = memory(made.size);
    fill_bytes(made.bytes, made.size, seed);
    revamp_texture_region all = levels_of(made.texture, 0, 0);
    CHECK_OK(revamp_copy_to_texture(made.bytes, made.size, &all));
    return made;
}

static void check_filled(const test_texture *f) {
    uint8_t *got = memory(f->size);
    revamp_texture_region all = levels_of(f->texture, 0, 0);
    CHECK_OK(revamp_copy_from_texture(&all, got, f->size));
    CHECK_SAME(got, f->bytes, f->size);
}

/* Copies a box of level 0 to another position in level 0 of the other texture, asynchronously if `is_async`. */
static void copy_box(const test_texture *from, const test_texture *to, bool is_async) {
    enum { ROWS = 45, COLUMNS = 67, TEXEL = 2 };
    static const int32_t origin[] = {2, 5, 9}, target[] = {1, 13, 4}, part[] = {7, 30, 51};
    revamp_texture_region here = levels_of(from->texture, 0, 0), there = levels_of(to->texture, 0, 0);
    here.origin = origin, here.extent = part, there.origin = target, there.extent = part;
    revamp_completion done = NULL;
    if (is_async) {
        CHECK_OK(revamp_copy_texture_async(&here, &there, NULL, &done));
        expect_done(done);
    } else {
        CHECK_OK(revamp_copy_texture(&here, &there));
    }
    for (int32_t z = 0; z < part[0]; z++)
        for (int32_t y = 0; y < part[1]; y++)
            memcpy(to->bytes + (((target[0] + z) * ROWS + target[1] + y) * COLUMNS + target[2]) * TEXEL,
                   from->bytes + (((origin[0] + z) * ROWS + origin[1] + y) * COLUMNS + origin[2]) * TEXEL,
                   (size_t)part[2] * TEXEL);
}

/* Copies textures and boxes between two devices and their staging textures. `here` and `there` select the storage. */
static void copy_textures_between(const place *p, const place *q, uint32_t here, uint32_t there) {
    const void *mark = memory_mark();
    test_texture a = filled_texture(p->view, NULL, here, 3, 1), b = filled_texture(q->view, NULL, there, 3, 2);
    revamp_texture_region all = levels_of(a.texture, 0, 0), over = levels_of(b.texture, 0, 0);
    CHECK_OK(revamp_copy_texture(&all, &over));
    memcpy(b.bytes, a.bytes, a.size);
    check_filled(&b);
    copy_box(&b, &a, false);
    copy_box(&a, &b, true);
    copy_box(&b, &a, true);
    check_filled(&a);
    check_filled(&b);
    test_texture staging[] = {filled_texture(cpu_view(), p->view, REVAMP_TEXTURE_STORAGE_AUTO, 1, 3),
                              filled_texture(cpu_view(), q->view, REVAMP_TEXTURE_STORAGE_AUTO, 1, 4)};
    /* Copies between each texture and each staging texture, and then between the staging textures. */
    for (int i = 0; i < 4; i++) {
        copy_box(i % 2 ? &a : &b, &staging[i / 2], i % 3 == 0);
        copy_box(&staging[i / 2], i % 2 ? &b : &a, i % 3 == 1);
    }
    copy_box(&staging[0], &staging[1], false);
    const test_texture *every[] = {&a, &b, &staging[0], &staging[1]};
    for (size_t i = 0; i < COUNT(every); i++) {
        check_filled(every[i]);
        CHECK_OK(revamp_texture_release(every[i]->texture));
    }
    free_memory_since(mark);
}

CHILD(textures_of_two_devices) {
    size_t pairs = 0;
    FOR_EACH_TWO_DEVICES(p, q) {
        pairs++;
        for (uint32_t i = 0; i < 4; i++)
            copy_textures_between(p, q, REVAMP_TEXTURE_STORAGE_TEXELS + i % 2, REVAMP_TEXTURE_STORAGE_TEXELS + i / 2);
    }
    REQUIRE(pairs >= 2);
    CHECK_OK(revamp_uninitialize());
}

/* COH-19: if `reader` reads data that `writer` wrote, the data passes through `home`, and is valid there afterwards. */
static void check_copy_through_home(const place *home, const place *writer, const place *reader) {
    enum { COUNT = 1000 };
    const void *mark = memory_mark();
    uint32_t *expected = numbers(COUNT, 1);
    revamp_array array = array_with(home->view, expected, COUNT);
    revamp_array_view view = view_of_array(array);
    step_on(writer, view);
    step_naive(expected, COUNT, 1);
    CHECK_NUMBER(valid_at(view, home), 0);
    CHECK_SAME(read_on(reader, view), expected, COUNT * 4);
    CHECK_NUMBER(valid_at(view, home), COUNT * 4);
    CHECK_NUMBER(valid_at(view, writer), COUNT * 4);
    meter m = meter_of(NULL);
    drop(view);
    CHECK_NOTHING_MOVED(&m);
    CHECK_SAME(read_array(array), expected, COUNT * 4);
    CHECK_OK(revamp_array_destroy(array));
    free_memory_since(mark);
}

CHILD(views_of_three_accelerators) {
    size_t rounds = 0;
    FOR_EACH_RUNNER(home)
    FOR_EACH_RUNNER(writer)
    FOR_EACH_RUNNER(reader) {
        if (home->accelerator == writer->accelerator || home->accelerator == reader->accelerator) continue;
        if (writer->accelerator == reader->accelerator) continue;
        /* Two accelerators that work in host memory share one copy, so nothing would move. */
        if (!runs_spirv(&writer->info) && !runs_spirv(&reader->info)) continue;
        rounds++;
        check_copy_through_home(home, writer, reader);
    }
    REQUIRE(rounds >= 6);
    CHECK_OK(revamp_uninitialize());
}

/* Copies the software driver into `folder`. Sets `drivers` to the environment variable that makes the loader find both
 * drivers. Returns the reason if this is impossible, or NULL. */
static const char *copy_software_driver(const char *folder, char *drivers, size_t capacity) {
    char manifest[256] = "", command[6 * PATH_BYTES];
    FILE *manifest_list =
        popen("ls /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json 2>/dev/null", "r");
    REQUIRE(manifest_list);
    const bool has_manifest = fgets(manifest, sizeof manifest, manifest_list) != NULL;
    pclose(manifest_list);
    if (!has_manifest) return "no driver to copy";
    manifest[strcspn(manifest, "\n")] = 0;
    snprintf(command, sizeof command,
             "library=$(sed -n 's/.*\"library_path\": *\"\\([^\"]*\\)\".*/\\1/p' '%s') && cp -L \"$library\" "
             "%s/twin.so && sed 's|\"library_path\": *\"[^\"]*\"|\"library_path\": \"%s/twin.so\"|' '%s' "
             ">%s/twin.json",
             manifest, folder, folder, manifest, folder);
    snprintf(drivers, capacity, "VK_DRIVER_FILES=%s:%s/twin.json", manifest, folder);
    return system(command) == 0 ? NULL : "the software driver cannot be copied";
}

/* Runs the CHILD with two devices. If the machine has only one device, a copy of the software driver provides the
 * second device. Skips the test if that is impossible. */
static child_result run_with_two_devices(const char *child) {
    size_t devices = 0;
    for (const place *p = first_place_or_skip(runs_spirv); p->view; p++)
        devices++;
    if (devices > 1) return run_child(child, "REVAMP_LOG=debug", NULL);
    char folder[PATH_BYTES], drivers[2 * PATH_BYTES];
    make_folder(folder);
    const char *reason = copy_software_driver(folder, drivers, sizeof drivers);
    child_result result = {0};
    if (!reason) result = run_child(child, drivers, "REVAMP_LOG=debug", NULL);
    remove_folder(folder);
    if (reason) check_skip("there is one Vulkan device, and %s", reason);
    return result;
}

TEST(copies_between_devices_arrive) {
#if defined(__SANITIZE_ADDRESS__)
    check_skip("this takes a minute with AddressSanitizer");
#endif
    if (has_validation() && !has_separate_memory()) check_skip("the run without validation covers this");
    child_result result = run_with_two_devices("copies_between_two_devices");
    if (check_child(&result, __FILE__, __LINE__) && has_separate_memory()) CHECK_TEXT(result.output, "a bridge of");
}

TEST(TEX_65_TEX_66_textures_between_devices_arrive) {
    child_result result = run_with_two_devices("textures_of_two_devices");
    check_child(&result, __FILE__, __LINE__);
}

TEST(COH_19_an_array_as_home_of_three_accelerators) {
    child_result result = run_with_two_devices("views_of_three_accelerators");
    check_child(&result, __FILE__, __LINE__);
}
