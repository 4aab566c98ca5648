// The plain Vulkan peer (plain_vulkan.h).
#include "plain_vulkan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "measure.h"
#include "pause.h"

const char *name_of(Wait wait) {
    return wait == Wait::block ? "blocking" : wait == Wait::poll ? "polling" : "spinning on a word";
}

const char *name_of(Lane lane) {
    return lane == Lane::compute ? "compute queue" : "transfer queue";
}

void vk_check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
}

// ---- Buffer

Buffer::Buffer(const PlainVulkan &vulkan, VkDeviceSize bytes, Memory kind) : size(bytes), device_(vulkan.device) {
    auto info = vk_struct<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const uint32_t families[] = {vulkan.queue(Lane::compute).family, vulkan.queue(Lane::transfer).family};
    if (vulkan.has(Lane::transfer)) { // concurrent sharing costs nothing for buffers, which have no layouts
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = 2;
        info.pQueueFamilyIndices = families;
    }
    vk_check(vk.CreateBuffer(device_, &info, nullptr, &handle), "vkCreateBuffer");
    VkMemoryRequirements requirements;
    vk.GetBufferMemoryRequirements(device_, handle, &requirements);
    auto flags = vk_struct<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    auto allocate = vk_struct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags);
    allocate.allocationSize = requirements.size;
    allocate.memoryTypeIndex = vulkan.type_of(kind, requirements.memoryTypeBits);
    if (allocate.memoryTypeIndex == UINT32_MAX) throw std::runtime_error("no such memory type");
    vk_check(vk.AllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory");
    vk_check(vk.BindBufferMemory(device_, handle, memory_, 0), "vkBindBufferMemory");
    if (kind != Memory::device) vk_check(vk.MapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    auto address_info = vk_struct<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    address_info.buffer = handle;
    address = vk.GetBufferDeviceAddress(device_, &address_info);
}

Buffer::~Buffer() {
    if (handle) vk.DestroyBuffer(device_, handle, nullptr);
    if (memory_) vk.FreeMemory(device_, memory_, nullptr);
}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(address, other.address);
    std::swap(size, other.size);
    std::swap(data, other.data);
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    return *this;
}

// ---- Pipeline

void Pipeline::bind(VkCommandBuffer commands) const {
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    if (set) vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
}

void Pipeline::push(VkCommandBuffer commands, const void *data, uint32_t size) const {
    vk.CmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, data);
}

// ---- Job

namespace {

void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags src_access, VkPipelineStageFlags to,
             VkAccessFlags dst_access) {
    auto memory = vk_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    memory.srcAccessMask = src_access;
    memory.dstAccessMask = dst_access;
    vk.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

constexpr VkPipelineStageFlags all_commands = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;

} // namespace

void memory_barrier(VkCommandBuffer commands) {
    barrier(commands, all_commands, VK_ACCESS_MEMORY_WRITE_BIT, all_commands,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

void host_barrier(VkCommandBuffer commands) {
    barrier(commands, all_commands, VK_ACCESS_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

Job::Job(PlainVulkan &vulkan, Lane lane, const Record &record) : vulkan_(vulkan), lane_(lane) {
    auto info = vk_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = vulkan.queue(lane).pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    for (VkCommandBuffer *commands : {&timeline_commands_, &spin_commands_}) {
        vk_check(vk.AllocateCommandBuffers(vulkan.device, &info, commands), "vkAllocateCommandBuffers");
        auto begin = vk_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        // The host may see the word, and submit the command buffer again, while the command buffer is still pending.
        if (commands == &spin_commands_) begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
        vk_check(vk.BeginCommandBuffer(*commands, &begin), "vkBeginCommandBuffer");
        record(*commands);
        if (commands == &spin_commands_) {
            barrier(*commands, all_commands, VK_ACCESS_MEMORY_WRITE_BIT,
                    VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
                    VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT);
            vk.CmdFillBuffer(*commands, vulkan.spin_word_->handle, 0, 4, 1);
            host_barrier(*commands);
        }
        vk_check(vk.EndCommandBuffer(*commands), "vkEndCommandBuffer");
    }
}

Job::~Job() {
    auto &queue = vulkan_.queue(lane_);
    vk.QueueWaitIdle(queue.queues[0]);
    vk.FreeCommandBuffers(vulkan_.device, queue.pool, 1, &timeline_commands_);
    vk.FreeCommandBuffers(vulkan_.device, queue.pool, 1, &spin_commands_);
}

void Job::run(Wait wait) {
    auto &queue = vulkan_.queue(lane_);
    auto submit = vk_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    const double limit = 20;
    if (wait == Wait::spin) {
        auto *word = static_cast<std::atomic<uint32_t> *>(vulkan_.spin_word_->data);
        word->store(0, std::memory_order_relaxed);
        submit.pCommandBuffers = &spin_commands_;
        vk_check(vk.QueueSubmit(queue.queues[0], 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
        const double start = now();
        for (uint64_t n = 1; word->load(std::memory_order_acquire) == 0; n++) {
            cpu_pause();
            if (n % 1048576 == 0 && now() - start > limit)
                throw std::runtime_error("timed out: the device did not write the word");
        }
        return;
    }
    const uint64_t value = ++queue.value;
    auto timeline = vk_struct<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &value;
    submit.pNext = &timeline;
    submit.pCommandBuffers = &timeline_commands_;
    submit.signalSemaphoreCount = 1;
    submit.pSignalSemaphores = &queue.timeline;
    vk_check(vk.QueueSubmit(queue.queues[0], 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    if (wait == Wait::poll) {
        uint64_t reached = 0;
        const double start = now();
        for (uint64_t n = 1; reached < value; n++) {
            vk_check(vk.GetSemaphoreCounterValue(vulkan_.device, queue.timeline, &reached),
                     "vkGetSemaphoreCounterValue");
            if (n % 1048576 == 0 && now() - start > limit)
                throw std::runtime_error("timed out: the timeline semaphore did not reach its value");
        }
        return;
    }
    auto info = vk_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &queue.timeline;
    info.pValues = &value;
    vk_check(vk.WaitSemaphores(vulkan_.device, &info, static_cast<uint64_t>(limit * 1e9)), "vkWaitSemaphores");
}

// ---- PlainVulkan

PlainVulkan::PlainVulkan(const uint8_t *wanted_uuid) {
    if (!vk.load_library()) throw std::runtime_error(std::string("no Vulkan: ") + vk.missing);
    auto application = vk_struct<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = vk_struct<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    vk_check(vk.CreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
    if (!vk.load_instance(instance_)) throw std::runtime_error(std::string("missing: ") + vk.missing);
    pick_physical_device(wanted_uuid);
    create_device();
    spin_word_ = std::make_unique<Buffer>(*this, 64, Memory::readback);
}

PlainVulkan::~PlainVulkan() {
    if (device) {
        vk.DeviceWaitIdle(device);
        warm_job_.reset();
        warm_data_.reset();
        spin_word_.reset();
        for (auto &o : owned_) {
            vk.DestroyPipeline(device, o.pipeline.pipeline, nullptr);
            vk.DestroyPipelineLayout(device, o.pipeline.layout, nullptr);
            vk.DestroyDescriptorPool(device, o.pool, nullptr);
            vk.DestroyDescriptorSetLayout(device, o.set_layout, nullptr);
            vk.DestroyShaderModule(device, o.module, nullptr);
        }
        for (Queue *queue : {&compute_, &transfer_}) {
            vk.DestroyCommandPool(device, queue->pool, nullptr);
            vk.DestroySemaphore(device, queue->timeline, nullptr);
        }
        vk.DestroyDevice(device, nullptr);
    }
    if (instance_) vk.DestroyInstance(instance_, nullptr);
}

void PlainVulkan::pick_physical_device(const uint8_t *wanted_uuid) {
    uint32_t count = 0;
    vk_check(vk.EnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    vk_check(vk.EnumeratePhysicalDevices(instance_, &count, devices.data()), "vkEnumeratePhysicalDevices");
    for (VkPhysicalDevice candidate : devices) {
        auto driver_properties =
            vk_struct<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
        auto id = vk_struct<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                                          &driver_properties);
        auto properties2 = vk_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id);
        vk.GetPhysicalDeviceProperties2(candidate, &properties2);
        if (wanted_uuid && std::memcmp(id.deviceUUID, wanted_uuid, VK_UUID_SIZE) != 0) continue;
        physical_ = candidate;
        properties = properties2.properties;
        driver = std::string(driver_properties.driverName) + " " + driver_properties.driverInfo;
        std::memcpy(uuid, id.deviceUUID, VK_UUID_SIZE);
        vk.GetPhysicalDeviceMemoryProperties(physical_, &memory_);
        unified_ = true;
        for (uint32_t h = 0; h < memory_.memoryHeapCount; h++)
            unified_ = unified_ && (memory_.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
        return;
    }
    throw std::runtime_error(wanted_uuid ? "plain Vulkan finds no device with that UUID"
                                         : "plain Vulkan finds no device");
}

void PlainVulkan::create_device() {
    uint32_t count = 0;
    vk.GetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk.GetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
    uint32_t universal = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const VkQueueFlags flags = families[i].queueFlags;
        const bool computes = flags & VK_QUEUE_COMPUTE_BIT, draws = flags & VK_QUEUE_GRAPHICS_BIT;
        if (computes && !draws && compute_.family == UINT32_MAX) compute_.family = i;
        if (computes && universal == UINT32_MAX) universal = i;
        // Excludes the families of video and optical-flow engines, which support transfers too.
        const VkQueueFlags other_flags = flags & ~(VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT);
        if ((flags & VK_QUEUE_TRANSFER_BIT) && other_flags == 0 && transfer_.family == UINT32_MAX) transfer_.family = i;
    }
    if (compute_.family == UINT32_MAX) compute_.family = universal; // families without graphics have less latency
    if (compute_.family == UINT32_MAX) throw std::runtime_error("no compute queue");

    const std::vector<float> priorities(16, 1.0F);
    std::vector<VkDeviceQueueCreateInfo> queues;
    for (Queue *queue : {&compute_, &transfer_}) {
        if (queue->family == UINT32_MAX) continue;
        auto info = vk_struct<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        info.queueFamilyIndex = queue->family;
        info.queueCount = std::min<uint32_t>(families[queue->family].queueCount, 8);
        info.pQueuePriorities = priorities.data();
        queue->queues.resize(info.queueCount);
        queues.push_back(info);
    }
    VkPhysicalDeviceVulkan12Features features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.bufferDeviceAddress = VK_TRUE;
    features.timelineSemaphore = VK_TRUE;
    VkPhysicalDeviceFeatures core_features{};
    core_features.shaderInt64 = VK_TRUE;
    auto info = vk_struct<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features);
    info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
    info.pQueueCreateInfos = queues.data();
    info.pEnabledFeatures = &core_features;
    vk_check(vk.CreateDevice(physical_, &info, nullptr, &device), "vkCreateDevice");
    if (!vk.load_device(device)) throw std::runtime_error(std::string("missing: ") + vk.missing);
    start(compute_);
    if (has(Lane::transfer)) start(transfer_);
}

void PlainVulkan::start(Queue &queue) {
    for (uint32_t i = 0; i < queue.queues.size(); i++)
        vk.GetDeviceQueue(device, queue.family, i, &queue.queues[i]);
    auto info = vk_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = queue.family;
    vk_check(vk.CreateCommandPool(device, &info, nullptr, &queue.pool), "vkCreateCommandPool");
    queue.timeline = timeline();
}

VkSemaphore PlainVulkan::timeline() const {
    auto type = vk_struct<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto info = vk_struct<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type);
    VkSemaphore semaphore;
    vk_check(vk.CreateSemaphore(device, &info, nullptr, &semaphore), "vkCreateSemaphore");
    return semaphore;
}

uint32_t PlainVulkan::type_of(Memory kind, uint32_t allowed) const {
    constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                    host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                    cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    auto find = [&](VkMemoryPropertyFlags need, VkMemoryPropertyFlags excluded) {
        for (uint32_t i = 0; i < memory_.memoryTypeCount; i++) {
            const VkMemoryPropertyFlags flags = memory_.memoryTypes[i].propertyFlags;
            if ((allowed >> i & 1) && (flags & need) == need && !(flags & excluded)) return i;
        }
        return UINT32_MAX;
    };
    auto first_valid = [](uint32_t first, uint32_t second) { return first != UINT32_MAX ? first : second; };
    switch (kind) {
    case Memory::device:
        return first_valid(find(local, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT), find(local, 0));
    case Memory::upload:
        return first_valid(find(host, local | cached), first_valid(find(host, local), find(host, 0)));
    case Memory::upload_cached:
    case Memory::readback:
        return first_valid(find(host | cached, local), first_valid(find(host | cached, 0), find(host, 0)));
    case Memory::direct:
        return find(local | host, 0);
    }
    return UINT32_MAX;
}

Pipeline PlainVulkan::pipeline(const uint32_t *spirv, size_t bytes, uint32_t push_size,
                               const std::vector<const Buffer *> &buffers) {
    OwnedPipeline owned{};
    auto module = vk_struct<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    module.codeSize = bytes;
    module.pCode = spirv;
    vk_check(vk.CreateShaderModule(device, &module, nullptr, &owned.module), "vkCreateShaderModule");

    const auto count = static_cast<uint32_t>(buffers.size());
    std::vector<VkDescriptorSetLayoutBinding> bindings(count);
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    auto set = vk_struct<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = count;
    set.pBindings = bindings.data();
    vk_check(vk.CreateDescriptorSetLayout(device, &set, nullptr, &owned.set_layout), "vkCreateDescriptorSetLayout");

    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size};
    auto layout = vk_struct<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &owned.set_layout;
    layout.pushConstantRangeCount = push_size ? 1 : 0;
    layout.pPushConstantRanges = &range;
    vk_check(vk.CreatePipelineLayout(device, &layout, nullptr, &owned.pipeline.layout), "vkCreatePipelineLayout");

    auto info = vk_struct<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = owned.module;
    info.stage.pName = "main";
    info.layout = owned.pipeline.layout;
    vk_check(vk.CreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &owned.pipeline.pipeline),
             "vkCreateComputePipelines");
    if (count) {
        const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
        auto pool = vk_struct<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        pool.maxSets = 1;
        pool.poolSizeCount = 1;
        pool.pPoolSizes = &size;
        vk_check(vk.CreateDescriptorPool(device, &pool, nullptr, &owned.pool), "vkCreateDescriptorPool");
        auto allocate = vk_struct<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        allocate.descriptorPool = owned.pool;
        allocate.descriptorSetCount = 1;
        allocate.pSetLayouts = &owned.set_layout;
        vk_check(vk.AllocateDescriptorSets(device, &allocate, &owned.pipeline.set), "vkAllocateDescriptorSets");
        for (uint32_t i = 0; i < count; i++) {
            const VkDescriptorBufferInfo bound{buffers[i]->handle, 0, VK_WHOLE_SIZE};
            auto write = vk_struct<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
            write.dstSet = owned.pipeline.set;
            write.dstBinding = i;
            write.descriptorCount = 1;
            write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            write.pBufferInfo = &bound;
            vk.UpdateDescriptorSets(device, 1, &write, 0, nullptr);
        }
    }
    owned_.push_back(owned);
    return owned.pipeline;
}

void PlainVulkan::warm(double seconds) {
    if (software()) return;
    if (!warm_job_) {
        warm_data_ = buffer(256 << 20, Memory::device);
        warm_job_ = std::make_unique<Job>(*this, Lane::compute, [&](VkCommandBuffer commands) {
            for (uint32_t i = 0; i < 8; i++) {
                vk.CmdFillBuffer(commands, warm_data_->handle, 0, VK_WHOLE_SIZE, i);
                memory_barrier(commands);
            }
        });
    }
    for (const double start = now(); now() - start < seconds;)
        warm_job_->run(Wait::block);
}
