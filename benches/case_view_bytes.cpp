// Bytes that array_views move where the posts give a guideline (COH-23), each in a good and a bad form, beside what the
// published protocol moves for the same program.
//
// The protocol's bytes come from its rules; S is the size of the matrix, R its rows, N the launches:
//   A, use sections: R times a kernel writes one row and the host reads that row.
//     whole view captured    (R + 1) S   up once; each read brings the whole dirty view home (COH-12, COH-21)
//     row section captured   2 S         each row up and down once (COH-14)
//   B, keep views alive: N launches read the same elements.
//     a view each launch     N S         another data source each time (AV-8)
//     a section each launch  N S / 2     half the matrix, the matrix's own view being alive: its entry goes (COH-17)
//     one view               S           (COH-18)
//   C, home the data where most writes occur: N times a kernel writes all and the host reads one element.
//     home on the CPU        (N + 1) S   (COH-21)
//     home is an array       4 N         (COH-22)
// tests/rust/coherence/published.rs, the model of the protocol, gives the same when it runs these programs, releases
// included. With R = 256, S = 256 KiB, N = 16: 67371008, 524288, 4194304, 2097152, 262144, 4456448, 64.
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "bench.h"
#include "pages.h"

namespace {

constexpr int32_t R = 256, C = 256, N = 16;
constexpr uint64_t S = uint64_t{R} * C * 4;

struct Moved {
    uint64_t bytes = 0, transfers = 0;
};

Moved moved() {
    revamp_transfer_counters t{};
    t.struct_size = sizeof t;
    ours::must(revamp_get_transfers(&t), "revamp_get_transfers");
    return {t.implicit_to_bytes + t.implicit_from_bytes + t.implicit_local_bytes + t.explicit_to_bytes +
                t.explicit_from_bytes + t.explicit_local_bytes,
            t.implicit_to_count + t.implicit_from_count + t.implicit_local_count + t.explicit_to_count +
                t.explicit_from_count + t.explicit_local_count};
}

void expect(uint32_t got, uint32_t wanted) {
    if (got != wanted)
        throw std::runtime_error("wrong: an element is " + std::to_string(got) + ", not " + std::to_string(wanted));
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

// What `program` moves, the release of its views included.
template <class F> Moved moved_by(F &&program) {
    const Moved before = moved();
    program();
    const Moved after = moved();
    return {after.bytes - before.bytes, after.transfers - before.transfers};
}

Moved rows(Bench &b, bool sections) {
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    const Pages memory(S / 4);
    const Moved m = moved_by([&] {
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

Moved reads(Bench &b, Keep keep) {
    const ours::Kernel kernel(b.accelerator, saxpy_address_shader);
    const uint32_t count = keep == Keep::matrix ? S / 8 : S / 4;
    const Pages memory(S / 4);
    std::fill_n(reinterpret_cast<float *>(memory.data()), S / 4, 3.0F);
    // At home where the kernels run: nothing of it moves.
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
    const Moved m = moved_by([&] {
        ours::View kept;
        if (keep != Keep::nothing) kept = ours::View::over(memory.data(), {R, C});
        for (int32_t i = 0; i < N; i++) {
            if (keep == Keep::view) {
                launch(kept);
            } else if (keep == Keep::matrix) {
                launch(kept.section({0, 0}, {R / 2, C}));
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

Moved elements(Bench &b, bool home_is_array) {
    const ours::Kernel kernel(b.accelerator, add_one_shader);
    const Pages memory(S / 4);
    const ours::Array array(b.view, {R, C});
    array.upload(memory.data(), S);
    const Moved m = moved_by([&] {
        const ours::View matrix = home_is_array ? ours::View::over(array) : ours::View::over(memory.data(), {R, C});
        const ours::View one = matrix.section({R / 2, 0}, {1, 1});
        for (uint32_t i = 1; i <= N; i++) {
            add_one(b, kernel, matrix, 0, S / 4);
            expect(*static_cast<const uint32_t *>(one.access(REVAMP_ACCESS_READ)), i);
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
    Moved (*run)(Bench &);
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

// True if the device uses host memory where it is, so that nothing moves.
bool shares_memory(Bench &b) {
    const Pages memory(1 << 16);
    const ours::View view = ours::View::over(memory.data(), {1 << 16});
    revamp_residency r{};
    r.struct_size = sizeof r;
    ours::must(revamp_array_view_get_residency(view, b.view, &r), "revamp_array_view_get_residency");
    return r.shares_home;
}

// The programs in a process whose accelerators have private memory, as it is decided once in a process.
std::vector<Moved> run_apart(const Bench &b) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) throw std::runtime_error("/proc/self/exe");
    self[length] = 0;
    const std::string command =
        std::string("REVAMP_MEMORY=separate '") + self + "' --bytes-moved --device '" + b.device + "'";
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    std::vector<Moved> all;
    unsigned long long bytes, transfers;
    while (std::fscanf(pipe, "%llu %llu", &bytes, &transfers) == 2)
        all.push_back({bytes, transfers});
    if (pclose(pipe) != 0 || all.size() != std::size(programs)) throw std::runtime_error("failed: " + command);
    return all;
}

} // namespace

void print_view_bytes(Bench &b) {
    if (shares_memory(b)) throw std::runtime_error("memory is shared in spite of REVAMP_MEMORY=separate");
    for (const Program &p : programs) {
        const Moved m = p.run(b);
        std::printf("%llu %llu\n", static_cast<unsigned long long>(m.bytes),
                    static_cast<unsigned long long>(m.transfers));
    }
}

void bench_view_bytes(Bench &b) {
    if (!b.with_ours) return;
    std::vector<Moved> apart;
    for (size_t n = 0; n < std::size(programs); n++) {
        const std::string name = std::string("bytes moved, ") + programs[n].name;
        b.guarded(name, [&] {
            const bool shared = shares_memory(b);
            if (shared && apart.empty()) apart = run_apart(b);
            const Moved m = shared ? apart[n] : programs[n].run(b);
            b.report.add_bytes(name, m.bytes, m.transfers, "published protocol", programs[n].published);
        });
    }
}
