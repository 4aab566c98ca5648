// A source without launches: it has only functions that the host calls.
#include "stdafx.h"

#include "filters.h"

float tent(float distance) restrict(cpu) {
    return distance < 1 ? 1 - distance : 0;
}
