// Runs a fault program three times: with the fault that the switch selects (REVAMP_FAULTS), without faults, and after
// revamp_uninitialize(). The last two passes must succeed. usage: fault_program NAME
#include "../fuzz/report.hpp"
#include "job.hpp"

#include <cstdio>
#include <cstring>

using namespace faults;

static const struct {
    const char *name;
    void (*run)(Job &job);
} programs[] = {{"arrays", arrays_program},
                {"sections", sections_program},
                {"queues", queues_program},
                {"completions", completions_program},
                {"threads", threads_program}};

// Runs the program once. Returns false if a fault left no device to run on.
static bool pass(void (*run)(Job &job), const char *what) {
    fuzz::note("\n %s", what);
    Job job;
    if (job.is_open())
        run(job);
    else if (!fuzz::fault_has_fired())
        fuzz::found("there is no Vulkan device");
    return job.is_open();
}

static void uninitialize() {
    if (revamp_uninitialize() != REVAMP_OK && !fuzz::fault_has_fired())
        fuzz::found("revamp_uninitialize: %s", revamp_last_error_message());
}

int main(int count, char **arguments) {
    enum { SECONDS = 40 };
    void (*run)(Job &) = nullptr;
    for (const auto &p : programs)
        if (count == 2 && !strcmp(arguments[1], p.name)) run = p.run;
    if (!run) {
        fprintf(stderr, "usage: %s arrays|sections|queues|completions|threads\n", arguments[0]);
        return 2;
    }
    fuzz::set_command(std::string(arguments[0]) + " " + arguments[1]);
    fuzz::watch();
    fuzz::begin_program(0, SECONDS);
    fuzz::log_to_report();
    fault_switch *s = fault_open();
    bool was_open = pass(run, "the first time:");
    if (s) memcpy(s->first, s->counts, sizeof s->first);
    // revamp_uninitialize() makes a device available again that was lost or could not be opened.
    if (!was_open || (s && s->is_lost)) uninitialize();
    // Ends the injection of faults, except for file functions: files are written only when a device is released.
    bool is_file = s && s->function >= 0 && fault_functions[s->function].kind == FAULT_FILE;
    if (s && !is_file) s->function = FAULT_NONE;
    if (s) s->fired = 0;
    unsigned before = fuzz::logged_errors();
    pass(run, "after a fault:");
    uninitialize();
    pass(run, "after revamp_uninitialize():");
    uninitialize();
    if (fuzz::logged_errors() != before) fuzz::found("the library logged: %s", fuzz::latest_log().c_str());
    fuzz::end_program();
    return 0;
}
