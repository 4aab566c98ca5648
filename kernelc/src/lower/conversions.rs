//! Conversions between types.

use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::integers;
use super::memory::{self, Address};
use super::pointer_sets::PointerClass;
use super::scalars::{Leaf, ScalarKind};
use crate::ir::{CastOp, LocalId, Operand, Type};
use crate::kernel_error::KernelError;
use rspirv::spirv::{Op as S, Word};

impl Emitter<'_> {
    pub(super) fn cast(
        &mut self,
        op: CastOp,
        value: &Operand,
        to: &Type,
        result: Option<LocalId>,
    ) -> Lowered<Vec<Word>> {
        let from = self.leaves(&value.ty)?;
        let into = self.leaves(to)?;
        let words = self.words(value)?;
        if op == CastOp::BitCast && (from.len() != into.len() || from.len() > 1) {
            return self.bitcast(&from, &words, &into);
        }
        let mut all = Vec::new();
        for ((from, to), word) in from.iter().zip(&into).zip(words) {
            let made = self.cast_one(op, from.kind, to.kind, word, value, result)?;
            if matches!((op, from.kind), (CastOp::UiToFp | CastOp::SiToFp, ScalarKind::Int(..=32))) {
                self.asm.note_converted_integer(made);
            }
            all.push(made);
        }
        Ok(all)
    }

    fn cast_one(
        &mut self,
        op: CastOp,
        from: ScalarKind,
        to: ScalarKind,
        word: Word,
        value: &Operand,
        result: Option<LocalId>,
    ) -> Lowered<Word> {
        let asm = &mut self.asm;
        Ok(match (op, from, to) {
            (CastOp::Trunc, ScalarKind::Int(from), ScalarKind::Int(to)) => integers::truncate(asm, word, from, to),
            (CastOp::ZExt, ScalarKind::Int(from), ScalarKind::Int(to)) => integers::zero_extend(asm, word, from, to),
            (CastOp::SExt, ScalarKind::Int(from), ScalarKind::Int(to)) => integers::sign_extend(asm, word, from, to),
            (CastOp::FpTrunc | CastOp::FpExt, from, to) => {
                let word = if from == ScalarKind::Double { asm.hide_conversion(word) } else { word };
                asm.make(S::FConvert, to.register(), &[word])
            }
            (CastOp::FpToUi, _, ScalarKind::Int(bits)) => {
                let container = integers::container(bits);
                let wide = asm.make(S::ConvertFToU, container, &[word]);
                integers::truncate(asm, wide, container.size() as u32 * 8, bits)
            }
            (CastOp::FpToSi, _, ScalarKind::Int(bits)) => {
                let container = integers::container(bits);
                let wide = asm.make(S::ConvertFToS, container, &[word]);
                integers::truncate(asm, wide, container.size() as u32 * 8, bits)
            }
            (CastOp::UiToFp, ScalarKind::Int(bits), to) => {
                let whole = integers::zero_extend(asm, word, bits, bits.max(32));
                asm.make(S::ConvertUToF, to.register(), &[whole])
            }
            (CastOp::SiToFp, ScalarKind::Int(bits), to) => {
                let whole = integers::signed(asm, word, bits);
                asm.make(S::ConvertSToF, to.register(), &[whole])
            }
            (CastOp::PtrToInt | CastOp::PtrToAddr, _, ScalarKind::Int(bits)) => match self.address(value)? {
                Address::Device(at) => integers::truncate(&mut self.asm, at, 64, bits),
                // The byte offset in the group. Differences of such offsets are correct, and LLVM uses them to compute trip counts.
                Address::In(group, at) => {
                    let bytes = integers::times(&mut self.asm, Scalar::U32, at, group.unit);
                    if bits > 32 {
                        integers::zero_extend(&mut self.asm, bytes, 32, bits)
                    } else {
                        integers::truncate(&mut self.asm, bytes, 32, bits)
                    }
                }
            },
            (CastOp::IntToPtr, ScalarKind::Int(bits), _) => {
                if let Some(PointerClass::Group(_)) = result.map(|r| self.pointers.class_of(r)) {
                    return Err(KernelError::new(
                        "a number is cast to a pointer to a tile_static or local variable, but such variables have no \
                         addresses in kernels: use an index instead"
                            .into(),
                    ));
                }
                integers::zero_extend(&mut self.asm, word, bits, 64)
            }
            (CastOp::AddrSpaceCast, ..) => word,
            (CastOp::BitCast, from, to) => memory::recast(asm, word, from.register(), to.register()),
            _ => return Err(self.internal("a conversion has an unknown opcode, or operands of unexpected types")),
        })
    }

    /// Lowers a bit cast between vectors and scalars.
    fn bitcast(&mut self, from: &[Leaf], words: &[Word], to: &[Leaf]) -> Lowered<Vec<Word>> {
        // The cast goes through 32-bit words, the lowest first. Elements of 8 or 16 bits are rare and are refused.
        let mut low = Vec::new();
        for (leaf, &word) in from.iter().zip(words) {
            let scalar = leaf.kind.register();
            match (leaf.kind, scalar.size()) {
                (ScalarKind::Int(32) | ScalarKind::Float, _) => {
                    low.push(memory::recast(&mut self.asm, word, scalar, Scalar::U32))
                }
                (ScalarKind::Int(64) | ScalarKind::Double, _) => {
                    let pair = self.asm.vector(Scalar::U32, 2);
                    let pair = self.asm.op(S::Bitcast, pair, &[word]);
                    for n in 0..2 {
                        low.push(self.component(pair, n));
                    }
                }
                _ => {
                    return Err(KernelError::new(
                        "a cast of a vector of 8- or 16-bit numbers is not supported in kernels: cast its components"
                            .into(),
                    ));
                }
            }
        }
        let mut all = Vec::new();
        let mut next = low.into_iter();
        for leaf in to {
            let scalar = leaf.kind.register();
            let mut take = || {
                next.next().ok_or_else(|| {
                    KernelError::new(
                        "internal: the operand of a bitcast has too few components; please report this with the source"
                            .into(),
                    )
                })
            };
            match leaf.kind {
                ScalarKind::Int(32) | ScalarKind::Float => {
                    let word = take()?;
                    all.push(memory::recast(&mut self.asm, word, Scalar::U32, scalar));
                }
                ScalarKind::Int(64) | ScalarKind::Double => {
                    let (a, b) = (take()?, take()?);
                    let pair = self.asm.vector(Scalar::U32, 2);
                    let pair = self.asm.op(S::CompositeConstruct, pair, &[a, b]);
                    all.push(self.asm.make(S::Bitcast, scalar, &[pair]));
                }
                _ => {
                    return Err(KernelError::new(
                        "a cast of a vector of 8- or 16-bit numbers is not supported in kernels: cast its components"
                            .into(),
                    ));
                }
            }
        }
        Ok(all)
    }
}
