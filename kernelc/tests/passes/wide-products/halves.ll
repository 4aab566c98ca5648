; A 128-bit product that is only used for its upper 64 bits becomes 64-bit operations.
; CHECK: @upper(
; CHECK-NEXT: %part = and i64 %a, 4294967295
; CHECK-NEXT: %part1 = lshr i64 %a, 32
; CHECK-NEXT: %part2 = and i64 %b, 4294967295
; CHECK-NEXT: %part3 = lshr i64 %b, 32
; CHECK-NEXT: %part4 = mul i64 %part, %part2
; CHECK-NOT: i128
; CHECK: ret i64 %part15
define i64 @upper(i64 %a, i64 %b) {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %p = mul nuw i128 %x, %y
  %s = lshr i128 %p, 64
  %t = trunc i128 %s to i64
  ret i64 %t
}

; A 32-bit factor times a constant. The code uses some bits of the upper half, and the whole lower half.
; CHECK: @bits(
; CHECK-NEXT: %factor = zext i32 %a to i64
; CHECK-NOT: i128
; CHECK: %upper = lshr i64 {{...}}, 6
; CHECK-NEXT: %t{{...}} = trunc i64 %upper to i32
; CHECK: %product = mul i64 %factor{{...}}, -2
; CHECK-NOT: i128
; CHECK: ret i32
define i32 @bits(i32 %a, ptr %to) {
  %x = zext i32 %a to i128
  %p = mul nuw i128 %x, 18446744073709551614
  %s = lshr i128 %p, 70
  %t = trunc i128 %s to i32
  %l = trunc i128 %p to i64
  store i64 %l, ptr %to
  ret i32 %t
}

; A product is not replaced if a factor is not zero-extended. The other factor stays too.
; CHECK: @others(
; CHECK-NEXT: %y = zext i32 %b to i128
; CHECK-NEXT: %p = mul i128 %x, %y
; CHECK-NEXT: %s = lshr i128 %p, 64
; CHECK-NEXT: %t = trunc i128 %s to i64
define i64 @others(i128 %x, i32 %b) {
  %y = zext i32 %b to i128
  %p = mul i128 %x, %y
  %s = lshr i128 %p, 64
  %t = trunc i128 %s to i64
  ret i64 %t
}

; A product stays if the shift distance is not constant.
; CHECK: @distance(
; CHECK-NOT: %factor
; CHECK: %s = lshr i128 %p, %n
; CHECK-NEXT: %t = trunc i128 %s to i64
define i64 @distance(i64 %a, i64 %b, i32 %by) {
  %x = zext i64 %a to i128
  %y = zext i64 %b to i128
  %n = zext i32 %by to i128
  %p = mul i128 %x, %y
  %s = lshr i128 %p, %n
  %t = trunc i128 %s to i64
  ret i64 %t
}
