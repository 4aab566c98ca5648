//! What is wrong, and where.

use revamp_kernelc::ir;

/// Line, column, what is found and what should be there.
fn error(text: &str) -> (u32, u32, String, String) {
    let error = ir::read(text).unwrap_err();
    (error.line, error.column, error.found, error.expected.into_owned())
}

/// What should be where the second line of such a function goes wrong, and the column.
fn line(line: &str) -> (u32, String) {
    let text =
        format!("define i32 @f(i32 %i, float %x, ptr %p, <2 x i32> %v, {{ i8, i32 }} %s) {{\n{line}\n  ret i32 0\n}}");
    let (at, column, _, expected) = error(&text);
    assert_eq!(at, 2, "{expected}");
    (column, expected)
}

#[test]
fn the_message_says_where_and_what() {
    let wrong = ir::read("@g = global i32 1\n@h = globel i32 é").unwrap_err();
    assert_eq!(wrong.to_string(), "line 2, column 17: 'é' where 'global' or 'constant' should be");
    let open = ir::read("define void @f() {\n  ret void").unwrap_err();
    assert_eq!(open.to_string(), "line 2, column 11: the end of the text where an instruction should be");
    // Cut to 60 characters, in quotes, with dots.
    let (_, _, found, _) = error(&format!("@g = global ptr @{}", "n".repeat(200)));
    assert_eq!(found.chars().count(), 65);
}

#[test]
fn names_that_do_not_exist() {
    let undeclared = "define void @f() {\n  call void @g()\n  ret void\n}";
    assert_eq!(error(undeclared), (2, 13, "'@g'".into(), "a name that is declared".into()));
    assert_eq!(error("@g = global ptr @h").3, "a name that is declared");
    assert_eq!(error("@g = global ptr @a\n@a = alias i8, ptr @b\n@b = alias i8, ptr @a").3, "an alias of something");
    assert_eq!(error("@g = global %t zeroinitializer"), (1, 13, "'%t'".into(), "a type that is defined".into()));
    assert_eq!(error("%t = type { i8, %t }").3, "a type that does not hold itself");
    assert_eq!(line("  %1 = add i32 %i, %none"), (20, "a value that is defined".into()));
    assert_eq!(line("  br label %none"), (12, "a block that is defined".into()));
}

#[test]
fn names_that_are_taken() {
    assert_eq!(error("@g = global i8 0\ndeclare void @g()").3, "a name that is not defined before");
    assert_eq!(error("%t = type i8\n%t = type i8").3, "a type that is not defined before");
    assert_eq!(line("  %i = add i32 1, 1"), (3, "a name that is not defined before".into()));
    assert_eq!(
        error("define void @f() {\na:\n  br label %a\na:\n  ret void\n}").3,
        "a name that is not defined before"
    );
}

#[test]
fn types_that_do_not_agree() {
    assert_eq!(line("  %1 = add i64 %i, 1"), (16, "a value of that type".into()));
    assert_eq!(error("define void @f() {\n  %1 = add i32 %2, 0\n  %2 = add i64 0, 0\n  ret void\n}").0, 3);
    assert_eq!(line("  %1 = load i32, i32 %i"), (18, "a pointer".into()));
    assert_eq!(line("  %1 = getelementptr i8, i32 %i, i32 1"), (26, "a pointer".into()));
    assert_eq!(line("  %1 = select i1 true, i32 %i, float %x"), (32, "an operand of the same type".into()));
    assert_eq!(line("  br i32 %i, label %a, label %a"), (6, "an operand of the same type".into()));
    assert_eq!(line("  %1 = extractvalue { i8, i32 } %s, 2"), (37, "an index within the type".into()));
    assert_eq!(
        line("  %1 = insertvalue { i8, i32 } %s, i32 1, 0"),
        (41, "the place of an element of that type".into())
    );
    assert_eq!(line("  %1 = extractelement i32 %i, i32 0"), (23, "a vector".into()));
    assert_eq!(line("  %1 = store i32 0, ptr %p"), (3, "an instruction that makes a value".into()));
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
        "i32 --1",
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
        let (_, _, _, expected) = error(&format!("@g = global {constant}"));
        assert!(expected.ends_with("type"), "{constant}: {expected}");
    }
}

#[test]
fn blocks_that_do_not_end() {
    const EXPECTED: &str = "a terminator (ret, br, ...)";
    assert_eq!(error("define void @f() {\n}"), (2, 1, "'}'".into(), EXPECTED.into()));
    assert_eq!(error("define void @f() {\na:\n}").3, EXPECTED);
    assert_eq!(error("define void @f() {\na:\nb:\n  ret void\n}").0, 3);
    assert_eq!(error("define void @f() {\n  fence seq_cst\nb:\n  ret void\n}").0, 3);
}

#[test]
fn lines_that_go_on() {
    assert_eq!(line("  %1 = add i32 1, 2 3"), (21, "the end of the line".into()));
    assert_eq!(line("  store i32 1, ptr %p, other"), (24, "an alignment or metadata".into()));
    assert_eq!(error("define void @f()\n\ndefine void @g() {\n  ret void\n}").3, "the body of a function");
    assert_eq!(error("@g = global i8 0 ( @h = global i8 0").3, "a bracket that is closed");
    assert_eq!(error("@g = global i8 0, section (\n@h = global i8 0\n)").3, "all that is defined");
    assert_eq!(error("nonsense").3, "a definition");
    assert_eq!(error("@g = global i8 0 ; \"\n\"open").3, "a closing quote");
}

#[test]
fn nothing_nests_too_deeply() {
    assert_eq!(error(&format!("@g = global {}i8", "[1 x ".repeat(129))).3, "less nesting");
    let fine = format!("@g = external global {}i8{}", "[1 x ".repeat(120), "]".repeat(120));
    assert_eq!(ir::read(&fine).unwrap().globals[0].ty.size(), Some(1));
}
