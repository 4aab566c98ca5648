; The work and the store that frees the lock move into the loop, so threads leave the loop after they have freed the lock.
declare ptr @__revamp_element(ptr, i32, i32)

define void @sunk(ptr %p, ptr %q, i32 %n) {
; CHECK: @sunk(
; CHECK: br label %head
; CHECK: head:
; CHECK: %free = icmp eq i32 %old, 0
; CHECK-NEXT: br i1 %free, label %work, label %head.head_crit_edge
; CHECK: work:
; CHECK-NEXT: store i32 2, ptr %q
; CHECK: store i32 0, ptr %b
; CHECK-NEXT: br label %revamp.free.0.meet
; CHECK: revamp.free.0.meet:
; CHECK-NEXT: phi i1 [ true, %work ], [ false, %head
; CHECK-NEXT: br i1 {{...}}, label %revamp.free.0, label %head
; CHECK: revamp.free.0:
; CHECK-NEXT: br label %out
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

; The addresses that take and free the lock count as equal, although each is the result of a bounds check (__revamp_element).
define void @checked(ptr %p, ptr %q, i32 %n) {
; CHECK: @checked(
; CHECK: phi i1 [ true, %work ], [ false, %head
; CHECK: ret void
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %a.free = call ptr @__revamp_element(ptr noundef %a, i32 4, i32 1)
  %old = atomicrmw xchg ptr %a.free, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %b.free = call ptr @__revamp_element(ptr noundef %b, i32 4, i32 2)
  store i32 0, ptr %b.free
  br label %out
out:
  ret void
}
