//! Handles of what is in a module: values, types, blocks, and nodes of metadata. They are copied freely, and live as long as the
//! borrow of the module: meanwhile nobody changes or drops the module.
//!
//! LLVM checks nothing: a question that a value of its form cannot answer, or an index that is out of range, would be undefined
//! behaviour. So each method asserts its precondition before it calls LLVM.
#![allow(unsafe_code)]

use super::load::Functions;
use super::{Module, number};
use number::{node, opcode as o, ty as t, value as k};
use std::ffi::{c_int, c_uint, c_void};

/// Defines a handle.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident $({ $field:ident: $form:ty })?) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub struct $name<'m> {
            pub(super) module: &'m Module,
            /// Not null, and valid as long as the module is borrowed.
            raw: *mut c_void,
            $($field: $form,)?
        }

        impl $name<'_> {
            pub(super) fn f(self) -> &'static Functions {
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

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An instruction, of one of `number::opcode`.
    Instruction(i32),
    /// A constant expression, of one of `number::opcode`.
    Expression(i32),
    /// Of one of `number::value`.
    Other(i32),
}

handle! {
    /// A global, a function, a parameter, an instruction, a constant.
    Value { form: Form }
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

impl<'m> Value<'m> {
    /// # Safety
    /// Null, or a value of the module or its context.
    pub(super) unsafe fn of(module: &'m Module, raw: *mut c_void) -> Option<Self> {
        if raw.is_null() {
            return None;
        }
        let f = module.llvm.functions;
        // SAFETY: the caller promises a value. LLVM gives the kind of an instruction to constants that its C API does not know; their opcode
        // is 0.
        let form = unsafe {
            match (f.LLVMGetValueKind)(raw) {
                k::INSTRUCTION => match (f.LLVMGetInstructionOpcode)(raw) {
                    0 => Form::Other(k::INSTRUCTION),
                    opcode => Form::Instruction(opcode),
                },
                k::EXPRESSION => Form::Expression((f.LLVMGetConstOpcode)(raw)),
                kind => Form::Other(kind),
            }
        };
        Some(Self { module, raw, form })
    }
}

/// How a handle other than a value is made.
macro_rules! made {
    ($($name:ident)*) => { $(
        impl<'m> $name<'m> {
            /// # Safety
            /// Null, or a pointer of this kind of the module or its context.
            pub(super) unsafe fn of(module: &'m Module, raw: *mut c_void) -> Option<Self> {
                (!raw.is_null()).then_some(Self { module, raw })
            }
        }
    )* };
}

made!(Type Block Node);

/// Methods that hand the handle, and perhaps an index below `count()`, to a function of LLVM, and return a handle, a number or a
/// truth. Behind `if` stands a method that says whether the handle can answer.
macro_rules! asked {
    ($($(#[$about:meta])* $name:ident($($at:ident < $count:ident)?) -> $kind:ident:
        $function:ident $(if $is:ident$(($($which:expr),+))?)?;)*) => {
        $($(#[$about])* pub fn $name(self $(, $at: u32)?) -> asked!(@type $kind) {
            $(assert!(self.$is($(&[$($which),+])?), concat!(stringify!($function), " of another kind of handle"));)?
            $(assert!($at < self.$count(), concat!(stringify!($function), " of an index that is out of range"));)?
            // SAFETY: the module is borrowed, so the handle is valid. It answers the question, and the index is in range. What is
            // returned belongs to the same module.
            unsafe {
                let made = (self.f().$function)(self.raw $(, $at as c_uint)?);
                asked!(@make $kind, self.module, made)
            }
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
        let first = unsafe { Value::of(self, (self.llvm.functions.LLVMGetFirstGlobal)(self.raw)) };
        std::iter::successors(first, |at| at.next_global())
    }

    /// The functions, declared or defined.
    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: as above.
        let first = unsafe { Value::of(self, (self.llvm.functions.LLVMGetFirstFunction)(self.raw)) };
        std::iter::successors(first, |at| at.next_function())
    }
}

impl<'m> Value<'m> {
    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    /// What the value is.
    pub fn form(self) -> Form {
        self.form
    }

    pub(super) fn is(self, kinds: &[i32]) -> bool {
        matches!(self.form, Form::Other(kind) if kinds.contains(&kind))
    }

    fn does(self, opcodes: &[i32]) -> bool {
        matches!(self.form, Form::Instruction(opcode) if opcodes.contains(&opcode))
    }

    fn is_instruction(self) -> bool {
        matches!(self.form, Form::Instruction(_))
    }

    fn is_operation(self) -> bool {
        matches!(self.form, Form::Instruction(_) | Form::Expression(_))
    }

    fn is_address(self) -> bool {
        matches!(self.form, Form::Instruction(o::GEP) | Form::Expression(o::GEP))
    }

    fn has_alignment(self) -> bool {
        self.is(&[k::GLOBAL_VARIABLE]) || self.does(&[o::ALLOCA, o::LOAD, o::STORE])
    }

    /// Whether it is an instruction of a block.
    pub(super) fn is_placed(self) -> bool {
        // SAFETY: an instruction may be asked.
        self.is_instruction() && unsafe { !(self.f().LLVMGetInstructionParent)(self.raw).is_null() }
    }

    pub(super) fn is_of(self, module: &Module) -> bool {
        std::ptr::eq(self.module, module)
    }

    /// Whether two values of a module have one type.
    pub(super) fn same_type(module: &Module, one: *mut c_void, other: *mut c_void) -> bool {
        let f = module.llvm.functions;
        // SAFETY: both are values.
        unsafe { (f.LLVMTypeOf)(one) == (f.LLVMTypeOf)(other) }
    }

    pub fn is_phi(self) -> bool {
        self.does(&[o::PHI])
    }

    pub fn is_load(self) -> bool {
        self.does(&[o::LOAD])
    }

    /// Of any value: whether something uses it that is not erased.
    pub fn is_used(self) -> bool {
        self.users().any(|user| user.is_none_or(|user| !user.is_instruction() || user.is_placed()))
    }

    /// Of any value: what uses it, as often as it does; `None` for what is no value of this module.
    fn users(self) -> impl Iterator<Item = Option<Self>> {
        let f = self.f();
        // SAFETY: any value may be asked. It has a list of uses, each with a user of the module.
        unsafe {
            let first = (f.LLVMGetFirstUse)(self.raw);
            let uses = std::iter::successors(Some(first).filter(|at| !at.is_null()), |at| {
                Some((f.LLVMGetNextUse)(*at)).filter(|at| !at.is_null())
            });
            uses.map(move |at| Value::of(self.module, (f.LLVMGetUser)(at)))
        }
    }

    /// Of a function: whether it is a kernel for devices.
    pub fn is_kernel(self) -> bool {
        number::KERNELS.contains(&self.calling_convention())
    }

    /// The instructions of a function.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        self.blocks().flat_map(Block::instructions)
    }

    fn has_condition(self) -> bool {
        self.does(&[o::BR]) && self.is_conditional()
    }

    asked! {
        /// After a global variable.
        next_global() -> Value: LLVMGetNextGlobal if is(k::GLOBAL_VARIABLE);
        /// After a function.
        next_function() -> Value: LLVMGetNextFunction if is(k::FUNCTION);
        /// After an instruction.
        next_instruction() -> Value: LLVMGetNextInstruction if is_placed;
        /// Of an instruction that is in one.
        block() -> Block: LLVMGetInstructionParent if is_placed;
        /// Of a global variable.
        initializer() -> Value: LLVMGetInitializer if is(k::GLOBAL_VARIABLE);
        /// Of a global variable or a function: what is at its address.
        value_type() -> Type: LLVMGlobalGetValueType if is(k::GLOBAL_VARIABLE, k::FUNCTION);
        /// Of a global variable.
        is_constant() -> truth: LLVMIsGlobalConstant if is(k::GLOBAL_VARIABLE);
        /// Of an alias: what it stands for.
        aliasee() -> Value: LLVMAliasGetAliasee if is(k::ALIAS);
        /// Of the address of a label: the function that has it.
        labelled() -> Value: LLVMGetBlockAddressFunction if is(k::BLOCK_ADDRESS);
        /// Of a global variable, a load, a store, an alloca.
        alignment() -> count: LLVMGetAlignment if has_alignment;
        /// Of a function.
        calling_convention() -> count: LLVMGetFunctionCallConv if is(k::FUNCTION);
        /// Of a function: 0 if it is not one of LLVM's intrinsics.
        intrinsic() -> count: LLVMGetIntrinsicID if is(k::FUNCTION);
        /// Of a function.
        count_parameters() -> count: LLVMCountParams if is(k::FUNCTION);
        /// Of a function.
        parameter(at < count_parameters) -> Value: LLVMGetParam if is(k::FUNCTION);
        /// Of a function.
        first_block() -> Block: LLVMGetFirstBasicBlock if is(k::FUNCTION);
        /// Of a function: its DISubprogram.
        subprogram() -> Node: LLVMGetSubprogram if is(k::FUNCTION);
        /// Of any value.
        ty() -> Type: LLVMTypeOf;
        /// Of an integer, of which the low 64 bits count.
        zero_extended() -> wide: LLVMConstIntGetZExtValue if is(k::INTEGER);
        /// The same.
        sign_extended() -> long: LLVMConstIntGetSExtValue if is(k::INTEGER);
        /// Of an array or a vector of numbers.
        is_string() -> truth: LLVMIsConstantString if is(k::DATA_ARRAY, k::DATA_VECTOR);
        /// Of a constant array, vector or struct; `None` behind its end.
        element(at < no_limit) -> Value: LLVMGetAggregateElement
            if is(k::ARRAY, k::STRUCT, k::VECTOR, k::DATA_ARRAY, k::DATA_VECTOR);
        /// Of an instruction or a constant expression.
        operand(at < count_operands) -> Value: LLVMGetOperand if is_operation;
        /// Of an arithmetic instruction of integers.
        has_nsw() -> truth: LLVMGetNSW if does(o::ADD, o::SUB, o::MUL, o::SHL);
        /// Of the same.
        has_nuw() -> truth: LLVMGetNUW if does(o::ADD, o::SUB, o::MUL, o::SHL);
        /// Of an `or`.
        is_disjoint() -> truth: LLVMGetIsDisjoint if does(o::OR);
        /// Of any value.
        can_be_fast() -> truth: LLVMCanValueUseFastMathFlags;
        /// Of an instruction that can be fast.
        fast_flags() -> count: LLVMGetFastMathFlags if can_be_fast;
        /// Of a load or a store.
        ordering() -> int: LLVMGetOrdering if does(o::LOAD, o::STORE);
        /// Of the same.
        is_volatile() -> truth: LLVMGetVolatile if does(o::LOAD, o::STORE);
        /// Of an `icmp`.
        integer_predicate() -> int: LLVMGetICmpPredicate if does(o::ICMP);
        /// Of an `fcmp`.
        float_predicate() -> int: LLVMGetFCmpPredicate if does(o::FCMP);
        /// Of a `phi`.
        count_incoming() -> count: LLVMCountIncoming if does(o::PHI);
        /// Of a `phi`.
        incoming_value(at < count_incoming) -> Value: LLVMGetIncomingValue if does(o::PHI);
        /// Of a `phi`.
        incoming_block(at < count_incoming) -> Block: LLVMGetIncomingBlock if does(o::PHI);
        /// Of a `getelementptr`.
        source_type() -> Type: LLVMGetGEPSourceElementType if is_address;
        /// Of a `getelementptr`.
        is_in_bounds() -> truth: LLVMIsInBounds if is_address;
        /// Of an `alloca`.
        allocated_type() -> Type: LLVMGetAllocatedType if does(o::ALLOCA);
        /// Of an `atomicrmw`.
        atomic_operation() -> int: LLVMGetAtomicRMWBinOp if does(o::ATOMICRMW);
        /// Of a call.
        called() -> Value: LLVMGetCalledValue if does(o::CALL);
        /// Of a call.
        count_arguments() -> count: LLVMGetNumArgOperands if does(o::CALL);
        /// Of a `shufflevector`.
        count_mask() -> count: LLVMGetNumMaskElements if does(o::SHUFFLE_VECTOR);
        /// Of a `shufflevector`.
        mask(at < count_mask) -> int: LLVMGetMaskValue if does(o::SHUFFLE_VECTOR);
        /// Of a `br`.
        is_conditional() -> truth: LLVMIsConditional if does(o::BR);
        /// Of a conditional `br`.
        condition() -> Value: LLVMGetCondition if has_condition;
        /// Of a `br` or a `switch`.
        successor(at < count_successors) -> Block: LLVMGetSuccessor if does(o::BR, o::SWITCH);
        /// Of a `br` or a `switch`.
        count_successors() -> count: LLVMGetNumSuccessors if does(o::BR, o::SWITCH);
        /// Of an instruction.
        location() -> Node: LLVMInstructionGetDebugLoc if is_instruction;
    }

    /// LLVM compares the index itself.
    fn no_limit(self) -> u32 {
        u32::MAX
    }

    /// Of an instruction or a constant expression.
    pub fn count_operands(self) -> u32 {
        assert!(self.is_operation(), "operands of {:?}", self.form);
        // SAFETY: it has operands.
        let count = unsafe { (self.f().LLVMGetNumOperands)(self.raw) };
        u32::try_from(count).unwrap_or(0)
    }

    /// The operands of an instruction or a constant expression.
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.count_operands()).filter_map(move |n| self.operand(n))
    }

    /// Of a `switch`: the value for a successor, from 1.
    pub fn case(self, at: u32) -> Option<Value<'m>> {
        assert!(self.does(&[o::SWITCH]) && (1..self.count_successors()).contains(&at), "case {at} of {:?}", self.form);
        // SAFETY: it is a switch that has this case.
        unsafe { Value::of(self.module, (self.f().LLVMGetSwitchCaseValue)(self.raw, at)) }
    }

    /// Empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: any value may be asked; the name has that many bytes and lives as long as the value.
        unsafe { bytes((self.f().LLVMGetValueName2)(self.raw, &mut length).cast(), length) }
    }

    /// The blocks of a function.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        std::iter::successors(self.first_block(), |at| at.next())
    }

    /// Of a floating-point constant: as a double, which may lose a NaN's payload.
    pub fn real(self) -> f64 {
        assert!(self.is(&[k::FLOAT]), "the number of {:?}", self.form);
        let mut loses = 0;
        // SAFETY: the value is a floating-point constant.
        unsafe { (self.f().LLVMConstRealGetDouble)(self.raw, &mut loses) }
    }

    /// The bits of a floating-point constant of 16, 32 or 64; 0 for another.
    pub fn bits(self) -> u64 {
        assert!(self.is(&[k::FLOAT]), "the bits of {:?}", self.form);
        let width = match self.ty().map(Type::kind) {
            Some(t::HALF) => 16,
            Some(t::FLOAT) => 32,
            Some(t::DOUBLE) => 64,
            _ => return 0,
        };
        // SAFETY: the value is a floating-point constant of that many bits, so the cast gives an integer constant.
        unsafe {
            let integer = (self.f().LLVMIntTypeInContext)(self.module.context.raw, width);
            (self.f().LLVMConstIntGetZExtValue)((self.f().LLVMConstBitCast)(self.raw, integer))
        }
    }

    /// The bytes of a constant string.
    pub fn string(self) -> Vec<u8> {
        assert!(self.is_string(), "the bytes of {:?}", self.form);
        let mut length = 0;
        // SAFETY: the value is a constant string, whose bytes live as long.
        unsafe { all((self.f().LLVMGetAsString)(self.raw, &mut length).cast(), length) }
    }

    /// The path of an `extractvalue` or `insertvalue`.
    pub fn path(self) -> Vec<u32> {
        assert!(self.does(&[o::EXTRACT_VALUE, o::INSERT_VALUE]), "the path of {:?}", self.form);
        // SAFETY: the value is one of these instructions; it has that many indices.
        unsafe {
            let count = (self.f().LLVMGetNumIndices)(self.raw);
            all((self.f().LLVMGetIndices)(self.raw), count as usize)
        }
    }

    /// Of an instruction: the node that tells of the loop whose latch it ends.
    pub fn loop_metadata(self) -> Option<Node<'m>> {
        self.metadata(number::LOOP)
    }

    /// Of an instruction: the group of accesses that it is in, or a list of such groups.
    pub fn access_group(self) -> Option<Node<'m>> {
        self.metadata("llvm.access.group")
    }

    /// Of an instruction: the node of a kind that is attached to it.
    pub fn metadata(self, name: &str) -> Option<Node<'m>> {
        assert!(self.is_instruction(), "metadata of {:?}", self.form);
        let (f, context) = (self.f(), self.module.context.raw);
        // SAFETY: the value is an instruction, and the name has that many bytes. What is found is metadata of the context.
        unsafe {
            let kind = (f.LLVMGetMDKindIDInContext)(context, name.as_ptr().cast(), name.len() as c_uint);
            Value::of(self.module, (f.LLVMGetMetadata)(self.raw, kind))?.as_node()
        }
    }

    /// The node that an operand of a node is, if it is one.
    pub fn as_node(self) -> Option<Node<'m>> {
        // SAFETY: the value is metadata.
        self.is(&[k::METADATA])
            .then(|| unsafe { Node::of(self.module, (self.f().LLVMValueAsMetadata)(self.raw)) })
            .flatten()
    }

    /// The text of an operand of a node, empty if it is no string.
    pub fn as_text(self) -> String {
        let mut length = 0;
        // SAFETY: any value may be asked; the text has that many bytes and lives as long as the context.
        unsafe { bytes((self.f().LLVMGetMDString)(self.raw, &mut length).cast(), length as usize) }
    }
}

impl<'m> Type<'m> {
    /// The bytes that a load or a store accesses; `None` for what has no size.
    pub fn bytes(self) -> Option<u64> {
        let (f, module) = (self.f(), self.module.raw);
        // SAFETY: the module is valid, and only a type with a size is asked for it.
        unsafe {
            ((f.LLVMTypeIsSized)(self.raw) != 0)
                .then(|| (f.LLVMStoreSizeOfType)((f.LLVMGetModuleDataLayout)(module), self.raw))
        }
    }

    /// The bytes from an element of an array to the next one; `None` for what has no size.
    pub fn stride(self) -> Option<u64> {
        let (f, module) = (self.f(), self.module.raw);
        // SAFETY: as above.
        unsafe {
            ((f.LLVMTypeIsSized)(self.raw) != 0)
                .then(|| (f.LLVMABISizeOfType)((f.LLVMGetModuleDataLayout)(module), self.raw))
        }
    }

    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    fn is(self, kinds: &[i32]) -> bool {
        kinds.contains(&self.kind())
    }

    asked! {
        /// One of `number::ty`.
        kind() -> int: LLVMGetTypeKind;
        /// Of an integer.
        width() -> count: LLVMGetIntTypeWidth if is(t::INTEGER);
        /// Of a pointer.
        space() -> count: LLVMGetPointerAddressSpace if is(t::POINTER);
        /// Of an array.
        array_length() -> wide: LLVMGetArrayLength2 if is(t::ARRAY);
        /// Of a vector.
        vector_length() -> count: LLVMGetVectorSize if is(t::VECTOR);
        /// Of an array or a vector.
        element() -> Type: LLVMGetElementType if is(t::ARRAY, t::VECTOR);
        /// Of a struct.
        is_opaque() -> truth: LLVMIsOpaqueStruct if is(t::STRUCT);
        /// Of a struct.
        is_packed() -> truth: LLVMIsPackedStruct if is(t::STRUCT);
        /// Of a struct.
        count_fields() -> count: LLVMCountStructElementTypes if is(t::STRUCT);
        /// Of a struct.
        field(at < count_fields) -> Type: LLVMStructGetTypeAtIndex if is(t::STRUCT);
        /// Of a function.
        returns() -> Type: LLVMGetReturnType if is(t::FUNCTION);
    }
}

impl<'m> Block<'m> {
    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    pub(super) fn is_of(self, module: &Module) -> bool {
        std::ptr::eq(self.module, module)
    }

    /// Empty if it has none.
    pub fn name(self) -> String {
        self.as_value().map(Value::name).unwrap_or_default()
    }

    asked! {
        /// After it.
        next() -> Block: LLVMGetNextBasicBlock;
        /// Its first instruction.
        first() -> Value: LLVMGetFirstInstruction;
        /// Itself.
        as_value() -> Value: LLVMBasicBlockAsValue;
        /// Its last instruction, where it is whole.
        terminator() -> Value: LLVMGetBasicBlockTerminator;
    }

    /// The blocks that end with a branch to it, as often as they branch to it.
    pub fn predecessors(self) -> impl Iterator<Item = Self> {
        let ends = self.as_value().into_iter().flat_map(Value::users).flatten();
        ends.filter(|end| end.is_instruction() && end.is_placed()).filter_map(Value::block)
    }

    /// Its instructions.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(self.first(), |at| at.next_instruction())
    }
}

impl<'m> Node<'m> {
    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    fn is(self, kinds: &[u32]) -> bool {
        kinds.contains(&self.kind())
    }

    asked! {
        /// One of `number::node`.
        kind() -> count: LLVMGetMetadataKind;
        /// Of a location.
        scope() -> Node: LLVMDILocationGetScope if is(node::LOCATION);
        /// Of a location.
        inlined_at() -> Node: LLVMDILocationGetInlinedAt if is(node::LOCATION);
        /// Of a location.
        line() -> count: LLVMDILocationGetLine if is(node::LOCATION);
        /// Of a location.
        column() -> count: LLVMDILocationGetColumn if is(node::LOCATION);
        /// Of a subprogram.
        first_line() -> count: LLVMDISubprogramGetLine if is(node::SUBPROGRAM);
    }

    /// Its operands, with `None` for a null operand. A node of a kind without operands has an empty list.
    pub fn operands(self) -> Vec<Option<Value<'m>>> {
        // SAFETY: the node is of the module's context. What LLVM calls a node has so many operands, and the list has room for all.
        unsafe {
            let value = (self.f().LLVMMetadataAsValue)(self.module.context.raw, self.raw);
            if (self.f().LLVMIsAMDNode)(value).is_null() {
                return Vec::new();
            }
            let mut all = vec![std::ptr::null_mut(); (self.f().LLVMGetMDNodeNumOperands)(value) as usize];
            (self.f().LLVMGetMDNodeOperands)(value, all.as_mut_ptr());
            all.into_iter().map(|raw| Value::of(self.module, raw)).collect()
        }
    }
}

/// A copy of a list.
///
/// # Safety
/// Null, or the first of so many, which are valid.
unsafe fn all<T: Clone>(first: *const T, count: usize) -> Vec<T> {
    // SAFETY: as the caller says.
    if first.is_null() { Vec::new() } else { unsafe { std::slice::from_raw_parts(first, count) }.to_vec() }
}

/// # Safety
/// As of `all`.
unsafe fn bytes(first: *const u8, length: usize) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(&unsafe { all(first, length) }).into_owned()
}
