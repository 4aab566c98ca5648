// Benchmark of a memory-bound kernel, y = a x + y, with the arguments in bindings and in an argument block.
#include <cstring>

#include "bench.h"

namespace {

void saxpy(Bench &b, bool by_address, const std::string &name) {
    // The problem is smaller on software devices. They allow at most 65535 workgroups, and limit the range of a storage
    // buffer.
    const uint32_t count = b.plain->software() ? 4 << 20 : 64 << 20;
    const unsigned launches = b.plain->software() ? 1 : 8;
    const uint32_t groups = (count + 255) / 256;
    if (groups > b.plain->properties.limits.maxComputeWorkGroupCount[0])
        throw std::runtime_error("too many workgroups");
    const size_t bytes = size_t{count} * 4;
    const float a = 2;
    const Shader &shader = by_address ? saxpy_address_shader : saxpy_shader;
    Case c;
    c.name = name;
    c.bytes = 3.0 * static_cast<double>(bytes) * launches;

    // The values are integers that a float represents exactly, so that results can be compared with ==.
    std::vector<float> x(count), y(count);
    auto fill_inputs = [&] {
        for (uint32_t i = 0; i < count; i++) {
            x[i] = static_cast<float>(i % 1000);
            y[i] = 1;
        }
    };
    auto verify = [&] {
        for (uint32_t i = 0; i < count; i++)
            if (y[i] != 1 + static_cast<float>(launches) * a * static_cast<float>(i % 1000))
                throw std::runtime_error("saxpy: wrong at element " + std::to_string(i) + ": " + std::to_string(y[i]));
    };

    std::unique_ptr<ours::Array> ours_x, ours_y;
    std::unique_ptr<ours::Kernel> kernel;
    if (b.with_ours) {
        const auto extent = static_cast<int32_t>(count);
        ours_x = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{extent});
        ours_y = std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{extent});
        kernel = std::make_unique<ours::Kernel>(b.accelerator, shader);
        auto run = [&b, &ours_x, &ours_y, &kernel, by_address, extent, launches, count, a] {
            const SaxpyPush push{a, count};
            const SaxpyBlock block{0, 0, a, count};
            const revamp_argument bound[] = {revamp_argument_buffer(0, *ours_x), revamp_argument_buffer(1, *ours_y),
                                             revamp_argument_push_constant(0, &push, sizeof push)};
            const revamp_argument addressed[] = {revamp_argument_address(0, *ours_x, REVAMP_ACCESS_READ),
                                                 revamp_argument_address(8, *ours_y, REVAMP_ACCESS_READ_WRITE)};
            revamp_dispatch_info info{};
            info.struct_size = sizeof info;
            info.rank = 1;
            info.extent = &extent;
            info.arguments = by_address ? addressed : bound;
            info.argument_count = by_address ? 2 : 3;
            info.block = by_address ? &block : nullptr;
            info.block_size = by_address ? sizeof block : 0;
            for (unsigned i = 0; i < launches; i++)
                ours::must(revamp_dispatch(b.view, *kernel, &info), "revamp_dispatch");
            ours::wait(b.view);
        };
        c.ways.push_back({"revamp", "", [run] { return timed(run); },
                          [&, run] {
                              fill_inputs();
                              ours_x->upload(x.data(), bytes);
                              ours_y->upload(y.data(), bytes);
                              run();
                              ours_y->download(y.data(), bytes);
                              verify();
                          }});
    }

    const Buffer device_x(*b.plain, bytes, Memory::device), device_y(*b.plain, bytes, Memory::device);
    const Buffer block(*b.plain, sizeof(SaxpyBlock), b.plain->has(Memory::direct) ? Memory::direct : Memory::upload);
    const SaxpyBlock values{device_x.address, device_y.address, a, count};
    std::memcpy(block.data, &values, sizeof values);
    const Pipeline pipeline =
        by_address ? b.plain->pipeline(shader.words, shader.bytes, 8, {})
                   : b.plain->pipeline(shader.words, shader.bytes, sizeof(SaxpyPush), {&device_x, &device_y});
    Job job(*b.plain, Lane::compute, [&](VkCommandBuffer commands) {
        const SaxpyPush push{a, count};
        pipeline.bind(commands);
        if (by_address) {
            pipeline.push(commands, &block.address, 8);
        } else {
            pipeline.push(commands, &push, sizeof push);
        }
        for (unsigned i = 0; i < launches; i++) {
            vk.CmdDispatch(commands, groups, 1, 1);
            memory_barrier(commands);
        }
    });
    const auto check_staging = b.plain->buffer(bytes, Memory::readback);
    WholeCopy up_x(*b.plain, Lane::compute, Direction::up, device_x, bytes, check_staging);
    WholeCopy up_y(*b.plain, Lane::compute, Direction::up, device_y, bytes, check_staging);
    WholeCopy down_y(*b.plain, Lane::compute, Direction::down, device_y, bytes, check_staging);
    c.ways.push_back({"plain Vulkan", "recorded", [&] { return timed([&] { job.run(b.plain->best_wait); }); },
                      [&] {
                          fill_inputs();
                          up_x.run(x.data(), Wait::block);
                          up_y.run(y.data(), Wait::block);
                          job.run(b.plain->best_wait);
                          down_y.run(y.data(), Wait::block);
                          verify();
                      }});

    std::shared_ptr<void> cuda_x, cuda_y;
    if (b.cuda) {
        cuda_x = cuda_memory(*b.cuda, bytes, false);
        cuda_y = cuda_memory(*b.cuda, bytes, false);
        auto run = [&] {
            cuda_check(b.cuda->saxpy(a, static_cast<float *>(cuda_x.get()), static_cast<float *>(cuda_y.get()), count,
                                     launches));
        };
        c.ways.push_back({"CUDA", "", [run] { return timed(run); },
                          [&, run] {
                              fill_inputs();
                              cuda_check(b.cuda->copy(cuda_x.get(), x.data(), bytes));
                              cuda_check(b.cuda->copy(cuda_y.get(), y.data(), bytes));
                              run();
                              cuda_check(b.cuda->copy(y.data(), cuda_y.get(), bytes));
                              verify();
                          }});
    }
    b.run(c);
}

} // namespace

void bench_kernel(Bench &b) {
    for (const bool by_address : {false, true}) {
        const std::string name =
            std::string("saxpy kernel, ") + (by_address ? "argument block with addresses" : "bindings");
        b.guarded(name, [&] { saxpy(b, by_address, name); });
    }
}
