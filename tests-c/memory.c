/* What memory the library holds: no more than live data needs, whatever came before; and what a second start finds on
 * disk. */
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

TEST(memory_usage_counts_what_array_views_hold_there) {
    enum { N = MIB };
    if (!has_separate_memory()) check_skip("array_views use the host's memory in place");
    FOR_EACH_RUNNER(p) {
        const uint64_t before = usage_of(p).used;
        const void *mark = memory_mark();
        revamp_array_view view = view_of(numbers(N, 1), N);
        step_on(p, view);
        settle(p);
        CHECK(usage_of(p).used >= before + (uint64_t)N * 4);
        drop(view);
        settle(p);
        CHECK(usage_of(p).used < before + MIB);
        free_memory_since(mark);
    }
}

/* A random run: live bytes rise and fall again and again, in arrays of 4 bytes to 32 MiB, of all magnitudes alike. */
TEST(device_memory_held_follows_live_data) {
    enum { MOST = 4000, STEPS = 6000 };
    static const uint64_t wanted[] = {400 * (uint64_t)MIB, 8 * MIB, 200 * MIB, 20 * MIB, 300 * MIB, 0};
    if (has_validation()) check_skip("the same without validation");
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_array *live = memory(MOST * sizeof *live);
        uint64_t bytes = 0, worst = 0;
        uint32_t state = 12345;
        size_t count = 0;
        revamp_kernel step = runs_spirv(&p->info) ? load(p->accelerator, &step_module) : NULL;
        const uint64_t slack = usage_of(p).slack;
        for (int i = 0; i < STEPS; i++) {
            const uint64_t goal = wanted[(size_t)i * COUNT(wanted) / STEPS];
            /* Up or down towards the goal, mostly. */
            const bool more = (bytes < goal) == (random_number(&state) % 8 != 0);
            if (count == 0 || (more && count < MOST)) {
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
            if (usage.held - bytes > worst) worst = usage.held - bytes;
        }
        printf("%s: at most %llu KiB more than live\n", p->info.description, (unsigned long long)worst / KIB);
        while (count > 0)
            CHECK_OK(revamp_array_destroy(live[--count]));
        if (step) CHECK_OK(revamp_kernel_release(step));
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK(usage_of(p).used < 2 * MIB);
        CHECK(usage_of(p).held <= slack + (slack == 0) * 2 * MIB);
    }
}

/* Arrays whose sizes recur are made in freed memory, and that is forgotten when others need the room. */
TEST(freed_memory_that_is_kept_is_little) {
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

TEST(staging_is_bounded_and_given_back) {
    enum { N = 24 * MIB, ROUNDS = 3 };
    FOR_EACH_PLACE(p, runs_spirv) {
        const void *mark = memory_mark();
        revamp_array array = array_1d(p->view, N, 4);
        uint32_t *sent = numbers(N, 1), *got = memory((size_t)N * 4);
        uint64_t most = 0;
        const uint64_t limit = usage_of(p).staging_limit;
        CHECK(limit > 0 && limit <= (uint64_t)512 * MIB);
        for (int i = 0; i < ROUNDS; i++) {
            sent[i] = (uint32_t)i;
            write_array(array, sent);
            CHECK(usage_of(p).staging <= limit);
            CHECK_OK(revamp_copy_from_array(array, got, (size_t)N * 4));
            CHECK_SAME(got, sent, (size_t)N * 4);
            if (usage_of(p).staging > most) most = usage_of(p).staging;
        }
        CHECK(most <= limit);
        if (has_separate_memory()) CHECK(most > 0);
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        pause_milliseconds(5100);
        CHECK_OK(revamp_accelerator_view_wait(p->view));
        CHECK_NUMBER(usage_of(p).staging, 0);
        /* And there is more when it is needed. */
        write_array(array, sent);
        CHECK_OK(revamp_array_destroy(array));
        free_memory_since(mark);
    }
}

/* Growth. */

TEST(a_hundred_thousand_allocations_leave_no_growth) {
    enum { EACH = 5, ROUNDS = 100000 / EACH, WARM = ROUNDS / 2, MOST = 2048, N = 4096 };
#if defined(__SANITIZE_ADDRESS__)
    check_skip("AddressSanitizer keeps freed memory");
#endif
    if (has_validation()) check_skip("the same without validation");
    FOR_EACH_RUNNER(p) {
        uint32_t *data = numbers(N, 1), state = 1;
        long resident = 0;
        revamp_memory_usage early = {0};
        for (int i = 0; i < ROUNDS; i++) {
            const int32_t n = 1 + (int32_t)(random_number(&state) % MOST);
            revamp_array array = array_1d(p->view, n, 4);
            revamp_array_view of_array = view_of_array(array), of_host = view_of(data, N);
            revamp_array_view part = range_of(of_host, n, 1000), open = sourceless(n);
            step_on(p, of_array);
            if (i % 4 == 0) step_on(p, part);
            if (i % 4 == 1) fill_on(p, open, 1);
            if (i % 4 == 2) host_access(part, REVAMP_ACCESS_READ_WRITE);
            drop(open);
            drop(of_array);
            drop(of_host);
            drop(part);
            CHECK_OK(revamp_array_destroy(array));
            if (i != WARM && i != ROUNDS - 1) continue;
            settle(p);
            if (i == WARM) {
                resident = resident_kilobytes();
                early = usage_of(p);
            }
        }
        const revamp_memory_usage late = usage_of(p);
        /* 16 KiB of each round would be 160 MiB, 64 bytes of each object 3 MiB. NVIDIA's driver grows in the first
         * half. */
        const long grown = resident_kilobytes() - resident;
        const long staging = late.staging > early.staging ? (long)((late.staging - early.staging) / KIB) : 0;
        if (grown - staging > 2 * KIB)
            check_fail(__FILE__, __LINE__, "%s: grown by %ld KiB, of which %ld are staging memory", p->info.description,
                       grown, staging);
        CHECK(late.used <= early.used + MIB);
        CHECK(late.held <= early.held + MIB);
        CHECK(late.staging <= late.staging_limit);
    }
}

/* The second start. */

enum { KERNELS = 50 };

/* The module of the step kernel with another factor than 3. */
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

static unsigned count_of(const char *text, const char *part) {
    unsigned found = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        found++;
    return found;
}

/* Bytes of all caches that were read or written, by the line that says so. */
static unsigned long cache_bytes(const char *log, const char *before) {
    unsigned long all = 0;
    for (const char *at = log; (at = strstr(at, before)) != NULL; at += strlen(before))
        all += strtoul(at + strlen(before), NULL, 10);
    return all;
}

TEST(a_second_start_reads_its_pipelines_from_disk) {
    enum { EMPTY = 32 };
    size_t devices = 0;
    for (const place *p = some_place(runs_spirv); p->view; p++)
        devices++;
    char folder[PATH_BYTES], variable[PATH_BYTES + 32];
    make_folder(folder);
    snprintf(variable, sizeof variable, "REVAMP_CACHE_DIR=%s", folder);
    child_result first = run_child("runs_fifty_kernels", variable, "REVAMP_LOG=debug", NULL);
    child_result second = run_child("runs_fifty_kernels", variable, "REVAMP_LOG=debug", NULL);
    remove_folder(folder);
    if (!check_child(&first, __FILE__, __LINE__) || !check_child(&second, __FILE__, __LINE__)) return;
    CHECK_NUMBER(cache_bytes(first.output, ".bin: "), 0);
    CHECK(count_of(first.output, "pipeline made in ") >= KERNELS * devices);
    const unsigned long written = cache_bytes(first.output, ".bin written, ");
    CHECK(written > 0);
    /* The driver was given all that it had let us keep. */
    CHECK_NUMBER(cache_bytes(second.output, ".bin: "), written);
    CHECK(count_of(second.output, "pipeline made in ") >= KERNELS * devices);
    /* Some drivers (lavapipe) let nobody keep anything but the head of a cache, some do not say what they found. */
    if (written > EMPTY * devices && !strstr(second.output, "does not tell")) {
        CHECK(count_of(second.output, "from the cache") >= KERNELS * devices);
        CHECK_NUMBER(count_of(second.output, ": compiled"), 0);
    } else {
        printf("the driver keeps %lu bytes\n", written);
    }
}
