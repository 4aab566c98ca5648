; Addresses that separate-memories must not split.
@s = internal addrspace(3) global [4 x float] poison

; The address is in one memory, or null.
; CHECK: @one(
; CHECK: %p = phi ptr addrspace(4)
; CHECK: ret void
define spir_kernel void @one(ptr addrspace(4) %view, i1 %c) {
entry:
  br i1 %c, label %no, label %end
no:
  %far = getelementptr float, ptr addrspace(4) %view, i64 3
  br label %end
end:
  %p = phi ptr addrspace(4) [ null, %entry ], [ %far, %no ]
  store float 1.0, ptr addrspace(4) %p, align 4
  ret void
}

; An ordered comparison uses the address. Addresses in different memories have no order.
; CHECK: @ordered(
; CHECK: %p = select i1 %c, ptr addrspace(4)
; CHECK: icmp ult ptr addrspace(4) %p, %view
define spir_kernel void @ordered(ptr addrspace(4) %view, i1 %c) {
  %p = select i1 %c, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), ptr addrspace(4) %view
  %e = icmp ult ptr addrspace(4) %p, %view
  store i1 %e, ptr addrspace(4) %view, align 1
  ret void
}

; The function returns the address.
; CHECK: @returned(
; CHECK: ret ptr addrspace(4) %p
define ptr addrspace(4) @returned(ptr addrspace(4) %view, i1 %c) {
  %p = select i1 %c, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), ptr addrspace(4) %view
  ret ptr addrspace(4) %p
}
