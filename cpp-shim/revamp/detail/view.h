// revamp: array_view (docs/spec/array-views.md).
//
// One layout for host and kernels: the address of the first element, the shape, then the host's handle. A kernel gets a
// copy whose address is that of the memory where it runs and whose handle is null: no coherence, no reference count.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_VIEW_H
#define REVAMP_DETAIL_VIEW_H

#include "config.h"
#include "device_abi.h"
#include "element.h"
#include "exceptions.h"
#include "property.h"
#include "runtime.h"
#include "shapes.h"

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

REVAMP_NAMESPACE_BEGIN

template <class T, int N = 1> class array;
template <class T, int N = 1> class array_view;

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

using Concurrency::array;
using Concurrency::array_view;

// The state of the thread: how deep it is in kernels, and the launch that is being prepared. One for the whole
// program, also under -fvisibility=hidden.
struct capture_scope;
struct thread_state {
    unsigned kernels = 0;
    capture_scope *scope = nullptr;
};
#if REVAMP_DEVICE_PASS
extern thread_state this_thread; // for what is parsed only
#else
REVAMP_VISIBLE inline thread_local thread_state this_thread;
#endif

constexpr std::uint32_t bit_of(revamp_access access) {
    return access == REVAMP_ACCESS_READ ? REVAMP_HOST_MAY_READ : REVAMP_HOST_MAY_WRITE;
}

struct slice_pool;
struct slice_source;

// What all copies of a view share on the host.
struct view_control {
    // For a view that was not yet used on the host.
    static constexpr std::uint32_t unused = 0;

    std::atomic<long> owners{1};
    // REVAMP_HOST_MAY_ bits, kept by the library. Set after `data`.
    std::atomic<const std::uint32_t *> state{&unused};
    // The first element on the host, once it was asked for.
    std::atomic<void *> data{nullptr};
    // Null until it is needed in a slice: most slices live for one access.
    std::atomic<revamp_array_view> handle{nullptr};

    static view_control *adopt(revamp_array_view view);
    static void retain(view_control *c) noexcept { c->owners.fetch_add(1, std::memory_order_relaxed); }
    // Not inlined: destructors of functors must stay small enough to be, or their views escape.
    static void release(view_control *c) noexcept;
    // Slice `i` of `count`, each of `step` bytes.
    static view_control *project(view_control *of, int i, int count, std::ptrdiff_t step, revamp_access access);
    // Makes it valid on the host, and remembers where it is.
    void *fetch(revamp_access access);
    revamp_array_view view() {
        const revamp_array_view made = handle.load(std::memory_order_acquire);
        return __builtin_expect(made != nullptr, 1) ? made : make();
    }

  private:
    friend struct slice_pool;
    friend struct slice_source;
    // Owners of a slice in a pool when its source has no other owners.
    static constexpr long orphaned = 1L << 30;

    // The view that it is a slice of. Null for a view that has a handle from the beginning.
    slice_source *parent = nullptr;
    // Its number among the slices that `depth` indices name, and where it begins, in bytes from the parent's first
    // element.
    std::uint64_t number = 0;
    std::ptrdiff_t offset = 0;
    int depth = 0;
    bool in_pool = false;

    view_control() = default;
    view_control(const view_control &) = delete;
    ~view_control() { let_go(); }

    void become(std::uint64_t slice, int indices, std::ptrdiff_t at, const std::uint32_t *word, void *first) noexcept;
    void let_go() noexcept {
        // The last view of a data source writes back; what fails there is lost (rule DST-7) but logged.
        if (const revamp_array_view made = handle.load(std::memory_order_relaxed)) {
            (void)revamp_array_view_release(made);
            handle.store(nullptr, std::memory_order_relaxed);
        }
        acquire_order();
    }
    bool is_last() noexcept;
    static void release_last(view_control *c) noexcept;
    static view_control *project_any(view_control *of, int i, int count, std::ptrdiff_t step, revamp_access access);
    revamp_array_view make();
};

#if !REVAMP_DEVICE_PASS
// The slices that one thread makes of one view: most live for one access, so they are used again. Elsewhere a slice is
// a control as any other. It is free if it has no owners. Only the pool's thread takes a free slice, by a load and a
// store; the one atomic operation is where an owner leaves. Slices in pools are not counted as owners of the source
// while it has others; the last of these begins to count them (`end`).
struct slice_pool {
    static constexpr unsigned size = 16;

    const void *const thread;
    slice_pool *const next;
    // Where other threads do not look.
    alignas(64) view_control slices[size];
    unsigned at = 0;

    slice_pool(slice_source *source, const void *who, slice_pool *others);
};

// A view with a handle, and what its slices need.
struct slice_source : view_control {
    // Slices named by up to this many indices have state words here.
    static constexpr int depths = 3;

    // Once a slice was used on the host: the words of all slices of each depth, and the view's first element.
    std::atomic<const std::uint32_t *> words[depths] = {};
    std::atomic<char *> first{nullptr};
    std::atomic<slice_pool *> pools{nullptr};
    // True once slices in pools are counted.
    std::atomic<bool> is_detached{false};

    // Takes over the handle.
    explicit slice_source(revamp_array_view view) { handle.store(view, std::memory_order_relaxed); }
    // A slice with one owner. `is_kept`: it is made of the source itself, which therefore keeps an owner that is no
    // slice.
    view_control *slice(bool is_kept) {
        const void *const me = &this_thread;
        slice_pool *pool = pools.load(std::memory_order_acquire);
        while (pool && pool->thread != me)
            pool = pool->next;
        if (__builtin_expect(!pool, 0)) {
            if (!is_kept) return apart();
            pool = add_pool(me);
        }
        for (unsigned tried = 0; tried < slice_pool::size; ++tried) {
            view_control &slice = pool->slices[pool->at++ % slice_pool::size];
            if (slice.owners.load(std::memory_order_acquire) != 0) continue;
            // Else the source may lose its last other owner meanwhile, which orphans the slices.
            long none = 0;
            if (is_kept)
                slice.owners.store(1, std::memory_order_relaxed);
            else if (!slice.owners.compare_exchange_strong(none, 1, std::memory_order_acquire))
                continue;
            return &slice;
        }
        return apart();
    }
    // Called by the last owner, which is still counted. The first time it counts the slices in pools that are used,
    // which keep the source alive from then on; nobody makes further ones in pools.
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
    // A slice that is in no pool.
    [[gnu::noinline, gnu::cold]] view_control *apart() {
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

// An owner less; true if it was the last, which is still counted then.
inline bool view_control::is_last() noexcept {
    for (long count = owners.load(std::memory_order_acquire); (count & ~orphaned) != 1;)
        if (owners.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return false;
    return true;
}

[[gnu::noinline]] inline void view_control::release(view_control *c) noexcept {
    // Most owners are slices of one access. Nobody can share what only the caller has.
    if (c->in_pool && c->owners.load(std::memory_order_acquire) == 1 && !c->handle.load(std::memory_order_relaxed)) {
        slice_source *const source = c->parent;
        acquire_order();
        if (__builtin_expect(!(c->owners.fetch_sub(1, std::memory_order_acq_rel) & orphaned), 1)) return;
        c = source;
    }
    if (c->is_last()) release_last(c);
}

[[gnu::noinline]] inline void view_control::release_last(view_control *c) noexcept {
    slice_source *const source = c->parent;
    if (c->in_pool) {
        c->let_go();
        if (c->owners.fetch_sub(1, std::memory_order_acq_rel) & orphaned) release(source);
    } else if (source) {
        delete c;
        release(source);
    } else {
        static_cast<slice_source *>(c)->end();
    }
}

inline void view_control::become(std::uint64_t slice, int indices, std::ptrdiff_t at, const std::uint32_t *word,
                                 void *first) noexcept {
    state.store(word, std::memory_order_relaxed);
    data.store(first, std::memory_order_relaxed);
    number = slice;
    offset = at;
    depth = indices;
}

[[gnu::noinline]] inline view_control *view_control::project(view_control *of, int i, int count, std::ptrdiff_t step,
                                                             revamp_access access) {
    // A row of a view that the host may use: what the host may do with the view, or with this row of it, it may do with
    // the slice.
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
                slice.become(static_cast<std::uint64_t>(i), 1, i * step, word, static_cast<char *>(first) + i * step);
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
        // A slice with a handle of its own, or the error.
        revamp_array_view view = nullptr;
        check(revamp_array_view_project(of->view(), i, &view));
        return adopt(view);
    }
    const std::uint64_t number = of->number * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(i);
    const std::ptrdiff_t offset = of->offset + i * step;
    // The words of the source, of this slice, and of the slice that it is made of. That one's own handle may have
    // another, which lives no longer than the handle.
    const std::uint32_t *word = source->state.load(std::memory_order_acquire);
    char *first = static_cast<char *>(source->data.load(std::memory_order_relaxed));
    const auto is_set = [&] { return (__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit_of(access)) != 0; };
    bool is_valid = is_set();
    const auto look = [&](int indices, std::uint64_t slice) {
        word = source->words[indices - 1].load(std::memory_order_acquire);
        if (!word) return;
        word += slice;
        first = source->first.load(std::memory_order_relaxed);
        is_valid = is_set();
    };
    if (!is_valid) look(depth, number);
    if (!is_valid && of->depth > 0) look(of->depth, of->number);
    view_control *const slice = source->slice(of == source);
    slice->become(number, depth, offset, is_valid ? word : &unused, is_valid ? first + offset : nullptr);
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
        // The library may have found that the host may use all of the source.
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

// A view that was found in a kernel's functor.
struct captured_view {
    void *view;    // the view, whose first member is the address of its elements
    void *control; // where the pointer to what the host knows of it is
    revamp_access access;
    bool large; // beyond what element_offset counts in kernels
    // What it is as an argument, if it is a view of a texture.
    revamp_argument (*texture)(const void *view);
};

// A list that keeps its first elements in itself, so that most launches allocate nothing.
template <class T, std::size_t N> class short_list {
  public:
    short_list() {}
    ~short_list() {
        if (m_first != m_own) delete[] m_first;
    }
    short_list(const short_list &) = delete;
    void push_back(const T &value) {
        if (m_size == m_room) grow();
        m_first[m_size++] = value;
    }
    const T *data() const { return m_first; }
    std::size_t size() const { return m_size; }
    const T *begin() const { return m_first; }
    const T *end() const { return m_first + m_size; }

  private:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);
    std::size_t m_size = 0, m_room = N;
    T *m_first = m_own;
    T m_own[N]; // uninitialised

    [[gnu::noinline, gnu::cold]] void grow() {
        T *const larger = new T[2 * m_room];
        for (std::size_t i = 0; i < m_size; ++i)
            larger[i] = m_first[i];
        if (m_first != m_own) delete[] m_first;
        m_first = larger;
        m_room *= 2;
    }
};

// The views that are made while a functor is copied for a launch.
struct capture_scope {
    short_list<captured_view, 8> views;
    short_list<const void *, 8> arrays;
    capture_scope *outer;
};

#if REVAMP_DEVICE_PASS
REVAMP_HD constexpr bool in_kernel() noexcept {
    return true;
}
#else
// Const, since it changes only where a kernel begins and ends: so the compiler asks once in a function, and not at all
// below a kernel_guard, whatever it cannot see of memory.
[[gnu::noinline, gnu::const]] REVAMP_HD inline bool in_kernel() noexcept {
    return this_thread.kernels != 0;
}
#endif

// Marks the code of a kernel: views in it have no handles, and the compiler knows. Only at the beginning of the
// functions that the library calls.
struct kernel_guard {
    kernel_guard() noexcept {
#if !REVAMP_DEVICE_PASS
        acquire_order();
        ++this_thread.kernels;
        if (!in_kernel()) __builtin_unreachable();
#endif
    }
    ~kernel_guard() {
#if !REVAMP_DEVICE_PASS
        --this_thread.kernels;
        release_order();
#endif
    }
    kernel_guard(const kernel_guard &) = delete;
};

// A view never escapes through it: it takes values.
inline void *host_data(view_control *control, revamp_access access) {
    const std::uint32_t *word = control->state.load(std::memory_order_acquire);
    if (__builtin_expect(__atomic_load_n(word, __ATOMIC_ACQUIRE) & bit_of(access), 1))
        return control->data.load(std::memory_order_relaxed);
    return control->fetch(access);
}

#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST
#define REVAMP_FOR_HOST (__revamp_for_host())
#else
#define REVAMP_FOR_HOST true
#endif

// Counts elements from the first. In kernels 32 bits, which devices multiply much faster: the 5-point stencil gains a
// twelfth by it on an H200. A launch refuses larger views, unless the program defines REVAMP_LARGE_VIEWS.
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST && !defined(REVAMP_LARGE_VIEWS)
typedef int element_offset;
// And native kernels, made of the device's code, in 64: 32 hide from LLVM that elements lie side by side.
#define REVAMP_COUNTS_TWICE 1
#else
typedef std::ptrdiff_t element_offset;
#define REVAMP_COUNTS_TWICE 0
#endif
#if defined(REVAMP_LARGE_VIEWS)
constexpr bool large_views = true;
#else
constexpr bool large_views = false;
#endif

// The shape and address of a view, as they lie in a kernel's arguments.
template <int N> struct strides {
    std::ptrdiff_t step[N > 1 ? N - 1 : 1];

    // Row-major without gaps.
    REVAMP_HD static constexpr strides packed(const Concurrency::extent<N> &extent) {
        strides result{};
        std::ptrdiff_t step = 1;
        for (int d = N - 1; d > 0; --d) {
            step *= extent[static_cast<unsigned>(d)];
            result.step[d - 1] = step;
        }
        return result;
    }
    // The offset of the element.
    REVAMP_HD constexpr std::ptrdiff_t operator()(const Concurrency::index<N> &i) const {
#if REVAMP_COUNTS_TWICE
        if (REVAMP_FOR_HOST) return offset<std::ptrdiff_t>(i);
#endif
        return offset<element_offset>(i);
    }
    REVAMP_HD constexpr std::ptrdiff_t operator()(int i0, int i1) const {
#if REVAMP_COUNTS_TWICE
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(0, i0) + i1;
#endif
        return part<element_offset>(0, i0) + i1;
    }
    REVAMP_HD constexpr std::ptrdiff_t operator()(int i0, int i1, int i2) const {
#if REVAMP_COUNTS_TWICE
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(0, i0) + part<std::ptrdiff_t>(N == 3 ? 1 : 0, i1) + i2;
#endif
        return part<element_offset>(0, i0) + part<element_offset>(N == 3 ? 1 : 0, i1) + i2;
    }
    // Where the slice `i` of dimension d begins; d is not the last.
    REVAMP_HD constexpr std::ptrdiff_t slice(int d, int i) const {
#if REVAMP_COUNTS_TWICE
        if (REVAMP_FOR_HOST) return part<std::ptrdiff_t>(d, i);
#endif
        return part<element_offset>(d, i);
    }
    // True if offsets need more than 32 bits.
    constexpr bool large(const Concurrency::extent<N> &extent) const {
        std::ptrdiff_t last = extent[static_cast<unsigned>(N - 1)] - std::ptrdiff_t{1};
        for (int d = 0; d < N - 1; ++d)
            last += (extent[static_cast<unsigned>(d)] - std::ptrdiff_t{1}) * step[d];
        return last > INT_MAX;
    }

  private:
    template <class Count> REVAMP_HD constexpr Count part(int d, int i) const {
        return static_cast<Count>(i) * static_cast<Count>(step[d]);
    }
    template <class Count> REVAMP_HD constexpr Count offset(const Concurrency::index<N> &i) const {
        Count at = i[static_cast<unsigned>(N - 1)];
        for (int d = 0; d < N - 1; ++d)
            at += part<Count>(d, i[static_cast<unsigned>(d)]);
        return at;
    }
};

#if REVAMP_DEVICE_ON_HOST && defined(REVAMP_CHECK_BOUNDS)
[[noreturn, gnu::noinline, gnu::cold]] REVAMP_DEVICE inline void outside_of(int rank, const int *index,
                                                                            const int *extent) {
    char text[2][256];
    for (int list = 0; list < 2; ++list) {
        std::size_t length = 0;
        for (int d = 0; d < rank && length < sizeof text[list]; ++d)
            length += static_cast<std::size_t>(on_host::format_into(text[list] + length, sizeof text[list] - length,
                                                                    d ? ", %d" : "%d", (list ? extent : index)[d]));
    }
    on_host::fail_with(false, {"an element outside of an array_view or array: index (%s), extent (%s)", nullptr},
                       static_cast<const char *>(text[0]), static_cast<const char *>(text[1]));
}
#elif !REVAMP_DEVICE_PASS && defined(REVAMP_CHECK_BOUNDS)
// On the host it is thrown; from a kernel it makes the launch fail.
[[noreturn, gnu::noinline, gnu::cold]] inline void outside_of(int rank, const int *index, const int *extent) {
    const auto list = [=](const int *values) {
        std::string text;
        for (int d = 0; d < rank; ++d)
            text.append(d ? ", " : "").append(std::to_string(values[d]));
        return text;
    };
    throw Concurrency::runtime_exception(
        ("an element outside of an array_view or array: index (" + list(index) + "), extent (" + list(extent) + ")")
            .c_str(),
        failed);
}
#endif
// The element at `i`. Where it is outside of `extent` the compiler of kernels reports that, if it is asked to, and host
// threads and the host with REVAMP_CHECK_BOUNDS do.
template <class T, int N>
REVAMP_HD constexpr T &element_at([[maybe_unused]] const Concurrency::index<N> &i,
                                  [[maybe_unused]] const Concurrency::extent<N> &extent, T *element) {
#if REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST && defined(REVAMP_AMP_REPORTS)
    if constexpr (N <= 3)
        return *static_cast<T *>(__revamp_element(const_cast<std::remove_cv_t<T> *>(element), sizeof(T), N, i[0],
                                                  N > 1 ? i[unsigned(N > 1)] : 0, N > 2 ? i[unsigned(2 * (N > 2))] : 0,
                                                  extent[0], N > 1 ? extent[unsigned(N > 1)] : 1,
                                                  N > 2 ? extent[unsigned(2 * (N > 2))] : 1));
#elif (!REVAMP_DEVICE_PASS || REVAMP_DEVICE_ON_HOST) && defined(REVAMP_CHECK_BOUNDS)
    int index[N] = {}, size[N] = {};
    bool inside = true;
    for (unsigned d = 0; d < unsigned(N); ++d) {
        index[d] = i[d];
        size[d] = extent[d];
        inside = inside && unsigned(index[d]) < unsigned(size[d]);
    }
    if (__builtin_expect(!inside, 0)) outside_of(N, index, size);
#endif
    return *element;
}

#if !REVAMP_DEVICE_PASS
// A view in a kernel's functor has no handle. One that has is a variable of the host, captured by reference: nothing
// made its elements valid for the kernel. Takes values, so that a view never escapes through it.
template <class T, int N>
[[noreturn, gnu::noinline, gnu::cold]] void captured_by_reference(Concurrency::extent<N> extent) {
    std::string text = "a kernel uses an array_view that it captured by reference; its type and extent: ";
    // "... [with T = int; int N = 1]"
    const std::string own = __PRETTY_FUNCTION__;
    text += own.substr(own.rfind('[') == std::string::npos ? 0 : own.rfind('['));
    for (int d = 0; d < N; ++d)
        text.append(d ? ", " : " (").append(std::to_string(extent[static_cast<unsigned>(d)]));
    text += "). Capture array_views by value ([=], or by name); of a member, capture a copy (`[view = member]`)";
    throw Concurrency::runtime_exception(text.c_str(), failed);
}
#endif

// Makes handles.
struct views {
    template <int N> static const int *values(const Concurrency::extent<N> &extent, int (&room)[N]) {
        for (int d = 0; d < N; ++d)
            room[d] = extent[static_cast<unsigned>(d)];
        return room;
    }
    template <int N> static const int *values(const Concurrency::index<N> &index, int (&room)[N]) {
        for (int d = 0; d < N; ++d)
            room[d] = index[static_cast<unsigned>(d)];
        return room;
    }

    template <int N>
    static view_control *over_host(const void *data, const Concurrency::extent<N> &extent, std::size_t element) {
        int room[N];
        revamp_array_view view = nullptr;
        // A view of const elements is never written through.
        check(
            revamp_array_view_create_host(const_cast<void *>(data), N, values(extent, room), element, nullptr, &view));
        return view_control::adopt(view);
    }
    template <int N> static view_control *open(const Concurrency::extent<N> &extent, std::size_t element) {
        int room[N];
        revamp_array_view view = nullptr;
        check(revamp_array_view_create(N, values(extent, room), element, nullptr, &view));
        return view_control::adopt(view);
    }
    static view_control *over_array(revamp_array array) {
        revamp_array_view view = nullptr;
        check(revamp_array_view_create_array(array, nullptr, &view));
        return view_control::adopt(view);
    }
    template <int N>
    static view_control *section(view_control *of, const Concurrency::index<N> &origin,
                                 const Concurrency::extent<N> &extent) {
        int from[N], size[N];
        revamp_array_view view = nullptr;
        check(revamp_array_view_section(of->view(), values(origin, from), values(extent, size), &view));
        return view_control::adopt(view);
    }
    template <int N> static view_control *view_as(view_control *of, const Concurrency::extent<N> &extent) {
        int room[N];
        revamp_array_view view = nullptr;
        check(revamp_array_view_view_as(of->view(), N, values(extent, room), &view));
        return view_control::adopt(view);
    }
    static view_control *reinterpret_as(view_control *of, std::size_t element) {
        revamp_array_view view = nullptr;
        check(revamp_array_view_reinterpret_as(of->view(), element, &view));
        return view_control::adopt(view);
    }
    static Concurrency::extent<1> extent_of(view_control *of) {
        revamp_array_view_info info = {};
        info.struct_size = sizeof info;
        check(revamp_array_view_get_info(of->view(), &info));
        return Concurrency::extent<1>(info.extent[0]);
    }
    static Concurrency::accelerator_view source(view_control *of) {
        revamp_array_view_info info = {};
        info.struct_size = sizeof info;
        check(revamp_array_view_get_info(of->view(), &info));
        if (!info.source_view)
            throw Concurrency::runtime_exception(
                "the array_view has no data source, so it has no source accelerator_view", failed);
        return access::share(info.source_view);
    }
};

// The property array_view::source_accelerator_view, and its own property `accelerator`: found when they are read, by
// source_of() of what the host knows of the view.
inline Concurrency::accelerator_view source_of(view_control *control) {
    return views::source(control);
}
template <class Control> struct source_accelerator_property {
    typedef Control *storage;
    static Concurrency::accelerator get(Control *control) { return source_of(control).accelerator; }
    template <class Self> struct members {
        std::wstring get_description() const { return self().description; }
        std::wstring get_device_path() const { return self().device_path; }
        Concurrency::accelerator_view get_default_view() const { return self().get_default_view(); }

      private:
        Concurrency::accelerator self() const { return static_cast<const Self *>(this)->get(); }
    };
};
template <class Control> class source_view_property {
    Concurrency::accelerator_view get() const { return source_of(m_control); }

  public:
    union {
        Control *m_control;
        property<source_accelerator_property<Control>, Concurrency::accelerator> accelerator;
    };

    operator Concurrency::accelerator_view() const { return get(); }
    Concurrency::accelerator get_accelerator() const { return get().accelerator; }
    Concurrency::queuing_mode get_queuing_mode() const { return get().queuing_mode; }
    unsigned get_version() const { return get().version; }
    bool get_is_debug() const { return get().is_debug; }
    bool get_is_auto_selection() const { return get().is_auto_selection; }
    void wait() const { get().wait(); }
    void flush() const { get().flush(); }
    Concurrency::completion_future create_marker() const { return get().create_marker(); }

    friend bool operator==(const source_view_property &left, const source_view_property &right) {
        return left.get() == right.get();
    }
    friend bool operator!=(const source_view_property &left, const source_view_property &right) {
        return !(left == right);
    }
};

[[noreturn, gnu::cold]] inline void container_too_small(std::size_t size, unsigned needed) {
    throw Concurrency::runtime_exception(("the container has " + std::to_string(size) +
                                          " elements, but the extent of the array_view needs " + std::to_string(needed))
                                             .c_str(),
                                         failed);
}

REVAMP_DETAIL_END
REVAMP_DETAIL_BEGIN

// array_view<T, N> for T const and not: V is the class itself.
template <class T, int N> class basic_view {
    static_assert(N > 0, "the rank of an array_view must be at least 1");
    static_assert(element<T>::kept, "");
    typedef Concurrency::index<N> index_type;
    typedef Concurrency::extent<N> extent_type;
    static constexpr bool read_only = std::is_const_v<T>;
    static constexpr revamp_access used = read_only ? REVAMP_ACCESS_READ : REVAMP_ACCESS_READ_WRITE;

  protected:
    // In a kernel the first element; not used on the host.
    T *m_data;

  public:
    static constexpr int rank = N;
    typedef T value_type;

    // The property `extent`; get_extent() gives the same.
    const Concurrency::extent<N> extent;

  protected:
    strides<N> m_strides;

  public:
    union {
        // The handle; null in kernels. Not for programs.
        view_control *m_control;
        // The property; get_source_accelerator_view() is the same.
        source_view_property<view_control> source_accelerator_view;
    };

  protected:
    struct plain {};
    // A view of memory as it is, in a kernel.
    REVAMP_HD basic_view(plain, T *data, const extent_type &shape, const strides<N> &steps) noexcept
        : m_data(data), extent(shape), m_strides(steps), m_control(nullptr) {}
    // A view of the host's. Takes over `control`.
    basic_view(view_control *control, const extent_type &shape) noexcept
        : m_data(nullptr), extent(shape), m_strides(strides<N>::packed(shape)), m_control(control) {
        announce();
    }
    basic_view(view_control *control, const extent_type &shape, const strides<N> &steps) noexcept
        : m_data(nullptr), extent(shape), m_strides(steps), m_control(control) {
        announce();
    }

    // Tells the launch that is being prepared, if one is.
    void announce() noexcept {
#if !REVAMP_DEVICE_PASS
        if (__builtin_expect(this_thread.scope != nullptr, 0)) note();
#endif
    }
    [[gnu::noinline, gnu::cold]] void note() noexcept {
#if !REVAMP_DEVICE_PASS
        this_thread.scope->views.push_back(
            {static_cast<void *>(this), &m_control, used, m_strides.large(extent), nullptr});
#endif
    }

    // The copy in a kernel has no handle: said so that the compiler sees it.
    template <class U> REVAMP_HD void take(const basic_view<U, N> &other) noexcept {
#if REVAMP_DEVICE_PASS
        (void)other;
        m_control = nullptr;
#else
        if (in_kernel()) {
            if (__builtin_expect(other.m_control != nullptr, 0)) captured_by_reference<T, N>(other.extent);
            m_control = nullptr;
            return;
        }
        m_control = other.m_control;
        if (m_control) {
            view_control::retain(m_control);
            announce();
        }
#endif
    }
    REVAMP_HD void drop() noexcept {
#if !REVAMP_DEVICE_PASS
        if (m_control) view_control::release(m_control);
#endif
    }
    REVAMP_HD void assign(const basic_view &other) noexcept {
        if (this == &other) return;
        m_data = other.m_data;
        m_strides = other.m_strides;
#if REVAMP_DEVICE_PASS
        const_cast<extent_type &>(extent) = other.extent;
#else
        view_control *old = m_control;
        new (const_cast<extent_type *>(&extent)) extent_type(other.extent);
        take(other);
        if (old) view_control::release(old);
#endif
    }

    // The first element, where the code runs. Where that is, and not the handle, is asked here and below: the compiler
    // knows it in a kernel even if it lost sight of the handle, and asks once before a loop on the host.
    REVAMP_HD T *first() const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return static_cast<T *>(host_data(m_control, used));
#endif
        return first_in_kernel();
    }
    // The compiler sees that copies in kernels have no handle, and leaves the question out.
    REVAMP_HD T *first_in_kernel() const {
#if !REVAMP_DEVICE_PASS
        if (__builtin_expect(m_control != nullptr, 0)) captured_by_reference<T, N>(extent);
#endif
        return m_data;
    }

    template <class U, int M> friend class basic_view;
    template <class U, int M> friend class Concurrency::array_view;
    template <class U, int M> friend class Concurrency::array;
    friend struct view_access;

  public:
    REVAMP_HD basic_view(const basic_view &other) noexcept
        : m_data(other.m_data), extent(other.extent), m_strides(other.m_strides) {
        take(other);
    }
    template <class U>
    REVAMP_HD basic_view(const basic_view<U, N> &other) noexcept
        : m_data(other.m_data), extent(other.extent), m_strides(other.m_strides) {
        take(other);
    }
    basic_view &operator=(const basic_view &) = delete;
    REVAMP_HD ~basic_view() {
        drop();
    }

    REVAMP_HD Concurrency::extent<N> get_extent() const {
        return extent;
    }

    REVAMP_HD T &operator[](const index_type &i) const {
        return element_at(i, extent, first() + m_strides(i));
    }
    REVAMP_HD T &operator()(const index_type &i) const {
        return (*this)[i];
    }
    // Without making it valid on the host: the caller has synchronized.
    REVAMP_HD T &get_ref(const index_type &i) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            void *data = m_control->data.load(std::memory_order_relaxed);
            return static_cast<T *>(data ? data : host_data(m_control, used))[m_strides(i)];
        }
#endif
        return element_at(i, extent, first_in_kernel() + m_strides(i));
    }

    REVAMP_HD auto operator[](int i) const -> std::conditional_t<N == 1, T &, array_view<T, (N > 1 ? N - 1 : 1)>> {
        if constexpr (N == 1)
            return element_at(index_type(i), extent, first() + i);
        else
            return project(i);
    }
    REVAMP_HD auto operator()(int i) const -> std::conditional_t<N == 1, T &, array_view<T, (N > 1 ? N - 1 : 1)>> {
        return (*this)[i];
    }
    REVAMP_HD T &operator()(int i0, int i1) const {
        static_assert(N == 2, "two numbers name an element of an array_view of rank 2");
        return element_at(index_type(i0, i1), extent, first() + m_strides(i0, i1));
    }
    REVAMP_HD T &operator()(int i0, int i1, int i2) const {
        static_assert(N == 3, "three numbers name an element of an array_view of rank 3");
        return element_at(index_type(i0, i1, i2), extent, first() + m_strides(i0, i1, i2));
    }

    REVAMP_HD T *data() const {
        static_assert(N == 1, "data() is for an array_view of rank 1: only there the elements have no gaps");
        return first();
    }

    REVAMP_HD array_view<T, N> section(const index_type &origin, const extent_type &size) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return array_view<T, N>(views::section(m_control, origin, size), size, m_strides);
#endif
        return array_view<T, N>(plain(), first_in_kernel() + m_strides(origin), size, m_strides);
    }
    REVAMP_HD array_view<T, N> section(const index_type &origin) const {
        return section(origin, extent - origin);
    }
    REVAMP_HD array_view<T, N> section(const extent_type &size) const {
        return section(index_type(), size);
    }
    REVAMP_HD array_view<T, N> section(int i0, int e0) const {
        static_assert(N == 1, "section(i0, e0) is for an array_view of rank 1");
        return section(index_type(i0), extent_type(e0));
    }
    REVAMP_HD array_view<T, N> section(int i0, int i1, int e0, int e1) const {
        static_assert(N == 2, "section(i0, i1, e0, e1) is for an array_view of rank 2");
        return section(index_type(i0, i1), extent_type(e0, e1));
    }
    REVAMP_HD array_view<T, N> section(int i0, int i1, int i2, int e0, int e1, int e2) const {
        static_assert(N == 3, "section(i0, i1, i2, e0, e1, e2) is for an array_view of rank 3");
        return section(index_type(i0, i1, i2), extent_type(e0, e1, e2));
    }

    template <class U> REVAMP_HD auto reinterpret_as() const {
        static_assert(N == 1, "reinterpret_as is for an array_view of rank 1: only there the elements have no gaps");
        typedef std::conditional_t<read_only, const U, U> V;
        static_assert(element<V>::kept, "");
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            view_control *made = views::reinterpret_as(m_control, sizeof(U));
            return array_view<V, 1>(made, Concurrency::extent<1>(bytes_as(sizeof(U))));
        }
#endif
        const Concurrency::extent<1> size(bytes_as(sizeof(U)));
        return array_view<V, 1>(typename basic_view<V, 1>::plain(), reinterpret_cast<V *>(first_in_kernel()), size,
                                strides<1>{});
    }
    template <int K> REVAMP_HD array_view<T, K> view_as(const Concurrency::extent<K> &shape) const {
        static_assert(N == 1, "view_as is for an array_view of rank 1: only there the elements have no gaps");
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return array_view<T, K>(views::view_as(m_control, shape), shape);
#endif
        return array_view<T, K>(typename basic_view<T, K>::plain(), first_in_kernel(), shape,
                                strides<K>::packed(shape));
    }

    // Brings changes made elsewhere to where the data lives, and waits for that.
    void synchronize(Concurrency::access_type type = Concurrency::access_type_read) const {
        check(revamp_array_view_synchronize(handle(), sync_access(type)));
    }
    Concurrency::completion_future
    synchronize_async(Concurrency::access_type type = Concurrency::access_type_read) const {
        revamp_completion done = nullptr;
        check(revamp_array_view_synchronize_async(handle(), sync_access(type), nullptr, &done));
        return access::adopt(done);
    }
    // Makes the view valid on another accelerator_view.
    void synchronize_to(const Concurrency::accelerator_view &target,
                        Concurrency::access_type type = Concurrency::access_type_read) const {
        check(revamp_array_view_synchronize_to(handle(), access::native(target), sync_access(type)));
    }
    Concurrency::completion_future
    synchronize_to_async(const Concurrency::accelerator_view &target,
                         Concurrency::access_type type = Concurrency::access_type_read) const {
        revamp_completion done = nullptr;
        check(revamp_array_view_synchronize_to_async(handle(), access::native(target), sync_access(type), nullptr,
                                                     &done));
        return access::adopt(done);
    }
    // Tells the library that the program changed the memory under the view directly.
    void refresh() const {
        check(revamp_array_view_refresh(handle()));
    }

    Concurrency::accelerator_view get_source_accelerator_view() const {
        return views::source(m_control);
    }

  private:
    revamp_array_view handle() const {
        return m_control->view();
    }
    static revamp_access sync_access(Concurrency::access_type type) noexcept {
        return static_cast<revamp_access>(static_cast<int>(type));
    }
    REVAMP_HD int bytes_as(std::size_t size) const {
        return static_cast<int>(static_cast<std::size_t>(extent[0]) * sizeof(T) / size);
    }

    static constexpr int slice_rank = N > 1 ? N - 1 : 1;
    typedef array_view<T, slice_rank> slice_type;
    REVAMP_HD static Concurrency::extent<slice_rank> slice_extent(const extent_type &of) {
        Concurrency::extent<slice_rank> shape;
        for (int d = 0; d < slice_rank; ++d)
            shape[static_cast<unsigned>(d)] = of[static_cast<unsigned>(d + 1)];
        return shape;
    }
    REVAMP_HD static strides<slice_rank> slice_strides(const strides<N> &of) {
        strides<slice_rank> steps{};
        for (int d = 0; d < slice_rank - 1; ++d)
            steps.step[d] = of.step[d + 1];
        return steps;
    }
    REVAMP_HD static void check_slice([[maybe_unused]] const extent_type &of, [[maybe_unused]] int i) {
#if (!REVAMP_DEVICE_PASS || REVAMP_DEVICE_ON_HOST) && defined(REVAMP_CHECK_BOUNDS)
        if (unsigned(i) >= unsigned(of[0])) outside_of(1, &i, &static_cast<const int &>(of[0]));
#endif
    }
#if !REVAMP_DEVICE_PASS
    // Slice `i` of what the host knows by `of`.
    static slice_type slice(view_control *of, const extent_type &extent, const strides<N> &steps, int i) {
        check_slice(extent, i);
        const std::ptrdiff_t step = steps.step[0] * static_cast<std::ptrdiff_t>(sizeof(T));
        return slice_type(view_control::project(of, i, extent[0], step, used), slice_extent(extent),
                          slice_strides(steps));
    }
#endif
    REVAMP_HD slice_type project(int i) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return slice(m_control, extent, m_strides, i);
#endif
        check_slice(extent, i);
        return slice_type(typename basic_view<T, slice_rank>::plain(), first_in_kernel() + m_strides.slice(0, i),
                          slice_extent(extent), slice_strides(m_strides));
    }
};

// The insides of views, for copies and launches.
struct view_access {
    template <class T, int N> static revamp_array_view handle(const basic_view<T, N> &view) {
        return view.m_control->view();
    }
    template <class T, int N> static view_control *control(const basic_view<T, N> &view) { return view.m_control; }
};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// A part of a data source, usable on the host and on every accelerator; a handle, whose copies are the same view.
template <class T, int N> class array_view : public revamp::detail::basic_view<T, N> {
    typedef revamp::detail::basic_view<T, N> base;
    typedef revamp::detail::views views;
    using typename base::plain;

    REVAMP_HD array_view(plain, T *data, const Concurrency::extent<N> &shape,
                         const revamp::detail::strides<N> &steps) noexcept
        : base(plain(), data, shape, steps) {}
    array_view(revamp::detail::view_control *control, const Concurrency::extent<N> &shape) noexcept
        : base(control, shape) {}
    array_view(revamp::detail::view_control *control, const Concurrency::extent<N> &shape,
               const revamp::detail::strides<N> &steps) noexcept
        : base(control, shape, steps) {}
    template <class U, int M> friend class revamp::detail::basic_view;
    template <class U, int M> friend class array;

    template <class C> static T *memory(C &container, const Concurrency::extent<N> &shape) {
        if (container.size() < shape.size()) revamp::detail::container_too_small(container.size(), shape.size());
        return container.data();
    }
    template <class C>
    using if_container =
        std::enable_if_t<revamp::detail::is_container<C> && std::is_same_v<revamp::detail::container_element<C>, T>>;

  public:
    REVAMP_HD array_view(const array_view &other) noexcept : base(other) {}
    REVAMP_HD array_view &operator=(const array_view &other) noexcept {
        this->assign(other);
        return *this;
    }
    // In a kernel over an array that it captured by reference.
    REVAMP_HD array_view(array<T, N> &source);

    // Without a data source: memory is made where the view is first used.
    explicit array_view(const Concurrency::extent<N> &shape) : base(views::open(shape, sizeof(T)), shape) {}
    explicit array_view(int e0) : array_view(Concurrency::extent<N>(e0)) {}
    array_view(int e0, int e1) : array_view(Concurrency::extent<N>(e0, e1)) {}
    array_view(int e0, int e1, int e2) : array_view(Concurrency::extent<N>(e0, e1, e2)) {}

    // Over memory of the program; in a kernel over what the pointer points to.
    REVAMP_HD array_view(const Concurrency::extent<N> &shape, T *source) : base(make(shape, source)) {}
    REVAMP_HD array_view(int e0, T *source) : array_view(Concurrency::extent<N>(e0), source) {}
    REVAMP_HD array_view(int e0, int e1, T *source) : array_view(Concurrency::extent<N>(e0, e1), source) {}
    REVAMP_HD array_view(int e0, int e1, int e2, T *source) : array_view(Concurrency::extent<N>(e0, e1, e2), source) {}
    template <std::size_t Size>
    REVAMP_HD explicit array_view(T (&source)[Size])
        : array_view(Concurrency::extent<N>(static_cast<int>(Size)), source) {
        static_assert(N == 1, "an array_view of a C array has rank 1");
    }

    template <class C, class = if_container<C>>
    array_view(const Concurrency::extent<N> &shape, C &source) : array_view(shape, memory(source, shape)) {}
    template <class C, class = if_container<C>>
    array_view(int e0, C &source) : array_view(Concurrency::extent<N>(e0), source) {}
    template <class C, class = if_container<C>>
    array_view(int e0, int e1, C &source) : array_view(Concurrency::extent<N>(e0, e1), source) {}
    template <class C, class = if_container<C>>
    array_view(int e0, int e1, int e2, C &source) : array_view(Concurrency::extent<N>(e0, e1, e2), source) {}
    template <class C, class = if_container<C>>
    explicit array_view(C &source)
        : array_view(Concurrency::extent<N>(static_cast<int>(source.size())), source.data()) {
        static_assert(N == 1, "an array_view of a container alone has rank 1; give an extent");
    }

    // Tells the library that the contents are not needed until they are written: they are not moved.
    REVAMP_HD void discard_data() const {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel())
            revamp::detail::check(revamp_array_view_discard_data(this->m_control->view()));
#endif
    }

    void copy_to(array<T, N> &destination) const;
    void copy_to(const array_view &destination) const;

  private:
    REVAMP_HD static base make(const Concurrency::extent<N> &shape, T *source) {
        if (revamp::detail::in_kernel()) return base(plain(), source, shape, revamp::detail::strides<N>::packed(shape));
#if !REVAMP_DEVICE_PASS
        return base(views::over_host(source, shape, sizeof(T)), shape);
#endif
    }
};

template <class T, int N> class array_view<const T, N> : public revamp::detail::basic_view<const T, N> {
    typedef revamp::detail::basic_view<const T, N> base;
    typedef revamp::detail::views views;
    using typename base::plain;

    REVAMP_HD array_view(plain, const T *data, const Concurrency::extent<N> &shape,
                         const revamp::detail::strides<N> &steps) noexcept
        : base(plain(), data, shape, steps) {}
    array_view(revamp::detail::view_control *control, const Concurrency::extent<N> &shape) noexcept
        : base(control, shape) {}
    array_view(revamp::detail::view_control *control, const Concurrency::extent<N> &shape,
               const revamp::detail::strides<N> &steps) noexcept
        : base(control, shape, steps) {}
    template <class U, int M> friend class revamp::detail::basic_view;
    template <class U, int M> friend class array;

    template <class C> static const T *memory(const C &container, const Concurrency::extent<N> &shape) {
        if (container.size() < shape.size()) revamp::detail::container_too_small(container.size(), shape.size());
        return container.data();
    }
    template <class C>
    using if_container = std::enable_if_t<revamp::detail::is_container<const C> &&
                                          std::is_same_v<revamp::detail::container_element<const C>, const T>>;

  public:
    REVAMP_HD array_view(const array_view &other) noexcept : base(other) {}
    REVAMP_HD array_view(const array_view<T, N> &other) noexcept : base(other) {}
    REVAMP_HD array_view &operator=(const array_view &other) noexcept {
        this->assign(other);
        return *this;
    }
    REVAMP_HD array_view &operator=(const array_view<T, N> &other) noexcept { return *this = array_view(other); }
    REVAMP_HD array_view(const array<T, N> &source);

    REVAMP_HD array_view(const Concurrency::extent<N> &shape, const T *source) : base(make(shape, source)) {}
    REVAMP_HD array_view(int e0, const T *source) : array_view(Concurrency::extent<N>(e0), source) {}
    REVAMP_HD array_view(int e0, int e1, const T *source) : array_view(Concurrency::extent<N>(e0, e1), source) {}
    REVAMP_HD array_view(int e0, int e1, int e2, const T *source)
        : array_view(Concurrency::extent<N>(e0, e1, e2), source) {}
    template <std::size_t Size>
    REVAMP_HD explicit array_view(const T (&source)[Size])
        : array_view(Concurrency::extent<N>(static_cast<int>(Size)), source) {
        static_assert(N == 1, "an array_view of a C array has rank 1");
    }

    template <class C, class = if_container<C>>
    array_view(const Concurrency::extent<N> &shape, const C &source) : array_view(shape, memory(source, shape)) {}
    template <class C, class = if_container<C>>
    array_view(int e0, const C &source) : array_view(Concurrency::extent<N>(e0), source) {}
    template <class C, class = if_container<C>>
    array_view(int e0, int e1, const C &source) : array_view(Concurrency::extent<N>(e0, e1), source) {}
    template <class C, class = if_container<C>>
    array_view(int e0, int e1, int e2, const C &source) : array_view(Concurrency::extent<N>(e0, e1, e2), source) {}
    template <class C, class = if_container<C>>
    explicit array_view(const C &source)
        : array_view(Concurrency::extent<N>(static_cast<int>(source.size())), source.data()) {
        static_assert(N == 1, "an array_view of a container alone has rank 1; give an extent");
    }

    // A view of const elements is only read.
    void synchronize() const { base::synchronize(); }
    completion_future synchronize_async() const { return base::synchronize_async(); }
    void synchronize_to(const Concurrency::accelerator_view &target) const { base::synchronize_to(target); }
    completion_future synchronize_to_async(const Concurrency::accelerator_view &target) const {
        return base::synchronize_to_async(target);
    }

    void copy_to(array<T, N> &destination) const;
    void copy_to(const array_view<T, N> &destination) const;

  private:
    REVAMP_HD static base make(const Concurrency::extent<N> &shape, const T *source) {
        if (revamp::detail::in_kernel()) return base(plain(), source, shape, revamp::detail::strides<N>::packed(shape));
#if !REVAMP_DEVICE_PASS
        return base(views::over_host(source, shape, sizeof(T)), shape);
#endif
    }
};

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_VIEW_H
