// Benchmarks of C++ AMP lambdas, compiled by the kernel compiler. The peers are the same algorithms in CUDA C++, and in
// GLSL with bindings. A measurement is many launches in a row and one wait, so that the launch overhead is negligible.
// An untimed launch precedes each measurement, because the GPU takes 0.2 ms to switch between the contexts of two APIs.
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
    unsigned launches;                   // the number of launches that take about 10 ms together
    double bytes;                        // bytes that one launch moves; 0 if memory does not limit the speed
    std::vector<const Shader *> shaders; // dispatched one after the other
    std::vector<std::vector<uint32_t>> groups;
};

Plan plan_of(Work work, bool soft) {
    Plan p{work, "", 0, 1, 0, {}, {}};
    auto launch_count = [soft](unsigned launches) { return soft ? 1 : launches; };
    // The problems are smaller on software devices, which allow at most 65535 workgroups.
    const size_t vector_size = soft ? size_t{4} << 20 : size_t{64} << 20, matrix = soft ? 256 : 4096;
    const auto groups_32x8 = [](size_t n) { return std::vector<uint32_t>{uint32_t(n / 32), uint32_t(n / 8)}; };
    switch (work) {
    case Work::saxpy:
        p = {work,
             "saxpy",
             vector_size,
             launch_count(40),
             12.0 * double(vector_size),
             {&compiled_saxpy_shader},
             {{uint32_t(vector_size / 256), 1}}};
        break;
    case Work::matmul:
        p = {work, "matrix product", matrix, 1, 0, {&compiled_matmul_shader}, {groups_32x8(matrix)}};
        break;
    case Work::tiled_matmul:
        p = {work, "matrix product, tiles of 16 x 16", matrix, 1, 0, {&compiled_tiled_matmul_shader}, {}};
        p.groups = {{uint32_t(matrix / 16), uint32_t(matrix / 16)}};
        break;
    case Work::reduction:
        p = {work,
             "sum",
             vector_size,
             launch_count(80),
             4.0 * double(vector_size),
             {&compiled_reduce_shader, &compiled_reduce_last_shader},
             {}};
        p.groups = {{uint32_t(vector_size / 4096), 1}, {1, 1}};
        break;
    case Work::nbody:
        p = {work, "n bodies", soft ? size_t{2048} : size_t{65536}, launch_count(3), 0, {&compiled_nbody_shader}, {}};
        p.groups = {{uint32_t(p.n / 256), 1}};
        break;
    case Work::stencil:
        p.n = soft ? 2048 : 8192;
        p = {work,
             "stencil of 5 points",
             p.n,
             launch_count(50),
             8.0 * double(p.n * p.n),
             {&compiled_stencil_shader},
             {groups_32x8(p.n)}};
        break;
    case Work::histogram:
        p = {work,
             "histogram of 256 bins",
             vector_size,
             launch_count(50),
             4.0 * double(vector_size),
             {&compiled_histogram_shader},
             {}};
        p.groups = {{uint32_t(vector_size / 16384), 1}};
        break;
    }
    return p;
}

// Fills the inputs. Sums of these numbers are exact in float, except for N-body.
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

// Throws if `out` is not the result of `launches` launches on `in`.
void verify(Work work, size_t n, unsigned launches, const std::vector<std::vector<uint32_t>> &in,
            const std::vector<uint32_t> &out) {
    auto float_at = [](const std::vector<uint32_t> &word_buffer, size_t i) {
        float value;
        std::memcpy(&value, &word_buffer[i], 4);
        return value;
    };
    auto throw_mismatch = [&](size_t i, double expected) {
        throw std::runtime_error("wrong at " + std::to_string(i) + ": " + std::to_string(float_at(out, i)) +
                                 ", expected " + std::to_string(expected));
    };
    switch (work) {
    case Work::saxpy:
        for (size_t i = 0; i < n; i++) {
            const float expected = float_at(in[1], i) + 2 * float(launches) * float_at(in[0], i);
            if (float_at(out, i) != expected) throw_mismatch(i, expected);
        }
        break;
    case Work::matmul:
    case Work::tiled_matmul:
        for (size_t k = 0; k < 300; k++) {
            const size_t row = k * 7919 % n, column = k * 104729 % n;
            float sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += float_at(in[0], row * n + j) * float_at(in[1], j * n + column);
            if (float_at(out, row * n + column) != sum) throw_mismatch(row * n + column, sum);
        }
        break;
    case Work::reduction: {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += float_at(in[0], i);
        if (float_at(out, 0) != sum) throw_mismatch(0, sum);
        break;
    }
    case Work::nbody:
        for (size_t k = 0; k < 20; k++) {
            const size_t i = k * 7919 % n;
            double pull[3] = {}, scale = 0;
            for (size_t j = 0; j < n; j++) {
                double d[3], square = 0.01;
                for (size_t c = 0; c < 3; c++) {
                    d[c] = double(float_at(in[0], 4 * j + c)) - double(float_at(in[0], 4 * i + c));
                    square += d[c] * d[c];
                }
                const double s = double(float_at(in[0], 4 * j + 3)) / (square * std::sqrt(square));
                for (size_t c = 0; c < 3; c++)
                    pull[c] += d[c] * s, scale += std::fabs(d[c] * s);
            }
            for (size_t c = 0; c < 3; c++)
                if (!(std::fabs(double(float_at(out, 4 * i + c)) - pull[c]) <= 1e-5 * scale))
                    throw_mismatch(4 * i + c, pull[c]);
        }
        break;
    case Work::stencil:
        for (size_t i = 0; i < n * n; i++) {
            const size_t y = i / n, x = i % n;
            float expected = float_at(in[0], i);
            if (y > 0 && x > 0 && y + 1 < n && x + 1 < n)
                expected = 0.5F * expected + 0.125F * (float_at(in[0], i - n) + float_at(in[0], i + n) +
                                                       float_at(in[0], i - 1) + float_at(in[0], i + 1));
            if (float_at(out, i) != expected) throw_mismatch(i, expected);
        }
        break;
    case Work::histogram: {
        std::vector<uint32_t> counts(256);
        for (const uint32_t word : in[0])
            counts[word & 255] += launches;
        for (size_t i = 0; i < 256; i++)
            if (out[i] != counts[i]) throw_mismatch(i, counts[i]);
        break;
    }
    }
}

// Returns CUDA's time divided by revamp's, or 0 if one of them was not measured.
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
    auto run_checked = [&](const auto &upload, const auto &work, const auto &download) {
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
                              run_checked([&] { ours->upload(last, in[last].data()); }, work,
                                          [&] { ours->download(last, out.data()); });
                          }});
    }

    std::vector<Buffer> buffers;
    std::vector<const Buffer *> bound_buffers;
    size_t largest = 0;
    for (const auto &words : in) {
        buffers.emplace_back(*b.plain, words.size() * 4, Memory::device);
        largest = std::max(largest, words.size() * 4);
    }
    for (const Buffer &buffer : buffers)
        bound_buffers.push_back(&buffer);
    const auto staging = b.plain->buffer(largest, Memory::readback);
    for (unsigned i = 0; i < last; i++)
        WholeCopy(*b.plain, Lane::compute, Direction::up, buffers[i], in[i].size() * 4, staging)
            .run(in[i].data(), Wait::block);
    std::vector<Pipeline> pipelines;
    for (const Shader *shader : p.shaders)
        pipelines.push_back(b.plain->pipeline(shader->words, shader->bytes, 4, bound_buffers));
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
    Job single_launch(*b.plain, Lane::compute, record(1)), job(*b.plain, Lane::compute, record(p.launches));
    WholeCopy up(*b.plain, Lane::compute, Direction::up, buffers[last], out.size() * 4, staging);
    WholeCopy down(*b.plain, Lane::compute, Direction::down, buffers[last], out.size() * 4, staging);
    auto run_recorded = [&] { job.run(b.plain->best_wait); };
    c.ways.push_back({"GLSL", "bindings",
                      [&] {
                          single_launch.run(b.plain->best_wait);
                          return timed(run_recorded);
                      },
                      [&] {
                          run_checked([&] { up.run(in[last].data(), Wait::block); }, run_recorded,
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
                              run_checked(
                                  [&] { cuda_check(b.cuda->copy(pointers[last], in[last].data(), out.size() * 4)); },
                                  work, [&] { cuda_check(b.cuda->copy(out.data(), pointers[last], out.size() * 4)); });
                          }});
    }
    const auto samples = b.run(c);
    double revamp_seconds = 0, cuda = 0;
    for (const Samples &s : samples) {
        if (!s.failure.empty()) continue;
        if (s.group == "revamp") revamp_seconds = s.median();
        if (s.group == "CUDA") cuda = s.median();
    }
    return revamp_seconds > 0 && cuda > 0 ? cuda / revamp_seconds : 0;
}

} // namespace

void bench_compiled(Bench &b) {
    double log_sum = 0;
    unsigned count = 0;
    for (const Work work : {Work::saxpy, Work::matmul, Work::tiled_matmul, Work::reduction, Work::nbody, Work::stencil,
                            Work::histogram}) {
        const Plan p = plan_of(work, b.plain->software());
        const std::string name = std::string("compiled: ") + p.name;
        b.guarded(name, [&] {
            const double speed = run(b, p, name);
            if (speed > 0) log_sum += std::log(speed), count++;
        });
    }
    if (count == 0) return;
    char text[64];
    std::snprintf(text, sizeof text, "%.3f over %u kernels", std::exp(log_sum / count), count);
    b.report.fact("compiled kernels' speed by CUDA's, geometric mean", text);
    std::printf("compiled kernels' speed by CUDA's, geometric mean: %s\n", text);
}
