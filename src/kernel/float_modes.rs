//! The rewrite that declares that a kernel needs infinities, NaN, the sign of zero and subnormal numbers as C++ has them, where the
//! device can keep them: a module may only declare what its device has. For compiled kernels, which are of SPIR-V 1.5; a
//! program's own modules say what they need.
//!
//! FPFastMathDefault of `SPV_KHR_float_controls2` would say the same, and may not stand beside these modes.

use super::entry_point::EntryPoint;
use super::parsed::ParsedModule;
use super::writer::InstructionWriter;
use crate::error::Result;
use rspirv::spirv::{Capability, ExecutionMode, Op};

/// What a device can keep of floats of 16, 32 and 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FloatModes {
    /// Infinities, NaN and the sign of zero.
    pub special: [bool; 3],
    /// Subnormal numbers.
    pub subnormal: [bool; 3],
    /// Subnormal numbers must be treated alike in all widths of a module.
    pub alike: bool,
}

/// The words of `code` with the modes for the types that it has; `None` if there are none.
pub(super) fn declare(code: &ParsedModule, entry: &EntryPoint, modes: &FloatModes) -> Result<Option<Vec<u32>>> {
    let types = code.globals().filter(|inst| inst.is(Op::TypeFloat)).map(|inst| inst.word(2));
    let widths: Vec<u32> = types.filter(|width| [16, 32, 64].contains(width)).collect();
    let of = |kept: &[bool; 3]| -> Vec<u32> {
        widths.iter().copied().filter(|width| kept[width.trailing_zeros() as usize - 4]).collect()
    };
    let (special, mut subnormal) = (of(&modes.special), of(&modes.subnormal));
    if modes.alike && subnormal.len() < widths.len() {
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
