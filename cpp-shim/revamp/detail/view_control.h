// revamp: the host state of array_views, and their slices.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_VIEW_CONTROL_H
#define REVAMP_DETAIL_VIEW_CONTROL_H

#include "capture.h"
#include "exceptions.h"
#include "runtime.h"
#include "shapes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

REVAMP_DETAIL_BEGIN

constexpr std::uint32_t bit_of(revamp_access access) {
    return access == REVAMP_ACCESS_READ ? REVAMP_HOST_MAY_READ : REVAMP_HOST_MAY_WRITE;
}

struct slice_pool;
struct slice_source;

// The host state that all copies of a view share.
struct view_control {
    // The state word of a view that the host has not used yet.
    static constexpr std::uint32_t unused = 0;

    std::atomic<long> owners{1};
    // Points to the view's REVAMP_HOST_MAY_ bits, which the library updates. Set after `data`.
    std::atomic<const std::uint32_t *> state{&unused};
    // The first element on the host; null until it is requested.
    std::atomic<void *> data{nullptr};
    // The view of the C API. A slice gets a handle only on demand, because most slices live for one access.
    std::atomic<revamp_array_view> handle{nullptr};

    static view_control *adopt(revamp_array_view view);
    static void retain(view_control *c) noexcept { c->owners.fetch_add(1, std::memory_order_relaxed); }
    // Not inlined, so that destructors of functors stay small enough to be inlined. If a destructor is not inlined, the
    // views of the functor escape.
    static void release(view_control *c) noexcept;
    // Returns slice `i` of the `count` slices of `of`. A slice begins `step` bytes after the previous slice.
    static view_control *project(view_control *of, int i, int count, std::ptrdiff_t step, revamp_access access);
    // Makes the view valid on the host, stores its address and state word, and returns the address.
    void *fetch(revamp_access access);
    revamp_array_view view() {
        const revamp_array_view made = handle.load(std::memory_order_acquire);
        return __builtin_expect(made != nullptr, 1) ? made : make();
    }

  private:
    friend struct slice_pool;
    friend struct slice_source;
    // A bit of the `owners` of a pool slice. It is set once the source has no owners other than pool slices.
    static constexpr long orphaned = 1L << 30;

    // The view that this is a slice of. Null for a view that has a handle from the beginning.
    slice_source *parent = nullptr;
    // `depth`: the number of indices that select the slice. `number`: the row-major position of the slice among all
    // slices of this depth. `offset`: the distance in bytes from the parent's first element.
    std::uint64_t number = 0;
    std::ptrdiff_t offset = 0;
    int depth = 0;
    bool in_pool = false;

    view_control() = default;
    view_control(const view_control &) = delete;
    ~view_control() { release_handle(); }

    void initialise_slice(std::uint64_t slice, int indices, std::ptrdiff_t at, const std::uint32_t *word,
                          void *first) noexcept;
    void release_handle() noexcept {
        // Releasing the last view of a data source writes changes back. Failures are only logged (rule DST-7).
        if (const revamp_array_view made = handle.load(std::memory_order_relaxed)) {
            (void)revamp_array_view_release(made);
            handle.store(nullptr, std::memory_order_relaxed);
        }
        acquire_order();
    }
    bool release_unless_last() noexcept;
    static void release_last(view_control *c) noexcept;
    static view_control *project_any(view_control *of, int i, int count, std::ptrdiff_t step, revamp_access access);
    revamp_array_view make();
};

#if !REVAMP_DEVICE_PASS
// A pool of slices that one thread makes of one view, the source. Slices are reused, because most live for one access.
// If no slice of the pool is free, the thread allocates a slice outside of it. A slice without owners is free. Only the
// pool's thread takes a free slice, so a load and a store suffice. Releasing a slice needs an atomic read-modify-write
// operation. While the source has an owner that is not a pool slice, pool slices do not count as owners of the source.
// When the last such owner is released, `slice_source::end` adds the pool slices in use to the owners.
struct slice_pool {
    static constexpr unsigned size = 16;

    const void *const thread;
    slice_pool *const next;
    // On separate cache lines: other threads read only the members above.
    alignas(64) view_control slices[size];
    unsigned at = 0;

    slice_pool(slice_source *source, const void *who, slice_pool *others);
};

// A view with a handle, and the state that its slices share.
struct slice_source : view_control {
    // Slices that are selected by up to this many indices have state words in `words`.
    static constexpr int depths = 3;

    // The state words of all slices of each depth, and the view's first element; null until the host uses a slice.
    std::atomic<const std::uint32_t *> words[depths] = {};
    std::atomic<char *> first{nullptr};
    std::atomic<slice_pool *> pools{nullptr};
    // True once pool slices count as owners.
    std::atomic<bool> is_detached{false};

    // Takes ownership of the handle.
    explicit slice_source(revamp_array_view view) { handle.store(view, std::memory_order_relaxed); }
    // Returns a slice with one owner. `has_source_owner`: true if the slice is made from the source itself.
    // The caller then holds an owner of the source that is not a slice.
    view_control *slice(bool has_source_owner) {
        const void *const me = &this_thread;
        slice_pool *pool = pools.load(std::memory_order_acquire);
        while (pool && pool->thread != me)
            pool = pool->next;
        if (__builtin_expect(!pool, 0)) {
            if (!has_source_owner) return allocate_slice();
            pool = add_pool(me);
        }
        for (unsigned tried = 0; tried < slice_pool::size; ++tried) {
            view_control &slice = pool->slices[pool->at++ % slice_pool::size];
            if (slice.owners.load(std::memory_order_acquire) != 0) continue;
            // Without `has_source_owner`, another thread may release the last owner that is not a slice during this
            // call, and so orphan the slices.
            long none = 0;
            if (has_source_owner)
                slice.owners.store(1, std::memory_order_relaxed);
            else if (!slice.owners.compare_exchange_strong(none, 1, std::memory_order_acquire))
                continue;
            return &slice;
        }
        return allocate_slice();
    }
    // Called by the last owner of the source, which is still counted. The first call adds the pool slices in use to
    // the owners, so that these slices keep the source alive. Afterwards, no more pool slices are made.
    void end() noexcept {
        if (pools.load(std::memory_order_acquire) && !is_detached.exchange(true, std::memory_order_relaxed)) {
            detach();
            if (owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        }
        delete this;
    }

  private:
    ~slice_source() {
        for (slice_pool *pool = pools.load(std::memory_order_acquire); pool;) {
            slice_pool *const next = pool->next;
            delete pool;
            pool = next;
        }
    }
    void detach() noexcept {
        for (slice_pool *pool = pools.load(std::memory_order_acquire); pool; pool = pool->next)
            for (view_control &slice : pool->slices) {
                retain(this);
                if (slice.owners.fetch_or(orphaned, std::memory_order_acq_rel) == 0)
                    owners.fetch_sub(1, std::memory_order_acq_rel);
            }
    }
    [[gnu::noinline, gnu::cold]] slice_pool *add_pool(const void *me) {
        slice_pool *others = pools.load(std::memory_order_acquire);
        for (;;) {
            slice_pool *const made = new slice_pool(this, me, others);
            if (pools.compare_exchange_strong(others, made, std::memory_order_acq_rel)) return made;
            delete made;
        }
    }
    // Makes a slice that is in no pool.
    [[gnu::noinline, gnu::cold]] view_control *allocate_slice() {
        view_control *const made = new view_control;
        made->parent = this;
        retain(this);
        return made;
    }
};

inline slice_pool::slice_pool(slice_source *source, const void *who, slice_pool *others) : thread(who), next(others) {
    for (view_control &slice : slices) {
        slice.owners.store(0, std::memory_order_relaxed);
        slice.parent = source;
        slice.in_pool = true;
    }
}

inline view_control *view_control::adopt(revamp_array_view view) {
    try {
        return new slice_source(view);
    } catch (...) {
        (void)revamp_array_view_release(view);
        throw;
    }
}

// Removes an owner and returns false. If only one owner is left, changes nothing and returns true.
inline bool view_control::release_unless_last() noexcept {
    for (long count = owners.load(std::memory_order_acquire); (count & ~orphaned) != 1;)
        if (owners.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return false;
    return true;
}

[[gnu::noinline]] inline void view_control::release(view_control *c) noexcept {
    // Fast path: most views are slices that live for one access. Nobody else can copy a slice that has one owner.
    if (c->in_pool && c->owners.load(std::memory_order_acquire) == 1 && !c->handle.load(std::memory_order_relaxed)) {
        slice_source *const source = c->parent;
        acquire_order();
        if (__builtin_expect(!(c->owners.fetch_sub(1, std::memory_order_acq_rel) & orphaned), 1)) return;
        c = source;
    }
    if (c->release_unless_last()) release_last(c);
}

[[gnu::noinline]] inline void view_control::release_last(view_control *c) noexcept {
    slice_source *const source = c->parent;
    if (c->in_pool) {
        c->release_handle();
        if (c->owners.fetch_sub(1, std::memory_order_acq_rel) & orphaned) release(source);
    } else if (source) {
        delete c;
        release(source);
    } else {
        static_cast<slice_source *>(c)->end();
    }
}

inline void view_control::initialise_slice(std::uint64_t slice, int indices, std::ptrdiff_t at,
                                           const std::uint32_t *word, void *first) noexcept {
    state.store(word, std::memory_order_relaxed);
    data.store(first, std::memory_order_relaxed);
    number = slice;
    offset = at;
    depth = indices;
}

[[gnu::noinline]] inline view_control *view_control::project(view_control *of, int i, int count, std::ptrdiff_t step,
                                                             revamp_access access) {
    // Fast path for a slice of the source: the state word of the source or of the slice already allows the access.
    if (!of->parent && i >= 0 && i < count) {
        slice_source *const source = static_cast<slice_source *>(of);
        const std::uint32_t *word = source->state.load(std::memory_order_acquire);
        void *first = source->data.load(std::memory_order_relaxed);
        if (!(__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit_of(access))) {
            word = source->words[0].load(std::memory_order_acquire);
            if (!word || !(__atomic_load_n(word += i, __ATOMIC_ACQUIRE) & bit_of(access)))
                return project_any(of, i, count, step, access);
            first = source->first.load(std::memory_order_relaxed);
        }
        slice_pool *const pool = source->pools.load(std::memory_order_acquire);
        if (pool && pool->thread == &this_thread) {
            view_control &slice = pool->slices[pool->at++ % slice_pool::size];
            if (slice.owners.load(std::memory_order_acquire) == 0) {
                slice.owners.store(1, std::memory_order_relaxed);
                slice.initialise_slice(static_cast<std::uint64_t>(i), 1, i * step, word,
                                       static_cast<char *>(first) + i * step);
                return &slice;
            }
        }
    }
    return project_any(of, i, count, step, access);
}

[[gnu::noinline]] inline view_control *view_control::project_any(view_control *of, int i, int count,
                                                                 std::ptrdiff_t step, revamp_access access) {
    slice_source *const source = of->parent ? of->parent : static_cast<slice_source *>(of);
    const int depth = of->depth + 1;
    if (__builtin_expect(i < 0 || i >= count || depth > slice_source::depths, 0)) {
        // Makes a slice with a handle of its own, or throws.
        revamp_array_view view = nullptr;
        check(revamp_array_view_project(of->view(), i, &view));
        return adopt(view);
    }
    const std::uint64_t number = of->number * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(i);
    const std::ptrdiff_t offset = of->offset + i * step;
    // Tries the state words of the source, of the new slice, and of the slice `of`. If `of` has a handle, the handle's
    // state word is not used, because it lives no longer than the handle.
    const std::uint32_t *word = source->state.load(std::memory_order_acquire);
    char *first = static_cast<char *>(source->data.load(std::memory_order_relaxed));
    const auto is_set = [&] { return (__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit_of(access)) != 0; };
    bool is_valid = is_set();
    const auto try_word = [&](int indices, std::uint64_t slice) {
        word = source->words[indices - 1].load(std::memory_order_acquire);
        if (!word) return;
        word += slice;
        first = source->first.load(std::memory_order_relaxed);
        is_valid = is_set();
    };
    if (!is_valid) try_word(depth, number);
    if (!is_valid && of->depth > 0) try_word(of->depth, of->number);
    view_control *const slice = source->slice(of == source);
    slice->initialise_slice(number, depth, offset, is_valid ? word : &unused, is_valid ? first + offset : nullptr);
    return slice;
}

[[gnu::noinline, gnu::cold]] inline void *view_control::fetch(revamp_access access) {
    void *first = nullptr;
    const std::uint32_t *word = nullptr;
    if (parent && !handle.load(std::memory_order_acquire)) {
        const revamp_array_view of = parent->view();
        check(revamp_array_view_slice_data(of, static_cast<std::uint32_t>(depth), number, access, &first, &word));
        char *const source_first = static_cast<char *>(first) - offset;
        parent->first.store(source_first, std::memory_order_relaxed);
        parent->words[depth - 1].store(word, std::memory_order_release);
        word += number;
        // The library may have granted access to the whole source.
        const std::uint32_t *whole = nullptr;
        check(revamp_array_view_get_host_access(of, &whole));
        if (__atomic_load_n(whole, __ATOMIC_ACQUIRE) & bit_of(access)) {
            parent->data.store(source_first, std::memory_order_relaxed);
            parent->state.store(whole, std::memory_order_release);
            word = whole;
        }
    } else {
        const revamp_array_view own = view();
        check(revamp_array_view_data(own, access, &first));
        check(revamp_array_view_get_host_access(own, &word));
    }
    data.store(first, std::memory_order_relaxed);
    state.store(word, std::memory_order_release);
    return first;
}

[[gnu::noinline, gnu::cold]] inline revamp_array_view view_control::make() {
    revamp_array_view_info info = {};
    info.struct_size = sizeof info;
    revamp_array_view made = parent->view(), found = nullptr;
    check(revamp_array_view_get_info(made, &info));
    std::int32_t index[slice_source::depths] = {};
    std::uint64_t rest = number;
    for (int d = depth; d-- > 0;) {
        index[d] = static_cast<std::int32_t>(rest % static_cast<std::uint64_t>(info.extent[d]));
        rest /= static_cast<std::uint64_t>(info.extent[d]);
    }
    for (int d = 0; d < depth; ++d) {
        revamp_array_view part = nullptr;
        const revamp_status status = revamp_array_view_project(made, index[d], &part);
        if (d > 0) (void)revamp_array_view_release(made);
        check(status);
        made = part;
    }
    if (handle.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
    (void)revamp_array_view_release(made);
    return found;
}
#endif

// The parameters are values, so that no view escapes through the call.
inline void *host_data(view_control *control, revamp_access access) {
    const std::uint32_t *word = control->state.load(std::memory_order_acquire);
    if (__builtin_expect(__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit_of(access), 1))
        return control->data.load(std::memory_order_relaxed);
    return control->fetch(access);
}

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_VIEW_CONTROL_H
