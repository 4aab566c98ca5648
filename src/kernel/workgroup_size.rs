//! The workgroup size: how the module states it, and what it is with given specialization constants.

use super::constants::{self, SpecOverrides};
use super::entry_point::EntryPoint;
use super::parsed::{Instruction, ParsedModule};
use crate::error::{Error, Result};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

/// The largest size accepted, per dimension and in all.
const MAX: u64 = 1 << 31;

/// How the module states the workgroup size.
#[derive(Debug, Clone, Copy)]
pub(super) enum SizeSource {
    /// Numbers in the execution mode.
    Literal([u32; 3]),
    /// Three constants in the execution mode (LocalSizeId).
    Ids([u32; 3]),
    /// The composite constant decorated WorkgroupSize, which overrides the execution modes.
    BuiltIn(u32),
}

/// How the size is stated, and the constants it depends on.
pub(super) struct WorkgroupSize {
    /// How it is stated.
    pub(super) source: SizeSource,
    depends_on: Vec<usize>,
}

impl WorkgroupSize {
    /// Finds how the size of `entry` is stated.
    pub(super) fn find(code: &ParsedModule, entry: &EntryPoint) -> Result<Self> {
        let source = source(code, entry)?;
        let depends_on = match source {
            SizeSource::Literal(_) => Vec::new(),
            SizeSource::Ids(ids) => constants::dependencies(code, &ids),
            SizeSource::BuiltIn(id) => constants::dependencies(code, &[id]),
        };
        Ok(Self { source, depends_on })
    }

    /// True if it depends on a specialization constant.
    pub(super) fn is_specialized(&self, code: &ParsedModule) -> bool {
        self.depends_on.iter().any(|&at| constants::spec_id(code, code.inst(at)).is_some())
    }

    /// The size with `given`.
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
                "the workgroup size depends on {}, which revamp cannot compute or which has no defined value; write it \
                 with integer constants, + - * / %, shifts, bit operations, comparisons and ?:",
                what.as_deref().unwrap_or("something that is no constant of three integers")
            )));
        };
        if size.iter().any(|&n| n == 0 || n > MAX) || size.iter().fold(1, |all: u64, n| all.saturating_mul(*n)) > MAX {
            let [x, y, z] = size;
            return Err(Error::invalid(format!(
                "the workgroup size is {x} x {y} x {z}, expected 1 to {MAX} in each dimension and in all; check the \
                 local_size of the kernel and the values given for its specialization constants"
            )));
        }
        // At most 2^31 each.
        Ok(size.map(|n| n as u32))
    }
}

fn source(code: &ParsedModule, entry: &EntryPoint) -> Result<SizeSource> {
    let mut mode = None;
    for inst in code.globals() {
        match inst.op {
            // A module has one such constant at most, for all its entry points.
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
