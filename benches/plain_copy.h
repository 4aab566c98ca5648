// The peer's copies between ordinary (pageable) memory and device memory.
#pragma once
#include <mutex>

#include "plain_vulkan.h"
#include "workers.h"

enum class Direction { up, down }; // to the device, from it

// How the bytes of a copy lie in ordinary memory or in a buffer: in one piece, or as rows of a matrix.
struct Rows {
    size_t bytes = 0; // of a row; 0: one piece
    size_t pitch = 0;
    size_t begin = 0; // where the first row lies
};

// Through one staging buffer as large as the copy: memcpy and one command, one after the other.
class WholeCopy {
  public:
    // `staging`: at least as large, to be shared by copies that do not run at once; null: one of its own.
    // `there`: how the bytes lie in `device`.
    WholeCopy(PlainVulkan &vulkan, Lane lane, Direction direction, const Buffer &device, VkDeviceSize size,
              std::shared_ptr<Buffer> staging = nullptr, Rows there = {});
    void run(void *host, Wait wait, Rows rows = {});

  private:
    Direction direction_;
    VkDeviceSize size_;
    std::shared_ptr<Buffer> staging_;
    std::unique_ptr<Job> job_;
};

// By several threads, each with a ring of three slots: while one slot is on its way, the thread fills or empties the
// next.
class RingCopy {
  public:
    struct Shape {
        Lane lane;
        VkDeviceSize chunk;
        Memory staging;
    };
    RingCopy(PlainVulkan &vulkan, Workers &workers, Shape shape, Direction direction, const Buffer &device,
             VkDeviceSize size, Rows there = {});
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
        std::mutex *lock = nullptr; // queues may be shared by rings
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

// Straight into or out of device memory that the host sees; on several threads if `workers` has several.
void direct_copy(Workers &workers, Direction direction, const Buffer &device, void *host, VkDeviceSize size);
