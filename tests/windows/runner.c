/* Runs programs, several at a time, and prints how each program ended. The runner itself runs under Wine, because a
 * shell outside of Wine may see "Killed" for a program that returned 0: Wine's server kills what is left of a process
 * half a second after the process has ended. usage: runner JOBS SECONDS <LIST; each line of LIST is the command line of
 * a program in the syntax of Windows. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { MAX_JOBS = 8, LINE_BYTES = 1024, SKIPPED = 77, TOO_LONG = 0x5A5A, STARTS = 4 };

typedef struct {
    char line[LINE_BYTES], output[MAX_PATH];
    HANDLE process;
    ULONGLONG start_time;
} job;

/* Tries several times, because on a busy machine CreateProcess sometimes fails under Wine (error 1359). */
static bool create(job *j, STARTUPINFOA *startup_info, PROCESS_INFORMATION *process_info) {
    for (int i = 0;; i++) {
        if (CreateProcessA(NULL, j->line, NULL, NULL, TRUE, 0, NULL, NULL, startup_info, process_info)) return true;
        if (i == STARTS - 1) return false;
        Sleep(250U << i);
    }
}

static bool start(job *j) {
    static int count;
    char folder[MAX_PATH];
    GetTempPathA(sizeof folder, folder);
    snprintf(j->output, sizeof j->output, "%srunner-%lu-%d", folder, GetCurrentProcessId(), ++count);
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE out = CreateFileA(j->output, GENERIC_WRITE, FILE_SHARE_READ, &inherited, CREATE_ALWAYS, 0, NULL);
    STARTUPINFOA startup_info;
    PROCESS_INFORMATION process_info;
    ZeroMemory(&startup_info, sizeof startup_info);
    startup_info.cb = sizeof startup_info;
    startup_info.dwFlags = STARTF_USESTDHANDLES;
    startup_info.hStdOutput = startup_info.hStdError = out;
    bool is_started = create(j, &startup_info, &process_info);
    if (!is_started) printf("FAILED %s: it cannot be started: error %lu\n", j->line, GetLastError());
    CloseHandle(out);
    if (!is_started) {
        DeleteFileA(j->output);
        return false;
    }
    CloseHandle(process_info.hThread);
    j->process = process_info.hProcess;
    j->start_time = GetTickCount64();
    return true;
}

static void show(const job *j) {
    char text[LINE_BYTES];
    FILE *file = fopen(j->output, "r");
    while (file && fgets(text, sizeof text, file))
        printf("    %s%s", text, strchr(text, '\n') ? "" : "\n");
    if (file) fclose(file);
}

/* True if the job has ended. Ends a job that has run for `milliseconds`. */
static bool check_end(job *j, DWORD milliseconds) {
    DWORD status = 0;
    if (WaitForSingleObject(j->process, 0) != WAIT_OBJECT_0) {
        if (GetTickCount64() - j->start_time < milliseconds) return false;
        TerminateProcess(j->process, TOO_LONG);
        WaitForSingleObject(j->process, INFINITE);
    }
    GetExitCodeProcess(j->process, &status);
    CloseHandle(j->process);
    j->process = NULL;
    printf("%s %s: ", status == 0 ? "passed" : status == SKIPPED ? "skipped" : "FAILED", j->line);
    if (status == TOO_LONG)
        printf("stopped after %lu s\n", milliseconds / 1000);
    else
        printf("%lu\n", status);
    if (status != 0 && status != SKIPPED) show(j);
    fflush(stdout);
    DeleteFileA(j->output);
    return true;
}

int main(int count, char **arguments) {
    static job jobs[MAX_JOBS];
    int max_jobs = count == 3 ? atoi(arguments[1]) : 0;
    DWORD milliseconds = count == 3 ? (DWORD)atoi(arguments[2]) * 1000 : 0;
    if (max_jobs < 1 || max_jobs > MAX_JOBS || milliseconds == 0) return 2;
    char line[LINE_BYTES];
    bool has_more_lines = true;
    for (int running = 0; has_more_lines || running > 0;) {
        for (int i = 0; i < max_jobs; i++) {
            if (jobs[i].process && check_end(&jobs[i], milliseconds)) running--;
            if (jobs[i].process || !has_more_lines) continue;
            has_more_lines = fgets(line, sizeof line, stdin) != NULL;
            if (!has_more_lines) continue;
            line[strcspn(line, "\r\n")] = 0;
            strcpy(jobs[i].line, line);
            if (start(&jobs[i])) running++;
        }
        Sleep(2);
    }
    return 0;
}
