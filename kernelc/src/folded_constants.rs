//! Operations on constants that C++ leaves undefined, as `7u / (6u & 1u)`.
//!
//! Clang folds them to `poison` while it makes the code of a function, before `integer_division` can define a result. LLVM then
//! drops what depends on the value: stores vanish, loops lose their ends. Such kernels are refused.
//!
//! In the code that Clang makes before any optimisation, scalar `poison` has no other origin. Vectors and structs are built from it.

use crate::demangle;
use crate::ir::{Constant, FunctionId, Module, Op, Operand, Type, Value};
use crate::kernel_error::{KernelError, Remedy};
use crate::llvm;

const MESSAGE: &str = "an operation on constants is undefined in C++, and Clang has dropped its result: an integer division by 0, \
    the most negative number divided by -1, a shift by as many bits as the number has, or the conversion of a number that does not \
    fit; make one operand a variable that is not const (x / 0 and x % 0 then have all bits set), or remove the operation";

/// Whether the value may be an operand in a module at all: it is in few, and the others need not be copied to be looked at.
pub fn may_be_in(module: &llvm::Module) -> bool {
    module.functions().flat_map(llvm::Value::instructions).any(names_poison)
}

/// Whether an operand may be `poison`.
fn names_poison(of: llvm::Value<'_>) -> bool {
    use llvm::number::value::{ARRAY, POISON, STRUCT, VECTOR};
    let mut operands = (0..of.count_operands()).filter_map(|n| of.operand(n));
    operands.any(|operand| match operand.form() {
        llvm::Form::Other(kind) => [POISON, ARRAY, STRUCT, VECTOR].contains(&kind),
        llvm::Form::Expression(_) => names_poison(operand),
        llvm::Form::Instruction(_) => false,
    })
}

/// The functions and instructions of kernels that use such a value, one for each line of the source.
pub fn refused(module: &Module) -> Vec<KernelError> {
    let mut found: Vec<KernelError> = Vec::new();
    for (function, _) in module.functions.iter().zip(of_kernels(module)).filter(|(_, reached)| *reached) {
        for instruction in function.instructions().filter(|instruction| uses_poison(&instruction.op)) {
            let frames = instruction.location.map(|at| module.frames(at)).unwrap_or_default();
            let message = if frames.is_empty() {
                format!("in '{}': {MESSAGE}", demangle::demangled(&function.name))
            } else {
                MESSAGE.into()
            };
            let error = KernelError { message, frames, remedy: Remedy::None };
            let same = |other: &KernelError| match (error.frames.first(), other.frames.first()) {
                (Some(a), Some(b)) => (&a.file, a.line) == (&b.file, b.line),
                _ => *other == error,
            };
            if !found.iter().any(same) {
                found.push(error);
            }
        }
    }
    found
}

/// Of each function, whether it is a kernel or reached from one.
fn of_kernels(module: &Module) -> Vec<bool> {
    let mut reached = vec![false; module.functions.len()];
    let mut next: Vec<FunctionId> = (0..reached.len()).map(FunctionId).collect();
    next.retain(|id| module.functions[id.0].kernel);
    while let Some(FunctionId(n)) = next.pop() {
        if !std::mem::replace(&mut reached[n], true) {
            for instruction in module.functions[n].instructions() {
                functions_of(&instruction.op, &mut next);
            }
        }
    }
    reached
}

/// The functions that an instruction or a constant expression names.
fn functions_of(op: &Op, named: &mut Vec<FunctionId>) {
    if let Op::Call { callee, .. } = op {
        named.push(*callee);
    }
    for value in op.operands() {
        if let Value::Constant(constant) = value {
            functions_in(constant, named);
        }
    }
}

fn functions_in(constant: &Constant, named: &mut Vec<FunctionId>) {
    match constant {
        Constant::Function(id) => named.push(*id),
        Constant::Expression(op) => functions_of(op, named),
        Constant::Aggregate(parts) => {
            for part in parts.iter() {
                if let Value::Constant(inner) = &part.value {
                    functions_in(inner, named);
                }
            }
        }
        _ => {}
    }
}

/// Whether an instruction or a constant expression has a scalar operand that is `poison`.
fn uses_poison(op: &Op) -> bool {
    match op {
        // What vectors, structs and arrays are built from, element by element.
        Op::ShuffleVector { .. } => false,
        Op::InsertElement { element, .. } | Op::InsertValue { element, .. } => is_poison(&element.ty, &element.value),
        _ => op.typed_operands().into_iter().any(|(ty, value)| is_poison(ty, value)),
    }
}

fn is_poison(ty: &Type, value: &Value) -> bool {
    let Value::Constant(constant) = value else { return false };
    match constant {
        Constant::Poison => !matches!(ty, Type::Vector(..) | Type::Struct { .. } | Type::Array(..)),
        Constant::Aggregate(parts) => parts.iter().any(|part: &Operand| is_poison(&part.ty, &part.value)),
        Constant::Expression(op) => uses_poison(op),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::tests::module;

    /// Of a kernel whose lines are these, and that may call a function.
    fn refusals(lines: &str) -> Vec<KernelError> {
        let text = format!(
            "%pair = type {{ i32, i32 }}\ndeclare void @f(i32)\n\
             define spir_kernel void @kernel(ptr %x, i32 %i, float %y, <4 x i32> %v, i1 %c) {{\nentry:\n{lines}  ret void\n}}\n"
        );
        refused(&module(&text))
    }

    #[test]
    fn scalars_only() {
        for line in [
            "store i32 poison, ptr %x",
            "br i1 poison, label %a, label %a\na:",
            "%7 = fadd float %y, poison",
            "br i1 %c, label %a, label %b\na:\n  br label %b\nb:\n  %5 = phi i32 [ poison, %entry ], [ 4, %a ]",
            "call void @f(i32 noundef poison)",
            "%a = insertelement <4 x i32> %v, i32 poison, i32 0",
            "%a = insertvalue %pair poison, i32 poison, 0",
            "store <2 x i32> <i32 poison, i32 1>, ptr %x",
            "%a = getelementptr i32, ptr %x, i64 poison",
            "store ptr poison, ptr %x",
        ] {
            assert_eq!(refusals(&format!("  {line}\n")).len(), 1, "{line}");
        }
        for line in [
            "%a = insertelement <4 x float> poison, float %y, i32 0",
            "%a = insertelement <2 x float> <float 1.0, float poison>, float %y, i32 1",
            "%a = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 0, i32 poison>",
            "%a = insertvalue { i32, i32 } poison, i32 %i, 0",
            "%a = insertvalue %pair poison, i32 %i, 0",
            "store <2 x i32> poison, ptr %x",
            "store i32 undef, ptr %x",
            "%poison = add i32 %i, 1\n  call void @f(i32 %poison)",
        ] {
            assert_eq!(refusals(&format!("  {line}\n")), [], "{line}");
        }
    }

    #[test]
    fn functions_of_kernels_only() {
        let text = "define spir_kernel void @kernel() {\n  call void @_Z4usedv()\n  ret void\n}\n\
                    define void @_Z4usedv() {\n  store i32 poison, ptr null\n  store i32 poison, ptr null\n  ret void\n}\n\
                    define void @_Z5otherv() {\n  store i32 poison, ptr null\n  ret void\n}\n";
        let found = refused(&module(text));
        assert!(found.len() == 1 && found[0].message.starts_with("in 'used': "), "{found:?}");
        let named = text.replace("call void @_Z4usedv()", "store ptr @_Z4usedv, ptr null");
        assert_eq!(refused(&module(&named)), found);
    }
}
