/* Tests that the library never holds much more memory than live data needs. Also tests the pipeline cache that a second
 * start of a program finds on disk. */
#include "system.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

TEST(memory_usage_counts_arrays) {
    FOR_EACH_PLACE(p, holds_arrays) {
        const revamp_memory_usage before = usage_of(p);
        revamp_array array = array_1d(p->view, MIB, 4);
        revamp_memory_usage now = usage_of(p);
        CHECK(now.used >= before.used + 4 * MIB && now.used < before.used + 4 * MIB + MIB / 2);
        CHECK(now.held >= now.used);
        CHECK_NUMBER(now.slack, before.slack);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_NUMBER(usage_of(p).used, before.used);
    }
}

TEST(memory_usage_counts_device_memory_of_array_views) {
    enum { N = MIB };
    if (!has_separate_memory()) check_skip("array_views use the host's memory in place");
    FOR_EACH_RUNNER(p) {
        const uint64_t before = usage_of(p).used;
        const void *mark = memory_mark();
        revamp_array_view view = view_of(numbers(N, 1), N);
        step_on(p, view);
        wait_at(p);
        CHECK(usage_of(p).used >= before + (uint64_t)N * 4);
        drop(view);
        wait_at(p);
        CHECK(usage_of(p).used < before + MIB);
        free_memory_since(mark);
    }
}

/* Creates and destroys random arrays, so that the live bytes rise and fall repeatedly. An array has 4 bytes to 32 MiB.
 * All orders of magnitude are equally frequent. */
TEST(device_memory_held_follows_live_data) {
    enum { MOST = 4000, STEPS = 6000 };
    static const uint64_t goals[] = {400 * (uint64_t)MIB, 8 * MIB, 200 * MIB, 20 * MIB, 300 * MIB, 0};
    if (has_validation()) check_skip("tested only without validation");
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array *live = memory(MOST * sizeof *live);
        uint64_t bytes = 0, max_excess = 0;
        uint32_t state = 12345;
        size_t count = 0;
        revamp_kernel step = runs_spirv(&p->info) ? load(p->accelerator, &step_module) : NULL;
        const uint64_t slack = usage_of(p).slack;
        for (int i = 0; i < STEPS; i++) {
            const uint64_t goal = goals[(size_t)i * COUNT(goals) / STEPS];
            /* About seven of eight steps bring `bytes` closer to the goal. */
            const bool grows = (bytes < goal) == (random_number(&state) % 8 != 0);
            if (count == 0 || (grows && count < MOST)) {
                const uint32_t magnitude = random_number(&state) % 24;
                const int32_t n = (int32_t)((1U << magnitude) + random_number(&state) % (1U << magnitude)) / 2 + 1;
                live[count] = array_1d(p->view, n, 4);
                bytes += (uint64_t)n * 4;
                if (step && n < 1000) CHECK_OK(launch_step(p->view, step, live[count]));
                count++;
            } else {
                const size_t at = random_number(&state) % count;
                bytes -= size_of(live[at]);
                CHECK_OK(revamp_array_destroy(live[at]));
                live[at] = live[--count];
            }
            if (i % 8 == 0) CHECK_OK(revamp_accelerator_view_wait(p->view));
            if (i % 8) continue;
            const revamp_memory_usage usage = usage_of(p);
            if (usage.used < bytes || usage.held < usage.used || usage.held > bytes + bytes / 10 + slack) {
                check_fail(__FILE__, __LINE__, "%s, step %d: %llu live, %llu used, %llu held, slack %llu",
                           p->info.description, i, (unsigned long long)bytes, (unsigned long long)usage.used,
                           (unsigned long long)usage.held, (unsigned long long)slack);
                break;
            }
            if (usage.held - bytes > max_excess) max_excess = usage.held - bytes;
        }
        printf("%s: at most %llu KiB more than live\n", p->info.description, (unsigned long long)max_excess / KIB);
        while (count > 0)
            CHECK_OK(revamp_array_destroy(live[--count]));
        if (step) CHECK_OK(revamp_kernel_release(step));
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK(usage_of(p).used < 2 * MIB);
        CHECK(usage_of(p).held <= slack + (slack == 0) * 2 * MIB);
    }
}

/* Arrays of recurring sizes reuse freed memory. The library releases freed memory when other arrays need it. */
TEST(the_library_keeps_little_freed_memory) {
    enum { ROUNDS = 40 };
    FOR_EACH_PLACE(p, runs_spirv) {
        const uint64_t before = usage_of(p).held;
        for (int i = 0; i < ROUNDS; i++) {
            revamp_array a = array_1d(p->view, (5 + i % 7) * MIB / 4, 4), b = array_1d(p->view, 3 * MIB, 4);
            uint32_t *sent = numbers(1024, (uint32_t)i), got[1024];
            const int32_t first = 0, part = 1024;
            revamp_region here = host_region(sent, 1, &part, 4), there = section(b, &first, &part);
            CHECK_OK(revamp_copy(&here, &there));
            here.host = got;
            CHECK_OK(revamp_copy(&there, &here));
            CHECK_SAME(got, sent, sizeof got);
            CHECK_OK(revamp_array_destroy(a));
            CHECK_OK(revamp_array_destroy(b));
            CHECK_OK(revamp_accelerator_view_wait(p->view));
            CHECK(usage_of(p).held <= before + usage_of(p).slack);
        }
    }
}

/* Staging. */

TEST(staging_memory_is_bounded_and_freed) {
    enum { N = 24 * MIB, ROUNDS = 3 };
    FOR_EACH_PLACE(p, runs_spirv) {
        const void *mark = memory_mark();
        revamp_array array = array_1d(p->view, N, 4);
        uint32_t *sent = numbers(N, 1), *got = memory((size_t)N * 4);
        uint64_t max_staging = 0;
        const uint64_t limit = usage_of(p).staging_limit;
        CHECK(limit > 0 && limit <= (uint64_t)512 * MIB);
        for (int i = 0; i < ROUNDS; i++) {
            sent[i] = (uint32_t)i;
            write_array(array, sent);
            CHECK(usage_of(p).staging <= limit);
            CHECK_OK(revamp_copy_from_array(array, got, (size_t)N * 4));
            CHECK_SAME(got, sent, (size_t)N * 4);
            if (usage_of(p).staging > max_staging) max_staging = usage_of(p).staging;
        }
        CHECK(max_staging <= limit);
        if (has_separate_memory()) CHECK(max_staging > 0);
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        pause_milliseconds(5100);
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK_NUMBER(usage_of(p).staging, 0);
        /* A later copy allocates staging memory again. */
        write_array(array, sent);
        CHECK_OK(revamp_array_destroy(array));
        free_memory_since(mark);
    }
}

/* Growth of the process. */

TEST(a_hundred_thousand_allocations_leave_no_growth) {
    enum { PER_ROUND = 5, ROUNDS = 100000 / PER_ROUND, FIRST_MEASURED = ROUNDS / 2, MOST = 2048, N = 4096 };
#if defined(__SANITIZE_ADDRESS__)
    check_skip("AddressSanitizer keeps freed memory");
#endif
    if (has_validation()) check_skip("tested only without validation");
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), state = 1;
        long resident = 0;
        revamp_memory_usage early = {0};
        for (int i = 0; i < ROUNDS; i++) {
            const int32_t n = 1 + (int32_t)(random_number(&state) % MOST);
            revamp_array array = array_1d(p->view, n, 4);
            revamp_array_view of_array = view_of_array(array), of_host = view_of(data, N);
            revamp_array_view part = range_of(of_host, n, 1000), without_source = sourceless(n);
            step_on(p, of_array);
            if (i % 4 == 0) step_on(p, part);
            if (i % 4 == 1) fill_on(p, without_source, 1);
            if (i % 4 == 2) host_access(part, REVAMP_ACCESS_READ_WRITE);
            drop(without_source);
            drop(of_array);
            drop(of_host);
            drop(part);
            CHECK_OK(revamp_array_destroy(array));
            if (i != FIRST_MEASURED && i != ROUNDS - 1) continue;
            wait_at(p);
            if (i == FIRST_MEASURED) {
                resident = resident_kilobytes();
                early = usage_of(p);
            }
        }
        const revamp_memory_usage late = usage_of(p);
        /* Leaks of 16 KiB per round would add up to 160 MiB, and 64 bytes per object to 3 MiB. The first half is not
         * measured, because NVIDIA's driver grows meanwhile. */
        const long growth_kib = resident_kilobytes() - resident;
        const long staging = late.staging > early.staging ? (long)((late.staging - early.staging) / KIB) : 0;
        if (growth_kib - staging > 2 * KIB)
            check_fail(__FILE__, __LINE__, "%s: grown by %ld KiB, of which %ld are staging memory", p->info.description,
                       growth_kib, staging);
        CHECK(late.used <= early.used + MIB);
        CHECK(late.held <= early.held + MIB);
        CHECK(late.staging <= late.staging_limit);
    }
}

/* The second start of a program. */

enum { KERNELS = 50 };

/* Returns the module of the step kernel with this factor instead of 3. */
static module with_factor(uint32_t factor) {
    enum { HEADER = 5, OP_CONSTANT = 43, FACTOR = 3 };
    uint32_t *words = memory(step_module.size);
    size_t count = step_module.size / 4, changed = 0;
    memcpy(words, step_module.words, step_module.size);
    for (size_t i = HEADER; i < count && words[i] >> 16; i += words[i] >> 16)
        if ((words[i] & 0xFFFF) == OP_CONSTANT && words[i + 3] == FACTOR) {
            words[i + 3] = factor;
            changed++;
        }
    REQUIRE(changed == 1);
    return (module){words, step_module.size};
}

CHILD(runs_fifty_kernels) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_array array = array_1d(p->view, 100, 4);
        uint32_t *expected = numbers(100, 1);
        write_array(array, expected);
        for (uint32_t k = 0; k < KERNELS; k++) {
            const module changed = with_factor(5 + k);
            revamp_kernel kernel = load(p->accelerator, &changed);
            CHECK_OK(launch_step(p->view, kernel, array));
            CHECK_OK(revamp_kernel_release(kernel));
            for (int i = 0; i < 100; i++)
                expected[i] = (5 + k) * expected[i] + 1;
        }
        CHECK_SAME(read_array(array), expected, 400);
        CHECK_OK(revamp_array_destroy(array));
    }
    CHECK_OK(revamp_uninitialize());
}

static unsigned count_occurrences(const char *text, const char *part) {
    unsigned occurrences = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        occurrences++;
    return occurrences;
}

/* Returns the sum of the cache sizes in the log. A cache size is the number after an occurrence of `before`. */
static unsigned long cache_bytes(const char *log, const char *before) {
    unsigned long byte_sum = 0;
    for (const char *at = log; (at = strstr(at, before)) != NULL; at += strlen(before))
        byte_sum += strtoul(at + strlen(before), NULL, 10);
    return byte_sum;
}

TEST(a_second_start_reads_its_pipelines_from_disk) {
    enum { CACHE_HEADER_SIZE = 32 };
    size_t devices = 0;
    for (const place *p = first_place_or_skip(runs_spirv); p->view; p++)
        devices++;
    char folder[PATH_BYTES], variable[PATH_BYTES + 32];
    make_folder(folder);
    snprintf(variable, sizeof variable, "REVAMP_CACHE_DIR=%s", folder);
    child_result first = run_child("runs_fifty_kernels", variable, "REVAMP_LOG=debug", NULL);
    child_result second = run_child("runs_fifty_kernels", variable, "REVAMP_LOG=debug", NULL);
    remove_folder(folder);
    if (!check_child(&first, __FILE__, __LINE__) || !check_child(&second, __FILE__, __LINE__)) return;
    CHECK_NUMBER(cache_bytes(first.output, ".bin: "), 0);
    CHECK(count_occurrences(first.output, "pipeline made in ") >= KERNELS * devices);
    const unsigned long written = cache_bytes(first.output, ".bin written, ");
    CHECK(written > 0);
    /* In the second start, the library loaded all bytes that the first start had stored. */
    CHECK_NUMBER(cache_bytes(second.output, ".bin: "), written);
    CHECK(count_occurrences(second.output, "pipeline made in ") >= KERNELS * devices);
    /* Some drivers (lavapipe) give out only the header of a cache. Others do not report cache hits. */
    if (written > CACHE_HEADER_SIZE * devices && !strstr(second.output, "does not tell")) {
        CHECK(count_occurrences(second.output, "from the cache") >= KERNELS * devices);
        CHECK_NUMBER(count_occurrences(second.output, ": compiled"), 0);
    } else {
        printf("the driver keeps %lu bytes\n", written);
    }
}
