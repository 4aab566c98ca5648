//! A kernel's instructions as SPIR-V.

use super::assembler::{Assembler, Id, Scalar, Workgroup};
use super::memory::{self, Address, Store};
use super::refusal::Refusal;
use super::structure::{Merge, Structure};
use super::values::{Kind, Leaf, leaves, part};
use super::webs::{Class, Webs, constant_address, steps};
use super::{Options, calls, integers};
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, CastOp, Constant, FloatPredicate, Function, Instruction, IntPredicate, LocalId, Module,
    Op, Operand, Type, Value,
};
use rspirv::dr;
use rspirv::spirv::{self, Capability, Decoration, Op as S, StorageClass, Word};
use std::collections::HashMap;

pub(super) type Made<T> = Result<T, Refusal>;

pub(super) struct Emitter<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    pub(super) options: &'m Options,
    pub(super) asm: Assembler,
    pub(super) webs: &'m Webs,
    pub(super) stores: Vec<Store>,
    pub(super) workgroup: Option<Workgroup>,
    /// What each local is.
    values: HashMap<LocalId, Vec<Word>>,
    labels: HashMap<BlockId, Word>,
    /// Phis whose operands are not known yet.
    waiting: Vec<((usize, usize), LocalId, usize, Vec<(Value, BlockId)>)>,
    files: HashMap<String, Word>,
    arguments: Word,
}

impl<'m> Emitter<'m> {
    pub(super) fn new(
        module: &'m Module,
        function: &'m Function,
        options: &'m Options,
        webs: &'m Webs,
    ) -> Made<Self> {
        let mut asm = Assembler::new();
        let stores = memory::stores(&mut asm, module, function, webs)?;
        Ok(Emitter {
            module,
            function,
            options,
            asm,
            webs,
            stores,
            workgroup: None,
            values: HashMap::new(),
            labels: HashMap::new(),
            waiting: Vec::new(),
            files: HashMap::new(),
            arguments: 0,
        })
    }

    pub(super) fn run(mut self, structure: &Structure) -> Made<Vec<u32>> {
        for &block in &structure.order {
            let label = self.asm.id();
            self.labels.insert(block, label);
        }
        for (n, &block) in structure.order.iter().enumerate() {
            let label = self.label(block);
            self.asm.begin_block(label);
            if n == 0 {
                self.arguments = self.asm.arguments();
                for p in 0..self.function.parameters.len() {
                    self.values.insert(LocalId(p), vec![self.arguments]);
                }
            }
            let merge = structure.merges.get(&block).copied();
            for instruction in &self.function.blocks[block.0].instructions {
                self.instruction(instruction, merge).map_err(|r| r.or_at(self.module, instruction.location))?;
            }
        }
        self.phis()?;
        let Some(workgroup) = self.workgroup else {
            return Err(Refusal::plain("internal: the entry point does not say its workgroup".into()));
        };
        Ok(self.asm.finish(&self.function.name, workgroup))
    }

    fn label(&self, block: BlockId) -> Word {
        self.labels.get(&block).copied().unwrap_or(0)
    }

    /// The operands of phis, now that all values are known.
    fn phis(&mut self) -> Made<()> {
        for (place, local, leaf, incoming) in std::mem::take(&mut self.waiting) {
            let ty = self.function.locals[local.0].ty.clone();
            let class = self.webs.class_of(local);
            let mut operands = Vec::new();
            for (value, block) in incoming {
                let Some(&label) = self.labels.get(&block) else { continue };
                let words = self.value(&ty, &value, class)?;
                let word = words.get(leaf).copied().ok_or_else(|| self.internal("a phi of another shape"))?;
                operands.push(dr::Operand::IdRef(word));
                operands.push(dr::Operand::IdRef(label));
            }
            *self.asm.operands_at(place) = operands;
        }
        Ok(())
    }

    pub(super) fn internal(&self, what: &str) -> Refusal {
        Refusal::plain(format!("internal: {what}; please report this with the source"))
    }

    pub(super) fn leaves(&self, ty: &Type) -> Made<Vec<Leaf>> {
        leaves(ty).ok_or_else(|| {
            Refusal::plain(match ty {
                Type::Int(bits) => format!("the code needs integers of {bits} bits; a kernel has up to 64"),
                other => format!("a kernel cannot hold a value of this type ({other:?})"),
            })
        })
    }

    /// The one kind of a scalar type.
    pub(super) fn kind(&self, ty: &Type) -> Made<Kind> {
        match self.leaves(ty)?.as_slice() {
            [one] => Ok(one.kind),
            _ => Err(self.internal("a scalar is expected")),
        }
    }

    // Values.

    pub(super) fn words(&mut self, operand: &Operand) -> Made<Vec<Word>> {
        let class = match &operand.value {
            Value::Local(local) => self.webs.class_of(*local),
            Value::Constant(constant) => match constant_address(constant) {
                Some((global, _)) => self.webs.class_of_global(global),
                None => Class::Device,
            },
        };
        self.value(&operand.ty, &operand.value, class)
    }

    pub(super) fn word(&mut self, operand: &Operand) -> Made<Word> {
        match self.words(operand)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(self.internal("a scalar is expected")),
        }
    }

    /// `class` is that of pointers where the value itself does not say.
    fn value(&mut self, ty: &Type, value: &Value, class: Class) -> Made<Vec<Word>> {
        match value {
            Value::Local(local) => match self.values.get(local) {
                Some(words) => Ok(words.clone()),
                None => Err(self.internal("a value is used before it is made")),
            },
            Value::Constant(constant) => self.constant(ty, constant, class),
        }
    }

    fn constant(&mut self, ty: &Type, constant: &Constant, class: Class) -> Made<Vec<Word>> {
        let all = self.leaves(ty)?;
        match constant {
            Constant::Zero => Ok(all.iter().map(|leaf| self.null(leaf.kind, class)).collect()),
            Constant::Undef => Ok(all
                .iter()
                .map(|leaf| {
                    let scalar = self.register(leaf.kind, class);
                    self.asm.undef(scalar)
                })
                .collect()),
            Constant::Aggregate(parts) => {
                let mut words = Vec::new();
                for part in parts.iter() {
                    words.extend(self.value(&part.ty, &part.value, class)?);
                }
                Ok(words)
            }
            Constant::Bytes(bytes) => {
                Ok(bytes.iter().map(|&byte| self.asm.constant(Scalar::U32, u64::from(byte))).collect())
            }
            Constant::Function(_) => {
                Err(Refusal::plain("a kernel cannot use the address of a function: restrict(amp) has no calls through pointers".into()))
            }
            other => {
                if let Some((global, at)) = constant_address(other) {
                    return self.global_address(global, at).map(|word| vec![word]);
                }
                let [leaf] = all.as_slice() else { return Err(self.internal("a constant of an unknown form")) };
                match memory::scalar_bits(ty, other) {
                    Some(bits) => {
                        let scalar = self.register(leaf.kind, class);
                        Ok(vec![self.asm.constant(scalar, bits)])
                    }
                    None => Err(Refusal::plain("a kernel cannot hold this constant (an address of the host?)".into())),
                }
            }
        }
    }

    fn global_address(&mut self, global: crate::ir::GlobalId, at: i64) -> Made<Word> {
        let Class::Group(group) = self.webs.class_of_global(global) else {
            return Err(self.internal("a global variable without a place"));
        };
        let start = self.webs.groups[group].objects.get(&super::webs::Object::Global(global)).copied().unwrap_or(0);
        let unit = self.stores[group].unit;
        let bytes = start.wrapping_add(at as u64);
        Ok(self.asm.constant(Scalar::U32, bytes / unit))
    }

    /// The register type of a kind, pointers of a class.
    fn register(&self, kind: Kind, class: Class) -> Scalar {
        match (kind, class) {
            (Kind::Pointer, Class::Group(_)) => Scalar::U32,
            _ => kind.register(),
        }
    }

    fn null(&mut self, kind: Kind, class: Class) -> Word {
        match self.register(kind, class) {
            // No place of a group.
            Scalar::U32 if kind == Kind::Pointer => self.asm.constant(Scalar::U32, u64::from(u32::MAX)),
            scalar => self.asm.constant(scalar, 0),
        }
    }

    /// Where a pointer points.
    pub(super) fn address(&mut self, pointer: &Operand) -> Made<Address> {
        let word = self.word(pointer)?;
        let class = match &pointer.value {
            Value::Local(local) => self.webs.class_of(*local),
            Value::Constant(constant) => match constant_address(constant) {
                Some((global, _)) => self.webs.class_of_global(global),
                None => Class::Device,
            },
        };
        Ok(match class {
            Class::Device => Address::Device(word),
            Class::Group(group) => Address::In(self.stores[group], word),
        })
    }

    // Instructions.

    fn instruction(&mut self, instruction: &Instruction, merge: Option<Merge>) -> Made<()> {
        let Instruction { result, op, location } = instruction;
        if let (true, Some(location)) = (self.options.lines, location) {
            if !matches!(op, Op::Phi { .. }) {
                self.line(*location);
            }
        }
        let made = match op {
            Op::Phi { ty, incoming } => {
                let Some(local) = *result else { return Ok(()) };
                let class = self.webs.class_of(local);
                let mut words = Vec::new();
                for (n, leaf) in self.leaves(ty)?.iter().enumerate() {
                    let scalar = self.register(leaf.kind, class);
                    let spirv = self.asm.scalar(scalar);
                    let id = self.asm.id();
                    self.waiting.push((self.asm.place(), local, n, incoming.clone()));
                    self.asm.push(dr::Instruction::new(S::Phi, Some(spirv), Some(id), vec![]));
                    words.push(id);
                }
                words
            }
            Op::Binary { op, left, right, flags } => {
                let kinds = self.leaves(&left.ty)?;
                let (a, b) = (self.words(left)?, self.words(right)?);
                let mut words = Vec::new();
                for ((leaf, a), b) in kinds.iter().zip(a).zip(b) {
                    words.push(match leaf.kind {
                        Kind::Int(bits) => integers::binary(&mut self.asm, *op, bits, a, b)?,
                        _ => self.float(*op, leaf.kind, a, b, flags.contract)?,
                    });
                }
                words
            }
            Op::FNeg { value, .. } => {
                let kinds = self.leaves(&value.ty)?;
                let words = self.words(value)?;
                kinds
                    .iter()
                    .zip(words)
                    .map(|(leaf, word)| self.asm.make(S::FNegate, leaf.kind.register(), &[word]))
                    .collect()
            }
            Op::Cast { op, value, to } => self.cast(*op, value, to, *result)?,
            Op::ICmp { predicate, left, right } => self.icmp(*predicate, left, right)?,
            Op::FCmp { predicate, left, right, .. } => {
                let (a, b) = (self.words(left)?, self.words(right)?);
                a.into_iter().zip(b).map(|(a, b)| self.fcmp(*predicate, a, b)).collect()
            }
            Op::Select { condition, yes, no } => self.select(condition, yes, no, *result)?,
            Op::Freeze { value } => {
                let class = result.map_or(Class::Device, |r| self.webs.class_of(r));
                // Any value does, but it must be the same everywhere.
                match value.value {
                    Value::Constant(Constant::Undef) => self.constant(&value.ty, &Constant::Zero, class)?,
                    _ => self.words(value)?,
                }
            }
            Op::Load { ty, pointer, align, volatile, atomic } => {
                let from = self.address(pointer)?;
                if *atomic {
                    vec![self.atomic_load(from, ty)?]
                } else {
                    self.load(from, ty, *align, *volatile)?
                }
            }
            Op::Store { value, pointer, align, volatile, atomic } => {
                let to = self.address(pointer)?;
                if *atomic {
                    self.atomic_store(to, value)?;
                } else {
                    self.store(to, value, *align, *volatile)?;
                }
                Vec::new()
            }
            Op::Gep { source, base, indices, .. } => vec![self.gep(source, base, indices)?],
            Op::Alloca { .. } => {
                let Some(local) = *result else { return Ok(()) };
                let Class::Group(group) = self.webs.class_of(local) else {
                    return Err(self.internal("a local variable without a place"));
                };
                let object = super::webs::Object::Alloca(local);
                let at = self.webs.groups[group].objects.get(&object).copied().unwrap_or(0);
                let unit = self.stores[group].unit;
                vec![self.asm.constant(Scalar::U32, at / unit)]
            }
            Op::AtomicRmw { op, pointer, value } => vec![self.atomic(*op, pointer, value)?],
            Op::CmpXchg { pointer, expected, new } => self.exchange(pointer, expected, new)?,
            Op::Fence => {
                self.fence(3);
                Vec::new()
            }
            Op::Call { callee, arguments, returns, .. } => calls::call(self, *callee, arguments, returns)?,
            Op::CallIndirect { .. } => {
                return Err(Refusal::plain(
                    "a call through a pointer or of a virtual function: restrict(amp) code has none".into(),
                ));
            }
            Op::ExtractValue { aggregate, path } => {
                let words = self.words(aggregate)?;
                let at = part(&aggregate.ty, path).ok_or_else(|| self.internal("extractvalue"))?;
                words.get(at).ok_or_else(|| self.internal("extractvalue"))?.to_vec()
            }
            Op::InsertValue { aggregate, element, path } => {
                let mut words = self.words(aggregate)?;
                let new = self.words(element)?;
                let at = part(&aggregate.ty, path).ok_or_else(|| self.internal("insertvalue"))?;
                if at.end > words.len() || at.len() != new.len() {
                    return Err(self.internal("insertvalue"));
                }
                words.splice(at, new);
                words
            }
            Op::ExtractElement { vector, at } => {
                let words = self.words(vector)?;
                vec![self.pick(&words, &vector.ty, at)?]
            }
            Op::InsertElement { vector, element, at } => self.insert_element(vector, element, at)?,
            Op::ShuffleVector { left, right, mask } => {
                let mut all = self.words(left)?;
                all.extend(self.words(right)?);
                let Type::Vector(_, element) = &left.ty else { return Err(self.internal("shufflevector")) };
                let kind = self.kind(element)?;
                let mut words = Vec::new();
                for index in mask {
                    words.push(match index.and_then(|i| all.get(i as usize)) {
                        Some(&word) => word,
                        None => self.asm.undef(kind.register()),
                    });
                }
                words
            }
            Op::Br { .. } | Op::CondBr { .. } | Op::Ret { .. } | Op::Unreachable => {
                return self.terminator(op, merge);
            }
            Op::Switch { .. } => return Err(self.internal("a switch")),
            Op::Other { name } => {
                return Err(Refusal::plain(match &**name {
                    "invoke" | "landingpad" | "resume" => {
                        "restrict(amp) code cannot throw or catch exceptions".to_string()
                    }
                    "va_arg" => "restrict(amp) code cannot take variable arguments".to_string(),
                    "asm" => "restrict(amp) code cannot hold inline assembly".to_string(),
                    other => format!("the kernel compiler does not know '{other}'"),
                }));
            }
        };
        if let Some(local) = *result {
            self.values.insert(local, made);
        }
        Ok(())
    }

    fn line(&mut self, location: crate::ir::LocationId) {
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

    fn terminator(&mut self, op: &Op, merge: Option<Merge>) -> Made<()> {
        match merge {
            Some(Merge::Selection(to)) => {
                let operands = vec![
                    dr::Operand::IdRef(self.label(to)),
                    dr::Operand::SelectionControl(spirv::SelectionControl::NONE),
                ];
                self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, operands));
            }
            Some(Merge::Loop { merge, again }) => {
                let operands = vec![
                    dr::Operand::IdRef(self.label(merge)),
                    dr::Operand::IdRef(self.label(again)),
                    dr::Operand::LoopControl(spirv::LoopControl::NONE),
                ];
                self.asm.push(dr::Instruction::new(S::LoopMerge, None, None, operands));
            }
            None => {}
        }
        let (op, operands) = match op {
            Op::Br { target } => (S::Branch, vec![self.label(*target)]),
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

    fn float(&mut self, op: BinaryOp, kind: Kind, a: Word, b: Word, contract: bool) -> Made<Word> {
        let op = match op {
            BinaryOp::FAdd => S::FAdd,
            BinaryOp::FSub => S::FSub,
            BinaryOp::FMul => S::FMul,
            BinaryOp::FDiv => S::FDiv,
            BinaryOp::FRem => return calls::remainder(self, kind, a, b),
            _ => return Err(self.internal("an operation of integers on floats")),
        };
        let word = self.asm.make(op, kind.register(), &[a, b]);
        // Each is rounded by itself: its author, or the headers' maths, said so.
        if !contract && op != S::FDiv {
            self.asm.decorate(word, Decoration::NoContraction);
        }
        Ok(word)
    }

    fn cast(&mut self, op: CastOp, value: &Operand, to: &Type, result: Option<LocalId>) -> Made<Vec<Word>> {
        let from = self.leaves(&value.ty)?;
        let into = self.leaves(to)?;
        let words = self.words(value)?;
        if op == CastOp::BitCast && (from.len() != into.len() || from.len() > 1) {
            return self.bitcast(&from, &words, &into);
        }
        let mut all = Vec::new();
        for ((from, to), word) in from.iter().zip(&into).zip(words) {
            all.push(self.cast_one(op, from.kind, to.kind, word, value, result)?);
        }
        Ok(all)
    }

    fn cast_one(
        &mut self,
        op: CastOp,
        from: Kind,
        to: Kind,
        word: Word,
        value: &Operand,
        result: Option<LocalId>,
    ) -> Made<Word> {
        let asm = &mut self.asm;
        Ok(match (op, from, to) {
            (CastOp::Trunc, Kind::Int(from), Kind::Int(to)) => integers::truncate(asm, word, from, to),
            (CastOp::ZExt, Kind::Int(from), Kind::Int(to)) => integers::zero_extend(asm, word, from, to),
            (CastOp::SExt, Kind::Int(from), Kind::Int(to)) => integers::sign_extend(asm, word, from, to),
            (CastOp::FpTrunc | CastOp::FpExt, _, to) => asm.make(S::FConvert, to.register(), &[word]),
            (CastOp::FpToUi, _, Kind::Int(bits)) => {
                let wide = asm.make(S::ConvertFToU, integers::container(bits), &[word]);
                integers::clean(asm, wide, bits)
            }
            (CastOp::FpToSi, _, Kind::Int(bits)) => {
                let wide = asm.make(S::ConvertFToS, integers::container(bits), &[word]);
                integers::clean(asm, wide, bits)
            }
            (CastOp::UiToFp, Kind::Int(bits), to) => {
                let whole = integers::zero_extend(asm, word, bits, bits.max(32));
                asm.make(S::ConvertUToF, to.register(), &[whole])
            }
            (CastOp::SiToFp, Kind::Int(bits), to) => {
                let whole = integers::signed(asm, word, bits);
                asm.make(S::ConvertSToF, to.register(), &[whole])
            }
            (CastOp::PtrToInt | CastOp::PtrToAddr, _, Kind::Int(bits)) => match self.address(value)? {
                Address::Device(at) => integers::truncate(&mut self.asm, at, 64, bits),
                // Bytes from the beginning of what pointers of its group point into: good for differences, which is what
                // LLVM counts loops by.
                Address::In(store, at) => {
                    let bytes = integers::times(&mut self.asm, Scalar::U32, at, store.unit);
                    if bits > 32 {
                        integers::zero_extend(&mut self.asm, bytes, 32, bits)
                    } else {
                        integers::truncate(&mut self.asm, bytes, 32, bits)
                    }
                }
            },
            (CastOp::IntToPtr, Kind::Int(bits), _) => {
                if let Some(Class::Group(_)) = result.map(|r| self.webs.class_of(r)) {
                    return Err(Refusal::plain("a number is used as an address of tile_static or local memory".into()));
                }
                integers::zero_extend(&mut self.asm, word, bits, 64)
            }
            (CastOp::AddrSpaceCast, ..) => word,
            (CastOp::BitCast, from, to) => memory::recast(asm, word, from.register(), to.register()),
            _ => return Err(self.internal("an unknown conversion")),
        })
    }

    /// Bits between vectors and scalars.
    fn bitcast(&mut self, from: &[Leaf], words: &[Word], to: &[Leaf]) -> Made<Vec<Word>> {
        // Through numbers of 32 bits, the lowest first; halves and smaller ones are rare enough to be refused.
        let mut low = Vec::new();
        for (leaf, &word) in from.iter().zip(words) {
            let scalar = leaf.kind.register();
            match (leaf.kind, scalar.size()) {
                (Kind::Int(32) | Kind::Float, _) => low.push(memory::recast(&mut self.asm, word, scalar, Scalar::U32)),
                (Kind::Int(64) | Kind::Double, _) => {
                    let pair = self.asm.vector(Scalar::U32, 2);
                    let pair = self.asm.op(S::Bitcast, pair, &[word]);
                    for n in 0..2 {
                        low.push(self.component(pair, n));
                    }
                }
                _ => return Err(Refusal::plain("vectors of 8- and 16-bit numbers are cast".into())),
            }
        }
        let mut all = Vec::new();
        let mut next = low.into_iter();
        for leaf in to {
            let scalar = leaf.kind.register();
            let mut take = || next.next().ok_or_else(|| Refusal::plain("internal: bitcast".into()));
            match leaf.kind {
                Kind::Int(32) | Kind::Float => {
                    let word = take()?;
                    all.push(memory::recast(&mut self.asm, word, Scalar::U32, scalar));
                }
                Kind::Int(64) | Kind::Double => {
                    let (a, b) = (take()?, take()?);
                    let pair = self.asm.vector(Scalar::U32, 2);
                    let pair = self.asm.op(S::CompositeConstruct, pair, &[a, b]);
                    all.push(self.asm.make(S::Bitcast, scalar, &[pair]));
                }
                _ => return Err(Refusal::plain("vectors of 8- and 16-bit numbers are cast".into())),
            }
        }
        Ok(all)
    }

    pub(super) fn component(&mut self, vector: Word, n: u32) -> Word {
        let ty = self.asm.scalar(Scalar::U32);
        let id = self.asm.id();
        let operands = vec![dr::Operand::IdRef(vector), dr::Operand::LiteralBit32(n)];
        self.asm.push(dr::Instruction::new(S::CompositeExtract, Some(ty), Some(id), operands));
        id
    }

    fn icmp(&mut self, predicate: IntPredicate, left: &Operand, right: &Operand) -> Made<Vec<Word>> {
        let kinds = self.leaves(&left.ty)?;
        // A null beside a pointer into a group is a place in that group.
        let class = |e: &Self, o: &Operand| match &o.value {
            Value::Local(local) => e.webs.class_of(*local),
            Value::Constant(constant) => {
                constant_address(constant).map_or(Class::Device, |(global, _)| e.webs.class_of_global(global))
            }
        };
        let mut common = class(self, left);
        if common == Class::Device {
            common = class(self, right);
        }
        let a = self.value(&left.ty, &left.value, common)?;
        let b = self.value(&right.ty, &right.value, common)?;
        let mut words = Vec::new();
        for ((leaf, a), b) in kinds.iter().zip(a).zip(b) {
            let bits = match (leaf.kind, common) {
                (Kind::Int(bits), _) => bits,
                (_, Class::Group(_)) => 32,
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
    ) -> Made<Vec<Word>> {
        let class = result.map_or(Class::Device, |r| self.webs.class_of(r));
        let kinds = self.leaves(&yes.ty)?;
        let conditions = self.words(condition)?;
        let a = self.value(&yes.ty, &yes.value, class)?;
        let b = self.value(&no.ty, &no.value, class)?;
        let mut words = Vec::new();
        for (n, ((leaf, a), b)) in kinds.iter().zip(a).zip(b).enumerate() {
            let Some(&condition) = conditions.get(n).or(conditions.first()) else {
                return Err(self.internal("select"));
            };
            let scalar = self.register(leaf.kind, class);
            words.push(self.asm.make(S::Select, scalar, &[condition, a, b]));
        }
        Ok(words)
    }

    fn pick(&mut self, words: &[Word], ty: &Type, at: &Operand) -> Made<Word> {
        if let Value::Constant(Constant::Int(n)) = at.value {
            if let Some(&word) = usize::try_from(n).ok().and_then(|n| words.get(n)) {
                return Ok(word);
            }
        }
        let Type::Vector(_, element) = ty else { return Err(self.internal("extractelement")) };
        let scalar = self.kind(element)?.register();
        let index = self.word(at)?;
        let index_bits = self.kind(&at.ty)?.register();
        let Some(&first) = words.first() else { return Err(self.internal("extractelement")) };
        let mut word = first;
        for (n, &candidate) in words.iter().enumerate().skip(1) {
            let number = self.asm.constant(index_bits, n as u64);
            let here = self.asm.make(S::IEqual, Scalar::Bool, &[index, number]);
            word = self.asm.make(S::Select, scalar, &[here, candidate, word]);
        }
        Ok(word)
    }

    fn insert_element(&mut self, vector: &Operand, element: &Operand, at: &Operand) -> Made<Vec<Word>> {
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
            let here = self.asm.make(S::IEqual, Scalar::Bool, &[index, number]);
            *word = self.asm.make(S::Select, scalar, &[here, new, *word]);
        }
        Ok(words)
    }

    // Memory.

    pub(super) fn load(&mut self, from: Address, ty: &Type, align: u64, volatile: bool) -> Made<Vec<Word>> {
        let mut words = Vec::new();
        for leaf in self.leaves(ty)? {
            let at = from.plus(&mut self.asm, leaf.offset);
            let align = aligned_at(align, leaf.offset);
            match memory::load(&mut self.asm, at, leaf.kind, align, volatile) {
                Some(word) => words.push(word),
                None => return Err(self.internal("a load of an odd size")),
            }
        }
        Ok(words)
    }

    fn store(&mut self, to: Address, value: &Operand, align: u64, volatile: bool) -> Made<()> {
        let words = self.words(value)?;
        for (leaf, word) in self.leaves(&value.ty)?.into_iter().zip(words) {
            let at = to.plus(&mut self.asm, leaf.offset);
            let align = aligned_at(align, leaf.offset);
            if memory::store(&mut self.asm, at, leaf.kind, word, align, volatile).is_none() {
                return Err(self.internal("a store of an odd size"));
            }
        }
        Ok(())
    }

    fn gep(&mut self, source: &Type, base: &Operand, indices: &[Operand]) -> Made<Word> {
        let Some(steps) = steps(source, indices) else {
            return Err(self.internal("address arithmetic on a type without a size"));
        };
        match self.address(base)? {
            Address::Device(mut at) => {
                for (index, by) in steps.by {
                    let word = self.index(index)?;
                    let step = integers::times(&mut self.asm, Scalar::U64, word, by);
                    at = self.asm.make(S::IAdd, Scalar::U64, &[at, step]);
                }
                if steps.offset != 0 {
                    let by = self.asm.constant(Scalar::U64, steps.offset as u64);
                    at = self.asm.make(S::IAdd, Scalar::U64, &[at, by]);
                }
                Ok(at)
            }
            Address::In(store, mut at) => {
                for (index, by) in steps.by {
                    let word = self.index(index)?;
                    let low = self.asm.make(S::UConvert, Scalar::U32, &[word]);
                    let step = if by % store.unit == 0 {
                        integers::times(&mut self.asm, Scalar::U32, low, by / store.unit)
                    } else {
                        let bytes = integers::times(&mut self.asm, Scalar::U32, low, by);
                        let unit = self.asm.constant(Scalar::U32, u64::from(store.unit.trailing_zeros()));
                        self.asm.make(S::ShiftRightArithmetic, Scalar::U32, &[bytes, unit])
                    };
                    at = self.asm.make(S::IAdd, Scalar::U32, &[at, step]);
                }
                if steps.offset != 0 {
                    let by = self.asm.constant(Scalar::U32, (steps.offset / store.unit as i64) as u64);
                    at = self.asm.make(S::IAdd, Scalar::U32, &[at, by]);
                }
                Ok(at)
            }
        }
    }

    /// An index as 64 bits, with its sign.
    fn index(&mut self, index: &Operand) -> Made<Word> {
        let word = self.word(index)?;
        match self.kind(&index.ty)? {
            Kind::Int(bits) => Ok(integers::sign_extend(&mut self.asm, word, bits, 64)),
            _ => Err(self.internal("an index that is no integer")),
        }
    }

    // Atomics.

    /// The pointer, the scope and the semantics of an atomic access to integers.
    fn atomic_place(&mut self, at: Address, size: u64) -> Made<(Word, Word, Word)> {
        if size != 4 && size != 8 {
            return Err(Refusal::plain(format!("an atomic access of {size} bytes; a kernel has those of 4 and 8")));
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
            Address::In(store, at) => {
                if store.class != StorageClass::Workgroup {
                    return Err(Refusal::plain("an atomic access to a local variable".into()));
                }
                if store.element != scalar {
                    return Err(Refusal::plain(
                        "an atomic access to tile_static memory that is also used in parts, or as another type".into(),
                    ));
                }
                let tile = self.asm.constant(Scalar::U32, spirv::Scope::Workgroup as u64);
                (memory::element_pointer(&mut self.asm, store, at, 0), tile, none)
            }
        })
    }

    fn atomic_load(&mut self, from: Address, ty: &Type) -> Made<Word> {
        let kind = self.kind(ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let (pointer, scope, semantics) = self.atomic_place(from, kind.register().size())?;
        let raw = self.asm.make(S::AtomicLoad, integer, &[pointer, scope, semantics]);
        Ok(memory::recast(&mut self.asm, raw, integer, kind.register()))
    }

    fn atomic_store(&mut self, to: Address, value: &Operand) -> Made<()> {
        let kind = self.kind(&value.ty)?;
        let integer = Scalar::unsigned(kind.register().size());
        let word = self.word(value)?;
        let raw = memory::recast(&mut self.asm, word, kind.register(), integer);
        let (pointer, scope, semantics) = self.atomic_place(to, kind.register().size())?;
        let operands = [pointer, scope, semantics, raw].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::AtomicStore, None, None, operands));
        Ok(())
    }

    fn atomic(&mut self, op: AtomicOp, pointer: &Operand, value: &Operand) -> Made<Word> {
        let kind = self.kind(&value.ty)?;
        let register = kind.register();
        let at = self.address(pointer)?;
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
                return Err(Refusal::plain(
                    "this atomic operation has no form that every device knows: write a loop around \
                     atomic_compare_exchange"
                        .into(),
                ));
            }
        };
        let integer = Scalar::unsigned(register.size());
        let (pointer, scope, semantics) = self.atomic_place(at, register.size())?;
        let raw = memory::recast(&mut self.asm, word, register, integer);
        let old = self.asm.make(op, integer, &[pointer, scope, semantics, raw]);
        Ok(memory::recast(&mut self.asm, old, integer, register))
    }

    fn exchange(&mut self, pointer: &Operand, expected: &Operand, new: &Operand) -> Made<Vec<Word>> {
        let kind = self.kind(&new.ty)?;
        let register = kind.register();
        let integer = Scalar::unsigned(register.size());
        let at = self.address(pointer)?;
        let (expected, new) = (self.word(expected)?, self.word(new)?);
        let expected = memory::recast(&mut self.asm, expected, register, integer);
        let new = memory::recast(&mut self.asm, new, register, integer);
        let (pointer, scope, semantics) = self.atomic_place(at, register.size())?;
        let operands = [pointer, scope, semantics, semantics, new, expected];
        let old = self.asm.make(S::AtomicCompareExchange, integer, &operands);
        let same = self.asm.make(S::IEqual, Scalar::Bool, &[old, expected]);
        Ok(vec![memory::recast(&mut self.asm, old, integer, register), same])
    }

    // What orders memory: 1 that of the device, 2 tile_static memory.

    fn semantics(&mut self, memory: u64) -> Word {
        let mut bits = spirv::MemorySemantics::ACQUIRE_RELEASE;
        if memory & 1 != 0 {
            bits |= spirv::MemorySemantics::UNIFORM_MEMORY;
        }
        if memory & 2 != 0 {
            bits |= spirv::MemorySemantics::WORKGROUP_MEMORY;
        }
        self.asm.constant(Scalar::U32, u64::from(bits.bits()))
    }

    pub(super) fn barrier(&mut self, memory: u64) {
        let tile = self.asm.constant(Scalar::U32, spirv::Scope::Workgroup as u64);
        let semantics = self.semantics(memory);
        let operands = [tile, tile, semantics].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::ControlBarrier, None, None, operands));
    }

    pub(super) fn fence(&mut self, memory: u64) {
        let scope = if memory & 1 != 0 { spirv::Scope::Device } else { spirv::Scope::Workgroup };
        let scope = self.asm.constant(Scalar::U32, scope as u64);
        let semantics = self.semantics(memory);
        let operands = [scope, semantics].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::MemoryBarrier, None, None, operands));
    }

    pub(super) fn number(&mut self, id: Id, component: u32) -> Word {
        self.asm.number(id, component)
    }
}

/// What is known of the alignment `offset` bytes further.
fn aligned_at(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}
