//! The rewrite for what a launch decides of a compiled kernel: other values of its specialization constants. A module of its own,
//! so that launches that repeat need not look a pipeline up.

use super::constants::spec_id;
use super::parsed::ParsedModule;
use crate::error::Result;
use crate::grow::copied;
use revamp_image::SHARED_CAPTURES;
use rspirv::spirv::Op;

/// What a launch decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Variant {
    /// Memory that the kernel writes is memory of no other capture.
    pub apart: bool,
    /// The workgroup, for a kernel that leaves it to the launch.
    pub workgroup: Option<[u32; 3]>,
}

/// True for a kernel to which it matters whether its captures share memory (`kernelc/src/lower/global_order.rs`).
pub(super) fn depends_on_sharing(code: &ParsedModule) -> bool {
    code.globals().any(|inst| inst.is(Op::SpecConstantTrue) && spec_id(code, inst) == Some(SHARED_CAPTURES))
}

/// The words of `code` for such launches.
pub(super) fn variant(code: &ParsedModule, variant: Variant) -> Result<Vec<u32>> {
    let mut words = copied(code.words())?;
    for inst in code.globals() {
        let (at, id) = (code.start(inst), spec_id(code, inst));
        match (inst.op, id, variant.workgroup) {
            (Some(Op::SpecConstantTrue), Some(SHARED_CAPTURES), _) if variant.apart => {
                words[at] = words[at] & !0xffff | Op::SpecConstantFalse as u32;
            }
            (Some(Op::SpecConstant), Some(id @ 0..=2), Some(size)) if inst.words.len() == 4 => {
                words[at + 3] = size[id as usize];
            }
            _ => {}
        }
    }
    Ok(words)
}
