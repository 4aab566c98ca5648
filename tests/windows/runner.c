/* Runs programs, some at a time, and says how each ended. Here and not in a shell beside Wine: half a second after a
 * process has ended Wine's server kills what is left of it, and on a busy machine a shell then sees "Killed" for a
 * program that returned 0. usage: runner JOBS SECONDS <LIST; a line of LIST is a program's command line, as Windows
 * takes it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { MOST_JOBS = 8, LINE_BYTES = 1024, SKIPPED = 77, TOO_LONG = 0x5A5A, STARTS = 4 };

typedef struct {
    char line[LINE_BYTES], output[MAX_PATH];
    HANDLE process;
    ULONGLONG begun;
} job;

/* On a busy machine the start of a process fails now and then under Wine (error 1359). */
static bool create(job *j, STARTUPINFOA *how, PROCESS_INFORMATION *made) {
    for (int i = 0;; i++) {
        if (CreateProcessA(NULL, j->line, NULL, NULL, TRUE, 0, NULL, NULL, how, made)) return true;
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
    STARTUPINFOA how;
    PROCESS_INFORMATION made;
    ZeroMemory(&how, sizeof how);
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdOutput = how.hStdError = out;
    bool good = create(j, &how, &made);
    if (!good) printf("FAILED %s: it cannot be started: error %lu\n", j->line, GetLastError());
    CloseHandle(out);
    if (!good) return false;
    CloseHandle(made.hThread);
    j->process = made.hProcess;
    j->begun = GetTickCount64();
    return true;
}

static void show(const job *j) {
    char text[LINE_BYTES];
    FILE *file = fopen(j->output, "r");
    while (file && fgets(text, sizeof text, file))
        printf("    %s%s", text, strchr(text, '\n') ? "" : "\n");
    if (file) fclose(file);
}

/* True if it has ended. */
static bool end(job *j, DWORD milliseconds) {
    DWORD status = 0;
    if (WaitForSingleObject(j->process, 0) != WAIT_OBJECT_0) {
        if (GetTickCount64() - j->begun < milliseconds) return false;
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
    static job jobs[MOST_JOBS];
    int most = count == 3 ? atoi(arguments[1]) : 0;
    DWORD milliseconds = count == 3 ? (DWORD)atoi(arguments[2]) * 1000 : 0;
    if (most < 1 || most > MOST_JOBS || milliseconds == 0) return 2;
    char line[LINE_BYTES];
    bool more = true;
    for (int running = 0; more || running > 0;) {
        for (int i = 0; i < most; i++) {
            if (jobs[i].process && end(&jobs[i], milliseconds)) running--;
            if (jobs[i].process || !more) continue;
            more = fgets(line, sizeof line, stdin) != NULL;
            if (!more) continue;
            line[strcspn(line, "\r\n")] = 0;
            strcpy(jobs[i].line, line);
            if (start(&jobs[i])) running++;
        }
        Sleep(2);
    }
    return 0;
}
