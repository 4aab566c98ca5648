// Host accesses to views and arrays, and the calls that synchronize, discard and refresh views.
#include "program.hpp"

#include <cstring>

namespace fuzz {

static const revamp_access accesses[] = {REVAMP_ACCESS_READ, REVAMP_ACCESS_WRITE, REVAMP_ACCESS_READ_WRITE};
static const char *const access_names[] = {"", "READ", "WRITE", "READ_WRITE"};

// Writes new numbers to all words of a view, or to a random range. `first`: the address of word 0 of the view's source.
void Program::put_numbers(View &v, uint32_t *first, bool all) {
    uint64_t words = v.box.words(), from = all ? 0 : random.below(words);
    uint64_t count = all ? words : 1 + random.below(words - from);
    auto value = static_cast<uint32_t>(random.next());
    for (uint64_t k = from; k < from + count; k++) {
        uint64_t w = v.box.at(k);
        v.of->words[w] = Word::of(first[w] = value + static_cast<uint32_t>(k));
    }
}

// Requests host access, and repeats the request while transfers fail because of a fault. If the view's data is lost,
// every access fails, except an access for WRITE, which replaces the data.
revamp_status Program::get_access(const View &v, revamp_access access, void **data) {
    enum { MAX_TRIES = 8 };
    for (int tries = 0;; tries++) {
        revamp_status status = revamp_array_view_data(v.handle, access, data);
        if (status == REVAMP_OK || !fault_has_fired()) return status;
        bool is_lost = strstr(revamp_last_error_message(), "lost") != nullptr;
        if (is_lost && access == REVAMP_ACCESS_WRITE)
            found("an access for WRITE reports lost data: %s", revamp_last_error_message());
        if (is_lost) return status;
        if (tries > MAX_TRIES) found("an access fails again and again: %s", revamp_last_error_message());
        note(" [%s; again]", revamp_last_error_message());
    }
}

void Program::access() {
    View *v = some_view();
    if (!v) return;
    revamp_access access = v->read_only ? REVAMP_ACCESS_READ : accesses[random.below(3)];
    void *data = nullptr;
    note_step(current, "host access to %p, %s", static_cast<void *>(v->handle), access_names[access]);
    if (!good(get_access(*v, access, &data), "revamp_array_view_data")) return;
    uint32_t *first = static_cast<uint32_t *>(data) - v->box.offset;
    if (v->of->base && first != v->of->base) found("the address of the source has moved");
    v->of->base = first;
    if (access != REVAMP_ACCESS_WRITE) check_words(v->of, v->box, first, "host access");
    if (access & REVAMP_ACCESS_WRITE) put_numbers(*v, first, access == REVAMP_ACCESS_WRITE);
}

// Reads and writes through the address that an earlier access returned, if the state word of the view allows it.
void Program::use_state() {
    View *v = some_view();
    if (!v || !v->state) return;
    uint32_t state = __atomic_load_n(v->state, __ATOMIC_ACQUIRE);
    if (!state) return;
    note_step(current, "the host uses %p by its state %u", static_cast<void *>(v->handle), state);
    check_words(v->of, v->box, v->of->base, "host access by the state word");
    if (!(state & REVAMP_HOST_MAY_WRITE)) return;
    if (v->read_only) found("the state word of a read-only view permits writing");
    put_numbers(*v, v->of->base, false);
}

void Program::array_data() {
    SourcePtr s = some_source();
    if (!s || !s->array) return;
    revamp_access access = accesses[random.below(3)];
    void *data = nullptr;
    note_step(current, "array %p by its address, %s", static_cast<void *>(s.get()), access_names[access]);
    revamp_status status = revamp_array_data(s->array, access, &data);
    if ((s->cpu_access & access) != access)
        return check_refused(status, bad_call_statuses, "revamp_array_data without cpu access");
    if (!good(status, "revamp_array_data")) return;
    auto *first = static_cast<uint32_t *>(data);
    if (access != REVAMP_ACCESS_WRITE) check_words(s, s->whole, first, "revamp_array_data");
    View all;
    all.of = s;
    all.box = s->whole;
    if (access & REVAMP_ACCESS_WRITE) put_numbers(all, first, access == REVAMP_ACCESS_WRITE);
}

void Program::synchronize() {
    View *v = some_view();
    if (!v) return;
    revamp_access access = v->read_only ? REVAMP_ACCESS_READ : accesses[random.below(3)];
    const Queue &to = queues[static_cast<size_t>(some_queue(true))];
    revamp_completion done = nullptr;
    revamp_status status;
    note_step(current, "synchronizes %p, %s", static_cast<void *>(v->handle), access_names[access]);
    // Synchronizing for WRITE makes the old contents undefined, even if the call fails.
    if (access == REVAMP_ACCESS_WRITE) forget(v->of, v->box);
    uint32_t variant = random.below(4);
    if (variant == 0) status = revamp_array_view_synchronize(v->handle, access);
    if (variant == 1) status = revamp_array_view_synchronize_async(v->handle, access, nullptr, &done);
    if (variant == 2) status = revamp_array_view_synchronize_to(v->handle, to.handle, access);
    if (variant == 3) status = revamp_array_view_synchronize_to_async(v->handle, to.handle, access, nullptr, &done);
    note(" (variant %u, queue on accelerator kind %d)", variant, to.accelerator_kind);
    if (!good(status, "synchronize")) return;
    if (done) return begin_operation(done, nullptr, false);
    if (variant == 0 && v->of->home == OVER_HOST && access != REVAMP_ACCESS_WRITE)
        check_words(v->of, v->box, v->of->memory, "home after synchronize");
}

void Program::discard() {
    View *v = some_writable();
    if (!v) return;
    note_step(current, "discards %p", static_cast<void *>(v->handle));
    good(revamp_array_view_discard_data(v->handle), "revamp_array_view_discard_data");
    forget(v->of, v->box);
}

// Refreshes a view. May first change the view's host memory directly, which the library does not notice.
void Program::refresh() {
    View *v = some_view();
    if (!v) return;
    bool changes = v->of->home == OVER_HOST && !v->read_only && !random.one_in(3);
    note_step(current, "refreshes %p", static_cast<void *>(v->handle));
    revamp_access access = changes ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ;
    bool is_synchronized = good(revamp_array_view_synchronize(v->handle, access), "revamp_array_view_synchronize");
    if (is_synchronized && changes) {
        check_words(v->of, v->box, v->of->memory, "home after synchronize");
        put_numbers(*v, v->of->memory, false);
        note(" after a change");
    }
    if (!good(revamp_array_view_refresh(v->handle), "revamp_array_view_refresh") || !is_synchronized)
        forget(v->of, v->box);
}

} // namespace fuzz
