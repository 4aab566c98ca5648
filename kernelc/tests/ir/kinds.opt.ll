source_filename = "kinds.cpp"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

%struct.args = type <{ %class.anon, %"class.Concurrency::abi_1::extent", [4 x i8] }>
%class.anon = type { %"class.Concurrency::abi_1::array_view" }
%"class.Concurrency::abi_1::array_view" = type { %"class.revamp::abi_1::detail::basic_view" }
%"class.revamp::abi_1::detail::basic_view" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent", %"struct.revamp::abi_1::detail::strides", %union.anon }
%"struct.revamp::abi_1::detail::strides" = type { [1 x i64] }
%union.anon = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::extent" = type { %"class.revamp::abi_1::detail::components" }
%"class.revamp::abi_1::detail::components" = type { [1 x i32] }
%struct.material = type { double, i16, i8, i8, i64, [3 x float] }
%struct.args.42 = type { %class.anon.31, %"class.Concurrency::abi_1::extent.18" }
%class.anon.31 = type { %"class.Concurrency::abi_1::array_view.16" }
%"class.Concurrency::abi_1::array_view.16" = type { %"class.revamp::abi_1::detail::basic_view.17" }
%"class.revamp::abi_1::detail::basic_view.17" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent.18", %"struct.revamp::abi_1::detail::strides.20", %union.anon.21 }
%"struct.revamp::abi_1::detail::strides.20" = type { [1 x i64] }
%union.anon.21 = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::extent.18" = type { %"class.revamp::abi_1::detail::components.19" }
%"class.revamp::abi_1::detail::components.19" = type { [2 x i32] }
%struct.args.45 = type <{ %class.anon.32, %"class.Concurrency::abi_1::extent.27", [4 x i8] }>
%class.anon.32 = type { %"class.Concurrency::abi_1::array_view.25", %"class.Concurrency::abi_1::array_view.22" }
%"class.Concurrency::abi_1::array_view.25" = type { %"class.revamp::abi_1::detail::basic_view.26" }
%"class.revamp::abi_1::detail::basic_view.26" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent.27", %"struct.revamp::abi_1::detail::strides.29", %union.anon.30 }
%"struct.revamp::abi_1::detail::strides.29" = type { [2 x i64] }
%union.anon.30 = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::array_view.22" = type { %"class.revamp::abi_1::detail::basic_view.23" }
%"class.revamp::abi_1::detail::basic_view.23" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent", %"struct.revamp::abi_1::detail::strides", %union.anon.24 }
%union.anon.24 = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::extent.27" = type { %"class.revamp::abi_1::detail::components.28" }
%"class.revamp::abi_1::detail::components.28" = type { [3 x i32] }

@_ZZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_E7weights = internal unnamed_addr addrspace(1) constant [5 x float] [float 0x3FB99999A0000000, float 2.500000e-01, float 0x39B4484C00000000, float 0x47EC363CC0000000, float -0.000000e+00], align 16
@_ZZZ4mainENKUlN11Concurrency5abi_15indexILi2EEEE_clES2_E6shared = internal unnamed_addr addrspace(3) global [64 x i32] undef, align 16
@__hip_cuid_dd8eb00a7973333e = internal addrspace(1) global i8 0
@llvm.used = appending addrspace(1) global [3 x ptr addrspace(4)] [ptr addrspace(4) @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE, ptr addrspace(4) @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi2EEEE_Li2EEv4argsIT_XT0_EE, ptr addrspace(4) @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi3EEEE_Li3EEv4argsIT_XT0_EE], section "llvm.metadata"

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: convergent mustprogress norecurse nounwind
define internal spir_kernel void @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE(ptr addrspace(2) noundef readonly byref(%struct.args) align 8 captures(none) %0) addrspace(4) #1 !dbg !15 !max_work_group_size !19 {
.preheader:
  %.sroa.013.0.copyload = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %.sroa.214.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 32
  %.sroa.214.0.copyload = load i32, ptr addrspace(2) %.sroa.214.0..sroa_idx, align 8
  %1 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 0) #4, !dbg !20
  %2 = icmp slt i32 %1, %.sroa.214.0.copyload
  br i1 %2, label %3, label %Flow44, !dbg !21

3: ; preds = %.preheader
  %4 = sext i32 %1 to i64, !dbg !22
  %5 = getelementptr inbounds %struct.material, ptr addrspace(4) %.sroa.013.0.copyload, i64 %4, !dbg !30
  %6 = load double, ptr addrspace(4) %5, align 8, !dbg !31, !tbaa !32
  %7 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 8, !dbg !38
  %8 = load i16, ptr addrspace(4) %7, align 8, !dbg !38, !tbaa !39
  %9 = sext i16 %8 to i32, !dbg !40
  %10 = tail call spir_func noundef addrspace(4) double @_ZL4deepdi(double noundef %6, i32 noundef %9) #4, !dbg !41
  %11 = srem i32 %1, 5, !dbg !42
  %12 = sext i32 %11 to i64, !dbg !43
  %13 = getelementptr inbounds float, ptr addrspace(1) @_ZZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_E7weights, i64 %12, !dbg !43
  %14 = load float, ptr addrspace(1) %13, align 4, !dbg !43, !tbaa !44
  %15 = fpext float %14 to double, !dbg !43
  %16 = fadd double %10, %15, !dbg !46
  store double %16, ptr addrspace(4) %5, align 8, !dbg !47, !tbaa !32
  %17 = load i16, ptr addrspace(4) %7, align 8, !dbg !48, !tbaa !39
  br label %NodeBlock28

Flow44: ; preds = %_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_.exit, %.preheader
  br label %103

NodeBlock28: ; preds = %3
  %Pivot29 = icmp sge i16 %17, 8
  br i1 %Pivot29, label %NodeBlock26, label %Flow32

NodeBlock26: ; preds = %NodeBlock28
  %Pivot27 = icmp sge i16 %17, 9
  br i1 %Pivot27, label %NodeBlock24, label %Flow33

Flow32: ; preds = %Flow33, %NodeBlock28
  %18 = phi i16 [ %22, %Flow33 ], [ poison, %NodeBlock28 ]
  %19 = phi i1 [ %23, %Flow33 ], [ false, %NodeBlock28 ]
  %20 = phi i1 [ %24, %Flow33 ], [ false, %NodeBlock28 ]
  %21 = phi i1 [ false, %Flow33 ], [ true, %NodeBlock28 ]
  br i1 %21, label %NodeBlock18, label %Flow38

NodeBlock24: ; preds = %NodeBlock26
  %Pivot25 = icmp sge i16 %17, 100
  br i1 %Pivot25, label %LeafBlock22, label %Flow34

Flow33: ; preds = %Flow36, %NodeBlock26
  %22 = phi i16 [ %41, %Flow36 ], [ poison, %NodeBlock26 ]
  %23 = phi i1 [ %42, %Flow36 ], [ false, %NodeBlock26 ]
  %24 = phi i1 [ false, %Flow36 ], [ true, %NodeBlock26 ]
  br label %Flow32

LeafBlock22: ; preds = %NodeBlock24
  %SwitchLeaf23 = icmp eq i16 %17, 100
  br i1 %SwitchLeaf23, label %46, label %Flow35

Flow35: ; preds = %46, %LeafBlock22
  %25 = phi i1 [ false, %46 ], [ true, %LeafBlock22 ]
  br label %Flow34

LeafBlock20: ; preds = %Flow34
  %SwitchLeaf21 = icmp eq i16 %17, 9
  br i1 %SwitchLeaf21, label %43, label %Flow37

Flow37: ; preds = %43, %LeafBlock20
  %26 = phi i1 [ false, %43 ], [ true, %LeafBlock20 ]
  br label %Flow36

NodeBlock18: ; preds = %Flow32
  %Pivot19 = icmp sge i16 %17, 1
  br i1 %Pivot19, label %NodeBlock, label %Flow39

Flow38: ; preds = %Flow39, %Flow32
  %27 = phi i16 [ 4, %Flow39 ], [ %18, %Flow32 ]
  %28 = phi i1 [ %37, %Flow39 ], [ %19, %Flow32 ]
  %29 = phi i1 [ %38, %Flow39 ], [ false, %Flow32 ]
  %30 = phi i1 [ %39, %Flow39 ], [ %20, %Flow32 ]
  br i1 %30, label %36, label %Flow42

NodeBlock: ; preds = %NodeBlock18
  %Pivot = icmp sge i16 %17, 7
  br i1 %Pivot, label %40, label %Flow40

Flow40: ; preds = %40, %NodeBlock
  %31 = phi i1 [ false, %40 ], [ true, %NodeBlock ]
  br i1 %31, label %LeafBlock16, label %Flow41

LeafBlock16: ; preds = %Flow40
  %SwitchLeaf17 = icmp eq i16 %17, 1
  br label %Flow41

Flow42: ; preds = %36, %Flow38
  %32 = phi i16 [ 1, %36 ], [ %27, %Flow38 ]
  %33 = phi i1 [ false, %36 ], [ %28, %Flow38 ]
  br i1 %29, label %LeafBlock, label %Flow43

LeafBlock: ; preds = %Flow42
  %SwitchLeaf = icmp ne i16 %17, 0
  br label %Flow43

Flow41: ; preds = %LeafBlock16, %Flow40
  %34 = phi i1 [ true, %LeafBlock16 ], [ %19, %Flow40 ]
  %35 = phi i1 [ %SwitchLeaf17, %LeafBlock16 ], [ %20, %Flow40 ]
  br label %Flow39

36: ; preds = %Flow38
  br label %Flow42, !dbg !49

Flow39: ; preds = %Flow41, %NodeBlock18
  %37 = phi i1 [ %34, %Flow41 ], [ %19, %NodeBlock18 ]
  %38 = phi i1 [ false, %Flow41 ], [ true, %NodeBlock18 ]
  %39 = phi i1 [ %35, %Flow41 ], [ %20, %NodeBlock18 ]
  br label %Flow38

40: ; preds = %NodeBlock
  br label %Flow40, !dbg !52

Flow36: ; preds = %Flow37, %Flow34
  %41 = phi i16 [ 5, %Flow37 ], [ 9, %Flow34 ]
  %42 = phi i1 [ %26, %Flow37 ], [ %44, %Flow34 ]
  br label %Flow33

43: ; preds = %LeafBlock20
  br label %Flow37, !dbg !53

Flow34: ; preds = %Flow35, %NodeBlock24
  %44 = phi i1 [ %25, %Flow35 ], [ false, %NodeBlock24 ]
  %45 = phi i1 [ false, %Flow35 ], [ true, %NodeBlock24 ]
  br i1 %45, label %LeafBlock20, label %Flow36

46: ; preds = %LeafBlock22
  br label %Flow35, !dbg !54

Flow43: ; preds = %LeafBlock, %Flow42
  %47 = phi i16 [ 3, %LeafBlock ], [ %32, %Flow42 ]
  %48 = phi i1 [ %SwitchLeaf, %LeafBlock ], [ %33, %Flow42 ]
  br i1 %48, label %49, label %_ZL8table_ofi.exit.i

49: ; preds = %Flow43
  %50 = mul i16 %17, %17, !dbg !55
  br label %_ZL8table_ofi.exit.i, !dbg !56

_ZL8table_ofi.exit.i: ; preds = %49, %Flow43
  %.0.i.i = phi i16 [ %50, %49 ], [ %47, %Flow43 ], !dbg !57
  store i16 %.0.i.i, ptr addrspace(4) %7, align 8, !dbg !58, !tbaa !39
  %51 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 10, !dbg !59
  %52 = load i8, ptr addrspace(4) %51, align 2, !dbg !60, !tbaa !61
  %53 = xor i8 %52, 90, !dbg !60
  store i8 %53, ptr addrspace(4) %51, align 2, !dbg !60, !tbaa !61
  %54 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 11, !dbg !62
  %55 = load i8, ptr addrspace(4) %54, align 1, !dbg !62, !tbaa !63, !range !64, !noundef !18
  %56 = trunc nuw i8 %55 to i1, !dbg !62
  %57 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 16, !dbg !65
  %58 = load i64, ptr addrspace(4) %57, align 8, !dbg !65
  %59 = icmp slt i64 %58, 0, !dbg !65
  %not..i = xor i1 %56, true, !dbg !65
  %60 = select i1 %not..i, i1 %59, i1 false, !dbg !65
  %61 = zext i1 %60 to i8, !dbg !66
  store i8 %61, ptr addrspace(4) %54, align 1, !dbg !66, !tbaa !63
  %62 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 24
  %63 = load float, ptr addrspace(4) %62, align 8, !dbg !67, !tbaa !44
  %64 = tail call spir_func noundef addrspace(4) float @__revamp_fast_fabs_f32(float noundef %63) #4, !dbg !68
  %65 = fcmp ule float %64, 1.500000e+00, !dbg !72
  br i1 %65, label %70, label %Flow31, !dbg !73

Flow31: ; preds = %70, %_ZL8table_ofi.exit.i
  %66 = phi float [ %73, %70 ], [ poison, %_ZL8table_ofi.exit.i ]
  %67 = phi i1 [ false, %70 ], [ true, %_ZL8table_ofi.exit.i ]
  br i1 %67, label %68, label %74

68: ; preds = %Flow31
  %69 = load float, ptr addrspace(4) %62, align 4, !dbg !74, !tbaa !44
  br label %74, !dbg !73

70: ; preds = %_ZL8table_ofi.exit.i
  %71 = load i64, ptr addrspace(4) %57, align 8, !dbg !75, !tbaa !76
  %72 = srem i64 %71, 7, !dbg !77
  %73 = sitofp i64 %72 to float, !dbg !78
  br label %Flow31, !dbg !73

74: ; preds = %68, %Flow31
  %75 = phi float [ %69, %68 ], [ %66, %Flow31 ], !dbg !73
  store float %75, ptr addrspace(4) %62, align 4, !dbg !79, !tbaa !44
  %76 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 28, !dbg !67
  %77 = load float, ptr addrspace(4) %76, align 4, !dbg !67, !tbaa !44
  %78 = tail call spir_func noundef addrspace(4) float @__revamp_fast_fabs_f32(float noundef %77) #4, !dbg !68
  %79 = fcmp ule float %78, 1.500000e+00, !dbg !72
  br i1 %79, label %80, label %Flow30, !dbg !73

80: ; preds = %74
  %81 = load i64, ptr addrspace(4) %57, align 8, !dbg !75, !tbaa !76
  %82 = srem i64 %81, 7, !dbg !77
  %83 = sitofp i64 %82 to float, !dbg !78
  br label %Flow30, !dbg !73

Flow30: ; preds = %80, %74
  %84 = phi float [ %83, %80 ], [ poison, %74 ]
  %85 = phi i1 [ false, %80 ], [ true, %74 ]
  br i1 %85, label %86, label %88

86: ; preds = %Flow30
  %87 = load float, ptr addrspace(4) %76, align 4, !dbg !74, !tbaa !44
  br label %88, !dbg !73

88: ; preds = %86, %Flow30
  %89 = phi float [ %87, %86 ], [ %84, %Flow30 ], !dbg !73
  store float %89, ptr addrspace(4) %76, align 4, !dbg !79, !tbaa !44
  %90 = getelementptr inbounds nuw i8, ptr addrspace(4) %5, i64 32, !dbg !67
  %91 = load float, ptr addrspace(4) %90, align 4, !dbg !67, !tbaa !44
  %92 = tail call spir_func noundef addrspace(4) float @__revamp_fast_fabs_f32(float noundef %91) #4, !dbg !68
  %93 = fcmp ule float %92, 1.500000e+00, !dbg !72
  br i1 %93, label %94, label %Flow, !dbg !73

94: ; preds = %88
  %95 = load i64, ptr addrspace(4) %57, align 8, !dbg !75, !tbaa !76
  %96 = srem i64 %95, 7, !dbg !77
  %97 = sitofp i64 %96 to float, !dbg !78
  br label %Flow, !dbg !73

Flow: ; preds = %94, %88
  %98 = phi float [ %97, %94 ], [ poison, %88 ]
  %99 = phi i1 [ false, %94 ], [ true, %88 ]
  br i1 %99, label %100, label %_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_.exit

100: ; preds = %Flow
  %101 = load float, ptr addrspace(4) %90, align 4, !dbg !74, !tbaa !44
  br label %_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_.exit, !dbg !73

_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_.exit: ; preds = %100, %Flow
  %102 = phi float [ %101, %100 ], [ %98, %Flow ], !dbg !73
  store float %102, ptr addrspace(4) %90, align 4, !dbg !79, !tbaa !44
  br label %Flow44, !dbg !80

103: ; preds = %Flow44
  ret void, !dbg !81
}

; Function Attrs: convergent nounwind
declare !dbg !82 hidden spir_func i32 @__revamp_global_id(i32 noundef) local_unnamed_addr addrspace(4) #2

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define internal spir_func noundef double @_ZL4deepdi(double noundef %0, i32 noundef range(i32 -32768, 32768) %1) unnamed_addr addrspace(4) #3 !dbg !83 {
  %3 = icmp sge i32 %1, 1, !dbg !84
  br i1 %3, label %.lr.ph.preheader, label %Flow12, !dbg !85

.lr.ph.preheader: ; preds = %2
  br label %.lr.ph, !dbg !85

Flow12: ; preds = %._crit_edge.loopexit, %2
  %4 = phi double [ %.1, %._crit_edge.loopexit ], [ 0.000000e+00, %2 ]
  br label %._crit_edge

.lr.ph: ; preds = %.lr.ph.preheader, %18
  %.011 = phi i32 [ %.pre-phi, %18 ], [ 0, %.lr.ph.preheader ]
  %.0910 = phi double [ %.1, %18 ], [ 0.000000e+00, %.lr.ph.preheader ]
  %5 = urem i32 %.011, 3, !dbg !86
  %6 = icmp ne i32 %5, 0, !dbg !87
  br i1 %6, label %10, label %Flow, !dbg !87

Flow: ; preds = %10, %.lr.ph
  %7 = phi double [ %17, %10 ], [ poison, %.lr.ph ]
  %8 = phi i32 [ %14, %10 ], [ poison, %.lr.ph ]
  %9 = phi i1 [ false, %10 ], [ true, %.lr.ph ]
  br i1 %9, label %.lr.ph._crit_edge, label %18

.lr.ph._crit_edge: ; preds = %Flow
  %.pre = add nuw nsw i32 %.011, 1, !dbg !88
  br label %18, !dbg !87

10: ; preds = %.lr.ph
  %11 = uitofp nneg i32 %.011 to double, !dbg !89
  %12 = fadd double %0, %11, !dbg !90
  %13 = tail call spir_func noundef addrspace(4) double @__revamp_precise_sqrt_f64(double noundef %12) #4, !dbg !91
  %14 = add nuw nsw i32 %.011, 1, !dbg !94
  %15 = uitofp nneg i32 %14 to double, !dbg !95
  %16 = fdiv double %13, %15, !dbg !96
  %17 = fadd double %.0910, %16, !dbg !97
  br label %Flow, !dbg !98

18: ; preds = %.lr.ph._crit_edge, %Flow
  %.pre-phi = phi i32 [ %.pre, %.lr.ph._crit_edge ], [ %8, %Flow ], !dbg !88
  %.1 = phi double [ %.0910, %.lr.ph._crit_edge ], [ %7, %Flow ], !dbg !99
  %19 = icmp sge i32 %.pre-phi, %1, !dbg !84
  %20 = fcmp ogt double %.1, 1.000000e+02
  %or.cond = select i1 %19, i1 true, i1 %20, !dbg !85
  br i1 %or.cond, label %._crit_edge.loopexit, label %.lr.ph, !dbg !85

._crit_edge.loopexit: ; preds = %18
  br label %Flow12, !dbg !100

._crit_edge: ; preds = %Flow12
  ret double %4, !dbg !100
}

; Function Attrs: convergent nounwind
declare !dbg !101 hidden spir_func double @__revamp_precise_sqrt_f64(double noundef) local_unnamed_addr addrspace(4) #2

; Function Attrs: convergent nounwind
declare !dbg !102 hidden spir_func float @__revamp_fast_fabs_f32(float noundef) local_unnamed_addr addrspace(4) #2

; Function Attrs: convergent mustprogress norecurse nounwind
define internal spir_kernel void @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi2EEEE_Li2EEv4argsIT_XT0_EE(ptr addrspace(2) noundef readonly byref(%struct.args.42) align 8 captures(none) %0) addrspace(4) #1 !dbg !103 !max_work_group_size !19 {
  %.sroa.015.0.copyload = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %.sroa.418.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 16
  %.sroa.418.0.copyload = load i64, ptr addrspace(2) %.sroa.418.0..sroa_idx, align 8
  %.sroa.621.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 32
  %.sroa.621.0.copyload = load i32, ptr addrspace(2) %.sroa.621.0..sroa_idx, align 8
  %.sroa.7.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 36
  %.sroa.7.0.copyload = load i32, ptr addrspace(2) %.sroa.7.0..sroa_idx, align 4
  %2 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 1) #4, !dbg !104
  %3 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 0) #4, !dbg !104
  %4 = icmp slt i32 %2, %.sroa.621.0.copyload, !dbg !105
  %5 = icmp slt i32 %3, %.sroa.7.0.copyload
  %or.cond = select i1 %4, i1 %5, i1 false, !dbg !106
  br i1 %or.cond, label %6, label %.thread, !dbg !106

6: ; preds = %1
  %7 = sext i32 %3 to i64, !dbg !107
  %8 = sext i32 %2 to i64
  %9 = mul nsw i64 %.sroa.418.0.copyload, %8
  %10 = getelementptr i32, ptr addrspace(4) %.sroa.015.0.copyload, i64 %9, !dbg !114
  %11 = getelementptr i32, ptr addrspace(4) %10, i64 %7, !dbg !114
  %12 = load i32, ptr addrspace(4) %11, align 4, !dbg !115, !tbaa !11
  %13 = tail call spir_func addrspace(4) i32 @__revamp_local_id(i32 noundef 0) #4, !dbg !116
  %14 = zext i32 %13 to i64, !dbg !117
  %15 = getelementptr inbounds nuw i32, ptr addrspace(3) @_ZZZ4mainENKUlN11Concurrency5abi_15indexILi2EEEE_clES2_E6shared, i64 %14, !dbg !117
  store i32 %12, ptr addrspace(3) %15, align 4, !dbg !118, !tbaa !11
  tail call spir_func addrspace(4) void @__revamp_tile_barrier(i32 noundef 3) #4, !dbg !119
  %16 = load i32, ptr addrspace(3) @_ZZZ4mainENKUlN11Concurrency5abi_15indexILi2EEEE_clES2_E6shared, align 4, !dbg !120, !tbaa !11
  %.lobit.i = ashr i32 %16, 31, !dbg !121
  %spec.select18.i = xor i32 %.lobit.i, %16, !dbg !121
  %17 = load i32, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @_ZZZ4mainENKUlN11Concurrency5abi_15indexILi2EEEE_clES2_E6shared, i64 4), align 4, !dbg !120, !tbaa !11
  %18 = add nsw i32 %spec.select18.i, %17, !dbg !122
  %.lobit.1.i = ashr i32 %18, 31, !dbg !121
  %spec.select18.1.i = xor i32 %.lobit.1.i, %18, !dbg !121
  %19 = load i32, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @_ZZZ4mainENKUlN11Concurrency5abi_15indexILi2EEEE_clES2_E6shared, i64 8), align 4, !dbg !120, !tbaa !11
  %20 = add nsw i32 %spec.select18.1.i, %19, !dbg !122
  %.lobit.2.i = ashr i32 %20, 31, !dbg !121
  %spec.select18.2.i = xor i32 %.lobit.2.i, %20, !dbg !121
  %21 = atomicrmw add ptr addrspace(4) %.sroa.015.0.copyload, i32 %spec.select18.2.i seq_cst, align 4, !dbg !123
  %22 = getelementptr inbounds nuw i8, ptr addrspace(4) %.sroa.015.0.copyload, i64 4, !dbg !124
  %23 = cmpxchg ptr addrspace(4) %22, i32 4, i32 %spec.select18.2.i seq_cst seq_cst, align 4, !dbg !127
  %24 = extractvalue { i32, i1 } %23, 0
  store i32 %24, ptr addrspace(4) %11, align 4, !dbg !128, !tbaa !11
  br label %.thread, !dbg !129

.thread: ; preds = %6, %1
  ret void, !dbg !130
}

; Function Attrs: convergent nounwind
declare !dbg !131 hidden spir_func i32 @__revamp_local_id(i32 noundef) local_unnamed_addr addrspace(4) #2

; Function Attrs: convergent nounwind
declare !dbg !132 hidden spir_func void @__revamp_tile_barrier(i32 noundef) local_unnamed_addr addrspace(4) #2

; Function Attrs: convergent mustprogress norecurse nounwind
define internal spir_kernel void @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi3EEEE_Li3EEv4argsIT_XT0_EE(ptr addrspace(2) noundef readonly byref(%struct.args.45) align 8 captures(none) %0) addrspace(4) #1 !dbg !133 !max_work_group_size !19 {
  %2 = alloca [2 x i32], align 4
  %.sroa.019.0.copyload = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %.sroa.220.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 24
  %.sroa.220.0.copyload = load i64, ptr addrspace(2) %.sroa.220.0..sroa_idx, align 8
  %.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 32
  %.sroa.3.0.copyload = load i64, ptr addrspace(2) %.sroa.3.0..sroa_idx, align 8
  %.sroa.421.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 48
  %.sroa.421.0.copyload = load ptr addrspace(4), ptr addrspace(2) %.sroa.421.0..sroa_idx, align 8
  %.sroa.522.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 80
  %.sroa.522.0.copyload = load i32, ptr addrspace(2) %.sroa.522.0..sroa_idx, align 8
  %.sroa.623.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 84
  %.sroa.623.0.copyload = load i32, ptr addrspace(2) %.sroa.623.0..sroa_idx, align 4
  %.sroa.7.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 88
  %.sroa.7.0.copyload = load i32, ptr addrspace(2) %.sroa.7.0..sroa_idx, align 8
  %3 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 2) #4, !dbg !134
  %4 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 1) #4, !dbg !134
  %5 = tail call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef 0) #4, !dbg !134
  %6 = icmp slt i32 %3, %.sroa.522.0.copyload, !dbg !135
  %7 = icmp slt i32 %4, %.sroa.623.0.copyload
  %or.cond = select i1 %6, i1 %7, i1 false, !dbg !136
  %8 = icmp slt i32 %5, %.sroa.7.0.copyload
  %or.cond25 = select i1 %or.cond, i1 %8, i1 false, !dbg !136
  br i1 %or.cond25, label %9, label %Flow26, !dbg !136

9: ; preds = %1
  %10 = sext i32 %5 to i64, !dbg !137
  %11 = sext i32 %3 to i64, !dbg !144
  %12 = mul nsw i64 %.sroa.220.0.copyload, %11, !dbg !145
  %13 = sext i32 %4 to i64, !dbg !144
  %14 = mul nsw i64 %.sroa.3.0.copyload, %13, !dbg !145
  %15 = getelementptr i64, ptr addrspace(4) %.sroa.019.0.copyload, i64 %14, !dbg !146
  %16 = getelementptr i64, ptr addrspace(4) %15, i64 %12, !dbg !146
  %17 = getelementptr i64, ptr addrspace(4) %16, i64 %10, !dbg !146
  %18 = load i64, ptr addrspace(4) %17, align 8, !dbg !147, !tbaa !148
  call addrspace(4) void @llvm.lifetime.start.p0(ptr nonnull %2) #5, !dbg !149
  %19 = trunc i64 %18 to i32, !dbg !150
  store i32 %19, ptr %2, align 4, !dbg !151, !tbaa !11
  %20 = lshr i64 %18, 1, !dbg !152
  %21 = trunc i64 %20 to i32, !dbg !150
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 4, !dbg !153
  store i32 %21, ptr %22, align 4, !dbg !151, !tbaa !11
  %.not20.i = icmp ne i64 %18, 0, !dbg !154
  br i1 %.not20.i, label %.lr.ph.i.preheader, label %Flow, !dbg !155

.lr.ph.i.preheader: ; preds = %9
  br label %.lr.ph.i, !dbg !155

Flow: ; preds = %_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit.loopexit, %9
  %23 = phi i32 [ %27, %_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit.loopexit ], [ 0, %9 ]
  br label %_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit

.lr.ph.i: ; preds = %.lr.ph.i.preheader, %.lr.ph.i
  %.022.i = phi i32 [ %27, %.lr.ph.i ], [ 0, %.lr.ph.i.preheader ]
  %.01421.i = phi i64 [ %29, %.lr.ph.i ], [ %18, %.lr.ph.i.preheader ]
  %24 = and i64 %.01421.i, 1, !dbg !156
  %25 = getelementptr inbounds nuw i32, ptr %2, i64 %24, !dbg !157
  %26 = load i32, ptr %25, align 4, !dbg !157, !tbaa !11
  %27 = add nsw i32 %26, %.022.i, !dbg !158
  %28 = add i64 %.01421.i, -1, !dbg !159
  %29 = and i64 %28, %.01421.i, !dbg !160
  %.not.i = icmp eq i64 %29, 0, !dbg !154
  br i1 %.not.i, label %_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit.loopexit, label %.lr.ph.i, !dbg !155

_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit.loopexit: ; preds = %.lr.ph.i
  br label %Flow, !dbg !161

Flow26: ; preds = %_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit, %1
  br label %.thread24

_ZZ4mainENKUlN11Concurrency5abi_15indexILi3EEEE_clES2_.exit: ; preds = %Flow
  %30 = shl i32 %23, 3, !dbg !161
  %31 = ashr i32 %23, 29, !dbg !162
  %32 = or i32 %30, %31, !dbg !163
  %33 = sext i32 %32 to i64, !dbg !164
  %34 = and i32 %23, 63, !dbg !165
  %35 = zext nneg i32 %34 to i64, !dbg !166
  %36 = getelementptr inbounds nuw double, ptr addrspace(4) %.sroa.421.0.copyload, i64 %35, !dbg !170
  %37 = load double, ptr addrspace(4) %36, align 8, !dbg !171, !tbaa !172
  %38 = fptosi double %37 to i64, !dbg !171
  %39 = add nsw i64 %38, %33, !dbg !173
  store i64 %39, ptr addrspace(4) %17, align 8, !dbg !174, !tbaa !148
  call addrspace(4) void @llvm.lifetime.end.p0(ptr nonnull %2) #5, !dbg !175
  br label %Flow26, !dbg !176

.thread24: ; preds = %Flow26
  ret void, !dbg !177
}

attributes #0 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { convergent mustprogress norecurse nounwind "target-features"="+16-bit-insts,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #2 = { convergent nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #3 = { convergent mustprogress noinline norecurse nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #4 = { convergent nounwind }
attributes #5 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!opencl.ocl.version = !{!9}
!llvm.ident = !{!10}
!llvm.errno.tbaa = !{!11}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "kinds.cpp", directory: "/src")
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
!15 = distinct !DISubprogram(name: "entry<(lambda at kinds.cpp:8:17), 1>", scope: !16, file: !16, line: 9, type: !17, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
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
!27 = distinct !DILocation(line: 9, column: 19, scope: !28, inlinedAt: !29)
!28 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 8, type: !17, scopeLine: 8, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!29 = distinct !DILocation(line: 13, column: 11, scope: !15)
!30 = !DILocation(line: 456, column: 16, scope: !26, inlinedAt: !27)
!31 = !DILocation(line: 11, column: 18, scope: !28, inlinedAt: !29)
!32 = !{!33, !34, i64 0}
!33 = !{!"_ZTS8material", !34, i64 0, !35, i64 8, !13, i64 10, !36, i64 11, !37, i64 16, !13, i64 24}
!34 = !{!"double", !13, i64 0}
!35 = !{!"short", !13, i64 0}
!36 = !{!"bool", !13, i64 0}
!37 = !{!"long long", !13, i64 0}
!38 = !DILocation(line: 11, column: 23, scope: !28, inlinedAt: !29)
!39 = !{!33, !35, i64 8}
!40 = !DILocation(line: 11, column: 21, scope: !28, inlinedAt: !29)
!41 = !DILocation(line: 11, column: 11, scope: !28, inlinedAt: !29)
!42 = !DILocation(line: 11, column: 41, scope: !28, inlinedAt: !29)
!43 = !DILocation(line: 11, column: 28, scope: !28, inlinedAt: !29)
!44 = !{!45, !45, i64 0}
!45 = !{!"float", !13, i64 0}
!46 = !DILocation(line: 11, column: 26, scope: !28, inlinedAt: !29)
!47 = !DILocation(line: 11, column: 9, scope: !28, inlinedAt: !29)
!48 = !DILocation(line: 12, column: 28, scope: !28, inlinedAt: !29)
!49 = !DILocation(line: 3, column: 83, scope: !50, inlinedAt: !51)
!50 = distinct !DISubprogram(name: "table_of", scope: !1, file: !1, line: 3, type: !17, scopeLine: 3, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!51 = distinct !DILocation(line: 12, column: 17, scope: !28, inlinedAt: !29)
!52 = !DILocation(line: 3, column: 101, scope: !50, inlinedAt: !51)
!53 = !DILocation(line: 3, column: 137, scope: !50, inlinedAt: !51)
!54 = !DILocation(line: 3, column: 157, scope: !50, inlinedAt: !51)
!55 = !DILocation(line: 3, column: 185, scope: !50, inlinedAt: !51)
!56 = !DILocation(line: 3, column: 176, scope: !50, inlinedAt: !51)
!57 = !DILocation(line: 3, scope: !50, inlinedAt: !51)
!58 = !DILocation(line: 12, column: 9, scope: !28, inlinedAt: !29)
!59 = !DILocation(line: 12, column: 35, scope: !28, inlinedAt: !29)
!60 = !DILocation(line: 12, column: 37, scope: !28, inlinedAt: !29)
!61 = !{!33, !13, i64 10}
!62 = !DILocation(line: 12, column: 55, scope: !28, inlinedAt: !29)
!63 = !{!33, !36, i64 11}
!64 = !{i8 0, i8 2}
!65 = !DILocation(line: 12, column: 57, scope: !28, inlinedAt: !29)
!66 = !DILocation(line: 12, column: 50, scope: !28, inlinedAt: !29)
!67 = !DILocation(line: 13, column: 58, scope: !28, inlinedAt: !29)
!68 = !DILocation(line: 83, column: 24, scope: !69, inlinedAt: !71)
!69 = distinct !DISubprogram(name: "fabs", scope: !70, file: !70, line: 83, type: !17, scopeLine: 83, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!70 = !DIFile(filename: "cpp-shim/revamp/detail/device_math.h", directory: "")
!71 = distinct !DILocation(line: 13, column: 42, scope: !28, inlinedAt: !29)
!72 = !DILocation(line: 13, column: 66, scope: !28, inlinedAt: !29)
!73 = !DILocation(line: 13, column: 42, scope: !28, inlinedAt: !29)
!74 = !DILocation(line: 13, column: 75, scope: !28, inlinedAt: !29)
!75 = !DILocation(line: 13, column: 92, scope: !28, inlinedAt: !29)
!76 = !{!33, !37, i64 16}
!77 = !DILocation(line: 13, column: 94, scope: !28, inlinedAt: !29)
!78 = !DILocation(line: 13, column: 90, scope: !28, inlinedAt: !29)
!79 = !DILocation(line: 13, column: 40, scope: !28, inlinedAt: !29)
!80 = !DILocation(line: 13, column: 11, scope: !15)
!81 = !DILocation(line: 15, column: 1, scope: !15)
!82 = !DISubprogram(name: "__revamp_global_id", scope: !16, file: !16, line: 6, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!83 = distinct !DISubprogram(name: "deep", scope: !1, file: !1, line: 4, type: !17, scopeLine: 4, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!84 = !DILocation(line: 4, column: 103, scope: !83)
!85 = !DILocation(line: 4, column: 85, scope: !83)
!86 = !DILocation(line: 4, column: 141, scope: !83)
!87 = !DILocation(line: 4, column: 145, scope: !83)
!88 = !DILocation(line: 4, column: 108, scope: !83)
!89 = !DILocation(line: 4, column: 189, scope: !83)
!90 = !DILocation(line: 4, column: 187, scope: !83)
!91 = !DILocation(line: 98, column: 24, scope: !92, inlinedAt: !93)
!92 = distinct !DISubprogram(name: "sqrt", scope: !70, file: !70, line: 98, type: !17, scopeLine: 98, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!93 = distinct !DILocation(line: 4, column: 166, scope: !83)
!94 = !DILocation(line: 4, column: 197, scope: !83)
!95 = !DILocation(line: 4, column: 194, scope: !83)
!96 = !DILocation(line: 4, column: 192, scope: !83)
!97 = !DILocation(line: 4, column: 163, scope: !83)
!98 = !DILocation(line: 4, column: 203, scope: !83)
!99 = !DILocation(line: 4, scope: !83)
!100 = !DILocation(line: 4, column: 205, scope: !83)
!101 = !DISubprogram(name: "__revamp_precise_sqrt_f64", scope: !70, file: !70, line: 98, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!102 = !DISubprogram(name: "__revamp_fast_fabs_f32", scope: !70, file: !70, line: 83, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!103 = distinct !DISubprogram(name: "entry<(lambda at kinds.cpp:15:17), 2>", scope: !16, file: !16, line: 9, type: !17, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!104 = !DILocation(line: 11, column: 56, scope: !103)
!105 = !DILocation(line: 12, column: 64, scope: !103)
!106 = !DILocation(line: 12, column: 47, scope: !103)
!107 = !DILocation(line: 193, column: 29, scope: !108, inlinedAt: !109)
!108 = distinct !DISubprogram(name: "operator()", scope: !24, file: !24, line: 192, type: !17, scopeLine: 192, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!109 = distinct !DILocation(line: 456, column: 24, scope: !110, inlinedAt: !111)
!110 = distinct !DISubprogram(name: "operator[]", scope: !24, file: !24, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!111 = distinct !DILocation(line: 17, column: 36, scope: !112, inlinedAt: !113)
!112 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 15, type: !17, scopeLine: 15, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!113 = distinct !DILocation(line: 13, column: 11, scope: !103)
!114 = !DILocation(line: 456, column: 16, scope: !110, inlinedAt: !111)
!115 = !DILocation(line: 17, column: 36, scope: !112, inlinedAt: !113)
!116 = !DILocation(line: 17, column: 12, scope: !112, inlinedAt: !113)
!117 = !DILocation(line: 17, column: 5, scope: !112, inlinedAt: !113)
!118 = !DILocation(line: 17, column: 34, scope: !112, inlinedAt: !113)
!119 = !DILocation(line: 18, column: 5, scope: !112, inlinedAt: !113)
!120 = !DILocation(line: 20, column: 40, scope: !112, inlinedAt: !113)
!121 = !DILocation(line: 20, column: 57, scope: !112, inlinedAt: !113)
!122 = !DILocation(line: 20, column: 37, scope: !112, inlinedAt: !113)
!123 = !DILocation(line: 21, column: 5, scope: !112, inlinedAt: !113)
!124 = !DILocation(line: 483, column: 16, scope: !125, inlinedAt: !126)
!125 = distinct !DISubprogram(name: "operator()", scope: !24, file: !24, line: 481, type: !17, scopeLine: 481, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!126 = distinct !DILocation(line: 22, column: 48, scope: !112, inlinedAt: !113)
!127 = !DILocation(line: 22, column: 19, scope: !112, inlinedAt: !113)
!128 = !DILocation(line: 23, column: 10, scope: !112, inlinedAt: !113)
!129 = !DILocation(line: 13, column: 11, scope: !103)
!130 = !DILocation(line: 15, column: 1, scope: !103)
!131 = !DISubprogram(name: "__revamp_local_id", scope: !16, file: !16, line: 7, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!132 = !DISubprogram(name: "__revamp_tile_barrier", scope: !16, file: !16, line: 8, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!133 = distinct !DISubprogram(name: "entry<(lambda at kinds.cpp:25:17), 3>", scope: !16, file: !16, line: 9, type: !17, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!134 = !DILocation(line: 11, column: 56, scope: !133)
!135 = !DILocation(line: 12, column: 64, scope: !133)
!136 = !DILocation(line: 12, column: 47, scope: !133)
!137 = !DILocation(line: 193, column: 29, scope: !138, inlinedAt: !139)
!138 = distinct !DISubprogram(name: "operator()", scope: !24, file: !24, line: 192, type: !17, scopeLine: 192, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!139 = distinct !DILocation(line: 456, column: 24, scope: !140, inlinedAt: !141)
!140 = distinct !DISubprogram(name: "operator[]", scope: !24, file: !24, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!141 = distinct !DILocation(line: 26, column: 48, scope: !142, inlinedAt: !143)
!142 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 25, type: !17, scopeLine: 25, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!143 = distinct !DILocation(line: 13, column: 11, scope: !133)
!144 = !DILocation(line: 195, column: 19, scope: !138, inlinedAt: !139)
!145 = !DILocation(line: 195, column: 47, scope: !138, inlinedAt: !139)
!146 = !DILocation(line: 456, column: 16, scope: !140, inlinedAt: !141)
!147 = !DILocation(line: 26, column: 48, scope: !142, inlinedAt: !143)
!148 = !{!37, !37, i64 0}
!149 = !DILocation(line: 27, column: 5, scope: !142, inlinedAt: !143)
!150 = !DILocation(line: 27, column: 62, scope: !142, inlinedAt: !143)
!151 = !DILocation(line: 27, column: 56, scope: !142, inlinedAt: !143)
!152 = !DILocation(line: 27, column: 64, scope: !142, inlinedAt: !143)
!153 = !DILocation(line: 27, column: 47, scope: !142, inlinedAt: !143)
!154 = !DILocation(line: 28, column: 23, scope: !142, inlinedAt: !143)
!155 = !DILocation(line: 28, column: 16, scope: !142, inlinedAt: !143)
!156 = !DILocation(line: 28, column: 41, scope: !142, inlinedAt: !143)
!157 = !DILocation(line: 28, column: 33, scope: !142, inlinedAt: !143)
!158 = !DILocation(line: 28, column: 30, scope: !142, inlinedAt: !143)
!159 = !DILocation(line: 28, column: 54, scope: !142, inlinedAt: !143)
!160 = !DILocation(line: 28, column: 49, scope: !142, inlinedAt: !143)
!161 = !DILocation(line: 29, column: 15, scope: !142, inlinedAt: !143)
!162 = !DILocation(line: 29, column: 24, scope: !142, inlinedAt: !143)
!163 = !DILocation(line: 29, column: 20, scope: !142, inlinedAt: !143)
!164 = !DILocation(line: 29, column: 12, scope: !142, inlinedAt: !143)
!165 = !DILocation(line: 29, column: 57, scope: !142, inlinedAt: !143)
!166 = !DILocation(line: 193, column: 29, scope: !23, inlinedAt: !167)
!167 = distinct !DILocation(line: 456, column: 24, scope: !168, inlinedAt: !169)
!168 = distinct !DISubprogram(name: "operator[]", scope: !24, file: !24, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!169 = distinct !DILocation(line: 29, column: 44, scope: !142, inlinedAt: !143)
!170 = !DILocation(line: 456, column: 16, scope: !168, inlinedAt: !169)
!171 = !DILocation(line: 29, column: 44, scope: !142, inlinedAt: !143)
!172 = !{!34, !34, i64 0}
!173 = !DILocation(line: 29, column: 31, scope: !142, inlinedAt: !143)
!174 = !DILocation(line: 29, column: 10, scope: !142, inlinedAt: !143)
!175 = !DILocation(line: 30, column: 3, scope: !142, inlinedAt: !143)
!176 = !DILocation(line: 13, column: 11, scope: !133)
!177 = !DILocation(line: 15, column: 1, scope: !133)
