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
%"class.Concurrency::abi_1::index" = type { %"class.revamp::abi_1::detail::components.12" }
%"class.revamp::abi_1::detail::components.12" = type { [1 x i32] }

$_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE = comdat any

$_ZN11Concurrency5abi_15indexILi1EEC2Ev = comdat any

$_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj = comdat any

$_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEixEj = comdat any

$_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev = comdat any

$_ZNK6revamp5abi_16detail10basic_viewIKfLi1EEixERKN11Concurrency5abi_15indexILi1EEE = comdat any

$_ZNK6revamp5abi_16detail10basic_viewIfLi1EEixERKN11Concurrency5abi_15indexILi1EEE = comdat any

$_ZNK6revamp5abi_16detail10basic_viewIKfLi1EE5firstEv = comdat any

$_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE = comdat any

$_ZNK6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj = comdat any

$_ZNK6revamp5abi_16detail10basic_viewIfLi1EE5firstEv = comdat any

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) noalias writeonly captures(none), ptr addrspace(4) noalias readonly captures(none), i64, i1 immarg) addrspace(4) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define spir_kernel void @_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE(ptr addrspace(2) noundef byref(%struct.args) align 8 %0) addrspace(4) #2 comdat !dbg !15 !max_work_group_size !19 {
  %2 = alloca %struct.args, align 8
  %3 = alloca %"class.Concurrency::abi_1::index", align 4
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca %"class.Concurrency::abi_1::index", align 4
  %10 = addrspacecast ptr %2 to ptr addrspace(4)
  %11 = addrspacecast ptr %3 to ptr addrspace(4)
  %12 = addrspacecast ptr %4 to ptr addrspace(4)
  %13 = addrspacecast ptr %6 to ptr addrspace(4)
  %14 = addrspacecast ptr %7 to ptr addrspace(4)
  %15 = addrspacecast ptr %9 to ptr addrspace(4)
  call addrspace(4) void @llvm.memcpy.p4.p2.i64(ptr addrspace(4) align 8 %10, ptr addrspace(2) align 8 %0, i64 80, i1 false)
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %3) #6, !dbg !20
  call spir_func addrspace(4) void @_ZN11Concurrency5abi_15indexILi1EEC2Ev(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %11) #7, !dbg !21
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %4) #6, !dbg !22
  store i32 0, ptr addrspace(4) %12, align 4, !dbg !23, !tbaa !11
  br label %16, !dbg !22

16:                                               ; preds = %26, %1
  %17 = load i32, ptr addrspace(4) %12, align 4, !dbg !24, !tbaa !11
  %18 = icmp slt i32 %17, 1, !dbg !25
  br i1 %18, label %20, label %19, !dbg !26

19:                                               ; preds = %16
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %4) #6, !dbg !26
  br label %29

20:                                               ; preds = %16
  %21 = load i32, ptr addrspace(4) %12, align 4, !dbg !27, !tbaa !11
  %22 = sub nsw i32 0, %21, !dbg !28
  %23 = call spir_func addrspace(4) i32 @__revamp_global_id(i32 noundef %22) #7, !dbg !29
  %24 = load i32, ptr addrspace(4) %12, align 4, !dbg !30, !tbaa !11
  %25 = call spir_func noundef align 4 dereferenceable(4) addrspace(4) ptr addrspace(4) @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %11, i32 noundef %24) #7, !dbg !31
  store i32 %23, ptr addrspace(4) %25, align 4, !dbg !32, !tbaa !11
  br label %26, !dbg !31

26:                                               ; preds = %20
  %27 = load i32, ptr addrspace(4) %12, align 4, !dbg !33, !tbaa !11
  %28 = add nsw i32 %27, 1, !dbg !33
  store i32 %28, ptr addrspace(4) %12, align 4, !dbg !33, !tbaa !11
  br label %16, !dbg !26, !llvm.loop !34

29:                                               ; preds = %19
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %6) #6, !dbg !37
  store i8 1, ptr addrspace(4) %13, align 1, !dbg !38, !tbaa !39
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %7) #6, !dbg !41
  store i32 0, ptr addrspace(4) %14, align 4, !dbg !42, !tbaa !11
  br label %30, !dbg !41

30:                                               ; preds = %49, %29
  %31 = load i32, ptr addrspace(4) %14, align 4, !dbg !43, !tbaa !11
  %32 = icmp slt i32 %31, 1, !dbg !44
  br i1 %32, label %34, label %33, !dbg !45

33:                                               ; preds = %30
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %7) #6, !dbg !45
  br label %52

34:                                               ; preds = %30
  %35 = load i8, ptr addrspace(4) %13, align 1, !dbg !46, !tbaa !39, !range !47, !noundef !18
  %36 = trunc i8 %35 to i1, !dbg !46
  br i1 %36, label %37, label %46, !dbg !48

37:                                               ; preds = %34
  %38 = load i32, ptr addrspace(4) %14, align 4, !dbg !49, !tbaa !11
  %39 = call spir_func noundef align 4 dereferenceable(4) addrspace(4) ptr addrspace(4) @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %11, i32 noundef %38) #7, !dbg !50
  %40 = load i32, ptr addrspace(4) %39, align 4, !dbg !50, !tbaa !11
  %41 = getelementptr inbounds nuw %struct.args, ptr addrspace(4) %10, i32 0, i32 1, !dbg !51
  %42 = load i32, ptr addrspace(4) %14, align 4, !dbg !52, !tbaa !11
  %43 = call spir_func noundef align 4 dereferenceable(4) addrspace(4) ptr addrspace(4) @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %41, i32 noundef %42) #7, !dbg !53
  %44 = load i32, ptr addrspace(4) %43, align 4, !dbg !53, !tbaa !11
  %45 = icmp slt i32 %40, %44, !dbg !54
  br label %46

46:                                               ; preds = %37, %34
  %47 = phi i1 [ false, %34 ], [ %45, %37 ], !dbg !55
  %48 = zext i1 %47 to i8, !dbg !56
  store i8 %48, ptr addrspace(4) %13, align 1, !dbg !56, !tbaa !39
  br label %49, !dbg !57

49:                                               ; preds = %46
  %50 = load i32, ptr addrspace(4) %14, align 4, !dbg !58, !tbaa !11
  %51 = add nsw i32 %50, 1, !dbg !58
  store i32 %51, ptr addrspace(4) %14, align 4, !dbg !58, !tbaa !11
  br label %30, !dbg !45, !llvm.loop !59

52:                                               ; preds = %33
  %53 = load i8, ptr addrspace(4) %13, align 1, !dbg !61, !tbaa !39, !range !47, !noundef !18
  %54 = trunc i8 %53 to i1, !dbg !61
  br i1 %54, label %55, label %60, !dbg !61

55:                                               ; preds = %52
  %56 = getelementptr inbounds nuw %struct.args, ptr addrspace(4) %10, i32 0, i32 0, !dbg !62
  call addrspace(4) void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) align 4 %15, ptr addrspace(4) align 4 %11, i64 4, i1 false), !dbg !63
  %57 = getelementptr inbounds nuw %"class.Concurrency::abi_1::index", ptr addrspace(4) %15, i32 0, i32 0, !dbg !64
  %58 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components.12", ptr addrspace(4) %57, i32 0, i32 0, !dbg !64
  %59 = load i32, ptr addrspace(4) %58, align 4, !dbg !64
  call spir_func addrspace(4) void @_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_(ptr addrspace(4) noundef align 8 dereferenceable_or_null(72) %56, i32 %59) #7, !dbg !64
  br label %60, !dbg !64

60:                                               ; preds = %55, %52
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %6) #6, !dbg !65
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %3) #6, !dbg !65
  ret void, !dbg !65
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p4.p2.i64(ptr addrspace(4) noalias writeonly captures(none), ptr addrspace(2) noalias readonly captures(none), i64, i1 immarg) addrspace(4) #1

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func void @_ZN11Concurrency5abi_15indexILi1EEC2Ev(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %0) unnamed_addr addrspace(4) #3 comdat align 2 !dbg !66 {
  %2 = alloca ptr addrspace(4), align 8
  %3 = addrspacecast ptr %2 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %3, align 8, !tbaa !68
  %4 = load ptr addrspace(4), ptr addrspace(4) %3, align 8
  call spir_func addrspace(4) void @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %4) #7, !dbg !71
  ret void, !dbg !72
}

; Function Attrs: convergent nounwind
declare !dbg !73 hidden spir_func i32 @__revamp_global_id(i32 noundef) addrspace(4) #4

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %0, i32 noundef %1) addrspace(4) #3 comdat align 2 !dbg !74 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca i32, align 4
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !75
  store i32 %1, ptr addrspace(4) %8, align 4, !tbaa !11
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components.12", ptr addrspace(4) %9, i32 0, i32 0, !dbg !77
  %11 = load i32, ptr addrspace(4) %8, align 4, !dbg !78, !tbaa !11
  %12 = zext i32 %11 to i64, !dbg !77
  %13 = getelementptr inbounds nuw [1 x i32], ptr addrspace(4) %10, i64 0, i64 %12, !dbg !77
  ret ptr addrspace(4) %13, !dbg !79
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %0, i32 noundef %1) addrspace(4) #3 comdat align 2 !dbg !80 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca i32, align 4
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !81
  store i32 %1, ptr addrspace(4) %8, align 4, !tbaa !11
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components", ptr addrspace(4) %9, i32 0, i32 0, !dbg !83
  %11 = load i32, ptr addrspace(4) %8, align 4, !dbg !84, !tbaa !11
  %12 = zext i32 %11 to i64, !dbg !83
  %13 = getelementptr inbounds nuw [1 x i32], ptr addrspace(4) %10, i64 0, i64 %12, !dbg !83
  ret ptr addrspace(4) %13, !dbg !85
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define hidden spir_func void @_ZZ4mainENKUlN11Concurrency5abi_15indexILi1EEEE_clES2_(ptr addrspace(4) noundef align 8 dereferenceable_or_null(72) %0, i32 %1) addrspace(4) #5 align 2 !dbg !86 {
  %3 = alloca %"class.Concurrency::abi_1::index", align 4
  %4 = alloca ptr addrspace(4), align 8
  %5 = addrspacecast ptr %3 to ptr addrspace(4)
  %6 = addrspacecast ptr %4 to ptr addrspace(4)
  %7 = getelementptr inbounds nuw %"class.Concurrency::abi_1::index", ptr addrspace(4) %5, i32 0, i32 0
  %8 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components.12", ptr addrspace(4) %7, i32 0, i32 0
  store i32 %1, ptr addrspace(4) %8, align 4
  store ptr addrspace(4) %0, ptr addrspace(4) %6, align 8, !tbaa !87
  %9 = load ptr addrspace(4), ptr addrspace(4) %6, align 8
  %10 = getelementptr inbounds nuw %class.anon, ptr addrspace(4) %9, i32 0, i32 1, !dbg !88
  %11 = load float, ptr addrspace(4) %10, align 8, !dbg !88, !tbaa !89
  %12 = getelementptr inbounds nuw %class.anon, ptr addrspace(4) %9, i32 0, i32 2, !dbg !100
  %13 = call spir_func noundef align 4 dereferenceable(4) addrspace(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIKfLi1EEixERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %12, ptr addrspace(4) noundef align 4 dereferenceable(4) %5) #7, !dbg !100
  %14 = load float, ptr addrspace(4) %13, align 4, !dbg !100, !tbaa !101
  %15 = fmul float %11, %14, !dbg !102
  %16 = getelementptr inbounds nuw %class.anon, ptr addrspace(4) %9, i32 0, i32 0, !dbg !103
  %17 = call spir_func noundef align 4 dereferenceable(4) addrspace(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIfLi1EEixERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %16, ptr addrspace(4) noundef align 4 dereferenceable(4) %5) #7, !dbg !103
  %18 = load float, ptr addrspace(4) %17, align 4, !dbg !104, !tbaa !101
  %19 = fadd float %18, %15, !dbg !104
  store float %19, ptr addrspace(4) %17, align 4, !dbg !104, !tbaa !101
  ret void, !dbg !105
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func void @_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %0) unnamed_addr addrspace(4) #3 comdat align 2 !dbg !106 {
  %2 = alloca ptr addrspace(4), align 8
  %3 = addrspacecast ptr %2 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %3, align 8, !tbaa !75
  %4 = load ptr addrspace(4), ptr addrspace(4) %3, align 8
  %5 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components.12", ptr addrspace(4) %4, i32 0, i32 0, !dbg !107
  %6 = getelementptr inbounds i32, ptr addrspace(4) %5, i64 1, !dbg !108
  br label %7, !dbg !108

7:                                                ; preds = %7, %1
  %8 = phi ptr addrspace(4) [ %5, %1 ], [ %9, %7 ], !dbg !108
  store i32 0, ptr addrspace(4) %8, align 4, !dbg !108, !tbaa !11
  %9 = getelementptr inbounds i32, ptr addrspace(4) %8, i64 1, !dbg !108
  %10 = icmp eq ptr addrspace(4) %9, %6, !dbg !108
  br i1 %10, label %11, label %7, !dbg !108

11:                                               ; preds = %7
  ret void, !dbg !109
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIKfLi1EEixERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %0, ptr addrspace(4) noundef align 4 dereferenceable(4) %1) addrspace(4) #3 comdat align 2 !dbg !110 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca ptr addrspace(4), align 8
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !112
  store ptr addrspace(4) %1, ptr addrspace(4) %8, align 8, !tbaa !68
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = call spir_func noundef addrspace(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIKfLi1EE5firstEv(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %9) #7, !dbg !114
  %11 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::basic_view", ptr addrspace(4) %9, i32 0, i32 2, !dbg !115
  %12 = load ptr addrspace(4), ptr addrspace(4) %8, align 8, !dbg !116, !tbaa !68, !align !117
  %13 = call spir_func noundef addrspace(4) i64 @_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(8) %11, ptr addrspace(4) noundef align 4 dereferenceable(4) %12) #7, !dbg !115
  %14 = getelementptr inbounds float, ptr addrspace(4) %10, i64 %13, !dbg !114
  ret ptr addrspace(4) %14, !dbg !118
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIfLi1EEixERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %0, ptr addrspace(4) noundef align 4 dereferenceable(4) %1) addrspace(4) #3 comdat align 2 !dbg !119 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca ptr addrspace(4), align 8
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !120
  store ptr addrspace(4) %1, ptr addrspace(4) %8, align 8, !tbaa !68
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = call spir_func noundef addrspace(4) ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIfLi1EE5firstEv(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %9) #7, !dbg !122
  %11 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::basic_view.2", ptr addrspace(4) %9, i32 0, i32 2, !dbg !123
  %12 = load ptr addrspace(4), ptr addrspace(4) %8, align 8, !dbg !124, !tbaa !68, !align !117
  %13 = call spir_func noundef addrspace(4) i64 @_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(8) %11, ptr addrspace(4) noundef align 4 dereferenceable(4) %12) #7, !dbg !123
  %14 = getelementptr inbounds float, ptr addrspace(4) %10, i64 %13, !dbg !122
  ret ptr addrspace(4) %14, !dbg !125
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIKfLi1EE5firstEv(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %0) addrspace(4) #3 comdat align 2 !dbg !126 {
  %2 = alloca ptr addrspace(4), align 8
  %3 = alloca ptr addrspace(4), align 8
  %4 = addrspacecast ptr %2 to ptr addrspace(4)
  %5 = addrspacecast ptr %3 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %5, align 8, !tbaa !112
  %6 = load ptr addrspace(4), ptr addrspace(4) %5, align 8
  %7 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::basic_view", ptr addrspace(4) %6, i32 0, i32 0, !dbg !127
  %8 = load ptr addrspace(4), ptr addrspace(4) %7, align 8, !dbg !127, !tbaa !128
  ret ptr addrspace(4) %8, !dbg !129
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef i64 @_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE(ptr addrspace(4) noundef align 8 dereferenceable_or_null(8) %0, ptr addrspace(4) noundef align 4 dereferenceable(4) %1) addrspace(4) #3 comdat align 2 !dbg !130 {
  %3 = alloca i64, align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca ptr addrspace(4), align 8
  %6 = alloca i64, align 8
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = addrspacecast ptr %3 to ptr addrspace(4)
  %11 = addrspacecast ptr %4 to ptr addrspace(4)
  %12 = addrspacecast ptr %5 to ptr addrspace(4)
  %13 = addrspacecast ptr %6 to ptr addrspace(4)
  %14 = addrspacecast ptr %7 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %11, align 8, !tbaa !131
  store ptr addrspace(4) %1, ptr addrspace(4) %12, align 8, !tbaa !68
  %15 = load ptr addrspace(4), ptr addrspace(4) %11, align 8
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %6) #6, !dbg !133
  %16 = load ptr addrspace(4), ptr addrspace(4) %12, align 8, !dbg !134, !tbaa !68, !align !117
  %17 = call spir_func noundef addrspace(4) i32 @_ZNK6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %16, i32 noundef 0) #7, !dbg !134
  %18 = sext i32 %17 to i64, !dbg !134
  store i64 %18, ptr addrspace(4) %13, align 8, !dbg !135, !tbaa !136
  call addrspace(4) void @llvm.lifetime.start.p0(ptr %7) #6, !dbg !138
  store i32 0, ptr addrspace(4) %14, align 4, !dbg !139, !tbaa !11
  br label %19, !dbg !138

19:                                               ; preds = %36, %2
  %20 = load i32, ptr addrspace(4) %14, align 4, !dbg !140, !tbaa !11
  %21 = icmp slt i32 %20, 0, !dbg !141
  br i1 %21, label %23, label %22, !dbg !142

22:                                               ; preds = %19
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %7) #6, !dbg !142
  br label %39

23:                                               ; preds = %19
  %24 = load ptr addrspace(4), ptr addrspace(4) %12, align 8, !dbg !143, !tbaa !68, !align !117
  %25 = load i32, ptr addrspace(4) %14, align 4, !dbg !144, !tbaa !11
  %26 = call spir_func noundef addrspace(4) i32 @_ZNK6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %24, i32 noundef %25) #7, !dbg !143
  %27 = sext i32 %26 to i64, !dbg !143
  %28 = getelementptr inbounds nuw %"struct.revamp::abi_1::detail::strides", ptr addrspace(4) %15, i32 0, i32 0, !dbg !145
  %29 = load i32, ptr addrspace(4) %14, align 4, !dbg !146, !tbaa !11
  %30 = sext i32 %29 to i64, !dbg !145
  %31 = getelementptr inbounds [1 x i64], ptr addrspace(4) %28, i64 0, i64 %30, !dbg !145
  %32 = load i64, ptr addrspace(4) %31, align 8, !dbg !145, !tbaa !136
  %33 = mul nsw i64 %27, %32, !dbg !147
  %34 = load i64, ptr addrspace(4) %13, align 8, !dbg !148, !tbaa !136
  %35 = add nsw i64 %34, %33, !dbg !148
  store i64 %35, ptr addrspace(4) %13, align 8, !dbg !148, !tbaa !136
  br label %36, !dbg !149

36:                                               ; preds = %23
  %37 = load i32, ptr addrspace(4) %14, align 4, !dbg !150, !tbaa !11
  %38 = add nsw i32 %37, 1, !dbg !150
  store i32 %38, ptr addrspace(4) %14, align 4, !dbg !150, !tbaa !11
  br label %19, !dbg !142, !llvm.loop !151

39:                                               ; preds = %22
  %40 = load i64, ptr addrspace(4) %13, align 8, !dbg !153, !tbaa !136
  call addrspace(4) void @llvm.lifetime.end.p0(ptr %6) #6, !dbg !154
  ret i64 %40, !dbg !155
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef i32 @_ZNK6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEixEj(ptr addrspace(4) noundef align 4 dereferenceable_or_null(4) %0, i32 noundef %1) addrspace(4) #3 comdat align 2 !dbg !156 {
  %3 = alloca i32, align 4
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca i32, align 4
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !75
  store i32 %1, ptr addrspace(4) %8, align 4, !tbaa !11
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::components.12", ptr addrspace(4) %9, i32 0, i32 0, !dbg !157
  %11 = load i32, ptr addrspace(4) %8, align 4, !dbg !158, !tbaa !11
  %12 = zext i32 %11 to i64, !dbg !157
  %13 = getelementptr inbounds nuw [1 x i32], ptr addrspace(4) %10, i64 0, i64 %12, !dbg !157
  %14 = load i32, ptr addrspace(4) %13, align 4, !dbg !157, !tbaa !11
  ret i32 %14, !dbg !159
}

; Function Attrs: convergent mustprogress nounwind
define weak_odr hidden spir_func noundef ptr addrspace(4) @_ZNK6revamp5abi_16detail10basic_viewIfLi1EE5firstEv(ptr addrspace(4) noundef align 8 dereferenceable_or_null(32) %0) addrspace(4) #3 comdat align 2 !dbg !160 {
  %2 = alloca ptr addrspace(4), align 8
  %3 = alloca ptr addrspace(4), align 8
  %4 = addrspacecast ptr %2 to ptr addrspace(4)
  %5 = addrspacecast ptr %3 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %5, align 8, !tbaa !120
  %6 = load ptr addrspace(4), ptr addrspace(4) %5, align 8
  %7 = getelementptr inbounds nuw %"class.revamp::abi_1::detail::basic_view.2", ptr addrspace(4) %6, i32 0, i32 0, !dbg !161
  %8 = load ptr addrspace(4), ptr addrspace(4) %7, align 8, !dbg !161, !tbaa !162
  ret ptr addrspace(4) %8, !dbg !163
}

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent mustprogress norecurse nounwind "target-features"="+16-bit-insts,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #3 = { convergent mustprogress nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #4 = { convergent nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #5 = { convergent inlinehint mustprogress nounwind "target-features"="+16-bit-insts,+wavefrontsize64" }
attributes #6 = { nounwind }
attributes #7 = { convergent nounwind }

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
!20 = !DILocation(line: 11, column: 3, scope: !15)
!21 = !DILocation(line: 11, column: 12, scope: !15)
!22 = !DILocation(line: 11, column: 20, scope: !15)
!23 = !DILocation(line: 11, column: 24, scope: !15)
!24 = !DILocation(line: 11, column: 28, scope: !15)
!25 = !DILocation(line: 11, column: 29, scope: !15)
!26 = !DILocation(line: 11, column: 15, scope: !15)
!27 = !DILocation(line: 11, column: 88, scope: !15)
!28 = !DILocation(line: 11, column: 87, scope: !15)
!29 = !DILocation(line: 11, column: 56, scope: !15)
!30 = !DILocation(line: 11, column: 48, scope: !15)
!31 = !DILocation(line: 11, column: 37, scope: !15)
!32 = !DILocation(line: 11, column: 51, scope: !15)
!33 = !DILocation(line: 11, column: 32, scope: !15)
!34 = distinct !{!34, !26, !35, !36}
!35 = !DILocation(line: 11, column: 91, scope: !15)
!36 = !{!"llvm.loop.mustprogress"}
!37 = !DILocation(line: 12, column: 3, scope: !15)
!38 = !DILocation(line: 12, column: 8, scope: !15)
!39 = !{!40, !40, i64 0}
!40 = !{!"bool", !13, i64 0}
!41 = !DILocation(line: 12, column: 22, scope: !15)
!42 = !DILocation(line: 12, column: 26, scope: !15)
!43 = !DILocation(line: 12, column: 30, scope: !15)
!44 = !DILocation(line: 12, column: 31, scope: !15)
!45 = !DILocation(line: 12, column: 17, scope: !15)
!46 = !DILocation(line: 12, column: 44, scope: !15)
!47 = !{i8 0, i8 2}
!48 = !DILocation(line: 12, column: 47, scope: !15)
!49 = !DILocation(line: 12, column: 61, scope: !15)
!50 = !DILocation(line: 12, column: 50, scope: !15)
!51 = !DILocation(line: 12, column: 67, scope: !15)
!52 = !DILocation(line: 12, column: 83, scope: !15)
!53 = !DILocation(line: 12, column: 65, scope: !15)
!54 = !DILocation(line: 12, column: 64, scope: !15)
!55 = !DILocation(line: 0, scope: !15)
!56 = !DILocation(line: 12, column: 42, scope: !15)
!57 = !DILocation(line: 12, column: 39, scope: !15)
!58 = !DILocation(line: 12, column: 34, scope: !15)
!59 = distinct !{!59, !45, !60, !36}
!60 = !DILocation(line: 12, column: 85, scope: !15)
!61 = !DILocation(line: 13, column: 7, scope: !15)
!62 = !DILocation(line: 13, column: 13, scope: !15)
!63 = !DILocation(line: 13, column: 20, scope: !15)
!64 = !DILocation(line: 13, column: 11, scope: !15)
!65 = !DILocation(line: 15, column: 1, scope: !15)
!66 = distinct !DISubprogram(name: "index", scope: !67, file: !67, line: 178, type: !17, scopeLine: 178, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!67 = !DIFile(filename: "cpp-shim/revamp/detail/shapes.h", directory: "")
!68 = !{!69, !69, i64 0}
!69 = !{!"p1 _ZTSN11Concurrency5abi_15indexILi1EEE", !70, i64 0}
!70 = !{!"any pointer", !13, i64 0}
!71 = !DILocation(line: 178, column: 25, scope: !66)
!72 = !DILocation(line: 178, column: 43, scope: !66)
!73 = !DISubprogram(name: "__revamp_global_id", scope: !16, file: !16, line: 6, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!74 = distinct !DISubprogram(name: "operator[]", scope: !67, file: !67, line: 42, type: !17, scopeLine: 42, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!75 = !{!76, !76, i64 0}
!76 = !{!"p1 _ZTSN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEE", !70, i64 0}
!77 = !DILocation(line: 42, column: 70, scope: !74)
!78 = !DILocation(line: 42, column: 79, scope: !74)
!79 = !DILocation(line: 42, column: 63, scope: !74)
!80 = distinct !DISubprogram(name: "operator[]", scope: !67, file: !67, line: 42, type: !17, scopeLine: 42, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!81 = !{!82, !82, i64 0}
!82 = !{!"p1 _ZTSN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEE", !70, i64 0}
!83 = !DILocation(line: 42, column: 70, scope: !80)
!84 = !DILocation(line: 42, column: 79, scope: !80)
!85 = !DILocation(line: 42, column: 63, scope: !80)
!86 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 6, type: !17, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!87 = !{!70, !70, i64 0}
!88 = !DILocation(line: 6, column: 57, scope: !86)
!89 = !{!90, !97, i64 32}
!90 = !{!"_ZTSZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_", !91, i64 0, !97, i64 32, !98, i64 40}
!91 = !{!"_ZTSN11Concurrency5abi_110array_viewIfLi1EEE", !92, i64 0}
!92 = !{!"_ZTSN6revamp5abi_16detail10basic_viewIfLi1EEE", !93, i64 0, !94, i64 8, !96, i64 16, !13, i64 24}
!93 = !{!"p1 float", !70, i64 0}
!94 = !{!"_ZTSN11Concurrency5abi_16extentILi1EEE", !95, i64 0}
!95 = !{!"_ZTSN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEE", !13, i64 0}
!96 = !{!"_ZTSN6revamp5abi_16detail7stridesILi1EEE", !13, i64 0}
!97 = !{!"float", !13, i64 0}
!98 = !{!"_ZTSN11Concurrency5abi_110array_viewIKfLi1EEE", !99, i64 0}
!99 = !{!"_ZTSN6revamp5abi_16detail10basic_viewIKfLi1EEE", !93, i64 0, !94, i64 8, !96, i64 16, !13, i64 24}
!100 = !DILocation(line: 6, column: 61, scope: !86)
!101 = !{!97, !97, i64 0}
!102 = !DILocation(line: 6, column: 59, scope: !86)
!103 = !DILocation(line: 6, column: 49, scope: !86)
!104 = !DILocation(line: 6, column: 54, scope: !86)
!105 = !DILocation(line: 6, column: 67, scope: !86)
!106 = distinct !DISubprogram(name: "components", scope: !67, file: !67, line: 39, type: !17, scopeLine: 39, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!107 = !DILocation(line: 39, column: 49, scope: !106)
!108 = !DILocation(line: 39, column: 57, scope: !106)
!109 = !DILocation(line: 39, column: 61, scope: !106)
!110 = distinct !DISubprogram(name: "operator[]", scope: !111, file: !111, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!111 = !DIFile(filename: "cpp-shim/revamp/detail/view.h", directory: "")
!112 = !{!113, !113, i64 0}
!113 = !{!"p1 _ZTSN6revamp5abi_16detail10basic_viewIKfLi1EEE", !70, i64 0}
!114 = !DILocation(line: 456, column: 16, scope: !110)
!115 = !DILocation(line: 456, column: 24, scope: !110)
!116 = !DILocation(line: 456, column: 34, scope: !110)
!117 = !{i64 4}
!118 = !DILocation(line: 456, column: 9, scope: !110)
!119 = distinct !DISubprogram(name: "operator[]", scope: !111, file: !111, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!120 = !{!121, !121, i64 0}
!121 = !{!"p1 _ZTSN6revamp5abi_16detail10basic_viewIfLi1EEE", !70, i64 0}
!122 = !DILocation(line: 456, column: 16, scope: !119)
!123 = !DILocation(line: 456, column: 24, scope: !119)
!124 = !DILocation(line: 456, column: 34, scope: !119)
!125 = !DILocation(line: 456, column: 9, scope: !119)
!126 = distinct !DISubprogram(name: "first", scope: !111, file: !111, line: 424, type: !17, scopeLine: 424, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!127 = !DILocation(line: 428, column: 16, scope: !126)
!128 = !{!99, !93, i64 0}
!129 = !DILocation(line: 428, column: 9, scope: !126)
!130 = distinct !DISubprogram(name: "operator()", scope: !111, file: !111, line: 192, type: !17, scopeLine: 192, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!131 = !{!132, !132, i64 0}
!132 = !{!"p1 _ZTSN6revamp5abi_16detail7stridesILi1EEE", !70, i64 0}
!133 = !DILocation(line: 193, column: 9, scope: !130)
!134 = !DILocation(line: 193, column: 29, scope: !130)
!135 = !DILocation(line: 193, column: 24, scope: !130)
!136 = !{!137, !137, i64 0}
!137 = !{!"long", !13, i64 0}
!138 = !DILocation(line: 194, column: 14, scope: !130)
!139 = !DILocation(line: 194, column: 18, scope: !130)
!140 = !DILocation(line: 194, column: 25, scope: !130)
!141 = !DILocation(line: 194, column: 27, scope: !130)
!142 = !DILocation(line: 194, column: 9, scope: !130)
!143 = !DILocation(line: 195, column: 19, scope: !130)
!144 = !DILocation(line: 195, column: 43, scope: !130)
!145 = !DILocation(line: 195, column: 49, scope: !130)
!146 = !DILocation(line: 195, column: 54, scope: !130)
!147 = !DILocation(line: 195, column: 47, scope: !130)
!148 = !DILocation(line: 195, column: 16, scope: !130)
!149 = !DILocation(line: 195, column: 13, scope: !130)
!150 = !DILocation(line: 194, column: 36, scope: !130)
!151 = distinct !{!151, !142, !152, !36}
!152 = !DILocation(line: 195, column: 55, scope: !130)
!153 = !DILocation(line: 196, column: 16, scope: !130)
!154 = !DILocation(line: 197, column: 5, scope: !130)
!155 = !DILocation(line: 196, column: 9, scope: !130)
!156 = distinct !DISubprogram(name: "operator[]", scope: !67, file: !67, line: 41, type: !17, scopeLine: 41, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!157 = !DILocation(line: 41, column: 75, scope: !156)
!158 = !DILocation(line: 41, column: 84, scope: !156)
!159 = !DILocation(line: 41, column: 68, scope: !156)
!160 = distinct !DISubprogram(name: "first", scope: !111, file: !111, line: 424, type: !17, scopeLine: 424, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0)
!161 = !DILocation(line: 428, column: 16, scope: !160)
!162 = !{!92, !93, i64 0}
!163 = !DILocation(line: 428, column: 9, scope: !160)
