; passes: function(loop(indvars))
; Without the option, LLVM replaces the exit condition by a comparison with the trip count.
target datalayout = "n32"
define void @f(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %i, 64
  br i1 %more, label %body, label %out
body:
  %at = getelementptr i32, ptr %p, i32 %i
  store i32 0, ptr %at
  %next = add nuw nsw i32 %i, 1
  br label %loop
out:
  ret void
}
