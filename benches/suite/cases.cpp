// Lists the cases of all families of the kernel suite. The build compiles this file twice: for precise_math, and for
// fast_math. The file has no kernels.
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
    std::vector<Case> cases;
    for (const auto family : {dense, graphs, images, memory, numbers, order, physics, stencils, tables})
        family(cases);
    return cases;
}
} // namespace SUITE_FAMILY
