; Other addresses stay.
@s = addrspace(3) global [8 x float] undef

; It is written through.
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

; Memory is written before it is read.
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

; Another path leads out of a block that it comes from.
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
