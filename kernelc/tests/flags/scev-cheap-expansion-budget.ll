; passes: function(loop-unroll<runtime>)
; Computing the loop's trip count takes a maximum and a difference. LLVM unrolls the loop only with a larger budget.
define void @f(ptr %p, i32 %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %a, %entry ], [ %next, %loop ]
  %x = load i32, ptr %p
  %y = add i32 %x, %i
  store i32 %y, ptr %p
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
