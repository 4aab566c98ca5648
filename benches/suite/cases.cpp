// The table of cases, compiled once for precise_math and once for fast_math. It launches nothing itself.
#include "suite.h"

#ifdef SUITE_FAST
#define SUITE_FAMILY suite_fast
#else
#define SUITE_FAMILY suite_plain
#endif

using suite::Case;

namespace SUITE_FAMILY {
void dense(std::vector<Case> &);
void graphs(std::vector<Case> &);
void images(std::vector<Case> &);
void memory(std::vector<Case> &);
void numbers(std::vector<Case> &);
void order(std::vector<Case> &);
void physics(std::vector<Case> &);
void stencils(std::vector<Case> &);
void tables(std::vector<Case> &);

std::vector<Case> all() {
    std::vector<Case> found;
    for (const auto family : {dense, graphs, images, memory, numbers, order, physics, stencils, tables})
        family(found);
    return found;
}
} // namespace SUITE_FAMILY
