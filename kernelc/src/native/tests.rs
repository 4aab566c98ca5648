//! Tests of the native code for small kernels, and of the reasons why some kernels have no native code. tests/kernels runs kernels and
//! tests their results.

use super::analysis::{Kernel, Surroundings};
use super::table::Owner;
use super::variables::post_dominators;
use super::{Native, X86_64, is_shared, parallel, prepare, split_kernels};
use crate::clang::Clang;
use crate::files::Folder;
use crate::ir::tests::parsed;
use crate::ir::{GlobalId, LocalId, snapshot};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// The module of a kernel that has tiles of 8 x 4 threads and this body, in the form of `opt`'s output.
fn module(parameter: &str, body: &str) -> String {
    format!(
        "%pair = type {{ i32, double }}\n\
         @s = internal global [32 x i32] undef, align 4\n\
         @llvm.compiler.used = appending global [1 x ptr] [ptr @k], section \"llvm.metadata\"\n\
         define internal void @k(ptr noundef {parameter} %0) #0 {{\n\
         entry:\n  call void @__revamp_workgroup_size(i32 8, i32 4, i32 1)\n\
         {body}\n}}\n\
         declare void @__revamp_workgroup_size(i32, i32, i32)\n\
         declare void @__revamp_tile_barrier(i32)\n\
         declare void @__revamp_unheard_of(i32)\n\
         define void @elsewhere() {{\n  ret void\n}}\n\
         declare i32 @__revamp_local_id(i32)\n\
         declare i32 @__revamp_group_id(i32)\n\
         declare float @sinf(float)\n\
         declare float @llvm.floor.f32(float)\n\
         attributes #0 = {{ nounwind \"revamp-kernel\" }}\n\
         !0 = !{{}}\n"
    )
}

const BARRIER: &str = "  call void @__revamp_tile_barrier(i32 3)\n";
const END: &str = "  ret void";

fn native(module: &str) -> Native {
    parsed(module).and_then(|module| split_kernels(module, false)).unwrap_or_else(|why| panic!("{why}\n{module}"))
}

/// The text of the module with the kernel's function, or the reason why the kernel has no native code.
fn native_text(body: &str) -> Result<String, String> {
    let native = native(&module("readonly align 8 captures(none) dereferenceable(40)", body));
    match native.left_out.first() {
        Some((_, why)) => Err(why.clone()),
        None => Ok(native.module(&X86_64, 1..2, &Owner::of_unit(1))?.print()),
    }
}

#[test]
fn kernels_without_native_code_have_a_reason() {
    let loads = "  %a = alloca i32, align 4\n  store i32 1, ptr %a, align 4\n";
    for (body, why) in [
        (
            format!("  %n = load i64, ptr %0\n  %a = alloca i8, i64 %n, align 16\n{END}"),
            "a length that is not constant",
        ),
        (format!("  call void @__revamp_unheard_of(i32 1)\n{END}"), "the kernel calls __revamp_unheard_of"),
        (format!("  call void @elsewhere()\n{END}"), "the kernel calls elsewhere"),
        (
            format!("  %x = call i32 @__revamp_tile_barrier(i32 3)\n  store i32 %x, ptr %0\n{END}"),
            "the kernel calls __revamp_tile_barrier",
        ),
        ("  br label %next\nnext:\n  indirectbr ptr %0, [label %next]".into(), "the kernel uses indirectbr"),
        (
            format!("  %n = load i32, ptr %0\n  %x = call i32 @__revamp_local_id(i32 %n)\n{END}"),
            "the kernel reads a thread position in a dimension that is not a constant",
        ),
        (
            format!("  %x = call i32 @__revamp_local_id(i32 3)\n{END}"),
            "the kernel reads a thread position in a fourth dimension",
        ),
        (
            format!("  %v = alloca x86_fp80, align 16\n  %p = ptrtoint ptr %v to i64\n{END}"),
            "the type of a variable has no known size",
        ),
        (
            format!("  %v = alloca [99999999999 x i32], align 4\n  %p = ptrtoint ptr %v to i64\n{END}"),
            "a tile takes too much memory",
        ),
        (
            format!("{loads}  store i64 ptrtoint (ptr @s to i64), ptr %0\n{END}"),
            "the address of a tile_static variable",
        ),
    ] {
        let refusal = native_text(&body).err().unwrap_or_default();
        assert!(refusal.contains(why), "{refusal:?} of\n{body}");
    }
    let changes = native(&module("", END));
    assert_eq!(changes.left_out[0].1, "the kernel modifies its functor");
    let no_tiles =
        format!("  %n = load i32, ptr %0\n  call void @__revamp_workgroup_size(i32 8, i32 4, i32 %n)\n{END}");
    let no_tiles =
        native(&module("readonly", &no_tiles).replace("(i32 8, i32 4, i32 1)\n", "(i32 8, i32 4, i32 %n)\n").replacen(
            "  call void @__revamp_workgroup_size(i32 8, i32 4, i32 %n)\n",
            "",
            1,
        ));
    assert_eq!(no_tiles.left_out[0].1, "the size of the tiles of the kernel is not constant");
    let large = native(&module("readonly", END).replace("i32 8, i32 4, i32 1)\n", "i32 64, i32 64, i32 64)\n"));
    assert_eq!(large.left_out[0].1, "the tiles of the kernel have too many threads");
}

#[test]
fn a_region_is_a_loop_over_the_threads_in_each_dimension() {
    let text = native_text(&format!("{BARRIER}  br label %next\nnext:\n{BARRIER}{END}")).unwrap_or_default();
    assert_eq!(text.matches(".latch.x:").count(), 3, "{text}");
    assert_eq!(text.matches(".latch.y:").count(), 3, "{text}");
    assert!(!text.contains(".latch.z:"), "one thread in z\n{text}");
    assert!(text.contains("readonly align 8 dereferenceable(40) %0"), "{text}");
    assert!(!text.contains("__revamp_"), "{text}");
}

/// How a variable's value survives a barrier: kept per thread, kept once, or rematerialised. In all three cases, the
/// region after the barrier initialises the variable with a second store.
fn survival(value: &str) -> &'static str {
    let body = format!(
        "  %v = alloca i32, align 4\n{value}  store i32 %x, ptr %v, align 4\n{BARRIER}  %y = load i32, ptr %v, align 4\n  \
         %to = getelementptr [32 x i32], ptr @s, i64 0, i64 3\n  store i32 %y, ptr %to, align 4\n{END}"
    );
    let text = native_text(&body).unwrap_or_else(|why| format!("left out: {why}"));
    let stores = text.lines().filter(|line| line.contains("  store i32 ") && line.contains(", ptr %v.v,")).count();
    match stores {
        2 if text.contains("%u.v = alloca i32") => "once",
        2 if text.contains("%k.v = getelementptr") => "a thread",
        2 if !text.contains(".v = load i32") => "rematerialised",
        _ => "not at all",
    }
}

#[test]
fn variables_across_barriers() {
    for (value, how) in [
        ("  %x = call i32 @__revamp_local_id(i32 0)\n", "rematerialised"),
        ("  %n = call i32 @__revamp_group_id(i32 0)\n  %x = mul i32 %n, 3\n", "rematerialised"),
        ("  %x = load i32, ptr %0, align 4\n", "rematerialised"),
        // A division that is executed speculatively may trap.
        ("  %n = load i32, ptr %0, align 4\n  %x = sdiv i32 7, %n\n", "once"),
        (
            "  %l = call i32 @__revamp_local_id(i32 0)\n  %n = load i32, ptr %0, align 4\n  %x = udiv i32 %l, %n\n",
            "a thread",
        ),
        ("  %p = load ptr, ptr %0, align 8\n  %x = load i32, ptr %p, align 4\n", "a thread"),
        ("  %x = atomicrmw add ptr @s, i32 1 monotonic, align 4\n", "a thread"),
        // The stored value depends on itself.
        (
            "  %w = alloca i32, align 4\n  %l = load i32, ptr %w, align 4\n  %x = add i32 %l, 1\n  store i32 %x, ptr %w\n",
            "once",
        ),
    ] {
        assert_eq!(survival(value), how, "{value}");
    }
}

#[test]
fn debug_records_of_variables_are_removed_with_the_kernel() {
    let body = format!(
        "  %v = alloca i32, align 4\n    #dbg_declare(ptr %v, !5, !DIExpression(), !6)\n  \
         %x = load i32, ptr %0, align 4, !dbg !6\n    #dbg_value(i32 %x, !5, !DIExpression(), !6)\n  \
         store i32 %x, ptr %v, align 4, !dbg !6\n{BARRIER}    #dbg_value(i32 %x, !5, !DIExpression(), !6)\n  \
         %y = load i32, ptr %v, align 4, !dbg !7\n  store i32 %y, ptr @s, align 4, !dbg !7\n{END}"
    );
    let text = module("readonly align 8 captures(none) dereferenceable(40)", &body)
        .replace(" #0 {", " #0 !dbg !3 {")
        .replace("__revamp_tile_barrier(i32 3)\n", "__revamp_tile_barrier(i32 3), !dbg !6\n")
        .replace("i32 8, i32 4, i32 1)\n", "i32 8, i32 4, i32 1), !dbg !6\n");
    let records = "!llvm.dbg.cu = !{!1}\n!llvm.module.flags = !{!8}\n!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2)\n\
                   !2 = !DIFile(filename: \"a.cpp\", directory: \"/\")\n\
                   !3 = distinct !DISubprogram(name: \"k\", file: !2, line: 1, type: !4, unit: !1, spFlags: DISPFlagDefinition)\n\
                   !4 = !DISubroutineType(types: !0)\n!5 = !DILocalVariable(name: \"v\", scope: !3, file: !2, line: 2)\n\
                   !6 = !DILocation(line: 2, scope: !3)\n!7 = !DILocation(line: 3, scope: !3)\n\
                   !8 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
    let native = native(&(text + records));
    assert!(native.left_out.is_empty(), "{:?}", native.left_out);
    let text = native
        .module(&X86_64, 0..3, &Owner::of_unit(1))
        .map(|module| module.print())
        .unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(text.matches("!DILocation(line: 3, ").count(), 3, "one for each level\n{text}");
}

#[test]
fn weak_declarations_stay_weak() {
    let text = module(
        "readonly align 8 captures(none) dereferenceable(40)",
        &format!("  %x = call float @sinf(float 1.0)\n{END}"),
    )
    .replace("declare float @sinf", "declare extern_weak float @sinf");
    let text = native(&text)
        .module(&X86_64, 0..1, &Owner::of_unit(1))
        .map(|module| module.print())
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(text.contains("declare extern_weak float @sinf"), "{text}");
}

#[test]
fn exits_are_compared_if_threads_may_diverge() {
    let branch = |condition: &str| {
        let body =
            format!("{condition}  br i1 %c, label %wait, label %out\nwait:\n{BARRIER}  br label %out\nout:\n{END}");
        native_text(&body).unwrap_or_else(|why| format!("left out: {why}")).contains("label %parted")
    };
    for (condition, compared) in [
        ("  %l = call i32 @__revamp_local_id(i32 1)\n  %c = icmp eq i32 %l, 0\n", true),
        ("  %g = call i32 @__revamp_group_id(i32 1)\n  %c = icmp eq i32 %g, 0\n", false),
        ("  %n = load i32, ptr %0\n  %c = icmp eq i32 %n, 0\n", false),
        ("  %n = load i32, ptr @s\n  %c = icmp eq i32 %n, 0\n", true),
    ] {
        assert_eq!(branch(condition), compared, "{condition}");
    }
}

#[test]
fn a_value_across_a_barrier_of_its_own_block_keeps_its_type() {
    for (made_by, ty) in [
        ("call float @sinf(float 1.0)", "float"),
        ("tail call fast noundef nofpclass(nan inf) float @sinf(float 1.0)", "float"),
        ("load atomic volatile i64, ptr %0 monotonic, align 8", "i64"),
        ("cmpxchg ptr @s, i32 1, i32 2 monotonic monotonic, align 4", "{ i32, i1 }"),
        ("extractelement <4 x float> zeroinitializer, i32 1", "float"),
        ("fadd nnan ninf <2 x double> zeroinitializer, zeroinitializer", "<2 x double>"),
        ("insertvalue %pair poison, i32 1, 0", "%pair"),
        ("getelementptr inbounds nuw i8, ptr %0, i64 4", "ptr"),
        ("select i1 true, half 0xH3C00, half 0xH0000", "half"),
    ] {
        let body = format!("  %x = {made_by}\n{BARRIER}  %y = freeze {ty} %x\n{END}");
        let text = native_text(&body).unwrap_or_else(|why| format!("left out: {why}"));
        assert!(text.contains(&format!("%v.x.reg2mem = alloca {ty},")), "{made_by}\n{text}");
    }
}

/// The analysis of a kernel with this body; `cut`: loops without barriers may be cut.
fn analysed(body: &str, cut: bool) -> Kernel {
    let mut module =
        parsed(&module("readonly align 8 dereferenceable(40)", body)).unwrap_or_else(|why| panic!("{why}\n{body}"));
    prepare::run(&mut module).unwrap_or_else(|why| panic!("{why}\n{body}"));
    let code = Rc::new(snapshot(&module));
    let shared = (0..code.globals.len()).map(GlobalId).filter(|n| is_shared(&code, *n)).collect();
    let surroundings = Surroundings { shared, view_members: HashSet::new(), reads_block: true };
    let index = code.functions.iter().position(|function| function.name == "k").unwrap_or(0);
    Kernel::new(&code, index, &surroundings, cut).unwrap_or_else(|why| panic!("{why} of\n{body}"))
}

/// The variable with this name.
fn variable_named(kernel: &Kernel, name: &str) -> LocalId {
    let variable_named = |local: &&LocalId| kernel.function.locals[local.0].name == name;
    *kernel.variables.keys().find(variable_named).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn variables_that_are_only_loaded_and_stored_whole() {
    for (uses, plain, stores) in [
        ("  %x = load i32, ptr %v, align 4\n", true, 0),
        ("  store i32 1, ptr %v, align 4\n  store i32 2, ptr %v, align 4\n", true, 2),
        ("  call void @llvm.lifetime.start.p0(ptr %v)\n  store i32 1, ptr %v, align 4\n", true, 1),
        ("  %x = load i16, ptr %v, align 2\n", false, 0),
        ("  store volatile i32 1, ptr %v, align 4\n", false, 0),
        ("  store ptr %v, ptr @s, align 8\n", false, 0),
        ("  %p = getelementptr i8, ptr %v, i64 2\n", false, 0),
        ("  %x = atomicrmw add ptr %v, i32 1 monotonic, align 4\n", false, 0),
    ] {
        let kernel = analysed(&format!("  %v = alloca i32, align 4\n{uses}{END}"), false);
        let variable = &kernel.variables[&variable_named(&kernel, "v")];
        assert_eq!((variable.plain, variable.stores.len()), (plain, stores), "{uses}");
    }
}

/// A diamond of blocks, in which only one of the two branches stores to a variable.
const DIAMOND: &str = "  %v = alloca i32, align 4\n  %c = load i1, ptr %0\n  store i32 1, ptr %v\n  br i1 %c, label %yes, label %no\n\
    yes:\n  store i32 2, ptr %v\n  br label %end\nno:\n  br label %end\nend:\n  %x = load i32, ptr %v\n  store i32 %x, ptr @s\n  ret void";

#[test]
fn live_variables_and_post_dominators_of_a_diamond() {
    let kernel = analysed(DIAMOND, false);
    let is_live: Vec<bool> = kernel.live.iter().map(|live| live.contains(&variable_named(&kernel, "v"))).collect();
    assert_eq!(is_live, [false, false, true, true]);
    let post_dominator_sets = post_dominators(&kernel.flow);
    assert_eq!(post_dominator_sets, [vec![0, 3], vec![1, 3], vec![2, 3], vec![3]].map(BTreeSet::from_iter));
}

#[test]
fn copies_that_are_never_live_at_once_are_coalesced() {
    // A loop that computes %b from %a, and copies %b back to %a.
    let made = |again: &str, out: &str| {
        format!(
            "  %a = alloca i32, align 4\n  %b = alloca i32, align 4\n  store i32 0, ptr %a\n  br label %loop\n\
             loop:\n  %x = load i32, ptr %a\n  %y = add i32 %x, 1\n  store i32 %y, ptr %b\n  %c = icmp slt i32 %y, 9\n  \
             br i1 %c, label %again, label %out\n\
             again:\n{again}  br label %loop\nout:\n{out}  %w = load i32, ptr %b\n  store i32 %w, ptr @s\n{END}"
        )
    };
    let back = "  %z = load i32, ptr %b\n  store i32 %z, ptr %a\n";
    for (again, out, remaining) in [
        (back, "", 1),
        // The old value of %a is needed after the loop.
        (back, "  %old = load i32, ptr %a\n  store i32 %old, ptr @s\n", 2),
        // The value of %b is changed before it is copied back.
        ("  %z = load i32, ptr %b\n  %u = add i32 %z, 1\n  store i32 %u, ptr %a\n", "", 2),
        // Only a part of %b is copied.
        ("  %z = load i16, ptr %b\n  %u = sext i16 %z to i32\n  store i32 %u, ptr %a\n", "", 2),
    ] {
        assert_eq!(analysed(&made(again, out), false).variables.len(), remaining, "{again}{out}");
    }
}

#[test]
fn branches_before_loops_become_forks() {
    let place = "  %l = call i32 @__revamp_local_id(i32 noundef 0)\n  %n = load i32, ptr %0\n";
    let varying = "  %c = icmp slt i32 %l, %n\n";
    let same = "  %c = icmp slt i32 %n, 7\n";
    let other = "  %d = icmp eq i32 %l, %n\n  br i1 %d, label %inner, label %out\n";
    let go = "  br label %inner\n";
    for (condition, second, within, forks) in
        [(varying, go, "", 1), (same, go, "", 0), (varying, other, "", 0), (varying, go, BARRIER, 0)]
    {
        let body = format!(
            "  %i = alloca i32, align 4\n{place}{condition}  br i1 %c, label %in, label %out\nin:\n  store i32 0, ptr %i\n{second}\
             inner:\n  br label %loop\nloop:\n  %x = load i32, ptr %i\n  %y = add i32 %x, 1\n  store i32 %y, ptr %i\n  \
             store i32 %y, ptr @s\n  %e = icmp slt i32 %y, 9\n  br i1 %e, label %loop, label %behind\nbehind:\n{within}  br label %out\n\
             out:\n{BARRIER}  br label %last\nlast:\n{END}"
        );
        let kernel = analysed(&body, true);
        assert_eq!(kernel.forks.len(), forks, "{body}");
        let copies = kernel.function.blocks.iter().filter(|b| b.name.ends_with(".fork")).count();
        assert_eq!(copies > 0, forks > 0, "{body}");
    }
}

#[test]
fn strides_between_neighbouring_threads() {
    let place = "  %i = alloca i64, align 8\n  %l = call i32 @__revamp_local_id(i32 noundef 0)\n  \
        %y = call i32 @__revamp_local_id(i32 noundef 1)\n  %x = sext i32 %l to i64\n  %n = load i64, ptr %0\n";
    for (index, consecutive, gaps) in [
        ("  %k = add i64 %x, %n\n", true, false),
        ("  %k = sub i64 %x, 3\n", true, false),
        ("  %w = sext i32 %y to i64\n  %m = mul i64 %w, 16\n  %k = or disjoint i64 %m, %x\n", true, false),
        ("  %k = mul i64 %x, 2\n", false, true),
        ("  %k = shl i64 %x, 4\n", false, true),
        ("  %k = sub i64 %n, %x\n", false, false),
        ("  %k = mul i64 %x, %n\n", false, false),
        ("  %k = srem i64 %x, 4\n", false, false),
        ("  %k = add i64 %n, 1\n", false, false),
        // The index is a variable that a loop increments.
        (
            "  store i64 %x, ptr %i\n  %k = load i64, ptr %i\n  %j = add i64 %k, %n\n  store i64 %j, ptr %i\n",
            true,
            false,
        ),
        (
            "  store i64 %x, ptr %i\n  %k = load i64, ptr %i\n  %j = add i64 %k, %x\n  store i64 %j, ptr %i\n",
            false,
            false,
        ),
        // The stride of %j follows from a stride of %i that turns out to be wrong.
        (
            "  %j = alloca i64, align 8\n  %d = mul i64 %x, 2\n  store i64 %d, ptr %i\n  %e = load i64, ptr %i\n  store i64 %e, ptr %j\n  \
             %f = load i64, ptr %j\n  store i64 %f, ptr %i\n  store i64 %x, ptr %i\n  %g = load i64, ptr %i\n  \
             %q = getelementptr inbounds [32 x i32], ptr @s, i64 0, i64 %g\n  store i32 1, ptr %q, align 4\n  %k = load i64, ptr %j\n",
            false,
            false,
        ),
    ] {
        let body = format!(
            "{place}{index}  %p = getelementptr inbounds [32 x i32], ptr @s, i64 0, i64 %k\n  store i32 1, ptr %p, align 4\n{END}"
        );
        let kernel = analysed(&body, false);
        let all = BTreeSet::from([0]);
        assert_eq!((kernel.is_consecutive(&all), kernel.has_gaps(&all)), (consecutive, gaps), "{index}");
    }
}

#[test]
fn flags_of_a_tile_are_stored_after_the_loop_over_its_threads() {
    for (first, second, flags) in [
        ("store i32 1, ptr @s, align 4", "", 1),
        ("store i32 1, ptr @s, align 4", "store i32 1, ptr @s, align 4", 1),
        ("store i32 1, ptr @s, align 4", "store i32 2, ptr @s, align 4", 0),
        ("store i32 %l, ptr @s, align 4", "", 0),
        ("store i32 1, ptr @s, align 4", "%x = load i32, ptr @s, align 4", 0),
        ("store i32 1, ptr @s, align 4", "%x = atomicrmw add ptr @s, i32 1 monotonic, align 4", 0),
        ("store i32 1, ptr @s, align 4", "%p = getelementptr i32, ptr @s, i64 3", 0),
    ] {
        let body = format!(
            "  %l = call i32 @__revamp_local_id(i32 1)\n  %c = icmp eq i32 %l, 2\n  br i1 %c, label %yes, label %no\n\
             yes:\n  {first}\n  {second}\n  br label %no\nno:\n{END}"
        );
        let text = native_text(&body).unwrap_or_else(|why| format!("left out: {why}"));
        assert_eq!(text.matches("%flagged = select i1").count(), flags, "{body}\n{text}");
    }
}

#[test]
fn output_of_opt_has_native_code() {
    let native = native(include_str!("../../tests/ir/tiles.native.ll"));
    assert_eq!(native.kernel_names(), ["tiled_entry", "untiled_entry"], "{:?}", native.left_out);
}

/// Tiles run rounds that depend on each other. In each round, each thread runs a loop of its own, with the trip count `OWN`.
const ROUNDS: &str = "  %k = alloca i32, align 4\n  %j = alloca i32, align 4\n  store i32 0, ptr %k, align 4\n  br label %round\n\
    round:\n  store i32 0, ptr %j, align 4\n  br label %step\n\
    step:\n  %x = call i32 @__revamp_local_id(i32 0)\n  %y = call i32 @__revamp_local_id(i32 1)\n  %row = mul i32 %y, 4\n  \
    %l = add i32 %row, %x\n  %p = getelementptr [32 x i32], ptr @s, i64 0, i32 %l\n  %old = load i32, ptr %p, align 4\n  \
    %j.old = load i32, ptr %j, align 4\n  %tripled = mul i32 %old, 3\n  %new = add i32 %tripled, %j.old\n  store i32 %new, ptr %p, align 4\n  \
    %j.new = add i32 %j.old, 1\n  store i32 %j.new, ptr %j, align 4\n  %n = load i32, ptr %0, align 4\n  \
    %again = icmp slt i32 %j.new, OWN\n  br i1 %again, label %step, label %met\n\
    met:\n  call void @__revamp_tile_barrier(i32 3)\n  br label %behind\n\
    behind:\n  %k.old = load i32, ptr %k, align 4\n  %k.new = add i32 %k.old, 1\n  store i32 %k.new, ptr %k, align 4\n  \
    %m = load i32, ptr %0, align 4\n  %more = icmp slt i32 %k.new, %m\n  br i1 %more, label %round, label %out\n\
    out:\n  ret void";

#[test]
fn no_pass_moves_thread_loop_metadata_to_another_loop() {
    let clang = Clang::find().unwrap_or_else(|why| panic!("{why}"));
    // The trip count of each thread's own loop, the size of the tile, and the minimum number of copies of the region after unrolling.
    for (own, tile, copies) in [("1", "4, i32 4", 16), ("%n", "1, i32 2", 2)] {
        let module = module("readonly align 8 captures(none) dereferenceable(40)", &ROUNDS.replace("OWN", own));
        let native = native(&module.replace("i32 8, i32 4, i32 1)\n", &format!("i32 {tile}, i32 1)\n")));
        assert!(native.left_out.is_empty(), "{:?}", native.left_out);
        let target = "x86_64-pc-linux-gnu";
        let made = native.module(&X86_64, 2..3, &Owner::of_unit(1)).unwrap_or_else(|why| panic!("{why}"));
        let module = format!("target triple = \"{target}\"\n{}", made.print());
        let checked = |text: &str| parallel::check(&parsed(text).unwrap());
        assert_eq!(checked(&module), Ok(()));
        let dumps = after_each_pass(&clang, &module, target);
        for (pass, dump) in &dumps {
            assert_eq!(checked(dump), Ok(()), "after {pass}, {own}, {tile}");
        }
        let unrolled = |(_, dump): &(String, String)| dump.matches("call void @llvm.sideeffect()").count() >= copies;
        assert!(
            dumps.iter().any(unrolled),
            "{own}, {tile}: of {} passes none unrolls the loop over threads",
            dumps.len()
        );
    }
}

/// The module after each pass of LLVM, with the pass's name.
fn after_each_pass(clang: &Clang, module: &str, target: &str) -> Vec<(String, String)> {
    let folder = Folder::new().unwrap_or_else(|why| panic!("{why}"));
    let input = folder.file("in.ll");
    std::fs::write(&input, module).unwrap_or_else(|why| panic!("{why}"));
    let mut command = clang.assemble(&input, &folder.file("out.ll"), target);
    command.args(["-S", "-emit-llvm", "-mllvm", "-print-after-all", "-mllvm", "-print-module-scope"]);
    let output = command.output().unwrap_or_else(|why| panic!("{why}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text.split("*** IR Dump After ")
        .skip(1)
        .filter_map(|dump| dump.split_once(" ***"))
        .map(|(pass, dump)| (pass.to_owned(), dump.to_owned()))
        .collect()
}
