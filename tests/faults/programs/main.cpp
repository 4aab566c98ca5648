// usage: fault_program NAME. Runs one of the programs until a pass began after the switch (REVAMP_FAULTS) has failed a
// call, then once more after revamp_uninitialize(): those must succeed. Without a fault it runs twice.
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

// False if there was no device to run on, because of a fault.
static bool pass(void (*run)(Job &job), const char *what) {
    fuzz::note("\n %s", what);
    Job job;
    if (job.is_open())
        run(job);
    else if (!fuzz::has_fired())
        fuzz::found("there is no Vulkan device");
    return job.is_open();
}

static void begin_anew() {
    if (revamp_uninitialize() != REVAMP_OK && !fuzz::has_fired())
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
    // A device that is lost, or was never opened, is there again in a new beginning.
    if (!was_open || (s && s->is_lost)) begin_anew();
    // Nothing fails any more, but files, which are written when a device is let go.
    bool is_file = s && s->function >= 0 && fault_functions[s->function].kind == FAULT_FILE;
    if (s && !is_file) s->function = FAULT_NONE;
    if (s) s->fired = 0;
    unsigned before = fuzz::logged_errors();
    pass(run, "after a fault:");
    begin_anew();
    pass(run, "after a new beginning:");
    begin_anew();
    if (fuzz::logged_errors() != before) fuzz::found("the library logged: %s", fuzz::latest_log().c_str());
    fuzz::end_program();
    return 0;
}
