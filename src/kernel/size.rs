//! The workgroup size: where it is written and what it is with given specialization constants.

use super::code::{Code, Inst};
use super::reach::Entry;
use super::values::{self, Overrides};
use crate::error::{Error, Result};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

/// The largest size that is believed, per dimension and in all.
const MAX: u64 = 1 << 31;

/// Where the workgroup size is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// Numbers in the execution mode.
    Literal([u32; 3]),
    /// Three constants in the execution mode (LocalSizeId).
    Ids([u32; 3]),
    /// The composite constant decorated WorkgroupSize; it rules over the others.
    BuiltIn(u32),
}

/// The size, and the constants it takes to know it.
pub(super) struct Rule {
    /// Where it is written.
    pub(super) source: Source,
    depends_on: Vec<usize>,
}

impl Rule {
    /// Finds where the size of `entry` is written.
    pub(super) fn find(code: &Code, entry: &Entry) -> Result<Self> {
        let source = source(code, entry)?;
        let depends_on = match source {
            Source::Literal(_) => Vec::new(),
            Source::Ids(ids) => values::dependencies(code, &ids),
            Source::BuiltIn(id) => values::dependencies(code, &[id]),
        };
        Ok(Self { source, depends_on })
    }

    /// True if some specialization constant changes it.
    pub(super) fn is_specialized(&self, code: &Code) -> bool {
        self.depends_on.iter().any(|&at| values::spec_id(code, code.inst(at)).is_some())
    }

    /// The size with `given`.
    pub(super) fn evaluate(&self, code: &Code, given: &Overrides) -> Result<[u32; 3]> {
        let values = values::evaluate(code, self.depends_on.iter().map(|&at| code.inst(at)), given)?;
        let one = |id| values::integer(&values, id);
        let size = match self.source {
            Source::Literal(size) => Some(size.map(u64::from)),
            Source::Ids([x, y, z]) => one(x).and_then(|x| Some([x, one(y)?, one(z)?])),
            Source::BuiltIn(id) => values::integers3(&values, id),
        };
        let Some(size) = size else {
            let what = values::unknown(code, &self.depends_on, &values);
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

fn source(code: &Code, entry: &Entry) -> Result<Source> {
    let mut mode = None;
    for inst in code.globals() {
        match inst.op {
            // One module has one such constant, for all its entry points.
            Some(Op::ConstantComposite | Op::SpecConstantComposite | Op::SpecConstantOp) => {
                if let Some(id) = inst
                    .result()
                    .filter(|&id| code.literal(id, Decoration::BuiltIn) == Some(BuiltIn::WorkgroupSize as u32))
                {
                    return Ok(Source::BuiltIn(id));
                }
            }
            Some(Op::ExecutionMode) if is_mode(inst, entry, ExecutionMode::LocalSize) => {
                mode = mode.or(Some(Source::Literal([inst.word(3), inst.word(4), inst.word(5)])));
            }
            Some(Op::ExecutionModeId) if is_mode(inst, entry, ExecutionMode::LocalSizeId) => {
                mode = mode.or(Some(Source::Ids([inst.word(3), inst.word(4), inst.word(5)])));
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

fn is_mode(inst: Inst<'_>, entry: &Entry, mode: ExecutionMode) -> bool {
    inst.word(1) == entry.function && inst.word(2) == mode as u32 && inst.words.len() >= 6
}
