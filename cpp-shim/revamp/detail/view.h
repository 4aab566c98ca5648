// revamp: array_view (docs/spec/array-views.md).
//
// An array_view has one layout on the host and in kernels: the address of the first element, the shape, then a pointer
// to the control object (view_control), which only the host uses. A kernel gets a copy of the array_view with the
// address in the memory where the kernel runs, and with a null pointer. Such a copy has no coherence and no reference
// count.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_VIEW_H
#define REVAMP_DETAIL_VIEW_H

#include "completion.h"
#include "config.h"
#include "device_abi.h"
#include "element.h"
#include "exceptions.h"
#include "property.h"
#include "shapes.h"
#include "strides.h"
#include "view_control.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

REVAMP_NAMESPACE_BEGIN

template <class T, int N = 1> class array;
template <class T, int N = 1> class array_view;

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

using Concurrency::array;
using Concurrency::array_view;

#if !REVAMP_DEVICE_PASS
// Views in a kernel's functor have no control object. A view with a control object is a host variable captured by
// reference, whose elements were not made valid for the kernel. The extent is passed by value, so that no view escapes.
template <class T, int N>
[[noreturn, gnu::noinline, gnu::cold]] void throw_captured_by_reference(Concurrency::extent<N> extent) {
    std::string text = "a kernel uses an array_view that it captured by reference; its type and extent: ";
    // "... [with T = int; int N = 1]"
    const std::string own = __PRETTY_FUNCTION__;
    text += own.substr(own.rfind('[') == std::string::npos ? 0 : own.rfind('['));
    for (int d = 0; d < N; ++d)
        text.append(d ? ", " : " (").append(std::to_string(extent[static_cast<unsigned>(d)]));
    text += "). Capture array_views by value ([=], or by name); for a member, capture a copy (`[view = member]`)";
    throw Concurrency::runtime_exception(text.c_str(), failed);
}
#endif

// Makes views by the C API.
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
        // The library never writes to memory through a view of const elements.
        check(
            revamp_array_view_create_host(const_cast<void *>(data), N, values(extent, room), element, nullptr, &view));
        return view_control::adopt(view);
    }
    template <int N> static view_control *create(const Concurrency::extent<N> &extent, std::size_t element) {
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

// The property `source_accelerator_view` of an array_view, and the property `accelerator` of that property. Each read
// calls source_of() for the view's control object.
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

// The base of array_view<T, N>, for const and non-const T.
template <class T, int N> class basic_view {
    static_assert(N > 0, "the rank of an array_view must be at least 1");
    static_assert(element<T>::meets_requirements, "");
    typedef Concurrency::index<N> index_type;
    typedef Concurrency::extent<N> extent_type;
    static constexpr bool read_only = std::is_const_v<T>;
    static constexpr revamp_access access_mode = read_only ? REVAMP_ACCESS_READ : REVAMP_ACCESS_READ_WRITE;

  protected:
    // The address of the first element in a kernel; not used on the host.
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
        // The control object; null in kernels. Not for use by programs.
        view_control *m_control;
        // The property; get_source_accelerator_view() returns the same value.
        source_view_property<view_control> source_accelerator_view;
    };

  protected:
    struct kernel_tag {};
    // A view in a kernel, without a control object.
    REVAMP_HD basic_view(kernel_tag, T *data, const extent_type &shape, const strides<N> &steps) noexcept
        : m_data(data), extent(shape), m_strides(steps), m_control(nullptr) {}
    // A view on the host. Takes ownership of `control`.
    basic_view(view_control *control, const extent_type &shape) noexcept
        : m_data(nullptr), extent(shape), m_strides(strides<N>::packed(shape)), m_control(control) {
        register_if_launching();
    }
    basic_view(view_control *control, const extent_type &shape, const strides<N> &steps) noexcept
        : m_data(nullptr), extent(shape), m_strides(steps), m_control(control) {
        register_if_launching();
    }

    // Registers the view with the launch that is being prepared, if any.
    void register_if_launching() noexcept {
#if !REVAMP_DEVICE_PASS
        if (__builtin_expect(this_thread.scope != nullptr, 0)) register_with_launch();
#endif
    }
    [[gnu::noinline, gnu::cold]] void register_with_launch() noexcept {
#if !REVAMP_DEVICE_PASS
        this_thread.scope->views.push_back(
            {static_cast<void *>(this), &m_control, access_mode, m_strides.large(extent), nullptr});
#endif
    }

    // Shares the control object of `other`. In kernels, sets m_control to null, so that the compiler knows its value.
    template <class U> REVAMP_HD void share_control(const basic_view<U, N> &other) noexcept {
#if REVAMP_DEVICE_PASS
        (void)other;
        m_control = nullptr;
#else
        if (in_kernel()) {
            if (__builtin_expect(other.m_control != nullptr, 0)) throw_captured_by_reference<T, N>(other.extent);
            m_control = nullptr;
            return;
        }
        m_control = other.m_control;
        if (m_control) {
            view_control::retain(m_control);
            register_if_launching();
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
        share_control(other);
        if (old) view_control::release(old);
#endif
    }

    // The address of the first element in the memory where the code runs. The functions here and below test
    // in_kernel(), not m_control. In a kernel the compiler knows the result of in_kernel() even if it cannot track
    // m_control. On the host the compiler calls in_kernel() once before a loop.
    REVAMP_HD T *first() const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return static_cast<T *>(host_data(m_control, access_mode));
#endif
        return first_in_kernel();
    }
    // In copies of views in kernels, the compiler knows that m_control is null, and removes the test.
    REVAMP_HD T *first_in_kernel() const {
#if !REVAMP_DEVICE_PASS
        if (__builtin_expect(m_control != nullptr, 0)) throw_captured_by_reference<T, N>(extent);
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
        share_control(other);
    }
    template <class U>
    REVAMP_HD basic_view(const basic_view<U, N> &other) noexcept
        : m_data(other.m_data), extent(other.extent), m_strides(other.m_strides) {
        share_control(other);
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
    // Does not make the element valid on the host: the caller must have synchronized the view.
    REVAMP_HD T &get_ref(const index_type &i) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            void *data = m_control->data.load(std::memory_order_relaxed);
            return static_cast<T *>(data ? data : host_data(m_control, access_mode))[m_strides(i)];
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
        static_assert(N == 2, "two numbers index only an array_view of rank 2");
        return element_at(index_type(i0, i1), extent, first() + m_strides(i0, i1));
    }
    REVAMP_HD T &operator()(int i0, int i1, int i2) const {
        static_assert(N == 3, "three numbers index only an array_view of rank 3");
        return element_at(index_type(i0, i1, i2), extent, first() + m_strides(i0, i1, i2));
    }

    REVAMP_HD T *data() const {
        static_assert(
            N == 1, "data() needs an array_view of rank 1, because the rows of other views may have gaps between them");
        return first();
    }

    REVAMP_HD array_view<T, N> section(const index_type &origin, const extent_type &size) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return array_view<T, N>(views::section(m_control, origin, size), size, m_strides);
#endif
        return array_view<T, N>(kernel_tag(), first_in_kernel() + m_strides(origin), size, m_strides);
    }
    REVAMP_HD array_view<T, N> section(const index_type &origin) const {
        return section(origin, extent - origin);
    }
    REVAMP_HD array_view<T, N> section(const extent_type &size) const {
        return section(index_type(), size);
    }
    REVAMP_HD array_view<T, N> section(int i0, int e0) const {
        static_assert(N == 1, "section(i0, e0) needs an array_view of rank 1");
        return section(index_type(i0), extent_type(e0));
    }
    REVAMP_HD array_view<T, N> section(int i0, int i1, int e0, int e1) const {
        static_assert(N == 2, "section(i0, i1, e0, e1) needs an array_view of rank 2");
        return section(index_type(i0, i1), extent_type(e0, e1));
    }
    REVAMP_HD array_view<T, N> section(int i0, int i1, int i2, int e0, int e1, int e2) const {
        static_assert(N == 3, "section(i0, i1, i2, e0, e1, e2) needs an array_view of rank 3");
        return section(index_type(i0, i1, i2), extent_type(e0, e1, e2));
    }

    template <class U> REVAMP_HD auto reinterpret_as() const {
        static_assert(
            N == 1,
            "reinterpret_as needs an array_view of rank 1, because the rows of other views may have gaps between them");
        typedef std::conditional_t<read_only, const U, U> V;
        static_assert(element<V>::meets_requirements, "");
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) {
            view_control *made = views::reinterpret_as(m_control, sizeof(U));
            return array_view<V, 1>(made, Concurrency::extent<1>(elements_of_size(sizeof(U))));
        }
#endif
        const Concurrency::extent<1> size(elements_of_size(sizeof(U)));
        return array_view<V, 1>(typename basic_view<V, 1>::kernel_tag(), reinterpret_cast<V *>(first_in_kernel()), size,
                                strides<1>{});
    }
    template <int K> REVAMP_HD array_view<T, K> view_as(const Concurrency::extent<K> &shape) const {
        static_assert(
            N == 1,
            "view_as needs an array_view of rank 1, because the rows of other views may have gaps between them");
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return array_view<T, K>(views::view_as(m_control, shape), shape);
#endif
        return array_view<T, K>(typename basic_view<T, K>::kernel_tag(), first_in_kernel(), shape,
                                strides<K>::packed(shape));
    }

    // Writes changes made on other locations back to the home location of the data, and waits.
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
    REVAMP_HD int elements_of_size(std::size_t size) const {
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
        if (unsigned(i) >= unsigned(of[0])) report_out_of_bounds(1, &i, &static_cast<const int &>(of[0]));
#endif
    }
#if !REVAMP_DEVICE_PASS
    // Slice `i` of the view with the control object `of`.
    static slice_type slice(view_control *of, const extent_type &extent, const strides<N> &steps, int i) {
        check_slice(extent, i);
        const std::ptrdiff_t step = steps.step[0] * static_cast<std::ptrdiff_t>(sizeof(T));
        return slice_type(view_control::project(of, i, extent[0], step, access_mode), slice_extent(extent),
                          slice_strides(steps));
    }
#endif
    REVAMP_HD slice_type project(int i) const {
#if !REVAMP_DEVICE_PASS
        if (!in_kernel()) return slice(m_control, extent, m_strides, i);
#endif
        check_slice(extent, i);
        return slice_type(typename basic_view<T, slice_rank>::kernel_tag(), first_in_kernel() + m_strides.slice(0, i),
                          slice_extent(extent), slice_strides(m_strides));
    }
};

// Access to private members of views, for copies and launches.
struct view_access {
    template <class T, int N> static revamp_array_view handle(const basic_view<T, N> &view) {
        return view.m_control->view();
    }
    template <class T, int N> static view_control *control(const basic_view<T, N> &view) { return view.m_control; }
};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// A part of a data source, usable on the host and on every accelerator. Copies refer to the same data.
template <class T, int N> class array_view : public revamp::detail::basic_view<T, N> {
    typedef revamp::detail::basic_view<T, N> base;
    typedef revamp::detail::views views;
    using typename base::kernel_tag;

    REVAMP_HD array_view(kernel_tag, T *data, const Concurrency::extent<N> &shape,
                         const revamp::detail::strides<N> &steps) noexcept
        : base(kernel_tag(), data, shape, steps) {}
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
    // A view over an array. A kernel can make a view over an array that it captured by reference.
    REVAMP_HD array_view(array<T, N> &source);

    // Views without a data source. Memory is allocated where the view is first used.
    explicit array_view(const Concurrency::extent<N> &shape) : base(views::create(shape, sizeof(T)), shape) {}
    explicit array_view(int e0) : array_view(Concurrency::extent<N>(e0)) {}
    array_view(int e0, int e1) : array_view(Concurrency::extent<N>(e0, e1)) {}
    array_view(int e0, int e1, int e2) : array_view(Concurrency::extent<N>(e0, e1, e2)) {}

    // Views over memory of the program; in a kernel, over the memory that `source` points to.
    REVAMP_HD array_view(const Concurrency::extent<N> &shape, T *source) : base(make(shape, source)) {}
    REVAMP_HD array_view(int e0, T *source) : array_view(Concurrency::extent<N>(e0), source) {}
    REVAMP_HD array_view(int e0, int e1, T *source) : array_view(Concurrency::extent<N>(e0, e1), source) {}
    REVAMP_HD array_view(int e0, int e1, int e2, T *source) : array_view(Concurrency::extent<N>(e0, e1, e2), source) {}
    template <std::size_t Size>
    REVAMP_HD explicit array_view(T (&source)[Size])
        : array_view(Concurrency::extent<N>(static_cast<int>(Size)), source) {
        static_assert(N == 1, "an array_view of a C array must have rank 1");
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
        static_assert(
            N == 1,
            "an array_view of a container must have rank 1 if no extent is passed; pass an extent for another rank");
    }

    // Tells the library that the current contents are not needed, so that it does not move them.
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
        if (revamp::detail::in_kernel())
            return base(kernel_tag(), source, shape, revamp::detail::strides<N>::packed(shape));
#if !REVAMP_DEVICE_PASS
        return base(views::over_host(source, shape, sizeof(T)), shape);
#endif
    }
};

template <class T, int N> class array_view<const T, N> : public revamp::detail::basic_view<const T, N> {
    typedef revamp::detail::basic_view<const T, N> base;
    typedef revamp::detail::views views;
    using typename base::kernel_tag;

    REVAMP_HD array_view(kernel_tag, const T *data, const Concurrency::extent<N> &shape,
                         const revamp::detail::strides<N> &steps) noexcept
        : base(kernel_tag(), data, shape, steps) {}
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
        static_assert(N == 1, "an array_view of a C array must have rank 1");
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
        static_assert(
            N == 1,
            "an array_view of a container must have rank 1 if no extent is passed; pass an extent for another rank");
    }

    // These functions take no access_type, because a view of const elements is only read.
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
        if (revamp::detail::in_kernel())
            return base(kernel_tag(), source, shape, revamp::detail::strides<N>::packed(shape));
#if !REVAMP_DEVICE_PASS
        return base(views::over_host(source, shape, sizeof(T)), shape);
#endif
    }
};

REVAMP_NAMESPACE_END

#endif // REVAMP_DETAIL_VIEW_H
