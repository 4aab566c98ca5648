; Declarations of an intrinsic for different address spaces become one declaration, whatever their order.
; CHECK: declare void @llvm.memset.p0.i64(
; CHECK: @filled(
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 8, i1 false)
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr %b, i8 0, i64 8, i1 false)
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

declare void @llvm.memset.p4.i64(ptr addrspace(4), i8, i64, i1) addrspace(4)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1) addrspace(4)
declare void @llvm.assume(i1) addrspace(4)

define void @filled(ptr addrspace(4) %a, ptr %b) addrspace(4) {
  call addrspace(4) void @llvm.memset.p4.i64(ptr addrspace(4) %a, i8 0, i64 8, i1 false)
  call addrspace(4) void @llvm.memset.p0.i64(ptr %b, i8 0, i64 8, i1 false)
  ret void
}

; An assumption about an address is dropped; an assumed condition stays.
; CHECK: @told(
; CHECK-NEXT: call void @llvm.assume(i1 %c)
; CHECK-NEXT: store i32 1, ptr %a, align 4
define void @told(ptr addrspace(4) %a, i1 %c) addrspace(4) {
  call addrspace(4) void @llvm.assume(i1 true) [ "align"(ptr addrspace(4) %a, i64 16) ]
  call addrspace(4) void @llvm.assume(i1 %c)
  store i32 1, ptr addrspace(4) %a, align 4
  ret void
}
