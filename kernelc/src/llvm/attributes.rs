//! Questions about the attributes of functions and their parameters.
#![allow(unsafe_code)]

use super::number::{self, value as k};
use super::value::{Type, Value};
use std::ffi::c_uint;

impl<'m> Value<'m> {
    /// True if the function has the string attribute `name`.
    pub fn has_attribute(self, name: &'static str) -> bool {
        assert!(self.is(&[k::FUNCTION]), "an attribute of {:?}", self.form());
        let (get, length) = (self.f().LLVMGetStringAttributeAtIndex, name.len() as c_uint);
        // SAFETY: the value is a function, and the name has that many bytes.
        unsafe { !get(self.raw(), number::OF_FUNCTION, name.as_ptr().cast(), length).is_null() }
    }

    /// The type in the attribute `byref` or `byval` of a parameter.
    pub fn pointee(self, parameter: u32) -> Option<Type<'m>> {
        assert!(parameter < self.count_parameters(), "parameter {parameter} of {:?}", self.form());
        let f = self.f();
        // SAFETY: the value is a function with this parameter, of which attributes count from 1. An attribute of another kind than
        // a type is not asked for one.
        ["byref", "byval"].into_iter().find_map(|name| unsafe {
            let kind = (f.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len());
            let found = (f.LLVMGetEnumAttributeAtIndex)(self.raw(), parameter + 1, kind);
            let is_type = !found.is_null() && (f.LLVMIsTypeAttribute)(found) != 0;
            if is_type { Type::of(self.module, (f.LLVMGetTypeAttributeValue)(found)) } else { None }
        })
    }

    /// The number of bytes in the attribute `dereferenceable` of a parameter.
    pub fn dereferenceable(self, parameter: u32) -> Option<u64> {
        self.number_of(parameter, "dereferenceable")
    }

    /// The alignment in the attribute `align` of a parameter.
    pub fn parameter_alignment(self, parameter: u32) -> Option<u64> {
        self.number_of(parameter, "align")
    }

    /// The number in an attribute of a parameter; 0 if it has none.
    pub fn number_of(self, parameter: u32, name: &str) -> Option<u64> {
        assert!(self.is(&[k::FUNCTION]), "an attribute of {:?}", self.form());
        let f = self.f();
        // SAFETY: the value is a function, of which attributes of parameters count from 1. The attribute has a number.
        unsafe {
            let kind = (f.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len());
            let found = (f.LLVMGetEnumAttributeAtIndex)(self.raw(), parameter + 1, kind);
            (!found.is_null()).then(|| (f.LLVMGetEnumAttributeValue)(found))
        }
    }
}
