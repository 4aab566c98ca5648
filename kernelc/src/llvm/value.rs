//! Handles of what is in a module: values, types, blocks, and nodes of metadata. They are copied freely, and live as long as the
//! borrow of the module; while it lasts nobody changes the module.
//!
//! A question asked of the wrong kind of value would be undefined in LLVM. Who asks has looked at `kind` or `opcode` first, as
//! the documentation of each method says; the methods here are for `ir::snapshot` alone.
#![allow(unsafe_code)]

use super::load::Functions;
use super::module::message;
use super::{Llvm, Module};
use std::ffi::{c_int, c_uint, c_void};

/// Defines a handle.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub struct $name<'m> {
            module: &'m Module,
            raw: *mut c_void,
        }

        impl<'m> $name<'m> {
            fn of(module: &'m Module, raw: *mut c_void) -> Option<Self> {
                (!raw.is_null()).then_some(Self { module, raw })
            }

            fn f(self) -> &'static Functions {
                self.module.llvm.functions
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.raw == other.raw
            }
        }

        impl Eq for $name<'_> {}

        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.raw.hash(state);
            }
        }
    };
}

handle! {
    /// A global, a function, a parameter, an instruction, a constant.
    Value
}
handle! {
    /// A type.
    Type
}
handle! {
    /// A basic block.
    Block
}
handle! {
    /// A node of metadata.
    Node
}

/// Methods that hand the handle, and perhaps a number, to a function of LLVM and return a handle, a number or a truth.
macro_rules! asked {
    ($($(#[$about:meta])* $name:ident($($at:ident)?) -> $kind:ident: $function:ident;)*) => {
        $($(#[$about])* pub fn $name(self $(, $at: u32)?) -> asked!(@type $kind) {
            // SAFETY: the handle is of the module, which is borrowed; the caller has looked at its kind.
            let made = unsafe { (self.f().$function)(self.raw $(, $at as c_uint)?) };
            asked!(@make $kind, self.module, made)
        })*
    };
    (@type Value) => { Option<Value<'m>> };
    (@type Type) => { Option<Type<'m>> };
    (@type Block) => { Option<Block<'m>> };
    (@type Node) => { Option<Node<'m>> };
    (@type truth) => { bool };
    (@type count) => { u32 };
    (@type int) => { c_int };
    (@type long) => { i64 };
    (@type wide) => { u64 };
    (@make truth, $module:expr, $made:ident) => { $made != 0 };
    (@make count, $module:expr, $made:ident) => { $made };
    (@make int, $module:expr, $made:ident) => { $made };
    (@make long, $module:expr, $made:ident) => { $made };
    (@make wide, $module:expr, $made:ident) => { $made };
    (@make $handle:ident, $module:expr, $made:ident) => { $handle::of($module, $made) };
}

impl Module {
    /// The global variables.
    pub fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module is valid as long as it is borrowed.
        let first = Value::of(self, unsafe { (self.llvm.functions.LLVMGetFirstGlobal)(self.raw) });
        std::iter::successors(first, |at| at.next_global())
    }

    /// The functions, declared or defined.
    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: as above.
        let first = Value::of(self, unsafe { (self.llvm.functions.LLVMGetFirstFunction)(self.raw) });
        std::iter::successors(first, |at| at.next_function())
    }
}

/// The number of an enum attribute, of LLVM's name.
fn attribute(llvm: Llvm, name: &str) -> c_uint {
    // SAFETY: the name and its length.
    unsafe { (llvm.functions.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) }
}

impl<'m> Value<'m> {
    asked! {
        /// After a global variable.
        next_global() -> Value: LLVMGetNextGlobal;
        /// After a function.
        next_function() -> Value: LLVMGetNextFunction;
        /// After an instruction.
        next_instruction() -> Value: LLVMGetNextInstruction;
        /// Of a global variable.
        initializer() -> Value: LLVMGetInitializer;
        /// Of a global variable or a function: what is at its address.
        value_type() -> Type: LLVMGlobalGetValueType;
        /// Of a global variable.
        is_constant() -> truth: LLVMIsGlobalConstant;
        /// Of a global variable, a load, a store, an alloca.
        alignment() -> count: LLVMGetAlignment;
        /// Of a function.
        calling_convention() -> count: LLVMGetFunctionCallConv;
        /// Of a function.
        count_parameters() -> count: LLVMCountParams;
        /// Of a function.
        parameter(at) -> Value: LLVMGetParam;
        /// Of a function.
        first_block() -> Block: LLVMGetFirstBasicBlock;
        /// Of a defined function: its DISubprogram.
        subprogram() -> Node: LLVMGetSubprogram;
        /// Of any value.
        ty() -> Type: LLVMTypeOf;
        /// One of `number::value`.
        kind() -> int: LLVMGetValueKind;
        /// Of an integer of at most 64 bits.
        zero_extended() -> wide: LLVMConstIntGetZExtValue;
        /// Of an integer of at most 64 bits.
        sign_extended() -> long: LLVMConstIntGetSExtValue;
        /// Of a constant array.
        is_string() -> truth: LLVMIsConstantString;
        /// Of a constant array, vector or struct.
        element(at) -> Value: LLVMGetAggregateElement;
        /// Of a constant expression.
        constant_opcode() -> int: LLVMGetConstOpcode;
        /// Of an instruction.
        opcode() -> int: LLVMGetInstructionOpcode;
        /// Of an instruction or a constant expression.
        operand(at) -> Value: LLVMGetOperand;
        /// Of an instruction or a constant expression.
        count_operands() -> int: LLVMGetNumOperands;
        /// Of an arithmetic instruction of integers.
        has_nsw() -> truth: LLVMGetNSW;
        /// Of the same.
        has_nuw() -> truth: LLVMGetNUW;
        /// Of an `or`.
        is_disjoint() -> truth: LLVMGetIsDisjoint;
        /// The value, if it is an instruction.
        as_instruction() -> Value: LLVMIsAInstruction;
        /// The value, if it is inline assembly.
        as_assembly() -> Value: LLVMIsAInlineAsm;
        /// Of an instruction.
        can_be_fast() -> truth: LLVMCanValueUseFastMathFlags;
        /// Of an instruction that can be fast.
        fast_flags() -> count: LLVMGetFastMathFlags;
        /// Of a load or a store.
        ordering() -> int: LLVMGetOrdering;
        /// Of the same.
        is_volatile() -> truth: LLVMGetVolatile;
        /// Of an `icmp`.
        integer_predicate() -> int: LLVMGetICmpPredicate;
        /// Of an `fcmp`.
        float_predicate() -> int: LLVMGetFCmpPredicate;
        /// Of a `phi`.
        count_incoming() -> count: LLVMCountIncoming;
        /// Of a `phi`.
        incoming_value(at) -> Value: LLVMGetIncomingValue;
        /// Of a `phi`.
        incoming_block(at) -> Block: LLVMGetIncomingBlock;
        /// Of a `getelementptr`.
        source_type() -> Type: LLVMGetGEPSourceElementType;
        /// Of a `getelementptr`.
        is_in_bounds() -> truth: LLVMIsInBounds;
        /// Of an `alloca`.
        allocated_type() -> Type: LLVMGetAllocatedType;
        /// Of an `atomicrmw`.
        atomic_operation() -> int: LLVMGetAtomicRMWBinOp;
        /// Of a call.
        called() -> Value: LLVMGetCalledValue;
        /// Of a call.
        count_arguments() -> count: LLVMGetNumArgOperands;
        /// Of a `shufflevector`.
        count_mask() -> count: LLVMGetNumMaskElements;
        /// Of a `shufflevector`.
        mask(at) -> int: LLVMGetMaskValue;
        /// Of a `br`.
        is_conditional() -> truth: LLVMIsConditional;
        /// Of a conditional `br`.
        condition() -> Value: LLVMGetCondition;
        /// Of a terminator.
        successor(at) -> Block: LLVMGetSuccessor;
        /// Of a terminator.
        count_successors() -> count: LLVMGetNumSuccessors;
        /// Of a `switch`: the value for a successor, from 1.
        case(at) -> Value: LLVMGetSwitchCaseValue;
        /// Of an instruction.
        location() -> Node: LLVMInstructionGetDebugLoc;
    }

    /// Empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: any value may be asked; the name has that many bytes and lives as long as the value.
        unsafe { bytes((self.f().LLVMGetValueName2)(self.raw, &mut length).cast(), length) }
    }

    /// Its text.
    pub fn print(self) -> String {
        // SAFETY: any value may be asked; the message is new, and used once.
        unsafe { message(self.module.llvm, (self.f().LLVMPrintValueToString)(self.raw)) }
    }

    /// The blocks of a function.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        std::iter::successors(self.first_block(), |at| at.next())
    }

    /// The type that an attribute of a function's parameter names.
    pub fn attribute_type(self, parameter: u32, name: &str) -> Option<Type<'m>> {
        let kind = attribute(self.module.llvm, name);
        // SAFETY: the value is a function, and attributes of this name have a type.
        unsafe {
            let found = (self.f().LLVMGetEnumAttributeAtIndex)(self.raw, parameter + 1, kind);
            if found.is_null() { None } else { Type::of(self.module, (self.f().LLVMGetTypeAttributeValue)(found)) }
        }
    }

    /// Of a floating-point constant: as a double, which may lose a NaN's payload.
    pub fn real(self) -> f64 {
        let mut loses = 0;
        // SAFETY: the value is a floating-point constant.
        unsafe { (self.f().LLVMConstRealGetDouble)(self.raw, &mut loses) }
    }

    /// Of a floating-point constant of at most 64 bits: its bits.
    pub fn bits(self, width: u32) -> u64 {
        // SAFETY: the value is a floating-point constant of that many bits.
        unsafe {
            let integer = (self.f().LLVMIntTypeInContext)(self.module.context, width);
            (self.f().LLVMConstIntGetZExtValue)((self.f().LLVMConstBitCast)(self.raw, integer))
        }
    }

    /// The bytes of a constant string.
    pub fn string(self) -> Vec<u8> {
        let mut length = 0;
        // SAFETY: the value is a constant string, whose bytes live as long.
        unsafe {
            let first = (self.f().LLVMGetAsString)(self.raw, &mut length).cast::<u8>();
            if first.is_null() { Vec::new() } else { std::slice::from_raw_parts(first, length).to_vec() }
        }
    }

    /// The path of an `extractvalue` or `insertvalue`.
    pub fn path(self) -> Vec<u32> {
        // SAFETY: the value is one of these instructions; it has that many indices.
        unsafe {
            let count = (self.f().LLVMGetNumIndices)(self.raw) as usize;
            if count == 0 {
                Vec::new()
            } else {
                std::slice::from_raw_parts((self.f().LLVMGetIndices)(self.raw), count).to_vec()
            }
        }
    }
}

impl<'m> Type<'m> {
    asked! {
        /// One of `number::ty`.
        kind() -> int: LLVMGetTypeKind;
        /// Of an integer.
        width() -> count: LLVMGetIntTypeWidth;
        /// Of a pointer.
        space() -> count: LLVMGetPointerAddressSpace;
        /// Of an array.
        array_length() -> wide: LLVMGetArrayLength2;
        /// Of a vector.
        vector_length() -> count: LLVMGetVectorSize;
        /// Of an array or a vector.
        element() -> Type: LLVMGetElementType;
        /// Of a struct.
        is_opaque() -> truth: LLVMIsOpaqueStruct;
        /// Of a struct.
        is_packed() -> truth: LLVMIsPackedStruct;
        /// Of a struct.
        count_fields() -> count: LLVMCountStructElementTypes;
        /// Of a struct.
        field(at) -> Type: LLVMStructGetTypeAtIndex;
        /// Of a function.
        returns() -> Type: LLVMGetReturnType;
    }

    /// Its text.
    pub fn print(self) -> String {
        // SAFETY: any type may be asked; the message is new, and used once.
        unsafe { message(self.module.llvm, (self.f().LLVMPrintTypeToString)(self.raw)) }
    }
}

impl<'m> Block<'m> {
    asked! {
        /// After it.
        next() -> Block: LLVMGetNextBasicBlock;
        /// Its first instruction.
        first() -> Value: LLVMGetFirstInstruction;
        /// Itself.
        as_value() -> Value: LLVMBasicBlockAsValue;
    }

    /// Its instructions.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(self.first(), |at| at.next_instruction())
    }
}

impl<'m> Node<'m> {
    asked! {
        /// One of `number::node`.
        kind() -> count: LLVMGetMetadataKind;
        /// Of a location.
        scope() -> Node: LLVMDILocationGetScope;
        /// Of a location.
        inlined_at() -> Node: LLVMDILocationGetInlinedAt;
        /// Of a location.
        line() -> count: LLVMDILocationGetLine;
        /// Of a location.
        column() -> count: LLVMDILocationGetColumn;
        /// Of a subprogram.
        first_line() -> count: LLVMDISubprogramGetLine;
    }

    /// The operands of a node that is no string. A missing one is `None`.
    pub fn operands(self) -> Vec<Option<Value<'m>>> {
        // SAFETY: the node is of the module's context; the list has room for all operands.
        let all = unsafe {
            let value = (self.f().LLVMMetadataAsValue)(self.module.context, self.raw);
            let mut all = vec![std::ptr::null_mut(); (self.f().LLVMGetMDNodeNumOperands)(value) as usize];
            (self.f().LLVMGetMDNodeOperands)(value, all.as_mut_ptr());
            all
        };
        all.into_iter().map(|raw| Value::of(self.module, raw)).collect()
    }
}

impl<'m> Value<'m> {
    /// The node that an operand of a node is.
    pub fn as_node(self) -> Option<Node<'m>> {
        // SAFETY: the value is an operand of a node.
        Node::of(self.module, unsafe { (self.f().LLVMValueAsMetadata)(self.raw) })
    }

    /// The text of an operand of a node, empty if it is no string.
    pub fn as_text(self) -> String {
        let mut length = 0;
        // SAFETY: as above; the text has that many bytes and lives as long as the context.
        unsafe { bytes((self.f().LLVMGetMDString)(self.raw, &mut length).cast(), length as usize) }
    }
}

/// # Safety
/// Null, or the first of so many bytes.
unsafe fn bytes(first: *const u8, length: usize) -> String {
    if first.is_null() {
        return String::new();
    }
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(first, length) }).into_owned()
}

/// Numbers of LLVM-C's enums, which are stable.
pub mod number {
    /// `LLVMTypeKind`.
    pub mod ty {
        pub const VOID: i32 = 0;
        pub const HALF: i32 = 1;
        pub const FLOAT: i32 = 2;
        pub const DOUBLE: i32 = 3;
        pub const INTEGER: i32 = 8;
        pub const STRUCT: i32 = 10;
        pub const ARRAY: i32 = 11;
        pub const POINTER: i32 = 12;
        pub const VECTOR: i32 = 13;
    }
    /// `LLVMValueKind`.
    pub mod value {
        pub const FUNCTION: i32 = 5;
        pub const GLOBAL_VARIABLE: i32 = 8;
        pub const EXPRESSION: i32 = 10;
        pub const ARRAY: i32 = 11;
        pub const STRUCT: i32 = 12;
        pub const VECTOR: i32 = 13;
        pub const UNDEF: i32 = 14;
        pub const ZERO: i32 = 15;
        pub const DATA_ARRAY: i32 = 16;
        pub const DATA_VECTOR: i32 = 17;
        pub const INTEGER: i32 = 18;
        pub const FLOAT: i32 = 19;
        pub const NULL: i32 = 20;
        pub const POISON: i32 = 25;
    }
    /// `LLVMMetadataKind`.
    pub mod node {
        pub const LOCATION: u32 = 5;
        pub const FILE: u32 = 15;
        pub const SUBPROGRAM: u32 = 17;
    }
    /// `LLVMOpcode`, where it is not in a table.
    pub mod opcode {
        pub const RET: i32 = 1;
        pub const BR: i32 = 2;
        pub const SWITCH: i32 = 3;
        pub const UNREACHABLE: i32 = 7;
        pub const ADD: i32 = 8;
        pub const SUB: i32 = 10;
        pub const MUL: i32 = 12;
        pub const SHL: i32 = 20;
        pub const OR: i32 = 24;
        pub const ALLOCA: i32 = 26;
        pub const LOAD: i32 = 27;
        pub const STORE: i32 = 28;
        pub const GEP: i32 = 29;
        pub const ICMP: i32 = 42;
        pub const FCMP: i32 = 43;
        pub const PHI: i32 = 44;
        pub const CALL: i32 = 45;
        pub const SELECT: i32 = 46;
        pub const EXTRACT_ELEMENT: i32 = 50;
        pub const INSERT_ELEMENT: i32 = 51;
        pub const SHUFFLE_VECTOR: i32 = 52;
        pub const EXTRACT_VALUE: i32 = 53;
        pub const INSERT_VALUE: i32 = 54;
        pub const FENCE: i32 = 55;
        pub const CMPXCHG: i32 = 56;
        pub const ATOMICRMW: i32 = 57;
        pub const FNEG: i32 = 66;
        pub const FREEZE: i32 = 68;
    }
    /// `LLVMCallConv`: SPIR_KERNEL and AMDGPU_KERNEL.
    pub const KERNELS: [u32; 2] = [76, 91];
    /// `LLVMFastMathAllowReciprocal`.
    pub const RECIPROCAL: u32 = 16;
    /// `LLVMFastMathAllowContract`.
    pub const CONTRACT: u32 = 32;
    /// `LLVMIntEQ`, the first of ten in order.
    pub const FIRST_INTEGER_PREDICATE: i32 = 32;
}
