; Loops that lock-sinking must not change.
declare ptr @other(ptr, i32, i32)
declare void @__revamp_tile_barrier()

; The store after the work does not write to the address of the exchange, so it does not free the lock.
define void @address(ptr %p, ptr %q, i32 %n) {
; CHECK: @address(
; CHECK-NOT: phi i1
; CHECK: br label %out
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 2
  store i32 0, ptr %b
  br label %out
out:
  ret void
}

; The atomic exchange stores a value that is not a constant.
define void @value(ptr %p, ptr %q, i32 %n) {
; CHECK: @value(
; CHECK-NOT: phi i1
; CHECK: br label %out
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
  store i32 0, ptr %b
  br label %out
out:
  ret void
}

; A tile barrier precedes the store that frees the lock.
define void @barrier(ptr %p, ptr %q, i32 %n) {
; CHECK: @barrier(
; CHECK-NOT: phi i1
; CHECK: br label %out
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %old = atomicrmw xchg ptr %a, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  call void @__revamp_tile_barrier()
  %b = getelementptr i32, ptr %p, i64 1
  store i32 0, ptr %b
  br label %out
out:
  ret void
}

; Calls of an unknown function compute the addresses of the exchange and of the store.
define void @function(ptr %p, ptr %q, i32 %n) {
; CHECK: @function(
; CHECK-NOT: phi i1
; CHECK: br label %out
bb:
  br label %head
head:
  %a = getelementptr i32, ptr %p, i64 1
  %a.free = call ptr @other(ptr noundef %a, i32 4, i32 1)
  %old = atomicrmw xchg ptr %a.free, i32 1 monotonic
  %free = icmp eq i32 %old, 0
  br i1 %free, label %work, label %head
work:
  store i32 2, ptr %q
  %b = getelementptr i32, ptr %p, i64 1
  %b.free = call ptr @other(ptr noundef %b, i32 4, i32 2)
  store i32 0, ptr %b.free
  br label %out
out:
  ret void
}
