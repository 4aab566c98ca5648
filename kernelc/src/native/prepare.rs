//! Brings kernels into the form that the regions are made of.
//!
//! - Precondition: the code is for the host's processor, and all calls are inlined.
//! - Effect: barriers end blocks. No value is used in another block than its own, but for variables, and of variables that are copies of each other
//!   one is left.
//! - Why: what lives across a barrier then is a variable. LLVM's `reg2mem` makes variables, `sroa` makes values of them again once the regions are
//!   formed.

use super::analysis::MOST_BLOCKS;
use super::handles::Handles;
use super::join;
use crate::device_abi::DeviceFunction;
use crate::llvm::number::opcode as o;
use crate::llvm::{Form, Module, Value};
use crate::passes::calls::called;
use crate::{ir, pipelines};

/// The metadata about aliases.
const SCOPES: [&str; 2] = ["alias.scope", "noalias"];

pub fn run(module: &mut Module) -> Result<(), String> {
    module.edit(|edit| {
        let all = edit.functions().flat_map(Value::instructions);
        for barrier in all.filter(|one| called(*one) == Some(DeviceFunction::TileBarrier)).collect::<Vec<_>>() {
            edit.cut_behind(barrier, "behind");
        }
    });
    module.run(&pipelines::variables())?;
    let code = ir::snapshot(module);
    module.edit(|edit| {
        for (function, copy) in edit.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
            // Larger ones are left out, and finding copies takes time and memory with the square of the blocks.
            if copy.blocks.len() <= MOST_BLOCKS {
                let handles = Handles::of(function);
                join::find(&code, copy).apply(edit, &handles);
            }
            // Scopes describe one thread, and are wrong once one function has the accesses of several.
            for one in function.instructions().collect::<Vec<_>>() {
                SCOPES.iter().for_each(|kind| edit.set_metadata(one, kind, None));
                let callee = if one.form() == Form::Instruction(o::CALL) { one.called() } else { None };
                if callee.is_some_and(|callee| callee.name() == "llvm.experimental.noalias.scope.decl") {
                    edit.erase(one);
                }
            }
        }
    });
    Ok(())
}
