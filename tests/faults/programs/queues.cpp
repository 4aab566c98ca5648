// The fault program `queues`: launches on several queues. The launches depend on each other through shared arrays.
#include "job.hpp"

#include "../fuzz/report.hpp"

namespace faults {

enum { COUNT = 30000 };

void queues_program(Job &job) {
    revamp_accelerator_view queues[] = {job.vulkan(0), job.vulkan(1), job.vulkan(2)};
    Numbers sent(COUNT, 5), got(COUNT);
    revamp_array array = job.array(queues[0], COUNT), other = queues[1] ? job.array(queues[1], COUNT) : nullptr;
    revamp_array_view view = nullptr;
    if (!array || !other || !queues[2]) return;
    Words words(COUNT), other_words(COUNT);
    if (!job.ok(revamp_array_view_create_array(array, nullptr, &view), "a view of an array")) return;
    Job::update_model(words, sent.words,
                      job.ok(revamp_copy_to_array(sent.memory.data(), COUNT * 4, array), "a copy in"));
    revamp_region from = {}, to = {};
    from.struct_size = to.struct_size = sizeof from;
    from.array = array;
    to.array = other;
    for (int i = 0; i < 6; i++) {
        Words now = Job::stepped(words);
        // Launches with the view use each queue in turn, but must run in the order of the calls.
        Job::update_model(words, now, job.ok(job.step(queues[i % 3], nullptr, view, COUNT), "a launch"));
        if (i % 2) continue;
        Job::update_model(other_words, words, job.ok(revamp_copy(&from, &to), "a copy between queues"));
        now = Job::stepped(other_words);
        Job::update_model(other_words, now, job.ok(job.step(queues[1], other, nullptr, COUNT), "a launch"));
    }
    for (revamp_accelerator_view queue : queues)
        job.ok(revamp_accelerator_view_wait(queue), "a wait");
    void *data = nullptr;
    if (job.ok(revamp_array_view_data(view, REVAMP_ACCESS_READ, &data), "host access"))
        job.check(static_cast<uint32_t *>(data), words, "the view");
    unsigned before = fuzz::logged_errors();
    revamp_array_view_release(view);
    if (fuzz::logged_errors() != before && fuzz::fault_has_fired()) words.assign(COUNT, Word());
    if (job.ok(revamp_copy_from_array(array, got.memory.data(), COUNT * 4), "a copy out"))
        job.check(got.memory.data(), words, "the array");
    if (job.ok(revamp_copy_from_array(other, got.memory.data(), COUNT * 4), "a copy out"))
        job.check(got.memory.data(), other_words, "the other array");
}

} // namespace faults
