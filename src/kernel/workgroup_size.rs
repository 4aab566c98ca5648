//! The workgroup size: how the module declares it, and its value with given specialization constants.

use super::constants::{self, SpecOverrides};
use super::entry_point::EntryPoint;
use super::parsed::{Instruction, ParsedModule};
use crate::error::{Error, Result};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

/// The largest accepted size, per dimension and in total.
const MAX: u64 = 1 << 31;

/// How the module declares the workgroup size.
#[derive(Debug, Clone, Copy)]
pub(super) enum SizeSource {
    /// Numbers in the execution mode.
    Literal([u32; 3]),
    /// Three constants in the execution mode (LocalSizeId).
    Ids([u32; 3]),
    /// The composite constant decorated WorkgroupSize, which overrides the execution modes.
    BuiltIn(u32),
}

/// The declaration of the size, and the constants it depends on.
pub(super) struct WorkgroupSize {
    /// How the module declares the size.
    pub(super) source: SizeSource,
    depends_on: Vec<usize>,
}

impl WorkgroupSize {
    /// Finds how the module declares the workgroup size of `entry`.
    pub(super) fn find(code: &ParsedModule, entry: &EntryPoint) -> Result<Self> {
        let source = source(code, entry)?;
        let depends_on = match source {
            SizeSource::Literal(_) => Vec::new(),
            SizeSource::Ids(ids) => constants::dependencies(code, &ids),
            SizeSource::BuiltIn(id) => constants::dependencies(code, &[id]),
        };
        Ok(Self { source, depends_on })
    }

    /// True if the size depends on a specialization constant.
    pub(super) fn is_specialized(&self, code: &ParsedModule) -> bool {
        self.depends_on.iter().any(|&at| constants::spec_id(code, code.inst(at)).is_some())
    }

    /// The size with the specialization constants `given`.
    pub(super) fn evaluate(&self, code: &ParsedModule, given: &SpecOverrides) -> Result<[u32; 3]> {
        let values = constants::evaluate(code, self.depends_on.iter().map(|&at| code.inst(at)), given)?;
        let one = |id| constants::integer(&values, id);
        let size = match self.source {
            SizeSource::Literal(size) => Some(size.map(u64::from)),
            SizeSource::Ids([x, y, z]) => one(x).and_then(|x| Some([x, one(y)?, one(z)?])),
            SizeSource::BuiltIn(id) => constants::integers3(&values, id),
        };
        let Some(size) = size else {
            let what = constants::unknown(code, &self.depends_on, &values);
            return Err(Error::unsupported(format!(
                "the workgroup size depends on {}, whose value is undefined, or cannot be computed by revamp; write \
                 the size with integer constants, + - * / %, shifts, bit operations, comparisons and ?:",
                what.as_deref().unwrap_or("something that is not a constant of three integers")
            )));
        };
        if size.iter().any(|&n| n == 0 || n > MAX) || size.iter().fold(1, |all: u64, n| all.saturating_mul(*n)) > MAX {
            let [x, y, z] = size;
            return Err(Error::invalid(format!(
                "the workgroup size is {x} x {y} x {z}, expected 1 to {MAX} in each dimension and in total; check the \
                 local_size of the kernel and the values given for its specialization constants"
            )));
        }
        // Each number is at most 2^31, so the cast is exact.
        Ok(size.map(|n| n as u32))
    }
}

fn source(code: &ParsedModule, entry: &EntryPoint) -> Result<SizeSource> {
    let mut mode = None;
    for inst in code.globals() {
        match inst.op {
            // A module has at most one WorkgroupSize constant, for all its entry points.
            Some(Op::ConstantComposite | Op::SpecConstantComposite | Op::SpecConstantOp) => {
                if let Some(id) = inst
                    .result()
                    .filter(|&id| code.literal(id, Decoration::BuiltIn) == Some(BuiltIn::WorkgroupSize as u32))
                {
                    return Ok(SizeSource::BuiltIn(id));
                }
            }
            Some(Op::ExecutionMode) if is_mode(inst, entry, ExecutionMode::LocalSize) => {
                mode = mode.or(Some(SizeSource::Literal([inst.word(3), inst.word(4), inst.word(5)])));
            }
            Some(Op::ExecutionModeId) if is_mode(inst, entry, ExecutionMode::LocalSizeId) => {
                mode = mode.or(Some(SizeSource::Ids([inst.word(3), inst.word(4), inst.word(5)])));
            }
            _ => {}
        }
    }
    mode.ok_or_else(|| {
        Error::invalid(format!(
            "entry point \"{}\" states no workgroup size; write layout(local_size_x = N) in; (GLSL) or [numthreads(N, 1, 1)] \
             (HLSL)",
            entry.name.to_string_lossy()
        ))
    })
}

fn is_mode(inst: Instruction<'_>, entry: &EntryPoint, mode: ExecutionMode) -> bool {
    inst.word(1) == entry.function && inst.word(2) == mode as u32 && inst.words.len() >= 6
}
