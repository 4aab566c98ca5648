; In native kernels, a branch guards each access to elements: it checks the bounds of the memory.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@s = internal global [32 x i32] undef, align 4
@c = internal constant [4 x ptr] zeroinitializer

; The table of memory bounds starts at byte 48: the argument block's 40 bytes, rounded up. `%p` loses `inbounds`, so that LLVM keeps the check.
; CHECK: @k(
; CHECK: %span.start.at.data = add i64 %span.scaled.data, 144
; CHECK: %span.size.at.data = add i64 %span.scaled.data, 152
; CHECK: %p = getelementptr i32, ptr %same, i64 5
; CHECK: zero.1.in.0:
; CHECK-NEXT: %zero.1.value = load i32, ptr %p, align 4
; CHECK: zero.1:
; CHECK-NEXT: phi i32 [ %zero.1.value, %zero.1.in.0 ], [ 0, %entry ]
; The function's own variables are not checked. If a block is split, its last part becomes the incoming block of phis.
; CHECK-NEXT: store i32 {{...}}, ptr %v, align 4
; CHECK: %n = phi i32 [ 3, %zero.1 ]
; For a select of two pointers, another select chooses the start of the memory.
; CHECK: %span.start.q = select i1 %c, i64 %span.start.data, i64 %span.start.more
; CHECK: zero.2.in.0:
; CHECK-NEXT: store i32 1, ptr %q, align 4
; CHECK: zero.2:
; CHECK-NEXT: %r = select i1 %c, ptr %v, ptr @s
; CHECK-NEXT: store i32 1, ptr %r, align 4
; A copy from an out-of-bounds source writes zeros.
; CHECK: zero.3.outside:
; CHECK-NEXT: call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 160, i1 false)
; CHECK: zero.3.in.1:
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 4 %data, i64 160, i1 false)
; CHECK: phi { i32, i1 } [ %zero.4.value, %zero.4.in.0 ], [ zeroinitializer, %zero.3 ]
define void @k(ptr noundef align 8 dereferenceable(40) %0) "revamp-kernel" {
entry:
  %v = alloca i32
  %at = getelementptr inbounds i8, ptr %0, i64 8
  %data = load ptr, ptr %at, align 8
  %same = bitcast ptr %data to ptr
  %p = getelementptr inbounds i32, ptr %same, i64 5
  %x = load i32, ptr %p, align 4
  store i32 %x, ptr %v, align 4
  br label %next
next:
  %n = phi i32 [ 3, %entry ]
  %to = getelementptr i8, ptr %0, i64 16
  %more = load ptr, ptr %to, align 8
  %c = icmp eq i32 %n, 3
  %q = select i1 %c, ptr %p, ptr %more
  store i32 1, ptr %q, align 4
  %r = select i1 %c, ptr %v, ptr @s
  store i32 1, ptr %r, align 4
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 4 %data, i64 160, i1 false)
  %y = cmpxchg ptr %p, i32 1, i32 2 monotonic monotonic, align 4
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; A pointer of unknown origin is looked up at run time.
; CHECK: @kept(
; CHECK: %span.size.q = call i64 @revamp_native_found(ptr %span.table.q, i64 5, ptr %q, i32 1)
; CHECK: zero.1.in.0:
; CHECK-NEXT: store i32 1, ptr %q, align 4
define void @kept(ptr noundef align 8 dereferenceable(40) %0) "revamp-kernel" {
entry:
  %at = getelementptr inbounds i8, ptr %0, i64 8
  %data = load ptr, ptr %at, align 8
  %k = alloca ptr
  store ptr %data, ptr %k, align 8
  %q = load ptr, ptr %k, align 8
  store i32 1, ptr %q, align 4
  ret void
}

; Two phis get checks: a pointer that advances in a loop, and a pointer to a local variable or to an array.
; CHECK: @walks(
; CHECK: %span.start.w = phi i64 [ %span.start.data, %entry ], [ %span.start.w, %zero.2 ]
; CHECK: %span.size.m = phi i64 [ -1, %entry ], [ %span.size.w, %zero.2 ]
; CHECK: zero.1.in.0:
; CHECK-NEXT: store i32 1, ptr %w, align 4
; CHECK: zero.2.in.0:
; CHECK-NEXT: store i32 1, ptr %m, align 4
define void @walks(ptr noundef align 8 dereferenceable(40) %0) "revamp-kernel" {
entry:
  %v = alloca i32
  %data = load ptr, ptr %0, align 8
  %more = getelementptr inbounds i8, ptr %0, i64 16
  %other = load ptr, ptr %more, align 8
  br label %loop
loop:
  %w = phi ptr [ %data, %entry ], [ %next, %loop ], [ %other, %again ]
  %m = phi ptr [ %v, %entry ], [ %w, %loop ], [ %w, %again ]
  store i32 1, ptr %w, align 4
  store i32 1, ptr %m, align 4
  %next = getelementptr inbounds i32, ptr %w, i64 1
  %c = load i1, ptr %v
  br i1 %c, label %loop, label %end
end:
  %d = load i1, ptr %v
  br i1 %d, label %again, label %out
again:
  br label %loop
out:
  ret void
}
