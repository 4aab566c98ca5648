#include "program.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace fuzz {

const std::vector<Program::Kind> Program::kinds = {
    {"array", 6, &Program::make_array},
    {"view", 8, &Program::make_view},
    {"derive", 8, &Program::derive_view},
    {"shape", 3, &Program::shape_view},
    {"retain", 3, &Program::retain_view},
    {"release", 7, &Program::step_release_view},
    {"destroy", 3, &Program::destroy_array},
    {"ask", 2, &Program::query_all},
    {"access", 8, &Program::access},
    {"state", 4, &Program::use_state},
    {"data", 4, &Program::array_data},
    {"synchronize", 5, &Program::synchronize},
    {"discard", 2, &Program::discard},
    {"refresh", 2, &Program::refresh},
    {"launch", 16, &Program::launch},
    {"binding", 4, &Program::launch_binding},
    {"wait", 3, &Program::wait_for_queue},
    {"queue", 2, &Program::change_queues},
    {"copy", 14, &Program::copy},
    {"whole", 5, &Program::copy_whole},
    {"texture", 22, &Program::use_texture},
    {"completion", 8, &Program::use_completion},
    {"refuse", 6, &Program::refuse},
};

Program::Program(const World &shared, std::vector<Queue> shared_by_all, uint64_t number, const Settings &how)
    : world(shared), seed(number), settings(how), random(number), queues(std::move(shared_by_all)),
      shared_queues(queues.size()) {}

void Program::run_step(int number) {
    unsigned sum = 0;
    current = number;
    random = Random(seed * 1000003 + static_cast<uint64_t>(number));
    for (const Kind &k : kinds)
        sum += k.weight;
    unsigned pick = random.below(sum);
    size_t n = 0;
    for (; pick >= kinds[n].weight; n++)
        pick -= kinds[n].weight;
    if (settings.skipped_steps.count(number) || settings.skipped_kinds.count(kinds[n].name)) return;
    unsigned before = logged_errors();
    (this->*kinds[n].run)();
    if (logged_errors() != before && !fault_has_fired()) found("the library logged: %s", latest_log().c_str());
}

// Arms a fault: a later call of one function fails.
void Program::arm_fault() {
    fault_switch *s = fault_open();
    random = Random(seed * 7 + 1);
    // Prefers functions that this program has already called, because it is likely to call them again.
    int function = FAULT_vkQueueSubmit;
    for (int tries = 0; tries < 100; tries++) {
        function = static_cast<int>(random.below(FAULT_FUNCTION_COUNT));
        if (s->counts[function] > initial_counts[function] && fault_functions[function].kind != FAULT_FILE) break;
    }
    const int32_t *results = fault_functions[function].results;
    uint32_t count = 0;
    while (count < FAULT_MAX_RESULTS && results[count])
        count++;
    s->result = results[random.below(count)];
    s->at = 1 + random.below(random.one_in(2) ? 1 : 6);
    s->times = random.one_in(4) ? 1 + random.below(5) : 1;
    s->calls = 0;
    note("\n       call %d of %s fails with %d, %d times", static_cast<int>(s->at), fault_functions[function].name,
         s->result, static_cast<int>(s->times));
    __atomic_store_n(&s->function, function, __ATOMIC_RELEASE);
}

void Program::run() {
    note("seed %llu, %d steps%s", static_cast<unsigned long long>(seed), settings.steps,
         getenv("REVAMP_MEMORY") ? ", REVAMP_MEMORY" : "");
    random = Random(seed);
    const fault_switch *s = fault_open();
    for (int f = 0; s && f < FAULT_FUNCTION_COUNT; f++)
        initial_counts[f] = s->counts[f];
    // The fault is armed after some steps, so that objects exist that the fault can damage.
    int armed_at = 10 + static_cast<int>(random.below(static_cast<uint32_t>(settings.steps) / 2));
    for (int step = 1; step <= settings.steps; step++) {
        if (step == armed_at && settings.has_fault) arm_fault();
        run_step(step);
    }
    end();
}

// Releases all objects in random order, then waits for the callbacks.
void Program::end() {
    current = settings.steps + 1;
    random = Random(seed * 1000003 + static_cast<uint64_t>(current));
    note_step(current, "ends");
    unsigned before = logged_errors();
    while (!views.empty() || !sources.empty() || !operations.empty()) {
        uint32_t which = random.below(3);
        if (which == 0 && !views.empty()) release_view(random.below(views.size()));
        if (which == 1 && !sources.empty()) destroy_array();
        if (which == 2 && !operations.empty()) release_completion(operations[random.below(operations.size())]);
    }
    while (!textures.empty())
        release_texture();
    for (size_t n = shared_queues; n < queues.size(); n++)
        if (!queues[n].is_released && revamp_accelerator_view_release(queues[n].handle) != REVAMP_OK)
            found("a queue was not released");
    // If a callback never comes, the watchdog ends the run.
    for (const OperationPtr &operation : awaiting_callbacks)
        while (operation->called < operation->callbacks)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const OperationPtr &operation : awaiting_callbacks)
        if (operation->called > operation->callbacks) found("a callback was called more than once");
    if (logged_errors() != before && !fault_has_fired()) found("the library logged: %s", latest_log().c_str());
}

} // namespace fuzz
