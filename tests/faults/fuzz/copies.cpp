// Copies between memory, arrays and views, and asynchronous operations.
#include "program.hpp"

namespace fuzz {

Program::Side Program::some_side(bool writes) {
    Side side;
    View *v = writes ? some_writable() : some_view();
    SourcePtr s = some_source();
    if (v && (!s || random.one_in(2))) {
        side.of = v->of;
        side.box = v->box;
        side.view = v;
    } else if (s && (s->array || (s->home == OVER_HOST && !s->views))) {
        side.of = s;
        side.box = s->whole;
        side.is_array = s->array != nullptr;
    }
    return side;
}

// Returns a side with the rank and element size of `other`. If there is none, creates an array or memory.
Program::Side Program::side_like(const Side &other, bool writes) {
    for (int i = 0; i < 10; i++) {
        Side side = some_side(writes);
        if (side.of && side.box.rank == other.box.rank && side.box.element == other.box.element) return side;
    }
    Side side;
    if (sources.size() >= 12) return side;
    Box shape = Box::packed(other.box.rank, other.box.extent.data(), other.box.element);
    side.of = random.one_in(2) ? new_array(shape) : new_memory(shape);
    side.box = shape;
    if (side.of) side.is_array = side.of->array != nullptr;
    return side;
}

// Fills the C struct for a side whose box is a section of its view, array or memory.
bool Program::make_region(const Side &s, Region &r) {
    const Box &whole = s.view ? s.view->box : s.of->whole;
    r.c.struct_size = sizeof r.c;
    uint64_t remaining_offset = s.box.offset - whole.offset;
    for (uint32_t d = 0; d < s.box.rank; d++) {
        r.origin[d] = static_cast<int32_t>(remaining_offset / whole.stride[d]);
        // A dimension of extent 1 may have any stride, so the quotient may be too large.
        if (r.origin[d] >= whole.extent[d]) r.origin[d] = 0;
        remaining_offset -= static_cast<uint64_t>(r.origin[d]) * whole.stride[d];
        r.extent[d] = s.box.extent[d];
        r.strides[d] = static_cast<int64_t>(s.box.stride[d]) * 4;
    }
    if (s.view) {
        r.c.view = s.view->handle;
        if (s.box.same_shape(whole) && random.one_in(2)) return true;
        if (!good(revamp_array_view_section(s.view->handle, r.origin, r.extent, &r.section), "a section to copy"))
            return false;
        r.c.view = r.section;
    } else if (s.is_array) {
        r.c.array = s.of->array;
        r.c.origin = r.origin;
        r.c.extent = r.extent;
    } else {
        wait_for_users(s.of);
        r.c.host = s.of->memory + s.box.offset;
        r.c.host_rank = s.box.rank;
        r.c.host_element_size = s.box.element * 4;
        r.c.extent = r.extent;
        r.c.host_strides = r.strides;
        if (random.one_in(2)) r.c.host_size = (s.box.end() - s.box.offset) * 4;
    }
    return true;
}

void Program::end_region(Region &r) {
    if (r.section && revamp_array_view_release(r.section) != REVAMP_OK) found("a section was not released");
}

static const char *kind_of(const void *view, bool is_array) {
    return view ? "view" : is_array ? "array" : "memory";
}

void Program::copy() {
    note_step(current, "copies");
    Side from = some_side(false);
    if (!from.of) return;
    Side to = side_like(from, true);
    if (!to.of || (to.view && to.view->read_only)) return;
    // Copies a section of `from` to a section of `to` with the same extent.
    int32_t origin[2][max_rank] = {}, extent[max_rank] = {};
    for (uint32_t d = 0; d < from.box.rank; d++) {
        int32_t largest_extent = from.box.extent[d] < to.box.extent[d] ? from.box.extent[d] : to.box.extent[d];
        extent[d] = random.one_in(2) ? largest_extent : random.from_to(1, largest_extent);
        origin[0][d] = random.from_to(0, from.box.extent[d] - extent[d]);
        origin[1][d] = random.from_to(0, to.box.extent[d] - extent[d]);
    }
    from.box = from.box.section(origin[0], extent);
    to.box = to.box.section(origin[1], extent);
    bool is_overlapping = from.of == to.of && overlap(from.box, to.box), is_async = random.one_in(2);
    bool are_both_memory = !from.view && !from.is_array && !to.view && !to.is_array;
    // The library does not detect overlap between two regions of host memory.
    if (are_both_memory && from.of == to.of) return;
    SourcePtr memory = !from.view && !from.is_array ? from.of : !to.view && !to.is_array ? to.of : nullptr;
    bool writes_memory = memory == to.of;
    note(" %llu words%s from %s %p (%p) to %s %p (%p)", static_cast<unsigned long long>(from.box.words()),
         is_async ? ", asynchronously," : "", kind_of(from.view, from.is_array), static_cast<void *>(from.of.get()),
         from.view ? static_cast<void *>(from.view->handle) : nullptr, kind_of(to.view, to.is_array),
         static_cast<void *>(to.of.get()), to.view ? static_cast<void *>(to.view->handle) : nullptr);
    // An Operation records only one block of host memory, so copies from host memory to host memory are synchronous.
    if (are_both_memory) is_async = false;
    Region regions[2];
    if (make_region(from, regions[0]) && make_region(to, regions[1])) {
        revamp_completion done = nullptr;
        revamp_status status = is_async ? revamp_copy_async(&regions[0].c, &regions[1].c, nullptr, &done)
                                        : revamp_copy(&regions[0].c, &regions[1].c);
        if (is_overlapping) {
            check_refused(status, bad_call_statuses, "a copy between overlapping elements");
        } else {
            Words now = words_of(from.of, from.box);
            bool is_done = good(status, "a copy");
            if (is_done && is_async) {
                begin_operation(done, memory, writes_memory);
                // If faults can be injected, the copy is certain to have succeeded only after a wait for it.
                is_done = !can_inject_faults() || (random.one_in(2) && get(operations.back()));
            }
            put(to.of, to.box, now, is_done);
        }
    }
    // Sections may be released while the copy is running.
    end_region(regions[0]);
    end_region(regions[1]);
}

// Calls the functions that copy whole arrays.
void Program::copy_whole() {
    SourcePtr s = some_source();
    if (!s || !s->array) return;
    SourcePtr m;
    for (const SourcePtr &other : sources)
        if (other->home == OVER_HOST && !other->views && other->words.size() == s->words.size()) m = other;
    note_step(current, "copies a whole array %p", static_cast<void *>(s.get()));
    if (!m && sources.size() < 12) m = new_memory(s->whole);
    if (!m) return;
    wait_for_users(m);
    bool is_in = random.one_in(2), is_async = random.one_in(2);
    size_t size = m->words.size() * 4;
    revamp_completion done = nullptr;
    revamp_status status;
    note(" %s %p%s", is_in ? "from" : "to", static_cast<void *>(m.get()), is_async ? ", asynchronously" : "");
    if (is_in)
        status = is_async ? revamp_copy_to_array_async(m->memory, size, s->array, nullptr, &done)
                          : revamp_copy_to_array(m->memory, size, s->array);
    else
        status = is_async ? revamp_copy_from_array_async(s->array, m->memory, size, nullptr, &done)
                          : revamp_copy_from_array(s->array, m->memory, size);
    bool is_done = good(status, "a copy of a whole array");
    const SourcePtr &from = is_in ? m : s, &to = is_in ? s : m;
    Words now = words_of(from, from->whole);
    if (is_done && is_async) {
        begin_operation(done, m, !is_in);
        is_done = !can_inject_faults() || (random.one_in(2) && get(operations.back()));
    }
    // Memory and array are both packed, so the copy keeps the order of the words.
    for (size_t w = 0; w < now.size(); w++)
        to->words[w] = is_done ? now[w] : to->words[w].or_(now[w]);
}

// Waits for all operations on `memory` before the program touches it.
void Program::wait_for_users(const SourcePtr &memory) {
    auto users = std::move(memory->users);
    memory->users.clear();
    bool was_written = false;
    for (const OperationPtr &user : users) {
        was_written |= user->writes_memory;
        if (!user->is_done) get(user);
    }
    if (was_written) check_words(memory, memory->whole, memory->memory, "the memory that was copied to");
}

void on_done(revamp_status status, void *context) {
    auto *operation = static_cast<std::shared_ptr<Program::Operation> *>(context);
    if (status > 0) found("a callback got the status %s", revamp_status_name(status));
    // A callback may call the library.
    if (revamp_version() == 0) found("revamp_version() is 0");
    (*operation)->called++;
    delete operation;
}

void Program::begin_operation(revamp_completion handle, const SourcePtr &memory, bool writes_memory, bool is_marker) {
    auto new_operation = std::make_shared<Operation>();
    new_operation->handle = handle;
    new_operation->memory = memory;
    new_operation->writes_memory = writes_memory;
    new_operation->is_marker = is_marker;
    operations.push_back(new_operation);
    if (memory) memory->users.push_back(new_operation);
    note(" -> completion %p", static_cast<void *>(handle));
}

bool Program::get(const OperationPtr &operation) {
    note(" (waits for %p)", static_cast<void *>(operation->handle));
    revamp_status status = revamp_completion_get(operation->handle);
    operation->is_done = true;
    if (operation->is_marker) check_wait(status, "a marker's end");
    return operation->is_marker || good(status, "revamp_completion_get");
}

void Program::release_completion(const OperationPtr &operation) {
    // After the last release, the program could no longer wait until the operation has finished with the memory.
    if (operation->memory && !operation->is_done && operation->owners == 1) get(operation);
    note(" releases %p", static_cast<void *>(operation->handle));
    if (revamp_completion_release(operation->handle) != REVAMP_OK) found("a completion was not released");
    if (--operation->owners) return;
    dead_completions.push_back(operation->handle);
    for (size_t n = 0; n < operations.size(); n++)
        if (operations[n] == operation) {
            // The callbacks of a released completion are still called.
            OperationPtr last = operations[n];
            operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(n));
            if (last->callbacks) awaiting_callbacks.push_back(last);
            return;
        }
}

void Program::use_completion() {
    if (operations.empty()) return;
    OperationPtr operation = operations[random.below(operations.size())];
    char text[64];
    size_t length = 0;
    note_step(current, "completion %p:", static_cast<void *>(operation->handle));
    switch (random.below(operations.size() > 12 ? 3 : 8)) {
    case 0:
    case 1:
    case 2:
        release_completion(operation);
        break;
    case 3:
        get(operation);
        break;
    case 4:
        note(" waits");
        good(revamp_completion_wait(operation->handle), "revamp_completion_wait");
        break;
    case 5: {
        revamp_status status = revamp_completion_wait_for(operation->handle, random.below(1000));
        if (status != REVAMP_TIMEOUT) good(status, "revamp_completion_wait_for");
        break;
    }
    case 6:
        good(revamp_completion_error_message(operation->handle, text, sizeof text, &length),
             "revamp_completion_error_message");
        if (length && !fault_has_fired() && !operation->is_marker)
            found("a completion reports a failure without a fault: %s", text);
        if (random.one_in(2) && good(revamp_completion_retain(operation->handle), "retain")) operation->owners++;
        break;
    default: {
        note(" then");
        auto *context = new OperationPtr(operation);
        if (good(revamp_completion_then(operation->handle, on_done, context), "revamp_completion_then"))
            operation->callbacks++;
        else
            delete context;
    }
    }
}

} // namespace fuzz
