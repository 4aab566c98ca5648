; Phis of addresses that phi-loads must not replace.
@s = addrspace(3) global [8 x float] undef

; The function also stores through the phi.
define spir_kernel void @written(ptr addrspace(4) %view, i1 %c) {
; CHECK: @written(
; CHECK: %p = phi ptr addrspace(4)
; CHECK: ret void
entry:
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @s, i64 0, i64 1) to ptr addrspace(4)), %yes ], [ %far, %no ]
  %q = getelementptr i8, ptr addrspace(4) %p, i64 4
  %v = load float, ptr addrspace(4) %p, align 4
  %w = load float, ptr addrspace(4) %q, align 4
  %sum = fadd float %v, %w
  store float %sum, ptr addrspace(4) %p, align 4
  ret void
}

; A store precedes the loads.
define spir_kernel void @before(ptr addrspace(4) %view, i1 %c) {
; CHECK: @before(
; CHECK: %p = phi ptr addrspace(4)
; CHECK: ret void
entry:
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @s, i64 0, i64 1) to ptr addrspace(4)), %yes ], [ %far, %no ]
  store float 0.0, ptr addrspace(4) %view
  %q = getelementptr i8, ptr addrspace(4) %p, i64 4
  %v = load float, ptr addrspace(4) %p, align 4
  %w = load float, ptr addrspace(4) %q, align 4
  %sum = fadd float %v, %w
  store float %sum, ptr addrspace(4) %view, align 4
  ret void
}

; A predecessor of the phi's block has another successor.
define spir_kernel void @paths(ptr addrspace(4) %view, i1 %c) {
; CHECK: @paths(
; CHECK: %p = phi ptr addrspace(4)
; CHECK: ret void
entry:
  br i1 %c, label %yes, label %no
yes:
  br i1 %c, label %end, label %no
no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @s, i64 0, i64 1) to ptr addrspace(4)), %yes ], [ %far, %no ]
  %q = getelementptr i8, ptr addrspace(4) %p, i64 4
  %v = load float, ptr addrspace(4) %p, align 4
  %w = load float, ptr addrspace(4) %q, align 4
  %sum = fadd float %v, %w
  store float %sum, ptr addrspace(4) %view, align 4
  ret void
}

; If the memcpy moved to the incoming blocks, it would precede the lifetime of its destination.
define spir_kernel void @lifetime(ptr addrspace(4) %view, i1 %c, i64 %i) {
; CHECK: @lifetime(
; CHECK: %p = phi ptr addrspace(4)
; CHECK-NEXT: call void @llvm.lifetime.start
; CHECK-NEXT: call void @llvm.memcpy
entry:
  %to = alloca [4 x float]
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ %view, %no ]
  call void @llvm.lifetime.start.p0(ptr %to)
  call void @llvm.memcpy.p0.p4.i64(ptr %to, ptr addrspace(4) %p, i64 16, i1 false)
  %e = getelementptr float, ptr %to, i64 %i
  %v = load float, ptr %e, align 4
  store float %v, ptr addrspace(4) %view, align 4
  ret void
}

; If the memcpy moved to the incoming blocks, it would precede a read of its destination.
define spir_kernel void @replaced(ptr addrspace(4) %view, i1 %c) {
; CHECK: @replaced(
; CHECK: %p = phi ptr addrspace(4)
; CHECK-NEXT: %old = load float, ptr %to
; CHECK-NEXT: call void @llvm.memcpy
entry:
  %to = alloca [4 x float]
  store float 1.0, ptr %to
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), %yes ], [ %view, %no ]
  %old = load float, ptr %to, align 4
  call void @llvm.memcpy.p0.p4.i64(ptr %to, ptr addrspace(4) %p, i64 16, i1 false)
  store float %old, ptr addrspace(4) %view, align 4
  ret void
}

; The phi is loop-carried: its next value, %next, is computed from %p.
define spir_kernel void @walks(ptr addrspace(4) %view, i1 %c) {
; CHECK: @walks(
; CHECK: %p = phi ptr addrspace(4)
; CHECK: ret void
entry:
  %start = select i1 %c, ptr addrspace(4) %view, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4))
  br label %loop
loop:
  %p = phi ptr addrspace(4) [ %start, %entry ], [ %next, %again ]
  %n = phi i32 [ 9, %entry ], [ %less, %again ]
  %sum = phi float [ 0.0, %entry ], [ %more, %again ]
  %v = load float, ptr addrspace(4) %p, align 4
  %next = getelementptr float, ptr addrspace(4) %p, i64 1
  %more = fadd float %sum, %v
  %less = add i32 %n, -1
  %ends = icmp eq i32 %less, 0
  br i1 %ends, label %done, label %again
again:
  br label %loop
done:
  store float %more, ptr addrspace(4) %view, align 4
  ret void
}

declare void @llvm.memcpy.p0.p4.i64(ptr, ptr addrspace(4), i64, i1)
