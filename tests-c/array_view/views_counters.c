/* Tests of transfer counters, of the transfer log, and of the race reports of REVAMP_CHECK=1. */
#include "engines.h"
#include "logged_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024, BYTES = N * 4, LOG_CAPACITY = 4096 };

/* Transfer counters. */

static revamp_transfer_counters add_counters(revamp_transfer_counters a, revamp_transfer_counters b) {
    a.implicit_to_bytes += b.implicit_to_bytes;
    a.implicit_to_count += b.implicit_to_count;
    a.implicit_from_bytes += b.implicit_from_bytes;
    a.implicit_from_count += b.implicit_from_count;
    a.implicit_local_bytes += b.implicit_local_bytes;
    a.implicit_local_count += b.implicit_local_count;
    a.explicit_to_bytes += b.explicit_to_bytes;
    a.explicit_to_count += b.explicit_to_count;
    a.explicit_from_bytes += b.explicit_from_bytes;
    a.explicit_from_count += b.explicit_from_count;
    a.explicit_local_bytes += b.explicit_local_bytes;
    a.explicit_local_count += b.explicit_local_count;
    return a;
}

static uint64_t transfers_in(revamp_transfer_counters c) {
    return c.implicit_to_count + c.implicit_from_count + c.implicit_local_count + c.explicit_to_count +
           c.explicit_from_count + c.explicit_local_count;
}

static void check_equal(revamp_transfer_counters got, revamp_transfer_counters expected) {
    CHECK_NUMBER(got.implicit_to_bytes, expected.implicit_to_bytes);
    CHECK_NUMBER(got.implicit_to_count, expected.implicit_to_count);
    CHECK_NUMBER(got.implicit_from_bytes, expected.implicit_from_bytes);
    CHECK_NUMBER(got.implicit_from_count, expected.implicit_from_count);
    CHECK_NUMBER(got.implicit_local_bytes, expected.implicit_local_bytes);
    CHECK_NUMBER(got.implicit_local_count, expected.implicit_local_count);
    CHECK_NUMBER(got.explicit_to_bytes, expected.explicit_to_bytes);
    CHECK_NUMBER(got.explicit_to_count, expected.explicit_to_count);
    CHECK_NUMBER(got.explicit_from_bytes, expected.explicit_from_bytes);
    CHECK_NUMBER(got.explicit_from_count, expected.explicit_from_count);
    CHECK_NUMBER(got.explicit_local_bytes, expected.explicit_local_bytes);
    CHECK_NUMBER(got.explicit_local_count, expected.explicit_local_count);
}

TEST(counters_begin_at_zero) {
    static uint32_t data[N];
    revamp_array array = array_1d(cpu_view(), N, 4);
    revamp_array_view views[] = {view_of(data, N), view_of_array(array), sourceless(N)};
    CHECK_NUMBER(transfers_in(all_transfers()), 0);
    for (const place *p = places_that(holds_arrays); p->view; p++)
        CHECK_NUMBER(transfers_in(accelerator_transfers(p->accelerator)), 0);
    for (size_t i = 0; i < COUNT(views); i++) {
        CHECK_NUMBER(transfers_in(view_transfers(views[i])), 0);
        CHECK_NUMBER(transfers_in(source_transfers(views[i])), 0);
    }
    drop_all(views, COUNT(views));
    CHECK_NUMBER(transfers_in(all_transfers()), 0);
    CHECK_OK(revamp_array_destroy(array));
}

enum { VIEWS = 6 };

/* Two data sources with three views each. `access_random_view()` accesses a random view at a random location. */
typedef struct {
    engine *list;
    size_t count;
    revamp_array_view views[VIEWS];
    uint32_t *data[2];
} view_group;

static view_group create_view_group(void) {
    view_group c = {engines(), 0, {NULL}, {numbers(N, 1), numbers(N, 2)}};
    while (c.list[c.count].p)
        c.count++;
    for (size_t i = 0; i < 2; i++) {
        revamp_array_view *views = c.views + 3 * i;
        views[0] = view_of(c.data[i], N);
        views[1] = range_of(views[0], 0, N / 2);
        views[2] = range_of(views[0], 256, N / 2);
    }
    return c;
}

static void destroy_view_group(view_group *c) {
    drop_all(c->views, VIEWS);
    for (size_t i = 0; i < c->count; i++)
        end_engine(&c->list[i]);
}

static void access_random_view(view_group *c, uint32_t *state) {
    const engine *e = &c->list[random_number(state) % c->count];
    revamp_array_view view = c->views[random_number(state) % VIEWS];
    uint32_t host_data[N];
    int32_t count = (int32_t)array_view_info(view).element_count;
    revamp_region region = region_of(view), host = host_region(host_data, 1, &count, 4);
    switch (random_number(state) % 9) {
    case 0:
    case 1:
        CHECK_OK(run_step(e, NULL, use_view(view)));
        break;
    case 2:
        CHECK_OK(run_fill(e, e->p->view, use_view(view), 7));
        break;
    case 3:
        host_access(view, REVAMP_ACCESS_READ);
        break;
    case 4:
        host_access(view, REVAMP_ACCESS_READ_WRITE)[0] = 1;
        break;
    case 5:
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ));
        break;
    case 6:
        CHECK_OK(revamp_array_view_synchronize_to(view, e->p->view, REVAMP_ACCESS_READ));
        break;
    case 7:
        CHECK_OK(revamp_copy(&region, &host));
        break;
    default:
        memset(host_data, 1, BYTES);
        CHECK_OK(revamp_copy(&host, &region));
    }
}

static revamp_transfer_counters sum_of_views(const view_group *c, size_t first, size_t count) {
    revamp_transfer_counters sum = view_transfers(c->views[first]);
    for (size_t i = 1; i < count; i++)
        sum = add_counters(sum, view_transfers(c->views[first + i]));
    return sum;
}

TEST(counters_of_views_sources_and_the_process_add_up) {
    uint32_t state = 11;
    view_group c = create_view_group();
    for (int round = 0; round < 200; round++) {
        access_random_view(&c, &state);
        revamp_transfer_counters first = source_transfers(c.views[0]), second = source_transfers(c.views[3]);
        check_equal(sum_of_views(&c, 0, 3), first);
        check_equal(sum_of_views(&c, 3, 3), second);
        check_equal(add_counters(first, second), all_transfers());
        /* All views of a source report the same counters of the source. */
        check_equal(source_transfers(c.views[2]), first);
    }
    if (has_separate_memory()) CHECK(bytes_to(all_transfers()) > 0 && bytes_from(all_transfers()) > 0);
    destroy_view_group(&c);
}

TEST(counters_of_accelerators_add_up) {
    uint32_t state = 12;
    view_group c = create_view_group();
    for (int round = 0; round < 100; round++) {
        access_random_view(&c, &state);
        revamp_transfer_counters all = all_transfers();
        uint64_t implicit_to = 0, implicit_from = 0, explicit_to = 0, explicit_from = 0, transfer_count = 0;
        for (size_t i = 0; i < c.count; i++) {
            revamp_transfer_counters counters = accelerator_transfers(c.list[i].p->accelerator);
            implicit_to += counters.implicit_to_bytes;
            implicit_from += counters.implicit_from_bytes;
            explicit_to += counters.explicit_to_bytes;
            explicit_from += counters.explicit_from_bytes;
            transfer_count += counters.implicit_to_count + counters.implicit_from_count + counters.explicit_to_count +
                              counters.explicit_from_count;
        }
        CHECK_NUMBER(implicit_to, all.implicit_to_bytes);
        CHECK_NUMBER(implicit_from, all.implicit_from_bytes);
        CHECK_NUMBER(explicit_to, all.explicit_to_bytes);
        CHECK_NUMBER(explicit_from, all.explicit_from_bytes);
        CHECK_NUMBER(transfer_count,
                     all.implicit_to_count + all.implicit_from_count + all.explicit_to_count + all.explicit_from_count);
    }
    destroy_view_group(&c);
}

/* The counters of a source include released views. The counters of the process include released sources. */
TEST(counters_outlive_the_views) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1);
        revamp_array_view all = view_of(data, N), part = range_of(all, 0, N / 2);
        uint64_t bytes = bytes_if_separate(part, e->p, BYTES / 2);
        meter process_meter = meter_of(NULL);
        CHECK_OK(run_step(e, NULL, use_view(part)));
        CHECK_NUMBER(view_transfers(part).implicit_to_bytes, bytes);
        CHECK_NUMBER(view_transfers(all).implicit_to_bytes, 0);
        drop(part);
        CHECK_NUMBER(source_transfers(all).implicit_to_bytes, bytes);
        CHECK_NUMBER(view_transfers(all).implicit_to_bytes, 0);
        drop(all);
        revamp_transfer_counters moved = moved_since(&process_meter);
        CHECK_NUMBER(moved.implicit_to_bytes, bytes);
        CHECK_NUMBER(moved.implicit_from_bytes, bytes);
    }
}

TEST(array_copies_count_as_explicit) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(N, 1);
        revamp_array array = array_1d(p->view, N, 4);
        meter m = meter_of(NULL);
        write_array(array, sent);
        revamp_transfer_counters up = moved_since(&m);
        read_array(array);
        revamp_transfer_counters down = moved_since(&m);
        CHECK_NUMBER(bytes_moved(up), BYTES);
        CHECK_NUMBER(up.explicit_to_bytes + up.explicit_local_bytes, BYTES);
        CHECK_NUMBER(down.explicit_from_bytes + down.explicit_local_bytes, BYTES);
        CHECK_NUMBER(transfers_in(up), 1);
        CHECK_NUMBER(transfers_in(down), 1);
        if (has_separate_memory() && runs_kernels(&p->info)) {
            CHECK_NUMBER(up.explicit_to_bytes, BYTES);
            CHECK_NUMBER(down.explicit_from_bytes, BYTES);
        }
        CHECK_OK(revamp_array_destroy(array));
    }
}

/* The transfer log. */

/* Reads at most `capacity` transfers, from number *next on. Sets *next to the number after the last one. */
static size_t read_log(uint64_t *next, revamp_transfer *transfers, size_t capacity) {
    size_t count = 0;
    memset(transfers, 0, capacity * sizeof *transfers);
    transfers[0].struct_size = sizeof transfers[0];
    REQUIRE_OK(revamp_transfer_log_read(*next, transfers, capacity, &count));
    REQUIRE(count <= capacity);
    for (size_t i = 0; i < count; i++) {
        CHECK(transfers[i].number >= *next);
        *next = transfers[i].number + 1;
    }
    return count;
}

static void skip_log(uint64_t *next) {
    revamp_transfer *transfers = memory(LOG_CAPACITY * sizeof *transfers);
    while (read_log(next, transfers, LOG_CAPACITY)) {
    }
}

/* Checks that exactly one transfer was logged from number *next on, and that it has these properties. */
static void expect_logged(uint64_t *next, const char *call, bool is_implicit, revamp_accelerator from,
                          revamp_accelerator to, uint64_t bytes, uint64_t source_id, int line) {
    revamp_transfer got[4];
    size_t count = read_log(next, got, COUNT(got));
    if (count != 1) {
        check_fail(__FILE__, line, "%zu transfers are logged for %s, expected 1", count, call);
        return;
    }
    check_text(got[0].call, call, __FILE__, line);
    CHECK_NUMBER(strlen(got[0].call ? got[0].call : ""), strlen(call));
    check_number(got[0].is_implicit, is_implicit, "is_implicit", __FILE__, line);
    check_number((long long)got[0].bytes, (long long)bytes, "bytes", __FILE__, line);
    check_number((long long)got[0].source_id, (long long)source_id, "source_id", __FILE__, line);
    if (got[0].source != from) check_fail(__FILE__, line, "%s: the source is another accelerator", call);
    if (got[0].destination != to) check_fail(__FILE__, line, "%s: the destination is another accelerator", call);
}
#define LOGGED(call, is_implicit, from, to) expect_logged(&next, call, is_implicit, from, to, BYTES, id, __LINE__)

#define CALL_AND_WAIT(call, done)                                                                                      \
    do {                                                                                                               \
        REQUIRE_OK(call);                                                                                              \
        expect_done(done);                                                                                             \
    } while (0)

TEST(the_log_names_the_call_that_transferred) {
    const int32_t extent = N;
    bool is_tested = false;
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *host_data = memory(BYTES);
        uint64_t next = 1;
        revamp_accelerator device = e->p->accelerator, cpu = find("cpu");
        const char *dispatch = e->step ? "revamp_dispatch" : "revamp_parallel_for_each";
        revamp_completion done = NULL;
        revamp_array_view view = view_of(data, N);
        uint64_t id = array_view_info(view).source_id;
        CHECK(id != 0);
        if (!has_own_memory(view, e->p->view)) {
            drop(view);
            continue;
        }
        is_tested = true;
        skip_log(&next);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        LOGGED(dispatch, true, cpu, device);
        host_access(view, REVAMP_ACCESS_READ);
        LOGGED("revamp_array_view_data", true, device, cpu);
        host_access(view, REVAMP_ACCESS_READ_WRITE);
        CHECK_OK(revamp_array_view_synchronize_to(view, e->p->view, REVAMP_ACCESS_READ_WRITE));
        LOGGED("revamp_array_view_synchronize_to", false, cpu, device);
        CHECK_OK(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ_WRITE));
        LOGGED("revamp_array_view_synchronize", false, device, cpu);
        CALL_AND_WAIT(revamp_array_view_synchronize_to_async(view, e->p->view, REVAMP_ACCESS_READ_WRITE, NULL, &done),
                      done);
        LOGGED("revamp_array_view_synchronize_to_async", false, cpu, device);
        CALL_AND_WAIT(revamp_array_view_synchronize_async(view, REVAMP_ACCESS_READ, NULL, &done), done);
        LOGGED("revamp_array_view_synchronize_async", false, device, cpu);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        revamp_region region = region_of(view), host = host_region(host_data, 1, &extent, 4);
        CHECK_OK(revamp_copy(&region, &host));
        LOGGED("revamp_copy", false, device, cpu);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        skip_log(&next);
        CALL_AND_WAIT(revamp_copy_async(&region, &host, NULL, &done), done);
        LOGGED("revamp_copy_async", false, device, cpu);
        CHECK_OK(run_step(e, NULL, use_view(view)));
        skip_log(&next);
        drop(view);
        LOGGED("revamp_array_view_release", true, device, cpu);
    }
    if (!is_tested) check_skip("memory is shared");
}

TEST(the_log_names_copies_of_arrays) {
    FOR_EACH_PLACE(p, holds_arrays) {
        uint32_t *sent = numbers(N, 1), *got = memory(BYTES);
        uint64_t next = 1, id = 0;
        revamp_accelerator device = p->accelerator, cpu = find("cpu");
        revamp_completion done = NULL;
        revamp_array array = array_1d(p->view, N, 4), host = array_1d(cpu_view(), N, 4);
        revamp_region a = whole(array), b = whole(host);
        skip_log(&next);
        CHECK_OK(revamp_copy_to_array(sent, BYTES, array));
        LOGGED("revamp_copy_to_array", false, cpu, device);
        CHECK_OK(revamp_copy_from_array(array, got, BYTES));
        LOGGED("revamp_copy_from_array", false, device, cpu);
        CALL_AND_WAIT(revamp_copy_to_array_async(sent, BYTES, array, NULL, &done), done);
        LOGGED("revamp_copy_to_array_async", false, cpu, device);
        CALL_AND_WAIT(revamp_copy_from_array_async(array, got, BYTES, NULL, &done), done);
        LOGGED("revamp_copy_from_array_async", false, device, cpu);
        CHECK_OK(revamp_copy(&a, &b));
        LOGGED("revamp_copy", false, device, cpu);
        CALL_AND_WAIT(revamp_copy_async(&b, &a, NULL, &done), done);
        LOGGED("revamp_copy_async", false, cpu, device);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_array_destroy(host));
    }
}

/* The sums of the logged transfers equal the counters. */
TEST(the_log_adds_up_to_the_counters) {
    uint32_t state = 13;
    uint64_t next = 1, implicit_bytes = 0, explicit_bytes = 0, count = 0;
    view_group c = create_view_group();
    revamp_accelerator cpu = find("cpu");
    for (int round = 0; round < 100; round++) {
        revamp_transfer got[64];
        access_random_view(&c, &state);
        size_t new_count = read_log(&next, got, COUNT(got));
        CHECK(new_count < COUNT(got));
        for (size_t i = 0; i < new_count; i++) {
            *(got[i].is_implicit ? &implicit_bytes : &explicit_bytes) += got[i].bytes;
            CHECK_NUMBER(got[i].number, ++count);
            CHECK(got[i].bytes > 0 && got[i].call && !strncmp(got[i].call, "revamp_", 7));
            CHECK(got[i].source == cpu || got[i].destination == cpu || got[i].source == got[i].destination);
            CHECK(got[i].source_id == array_view_info(c.views[0]).source_id ||
                  got[i].source_id == array_view_info(c.views[3]).source_id);
        }
        revamp_transfer_counters all = all_transfers();
        CHECK_NUMBER(implicit_bytes, all.implicit_to_bytes + all.implicit_from_bytes + all.implicit_local_bytes);
        CHECK_NUMBER(explicit_bytes, all.explicit_to_bytes + all.explicit_from_bytes + all.explicit_local_bytes);
        CHECK_NUMBER(count, transfers_in(all));
    }
    destroy_view_group(&c);
}

TEST(the_log_keeps_the_latest_4096_transfers) {
    enum { COPIES = LOG_CAPACITY + 1000 };
    static uint32_t number[1];
    revamp_transfer *log = memory((LOG_CAPACITY + 8) * sizeof *log);
    revamp_array array = array_1d(cpu_view(), 1, 4);
    size_t count = 0;
    for (int i = 0; i < COPIES; i++)
        CHECK_OK(revamp_copy_to_array(number, 4, array));
    log[0].struct_size = sizeof log[0];
    REQUIRE_OK(revamp_transfer_log_read(1, log, LOG_CAPACITY + 8, &count));
    CHECK_NUMBER(count, LOG_CAPACITY);
    for (size_t i = 0; i < count; i++)
        CHECK_NUMBER(log[i].number, COPIES - LOG_CAPACITY + 1 + i);
    /* Reads start at the given number and return at most `capacity` entries. */
    REQUIRE_OK(revamp_transfer_log_read(COPIES - 3, log, LOG_CAPACITY, &count));
    CHECK_NUMBER(count, 4);
    REQUIRE_OK(revamp_transfer_log_read(COPIES - 3, log, 2, &count));
    CHECK_NUMBER(count, 2);
    CHECK_NUMBER(log[0].number, COPIES - 3);
    CHECK_NUMBER(log[1].number, COPIES - 2);
    REQUIRE_OK(revamp_transfer_log_read(COPIES + 1, log, 2, &count));
    CHECK_NUMBER(count, 0);
    CHECK_NUMBER(transfers_in(all_transfers()), COPIES);
    CHECK_OK(revamp_array_destroy(array));
}

/* A program built with another version may have a struct of another size, so struct_size is the stride of the list. */
TEST(the_log_uses_struct_size_as_stride) {
    uint64_t buffer[2 * sizeof(revamp_transfer) / sizeof(uint64_t)];
    size_t size = offsetof(revamp_transfer, is_implicit), count = 0;
    static uint32_t number[1];
    revamp_array array = array_1d(cpu_view(), 1, 4);
    for (int i = 0; i < 2; i++)
        CHECK_OK(revamp_copy_to_array(number, 4, array));
    memset(buffer, 0xAA, sizeof buffer);
    memcpy(buffer, &size, sizeof size);
    REQUIRE_OK(revamp_transfer_log_read(1, (revamp_transfer *)(void *)buffer, 2, &count));
    CHECK_NUMBER(count, 2);
    uint64_t second = 0;
    memcpy(&second, (char *)buffer + size + offsetof(revamp_transfer, number), sizeof second);
    CHECK_NUMBER(second, 2);
    CHECK(((unsigned char *)buffer)[2 * size] == 0xAA);
    CHECK_OK(revamp_array_destroy(array));
}

/* A program can check with counters and the log that a loop transfers nothing. */
TEST(counters_and_log_show_that_a_loop_transfers_nothing) {
    FOR_EACH_ENGINE(e) {
        uint32_t *data = numbers(N, 1), *more = numbers(N, 2), *a = numbers(N, 1), *b = numbers(N, 2);
        revamp_array_view in = view_of(data, N), out = view_of(more, N), constant = read_only(in);
        uint64_t next = 1;
        CHECK_OK(run_step(e, NULL, use_view(in)));
        CHECK_OK(run_step(e, NULL, use_view(out)));
        step_naive(a, N, 1);
        skip_log(&next);
        meter process_meter = meter_of(NULL), source = meter_of(out);
        revamp_transfer_counters view = view_transfers(out);
        for (int i = 0; i < 50; i++) {
            CHECK_OK(run_sum(e, NULL, use_view(constant), use_view(constant), use_view(out)));
            revamp_array_view part = range_of(in, 0, N / 2);
            CHECK_OK(run_step(e, NULL, use_view(part)));
            drop(part);
            sum_naive(a, a, b, N);
            step_naive(a, N / 2, 1);
        }
        CHECK_NUMBER(transfers_in(moved_since(&process_meter)), 0);
        CHECK_NUMBER(transfers_in(moved_since(&source)), 0);
        check_equal(view_transfers(out), view);
        revamp_transfer log[4];
        CHECK_NUMBER(read_log(&next, log, COUNT(log)), 0);
        CHECK_SAME(host_access(in, REVAMP_ACCESS_READ), a, BYTES);
        CHECK_SAME(host_access(out, REVAMP_ACCESS_READ), b, BYTES);
        drop(constant);
        drop(in);
        drop(out);
    }
}

/* Race reports. Each program with races runs in a child process with REVAMP_CHECK=1. */

/* Begins a copy without waiting for it. */
static revamp_completion begin_copy(revamp_region from, revamp_region to) {
    revamp_completion done = NULL;
    REQUIRE_OK(revamp_copy_async(&from, &to, NULL, &done));
    return done;
}

static const char *dispatch_of(const engine *e) {
    return e->step ? "revamp_dispatch" : "revamp_parallel_for_each";
}

/* A view, views of its halves, a view that overlaps both halves, a read-only view, and host memory for copies. */
typedef struct {
    revamp_array_view all, left, right, middle, constant;
    revamp_region host;
    int32_t extent[1];
    uint32_t *data, *host_data;
} race_views;

static void create_race_views(race_views *f) {
    f->data = numbers(N, 1);
    f->host_data = memory(BYTES);
    f->all = view_of(f->data, N);
    f->left = range_of(f->all, 0, N / 2);
    f->right = range_of(f->all, N / 2, N / 2);
    f->middle = range_of(f->all, N / 4, N / 2);
    f->constant = read_only(f->all);
    f->extent[0] = N / 2;
    f->host = host_region(f->host_data, 1, f->extent, 4);
}

static void release_race_views(race_views *f) {
    const revamp_array_view views[] = {f->constant, f->middle, f->left, f->right, f->all};
    drop_all(views, COUNT(views));
}

CHILD(programs_that_race) {
    collect_errors();
    FOR_EACH_ENGINE(e) {
        race_views f;
        void *data = NULL;
        revamp_completion done = NULL;
        create_race_views(&f);
        CHECK_NO_RACE();
        /* AV-25: a copy from a view is under way, and a launch writes an overlapping view. */
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        CHECK_RACE("revamp_copy_async", dispatch_of(e));
        expect_done(done);
        /* AV-24: the race is reported even if the views overlap only in part. */
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(run_step(e, NULL, use_view(f.middle)));
        CHECK_RACE("revamp_copy_async", dispatch_of(e));
        expect_done(done);
        /* A copy into a view is under way, and the host reads. */
        done = begin_copy(f.host, region_of(f.left));
        CHECK_OK(revamp_array_view_data(f.constant, REVAMP_ACCESS_READ, &data));
        CHECK_RACE("revamp_copy_async", "revamp_array_view_data");
        expect_done(done);
        /* AV-17: access through a view of non-const elements counts as a write. */
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(revamp_array_view_data(f.middle, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_RACE("revamp_copy_async", "revamp_array_view_data");
        expect_done(done);
        done = begin_copy(region_of(f.left), f.host);
        revamp_region from = f.host, to = region_of(f.middle);
        CHECK_OK(revamp_copy(&from, &to));
        CHECK_RACE("revamp_copy_async", "revamp_copy");
        expect_done(done);
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(revamp_array_view_refresh(f.all));
        CHECK_RACE("revamp_copy_async", "revamp_array_view_refresh");
        expect_done(done);
        CHECK_OK(run_step(e, NULL, use_view(f.left)));
        REQUIRE_OK(revamp_array_view_synchronize_async(f.left, REVAMP_ACCESS_READ, NULL, &done));
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        CHECK_RACE("revamp_array_view_synchronize_async", dispatch_of(e));
        expect_done(done);
        REQUIRE_OK(revamp_array_view_synchronize_to_async(f.left, e->p->view, REVAMP_ACCESS_READ, NULL, &done));
        CHECK_OK(revamp_array_view_data(f.all, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_RACE("revamp_array_view_synchronize_to_async", "revamp_array_view_data");
        expect_done(done);
        /* AV-27: no race, because all operations were waited for. */
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        host_access(f.all, REVAMP_ACCESS_READ_WRITE);
        CHECK_NO_RACE();
        release_race_views(&f);
    }
}

TEST(races_are_reported_with_both_calls) {
    CHECK_CHILD("programs_that_race", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("programs_that_race", "REVAMP_CHECK=1", "REVAMP_MEMORY=separate", NULL);
}

CHILD(programs_that_are_legal) {
    static const int32_t plane[] = {8, 16}, first[] = {0, 0}, second[] = {0, 8}, half[] = {8, 8};
    collect_errors();
    FOR_EACH_ENGINE(e) {
        race_views f, other;
        revamp_completion done = NULL, more = NULL;
        void *data = NULL;
        create_race_views(&f);
        create_race_views(&other);
        /* AV-26: concurrent reads are legal. */
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(revamp_array_view_data(f.constant, REVAMP_ACCESS_READ, &data));
        CHECK_OK(run_sum(e, NULL, use_view(f.constant), use_view(f.constant), use_view(other.all)));
        CHECK_OK(revamp_array_view_synchronize(f.all, REVAMP_ACCESS_READ));
        more = begin_copy(region_of(f.left), other.host);
        expect_done(done);
        expect_done(more);
        CHECK_NO_RACE();
        /* AV-27: no race after any call has waited for the copy. */
        done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(revamp_completion_wait(done));
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        CHECK_OK(revamp_completion_release(done));
        done = begin_copy(f.host, region_of(f.left));
        CHECK_STATUS(revamp_completion_wait_for(done, UINT64_MAX), REVAMP_OK);
        CHECK_OK(revamp_array_view_data(f.all, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_OK(revamp_completion_release(done));
        CHECK_NO_RACE();
        /* No race: accesses to the other half of the elements, and to another data source. */
        done = begin_copy(f.host, region_of(f.left));
        CHECK_OK(run_step(e, NULL, use_view(f.right)));
        CHECK_OK(revamp_array_view_data(f.right, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_OK(run_step(e, NULL, use_view(other.all)));
        expect_done(done);
        CHECK_NO_RACE();
        /* No race: creating sections, and changing reference counts. */
        done = begin_copy(f.host, region_of(f.left));
        revamp_array_view part = range_of(f.all, 3, 9), constant = read_only(part);
        CHECK_OK(revamp_array_view_retain(part));
        drop(part);
        drop(part);
        drop(constant);
        expect_done(done);
        CHECK_NO_RACE();
        /* No race: launches run in the order of the calls. */
        for (int i = 0; i < 5; i++) {
            CHECK_OK(run_step(e, NULL, use_view(f.all)));
            CHECK_OK(run_step(e, NULL, use_view(f.middle)));
            CHECK_OK(run_sum(e, NULL, use_view(f.constant), use_view(f.all), use_view(other.all)));
        }
        CHECK_OK(revamp_array_view_data(f.all, REVAMP_ACCESS_READ_WRITE, &data));
        CHECK_OK(revamp_array_view_discard_data(f.all));
        CHECK_OK(run_step(e, e->p->view, use_view(f.all)));
        CHECK_OK(revamp_array_view_refresh(f.all));
        CHECK_NO_RACE();
        /* Views overlap only if they share elements. Two blocks of columns alternate in memory, but share nothing. */
        uint32_t *numbers_of_plane = numbers(128, 3), *columns = memory(256);
        revamp_array_view flat = view_of_host(numbers_of_plane, 2, plane, 4);
        revamp_array_view left = part_of(flat, first, half), right = part_of(flat, second, half);
        done = begin_copy(host_region(columns, 2, half, 4), region_of(left));
        CHECK_OK(revamp_array_view_data(right, REVAMP_ACCESS_READ_WRITE, &data));
        expect_done(done);
        CHECK_NO_RACE();
        drop(left);
        drop(right);
        drop(flat);
        release_race_views(&f);
        release_race_views(&other);
        CHECK_NO_RACE();
    }
}

TEST(legal_programs_are_not_reported) {
    CHECK_CHILD("programs_that_are_legal", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("programs_that_are_legal", "REVAMP_CHECK=1", "REVAMP_MEMORY=separate", NULL);
}

/* No race: each thread uses only its own section. */

typedef struct {
    const engine *e;
    revamp_array_view view;
} worker;

static void *use_own_section(void *context) {
    worker *w = context;
    const int32_t count = 256;
    uint32_t host_data[256];
    for (int i = 0; i < 20; i++) {
        CHECK_OK(run_step(w->e, NULL, use_view(w->view)));
        host_access(w->view, REVAMP_ACCESS_READ_WRITE)[i] = 1;
        revamp_completion done = begin_copy(region_of(w->view), host_region(host_data, 1, &count, 4));
        expect_done(done);
        REQUIRE_OK(revamp_array_view_synchronize_async(w->view, REVAMP_ACCESS_READ, NULL, &done));
        expect_done(done);
    }
    return NULL;
}

CHILD(threads_that_are_legal) {
    enum { THREADS = 4 };
    collect_errors();
    FOR_EACH_ENGINE(e) {
        pthread_t threads[THREADS];
        worker workers[THREADS];
        revamp_array_view all = view_of(numbers(N, 1), N);
        for (int i = 0; i < THREADS; i++) {
            workers[i].e = e;
            workers[i].view = range_of(all, i * 256, 256);
            REQUIRE(!pthread_create(&threads[i], NULL, use_own_section, &workers[i]));
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            drop(workers[i].view);
        }
        host_access(all, REVAMP_ACCESS_READ_WRITE);
        CHECK_NO_RACE();
        drop(all);
    }
}

TEST(legal_threads_are_not_reported) {
    CHECK_CHILD("threads_that_are_legal", "REVAMP_CHECK=1", NULL);
    CHECK_CHILD("threads_that_are_legal", "REVAMP_CHECK=1", "REVAMP_MEMORY=separate", NULL);
}

/* A race between two threads: one thread launches while a copy of the other one is under way. */
static void *launch_once(void *context) {
    worker *w = context;
    CHECK_OK(run_step(w->e, NULL, use_view(w->view)));
    return NULL;
}

CHILD(threads_that_race) {
    collect_errors();
    FOR_EACH_ENGINE(e) {
        race_views f;
        pthread_t thread;
        create_race_views(&f);
        worker w = {e, f.all};
        revamp_completion done = begin_copy(f.host, region_of(f.left));
        REQUIRE(!pthread_create(&thread, NULL, launch_once, &w));
        pthread_join(thread, NULL);
        CHECK_RACE("revamp_copy_async", dispatch_of(e));
        expect_done(done);
        release_race_views(&f);
    }
}

TEST(races_between_threads_are_reported) {
    CHECK_CHILD("threads_that_race", "REVAMP_CHECK=1", NULL);
}

/* Without REVAMP_CHECK=1, races are not reported. */
CHILD(races_without_REVAMP_CHECK) {
    collect_errors();
    FOR_EACH_ENGINE(e) {
        race_views f;
        create_race_views(&f);
        revamp_completion done = begin_copy(region_of(f.left), f.host);
        CHECK_OK(run_step(e, NULL, use_view(f.all)));
        expect_done(done);
        release_race_views(&f);
    }
    CHECK_NO_RACE();
}

TEST(races_are_not_reported_by_default) {
    CHECK_CHILD("races_without_REVAMP_CHECK", "REVAMP_CHECK=0", NULL);
    CHECK_CHILD("races_without_REVAMP_CHECK", "REVAMP_CHECK=", NULL);
}
