// revamp: members that read like MSVC's properties (`view.source_accelerator_view`), for GCC and Clang, which lack
// properties.
//
// A value that is known when the object is made needs no property: it is a const member, or a reference to an object
// that lives longer. A property<Traits, T> is computed at each access, and can be assigned to if Traits has set(). It
// takes no storage, because it shares the storage of its owner's handle in an anonymous union.
//
//     struct default_view_property {
//         typedef accelerator_handle storage;
//         static accelerator_view get(const storage &);            // reads
//         static void set(storage &, const accelerator_view &);    // only if programs can assign to it
//         template <class Self> struct members {                   // chaining: acc.default_view.wait()
//             void wait() const { static_cast<const Self *>(this)->get().wait(); }
//         };
//     };
//     class accelerator {
//         ...
//         union {
//             accelerator_handle handle_;
//             property<default_view_property, accelerator_view> default_view;
//         };
//     };
//
// The owner constructs, copies and destroys `handle_`. If `handle_` is not trivial, the owner must define copy
// operations and a destructor. T may be incomplete until the property is used. `auto x = o.p;` copies the property, not
// a T. The copy converts to T wherever a T is expected, but template deduction sees the property. So constrain
// templates that accept any type, and write T(o.p) if deduction must see a T. A property of type std::wstring must be a
// plain member, because the comparison and output operators of std::wstring deduce the types of their operands.
//
// The swizzles of amp_short_vectors.h are properties with operators of their own.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_PROPERTY_H
#define REVAMP_DETAIL_PROPERTY_H

#include "config.h"

#include <type_traits>
#include <utility>

REVAMP_DETAIL_BEGIN

template <class Traits, class = void> struct property_members {
    template <class Self> struct type {};
};
template <class Traits> struct property_members<Traits, std::void_t<typename Traits::template members<void>>> {
    template <class Self> using type = typename Traits::template members<Self>;
};

// T is a template argument, so that argument-dependent lookup finds the operators of T.
template <class Traits, class T> class property : public property_members<Traits>::template type<property<Traits, T>> {
    typename Traits::storage storage_;

  public:
    property() = delete;
    REVAMP_HD property(const property &other) = default;

    REVAMP_HD T get() const { return Traits::get(storage_); }
    REVAMP_HD operator T() const { return Traits::get(storage_); }

    // Sets the property. A compile error ("no member named 'set'") if Traits has no set().
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
