// Functions that all cases share (bench.h).
#include "bench.h"

#include <cstring>

void Bench::need_host_memory(size_t size) {
    if (source.size() >= size) return;
    source.resize(size, 1);
    target.resize(size, 2);
}

void Bench::refill(size_t size) {
    need_host_memory(size);
    static uint64_t state = 0x9E3779B97F4A7C15ULL;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::memcpy(&source[i], &state, 8);
    }
    std::memset(target.data(), 0xA5, size);
}

void Bench::compare(size_t size, const char *what) const {
    if (std::memcmp(source.data(), target.data(), size) == 0) return;
    size_t at = 0;
    while (source[at] == target[at])
        at++;
    throw std::runtime_error(std::string(what) + ": wrong from byte " + std::to_string(at) + " of " +
                             std::to_string(size));
}

std::vector<Samples> Bench::run(Case &c) {
    if (!with_ours) {
        std::vector<Way> peers;
        for (auto &way : c.ways)
            if (way.group != "revamp") peers.push_back(std::move(way));
        c.ways = std::move(peers);
    }
    c.effort.budget = budget;
    const auto samples = measure(c.ways, c.effort, [&] {
        if (plain) plain->warm(0.15);
    });
    report.add(c, samples);
    return samples;
}

std::string size_text(double bytes) {
    const double kib = bytes / 1024, mib = kib / 1024, gib = mib / 1024;
    auto text = [](double n, const char *unit) { return std::to_string(static_cast<long>(n)) + " " + unit; };
    return gib >= 1 ? text(gib, "GiB") : mib >= 1 ? text(mib, "MiB") : text(kib, "KiB");
}
