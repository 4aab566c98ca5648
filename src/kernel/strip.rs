//! The rewrite for devices without `SPV_KHR_non_semantic_info`: removes instruction sets named `NonSemantic.*` (printing,
//! debug information) and their calls.

use super::grammar;
use super::parse::HEADER_WORDS;
use super::parsed::{Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::{Grow, copied};
use rspirv::spirv::Op;
use std::collections::HashSet;

/// The SPIR-V extension that allows `NonSemantic.*` instruction sets.
const EXTENSION: &str = "SPV_KHR_non_semantic_info";

/// The words of `code` without the `NonSemantic.*` instruction sets and the extension. `None` if `code` uses neither.
pub(super) fn strip(code: &ParsedModule) -> Result<Option<Vec<u32>>> {
    let string = |inst: Instruction<'_>, at: usize| grammar::string_bytes(&inst.words[at..]).unwrap_or_default();
    let mut removed = HashSet::new();
    for inst in code.insts() {
        let is_removed = match inst.op {
            Some(Op::ExtInstImport) => string(inst, 2).starts_with(b"NonSemantic."),
            Some(Op::ExtInst) => removed.contains(&inst.word(3)),
            _ => false,
        };
        if is_removed {
            removed.extend(inst.result());
        }
    }
    let extension = |inst: Instruction<'_>| inst.is(Op::Extension) && string(inst, 1) == EXTENSION.as_bytes();
    if removed.is_empty() && !code.globals().any(extension) {
        return Ok(None);
    }
    let mut words = copied(&code.words()[..HEADER_WORDS])?;
    for inst in code.insts() {
        let annotates_removed = matches!(inst.op, Some(Op::Name | Op::Decorate)) && removed.contains(&inst.word(1));
        if !annotates_removed && !extension(inst) && !inst.result().is_some_and(|id| removed.contains(&id)) {
            words.make_room(inst.words.len())?;
            words.extend_from_slice(inst.words);
        }
    }
    Ok(Some(words))
}
