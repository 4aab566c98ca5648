//! Builds instructions, blocks, types and constants.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::load::Functions;
use super::number::{FIRST_INTEGER_PREDICATE, ty as t};
use super::value::{Block, Type, Value};
use std::ffi::{CString, c_void};

/// A place in a block where instructions are built, one behind the other. Constants may be folded.
pub struct Builder<'m> {
    pub edit: Editor<'m>,
    /// Valid until it is dropped.
    raw: *mut c_void,
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
        let f = self.llvm.functions;
        // SAFETY: the instruction is in a block of the module.
        unsafe {
            let raw = (f.LLVMCreateBuilderInContext)(self.context.raw);
            (f.LLVMPositionBuilderBefore)(raw, self.own(at));
            Builder { edit: self, raw }
        }
    }

    /// At the end of a block.
    pub fn build_at(self, block: Block<'m>) -> Builder<'m> {
        let f = self.llvm.functions;
        // SAFETY: the block is one of the module.
        unsafe {
            let raw = (f.LLVMCreateBuilderInContext)(self.context.raw);
            (f.LLVMPositionBuilderAtEnd)(raw, self.own_block(block));
            Builder { edit: self, raw }
        }
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

    /// A truth.
    pub fn truth(self, is: bool) -> Value<'m> {
        self.integer(self.integer_type(1), u64::from(is))
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

    /// A phi of values of one type that [`Self::incoming`] adds.
    pub fn phi(&self, ty: Type<'m>, name: &str) -> Value<'m> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in a block.
        unsafe { self.made((self.f().LLVMBuildPhi)(self.raw, ty.raw(), name.as_ptr())) }
    }

    pub fn branch(&self, to: Block<'m>) {
        // SAFETY: the block is of the same function.
        unsafe { (self.f().LLVMBuildBr)(self.raw, self.edit.own_block(to)) };
    }

    pub fn branch_if(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) {
        let (condition, yes, no) = (self.raw_of(condition), self.edit.own_block(yes), self.edit.own_block(no));
        // SAFETY: the blocks are of the same function.
        unsafe { (self.f().LLVMBuildCondBr)(self.raw, condition, yes, no) };
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
}
