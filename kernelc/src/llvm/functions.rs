//! Edits of whole functions and global variables: linkage, attributes, new declarations and definitions.
#![allow(unsafe_code)]

use super::Builder;
use super::edit::Editor;
use super::number::{FUNCTION_INDEX, HIDDEN_VISIBILITY, linkage, value as k};
use super::value::{Block, Form, Type, Value};
use std::ffi::{CString, c_int, c_uint};

impl<'m> Editor<'m> {
    fn is_global(value: Value<'m>) -> bool {
        matches!(value.form(), Form::Other(k::FUNCTION | k::GLOBAL_VARIABLE))
    }

    /// Lets other modules see a function or global variable. [`Editor::internalize`] is the opposite.
    pub fn export(self, global: Value<'m>) {
        assert!(Self::is_global(global), "only a function or global variable has a linkage, not {:?}", global.form());
        let (f, raw) = (self.llvm.functions, self.checked_raw(global));
        // SAFETY: it is a function or a global variable.
        unsafe {
            (f.LLVMSetVisibility)(raw, 0);
            // An extern_weak declaration stays extern_weak, because its definition may be missing when the program is linked.
            if (f.LLVMGetLinkage)(raw) != linkage::EXTERN_WEAK {
                (f.LLVMSetLinkage)(raw, linkage::EXTERNAL);
            }
        }
    }

    /// Gives a function or global variable another name.
    pub fn rename(self, global: Value<'m>, name: &str) {
        assert!(
            Self::is_global(global),
            "only the name of a function or global variable can be set, not of {:?}",
            global.form()
        );
        // SAFETY: it is a function or a global variable, and the name has that many bytes.
        unsafe { (self.llvm.functions.LLVMSetValueName2)(self.checked_raw(global), name.as_ptr().cast(), name.len()) }
    }

    /// Adds a string attribute to a function, with a value that may be empty.
    pub fn add_text_attribute(self, to: Value<'m>, name: &str, value: &str) {
        assert!(to.form() == Form::Other(k::FUNCTION), "only a function can have attributes, not {:?}", to.form());
        let f = self.llvm.functions;
        // SAFETY: each length is the number of bytes of its text.
        unsafe {
            let (key, length) = (name.as_ptr().cast(), name.len() as c_uint);
            let (text, bytes) = (value.as_ptr().cast(), value.len() as c_uint);
            let made = (f.LLVMCreateStringAttribute)(self.context.raw, key, length, text, bytes);
            (f.LLVMAddAttributeAtIndex)(self.checked_raw(to), FUNCTION_INDEX, made);
        }
    }

    /// Replaces a function parameter's attributes, except string attributes, by `attributes`, each with a number.
    pub fn set_parameter_attributes(self, function: Value<'m>, parameter: u32, attributes: &[(&str, u64)]) {
        assert!(
            parameter < function.count_parameters(),
            "parameter {parameter} of {:?} does not exist",
            function.form()
        );
        let (f, raw, index) = (self.llvm.functions, self.checked_raw(function), parameter + 1);
        // SAFETY: it is a function with this parameter; parameters' attributes count from 1. The list has room for all attributes.
        unsafe {
            let mut old = vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(raw, index) as usize];
            (f.LLVMGetAttributesAtIndex)(raw, index, old.as_mut_ptr());
            for attribute in old.into_iter().filter(|old| (f.LLVMIsStringAttribute)(*old) == 0) {
                (f.LLVMRemoveEnumAttributeAtIndex)(raw, index, (f.LLVMGetEnumAttributeKind)(attribute));
            }
            for (name, number) in attributes {
                let made = (f.LLVMCreateEnumAttribute)(self.context.raw, self.attribute(name), *number);
                (f.LLVMAddAttributeAtIndex)(raw, index, made);
            }
        }
    }

    /// The function `name`. Declares the function if the module lacks it.
    pub fn external(self, name: &str, returns: Option<Type<'m>>, parameters: &[Type<'m>], variadic: bool) -> Value<'m> {
        let (f, title) = (self.llvm.functions, CString::new(name).unwrap_or_default());
        let mut types: Vec<_> = parameters.iter().map(|ty| ty.raw()).collect();
        // SAFETY: the types are of the context, and their number is right; the name is a string.
        let made = unsafe {
            let known = (f.LLVMGetNamedFunction)(self.module.raw, title.as_ptr());
            let returns = returns.map_or_else(|| (f.LLVMVoidTypeInContext)(self.context.raw), Type::raw);
            let ty = (f.LLVMFunctionType)(returns, types.as_mut_ptr(), types.len() as c_uint, c_int::from(variadic));
            let new = || (f.LLVMAddFunction)(self.module.raw, title.as_ptr(), ty);
            Value::of(self.module, if known.is_null() { new() } else { known })
        };
        made.unwrap_or_else(|| unreachable!("LLVM returned no function"))
    }

    /// Turns a declared function into a definition: appends its first block, and returns a builder for this block.
    pub fn define(self, function: Value<'m>) -> Builder<'m> {
        assert!(function.first_block().is_none(), "{} is defined", function.name());
        self.build_at(self.append_block(function, ""))
    }

    /// Appends a new block to a function.
    pub fn append_block(self, function: Value<'m>, name: &str) -> Block<'m> {
        assert!(
            function.form() == Form::Other(k::FUNCTION),
            "only a function can have blocks, not {:?}",
            function.form()
        );
        let (f, name) = (self.llvm.functions, CString::new(name).unwrap_or_default());
        // SAFETY: it is a function; the name is a string.
        let block = unsafe {
            let made = (f.LLVMAppendBasicBlockInContext)(self.context.raw, self.checked_raw(function), name.as_ptr());
            Block::of(self.module, made)
        };
        block.unwrap_or_else(|| unreachable!("LLVM returned no block"))
    }

    /// Makes a function visible to other modules of the program, but not to other shared libraries. The function gets the debug information
    /// of the function `like`, which is about to be removed.
    pub fn hide(self, function: Value<'m>, like: Value<'m>) {
        assert!(
            [function, like].iter().all(|one| one.form() == Form::Other(k::FUNCTION)),
            "the value is not a function"
        );
        let (f, raw) = (self.llvm.functions, self.checked_raw(function));
        // SAFETY: both are functions. A null subprogram, which LLVM does not accept, is not set.
        unsafe {
            (f.LLVMSetVisibility)(raw, HIDDEN_VISIBILITY);
            let subprogram = (f.LLVMGetSubprogram)(self.checked_raw(like));
            if !subprogram.is_null() {
                (f.LLVMSetSubprogram)(raw, subprogram);
            }
        }
    }

    /// Lets `globaldce` delete a function or variable that this module defines, unless code that stays uses it.
    pub fn discard(self, definition: Value<'m>) {
        assert!(
            Self::is_global(definition),
            "only a function or global variable can be discarded, not {:?}",
            definition.form()
        );
        let (f, raw) = (self.llvm.functions, self.checked_raw(definition));
        // SAFETY: it is a function or a variable. Declarations, which must have names, stay.
        unsafe {
            if (f.LLVMIsDeclaration)(raw) == 0 {
                (f.LLVMSetValueName2)(raw, c"".as_ptr(), 0);
                (f.LLVMSetComdat)(raw, std::ptr::null_mut());
                (f.LLVMSetLinkage)(raw, linkage::INTERNAL);
            }
        }
    }

    /// Marks the definition of a function or variable as available in another module, so that `elim-avail-extern` reduces it to a declaration.
    pub fn make_available_externally(self, definition: Value<'m>) {
        assert!(
            Self::is_global(definition),
            "only a function or global variable can be available externally, not {:?}",
            definition.form()
        );
        let (f, raw) = (self.llvm.functions, self.checked_raw(definition));
        // SAFETY: it is a function or a variable. With this linkage it must be in no comdat.
        unsafe {
            (f.LLVMSetComdat)(raw, std::ptr::null_mut());
            (f.LLVMSetLinkage)(raw, linkage::AVAILABLE_EXTERNALLY);
        }
    }

    /// The opposite of [`Self::make_available_externally`]: makes this module emit the definition. Returns false and does nothing if the definition is
    /// not marked as available in another module.
    pub fn make_external(self, global: Value<'m>) -> bool {
        assert!(
            Self::is_global(global),
            "only a function or global variable can be made external, not {:?}",
            global.form()
        );
        let (f, raw) = (self.llvm.functions, self.checked_raw(global));
        // SAFETY: it is a function or a variable. If it has this linkage, it has a definition.
        unsafe {
            let was_available_externally = (f.LLVMGetLinkage)(raw) == linkage::AVAILABLE_EXTERNALLY;
            if was_available_externally {
                (f.LLVMSetLinkage)(raw, linkage::EXTERNAL);
            }
            was_available_externally
        }
    }

    /// A private constant with a text and a terminating zero.
    pub fn text(self, name: &str, text: &str) -> Value<'m> {
        let (f, name) = (self.llvm.functions, CString::new(name).unwrap_or_default());
        // SAFETY: the text has that many bytes. The variable has the type of its value.
        let made = unsafe {
            let value = (f.LLVMConstStringInContext2)(self.context.raw, text.as_ptr().cast(), text.len(), 0);
            let made = (f.LLVMAddGlobal)(self.module.raw, (f.LLVMTypeOf)(value), name.as_ptr());
            (f.LLVMSetInitializer)(made, value);
            (f.LLVMSetGlobalConstant)(made, 1);
            (f.LLVMSetLinkage)(made, linkage::PRIVATE);
            Value::of(self.module, made)
        };
        made.unwrap_or_else(|| unreachable!("LLVM returned no variable"))
    }

    /// Makes LLVM keep functions and global variables unchanged although nothing in the module uses them.
    pub fn keep(self, all: &[Value<'m>]) {
        assert!(all.iter().all(|one| Self::is_global(*one)), "only functions and global variables can be kept");
        let f = self.llvm.functions;
        let mut raw: Vec<_> = all.iter().map(|one| self.checked_raw(*one)).collect();
        // SAFETY: the values are constant pointers of address space 0, as LLVM requires in a variable with this name.
        unsafe {
            let pointer = (f.LLVMPointerTypeInContext)(self.context.raw, 0);
            let value = (f.LLVMConstArray2)(pointer, raw.as_mut_ptr(), raw.len() as u64);
            let list = (f.LLVMAddGlobal)(self.module.raw, (f.LLVMTypeOf)(value), c"llvm.compiler.used".as_ptr());
            (f.LLVMSetInitializer)(list, value);
            (f.LLVMSetLinkage)(list, linkage::APPENDING);
            (f.LLVMSetSection)(list, c"llvm.metadata".as_ptr());
        }
    }

    /// Gives an instruction all fast-math flags, if it can have such flags.
    pub fn make_fast(self, one: Value<'m>) {
        if one.can_be_fast() {
            // SAFETY: the value can have such flags.
            unsafe { (self.llvm.functions.LLVMSetFastMathFlags)(self.checked_raw(one), super::number::FAST) }
        }
    }
}
