// Benchmarks of copies inside the device: of whole blocks, and of a section of a matrix.
#include <cstring>

#include "bench.h"

namespace {

constexpr size_t MiB = 1 << 20;
const Goal cuda_goal{Goal::speed_at_least, 0.9};

// If `width` is 0, copies all `size` bytes. Otherwise copies the middle section of a matrix of `width` x `width` 4-byte
// elements. The section is half as wide and half as high as the matrix.
void device_copy(Bench &b, size_t size, int32_t width, const std::string &name) {
    const size_t moved = width ? size / 4 : size;
    Case c;
    c.name = name;
    c.bytes = 2.0 * static_cast<double>(moved);
    if (!width) c.goals["CUDA"] = cuda_goal;
    b.need_host_memory(size);

    // Before the copy, `store` writes b.source to the source of the copy, and other bytes to the target of the copy.
    // After the copy, `fetch` reads the target.
    auto make_check = [&b, size, width](std::function<void()> store, std::function<void()> copy,
                                        std::function<void()> fetch) {
        return [=, &b] {
            b.refill(size);
            store();
            copy();
            std::memset(b.target.data(), 0, size);
            fetch();
            if (width) { // outside the section the target still holds 0xA5
                const size_t pitch = size_t(width) * 4, quarter = size_t(width) / 4;
                for (size_t y = 0; y < size_t(width); y++)
                    for (size_t x = 0; x < size_t(width); x++) {
                        if (y >= quarter && y < 3 * quarter && x >= quarter && x < 3 * quarter) continue;
                        std::memset(&b.source[y * pitch + x * 4], 0xA5, 4);
                    }
            }
            b.compare(size, "device copy");
        };
    };

    std::unique_ptr<ours::Array> from, to;
    if (b.with_ours) {
        auto make = [&] {
            return width ? std::make_unique<ours::Array>(b.view, std::initializer_list<int32_t>{width, width})
                         : std::make_unique<ours::Array>(
                               b.view, std::initializer_list<int32_t>{static_cast<int32_t>(size / 4)});
        };
        from = make();
        to = make();
        const int32_t origin[] = {width / 4, width / 4}, extent[] = {width / 2, width / 2};
        auto copy = [&from, &to, origin, extent, width] {
            const int32_t *o = width ? origin : nullptr, *e = width ? extent : nullptr;
            ours::copy(ours::region(*from, o, e), ours::region(*to, o, e));
        };
        c.ways.push_back({"revamp", "", [copy] { return timed(copy); },
                          make_check(
                              [&b, &from, &to, size] {
                                  from->upload(b.source.data(), size);
                                  to->upload(b.target.data(), size);
                              },
                              copy, [&b, &to, size] { to->download(b.target.data(), size); })});
    }

    const Buffer source(*b.plain, size, Memory::device), target(*b.plain, size, Memory::device);
    const auto check_staging = b.plain->buffer(size, Memory::readback);
    WholeCopy fill(*b.plain, Lane::compute, Direction::up, source, size, check_staging);
    WholeCopy poison(*b.plain, Lane::compute, Direction::up, target, size, check_staging);
    WholeCopy read(*b.plain, Lane::compute, Direction::down, target, size, check_staging);
    std::vector<std::unique_ptr<Job>> jobs;
    auto plain = [&](const std::string &way, Lane lane, const Job::Record &record) {
        jobs.push_back(std::make_unique<Job>(*b.plain, lane, record));
        auto copy = [job = jobs.back().get(), wait = b.plain->best_wait] { job->run(wait); };
        c.ways.push_back({"plain Vulkan", way, [copy] { return timed(copy); },
                          make_check(
                              [&] {
                                  fill.run(b.source.data(), Wait::block);
                                  poison.run(b.target.data(), Wait::block);
                              },
                              copy, [&] { read.run(b.target.data(), Wait::block); })});
    };
    std::vector<VkBufferCopy> regions;
    if (width) {
        const VkDeviceSize row = VkDeviceSize(width) * 4;
        for (int32_t y = width / 4; y < width * 3 / 4; y++) {
            const VkDeviceSize at = VkDeviceSize(y) * row + row / 4;
            regions.push_back({at, at, row / 2});
        }
    } else {
        regions.push_back({0, 0, size});
    }
    const auto by_command = [&](VkCommandBuffer commands) {
        vk.CmdCopyBuffer(commands, source.handle, target.handle, static_cast<uint32_t>(regions.size()), regions.data());
    };
    plain(width ? "vkCmdCopyBuffer, a region for each row" : "vkCmdCopyBuffer", Lane::compute, by_command);
    if (b.plain->has(Lane::transfer)) plain("vkCmdCopyBuffer, transfer queue", Lane::transfer, by_command);
    if (!width && !(b.plain->software() && size > 64 * MiB)) { // a software device would take a second
        const Pipeline pipeline = b.plain->pipeline(copy_shader.words, copy_shader.bytes, sizeof(CopyPush), {});
        plain("vec4 copy kernel", Lane::compute, [&](VkCommandBuffer commands) {
            const CopyPush push{source.address, target.address, static_cast<uint32_t>(size / 16), 0};
            pipeline.bind(commands);
            pipeline.push(commands, &push, sizeof push);
            vk.CmdDispatch(commands, static_cast<uint32_t>((size / 16 + 1023) / 1024), 1, 1);
        });
    }

    std::shared_ptr<void> cuda_from, cuda_to;
    if (b.cuda && !width) {
        cuda_from = cuda_memory(*b.cuda, size, false);
        cuda_to = cuda_memory(*b.cuda, size, false);
        auto copy = [&b, &cuda_from, &cuda_to, size] {
            cuda_check(b.cuda->copy(cuda_to.get(), cuda_from.get(), size));
        };
        c.ways.push_back(
            {"CUDA", "cudaMemcpy", [copy] { return timed(copy); },
             make_check(
                 [&b, &cuda_from, &cuda_to, size] {
                     cuda_check(b.cuda->copy(cuda_from.get(), b.source.data(), size));
                     cuda_check(b.cuda->copy(cuda_to.get(), b.target.data(), size));
                 },
                 copy, [&b, &cuda_to, size] { cuda_check(b.cuda->copy(b.target.data(), cuda_to.get(), size)); })});
    }
    b.run(c);
}

} // namespace

void bench_device_copy(Bench &b) {
    for (const size_t size : {64 * MiB, 256 * MiB, 1024 * MiB}) {
        if (size > 256 * MiB && b.plain->software()) continue;
        const std::string name = "copy device to device, " + size_text(static_cast<double>(size)) + " (read + written)";
        b.guarded(name, [&] { device_copy(b, size, 0, name); });
    }
    const std::string name = "copy device to device, section 2048x2048 of 4096x4096 floats (read + written)";
    b.guarded(name, [&] { device_copy(b, 64 * MiB, 4096, name); });
}
