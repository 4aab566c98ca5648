//! Metadata for accesses of what is a kernel's own: LLVM then knows that they reach different memory.

use super::analysis::Kernel;
use super::layout::Layout;
use crate::ir::{GlobalId, LocalId};
use crate::llvm::{Editor, Node, Value};
use std::collections::BTreeMap;

/// Memory that no other address reaches: of variables kept per thread, of tile_static variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Own {
    Kept(LocalId),
    Shared(GlobalId),
}

#[derive(Default)]
pub struct Scopes<'m> {
    /// The lists of the memory's own scope and of those of the others.
    of: BTreeMap<Own, [Node<'m>; 2]>,
    /// Of an access of unknown memory: the variables kept per thread are not reached.
    elsewhere: Option<Node<'m>>,
}

impl<'m> Scopes<'m> {
    pub fn of(edit: Editor<'m>, kernel: &Kernel, layout: &Layout) -> Self {
        let kept = layout.kept.keys().filter(|name| kernel.variables[name].plain).map(|name| Own::Kept(*name));
        let kept: Vec<Own> = kept.collect();
        if kept.is_empty() && layout.shared.len() < 2 {
            return Self::default();
        }
        let domain = edit.distinct(&[]);
        let shared = layout.shared.keys().map(|name| Own::Shared(*name));
        let all: Vec<(Own, Node<'m>)> =
            kept.iter().copied().chain(shared).map(|own| (own, edit.distinct(&[domain]))).collect();
        let list = |wanted: &dyn Fn(&Own) -> bool| {
            let nodes: Vec<Node<'m>> = all.iter().filter(|(own, _)| wanted(own)).map(|(_, node)| *node).collect();
            edit.node(&nodes)
        };
        let of = all.iter().map(|(own, _)| (*own, [list(&|one| one == own), list(&|one| one != own)])).collect();
        let elsewhere = (!kept.is_empty()).then(|| list(&|one| matches!(one, Own::Kept(_))));
        Self { of, elsewhere }
    }

    /// Tells of a load or store which memory it reaches, if that is known.
    pub fn tell(&self, edit: Editor<'m>, access: Value<'m>, memory: Option<Own>) {
        let known = memory.and_then(|memory| self.of.get(&memory));
        if let Some([own, _]) = known {
            edit.set_metadata(access, "alias.scope", Some(*own));
        }
        if let Some(others) = known.map(|[_, others]| *others).or(self.elsewhere) {
            edit.set_metadata(access, "noalias", Some(others));
        }
    }
}
