; Loops that get no unroll count. The first is small enough for LLVM to unroll.
define void @short(i32 %n, float %x) {
; CHECK: @short(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

; The loop is too large.
define void @huge(i32 %n, float %x) {
; CHECK: @huge(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  %m100 = fmul float %x, %x
  %m101 = fmul float %x, %x
  %m102 = fmul float %x, %x
  %m103 = fmul float %x, %x
  %m104 = fmul float %x, %x
  %m105 = fmul float %x, %x
  %m106 = fmul float %x, %x
  %m107 = fmul float %x, %x
  %m108 = fmul float %x, %x
  %m109 = fmul float %x, %x
  %m110 = fmul float %x, %x
  %m111 = fmul float %x, %x
  %m112 = fmul float %x, %x
  %m113 = fmul float %x, %x
  %m114 = fmul float %x, %x
  %m115 = fmul float %x, %x
  %m116 = fmul float %x, %x
  %m117 = fmul float %x, %x
  %m118 = fmul float %x, %x
  %m119 = fmul float %x, %x
  %m120 = fmul float %x, %x
  %m121 = fmul float %x, %x
  %m122 = fmul float %x, %x
  %m123 = fmul float %x, %x
  %m124 = fmul float %x, %x
  %m125 = fmul float %x, %x
  %m126 = fmul float %x, %x
  %m127 = fmul float %x, %x
  %m128 = fmul float %x, %x
  %m129 = fmul float %x, %x
  %m130 = fmul float %x, %x
  %m131 = fmul float %x, %x
  %m132 = fmul float %x, %x
  %m133 = fmul float %x, %x
  %m134 = fmul float %x, %x
  %m135 = fmul float %x, %x
  %m136 = fmul float %x, %x
  %m137 = fmul float %x, %x
  %m138 = fmul float %x, %x
  %m139 = fmul float %x, %x
  %m140 = fmul float %x, %x
  %m141 = fmul float %x, %x
  %m142 = fmul float %x, %x
  %m143 = fmul float %x, %x
  %m144 = fmul float %x, %x
  %m145 = fmul float %x, %x
  %m146 = fmul float %x, %x
  %m147 = fmul float %x, %x
  %m148 = fmul float %x, %x
  %m149 = fmul float %x, %x
  %m150 = fmul float %x, %x
  %m151 = fmul float %x, %x
  %m152 = fmul float %x, %x
  %m153 = fmul float %x, %x
  %m154 = fmul float %x, %x
  %m155 = fmul float %x, %x
  %m156 = fmul float %x, %x
  %m157 = fmul float %x, %x
  %m158 = fmul float %x, %x
  %m159 = fmul float %x, %x
  %m160 = fmul float %x, %x
  %m161 = fmul float %x, %x
  %m162 = fmul float %x, %x
  %m163 = fmul float %x, %x
  %m164 = fmul float %x, %x
  %m165 = fmul float %x, %x
  %m166 = fmul float %x, %x
  %m167 = fmul float %x, %x
  %m168 = fmul float %x, %x
  %m169 = fmul float %x, %x
  %m170 = fmul float %x, %x
  %m171 = fmul float %x, %x
  %m172 = fmul float %x, %x
  %m173 = fmul float %x, %x
  %m174 = fmul float %x, %x
  %m175 = fmul float %x, %x
  %m176 = fmul float %x, %x
  %m177 = fmul float %x, %x
  %m178 = fmul float %x, %x
  %m179 = fmul float %x, %x
  %m180 = fmul float %x, %x
  %m181 = fmul float %x, %x
  %m182 = fmul float %x, %x
  %m183 = fmul float %x, %x
  %m184 = fmul float %x, %x
  %m185 = fmul float %x, %x
  %m186 = fmul float %x, %x
  %m187 = fmul float %x, %x
  %m188 = fmul float %x, %x
  %m189 = fmul float %x, %x
  %m190 = fmul float %x, %x
  %m191 = fmul float %x, %x
  %m192 = fmul float %x, %x
  %m193 = fmul float %x, %x
  %m194 = fmul float %x, %x
  %m195 = fmul float %x, %x
  %m196 = fmul float %x, %x
  %m197 = fmul float %x, %x
  %m198 = fmul float %x, %x
  %m199 = fmul float %x, %x
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

; The exit compares two values that change in each iteration.
define void @endless(i32 %n, float %x) {
; CHECK: @endless(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  %last = icmp eq i32 %i, %j
  br i1 %last, label %out, label %head
out:
  ret void
}

; The exit depends on floats, not on a counter.
define void @floats(i32 %n, float %x) {
; CHECK: @floats(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  %last = fcmp olt float %m1, %x
  br i1 %last, label %out, label %head
out:
  ret void
}

; The loop is not innermost.
define void @outer(i32 %n, float %x) {
; CHECK: @outer(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  br label %again
again:
  %y = phi i32 [ 0, %head ], [ %z, %again ]
  %z = load i32, ptr null
  %w = icmp eq i32 %z, 0
  br i1 %w, label %latch, label %again
other:
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

; The loop has two exits.
define void @exits(i32 %n, float %x) {
; CHECK: @exits(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  %e = icmp eq i32 %i, 7
  br i1 %e, label %out, label %latch
other:
  br label %latch
latch:
  %j = add nuw i32 %i, 1
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

; The counter's step is ten.
define void @ten(i32 %n, float %x) {
; CHECK: @ten(
; CHECK-NOT: llvm.loop
; CHECK: ret void
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
  %j = add nuw i32 %i, 10
  %last = icmp eq i32 %j, %n
  br i1 %last, label %out, label %head
out:
  ret void
}

; The loop has an unroll pragma of the user.
define void @user(i32 %n, float %x) {
; CHECK: @user(
; CHECK: !llvm.loop !0
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

; CHECK: !0 = distinct !{!0, !1, !2}
; CHECK-NOT: unroll.count
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{!"llvm.loop.unroll.disable"}
