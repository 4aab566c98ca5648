// revamp-bench: measures revamp and its peers in the same run.
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "bench.h"

namespace {

const char usage[] = "revamp-bench [options]\n"
                     "  --json FILE      also write everything as JSON, every sample included\n"
                     "  --markdown FILE  also write the table\n"
                     "  --device PATH    the accelerator, by its device_path (default: the default one for SPIR-V)\n"
                     "  --only TEXT      only cases whose name contains TEXT (and the empty kernel)\n"
                     "  --seconds N      seconds for the repetitions of each case (default 1)\n"
                     "  --cuda FILE      the CUDA peer (default: libcuda_peer.so beside this program)\n"
                     "  --peers-only     measure only the peers\n"
                     "  --strict         exit with 2 if a goal is missed\n";

struct Options {
    std::string json, markdown, device, only, cuda;
    double seconds = 1;
    bool peers_only = false, strict = false, bytes_only = false;
};

bool parse(int argc, char **argv, Options &o) {
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        if (a == "--peers-only") {
            o.peers_only = true;
        } else if (a == "--strict") {
            o.strict = true;
        } else if (a == "--bytes-moved") { // not for users: see case_view_bytes.cpp
            o.bytes_only = true;
        } else if (i + 1 == argc) {
            return false;
        } else if (a == "--json") {
            o.json = argv[++i];
        } else if (a == "--markdown") {
            o.markdown = argv[++i];
        } else if (a == "--device") {
            o.device = argv[++i];
        } else if (a == "--only") {
            o.only = argv[++i];
        } else if (a == "--seconds") {
            o.seconds = std::atof(argv[++i]);
        } else if (a == "--cuda") {
            o.cuda = argv[++i];
        } else {
            return false;
        }
    }
    return true;
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string first_line(const char *path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

void machine_facts(Report &report) {
    char date[64];
    const std::time_t t = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", std::gmtime(&t));
    report.fact("date", date);
    report.fact("processor", processor() + ", " + std::to_string(std::thread::hardware_concurrency()) + " threads");
    utsname system{};
    uname(&system);
    report.fact("system", std::string(system.sysname) + " " + system.release);
    report.fact("load before", first_line("/proc/loadavg"));
}

// Sets `uuid` to the sixteen bytes in "vulkan\<uuid>". Returns false if the path contains no UUID.
bool uuid_of(const std::string &path, uint8_t *uuid) {
    std::string digits;
    for (const char c : path.substr(path.find('\\') + 1))
        if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
    if (digits.size() < 32) return false;
    for (int i = 0; i < 16; i++)
        uuid[i] = static_cast<uint8_t>(std::stoul(digits.substr(size_t(i) * 2, 2), nullptr, 16));
    return true;
}

revamp_accelerator_view default_view(const char *path) {
    revamp_accelerator accelerator;
    revamp_accelerator_view view;
    ours::must(revamp_accelerator_find(path, &accelerator), "revamp_accelerator_find");
    ours::must(revamp_accelerator_get_default_view(accelerator, &view), "revamp_accelerator_get_default_view");
    return view;
}

// Finds revamp's accelerators. Returns the device path of the Vulkan accelerator, or an empty string if there is none.
std::string open_revamp(Bench &b, const Options &o) {
    const uint32_t v = revamp_version();
    b.report.fact("revamp",
                  std::to_string(v >> 22) + "." + std::to_string(v >> 12 & 0x3FF) + "." + std::to_string(v & 0xFFF));
    if (revamp_abi_version() != REVAMP_ABI_VERSION)
        throw std::runtime_error("librevamp and its header have different ABI versions");
    b.cpu_view = default_view("cpu");
    b.host_view = default_view("direct3d\\warp");
    const revamp_status find_status = o.device.empty()
                                          ? revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &b.accelerator)
                                          : revamp_accelerator_find(o.device.c_str(), &b.accelerator);
    if (find_status != REVAMP_OK) {
        std::fprintf(stderr, "no Vulkan accelerator: %s\n", revamp_last_error_message());
        return {};
    }
    revamp_accelerator_info info{};
    info.struct_size = sizeof info;
    ours::must(revamp_accelerator_get_info(b.accelerator, &info), "revamp_accelerator_get_info");
    ours::must(revamp_accelerator_get_default_view(b.accelerator, &b.view), "revamp_accelerator_get_default_view");
    b.report.fact("device", std::string(info.description) + ", " + info.device_path);
    b.report.fact("driver", info.driver);
    return info.device_path;
}

bool write(const std::string &path, const std::string &text) {
    if (path.empty()) return true;
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) std::fprintf(stderr, "could not write %s\n", path.c_str());
    return bool(file);
}

int bench(const Options &o, const std::string &folder) {
    Bench b(std::clamp(std::thread::hardware_concurrency(), 2U, 8U));
    b.only = o.only;
    b.budget = o.seconds;
    b.folder = folder;
    b.with_ours = !o.peers_only;
    const char *memory = std::getenv("REVAMP_MEMORY");
    b.mapped_peer = !(memory && std::strcmp(memory, "separate") == 0);
    machine_facts(b.report);

    std::string path;
    if (b.with_ours) path = open_revamp(b, o);
    uint8_t uuid[16];
    b.device = path;
    if (o.bytes_only) {
        print_view_bytes(b);
        return 0;
    }
    const bool has_uuid = uuid_of(path, uuid);
    if (has_uuid || o.peers_only) b.plain = std::make_unique<PlainVulkan>(has_uuid ? uuid : nullptr);
    if (b.plain && o.peers_only) {
        b.report.fact("device", b.plain->properties.deviceName);
        b.report.fact("driver", b.plain->driver);
    }
    if (b.plain) {
        std::string reason, device;
        b.cuda = load_cuda(o.cuda.empty() ? folder + "/libcuda_peer.so" : o.cuda, b.plain->uuid, reason, device);
        b.report.fact("CUDA", b.cuda ? device : "none (" + reason + ")");
    }
    for (const char *name :
         {"REVAMP_MEMORY", "REVAMP_HOST_THREADS", "REVAMP_TEST", "REVAMP_VALIDATION", "REVAMP_CACHE"})
        if (const char *value = std::getenv(name)) b.report.fact(name, value);
    b.report.print_facts();

    const double start = now();
    if (b.plain) {
        b.plain->warm(1.2);
        bench_launch(b);
        bench_copy(b);
        bench_device_copy(b);
        bench_overlap(b);
        bench_kernel(b);
        bench_axpy(b);
#ifdef BENCH_HAS_KERNELS
        bench_compiled(b);
        bench_suite(b);
#else
        b.report.skip("compiled kernels", "revamp was installed without the kernel compiler");
#endif
    } else {
        b.report.skip("everything on a Vulkan device", "there is no Vulkan device");
    }
    bench_host(b);
    bench_amp(b);
#ifdef BENCH_HAS_KERNELS
    bench_tiles(b);
    bench_texture(b);
#endif
    bench_view(b);
    if (b.plain) bench_view_bytes(b);
    bench_scale(b);
    if (b.plain) bench_accelerators(b);
    if (b.plain) bench_start(b);
    b.report.fact("load after", first_line("/proc/loadavg"));
    b.report.fact("seconds", std::to_string(static_cast<int>(now() - start)));
    std::printf("\n%d goals missed, %d unclear, %d failures, %d seconds. Ratios: time = ours / peer's, speed = peer's "
                "time / ours.\n",
                b.report.missed(), b.report.unclear(), b.report.failed(), static_cast<int>(now() - start));
    if (!write(o.json, b.report.json()) || !write(o.markdown, b.report.markdown())) return 1;
    if (b.report.failed()) return 1;
    return o.strict && b.report.missed() ? 2 : 0;
}

} // namespace

int main(int argc, char **argv) {
    Options options;
    if (!parse(argc, argv, options)) {
        std::fputs(usage, stderr);
        return 64;
    }
    // The threads of LLVM's OpenMP spin for 200 ms after a loop, which would take processors from the next measurement.
    setenv("KMP_BLOCKTIME", "0", 0);
    const std::string program = argv[0];
    const size_t slash = program.rfind('/');
    try {
        return bench(options, slash == std::string::npos ? "." : program.substr(0, slash));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "revamp-bench: %s\n", e.what());
        return 1;
    }
}
