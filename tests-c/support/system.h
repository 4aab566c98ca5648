/* What the tests ask of the operating system: system_posix.c and system_windows.c. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The program that runs. */
const char *own_path(void);

/* A process that was started; 0 is none. */
typedef intptr_t process;
/* With its standard output and error in `out`; 0 with a message if it cannot. Both lists end with a NULL. */
process start_process(const char *program, char *const *arguments, char *const *environment, FILE *out);
/* False if it still runs and is not waited for. `signal` is 0 if none ended it, and `exit_code` then its own. */
bool end_of_process(process p, bool wait, int *exit_code, int *signal);
/* It ended before its main(): Windows' loader could not begin it, which comes under Wine on a busy machine. */
bool never_began(int signal);
const char *signal_name(int signal);
/* Ends this process after so many seconds, as by a signal; 0: no more. */
void limit_time(unsigned seconds);
bool was_time_limit(int signal, int exit_code);
/* Calls `handler` with the signals that end a program; with NULL no more. */
void on_crash(void (*handler)(int));

unsigned processor_count(void);
double machine_memory(void);
size_t page_size(void);
/* Memory that this process holds, without an emulator's own. Skips the test if the system does not tell. */
long resident_kilobytes(void);
void pause_milliseconds(unsigned milliseconds);

/* A file for this process alone, gone with it. Children do not inherit it. */
FILE *temporary(void);
enum { PATH_BYTES = 512 };
/* An empty folder; and with all that is in it, removed. */
void make_folder(char path[PATH_BYTES]);
void remove_folder(const char *path);
/* A file of zeros that processes share. */
void make_shared_file(char path[PATH_BYTES], size_t bytes);
void *map_shared_file(const char *path, size_t bytes);
bool unmap_shared_file(void *map, size_t bytes);

/* Whole pages that can be read and written, at `at` if that is free; `protect`: nothing may be done with them, or they
 * are only read. */
void *map_pages(void *at, size_t bytes);
bool unmap_pages(void *pages, size_t bytes);
bool forbid_pages(void *pages, size_t bytes);
bool forbid_writing(void *pages, size_t bytes);
/* Address space that reads as zeros and takes no memory; NULL if the system gives none. */
void *reserve_zeros(size_t bytes);

#endif
