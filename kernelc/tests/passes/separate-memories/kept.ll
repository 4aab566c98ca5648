; A loop-carried address that may be in several memories (address spaces) becomes one address for each memory, and the number of its current memory.
@s = internal addrspace(3) global [4 x float] poison

; CHECK: @k(
; CHECK: loop:
; CHECK-NEXT: %p.memory1 = phi ptr addrspace(4) [ poison, %yes ], [ %far, %no ], [ %q.memory1, %loop.behind ]
; CHECK-NEXT: %p.memory2 = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ poison, %no ], [ %q.memory2, %loop.behind ]
; CHECK-NEXT: %p.memory = phi i32 [ 2, %yes ], [ 1, %no ], [ %p.memory, %loop.behind ]
; CHECK: br i1 {{...}}, label %loop.in1, label %loop.not1
; CHECK: loop.in1:
; CHECK-NEXT: %v.memory1 = load float, ptr addrspace(4) %p.memory1, align 4
; CHECK: loop.not1:
; CHECK-NEXT: %v.memory2 = load float, ptr addrspace(4) %p.memory2, align 4
; CHECK: loop.behind:
; CHECK-NEXT: phi float [ %v.memory1, %loop.in1 ], [ %v.memory2, %loop.not1 ]
; CHECK: %e.of1 = select i1 %e.is1, i1 %e.in1, i1 true
; CHECK: %e.apart = icmp ne i32 %e.number, %e.number{{...}}
; CHECK-NEXT: select i1 %e.apart, i1 false, i1 %e.of1
; CHECK: %last = phi float [ {{...}}, %loop.behind ]
; CHECK: store float %last, ptr addrspace(4) %p.memory2, align 4
define spir_kernel void @k(ptr addrspace(4) %view, i1 %c) {
entry:
  br i1 %c, label %yes, label %no

yes:
  br label %loop

no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %loop

loop:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ %far, %no ], [ %q, %loop ]
  %v = load float, ptr addrspace(4) %p, align 4
  %q = getelementptr inbounds float, ptr addrspace(4) %p, i64 1
  %e = icmp eq ptr addrspace(4) %q, %view
  br i1 %e, label %end, label %loop

end:
  %last = phi float [ %v, %loop ]
  store float %last, ptr addrspace(4) %p, align 4
  ret void
}

; Null has memory number 0.
; CHECK: @null(
; CHECK: %p.memory = phi i32 [ 2, %yes ], [ 0, %no ], [ %p.memory, %loop ]
; CHECK: %v = load float, ptr addrspace(4) %p.memory2, align 4
; CHECK: %e.apart = icmp ne i32 %p.memory, 0
; CHECK-NEXT: select i1 %e.apart, i1 false, i1 true
define spir_kernel void @null(ptr addrspace(4) %view, i1 %c) {
entry:
  br i1 %c, label %yes, label %no

yes:
  br label %loop

no:
  br label %loop

loop:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ null, %no ], [ %q, %loop ]
  %v = load float, ptr addrspace(4) %p, align 4
  %q = getelementptr inbounds float, ptr addrspace(4) %p, i64 1
  %e = icmp eq ptr addrspace(4) %q, null
  br i1 %e, label %end, label %loop

end:
  ret void
}

; A memcpy whose two addresses may be in several memories becomes a memcpy for each pair of memories. Assumptions about addresses are dropped.
declare void @llvm.memcpy.p4.p4.i64(ptr addrspace(4), ptr addrspace(4), i64, i1)
declare void @llvm.assume(i1)

; CHECK: @copied(
; CHECK-NOT: call void @llvm.assume
; CHECK: @llvm.memcpy.p4.p4.i64(ptr addrspace(4) %to.memory1, ptr addrspace(4) %from.memory1, i64 16, i1 false)
; CHECK: @llvm.memcpy.p4.p4.i64(ptr addrspace(4) %to.memory1, ptr addrspace(4) %from.memory4, i64 16, i1 false)
; CHECK: @llvm.memcpy.p4.p4.i64(ptr addrspace(4) %to.memory2, ptr addrspace(4) %from.memory1, i64 16, i1 false)
; CHECK: @llvm.memcpy.p4.p4.i64(ptr addrspace(4) %to.memory2, ptr addrspace(4) %from.memory4, i64 16, i1 false)
; CHECK: ret void
define spir_kernel void @copied(ptr addrspace(4) %view, i1 %c) {
entry:
  %t = alloca [4 x float], align 4
  %own = addrspacecast ptr %t to ptr addrspace(4)
  %from = select i1 %c, ptr addrspace(4) %own, ptr addrspace(4) %view
  %to = select i1 %c, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), ptr addrspace(4) %view
  call void @llvm.assume(i1 true) [ "align"(ptr addrspace(4) %to, i64 4) ]
  call void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) %to, ptr addrspace(4) %from, i64 16, i1 false)
  ret void
}

; An address that is either null or in device memory (%q) is not split. For a comparison, null has memory number 0.
; CHECK: @maybe(
; CHECK: %p.memory1 = select i1 %b, ptr addrspace(4) %q, ptr addrspace(4) poison
; CHECK: %v.memory1 = load float, ptr addrspace(4) %p.memory1, align 4
; CHECK: %e.in1 = icmp eq ptr addrspace(4) %p.memory1, %q
; CHECK: %e.null{{...}} = icmp eq ptr addrspace(4) %q, null
; CHECK: %e.apart = icmp ne i32 %e.number, %e.number{{...}}
; CHECK: ret void
define spir_kernel void @maybe(ptr addrspace(4) %view, i1 %a, i1 %b) {
  %q = select i1 %a, ptr addrspace(4) %view, ptr addrspace(4) null
  %p = select i1 %b, ptr addrspace(4) %q, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4))
  %v = load float, ptr addrspace(4) %p, align 4
  %e = icmp eq ptr addrspace(4) %p, %q
  store i1 %e, ptr addrspace(4) %view, align 1
  ret void
}
