// The model of memory: for each word of 4 bytes, the values that it may hold. These are one known value, two values
// (after the failure of a call that would have written the word), or any value.
#pragma once
#include <cstdint>
#include <vector>

namespace fuzz {

struct Word {
    enum State : uint8_t { ANYTHING, KNOWN, EITHER };
    uint32_t value = 0, other = 0;
    State state = ANYTHING;

    static Word of(uint32_t value) { return {value, value, KNOWN}; }

    bool allows(uint32_t got) const { return state == ANYTHING || got == value || (state == EITHER && got == other); }

    // A word that may hold every value that `*this` or `that` may hold.
    Word or_(const Word &that) const {
        if (state == ANYTHING || that.state == ANYTHING) return {};
        uint32_t values[] = {value, other, that.value, that.other};
        Word both = of(value);
        for (uint32_t v : values) {
            if (both.allows(v)) continue;
            if (both.state == EITHER) return {};
            both.other = v;
            both.state = EITHER;
        }
        return both;
    }

    // The word after a kernel has replaced its value x by 3 x + y.
    Word step(const Word &y) const {
        if (state == ANYTHING || y.state == ANYTHING) return {};
        Word first = of(3 * value + y.value),
             rest[] = {of(3 * other + y.value), of(3 * value + y.other), of(3 * other + y.other)};
        for (const Word &w : rest)
            first = first.or_(w);
        return first;
    }
};

using Words = std::vector<Word>;

} // namespace fuzz
