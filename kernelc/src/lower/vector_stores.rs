//! Emits vector stores in place of the stores that `store_groups` found.

use super::assembler::{Assembler, Scalar};
use super::bounds;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use super::scalars::aligned_at;
use super::store_groups::{StoreGroup, StoredScalar};
use crate::ir::{Op, Operand};
use revamp_image::DeviceProperty;
use rspirv::dr;
use rspirv::spirv::{self, Op as S, StorageClass, Word};

/// An evaluated store of a group.
struct Evaluated<'m> {
    value: &'m Operand,
    align: u64,
    to: Address,
    words: Vec<Word>,
}

impl<'m> Emitter<'m> {
    /// Emits both forms of a group, and the test of the base.
    pub(super) fn store_group(&mut self, group: &StoreGroup) -> Lowered<()> {
        let instructions = &self.function.blocks[self.place.0].instructions;
        let mut stores = Vec::new();
        for &at in &group.stores {
            if let Op::Store { value, pointer, align, .. } = &instructions[at].op {
                let to = self.access(pointer, 0, 0, *align, bounds::WRITES)?.at;
                stores.push(Evaluated { value, align: *align, to, words: self.words(value)? });
            }
        }
        let is_aligned = self.is_aligned(group)?;
        let (yes, no, merge) = (self.asm.id(), self.asm.id(), self.asm.id());
        self.selection(is_aligned, [yes, no], merge);
        self.begin_block(yes);
        for piece in &group.pieces {
            self.store_piece(&stores, piece)?;
        }
        self.branch(S::Branch, &[merge]);
        self.begin_block(no);
        for Evaluated { value, align, to, .. } in stores {
            self.store(to, value, align, false)?;
        }
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        Ok(())
    }

    /// True if the device prefers vector stores, and those of the group are aligned.
    fn is_aligned(&mut self, group: &StoreGroup) -> Lowered<Word> {
        let base = match self.values.get(&group.base).map(Vec::as_slice) {
            Some(&[base]) => base,
            _ => return Err(self.internal("the base of an address was not lowered")),
        };
        let preferred = self.asm.device_property(DeviceProperty::MergesOnlyLoads as u32);
        let (mask, zero) = (self.asm.constant(Scalar::U32, group.align - 1), self.asm.constant(Scalar::U32, 0));
        let low = self.asm.make(S::UConvert, Scalar::U32, &[base]);
        let rest = self.asm.make(S::BitwiseAnd, Scalar::U32, &[low, mask]);
        let is_aligned = self.asm.make(S::IEqual, Scalar::Bool, &[rest, zero]);
        Ok(self.asm.make(S::LogicalAnd, Scalar::Bool, &[preferred, is_aligned]))
    }

    fn store_piece(&mut self, stores: &[Evaluated<'_>], piece: &[StoredScalar]) -> Lowered<()> {
        let Some(first) = piece.first() else { return Ok(()) };
        let Evaluated { align, to, words, .. } = &stores[first.store];
        let at = to.plus(&mut self.asm, first.leaf.offset);
        if piece.len() == 1 {
            let (word, align) = (words[first.number], aligned_at(*align, first.leaf.offset));
            return memory::store(&mut self.asm, at, first.leaf.kind, word, align, false)
                .ok_or_else(|| self.internal("a store has a size that SPIR-V does not support"));
        }
        let lane = Scalar::unsigned(first.size().unwrap_or(4));
        let lanes = piece.iter().map(|scalar| {
            let word = stores[scalar.store].words[scalar.number];
            memory::recast(&mut self.asm, word, scalar.leaf.kind.register(), lane)
        });
        let lanes: Vec<Word> = lanes.collect();
        vector_store(&mut self.asm, at.word(), lane, &lanes);
        Ok(())
    }
}

/// Stores scalars of one type as a vector, which is aligned to its size.
fn vector_store(asm: &mut Assembler, at: Word, lane: Scalar, lanes: &[Word]) {
    let ty = asm.vector(lane, lanes.len() as u32);
    let pointer = asm.pointer(StorageClass::PhysicalStorageBuffer, ty);
    let to = asm.op(S::ConvertUToPtr, pointer, &[at]);
    let value = asm.op(S::CompositeConstruct, ty, lanes);
    let bytes = lane.size() * lanes.len() as u64;
    let access = [dr::Operand::MemoryAccess(spirv::MemoryAccess::ALIGNED), dr::Operand::LiteralBit32(bytes as u32)];
    let operands = [to, value].map(dr::Operand::IdRef).into_iter().chain(access).collect();
    asm.push(dr::Instruction::new(S::Store, None, None, operands));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_and_load};
    use super::*;

    /// The alignments of the stores of a kernel that stores through %p, the element of `bytes` bytes of thread %i.
    fn stores(bytes: u32, lines: &str) -> Vec<u32> {
        let body = format!(
            "{LOADS}  %n = call i32 @__revamp_global_id(i32 0)
  %i = zext i32 %n to i64
  %p = getelementptr inbounds [{bytes} x i8], ptr addrspace(4) %b, i64 %i
{lines}  ret void"
        );
        let (_, module) = compile_and_load(&body);
        let stores = module.all_inst_iter().filter(|one| one.class.opcode == S::Store);
        let align = |one: &dr::Instruction| match one.operands.last() {
            Some(dr::Operand::LiteralBit32(align)) => *align,
            other => panic!("a store has {other:?} instead of an alignment"),
        };
        stores.map(align).collect()
    }

    /// Stores of 4 bytes at these offsets.
    fn words(offsets: &[i32]) -> String {
        let store = |at: &i32| {
            format!(
                "  %p{at} = getelementptr inbounds i8, ptr addrspace(4) %p, i64 {at}
  store i32 {at}, ptr addrspace(4) %p{at}, align 4
"
            )
        };
        offsets.iter().map(store).collect()
    }

    #[test]
    fn adjacent_stores_become_vectors_where_the_address_is_aligned() {
        assert_eq!(stores(16, &words(&[0, 4, 8, 12])), [16, 4, 4, 4, 4]);
        // The order of the stores does not matter.
        assert_eq!(stores(32, &words(&[12, 4, 8, 0])), [16, 4, 4, 4, 4]);
        // 12 of 16 bytes, and elements of 24 bytes.
        assert_eq!(stores(16, &words(&[0, 4, 8])), [8, 4, 4, 4, 4]);
        assert_eq!(stores(24, &words(&[0, 4, 8, 12])), [8, 8, 4, 4, 4, 4]);
        // The first vector begins in the middle of 16 bytes.
        assert_eq!(stores(16, &words(&[4, 8, 12])), [4, 8, 4, 4, 4]);
        let doubles = "  %q = getelementptr inbounds i8, ptr addrspace(4) %p, i64 8
  store double 1.0, ptr addrspace(4) %p, align 8
  store double 2.0, ptr addrspace(4) %q, align 8
";
        assert_eq!(stores(16, doubles), [16, 8, 8]);
        assert_eq!(stores(16, "  store <4 x float> zeroinitializer, ptr addrspace(4) %p, align 4\n"), [16, 4, 4, 4, 4]);
    }

    /// The alignments of the stores of a loop whose pointer advances by `step` and by `index * scale` bytes.
    fn loop_stores(start: &str, step: i32, scale: u32) -> Vec<u32> {
        let lines = format!(
            "  %p4 = getelementptr i8, ptr addrspace(4) %p, i64 4
  %p8 = getelementptr i8, ptr addrspace(4) %p, i64 8
  br label %loop
loop:
  %l = phi ptr addrspace(4) [ {start}, %entry ], [ %next, %loop ]
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  store i32 %k, ptr addrspace(4) %l, align 4
  %second = getelementptr inbounds i8, ptr addrspace(4) %l, i64 4
  store i32 %k, ptr addrspace(4) %second, align 4
  %by = mul i64 %i, {scale}
  %moved = getelementptr i8, ptr addrspace(4) %l, i64 %by
  %next = getelementptr i8, ptr addrspace(4) %moved, i64 {step}
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, 9
  br i1 %more, label %loop, label %end
end:
"
        );
        stores(16, &lines)
    }

    #[test]
    fn the_test_of_a_loop_is_about_its_first_pointer() {
        assert_eq!(loop_stores("%p", 16, 0), [8, 4, 4]);
        assert_eq!(loop_stores("%p", 0, 48), [8, 4, 4]);
        // The loop begins at byte 8 of an element, or at byte 4.
        assert_eq!(loop_stores("%p8", 16, 0), [8, 4, 4]);
        assert_eq!(loop_stores("%p4", 16, 0), [4, 4]);
        // The steps are no multiples of 8 bytes, or the first pointer is one of two.
        assert_eq!(loop_stores("%p", 4, 0), [4, 4]);
        assert_eq!(loop_stores("%p", 0, 12), [4, 4]);
    }

    #[test]
    fn other_stores_stay() {
        // Elements of 12 bytes are not aligned to 8 bytes.
        assert_eq!(stores(12, &words(&[0, 4, 8])), [4, 4, 4]);
        assert_eq!(stores(16, &words(&[0, 8])), [4, 4]);
        // Overlapping stores, whose order matters.
        let overlapping = format!("{}  store i64 7, ptr addrspace(4) %p, align 8\n", words(&[0, 4]));
        assert_eq!(stores(16, &overlapping), [4, 4, 8]);
        // A load between the stores may read what the first one wrote.
        let between = "  store i32 1, ptr addrspace(4) %p, align 4
  %v = load i32, ptr addrspace(4) %a, align 4
  %q = getelementptr inbounds i8, ptr addrspace(4) %p, i64 4
  store i32 %v, ptr addrspace(4) %q, align 4
";
        assert_eq!(stores(16, between), [4, 4]);
        let volatile = words(&[0, 4]).replace("store i32 4", "store volatile i32 4");
        assert_eq!(stores(16, &volatile), [4, 4]);
        assert_eq!(stores(16, "  store <4 x i16> zeroinitializer, ptr addrspace(4) %p, align 2\n"), [2, 2, 2, 2]);
    }
}
