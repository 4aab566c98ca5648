//! Flags in tile memory that any thread may set, such as `if (...) changed = 1`. LLVM does not vectorise a conditional store to a fixed
//! address. So a region records the store in a local variable, and stores to the flag after the loop over the threads.

use super::analysis::Kernel;
use super::values::shared_within;
use super::variables::Access;
use crate::ir::{Constant, GlobalId, Instruction, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Kernel {
    /// The tile_static variables that these blocks access only by stores of one constant. Each has the block and the index of one such
    /// store.
    pub fn flags(&self, blocks: &BTreeSet<usize>, shared: &BTreeSet<GlobalId>) -> BTreeMap<GlobalId, (usize, usize)> {
        let constant_store = |&variable: &GlobalId| {
            let address = Value::Constant(Constant::Global(variable));
            let variable_set = BTreeSet::from([variable]);
            let mentions_variable = |value: &Value| shared_within(value, &variable_set).is_some();
            // True if an instruction uses the address of the variable only to load or store the variable.
            let is_allowed_use = |instruction: &Instruction| {
                !instruction.op.operands().into_iter().any(mentions_variable)
                    || Access::of(instruction)
                        .is_some_and(|a| *a.address == address && !a.value.is_some_and(mentions_variable))
            };
            if !self.function.instructions().all(is_allowed_use) {
                return None;
            }
            let mut stores = blocks.iter().flat_map(|&block| {
                let all = self.function.blocks[block].instructions.iter().enumerate();
                all.filter_map(move |(at, instruction)| Some(((block, at), Access::of(instruction)?)))
            });
            let mut stores = stores.by_ref().filter(|(_, access)| *access.address == address);
            let (place, first) = stores.next()?;
            let stores_integer = matches!(first.value, Some(Value::Constant(Constant::Int(_))));
            let same = stores_integer && stores.all(|(_, other)| (other.ty, other.value) == (first.ty, first.value));
            (same && matches!(first.ty, Type::Int(_))).then_some((variable, place))
        };
        shared.iter().filter_map(constant_store).collect()
    }
}
