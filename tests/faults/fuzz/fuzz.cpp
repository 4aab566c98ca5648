// The fuzzer of the C API, which runs random programs. usage: fuzz_c_api single|threads|faults [SEED]
// With a SEED argument, runs only the program of this seed. Otherwise, environment variables select the programs: SEED
// (the first seed) and ROUNDS (the number of programs) or MINUTES (the duration). FUZZ_OUT is a folder for reproducers,
// FUZZ_STEPS the number of steps of a program. FUZZ_SKIP and FUZZ_WITHOUT are comma-separated lists of the
// numbers and kinds of steps to skip. `faults` needs the fault layer and the preloaded library (scripts/fuzz-c-api).
#include "program.hpp"
#include "report.hpp"
#include "shared.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

using namespace fuzz;

namespace {

enum { THREADS_AT_ONCE = 8, SINGLE_SECONDS = 30, TOGETHER_SECONDS = 240 };

uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}

Settings settings_of_environment(int steps) {
    Settings s;
    s.steps = static_cast<int>(number_from("FUZZ_STEPS", static_cast<uint64_t>(steps)));
    std::string word;
    if (const char *skipped_steps = getenv("FUZZ_SKIP"))
        for (std::istringstream list(skipped_steps); std::getline(list, word, ',');)
            s.skipped_steps.insert(atoi(word.c_str()));
    if (const char *skipped_kinds = getenv("FUZZ_WITHOUT"))
        for (std::istringstream list(skipped_kinds); std::getline(list, word, ',');)
            s.skipped_kinds.insert(word);
    return s;
}

// Returns the default accelerator_views, and creates another one on each accelerator that runs kernels.
std::vector<Queue> open_queues(const World &world) {
    std::vector<Queue> queues;
    for (int p = 0; p < ACCELERATOR_KINDS; p++) {
        if (!world.accelerators[p]) continue;
        Queue queue;
        queue.accelerator_kind = static_cast<AcceleratorKind>(p);
        queue.handle = world.defaults[p];
        queue.is_default = true;
        queues.push_back(queue);
        if (p == CPU) continue;
        queue.is_default = false;
        if (revamp_accelerator_create_view(world.accelerators[p], REVAMP_QUEUING_MODE_IMMEDIATE, &queue.handle) !=
            REVAMP_OK)
            found("an accelerator_view could not be made: %s", revamp_last_error_message());
        queues.push_back(queue);
    }
    return queues;
}

void close_queues(const std::vector<Queue> &queues) {
    for (const Queue &q : queues)
        if (!q.is_default && revamp_accelerator_view_release(q.handle) != REVAMP_OK) found("a queue was not released");
}

// Fails if the memory in use has grown since the first call of this function, so the leaks of all programs add up.
// A little growth is allowed, because queues keep some memory. Waits until running work has released its memory.
// `may_report_lost_races` allows waits to report copies that failed because another thread had released their view.
void check_memory(const World &world, const std::vector<Queue> &queues, bool may_report_lost_races) {
    enum { ALLOWED_GROWTH = 4 << 20 };
    static uint64_t before[ACCELERATOR_KINDS];
    static bool is_measured;
    uint64_t now[ACCELERATOR_KINDS];
    if (!is_measured) is_measured = world.used(before);
    for (int tries = 0; tries < 1000; tries++) {
        for (const Queue &q : queues)
            if (revamp_status status = revamp_accelerator_view_wait(q.handle);
                status && !(may_report_lost_races && status == REVAMP_ERROR_INVALID_HANDLE))
                found("waiting at the end: %s", revamp_last_error_message());
        world.used(now);
        bool is_freed = true;
        for (int p = 0; p < ACCELERATOR_KINDS; p++)
            is_freed &= now[p] <= before[p] + ALLOWED_GROWTH;
        if (is_freed) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    found(
        "memory in use is %llu, %llu and %llu bytes on the cpu, threads and Vulkan; before it was %llu, %llu and %llu",
        static_cast<unsigned long long>(now[0]), static_cast<unsigned long long>(now[1]),
        static_cast<unsigned long long>(now[2]), static_cast<unsigned long long>(before[0]),
        static_cast<unsigned long long>(before[1]), static_cast<unsigned long long>(before[2]));
}

void run_single(const World &world, uint64_t seed) {
    Settings settings = settings_of_environment(120);
    begin_program(seed, SINGLE_SECONDS);
    std::vector<Queue> queues = open_queues(world);
    check_memory(world, queues, false);
    Program(world, queues, seed, settings).run();
    check_memory(world, queues, false);
    close_queues(queues);
    end_program();
}

// Concurrent programs that share queues, kernels and a few objects.
void run_threads(const World &world, uint64_t seed) {
    Settings settings = settings_of_environment(60);
    settings.is_shared = true;
    begin_program(seed, TOGETHER_SECONDS);
    std::vector<Queue> queues = open_queues(world);
    check_memory(world, queues, true);
    {
        Shared shared(world, queues);
        std::vector<std::thread> threads;
        for (uint64_t n = 0; n < THREADS_AT_ONCE; n++)
            threads.emplace_back([&, n] {
                begin_program(seed, TOGETHER_SECONDS);
                Random random(seed * THREADS_AT_ONCE + n);
                for (int i = 0; i < settings.steps && !settings.skipped_kinds.count("shared"); i++)
                    shared.step(random);
                Program(world, queues, seed * THREADS_AT_ONCE + n, settings).run();
                for (int i = 0; i < settings.steps && !settings.skipped_kinds.count("shared"); i++)
                    shared.step(random);
                end_program();
            });
        for (std::thread &t : threads)
            t.join();
        shared.release_all();
        check_memory(world, queues, true);
    }
    close_queues(queues);
    end_program();
}

// Checks that a program succeeds once no faults are injected. If a device was lost, success is required only
// after revamp_uninitialize().
void check_recovery(World &world) {
    fault_switch *s = fault_open();
    bool was_lost = s->is_lost != 0;
    // The library gives up a device that refuses all submissions, even empty ones. A lost device may already be
    // removed. Its views then fail permanently.
    const bool refuses_submissions = s->function == FAULT_vkQueueSubmit && s->times > 1;
    if (s->fired && (refuses_submissions || s->result == FAULT_DEVICE_LOST) && world.has_vulkan())
        was_lost |= revamp_accelerator_view_wait(world.defaults[VULKAN]) == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED;
    __atomic_store_n(&s->function, FAULT_NONE, __ATOMIC_RELEASE);
    for (bool after_uninitialize : {false, true}) {
        if (after_uninitialize && revamp_uninitialize() != REVAMP_OK)
            found("revamp_uninitialize: %s", revamp_last_error_message());
        if (after_uninitialize) world = World();
        if (after_uninitialize || !was_lost) s->fired = 0;
        if (!after_uninitialize && was_lost) continue;
        if (after_uninitialize && !world.open()) found("the library cannot be used again after revamp_uninitialize()");
        Settings short_settings;
        short_settings.steps = 25;
        std::vector<Queue> queues = open_queues(world);
        Program(world, queues, 1, short_settings).run();
        close_queues(queues);
    }
}

uint64_t faults_tried, faults_fired;

void run_with_fault(World &world, uint64_t seed) {
    fault_switch *s = fault_open();
    Settings settings = settings_of_environment(80);
    settings.has_fault = true;
    begin_program(seed, SINGLE_SECONDS);
    s->fired = 0;
    std::vector<Queue> queues = open_queues(world);
    Program(world, queues, seed, settings).run();
    // Collects failures that no call has reported yet. Otherwise, calls of the next program would report them.
    for (const Queue &q : queues)
        (void)!revamp_accelerator_view_wait(q.handle);
    close_queues(queues);
    faults_tried++;
    faults_fired += s->fired > 0;
    note("\n       and then without faults");
    check_recovery(world);
    end_program();
}

void run_one(World &world, const std::string &mode, uint64_t seed) {
    if (mode == "single") run_single(world, seed);
    if (mode == "threads") run_threads(world, seed);
    if (mode == "faults") run_with_fault(world, seed);
}

} // namespace

int main(int count, char **arguments) {
    std::string mode = count > 1 ? arguments[1] : "";
    if ((mode != "single" && mode != "threads" && mode != "faults") || (mode == "faults" && !can_inject_faults())) {
        fprintf(stderr, "usage: %s single|threads|faults [SEED]\n", arguments[0]);
        return 2;
    }
    bool has_seed = count > 2;
    uint64_t first = has_seed ? strtoull(arguments[2], nullptr, 10) : number_from("SEED", 1);
    uint64_t rounds = has_seed ? 1 : number_from("ROUNDS", mode == "threads" ? 3 : 40), done = 0;
    auto end = std::chrono::steady_clock::now() + std::chrono::minutes(number_from("MINUTES", 0));
    std::string command = std::string(arguments[0]) + " " + mode;
    for (const char *name : {"REVAMP_MEMORY", "REVAMP_TEST", "REVAMP_VALIDATION", "FUZZ_STEPS"})
        if (const char *value = getenv(name)) command = std::string(name) + "=" + value + " " + command;
    set_command(command);
    // Clears the fault switch, which an earlier run may have left set in the file.
    if (fault_switch *s = fault_open()) *s = fault_switch{};
    if (fault_switch *s = fault_open()) s->function = FAULT_NONE;
    watch();
    log_to_report();
    World world;
    world.open();
    for (; getenv("MINUTES") && !has_seed ? std::chrono::steady_clock::now() < end : done < rounds; done++)
        run_one(world, mode, first + done);
    world.close();
    if (revamp_uninitialize() != REVAMP_OK) found("revamp_uninitialize: %s", revamp_last_error_message());
    printf("c_api %s: %llu programs from seed %llu, %llu calls, %llu refused, %llu failed by %llu faults (%llu armed), "
           "0 found\n",
           mode.c_str(), static_cast<unsigned long long>(done), static_cast<unsigned long long>(first),
           static_cast<unsigned long long>(Program::calls), static_cast<unsigned long long>(Program::refusals),
           static_cast<unsigned long long>(Program::failures), static_cast<unsigned long long>(faults_fired),
           static_cast<unsigned long long>(faults_tried));
    return 0;
}
