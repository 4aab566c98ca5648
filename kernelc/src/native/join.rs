//! Coalesces two variables if one is a copy of the other and they are never live at the same time. Without this pass,
//! each iteration of a loop would copy the loop's accumulator for each thread of a tile.

use super::handles::Handles;
use super::variables::{Access, Flow, Variables, live, targets, variables};
use crate::ir::{self, Function, LocalId, Value};
use crate::llvm::Editor;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The maximum number of pairs that are examined.
const MAX_PAIRS: usize = 200;

/// A load or store of a variable.
#[derive(Clone, Copy)]
struct VariableAccess {
    /// The index of the instruction in its block.
    at: usize,
    variable: LocalId,
    /// The loaded value, or the stored value unless it is a constant.
    value: Option<LocalId>,
    stores: bool,
}

/// The new names of the variables of a function, and the stores to remove, by block and position.
pub struct Joined {
    names: BTreeMap<LocalId, LocalId>,
    dropped: Vec<(usize, usize)>,
}

/// Finds the variables of a function that can be coalesced.
pub fn find(code: &ir::Module, function: &Function) -> Joined {
    let all = variables(code, function);
    let flow: Vec<Flow> =
        function.blocks.iter().map(|b| Flow { next: targets(&b.instructions), barrier: None }).collect();
    let mut live = live(function, &flow, &all);
    let blocks: Vec<Vec<VariableAccess>> = function.blocks.iter().map(|block| steps(block, &all)).collect();
    let mut pairs = BTreeSet::new();
    for block in &blocks {
        let loads: HashMap<LocalId, LocalId> =
            block.iter().filter(|s| !s.stores).filter_map(|s| Some((s.value?, s.variable))).collect();
        for step in block.iter().filter(|step| step.stores) {
            let Some((to, from)) = step.value.and_then(|value| Some((step.variable, *loads.get(&value)?))) else {
                continue;
            };
            // Variables with a single value may be rematerialised instead.
            let several = all[&to].stores.len() > 1 || all[&from].stores.len() > 1;
            if several && all[&to].ty == all[&from].ty {
                pairs.insert((to, from));
            }
        }
    }
    let mut names: BTreeMap<LocalId, LocalId> = BTreeMap::new();
    for (to, from) in pairs.into_iter().take(MAX_PAIRS) {
        let of = |name| names.get(&name).copied().unwrap_or(name);
        let (to, from) = (of(to), of(from));
        if to == from || interfere(&blocks, &flow, &live, &names, [to, from]) {
            continue;
        }
        names.values_mut().filter(|name| **name == from).for_each(|name| *name = to);
        names.insert(from, to);
        for needed in &mut live {
            if needed.remove(&from) {
                needed.insert(to);
            }
        }
    }
    let merged_names: HashSet<LocalId> = names.values().copied().collect();
    let dropped = blocks.iter().enumerate().flat_map(|(n, block)| {
        let renamed = block
            .iter()
            .map(|s| VariableAccess { variable: names.get(&s.variable).copied().unwrap_or(s.variable), ..*s });
        superfluous(renamed.filter(|step| merged_names.contains(&step.variable))).into_iter().map(move |at| (n, at))
    });
    Joined { dropped: dropped.collect(), names }
}

fn steps(block: &ir::Block, all: &Variables) -> Vec<VariableAccess> {
    let step = |(at, instruction): (usize, &ir::Instruction)| {
        let access = Access::of(instruction)?;
        let variable = access.address.local().filter(|name| all.get(name).is_some_and(|v| v.plain))?;
        let value = instruction.result.or_else(|| access.value.and_then(Value::local));
        Some(VariableAccess { at, variable, value, stores: access.value.is_some() })
    };
    block.instructions.iter().enumerate().filter_map(step).collect()
}

/// True if one of two variables is changed while the other is live. `names`: the variables coalesced so far.
fn interfere(
    blocks: &[Vec<VariableAccess>],
    flow: &[Flow],
    live: &[BTreeSet<LocalId>],
    names: &BTreeMap<LocalId, LocalId>,
    candidates: [LocalId; 2],
) -> bool {
    let of = |step: &VariableAccess| {
        candidates.iter().position(|name| *name == names.get(&step.variable).copied().unwrap_or(step.variable))
    };
    blocks.iter().enumerate().any(|(n, block)| {
        let steps: Vec<(usize, &VariableAccess)> = block.iter().filter_map(|s| Some((of(s)?, s))).collect();
        // For each access: true if it is a store that only copies the current value of the other variable.
        let mut holders: HashMap<Option<LocalId>, usize> = HashMap::new();
        let copies: Vec<bool> = steps
            .iter()
            .map(|&(at, step)| {
                if !step.stores {
                    holders.insert(step.value, at);
                    return false;
                }
                let copy = holders.get(&step.value) == Some(&(1 - at));
                holders.retain(|_, of| *of != at);
                copy
            })
            .collect();
        let mut is_needed = candidates.map(|name| flow[n].next.iter().any(|&to| live[to].contains(&name)));
        steps.iter().zip(copies).rev().any(|(&(at, step), copy)| {
            is_needed[at] = !step.stores;
            step.stores && is_needed[1 - at] && !copy
        })
    })
}

/// The positions of superfluous stores in a block: each stores the value that the variable already has.
fn superfluous(steps: impl Iterator<Item = VariableAccess>) -> Vec<usize> {
    let mut holders: HashMap<Option<LocalId>, LocalId> = HashMap::new();
    let mut positions = Vec::new();
    for step in steps {
        if !step.stores {
            holders.insert(step.value, step.variable);
        } else if holders.get(&step.value) == Some(&step.variable) {
            positions.push(step.at);
        } else {
            holders.retain(|_, of| *of != step.variable);
        }
    }
    positions
}

impl Joined {
    /// Coalesces the variables in LLVM's function.
    pub fn apply<'m>(self, edit: Editor<'m>, handles: &Handles<'m>) {
        for (block, at) in self.dropped {
            edit.erase(handles.blocks[block][at]);
        }
        for (from, to) in self.names {
            edit.replace_uses(handles.locals[from.0], handles.locals[to.0]);
            edit.erase(handles.locals[from.0]);
        }
    }
}
