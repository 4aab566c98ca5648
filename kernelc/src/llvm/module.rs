//! A module of LLVM: read from text or bitcode, verified, printed.
#![allow(unsafe_code)]

use super::Llvm;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// `LLVMReturnStatusAction`.
const RETURN_STATUS: c_int = 2;
/// `LLVMDSError`.
const ERROR: c_int = 0;

/// A module, in a context that no other module shares. Its pointers keep it on the thread that made it.
pub struct Module {
    pub(super) llvm: Llvm,
    pub(super) raw: *mut c_void,
    pub(super) context: *mut c_void,
    /// The errors that LLVM reported in this context: a box, by its address, which LLVM holds too.
    errors: *mut Vec<String>,
}

/// Collects the errors of a context. Without a handler an error would end the process. Warnings are dropped: they advise how to
/// write C++ for a CPU's vector units.
extern "C" fn keep_error(diagnostic: *mut c_void, list: *mut c_void) {
    let Some(llvm) = Llvm::current() else { return };
    // SAFETY: LLVM calls this with a diagnostic that lives over the call, and with the list of the module whose context it is. The
    // module's thread is the one that LLVM runs on, and holds no reference to the list meanwhile.
    unsafe {
        if (llvm.functions.LLVMGetDiagInfoSeverity)(diagnostic) == ERROR {
            let text = message(llvm, (llvm.functions.LLVMGetDiagInfoDescription)(diagnostic));
            (*list.cast::<Vec<String>>()).push(text);
        }
    }
}

/// The text of a message, which is disposed of.
///
/// # Safety
/// The message is null or one of LLVM's, to be disposed of by `LLVMDisposeMessage`, and nobody uses it later.
pub(super) unsafe fn message(llvm: Llvm, raw: *mut c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: as the caller says; messages end with a zero.
    unsafe {
        let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
        (llvm.functions.LLVMDisposeMessage)(raw);
        text
    }
}

impl Module {
    /// Reads text or bitcode and verifies it. `name` is what LLVM calls the module.
    pub fn read(llvm: Llvm, code: &[u8], name: &str) -> Result<Self, String> {
        let f = llvm.functions;
        let title = CString::new(name).map_err(|_| format!("{name} has a zero in its name"))?;
        let mut module = Self {
            llvm,
            raw: std::ptr::null_mut(),
            // SAFETY: the function has no conditions.
            context: unsafe { (f.LLVMContextCreate)() },
            errors: Box::into_raw(Box::default()),
        };
        let mut told = std::ptr::null_mut();
        // SAFETY: the context is the module's. The list lives longer than the context. The buffer copies `code`, and the parser takes
        // the buffer over.
        let failed = unsafe {
            (f.LLVMContextSetDiagnosticHandler)(module.context, keep_error, module.errors.cast());
            let buffer =
                (f.LLVMCreateMemoryBufferWithMemoryRangeCopy)(code.as_ptr().cast(), code.len(), title.as_ptr());
            (f.LLVMParseIRInContext)(module.context, buffer, &mut module.raw, &mut told)
        };
        if failed != 0 {
            module.raw = std::ptr::null_mut();
            // SAFETY: the parser's message, used once.
            return Err(unsafe { message(llvm, told) });
        }
        module.verify()?;
        Ok(module)
    }

    /// An error where the module breaks the rules of LLVM's IR.
    pub fn verify(&self) -> Result<(), String> {
        let mut told = std::ptr::null_mut();
        // SAFETY: the module is valid until it is dropped; the message is new, and used once.
        unsafe {
            let broken = (self.llvm.functions.LLVMVerifyModule)(self.raw, RETURN_STATUS, &mut told) != 0;
            let told = message(self.llvm, told);
            if broken { Err(format!("the module is broken: {told}")) } else { Ok(()) }
        }
    }

    /// Its text.
    pub fn print(&self) -> String {
        // SAFETY: the module is valid until it is dropped; the message is new, and used once.
        unsafe { message(self.llvm, (self.llvm.functions.LLVMPrintModuleToString)(self.raw)) }
    }

    /// What it is compiled for, as LLVM writes it: empty if it does not say.
    pub(super) fn triple(&self) -> CString {
        // SAFETY: the module is valid; its triple is a string that lives as long.
        unsafe { CStr::from_ptr((self.llvm.functions.LLVMGetTarget)(self.raw)) }.to_owned()
    }

    /// Takes the errors that LLVM has reported since the last call.
    pub(super) fn reported(&mut self) -> Result<(), String> {
        // SAFETY: the box lives as long as the module. LLVM adds to it only while one of its functions runs on this module.
        let errors = std::mem::take(unsafe { &mut *self.errors });
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: all are the module's own, and nobody uses them later. The module goes before its context, which holds the list.
        unsafe {
            if !self.raw.is_null() {
                (self.llvm.functions.LLVMDisposeModule)(self.raw);
            }
            (self.llvm.functions.LLVMContextDispose)(self.context);
            drop(Box::from_raw(self.errors));
        }
    }
}
