// Launches nothing, and overloads on restriction: the project's own compiler could not take it.
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
