// Calls that must be refused, and change nothing: what follows shows whether they did.
#include "program.hpp"

#include <climits>

namespace fuzz {

// In place of an output: it must stay as it is.
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

// Handles that are none, are dead, or of another kind.
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
        if (Bytes s = some_source()) view = reinterpret_cast<revamp_array_view>(s->array);
        completion = reinterpret_cast<revamp_completion>(world.defaults[CPU]);
        break;
    default: {
        uint64_t number = some_number(random);
        // A living one by chance would be used.
        for (const auto &v : views)
            if (reinterpret_cast<uintptr_t>(v->handle) == number) number = 0;
        for (const Bytes &s : sources)
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
    refused(revamp_array_destroy(array), as_handle, "revamp_array_destroy");
    refused(revamp_array_view_release(view), as_handle, "revamp_array_view_release");
    refused(revamp_array_view_retain(view), as_handle, "revamp_array_view_retain");
    refused(revamp_completion_release(completion), as_handle, "revamp_completion_release");
    refused(revamp_completion_get(completion), as_handle, "revamp_completion_get");
    refused(revamp_completion_then(completion, on_done, &word), as_handle, "revamp_completion_then");
    refused(revamp_array_view_data(view, REVAMP_ACCESS_READ, &data), as_handle, "revamp_array_view_data");
    refused(revamp_array_data(array, REVAMP_ACCESS_READ, &data), as_handle, "revamp_array_data");
    refused(revamp_array_view_synchronize(view, REVAMP_ACCESS_READ), as_handle, "revamp_array_view_synchronize");
    refused(revamp_array_view_discard_data(view), as_handle, "revamp_array_view_discard_data");
    refused(revamp_array_view_refresh(view), as_handle, "revamp_array_view_refresh");
    refused(revamp_array_view_get_residency(view, world.defaults[CPU], &residency), as_handle, "residency");
    refused(revamp_array_view_section(view, nullptr, nullptr, &made_view), as_handle, "revamp_array_view_section");
    refused(revamp_array_view_create_array(array, nullptr, &made_view), as_handle, "revamp_array_view_create_array");
    refused(revamp_copy_to_array(&word, 4, array), as_handle, "revamp_copy_to_array");
    check_untouched(data, "an access");
    check_untouched(made_view, "a section");
}

void Program::refuse_arrays() {
    const Queue &on = queues[static_cast<size_t>(some_queue(true))];
    int32_t extent[] = {random.from_to(1, 9), random.from_to(1, 9), random.from_to(1, 9)};
    uint32_t rank = 1 + random.below(3);
    size_t element = 4;
    unsigned expected = as_bad | as(REVAMP_ERROR_OUT_OF_MEMORY);
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
        // More bytes than there are, or than there can be.
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
    refused(revamp_array_create(on.handle, rank, extent, element, &options, to), expected, "revamp_array_create");
    check_untouched(out, "revamp_array_create");
    if (options.has_cpu_access_type || !to || options.struct_size != sizeof options) return;
    refused(revamp_array_view_create(rank, extent, element, nullptr, &view), expected, "revamp_array_view_create");
    refused(revamp_array_view_create_host(nullptr, rank, extent, element, nullptr, &view), expected,
            "revamp_array_view_create_host");
    check_untouched(view, "revamp_array_view_create");
}

void Program::refuse_views() {
    View *v = some_view();
    if (!v) return;
    const Box &b = v->box;
    int32_t origin[most_rank] = {}, extent[most_rank] = {};
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
        refused(revamp_array_view_section(v->handle, origin, extent, &out), as_bad, "a section outside");
        break;
    case 1:
        origin[d] = random.one_in(2) ? -1 - static_cast<int32_t>(random.below(INT_MAX)) : INT_MAX;
        refused(revamp_array_view_section(v->handle, origin, random.one_in(2) ? extent : nullptr, &out), as_bad,
                "a section outside");
        break;
    case 2:
        refused(revamp_array_view_project(v->handle,
                                          random.one_in(2) ? -1
                                          : b.rank > 1     ? b.extent[0]
                                                           : 0,
                                          &out),
                as_bad, "a projection outside");
        break;
    case 3: {
        int32_t more[] = {INT_MAX, random.from_to(1, INT_MAX)};
        refused(revamp_array_view_view_as(v->handle, 1 + random.below(2), more, &out), as_bad, "a larger shape");
        break;
    }
    case 4:
        refused(revamp_array_view_data(v->handle, random.one_in(2) ? 0 : 4 + random.below(99), &data), as_bad,
                "an access that is none");
        refused(revamp_array_view_data(v->handle, REVAMP_ACCESS_READ, nullptr), as_bad, "no output");
        break;
    default:
        if (!v->read_only) return;
        refused(revamp_array_view_data(v->handle, REVAMP_ACCESS_READ_WRITE, &data), as_bad,
                "writing what is read only");
        refused(revamp_array_view_synchronize(v->handle, REVAMP_ACCESS_WRITE), as_bad, "writing what is read only");
        refused(revamp_array_view_discard_data(v->handle), as_bad, "discarding what is read only");
    }
    check_untouched(out, "a view of a view");
    check_untouched(data, "an access");
}

void Program::refuse_copies() {
    Side from = some_side(false), to = some_side(true);
    if (!from.of || !to.of) return;
    Region regions[2];
    revamp_completion done = untouched<revamp_completion>(), *out = &done;
    unsigned expected = as_bad;
    if (!make_region(from, regions[0]) || !make_region(to, regions[1])) return end_region(regions[0]);
    switch (random.below(6)) {
    case 0:
        // Another extent, unless by chance they are alike.
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
        // Dead.
        regions[0].c.view = dead_views.empty() ? reinterpret_cast<revamp_array_view>(uintptr_t{77}) : dead_views.back();
        regions[0].c.array = nullptr;
        regions[0].c.origin = nullptr;
        regions[0].c.extent = nullptr;
        expected |= as_handle;
        break;
    default:
        out = nullptr;
    }
    refused(revamp_copy_async(&regions[0].c, &regions[1].c, nullptr, out), expected | as_handle, "a bad copy");
    check_untouched(done, "a copy");
    end_region(regions[0]);
    end_region(regions[1]);
}

void Program::refuse_launches() {
    View *v = some_writable();
    int queue = some_queue(false);
    const Queue &on = queues[static_cast<size_t>(queue)];
    if (!v || on.place != VULKAN) return;
    uint32_t value = 1;
    int32_t extent = 64;
    revamp_argument arguments[] = {revamp_argument_view(0, v->handle), revamp_argument_push_constant(0, &value, 4)};
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = 2;
    unsigned expected = as_bad | as_handle;
    switch (random.below(11)) {
    case 0:
        extent = random.one_in(2) ? 0 : -1 - static_cast<int32_t>(random.below(INT_MAX));
        expected = as(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN) | as_bad;
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
        expected |= as(REVAMP_ERROR_INVALID_COMPUTE_DOMAIN);
        break;
    case 8:
        // On the cpu runs no kernel.
        refused(revamp_dispatch(world.defaults[CPU], world.fill, &info),
                expected | as(REVAMP_ERROR_UNSUPPORTED_FEATURE), "a launch on the cpu");
        return;
    case 9:
        // Of more bytes than there are.
        arguments[1].kind = REVAMP_ARGUMENT_INDIRECT;
        arguments[1].view = v->handle;
        arguments[1].size = SIZE_MAX / 2 - random.below(100);
        expected |= as(REVAMP_ERROR_OUT_OF_MEMORY);
        break;
    default:
        arguments[1].offset = 4 + 4 * random.below(1U << 28);
    }
    refused(revamp_dispatch(on.handle, world.fill, &info), expected, "a bad launch");
}

void Program::refuse_structs() {
    revamp_array_view_info info = {};
    revamp_memory_usage usage = {};
    revamp_transfer_counters counters = {};
    revamp_completion done = untouched<revamp_completion>();
    size_t size = random.one_in(2) ? random.below(8) : sizeof info + sizeof usage + 8 * random.below(1000);
    info.struct_size = usage.struct_size = counters.struct_size = size + sizeof counters * (size > 8);
    View *v = some_view();
    if (v) refused(revamp_array_view_get_info(v->handle, &info), as_bad, "a struct_size");
    if (v)
        refused(revamp_array_view_synchronize_async(v->handle, REVAMP_ACCESS_READ, nullptr, nullptr), as_bad,
                "no output");
    refused(revamp_accelerator_get_memory_usage(world.accelerators[CPU], &usage), as_bad, "a struct_size");
    refused(revamp_get_transfers(&counters), as_bad, "a struct_size");
    refused(revamp_accelerator_view_create_marker(nullptr, &done), as_handle, "a marker of nothing");
    refused(revamp_accelerator_create_view(world.accelerators[THREADS],
                                           static_cast<revamp_queuing_mode>(2 + random.below(100)), nullptr),
            as_bad, "a queuing mode that is none");
    check_untouched(done, "a marker");
}

void Program::refuse() {
    note_step(current, "asks for what cannot be");
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
