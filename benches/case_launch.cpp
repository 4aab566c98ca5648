// Benchmarks of the cost of a launch: one launch with its wait, 1000 launches in a row, and the time of the call on the
// calling thread.
#include <cstring>
#include <optional>

#include "bench.h"
#include "launch_kernels.h"

namespace {

// How a kernel is launched: as SPIR-V with bindings, as SPIR-V with addresses, or as a C++ AMP lambda.
enum class Kind { binding, address, lambda };

constexpr unsigned launches = 1000;
constexpr uint32_t elements_per_launch =
    64; // the elements that a launch increments; 256 bytes are the largest alignment that a binding may need
const Goal latency_goal{Goal::time_at_most, 1.1}, stream_goal{Goal::time_at_most, 1.1};
// cuda_goal: launches must be as fast as in a CUDA stream.
const Goal cuda_goal{Goal::time_at_most, 1.0}, call_goal{Goal::seconds_at_most, 2e-6};

revamp_dispatch_info dispatch_of(const revamp_argument *arguments, size_t count) {
    revamp_dispatch_info info{};
    info.struct_size = sizeof info;
    info.groups[0] = info.groups[1] = info.groups[2] = 1;
    info.arguments = arguments;
    info.argument_count = count;
    return info;
}

std::unique_ptr<LambdaLaunch> make_lambda([[maybe_unused]] Bench &b, [[maybe_unused]] bool increments) {
#if defined(BENCH_HAS_KERNELS)
    return make_lambda_launch(increments, b.device);
#else
    throw std::runtime_error("built without the kernel compiler");
#endif
}

void check_all_equal(const std::vector<uint32_t> &values, uint32_t expected) {
    for (const uint32_t v : values)
        if (v != expected)
            throw std::runtime_error("wrong: an element is " + std::to_string(v) + ", not " + std::to_string(expected));
}

// The peer of a lambda with four views: a kernel with four buffers that does the same work.
struct FourBuffers {
    Buffer x, y, z, out;
    Pipeline pipeline;
    FourBuffers(PlainVulkan &vulkan, const Shader &shader)
        : x(vulkan, elements_per_launch * 4, Memory::device), y(vulkan, elements_per_launch * 4, Memory::device),
          z(vulkan, elements_per_launch * 4, Memory::device), out(vulkan, elements_per_launch * 4, Memory::device),
          pipeline(vulkan.pipeline(shader.words, shader.bytes, 4, {&x, &y, &z, &out})) {}
};

void empty_kernel(Bench &b, const std::string &name, Kind kind) {
    Case c;
    c.name = name;
    c.goals = {{"plain Vulkan", latency_goal}};
    std::unique_ptr<ours::Kernel> kernel;
    std::unique_ptr<LambdaLaunch> lambda;
    const revamp_dispatch_info info = dispatch_of(nullptr, 0);
    if (b.with_ours && kind == Kind::lambda) {
        lambda = make_lambda(b, false);
        c.ways.push_back({"revamp",
                          "",
                          [&] {
                              return timed([&] {
                                  lambda->launch(1);
                                  lambda->wait();
                              });
                          },
                          {}});
    } else if (b.with_ours) {
        kernel = std::make_unique<ours::Kernel>(b.accelerator, empty_shader);
        c.ways.push_back({"revamp",
                          "",
                          [&] {
                              return timed([&] {
                                  ours::must(revamp_dispatch(b.view, *kernel, &info), "revamp_dispatch");
                                  ours::wait(b.view);
                              });
                          },
                          {}});
    }
    std::optional<FourBuffers> four_buffers;
    if (kind == Kind::lambda) four_buffers.emplace(*b.plain, empty_four_shader);
    const Pipeline pipeline =
        four_buffers ? four_buffers->pipeline : b.plain->pipeline(empty_shader.words, empty_shader.bytes, 0, {});
    Job job(*b.plain, Lane::compute, [&](VkCommandBuffer commands) {
        pipeline.bind(commands);
        if (four_buffers) pipeline.push(commands, &elements_per_launch, 4);
        vk.CmdDispatch(commands, 1, 1, 1);
    });
    for (const Wait wait : b.plain->waits())
        c.ways.push_back({"plain Vulkan", name_of(wait), [&job, wait] { return timed([&] { job.run(wait); }); }, {}});
    if (b.cuda) c.ways.push_back({"CUDA", "", [&] { return timed([&] { cuda_check(b.cuda->empty_launch()); }); }, {}});
    const auto samples = b.run(c);

    if (kind == Kind::lambda) return;
    const Samples *best = nullptr;
    for (const Samples &s : samples)
        if (s.group == "plain Vulkan" && s.failure.empty() && s.stable() && (!best || s.median() < best->median()))
            best = &s;
    for (const Wait wait : b.plain->waits())
        if (best && best->name == name_of(wait)) b.plain->best_wait = wait;
}

// Measures 1000 launches and one wait. `independent`: each launch works on elements of its own.
void stream(Bench &b, const std::string &name, bool independent, Kind kind) {
    const bool by_address = kind == Kind::address;
    Case c;
    c.name = name;
    if (!independent) c.goals = {{"plain Vulkan", stream_goal}, {"CUDA", cuda_goal}};
    const uint32_t slots = independent ? launches : 1;
    std::vector<uint32_t> values(size_t{slots} * elements_per_launch);
    const size_t bytes = values.size() * 4;
    const uint32_t expected = independent ? 1 : launches;

    std::unique_ptr<ours::Array> array;
    std::unique_ptr<ours::Kernel> kernel;
    std::unique_ptr<LambdaLaunch> lambda;
    if (b.with_ours && kind == Kind::lambda) {
        lambda = make_lambda(b, true);
        c.ways.push_back({"revamp", "automatic mode",
                          [&] {
                              return timed([&] {
                                  lambda->launch(launches);
                                  lambda->wait();
                              });
                          },
                          [&] {
                              const uint32_t before = lambda->value();
                              lambda->launch(launches);
                              if (lambda->value() != before + launches)
                                  throw std::runtime_error(
                                      "wrong: an element was not incremented exactly once by each launch");
                          }});
    } else if (b.with_ours) {
        array =
            std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{static_cast<int32_t>(values.size())});
        kernel =
            std::make_unique<ours::Kernel>(b.accelerator, by_address ? increment_address_shader : increment_shader);
        auto enqueue = [&, independent, by_address] {
            const uint32_t base = 0;
            const uint64_t block = 0;
            const int32_t extent = elements_per_launch;
            for (unsigned i = 0; i < launches; i++) {
                const int32_t origin = independent ? static_cast<int32_t>(i * elements_per_launch) : 0;
                revamp_argument arguments[2] = {by_address
                                                    ? revamp_argument_address(0, *array, REVAMP_ACCESS_READ_WRITE)
                                                    : revamp_argument_buffer(0, *array),
                                                revamp_argument_push_constant(0, &base, 4)};
                arguments[0].origin = &origin;
                arguments[0].extent = &extent;
                revamp_dispatch_info info = dispatch_of(arguments, by_address ? 1 : 2);
                if (by_address) {
                    info.block = &block;
                    info.block_size = sizeof block;
                }
                ours::must(revamp_dispatch(b.view, *kernel, &info), "revamp_dispatch");
            }
        };
        c.ways.push_back({"revamp", "automatic mode",
                          [&, enqueue] {
                              return timed([&] {
                                  enqueue();
                                  ours::wait(b.view);
                              });
                          },
                          [&, enqueue] {
                              std::fill(values.begin(), values.end(), 0);
                              array->upload(values.data(), bytes);
                              enqueue();
                              ours::wait(b.view);
                              array->download(values.data(), bytes);
                              check_all_equal(values, expected);
                          }});
    }

    std::optional<FourBuffers> four_buffers;
    Buffer single_buffer;
    if (kind == Kind::lambda)
        four_buffers.emplace(*b.plain, increment_four_shader);
    else
        single_buffer = Buffer(*b.plain, bytes, Memory::device);
    const Buffer &buffer = four_buffers ? four_buffers->out : single_buffer, staging(*b.plain, bytes, Memory::readback);
    const Pipeline pipeline = four_buffers
                                  ? four_buffers->pipeline
                                  : b.plain->pipeline(increment_shader.words, increment_shader.bytes, 4, {&buffer});
    auto record = [&](VkCommandBuffer commands) {
        pipeline.bind(commands);
        for (uint32_t i = 0; i < launches; i++) {
            const uint32_t base = four_buffers ? elements_per_launch : independent ? i * elements_per_launch : 0;
            if (independent || i == 0) pipeline.push(commands, &base, 4);
            vk.CmdDispatch(commands, 1, 1, 1);
            if (independent) continue;
            auto barrier = vk_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
            barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
            barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
            vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  0, 1, &barrier, 0, nullptr, 0, nullptr);
        }
    };
    Job job(*b.plain, Lane::compute, record);
    Job clear(*b.plain, Lane::compute, [&](VkCommandBuffer commands) {
        vk.CmdFillBuffer(commands, buffer.handle, 0, VK_WHOLE_SIZE, 0);
        if (four_buffers)
            for (const Buffer *read : {&four_buffers->x, &four_buffers->y, &four_buffers->z})
                vk.CmdFillBuffer(commands, read->handle, 0, VK_WHOLE_SIZE, 0);
        memory_barrier(commands);
    });
    Job fetch(*b.plain, Lane::compute, [&](VkCommandBuffer commands) {
        memory_barrier(commands);
        const VkBufferCopy all{0, 0, bytes};
        vk.CmdCopyBuffer(commands, buffer.handle, staging.handle, 1, &all);
        host_barrier(commands);
    });
    for (const Wait wait : b.plain->waits())
        c.ways.push_back({"plain Vulkan", std::string("one recorded command buffer, ") + name_of(wait),
                          [&job, wait] { return timed([&] { job.run(wait); }); },
                          [&, wait] {
                              clear.run(Wait::block);
                              job.run(wait);
                              fetch.run(Wait::block);
                              std::memcpy(values.data(), staging.data, bytes);
                              check_all_equal(values, expected);
                          }});
    std::shared_ptr<void> cuda_values;
    if (b.cuda && !independent) {
        cuda_values = cuda_memory(*b.cuda, bytes, false);
        auto *device = static_cast<uint32_t *>(cuda_values.get());
        c.ways.push_back(
            {"CUDA", "one stream",
             [&, device] { return timed([&] { cuda_check(b.cuda->increments(device, launches, nullptr)); }); },
             [&, device] {
                 std::fill(values.begin(), values.end(), 0);
                 cuda_check(b.cuda->copy(device, values.data(), bytes));
                 cuda_check(b.cuda->increments(device, launches, nullptr));
                 cuda_check(b.cuda->copy(values.data(), device, bytes));
                 check_all_equal(values, expected);
             }});
    }
    b.run(c);
}

// Measures the time that a launch takes on the calling thread, without the wait. The plain Vulkan peer records one
// dispatch and one barrier for each launch.
void host_time(Bench &b, const std::string &name, Kind kind) {
    Case c;
    c.name = name;
    std::unique_ptr<ours::Array> array;
    std::unique_ptr<ours::Kernel> kernel;
    std::unique_ptr<LambdaLaunch> lambda;
    // No goals on software devices, which compete with the timed thread for the processor.
    if (!b.plain->software()) c.goals = {{"revamp", call_goal}, {"CUDA", cuda_goal}};
    if (b.with_ours && kind == Kind::lambda) {
        lambda = make_lambda(b, false);
        c.ways.push_back({"revamp",
                          "",
                          [&] {
                              const double calls = timed([&] { lambda->launch(launches); });
                              lambda->wait();
                              return calls / launches;
                          },
                          {}});
    } else if (b.with_ours) {
        array = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{elements_per_launch});
        kernel = std::make_unique<ours::Kernel>(b.accelerator, increment_shader);
        c.ways.push_back({"revamp",
                          "",
                          [&] {
                              const uint32_t base = 0;
                              const revamp_argument arguments[] = {revamp_argument_buffer(0, *array),
                                                                   revamp_argument_push_constant(0, &base, 4)};
                              const revamp_dispatch_info info = dispatch_of(arguments, 2);
                              const double calls = timed([&] {
                                  for (unsigned i = 0; i < launches; i++)
                                      ours::must(revamp_dispatch(b.view, *kernel, &info), "revamp_dispatch");
                              });
                              ours::wait(b.view);
                              return calls / launches;
                          },
                          {}});
    }
    const Buffer buffer(*b.plain, elements_per_launch * 4, Memory::device);
    const Pipeline pipeline = b.plain->pipeline(increment_shader.words, increment_shader.bytes, 4, {&buffer});
    auto &queue = b.plain->queue(Lane::compute);
    auto info = vk_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = queue.pool;
    info.commandBufferCount = 1;
    VkCommandBuffer commands;
    vk_check(vk.AllocateCommandBuffers(b.plain->device, &info, &commands), "vkAllocateCommandBuffers");
    c.ways.push_back({"plain Vulkan",
                      "record 1000 and submit",
                      [&] {
                          const double calls = timed([&] {
                              auto begin =
                                  vk_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
                              begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
                              vk_check(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
                              const uint32_t base = 0;
                              for (unsigned i = 0; i < launches; i++) {
                                  pipeline.bind(commands);
                                  pipeline.push(commands, &base, 4);
                                  vk.CmdDispatch(commands, 1, 1, 1);
                                  memory_barrier(commands);
                              }
                              vk_check(vk.EndCommandBuffer(commands), "vkEndCommandBuffer");
                              auto submit = vk_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
                              submit.commandBufferCount = 1;
                              submit.pCommandBuffers = &commands;
                              vk_check(vk.QueueSubmit(queue.queues[0], 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
                          });
                          vk_check(vk.QueueWaitIdle(queue.queues[0]), "vkQueueWaitIdle");
                          return calls / launches;
                      },
                      {}});
    std::shared_ptr<void> cuda_values;
    if (b.cuda) {
        cuda_values = cuda_memory(*b.cuda, elements_per_launch * 4, false);
        c.ways.push_back({"CUDA",
                          "one stream",
                          [&] {
                              double calls = 0;
                              cuda_check(
                                  b.cuda->increments(static_cast<uint32_t *>(cuda_values.get()), launches, &calls));
                              return calls / launches;
                          },
                          {}});
    }
    b.run(c);
    vk.FreeCommandBuffers(b.plain->device, queue.pool, 1, &commands);
}

} // namespace

void bench_launch(Bench &b) {
    auto run_case = [&b](const std::string &name, auto &&work) { b.guarded(name, [&] { work(name); }); };
    using Name = const std::string &;
    // This case must run first, and even if --only does not name it, because it also chooses the way to wait
    // (best_wait) for the peers of the other cases.
    const std::string empty = "dispatch + wait, empty kernel";
    b.run_or_skip(empty, [&] { empty_kernel(b, empty, Kind::binding); });
    run_case("launch + wait, empty lambda with 4 views", [&](Name name) { empty_kernel(b, name, Kind::lambda); });
    run_case("1000 dependent dispatches, then wait", [&](Name name) { stream(b, name, false, Kind::binding); });
    run_case("1000 dependent dispatches, then wait, arguments by address",
             [&](Name name) { stream(b, name, false, Kind::address); });
    run_case("1000 dependent launches, then wait, lambda with 4 views",
             [&](Name name) { stream(b, name, false, Kind::lambda); });
    run_case("1000 independent dispatches, then wait", [&](Name name) { stream(b, name, true, Kind::binding); });
    run_case("1000 independent dispatches, then wait, arguments by address",
             [&](Name name) { stream(b, name, true, Kind::address); });
    run_case("host time of one dispatch call in a stream of 1000",
             [&](Name name) { host_time(b, name, Kind::binding); });
    run_case("host time of one launch in a stream of 1000, empty lambda with 4 views",
             [&](Name name) { host_time(b, name, Kind::lambda); });
}
