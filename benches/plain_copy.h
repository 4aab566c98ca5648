// Copies between pageable memory and device memory, as the plain Vulkan peer does them.
#pragma once
#include <mutex>

#include "plain_vulkan.h"
#include "workers.h"

enum class Direction { up, down }; // up: from host to device; down: from device to host

// The layout of a copy's bytes in pageable memory or in a buffer: contiguous, or rows of a matrix.
struct Rows {
    size_t bytes = 0; // the length of a row; 0 if all bytes are contiguous
    size_t pitch = 0; // from the start of a row to the start of the next row
    size_t begin = 0; // the offset of the first row
};

// A copy through one staging buffer as large as the copy: a memcpy and one copy command, one after the other.
class WholeCopy {
  public:
    // `staging`: a buffer of at least `size` bytes. Copies that do not run concurrently may share it. If it is null,
    // the constructor creates one. `device_rows`: the layout in `device`.
    WholeCopy(PlainVulkan &vulkan, Lane lane, Direction direction, const Buffer &device, VkDeviceSize size,
              std::shared_ptr<Buffer> staging = nullptr, Rows device_rows = {});
    void run(void *host, Wait wait, Rows rows = {});

  private:
    Direction direction_;
    VkDeviceSize size_;
    std::shared_ptr<Buffer> staging_;
    std::unique_ptr<Job> job_;
};

// A copy by several threads. Each thread has a ring of three staging slots. While the device copies one slot, the
// thread fills or empties the next slot.
class RingCopy {
  public:
    struct Shape {
        Lane lane;
        VkDeviceSize chunk;
        Memory staging;
    };
    RingCopy(PlainVulkan &vulkan, Workers &workers, Shape shape, Direction direction, const Buffer &device,
             VkDeviceSize size, Rows device_rows = {});
    ~RingCopy();
    RingCopy(const RingCopy &) = delete;
    RingCopy &operator=(const RingCopy &) = delete;
    void run(void *host, Rows rows = {});

  private:
    static constexpr unsigned slots = 3;
    struct Ring {
        Buffer staging;
        VkCommandPool pool = VK_NULL_HANDLE;
        std::vector<VkCommandBuffer> commands; // one for each of the thread's chunks, recorded once
        VkSemaphore timeline = VK_NULL_HANDLE;
        uint64_t value = 0;
        VkQueue queue = VK_NULL_HANDLE;
        std::mutex *lock = nullptr; // the lock of `queue`, which several rings may use
    };
    void submit(Ring &ring, size_t index);
    void wait(Ring &ring, uint64_t value) const;
    void work(unsigned thread, char *host, Rows rows);
    PlainVulkan &vulkan_;
    Workers &workers_;
    Shape shape_;
    Direction direction_;
    VkDeviceSize size_;
    std::vector<Ring> rings_;
    std::vector<std::mutex> locks_;
};

// Copies directly into or out of host-visible device memory, on all threads of `workers`.
void direct_copy(Workers &workers, Direction direction, const Buffer &device, void *host, VkDeviceSize size);
