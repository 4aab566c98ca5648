; Large counted loops get llvm.loop.unroll.count, which replaces their other loop metadata.
define void @counts(i32 %n, float %x) {
; CHECK: @counts(
; CHECK: br i1 %last, label %out, label %head, !llvm.loop !0
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %m0 = fmul float %x, %x
  %m1 = fmul float %x, %x
  %m2 = fmul float %x, %x
  %m3 = fmul float %x, %x
  %m4 = fmul float %x, %x
  %m5 = fmul float %x, %x
  %m6 = fmul float %x, %x
  %m7 = fmul float %x, %x
  %m8 = fmul float %x, %x
  %m9 = fmul float %x, %x
  %m10 = fmul float %x, %x
  %m11 = fmul float %x, %x
  %m12 = fmul float %x, %x
  %m13 = fmul float %x, %x
  %m14 = fmul float %x, %x
  %m15 = fmul float %x, %x
  %m16 = fmul float %x, %x
  %m17 = fmul float %x, %x
  %m18 = fmul float %x, %x
  %m19 = fmul float %x, %x
  %m20 = fmul float %x, %x
  %m21 = fmul float %x, %x
  %m22 = fmul float %x, %x
  %m23 = fmul float %x, %x
  %m24 = fmul float %x, %x
  %m25 = fmul float %x, %x
  %m26 = fmul float %x, %x
  %m27 = fmul float %x, %x
  %m28 = fmul float %x, %x
  %m29 = fmul float %x, %x
  %m30 = fmul float %x, %x
  %m31 = fmul float %x, %x
  %m32 = fmul float %x, %x
  %m33 = fmul float %x, %x
  %m34 = fmul float %x, %x
  %m35 = fmul float %x, %x
  %m36 = fmul float %x, %x
  %m37 = fmul float %x, %x
  %m38 = fmul float %x, %x
  %m39 = fmul float %x, %x
  %m40 = fmul float %x, %x
  %m41 = fmul float %x, %x
  %m42 = fmul float %x, %x
  %m43 = fmul float %x, %x
  %m44 = fmul float %x, %x
  %m45 = fmul float %x, %x
  %m46 = fmul float %x, %x
  %m47 = fmul float %x, %x
  %m48 = fmul float %x, %x
  %m49 = fmul float %x, %x
  %m50 = fmul float %x, %x
  %m51 = fmul float %x, %x
  %m52 = fmul float %x, %x
  %m53 = fmul float %x, %x
  %m54 = fmul float %x, %x
  %m55 = fmul float %x, %x
  %m56 = fmul float %x, %x
  %m57 = fmul float %x, %x
  %m58 = fmul float %x, %x
  %m59 = fmul float %x, %x
  %m60 = fmul float %x, %x
  %m61 = fmul float %x, %x
  %m62 = fmul float %x, %x
  %m63 = fmul float %x, %x
  %m64 = fmul float %x, %x
  %m65 = fmul float %x, %x
  %m66 = fmul float %x, %x
  %m67 = fmul float %x, %x
  %m68 = fmul float %x, %x
  %m69 = fmul float %x, %x
  %m70 = fmul float %x, %x
  %m71 = fmul float %x, %x
  %m72 = fmul float %x, %x
  %m73 = fmul float %x, %x
  %m74 = fmul float %x, %x
  %m75 = fmul float %x, %x
  %m76 = fmul float %x, %x
  %m77 = fmul float %x, %x
  %m78 = fmul float %x, %x
  %m79 = fmul float %x, %x
  %m80 = fmul float %x, %x
  %m81 = fmul float %x, %x
  %m82 = fmul float %x, %x
  %m83 = fmul float %x, %x
  %m84 = fmul float %x, %x
  %m85 = fmul float %x, %x
  %m86 = fmul float %x, %x
  %m87 = fmul float %x, %x
  %m88 = fmul float %x, %x
  %m89 = fmul float %x, %x
  %m90 = fmul float %x, %x
  %m91 = fmul float %x, %x
  %m92 = fmul float %x, %x
  %m93 = fmul float %x, %x
  %m94 = fmul float %x, %x
  %m95 = fmul float %x, %x
  %m96 = fmul float %x, %x
  %m97 = fmul float %x, %x
  %m98 = fmul float %x, %x
  %m99 = fmul float %x, %x
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

define void @progress(i32 %n, float %x) {
; CHECK: @progress(
; CHECK: br i1 %last, label %out, label %head, !llvm.loop !2
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %m0 = fmul float %x, %x
  %m1 = fmul float %x, %x
  %m2 = fmul float %x, %x
  %m3 = fmul float %x, %x
  %m4 = fmul float %x, %x
  %m5 = fmul float %x, %x
  %m6 = fmul float %x, %x
  %m7 = fmul float %x, %x
  %m8 = fmul float %x, %x
  %m9 = fmul float %x, %x
  %m10 = fmul float %x, %x
  %m11 = fmul float %x, %x
  %m12 = fmul float %x, %x
  %m13 = fmul float %x, %x
  %m14 = fmul float %x, %x
  %m15 = fmul float %x, %x
  %m16 = fmul float %x, %x
  %m17 = fmul float %x, %x
  %m18 = fmul float %x, %x
  %m19 = fmul float %x, %x
  %m20 = fmul float %x, %x
  %m21 = fmul float %x, %x
  %m22 = fmul float %x, %x
  %m23 = fmul float %x, %x
  %m24 = fmul float %x, %x
  %m25 = fmul float %x, %x
  %m26 = fmul float %x, %x
  %m27 = fmul float %x, %x
  %m28 = fmul float %x, %x
  %m29 = fmul float %x, %x
  %m30 = fmul float %x, %x
  %m31 = fmul float %x, %x
  %m32 = fmul float %x, %x
  %m33 = fmul float %x, %x
  %m34 = fmul float %x, %x
  %m35 = fmul float %x, %x
  %m36 = fmul float %x, %x
  %m37 = fmul float %x, %x
  %m38 = fmul float %x, %x
  %m39 = fmul float %x, %x
  %m40 = fmul float %x, %x
  %m41 = fmul float %x, %x
  %m42 = fmul float %x, %x
  %m43 = fmul float %x, %x
  %m44 = fmul float %x, %x
  %m45 = fmul float %x, %x
  %m46 = fmul float %x, %x
  %m47 = fmul float %x, %x
  %m48 = fmul float %x, %x
  %m49 = fmul float %x, %x
  %m50 = fmul float %x, %x
  %m51 = fmul float %x, %x
  %m52 = fmul float %x, %x
  %m53 = fmul float %x, %x
  %m54 = fmul float %x, %x
  %m55 = fmul float %x, %x
  %m56 = fmul float %x, %x
  %m57 = fmul float %x, %x
  %m58 = fmul float %x, %x
  %m59 = fmul float %x, %x
  %m60 = fmul float %x, %x
  %m61 = fmul float %x, %x
  %m62 = fmul float %x, %x
  %m63 = fmul float %x, %x
  %m64 = fmul float %x, %x
  %m65 = fmul float %x, %x
  %m66 = fmul float %x, %x
  %m67 = fmul float %x, %x
  %m68 = fmul float %x, %x
  %m69 = fmul float %x, %x
  %m70 = fmul float %x, %x
  %m71 = fmul float %x, %x
  %m72 = fmul float %x, %x
  %m73 = fmul float %x, %x
  %m74 = fmul float %x, %x
  %m75 = fmul float %x, %x
  %m76 = fmul float %x, %x
  %m77 = fmul float %x, %x
  %m78 = fmul float %x, %x
  %m79 = fmul float %x, %x
  %m80 = fmul float %x, %x
  %m81 = fmul float %x, %x
  %m82 = fmul float %x, %x
  %m83 = fmul float %x, %x
  %m84 = fmul float %x, %x
  %m85 = fmul float %x, %x
  %m86 = fmul float %x, %x
  %m87 = fmul float %x, %x
  %m88 = fmul float %x, %x
  %m89 = fmul float %x, %x
  %m90 = fmul float %x, %x
  %m91 = fmul float %x, %x
  %m92 = fmul float %x, %x
  %m93 = fmul float %x, %x
  %m94 = fmul float %x, %x
  %m95 = fmul float %x, %x
  %m96 = fmul float %x, %x
  %m97 = fmul float %x, %x
  %m98 = fmul float %x, %x
  %m99 = fmul float %x, %x
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head, !llvm.loop !0
out:
  ret void
}

; The trip count is constant.
define void @known(i32 %n, float %x) {
; CHECK: @known(
; CHECK: br i1 %last, label %out, label %head, !llvm.loop !3
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  %m0 = fmul float %x, %x
  %m1 = fmul float %x, %x
  %m2 = fmul float %x, %x
  %m3 = fmul float %x, %x
  %m4 = fmul float %x, %x
  %m5 = fmul float %x, %x
  %m6 = fmul float %x, %x
  %m7 = fmul float %x, %x
  %m8 = fmul float %x, %x
  %m9 = fmul float %x, %x
  %m10 = fmul float %x, %x
  %m11 = fmul float %x, %x
  %m12 = fmul float %x, %x
  %m13 = fmul float %x, %x
  %m14 = fmul float %x, %x
  %m15 = fmul float %x, %x
  %m16 = fmul float %x, %x
  %m17 = fmul float %x, %x
  %m18 = fmul float %x, %x
  %m19 = fmul float %x, %x
  %m20 = fmul float %x, %x
  %m21 = fmul float %x, %x
  %m22 = fmul float %x, %x
  %m23 = fmul float %x, %x
  %m24 = fmul float %x, %x
  %m25 = fmul float %x, %x
  %m26 = fmul float %x, %x
  %m27 = fmul float %x, %x
  %m28 = fmul float %x, %x
  %m29 = fmul float %x, %x
  %m30 = fmul float %x, %x
  %m31 = fmul float %x, %x
  %m32 = fmul float %x, %x
  %m33 = fmul float %x, %x
  %m34 = fmul float %x, %x
  %m35 = fmul float %x, %x
  %m36 = fmul float %x, %x
  %m37 = fmul float %x, %x
  %m38 = fmul float %x, %x
  %m39 = fmul float %x, %x
  %m40 = fmul float %x, %x
  %m41 = fmul float %x, %x
  %m42 = fmul float %x, %x
  %m43 = fmul float %x, %x
  %m44 = fmul float %x, %x
  %m45 = fmul float %x, %x
  %m46 = fmul float %x, %x
  %m47 = fmul float %x, %x
  %m48 = fmul float %x, %x
  %m49 = fmul float %x, %x
  %m50 = fmul float %x, %x
  %m51 = fmul float %x, %x
  %m52 = fmul float %x, %x
  %m53 = fmul float %x, %x
  %m54 = fmul float %x, %x
  %m55 = fmul float %x, %x
  %m56 = fmul float %x, %x
  %m57 = fmul float %x, %x
  %m58 = fmul float %x, %x
  %m59 = fmul float %x, %x
  %m60 = fmul float %x, %x
  %m61 = fmul float %x, %x
  %m62 = fmul float %x, %x
  %m63 = fmul float %x, %x
  %m64 = fmul float %x, %x
  %m65 = fmul float %x, %x
  %m66 = fmul float %x, %x
  %m67 = fmul float %x, %x
  %m68 = fmul float %x, %x
  %m69 = fmul float %x, %x
  %m70 = fmul float %x, %x
  %m71 = fmul float %x, %x
  %m72 = fmul float %x, %x
  %m73 = fmul float %x, %x
  %m74 = fmul float %x, %x
  %m75 = fmul float %x, %x
  %m76 = fmul float %x, %x
  %m77 = fmul float %x, %x
  %m78 = fmul float %x, %x
  %m79 = fmul float %x, %x
  %m80 = fmul float %x, %x
  %m81 = fmul float %x, %x
  %m82 = fmul float %x, %x
  %m83 = fmul float %x, %x
  %m84 = fmul float %x, %x
  %m85 = fmul float %x, %x
  %m86 = fmul float %x, %x
  %m87 = fmul float %x, %x
  %m88 = fmul float %x, %x
  %m89 = fmul float %x, %x
  %m90 = fmul float %x, %x
  %m91 = fmul float %x, %x
  %m92 = fmul float %x, %x
  %m93 = fmul float %x, %x
  %m94 = fmul float %x, %x
  %m95 = fmul float %x, %x
  %m96 = fmul float %x, %x
  %m97 = fmul float %x, %x
  %m98 = fmul float %x, %x
  %m99 = fmul float %x, %x
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, 40
  br i1 %last, label %out, label %head
out:
  ret void
}

; CHECK: !0 = distinct !{!0, !1}
; CHECK-NEXT: !1 = !{!"llvm.loop.unroll.count", i32 4}
; CHECK-NEXT: !2 = distinct !{!2, !1}
; CHECK-NEXT: !3 = distinct !{!3, !1}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
