//! Variables in tile memory that say whether any thread has something to tell: `if (...) changed = 1`. A store behind a condition to one place is
//! nothing that LLVM makes vectors of; so a region notes in a variable of its own that there was one, and stores behind its loop.

use super::analysis::Kernel;
use super::values::shared_within;
use super::variables::Access;
use crate::ir::{Constant, GlobalId, Instruction, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// The tile_static variables of which these blocks do nothing but store one constant, with the block and the place of such a store.
    pub fn flags(&self, blocks: &BTreeSet<usize>, shared: &BTreeSet<GlobalId>) -> BTreeMap<GlobalId, (usize, usize)> {
        let found = |&variable: &GlobalId| {
            let address = Value::Constant(Constant::Global(variable));
            let only = BTreeSet::from([variable]);
            let names = |value: &Value| shared_within(value, &only).is_some();
            // Its address is nowhere but where it is read and written.
            let known = |one: &Instruction| {
                !one.op.operands().into_iter().any(names)
                    || Access::of(one).is_some_and(|a| *a.address == address && !a.value.is_some_and(names))
            };
            if !self.function.instructions().all(known) {
                return None;
            }
            let mut stores = blocks.iter().flat_map(|&block| {
                let all = self.function.blocks[block].instructions.iter().enumerate();
                all.filter_map(move |(at, one)| Some(((block, at), Access::of(one)?)))
            });
            let mut stores = stores.by_ref().filter(|(_, access)| *access.address == address);
            let (place, first) = stores.next()?;
            let number = matches!(first.value, Some(Value::Constant(Constant::Int(_))));
            let same = number && stores.all(|(_, other)| (other.ty, other.value) == (first.ty, first.value));
            (same && matches!(first.ty, Type::Int(_))).then_some((variable, place))
        };
        shared.iter().filter_map(found).collect()
    }
}
