//! How the kernel uses each storage buffer: as it declares, else as its instructions show.

use super::code::{Code, Inst};
use super::grammar;
use super::reach::Entry;
use crate::error::Result;
use crate::grow::Grow;
use crate::kernel::Access;
use rspirv::spirv::{Decoration, Op};
use std::collections::HashMap;

/// The access that decorations of `id` state, or those of every member of `block`.
pub(super) fn declared(code: &Code, id: u32, block: Option<u32>) -> Option<Access> {
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
struct Seen {
    reads: bool,
    writes: bool,
}

/// The access that instructions show. A pointer that leaves their sight counts as both.
pub(super) struct Shown {
    seen: HashMap<u32, Seen>,
    /// The pointers did not settle: nothing is known.
    gave_up: bool,
}

impl Shown {
    /// Looks through all that `entry` reaches.
    pub(super) fn new(code: &Code, entry: &Entry) -> Result<Self> {
        let mut shown = Self { seen: HashMap::new(), gave_up: false };
        let roots = shown.roots(code, entry)?;
        for inst in insts(code, entry) {
            shown.note(code, inst, &roots);
        }
        Ok(shown)
    }

    /// The access to the buffer behind `variable`.
    pub(super) fn access(&self, variable: u32) -> Access {
        let seen = self.seen.get(&variable).copied().unwrap_or_default();
        match (seen.reads, seen.writes) {
            _ if self.gave_up => Access::ReadWrite,
            (_, false) => Access::Read,
            (false, true) => Access::Write,
            (true, true) => Access::ReadWrite,
        }
    }

    /// Which variable each pointer comes from.
    fn roots(&mut self, code: &Code, entry: &Entry) -> Result<HashMap<u32, u32>> {
        let mut roots: HashMap<u32, u32> = entry.variables.iter().map(|&id| (id, id)).collect();
        // Blocks stand in dominance order, so a valid module settles in one round.
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

    fn note(&mut self, code: &Code, inst: Inst<'_>, roots: &HashMap<u32, u32>) {
        let mut mark = |id: u32, reads: bool, writes: bool| {
            if let Some(root) = roots.get(&id) {
                let seen = self.seen.entry(*root).or_default();
                seen.reads |= reads;
                seen.writes |= writes;
            }
        };
        match inst.op {
            Some(Op::Load | Op::AtomicLoad | Op::CooperativeMatrixLoadKHR) => mark(inst.word(3), true, false),
            Some(Op::Store | Op::CooperativeMatrixStoreKHR) => {
                mark(inst.word(1), false, true);
                // The pointer itself as the value: from then on it may be anywhere.
                mark(inst.word(2), true, true);
            }
            Some(Op::AtomicStore) => mark(inst.word(1), false, true),
            Some(Op::CopyMemory | Op::CopyMemorySized) => {
                mark(inst.word(1), false, true);
                mark(inst.word(2), true, false);
            }
            Some(Op::ArrayLength) => {}
            _ if derives(inst) || code.is_non_semantic(inst) => {}
            _ => grammar::for_each_id(inst, |_, id| mark(id, true, true)),
        }
    }
}

fn insts<'a>(code: &'a Code, entry: &'a Entry) -> impl Iterator<Item = Inst<'a>> {
    entry.functions.iter().flat_map(|&at| code.body(at))
}

/// True for the instructions whose result points into what their first operand points to.
fn derives(inst: Inst<'_>) -> bool {
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
