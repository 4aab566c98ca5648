//! Prepares kernels for splitting them into regions.
//!
//! - Precondition: the code is for the host's processor, and all calls are inlined.
//! - Effect: barriers end blocks. Values that are used in other blocks are in variables, and variables that are copies of each other are
//!   coalesced.
//! - Why: all data that is live across a barrier is then in variables. LLVM's `reg2mem` makes the variables, and `sroa` turns them back
//!   into values after the regions are formed.

use super::analysis::MAX_BLOCKS;
use super::handles::Handles;
use super::join;
use crate::device_abi::DeviceFunction;
use crate::llvm::number::opcode as o;
use crate::llvm::{Form, Module, Value};
use crate::passes::calls::called;
use crate::{ir, pipelines};

/// The kinds of alias metadata.
const SCOPES: [&str; 2] = ["alias.scope", "noalias"];

pub fn run(module: &mut Module) -> Result<(), String> {
    module.edit(|edit| {
        let all = edit.functions().flat_map(Value::instructions);
        for barrier in all.filter(|one| called(*one) == Some(DeviceFunction::TileBarrier)).collect::<Vec<_>>() {
            edit.split_after(barrier, "behind");
        }
    });
    module.run(&pipelines::variables())?;
    let code = ir::snapshot(module);
    module.edit(|edit| {
        for (function, copy) in edit.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
            // Larger kernels get no native code, and finding copies takes time and memory that are quadratic in the number of blocks.
            if copy.blocks.len() <= MAX_BLOCKS {
                let handles = Handles::of(function);
                join::find(&code, copy).apply(edit, &handles);
            }
            // Alias scopes hold within one thread. They are wrong in a function that contains the accesses of several
            // threads.
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
