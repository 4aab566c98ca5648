// The fault program `sections`: kernels, the host and copies use sections of a view of memory in turn.
#include "job.hpp"

namespace faults {

enum { ROWS = 96, COLUMNS = 300, TOP = 30, BOTTOM = 70 };

static Words words_of_rows(const Words &words, int first, int end) {
    return Words(words.begin() + first * COLUMNS, words.begin() + end * COLUMNS);
}

static void put(Words &words, int first, const Words &now, bool is_certain) {
    for (size_t i = 0; i < now.size(); i++) {
        Word &w = words[static_cast<size_t>(first) * COLUMNS + i];
        w = is_certain ? now[i] : w.or_(now[i]);
    }
}

static void use_sections(Job &job, Numbers &numbers, revamp_array_view all) {
    revamp_array_view top = nullptr, middle = nullptr;
    int32_t origin[] = {TOP, 0}, extent[] = {TOP, COLUMNS}, height[] = {BOTTOM - TOP, COLUMNS};
    if (!job.ok(revamp_array_view_section(all, nullptr, extent, &top), "a section")) return;
    if (!job.ok(revamp_array_view_section(all, origin, height, &middle), "a section")) {
        revamp_array_view_release(top);
        return;
    }
    revamp_accelerator_view queues[] = {job.vulkan(0), job.vulkan(1)};
    for (int i = 0; i < 6; i++) {
        if (!queues[i % 2]) continue;
        bool is_top = i % 3 == 0;
        int first = is_top ? 0 : TOP, end = is_top ? TOP : BOTTOM;
        Words now = Job::stepped(words_of_rows(numbers.words, first, end));
        revamp_status status = job.step(queues[i % 2], nullptr, is_top ? top : middle, now.size());
        put(numbers.words, first, now, job.ok(status, "a launch on a section"));
        if (i == 2) {
            void *data = nullptr;
            if (job.ok(revamp_array_view_data(top, REVAMP_ACCESS_READ_WRITE, &data), "host access")) {
                auto *at = static_cast<uint32_t *>(data);
                job.check(at, words_of_rows(numbers.words, 0, TOP), "host access");
                for (size_t k = 0; k < COLUMNS; k++)
                    numbers.words[k] = Word::of(at[k] = static_cast<uint32_t>(k));
            }
        }
        if (i == 3 && job.ok(revamp_array_view_synchronize(middle, REVAMP_ACCESS_READ), "synchronize"))
            job.check(numbers.memory.data() + TOP * COLUMNS, words_of_rows(numbers.words, TOP, BOTTOM),
                      "home after synchronize");
    }
    revamp_array_view_release(top);
    revamp_array_view_release(middle);
}

void sections_program(Job &job) {
    Numbers numbers(ROWS * COLUMNS, 11);
    revamp_array_view all = nullptr;
    int32_t extent[] = {ROWS, COLUMNS};
    if (!job.ok(revamp_array_view_create_host(numbers.memory.data(), 2, extent, 4, nullptr, &all), "a view")) return;
    use_sections(job, numbers, all);
    // Copies the view to host memory while parts of the view are valid only on devices.
    Numbers copy(ROWS * COLUMNS);
    revamp_region from = {}, to = {};
    from.struct_size = to.struct_size = sizeof from;
    from.view = all;
    to.host = copy.memory.data();
    to.host_rank = 2;
    to.host_element_size = 4;
    to.extent = extent;
    if (job.ok(revamp_copy(&from, &to), "a copy of the view")) job.check(copy.memory.data(), numbers.words, "the copy");
    job.release(all, numbers);
}

} // namespace faults
