//! Tests of the snapshot of LLVM's modules: each construct of the language, recorded files, and damaged files.
//!
//! The folder `kernelc/tests/ir` contains IR that Clang 22 generated from small programs that include amp.h, before and
//! after LLVM's passes. Paths and long attributes are shortened. The file forms.ll in this folder is hand-written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod constants;
mod damage;
mod errors;
mod files;
mod instructions;
mod invariants;
mod modules;

use super::*;
use crate::clang::Clang;
use crate::llvm::{self, Llvm};
use std::sync::OnceLock;

/// The LLVM of the installed Clang. `scripts/needs` requires both.
fn llvm() -> Llvm {
    static LOADED: OnceLock<Llvm> = OnceLock::new();
    *LOADED.get_or_init(|| {
        let clang = Clang::find().unwrap_or_else(|why| panic!("the tests of IR need Clang and libLLVM: {why}"));
        Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap()
    })
}

/// LLVM's module of a text, or the error of LLVM's parser or verifier.
pub fn parsed(text: &str) -> Result<llvm::Module, String> {
    llvm::Module::read(llvm(), text.as_bytes(), "text")
}

/// The snapshot of a text, or the error of LLVM's parser or verifier.
pub fn read(text: &str) -> Result<Module, String> {
    parsed(text).map(|module| snapshot(&module))
}

/// The snapshot of a text that must be valid.
pub fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// The function of the module with this name.
fn function<'a>(module: &'a Module, name: &str) -> &'a Function {
    module.functions.iter().find(|function| function.name == name).unwrap()
}

/// The instructions of these lines, in a function with parameters of many types.
fn body(lines: &str) -> (Module, Vec<Instruction>) {
    let module = module(&format!(
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

/// The single instruction of this line, in the function of [`body`], and the type of its result.
fn one(line: &str) -> (Op, Type) {
    let (module, instructions) = body(line);
    let [instruction] = &*instructions else { panic!("{instructions:?}") };
    let ty = instruction.result.map_or(Type::Void, |id| function(&module, "f").locals[id.0].ty.clone());
    (instruction.op.clone(), ty)
}

/// A parameter of the function of [`body`] as an operand.
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
    let parameter_index = ["i", "l", "x", "p", "g", "v", "s", "b"].iter().position(|one| *one == name).unwrap();
    Operand { ty, value: Value::Local(LocalId(parameter_index)) }
}

/// `{ i8, i64 }`.
fn pair() -> Type {
    Type::Struct { packed: false, fields: vec![Type::Int(8), Type::Int(64)].into() }
}

/// An integer as an operand.
fn int(bits: u32, value: i128) -> Operand {
    Operand { ty: Type::Int(bits), value: Value::Constant(Constant::Int(value)) }
}
