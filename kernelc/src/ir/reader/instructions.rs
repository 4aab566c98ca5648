//! Instructions.

use std::rc::Rc;

use super::cursor::{Reader, Result, Tail};
use super::keywords::{atomic_op, binary_op, cast_op, ends_block, float_predicate, int_predicate};
use crate::ir::lexer::Kind;
use crate::ir::module::{Constant, Flags, Op, Operand, Type, Value};

/// A mask of `shufflevector` that is longer is not taken apart.
const MOST_MASK: u32 = 1024;

/// An instruction without its result.
pub(super) struct Operation {
    pub op: Op,
    /// The type of the result.
    pub makes: Option<Type>,
    /// Whether it ends its block.
    pub last: bool,
}

/// The keywords between an instruction and its first type.
#[derive(Default)]
pub(super) struct Modifiers {
    pub flags: Flags,
    pub inbounds: bool,
}

/// The `i1` of a comparison, or as many of them as are compared.
fn truth(ty: &Type) -> Type {
    match ty {
        Type::Vector(count, _) => Type::Vector(*count, Rc::new(Type::Int(1))),
        _ => Type::Int(1),
    }
}

fn makes(op: Op, ty: Type) -> Operation {
    Operation { op, makes: Some(ty), last: false }
}

fn acts(op: Op) -> Operation {
    Operation { op, makes: None, last: false }
}

fn ends(op: Op) -> Operation {
    Operation { op, makes: None, last: true }
}

impl Reader<'_> {
    /// An instruction from its keyword to the end of the line.
    pub(super) fn operation(&mut self) -> Result<Operation> {
        self.tail = Tail::default();
        let operation = self.known_operation()?;
        self.tail()?;
        if self.peek().first || self.at(b'}') { Ok(operation) } else { Err(self.wrong("the end of the line")) }
    }

    fn known_operation(&mut self) -> Result<Operation> {
        let word = self.word();
        if word.is_empty() {
            return Err(self.wrong("an instruction"));
        }
        self.bump();
        if let Some(op) = binary_op(word) {
            let flags = self.flags()?.flags;
            let (left, right) = self.pair()?;
            let ty = left.ty.clone();
            return Ok(makes(Op::Binary { op, left, right, flags }, ty));
        }
        if let Some(op) = cast_op(word) {
            self.flags()?;
            let value = self.operand()?;
            self.expect_word("to")?;
            let to = self.ty()?;
            return Ok(makes(Op::Cast { op, value, to: to.clone() }, to));
        }
        match word {
            "load" => self.load(),
            "store" => self.store(),
            "call" => self.call(),
            "tail" | "musttail" | "notail" => {
                self.expect_word("call")?;
                self.call()
            }
            "getelementptr" => self.get_element_pointer(),
            "br" => self.branch(),
            "ret" => self.ret(),
            "switch" => self.switch(),
            "unreachable" => Ok(ends(Op::Unreachable)),
            "alloca" => self.alloca(),
            "phi" => self.phi(),
            "icmp" => self.compare_integers(),
            "fcmp" => self.compare_floats(),
            "select" => self.select(),
            "fneg" => self.negate(),
            "freeze" => self.freeze(),
            "extractvalue" => self.extract_value(),
            "insertvalue" => self.insert_value(),
            "extractelement" => self.extract_element(),
            "insertelement" => self.insert_element(),
            "shufflevector" => self.shuffle(),
            "atomicrmw" => self.atomic(),
            "cmpxchg" => self.exchange(),
            "fence" => {
                self.ordering()?;
                Ok(acts(Op::Fence))
            }
            _ => self.unknown(word, Some(Type::Other(word.into()))),
        }
    }

    fn get_element_pointer(&mut self) -> Result<Operation> {
        let inbounds = self.flags()?.inbounds;
        let (op, ty) = self.gep(inbounds, Self::operand)?;
        Ok(makes(op, ty))
    }

    fn compare_integers(&mut self) -> Result<Operation> {
        self.flags()?;
        let Some(predicate) = int_predicate(self.word()) else { return Err(self.wrong("a predicate")) };
        self.bump();
        let (left, right) = self.pair()?;
        let ty = truth(&left.ty);
        Ok(makes(Op::ICmp { predicate, left, right }, ty))
    }

    fn compare_floats(&mut self) -> Result<Operation> {
        let flags = self.flags()?.flags;
        let Some(predicate) = float_predicate(self.word()) else { return Err(self.wrong("a predicate")) };
        self.bump();
        let (left, right) = self.pair()?;
        let ty = truth(&left.ty);
        Ok(makes(Op::FCmp { predicate, left, right, flags }, ty))
    }

    fn select(&mut self) -> Result<Operation> {
        self.flags()?;
        let condition = self.operand()?;
        self.expect(b',')?;
        let yes = self.operand()?;
        self.expect(b',')?;
        let no = self.operand_of(&yes.ty)?;
        let ty = yes.ty.clone();
        Ok(makes(Op::Select { condition, yes, no }, ty))
    }

    fn negate(&mut self) -> Result<Operation> {
        let flags = self.flags()?.flags;
        let value = self.operand()?;
        let ty = value.ty.clone();
        Ok(makes(Op::FNeg { value, flags }, ty))
    }

    fn freeze(&mut self) -> Result<Operation> {
        let value = self.operand()?;
        let ty = value.ty.clone();
        Ok(makes(Op::Freeze { value }, ty))
    }

    fn extract_value(&mut self) -> Result<Operation> {
        let aggregate = self.operand()?;
        let (path, ty) = self.path(&aggregate.ty)?;
        Ok(makes(Op::ExtractValue { aggregate, path }, ty))
    }

    fn insert_value(&mut self) -> Result<Operation> {
        let aggregate = self.operand()?;
        self.expect(b',')?;
        let element = self.operand()?;
        let start = self.position();
        let (path, ty) = self.path(&aggregate.ty)?;
        if ty != element.ty {
            return Err(self.wrong_at(start, "the place of an element of that type"));
        }
        let ty = aggregate.ty.clone();
        Ok(makes(Op::InsertValue { aggregate, element, path }, ty))
    }

    fn extract_element(&mut self) -> Result<Operation> {
        let (vector, element) = self.vector_operand()?;
        self.expect(b',')?;
        let at = self.operand()?;
        Ok(makes(Op::ExtractElement { vector, at }, element))
    }

    fn insert_element(&mut self) -> Result<Operation> {
        let (vector, element) = self.vector_operand()?;
        self.expect(b',')?;
        let element = self.operand_of(&element)?;
        self.expect(b',')?;
        let at = self.operand()?;
        let ty = vector.ty.clone();
        Ok(makes(Op::InsertElement { vector, element, at }, ty))
    }

    /// Flags of wrapping, fast mathematics and address arithmetic.
    pub(super) fn flags(&mut self) -> Result<Modifiers> {
        let mut words = Modifiers::default();
        let mut relaxed = 0_u8;
        loop {
            let part = match self.word() {
                "reassoc" => 1,
                "nnan" => 2,
                "ninf" => 4,
                "nsz" => 8,
                "arcp" => 16,
                "contract" => 32,
                "afn" => 64,
                "fast" => 127,
                "nuw" => {
                    words.flags.nuw = true;
                    0
                }
                "nsw" => {
                    words.flags.nsw = true;
                    0
                }
                "disjoint" => {
                    words.flags.disjoint = true;
                    0
                }
                "inbounds" => {
                    words.inbounds = true;
                    0
                }
                "exact" | "nneg" | "samesign" | "nusw" => 0,
                "inrange" => {
                    self.bump();
                    self.skip_brackets()?;
                    continue;
                }
                _ => break,
            };
            relaxed |= part;
            self.bump();
        }
        words.flags.contract = relaxed & 32 != 0;
        words.flags.reciprocal = relaxed & 16 != 0;
        Ok(words)
    }

    /// `, align 8`, `, addrspace(3)` and metadata, where they end an instruction.
    fn tail(&mut self) -> Result<()> {
        while self.eat(b',') {
            match (self.peek().kind, self.word()) {
                (Kind::Meta, _) => {
                    let debug = self.attachment()?;
                    self.tail.location = self.tail.location.or(debug);
                }
                (_, "align") => {
                    self.bump();
                    self.tail.align = self.unsigned("an alignment")?;
                }
                (_, "addrspace") => self.tail.space = self.optional_space()?.unwrap_or(0),
                _ => return Err(self.wrong("an alignment or metadata")),
            }
        }
        Ok(())
    }

    /// Goes to the next comma if an operand is behind it, not the tail.
    fn eat_operand_comma(&mut self) -> bool {
        let next = self.peek_second();
        let tail = match next.kind {
            Kind::Meta => true,
            Kind::Word => matches!(next.text(self.text), "align" | "addrspace"),
            _ => false,
        };
        !tail && self.eat(b',')
    }

    /// `T a, b`.
    fn pair(&mut self) -> Result<(Operand, Operand)> {
        let left = self.operand()?;
        self.expect(b',')?;
        let value = self.value(&left.ty)?;
        let ty = left.ty.clone();
        Ok((left, Operand { ty, value }))
    }

    fn operand_of(&mut self, ty: &Type) -> Result<Operand> {
        let start = self.position();
        let operand = self.operand()?;
        if operand.ty == *ty { Ok(operand) } else { Err(self.wrong_at(start, "an operand of the same type")) }
    }

    fn pointer_operand(&mut self) -> Result<Operand> {
        let start = self.position();
        let operand = self.operand()?;
        match operand.ty {
            Type::Pointer(_) => Ok(operand),
            _ => Err(self.wrong_at(start, "a pointer")),
        }
    }

    /// A vector and the type of its elements.
    fn vector_operand(&mut self) -> Result<(Operand, Type)> {
        let start = self.position();
        let operand = self.operand()?;
        let element = match &operand.ty {
            Type::Vector(_, element) => (**element).clone(),
            // A scalable one.
            Type::Other(_) => operand.ty.clone(),
            _ => return Err(self.wrong_at(start, "a vector")),
        };
        Ok((operand, element))
    }

    /// `syncscope("agent") seq_cst acquire`, as far as it is here; whether there is an ordering.
    fn ordering(&mut self) -> Result<bool> {
        let mut ordered = false;
        loop {
            match self.word() {
                "syncscope" => {
                    self.bump();
                    self.skip_brackets()?;
                }
                "unordered" | "monotonic" | "acquire" | "release" | "acq_rel" | "seq_cst" => {
                    ordered = true;
                    self.bump();
                }
                _ => return Ok(ordered),
            }
        }
    }

    fn load(&mut self) -> Result<Operation> {
        let atomic = self.eat_word("atomic");
        let volatile = self.eat_word("volatile");
        let ty = self.ty()?;
        self.expect(b',')?;
        let pointer = self.pointer_operand()?;
        let ordered = self.ordering()?;
        self.tail()?;
        let op = Op::Load { ty: ty.clone(), pointer, align: self.tail.align, volatile, atomic: atomic || ordered };
        Ok(makes(op, ty))
    }

    fn store(&mut self) -> Result<Operation> {
        let atomic = self.eat_word("atomic");
        let volatile = self.eat_word("volatile");
        let value = self.operand()?;
        self.expect(b',')?;
        let pointer = self.pointer_operand()?;
        let ordered = self.ordering()?;
        self.tail()?;
        Ok(acts(Op::Store { value, pointer, align: self.tail.align, volatile, atomic: atomic || ordered }))
    }

    fn alloca(&mut self) -> Result<Operation> {
        while self.eat_word("inalloca") || self.eat_word("swifterror") {}
        let ty = self.ty()?;
        let count = if self.eat_operand_comma() {
            self.operand()?
        } else {
            Operand { ty: Type::Int(32), value: Value::Constant(Constant::Int(1)) }
        };
        self.tail()?;
        let Tail { align, space, .. } = self.tail;
        Ok(makes(Op::Alloca { ty, count, align, space }, Type::Pointer(space)))
    }

    /// Behind the flags; the operands come from `operand`.
    pub(super) fn gep(&mut self, inbounds: bool, operand: impl Fn(&mut Self) -> Result<Operand>) -> Result<(Op, Type)> {
        let source = self.ty()?;
        self.expect(b',')?;
        let start = self.position();
        let base = operand(self)?;
        let mut indices = Vec::new();
        while self.eat_operand_comma() {
            indices.push(operand(self)?);
        }
        let lanes = indices.iter().find_map(|index| match index.ty {
            Type::Vector(count, _) => Some(count),
            _ => None,
        });
        let ty = match (&base.ty, lanes) {
            (Type::Pointer(_), Some(count)) => Type::Vector(count, Rc::new(base.ty.clone())),
            (Type::Vector(_, element), _) if matches!(**element, Type::Pointer(_)) => base.ty.clone(),
            (Type::Pointer(_) | Type::Other(_), _) => base.ty.clone(),
            _ => return Err(self.wrong_at(start, "a pointer")),
        };
        Ok((Op::Gep { source, base, indices, inbounds }, ty))
    }

    fn phi(&mut self) -> Result<Operation> {
        self.flags()?;
        let ty = self.ty()?;
        let mut incoming = Vec::new();
        loop {
            self.expect(b'[')?;
            let value = self.value(&ty)?;
            self.expect(b',')?;
            incoming.push((value, self.block_name()?));
            self.expect(b']')?;
            if !self.eat_operand_comma() {
                break;
            }
        }
        Ok(makes(Op::Phi { ty: ty.clone(), incoming }, ty))
    }

    fn branch(&mut self) -> Result<Operation> {
        if self.word() == "label" {
            return Ok(ends(Op::Br { target: self.label()? }));
        }
        let condition = self.operand_of(&Type::Int(1))?;
        self.expect(b',')?;
        let yes = self.label()?;
        self.expect(b',')?;
        let no = self.label()?;
        Ok(ends(Op::CondBr { condition, yes, no }))
    }

    fn ret(&mut self) -> Result<Operation> {
        let ty = self.ty()?;
        let value = match ty {
            Type::Void => None,
            ty => Some(Operand { value: self.value(&ty)?, ty }),
        };
        Ok(ends(Op::Ret { value }))
    }

    fn switch(&mut self) -> Result<Operation> {
        let value = self.operand()?;
        self.expect(b',')?;
        let default = self.label()?;
        self.expect(b'[')?;
        let mut cases = Vec::new();
        while !self.at(b']') {
            let start = self.position();
            match self.operand_of(&value.ty)?.value {
                Value::Constant(Constant::Int(case)) => {
                    self.expect(b',')?;
                    cases.push((case, self.label()?));
                }
                _ => return Err(self.wrong_at(start, "an integer of at most 128 bits")),
            }
        }
        self.bump();
        Ok(ends(Op::Switch { value, default, cases }))
    }

    /// Behind `call`.
    fn call(&mut self) -> Result<Operation> {
        let flags = self.flags()?.flags;
        let space = self.prefix()?.space.unwrap_or(0);
        let returns = self.ty()?;
        // The types of the parameters, where the function takes any number of them.
        self.skip_brackets()?;
        if self.word() == "asm" {
            return self.unknown("asm", Some(returns));
        }
        let ty = Type::Pointer(space);
        let callee = self.value(&ty)?;
        let arguments = self.arguments()?;
        // Attributes and bundles.
        while !self.at(b',') && !self.at(b'}') && !self.peek().first {
            self.skip_one()?;
        }
        let makes = Some(returns.clone());
        let op = match callee {
            Value::Constant(Constant::Function(callee)) => Op::Call { callee, arguments, returns, flags },
            value => Op::CallIndirect { callee: Operand { ty, value }, arguments, returns },
        };
        Ok(Operation { op, makes, last: false })
    }

    fn arguments(&mut self) -> Result<Vec<Operand>> {
        let mut arguments = Vec::new();
        self.expect(b'(')?;
        while !self.at(b')') {
            let ty = self.ty()?;
            let value = if matches!(&ty, Type::Other(name) if **name == *"metadata") {
                let start = self.position();
                while !self.at(b',') && !self.at(b')') && self.peek().kind != Kind::End {
                    self.skip_one()?;
                }
                Value::Constant(Constant::Other(self.text_from(start).into()))
            } else {
                self.skip_attributes()?;
                self.value(&ty)?
            };
            arguments.push(Operand { ty, value });
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(arguments)
    }

    /// The indices of `extractvalue` and `insertvalue`, and the type they lead to.
    fn path(&mut self, aggregate: &Type) -> Result<(Vec<u32>, Type)> {
        let mut path = Vec::new();
        let mut ty = aggregate.clone();
        while self.eat_operand_comma() {
            let start = self.position();
            let index = u32::try_from(self.unsigned("an index")?).ok();
            let inner = match (&ty, index) {
                (Type::Array(count, element), Some(index)) if u64::from(index) < *count => Some((**element).clone()),
                (Type::Struct { fields, .. }, Some(index)) => fields.get(index as usize).cloned(),
                (Type::Other(_), _) => Some(ty.clone()),
                _ => None,
            };
            let (Some(inner), Some(index)) = (inner, index) else {
                return Err(self.wrong_at(start, "an index within the type"));
            };
            ty = inner;
            path.push(index);
        }
        if path.is_empty() { Err(self.wrong("an index")) } else { Ok((path, ty)) }
    }

    fn shuffle(&mut self) -> Result<Operation> {
        let (left, element) = self.vector_operand()?;
        self.expect(b',')?;
        let right = self.operand_of(&left.ty)?;
        self.expect(b',')?;
        let start = self.position();
        let mask = self.constant_operand()?;
        let Type::Vector(count, _) = mask.ty else {
            return self.unknown("shufflevector", Some(left.ty));
        };
        let mask = match mask.value {
            _ if count > MOST_MASK => None,
            Value::Constant(Constant::Zero) => Some(vec![Some(0); count as usize]),
            Value::Constant(Constant::Undef | Constant::Poison) => Some(vec![None; count as usize]),
            Value::Constant(Constant::Aggregate(elements)) => elements
                .iter()
                .map(|one| match one.value {
                    Value::Constant(Constant::Int(index)) => u32::try_from(index).ok().map(Some),
                    Value::Constant(Constant::Zero) => Some(Some(0)),
                    Value::Constant(Constant::Undef | Constant::Poison) => Some(None),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        let Some(mask) = mask else { return Err(self.wrong_at(start, "a mask of at most 1024 elements")) };
        Ok(makes(Op::ShuffleVector { left, right, mask }, Type::Vector(count, Rc::new(element))))
    }

    fn atomic(&mut self) -> Result<Operation> {
        self.eat_word("volatile");
        let (op, name) = (atomic_op(self.word()), self.word());
        self.bump();
        let pointer = self.pointer_operand()?;
        self.expect(b',')?;
        let value = self.operand()?;
        let ty = value.ty.clone();
        self.ordering()?;
        self.tail()?;
        Ok(makes(
            match op {
                Some(op) => Op::AtomicRmw { op, pointer, value },
                None => Op::Other { name: format!("atomicrmw {name}").into() },
            },
            ty,
        ))
    }

    fn exchange(&mut self) -> Result<Operation> {
        while self.eat_word("weak") || self.eat_word("volatile") {}
        let pointer = self.pointer_operand()?;
        self.expect(b',')?;
        let expected = self.operand()?;
        self.expect(b',')?;
        let new = self.operand_of(&expected.ty)?;
        self.ordering()?;
        let ty = Type::Struct { packed: false, fields: vec![expected.ty.clone(), Type::Int(1)].into() };
        Ok(makes(Op::CmpXchg { pointer, expected, new }, ty))
    }

    /// Goes to the end of an instruction that no kernel holds; some span lines.
    fn unknown(&mut self, name: &str, makes: Option<Type>) -> Result<Operation> {
        loop {
            let next = self.peek();
            let continued = matches!(self.word(), "to" | "cleanup" | "catch" | "filter" | "unwind");
            if next.kind == Kind::End || next.first && !continued {
                break;
            }
            if next.kind == Kind::Meta && self.peek_text() == "!dbg" {
                let debug = self.attachment()?;
                self.tail.location = self.tail.location.or(debug);
            } else {
                self.skip_one()?;
            }
        }
        Ok(Operation { op: Op::Other { name: name.into() }, makes, last: ends_block(name) })
    }
}
