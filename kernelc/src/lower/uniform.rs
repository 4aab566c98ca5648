//! What a launch cannot change, read from a uniform buffer (`revamp_image::arguments`): the argument block and the faces of arrays
//! that are captured by reference. GPUs read those through a cache for constants, without an address; through the block's
//! address the data is three loads away, each of which waits for the one before.

use super::addresses::{Steps, steps};
use super::assembler::Scalar;
use super::checked::Bounds;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, recast};
use super::pointer_sets::PointerClass;
use super::pointers::PointerAnalysis;
use super::scalars::ScalarKind;
use crate::ir::{CastOp, Function, Instruction, LocalId, Op, Operand, Type, Value};
use revamp_image::{ANY_OFFSET, arguments, table};
use rspirv::spirv::{Op as S, Word};
use std::collections::HashMap;

/// A place that is known when the kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the block.
    Block(i64),
    /// In the face of the array whose address is at this offset of the block.
    Face(u32, i64),
}

/// Where the places of a kernel are in its uniform buffer.
#[derive(Default)]
pub(super) struct Uniform {
    places: HashMap<LocalId, Place>,
    /// By the offsets of their references.
    faces: HashMap<u32, u64>,
    block_size: u64,
    /// All bytes of the buffer; 0 if the kernel has none.
    size: u64,
}

impl Uniform {
    pub(super) fn of(function: &Function, pointers: &PointerAnalysis, block_size: u64, bounds: Bounds) -> Self {
        let behind = match bounds {
            Bounds::Off => block_size,
            _ => table::begins(block_size) + table::bytes(block_size),
        };
        let arrays = pointers.uses.keys().filter(|(offset, depth)| *depth > 0 && *offset != ANY_OFFSET);
        let faces: HashMap<u32, u64> =
            (0..).zip(arrays).map(|(n, (offset, _))| (*offset, arguments::face(behind, n))).collect();
        let size = arguments::face(behind, faces.len() as u64);
        if size > arguments::BYTES {
            return Self::default();
        }
        let mut uniform = Self { places: HashMap::new(), faces, block_size, size };
        for n in 0..function.parameters.len() {
            uniform.places.insert(LocalId(n), Place::Block(0));
        }
        while function.instructions().filter(|instruction| uniform.follow(instruction)).count() > 0 {}
        uniform
    }

    /// True if something new was found.
    fn follow(&mut self, instruction: &Instruction) -> bool {
        let Some(result) = instruction.result.filter(|result| !self.places.contains_key(result)) else { return false };
        let place = match &instruction.op {
            Op::Gep { source, base, indices, .. } => {
                let (Some(place), Some(Steps { offset, by })) = (self.place(base), steps(source, indices)) else {
                    return false;
                };
                match place {
                    _ if !by.is_empty() => return false,
                    Place::Block(at) => at.checked_add(offset).map(Place::Block),
                    Place::Face(slot, at) => at.checked_add(offset).map(|at| Place::Face(slot, at)),
                }
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } | Op::Freeze { value } => {
                self.place(value)
            }
            Op::Load { ty: Type::Pointer(_), pointer, .. } => match self.place(pointer) {
                Some(Place::Block(at)) => {
                    u32::try_from(at).ok().filter(|at| self.faces.contains_key(at)).map(|at| Place::Face(at, 0))
                }
                _ => None,
            },
            _ => None,
        };
        place.is_some_and(|place| self.places.insert(result, place).is_none())
    }

    fn place(&self, pointer: &Operand) -> Option<Place> {
        let Value::Local(local) = pointer.value else { return None };
        self.places.get(&local).copied()
    }

    /// Where in the buffer so many bytes are at a pointer.
    fn at(&self, pointer: &Operand, bytes: u64) -> Option<u64> {
        let inside = |at: i64, size: u64| {
            u64::try_from(at).ok().filter(|at| at.checked_add(bytes).is_some_and(|end| end <= size))
        };
        match self.place(pointer).filter(|_| self.size > 0)? {
            Place::Block(at) => inside(at, self.block_size),
            Place::Face(slot, at) => Some(self.faces.get(&slot)? + inside(at, arguments::FACE)?),
        }
    }
}

impl Emitter<'_> {
    /// What is loaded through a pointer, if that is in the uniform buffer.
    pub(super) fn uniform_load(&mut self, pointer: &Operand, ty: &Type) -> Lowered<Option<Vec<Word>>> {
        if self.class_of(pointer) != PointerClass::Device {
            return Ok(None);
        }
        let Some(at) = self.uniform.at(pointer, ty.size().unwrap_or(u64::MAX)) else { return Ok(None) };
        let leaves = self.leaves(ty)?;
        let whole = |size: u64, at: u64| matches!(size, 1 | 2 | 4 | 8) && at % size == 0;
        if !leaves.iter().all(|leaf| leaf.kind.memory().is_some_and(|scalar| whole(scalar.size(), at + leaf.offset))) {
            return Ok(None);
        }
        let mut words = Vec::new();
        for leaf in leaves {
            let Some(word) = self.uniform_scalar(at + leaf.offset, leaf.kind) else { return Ok(None) };
            words.push(word);
        }
        Ok(Some(words))
    }

    /// A number of 64 bits at a place in the buffer; `None` if the kernel has none.
    pub(super) fn uniform_u64(&mut self, at: u64) -> Option<Word> {
        (at + 8 <= self.uniform.size).then(|| self.uniform_scalar(at, ScalarKind::Int(64))).flatten()
    }

    fn uniform_scalar(&mut self, at: u64, kind: ScalarKind) -> Option<Word> {
        let scalar = kind.memory()?;
        let quads = self.uniform.size.div_ceil(16);
        let asm = &mut self.asm;
        if scalar.size() == 8 {
            let halves = [at, at + 4].map(|at| asm.uniform_word(quads, at));
            let pair = asm.vector(Scalar::U32, 2);
            let pair = asm.op(S::CompositeConstruct, pair, &halves);
            return Some(asm.make(S::Bitcast, scalar, &[pair]));
        }
        let word = asm.uniform_word(quads, at);
        if scalar.size() == 4 {
            return Some(recast(asm, word, Scalar::U32, scalar));
        }
        let by = asm.constant(Scalar::U32, at % 4 * 8);
        let low = asm.make(S::ShiftRightLogical, Scalar::U32, &[word, by]);
        let mask = asm.constant(Scalar::U32, (1 << (scalar.size() * 8)) - 1);
        let part = asm.make(S::BitwiseAnd, Scalar::U32, &[low, mask]);
        Some(match kind {
            ScalarKind::Int(1) => {
                let zero = asm.constant(Scalar::U32, 0);
                asm.make(S::INotEqual, Scalar::Bool, &[part, zero])
            }
            ScalarKind::Half => memory::shrink(asm, part, Scalar::F16),
            _ => part,
        })
    }
}
