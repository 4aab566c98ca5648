/* For MAP_ANONYMOUS, MAP_NORESERVE and mincore(). */
#define _DEFAULT_SOURCE
#include "check.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *program_path(void) {
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) {
        perror("/proc/self/exe");
        check_abandon();
    }
    path[n] = 0;
    return path;
}

/* Returns arguments that start this program in the emulator that CHECK_EMULATOR names (for tests of other processors).
 * Returns NULL if CHECK_EMULATOR is not set or `program` is not this program. */
static char *const *emulator_arguments(const char *program, char *const *arguments) {
    static char *emulated_arguments[64];
    char *emulator = getenv("CHECK_EMULATOR");
    size_t n = 2;
    if (!emulator || strcmp(program, program_path()) != 0) return NULL;
    emulated_arguments[0] = emulator;
    emulated_arguments[1] = (char *)program;
    for (; arguments[n - 1] && n + 1 < sizeof emulated_arguments / sizeof *emulated_arguments; n++)
        emulated_arguments[n] = arguments[n - 1];
    emulated_arguments[n] = NULL;
    return emulated_arguments;
}

process start_process(const char *program, char *const *arguments, char *const *environment, FILE *out) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), 2);
    /* A test may run on a thread of the library, which blocks all signals; the child must not inherit this mask. */
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    char *const *emulated_arguments = emulator_arguments(program, arguments);
    int error = emulated_arguments
                    ? posix_spawnp(&pid, emulated_arguments[0], &actions, &attributes, emulated_arguments, environment)
                    : posix_spawn(&pid, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (!error) return pid;
    fprintf(stderr, "%s: %s\n", program, strerror(error));
    return 0;
}

bool process_has_ended(process p, bool wait, int *exit_code, int *signal) {
    int status = 0;
    pid_t ended;
    while ((ended = waitpid((pid_t)p, &status, wait ? 0 : WNOHANG)) < 0 && errno == EINTR) {
    }
    if (ended < 0) {
        perror("waitpid");
        check_abandon();
    }
    if (ended == 0) return false;
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}

bool failed_to_start(int signal) {
    (void)signal;
    return false;
}

const char *signal_name(int signal) {
    return strsignal(signal);
}

void limit_time(unsigned seconds) {
    alarm(seconds);
}

bool was_time_limit(int signal, int exit_code) {
    (void)exit_code;
    return signal == SIGALRM;
}

void on_crash(void (*handler)(int)) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], handler ? handler : SIG_DFL);
}

unsigned processor_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

double machine_memory(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The resident memory of this program, without memory of the emulator such as translated code. */
static long emulated_kilobytes(void) {
    static unsigned char residency[1 << 20];
    unsigned long from, to;
    long pages = 0;
    char line[PATH_BYTES], access[5];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || access[1] != 'w') continue;
        for (size_t part; from < to; from += part) {
            part = to - from < sizeof residency * page_size() ? to - from : sizeof residency * page_size();
            const size_t count = part / page_size();
            if (mincore((void *)(uintptr_t)from, part, residency) != 0) continue;
            for (size_t i = 0; i < count; i++)
                pages += residency[i] & 1;
        }
    }
    if (!maps) check_skip("no /proc/self/maps");
    fclose(maps);
    return pages * ((long)page_size() / 1024);
}

long resident_kilobytes(void) {
    long pages = 0;
    if (getenv("CHECK_EMULATOR")) return emulated_kilobytes();
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) check_skip("no /proc/self/statm");
    fclose(file);
    return pages * ((long)page_size() / 1024);
}

void pause_milliseconds(unsigned milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

FILE *temporary(void) {
    FILE *file = tmpfile();
    if (!file) {
        perror("tmpfile");
        check_abandon();
    }
    fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    return file;
}

void make_folder(char path[PATH_BYTES]) {
    strcpy(path, "/tmp/revamp-test-XXXXXX");
    REQUIRE(mkdtemp(path));
}

void remove_folder(const char *path) {
    char command[PATH_BYTES + 8];
    snprintf(command, sizeof command, "rm -r %s", path);
    CHECK(system(command) == 0);
}

void make_shared_file(char path[PATH_BYTES], size_t bytes) {
    strcpy(path, "/tmp/revamp-test-XXXXXX");
    int file = mkstemp(path);
    REQUIRE(file >= 0 && !ftruncate(file, (off_t)bytes));
    close(file);
}

void *map_shared_file(const char *path, size_t bytes) {
    int file = open(path, O_RDWR);
    REQUIRE(file >= 0);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(map != MAP_FAILED);
    close(file);
    return map;
}

bool unmap_shared_file(void *map, size_t bytes) {
    return munmap(map, bytes) == 0;
}

/* The pages map a file. Some drivers cannot import file-mapped memory. */
void *map_pages(void *at, size_t bytes) {
    FILE *file = tmpfile();
    REQUIRE(file && ftruncate(fileno(file), (off_t)bytes) == 0);
    void *pages = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    fclose(file);
    REQUIRE(pages != MAP_FAILED);
    return pages;
}

bool unmap_pages(void *pages, size_t bytes) {
    return munmap(pages, bytes) == 0;
}

bool forbid_pages(void *pages, size_t bytes) {
    return mprotect(pages, bytes, PROT_NONE) == 0;
}

bool forbid_writing(void *pages, size_t bytes) {
    return mprotect(pages, bytes, PROT_READ) == 0;
}

void *reserve_zeros(size_t bytes) {
    void *zeros = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return zeros == MAP_FAILED ? NULL : zeros;
}
