//! The operations by which passes change a module.
//!
//! [`Module::edit`] lends the module to a closure. Handles stay valid within the closure: an erased instruction leaves its block at
//! once, but is deleted only when the closure has ended. Like the queries (`value`), each operation asserts its precondition before it
//! calls LLVM. After the pass, LLVM's verifier finds errors that involve the whole module, such as uses that are not dominated.
#![allow(unsafe_code)]

use super::attributes::kind_of;
use super::value::{Block, Form, Type, Value};
use super::{Module, number};
use number::{ACQUIRE, ACQUIRE_RELEASE, FUNCTION_INDEX, MONOTONIC, SPIR_FUNCTION, linkage, opcode as o, ty as t};
use std::cell::RefCell;
use std::ffi::{c_uint, c_void};

/// The module while it is changed.
#[derive(Clone, Copy)]
pub struct Editor<'m> {
    pub(super) module: &'m Module,
    /// Instructions that are erased, but not deleted yet.
    erased: &'m RefCell<Vec<*mut c_void>>,
}

impl std::ops::Deref for Editor<'_> {
    type Target = Module;

    fn deref(&self) -> &Module {
        self.module
    }
}

impl Module {
    /// Changes the module.
    pub fn edit<R>(&mut self, work: impl FnOnce(Editor<'_>) -> R) -> R {
        let erased = RefCell::default();
        let made = work(Editor { module: self, erased: &erased });
        for instruction in erased.take() {
            // SAFETY: `erase` has removed the instruction from its block. The users of the instruction are earlier in this list, so they are
            // deleted already. All handles ended with the closure.
            unsafe { (self.llvm.functions.LLVMDeleteInstruction)(instruction) }
        }
        made
    }

    /// Drops all debug information.
    pub fn strip_debug(&mut self) {
        // SAFETY: the module is valid, and there are no handles.
        unsafe { (self.llvm.functions.LLVMStripModuleDebugInfo)(self.raw) };
    }
}

impl<'m> Editor<'m> {
    /// The functions, as `Module::functions`, with handles that are valid during the edit.
    pub fn functions(self) -> impl Iterator<Item = Value<'m>> {
        self.module.functions()
    }

    /// The global variables, with handles that are valid during the edit.
    pub fn globals(self) -> impl Iterator<Item = Value<'m>> {
        self.module.globals()
    }

    /// The blocks of each function, numbered as in the snapshot of the module.
    pub fn blocks(self) -> Vec<Vec<Block<'m>>> {
        self.functions().map(|function| function.blocks().collect()).collect()
    }

    /// Declares a device function without parameters or result.
    pub fn declare(self, name: &str) -> Value<'m> {
        let made = self.external(name, None, &[], false);
        // SAFETY: it is a function.
        unsafe { (self.llvm.functions.LLVMSetFunctionCallConv)(self.checked_raw(made), SPIR_FUNCTION) };
        made
    }

    /// LLVM's pointer for a value of this module.
    pub(super) fn checked_raw(self, value: Value<'m>) -> *mut c_void {
        assert!(value.belongs_to(self.module), "the value belongs to another module");
        value.raw()
    }

    /// Turns an `available_externally` definition into a weak definition, which a definition in the program replaces. Returns false and does
    /// nothing for other definitions.
    pub fn define_if_missing(self, variable: Value<'m>) -> bool {
        let (f, raw) = (self.llvm.functions, self.checked_raw(variable));
        let kind = Form::Other(number::value::GLOBAL_VARIABLE);
        assert!(
            variable.form() == kind && variable.initializer().is_some(),
            "only a variable with an initializer is a definition, not {:?}",
            variable.form()
        );
        // SAFETY: it is a variable with an initializer.
        unsafe {
            let was_available_externally = (f.LLVMGetLinkage)(raw) == linkage::AVAILABLE_EXTERNALLY;
            if was_available_externally {
                (f.LLVMSetLinkage)(raw, linkage::WEAK_ODR);
            }
            was_available_externally
        }
    }

    /// Makes a function or variable that is defined here visible to this module only.
    pub fn internalize(self, definition: Value<'m>) {
        let (f, raw) = (self.llvm.functions, self.checked_raw(definition));
        let is = |kind| definition.form() == Form::Other(kind);
        let defined = is(number::value::FUNCTION) && definition.first_block().is_some()
            || is(number::value::GLOBAL_VARIABLE) && definition.initializer().is_some();
        assert!(defined, "only a definition can be made internal, not {:?}", definition.form());
        // SAFETY: it is a definition. LLVM's own lists keep their linkage, and so do private definitions.
        unsafe {
            if ![linkage::APPENDING, linkage::PRIVATE].contains(&(f.LLVMGetLinkage)(raw)) {
                (f.LLVMSetComdat)(raw, std::ptr::null_mut());
                (f.LLVMSetLinkage)(raw, linkage::INTERNAL);
            }
        }
    }

    /// An integer constant.
    pub fn integer(self, ty: Type<'m>, number: u64) -> Value<'m> {
        assert!(ty.kind() == t::INTEGER, "the type of an integer constant must be an integer type");
        // SAFETY: the type is one of integers; the constant is of the same context.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstInt)(ty.raw(), number, 0)) };
        made.unwrap_or_else(|| unreachable!("LLVM returned no constant for {number}"))
    }

    /// Replaces all uses of a value by another value of the same type.
    pub fn replace_uses(self, old: Value<'m>, new: Value<'m>) {
        let (old, new) = (self.checked_raw(old), self.checked_raw(new));
        assert!(
            old != new && Value::same_type(self.module, old, new),
            "a value cannot be replaced by itself, or by a value of another type"
        );
        // SAFETY: both are valid values of one type.
        unsafe { (self.llvm.functions.LLVMReplaceAllUsesWith)(old, new) }
    }

    /// Removes an instruction whose users are all erased.
    pub fn erase(self, instruction: Value<'m>) {
        assert!(
            instruction.is_in_block() && !instruction.is_used(),
            "an instruction to be erased is still used, or already erased"
        );
        let raw = self.checked_raw(instruction);
        // SAFETY: it is an instruction of a block. It is deleted later, so handles of it stay valid.
        unsafe { (self.llvm.functions.LLVMInstructionRemoveFromParent)(raw) };
        self.erased.borrow_mut().push(raw);
    }

    /// Adds an attribute without a value to a function or a call.
    pub fn add_attribute(self, to: Value<'m>, name: &str) {
        self.add_number_attribute(to, name, 0);
    }

    /// Adds an attribute with a number.
    pub fn add_number_attribute(self, to: Value<'m>, name: &str, number: u64) {
        let f = self.llvm.functions;
        let (raw, kind) = (self.checked_raw(to), self.attribute(name));
        // SAFETY: the kind is one of LLVM's, and the value is a call or a function, as `is_call` says.
        unsafe {
            let attribute = (f.LLVMCreateEnumAttribute)(self.context.raw, kind, number);
            if is_call(to) {
                (f.LLVMAddCallSiteAttribute)(raw, FUNCTION_INDEX, attribute);
            } else {
                (f.LLVMAddAttributeAtIndex)(raw, FUNCTION_INDEX, attribute);
            }
        }
    }

    /// Removes an attribute from a function or a call, if it has the attribute.
    pub fn remove_attribute(self, from: Value<'m>, name: &str) {
        let f = self.llvm.functions;
        let (raw, kind) = (self.checked_raw(from), self.attribute(name));
        // SAFETY: as in `add_number_attribute`.
        unsafe {
            if is_call(from) {
                (f.LLVMRemoveCallSiteEnumAttribute)(raw, FUNCTION_INDEX, kind);
            } else {
                (f.LLVMRemoveEnumAttributeAtIndex)(raw, FUNCTION_INDEX, kind);
            }
        }
    }

    pub(super) fn attribute(self, name: &str) -> c_uint {
        let kind = kind_of(self.llvm.functions, name);
        assert!(kind != 0, "LLVM has no attribute {name}");
        kind
    }

    /// Replaces an `unreachable` by `ret void`.
    pub fn return_at(self, unreachable: Value<'m>) {
        assert!(
            unreachable.form() == Form::Instruction(o::UNREACHABLE),
            "only an unreachable can be replaced by a return, not {:?}",
            unreachable.form()
        );
        self.build_before(unreachable).ret(None);
        self.erase(unreachable);
    }

    /// Inserts an acquire-release fence before an instruction.
    pub fn fence(self, at: Value<'m>) {
        self.build_before(at).fence();
    }

    /// Makes a relaxed atomic read-modify-write operation acquire-release. Other instructions stay as they are.
    pub fn acquire_release(self, one: Value<'m>) {
        let (f, raw) = (self.llvm.functions, self.checked_raw(one));
        match one.form() {
            // SAFETY: it is an operation of this kind.
            Form::Instruction(o::ATOMICRMW) => unsafe {
                if (f.LLVMGetOrdering)(raw) == MONOTONIC {
                    (f.LLVMSetOrdering)(raw, ACQUIRE_RELEASE);
                }
            },
            // SAFETY: it is an operation of this kind. A failed exchange only reads, so its ordering is only acquire.
            Form::Instruction(o::CMPXCHG) => unsafe {
                let orders = ((f.LLVMGetCmpXchgSuccessOrdering)(raw), (f.LLVMGetCmpXchgFailureOrdering)(raw));
                if orders == (MONOTONIC, MONOTONIC) {
                    (f.LLVMSetCmpXchgSuccessOrdering)(raw, ACQUIRE_RELEASE);
                    (f.LLVMSetCmpXchgFailureOrdering)(raw, ACQUIRE);
                }
            },
            _ => {}
        }
    }
}

/// True for a call, false for a function; panics for other values.
fn is_call(value: Value<'_>) -> bool {
    let call = value.form() == Form::Instruction(o::CALL);
    assert!(
        call || value.form() == Form::Other(number::value::FUNCTION),
        "only a function or a call can have attributes, not {:?}",
        value.form()
    );
    call
}
