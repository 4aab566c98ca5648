//! Alias metadata for accesses to a kernel's variables. It tells LLVM that accesses to different variables do not
//! alias.

use super::analysis::Kernel;
use super::layout::Layout;
use crate::ir::{GlobalId, LocalId};
use crate::llvm::{Editor, Node, Value};
use std::collections::BTreeMap;

/// The memory of a variable: one that is kept per thread, or a tile_static variable. It overlaps no other variable's
/// memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DistinctMemory {
    Kept(LocalId),
    Shared(GlobalId),
}

#[derive(Default)]
pub struct Scopes<'m> {
    /// For each variable, a list with its scope, and a list with all other scopes.
    of: BTreeMap<DistinctMemory, [Node<'m>; 2]>,
    /// The `noalias` list for accesses to unknown memory. These accesses never reach the variables kept per thread.
    elsewhere: Option<Node<'m>>,
}

impl<'m> Scopes<'m> {
    pub fn of(edit: Editor<'m>, kernel: &Kernel, layout: &Layout) -> Self {
        let kept =
            layout.kept.keys().filter(|name| kernel.variables[name].plain).map(|name| DistinctMemory::Kept(*name));
        let kept: Vec<DistinctMemory> = kept.collect();
        if kept.is_empty() && layout.shared.len() < 2 {
            return Self::default();
        }
        let domain = edit.distinct(&[]);
        let shared = layout.shared.keys().map(|name| DistinctMemory::Shared(*name));
        let variable_scopes: Vec<(DistinctMemory, Node<'m>)> =
            kept.iter().copied().chain(shared).map(|own| (own, edit.distinct(&[domain]))).collect();
        let list = |is_member: &dyn Fn(&DistinctMemory) -> bool| {
            let nodes: Vec<Node<'m>> =
                variable_scopes.iter().filter(|(own, _)| is_member(own)).map(|(_, node)| *node).collect();
            edit.node(&nodes)
        };
        let of =
            variable_scopes.iter().map(|(own, _)| (*own, [list(&|one| one == own), list(&|one| one != own)])).collect();
        let elsewhere = (!kept.is_empty()).then(|| list(&|one| matches!(one, DistinctMemory::Kept(_))));
        Self { of, elsewhere }
    }

    /// Attaches alias metadata to a load or store. `memory`: the memory that it accesses, if known.
    pub fn attach_metadata(&self, edit: Editor<'m>, access: Value<'m>, memory: Option<DistinctMemory>) {
        let variable_lists = memory.and_then(|memory| self.of.get(&memory));
        if let Some([own, _]) = variable_lists {
            edit.set_metadata(access, "alias.scope", Some(*own));
        }
        if let Some(noalias_list) = variable_lists.map(|[_, noalias_list]| *noalias_list).or(self.elsewhere) {
            edit.set_metadata(access, "noalias", Some(noalias_list));
        }
    }
}
