// Counts the bytes that array_views move in programs that follow or ignore a guideline of the posts (COH-23). The peer
// is the published protocol: the number of bytes that it moves for the same program.
//
// The bytes follow from the rules of the protocol. S is the size of the matrix, R the number of its rows, N the number
// of launches:
//   A, use sections: for each row, a kernel writes the row and the host reads it.
//     whole view captured    (R + 1) S   one upload; each read downloads the whole dirty view (COH-12, COH-21)
//     row section captured   2 S         one upload and one download of each row (COH-14)
//   B, keep views alive: N launches read the same elements.
//     a view each launch     N S         a new data source for each launch (AV-8)
//     a section each launch  N S / 2     a section is half the matrix; its directory entry is dropped (COH-17)
//     one view               S           (COH-18)
//   C, make the location with most writes the home: N times, a kernel writes all elements and the host reads one.
//     home on the CPU        (N + 1) S   (COH-21)
//     home is an array       4 N         (COH-22)
// The model of the protocol, tests/rust/coherence/published.rs, moves the same numbers of bytes when it runs these
// programs and releases their views. With R = 256, S = 256 KiB, N = 16, the bytes are: 67371008, 524288, 4194304,
// 2097152, 262144, 4456448, 64.
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "bench.h"
#include "pages.h"

namespace {

constexpr int32_t R = 256, C = 256, N = 16;
constexpr uint64_t S = uint64_t{R} * C * 4;

struct Transfers {
    uint64_t bytes = 0, transfers = 0;
};

Transfers read_counters() {
    revamp_transfer_counters t{};
    t.struct_size = sizeof t;
    ours::must(revamp_get_transfers(&t), "revamp_get_transfers");
    return {t.implicit_to_bytes + t.implicit_from_bytes + t.implicit_local_bytes + t.explicit_to_bytes +
                t.explicit_from_bytes + t.explicit_local_bytes,
            t.implicit_to_count + t.implicit_from_count + t.implicit_local_count + t.explicit_to_count +
                t.explicit_from_count + t.explicit_local_count};
}

void expect(uint32_t got, uint32_t expected) {
    if (got != expected)
        throw std::runtime_error("wrong: an element is " + std::to_string(got) + ", not " + std::to_string(expected));
}

// Adds one to `count` elements of the view from `first` on.
void add_one(Bench &b, const ours::Kernel &kernel, const ours::View &view, uint32_t first, uint32_t count) {
    const AddOneBlock block{first, count, {}};
    const revamp_argument argument =
        revamp_argument_view_address(offsetof(AddOneBlock, data), view, REVAMP_ACCESS_NONE);
    revamp_dispatch_info info{};
    info.struct_size = sizeof info;
    info.groups[0] = (count + 63) / 64;
    info.groups[1] = info.groups[2] = 1;
    info.arguments = &argument;
    info.argument_count = 1;
    info.block = &block;
    info.block_size = sizeof block;
    ours::must(revamp_dispatch(b.view, kernel, &info), "revamp_dispatch");
}

// Counts the bytes that `program` moves, including the release of its views.
template <class F> Transfers count_transfers(F &&program) {
    const Transfers before = read_counters();
    program();
    const Transfers after = read_counters();
    return {after.bytes - before.bytes, after.transfers - before.transfers};
}

Transfers rows(Bench &b, bool sections) {
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    const Pages memory(S / 4);
    const Transfers m = count_transfers([&] {
        const ours::View matrix = ours::View::over(memory.data(), {R, C});
        for (int32_t i = 0; i < R; i++) {
            const ours::View row = matrix.section({i, 0}, {1, C});
            if (sections) {
                add_one(b, kernel, row, 0, C);
            } else {
                add_one(b, kernel, matrix, static_cast<uint32_t>(i * C), C);
            }
            expect(static_cast<const uint32_t *>(row.access(REVAMP_ACCESS_READ))[C - 1], 1);
        }
    });
    for (size_t i = 0; i < S / 4; i++)
        expect(memory.data()[i], 1);
    return m;
}

enum class Keep { nothing, matrix, view };

Transfers reads(Bench &b, Keep keep) {
    const ours::Kernel kernel(b.accelerator, saxpy_address_shader);
    const uint32_t count = keep == Keep::matrix ? S / 8 : S / 4;
    const Pages memory(S / 4);
    std::fill_n(reinterpret_cast<float *>(memory.data()), S / 4, 3.0F);
    // The home location of this array is the device that runs the kernels, so the array's bytes never move.
    const ours::Array sums(b.view, {static_cast<int32_t>(count)});
    std::vector<float> result(count);
    sums.upload(result.data(), size_t{count} * 4);
    auto launch = [&](const ours::View &view) {
        const ours::View input = view.read_only();
        const SaxpyBlock block{0, 0, 1, count};
        const revamp_argument arguments[] = {
            revamp_argument_view_address(offsetof(SaxpyBlock, x), input, REVAMP_ACCESS_NONE),
            revamp_argument_address(offsetof(SaxpyBlock, y), sums, REVAMP_ACCESS_READ_WRITE)};
        const auto extent = static_cast<int32_t>(count);
        const revamp_dispatch_info info = ours::over(extent, arguments, &block, sizeof block);
        ours::must(revamp_dispatch(b.view, kernel, &info), "revamp_dispatch");
    };
    const Transfers m = count_transfers([&] {
        ours::View long_lived;
        if (keep != Keep::nothing) long_lived = ours::View::over(memory.data(), {R, C});
        for (int32_t i = 0; i < N; i++) {
            if (keep == Keep::view) {
                launch(long_lived);
            } else if (keep == Keep::matrix) {
                launch(long_lived.section({0, 0}, {R / 2, C}));
            } else {
                launch(ours::View::over(memory.data(), {R, C}));
            }
        }
    });
    sums.download(result.data(), size_t{count} * 4);
    for (const float v : result)
        expect(static_cast<uint32_t>(v), 3 * N);
    return m;
}

Transfers elements(Bench &b, bool home_is_array) {
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    const Pages memory(S / 4);
    const ours::Array array(b.view, {R, C});
    array.upload(memory.data(), S);
    const Transfers m = count_transfers([&] {
        const ours::View matrix = home_is_array ? ours::View::over(array) : ours::View::over(memory.data(), {R, C});
        const ours::View element_view = matrix.section({R / 2, 0}, {1, 1});
        for (uint32_t i = 1; i <= N; i++) {
            add_one(b, kernel, matrix, 0, S / 4);
            expect(*static_cast<const uint32_t *>(element_view.access(REVAMP_ACCESS_READ)), i);
        }
    });
    if (home_is_array) array.download(memory.data(), S);
    for (size_t i = 0; i < S / 4; i++)
        expect(memory.data()[i], N);
    return m;
}

struct Program {
    const char *name;
    uint64_t published;
    Transfers (*run)(Bench &);
};

const Program programs[] = {
    {"A, use sections: whole view captured for each row", (R + 1) * S, [](Bench &b) { return rows(b, false); }},
    {"A, use sections: row section captured for each row", 2 * S, [](Bench &b) { return rows(b, true); }},
    {"B, keep views alive: a view of the memory for each launch", N *S,
     [](Bench &b) { return reads(b, Keep::nothing); }},
    {"B, keep views alive: a section for each launch", N *S / 2, [](Bench &b) { return reads(b, Keep::matrix); }},
    {"B, keep views alive: one view for all launches", S, [](Bench &b) { return reads(b, Keep::view); }},
    {"C, home where most writes occur: host memory", (N + 1) * S, [](Bench &b) { return elements(b, false); }},
    {"C, home where most writes occur: array", 4 * N, [](Bench &b) { return elements(b, true); }},
};

// True if the device uses host memory in place, so that nothing moves.
bool shares_memory(Bench &b) {
    const Pages memory(1 << 16);
    const ours::View view = ours::View::over(memory.data(), {1 << 16});
    revamp_residency r{};
    r.struct_size = sizeof r;
    ours::must(revamp_array_view_get_residency(view, b.view, &r), "revamp_array_view_get_residency");
    return r.shares_home;
}

// Runs the programs in a child process whose accelerators have separate memory. A process cannot change its memory
// mode.
std::vector<Transfers> run_with_separate_memory(const Bench &b) {
    char program_path[4096];
    const ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    if (length <= 0) throw std::runtime_error("/proc/self/exe");
    program_path[length] = 0;
    const std::string command =
        std::string("REVAMP_MEMORY=separate '") + program_path + "' --bytes-moved --device '" + b.device + "'";
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    std::vector<Transfers> counts;
    unsigned long long bytes, transfers;
    while (std::fscanf(pipe, "%llu %llu", &bytes, &transfers) == 2)
        counts.push_back({bytes, transfers});
    if (pclose(pipe) != 0 || counts.size() != std::size(programs)) throw std::runtime_error("failed: " + command);
    return counts;
}

} // namespace

void print_view_bytes(Bench &b) {
    if (shares_memory(b)) throw std::runtime_error("memory is shared in spite of REVAMP_MEMORY=separate");
    for (const Program &p : programs) {
        const Transfers m = p.run(b);
        std::printf("%llu %llu\n", static_cast<unsigned long long>(m.bytes),
                    static_cast<unsigned long long>(m.transfers));
    }
}

void bench_view_bytes(Bench &b) {
    if (!b.with_ours) return;
    std::vector<Transfers> with_separate_memory;
    for (size_t n = 0; n < std::size(programs); n++) {
        const std::string name = std::string("bytes moved, ") + programs[n].name;
        b.guarded(name, [&] {
            const bool shared = shares_memory(b);
            if (shared && with_separate_memory.empty()) with_separate_memory = run_with_separate_memory(b);
            const Transfers m = shared ? with_separate_memory[n] : programs[n].run(b);
            b.report.add_bytes(name, m.bytes, m.transfers, "published protocol", programs[n].published);
        });
    }
}
