// Arrays, staging, SPIR-V kernels, asynchronous copies and markers.
#include "job.hpp"

namespace faults {

enum { SMALL = 5000, LARGE = 150000 };

// Copies in, works, copies out by way of a staging array, asynchronously where the size asks for it.
static void one_array(Job &job, size_t count, revamp_accelerator_view on) {
    Numbers sent(count, 3), got(count);
    revamp_array array = job.array(on, count), staging = job.staging(count);
    if (!array || !staging) return;
    Words words = sent.words, staged(count);
    revamp_completion in = nullptr, out = nullptr, marker = nullptr;
    bool is_in = job.ok(revamp_copy_to_array_async(sent.memory.data(), count * 4, array, &in), "copy_to_array_async");
    // Behind the copy, which may yet fail.
    bool is_stepped = is_in && job.ok(job.step(on, array, nullptr, count), "a launch");
    bool is_known = is_in && job.ok(revamp_completion_get(in), "the copy in");
    if (!is_known) words.assign(count, Word());
    Job::wrote(words, Job::stepped(words), is_stepped);
    if (job.ok(revamp_accelerator_view_create_marker(on, &marker), "a marker")) {
        job.ok(revamp_completion_get(marker), "the marker");
        revamp_completion_release(marker);
    }
    for (int i = 0; i < 3; i++) {
        Words now = Job::stepped(words);
        Job::wrote(words, now, job.ok(job.step(on, array, nullptr, count), "a launch"));
    }
    revamp_region from = {}, to = {};
    from.struct_size = to.struct_size = sizeof from;
    from.array = array;
    to.array = staging;
    Job::wrote(staged, words, job.ok(revamp_copy(&from, &to), "a copy to staging"));
    if (job.ok(revamp_copy_from_array_async(array, got.memory.data(), count * 4, &out), "copy_from_array_async") &&
        job.ok(revamp_completion_get(out), "the copy out"))
        job.check(got.memory.data(), words, "what was copied out");
    void *data = nullptr;
    if (job.ok(revamp_array_data(staging, REVAMP_ACCESS_READ, &data), "the staging array's data"))
        job.check(static_cast<uint32_t *>(data), staged, "the staging array");
    for (revamp_completion c : {in, out})
        if (c) revamp_completion_release(c);
}

void arrays_program(Job &job) {
    revamp_accelerator_view on = job.vulkan(1);
    one_array(job, SMALL, job.vulkan(0));
    if (on) one_array(job, LARGE, on);
    if (on) job.ok(revamp_accelerator_view_wait(on), "a wait");
}

} // namespace faults
