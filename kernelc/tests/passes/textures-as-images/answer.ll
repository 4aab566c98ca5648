; The call of __revamp_with_images, which asks whether textures are images, becomes 1. Calls that read images become noinline, so that LLVM unrolls loops around them.
declare i32 @__revamp_with_images() #0
declare float @__revamp_image_sample(i32) #0
declare float @other(i32) #0

define float @f() {
; CHECK: @f(
; CHECK-NEXT: %is = icmp ne i32 1, 0
; CHECK-NEXT: %read = call float @__revamp_image_sample(i32 1) #1
; CHECK-NEXT: call float @other(i32 1) #0
  %answer = call i32 @__revamp_with_images() #0
  %is = icmp ne i32 %answer, 0
  %read = call float @__revamp_image_sample(i32 1) #0
  %else = call float @other(i32 1) #0
  %made = select i1 %is, float %read, float %else
  ret float %made
}

attributes #0 = { nounwind }
; CHECK: attributes #1 = { noinline nounwind }
