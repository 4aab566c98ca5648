//! Builds instructions, blocks, types and constants.
#![allow(unsafe_code)]

use super::Module;
use super::edit::Editor;
use super::load::Functions;
use super::number::opcode::{self as o, ZEXT};
use super::number::{ACQUIRE_RELEASE, FIRST_INTEGER_PREDICATE, IN_BOUNDS, OF_FUNCTION, ty as t, value as k};
use super::value::{Block, Form, Type, Value};
use std::ffi::{CString, c_uint, c_void};

/// A place in a block where instructions are built, one behind the other. Constants may be folded.
pub struct Builder<'m> {
    pub edit: Editor<'m>,
    /// Valid until it is dropped.
    pub(super) raw: *mut c_void,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is valid, and nobody uses it later.
        unsafe { (self.f().LLVMDisposeBuilder)(self.raw) }
    }
}

impl<'m> Editor<'m> {
    /// Before an instruction, at its place of the source.
    pub fn build_before(self, at: Value<'m>) -> Builder<'m> {
        assert!(at.is_placed(), "a place before what is in no block");
        let builder = self.builder();
        // SAFETY: the instruction is in a block of the module.
        unsafe { (self.llvm.functions.LLVMPositionBuilderBefore)(builder.raw, self.own(at)) }
        builder
    }

    /// At the end of a block.
    pub fn build_at(self, block: Block<'m>) -> Builder<'m> {
        let builder = self.builder();
        // SAFETY: the block is one of the module.
        unsafe { (self.llvm.functions.LLVMPositionBuilderAtEnd)(builder.raw, self.own_block(block)) }
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
                self.own_block(block),
                name.as_ptr(),
            );
            Block::of(self.module, raw)
        };
        made.unwrap_or_else(|| unreachable!("LLVM makes each block"))
    }

    /// The type of integers of so many bits.
    pub fn integer_type(self, bits: u32) -> Type<'m> {
        // SAFETY: the context is valid.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMIntTypeInContext)(self.context.raw, bits)) };
        made.unwrap_or_else(|| unreachable!("LLVM has integers of all widths"))
    }

    /// A number of 32 bits.
    pub fn i32(self, number: u32) -> Value<'m> {
        self.integer(self.integer_type(32), u64::from(number))
    }

    /// A number of 64 bits.
    pub fn i64(self, number: u64) -> Value<'m> {
        self.integer(self.integer_type(64), number)
    }

    /// A truth.
    pub fn truth(self, is: bool) -> Value<'m> {
        self.integer(self.integer_type(1), u64::from(is))
    }

    pub fn pointer_type(self) -> Type<'m> {
        // SAFETY: the context is valid.
        let made =
            unsafe { Type::of(self.module, (self.llvm.functions.LLVMPointerTypeInContext)(self.context.raw, 0)) };
        made.unwrap_or_else(|| unreachable!("LLVM has pointers"))
    }

    pub fn array_type(self, element: Type<'m>, count: u64) -> Type<'m> {
        // SAFETY: the type is one of a value in memory.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMArrayType2)(element.raw(), count)) };
        made.unwrap_or_else(|| unreachable!("LLVM has arrays"))
    }

    pub fn double_type(self) -> Type<'m> {
        // SAFETY: the context is valid.
        let made = unsafe { Type::of(self.module, (self.llvm.functions.LLVMDoubleTypeInContext)(self.context.raw)) };
        made.unwrap_or_else(|| unreachable!("LLVM has doubles"))
    }

    /// A floating-point constant.
    pub fn real(self, ty: Type<'m>, number: f64) -> Value<'m> {
        assert!([t::HALF, t::FLOAT, t::DOUBLE].contains(&ty.kind()), "a number of another type");
        // SAFETY: it is a type of floating-point numbers.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstReal)(ty.raw(), number)) };
        made.unwrap_or_else(|| unreachable!("LLVM makes a constant of each number"))
    }

    pub fn poison(self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: the type is one of the context that values have.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMGetPoison)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("each type has poison"))
    }

    /// Zero, null, or an aggregate of them.
    pub fn zero(self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: as above.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstNull)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("each type has a zero"))
    }

    /// All bits of an integer, or of each in a vector of integers, are set.
    pub fn ones(self, ty: Type<'m>) -> Value<'m> {
        let element = if ty.kind() == t::VECTOR { ty.element() } else { Some(ty) };
        assert!(element.is_some_and(|ty| ty.kind() == t::INTEGER), "all bits of another type");
        // SAFETY: it is a type of integers.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstAllOnes)(ty.raw())) };
        made.unwrap_or_else(|| unreachable!("each type of integers has all bits set"))
    }

    /// A vector of so many times the same constant.
    pub fn splat(self, element: Value<'m>, count: u32) -> Value<'m> {
        let mut all = vec![self.own(element); count as usize];
        // SAFETY: the elements are constants of one type, and so many.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstVector)(all.as_mut_ptr(), count)) };
        made.unwrap_or_else(|| unreachable!("LLVM makes each vector"))
    }

    /// Another value of the same type as an operand.
    pub fn set_operand(self, of: Value<'m>, n: u32, value: Value<'m>) {
        assert!(of.is_placed() && of.operand(n).and_then(Value::ty) == value.ty(), "operand {n} of {:?}", of.form());
        // SAFETY: the instruction has this operand, of this type.
        unsafe { (self.llvm.functions.LLVMSetOperand)(self.own(of), n, self.own(value)) }
    }
}

impl<'m> Builder<'m> {
    fn f(&self) -> &'static Functions {
        self.edit.module.llvm.functions
    }

    /// # Safety
    /// What LLVM has built here.
    unsafe fn made(&self, raw: *mut c_void) -> Value<'m> {
        // SAFETY: the caller promises a value of the module.
        unsafe { Value::of(self.edit.module, raw) }.unwrap_or_else(|| unreachable!("LLVM builds each instruction"))
    }

    fn raw_of(&self, value: Value<'m>) -> *mut c_void {
        self.edit.own(value)
    }

    /// Arithmetic of two values of one type; `opcode` is one of `number::opcode`.
    pub fn binary(&self, opcode: i32, left: Value<'m>, right: Value<'m>, name: &str) -> Value<'m> {
        assert!(left.ty() == right.ty(), "arithmetic of two types");
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block, and both values have one type.
        unsafe {
            self.made((self.f().LLVMBuildBinOp)(self.raw, opcode, self.raw_of(left), self.raw_of(right), name.as_ptr()))
        }
    }

    /// Arithmetic of numbers that are not negative, with a result that is none either and fits.
    pub fn counting(&self, opcode: i32, left: Value<'m>, right: Value<'m>, name: &str) -> Value<'m> {
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

    /// A number that is not negative, in more bits.
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
        assert!(left.ty() == right.ty(), "a comparison of two types");
        let (name, predicate) = (CString::new(name).unwrap_or_default(), FIRST_INTEGER_PREDICATE + predicate);
        // SAFETY: as above.
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
        assert!(yes.ty() == no.ty(), "a choice of two types");
        let name = CString::new(name).unwrap_or_default();
        let (condition, yes, no) = (self.raw_of(condition), self.raw_of(yes), self.raw_of(no));
        // SAFETY: as above; the condition is one.
        unsafe { self.made((self.f().LLVMBuildSelect)(self.raw, condition, yes, no, name.as_ptr())) }
    }

    /// The value, or some number if it is poison.
    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: the builder stands in a block, and any value can be frozen.
        unsafe { self.made((self.f().LLVMBuildFreeze)(self.raw, self.raw_of(value), c"".as_ptr())) }
    }

    /// A conversion by one of `number::opcode`.
    pub fn cast(&self, opcode: i32, value: Value<'m>, to: Type<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block. LLVM's verifier finds a wrong cast.
        unsafe { self.made((self.f().LLVMBuildCast)(self.raw, opcode, self.raw_of(value), to.raw(), name.as_ptr())) }
    }

    /// An address so many bytes behind another one, not said to be in bounds.
    pub fn byte_address(&self, base: Value<'m>, bytes: Value<'m>, name: &str) -> Value<'m> {
        self.address(self.edit.integer_type(8), base, &[bytes], 0, name)
    }

    /// The same, in bounds.
    pub fn byte_within(&self, base: Value<'m>, bytes: Value<'m>, name: &str) -> Value<'m> {
        self.address(self.edit.integer_type(8), base, &[bytes], IN_BOUNDS, name)
    }

    /// The address of a `getelementptr`, an instruction or a constant, with these operands in place of its own.
    pub fn address_as(&self, of: Value<'m>, operands: &[Value<'m>]) -> Value<'m> {
        let (Some(source), Some((base, indices))) = (of.source_type(), operands.split_first()) else { return of };
        // SAFETY: it is an address, as it has the type of its elements.
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
        assert!(base.ty().is_some_and(|ty| ty.kind() == t::POINTER), "an address behind {:?}", base.form());
        let (name, count) = (CString::new(name).unwrap_or_default(), indices.len() as c_uint);
        let mut indices: Vec<*mut c_void> = indices.iter().map(|index| self.raw_of(*index)).collect();
        let (f, base) = (self.f(), self.raw_of(base));
        // SAFETY: the base is a pointer, and there are so many indices.
        unsafe {
            let build = f.LLVMBuildGEPWithNoWrapFlags;
            self.made(build(self.raw, source.raw(), base, indices.as_mut_ptr(), count, name.as_ptr(), flags))
        }
    }

    /// A load, aligned as its type is.
    pub fn load(&self, ty: Type<'m>, from: Value<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the address is a pointer.
        unsafe { self.made((self.f().LLVMBuildLoad2)(self.raw, ty.raw(), self.raw_of(from), name.as_ptr())) }
    }

    /// A load from an address of a known alignment, a power of two.
    pub fn load_aligned(&self, ty: Type<'m>, from: Value<'m>, align: u32, name: &str) -> Value<'m> {
        let made = self.load(ty, from, name);
        // SAFETY: it is a load. The caller promises the alignment's form.
        unsafe { (self.f().LLVMSetAlignment)(self.raw_of(made), align) };
        made
    }

    /// A variable; `align` is 0 if it is aligned as its type is.
    pub fn alloca(&self, ty: Type<'m>, align: u32, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block. The alignment is a power of two, as another variable or the caller has it.
        unsafe {
            let made = (self.f().LLVMBuildAlloca)(self.raw, ty.raw(), name.as_ptr());
            if align != 0 {
                (self.f().LLVMSetAlignment)(made, align);
            }
            self.made(made)
        }
    }

    /// A phi of values of one type that [`Self::incoming`] adds.
    pub fn phi(&self, ty: Type<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block.
        unsafe { self.made((self.f().LLVMBuildPhi)(self.raw, ty.raw(), name.as_ptr())) }
    }

    /// A call of a function with fixed parameters.
    pub fn call(&self, function: Value<'m>, arguments: &[Value<'m>], name: &str) -> Value<'m> {
        assert!(function.form() == Form::Other(k::FUNCTION), "a call of {:?}", function.form());
        let all = (0..function.count_parameters()).filter_map(|n| function.parameter(n));
        assert!(all.map(Value::ty).eq(arguments.iter().map(|one| one.ty())), "a call with other arguments");
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
        assert!(function.form() == Form::Other(k::FUNCTION), "a call of {:?}", function.form());
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

    /// A fence of all threads that acquires and releases.
    pub fn fence(&self) {
        // SAFETY: the builder stands in a block. Of all threads: 0.
        unsafe { (self.f().LLVMBuildFence)(self.raw, ACQUIRE_RELEASE, 0, c"".as_ptr()) };
    }

    /// Assembly without instructions, which LLVM does not look into. `effects`: it may do more than make a value of its argument.
    pub fn opaque(&self, argument: Option<Value<'m>>, effects: bool, name: &str) -> Value<'m> {
        let (f, context, name) = (self.f(), self.edit.context.raw, CString::new(name).unwrap_or_default());
        let constraints = if argument.is_some() { c"=r,0" } else { c"" };
        let mut all: Vec<*mut c_void> = argument.iter().map(|one| self.raw_of(*one)).collect();
        let count = all.len() as c_uint;
        // SAFETY: the texts are empty or have as many bytes as they say; the function has one argument at most, of the type that it returns.
        unsafe {
            let mut given = all.first().map_or_else(|| (f.LLVMVoidTypeInContext)(context), |one| (f.LLVMTypeOf)(*one));
            let ty = (f.LLVMFunctionType)(given, &mut given, count, 0);
            let (text, length) = (constraints.as_ptr(), constraints.count_bytes());
            let code = (f.LLVMGetInlineAsm)(ty, c"".as_ptr(), 0, text, length, effects.into(), 0, 0, 0);
            self.made((f.LLVMBuildCall2)(self.raw, ty, code, all.as_mut_ptr(), count, name.as_ptr()))
        }
    }

    /// Goes to one of some blocks by a number.
    pub fn switch(&self, number: Value<'m>, other: Block<'m>, cases: &[(Value<'m>, Block<'m>)]) {
        let (f, count) = (self.f(), cases.len() as c_uint);
        // SAFETY: the blocks are of one function, and the cases are constants of the number's type.
        unsafe {
            let made = (f.LLVMBuildSwitch)(self.raw, self.raw_of(number), self.edit.own_block(other), count);
            for (case, to) in cases {
                (f.LLVMAddCase)(made, self.raw_of(*case), self.edit.own_block(*to));
            }
        }
    }

    pub fn unreachable(&self) {
        // SAFETY: the builder stands in a block.
        unsafe { (self.f().LLVMBuildUnreachable)(self.raw) };
    }

    /// The end of a function, with what it returns.
    pub fn give_back(&self, value: Option<Value<'m>>) {
        // SAFETY: the builder stands in a block; LLVM's verifier finds a value of another type.
        unsafe {
            match value {
                Some(value) => (self.f().LLVMBuildRet)(self.raw, self.raw_of(value)),
                None => (self.f().LLVMBuildRetVoid)(self.raw),
            };
        }
    }

    /// An aggregate with another element.
    pub fn insert_value(&self, aggregate: Value<'m>, element: Value<'m>, at: u32, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        let (aggregate, element) = (self.raw_of(aggregate), self.raw_of(element));
        // SAFETY: the caller gives an aggregate with such an element.
        unsafe { self.made((self.f().LLVMBuildInsertValue)(self.raw, aggregate, element, at, name.as_ptr())) }
    }

    pub fn branch(&self, to: Block<'m>) {
        // SAFETY: the block is of the same function.
        unsafe { (self.f().LLVMBuildBr)(self.raw, self.edit.own_block(to)) };
    }

    pub fn branch_if(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) -> Value<'m> {
        let (condition, yes, no) = (self.raw_of(condition), self.edit.own_block(yes), self.edit.own_block(no));
        // SAFETY: the blocks are of the same function.
        unsafe { self.made((self.f().LLVMBuildCondBr)(self.raw, condition, yes, no)) }
    }

    /// Moves an instruction here.
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
        assert!(one.is_placed() && !one.is_phi(), "a copy of {:?}", one.form());
        let (f, from, name) = (self.f(), self.raw_of(one), CString::new(name).unwrap_or_default());
        // SAFETY: the copy is new and in no block yet. A void result has no name.
        unsafe {
            let copy = (f.LLVMInstructionClone)(from);
            let named = (f.LLVMGetTypeKind)((f.LLVMTypeOf)(from)) != t::VOID;
            (f.LLVMInsertIntoBuilderWithName)(self.raw, copy, if named { name.as_ptr() } else { c"".as_ptr() });
            (f.LLVMInstructionSetDebugLoc)(copy, (f.LLVMInstructionGetDebugLoc)(from));
            self.made(copy)
        }
    }
}

impl<'m> Editor<'m> {
    /// Adds where values of a phi come from.
    pub fn add_incoming(self, phi: Value<'m>, incoming: &[(Value<'m>, Block<'m>)]) {
        assert!(phi.is_phi() && incoming.iter().all(|(value, _)| value.ty() == phi.ty()), "a phi of several types");
        for (value, from) in incoming {
            let (mut value, mut from) = (self.own(*value), self.own_block(*from));
            // SAFETY: it is a phi of values of this type, from a block of its function.
            unsafe { (self.llvm.functions.LLVMAddIncoming)(self.own(phi), &mut value, &mut from, 1) }
        }
    }

    /// The function of a name, declared as another module of the same context declares it.
    pub fn declared_as(self, other: &Module, name: &str) -> Value<'m> {
        assert!(std::rc::Rc::ptr_eq(&self.context, &other.context), "a function of another context");
        let f = self.llvm.functions;
        let (model, title) = (other.function(name).map(Value::raw), CString::new(name).unwrap_or_default());
        let Some(model) = model else { unreachable!("the other module declares {name}") };
        // SAFETY: the model is a function; its type and attributes are of the context. The list has room for all.
        let made = unsafe {
            let mut made = (f.LLVMGetNamedFunction)(self.module.raw, title.as_ptr());
            if made.is_null() {
                made = (f.LLVMAddFunction)(self.module.raw, title.as_ptr(), (f.LLVMGlobalGetValueType)(model));
                for place in (0..=(f.LLVMCountParams)(model)).chain([OF_FUNCTION]) {
                    let mut all = vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(model, place) as usize];
                    (f.LLVMGetAttributesAtIndex)(model, place, all.as_mut_ptr());
                    all.into_iter().for_each(|attribute| (f.LLVMAddAttributeAtIndex)(made, place, attribute));
                }
            }
            Value::of(self.module, made)
        };
        made.unwrap_or_else(|| unreachable!("LLVM declares each function"))
    }

    /// An address without what is said of overflow and bounds.
    pub fn drop_wrap_flags(self, address: Value<'m>) {
        assert!(address.form() == Form::Instruction(o::GEP), "the flags of {:?}", address.form());
        // SAFETY: it is such an instruction.
        unsafe { (self.llvm.functions.LLVMGEPSetNoWrapFlags)(self.own(address), 0) }
    }
}

impl Module {
    /// The function of a name, declared or defined.
    pub fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        // SAFETY: the module is valid as long as it is borrowed, and the name is a string.
        unsafe { Value::of(self, (self.llvm.functions.LLVMGetNamedFunction)(self.raw, name.as_ptr())) }
    }
}
