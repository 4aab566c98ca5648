//! Addresses as a captured pointer and an offset of 32 bits, for devices that address memory so (`OfDevice::NarrowOffsets`).
//!
//! A captured pointer is the lowest address of its array or view, and no memory of such a device has 4 GiB. So the sum of all steps from the
//! captured pointer to an element is below 2^32, and arithmetic of 32 bits gives it exactly, whatever the partial sums are. An
//! address that is not accessed may lie outside of the memory; only accesses use this form.

use super::addresses::Steps;
use super::assembler::Scalar;
use super::capture_uses::Origin;
use super::emitter::{Emitter, Lowered};
use super::integers;
use super::pointer_sets::PointerClass;
use crate::bounds_option::Bounds;
use crate::ir::{BinaryOp, CastOp, Constant, LocalId, Op, Operand, Type, Value};
use revamp_image::OfDevice;
use rspirv::spirv::{Op as S, Word};

/// How many operations the search of an index for its terms goes through.
const MAX_DEPTH: u32 = 4;

impl Emitter<'_> {
    /// To call when the address arithmetic `steps` after `base` made the pointer `result` with the value `wide`.
    pub(super) fn note_offset(&mut self, result: LocalId, base: &Operand, steps: &Steps, wide: Word) -> Lowered<()> {
        // Checks compare whole offsets.
        if self.options.bounds != Bounds::Off || self.pointers.class_of(result) != PointerClass::Device {
            return Ok(());
        }
        let Some((start, before)) = self.start_and_offset(base)? else { return Ok(()) };
        let mut offset = before;
        for (index, by) in &steps.by {
            let low = self.low_half(index, MAX_DEPTH)?;
            let step = integers::times(&mut self.asm, Scalar::U32, low, *by);
            offset = Some(self.sum(offset, step));
        }
        if steps.offset != 0 {
            let by = self.asm.constant(Scalar::U32, steps.offset as u64 & 0xffff_ffff);
            offset = Some(self.sum(offset, by));
        }
        let Some(offset) = offset else { return Ok(()) };
        self.narrow_addresses.made.insert(result, (start, offset));
        if self.narrow_addresses.accessed.contains(&result) {
            let far = self.asm.make(S::UConvert, Scalar::U64, &[offset]);
            let near = self.asm.make(S::IAdd, Scalar::U64, &[start, far]);
            let narrow = self.asm.of_device(OfDevice::NarrowOffsets as u32);
            let address = self.asm.make(S::Select, Scalar::U64, &[narrow, near, wide]);
            self.narrow_addresses.addresses.insert(result, address);
        }
        Ok(())
    }

    fn sum(&mut self, a: Option<Word>, b: Word) -> Word {
        a.map_or(b, |a| self.asm.make(S::IAdd, Scalar::U32, &[a, b]))
    }

    /// The captured pointer that `base` is or was made from, and the offset from there; `None` if that is not known.
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
