// Launches of C++ AMP lambdas: as functions on host threads, and as compiled kernels on Vulkan devices.
#pragma once
#include <amp.h>

using ints = concurrency::array_view<int, 1>;
using const_ints = concurrency::array_view<const int, 1>;

// The value of `rounds` determines how long the kernel takes.
void launch_one(const concurrency::accelerator_view &where, const ints &sum, int rounds);
void launch_four(const concurrency::accelerator_view &where, const const_ints &a, const const_ints &b,
                 const const_ints &c, const ints &sum);
