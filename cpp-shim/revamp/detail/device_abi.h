// revamp: the contract between these headers and the kernel compiler.
//
// The kernel compiler replaces calls of the functions below by instructions. It knows them by name: the table in
// kernelc/src/device_abi.rs has a row for each, and a test of that file compares names and attributes. One other header
// has functions whose names begin with __revamp_: device_on_host.h, which defines them for code on host threads.
// Attributes tell LLVM's passes what they may do with a call:
//
// - const: the result depends on the arguments and on which thread calls. The call may be removed, moved or repeated.
// - convergent: the call is not moved into or out of a condition.
// - noconvergent: the call may be moved into or out of a condition. Without the attribute HIP forbids this.
// - noreturn: the thread ends.
// - always_inline: devices use the body in this header; native code for the host gets another body
//   (kernelc/src/passes/host_functions.rs).
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_DETAIL_DEVICE_ABI_H
#define REVAMP_DETAIL_DEVICE_ABI_H

#include "config.h"

#include <cstddef>

#if REVAMP_DEVICE_LANGUAGE
// The entry point of a kernel. Clang gives a `global` function the calling convention spir_kernel, by which the kernel
// compiler recognises kernels. `used`: the device pass contains no call of the entry point.
#if REVAMP_DEVICE_ON_HOST
// Code for the host has no spir_kernel convention, so an assumption marks the kernel.
#define REVAMP_KERNEL [[omp::assume("revamp-kernel")]] __attribute__((global, used))
#else
#define REVAMP_KERNEL __attribute__((global, used))
#endif
#endif

// The kernel compiler recognises these classes by their mangled names in type-based alias information (TBAA). Kernels
// do not change their members, so loads of the members are invariant.
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

// Positions (docs/spec/shapes.md). Dimension 0 is Vulkan's x, which is C++ AMP's last dimension. `global` is the
// position of the thread in the domain (built-in variable GlobalInvocationId), `local` the position of the thread in
// its tile (LocalInvocationId), and `group` the position of the tile (WorkgroupId).
extern "C" __attribute__((device, const)) unsigned __revamp_global_id(unsigned dimension);
extern "C" __attribute__((device, const)) unsigned __revamp_local_id(unsigned dimension);
extern "C" __attribute__((device, const)) unsigned __revamp_group_id(unsigned dimension);

// The size of the workgroup (execution mode LocalSize). Tiled entry points call the first function with the size of the
// tile (PFE-6). Untiled entry points call the second: the compiler chooses the size for a domain of `rank` dimensions.
extern "C" __attribute__((device)) void __revamp_workgroup_size(unsigned x, unsigned y, unsigned z);
extern "C" __attribute__((device)) void __revamp_workgroup_auto(unsigned rank);

// tile_barrier::wait... becomes OpControlBarrier, a memory fence OpMemoryBarrier (docs/spec/launches.md#tiles).
// `memory` is a constant: 1 orders global memory, 2 tile_static memory, 3 both.
extern "C" __attribute__((device, convergent)) void __revamp_tile_barrier(unsigned memory);
extern "C" __attribute__((device)) void __revamp_memory_fence(unsigned memory);

// direct3d_printf and direct3d_errorf (docs/spec/launches.md#debug-intrinsics) become DebugPrintf of
// NonSemantic.DebugPrintf. Each argument keeps the width of its type.
template <class... Arguments> __attribute__((device)) void __revamp_printf(const char *format, Arguments... arguments);
template <class... Arguments> __attribute__((device)) void __revamp_errorf(const char *format, Arguments... arguments);
// Ends the thread after direct3d_errorf, direct3d_abort or a failed assert(): the kernel returns.
extern "C" __attribute__((device, noreturn)) void __revamp_end_thread();

// Returns `element`. With -famp-bounds=report, the report of an access names the index and the extent (decision 31).
extern "C" __attribute__((device, const)) void *__revamp_element(void *element, unsigned size, unsigned rank, int i0,
                                                                 int i1, int i2, int e0, int e1, int e2);

// Reading textures as images (decision 34). The kernel compiler makes two forms of each kernel. In the form with
// images, __revamp_with_images returns 1, and the other functions become OpImageFetch, OpImageSampleExplicitLod or
// OpImageGather. `texels` is the captured address, which identifies the texture. The result has four components.
// Only the first `rank` of the coordinates x, y and z are used.
REVAMP_DETAIL_BEGIN
typedef float image_floats __attribute__((ext_vector_type(4)));
typedef int image_ints __attribute__((ext_vector_type(4)));
REVAMP_DETAIL_END
// Older Clangs only check the syntax of this header.
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

// True if the device's arithmetic has a property that Vulkan does not promise (`what`: `DeviceProperty` in
// image/src/kernels.rs). The value is a specialisation constant, which the library sets when it creates the pipeline.
extern "C" REVAMP_ABI_NUMBER bool __revamp_of_device(int what);

// The device's division (OpFDiv), with an error of up to 2.5 ulp. The operator `/` rounds correctly
// (docs/spec/maths.md).
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
extern "C" REVAMP_ABI_NUMBER double __revamp_fast_rsqrt_f64(double x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_sin_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_sinh_f32(float x);
extern "C" REVAMP_ABI_NUMBER float __revamp_fast_tan_f32(float x);
#undef REVAMP_ABI_NUMBER

// True in native code for the host.
extern "C" __attribute__((device, always_inline, nodebug)) inline bool __revamp_for_host() {
    return false;
}
// True if the thread is within the domain (PFE-2). Native kernels start only threads within the domain.
extern "C" __attribute__((device, always_inline, nodebug)) inline bool __revamp_within(bool within) {
    return within;
}
// Returns a functor that the calling thread may modify. Native kernels copy the functor to the second argument, because
// each thread has its own copy (docs/spec/launches.md#captures).
extern "C" __attribute__((device, always_inline, nodebug)) inline void *__revamp_own(void *kernel, void *,
                                                                                     std::size_t) {
    return kernel;
}
// Marks a kernel without native code: host threads run the functor itself, which checks bounds (decision 31).
extern "C" __attribute__((device, always_inline, nodebug)) inline void __revamp_host_checks() {}

#endif

#endif
