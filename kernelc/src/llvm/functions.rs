//! Edits of functions and global variables as wholes: how they are linked, their attributes, new ones.
#![allow(unsafe_code)]

use super::Builder;
use super::edit::Editor;
use super::number::{HIDDEN, OF_FUNCTION, linkage, value as k};
use super::value::{Block, Form, Type, Value};
use std::ffi::{CString, c_int, c_uint};

impl<'m> Editor<'m> {
    fn is_global(value: Value<'m>) -> bool {
        matches!(value.form(), Form::Other(k::FUNCTION | k::GLOBAL_VARIABLE))
    }

    /// Lets other modules see a function or global variable. [`Editor::internalize`] is the opposite.
    pub fn export(self, global: Value<'m>) {
        assert!(Self::is_global(global), "the linkage of {:?}", global.form());
        let (f, raw) = (self.llvm.functions, self.own(global));
        // SAFETY: it is a function or a global variable.
        unsafe {
            (f.LLVMSetVisibility)(raw, 0);
            // What may be missing when the program is linked stays so.
            if (f.LLVMGetLinkage)(raw) != linkage::EXTERN_WEAK {
                (f.LLVMSetLinkage)(raw, linkage::EXTERNAL);
            }
        }
    }

    /// Gives a function or global variable another name.
    pub fn rename(self, global: Value<'m>, name: &str) {
        assert!(Self::is_global(global), "the name of {:?}", global.form());
        // SAFETY: it is a function or a global variable, and the name has that many bytes.
        unsafe { (self.llvm.functions.LLVMSetValueName2)(self.own(global), name.as_ptr().cast(), name.len()) }
    }

    /// Adds an attribute that is text to a function, with a value that may be empty.
    pub fn add_text_attribute(self, to: Value<'m>, name: &str, value: &str) {
        assert!(to.form() == Form::Other(k::FUNCTION), "an attribute of {:?}", to.form());
        let f = self.llvm.functions;
        // SAFETY: the texts have as many bytes as they say.
        unsafe {
            let (key, length) = (name.as_ptr().cast(), name.len() as c_uint);
            let (text, bytes) = (value.as_ptr().cast(), value.len() as c_uint);
            let made = (f.LLVMCreateStringAttribute)(self.context.raw, key, length, text, bytes);
            (f.LLVMAddAttributeAtIndex)(self.own(to), OF_FUNCTION, made);
        }
    }

    /// In place of all attributes of a function's parameter, these, with their numbers.
    pub fn set_parameter_attributes(self, function: Value<'m>, parameter: u32, attributes: &[(&str, u64)]) {
        assert!(parameter < function.count_parameters(), "parameter {parameter} of {:?}", function.form());
        let (f, raw, place) = (self.llvm.functions, self.own(function), parameter + 1);
        // SAFETY: it is a function with this parameter, of which attributes count from 1. The list has room for all.
        unsafe {
            let mut old = vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(raw, place) as usize];
            (f.LLVMGetAttributesAtIndex)(raw, place, old.as_mut_ptr());
            for attribute in old.into_iter().filter(|old| (f.LLVMIsStringAttribute)(*old) == 0) {
                (f.LLVMRemoveEnumAttributeAtIndex)(raw, place, (f.LLVMGetEnumAttributeKind)(attribute));
            }
            for (name, number) in attributes {
                let made = (f.LLVMCreateEnumAttribute)(self.context.raw, self.attribute(name), *number);
                (f.LLVMAddAttributeAtIndex)(raw, place, made);
            }
        }
    }

    /// A function that is there already, or is declared.
    pub fn external(self, name: &str, returns: Option<Type<'m>>, parameters: &[Type<'m>], variadic: bool) -> Value<'m> {
        let (f, title) = (self.llvm.functions, CString::new(name).unwrap_or_default());
        let mut types: Vec<_> = parameters.iter().map(|ty| ty.raw()).collect();
        // SAFETY: the types are of the context, and so many; the name is a string.
        let made = unsafe {
            let known = (f.LLVMGetNamedFunction)(self.module.raw, title.as_ptr());
            let returns = returns.map_or_else(|| (f.LLVMVoidTypeInContext)(self.context.raw), Type::raw);
            let ty = (f.LLVMFunctionType)(returns, types.as_mut_ptr(), types.len() as c_uint, c_int::from(variadic));
            let new = || (f.LLVMAddFunction)(self.module.raw, title.as_ptr(), ty);
            Value::of(self.module, if known.is_null() { new() } else { known })
        };
        made.unwrap_or_else(|| unreachable!("LLVM declares each function"))
    }

    /// The first block of a declared function, and thereby its definition.
    pub fn define(self, function: Value<'m>) -> Builder<'m> {
        assert!(function.first_block().is_none(), "{} is defined", function.name());
        self.build_at(self.append_block(function, ""))
    }

    /// A new block, the last of a function.
    pub fn append_block(self, function: Value<'m>, name: &str) -> Block<'m> {
        assert!(function.form() == Form::Other(k::FUNCTION), "a block of {:?}", function.form());
        let (f, name) = (self.llvm.functions, CString::new(name).unwrap_or_default());
        // SAFETY: it is a function; the name is a string.
        let block = unsafe {
            let made = (f.LLVMAppendBasicBlockInContext)(self.context.raw, self.own(function), name.as_ptr());
            Block::of(self.module, made)
        };
        block.unwrap_or_else(|| unreachable!("LLVM makes each block"))
    }

    /// Lets other modules of the program see a function, but not other programs. `like`: it has the debug information of that function, which is
    /// to go.
    pub fn hide(self, function: Value<'m>, like: Value<'m>) {
        assert!([function, like].iter().all(|one| one.form() == Form::Other(k::FUNCTION)), "it is no function");
        let (f, raw) = (self.llvm.functions, self.own(function));
        // SAFETY: both are functions, and a function's subprogram is one; LLVM takes no null.
        unsafe {
            (f.LLVMSetVisibility)(raw, HIDDEN);
            let subprogram = (f.LLVMGetSubprogram)(self.own(like));
            if !subprogram.is_null() {
                (f.LLVMSetSubprogram)(raw, subprogram);
            }
        }
    }

    /// Makes a function or variable that is defined here one that `globaldce` deletes, if nothing else that stays uses it.
    pub fn discard(self, definition: Value<'m>) {
        assert!(Self::is_global(definition), "{:?} discarded", definition.form());
        let (f, raw) = (self.llvm.functions, self.own(definition));
        // SAFETY: it is a function or a variable, and no declaration, which has to have a name.
        unsafe {
            if (f.LLVMIsDeclaration)(raw) == 0 {
                (f.LLVMSetValueName2)(raw, c"".as_ptr(), 0);
                (f.LLVMSetComdat)(raw, std::ptr::null_mut());
                (f.LLVMSetLinkage)(raw, linkage::INTERNAL);
            }
        }
    }

    /// Makes the definition of a function or variable one that another module has: `elim-avail-extern` leaves its declaration.
    pub fn leave_to_others(self, definition: Value<'m>) {
        assert!(Self::is_global(definition), "{:?} left to others", definition.form());
        let (f, raw) = (self.llvm.functions, self.own(definition));
        // SAFETY: it is a function or a variable, which has to be in no group of this linkage.
        unsafe {
            (f.LLVMSetComdat)(raw, std::ptr::null_mut());
            (f.LLVMSetLinkage)(raw, linkage::AVAILABLE_EXTERNALLY);
        }
    }

    /// The opposite; false of what is not another module's.
    pub fn take_over(self, global: Value<'m>) -> bool {
        assert!(Self::is_global(global), "{:?} taken over", global.form());
        let (f, raw) = (self.llvm.functions, self.own(global));
        // SAFETY: it is a function or a variable, and of that linkage it has a definition.
        unsafe {
            let is_others = (f.LLVMGetLinkage)(raw) == linkage::AVAILABLE_EXTERNALLY;
            if is_others {
                (f.LLVMSetLinkage)(raw, linkage::EXTERNAL);
            }
            is_others
        }
    }

    /// A constant text that only this module sees, with a zero behind it.
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
        made.unwrap_or_else(|| unreachable!("LLVM makes each variable"))
    }

    /// Functions and global variables that LLVM keeps and does not change though nobody in the module uses them.
    pub fn keep(self, all: &[Value<'m>]) {
        assert!(all.iter().all(|one| Self::is_global(*one)), "a value to be kept that has no address");
        let f = self.llvm.functions;
        let mut raw: Vec<_> = all.iter().map(|one| self.own(*one)).collect();
        // SAFETY: these are constants that are pointers of address space 0, as LLVM wants them in a variable of this name.
        unsafe {
            let pointer = (f.LLVMPointerTypeInContext)(self.context.raw, 0);
            let value = (f.LLVMConstArray2)(pointer, raw.as_mut_ptr(), raw.len() as u64);
            let list = (f.LLVMAddGlobal)(self.module.raw, (f.LLVMTypeOf)(value), c"llvm.compiler.used".as_ptr());
            (f.LLVMSetInitializer)(list, value);
            (f.LLVMSetLinkage)(list, linkage::APPENDING);
            (f.LLVMSetSection)(list, c"llvm.metadata".as_ptr());
        }
    }

    /// Gives an instruction that can be fast all flags of fast maths.
    pub fn make_fast(self, one: Value<'m>) {
        if one.can_be_fast() {
            // SAFETY: the value can have such flags.
            unsafe { (self.llvm.functions.LLVMSetFastMathFlags)(self.own(one), super::number::FAST) }
        }
    }
}
