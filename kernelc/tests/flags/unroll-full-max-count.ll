; passes: function(loop(loop-unroll-full))
; The loop has 40 iterations. A smaller maximum trip count prevents full unrolling.
define void @f(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 40
  br i1 %more, label %loop, label %out
out:
  ret void
}
