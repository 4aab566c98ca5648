source_filename = "saxpy.cpp"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

%struct.args = type <{ %class.anon, %"class.Concurrency::abi_1::extent", [4 x i8] }>
%class.anon = type { %"class.Concurrency::abi_1::array_view.1", float, %"class.Concurrency::abi_1::array_view" }
%"class.Concurrency::abi_1::array_view.1" = type { %"class.revamp::abi_1::detail::basic_view.2" }
%"class.revamp::abi_1::detail::basic_view.2" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent", %"struct.revamp::abi_1::detail::strides", %union.anon.3 }
%"struct.revamp::abi_1::detail::strides" = type { [1 x i64] }
%union.anon.3 = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::array_view" = type { %"class.revamp::abi_1::detail::basic_view" }
%"class.revamp::abi_1::detail::basic_view" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent", %"struct.revamp::abi_1::detail::strides", %union.anon }
%union.anon = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::extent" = type { %"class.revamp::abi_1::detail::components" }
%"class.revamp::abi_1::detail::components" = type { [1 x i32] }

@__hip_cuid_4c4931056031ea0f = internal addrspace(1) global i8 0
@llvm.used = appending addrspace(1) global [1 x ptr addrspace(4)] [ptr addrspace(4) @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE], section "llvm.metadata"

; Function Attrs: convergent mustprogress norecurse nounwind
define internal spir_kernel void @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE(ptr addrspace(2) noundef readonly byref(%struct.args) align 8 captures(none) %0) addrspace(4) #0 !dbg !15 !max_work_group_size !19 {
.preheader:
  %.sroa.013.0.copyload = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %.sroa.214.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 32
  %.sroa.214.0.copyload = load float, ptr addrspace(2) %.sroa.214.0..sroa_idx, align 8
  %.sroa.315.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 40
  %.sroa.315.0.copyload = load ptr addrspace(4), ptr addrspace(2) %.sroa.315.0..sroa_idx, align 8
  %.sroa.416.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 72
  %.sroa.416.0.copyload = load i32, ptr addrspace(2) %.sroa.416.0..sroa_idx, align 8
  %1 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 0) #2, !dbg !20
  %2 = icmp slt i32 %1, %.sroa.416.0.copyload
  br i1 %2, label %3, label %11, !dbg !21

3:                                                ; preds = %.preheader
  %4 = sext i32 %1 to i64, !dbg !22
  %5 = getelementptr inbounds float, ptr addrspace(4) %.sroa.315.0.copyload, i64 %4, !dbg !30
  %6 = load float, ptr addrspace(4) %5, align 4, !dbg !31, !tbaa !32
  %7 = fmul float %.sroa.214.0.copyload, %6, !dbg !34
  %8 = getelementptr inbounds float, ptr addrspace(4) %.sroa.013.0.copyload, i64 %4, !dbg !35
  %9 = load float, ptr addrspace(4) %8, align 4, !dbg !38, !tbaa !32
  %10 = fadd float %7, %9, !dbg !38
  store float %10, ptr addrspace(4) %8, align 4, !dbg !38, !tbaa !32
  br label %11, !dbg !39

11:                                               ; preds = %3, %.preheader
  ret void, !dbg !40
}

; Function Attrs: convergent nounwind
declare !dbg !41 hidden spir_func i32 @__revamp_global_id(i32 noundef) local_unnamed_addr addrspace(4) #1

attributes #0 = { convergent mustprogress norecurse nounwind "target-features"="+16-bit-insts,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #1 = { convergent nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #2 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!opencl.ocl.version = !{!9}
!llvm.ident = !{!10}
!llvm.errno.tbaa = !{!11}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "saxpy.cpp", directory: "/src")
!2 = !{i32 1, !"amdhsa_code_object_version", i32 600}
!3 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!4 = !{i32 7, !"Dwarf Version", i32 5}
!5 = !{i32 2, !"Debug Info Version", i32 3}
!6 = !{i32 1, !"wchar_size", i32 4}
!7 = !{i32 8, !"PIC Level", i32 2}
!8 = !{i32 7, !"frame-pointer", i32 2}
!9 = !{i32 0, i32 0}
!10 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!11 = !{!12, !12, i64 0}
!12 = !{!"int", !13, i64 0}
!13 = !{!"omnipotent char", !14, i64 0}
!14 = !{!"Simple C++ TBAA"}
!15 = distinct !DISubprogram(name: "entry<(lambda at saxpy.cpp:6:17), 1>", scope: !16, file: !16, line: 9, type: !17, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!16 = !DIFile(filename: "./launch.h", directory: "/src")
!17 = !DISubroutineType(types: !18)
!18 = !{}
!19 = !{i32 1024, i32 1, i32 1}
!20 = !DILocation(line: 11, column: 56, scope: !15)
!21 = !DILocation(line: 13, column: 7, scope: !15)
!22 = !DILocation(line: 193, column: 29, scope: !23, inlinedAt: !25)
!23 = distinct !DISubprogram(name: "operator()", scope: !24, file: !24, line: 192, type: !17, scopeLine: 192, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!24 = !DIFile(filename: "cpp-shim/revamp/detail/view.h", directory: "")
!25 = distinct !DILocation(line: 456, column: 24, scope: !26, inlinedAt: !27)
!26 = distinct !DISubprogram(name: "operator[]", scope: !24, file: !24, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!27 = distinct !DILocation(line: 6, column: 61, scope: !28, inlinedAt: !29)
!28 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 6, type: !17, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!29 = distinct !DILocation(line: 13, column: 11, scope: !15)
!30 = !DILocation(line: 456, column: 16, scope: !26, inlinedAt: !27)
!31 = !DILocation(line: 6, column: 61, scope: !28, inlinedAt: !29)
!32 = !{!33, !33, i64 0}
!33 = !{!"float", !13, i64 0}
!34 = !DILocation(line: 6, column: 59, scope: !28, inlinedAt: !29)
!35 = !DILocation(line: 456, column: 16, scope: !36, inlinedAt: !37)
!36 = distinct !DISubprogram(name: "operator[]", scope: !24, file: !24, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!37 = distinct !DILocation(line: 6, column: 49, scope: !28, inlinedAt: !29)
!38 = !DILocation(line: 6, column: 54, scope: !28, inlinedAt: !29)
!39 = !DILocation(line: 13, column: 11, scope: !15)
!40 = !DILocation(line: 15, column: 1, scope: !15)
!41 = !DISubprogram(name: "__revamp_global_id", scope: !16, file: !16, line: 6, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
