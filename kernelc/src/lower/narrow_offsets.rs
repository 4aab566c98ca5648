//! Computes addresses as a captured pointer plus a 32-bit offset (narrow addresses), for devices with this addressing mode
//! (`DeviceProperty::NarrowOffsets`).
//!
//! A captured pointer is the lowest address of its array or view, and all memory of such a device is smaller than 4 GiB. So the sum of all
//! steps from the captured pointer to an element is below 2^32. 32-bit arithmetic gives this sum exactly, even if partial sums wrap around.
//! A pointer that is not used for an access may lie outside of the memory, so only accesses use narrow addresses.

use super::addresses::Steps;
use super::assembler::Scalar;
use super::capture_uses::Origin;
use super::emitter::{Emitter, Lowered};
use super::integers;
use super::offset_parts::{OffsetParts, Term};
use super::pointer_sets::PointerClass;
use crate::bounds_option::Bounds;
use crate::ir::{BinaryOp, CastOp, Constant, LocalId, Op, Operand, Type, Value};
use revamp_image::DeviceProperty;
use rspirv::spirv::{Op as S, Word};

/// The maximum depth of operations that `low_half` follows in an index.
const MAX_DEPTH: u32 = 4;

impl Emitter<'_> {
    /// Records the offset of the pointer `result` from the captured pointer. The address arithmetic `steps` computes `result` from `base`.
    /// `wide`: the 64-bit value of `result`.
    pub(super) fn note_offset(&mut self, result: LocalId, base: &Operand, steps: &Steps, wide: Word) -> Lowered<()> {
        if !self.has_offset(result) {
            return Ok(());
        }
        let Some((start, base_offset)) = self.start_and_offset(base)? else { return Ok(()) };
        self.note_parts(result, base, base_offset.is_none(), steps);
        let mut offset = base_offset;
        for (index, by) in &steps.by {
            let low = self.low_half(index, MAX_DEPTH)?;
            let step = integers::times(&mut self.asm, Scalar::U32, low, *by);
            offset = Some(self.sum(offset, step));
        }
        if steps.offset != 0 || offset.is_none() {
            let by = self.asm.constant(Scalar::U32, steps.offset as u64 & 0xffff_ffff);
            offset = Some(self.sum(offset, by));
        }
        let Some(offset) = offset else { return Ok(()) };
        self.narrow_addresses.made.insert(result, (start, offset));
        if self.narrow_addresses.accessed_pointers.contains(&result) {
            let narrow_sum = match self.sum_of_parts(result, start)? {
                Some(sum) => sum,
                None => self.near_address(result, base, steps, (start, offset)),
            };
            let address = self.select_address(narrow_sum, wide);
            self.narrow_addresses.narrow_sum.insert(result, narrow_sum);
            self.narrow_addresses.addresses.insert(result, address);
        }
        Ok(())
    }

    /// True if accesses through a pointer may use a narrow address. Bounds checks need the 64-bit offset.
    fn has_offset(&self, pointer: LocalId) -> bool {
        self.options.bounds == Bounds::Off && self.pointers.class_of(pointer) == PointerClass::Device
    }

    /// Records the parts of the offset of `result`, if none of them is negative.
    fn note_parts(&mut self, result: LocalId, base: &Operand, base_is_captured: bool, steps: &Steps) {
        let Some(counters) = &self.narrow_addresses.counters else { return };
        let (none, parts) = (OffsetParts::default(), &self.narrow_addresses.parts);
        let base_parts =
            if base_is_captured { Some(&none) } else { base.value.local().and_then(|base| parts.get(&base)) };
        if let Some(parts) = base_parts.and_then(|parts| parts.plus(counters, steps)) {
            self.narrow_addresses.parts.insert(result, parts);
        }
    }

    /// The narrow address of `result` as a sum of parts, one of which becomes constant when the driver unrolls loops. `None` if there is no
    /// such part.
    fn sum_of_parts(&mut self, result: LocalId, start: Word) -> Lowered<Option<Word>> {
        let Some(OffsetParts { counted, others, constant }) = self.narrow_addresses.parts.get(&result).cloned() else {
            return Ok(None);
        };
        let (Some(counted), Some(others)) = (self.sum_of_terms(&counted)?, self.sum_of_terms(&others)?) else {
            return Ok(None);
        };
        let mut sum = self.narrow_sum((start, others));
        sum = self.narrow_sum((sum, counted));
        if constant != 0 {
            let by = self.asm.constant(Scalar::U64, constant);
            sum = self.asm.make(S::IAdd, Scalar::U64, &[sum, by]);
        }
        Ok(Some(sum))
    }

    fn sum_of_terms(&mut self, terms: &[Term]) -> Lowered<Option<Word>> {
        let mut sum = None;
        for Term { value, bytes } in terms {
            let word = self.word(value)?;
            let step = integers::times(&mut self.asm, Scalar::U32, word, *bytes);
            sum = Some(self.sum(sum, step));
        }
        Ok(sum)
    }

    /// The narrow address of `result`, which is the sum of `parts` unless the block has an anchor.
    ///
    /// The anchor is another address that the block accesses, at a constant distance from `result`. The anchor lies within the memory
    /// because it is accessed. The address of `result` is then the 64-bit address of the anchor plus the constant, which drivers fold into
    /// the access.
    fn near_address(&mut self, result: LocalId, base: &Operand, steps: &Steps, parts: (Word, Word)) -> Word {
        let (block, _) = self.place;
        let Some(base) = base.value.local().filter(|_| steps.by.is_empty()) else { return self.narrow_sum(parts) };
        let of_base = self.narrow_addresses.made.get(&base).copied();
        let anchor = match (self.narrow_addresses.anchors.get(&(base, block)), of_base) {
            (Some(&anchor), _) => Some(anchor),
            (None, Some(parts)) if self.narrow_addresses.accessed.contains(&(base, block)) => {
                let narrow_sum = self.narrow_addresses.narrow_sum.get(&base).copied();
                Some((narrow_sum.unwrap_or_else(|| self.narrow_sum(parts)), 0))
            }
            _ => None,
        };
        let (narrow_sum, at) = match anchor {
            Some((narrow_sum, at)) => {
                let by = self.asm.constant(Scalar::U64, steps.offset.wrapping_sub(at) as u64);
                return self.asm.make(S::IAdd, Scalar::U64, &[narrow_sum, by]);
            }
            None => (self.narrow_sum(parts), steps.offset),
        };
        if self.narrow_addresses.accessed.contains(&(result, block)) {
            self.narrow_addresses.anchors.insert((base, block), (narrow_sum, at));
        }
        narrow_sum
    }

    /// Adds the zero-extended offset to the captured pointer `start`.
    fn narrow_sum(&mut self, (start, offset): (Word, Word)) -> Word {
        let wide_offset = self.asm.make(S::UConvert, Scalar::U64, &[offset]);
        self.asm.make(S::IAdd, Scalar::U64, &[start, wide_offset])
    }

    /// Selects the narrow address on devices with `DeviceProperty::NarrowOffsets`, and the 64-bit value of the pointer on others.
    fn select_address(&mut self, narrow_sum: Word, wide: Word) -> Word {
        let narrow = self.asm.device_property(DeviceProperty::NarrowOffsets as u32);
        self.asm.make(S::Select, Scalar::U64, &[narrow, narrow_sum, wide])
    }

    /// The address that accesses through a pointer use; `None` if they use the pointer's 64-bit value.
    pub(super) fn narrow_address(&mut self, pointer: &Operand) -> Option<Word> {
        let local = pointer.value.local()?;
        if let Some(&known) = self.narrow_addresses.addresses.get(&local) {
            return Some(known);
        }
        let parts = *self.narrow_addresses.made.get(&local).filter(|_| self.narrow_addresses.is_phi(local))?;
        let wide = *self.values.get(&local)?.first()?;
        let narrow_sum = self.narrow_sum(parts);
        Some(self.select_address(narrow_sum, wide))
    }

    /// The captured pointer from which the phi `local` is derived, if there is exactly one.
    pub(super) fn start_of_phi(&self, local: LocalId) -> Option<Word> {
        let start = self.narrow_addresses.starts.get(&local).filter(|_| self.has_offset(local))?;
        self.values.get(start)?.first().copied()
    }

    /// The offset of `value` from its captured pointer. `value` is an incoming value of a phi that is derived from a
    /// single captured pointer.
    pub(super) fn offset_of(&mut self, value: &Value) -> Option<Word> {
        let local = value.local()?;
        let known = self.narrow_addresses.made.get(&local).map(|&(_, offset)| offset);
        let zero = self.asm.constant(Scalar::U32, 0);
        known.or_else(|| (self.narrow_addresses.starts.get(&local) == Some(&local)).then_some(zero))
    }

    fn sum(&mut self, a: Option<Word>, b: Word) -> Word {
        a.map_or(b, |a| self.asm.make(S::IAdd, Scalar::U32, &[a, b]))
    }

    /// The captured pointer from which `base` is derived, and the offset from it. The inner `None`: `base` is the captured pointer itself.
    /// Returns `None` if the captured pointer is not known.
    fn start_and_offset(&mut self, base: &Operand) -> Lowered<Option<(Word, Option<Word>)>> {
        let Some(local) = base.value.local() else { return Ok(None) };
        if let Some(&(start, offset)) = self.narrow_addresses.made.get(&local) {
            return Ok(Some((start, Some(offset))));
        }
        let is_load = self.narrow_addresses.definitions[local.0].is_some_and(|made| matches!(made.op, Op::Load { .. }));
        let origins = self.pointers.origins_of(local);
        if !is_load || origins.is_empty() || !origins.iter().all(|origin| matches!(origin, Origin::Capture(..))) {
            return Ok(None);
        }
        Ok(Some((self.word(base)?, None)))
    }

    /// The lower 32 bits of an index that is sign-extended to 64 bits.
    fn low_half(&mut self, index: &Operand, depth: u32) -> Lowered<Word> {
        if index.ty == Type::Int(32) {
            return self.word(index);
        }
        if index.ty == Type::Int(64) {
            match index.value.local().and_then(|local| self.narrow_addresses.definitions[local.0]).map(|made| &made.op)
            {
                Some(Op::Cast { op: CastOp::SExt | CastOp::ZExt, value, .. }) if value.ty == Type::Int(32) => {
                    return self.word(value);
                }
                Some(Op::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), left, right, .. })
                    if depth > 0 =>
                {
                    let [a, b] = [self.low_half(left, depth - 1)?, self.low_half(right, depth - 1)?];
                    return integers::binary(&mut self.asm, *op, 32, a, b);
                }
                Some(Op::Binary { op: BinaryOp::Shl, left, right, .. }) if depth > 0 => {
                    if let Value::Constant(Constant::Int(by @ 0..=31)) = right.value {
                        let low = self.low_half(left, depth - 1)?;
                        return Ok(integers::times(&mut self.asm, Scalar::U32, low, 1 << by));
                    }
                }
                _ => {}
            }
            if let Value::Constant(Constant::Int(bits)) = index.value {
                return Ok(self.asm.constant(Scalar::U32, bits as u64 & 0xffff_ffff));
            }
        }
        let whole = self.index(index)?;
        Ok(self.asm.make(S::UConvert, Scalar::U32, &[whole]))
    }
}
