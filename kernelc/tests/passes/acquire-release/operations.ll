; Relaxed read-modify-write operations become acquire-release operations. Other operations stay.
define void @f(ptr %p) {
; CHECK: @f(
; CHECK-NEXT: %a = atomicrmw xchg ptr %p, i32 1 acq_rel, align 4
; CHECK-NEXT: %b = cmpxchg ptr %p, i32 0, i32 1 acq_rel acquire
; CHECK-NEXT: %c = atomicrmw add ptr %p, i32 1 seq_cst
; CHECK-NEXT: %d = cmpxchg ptr %p, i32 0, i32 1 seq_cst monotonic
; CHECK-NEXT: %e = load atomic i32, ptr %p monotonic
  %a = atomicrmw xchg ptr %p, i32 1 monotonic, align 4
  %b = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic
  %c = atomicrmw add ptr %p, i32 1 seq_cst
  %d = cmpxchg ptr %p, i32 0, i32 1 seq_cst monotonic
  %e = load atomic i32, ptr %p monotonic, align 4
  ret void
}
