// revamp: a list with inline storage.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_SHORT_LIST_H
#define REVAMP_DETAIL_SHORT_LIST_H

#include "config.h"

#include <cstddef>
#include <type_traits>

REVAMP_DETAIL_BEGIN

// A list with inline storage for its first N elements, so that most launches allocate nothing.
template <class T, std::size_t N> class short_list {
  public:
    short_list() {}
    ~short_list() {
        if (m_first != m_inline) delete[] m_first;
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
    T *m_first = m_inline;
    T m_inline[N]; // uninitialised

    [[gnu::noinline, gnu::cold]] void grow() {
        T *const larger = new T[2 * m_room];
        for (std::size_t i = 0; i < m_size; ++i)
            larger[i] = m_first[i];
        if (m_first != m_inline) delete[] m_first;
        m_first = larger;
        m_room *= 2;
    }
};

REVAMP_DETAIL_END

#endif // REVAMP_DETAIL_SHORT_LIST_H
