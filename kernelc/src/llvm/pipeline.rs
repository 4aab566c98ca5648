//! Pipelines of passes over a module.
//!
//! LLVM's hidden options are global to the process, an option that was set cannot be unset, and LLVM ignores options that it does
//! not know. So one lock guards them while passes run, each pipeline names all that it needs, an option that an earlier pipeline
//! has set gets its default back, and a test fails if an option has no effect.
#![allow(unsafe_code)]

use super::module::message;
use super::{Llvm, Module};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

/// Passes as LLVM writes them, and the hidden options that they need.
pub struct Pipeline {
    pub passes: String,
    pub options: Vec<Hidden>,
}

/// A hidden option of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hidden {
    name: &'static str,
    value: &'static str,
    /// What LLVM 22 does without it.
    default: &'static str,
}

impl Hidden {
    /// An option; `default` is the value that has the effect of leaving it out.
    pub const fn new(name: &'static str, value: &'static str, default: &'static str) -> Self {
        Self { name, value, default }
    }

    /// As on a command line.
    pub fn argument(self) -> String {
        format!("-{}={}", self.name, self.value)
    }
}

/// The options that were set in this process, with the values that they have now.
static SET: Mutex<BTreeSet<Hidden>> = Mutex::new(BTreeSet::new());

/// `LLVMCodeGenOptLevel` and `LLVMRelocMode` of a target machine. The code model is the target's own: 0.
#[derive(Clone, Copy)]
struct Generation<'a> {
    processor: &'a CStr,
    level: c_int,
    relocation: c_int,
}

/// As `opt` has it: `LLVMCodeGenLevelDefault`.
const PASSES: Generation<'static> = Generation { processor: c"", level: 2, relocation: 0 };
/// As `clang -O3 -fPIC` has it: `LLVMCodeGenLevelAggressive` and `LLVMRelocPIC`.
const OBJECT: Generation<'static> = Generation { processor: c"", level: 3, relocation: 2 };
/// `LLVMObjectFile`.
const OBJECT_FILE: c_int = 1;

impl Pipeline {
    /// The options to set, after which `set` says what holds: the pipeline's own, and the defaults of those that it does not name.
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
    /// What LLVM knows of a target: not null, to be disposed of.
    fn machine(self, triple: &CStr, how: Generation<'_>) -> Result<*mut c_void, String> {
        let f = self.functions;
        let (mut target, mut why) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the strings live over the calls; the message is used once.
        unsafe {
            if (f.LLVMGetTargetFromTriple)(triple.as_ptr(), &mut target, &mut why) != 0 {
                return Err(message(self, why));
            }
            let (cpu, features) = (how.processor.as_ptr(), c"".as_ptr());
            let machine =
                (f.LLVMCreateTargetMachine)(target, triple.as_ptr(), cpu, features, how.level, how.relocation, 0);
            if machine.is_null() {
                Err(format!("LLVM makes no code for {}", triple.to_string_lossy()))
            } else {
                Ok(machine)
            }
        }
    }

    /// Lets all passes of this process make remarks from now on: LLVM cannot unset these options.
    pub fn make_remarks(self) {
        static ONCE: Once = Once::new();
        let words = [c"kernelc", c"-pass-remarks=.*", c"-pass-remarks-missed=.*", c"-pass-remarks-analysis=.*"];
        ONCE.call_once(|| {
            // Nobody else changes the options meanwhile.
            let _set = SET.lock().unwrap_or_else(PoisonError::into_inner);
            let words = words.map(CStr::as_ptr);
            // SAFETY: these are four strings that live over the call.
            unsafe { (self.functions.LLVMParseCommandLineOptions)(4, words.as_ptr(), c"".as_ptr()) };
        });
    }

    /// How types lie in a target's memory, as a module says it.
    pub fn layout(self, triple: &str) -> Result<String, String> {
        let machine = self.machine(&CString::new(triple).map_err(|_| "a zero in the name of a target")?, PASSES)?;
        let f = self.functions;
        // SAFETY: the machine is valid; it, the layout and its text are disposed of once.
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
    /// How types lie in another target's memory.
    pub fn layout_of(&self, triple: &str) -> Result<String, String> {
        self.llvm.layout(triple)
    }

    /// Runs a pipeline.
    pub fn run(&mut self, pipeline: &Pipeline) -> Result<(), String> {
        // The cost model of the target. As for `opt`, a module without a triple has none.
        let triple = self.triple();
        let machine = if triple.is_empty() { std::ptr::null_mut() } else { self.llvm.machine(&triple, PASSES)? };
        // SAFETY: the machine is null or valid, and disposed of once.
        unsafe {
            let done = self.run_for(pipeline, machine);
            if !machine.is_null() {
                (self.llvm.functions.LLVMDisposeTargetMachine)(machine);
            }
            done
        }
    }

    /// Runs a pipeline and writes an object for the module's target. `processor`: for what no attribute of a function says it.
    pub fn compile(&mut self, pipeline: &Pipeline, processor: &str, object: &Path) -> Result<(), String> {
        let f = self.llvm.functions;
        let file =
            CString::new(object.as_os_str().as_encoded_bytes()).map_err(|_| "a zero in the name of an object")?;
        let processor = CString::new(processor).map_err(|_| "a zero in the name of a processor")?;
        let machine = self.llvm.machine(&self.triple(), Generation { processor: &processor, ..OBJECT })?;
        // SAFETY: the machine is valid, and disposed of once; the message is used once.
        unsafe {
            let mut done = self.run_for(pipeline, machine);
            if done.is_ok() {
                let mut why = std::ptr::null_mut();
                let failed = (f.LLVMTargetMachineEmitToFile)(machine, self.raw, file.as_ptr(), OBJECT_FILE, &mut why);
                let why = message(self.llvm, why);
                done = if failed == 0 { self.reported() } else { Err(why) };
            }
            (f.LLVMDisposeTargetMachine)(machine);
            done
        }
    }

    /// # Safety
    /// The machine is null or valid.
    unsafe fn run_for(&mut self, pipeline: &Pipeline, machine: *mut c_void) -> Result<(), String> {
        let f = self.llvm.functions;
        let passes = CString::new(pipeline.passes.as_str()).map_err(|_| "a zero in the name of a pass")?;
        // Held while passes run: no other thread changes the options meanwhile.
        let mut set = SET.lock().unwrap_or_else(PoisonError::into_inner);
        let changes: Vec<CString> = std::iter::once(String::from("kernelc"))
            .chain(pipeline.changes(&mut set).into_iter().map(Hidden::argument))
            .map(|word| CString::new(word).map_err(|_| "a zero in an option"))
            .collect::<Result<_, _>>()?;
        // SAFETY: the module is valid, and its context belongs to this thread, as all modules of it do. The strings live over the
        // calls. The options of the pass builder live over the passes, and are disposed of once, as is the error with its message.
        let failed = unsafe {
            if let Ok(count @ 2..) = c_int::try_from(changes.len()) {
                let words: Vec<*const c_char> = changes.iter().map(|word| word.as_ptr()).collect();
                (f.LLVMParseCommandLineOptions)(count, words.as_ptr(), c"".as_ptr());
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
        self.reported()?;
        self.check(&pipeline.passes)
    }

    /// Verifies the module after a pipeline, in debug builds and with `REVAMP_KERNEL_VERIFY`.
    fn check(&self, after: &str) -> Result<(), String> {
        let asked = || std::env::var_os("REVAMP_KERNEL_VERIFY").is_some_and(|value| value == "1");
        if cfg!(debug_assertions) || asked() {
            self.verify().map_err(|why| format!("after {after}: {why}"))
        } else {
            Ok(())
        }
    }
}
