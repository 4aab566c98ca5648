#include "box.hpp"

#include <vector>

namespace fuzz {

Box Box::packed(uint32_t rank, const int32_t *extent, uint32_t element, uint64_t offset) {
    Box b;
    uint64_t stride = element;
    b.rank = rank;
    b.element = element;
    b.offset = offset;
    for (uint32_t d = rank; d-- > 0; stride *= static_cast<uint64_t>(extent[d])) {
        b.extent[d] = extent[d];
        b.stride[d] = stride;
    }
    return b;
}

Box Box::section(const int32_t *origin, const int32_t *size) const {
    Box s = *this;
    for (uint32_t d = 0; d < rank; d++) {
        s.offset += static_cast<uint64_t>(origin[d]) * stride[d];
        s.extent[d] = size[d];
    }
    return s;
}

uint64_t Box::elements() const {
    uint64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= static_cast<uint64_t>(extent[d]);
    return n;
}

uint64_t Box::at(uint64_t k) const {
    uint64_t at = offset + k % element;
    k /= element;
    for (uint32_t d = rank; d-- > 0; k /= static_cast<uint64_t>(extent[d]))
        at += k % static_cast<uint64_t>(extent[d]) * stride[d];
    return at;
}

bool Box::same_shape(const Box &other) const {
    return rank == other.rank && element == other.element && extent == other.extent;
}

bool overlap(const Box &a, const Box &b) {
    if (!hulls_overlap(a, b)) return false;
    uint64_t first = a.offset;
    std::vector<bool> marked(a.end() - first);
    for (uint64_t k = a.words(); k-- > 0;)
        marked[a.at(k) - first] = true;
    for (uint64_t k = b.words(); k-- > 0;) {
        uint64_t w = b.at(k);
        if (w >= first && w - first < marked.size() && marked[w - first]) return true;
    }
    return false;
}

} // namespace fuzz
