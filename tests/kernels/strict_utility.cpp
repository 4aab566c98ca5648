// Launches nothing, but overloads on restriction, which the project's own compiler could not compile.
#include <amp.h>

namespace {
int side() restrict(amp) {
    return 1;
}
int side() restrict(cpu) {
    return 2;
}
} // namespace

int amp_side() restrict(amp);
int amp_side() restrict(amp) {
    return side();
}
int side_of_utility();
int side_of_utility() {
    return side();
}
