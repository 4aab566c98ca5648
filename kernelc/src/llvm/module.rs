//! A module of LLVM: reads, verifies, links, prints and writes it.
#![allow(unsafe_code)]

use super::Llvm;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::rc::Rc;

/// `LLVMReturnStatusAction`.
const RETURN_STATUS: c_int = 2;
/// `LLVMDSError` and `LLVMDSRemark`.
const ERROR: c_int = 0;
const REMARK: c_int = 2;

/// A module, in a context that only its copies share. Its raw pointers keep the module and its copies on one thread.
pub struct Module {
    pub(super) llvm: Llvm,
    pub(super) raw: *mut c_void,
    pub(super) context: Rc<Context>,
}

/// The LLVM context of a module and its copies, with their types, constants and metadata.
pub(super) struct Context {
    llvm: Llvm,
    pub(super) raw: *mut c_void,
    /// The diagnostics of this context, in a box whose address LLVM has too.
    diagnostics: *mut Diagnostics,
}

/// The diagnostics that LLVM reports.
#[derive(Default)]
struct Diagnostics {
    errors: Vec<String>,
    remarks: Vec<String>,
}

/// Collects the errors and remarks of a context. Without this handler, an error would end the process. Drops warnings,
/// because LLVM's warnings only advise on code for the vector units of CPUs.
extern "C" fn collect_diagnostic(diagnostic: *mut c_void, diagnostics: *mut c_void) {
    let Some(llvm) = Llvm::current() else { return };
    // SAFETY: LLVM passes a diagnostic that lives during the call, and the box of the context. LLVM runs on the thread of the context's
    // modules, and this thread holds no reference to the box meanwhile.
    unsafe {
        let diagnostics = &mut *diagnostics.cast::<Diagnostics>();
        let list = match (llvm.functions.LLVMGetDiagInfoSeverity)(diagnostic) {
            ERROR => &mut diagnostics.errors,
            REMARK => &mut diagnostics.remarks,
            _ => return,
        };
        list.push(message(llvm, (llvm.functions.LLVMGetDiagInfoDescription)(diagnostic)));
    }
}

/// Takes the text of a message, and disposes of the message.
///
/// # Safety
/// The message is null, or a message of LLVM that `LLVMDisposeMessage` must dispose of. No code uses the message later.
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
    /// Reads text or bitcode and verifies it. `name` becomes the module's identifier.
    pub fn read(llvm: Llvm, code: &[u8], name: &str) -> Result<Self, String> {
        let f = llvm.functions;
        let title = CString::new(name).map_err(|_| format!("the name {name:?} contains a zero character"))?;
        // SAFETY: the function has no preconditions.
        let raw = unsafe { (f.LLVMContextCreate)() };
        let context = Rc::new(Context { llvm, raw, diagnostics: Box::into_raw(Box::default()) });
        let mut module = Self { llvm, raw: std::ptr::null_mut(), context };
        let mut why = std::ptr::null_mut();
        // SAFETY: the context is the module's. The diagnostics live longer than the context. The buffer copies `code`, and the parser
        // takes over the buffer.
        let failed = unsafe {
            (f.LLVMContextSetDiagnosticHandler)(raw, collect_diagnostic, module.context.diagnostics.cast());
            let buffer =
                (f.LLVMCreateMemoryBufferWithMemoryRangeCopy)(code.as_ptr().cast(), code.len(), title.as_ptr());
            (f.LLVMParseIRInContext)(raw, buffer, &mut module.raw, &mut why)
        };
        if failed != 0 {
            module.raw = std::ptr::null_mut();
            // SAFETY: the parser's message, used once.
            return Err(unsafe { message(llvm, why) });
        }
        module.verify()?;
        Ok(module)
    }

    /// Reads LLVM IR as another module of the same context. Does not verify the new module.
    pub fn parse_in_same_context(&self, text: &str) -> Result<Self, String> {
        let (f, mut why) = (self.llvm.functions, std::ptr::null_mut());
        let mut other = Self { llvm: self.llvm, raw: std::ptr::null_mut(), context: Rc::clone(&self.context) };
        // SAFETY: the buffer copies the text, and the parser takes the buffer over. The message is used once.
        unsafe {
            let buffer = (f.LLVMCreateMemoryBufferWithMemoryRangeCopy)(text.as_ptr().cast(), text.len(), c"".as_ptr());
            if (f.LLVMParseIRInContext)(self.context.raw, buffer, &mut other.raw, &mut why) != 0 {
                other.raw = std::ptr::null_mut();
                return Err(message(self.llvm, why));
            }
        }
        Ok(other)
    }

    /// Links another module of the same context into this module. Each module may declare functions and variables that the other defines.
    pub fn link(&mut self, mut other: Self) -> Result<(), String> {
        assert!(Rc::ptr_eq(&self.context, &other.context), "both modules must have the same context");
        // SAFETY: both modules are valid, and of one context. LLVM disposes of the other one.
        let failed = unsafe { (self.llvm.functions.LLVMLinkModules2)(self.raw, other.raw) } != 0;
        other.raw = std::ptr::null_mut();
        self.take_errors()?;
        if failed { Err("LLVM cannot link the two modules, and gives no reason".into()) } else { Ok(()) }
    }

    /// Writes the module as bitcode.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let why = || format!("cannot write {}", file.display());
        let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|_| why())?;
        // SAFETY: the module is valid, and the name is a string.
        let failed = unsafe { (self.llvm.functions.LLVMWriteBitcodeToFile)(self.raw, name.as_ptr()) } != 0;
        if failed { Err(why()) } else { Ok(()) }
    }

    /// Runs LLVM's verifier.
    pub fn verify(&self) -> Result<(), String> {
        let mut why = std::ptr::null_mut();
        // SAFETY: the module is valid until it is dropped; the message is new, and used once.
        unsafe {
            let broken = (self.llvm.functions.LLVMVerifyModule)(self.raw, RETURN_STATUS, &mut why) != 0;
            let why = message(self.llvm, why);
            if broken { Err(format!("the module is broken: {why}")) } else { Ok(()) }
        }
    }

    /// The text of the module.
    pub fn print(&self) -> String {
        // SAFETY: the module is valid until it is dropped; the message is new, and used once.
        unsafe { message(self.llvm, (self.llvm.functions.LLVMPrintModuleToString)(self.raw)) }
    }

    /// The target triple; empty if the module has none.
    pub(super) fn triple(&self) -> CString {
        // SAFETY: the module is valid; its triple is a string that lives as long.
        unsafe { CStr::from_ptr((self.llvm.functions.LLVMGetTarget)(self.raw)) }.to_owned()
    }

    /// Takes the errors that LLVM has reported since the last call.
    pub(super) fn take_errors(&mut self) -> Result<(), String> {
        // SAFETY: the box lives as long as the context. LLVM adds to it only while one of its functions runs on a module of this context, and
        // all these modules are on this thread.
        let errors = std::mem::take(unsafe { &mut (*self.context.diagnostics).errors });
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// Calls [`Llvm::enable_remarks`].
    pub fn enable_remarks(&self) {
        self.llvm.enable_remarks();
    }

    /// Takes LLVM's remarks since the last call, each as `FILE:LINE:COLUMN: TEXT`. LLVM makes remarks only after [`Llvm::enable_remarks`].
    pub fn take_remarks(&mut self) -> Vec<String> {
        // SAFETY: as in `take_errors`.
        std::mem::take(unsafe { &mut (*self.context.diagnostics).remarks })
    }
}

impl Clone for Module {
    fn clone(&self) -> Self {
        // SAFETY: the module is valid. The copy is new, in the same context.
        let raw = unsafe { (self.llvm.functions.LLVMCloneModule)(self.raw) };
        Self { llvm: self.llvm, raw, context: Rc::clone(&self.context) }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the module is valid, and no code uses it later. The context outlives the module.
            unsafe { (self.llvm.functions.LLVMDisposeModule)(self.raw) }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the last module of the context is gone. LLVM no longer reports to the box once the context is disposed of.
        unsafe {
            (self.llvm.functions.LLVMContextDispose)(self.raw);
            drop(Box::from_raw(self.diagnostics));
        }
    }
}
