// Benchmarks of the start-up time of a program. Each repetition is a new process.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "bench.h"

namespace {

double run_start(const std::string &command) {
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    char text[128] = "";
    const bool has_output = std::fgets(text, sizeof text, pipe) != nullptr;
    const int status = pclose(pipe);
    const double seconds = has_output ? std::strtod(text, nullptr) : 0;
    if (status != 0 || seconds <= 0) throw std::runtime_error("failed: " + command);
    return seconds;
}

std::string library_path() {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void *>(&revamp_version), &info)) throw std::runtime_error("dladdr");
    return info.dli_fname;
}

// A temporary folder that the destructor deletes.
class Folder {
  public:
    Folder() {
        if (!mkdtemp(path_)) throw std::runtime_error("mkdtemp");
    }
    ~Folder() { clear(); }
    void clear() const {
        if (std::system(("rm -rf '" + path() + "'").c_str()) != 0) std::perror("rm");
    }
    std::string path() const { return path_; }

  private:
    char path_[32] = "/tmp/revamp-bench-XXXXXX";
};

void list(Bench &b, const std::string &program, const std::string &name) {
    Case c;
    c.name = name;
    c.goals["plain Vulkan"] = {Goal::time_at_most, 1.2};
    c.effort.min_repetitions = 7;
    c.effort.repetition = 0;
    if (b.with_ours) {
        const std::string command = program + "revamp '" + library_path() + "'";
        c.ways.push_back({"revamp", "", [command] { return run_start(command); }, {}});
    }
    const std::string command = program + "plain";
    c.ways.push_back({"plain Vulkan", "instance, devices, properties", [command] { return run_start(command); }, {}});
    b.run(c);
}

// Starts a program with 50 kernels: with an empty pipeline cache of revamp (first start), and with a filled one (second
// start). The drivers' own caches are off.
void kernels(Bench &b, const std::string &program, const std::string &name) {
    Case c;
    c.name = name;
    c.effort.min_repetitions = b.plain->software() ? 1 : 5; // a software device compiles for seconds
    c.effort.repetition = 0;
    const Folder first, second;
    auto start = [&, what = program + "kernels '" + library_path() + "' '" + b.device + "'"](const Folder &folder) {
        return run_start("__GL_SHADER_DISK_CACHE=0 MESA_SHADER_CACHE_DISABLE=true MESA_GLSL_CACHE_DISABLE=true "
                         "REVAMP_CACHE=rw REVAMP_CACHE_DIR='" +
                         folder.path() + "' " + what);
    };
    c.ways.push_back({"revamp", "second start", [&] { return start(second); }, [&] { start(second); }});
    c.ways.push_back({"first start",
                      "pipelines compiled",
                      [&] {
                          first.clear();
                          return start(first);
                      },
                      {}});
    b.run(c);
}

} // namespace

void bench_start(Bench &b) {
    const std::string program = "'" + b.folder + "/revamp-bench-start' ",
                      listing = "start: load the library, list the accelerators",
                      second = "start of a program with 50 kernels, all launched: second start";
    b.guarded(listing, [&] { list(b, program, listing); });
    if (b.with_ours) b.guarded(second, [&] { kernels(b, program, second); });
}
