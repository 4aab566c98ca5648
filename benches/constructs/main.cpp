// Runs the construct matrix: checks each kernel, then times it in turns with its peers.
//   constructs [--device PATH] [--reference LIBRARY] [--peer NAME=LIBRARY]... [--check] [--once] [--n N] [--seconds S]
//   [--only K]...
// The reference library (OpenMP) says at the small size what is right; at the timed size ours is compared with the
// first peer's. A peer is a library of the same kernels in CUDA or OpenMP. Prints a line for each kernel: name,
// threads, microseconds of ours, then of each peer, the fastest peer's time by ours, the result of the check,
// constructs. --check: no times. --once: one launch of each, unchecked, for the driver's statistics (REVAMP_LOG=debug).
// --n: this many threads, not as many as take 0.1 to 1 ms (host: 1 to 10).
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

const int small_size = 1 << 14, most = 1 << 24;
const size_t most_bytes = size_t(128) << 20;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Library {
    std::string name;
    void *(*make)(size_t) = nullptr;
    void (*drop)(void *) = nullptr;
    const char *(*copy)(void *, const void *, size_t) = nullptr;
    const char *(*run)(const char *, void *const *, int, unsigned) = nullptr;

    Library(const std::string &called, const std::string &file) : name(called) {
        void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw std::runtime_error(dlerror());
        load(handle, "peer_new", make), load(handle, "peer_delete", drop);
        load(handle, "peer_copy", copy), load(handle, "peer_run", run);
    }

  private:
    template <class F> void load(void *handle, const char *symbol, F &to) {
        to = reinterpret_cast<F>(dlsym(handle, symbol));
        if (!to) throw std::runtime_error(symbol);
    }
};

// A kernel with its data on one side.
class Side {
  public:
    virtual ~Side() = default;
    virtual void run(unsigned times) = 0; // and waits
    virtual void download(size_t buffer, Bytes &to) = 0;
};

class Ours final : public Side {
    const Case &kernel;
    int n;
    Device device;

  public:
    Ours(const Case &c, int threads, const std::vector<Bytes> &data, const accelerator_view &view)
        : kernel(c), n(threads), device(data, view) {}
    void run(unsigned times) override {
        for (unsigned i = 0; i < times; i++)
            kernel.amp(device, n);
        device.view.wait();
    }
    void download(size_t buffer, Bytes &to) override { device.download(buffer, to.data()); }
};

class Theirs final : public Side {
    const Case &kernel;
    int n;
    const Library &library;
    std::vector<void *> memory;

    static void check(const char *error) {
        if (error) throw std::runtime_error(error);
    }

  public:
    Theirs(const Case &c, int threads, const std::vector<Bytes> &data, const Library &in)
        : kernel(c), n(threads), library(in) {
        for (const Bytes &bytes : data) {
            memory.push_back(library.make(bytes.size()));
            if (!memory.back()) throw std::runtime_error("no memory of " + library.name);
            check(library.copy(memory.back(), bytes.data(), bytes.size()));
        }
    }
    ~Theirs() override {
        for (void *each : memory)
            library.drop(each);
    }
    void run(unsigned times) override { check(library.run(kernel.name, memory.data(), n, times)); }
    void download(size_t buffer, Bytes &to) override { check(library.copy(to.data(), memory[buffer], to.size())); }
};

// The data of a kernel for n threads. Results begin with numbers too, since kernels may read them.
std::vector<Bytes> data_of(const Case &c, int n) {
    uint64_t state = 12345;
    std::vector<Bytes> all;
    for (const BufferKind &kind : c.buffers) {
        all.emplace_back(kind.bytes(n));
        char *at = all.back().data();
        const size_t count = all.back().size() / kind.element();
        const bool sorted = std::strcmp(kind.fill, "sorted") == 0;
        for (size_t i = 0; i < count; i++)
            for (const char *word = kind.words; *word; word++) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                const double even = sorted ? static_cast<double>(i) / static_cast<double>(count)
                                           : static_cast<double>(state >> 40) / (1 << 24);
                const double value = kind.low + (kind.high - kind.low) * even;
                if (*word == 'd') {
                    std::memcpy(at, &value, 8), at += 8;
                    continue;
                }
                const float real = static_cast<float>(value);
                const int whole = static_cast<int>(kind.high > 1 ? value : 4096 * even);
                if (*word == 'f') std::memcpy(at, &real, 4);
                if (*word == 'i') std::memcpy(at, &whole, 4);
                at += 4;
            }
    }
    return all;
}

double number(char word, const char *at) {
    double d = 0;
    float f = 0;
    int i = 0;
    if (word == 'd') return std::memcpy(&d, at, 8), d;
    if (word == 'f') return std::memcpy(&f, at, 4), static_cast<double>(f);
    return std::memcpy(&i, at, 4), static_cast<double>(i);
}

// What differs between two sides' results, or nothing. Integers must be equal.
std::string compare(const Case &c, const std::vector<Bytes> &data, Side &got_from, Side &expected_from) {
    for (size_t b = 0; b < c.buffers.size(); b++) {
        const BufferKind &kind = c.buffers[b];
        if (!kind.result) continue;
        Bytes got(data[b].size()), expected(data[b].size());
        got_from.download(b, got), expected_from.download(b, expected);
        if (got == expected) continue;
        const size_t element = kind.element(), count = got.size() / element;
        size_t at = 0;
        for (const char *word = kind.words; *word; at += *word++ == 'd' ? 8 : 4) {
            if (*word == '_') continue;
            double mean = 0;
            for (size_t i = 0; i < count; i++)
                mean += std::fabs(number(*word, &expected[i * element + at])) / static_cast<double>(count);
            const double tolerance = *word == 'i' ? 0 : *word == 'f' ? std::max(c.tolerance, 1e-5) : c.tolerance;
            size_t wrong = 0, first = 0;
            double apart = 0;
            for (size_t i = static_cast<size_t>(kind.offset); i < count; i++) {
                const double g = number(*word, &got[i * element + at]), e = number(*word, &expected[i * element + at]);
                const double off = std::fabs(g - e) / (std::fabs(e) + mean);
                if (g == e || off <= tolerance) continue;
                if (wrong++ == 0) first = i;
                apart = std::max(apart, off);
            }
            if (wrong == 0) continue;
            char text[200];
            std::snprintf(text, sizeof text,
                          "%zu of %zu wrong in buffer %zu, byte %zu; first %zu: %.9g, expected %.9g; up to %.2g", wrong,
                          count, b, at, first, number(*word, &got[first * element + at]),
                          number(*word, &expected[first * element + at]), apart);
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

using Make = std::function<std::unique_ptr<Side>(int n, const std::vector<Bytes> &data)>;

// Ours, then the peers.
std::vector<Make> sides_of(const Case &c, const Options &o) {
    std::vector<Make> all = {[&](int n, const std::vector<Bytes> &data) -> std::unique_ptr<Side> {
        return std::make_unique<Ours>(c, n, data, o.view);
    }};
    for (const Library &peer : o.peers)
        all.push_back([&](int n, const std::vector<Bytes> &data) -> std::unique_ptr<Side> {
            return std::make_unique<Theirs>(c, n, data, peer);
        });
    return all;
}

std::string check_small(const Case &c, const Options &o, const std::vector<Make> &sides, int n) {
    const std::vector<Bytes> data = data_of(c, n);
    Theirs right(c, n, data, *o.reference);
    right.run(1);
    for (size_t s = 0; s < sides.size(); s++) {
        const auto side = sides[s](n, data);
        side->run(1);
        const std::string wrong = compare(c, data, *side, right);
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

// As many threads as a side is busy with for `least` seconds or more, and less than ten times that.
int size_of(const Case &c, const Make &make, double least) {
    int n = 1 << 16;
    for (int tries = 0; tries < 5; tries++) {
        const std::vector<Bytes> data = data_of(c, n);
        const auto side = make(n, data);
        side->run(1);
        const double once = std::min(time_of(*side, 4), time_of(*side, 4));
        const int before = n;
        if (once < least)
            for (double time = once; time < 1.5 * least && n < most && bytes_of(c, 2 * n) <= most_bytes; time *= 2)
                n *= 2;
        else
            for (double time = once; time > 10 * least && n > 4096; time /= 2)
                n /= 2;
        if (n == before) break;
    }
    return n;
}

double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}

void run(const Case &c, const Options &o) {
    const std::vector<Make> sides = sides_of(c, o);
    std::fprintf(stderr, "kernel %s\n", c.name);
    if (o.once) {
        const int n = o.n ? o.n : small_size;
        sides[0](n, data_of(c, n))->run(1);
        return;
    }
    std::string wrong = o.reference ? check_small(c, o, sides, o.n ? o.n : small_size) : "";
    if (o.check) {
        std::printf("%s\t%s\n", c.name, wrong.empty() ? "right" : wrong.c_str());
        return;
    }
    const int n = o.n ? o.n : o.host ? size_of(c, sides.front(), 1e-3) : size_of(c, sides.back(), 1e-4);
    const std::vector<Bytes> data = data_of(c, n);
    std::vector<std::unique_ptr<Side>> all;
    for (const Make &make : sides)
        all.push_back(make(n, data)), all.back()->run(1);
    for (size_t s = 1; s < all.size() && wrong.empty(); s++)
        if (wrong = compare(c, data, *all[0], *all[s]); !wrong.empty())
            wrong = "against " + o.peers[s - 1].name + ": " + wrong;
    // Each turn is as long on all sides, behind a launch that does not count: a GPU takes 0.2 ms to turn from one
    // context to another.
    const unsigned times = static_cast<unsigned>(std::clamp(0.004 / time_of(*all.back(), 1), 1.0, 100.0));
    std::vector<std::vector<double>> samples(all.size());
    for (int round = 0; round < 7; round++)
        for (size_t s = 0; s < all.size(); s++) {
            const size_t turn = round % 2 ? all.size() - 1 - s : s;
            // Threads of the other side that look for more work would take this one's processor.
            if (o.host) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            all[turn]->run(1);
            samples[turn].push_back(time_of(*all[turn], times));
        }
    std::printf("%s\t%d", c.name, n);
    double best = 0;
    for (size_t s = 0; s < all.size(); s++) {
        std::printf("\t%.2f", 1e6 * median(samples[s]));
        if (s && (best == 0 || median(samples[s]) < best)) best = median(samples[s]);
    }
    std::printf("\t%.3f\t%s\t%s\n", best / median(samples[0]), wrong.empty() ? "right" : wrong.c_str(), c.constructs);
}

Options read(int argc, char **argv) {
    Options o;
    for (int i = 1; i < argc; i++) {
        const std::string option = argv[i];
        if (option == "--check" || option == "--once") {
            (option == "--check" ? o.check : o.once) = true;
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error(option + " needs a value, or is none of the options");
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
                std::printf("%s\tnot run: the time was over\n", c.name);
                continue;
            }
            try {
                run(c, o);
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
