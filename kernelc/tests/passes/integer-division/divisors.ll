; A division by a constant gets no selects.
; CHECK: @constants(
; CHECK-NEXT: %a = sdiv i32 %x, 7
; CHECK-NEXT: %b = urem i32 %x, -1
; CHECK-NEXT: %c = sdiv exact i32 %x, 4
; CHECK-NEXT: %d = srem i32 5, -7
; CHECK-NEXT: or i32 %x, -1
; CHECK-NEXT: or i32 %x, -1
; CHECK-NEXT: sub i32 0, %x
; CHECK-NEXT: and i32 %x, 0
; CHECK-NEXT: or <2 x i8> %v, splat (i8 -1)
define i32 @constants(i32 %x, <2 x i8> %v) {
  %a = sdiv i32 %x, 7
  %b = urem i32 %x, -1
  %c = sdiv exact i32 %x, 4
  %d = srem i32 5, -7
  %e = udiv i32 %x, 0
  %f = srem i32 %x, 0
  %g = sdiv i32 %x, -1
  %h = srem i32 %x, -1
  %i = udiv <2 x i8> %v, zeroinitializer
  ret i32 %h
}

; For other divisors, a select replaces 0 by a valid divisor. In signed division, it also replaces -1.
; CHECK: @others(
; CHECK-NEXT: %a.zero = icmp eq i32 %y, 0
; CHECK-NEXT: %a.by = select i1 %a.zero, i32 1, i32 %y
; CHECK-NEXT: %a.plain = urem i32 %x, %a.by
; CHECK-NEXT: select i1 %a.zero, i32 -1, i32 %a.plain
; CHECK: %b.special = or i1 %b.zero, %b.minus
; CHECK-NEXT: %b.by = select i1 %b.special, i32 1, i32 %y
; CHECK-NEXT: %b.plain = sdiv exact i32 %x, %b.by
; CHECK-NEXT: %b.less = sub i32 0, %x
; CHECK-NEXT: %b.signed = select i1 %b.minus, i32 %b.less, i32 %b.plain
; CHECK-NEXT: select i1 %b.zero, i32 -1, i32 %b.signed
; CHECK-NEXT: %c.zero = icmp eq <4 x i16> %w, zeroinitializer
; CHECK-NEXT: %c.minus = icmp eq <4 x i16> %w, splat (i16 -1)
; CHECK: %c.by = select <4 x i1> %c.special, <4 x i16> splat (i16 1), <4 x i16> %w
; CHECK: select <4 x i1> %c.zero, <4 x i16> splat (i16 -1), <4 x i16> %c.plain
define i32 @others(i32 %x, i32 %y, <4 x i16> %v, <4 x i16> %w) {
  %a = urem i32 %x, %y
  %b = sdiv exact i32 %x, %y
  %c = srem <4 x i16> %v, %w
  ret i32 %a
}
