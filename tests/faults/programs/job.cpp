#include "job.hpp"

#include "../fuzz/report.hpp"

namespace faults {

using fuzz::found;

Numbers::Numbers(size_t count, uint32_t first) : memory(count), words(count) {
    for (size_t i = 0; i < count; i++)
        words[i] = Word::of(memory[i] = first + 7 * static_cast<uint32_t>(i));
}

Job::Job() {
    opened = world.open() && world.has_vulkan();
}

// Waits for all work first. Otherwise, calls of the next job would report failures of this job.
Job::~Job() {
    for (revamp_accelerator_view v : world.defaults)
        if (v) ok(revamp_accelerator_view_wait(v), "a last wait");
    for (revamp_accelerator_view v : views)
        if (v) ok(revamp_accelerator_view_wait(v), "a last wait");
    for (revamp_array a : arrays)
        if (a && revamp_array_destroy(a) != REVAMP_OK)
            found("an array was not destroyed: %s", revamp_last_error_message());
    for (revamp_accelerator_view v : views)
        if (v && revamp_accelerator_view_release(v) != REVAMP_OK) found("a queue was not released");
    world.close();
}

bool Job::ok(revamp_status status, const char *what) {
    if (status == REVAMP_OK) return true;
    if (!fuzz::fault_has_fired() || !fuzz::is_fault_status(status))
        found("%s: %s: %s", what, revamp_status_name(status), revamp_last_error_message());
    fuzz::note("\n  %s: %s", what, revamp_last_error_message());
    return false;
}

void Job::check(const uint32_t *got, const Words &words, const char *what) {
    for (size_t i = 0; i < words.size(); i++)
        if (!words[i].allows(got[i]))
            found("%s: word %zu of %zu is %#x, expected %#x%s", what, i, words.size(), got[i], words[i].value,
                  words[i].state == Word::EITHER ? " or another" : "");
}

void Job::update_model(Words &to, const Words &now, bool is_certain) {
    for (size_t i = 0; i < now.size(); i++)
        to[i] = is_certain ? now[i] : to[i].or_(now[i]);
}

Words Job::stepped(const Words &words) {
    Words now = words;
    for (Word &w : now)
        w = w.step(Word::of(1));
    return now;
}

// Creates an accelerator_view of the Vulkan device, or returns the default accelerator_view (n = 0). An odd n selects
// immediate queuing.
revamp_accelerator_view Job::vulkan(int n) {
    if (n == 0) return world.defaults[fuzz::VULKAN];
    revamp_accelerator_view made = nullptr;
    revamp_queuing_mode mode = n % 2 ? REVAMP_QUEUING_MODE_IMMEDIATE : REVAMP_QUEUING_MODE_AUTOMATIC;
    ok(revamp_accelerator_create_view(world.accelerators[fuzz::VULKAN], mode, &made), "a queue");
    views.push_back(made);
    return made;
}

revamp_array Job::array(revamp_accelerator_view view, size_t count) {
    revamp_array made = nullptr;
    auto extent = static_cast<int32_t>(count);
    ok(revamp_array_create(view, 1, &extent, 4, nullptr, &made), "an array");
    arrays.push_back(made);
    return made;
}

revamp_array Job::staging(size_t count) {
    revamp_array made = nullptr;
    auto extent = static_cast<int32_t>(count);
    revamp_array_options options = {};
    options.struct_size = sizeof options;
    options.associated_view = world.defaults[fuzz::VULKAN];
    ok(revamp_array_create(world.defaults[fuzz::CPU], 1, &extent, 4, &options, &made), "a staging array");
    arrays.push_back(made);
    return made;
}

revamp_array_view Job::view_of(Numbers &numbers) {
    revamp_array_view made = nullptr;
    int32_t extent = numbers.extent();
    ok(revamp_array_view_create_host(numbers.memory.data(), 1, &extent, 4, nullptr, &made), "a view");
    return made;
}

revamp_status Job::step(revamp_accelerator_view on, revamp_array array, revamp_array_view view, size_t count) {
    auto extent = static_cast<int32_t>(count);
    revamp_argument argument = array ? revamp_argument_buffer(0, array) : revamp_argument_view(0, view);
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = &argument;
    info.argument_count = 1;
    return revamp_dispatch(on, world.step, &info);
}

// Releases the last view of the memory in `home`. This memory must then be up to date, or the log must have an error.
void Job::release(revamp_array_view view, Numbers &home) {
    unsigned before = fuzz::logged_errors();
    if (view && revamp_array_view_release(view) != REVAMP_OK) found("a view was not released");
    if (fuzz::logged_errors() != before && fuzz::fault_has_fired()) return;
    check(home.memory.data(), home.words, "home after the last view's release");
}

} // namespace faults
