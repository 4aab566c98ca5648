// The precompiled header of all sources of this program.
#pragma once
#if defined(_WIN32)
#include <windows.h>
#endif

#include <amp.h>
#include <amp_math.h>

#include <cstdio>
#include <vector>

#include "portable.h"
