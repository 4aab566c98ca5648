// A library whose functions differ by restriction, found by -isystem.
#pragma once

namespace library {

inline int pick(const int &) restrict(amp) {
    return 1;
}
inline int pick(int &) {
    return 2;
}
struct tag {
    int go(int) const restrict(amp) noexcept { return 10; }
    int go(float) const noexcept { return 20; }
};

} // namespace library
