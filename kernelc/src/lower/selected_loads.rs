//! Emits the loads that `late_loads` found, before and after the loop. A specialization constant selects one of them.

use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::late_loads::Load;
use crate::ir::LocalId;
use rspirv::spirv::{Op as S, Word};

impl Emitter<'_> {
    /// Emits a load at its original place, for launches whose captures may alias.
    pub(super) fn load_if_shared(&mut self, result: Option<LocalId>) -> Lowered<Vec<Word>> {
        let Some(load) = self.late_loads.get(result) else {
            return Err(self.internal("a load is not among the moved ones"));
        };
        let shared = self.asm.shared_captures();
        let leaves = self.leaves(load.ty)?;
        let before = self.block;
        let (first, merge) = (self.asm.id(), self.asm.id());
        self.selection(shared, [first, merge], merge);
        self.begin_block(first);
        let words = self.load_once(&load)?;
        let end = self.block;
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        let merged = leaves.iter().zip(words).map(|(leaf, word)| {
            let scalar = leaf.kind.register();
            let (ty, none) = (self.asm.scalar(scalar), self.asm.undef(scalar));
            self.asm.op(S::Phi, ty, &[word, end, none, before])
        });
        Ok(merged.collect())
    }

    /// Emits the loads that move to the current block.
    pub(super) fn emit_late_loads(&mut self) -> Lowered<()> {
        let Some(loads) = self.late_loads.take(self.place.0) else { return Ok(()) };
        let shared = self.asm.shared_captures();
        let before = self.block;
        let (again, merge) = (self.asm.id(), self.asm.id());
        let disjoint = self.asm.make(S::LogicalNot, Scalar::Bool, &[shared]);
        self.selection(disjoint, [again, merge], merge);
        self.begin_block(again);
        let mut loaded = Vec::new();
        for load in &loads {
            loaded.push(self.load_once(load)?);
        }
        let end = self.block;
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        for (load, words) in loads.iter().zip(loaded) {
            let leaves = self.leaves(load.ty)?;
            let first = self.values.remove(&load.result).unwrap_or_default();
            let all = leaves.iter().zip(first.into_iter().zip(words));
            let merged = all.map(|(leaf, (first, word))| {
                let ty = self.asm.scalar(leaf.kind.register());
                self.asm.op(S::Phi, ty, &[first, before, word, end])
            });
            let merged = merged.collect();
            self.values.insert(load.result, merged);
        }
        Ok(())
    }

    fn load_once(&mut self, load: &Load<'_>) -> Lowered<Vec<Word>> {
        let Load { ty, pointer, align, .. } = *load;
        self.checked_load(pointer, ty, align, |e, from| e.load(from, ty, align, false))
    }
}
