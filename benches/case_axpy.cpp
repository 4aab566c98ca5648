// Benchmark of y = a x + y on std::vectors, with the result copied back to y. As in a C++ AMP program, each run creates
// array_views, launches a kernel on them and synchronizes.
#include <vector>

#include "bench.h"

namespace {

void axpy(Bench &b, const std::string &name, uint32_t count) {
    const size_t bytes = size_t{count} * 4;
    const float a = 2;
    Case c;
    c.name = name;
    c.bytes = 3.0 * static_cast<double>(bytes);
    c.goals = {{"CUDA", {Goal::speed_at_least, 1}}};

    // The values are integers that a float represents exactly, so that results can be compared with ==.
    std::vector<float> x(count), y(count);
    for (uint32_t i = 0; i < count; i++)
        x[i] = static_cast<float>(i % 1000);
    auto make_check = [&](std::function<void()> run) {
        return [&, run] {
            std::fill(y.begin(), y.end(), 1.0F);
            run();
            for (uint32_t i = 0; i < count; i++)
                if (y[i] != 1 + a * x[i])
                    throw std::runtime_error("wrong at element " + std::to_string(i) + ": " + std::to_string(y[i]));
        };
    };
    auto add = [&](const char *group, const std::string &way, std::function<void()> run) {
        c.ways.push_back({group, way, [run] { return timed(run); }, make_check(run)});
    };

    std::unique_ptr<ours::Kernel> kernel;
    if (b.with_ours) {
        kernel = std::make_unique<ours::Kernel>(b.accelerator, saxpy_address_shader);
        add("revamp", "array_views made each time", [&] {
            const auto extent = static_cast<int32_t>(count);
            const ours::View from = ours::View::over(x.data(), {extent}).read_only();
            const ours::View to = ours::View::over(y.data(), {extent});
            const SaxpyBlock block{0, 0, a, count};
            const revamp_argument arguments[] = {revamp_argument_view_address(0, from, REVAMP_ACCESS_NONE),
                                                 revamp_argument_view_address(8, to, REVAMP_ACCESS_NONE)};
            const revamp_dispatch_info info = ours::over(extent, arguments, &block, sizeof block);
            ours::must(revamp_dispatch(b.view, *kernel, &info), "revamp_dispatch");
            ours::must(revamp_array_view_synchronize(to, REVAMP_ACCESS_READ), "revamp_array_view_synchronize");
        });
    }

    const Buffer device_x(*b.plain, bytes, Memory::device), device_y(*b.plain, bytes, Memory::device);
    const Pipeline pipeline =
        b.plain->pipeline(saxpy_shader.words, saxpy_shader.bytes, sizeof(SaxpyPush), {&device_x, &device_y});
    Job job(*b.plain, Lane::compute, [&](VkCommandBuffer commands) {
        const SaxpyPush push{a, count};
        pipeline.bind(commands);
        pipeline.push(commands, &push, sizeof push);
        vk.CmdDispatch(commands, (count + 255) / 256, 1, 1);
        memory_barrier(commands);
    });
    std::vector<std::unique_ptr<RingCopy>> rings;
    for (const Lane lane : {Lane::compute, Lane::transfer}) {
        if (!b.plain->has(lane)) continue;
        for (const VkDeviceSize chunk : {1 << 20, 4 << 20}) {
            auto ring = [&](Direction direction, const Buffer &device) {
                const Memory staging = direction == Direction::up ? Memory::upload : Memory::readback;
                const RingCopy::Shape shape{lane, chunk, staging};
                rings.push_back(std::make_unique<RingCopy>(*b.plain, b.copy_threads, shape, direction, device, bytes));
                return rings.back().get();
            };
            RingCopy *up_x = ring(Direction::up, device_x), *up_y = ring(Direction::up, device_y),
                     *down_y = ring(Direction::down, device_y);
            add("plain Vulkan",
                std::to_string(b.copy_threads.count()) + " threads, " + size_text(static_cast<double>(chunk)) +
                    " chunks, " + name_of(lane),
                [&, up_x, up_y, down_y] {
                    up_x->run(x.data());
                    up_y->run(y.data());
                    job.run(b.plain->best_wait);
                    down_y->run(y.data());
                });
        }
    }

    std::shared_ptr<void> cuda_x, cuda_y;
    if (b.cuda) {
        cuda_x = cuda_memory(*b.cuda, bytes, false);
        cuda_y = cuda_memory(*b.cuda, bytes, false);
        add("CUDA", "pageable", [&] {
            cuda_check(b.cuda->copy(cuda_x.get(), x.data(), bytes));
            cuda_check(b.cuda->copy(cuda_y.get(), y.data(), bytes));
            cuda_check(
                b.cuda->saxpy(a, static_cast<float *>(cuda_x.get()), static_cast<float *>(cuda_y.get()), count, 1));
            cuda_check(b.cuda->copy(y.data(), cuda_y.get(), bytes));
        });
    }
    b.run(c);
}

} // namespace

void bench_axpy(Bench &b) {
    // Software devices run only 8 Mi elements: they allow at most 65535 workgroups, and the plain Vulkan dispatch needs
    // one for each 256 elements.
    for (const uint32_t mega : {1, b.plain->software() ? 8 : 16}) {
        const std::string name =
            "y = a x + y on std::vectors, including the copies, " + std::to_string(mega) + " Mi floats, by array_views";
        b.guarded(name, [&] { axpy(b, name, mega << 20); });
    }
}
