// The tiled kernels, compiled by the kernel compiler: host threads run their native code.
#define TILES native
#include "tile_kernels.h"
