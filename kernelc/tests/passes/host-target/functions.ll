; Functions of the C++ headers whose device code does not suit the host get host definitions.
target datalayout = "e-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

; CHECK: define internal float @_ZN11Concurrency5abi_112precise_math3sinEf(float %0)
; CHECK-NEXT: call float @llvm.sin.f32(float %0)
declare spir_func float @_ZN11Concurrency5abi_112precise_math3sinEf(float) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_112precise_math4sinfEf(
; CHECK-NEXT: call float @llvm.sin.f32(float %0)
declare spir_func float @_ZN11Concurrency5abi_112precise_math4sinfEf(float) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_112precise_math3erfEd(
; CHECK-NEXT: call double @erf(double %0)
declare spir_func double @_ZN11Concurrency5abi_112precise_math3erfEd(double) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_112precise_math4erffEf(
; CHECK-NEXT: call float @erff(float %0)
declare spir_func float @_ZN11Concurrency5abi_112precise_math4erffEf(float) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_112precise_math5hypotEdd(
; CHECK-NEXT: call double @hypot(double %0, double %1)
declare spir_func double @_ZN11Concurrency5abi_112precise_math5hypotEdd(double, double) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_112precise_math8copysignEdd(
; CHECK-NEXT: call double @llvm.copysign.f64(double %0, double %1)
declare spir_func double @_ZN11Concurrency5abi_112precise_math8copysignEdd(double, double) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_19fast_math4fminEff(
; CHECK-NEXT: call float @llvm.minnum.f32(float %0, float %1)
declare spir_func float @_ZN11Concurrency5abi_19fast_math4fminEff(float, float) addrspace(4)
; If the device's function uses fast-math flags, the host's definition uses them too.
; CHECK: @_ZN11Concurrency5abi_19fast_math5fmodfEff(
; CHECK-NEXT: frem fast float %x, %y
define linkonce_odr hidden spir_func float @_ZN11Concurrency5abi_19fast_math5fmodfEff(float %x, float %y) addrspace(4) {
  %r = call fast addrspace(4) float @llvm.fabs.f32(float %x)
  ret float %r
}
declare float @llvm.fabs.f32(float) addrspace(4)
; CHECK: @__revamp_fast_pow_f32(
; CHECK-NEXT: call float @llvm.pow.f32(float %0, float %1)
declare spir_func float @__revamp_fast_pow_f32(float, float) addrspace(4)
; CHECK: @__revamp_fast_rsqrt_f32(
; CHECK-NEXT: call float @llvm.sqrt.f32(float %0)
; CHECK-NEXT: fdiv float 1.000000e+00, %2
declare spir_func float @__revamp_fast_rsqrt_f32(float) addrspace(4)
; CHECK: @__revamp_own(
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr %1, ptr %0, i64 %2, i1 false)
; CHECK-NEXT: ret ptr %1
declare spir_func ptr addrspace(4) @__revamp_own(ptr addrspace(4), ptr addrspace(4), i64) addrspace(4)
; CHECK: @_ZN11Concurrency5abi_114direct3d_abortEv(
; CHECK-NEXT: call ptr @revamp_native_text()
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr %1, ptr @__revamp_aborted, i64 52, i1 false)
; CHECK-NEXT: call void @__revamp_end_thread()
; CHECK-NEXT: unreachable
declare spir_func void @_ZN11Concurrency5abi_114direct3d_abortEv() addrspace(4)
; CHECK: @_Z15__revamp_printfIJfiPKcEEvS1_DpT_(
; CHECK-NEXT: fpext float %1 to double
; CHECK-NEXT: call i32 (ptr, ...) @printf(ptr %0, double %5, i32 %2, ptr %3)
; CHECK-NEXT: ret void
declare spir_func void @_Z15__revamp_printfIJfiPKcEEvS1_DpT_(ptr addrspace(4) noundef, float noundef, i32 noundef, ptr addrspace(4) noundef) addrspace(4)
; CHECK: @_Z15__revamp_errorfIJdEEvPKcDpT_(
; CHECK-NEXT: call ptr @revamp_native_text()
; CHECK-NEXT: store i8 69, ptr
; CHECK-NEXT: getelementptr i8, ptr
; CHECK-NEXT: @snprintf(ptr {{...}}, i64 4095, ptr %0, double %1)
declare spir_func void @_Z15__revamp_errorfIJdEEvPKcDpT_(ptr addrspace(4) noundef, double noundef) addrspace(4)

; These functions get no host definition.
; CHECK: declare float @_ZN11Concurrency5abi_112precise_math6erfinvEf(float)
declare spir_func float @_ZN11Concurrency5abi_112precise_math6erfinvEf(float) addrspace(4)
; CHECK: declare float @_ZN11Concurrency5abi_19fast_math3erfEf(float)
declare spir_func float @_ZN11Concurrency5abi_19fast_math3erfEf(float) addrspace(4)
; CHECK: declare float @_ZN11Concurrency5abi_112precise_math3sinEff(float, float)
declare spir_func float @_ZN11Concurrency5abi_112precise_math3sinEff(float, float) addrspace(4)
; CHECK: declare float @_ZN11Concurrency5abi_16other_3sinEf(float)
declare spir_func float @_ZN11Concurrency5abi_16other_3sinEf(float) addrspace(4)
; CHECK: declare float @_ZN11Concurrency999999999999999999999sinEf(float)
declare spir_func float @_ZN11Concurrency999999999999999999999sinEf(float) addrspace(4)
; CHECK: declare void @__revamp_tile_barrier(i32)
declare spir_func void @__revamp_tile_barrier(i32) addrspace(4)
