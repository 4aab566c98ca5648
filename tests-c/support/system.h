/* The operating-system functions of the tests. system_posix.c and system_windows.c define them. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The path of this program. */
const char *program_path(void);

/* A child process, or 0 for none. */
typedef intptr_t process;
/* Starts a process that writes standard output and error to `out`. NULL ends `arguments` and `environment`. Prints a
 * message and returns 0 on failure. */
process start_process(const char *program, char *const *arguments, char *const *environment, FILE *out);
/* True if the process has ended. If `wait` is true, first waits until the process ends. If a signal ended the process,
 * sets `*exit_code` to -1; otherwise sets `*signal` to 0. */
bool process_has_ended(process p, bool wait, int *exit_code, int *signal);
/* True if Windows' loader could not start the process, so that main() did not run. Wine does this on a busy machine. */
bool failed_to_start(int signal);
const char *signal_name(int signal);
/* Ends this process after this many seconds, as if by a signal; 0 cancels the limit. */
void limit_time(unsigned seconds);
bool was_time_limit(int signal, int exit_code);
/* Calls `handler` on the signals that end a program; NULL restores the default action. */
void on_crash(void (*handler)(int));

unsigned processor_count(void);
double machine_memory(void);
size_t page_size(void);
/* The resident memory of this process, without the memory of an emulator. Skips the test if the system does not report
 * resident memory. */
long resident_kilobytes(void);
void pause_milliseconds(unsigned milliseconds);

/* A temporary file that is deleted when it is closed or this process ends. Children do not inherit it. */
FILE *temporary(void);
enum { PATH_BYTES = 512 };
/* Make an empty folder; remove a folder with its contents. */
void make_folder(char path[PATH_BYTES]);
void remove_folder(const char *path);
/* A file of zeros that processes share. */
void make_shared_file(char path[PATH_BYTES], size_t bytes);
void *map_shared_file(const char *path, size_t bytes);
bool unmap_shared_file(void *map, size_t bytes);

/* map_pages() returns whole readable and writable pages, at the address `at` if it is free. forbid_pages() forbids all
 * access to pages. forbid_writing() makes pages read-only. */
void *map_pages(void *at, size_t bytes);
bool unmap_pages(void *pages, size_t bytes);
bool forbid_pages(void *pages, size_t bytes);
bool forbid_writing(void *pages, size_t bytes);
/* Reserves address space that reads as zeros and takes no memory. Returns NULL if the system cannot do this. */
void *reserve_zeros(size_t bytes);

#endif
