// Calls that must be refused and must change nothing. If a call changes data, the checks of later steps find it.
#include "program.hpp"

#include <climits>

namespace fuzz {

// The initial value of outputs, which refused calls must not change.
template <class T> static T untouched() {
    return reinterpret_cast<T>(uintptr_t{0x5a5a5a5a});
}
template <class T> static void check_untouched(T out, const char *what) {
    if (out != untouched<T>()) found("%s failed, but wrote its output", what);
}

static uint64_t some_number(Random &random) {
    static const uint64_t numbers[] = {1, 2, 8, 4096, 0xdeadbeef, UINT64_MAX, UINT64_MAX - 1, uint64_t{1} << 32};
    return random.one_in(2) ? numbers[random.below(8)] : random.next();
}

// Calls functions with handles that are null, random, released, or of another kind of object.
void Program::refuse_handles() {
    revamp_array array = nullptr;
    revamp_array_view view = nullptr, made_view = untouched<revamp_array_view>();
    revamp_completion completion = nullptr;
    switch (random.below(4)) {
    case 0:
        break;
    case 1:
        if (!dead_arrays.empty()) array = dead_arrays[random.below(dead_arrays.size())];
        if (!dead_views.empty()) view = dead_views[random.below(dead_views.size())];
        if (!dead_completions.empty()) completion = dead_completions[random.below(dead_completions.size())];
        break;
    case 2:
        if (View *v = some_view()) array = reinterpret_cast<revamp_array>(v->handle);
        if (SourcePtr s = some_source()) view = reinterpret_cast<revamp_array_view>(s->array);
        completion = reinterpret_cast<revamp_completion>(world.defaults[CPU]);
        break;
    default: {
        uint64_t number = some_number(random);
        // A number that happens to be a live handle would be accepted.
        for (const auto &v : views)
            if (reinterpret_cast<uintptr_t>(v->handle) == number) number = 0;
        for (const SourcePtr &s : sources)
            if (reinterpret_cast<uintptr_t>(s->array) == number) number = 0;
        if (number < 1 << 20) number = 0xdeadbeef;
        array = reinterpret_cast<revamp_array>(static_cast<uintptr_t>(number));
        view = reinterpret_cast<revamp_array_view>(static_cast<uintptr_t>(number));
        completion = reinterpret_cast<revamp_completion>(static_cast<uintptr_t>(number));
    }
    }
    void *data = untouched<void *>();
    uint32_t word = 0;
    revamp_residency residency = {};
    residency.struct_size = sizeof residency;
    check_refused(revamp_array_destroy(array), bad_handle_status, "revamp_array_destroy");
    check_refused(revamp_array_view_release(view), bad_handle_status, "revamp_array_view_release");
    check_refused(revamp_array_view_retain(view), bad_handle_status, "revamp_array_view_retain");
    check_refused(revamp_completion_release(completion), bad_handle_status, "revamp_completion_release");
    check_refused(revamp_completion_get(completion), bad_handle_status, "revamp_completion_get");
    check_refused(revamp_completion_then(completion, on_done, &word), bad_handle_status, "revamp_completion_then");
    check_refused(revamp_array_view_data(view, REVAMP_ACCESS_READ, &data), bad_handle_status, "revamp_array_view_data");
    check_refused(revamp_array_data(array, REVAMP_ACCESS_READ, &data), bad_handle_status, "revamp_array_data");
    check_refused(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ), bad_handle_status,
                  "revamp_array_view_synchronize");
    check_refused(revamp_array_view_discard_data(view), bad_handle_status, "revamp_array_view_discard_data");
    check_refused(revamp_array_view_refresh(view), bad_handle_status, "revamp_array_view_refresh");
    check_refused(revamp_array_view_get_residency(view, world.defaults[CPU], &residency), bad_handle_status,
                  "residency");
    check_refused(revamp_array_view_section(view, nullptr, nullptr, &made_view), bad_handle_status,
                  "revamp_array_view_section");
    check_refused(revamp_array_view_create_array(array, nullptr, &made_view), bad_handle_status,
                  "revamp_array_view_create_array");
    check_refused(revamp_copy_to_array(&word, 4, array), bad_handle_status, "revamp_copy_to_array");
    check_untouched(data, "an access");
    check_untouched(made_view, "a section");
}

void Program::refuse_arrays() {
    const Queue &target = queues[static_cast<size_t>(some_queue(true))];
    int32_t extent[] = {random.from_to(1, 9), random.from_to(1, 9), random.from_to(1, 9)};
    uint32_t rank = 1 + random.below(3);
    size_t element = 4;
    unsigned expected = bad_call_statuses | bit_of(REVAMP_ERROR_OUT_OF_MEMORY);
    revamp_array_options options = {};
    options.struct_size = sizeof options;
    revamp_array out = untouched<revamp_array>(), *to = &out;
    revamp_array_view view = untouched<revamp_array_view>();
    switch (random.below(7)) {
    case 0:
        extent[random.below(rank)] = random.one_in(2) ? 0 : INT_MIN + static_cast<int32_t>(random.below(1U << 30));
        break;
    case 1:
        element = random.one_in(2) ? 0 : SIZE_MAX - random.below(100);
        break;
    case 2:
        rank = random.one_in(2) ? 0 : 100 + random.below(UINT32_MAX - 200);
        break;
    case 3:
        // More bytes than the machine has, or than 64 bits can count.
        rank = 3;
        extent[0] = extent[1] = INT_MAX;
        extent[2] = random.one_in(2) ? INT_MAX : 1 << 20;
        break;
    case 4:
        options.struct_size = random.one_in(2) ? random.below(8) : sizeof options + 1 + random.below(1000);
        break;
    case 5:
        to = nullptr;
        break;
    default:
        options.has_cpu_access_type = true;
        options.cpu_access_type = 4 + random.below(1000);
    }
    check_refused(revamp_array_create(target.handle, rank, extent, element, &options, to), expected,
                  "revamp_array_create");
    check_untouched(out, "revamp_array_create");
    if (options.has_cpu_access_type || !to || options.struct_size != sizeof options) return;
    check_refused(revamp_array_view_create(rank, extent, element, nullptr, &view), expected,
                  "revamp_array_view_create");
    check_refused(revamp_array_view_create_host(nullptr, rank, extent, element, nullptr, &view), expected,
                  "revamp_array_view_create_host");
    check_untouched(view, "revamp_array_view_create");
}

void Program::refuse_views() {
    View *v = some_view();
    if (!v) return;
    const Box &b = v->box;
    int32_t origin[max_rank] = {}, extent[max_rank] = {};
    random_part(b, origin, extent);
    revamp_array_view out = untouched<revamp_array_view>();
    void *data = untouched<void *>();
    uint32_t d = random.below(b.rank);
    switch (random.below(6)) {
    case 0:
        if (random.one_in(2))
            extent[d] = b.extent[d] - origin[d] + 1 + static_cast<int32_t>(random.below(1000));
        else
            extent[d] = random.one_in(2) ? 0 : -1 - static_cast<int32_t>(random.below(INT_MAX));
        check_refused(revamp_array_view_section(v->handle, origin, extent, &out), bad_call_statuses,
                      "a section outside of the view");
        break;
    case 1:
        origin[d] = random.one_in(2) ? -1 - static_cast<int32_t>(random.below(INT_MAX)) : INT_MAX;
        check_refused(revamp_array_view_section(v->handle, origin, random.one_in(2) ? extent : nullptr, &out),
                      bad_call_statuses, "a section outside of the view");
        break;
    case 2:
        check_refused(revamp_array_view_project(v->handle,
                                                random.one_in(2) ? -1
                                                : b.rank > 1     ? b.extent[0]
                                                                 : 0,
                                                &out),
                      bad_call_statuses, "a projection outside");
        break;
    case 3: {
        int32_t larger_extent[] = {INT_MAX, random.from_to(1, INT_MAX)};
        check_refused(revamp_array_view_view_as(v->handle, 1 + random.below(2), larger_extent, &out), bad_call_statuses,
                      "a larger shape");
        break;
    }
    case 4:
        check_refused(revamp_array_view_data(v->handle, random.one_in(2) ? 0 : 4 + random.below(99), &data),
                      bad_call_statuses, "an invalid access mode");
        check_refused(revamp_array_view_data(v->handle, REVAMP_ACCESS_READ, nullptr), bad_call_statuses, "no output");
        break;
    default:
        if (!v->read_only) return;
        check_refused(revamp_array_view_data(v->handle, REVAMP_ACCESS_READ_WRITE, &data), bad_call_statuses,
                      "writing a read-only view");
        check_refused(revamp_array_view_synchronize(v->handle, REVAMP_ACCESS_WRITE), bad_call_statuses,
                      "writing a read-only view");
        check_refused(revamp_array_view_discard_data(v->handle), bad_call_statuses, "discarding a read-only view");
    }
    check_untouched(out, "a view of a view");
    check_untouched(data, "an access");
}

void Program::refuse_copies() {
    Side from = some_side(false), to = some_side(true);
    if (!from.of || !to.of) return;
    Region regions[2];
    revamp_completion done = untouched<revamp_completion>(), *out = &done;
    unsigned expected = bad_call_statuses;
    if (!make_region(from, regions[0]) || !make_region(to, regions[1])) return end_region(regions[0]);
    switch (random.below(6)) {
    case 0:
        // Different extents. If they happen to be equal, the output is missing instead.
        if (from.box.rank == to.box.rank && from.box.extent == to.box.extent && from.box.element == to.box.element)
            out = nullptr;
        break;
    case 1:
        regions[0].c.struct_size = random.one_in(2) ? random.below(8) : sizeof(revamp_region) + 8;
        break;
    case 2:
        regions[1].c.array = nullptr;
        regions[1].c.view = nullptr;
        regions[1].c.host = nullptr;
        break;
    case 3:
        if (regions[0].c.view)
            regions[0].c.array = reinterpret_cast<revamp_array>(uintptr_t{77});
        else
            regions[0].c.extent = reinterpret_cast<const int32_t *>(uintptr_t{3});
        break;
    case 4:
        // A released view.
        regions[0].c.view = dead_views.empty() ? reinterpret_cast<revamp_array_view>(uintptr_t{77}) : dead_views.back();
        regions[0].c.array = nullptr;
        regions[0].c.origin = nullptr;
        regions[0].c.extent = nullptr;
        expected |= bad_handle_status;
        break;
    default:
        out = nullptr;
    }
    check_refused(revamp_copy_async(&regions[0].c, &regions[1].c, nullptr, out), expected | bad_handle_status,
                  "a bad copy");
    check_untouched(done, "a copy");
    end_region(regions[0]);
    end_region(regions[1]);
}

void Program::refuse_launches() {
    View *v = some_writable();
    int queue = some_queue(false);
    const Queue &target = queues[static_cast<size_t>(queue)];
    if (!v || target.accelerator_kind != VULKAN) return;
    uint32_t value = 1;
    int32_t extent = 64;
    revamp_argument arguments[] = {revamp_argument_view(0, v->handle), revamp_argument_push_constant(0, &value, 4)};
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = 2;
    unsigned expected = bad_call_statuses | bad_handle_status;
    switch (random.below(11)) {
    case 0:
        extent = random.one_in(2) ? 0 : -1 - static_cast<int32_t>(random.below(INT_MAX));
        expected = bit_of(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN) | bad_call_statuses;
        break;
    case 1:
        arguments[0].binding = 1 + random.below(UINT32_MAX - 1);
        break;
    case 2:
        arguments[1].size = random.one_in(2) ? 8 + 4 * random.below(100) : SIZE_MAX / 2 - random.below(100);
        break;
    case 3:
        info.argument_count = 1;
        break;
    case 4:
        arguments[0].kind = static_cast<revamp_argument_kind>(random.one_in(2) ? 0 : 6 + random.below(1000));
        break;
    case 5:
        arguments[0].view = dead_views.empty() ? reinterpret_cast<revamp_array_view>(uintptr_t{77}) : dead_views.back();
        break;
    case 6:
        arguments[1].data = nullptr;
        break;
    case 7:
        info.rank = random.one_in(2) ? 0 : 1000 + random.below(1U << 30);
        expected |= bit_of(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN);
        break;
    case 8:
        // The cpu accelerator runs no kernels.
        check_refused(revamp_dispatch(world.defaults[CPU], world.fill, &info),
                      expected | bit_of(REVAMP_ERROR_UNSUPPORTED_FEATURE), "a launch on the cpu");
        return;
    case 9:
        // More bytes than the machine has.
        arguments[1].kind = REVAMP_ARGUMENT_INDIRECT;
        arguments[1].view = v->handle;
        arguments[1].size = SIZE_MAX / 2 - random.below(100);
        expected |= bit_of(REVAMP_ERROR_OUT_OF_MEMORY);
        break;
    default:
        arguments[1].offset = 4 + 4 * random.below(1U << 28);
    }
    check_refused(revamp_dispatch(target.handle, world.fill, &info), expected, "a bad launch");
}

void Program::refuse_structs() {
    revamp_array_view_info info = {};
    revamp_memory_usage usage = {};
    revamp_transfer_counters counters = {};
    revamp_completion done = untouched<revamp_completion>();
    size_t size = random.one_in(2) ? random.below(8) : sizeof info + sizeof usage + 8 * random.below(1000);
    info.struct_size = usage.struct_size = counters.struct_size = size + sizeof counters * (size > 8);
    View *v = some_view();
    if (v) check_refused(revamp_array_view_get_info(v->handle, &info), bad_call_statuses, "a wrong struct_size");
    if (v)
        check_refused(revamp_array_view_synchronize_async(v->handle, REVAMP_ACCESS_READ, nullptr, nullptr),
                      bad_call_statuses, "no output");
    check_refused(revamp_accelerator_get_memory_usage(world.accelerators[CPU], &usage), bad_call_statuses,
                  "a wrong struct_size");
    check_refused(revamp_get_transfers(&counters), bad_call_statuses, "a wrong struct_size");
    check_refused(revamp_accelerator_view_create_marker(nullptr, &done), bad_handle_status, "a marker of nothing");
    check_refused(revamp_accelerator_create_view(world.accelerators[THREADS],
                                                 static_cast<revamp_queuing_mode>(2 + random.below(100)), nullptr),
                  bad_call_statuses, "an invalid queuing mode");
    check_untouched(done, "a marker");
}

void Program::refuse() {
    note_step(current, "makes invalid calls");
    switch (random.below(6)) {
    case 0:
        return refuse_handles();
    case 1:
        return refuse_arrays();
    case 2:
        return refuse_views();
    case 3:
        return refuse_copies();
    case 4:
        return refuse_launches();
    default:
        refuse_structs();
    }
}

} // namespace fuzz
