//! Handles of values, types, blocks, and nodes of metadata in a module. Handles can be copied. They borrow the module, so no code can
//! change or drop the module while handles exist.
//!
//! LLVM checks nothing: a query for another form of value, or an index that is out of range, would be undefined behaviour. Therefore
//! each method asserts its precondition before it calls LLVM.
#![allow(unsafe_code)]

use super::load::Functions;
use super::{Module, number};
use number::{node, opcode as o, ty as t, value as k};
use std::ffi::{c_int, c_uint, c_void};

/// Defines the type of a handle.
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
    /// An instruction, with its opcode from `number::opcode`.
    Instruction(i32),
    /// A constant expression, with its opcode from `number::opcode`.
    Expression(i32),
    /// Any other value, with its kind from `number::value`.
    Other(i32),
}

handle! {
    /// A global variable, a function, a parameter, an instruction or a constant.
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
    /// `raw` is null, or a value of the module or its context.
    pub(super) unsafe fn of(module: &'m Module, raw: *mut c_void) -> Option<Self> {
        if raw.is_null() {
            return None;
        }
        let f = module.llvm.functions;
        // SAFETY: the caller promises a value. Constants that are unknown to LLVM's C API have the kind of an instruction and the opcode 0.
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

/// Defines the constructor of a handle other than a value.
macro_rules! made {
    ($($name:ident)*) => { $(
        impl<'m> $name<'m> {
            /// # Safety
            /// `raw` is null, or points to an object of this kind of the module or its context.
            pub(super) unsafe fn of(module: &'m Module, raw: *mut c_void) -> Option<Self> {
                (!raw.is_null()).then_some(Self { module, raw })
            }
        }
    )* };
}

made!(Type Block Node);

/// Defines queries: methods that call a function of LLVM with the handle, and with an index if the query has one. The result is a handle, a
/// number or a `bool` (`truth`). After `<` comes the method that returns the limit of the index. After `if` comes the method that returns
/// true if LLVM's function accepts the handle.
macro_rules! queries {
    ($($(#[$about:meta])* $name:ident($($at:ident < $count:ident)?) -> $kind:ident:
        $function:ident $(if $is:ident$(($($which:expr),+))?)?;)*) => {
        $($(#[$about])* pub fn $name(self $(, $at: u32)?) -> queries!(@type $kind) {
            $(assert!(self.$is($(&[$($which),+])?), concat!(stringify!($function), " was called for another kind of \
                                                                                    value"));)?
            $(assert!($at < self.$count(), concat!(stringify!($function), " was called with an index that is out of \
                                                                           range"));)?
            // SAFETY: the module is borrowed, so the handle is valid. LLVM's function accepts the handle, and the index is in range.
            // The result belongs to the same module.
            unsafe {
                let made = (self.f().$function)(self.raw $(, $at as c_uint)?);
                queries!(@make $kind, self.module, made)
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
        // SAFETY: as in `globals`.
        let first = unsafe { Value::of(self, (self.llvm.functions.LLVMGetFirstFunction)(self.raw)) };
        std::iter::successors(first, |at| at.next_function())
    }
}

impl<'m> Value<'m> {
    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    /// The form of the value.
    pub fn form(self) -> Form {
        self.form
    }

    pub(super) fn is(self, kinds: &[i32]) -> bool {
        matches!(self.form, Form::Other(kind) if kinds.contains(&kind))
    }

    fn has_opcode(self, opcodes: &[i32]) -> bool {
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
        self.is(&[k::GLOBAL_VARIABLE]) || self.has_opcode(&[o::ALLOCA, o::LOAD, o::STORE])
    }

    /// True if the value is an instruction in a block.
    pub(super) fn is_in_block(self) -> bool {
        // SAFETY: the value is an instruction.
        self.is_instruction() && unsafe { !(self.f().LLVMGetInstructionParent)(self.raw).is_null() }
    }

    pub(super) fn belongs_to(self, module: &Module) -> bool {
        std::ptr::eq(self.module, module)
    }

    /// True if two values of a module have the same type.
    pub(super) fn same_type(module: &Module, one: *mut c_void, other: *mut c_void) -> bool {
        let f = module.llvm.functions;
        // SAFETY: both are values.
        unsafe { (f.LLVMTypeOf)(one) == (f.LLVMTypeOf)(other) }
    }

    pub fn is_phi(self) -> bool {
        self.has_opcode(&[o::PHI])
    }

    pub fn is_load(self) -> bool {
        self.has_opcode(&[o::LOAD])
    }

    /// True if something that is not erased uses the value.
    pub fn is_used(self) -> bool {
        self.users().any(|user| user.is_none_or(|user| !user.is_instruction() || user.is_in_block()))
    }

    /// The users of the value. A user with several uses occurs several times. `None` for a user without a handle.
    fn users(self) -> impl Iterator<Item = Option<Self>> {
        let f = self.f();
        // SAFETY: every value has a list of uses, each with a user of the module.
        unsafe {
            let first = (f.LLVMGetFirstUse)(self.raw);
            let uses = std::iter::successors(Some(first).filter(|at| !at.is_null()), |at| {
                Some((f.LLVMGetNextUse)(*at)).filter(|at| !at.is_null())
            });
            uses.map(move |at| Value::of(self.module, (f.LLVMGetUser)(at)))
        }
    }

    /// True if the function is a kernel for devices.
    pub fn is_kernel(self) -> bool {
        number::KERNEL_CONVENTIONS.contains(&self.calling_convention())
    }

    /// The instructions of a function.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        self.blocks().flat_map(Block::instructions)
    }

    fn has_condition(self) -> bool {
        self.has_opcode(&[o::BR]) && self.is_conditional()
    }

    queries! {
        /// The global variable after this one.
        next_global() -> Value: LLVMGetNextGlobal if is(k::GLOBAL_VARIABLE);
        /// The function after this one.
        next_function() -> Value: LLVMGetNextFunction if is(k::FUNCTION);
        /// The instruction after this one in its block.
        next_instruction() -> Value: LLVMGetNextInstruction if is_in_block;
        /// The block of an instruction.
        block() -> Block: LLVMGetInstructionParent if is_in_block;
        /// The initializer of a global variable.
        initializer() -> Value: LLVMGetInitializer if is(k::GLOBAL_VARIABLE);
        /// The type of a global variable's content, or the type of a function.
        value_type() -> Type: LLVMGlobalGetValueType if is(k::GLOBAL_VARIABLE, k::FUNCTION);
        /// True if a global variable is constant.
        is_constant() -> truth: LLVMIsGlobalConstant if is(k::GLOBAL_VARIABLE);
        /// The target of an alias.
        aliasee() -> Value: LLVMAliasGetAliasee if is(k::ALIAS);
        /// The function that contains the label of a `blockaddress`.
        labelled() -> Value: LLVMGetBlockAddressFunction if is(k::BLOCK_ADDRESS);
        /// The alignment of a global variable, a load, a store or an alloca.
        alignment() -> count: LLVMGetAlignment if has_alignment;
        /// The calling convention of a function.
        calling_convention() -> count: LLVMGetFunctionCallConv if is(k::FUNCTION);
        /// The number of an intrinsic function; 0 for other functions.
        intrinsic() -> count: LLVMGetIntrinsicID if is(k::FUNCTION);
        /// The number of a function's parameters.
        count_parameters() -> count: LLVMCountParams if is(k::FUNCTION);
        /// A parameter of a function.
        parameter(at < count_parameters) -> Value: LLVMGetParam if is(k::FUNCTION);
        /// The entry block of a function.
        first_block() -> Block: LLVMGetFirstBasicBlock if is(k::FUNCTION);
        /// The DISubprogram of a function.
        subprogram() -> Node: LLVMGetSubprogram if is(k::FUNCTION);
        /// The type of the value.
        ty() -> Type: LLVMTypeOf;
        /// The low 64 bits of an integer constant, zero-extended.
        zero_extended() -> wide: LLVMConstIntGetZExtValue if is(k::INTEGER);
        /// The low 64 bits of an integer constant, sign-extended.
        sign_extended() -> long: LLVMConstIntGetSExtValue if is(k::INTEGER);
        /// True if a constant array or vector of numbers is a string.
        is_string() -> truth: LLVMIsConstantString if is(k::DATA_ARRAY, k::DATA_VECTOR);
        /// An element of a constant array, vector or struct; `None` past its end.
        element(at < no_index_limit) -> Value: LLVMGetAggregateElement
            if is(k::ARRAY, k::STRUCT, k::VECTOR, k::DATA_ARRAY, k::DATA_VECTOR);
        /// An operand of an instruction or a constant expression.
        operand(at < count_operands) -> Value: LLVMGetOperand if is_operation;
        /// The flag `nsw` of integer arithmetic.
        has_nsw() -> truth: LLVMGetNSW if has_opcode(o::ADD, o::SUB, o::MUL, o::SHL);
        /// The flag `nuw` of integer arithmetic.
        has_nuw() -> truth: LLVMGetNUW if has_opcode(o::ADD, o::SUB, o::MUL, o::SHL);
        /// The flag `disjoint` of an `or`.
        is_disjoint() -> truth: LLVMGetIsDisjoint if has_opcode(o::OR);
        /// True if the value can have fast-math flags.
        can_be_fast() -> truth: LLVMCanValueUseFastMathFlags;
        /// The fast-math flags of an instruction.
        fast_flags() -> count: LLVMGetFastMathFlags if can_be_fast;
        /// The atomic ordering of a load or a store.
        ordering() -> int: LLVMGetOrdering if has_opcode(o::LOAD, o::STORE);
        /// True if a load or a store is volatile.
        is_volatile() -> truth: LLVMGetVolatile if has_opcode(o::LOAD, o::STORE);
        /// The predicate of an `icmp`.
        integer_predicate() -> int: LLVMGetICmpPredicate if has_opcode(o::ICMP);
        /// The predicate of an `fcmp`.
        float_predicate() -> int: LLVMGetFCmpPredicate if has_opcode(o::FCMP);
        /// The number of a phi's incoming values.
        count_incoming() -> count: LLVMCountIncoming if has_opcode(o::PHI);
        /// An incoming value of a phi.
        incoming_value(at < count_incoming) -> Value: LLVMGetIncomingValue if has_opcode(o::PHI);
        /// An incoming block of a phi.
        incoming_block(at < count_incoming) -> Block: LLVMGetIncomingBlock if has_opcode(o::PHI);
        /// The source element type of a `getelementptr`.
        source_type() -> Type: LLVMGetGEPSourceElementType if is_address;
        /// The flag `inbounds` of a `getelementptr`.
        is_in_bounds() -> truth: LLVMIsInBounds if is_address;
        /// The type that an `alloca` allocates.
        allocated_type() -> Type: LLVMGetAllocatedType if has_opcode(o::ALLOCA);
        /// The operation of an `atomicrmw`.
        atomic_operation() -> int: LLVMGetAtomicRMWBinOp if has_opcode(o::ATOMICRMW);
        /// The callee of a call.
        called() -> Value: LLVMGetCalledValue if has_opcode(o::CALL);
        /// The number of a call's arguments.
        count_arguments() -> count: LLVMGetNumArgOperands if has_opcode(o::CALL);
        /// The length of a `shufflevector`'s mask.
        count_mask() -> count: LLVMGetNumMaskElements if has_opcode(o::SHUFFLE_VECTOR);
        /// An element of a `shufflevector`'s mask.
        mask(at < count_mask) -> int: LLVMGetMaskValue if has_opcode(o::SHUFFLE_VECTOR);
        /// True if a `br` has a condition.
        is_conditional() -> truth: LLVMIsConditional if has_opcode(o::BR);
        /// The condition of a conditional `br`.
        condition() -> Value: LLVMGetCondition if has_condition;
        /// A successor of a `br` or a `switch`.
        successor(at < count_successors) -> Block: LLVMGetSuccessor if has_opcode(o::BR, o::SWITCH);
        /// The number of successors of a `br` or a `switch`.
        count_successors() -> count: LLVMGetNumSuccessors if has_opcode(o::BR, o::SWITCH);
        /// The debug location of an instruction.
        location() -> Node: LLVMInstructionGetDebugLoc if is_instruction;
    }

    /// The limit of the index of `element`: LLVM checks this index itself.
    fn no_index_limit(self) -> u32 {
        u32::MAX
    }

    /// The number of operands of an instruction or a constant expression.
    pub fn count_operands(self) -> u32 {
        assert!(self.is_operation(), "only an operation has operands, not {:?}", self.form);
        // SAFETY: the value is an instruction or a constant expression, so it has operands.
        let count = unsafe { (self.f().LLVMGetNumOperands)(self.raw) };
        u32::try_from(count).unwrap_or(0)
    }

    /// The operands of an instruction or a constant expression.
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.count_operands()).filter_map(move |n| self.operand(n))
    }

    /// The case value of a `switch` for successor `at`; successor 0 is the default.
    pub fn case(self, at: u32) -> Option<Value<'m>> {
        assert!(
            self.has_opcode(&[o::SWITCH]) && (1..self.count_successors()).contains(&at),
            "case {at} of {:?} does not exist",
            self.form
        );
        // SAFETY: it is a switch that has this case.
        unsafe { Value::of(self.module, (self.f().LLVMGetSwitchCaseValue)(self.raw, at)) }
    }

    /// The name of the value; empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the query fits all values; the name has that many bytes and lives as long as the value.
        unsafe { bytes((self.f().LLVMGetValueName2)(self.raw, &mut length).cast(), length) }
    }

    /// The blocks of a function.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        std::iter::successors(self.first_block(), |at| at.next())
    }

    /// A floating-point constant as a double. The conversion may lose a NaN's payload.
    pub fn real(self) -> f64 {
        assert!(self.is(&[k::FLOAT]), "the number of a floating-point constant was requested from {:?}", self.form);
        let mut loses_precision = 0;
        // SAFETY: the value is a floating-point constant.
        unsafe { (self.f().LLVMConstRealGetDouble)(self.raw, &mut loses_precision) }
    }

    /// The bits of a floating-point constant with 16, 32 or 64 bits; 0 for other widths.
    pub fn bits(self) -> u64 {
        assert!(self.is(&[k::FLOAT]), "the bits of a floating-point constant were requested from {:?}", self.form);
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
        assert!(self.is_string(), "only a constant string has bytes, not {:?}", self.form);
        let mut length = 0;
        // SAFETY: the value is a constant string, and the bytes live as long as the value.
        unsafe { all((self.f().LLVMGetAsString)(self.raw, &mut length).cast(), length) }
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub fn path(self) -> Vec<u32> {
        assert!(
            self.has_opcode(&[o::EXTRACT_VALUE, o::INSERT_VALUE]),
            "only extractvalue and insertvalue have a path, not {:?}",
            self.form
        );
        // SAFETY: the value is an `extractvalue` or `insertvalue` that has that many indices.
        unsafe {
            let count = (self.f().LLVMGetNumIndices)(self.raw);
            all((self.f().LLVMGetIndices)(self.raw), count as usize)
        }
    }

    /// The loop metadata at the terminator of a latch.
    pub fn loop_metadata(self) -> Option<Node<'m>> {
        self.metadata(number::LOOP_METADATA)
    }

    /// The access group of an instruction, or a list of access groups.
    pub fn access_group(self) -> Option<Node<'m>> {
        self.metadata("llvm.access.group")
    }

    /// The metadata of the kind `name` that is attached to an instruction.
    pub fn metadata(self, name: &str) -> Option<Node<'m>> {
        assert!(self.is_instruction(), "only an instruction has metadata, not {:?}", self.form);
        let (f, context) = (self.f(), self.module.context.raw);
        // SAFETY: the value is an instruction, and the name has that many bytes. The result is metadata of the context.
        unsafe {
            let kind = (f.LLVMGetMDKindIDInContext)(context, name.as_ptr().cast(), name.len() as c_uint);
            Value::of(self.module, (f.LLVMGetMetadata)(self.raw, kind))?.as_node()
        }
    }

    /// The value as a node of metadata, if it is one.
    pub fn as_node(self) -> Option<Node<'m>> {
        // SAFETY: the value is metadata.
        self.is(&[k::METADATA])
            .then(|| unsafe { Node::of(self.module, (self.f().LLVMValueAsMetadata)(self.raw)) })
            .flatten()
    }

    /// The text of a metadata string; empty for other values.
    pub fn as_text(self) -> String {
        let mut length = 0;
        // SAFETY: the query fits all values; the text has that many bytes and lives as long as the context.
        unsafe { bytes((self.f().LLVMGetMDString)(self.raw, &mut length).cast(), length as usize) }
    }
}

impl<'m> Type<'m> {
    /// The number of bytes that a load or a store accesses; `None` for types without a size.
    pub fn bytes(self) -> Option<u64> {
        let (f, module) = (self.f(), self.module.raw);
        // SAFETY: the module is valid, and the size is only queried of types that have one.
        unsafe {
            ((f.LLVMTypeIsSized)(self.raw) != 0)
                .then(|| (f.LLVMStoreSizeOfType)((f.LLVMGetModuleDataLayout)(module), self.raw))
        }
    }

    /// The distance between elements of an array in bytes; `None` for types without a size.
    pub fn stride(self) -> Option<u64> {
        let (f, module) = (self.f(), self.module.raw);
        // SAFETY: as in `bytes`.
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

    queries! {
        /// The kind of type, from `number::ty`.
        kind() -> int: LLVMGetTypeKind;
        /// The number of bits of an integer.
        width() -> count: LLVMGetIntTypeWidth if is(t::INTEGER);
        /// The address space of a pointer.
        space() -> count: LLVMGetPointerAddressSpace if is(t::POINTER);
        /// The length of an array.
        array_length() -> wide: LLVMGetArrayLength2 if is(t::ARRAY);
        /// The length of a vector.
        vector_length() -> count: LLVMGetVectorSize if is(t::VECTOR);
        /// The element type of an array or a vector.
        element() -> Type: LLVMGetElementType if is(t::ARRAY, t::VECTOR);
        /// True if a struct is opaque.
        is_opaque() -> truth: LLVMIsOpaqueStruct if is(t::STRUCT);
        /// True if a struct is packed.
        is_packed() -> truth: LLVMIsPackedStruct if is(t::STRUCT);
        /// The number of a struct's fields.
        count_fields() -> count: LLVMCountStructElementTypes if is(t::STRUCT);
        /// The type of a struct's field.
        field(at < count_fields) -> Type: LLVMStructGetTypeAtIndex if is(t::STRUCT);
        /// The return type of a function.
        returns() -> Type: LLVMGetReturnType if is(t::FUNCTION);
    }
}

impl<'m> Block<'m> {
    pub(super) fn raw(self) -> *mut c_void {
        self.raw
    }

    pub(super) fn belongs_to(self, module: &Module) -> bool {
        std::ptr::eq(self.module, module)
    }

    /// The name of the block; empty if it has none.
    pub fn name(self) -> String {
        self.as_value().map(Value::name).unwrap_or_default()
    }

    queries! {
        /// The block after this one.
        next() -> Block: LLVMGetNextBasicBlock;
        /// The first instruction.
        first() -> Value: LLVMGetFirstInstruction;
        /// The block as a value.
        as_value() -> Value: LLVMBasicBlockAsValue;
        /// The last instruction, if the block is complete.
        terminator() -> Value: LLVMGetBasicBlockTerminator;
    }

    /// The predecessors of the block. A predecessor with several edges to this block occurs several times.
    pub fn predecessors(self) -> impl Iterator<Item = Self> {
        let terminators = self.as_value().into_iter().flat_map(Value::users).flatten();
        terminators.filter(|end| end.is_instruction() && end.is_in_block()).filter_map(Value::block)
    }

    /// The instructions of the block.
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

    queries! {
        /// The kind of node, from `number::node`.
        kind() -> count: LLVMGetMetadataKind;
        /// The scope of a location.
        scope() -> Node: LLVMDILocationGetScope if is(node::LOCATION);
        /// The call through which a location was inlined.
        inlined_at() -> Node: LLVMDILocationGetInlinedAt if is(node::LOCATION);
        /// The line of a location.
        line() -> count: LLVMDILocationGetLine if is(node::LOCATION);
        /// The column of a location.
        column() -> count: LLVMDILocationGetColumn if is(node::LOCATION);
        /// The line of a subprogram.
        first_line() -> count: LLVMDISubprogramGetLine if is(node::SUBPROGRAM);
    }

    /// The operands of the node, with `None` for a null operand; empty for kinds of nodes without operands.
    pub fn operands(self) -> Vec<Option<Value<'m>>> {
        // SAFETY: the node is of the module's context. Operands are only queried of an MDNode, and the vector has room for all.
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

/// Copies a C array.
///
/// # Safety
/// `first` is null, or points to `count` valid values.
unsafe fn all<T: Clone>(first: *const T, count: usize) -> Vec<T> {
    // SAFETY: as the caller says.
    if first.is_null() { Vec::new() } else { unsafe { std::slice::from_raw_parts(first, count) }.to_vec() }
}

/// # Safety
/// As for `all`.
unsafe fn bytes(first: *const u8, length: usize) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(&unsafe { all(first, length) }).into_owned()
}
