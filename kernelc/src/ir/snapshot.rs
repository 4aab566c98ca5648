//! Copies a module of LLVM to a [`Module`], which `lower` and the analyses read. A change of LLVM's module makes the copy invalid.
//!
//! A type that is larger than any kernel needs becomes [`Type::Other`]. A constant that is larger than any kernel needs becomes
//! [`Constant::Other`]. `lower` refuses both. The limits are needed because types share their parts: a short module can define a type
//! with so many parts that a visit of all parts would take forever.

use super::module::*;
use super::operations::{
    ATOMIC_OPERATIONS, BINARY_OPERATIONS, CAST_OPERATIONS, FLOAT_PREDICATES, INTEGER_PREDICATES,
    UNSUPPORTED_INSTRUCTIONS,
};
use crate::llvm::{self, Form, number};
use number::opcode as o;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of parts of a type, counted recursively.
const MAX_TYPE_PARTS: u32 = 1 << 16;
/// The maximum depth of types and of constants.
const MAX_LEVELS: u32 = 128;
/// The maximum number of elements of a constant vector, and of the mask of a `shufflevector`.
const MAX_ELEMENTS: u32 = 1024;
/// The maximum number of scopes around a source location that are searched for the location's function.
const MAX_SCOPES: usize = 64;

/// Copies a module.
pub fn snapshot(source: &llvm::Module) -> Module {
    let all: Vec<llvm::Value<'_>> = source.globals().collect();
    let functions: Vec<llvm::Value<'_>> = source.functions().collect();
    let mut copier = Snapshot {
        globals: all.iter().enumerate().map(|(n, value)| (*value, GlobalId(n))).collect(),
        functions: functions.iter().enumerate().map(|(n, value)| (*value, FunctionId(n))).collect(),
        ..Snapshot::default()
    };
    let globals = all.into_iter().map(|global| copier.global(global)).collect();
    let functions = functions.into_iter().map(|function| copier.function(function)).collect();
    Module { globals, functions, locations: copier.locations }
}

/// The frame of a source location, followed by the frames of the calls through which it was inlined, innermost first.
pub fn frames(location: llvm::Node<'_>) -> Vec<Frame> {
    let mut copier = Snapshot::default();
    let place = copier.location(location);
    Module { locations: copier.locations, ..Module::default() }.frames(place)
}

/// A type with its number of parts and its depth.
#[derive(Clone)]
struct Measured {
    ty: Type,
    parts: u32,
    levels: u32,
}

/// The function and the file of a scope.
type ScopeSource = (Rc<str>, Rc<str>);

#[derive(Default)]
struct Snapshot<'m> {
    types: HashMap<llvm::Type<'m>, Measured>,
    globals: HashMap<llvm::Value<'m>, GlobalId>,
    functions: HashMap<llvm::Value<'m>, FunctionId>,
    /// The parameters and results of the function that is being copied.
    locals: HashMap<llvm::Value<'m>, LocalId>,
    blocks: HashMap<llvm::Block<'m>, BlockId>,
    /// The depth of the constant that is being copied.
    levels: u32,
    locations: Vec<Location>,
    nodes: HashMap<llvm::Node<'m>, LocationId>,
    scopes: HashMap<llvm::Node<'m>, ScopeSource>,
}

impl<'m> Snapshot<'m> {
    fn global(&mut self, global: llvm::Value<'m>) -> Global {
        Global {
            name: global.name(),
            ty: self.some_type(global.value_type()),
            space: space_of(global),
            constant: global.is_constant(),
            initializer: global.initializer().map(|value| self.constant(value)),
            align: u64::from(global.alignment()),
        }
    }

    fn some_type(&mut self, ty: Option<llvm::Type<'m>>) -> Type {
        ty.map_or(Type::Void, |ty| self.ty(ty))
    }

    fn type_of(&mut self, value: llvm::Value<'m>) -> Type {
        self.some_type(value.ty())
    }

    fn ty(&mut self, ty: llvm::Type<'m>) -> Type {
        if let Some(known) = self.types.get(&ty) {
            return known.ty.clone();
        }
        // A stack replaces recursion, because types may nest deeply.
        let mut pending = vec![ty];
        while let Some(&next) = pending.last() {
            let part_types: Vec<llvm::Type<'m>> = match next.kind() {
                number::ty::ARRAY | number::ty::VECTOR => next.element().into_iter().collect(),
                number::ty::STRUCT => (0..next.count_fields()).filter_map(|n| next.field(n)).collect(),
                _ => Vec::new(),
            };
            let before = pending.len();
            pending.extend(part_types.iter().filter(|part| !self.types.contains_key(part)));
            if pending.len() == before {
                let made = self.measured(next, &part_types);
                self.types.insert(next, made);
                pending.pop();
            }
        }
        self.types[&ty].ty.clone()
    }

    /// Copies a type whose parts are already copied.
    fn measured(&self, ty: llvm::Type<'m>, part_types: &[llvm::Type<'m>]) -> Measured {
        let inner: Vec<&Measured> = part_types.iter().map(|part| &self.types[part]).collect();
        let parts = inner.iter().fold(1_u32, |all, part| all.saturating_add(part.parts));
        let levels = 1 + inner.iter().map(|part| part.levels).max().unwrap_or(0);
        let mut types = inner.iter().map(|part| part.ty.clone());
        let mut element = || Rc::new(types.next().unwrap_or(Type::Other));
        let made = match ty.kind() {
            // If a part of a type is too large, the type is too large too.
            _ if parts > MAX_TYPE_PARTS || levels > MAX_LEVELS => Type::Other,
            number::ty::VOID => Type::Void,
            number::ty::HALF => Type::Half,
            number::ty::FLOAT => Type::Float,
            number::ty::DOUBLE => Type::Double,
            number::ty::INTEGER => Type::Int(ty.width()),
            number::ty::POINTER => Type::Pointer(ty.space()),
            number::ty::ARRAY => Type::Array(ty.array_length(), element()),
            number::ty::VECTOR => Type::Vector(ty.vector_length(), element()),
            number::ty::STRUCT if !ty.is_opaque() => Type::Struct { packed: ty.is_packed(), fields: types.collect() },
            _ => Type::Other,
        };
        Measured { ty: made, parts, levels }
    }

    fn constant(&mut self, value: llvm::Value<'m>) -> Constant {
        use number::value as k;
        let kind = match value.form() {
            Form::Other(kind) => kind,
            Form::Expression(opcode) => {
                return self.one_level_deeper(|copier| match copier.op(value, opcode) {
                    op @ (Op::Gep { .. } | Op::Cast { .. } | Op::Binary { .. }) => Constant::Expression(Box::new(op)),
                    _ => Constant::Other,
                });
            }
            Form::Instruction(_) => return Constant::Other,
        };
        match (kind, self.type_of(value)) {
            (k::INTEGER, Type::Int(1)) => Constant::Int(i128::from(value.zero_extended())),
            (k::INTEGER, Type::Int(..=64)) => Constant::Int(i128::from(value.sign_extended())),
            (k::FLOAT, ty @ (Type::Half | Type::Float | Type::Double)) => {
                // LLVM prints all three types as a double of the same value.
                let number = value.real();
                Constant::Float(if number.is_nan() { nan(value.bits(), &ty) } else { number.to_bits() })
            }
            (k::NULL | k::ZERO, _) => Constant::Zero,
            (k::UNDEF, _) => Constant::Undef,
            (k::POISON, _) => Constant::Poison,
            (k::DATA_ARRAY, _) if value.is_string() => Constant::Bytes(value.string().into()),
            (k::DATA_ARRAY | k::ARRAY | k::STRUCT | k::VECTOR | k::DATA_VECTOR, ty) => {
                let count = match ty {
                    Type::Array(n, _) => u32::try_from(n).ok(),
                    Type::Vector(n, _) => Some(n).filter(|n| *n <= MAX_ELEMENTS),
                    Type::Struct { fields, .. } => u32::try_from(fields.len()).ok(),
                    _ => None,
                };
                let Some(count) = count else { return Constant::Other };
                self.one_level_deeper(|copier| {
                    let elements = (0..count).filter_map(|n| value.element(n)).map(|element| copier.operand(element));
                    Constant::Aggregate(elements.collect())
                })
            }
            (k::GLOBAL_VARIABLE, _) => self.globals.get(&value).map_or(Constant::Other, |id| Constant::Global(*id)),
            (k::FUNCTION, _) => self.functions.get(&value).map_or(Constant::Other, |id| Constant::Function(*id)),
            (k::ALIAS, _) => match value.aliasee() {
                Some(other) if names(other) => self.one_level_deeper(|copier| copier.constant(other)),
                _ => Constant::Other,
            },
            (k::BLOCK_ADDRESS, _) => {
                let function = value.labelled().and_then(|function| self.functions.get(&function));
                function.map_or(Constant::Other, |id| Constant::BlockAddress(*id))
            }
            _ => Constant::Other,
        }
    }

    /// Calls `parts`, which copies the parts of a constant, one level deeper. Returns [`Constant::Other`] at the
    /// maximum depth.
    fn one_level_deeper(&mut self, parts: impl FnOnce(&mut Self) -> Constant) -> Constant {
        if self.levels >= MAX_LEVELS {
            return Constant::Other;
        }
        self.levels += 1;
        let made = parts(self);
        self.levels -= 1;
        made
    }

    fn value(&mut self, value: llvm::Value<'m>) -> Value {
        match self.locals.get(&value) {
            Some(local) => Value::Local(*local),
            None => Value::Constant(self.constant(value)),
        }
    }

    fn operand(&mut self, value: llvm::Value<'m>) -> Operand {
        Operand { ty: self.type_of(value), value: self.value(value) }
    }

    /// Operand `n` of an instruction. LLVM's verifier guarantees that the operand exists.
    fn at(&mut self, value: llvm::Value<'m>, n: u32) -> Operand {
        self.operand_or_undef(value.operand(n))
    }

    fn operand_or_undef(&mut self, value: Option<llvm::Value<'m>>) -> Operand {
        match value {
            Some(value) => self.operand(value),
            None => Operand { ty: Type::Void, value: Value::Constant(Constant::Undef) },
        }
    }

    fn function(&mut self, function: llvm::Value<'m>) -> Function {
        (self.locals, self.blocks) = (HashMap::new(), HashMap::new());
        let mut locals = Vec::new();
        let mut names = Names(0);
        let mut parameters = Vec::new();
        for n in 0..function.count_parameters() {
            let Some(value) = function.parameter(n) else { continue };
            let ty = self.type_of(value);
            let pointee = function.pointee(n).map(|ty| self.ty(ty));
            self.locals.insert(value, LocalId(locals.len()));
            locals.push(Local { ty: ty.clone(), name: names.of(value.name()) });
            parameters.push(Parameter { ty, pointee });
        }
        let all: Vec<llvm::Block<'m>> = function.blocks().collect();
        let mut labels = Vec::new();
        for (n, block) in all.iter().enumerate() {
            self.blocks.insert(*block, BlockId(n));
            labels.push(names.of(block.as_value().map(llvm::Value::name).unwrap_or_default()));
            for instruction in block.instructions() {
                let ty = self.type_of(instruction);
                if ty != Type::Void {
                    self.locals.insert(instruction, LocalId(locals.len()));
                    locals.push(Local { ty, name: names.of(instruction.name()) });
                }
            }
        }
        let mut blocks = Vec::new();
        for (block, name) in all.iter().zip(labels) {
            let instruction = |one: llvm::Value<'m>| Instruction {
                result: self.locals.get(&one).copied(),
                op: match one.form() {
                    Form::Instruction(opcode) => self.op(one, opcode),
                    _ => other("unknown"),
                },
                location: one.location().map(|node| self.location(node)),
            };
            blocks.push(Block { name, instructions: block.instructions().map(instruction).collect() });
        }
        let definition = function.subprogram().filter(|_| !all.is_empty()).and_then(|program| self.definition(program));
        Function {
            name: function.name(),
            kernel: number::KERNEL_CONVENTIONS.contains(&function.calling_convention()),
            returns: self.some_type(function.value_type().and_then(llvm::Type::returns)),
            parameters,
            locals,
            blocks,
            definition,
        }
    }

    /// The operation of an instruction or a constant expression.
    fn op(&mut self, raw: llvm::Value<'m>, opcode: i32) -> Op {
        let flags = flags(raw);
        if let Some((_, op)) = BINARY_OPERATIONS.iter().find(|(number, _)| *number == opcode) {
            return Op::Binary { op: *op, left: self.at(raw, 0), right: self.at(raw, 1), flags };
        }
        if let Some((_, op)) = CAST_OPERATIONS.iter().find(|(number, _)| *number == opcode) {
            return Op::Cast { op: *op, value: self.at(raw, 0), to: self.type_of(raw) };
        }
        match opcode {
            o::RET | o::BR | o::SWITCH | o::UNREACHABLE => self.terminator(raw, opcode),
            o::ALLOCA | o::LOAD | o::STORE | o::GEP | o::FENCE | o::CMPXCHG | o::ATOMICRMW => self.memory(raw, opcode),
            o::FNEG => Op::FNeg { value: self.at(raw, 0), flags },
            o::ICMP => match INTEGER_PREDICATES.get(index(raw.integer_predicate() - number::FIRST_INTEGER_PREDICATE)) {
                Some(&predicate) => Op::ICmp { predicate, left: self.at(raw, 0), right: self.at(raw, 1) },
                None => other("icmp"),
            },
            o::FCMP => match FLOAT_PREDICATES.get(index(raw.float_predicate())) {
                Some(&predicate) => Op::FCmp { predicate, left: self.at(raw, 0), right: self.at(raw, 1), flags },
                None => other("fcmp"),
            },
            o::PHI => {
                let pairs = (0..raw.count_incoming()).filter_map(|n| raw.incoming_value(n).zip(raw.incoming_block(n)));
                let incoming = pairs.map(|(value, from)| (self.value(value), self.blocks[&from])).collect();
                Op::Phi { ty: self.type_of(raw), incoming }
            }
            o::SELECT => Op::Select { condition: self.at(raw, 0), yes: self.at(raw, 1), no: self.at(raw, 2) },
            o::FREEZE => Op::Freeze { value: self.at(raw, 0) },
            o::CALL => self.call(raw, flags),
            o::EXTRACT_VALUE => Op::ExtractValue { aggregate: self.at(raw, 0), path: raw.path() },
            o::INSERT_VALUE => {
                Op::InsertValue { aggregate: self.at(raw, 0), element: self.at(raw, 1), path: raw.path() }
            }
            o::EXTRACT_ELEMENT => Op::ExtractElement { vector: self.at(raw, 0), at: self.at(raw, 1) },
            o::INSERT_ELEMENT => {
                Op::InsertElement { vector: self.at(raw, 0), element: self.at(raw, 1), at: self.at(raw, 2) }
            }
            o::SHUFFLE_VECTOR if raw.count_mask() > MAX_ELEMENTS => other("shufflevector"),
            o::SHUFFLE_VECTOR => {
                let mask = (0..raw.count_mask()).map(|n| u32::try_from(raw.mask(n)).ok()).collect();
                Op::ShuffleVector { left: self.at(raw, 0), right: self.at(raw, 1), mask }
            }
            _ => other(
                UNSUPPORTED_INSTRUCTIONS
                    .iter()
                    .find(|(number, _)| *number == opcode)
                    .map_or("unknown", |(_, name)| name),
            ),
        }
    }

    fn terminator(&mut self, raw: llvm::Value<'m>, opcode: i32) -> Op {
        let to = |copier: &Self, n: u32| raw.successor(n).map_or(BlockId(0), |block| copier.blocks[&block]);
        match opcode {
            o::RET => Op::Ret { value: (raw.count_operands() > 0).then(|| self.at(raw, 0)) },
            o::BR if !raw.is_conditional() => Op::Br { target: to(self, 0) },
            o::BR => {
                let (yes, no) = (to(self, 0), to(self, 1));
                Op::CondBr { condition: self.operand_or_undef(raw.condition()), yes, no }
            }
            o::SWITCH => {
                let value = |n: u32| raw.case(n).map_or(0, llvm::Value::sign_extended);
                let cases = (1..raw.count_successors()).map(|n| (i128::from(value(n)), to(self, n))).collect();
                Op::Switch { value: self.at(raw, 0), default: to(self, 0), cases }
            }
            _ => Op::Unreachable,
        }
    }

    fn memory(&mut self, raw: llvm::Value<'m>, opcode: i32) -> Op {
        match opcode {
            o::LOAD => Op::Load {
                ty: self.type_of(raw),
                pointer: self.at(raw, 0),
                align: u64::from(raw.alignment()),
                volatile: raw.is_volatile(),
                atomic: raw.ordering() != 0,
            },
            o::STORE => Op::Store {
                value: self.at(raw, 0),
                pointer: self.at(raw, 1),
                align: u64::from(raw.alignment()),
                volatile: raw.is_volatile(),
                atomic: raw.ordering() != 0,
            },
            o::GEP => Op::Gep {
                source: self.some_type(raw.source_type()),
                base: self.at(raw, 0),
                indices: (1..raw.count_operands()).map(|n| self.at(raw, n)).collect(),
                inbounds: raw.is_in_bounds(),
            },
            o::ALLOCA => {
                let space = space_of(raw);
                let align = u64::from(raw.alignment());
                Op::Alloca { ty: self.some_type(raw.allocated_type()), count: self.at(raw, 0), align, space }
            }
            o::ATOMICRMW => match ATOMIC_OPERATIONS.get(index(raw.atomic_operation())) {
                Some(&op) => Op::AtomicRmw { op, pointer: self.at(raw, 0), value: self.at(raw, 1) },
                None => other("atomicrmw"),
            },
            o::CMPXCHG => Op::CmpXchg { pointer: self.at(raw, 0), expected: self.at(raw, 1), new: self.at(raw, 2) },
            _ => Op::Fence,
        }
    }

    fn call(&mut self, raw: llvm::Value<'m>, flags: Flags) -> Op {
        let Some(called) = raw.called().filter(|called| called.form() != Form::Other(number::value::ASSEMBLY)) else {
            return other("asm");
        };
        let arguments = (0..raw.count_arguments()).map(|n| self.at(raw, n)).collect();
        let returns = self.type_of(raw);
        let callee = self.operand(called);
        match callee.value {
            Value::Constant(Constant::Function(callee)) => Op::Call { callee, arguments, returns, flags },
            _ => Op::CallIndirect { callee, arguments, returns },
        }
    }

    /// Copies a source location, and the locations of the calls through which it was inlined.
    fn location(&mut self, node: llvm::Node<'m>) -> LocationId {
        let first = self.nodes.get(&node).copied();
        let (mut node, mut inner) = (node, None::<LocationId>);
        let found = first.unwrap_or(LocationId(self.locations.len()));
        // A loop replaces recursion, because there may be many calls.
        loop {
            let known = self.nodes.get(&node).copied();
            let id = known.unwrap_or(LocationId(self.locations.len()));
            if let Some(LocationId(inner)) = inner {
                self.locations[inner].inlined_at = Some(id);
            }
            if known.is_some() {
                return found;
            }
            assert_eq!(node.kind(), number::node::LOCATION, "inlinedAt must be a DILocation");
            self.nodes.insert(node, id);
            let (function, file) = node.scope().map_or_else(Default::default, |scope| self.place(scope));
            self.locations.push(Location {
                function,
                file,
                line: node.line(),
                column: node.column(),
                inlined_at: None,
            });
            let Some(outer) = node.inlined_at() else { return found };
            (node, inner) = (outer, Some(id));
        }
    }

    fn place(&mut self, scope: llvm::Node<'m>) -> ScopeSource {
        if let Some(known) = self.scopes.get(&scope) {
            return known.clone();
        }
        let (mut file, mut function) = (None, Rc::default());
        let mut next = Some(scope);
        for _ in 0..MAX_SCOPES {
            let Some(node) = next else { break };
            let operands = node.operands();
            // Operand 0 of scopes and subprograms is the file, operand 1 is the enclosing scope.
            file = file.or_else(|| part(&operands, 0));
            if node.kind() == number::node::SUBPROGRAM {
                function = text(&operands, 2).into();
                break;
            }
            next = part(&operands, 1);
        }
        let made = (function, file.map(file_name).unwrap_or_default().into());
        self.scopes.insert(scope, ScopeSource::clone(&made));
        made
    }

    fn definition(&self, program: llvm::Node<'m>) -> Option<Frame> {
        if program.kind() != number::node::SUBPROGRAM {
            return None;
        }
        let operands = program.operands();
        let file = part(&operands, 0).map(file_name).unwrap_or_default();
        Some(Frame { function: text(&operands, 2), file, line: program.first_line(), column: 0 })
    }
}

/// Operand `n` of a metadata node, if the operand is itself a metadata node.
fn part<'m>(operands: &[Option<llvm::Value<'m>>], n: usize) -> Option<llvm::Node<'m>> {
    operands.get(n).copied().flatten()?.as_node()
}

/// Operand `n` of a metadata node as text; empty if the operand is not a text.
fn text(operands: &[Option<llvm::Value<'_>>], n: usize) -> String {
    operands.get(n).copied().flatten().map(llvm::Value::as_text).unwrap_or_default()
}

/// The path of a DIFile.
fn file_name(node: llvm::Node<'_>) -> String {
    if node.kind() != number::node::FILE {
        return String::new();
    }
    let operands = node.operands();
    let (name, folder) = (text(&operands, 0), text(&operands, 1));
    if name.starts_with('/') || folder.is_empty() { name } else { format!("{folder}/{name}") }
}

/// True if a value is a global variable, a function or another alias.
fn names(value: llvm::Value<'_>) -> bool {
    use number::value as k;
    matches!(value.form(), Form::Other(k::GLOBAL_VARIABLE | k::FUNCTION | k::ALIAS))
}

/// The address space of a value that is an address.
fn space_of(value: llvm::Value<'_>) -> u32 {
    value.ty().filter(|ty| ty.kind() == number::ty::POINTER).map_or(0, llvm::Type::space)
}

/// Numbers unnamed values as LLVM's printer does.
struct Names(usize);

impl Names {
    fn of(&mut self, name: String) -> String {
        if !name.is_empty() {
            return name;
        }
        self.0 += 1;
        (self.0 - 1).to_string()
    }
}

fn other(name: &'static str) -> Op {
    Op::Other { name }
}

fn index(number: i32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The flags of an instruction. Flags of constant expressions are not copied.
fn flags(value: llvm::Value<'_>) -> Flags {
    let mut flags = Flags::default();
    match value.form() {
        Form::Instruction(o::ADD | o::SUB | o::MUL | o::SHL) => {
            (flags.nsw, flags.nuw) = (value.has_nsw(), value.has_nuw());
        }
        Form::Instruction(o::OR) => flags.disjoint = value.is_disjoint(),
        Form::Instruction(_) if value.can_be_fast() => {
            let flag_bits = value.fast_flags();
            flags.contract = flag_bits & number::CONTRACT != 0;
            flags.reciprocal = flag_bits & number::RECIPROCAL != 0;
        }
        _ => {}
    }
    flags
}

/// The bits of a NaN after conversion to double, with the same payload.
fn nan(bits: u64, ty: &Type) -> u64 {
    match ty {
        Type::Double => bits,
        Type::Float => (bits & 0x8000_0000) << 32 | 0x7ff << 52 | (bits & 0x7f_ffff) << 29,
        _ => (bits & 0x8000) << 48 | 0x7ff << 52 | (bits & 0x3ff) << 42,
    }
}
