#include "check.h"
#include "system.h"

#include <io.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <psapi.h>

/* The exit code of a process that reached its time limit. */
enum { TIME_LIMIT_EXIT_CODE = 0x5A5A };

const char *program_path(void) {
    static char path[4096];
    if (!GetModuleFileNameA(NULL, path, sizeof path)) check_abandon();
    for (char *at = path; *at; at++)
        if (*at == '\\') *at = '/';
    return path;
}

/* command_line() and environment_block() convert a list to the form that CreateProcess() takes: one string with quoted
 * arguments (none of them contains a quote), and one block of consecutive strings. */
static char *command_line(char *const *arguments) {
    size_t size = 1;
    for (size_t i = 0; arguments[i]; i++)
        size += strlen(arguments[i]) + 3;
    char *line = memory(size), *at = line;
    for (size_t i = 0; arguments[i]; i++)
        at += sprintf(at, "\"%s\" ", arguments[i]);
    return line;
}

static char *environment_block(char *const *environment) {
    size_t size = 2;
    for (size_t i = 0; environment[i]; i++)
        size += strlen(environment[i]) + 1;
    char *block = memory(size), *at = block;
    for (size_t i = 0; environment[i]; i++)
        at += sprintf(at, "%s", environment[i]) + 1;
    return block;
}

process start_process(const char *program, char *const *arguments, char *const *environment, FILE *out) {
    HANDLE handle = (HANDLE)_get_osfhandle(fileno(out));
    STARTUPINFOA start;
    PROCESS_INFORMATION process_info;
    ZeroMemory(&start, sizeof start);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = start.hStdError = handle;
    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    /* Under Wine on a busy machine, CreateProcess() sometimes fails with error 1359. */
    BOOL good = FALSE;
    for (unsigned i = 0; i < 4 && !good; i++) {
        if (i > 0) Sleep(250U << i);
        good = CreateProcessA(program, command_line(arguments), NULL, NULL, TRUE, 0, environment_block(environment),
                              NULL, &start, &process_info);
    }
    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0);
    if (!good) {
        fprintf(stderr, "%s: error %lu\n", program, GetLastError());
        return 0;
    }
    CloseHandle(process_info.hThread);
    return (process)process_info.hProcess;
}

bool process_has_ended(process p, bool wait, int *exit_code, int *signal) {
    DWORD code = 0;
    if (WaitForSingleObject((HANDLE)p, wait ? INFINITE : 0) != WAIT_OBJECT_0) return false;
    GetExitCodeProcess((HANDLE)p, &code);
    CloseHandle((HANDLE)p);
    /* If an exception ends a process, the exit code is the code of the exception, such as 0xC0000005. */
    *signal = code >= 0xC0000000U ? (int)code : 0;
    *exit_code = *signal ? -1 : (int)code;
    return true;
}

bool failed_to_start(int signal) {
    return (DWORD)signal == 0xC0000142U /* STATUS_DLL_INIT_FAILED */;
}

const char *signal_name(int signal) {
    return (unsigned)signal == EXCEPTION_ACCESS_VIOLATION ? "access violation" : "exception";
}

static HANDLE cancel_event;

static DWORD WINAPI end_at_time_limit(void *milliseconds) {
    if (WaitForSingleObject(cancel_event, (DWORD)(uintptr_t)milliseconds) == WAIT_TIMEOUT)
        TerminateProcess(GetCurrentProcess(), TIME_LIMIT_EXIT_CODE);
    return 0;
}

/* An event ends the watch thread. TerminateThread() on a thread that has just started would leave the loader lock
 * taken, and exit() would wait for this lock forever. */
void limit_time(unsigned seconds) {
    static HANDLE watch_thread;
    if (watch_thread) {
        SetEvent(cancel_event);
        WaitForSingleObject(watch_thread, INFINITE);
        CloseHandle(watch_thread);
        CloseHandle(cancel_event);
        watch_thread = NULL;
    }
    if (!seconds) return;
    cancel_event = CreateEventA(NULL, TRUE, FALSE, NULL);
    watch_thread = CreateThread(NULL, 0, end_at_time_limit, (void *)(uintptr_t)(seconds * 1000), 0, NULL);
}

bool was_time_limit(int signal, int exit_code) {
    return !signal && exit_code == TIME_LIMIT_EXIT_CODE;
}

void on_crash(void (*handler)(int)) {
    static const int signals[] = {SIGSEGV, SIGABRT, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], handler ? handler : SIG_DFL);
}

unsigned processor_count(void) {
    return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

double machine_memory(void) {
    MEMORYSTATUSEX status;
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : 0;
}

size_t page_size(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

long resident_kilobytes(void) {
    PROCESS_MEMORY_COUNTERS counters;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
        check_skip("this system does not tell the memory use of a process");
    return (long)(counters.WorkingSetSize / 1024);
}

void pause_milliseconds(unsigned milliseconds) {
    Sleep(milliseconds);
}

static void make_temporary_path(char path[PATH_BYTES]) {
    static LONG count;
    char folder[MAX_PATH];
    GetTempPathA(sizeof folder, folder);
    snprintf(path, PATH_BYTES, "%srevamp-test-%lu-%ld", folder, GetCurrentProcessId(), InterlockedIncrement(&count));
}

FILE *temporary(void) {
    char path[PATH_BYTES];
    make_temporary_path(path);
    /* D: deletes the file when it is closed. */
    FILE *file = fopen(path, "w+bD");
    if (!file) {
        perror(path);
        check_abandon();
    }
    SetHandleInformation((HANDLE)_get_osfhandle(fileno(file)), HANDLE_FLAG_INHERIT, 0);
    return file;
}

void make_folder(char path[PATH_BYTES]) {
    make_temporary_path(path);
    REQUIRE(CreateDirectoryA(path, NULL));
}

void remove_folder(const char *path) {
    char command[PATH_BYTES + 32];
    snprintf(command, sizeof command, "rmdir /s /q \"%s\"", path);
    CHECK(system(command) == 0);
}

void make_shared_file(char path[PATH_BYTES], size_t bytes) {
    make_temporary_path(path);
    FILE *file = fopen(path, "wb");
    REQUIRE(file && _chsize_s(fileno(file), (long long)bytes) == 0);
    fclose(file);
}

void *map_shared_file(const char *path, size_t bytes) {
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, share, NULL, OPEN_EXISTING, 0, NULL);
    REQUIRE(file != INVALID_HANDLE_VALUE);
    HANDLE mapping = CreateFileMappingA(file, NULL, PAGE_READWRITE, 0, 0, NULL);
    void *map = mapping ? MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, bytes) : NULL;
    REQUIRE(map);
    CloseHandle(mapping);
    CloseHandle(file);
    return map;
}

bool unmap_shared_file(void *map, size_t bytes) {
    (void)bytes;
    return UnmapViewOfFile(map);
}

void *map_pages(void *at, size_t bytes) {
    void *pages = VirtualAlloc(at, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!pages) pages = VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    REQUIRE(pages);
    return pages;
}

bool unmap_pages(void *pages, size_t bytes) {
    (void)bytes;
    return VirtualFree(pages, 0, MEM_RELEASE);
}

static bool protect(void *pages, size_t bytes, DWORD protection) {
    DWORD old_protection;
    return VirtualProtect(pages, bytes, protection, &old_protection);
}

bool forbid_pages(void *pages, size_t bytes) {
    return protect(pages, bytes, PAGE_NOACCESS);
}

bool forbid_writing(void *pages, size_t bytes) {
    return protect(pages, bytes, PAGE_READONLY);
}

/* Returns NULL, because Windows commits memory for every readable page. */
void *reserve_zeros(size_t bytes) {
    (void)bytes;
    return NULL;
}
