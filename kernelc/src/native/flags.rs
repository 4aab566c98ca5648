//! Variables in tile memory that say whether any thread has something to tell: `if (...) changed = 1`. A store behind a condition to one place is
//! nothing that LLVM makes vectors of; so a region notes in a variable of its own that there was one, and stores behind its loop.

use super::analysis::Kernel;
use super::text::{Instruction, mentions};
use std::collections::{BTreeMap, BTreeSet};

/// What a region stores to a tile_static variable: always the same.
pub struct Flag {
    pub ty: String,
    pub value: String,
}

impl Kernel {
    /// The tile_static variables of which these blocks do nothing but store one constant.
    pub fn flags<'s>(
        &self,
        blocks: &BTreeSet<usize>,
        shared: impl Iterator<Item = &'s String>,
    ) -> BTreeMap<String, Flag> {
        let mut found = BTreeMap::new();
        for name in shared {
            let address = format!("@{name}");
            let all = self.function.blocks.iter().flat_map(|b| &b.instructions);
            // Its address is nowhere but where it is read and written.
            let known =
                |i: &Instruction| i.access().is_some_and(|a| a.address == address && !mentions(a.value, &address));
            if !all.filter(|i| mentions(&i.text, &address)).all(known) {
                continue;
            }
            let here = blocks.iter().flat_map(|&n| &self.function.blocks[n].instructions);
            let mut values: BTreeSet<(&str, &str)> = BTreeSet::new();
            values
                .extend(here.filter_map(Instruction::access).filter(|a| a.address == address).map(|a| (a.ty, a.value)));
            if let [(ty, value)] = values.into_iter().collect::<Vec<_>>()[..] {
                let number = value.trim().parse::<i64>().is_ok() || matches!(value.trim(), "true" | "false");
                if number && ty.starts_with('i') {
                    let (ty, value) = (ty.to_owned(), value.trim().to_owned());
                    found.insert(name.clone(), Flag { ty, value });
                }
            }
        }
        found
    }
}
