/* Tests of accelerators and accelerator_views: lists, properties and defaults (docs/spec/accelerators.md). */
#include "support.h"
#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_vulkan_path(const char *path) {
    return !strncmp(path, "vulkan\\", 7);
}

TEST(list_fills_the_array_and_returns_the_full_count) {
    size_t count = 0, again = 0;
    revamp_accelerator *all = all_accelerators(&count);
    REQUIRE(count >= 2);
    revamp_accelerator first_and_last[2] = {NULL, all[count - 1]};
    REQUIRE_OK(revamp_accelerator_list(first_and_last, 1, &again));
    CHECK_NUMBER(again, count);
    CHECK(first_and_last[0] == all[0]);
    CHECK(first_and_last[1] == all[count - 1]);
    revamp_accelerator *more = memory((count + 1) * sizeof *more);
    REQUIRE_OK(revamp_accelerator_list(more, count + 1, &again));
    CHECK_NUMBER(again, count);
    CHECK_SAME(more, all, count * sizeof *all);
    CHECK(!more[count]);
}

TEST(cpu_and_host_threads_are_listed_once) {
    size_t count = 0, cpus = 0, host_threads = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        cpus += info.kind == REVAMP_ACCELERATOR_CPU;
        host_threads += info.kind == REVAMP_ACCELERATOR_HOST_THREADS;
    }
    CHECK_NUMBER(cpus, 1);
    CHECK_NUMBER(host_threads, 1);
}

TEST(device_paths_are_unique_and_stay_valid) {
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        CHECK(info.device_path[0] && info.description[0] && info.driver);
        CHECK(info_of(all[i]).device_path == info.device_path);
        for (size_t k = 0; k < i; k++) {
            CHECK(all[i] != all[k]);
            CHECK(strcmp(info.device_path, info_of(all[k]).device_path) != 0);
        }
    }
}

TEST(cpu_properties_match_the_documentation) {
    revamp_accelerator_info info = info_of(find("cpu"));
    double ram = machine_memory() / 1024;
    CHECK(!strcmp(info.device_path, "cpu"));
    CHECK_NUMBER(info.kind, REVAMP_ACCELERATOR_CPU);
    CHECK_NUMBER(info.version, 1);
    CHECK(info.dedicated_memory > 0 && (double)info.dedicated_memory <= ram * 1.01);
    CHECK(info.is_emulated && !info.has_display && !info.is_debug);
    CHECK(!info.supports_double_precision && !info.supports_limited_double_precision);
    CHECK(!info.unusable_reason);
    CHECK(!info.driver[0]);
    CHECK_NUMBER(info.max_workgroup_invocations, 0);
}

TEST(host_threads_properties_match_the_documentation) {
    revamp_accelerator_info info = info_of(find("host"));
    CHECK(!strcmp(info.device_path, "host"));
    CHECK_NUMBER(info.kind, REVAMP_ACCELERATOR_HOST_THREADS);
    CHECK(info.is_emulated && !info.has_display);
    CHECK(info.dedicated_memory > 0);
    CHECK(info.supports_double_precision && info.supports_limited_double_precision);
    CHECK(!info.unusable_reason);
    CHECK_NUMBER(info.max_workgroup_invocations, 1024);
}

static void check_vulkan_limits(const revamp_accelerator_info *info) {
    /* Limits that Vulkan guarantees on every device. */
    CHECK(info->max_workgroup_invocations >= 128);
    CHECK(info->max_workgroup_size[0] >= 128 && info->max_workgroup_size[1] >= 128 &&
          info->max_workgroup_size[2] >= 64);
    CHECK(info->max_workgroup_memory >= 16384);
    CHECK(info->max_push_constants >= 128);
    CHECK(info->max_storage_buffer_range >= 1U << 27);
    uint64_t alignment = info->min_storage_buffer_alignment;
    CHECK(alignment >= 1 && alignment <= 256 && (alignment & (alignment - 1)) == 0);
}

TEST(vulkan_properties_are_plausible) {
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        CHECK((info.kind == REVAMP_ACCELERATOR_VULKAN) == is_vulkan_path(info.device_path));
        if (info.kind != REVAMP_ACCELERATOR_VULKAN) continue;
        CHECK(info.dedicated_memory > 0);
        CHECK(!info.supports_double_precision || info.supports_limited_double_precision);
        CHECK(info.supports_cpu_shared_memory || info.default_cpu_access_type == REVAMP_ACCESS_NONE);
        CHECK(info.default_cpu_access_type <= REVAMP_ACCESS_READ_WRITE);
        CHECK(!info.unusable_reason || info.unusable_reason[0]);
        if (strstr(info.description, "llvmpipe")) CHECK(info.is_emulated && !info.has_display);
        if (info.unusable_reason) continue;
        CHECK(info.version > 0);
        CHECK(info.driver[0]);
        CHECK(info.is_debug == has_validation());
        if (has_separate_memory()) CHECK(!info.supports_cpu_shared_memory);
        check_vulkan_limits(&info);
    }
}

TEST(double_precision_support_is_reported_correctly) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = NULL;
        revamp_status status = try_load(p->accelerator, doubles_module.words, doubles_module.size, NULL, &kernel);
        if (!p->info.supports_limited_double_precision) {
            CHECK_FAILS(status, AS_UNSUPPORTED, "Float64");
            continue;
        }
        REQUIRE_OK(status);
        double values[64], expected[64];
        for (int i = 0; i < 64; i++) {
            values[i] = i / 3.0;
            expected[i] = (values[i] * 3.0 + 1.0) / 7.0;
        }
        int32_t count = 64;
        revamp_array array = array_1d(p->view, 64, 8);
        write_array(array, values);
        revamp_argument argument = revamp_argument_buffer(0, array);
        CHECK_OK(launch(p->view, kernel, 1, &count, &argument, 1));
        double *got = read_array(array);
        for (int i = 0; i < 64; i++)
            CHECK(got[i] - expected[i] < 1e-14 && expected[i] - got[i] < 1e-14);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(kernel));
    }
}

TEST(find_accepts_every_path_and_warp_with_a_slash) {
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < count; i++)
        CHECK(find(info_of(all[i]).device_path) == all[i]);
    CHECK(find("direct3d/warp") == find("direct3d\\warp"));
}

TEST(errors_for_unknown_paths_list_the_known_paths) {
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count), found = all[0];
    CHECK_FAILS(revamp_accelerator_find("vulkan\\nowhere", &found), AS_RUNTIME, "vulkan\\nowhere");
    CHECK(found == all[0]);
    for (size_t i = 0; i < count; i++)
        CHECK_TEXT(revamp_last_error_message(), info_of(all[i]).device_path);
}

/* Default accelerators. They are chosen once per process, so each test runs in a child process. */

/* True if `a` comes before `b` by the rules of docs/spec/accelerators.md#default-accelerator. */
static bool is_preferred(const revamp_accelerator_info *a, const revamp_accelerator_info *b) {
    if (a->is_emulated != b->is_emulated) return b->is_emulated;
    if (a->dedicated_memory != b->dedicated_memory) return a->dedicated_memory > b->dedicated_memory;
    return !a->has_display && b->has_display;
}

static const place *best_vulkan(void) {
    const place *best = NULL;
    for (const place *p = places_that(runs_spirv); p->view; p++)
        if (!best || is_preferred(&p->info, &best->info)) best = p;
    return best;
}

static revamp_accelerator default_for(revamp_code code) {
    revamp_accelerator found = NULL;
    REQUIRE_OK(revamp_accelerator_get_default(code, &found));
    return found;
}

/* direct3d\warp and direct3d\ref, Direct3D's names of software devices, are aliases of host threads (decision 28). */
TEST(warp_and_ref_are_found_and_not_listed) {
    static const char *const paths[] = {"direct3d\\warp", "direct3d\\ref"};
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < 2; i++) {
        revamp_accelerator found = find(paths[i]);
        revamp_accelerator_info info = info_of(found);
        CHECK(!strcmp(info.device_path, paths[i]));
        CHECK_NUMBER(info.kind, REVAMP_ACCELERATOR_HOST_THREADS);
        CHECK(info.is_emulated && !info.has_display && info.is_debug == (i == 1));
        for (size_t k = 0; k < count; k++)
            CHECK(all[k] != found);
    }
    CHECK(find("direct3d/ref") == find("direct3d\\ref"));
}

static bool is_offered(bool will_load_spirv, revamp_accelerator_kind kind, const char *path) {
    revamp_accelerator all[32];
    size_t count = 0;
    REQUIRE_OK(revamp_accelerator_list_offered(will_load_spirv, all, 32, &count));
    REQUIRE(count <= 32);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        CHECK(!info.unusable_reason);
        if (info.kind == kind && (!path || !strcmp(info.device_path, path))) return true;
    }
    return false;
}

/* The accelerators that C++ programs get from get_all() (decision 29). */
CHILD(is_offered_what_runs_here) {
    const place *vulkan = best_vulkan();
    for (int will_load = 0; will_load < 2; will_load++) {
        CHECK(is_offered(will_load, REVAMP_ACCELERATOR_CPU, NULL));
        CHECK(is_offered(will_load, REVAMP_ACCELERATOR_HOST_THREADS, "host"));
        CHECK(is_offered(will_load, REVAMP_ACCELERATOR_HOST_THREADS, "direct3d\\warp"));
        CHECK(!is_offered(will_load, REVAMP_ACCELERATOR_HOST_THREADS, "direct3d\\ref"));
    }
    CHECK(!is_offered(false, REVAMP_ACCELERATOR_VULKAN, NULL));
    if (!vulkan) return;
    CHECK(is_offered(true, REVAMP_ACCELERATOR_VULKAN, NULL));
    /* Listing accelerators does not choose the default. */
    bool changed = false;
    REQUIRE_OK(revamp_accelerator_set_default(vulkan->info.device_path, &changed));
    CHECK(changed);
    CHECK(is_offered(false, REVAMP_ACCELERATOR_VULKAN, vulkan->info.device_path));
}

CHILD(is_offered_vulkan_once_spirv_is_loaded) {
    const place *vulkan = best_vulkan();
    if (!vulkan) return;
    revamp_kernel step = load(vulkan->accelerator, &step_module);
    CHECK(is_offered(false, REVAMP_ACCELERATOR_VULKAN, vulkan->info.device_path));
    CHECK_OK(revamp_kernel_release(step));
}

TEST(accelerators_that_run_the_program_are_offered) {
    child_result r = run_child("is_offered_what_runs_here", "CPPAMP_DEFAULT_ACCELERATOR=", "REVAMP_LOG=info", NULL);
    if (check_child(&r, __FILE__, __LINE__) && best_vulkan()) CHECK_TEXT(r.output, "does not list");
    CHECK_CHILD("is_offered_vulkan_once_spirv_is_loaded", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

CHILD(finds_defaults) {
    revamp_accelerator found = NULL;
    const place *best = best_vulkan();
    CHECK(default_for(REVAMP_CODE_HOST) == find("host"));
    if (!best) {
        CHECK_FAILS(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found), AS_RUNTIME, "vulkan");
        CHECK_FAILS(revamp_accelerator_find("default", &found), AS_RUNTIME, "vulkan");
        return;
    }
    CHECK(default_for(REVAMP_CODE_SPIRV) == best->accelerator);
    CHECK(find("default") == best->accelerator);
    CHECK(find("") == best->accelerator);
}

TEST(defaults_follow_the_rules) {
    CHECK_CHILD("finds_defaults", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

CHILD(sets_default_to_cpu) {
    bool changed = false;
    REQUIRE_OK(revamp_accelerator_set_default("cpu", &changed));
    CHECK(changed);
    REQUIRE_OK(revamp_accelerator_set_default("direct3d\\warp", &changed));
    CHECK(!changed);
    CHECK(default_for(REVAMP_CODE_SPIRV) == find("cpu"));
    CHECK(default_for(REVAMP_CODE_HOST) == find("cpu"));
    CHECK(find("default") == find("cpu"));
    revamp_accelerator_view view = NULL;
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&view));
    CHECK(view_info(view).accelerator == find("cpu"));
}

TEST(set_default_works_once) {
    CHECK_CHILD("sets_default_to_cpu", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

TEST(set_default_wins_over_the_environment) {
    CHECK_CHILD("sets_default_to_cpu", "CPPAMP_DEFAULT_ACCELERATOR=direct3d\\warp", NULL);
    CHECK_CHILD("sets_default_to_cpu", "CPPAMP_DEFAULT_ACCELERATOR=nowhere", NULL);
}

CHILD(sets_default_with_slash) {
    /* The output parameter may be NULL. */
    REQUIRE_OK(revamp_accelerator_set_default("direct3d/warp", NULL));
    CHECK(default_for(REVAMP_CODE_SPIRV) == find("direct3d\\warp"));
}

TEST(set_default_accepts_a_slash) {
    CHECK_CHILD("sets_default_with_slash", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

CHILD(sets_default_after_use) {
    bool changed = true;
    revamp_accelerator used = default_for(REVAMP_CODE_HOST);
    REQUIRE_OK(revamp_accelerator_set_default("cpu", &changed));
    CHECK(!changed);
    CHECK(default_for(REVAMP_CODE_HOST) == used);
    /* After revamp_uninitialize(), another default may be set. */
    REQUIRE_OK(revamp_uninitialize());
    REQUIRE_OK(revamp_accelerator_set_default("cpu", &changed));
    CHECK(changed);
    CHECK(default_for(REVAMP_CODE_HOST) == find("cpu"));
}

TEST(set_default_has_no_effect_after_use) {
    CHECK_CHILD("sets_default_after_use", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

CHILD(sets_an_unknown_default) {
    bool changed = true;
    CHECK_FAILS(revamp_accelerator_set_default("nowhere", &changed), AS_RUNTIME, "nowhere");
    REQUIRE_OK(revamp_accelerator_set_default("cpu", &changed));
    CHECK(changed);
}

TEST(an_unknown_default_is_refused_and_changes_nothing) {
    CHECK_CHILD("sets_an_unknown_default", "CPPAMP_DEFAULT_ACCELERATOR=", NULL);
}

CHILD(has_warp_as_default) {
    CHECK(default_for(REVAMP_CODE_SPIRV) == find("direct3d\\warp"));
    CHECK(default_for(REVAMP_CODE_HOST) == find("direct3d\\warp"));
}

CHILD(has_cpu_as_default) {
    CHECK(default_for(REVAMP_CODE_SPIRV) == find("cpu"));
    CHECK(default_for(REVAMP_CODE_HOST) == find("cpu"));
}

TEST(the_environment_chooses_the_default) {
    CHECK_CHILD("has_warp_as_default", "CPPAMP_DEFAULT_ACCELERATOR=direct3d\\warp", NULL);
    CHECK_CHILD("has_warp_as_default", "CPPAMP_DEFAULT_ACCELERATOR=direct3d/warp", NULL);
    CHECK_CHILD("has_cpu_as_default", "CPPAMP_DEFAULT_ACCELERATOR=cpu", NULL);
}

/* An unknown path in the environment is reported and ignored, like any invalid setting. */
TEST(an_unknown_default_in_the_environment_is_reported_and_ignored) {
    child_result r = run_child("finds_defaults", "CPPAMP_DEFAULT_ACCELERATOR=nowhere", "REVAMP_LOG=", NULL);
    if (!check_child(&r, __FILE__, __LINE__)) return;
    CHECK_TEXT(r.output, "CPPAMP_DEFAULT_ACCELERATOR");
    CHECK_TEXT(r.output, "nowhere");
}

/* REVAMP_VISIBLE_DEVICES hides devices. */

static size_t count_vulkan(bool usable) {
    size_t count = 0, found = 0;
    revamp_accelerator *all = all_accelerators(&count);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        found += info.kind == REVAMP_ACCELERATOR_VULKAN && (!usable || !info.unusable_reason);
    }
    return found;
}

CHILD(sees_no_vulkan_device) {
    size_t count = 0;
    revamp_accelerator *all = all_accelerators(&count), found = NULL;
    CHECK(count_vulkan(false) > 0);
    CHECK_NUMBER(count_vulkan(true), 0);
    for (size_t i = 0; i < count; i++) {
        revamp_accelerator_info info = info_of(all[i]);
        if (info.kind != REVAMP_ACCELERATOR_VULKAN) continue;
        revamp_accelerator_view view = NULL;
        CHECK_TEXT(info.unusable_reason, "REVAMP_VISIBLE_DEVICES");
        CHECK_FAILS(revamp_accelerator_get_default_view(all[i], &view), AS_RUNTIME | AS_UNSUPPORTED,
                    "REVAMP_VISIBLE_DEVICES");
        CHECK_FAILS(revamp_accelerator_create_view(all[i], REVAMP_QUEUING_MODE_AUTOMATIC, &view),
                    AS_RUNTIME | AS_UNSUPPORTED, "REVAMP_VISIBLE_DEVICES");
        CHECK(!view);
    }
    CHECK_FAILS(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found), AS_RUNTIME, "REVAMP_VISIBLE_DEVICES");
    small_job();
}

CHILD(sees_one_vulkan_device) {
    CHECK_NUMBER(count_vulkan(true), 1);
    full_job();
}

static const place *require_vulkan_place(void) {
    if (is_setting("REVAMP_TEST", "no-vulkan")) check_skip("this run is without Vulkan");
    return first_place_or_skip(runs_spirv);
}

TEST(hidden_devices_are_listed_with_the_reason) {
    require_vulkan_place();
    CHECK_CHILD("sees_no_vulkan_device", "REVAMP_VISIBLE_DEVICES=no such device", NULL);
}

TEST(visible_devices_are_chosen_by_index_uuid_and_name) {
    const place *p = require_vulkan_place();
    char setting[512];
    CHECK_CHILD("sees_one_vulkan_device", "REVAMP_VISIBLE_DEVICES=0", NULL);
    snprintf(setting, sizeof setting, "REVAMP_VISIBLE_DEVICES=%s", p->info.device_path + 7);
    CHECK_CHILD("sees_one_vulkan_device", setting, NULL);
    if (count_vulkan(true) > 1) return;
    snprintf(setting, sizeof setting, "REVAMP_VISIBLE_DEVICES=%.6s", p->info.description);
    CHECK_CHILD("sees_one_vulkan_device", setting, NULL);
}

/* Accelerator_views. */

TEST(the_default_view_is_always_the_same) {
    FOR_EACH_PLACE(p, holds_arrays) {
        CHECK(default_view(p->accelerator) == p->view);
        revamp_accelerator_view_info info = view_info(p->view);
        CHECK(info.accelerator == p->accelerator);
        CHECK_NUMBER(info.queuing_mode, REVAMP_QUEUING_MODE_AUTOMATIC);
        CHECK_NUMBER(info.version, p->info.version);
        CHECK(info.is_debug == p->info.is_debug);
        CHECK(!info.is_auto_selection);
    }
}

TEST(retaining_and_releasing_a_default_view_has_no_effect) {
    FOR_EACH_PLACE(p, holds_arrays) {
        for (int i = 0; i < 3; i++)
            CHECK_OK(revamp_accelerator_view_release(p->view));
        CHECK_OK(revamp_accelerator_view_retain(p->view));
        CHECK_OK(revamp_accelerator_view_release(p->view));
        CHECK(default_view(p->accelerator) == p->view);
    }
    full_job();
}

TEST(created_views_differ_and_have_their_mode) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_accelerator_view automatic = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
        revamp_accelerator_view immediate = new_view(p->accelerator, REVAMP_QUEUING_MODE_IMMEDIATE);
        CHECK(automatic != p->view && immediate != p->view && automatic != immediate);
        CHECK_NUMBER(view_info(automatic).queuing_mode, REVAMP_QUEUING_MODE_AUTOMATIC);
        CHECK_NUMBER(view_info(immediate).queuing_mode, REVAMP_QUEUING_MODE_IMMEDIATE);
        CHECK(view_info(immediate).accelerator == p->accelerator);
        CHECK(!view_info(automatic).is_auto_selection);
        CHECK_OK(revamp_accelerator_view_retain(automatic));
        CHECK_OK(revamp_accelerator_view_release(automatic));
        CHECK_OK(revamp_accelerator_view_flush(automatic));
        CHECK_OK(revamp_accelerator_view_wait(automatic));
        CHECK_OK(revamp_accelerator_view_release(automatic));
        CHECK_OK(revamp_accelerator_view_release(immediate));
        CHECK_FAILS(revamp_accelerator_view_wait(automatic), AS_HANDLE, "freed");
    }
}

TEST(an_array_outlives_the_handle_of_its_view) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_accelerator_view view = new_view(p->accelerator, REVAMP_QUEUING_MODE_AUTOMATIC);
        uint32_t *sent = numbers(1000, 1);
        revamp_array array = array_1d(view, 1000, 4);
        CHECK_OK(revamp_accelerator_view_release(view));
        write_array(array, sent);
        CHECK_SAME(read_array(array), sent, 4000);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(markers_of_an_idle_view_are_done) {
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_completion marker = NULL;
        CHECK_OK(revamp_accelerator_view_flush(p->view));
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        expect_done(marker);
    }
}

TEST(info_reports_the_auto_selection_view) {
    revamp_accelerator_view view = NULL, again = NULL;
    first_place_or_skip(runs_spirv);
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&view));
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&again));
    CHECK(view == again);
    CHECK(view_info(view).is_auto_selection);
    CHECK(view_info(view).accelerator == default_for(REVAMP_CODE_SPIRV));
    CHECK(view != default_view(default_for(REVAMP_CODE_SPIRV)));
    /* In all other respects, the auto-selection view acts as the default view of the default accelerator. */
    uint32_t *sent = numbers(10, 1);
    revamp_array array = array_with(view, sent, 10);
    CHECK_SAME(read_array(array), sent, 40);
    CHECK(array_info(array).view == default_view(default_for(REVAMP_CODE_SPIRV)));
    CHECK_OK(revamp_accelerator_view_flush(view));
    CHECK_OK(revamp_accelerator_view_wait(view));
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_accelerator_view_release(view));
    CHECK(view_info(view).is_auto_selection);
}

TEST(the_default_view_waits_for_work_given_to_the_auto_selection_view) {
    enum { ELEMENTS = 4 << 20 };
    revamp_accelerator_view automatic = NULL;
    first_place_or_skip(runs_spirv);
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&automatic));
    revamp_accelerator_view view = default_view(default_for(REVAMP_CODE_SPIRV));
    uint32_t *sent = numbers(ELEMENTS, 1);
    revamp_array array = array_1d(automatic, ELEMENTS, 4);
    for (int i = 0; i < 5; i++) {
        revamp_completion done = NULL;
        REQUIRE_OK(revamp_copy_to_array_async(sent, ELEMENTS * 4, array, NULL, &done));
        CHECK_OK(revamp_accelerator_view_wait(view));
        CHECK_STATUS(revamp_completion_wait_for(done, 0), REVAMP_OK);
        expect_done(done);
    }
    CHECK_OK(revamp_array_destroy(array));
}

/* The default cpu access type (docs/spec/arrays.md#cpu-access-types). */

CHILD(sets_the_access_type_of_shared_memory) {
    FOR_EACH_PLACE(p, is_shared_vulkan) {
        bool changed = false;
        REQUIRE_OK(revamp_accelerator_set_default_cpu_access_type(p->accelerator, REVAMP_ACCESS_READ, &changed));
        CHECK(changed);
        CHECK_NUMBER(info_of(p->accelerator).default_cpu_access_type, REVAMP_ACCESS_READ);
        REQUIRE_OK(revamp_accelerator_set_default_cpu_access_type(p->accelerator, REVAMP_ACCESS_NONE, &changed));
        CHECK(!changed);
        CHECK_NUMBER(info_of(p->accelerator).default_cpu_access_type, REVAMP_ACCESS_READ);
        revamp_array array = array_1d(p->view, 4, 4);
        CHECK_NUMBER(array_info(array).cpu_access_type, REVAMP_ACCESS_READ);
        CHECK_OK(revamp_array_destroy(array));
    }
}

CHILD(sets_the_access_type_after_use) {
    FOR_EACH_PLACE(p, is_shared_vulkan) {
        bool changed = true;
        revamp_array array = array_1d(p->view, 4, 4);
        CHECK_NUMBER(array_info(array).cpu_access_type, p->info.default_cpu_access_type);
        REQUIRE_OK(revamp_accelerator_set_default_cpu_access_type(p->accelerator, REVAMP_ACCESS_NONE, &changed));
        CHECK(!changed);
        CHECK_NUMBER(info_of(p->accelerator).default_cpu_access_type, p->info.default_cpu_access_type);
        CHECK_OK(revamp_array_destroy(array));
    }
}

TEST(the_default_access_type_is_set_once_before_use) {
    CHECK_CHILD("sets_the_access_type_of_shared_memory", NULL);
    CHECK_CHILD("sets_the_access_type_after_use", NULL);
}

TEST(access_types_need_shared_memory) {
    FOR_EACH_PLACE(p, runs_spirv) {
        if (p->info.supports_cpu_shared_memory) continue;
        bool changed = true;
        CHECK_FAILS(revamp_accelerator_set_default_cpu_access_type(p->accelerator, REVAMP_ACCESS_READ, &changed),
                    AS_RUNTIME, "shared");
        CHECK_OK(revamp_accelerator_set_default_cpu_access_type(p->accelerator, REVAMP_ACCESS_NONE, &changed));
        CHECK_NUMBER(info_of(p->accelerator).default_cpu_access_type, REVAMP_ACCESS_NONE);
    }
}

TEST(the_versions_of_header_and_library_agree) {
    CHECK_NUMBER(revamp_version(), REVAMP_VERSION);
    CHECK_NUMBER(revamp_abi_version(), REVAMP_ABI_VERSION);
    CHECK(!strcmp(revamp_status_name(REVAMP_OK), "REVAMP_OK"));
    CHECK(!strcmp(revamp_status_name(REVAMP_ERROR_FORKED), "REVAMP_ERROR_FORKED"));
    CHECK(!strcmp(revamp_status_name(-1000), "unknown status"));
    CHECK(!strcmp(revamp_last_error_message(), ""));
    CHECK_NUMBER(revamp_last_error_status(), REVAMP_OK);
    CHECK_NUMBER(revamp_last_error_hresult(), 0);
}

/* Checks that a kernel that requires `capability` loads if the device reports `feature`, and fails otherwise. */
static void check_feature(const place *p, revamp_features feature, uint32_t capability) {
    size_t size = 0;
    revamp_kernel kernel = NULL;
    uint32_t *words = with_capability(&step_module, capability, &size);
    revamp_status status = try_load(p->accelerator, words, size, NULL, &kernel);
    if (p->info.features & feature)
        CHECK_OK(status);
    else
        CHECK_FAILS(status, AS_UNSUPPORTED, "");
    if (kernel) CHECK_OK(revamp_kernel_release(kernel));
}

TEST(device_properties_and_features_are_consistent) {
    FOR_EACH_PLACE(p, holds_arrays) {
        const revamp_accelerator_info *info = &p->info;
        static const uint8_t none[16];
        if (info->kind != REVAMP_ACCELERATOR_VULKAN) {
            CHECK(!info->vendor_id && !info->device_id && !info->driver_id && !info->features);
            CHECK_NUMBER(info->device_type, REVAMP_DEVICE_TYPE_CPU);
            CHECK_SAME(info->uuid, none, 16);
            continue;
        }
        char path[64] = "vulkan\\";
        size_t end = strlen(path);
        for (int i = 0; i < 16; i++)
            end += (size_t)snprintf(path + end, sizeof path - end, "%s%02x",
                                    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info->uuid[i]);
        CHECK(!strncmp(info->device_path, path, end));
        CHECK(info->vendor_id && info->driver_id && info->api_version >= (1U << 22 | 2U << 12));
        CHECK((info->device_type == REVAMP_DEVICE_TYPE_CPU) == info->is_emulated);
        CHECK(info->subgroup_size >= info->min_subgroup_size && info->subgroup_size <= info->max_subgroup_size);
        CHECK(info->min_subgroup_size && info->max_workgroup_count[0] && info->max_workgroup_count[2]);
        CHECK(info->features & REVAMP_FEATURE_INT64);
        CHECK(!!(info->features & REVAMP_FEATURE_FLOAT64) == info->supports_limited_double_precision);
        /* Capabilities of SPIR-V. They are not tested with the validation layer: it also requires the extensions of
         * some capabilities, and the module does not declare these extensions. */
        if (has_validation()) continue;
        check_feature(p, REVAMP_FEATURE_FLOAT16, 9);
        check_feature(p, REVAMP_FEATURE_FLOAT64, 10);
        check_feature(p, REVAMP_FEATURE_INT64_ATOMICS | REVAMP_FEATURE_SHARED_INT64_ATOMICS, 12);
        check_feature(p, REVAMP_FEATURE_INT16, 22);
        check_feature(p, REVAMP_FEATURE_INT8, 39);
        check_feature(p, REVAMP_FEATURE_STORAGE_8BIT, 4448);
        check_feature(p, REVAMP_FEATURE_STORAGE_16BIT, 4433);
        check_feature(p, REVAMP_FEATURE_PUSH_CONSTANT_8BIT, 4450);
        check_feature(p, REVAMP_FEATURE_PUSH_CONSTANT_16BIT, 4435);
        check_feature(p, REVAMP_FEATURE_UNIFORM_8BIT, 4449);
        check_feature(p, REVAMP_FEATURE_UNIFORM_16BIT, 4434);
        check_feature(p, REVAMP_FEATURE_VARIABLE_POINTERS, 4442);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_VOTE, 62);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_ARITHMETIC, 63);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_BALLOT, 64);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_SHUFFLE, 65);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_SHUFFLE_RELATIVE, 66);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_CLUSTERED, 67);
        check_feature(p, REVAMP_FEATURE_SUBGROUP_QUAD, 68);
        check_feature(p, REVAMP_FEATURE_FLOAT64_ATOMIC_ADD | REVAMP_FEATURE_SHARED_FLOAT64_ATOMIC_ADD, 6034);
        check_feature(p, REVAMP_FEATURE_FLOAT32_ATOMIC_ADD | REVAMP_FEATURE_SHARED_FLOAT32_ATOMIC_ADD, 6033);
    }
}
