// C++ AMP: arrays, array_views and parallel_for_each, over librevamp.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_AMP_H
#define REVAMP_AMP_H

// The original <amp.h> includes these headers, and programs rely on that.
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "amprt.h"
#include "revamp/detail/array.h"
#include "revamp/detail/atomics.h"
#include "revamp/detail/copy.h"
#include "revamp/detail/device_std.h"
#include "revamp/detail/intrinsics.h"
#include "revamp/detail/launch.h"
#include "revamp/detail/output.h"
#include "revamp/detail/restrict.h"
#include "revamp/detail/shapes.h"
#include "revamp/detail/view.h"

#if !defined(tile_static)
#if (REVAMP_DEVICE_PASS && !REVAMP_DEVICE_ON_HOST) || !(REVAMP_DEVICE_PASS || REVAMP_HOST_RUNS_KERNELS)
#define tile_static static __attribute__((shared))
#else
// An OS thread runs one tile at a time, with the threads of the tile as coroutines, so thread_local gives one variable
// per tile. A macro can only begin a declaration, so tile_static has the limits of thread_local:
// - On host threads, a tile_static variable's class must have a default constructor, which may do nothing. The
//   constructor runs once per OS thread, not once per tile.
// - Each variable takes its size from the stack of every thread of the program, whether the thread runs kernels or not,
//   and is cleared when the thread begins. C++ has no other storage duration with one variable per tile;
//   docs/porting.md describes the cost.
#define tile_static static thread_local
#endif
#endif

#endif // REVAMP_AMP_H
