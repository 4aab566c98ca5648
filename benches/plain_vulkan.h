// The plain Vulkan peer, a hand-written Vulkan program: device, memory, pipelines, pre-recorded commands, and three
// ways to wait for the commands.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vk_functions.h"

enum class Wait { block, poll, spin };
const char *name_of(Wait wait);

// The kinds of memory from which a hand-written program chooses.
enum class Memory {
    device,        // device-local, not host-visible if there is such a type
    upload,        // host memory, write-combined if there is such a type
    upload_cached, // host memory, cached
    readback,      // host memory, cached: uncached reads are hundreds of times slower
    direct,        // device-local and host-visible: ReBAR, or unified memory
};

// The queue family on which commands run.
enum class Lane { compute, transfer };
const char *name_of(Lane lane);

void vk_check(VkResult result, const char *what);

class PlainVulkan;

// A buffer with its memory. The memory is mapped unless its kind is Memory::device. The buffer must not outlive its
// PlainVulkan.
class Buffer {
  public:
    Buffer() = default;
    Buffer(const PlainVulkan &vulkan, VkDeviceSize size, Memory kind);
    ~Buffer();
    Buffer(Buffer &&other) noexcept { *this = std::move(other); }
    Buffer &operator=(Buffer &&other) noexcept;

    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceAddress address = 0;
    VkDeviceSize size = 0;
    void *data = nullptr;

  private:
    VkDevice device_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

// A compute pipeline with up to four storage buffers in descriptor set 0, which is written once.
struct Pipeline {
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
    void bind(VkCommandBuffer commands) const;
    void push(VkCommandBuffer commands, const void *data, uint32_t size) const;
};

// Commands that are recorded once and submitted repeatedly.
class Job {
  public:
    using Record = std::function<void(VkCommandBuffer)>;
    Job(PlainVulkan &vulkan, Lane lane, const Record &record);
    ~Job();
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;
    void run(Wait wait);

  private:
    PlainVulkan &vulkan_;
    Lane lane_;
    VkCommandBuffer timeline_commands_ = VK_NULL_HANDLE; // signals the timeline
    VkCommandBuffer spin_commands_ = VK_NULL_HANDLE;     // ends by writing a word of host memory
};

void memory_barrier(VkCommandBuffer commands); // makes all earlier writes visible to all later commands
void host_barrier(VkCommandBuffer commands);   // makes all earlier writes visible to the host

class PlainVulkan {
  public:
    // `uuid`: the 16 bytes of the UUID of the device to open. Null: opens the first device. Throws std::runtime_error.
    explicit PlainVulkan(const uint8_t *uuid);
    ~PlainVulkan();
    PlainVulkan(const PlainVulkan &) = delete;
    PlainVulkan &operator=(const PlainVulkan &) = delete;

    std::shared_ptr<Buffer> buffer(VkDeviceSize size, Memory kind) const {
        return std::make_shared<Buffer>(*this, size, kind);
    }
    bool has(Memory kind) const { return type_of(kind) != UINT32_MAX; }
    bool has(Lane lane) const { return queue(lane).family != UINT32_MAX; }
    // True if host and device share all memory. The host then writes device memory in place, and reads it through the
    // host's caches.
    bool unified() const { return unified_; }
    // The ways to wait. On software devices there is only Wait::block, because polling and spinning take the processor
    // from the driver and from the next measurement.
    std::vector<Wait> waits() const {
        return software() ? std::vector<Wait>{Wait::block} : std::vector<Wait>{Wait::block, Wait::poll, Wait::spin};
    }
    bool software() const { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    Pipeline pipeline(const uint32_t *spirv, size_t bytes, uint32_t push_size,
                      const std::vector<const Buffer *> &buffers);
    // Keeps the device busy for `seconds` to raise its clock. Does nothing on software devices.
    void warm(double seconds);

    struct Queue {
        uint32_t family = UINT32_MAX;
        std::vector<VkQueue> queues;
        VkCommandPool pool = VK_NULL_HANDLE;
        VkSemaphore timeline = VK_NULL_HANDLE;
        uint64_t value = 0;
    };
    const Queue &queue(Lane lane) const { return lane == Lane::compute ? compute_ : transfer_; }
    Queue &queue(Lane lane) { return lane == Lane::compute ? compute_ : transfer_; }
    VkSemaphore timeline() const;
    // The index of a memory type of this kind that `allowed` (VkMemoryRequirements::memoryTypeBits) contains;
    // UINT32_MAX if there is none.
    uint32_t type_of(Memory kind, uint32_t allowed = UINT32_MAX) const;

    VkPhysicalDeviceProperties properties{};
    VkDevice device = VK_NULL_HANDLE;
    std::string driver;
    uint8_t uuid[VK_UUID_SIZE] = {};
    Wait best_wait = Wait::block; // the fastest way to wait; bench_launch sets it

  private:
    friend class Job;
    void pick_physical_device(const uint8_t *uuid);
    void create_device();
    void start(Queue &queue);
    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties memory_{};
    bool unified_ = false;
    Queue compute_, transfer_;
    std::unique_ptr<Buffer> spin_word_; // the GPU writes 1 here, the host spins on it
    std::shared_ptr<Buffer> warm_data_;
    std::unique_ptr<Job> warm_job_;
    struct OwnedPipeline {
        VkShaderModule module;
        VkDescriptorSetLayout set_layout;
        VkDescriptorPool pool;
        Pipeline pipeline;
    };
    std::vector<OwnedPipeline> owned_;
};
