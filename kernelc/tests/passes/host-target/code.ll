; Device code becomes host code: target, address spaces, calling conventions, attributes and the argument block of kernels.
; CHECK: target triple = "x86_64-pc-linux-gnu"
; CHECK-NOT: @llvm.cmdline
; CHECK-NOT: @__hip_cuid
; CHECK: @s = internal global [4 x i32] undef, align 4
; CHECK: @text = private constant [26 x i8] c"addrspace(1) addrspacecas\00"
; CHECK: @table = internal constant [2 x ptr] [ptr @text, ptr getelementptr inbounds (i8, ptr @text, i64 4)]
; CHECK: @llvm.compiler.used = appending global [2 x ptr] [ptr @s, ptr @tiled_entry], section "llvm.metadata"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"
%block = type { ptr addrspace(4), [4 x i64] }
@s = internal addrspace(3) global [4 x i32] undef, align 4
@text = private addrspace(1) constant [26 x i8] c"addrspace(1) addrspacecas\00", align 1
@table = internal addrspace(1) constant [2 x ptr addrspace(4)] [ptr addrspace(4) addrspacecast (ptr addrspace(1) @text to ptr addrspace(4)), ptr addrspace(4) getelementptr inbounds (i8, ptr addrspace(4) addrspacecast (ptr addrspace(1) @text to ptr addrspace(4)), i64 4)]
@llvm.cmdline = private addrspace(1) constant [1 x i8] c"\00", section ".llvmcmd"
@__hip_cuid_1 = addrspace(1) global i8 0
@llvm.used = appending addrspace(1) global [1 x ptr addrspace(4)] [ptr addrspace(4) @tiled_entry], section "llvm.metadata"

; The kernel reads the argument block directly instead of a copy.
; CHECK: define void @tiled_entry(ptr noundef align 8 dereferenceable(40) %0) #0 {
; CHECK-NEXT: entry:
; CHECK-NEXT: %own = alloca %{{...}}, align 8
; CHECK-NEXT: %kept = alloca ptr, align 8
; CHECK-NEXT: store ptr %0, ptr %kept, align 8
; CHECK-NEXT: %again = load ptr, ptr %kept, align 8
; CHECK-NEXT: %at = getelementptr inbounds i8, ptr %again, i64 8
; CHECK-NEXT: call noundef i1 @__revamp_within(i1 noundef false)
; CHECK-NEXT: store i32 1, ptr @s, align 4
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr align 8 %at, ptr @text, i64 8, i1 false)
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK-NEXT: %p = phi ptr [ %at, %entry ], [ %next, %loop ]
; CHECK-NEXT: %next = getelementptr i8, ptr %p, i64 1
; CHECK-NEXT: %end = icmp eq ptr %next, @s
; CHECK-NOT: spir_
define spir_kernel void @tiled_entry(ptr addrspace(2) noundef byref(%block) align 8 %0) addrspace(4) #0 {
entry:
  %own = alloca %block, align 8
  %kept = alloca ptr addrspace(4), align 8
  %block = addrspacecast ptr %own to ptr addrspace(4)
  call addrspace(4) void @llvm.memcpy.p4.p2.i64(ptr addrspace(4) align 8 %block, ptr addrspace(2) align 8 %0, i64 40, i1 false)
  store ptr addrspace(4) %block, ptr %kept, align 8
  %again = load ptr addrspace(4), ptr %kept, align 8
  %at = getelementptr inbounds i8, ptr addrspace(4) %again, i64 8
  %w = call spir_func noundef addrspace(4) i1 @__revamp_within(i1 noundef false)
  store i32 1, ptr addrspace(4) addrspacecast (ptr addrspace(3) @s to ptr addrspace(4)), align 4
  call addrspace(4) void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) align 8 %at, ptr addrspace(4) addrspacecast (ptr addrspace(1) @text to ptr addrspace(4)), i64 8, i1 false)
  br label %loop
loop:
  %p = phi ptr addrspace(4) [ %at, %entry ], [ %next, %loop ]
  %next = getelementptr i8, ptr addrspace(4) %p, i64 1
  %end = icmp eq ptr addrspace(4) %next, addrspacecast (ptr addrspace(3) @s to ptr addrspace(4))
  br i1 %end, label %out, label %loop
out:
  %x = call spir_func addrspace(4) ptr addrspace(4) @chosen(ptr addrspace(4) %at, i1 %w)
  ret void
}

; CHECK: define linkonce_odr hidden ptr @chosen(ptr %a, i1 %c)
; CHECK-NEXT: %p = select i1 %c, ptr %a, ptr null
; CHECK-NEXT: ret ptr %p
define linkonce_odr hidden spir_func ptr addrspace(4) @chosen(ptr addrspace(4) %a, i1 %c) addrspace(4) {
  %p = select i1 %c, ptr addrspace(4) %a, ptr addrspace(4) null
  ret ptr addrspace(4) %p
}

; CHECK: define internal i1 @__revamp_within(i1 %0)
; CHECK-NEXT: ret i1 true
define linkonce_odr hidden spir_func i1 @__revamp_within(i1 noundef zeroext %0) addrspace(4) #0 {
  ret i1 %0
}
declare void @llvm.memcpy.p4.p2.i64(ptr addrspace(4), ptr addrspace(2), i64, i1) addrspace(4)
declare void @llvm.memcpy.p4.p4.i64(ptr addrspace(4), ptr addrspace(4), i64, i1) addrspace(4)
; CHECK: attributes #0 = { convergent nounwind memory(argmem: read) "revamp-kernel" }
attributes #0 = { convergent nounwind memory(argmem: read) "target-cpu"="amdgcnspirv" }
