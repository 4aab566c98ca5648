; The module does not change: one argument changes in each iteration, one call is not executed in each iteration, and one function
; has an effect. Even the calls of @twice are not inlined.
@llvm.compiler.used = appending global [1 x ptr] [ptr @k], section "llvm.metadata"

declare double @__revamp_fast_rsqrt_f64(double) #1
declare void @barrier() #2

define linkonce_odr double @root(double %x) #0 {
  %r = call double @__revamp_fast_rsqrt_f64(double %x) #2
  ret double %r
}

define linkonce_odr double @with_barrier(double %x) #0 {
  call void @barrier() #2
  ret double %x
}

define linkonce_odr void @twice(ptr addrspace(1) %out) #0 {
  %x = load double, ptr addrspace(1) %out
  %y = fadd double %x, %x
  store double %y, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @k(ptr addrspace(1) %out, double %q, i32 %n, i32 %m) #0 {
; CHECK: @k(
; CHECK: head:
; CHECK: %a = call double @root(double %sum)
; CHECK: %b = call double @with_barrier(double %q)
; CHECK: rare:
; CHECK: %c = call double @root(double %q)
; CHECK: call void @twice(
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %sum = phi double [ 0.0, %entry ], [ %more, %latch ]
  %a = call double @root(double %sum) #2
  %b = call double @with_barrier(double %q) #2
  %is_rare = icmp eq i32 %i, %m
  br i1 %is_rare, label %rare, label %latch
rare:
  %c = call double @root(double %q) #2
  br label %latch
latch:
  %d = phi double [ %b, %head ], [ %c, %rare ]
  %more = fadd double %a, %d
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %head, label %end
end:
  store double %more, ptr addrspace(1) %out
  call void @twice(ptr addrspace(1) %out) #2
  ret void
}

attributes #0 = { alwaysinline convergent mustprogress nounwind }
attributes #1 = { convergent nounwind willreturn memory(none) }
attributes #2 = { convergent nounwind }
