//! Emits the instructions of a kernel as SPIR-V, block by block.

use super::addresses::steps;
use super::assembler::Scalar;
use super::emitter::{Emitted, Emitter, Lowered, PendingPhi, PhiLeaf};
use super::memory::{self, Address};
use super::pointer_sets::{PointerClass, is_pointer};
use super::pointers::Object;
use super::scalars::{Leaf, ScalarKind, aligned_at, leaf_range};
use super::store_groups::Fate;
use super::structured_flow::{Merge, StructuredFlow};
use super::{bounds, calls, division, integers, quotient_groups};
use crate::ir::{
    BinaryOp, BlockId, Constant, Flags, FloatPredicate, Instruction, IntPredicate, LocalId, LocationId, Op, Operand,
    Type, Value,
};
use crate::kernel_error::KernelError;
use revamp_image::DeviceProperty;
use rspirv::dr;
use rspirv::spirv::{self, Op as S, Word};

impl Emitter<'_> {
    /// Emits the module, with the descriptions of the accesses that it can report.
    pub(super) fn run(mut self, structure: &StructuredFlow) -> Lowered<Emitted> {
        for &block in &structure.order {
            let label = self.asm.id();
            self.labels.insert(block, label);
        }
        for (n, &block) in structure.order.iter().enumerate() {
            let label = self.label(block);
            self.begin_block(label);
            self.products.clear();
            if n == 0 {
                self.arguments = self.asm.arguments();
                for p in 0..self.function.parameters.len() {
                    self.values.insert(LocalId(p), vec![self.arguments]);
                }
                self.begin_checks(self.block_size);
            }
            let merge = structure.merges.get(&block).copied();
            for (at, instruction) in self.function.blocks[block.0].instructions.iter().enumerate() {
                self.location = instruction.location;
                self.place = (block.0, at);
                if !matches!(instruction.op, Op::Phi { .. }) {
                    self.emit_late_loads()?;
                }
                if instruction.result.is_some_and(|local| self.values.contains_key(&local)) {
                    continue; // A quotient that an earlier one of its group has emitted.
                }
                self.instruction(instruction, merge).map_err(|r| r.with_location(self.module, instruction.location))?;
            }
            self.ends.insert(block, self.block);
        }
        self.complete_phis()?;
        let Some(workgroup) = self.workgroup else {
            return Err(KernelError::new("internal: the entry point does not state the size of its workgroup".into()));
        };
        let sites = self.take_sites();
        let images = self.images.iter().map(|(image, _)| *image).collect();
        Ok(Emitted { spirv: self.asm.finish(&self.function.name, workgroup), checks: sites, images })
    }

    /// Writes the operands of phis, now that all values are known.
    fn complete_phis(&mut self) -> Lowered<()> {
        for PendingPhi { place, local, leaf, incoming } in std::mem::take(&mut self.pending_phis) {
            let ty = self.function.locals[local.0].ty.clone();
            let class = self.pointers.class_of(local);
            let mut operands = Vec::new();
            for (value, block) in incoming {
                let Some(&label) = self.ends.get(&block) else { continue };
                let word = match leaf {
                    PhiLeaf::Value(leaf) => self.value(&ty, &value, class)?.get(leaf).copied(),
                    PhiLeaf::Start => Some(self.span(&value)?.0),
                    PhiLeaf::Size => Some(self.span(&value)?.1),
                    PhiLeaf::Offset => self.offset_of(&value),
                };
                let word = word.ok_or_else(|| {
                    self.internal("an incoming value of a phi has another number of components than the phi")
                })?;
                let word = self.asm.hide_zero(word);
                operands.push(dr::Operand::IdRef(word));
                operands.push(dr::Operand::IdRef(label));
            }
            *self.asm.operands_at(place) = operands;
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction, merge: Option<Merge>) -> Lowered<()> {
        let Instruction { result, op, location } = instruction;
        if let (true, Some(location)) = (self.options.lines, location) {
            if !matches!(op, Op::Phi { .. }) {
                self.line(*location);
            }
        }
        let made = match op {
            Op::Phi { ty, incoming } => {
                let Some(local) = *result else { return Ok(()) };
                self.phi(local, ty, incoming)?
            }
            op if quotient_groups::is_quotient(op) => return self.quotient_group(),
            Op::Binary { op, left, right, flags } => self.binary(*op, left, right, *flags)?,
            Op::FNeg { value, .. } => self.negate(value)?,
            Op::Cast { op, value, to } => self.cast(*op, value, to, *result)?,
            Op::ICmp { predicate, left, right } => self.icmp(*predicate, left, right)?,
            Op::FCmp { predicate, left, right, .. } => {
                let (a, b) = (self.words(left)?, self.words(right)?);
                a.into_iter().zip(b).map(|(a, b)| self.fcmp(*predicate, a, b)).collect()
            }
            Op::Select { condition, yes, no } => self.select(condition, yes, no, *result)?,
            Op::Freeze { value } => self.freeze(value, *result)?,
            Op::Load { .. } if self.late_loads.contain(*result) => self.load_if_shared(*result)?,
            Op::Load { ty, pointer, align, volatile, atomic } => match self.uniform_load(pointer, ty)? {
                Some(words) => words,
                None => self.checked_load(pointer, ty, *align, |e, from| {
                    if *atomic { Ok(vec![e.atomic_load(from, ty)?]) } else { e.load(from, ty, *align, *volatile) }
                })?,
            },
            Op::Store { value, pointer, align, volatile, atomic } => {
                match self.store_groups.take(self.place) {
                    Fate::Alone => {}
                    Fate::Later => return Ok(()),
                    Fate::Now(group) => return self.store_group(&group),
                }
                let access = self.access(pointer, 0, value.ty.size().unwrap_or(0), *align, bounds::WRITES)?;
                self.guarded(access, &[], |e, to| {
                    if *atomic {
                        e.atomic_store(to, value)?
                    } else {
                        e.store(to, value, *align, *volatile)?
                    }
                    Ok(Vec::new())
                })?
            }
            Op::Gep { source, base, indices, .. } => vec![self.gep(*result, source, base, indices)?],
            Op::Alloca { .. } => {
                let Some(local) = *result else { return Ok(()) };
                vec![self.alloca(local)?]
            }
            Op::AtomicRmw { op, pointer, value } => vec![self.atomic(*op, pointer, value)?],
            Op::CmpXchg { pointer, expected, new } => self.compare_exchange(pointer, expected, new)?,
            Op::Fence => {
                self.fence(3);
                Vec::new()
            }
            Op::Call { callee, arguments, returns, .. } => calls::call(self, *callee, arguments, returns, *result)?,
            Op::CallIndirect { .. } => {
                return Err(KernelError::new(
                    "the kernel calls a function through a pointer or calls a virtual function, which restrict(amp) \
                     code cannot do: pass a lambda or a functor to a template"
                        .into(),
                ));
            }
            Op::ExtractValue { aggregate, path } => self.extract_value(aggregate, path)?,
            Op::InsertValue { aggregate, element, path } => self.insert_value(aggregate, element, path)?,
            Op::ExtractElement { vector, at } => {
                let words = self.words(vector)?;
                vec![self.extract_element(&words, &vector.ty, at)?]
            }
            Op::InsertElement { vector, element, at } => self.insert_element(vector, element, at)?,
            Op::ShuffleVector { left, right, mask } => self.shuffle(left, right, mask)?,
            Op::Br { .. } | Op::CondBr { .. } | Op::Ret { .. } | Op::Unreachable => {
                return self.terminator(op, merge);
            }
            Op::Switch { .. } => return Err(self.internal("a switch was not replaced by branches")),
            Op::Other { name } => return Err(unsupported(name)),
        };
        if let Some(local) = *result {
            self.values.insert(local, made);
            if is_pointer(&self.function.locals[local.0].ty) {
                self.compute_span(local, op)?;
            }
        }
        Ok(())
    }

    fn phi(&mut self, local: LocalId, ty: &Type, incoming: &[(Value, BlockId)]) -> Lowered<Vec<Word>> {
        let class = self.pointers.class_of(local);
        let mut words = Vec::new();
        for (n, leaf) in self.leaves(ty)?.iter().enumerate() {
            let scalar = self.register(leaf.kind, class);
            words.push(self.pending_phi(local, scalar, PhiLeaf::Value(n), incoming));
        }
        if self.merged_span(local) {
            let span = [PhiLeaf::Start, PhiLeaf::Size].map(|leaf| self.pending_phi(local, Scalar::U64, leaf, incoming));
            self.set_span(local, span.into());
        }
        if let Some(start) = self.start_of_phi(local) {
            let offset = self.pending_phi(local, Scalar::U32, PhiLeaf::Offset, incoming);
            self.narrow_addresses.made.insert(local, (start, offset));
        }
        Ok(words)
    }

    fn pending_phi(&mut self, local: LocalId, ty: Scalar, leaf: PhiLeaf, incoming: &[(Value, BlockId)]) -> Word {
        let (ty, id, place) = (self.asm.scalar(ty), self.asm.id(), self.asm.place());
        self.pending_phis.push(PendingPhi { place, local, leaf, incoming: incoming.to_vec() });
        self.asm.push(dr::Instruction::new(S::Phi, Some(ty), Some(id), vec![]));
        id
    }

    fn binary(&mut self, op: BinaryOp, left: &Operand, right: &Operand, flags: Flags) -> Lowered<Vec<Word>> {
        let kinds = self.leaves(&left.ty)?;
        let (a, b) = (self.words(left)?, self.words(right)?);
        let mut words = Vec::new();
        for ((leaf, a), b) in kinds.iter().zip(a).zip(b) {
            words.push(match leaf.kind {
                ScalarKind::Int(bits) => self.integer(op, bits, [a, b], right)?,
                _ => self.float(op, leaf.kind, a, b, flags)?,
            });
        }
        Ok(words)
    }

    fn integer(&mut self, op: BinaryOp, bits: u32, [a, b]: [Word; 2], right: &Operand) -> Lowered<Word> {
        let by = match right.value {
            Value::Local(local) => Some(local),
            Value::Constant(_) => None,
        };
        let usual = match power_of_two(op, right, bits) {
            Some(n) => integers::by_power_of_two(&mut self.asm, op, bits, a, n),
            None if op == BinaryOp::SRem && by.is_some() && (2..=32).contains(&bits) => {
                integers::remainder(&mut self.asm, a, b, bits)
            }
            None => integers::binary(&mut self.asm, op, bits, a, b)?,
        };
        if !division::is_integer_division(op) || !by.is_some_and(|by| self.shared_divisors.contains(&by)) {
            return Ok(usual);
        }
        let shared = division::divide(&mut self.asm, op, bits, a, b);
        let reciprocals = self.asm.device_property(DeviceProperty::Reciprocals as u32);
        Ok(self.asm.make(S::Select, Scalar::U32, &[reciprocals, shared, usual]))
    }

    fn negate(&mut self, value: &Operand) -> Lowered<Vec<Word>> {
        let kinds = self.leaves(&value.ty)?;
        let words = self.words(value)?;
        let negate = |(leaf, word): (&Leaf, Word)| self.asm.make(S::FNegate, leaf.kind.register(), &[word]);
        Ok(kinds.iter().zip(words).map(negate).collect())
    }

    fn freeze(&mut self, value: &Operand, result: Option<LocalId>) -> Lowered<Vec<Word>> {
        let class = result.map_or(PointerClass::Device, |r| self.pointers.class_of(r));
        // The result may be any value, but it must be the same at every use.
        match value.value {
            Value::Constant(Constant::Undef | Constant::Poison) => self.constant(&value.ty, &Constant::Zero, class),
            _ => self.words(value),
        }
    }

    /// The address of a local variable.
    fn alloca(&mut self, local: LocalId) -> Lowered<Word> {
        let PointerClass::Group(group) = self.pointers.class_of(local) else {
            return Err(self.internal("no kernel memory was assigned to a local variable"));
        };
        let at = self.pointers.groups[group].objects.get(&Object::Alloca(local)).copied().unwrap_or(0);
        let unit = self.group_variables[group].unit;
        Ok(self.asm.constant(Scalar::U32, at / unit))
    }

    fn extract_value(&mut self, aggregate: &Operand, path: &[u32]) -> Lowered<Vec<Word>> {
        let words = self.words(aggregate)?;
        let at = leaf_range(&aggregate.ty, path)
            .ok_or_else(|| self.internal("the indices of an extractvalue do not select a part of its operand"))?;
        Ok(words
            .get(at)
            .ok_or_else(|| self.internal("the indices of an extractvalue do not select a part of its operand"))?
            .to_vec())
    }

    fn insert_value(&mut self, aggregate: &Operand, element: &Operand, path: &[u32]) -> Lowered<Vec<Word>> {
        let mut words = self.words(aggregate)?;
        let new = self.words(element)?;
        let at = leaf_range(&aggregate.ty, path)
            .ok_or_else(|| self.internal("the indices of an insertvalue do not select a part of its operand"))?;
        if at.end > words.len() || at.len() != new.len() {
            return Err(self.internal("the indices of an insertvalue do not select a part of its operand"));
        }
        words.splice(at, new);
        Ok(words)
    }

    fn shuffle(&mut self, left: &Operand, right: &Operand, mask: &[Option<u32>]) -> Lowered<Vec<Word>> {
        let mut all = self.words(left)?;
        all.extend(self.words(right)?);
        let Type::Vector(_, element) = &left.ty else {
            return Err(self.internal("the operand of a shufflevector is not a vector"));
        };
        let kind = self.kind(element)?;
        let mut words = Vec::new();
        for index in mask {
            words.push(match index.and_then(|i| all.get(i as usize)) {
                Some(&word) => word,
                None => self.asm.undef(kind.register()),
            });
        }
        Ok(words)
    }

    fn line(&mut self, location: LocationId) {
        let Some(frame) = self.module.frames(location).into_iter().next() else { return };
        let file = match self.files.get(&frame.file) {
            Some(&known) => known,
            None => {
                let made = self.asm.string(&frame.file);
                self.files.insert(frame.file.clone(), made);
                made
            }
        };
        self.asm.source_line(file, frame.line, frame.column);
    }

    fn terminator(&mut self, op: &Op, merge: Option<Merge>) -> Lowered<()> {
        if matches!(op, Op::Ret { .. }) {
            self.end_checks();
        }
        match merge {
            Some(Merge::Selection(to)) => {
                let operands = vec![
                    dr::Operand::IdRef(self.label(to)),
                    dr::Operand::SelectionControl(spirv::SelectionControl::NONE),
                ];
                self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, operands));
            }
            Some(Merge::Loop { merge, continue_target }) => {
                let operands = vec![
                    dr::Operand::IdRef(self.label(merge)),
                    dr::Operand::IdRef(self.label(continue_target)),
                    dr::Operand::LoopControl(spirv::LoopControl::NONE),
                ];
                self.asm.push(dr::Instruction::new(S::LoopMerge, None, None, operands));
            }
            Some(Merge::Break(_)) | None => {}
        }
        let (op, operands) = match op {
            Op::Br { target } => match merge {
                Some(Merge::Break(to)) => {
                    let breaks = self.asm.device_property(DeviceProperty::Breaks as u32);
                    (S::BranchConditional, vec![breaks, self.label(to), self.label(*target)])
                }
                _ => (S::Branch, vec![self.label(*target)]),
            },
            Op::CondBr { condition, yes, no } => {
                let condition = self.word(condition)?;
                (S::BranchConditional, vec![condition, self.label(*yes), self.label(*no)])
            }
            Op::Ret { .. } => (S::Return, vec![]),
            _ => (S::Unreachable, vec![]),
        };
        let operands = operands.into_iter().map(dr::Operand::IdRef).collect();
        self.asm.push(dr::Instruction::new(op, None, None, operands));
        Ok(())
    }

    fn float(&mut self, op: BinaryOp, kind: ScalarKind, a: Word, b: Word, flags: Flags) -> Lowered<Word> {
        let op = match op {
            BinaryOp::FAdd => S::FAdd,
            BinaryOp::FSub => S::FSub,
            BinaryOp::FMul => S::FMul,
            // Multiply by the reciprocal, as nvcc's --use_fast_math does. For OpFDiv, drivers emit more code, so that
            // the quotient is also correct for the largest divisors.
            BinaryOp::FDiv if flags.reciprocal && kind == ScalarKind::Float => {
                let one = self.asm.constant(Scalar::F32, u64::from(1f32.to_bits()));
                let reciprocal = self.asm.make(S::FDiv, Scalar::F32, &[one, b]);
                return Ok(if a == one { reciprocal } else { self.asm.make(S::FMul, Scalar::F32, &[a, reciprocal]) });
            }
            BinaryOp::FDiv if kind == ScalarKind::Float => return Ok(self.quotients(&[[a, b]])[0]),
            BinaryOp::FDiv => S::FDiv,
            BinaryOp::FRem => return Ok(self.asm.make(S::FRem, kind.register(), &[a, b])),
            _ => return Err(self.internal("an integer operation has floating-point operands")),
        };
        if let Some(fused) = self.fused(op, kind, [a, b], flags) {
            return Ok(fused);
        }
        let word = self.asm.make(op, kind.register(), &[a, b]);
        if op == S::FMul && flags.contract {
            self.products.insert(word, [a, b]);
        }
        Ok(word)
    }

    /// Fuses a sum with a product of the same block, if the source allows their contraction (-ffp-contract=fast).
    fn fused(&mut self, op: S, kind: ScalarKind, [a, b]: [Word; 2], flags: Flags) -> Option<Word> {
        if !flags.contract || !matches!(op, S::FAdd | S::FSub) {
            return None;
        }
        let register = kind.register();
        let mut minus = |word: Word| if op == S::FSub { self.asm.make(S::FNegate, register, &[word]) } else { word };
        let operands = match (self.products.get(&a), self.products.get(&b)) {
            (Some(&[x, y]), _) => [x, y, minus(b)],
            (None, Some(&[x, y])) => [minus(x), y, a],
            (None, None) => return None,
        };
        Some(self.asm.multiply_add(register, operands))
    }

    fn icmp(&mut self, predicate: IntPredicate, left: &Operand, right: &Operand) -> Lowered<Vec<Word>> {
        let kinds = self.leaves(&left.ty)?;
        // A null pointer that is compared with a pointer into a group has the null value of that group.
        let mut common = self.class_of(left);
        if common == PointerClass::Device {
            common = self.class_of(right);
        }
        let a = self.value(&left.ty, &left.value, common)?;
        let b = self.value(&right.ty, &right.value, common)?;
        let mut words = Vec::new();
        for ((leaf, a), b) in kinds.iter().zip(a).zip(b) {
            let bits = match (leaf.kind, common) {
                (ScalarKind::Int(bits), _) => bits,
                (_, PointerClass::Group(_)) => 32,
                _ => 64,
            };
            words.push(integers::compare(&mut self.asm, predicate, bits, a, b));
        }
        Ok(words)
    }

    fn fcmp(&mut self, predicate: FloatPredicate, a: Word, b: Word) -> Word {
        use FloatPredicate as P;
        let op = match predicate {
            P::False => return self.asm.constant(Scalar::Bool, 0),
            P::True => return self.asm.constant(Scalar::Bool, 1),
            P::Oeq => S::FOrdEqual,
            P::Ogt => S::FOrdGreaterThan,
            P::Oge => S::FOrdGreaterThanEqual,
            P::Olt => S::FOrdLessThan,
            P::Ole => S::FOrdLessThanEqual,
            P::One => S::FOrdNotEqual,
            P::Ueq => S::FUnordEqual,
            P::Ugt => S::FUnordGreaterThan,
            P::Uge => S::FUnordGreaterThanEqual,
            P::Ult => S::FUnordLessThan,
            P::Ule => S::FUnordLessThanEqual,
            P::Une => S::FUnordNotEqual,
            P::Ord | P::Uno => {
                let x = self.asm.make(S::IsNan, Scalar::Bool, &[a]);
                let y = self.asm.make(S::IsNan, Scalar::Bool, &[b]);
                let either = self.asm.make(S::LogicalOr, Scalar::Bool, &[x, y]);
                return if predicate == P::Uno {
                    either
                } else {
                    self.asm.make(S::LogicalNot, Scalar::Bool, &[either])
                };
            }
        };
        self.asm.make(op, Scalar::Bool, &[a, b])
    }

    fn select(
        &mut self,
        condition: &Operand,
        yes: &Operand,
        no: &Operand,
        result: Option<LocalId>,
    ) -> Lowered<Vec<Word>> {
        if let Some(sum) = self.clamped_sum(condition, yes, no)? {
            return Ok(vec![sum]);
        }
        let class = result.map_or(PointerClass::Device, |r| self.pointers.class_of(r));
        let kinds = self.leaves(&yes.ty)?;
        let conditions = self.words(condition)?;
        let a = self.value(&yes.ty, &yes.value, class)?;
        let b = self.value(&no.ty, &no.value, class)?;
        let mut words = Vec::new();
        for (n, ((leaf, a), b)) in kinds.iter().zip(a).zip(b).enumerate() {
            let Some(&condition) = conditions.get(n).or(conditions.first()) else {
                return Err(self.internal("a select has no condition"));
            };
            let scalar = self.register(leaf.kind, class);
            words.push(self.asm.make(S::Select, scalar, &[condition, a, b]));
        }
        if let Some(local) = result.filter(|&local| self.merged_span(local)) {
            if let Some(&condition) = conditions.first() {
                let (yes, no) = (self.span(&yes.value)?, self.span(&no.value)?);
                let start = self.asm.make(S::Select, Scalar::U64, &[condition, yes.0, no.0]);
                let size = self.asm.make(S::Select, Scalar::U64, &[condition, yes.1, no.1]);
                self.set_span(local, (start, size));
            }
        }
        Ok(words)
    }

    fn extract_element(&mut self, words: &[Word], ty: &Type, at: &Operand) -> Lowered<Word> {
        if let Value::Constant(Constant::Int(n)) = at.value {
            if let Some(&word) = usize::try_from(n).ok().and_then(|n| words.get(n)) {
                return Ok(word);
            }
        }
        let Type::Vector(_, element) = ty else {
            return Err(self.internal("the operand of an extractelement is not a vector"));
        };
        let scalar = self.kind(element)?.register();
        let index = self.word(at)?;
        let index_bits = self.kind(&at.ty)?.register();
        let Some(&first) = words.first() else {
            return Err(self.internal("the operand of an extractelement has no elements"));
        };
        let mut word = first;
        for (n, &candidate) in words.iter().enumerate().skip(1) {
            let number = self.asm.constant(index_bits, n as u64);
            let is_at_index = self.asm.make(S::IEqual, Scalar::Bool, &[index, number]);
            word = self.asm.make(S::Select, scalar, &[is_at_index, candidate, word]);
        }
        Ok(word)
    }

    fn insert_element(&mut self, vector: &Operand, element: &Operand, at: &Operand) -> Lowered<Vec<Word>> {
        let mut words = self.words(vector)?;
        let new = self.word(element)?;
        if let Value::Constant(Constant::Int(n)) = at.value {
            if let Some(word) = usize::try_from(n).ok().and_then(|n| words.get_mut(n)) {
                *word = new;
                return Ok(words);
            }
        }
        let scalar = self.kind(&element.ty)?.register();
        let index = self.word(at)?;
        let index_bits = self.kind(&at.ty)?.register();
        for (n, word) in words.iter_mut().enumerate() {
            let number = self.asm.constant(index_bits, n as u64);
            let is_at_index = self.asm.make(S::IEqual, Scalar::Bool, &[index, number]);
            *word = self.asm.make(S::Select, scalar, &[is_at_index, new, *word]);
        }
        Ok(words)
    }

    pub(super) fn store(&mut self, to: Address, value: &Operand, align: u64, volatile: bool) -> Lowered<()> {
        let words = self.words(value)?;
        for (leaf, word) in self.leaves(&value.ty)?.into_iter().zip(words) {
            let at = to.plus(&mut self.asm, leaf.offset);
            let align = aligned_at(align, leaf.offset);
            if memory::store(&mut self.asm, at, leaf.kind, word, align, volatile).is_none() {
                return Err(self.internal("a store has a size that SPIR-V does not support"));
            }
        }
        Ok(())
    }

    fn gep(&mut self, result: Option<LocalId>, source: &Type, base: &Operand, indices: &[Operand]) -> Lowered<Word> {
        let Some(steps) = steps(source, indices) else {
            return Err(self.internal("an address computation uses a type without a size"));
        };
        match self.address(base)? {
            Address::Device(mut at) => {
                for (index, by) in &steps.by {
                    let word = self.index(index)?;
                    let step = integers::times(&mut self.asm, Scalar::U64, word, *by);
                    at = self.asm.make(S::IAdd, Scalar::U64, &[at, step]);
                }
                if steps.offset != 0 {
                    let by = self.asm.constant(Scalar::U64, steps.offset as u64);
                    at = self.asm.make(S::IAdd, Scalar::U64, &[at, by]);
                }
                if let Some(result) = result {
                    self.note_offset(result, base, &steps, at)?;
                }
                Ok(at)
            }
            Address::In(group, mut at) => {
                for (index, by) in steps.by {
                    let word = self.index(index)?;
                    let low = self.asm.make(S::UConvert, Scalar::U32, &[word]);
                    let step = if by % group.unit == 0 {
                        integers::times(&mut self.asm, Scalar::U32, low, by / group.unit)
                    } else {
                        let bytes = integers::times(&mut self.asm, Scalar::U32, low, by);
                        let unit = self.asm.constant(Scalar::U32, u64::from(group.unit.trailing_zeros()));
                        self.asm.make(S::ShiftRightArithmetic, Scalar::U32, &[bytes, unit])
                    };
                    at = self.asm.make(S::IAdd, Scalar::U32, &[at, step]);
                }
                if steps.offset != 0 {
                    let by = self.asm.constant(Scalar::U32, (steps.offset / group.unit as i64) as u64);
                    at = self.asm.sum_u32(at, by);
                }
                Ok(at)
            }
        }
    }

    /// An index, sign-extended to 64 bits.
    pub(super) fn index(&mut self, index: &Operand) -> Lowered<Word> {
        let word = self.word(index)?;
        match self.kind(&index.ty)? {
            ScalarKind::Int(bits) => Ok(integers::sign_extend(&mut self.asm, word, bits, 64)),
            _ => Err(self.internal("the index of an address computation is not an integer")),
        }
    }
}

/// The error for an instruction that kernels cannot use.
fn unsupported(name: &str) -> KernelError {
    KernelError::new(match name {
        "invoke" | "landingpad" | "resume" => "restrict(amp) code cannot throw or catch exceptions".to_string(),
        "va_arg" => "restrict(amp) code cannot take variable arguments".to_string(),
        "asm" => "restrict(amp) code cannot contain inline assembly".to_string(),
        other => format!("the kernel compiler does not support '{other}'"),
    })
}

/// The exponent n >= 1 of a signed division by the constant 2^n; `None` for other operations.
fn power_of_two(op: BinaryOp, by: &Operand, bits: u32) -> Option<u32> {
    match by.value {
        Value::Constant(Constant::Int(by))
            if matches!(op, BinaryOp::SDiv | BinaryOp::SRem)
                && (2..1 << (bits - 1)).contains(&by)
                && by & (by - 1) == 0 =>
        {
            Some(by.trailing_zeros())
        }
        _ => None,
    }
}
