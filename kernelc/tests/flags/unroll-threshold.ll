; passes: function(loop(loop-unroll-full))
; Straight code of some 80 instructions where the threshold is 150, and of some 400 where it is 2750.
define void @small(ptr %p) {
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
define void @large(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 200
  br i1 %more, label %loop, label %out
out:
  ret void
}
