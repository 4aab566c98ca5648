// Compiled by the C++ compiler alone: host threads run a coroutine for each thread that waits.
#define TILES coroutines
#include "tile_kernels.h"
