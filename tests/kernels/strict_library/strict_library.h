// A library with overloads that differ by restriction, for strict.cpp. The compiler finds this header through -isystem.
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
