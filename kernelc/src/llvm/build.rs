//! Builds instructions, blocks, types and constants.
#![allow(unsafe_code)]

use super::Module;
use super::edit::Editor;
use super::load::Functions;
use super::number::opcode::{self as o, ZEXT};
use super::number::{ACQUIRE_RELEASE, FIRST_INTEGER_PREDICATE, FUNCTION_INDEX, IN_BOUNDS, ty as t, value as k};
use super::value::{Block, Form, Type, Value};
use std::ffi::{CString, c_uint, c_void};

/// Appends instructions at a position in a block. LLVM may fold operations on constants.
pub struct Builder<'m> {
    pub edit: Editor<'m>,
    /// Valid until the builder is dropped.
    pub(super) raw: *mut c_void,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is valid, and no code uses it later.
        unsafe { (self.f().LLVMDisposeBuilder)(self.raw) }
    }
}

impl<'m> Editor<'m> {
    /// A builder before an instruction. New instructions get the source location of that instruction.
    pub fn build_before(self, at: Value<'m>) -> Builder<'m> {
        assert!(at.is_in_block(), "a builder needs an instruction that is in a block");
        let builder = self.builder();
        // SAFETY: the instruction is in a block of the module.
        unsafe { (self.llvm.functions.LLVMPositionBuilderBefore)(builder.raw, self.checked_raw(at)) }
        builder
    }

    /// A builder at the end of a block.
    pub fn build_at(self, block: Block<'m>) -> Builder<'m> {
        let builder = self.builder();
        // SAFETY: the block is one of the module.
        unsafe { (self.llvm.functions.LLVMPositionBuilderAtEnd)(builder.raw, self.checked_raw_block(block)) }
        builder
    }

    fn builder(self) -> Builder<'m> {
        // SAFETY: the context is valid.
        let raw = unsafe { (self.llvm.functions.LLVMCreateBuilderInContext)(self.context.raw) };
        Builder { edit: self, raw }
    }

    /// A new block before another one.
    pub fn block_before(self, block: Block<'m>, name: &str) -> Block<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the block is one of a function; the name is a string.
        let made = unsafe {
            let raw = (self.llvm.functions.LLVMInsertBasicBlockInContext)(
                self.context.raw,
                self.checked_raw_block(block),
                name.as_ptr(),
            );
            Block::of(self.module, raw)
        };
        made.unwrap_or_else(|| unreachable!("LLVM returned no block"))
    }

    /// The integer type with `bits` bits.
    pub fn integer_type(self, bits: u32) -> Type<'m> {
        // SAFETY: the context is valid.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMIntTypeInContext)(self.context.raw, bits)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no integer type of {bits} bits"))
    }

    /// A 32-bit integer constant.
    pub fn i32(self, number: u32) -> Value<'m> {
        self.integer(self.integer_type(32), u64::from(number))
    }

    /// A 64-bit integer constant.
    pub fn i64(self, number: u64) -> Value<'m> {
        self.integer(self.integer_type(64), number)
    }

    /// An `i1` constant.
    pub fn i1(self, is_true: bool) -> Value<'m> {
        self.integer(self.integer_type(1), u64::from(is_true))
    }

    pub fn pointer_type(self) -> Type<'m> {
        // SAFETY: the context is valid.
        let made =
            unsafe { Type::of(self.module, (self.llvm.functions.LLVMPointerTypeInContext)(self.context.raw, 0)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no pointer type"))
    }

    pub fn array_type(self, element: Type<'m>, count: u64) -> Type<'m> {
        // SAFETY: the type is one of a value in memory.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMArrayType2)(element.raw(), count)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no array type"))
    }

    pub fn double_type(self) -> Type<'m> {
        // SAFETY: the context is valid.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMDoubleTypeInContext)(self.context.raw)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no type for double"))
    }

    /// A floating-point constant.
    pub fn real(self, ty: Type<'m>, number: f64) -> Value<'m> {
        assert!(
            [t::HALF, t::FLOAT, t::DOUBLE].contains(&ty.kind()),
            "the type of a floating-point constant must be half, float or double"
        );
        // SAFETY: it is a type of floating-point numbers.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstReal)(ty.raw(), number)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no constant for {number}"))
    }

    pub fn poison(self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: the type belongs to the context, and values can have this type.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMGetPoison)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no poison value"))
    }

    /// The zero of a type: a number, a null pointer, or an aggregate of zeros.
    pub fn zero(self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: as in `poison`.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstNull)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no zero value"))
    }

    /// The constant of an integer type, or of a vector of integers, with all bits set.
    pub fn ones(self, ty: Type<'m>) -> Value<'m> {
        let element = if ty.kind() == t::VECTOR { ty.element() } else { Some(ty) };
        assert!(
            element.is_some_and(|ty| ty.kind() == t::INTEGER),
            "only integers and vectors of integers have a constant with all bits set"
        );
        // SAFETY: it is a type of integers.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstAllOnes)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no constant with all bits set"))
    }

    /// A vector of `count` equal constants.
    pub fn splat(self, element: Value<'m>, count: u32) -> Value<'m> {
        let mut all = vec![self.checked_raw(element); count as usize];
        // SAFETY: the elements are constants of one type, and there are `count` of them.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstVector)(all.as_mut_ptr(), count)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no vector"))
    }

    /// Replaces an operand by another value of the same type.
    pub fn set_operand(self, of: Value<'m>, n: u32, value: Value<'m>) {
        assert!(
            of.is_in_block() && of.operand(n).and_then(Value::ty) == value.ty(),
            "operand {n} of {:?} does not exist, or its type differs from the type of the new value",
            of.form()
        );
        // SAFETY: the instruction has this operand, of this type.
        unsafe { (self.llvm.functions.LLVMSetOperand)(self.checked_raw(of), n, self.checked_raw(value)) }
    }
}

impl<'m> Builder<'m> {
    fn f(&self) -> &'static Functions {
        self.edit.module.llvm.functions
    }

    /// # Safety
    /// `raw` is a value that LLVM has built in this module.
    unsafe fn made(&self, raw: *mut c_void) -> Value<'m> {
        // SAFETY: the caller promises a value of the module.
        unsafe { Value::of(self.edit.module, raw) }.unwrap_or_else(|| unreachable!("LLVM returned no instruction"))
    }

    fn raw_of(&self, value: Value<'m>) -> *mut c_void {
        self.edit.checked_raw(value)
    }

    /// An arithmetic operation on two values of one type; `opcode` is from `number::opcode`.
    pub fn binary(&self, opcode: i32, left: Value<'m>, right: Value<'m>, name: &str) -> Value<'m> {
        assert!(left.ty() == right.ty(), "the operands of an arithmetic operation must have the same type");
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block, and both values have one type.
        unsafe {
            self.made((self.f().LLVMBuildBinOp)(self.raw, opcode, self.raw_of(left), self.raw_of(right), name.as_ptr()))
        }
    }

    /// An arithmetic operation on integers that overflows neither as signed nor as unsigned.
    pub fn binary_without_overflow(&self, opcode: i32, left: Value<'m>, right: Value<'m>, name: &str) -> Value<'m> {
        let made = self.binary(opcode, left, right, name);
        if let Form::Instruction(_) = made.form() {
            // SAFETY: it is an addition, a subtraction or a multiplication of integers.
            unsafe {
                (self.f().LLVMSetNUW)(made.raw(), 1);
                (self.f().LLVMSetNSW)(made.raw(), 1);
            }
        }
        made
    }

    /// Extends a number that is not negative to more bits.
    pub fn widened(&self, number: Value<'m>, to: Type<'m>, name: &str) -> Value<'m> {
        let made = self.cast(ZEXT, number, to, name);
        if let Form::Instruction(_) = made.form() {
            // SAFETY: it is a zero extension.
            unsafe { (self.f().LLVMSetNNeg)(made.raw(), 1) }
        }
        made
    }

    /// A comparison of integers or pointers; `predicate` counts from `eq` in the order of `ir::IntPredicate`.
    pub fn compare(&self, predicate: i32, left: Value<'m>, right: Value<'m>, name: &str) -> Value<'m> {
        assert!(left.ty() == right.ty(), "the operands of a comparison must have the same type");
        let (name, predicate) = (CString::new(name).unwrap_or_default(), FIRST_INTEGER_PREDICATE + predicate);
        // SAFETY: as in `binary`.
        unsafe {
            self.made((self.f().LLVMBuildICmp)(
                self.raw,
                predicate,
                self.raw_of(left),
                self.raw_of(right),
                name.as_ptr(),
            ))
        }
    }

    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>, name: &str) -> Value<'m> {
        assert!(yes.ty() == no.ty(), "the operands of a select must have the same type");
        let name = CString::new(name).unwrap_or_default();
        let (condition, yes, no) = (self.raw_of(condition), self.raw_of(yes), self.raw_of(no));
        // SAFETY: as in `binary`; the caller passes a condition.
        unsafe { self.made((self.f().LLVMBuildSelect)(self.raw, condition, yes, no, name.as_ptr())) }
    }

    /// The value, or an arbitrary but fixed value if `value` is poison.
    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: the builder stands in a block, and any value can be frozen.
        unsafe { self.made((self.f().LLVMBuildFreeze)(self.raw, self.raw_of(value), c"".as_ptr())) }
    }

    /// A conversion; `opcode` is from `number::opcode`.
    pub fn cast(&self, opcode: i32, value: Value<'m>, to: Type<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block. LLVM's verifier finds a wrong cast.
        unsafe { self.made((self.f().LLVMBuildCast)(self.raw, opcode, self.raw_of(value), to.raw(), name.as_ptr())) }
    }

    /// The address `bytes` bytes after `base`, without `inbounds`.
    pub fn byte_address(&self, base: Value<'m>, bytes: Value<'m>, name: &str) -> Value<'m> {
        self.address(self.edit.integer_type(8), base, &[bytes], 0, name)
    }

    /// The address `bytes` bytes after `base`, with `inbounds`.
    pub fn byte_address_inbounds(&self, base: Value<'m>, bytes: Value<'m>, name: &str) -> Value<'m> {
        self.address(self.edit.integer_type(8), base, &[bytes], IN_BOUNDS, name)
    }

    /// A copy of the `getelementptr` instruction or constant expression `of`, with other operands.
    pub fn address_with_operands(&self, of: Value<'m>, operands: &[Value<'m>]) -> Value<'m> {
        let (Some(source), Some((base, indices))) = (of.source_type(), operands.split_first()) else { return of };
        // SAFETY: only a `getelementptr` has a source element type.
        let flags = unsafe { (self.f().LLVMGEPGetNoWrapFlags)(self.raw_of(of)) };
        self.address(source, *base, indices, flags, "")
    }

    fn address(
        &self,
        source: Type<'m>,
        base: Value<'m>,
        indices: &[Value<'m>],
        flags: c_uint,
        name: &str,
    ) -> Value<'m> {
        assert!(
            base.ty().is_some_and(|ty| ty.kind() == t::POINTER),
            "the base of an address must be a pointer, not {:?}",
            base.form()
        );
        let (name, count) = (CString::new(name).unwrap_or_default(), indices.len() as c_uint);
        let mut indices: Vec<*mut c_void> = indices.iter().map(|index| self.raw_of(*index)).collect();
        let (f, base) = (self.f(), self.raw_of(base));
        // SAFETY: the base is a pointer, and there are `count` indices.
        unsafe {
            let build = f.LLVMBuildGEPWithNoWrapFlags;
            self.made(build(self.raw, source.raw(), base, indices.as_mut_ptr(), count, name.as_ptr(), flags))
        }
    }

    /// A load with the alignment of its type.
    pub fn load(&self, ty: Type<'m>, from: Value<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the address is a pointer.
        unsafe { self.made((self.f().LLVMBuildLoad2)(self.raw, ty.raw(), self.raw_of(from), name.as_ptr())) }
    }

    /// A load from an address of a known alignment, a power of two.
    pub fn load_aligned(&self, ty: Type<'m>, from: Value<'m>, align: u32, name: &str) -> Value<'m> {
        let made = self.load(ty, from, name);
        // SAFETY: it is a load. The caller promises a power of two.
        unsafe { (self.f().LLVMSetAlignment)(self.raw_of(made), align) };
        made
    }

    /// A local variable. With `align` 0, the variable has the alignment of its type.
    pub fn alloca(&self, ty: Type<'m>, align: u32, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block. The alignment is a power of two, because it is the alignment of another variable or because
        // the caller promises it.
        unsafe {
            let made = (self.f().LLVMBuildAlloca)(self.raw, ty.raw(), name.as_ptr());
            if align != 0 {
                (self.f().LLVMSetAlignment)(made, align);
            }
            self.made(made)
        }
    }

    /// A phi of this type, to which [`Editor::add_incoming`] adds values.
    pub fn phi(&self, ty: Type<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block.
        unsafe { self.made((self.f().LLVMBuildPhi)(self.raw, ty.raw(), name.as_ptr())) }
    }

    /// A call of a function with fixed parameters.
    pub fn call(&self, function: Value<'m>, arguments: &[Value<'m>], name: &str) -> Value<'m> {
        assert!(
            function.form() == Form::Other(k::FUNCTION),
            "only a function can be called, not {:?}",
            function.form()
        );
        let all = (0..function.count_parameters()).filter_map(|n| function.parameter(n));
        assert!(
            all.map(Value::ty).eq(arguments.iter().map(|one| one.ty())),
            "the arguments of a call must have the types of the parameters"
        );
        let (f, name) = (self.f(), CString::new(name).unwrap_or_default());
        let callee = self.raw_of(function);
        let mut all: Vec<*mut c_void> = arguments.iter().map(|one| self.raw_of(*one)).collect();
        // SAFETY: the callee is a function, and these are arguments of its parameters' types.
        unsafe {
            let ty = (f.LLVMGlobalGetValueType)(callee);
            let made = (f.LLVMBuildCall2)(self.raw, ty, callee, all.as_mut_ptr(), all.len() as c_uint, name.as_ptr());
            (f.LLVMSetInstructionCallConv)(made, (f.LLVMGetFunctionCallConv)(callee));
            self.made(made)
        }
    }

    /// A call of a function with a variable number of arguments.
    pub fn call_variadic(&self, function: Value<'m>, arguments: &[Value<'m>]) {
        assert!(
            function.form() == Form::Other(k::FUNCTION),
            "only a function can be called, not {:?}",
            function.form()
        );
        let (f, callee) = (self.f(), self.raw_of(function));
        let mut all: Vec<*mut c_void> = arguments.iter().map(|one| self.raw_of(*one)).collect();
        // SAFETY: the callee is a function; LLVM's verifier finds wrong arguments.
        unsafe {
            let ty = (f.LLVMGlobalGetValueType)(callee);
            (f.LLVMBuildCall2)(self.raw, ty, callee, all.as_mut_ptr(), all.len() as c_uint, c"".as_ptr());
        }
    }

    pub fn store(&self, value: Value<'m>, to: Value<'m>) -> Value<'m> {
        // SAFETY: the address is a pointer.
        unsafe { self.made((self.f().LLVMBuildStore)(self.raw, self.raw_of(value), self.raw_of(to))) }
    }

    /// A store to an address of a known alignment, a power of two.
    pub fn store_aligned(&self, value: Value<'m>, to: Value<'m>, align: u32) {
        let made = self.store(value, to);
        // SAFETY: it is a store. The caller promises a power of two.
        unsafe { (self.f().LLVMSetAlignment)(self.raw_of(made), align) }
    }

    /// An acquire-release fence in the scope of all threads.
    pub fn fence(&self) {
        // SAFETY: the builder stands in a block. The last number, 0, is the scope of all threads.
        unsafe { (self.f().LLVMBuildFence)(self.raw, ACQUIRE_RELEASE, 0, c"".as_ptr()) };
    }

    /// Empty inline assembly, which LLVM treats as opaque. It returns its argument. `effects`: LLVM must assume side effects.
    pub fn opaque(&self, argument: Option<Value<'m>>, effects: bool, name: &str) -> Value<'m> {
        let (f, context, name) = (self.f(), self.edit.context.raw, CString::new(name).unwrap_or_default());
        let constraints = if argument.is_some() { c"=r,0" } else { c"" };
        let mut all: Vec<*mut c_void> = argument.iter().map(|one| self.raw_of(*one)).collect();
        let count = all.len() as c_uint;
        // SAFETY: the texts have the given lengths; the function has at most one argument, of the type that it returns.
        unsafe {
            let mut given = all.first().map_or_else(|| (f.LLVMVoidTypeInContext)(context), |one| (f.LLVMTypeOf)(*one));
            let ty = (f.LLVMFunctionType)(given, &mut given, count, 0);
            let (text, length) = (constraints.as_ptr(), constraints.count_bytes());
            let code = (f.LLVMGetInlineAsm)(ty, c"".as_ptr(), 0, text, length, effects.into(), 0, 0, 0);
            self.made((f.LLVMBuildCall2)(self.raw, ty, code, all.as_mut_ptr(), count, name.as_ptr()))
        }
    }

    /// A switch over a number, with `other` as the default.
    pub fn switch(&self, number: Value<'m>, other: Block<'m>, cases: &[(Value<'m>, Block<'m>)]) {
        let (f, count) = (self.f(), cases.len() as c_uint);
        // SAFETY: the blocks are of one function, and the cases are constants of the number's type.
        unsafe {
            let made = (f.LLVMBuildSwitch)(self.raw, self.raw_of(number), self.edit.checked_raw_block(other), count);
            for (case, to) in cases {
                (f.LLVMAddCase)(made, self.raw_of(*case), self.edit.checked_raw_block(*to));
            }
        }
    }

    pub fn unreachable(&self) {
        // SAFETY: the builder stands in a block.
        unsafe { (self.f().LLVMBuildUnreachable)(self.raw) };
    }

    /// A return, with a value if the function has a result.
    pub fn ret(&self, value: Option<Value<'m>>) {
        // SAFETY: the builder stands in a block; LLVM's verifier finds a value of another type.
        unsafe {
            match value {
                Some(value) => (self.f().LLVMBuildRet)(self.raw, self.raw_of(value)),
                None => (self.f().LLVMBuildRetVoid)(self.raw),
            };
        }
    }

    /// A copy of an aggregate with one element replaced.
    pub fn insert_value(&self, aggregate: Value<'m>, element: Value<'m>, at: u32, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        let (aggregate, element) = (self.raw_of(aggregate), self.raw_of(element));
        // SAFETY: the caller passes an aggregate that has an element `at` of this type.
        unsafe { self.made((self.f().LLVMBuildInsertValue)(self.raw, aggregate, element, at, name.as_ptr())) }
    }

    pub fn branch(&self, to: Block<'m>) {
        // SAFETY: the block is of the same function.
        unsafe { (self.f().LLVMBuildBr)(self.raw, self.edit.checked_raw_block(to)) };
    }

    pub fn branch_if(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) -> Value<'m> {
        let (condition, yes, no) =
            (self.raw_of(condition), self.edit.checked_raw_block(yes), self.edit.checked_raw_block(no));
        // SAFETY: the blocks are of the same function.
        unsafe { self.made((self.f().LLVMBuildCondBr)(self.raw, condition, yes, no)) }
    }

    /// Moves an instruction to the builder's position.
    pub(super) fn moved(&self, one: Value<'m>) {
        let (f, name) = (self.f(), CString::new(one.name()).unwrap_or_default());
        // SAFETY: the instruction is in a block, which it leaves.
        unsafe {
            (f.LLVMInstructionRemoveFromParent)(self.raw_of(one));
            (f.LLVMInsertIntoBuilderWithName)(self.raw, one.raw(), name.as_ptr());
        }
    }

    /// A copy of an instruction other than a phi, with its source location.
    pub fn copy(&self, one: Value<'m>, name: &str) -> Value<'m> {
        assert!(
            one.is_in_block() && !one.is_phi(),
            "only an instruction that is in a block and is not a phi can be copied, not {:?}",
            one.form()
        );
        let (f, from, name) = (self.f(), self.raw_of(one), CString::new(name).unwrap_or_default());
        // SAFETY: the copy is new and in no block yet. Only a result that is not void has a name.
        unsafe {
            let copy = (f.LLVMInstructionClone)(from);
            let has_name = (f.LLVMGetTypeKind)((f.LLVMTypeOf)(from)) != t::VOID;
            (f.LLVMInsertIntoBuilderWithName)(self.raw, copy, if has_name { name.as_ptr() } else { c"".as_ptr() });
            (f.LLVMInstructionSetDebugLoc)(copy, (f.LLVMInstructionGetDebugLoc)(from));
            self.made(copy)
        }
    }
}

impl<'m> Editor<'m> {
    /// Adds incoming values to a phi.
    pub fn add_incoming(self, phi: Value<'m>, incoming: &[(Value<'m>, Block<'m>)]) {
        assert!(
            phi.is_phi() && incoming.iter().all(|(value, _)| value.ty() == phi.ty()),
            "the incoming values of a phi must have the type of the phi"
        );
        for (value, from) in incoming {
            let (mut value, mut from) = (self.checked_raw(*value), self.checked_raw_block(*from));
            // SAFETY: it is a phi of values of this type, from a block of its function.
            unsafe { (self.llvm.functions.LLVMAddIncoming)(self.checked_raw(phi), &mut value, &mut from, 1) }
        }
    }

    /// The function `name`. If this module lacks the function, declares it with the type and the attributes that it has
    /// in `other`, a module of the same context.
    pub fn declared_as(self, other: &Module, name: &str) -> Value<'m> {
        assert!(std::rc::Rc::ptr_eq(&self.context, &other.context), "both modules must have the same context");
        let f = self.llvm.functions;
        let (model, title) = (other.function(name).map(Value::raw), CString::new(name).unwrap_or_default());
        let Some(model) = model else { unreachable!("the other module has no function {name}") };
        // SAFETY: the model is a function whose type and attributes are of the context. The list has room for all attributes.
        let made = unsafe {
            let mut made = (f.LLVMGetNamedFunction)(self.module.raw, title.as_ptr());
            if made.is_null() {
                made = (f.LLVMAddFunction)(self.module.raw, title.as_ptr(), (f.LLVMGlobalGetValueType)(model));
                for attribute_index in (0..=(f.LLVMCountParams)(model)).chain([FUNCTION_INDEX]) {
                    let mut all =
                        vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(model, attribute_index) as usize];
                    (f.LLVMGetAttributesAtIndex)(model, attribute_index, all.as_mut_ptr());
                    all.into_iter().for_each(|attribute| (f.LLVMAddAttributeAtIndex)(made, attribute_index, attribute));
                }
            }
            Value::of(self.module, made)
        };
        made.unwrap_or_else(|| unreachable!("LLVM returned no function"))
    }

    /// Removes `inbounds` and the no-wrap flags from a `getelementptr`.
    pub fn drop_wrap_flags(self, address: Value<'m>) {
        assert!(
            address.form() == Form::Instruction(o::GEP),
            "only address computations (getelementptr) have these flags, not {:?}",
            address.form()
        );
        // SAFETY: it is a `getelementptr` instruction.
        unsafe { (self.llvm.functions.LLVMGEPSetNoWrapFlags)(self.checked_raw(address), 0) }
    }
}

impl Module {
    /// The function `name`, declared or defined.
    pub fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: the module is valid as long as it is borrowed, and the name is a string.
        unsafe { Value::of(self, (self.llvm.functions.LLVMGetNamedFunction)(self.raw, name.as_ptr())) }
    }
}
