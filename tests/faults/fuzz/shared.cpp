#include "shared.hpp"

#include "program.hpp"
#include "report.hpp"

namespace fuzz {

uint32_t Shared::memory[4][WORDS];

Shared::Shared(const World &given_world, std::vector<Queue> given_queues)
    : world(given_world), queues(std::move(given_queues)) {}

// Checks a call that may fail because another thread has released its object or is using the same elements.
void Shared::allow(revamp_status status, const char *what) {
    const unsigned allowed = bad_call_statuses | bad_handle_status;
    Program::calls++;
    if (status >= 0 || (allowed & bit_of(status))) return;
    found("%s on shared objects: %s: %s", what, revamp_status_name(status), revamp_last_error_message());
}

template <class T> T Shared::some(std::atomic<T> (&slots)[SLOTS], Random &random) {
    return slots[random.below(SLOTS)].load();
}

revamp_region Shared::region(Random &random, bool is_written) {
    revamp_region r = {};
    r.struct_size = sizeof r;
    switch (random.below(3)) {
    case 0:
        r.array = some(arrays, random);
        break;
    case 1:
        r.view = some(views, random);
        break;
    default:
        break;
    }
    if (r.array || r.view) return r;
    // Several copies may write this memory at once. Its contents are never checked.
    r.host = memory[is_written ? 0 : 1];
    r.host_rank = 1;
    r.host_element_size = 4;
    r.extent = &extent;
    return r;
}

template <class T> static void replace(std::atomic<T> &slot, T new_object, revamp_status (*release)(T)) {
    T old = slot.exchange(new_object);
    if (old && release(old) != REVAMP_OK)
        found("an object that only this thread owned was not released: %s", revamp_last_error_message());
}

void Shared::step(Random &random) {
    const Queue &on = queues[random.below(queues.size())];
    uint32_t slot = random.below(SLOTS);
    revamp_array array = nullptr;
    revamp_array_view view = nullptr;
    revamp_completion done = nullptr;
    void *data = nullptr;
    switch (random.below(14)) {
    case 0:
        if (revamp_array_create(on.handle, 1, &extent, 4, nullptr, &array) == REVAMP_OK)
            replace(arrays[slot], array, revamp_array_destroy);
        else
            found("revamp_array_create: %s", revamp_last_error_message());
        break;
    case 1:
        allow(revamp_array_view_create_array(some(arrays, random), nullptr, &view), "revamp_array_view_create_array");
        if (view) replace(views[slot], view, revamp_array_view_release);
        break;
    case 2: {
        int32_t half = extent / 2;
        allow(revamp_array_view_section(some(views, random), nullptr, random.one_in(2) ? &half : nullptr, &view),
              "section");
        if (view) replace(views[slot], view, revamp_array_view_release);
        break;
    }
    case 3:
        if (revamp_array_view_create_host(memory[2 + random.below(2)], 1, &extent, 4, nullptr, &view) != REVAMP_OK)
            found("revamp_array_view_create_host: %s", revamp_last_error_message());
        replace(views[slot], view, revamp_array_view_release);
        break;
    case 4:
        replace(views[slot], revamp_array_view{}, revamp_array_view_release);
        break;
    case 5:
        replace(arrays[slot], revamp_array{}, revamp_array_destroy);
        break;
    case 6:
        replace(completions[slot], revamp_completion{}, revamp_completion_release);
        break;
    case 7:
    case 8: {
        revamp_region from = region(random, false), to = region(random, true);
        allow(revamp_copy_async(&from, &to, nullptr, &done), "revamp_copy_async");
        break;
    }
    case 9: {
        revamp_region from = region(random, false), to = region(random, true);
        allow(revamp_copy(&from, &to), "revamp_copy");
        break;
    }
    case 10:
        view = some(views, random);
        allow(revamp_array_view_data(view, 1 + random.below(3), &data), "revamp_array_view_data");
        allow(revamp_array_view_synchronize_async(view, 1 + random.below(3), nullptr, &done), "synchronize_async");
        break;
    case 11: {
        uint32_t value = static_cast<uint32_t>(random.next());
        revamp_argument arguments[] = {revamp_argument_view(0, some(views, random)),
                                       revamp_argument_push_constant(0, &value, 4)};
        revamp_dispatch_info info = {};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = 2;
        if (on.accelerator_kind == VULKAN) allow(revamp_dispatch(on.handle, world.fill, &info), "revamp_dispatch");
        allow(revamp_array_view_synchronize_to(some(views, random), on.handle, REVAMP_ACCESS_READ), "synchronize_to");
        break;
    }
    case 12:
        done = some(completions, random);
        allow(revamp_completion_wait_for(done, 1000), "revamp_completion_wait_for");
        allow(revamp_completion_get(done), "revamp_completion_get");
        done = nullptr;
        break;
    default:
        view = some(views, random);
        allow(revamp_array_view_discard_data(view), "revamp_array_view_discard_data");
        allow(revamp_array_view_refresh(view), "revamp_array_view_refresh");
        if (random.one_in(4)) allow(revamp_accelerator_view_wait(on.handle), "revamp_accelerator_view_wait");
    }
    if (done) replace(completions[slot], done, revamp_completion_release);
}

void Shared::release_all() {
    for (auto &slot : completions)
        replace(slot, revamp_completion{}, revamp_completion_release);
    for (auto &slot : views)
        replace(slot, revamp_array_view{}, revamp_array_view_release);
    for (auto &slot : arrays)
        replace(slot, revamp_array{}, revamp_array_destroy);
}

} // namespace fuzz
