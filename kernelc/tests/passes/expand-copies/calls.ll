declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Each word has the alignment that its offset leaves. All words are read before any is written.
; CHECK: @words(
; CHECK-NEXT: %1 = load i32, ptr %b, align 8
; CHECK-NEXT: %2 = getelementptr inbounds i8, ptr %b, i64 4
; CHECK-NEXT: %3 = load i32, ptr %2, align 4
; CHECK-NEXT: %4 = getelementptr inbounds i8, ptr %b, i64 8
; CHECK-NEXT: %5 = load i32, ptr %4, align 8
; CHECK-NEXT: store i32 %1, ptr %a, align 4
; CHECK-NEXT: %6 = getelementptr inbounds i8, ptr %a, i64 4
; CHECK-NEXT: store i32 %3, ptr %6, align 4
; CHECK-NEXT: %7 = getelementptr inbounds i8, ptr %a, i64 8
; CHECK-NEXT: store i32 %5, ptr %7, align 4
; CHECK-NEXT: ret void
define void @words(ptr %a, ptr %b) {
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %a, ptr align 8 %b, i64 12, i1 false)
  ret void
}

; The size of a word divides the size of the copy.
; CHECK: @parts(
; CHECK: load i16, ptr %b, align 1
; CHECK: load i16, ptr %2, align 1
; CHECK: store i16
; CHECK: load i8
; CHECK: load i8
; CHECK: load i8
; CHECK-NOT: memcpy
define void @parts(ptr %a, ptr %b) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 2 %a, ptr %b, i64 6, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %a, ptr align 4 %b, i64 3, i1 false)
  ret void
}

; CHECK: @set(
; CHECK-NEXT: %1 = zext i8 %c to i32
; CHECK-NEXT: %2 = mul i32 %1, 16843009
; CHECK-NEXT: store i32 %2, ptr %a, align 4
; CHECK-NEXT: %3 = getelementptr inbounds i8, ptr %a, i64 4
; CHECK-NEXT: store i32 %2, ptr %3, align 4
; CHECK-NEXT: store i16 1799, ptr %a, align 1
; CHECK-NEXT: store i8 %c, ptr %a, align 1
; CHECK-NEXT: ret void
define void @set(ptr %a, i8 %c) {
  call void @llvm.memset.p0.i64(ptr align 4 %a, i8 %c, i64 8, i1 false)
  call void @llvm.memset.p0.i64(ptr %a, i8 7, i64 2, i1 false)
  call void @llvm.memset.p0.i64(ptr %a, i8 %c, i64 1, i1 false)
  ret void
}

; Calls of unknown or large size stay.
; CHECK: @others(
; CHECK: call void @llvm.memcpy
; CHECK: call void @llvm.memset
; CHECK: ret void
define void @others(ptr %a, ptr %b, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 16385, i1 false)
  ret void
}
