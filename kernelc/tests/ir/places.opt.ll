source_filename = "places.cpp"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n32:64-S32-G1-P4-A0"
target triple = "spirv64-amd-amdhsa"

%"struct.revamp::abi_1::detail::launch_block" = type { %class.anon, %"class.Concurrency::abi_1::extent", i32 }
%class.anon = type { ptr addrspace(4), %"class.Concurrency::abi_1::array_view", %"class.Concurrency::abi_1::array_view.1" }
%"class.Concurrency::abi_1::array_view" = type { %"class.revamp::abi_1::detail::basic_view" }
%"class.revamp::abi_1::detail::basic_view" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent", %"struct.revamp::abi_1::detail::strides", %union.anon }
%"struct.revamp::abi_1::detail::strides" = type { [1 x i64] }
%union.anon = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::array_view.1" = type { %"class.revamp::abi_1::detail::basic_view.2" }
%"class.revamp::abi_1::detail::basic_view.2" = type { ptr addrspace(4), %"class.Concurrency::abi_1::extent.3", %"struct.revamp::abi_1::detail::strides.5", %union.anon.6 }
%"class.Concurrency::abi_1::extent.3" = type { %"class.revamp::abi_1::detail::components.4" }
%"class.revamp::abi_1::detail::components.4" = type { [2 x i32] }
%"struct.revamp::abi_1::detail::strides.5" = type { [1 x i64] }
%union.anon.6 = type { ptr addrspace(4) }
%"class.Concurrency::abi_1::extent" = type { %"class.revamp::abi_1::detail::components" }
%"class.revamp::abi_1::detail::components" = type { [1 x i32] }

@_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared = internal unnamed_addr addrspace(3) global [64 x i32] undef, align 16
@_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes = internal unnamed_addr addrspace(3) global [64 x i8] undef, align 16
@__const._ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.table = private unnamed_addr addrspace(1) constant [4 x float] [float 1.000000e+00, float 2.500000e+00, float 3.000000e+00, float -4.000000e+00], align 16
@__hip_cuid_b0a308805d02afc6 = internal addrspace(1) global i8 0
@llvm.embedded.module = private addrspace(1) constant [0 x i8] zeroinitializer, section ".llvmbc", align 1
@llvm.used = appending addrspace(1) global [1 x ptr addrspace(4)] [ptr addrspace(4) @_ZN6revamp5abi_16detail11tiled_entryIZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS5_IfLi2EEERNS4_5arrayIdLi1EEEEUlNS4_11tiled_indexILi64ELi0ELi0EEEE_Li64ELi0ELi0EEEvNS1_12launch_blockIT_Xsr15tile_dimensionsIXT0_EXT1_EXT2_EEE4rankEEE], section "llvm.metadata"


; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) addrspace(4) #0

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p4.i64(ptr addrspace(4) writeonly captures(none), i8, i64, i1 immarg) addrspace(4) #1

; Function Attrs: alwaysinline convergent mustprogress norecurse nounwind
define internal spir_kernel void @_ZN6revamp5abi_16detail11tiled_entryIZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS5_IfLi2EEERNS4_5arrayIdLi1EEEEUlNS4_11tiled_indexILi64ELi0ELi0EEEE_Li64ELi0ELi0EEEvNS1_12launch_blockIT_Xsr15tile_dimensionsIXT0_EXT1_EXT2_EEE4rankEEE(ptr addrspace(2) noundef readonly byref(%"struct.revamp::abi_1::detail::launch_block") align 8 captures(none) %0) addrspace(4) #2 !dbg !15 !max_work_group_size !19 {
_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev.exit.preheader:
  %1 = alloca [8 x i32], align 16
  %.sroa.0.0.copyload = load ptr addrspace(4), ptr addrspace(2) %0, align 8
  %.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 8
  %.sroa.3.0.copyload = load ptr addrspace(4), ptr addrspace(2) %.sroa.3.0..sroa_idx, align 8
  %.sroa.9244.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 40
  %.sroa.9244.0.copyload = load ptr addrspace(4), ptr addrspace(2) %.sroa.9244.0..sroa_idx, align 8
  %.sroa.10245.0..sroa_idx = getelementptr inbounds nuw i8, ptr addrspace(2) %0, i64 56
  %.sroa.10245.0.copyload = load i64, ptr addrspace(2) %.sroa.10245.0..sroa_idx, align 8
  tail call spir_func addrspace(4) void @__revamp_workgroup_size(i32 noundef 64, i32 noundef 1, i32 noundef 1) #9, !dbg !20
  %2 = tail call spir_func noundef addrspace(4) i32 @__revamp_global_id(i32 noundef 0) #9, !dbg !21
  %3 = tail call spir_func noundef addrspace(4) i32 @__revamp_local_id(i32 noundef 0) #9, !dbg !27
  call addrspace(4) void @llvm.lifetime.start.p0(ptr nonnull %1) #10, !dbg !30
  call addrspace(4) void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(32) %1, i8 0, i64 32, i1 false), !dbg !37
  %4 = sext i32 %2 to i64, !dbg !38
  %5 = getelementptr inbounds i32, ptr addrspace(4) %.sroa.3.0.copyload, i64 %4, !dbg !38
  %6 = load i32, ptr addrspace(4) %5, align 4, !dbg !42, !tbaa !11
  %7 = sext i32 %3 to i64, !dbg !43
  %8 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %7, !dbg !43
  store i32 %6, ptr addrspace(3) %8, align 4, !dbg !44, !tbaa !11
  %9 = trunc i32 %6 to i8, !dbg !45
  %10 = getelementptr inbounds i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %7, !dbg !46
  store i8 %9, ptr addrspace(3) %10, align 1, !dbg !47, !tbaa !48
  tail call spir_func addrspace(4) void @__revamp_tile_barrier(i32 noundef 3) #9, !dbg !49
  %11 = load i32, ptr addrspace(4) %5, align 4, !tbaa !11
  %12 = srem i32 %11, 9
  %13 = icmp sgt i32 %12, 0, !dbg !54
  br i1 %13, label %.lr.ph.preheader, label %Flow281, !dbg !55

.lr.ph.preheader:                                 ; preds = %_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev.exit.preheader
  %wide.trip.count = zext nneg i32 %12 to i64, !dbg !54
  %14 = add nsw i64 %wide.trip.count, -1, !dbg !55
  %xtraiter = and i64 %wide.trip.count, 3, !dbg !55
  %15 = icmp uge i64 %14, 3, !dbg !55
  br i1 %15, label %.lr.ph.preheader.new, label %Flow279, !dbg !55

.lr.ph.preheader.new:                             ; preds = %.lr.ph.preheader
  %unroll_iter = sub i64 %wide.trip.count, %xtraiter, !dbg !55
  br label %.lr.ph, !dbg !55

Flow279:                                          ; preds = %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa, %.lr.ph.preheader
  %16 = phi i64 [ %lsr.iv.next.3, %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa ], [ 0, %.lr.ph.preheader ]
  %17 = phi ptr addrspace(3) [ %scevgep271.3, %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa ], [ @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, %.lr.ph.preheader ]
  %18 = phi i32 [ %lsr.iv.next273.3, %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa ], [ %3, %.lr.ph.preheader ]
  %19 = phi i1 [ %lcmp.mod, %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa ], [ true, %.lr.ph.preheader ]
  br i1 %19, label %.lr.ph.epil.preheader, label %Flow280

.lr.ph:                                           ; preds = %.lr.ph.preheader.new, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3
  %lsr.iv272 = phi i32 [ %lsr.iv.next273.3, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3 ], [ %3, %.lr.ph.preheader.new ]
  %lsr.iv270 = phi ptr addrspace(3) [ %scevgep271.3, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3 ], [ @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, %.lr.ph.preheader.new ]
  %lsr.iv = phi i64 [ %lsr.iv.next.3, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3 ], [ 0, %.lr.ph.preheader.new ]
  %niter = phi i64 [ %niter.next.3, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3 ], [ 0, %.lr.ph.preheader.new ]
  %20 = srem i32 %lsr.iv272, 64, !dbg !56
  %21 = sext i32 %20 to i64, !dbg !57
  %22 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %21, !dbg !57
  %23 = load i32, ptr addrspace(3) %22, align 4, !dbg !57, !tbaa !11
  %24 = sext i32 %23 to i64, !dbg !58
  %25 = icmp sge i64 %lsr.iv, %24, !dbg !58
  br i1 %25, label %34, label %Flow278, !dbg !58

Flow278:                                          ; preds = %34, %.lr.ph
  %26 = phi i1 [ false, %34 ], [ true, %.lr.ph ]
  br i1 %26, label %27, label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4

27:                                               ; preds = %Flow278
  %scevgep = getelementptr i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %lsr.iv, !dbg !59
  %28 = load i8, ptr addrspace(3) %scevgep, align 1, !dbg !59, !tbaa !48
  %29 = zext i8 %28 to i32, !dbg !59
  %30 = and i64 %lsr.iv, 7, !dbg !60
  %31 = getelementptr inbounds nuw i32, ptr %1, i64 %30, !dbg !61
  %32 = load i32, ptr %31, align 4, !dbg !62, !tbaa !11
  %33 = add nsw i32 %32, %29, !dbg !62
  store i32 %33, ptr %31, align 4, !dbg !62, !tbaa !11
  br label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4, !dbg !61

34:                                               ; preds = %.lr.ph
  %35 = load i32, ptr addrspace(3) %lsr.iv270, align 4, !dbg !63, !tbaa !11
  %36 = add nuw nsw i64 %lsr.iv, 1, !dbg !64
  %37 = and i64 %36, 7, !dbg !64
  %38 = getelementptr inbounds nuw i32, ptr %1, i64 %37, !dbg !65
  %39 = load i32, ptr %38, align 4, !dbg !66, !tbaa !11
  %40 = sub nsw i32 %39, %35, !dbg !66
  store i32 %40, ptr %38, align 4, !dbg !66, !tbaa !11
  br label %Flow278

_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4: ; preds = %27, %Flow278
  %lsr.iv.next = add nuw nsw i64 %lsr.iv, 1, !dbg !54
  %scevgep271 = getelementptr i8, ptr addrspace(3) %lsr.iv270, i64 4, !dbg !54
  %lsr.iv.next273 = add i32 %lsr.iv272, 1, !dbg !54
  %41 = srem i32 %lsr.iv.next273, 64, !dbg !56
  %42 = sext i32 %41 to i64, !dbg !57
  %43 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %42, !dbg !57
  %44 = load i32, ptr addrspace(3) %43, align 4, !dbg !57, !tbaa !11
  %45 = sext i32 %44 to i64, !dbg !58
  %46 = icmp sge i64 %lsr.iv.next, %45, !dbg !58
  br i1 %46, label %47, label %Flow277, !dbg !58

47:                                               ; preds = %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4
  %48 = load i32, ptr addrspace(3) %scevgep271, align 4, !dbg !63, !tbaa !11
  %49 = add nuw nsw i64 %lsr.iv, 2, !dbg !64
  %50 = and i64 %49, 7, !dbg !64
  %51 = getelementptr inbounds nuw i32, ptr %1, i64 %50, !dbg !65
  %52 = load i32, ptr %51, align 4, !dbg !66, !tbaa !11
  %53 = sub nsw i32 %52, %48, !dbg !66
  store i32 %53, ptr %51, align 4, !dbg !66, !tbaa !11
  br label %Flow277

Flow277:                                          ; preds = %47, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4
  %54 = phi i1 [ false, %47 ], [ true, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4 ]
  br i1 %54, label %55, label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1

55:                                               ; preds = %Flow277
  %scevgep.1 = getelementptr i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %lsr.iv.next, !dbg !59
  %56 = load i8, ptr addrspace(3) %scevgep.1, align 1, !dbg !59, !tbaa !48
  %57 = zext i8 %56 to i32, !dbg !59
  %58 = and i64 %lsr.iv.next, 7, !dbg !60
  %59 = getelementptr inbounds nuw i32, ptr %1, i64 %58, !dbg !61
  %60 = load i32, ptr %59, align 4, !dbg !62, !tbaa !11
  %61 = add nsw i32 %60, %57, !dbg !62
  store i32 %61, ptr %59, align 4, !dbg !62, !tbaa !11
  br label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1, !dbg !61

_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1: ; preds = %55, %Flow277
  %lsr.iv.next.1 = add nuw nsw i64 %lsr.iv, 2, !dbg !54
  %scevgep271.1 = getelementptr i8, ptr addrspace(3) %scevgep271, i64 4, !dbg !54
  %lsr.iv.next273.1 = add i32 %lsr.iv272, 2, !dbg !54
  %62 = srem i32 %lsr.iv.next273.1, 64, !dbg !56
  %63 = sext i32 %62 to i64, !dbg !57
  %64 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %63, !dbg !57
  %65 = load i32, ptr addrspace(3) %64, align 4, !dbg !57, !tbaa !11
  %66 = sext i32 %65 to i64, !dbg !58
  %67 = icmp sge i64 %lsr.iv.next.1, %66, !dbg !58
  br i1 %67, label %68, label %Flow276, !dbg !58

68:                                               ; preds = %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1
  %69 = load i32, ptr addrspace(3) %scevgep271.1, align 4, !dbg !63, !tbaa !11
  %70 = add nuw nsw i64 %lsr.iv, 3, !dbg !64
  %71 = and i64 %70, 7, !dbg !64
  %72 = getelementptr inbounds nuw i32, ptr %1, i64 %71, !dbg !65
  %73 = load i32, ptr %72, align 4, !dbg !66, !tbaa !11
  %74 = sub nsw i32 %73, %69, !dbg !66
  store i32 %74, ptr %72, align 4, !dbg !66, !tbaa !11
  br label %Flow276

Flow276:                                          ; preds = %68, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1
  %75 = phi i1 [ false, %68 ], [ true, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.1 ]
  br i1 %75, label %76, label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2

76:                                               ; preds = %Flow276
  %scevgep.2 = getelementptr i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %lsr.iv.next.1, !dbg !59
  %77 = load i8, ptr addrspace(3) %scevgep.2, align 1, !dbg !59, !tbaa !48
  %78 = zext i8 %77 to i32, !dbg !59
  %79 = and i64 %lsr.iv.next.1, 7, !dbg !60
  %80 = getelementptr inbounds nuw i32, ptr %1, i64 %79, !dbg !61
  %81 = load i32, ptr %80, align 4, !dbg !62, !tbaa !11
  %82 = add nsw i32 %81, %78, !dbg !62
  store i32 %82, ptr %80, align 4, !dbg !62, !tbaa !11
  br label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2, !dbg !61

_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2: ; preds = %76, %Flow276
  %lsr.iv.next.2 = add nuw nsw i64 %lsr.iv, 3, !dbg !54
  %scevgep271.2 = getelementptr i8, ptr addrspace(3) %scevgep271.1, i64 4, !dbg !54
  %lsr.iv.next273.2 = add i32 %lsr.iv272, 3, !dbg !54
  %83 = srem i32 %lsr.iv.next273.2, 64, !dbg !56
  %84 = sext i32 %83 to i64, !dbg !57
  %85 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %84, !dbg !57
  %86 = load i32, ptr addrspace(3) %85, align 4, !dbg !57, !tbaa !11
  %87 = sext i32 %86 to i64, !dbg !58
  %88 = icmp sge i64 %lsr.iv.next.2, %87, !dbg !58
  br i1 %88, label %89, label %Flow275, !dbg !58

89:                                               ; preds = %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2
  %90 = load i32, ptr addrspace(3) %scevgep271.2, align 4, !dbg !63, !tbaa !11
  %91 = add nuw i64 %lsr.iv, 4, !dbg !64
  %92 = and i64 %91, 7, !dbg !64
  %93 = getelementptr inbounds nuw i32, ptr %1, i64 %92, !dbg !65
  %94 = load i32, ptr %93, align 4, !dbg !66, !tbaa !11
  %95 = sub nsw i32 %94, %90, !dbg !66
  store i32 %95, ptr %93, align 4, !dbg !66, !tbaa !11
  br label %Flow275

Flow275:                                          ; preds = %89, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2
  %96 = phi i1 [ false, %89 ], [ true, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.2 ]
  br i1 %96, label %97, label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3

97:                                               ; preds = %Flow275
  %scevgep.3 = getelementptr i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %lsr.iv.next.2, !dbg !59
  %98 = load i8, ptr addrspace(3) %scevgep.3, align 1, !dbg !59, !tbaa !48
  %99 = zext i8 %98 to i32, !dbg !59
  %100 = and i64 %lsr.iv.next.2, 7, !dbg !60
  %101 = getelementptr inbounds nuw i32, ptr %1, i64 %100, !dbg !61
  %102 = load i32, ptr %101, align 4, !dbg !62, !tbaa !11
  %103 = add nsw i32 %102, %99, !dbg !62
  store i32 %103, ptr %101, align 4, !dbg !62, !tbaa !11
  br label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3, !dbg !61

_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3: ; preds = %97, %Flow275
  %lsr.iv.next.3 = add nuw nsw i64 %lsr.iv, 4, !dbg !54
  %scevgep271.3 = getelementptr i8, ptr addrspace(3) %scevgep271.2, i64 4, !dbg !54
  %lsr.iv.next273.3 = add i32 %lsr.iv272, 4, !dbg !54
  %niter.next.3 = add nuw i64 %niter, 4, !dbg !55
  %niter.ncmp.3 = icmp eq i64 %niter.next.3, %unroll_iter, !dbg !55
  br i1 %niter.ncmp.3, label %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa, label %.lr.ph, !dbg !55

_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.unr-lcssa: ; preds = %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.3
  %lcmp.mod = icmp ne i64 %xtraiter, 0, !dbg !58
  br label %Flow279, !dbg !58

.lr.ph.epil.preheader:                            ; preds = %Flow279
  %lcmp.mod274 = icmp ne i64 %xtraiter, 0, !dbg !58
  call addrspace(4) void @llvm.assume(i1 %lcmp.mod274), !dbg !58
  br label %.lr.ph.epil, !dbg !58

Flow280:                                          ; preds = %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.epilog-lcssa, %Flow279
  br label %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit

.lr.ph.epil:                                      ; preds = %.lr.ph.epil.preheader, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil
  %lsr.iv272.epil = phi i32 [ %lsr.iv.next273.epil, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil ], [ %18, %.lr.ph.epil.preheader ]
  %lsr.iv270.epil = phi ptr addrspace(3) [ %scevgep271.epil, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil ], [ %17, %.lr.ph.epil.preheader ]
  %lsr.iv.epil = phi i64 [ %lsr.iv.next.epil, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil ], [ %16, %.lr.ph.epil.preheader ]
  %epil.iter = phi i64 [ %epil.iter.next, %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil ], [ 0, %.lr.ph.epil.preheader ]
  %104 = srem i32 %lsr.iv272.epil, 64, !dbg !56
  %105 = sext i32 %104 to i64, !dbg !57
  %106 = getelementptr inbounds i32, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E6shared, i64 %105, !dbg !57
  %107 = load i32, ptr addrspace(3) %106, align 4, !dbg !57, !tbaa !11
  %108 = sext i32 %107 to i64, !dbg !58
  %109 = icmp sge i64 %lsr.iv.epil, %108, !dbg !58
  br i1 %109, label %110, label %Flow, !dbg !58

110:                                              ; preds = %.lr.ph.epil
  %111 = load i32, ptr addrspace(3) %lsr.iv270.epil, align 4, !dbg !63, !tbaa !11
  %112 = add i64 %lsr.iv.epil, 1, !dbg !64
  %113 = and i64 %112, 7, !dbg !64
  %114 = getelementptr inbounds nuw i32, ptr %1, i64 %113, !dbg !65
  %115 = load i32, ptr %114, align 4, !dbg !66, !tbaa !11
  %116 = sub nsw i32 %115, %111, !dbg !66
  store i32 %116, ptr %114, align 4, !dbg !66, !tbaa !11
  br label %Flow

Flow:                                             ; preds = %110, %.lr.ph.epil
  %117 = phi i1 [ false, %110 ], [ true, %.lr.ph.epil ]
  br i1 %117, label %118, label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil

118:                                              ; preds = %Flow
  %scevgep.epil = getelementptr i8, ptr addrspace(3) @_ZZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_E5bytes, i64 %lsr.iv.epil, !dbg !59
  %119 = load i8, ptr addrspace(3) %scevgep.epil, align 1, !dbg !59, !tbaa !48
  %120 = zext i8 %119 to i32, !dbg !59
  %121 = and i64 %lsr.iv.epil, 7, !dbg !60
  %122 = getelementptr inbounds nuw i32, ptr %1, i64 %121, !dbg !61
  %123 = load i32, ptr %122, align 4, !dbg !62, !tbaa !11
  %124 = add nsw i32 %123, %120, !dbg !62
  store i32 %124, ptr %122, align 4, !dbg !62, !tbaa !11
  br label %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil, !dbg !61

_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil: ; preds = %118, %Flow
  %lsr.iv.next.epil = add nuw nsw i64 %lsr.iv.epil, 1, !dbg !54
  %scevgep271.epil = getelementptr i8, ptr addrspace(3) %lsr.iv270.epil, i64 4, !dbg !54
  %lsr.iv.next273.epil = add i32 %lsr.iv272.epil, 1, !dbg !54
  %epil.iter.next = add i64 %epil.iter, 1, !dbg !55
  %epil.iter.cmp = icmp eq i64 %epil.iter.next, %xtraiter, !dbg !55
  br i1 %epil.iter.cmp, label %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.epilog-lcssa, label %.lr.ph.epil, !dbg !55

_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit.epilog-lcssa: ; preds = %_ZNK6revamp5abi_16detail7stridesILi1EEclERKN11Concurrency5abi_15indexILi1EEE.exit4.epil
  br label %Flow280

Flow281:                                          ; preds = %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit, %_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev.exit.preheader
  %125 = phi i64 [ %127, %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit ], [ 0, %_ZN6revamp5abi_16detail10componentsIN11Concurrency5abi_15indexELi1EEC2Ev.exit.preheader ]
  br label %_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit

_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit.loopexit: ; preds = %Flow280
  %.phi.trans.insert = getelementptr inbounds nuw i8, ptr %1, i64 4
  %.pre = load i32, ptr %.phi.trans.insert, align 4, !dbg !67, !tbaa !11
  %126 = and i32 %.pre, 3, !dbg !68
  %127 = zext nneg i32 %126 to i64, !dbg !69
  br label %Flow281, !dbg !70

_ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.exit: ; preds = %Flow281
  %128 = and i32 %11, 7, !dbg !70
  %129 = zext nneg i32 %128 to i64, !dbg !71
  %130 = getelementptr inbounds nuw i32, ptr %1, i64 %129, !dbg !71
  %131 = load i32, ptr %130, align 4, !dbg !71, !tbaa !11
  %132 = atomicrmw add ptr addrspace(4) %.sroa.3.0.copyload, i32 %131 monotonic, align 4, !dbg !72
  %133 = getelementptr inbounds nuw float, ptr addrspace(1) @__const._ZZ6launchN11Concurrency5abi_110array_viewIiLi1EEENS1_IfLi2EEERNS0_5arrayIdLi1EEEENKUlNS0_11tiled_indexILi64ELi0ELi0EEEE_clES8_.table, i64 %125, !dbg !69
  %134 = load float, ptr addrspace(1) %133, align 4, !dbg !69, !tbaa !76
  %135 = load ptr addrspace(4), ptr addrspace(4) %.sroa.0.0.copyload, align 8, !dbg !78, !tbaa !84
  %136 = getelementptr inbounds double, ptr addrspace(4) %135, i64 %4, !dbg !97
  %137 = load double, ptr addrspace(4) %136, align 8, !dbg !98, !tbaa !99
  %138 = fptrunc contract double %137 to float, !dbg !98
  %139 = fmul contract float %134, %138, !dbg !101
  %140 = trunc i64 %.sroa.10245.0.copyload to i32, !dbg !102
  %141 = mul nsw i32 %2, %140, !dbg !107
  %142 = sext i32 %141 to i64, !dbg !108
  %143 = getelementptr float, ptr addrspace(4) %.sroa.9244.0.copyload, i64 %142, !dbg !108
  %144 = getelementptr i8, ptr addrspace(4) %143, i64 4, !dbg !108
  store float %139, ptr addrspace(4) %144, align 4, !dbg !109, !tbaa !76
  %145 = load i32, ptr addrspace(4) %5, align 4, !dbg !110, !tbaa !11
  %146 = sext i32 %145 to i64, !dbg !110
  %147 = shl nsw i64 %146, 13, !dbg !111
  %148 = getelementptr inbounds nuw i8, ptr addrspace(4) %.sroa.3.0.copyload, i64 4, !dbg !112
  %149 = load i32, ptr addrspace(4) %148, align 4, !dbg !115, !tbaa !11
  %150 = or i32 %149, 1, !dbg !116
  %151 = sext i32 %150 to i64, !dbg !117
  %152 = sdiv i64 %147, %151, !dbg !118
  %153 = sitofp i64 %152 to double, !dbg !119
  store double %153, ptr addrspace(4) %136, align 8, !dbg !120, !tbaa !99
  call addrspace(4) void @llvm.lifetime.end.p0(ptr nonnull %1) #10, !dbg !121
  ret void, !dbg !122
}

; Function Attrs: alwaysinline convergent nounwind
declare !dbg !123 hidden spir_func void @__revamp_workgroup_size(i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr addrspace(4) #3

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden spir_func i32 @__revamp_global_id(i32 noundef) local_unnamed_addr addrspace(4) #4

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden spir_func i32 @__revamp_local_id(i32 noundef) local_unnamed_addr addrspace(4) #4

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p4.p1.i64(ptr addrspace(4) noalias writeonly captures(none), ptr addrspace(1) noalias readonly captures(none), i64, i1 immarg) addrspace(4) #5

; Function Attrs: alwaysinline convergent nounwind
declare !dbg !124 hidden spir_func void @__revamp_tile_barrier(i32 noundef) local_unnamed_addr addrspace(4) #3

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) addrspace(4) #6

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p1.i64(ptr noalias writeonly captures(none), ptr addrspace(1) noalias readonly captures(none), i64, i1 immarg) addrspace(4) #7

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) noalias writeonly captures(none), ptr addrspace(1) noalias readonly captures(none), i64, i1 immarg) addrspace(4) #7

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) addrspace(4) #8

attributes #0 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #2 = { alwaysinline convergent mustprogress norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+16-bit-insts,+ashr-pk-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-buffer-pk-add-bf16-inst,+atomic-ds-pk-add-16-insts,+atomic-fadd-rtn-insts,+atomic-flat-pk-add-16-insts,+atomic-global-pk-add-bf16-inst,+bf16-cvt-insts,+bf16-trans-insts,+bf8-cvt-scale-insts,+bitop3-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot11-insts,+dot12-insts,+dot13-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dot8-insts,+dot9-insts,+dpp,+f16bf16-to-fp6bf6-cvt-scale-insts,+f32-to-f16bf16-cvt-sr-insts,+fp4-cvt-scale-insts,+fp6bf6-cvt-scale-insts,+fp8-conversion-insts,+fp8-cvt-scale-insts,+fp8-insts,+fp8e5m3-insts,+gfx10-3-insts,+gfx10-insts,+gfx11-insts,+gfx12-insts,+gfx1250-insts,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+gfx940-insts,+gfx950-insts,+gws,+image-insts,+mai-insts,+permlane16-swap,+permlane32-swap,+prng-inst,+s-memrealtime,+s-memtime-inst,+setprio-inc-wg-inst,+tanh-insts,+tensor-cvt-lut-insts,+transpose-load-f4f6-insts,+vmem-pref-insts,+vmem-to-lds-load-insts,+wavefrontsize32,+wavefrontsize64" "uniform-work-group-size"="true" }
attributes #3 = { alwaysinline convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+16-bit-insts,+ashr-pk-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-buffer-pk-add-bf16-inst,+atomic-ds-pk-add-16-insts,+atomic-fadd-rtn-insts,+atomic-flat-pk-add-16-insts,+atomic-global-pk-add-bf16-inst,+bf16-cvt-insts,+bf16-trans-insts,+bf8-cvt-scale-insts,+bitop3-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot11-insts,+dot12-insts,+dot13-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dot8-insts,+dot9-insts,+dpp,+f16bf16-to-fp6bf6-cvt-scale-insts,+f32-to-f16bf16-cvt-sr-insts,+fp4-cvt-scale-insts,+fp6bf6-cvt-scale-insts,+fp8-conversion-insts,+fp8-cvt-scale-insts,+fp8-insts,+fp8e5m3-insts,+gfx10-3-insts,+gfx10-insts,+gfx11-insts,+gfx12-insts,+gfx1250-insts,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+gfx940-insts,+gfx950-insts,+gws,+image-insts,+mai-insts,+permlane16-swap,+permlane32-swap,+prng-inst,+s-memrealtime,+s-memtime-inst,+setprio-inc-wg-inst,+tanh-insts,+tensor-cvt-lut-insts,+transpose-load-f4f6-insts,+vmem-pref-insts,+vmem-to-lds-load-insts,+wavefrontsize32,+wavefrontsize64" }
attributes #4 = { alwaysinline convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+16-bit-insts,+ashr-pk-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-buffer-pk-add-bf16-inst,+atomic-ds-pk-add-16-insts,+atomic-fadd-rtn-insts,+atomic-flat-pk-add-16-insts,+atomic-global-pk-add-bf16-inst,+bf16-cvt-insts,+bf16-trans-insts,+bf8-cvt-scale-insts,+bitop3-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot11-insts,+dot12-insts,+dot13-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dot8-insts,+dot9-insts,+dpp,+f16bf16-to-fp6bf6-cvt-scale-insts,+f32-to-f16bf16-cvt-sr-insts,+fp4-cvt-scale-insts,+fp6bf6-cvt-scale-insts,+fp8-conversion-insts,+fp8-cvt-scale-insts,+fp8-insts,+fp8e5m3-insts,+gfx10-3-insts,+gfx10-insts,+gfx11-insts,+gfx12-insts,+gfx1250-insts,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+gfx940-insts,+gfx950-insts,+gws,+image-insts,+mai-insts,+permlane16-swap,+permlane32-swap,+prng-inst,+s-memrealtime,+s-memtime-inst,+setprio-inc-wg-inst,+tanh-insts,+tensor-cvt-lut-insts,+transpose-load-f4f6-insts,+vmem-pref-insts,+vmem-to-lds-load-insts,+wavefrontsize32,+wavefrontsize64" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #7 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #8 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #9 = { alwaysinline convergent nounwind }
attributes #10 = { alwaysinline nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!opencl.ocl.version = !{!9}
!llvm.ident = !{!10}
!llvm.errno.tbaa = !{!11}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "places.cpp", directory: "/src", checksumkind: CSK_MD5, checksum: "15ddc7a0ed678d4319e99846ea97e6d3")
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
!15 = distinct !DISubprogram(name: "tiled_entry<(lambda at places.cpp:4:44), 64, 0, 0>", scope: !16, file: !16, line: 321, type: !17, scopeLine: 321, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!16 = !DIFile(filename: "revamp/detail/launch.h", directory: "", checksumkind: CSK_MD5, checksum: "eba123e79f0c69ffd6c637845dfd530a")
!17 = !DISubroutineType(types: !18)
!18 = !{}
!19 = !{i32 1024, i32 1, i32 1}
!20 = !DILocation(line: 324, column: 5, scope: !15)
!21 = !DILocation(line: 458, column: 37, scope: !22, inlinedAt: !24)
!22 = distinct !DISubprogram(name: "place_of<1, &__revamp_global_id>", scope: !23, file: !23, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!23 = !DIFile(filename: "revamp/detail/shapes.h", directory: "", checksumkind: CSK_MD5, checksum: "e8724e6bc10f113b1f52f90a4ebb270b")
!24 = distinct !DILocation(line: 465, column: 42, scope: !25, inlinedAt: !26)
!25 = distinct !DISubprogram(name: "this_tiled_index<64, 0, 0>", scope: !23, file: !23, line: 463, type: !17, scopeLine: 463, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!26 = distinct !DILocation(line: 325, column: 46, scope: !15)
!27 = !DILocation(line: 458, column: 37, scope: !28, inlinedAt: !29)
!28 = distinct !DISubprogram(name: "place_of<1, &__revamp_local_id>", scope: !23, file: !23, line: 455, type: !17, scopeLine: 455, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!29 = distinct !DILocation(line: 465, column: 85, scope: !25, inlinedAt: !26)
!30 = !DILocation(line: 8, column: 9, scope: !31, inlinedAt: !32)
!31 = distinct !DISubprogram(name: "operator()", scope: !1, file: !1, line: 4, type: !17, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!32 = distinct !DILocation(line: 276, column: 12, scope: !33, inlinedAt: !34)
!33 = distinct !DISubprogram(name: "call_kernel<(lambda at places.cpp:4:44), Concurrency::abi_1::tiled_index<64, 0, 0> >", scope: !16, file: !16, line: 274, type: !17, scopeLine: 275, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!34 = distinct !DILocation(line: 290, column: 5, scope: !35, inlinedAt: !36)
!35 = distinct !DISubprogram(name: "run_kernel<(lambda at places.cpp:4:44), Concurrency::abi_1::tiled_index<64, 0, 0> >", scope: !16, file: !16, line: 286, type: !17, scopeLine: 286, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!36 = distinct !DILocation(line: 326, column: 5, scope: !15)
!37 = !DILocation(line: 8, column: 13, scope: !31, inlinedAt: !32)
!38 = !DILocation(line: 514, column: 16, scope: !39, inlinedAt: !41)
!39 = distinct !DISubprogram(name: "operator[]", scope: !40, file: !40, line: 513, type: !17, scopeLine: 513, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!40 = !DIFile(filename: "revamp/detail/view.h", directory: "", checksumkind: CSK_MD5, checksum: "0f31fc13088e913932c29ea28b466f9d")
!41 = distinct !DILocation(line: 9, column: 30, scope: !31, inlinedAt: !32)
!42 = !DILocation(line: 9, column: 30, scope: !31, inlinedAt: !32)
!43 = !DILocation(line: 9, column: 9, scope: !31, inlinedAt: !32)
!44 = !DILocation(line: 9, column: 28, scope: !31, inlinedAt: !32)
!45 = !DILocation(line: 10, column: 56, scope: !31, inlinedAt: !32)
!46 = !DILocation(line: 10, column: 9, scope: !31, inlinedAt: !32)
!47 = !DILocation(line: 10, column: 27, scope: !31, inlinedAt: !32)
!48 = !{!13, !13, i64 0}
!49 = !DILocation(line: 404, column: 9, scope: !50, inlinedAt: !51)
!50 = distinct !DISubprogram(name: "wait_for_tile", scope: !23, file: !23, line: 402, type: !17, scopeLine: 402, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!51 = distinct !DILocation(line: 391, column: 35, scope: !52, inlinedAt: !53)
!52 = distinct !DISubprogram(name: "wait", scope: !23, file: !23, line: 391, type: !17, scopeLine: 391, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!53 = distinct !DILocation(line: 11, column: 19, scope: !31, inlinedAt: !32)
!54 = !DILocation(line: 12, column: 27, scope: !31, inlinedAt: !32)
!55 = !DILocation(line: 12, column: 9, scope: !31, inlinedAt: !32)
!56 = !DILocation(line: 13, column: 41, scope: !31, inlinedAt: !32)
!57 = !DILocation(line: 13, column: 17, scope: !31, inlinedAt: !32)
!58 = !DILocation(line: 13, column: 47, scope: !31, inlinedAt: !32)
!59 = !DILocation(line: 13, column: 68, scope: !31, inlinedAt: !32)
!60 = !DILocation(line: 13, column: 60, scope: !31, inlinedAt: !32)
!61 = !DILocation(line: 13, column: 52, scope: !31, inlinedAt: !32)
!62 = !DILocation(line: 13, column: 65, scope: !31, inlinedAt: !32)
!63 = !DILocation(line: 14, column: 40, scope: !31, inlinedAt: !32)
!64 = !DILocation(line: 14, column: 32, scope: !31, inlinedAt: !32)
!65 = !DILocation(line: 14, column: 18, scope: !31, inlinedAt: !32)
!66 = !DILocation(line: 14, column: 37, scope: !31, inlinedAt: !32)
!67 = !DILocation(line: 17, column: 35, scope: !31, inlinedAt: !32)
!68 = !DILocation(line: 17, column: 44, scope: !31, inlinedAt: !32)
!69 = !DILocation(line: 17, column: 29, scope: !31, inlinedAt: !32)
!70 = !DILocation(line: 16, column: 51, scope: !31, inlinedAt: !32)
!71 = !DILocation(line: 16, column: 33, scope: !31, inlinedAt: !32)
!72 = !DILocation(line: 89, column: 1, scope: !73, inlinedAt: !75)
!73 = distinct !DISubprogram(name: "atomic_fetch_add", scope: !74, file: !74, line: 89, type: !17, scopeLine: 89, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!74 = !DIFile(filename: "revamp/detail/atomics.h", directory: "", checksumkind: CSK_MD5, checksum: "6e75534e0dc32e087c0f33824a80da7e")
!75 = distinct !DILocation(line: 16, column: 9, scope: !31, inlinedAt: !32)
!76 = !{!77, !77, i64 0}
!77 = !{!"float", !13, i64 0}
!78 = !DILocation(line: 491, column: 22, scope: !79, inlinedAt: !81)
!79 = distinct !DISubprogram(name: "first", scope: !80, file: !80, line: 487, type: !17, scopeLine: 487, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!80 = !DIFile(filename: "revamp/detail/array.h", directory: "", checksumkind: CSK_MD5, checksum: "e5de1a958f76fde8628cbd7c4b805138")
!81 = distinct !DILocation(line: 434, column: 20, scope: !82, inlinedAt: !83)
!82 = distinct !DISubprogram(name: "operator[]", scope: !80, file: !80, line: 432, type: !17, scopeLine: 432, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!83 = distinct !DILocation(line: 17, column: 70, scope: !31, inlinedAt: !32)
!84 = !{!85, !86, i64 0}
!85 = !{!"_ZTSN6revamp5abi_16detail12array_headerIdLi1EEE", !86, i64 0, !88, i64 8, !90, i64 16}
!86 = !{!"p1 double", !87, i64 0}
!87 = !{!"any pointer", !13, i64 0}
!88 = !{!"_ZTSN11Concurrency5abi_16extentILi1EEE", !89, i64 0}
!89 = !{!"_ZTSN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEE", !13, i64 0}
!90 = !{!"_ZTSSt10unique_ptrIN6revamp5abi_16detail13array_controlESt14default_deleteIS3_EE", !91, i64 0}
!91 = !{!"_ZTSSt15__uniq_ptr_dataIN6revamp5abi_16detail13array_controlESt14default_deleteIS3_ELb1ELb1EE", !92, i64 0}
!92 = !{!"_ZTSSt15__uniq_ptr_implIN6revamp5abi_16detail13array_controlESt14default_deleteIS3_EE", !93, i64 0}
!93 = !{!"_ZTSSt5tupleIJPN6revamp5abi_16detail13array_controlESt14default_deleteIS3_EEE", !94, i64 0}
!94 = !{!"_ZTSSt11_Tuple_implILm0EJPN6revamp5abi_16detail13array_controlESt14default_deleteIS3_EEE", !95, i64 0}
!95 = !{!"_ZTSSt10_Head_baseILm0EPN6revamp5abi_16detail13array_controlELb0EE", !96, i64 0}
!96 = !{!"p1 _ZTSN6revamp5abi_16detail13array_controlE", !87, i64 0}
!97 = !DILocation(line: 434, column: 20, scope: !82, inlinedAt: !83)
!98 = !DILocation(line: 17, column: 70, scope: !31, inlinedAt: !32)
!99 = !{!100, !100, i64 0}
!100 = !{!"double", !13, i64 0}
!101 = !DILocation(line: 17, column: 49, scope: !31, inlinedAt: !32)
!102 = !DILocation(line: 247, column: 107, scope: !103, inlinedAt: !104)
!103 = distinct !DISubprogram(name: "slice", scope: !40, file: !40, line: 247, type: !17, scopeLine: 247, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!104 = distinct !DILocation(line: 541, column: 34, scope: !105, inlinedAt: !106)
!105 = distinct !DISubprogram(name: "operator()", scope: !40, file: !40, line: 539, type: !17, scopeLine: 539, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!106 = distinct !DILocation(line: 17, column: 9, scope: !31, inlinedAt: !32)
!107 = !DILocation(line: 247, column: 77, scope: !103, inlinedAt: !104)
!108 = !DILocation(line: 541, column: 16, scope: !105, inlinedAt: !106)
!109 = !DILocation(line: 17, column: 27, scope: !31, inlinedAt: !32)
!110 = !DILocation(line: 18, column: 49, scope: !31, inlinedAt: !32)
!111 = !DILocation(line: 18, column: 62, scope: !31, inlinedAt: !32)
!112 = !DILocation(line: 532, column: 20, scope: !113, inlinedAt: !114)
!113 = distinct !DISubprogram(name: "operator[]", scope: !40, file: !40, line: 530, type: !17, scopeLine: 530, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!114 = distinct !DILocation(line: 19, column: 54, scope: !31, inlinedAt: !32)
!115 = !DILocation(line: 19, column: 54, scope: !31, inlinedAt: !32)
!116 = !DILocation(line: 19, column: 59, scope: !31, inlinedAt: !32)
!117 = !DILocation(line: 19, column: 53, scope: !31, inlinedAt: !32)
!118 = !DILocation(line: 19, column: 51, scope: !31, inlinedAt: !32)
!119 = !DILocation(line: 19, column: 46, scope: !31, inlinedAt: !32)
!120 = !DILocation(line: 19, column: 24, scope: !31, inlinedAt: !32)
!121 = !DILocation(line: 20, column: 5, scope: !31, inlinedAt: !32)
!122 = !DILocation(line: 328, column: 1, scope: !15)
!123 = !DISubprogram(name: "__revamp_workgroup_size", scope: !16, file: !16, line: 32, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!124 = !DISubprogram(name: "__revamp_tile_barrier", scope: !23, file: !23, line: 21, type: !17, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
