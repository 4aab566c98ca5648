/* Tests of repeated launches. A queue submits a recording again if the launches are the same. The queue must detect
 * every difference (kernel, domain, argument, new array, newly loaded kernel), anywhere in a sequence of launches. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 96, ARRAYS = 3, MAX_BODY = 5, MAX_TIMES = 40, LOOPS = 10, PROGRAMS = 24 };

typedef enum { STEP, STEP_PART, FILL, FILL_COUNTED, SAXPY, COPY, REPLACE, RELOAD, WAIT, FLUSH, KINDS } kind;

typedef struct {
    kind step_kind;
    uint32_t slot, other, value;
} step;

/* Objects of the library, and a model of the arrays' contents. */
typedef struct {
    const place *p;
    revamp_accelerator_view view;
    revamp_kernel step, fill, saxpy;
    revamp_array arrays[ARRAYS], floats[2];
    uint32_t words[ARRAYS][N];
    float numbers[2][N];
} test_state;

static revamp_argument part(revamp_argument argument, const int32_t *origin, const int32_t *extent) {
    argument.origin = origin;
    argument.extent = extent;
    return argument;
}

static void do_step(test_state *w, const step *s, uint32_t turn) {
    static const int32_t all = N, part_extent = 64, from = 0;
    uint32_t *words = w->words[s->slot], value = s->value;
    switch (s->step_kind) {
    case STEP:
        REQUIRE_OK(launch_step(w->view, w->step, w->arrays[s->slot]));
        step_naive(words, N, 1);
        break;
    case STEP_PART: {
        revamp_argument argument = part(revamp_argument_buffer(0, w->arrays[s->slot]), &from, &part_extent);
        REQUIRE_OK(launch(w->view, w->step, 1, &part_extent, &argument, 1));
        step_naive(words, (size_t)part_extent, 1);
        break;
    }
    case FILL_COUNTED:
        value += turn;
        /* fall through */
    case FILL: {
        revamp_argument arguments[] = {revamp_argument_buffer(0, w->arrays[s->slot]),
                                       revamp_argument_push_constant(0, &value, sizeof value)};
        REQUIRE_OK(launch(w->view, w->fill, 1, &all, arguments, 2));
        for (int i = 0; i < N; i++)
            words[i] = value;
        break;
    }
    case SAXPY: {
        struct {
            uint64_t x, y;
            float a;
            uint32_t n;
        } block = {0, 0, s->value % 2 ? 1.0F : -1.0F, N};
        const uint32_t to = s->slot % 2;
        /* The domain alone determines the number of workgroups, not the block's `n`. */
        const int32_t *extent = s->value / 2 ? &part_extent : &all;
        revamp_argument arguments[] = {revamp_argument_address(0, w->floats[!to], REVAMP_ACCESS_READ),
                                       revamp_argument_address(8, w->floats[to], REVAMP_ACCESS_READ_WRITE)};
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = extent;
        info.block = &block;
        info.block_size = sizeof block;
        info.arguments = arguments;
        info.argument_count = 2;
        REQUIRE_OK(revamp_dispatch(w->view, w->saxpy, &info));
        for (int i = 0; i < *extent; i++) {
            /* The numbers stay small, so they stay exact. */
            w->numbers[to][i] = block.a * w->numbers[!to][i] + w->numbers[to][i];
        }
        break;
    }
    case COPY: {
        if (s->slot == s->other) break;
        revamp_region source = whole(w->arrays[s->other]), target = whole(w->arrays[s->slot]);
        REQUIRE_OK(revamp_copy(&source, &target));
        memcpy(words, w->words[s->other], sizeof w->words[0]);
        break;
    }
    case REPLACE:
        REQUIRE_OK(revamp_array_destroy(w->arrays[s->slot]));
        for (int i = 0; i < N; i++)
            words[i] = value + (uint32_t)i;
        w->arrays[s->slot] = array_with(w->p->view, words, N);
        break;
    case RELOAD:
        REQUIRE_OK(revamp_kernel_release(w->step));
        w->step = load(w->p->accelerator, &step_module);
        break;
    case WAIT:
        REQUIRE_OK(revamp_accelerator_view_wait(w->view));
        break;
    default:
        REQUIRE_OK(revamp_accelerator_view_flush(w->view));
    }
}

static void set_up(test_state *w, const place *p) {
    memset(w, 0, sizeof *w);
    w->p = p;
    /* The arrays live on the default view, and launches on other views would be refused. */
    w->view = p->view;
    w->step = load(p->accelerator, &step_module);
    w->fill = load(p->accelerator, &fill_module);
    w->saxpy = load(p->accelerator, &address_module);
    for (int a = 0; a < ARRAYS; a++) {
        fill_bytes(w->words[a], sizeof w->words[a], 1 + (uint32_t)a);
        w->arrays[a] = array_with(p->view, w->words[a], N);
    }
}

static void reset_floats(test_state *w) {
    for (int a = 0; a < 2; a++) {
        for (int i = 0; i < N; i++)
            w->numbers[a][i] = (float)((i * (a + 3)) % 7);
        if (w->floats[a]) CHECK_OK(revamp_array_destroy(w->floats[a]));
        w->floats[a] = array_with(w->p->view, w->numbers[a], N);
    }
}

static bool check_results(test_state *w) {
    bool is_right = true;
    for (int a = 0; a < ARRAYS; a++)
        is_right = CHECK_SAME(read_array(w->arrays[a]), w->words[a], sizeof w->words[a]) && is_right;
    for (int a = 0; a < 2; a++)
        is_right = CHECK_SAME(read_array(w->floats[a]), w->numbers[a], sizeof w->numbers[a]) && is_right;
    return is_right;
}

static void tear_down(test_state *w) {
    for (int a = 0; a < ARRAYS; a++)
        CHECK_OK(revamp_array_destroy(w->arrays[a]));
    for (int a = 0; a < 2; a++)
        CHECK_OK(revamp_array_destroy(w->floats[a]));
    CHECK_OK(revamp_kernel_release(w->step));
    CHECK_OK(revamp_kernel_release(w->fill));
    CHECK_OK(revamp_kernel_release(w->saxpy));
}

/* Runs random loops over a few steps. Some loops contain a wait, a new array or a newly loaded kernel. */
static void run_loops(test_state *w, uint32_t seed) {
    uint32_t state = 0x9E3779B9U * (seed + 1);
    reset_floats(w);
    /* The number of SAXPY steps. Every 20th resets the floats, because they may grow like Fibonacci numbers. */
    int saxpy_count = 0;
    for (int loop = 0; loop < LOOPS; loop++) {
        step body[MAX_BODY];
        const uint32_t length = 1 + random_number(&state) % MAX_BODY,
                       repetitions = 1 + random_number(&state) % MAX_TIMES;
        for (uint32_t i = 0; i < length; i++) {
            step s = {(kind)(random_number(&state) % KINDS), random_number(&state) % ARRAYS,
                      random_number(&state) % ARRAYS, random_number(&state) % 4};
            /* Makes steps that are not launches (COPY to FLUSH) rarer. */
            if (s.step_kind >= COPY && random_number(&state) % 3) s.step_kind = (kind)(s.value % COPY);
            body[i] = s;
        }
        for (uint32_t turn = 0; turn < repetitions; turn++)
            for (uint32_t i = 0; i < length; i++) {
                if (body[i].step_kind == SAXPY && saxpy_count++ % 20 == 19) reset_floats(w);
                do_step(w, &body[i], turn);
            }
    }
    if (!check_results(w)) check_fail(__FILE__, __LINE__, "program %u", (unsigned)seed);
}

TEST(repeated_launches_in_random_loops) {
    FOR_EACH_PLACE(p, runs_spirv) {
        test_state w;
        set_up(&w, p);
        for (uint32_t seed = 0; seed < PROGRAMS; seed++)
            run_loops(&w, seed);
        tear_down(&w);
    }
}

/* Runs each sequence of 1 to 39 launches in full, its first half, and in full again. Some exceed a command buffer. */
TEST(repeated_launches_of_every_length) {
    FOR_EACH_PLACE(p, runs_spirv) {
        test_state w;
        set_up(&w, p);
        reset_floats(&w);
        const step steps[] = {{STEP, 0, 0, 0}, {FILL_COUNTED, 1, 0, 5}, {STEP, 1, 0, 0}, {STEP_PART, 2, 0, 0}};
        for (uint32_t length = 1; length < 40; length++)
            for (uint32_t pass = 0; pass < 3; pass++) {
                for (uint32_t i = 0; i < (pass == 1 ? length / 2 : length); i++)
                    do_step(&w, &steps[i % COUNT(steps)], i);
                REQUIRE_OK(revamp_accelerator_view_wait(w.view));
            }
        check_results(&w);
        tear_down(&w);
    }
}

/* A new array may get the same driver handle as a destroyed array. Launches on the new array must not reuse recordings
 * of the destroyed one. */
TEST(repeated_launches_on_new_arrays) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        uint32_t expected[N];
        for (uint32_t round = 0; round < 200; round++) {
            fill_bytes(expected, sizeof expected, round);
            revamp_array array = array_with(p->view, expected, N);
            for (uint32_t i = 0; i <= round % 5; i++)
                CHECK_OK(launch_step(p->view, step, array));
            step_naive(expected, N, 1 + round % 5);
            if (round % 2) CHECK_OK(revamp_accelerator_view_wait(p->view));
            CHECK_SAME(read_array(array), expected, sizeof expected);
            CHECK_OK(revamp_array_destroy(array));
            if (round % 7 == 0) {
                CHECK_OK(revamp_kernel_release(step));
                step = load(p->accelerator, &step_module);
            }
        }
        CHECK_OK(revamp_kernel_release(step));
    }
}
