; Fast-math instructions lose the flag `reassoc`, and keep their other flags, attributes and metadata.
; CHECK: @s = constant [6 x i8] c" fast "
@s = constant [6 x i8] c" fast "

declare float @g(float, ptr)
declare float @llvm.sqrt.f32(float)

define float @f(float %b, float %c, i1 %is, i32 %n) {
entry:
; CHECK: %a = fmul nnan ninf nsz arcp contract afn float %b, %c
; CHECK-NEXT: %d = fadd nsz float %a, %b
; CHECK-NEXT: %e = fsub float %d, %b
; CHECK-NEXT: %quotient = fdiv nnan ninf nsz arcp contract afn float %e, %c, !fpmath !0
; CHECK-NEXT: %rest = frem arcp float %quotient, %c
; CHECK-NEXT: %negative = fneg nnan ninf nsz arcp contract afn float %rest
; CHECK-NEXT: %less = fcmp nnan ninf nsz arcp contract afn olt float %negative, %b
; CHECK-NEXT: %one = select nnan i1 %less, float %negative, float %c
; CHECK-NEXT: %wide = fpext nnan ninf nsz arcp contract afn float %one to double
; CHECK-NEXT: %narrow = fptrunc nsz double %wide to float
; CHECK-NEXT: %root = tail call nnan ninf nsz arcp contract afn float @llvm.sqrt.f32(float %narrow)
; CHECK-NEXT: %called = call nnan ninf nsz arcp contract afn spir_func noundef float @g(float noundef %root, ptr align 4 null) #1
; CHECK-NEXT: store float %called
  %a = fmul fast float %b, %c
  %d = fadd reassoc nsz float %a, %b
  %e = fsub float %d, %b
  %quotient = fdiv fast float %e, %c, !fpmath !0
  %rest = frem reassoc arcp float %quotient, %c
  %negative = fneg fast float %rest
  %less = fcmp fast olt float %negative, %b
  %one = select reassoc nnan i1 %less, float %negative, float %c
  %wide = fpext fast float %one to double
  %narrow = fptrunc reassoc nsz double %wide to float
  %root = tail call fast float @llvm.sqrt.f32(float %narrow)
  %called = call fast spir_func noundef float @g(float noundef %root, ptr align 4 null) #0
  store float %called, ptr null
  br label %loop

loop:
; CHECK: %sum = phi nnan ninf nsz arcp contract afn float [ %called, %entry ], [ %more, %loop ], [ %sum, %again ]
; CHECK-NEXT: %more = fadd nsz float %sum, 1.0
  %sum = phi fast float [ %called, %entry ], [ %more, %loop ], [ %sum, %again ]
  %more = fadd reassoc nsz float %sum, 1.0
  br i1 %is, label %loop, label %next

next:
  br i1 %less, label %again, label %end

again:
  br label %loop

; CHECK: ret float %more
end:
  ret float %more
}

; CHECK: attributes #1 = { nounwind "x" }
attributes #0 = { nounwind "x" }
!0 = !{float 2.5}
