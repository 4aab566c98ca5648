/* The framework of the C tests. It registers tests, checks results, runs child processes and skips tests. The runner is
 * in check.c. */
#ifndef CHECK_H
#define CHECK_H

#include <revamp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_test {
    const char *name;
    const char *file;
    void (*run)(void);
    bool is_child;
    struct check_test *next;
} check_test;

void check_register(check_test *test);

#define CHECK_DECLARE(test_name, child)                                                                                \
    static void test_name(void);                                                                                       \
    __attribute__((constructor)) static void register_##test_name(void) {                                              \
        static check_test test = {#test_name, __FILE__, test_name, child, NULL};                                       \
        check_register(&test);                                                                                         \
    }                                                                                                                  \
    static void test_name(void)

/* Defines a test. The runner runs every test in its own process and then calls revamp_uninitialize() there. */
#define TEST(name) CHECK_DECLARE(name, false)
/* Defines code for a child process of a test; see run_child(). The runner does not call revamp_uninitialize() there. */
#define CHILD(name) CHECK_DECLARE(name, true)

__attribute__((format(printf, 3, 4))) void check_fail(const char *file, int line, const char *format, ...);
/* The number of checks of this process that have failed. */
int check_failures(void);
/* Ends the test as failed. */
__attribute__((noreturn)) void check_abandon(void);
__attribute__((format(printf, 1, 2), noreturn)) void check_skip(const char *format, ...);

/* After a failed CHECK the test continues; a failed REQUIRE ends it. Both fail the test. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) check_fail(__FILE__, __LINE__, "%s", #condition);                                            \
    } while (0)
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            check_fail(__FILE__, __LINE__, "%s", #condition);                                                          \
            check_abandon();                                                                                           \
        }                                                                                                              \
    } while (0)

bool check_ok(revamp_status status, const char *what, const char *file, int line);
bool check_status(revamp_status status, revamp_status expected, const char *what, const char *file, int line);
bool check_error(revamp_status status, unsigned expected, const char *text, const char *what, const char *file,
                 int line);
bool check_same(const void *got, const void *expected, size_t size, const char *what, const char *file, int line);
bool check_number(long long got, long long expected, const char *what, const char *file, int line);
bool check_text(const char *text, const char *part, const char *file, int line);

#define CHECK_OK(call) check_ok(call, #call, __FILE__, __LINE__)
#define REQUIRE_OK(call)                                                                                               \
    do {                                                                                                               \
        if (!check_ok(call, #call, __FILE__, __LINE__)) check_abandon();                                               \
    } while (0)
/* Makes a call and ignores its status. */
#define IGNORE_STATUS(call) ((void)!(call))
/* The call returns exactly this status: REVAMP_OK, REVAMP_TIMEOUT or an error. */
#define CHECK_STATUS(call, expected) check_status(call, expected, #call, __FILE__, __LINE__)
/* The call fails with a status in `expected` (AS_ bits). The error message contains `text`, ignoring case. */
#define CHECK_FAILS(call, expected, text) check_error(call, expected, text, #call, __FILE__, __LINE__)
#define CHECK_SAME(got, expected, size) check_same(got, expected, size, #got, __FILE__, __LINE__)
#define CHECK_NUMBER(got, expected) check_number((long long)(got), (long long)(expected), #got, __FILE__, __LINE__)
#define CHECK_TEXT(text, part) check_text(text, part, __FILE__, __LINE__)

/* Sets of statuses: one bit for each status. */
#define STATUS_BIT(status) (1U << -(status))
#define AS_RUNTIME STATUS_BIT(REVAMP_ERROR_RUNTIME)
#define AS_ARGUMENT STATUS_BIT(REVAMP_ERROR_INVALID_ARGUMENT)
#define AS_HANDLE STATUS_BIT(REVAMP_ERROR_INVALID_HANDLE)
#define AS_DOMAIN STATUS_BIT(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN)
#define AS_MEMORY STATUS_BIT(REVAMP_ERROR_OUT_OF_MEMORY)
#define AS_UNSUPPORTED STATUS_BIT(REVAMP_ERROR_UNSUPPORTED_FEATURE)
#define AS_REMOVED STATUS_BIT(REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED)
#define AS_FORKED STATUS_BIT(REVAMP_ERROR_FORKED)
#define AS_SHUT_DOWN STATUS_BIT(REVAMP_ERROR_SHUT_DOWN)
#define AS_VALIDATION STATUS_BIT(REVAMP_ERROR_VALIDATION)
/* For bad arguments, where revamp.h does not say which of these two errors the call returns. */
#define AS_BAD (AS_RUNTIME | AS_ARGUMENT)

/* The number of processors that are online. */
unsigned processors(void);

/* Zeroed memory that lives until the end of the test. Any thread may call this. */
void *memory(size_t size);
/* free_memory_since() frees every block that memory() has returned since memory_mark() returned `mark`. No other thread
 * may call memory() meanwhile. */
const void *memory_mark(void);
void free_memory_since(const void *mark);

/* The result of a child process. */
typedef struct {
    int exit_code; /* -1: killed by a signal */
    int signal;
    char *output; /* standard output and error together */
} child_result;

/* Runs the CHILD `name` in a new process. Adds environment variables, each "NAME=value"; NULL ends their list. */
child_result run_child(const char *name, ...);
/* Fails the test if the child failed; skips the test if the child skipped. */
bool check_child(const child_result *result, const char *file, int line);
#define CHECK_CHILD(...)                                                                                               \
    do {                                                                                                               \
        child_result child_outcome = run_child(__VA_ARGS__);                                                           \
        check_child(&child_outcome, __FILE__, __LINE__);                                                               \
    } while (0)

/* Runs `program` with these arguments; NULL ends their list. */
child_result run_program(const char *program, ...);
/* The folder of this program. */
const char *program_folder(void);

#endif
