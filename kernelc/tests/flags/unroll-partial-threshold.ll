; passes: function(loop-unroll<partial;runtime>)
; The loop has 1000 iterations. With a higher threshold, the unrolled loop has more than 150 instructions.
define void @f(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 1000
  br i1 %more, label %loop, label %out
out:
  ret void
}
