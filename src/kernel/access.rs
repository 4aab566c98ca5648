//! Finds whether the kernel reads or writes each storage buffer: from its decorations, or else from the instructions that use it.

use super::entry_point::EntryPoint;
use super::parsed::{Instruction, ParsedModule};
use super::usage::Access;
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op};
use std::collections::HashMap;

/// The access that decorations of `id`, or of every member of `block`, declare.
pub(super) fn declared(code: &ParsedModule, id: u32, block: Option<u32>) -> Option<Access> {
    let block = block.and_then(|ty| code.def_of(ty, Op::TypeStruct)).map(|inst| (inst.word(1), inst.words.len() - 2));
    let on_all = |decoration| {
        block.is_some_and(|(ty, len)| {
            len > 0 && (0..len as u32).all(|member| code.member_decoration(ty, member, decoration).is_some())
        })
    };
    let has = |decoration| code.decoration(id, decoration).is_some() || on_all(decoration);
    match (has(Decoration::NonWritable), has(Decoration::NonReadable)) {
        (true, _) => Some(Access::Read),
        (false, true) => Some(Access::Write),
        (false, false) => None,
    }
}

#[derive(Default, Clone, Copy)]
struct Uses {
    reads: bool,
    writes: bool,
}

/// The access inferred from instructions. A pointer that escapes counts as read and written.
pub(super) struct InferredAccess {
    by_variable: HashMap<u32, Uses>,
    /// True if the pointer analysis reached no fixed point: any buffer may be read and written.
    gave_up: bool,
}

impl InferredAccess {
    /// Analyses the functions that `entry` reaches.
    pub(super) fn new(code: &ParsedModule, entry: &EntryPoint) -> Result<Self> {
        let mut inferred = Self { by_variable: HashMap::new(), gave_up: false };
        let roots = inferred.roots(code, entry)?;
        for inst in insts(code, entry) {
            inferred.record_access(code, inst, &roots);
        }
        Ok(inferred)
    }

    /// The inferred access to the buffer that `variable` declares.
    pub(super) fn access(&self, variable: u32) -> Access {
        let uses = self.by_variable.get(&variable).copied().unwrap_or_default();
        match (uses.reads, uses.writes) {
            _ if self.gave_up => Access::ReadWrite,
            (_, false) => Access::Read,
            (false, true) => Access::Write,
            (true, true) => Access::ReadWrite,
        }
    }

    /// For each pointer, the variable from which it is derived.
    fn roots(&mut self, code: &ParsedModule, entry: &EntryPoint) -> Result<HashMap<u32, u32>> {
        let mut roots: HashMap<u32, u32> = entry.variables.iter().map(|&id| (id, id)).collect();
        // Definitions precede uses in a valid module, so the first round finds all pointers and the second changes nothing.
        for _ in 0..4 {
            let before = roots.len();
            for inst in insts(code, entry).filter(|inst| derives(*inst)) {
                if let (Some(id), Some(&root)) = (inst.result(), roots.get(&inst.word(3))) {
                    roots.make_room(1)?;
                    roots.insert(id, root);
                }
            }
            if roots.len() == before {
                return Ok(roots);
            }
        }
        self.gave_up = true;
        Ok(roots)
    }

    fn record_access(&mut self, code: &ParsedModule, inst: Instruction<'_>, roots: &HashMap<u32, u32>) {
        let mut mark = |id: u32, reads: bool, writes: bool| {
            if let Some(root) = roots.get(&id) {
                let uses = self.by_variable.entry(*root).or_default();
                uses.reads |= reads;
                uses.writes |= writes;
            }
        };
        match inst.op {
            Some(Op::Load | Op::AtomicLoad | Op::CooperativeMatrixLoadKHR) => mark(inst.word(3), true, false),
            Some(Op::Store | Op::CooperativeMatrixStoreKHR) => {
                mark(inst.word(1), false, true);
                // A stored pointer escapes.
                mark(inst.word(2), true, true);
            }
            Some(Op::AtomicStore) => mark(inst.word(1), false, true),
            Some(Op::CopyMemory | Op::CopyMemorySized) => {
                mark(inst.word(1), false, true);
                mark(inst.word(2), true, false);
            }
            Some(Op::ArrayLength) => {}
            _ if derives(inst) || code.is_non_semantic(inst) => {}
            _ => inst.for_each_id(|_, id| mark(id, true, true)),
        }
    }
}

fn insts<'a>(code: &'a ParsedModule, entry: &'a EntryPoint) -> impl Iterator<Item = Instruction<'a>> {
    entry.functions.iter().flat_map(|&at| code.body(at))
}

/// True for instructions whose result points into the object that their first operand points to.
fn derives(inst: Instruction<'_>) -> bool {
    matches!(
        inst.op,
        Some(
            Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::CopyObject
        )
    )
}
