/* Random programs over array_views, against flat memory. The model of a data source is a number, and whether it is
 * known, for each 4-byte word, with bounds of where the word must and may be valid. All steps of a program come from
 * its seed.
 *
 * A failure prints the program, then drops the steps that it does not need. REVAMP_TEST_PROGRAMS sets the number of
 * programs, REVAMP_TEST_FIRST the seed of the first, REVAMP_TEST_SEED runs that one alone (in the same mode: what
 * accelerators there are is part of it). REVAMP_TEST_SKIP (steps by number) and REVAMP_TEST_WITHOUT (kinds of steps by
 * name) leave steps out, to look behind a known defect. */
#include "support.h"
#include "system.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANK = 3, SLOTS = 12, SOURCES = 2, MOST_STEPS = 48, FEWEST_STEPS = 12, GUARD = 16, SHRINK_SECONDS = 60 };

/* Setting up. */

typedef enum { OVER_HOST, OVER_THREADS, OVER_VULKAN, OVER_STAGING, WITHOUT_SOURCE, HOMES } home_kind;
static const char *const home_names[] = {"host memory", "an array on host threads", "an array on Vulkan",
                                         "a staging array", "no data source"};

/* Where bytes can be. Two accelerator_views of one accelerator have one memory. */
enum { HOST, THREADS, THREADS_2, VULKAN, VULKAN_2, LOCATIONS, NOWHERE = -1 };
static const char *const location_names[] = {"host", "threads", "threads(2)", "vulkan", "vulkan(2)"};
static struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
} locations[LOCATIONS];
static int location_count;
static uint64_t binding_alignment;
static revamp_kernel box_on_vulkan, step_on_vulkan, fill_on_vulkan;

#define BIT(location) (1U << (location))
#define EVERYWHERE (BIT(LOCATIONS) - 1U)

static bool is_vulkan(int location) {
    return location == VULKAN || location == VULKAN_2;
}

/* What the library logs as an error: failures nobody was told of, and races (REVAMP_CHECK) where there are none. */
static char logged[512];

static void on_log(revamp_log_level level, const char *message, void *context) {
    (void)level;
    (void)context;
    if (!logged[0]) snprintf(logged, sizeof logged, "%s", message);
}

static void set_up_location(int location, revamp_accelerator accelerator, bool is_default) {
    locations[location].accelerator = accelerator;
    locations[location].view =
        is_default ? default_view(accelerator) : new_view(accelerator, REVAMP_QUEUING_MODE_IMMEDIATE);
}

static void set_up(void) {
    const place *vulkan = places_that(runs_spirv);
    REQUIRE_OK(revamp_set_log_callback(on_log, NULL, REVAMP_LOG_ERROR));
    set_up_location(HOST, find("cpu"), true);
    set_up_location(THREADS, find("host"), true);
    set_up_location(THREADS_2, find("host"), false);
    location_count = VULKAN;
    if (!vulkan->view) return;
    set_up_location(VULKAN, vulkan->accelerator, true);
    set_up_location(VULKAN_2, vulkan->accelerator, false);
    location_count = LOCATIONS;
    binding_alignment = vulkan->info.min_storage_buffer_alignment;
    box_on_vulkan = load(vulkan->accelerator, &box_module);
    step_on_vulkan = load(vulkan->accelerator, &step_module);
    fill_on_vulkan = load(vulkan->accelerator, &fill_module);
}

static void tear_down(void) {
    CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_ERROR));
    CHECK_OK(revamp_accelerator_view_release(locations[THREADS_2].view));
    if (location_count <= VULKAN) return;
    CHECK_OK(revamp_kernel_release(box_on_vulkan));
    CHECK_OK(revamp_kernel_release(step_on_vulkan));
    CHECK_OK(revamp_kernel_release(fill_on_vulkan));
    CHECK_OK(revamp_accelerator_view_release(locations[VULKAN_2].view));
}

/* The program that runs: its random numbers, its text, its failure. */

static home_kind home_under_test;
static uint32_t program_seed, random_state;
static int current_step;
static char text[1 << 16];
static size_t text_used;

static void seed_step(int step) {
    random_state =
        ((program_seed * HOMES + (uint32_t)home_under_test) * 2654435761U) ^ ((uint32_t)(step + 7) * 2246822519U);
    if (!random_state) random_state = 1;
    for (int i = 0; i < 4; i++)
        random_number(&random_state);
}

static uint32_t below(uint32_t n) {
    return (uint32_t)(((uint64_t)random_number(&random_state) * n) >> 32);
}

static bool one_in(uint32_t n) {
    return below(n) == 0;
}

static void append(const char *format, va_list arguments) {
    int n = vsnprintf(text + text_used, sizeof text - text_used, format, arguments);
    if (n > 0) text_used += (size_t)n < sizeof text - text_used ? (size_t)n : sizeof text - text_used - 1;
}

/* Writes down what is done, before it is: a crash shows it too. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static void begin_note(const char *format, ...) {
    va_list arguments;
    note("\n  %3d: ", current_step);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

static void shrink(void);

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
    char why[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    on_crash(NULL);
    check_fail(__FILE__, __LINE__, "REVAMP_TEST_SEED=%u, over %s, step %d: %s%s", program_seed,
               home_names[home_under_test], current_step, why, text);
    if (!getenv("REVAMP_TEST_SKIP")) shrink();
    check_abandon();
}

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        revamp_status status_of_call = call;                                                                           \
        if (status_of_call != REVAMP_OK)                                                                               \
            fail("%s: %s: %s", #call, revamp_status_name(status_of_call), revamp_last_error_message());                \
    } while (0)

static void on_signal(int number) {
    static const char head[] = "\nthe program that was running (see its seed below):";
    ssize_t ignored = write(2, head, sizeof head - 1);
    ignored = write(2, text, text_used);
    ignored = write(2, "\n", 1);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

/* Boxes of elements, in words. */

typedef struct {
    uint32_t rank;
    int32_t extent[MOST_RANK];
    uint64_t stride[MOST_RANK];
    uint64_t offset;
    uint32_t element;
} box;

static uint64_t elements_of(const box *b) {
    return product(b->rank, b->extent);
}

static uint64_t words_of(const box *b) {
    return elements_of(b) * b->element;
}

/* The word of the whole that is word number k of the box. */
static uint64_t word_at(const box *b, uint64_t k) {
    uint64_t at = b->offset + k % b->element;
    k /= b->element;
    for (uint32_t d = b->rank; d-- > 0; k /= (uint64_t)b->extent[d])
        at += k % (uint64_t)b->extent[d] * b->stride[d];
    return at;
}

static box packed_box(uint32_t rank, const int32_t *extent, uint32_t element, uint64_t offset) {
    box b = {0};
    uint64_t stride = element;
    b.rank = rank;
    b.element = element;
    b.offset = offset;
    for (uint32_t d = rank; d-- > 0; stride *= (uint64_t)extent[d]) {
        b.extent[d] = extent[d];
        b.stride[d] = stride;
    }
    return b;
}

static box section_box(const box *b, const int32_t *origin, const int32_t *extent) {
    box s = *b;
    for (uint32_t d = 0; d < b->rank; d++) {
        s.offset += (uint64_t)origin[d] * b->stride[d];
        s.extent[d] = extent[d];
    }
    return s;
}

static bool is_packed(const box *b) {
    uint64_t words = words_of(b);
    return word_at(b, words - 1) - b->offset == words - 1;
}

static void note_list(const char *name, const box *b, const int32_t *values) {
    note("%s", name);
    for (uint32_t d = 0; d < b->rank; d++)
        note("%s%d", d ? ", " : "{", values[d]);
    note("}");
}

static void note_box(const box *b) {
    note_list("extent ", b, b->extent);
    note(", strides {");
    for (uint32_t d = 0; d < b->rank; d++)
        note("%s%d", d ? ", " : "", (int)b->stride[d]);
    note("} words from word %d, elements of %u words", (int)b->offset, b->element);
}

/* Data sources and views, with the model. */

/* Whether the contents of a word were discarded or never written. MAYBE: the rules leave it open. */
enum { KEPT, GONE, MAYBE };

typedef struct {
    home_kind kind;
    int home;
    box whole;
    uint64_t words;
    uint32_t *model;
    uint8_t *known;
    uint8_t *gone;
    /* Where each word must be valid; and may be, or where something with the same memory is. */
    uint8_t *least, *most;
    uint8_t *mark;
    /* Memory of the program with guards. */
    uint32_t *guarded, *memory;
    revamp_array array;
    bool is_host_array;
    uint64_t id;
    unsigned views;
    /* Word 0 as the host was given it. */
    uint32_t *base;
} source;

typedef struct {
    revamp_array_view handle;
    source *of;
    box b;
    bool read_only;
    unsigned owners;
    const uint32_t *state;
} view;

static source sources[SOURCES];
static view views[SLOTS];
static uint32_t latest_slot;

static int number_of(const view *v) {
    return (int)(v - views);
}

static void mark(source *s, const box *b) {
    memset(s->mark, 0, s->words);
    for (uint64_t k = words_of(b); k-- > 0;)
        s->mark[word_at(b, k)] = 1;
}

static bool is_marked(const source *s, const box *b) {
    for (uint64_t k = words_of(b); k-- > 0;)
        if (s->mark[word_at(b, k)]) return true;
    return false;
}

static bool overlap(source *a, const box *x, const source *b, const box *y) {
    if (a != b) return false;
    mark(a, x);
    return is_marked(b, y);
}

static void read_at(source *s, const box *b, int location) {
    for (uint64_t k = words_of(b); k-- > 0;) {
        uint64_t w = word_at(b, k);
        if (s->gone[w] == GONE) continue;
        if (s->gone[w] == KEPT && location != NOWHERE) s->least[w] |= (uint8_t)BIT(location);
        /* On its way it may pass home and the host. */
        s->most[w] |= (uint8_t)(location == NOWHERE || s->home == NOWHERE ? EVERYWHERE
                                                                          : BIT(location) | BIT(s->home) | BIT(HOST));
    }
}

static void write_at(source *s, const box *b, int location) {
    for (uint64_t k = words_of(b); k-- > 0;) {
        uint64_t w = word_at(b, k);
        s->gone[w] = KEPT;
        s->least[w] = (uint8_t)(location == NOWHERE ? 0 : BIT(location));
        s->most[w] = (uint8_t)(location == NOWHERE ? EVERYWHERE : BIT(location));
    }
}

static void use_at(source *s, const box *b, int location, revamp_access access) {
    if (access & REVAMP_ACCESS_READ) read_at(s, b, location);
    if (access & REVAMP_ACCESS_WRITE) write_at(s, b, location);
}

static void set_known(source *s, const box *b, bool known) {
    for (uint64_t k = words_of(b); k-- > 0;)
        s->known[word_at(b, k)] = known;
}

static void compare(const source *s, const box *b, const uint32_t *got, const char *what) {
    for (uint64_t k = 0; k < words_of(b); k++) {
        uint64_t w = word_at(b, k);
        if (s->known[w] && got[w - b->offset] != s->model[w])
            fail("%s: word %d is %#x, expected %#x", what, (int)w, got[w - b->offset], s->model[w]);
    }
}

/* The asynchronous operation under way, at most one; and the far side of a copy. */

typedef struct {
    box whole, part;
    uint32_t *model;
    uint8_t *known;
    uint32_t *host;
    revamp_array array;
} far_side;

static struct {
    revamp_completion done;
    int count;
    source *of[2];
    box part[2];
    far_side far;
} pending;

static void end_far(far_side *far) {
    uint64_t words = words_of(&far->whole);
    const uint32_t *got = far->host;
    if (far->array) got = read_array(far->array);
    for (uint64_t w = 0; w < words; w++)
        if (far->known[w] && got[w] != far->model[w])
            fail("the other side of the copy: word %d is %#x, expected %#x", (int)w, got[w], far->model[w]);
    if (far->array) DO(revamp_array_destroy(far->array));
}

static void wait_pending(void) {
    if (!pending.done) return;
    note(" (waits)");
    DO(revamp_completion_get(pending.done));
    DO(revamp_completion_release(pending.done));
    pending.done = NULL;
    if (pending.far.model) end_far(&pending.far);
    memset(&pending, 0, sizeof pending);
}

/* Before another use of the elements. */
static void settle(source *s, const box *b) {
    for (int i = 0; pending.done && i < pending.count; i++)
        if (overlap(s, b, pending.of[i], &pending.part[i])) {
            wait_pending();
            return;
        }
}

static void set_pending(revamp_completion done, source *s, const box *b) {
    pending.done = done;
    pending.count = 0;
    if (s) {
        pending.of[pending.count] = s;
        pending.part[pending.count++] = *b;
    }
}

/* Where the bytes are. */

static revamp_residency residency_at(const view *v, int location) {
    revamp_residency r = {0};
    r.struct_size = sizeof r;
    DO(revamp_array_view_get_residency(v->handle, locations[location].view, &r));
    return r;
}

typedef struct {
    revamp_residency at[LOCATIONS];
    /* Locations that have the memory of each. */
    uint32_t same[LOCATIONS];
} residencies;

static residencies residencies_of(const view *v) {
    residencies all;
    memset(&all, 0, sizeof all);
    for (int l = 0; l < location_count; l++)
        all.at[l] = residency_at(v, l);
    for (int a = 0; a < location_count; a++)
        for (int b = 0; b < location_count; b++)
            /* Host threads use the host's memory, home's or its copy. */
            if (locations[a].accelerator == locations[b].accelerator ||
                (all.at[a].shares_home && all.at[b].shares_home) ||
                (!has_separate_memory() && !is_vulkan(a) && !is_vulkan(b)))
                all.same[a] |= BIT(b);
    return all;
}

static void check_sharing(const view *v, const residencies *all) {
    const source *s = v->of;
    for (int l = 0; l < location_count && s->home != NOWHERE; l++) {
        bool is_own = locations[l].accelerator == locations[s->home].accelerator;
        bool shares = all->at[l].shares_home;
        if (is_own && !shares) fail("%s does not share home, its own memory", location_names[l]);
        if (has_separate_memory() && shares && !is_own) fail("%s shares home in separate memory", location_names[l]);
        if (!has_separate_memory() && s->kind == OVER_HOST && !is_vulkan(l) && !shares)
            fail("%s does not share memory of the host", location_names[l]);
    }
}

static void check_residency(const view *v) {
    const source *s = v->of;
    uint64_t words = words_of(&v->b);
    if (pending.done) return;
    residencies all = residencies_of(v);
    check_sharing(v, &all);
    for (int l = 0; l < location_count; l++) {
        const revamp_residency *r = &all.at[l];
        uint64_t least = 0, most = 0, gone = 0, maybe = 0;
        for (uint64_t k = 0; k < words; k++) {
            uint64_t w = word_at(&v->b, k);
            least += s->least[w] >> l & 1;
            most += (s->most[w] & all.same[l]) != 0;
            gone += s->gone[w] == GONE;
            maybe += s->gone[w] == MAYBE;
        }
        if (r->view_bytes != words * 4)
            fail("view_bytes of v%d is %d, expected %d", number_of(v), (int)r->view_bytes, (int)words * 4);
        if (r->valid_bytes < least * 4 || r->valid_bytes > most * 4)
            fail("valid_bytes of v%d on %s is %d, expected %d to %d", number_of(v), location_names[l],
                 (int)r->valid_bytes, (int)least * 4, (int)most * 4);
        if (r->discarded_bytes < gone * 4 || r->discarded_bytes > (gone + maybe) * 4)
            fail("discarded_bytes of v%d on %s is %d, expected %d to %d", number_of(v), location_names[l],
                 (int)r->discarded_bytes, (int)gone * 4, (int)(gone + maybe) * 4);
        if (r->valid_bytes + r->discarded_bytes > r->view_bytes)
            fail("v%d on %s: %d bytes are valid and %d discarded of %d", number_of(v), location_names[l],
                 (int)r->valid_bytes, (int)r->discarded_bytes, (int)r->view_bytes);
    }
}

/* After a read there: nothing is missing. */
static void check_complete(const view *v, int location) {
    if (pending.done) return;
    revamp_residency r = residency_at(v, location);
    if (r.valid_bytes + r.discarded_bytes != r.view_bytes)
        fail("after a use of v%d on %s %d bytes are valid there and %d discarded, of %d", number_of(v),
             location_names[location], (int)r.valid_bytes, (int)r.discarded_bytes, (int)r.view_bytes);
}

/* Bytes moved. */

typedef struct {
    bool is_on;
    const view *v;
    revamp_transfer_counters all, of_source, of_view;
    uint64_t least, most;
} measure;

static void read_counters(measure *m) {
    m->all.struct_size = m->of_source.struct_size = m->of_view.struct_size = sizeof m->all;
    DO(revamp_get_transfers(&m->all));
    DO(revamp_array_view_get_source_transfers(m->v->handle, &m->of_source));
    DO(revamp_array_view_get_transfers(m->v->handle, &m->of_view));
}

static uint64_t implicit_bytes(const revamp_transfer_counters *c) {
    return c->implicit_to_bytes + c->implicit_from_bytes + c->implicit_local_bytes;
}

static uint64_t explicit_bytes(const revamp_transfer_counters *c) {
    return c->explicit_to_bytes + c->explicit_from_bytes + c->explicit_local_bytes;
}

/* Bounds for a use of a view. From one device to another each byte counts twice. */
static void expect_use(measure *m, const view *v, int location, revamp_access access) {
    if (!m->is_on || !(access & REVAMP_ACCESS_READ)) return;
    residencies all = residencies_of(v);
    const revamp_residency *r = &all.at[location];
    uint64_t least = 0, most = 0;
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        least += v->of->gone[w] == KEPT && !(v->of->most[w] & all.same[location]);
        most += v->of->gone[w] != GONE && !(v->of->least[w] & all.same[location]);
    }
    if (r->valid_bytes + r->discarded_bytes == r->view_bytes) most = 0;
    m->least += least * 4;
    m->most += most * 8;
}

static measure begin_measure(const view *v, int location, revamp_access access) {
    measure m;
    memset(&m, 0, sizeof m);
    m.v = v;
    m.is_on = !pending.done && location != NOWHERE && !one_in(3);
    expect_use(&m, v, location, access);
    if (m.is_on) read_counters(&m);
    return m;
}

static void end_measure(const measure *m, bool is_implicit, bool is_alone) {
    measure now = *m;
    if (!m->is_on) return;
    read_counters(&now);
    uint64_t implicit = implicit_bytes(&now.all) - implicit_bytes(&m->all);
    uint64_t explicit = explicit_bytes(&now.all) - explicit_bytes(&m->all);
    uint64_t bytes = is_implicit ? implicit : explicit;
    if (is_implicit ? explicit : implicit) fail("bytes were counted as %s", is_implicit ? "explicit" : "implicit");
    if (bytes < m->least || bytes > m->most)
        fail("%d bytes were moved, expected %d to %d", (int)bytes, (int)m->least, (int)m->most);
    if (!is_alone) return;
    uint64_t of_source = implicit_bytes(&now.of_source) + explicit_bytes(&now.of_source) -
                         implicit_bytes(&m->of_source) - explicit_bytes(&m->of_source);
    uint64_t of_view = implicit_bytes(&now.of_view) + explicit_bytes(&now.of_view) - implicit_bytes(&m->of_view) -
                       explicit_bytes(&m->of_view);
    if (of_source != bytes || of_view != bytes)
        fail("%d bytes were moved; the data source counted %d, the view %d", (int)bytes, (int)of_source, (int)of_view);
}

/* What the host may do without a call. */

static uint32_t word_of(const view *v) {
    return __atomic_load_n(v->state, __ATOMIC_ACQUIRE);
}

/* After a use elsewhere. */
static void check_words(source *s, const box *b, revamp_access access) {
    mark(s, b);
    for (view *v = views; v < views + SLOTS; v++) {
        uint32_t state = v->owners && v->of == s && is_marked(s, &v->b) ? word_of(v) : 0;
        if (state & REVAMP_HOST_MAY_WRITE || (state && access & REVAMP_ACCESS_WRITE))
            fail("the state of v%d is %u after another use of its elements", number_of(v), state);
    }
}

/* Making things. */

static box random_shape(bool may_be_large) {
    static const uint32_t element_words[] = {1, 1, 2, 3};
    uint32_t rank = 1 + below(MOST_RANK), element = element_words[below(4)];
    int32_t extent[MOST_RANK];
    if (rank == 1)
        extent[0] = 1 + (int32_t)below(may_be_large && one_in(12) ? 60000 : 400);
    else
        for (uint32_t d = 0; d < rank; d++)
            extent[d] = 1 + (int32_t)below(rank == 2 ? 32 : 11);
    return packed_box(rank, extent, element, 0);
}

static void baseline(source *s, const uint32_t *contents) {
    if (contents) memcpy(s->model, contents, s->words * 4);
    memset(s->known, contents != NULL, s->words);
    memset(s->gone, contents ? KEPT : GONE, s->words);
    memset(s->least, contents ? (int)BIT(s->home) : 0, s->words);
    memset(s->most, contents ? (int)BIT(s->home) : 0, s->words);
    s->base = s->kind == OVER_HOST ? s->memory : NULL;
}

static void make_array_home(source *s) {
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    revamp_accelerator_view on = locations[s->home].view;
    s->is_host_array = s->kind != OVER_VULKAN;
    if (s->kind == OVER_STAGING) options.associated_view = locations[1 + (int)below((uint32_t)location_count - 1)].view;
    if (s->kind == OVER_VULKAN && one_in(2) && info_of(locations[VULKAN].accelerator).supports_cpu_shared_memory) {
        options.has_cpu_access_type = true;
        options.cpu_access_type = REVAMP_ACCESS_READ_WRITE;
        s->is_host_array = true;
    }
    DO(revamp_array_create(on, s->whole.rank, s->whole.extent, s->whole.element * 4, &options, &s->array));
}

static void make_source(source *s, home_kind kind) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->home = kind == WITHOUT_SOURCE ? NOWHERE
              : kind == OVER_THREADS ? THREADS + (int)below(2)
              : kind == OVER_VULKAN  ? VULKAN + (int)below(2)
                                     : HOST;
    s->whole = random_shape(true);
    s->words = words_of(&s->whole);
    s->model = memory(s->words * 4);
    s->known = memory(s->words * 5);
    s->gone = s->known + s->words;
    s->least = s->gone + s->words;
    s->most = s->least + s->words;
    s->mark = s->most + s->words;
    uint32_t *contents = numbers(s->words, random_number(&random_state));
    begin_note("source %d over %s", (int)(s - sources), home_names[kind]);
    if (kind == OVER_HOST) {
        uint32_t misplaced = below(GUARD);
        s->guarded = memory((s->words + 2 * GUARD + misplaced) * 4);
        s->memory = s->guarded + GUARD + misplaced;
        memset(s->guarded, 0xa5, (GUARD + misplaced) * 4);
        memcpy(s->memory, contents, s->words * 4);
        memset(s->memory + s->words, 0xa5, (size_t)GUARD * 4);
        note(" at byte %d of a page", (int)((uintptr_t)s->memory % 4096));
    } else if (kind != WITHOUT_SOURCE) {
        make_array_home(s);
        write_array(s->array, contents);
        note(", on %s%s", location_names[s->home], s->is_host_array ? ", which the host reaches" : "");
    }
    note(": ");
    note_box(&s->whole);
    baseline(s, kind == WITHOUT_SOURCE ? NULL : contents);
}

static view *free_slot(void) {
    uint32_t first = below(SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (!views[(first + i) % SLOTS].owners) return &views[(first + i) % SLOTS];
    return NULL;
}

/* Often the same as before: what went wrong shows in the next use. */
static view *some_view(void) {
    uint32_t first = below(SLOTS);
    if (one_in(3)) first = latest_slot;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (views[(first + i) % SLOTS].owners) return &views[latest_slot = (first + i) % SLOTS];
    return NULL;
}

static view *some_writable(void) {
    for (int i = 0; i < 8; i++) {
        view *v = some_view();
        if (!v || !v->read_only) return v;
    }
    return NULL;
}

static void check_info(const view *v) {
    revamp_array_view_info info = {0};
    info.struct_size = sizeof info;
    DO(revamp_array_view_get_info(v->handle, &info));
    bool good = info.rank == v->b.rank && info.element_size == v->b.element * 4 &&
                info.element_count == elements_of(&v->b) && info.offset == v->b.offset * 4 &&
                info.read_only == v->read_only && info.source_id == v->of->id &&
                info.source_view == (v->of->home == NOWHERE ? NULL : locations[v->of->home].view);
    for (uint32_t d = 0; good && d < v->b.rank; d++)
        good = info.extent[d] == v->b.extent[d] && (v->b.extent[d] == 1 || info.strides[d] == v->b.stride[d] * 4);
    if (!good) fail("the info of v%d is wrong", number_of(v));
}

static void add_view(view *slot, revamp_array_view handle, source *s, const box *b, bool read_only) {
    memset(slot, 0, sizeof *slot);
    slot->handle = handle;
    slot->of = s;
    slot->b = *b;
    slot->read_only = read_only;
    slot->owners = 1;
    DO(revamp_array_view_get_host_access(handle, &slot->state));
    if (!s->views++) {
        revamp_array_view_info info = {0};
        info.struct_size = sizeof info;
        DO(revamp_array_view_get_info(handle, &info));
        s->id = info.source_id;
    }
    note(", is v%d: ", number_of(slot));
    note_box(b);
    check_info(slot);
}

/* A view of all of the source: the first, or of an array one more. */
static void open_source(source *s) {
    view *slot = free_slot();
    revamp_array_view handle = NULL;
    revamp_array_view_options options = {0};
    options.struct_size = sizeof options;
    if (!slot || (s->views && !s->array)) return;
    options.read_only = s->kind != WITHOUT_SOURCE && one_in(6);
    begin_note("a %sview of source %d", options.read_only ? "read-only " : "", (int)(s - sources));
    if (s->array)
        DO(revamp_array_view_create_array(s->array, &options, &handle));
    else if (s->kind == OVER_HOST)
        DO(revamp_array_view_create_host(s->memory, s->whole.rank, s->whole.extent, s->whole.element * 4, &options,
                                         &handle));
    else
        DO(revamp_array_view_create(s->whole.rank, s->whole.extent, s->whole.element * 4, &options, &handle));
    add_view(slot, handle, s, &s->whole, options.read_only);
}

/* The last view of a source is gone: home has all. */
static void end_source(source *s) {
    wait_pending();
    if (s->kind == WITHOUT_SOURCE) {
        baseline(s, NULL);
        return;
    }
    const uint32_t *contents = s->memory;
    if (s->kind == OVER_HOST) {
        const unsigned char *before = (const unsigned char *)s->guarded,
                            *after = (const unsigned char *)(s->memory + s->words);
        for (const unsigned char *at = before; at < (const unsigned char *)s->memory; at++)
            if (*at != 0xa5) fail("memory before the source was written");
        for (size_t i = 0; i < (size_t)GUARD * 4; i++)
            if (after[i] != 0xa5) fail("memory behind the source was written");
    } else if (s->array) {
        contents = read_array(s->array);
    } else {
        /* The array went before its last view. */
        make_array_home(s);
        uint32_t *fresh = numbers(s->words, random_number(&random_state));
        write_array(s->array, fresh);
        baseline(s, fresh);
        return;
    }
    compare(s, &s->whole, contents, "home after the last view's release");
    baseline(s, contents);
}

static void release_view(view *v) {
    source *s = v->of;
    begin_note("releases v%d", number_of(v));
    DO(revamp_array_view_release(v->handle));
    if (--v->owners) return;
    if (--s->views) return;
    note(", the last of source %d", (int)(s - sources));
    end_source(s);
}

/* Steps. */

static const char *name_of(revamp_access access) {
    return access == REVAMP_ACCESS_READ    ? "READ"
           : access == REVAMP_ACCESS_WRITE ? "WRITE"
           : access                        ? "READ_WRITE"
                                           : "0";
}

static revamp_access some_access(const view *v) {
    static const revamp_access all[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE,
                                        REVAMP_ACCESS_READ_WRITE, REVAMP_ACCESS_READ};
    return v->read_only ? REVAMP_ACCESS_READ : all[below(COUNT(all))];
}

static void step_open(void) {
    open_source(&sources[below(SOURCES)]);
}

static void random_part(const int32_t *all, uint32_t rank, int32_t *origin, int32_t *extent) {
    for (uint32_t d = 0; d < rank; d++) {
        extent[d] = one_in(4) ? all[d] : 1 + (int32_t)below((uint32_t)all[d]);
        origin[d] = (int32_t)below((uint32_t)(all[d] - extent[d] + 1));
    }
}

static void step_section(void) {
    view *v = some_view(), *slot = free_slot();
    int32_t origin[MOST_RANK] = {0}, extent[MOST_RANK];
    revamp_array_view made = NULL;
    if (!v || !slot) return;
    random_part(v->b.extent, v->b.rank, origin, extent);
    begin_note("section of v%d", number_of(v));
    note_list(" at ", &v->b, origin);
    box b = section_box(&v->b, origin, extent);
    DO(revamp_array_view_section(v->handle, origin, extent, &made));
    add_view(slot, made, v->of, &b, v->read_only);
}

static void step_project(void) {
    view *v = some_view(), *slot = free_slot();
    revamp_array_view made = NULL;
    if (!v || !slot || v->b.rank < 2) return;
    int32_t index = (int32_t)below((uint32_t)v->b.extent[0]);
    box b = v->b;
    b.offset += (uint64_t)index * b.stride[0];
    b.rank--;
    for (uint32_t d = 0; d < b.rank; d++) {
        b.extent[d] = b.extent[d + 1];
        b.stride[d] = b.stride[d + 1];
    }
    begin_note("projection %d of v%d", index, number_of(v));
    DO(revamp_array_view_project(v->handle, index, &made));
    add_view(slot, made, v->of, &b, v->read_only);
}

static void step_shape(void) {
    view *v = some_view(), *slot = free_slot();
    revamp_array_view made = NULL;
    if (!v || !slot) return;
    uint64_t elements = elements_of(&v->b), words = words_of(&v->b);
    uint32_t rank = 1 + below(MOST_RANK), element = 1 + below(4);
    int32_t extent[MOST_RANK] = {1, 1, 1};
    for (uint32_t d = 0; d < rank; d++) {
        extent[d] = one_in(3) && d + 1 == rank ? (int32_t)elements : 1 + (int32_t)below((uint32_t)elements);
        elements /= (uint64_t)extent[d];
    }
    begin_note("view_as of v%d", number_of(v));
    if (!is_packed(&v->b)) {
        if (revamp_array_view_view_as(v->handle, rank, extent, &made) >= 0) fail("view_as of a view with gaps");
        if (revamp_array_view_reinterpret_as(v->handle, 4, &made) >= 0) fail("reinterpret_as of a view with gaps");
        return;
    }
    box b = packed_box(rank, extent, v->b.element, v->b.offset);
    if (one_in(2) && words % element == 0) {
        int32_t length = (int32_t)(words / element);
        note(" (reinterpret_as, %u words)", element);
        b = packed_box(1, &length, element, v->b.offset);
        DO(revamp_array_view_reinterpret_as(v->handle, element * 4, &made));
    } else {
        DO(revamp_array_view_view_as(v->handle, rank, extent, &made));
    }
    add_view(slot, made, v->of, &b, v->read_only);
}

static void step_copy_handle(void) {
    view *v = some_view(), *slot = free_slot();
    revamp_array_view made = NULL;
    if (!v || !slot) return;
    if (one_in(2)) {
        begin_note("retains v%d", number_of(v));
        DO(revamp_array_view_retain(v->handle));
        v->owners++;
        return;
    }
    begin_note("v%d as read only", number_of(v));
    DO(revamp_array_view_as_read_only(v->handle, &made));
    add_view(slot, made, v->of, &v->b, true);
}

static void step_release(void) {
    view *v = some_view();
    if (v) release_view(v);
}

static void put_numbers(view *v, uint32_t *at, bool all) {
    uint64_t words = words_of(&v->b), first = all ? 0 : below((uint32_t)words);
    uint64_t count = all ? words : 1 + below((uint32_t)(words - first));
    uint32_t value = random_number(&random_state);
    if (!all) note(", changes words %d to %d of it", (int)first, (int)(first + count - 1));
    for (uint64_t k = first; k < first + count; k++) {
        uint64_t w = word_at(&v->b, k);
        at[w - v->b.offset] = v->of->model[w] = value + (uint32_t)k;
        v->of->known[w] = true;
    }
}

static void step_access(void) {
    view *v = some_view();
    void *data = NULL;
    if (!v) return;
    revamp_access access = some_access(v);
    begin_note("host access to v%d, %s", number_of(v), name_of(access));
    settle(v->of, &v->b);
    measure m = begin_measure(v, HOST, access);
    DO(revamp_array_view_data(v->handle, access, &data));
    end_measure(&m, true, true);
    uint32_t *at = data, *base = at - v->b.offset;
    if (v->of->base && base != v->of->base) fail("the address of the source has moved");
    v->of->base = base;
    uint32_t needed =
        access == REVAMP_ACCESS_READ ? REVAMP_HOST_MAY_READ : REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE;
    if ((word_of(v) & needed) != needed) fail("the state of v%d is %u after the access", number_of(v), word_of(v));
    if (access != REVAMP_ACCESS_WRITE) compare(v->of, &v->b, at, "host access");
    use_at(v->of, &v->b, HOST, access);
    check_complete(v, HOST);
    if (access & REVAMP_ACCESS_WRITE) put_numbers(v, at, access == REVAMP_ACCESS_WRITE);
}

static view *some_published(void) {
    uint32_t first = below(SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        view *v = &views[(first + i) % SLOTS];
        if (v->owners && word_of(v)) return v;
    }
    return NULL;
}

/* Through an address from before, as far as the state allows. */
static void step_state(void) {
    view *v = some_published();
    if (!v) return;
    uint32_t state = word_of(v);
    if (!(state & REVAMP_HOST_MAY_READ)) fail("the state of v%d is %u", number_of(v), state);
    begin_note("the host uses v%d by its state %u", number_of(v), state);
    settle(v->of, &v->b);
    if (state != word_of(v)) return;
    uint32_t *at = v->of->base + v->b.offset;
    compare(v->of, &v->b, at, "by the state");
    if (!(state & REVAMP_HOST_MAY_WRITE)) return;
    if (v->read_only) fail("the state of a read-only view allows to write");
    put_numbers(v, at, false);
    write_at(v->of, &v->b, HOST);
    check_residency(v);
}

/* The kernels: a box changed on a device or on host threads. */

enum { STEP, SEQUENCE, COMBINE };

typedef struct {
    uint64_t to, from;
    uint32_t mode, value, n, m;
    uint32_t to_count[4], to_stride[4], from_count[4], from_stride[4];
} kernel_block;

static uint64_t offset_in(const uint32_t *count, const uint32_t *stride, uint32_t k) {
    uint64_t at = 0;
    for (int d = 3; d >= 0; k /= count[d], d--)
        at += (uint64_t)(k % count[d]) * stride[d];
    return at;
}

static void box_on_threads(const revamp_thread_id *id, void *context) {
    const kernel_block *b = context;
    uint32_t k = (uint32_t)id->global[0];
    uint32_t *to = (uint32_t *)(uintptr_t)(b->to + offset_in(b->to_count, b->to_stride, k));
    if (b->mode == STEP) *to = 3 * *to + 1;
    if (b->mode == SEQUENCE) *to = b->value + k;
    if (b->mode == COMBINE)
        *to = 3 * *to + *(const uint32_t *)(uintptr_t)(b->from + offset_in(b->from_count, b->from_stride, k % b->m));
}

static void put_box(const box *b, uint32_t *count, uint32_t *stride) {
    for (uint32_t d = 0; d < 4; d++) {
        count[d] = 1;
        stride[d] = 4;
    }
    count[3] = b->element;
    for (uint32_t d = 0; d < b->rank; d++) {
        count[3 - b->rank + d] = (uint32_t)b->extent[d];
        stride[3 - b->rank + d] = (uint32_t)b->stride[d] * 4;
    }
}

static void launch_box(int location, bool is_named, const kernel_block *block, const revamp_argument *arguments,
                       size_t count) {
    revamp_accelerator_view on = is_named ? locations[location].view : NULL;
    int32_t extent = (int32_t)block->n;
    if (is_vulkan(location)) {
        revamp_dispatch_info info = {0};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = count;
        info.block = block;
        info.block_size = sizeof *block;
        DO(revamp_dispatch(on, box_on_vulkan, &info));
        return;
    }
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = box_on_threads;
    info.arguments = arguments;
    info.argument_count = count;
    info.block = block;
    info.block_size = sizeof *block;
    DO(revamp_parallel_for_each(on, &info));
}

static void model_box(source *to, const box *b, const kernel_block *block, const source *from, const box *c) {
    for (uint32_t k = 0; k < block->n; k++) {
        uint64_t w = word_at(b, k);
        uint32_t *x = &to->model[w];
        if (block->mode == STEP) *x = 3 * *x + 1;
        if (block->mode == SEQUENCE) {
            *x = block->value + k;
            to->known[w] = true;
        }
        if (block->mode == COMBINE) {
            uint64_t other = word_at(c, k % block->m);
            *x = 3 * *x + from->model[other];
            to->known[w] &= from->known[other];
        }
    }
}

static int some_device(void) {
    return 1 + (int)below((uint32_t)location_count - 1);
}

static const view *view_beside(view *to) {
    for (int i = 0; i < 8; i++) {
        view *from = some_view();
        if (from && !overlap(to->of, &to->b, from->of, &from->b)) return from;
    }
    return NULL;
}

static void note_place(int location, bool is_named) {
    note(is_named ? " on %s" : " where the library chooses on the accelerator of %s", location_names[location]);
}

static void step_kernel(void) {
    view *to = some_writable();
    if (!to) return;
    const view *from = one_in(2) ? view_beside(to) : NULL;
    int location = some_device(), at = location;
    bool is_named = !one_in(6);
    kernel_block block = {0};
    revamp_argument arguments[2];
    revamp_access access = 0, from_access = REVAMP_ACCESS_READ;
    block.mode = from ? COMBINE : below(2);
    block.value = random_number(&random_state);
    block.n = (uint32_t)words_of(&to->b);
    if (block.mode == SEQUENCE && one_in(2)) access = REVAMP_ACCESS_WRITE;
    if (access == 0 && one_in(3)) access = REVAMP_ACCESS_READ_WRITE;
    if (access != REVAMP_ACCESS_WRITE && one_in(3)) block.n = 1 + below(block.n);
    if (!is_named) at = NOWHERE;
    put_box(&to->b, block.to_count, block.to_stride);
    arguments[0] = revamp_argument_view_address(0, to->handle, access);
    if (!access) access = REVAMP_ACCESS_READ_WRITE;
    begin_note("kernel %s of %u words of v%d, %s",
               block.mode == STEP ? "3x+1"
               : from             ? "3x+y"
                                  : "sequence",
               block.n, number_of(to), name_of(access));
    if (from) {
        block.m = (uint32_t)words_of(&from->b);
        put_box(&from->b, block.from_count, block.from_stride);
        if (!from->read_only && one_in(5)) from_access = REVAMP_ACCESS_READ_WRITE;
        bool is_default = from->read_only || from_access == REVAMP_ACCESS_READ_WRITE;
        arguments[1] = revamp_argument_view_address(8, from->handle, is_default ? 0 : from_access);
        note(" with v%d, %s", number_of(from), name_of(from_access));
        settle(from->of, &from->b);
    }
    note_place(location, is_named);
    settle(to->of, &to->b);
    measure m = begin_measure(to, at, access);
    if (from) expect_use(&m, from, location, from_access);
    launch_box(location, is_named, &block, arguments, from ? 2 : 1);
    end_measure(&m, true, !from);
    use_at(to->of, &to->b, at, access);
    if (from) use_at(from->of, &from->b, at, from_access);
    model_box(to->of, &to->b, &block, from ? from->of : NULL, from ? &from->b : NULL);
    check_words(to->of, &to->b, access);
    if (from) check_words(from->of, &from->b, from_access);
    if (is_named) check_complete(to, location);
    if (is_named && from) check_complete(from, location);
    if (one_in(2)) check_residency(to);
}

/* By a binding: contiguous and aligned. */
static void step_binding(void) {
    view *v = some_writable();
    if (!v || location_count <= VULKAN || !is_packed(&v->b) || v->b.offset * 4 % binding_alignment) return;
    int location = VULKAN + (int)below(2);
    bool is_fill = one_in(2);
    uint32_t value = random_number(&random_state);
    revamp_access access = is_fill && one_in(2) ? REVAMP_ACCESS_WRITE : REVAMP_ACCESS_READ_WRITE;
    int32_t extent = (int32_t)words_of(&v->b);
    revamp_argument arguments[] = {revamp_argument_view(0, v->handle),
                                   revamp_argument_push_constant(0, &value, sizeof value)};
    if (access == REVAMP_ACCESS_WRITE) arguments[0].access = access;
    begin_note("binding v%d to %s, %s", number_of(v), is_fill ? "fill" : "3x+1", name_of(access));
    note_place(location, true);
    settle(v->of, &v->b);
    measure m = begin_measure(v, location, access);
    DO(launch(locations[location].view, is_fill ? fill_on_vulkan : step_on_vulkan, 1, &extent, arguments,
              is_fill ? 2 : 1));
    end_measure(&m, true, true);
    use_at(v->of, &v->b, location, access);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        v->of->model[w] = is_fill ? value : 3 * v->of->model[w] + 1;
        v->of->known[w] |= is_fill;
    }
    check_words(v->of, &v->b, access);
    check_complete(v, location);
    check_residency(v);
}

static void step_synchronize(void) {
    view *v = some_view();
    if (!v) return;
    revamp_access access = some_access(v);
    revamp_completion done = NULL;
    bool is_async = one_in(3), is_home = one_in(3);
    int target = (int)below((uint32_t)location_count), location = is_home ? v->of->home : target;
    begin_note("synchronize%s%s v%d", is_home ? "" : "_to", is_async ? "_async" : "", number_of(v));
    if (!is_home) note_place(target, true);
    note(", %s", name_of(access));
    settle(v->of, &v->b);
    if (is_async) wait_pending();
    measure m = begin_measure(v, is_async ? NOWHERE : location, access);
    if (is_home && is_async)
        DO(revamp_array_view_synchronize_async(v->handle, access, NULL, &done));
    else if (is_home)
        DO(revamp_array_view_synchronize(v->handle, access));
    else if (is_async)
        DO(revamp_array_view_synchronize_to_async(v->handle, locations[target].view, access, NULL, &done));
    else
        DO(revamp_array_view_synchronize_to(v->handle, locations[target].view, access));
    end_measure(&m, false, true);
    if (access == REVAMP_ACCESS_WRITE) set_known(v->of, &v->b, false);
    if (location != NOWHERE) {
        use_at(v->of, &v->b, location, access);
    } else {
        /* Without a home there is nothing to do, and nothing is promised of where it is after. */
        for (uint64_t k = words_of(&v->b); k-- > 0;) {
            uint64_t w = word_at(&v->b, k);
            if (access & REVAMP_ACCESS_WRITE && v->of->gone[w] == GONE) v->of->gone[w] = MAYBE;
            if (access & REVAMP_ACCESS_WRITE) v->of->least[w] = 0;
            v->of->most[w] = EVERYWHERE;
        }
    }
    if (is_async) {
        set_pending(done, v->of, &v->b);
        if (one_in(2)) wait_pending();
    }
    if (location != NOWHERE) check_complete(v, location);
    check_residency(v);
    if (is_home && v->of->kind == OVER_HOST && access != REVAMP_ACCESS_WRITE && !pending.done)
        compare(v->of, &v->b, v->of->memory + v->b.offset, "home after synchronize");
}

static void step_discard(void) {
    view *v = some_writable();
    if (!v) return;
    begin_note("discards v%d", number_of(v));
    settle(v->of, &v->b);
    measure m = begin_measure(v, HOST, REVAMP_ACCESS_WRITE);
    DO(revamp_array_view_discard_data(v->handle));
    end_measure(&m, true, true);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        v->of->known[w] = false;
        v->of->gone[w] = GONE;
        v->of->least[w] = v->of->most[w] = 0;
    }
    check_residency(v);
}

/* Home changed behind the library's back, or what is elsewhere given up. */
static void step_refresh(void) {
    view *v = some_view();
    if (!v) return;
    source *s = v->of;
    bool changes = s->kind == OVER_HOST && !v->read_only && !one_in(4), asks_to_write = one_in(2);
    begin_note("refreshes v%d", number_of(v));
    settle(s, &v->b);
    if (changes) {
        revamp_access access = asks_to_write ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ;
        note(" after synchronize with %s and a change of home", name_of(access));
        DO(revamp_array_view_synchronize(v->handle, access));
        use_at(s, &v->b, HOST, access);
        compare(s, &v->b, s->memory + v->b.offset, "home after synchronize");
        put_numbers(v, s->memory + v->b.offset, false);
        /* What was to be written there needs no refresh. */
        if (asks_to_write && one_in(2)) return;
    }
    measure m = begin_measure(v, HOST, REVAMP_ACCESS_WRITE);
    DO(revamp_array_view_refresh(v->handle));
    end_measure(&m, true, true);
    if (s->home == NOWHERE) return;
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        if (!(s->least[w] & BIT(s->home))) s->known[w] = false;
    }
    write_at(s, &v->b, s->home);
    check_residency(v);
}

/* Copies. */

static revamp_region region_of(revamp_array_view handle) {
    revamp_region region = {0};
    region.struct_size = sizeof region;
    region.view = handle;
    return region;
}

/* Copies, or begins to; true if it is under way. */
static bool copy_regions(const revamp_region *from, const revamp_region *to, bool is_async) {
    if (!is_async) {
        DO(revamp_copy(from, to));
        return false;
    }
    revamp_completion done = NULL;
    wait_pending();
    DO(revamp_copy_async(from, to, NULL, &done));
    set_pending(done, NULL, NULL);
    return true;
}

static void add_pending(source *s, const box *b) {
    pending.of[pending.count] = s;
    pending.part[pending.count++] = *b;
}

static void copied_from(source *s, const box *b) {
    read_at(s, b, NOWHERE);
    /* It may be read where it is, so it need not be anywhere new. */
}

static void make_far(far_side *far, const view *v) {
    int32_t whole[MOST_RANK], origin[MOST_RANK] = {0};
    memset(far, 0, sizeof *far);
    for (uint32_t d = 0; d < v->b.rank; d++) {
        uint32_t margin = one_in(2) ? 0 : below(4);
        whole[d] = v->b.extent[d] + (int32_t)margin;
        origin[d] = (int32_t)below(margin + 1);
    }
    far->whole = packed_box(v->b.rank, whole, v->b.element, 0);
    far->part = section_box(&far->whole, origin, v->b.extent);
    uint64_t words = words_of(&far->whole);
    far->model = numbers(words, random_number(&random_state));
    far->known = memory(words);
    memset(far->known, 1, words);
    int location = (int)below((uint32_t)location_count + 2);
    if (location >= location_count) {
        note(" host memory");
        far->host = memory(words * 4);
        memcpy(far->host, far->model, words * 4);
        return;
    }
    far->array = array_of(locations[location].view, far->whole.rank, whole, far->whole.element * 4);
    write_array(far->array, far->model);
    note(" an array on %s", location_names[location]);
}

static revamp_region far_region(const far_side *far, int32_t *origin, int64_t *strides) {
    uint64_t rest = far->part.offset;
    for (uint32_t d = 0; d < far->part.rank; d++) {
        origin[d] = (int32_t)(rest / far->whole.stride[d]);
        rest %= far->whole.stride[d];
        strides[d] = (int64_t)far->whole.stride[d] * 4;
    }
    if (far->array) return section(far->array, origin, far->part.extent);
    revamp_region region =
        host_region(far->host + far->part.offset, far->part.rank, far->part.extent, far->part.element * 4);
    region.host_strides = strides;
    return region;
}

static void step_copy_far(void) {
    view *v = some_view();
    if (!v) return;
    bool is_in = !v->read_only && one_in(2), is_async = one_in(3);
    far_side far;
    int32_t origin[MOST_RANK];
    int64_t strides[MOST_RANK];
    begin_note("copy%s %s v%d %s", is_async ? "_async" : "", is_in ? "to" : "from", number_of(v),
               is_in ? "from" : "to");
    make_far(&far, v);
    settle(v->of, &v->b);
    revamp_region here = region_of(v->handle), there = far_region(&far, origin, strides);
    bool is_under_way = copy_regions(is_in ? &there : &here, is_in ? &here : &there, is_async);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k), x = word_at(&far.part, k);
        if (is_in) {
            v->of->model[w] = far.model[x];
            v->of->known[w] = true;
        } else {
            far.model[x] = v->of->model[w];
            far.known[x] = v->of->known[w];
        }
    }
    if (is_in)
        write_at(v->of, &v->b, v->of->home);
    else
        copied_from(v->of, &v->b);
    if (is_under_way) {
        add_pending(v->of, &v->b);
        pending.far = far;
        if (one_in(2)) wait_pending();
    } else {
        end_far(&far);
    }
    check_residency(v);
}

static view *view_like(const view *v) {
    for (int i = 0; i < 12; i++) {
        view *other = some_view();
        if (other && other->b.rank == v->b.rank && other->b.element == v->b.element) return other;
    }
    return NULL;
}

/* Between sections of two views, of one source or two. */
static void step_copy_views(void) {
    view *to = some_writable(), *from = to ? view_like(to) : NULL;
    if (!from) return;
    int32_t extent[MOST_RANK], at[2][MOST_RANK];
    revamp_array_view sections[2] = {NULL, NULL};
    view *sides[] = {from, to};
    box parts[2];
    for (uint32_t d = 0; d < to->b.rank; d++) {
        int32_t most = to->b.extent[d] < from->b.extent[d] ? to->b.extent[d] : from->b.extent[d];
        extent[d] = one_in(2) ? most : 1 + (int32_t)below((uint32_t)most);
    }
    for (int i = 0; i < 2; i++) {
        for (uint32_t d = 0; d < to->b.rank; d++)
            at[i][d] = (int32_t)below((uint32_t)(sides[i]->b.extent[d] - extent[d] + 1));
        parts[i] = section_box(&sides[i]->b, at[i], extent);
        DO(revamp_array_view_section(sides[i]->handle, at[i], extent, &sections[i]));
    }
    bool is_async = one_in(3), is_one = overlap(from->of, &parts[0], to->of, &parts[1]);
    begin_note("copy%s from v%d", is_async ? "_async" : "", number_of(from));
    note_list(" at ", &parts[0], at[0]);
    note(" to v%d", number_of(to));
    note_list(" at ", &parts[1], at[1]);
    note_list(" of ", &parts[0], extent);
    settle(from->of, &parts[0]);
    settle(to->of, &parts[1]);
    revamp_region source_region = region_of(sections[0]), target_region = region_of(sections[1]);
    if (is_one) {
        note(", which overlap");
        if (revamp_copy(&source_region, &target_region) >= 0) fail("an overlapping copy was done");
    } else {
        bool is_under_way = copy_regions(&source_region, &target_region, is_async);
        for (uint64_t k = words_of(&parts[0]); k-- > 0;) {
            uint64_t w = word_at(&parts[0], k), x = word_at(&parts[1], k);
            to->of->model[x] = from->of->model[w];
            to->of->known[x] = from->of->known[w];
        }
        copied_from(from->of, &parts[0]);
        write_at(to->of, &parts[1], to->of->home);
        if (is_under_way) {
            add_pending(from->of, &parts[0]);
            add_pending(to->of, &parts[1]);
        }
    }
    DO(revamp_array_view_release(sections[0]));
    DO(revamp_array_view_release(sections[1]));
    if (one_in(2)) wait_pending();
    check_residency(to);
    check_residency(from);
}

/* The array under the views, used by itself. */

static void array_by_pointer(source *s) {
    static const revamp_access all[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE};
    revamp_access access = all[below(3)];
    void *data = NULL;
    note(" by its address, %s", name_of(access));
    DO(revamp_array_data(s->array, access, &data));
    if (access != REVAMP_ACCESS_WRITE) compare(s, &s->whole, data, "the array");
    use_at(s, &s->whole, s->home, access);
    view all_of_it = {NULL, s, s->whole, false, 1, NULL};
    if (access & REVAMP_ACCESS_WRITE) put_numbers(&all_of_it, data, access == REVAMP_ACCESS_WRITE);
}

static void array_by_kernel(source *s) {
    kernel_block block = {0};
    block.n = (uint32_t)s->words;
    block.value = random_number(&random_state);
    block.mode = below(2);
    revamp_access access = block.mode == SEQUENCE && one_in(2) ? REVAMP_ACCESS_WRITE : REVAMP_ACCESS_READ_WRITE;
    revamp_argument argument = revamp_argument_address(0, s->array, access);
    note(" in a kernel, %s", name_of(access));
    put_box(&s->whole, block.to_count, block.to_stride);
    launch_box(s->home, one_in(2), &block, &argument, 1);
    use_at(s, &s->whole, s->home, access);
    model_box(s, &s->whole, &block, NULL, NULL);
    check_words(s, &s->whole, access);
}

static void array_by_copy(source *s) {
    if (one_in(2)) {
        note(" copied out");
        compare(s, &s->whole, read_array(s->array), "the array");
        use_at(s, &s->whole, s->home, REVAMP_ACCESS_READ);
        return;
    }
    note(" copied in");
    uint32_t *contents = numbers(s->words, random_number(&random_state));
    write_array(s->array, contents);
    memcpy(s->model, contents, s->words * 4);
    set_known(s, &s->whole, true);
    use_at(s, &s->whole, s->home, REVAMP_ACCESS_WRITE);
}

static void step_array(void) {
    view *v = some_view();
    if (!v || !v->of->array) return;
    source *s = v->of;
    begin_note("the array of source %d", (int)(s - sources));
    settle(s, &s->whole);
    if (one_in(10)) {
        note(" is destroyed");
        DO(revamp_array_destroy(s->array));
        s->array = NULL;
        return;
    }
    if (s->is_host_array && one_in(2))
        array_by_pointer(s);
    else if (s->kind != OVER_STAGING && one_in(2))
        array_by_kernel(s);
    else
        array_by_copy(s);
    check_residency(v);
}

/* A read-only view is not written, and a refusal changes nothing. */
static void step_refused(void) {
    view *v = some_view();
    void *data = NULL;
    revamp_completion done = NULL;
    revamp_status status = REVAMP_OK;
    if (!v || !v->read_only) return;
    begin_note("tries to write v%d", number_of(v));
    settle(v->of, &v->b);
    switch (below(5)) {
    case 0:
        status = revamp_array_view_data(v->handle, REVAMP_ACCESS_READ_WRITE, &data);
        break;
    case 1:
        status = revamp_array_view_synchronize(v->handle, REVAMP_ACCESS_WRITE);
        break;
    case 2:
        status = revamp_array_view_synchronize_to_async(v->handle, locations[some_device()].view,
                                                        REVAMP_ACCESS_READ_WRITE, NULL, &done);
        break;
    case 3:
        status = revamp_array_view_discard_data(v->handle);
        break;
    default: {
        far_side far;
        int32_t origin[MOST_RANK];
        int64_t strides[MOST_RANK];
        make_far(&far, v);
        revamp_region there = far_region(&far, origin, strides), here = region_of(v->handle);
        status = revamp_copy(&there, &here);
        end_far(&far);
    }
    }
    if (status != REVAMP_ERROR_INVALID_ARGUMENT) fail("the write came to %s", revamp_status_name(status));
    check_residency(v);
}

static void step_residency(void) {
    view *v = some_view();
    if (!v) return;
    begin_note("asks where v%d is", number_of(v));
    wait_pending();
    check_residency(v);
    check_info(v);
}

static void step_wait(void) {
    if (!pending.done) return;
    begin_note("waits");
    wait_pending();
}

static const struct {
    const char *name;
    unsigned weight;
    void (*run)(void);
} kinds[] = {
    {"open", 3, step_open},
    {"section", 9, step_section},
    {"project", 3, step_project},
    {"shape", 4, step_shape},
    {"handle", 3, step_copy_handle},
    {"release", 8, step_release},
    {"access", 12, step_access},
    {"state", 8, step_state},
    {"kernel", 16, step_kernel},
    {"binding", 5, step_binding},
    {"synchronize", 8, step_synchronize},
    {"discard", 3, step_discard},
    {"refresh", 3, step_refresh},
    {"copy", 6, step_copy_far},
    {"copy_views", 5, step_copy_views},
    {"array", 5, step_array},
    {"refused", 1, step_refused},
    {"residency", 2, step_residency},
    {"wait", 2, step_wait},
};

/* Programs. */

static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length])) return true;
    return false;
}

static void run_step(void) {
    unsigned sum = 0, i = 0;
    char number[16];
    for (size_t k = 0; k < COUNT(kinds); k++)
        sum += kinds[k].weight;
    seed_step(current_step);
    unsigned pick = below(sum);
    for (; pick >= kinds[i].weight; i++)
        pick -= kinds[i].weight;
    snprintf(number, sizeof number, "%d", current_step);
    if (is_listed(getenv("REVAMP_TEST_SKIP"), number) || is_listed(getenv("REVAMP_TEST_WITHOUT"), kinds[i].name))
        return;
    if (!some_view()) open_source(&sources[0]);
    kinds[i].run();
    if (logged[0]) fail("the library logged: %s", logged);
}

static home_kind some_home(void) {
    home_kind kind = (home_kind)below(HOMES);
    return kind == OVER_VULKAN && location_count <= VULKAN ? OVER_HOST : kind;
}

static void run_one(home_kind kind, uint32_t seed) {
    const void *begin = memory_mark();
    home_under_test = kind;
    program_seed = seed;
    current_step = 0;
    latest_slot = 0;
    text_used = 0;
    note("\n  the program of REVAMP_TEST_SEED=%u, over %s:", seed, home_names[kind]);
    seed_step(0);
    int steps = FEWEST_STEPS + (int)below(MOST_STEPS - FEWEST_STEPS);
    make_source(&sources[0], kind);
    make_source(&sources[1], some_home());
    open_source(&sources[0]);
    for (current_step = 1; current_step <= steps; current_step++)
        run_step();
    seed_step(current_step);
    for (view *v; (v = some_view()) != NULL;)
        release_view(v);
    current_step++;
    begin_note("destroys the arrays");
    wait_pending();
    for (int i = 0; i < SOURCES; i++)
        if (sources[i].array) DO(revamp_array_destroy(sources[i].array));
    if (logged[0]) fail("the library logged: %s", logged);
    free_memory_since(begin);
}

static uint32_t number_from(const char *variable, uint32_t otherwise) {
    const char *value = getenv(variable);
    return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

CHILD(one_random_program) {
    set_up();
    run_one((home_kind)number_from("REVAMP_TEST_HOME", 0), number_from("REVAMP_TEST_SEED", 1));
    tear_down();
}

static bool fails_without(const bool *left_out, home_kind kind, uint32_t seed, char **output) {
    char home[32], number[32], skip[32 + MOST_STEPS * 4] = "REVAMP_TEST_SKIP=-";
    size_t used = strlen(skip);
    snprintf(home, sizeof home, "REVAMP_TEST_HOME=%d", (int)kind);
    snprintf(number, sizeof number, "REVAMP_TEST_SEED=%u", seed);
    for (int i = 1; i <= MOST_STEPS; i++)
        if (left_out[i]) used += (size_t)snprintf(skip + used, sizeof skip - used, ",%d", i);
    child_result result = run_child("one_random_program", home, number, skip, "CHECK_TIME_LIMIT=10", NULL);
    if (result.exit_code == 0) return false;
    *output = result.output;
    return true;
}

/* Leaves out steps as long as the program fails, and prints what remains. */
static void shrink(void) {
    bool left_out[MOST_STEPS + 1] = {false};
    char *output = NULL;
    uint32_t seed = program_seed;
    home_kind kind = home_under_test;
    time_t end = time(NULL) + SHRINK_SECONDS;
    if (!fails_without(left_out, kind, seed, &output)) {
        fputs("(by itself the program does not fail)\n", stderr);
        return;
    }
    for (int size = MOST_STEPS / 2; size > 0 && time(NULL) < end;) {
        bool is_smaller = false;
        for (int first = MOST_STEPS; first > 0 && time(NULL) < end; first -= size) {
            bool tried[MOST_STEPS + 1], is_new = false;
            memcpy(tried, left_out, sizeof tried);
            for (int i = first; i > 0 && i > first - size; i--) {
                is_new |= !tried[i];
                tried[i] = true;
            }
            if (!is_new || !fails_without(tried, kind, seed, &output)) continue;
            memcpy(left_out, tried, sizeof tried);
            is_smaller = true;
        }
        if (!is_smaller || size > 1) size /= 2;
    }
    fprintf(stderr, "the steps that matter:\n%s\n", output);
}

/* So many that a test takes some seconds. */
enum { PROGRAMS = 600, VALIDATED_PROGRAMS = 300 };

static void run_programs(home_kind kind) {
    const char *only = getenv("REVAMP_TEST_SEED");
    uint32_t first = number_from("REVAMP_TEST_FIRST", 1);
    program_seed = number_from("REVAMP_TEST_SEED", 1);
    home_under_test = kind;
    /* A program that crashes takes its process with it. */
    if (only && !getenv("REVAMP_TEST_SKIP")) {
        bool none[MOST_STEPS + 1] = {false};
        char *output = NULL;
        if (!fails_without(none, kind, program_seed, &output)) return;
        check_fail(__FILE__, __LINE__, "the program fails:\n%s", output);
        shrink();
        check_abandon();
    }
    on_crash(on_signal);
    set_up();
    if (kind == OVER_VULKAN && location_count <= VULKAN) check_skip("there is no Vulkan");
    uint32_t usual = has_validation() ? VALIDATED_PROGRAMS : PROGRAMS;
    uint32_t count = only ? 1 : number_from("REVAMP_TEST_PROGRAMS", usual);
    for (uint32_t i = 0; i < count; i++)
        run_one(kind, only ? program_seed : first + i);
    tear_down();
}

TEST(random_programs_over_host_memory) {
    run_programs(OVER_HOST);
}

TEST(random_programs_over_an_array_on_host_threads) {
    run_programs(OVER_THREADS);
}

TEST(random_programs_over_an_array_on_vulkan) {
    run_programs(OVER_VULKAN);
}

TEST(random_programs_over_a_staging_array) {
    run_programs(OVER_STAGING);
}

TEST(random_programs_without_a_data_source) {
    run_programs(WITHOUT_SOURCE);
}
