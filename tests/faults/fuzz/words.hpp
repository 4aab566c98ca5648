// The flat-memory model: what each word may hold. A word is known, one of two values (a call that would have written it
// failed), or anything.
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

    // This or that.
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

    // 3 x + y.
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
