//! Tile barriers that not all threads of a tile reach: MSVC's error C3561.

use super::facts::Level;
use super::uniformity::Uniformity;
use crate::device_abi::DeviceFunction;
use crate::ir::{BlockId, Frame, Function, LocalId, LocationId, Module, Op, Value};
use std::collections::HashSet;

/// A barrier under a condition that is not the same for all threads of a tile.
#[derive(Debug, PartialEq, Eq)]
pub struct DivergentBarrier {
    /// The condition differs for certain; else it may.
    pub differs: bool,
    /// The condition differs if threads race for memory; else in any case.
    pub by_race: bool,
    /// Where it is waited, then the calls that led there.
    pub frames: Vec<Frame>,
    /// Where the condition is.
    pub condition: Option<Frame>,
    /// What the condition depends on.
    pub cause: &'static str,
}

/// Those of all kernels of a module whose calls are inlined and whose control flow is still the user's, each once.
pub fn divergent_barriers(module: &Module) -> Vec<DivergentBarrier> {
    let mut all = Vec::new();
    for function in module.functions.iter().filter(|f| f.kernel && !f.blocks.is_empty()) {
        for found in of_kernel(module, function) {
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all
}

fn of_kernel(module: &Module, function: &Function) -> Vec<DivergentBarrier> {
    let mut barriers = Vec::new();
    for (block, inside) in function.blocks.iter().enumerate() {
        for instruction in &inside.instructions {
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
            frames: users(module, location),
            condition: users(module, last.and_then(|i| i.location)).into_iter().next(),
            cause: cause(module, function, &uniformity, branch),
        });
    }
    all
}

/// The frames of the program, innermost first, without those of our headers.
fn users(module: &Module, location: Option<LocationId>) -> Vec<Frame> {
    let frames = location.map(|l| module.frames(l)).unwrap_or_default();
    frames.into_iter().filter(|frame| !frame.file.contains("/revamp/detail/") && frame.line > 0).collect()
}

/// What the branch at the end of a block depends on.
pub(super) fn cause(module: &Module, function: &Function, uniformity: &Uniformity, branch: BlockId) -> &'static str {
    let definitions = function.definitions();
    let last = function.blocks[branch.0].instructions.last();
    let mut stack: Vec<LocalId> = last.map(|i| locals(&i.op)).unwrap_or_default();
    let mut seen = HashSet::new();
    let mut found = "what is not the same for all threads of the tile";
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
                    "what each thread reads from memory for itself"
                };
                // A variable of the thread: what is stored there is not followed.
                if let Value::Local(address) = pointer.value {
                    if matches!(definitions[address.0].map(|d| &d.op), Some(Op::Alloca { .. })) {
                        found = "a variable that differs between threads";
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
