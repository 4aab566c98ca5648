; Functions are marked once, and nothing else of their attributes is touched. Calls of what has a body lose what contradicts it.
declare void @outside() #1
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
; CHECK: attributes #0 = { alwaysinline mustprogress }
; CHECK-NOT: alwaysinline
; CHECK: attributes #2 = { alwaysinline convergent mustprogress nounwind "a"="b" }
; CHECK-NEXT: attributes #3 = { nounwind }
; CHECK-NEXT: attributes #4 = { noinline nounwind }
