// What the tests of the rules on coherence share: memory of their own for all accelerators, so that bytes that move are
// counted.
#ifndef MOVED_HPP
#define MOVED_HPP

#include <amp.h>

#include "../check.hpp"

#include <cstdlib>

[[maybe_unused]] static const int separate_memory = setenv("REVAMP_MEMORY", "separate", 1);

// Bytes moved to and from accelerators since it was asked last.
class counter {
  public:
    counter() : m_before(moved()) {}
    std::uint64_t operator()() {
        const std::uint64_t now = moved();
        return now - std::exchange(m_before, now);
    }

  private:
    std::uint64_t m_before;
    static std::uint64_t moved() {
        revamp_transfer_counters counters = {};
        counters.struct_size = sizeof counters;
        revamp::detail::check(revamp_get_transfers(&counters));
        return counters.implicit_to_bytes + counters.implicit_from_bytes + counters.explicit_to_bytes +
               counters.explicit_from_bytes;
    }
};

// Of the view's elements, the bytes that are valid on an accelerator_view.
template <class T, int N>
std::uint64_t valid(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    revamp_residency residency = {};
    residency.struct_size = sizeof residency;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &residency));
    return residency.valid_bytes;
}

#endif
