; Input for tests of the LLVM IR reader: each construct that the reader interprets, and some constructs that it skips.
source_filename = "forms.cpp"
target datalayout = "e-i64:64-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

module asm "nothing"

%outer = type { %"inner type", [2 x i32] }
%"inner type" = type <{ i8, i64 }>
%hidden = type opaque

$shared = comdat any
$"quoted name" = comdat any

@shared = linkonce_odr hidden unnamed_addr addrspace(1) constant [4 x i8] c"a\22\\\00", comdat, align 1
@"quoted name" = weak_odr dso_local addrspace(3) global %outer undef, comdat, align 8, !note !{!"kept"}
@0 = private local_unnamed_addr addrspace(1) externally_initialized global <2 x float> splat (float 1.500000e+00), section ".data", align 8
@far = external thread_local(initialexec) addrspace(1) global [0 x %hidden], align 4
@wide = internal addrspace(1) global [2 x i128] [i128 -1, i128 170141183460469231731687303715884105727]
@floats = internal addrspace(1) global { half, float, double, bfloat, fp128 } { half 0xH3C00, float 0x7FF8000000000000, double -2.500000e-01, bfloat 0xR3F80, fp128 0xL00000000000000004000000000000000 }
@places = internal addrspace(1) constant [4 x ptr addrspace(4)] [ptr addrspace(4) addrspacecast (ptr addrspace(1) @shared to ptr addrspace(4)), ptr addrspace(4) @callee, ptr addrspace(4) getelementptr inbounds nuw inrange(-4, 12) (i8, ptr addrspace(4) addrspacecast (ptr addrspace(1) @wide to ptr addrspace(4)), i64 4), ptr addrspace(4) null]
@difference = internal addrspace(1) constant i64 sub (i64 ptrtoint (ptr addrspace(1) @wide to i64), i64 ptrtoint (ptr addrspace(1) @shared to i64))
@block = internal addrspace(1) constant ptr addrspace(4) blockaddress(@control, %next)

@other = hidden alias i32 (i32, ptr), ptr addrspace(4) @control

; Function Attrs: nounwind
declare !dbg !16 hidden spir_func void @callee(ptr addrspace(4) noundef readonly align 8 captures(none), ...) local_unnamed_addr addrspace(4) #0

declare noundef range(i32 0, 5) i32 @ranged(ptr byval(%outer) align 8 initializes((0, 8)) "key"="value", i1 zeroext) addrspace(4) memory(read) "more"

declare i32 @personality(...) addrspace(4)

define amdgpu_kernel void @kernel(ptr addrspace(2) noundef byref(%outer) align 8 captures(none) %0, <2 x i32> %named) addrspace(4) #0 comdat($shared) align 4 personality ptr addrspace(4) @personality !dbg !5 {
  %2 = getelementptr inbounds nuw %outer, ptr addrspace(2) %0, i32 0, i32 1, !dbg !8
    #dbg_value(ptr addrspace(2) %2, !17, !DIExpression(), !8)
  %3 = load atomic volatile i32, ptr addrspace(2) %2 syncscope("agent") acquire, align 4, !dbg !8, !mine !12
  %4 = add nuw nsw i32 %3, 1, !dbg !9
  %5 = or disjoint i32 %4, -2147483648
  %6 = udiv exact i32 %5, 3
  %7 = zext nneg i32 %6 to i64
  %8 = uitofp nneg i64 %7 to double
  %9 = fptrunc reassoc nnan ninf nsz arcp contract afn double %8 to float
  %10 = fmul fast float %9, 0x3FB99999A0000000
  %11 = fadd contract float %10, %9
  %12 = fneg nnan contract float %11
  %13 = fcmp contract ult float %12, %11
  %14 = icmp samesign ult i32 %3, %4
  %15 = select i1 %13, i1 %14, i1 false
  %16 = freeze i1 %15
  %17 = alloca %outer, i32 2, align 16
  %18 = alloca i8, align 1, addrspace(5)
  store volatile i32 %4, ptr %17, align 4
  store atomic i32 %4, ptr %17 release, align 4
  %19 = atomicrmw volatile umax ptr %17, i32 %4 syncscope("workgroup") monotonic, align 4
  %20 = cmpxchg weak volatile ptr %17, i32 0, i32 %4 syncscope("agent") acq_rel monotonic, align 4
  %21 = extractvalue { i32, i1 } %20, 0
  %22 = insertvalue %outer zeroinitializer, i32 %21, 1, 0
  %23 = extractelement <2 x i32> %named, i64 1
  %24 = insertelement <2 x i32> %named, i32 %23, i32 0
  %25 = shufflevector <2 x i32> %24, <2 x i32> poison, <3 x i32> <i32 1, i32 poison, i32 0>
  fence syncscope("agent") seq_cst
  call spir_func addrspace(4) void (ptr addrspace(4), ...) @callee(ptr addrspace(4) noundef align 8 dereferenceable(8) null, i32 noundef %23) #1 [ "bundle"(i32 1) ], !dbg !10
  %26 = tail call fastcc noundef range(i32 0, 5) addrspace(4) i32 @ranged(ptr byval(%outer) align 8 %17, i1 zeroext true)
  %27 = inttoptr i64 %7 to ptr addrspace(4)
  %28 = call addrspace(4) i32 %27(i32 %26)
  call addrspace(0) void asm sideeffect "nop", "~{memory}"(), !dbg !DILocation(line: 9, column: 1, scope: !5)
  %29 = va_arg ptr %17, i32
  %30 = atomicrmw uinc_wrap ptr %17, i32 %29 seq_cst, align 4
  %31 = notail call addrspace(4) i32 @other(i32 %29, ptr %17), !dbg !9
  ret void, !dbg !11
}

define internal i32 @control(i32 %x, ptr %where) addrspace(4) personality ptr addrspace(4) @personality {
start:
  switch i32 %x, label %"last one" [
    i32 0, label %0
    i32 -7, label %next
  ], !prof !18

0:                                                ; preds = %next, %start
  %1 = phi i32 [ 1, %start ], [ %2, %next ]
  br i1 true, label %"last one", label %next, !llvm.loop !19

next:                                             ; preds = %0, %start
  %2 = phi i32 [ %x, %start ], [ %1, %0 ]
  %3 = invoke addrspace(4) i32 @ranged(ptr %where, i1 false)
          to label %0 unwind label %pad

pad:                                              ; preds = %next
  %4 = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  resume { ptr, i32 } %4

"last one":                                       ; preds = %0, %start
  %sum = phi i32 [ 7, %start ], [ %1, %0 ]
  ret i32 %sum
}

attributes #0 = { nounwind memory(argmem: readwrite) "brackets"="a{,(" }
attributes #1 = { convergent }

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!2 = !DIFile(filename: "forms.cpp", directory: "/src", checksumkind: CSK_MD5, checksum: "00000000000000000000000000000000")
!3 = !DIFile(filename: "/lib/\22odd\22.h", directory: "/src")
!4 = !DISubroutineType(types: !20)
!5 = distinct !DISubprogram(name: "kernel<int>", linkageName: "kernel", scope: !2, file: !2, line: 3, type: !4, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1)
!6 = distinct !DISubprogram(name: "operator[]", scope: !7, file: !3, line: 40, type: !4, spFlags: DISPFlagDefinition, unit: !1)
!7 = !DINamespace(name: "concurrency", scope: null)
!8 = !DILocation(line: 4, column: 7, scope: !5)
!9 = !DILocation(line: 41, column: 3, scope: !13, inlinedAt: !10)
!10 = distinct !DILocation(line: 5, column: 9, scope: !14)
!11 = !DILocation(line: 0, scope: !15)
!12 = !{!18, !18, i64 0}
!13 = distinct !DILexicalBlock(scope: !6, file: !3, line: 41, column: 2)
!14 = distinct !DILexicalBlock(scope: !5, file: !2, line: 5)
!15 = !DILexicalBlockFile(scope: !14, file: !3, discriminator: 2)
!16 = !DISubprogram(name: "callee", scope: !2, file: !2, line: 1, type: !4, spFlags: DISPFlagOptimized)
!17 = !DILocalVariable(name: "place", scope: !5, file: !2, line: 4)
!18 = !{!"branch_weights", i32 1, i32 2, i32 3}
!19 = distinct !{!19, !{!"llvm.loop.mustprogress"}}
!20 = !{null}
