// The fault program `threads`: kernels on host threads and on Vulkan use the same views (a view of memory, and a view
// without a data source).
#include "job.hpp"

namespace faults {

enum { COUNT = 50000 };

static revamp_status on_threads(Job &job, revamp_array_view view) {
    fuzz::KernelBlock block = {};
    int32_t extent = COUNT;
    block.mode = fuzz::STEP;
    block.n = COUNT;
    fuzz::put_box(fuzz::Box::packed(1, &extent, 1), block.to_count, block.to_stride);
    revamp_argument argument = revamp_argument_view_address(0, view, REVAMP_ACCESS_NONE);
    revamp_parallel_for_each_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = fuzz::box_on_threads;
    info.arguments = &argument;
    info.argument_count = 1;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_parallel_for_each(job.world.defaults[fuzz::THREADS], &info);
}

void threads_program(Job &job) {
    Numbers numbers(COUNT, 17);
    Words sourceless_words(COUNT);
    revamp_array_view view = job.view_of(numbers), sourceless_view = nullptr;
    int32_t extent = COUNT;
    revamp_accelerator_view vulkan = job.vulkan(1);
    if (!view) return;
    if (!vulkan) return job.release(view, numbers);
    if (job.ok(revamp_array_view_create(1, &extent, 4, nullptr, &sourceless_view), "a view without a data source")) {
        revamp_region from = {}, to = {};
        from.struct_size = to.struct_size = sizeof from;
        from.view = view;
        to.view = sourceless_view;
        Job::update_model(sourceless_words, numbers.words, job.ok(revamp_copy(&from, &to), "a copy between views"));
    }
    for (int i = 0; i < 4; i++)
        for (bool is_sourceless : {false, true}) {
            Words &words = is_sourceless ? sourceless_words : numbers.words;
            revamp_array_view v = is_sourceless ? sourceless_view : view;
            if (!v) continue;
            Words now = Job::stepped(words);
            revamp_status status = i % 2 ? on_threads(job, v) : job.step(vulkan, nullptr, v, COUNT);
            Job::update_model(words, now, job.ok(status, "a launch"));
        }
    void *data = nullptr;
    if (sourceless_view && job.ok(revamp_array_view_data(sourceless_view, REVAMP_ACCESS_READ, &data), "host access"))
        job.check(static_cast<uint32_t *>(data), sourceless_words, "the view without a data source");
    if (sourceless_view) revamp_array_view_release(sourceless_view);
    job.ok(revamp_accelerator_view_wait(job.world.defaults[fuzz::THREADS]), "a wait");
    job.release(view, numbers);
}

} // namespace faults
