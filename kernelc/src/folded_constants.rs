//! Refuses kernels with operations on constants whose result is undefined in C++, such as `7u / (6u & 1u)`.
//!
//! Clang folds these operations to `poison` while it generates a function, before `integer_division` can define a result. LLVM then
//! drops the code that depends on the value: stores vanish, loops lose their exits.
//!
//! In the code that Clang generates before any optimisation, scalar `poison` has no other origin. Clang builds vectors and structs
//! from `poison`, so a vector or struct that is `poison` is no error.

use crate::demangle;
use crate::ir::{Constant, FunctionId, Module, Op, Operand, Type, Value};
use crate::kernel_error::{KernelError, Remedy};
use crate::llvm;

const MESSAGE: &str = "an operation on constants is undefined in C++, so Clang has dropped its result. The operation \
                       is an integer division by 0, a division of the most negative number by -1, a shift by as many \
                       bits as the operand has or by more, or a conversion of a number that does not fit the new type. \
                       Remove the operation, or make one operand a variable that is not const. With such a variable, x \
                       / 0 and x % 0 have all bits set";

/// True if an operand in the module may be `poison`. Few modules have such operands. Other modules need no copy in `ir`,
/// because `refused` would find nothing.
pub fn may_be_in(module: &llvm::Module) -> bool {
    module.functions().flat_map(llvm::Value::instructions).any(may_use_poison)
}

/// True if an operand may be `poison`.
fn may_use_poison(user: llvm::Value<'_>) -> bool {
    use llvm::number::value::{ARRAY, POISON, STRUCT, VECTOR};
    let mut operands = (0..user.count_operands()).filter_map(|n| user.operand(n));
    operands.any(|operand| match operand.form() {
        llvm::Form::Other(kind) => [POISON, ARRAY, STRUCT, VECTOR].contains(&kind),
        llvm::Form::Expression(_) => may_use_poison(operand),
        llvm::Form::Instruction(_) => false,
    })
}

/// The errors for instructions of kernels that use scalar `poison`, at most one for each line of the source.
pub fn refused(module: &Module) -> Vec<KernelError> {
    let mut found: Vec<KernelError> = Vec::new();
    for (function, _) in module.functions.iter().zip(reached_by_kernels(module)).filter(|(_, reached)| *reached) {
        for instruction in function.instructions().filter(|instruction| uses_poison(&instruction.op)) {
            let frames = instruction.location.map(|at| module.frames(at)).unwrap_or_default();
            let message = if frames.is_empty() {
                format!("in '{}': {MESSAGE}", demangle::demangled(&function.name))
            } else {
                MESSAGE.into()
            };
            let error = KernelError { message, frames, remedy: Remedy::None };
            let is_on_same_line = |other: &KernelError| match (error.frames.first(), other.frames.first()) {
                (Some(a), Some(b)) => (&a.file, a.line) == (&b.file, b.line),
                _ => *other == error,
            };
            if !found.iter().any(is_on_same_line) {
                found.push(error);
            }
        }
    }
    found
}

/// For each function, true if it is a kernel or if a kernel reaches it.
fn reached_by_kernels(module: &Module) -> Vec<bool> {
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

/// True if an instruction or a constant expression has a scalar operand that is `poison`.
fn uses_poison(op: &Op) -> bool {
    match op {
        // Vectors, structs and arrays are built from `poison`, element by element.
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

    /// The errors for a kernel with these lines, which may call the function `f`.
    fn refusals(lines: &str) -> Vec<KernelError> {
        let text = format!(
            "%pair = type {{ i32, i32 }}\ndeclare void @f(i32)\n\
             define spir_kernel void @kernel(ptr %x, i32 %i, float %y, <4 x i32> %v, i1 %c) {{\nentry:\n{lines}  ret void\n}}\n"
        );
        refused(&module(&text))
    }

    #[test]
    fn only_scalar_poison_is_refused() {
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
    fn only_functions_that_kernels_reach_are_checked() {
        let text = "define spir_kernel void @kernel() {\n  call void @_Z4usedv()\n  ret void\n}\n\
                    define void @_Z4usedv() {\n  store i32 poison, ptr null\n  store i32 poison, ptr null\n  ret void\n}\n\
                    define void @_Z5otherv() {\n  store i32 poison, ptr null\n  ret void\n}\n";
        let found = refused(&module(text));
        assert!(found.len() == 1 && found[0].message.starts_with("in 'used': "), "{found:?}");
        let named = text.replace("call void @_Z4usedv()", "store ptr @_Z4usedv, ptr null");
        assert_eq!(refused(&module(&named)), found);
    }
}
