//! A module of LLVM: read from text or bitcode, verified, printed.
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

/// A module, in a context that only its copies share. Its pointers keep all of them on the thread that read it.
pub struct Module {
    pub(super) llvm: Llvm,
    pub(super) raw: *mut c_void,
    pub(super) context: Rc<Context>,
}

/// What modules of one origin share: types, constants, metadata.
pub(super) struct Context {
    llvm: Llvm,
    pub(super) raw: *mut c_void,
    /// What LLVM reported in this context: a box, by its address, which LLVM holds too.
    told: *mut Told,
}

/// What LLVM reports.
#[derive(Default)]
struct Told {
    errors: Vec<String>,
    remarks: Vec<String>,
}

/// Collects the errors and remarks of a context. Without a handler an error would end the process. Warnings are dropped: they advise how to
/// write C++ for a CPU's vector units.
extern "C" fn keep(diagnostic: *mut c_void, told: *mut c_void) {
    let Some(llvm) = Llvm::current() else { return };
    // SAFETY: LLVM calls this with a diagnostic that lives over the call, and with the box of the module whose context it is. The
    // module's thread is the one that LLVM runs on, and holds no reference to the box meanwhile.
    unsafe {
        let told = &mut *told.cast::<Told>();
        let list = match (llvm.functions.LLVMGetDiagInfoSeverity)(diagnostic) {
            ERROR => &mut told.errors,
            REMARK => &mut told.remarks,
            _ => return,
        };
        list.push(message(llvm, (llvm.functions.LLVMGetDiagInfoDescription)(diagnostic)));
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
        // SAFETY: the function has no conditions.
        let raw = unsafe { (f.LLVMContextCreate)() };
        let context = Rc::new(Context { llvm, raw, told: Box::into_raw(Box::default()) });
        let mut module = Self { llvm, raw: std::ptr::null_mut(), context };
        let mut why = std::ptr::null_mut();
        // SAFETY: the context is the module's. The list lives longer than the context. The buffer copies `code`, and the parser takes
        // the buffer over.
        let failed = unsafe {
            (f.LLVMContextSetDiagnosticHandler)(raw, keep, module.context.told.cast());
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

    /// Reads text as another module of the same context.
    pub fn beside(&self, text: &str) -> Result<Self, String> {
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

    /// Adds what another module of the same context has; each may declare what the other one defines.
    pub fn link(&mut self, mut other: Self) -> Result<(), String> {
        assert!(Rc::ptr_eq(&self.context, &other.context), "modules of two contexts");
        // SAFETY: both modules are valid, and of one context. LLVM disposes of the other one.
        let failed = unsafe { (self.llvm.functions.LLVMLinkModules2)(self.raw, other.raw) } != 0;
        other.raw = std::ptr::null_mut();
        self.reported()?;
        if failed { Err("two modules do not fit".into()) } else { Ok(()) }
    }

    /// Writes it as bitcode.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let why = || format!("cannot write {}", file.display());
        let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|_| why())?;
        // SAFETY: the module is valid, and the name is a string.
        let failed = unsafe { (self.llvm.functions.LLVMWriteBitcodeToFile)(self.raw, name.as_ptr()) } != 0;
        if failed { Err(why()) } else { Ok(()) }
    }

    /// An error where the module breaks the rules of LLVM's IR.
    pub fn verify(&self) -> Result<(), String> {
        let mut why = std::ptr::null_mut();
        // SAFETY: the module is valid until it is dropped; the message is new, and used once.
        unsafe {
            let broken = (self.llvm.functions.LLVMVerifyModule)(self.raw, RETURN_STATUS, &mut why) != 0;
            let why = message(self.llvm, why);
            if broken { Err(format!("the module is broken: {why}")) } else { Ok(()) }
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
        // SAFETY: the box lives as long as the context. LLVM adds to it only while one of its functions runs on a module of this context, and all of these are on this thread.
        let errors = std::mem::take(unsafe { &mut (*self.context.told).errors });
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// As [`Llvm::make_remarks`].
    pub fn make_remarks(&self) {
        self.llvm.make_remarks();
    }

    /// Takes the remarks of LLVM since the last call, each as `FILE:LINE:COLUMN: TEXT`. There are none before [`Llvm::make_remarks`].
    pub fn take_remarks(&mut self) -> Vec<String> {
        // SAFETY: as of `reported`.
        std::mem::take(unsafe { &mut (*self.context.told).remarks })
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
            // SAFETY: the module is valid, and nobody uses it later. Its context outlives it.
            unsafe { (self.llvm.functions.LLVMDisposeModule)(self.raw) }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the last of its modules is gone. LLVM reports to the list no later than the context goes.
        unsafe {
            (self.llvm.functions.LLVMContextDispose)(self.raw);
            drop(Box::from_raw(self.told));
        }
    }
}
