// Copies between everything, and asynchronous operations.
#include "program.hpp"

namespace fuzz {

Program::Side Program::some_side(bool writes) {
    Side side;
    View *v = writes ? some_writable() : some_view();
    Bytes s = some_source();
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

// With elements and dimensions as the other's; memory of its own if there is none.
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

// The C struct for a side whose box is a section of what it stands for.
bool Program::make_region(const Side &s, Region &r) {
    const Box &whole = s.view ? s.view->box : s.of->whole;
    r.c.struct_size = sizeof r.c;
    uint64_t rest = s.box.offset - whole.offset;
    for (uint32_t d = 0; d < s.box.rank; d++) {
        r.origin[d] = static_cast<int32_t>(rest / whole.stride[d]);
        // A dimension of one element has any stride.
        if (r.origin[d] >= whole.extent[d]) r.origin[d] = 0;
        rest -= static_cast<uint64_t>(r.origin[d]) * whole.stride[d];
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
        settle(s.of);
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
    // Sections of one extent of both.
    int32_t origin[2][most_rank] = {}, extent[most_rank] = {};
    for (uint32_t d = 0; d < from.box.rank; d++) {
        int32_t most = from.box.extent[d] < to.box.extent[d] ? from.box.extent[d] : to.box.extent[d];
        extent[d] = random.one_in(2) ? most : random.from_to(1, most);
        origin[0][d] = random.from_to(0, from.box.extent[d] - extent[d]);
        origin[1][d] = random.from_to(0, to.box.extent[d] - extent[d]);
    }
    from.box = from.box.section(origin[0], extent);
    to.box = to.box.section(origin[1], extent);
    bool is_one = from.of == to.of && overlap(from.box, to.box), is_async = random.one_in(2);
    bool are_both_memory = !from.view && !from.is_array && !to.view && !to.is_array;
    // Nobody knows that two addresses are of one memory.
    if (are_both_memory && from.of == to.of) return;
    Bytes memory = !from.view && !from.is_array ? from.of : !to.view && !to.is_array ? to.of : nullptr;
    bool writes_memory = memory == to.of;
    note(" %llu words%s from %s %p (%p) to %s %p (%p)", static_cast<unsigned long long>(from.box.words()),
         is_async ? ", asynchronously," : "", kind_of(from.view, from.is_array), static_cast<void *>(from.of.get()),
         from.view ? static_cast<void *>(from.view->handle) : nullptr, kind_of(to.view, to.is_array),
         static_cast<void *>(to.of.get()), to.view ? static_cast<void *>(to.view->handle) : nullptr);
    // Two memories: one of them could not be waited for by the other's operation.
    if (are_both_memory) is_async = false;
    Region regions[2];
    if (make_region(from, regions[0]) && make_region(to, regions[1])) {
        revamp_completion done = nullptr;
        revamp_status status = is_async ? revamp_copy_async(&regions[0].c, &regions[1].c, nullptr, &done)
                                        : revamp_copy(&regions[0].c, &regions[1].c);
        if (is_one) {
            refused(status, as_bad, "a copy between elements in common");
        } else {
            Words now = words_of(from.of, from.box);
            bool is_done = good(status, "a copy");
            if (is_done && is_async) {
                begin_operation(done, memory, writes_memory);
                // Where it can fail, only one that was waited for is certain.
                is_done = !has_faults() || (random.one_in(2) && get(operations.back()));
            }
            put(to.of, to.box, now, is_done);
        }
    }
    // Also while it is under way.
    end_region(regions[0]);
    end_region(regions[1]);
}

// By the functions for whole arrays.
void Program::copy_whole() {
    Bytes s = some_source();
    if (!s || !s->array) return;
    Bytes m;
    for (const Bytes &other : sources)
        if (other->home == OVER_HOST && !other->views && other->words.size() == s->words.size()) m = other;
    note_step(current, "copies a whole array %p", static_cast<void *>(s.get()));
    if (!m && sources.size() < 12) m = new_memory(s->whole);
    if (!m) return;
    settle(m);
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
    const Bytes &from = is_in ? m : s, &to = is_in ? s : m;
    Words now = words_of(from, from->whole);
    if (is_done && is_async) {
        begin_operation(done, m, !is_in);
        is_done = !has_faults() || (random.one_in(2) && get(operations.back()));
    }
    // Packed on both sides, whatever the shapes.
    for (size_t w = 0; w < now.size(); w++)
        to->words[w] = is_done ? now[w] : to->words[w].or_(now[w]);
}

// Before memory of the program is touched.
void Program::settle(const Bytes &memory) {
    auto users = std::move(memory->users);
    memory->users.clear();
    bool was_written = false;
    for (const Under_way &user : users) {
        was_written |= user->writes_memory;
        if (!user->is_done) get(user);
    }
    if (was_written) read(memory, memory->whole, memory->memory, "the memory that was copied to");
}

void on_done(revamp_status status, void *context) {
    auto *operation = static_cast<std::shared_ptr<Program::Operation> *>(context);
    if (status > 0) found("a callback was told of %s", revamp_status_name(status));
    // It may call the library.
    if (revamp_version() == 0) found("revamp_version() is 0");
    (*operation)->called++;
    delete operation;
}

void Program::begin_operation(revamp_completion handle, const Bytes &memory, bool writes_memory, bool is_marker) {
    auto made = std::make_shared<Operation>();
    made->handle = handle;
    made->memory = memory;
    made->writes_memory = writes_memory;
    made->is_marker = is_marker;
    operations.push_back(made);
    if (memory) memory->users.push_back(made);
    note(" -> completion %p", static_cast<void *>(handle));
}

bool Program::get(const Under_way &operation) {
    note(" (waits for %p)", static_cast<void *>(operation->handle));
    revamp_status status = revamp_completion_get(operation->handle);
    operation->is_done = true;
    if (operation->is_marker) waited(status, "a marker's end");
    return operation->is_marker || good(status, "revamp_completion_get");
}

void Program::release_completion(const Under_way &operation) {
    // Of memory that is in use nobody would know when it is free.
    if (operation->memory && !operation->is_done && operation->owners == 1) get(operation);
    note(" releases %p", static_cast<void *>(operation->handle));
    if (revamp_completion_release(operation->handle) != REVAMP_OK) found("a completion was not released");
    if (--operation->owners) return;
    dead_completions.push_back(operation->handle);
    for (size_t n = 0; n < operations.size(); n++)
        if (operations[n] == operation) {
            // Callbacks come all the same.
            Under_way last = operations[n];
            operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(n));
            if (last->callbacks) finished.push_back(last);
            return;
        }
}

void Program::use_completion() {
    if (operations.empty()) return;
    Under_way operation = operations[random.below(operations.size())];
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
        if (length && !has_fired() && !operation->is_marker) found("a completion tells of a failure: %s", text);
        if (random.one_in(2) && good(revamp_completion_retain(operation->handle), "retain")) operation->owners++;
        break;
    default: {
        note(" then");
        auto *context = new Under_way(operation);
        if (good(revamp_completion_then(operation->handle, on_done, context), "revamp_completion_then"))
            operation->callbacks++;
        else
            delete context;
    }
    }
}

} // namespace fuzz
