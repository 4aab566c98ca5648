; Fences are added before and after atomic operations on locks, and before stores that free a lock.
define void @stored(ptr %p, ptr %q, i32 %n) {
; CHECK: @stored(
; CHECK: %a = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %old = atomicrmw xchg ptr %a, i32 1 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %free
; CHECK-NOT: fence
; CHECK: %b = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: store i32 0, ptr %b
; CHECK-NEXT: br label %out
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  store i32 0, ptr %b
  br label %out
out:
  ret void
}

; An atomic operation frees the lock.
define void @operation(ptr %p, ptr %q, i32 %n) {
; CHECK: @operation(
; CHECK: %a = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %old = atomicrmw xchg ptr %a, i32 1 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %free
; CHECK-NOT: fence
; CHECK: %b = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %freed = atomicrmw and ptr %b, i32 0 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: br label %out
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw and ptr %b, i32 0 monotonic
  br label %out
out:
  ret void
}

; The lock is tried once, without a loop.
define void @once(ptr %p, ptr %q, i32 %n) {
; CHECK: @once(
; CHECK: %a = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %old = atomicrmw xchg ptr %a, i32 1 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %free
; CHECK-NOT: fence
; CHECK: %b = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %freed = atomicrmw and ptr %b, i32 0 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: br label %out
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %out
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw and ptr %b, i32 0 monotonic
  br label %out
out:
  ret void
}

; An atomic addition takes the lock.
define void @ticket(ptr %p, ptr %q, i32 %n) {
; CHECK: @ticket(
; CHECK: %a = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %old = atomicrmw add ptr %a, i32 0 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %free
; CHECK-NOT: fence
; CHECK: %b = getelementptr
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: %freed = atomicrmw and ptr %b, i32 0 monotonic
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: br label %out
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw add ptr %a, i32 0 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw and ptr %b, i32 0 monotonic
  br label %out
out:
  ret void
}
