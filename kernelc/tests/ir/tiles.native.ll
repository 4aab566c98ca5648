source_filename = "seed.cpp"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.both = type { i32, float }

@s = internal global [32 x i32] undef, align 16
@pairs = internal unnamed_addr global [32 x %struct.both] undef, align 16
@.str = private unnamed_addr constant [52 x i8] c"AReference Rasterizer: Shader abort instruction hit\00", align 1
@__hip_cuid_8223b9a03842cac4 = internal global i8 0
@llvm.compiler.used = appending global [3 x ptr] [ptr @tiled_entry, ptr @untiled_entry, ptr @__hip_cuid_8223b9a03842cac4], section "llvm.metadata"

define internal void @tiled_entry(ptr noundef readonly captures(none) %0) #0 {
exit.preheader:
  %1 = alloca [4 x i32], align 16
  %.reg2mem = alloca i32, align 4
  %.3.reg2mem = alloca i32, align 4
  %.reg2mem220 = alloca i32, align 4
  %.reg2mem222 = alloca i32, align 4
  %.reg2mem224 = alloca i32, align 4
  %.reg2mem226 = alloca i32, align 4
  %.reg2mem229 = alloca i32, align 4
  %.1.reg2mem = alloca i32, align 4
  %.reg2mem234 = alloca i32, align 4
  %.reg2mem236 = alloca i32, align 4
  %.0163197.reg2mem = alloca i32, align 4
  %.0162198.reg2mem = alloca i32, align 4
  %.reg2mem242 = alloca i32, align 4
  %.reg2mem244 = alloca ptr, align 8
  %.reg2mem246 = alloca i1, align 1
  %.reg2mem248 = alloca i32, align 4
  %.reg2mem251 = alloca ptr, align 8
  %.reg2mem253 = alloca ptr, align 8
  %.reg2mem255 = alloca ptr, align 8
  %.sroa.4.0..sroa_idx.reg2mem = alloca ptr, align 8
  %.reg2mem257 = alloca ptr, align 8
  %.reg2mem260 = alloca float, align 4
  %.reg2mem262 = alloca ptr, align 8
  %.reg2mem265 = alloca i32, align 4
  %.reg2mem268 = alloca i32, align 4
  %.reg2mem271 = alloca i32, align 4
  %.reg2mem280 = alloca i32, align 4
  %.sroa.0206.0.insert.ext.reg2mem = alloca i64, align 8
  %.reg2mem284 = alloca i32, align 4
  %.3.reg2mem286 = alloca i32, align 4
  %.2.reg2mem = alloca i32, align 4
  %.0164196.reg2mem = alloca i32, align 4
  %.pn.reg2mem = alloca i32, align 4
  %.0163197.reg2mem288 = alloca i32, align 4
  %.0162198.reg2mem290 = alloca i32, align 4
  %.0162.lcssa.reg2mem = alloca i32, align 4
  %"reg2mem alloca point" = bitcast i32 0 to i32
  tail call void @__revamp_workgroup_size(i32 noundef 8, i32 noundef 4, i32 noundef 1) #6
  %2 = tail call noundef i32 @__revamp_global_id(i32 noundef 1) #6
  %3 = tail call noundef i32 @__revamp_global_id(i32 noundef 0) #6
  store i32 %3, ptr %.reg2mem284, align 4
  %.sroa.0206.0.insert.ext = zext i32 %2 to i64
  store i64 %.sroa.0206.0.insert.ext, ptr %.sroa.0206.0.insert.ext.reg2mem, align 8
  %4 = tail call noundef i32 @__revamp_local_id(i32 noundef 1) #6
  %5 = tail call noundef i32 @__revamp_local_id(i32 noundef 0) #6
  store i32 %5, ptr %.reg2mem280, align 4
  %6 = tail call noundef i32 @__revamp_group_id(i32 noundef 1) #6
  %7 = shl nsw i32 %4, 3
  %.reload282 = load i32, ptr %.reg2mem280, align 4
  %8 = add nsw i32 %7, %.reload282
  store i32 %8, ptr %.reg2mem271, align 4
  %9 = load i32, ptr %0, align 8, !tbaa !8
  store i32 %9, ptr %.reg2mem268, align 4
  %.reload270 = load i32, ptr %.reg2mem268, align 4
  %10 = icmp slt i32 %.reload270, %6
  br i1 %10, label %exit.preheader.out_crit_edge, label %exit

exit.preheader.out_crit_edge:
  br label %out

exit:
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #7
  %.reload272 = load i32, ptr %.reg2mem271, align 4
  store i32 %.reload272, ptr %1, align 16, !tbaa !4
  %11 = getelementptr inbounds nuw i8, ptr %1, i64 4
  store i32 2, ptr %11, align 4, !tbaa !4
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 8
  store i32 3, ptr %12, align 8, !tbaa !4
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 12
  store i32 4, ptr %13, align 4, !tbaa !4
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %15 = load ptr, ptr %14, align 8, !tbaa !19
  %.reload285 = load i32, ptr %.reg2mem284, align 4
  %16 = sext i32 %.reload285 to i64
  %17 = getelementptr inbounds i32, ptr %15, i64 %16
  %18 = load i32, ptr %17, align 4, !tbaa !4
  store i32 %18, ptr %.reg2mem265, align 4
  %.reload269 = load i32, ptr %.reg2mem268, align 4
  %19 = icmp sgt i32 %.reload269, 0
  br i1 %19, label %.lr.ph199, label %exit.._crit_edge200_crit_edge

exit.._crit_edge200_crit_edge:
  %.reload266 = load i32, ptr %.reg2mem265, align 4
  store i32 %.reload266, ptr %.0162.lcssa.reg2mem, align 4
  br label %._crit_edge200

.lr.ph199:
  %.reload273 = load i32, ptr %.reg2mem271, align 4
  %20 = sext i32 %.reload273 to i64
  %21 = getelementptr inbounds i32, ptr @s, i64 %20
  store ptr %21, ptr %.reg2mem262, align 8
  %.reload274 = load i32, ptr %.reg2mem271, align 4
  %22 = sitofp i32 %.reload274 to float
  %23 = fmul float %22, 5.000000e-01
  store float %23, ptr %.reg2mem260, align 4
  %24 = getelementptr inbounds %struct.both, ptr @pairs, i64 %20
  store ptr %24, ptr %.reg2mem257, align 8
  %.reload259 = load ptr, ptr %.reg2mem257, align 8
  %.sroa.4.0..sroa_idx = getelementptr inbounds nuw i8, ptr %.reload259, i64 4
  store ptr %.sroa.4.0..sroa_idx, ptr %.sroa.4.0..sroa_idx.reg2mem, align 8
  %.reload275 = load i32, ptr %.reg2mem271, align 4
  %25 = xor i32 %.reload275, 1
  %26 = sext i32 %25 to i64
  %27 = getelementptr inbounds %struct.both, ptr @pairs, i64 %26
  store ptr %27, ptr %.reg2mem255, align 8
  %.reload276 = load i32, ptr %.reg2mem271, align 4
  %28 = xor i32 %.reload276, 2
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds %struct.both, ptr @pairs, i64 %29
  %31 = getelementptr inbounds nuw i8, ptr %30, i64 4
  store ptr %31, ptr %.reg2mem253, align 8
  %.reload279 = load i32, ptr %.reg2mem271, align 4
  %32 = sub nsw i32 31, %.reload279
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds i32, ptr @s, i64 %33
  store ptr %34, ptr %.reg2mem251, align 8
  %.reload277 = load i32, ptr %.reg2mem271, align 4
  %35 = srem i32 %.reload277, 5
  store i32 %35, ptr %.reg2mem248, align 4
  %.reload250 = load i32, ptr %.reg2mem248, align 4
  %36 = icmp sgt i32 %.reload250, 0
  store i1 %36, ptr %.reg2mem246, align 1
  %.reload281 = load i32, ptr %.reg2mem280, align 4
  %37 = and i32 %.reload281, 7
  %38 = zext nneg i32 %37 to i64
  %39 = getelementptr inbounds nuw i32, ptr @s, i64 %38
  store ptr %39, ptr %.reg2mem244, align 8
  %.reload283 = load i32, ptr %.reg2mem280, align 4
  %40 = and i32 %.reload283, 3
  store i32 %40, ptr %.reg2mem242, align 4
  %.reload267 = load i32, ptr %.reg2mem265, align 4
  store i32 0, ptr %.0163197.reg2mem288, align 4
  store i32 %.reload267, ptr %.0162198.reg2mem290, align 4
  br label %45

._crit_edge200:
  %.0162.lcssa.reload = load i32, ptr %.0162.lcssa.reg2mem, align 4
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %42 = load ptr, ptr %41, align 8, !tbaa !20
  %.sroa.0206.0.insert.ext.reload = load i64, ptr %.sroa.0206.0.insert.ext.reg2mem, align 8
  %sext = shl nuw i64 %.sroa.0206.0.insert.ext.reload, 32
  %43 = ashr exact i64 %sext, 30
  %44 = getelementptr inbounds i8, ptr %42, i64 %43
  store i32 %.0162.lcssa.reload, ptr %44, align 4, !tbaa !4
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #7
  br label %out

45:
  %.0162198.reload291 = load i32, ptr %.0162198.reg2mem290, align 4
  %.0163197.reload289 = load i32, ptr %.0163197.reg2mem288, align 4
  store i32 %.0162198.reload291, ptr %.0162198.reg2mem, align 4
  store i32 %.0163197.reload289, ptr %.0163197.reg2mem, align 4
  %.0163197.reload240 = load i32, ptr %.0163197.reg2mem, align 4
  %.0162198.reload = load i32, ptr %.0162198.reg2mem, align 4
  %46 = mul nsw i32 %.0162198.reload, %.0163197.reload240
  %.reload263 = load ptr, ptr %.reg2mem262, align 8
  store i32 %46, ptr %.reload263, align 4, !tbaa !4
  %.0163197.reload239 = load i32, ptr %.0163197.reg2mem, align 4
  %.reload258 = load ptr, ptr %.reg2mem257, align 8
  store i32 %.0163197.reload239, ptr %.reload258, align 8, !tbaa !4
  %.sroa.4.0..sroa_idx.reload = load ptr, ptr %.sroa.4.0..sroa_idx.reg2mem, align 8
  %.reload261 = load float, ptr %.reg2mem260, align 4
  store float %.reload261, ptr %.sroa.4.0..sroa_idx.reload, align 4, !tbaa !21
  tail call void @__revamp_tile_barrier(i32 noundef 3) #6
  %47 = load i32, ptr %0, align 8, !tbaa !8
  %48 = icmp sgt i32 %47, 3
  br i1 %48, label %49, label %51

49:
  %.reload252 = load ptr, ptr %.reg2mem251, align 8
  %50 = load i32, ptr %.reload252, align 4, !tbaa !4
  store i32 %50, ptr %.reg2mem236, align 4
  tail call void @__revamp_tile_barrier(i32 noundef 3) #6
  %.reload237 = load i32, ptr %.reg2mem236, align 4
  store i32 %.reload237, ptr %.pn.reg2mem, align 4
  br label %56

51:
  %.reload256 = load ptr, ptr %.reg2mem255, align 8
  %52 = load i32, ptr %.reload256, align 8, !tbaa !23
  %.reload254 = load ptr, ptr %.reg2mem253, align 8
  %53 = load float, ptr %.reload254, align 4, !tbaa !25
  %54 = fptosi float %53 to i32
  %55 = add nsw i32 %52, %54
  store i32 %55, ptr %.reg2mem234, align 4
  tail call void @__revamp_tile_barrier(i32 noundef 3) #6
  %.reload235 = load i32, ptr %.reg2mem234, align 4
  store i32 %.reload235, ptr %.pn.reg2mem, align 4
  br label %56

56:
  %.pn.reload = load i32, ptr %.pn.reg2mem, align 4
  %.0162198.reload241 = load i32, ptr %.0162198.reg2mem, align 4
  %.1 = add nsw i32 %.pn.reload, %.0162198.reload241
  store i32 %.1, ptr %.1.reg2mem, align 4
  %.reload247 = load i1, ptr %.reg2mem246, align 1
  br i1 %.reload247, label %..lr.ph_crit_edge, label %.._crit_edge_crit_edge

.._crit_edge_crit_edge:
  br label %._crit_edge

..lr.ph_crit_edge:
  store i32 0, ptr %.0164196.reg2mem, align 4
  br label %.lr.ph

._crit_edge:
  %.0163197.reload238 = load i32, ptr %.0163197.reg2mem, align 4
  %57 = and i32 %.0163197.reload238, 3
  %58 = zext nneg i32 %57 to i64
  %59 = getelementptr inbounds nuw i32, ptr %1, i64 %58
  %60 = load i32, ptr %59, align 4, !tbaa !4
  %.reload245 = load ptr, ptr %.reg2mem244, align 8
  %61 = atomicrmw add ptr %.reload245, i32 %60 monotonic, align 4
  tail call void @__revamp_tile_barrier(i32 noundef 3) #6
  %.reload264 = load ptr, ptr %.reg2mem262, align 8
  %62 = load i32, ptr %.reload264, align 4, !tbaa !4
  %.1.reload233 = load i32, ptr %.1.reg2mem, align 4
  %63 = add nsw i32 %62, %.1.reload233
  store i32 %63, ptr %.reg2mem229, align 4
  %.reload243 = load i32, ptr %.reg2mem242, align 4
  switch i32 %.reload243, label %._crit_edge._crit_edge [
    i32 0, label %71
    i32 1, label %73
  ]

._crit_edge._crit_edge:
  %.reload232 = load i32, ptr %.reg2mem229, align 4
  store i32 %.reload232, ptr %.2.reg2mem, align 4
  br label %75

.lr.ph:
  %.0164196.reload = load i32, ptr %.0164196.reg2mem, align 4
  %.1.reload = load i32, ptr %.1.reg2mem, align 4
  %64 = add nsw i32 %.0164196.reload, %.1.reload
  %65 = and i32 %64, 3
  %66 = zext nneg i32 %65 to i64
  %67 = getelementptr inbounds nuw i32, ptr %1, i64 %66
  %68 = load i32, ptr %67, align 4, !tbaa !4
  %69 = add nsw i32 %68, %.0164196.reload
  store i32 %69, ptr %67, align 4, !tbaa !4
  %70 = add nuw nsw i32 %.0164196.reload, 1
  store i32 %70, ptr %.reg2mem226, align 4
  %.reload227 = load i32, ptr %.reg2mem226, align 4
  %.reload249 = load i32, ptr %.reg2mem248, align 4
  %exitcond.not = icmp eq i32 %.reload227, %.reload249
  br i1 %exitcond.not, label %.lr.ph.._crit_edge_crit_edge, label %.lr.ph..lr.ph_crit_edge, !llvm.loop !26

.lr.ph..lr.ph_crit_edge:
  %.reload228 = load i32, ptr %.reg2mem226, align 4
  store i32 %.reload228, ptr %.0164196.reg2mem, align 4
  br label %.lr.ph, !llvm.loop !26

.lr.ph.._crit_edge_crit_edge:
  br label %._crit_edge, !llvm.loop !26

71:
  %.reload231 = load i32, ptr %.reg2mem229, align 4
  %72 = mul nsw i32 %.reload231, 3
  store i32 %72, ptr %.reg2mem224, align 4
  %.reload225 = load i32, ptr %.reg2mem224, align 4
  store i32 %.reload225, ptr %.3.reg2mem286, align 4
  br label %77

73:
  %.reload230 = load i32, ptr %.reg2mem229, align 4
  %.reload278 = load i32, ptr %.reg2mem271, align 4
  %74 = xor i32 %.reload230, %.reload278
  store i32 %74, ptr %.reg2mem222, align 4
  %.reload223 = load i32, ptr %.reg2mem222, align 4
  store i32 %.reload223, ptr %.2.reg2mem, align 4
  br label %75

75:
  %.2.reload = load i32, ptr %.2.reg2mem, align 4
  %76 = add nsw i32 %.2.reload, -5
  store i32 %76, ptr %.reg2mem220, align 4
  %.reload221 = load i32, ptr %.reg2mem220, align 4
  store i32 %.reload221, ptr %.3.reg2mem286, align 4
  br label %77

77:
  %.3.reload287 = load i32, ptr %.3.reg2mem286, align 4
  store i32 %.3.reload287, ptr %.3.reg2mem, align 4
  tail call void @__revamp_tile_barrier(i32 noundef 3) #6
  %.0163197.reload = load i32, ptr %.0163197.reg2mem, align 4
  %78 = add nuw nsw i32 %.0163197.reload, 1
  store i32 %78, ptr %.reg2mem, align 4
  %79 = load i32, ptr %0, align 8, !tbaa !8
  %.reload218 = load i32, ptr %.reg2mem, align 4
  %80 = icmp slt i32 %.reload218, %79
  br i1 %80, label %._crit_edge217, label %.._crit_edge200_crit_edge, !llvm.loop !28

.._crit_edge200_crit_edge:
  %.3.reload = load i32, ptr %.3.reg2mem, align 4
  store i32 %.3.reload, ptr %.0162.lcssa.reg2mem, align 4
  br label %._crit_edge200, !llvm.loop !28

._crit_edge217:
  %.reload = load i32, ptr %.reg2mem, align 4
  %.3.reload219 = load i32, ptr %.3.reg2mem, align 4
  store i32 %.reload, ptr %.0163197.reg2mem288, align 4
  store i32 %.3.reload219, ptr %.0162198.reg2mem290, align 4
  br label %45, !llvm.loop !28

out:
  ret void
}

declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

declare hidden void @__revamp_workgroup_size(i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr #2

declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

declare hidden i32 @__revamp_global_id(i32 noundef) local_unnamed_addr #3

declare hidden i32 @__revamp_local_id(i32 noundef) local_unnamed_addr #3

declare hidden i32 @__revamp_group_id(i32 noundef) local_unnamed_addr #3

declare hidden void @__revamp_tile_barrier(i32 noundef) local_unnamed_addr #2

define internal void @untiled_entry(ptr noundef readonly captures(none) %0) #0 {
exit:
  %.reg2mem = alloca i32, align 4
  %.reg2mem91 = alloca i64, align 8
  %"reg2mem alloca point" = bitcast i32 0 to i32
  tail call void @__revamp_workgroup_auto(i32 noundef 1) #6
  %1 = tail call i32 @__revamp_global_id(i32 noundef 0) #8
  %2 = load ptr, ptr %0, align 8, !tbaa !19
  %3 = sext i32 %1 to i64
  store i64 %3, ptr %.reg2mem91, align 8
  %.reload93 = load i64, ptr %.reg2mem91, align 8
  %4 = getelementptr inbounds i32, ptr %2, i64 %.reload93
  %5 = load i32, ptr %4, align 4, !tbaa !4
  store i32 %5, ptr %.reg2mem, align 4
  %.reload90 = load i32, ptr %.reg2mem, align 4
  %6 = icmp slt i32 %.reload90, 0
  br i1 %6, label %7, label %out

7:
  %8 = tail call ptr @revamp_native_text() #6
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(52) %8, ptr noundef nonnull align 1 dereferenceable(52) @.str, i64 52, i1 false) #6
  tail call void @__revamp_end_thread() #9
  unreachable

out:
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = load ptr, ptr %9, align 8, !tbaa !20
  %.reload92 = load i64, ptr %.reg2mem91, align 8
  %11 = getelementptr inbounds i32, ptr %10, i64 %.reload92
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %13 = load i32, ptr %12, align 8, !tbaa !29
  %.reload = load i32, ptr %.reg2mem, align 4
  %14 = add nsw i32 %13, %.reload
  %15 = atomicrmw max ptr %11, i32 %14 monotonic, align 4
  ret void
}

declare hidden void @__revamp_workgroup_auto(i32 noundef) local_unnamed_addr #2

declare hidden ptr @revamp_native_text() local_unnamed_addr #2

declare hidden void @__revamp_end_thread() local_unnamed_addr #4

declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #5

attributes #0 = { alwaysinline convergent mustprogress norecurse nounwind "revamp-kernel" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent nounwind }
attributes #3 = { alwaysinline convergent mustprogress nofree nounwind willreturn memory(none) }
attributes #4 = { alwaysinline convergent noreturn nounwind }
attributes #5 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { alwaysinline convergent nounwind }
attributes #7 = { alwaysinline nounwind }
attributes #8 = { alwaysinline convergent nounwind willreturn memory(none) }
attributes #9 = { alwaysinline convergent noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2}
!llvm.ident = !{!3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"frame-pointer", i32 2}
!3 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C++ TBAA"}
!8 = !{!9, !5, i64 0}
!9 = !{!"_ZTSZ3runN11Concurrency5abi_110array_viewIKiLi1EEENS1_IiLi1EEEiEUlNS0_11tiled_indexILi4ELi8ELi0EEEE_", !5, i64 0, !10, i64 8, !17, i64 40}
!10 = !{!"_ZTSN11Concurrency5abi_110array_viewIKiLi1EEE", !11, i64 0}
!11 = !{!"_ZTSN6revamp5abi_16detail10basic_viewIKiLi1EEE", !12, i64 0, !14, i64 8, !16, i64 16, !6, i64 24}
!12 = !{!"p1 int", !13, i64 0}
!13 = !{!"any pointer", !6, i64 0}
!14 = !{!"_ZTSN11Concurrency5abi_16extentILi1EEE", !15, i64 0}
!15 = !{!"_ZTSN6revamp5abi_16detail10componentsIN11Concurrency5abi_16extentELi1EEE", !6, i64 0}
!16 = !{!"_ZTSN6revamp5abi_16detail7stridesILi1EEE", !6, i64 0}
!17 = !{!"_ZTSN11Concurrency5abi_110array_viewIiLi1EEE", !18, i64 0}
!18 = !{!"_ZTSN6revamp5abi_16detail10basic_viewIiLi1EEE", !12, i64 0, !14, i64 8, !16, i64 16, !6, i64 24}
!19 = !{!11, !12, i64 0}
!20 = !{!18, !12, i64 0}
!21 = !{!22, !22, i64 0}
!22 = !{!"float", !6, i64 0}
!23 = !{!24, !5, i64 0}
!24 = !{!"_ZTS4both", !5, i64 0, !22, i64 4}
!25 = !{!24, !22, i64 4}
!26 = distinct !{!26, !27}
!27 = !{!"llvm.loop.mustprogress"}
!28 = distinct !{!28, !27}
!29 = !{!30, !5, i64 64}
!30 = !{!"_ZTSZ3runN11Concurrency5abi_110array_viewIKiLi1EEENS1_IiLi1EEEiEUlNS0_5indexILi1EEEE_", !10, i64 0, !17, i64 32, !5, i64 64}
