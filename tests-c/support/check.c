/* The test runner. It runs each test in a process of its own, so that a crash or a hang fails only that test. `--one`
 * runs the named tests in one process. */
#include "check.h"
#include "system.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_SKIPPED = 77, MAX_JOBS = 64, MAX_ENVIRONMENT = 8, MAX_STARTS = 3 };

extern char **environ;

static check_test *tests;
static int failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void check_register(check_test *test) {
    check_test **at = &tests;
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->name, test->name)) {
            /* find() returns only the first test of a name. */
            fprintf(stderr, "%s and %s both define the test %s\n", (*at)->file, test->file, test->name);
            abort();
        }
    *at = test;
}

void check_fail(const char *file, int line, const char *format, ...) {
    enum { MAX_SHOWN = 20 };
    pthread_mutex_lock(&lock);
    failures++;
    if (failures <= MAX_SHOWN) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s:%d: ", file, line);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    } else if (failures == MAX_SHOWN + 1) {
        fputs("(further failures are not shown)\n", stderr);
    }
    pthread_mutex_unlock(&lock);
}

int check_failures(void) {
    pthread_mutex_lock(&lock);
    int count = failures;
    pthread_mutex_unlock(&lock);
    return count;
}

void check_abandon(void) {
    fflush(NULL);
    /* Not exit(), because other tests check the library's exit hook. */
    _exit(EXIT_FAILED);
}

__attribute__((noreturn)) static void exit_as_skipped(void) {
    fflush(NULL);
    _exit(failures ? EXIT_FAILED : EXIT_SKIPPED);
}

void check_skip(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("skipped: ", stdout);
    vprintf(format, arguments);
    fputc('\n', stdout);
    va_end(arguments);
    exit_as_skipped();
}

static bool contains_ignoring_case(const char *text, const char *part) {
    size_t length = strlen(part);
    for (;; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length) return true;
        if (!*text) return false;
    }
}

bool check_text(const char *text, const char *part, const char *file, int line) {
    bool good = text && contains_ignoring_case(text, part);
    if (!good) check_fail(file, line, "\"%s\" is not in \"%s\"", part, text ? text : "(null)");
    return good;
}

bool check_status(revamp_status status, revamp_status expected, const char *what, const char *file, int line) {
    if (status == expected) return true;
    check_fail(file, line, "%s: %s, expected %s%s%s", what, revamp_status_name(status), revamp_status_name(expected),
               status < 0 ? "; it says: " : "", status < 0 ? revamp_last_error_message() : "");
    return false;
}

bool check_ok(revamp_status status, const char *what, const char *file, int line) {
    return check_status(status, REVAMP_OK, what, file, line);
}

static const char *status_names(unsigned set, char *text, size_t capacity) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 1; i < 31 && used < capacity; i++)
        if (set & 1U << i)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? " or " : "", revamp_status_name(-i));
    return text;
}

bool check_error(revamp_status status, unsigned expected, const char *text, const char *what, const char *file,
                 int line) {
    char names[512];
    if (expected >> 30) {
        check_fail(file, line, "%s: %d is a status: pass a set of statuses (AS_...)", what, (int)expected);
        return false;
    }
    if (status >= 0 || status < -30 || !(expected & STATUS_BIT(status))) {
        check_fail(file, line, "%s: %s, expected %s%s%s", what, revamp_status_name(status),
                   status_names(expected, names, sizeof names), status < 0 ? "; it says: " : "",
                   status < 0 ? revamp_last_error_message() : "");
        return false;
    }
    bool good = check_status(revamp_last_error_status(), status, "revamp_last_error_status()", file, line);
    if (revamp_last_error_hresult() >= 0) {
        check_fail(file, line, "%s: the HRESULT %#x is not a failure code", what,
                   (unsigned)revamp_last_error_hresult());
        good = false;
    }
    if (!revamp_last_error_message()[0]) {
        check_fail(file, line, "%s: the text is empty", what);
        good = false;
    }
    return check_text(revamp_last_error_message(), text, file, line) && good;
}

bool check_same(const void *got, const void *expected, size_t size, const char *what, const char *file, int line) {
    const unsigned char *a = got, *b = expected;
    size_t differing = 0, first = 0;
    if (!memcmp(a, b, size)) return true;
    for (size_t i = size; i-- > 0;)
        if (a[i] != b[i]) {
            differing++;
            first = i;
        }
    check_fail(file, line, "%s: %zu of %zu bytes differ, the first is byte %zu: %#x, expected %#x", what, differing,
               size, first, a[first], b[first]);
    return false;
}

bool check_number(long long got, long long expected, const char *what, const char *file, int line) {
    if (got == expected) return true;
    check_fail(file, line, "%s is %lld, expected %lld", what, got, expected);
    return false;
}

unsigned processors(void) {
    return processor_count();
}

/* Memory that the tests allocate. */

enum { HEAD = 64 };

typedef struct block {
    struct block *next;
} block;

static block *blocks;

void *memory(size_t size) {
    void *made = calloc(1, HEAD + size);
    if (!made) {
        fprintf(stderr, "the test cannot allocate %zu bytes\n", size);
        check_abandon();
    }
    pthread_mutex_lock(&lock);
    ((block *)made)->next = blocks;
    blocks = made;
    pthread_mutex_unlock(&lock);
    return (char *)made + HEAD;
}

const void *memory_mark(void) {
    return blocks;
}

void free_memory_since(const void *mark) {
    while (blocks != mark) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* Processes. */

const char *program_folder(void) {
    static char folder[4096];
    strcpy(folder, program_path());
    *strrchr(folder, '/') = 0;
    return folder;
}

/* Starts a program with its output in the file `out`. */
static process start(const char *program, char *const *arguments, char *const *environment, FILE *out) {
    process made = start_process(program, arguments, environment, out);
    if (!made) check_abandon();
    return made;
}

static char *read_all(FILE *file) {
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    char *text = memory((size_t)size + 1);
    rewind(file);
    text[fread(text, 1, (size_t)size, file)] = 0;
    return text;
}

static child_result finish(process p, FILE *out) {
    child_result result = {-1, 0, NULL};
    while (!process_has_ended(p, true, &result.exit_code, &result.signal)) {
    }
    result.output = read_all(out);
    fclose(out);
    return result;
}

/* Returns the environment plus the variables in `further`, which replace variables of the same name. */
static char **environment_with(char *const *further, size_t count) {
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = memory((n + count + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < count; k++) {
            size_t name = strcspn(further[k], "=");
            if (!strncmp(environ[i], further[k], name + 1)) replaced = true;
        }
        if (!replaced) all[kept++] = environ[i];
    }
    memcpy(all + kept, further, count * sizeof *all);
    return all;
}

child_result run_child(const char *name, ...) {
    char *further[MAX_ENVIRONMENT];
    char *arguments[] = {(char *)program_path(), "--child", (char *)name, NULL};
    size_t count = 0;
    va_list list;
    va_start(list, name);
    for (char *v; count < MAX_ENVIRONMENT && (v = va_arg(list, char *)) != NULL;)
        further[count++] = v;
    va_end(list);
    FILE *out = temporary();
    return finish(start(arguments[0], arguments, environment_with(further, count), out), out);
}

child_result run_program(const char *program, ...) {
    char *arguments[MAX_ENVIRONMENT + 2] = {(char *)program};
    size_t count = 1;
    va_list list;
    va_start(list, program);
    for (char *a; count <= MAX_ENVIRONMENT && (a = va_arg(list, char *)) != NULL;)
        arguments[count++] = a;
    va_end(list);
    FILE *out = temporary();
    return finish(start(program, arguments, environ, out), out);
}

bool check_child(const child_result *result, const char *file, int line) {
    if (result->exit_code == EXIT_SKIPPED) {
        /* The child's check_skip() has printed the reason. */
        fputs(result->output, stdout);
        exit_as_skipped();
    }
    if (result->exit_code == 0) return true;
    if (result->signal)
        check_fail(file, line, "the child was killed by signal %d (%s)\n%s", result->signal,
                   signal_name(result->signal), result->output);
    else
        check_fail(file, line, "the child exited with %d\n%s", result->exit_code, result->output);
    return false;
}

/* Running tests. */

static unsigned time_limit(void) {
    const char *text = getenv("CHECK_TIME_LIMIT");
    int seconds = text ? atoi(text) : 0;
    return seconds > 0 ? (unsigned)seconds : 120;
}

static void get_suite_name(const check_test *test, char *name, size_t capacity) {
    const char *slash = strrchr(test->file, '/');
    snprintf(name, capacity, "%s", slash ? slash + 1 : test->file);
    name[strcspn(name, ".")] = 0;
}

/* CHECK_WITHOUT holds the names of tests to leave out, each followed by a space. */
static bool is_left_out(const check_test *test) {
    const char *names = getenv("CHECK_WITHOUT");
    size_t length = strlen(test->name);
    for (const char *at = names; at && (at = strstr(at, test->name)); at += length)
        if ((at == names || at[-1] == ' ') && at[length] == ' ') return true;
    return false;
}

static bool is_selected(const check_test *test, int count, char **names) {
    char suite[64];
    if (is_left_out(test)) return false;
    get_suite_name(test, suite, sizeof suite);
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], test->name) || !strcmp(names[i], suite)) return true;
    return count == 0;
}

typedef struct {
    const check_test *test;
    process running;
    FILE *out;
    struct timespec begin;
    int starts;
} job;

typedef struct {
    int passed, failed, skipped;
} totals;

static void begin_job(job *j, const check_test *test) {
    char *arguments[] = {(char *)program_path(), "--one", (char *)test->name, NULL};
    j->test = test;
    j->out = temporary();
    clock_gettime(CLOCK_MONOTONIC, &j->begin);
    j->running = start(arguments[0], arguments, environ, j->out);
    j->starts++;
}

static void end_job(job *j, child_result result, totals *sum) {
    struct timespec now;
    char suite[64];
    result.output = read_all(j->out);
    fclose(j->out);
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - j->begin.tv_sec) + (double)(now.tv_nsec - j->begin.tv_nsec) * 1e-9;
    const char *outcome = "FAILED";
    if (result.exit_code == 0) outcome = "passed";
    if (result.exit_code == EXIT_SKIPPED) outcome = "skipped";
    *(result.exit_code == 0 ? &sum->passed : result.exit_code == EXIT_SKIPPED ? &sum->skipped : &sum->failed) += 1;
    get_suite_name(j->test, suite, sizeof suite);
    printf("%-7s %s.%s (%.1f s)\n", outcome, suite, j->test->name, seconds);
    if (was_time_limit(result.signal, result.exit_code))
        printf("    it was stopped at the time limit of %u s\n", time_limit());
    else if (result.signal)
        printf("    it was killed by signal %d\n", result.signal);
    for (char *line = result.exit_code ? strtok(result.output, "\n") : NULL; line; line = strtok(NULL, "\n"))
        printf("    %s\n", line);
    fflush(stdout);
    j->running = 0;
    j->starts = 0;
}

/* Waits until a job ends, and returns its index in `jobs`. */
static int wait_for_job(job *jobs, int max_running, totals *sum) {
    for (;;) {
        for (int i = 0; i < max_running; i++) {
            child_result result = {-1, 0, NULL};
            if (jobs[i].running && process_has_ended(jobs[i].running, false, &result.exit_code, &result.signal)) {
                if (failed_to_start(result.signal) && jobs[i].starts < MAX_STARTS) {
                    fclose(jobs[i].out);
                    begin_job(&jobs[i], jobs[i].test);
                    continue;
                }
                end_job(&jobs[i], result, sum);
                return i;
            }
        }
        pause_milliseconds(2);
    }
}

static int run_all(int max_running, int count, char **names) {
    job jobs[MAX_JOBS];
    totals sum = {0, 0, 0};
    int running = 0;
    memset(jobs, 0, sizeof jobs);
    for (const check_test *t = tests; t; t = t->next) {
        if (t->is_child || !is_selected(t, count, names)) continue;
        int slot = running < max_running ? running++ : wait_for_job(jobs, max_running, &sum);
        begin_job(&jobs[slot], t);
    }
    while (running-- > 0)
        wait_for_job(jobs, max_running, &sum);
    printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped);
    free_memory_since(NULL);
    return sum.failed || sum.passed + sum.skipped == 0 ? EXIT_FAILED : 0;
}

static void list(void) {
    char suite[64];
    for (const check_test *t = tests; t; t = t->next) {
        get_suite_name(t, suite, sizeof suite);
        if (!t->is_child) printf("%s.%s\n", suite, t->name);
    }
}

static const check_test *find(const char *name, bool is_child) {
    for (const check_test *t = tests; t; t = t->next)
        if (t->is_child == is_child && !strcmp(t->name, name)) return t;
    fprintf(stderr, "there is no test %s\n", name);
    exit(EXIT_FAILED);
}

static int run_child_in_this_process(const char *name) {
    limit_time(time_limit());
    find(name, true)->run();
    limit_time(0);
    free_memory_since(NULL);
    fflush(NULL);
    return failures ? EXIT_FAILED : 0;
}

/* Runs tests in this process, which opens the device once. Prints the names of tests that pass, and stops at the first
 * test that does not pass. */
static int run_in_this_process(int count, char **names) {
    for (int i = 0; i < count; i++) {
        limit_time(time_limit());
        find(names[i], false)->run();
        if (failures) check_abandon();
        if (count > 1) printf("passed %s\n", names[i]);
        fflush(NULL);
    }
    /* With validation on, this also fails if objects were not destroyed. */
    CHECK_OK(revamp_uninitialize());
    limit_time(0);
    free_memory_since(NULL);
    fflush(NULL);
    return failures ? EXIT_FAILED : 0;
}

int main(int count, char **arguments) {
    int jobs = 2;
    if (count == 2 && !strcmp(arguments[1], "--list")) {
        list();
        return 0;
    }
    if (count >= 3 && !strcmp(arguments[1], "--one")) return run_in_this_process(count - 2, arguments + 2);
    if (count == 3 && !strcmp(arguments[1], "--child")) return run_child_in_this_process(arguments[2]);
    if (count >= 3 && !strcmp(arguments[1], "-j")) {
        jobs = atoi(arguments[2]);
        count -= 2;
        arguments += 2;
    }
    if (jobs < 1 || jobs > MAX_JOBS || (count > 1 && arguments[1][0] == '-')) {
        fprintf(stderr, "usage: %s [--list | --one TEST... | [-j N] [TEST or FILE ...]]\n", arguments[0]);
        return EXIT_FAILED;
    }
    return run_all(jobs, count - 1, arguments + 1);
}
