/* Tests in C: registration by name, checks, child processes, skipping. check.c has the runner. */
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

/* A test. Each runs in a process of its own and ends with revamp_uninitialize(). */
#define TEST(name) CHECK_DECLARE(name, false)
/* What a test runs in a further process by run_child(); no test by itself, and not ended for it. */
#define CHILD(name) CHECK_DECLARE(name, true)

__attribute__((format(printf, 3, 4))) void check_fail(const char *file, int line, const char *format, ...);
/* Ends the test. */
__attribute__((noreturn)) void check_abandon(void);
__attribute__((format(printf, 1, 2), noreturn)) void check_skip(const char *format, ...);

/* A CHECK fails the test and goes on; a REQUIRE ends it. */
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
/* A call that may fail or not. */
#define WHATEVER(call) ((void)!(call))
/* Exactly this status, of the three kinds: done, timed out, failed. */
#define CHECK_STATUS(call, expected) check_status(call, expected, #call, __FILE__, __LINE__)
/* The call fails with one of the statuses of the set (AS_ bits), and the text holds `text`, whatever the case. */
#define CHECK_FAILS(call, expected, text) check_error(call, expected, text, #call, __FILE__, __LINE__)
#define CHECK_SAME(got, expected, size) check_same(got, expected, size, #got, __FILE__, __LINE__)
#define CHECK_NUMBER(got, expected) check_number((long long)(got), (long long)(expected), #got, __FILE__, __LINE__)
#define CHECK_TEXT(text, part) check_text(text, part, __FILE__, __LINE__)

/* Sets of statuses. */
#define AS(status) (1U << -(status))
#define AS_RUNTIME AS(REVAMP_ERROR_RUNTIME)
#define AS_ARGUMENT AS(REVAMP_ERROR_INVALID_ARGUMENT)
#define AS_HANDLE AS(REVAMP_ERROR_INVALID_HANDLE)
#define AS_DOMAIN AS(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN)
#define AS_MEMORY AS(REVAMP_ERROR_OUT_OF_MEMORY)
#define AS_UNSUPPORTED AS(REVAMP_ERROR_UNSUPPORTED_FEATURE)
#define AS_REMOVED AS(REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED)
#define AS_FORKED AS(REVAMP_ERROR_FORKED)
#define AS_SHUT_DOWN AS(REVAMP_ERROR_SHUT_DOWN)
#define AS_VALIDATION AS(REVAMP_ERROR_VALIDATION)
/* Where the header leaves the class of a bad argument open. */
#define AS_BAD (AS_RUNTIME | AS_ARGUMENT)

/* The number of processors that are online. */
unsigned processors(void);

/* Memory that lives to the end of the test, zeroed. Safe to call from any thread. */
void *memory(size_t size);
/* Frees what memory() gave since the mark was taken. Of one thread only. */
const void *memory_mark(void);
void free_memory_since(const void *mark);

/* What a child process came to. */
typedef struct {
    int exit_code; /* -1: it was killed */
    int signal;
    char *output; /* standard output and error together */
} child_result;

/* Runs the CHILD `name` in a fresh process with these further "NAME=value" variables, up to a NULL. */
child_result run_child(const char *name, ...);
/* The same, and it must succeed. */
bool check_child(const child_result *result, const char *file, int line);
#define CHECK_CHILD(...)                                                                                               \
    do {                                                                                                               \
        child_result child_came_to = run_child(__VA_ARGS__);                                                           \
        check_child(&child_came_to, __FILE__, __LINE__);                                                               \
    } while (0)

/* Runs `program`, up to a NULL argument. */
child_result run_program(const char *program, ...);
/* The folder this program is in. */
const char *own_folder(void);

#endif
