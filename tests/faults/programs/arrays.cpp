// The fault program `arrays`: arrays, staging arrays, SPIR-V kernels, asynchronous copies, markers, and textures that
// are images.
#include "job.hpp"

namespace faults {

enum { SMALL = 5000, LARGE = 150000, ROWS = 150, COLUMNS = 200 };

static const uint32_t texels_words[] =
#include "texels.inc"
    ;

// Copies to an array asynchronously, launches kernels, and copies the array to a staging array and to memory.
static void test_array(Job &job, size_t count, revamp_accelerator_view on) {
    Numbers sent(count, 3), got(count);
    revamp_array array = job.array(on, count), staging = job.staging(count);
    if (!array || !staging) return;
    Words words = sent.words, staged(count);
    revamp_completion in = nullptr, out = nullptr, marker = nullptr;
    bool copy_has_started =
        job.ok(revamp_copy_to_array_async(sent.memory.data(), count * 4, array, nullptr, &in), "copy_to_array_async");
    // The launch runs after the copy, and the copy may still fail.
    bool kernel_was_launched = copy_has_started && job.ok(job.step(on, array, nullptr, count), "a launch");
    bool copy_has_succeeded = copy_has_started && job.ok(revamp_completion_get(in), "the copy in");
    if (!copy_has_succeeded) words.assign(count, Word());
    Job::update_model(words, Job::stepped(words), kernel_was_launched);
    if (job.ok(revamp_accelerator_view_create_marker(on, &marker), "a marker")) {
        job.ok(revamp_completion_get(marker), "the marker");
        revamp_completion_release(marker);
    }
    for (int i = 0; i < 3; i++) {
        Words now = Job::stepped(words);
        Job::update_model(words, now, job.ok(job.step(on, array, nullptr, count), "a launch"));
    }
    revamp_region from = {}, to = {};
    from.struct_size = to.struct_size = sizeof from;
    from.array = array;
    to.array = staging;
    Job::update_model(staged, words, job.ok(revamp_copy(&from, &to), "a copy to staging"));
    if (job.ok(revamp_copy_from_array_async(array, got.memory.data(), count * 4, nullptr, &out),
               "copy_from_array_async") &&
        job.ok(revamp_completion_get(out), "the copy out"))
        job.check(got.memory.data(), words, "what was copied out");
    void *data = nullptr;
    if (job.ok(revamp_array_data(staging, REVAMP_ACCESS_READ, &data), "the staging array's data"))
        job.check(static_cast<uint32_t *>(data), staged, "the staging array");
    for (revamp_completion c : {in, out})
        if (c) revamp_completion_release(c);
}

static revamp_texture new_image(Job &job) {
    static const int32_t extent[] = {ROWS, COLUMNS};
    revamp_texture made = nullptr;
    revamp_texture_options options = {};
    options.struct_size = sizeof options;
    options.rank = 2;
    options.extent = extent;
    options.component_kind = REVAMP_COMPONENT_UINT;
    options.components = 1;
    options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    job.ok(revamp_texture_create(job.vulkan(0), &options, &made), "an image");
    return made;
}

static revamp_status step(revamp_kernel kernel, revamp_texture from, revamp_texture to) {
    static const int32_t extent[] = {ROWS, COLUMNS};
    revamp_sampler sampler = {};
    sampler.struct_size = sizeof sampler;
    sampler.filter = REVAMP_FILTER_POINT;
    revamp_argument arguments[] = {revamp_argument_image(0, from, 0, 0, &sampler),
                                   revamp_argument_image(1, to, 0, 0, nullptr)};
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = extent;
    info.arguments = arguments;
    info.argument_count = 2;
    return revamp_dispatch(nullptr, kernel, &info);
}

static void test_images(Job &job) {
    const size_t count = ROWS * COLUMNS;
    Numbers sent(count, 5), got(count);
    revamp_kernel kernel = nullptr;
    revamp_kernel_options options = {};
    options.struct_size = sizeof options;
    options.spirv = texels_words;
    options.spirv_size = sizeof texels_words;
    job.ok(revamp_kernel_create(job.world.accelerators[fuzz::VULKAN], &options, &kernel), "the kernel of images");
    revamp_texture textures[] = {new_image(job), new_image(job)};
    if (kernel && textures[0] && textures[1]) {
        revamp_texture_region from = {}, to = {};
        from.struct_size = to.struct_size = sizeof from;
        from.texture = textures[1];
        to.texture = textures[0];
        Words first(count), second(count);
        Job::update_model(first, sent.words,
                          job.ok(revamp_copy_to_texture(sent.memory.data(), count * 4, &to), "a copy in"));
        for (int i = 0; i < 2; i++)
            Job::update_model(second, Job::stepped(first),
                              job.ok(step(kernel, textures[0], textures[1]), "a launch on images"));
        if (job.ok(revamp_copy_from_texture(&from, got.memory.data(), count * 4), "a copy out"))
            job.check(got.memory.data(), second, "what was copied out of an image");
    }
    for (revamp_texture t : textures)
        if (t) revamp_texture_release(t);
    if (kernel) revamp_kernel_release(kernel);
}

void arrays_program(Job &job) {
    revamp_accelerator_view on = job.vulkan(1);
    test_array(job, SMALL, job.vulkan(0));
    test_images(job);
    if (on) test_array(job, LARGE, on);
    if (on) job.ok(revamp_accelerator_view_wait(on), "a wait");
}

} // namespace faults
