; A kernel's loop that has `#pragma clang loop vectorize(enable) vectorize_width(4)`.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

@llvm.used = appending addrspace(1) global [1 x ptr addrspace(4)] [ptr addrspace(4) @f], section "llvm.metadata"

define spir_kernel void @f(ptr addrspace(1) noalias %p, ptr addrspace(1) noalias %q, i32 %n) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %out
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %ix = zext i32 %i to i64
  %from = getelementptr float, ptr addrspace(1) %q, i64 %ix
  %value = load float, ptr addrspace(1) %from
  %double = fmul float %value, 2.0
  %to = getelementptr float, ptr addrspace(1) %p, i64 %ix
  store float %double, ptr addrspace(1) %to
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %out, !llvm.loop !0
out:
  ret void
}

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.vectorize.enable", i1 true}
!2 = !{!"llvm.loop.vectorize.width", i32 4}
