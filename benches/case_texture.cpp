// Benchmarks of textures with four 8-bit unorm components: uploads, downloads, bilinear sampling, and a convolution
// that reads texels by index. The plain Vulkan peer uses an image, a sampler, and a buffer for the result.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bench.h"
#include "shaders.h"
#include "texture_work.h"

namespace {

// A sampled image in the layout GENERAL.
class Image {
  public:
    Image(PlainVulkan &vulkan, uint32_t n) : device_(vulkan.device), n_(n) {
        auto info = vk_struct<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = VK_FORMAT_R8G8B8A8_UNORM;
        info.extent = {n, n, 1};
        info.mipLevels = info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        vk_check(vk.CreateImage(device_, &info, nullptr, &image_), "vkCreateImage");
        VkMemoryRequirements requirements;
        vk.GetImageMemoryRequirements(device_, image_, &requirements);
        auto allocate = vk_struct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
        allocate.allocationSize = requirements.size;
        allocate.memoryTypeIndex = vulkan.type_of(Memory::device, requirements.memoryTypeBits);
        if (allocate.memoryTypeIndex == UINT32_MAX) throw std::runtime_error("no such memory type");
        vk_check(vk.AllocateMemory(device_, &allocate, nullptr, &memory_), "vkAllocateMemory");
        vk_check(vk.BindImageMemory(device_, image_, memory_, 0), "vkBindImageMemory");
        auto view = vk_struct<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
        view.image = image_;
        view.viewType = VK_IMAGE_VIEW_TYPE_2D;
        view.format = info.format;
        view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vk_check(vk.CreateImageView(device_, &view, nullptr, &view_), "vkCreateImageView");
        auto sampler_info = vk_struct<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
        sampler_info.magFilter = sampler_info.minFilter = VK_FILTER_LINEAR;
        sampler_info.addressModeU = sampler_info.addressModeV = sampler_info.addressModeW =
            VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
        vk_check(vk.CreateSampler(device_, &sampler_info, nullptr, &sampler_), "vkCreateSampler");
        Job(vulkan, Lane::compute, [&](VkCommandBuffer commands) {
            auto barrier = vk_struct<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
            barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
            barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
            barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
            barrier.image = image_;
            barrier.subresourceRange = view.subresourceRange;
            vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                                  nullptr, 0, nullptr, 1, &barrier);
        }).run(Wait::block);
    }
    Image(const Image &) = delete;
    Image &operator=(const Image &) = delete;
    ~Image() {
        vk.DestroySampler(device_, sampler_, nullptr);
        vk.DestroyImageView(device_, view_, nullptr);
        vk.DestroyImage(device_, image_, nullptr);
        vk.FreeMemory(device_, memory_, nullptr);
    }
    void from(VkCommandBuffer commands, const Buffer &buffer) const {
        const VkBufferImageCopy all = whole();
        vk.CmdCopyBufferToImage(commands, buffer.handle, image_, VK_IMAGE_LAYOUT_GENERAL, 1, &all);
        memory_barrier(commands);
    }
    void to(VkCommandBuffer commands, const Buffer &buffer) const {
        const VkBufferImageCopy all = whole();
        vk.CmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_GENERAL, buffer.handle, 1, &all);
        host_barrier(commands);
    }
    VkDescriptorImageInfo bound() const { return {sampler_, view_, VK_IMAGE_LAYOUT_GENERAL}; }

  private:
    VkBufferImageCopy whole() const {
        VkBufferImageCopy all{};
        all.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        all.imageExtent = {n_, n_, 1};
        return all;
    }
    VkDevice device_;
    uint32_t n_;
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
    VkSampler sampler_ = VK_NULL_HANDLE;
};

// The image of the CUDA peer, if there is a CUDA peer.
class CudaImage {
  public:
    CudaImage(const CudaPeer *cuda, int n) : cuda_(cuda) {
        if (cuda_) cuda_check(cuda_->make_image(n, &made_));
    }
    CudaImage(const CudaImage &) = delete;
    CudaImage &operator=(const CudaImage &) = delete;
    ~CudaImage() {
        if (cuda_) cuda_->free_image(made_);
    }
    explicit operator bool() const { return cuda_ != nullptr; }
    void upload(const void *from) const { cuda_check(cuda_->upload_image(made_, from)); }
    void download(void *to) const { cuda_check(cuda_->download_image(made_, to)); }
    void run(TextureKernel which, unsigned launches) const {
        cuda_check(cuda_->run_image(made_, which == TextureKernel::bilinear, launches));
    }
    void result(void *to) const { cuda_check(cuda_->image_result(made_, to)); }

  private:
    const CudaPeer *cuda_;
    void *made_ = nullptr;
};

// Copies between host memory and staging memory, on all threads.
void copy_on_all_threads(Bench &b, void *to, const void *from, size_t bytes) {
    const size_t bytes_per_thread = (bytes / b.copy_threads.count() + 4095) / 4096 * 4096;
    b.copy_threads.run([&](unsigned n) {
        const size_t begin = std::min(bytes, bytes_per_thread * n), end = std::min(bytes, begin + bytes_per_thread);
        std::memcpy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin, end - begin);
    });
}

std::string transfer_name(int n, bool is_up) {
    return std::string("texture ") + (is_up ? "upload, " : "download, ") + size_text(double(n) * double(n) * 4);
}

std::string kernel_name(TextureKernel which) {
    return which == TextureKernel::bilinear ? "texture, bilinear" : "texture, 7 x 7";
}

void upload_and_download(Bench &b, int n, TextureWork *ours, const Image &image, const CudaImage &cuda) {
    const size_t bytes = size_t(n) * size_t(n) * 4;
    b.need_host_memory(bytes);
    const Buffer up(*b.plain, bytes, Memory::upload), down(*b.plain, bytes, Memory::readback);
    Job upload(*b.plain, Lane::compute, [&](VkCommandBuffer commands) { image.from(commands, up); });
    Job download(*b.plain, Lane::compute, [&](VkCommandBuffer commands) { image.to(commands, down); });
    const auto peer_up = [&] {
        copy_on_all_threads(b, up.data, b.source.data(), bytes);
        upload.run(b.plain->best_wait);
    };
    const auto peer_down = [&] {
        download.run(b.plain->best_wait);
        copy_on_all_threads(b, b.target.data(), down.data, bytes);
    };
    for (const bool is_up : {true, false}) {
        Case c;
        c.name = transfer_name(n, is_up);
        if (!b.is_selected(c.name)) continue;
        c.bytes = double(bytes);
        c.goals["plain Vulkan"] = {Goal::speed_at_least, 0.95};
        if (ours) {
            const auto run_up = [&b, ours] { ours->upload(b.source.data()); };
            const auto run_down = [&b, ours] { ours->download(b.target.data()); };
            c.ways.push_back({"revamp", "", [=] { return is_up ? timed(run_up) : timed(run_down); },
                              [=, &b] {
                                  b.refill(bytes);
                                  run_up();
                                  run_down();
                                  b.compare(bytes, "a texture");
                              }});
        }
        c.ways.push_back({"plain Vulkan", "", [=] { return is_up ? timed(peer_up) : timed(peer_down); },
                          [=, &b] {
                              b.refill(bytes);
                              peer_up();
                              peer_down();
                              b.compare(bytes, "an image");
                          }});
        if (cuda)
            c.ways.push_back({"CUDA", "texture object",
                              [&, is_up] {
                                  return is_up ? timed([&] { cuda.upload(b.source.data()); })
                                               : timed([&] { cuda.download(b.target.data()); });
                              },
                              [&] {
                                  b.refill(bytes);
                                  cuda.upload(b.source.data());
                                  cuda.download(b.target.data());
                                  b.compare(bytes, "an image of CUDA");
                              }});
        b.run(c);
    }
}

// A pipeline that reads the image and writes a buffer.
class ImageKernel {
  public:
    ImageKernel(PlainVulkan &vulkan, const Shader &shader, const Image &image, const Buffer &to)
        : device_(vulkan.device) {
        auto module = vk_struct<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        module.codeSize = shader.bytes;
        module.pCode = shader.words;
        vk_check(vk.CreateShaderModule(device_, &module, nullptr, &module_), "vkCreateShaderModule");
        const VkDescriptorSetLayoutBinding bindings[] = {
            {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
            {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
        auto set = vk_struct<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set.bindingCount = 2;
        set.pBindings = bindings;
        vk_check(vk.CreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
        const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
        auto layout = vk_struct<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        layout.setLayoutCount = 1;
        layout.pSetLayouts = &set_layout_;
        layout.pushConstantRangeCount = 1;
        layout.pPushConstantRanges = &range;
        vk_check(vk.CreatePipelineLayout(device_, &layout, nullptr, &made_.layout), "vkCreatePipelineLayout");
        auto info = vk_struct<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        info.stage = vk_struct<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
        info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        info.stage.module = module_;
        info.stage.pName = "main";
        info.layout = made_.layout;
        vk_check(vk.CreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made_.pipeline),
                 "vkCreateComputePipelines");
        const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
                                              {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
        auto pool = vk_struct<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        pool.maxSets = 1;
        pool.poolSizeCount = 2;
        pool.pPoolSizes = sizes;
        vk_check(vk.CreateDescriptorPool(device_, &pool, nullptr, &pool_), "vkCreateDescriptorPool");
        auto allocate = vk_struct<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        allocate.descriptorPool = pool_;
        allocate.descriptorSetCount = 1;
        allocate.pSetLayouts = &set_layout_;
        vk_check(vk.AllocateDescriptorSets(device_, &allocate, &made_.set), "vkAllocateDescriptorSets");
        const VkDescriptorImageInfo sampled = image.bound();
        const VkDescriptorBufferInfo written{to.handle, 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet writes[2] = {vk_struct<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET),
                                          vk_struct<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET)};
        for (uint32_t i = 0; i < 2; i++) {
            writes[i].dstSet = made_.set;
            writes[i].dstBinding = i;
            writes[i].descriptorCount = 1;
            writes[i].descriptorType = bindings[i].descriptorType;
        }
        writes[0].pImageInfo = &sampled;
        writes[1].pBufferInfo = &written;
        vk.UpdateDescriptorSets(device_, 2, writes, 0, nullptr);
    }
    ImageKernel(const ImageKernel &) = delete;
    ImageKernel &operator=(const ImageKernel &) = delete;
    ~ImageKernel() {
        vk.DestroyPipeline(device_, made_.pipeline, nullptr);
        vk.DestroyPipelineLayout(device_, made_.layout, nullptr);
        vk.DestroyDescriptorPool(device_, pool_, nullptr);
        vk.DestroyDescriptorSetLayout(device_, set_layout_, nullptr);
        vk.DestroyShaderModule(device_, module_, nullptr);
    }
    const Pipeline &pipeline() const { return made_; }

  private:
    VkDevice device_;
    VkShaderModule module_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    Pipeline made_;
};

// Throws if two results differ by more than one unorm step. One step is allowed, because devices and the C++ code round
// halves differently.
void compare_texels(const std::vector<unsigned char> &a, const std::vector<unsigned char> &b) {
    for (size_t i = 0; i < a.size(); i++)
        if (std::abs(int(a[i]) - int(b[i])) > 1) throw std::runtime_error("wrong at byte " + std::to_string(i));
}

void kernel(Bench &b, int n, TextureWork *ours, const Image &image, const CudaImage &cuda, TextureKernel which) {
    const bool bilinear = which == TextureKernel::bilinear;
    const size_t bytes = size_t(n) * size_t(n) * 4;
    // As in case_compiled.cpp, a measurement is one untimed launch, and then as many launches as take about 10 ms.
    const unsigned launches = b.plain->software() ? 1 : bilinear ? 144 : 16;
    const Buffer to(*b.plain, bytes, Memory::device), up(*b.plain, bytes, Memory::upload);
    const auto down = b.plain->buffer(bytes, Memory::readback);
    const ImageKernel image_kernel(*b.plain, bilinear ? texture_bilinear_shader : texture_convolve_shader, image, to);
    const auto record = [&](unsigned count) {
        return [&, count](VkCommandBuffer commands) {
            image_kernel.pipeline().bind(commands);
            image_kernel.pipeline().push(commands, &n, 4);
            for (unsigned i = 0; i < count; i++) {
                vk.CmdDispatch(commands, uint32_t(n + 31) / 32, uint32_t(n + 7) / 8, 1);
                memory_barrier(commands);
            }
        };
    };
    Job job(*b.plain, Lane::compute, record(launches)), first_launch(*b.plain, Lane::compute, record(1));
    const auto timed_after_one = [](const auto &one, const auto &all) {
        one();
        return timed(all);
    };
    Job upload(*b.plain, Lane::compute, [&](VkCommandBuffer commands) { image.from(commands, up); });
    WholeCopy fetch(*b.plain, Lane::compute, Direction::down, to, bytes, down);
    std::vector<unsigned char> source(bytes), expected(bytes), got(bytes);
    for (size_t i = 0; i < bytes; i++)
        source[i] = static_cast<unsigned char>(i * 31 >> 3);
    std::memcpy(up.data, source.data(), bytes);
    upload.run(Wait::block);
    job.run(Wait::block);
    fetch.run(expected.data(), Wait::block);
    Case c;
    c.name = kernel_name(which);
    c.bytes = 2.0 * double(bytes) * launches;
    c.goals["plain Vulkan"] = {Goal::speed_at_least, 0.95};
    if (ours) {
        ours->upload(source.data());
        c.ways.push_back(
            {"revamp", "",
             [=] { return timed_after_one([=] { ours->run(which, 1); }, [=] { ours->run(which, launches); }); },
             [&, ours] {
                 ours->run(which, 2);
                 ours->result(got.data());
                 compare_texels(got, expected);
             }});
    }
    if (cuda) {
        c.goals["CUDA"] = {Goal::speed_at_least, 0.95};
        cuda.upload(source.data());
        c.ways.push_back(
            {"CUDA", "texture object",
             [&] { return timed_after_one([&] { cuda.run(which, 1); }, [&] { cuda.run(which, launches); }); },
             [&] {
                 cuda.run(which, 2);
                 cuda.result(got.data());
                 compare_texels(got, expected);
             }});
    }
    const auto plain = [&] {
        return timed_after_one([&] { first_launch.run(b.plain->best_wait); }, [&] { job.run(b.plain->best_wait); });
    };
    c.ways.push_back({"plain Vulkan", "recorded", plain, {}});
    b.run(c);
}

void host_threads(Bench &b, int n) {
    const size_t bytes = size_t(n) * size_t(n) * 4;
    std::vector<unsigned char> source(bytes), expected(bytes), got(bytes);
    for (size_t i = 0; i < bytes; i++)
        source[i] = static_cast<unsigned char>(i * 31 >> 3);
    const auto peer = [&] { bilinear_openmp(source.data(), reinterpret_cast<unsigned *>(expected.data()), n); };
    peer();
    Case c;
    c.name = "texture, bilinear, host threads";
    c.bytes = 2.0 * double(bytes);
    c.goals["OpenMP"] = {Goal::speed_at_least, 0.7};
    const auto ours = b.with_ours ? texture_work(L"direct3d\\warp", n) : nullptr;
    if (ours) {
        ours->upload(source.data());
        c.ways.push_back({"revamp", "", [&] { return timed([&] { ours->run(TextureKernel::bilinear, 1); }); },
                          [&] {
                              ours->run(TextureKernel::bilinear, 1);
                              ours->result(got.data());
                              compare_texels(got, expected);
                          }});
    }
    c.ways.push_back({"OpenMP", "", [&] { return timed(peer); }, {}});
    b.run(c);
}

} // namespace

void bench_texture(Bench &b) {
    b.guarded("texture, bilinear, host threads", [&] { host_threads(b, 1024); });
    if (!b.plain) return;
    const int n = b.plain->software() ? 1024 : 4096;
    const std::string up = transfer_name(n, true), down = transfer_name(n, false);
    const TextureKernel kernels[] = {TextureKernel::bilinear, TextureKernel::convolve};
    const bool is_kernel_wanted =
        std::any_of(std::begin(kernels), std::end(kernels), [&](auto k) { return b.is_selected(kernel_name(k)); });
    if (!b.is_selected(up) && !b.is_selected(down) && !is_kernel_wanted) return;
    b.run_or_skip("texture", [&] {
        const Image image(*b.plain, uint32_t(n));
        const auto ours = b.with_ours ? texture_work(std::wstring(b.device.begin(), b.device.end()), n) : nullptr;
        const CudaImage cuda(b.cuda, n);
        upload_and_download(b, n, ours.get(), image, cuda);
        for (const TextureKernel which : kernels)
            if (b.is_selected(kernel_name(which))) kernel(b, n, ours.get(), image, cuda, which);
    });
}
