; All functions except intrinsics lose noinline, optnone and inlinehint, and get alwaysinline and mustprogress. Calls of functions with a body lose noinline.
declare void @outside() #1
; CHECK: declare void @hinted() #0
declare void @hinted() #3
declare void @llvm.assume(i1)

define void @f() #0 {
; CHECK: define void @f() #2
; CHECK-NEXT: call void @f() #3
; CHECK-NEXT: call void @outside() #4
  call void @f() #2
  call void @outside() #2
  ret void
}

attributes #0 = { convergent noinline nounwind optnone "a"="b" }
attributes #1 = { alwaysinline }
attributes #2 = { noinline nounwind }
attributes #3 = { inlinehint }
; CHECK: attributes #0 = { alwaysinline mustprogress }
; CHECK-NOT: alwaysinline
; CHECK: attributes #2 = { alwaysinline convergent mustprogress nounwind "a"="b" }
; CHECK-NEXT: attributes #3 = { nounwind }
; CHECK-NEXT: attributes #4 = { noinline nounwind }
