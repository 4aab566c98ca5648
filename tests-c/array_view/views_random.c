/* Runs random programs over array_views, and compares the results with a model. For each 4-byte word of a data source,
 * the model records a value, whether this value is known, and the locations where the word must or may be valid. The
 * seed of a program determines all its steps. The test prints a failing program, and then a version that still fails
 * with fewer steps.
 *
 * REVAMP_TEST_PROGRAMS sets the number of programs, and REVAMP_TEST_FIRST the seed of the first one. REVAMP_TEST_SEED
 * runs only the program with this seed. Its steps also depend on the accelerators of the machine. REVAMP_TEST_SKIP
 * (numbers of steps) and REVAMP_TEST_WITHOUT (names of kinds of steps) leave out steps, for example those that fail
 * because of a known defect. */
#include "support.h"
#include "system.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RANK = 3, SLOTS = 12, SOURCES = 2, MAX_STEPS = 48, MIN_STEPS = 12, GUARD = 16, SHRINK_SECONDS = 60 };

/* Setup of the locations and kernels. */

typedef enum { OVER_HOST, OVER_THREADS, OVER_VULKAN, OVER_STAGING, WITHOUT_SOURCE, HOMES } home_kind;
static const char *const home_names[] = {"host memory", "an array on host threads", "an array on Vulkan",
                                         "a staging array", "no data source"};

/* The locations of bytes. The two accelerator_views of an accelerator share its memory. */
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

/* The first error in the library's log: a failure that no call returned, or a false race report (REVAMP_CHECK). */
static char first_logged_error[512];

static void on_log(revamp_log_level level, const char *message, void *context) {
    (void)level;
    (void)context;
    if (!first_logged_error[0]) snprintf(first_logged_error, sizeof first_logged_error, "%s", message);
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

/* The state of the running program: its random numbers, and the text that describes its steps. */

static home_kind home_under_test;
static uint32_t program_seed, random_state;
static int current_step;
static char text[1 << 16];
static size_t text_length;

static void seed_step(int step) {
    random_state =
        ((program_seed * HOMES + (uint32_t)home_under_test) * 2654435761U) ^ ((uint32_t)(step + 7) * 2246822519U);
    if (!random_state) random_state = 1;
    for (int i = 0; i < 4; i++)
        random_number(&random_state);
}

static uint32_t random_below(uint32_t n) {
    return (uint32_t)(((uint64_t)random_number(&random_state) * n) >> 32);
}

static bool one_in(uint32_t n) {
    return random_below(n) == 0;
}

static void append(const char *format, va_list arguments) {
    int n = vsnprintf(text + text_length, sizeof text - text_length, format, arguments);
    if (n > 0) text_length += (size_t)n < sizeof text - text_length ? (size_t)n : sizeof text - text_length - 1;
}

/* Appends to the text of the program. Steps do this before they call the library, so that a crash shows the call. */
__attribute__((format(printf, 1, 2))) static void describe(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static void describe_step(const char *format, ...) {
    va_list arguments;
    describe("\n  %3d: ", current_step);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

static void shrink(void);

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
    char reason[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    on_crash(NULL);
    check_fail(__FILE__, __LINE__, "REVAMP_TEST_SEED=%u, over %s, step %d: %s%s", program_seed,
               home_names[home_under_test], current_step, reason, text);
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
    ignored = write(2, text, text_length);
    ignored = write(2, "\n", 1);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

/* Boxes of elements. Strides, offsets and element sizes are in words of 4 bytes. */

typedef struct {
    uint32_t rank;
    int32_t extent[MAX_RANK];
    uint64_t stride[MAX_RANK];
    uint64_t offset;
    uint32_t words_per_element;
} box;

static uint64_t elements_of(const box *b) {
    return product(b->rank, b->extent);
}

static uint64_t words_of(const box *b) {
    return elements_of(b) * b->words_per_element;
}

/* The index, in the data source, of word number k of the box. */
static uint64_t word_at(const box *b, uint64_t k) {
    uint64_t at = b->offset + k % b->words_per_element;
    k /= b->words_per_element;
    for (uint32_t d = b->rank; d-- > 0; k /= (uint64_t)b->extent[d])
        at += k % (uint64_t)b->extent[d] * b->stride[d];
    return at;
}

static box packed_box(uint32_t rank, const int32_t *extent, uint32_t words_per_element, uint64_t offset) {
    box b = {0};
    uint64_t stride = words_per_element;
    b.rank = rank;
    b.words_per_element = words_per_element;
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

static void describe_list(const char *name, const box *b, const int32_t *values) {
    describe("%s", name);
    for (uint32_t d = 0; d < b->rank; d++)
        describe("%s%d", d ? ", " : "{", values[d]);
    describe("}");
}

static void describe_box(const box *b) {
    describe_list("extent ", b, b->extent);
    describe(", strides {");
    for (uint32_t d = 0; d < b->rank; d++)
        describe("%s%d", d ? ", " : "", (int)b->stride[d]);
    describe("} words from word %d, elements of %u words", (int)b->offset, b->words_per_element);
}

/* Data sources and views, with their model. */

/* GONE: the contents of a word were discarded or never written. MAYBE: the rules allow both KEPT and GONE. */
enum { KEPT, GONE, MAYBE };

typedef struct {
    home_kind kind;
    int home;
    box whole;
    uint64_t words;
    uint32_t *model;
    uint8_t *is_known;
    uint8_t *content_state;
    /* Sets of locations. required_at: a word must be valid there. allowed_at: it may be valid there, or in the same
     * memory. */
    uint8_t *required_at, *allowed_at;
    uint8_t *mark;
    /* memory: the data source in host memory. guarded: the same memory with guard words around it. */
    uint32_t *guarded, *memory;
    revamp_array array;
    bool is_host_array;
    uint64_t id;
    unsigned views;
    /* The address of word 0 on the host; NULL until it is known. Must not change later. */
    uint32_t *base;
} source;

typedef struct {
    revamp_array_view handle;
    source *data_source;
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

static void model_read(source *s, const box *b, int location) {
    for (uint64_t k = words_of(b); k-- > 0;) {
        uint64_t w = word_at(b, k);
        if (s->content_state[w] == GONE) continue;
        if (s->content_state[w] == KEPT && location != NOWHERE) s->required_at[w] |= (uint8_t)BIT(location);
        /* The transfer may pass through the home location and the host. */
        s->allowed_at[w] |=
            (uint8_t)(location == NOWHERE || s->home == NOWHERE ? EVERYWHERE
                                                                : BIT(location) | BIT(s->home) | BIT(HOST));
    }
}

static void model_write(source *s, const box *b, int location) {
    for (uint64_t k = words_of(b); k-- > 0;) {
        uint64_t w = word_at(b, k);
        s->content_state[w] = KEPT;
        s->required_at[w] = (uint8_t)(location == NOWHERE ? 0 : BIT(location));
        s->allowed_at[w] = (uint8_t)(location == NOWHERE ? EVERYWHERE : BIT(location));
    }
}

static void model_use(source *s, const box *b, int location, revamp_access access) {
    if (access & REVAMP_ACCESS_READ) model_read(s, b, location);
    if (access & REVAMP_ACCESS_WRITE) model_write(s, b, location);
}

static void set_known(source *s, const box *b, bool is_known) {
    for (uint64_t k = words_of(b); k-- > 0;)
        s->is_known[word_at(b, k)] = is_known;
}

static void compare(const source *s, const box *b, const uint32_t *got, const char *description) {
    for (uint64_t k = 0; k < words_of(b); k++) {
        uint64_t w = word_at(b, k);
        if (s->is_known[w] && got[w - b->offset] != s->model[w])
            fail("%s: word %d is %#x, expected %#x", description, (int)w, got[w - b->offset], s->model[w]);
    }
}

/* At most one asynchronous operation is pending. The far side of a copy is the side that is not a view. */

typedef struct {
    box whole, part;
    uint32_t *model;
    uint8_t *is_known;
    uint32_t *host;
    revamp_array array;
} far_side;

static struct {
    revamp_completion done;
    int count;
    source *data_source[2];
    box part[2];
    far_side far;
} pending;

static void finish_far_side(far_side *far) {
    uint64_t words = words_of(&far->whole);
    const uint32_t *got = far->host;
    if (far->array) got = read_array(far->array);
    for (uint64_t w = 0; w < words; w++)
        if (far->is_known[w] && got[w] != far->model[w])
            fail("the other side of the copy: word %d is %#x, expected %#x", (int)w, got[w], far->model[w]);
    if (far->array) DO(revamp_array_destroy(far->array));
}

static void wait_pending(void) {
    if (!pending.done) return;
    describe(" (waits)");
    DO(revamp_completion_get(pending.done));
    DO(revamp_completion_release(pending.done));
    pending.done = NULL;
    if (pending.far.model) finish_far_side(&pending.far);
    memset(&pending, 0, sizeof pending);
}

/* Waits for the pending operation if it uses any of these elements. Must be called before each use of elements. */
static void wait_for_overlapping_operation(source *s, const box *b) {
    for (int i = 0; pending.done && i < pending.count; i++)
        if (overlap(s, b, pending.data_source[i], &pending.part[i])) {
            wait_pending();
            return;
        }
}

static void set_pending(revamp_completion done, source *s, const box *b) {
    pending.done = done;
    pending.count = 0;
    if (s) {
        pending.data_source[pending.count] = s;
        pending.part[pending.count++] = *b;
    }
}

/* Residency: checks the locations of valid and discarded bytes. */

static revamp_residency residency_at(const view *v, int location) {
    revamp_residency r = {0};
    r.struct_size = sizeof r;
    DO(revamp_array_view_get_residency(v->handle, locations[location].view, &r));
    return r;
}

typedef struct {
    revamp_residency at[LOCATIONS];
    /* For each location, the locations with the same memory. */
    uint32_t same_memory[LOCATIONS];
} residencies;

static residencies residencies_of(const view *v) {
    residencies all;
    memset(&all, 0, sizeof all);
    for (int l = 0; l < location_count; l++)
        all.at[l] = residency_at(v, l);
    for (int a = 0; a < location_count; a++)
        for (int b = 0; b < location_count; b++)
            /* Without separate memory, host threads use the memory of the host, for arrays as well as for copies. */
            if (locations[a].accelerator == locations[b].accelerator ||
                (all.at[a].shares_home && all.at[b].shares_home) ||
                (!has_separate_memory() && !is_vulkan(a) && !is_vulkan(b)))
                all.same_memory[a] |= BIT(b);
    return all;
}

static void check_sharing(const view *v, const residencies *all) {
    const source *s = v->data_source;
    for (int l = 0; l < location_count && s->home != NOWHERE; l++) {
        bool is_own = locations[l].accelerator == locations[s->home].accelerator;
        bool shares = all->at[l].shares_home;
        if (is_own && !shares)
            fail("%s does not share the memory of home, although home is on the same accelerator", location_names[l]);
        if (has_separate_memory() && shares && !is_own) fail("%s shares home in separate memory", location_names[l]);
        if (!has_separate_memory() && s->kind == OVER_HOST && !is_vulkan(l) && !shares)
            fail("%s does not share memory of the host", location_names[l]);
    }
}

static void check_residency(const view *v) {
    const source *s = v->data_source;
    uint64_t words = words_of(&v->b);
    if (pending.done) return;
    residencies all = residencies_of(v);
    check_sharing(v, &all);
    for (int l = 0; l < location_count; l++) {
        const revamp_residency *r = &all.at[l];
        uint64_t least = 0, most = 0, gone = 0, maybe = 0;
        for (uint64_t k = 0; k < words; k++) {
            uint64_t w = word_at(&v->b, k);
            least += s->required_at[w] >> l & 1;
            most += (s->allowed_at[w] & all.same_memory[l]) != 0;
            gone += s->content_state[w] == GONE;
            maybe += s->content_state[w] == MAYBE;
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

/* Checks that, after a use of the view at a location, all its bytes are valid or discarded there. */
static void check_complete(const view *v, int location) {
    if (pending.done) return;
    revamp_residency r = residency_at(v, location);
    if (r.valid_bytes + r.discarded_bytes != r.view_bytes)
        fail("after a use of v%d on %s %d bytes are valid there and %d discarded, of %d", number_of(v),
             location_names[location], (int)r.valid_bytes, (int)r.discarded_bytes, (int)r.view_bytes);
}

/* Checks of the number of transferred bytes. */

typedef struct {
    bool is_measured;
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

/* Adds the bounds of transferred bytes for a use of a view. A byte that moves between two devices counts twice. */
static void expect_use(measure *m, const view *v, int location, revamp_access access) {
    if (!m->is_measured || !(access & REVAMP_ACCESS_READ)) return;
    residencies all = residencies_of(v);
    const revamp_residency *r = &all.at[location];
    uint64_t least = 0, most = 0;
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        least +=
            v->data_source->content_state[w] == KEPT && !(v->data_source->allowed_at[w] & all.same_memory[location]);
        most +=
            v->data_source->content_state[w] != GONE && !(v->data_source->required_at[w] & all.same_memory[location]);
    }
    if (r->valid_bytes + r->discarded_bytes == r->view_bytes) most = 0;
    m->least += least * 4;
    m->most += most * 8;
}

static measure begin_measure(const view *v, int location, revamp_access access) {
    measure m;
    memset(&m, 0, sizeof m);
    m.v = v;
    m.is_measured = !pending.done && location != NOWHERE && !one_in(3);
    expect_use(&m, v, location, access);
    if (m.is_measured) read_counters(&m);
    return m;
}

static void end_measure(const measure *m, bool is_implicit, bool uses_one_view) {
    measure now = *m;
    if (!m->is_measured) return;
    read_counters(&now);
    uint64_t implicit = implicit_bytes(&now.all) - implicit_bytes(&m->all);
    uint64_t explicit = explicit_bytes(&now.all) - explicit_bytes(&m->all);
    uint64_t bytes = is_implicit ? implicit : explicit;
    if (is_implicit ? explicit : implicit) fail("bytes were counted as %s", is_implicit ? "explicit" : "implicit");
    if (bytes < m->least || bytes > m->most)
        fail("%d bytes were moved, expected %d to %d", (int)bytes, (int)m->least, (int)m->most);
    if (!uses_one_view) return;
    uint64_t of_source = implicit_bytes(&now.of_source) + explicit_bytes(&now.of_source) -
                         implicit_bytes(&m->of_source) - explicit_bytes(&m->of_source);
    uint64_t of_view = implicit_bytes(&now.of_view) + explicit_bytes(&now.of_view) - implicit_bytes(&m->of_view) -
                       explicit_bytes(&m->of_view);
    if (of_source != bytes || of_view != bytes)
        fail("%d bytes were moved; the data source counted %d, the view %d", (int)bytes, (int)of_source, (int)of_view);
}

/* State words: what the host may access without a call. */

static uint32_t state_word_of(const view *v) {
    return __atomic_load_n(v->state, __ATOMIC_ACQUIRE);
}

/* Checks the state words of the views that share elements with `b`, after a kernel has used `b`. */
static void check_state_words(source *s, const box *b, revamp_access access) {
    mark(s, b);
    for (view *v = views; v < views + SLOTS; v++) {
        uint32_t state = v->owners && v->data_source == s && is_marked(s, &v->b) ? state_word_of(v) : 0;
        if (state & REVAMP_HOST_MAY_WRITE || (state && access & REVAMP_ACCESS_WRITE))
            fail("the state of v%d is %u after another use of its elements", number_of(v), state);
    }
}

/* Creation of data sources and views. */

static box random_shape(bool may_be_large) {
    static const uint32_t element_words[] = {1, 1, 2, 3};
    uint32_t rank = 1 + random_below(MAX_RANK), words_per_element = element_words[random_below(4)];
    int32_t extent[MAX_RANK];
    if (rank == 1)
        extent[0] = 1 + (int32_t)random_below(may_be_large && one_in(12) ? 60000 : 400);
    else
        for (uint32_t d = 0; d < rank; d++)
            extent[d] = 1 + (int32_t)random_below(rank == 2 ? 32 : 11);
    return packed_box(rank, extent, words_per_element, 0);
}

static void reset_model(source *s, const uint32_t *contents) {
    if (contents) memcpy(s->model, contents, s->words * 4);
    memset(s->is_known, contents != NULL, s->words);
    memset(s->content_state, contents ? KEPT : GONE, s->words);
    memset(s->required_at, contents ? (int)BIT(s->home) : 0, s->words);
    memset(s->allowed_at, contents ? (int)BIT(s->home) : 0, s->words);
    s->base = s->kind == OVER_HOST ? s->memory : NULL;
}

static void make_array_home(source *s) {
    revamp_array_options options = {0};
    options.struct_size = sizeof options;
    revamp_accelerator_view on = locations[s->home].view;
    s->is_host_array = s->kind != OVER_VULKAN;
    if (s->kind == OVER_STAGING)
        options.associated_view = locations[1 + (int)random_below((uint32_t)location_count - 1)].view;
    if (s->kind == OVER_VULKAN && one_in(2) && info_of(locations[VULKAN].accelerator).supports_cpu_shared_memory) {
        options.has_cpu_access_type = true;
        options.cpu_access_type = REVAMP_ACCESS_READ_WRITE;
        s->is_host_array = true;
    }
    DO(revamp_array_create(on, s->whole.rank, s->whole.extent, s->whole.words_per_element * 4, &options, &s->array));
}

static void make_source(source *s, home_kind kind) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->home = kind == WITHOUT_SOURCE ? NOWHERE
              : kind == OVER_THREADS ? THREADS + (int)random_below(2)
              : kind == OVER_VULKAN  ? VULKAN + (int)random_below(2)
                                     : HOST;
    s->whole = random_shape(true);
    s->words = words_of(&s->whole);
    s->model = memory(s->words * 4);
    s->is_known = memory(s->words * 5);
    s->content_state = s->is_known + s->words;
    s->required_at = s->content_state + s->words;
    s->allowed_at = s->required_at + s->words;
    s->mark = s->allowed_at + s->words;
    uint32_t *contents = numbers(s->words, random_number(&random_state));
    describe_step("source %d over %s", (int)(s - sources), home_names[kind]);
    if (kind == OVER_HOST) {
        uint32_t shift = random_below(GUARD);
        s->guarded = memory((s->words + 2 * GUARD + shift) * 4);
        s->memory = s->guarded + GUARD + shift;
        memset(s->guarded, 0xa5, (GUARD + shift) * 4);
        memcpy(s->memory, contents, s->words * 4);
        memset(s->memory + s->words, 0xa5, (size_t)GUARD * 4);
        describe(" at byte %d of a page", (int)((uintptr_t)s->memory % 4096));
    } else if (kind != WITHOUT_SOURCE) {
        make_array_home(s);
        write_array(s->array, contents);
        describe(", on %s%s", location_names[s->home], s->is_host_array ? ", which the host reaches" : "");
    }
    describe(": ");
    describe_box(&s->whole);
    reset_model(s, kind == WITHOUT_SOURCE ? NULL : contents);
}

static view *free_slot(void) {
    uint32_t first = random_below(SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (!views[(first + i) % SLOTS].owners) return &views[(first + i) % SLOTS];
    return NULL;
}

/* Returns a random view. Often it is the latest view, because a defect shows in the next use of the same view. */
static view *random_view(void) {
    uint32_t first = random_below(SLOTS);
    if (one_in(3)) first = latest_slot;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (views[(first + i) % SLOTS].owners) return &views[latest_slot = (first + i) % SLOTS];
    return NULL;
}

static view *random_writable_view(void) {
    for (int i = 0; i < 8; i++) {
        view *v = random_view();
        if (!v || !v->read_only) return v;
    }
    return NULL;
}

static void check_info(const view *v) {
    revamp_array_view_info info = {0};
    info.struct_size = sizeof info;
    DO(revamp_array_view_get_info(v->handle, &info));
    bool good = info.rank == v->b.rank && info.element_size == v->b.words_per_element * 4 &&
                info.element_count == elements_of(&v->b) && info.offset == v->b.offset * 4 &&
                info.read_only == v->read_only && info.source_id == v->data_source->id &&
                info.source_view == (v->data_source->home == NOWHERE ? NULL : locations[v->data_source->home].view);
    for (uint32_t d = 0; good && d < v->b.rank; d++)
        good = info.extent[d] == v->b.extent[d] && (v->b.extent[d] == 1 || info.strides[d] == v->b.stride[d] * 4);
    if (!good) fail("the info of v%d is wrong", number_of(v));
}

static void add_view(view *slot, revamp_array_view handle, source *s, const box *b, bool read_only) {
    memset(slot, 0, sizeof *slot);
    slot->handle = handle;
    slot->data_source = s;
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
    describe(", is v%d: ", number_of(slot));
    describe_box(b);
    check_info(slot);
}

/* Creates a view of the whole source: the first view of the source, or a further view of an array. */
static void open_source(source *s) {
    view *slot = free_slot();
    revamp_array_view handle = NULL;
    revamp_array_view_options options = {0};
    options.struct_size = sizeof options;
    if (!slot || (s->views && !s->array)) return;
    options.read_only = s->kind != WITHOUT_SOURCE && one_in(6);
    describe_step("a %sview of source %d", options.read_only ? "read-only " : "", (int)(s - sources));
    if (s->array)
        DO(revamp_array_view_create_array(s->array, &options, &handle));
    else if (s->kind == OVER_HOST)
        DO(revamp_array_view_create_host(s->memory, s->whole.rank, s->whole.extent, s->whole.words_per_element * 4,
                                         &options, &handle));
    else
        DO(revamp_array_view_create(s->whole.rank, s->whole.extent, s->whole.words_per_element * 4, &options, &handle));
    add_view(slot, handle, s, &s->whole, options.read_only);
}

/* Checks a source after the release of its last view. The source's own memory must have the expected contents. */
static void end_source(source *s) {
    wait_pending();
    if (s->kind == WITHOUT_SOURCE) {
        reset_model(s, NULL);
        return;
    }
    const uint32_t *contents = s->memory;
    if (s->kind == OVER_HOST) {
        const unsigned char *before = (const unsigned char *)s->guarded,
                            *after = (const unsigned char *)(s->memory + s->words);
        for (const unsigned char *at = before; at < (const unsigned char *)s->memory; at++)
            if (*at != 0xa5) fail("the library wrote memory before the data source");
        for (size_t i = 0; i < (size_t)GUARD * 4; i++)
            if (after[i] != 0xa5) fail("the library wrote memory after the data source");
    } else if (s->array) {
        contents = read_array(s->array);
    } else {
        /* The array was destroyed before its last view. */
        make_array_home(s);
        uint32_t *fresh = numbers(s->words, random_number(&random_state));
        write_array(s->array, fresh);
        reset_model(s, fresh);
        return;
    }
    compare(s, &s->whole, contents, "home after the last view's release");
    reset_model(s, contents);
}

static void release_view(view *v) {
    source *s = v->data_source;
    describe_step("releases v%d", number_of(v));
    DO(revamp_array_view_release(v->handle));
    if (--v->owners) return;
    if (--s->views) return;
    describe(", the last of source %d", (int)(s - sources));
    end_source(s);
}

/* Steps. */

static const char *access_name(revamp_access access) {
    return access == REVAMP_ACCESS_READ    ? "READ"
           : access == REVAMP_ACCESS_WRITE ? "WRITE"
           : access                        ? "READ_WRITE"
                                           : "0";
}

static revamp_access random_access(const view *v) {
    static const revamp_access all[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE,
                                        REVAMP_ACCESS_READ_WRITE, REVAMP_ACCESS_READ};
    return v->read_only ? REVAMP_ACCESS_READ : all[random_below(COUNT(all))];
}

static void step_open(void) {
    open_source(&sources[random_below(SOURCES)]);
}

static void random_part(const int32_t *all, uint32_t rank, int32_t *origin, int32_t *extent) {
    for (uint32_t d = 0; d < rank; d++) {
        extent[d] = one_in(4) ? all[d] : 1 + (int32_t)random_below((uint32_t)all[d]);
        origin[d] = (int32_t)random_below((uint32_t)(all[d] - extent[d] + 1));
    }
}

static void step_section(void) {
    view *v = random_view(), *slot = free_slot();
    int32_t origin[MAX_RANK] = {0}, extent[MAX_RANK];
    revamp_array_view derived = NULL;
    if (!v || !slot) return;
    random_part(v->b.extent, v->b.rank, origin, extent);
    describe_step("section of v%d", number_of(v));
    describe_list(" at ", &v->b, origin);
    box b = section_box(&v->b, origin, extent);
    DO(revamp_array_view_section(v->handle, origin, extent, &derived));
    add_view(slot, derived, v->data_source, &b, v->read_only);
}

static void step_project(void) {
    view *v = random_view(), *slot = free_slot();
    revamp_array_view derived = NULL;
    if (!v || !slot || v->b.rank < 2) return;
    int32_t index = (int32_t)random_below((uint32_t)v->b.extent[0]);
    box b = v->b;
    b.offset += (uint64_t)index * b.stride[0];
    b.rank--;
    for (uint32_t d = 0; d < b.rank; d++) {
        b.extent[d] = b.extent[d + 1];
        b.stride[d] = b.stride[d + 1];
    }
    describe_step("projection %d of v%d", index, number_of(v));
    DO(revamp_array_view_project(v->handle, index, &derived));
    add_view(slot, derived, v->data_source, &b, v->read_only);
}

static void step_shape(void) {
    view *v = random_view(), *slot = free_slot();
    revamp_array_view derived = NULL;
    if (!v || !slot) return;
    uint64_t elements = elements_of(&v->b), words = words_of(&v->b);
    uint32_t rank = 1 + random_below(MAX_RANK), words_per_element = 1 + random_below(4);
    int32_t extent[MAX_RANK] = {1, 1, 1};
    for (uint32_t d = 0; d < rank; d++) {
        extent[d] = one_in(3) && d + 1 == rank ? (int32_t)elements : 1 + (int32_t)random_below((uint32_t)elements);
        elements /= (uint64_t)extent[d];
    }
    describe_step("view_as of v%d", number_of(v));
    if (!is_packed(&v->b)) {
        if (revamp_array_view_view_as(v->handle, rank, extent, &derived) >= 0)
            fail("view_as of a view with gaps succeeded");
        if (revamp_array_view_reinterpret_as(v->handle, 4, &derived) >= 0)
            fail("reinterpret_as of a view with gaps succeeded");
        return;
    }
    box b = packed_box(rank, extent, v->b.words_per_element, v->b.offset);
    if (one_in(2) && words % words_per_element == 0) {
        int32_t length = (int32_t)(words / words_per_element);
        describe(" (reinterpret_as, %u words)", words_per_element);
        b = packed_box(1, &length, words_per_element, v->b.offset);
        DO(revamp_array_view_reinterpret_as(v->handle, words_per_element * 4, &derived));
    } else {
        DO(revamp_array_view_view_as(v->handle, rank, extent, &derived));
    }
    add_view(slot, derived, v->data_source, &b, v->read_only);
}

static void step_share_elements(void) {
    view *v = random_view(), *slot = free_slot();
    revamp_array_view derived = NULL;
    if (!v || !slot) return;
    if (one_in(2)) {
        describe_step("retains v%d", number_of(v));
        DO(revamp_array_view_retain(v->handle));
        v->owners++;
        return;
    }
    describe_step("v%d as read only", number_of(v));
    DO(revamp_array_view_as_read_only(v->handle, &derived));
    add_view(slot, derived, v->data_source, &v->b, true);
}

static void step_release(void) {
    view *v = random_view();
    if (v) release_view(v);
}

static void write_random_values(view *v, uint32_t *at, bool all) {
    uint64_t words = words_of(&v->b), first = all ? 0 : random_below((uint32_t)words);
    uint64_t count = all ? words : 1 + random_below((uint32_t)(words - first));
    uint32_t value = random_number(&random_state);
    if (!all) describe(", changes words %d to %d of it", (int)first, (int)(first + count - 1));
    for (uint64_t k = first; k < first + count; k++) {
        uint64_t w = word_at(&v->b, k);
        at[w - v->b.offset] = v->data_source->model[w] = value + (uint32_t)k;
        v->data_source->is_known[w] = true;
    }
}

static void step_access(void) {
    view *v = random_view();
    void *data = NULL;
    if (!v) return;
    revamp_access access = random_access(v);
    describe_step("host access to v%d, %s", number_of(v), access_name(access));
    wait_for_overlapping_operation(v->data_source, &v->b);
    measure m = begin_measure(v, HOST, access);
    DO(revamp_array_view_data(v->handle, access, &data));
    end_measure(&m, true, true);
    uint32_t *at = data, *base = at - v->b.offset;
    if (v->data_source->base && base != v->data_source->base) fail("the address of the source has moved");
    v->data_source->base = base;
    uint32_t needed =
        access == REVAMP_ACCESS_READ ? REVAMP_HOST_MAY_READ : REVAMP_HOST_MAY_READ | REVAMP_HOST_MAY_WRITE;
    if ((state_word_of(v) & needed) != needed)
        fail("the state of v%d is %u after the access", number_of(v), state_word_of(v));
    if (access != REVAMP_ACCESS_WRITE) compare(v->data_source, &v->b, at, "host access");
    model_use(v->data_source, &v->b, HOST, access);
    check_complete(v, HOST);
    if (access & REVAMP_ACCESS_WRITE) write_random_values(v, at, access == REVAMP_ACCESS_WRITE);
}

static view *random_accessible_view(void) {
    uint32_t first = random_below(SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        view *v = &views[(first + i) % SLOTS];
        if (v->owners && state_word_of(v)) return v;
    }
    return NULL;
}

/* Accesses elements by an address from an earlier call, as far as the state word allows. */
static void step_state(void) {
    view *v = random_accessible_view();
    if (!v) return;
    uint32_t state = state_word_of(v);
    if (!(state & REVAMP_HOST_MAY_READ))
        fail("the state of v%d is %u, without REVAMP_HOST_MAY_READ", number_of(v), state);
    describe_step("the host uses v%d by its state %u", number_of(v), state);
    wait_for_overlapping_operation(v->data_source, &v->b);
    if (state != state_word_of(v)) return;
    uint32_t *at = v->data_source->base + v->b.offset;
    compare(v->data_source, &v->b, at, "host access by the state word");
    if (!(state & REVAMP_HOST_MAY_WRITE)) return;
    if (v->read_only) fail("the state word of a read-only view permits writing");
    write_random_values(v, at, false);
    model_write(v->data_source, &v->b, HOST);
    check_residency(v);
}

/* Kernels that change the words of a box, on a device or on host threads. */

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

static void set_box_arguments(const box *b, uint32_t *count, uint32_t *stride) {
    for (uint32_t d = 0; d < 4; d++) {
        count[d] = 1;
        stride[d] = 4;
    }
    count[3] = b->words_per_element;
    for (uint32_t d = 0; d < b->rank; d++) {
        count[3 - b->rank + d] = (uint32_t)b->extent[d];
        stride[3 - b->rank + d] = (uint32_t)b->stride[d] * 4;
    }
}

static void launch_box(int location, bool is_view_explicit, const kernel_block *block, const revamp_argument *arguments,
                       size_t count) {
    revamp_accelerator_view on = is_view_explicit ? locations[location].view : NULL;
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
            to->is_known[w] = true;
        }
        if (block->mode == COMBINE) {
            uint64_t other = word_at(c, k % block->m);
            *x = 3 * *x + from->model[other];
            to->is_known[w] &= from->is_known[other];
        }
    }
}

static int random_device(void) {
    return 1 + (int)random_below((uint32_t)location_count - 1);
}

static const view *non_overlapping_view(view *to) {
    for (int i = 0; i < 8; i++) {
        view *from = random_view();
        if (from && !overlap(to->data_source, &to->b, from->data_source, &from->b)) return from;
    }
    return NULL;
}

static void describe_location(int location, bool is_view_explicit) {
    describe(is_view_explicit ? " on %s" : " where the library chooses on the accelerator of %s",
             location_names[location]);
}

static void step_kernel(void) {
    view *to = random_writable_view();
    if (!to) return;
    const view *from = one_in(2) ? non_overlapping_view(to) : NULL;
    int location = random_device(), at = location;
    bool is_view_explicit = !one_in(6);
    kernel_block block = {0};
    revamp_argument arguments[2];
    revamp_access access = 0, from_access = REVAMP_ACCESS_READ;
    block.mode = from ? COMBINE : random_below(2);
    block.value = random_number(&random_state);
    block.n = (uint32_t)words_of(&to->b);
    if (block.mode == SEQUENCE && one_in(2)) access = REVAMP_ACCESS_WRITE;
    if (access == 0 && one_in(3)) access = REVAMP_ACCESS_READ_WRITE;
    if (access != REVAMP_ACCESS_WRITE && one_in(3)) block.n = 1 + random_below(block.n);
    if (!is_view_explicit) at = NOWHERE;
    set_box_arguments(&to->b, block.to_count, block.to_stride);
    arguments[0] = revamp_argument_view_address(0, to->handle, access);
    if (!access) access = REVAMP_ACCESS_READ_WRITE;
    describe_step("kernel %s of %u words of v%d, %s",
                  block.mode == STEP ? "3x+1"
                  : from             ? "3x+y"
                                     : "sequence",
                  block.n, number_of(to), access_name(access));
    if (from) {
        block.m = (uint32_t)words_of(&from->b);
        set_box_arguments(&from->b, block.from_count, block.from_stride);
        if (!from->read_only && one_in(5)) from_access = REVAMP_ACCESS_READ_WRITE;
        bool is_default = from->read_only || from_access == REVAMP_ACCESS_READ_WRITE;
        arguments[1] = revamp_argument_view_address(8, from->handle, is_default ? 0 : from_access);
        describe(" with v%d, %s", number_of(from), access_name(from_access));
        wait_for_overlapping_operation(from->data_source, &from->b);
    }
    describe_location(location, is_view_explicit);
    wait_for_overlapping_operation(to->data_source, &to->b);
    measure m = begin_measure(to, at, access);
    if (from) expect_use(&m, from, location, from_access);
    launch_box(location, is_view_explicit, &block, arguments, from ? 2 : 1);
    end_measure(&m, true, !from);
    model_use(to->data_source, &to->b, at, access);
    if (from) model_use(from->data_source, &from->b, at, from_access);
    model_box(to->data_source, &to->b, &block, from ? from->data_source : NULL, from ? &from->b : NULL);
    check_state_words(to->data_source, &to->b, access);
    if (from) check_state_words(from->data_source, &from->b, from_access);
    if (is_view_explicit) check_complete(to, location);
    if (is_view_explicit && from) check_complete(from, location);
    if (one_in(2)) check_residency(to);
}

/* Passes a view to a kernel by a binding. The view must be contiguous and aligned. */
static void step_binding(void) {
    view *v = random_writable_view();
    if (!v || location_count <= VULKAN || !is_packed(&v->b) || v->b.offset * 4 % binding_alignment) return;
    int location = VULKAN + (int)random_below(2);
    bool is_fill = one_in(2);
    uint32_t value = random_number(&random_state);
    revamp_access access = is_fill && one_in(2) ? REVAMP_ACCESS_WRITE : REVAMP_ACCESS_READ_WRITE;
    int32_t extent = (int32_t)words_of(&v->b);
    revamp_argument arguments[] = {revamp_argument_view(0, v->handle),
                                   revamp_argument_push_constant(0, &value, sizeof value)};
    if (access == REVAMP_ACCESS_WRITE) arguments[0].access = access;
    describe_step("binding v%d to %s, %s", number_of(v), is_fill ? "fill" : "3x+1", access_name(access));
    describe_location(location, true);
    wait_for_overlapping_operation(v->data_source, &v->b);
    measure m = begin_measure(v, location, access);
    DO(launch(locations[location].view, is_fill ? fill_on_vulkan : step_on_vulkan, 1, &extent, arguments,
              is_fill ? 2 : 1));
    end_measure(&m, true, true);
    model_use(v->data_source, &v->b, location, access);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        v->data_source->model[w] = is_fill ? value : 3 * v->data_source->model[w] + 1;
        v->data_source->is_known[w] |= is_fill;
    }
    check_state_words(v->data_source, &v->b, access);
    check_complete(v, location);
    check_residency(v);
}

static void step_synchronize(void) {
    view *v = random_view();
    if (!v) return;
    revamp_access access = random_access(v);
    revamp_completion done = NULL;
    bool is_async = one_in(3), targets_home = one_in(3);
    int target = (int)random_below((uint32_t)location_count), location = targets_home ? v->data_source->home : target;
    describe_step("synchronize%s%s v%d", targets_home ? "" : "_to", is_async ? "_async" : "", number_of(v));
    if (!targets_home) describe_location(target, true);
    describe(", %s", access_name(access));
    wait_for_overlapping_operation(v->data_source, &v->b);
    if (is_async) wait_pending();
    measure m = begin_measure(v, is_async ? NOWHERE : location, access);
    if (targets_home && is_async)
        DO(revamp_array_view_synchronize_async(v->handle, access, NULL, &done));
    else if (targets_home)
        DO(revamp_array_view_synchronize(v->handle, access));
    else if (is_async)
        DO(revamp_array_view_synchronize_to_async(v->handle, locations[target].view, access, NULL, &done));
    else
        DO(revamp_array_view_synchronize_to(v->handle, locations[target].view, access));
    end_measure(&m, false, true);
    if (access == REVAMP_ACCESS_WRITE) set_known(v->data_source, &v->b, false);
    if (location != NOWHERE) {
        model_use(v->data_source, &v->b, location, access);
    } else {
        /* Without a home location, the call does nothing, and the locations after the call are not specified. */
        for (uint64_t k = words_of(&v->b); k-- > 0;) {
            uint64_t w = word_at(&v->b, k);
            if (access & REVAMP_ACCESS_WRITE && v->data_source->content_state[w] == GONE)
                v->data_source->content_state[w] = MAYBE;
            if (access & REVAMP_ACCESS_WRITE) v->data_source->required_at[w] = 0;
            v->data_source->allowed_at[w] = EVERYWHERE;
        }
    }
    if (is_async) {
        set_pending(done, v->data_source, &v->b);
        if (one_in(2)) wait_pending();
    }
    if (location != NOWHERE) check_complete(v, location);
    check_residency(v);
    if (targets_home && v->data_source->kind == OVER_HOST && access != REVAMP_ACCESS_WRITE && !pending.done)
        compare(v->data_source, &v->b, v->data_source->memory + v->b.offset, "home after synchronize");
}

static void step_discard(void) {
    view *v = random_writable_view();
    if (!v) return;
    describe_step("discards v%d", number_of(v));
    wait_for_overlapping_operation(v->data_source, &v->b);
    measure m = begin_measure(v, HOST, REVAMP_ACCESS_WRITE);
    DO(revamp_array_view_discard_data(v->handle));
    end_measure(&m, true, true);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        v->data_source->is_known[w] = false;
        v->data_source->content_state[w] = GONE;
        v->data_source->required_at[w] = v->data_source->allowed_at[w] = 0;
    }
    check_residency(v);
}

/* Refreshes a view, sometimes after a direct change of its source. The view drops its data at other locations. */
static void step_refresh(void) {
    view *v = random_view();
    if (!v) return;
    source *s = v->data_source;
    bool changes_source = s->kind == OVER_HOST && !v->read_only && !one_in(4), for_writing = one_in(2);
    describe_step("refreshes v%d", number_of(v));
    wait_for_overlapping_operation(s, &v->b);
    if (changes_source) {
        revamp_access access = for_writing ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ;
        describe(" after synchronize with %s and a change of home", access_name(access));
        DO(revamp_array_view_synchronize(v->handle, access));
        model_use(s, &v->b, HOST, access);
        compare(s, &v->b, s->memory + v->b.offset, "home after synchronize");
        write_random_values(v, s->memory + v->b.offset, false);
        /* After synchronize() for writing, a direct change of the source needs no refresh. */
        if (for_writing && one_in(2)) return;
    }
    measure m = begin_measure(v, HOST, REVAMP_ACCESS_WRITE);
    DO(revamp_array_view_refresh(v->handle));
    end_measure(&m, true, true);
    if (s->home == NOWHERE) return;
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k);
        if (!(s->required_at[w] & BIT(s->home))) s->is_known[w] = false;
    }
    model_write(s, &v->b, s->home);
    check_residency(v);
}

/* Copies. */

static revamp_region region_of(revamp_array_view handle) {
    revamp_region region = {0};
    region.struct_size = sizeof region;
    region.view = handle;
    return region;
}

/* Makes a copy, or begins an asynchronous one. True if the copy is under way. */
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
    pending.data_source[pending.count] = s;
    pending.part[pending.count++] = *b;
}

static void model_copy_source(source *s, const box *b) {
    model_read(s, b, NOWHERE);
    /* The copy may read each word at any location where it is valid, so the model requires no new valid location. */
}

static void make_far_side(far_side *far, const view *v) {
    int32_t whole[MAX_RANK], origin[MAX_RANK] = {0};
    memset(far, 0, sizeof *far);
    for (uint32_t d = 0; d < v->b.rank; d++) {
        uint32_t margin = one_in(2) ? 0 : random_below(4);
        whole[d] = v->b.extent[d] + (int32_t)margin;
        origin[d] = (int32_t)random_below(margin + 1);
    }
    far->whole = packed_box(v->b.rank, whole, v->b.words_per_element, 0);
    far->part = section_box(&far->whole, origin, v->b.extent);
    uint64_t words = words_of(&far->whole);
    far->model = numbers(words, random_number(&random_state));
    far->is_known = memory(words);
    memset(far->is_known, 1, words);
    int location = (int)random_below((uint32_t)location_count + 2);
    if (location >= location_count) {
        describe(" host memory");
        far->host = memory(words * 4);
        memcpy(far->host, far->model, words * 4);
        return;
    }
    far->array = array_of(locations[location].view, far->whole.rank, whole, far->whole.words_per_element * 4);
    write_array(far->array, far->model);
    describe(" an array on %s", location_names[location]);
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
        host_region(far->host + far->part.offset, far->part.rank, far->part.extent, far->part.words_per_element * 4);
    region.host_strides = strides;
    return region;
}

static void step_copy_far(void) {
    view *v = random_view();
    if (!v) return;
    bool is_into_view = !v->read_only && one_in(2), is_async = one_in(3);
    far_side far;
    int32_t origin[MAX_RANK];
    int64_t strides[MAX_RANK];
    describe_step("copy%s %s v%d %s", is_async ? "_async" : "", is_into_view ? "to" : "from", number_of(v),
                  is_into_view ? "from" : "to");
    make_far_side(&far, v);
    wait_for_overlapping_operation(v->data_source, &v->b);
    revamp_region here = region_of(v->handle), there = far_region(&far, origin, strides);
    bool is_under_way = copy_regions(is_into_view ? &there : &here, is_into_view ? &here : &there, is_async);
    for (uint64_t k = words_of(&v->b); k-- > 0;) {
        uint64_t w = word_at(&v->b, k), x = word_at(&far.part, k);
        if (is_into_view) {
            v->data_source->model[w] = far.model[x];
            v->data_source->is_known[w] = true;
        } else {
            far.model[x] = v->data_source->model[w];
            far.is_known[x] = v->data_source->is_known[w];
        }
    }
    if (is_into_view)
        model_write(v->data_source, &v->b, v->data_source->home);
    else
        model_copy_source(v->data_source, &v->b);
    if (is_under_way) {
        add_pending(v->data_source, &v->b);
        pending.far = far;
        if (one_in(2)) wait_pending();
    } else {
        finish_far_side(&far);
    }
    check_residency(v);
}

static view *view_of_same_type(const view *v) {
    for (int i = 0; i < 12; i++) {
        view *other = random_view();
        if (other && other->b.rank == v->b.rank && other->b.words_per_element == v->b.words_per_element) return other;
    }
    return NULL;
}

/* Copies between sections of two views, which have the same source or different sources. */
static void step_copy_views(void) {
    view *to = random_writable_view(), *from = to ? view_of_same_type(to) : NULL;
    if (!from) return;
    int32_t extent[MAX_RANK], at[2][MAX_RANK];
    revamp_array_view sections[2] = {NULL, NULL};
    view *sides[] = {from, to};
    box parts[2];
    for (uint32_t d = 0; d < to->b.rank; d++) {
        int32_t most = to->b.extent[d] < from->b.extent[d] ? to->b.extent[d] : from->b.extent[d];
        extent[d] = one_in(2) ? most : 1 + (int32_t)random_below((uint32_t)most);
    }
    for (int i = 0; i < 2; i++) {
        for (uint32_t d = 0; d < to->b.rank; d++)
            at[i][d] = (int32_t)random_below((uint32_t)(sides[i]->b.extent[d] - extent[d] + 1));
        parts[i] = section_box(&sides[i]->b, at[i], extent);
        DO(revamp_array_view_section(sides[i]->handle, at[i], extent, &sections[i]));
    }
    bool is_async = one_in(3), is_overlapping = overlap(from->data_source, &parts[0], to->data_source, &parts[1]);
    describe_step("copy%s from v%d", is_async ? "_async" : "", number_of(from));
    describe_list(" at ", &parts[0], at[0]);
    describe(" to v%d", number_of(to));
    describe_list(" at ", &parts[1], at[1]);
    describe_list(" of ", &parts[0], extent);
    wait_for_overlapping_operation(from->data_source, &parts[0]);
    wait_for_overlapping_operation(to->data_source, &parts[1]);
    revamp_region source_region = region_of(sections[0]), target_region = region_of(sections[1]);
    if (is_overlapping) {
        describe(", which overlap");
        revamp_completion none = NULL;
        revamp_status status = is_async ? revamp_copy_async(&source_region, &target_region, NULL, &none)
                                        : revamp_copy(&source_region, &target_region);
        if (status >= 0) fail("a copy between overlapping regions succeeded");
    } else {
        bool is_under_way = copy_regions(&source_region, &target_region, is_async);
        for (uint64_t k = words_of(&parts[0]); k-- > 0;) {
            uint64_t w = word_at(&parts[0], k), x = word_at(&parts[1], k);
            to->data_source->model[x] = from->data_source->model[w];
            to->data_source->is_known[x] = from->data_source->is_known[w];
        }
        model_copy_source(from->data_source, &parts[0]);
        model_write(to->data_source, &parts[1], to->data_source->home);
        if (is_under_way) {
            add_pending(from->data_source, &parts[0]);
            add_pending(to->data_source, &parts[1]);
        }
    }
    DO(revamp_array_view_release(sections[0]));
    DO(revamp_array_view_release(sections[1]));
    if (one_in(2)) wait_pending();
    check_residency(to);
    check_residency(from);
}

/* Direct uses of the array under the views. */

static void array_by_pointer(source *s) {
    static const revamp_access all[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE};
    revamp_access access = all[random_below(3)];
    void *data = NULL;
    describe(" by its address, %s", access_name(access));
    DO(revamp_array_data(s->array, access, &data));
    if (access != REVAMP_ACCESS_WRITE) compare(s, &s->whole, data, "the array");
    model_use(s, &s->whole, s->home, access);
    view all_of_it = {NULL, s, s->whole, false, 1, NULL};
    if (access & REVAMP_ACCESS_WRITE) write_random_values(&all_of_it, data, access == REVAMP_ACCESS_WRITE);
}

static void array_by_kernel(source *s) {
    kernel_block block = {0};
    block.n = (uint32_t)s->words;
    block.value = random_number(&random_state);
    block.mode = random_below(2);
    revamp_access access = block.mode == SEQUENCE && one_in(2) ? REVAMP_ACCESS_WRITE : REVAMP_ACCESS_READ_WRITE;
    revamp_argument argument = revamp_argument_address(0, s->array, access);
    describe(" in a kernel, %s", access_name(access));
    set_box_arguments(&s->whole, block.to_count, block.to_stride);
    launch_box(s->home, one_in(2), &block, &argument, 1);
    model_use(s, &s->whole, s->home, access);
    model_box(s, &s->whole, &block, NULL, NULL);
    check_state_words(s, &s->whole, access);
}

static void array_by_copy(source *s) {
    if (one_in(2)) {
        describe(" copied out");
        compare(s, &s->whole, read_array(s->array), "the array");
        model_use(s, &s->whole, s->home, REVAMP_ACCESS_READ);
        return;
    }
    describe(" copied in");
    uint32_t *contents = numbers(s->words, random_number(&random_state));
    write_array(s->array, contents);
    memcpy(s->model, contents, s->words * 4);
    set_known(s, &s->whole, true);
    model_use(s, &s->whole, s->home, REVAMP_ACCESS_WRITE);
}

static void step_array(void) {
    view *v = random_view();
    if (!v || !v->data_source->array) return;
    source *s = v->data_source;
    describe_step("the array of source %d", (int)(s - sources));
    wait_for_overlapping_operation(s, &s->whole);
    if (one_in(10)) {
        describe(" is destroyed");
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

/* Tries to write through a read-only view. The call must fail and change nothing. */
static void step_refused(void) {
    view *v = random_view();
    void *data = NULL;
    revamp_completion done = NULL;
    revamp_status status = REVAMP_OK;
    if (!v || !v->read_only) return;
    describe_step("tries to write v%d", number_of(v));
    wait_for_overlapping_operation(v->data_source, &v->b);
    switch (random_below(5)) {
    case 0:
        status = revamp_array_view_data(v->handle, REVAMP_ACCESS_READ_WRITE, &data);
        break;
    case 1:
        status = revamp_array_view_synchronize(v->handle, REVAMP_ACCESS_WRITE);
        break;
    case 2:
        status = revamp_array_view_synchronize_to_async(v->handle, locations[random_device()].view,
                                                        REVAMP_ACCESS_READ_WRITE, NULL, &done);
        break;
    case 3:
        status = revamp_array_view_discard_data(v->handle);
        break;
    default: {
        far_side far;
        int32_t origin[MAX_RANK];
        int64_t strides[MAX_RANK];
        make_far_side(&far, v);
        revamp_region there = far_region(&far, origin, strides), here = region_of(v->handle);
        status = revamp_copy(&there, &here);
        finish_far_side(&far);
    }
    }
    if (status != REVAMP_ERROR_INVALID_ARGUMENT)
        fail("a write that must be refused returned %s", revamp_status_name(status));
    check_residency(v);
}

static void step_residency(void) {
    view *v = random_view();
    if (!v) return;
    describe_step("asks where v%d is", number_of(v));
    wait_pending();
    check_residency(v);
    check_info(v);
}

static void step_wait(void) {
    if (!pending.done) return;
    describe_step("waits");
    wait_pending();
}

static const struct {
    const char *name;
    unsigned weight;
    void (*run)(void);
} step_kinds[] = {
    {"open", 3, step_open},
    {"section", 9, step_section},
    {"project", 3, step_project},
    {"shape", 4, step_shape},
    {"handle", 3, step_share_elements},
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
    for (size_t k = 0; k < COUNT(step_kinds); k++)
        sum += step_kinds[k].weight;
    seed_step(current_step);
    unsigned pick = random_below(sum);
    for (; pick >= step_kinds[i].weight; i++)
        pick -= step_kinds[i].weight;
    snprintf(number, sizeof number, "%d", current_step);
    if (is_listed(getenv("REVAMP_TEST_SKIP"), number) || is_listed(getenv("REVAMP_TEST_WITHOUT"), step_kinds[i].name))
        return;
    if (!random_view()) open_source(&sources[0]);
    step_kinds[i].run();
    if (first_logged_error[0]) fail("the library logged: %s", first_logged_error);
}

static home_kind random_home(void) {
    home_kind kind = (home_kind)random_below(HOMES);
    return kind == OVER_VULKAN && location_count <= VULKAN ? OVER_HOST : kind;
}

static void run_random_program(home_kind kind, uint32_t seed) {
    const void *begin = memory_mark();
    home_under_test = kind;
    program_seed = seed;
    current_step = 0;
    latest_slot = 0;
    text_length = 0;
    describe("\n  the program of REVAMP_TEST_SEED=%u, over %s:", seed, home_names[kind]);
    seed_step(0);
    int steps = MIN_STEPS + (int)random_below(MAX_STEPS - MIN_STEPS);
    make_source(&sources[0], kind);
    make_source(&sources[1], random_home());
    open_source(&sources[0]);
    for (current_step = 1; current_step <= steps; current_step++)
        run_step();
    seed_step(current_step);
    for (view *v; (v = random_view()) != NULL;)
        release_view(v);
    current_step++;
    describe_step("destroys the arrays");
    wait_pending();
    for (int i = 0; i < SOURCES; i++)
        if (sources[i].array) DO(revamp_array_destroy(sources[i].array));
    if (first_logged_error[0]) fail("the library logged: %s", first_logged_error);
    free_memory_since(begin);
}

static uint32_t number_from(const char *variable, uint32_t default_value) {
    const char *value = getenv(variable);
    return value ? (uint32_t)strtoul(value, NULL, 10) : default_value;
}

CHILD(one_random_program) {
    set_up();
    run_random_program((home_kind)number_from("REVAMP_TEST_HOME", 0), number_from("REVAMP_TEST_SEED", 1));
    tear_down();
}

static bool fails_without(const bool *skipped, home_kind kind, uint32_t seed, char **output) {
    char home[32], number[32], skip[32 + MAX_STEPS * 4] = "REVAMP_TEST_SKIP=-";
    size_t skip_length = strlen(skip);
    snprintf(home, sizeof home, "REVAMP_TEST_HOME=%d", (int)kind);
    snprintf(number, sizeof number, "REVAMP_TEST_SEED=%u", seed);
    for (int i = 1; i <= MAX_STEPS; i++)
        if (skipped[i]) skip_length += (size_t)snprintf(skip + skip_length, sizeof skip - skip_length, ",%d", i);
    child_result result = run_child("one_random_program", home, number, skip, "CHECK_TIME_LIMIT=10", NULL);
    if (result.exit_code == 0) return false;
    *output = result.output;
    return true;
}

/* Removes steps from the program as long as it still fails, and prints the remaining program. */
static void shrink(void) {
    bool skipped[MAX_STEPS + 1] = {false};
    char *output = NULL;
    uint32_t seed = program_seed;
    home_kind kind = home_under_test;
    time_t end = time(NULL) + SHRINK_SECONDS;
    if (!fails_without(skipped, kind, seed, &output)) {
        fputs("(run alone, the program does not fail)\n", stderr);
        return;
    }
    for (int size = MAX_STEPS / 2; size > 0 && time(NULL) < end;) {
        bool is_smaller = false;
        for (int first = MAX_STEPS; first > 0 && time(NULL) < end; first -= size) {
            bool candidate[MAX_STEPS + 1], is_new = false;
            memcpy(candidate, skipped, sizeof candidate);
            for (int i = first; i > 0 && i > first - size; i--) {
                is_new |= !candidate[i];
                candidate[i] = true;
            }
            if (!is_new || !fails_without(candidate, kind, seed, &output)) continue;
            memcpy(skipped, candidate, sizeof candidate);
            is_smaller = true;
        }
        if (!is_smaller || size > 1) size /= 2;
    }
    fprintf(stderr, "the steps that the failure needs:\n%s\n", output);
}

/* The number of programs in a test. They take a few seconds. */
enum { PROGRAMS = 600, VALIDATED_PROGRAMS = 300 };

static void run_programs(home_kind kind) {
    const char *only_seed = getenv("REVAMP_TEST_SEED");
    uint32_t first = number_from("REVAMP_TEST_FIRST", 1);
    program_seed = number_from("REVAMP_TEST_SEED", 1);
    home_under_test = kind;
    /* A single program runs in a child process, because it may crash. */
    if (only_seed && !getenv("REVAMP_TEST_SKIP")) {
        bool none[MAX_STEPS + 1] = {false};
        char *output = NULL;
        if (!fails_without(none, kind, program_seed, &output)) return;
        check_fail(__FILE__, __LINE__, "the program fails:\n%s", output);
        shrink();
        check_abandon();
    }
    on_crash(on_signal);
    set_up();
    if (kind == OVER_VULKAN && location_count <= VULKAN) check_skip("there is no Vulkan");
    uint32_t default_count = has_validation() ? VALIDATED_PROGRAMS : PROGRAMS;
    uint32_t count = only_seed ? 1 : number_from("REVAMP_TEST_PROGRAMS", default_count);
    for (uint32_t i = 0; i < count; i++)
        run_random_program(kind, only_seed ? program_seed : first + i);
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
