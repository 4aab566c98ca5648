//! Makes the device's code of a source code for the host's processor.
//!
//! - Precondition: the code is as Clang's front end made it, so little of it is the device's.
//! - Effect: all pointers are in one address space, functions have the host's calling convention and no attributes of the device's processor, and
//!   functions of the headers that are others for the host are the host's (`host_functions`). A kernel is marked by an attribute, and reads the argument block itself: its caller,
//!   which would copy the block, does not exist here. Kernels and `tile_static` variables stay though nobody calls them, and LLVM does not take a variable that
//!   each thread stores to first for that thread's own.
//! - Why: LLVM's passes infer more special address spaces, never a general one, and no pass changes the target. To parse the source again would take
//!   more time than all passes. Types lie in memory as they do on the host already, but for `long double` (`native::build`).

use super::host_functions::HostFunction;
use crate::device_abi::KERNEL;
use crate::ir::space;
use crate::llvm::number::{FAST, opcode as o, value as k};
use crate::llvm::{Editor, Form, Module, Value};
use std::collections::{HashMap, HashSet};

/// What is known of a kernel's argument block: how it is aligned, and how many bytes the kernel copies of it.
struct Argument {
    align: u64,
    bytes: Option<u64>,
}

/// `target` is the name of the host's target.
pub fn run(module: &mut Module, target: &str) -> Result<(), String> {
    let layout = module.layout_of(target)?;
    let kernels: HashMap<String, Argument> = module.edit(|edit| {
        let kernels = edit.functions().filter(|function| function.is_kernel() && function.first_block().is_some());
        kernels.map(|kernel| (kernel.name(), without_copy(edit, kernel))).collect()
    });
    // What they are for the host, and whether the device's function computes with fast maths.
    let others: HashMap<String, (HostFunction, bool)> = module
        .functions()
        .filter_map(|function| {
            let name = function.name();
            Some((HostFunction::of(&name)?, function)).map(|(other, function)| (name, (other, is_fast(function))))
        })
        .collect();
    let variables = module.globals().filter(|one| one.ty().is_some_and(|ty| ty.space() == space::TILE));
    let variables: Vec<String> = variables.map(Value::name).collect();
    let replaced: HashSet<String> = others.keys().cloned().collect();
    module.in_one_memory((target, &layout), |name| name.starts_with("__hip"), &replaced)?;
    module.edit(|edit| {
        let kept = edit.globals().filter(|one| variables.contains(&one.name()));
        let mut kept: Vec<Value<'_>> = kept.collect();
        let functions: Vec<Value<'_>> = edit.functions().collect();
        for function in functions {
            let name = function.name();
            if let Some((other, fast)) = others.get(&name) {
                other.define(edit, function, *fast);
            }
            if let Some(argument) = kernels.get(&name) {
                mark(edit, function, argument);
                kept.push(function);
            }
        }
        if !kept.is_empty() {
            edit.keep(&kept);
        }
    });
    Ok(())
}

/// Lets a kernel read its argument block in place of a copy.
fn without_copy(edit: Editor<'_>, kernel: Value<'_>) -> Argument {
    let align = kernel.parameter_alignment(0).unwrap_or(1);
    let mut argument = Argument { align, bytes: None };
    let copy = kernel.instructions().find(|one| {
        let callee = if one.form() == Form::Instruction(o::CALL) { one.called() } else { None };
        let copies = callee.is_some_and(|callee| callee.name().starts_with("llvm.memcpy."));
        copies && one.operand(1) == kernel.parameter(0) && kernel.count_parameters() == 1
    });
    let Some((copy, block)) = copy.zip(kernel.parameter(0)) else { return argument };
    let Some((own, bytes)) = copy.operand(0).zip(copy.operand(2)) else { return argument };
    if !matches!(own.form(), Form::Instruction(_)) || bytes.form() != Form::Other(k::INTEGER) {
        return argument;
    }
    let Some(ty) = own.ty() else { return argument };
    // So much of it is there: what stands behind a condition may be read before.
    argument.bytes = Some(bytes.zero_extended());
    let same = edit.build_before(own).cast(o::ADDRESS_SPACE_CAST, block, ty, "");
    edit.erase(copy);
    edit.replace_uses(own, same);
    argument
}

/// Whether a function calls with all flags of fast maths.
fn is_fast(function: Value<'_>) -> bool {
    let mut calls = function.instructions().filter(|one| one.form() == Form::Instruction(o::CALL));
    calls.any(|call| call.can_be_fast() && call.fast_flags() == FAST)
}

fn mark(edit: Editor<'_>, kernel: Value<'_>, argument: &Argument) {
    edit.export(kernel);
    edit.add_text_attribute(kernel, KERNEL, "");
    let known = [("align", argument.align), ("dereferenceable", argument.bytes.unwrap_or(0))];
    let known = known.iter().filter(|_| argument.bytes.is_some());
    let all: Vec<(&str, u64)> = std::iter::once(("noundef", 0)).chain(known.copied()).collect();
    edit.set_parameter_attributes(kernel, 0, &all);
}
