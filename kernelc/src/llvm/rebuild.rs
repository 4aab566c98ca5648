//! Rebuilds instructions with other fast-math flags, because LLVM's C API can add such flags but not clear them.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::load::Functions;
use super::number;
use super::value::{Form, Value};
use number::{FUNCTION_INDEX, opcode as o};
use std::ffi::{c_uint, c_void};

impl<'m> Editor<'m> {
    /// Replaces the fast-math flags of an instruction. The instruction is rebuilt with its source location, metadata and name.
    /// Instructions that `copy_without_flags` cannot rebuild keep their flags.
    pub fn set_fast_flags(self, old: Value<'m>, flags: u32) {
        assert!(old.is_in_block() && old.can_be_fast(), "{:?} cannot have fast-math flags", old.form());
        let Form::Instruction(opcode) = old.form() else { return };
        let from = self.checked_raw(old);
        let build = self.build_before(old);
        // SAFETY: the builder stands before `old`, which has this opcode. The result is null or a value of the module.
        let made = unsafe { Value::of(self.module, copy_without_flags(self.llvm.functions, build.raw, opcode, from)) };
        let Some(new) = made else { return };
        // LLVM may have folded the new instruction to a constant.
        if let Form::Instruction(_) = new.form() {
            let name = old.name();
            let (f, to) = (self.llvm.functions, new.raw());
            // SAFETY: both values are instructions of the same kind, which can have fast-math flags. The name has that many bytes.
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

/// Copies the metadata of an instruction to another one.
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

/// A copy of an instruction, without flags. Null for calls with operand bundles and for kinds of instructions that are not listed here.
///
/// # Safety
/// The builder stands in the module of `old`, an instruction with this opcode that can have fast-math flags.
unsafe fn copy_without_flags(f: &Functions, builder: *mut c_void, opcode: i32, old: *mut c_void) -> *mut c_void {
    let no_name = c"".as_ptr();
    // SAFETY: each kind of instruction has these operands.
    unsafe {
        let at = |n: c_uint| (f.LLVMGetOperand)(old, n);
        let ty = || (f.LLVMTypeOf)(old);
        match opcode {
            o::FNEG => (f.LLVMBuildFNeg)(builder, at(0), no_name),
            o::FADD | o::FSUB | o::FMUL | o::FDIV | o::FREM => {
                (f.LLVMBuildBinOp)(builder, opcode, at(0), at(1), no_name)
            }
            o::FPTRUNC | o::FPEXT | o::UITOFP | o::SITOFP => (f.LLVMBuildCast)(builder, opcode, at(0), ty(), no_name),
            o::FCMP => (f.LLVMBuildFCmp)(builder, (f.LLVMGetFCmpPredicate)(old), at(0), at(1), no_name),
            o::SELECT => (f.LLVMBuildSelect)(builder, at(0), at(1), at(2), no_name),
            o::PHI => {
                let phi = (f.LLVMBuildPhi)(builder, ty(), no_name);
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
/// As for `copy_without_flags`; `old` is a call without operand bundles.
unsafe fn call(f: &Functions, builder: *mut c_void, old: *mut c_void) -> *mut c_void {
    // SAFETY: it is a call of a function of this type with `count` arguments, and each list has room for all attributes.
    unsafe {
        let count = (f.LLVMGetNumArgOperands)(old);
        let mut arguments: Vec<*mut c_void> = (0..count).map(|n| (f.LLVMGetOperand)(old, n)).collect();
        let (ty, callee) = ((f.LLVMGetCalledFunctionType)(old), (f.LLVMGetCalledValue)(old));
        let new = (f.LLVMBuildCall2)(builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
        (f.LLVMSetInstructionCallConv)(new, (f.LLVMGetInstructionCallConv)(old));
        (f.LLVMSetTailCallKind)(new, (f.LLVMGetTailCallKind)(old));
        // Index 0 stands for the attributes of the result.
        for index in (0..=count).chain([FUNCTION_INDEX]) {
            let attribute_count = (f.LLVMGetCallSiteAttributeCount)(old, index);
            let mut all = vec![std::ptr::null_mut(); attribute_count as usize];
            (f.LLVMGetCallSiteAttributes)(old, index, all.as_mut_ptr());
            all.into_iter().for_each(|attribute| (f.LLVMAddCallSiteAttribute)(new, index, attribute));
        }
        new
    }
}
