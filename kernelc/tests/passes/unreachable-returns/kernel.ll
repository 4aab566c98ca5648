; In kernels, `unreachable` becomes a return. Other functions keep `unreachable`.
declare void @__revamp_tile_barrier(i32)

define spir_kernel void @kernel() {
; CHECK: @kernel(
; CHECK-NEXT: call void @__revamp_tile_barrier(i32 3)
; CHECK-NEXT: ret void
  call void @__revamp_tile_barrier(i32 3)
  unreachable
}

define void @other() {
; CHECK: @other(
; CHECK-NEXT: unreachable
  unreachable
}

define spir_kernel void @whole() {
; CHECK: @whole(
; CHECK-NEXT: ret void
  ret void
}
