// The records of running programs, and the reports of defects, signals and hangs.
#include "report.hpp"

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fuzz {
namespace {

enum { MAX_TEXT = 1 << 17, MAX_PROGRAMS = 64, MAX_REPEATS = 50, EXIT_FOUND = 1 };

// The record of a thread's program. All records are static, so that a signal handler finds them.
struct Record {
    std::atomic<bool> is_taken{false};
    std::atomic<time_t> end{0};
    uint64_t seed = 0;
    size_t used = 0;
    char text[MAX_TEXT];
};

Record programs[MAX_PROGRAMS];
thread_local Record *thread_record = nullptr;
std::string command;
std::atomic<unsigned> errors{0};
std::mutex log_lock;
std::string log_text;
unsigned repeats = 0;
std::mutex end_lock;

void append(const char *format, va_list arguments) {
    if (!thread_record) return;
    size_t free_space = sizeof thread_record->text - thread_record->used;
    int n = vsnprintf(thread_record->text + thread_record->used, free_space, format, arguments);
    if (n > 0) thread_record->used += static_cast<size_t>(n) < free_space ? static_cast<size_t>(n) : free_space - 1;
}

void write_all(int file, const char *text, size_t size) {
    while (size > 0) {
        ssize_t n = write(file, text, size);
        if (n <= 0) return;
        text += n;
        size -= static_cast<size_t>(n);
    }
}

void print(const Record &p, const char *why, FILE *to) {
    fprintf(to, "FOUND: %s\nreproduce: %s %llu\n", why, command.c_str(), static_cast<unsigned long long>(p.seed));
    fwrite(p.text, 1, p.used, to);
    fputc('\n', to);
    fflush(to);
}

[[noreturn]] void end_run(const Record *p, const char *why) {
    // Never unlocked: the first thread that gets here ends the process.
    end_lock.lock();
    static Record empty_record;
    if (!p) p = &empty_record;
    print(*p, why, stdout);
    const char *folder = getenv("FUZZ_OUT");
    if (folder) {
        std::string name = std::string(folder) + "/found-" + std::to_string(p->seed) + ".txt";
        if (FILE *file = fopen(name.c_str(), "w")) {
            print(*p, why, file);
            fclose(file);
            printf("reproducer: %s\n", name.c_str());
        }
    }
    fflush(nullptr);
    // _exit() skips the library's exit handler, which is not under test here.
    _exit(EXIT_FOUND);
}

void on_signal(int number) {
    static const char head[] = "\nFOUND: a signal; the programs that ran:\n";
    write_all(1, head, sizeof head - 1);
    for (const Record &p : programs)
        if (p.is_taken) {
            char seed[64];
            int n = snprintf(seed, sizeof seed, "\nseed %llu%s", static_cast<unsigned long long>(p.seed),
                             &p == thread_record ? " (this thread)" : "");
            write_all(1, seed, static_cast<size_t>(n));
            write_all(1, p.text, p.used);
        }
    write_all(1, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}

void on_log(revamp_log_level, const char *message, void *) {
    std::lock_guard<std::mutex> guard(log_lock);
    errors++;
    repeats = log_text == message ? repeats + 1 : 0;
    log_text = message;
    if (repeats == MAX_REPEATS) end_run(thread_record, ("the log is flooded: " + log_text).c_str());
}

[[noreturn]] void watch_for_hangs() {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        for (Record &p : programs)
            if (p.is_taken && p.end && time(nullptr) > p.end) end_run(&p, "it hangs");
    }
}

} // namespace

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

void note_step(int step, const char *format, ...) {
    va_list arguments;
    note("\n %4d: ", step);
    va_start(arguments, format);
    append(format, arguments);
    va_end(arguments);
}

void begin_program(uint64_t seed, unsigned seconds) {
    for (size_t i = 0; !thread_record && i < MAX_PROGRAMS; i++)
        if (!programs[i].is_taken.exchange(true)) thread_record = &programs[i];
    if (!thread_record) return;
    thread_record->seed = seed;
    thread_record->used = 0;
    thread_record->end = time(nullptr) + seconds;
    const char *folder = getenv("FUZZ_OUT");
    if (!folder) return;
    // If a crash prevents all output, this file still names the program that ran.
    std::string name = std::string(folder) + "/seed-" + std::to_string(thread_record - programs);
    if (FILE *file = fopen(name.c_str(), "w")) {
        fprintf(file, "%s %llu\n", command.c_str(), static_cast<unsigned long long>(seed));
        fclose(file);
    }
}

void end_program() {
    if (!thread_record) return;
    thread_record->end = 0;
    thread_record->is_taken = false;
    thread_record = nullptr;
}

void found(const char *format, ...) {
    char why[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    end_run(thread_record, why);
}

void watch() {
    for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        signal(number, on_signal);
    std::thread(watch_for_hangs).detach();
}

unsigned logged_errors() {
    return errors;
}

std::string latest_log() {
    std::lock_guard<std::mutex> guard(log_lock);
    return log_text;
}

void log_to_report() {
    revamp_set_log_callback(on_log, nullptr, REVAMP_LOG_ERROR);
}

void set_command(const std::string &text) {
    command = text;
}

} // namespace fuzz
