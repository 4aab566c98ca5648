; A disjoint `or` becomes a sum that does not overflow.
; CHECK: @sum(
; CHECK: %sum1 = add nuw nsw i32 %high, 3
; CHECK-NEXT: ret i32 %sum1
define i32 @sum(i32 %a) {
  %high = shl i32 %a, 2
  %sum = or disjoint i32 %high, 3
  ret i32 %sum
}

; Other operations stay: an `or` without the flag, conditions and vectors.
; CHECK: @others(
; CHECK: %or = or i32 %a, 3
; CHECK: %either = or disjoint i1 %x, %y
; CHECK: %pair = or disjoint <2 x i32> %v, %w
; CHECK-NOT: add
; CHECK: ret i32 %or
define i32 @others(i32 %a, i1 %x, i1 %y, <2 x i32> %v, <2 x i32> %w, ptr %to) {
  %or = or i32 %a, 3
  %either = or disjoint i1 %x, %y
  %pair = or disjoint <2 x i32> %v, %w
  store i1 %either, ptr %to
  store <2 x i32> %pair, ptr %to
  ret i32 %or
}
