//! Loads from a kernel's uniform buffer.

use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, recast};
use super::pointer_sets::PointerClass;
use super::scalars::ScalarKind;
use crate::ir::{Operand, Type};
use rspirv::spirv::{Op as S, Word};

impl Emitter<'_> {
    /// Loads through a pointer from the uniform buffer; `None` if the buffer does not contain the data.
    pub(super) fn uniform_load(&mut self, pointer: &Operand, ty: &Type) -> Lowered<Option<Vec<Word>>> {
        if self.class_of(pointer) != PointerClass::Device {
            return Ok(None);
        }
        let Some(at) = self.uniform.at(pointer, ty.size().unwrap_or(u64::MAX)) else { return Ok(None) };
        let leaves = self.leaves(ty)?;
        let is_aligned = |size: u64, at: u64| matches!(size, 1 | 2 | 4 | 8) && at % size == 0;
        if !leaves
            .iter()
            .all(|leaf| leaf.kind.memory().is_some_and(|scalar| is_aligned(scalar.size(), at + leaf.offset)))
        {
            return Ok(None);
        }
        let mut words = Vec::new();
        for leaf in leaves {
            let Some(word) = self.uniform_scalar(at + leaf.offset, leaf.kind) else { return Ok(None) };
            words.push(word);
        }
        Ok(Some(words))
    }

    /// The 64-bit number at an offset in the buffer; `None` if the buffer does not contain it.
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
