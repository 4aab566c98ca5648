// What a program pays before its first call returns: each repetition is a process of its own.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "bench.h"

namespace {

double run_start(const std::string &command) {
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    char text[128] = "";
    const bool read = std::fgets(text, sizeof text, pipe) != nullptr;
    const int status = pclose(pipe);
    const double seconds = read ? std::strtod(text, nullptr) : 0;
    if (status != 0 || seconds <= 0) throw std::runtime_error("failed: " + command);
    return seconds;
}

} // namespace

void bench_start(Bench &b) {
    const std::string name = "start: load the library, list the accelerators";
    b.guarded(name, [&] {
        Case c;
        c.name = name;
        c.effort.least = 7;
        c.effort.repetition = 0;
        const std::string program = "'" + b.folder + "/revamp-bench-start' ";
        if (b.with_ours) {
            Dl_info info{};
            if (!dladdr(reinterpret_cast<void *>(&revamp_version), &info)) throw std::runtime_error("dladdr");
            const std::string command = program + "revamp '" + info.dli_fname + "'";
            c.ways.push_back({"revamp", "", [command] { return run_start(command); }, {}});
        }
        const std::string command = program + "plain";
        c.ways.push_back(
            {"plain Vulkan", "instance, devices, properties", [command] { return run_start(command); }, {}});
        b.run(c);
    });
}
