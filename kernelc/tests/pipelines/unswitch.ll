; The loop can be unswitched on %c only after the first loop pipeline: `licm` hoists the work in block `a`, and then `simplifycfg` folds the
; branch to `a`. LLVM runs unswitching a second time only if `indvars` makes an exit condition invariant, which does not happen here.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

@llvm.used = appending addrspace(1) global [1 x ptr addrspace(4)] [ptr addrspace(4) @f], section "llvm.metadata"

define spir_kernel void @f(ptr addrspace(1) noalias %p, ptr addrspace(1) noalias readonly dereferenceable(64) align 4 %q, i32 %n, i32 %k) {
entry:
  %c = icmp eq i32 %k, 9
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %w = mul i32 %i, %i
  %v = and i32 %w, 5
  %vv = icmp eq i32 %v, 4
  br i1 %vv, label %a, label %m
a:
  %l = load i32, ptr addrspace(1) %q
  %q1 = getelementptr i32, ptr addrspace(1) %q, i32 3
  %l1 = load i32, ptr addrspace(1) %q1
  %q2 = getelementptr i32, ptr addrspace(1) %q, i32 5
  %l2 = load i32, ptr addrspace(1) %q2
  %x1 = mul i32 %l, %l1
  %x2 = udiv i32 %x1, 7
  %x3 = mul i32 %x2, %l2
  %x4 = xor i32 %x3, %k
  %x5 = mul i32 %x4, %x1
  br label %m
m:
  %t = phi i32 [ 0, %loop ], [ %x5, %a ]
  br i1 %c, label %out, label %latch
latch:
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %t, ptr addrspace(1) %at
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
