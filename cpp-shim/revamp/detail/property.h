// Members that read like MSVC's properties (`acc.is_debug`, `av.extent`), for GCC and Clang, which have none.
//
// There are two kinds.
//
// 1. read_only<T, Owner>: a fact that is known when the object is made, kept as a real member and set by Owner alone.
//    For a class, read_only derives from it: what takes an `extent<N>`, a template's `extent<N>` or `basic_string<C>`
//    included, takes the property too, and `av.extent.size()`, `acc.description.c_str()` just work. It costs the
//    storage of a T. What changes a T in place does not compile.
//
//        template <class T, int N> class array_view {
//          public:
//            // Written so, qualified: GCC rejects a member that changes what `extent` means in its class.
//            revamp::detail::read_only<Concurrency::extent<N>, array_view> extent;
//            array_view(Concurrency::extent<N> e) : extent(e) {}
//            array_view &operator=(const array_view &o) { extent.set(o.extent); ... }   // by hand: `=` is deleted
//        };
//
// 2. property<Traits, T>: computed at each access, and settable if the Traits say so. It takes no storage: it shares
//    that of its owner's handle in an anonymous union, and is a copy of the handle itself. So a copy of it
//    (`auto v = acc.default_view;`) stands by itself, whatever becomes of the owner.
//
//        struct default_view_property {
//            typedef accelerator_handle storage;
//            static accelerator_view get(const storage &);            // reads
//            static void set(storage &, const accelerator_view &);    // only for those that can be assigned to
//            template <class Self> struct members {                   // chaining: acc.default_view.wait()
//                void wait() const { static_cast<const Self *>(this)->get().wait(); }
//            };
//        };
//        class accelerator {
//            ...
//            union {
//                accelerator_handle handle_;
//                property<default_view_property, accelerator_view> default_view;
//            };
//        };
//
//    The owner constructs, copies and destroys `handle_`; if that is not trivial it must have its own copy operations
//    and destructor. T may be incomplete until the property is used.
//
// With both, `auto x = o.p;` makes a copy of the property and not of a T: it converts to T wherever one is expected,
// but template deduction sees the property (with read_only of a class: the class, where a base is looked for). So
// constrain templates that take anything, and convert where deduction must see a T: T(o.p). Properties of type
// std::wstring must be read_only, as comparison and output deduce.
//
// The swizzles of amp_short_vectors.h are properties of the second kind with operators of their own.
#ifndef REVAMP_DETAIL_PROPERTY_H
#define REVAMP_DETAIL_PROPERTY_H

#include "config.h"

#include <type_traits>
#include <utility>

REVAMP_DETAIL_BEGIN

// Numbers, enumerations, pointers.
template <class T, class Owner, bool IsClass = std::is_class<T>::value> class read_only {
    friend Owner;
    T value_;

    constexpr void set(const T &value) { value_ = value; }

  public:
    explicit constexpr read_only(const T &value = T()) : value_(value) {}
    read_only(const read_only &) = default;
    read_only &operator=(const read_only &) = delete;
    template <class U> void operator=(const U &) = delete;

    constexpr operator const T &() const { return value_; }
};

template <class T, class Owner> class read_only<T, Owner, true> : public T {
    friend Owner;

    constexpr void set(const T &value) { static_cast<T &>(*this) = value; }

  public:
    template <class... Arguments, std::enable_if_t<std::is_constructible<T, Arguments &&...>::value, int> = 0>
    explicit constexpr read_only(Arguments &&...arguments) : T(std::forward<Arguments>(arguments)...) {}
    read_only(const read_only &) = default;

    // What would change it.
    read_only &operator=(const read_only &) = delete;
    template <class U> void operator=(const U &) = delete;
    template <class U> void operator+=(const U &) = delete;
    template <class U> void operator-=(const U &) = delete;
    template <class U> void operator*=(const U &) = delete;
    template <class U> void operator/=(const U &) = delete;
    template <class U> void operator%=(const U &) = delete;
    void operator++() = delete;
    void operator--() = delete;
    void operator++(int) = delete;
    void operator--(int) = delete;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion" // as an int is for T itself
    template <class Index, class U = T>
    constexpr auto operator[](Index index) const -> decltype(std::declval<const U &>()[index]) {
        return static_cast<const U &>(*this)[index];
    }
#pragma GCC diagnostic pop
};

template <class Traits, class = void> struct property_members {
    template <class Self> struct type {};
};
template <class Traits> struct property_members<Traits, std::void_t<typename Traits::template members<void>>> {
    template <class Self> using type = typename Traits::template members<Self>;
};

// T is a template argument, so that argument-dependent look-up finds its operators.
template <class Traits, class T> class property : public property_members<Traits>::template type<property<Traits, T>> {
    typename Traits::storage storage_;

  public:
    property() = delete;
    REVAMP_HD property(const property &other) = default;

    REVAMP_HD T get() const { return Traits::get(storage_); }
    REVAMP_HD operator T() const { return Traits::get(storage_); }

    // Sets; a compile error ("no member named 'set'") if the property cannot be set.
    template <class U, std::enable_if_t<std::is_convertible<const U &, T>::value, int> = 0>
    REVAMP_HD const U &operator=(const U &value) {
        Traits::set(storage_, value);
        return value;
    }
    REVAMP_HD property &operator=(const property &other) {
        Traits::set(storage_, other.get());
        return *this;
    }
};

REVAMP_DETAIL_END

#endif
