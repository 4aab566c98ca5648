/* Tests of the library during the life of a process (decision 27): exit, fork, signals, dlopen, handles, no Vulkan. */
#include "support.h"
#include "system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Prints without stdio: another thread may hold stdio's locks, or exit() may already have closed the streams. */
static void print_without_stdio(const char *text) {
    if (write(1, text, strlen(text)) < 0) abort();
}

/* The exit hook finishes all work. */

static void late_kernel(const revamp_thread_id *id, void *context) {
    (void)context;
    pause_milliseconds(100);
    if (id->global[0] == 0) print_without_stdio("kernel done\n");
}

static void empty_kernel(const revamp_thread_id *id, void *context) {
    (void)id, (void)context;
}

static void late_callback(revamp_status status, void *context) {
    (void)context;
    pause_milliseconds(50);
    print_without_stdio(status == REVAMP_OK ? "callback done\n" : "callback failed\n");
}

CHILD(exits_without_waiting) {
    const int32_t extent = 4;
    revamp_completion marker = NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = late_kernel;
    REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
    REQUIRE_OK(revamp_completion_then(marker, late_callback, NULL));
}

TEST(exit_drains_host_kernels_and_callbacks) {
    child_result r = run_child("exits_without_waiting", NULL);
    if (!check_child(&r, __FILE__, __LINE__)) return;
    CHECK_TEXT(r.output, "kernel done");
    CHECK_TEXT(r.output, "callback done");
}

enum { SHARED_COUNT = 1 << 18, SHARED_SIZE = SHARED_COUNT * 4, SHARED_STEPS = 8 };

/* Maps a file whose memory the test and its child share. */
static uint32_t *shared_file(const char *path) {
    int file = open(path, O_RDWR);
    REQUIRE(file >= 0);
    uint32_t *map = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(map != MAP_FAILED);
    close(file);
    return map;
}

CHILD(exits_with_copies_under_way) {
    const char *path = getenv("TEST_FILE");
    REQUIRE(path);
    uint32_t *map = shared_file(path);
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel step = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, numbers(SHARED_COUNT, 1), SHARED_COUNT);
        revamp_completion done = NULL;
        for (int i = 0; i < SHARED_STEPS; i++)
            CHECK_OK(launch_step(p->view, step, array));
        REQUIRE_OK(revamp_copy_from_array_async(array, map, SHARED_SIZE, NULL, &done));
        return;
    }
}

static void check_exit_with_copies(void) {
    char path[] = "/tmp/revamp-test-XXXXXX", variable[64];
    int file = mkstemp(path);
    REQUIRE(file >= 0 && !ftruncate(file, SHARED_SIZE));
    close(file);
    snprintf(variable, sizeof variable, "TEST_FILE=%s", path);
    child_result r = run_child("exits_with_copies_under_way", variable, NULL);
    uint32_t *map = shared_file(path), *expected = numbers(SHARED_COUNT, 1);
    unlink(path);
    if (check_child(&r, __FILE__, __LINE__)) {
        step_naive(expected, SHARED_COUNT, SHARED_STEPS);
        CHECK_SAME(map, expected, SHARED_SIZE);
    }
    munmap(map, SHARED_SIZE);
}

TEST(exit_drains_kernels_and_copies) {
    first_place_or_skip(runs_spirv);
    /* The check is repeated, because its outcome depends on the state of the driver and its layers. It runs only four
     * times, because processes start slowly under AddressSanitizer on a busy machine. */
    for (int i = 0; i < 4; i++)
        check_exit_with_copies();
}

/* Exit handlers and destructors: each call returns a valid status, even if the library has shut down. */

static struct {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    revamp_array array;
    revamp_completion completion;
    revamp_kernel kernel;
} test_objects;

static bool is_allowed_at_exit(revamp_status status) {
    return status == REVAMP_OK || status == REVAMP_ERROR_SHUT_DOWN;
}

static unsigned count_misbehaving_calls(void) {
    unsigned wrong = 0;
    uint32_t bytes[16] = {0};
    int32_t extent = 16;
    size_t count = 0;
    revamp_accelerator_info info = {0};
    revamp_array array = NULL;
    revamp_completion marker = NULL;
    info.struct_size = sizeof info;
    wrong += !is_allowed_at_exit(revamp_accelerator_list(NULL, 0, &count));
    wrong += !is_allowed_at_exit(revamp_accelerator_get_info(test_objects.accelerator, &info));
    wrong += !is_allowed_at_exit(revamp_accelerator_view_wait(test_objects.view));
    wrong += !is_allowed_at_exit(revamp_accelerator_view_create_marker(test_objects.view, &marker));
    wrong += !is_allowed_at_exit(revamp_array_create(test_objects.view, 1, &extent, 4, NULL, &array));
    wrong += !is_allowed_at_exit(revamp_copy_to_array(bytes, sizeof bytes, test_objects.array));
    wrong += !is_allowed_at_exit(revamp_copy_from_array(test_objects.array, bytes, sizeof bytes));
    wrong += !is_allowed_at_exit(revamp_completion_get(test_objects.completion));
    if (test_objects.kernel)
        wrong += !is_allowed_at_exit(launch_groups(test_objects.view, test_objects.kernel, 1, 1, 1,
                                                   &(revamp_argument){.struct_size = sizeof(revamp_argument),
                                                                      .kind = REVAMP_ARGUMENT_BUFFER,
                                                                      .array = test_objects.array},
                                                   1));
    wrong += !revamp_last_error_message();
    return wrong;
}

/* Releases must never fail, because the destructors of a program release handles. */
static unsigned count_misbehaving_releases(void) {
    unsigned wrong = 0;
    wrong += revamp_completion_release(test_objects.completion) != REVAMP_OK;
    wrong += revamp_array_destroy(test_objects.array) != REVAMP_OK;
    if (test_objects.kernel) wrong += revamp_kernel_release(test_objects.kernel) != REVAMP_OK;
    return wrong;
}

static void handler_registered_first(void) {
    print_without_stdio(count_misbehaving_calls() + count_misbehaving_releases() ? "early handler: bad\n"
                                                                                 : "early handler: good\n");
}

static void handler_registered_last(void) {
    print_without_stdio(count_misbehaving_calls() ? "late handler: bad\n" : "late handler: good\n");
}

__attribute__((destructor)) static void program_destructor(void) {
    if (test_objects.view) print_without_stdio(count_misbehaving_calls() ? "destructor: bad\n" : "destructor: good\n");
}

CHILD(calls_from_exit_handlers) {
    /* This handler is registered before the library's exit hook, so it runs after the hook. */
    atexit(handler_registered_first);
    const place *p = places_that(runs_spirv);
    if (!p->view) p = places_that(runs_host_kernels);
    test_objects.accelerator = p->accelerator;
    test_objects.view = p->view;
    test_objects.array = array_with(p->view, numbers(16, 1), 16);
    if (runs_spirv(&p->info)) test_objects.kernel = load(p->accelerator, &step_module);
    REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &test_objects.completion));
    atexit(handler_registered_last);
}

TEST(exit_handlers_and_destructors_may_call_the_library) {
    child_result r = run_child("calls_from_exit_handlers", NULL);
    if (!check_child(&r, __FILE__, __LINE__)) return;
    CHECK_TEXT(r.output, "late handler: good");
    CHECK_TEXT(r.output, "early handler: good");
    CHECK_TEXT(r.output, "destructor: good");
}

static void *exit_from_thread(void *context) {
    (void)context;
    exit(0);
}

static void *keep_calling(void *context) {
    (void)context;
    while (test_objects.view) {
        revamp_array array = NULL;
        int32_t extent = 100;
        revamp_status status = revamp_array_create(test_objects.view, 1, &extent, 4, NULL, &array);
        if (status == REVAMP_OK) status = revamp_array_destroy(array);
        if (!is_allowed_at_exit(status) && status != REVAMP_ERROR_INVALID_HANDLE)
            print_without_stdio("a call went wrong\n");
    }
    return NULL;
}

CHILD(exits_from_a_thread) {
    pthread_t callers[3], exiting_thread;
    test_objects.view = places_that(holds_arrays)->view;
    for (int i = 0; i < 3; i++)
        REQUIRE(!pthread_create(&callers[i], NULL, keep_calling, NULL));
    pause_milliseconds(50);
    REQUIRE(!pthread_create(&exiting_thread, NULL, exit_from_thread, NULL));
    pthread_join(exiting_thread, NULL);
}

TEST(exit_from_a_thread_while_others_call) {
    for (int i = 0; i < 8; i++) {
        child_result r = run_child("exits_from_a_thread", NULL);
        if (!check_child(&r, __FILE__, __LINE__)) return;
        CHECK(!strstr(r.output, "went wrong"));
    }
}

CHILD(exits_with_a_pending_callback) {
    /* When the process ends, a callback is pending and its completion has been released. */
    revamp_completion marker = NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
    REQUIRE_OK(revamp_completion_then(marker, late_callback, NULL));
    REQUIRE_OK(revamp_completion_release(marker));
    _exit(0);
}

TEST(quick_exit_does_not_hang) {
    CHECK_CHILD("exits_with_a_pending_callback", NULL);
}

/* If exit() is called during work that cannot finish, the library abandons the work and logs the loss. */

static void exiting_kernel(const revamp_thread_id *id, void *tiled) {
    if (tiled) revamp_tile_barrier_wait(id);
    if (id->global[0] == 40) exit(0);
    pause_milliseconds(1);
}

CHILD(exits_in_a_host_kernel) {
    const int32_t extent = 64, tile = 16;
    const char *variant = getenv("TEST_WAY");
    REQUIRE(variant);
    bool tiled = strstr(variant, "tiled") != NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.tile = tiled ? &tile : NULL;
    info.function = exiting_kernel;
    info.context = tiled ? &info : NULL;
    REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
    if (strstr(variant, "waits")) IGNORE_STATUS(revamp_accelerator_view_wait(host_view()));
    for (;;)
        pause();
}

static void exiting_callback(revamp_status status, void *context) {
    (void)status, (void)context;
    exit(0);
}

CHILD(exits_in_a_callback) {
    revamp_completion marker = NULL;
    REQUIRE_OK(revamp_accelerator_view_create_marker(host_view(), &marker));
    REQUIRE_OK(revamp_completion_then(marker, exiting_callback, NULL));
    for (;;)
        pause();
}

static void exit_in_the_log(revamp_log_level level, const char *message, void *context) {
    (void)level, (void)message, (void)context;
    exit(0);
}

CHILD(exits_in_the_log) {
    small_job();
    CHECK_OK(revamp_set_log_callback(exit_in_the_log, NULL, REVAMP_LOG_DEBUG));
    revamp_array_destroy(NULL);
    for (;;)
        pause();
}

/* The time limit of the children. A child that hangs is killed. */
#define ENDS_SOON "CHECK_TIME_LIMIT=60"

TEST(exit_in_a_host_kernel_ends) {
    static const char *const variants[] = {"TEST_WAY=flat", "TEST_WAY=tiled", "TEST_WAY=flat waits",
                                           "TEST_WAY=tiled waits"};
    for (size_t i = 0; i < COUNT(variants); i++) {
        child_result r = run_child("exits_in_a_host_kernel", variants[i], ENDS_SOON, NULL);
        if (check_child(&r, __FILE__, __LINE__)) CHECK_TEXT(r.output, "work is lost");
    }
}

TEST(exit_in_a_callback_ends) {
    CHECK_CHILD("exits_in_a_callback", ENDS_SOON, NULL);
    CHECK_CHILD("exits_in_the_log", ENDS_SOON, NULL);
}

static pthread_t interrupted_thread;

static void exit_in_handler(int number) {
    (void)number;
    exit(0);
}

static void *interrupt_soon(void *context) {
    (void)context;
    long delay = atol(getenv("TEST_DELAY"));
    nanosleep(&(struct timespec){0, delay * 1000}, NULL);
    pthread_kill(interrupted_thread, SIGUSR1);
    return NULL;
}

static void *be_interrupted(void *context) {
    for (;;)
        pause();
    return context;
}

/* The objects that the interrupted process uses. */
typedef struct {
    revamp_accelerator_view view;
    revamp_kernel step; /* NULL: a host kernel */
    revamp_array array;
    uint32_t *sent, *got;
} busy_work;

enum { BUSY_NUMBERS = 4096 };

static revamp_status busy_round(const busy_work *w) {
    const int32_t extent = BUSY_NUMBERS;
    revamp_argument argument = revamp_argument_buffer(0, w->array);
    revamp_completion done = NULL;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = empty_kernel;
    revamp_status status =
        w->step ? launch(w->view, w->step, 1, &extent, &argument, 1) : revamp_parallel_for_each(w->view, &info);
    if (status == REVAMP_OK) status = revamp_copy_to_array_async(w->sent, BUSY_NUMBERS * 4, w->array, NULL, &done);
    if (status == REVAMP_OK) status = revamp_copy_from_array(w->array, w->got, BUSY_NUMBERS * 4);
    if (status == REVAMP_OK) status = revamp_completion_release(done);
    return status;
}

/* Launches kernels and copies until the signal interrupts this thread or another one. */
CHILD(exits_in_a_signal_handler) {
    pthread_t thread;
    const char *variant = getenv("TEST_WAY");
    REQUIRE(variant && getenv("TEST_DELAY"));
    const place *p = first_place_or_skip(strstr(variant, "spirv") ? runs_spirv : runs_host_kernels);
    busy_work w = {p->view, NULL, NULL, numbers(BUSY_NUMBERS, 1), numbers(BUSY_NUMBERS, 2)};
    if (runs_spirv(&p->info)) w.step = load(p->accelerator, &step_module);
    w.array = array_with(p->view, w.sent, BUSY_NUMBERS);
    /* The first launch ends before the signal comes. If exit() came while lavapipe's compiler creates its static
     * objects, it would destroy them before the library's hook runs, and the compiler would crash. */
    REQUIRE_OK(busy_round(&w));
    REQUIRE_OK(revamp_accelerator_view_wait(p->view));
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = exit_in_handler;
    sigaction(SIGUSR1, &action, NULL);
    interrupted_thread = pthread_self();
    if (strstr(variant, "other")) REQUIRE(!pthread_create(&interrupted_thread, NULL, be_interrupted, NULL));
    REQUIRE(!pthread_create(&thread, NULL, interrupt_soon, NULL));
    for (;;) {
        revamp_status status = busy_round(&w);
        if (status != REVAMP_OK && !is_allowed_at_exit(status)) print_without_stdio("a call went wrong\n");
    }
}

static void interrupt_many_times(const char *variant) {
    enum { RUNS = 8 };
    for (int i = 0; i < RUNS; i++) {
        char delay[32];
        snprintf(delay, sizeof delay, "TEST_DELAY=%d", 500 + i * 1373);
        child_result r = run_child("exits_in_a_signal_handler", variant, delay, ENDS_SOON, NULL);
        if (!check_child(&r, __FILE__, __LINE__)) return;
        CHECK(!strstr(r.output, "went wrong"));
    }
}

static void skip_where_handlers_cannot_exit(void) {
#ifdef __SANITIZE_ADDRESS__
    check_skip("exit() takes AddressSanitizer's locks, which the interrupted thread may hold");
#endif
}

TEST(exit_in_a_signal_handler_ends) {
    skip_where_handlers_cannot_exit();
    interrupt_many_times("TEST_WAY=host");
    interrupt_many_times("TEST_WAY=host other");
}

TEST(exit_in_a_signal_handler_ends_on_a_device) {
    skip_where_handlers_cannot_exit();
    first_place_or_skip(runs_spirv);
    interrupt_many_times("TEST_WAY=spirv");
}

/* This test is separate because it is slow: while a thread is inside the driver, exit() waits for a full time limit. */
TEST(exit_in_a_signal_handler_of_another_thread_ends_on_a_device) {
    skip_where_handlers_cannot_exit();
    first_place_or_skip(runs_spirv);
    interrupt_many_times("TEST_WAY=spirv other");
}

/* After a fork, every call in the child fails with REVAMP_ERROR_FORKED. */

static unsigned count_calls_without_fork_error(void) {
    unsigned wrong = 0;
    uint32_t bytes[16] = {0};
    int32_t extent = 16;
    size_t count = 0;
    bool changed = false;
    void *data = NULL;
    revamp_accelerator accelerator = NULL;
    revamp_accelerator_view view = NULL;
    revamp_array array = NULL;
    revamp_completion completion = NULL;
    revamp_region region = whole(test_objects.array);
    const revamp_status statuses[] = {
        revamp_accelerator_list(NULL, 0, &count),
        revamp_accelerator_find("cpu", &accelerator),
        revamp_accelerator_get_default(REVAMP_CODE_HOST, &accelerator),
        revamp_accelerator_set_default("cpu", &changed),
        revamp_accelerator_get_default_view(test_objects.accelerator, &view),
        revamp_accelerator_create_view(test_objects.accelerator, REVAMP_QUEUING_MODE_AUTOMATIC, &view),
        revamp_accelerator_view_flush(test_objects.view),
        revamp_accelerator_view_wait(test_objects.view),
        revamp_accelerator_view_create_marker(test_objects.view, &completion),
        revamp_accelerator_view_retain(test_objects.view),
        revamp_array_create(test_objects.view, 1, &extent, 4, NULL, &array),
        revamp_array_data(test_objects.array, REVAMP_ACCESS_READ, &data),
        revamp_copy(&region, &region),
        revamp_copy_async(&region, &region, NULL, &completion),
        revamp_copy_to_array(bytes, sizeof bytes, test_objects.array),
        revamp_copy_from_array(test_objects.array, bytes, sizeof bytes),
        revamp_completion_get(test_objects.completion),
        revamp_completion_wait(test_objects.completion),
        revamp_completion_wait_for(test_objects.completion, 0),
        revamp_completion_then(test_objects.completion, late_callback, NULL),
        launch_groups(test_objects.view, test_objects.kernel, 1, 1, 1, NULL, 0),
        revamp_completion_release(test_objects.completion),
        revamp_array_destroy(test_objects.array),
        revamp_uninitialize(),
    };
    for (size_t i = 0; i < COUNT(statuses); i++)
        if (statuses[i] != REVAMP_ERROR_FORKED) {
            wrong++;
            printf("call %zu after fork: %s\n", i, revamp_status_name(statuses[i]));
        }
    CHECK_TEXT(revamp_last_error_message(), "fork");
    return wrong;
}

/* Calls the library in a forked process, which ends by exit() or _exit(). */
static void expect_forked_child(bool uses_exit) {
    fflush(NULL);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        /* The child does not inherit the test's alarm. */
        alarm(20);
        int code = count_calls_without_fork_error() ? 1 : 0;
        fflush(NULL);
        test_objects.view = NULL;
#ifdef __SANITIZE_ADDRESS__
        /* The leak check of exit() looks for threads that a forked process does not have. */
        uses_exit = false;
#endif
        if (uses_exit) exit(code);
        _exit(code);
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_NUMBER(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), 0);
}

static void check_fork(bool uses_exit) {
    const place *p = places_that(runs_spirv);
    if (!p->view) p = places_that(runs_host_kernels);
    test_objects.accelerator = p->accelerator;
    test_objects.view = p->view;
    uint32_t *expected = numbers(16, 1);
    test_objects.array = array_with(p->view, expected, 16);
    if (runs_spirv(&p->info)) test_objects.kernel = load(p->accelerator, &step_module);
    REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &test_objects.completion));
    if (test_objects.kernel) CHECK_OK(launch_step(p->view, test_objects.kernel, test_objects.array));
    expect_forked_child(uses_exit);
    /* The parent can still use the library. */
    if (test_objects.kernel) step_naive(expected, 16, 1);
    CHECK_SAME(read_array(test_objects.array), expected, 64);
    full_job();
    CHECK_NUMBER(count_misbehaving_releases(), 0);
    test_objects.view = NULL;
}

TEST(after_fork_every_call_fails_with_a_status) {
    check_fork(false);
}

TEST(a_forked_process_exits_cleanly) {
    check_fork(true);
}

TEST(fork_before_the_first_use_is_allowed) {
    fflush(NULL);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        alarm(60);
        full_job();
        CHECK_OK(revamp_uninitialize());
        check_skip("done"); /* the exit code is 77, or 1 if a check failed */
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 77);
    full_job();
}

static void ignore_message(revamp_log_level level, const char *message, void *context) {
    (void)level, (void)message, (void)context;
}

/* Calls that do not start the library. A daemon, or a server that forks workers, may make them before a fork. */
static void calls_before_fork(void) {
    const revamp_kernel_record record = {sizeof record, "kept", step_module.words, step_module.size};
    CHECK(revamp_version() && revamp_abi_version() == REVAMP_ABI_VERSION);
    CHECK_OK(revamp_kernel_register(&record, 1));
    CHECK_OK(revamp_kernel_unregister(&record, 1));
    CHECK(revamp_array_destroy(NULL) == REVAMP_ERROR_INVALID_HANDLE);
    CHECK(revamp_completion_release(NULL) == REVAMP_ERROR_INVALID_HANDLE);
    CHECK(revamp_last_error_status() == REVAMP_ERROR_INVALID_HANDLE && revamp_last_error_message()[0]);
    CHECK(revamp_last_error_hresult() < 0 && revamp_status_name(REVAMP_OK));
    CHECK_OK(revamp_set_log_callback(ignore_message, NULL, REVAMP_LOG_WARN));
    CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_ERROR));
    CHECK_OK(revamp_uninitialize());
}

TEST(fork_before_the_library_starts_is_allowed) {
    enum { WORKERS = 3 };
    pid_t workers[WORKERS];
    calls_before_fork();
    fflush(NULL);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        REQUIRE(workers[i] >= 0);
        if (workers[i] == 0) {
            alarm(60);
            calls_before_fork();
            full_job();
            /* The library is in use from here on, so the next child cannot use it. */
            test_objects.view = host_view();
            pid_t next = fork();
            if (next == 0) {
                alarm(20);
                _exit(revamp_accelerator_view_wait(test_objects.view) == REVAMP_ERROR_FORKED ? 0 : 1);
            }
            int status = 0;
            REQUIRE(waitpid(next, &status, 0) == next);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            test_objects.view = NULL;
            CHECK_OK(revamp_uninitialize());
            check_skip("done"); /* the exit code is 77, or 1 if a check failed */
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        int status = 0;
        REQUIRE(waitpid(workers[i], &status, 0) == workers[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 77);
    }
    full_job();
}

static void *fork_while_busy(void *context) {
    (void)context;
    for (int i = 0; i < 10; i++)
        expect_forked_child(true);
    return NULL;
}

/* At the moment of the fork, another thread may hold locks of the library. */
TEST(fork_while_another_thread_calls) {
#ifdef __SANITIZE_ADDRESS__
    check_skip("AddressSanitizer's allocator may stay locked in the child (seen with GCC 12)");
#endif
    pthread_t thread;
    test_objects.accelerator = find("host");
    test_objects.view = host_view();
    test_objects.array = array_with(test_objects.view, numbers(16, 1), 16);
    REQUIRE_OK(revamp_accelerator_view_create_marker(test_objects.view, &test_objects.completion));
    REQUIRE(!pthread_create(&thread, NULL, fork_while_busy, NULL));
    for (int i = 0; i < 300; i++)
        small_job();
    pthread_join(thread, NULL);
    CHECK_NUMBER(count_misbehaving_releases(), 0);
    test_objects.view = NULL;
}

/* Worker threads block all signals. */

/* True if this thread blocks all signals that it can. The two signals below SIGRTMIN belong to the C library. */
static bool blocks_all_signals(void) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int s = 1; s <= SIGRTMAX; s++) {
        if (s == SIGKILL || s == SIGSTOP || (s >= 32 && s < SIGRTMIN)) continue;
        if (sigismember(&blocked, s) == 0) return false;
    }
    return true;
}

typedef struct {
    pthread_t caller;
    unsigned calls, open;
} signal_report;

static void report_signals(signal_report *r) {
    if (pthread_equal(r->caller, pthread_self())) return;
    __atomic_fetch_add(&r->open, !blocks_all_signals(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&r->calls, 1, __ATOMIC_SEQ_CST);
}

static void signals_in_kernel(const revamp_thread_id *id, void *context) {
    (void)id;
    report_signals(context);
    pause_milliseconds(1);
}

static void signals_in_callback(revamp_status status, void *context) {
    (void)status;
    report_signals(context);
}

/* Counts the library's threads, found by their names. Adds to *open how many accept one of the signals below. */
static unsigned count_library_threads(unsigned *open) {
    unsigned found = 0;
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
        char path[300], line[256], name[64] = "";
        unsigned long long mask = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            if (sscanf(line, "Name: %63s", name) == 1) continue;
            if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
        }
        if (file) fclose(file);
        if (strncmp(name, "revamp", 6) || !strcmp(name, "revamp_tests")) continue;
        found++;
        static const int checked_signals[] = {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGUSR2, SIGPROF, SIGHUP};
        for (size_t i = 0; i < COUNT(checked_signals); i++)
            if (!(mask >> (checked_signals[i] - 1) & 1)) {
                ++*open;
                printf("thread %s takes signal %d\n", name, checked_signals[i]);
                break;
            }
    }
    closedir(tasks);
    return found;
}

TEST(worker_threads_block_all_signals) {
    signal_report r = {pthread_self(), 0, 0};
    const int32_t extent = 200;
    unsigned open = 0;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = signals_in_kernel;
    info.context = &r;
    CHECK(!blocks_all_signals());
    REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
    FOR_EACH_PLACE(p, holds_arrays) {
        revamp_completion marker = NULL;
        REQUIRE_OK(revamp_accelerator_view_create_marker(p->view, &marker));
        REQUIRE_OK(revamp_completion_then(marker, signals_in_callback, &r));
        expect_done(marker);
    }
    full_job();
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    while (__atomic_load_n(&r.calls, __ATOMIC_SEQ_CST) == 0)
        pause_milliseconds(1);
    CHECK(count_library_threads(&open) > 0);
    CHECK_NUMBER(open, 0);
    CHECK_NUMBER(__atomic_load_n(&r.open, __ATOMIC_RELAXED), 0);
    CHECK(!blocks_all_signals());
}

static volatile sig_atomic_t signals_handled;

static void count_signal(int number) {
    (void)number;
    signals_handled = signals_handled + 1;
}

/* Signals that the program handles do not disturb blocking calls of the library. */
TEST(signals_during_waits_do_no_harm) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self();
    for (int i = 0; i < 20; i++) {
        pthread_kill(self, SIGUSR1);
        full_job();
    }
    CHECK_NUMBER(signals_handled, 20);
}

/* Libraries that dlopen() loads. */

/* The file from which this process loaded the library. */
static const char *library_path(void) {
    static char path[4096];
    char line[4352];
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps);
    while (fgets(line, sizeof line, maps)) {
        char *at = strchr(line, '/');
        if (!at || !strstr(at, "librevamp.so")) continue;
        at[strcspn(at, "\n")] = 0;
        snprintf(path, sizeof path, "%s", at);
        break;
    }
    fclose(maps);
    REQUIRE(path[0]);
    return path;
}

TEST(the_library_may_be_loaded_and_closed_at_run_time) {
    char program[4200];
    snprintf(program, sizeof program, "%s/revamp_test_dlopen", program_folder());
    if (access(program, X_OK)) check_skip("%s is not here", program);
    child_result r = run_program(program, library_path(), NULL);
    check_child(&r, __FILE__, __LINE__);
    CHECK_TEXT(r.output, "done");
}

/* True if the process has mapped the file. */
static bool is_mapped(const char *file) {
    char line[4352];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, file) != NULL;
    fclose(maps);
    return found;
}

typedef union {
    void *object;
    revamp_status (*begin)(const char *, revamp_accelerator_view, void *);
} plugin_function;

CHILD(closes_a_plugin_before_its_code_has_run) {
    struct {
        int open, ran;
    } shared = {0, 0};
    char path[4200];
    plugin_function f;
    const char *code_kind = getenv("TEST_WAY");
    REQUIRE(code_kind);
    snprintf(path, sizeof path, "%s/revamp_test_plugin.so", program_folder());
    if (access(path, R_OK)) check_skip("%s is not here", path);
    /* The plugin has not called revamp yet, so dlclose() unloads it. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library && is_mapped("revamp_test_plugin"));
    dlclose(library);
    CHECK(!is_mapped("revamp_test_plugin"));
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    f.object = dlsym(library, "plugin_begin");
    REQUIRE(f.object);
    REQUIRE_OK(f.begin(code_kind, host_view(), &shared));
    dlclose(library);
    pause_milliseconds(20);
    __atomic_store_n(&shared.open, 1, __ATOMIC_SEQ_CST);
    CHECK(revamp_array_destroy(NULL) == REVAMP_ERROR_INVALID_HANDLE);
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_OK(revamp_uninitialize());
    CHECK(__atomic_load_n(&shared.ran, __ATOMIC_SEQ_CST) > 0);
    CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_ERROR));
}

TEST(a_library_may_be_closed_before_its_code_has_run) {
    CHECK_CHILD("closes_a_plugin_before_its_code_has_run", "TEST_WAY=kernel", NULL);
    CHECK_CHILD("closes_a_plugin_before_its_code_has_run", "TEST_WAY=row kernel", NULL);
    CHECK_CHILD("closes_a_plugin_before_its_code_has_run", "TEST_WAY=completion", NULL);
    CHECK_CHILD("closes_a_plugin_before_its_code_has_run", "TEST_WAY=log", NULL);
}

typedef union {
    void *object;
    revamp_status (*step)(const char *);
} user_plugin;

static user_plugin load_user(const char *name) {
    char path[4200];
    user_plugin f;
    snprintf(path, sizeof path, "%s/revamp_test_user_%s.so", program_folder(), name);
    if (access(path, R_OK)) check_skip("%s is not here", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    f.object = dlsym(library, "plugin_step");
    REQUIRE(f.object);
    return f;
}

/* Each plugin has its own revamp_user (decision 41). */
TEST(two_plugins_end_independently) {
    const user_plugin first = load_user("first"), second = load_user("second");
    CHECK(first.step != second.step);
    REQUIRE_OK(first.step("begin"));
    REQUIRE_OK(second.step("begin"));
    CHECK_OK(first.step("use"));
    CHECK_OK(first.step("end"));
    /* The remaining objects belong to the second plugin. */
    CHECK_OK(second.step("use"));
    REQUIRE_OK(first.step("begin"));
    CHECK_OK(second.step("end"));
    CHECK_OK(first.step("use"));
    CHECK_OK(first.step("end"));
    /* The end of the last plugin has shut the library down. */
    CHECK_STATUS(first.step("use"), REVAMP_ERROR_INVALID_HANDLE);
    CHECK_STATUS(second.step("use"), REVAMP_ERROR_INVALID_HANDLE);
    CHECK_STATUS(first.step("end"), REVAMP_ERROR_INVALID_HANDLE);
    full_job();
}

TEST(no_vulkan_library_is_needed_to_link) {
    CHECK(revamp_version() == REVAMP_VERSION);
    char line[4352];
    FILE *maps = fopen("/proc/self/maps", "r");
    REQUIRE(maps);
    while (fgets(line, sizeof line, maps))
        CHECK(!strstr(line, "libvulkan"));
    fclose(maps);
}

/* A handle consists of a slot number and a generation number. */
TEST(a_freed_handle_stays_invalid_when_its_slot_is_reused) {
    enum { ROUNDS = 5000 };
    revamp_array *freed = memory(ROUNDS * sizeof *freed);
    for (int i = 0; i < ROUNDS; i++) {
        freed[i] = array_1d(cpu_view(), 1, 4);
        CHECK_OK(revamp_array_destroy(freed[i]));
    }
    revamp_array alive = array_1d(cpu_view(), 1, 4);
    revamp_array_info info = {0};
    info.struct_size = sizeof info;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(freed[i] != alive);
        if (i % 100 == 0) CHECK_FAILS(revamp_array_get_info(freed[i], &info), AS_HANDLE, "freed");
        CHECK(revamp_array_destroy(freed[i]) == REVAMP_ERROR_INVALID_HANDLE);
    }
    CHECK_OK(revamp_array_destroy(alive));
}

static int count_threads(void) {
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;)
        threads += e->d_name[0] != '.';
    closedir(tasks);
    return threads;
}

TEST(uninitialize_and_restart_many_times) {
    enum { ROUNDS = 12 };
    int early = 0;
    for (int i = 0; i < ROUNDS; i++) {
        /* revamp_uninitialize() frees the objects that are left. */
        for (const place *p = places_that(holds_arrays); p->view; p++)
            array_with(p->view, numbers(64, 1), 64);
        CHECK_OK(revamp_uninitialize());
        if (i == 1) early = count_threads();
    }
    /* A device left open in each round would leave threads of its driver. */
    CHECK(count_threads() < early + ROUNDS - 2);
    full_job();
}

static void uninitialize_in_kernel(const revamp_thread_id *id, void *context) {
    (void)id;
    if (CHECK_FAILS(revamp_uninitialize(), AS_RUNTIME, "host kernel"))
        __atomic_fetch_add((unsigned *)context, 1, __ATOMIC_SEQ_CST);
}

/* revamp_uninitialize() would wait for the kernel that calls it. */
TEST(uninitialize_in_a_host_kernel_is_refused) {
    const int32_t extent = 64, tile = 16;
    unsigned refused = 0;
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = uninitialize_in_kernel;
    info.context = &refused;
    REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
    info.tile = &tile;
    REQUIRE_OK(revamp_parallel_for_each(host_view(), &info));
    CHECK_OK(revamp_accelerator_view_wait(host_view()));
    CHECK_NUMBER(refused, 2 * extent);
}

/* Without Vulkan, the cpu and host accelerators still work. */

static void double_number(const revamp_thread_id *id, void *context) {
    uint32_t *data = context;
    data[id->global[0]] *= 2;
}

CHILD(works_without_vulkan) {
    const int32_t extent = 1000;
    revamp_accelerator found = NULL;
    uint32_t *expected = numbers(1000, 1);
    CHECK(!places_that(runs_spirv)->view);
    CHECK(find("cpu") && find("host"));
    CHECK_FAILS(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found), AS_RUNTIME, "Vulkan");
    REQUIRE_OK(revamp_accelerator_get_default(REVAMP_CODE_HOST, &found));
    CHECK(found == find("host"));
    /* Without Vulkan, the auto-selection view stands for the default of host code. */
    revamp_accelerator_view automatic = NULL;
    REQUIRE_OK(revamp_accelerator_get_auto_selection_view(&automatic));
    CHECK(view_info(automatic).accelerator == found);
    revamp_array array = array_with(host_view(), expected, 1000), copied = array_1d(cpu_view(), 1000, 4);
    revamp_argument argument = revamp_argument_buffer(0, array);
    revamp_region from = whole(array), to = whole(copied);
    revamp_parallel_for_each_info info = {0};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = double_number;
    info.context = data_of(array, REVAMP_ACCESS_READ_WRITE);
    info.arguments = &argument;
    info.argument_count = 1;
    CHECK_OK(revamp_parallel_for_each(NULL, &info));
    CHECK_OK(revamp_copy(&from, &to));
    for (int i = 0; i < 1000; i++)
        expected[i] *= 2;
    CHECK_SAME(data_of(copied, REVAMP_ACCESS_READ), expected, 4000);
    CHECK_OK(revamp_array_destroy(array));
    CHECK_OK(revamp_array_destroy(copied));
    full_job();
    CHECK_OK(revamp_uninitialize());
}

TEST(host_features_work_without_vulkan) {
    CHECK_CHILD("works_without_vulkan", "REVAMP_TEST=no-vulkan", NULL);
}

TEST(host_features_work_without_a_driver) {
    CHECK_CHILD("works_without_vulkan", "VK_DRIVER_FILES=/nonexistent", "VK_ICD_FILENAMES=/nonexistent", NULL);
    CHECK_CHILD("works_without_vulkan", "VK_DRIVER_FILES=", "VK_ICD_FILENAMES=/nonexistent", NULL);
}

/* Invalid settings cause a warning and do no harm. */
CHILD(works) {
    full_job();
    CHECK_OK(revamp_uninitialize());
}

TEST(invalid_settings_do_no_harm) {
    child_result r = run_child("works", "REVAMP_LOG=", "REVAMP_HOST_THREADS=-7", "REVAMP_CACHE=sideways", NULL);
    if (!check_child(&r, __FILE__, __LINE__)) return;
    CHECK_TEXT(r.output, "REVAMP_HOST_THREADS");
    CHECK_TEXT(r.output, "REVAMP_CACHE");
    CHECK_CHILD("works", "REVAMP_CACHE_DIR=/dev/null/folder", NULL);
    CHECK_CHILD("works", "REVAMP_CACHE=off", NULL);
    CHECK_CHILD("works", "HOME=", "XDG_CACHE_HOME=", NULL);
}

TEST(the_library_is_quiet_by_default) {
    child_result r = run_child("works", "REVAMP_LOG=", NULL);
    if (!check_child(&r, __FILE__, __LINE__)) return;
    CHECK(!strstr(r.output, "revamp ["));
}

typedef struct {
    pthread_mutex_t lock;
    unsigned messages;
} log_count;

static void count_message(revamp_log_level level, const char *message, void *context) {
    log_count *c = context;
    pthread_mutex_lock(&c->lock);
    c->messages += level >= REVAMP_LOG_ERROR && level <= REVAMP_LOG_DEBUG && message && message[0];
    pthread_mutex_unlock(&c->lock);
}

TEST(log_messages_reach_the_callback) {
    log_count c = {PTHREAD_MUTEX_INITIALIZER, 0};
    CHECK_OK(revamp_set_log_callback(count_message, &c, REVAMP_LOG_DEBUG));
    CHECK(revamp_array_destroy(NULL) == REVAMP_ERROR_INVALID_HANDLE);
    full_job();
    CHECK_OK(revamp_uninitialize());
    CHECK_OK(revamp_set_log_callback(NULL, NULL, REVAMP_LOG_ERROR));
    pthread_mutex_lock(&c.lock);
    CHECK(c.messages > 0);
    pthread_mutex_unlock(&c.lock);
}
