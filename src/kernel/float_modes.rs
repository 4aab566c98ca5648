//! The rewrite that declares float execution modes, so that infinities, NaN, the sign of zero and subnormal numbers work as in C++.
//! A module may declare only modes that the device supports. The rewrite applies to compiled kernels, which are SPIR-V 1.5.
//! The program's own modules declare their own modes.
//!
//! FPFastMathDefault of `SPV_KHR_float_controls2` would have the same effect, but must not be combined with these modes.

use super::entry_point::EntryPoint;
use super::parsed::ParsedModule;
use super::writer::InstructionWriter;
use crate::error::Result;
use rspirv::spirv::{Capability, ExecutionMode, Op};

/// The float modes that a device supports. The elements of each array are for floats of 16, 32 and 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FloatModes {
    /// True if the device can preserve infinities, NaN and the sign of zero.
    pub special: [bool; 3],
    /// True if the device can preserve subnormal numbers.
    pub subnormal: [bool; 3],
    /// True if the mode for subnormal numbers must be the same for all widths of a module.
    pub same_for_all_widths: bool,
}

/// The words of `code` with the supported modes for its float types; `None` if no mode is to be declared.
pub(super) fn declare(code: &ParsedModule, entry: &EntryPoint, modes: &FloatModes) -> Result<Option<Vec<u32>>> {
    let types = code.globals().filter(|inst| inst.is(Op::TypeFloat)).map(|inst| inst.word(2));
    let widths: Vec<u32> = types.filter(|width| [16, 32, 64].contains(width)).collect();
    let supported_widths = |supported: &[bool; 3]| -> Vec<u32> {
        widths.iter().copied().filter(|width| supported[width.trailing_zeros() as usize - 4]).collect()
    };
    let (special, mut subnormal) = (supported_widths(&modes.special), supported_widths(&modes.subnormal));
    if modes.same_for_all_widths && subnormal.len() < widths.len() {
        subnormal.clear();
    }
    let declared = [
        (Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve, special),
        (Capability::DenormPreserve, ExecutionMode::DenormPreserve, subnormal),
    ];
    let declared: Vec<_> = declared.into_iter().filter(|(.., widths)| !widths.is_empty()).collect();
    if declared.is_empty() {
        return Ok(None);
    }
    let mut out = InstructionWriter::default();
    for (capability, ..) in &declared {
        out.emit(Op::Capability, &[*capability as u32])?;
    }
    let last = code.insts().filter(|inst| inst.is(Op::EntryPoint)).map(|inst| inst.word(2)).last();
    for inst in code.insts() {
        out.copy(inst)?;
        if inst.is(Op::EntryPoint) && Some(inst.word(2)) == last {
            for (_, mode, widths) in &declared {
                widths
                    .iter()
                    .try_for_each(|width| out.emit(Op::ExecutionMode, &[entry.function, *mode as u32, *width]))?;
            }
        }
    }
    out.finish(code, code.bound()).map(Some)
}
