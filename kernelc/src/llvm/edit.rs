//! The operations by which passes change a module.
//!
//! [`Module::edit`] lends the module to a closure. The handles that the closure gets stay valid in it: an instruction that is erased
//! leaves its block at once, and is deleted when the closure has ended. As for questions (`value`), each operation asserts its
//! precondition before it calls LLVM. What only the whole module can break, such as dominance, LLVM's verifier finds after the pass.
#![allow(unsafe_code)]

use super::value::{Block, Form, Type, Value};
use super::{Module, number};
use number::{ACQUIRE, ACQUIRE_RELEASE, MONOTONIC, OF_FUNCTION, SPIR_FUNCTION, linkage, opcode as o, ty as t};
use std::cell::RefCell;
use std::ffi::{c_uint, c_void};

/// The module while it is changed.
#[derive(Clone, Copy)]
pub struct Editor<'m> {
    pub(super) module: &'m Module,
    /// Instructions that are erased.
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
            // SAFETY: `erase` has put it there: an instruction of no block, whose users come before it. All handles of it have ended with the closure.
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
    /// The functions, as `Module::functions`, with handles as long as the edit.
    pub fn functions(self) -> impl Iterator<Item = Value<'m>> {
        self.module.functions()
    }

    /// The global variables, likewise.
    pub fn globals(self) -> impl Iterator<Item = Value<'m>> {
        self.module.globals()
    }

    /// The blocks of each function, as the copy of the module numbers them.
    pub fn blocks(self) -> Vec<Vec<Block<'m>>> {
        self.functions().map(|function| function.blocks().collect()).collect()
    }

    /// Declares a function without arguments and result, for devices.
    pub fn declare(self, name: &str) -> Value<'m> {
        let made = self.external(name, None, &[], false);
        // SAFETY: it is a function.
        unsafe { (self.llvm.functions.LLVMSetFunctionCallConv)(self.own(made), SPIR_FUNCTION) };
        made
    }

    /// The pointer of a value of this module.
    pub(super) fn own(self, value: Value<'m>) -> *mut c_void {
        assert!(value.is_of(self.module), "a value of another module");
        value.raw()
    }

    /// Makes a definition that LLVM only knows for its value a weak one, which the program's own replaces; false of other definitions.
    pub fn define_if_missing(self, variable: Value<'m>) -> bool {
        let (f, raw) = (self.llvm.functions, self.own(variable));
        let kind = Form::Other(number::value::GLOBAL_VARIABLE);
        assert!(variable.form() == kind && variable.initializer().is_some(), "a definition of {:?}", variable.form());
        // SAFETY: it is a variable with an initializer.
        unsafe {
            let is_known = (f.LLVMGetLinkage)(raw) == linkage::AVAILABLE_EXTERNALLY;
            if is_known {
                (f.LLVMSetLinkage)(raw, linkage::WEAK_ODR);
            }
            is_known
        }
    }

    /// Makes a function or variable that is defined here one of this module alone.
    pub fn internalize(self, definition: Value<'m>) {
        let (f, raw) = (self.llvm.functions, self.own(definition));
        let is = |kind| definition.form() == Form::Other(kind);
        let defined = is(number::value::FUNCTION) && definition.first_block().is_some()
            || is(number::value::GLOBAL_VARIABLE) && definition.initializer().is_some();
        assert!(defined, "a definition made internal that is {:?}", definition.form());
        // SAFETY: it is a definition. LLVM's own lists keep their linkage, and private is more than internal.
        unsafe {
            if ![linkage::APPENDING, linkage::PRIVATE].contains(&(f.LLVMGetLinkage)(raw)) {
                (f.LLVMSetComdat)(raw, std::ptr::null_mut());
                (f.LLVMSetLinkage)(raw, linkage::INTERNAL);
            }
        }
    }

    /// An integer constant.
    pub fn integer(self, ty: Type<'m>, number: u64) -> Value<'m> {
        assert!(ty.kind() == t::INTEGER, "an integer of another type");
        // SAFETY: the type is one of integers; the constant is of the same context.
        let made = unsafe { Value::of(self.module, (self.llvm.functions.LLVMConstInt)(ty.raw(), number, 0)) };
        made.unwrap_or_else(|| unreachable!("LLVM makes a constant of each number"))
    }

    /// All that uses a value uses another one of the same type.
    pub fn replace_uses(self, old: Value<'m>, new: Value<'m>) {
        let (old, new) = (self.own(old), self.own(new));
        assert!(old != new && Value::same_type(self.module, old, new), "a value in place of one of another type");
        // SAFETY: both are valid values of one type.
        unsafe { (self.llvm.functions.LLVMReplaceAllUsesWith)(old, new) }
    }

    /// Removes an instruction whose users are erased.
    pub fn erase(self, instruction: Value<'m>) {
        assert!(
            instruction.is_placed() && !instruction.is_used(),
            "an instruction to be erased is used, or gone already"
        );
        let raw = self.own(instruction);
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
        let (raw, kind) = (self.own(to), self.attribute(name));
        // SAFETY: the kind is one of LLVM's, and the value is what the function says.
        unsafe {
            let attribute = (f.LLVMCreateEnumAttribute)(self.context.raw, kind, number);
            if is_call(to) {
                (f.LLVMAddCallSiteAttribute)(raw, OF_FUNCTION, attribute);
            } else {
                (f.LLVMAddAttributeAtIndex)(raw, OF_FUNCTION, attribute);
            }
        }
    }

    /// Removes an attribute from a function or a call, if it has that.
    pub fn remove_attribute(self, from: Value<'m>, name: &str) {
        let f = self.llvm.functions;
        let (raw, kind) = (self.own(from), self.attribute(name));
        // SAFETY: as above.
        unsafe {
            if is_call(from) {
                (f.LLVMRemoveCallSiteEnumAttribute)(raw, OF_FUNCTION, kind);
            } else {
                (f.LLVMRemoveEnumAttributeAtIndex)(raw, OF_FUNCTION, kind);
            }
        }
    }

    pub(super) fn attribute(self, name: &str) -> c_uint {
        // SAFETY: the name has that many bytes.
        let kind = unsafe { (self.llvm.functions.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) };
        assert!(kind != 0, "LLVM has no attribute {name}");
        kind
    }

    /// `ret void` in place of an `unreachable`.
    pub fn return_at(self, unreachable: Value<'m>) {
        assert!(
            unreachable.form() == Form::Instruction(o::UNREACHABLE),
            "a return in place of {:?}",
            unreachable.form()
        );
        self.build_before(unreachable).give_back(None);
        self.erase(unreachable);
    }

    /// A fence that acquires and releases, before an instruction.
    pub fn fence(self, at: Value<'m>) {
        self.build_before(at).fence();
    }

    /// Makes a relaxed atomic operation that reads and writes acquire and release; other instructions stay.
    pub fn acquire_release(self, one: Value<'m>) {
        let (f, raw) = (self.llvm.functions, self.own(one));
        match one.form() {
            // SAFETY: it is an operation of this kind, and the failure of an exchange only reads.
            Form::Instruction(o::ATOMICRMW) => unsafe {
                if (f.LLVMGetOrdering)(raw) == MONOTONIC {
                    (f.LLVMSetOrdering)(raw, ACQUIRE_RELEASE);
                }
            },
            // SAFETY: as above.
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

/// Whether it is a call; asserts that else it is a function.
fn is_call(value: Value<'_>) -> bool {
    let call = value.form() == Form::Instruction(o::CALL);
    assert!(call || value.form() == Form::Other(number::value::FUNCTION), "attributes of {:?}", value.form());
    call
}
