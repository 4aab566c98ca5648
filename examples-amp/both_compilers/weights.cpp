// Only functions that kernels of other sources may inline or the host calls: no launch.
#include "stdafx.h"

#include "filters.h"

float tent(float distance) restrict(cpu) {
    return distance < 1 ? 1 - distance : 0;
}
