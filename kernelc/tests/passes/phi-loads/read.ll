; Loads through a phi of addresses move to each incoming path.
@s = addrspace(3) global [8 x float] undef
declare void @llvm.memcpy.p0.p4.i64(ptr, ptr addrspace(4), i64, i1)

define spir_kernel void @read(ptr addrspace(4) %view, i1 %c) {
; CHECK: @read(
; CHECK: yes:
; CHECK-NEXT: %q.0 = getelementptr i8, ptr addrspace(4) addrspacecast (ptr addrspace(3) {{...}} to ptr addrspace(4)), i64 4
; CHECK-NEXT: %v.0 = load float, ptr addrspace(4) addrspacecast
; CHECK-NEXT: %w.0 = load float, ptr addrspace(4) %q.0, align 4
; CHECK-NEXT: br label %end
; CHECK: %far = getelementptr
; CHECK-NEXT: %q.1 = getelementptr i8, ptr addrspace(4) %far, i64 4
; CHECK-NEXT: %v.1 = load float, ptr addrspace(4) %far, align 4
; CHECK-NEXT: %w.1 = load float, ptr addrspace(4) %q.1, align 4
; CHECK-NEXT: br label %end
; CHECK: end:
; CHECK-NEXT: %v{{...}} = phi float [ %v.0, %yes ], [ %v.1, %no ]
; CHECK-NEXT: %w{{...}} = phi float [ %w.0, %yes ], [ %w.1, %no ]
; CHECK-NEXT: %sum = fadd float %v{{...}}, %w
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
  store float %sum, ptr addrspace(4) %view, align 4
  ret void
}

; A memcpy through the phi, which copies a class object, moves too.
define spir_kernel void @copied(ptr addrspace(4) %view, i1 %c) {
; CHECK: @copied(
; CHECK: call void @llvm.memcpy.p0.p4.i64(ptr null, ptr addrspace(4) addrspacecast
; CHECK: call void @llvm.memcpy.p0.p4.i64(ptr null, ptr addrspace(4) %far, i64 8, i1 false)
; CHECK: end:
; CHECK-NEXT: %v{{...}} = phi float
entry:
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %end
end:
  %p = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @s, i64 0, i64 1) to ptr addrspace(4)), %yes ], [ %far, %no ]
  call void @llvm.memcpy.p0.p4.i64(ptr null, ptr addrspace(4) %p, i64 8, i1 false)
  %q = getelementptr i8, ptr addrspace(4) %p, i64 4
  %v = load float, ptr addrspace(4) %p, align 4
  %w = load float, ptr addrspace(4) %q, align 4
  %sum = fadd float %v, %w
  store float %sum, ptr addrspace(4) %view, align 4
  ret void
}
