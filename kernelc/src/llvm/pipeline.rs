//! Runs pipelines of LLVM's passes over a module.
//!
//! LLVM's hidden options are global to the process, so a lock guards them while passes run. Options cannot be unset. Therefore each pipeline
//! names all options that it needs, and an option that only an earlier pipeline needed gets its default value. LLVM ignores unknown options.
//! Therefore a test checks that each option has an effect.
#![allow(unsafe_code)]

use super::module::message;
use super::{Llvm, Module};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

/// Passes in LLVM's syntax, and the hidden options that they need.
pub struct Pipeline {
    pub passes: String,
    pub options: Vec<Hidden>,
}

/// A hidden option of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hidden {
    name: &'static str,
    value: &'static str,
    /// The value that has the same effect as leaving the option out (LLVM 22).
    default: &'static str,
}

impl Hidden {
    /// An option; `default` is the value that has the same effect as leaving it out.
    pub const fn new(name: &'static str, value: &'static str, default: &'static str) -> Self {
        Self { name, value, default }
    }

    /// The option as an argument on a command line.
    pub fn argument(self) -> String {
        format!("-{}={}", self.name, self.value)
    }
}

/// The options that were set in this process, with their current values.
static CURRENT_OPTIONS: Mutex<BTreeSet<Hidden>> = Mutex::new(BTreeSet::new());

/// The processor, `LLVMCodeGenOptLevel` and `LLVMRelocMode` of a target machine. The code model is always the target's default: 0.
#[derive(Clone, Copy)]
struct TargetSettings<'a> {
    processor: &'a CStr,
    level: c_int,
    relocation: c_int,
}

/// The settings of `opt`: `LLVMCodeGenLevelDefault`.
const PASS_SETTINGS: TargetSettings<'static> = TargetSettings { processor: c"", level: 2, relocation: 0 };
/// The settings of `clang -O3 -fPIC`: `LLVMCodeGenLevelAggressive` and `LLVMRelocPIC`.
const OBJECT_SETTINGS: TargetSettings<'static> = TargetSettings { processor: c"", level: 3, relocation: 2 };
/// `LLVMObjectFile`.
const OBJECT_FILE: c_int = 1;

impl Pipeline {
    /// The options to set before the pipeline runs: the options that it names, and the default values of other options that were set earlier.
    /// Updates `set`.
    pub(super) fn changes(&self, set: &mut BTreeSet<Hidden>) -> Vec<Hidden> {
        let mut changes = Vec::new();
        for old in set.iter().filter(|old| !self.options.iter().any(|new| new.name == old.name)) {
            changes.push(Hidden { value: old.default, ..*old });
        }
        changes.extend(&self.options);
        changes.retain(|new| !set.contains(new));
        set.retain(|old| !changes.iter().any(|new| new.name == old.name));
        set.extend(&changes);
        changes
    }
}

impl Llvm {
    /// A target machine, which the caller must dispose of; not null.
    fn machine(self, triple: &CStr, settings: TargetSettings<'_>) -> Result<*mut c_void, String> {
        let f = self.functions;
        let (mut target, mut why) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the strings live during the calls; the message is used once.
        unsafe {
            if (f.LLVMGetTargetFromTriple)(triple.as_ptr(), &mut target, &mut why) != 0 {
                return Err(message(self, why));
            }
            let (cpu, features) = (settings.processor.as_ptr(), c"".as_ptr());
            let machine = (f.LLVMCreateTargetMachine)(
                target,
                triple.as_ptr(),
                cpu,
                features,
                settings.level,
                settings.relocation,
                0,
            );
            if machine.is_null() {
                Err(format!("LLVM cannot generate code for the target {}", triple.to_string_lossy()))
            } else {
                Ok(machine)
            }
        }
    }

    /// Lets all passes of this process make remarks from now on. LLVM cannot unset these options.
    pub fn enable_remarks(self) {
        static ONCE: Once = Once::new();
        let words = [c"kernelc", c"-pass-remarks=.*", c"-pass-remarks-missed=.*", c"-pass-remarks-analysis=.*"];
        ONCE.call_once(|| {
            // No other thread changes the options meanwhile.
            let _set = CURRENT_OPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            let words = words.map(CStr::as_ptr);
            // SAFETY: these are four strings that live during the call.
            unsafe { (self.functions.LLVMParseCommandLineOptions)(4, words.as_ptr(), c"".as_ptr()) };
        });
    }

    /// The data layout of a target, in the syntax of a module.
    pub fn layout(self, triple: &str) -> Result<String, String> {
        let machine = self.machine(
            &CString::new(triple).map_err(|_| "the name of a target contains a zero character")?,
            PASS_SETTINGS,
        )?;
        let f = self.functions;
        // SAFETY: the machine is valid. The machine, the layout and the layout's text are each disposed of once.
        unsafe {
            let layout = (f.LLVMCreateTargetDataLayout)(machine);
            let text = message(self, (f.LLVMCopyStringRepOfTargetData)(layout));
            (f.LLVMDisposeTargetData)(layout);
            (f.LLVMDisposeTargetMachine)(machine);
            Ok(text)
        }
    }
}

impl Module {
    /// The data layout of another target.
    pub fn layout_of(&self, triple: &str) -> Result<String, String> {
        self.llvm.layout(triple)
    }

    /// Runs a pipeline.
    pub fn run(&mut self, pipeline: &Pipeline) -> Result<(), String> {
        // The machine provides the target's cost model. A module without a triple gets no machine, as in `opt`.
        let triple = self.triple();
        let machine =
            if triple.is_empty() { std::ptr::null_mut() } else { self.llvm.machine(&triple, PASS_SETTINGS)? };
        // SAFETY: the machine is null or valid, and disposed of once.
        unsafe {
            let done = self.run_for(pipeline, machine);
            if !machine.is_null() {
                (self.llvm.functions.LLVMDisposeTargetMachine)(machine);
            }
            done
        }
    }

    /// Runs a pipeline and writes an object for the module's target. `processor`: the processor for functions without an attribute that names
    /// one.
    pub fn compile(&mut self, pipeline: &Pipeline, processor: &str, object: &Path) -> Result<(), String> {
        let f = self.llvm.functions;
        let file = CString::new(object.as_os_str().as_encoded_bytes())
            .map_err(|_| "the name of an object contains a zero character")?;
        let processor = CString::new(processor).map_err(|_| "the name of a processor contains a zero character")?;
        let machine = self.llvm.machine(&self.triple(), TargetSettings { processor: &processor, ..OBJECT_SETTINGS })?;
        // SAFETY: the machine is valid, and disposed of once; the message is used once.
        unsafe {
            let mut done = self.run_for(pipeline, machine);
            if done.is_ok() {
                let mut why = std::ptr::null_mut();
                let failed = (f.LLVMTargetMachineEmitToFile)(machine, self.raw, file.as_ptr(), OBJECT_FILE, &mut why);
                let why = message(self.llvm, why);
                done = if failed == 0 { self.take_errors() } else { Err(why) };
            }
            (f.LLVMDisposeTargetMachine)(machine);
            done
        }
    }

    /// # Safety
    /// The machine is null or valid.
    unsafe fn run_for(&mut self, pipeline: &Pipeline, machine: *mut c_void) -> Result<(), String> {
        let f = self.llvm.functions;
        let passes =
            CString::new(pipeline.passes.as_str()).map_err(|_| "the name of a pass contains a zero character")?;
        // The lock is held while passes run, so no other thread changes the options meanwhile.
        let mut set = CURRENT_OPTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = set.clone();
        let changes: Vec<CString> = std::iter::once(String::from("kernelc"))
            .chain(pipeline.changes(&mut next).into_iter().map(Hidden::argument))
            .map(|word| CString::new(word).map_err(|_| "an option contains a zero character"))
            .collect::<Result<_, _>>()?;
        // SAFETY: the module is valid, and the context with all its modules belongs to this thread. The strings live during the calls. The
        // options of the pass builder live while passes run. The options and the error's message are disposed of once.
        let failed = unsafe {
            if let Ok(count @ 2..) = c_int::try_from(changes.len()) {
                let words: Vec<*const c_char> = changes.iter().map(|word| word.as_ptr()).collect();
                (f.LLVMParseCommandLineOptions)(count, words.as_ptr(), c"".as_ptr());
                *set = next;
            }
            let options = (f.LLVMCreatePassBuilderOptions)();
            let error = (f.LLVMRunPasses)(self.raw, passes.as_ptr(), machine, options);
            (f.LLVMDisposePassBuilderOptions)(options);
            (!error.is_null()).then(|| {
                let why = (f.LLVMGetErrorMessage)(error);
                let text = CStr::from_ptr(why).to_string_lossy().into_owned();
                (f.LLVMDisposeErrorMessage)(why);
                text
            })
        };
        drop(set);
        failed.map_or(Ok(()), Err)?;
        self.take_errors()?;
        self.check(&pipeline.passes)
    }

    /// Verifies the module after a pipeline, in debug builds and with `REVAMP_KERNEL_VERIFY`.
    fn check(&self, after: &str) -> Result<(), String> {
        let is_requested = || std::env::var_os("REVAMP_KERNEL_VERIFY").is_some_and(|value| value == "1");
        if cfg!(debug_assertions) || is_requested() {
            self.verify().map_err(|why| format!("after {after}: {why}"))
        } else {
            Ok(())
        }
    }
}
