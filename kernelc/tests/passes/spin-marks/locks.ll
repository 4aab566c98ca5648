; A thread leaves a spin loop after it has held a lock. Each block where paths of such a loop join gets a mark: a call of __revamp_meet.
define void @branch(ptr %p) {
; CHECK: @branch(
; CHECK: %done = phi i1
; CHECK-NEXT: call spir_func void @__revamp_meet() #1
; CHECK-NEXT: br i1 %done
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
  %done = phi i1 [ true, %work ], [ false, %head ]
  br i1 %done, label %out, label %head
out:
  ret void
}

define void @choice(ptr %p) {
; CHECK: @choice(
; CHECK: %done = phi i1
; CHECK-NEXT: call spir_func void @__revamp_meet() #1
; CHECK-NEXT: switch i1 %done
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
  %done = phi i1 [ true, %work ], [ false, %head ]
  switch i1 %done, label %head [
    i1 true, label %out
  ]
out:
  ret void
}

; The mark is convergent, so the work under the lock stays before it.
; CHECK: declare spir_func void @__revamp_meet() #0
; CHECK: attributes #0 = { convergent nounwind willreturn }
; CHECK: attributes #1 = { convergent }
