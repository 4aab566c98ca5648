// C++ AMP moves particles, and plain Vulkan draws them off screen from the same memory: the array of particles is the
// vertex buffer. Only the finished picture is copied. The program makes a VkDevice, and an accelerator_view on it.
#include <amp.h>
#include <amp_math.h>
#include <revamp/vulkan.hpp>
#include <vulkan/vulkan.h>

#if __has_include(<stb/stb_image_write.h>)
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace concurrency;

namespace {

constexpr int particles = 60000, frames = 48, steps = 4;
constexpr unsigned width = 512, height = 512;

struct particle {
    float x, y, vx, vy;
};

void check(VkResult result, const char *what) {
    if (result == VK_SUCCESS) return;
    std::printf("%s failed: %d\n", what, static_cast<int>(result));
    std::exit(1);
}
#define VK(call) check(call, #call)

// A Vulkan struct with its sType; all other members are zero.
template <class T> T make(VkStructureType type) {
    T made = {};
    made.sType = type;
    return made;
}

const uint32_t vertex_code[] =
#include "particles.vert.inc"
    ;
const uint32_t fragment_code[] =
#include "particles.frag.inc"
    ;

// The Vulkan objects of the program.
struct renderer {
    VkInstance instance = nullptr;
    VkPhysicalDevice physical = nullptr;
    VkDevice device = nullptr;
    VkQueue queue = nullptr;
    uint32_t family = 0;
    VkRenderPass pass = {};
    VkFramebuffer target = {};
    VkPipelineLayout layout = {};
    VkPipeline pipeline = {};
    VkImage image = {};
    VkImageView image_view = {};
    VkDeviceMemory image_memory = {}, picture_memory = {};
    VkBuffer picture = {};
    VkCommandPool pool = {};
    VkSemaphore timeline = {};
};

uint32_t memory_type(const renderer &r, uint32_t allowed, VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties all;
    vkGetPhysicalDeviceMemoryProperties(r.physical, &all);
    for (uint32_t i = 0; i < all.memoryTypeCount; i++)
        if ((allowed >> i & 1) && (all.memoryTypes[i].propertyFlags & flags) == flags) return i;
    std::fprintf(stderr, "the device has no memory type with the properties %#x\n", unsigned(flags));
    std::exit(1);
}

// Finds the default accelerator if it is a Vulkan device, otherwise the first Vulkan device.
bool find_accelerator(accelerator &found) {
    const auto is_vulkan = [](const accelerator &a) { return a.device_path.rfind(L"vulkan", 0) == 0; };
    found = accelerator();
    if (is_vulkan(found)) return true;
    for (const accelerator &a : accelerator::get_all()) {
        if (!is_vulkan(a)) continue;
        found = a;
        return true;
    }
    return false;
}

// Makes a VkDevice with the features and extensions that the library needs, and an accelerator_view on it.
accelerator_view make_view(renderer &r, const accelerator &chosen_accelerator) {
    auto application = make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_3;
    auto instance = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    instance.pApplicationInfo = &application;
    const char *layer = "VK_LAYER_KHRONOS_validation";
    const char *validation_setting = std::getenv("REVAMP_VALIDATION");
    instance.enabledLayerCount = validation_setting && *validation_setting != '0' ? 1 : 0;
    instance.ppEnabledLayerNames = &layer;
    if (vkCreateInstance(&instance, nullptr, &r.instance) == VK_ERROR_LAYER_NOT_PRESENT) {
        instance.enabledLayerCount = 0;
        VK(vkCreateInstance(&instance, nullptr, &r.instance));
    }

    // Finds the accelerator's physical device by its UUID.
    uint32_t count = 16;
    VkPhysicalDevice all[16];
    vkEnumeratePhysicalDevices(r.instance, &count, all);
    for (uint32_t i = 0; i < count; i++) {
        auto id = make<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
        auto properties = make<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
        properties.pNext = &id;
        vkGetPhysicalDeviceProperties2(all[i], &properties);
        std::wstring path = L"vulkan\\";
        for (unsigned n = 0; n < VK_UUID_SIZE; n++) {
            if (n == 4 || n == 6 || n == 8 || n == 10) path += L'-';
            path += L"0123456789abcdef"[id.deviceUUID[n] >> 4];
            path += L"0123456789abcdef"[id.deviceUUID[n] & 15];
        }
        if (path == chosen_accelerator.device_path) r.physical = all[i];
    }
    const revamp_vulkan_device_requirements needs = revamp::vulkan::get_device_requirements(chosen_accelerator);
    if (!r.physical || needs.graphics_queue_family_index == VK_QUEUE_FAMILY_IGNORED) {
        std::printf("this device draws nothing\n");
        std::exit(0);
    }
    r.family = needs.graphics_queue_family_index;
    const float priority = 1;
    auto queue = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = r.family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    auto device = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    device.pNext = needs.features;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    device.enabledExtensionCount = needs.extension_count;
    device.ppEnabledExtensionNames = needs.extensions;
    VK(vkCreateDevice(r.physical, &device, nullptr, &r.device));
    vkGetDeviceQueue(r.device, r.family, 0, &r.queue);

    revamp_vulkan_device_info info = {};
    info.instance = r.instance;
    info.physical_device = r.physical;
    info.device = r.device;
    info.create_info = &device;
    info.queue = r.queue;
    info.queue_family_index = r.family;
    info.api_version = application.apiVersion;
    return revamp::vulkan::create_accelerator_view(info);
}

void make_target(renderer &r) {
    auto image = make<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = VK_FORMAT_R8G8B8A8_UNORM;
    image.extent = {width, height, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    VK(vkCreateImage(r.device, &image, nullptr, &r.image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(r.device, r.image, &needs);
    auto memory = make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = memory_type(r, needs.memoryTypeBits, 0);
    VK(vkAllocateMemory(r.device, &memory, nullptr, &r.image_memory));
    VK(vkBindImageMemory(r.device, r.image, r.image_memory, 0));
    auto view = make<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
    view.image = r.image;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = image.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VK(vkCreateImageView(r.device, &view, nullptr, &r.image_view));

    VkAttachmentDescription color = {};
    color.format = image.format;
    color.samples = VK_SAMPLE_COUNT_1_BIT;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
    // Orders the pass after the copy of the previous picture, and before the copy of the current picture.
    const VkSubpassDependency dependencies[] = {
        {VK_SUBPASS_EXTERNAL, 0, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         VK_ACCESS_TRANSFER_READ_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, 0},
        {0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT, 0}};
    auto pass = make<VkRenderPassCreateInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO);
    pass.attachmentCount = 1;
    pass.pAttachments = &color;
    pass.subpassCount = 1;
    pass.pSubpasses = &subpass;
    pass.dependencyCount = 2;
    pass.pDependencies = dependencies;
    VK(vkCreateRenderPass(r.device, &pass, nullptr, &r.pass));
    auto target = make<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
    target.renderPass = r.pass;
    target.attachmentCount = 1;
    target.pAttachments = &r.image_view;
    target.width = width;
    target.height = height;
    target.layers = 1;
    VK(vkCreateFramebuffer(r.device, &target, nullptr, &r.target));

    auto picture = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    picture.size = width * height * 4;
    picture.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VK(vkCreateBuffer(r.device, &picture, nullptr, &r.picture));
    vkGetBufferMemoryRequirements(r.device, r.picture, &needs);
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = memory_type(r, needs.memoryTypeBits,
                                         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    VK(vkAllocateMemory(r.device, &memory, nullptr, &r.picture_memory));
    VK(vkBindBufferMemory(r.device, r.picture, r.picture_memory, 0));
}

VkShaderModule shader(const renderer &r, const uint32_t *code, std::size_t bytes) {
    auto info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    info.codeSize = bytes;
    info.pCode = code;
    VkShaderModule made;
    VK(vkCreateShaderModule(r.device, &info, nullptr, &made));
    return made;
}

void make_pipeline(renderer &r) {
    VkPipelineShaderStageCreateInfo stages[2] = {};
    for (auto &stage : stages) {
        stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        stage.pName = "main";
    }
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = shader(r, vertex_code, sizeof vertex_code);
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = shader(r, fragment_code, sizeof fragment_code);
    // The elements of the array are the vertices.
    const VkVertexInputBindingDescription binding = {0, sizeof(particle), VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[] = {{0, 0, VK_FORMAT_R32G32_SFLOAT, 0},
                                                            {1, 0, VK_FORMAT_R32G32_SFLOAT, 8}};
    auto input = make<VkPipelineVertexInputStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO);
    input.vertexBindingDescriptionCount = 1;
    input.pVertexBindingDescriptions = &binding;
    input.vertexAttributeDescriptionCount = 2;
    input.pVertexAttributeDescriptions = attributes;
    auto assembly =
        make<VkPipelineInputAssemblyStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO);
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    const VkViewport viewport = {0, 0, width, height, 0, 1};
    const VkRect2D scissor = {{0, 0}, {width, height}};
    auto viewport_state =
        make<VkPipelineViewportStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO);
    viewport_state.viewportCount = viewport_state.scissorCount = 1;
    viewport_state.pViewports = &viewport;
    viewport_state.pScissors = &scissor;
    auto raster =
        make<VkPipelineRasterizationStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
    raster.lineWidth = 1;
    auto samples = make<VkPipelineMultisampleStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState blend = {};
    blend.colorWriteMask = 0xF;
    auto blending = make<VkPipelineColorBlendStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
    blending.attachmentCount = 1;
    blending.pAttachments = &blend;
    const auto layout = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    VK(vkCreatePipelineLayout(r.device, &layout, nullptr, &r.layout));
    auto info = make<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO);
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport_state;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blending;
    info.layout = r.layout;
    info.renderPass = r.pass;
    VK(vkCreateGraphicsPipelines(r.device, VK_NULL_HANDLE, 1, &info, nullptr, &r.pipeline));
    for (const auto &stage : stages)
        vkDestroyShaderModule(r.device, stage.module, nullptr);

    auto pool = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.queueFamilyIndex = r.family;
    VK(vkCreateCommandPool(r.device, &pool, nullptr, &r.pool));
    auto semaphore_type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    semaphore_type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto semaphore = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    semaphore.pNext = &semaphore_type;
    VK(vkCreateSemaphore(r.device, &semaphore, nullptr, &r.timeline));
}

// Records commands that draw the particles and copy the picture to the host. All frames use the same commands.
VkCommandBuffer record(const renderer &r, const revamp_vulkan_array_info &vertices) {
    auto allocate_info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    allocate_info.commandPool = r.pool;
    allocate_info.commandBufferCount = 1;
    VkCommandBuffer commands;
    VK(vkAllocateCommandBuffers(r.device, &allocate_info, &commands));
    auto begin = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    VK(vkBeginCommandBuffer(commands, &begin));
    VkClearValue black = {};
    black.color.float32[3] = 1;
    auto pass = make<VkRenderPassBeginInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO);
    pass.renderPass = r.pass;
    pass.framebuffer = r.target;
    pass.renderArea = {{0, 0}, {width, height}};
    pass.clearValueCount = 1;
    pass.pClearValues = &black;
    vkCmdBeginRenderPass(commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r.pipeline);
    vkCmdBindVertexBuffers(commands, 0, 1, &vertices.buffer, &vertices.offset);
    vkCmdDraw(commands, particles, 1, 0, 0);
    vkCmdEndRenderPass(commands);
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {width, height, 1};
    vkCmdCopyImageToBuffer(commands, r.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, r.picture, 1, &region);
    auto to_host = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    to_host.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &to_host, 0, nullptr, 0,
                         nullptr);
    VK(vkEndCommandBuffer(commands));
    return commands;
}

// Two bodies attract the particles.
void move(array<particle, 1> &all, float dt) {
    parallel_for_each(
        all.extent, [&all, dt ](index<1> i) restrict(amp) {
            particle p = all[i];
            for (int body = 0; body < 2; body++) {
                const float dx = (body == 0 ? -0.35f : 0.35f) - p.x, dy = -p.y;
                const float square = dx * dx + dy * dy + 0.02f;
                const float pull = 0.12f / (square * fast_math::sqrtf(square));
                p.vx += dt * pull * dx;
                p.vy += dt * pull * dy;
            }
            p.x += dt * p.vx;
            p.y += dt * p.vy;
            all[i] = p;
        });
}

std::vector<particle> ring() {
    std::vector<particle> all(particles);
    unsigned state = 1;
    const auto random = [&state] {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / 16777216.0f;
    };
    for (particle &p : all) {
        const float angle = 6.2831853f * random(), radius = 0.55f + 0.2f * random();
        const float x = std::cos(angle), y = std::sin(angle);
        p = {radius * x, radius * y, -0.6f * y, 0.6f * x};
    }
    return all;
}

// True if each particle in the picture has lit its pixel, and the other pixels are black.
bool is_drawn(const array<particle, 1> &all, const unsigned char *picture) {
    std::vector<particle> now(particles);
    copy(all, now.begin());
    std::vector<bool> lit(width * height);
    int wrong = 0, inside = 0;
    for (const particle &p : now) {
        const float x = (p.x + 1) * (width / 2.0f), y = (p.y + 1) * (height / 2.0f);
        if (!(x >= 0 && x < width && y >= 0 && y < height)) continue;
        const std::size_t pixel = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
        inside++;
        lit[pixel] = true;
        wrong += picture[4 * pixel + 2] == 0;
    }
    for (std::size_t pixel = 0; pixel < lit.size(); pixel++)
        wrong += !lit[pixel] && picture[4 * pixel + 2] != 0;
    std::printf("%d of %d particles are in the picture, %d pixels differ\n", inside, particles, wrong);
    // A particle chosen_accelerator the edge of a pixel may be rounded to the next pixel.
    return inside > particles / 2 && wrong < particles / 100;
}

bool draw(renderer &r, const accelerator_view &view) {
    const std::vector<particle> begin = ring();
    array<particle, 1> all(particles, begin.begin(), begin.end(), view);
    const VkCommandBuffer commands = record(r, revamp::vulkan::get_buffer(all));
    for (uint64_t frame = 1; frame <= frames; frame++) {
        for (int step = 0; step < steps; step++)
            move(all, 0.01f);
        // The picture is drawn after the particles have moved, and they move again after it is drawn.
        const revamp_vulkan_point moved = revamp::vulkan::signal(all, REVAMP_ACCESS_READ);
        const revamp_vulkan_point drawn = {r.timeline, frame};
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        auto values = make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        values.waitSemaphoreValueCount = values.signalSemaphoreValueCount = 1;
        values.pWaitSemaphoreValues = &moved.value;
        values.pSignalSemaphoreValues = &drawn.value;
        auto submit = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        submit.pNext = &values;
        submit.waitSemaphoreCount = submit.commandBufferCount = submit.signalSemaphoreCount = 1;
        submit.pWaitSemaphores = &moved.semaphore;
        submit.pWaitDstStageMask = &stage;
        submit.pCommandBuffers = &commands;
        submit.pSignalSemaphores = &drawn.semaphore;
        {
            const revamp::vulkan::queue_lock lock(view);
            VK(vkQueueSubmit(r.queue, 1, &submit, VK_NULL_HANDLE));
        }
        revamp::vulkan::wait(all, REVAMP_ACCESS_READ, drawn);
    }
    const uint64_t last = frames;
    auto wait = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    wait.semaphoreCount = 1;
    wait.pSemaphores = &r.timeline;
    wait.pValues = &last;
    VK(vkWaitSemaphores(r.device, &wait, UINT64_MAX));
    void *picture = nullptr;
    VK(vkMapMemory(r.device, r.picture_memory, 0, VK_WHOLE_SIZE, 0, &picture));
#ifdef STB_IMAGE_WRITE_IMPLEMENTATION
    if (!stbi_write_png("particles.png", width, height, 4, picture, width * 4)) return false;
    std::printf("particles.png shows frame %d\n", frames);
#endif
    return is_drawn(all, static_cast<const unsigned char *>(picture));
}

void close(renderer &r) {
    vkDestroySemaphore(r.device, r.timeline, nullptr);
    vkDestroyCommandPool(r.device, r.pool, nullptr);
    vkDestroyPipeline(r.device, r.pipeline, nullptr);
    vkDestroyPipelineLayout(r.device, r.layout, nullptr);
    vkDestroyFramebuffer(r.device, r.target, nullptr);
    vkDestroyRenderPass(r.device, r.pass, nullptr);
    vkDestroyImageView(r.device, r.image_view, nullptr);
    vkDestroyImage(r.device, r.image, nullptr);
    vkDestroyBuffer(r.device, r.picture, nullptr);
    vkFreeMemory(r.device, r.image_memory, nullptr);
    vkFreeMemory(r.device, r.picture_memory, nullptr);
    vkDestroyDevice(r.device, nullptr);
    vkDestroyInstance(r.instance, nullptr);
}

} // namespace

int main() {
    accelerator chosen_accelerator;
    if (!find_accelerator(chosen_accelerator)) {
        std::printf("no Vulkan device runs the kernels of this program\n");
        return 0;
    }
    std::printf("%ls\n", chosen_accelerator.description.c_str());
    renderer r;
    bool is_right = false;
    {
        const accelerator_view view = make_view(r, chosen_accelerator);
        make_target(r);
        make_pipeline(r);
        is_right = draw(r, view);
        view.wait();
    }
    // The library stops using the VkDevice.
    if (revamp_uninitialize() != REVAMP_OK) return 1;
    close(r);
    std::printf(is_right ? "right\n" : "WRONG\n");
    return is_right ? 0 : 1;
}
