//! Instructions made anew with other fast-maths flags: LLVM's C API adds such flags, and clears none.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::load::Functions;
use super::number;
use super::value::{Form, Value};
use number::{OF_FUNCTION, opcode as o};
use std::ffi::{c_uint, c_void};

impl<'m> Editor<'m> {
    /// Gives an instruction that can be fast these flags only. It is made anew, with its source location, metadata and name. An
    /// instruction of a kind that is not known here, and a call with operand bundles, keep their flags.
    pub fn set_fast_flags(self, old: Value<'m>, flags: u32) {
        assert!(old.is_placed() && old.can_be_fast(), "fast maths of {:?}", old.form());
        let Form::Instruction(opcode) = old.form() else { return };
        let from = self.own(old);
        let build = self.build_before(old);
        // SAFETY: the builder stands before the instruction, which has this opcode. What is made is null or a value of the module.
        let made = unsafe { Value::of(self.module, anew(self.llvm.functions, build.raw, opcode, from)) };
        let Some(new) = made else { return };
        // LLVM may have folded it to a constant.
        if let Form::Instruction(_) = new.form() {
            let name = old.name();
            let (f, to) = (self.llvm.functions, new.raw());
            // SAFETY: both are instructions of one kind that can be fast. The name has that many bytes.
            unsafe {
                (f.LLVMSetFastMathFlags)(to, flags);
                (f.LLVMSetValueName2)(from, c"".as_ptr(), 0);
                (f.LLVMSetValueName2)(to, name.as_ptr().cast(), name.len());
                copy_metadata(f, self.context.raw, from, to);
            }
        }
        self.replace_uses(old, new);
        self.erase(old);
    }
}

/// Gives an instruction the metadata of another one.
///
/// # Safety
/// Both are instructions of one module of the context.
pub(super) unsafe fn copy_metadata(f: &Functions, context: *mut c_void, from: *mut c_void, to: *mut c_void) {
    let mut count = 0;
    // SAFETY: as the caller says. The list has `count` entries, and is disposed of once.
    unsafe {
        let all = (f.LLVMInstructionGetAllMetadataOtherThanDebugLoc)(from, &mut count);
        for n in 0..c_uint::try_from(count).unwrap_or(0) {
            let value = (f.LLVMMetadataAsValue)(context, (f.LLVMValueMetadataEntriesGetMetadata)(all, n));
            (f.LLVMSetMetadata)(to, (f.LLVMValueMetadataEntriesGetKind)(all, n), value);
        }
        (f.LLVMDisposeValueMetadataEntries)(all);
    }
}

/// The same instruction without flags; null if it is of no known kind.
///
/// # Safety
/// The builder stands in the module of `old`, an instruction with this opcode that can be fast.
unsafe fn anew(f: &Functions, builder: *mut c_void, opcode: i32, old: *mut c_void) -> *mut c_void {
    let none = c"".as_ptr();
    // SAFETY: each kind has the operands that are asked for.
    unsafe {
        let at = |n: c_uint| (f.LLVMGetOperand)(old, n);
        let ty = || (f.LLVMTypeOf)(old);
        match opcode {
            o::FNEG => (f.LLVMBuildFNeg)(builder, at(0), none),
            o::FADD | o::FSUB | o::FMUL | o::FDIV | o::FREM => (f.LLVMBuildBinOp)(builder, opcode, at(0), at(1), none),
            o::FPTRUNC | o::FPEXT | o::UITOFP | o::SITOFP => (f.LLVMBuildCast)(builder, opcode, at(0), ty(), none),
            o::FCMP => (f.LLVMBuildFCmp)(builder, (f.LLVMGetFCmpPredicate)(old), at(0), at(1), none),
            o::SELECT => (f.LLVMBuildSelect)(builder, at(0), at(1), at(2), none),
            o::PHI => {
                let phi = (f.LLVMBuildPhi)(builder, ty(), none);
                for n in 0..(f.LLVMCountIncoming)(old) {
                    let (mut value, mut from) = ((f.LLVMGetIncomingValue)(old, n), (f.LLVMGetIncomingBlock)(old, n));
                    (f.LLVMAddIncoming)(phi, &mut value, &mut from, 1);
                }
                phi
            }
            o::CALL if (f.LLVMGetNumOperandBundles)(old) == 0 => call(f, builder, old),
            _ => std::ptr::null_mut(),
        }
    }
}

/// # Safety
/// As of `anew`, of a call without operand bundles.
unsafe fn call(f: &Functions, builder: *mut c_void, old: *mut c_void) -> *mut c_void {
    // SAFETY: it is a call of a function of that type with so many arguments, and each list has room for all attributes.
    unsafe {
        let count = (f.LLVMGetNumArgOperands)(old);
        let mut arguments: Vec<*mut c_void> = (0..count).map(|n| (f.LLVMGetOperand)(old, n)).collect();
        let (ty, callee) = ((f.LLVMGetCalledFunctionType)(old), (f.LLVMGetCalledValue)(old));
        let new = (f.LLVMBuildCall2)(builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
        (f.LLVMSetInstructionCallConv)(new, (f.LLVMGetInstructionCallConv)(old));
        (f.LLVMSetTailCallKind)(new, (f.LLVMGetTailCallKind)(old));
        // 0 is the result.
        for place in (0..=count).chain([OF_FUNCTION]) {
            let many = (f.LLVMGetCallSiteAttributeCount)(old, place);
            let mut all = vec![std::ptr::null_mut(); many as usize];
            (f.LLVMGetCallSiteAttributes)(old, place, all.as_mut_ptr());
            all.into_iter().for_each(|attribute| (f.LLVMAddCallSiteAttribute)(new, place, attribute));
        }
        new
    }
}
