// Runs the five fault programs, with one failing call in each run. usage: fault_points sample|all [PROGRAM...]
// First counts the calls of each program. Then makes call n of a function fail with a result that the function may
// return. `all` tries every n with every result; `sample` tries a few n with one result each. Prints a table and
// "N passed, N failed". FAULT_JOBS is the number of concurrent programs, FAULT_OUT a folder for switches, caches and
// logs. FAULT_VALIDATION=1 enables the validation layer.
extern "C" {
#include "switch.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

enum { SECONDS = 60, SAMPLES_OF_A_PROGRAM = 6 };

const char *const programs[] = {"arrays", "sections", "queues", "completions", "threads"};
const char *const memory_modes[] = {"auto", "separate"};

// A run: the program, and the call that fails. With FAULT_NONE, no call fails.
struct Point {
    std::string program;
    const char *memory;
    int function;
    uint64_t at;
    int32_t result;
};

struct Runner {
    pid_t pid = 0;
    time_t end = 0;
    Point point;
    std::string folder;
    fault_switch *control = nullptr;
};

struct Sum {
    uint64_t calls = 0, tried = 0, fired = 0, failed = 0;
};

std::string program_folder, out;
Sum sums[FAULT_FUNCTION_COUNT];
int passed, failed;

fault_switch *map_switch(const std::string &name) {
    int file = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof(fault_switch)) != 0) {
        perror(name.c_str());
        exit(2);
    }
    void *at = mmap(nullptr, sizeof(fault_switch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return static_cast<fault_switch *>(at);
}

std::string text_of(const Point &p) {
    if (p.function == FAULT_NONE) return p.program + ", memory " + p.memory + ", nothing fails";
    return p.program + ", memory " + p.memory + ", call " + std::to_string(p.at) + " of " +
           fault_functions[p.function].name + " fails with " + std::to_string(p.result);
}

void begin(Runner &runner, const Point &point) {
    fault_switch *s = runner.control;
    memset(s, 0, sizeof *s);
    s->function = point.function;
    s->at = point.at;
    s->times = 1;
    s->result = point.result;
    runner.point = point;
    runner.end = time(nullptr) + SECONDS;
    runner.pid = fork();
    if (runner.pid != 0) return;
    std::string log = runner.folder + "/log", cache = runner.folder + "/cache",
                program = program_folder + "/fault_program";
    int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    dup2(file, 2);
    // Each run has its own cache, which is empty at the start.
    std::string remove = "rm -rf " + cache;
    if (system(remove.c_str()) != 0) _exit(126);
    setenv("REVAMP_FAULTS", (runner.folder + "/switch").c_str(), 1);
    setenv("REVAMP_CACHE_DIR", cache.c_str(), 1);
    setenv("REVAMP_MEMORY", point.memory, 1);
    setenv("VK_LAYER_PATH", (program_folder + "/layers:/usr/share/vulkan/explicit_layer.d").c_str(), 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_REVAMP_fault", 1);
    // Disables Mesa's device-select layer, which calls the fault layer. If vkEnumerateDeviceExtensionProperties fails,
    // Mesa's layer may crash, because it reads the unwritten outputs.
    setenv("NODEVICE_SELECT", "1", 1);
    if (getenv("FAULT_VALIDATION")) setenv("REVAMP_VALIDATION", "2", 1);
    setenv("LD_PRELOAD", (program_folder + "/libfault_preload.so").c_str(), 1);
    execl(program.c_str(), program.c_str(), point.program.c_str(), nullptr);
    _exit(127);
}

void print_log(const Runner &runner) {
    std::string line, command = "tail -n 25 " + runner.folder + "/log | cut -c1-300 | sed 's/^/    /'";
    fflush(stdout);
    if (system(command.c_str()) != 0) puts("    (no log)");
}

// Records the result of a run. The counts of calls stay in the run's switch.
void end(Runner &runner, int status) {
    Point &p = runner.point;
    bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    runner.pid = 0;
    (is_good ? passed : failed)++;
    if (p.function != FAULT_NONE) {
        sums[p.function].tried++;
        // `fired` does not tell whether the call failed, because the program resets `fired` after the fault.
        sums[p.function].fired += runner.control->calls >= p.at;
        sums[p.function].failed += !is_good;
    }
    if (is_good) return;
    printf("FAILED: %s: ", text_of(p).c_str());
    if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("exit code %d\n", WEXITSTATUS(status));
    print_log(runner);
}

// Waits until a runner is free.
Runner &wait_for_one(std::vector<Runner> &runners) {
    for (;;) {
        for (Runner &p : runners) {
            int status = 0;
            if (!p.pid) return p;
            if (waitpid(p.pid, &status, WNOHANG) == p.pid) {
                end(p, status);
                return p;
            }
            // Kills a run that hangs. The run then counts as failed.
            if (time(nullptr) > p.end) kill(p.pid, SIGKILL);
        }
        timespec moment = {0, 2000000};
        nanosleep(&moment, nullptr);
    }
}

void wait_for_all(std::vector<Runner> &runners) {
    for (Runner &p : runners) {
        while (p.pid) {
            int status = 0;
            if (waitpid(p.pid, &status, WNOHANG) == p.pid) end(p, status);
            if (p.pid && time(nullptr) > p.end) kill(p.pid, SIGKILL);
            timespec moment = {0, 2000000};
            nanosleep(&moment, nullptr);
        }
    }
}

std::vector<int32_t> results_of(int function) {
    std::vector<int32_t> all;
    for (int32_t r : fault_functions[function].results)
        if (r) all.push_back(r);
    return all;
}

// Returns the runs to try: all calls with all results or, for a sample, a few calls of random functions among those
// that the program calls.
std::vector<Point> points_of(const Point &base, const uint64_t *counts, bool is_sample, unsigned &salt) {
    std::vector<Point> points, sample;
    for (int f = 0; f < FAULT_FUNCTION_COUNT; f++)
        for (uint64_t at = 1; at <= counts[f]; at++)
            for (int32_t result : results_of(f))
                points.push_back({base.program, base.memory, f, at, result});
    if (!is_sample) return points;
    for (int i = 0; i < SAMPLES_OF_A_PROGRAM && !points.empty(); i++) {
        salt = salt * 1103515245 + 12345;
        int f = static_cast<int>((salt >> 8) % FAULT_FUNCTION_COUNT);
        while (!counts[f])
            f = (f + 1) % FAULT_FUNCTION_COUNT;
        std::vector<int32_t> results = results_of(f);
        sample.push_back(
            {base.program, base.memory, f, 1 + (salt >> 4) % counts[f], results[(salt >> 6) % results.size()]});
    }
    return sample;
}

void print_table() {
    printf("%-40s %10s %8s %8s %8s\n", "function", "calls", "tried", "reached", "failed");
    Sum kinds[FAULT_KINDS];
    const char *const names[] = {"Vulkan", "memory", "threads", "files"};
    for (int f = 0; f < FAULT_FUNCTION_COUNT; f++) {
        const Sum &s = sums[f];
        Sum &k = kinds[fault_functions[f].kind];
        k.calls += s.calls;
        k.tried += s.tried;
        k.fired += s.fired;
        k.failed += s.failed;
        if (s.calls)
            printf("%-40s %10llu %8llu %8llu %8llu\n", fault_functions[f].name,
                   static_cast<unsigned long long>(s.calls), static_cast<unsigned long long>(s.tried),
                   static_cast<unsigned long long>(s.fired), static_cast<unsigned long long>(s.failed));
    }
    for (int k = 0; k < FAULT_KINDS; k++)
        printf("all of %-33s %10llu %8llu %8llu %8llu\n", names[k], static_cast<unsigned long long>(kinds[k].calls),
               static_cast<unsigned long long>(kinds[k].tried), static_cast<unsigned long long>(kinds[k].fired),
               static_cast<unsigned long long>(kinds[k].failed));
}

} // namespace

int main(int count, char **arguments) {
    bool is_sample = count > 1 && !strcmp(arguments[1], "sample");
    if (count < 2 || (!is_sample && strcmp(arguments[1], "all"))) {
        fprintf(stderr, "usage: %s sample|all [PROGRAM...]\n", arguments[0]);
        return 2;
    }
    program_folder = arguments[0];
    program_folder = program_folder.substr(0, program_folder.rfind('/'));
    out = getenv("FAULT_OUT") ? getenv("FAULT_OUT") : program_folder + "/points";
    mkdir(out.c_str(), 0700);
    std::vector<Runner> runners(
        static_cast<size_t>(std::max(1, atoi(getenv("FAULT_JOBS") ? getenv("FAULT_JOBS") : "2"))));
    for (size_t i = 0; i < runners.size(); i++) {
        runners[i].folder = out + "/" + std::to_string(i);
        mkdir(runners[i].folder.c_str(), 0700);
        runners[i].control = map_switch(runners[i].folder + "/switch");
    }
    unsigned salt = getenv("SEED") ? static_cast<unsigned>(atoi(getenv("SEED"))) : 1;
    std::vector<Point> points;
    for (const char *program : programs) {
        bool is_selected = count == 2;
        for (int i = 2; i < count; i++)
            is_selected |= !strcmp(arguments[i], program);
        for (const char *memory : memory_modes) {
            if (!is_selected) continue;
            Runner &first = runners[0];
            begin(first, {program, memory, FAULT_NONE, 0, 0});
            std::vector<Runner> only(1, first);
            wait_for_all(only);
            first.pid = 0;
            // For file functions, the calls of all three passes of the program count, not only those of the first pass,
            // because files are written when a device is released.
            for (int f = 0; f < FAULT_FUNCTION_COUNT; f++)
                if (fault_functions[f].kind == FAULT_FILE) first.control->first[f] = first.control->counts[f];
            for (int f = 0; f < FAULT_FUNCTION_COUNT; f++)
                sums[f].calls += first.control->first[f];
            for (const Point &p : points_of(first.point, first.control->first, is_sample, salt))
                points.push_back(p);
        }
    }
    printf("%zu fault points\n", points.size());
    fflush(stdout);
    for (const Point &p : points)
        begin(wait_for_one(runners), p);
    wait_for_all(runners);
    print_table();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
