//! The rewrite for launches whose captures share no memory: the specialization constant by which a compiled kernel asks for
//! that (`kernelc/src/lower/global_order.rs`) becomes false. A module of its own, so that launches need not look a variant up.

use super::constants::spec_id;
use super::parsed::{Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::copied;
use revamp_image::SHARED_CAPTURES;
use rspirv::spirv::Op;

/// True for a kernel that asks.
pub(super) fn asks(code: &ParsedModule) -> bool {
    code.globals().any(|inst| is_question(code, inst))
}

fn is_question(code: &ParsedModule, inst: Instruction<'_>) -> bool {
    inst.is(Op::SpecConstantTrue) && spec_id(code, inst) == Some(SHARED_CAPTURES)
}

/// The words of `code` for such launches.
pub(super) fn apart(code: &ParsedModule) -> Result<Vec<u32>> {
    let mut words = copied(code.words())?;
    for inst in code.globals().filter(|&inst| is_question(code, inst)) {
        if let Some(first) = words.get_mut(code.start(inst)) {
            *first = *first & !0xffff | Op::SpecConstantFalse as u32;
        }
    }
    Ok(words)
}
