; In a kernel, the call of __revamp_end_thread() becomes a return at the location of the `unreachable` after it.
declare void @__revamp_end_thread()

define spir_kernel void @ends() !dbg !5 {
; CHECK: @ends(
; CHECK-NEXT: ret void, !dbg !
  tail call void @__revamp_end_thread(), !dbg !7
  unreachable, !dbg !8
}

define spir_kernel void @never() {
; CHECK: @never(
; CHECK-NEXT: unreachable
  unreachable
}

; The call stays in a function that is not inlined. A later step refuses it.
define void @called() {
; CHECK: @called(
; CHECK-NEXT: call void @__revamp_end_thread()
; CHECK-NEXT: unreachable
  call void @__revamp_end_thread()
  unreachable
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

; CHECK-NOT: !DILocation(line: 3
; CHECK: !DILocation(line: 4
; CHECK-NOT: !DILocation(line: 3
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1)
!1 = !DIFile(filename: "a.cpp", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "ends", file: !1, unit: !0, type: !6)
!6 = !DISubroutineType(types: !9)
!7 = !DILocation(line: 3, scope: !5)
!8 = !DILocation(line: 4, scope: !5)
!9 = !{null}
