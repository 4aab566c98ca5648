; Removes the marks of spin-marks (calls of __revamp_meet). Other calls stay.
declare spir_func void @__revamp_meet()
declare void @other()

define void @f() {
; CHECK: @f(
; CHECK-NEXT: call void @other()
; CHECK-NEXT: ret void
  call spir_func void @__revamp_meet()
  call void @other()
  call spir_func void @__revamp_meet()
  ret void
}
