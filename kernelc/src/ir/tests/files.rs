//! Tests of the snapshot with whole files of LLVM IR.

use super::invariants::check;
use super::{function, module as read};
use crate::ir::{BinaryOp, CastOp, Flags, Frame, Function, Op, Type, Value, space};

pub const FORMS: &str = include_str!("../../../tests/ir/forms.ll");
pub const SAXPY: &str = include_str!("../../../tests/ir/saxpy.ll");
pub const SAXPY_OPTIMISED: &str = include_str!("../../../tests/ir/saxpy.opt.ll");
pub const KINDS_OPTIMISED: &str = include_str!("../../../tests/ir/kinds.opt.ll");
pub const TILES_NATIVE: &str = include_str!("../../../tests/ir/tiles.native.ll");

/// The number of indented lines of a file that begin with one of `words`, or that have one of `words` after the `=`.
fn lines(text: &str, words: &[&str]) -> usize {
    let begins = |line: &str| words.iter().any(|word| line.starts_with(&format!("{word} ")));
    text.lines()
        .filter(|line| line.starts_with("  "))
        .map(str::trim_start)
        .filter(|line| begins(line) || line.split_once(" = ").is_some_and(|(_, op)| begins(op)))
        .count()
}

#[test]
fn each_instruction_of_real_files_is_read() {
    for text in [SAXPY, SAXPY_OPTIMISED, KINDS_OPTIMISED] {
        let module = read(text);
        check(&module);
        let ops: Vec<&Op> =
            module.functions.iter().flat_map(Function::instructions).map(|instruction| &instruction.op).collect();
        let count = |predicate: fn(&Op) -> bool| ops.iter().filter(|op| predicate(op)).count();
        assert_eq!(count(|op| matches!(op, Op::Load { .. })), lines(text, &["load"]));
        assert_eq!(count(|op| matches!(op, Op::Store { .. })), lines(text, &["store"]));
        assert_eq!(count(|op| matches!(op, Op::Gep { .. })), lines(text, &["getelementptr"]));
        assert_eq!(count(|op| matches!(op, Op::Phi { .. })), lines(text, &["phi"]));
        assert_eq!(count(|op| matches!(op, Op::Call { .. })), lines(text, &["call", "tail call"]));
        assert_eq!(count(|op| matches!(op, Op::Br { .. } | Op::CondBr { .. })), lines(text, &["br"]));
        assert_eq!(count(|op| matches!(op, Op::ICmp { .. } | Op::FCmp { .. })), lines(text, &["icmp", "fcmp"]));
        assert_eq!(count(|op| matches!(op, Op::Ret { .. })), lines(text, &["ret"]));
        assert_eq!(count(|op| matches!(op, Op::Alloca { .. })), lines(text, &["alloca"]));
        assert_eq!(count(|op| matches!(op, Op::Other { .. })), 0);
        // Each line has one instruction. Only a switch takes several lines, and these files have no switch.
        let all = text.lines().filter(|line| line.starts_with("  ")).count();
        assert_eq!(ops.len(), all);
    }
}

#[test]
fn a_kernel_after_optimisation() {
    let module = read(SAXPY_OPTIMISED);
    let kernel = module.functions.iter().find(|function| function.kernel).unwrap();
    assert_eq!(kernel.name, "_Z5entryIZ4mainEUlN11Concurrency5abi_15indexILi1EEEE_Li1EEv4argsIT_XT0_EE");
    assert_eq!(kernel.returns, Type::Void);
    let [parameter] = &*kernel.parameters else { panic!("{:?}", kernel.parameters) };
    assert_eq!(parameter.ty, Type::Pointer(space::ARGUMENTS));
    let block = parameter.pointee.as_ref().unwrap();
    // The block has a view of 32 bytes, a float that is padded to 8, a second view, and the extent.
    assert_eq!((block.size(), block.align()), (Some(80), Some(1)));
    assert_eq!(block.field_offset(1), Some(72));
    let names: Vec<&str> = kernel.blocks.iter().map(|block| &*block.name).collect();
    assert_eq!(names, [".preheader", "3", "11"]);

    let multiply = kernel.blocks[1].instructions.iter().find_map(|instruction| match &instruction.op {
        Op::Binary { op: BinaryOp::FMul, left, right, flags } => Some((instruction, left, right, flags)),
        _ => None,
    });
    let (instruction, left, right, flags) = multiply.unwrap();
    assert_eq!(*flags, Flags::default());
    let name = |value: &Value| match value {
        Value::Local(id) => &*kernel.locals[id.0].name,
        Value::Constant(_) => "",
    };
    assert_eq!((name(&left.value), name(&right.value)), (".sroa.214.0.copyload", "6"));
    let frame =
        |function: &str, file: &str, line, column| Frame { function: function.into(), file: file.into(), line, column };
    assert_eq!(
        module.frames(instruction.location.unwrap()),
        [
            frame("operator()", "/src/saxpy.cpp", 6, 59),
            frame("entry<(lambda at saxpy.cpp:6:17), 1>", "/src/./launch.h", 13, 11)
        ]
    );
    assert_eq!(kernel.definition, Some(frame("entry<(lambda at saxpy.cpp:6:17), 1>", "/src/./launch.h", 9, 0)));
}

#[test]
fn a_kernel_before_optimisation() {
    let module = read(SAXPY);
    let kernel = module.functions.iter().find(|function| function.kernel).unwrap();
    let first = &kernel.blocks[0].instructions[0];
    let Op::Alloca { ty, align: 8, space: space::PRIVATE, .. } = &first.op else { panic!("{first:?}") };
    assert_eq!(ty.size(), Some(80));
    assert!(module.functions.iter().filter(|function| !function.blocks.is_empty()).count() == 12);
    let casts = kernel.blocks[0].instructions.iter().filter(|instruction| {
        matches!(&instruction.op, Op::Cast { op: CastOp::AddrSpaceCast, to: Type::Pointer(space::GENERIC), .. })
    });
    assert_eq!(casts.count(), 6);
}

#[test]
fn tile_static_memory_and_tables() {
    let module = read(KINDS_OPTIMISED);
    let shared = module.globals.iter().find(|global| global.name.ends_with("shared")).unwrap();
    assert_eq!(
        (shared.space, &shared.ty, shared.constant, shared.align),
        (space::TILE, &Type::Array(64, Type::Int(32).into()), false, 16)
    );
    let weights = module.globals.iter().find(|global| global.name.ends_with("weights")).unwrap();
    assert_eq!((weights.space, weights.constant), (space::GLOBAL, true));
    assert!(function(&module, "_ZL4deepdi").parameters[1].ty == Type::Int(32));
}

#[test]
fn every_form_is_read() {
    let module = read(FORMS);
    check(&module);
    let unsupported: Vec<&str> = module
        .functions
        .iter()
        .flat_map(Function::instructions)
        .filter_map(|instruction| match &instruction.op {
            Op::Other { name } => Some(*name),
            _ => None,
        })
        .collect();
    assert_eq!(unsupported, ["asm", "va_arg", "atomicrmw", "invoke", "landingpad", "resume"]);
}
