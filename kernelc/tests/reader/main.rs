//! The reader of LLVM IR: each form of the language, real files, and damaged ones.
//!
//! `tests/ir` holds what Clang 22 made of small programs over amp.h, before and after `opt` (paths and long attributes
//! are cut), and forms.ll, written by hand; `opt -passes=verify` takes all of them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod constants;
mod damage;
mod errors;
mod files;
mod instructions;
mod invariants;
mod modules;

use revamp_kernelc::ir::{self, Constant, Function, Instruction, Module, Op, Operand, Type, Value};

/// Reads what is correct.
fn read(text: &str) -> Module {
    ir::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The function with this name.
fn function<'a>(module: &'a Module, name: &str) -> &'a Function {
    module.functions.iter().find(|function| function.name == name).unwrap()
}

/// The instructions before the `ret void` of a function with these lines, whose parameters are of many types.
fn body(lines: &str) -> (Module, Vec<Instruction>) {
    let module = read(&format!(
        "%pair = type {{ i8, i64 }}
@there = addrspace(1) global i32 0
declare void @sink(...) addrspace(4)
declare float @sinf(float) addrspace(4)
define void @f(i32 %i, i64 %l, float %x, ptr %p, ptr addrspace(1) %g, <4 x i32> %v, %pair %s, i1 %b) addrspace(4) {{
{lines}
  ret void
}}"
    ));
    let mut instructions = function(&module, "f").blocks[0].instructions.clone();
    assert_eq!(instructions.pop().unwrap().op, Op::Ret { value: None });
    (module, instructions)
}

/// The one instruction of this line, in such a function, and the type of its result.
fn one(line: &str) -> (Op, Type) {
    let (module, instructions) = body(line);
    let [instruction] = &*instructions else { panic!("{instructions:?}") };
    let ty = instruction.result.map_or(Type::Void, |id| function(&module, "f").locals[id.0].ty.clone());
    (instruction.op.clone(), ty)
}

/// What the parameters of that function are as operands.
fn parameter(name: &str) -> Operand {
    let ty = match name {
        "i" => Type::Int(32),
        "l" => Type::Int(64),
        "x" => Type::Float,
        "p" => Type::Pointer(0),
        "g" => Type::Pointer(1),
        "v" => Type::Vector(4, Type::Int(32).into()),
        "s" => pair(),
        _ => Type::Int(1),
    };
    let place = ["i", "l", "x", "p", "g", "v", "s", "b"].iter().position(|one| *one == name).unwrap();
    Operand { ty, value: Value::Local(ir::LocalId(place)) }
}

/// `{ i8, i64 }`.
fn pair() -> Type {
    Type::Struct { packed: false, fields: vec![Type::Int(8), Type::Int(64)].into() }
}

/// An integer as an operand.
fn int(bits: u32, value: i128) -> Operand {
    Operand { ty: Type::Int(bits), value: Value::Constant(Constant::Int(value)) }
}
