; passes: function(loop-mssa(simple-loop-unswitch<nontrivial>))
; The loop has some 60 instructions and a loop-invariant condition. LLVM unswitches it only with a higher threshold.
define void @f(ptr %p, i1 %c, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  store volatile i32 %i, ptr %p
  br i1 %c, label %yes, label %latch
yes:
  store volatile i32 0, ptr %p
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp ne i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
