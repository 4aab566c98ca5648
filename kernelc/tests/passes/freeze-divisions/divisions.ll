; Unsigned divisions of at most 32 bits get a freeze, which all other instructions use.
; CHECK: @narrow(
; CHECK: %q = udiv i32 %a, 6
; CHECK-NEXT: %1 = freeze i32 %q
; CHECK-NEXT: %r = urem i16 %b, 24
; CHECK-NEXT: %2 = freeze i16 %r
; CHECK-NEXT: %w = zext i16 %2 to i32
; CHECK-NEXT: %s = add i32 %1, %w
; CHECK-NEXT: %t = mul i32 %s, %1
define i32 @narrow(i32 %a, i16 %b) {
  %q = udiv i32 %a, 6
  %r = urem i16 %b, 24
  %w = zext i16 %r to i32
  %s = add i32 %q, %w
  %t = mul i32 %s, %q
  ret i32 %t
}

; Signed divisions, and divisions of 64 bits.
; CHECK: @others(
; CHECK-NOT: freeze
; CHECK: ret i64
define i64 @others(i32 %a, i64 %b) {
  %q = sdiv i32 %a, 6
  %r = urem i64 %b, 24
  %w = sext i32 %q to i64
  %s = add i64 %w, %r
  ret i64 %s
}
