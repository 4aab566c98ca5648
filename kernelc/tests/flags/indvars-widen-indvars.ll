; passes: function(loop(indvars))
; The loop has a 32-bit counter that is used as a 64-bit index. The option decides whether indvars widens the counter.
target datalayout = "e-p:64:64-n8:16:32:64"
define void @f(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %index = sext i32 %i to i64
  %at = getelementptr i32, ptr %p, i64 %index
  store i32 %i, ptr %at
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
