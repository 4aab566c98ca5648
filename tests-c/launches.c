/* Streams of launches: what a queue recorded before is submitted again where it is the same, so each difference must be
 * seen (kernel, domain, argument, array made anew, kernel loaded anew), wherever in a stream it comes. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 96, ARRAYS = 3, MOST_BODY = 5, MOST_TIMES = 40, LOOPS = 10, PROGRAMS = 24 };

typedef enum { STEP, STEP_PART, FILL, FILL_COUNTED, SAXPY, COPY, REPLACE, RELOAD, WAIT, FLUSH, KINDS } kind;

typedef struct {
    kind what;
    uint32_t slot, other, value;
} step;

/* The real thing and its model, side by side. */
typedef struct {
    const place *p;
    revamp_accelerator_view view;
    revamp_kernel step, fill, saxpy;
    revamp_array arrays[ARRAYS], floats[2];
    uint32_t words[ARRAYS][N];
    float numbers[2][N];
} world;

static revamp_argument part(revamp_argument argument, const int32_t *origin, const int32_t *extent) {
    argument.origin = origin;
    argument.extent = extent;
    return argument;
}

static void do_step(world *w, const step *s, uint32_t turn) {
    static const int32_t all = N, half = 64, from = 0;
    uint32_t *words = w->words[s->slot], value = s->value;
    switch (s->what) {
    case STEP:
        REQUIRE_OK(launch_step(w->view, w->step, w->arrays[s->slot]));
        step_naive(words, N, 1);
        break;
    case STEP_PART: {
        revamp_argument argument = part(revamp_argument_buffer(0, w->arrays[s->slot]), &from, &half);
        REQUIRE_OK(launch(w->view, w->step, 1, &half, &argument, 1));
        step_naive(words, (size_t)half, 1);
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
        /* The kernel has as many groups as the domain, whatever the block says. */
        const int32_t *extent = s->value / 2 ? &half : &all;
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
            /* Both stay small, so that they stay exact. */
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

static void set_up(world *w, const place *p) {
    memset(w, 0, sizeof *w);
    w->p = p;
    /* The default view: arrays live on it, and launches elsewhere are refused. */
    w->view = p->view;
    w->step = load(p->accelerator, &step_module);
    w->fill = load(p->accelerator, &fill_module);
    w->saxpy = load(p->accelerator, &address_module);
    for (int a = 0; a < ARRAYS; a++) {
        fill_bytes(w->words[a], sizeof w->words[a], 1 + (uint32_t)a);
        w->arrays[a] = array_with(p->view, w->words[a], N);
    }
}

static void begin_floats(world *w) {
    for (int a = 0; a < 2; a++) {
        for (int i = 0; i < N; i++)
            w->numbers[a][i] = (float)((i * (a + 3)) % 7);
        if (w->floats[a]) CHECK_OK(revamp_array_destroy(w->floats[a]));
        w->floats[a] = array_with(w->p->view, w->numbers[a], N);
    }
}

static bool is_right(world *w) {
    bool right = true;
    for (int a = 0; a < ARRAYS; a++)
        right = CHECK_SAME(read_array(w->arrays[a]), w->words[a], sizeof w->words[a]) && right;
    for (int a = 0; a < 2; a++)
        right = CHECK_SAME(read_array(w->floats[a]), w->numbers[a], sizeof w->numbers[a]) && right;
    return right;
}

static void tear_down(world *w) {
    for (int a = 0; a < ARRAYS; a++)
        CHECK_OK(revamp_array_destroy(w->arrays[a]));
    for (int a = 0; a < 2; a++)
        CHECK_OK(revamp_array_destroy(w->floats[a]));
    CHECK_OK(revamp_kernel_release(w->step));
    CHECK_OK(revamp_kernel_release(w->fill));
    CHECK_OK(revamp_kernel_release(w->saxpy));
}

/* Loops over a few steps, as programs have them, now and then with a wait or something new inside. */
static void run_loops(world *w, uint32_t seed) {
    uint32_t state = 0x9E3779B9U * (seed + 1);
    begin_floats(w);
    /* x and y grow like Fibonacci's numbers when each is added to the other. */
    int sums = 0;
    for (int loop = 0; loop < LOOPS; loop++) {
        step body[MOST_BODY];
        const uint32_t length = 1 + random_number(&state) % MOST_BODY, times = 1 + random_number(&state) % MOST_TIMES;
        for (uint32_t i = 0; i < length; i++) {
            step s = {(kind)(random_number(&state) % KINDS), random_number(&state) % ARRAYS,
                      random_number(&state) % ARRAYS, random_number(&state) % 4};
            /* What makes all else wait comes less often. */
            if (s.what >= COPY && random_number(&state) % 3) s.what = (kind)(s.value % COPY);
            body[i] = s;
        }
        for (uint32_t turn = 0; turn < times; turn++)
            for (uint32_t i = 0; i < length; i++) {
                if (body[i].what == SAXPY && sums++ % 20 == 19) begin_floats(w);
                do_step(w, &body[i], turn);
            }
    }
    if (!is_right(w)) check_fail(__FILE__, __LINE__, "program %u", (unsigned)seed);
}

TEST(launches_again_in_random_loops) {
    FOR_EACH_PLACE(p, runs_spirv) {
        world w;
        set_up(&w, p);
        for (uint32_t seed = 0; seed < PROGRAMS; seed++)
            run_loops(&w, seed);
        tear_down(&w);
    }
}

/* Every length around the size of a command buffer, each followed by longer and shorter ones. */
TEST(launches_again_of_every_length) {
    FOR_EACH_PLACE(p, runs_spirv) {
        world w;
        set_up(&w, p);
        begin_floats(&w);
        const step steps[] = {{STEP, 0, 0, 0}, {FILL_COUNTED, 1, 0, 5}, {STEP, 1, 0, 0}, {STEP_PART, 2, 0, 0}};
        for (uint32_t length = 1; length < 40; length++)
            for (uint32_t pass = 0; pass < 3; pass++) {
                for (uint32_t i = 0; i < (pass == 1 ? length / 2 : length); i++)
                    do_step(&w, &steps[i % COUNT(steps)], i);
                REQUIRE_OK(revamp_accelerator_view_wait(w.view));
            }
        is_right(&w);
        tear_down(&w);
    }
}

/* The array of a launch goes, and one with the same contents of its driver's handle may come: nothing of the old one is
 * used again. */
TEST(launches_again_on_arrays_made_anew) {
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
