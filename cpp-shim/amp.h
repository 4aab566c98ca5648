// C++ AMP: arrays, array_views and parallel_for_each, over librevamp.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_AMP_H
#define REVAMP_AMP_H

// Programs rely on the original header for these.
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "amprt.h"
#include "revamp/detail/array.h"
#include "revamp/detail/atomics.h"
#include "revamp/detail/copy.h"
#include "revamp/detail/launch.h"
#include "revamp/detail/shapes.h"
#include "revamp/detail/view.h"

// One for each tile: a tile runs on one thread of the machine, its threads being coroutines there.
#if !REVAMP_DEVICE_PASS && !defined(tile_static)
#define tile_static static thread_local
#endif

#endif // REVAMP_AMP_H
