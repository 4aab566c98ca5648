//! Atomic accesses to memory. All are relaxed, as C++ AMP's are.

use super::assembler::Scalar;
use super::bounds;
use super::emitter::{Emitter, Lowered};
use super::error::KernelError;
use super::memory::{self, Address};
use crate::ir::{AtomicOp, Operand, Type};
use rspirv::dr;
use rspirv::spirv::{self, Capability, Op as S, StorageClass, Word};

impl Emitter<'_> {
    /// The pointer, the scope and the semantics of an atomic access to integers.
    fn atomic_place(&mut self, at: Address, size: u64) -> Lowered<(Word, Word, Word)> {
        if size != 4 && size != 8 {
            return Err(KernelError::new(format!("an atomic access of {size} bytes; a kernel has those of 4 and 8")));
        }
        if size == 8 {
            self.asm.need(Capability::Int64Atomics);
        }
        let scalar = Scalar::unsigned(size);
        let none = self.asm.constant(Scalar::U32, 0);
        Ok(match at {
            Address::Device(at) => {
                let device = self.asm.constant(Scalar::U32, spirv::Scope::Device as u64);
                (memory::device_pointer(&mut self.asm, at, scalar), device, none)
            }
            Address::In(group, at) => {
                if group.class != StorageClass::Workgroup {
                    return Err(KernelError::new("an atomic access to a local variable".into()));
                }
                if group.element != scalar {
                    return Err(KernelError::new(
                        "an atomic access to tile_static memory that is also used in parts, or as another type".into(),
                    ));
                }
                let tile = self.asm.constant(Scalar::U32, spirv::Scope::Workgroup as u64);
                (memory::element_pointer(&mut self.asm, group, at, 0), tile, none)
            }
        })
    }

    pub(super) fn atomic_load(&mut self, from: Address, ty: &Type) -> Lowered<Word> {
        let kind = self.kind(ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let (pointer, scope, semantics) = self.atomic_place(from, kind.register().size())?;
        let raw = self.asm.make(S::AtomicLoad, integer, &[pointer, scope, semantics]);
        Ok(memory::recast(&mut self.asm, raw, integer, kind.register()))
    }

    pub(super) fn atomic_store(&mut self, to: Address, value: &Operand) -> Lowered<()> {
        let kind = self.kind(&value.ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let word = self.word(value)?;
        let raw = memory::recast(&mut self.asm, word, kind.register(), integer);
        let (pointer, scope, semantics) = self.atomic_place(to, kind.register().size())?;
        let operands = [pointer, scope, semantics, raw].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::AtomicStore, None, None, operands));
        Ok(())
    }

    pub(super) fn atomic(&mut self, op: AtomicOp, pointer: &Operand, value: &Operand) -> Lowered<Word> {
        let kind = self.kind(&value.ty)?;
        let register = kind.register();
        let access = self.access(pointer, 0, register.size(), bounds::UPDATES)?;
        let word = self.word(value)?;
        let op = match op {
            AtomicOp::Xchg => S::AtomicExchange,
            AtomicOp::Add => S::AtomicIAdd,
            AtomicOp::Sub => S::AtomicISub,
            AtomicOp::And => S::AtomicAnd,
            AtomicOp::Or => S::AtomicOr,
            AtomicOp::Xor => S::AtomicXor,
            AtomicOp::Max => S::AtomicSMax,
            AtomicOp::Min => S::AtomicSMin,
            AtomicOp::UMax => S::AtomicUMax,
            AtomicOp::UMin => S::AtomicUMin,
            AtomicOp::Nand | AtomicOp::FAdd | AtomicOp::FSub | AtomicOp::FMax | AtomicOp::FMin => {
                return Err(KernelError::new(
                    "this atomic operation has no form that every device knows: write a loop around \
                     atomic_compare_exchange"
                        .into(),
                ));
            }
        };
        let integer = Scalar::unsigned(register.size());
        let raw = memory::recast(&mut self.asm, word, register, integer);
        let old = self.guarded(access, &[integer], |e, at| {
            let (pointer, scope, semantics) = e.atomic_place(at, register.size())?;
            Ok(vec![e.asm.make(op, integer, &[pointer, scope, semantics, raw])])
        })?;
        let &[old] = old.as_slice() else { return Err(self.internal("an atomic operation")) };
        Ok(memory::recast(&mut self.asm, old, integer, register))
    }

    pub(super) fn exchange(&mut self, pointer: &Operand, expected: &Operand, new: &Operand) -> Lowered<Vec<Word>> {
        let kind = self.kind(&new.ty)?;
        let register = kind.register();
        let integer = Scalar::unsigned(register.size());
        let access = self.access(pointer, 0, register.size(), bounds::UPDATES)?;
        let (expected, new) = (self.word(expected)?, self.word(new)?);
        let expected = memory::recast(&mut self.asm, expected, register, integer);
        let new = memory::recast(&mut self.asm, new, register, integer);
        let old = self.guarded(access, &[integer], |e, at| {
            let (pointer, scope, semantics) = e.atomic_place(at, register.size())?;
            let operands = [pointer, scope, semantics, semantics, new, expected];
            Ok(vec![e.asm.make(S::AtomicCompareExchange, integer, &operands)])
        })?;
        let &[old] = old.as_slice() else { return Err(self.internal("an atomic operation")) };
        let same = self.asm.make(S::IEqual, Scalar::Bool, &[old, expected]);
        Ok(vec![memory::recast(&mut self.asm, old, integer, register), same])
    }
}
