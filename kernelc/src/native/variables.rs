//! The variables of a function, the flow between its blocks, and which values are needed where.

use super::calls::is_lifetime;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A variable of the function: an `alloca`.
#[derive(Debug, Clone)]
pub struct Variable {
    pub ty: Type,
    pub align: u64,
    /// It is only loaded and stored, whole.
    pub plain: bool,
    pub stores: Vec<Store>,
    /// It differs between the threads of a tile.
    pub varies: bool,
    /// The value is rematerialised where it is needed, by these instructions, each behind its operands.
    pub rematerialised: Option<Vec<LocalId>>,
}

/// What is stored to a variable, and by which instruction of which block.
#[derive(Debug, Clone)]
pub struct Store {
    pub block: usize,
    pub at: usize,
    pub value: Value,
}

pub type Variables = BTreeMap<LocalId, Variable>;

/// Where a block goes to.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// Within the region, as the block's last instruction has them.
    pub next: Vec<usize>,
    /// The block behind the barrier that ends this one.
    pub barrier: Option<usize>,
}

/// What a load or store says that is neither volatile nor atomic; a load has no value.
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
                let own = Value::Local(used);
                let whole = access.as_ref().filter(|a| *a.ty == variable.ty && a.value != Some(&own));
                variable.plain &= whole.is_some();
                if let Some(value) = whole.and_then(|a| a.value) {
                    variable.stores.push(Store { block, at, value: value.clone() });
                }
            }
        }
    }
    all
}

/// The variables whose values are needed at the begin of each block, of those that are plain.
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
                let more: Vec<LocalId> =
                    live[next].iter().filter(|v| !kills[n].contains(v) && !live[n].contains(v)).copied().collect();
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
            let both = |one: BTreeSet<usize>, next: BTreeSet<usize>| one.intersection(&next).copied().collect();
            let mut new = flow[n].next.iter().map(|&next| later[next].clone()).reduce(both).unwrap_or_default();
            new.insert(n);
            changed |= new != later[n];
            later[n] = new;
        }
        if !changed {
            return later;
        }
    }
}

/// The blocks that the last instruction of a block goes to, in its order.
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
