// Part of the test strict.cpp. It launches no kernel, but overloads by restriction, so only revamp-c++ can compile it.
#include <amp.h>

namespace {
int overloaded() restrict(amp) {
    return 1;
}
int overloaded() restrict(cpu) {
    return 2;
}
} // namespace

int call_amp_overload() restrict(amp);
int call_amp_overload() restrict(amp) {
    return overloaded();
}
int utility_result();
int utility_result() {
    return overloaded();
}
