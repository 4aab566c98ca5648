//! The rewrite that applies the decisions of a launch to a compiled kernel: it changes the defaults of specialization constants. The
//! result is a separate module, so that repeated launches need not look up a pipeline.

use super::constants::spec_id;
use super::parsed::ParsedModule;
use crate::error::Result;
use crate::grow::copied;
use revamp_image::SHARED_CAPTURES;
use rspirv::spirv::Op;

/// The decisions of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Variant {
    /// True if captures do not alias: each byte that the kernel writes belongs to one capture only.
    pub no_aliasing: bool,
    /// The workgroup size, for a kernel that lets the launch choose it.
    pub workgroup: Option<[u32; 3]>,
}

/// True if the kernel's code depends on whether its captures share memory (`kernelc/src/lower/global_order.rs`).
pub(super) fn depends_on_sharing(code: &ParsedModule) -> bool {
    code.globals().any(|inst| inst.is(Op::SpecConstantTrue) && spec_id(code, inst) == Some(SHARED_CAPTURES))
}

/// The words of `code` for launches with the decisions of `variant`.
pub(super) fn variant(code: &ParsedModule, variant: Variant) -> Result<Vec<u32>> {
    let mut words = copied(code.words())?;
    for inst in code.globals() {
        let (at, id) = (code.start(inst), spec_id(code, inst));
        match (inst.op, id, variant.workgroup) {
            (Some(Op::SpecConstantTrue), Some(SHARED_CAPTURES), _) if variant.no_aliasing => {
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
