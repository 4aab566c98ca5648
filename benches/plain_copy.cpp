// Copies between host memory and device memory, as the plain Vulkan peer does them (plain_copy.h).
#include "plain_copy.h"

#include <algorithm>
#include <cstring>

#include "measure.h"

namespace {

// Splits bytes `at` to `at + size` of a copy into pieces that are contiguous in layout `rows`. Calls
// `each(done, offset, piece)` for each piece. `done` is the piece's offset from `at`, `offset` its offset in the
// layout, and `piece` its size.
template <class Each> void for_each_piece(size_t at, size_t size, Rows rows, Each each) {
    for (size_t done = 0; done < size;) {
        const size_t in_row = rows.bytes ? (at + done) % rows.bytes : 0;
        const size_t piece = rows.bytes ? std::min(size - done, rows.bytes - in_row) : size;
        each(done, rows.bytes ? rows.begin + (at + done) / rows.bytes * rows.pitch + in_row : at, piece);
        done += piece;
    }
}

// Copies bytes `at` to `at + size` of a copy between `packed`, which is contiguous, and host memory with layout `rows`.
void host_copy(Direction direction, void *packed, void *host, size_t at, size_t size, Rows rows) {
    auto *packed_bytes = static_cast<char *>(packed), *host_bytes = static_cast<char *>(host);
    for_each_piece(at, size, rows, [&](size_t done, size_t offset, size_t piece) {
        if (direction == Direction::up) {
            std::memcpy(packed_bytes + done, host_bytes + offset, piece);
        } else {
            std::memcpy(host_bytes + offset, packed_bytes + done, piece);
        }
    });
}

// Records the copy of bytes `at` to `at + size` between a staging buffer, at offset `slot`, and a device buffer with
// layout `rows`.
void record_copy(VkCommandBuffer commands, Direction direction, VkBuffer staging, VkDeviceSize slot, VkBuffer device,
                 size_t at, size_t size, Rows rows) {
    const bool up = direction == Direction::up;
    std::vector<VkBufferCopy> regions;
    for_each_piece(at, size, rows, [&](size_t done, size_t offset, size_t piece) {
        regions.push_back({up ? slot + done : offset, up ? offset : slot + done, piece});
    });
    vk.CmdCopyBuffer(commands, up ? staging : device, up ? device : staging, static_cast<uint32_t>(regions.size()),
                     regions.data());
    if (!up) host_barrier(commands);
}

} // namespace

WholeCopy::WholeCopy(PlainVulkan &vulkan, Lane lane, Direction direction, const Buffer &device, VkDeviceSize size,
                     std::shared_ptr<Buffer> staging, Rows device_rows)
    : direction_(direction), size_(size), staging_(std::move(staging)) {
    if (!staging_) staging_ = vulkan.buffer(size, direction == Direction::up ? Memory::upload : Memory::readback);
    job_ = std::make_unique<Job>(vulkan, lane, [&](VkCommandBuffer commands) {
        record_copy(commands, direction, staging_->handle, 0, device.handle, 0, size, device_rows);
    });
}

void WholeCopy::run(void *host, Wait wait, Rows rows) {
    if (direction_ == Direction::up) host_copy(direction_, staging_->data, host, 0, size_, rows);
    job_->run(wait);
    if (direction_ == Direction::down) host_copy(direction_, staging_->data, host, 0, size_, rows);
}

RingCopy::RingCopy(PlainVulkan &vulkan, Workers &workers, Shape shape, Direction direction, const Buffer &device,
                   VkDeviceSize size, Rows device_rows)
    : vulkan_(vulkan), workers_(workers), shape_(shape), direction_(direction), size_(size), rings_(workers.count()),
      locks_(vulkan.queue(shape.lane).queues.size()) {
    const auto &queue = vulkan.queue(shape.lane);
    const VkDeviceSize chunks = (size + shape.chunk - 1) / shape.chunk;
    for (unsigned t = 0; t < rings_.size(); t++) {
        Ring &ring = rings_[t];
        ring.queue = queue.queues[t % queue.queues.size()];
        ring.lock = &locks_[t % queue.queues.size()];
        ring.staging = Buffer(vulkan, slots * shape.chunk, shape.staging);
        ring.timeline = vulkan.timeline();
        auto pool = vk_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool.queueFamilyIndex = queue.family;
        vk_check(vk.CreateCommandPool(vulkan.device, &pool, nullptr, &ring.pool), "vkCreateCommandPool");
        for (VkDeviceSize c = t; c < chunks; c += rings_.size()) {
            auto info = vk_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
            info.commandPool = ring.pool;
            info.commandBufferCount = 1;
            VkCommandBuffer commands;
            vk_check(vk.AllocateCommandBuffers(vulkan.device, &info, &commands), "vkAllocateCommandBuffers");
            const auto begin = vk_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
            vk_check(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
            const VkDeviceSize slot = ring.commands.size() % slots * shape.chunk, at = c * shape.chunk;
            const VkDeviceSize bytes = std::min(shape.chunk, size - at);
            record_copy(commands, direction, ring.staging.handle, slot, device.handle, at, bytes, device_rows);
            vk_check(vk.EndCommandBuffer(commands), "vkEndCommandBuffer");
            ring.commands.push_back(commands);
        }
    }
}

RingCopy::~RingCopy() {
    vk.DeviceWaitIdle(vulkan_.device);
    for (Ring &ring : rings_) {
        vk.DestroyCommandPool(vulkan_.device, ring.pool, nullptr);
        vk.DestroySemaphore(vulkan_.device, ring.timeline, nullptr);
    }
}

void RingCopy::submit(Ring &ring, size_t index) {
    const uint64_t value = ++ring.value;
    auto timeline = vk_struct<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &value;
    auto info = vk_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline);
    info.commandBufferCount = 1;
    info.pCommandBuffers = &ring.commands[index];
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &ring.timeline;
    const std::lock_guard<std::mutex> lock(*ring.lock);
    vk_check(vk.QueueSubmit(ring.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

// Polls for the time that a chunk may take, then blocks. On software devices, it blocks at once, because they need the
// processor.
void RingCopy::wait(Ring &ring, uint64_t value) const {
    if (!vulkan_.software()) {
        const double start = now();
        do {
            uint64_t reached = 0;
            vk_check(vk.GetSemaphoreCounterValue(vulkan_.device, ring.timeline, &reached),
                     "vkGetSemaphoreCounterValue");
            if (reached >= value) return;
        } while (now() - start < 200e-6);
    }
    auto info = vk_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &ring.timeline;
    info.pValues = &value;
    vk_check(vk.WaitSemaphores(vulkan_.device, &info, 20'000'000'000ULL), "vkWaitSemaphores");
}

void RingCopy::work(unsigned thread, char *host, Rows rows) {
    Ring &ring = rings_[thread];
    const size_t count = ring.commands.size();
    const uint64_t before = ring.value;
    auto chunk_at = [&](size_t i) { return (i * rings_.size() + thread) * shape_.chunk; };
    auto chunk_bytes = [&](size_t i) { return std::min(shape_.chunk, size_ - chunk_at(i)); };
    auto slot = [&](size_t i) { return static_cast<char *>(ring.staging.data) + i % slots * shape_.chunk; };
    if (direction_ == Direction::up) {
        for (size_t i = 0; i < count; i++) {
            if (i >= slots) wait(ring, before + i - slots + 1);
            host_copy(direction_, slot(i), host, chunk_at(i), chunk_bytes(i), rows);
            submit(ring, i);
        }
        if (count) wait(ring, ring.value);
    } else {
        for (size_t i = 0; i < std::min<size_t>(slots, count); i++)
            submit(ring, i);
        for (size_t i = 0; i < count; i++) {
            wait(ring, before + i + 1);
            host_copy(direction_, slot(i), host, chunk_at(i), chunk_bytes(i), rows);
            if (i + slots < count) submit(ring, i + slots);
        }
    }
}

void RingCopy::run(void *host, Rows rows) {
    workers_.run([&](unsigned thread) { work(thread, static_cast<char *>(host), rows); });
}

void direct_copy(Workers &workers, Direction direction, const Buffer &device, void *host, VkDeviceSize size) {
    auto copy_range = [&](VkDeviceSize from, VkDeviceSize to) {
        char *there = static_cast<char *>(device.data) + from;
        char *host_start = static_cast<char *>(host) + from;
        if (direction == Direction::up) {
            std::memcpy(there, host_start, to - from);
        } else {
            std::memcpy(host_start, there, to - from);
        }
    };
    if (workers.count() == 1) return copy_range(0, size);
    const VkDeviceSize bytes_per_thread = (size / workers.count() + 4095) & ~VkDeviceSize{4095};
    workers.run([&](unsigned thread) {
        const VkDeviceSize from = std::min(size, thread * bytes_per_thread),
                           to = std::min(size, from + bytes_per_thread);
        if (to > from) copy_range(from, to);
    });
}
