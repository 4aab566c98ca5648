; Loops that get no marks (calls of __revamp_meet).

; The block that runs with the lock held is empty.
define void @idle(ptr %p) {
; CHECK: @idle(
; CHECK-NOT: __revamp_meet
; CHECK: ret void
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %meet ]
  %old = atomicrmw xchg ptr %p, i32 1 monotonic
  %j = add i32 %i, 1
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %meet
work:
  br label %meet
meet:
  %done = phi i1 [ true, %work ], [ false, %head ]
  br i1 %done, label %out, label %head
out:
  ret void
}

; The exit depends on a counter, not on the lock.
define void @counts(ptr %p) {
; CHECK: @counts(
; CHECK-NOT: __revamp_meet
; CHECK: ret void
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %meet ]
  %old = atomicrmw xchg ptr %p, i32 1 monotonic
  %j = add i32 %i, 1
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %meet
work:
  store i32 0, ptr %p
  br label %meet
meet:
  %last = icmp eq i32 %j, 9
  br i1 %last, label %out, label %head
out:
  ret void
}

; The loop has no atomic operation.
define void @plain(ptr %p) {
; CHECK: @plain(
; CHECK-NOT: __revamp_meet
; CHECK: ret void
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %meet ]
  %old = load i32, ptr %p
  %j = add i32 %i, 1
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %meet
work:
  store i32 0, ptr %p
  br label %meet
meet:
  %done = phi i1 [ true, %work ], [ false, %head ]
  br i1 %done, label %out, label %head
out:
  ret void
}
