// The fuzzer of the C API. usage: fuzz_c_api single|threads|faults [SEED]
// With a SEED it runs that program alone; else ROUNDS programs (or for MINUTES), the first with the seed SEED of the
// environment. FUZZ_OUT: a folder for reproducers. FUZZ_STEPS: steps of a program; FUZZ_SKIP: steps (by number, with
// commas between) to leave out; FUZZ_WITHOUT: kinds of steps to leave out. `faults` needs the layer and the preloaded
// library (scripts/fuzz-c-api starts it so).
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
    if (const char *skip = getenv("FUZZ_SKIP"))
        for (std::istringstream list(skip); std::getline(list, word, ',');)
            s.skip.insert(atoi(word.c_str()));
    if (const char *without = getenv("FUZZ_WITHOUT"))
        for (std::istringstream list(without); std::getline(list, word, ',');)
            s.without.insert(word);
    return s;
}

// The default accelerator_views, and one more of each accelerator that runs kernels.
std::vector<Queue> open_queues(const World &world) {
    std::vector<Queue> queues;
    for (int p = 0; p < PLACES; p++) {
        if (!world.accelerators[p]) continue;
        Queue queue;
        queue.place = static_cast<Place>(p);
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

// What work under way holds is given back when it is done, but for a little that queues keep. Compared with the first
// program's beginning: leaks add up.
// `may_tell`: a wait may tell of copies that lost a race with a release.
void check_memory(const World &world, const std::vector<Queue> &queues, bool may_tell) {
    enum { A_LITTLE = 4 << 20 };
    static uint64_t before[PLACES];
    static bool is_known;
    uint64_t now[PLACES];
    if (!is_known) is_known = world.used(before);
    for (int tries = 0; tries < 1000; tries++) {
        for (const Queue &q : queues)
            if (revamp_status status = revamp_accelerator_view_wait(q.handle);
                status && !(may_tell && status == REVAMP_ERROR_INVALID_HANDLE))
                found("waiting at the end: %s", revamp_last_error_message());
        world.used(now);
        bool is_back = true;
        for (int p = 0; p < PLACES; p++)
            is_back &= now[p] <= before[p] + A_LITTLE;
        if (is_back) return;
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

// Programs side by side, with queues, kernels and a few objects in common.
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
                for (int i = 0; i < settings.steps && !settings.without.count("shared"); i++)
                    shared.step(random);
                Program(world, queues, seed * THREADS_AT_ONCE + n, settings).run();
                for (int i = 0; i < settings.steps && !settings.without.count("shared"); i++)
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

// Without faults all is as ever: after a lost device in a new beginning.
void check_life(World &world) {
    fault_switch *s = fault_open();
    bool was_lost = s->is_lost != 0;
    // The library gives a device up that takes no submissions, not even one without work. A lost one may be gone
    // already, and its views stay dead.
    const bool takes_none = s->function == FAULT_vkQueueSubmit && s->times > 1;
    if (s->fired && (takes_none || s->result == FAULT_DEVICE_LOST) && world.has_vulkan())
        was_lost |= revamp_accelerator_view_wait(world.defaults[VULKAN]) == REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED;
    __atomic_store_n(&s->function, FAULT_NONE, __ATOMIC_RELEASE);
    for (bool anew : {false, true}) {
        if (anew && revamp_uninitialize() != REVAMP_OK) found("revamp_uninitialize: %s", revamp_last_error_message());
        if (anew) world = World();
        if (anew || !was_lost) s->fired = 0;
        if (!anew && was_lost) continue;
        if (anew && !world.open()) found("it does not begin anew");
        Settings few;
        few.steps = 25;
        std::vector<Queue> queues = open_queues(world);
        Program(world, queues, 1, few).run();
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
    // What nobody was told of would be told to the next.
    for (const Queue &q : queues)
        (void)!revamp_accelerator_view_wait(q.handle);
    close_queues(queues);
    faults_tried++;
    faults_fired += s->fired > 0;
    note("\n       and then without faults");
    check_life(world);
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
    if ((mode != "single" && mode != "threads" && mode != "faults") || (mode == "faults" && !has_faults())) {
        fprintf(stderr, "usage: %s single|threads|faults [SEED]\n", arguments[0]);
        return 2;
    }
    bool is_one = count > 2;
    uint64_t first = is_one ? strtoull(arguments[2], nullptr, 10) : number_from("SEED", 1);
    uint64_t rounds = is_one ? 1 : number_from("ROUNDS", mode == "threads" ? 3 : 40), done = 0;
    auto end = std::chrono::steady_clock::now() + std::chrono::minutes(number_from("MINUTES", 0));
    std::string command = std::string(arguments[0]) + " " + mode;
    for (const char *name : {"REVAMP_MEMORY", "REVAMP_TEST", "REVAMP_VALIDATION", "FUZZ_STEPS"})
        if (const char *value = getenv(name)) command = std::string(name) + "=" + value + " " + command;
    set_command(command);
    // What an earlier run left there.
    if (fault_switch *s = fault_open()) *s = fault_switch{};
    if (fault_switch *s = fault_open()) s->function = FAULT_NONE;
    watch();
    log_to_report();
    World world;
    world.open();
    for (; getenv("MINUTES") && !is_one ? std::chrono::steady_clock::now() < end : done < rounds; done++)
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
