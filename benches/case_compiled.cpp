// C++ AMP lambdas, compiled by the kernel compiler, against the same algorithms in CUDA C++ and in GLSL with bindings.
// A measurement is many launches in a row and one wait, so that what launching costs does not count; one launch comes
// before it, since the GPU takes 0.2 ms to turn from one side's context to another's.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "bench.h"
#include "compiled_kernels.h"

namespace {

struct Plan {
    Work work;
    const char *name;
    size_t n;                            // size of the problem
    unsigned launches;                   // that take some 10 ms
    double bytes;                        // of one launch, where memory bounds it
    std::vector<const Shader *> shaders; // one after the other
    std::vector<std::vector<uint32_t>> groups;
};

Plan plan_of(Work work, bool soft) {
    Plan p{work, "", 0, 1, 0, {}, {}};
    auto many = [soft](unsigned launches) { return soft ? 1 : launches; };
    // Software devices: within 65535 groups.
    const size_t line = soft ? size_t{4} << 20 : size_t{64} << 20, matrix = soft ? 256 : 4096;
    const auto wide = [](size_t n) { return std::vector<uint32_t>{uint32_t(n / 32), uint32_t(n / 8)}; };
    switch (work) {
    case Work::saxpy:
        p = {work, "saxpy", line, many(40), 12.0 * double(line), {&compiled_saxpy_shader}, {{uint32_t(line / 256), 1}}};
        break;
    case Work::matmul:
        p = {work, "matrix product", matrix, 1, 0, {&compiled_matmul_shader}, {wide(matrix)}};
        break;
    case Work::tiled_matmul:
        p = {work, "matrix product, tiles of 16 x 16", matrix, 1, 0, {&compiled_tiled_matmul_shader}, {}};
        p.groups = {{uint32_t(matrix / 16), uint32_t(matrix / 16)}};
        break;
    case Work::reduction:
        p = {work, "sum", line, many(80), 4.0 * double(line), {&compiled_reduce_shader, &compiled_reduce_last_shader},
             {}};
        p.groups = {{uint32_t(line / 4096), 1}, {1, 1}};
        break;
    case Work::nbody:
        p = {work, "n bodies", soft ? size_t{2048} : size_t{65536}, many(3), 0, {&compiled_nbody_shader}, {}};
        p.groups = {{uint32_t(p.n / 256), 1}};
        break;
    case Work::stencil:
        p.n = soft ? 2048 : 8192;
        p = {work,       "stencil of 5 points", p.n, many(50), 8.0 * double(p.n * p.n), {&compiled_stencil_shader},
             {wide(p.n)}};
        break;
    case Work::histogram:
        p = {work, "histogram of 256 bins", line, many(50), 4.0 * double(line), {&compiled_histogram_shader}, {}};
        p.groups = {{uint32_t(line / 16384), 1}};
        break;
    }
    return p;
}

// Numbers that floats add up without rounding, but for the bodies.
void fill(Work work, size_t n, std::vector<std::vector<uint32_t>> &buffers) {
    buffers.clear();
    for (const size_t count : buffers_of(work, n))
        buffers.emplace_back(count, 0);
    uint32_t state = 12345;
    auto next = [&state] { return state = state * 1664525 + 1013904223; };
    auto put = [](uint32_t &word, float value) { std::memcpy(&word, &value, 4); };
    const size_t inputs = work == Work::saxpy || work == Work::matmul || work == Work::tiled_matmul ? 2 : 1;
    for (size_t b = 0; b < inputs; b++)
        for (uint32_t &word : buffers[b]) {
            const uint32_t random = next() >> 8;
            switch (work) {
            case Work::reduction:
                put(word, random % 8 == 0 ? 1.F : 0.F);
                break;
            case Work::nbody:
                put(word, float(random % 4096) / 4096);
                break;
            case Work::histogram:
                word = random * (random & 255);
                break;
            default:
                put(word, float(random % 8));
                break;
            }
        }
}

// Throws if `out`, of `launches` launches, is not what comes of `in`.
void verify(Work work, size_t n, unsigned launches, const std::vector<std::vector<uint32_t>> &in,
            const std::vector<uint32_t> &out) {
    auto number = [](const std::vector<uint32_t> &of, size_t i) {
        float value;
        std::memcpy(&value, &of[i], 4);
        return value;
    };
    auto wrong = [&](size_t i, double expected) {
        throw std::runtime_error("wrong at " + std::to_string(i) + ": " + std::to_string(number(out, i)) +
                                 ", expected " + std::to_string(expected));
    };
    switch (work) {
    case Work::saxpy:
        for (size_t i = 0; i < n; i++)
            if (number(out, i) != number(in[1], i) + 2 * float(launches) * number(in[0], i)) wrong(i, number(in[1], i));
        break;
    case Work::matmul:
    case Work::tiled_matmul:
        for (size_t k = 0; k < 300; k++) {
            const size_t row = k * 7919 % n, column = k * 104729 % n;
            float sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += number(in[0], row * n + j) * number(in[1], j * n + column);
            if (number(out, row * n + column) != sum) wrong(row * n + column, sum);
        }
        break;
    case Work::reduction: {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += number(in[0], i);
        if (number(out, 0) != sum) wrong(0, sum);
        break;
    }
    case Work::nbody:
        for (size_t k = 0; k < 20; k++) {
            const size_t i = k * 7919 % n;
            double pull[3] = {}, scale = 0;
            for (size_t j = 0; j < n; j++) {
                double d[3], square = 0.01;
                for (size_t c = 0; c < 3; c++) {
                    d[c] = double(number(in[0], 4 * j + c)) - double(number(in[0], 4 * i + c));
                    square += d[c] * d[c];
                }
                const double s = double(number(in[0], 4 * j + 3)) / (square * std::sqrt(square));
                for (size_t c = 0; c < 3; c++)
                    pull[c] += d[c] * s, scale += std::fabs(d[c] * s);
            }
            for (size_t c = 0; c < 3; c++)
                if (!(std::fabs(double(number(out, 4 * i + c)) - pull[c]) <= 1e-5 * scale)) wrong(4 * i + c, pull[c]);
        }
        break;
    case Work::stencil:
        for (size_t i = 0; i < n * n; i++) {
            const size_t y = i / n, x = i % n;
            float expected = number(in[0], i);
            if (y > 0 && x > 0 && y + 1 < n && x + 1 < n)
                expected = 0.5F * expected + 0.125F * (number(in[0], i - n) + number(in[0], i + n) +
                                                       number(in[0], i - 1) + number(in[0], i + 1));
            if (number(out, i) != expected) wrong(i, expected);
        }
        break;
    case Work::histogram: {
        std::vector<uint32_t> counts(256);
        for (const uint32_t word : in[0])
            counts[word & 255] += launches;
        for (size_t i = 0; i < 256; i++)
            if (out[i] != counts[i]) wrong(i, counts[i]);
        break;
    }
    }
}

// Returns how fast ours is by CUDA, or 0.
double run(Bench &b, const Plan &p, const std::string &name) {
    std::vector<std::vector<uint32_t>> in;
    fill(p.work, p.n, in);
    const unsigned last = static_cast<unsigned>(in.size() - 1);
    std::vector<uint32_t> out(in[last].size());
    Case c;
    c.name = name;
    c.bytes = p.bytes * p.launches;
    c.goals["CUDA"] = {Goal::speed_at_least, 0.9};
    if (!b.plain->software()) c.goals["GLSL"] = {Goal::speed_at_least, 0.9};
    auto checked = [&](const auto &upload, const auto &work, const auto &download) {
        std::fill(out.begin(), out.end(), 0xA5A5A5A5);
        upload();
        work();
        download();
        verify(p.work, p.n, p.launches, in, out);
    };

    std::unique_ptr<CompiledWork> ours;
    if (b.with_ours) {
        ours = make_compiled(p.work, p.n, b.device);
        auto work = [&] { ours->run(p.launches); };
        for (unsigned i = 0; i < last; i++)
            ours->upload(i, in[i].data());
        c.ways.push_back({"revamp", "",
                          [&, work] {
                              ours->run(1);
                              return timed(work);
                          },
                          [&, work] {
                              checked([&] { ours->upload(last, in[last].data()); }, work,
                                      [&] { ours->download(last, out.data()); });
                          }});
    }

    std::vector<Buffer> buffers;
    std::vector<const Buffer *> bound;
    size_t largest = 0;
    for (const auto &words : in) {
        buffers.emplace_back(*b.plain, words.size() * 4, Memory::device);
        largest = std::max(largest, words.size() * 4);
    }
    for (const Buffer &buffer : buffers)
        bound.push_back(&buffer);
    const auto staging = b.plain->buffer(largest, Memory::readback);
    for (unsigned i = 0; i < last; i++)
        WholeCopy(*b.plain, Lane::compute, Direction::up, buffers[i], in[i].size() * 4, staging)
            .run(in[i].data(), Wait::block);
    std::vector<Pipeline> pipelines;
    for (const Shader *shader : p.shaders)
        pipelines.push_back(b.plain->pipeline(shader->words, shader->bytes, 4, bound));
    auto record = [&](unsigned launches) {
        return [&p, &pipelines, launches](VkCommandBuffer commands) {
            const auto n = static_cast<uint32_t>(p.n);
            for (unsigned i = 0; i < launches; i++)
                for (size_t k = 0; k < pipelines.size(); k++) {
                    pipelines[k].bind(commands);
                    pipelines[k].push(commands, &n, 4);
                    vk.CmdDispatch(commands, p.groups[k][0], p.groups[k][1], 1);
                    memory_barrier(commands);
                }
        };
    };
    Job one(*b.plain, Lane::compute, record(1)), job(*b.plain, Lane::compute, record(p.launches));
    WholeCopy up(*b.plain, Lane::compute, Direction::up, buffers[last], out.size() * 4, staging);
    WholeCopy down(*b.plain, Lane::compute, Direction::down, buffers[last], out.size() * 4, staging);
    auto recorded = [&] { job.run(b.plain->best_wait); };
    c.ways.push_back({"GLSL", "bindings",
                      [&] {
                          one.run(b.plain->best_wait);
                          return timed(recorded);
                      },
                      [&] {
                          checked([&] { up.run(in[last].data(), Wait::block); }, recorded,
                                  [&] { down.run(out.data(), Wait::block); });
                      }});

    std::vector<std::shared_ptr<void>> memory;
    std::vector<void *> pointers;
    if (b.cuda) {
        for (const auto &words : in) {
            memory.push_back(cuda_memory(*b.cuda, words.size() * 4, false));
            pointers.push_back(memory.back().get());
            cuda_check(b.cuda->copy(pointers.back(), words.data(), words.size() * 4));
        }
        auto launch = [&](unsigned launches) {
            cuda_check(b.cuda->work(static_cast<unsigned>(p.work), pointers.data(), static_cast<int>(p.n), launches));
        };
        auto work = [&p, launch] { launch(p.launches); };
        c.ways.push_back({"CUDA", "",
                          [launch, work] {
                              launch(1);
                              return timed(work);
                          },
                          [&, work] {
                              checked(
                                  [&] { cuda_check(b.cuda->copy(pointers[last], in[last].data(), out.size() * 4)); },
                                  work, [&] { cuda_check(b.cuda->copy(out.data(), pointers[last], out.size() * 4)); });
                          }});
    }
    const auto samples = b.run(c);
    double mine = 0, cuda = 0;
    for (const Samples &s : samples) {
        if (!s.failure.empty()) continue;
        if (s.group == "revamp") mine = s.median();
        if (s.group == "CUDA") cuda = s.median();
    }
    return mine > 0 && cuda > 0 ? cuda / mine : 0;
}

} // namespace

void bench_compiled(Bench &b) {
    double product = 0;
    unsigned count = 0;
    for (const Work work : {Work::saxpy, Work::matmul, Work::tiled_matmul, Work::reduction, Work::nbody, Work::stencil,
                            Work::histogram}) {
        const Plan p = plan_of(work, b.plain->software());
        const std::string name = std::string("compiled: ") + p.name;
        b.guarded(name, [&] {
            const double speed = run(b, p, name);
            if (speed > 0) product += std::log(speed), count++;
        });
    }
    if (count == 0) return;
    char text[64];
    std::snprintf(text, sizeof text, "%.3f over %u kernels", std::exp(product / count), count);
    b.report.fact("compiled kernels' speed by CUDA's, geometric mean", text);
    std::printf("compiled kernels' speed by CUDA's, geometric mean: %s\n", text);
}
