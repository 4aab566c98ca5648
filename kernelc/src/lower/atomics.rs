//! Atomic accesses to memory. All are relaxed, as in C++ AMP. Atomic accesses to a local variable become plain accesses: only one
//! thread sees the variable, and SPIR-V has no atomic instructions for it.

use super::assembler::Scalar;
use super::bounds;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use crate::ir::{AtomicOp, Operand, Type};
use crate::kernel_error::KernelError;
use rspirv::dr;
use rspirv::spirv::{self, Capability, Op as S, StorageClass, Word};

impl Emitter<'_> {
    /// The pointer, the scope and the semantics of an atomic access to integers.
    fn atomic_operands(&mut self, at: Address, size: u64) -> Lowered<(Word, Word, Word)> {
        if size != 4 && size != 8 {
            return Err(KernelError::new(format!(
                "an atomic operation on {size} bytes is not supported: kernels support only 4 and 8 bytes; use int or \
                 unsigned elements"
            )));
        }
        if size == 8 {
            self.asm.need(Capability::Int64Atomics);
        }
        let scalar = Scalar::unsigned(size);
        let relaxed = self.asm.constant(Scalar::U32, 0);
        Ok(match at {
            Address::Device(at) => {
                let device = self.asm.constant(Scalar::U32, spirv::Scope::Device as u64);
                (memory::device_pointer(&mut self.asm, at, scalar), device, relaxed)
            }
            Address::In(group, at) => {
                if group.element != scalar {
                    return Err(KernelError::new(
                        "the kernel uses an atomic operation on a tile_static variable that is also accessed in parts \
                         or as another type: use a separate variable for the atomic operation"
                            .into(),
                    ));
                }
                let tile = self.asm.constant(Scalar::U32, spirv::Scope::Workgroup as u64);
                (memory::element_pointer(&mut self.asm, group, at, 0), tile, relaxed)
            }
        })
    }

    /// A pointer to an integer in a local variable; `None` for other memory.
    fn local_pointer(&mut self, at: Address, size: u64) -> Lowered<Option<Word>> {
        match at {
            Address::In(group, at) if group.class != StorageClass::Workgroup => {
                if group.element != Scalar::unsigned(size) {
                    return Err(KernelError::new(
                        "the kernel uses an atomic operation on a local variable that is also accessed in parts or as \
                         another type: use a separate variable for the atomic operation"
                            .into(),
                    ));
                }
                Ok(Some(memory::element_pointer(&mut self.asm, group, at, 0)))
            }
            _ => Ok(None),
        }
    }

    fn store_word(&mut self, to: Word, value: Word) {
        let operands = [to, value].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::Store, None, None, operands));
    }

    pub(super) fn atomic_load(&mut self, from: Address, ty: &Type) -> Lowered<Word> {
        let kind = self.kind(ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let raw = match self.local_pointer(from, integer.size())? {
            Some(local) => self.asm.make(S::Load, integer, &[local]),
            None => {
                let (pointer, scope, semantics) = self.atomic_operands(from, integer.size())?;
                self.asm.make(S::AtomicLoad, integer, &[pointer, scope, semantics])
            }
        };
        Ok(memory::recast(&mut self.asm, raw, integer, kind.register()))
    }

    pub(super) fn atomic_store(&mut self, to: Address, value: &Operand) -> Lowered<()> {
        let kind = self.kind(&value.ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let word = self.word(value)?;
        let raw = memory::recast(&mut self.asm, word, kind.register(), integer);
        if let Some(local) = self.local_pointer(to, integer.size())? {
            self.store_word(local, raw);
            return Ok(());
        }
        let (pointer, scope, semantics) = self.atomic_operands(to, integer.size())?;
        let operands = [pointer, scope, semantics, raw].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::AtomicStore, None, None, operands));
        Ok(())
    }

    pub(super) fn atomic(&mut self, op: AtomicOp, pointer: &Operand, value: &Operand) -> Lowered<Word> {
        let kind = self.kind(&value.ty)?;
        let register = kind.register();
        let access = self.access(pointer, 0, register.size(), register.size(), bounds::UPDATES)?;
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
                    "not every device supports this atomic operation: write a loop around atomic_compare_exchange"
                        .into(),
                ));
            }
        };
        let integer = Scalar::unsigned(register.size());
        let raw = memory::recast(&mut self.asm, word, register, integer);
        let old = self.guarded(access, &[integer], |e, at| {
            if let Some(local) = e.local_pointer(at, register.size())? {
                let old = e.asm.make(S::Load, integer, &[local]);
                let new = e.new_value(op, integer, old, raw);
                e.store_word(local, new);
                return Ok(vec![old]);
            }
            let (pointer, scope, semantics) = e.atomic_operands(at, register.size())?;
            Ok(vec![e.asm.make(op, integer, &[pointer, scope, semantics, raw])])
        })?;
        let &[old] = old.as_slice() else {
            return Err(self.internal("an atomic operation has several results, but must have one"));
        };
        Ok(memory::recast(&mut self.asm, old, integer, register))
    }

    /// Computes the new value for an atomic operation on a local variable, without atomic instructions.
    fn new_value(&mut self, atomic: S, integer: Scalar, old: Word, operand: Word) -> Word {
        let (op, selects) = match atomic {
            S::AtomicExchange => return operand,
            S::AtomicIAdd => (S::IAdd, false),
            S::AtomicISub => (S::ISub, false),
            S::AtomicAnd => (S::BitwiseAnd, false),
            S::AtomicOr => (S::BitwiseOr, false),
            S::AtomicXor => (S::BitwiseXor, false),
            S::AtomicSMax => (S::SGreaterThan, true),
            S::AtomicSMin => (S::SLessThan, true),
            S::AtomicUMax => (S::UGreaterThan, true),
            _ => (S::ULessThan, true),
        };
        if !selects {
            return self.asm.make(op, integer, &[old, operand]);
        }
        let keeps_old = self.asm.make(op, Scalar::Bool, &[old, operand]);
        self.asm.make(S::Select, integer, &[keeps_old, old, operand])
    }

    pub(super) fn compare_exchange(
        &mut self,
        pointer: &Operand,
        expected: &Operand,
        new: &Operand,
    ) -> Lowered<Vec<Word>> {
        let kind = self.kind(&new.ty)?;
        let register = kind.register();
        let integer = Scalar::unsigned(register.size());
        let access = self.access(pointer, 0, register.size(), register.size(), bounds::UPDATES)?;
        let (expected, new) = (self.word(expected)?, self.word(new)?);
        let expected = memory::recast(&mut self.asm, expected, register, integer);
        let new = memory::recast(&mut self.asm, new, register, integer);
        let old = self.guarded(access, &[integer], |e, at| {
            if let Some(local) = e.local_pointer(at, register.size())? {
                let old = e.asm.make(S::Load, integer, &[local]);
                let same = e.asm.make(S::IEqual, Scalar::Bool, &[old, expected]);
                let stored = e.asm.make(S::Select, integer, &[same, new, old]);
                e.store_word(local, stored);
                return Ok(vec![old]);
            }
            let (pointer, scope, semantics) = e.atomic_operands(at, register.size())?;
            let operands = [pointer, scope, semantics, semantics, new, expected];
            Ok(vec![e.asm.make(S::AtomicCompareExchange, integer, &operands)])
        })?;
        let &[old] = old.as_slice() else {
            return Err(self.internal("an atomic operation has several results, but must have one"));
        };
        let same = self.asm.make(S::IEqual, Scalar::Bool, &[old, expected]);
        Ok(vec![memory::recast(&mut self.asm, old, integer, register), same])
    }
}
