// Runs the construct matrix: checks each kernel, then times it and the same kernel of each peer alternately.
//   constructs [--device PATH] [--reference LIBRARY] [--peer NAME=LIBRARY]... [--check] [--once] [--n N] [--seconds S]
//   [--only K]...
// A peer is a library of the same kernels in CUDA or OpenMP. At the small size, the results of revamp and of all peers
// are compared with the results of the reference library (OpenMP). At the timed size, revamp's results are compared
// with the results of each peer. The program prints a line for each kernel. The columns are: the kernel's name, the
// number of threads, microseconds of revamp, microseconds of each peer, the fastest peer's time divided by revamp's
// time, the result of the check, and the constructs that the kernel contains.
//   --check  checks without timing.
//   --once   launches each kernel once, unchecked, for the driver's statistics (REVAMP_LOG=debug).
//   --n      the number of threads. By default, a number with which a launch takes 0.1 to 1 ms
//            (on the host 1 to 10 ms).
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "constructs.h"

#define SOURCE(number) void cases_##number(std::vector<Case> &all);
#include "sources.inc"
#undef SOURCE

namespace {

const int small_size = 1 << 14, max_threads = 1 << 26;
const size_t max_bytes = size_t(512) << 20;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Library {
    std::string name;
    void *(*make)(size_t) = nullptr;
    void (*destroy)(void *) = nullptr;
    const char *(*copy)(void *, const void *, size_t) = nullptr;
    const char *(*run)(const char *, void *const *, int, unsigned) = nullptr;

    Library(const std::string &library_name, const std::string &file) : name(library_name) {
        void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw std::runtime_error(dlerror());
        load(handle, "peer_new", make), load(handle, "peer_delete", destroy);
        load(handle, "peer_copy", copy), load(handle, "peer_run", run);
    }

  private:
    template <class F> void load(void *handle, const char *symbol, F &to) {
        to = reinterpret_cast<F>(dlsym(handle, symbol));
        if (!to) throw std::runtime_error(symbol);
    }
};

// A kernel and its buffers in one implementation: revamp or a peer.
class Side {
  public:
    virtual ~Side() = default;
    virtual void run(unsigned times) = 0; // launches `times` times and waits
    virtual void download(size_t buffer, Bytes &to) = 0;
};

class RevampSide final : public Side {
    const Case &kernel;
    int n;
    Device device;

  public:
    RevampSide(const Case &c, int threads, const std::vector<Bytes> &data, const accelerator_view &view)
        : kernel(c), n(threads), device(data, view) {}
    void run(unsigned times) override {
        for (unsigned i = 0; i < times; i++)
            kernel.amp(device, n);
        device.view.wait();
    }
    void download(size_t buffer, Bytes &to) override { device.download(buffer, to.data()); }
};

class PeerSide final : public Side {
    const Case &kernel;
    int n;
    const Library &library;
    std::vector<void *> memory;

    static void check(const char *error) {
        if (error) throw std::runtime_error(error);
    }

  public:
    PeerSide(const Case &c, int threads, const std::vector<Bytes> &data, const Library &in)
        : kernel(c), n(threads), library(in) {
        for (const Bytes &bytes : data) {
            memory.push_back(library.make(bytes.size()));
            if (!memory.back()) throw std::runtime_error(library.name + ": out of memory");
            check(library.copy(memory.back(), bytes.data(), bytes.size()));
        }
    }
    ~PeerSide() override {
        for (void *each : memory)
            library.destroy(each);
    }
    void run(unsigned times) override { check(library.run(kernel.name, memory.data(), n, times)); }
    void download(size_t buffer, Bytes &to) override { check(library.copy(to.data(), memory[buffer], to.size())); }
};

// The initial data of a kernel with n threads. Result buffers have initial data too, because kernels may read them.
std::vector<Bytes> data_of(const Case &c, int n) {
    uint64_t state = 12345;
    std::vector<Bytes> all;
    for (const BufferKind &kind : c.buffers) {
        all.emplace_back(kind.bytes(n));
        char *at = all.back().data();
        const size_t count = all.back().size() / kind.element();
        const bool sorted = std::strcmp(kind.fill, "sorted") == 0;
        for (size_t i = 0; i < count; i++)
            for (const char *letter = kind.field_letters; *letter; letter++) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                const double fraction = sorted ? static_cast<double>(i) / static_cast<double>(count)
                                               : static_cast<double>(state >> 40) / (1 << 24);
                const double value = kind.low + (kind.high - kind.low) * fraction;
                if (*letter == 'd') {
                    std::memcpy(at, &value, 8), at += 8;
                    continue;
                }
                const float real = static_cast<float>(value);
                const int whole = static_cast<int>(kind.high > 1 ? value : 4096 * fraction);
                if (*letter == 'f') std::memcpy(at, &real, 4);
                if (*letter == 'i') std::memcpy(at, &whole, 4);
                at += 4;
            }
    }
    return all;
}

double number(char letter, const char *at) {
    double d = 0;
    float f = 0;
    int i = 0;
    if (letter == 'd') return std::memcpy(&d, at, 8), d;
    if (letter == 'f') return std::memcpy(&f, at, 4), static_cast<double>(f);
    return std::memcpy(&i, at, 4), static_cast<double>(i);
}

// Compares the results of two sides. Returns a description of the first field with wrong values, or an empty string.
// Integers must be equal.
std::string compare(const Case &c, const std::vector<Bytes> &data, Side &got_from, Side &expected_from) {
    for (size_t b = 0; b < c.buffers.size(); b++) {
        const BufferKind &kind = c.buffers[b];
        if (!kind.result) continue;
        Bytes got(data[b].size()), expected(data[b].size());
        got_from.download(b, got), expected_from.download(b, expected);
        if (got == expected) continue;
        const size_t element = kind.element(), count = got.size() / element;
        size_t at = 0;
        for (const char *letter = kind.field_letters; *letter; at += *letter++ == 'd' ? 8 : 4) {
            if (*letter == '_') continue;
            double mean = 0;
            for (size_t i = 0; i < count; i++)
                mean += std::fabs(number(*letter, &expected[i * element + at])) / static_cast<double>(count);
            const double tolerance = *letter == 'i' ? 0 : *letter == 'f' ? std::max(c.tolerance, 1e-5) : c.tolerance;
            size_t wrong = 0, first = 0;
            double largest_error = 0;
            for (size_t i = static_cast<size_t>(kind.offset); i < count; i++) {
                const double g = number(*letter, &got[i * element + at]),
                             e = number(*letter, &expected[i * element + at]);
                const double relative_error = std::fabs(g - e) / (std::fabs(e) + mean);
                if (g == e || relative_error <= tolerance) continue;
                if (wrong++ == 0) first = i;
                largest_error = std::max(largest_error, relative_error);
            }
            if (wrong == 0) continue;
            char text[200];
            std::snprintf(text, sizeof text,
                          "%zu of %zu wrong in buffer %zu, byte %zu; first %zu: %.9g, expected %.9g; up to %.2g", wrong,
                          count, b, at, first, number(*letter, &got[first * element + at]),
                          number(*letter, &expected[first * element + at]), largest_error);
            return text;
        }
    }
    return "";
}

struct Options {
    accelerator_view view = accelerator().get_default_view();
    std::unique_ptr<Library> reference;
    std::vector<Library> peers;
    bool check = false, once = false, host = false;
    int n = 0;
    double seconds = 1e9;
    std::vector<std::string> only;
};

using MakeSide = std::function<std::unique_ptr<Side>(int n, const std::vector<Bytes> &data)>;

// Returns the functions that create the sides: first for revamp, then for each peer.
std::vector<MakeSide> sides_of(const Case &c, const Options &o) {
    std::vector<MakeSide> all = {[&](int n, const std::vector<Bytes> &data) -> std::unique_ptr<Side> {
        return std::make_unique<RevampSide>(c, n, data, o.view);
    }};
    for (const Library &peer : o.peers)
        all.push_back([&](int n, const std::vector<Bytes> &data) -> std::unique_ptr<Side> {
            return std::make_unique<PeerSide>(c, n, data, peer);
        });
    return all;
}

std::string check_small(const Case &c, const Options &o, const std::vector<MakeSide> &sides, int n) {
    const std::vector<Bytes> data = data_of(c, n);
    PeerSide reference_side(c, n, data, *o.reference);
    reference_side.run(1);
    for (size_t s = 0; s < sides.size(); s++) {
        const auto side = sides[s](n, data);
        side->run(1);
        const std::string wrong = compare(c, data, *side, reference_side);
        if (!wrong.empty()) return (s ? o.peers[s - 1].name : "ours") + ": " + wrong;
    }
    return "";
}

double time_of(Side &side, unsigned times) {
    const double start = now();
    side.run(times);
    return (now() - start) / times;
}

size_t bytes_of(const Case &c, int n) {
    size_t sum = 0;
    for (const BufferKind &kind : c.buffers)
        sum += kind.bytes(n);
    return sum;
}

// Returns a number of threads with which a launch takes between `min_seconds` and ten times `min_seconds`.
int choose_thread_count(const Case &c, const MakeSide &make, double min_seconds) {
    int n = 1 << 16;
    for (int tries = 0; tries < 5; tries++) {
        const std::vector<Bytes> data = data_of(c, n);
        const auto side = make(n, data);
        side->run(1);
        const double once = std::min(time_of(*side, 4), time_of(*side, 4));
        const int before = n;
        if (once < min_seconds)
            for (double time = once; time < 1.5 * min_seconds && n < max_threads && bytes_of(c, 2 * n) <= max_bytes;
                 time *= 2)
                n *= 2;
        else
            for (double time = once; time > 10 * min_seconds && n > 4096; time /= 2)
                n /= 2;
        if (n == before) break;
    }
    return n;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Returns false if a result is wrong.
bool run(const Case &c, const Options &o) {
    const std::vector<MakeSide> sides = sides_of(c, o);
    std::fprintf(stderr, "kernel %s\n", c.name);
    if (o.once) {
        const int n = o.n ? o.n : small_size;
        sides[0](n, data_of(c, n))->run(1);
        return true;
    }
    std::string wrong = o.reference ? check_small(c, o, sides, o.n ? o.n : small_size) : "";
    if (o.check) {
        std::printf("%s\t%s\n", c.name, wrong.empty() ? "right" : wrong.c_str());
        return wrong.empty();
    }
    const int n = o.n      ? o.n
                  : o.host ? choose_thread_count(c, sides.front(), 1e-3)
                           : choose_thread_count(c, sides.back(), 1e-4);
    const std::vector<Bytes> data = data_of(c, n);
    std::vector<std::unique_ptr<Side>> all;
    for (const MakeSide &make : sides)
        all.push_back(make(n, data)), all.back()->run(1);
    for (size_t s = 1; s < all.size() && wrong.empty(); s++)
        if (wrong = compare(c, data, *all[0], *all[s]); !wrong.empty())
            wrong = "against " + o.peers[s - 1].name + ": " + wrong;
    // In each round, all sides are timed for the same number of launches. An untimed launch precedes the timed ones,
    // because a GPU takes 0.2 ms to switch between contexts. Odd rounds run the sides in reverse order.
    const unsigned times = static_cast<unsigned>(std::clamp(0.004 / time_of(*all.back(), 1), 1.0, 100.0));
    std::vector<std::vector<double>> samples(all.size());
    for (int round = 0; round < 7; round++)
        for (size_t s = 0; s < all.size(); s++) {
            const size_t side_index = round % 2 ? all.size() - 1 - s : s;
            // Threads of the side that ran before may spin for a while, and would take processors from this side.
            if (o.host) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            all[side_index]->run(1);
            samples[side_index].push_back(time_of(*all[side_index], times));
        }
    std::printf("%s\t%d", c.name, n);
    double best = 0;
    for (size_t s = 0; s < all.size(); s++) {
        std::printf("\t%.2f", 1e6 * median(samples[s]));
        if (s && (best == 0 || median(samples[s]) < best)) best = median(samples[s]);
    }
    std::printf("\t%.3f\t%s\t%s\n", best / median(samples[0]), wrong.empty() ? "right" : wrong.c_str(), c.constructs);
    return wrong.empty();
}

Options read(int argc, char **argv) {
    Options o;
    for (int i = 1; i < argc; i++) {
        const std::string option = argv[i];
        if (option == "--check" || option == "--once") {
            (option == "--check" ? o.check : o.once) = true;
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error(option + " needs a value, or is not an option");
        const std::string value = argv[++i];
        if (option == "--device")
            o.host = value == "host", o.view = accelerator(std::wstring(value.begin(), value.end())).get_default_view();
        else if (option == "--reference")
            o.reference = std::make_unique<Library>("reference", value);
        else if (option == "--peer")
            o.peers.emplace_back(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
        else if (option == "--n")
            o.n = std::atoi(value.c_str());
        else if (option == "--seconds")
            o.seconds = std::atof(value.c_str());
        else if (option == "--only")
            o.only.push_back(value);
        else
            throw std::runtime_error("no such option: " + option);
    }
    if (!o.host && o.view.accelerator.device_path.rfind(L"vulkan", 0) != 0)
        throw std::runtime_error("no Vulkan device was found; --device host times host threads");
    return o;
}

} // namespace

int main(int argc, char **argv) {
    int failed = 0;
    try {
        const Options o = read(argc, argv);
        std::vector<Case> all;
#define SOURCE(number) cases_##number(all);
#include "sources.inc"
        std::sort(all.begin(), all.end(), [](const Case &a, const Case &b) { return std::strcmp(a.name, b.name) < 0; });
        std::setvbuf(stdout, nullptr, _IOLBF, 0);
        const double end = now() + o.seconds;
        for (const Case &c : all) {
            if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), c.name) == o.only.end()) continue;
            if (now() > end) {
                std::printf("%s\tnot run: out of time\n", c.name);
                continue;
            }
            try {
                failed += !run(c, o);
            } catch (const std::exception &e) {
                std::printf("%s\tfailed: %s\n", c.name, e.what()), failed++;
            }
        }
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return failed != 0;
}
