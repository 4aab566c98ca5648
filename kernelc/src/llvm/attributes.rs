//! Queries of the attributes of functions, their parameters, and the arguments of calls.
#![allow(unsafe_code)]

use super::load::Functions;
use super::number::{self, value as k};
use super::value::{Type, Value};
use std::ffi::c_uint;

/// The number of the kind of the attributes with this name; 0 if LLVM has none.
pub(super) fn kind_of(f: &Functions, name: &str) -> c_uint {
    // SAFETY: the name has that many bytes.
    unsafe { (f.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) }
}

impl<'m> Value<'m> {
    /// True if the function has the string attribute `name`.
    pub fn has_attribute(self, name: &'static str) -> bool {
        assert!(self.is(&[k::FUNCTION]), "only a function can have attributes, not {:?}", self.form());
        let (get, length) = (self.f().LLVMGetStringAttributeAtIndex, name.len() as c_uint);
        // SAFETY: the value is a function, and the name has that many bytes.
        unsafe { !get(self.raw(), number::FUNCTION_INDEX, name.as_ptr().cast(), length).is_null() }
    }

    /// The type in the attribute `byref` or `byval` of a parameter.
    pub fn pointee(self, parameter: u32) -> Option<Type<'m>> {
        assert!(parameter < self.count_parameters(), "parameter {parameter} of {:?} does not exist", self.form());
        let f = self.f();
        // SAFETY: the value is a function with this parameter; parameters' attributes count from 1. Only the type of a type attribute is
        // queried.
        ["byref", "byval"].into_iter().find_map(|name| unsafe {
            let attribute = (f.LLVMGetEnumAttributeAtIndex)(self.raw(), parameter + 1, kind_of(f, name));
            let is_type = !attribute.is_null() && (f.LLVMIsTypeAttribute)(attribute) != 0;
            if is_type { Type::of(self.module, (f.LLVMGetTypeAttributeValue)(attribute)) } else { None }
        })
    }

    /// The number of bytes in the attribute `dereferenceable` of a parameter.
    pub fn dereferenceable(self, parameter: u32) -> Option<u64> {
        self.parameter_attribute(parameter, "dereferenceable")
    }

    /// The alignment in the attribute `align` of a parameter.
    pub fn parameter_alignment(self, parameter: u32) -> Option<u64> {
        self.parameter_attribute(parameter, "align")
    }

    /// The alignment in the attribute `align` of an argument of a call.
    pub fn argument_alignment(self, argument: u32) -> Option<u64> {
        assert!(argument < self.count_arguments(), "argument {argument} of {:?} does not exist", self.form());
        let f = self.f();
        // SAFETY: the value is a call with this argument; attributes of arguments count from 1. `align` has a number.
        unsafe {
            let attribute = (f.LLVMGetCallSiteEnumAttribute)(self.raw(), argument + 1, kind_of(f, "align"));
            (!attribute.is_null()).then(|| (f.LLVMGetEnumAttributeValue)(attribute))
        }
    }

    /// The number in the attribute `name` of a parameter; 0 for an attribute without a number. `None` if the parameter lacks the attribute.
    pub fn parameter_attribute(self, parameter: u32, name: &str) -> Option<u64> {
        // Parameters' attributes count from 1.
        self.attribute_at(parameter + 1, name)
    }

    /// True if the function neither reads nor writes memory, has no other effects, and returns: it has the attributes `memory(none)`,
    /// `nounwind` and `willreturn`.
    pub fn is_pure(self) -> bool {
        let has = |name| self.attribute_at(number::FUNCTION_INDEX, name).is_some();
        self.attribute_at(number::FUNCTION_INDEX, "memory") == Some(0) && has("nounwind") && has("willreturn")
    }

    fn attribute_at(self, index: c_uint, name: &str) -> Option<u64> {
        assert!(self.is(&[k::FUNCTION]), "only a function can have attributes, not {:?}", self.form());
        let f = self.f();
        // SAFETY: the value is a function, and the attribute is not a type attribute.
        unsafe {
            let attribute = (f.LLVMGetEnumAttributeAtIndex)(self.raw(), index, kind_of(f, name));
            (!attribute.is_null()).then(|| (f.LLVMGetEnumAttributeValue)(attribute))
        }
    }
}
