// Launches kernels on Vulkan and on host threads; waits for queues, creates and releases them.
#include "program.hpp"

namespace fuzz {

// Chooses an operand for a launch on `queue`: a view, or an array that lives on `queue`.
bool Program::capture(Captured &c, bool writes, int queue) {
    c = Captured();
    SourcePtr s = random.one_in(3) ? some_source() : nullptr;
    if (s && s->array && s->associated < 0 && s->queue == queue) {
        int32_t origin[max_rank] = {}, extent[max_rank] = {};
        random_part(s->whole, origin, extent);
        for (uint32_t d = 0; d < max_rank; d++) {
            c.region.origin[d] = origin[d];
            c.region.extent[d] = extent[d];
        }
        c.of = s;
        c.box = s->whole.section(origin, extent);
        return true;
    }
    c.view = writes ? some_writable() : some_view();
    if (!c.view) return false;
    c.of = c.view->of;
    c.box = c.view->box;
    return true;
}

revamp_argument Program::argument(Captured &c, uint32_t offset, revamp_access access) {
    revamp_argument a = REVAMP_ARGUMENT_INIT;
    a.kind = REVAMP_ARGUMENT_ADDRESS;
    a.offset = offset;
    a.access = access;
    if (c.view) {
        a.view = c.view->handle;
        note(" view %p", static_cast<void *>(c.view->handle));
    } else {
        a.array = c.of->array;
        a.origin = c.region.origin;
        a.extent = c.region.extent;
        note(" array %p", static_cast<void *>(c.of.get()));
    }
    return a;
}

revamp_status Program::send(int queue, bool passes_queue, const KernelBlock &block, const revamp_argument *arguments,
                            size_t count) {
    const Queue &target = queues[static_cast<size_t>(queue)];
    auto extent = static_cast<int32_t>(block.n);
    if (target.accelerator_kind == VULKAN) {
        revamp_dispatch_info info = {};
        info.struct_size = sizeof info;
        info.rank = 1;
        info.extent = &extent;
        info.arguments = arguments;
        info.argument_count = count;
        info.block = &block;
        info.block_size = sizeof block;
        return revamp_dispatch(passes_queue ? target.handle : nullptr, world.box, &info);
    }
    revamp_parallel_for_each_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.function = box_on_threads;
    info.arguments = arguments;
    info.argument_count = count;
    info.block = &block;
    info.block_size = sizeof block;
    return revamp_parallel_for_each(passes_queue ? target.handle : nullptr, &info);
}

Words Program::expected_words(const Captured &to, const KernelBlock &block, const Captured *from) const {
    Words now = words_of(to.of, to.box);
    const Word one = Word::of(1);
    for (uint32_t k = 0; k < block.n; k++) {
        if (block.mode == STEP) now[k] = now[k].step(one);
        if (block.mode == SEQUENCE) now[k] = Word::of(block.value + k);
        if (block.mode == COMBINE) now[k] = now[k].step(from->of->words[from->box.at(k % block.m)]);
    }
    return now;
}

void Program::launch() {
    int queue = some_queue(false);
    Captured to, from;
    if (!capture(to, true, queue)) return;
    bool combines =
        random.one_in(2) && capture(from, false, queue) && (from.of != to.of || !hulls_overlap(from.box, to.box));
    // If the call passes no queue, an array among the operands determines the queue. With only views, the location of
    // the data would determine the queue, so a launch with only views always passes the queue.
    bool passes_queue = !random.one_in(5) || (to.view && (!combines || from.view));
    KernelBlock block = {};
    revamp_access access = 0;
    block.mode = combines ? COMBINE : random.below(2);
    block.value = static_cast<uint32_t>(random.next());
    block.n = static_cast<uint32_t>(to.box.words());
    if (block.mode == SEQUENCE && random.one_in(2)) access = REVAMP_ACCESS_WRITE;
    if (!access && random.one_in(3)) access = REVAMP_ACCESS_READ_WRITE;
    if (access != REVAMP_ACCESS_WRITE && random.one_in(3)) block.n = 1 + random.below(block.n);
    put_box(to.box, block.to_count, block.to_stride);
    note_step(current, "kernel %u of %u words on queue %d%s:", block.mode, block.n, queue,
              passes_queue ? "" : " (not named)");
    revamp_argument arguments[2];
    arguments[0] = argument(to, 0, access);
    if (combines) {
        block.m = static_cast<uint32_t>(from.box.words());
        put_box(from.box, block.from_count, block.from_stride);
        arguments[1] = argument(from, 8, REVAMP_ACCESS_READ);
    }
    Words now = expected_words(to, block, &from);
    // A failed launch has changed nothing.
    if (good(send(queue, passes_queue, block, arguments, combines ? 2 : 1), "a launch")) put(to.of, to.box, now, true);
}

// Launches a kernel that gets a view through a descriptor binding. The view must be contiguous and aligned.
void Program::launch_binding() {
    if (!world.has_vulkan()) return;
    View *v = some_writable();
    int queue = some_queue(false);
    const Queue &target = queues[static_cast<size_t>(queue)];
    if (!v || target.accelerator_kind != VULKAN || !v->box.is_packed() || v->box.offset * 4 % world.binding_alignment)
        return;
    bool fills = random.one_in(2);
    auto value = static_cast<uint32_t>(random.next());
    auto extent = static_cast<int32_t>(v->box.words());
    revamp_argument arguments[] = {revamp_argument_view(0, v->handle),
                                   revamp_argument_push_constant(0, &value, sizeof value)};
    if (fills && random.one_in(2)) arguments[0].access = REVAMP_ACCESS_WRITE;
    note_step(current, "binds %p to %s on queue %d", static_cast<void *>(v->handle), fills ? "fill" : "3x+1", queue);
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 1;
    info.extent = &extent;
    info.arguments = arguments;
    info.argument_count = fills ? 2 : 1;
    Words now = words_of(v->of, v->box);
    for (Word &w : now)
        w = fills ? Word::of(value) : w.step(Word::of(1));
    revamp_status status = revamp_dispatch(target.handle, fills ? world.fill : world.step, &info);
    if (good(status, "a launch by a binding")) put(v->of, v->box, now, true);
}

void Program::wait_for_queue() {
    const Queue &target = queues[static_cast<size_t>(some_queue(true))];
    revamp_completion marker = nullptr;
    note_step(current, "waits for a queue on accelerator kind %d", target.accelerator_kind);
    switch (random.below(3)) {
    case 0:
        check_wait(revamp_accelerator_view_wait(target.handle), "revamp_accelerator_view_wait");
        break;
    case 1:
        good(revamp_accelerator_view_flush(target.handle), "revamp_accelerator_view_flush");
        break;
    default:
        if (good(revamp_accelerator_view_create_marker(target.handle, &marker),
                 "revamp_accelerator_view_create_marker"))
            begin_operation(marker, nullptr, false, true);
    }
}

// Creates or releases an accelerator_view. Arrays may outlive the release of their accelerator_view.
void Program::change_queues() {
    size_t n = random.below(queues.size());
    if (queues.size() > 6 && n >= shared_queues && !queues[n].is_released && !queues[n].is_default) {
        note_step(current, "releases queue %zu", n);
        if (revamp_accelerator_view_release(queues[n].handle) != REVAMP_OK) found("a release of a queue failed");
        queues[n].is_released = true;
        return;
    }
    if (queues.size() >= 12) return;
    Queue new_queue;
    new_queue.accelerator_kind = world.has_vulkan() && random.one_in(2) ? VULKAN : THREADS;
    note_step(current, "makes queue %zu on accelerator kind %d", queues.size(), new_queue.accelerator_kind);
    if (good(revamp_accelerator_create_view(world.accelerators[new_queue.accelerator_kind],
                                            static_cast<revamp_queuing_mode>(random.below(2)), &new_queue.handle),
             "revamp_accelerator_create_view"))
        queues.push_back(new_queue);
}

} // namespace fuzz
