// revamp: the contract between these headers and the kernel compiler.
//
// The kernel compiler replaces calls of the functions below by instructions. It knows them by name: the table in
// kernelc/src/device_abi.rs has a row for each, and a test of that file compares names and attributes. One other header
// has functions whose names begin with __revamp_: device_on_host.h, which defines them for code on host threads.
// Attributes tell LLVM's passes what they may do with a call:
//
// - const: the result depends on the arguments and on which thread calls. The call may be removed, moved or repeated.
// - convergent: the call is not moved into or out of a condition.
// - noconvergent: the call may be moved so, which HIP forbids otherwise.
// - noreturn: the thread ends.
// - always_inline: on devices the function is what its body says; code for the host's processor gets another body
//   (kernelc/src/passes/host_functions.rs).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_DEVICE_ABI_H
#define REVAMP_DETAIL_DEVICE_ABI_H

#include "config.h"

#include <cstddef>

#if REVAMP_DEVICE_LANGUAGE
// The entry point of a kernel. Clang gives a `global` function the calling convention spir_kernel, by which the kernel
// compiler knows kernels. `used`: nobody calls it in the device pass.
#if REVAMP_DEVICE_ON_HOST
// That convention is not the host processor's.
#define REVAMP_KERNEL [[omp::assume("revamp-kernel")]] __attribute__((global, used))
#else
#define REVAMP_KERNEL __attribute__((global, used))
#endif
#endif

// The kernel compiler knows these classes by their mangled names in type-based alias information (TBAA): kernels do not
// change their members, so that loads of these are invariant.
REVAMP_DETAIL_BEGIN
template <class T, int N> class array_header;
template <class T, int N> class basic_view;
REVAMP_DETAIL_END

#if REVAMP_DEVICE_ON_HOST
#include "device_on_host.h"
#elif REVAMP_DEVICE_PASS

#if __has_attribute(noconvergent)
#define REVAMP_ABI_NUMBER __attribute__((device, const, noconvergent))
#else
#define REVAMP_ABI_NUMBER __attribute__((device, const))
#endif

// The position of the thread in the domain, in its tile, and of its tile. Dimensions are Vulkan's: 0 is x, C++ AMP's
// last one. Built-in variables GlobalInvocationId, LocalInvocationId and WorkgroupId (docs/spec/shapes.md).
extern "C" __attribute__((device, const)) unsigned __revamp_global_id(unsigned dimension);
extern "C" __attribute__((device, const)) unsigned __revamp_local_id(unsigned dimension);
extern "C" __attribute__((device, const)) unsigned __revamp_group_id(unsigned dimension);

// The size of the workgroup: that of the tile (PFE-6), or the compiler's choice for a domain of `rank` dimensions. An
// entry point calls one of the two. Execution mode LocalSize.
extern "C" __attribute__((device)) void __revamp_workgroup_size(unsigned x, unsigned y, unsigned z);
extern "C" __attribute__((device)) void __revamp_workgroup_auto(unsigned rank);

// tile_barrier::wait... and the memory fences (docs/spec/launches.md#tiles): OpControlBarrier, OpMemoryBarrier.
// `memory` is a constant: 1 orders global memory, 2 tile_static memory, 3 both.
extern "C" __attribute__((device, convergent)) void __revamp_tile_barrier(unsigned memory);
extern "C" __attribute__((device)) void __revamp_memory_fence(unsigned memory);

// direct3d_printf and direct3d_errorf (docs/spec/launches.md#debug-intrinsics): DebugPrintf of
// NonSemantic.DebugPrintf. An argument is as wide as it is passed here.
template <class... Arguments> __attribute__((device)) void __revamp_printf(const char *format, Arguments... arguments);
template <class... Arguments> __attribute__((device)) void __revamp_errorf(const char *format, Arguments... arguments);
// The end of the thread, after direct3d_errorf, direct3d_abort and a failed assert(): the kernel returns.
extern "C" __attribute__((device, noreturn)) void __revamp_end_thread();

// Gives `element` back. With -famp-bounds=report the report of an access names the index and the extent (decision 31).
extern "C" __attribute__((device, const)) void *__revamp_element(void *element, unsigned size, unsigned rank, int i0,
                                                                 int i1, int i2, int e0, int e1, int e2);

// Reading textures as images (decision 34). The kernel compiler makes two forms of each kernel; in one of them
// __revamp_with_images is 1 and the other calls are OpImageFetch, OpImageSampleExplicitLod and OpImageGather. `texels`
// is the address that was captured, which tells the texture. The result has four components; y and z count up to the
// rank.
REVAMP_DETAIL_BEGIN
typedef float image_floats __attribute__((ext_vector_type(4)));
typedef int image_ints __attribute__((ext_vector_type(4)));
REVAMP_DETAIL_END
// Older Clangs only check this header.
#if __has_attribute(noconvergent)
#define REVAMP_ABI_IMAGE __attribute__((device, const, nothrow, noconvergent))
#else
#define REVAMP_ABI_IMAGE __attribute__((device, const, nothrow))
#endif
extern "C" REVAMP_ABI_IMAGE int __revamp_with_images();
extern "C" REVAMP_ABI_IMAGE revamp::detail::image_floats __revamp_image_fetch_f(const void *texels, int rank, int x,
                                                                                int y, int z, int level);
extern "C" REVAMP_ABI_IMAGE revamp::detail::image_ints __revamp_image_fetch_i(const void *texels, int rank, int x,
                                                                              int y, int z, int level);
extern "C" REVAMP_ABI_IMAGE revamp::detail::image_ints __revamp_image_fetch_u(const void *texels, int rank, int x,
                                                                              int y, int z, int level);
extern "C" REVAMP_ABI_IMAGE revamp::detail::image_floats __revamp_image_sample(const void *texels, int rank,
                                                                               unsigned filter, unsigned address,
                                                                               float x, float y, float z, float level);
extern "C" REVAMP_ABI_IMAGE revamp::detail::image_floats __revamp_image_gather(const void *texels, int component,
                                                                               unsigned filter, unsigned address,
                                                                               float x, float y, float z, float level);
#undef REVAMP_ABI_IMAGE

// What the device's arithmetic is beyond what Vulkan promises (`OfDevice` in image/src/kernels.rs): a specialisation
// constant. The library sets it when it creates the pipeline.
extern "C" REVAMP_ABI_NUMBER bool __revamp_of_device(int what);

// The device's quotient, up to 2.5 ulp off: OpFDiv. `/` is rounded correctly (docs/spec/maths.md).
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_quotient_f32(float x, float y);
// fast_math (docs/spec/maths.md#fast_math): instructions of GLSL.std.450.
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_acos_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_asin_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_atan2_f32(float y, float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_atan_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_cos_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_cosh_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_exp2_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_exp_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_ldexp_f32(float x, int exponent);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_log2_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_log_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_pow_f32(float x, float y);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_rsqrt_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_sin_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_sinh_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_tan_f32(float x);
#undef REVAMP_ABI_NUMBER

// Whether this is code for the host's processor.
extern "C" __attribute__((device, always_inline, nodebug)) inline bool __revamp_for_host() {
    return false;
}
// Whether the thread is within the domain (PFE-2). On the host's processor no other thread begins.
extern "C" __attribute__((device, always_inline, nodebug)) inline bool __revamp_within(bool within) {
    return within;
}
// A functor that the call may change. On the host's processor it is copied to `room`, since each thread has one of its
// own (docs/spec/launches.md#captures).
extern "C" __attribute__((device, always_inline, nodebug)) inline void *__revamp_own(void *kernel, void *,
                                                                                     std::size_t) {
    return kernel;
}
// Host threads run the function itself, which checks bounds (decision 31): there is no code for the host's processor.
extern "C" __attribute__((device, always_inline, nodebug)) inline void __revamp_host_checks() {}

#endif

#endif
