; Calls with loop-invariant arguments move out of the loop, and equal calls become one call. The functions are inlined later.
@llvm.compiler.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"

declare double @__revamp_fast_rsqrt_f64(double) #1
declare i32 @__revamp_global_id(i32) #1

; A branch, as accurate functions have it.
define linkonce_odr double @root(double %x) #0 {
  %rare = fcmp olt double %x, 1.0e-300
  br i1 %rare, label %yes, label %no
yes:
  ret double 0.0
no:
  %r = call double @__revamp_fast_rsqrt_f64(double %x) #2
  ret double %r
}

define linkonce_odr double @wrapper(double %x) #0 {
  %r = call double @root(double %x) #2
  ret double %r
}

; CHECK: @k(
; CHECK: entry:
; CHECK: %a = call double @wrapper(double %q)
; CHECK: %p = fmul double %a, %a
; CHECK: head:
; CHECK-NOT: call double @wrapper(
; CHECK-NOT: noinline
define spir_kernel void @k(ptr addrspace(1) %out, double %q, i32 %n) #0 {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %head, label %end
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %sum = phi double [ 0.0, %entry ], [ %more, %head ]
  %a = call double @wrapper(double %q) #2
  %b = call double @wrapper(double %q) #2
  %p = fmul double %a, %b
  %more = fadd double %sum, %p
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %head, label %end
end:
  %all = phi double [ 0.0, %entry ], [ %more, %head ]
  store double %all, ptr addrspace(1) %out
  ret void
}

attributes #0 = { alwaysinline convergent mustprogress nounwind }
attributes #1 = { convergent nounwind willreturn memory(none) }
attributes #2 = { convergent nounwind }
