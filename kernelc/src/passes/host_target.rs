//! Retargets device code to the host's processor.
//!
//! - Precondition: the code comes from Clang's front end unchanged, so little of it is specific to the device.
//! - Effect: all pointers are in one address space. Functions have the host's calling convention and no attributes of
//!   the device's processor. Functions of the headers whose device code does not suit the host get host definitions
//!   (`host_functions`). An attribute marks each kernel. A kernel reads the argument block directly, because on the host
//!   no caller copies the block. Kernels and `tile_static` variables stay although nothing uses them. LLVM does not
//!   turn a `tile_static` variable into a variable of the thread, even if each thread writes the variable first.
//! - Why: LLVM's passes infer more specific address spaces, never more general ones, and no pass changes the target.
//!   Parsing the source a second time would take longer than all passes. Device types have the host's layout already,
//!   except `long double` (`native::build`).

use super::host_functions::HostFunction;
use crate::device_abi::KERNEL;
use crate::ir::space;
use crate::llvm::number::{FAST, opcode as o, value as k};
use crate::llvm::{Editor, Form, Module, Value};
use std::collections::{HashMap, HashSet};

/// A kernel's argument block: its alignment, and the number of bytes that the kernel copies from it, if known.
struct Argument {
    align: u64,
    bytes: Option<u64>,
}

/// `target`: the target triple of the host.
pub fn run(module: &mut Module, target: &str) -> Result<(), String> {
    let layout = module.layout_of(target)?;
    let kernels: HashMap<String, Argument> = module.edit(|edit| {
        let kernels = edit.functions().filter(|function| function.is_kernel() && function.first_block().is_some());
        kernels.map(|kernel| (kernel.name(), remove_copy(edit, kernel))).collect()
    });
    // The header functions with a host definition, and whether the device's function uses fast-math flags.
    let replacements: HashMap<String, (HostFunction, bool)> = module
        .functions()
        .filter_map(|function| {
            let name = function.name();
            Some((HostFunction::of(&name)?, function))
                .map(|(replacement, function)| (name, (replacement, is_fast(function))))
        })
        .collect();
    let variables = module.globals().filter(|one| one.ty().is_some_and(|ty| ty.space() == space::TILE));
    let variables: Vec<String> = variables.map(Value::name).collect();
    let replaced_names: HashSet<String> = replacements.keys().cloned().collect();
    module.convert_to_one_address_space((target, &layout), |name| name.starts_with("__hip"), &replaced_names)?;
    module.edit(|edit| {
        let used_globals = edit.globals().filter(|one| variables.contains(&one.name()));
        let mut used_globals: Vec<Value<'_>> = used_globals.collect();
        let functions: Vec<Value<'_>> = edit.functions().collect();
        for function in functions {
            let name = function.name();
            if let Some((replacement, fast)) = replacements.get(&name) {
                replacement.define(edit, function, *fast);
            }
            if let Some(argument) = kernels.get(&name) {
                mark_kernel(edit, function, argument);
                used_globals.push(function);
            }
        }
        if !used_globals.is_empty() {
            edit.keep(&used_globals);
        }
    });
    Ok(())
}

/// Makes a kernel read its argument block directly instead of a copy.
fn remove_copy(edit: Editor<'_>, kernel: Value<'_>) -> Argument {
    let align = kernel.parameter_alignment(0).unwrap_or(1);
    let mut argument = Argument { align, bytes: None };
    let copy = kernel.instructions().find(|one| {
        let callee = if one.form() == Form::Instruction(o::CALL) { one.called() } else { None };
        let copies = callee.is_some_and(|callee| callee.name().starts_with("llvm.memcpy."));
        copies && one.operand(1) == kernel.parameter(0) && kernel.count_parameters() == 1
    });
    let Some((copy, block)) = copy.zip(kernel.parameter(0)) else { return argument };
    let Some((local_copy, bytes)) = copy.operand(0).zip(copy.operand(2)) else { return argument };
    if !matches!(local_copy.form(), Form::Instruction(_)) || bytes.form() != Form::Other(k::INTEGER) {
        return argument;
    }
    let Some(ty) = local_copy.ty() else { return argument };
    // The block has at least these bytes, so LLVM may hoist loads of them above conditions.
    argument.bytes = Some(bytes.zero_extended());
    let block_pointer = edit.build_before(local_copy).cast(o::ADDRESS_SPACE_CAST, block, ty, "");
    edit.erase(copy);
    edit.replace_uses(local_copy, block_pointer);
    argument
}

/// True if at least one call in the function has all fast-math flags.
fn is_fast(function: Value<'_>) -> bool {
    let mut calls = function.instructions().filter(|one| one.form() == Form::Instruction(o::CALL));
    calls.any(|call| call.can_be_fast() && call.fast_flags() == FAST)
}

fn mark_kernel(edit: Editor<'_>, kernel: Value<'_>, argument: &Argument) {
    edit.export(kernel);
    edit.add_text_attribute(kernel, KERNEL, "");
    let known_attributes = [("align", argument.align), ("dereferenceable", argument.bytes.unwrap_or(0))];
    let known_attributes = known_attributes.iter().filter(|_| argument.bytes.is_some());
    let all: Vec<(&str, u64)> = std::iter::once(("noundef", 0)).chain(known_attributes.copied()).collect();
    edit.set_parameter_attributes(kernel, 0, &all);
}
