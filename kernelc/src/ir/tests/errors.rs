//! Tests of invalid modules: the message of LLVM's parser or verifier says what is wrong, and where.

use super::read;

fn error(text: &str) -> String {
    read(text).err().unwrap_or_default()
}

/// The error for a module whose second line, in a function, is `line`.
fn line(line: &str) -> String {
    let text =
        format!("define i32 @f(i32 %i, float %x, ptr %p, <2 x i32> %v, {{ i8, i32 }} %s) {{\n{line}\n  ret i32 0\n}}");
    error(&text)
}

#[test]
fn the_message_says_where_and_what() {
    let wrong = error("@g = global i32 1\n@h = globel i32 0");
    assert!(wrong.starts_with("text:2:6: error: expected 'global' or 'constant'"), "{wrong}");
    let open = error("define void @f() {\n  ret void");
    assert!(open.starts_with("text:2:11: error:"), "{open}");
}

#[test]
fn damaged_modules_are_errors() {
    for text in [
        // Names that do not exist.
        "define void @f() {\n  call void @g()\n  ret void\n}",
        "@g = global ptr @h",
        "@g = global ptr @a\n@a = alias i8, ptr @b\n@b = alias i8, ptr @a",
        "@g = global %t zeroinitializer",
        "%t = type { i8, %t }\n@g = global %t zeroinitializer",
        // Names that are defined twice.
        "@g = global i8 0\ndeclare void @g()",
        "%t = type i8\n%t = type i8",
        "define void @f() {\na:\n  br label %a\na:\n  ret void\n}",
        // Values that are used before their definition.
        "define void @f() {\n  %1 = add i32 %2, 0\n  %2 = add i64 0, 0\n  ret void\n}",
        // Blocks that do not end.
        "define void @f() {\n}",
        "define void @f() {\na:\n}",
        "define void @f() {\na:\nb:\n  ret void\n}",
        "define void @f() {\n  fence seq_cst\nb:\n  ret void\n}",
        // Functions without a body, open brackets and quotes, and other nonsense.
        "define void @f()\n\ndefine void @g() {\n  ret void\n}",
        "@g = global i8 0 ( @h = global i8 0",
        "nonsense",
        "@g = global i8 0 ; \"\n\"open",
    ] {
        assert!(!error(text).is_empty(), "{text}");
    }
    for wrong in [
        "  %1 = add i32 %i, %none",
        "  br label %none",
        "  %i = add i32 1, 1",
        "  %1 = add i64 %i, 1",
        "  %1 = load i32, i32 %i",
        "  %1 = getelementptr i8, i32 %i, i32 1",
        "  %1 = select i1 true, i32 %i, float %x",
        "  br i32 %i, label %a, label %a",
        "  %1 = extractvalue { i8, i32 } %s, 2",
        "  %1 = insertvalue { i8, i32 } %s, i32 1, 0",
        "  %1 = extractelement i32 %i, i32 0",
        "  %1 = store i32 0, ptr %p",
        "  %1 = add i32 1, 2 3",
        "  store i32 1, ptr %p, other",
    ] {
        assert!(line(wrong).contains("text:2:"), "{wrong}: {}", line(wrong));
    }
}

#[test]
fn constants_that_do_not_fit_their_types() {
    for constant in [
        "float 1",
        "i32 1.0",
        "i32 null",
        "ptr 0",
        "i32 true",
        "i32 @g",
        "float 0x",
        "float 0xHABCDE",
        "double 1e5",
        "i32 -",
        "[2 x i32] [i32 1]",
        "[1 x i32] [i64 1]",
        "{ i32 } <{ i32 1 }>",
        "<2 x i32> [i32 1, i32 2]",
        "[2 x i8] c\"abc\"",
        "[3 x i16] c\"abc\"",
        "<2 x i32> splat (i64 1)",
        "[2 x i32] splat (i32 1)",
        "i64 add (i32 1, i32 1)",
        "i32 add (i32 1, i64 1)",
        "i32 ptrtoint (ptr @g to i64)",
    ] {
        assert!(!error(&format!("@g = global {constant}")).is_empty(), "{constant}");
    }
}

/// If the parser upgraded debug information, it would end the process. `llvm::load` prevents this (`-disable-auto-upgrade-debug-info`).
#[test]
fn a_broken_module_with_debug_information_is_an_error() {
    let broken = "define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}\n\
                  !llvm.module.flags = !{!0}\n!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
    assert!(error(broken).contains("does not dominate all uses"), "{}", error(broken));
}

/// LLVM's verifier refuses a `!dbg` that is not a DILocation. The snapshot relies on this error.
#[test]
fn a_debug_location_must_be_a_dilocation() {
    let text = "define void @f() {\n  ret void, !dbg !0\n}\n!llvm.module.flags = !{!1}\n!0 = !{}\n\
                !1 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
    assert!(error(text).contains("invalid !dbg metadata attachment"), "{}", error(text));
}
