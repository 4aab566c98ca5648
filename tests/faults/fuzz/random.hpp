// A random number generator with the same sequence on all systems.
#pragma once
#include <cstdint>

namespace fuzz {

class Random {
  public:
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15U + 1) {
        for (int i = 0; i < 4; i++)
            next();
    }

    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    // Returns a number from 0 to n - 1, or 0 if n is 0.
    uint32_t below(uint64_t n) { return n ? static_cast<uint32_t>(next() % n) : 0; }
    int32_t from_to(int32_t lower, int32_t upper) {
        return lower + static_cast<int32_t>(below(static_cast<uint32_t>(upper - lower + 1)));
    }
    bool one_in(uint32_t n) { return below(n) == 0; }

  private:
    uint64_t state;
};

} // namespace fuzz
