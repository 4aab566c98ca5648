//! Moves calls with loop-invariant arguments out of loops, and merges equal calls, before these calls are inlined.
//!
//! - Precondition: all functions are `alwaysinline` (`inline_all`).
//! - Effect: calls of functions from floating-point numbers to such a number, for example `precise_math::sqrt`, are moved and
//!   merged, if the functions have no effects. All other calls are then inlined. If no call can be moved or merged, the module
//!   does not change.
//! - Why: an inlined function with a branch is several blocks, which LLVM's `licm` does not move and `early-cse` does not
//!   merge. Accurate functions have a branch for rare numbers.

use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::ir::{self, Function, Op, Type};
use crate::llvm::number::opcode::CALL;
use crate::llvm::{Form, Module, Value};
use crate::pipelines;
use std::collections::HashSet;

/// Returns true if any call was moved or merged.
pub fn run(module: &mut Module) -> Result<bool, String> {
    if numeric_functions(&ir::snapshot(module)).is_empty() {
        return Ok(false);
    }
    let mut changed = module.clone();
    changed.run(&pipelines::infer_attributes())?;
    let numeric = numeric_functions(&ir::snapshot(&changed));
    let pure = changed.functions().filter(|function| function.is_pure());
    let kept: HashSet<String> = pure.map(Value::name).filter(|name| numeric.contains(name)).collect();
    keep_calls(&mut changed, &kept);
    changed.run(&pipelines::inline_other_calls())?;
    let before = calls_in_iterations(&ir::snapshot(&changed));
    changed.run(&pipelines::move_calls())?;
    if calls_in_iterations(&ir::snapshot(&changed)) >= before {
        return Ok(false);
    }
    changed.edit(|edit| {
        for function in edit.functions().filter(|function| kept.contains(&function.name())) {
            edit.remove_attribute(function, "noinline");
            edit.add_attribute(function, "alwaysinline");
        }
    });
    *module = changed;
    Ok(true)
}

/// The names of the functions from numbers to a number that other functions call.
fn numeric_functions(module: &ir::Module) -> HashSet<String> {
    let callers = module.functions.iter().filter(|function| !is_numeric(function));
    let callees = callers.flat_map(Function::instructions).filter_map(|one| match one.op {
        Op::Call { callee, .. } => Some(&module.functions[callee.0]),
        _ => None,
    });
    callees.filter(|callee| is_numeric(callee)).map(|callee| callee.name.clone()).collect()
}

/// True for a defined function whose result and parameters are floating-point numbers.
fn is_numeric(function: &Function) -> bool {
    let is_number = |ty: &Type| matches!(ty, Type::Float | Type::Double);
    let defined = !function.blocks.is_empty() && !function.kernel;
    defined && is_number(&function.returns) && function.parameters.iter().all(|one| is_number(&one.ty))
}

/// An estimate of how many calls of numeric functions the kernels execute: each loop has 8 iterations.
fn calls_in_iterations(module: &ir::Module) -> u64 {
    let is_called = |op: &Op| matches!(op, Op::Call { callee, .. } if is_numeric(&module.functions[callee.0]));
    let kernels = module.functions.iter().filter(|function| !is_numeric(function) && !function.blocks.is_empty());
    let of_kernel = |kernel: &Function| -> u64 {
        let loops = natural_loops(&ControlFlowGraph::of(&kernel.blocks));
        let of_block = |(n, block): (usize, &ir::Block)| {
            let calls = block.instructions.iter().filter(|one| is_called(&one.op)).count() as u64;
            let depth = loops.iter().filter(|one| one.blocks.contains(&n)).count() as u32;
            calls.saturating_mul(8u64.saturating_pow(depth))
        };
        kernel.blocks.iter().enumerate().map(of_block).fold(0, u64::saturating_add)
    };
    kernels.map(of_kernel).fold(0, u64::saturating_add)
}

/// Prevents the inlining of calls of these functions. Clang marks all functions as `convergent`, so that passes do not move
/// calls. But operations across threads are barriers, which have effects.
fn keep_calls(module: &mut Module, names: &HashSet<String>) {
    let is_kept = |value: Value<'_>| names.contains(&value.name());
    module.edit(|edit| {
        for function in edit.functions().filter(|function| is_kept(*function)) {
            edit.remove_attribute(function, "alwaysinline");
            edit.remove_attribute(function, "convergent");
            edit.add_attribute(function, "noinline");
        }
        let calls = edit.functions().flat_map(Value::instructions).filter(|one| one.form() == Form::Instruction(CALL));
        for call in calls.filter(|call| call.called().is_some_and(is_kept)) {
            edit.remove_attribute(call, "convergent");
        }
    });
}
