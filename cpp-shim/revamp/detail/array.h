// revamp: array (docs/spec/arrays.md).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_ARRAY_H
#define REVAMP_DETAIL_ARRAY_H

#include "config.h"
#include "copy_memory.h"
#include "element.h"
#include "exceptions.h"
#include "runtime.h"
#include "shapes.h"
#include "view.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <shared_mutex>
#include <type_traits>
#include <utility>
#include <vector>

REVAMP_DETAIL_BEGIN

struct array_access;

// The registration of an array or texture, which functors capture by reference.
struct live_object {
    // The bytes of the object as kernels see them, without the address of the elements. In a launch, a captured
    // reference points to a copy of these bytes.
    std::vector<unsigned char> header;
    // The object as an argument of a launch, without its header and offset.
    revamp_argument argument = REVAMP_ARGUMENT_INIT;
    // True if the object has more elements than element_offset can count in kernels.
    bool large = false;
    // For live_objects: the address of the object, and the next entry of the chain.
    const void *place = nullptr;
    live_object *next = nullptr;

    explicit live_object(revamp_access access) {
        argument.kind = REVAMP_ARGUMENT_INDIRECT;
        argument.access = access;
    }
};

// The host-side state of an array.
struct array_control : live_object {
    const revamp_array handle;
    // For host access to elements; created at the first use.
    std::atomic<view_control *> host{nullptr};
    revamp_array_info info = {};

    explicit array_control(revamp_array array) : live_object(REVAMP_ACCESS_READ_WRITE), handle(array) {
        argument.array = array;
        info.struct_size = sizeof info;
    }
    // Takes over an array of the C API.
    static std::unique_ptr<array_control> adopt(revamp_array array) {
        try {
            return std::make_unique<array_control>(array);
        } catch (...) {
            (void)revamp_array_destroy(array);
            throw;
        }
    }
    array_control(const array_control &) = delete;
    ~array_control() {
        if (view_control *view = host.load(std::memory_order_acquire)) view_control::release(view);
        (void)revamp_array_destroy(handle);
    }

    bool is_for_host() const { return (info.cpu_access_type & REVAMP_ACCESS_READ_WRITE) != REVAMP_ACCESS_NONE; }
    view_control *host_view() {
        view_control *view = host.load(std::memory_order_acquire);
        return __builtin_expect(view != nullptr, 1) ? view : create_host_view();
    }
    void *data(bool write) {
        if (!is_for_host()) refuse();
        const revamp_access allowed = info.cpu_access_type & REVAMP_ACCESS_READ_WRITE;
        return host_data(host_view(), write ? allowed : allowed & REVAMP_ACCESS_READ ? REVAMP_ACCESS_READ : allowed);
    }

  private:
    [[noreturn, gnu::noinline, gnu::cold]] static void refuse() {
        throw Concurrency::runtime_exception("the host cannot use the elements of this array, because its cpu access "
                                             "type is none; copy the array, or use an array_view or a staging array",
                                             failed);
    }
    [[gnu::noinline, gnu::cold]] view_control *create_host_view() {
        view_control *made = views::over_array(handle), *found = nullptr;
        if (host.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
        view_control::release(made);
        return found;
    }
};

// A hash table of the addresses of arrays and textures, which recognises references that a functor captured.
class live_objects {
  public:
    static live_objects &all() {
        // Not destroyed: static arrays may be destroyed after it.
        static live_objects &one = *new live_objects;
        return one;
    }
    void add(const void *object, live_object *known) {
        std::unique_lock<std::shared_mutex> lock(m_mutex);
        known->place = object;
        live_object *&chain = chain_of(object);
        known->next = chain;
        chain = known;
        m_count.fetch_add(1, std::memory_order_relaxed);
    }
    void remove(const void *object) noexcept {
        std::unique_lock<std::shared_mutex> lock(m_mutex);
        for (live_object **at = &chain_of(object); *at; at = &(*at)->next)
            if ((*at)->place == object) {
                *at = (*at)->next;
                m_count.fetch_sub(1, std::memory_order_relaxed);
                return;
            }
    }
    // Looks up several objects under one lock. If no array or texture exists, takes no lock. A relaxed count suffices,
    // because the calling thread has seen the objects that it looks up.
    class reader {
      public:
        reader() : m_any(m_all.m_count.load(std::memory_order_relaxed) != 0) {
            if (m_any) m_lock = std::shared_lock<std::shared_mutex>(m_all.m_mutex);
        }
        bool any() const { return m_any; }
        live_object *find(const void *object) const {
            live_object *at = m_all.chain_of(object);
            while (at && at->place != object)
                at = at->next;
            return at;
        }

      private:
        live_objects &m_all = all();
        const bool m_any;
        std::shared_lock<std::shared_mutex> m_lock;
    };

  private:
    static constexpr std::size_t chains = 1024;
    std::shared_mutex m_mutex;
    std::atomic<std::size_t> m_count{0};
    live_object *m_chains[chains] = {};

    live_object *&chain_of(const void *object) {
        const std::uint64_t address = reinterpret_cast<std::uintptr_t>(object);
        return m_chains[(address * 0x9E3779B97F4A7C15U >> 32) % chains];
    }
};

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_moved_from() {
    throw Concurrency::uninitialized_object("this array was moved to another array; use the other array");
}

// The part of an array that kernels see.
template <class T, int N> class array_header {
    static_assert(N > 0, "the rank of an array must be at least 1");
    static_assert(!std::is_const_v<T>, "the elements of an array must not be const; make the array itself const, or "
                                       "use an array_view of const elements");
    static_assert(element<T>::meets_requirements, "");

  protected:
    // The address of the elements; set where kernel code runs.
    T *m_data = nullptr;

  public:
    // The property `extent`; get_extent() gives the same.
    const Concurrency::extent<N> extent;

  protected:
    // Null in kernels.
    std::unique_ptr<array_control> m_control;

    explicit array_header(const Concurrency::extent<N> &shape) : extent(shape) {}

    template <class U, int M> friend class Concurrency::array;
    friend struct array_access;
};

// The accelerator_view that the program requests for an array, and the cpu access type or the associated view.
struct array_place {
    Concurrency::accelerator_view view;
    Concurrency::access_type type = Concurrency::access_type_auto;
    const Concurrency::accelerator_view *associated = nullptr;
};

REVAMP_DETAIL_END
REVAMP_NAMESPACE_BEGIN

// Elements in the memory of one accelerator_view.
template <class T, int N> class array : public revamp::detail::array_header<T, N> {
    typedef revamp::detail::array_header<T, N> header;
    typedef revamp::detail::array_place place;
    typedef Concurrency::extent<N> shape_type;
    typedef Concurrency::index<N> index_type;
    typedef Concurrency::accelerator_view view_type;

    struct made {
        std::unique_ptr<revamp::detail::array_control> control;
        view_type view;
        view_type associated;
        Concurrency::access_type type;
    };
    static made make(const shape_type &shape, const place &where) {
        int room[N];
        revamp_array_options options = {};
        options.struct_size = sizeof options;
        if (where.associated) {
            options.associated_view = revamp::detail::access::native(*where.associated);
        } else if (where.type != access_type_auto) {
            options.has_cpu_access_type = true;
            options.cpu_access_type = static_cast<revamp_access>(static_cast<int>(where.type));
        }
        revamp_array handle = nullptr;
        revamp::detail::check(revamp_array_create(revamp::detail::access::native(where.view), N,
                                                  revamp::detail::views::values(shape, room), sizeof(T), &options,
                                                  &handle));
        return adopt(handle, where.view);
    }
    // Takes over an array of the C API.
    static made adopt(revamp_array handle, const view_type &view) {
        auto control = revamp::detail::array_control::adopt(handle);
        revamp::detail::check(revamp_array_get_info(handle, &control->info));
        const revamp_array_info &info = control->info;
        view_type associated =
            info.associated_view == info.view ? view : revamp::detail::access::share(info.associated_view);
        const auto type = static_cast<Concurrency::access_type>(static_cast<int>(info.cpu_access_type));
        return made{std::move(control), view, std::move(associated), type};
    }
    array(const shape_type &shape, made &&parts)
        : header(shape), accelerator_view(parts.view), associated_accelerator_view(parts.associated),
          cpu_access_type(parts.type) {
        this->m_control = std::move(parts.control);
        register_object();
    }
    array(const shape_type &shape, const place &where) : array(shape, make(shape, where)) {}
    static place default_place() { return place{Concurrency::accelerator().get_default_view()}; }

    // Registers the address of the object, and fills in its header for kernels.
    void register_object() {
        if (!this->m_control) return;
        this->m_control->header.assign(sizeof(header), 0);
        const auto extent_at = reinterpret_cast<unsigned char *>(const_cast<shape_type *>(&this->extent)) -
                               reinterpret_cast<unsigned char *>(static_cast<header *>(this));
        __builtin_memcpy(this->m_control->header.data() + extent_at, &this->extent, sizeof(shape_type));
        this->m_control->large = revamp::detail::count_of(this->extent) > INT_MAX;
        revamp::detail::live_objects::all().add(this, this->m_control.get());
    }

    template <class It> void fill(It begin, It end) {
        revamp::detail::from_range<T>(begin, end, revamp::detail::count_of(this->extent),
                                      [&](const T *elements, std::size_t bytes) {
                                          revamp::detail::check(revamp_copy_to_array(elements, bytes, handle()));
                                      });
    }
    template <class It> void fill(It begin) {
        revamp::detail::from_iterator<T>(begin, revamp::detail::count_of(this->extent),
                                         [&](const T *elements, std::size_t bytes) {
                                             revamp::detail::check(revamp_copy_to_array(elements, bytes, handle()));
                                         });
    }
    revamp::detail::array_control &control() const {
        if (__builtin_expect(!this->m_control, 0)) revamp::detail::throw_moved_from();
        return *this->m_control;
    }
    revamp_array handle() const { return control().handle; }
    revamp_region region() const {
        revamp_region r = {};
        r.struct_size = sizeof r;
        r.array = handle();
        return r;
    }
    friend struct revamp::detail::array_access;
    template <class It> using if_iterator = std::enable_if_t<revamp::detail::is_iterator<It>>;

  public:
    static constexpr int rank = N;
    typedef T value_type;

    const Concurrency::accelerator_view accelerator_view;
    const Concurrency::accelerator_view associated_accelerator_view;
    const Concurrency::access_type cpu_access_type;

    explicit array(const Concurrency::extent<N> &shape) : array(shape, default_place()) {}
    array(const Concurrency::extent<N> &shape, view_type view, access_type type = access_type_auto)
        : array(shape, place{view, type}) {}
    array(const Concurrency::extent<N> &shape, view_type view, view_type associated)
        : array(shape, place{view, access_type_auto, &associated}) {}
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin, It end) : array(shape, default_place()) {
        fill(begin, end);
    }
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin) : array(shape, default_place()) {
        fill(begin);
    }
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin, It end, view_type view, access_type type = access_type_auto)
        : array(shape, place{view, type}) {
        fill(begin, end);
    }
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin, view_type view, access_type type = access_type_auto)
        : array(shape, place{view, type}) {
        fill(begin);
    }
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin, It end, view_type view, view_type associated)
        : array(shape, place{view, access_type_auto, &associated}) {
        fill(begin, end);
    }
    template <class It, class = if_iterator<It>>
    array(const Concurrency::extent<N> &shape, It begin, view_type view, view_type associated)
        : array(shape, place{view, access_type_auto, &associated}) {
        fill(begin);
    }

#define REVAMP_ARRAY_FORMS(explicit_, parameters, arguments)                                                           \
    explicit_ array parameters : array(Concurrency::extent<N> arguments) {}                                            \
    array(REVAMP_ARRAY_LIST parameters, view_type view, access_type type = access_type_auto)                           \
        : array(Concurrency::extent<N> arguments, view, type) {}                                                       \
    array(REVAMP_ARRAY_LIST parameters, view_type view, view_type associated)                                          \
        : array(Concurrency::extent<N> arguments, view, associated) {}                                                 \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin, It end) : array(Concurrency::extent<N> arguments, begin, end) {}     \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin) : array(Concurrency::extent<N> arguments, begin) {}                  \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin, It end, view_type view, access_type type = access_type_auto)         \
        : array(Concurrency::extent<N> arguments, begin, end, view, type) {}                                           \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin, view_type view, access_type type = access_type_auto)                 \
        : array(Concurrency::extent<N> arguments, begin, view, type) {}                                                \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin, It end, view_type view, view_type associated)                        \
        : array(Concurrency::extent<N> arguments, begin, end, view, associated) {}                                     \
    template <class It, class = if_iterator<It>>                                                                       \
    array(REVAMP_ARRAY_LIST parameters, It begin, view_type view, view_type associated)                                \
        : array(Concurrency::extent<N> arguments, begin, view, associated) {}
#define REVAMP_ARRAY_LIST(...) __VA_ARGS__
    REVAMP_ARRAY_FORMS(explicit, (int e0), (e0))
    REVAMP_ARRAY_FORMS(, (int e0, int e1), (e0, e1))
    REVAMP_ARRAY_FORMS(, (int e0, int e1, int e2), (e0, e1, e2))
#undef REVAMP_ARRAY_LIST
#undef REVAMP_ARRAY_FORMS

    explicit array(const array_view<const T, N> &source) : array(source.extent) {
        *this = source;
    }
    array(const array_view<const T, N> &source, view_type view, access_type type = access_type_auto)
        : array(source.extent, view, type) {
        *this = source;
    }
    array(const array_view<const T, N> &source, view_type view, view_type associated)
        : array(source.extent, view, associated) {
        *this = source;
    }

    // A launch copies its functor. If that copy calls this constructor, the functor captured the array by value, which
    // is not allowed.
    array(const array &other) : array(other.extent, place_of(other)) {
#if !REVAMP_DEVICE_PASS
        if (revamp::detail::this_thread.scope) revamp::detail::this_thread.scope->arrays.push_back(this);
#endif
        *this = other;
    }
    array(array &&other) noexcept
        : header(other.extent), accelerator_view(other.accelerator_view),
          associated_accelerator_view(other.associated_accelerator_view), cpu_access_type(other.cpu_access_type) {
        revamp::detail::live_objects::all().remove(&other);
        this->m_control = std::move(other.m_control);
        register_object();
    }
    array &operator=(const array &other) {
        if (this == &other) return *this;
        if (!this->m_control) return *this = array(other); // *this was moved from
        revamp::detail::copy_regions(other.region(), region());
        return *this;
    }
    array &operator=(array &&other) noexcept {
        if (this != &other) {
            this->~array();
            new (this) array(std::move(other));
        }
        return *this;
    }
    array &operator=(const array_view<const T, N> &source) {
        if (!this->m_control) *this = array(source.extent, place_of(*this));
        revamp::detail::copy_regions(revamp::detail::region_of(source), region());
        return *this;
    }
    ~array() {
        if (!this->m_control) return;
        revamp::detail::live_objects::all().remove(this);
        this->m_control.reset();
    }

    void copy_to(array &destination) const {
        revamp::detail::copy_regions(region(), destination.region());
    }
    void copy_to(const array_view<T, N> &destination) const {
        revamp::detail::copy_regions(region(), revamp::detail::region_of(destination));
    }
    operator std::vector<T>() const {
        std::vector<T> result;
        revamp::detail::read_into_vector<T>(
            revamp::detail::count_of(this->extent), result, [&](T *elements, std::size_t bytes) {
                revamp::detail::check(revamp_copy_from_array(handle(), elements, bytes));
            });
        return result;
    }

    REVAMP_HD Concurrency::extent<N> get_extent() const {
        return this->extent;
    }
    view_type get_accelerator_view() const {
        return accelerator_view;
    }
    view_type get_associated_accelerator_view() const {
        return associated_accelerator_view;
    }
    access_type get_cpu_access_type() const {
        return cpu_access_type;
    }

    // On the host, null if the host cannot access the elements.
    REVAMP_HD T *data() {
        return all(true);
    }
    REVAMP_HD const T *data() const {
        return all(false);
    }

    REVAMP_HD T &operator[](const index_type &i) {
        return revamp::detail::element_at(i, this->extent, first(true) + at(i));
    }
    REVAMP_HD const T &operator[](const index_type &i) const {
        return revamp::detail::element_at(i, this->extent, first(false) + at(i));
    }
    REVAMP_HD T &operator()(const index_type &i) {
        return (*this)[i];
    }
    REVAMP_HD const T &operator()(const index_type &i) const {
        return (*this)[i];
    }
    REVAMP_HD T &operator()(int i0, int i1) {
        return (*this)[index_type(i0, i1)];
    }
    REVAMP_HD const T &operator()(int i0, int i1) const {
        return (*this)[index_type(i0, i1)];
    }
    REVAMP_HD T &operator()(int i0, int i1, int i2) {
        return (*this)[index_type(i0, i1, i2)];
    }
    REVAMP_HD const T &operator()(int i0, int i1, int i2) const {
        return (*this)[index_type(i0, i1, i2)];
    }

    REVAMP_HD auto operator[](int i) -> std::conditional_t<N == 1, T &, array_view<T, (N > 1 ? N - 1 : 1)>> {
        if constexpr (N == 1)
            return revamp::detail::element_at(index_type(i), this->extent, first(true) + i);
        else
            return slice(i);
    }
    REVAMP_HD auto operator[](int i) const
        -> std::conditional_t<N == 1, const T &, array_view<const T, (N > 1 ? N - 1 : 1)>> {
        if constexpr (N == 1)
            return revamp::detail::element_at(index_type(i), this->extent, first(false) + i);
        else
            return slice(i);
    }
    REVAMP_HD auto operator()(int i) -> std::conditional_t<N == 1, T &, array_view<T, (N > 1 ? N - 1 : 1)>> {
        return (*this)[i];
    }
    REVAMP_HD auto operator()(int i) const
        -> std::conditional_t<N == 1, const T &, array_view<const T, (N > 1 ? N - 1 : 1)>> {
        return (*this)[i];
    }

#define REVAMP_ARRAY_SECTIONS(Element, constness)                                                                      \
    REVAMP_HD array_view<Element, N> section(const index_type &origin, const shape_type &size) constness {             \
        return view().section(origin, size);                                                                           \
    }                                                                                                                  \
    REVAMP_HD array_view<Element, N> section(const index_type &origin) constness {                                     \
        return view().section(origin);                                                                                 \
    }                                                                                                                  \
    REVAMP_HD array_view<Element, N> section(const shape_type &size) constness {                                       \
        return view().section(size);                                                                                   \
    }                                                                                                                  \
    REVAMP_HD array_view<Element, N> section(int i0, int e0) constness {                                               \
        return view().section(i0, e0);                                                                                 \
    }                                                                                                                  \
    REVAMP_HD array_view<Element, N> section(int i0, int i1, int e0, int e1) constness {                               \
        return view().section(i0, i1, e0, e1);                                                                         \
    }                                                                                                                  \
    REVAMP_HD array_view<Element, N> section(int i0, int i1, int i2, int e0, int e1, int e2) constness {               \
        return view().section(i0, i1, i2, e0, e1, e2);                                                                 \
    }                                                                                                                  \
    template <class U> REVAMP_HD auto reinterpret_as() constness {                                                     \
        return flattened_view().template reinterpret_as<U>();                                                          \
    }                                                                                                                  \
    template <int K> REVAMP_HD array_view<Element, K> view_as(const Concurrency::extent<K> &shape) constness {         \
        return flattened_view().view_as(shape);                                                                        \
    }
    REVAMP_ARRAY_SECTIONS(T, )
    REVAMP_ARRAY_SECTIONS(const T, const)
#undef REVAMP_ARRAY_SECTIONS

  private:
    static access_type plain_type(const array &other) {
        // Accelerators without shared memory determine the access type themselves.
        return other.accelerator_view.accelerator.supports_cpu_shared_memory ? other.cpu_access_type : access_type_auto;
    }
    static place place_of(const array &other) {
        return other.accelerator_view == other.associated_accelerator_view
                   ? place{other.accelerator_view, plain_type(other)}
                   : place{other.accelerator_view, access_type_auto, &other.associated_accelerator_view};
    }
    REVAMP_HD T *first([[maybe_unused]] bool write) const {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel()) return static_cast<T *>(control().data(write));
#endif
        return this->m_data;
    }
    REVAMP_HD T *all(bool write) const {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel() && !control().is_for_host()) return nullptr;
#endif
        return first(write);
    }
    REVAMP_HD std::ptrdiff_t at(const index_type &i) const {
#if REVAMP_OFFSETS_IN_TWO_WIDTHS
        if (REVAMP_FOR_HOST) return offset<std::ptrdiff_t>(i);
#endif
        return offset<revamp::detail::element_offset>(i);
    }
    template <class Count> REVAMP_HD Count offset(const index_type &i) const {
        Count position = i[0];
        for (unsigned d = 1; d < unsigned(N); ++d)
            position = position * this->extent[d] + i[d];
        return position;
    }
    // A view of the whole array.
    REVAMP_HD array_view<T, N> view() {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel())
            return array_view<T, N>(revamp::detail::views::over_array(handle()), this->extent);
#endif
        return array_view<T, N>(this->extent, this->m_data);
    }
    REVAMP_HD array_view<const T, N> view() const {
        return const_cast<array *>(this)->view();
    }
    // On the host, slices the view that the array keeps for host access, to avoid creating a view per call.
    REVAMP_HD array_view<T, (N > 1 ? N - 1 : 1)> slice(int i) {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel() && control().is_for_host())
            return revamp::detail::basic_view<T, N>::slice(control().host_view(), this->extent,
                                                           revamp::detail::strides<N>::packed(this->extent), i);
#endif
        return view()[i];
    }
    REVAMP_HD array_view<const T, (N > 1 ? N - 1 : 1)> slice(int i) const {
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel() && control().is_for_host())
            return revamp::detail::basic_view<const T, N>::slice(control().host_view(), this->extent,
                                                                 revamp::detail::strides<N>::packed(this->extent), i);
#endif
        return view()[i];
    }
    // A view of rank 1 of the whole array.
    REVAMP_HD array_view<T, 1> flattened_view() {
        const Concurrency::extent<1> shape(static_cast<int>(revamp::detail::count_of(this->extent)));
#if !REVAMP_DEVICE_PASS
        if (!revamp::detail::in_kernel()) {
            const array_view<T, N> all = view();
            return array_view<T, 1>(
                revamp::detail::views::reinterpret_as(revamp::detail::view_access::control(all), sizeof(T)), shape);
        }
#endif
        return array_view<T, 1>(shape, this->m_data);
    }
    REVAMP_HD array_view<const T, 1> flattened_view() const {
        return const_cast<array *>(this)->flattened_view();
    }

    template <class U, int M> friend class array_view;
};

template <class T, int N>
REVAMP_HD array_view<T, N>::array_view(array<T, N> &source) : base(static_cast<const base &>(source.view())) {}
template <class T, int N>
REVAMP_HD array_view<const T, N>::array_view(const array<T, N> &source)
    : base(static_cast<const base &>(source.view())) {}

template <class T, int N> void array_view<T, N>::copy_to(array<T, N> &destination) const {
    destination = array_view<const T, N>(*this);
}
template <class T, int N> void array_view<T, N>::copy_to(const array_view &destination) const {
    revamp::detail::copy_regions(revamp::detail::region_of(*this), revamp::detail::region_of(destination));
}
template <class T, int N> void array_view<const T, N>::copy_to(array<T, N> &destination) const {
    destination = *this;
}
template <class T, int N> void array_view<const T, N>::copy_to(const array_view<T, N> &destination) const {
    revamp::detail::copy_regions(revamp::detail::region_of(*this), revamp::detail::region_of(destination));
}

REVAMP_NAMESPACE_END
REVAMP_DETAIL_BEGIN

// Access to private members of arrays, for copies.
struct array_access {
    template <class T, int N>
    static Concurrency::array<T, N> adopt(const Concurrency::extent<N> &shape, revamp_array handle,
                                          const Concurrency::accelerator_view &view) {
        return Concurrency::array<T, N>(shape, Concurrency::array<T, N>::adopt(handle, view));
    }
    template <class T, int N> static revamp_array handle(const Concurrency::array<T, N> &array) {
        return array.handle();
    }
    template <class T, int N> static revamp_region region(const array<T, N> &array) { return array.region(); }
};

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_ARRAY_H
