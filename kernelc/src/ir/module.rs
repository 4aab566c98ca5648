//! The tree: modules, functions, instructions, types, constants and debug locations.

use std::rc::Rc;

/// A type; named structs are resolved, pointers are opaque.
#[derive(Clone, Debug, Eq, Hash)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "what is equal is equal part by part")]
pub enum Type {
    /// No value.
    Void,
    /// An integer of so many bits.
    Int(u32),
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Float,
    /// IEEE binary64.
    Double,
    /// A pointer into an address space (see [`space`]).
    Pointer(u32),
    /// `[n x T]`.
    Array(u64, Rc<Type>),
    /// `<n x T>`.
    Vector(u32, Rc<Type>),
    /// `{ .. }`, or `<{ .. }>` without padding.
    Struct {
        /// Without padding.
        packed: bool,
        /// The members.
        fields: Rc<[Type]>,
    },
    /// A type of no value in a kernel: a label, a token, metadata, a function, x86_fp80, an opaque struct, a scalable vector. Also
    /// a type that is too large or too deeply nested to be looked at.
    Other,
}

/// The address spaces of Clang's `amdgcnspirv` target.
pub mod space {
    /// Locals of a thread.
    pub const PRIVATE: u32 = 0;
    /// Memory of the device.
    pub const GLOBAL: u32 = 1;
    /// The argument block of a kernel.
    pub const ARGUMENTS: u32 = 2;
    /// `tile_static`.
    pub const TILE: u32 = 3;
    /// Any of the above.
    pub const GENERIC: u32 = 4;
}

/// A place in [`Module::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub usize);
/// A place in [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);
/// A place in [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);
/// A parameter or the result of an instruction: a place in [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub usize);
/// The source location of an instruction: an index into [`Module::locations`]; see [`Module::frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub usize);

/// A translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Global variables.
    pub globals: Vec<Global>,
    /// Functions, declared or defined.
    pub functions: Vec<Function>,
    /// Source locations of instructions, and of the calls that they were inlined from.
    pub locations: Vec<Location>,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Without `@` and quotes.
    pub name: String,
    /// Of what it holds.
    pub ty: Type,
    /// See [`space`].
    pub space: u32,
    /// Declared `constant`.
    pub constant: bool,
    /// Absent if it is declared `external`.
    pub initializer: Option<Constant>,
    /// In bytes; 0 if it is not said.
    pub align: u64,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Without `@` and quotes.
    pub name: String,
    /// Declared with `spir_kernel` or `amdgpu_kernel`.
    pub kernel: bool,
    /// What it returns.
    pub returns: Type,
    /// The parameters, the first of [`Function::locals`].
    pub parameters: Vec<Parameter>,
    /// Type and name of each local, parameters first.
    pub locals: Vec<Local>,
    /// Empty if the function is only declared. The first is where it begins.
    pub blocks: Vec<Block>,
    /// Where it is defined in the source, if debug information says so.
    pub definition: Option<Frame>,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// The type that `byref(T)` or `byval(T)` says.
    pub pointee: Option<Type>,
}

/// A value of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its type.
    pub ty: Type,
    /// Without `%` and quotes.
    pub name: String,
}

/// A basic block; the last instruction is its only terminator.
#[derive(Clone, Debug)]
pub struct Block {
    /// Without `%` and quotes.
    pub name: String,
    /// Never empty.
    pub instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it makes; absent for those that make nothing.
    pub result: Option<LocalId>,
    /// What it does.
    pub op: Op,
    /// Where in the source.
    pub location: Option<LocationId>,
}

/// A value and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Its type.
    pub ty: Type,
    /// The value.
    pub value: Value,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A parameter or a result.
    Local(LocalId),
    /// A constant.
    Constant(Constant),
}

/// A constant, whose type is beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Sign-extended or not: only the low bits of the type count. `true` is 1.
    Int(i128),
    /// The value as a double, as LLVM writes halves, floats and doubles; exact, NaN payloads too (the bits).
    Float(u64),
    /// `null`, `zeroinitializer`.
    Zero,
    /// `undef`.
    Undef,
    /// `poison`.
    Poison,
    /// The bytes of `c"..."`.
    Bytes(Rc<[u8]>),
    /// Elements of an array, vector or struct; `splat (T v)` is written out.
    Aggregate(Rc<[Operand]>),
    /// The address of a global variable.
    Global(GlobalId),
    /// The address of a function.
    Function(FunctionId),
    /// A constant expression: a [`Op::Gep`], [`Op::Cast`] or [`Op::Binary`] over constants.
    Expression(Box<Op>),
    /// The address of a label in a function.
    BlockAddress(FunctionId),
    /// A constant of no kernel: an integer of more than 64 bits, `dso_local_equivalent`, metadata, a vector of more than 1024
    /// elements, ...
    Other,
}

/// What an instruction does. Names are LLVM's.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields say it by their names")]
pub enum Op {
    /// Two operands of one type.
    Binary { op: BinaryOp, left: Operand, right: Operand, flags: Flags },
    /// `fneg`.
    FNeg { value: Operand, flags: Flags },
    /// A conversion.
    Cast { op: CastOp, value: Operand, to: Type },
    /// A comparison of integers or pointers.
    ICmp { predicate: IntPredicate, left: Operand, right: Operand },
    /// A comparison of floating-point numbers.
    FCmp { predicate: FloatPredicate, left: Operand, right: Operand, flags: Flags },
    /// A value that depends on the block before.
    Phi { ty: Type, incoming: Vec<(Value, BlockId)> },
    /// `condition ? yes : no`.
    Select { condition: Operand, yes: Operand, no: Operand },
    /// `freeze`.
    Freeze { value: Operand },
    /// A load; `atomic` are those with an ordering.
    Load { ty: Type, pointer: Operand, align: u64, volatile: bool, atomic: bool },
    /// A store.
    Store { value: Operand, pointer: Operand, align: u64, volatile: bool, atomic: bool },
    /// Address arithmetic.
    Gep { source: Type, base: Operand, indices: Vec<Operand>, inbounds: bool },
    /// Memory of the thread.
    Alloca { ty: Type, count: Operand, align: u64, space: u32 },
    /// `atomicrmw`; the ordering does not matter to C++ AMP.
    AtomicRmw { op: AtomicOp, pointer: Operand, value: Operand },
    /// `cmpxchg`, which gives `{ T, i1 }`.
    CmpXchg { pointer: Operand, expected: Operand, new: Operand },
    /// `fence`.
    Fence,
    /// A call of a function that is known by name.
    Call { callee: FunctionId, arguments: Vec<Operand>, returns: Type, flags: Flags },
    /// A call through a pointer.
    CallIndirect { callee: Operand, arguments: Vec<Operand>, returns: Type },
    /// `extractvalue`.
    ExtractValue { aggregate: Operand, path: Vec<u32> },
    /// `insertvalue`.
    InsertValue { aggregate: Operand, element: Operand, path: Vec<u32> },
    /// `extractelement`.
    ExtractElement { vector: Operand, at: Operand },
    /// `insertelement`.
    InsertElement { vector: Operand, element: Operand, at: Operand },
    /// `shufflevector`; an index of `None` is poison.
    ShuffleVector { left: Operand, right: Operand, mask: Vec<Option<u32>> },
    /// Terminators.
    Br { target: BlockId },
    /// A branch on an `i1`.
    CondBr { condition: Operand, yes: BlockId, no: BlockId },
    /// A switch over an integer.
    Switch { value: Operand, default: BlockId, cases: Vec<(i128, BlockId)> },
    /// The end of the function.
    Ret { value: Option<Operand> },
    /// Control does not come here.
    Unreachable,
    /// An instruction of no kernel, by its name: `invoke`, `landingpad`, `va_arg`, inline assembly (`asm`), ...
    Other { name: &'static str },
}

/// Of a [`Op::Binary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// Of a [`Op::Cast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    PtrToAddr,
    IntToPtr,
    BitCast,
    AddrSpaceCast,
}

/// Of a [`Op::ICmp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum IntPredicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Of a [`Op::FCmp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum FloatPredicate {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

/// Of a [`Op::AtomicRmw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum AtomicOp {
    Xchg,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
}

/// Fast-math and wrapping flags that matter to code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `contract`.
    pub contract: bool,
    /// `arcp`.
    pub reciprocal: bool,
    /// `nsw`.
    pub nsw: bool,
    /// `nuw`.
    pub nuw: bool,
    /// `disjoint` of an `or`.
    pub disjoint: bool,
}

/// A source location, as a `DILocation` states it.
#[derive(Clone, Debug)]
pub struct Location {
    /// The function around it, as its author named it.
    pub function: Rc<str>,
    /// As the compiler was given it.
    pub file: Rc<str>,
    /// From 1; 0 is unknown.
    pub line: u32,
    /// From 1; 0 is unknown.
    pub column: u32,
    /// The call that the function was inlined from.
    pub inlined_at: Option<LocationId>,
}

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function around it, as its author named it.
    pub function: String,
    /// As the compiler was given it.
    pub file: String,
    /// From 1; 0 is unknown.
    pub line: u32,
    /// From 1; 0 is unknown.
    pub column: u32,
}

/// The most frames of a source location.
const MOST_FRAMES: usize = 64;

impl Module {
    /// A source location, innermost first; after it the calls that the functions around it were inlined from.
    pub fn frames(&self, location: LocationId) -> Vec<Frame> {
        let at = |id: LocationId| self.locations.get(id.0);
        let all = std::iter::successors(at(location), |inner| inner.inlined_at.and_then(at));
        let frame = |at: &Location| Frame {
            function: at.function.to_string(),
            file: at.file.to_string(),
            line: at.line,
            column: at.column,
        };
        // A location that is inlined into itself passes LLVM's verifier.
        all.take(MOST_FRAMES).map(frame).collect()
    }
}

// As if derived, but types of one origin, which a file may name often and make large, are equal at once.
impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Type::Void, Type::Void)
            | (Type::Other, Type::Other)
            | (Type::Half, Type::Half)
            | (Type::Float, Type::Float)
            | (Type::Double, Type::Double) => true,
            (Type::Int(left), Type::Int(right)) | (Type::Pointer(left), Type::Pointer(right)) => left == right,
            (Type::Array(count, left), Type::Array(n, right)) => {
                count == n && (Rc::ptr_eq(left, right) || left == right)
            }
            (Type::Vector(count, left), Type::Vector(n, right)) => {
                count == n && (Rc::ptr_eq(left, right) || left == right)
            }
            (Type::Struct { packed, fields: left }, Type::Struct { packed: also, fields: right }) => {
                packed == also && (Rc::ptr_eq(left, right) || left == right)
            }
            _ => false,
        }
    }
}

impl Type {
    /// Size in bytes between elements of an array: LLVM's allocation size on the target. `None` for what has none.
    pub fn size(&self) -> Option<u64> {
        self.store_size()?.checked_next_multiple_of(self.align()?)
    }

    /// Bytes that a load or store touches.
    pub fn store_size(&self) -> Option<u64> {
        match self {
            Type::Int(bits) => Some(u64::from(bits.div_ceil(8))),
            Type::Half => Some(2),
            Type::Float => Some(4),
            Type::Double | Type::Pointer(_) => Some(8),
            Type::Array(count, element) => count.checked_mul(element.size()?),
            Type::Vector(count, element) => Some(u64::from(*count).checked_mul(element.bits()?)?.div_ceil(8)),
            Type::Struct { .. } => self.field_offset(usize::MAX),
            Type::Void | Type::Other => None,
        }
    }

    fn bits(&self) -> Option<u64> {
        match self {
            Type::Int(bits) => Some(u64::from(*bits)),
            _ => self.store_size()?.checked_mul(8),
        }
    }

    /// Alignment in bytes.
    pub fn align(&self) -> Option<u64> {
        match self {
            Type::Int(_) | Type::Half | Type::Float | Type::Double | Type::Pointer(_) => {
                Some(self.store_size()?.next_power_of_two().min(16))
            }
            Type::Array(_, element) => element.align(),
            // As the data layout of the target says.
            Type::Vector(..) => self.store_size()?.checked_next_power_of_two(),
            Type::Struct { packed: true, .. } => Some(1),
            Type::Struct { fields, .. } => {
                fields.iter().try_fold(1, |most, field| Some(u64::max(most, field.align()?)))
            }
            Type::Void | Type::Other => None,
        }
    }

    /// Where field `index` of a struct begins; past the end: its size.
    pub fn field_offset(&self, index: usize) -> Option<u64> {
        let Type::Struct { packed, fields } = self else { return None };
        let mut at = 0_u64;
        for (i, field) in fields.iter().enumerate() {
            if !packed {
                at = at.checked_next_multiple_of(field.align()?)?;
            }
            if i == index {
                return Some(at);
            }
            at = at.checked_add(field.size()?)?;
        }
        if *packed { Some(at) } else { at.checked_next_multiple_of(self.align()?) }
    }
}

impl Value {
    /// The parameter or result that it is.
    pub fn local(&self) -> Option<LocalId> {
        match self {
            Value::Local(local) => Some(*local),
            Value::Constant(_) => None,
        }
    }
}

impl Op {
    /// Whether it is an atomic operation that both reads and writes.
    pub fn is_atomic_update(&self) -> bool {
        matches!(self, Op::AtomicRmw { .. } | Op::CmpXchg { .. })
    }

    /// All values that the instruction uses, also those of a phi.
    pub fn operands(&self) -> Vec<&Value> {
        self.typed_operands().into_iter().map(|(_, value)| value).collect()
    }

    /// The same, with their types.
    pub fn typed_operands(&self) -> Vec<(&Type, &Value)> {
        fn one(operand: &Operand) -> (&Type, &Value) {
            (&operand.ty, &operand.value)
        }
        match self {
            Op::Binary { left, right, .. } | Op::ICmp { left, right, .. } | Op::FCmp { left, right, .. } => {
                vec![one(left), one(right)]
            }
            Op::FNeg { value, .. } | Op::Cast { value, .. } | Op::Freeze { value } => vec![one(value)],
            Op::Phi { ty, incoming } => incoming.iter().map(|(value, _)| (ty, value)).collect(),
            Op::Select { condition, yes, no } => vec![one(condition), one(yes), one(no)],
            Op::Load { pointer, .. } => vec![one(pointer)],
            Op::Store { value, pointer, .. } | Op::AtomicRmw { pointer, value, .. } => vec![one(value), one(pointer)],
            Op::Gep { base, indices, .. } => std::iter::once(base).chain(indices).map(one).collect(),
            Op::Alloca { count, .. } => vec![one(count)],
            Op::CmpXchg { pointer, expected, new } => vec![one(pointer), one(expected), one(new)],
            Op::Call { arguments, .. } => arguments.iter().map(one).collect(),
            Op::CallIndirect { callee, arguments, .. } => std::iter::once(callee).chain(arguments).map(one).collect(),
            Op::ExtractValue { aggregate, .. } => vec![one(aggregate)],
            Op::InsertValue { aggregate, element, .. } => vec![one(aggregate), one(element)],
            Op::ExtractElement { vector, at } => vec![one(vector), one(at)],
            Op::InsertElement { vector, element, at } => vec![one(vector), one(element), one(at)],
            Op::ShuffleVector { left, right, .. } => vec![one(left), one(right)],
            Op::CondBr { condition, .. } => vec![one(condition)],
            Op::Switch { value, .. } => vec![one(value)],
            Op::Ret { value } => value.iter().map(one).collect(),
            Op::Fence | Op::Br { .. } | Op::Unreachable | Op::Other { .. } => Vec::new(),
        }
    }

    /// The values, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Value> {
        match self {
            Op::Binary { left, right, .. } | Op::ICmp { left, right, .. } | Op::FCmp { left, right, .. } => {
                vec![&mut left.value, &mut right.value]
            }
            Op::FNeg { value, .. } | Op::Cast { value, .. } | Op::Freeze { value } => vec![&mut value.value],
            Op::Phi { incoming, .. } => incoming.iter_mut().map(|(value, _)| value).collect(),
            Op::Select { condition, yes, no } => vec![&mut condition.value, &mut yes.value, &mut no.value],
            Op::Load { pointer, .. } => vec![&mut pointer.value],
            Op::Store { value, pointer, .. } | Op::AtomicRmw { pointer, value, .. } => {
                vec![&mut value.value, &mut pointer.value]
            }
            Op::Gep { base, indices, .. } => {
                std::iter::once(&mut base.value).chain(indices.iter_mut().map(|i| &mut i.value)).collect()
            }
            Op::Alloca { count, .. } => vec![&mut count.value],
            Op::CmpXchg { pointer, expected, new } => vec![&mut pointer.value, &mut expected.value, &mut new.value],
            Op::Call { arguments, .. } => arguments.iter_mut().map(|a| &mut a.value).collect(),
            Op::CallIndirect { callee, arguments, .. } => {
                std::iter::once(&mut callee.value).chain(arguments.iter_mut().map(|a| &mut a.value)).collect()
            }
            Op::ExtractValue { aggregate, .. } => vec![&mut aggregate.value],
            Op::InsertValue { aggregate, element, .. } => vec![&mut aggregate.value, &mut element.value],
            Op::ExtractElement { vector, at } => vec![&mut vector.value, &mut at.value],
            Op::InsertElement { vector, element, at } => vec![&mut vector.value, &mut element.value, &mut at.value],
            Op::ShuffleVector { left, right, .. } => vec![&mut left.value, &mut right.value],
            Op::CondBr { condition, .. } => vec![&mut condition.value],
            Op::Switch { value, .. } => vec![&mut value.value],
            Op::Ret { value } => value.iter_mut().map(|v| &mut v.value).collect(),
            Op::Fence | Op::Br { .. } | Op::Unreachable | Op::Other { .. } => Vec::new(),
        }
    }
}

impl Function {
    /// The instructions of all blocks.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }

    /// The instruction that defines each local; parameters have none.
    pub fn definitions(&self) -> Vec<Option<&Instruction>> {
        let mut definitions = vec![None; self.locals.len()];
        for instruction in self.instructions() {
            if let Some(result) = instruction.result {
                definitions[result.0] = Some(instruction);
            }
        }
        definitions
    }
}

impl Operand {
    /// The value of an integer constant that is not negative.
    pub fn unsigned(&self) -> Option<u64> {
        match self.value {
            Value::Constant(Constant::Int(value)) => u64::try_from(value).ok(),
            Value::Constant(Constant::Zero) => Some(0),
            _ => None,
        }
    }
}
