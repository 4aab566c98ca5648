//! What values of a kernel are made of: which loads read what no thread writes, which addresses lie in tile_static variables, and which
//! variables are rather rematerialised.

use super::analysis::{Kernel, Surroundings};
use super::calls::{callee, is_expression, is_number_intrinsic, is_simple, locals, mentioned, position};
use super::variables::Access;
use crate::ir::{Constant, GlobalId, LocalId, Op, Value};
use std::collections::{BTreeSet, HashSet};

/// At most so many instructions rematerialise a value.
const MOST_REMATERIALISED: usize = 24;
/// Values are followed so far.
const MOST_STEPS: usize = 64;

/// The argument block, the only parameter of a kernel.
pub const BLOCK: LocalId = LocalId(0);

enum Root {
    Block,
    Behind,
    Other,
}

impl Kernel {
    fn all_values(&self) -> impl Iterator<Item = LocalId> + use<> {
        (0..self.function.locals.len()).map(LocalId)
    }

    /// Loads of the argument block, and of of the members of arrays behind it.
    pub fn find_constant_loads(&mut self, around: &Surroundings) {
        let constant = |name: &LocalId| {
            let load = self.made(*name).filter(|one| matches!(one.op, Op::Load { .. })).and_then(Access::of);
            match load.map(|access| self.root(access.address, 0)) {
                Some(Root::Block) => true,
                // What is behind a pointer in the block may be data; the type of a member says that it is not.
                Some(Root::Behind) => around.view_members.contains(name),
                _ => false,
            }
        };
        if around.reads_block {
            self.constant_loads = self.all_values().filter(constant).collect();
        }
    }

    /// Addresses that certainly lie within a tile_static variable.
    pub fn find_tile_addresses(&mut self, shared: &BTreeSet<GlobalId>) {
        let found = |name| Some((name, self.tile_variable(shared, &Value::Local(name), 0)?));
        self.tile_addresses = self.all_values().filter_map(found).collect();
    }

    /// The tile_static variable that an address lies within.
    fn tile_variable(&self, shared: &BTreeSet<GlobalId>, address: &Value, depth: usize) -> Option<GlobalId> {
        let Some(name) = address.local() else { return shared_within(address, shared) };
        let one = self.made(name).filter(|_| depth < MOST_STEPS)?;
        match &one.op {
            Op::Gep { base, .. } => self.tile_variable(shared, &base.value, depth + 1),
            Op::Load { .. } => {
                let value = self.read(one).and_then(Self::single)?;
                self.tile_variable(shared, value, depth + 1)
            }
            _ => None,
        }
    }

    /// What an address leads back to.
    fn root(&self, address: &Value, depth: usize) -> Root {
        let Some(name) = address.local().filter(|_| depth < MOST_STEPS) else { return Root::Other };
        if name == BLOCK {
            return Root::Block;
        }
        let Some(one) = self.made(name) else { return Root::Other };
        match (&one.op, self.read(one)) {
            (Op::Gep { base, .. }, _) => self.root(&base.value, depth + 1),
            (Op::Load { .. }, Some(variable)) => {
                Self::single(variable).map_or(Root::Other, |value| self.root(value, depth + 1))
            }
            (Op::Load { .. }, None) => match Access::of(one).map(|a| self.root(a.address, depth + 1)) {
                Some(Root::Block) => Root::Behind,
                _ => Root::Other,
            },
            _ => Root::Other,
        }
    }

    /// Variables with one value that a few instructions make of what is always there.
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

    /// An address with no index that may be wrong.
    fn is_fixed(&self, address: &Value, depth: usize) -> bool {
        let Some(name) = address.local().filter(|_| depth < MOST_STEPS) else { return false };
        let Some(one) = self.made(name) else { return name == BLOCK };
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

    /// Appends the instructions that make a value, each behind what it uses.
    fn chain(&self, value: &Value, chain: &mut Vec<LocalId>, seen: &mut HashSet<LocalId>) -> bool {
        let Some(name) = value.local() else { return !is_expression(value) };
        if name == BLOCK {
            return true;
        }
        if !seen.insert(name) {
            // It is there, unless it is made of itself.
            return chain.contains(&name);
        }
        let Some(one) = self.made(name).filter(|_| seen.len() <= 4 * MOST_REMATERIALISED) else { return false };
        if let Some(variable) = self.read(one) {
            let Some(value) = Self::single(variable) else { return false };
            // The load stands for the value.
            let known = self.chain(value, chain, seen);
            chain.push(name);
            return known;
        }
        let known = match &one.op {
            // It may be done where it would not have been: only at places that are there.
            Op::Load { pointer, .. } => self.constant_loads.contains(&name) && self.is_fixed(&pointer.value, 0),
            Op::Call { .. } => {
                position(&self.code, one).is_some() || callee(&self.code, one).is_some_and(is_number_intrinsic)
            }
            op => is_simple(op),
        };
        if !known
            || chain.len() > MOST_REMATERIALISED
            || !locals(one).all(|used| self.chain(&Value::Local(used), chain, seen))
        {
            return false;
        }
        chain.push(name);
        chain.len() <= MOST_REMATERIALISED
    }
}

/// The tile_static variable that a constant is made of.
pub fn shared_within(value: &Value, shared: &BTreeSet<GlobalId>) -> Option<GlobalId> {
    mentioned(value, &|constant| match constant {
        Constant::Global(global) => shared.get(global).copied(),
        _ => None,
    })
}
