// Boxes of elements, in words of 4 bytes.
#pragma once
#include <array>
#include <cstdint>

namespace fuzz {

constexpr uint32_t most_rank = 3;

struct Box {
    uint32_t rank = 0;
    std::array<int32_t, most_rank> extent{};
    std::array<uint64_t, most_rank> stride{};
    uint64_t offset = 0;
    // Words of an element.
    uint32_t element = 1;

    static Box packed(uint32_t rank, const int32_t *extent, uint32_t element, uint64_t offset = 0);
    Box section(const int32_t *origin, const int32_t *size) const;
    uint64_t elements() const;
    uint64_t words() const { return elements() * element; }
    // The word of the whole that is word number k of the box.
    uint64_t at(uint64_t k) const;
    // One behind its last word.
    uint64_t end() const { return at(words() - 1) + 1; }
    bool is_packed() const { return end() - offset == words(); }
    bool same_shape(const Box &other) const;
};

// True if they have a word in common.
bool overlap(const Box &a, const Box &b);
// True if what lies between first and last word has.
inline bool hulls_overlap(const Box &a, const Box &b) {
    return a.offset < b.end() && b.offset < a.end();
}

} // namespace fuzz
