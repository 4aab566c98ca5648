// The tiled kernels, compiled by the C++ compiler alone: a kernel thread that waits is a coroutine on a host thread.
#define TILES coroutines
#include "tile_kernels.h"
