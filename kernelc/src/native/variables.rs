//! The variables of a function, the flow between its blocks, and which values are needed where.

use super::text::{Function, Instruction, split_type};
use std::collections::{BTreeMap, BTreeSet};

/// A variable of the function: an `alloca`.
#[derive(Debug, Clone)]
pub struct Variable {
    pub ty: String,
    /// What it is aligned to, if that is said.
    pub align: u64,
    /// It is only loaded and stored, whole.
    pub plain: bool,
    /// What is stored to it, and in which block.
    pub stores: Vec<(usize, String)>,
    /// It differs between the threads of a tile.
    pub varies: bool,
    /// It is computed again where it is needed: the instructions that make its value, callees first.
    pub again: Option<Vec<Instruction>>,
}

/// Where a block goes to.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// Within the region.
    pub next: Vec<usize>,
    /// The block behind the barrier that ends this one.
    pub barrier: Option<usize>,
}

/// The name in `%name`, quoted or not.
pub fn plain_name(operand: &str) -> Option<&str> {
    let name = operand.trim().strip_prefix('%')?;
    Some(name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name))
}

pub fn variables(function: &Function) -> BTreeMap<String, Variable> {
    let mut all = BTreeMap::new();
    for instruction in function.blocks.iter().flat_map(|b| &b.instructions).filter(|i| i.opcode == "alloca") {
        let ty = instruction.body().strip_prefix("alloca ").and_then(split_type).map_or("", |(ty, _)| ty);
        let align =
            instruction.body().rsplit_once("align ").and_then(|(_, n)| n.split([',', ' ']).next()?.parse().ok());
        let variable = Variable {
            ty: ty.to_owned(),
            align: align.unwrap_or(1),
            plain: true,
            stores: Vec::new(),
            varies: false,
            again: None,
        };
        all.extend(instruction.result.clone().map(|name| (name, variable)));
    }
    for (n, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            if is_lifetime(instruction) {
                continue;
            }
            let access = instruction.access();
            let address = access.as_ref().and_then(|a| plain_name(a.address));
            for used in &instruction.uses {
                let Some(variable) = all.get_mut(used) else { continue };
                let whole = access
                    .as_ref()
                    .is_some_and(|a| address == Some(used) && a.ty == variable.ty && plain_name(a.value) != Some(used));
                variable.plain &= whole;
                if let Some(a) = access.as_ref().filter(|a| whole && !a.value.is_empty()) {
                    variable.stores.push((n, a.value.trim().to_owned()));
                }
            }
        }
    }
    all
}

pub fn is_lifetime(instruction: &Instruction) -> bool {
    instruction.callee().is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// The plain variables whose values are needed at the begin of each block.
pub fn live(function: &Function, flow: &[Flow], variables: &BTreeMap<String, Variable>) -> Vec<BTreeSet<String>> {
    let mut needs: Vec<BTreeSet<String>> = Vec::new();
    let mut kills: Vec<BTreeSet<String>> = Vec::new();
    for block in &function.blocks {
        let (mut need, mut kill) = (BTreeSet::new(), BTreeSet::new());
        for instruction in &block.instructions {
            let Some(access) = instruction.access() else { continue };
            let Some(name) = plain_name(access.address) else { continue };
            if !variables.get(name).is_some_and(|v| v.plain) {
                continue;
            }
            if !access.value.is_empty() {
                kill.insert(name.to_owned());
            } else if !kill.contains(name) {
                need.insert(name.to_owned());
            }
        }
        needs.push(need);
        kills.push(kill);
    }
    let mut live = needs;
    loop {
        let mut changed = false;
        for n in (0..flow.len()).rev() {
            for &next in flow[n].next.iter().chain(&flow[n].barrier) {
                let more: Vec<String> =
                    live[next].iter().filter(|v| !kills[n].contains(*v) && !live[n].contains(*v)).cloned().collect();
                changed |= !more.is_empty();
                live[n].extend(more);
            }
        }
        if !changed {
            return live;
        }
    }
}

/// For each block, those that every way from it to the end of its region passes, itself included.
pub fn behind_all(flow: &[Flow]) -> Vec<BTreeSet<usize>> {
    let all: BTreeSet<usize> = (0..flow.len()).collect();
    let mut later: Vec<BTreeSet<usize>> = vec![all; flow.len()];
    loop {
        let mut changed = false;
        for n in (0..flow.len()).rev() {
            let mut new: Option<BTreeSet<usize>> = None;
            for &next in &flow[n].next {
                new = Some(match new {
                    None => later[next].clone(),
                    Some(both) => both.intersection(&later[next]).copied().collect(),
                });
            }
            let mut new = new.unwrap_or_default();
            new.insert(n);
            if new != later[n] {
                later[n] = new;
                changed = true;
            }
        }
        if !changed {
            return later;
        }
    }
}
