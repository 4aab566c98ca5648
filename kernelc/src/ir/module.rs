//! The data types of the copy of LLVM IR: modules, functions, instructions, types, constants and debug locations.

use std::rc::Rc;

/// A type. Named structs are replaced by their definitions, and pointers are opaque.
#[derive(Clone, Debug, Eq, Hash)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "equal types have equal parts")]
pub enum Type {
    /// No value.
    Void,
    /// An integer with this number of bits.
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
        /// True if the struct has no padding.
        packed: bool,
        /// The members.
        fields: Rc<[Type]>,
    },
    /// A type that no value of a kernel has: a label, a token, metadata, a function, x86_fp80, an opaque struct, a scalable
    /// vector. Also a type that is too large or too deeply nested to copy.
    Other,
}

/// The address spaces of Clang's `amdgcnspirv` target.
pub mod space {
    /// Local variables of a thread.
    pub const PRIVATE: u32 = 0;
    /// Memory of the device.
    pub const GLOBAL: u32 = 1;
    /// The argument block of a kernel.
    pub const ARGUMENTS: u32 = 2;
    /// `tile_static`.
    pub const TILE: u32 = 3;
    /// Any of the other address spaces.
    pub const GENERIC: u32 = 4;
}

/// An index into [`Module::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub usize);
/// An index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);
/// An index into [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);
/// A parameter or the result of an instruction: an index into [`Function::locals`].
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
    /// Source locations of instructions, and of the calls through which the instructions were inlined.
    pub locations: Vec<Location>,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name, without `@` and quotes.
    pub name: String,
    /// The type of the variable's content.
    pub ty: Type,
    /// The address space (see [`space`]).
    pub space: u32,
    /// True if the variable is declared `constant`.
    pub constant: bool,
    /// `None` if the variable is declared `external`.
    pub initializer: Option<Constant>,
    /// The alignment in bytes; 0 if the module does not state it.
    pub align: u64,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name, without `@` and quotes.
    pub name: String,
    /// True if the calling convention is `spir_kernel` or `amdgpu_kernel`.
    pub kernel: bool,
    /// The type of the result.
    pub returns: Type,
    /// The parameters. Parameter `n` is also local `n` in [`Function::locals`].
    pub parameters: Vec<Parameter>,
    /// The type and name of each parameter and each result of an instruction, parameters first.
    pub locals: Vec<Local>,
    /// The basic blocks; the first block is the entry. Empty if the function is only declared.
    pub blocks: Vec<Block>,
    /// The location of the function's definition in the source, if debug information has it.
    pub definition: Option<Frame>,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The type of the parameter.
    pub ty: Type,
    /// The type `T` of the parameter's attribute `byref(T)` or `byval(T)`, if any.
    pub pointee: Option<Type>,
}

/// A parameter of a function or the result of an instruction.
#[derive(Clone, Debug)]
pub struct Local {
    /// The type of the value.
    pub ty: Type,
    /// The name, without `%` and quotes.
    pub name: String,
}

/// A basic block. Its only terminator is the last instruction.
#[derive(Clone, Debug)]
pub struct Block {
    /// The name, without `%` and quotes.
    pub name: String,
    /// The instructions; never empty.
    pub instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The result; `None` for an instruction without a result.
    pub result: Option<LocalId>,
    /// The operation with its operands.
    pub op: Op,
    /// The location in the source.
    pub location: Option<LocationId>,
}

/// A value and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The type of the value.
    pub ty: Type,
    /// The value.
    pub value: Value,
}

/// The value of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A parameter or the result of an instruction.
    Local(LocalId),
    /// A constant.
    Constant(Constant),
}

/// A constant. The type of the constant is in the [`Operand`] or [`Global`] that contains the constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An integer. Only as many low bits as the type has are significant; the upper bits may be sign-extended or not. `true` is 1.
    Int(i128),
    /// A half, float or double, as the bits of a double with the same value, as in LLVM's text. The conversion is exact and keeps NaN
    /// payloads.
    Float(u64),
    /// `null`, `zeroinitializer`.
    Zero,
    /// `undef`.
    Undef,
    /// `poison`.
    Poison,
    /// The bytes of `c"..."`.
    Bytes(Rc<[u8]>),
    /// The elements of an array, vector or struct. `splat (T v)` becomes a list of all elements.
    Aggregate(Rc<[Operand]>),
    /// The address of a global variable.
    Global(GlobalId),
    /// The address of a function.
    Function(FunctionId),
    /// A constant expression: a [`Op::Gep`], [`Op::Cast`] or [`Op::Binary`] over constants.
    Expression(Box<Op>),
    /// The address of a label in a function.
    BlockAddress(FunctionId),
    /// A constant that kernels do not have: an integer of more than 64 bits, `dso_local_equivalent`, metadata, a vector of more than
    /// 1024 elements, ...
    Other,
}

/// The operation of an instruction, with its operands. The variants have LLVM's names.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of the fields explain them")]
pub enum Op {
    /// An arithmetic or bitwise operation on two operands of one type.
    Binary { op: BinaryOp, left: Operand, right: Operand, flags: Flags },
    /// `fneg`.
    FNeg { value: Operand, flags: Flags },
    /// A conversion.
    Cast { op: CastOp, value: Operand, to: Type },
    /// A comparison of integers or pointers.
    ICmp { predicate: IntPredicate, left: Operand, right: Operand },
    /// A comparison of floating-point numbers.
    FCmp { predicate: FloatPredicate, left: Operand, right: Operand, flags: Flags },
    /// `phi`: a value that depends on the preceding block.
    Phi { ty: Type, incoming: Vec<(Value, BlockId)> },
    /// `condition ? yes : no`.
    Select { condition: Operand, yes: Operand, no: Operand },
    /// `freeze`.
    Freeze { value: Operand },
    /// A load; `atomic` if it has an ordering.
    Load { ty: Type, pointer: Operand, align: u64, volatile: bool, atomic: bool },
    /// A store.
    Store { value: Operand, pointer: Operand, align: u64, volatile: bool, atomic: bool },
    /// `getelementptr`: address arithmetic.
    Gep { source: Type, base: Operand, indices: Vec<Operand>, inbounds: bool },
    /// `alloca`: memory of the thread.
    Alloca { ty: Type, count: Operand, align: u64, space: u32 },
    /// `atomicrmw`; the ordering does not matter to C++ AMP.
    AtomicRmw { op: AtomicOp, pointer: Operand, value: Operand },
    /// `cmpxchg`, which gives `{ T, i1 }`.
    CmpXchg { pointer: Operand, expected: Operand, new: Operand },
    /// `fence`.
    Fence,
    /// A direct call.
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
    /// `shufflevector`; a mask element `None` is poison.
    ShuffleVector { left: Operand, right: Operand, mask: Vec<Option<u32>> },
    /// An unconditional branch.
    Br { target: BlockId },
    /// A branch on an `i1`.
    CondBr { condition: Operand, yes: BlockId, no: BlockId },
    /// A switch over an integer.
    Switch { value: Operand, default: BlockId, cases: Vec<(i128, BlockId)> },
    /// `ret`: a return from the function.
    Ret { value: Option<Operand> },
    /// `unreachable`.
    Unreachable,
    /// An instruction that kernels cannot have, by its name: `invoke`, `landingpad`, `va_arg`, inline assembly (`asm`), ...
    Other { name: &'static str },
}

/// The operation of an [`Op::Binary`].
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

/// The operation of an [`Op::Cast`].
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

/// The predicate of an [`Op::ICmp`].
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

/// The predicate of an [`Op::FCmp`].
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

/// The operation of an [`Op::AtomicRmw`].
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

/// The fast-math and wrapping flags that the kernel compiler uses.
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
    /// The name of the enclosing function in the source.
    pub function: Rc<str>,
    /// The path of the file, as the compiler got it.
    pub file: Rc<str>,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The location of the call through which the function was inlined.
    pub inlined_at: Option<LocationId>,
}

/// A location in the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The name of the enclosing function in the source.
    pub function: String,
    /// The path of the file, as the compiler got it.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

/// The maximum number of frames of a source location.
const MAX_FRAMES: usize = 64;

impl Module {
    /// The frame of a source location, followed by the frames of the calls through which it was inlined, innermost first.
    pub fn frames(&self, location: LocationId) -> Vec<Frame> {
        let at = |id: LocationId| self.locations.get(id.0);
        let all = std::iter::successors(at(location), |inner| inner.inlined_at.and_then(at));
        let frame = |at: &Location| Frame {
            function: at.function.to_string(),
            file: at.file.to_string(),
            line: at.line,
            column: at.column,
        };
        // The limit is needed because LLVM's verifier accepts a location that is inlined into itself.
        all.take(MAX_FRAMES).map(frame).collect()
    }
}

// Gives the same results as the derived implementation, but compares types that share their parts in constant time. A
// module may use a large type often.
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
            (Type::Struct { packed, fields: left }, Type::Struct { packed: other_packed, fields: right }) => {
                packed == other_packed && (Rc::ptr_eq(left, right) || left == right)
            }
            _ => false,
        }
    }
}

impl Type {
    /// LLVM's allocation size on the target in bytes, which is also the stride of arrays of this type. `None` for types without a size.
    pub fn size(&self) -> Option<u64> {
        self.store_size()?.checked_next_multiple_of(self.align()?)
    }

    /// The number of bytes that a load or store accesses.
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
            // The data layout of the target defines this alignment.
            Type::Vector(..) => self.store_size()?.checked_next_power_of_two(),
            Type::Struct { packed: true, .. } => Some(1),
            Type::Struct { fields, .. } => {
                fields.iter().try_fold(1, |largest, field| Some(u64::max(largest, field.align()?)))
            }
            Type::Void | Type::Other => None,
        }
    }

    /// The offset in bytes of field `index` of a struct; for an index past the end, the size of the struct.
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
    /// The parameter or the result of an instruction, if the value is not a constant.
    pub fn local(&self) -> Option<LocalId> {
        match self {
            Value::Local(local) => Some(*local),
            Value::Constant(_) => None,
        }
    }
}

impl Op {
    /// True for an atomic operation that both reads and writes.
    pub fn is_atomic_update(&self) -> bool {
        matches!(self, Op::AtomicRmw { .. } | Op::CmpXchg { .. })
    }

    /// All values that the instruction uses, including the incoming values of a phi.
    pub fn operands(&self) -> Vec<&Value> {
        self.typed_operands().into_iter().map(|(_, value)| value).collect()
    }

    /// All values that the instruction uses, with their types.
    pub fn typed_operands(&self) -> Vec<(&Type, &Value)> {
        fn typed(operand: &Operand) -> (&Type, &Value) {
            (&operand.ty, &operand.value)
        }
        match self {
            Op::Binary { left, right, .. } | Op::ICmp { left, right, .. } | Op::FCmp { left, right, .. } => {
                vec![typed(left), typed(right)]
            }
            Op::FNeg { value, .. } | Op::Cast { value, .. } | Op::Freeze { value } => vec![typed(value)],
            Op::Phi { ty, incoming } => incoming.iter().map(|(value, _)| (ty, value)).collect(),
            Op::Select { condition, yes, no } => vec![typed(condition), typed(yes), typed(no)],
            Op::Load { pointer, .. } => vec![typed(pointer)],
            Op::Store { value, pointer, .. } | Op::AtomicRmw { pointer, value, .. } => {
                vec![typed(value), typed(pointer)]
            }
            Op::Gep { base, indices, .. } => std::iter::once(base).chain(indices).map(typed).collect(),
            Op::Alloca { count, .. } => vec![typed(count)],
            Op::CmpXchg { pointer, expected, new } => vec![typed(pointer), typed(expected), typed(new)],
            Op::Call { arguments, .. } => arguments.iter().map(typed).collect(),
            Op::CallIndirect { callee, arguments, .. } => std::iter::once(callee).chain(arguments).map(typed).collect(),
            Op::ExtractValue { aggregate, .. } => vec![typed(aggregate)],
            Op::InsertValue { aggregate, element, .. } => vec![typed(aggregate), typed(element)],
            Op::ExtractElement { vector, at } => vec![typed(vector), typed(at)],
            Op::InsertElement { vector, element, at } => vec![typed(vector), typed(element), typed(at)],
            Op::ShuffleVector { left, right, .. } => vec![typed(left), typed(right)],
            Op::CondBr { condition, .. } => vec![typed(condition)],
            Op::Switch { value, .. } => vec![typed(value)],
            Op::Ret { value } => value.iter().map(typed).collect(),
            Op::Fence | Op::Br { .. } | Op::Unreachable | Op::Other { .. } => Vec::new(),
        }
    }

    /// Mutable references to all values that the instruction uses.
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

    /// For each local value, the instruction that defines it; `None` for parameters.
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
    /// The value, if the operand is an integer constant that is not negative.
    pub fn unsigned(&self) -> Option<u64> {
        match self.value {
            Value::Constant(Constant::Int(value)) => u64::try_from(value).ok(),
            Value::Constant(Constant::Zero) => Some(0),
            _ => None,
        }
    }
}
