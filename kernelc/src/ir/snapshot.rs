//! A module of LLVM as a [`Module`]: what `lower` and the analyses read. It is a copy, valid as long as nobody changes LLVM's.
//!
//! The reader of text (`super::reader`) is left for tests, which compare it with this (`llvm::tests`).

use super::module::*;
use crate::llvm::{self, number};
use number::opcode as o;
use std::collections::HashMap;
use std::rc::Rc;

/// Copies a module.
pub fn snapshot(source: &llvm::Module) -> Module {
    let all: Vec<llvm::Value<'_>> = source.globals().collect();
    let functions: Vec<llvm::Value<'_>> = source.functions().collect();
    let mut view = Snapshot {
        globals: all.iter().enumerate().map(|(n, value)| (*value, GlobalId(n))).collect(),
        functions: functions.iter().enumerate().map(|(n, value)| (*value, FunctionId(n))).collect(),
        types: HashMap::new(),
        nodes: HashMap::new(),
        locals: HashMap::new(),
        blocks: HashMap::new(),
        debug: HashMap::new(),
    };
    let globals = all.into_iter().map(|global| view.global(global)).collect();
    let functions = functions.into_iter().map(|function| view.function(function)).collect();
    Module { globals, functions, debug: view.debug }
}

struct Snapshot<'m> {
    types: HashMap<llvm::Type<'m>, Type>,
    globals: HashMap<llvm::Value<'m>, GlobalId>,
    functions: HashMap<llvm::Value<'m>, FunctionId>,
    nodes: HashMap<llvm::Node<'m>, usize>,
    /// Of the function at hand.
    locals: HashMap<llvm::Value<'m>, LocalId>,
    blocks: HashMap<llvm::Block<'m>, BlockId>,
    debug: HashMap<usize, DebugNode>,
}

impl<'m> Snapshot<'m> {
    fn global(&mut self, global: llvm::Value<'m>) -> Global {
        let Type::Pointer(space) = self.type_of(global) else { unreachable!("a global is an address") };
        Global {
            name: global.name(),
            ty: self.some_type(global.value_type()),
            space,
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
            return known.clone();
        }
        let made = match ty.kind() {
            number::ty::VOID => Type::Void,
            number::ty::HALF => Type::Half,
            number::ty::FLOAT => Type::Float,
            number::ty::DOUBLE => Type::Double,
            number::ty::INTEGER => Type::Int(ty.width()),
            number::ty::POINTER => Type::Pointer(ty.space()),
            number::ty::ARRAY => Type::Array(ty.array_length(), Rc::new(self.some_type(ty.element()))),
            number::ty::VECTOR => Type::Vector(ty.vector_length(), Rc::new(self.some_type(ty.element()))),
            number::ty::STRUCT if !ty.is_opaque() => Type::Struct {
                packed: ty.is_packed(),
                fields: (0..ty.count_fields()).map(|n| self.some_type(ty.field(n))).collect(),
            },
            _ => Type::Other(ty.print().into()),
        };
        self.types.insert(ty, made.clone());
        made
    }

    fn constant(&mut self, value: llvm::Value<'m>) -> Constant {
        use number::value as k;
        match (value.kind(), self.type_of(value)) {
            (k::INTEGER, Type::Int(1)) => Constant::Int(i128::from(value.zero_extended())),
            (k::INTEGER, Type::Int(..=64)) => Constant::Int(i128::from(value.sign_extended())),
            (k::FLOAT, ty @ (Type::Half | Type::Float | Type::Double)) => {
                // As LLVM writes them: a double of the same value.
                let number = value.real();
                Constant::Float(if number.is_nan() { nan(value, &ty) } else { number.to_bits() })
            }
            (k::NULL | k::ZERO, _) => Constant::Zero,
            (k::UNDEF, _) => Constant::Undef,
            (k::POISON, _) => Constant::Poison,
            (k::DATA_ARRAY, _) if value.is_string() => Constant::Bytes(value.string().into()),
            (k::DATA_ARRAY | k::ARRAY | k::STRUCT | k::VECTOR | k::DATA_VECTOR, ty) => {
                let count = match ty {
                    Type::Array(n, _) => u32::try_from(n).unwrap_or(0),
                    Type::Vector(n, _) => n,
                    Type::Struct { fields, .. } => u32::try_from(fields.len()).unwrap_or(0),
                    _ => 0,
                };
                let elements = (0..count).filter_map(|n| value.element(n)).collect::<Vec<_>>();
                Constant::Aggregate(elements.into_iter().map(|element| self.operand(element)).collect())
            }
            (k::GLOBAL_VARIABLE, _) => Constant::Global(self.globals[&value]),
            (k::FUNCTION, _) => Constant::Function(self.functions[&value]),
            (k::EXPRESSION, _) => match self.op(value, value.constant_opcode()) {
                Op::Other { .. } => Constant::Other(value.print().into()),
                op => Constant::Expression(Box::new(op)),
            },
            _ => Constant::Other(value.print().into()),
        }
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

    /// An operand that LLVM says is there.
    fn at(&mut self, value: llvm::Value<'m>, n: u32) -> Operand {
        self.given(value.operand(n))
    }

    fn given(&mut self, value: Option<llvm::Value<'m>>) -> Operand {
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
            let pointee = ["byref", "byval"].into_iter().find_map(|kind| function.attribute_type(n, kind));
            let pointee = pointee.map(|ty| self.ty(ty));
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
                op: self.op(one, one.opcode()),
                location: one.location().map(|node| LocationId(self.node(node))),
            };
            blocks.push(Block { name, instructions: block.instructions().map(instruction).collect() });
        }
        let program = function.subprogram().filter(|_| !all.is_empty());
        Function {
            name: function.name(),
            kernel: number::KERNELS.contains(&function.calling_convention()),
            returns: self.some_type(function.value_type().and_then(llvm::Type::returns)),
            parameters,
            locals,
            blocks,
            subprogram: program.map(|node| self.node(node)),
        }
    }

    /// Of an instruction or a constant expression.
    fn op(&mut self, raw: llvm::Value<'m>, opcode: i32) -> Op {
        let flags = flags(raw, opcode);
        if let Some((_, op)) = BINARY.iter().find(|(number, _)| *number == opcode) {
            return Op::Binary { op: *op, left: self.at(raw, 0), right: self.at(raw, 1), flags };
        }
        if let Some((_, op)) = CASTS.iter().find(|(number, _)| *number == opcode) {
            return Op::Cast { op: *op, value: self.at(raw, 0), to: self.type_of(raw) };
        }
        match opcode {
            o::RET | o::BR | o::SWITCH | o::UNREACHABLE => self.terminator(raw, opcode),
            o::ALLOCA | o::LOAD | o::STORE | o::GEP | o::FENCE | o::CMPXCHG | o::ATOMICRMW => self.memory(raw, opcode),
            o::FNEG => Op::FNeg { value: self.at(raw, 0), flags },
            o::ICMP => match INTEGERS.get(index(raw.integer_predicate() - number::FIRST_INTEGER_PREDICATE)) {
                Some(&predicate) => Op::ICmp { predicate, left: self.at(raw, 0), right: self.at(raw, 1) },
                None => other("icmp"),
            },
            o::FCMP => match FLOATS.get(index(raw.float_predicate())) {
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
            o::SHUFFLE_VECTOR => {
                let mask = (0..raw.count_mask()).map(|n| u32::try_from(raw.mask(n)).ok()).collect();
                Op::ShuffleVector { left: self.at(raw, 0), right: self.at(raw, 1), mask }
            }
            _ => other(&name_of(raw)),
        }
    }

    fn terminator(&mut self, raw: llvm::Value<'m>, opcode: i32) -> Op {
        let to = |view: &Self, n: u32| raw.successor(n).map_or(BlockId(0), |block| view.blocks[&block]);
        match opcode {
            o::RET => Op::Ret { value: (raw.count_operands() > 0).then(|| self.at(raw, 0)) },
            o::BR if !raw.is_conditional() => Op::Br { target: to(self, 0) },
            o::BR => {
                let (yes, no) = (to(self, 0), to(self, 1));
                Op::CondBr { condition: self.given(raw.condition()), yes, no }
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
                indices: (1..u32::try_from(raw.count_operands()).unwrap_or(0)).map(|n| self.at(raw, n)).collect(),
                inbounds: raw.is_in_bounds(),
            },
            o::ALLOCA => {
                let space = raw.ty().map_or(0, llvm::Type::space);
                let align = u64::from(raw.alignment());
                Op::Alloca { ty: self.some_type(raw.allocated_type()), count: self.at(raw, 0), align, space }
            }
            o::ATOMICRMW => match ATOMICS.get(index(raw.atomic_operation())) {
                Some(&op) => Op::AtomicRmw { op, pointer: self.at(raw, 0), value: self.at(raw, 1) },
                None => other("atomicrmw"),
            },
            o::CMPXCHG => Op::CmpXchg { pointer: self.at(raw, 0), expected: self.at(raw, 1), new: self.at(raw, 2) },
            _ => Op::Fence,
        }
    }

    fn call(&mut self, raw: llvm::Value<'m>, flags: Flags) -> Op {
        let Some(called) = raw.called().filter(|called| called.as_assembly().is_none()) else { return other("asm") };
        let arguments = (0..raw.count_arguments()).map(|n| self.at(raw, n)).collect();
        let returns = self.type_of(raw);
        match self.functions.get(&called) {
            Some(&callee) => Op::Call { callee, arguments, returns, flags },
            None => Op::CallIndirect { callee: self.operand(called), arguments, returns },
        }
    }

    /// The number of a node of debug metadata.
    fn node(&mut self, node: llvm::Node<'m>) -> usize {
        if let Some(number) = self.nodes.get(&node) {
            return *number;
        }
        let number = self.nodes.len();
        self.nodes.insert(node, number);
        let made = if node.kind() == number::node::LOCATION {
            DebugNode::Location {
                line: node.line(),
                column: node.column(),
                scope: node.scope().map_or(usize::MAX, |scope| self.node(scope)),
                inlined_at: node.inlined_at().map(|place| self.node(place)),
            }
        } else {
            let operands = node.operands();
            let part = |n: usize| operands.get(n).copied().flatten();
            let text = |n: usize| part(n).map(llvm::Value::as_text).unwrap_or_default();
            let inner = |n: usize| part(n).and_then(llvm::Value::as_node);
            match node.kind() {
                number::node::SUBPROGRAM => DebugNode::Subprogram {
                    name: text(2),
                    file: inner(0).map(|file| self.node(file)),
                    line: node.first_line(),
                },
                number::node::FILE => DebugNode::File { name: text(0), directory: text(1) },
                _ => DebugNode::Scope {
                    scope: inner(1).map(|scope| self.node(scope)),
                    file: inner(0).map(|file| self.node(file)),
                },
            }
        };
        self.debug.insert(number, made);
        number
    }
}

/// Numbers for what has no name, as LLVM prints them.
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

fn other(name: &str) -> Op {
    Op::Other { name: name.into() }
}

/// The instruction's word, as LLVM prints it.
fn name_of(raw: llvm::Value<'_>) -> String {
    let text = raw.print();
    let code = text.split_once(" = ").map_or(text.as_str(), |(_, code)| code);
    code.split_whitespace().next().unwrap_or_default().to_owned()
}

fn index(number: i32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn flags(value: llvm::Value<'_>, opcode: i32) -> Flags {
    let mut flags = Flags::default();
    match opcode {
        o::ADD | o::SUB | o::MUL | o::SHL => (flags.nsw, flags.nuw) = (value.has_nsw(), value.has_nuw()),
        o::OR => flags.disjoint = value.is_disjoint(),
        _ if value.as_instruction().is_some() && value.can_be_fast() => {
            let said = value.fast_flags();
            flags.contract = said & number::CONTRACT != 0;
            flags.reciprocal = said & number::RECIPROCAL != 0;
        }
        _ => {}
    }
    flags
}

/// A NaN as a double, with its payload.
fn nan(value: llvm::Value<'_>, ty: &Type) -> u64 {
    match ty {
        Type::Double => value.bits(64),
        Type::Float => {
            let bits = value.bits(32);
            (bits & 0x8000_0000) << 32 | 0x7ff << 52 | (bits & 0x7f_ffff) << 29
        }
        _ => {
            let bits = value.bits(16);
            (bits & 0x8000) << 48 | 0x7ff << 52 | (bits & 0x3ff) << 42
        }
    }
}

/// `LLVMAtomicRMWBinOp`, in order.
const ATOMICS: [AtomicOp; 15] = {
    use AtomicOp as A;
    [
        A::Xchg,
        A::Add,
        A::Sub,
        A::And,
        A::Nand,
        A::Or,
        A::Xor,
        A::Max,
        A::Min,
        A::UMax,
        A::UMin,
        A::FAdd,
        A::FSub,
        A::FMax,
        A::FMin,
    ]
};

/// `LLVMIntPredicate`, in order from `FIRST_INTEGER_PREDICATE`.
const INTEGERS: [IntPredicate; 10] = {
    use IntPredicate as I;
    [I::Eq, I::Ne, I::Ugt, I::Uge, I::Ult, I::Ule, I::Sgt, I::Sge, I::Slt, I::Sle]
};

/// `LLVMRealPredicate`, in order.
const FLOATS: [FloatPredicate; 16] = {
    use FloatPredicate as F;
    [
        F::False,
        F::Oeq,
        F::Ogt,
        F::Oge,
        F::Olt,
        F::Ole,
        F::One,
        F::Ord,
        F::Uno,
        F::Ueq,
        F::Ugt,
        F::Uge,
        F::Ult,
        F::Ule,
        F::Une,
        F::True,
    ]
};

/// Of `LLVMOpcode`.
const BINARY: [(i32, BinaryOp); 18] = {
    use BinaryOp as B;
    [
        (8, B::Add),
        (9, B::FAdd),
        (10, B::Sub),
        (11, B::FSub),
        (12, B::Mul),
        (13, B::FMul),
        (14, B::UDiv),
        (15, B::SDiv),
        (16, B::FDiv),
        (17, B::URem),
        (18, B::SRem),
        (19, B::FRem),
        (20, B::Shl),
        (21, B::LShr),
        (22, B::AShr),
        (23, B::And),
        (24, B::Or),
        (25, B::Xor),
    ]
};

/// Of `LLVMOpcode`.
const CASTS: [(i32, CastOp); 14] = {
    use CastOp as C;
    [
        (30, C::Trunc),
        (31, C::ZExt),
        (32, C::SExt),
        (33, C::FpToUi),
        (34, C::FpToSi),
        (35, C::UiToFp),
        (36, C::SiToFp),
        (37, C::FpTrunc),
        (38, C::FpExt),
        (39, C::PtrToInt),
        (40, C::IntToPtr),
        (41, C::BitCast),
        (60, C::AddrSpaceCast),
        (69, C::PtrToAddr),
    ]
};
