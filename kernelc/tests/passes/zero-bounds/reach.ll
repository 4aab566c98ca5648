; The size of an access is its store size, which may be smaller than the stride between elements of an array.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @narrow(
; CHECK: %span.fits.3.data = icmp ugt i64 %span.size.data, 2
; CHECK: %span.fits.12.data = icmp ugt i64 %span.size.data, 11
; CHECK: ret void
define void @narrow(ptr noundef align 8 dereferenceable(8) %0) "revamp-kernel" {
  %data = load ptr, ptr %0, align 8
  %x = load i24, ptr %data, align 1
  store <3 x float> zeroinitializer, ptr %data, align 4
  ret void
}

; The address of an array's elements never changes, so the load of this address is invariant. Loads of elements are not.
; CHECK: @array(
; CHECK: %data = load ptr, ptr %array, align 8, !invariant.load
; CHECK-NOT: invariant.load
; CHECK: ret void
define void @array(ptr noundef align 8 dereferenceable(8) %0) "revamp-kernel" {
  %array = load ptr, ptr %0, align 8
  %data = load ptr, ptr %array, align 8
  %x = load i32, ptr %data, align 4
  store i32 %x, ptr %data, align 4
  ret void
}

; Each address of a long chain is analysed once; otherwise the time would be exponential.
; CHECK: @chain(
; CHECK: store i32 1, ptr %s40, align 4
define void @chain(ptr noundef align 8 dereferenceable(8) %0, i1 %c) "revamp-kernel" {
  %s0 = load ptr, ptr %0, align 8
  %p1 = getelementptr i32, ptr %s0, i64 1
  %s1 = select i1 %c, ptr %s0, ptr %p1
  %p2 = getelementptr i32, ptr %s1, i64 1
  %s2 = select i1 %c, ptr %s1, ptr %p2
  %p3 = getelementptr i32, ptr %s2, i64 1
  %s3 = select i1 %c, ptr %s2, ptr %p3
  %p4 = getelementptr i32, ptr %s3, i64 1
  %s4 = select i1 %c, ptr %s3, ptr %p4
  %p5 = getelementptr i32, ptr %s4, i64 1
  %s5 = select i1 %c, ptr %s4, ptr %p5
  %p6 = getelementptr i32, ptr %s5, i64 1
  %s6 = select i1 %c, ptr %s5, ptr %p6
  %p7 = getelementptr i32, ptr %s6, i64 1
  %s7 = select i1 %c, ptr %s6, ptr %p7
  %p8 = getelementptr i32, ptr %s7, i64 1
  %s8 = select i1 %c, ptr %s7, ptr %p8
  %p9 = getelementptr i32, ptr %s8, i64 1
  %s9 = select i1 %c, ptr %s8, ptr %p9
  %p10 = getelementptr i32, ptr %s9, i64 1
  %s10 = select i1 %c, ptr %s9, ptr %p10
  %p11 = getelementptr i32, ptr %s10, i64 1
  %s11 = select i1 %c, ptr %s10, ptr %p11
  %p12 = getelementptr i32, ptr %s11, i64 1
  %s12 = select i1 %c, ptr %s11, ptr %p12
  %p13 = getelementptr i32, ptr %s12, i64 1
  %s13 = select i1 %c, ptr %s12, ptr %p13
  %p14 = getelementptr i32, ptr %s13, i64 1
  %s14 = select i1 %c, ptr %s13, ptr %p14
  %p15 = getelementptr i32, ptr %s14, i64 1
  %s15 = select i1 %c, ptr %s14, ptr %p15
  %p16 = getelementptr i32, ptr %s15, i64 1
  %s16 = select i1 %c, ptr %s15, ptr %p16
  %p17 = getelementptr i32, ptr %s16, i64 1
  %s17 = select i1 %c, ptr %s16, ptr %p17
  %p18 = getelementptr i32, ptr %s17, i64 1
  %s18 = select i1 %c, ptr %s17, ptr %p18
  %p19 = getelementptr i32, ptr %s18, i64 1
  %s19 = select i1 %c, ptr %s18, ptr %p19
  %p20 = getelementptr i32, ptr %s19, i64 1
  %s20 = select i1 %c, ptr %s19, ptr %p20
  %p21 = getelementptr i32, ptr %s20, i64 1
  %s21 = select i1 %c, ptr %s20, ptr %p21
  %p22 = getelementptr i32, ptr %s21, i64 1
  %s22 = select i1 %c, ptr %s21, ptr %p22
  %p23 = getelementptr i32, ptr %s22, i64 1
  %s23 = select i1 %c, ptr %s22, ptr %p23
  %p24 = getelementptr i32, ptr %s23, i64 1
  %s24 = select i1 %c, ptr %s23, ptr %p24
  %p25 = getelementptr i32, ptr %s24, i64 1
  %s25 = select i1 %c, ptr %s24, ptr %p25
  %p26 = getelementptr i32, ptr %s25, i64 1
  %s26 = select i1 %c, ptr %s25, ptr %p26
  %p27 = getelementptr i32, ptr %s26, i64 1
  %s27 = select i1 %c, ptr %s26, ptr %p27
  %p28 = getelementptr i32, ptr %s27, i64 1
  %s28 = select i1 %c, ptr %s27, ptr %p28
  %p29 = getelementptr i32, ptr %s28, i64 1
  %s29 = select i1 %c, ptr %s28, ptr %p29
  %p30 = getelementptr i32, ptr %s29, i64 1
  %s30 = select i1 %c, ptr %s29, ptr %p30
  %p31 = getelementptr i32, ptr %s30, i64 1
  %s31 = select i1 %c, ptr %s30, ptr %p31
  %p32 = getelementptr i32, ptr %s31, i64 1
  %s32 = select i1 %c, ptr %s31, ptr %p32
  %p33 = getelementptr i32, ptr %s32, i64 1
  %s33 = select i1 %c, ptr %s32, ptr %p33
  %p34 = getelementptr i32, ptr %s33, i64 1
  %s34 = select i1 %c, ptr %s33, ptr %p34
  %p35 = getelementptr i32, ptr %s34, i64 1
  %s35 = select i1 %c, ptr %s34, ptr %p35
  %p36 = getelementptr i32, ptr %s35, i64 1
  %s36 = select i1 %c, ptr %s35, ptr %p36
  %p37 = getelementptr i32, ptr %s36, i64 1
  %s37 = select i1 %c, ptr %s36, ptr %p37
  %p38 = getelementptr i32, ptr %s37, i64 1
  %s38 = select i1 %c, ptr %s37, ptr %p38
  %p39 = getelementptr i32, ptr %s38, i64 1
  %s39 = select i1 %c, ptr %s38, ptr %p39
  %p40 = getelementptr i32, ptr %s39, i64 1
  %s40 = select i1 %c, ptr %s39, ptr %p40
  store i32 1, ptr %s40, align 4
  ret void
}
