//! Finds tile barriers that not all threads of a tile reach. MSVC rejects these with error C3561.

use super::facts::Level;
use super::uniformity::Uniformity;
use crate::device_abi::DeviceFunction;
use crate::ir::{BlockId, Frame, Function, LocalId, LocationId, Module, Op, Value};
use std::collections::HashSet;

/// A barrier under a condition that is not the same for all threads of a tile.
#[derive(Debug, PartialEq, Eq)]
pub struct DivergentBarrier {
    /// True if the condition certainly differs between threads; false if it may differ.
    pub differs: bool,
    /// True if the condition can differ only through a data race.
    pub by_race: bool,
    /// The source location of the barrier, then the calls that lead to it, innermost first.
    pub frames: Vec<Frame>,
    /// The source location of the condition.
    pub condition: Option<Frame>,
    /// The source of the condition's divergence, as messages name it.
    pub cause: &'static str,
}

/// Returns the divergent barriers of all kernels of a module, each once. All calls in the module must be inlined, and
/// `structurizecfg` must not have run.
pub fn divergent_barriers(module: &Module) -> Vec<DivergentBarrier> {
    let mut all = Vec::new();
    for function in module.functions.iter().filter(|f| f.kernel && !f.blocks.is_empty()) {
        for found in divergent_barriers_of(module, function) {
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all
}

fn divergent_barriers_of(module: &Module, function: &Function) -> Vec<DivergentBarrier> {
    let mut barriers = Vec::new();
    for (block, contents) in function.blocks.iter().enumerate() {
        for instruction in &contents.instructions {
            if DeviceFunction::called(module, &instruction.op) == Some(DeviceFunction::TileBarrier) {
                barriers.push((BlockId(block), instruction.location));
            }
        }
    }
    if barriers.is_empty() {
        return Vec::new();
    }
    let Some(uniformity) = Uniformity::of(module, function) else { return Vec::new() };
    let mut all = Vec::new();
    for (block, location) in barriers {
        let Some(branch) = uniformity.causes(block).iter().copied().max_by_key(|b| uniformity.branch(*b)) else {
            continue;
        };
        let level = uniformity.branch(branch);
        let last = function.blocks[branch.0].instructions.last();
        all.push(DivergentBarrier {
            differs: level == Level::Differs,
            by_race: level == Level::Shared,
            frames: program_frames(module, location),
            condition: program_frames(module, last.and_then(|i| i.location)).into_iter().next(),
            cause: cause(module, function, &uniformity, branch),
        });
    }
    all
}

/// The frames in the program's own sources, innermost first. Frames in revamp's headers are left out.
fn program_frames(module: &Module, location: Option<LocationId>) -> Vec<Frame> {
    let frames = location.map(|l| module.frames(l)).unwrap_or_default();
    frames.into_iter().filter(|frame| !frame.file.contains("/revamp/detail/") && frame.line > 0).collect()
}

/// The source of divergence of the branch at the end of a block, as messages name it.
pub(super) fn cause(module: &Module, function: &Function, uniformity: &Uniformity, branch: BlockId) -> &'static str {
    let definitions = function.definitions();
    let last = function.blocks[branch.0].instructions.last();
    let mut stack: Vec<LocalId> = last.map(|i| locals(&i.op)).unwrap_or_default();
    let mut seen = HashSet::new();
    let mut found = "a value that is not the same for all threads of the tile";
    while let Some(local) = stack.pop() {
        let Some(instruction) = definitions[local.0].filter(|_| seen.insert(local)) else { continue };
        if uniformity.value(local) == Level::Uniform {
            continue;
        }
        match &instruction.op {
            op if matches!(DeviceFunction::called(module, op), Some(DeviceFunction::Position(_))) => {
                return "the thread's index";
            }
            Op::AtomicRmw { .. } | Op::CmpXchg { .. } => return "the result of an atomic operation",
            Op::Load { pointer, .. } => {
                let shared = uniformity.value(local) == Level::Shared;
                found = if shared {
                    "memory that the kernel writes"
                } else {
                    "memory that each thread reads at its own address"
                };
                // The analysis does not follow the values that are stored in a local variable.
                if let Value::Local(address) = pointer.value {
                    if matches!(definitions[address.0].map(|d| &d.op), Some(Op::Alloca { .. })) {
                        found = "a variable whose value differs between threads";
                    }
                }
            }
            op => stack.extend(locals(op)),
        }
    }
    found
}

fn locals(op: &Op) -> Vec<LocalId> {
    let local = |value: &Value| if let Value::Local(local) = value { Some(*local) } else { None };
    op.operands().into_iter().filter_map(local).collect()
}
