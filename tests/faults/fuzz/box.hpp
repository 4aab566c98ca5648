// Boxes of elements: rectangular parts of an array or view. Strides and offsets count words of 4 bytes.
#pragma once
#include <array>
#include <cstdint>

namespace fuzz {

constexpr uint32_t max_rank = 3;

struct Box {
    uint32_t rank = 0;
    std::array<int32_t, max_rank> extent{};
    std::array<uint64_t, max_rank> stride{};
    uint64_t offset = 0;
    // The number of words in each element.
    uint32_t element = 1;

    static Box packed(uint32_t rank, const int32_t *extent, uint32_t element, uint64_t offset = 0);
    Box section(const int32_t *origin, const int32_t *size) const;
    uint64_t elements() const;
    uint64_t words() const { return elements() * element; }
    // The index of the box's word k in the words of the whole data source.
    uint64_t at(uint64_t k) const;
    // One past the index of the last word.
    uint64_t end() const { return at(words() - 1) + 1; }
    bool is_packed() const { return end() - offset == words(); }
    bool same_shape(const Box &other) const;
};

// True if the boxes have a word in common.
bool overlap(const Box &a, const Box &b);
// True if the ranges from the first to the last word of each box overlap.
inline bool hulls_overlap(const Box &a, const Box &b) {
    return a.offset < b.end() && b.offset < a.end();
}

} // namespace fuzz
