// Creates, queries and releases arrays, views and memory, and derives views from views.
#include "program.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace fuzz {

constexpr uint32_t guard_word = 0xa5a5a5a5;
constexpr size_t guard_words = 16, max_sources = 8, max_views = 14, max_dead = 16;

template <class T> static void remember(std::vector<T> &dead, T handle) {
    if (dead.size() >= max_dead) dead.erase(dead.begin());
    dead.push_back(handle);
}

Program::SourcePtr Program::some_source() {
    return sources.empty() ? nullptr : sources[random.below(sources.size())];
}

Program::View *Program::some_view() {
    return views.empty() ? nullptr : views[random.below(views.size())].get();
}

Program::View *Program::some_writable() {
    for (int i = 0; i < 6; i++) {
        View *v = some_view();
        if (v && !v->read_only) return v;
    }
    return nullptr;
}

Box Program::random_shape() {
    static const uint32_t elements[] = {1, 1, 2, 3};
    uint32_t rank = 1 + random.below(max_rank), element = elements[random.below(4)];
    int32_t extent[max_rank] = {};
    if (rank == 1) {
        int32_t largest_extent = random.one_in(60) ? 300000 : random.one_in(10) ? 30000 : 400;
        extent[0] = random.from_to(1, largest_extent);
    }
    for (uint32_t d = 0; rank > 1 && d < rank; d++)
        extent[d] = random.from_to(1, rank == 2 ? 32 : 11);
    return Box::packed(rank, extent, element);
}

void Program::random_part(const Box &b, int32_t *origin, int32_t *extent) {
    for (uint32_t d = 0; d < b.rank; d++) {
        extent[d] = random.one_in(3) ? b.extent[d] : random.from_to(1, b.extent[d]);
        origin[d] = random.from_to(0, b.extent[d] - extent[d]);
    }
}

// Returns the index of a random queue that is not released. If `holds_arrays` is false, the queue is not on the cpu
// accelerator.
int Program::some_queue(bool holds_arrays) {
    for (;;) {
        int n = static_cast<int>(random.below(queues.size()));
        if (!queues[static_cast<size_t>(n)].is_released &&
            (holds_arrays || queues[static_cast<size_t>(n)].accelerator_kind != CPU))
            return n;
    }
}

Program::SourcePtr Program::new_array(const Box &shape) {
    auto s = std::make_shared<Source>();
    s->home = OVER_ARRAY;
    s->whole = shape;
    s->queue = some_queue(true);
    const Queue &queue = queues[static_cast<size_t>(s->queue)];
    revamp_array_options options = {};
    options.struct_size = sizeof options;
    if (queue.accelerator_kind == CPU && random.one_in(2)) {
        s->associated = some_queue(false);
        options.associated_view = queues[static_cast<size_t>(s->associated)].handle;
    }
    if (queue.accelerator_kind == VULKAN && random.one_in(2) && world.infos[VULKAN].supports_cpu_shared_memory) {
        options.has_cpu_access_type = true;
        options.cpu_access_type = random.from_to(0, 3);
    }
    note(" array on queue %d%s", s->queue, s->associated >= 0 ? " (staging)" : "");
    if (!good(
            revamp_array_create(queue.handle, shape.rank, shape.extent.data(), shape.element * 4, &options, &s->array),
            "revamp_array_create"))
        return nullptr;
    revamp_array_info info = {};
    info.struct_size = sizeof info;
    if (!good(revamp_array_get_info(s->array, &info), "revamp_array_get_info")) return nullptr;
    s->cpu_access = info.cpu_access_type;
    s->words.resize(shape.words());
    sources.push_back(s);
    return s;
}

Program::SourcePtr Program::new_memory(const Box &shape) {
    auto s = std::make_shared<Source>();
    s->home = OVER_HOST;
    s->whole = shape;
    size_t words = shape.words(), shift = random.below(16);
    s->guarded.assign(words + 2 * guard_words + shift, guard_word);
    s->memory = s->guarded.data() + guard_words + shift;
    s->words.resize(words);
    auto value = static_cast<uint32_t>(random.next());
    for (size_t w = 0; w < words; w++)
        s->words[w] = Word::of(s->memory[w] = value + static_cast<uint32_t>(w));
    note(" memory of %zu words", words);
    sources.push_back(s);
    return s;
}

void Program::check_guards(const Source &s) {
    const uint32_t *end = s.guarded.data() + s.guarded.size();
    for (const uint32_t *at = s.guarded.data(); at < end; at++)
        if ((at < s.memory || at >= s.memory + s.words.size()) && *at != guard_word)
            found("the library wrote memory %s the data source", at < s.memory ? "before" : "after");
}

void Program::make_array() {
    if (sources.size() >= max_sources) return destroy_array();
    note_step(current, "makes");
    if (random.one_in(3))
        new_memory(random_shape());
    else
        new_array(random_shape());
}

void Program::add_view(revamp_array_view handle, const SourcePtr &of, const Box &b, bool read_only) {
    auto v = std::make_unique<View>();
    v->handle = handle;
    v->of = of;
    v->box = b;
    v->read_only = read_only;
    good(revamp_array_view_get_host_access(handle, &v->state), "revamp_array_view_get_host_access");
    revamp_array_view_info info = {};
    info.struct_size = sizeof info;
    if (good(revamp_array_view_get_info(handle, &info), "revamp_array_view_get_info")) {
        if (!of->views) of->id = info.source_id;
        bool matches = info.rank == b.rank && info.element_size == b.element * 4 && info.offset == b.offset * 4 &&
                       info.read_only == read_only && info.source_id == of->id && info.element_count == b.elements();
        for (uint32_t d = 0; matches && d < b.rank; d++)
            matches = info.extent[d] == b.extent[d] && (b.extent[d] == 1 || info.strides[d] == b.stride[d] * 4);
        if (!matches) found("revamp_array_view_get_info does not match the view");
    }
    of->views++;
    note(" -> view %p over %p, %llu words from %llu", static_cast<void *>(handle), static_cast<void *>(of.get()),
         static_cast<unsigned long long>(b.words()), static_cast<unsigned long long>(b.offset));
    views.push_back(std::move(v));
}

// Makes a view of a whole source.
void Program::make_view() {
    if (views.size() >= max_views) return step_release_view();
    revamp_array_view_options options = {};
    options.struct_size = sizeof options;
    options.read_only = random.one_in(6);
    revamp_array_view handle = nullptr;
    note_step(current, "makes a view");
    SourcePtr s = some_source();
    bool has_no_source = random.one_in(6);
    if (has_no_source || !s) {
        Box b = random_shape();
        options.read_only = false;
        if (!good(revamp_array_view_create(b.rank, b.extent.data(), b.element * 4, &options, &handle),
                  "revamp_array_view_create"))
            return;
        s = std::make_shared<Source>();
        s->home = WITHOUT_SOURCE;
        s->whole = b;
        s->words.resize(b.words());
    } else if (s->home == OVER_ARRAY) {
        // The array has been destroyed, but its views live on.
        if (!s->array) return;
        if (!good(revamp_array_view_create_array(s->array, &options, &handle), "revamp_array_view_create_array"))
            return;
    } else {
        if (s->views) return;
        wait_for_users(s);
        if (!good(revamp_array_view_create_host(s->memory, s->whole.rank, s->whole.extent.data(), s->whole.element * 4,
                                                &options, &handle),
                  "revamp_array_view_create_host"))
            return;
        s->base = s->memory;
    }
    add_view(handle, s, s->whole, options.read_only);
}

void Program::derive_view() {
    View *v = some_view();
    if (!v || views.size() >= max_views) return;
    revamp_array_view new_view = nullptr;
    Box b = v->box;
    if (b.rank > 1 && random.one_in(3)) {
        int32_t index = random.from_to(0, b.extent[0] - 1);
        note_step(current, "projection %d of %p", index, static_cast<void *>(v->handle));
        if (!good(revamp_array_view_project(v->handle, index, &new_view), "revamp_array_view_project")) return;
        b.offset += static_cast<uint64_t>(index) * b.stride[0];
        b.rank--;
        for (uint32_t d = 0; d < b.rank; d++) {
            b.extent[d] = b.extent[d + 1];
            b.stride[d] = b.stride[d + 1];
        }
        b.extent[b.rank] = 0;
        b.stride[b.rank] = 0;
    } else {
        int32_t origin[max_rank] = {}, extent[max_rank] = {};
        random_part(b, origin, extent);
        note_step(current, "section of %p", static_cast<void *>(v->handle));
        if (!good(revamp_array_view_section(v->handle, origin, extent, &new_view), "revamp_array_view_section")) return;
        b = b.section(origin, extent);
    }
    add_view(new_view, v->of, b, v->read_only);
}

void Program::shape_view() {
    View *v = some_view();
    if (!v || views.size() >= max_views) return;
    revamp_array_view new_view = nullptr;
    uint64_t remaining_elements = v->box.elements(), words = v->box.words();
    uint32_t rank = 1 + random.below(max_rank), element = 1 + random.below(4);
    int32_t extent[max_rank] = {1, 1, 1};
    for (uint32_t d = 0; d < rank; d++) {
        extent[d] = random.from_to(1, static_cast<int32_t>(remaining_elements));
        remaining_elements /= static_cast<uint64_t>(extent[d]);
    }
    note_step(current, "reshapes %p", static_cast<void *>(v->handle));
    if (!v->box.is_packed()) {
        check_refused(revamp_array_view_view_as(v->handle, rank, extent, &new_view), bad_call_statuses,
                      "view_as of a view with gaps");
        check_refused(revamp_array_view_reinterpret_as(v->handle, 4, &new_view), bad_call_statuses,
                      "reinterpret_as of a view with gaps");
        return;
    }
    if (random.one_in(2)) {
        if (words % element) {
            check_refused(revamp_array_view_reinterpret_as(v->handle, element * 4, &new_view), bad_call_statuses,
                          "a part of an element");
            return;
        }
        auto length = static_cast<int32_t>(words / element);
        if (good(revamp_array_view_reinterpret_as(v->handle, element * 4, &new_view),
                 "revamp_array_view_reinterpret_as"))
            add_view(new_view, v->of, Box::packed(1, &length, element, v->box.offset), v->read_only);
        return;
    }
    if (good(revamp_array_view_view_as(v->handle, rank, extent, &new_view), "revamp_array_view_view_as"))
        add_view(new_view, v->of, Box::packed(rank, extent, v->box.element, v->box.offset), v->read_only);
}

void Program::retain_view() {
    View *v = some_view();
    if (!v || views.size() >= max_views) return;
    note_step(current, "retains %p", static_cast<void *>(v->handle));
    if (random.one_in(2)) {
        if (good(revamp_array_view_retain(v->handle), "revamp_array_view_retain")) v->owners++;
        return;
    }
    revamp_array_view new_view = nullptr;
    if (good(revamp_array_view_as_read_only(v->handle, &new_view), "revamp_array_view_as_read_only"))
        add_view(new_view, v->of, v->box, true);
}

void Program::release_view(size_t n) {
    View &v = *views[n];
    SourcePtr s = v.of;
    unsigned before = logged_errors();
    note_step(current, "releases %p", static_cast<void *>(v.handle));
    // A release never fails; it reports lost data in the log.
    if (revamp_array_view_release(v.handle) != REVAMP_OK) found("a release failed: %s", revamp_last_error_message());
    calls++;
    if (--v.owners) return;
    remember(dead_views, v.handle);
    views.erase(views.begin() + static_cast<std::ptrdiff_t>(n));
    if (--s->views) return;
    note(", the last of %p", static_cast<void *>(s.get()));
    end_source(s, before);
}

// True if the memory of a source on the host (OVER_HOST) matches the model. Always true for other sources.
bool Program::matches_model(const Source &s) const {
    for (size_t w = 0; s.home == OVER_HOST && w < s.words.size(); w++)
        if (!s.words[w].allows(s.memory[w])) return false;
    return true;
}

// Called after the release of a source's last view. The memory of the source must then be up to date, or the log must
// report lost data. The report may come a little later if another thread is in the log callback.
void Program::end_source(SourcePtr s, unsigned errors_before) {
    for (int tries = 0; tries < 2000 && fault_has_fired() && logged_errors() == errors_before && !matches_model(*s);
         tries++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bool is_loss_logged = fault_has_fired() && logged_errors() != errors_before;
    if (is_loss_logged) forget(s, s->whole);
    if (s->home == OVER_HOST) {
        check_words(s, s->whole, s->memory, "home after the last view's release");
        check_guards(*s);
        for (size_t w = 0; w < s->words.size(); w++)
            s->words[w] = Word::of(s->memory[w]);
        s->base = nullptr;
    } else if (s->home == OVER_ARRAY && !s->array) {
        for (size_t n = 0; n < sources.size(); n++)
            if (sources[n] == s) sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(n--));
    } else if (s->home == OVER_ARRAY) {
        s->base = nullptr;
    }
}

void Program::step_release_view() {
    if (!views.empty()) release_view(random.below(views.size()));
}

// Destroys an array or memory.
void Program::destroy_array() {
    SourcePtr s = some_source();
    if (!s) return;
    note_step(current, "destroys %p", static_cast<void *>(s.get()));
    if (s->home == OVER_HOST) {
        // Memory must outlive its views.
        if (s->views) return;
        wait_for_users(s);
        check_words(s, s->whole, s->memory, "memory");
        check_guards(*s);
    } else {
        if (!s->array) return;
        if (revamp_array_destroy(s->array) != REVAMP_OK)
            found("an array was not destroyed: %s", revamp_last_error_message());
        calls++;
        remember(dead_arrays, s->array);
        s->array = nullptr;
        if (s->views) return;
    }
    for (size_t n = 0; n < sources.size(); n++)
        if (sources[n] == s) sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(n--));
}

// Calls query functions, which must change nothing.
void Program::query_all() {
    View *v = some_view();
    note_step(current, "queries");
    revamp_transfer_counters counters = {};
    counters.struct_size = sizeof counters;
    good(revamp_get_transfers(&counters), "revamp_get_transfers");
    uint64_t bytes[ACCELERATOR_KINDS];
    world.used(bytes);
    revamp_transfer transfers[8] = {};
    transfers[0].struct_size = sizeof *transfers;
    size_t count = 0;
    good(revamp_transfer_log_read(0, transfers, 8, &count), "revamp_transfer_log_read");
    if (!v) return;
    good(revamp_array_view_get_transfers(v->handle, &counters), "revamp_array_view_get_transfers");
    good(revamp_array_view_get_source_transfers(v->handle, &counters), "revamp_array_view_get_source_transfers");
    revamp_residency r = {};
    r.struct_size = sizeof r;
    const Queue &on = queues[static_cast<size_t>(some_queue(true))];
    if (!good(revamp_array_view_get_residency(v->handle, on.handle, &r), "revamp_array_view_get_residency")) return;
    if (r.view_bytes != v->box.words() * 4 || r.valid_bytes + r.discarded_bytes > r.view_bytes)
        found("the view has %llu bytes, but %llu are valid and %llu discarded",
              static_cast<unsigned long long>(r.view_bytes), static_cast<unsigned long long>(r.valid_bytes),
              static_cast<unsigned long long>(r.discarded_bytes));
}

} // namespace fuzz
