//! Follows a kernel's values to their origins. Finds loads of memory that no thread writes, addresses within
//! tile_static variables, and variables that are rematerialised instead of being kept in memory.

use super::analysis::{Kernel, Surroundings};
use super::calls::{callee, find_in_constant, is_expression, is_number_intrinsic, is_speculatable, locals, position};
use super::variables::Access;
use crate::ir::{Constant, GlobalId, LocalId, Op, Value};
use std::collections::{BTreeSet, HashSet};

/// The maximum number of instructions that rematerialise a value.
const MAX_REMATERIALISED: usize = 24;
/// The maximum depth of the search through operands.
const MAX_STEPS: usize = 64;

/// The argument block, the only parameter of a kernel.
pub const BLOCK: LocalId = LocalId(0);

/// The memory that an address is computed from.
enum Root {
    Block,
    /// The memory at a pointer that is loaded from the argument block.
    Captured,
    Other,
}

impl Kernel {
    fn all_values(&self) -> impl Iterator<Item = LocalId> + use<> {
        (0..self.function.locals.len()).map(LocalId)
    }

    /// Finds loads from the argument block, and loads of the members of arrays to which the block points.
    pub fn find_constant_loads(&mut self, surroundings: &Surroundings) {
        let is_constant_load = |name: &LocalId| {
            let load = self.definition(*name).filter(|one| matches!(one.op, Op::Load { .. })).and_then(Access::of);
            match load.map(|access| self.root(access.address, 0)) {
                Some(Root::Block) => true,
                // Kernels may write the memory at a pointer in the argument block, except members of views and arrays.
                Some(Root::Captured) => surroundings.view_members.contains(name),
                _ => false,
            }
        };
        if surroundings.reads_block {
            self.constant_loads = self.all_values().filter(is_constant_load).collect();
        }
    }

    /// Finds addresses that certainly lie within a tile_static variable.
    pub fn find_tile_addresses(&mut self, shared: &BTreeSet<GlobalId>) {
        let found = |name| Some((name, self.tile_variable(shared, &Value::Local(name), 0)?));
        self.tile_addresses = self.all_values().filter_map(found).collect();
    }

    /// The tile_static variable that an address lies within.
    fn tile_variable(&self, shared: &BTreeSet<GlobalId>, address: &Value, depth: usize) -> Option<GlobalId> {
        let Some(name) = address.local() else { return shared_within(address, shared) };
        let one = self.definition(name).filter(|_| depth < MAX_STEPS)?;
        match &one.op {
            Op::Gep { base, .. } => self.tile_variable(shared, &base.value, depth + 1),
            Op::Load { .. } => {
                let value = self.read(one).and_then(Self::single)?;
                self.tile_variable(shared, value, depth + 1)
            }
            _ => None,
        }
    }

    /// The memory that an address is computed from.
    fn root(&self, address: &Value, depth: usize) -> Root {
        let Some(name) = address.local().filter(|_| depth < MAX_STEPS) else { return Root::Other };
        if name == BLOCK {
            return Root::Block;
        }
        let Some(one) = self.definition(name) else { return Root::Other };
        match (&one.op, self.read(one)) {
            (Op::Gep { base, .. }, _) => self.root(&base.value, depth + 1),
            (Op::Load { .. }, Some(variable)) => {
                Self::single(variable).map_or(Root::Other, |value| self.root(value, depth + 1))
            }
            (Op::Load { .. }, None) => match Access::of(one).map(|a| self.root(a.address, depth + 1)) {
                Some(Root::Block) => Root::Captured,
                _ => Root::Other,
            },
            _ => Root::Other,
        }
    }

    /// Finds variables that are stored only once, and whose value a few instructions can recompute from data that is
    /// always available.
    pub fn find_rematerialised(&mut self) {
        let mut found = Vec::new();
        for (name, variable) in &self.variables {
            let mut chain = Vec::new();
            if Self::single(variable).is_some_and(|value| self.chain(value, &mut chain, &mut HashSet::new())) {
                found.push((*name, chain));
            }
        }
        for (name, chain) in found {
            self.variables.entry(name).and_modify(|variable| variable.rematerialised = Some(chain));
        }
    }

    /// True if an address has only constant indices, so that it is always valid.
    fn is_fixed(&self, address: &Value, depth: usize) -> bool {
        let Some(name) = address.local().filter(|_| depth < MAX_STEPS) else { return false };
        let Some(one) = self.definition(name) else { return name == BLOCK };
        match (&one.op, self.read(one)) {
            (Op::Gep { base, indices, .. }, _) => {
                indices.iter().all(|index| index.value.local().is_none()) && self.is_fixed(&base.value, depth + 1)
            }
            (Op::Load { .. }, Some(variable)) => {
                Self::single(variable).is_some_and(|value| self.is_fixed(value, depth + 1))
            }
            (Op::Load { pointer, .. }, None) => self.is_fixed(&pointer.value, depth + 1),
            _ => false,
        }
    }

    /// Appends the instructions that make a value, each after its operands. False if the value cannot be rematerialised.
    fn chain(&self, value: &Value, chain: &mut Vec<LocalId>, seen: &mut HashSet<LocalId>) -> bool {
        let Some(name) = value.local() else { return !is_expression(value) };
        if name == BLOCK {
            return true;
        }
        if !seen.insert(name) {
            // The chain already has the value, unless the value depends on itself.
            return chain.contains(&name);
        }
        let Some(one) = self.definition(name).filter(|_| seen.len() <= 4 * MAX_REMATERIALISED) else { return false };
        if let Some(variable) = self.read(one) {
            let Some(value) = Self::single(variable) else { return false };
            // In the chain, the load stands for the variable's value.
            let can_rematerialise = self.chain(value, chain, seen);
            chain.push(name);
            return can_rematerialise;
        }
        let can_rematerialise = match &one.op {
            // The load may be executed speculatively, so its address must always be valid.
            Op::Load { pointer, .. } => self.constant_loads.contains(&name) && self.is_fixed(&pointer.value, 0),
            Op::Call { .. } => {
                position(&self.code, one).is_some() || callee(&self.code, one).is_some_and(is_number_intrinsic)
            }
            op => is_speculatable(op),
        };
        if !can_rematerialise
            || chain.len() > MAX_REMATERIALISED
            || !locals(one).all(|used| self.chain(&Value::Local(used), chain, seen))
        {
            return false;
        }
        chain.push(name);
        chain.len() <= MAX_REMATERIALISED
    }
}

/// The tile_static variable whose address a constant contains.
pub fn shared_within(value: &Value, shared: &BTreeSet<GlobalId>) -> Option<GlobalId> {
    find_in_constant(value, &|constant| match constant {
        Constant::Global(global) => shared.get(global).copied(),
        _ => None,
    })
}
