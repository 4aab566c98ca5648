; Functions without locks stay as they are.
; @queue has no lock: no other instruction writes to the address of the atomic operation.
define void @queue(ptr %p, ptr %q, i32 %n) {
; CHECK: @queue(
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw add ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  store i32 0, ptr %q
  br label %out
out:
  ret void
}

; @counted has a counter that is incremented and decremented, outside a loop.
define void @counted(ptr %p, ptr %q, i32 %n) {
; CHECK: @counted(
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw add ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %out
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw sub ptr %b, i32 1 monotonic
  br label %out
out:
  ret void
}

; In @elsewhere, the atomic operations that would take and free a lock have different addresses.
define void @elsewhere(ptr %p, ptr %q, i32 %n) {
; CHECK: @elsewhere(
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %p, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw sub ptr %b, i32 1 monotonic
  br label %out
out:
  ret void
}

; The operand of the exchange is not a constant.
define void @calculated(ptr %p, ptr %q, i32 %n) {
; CHECK: @calculated(
; CHECK-NOT: fence
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 %n monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %freed = atomicrmw sub ptr %b, i32 1 monotonic
  br label %out
out:
  ret void
}
