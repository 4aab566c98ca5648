/* Collects the errors in the library's log, for tests that expect reports or none. */
#ifndef LOGGED_ERRORS_H
#define LOGGED_ERRORS_H

void collect_errors(void);
/* Returns the errors that were logged since the last call of this function or of wait_for_errors(). */
const char *logged_errors(void);
/* logged_errors(), but waits for an error, because another thread may still be delivering it. */
const char *wait_for_errors(void);

/* Expects the report of a race that names both calls. */
void check_race(const char *first, const char *second, const char *file, int line);
void check_no_race(const char *file, int line);
#define CHECK_RACE(first, second) check_race(first, second, __FILE__, __LINE__)
#define CHECK_NO_RACE() check_no_race(__FILE__, __LINE__)

#endif
