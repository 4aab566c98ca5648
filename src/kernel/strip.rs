//! Modules without what means nothing to the device: calls of instruction sets named `NonSemantic.*` (printing, debug
//! information), for devices that do not take them.

use super::check::HEADER_WORDS;
use super::code::{Code, Inst};
use super::grammar;
use crate::error::Result;
use crate::grow::{Grow, copied};
use rspirv::spirv::Op;
use std::collections::HashSet;

/// The extension that brings such sets.
const EXTENSION: &str = "SPV_KHR_non_semantic_info";

/// The words of `code` without such instructions; `None` if it has none.
pub(super) fn strip(code: &Code) -> Result<Option<Vec<u32>>> {
    let string = |inst: Inst<'_>, at: usize| grammar::string_bytes(&inst.words[at..]).unwrap_or_default();
    let mut gone = HashSet::new();
    for inst in code.insts() {
        let is_gone = match inst.op {
            Some(Op::ExtInstImport) => string(inst, 2).starts_with(b"NonSemantic."),
            Some(Op::ExtInst) => gone.contains(&inst.word(3)),
            _ => false,
        };
        if is_gone {
            gone.extend(inst.result());
        }
    }
    let extension = |inst: Inst<'_>| inst.is(Op::Extension) && string(inst, 1) == EXTENSION.as_bytes();
    if gone.is_empty() && !code.globals().any(extension) {
        return Ok(None);
    }
    let mut words = copied(&code.words()[..HEADER_WORDS])?;
    for inst in code.insts() {
        let about = matches!(inst.op, Some(Op::Name | Op::Decorate)) && gone.contains(&inst.word(1));
        if !about && !extension(inst) && !inst.result().is_some_and(|id| gone.contains(&id)) {
            words.make_room(inst.words.len())?;
            words.extend_from_slice(inst.words);
        }
    }
    Ok(Some(words))
}
