// Benchmark of copies that overlap with kernels. The device processes a long input in chunks: while a kernel works on
// one chunk, the next chunk is uploaded and the previous chunk is downloaded. The pipeline cannot
// take less time than the copies alone or the kernels alone.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench.h"

namespace {

constexpr size_t MiB = 1 << 20;
constexpr size_t slots = 3; // the number of arrays on the device. Chunk k uses slot k % slots
constexpr double goal = 0.9;

struct Shape {
    size_t chunk; // bytes
    size_t count;
    size_t words() const { return chunk / 4; }
};

// The operations on each chunk.
struct Parts {
    bool copies, kernels;
};
constexpr Parts copies_and_kernels{true, true}, copies_alone{true, false}, kernels_alone{false, true};

uint32_t scrambled(uint32_t v, uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++)
        v = (v ^ v >> 15) * 0x2c1b3c6dU + r;
    return v;
}

uint32_t input_at(size_t chunk, size_t i, uint32_t seed) {
    return static_cast<uint32_t>((chunk * 40503 + i) * 2654435761U + seed);
}

// ---- revamp: staging arrays on the CPU, copied asynchronously to and from arrays on the device

class RevampPipeline {
  public:
    // `views`: the number of accelerator_views; 1, or one for each slot.
    RevampPipeline(Bench &b, Shape shape, size_t views) : shape_(shape), kernel_(b.accelerator, overlap_shader) {
        for (size_t i = 0; i < views; i++) {
            views_.emplace_back();
            ours::must(
                revamp_accelerator_create_view(b.accelerator, REVAMP_QUEUING_MODE_IMMEDIATE, &views_.back().handle),
                "revamp_accelerator_create_view");
        }
        const auto extent = static_cast<int32_t>(shape.words());
        auto array = [&](revamp_accelerator_view view, revamp_accelerator_view associated) {
            return std::make_unique<ours::Array>(view, std::initializer_list<int32_t>{extent}, associated);
        };
        for (size_t i = 0; i < slots; i++)
            values_.push_back(array(view(i), nullptr));
        for (size_t k = 0; k < shape.count; k++) {
            input_.push_back(array(b.cpu_view, view(k % slots)));
            output_.push_back(array(b.cpu_view, view(k % slots)));
        }
    }
    void *input(size_t chunk) { return input_[chunk]->data(REVAMP_ACCESS_WRITE); }
    void *output(size_t chunk, revamp_access access) { return output_[chunk]->data(access); }

    void run(Parts parts, uint32_t rounds) {
        std::vector<revamp_completion> sent(shape_.count), received(shape_.count);
        auto finish = [&](size_t k) {
            for (const revamp_completion completion : {sent[k], received[k]}) {
                ours::must(revamp_completion_get(completion), "revamp_completion_get");
                revamp_completion_release(completion);
            }
        };
        for (size_t k = 0; k < shape_.count; k++) {
            // Waits like a program that has one staging array for each slot, and refills that array here.
            if (parts.copies && k >= slots) finish(k - slots);
            const ours::Array &values = *values_[k % slots];
            if (parts.copies) sent[k] = copy(*input_[k], values);
            if (parts.kernels) launch(view(k % slots), values, rounds);
            if (parts.copies) received[k] = copy(values, *output_[k]);
        }
        for (size_t k = shape_.count - slots; parts.copies && k < shape_.count; k++)
            finish(k);
        for (const View &v : views_)
            ours::wait(v.handle);
    }

  private:
    struct View {
        revamp_accelerator_view handle = nullptr;
        View() = default;
        View(View &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
        ~View() {
            if (handle) revamp_accelerator_view_release(handle);
        }
    };
    revamp_accelerator_view view(size_t slot) const { return views_[slot % views_.size()].handle; }
    static revamp_completion copy(revamp_array from, revamp_array to) {
        const revamp_region source = ours::region(from), destination = ours::region(to);
        revamp_completion completion;
        ours::must(revamp_copy_async(&source, &destination, nullptr, &completion), "revamp_copy_async");
        return completion;
    }
    void launch(revamp_accelerator_view view, const ours::Array &values, uint32_t rounds) const {
        const auto extent = static_cast<int32_t>(shape_.words());
        const revamp_argument arguments[] = {revamp_argument_buffer(0, values),
                                             revamp_argument_push_constant(0, &rounds, sizeof rounds)};
        const revamp_dispatch_info info = ours::over(extent, arguments);
        ours::must(revamp_dispatch(view, kernel_, &info), "revamp_dispatch");
    }
    Shape shape_;
    std::vector<View> views_;
    ours::Kernel kernel_;
    std::vector<std::unique_ptr<ours::Array>> values_, input_, output_;
};

// ---- plain Vulkan: commands recorded in advance. Uploads, kernels and downloads each have their own queue if the
// device has enough queues.

class VulkanPipeline {
  public:
    VulkanPipeline(PlainVulkan &vulkan, Shape shape) : vulkan_(vulkan), shape_(shape) {
        lane_ = vulkan.has(Lane::transfer) ? Lane::transfer : Lane::compute;
        for (size_t i = 0; i < slots; i++) {
            values_.push_back(vulkan.buffer(shape.chunk, Memory::device));
            pipelines_.push_back(
                vulkan.pipeline(overlap_shader.words, overlap_shader.bytes, 4, {values_.back().get()}));
        }
        for (size_t k = 0; k < shape.count; k++) {
            input_.push_back(vulkan.buffer(shape.chunk, Memory::upload));
            output_.push_back(vulkan.buffer(shape.chunk, Memory::readback));
        }
        for (Step *step : {&up_, &work_, &down_}) {
            step->lane = step == &work_ ? Lane::compute : lane_;
            const auto &queues = vulkan.queue(step->lane).queues;
            step->queue = queues[step == &down_ ? 1 % queues.size() : 0];
            step->done = vulkan.timeline();
            step->commands.resize(step == &work_ ? slots : shape.count);
            auto info = vk_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
            info.commandPool = vulkan.queue(step->lane).pool;
            info.commandBufferCount = static_cast<uint32_t>(step->commands.size());
            vk_check(vk.AllocateCommandBuffers(vulkan.device, &info, step->commands.data()),
                     "vkAllocateCommandBuffers");
        }
        const VkBufferCopy all{0, 0, shape.chunk};
        for (size_t k = 0; k < shape.count; k++) {
            const VkBuffer values = values_[k % slots]->handle;
            record(up_.commands[k],
                   [&](VkCommandBuffer commands) { vk.CmdCopyBuffer(commands, input_[k]->handle, values, 1, &all); });
            record(down_.commands[k], [&](VkCommandBuffer commands) {
                vk.CmdCopyBuffer(commands, values, output_[k]->handle, 1, &all);
                host_barrier(commands);
            });
        }
        set_rounds(1);
    }
    ~VulkanPipeline() {
        vk.DeviceWaitIdle(vulkan_.device);
        for (Step *step : {&up_, &work_, &down_}) {
            vk.FreeCommandBuffers(vulkan_.device, vulkan_.queue(step->lane).pool,
                                  static_cast<uint32_t>(step->commands.size()), step->commands.data());
            vk.DestroySemaphore(vulkan_.device, step->done, nullptr);
        }
    }
    VulkanPipeline(const VulkanPipeline &) = delete;
    VulkanPipeline &operator=(const VulkanPipeline &) = delete;

    void set_rounds(uint32_t rounds) {
        for (size_t i = 0; i < slots; i++)
            record(work_.commands[i], [&](VkCommandBuffer commands) {
                pipelines_[i].bind(commands);
                pipelines_[i].push(commands, &rounds, sizeof rounds);
                vk.CmdDispatch(commands, static_cast<uint32_t>(shape_.words() / 256), 1, 1);
            });
    }
    void *input(size_t chunk) { return input_[chunk]->data; }
    void *output(size_t chunk) { return output_[chunk]->data; }

    void run(Parts parts) {
        const uint64_t before = value_;
        value_ += shape_.count;
        const Step &last = parts.copies ? down_ : work_;
        for (size_t k = 0; k < shape_.count; k++) {
            if (parts.copies) submit(up_, k, k, k >= slots ? &down_ : nullptr, before + k + 1 - slots, before);
            if (parts.kernels) submit(work_, k % slots, k, parts.copies ? &up_ : nullptr, before + k + 1, before);
            // Downloads are submitted one chunk late. If uploads and downloads share a queue, an upload would otherwise
            // be stuck behind a download that waits for its kernel.
            if (parts.copies && k > 0) submit_download(parts, k - 1, before);
        }
        if (parts.copies) submit_download(parts, shape_.count - 1, before);
        wait(last, value_);
        // Steps without work signal the same value, so that all timelines stay equal.
        for (Step *step : {&up_, &work_, &down_}) {
            if (step->value == value_) continue;
            submit_bare(*step, value_);
            wait(*step, value_);
        }
    }

  private:
    struct Step {
        Lane lane = Lane::compute;
        VkQueue queue = VK_NULL_HANDLE;
        VkSemaphore done = VK_NULL_HANDLE;
        uint64_t value = 0;
        std::vector<VkCommandBuffer> commands;
    };
    template <class F> static void record(VkCommandBuffer commands, F &&what) {
        auto begin = vk_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        // The kernel's commands for a slot may be submitted for the slot's next chunk while they are still pending for
        // its current chunk.
        begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
        vk_check(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
        memory_barrier(commands); // in a run without copies, the kernels of a slot run one after the other
        what(commands);
        vk_check(vk.EndCommandBuffer(commands), "vkEndCommandBuffer");
    }
    void submit_download(Parts parts, size_t k, uint64_t before) {
        submit(down_, k, k, parts.kernels ? &work_ : &up_, before + k + 1, before);
    }
    // Submits a command buffer for chunk `k` of a run. If `wait_step` is not null, the commands wait until its timeline
    // reaches `value`.
    void submit(Step &step, size_t command, size_t k, const Step *wait_step, uint64_t value, uint64_t before) {
        submit_raw(step, &step.commands[command], wait_step, value, before + k + 1);
    }
    void submit_bare(Step &step, uint64_t signal_value) { submit_raw(step, nullptr, nullptr, 0, signal_value); }
    static void submit_raw(Step &step, const VkCommandBuffer *commands, const Step *wait_step, uint64_t value,
                           uint64_t signal_value) {
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        auto timeline = vk_struct<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        timeline.signalSemaphoreValueCount = 1;
        timeline.pSignalSemaphoreValues = &signal_value;
        auto info = vk_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline);
        if (wait_step) {
            timeline.waitSemaphoreValueCount = info.waitSemaphoreCount = 1;
            timeline.pWaitSemaphoreValues = &value;
            info.pWaitSemaphores = &wait_step->done;
            info.pWaitDstStageMask = &stage;
        }
        info.commandBufferCount = commands ? 1 : 0;
        info.pCommandBuffers = commands;
        info.signalSemaphoreCount = 1;
        info.pSignalSemaphores = &step.done;
        vk_check(vk.QueueSubmit(step.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
        step.value = signal_value;
    }
    void wait(const Step &step, uint64_t value) const {
        for (const double start = now(); !vulkan_.software() && now() - start < 0.5;) {
            uint64_t reached = 0;
            vk_check(vk.GetSemaphoreCounterValue(vulkan_.device, step.done, &reached), "vkGetSemaphoreCounterValue");
            if (reached >= value) return;
        }
        auto info = vk_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
        info.semaphoreCount = 1;
        info.pSemaphores = &step.done;
        info.pValues = &value;
        vk_check(vk.WaitSemaphores(vulkan_.device, &info, 20'000'000'000ULL), "vkWaitSemaphores");
    }
    PlainVulkan &vulkan_;
    Shape shape_;
    Lane lane_;
    std::vector<std::shared_ptr<Buffer>> values_, input_, output_;
    std::vector<Pipeline> pipelines_;
    Step up_, work_, down_;
    uint64_t value_ = 0;
};

// Returns the number of rounds for which the kernels take as long as the copies.
uint32_t calibrate(VulkanPipeline &peer) {
    auto fastest_time = [&peer](Parts parts) {
        peer.run(parts);
        double seconds = 1e9;
        for (int i = 0; i < 3; i++)
            seconds = std::min(seconds, timed([&] { peer.run(parts); }));
        return seconds;
    };
    const double copies = fastest_time(copies_alone);
    double rounds = 8;
    // The time is not proportional to the rounds, because it includes memory accesses. The search needs a few steps.
    for (int step = 0; step < 6; step++) {
        peer.set_rounds(static_cast<uint32_t>(rounds));
        const double ratio = copies / fastest_time(kernels_alone);
        if (std::fabs(ratio - 1) < 0.03) break;
        rounds = std::clamp(rounds * std::clamp(ratio, 0.25, 8.0), 1.0, 1e6);
    }
    peer.set_rounds(static_cast<uint32_t>(rounds));
    return static_cast<uint32_t>(rounds);
}

// Fills the input chunks with new values, runs `work`, and checks some values of each output chunk.
template <class Input, class Output, class Poison, class Work>
void checked(Shape shape, uint32_t rounds, Input &&input, Output &&output, Poison &&poison, Work &&work) {
    static uint32_t seed = 1;
    seed += 7;
    for (size_t k = 0; k < shape.count; k++) {
        auto *words = static_cast<uint32_t *>(input(k));
        for (size_t i = 0; i < shape.words(); i++)
            words[i] = input_at(k, i, seed);
        std::memset(poison(k), 0xA5, shape.chunk);
    }
    work();
    for (size_t k = 0; k < shape.count; k++) {
        const auto *words = static_cast<const uint32_t *>(output(k));
        for (size_t i = 0; i < shape.words(); i += shape.words() / 61)
            if (words[i] != scrambled(input_at(k, i, seed), rounds))
                throw std::runtime_error("wrong: value " + std::to_string(i) + " of chunk " + std::to_string(k));
    }
}

void pipeline(Bench &b, Shape shape, VulkanPipeline &peer, uint32_t rounds, size_t views, const std::string &name) {
    Case c;
    c.name = name;
    c.bytes = 2.0 * double(shape.chunk) * double(shape.count);
    std::unique_ptr<RevampPipeline> ours;
    if (b.with_ours) {
        ours = std::make_unique<RevampPipeline>(b, shape, views);
        auto run_parts = [&ours, rounds](Parts parts) { return [&ours, rounds, parts] { ours->run(parts, rounds); }; };
        auto check = [&ours, shape](uint32_t rounds, const std::function<void()> &work) {
            return [&ours, shape, rounds, work] {
                checked(
                    shape, rounds, [&](size_t k) { return ours->input(k); },
                    [&](size_t k) { return ours->output(k, REVAMP_ACCESS_READ); },
                    [&](size_t k) { return ours->output(k, REVAMP_ACCESS_WRITE); }, work);
            };
        };
        const std::function<void()> all = run_parts(copies_and_kernels), copies = run_parts(copies_alone),
                                    kernels = run_parts(kernels_alone);
        c.ways.push_back({"revamp", "", [all] { return timed(all); }, check(rounds, all)});
        c.ways.push_back({"its copies alone", "", [copies] { return timed(copies); }, check(0, copies)});
        c.ways.push_back({"its kernels alone", "", [kernels] { return timed(kernels); }, {}});
    }
    const auto run_peer = [&peer] { peer.run(copies_and_kernels); };
    c.ways.push_back({"plain Vulkan", b.plain->has(Lane::transfer) ? "three queues" : "one queue",
                      [run_peer] { return timed(run_peer); },
                      [&, run_peer] {
                          checked(
                              shape, rounds, [&](size_t k) { return peer.input(k); },
                              [&](size_t k) { return peer.output(k); }, [&](size_t k) { return peer.output(k); },
                              run_peer);
                      }});
    for (const Parts parts : {copies_alone, kernels_alone})
        c.ways.push_back({parts.copies ? "plain Vulkan's copies alone" : "plain Vulkan's kernels alone",
                          "",
                          [&peer, parts] { return timed([&] { peer.run(parts); }); },
                          {}});

    const auto samples = b.run(c);
    auto median = [&samples](const char *group) {
        for (const Samples &s : samples)
            if (s.group == group && s.failure.empty()) return s.median();
        return 0.0;
    };
    auto overlap = [&](const char *whole, const char *copies, const char *kernels) {
        return median(whole) > 0 ? std::max(median(copies), median(kernels)) / median(whole) : 0.0;
    };
    const double plain_overlap = overlap("plain Vulkan", "plain Vulkan's copies alone", "plain Vulkan's kernels alone");
    char text[96];
    std::snprintf(text, sizeof text, "the longer of its copies and kernels alone (plain Vulkan: %.2f)", plain_overlap);
    const double revamp_overlap = overlap("revamp", "its copies alone", "its kernels alone");
    // No goal on software devices: the processor runs the kernels and the copies, so nothing can overlap.
    if (revamp_overlap > 0) b.report.add_ratio(name, text, revamp_overlap, b.plain->software() ? 0 : goal);
}

} // namespace

void bench_overlap(Bench &b) {
    const bool soft = b.plain->software();
    const Shape shape = soft ? Shape{4 * MiB, 16} : Shape{16 * MiB, 32};
    const std::string name = "chunked pipeline, " + std::to_string(shape.count) + " chunks of " +
                             size_text(double(shape.chunk)) + " up and down, ";
    const std::string several = name + "a view for each of 3 slots", one = name + "one view";
    if (!b.is_selected(several) && !b.is_selected(one)) return;
    std::unique_ptr<VulkanPipeline> peer;
    uint32_t rounds = 0;
    b.guarded(b.is_selected(several) ? several : one, [&] {
        b.plain->warm(0.3);
        peer = std::make_unique<VulkanPipeline>(*b.plain, shape);
        rounds = calibrate(*peer);
        b.report.fact("chunked pipeline", std::to_string(rounds) + " rounds of the kernel for each value");
    });
    if (rounds == 0) return;
    b.guarded(several, [&] { pipeline(b, shape, *peer, rounds, slots, several); });
    b.guarded(one, [&] { pipeline(b, shape, *peer, rounds, 1, one); });
}
