; A loop over a row of threads gets a second version without bounds checks, which runs if all accesses of the row are in bounds.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; The offsets of the first and the last thread are compared with the memory's start and size, which are in the table after the argument block.
; CHECK: @row(
; CHECK: before:
; CHECK: getelementptr i8, ptr %block, i64 152
; CHECK: getelementptr i8, ptr %block, i64 144
; If the first or the last index does not fit in 32 bits, an index wraps around, and the loop with checks runs.
; CHECK: icmp sge i64 {{...}}, -2147483648
; CHECK: icmp slt i64 {{...}}, 2147483648
; CHECK: br i1 {{...}}, label %before.split.us, label %before.split
; CHECK: loop.us:
; CHECK-NOT: icmp ult
; CHECK: latch.us:
; CHECK: loop:
; CHECK: icmp ult i64
; CHECK: ret i32 0
define i32 @row(ptr noalias noundef readonly align 8 dereferenceable(40) %block, ptr %memory, ptr %where) {
entry:
  %at = load i32, ptr %where, align 4
  %p = getelementptr i32, ptr %where, i64 3
  %count = load i32, ptr %p, align 4
  br label %before
before:
  br label %loop
loop:
  %x = phi i32 [ 0, %before ], [ %x.next, %latch ]
  %all = phi i32 [ %at, %before ], [ %all.next, %latch ]
  %from = getelementptr i8, ptr %block, i64 8
  %data = load ptr, ptr %from, align 8
  %start.from = getelementptr i8, ptr %block, i64 144
  %start = load i64, ptr %start.from, align 8
  %size.from = getelementptr i8, ptr %block, i64 152
  %size = load i64, ptr %size.from, align 8
  %limit = call i64 @llvm.usub.sat.i64(i64 %size, i64 3)
  %next = add i32 %all, 1
  %index = sext i32 %next to i64
  %e = getelementptr i32, ptr %data, i64 %index
  %a = ptrtoint ptr %e to i64
  %offset = sub i64 %a, %start
  %inside = icmp ult i64 %offset, %limit
  br i1 %inside, label %access, label %latch
access:
  store i32 1, ptr %e, align 4
  br label %latch
latch:
  %x.next = add nuw nsw i32 %x, 1
  %all.next = add nuw nsw i32 %all, 1
  %more = icmp slt i32 %x.next, %count
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i32 0
}

; The index is loaded in the loop, so its range is not known before the loop: `a[b[i]]`.
; CHECK: @gather(
; CHECK-NOT: .us
; CHECK: ret i32 1
define i32 @gather(ptr noalias noundef readonly align 8 dereferenceable(40) %block, ptr %indices, ptr %where) {
entry:
  br label %loop
loop:
  %x = phi i32 [ 0, %entry ], [ %x.next, %latch ]
  %data = load ptr, ptr %block, align 8
  %start.from = getelementptr i8, ptr %block, i64 144
  %start = load i64, ptr %start.from, align 8
  %i = getelementptr i32, ptr %indices, i32 %x
  %read = load i32, ptr %i, align 4
  %e = getelementptr i32, ptr %data, i32 %read
  %a = ptrtoint ptr %e to i64
  %offset = sub i64 %a, %start
  %inside = icmp ult i64 %offset, 100
  br i1 %inside, label %access, label %latch
access:
  store i32 1, ptr %e, align 4
  br label %latch
latch:
  %x.next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %x.next, 64
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i32 1
}

; A load relative to the argument block moves before the loop only if it reads the block or the table: it then runs even if no thread needs it.
; CHECK: @far(
; CHECK-NOT: .us
; CHECK: ret i32 2
define i32 @far(ptr noalias noundef readonly align 8 dereferenceable(40) %block, ptr %memory, ptr %where) {
entry:
  br label %loop
loop:
  %x = phi i32 [ 0, %entry ], [ %x.next, %latch ]
  %from = getelementptr i8, ptr %block, i64 4096
  %data = load ptr, ptr %from, align 8
  %e = getelementptr i32, ptr %data, i32 %x
  %a = ptrtoint ptr %e to i64
  %offset = sub i64 %a, 64
  %inside = icmp ult i64 %offset, 100
  br i1 %inside, label %access, label %latch
access:
  store i32 1, ptr %e, align 4
  br label %latch
latch:
  %x.next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %x.next, 64
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i32 2
}

; The argument block points to an array's header, which has the address of the elements. The check covers the last index of the inner loop too.
; CHECK: @array(
; CHECK: load ptr, ptr %block, align 8
; Only the outer loop has two versions.
; CHECK: br i1 {{...}}, label %entry.split.us, label %entry.split
; CHECK: own.us:
; CHECK-NOT: icmp ult
; CHECK: end.us:
; CHECK: own:
; CHECK: icmp ult i64
; CHECK: ret i32 3
define i32 @array(ptr noalias noundef readonly align 8 dereferenceable(40) %block, ptr %memory, ptr %where, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi i32 [ 0, %entry ], [ %x.next, %latch ]
  %array = load ptr, ptr %block, align 8
  %data = load ptr, ptr %array, align 8, !invariant.load !2
  %start.from = getelementptr i8, ptr %block, i64 160
  %start = load i64, ptr %start.from, align 8
  br label %own
own:
  %i = phi i32 [ 0, %loop ], [ %i.next, %end ]
  %j = add i32 %x, %i
  %e = getelementptr i32, ptr %data, i32 %j
  %a = ptrtoint ptr %e to i64
  %offset = sub i64 %a, %start
  %inside = icmp ult i64 %offset, 100
  br i1 %inside, label %access, label %end
access:
  store i32 1, ptr %e, align 4
  br label %end
end:
  %i.next = add nuw nsw i32 %i, 1
  %again = icmp ne i32 %i.next, %n
  br i1 %again, label %own, label %latch
latch:
  %x.next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %x.next, 64
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i32 3
}

; The load of an element does not move before the loop: the element may change in the loop, or may not exist.
; CHECK: @element(
; CHECK-NOT: .us
; CHECK: ret i32 4
define i32 @element(ptr noalias noundef readonly align 8 dereferenceable(40) %block, ptr %memory, ptr %where) {
entry:
  br label %loop
loop:
  %x = phi i32 [ 0, %entry ], [ %x.next, %latch ]
  %data = load ptr, ptr %block, align 8
  %start.from = getelementptr i8, ptr %block, i64 144
  %start = load i64, ptr %start.from, align 8
  %read = load i32, ptr %data, align 4
  %e = getelementptr i32, ptr %data, i32 %read
  %a = ptrtoint ptr %e to i64
  %offset = sub i64 %a, %start
  %inside = icmp ult i64 %offset, 100
  br i1 %inside, label %access, label %latch
access:
  store i32 1, ptr %e, align 4
  br label %latch
latch:
  %x.next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %x.next, 64
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret i32 4
}
declare i64 @llvm.usub.sat.i64(i64, i64)
!0 = distinct !{!0, !1}
!1 = !{!"revamp.threads"}
!2 = !{}
