//! The variables of a function, the control flow between its blocks, and the liveness of variables.

use super::calls::is_lifetime;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A variable of the function: an `alloca`.
#[derive(Debug, Clone)]
pub struct Variable {
    pub ty: Type,
    pub align: u64,
    /// True if all accesses are loads and stores of the whole variable.
    pub plain: bool,
    pub stores: Vec<Store>,
    /// True if the value differs between the threads of a tile.
    pub varies: bool,
    /// The instructions that rematerialise the value where it is needed, each after its operands. `None` if it is not rematerialised.
    pub rematerialised: Option<Vec<LocalId>>,
}

/// A store to a variable: its block, its index in the block, and the stored value.
#[derive(Debug, Clone)]
pub struct Store {
    pub block: usize,
    pub at: usize,
    pub value: Value,
}

pub type Variables = BTreeMap<LocalId, Variable>;

/// The successors of a block.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// The successors within the region, in the order of the block's last instruction.
    pub next: Vec<usize>,
    /// The block after the barrier that ends this block.
    pub barrier: Option<usize>,
}

/// A load or store that is neither volatile nor atomic. `value`: the stored value; `None` for a load.
pub struct Access<'k> {
    pub ty: &'k Type,
    pub value: Option<&'k Value>,
    pub address: &'k Value,
}

impl<'k> Access<'k> {
    pub fn of(one: &'k Instruction) -> Option<Self> {
        match &one.op {
            Op::Load { ty, pointer, volatile: false, atomic: false, .. } => {
                Some(Self { ty, value: None, address: &pointer.value })
            }
            Op::Store { value, pointer, volatile: false, atomic: false, .. } => {
                Some(Self { ty: &value.ty, value: Some(&value.value), address: &pointer.value })
            }
            _ => None,
        }
    }
}

pub fn variables(code: &Module, function: &Function) -> Variables {
    let mut all = BTreeMap::new();
    for one in function.instructions() {
        if let (Op::Alloca { ty, align, .. }, Some(name)) = (&one.op, one.result) {
            let (ty, stores) = (ty.clone(), Vec::new());
            all.insert(name, Variable { ty, align: *align, plain: true, stores, varies: false, rematerialised: None });
        }
    }
    for (block, instructions) in function.blocks.iter().map(|block| &block.instructions).enumerate() {
        for (at, one) in instructions.iter().enumerate().filter(|(_, one)| !is_lifetime(code, one)) {
            let access = Access::of(one);
            for used in one.op.operands().into_iter().filter_map(Value::local) {
                let Some(variable) = all.get_mut(&used) else { continue };
                let itself = Value::Local(used);
                let whole_access = access.as_ref().filter(|a| *a.ty == variable.ty && a.value != Some(&itself));
                variable.plain &= whole_access.is_some();
                if let Some(value) = whole_access.and_then(|a| a.value) {
                    variable.stores.push(Store { block, at, value: value.clone() });
                }
            }
        }
    }
    all
}

/// The plain variables that are live at the beginning of each block.
pub fn live(function: &Function, flow: &[Flow], variables: &Variables) -> Vec<BTreeSet<LocalId>> {
    let mut live: Vec<BTreeSet<LocalId>> = Vec::new();
    let mut kills: Vec<BTreeSet<LocalId>> = Vec::new();
    for block in &function.blocks {
        let (mut need, mut kill) = (BTreeSet::new(), BTreeSet::new());
        for access in block.instructions.iter().filter_map(Access::of) {
            let Some(name) = access.address.local().filter(|name| variables.get(name).is_some_and(|v| v.plain)) else {
                continue;
            };
            if access.value.is_some() {
                kill.insert(name);
            } else if !kill.contains(&name) {
                need.insert(name);
            }
        }
        live.push(need);
        kills.push(kill);
    }
    loop {
        let mut changed = false;
        for n in (0..flow.len()).rev() {
            for &next in flow[n].next.iter().chain(&flow[n].barrier) {
                let new_names: Vec<LocalId> =
                    live[next].iter().filter(|v| !kills[n].contains(v) && !live[n].contains(v)).copied().collect();
                changed |= !new_names.is_empty();
                live[n].extend(new_names);
            }
        }
        if !changed {
            return live;
        }
    }
}

/// For each block, its post-dominators: the block itself, and the blocks that every path from it to the end of its
/// region passes.
pub fn post_dominators(flow: &[Flow]) -> Vec<BTreeSet<usize>> {
    let all: BTreeSet<usize> = (0..flow.len()).collect();
    let mut post_dominator_sets: Vec<BTreeSet<usize>> = vec![all; flow.len()];
    loop {
        let mut changed = false;
        for n in (0..flow.len()).rev() {
            let intersect = |one: BTreeSet<usize>, next: BTreeSet<usize>| one.intersection(&next).copied().collect();
            let mut new = flow[n]
                .next
                .iter()
                .map(|&next| post_dominator_sets[next].clone())
                .reduce(intersect)
                .unwrap_or_default();
            new.insert(n);
            changed |= new != post_dominator_sets[n];
            post_dominator_sets[n] = new;
        }
        if !changed {
            return post_dominator_sets;
        }
    }
}

/// The targets of a block's last instruction, in the order of that instruction.
pub fn targets(instructions: &[Instruction]) -> Vec<usize> {
    match instructions.last().map(|one| &one.op) {
        Some(Op::Br { target }) => vec![target.0],
        Some(Op::CondBr { yes, no, .. }) => vec![yes.0, no.0],
        Some(Op::Switch { default, cases, .. }) => {
            std::iter::once(default).chain(cases.iter().map(|(_, to)| to)).map(|to| to.0).collect()
        }
        _ => Vec::new(),
    }
}
