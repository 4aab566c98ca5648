// Compiled by the kernel compiler: host threads run the kernels' native code.
#define TILES native
#include "tile_kernels.h"
