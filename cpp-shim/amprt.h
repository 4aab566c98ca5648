// C++ AMP: accelerators, accelerator_views, completion_future and exceptions.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_AMPRT_H
#define REVAMP_AMPRT_H

#include "revamp/detail/completion.h"
#include "revamp/detail/config.h"
#include "revamp/detail/direct3d.h"
#include "revamp/detail/exceptions.h"
#include "revamp/detail/msvc_words.h"
#include "revamp/detail/restrict.h"

#endif // REVAMP_AMPRT_H
