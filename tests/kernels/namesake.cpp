// Source of the libraries that namesakes.cpp loads: runs the kernels of namesake.hpp.
#include "namesake.hpp"

extern "C" __attribute__((visibility("default"))) int run_namesakes(const concurrency::accelerator_view *where) {
    return wrong_results(*where);
}
