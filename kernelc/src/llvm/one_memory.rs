//! Moves all pointers of a module to address space 0.
//!
//! LLVM cannot change the type of a value, and the type of a function includes the types of its parameters. Therefore global variables,
//! functions, and instructions whose types contain pointers to other address spaces are rebuilt. Other instructions get new operands.
#![allow(unsafe_code)]

use super::Module;
use super::load::Functions;
use super::number::{FUNCTION_INDEX, opcode as o, ty as t, value as k};
use super::rebuild::copy_metadata;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_char, c_uint, c_void};

type Raw = *mut c_void;

impl Module {
    /// Converts the module to a target with a single address space and the data layout `layout`. Functions get the target's calling
    /// convention. Functions and calls lose their string attributes. LLVM's own global variables, and the global variables for which
    /// `is_dropped` is true, are deleted. Functions in `replaced` become declarations without attributes. An error names a construct that
    /// cannot be rebuilt; the module is then broken.
    pub fn convert_to_one_address_space(
        &mut self,
        (triple, layout): (&str, &str),
        is_dropped: impl Fn(&str) -> bool,
        replaced: &HashSet<String>,
    ) -> Result<(), String> {
        let f = self.llvm.functions;
        let text =
            |text: &str| CString::new(text).map_err(|_| String::from("the name of a target contains a zero character"));
        let (triple, layout) = (text(triple)?, text(layout)?);
        let mut remap =
            Remap { f, module: self.raw, context: self.context.raw, types: HashMap::new(), values: HashMap::new() };
        // SAFETY: the module is valid, and there are no handles. `Remap` uses only values of the module, and deletes an old value only when
        // nothing uses it.
        unsafe {
            (f.LLVMSetDataLayout)(self.raw, layout.as_ptr());
            (f.LLVMSetTarget)(self.raw, triple.as_ptr());
            remap.all(&is_dropped, replaced)
        }
    }
}

struct Remap<'f> {
    f: &'f Functions,
    module: Raw,
    context: Raw,
    /// Old types and their replacements.
    types: HashMap<Raw, Raw>,
    /// Old values and their replacements.
    values: HashMap<Raw, Raw>,
}

/// The values of one of LLVM's linked lists.
///
/// # Safety
/// `next` returns null or a value of the module for `first` and for each value that it returned.
unsafe fn listed(first: Raw, next: unsafe extern "C" fn(Raw) -> Raw) -> Vec<Raw> {
    let some = |raw: Raw| (!raw.is_null()).then_some(raw);
    // SAFETY: as the caller says.
    std::iter::successors(some(first), |at| some(unsafe { next(*at) })).collect()
}

/// The safety condition of all methods: values, types and blocks belong to the module.
impl Remap<'_> {
    unsafe fn all(&mut self, is_dropped: &dyn Fn(&str) -> bool, replaced: &HashSet<String>) -> Result<(), String> {
        let f = self.f;
        // SAFETY: the condition of all methods. Lists are copied before they change.
        unsafe {
            let globals = listed((f.LLVMGetFirstGlobal)(self.module), f.LLVMGetNextGlobal);
            let functions = listed((f.LLVMGetFirstFunction)(self.module), f.LLVMGetNextFunction);
            let aliases = listed((f.LLVMGetFirstGlobalAlias)(self.module), f.LLVMGetNextGlobalAlias);
            let (dropped, globals): (Vec<Raw>, Vec<Raw>) = globals.into_iter().partition(|one| {
                let name = self.name(*one);
                name.starts_with("llvm.") || is_dropped(&name)
            });
            for one in dropped {
                self.poison_uses(one);
                (f.LLVMDeleteGlobal)(one);
            }
            for &old in &globals {
                self.global(old);
            }
            // The loop frees the names of all old functions before the first new function takes a name.
            let named: Vec<(Raw, String)> = functions.iter().map(|&old| (old, self.name(old))).collect();
            for &old in &functions {
                (f.LLVMSetValueName2)(old, c"".as_ptr(), 0);
            }
            for (old, name) in named {
                self.function(old, &name, replaced);
            }
            for &old in &aliases {
                let aliasee = self.value((f.LLVMAliasGetAliasee)(old))?;
                self.values.insert(old, aliasee);
            }
            for &old in &globals {
                let (value, new) = ((f.LLVMGetInitializer)(old), self.values[&old]);
                if !value.is_null() {
                    let value = self.value(value)?;
                    (f.LLVMSetInitializer)(new, value);
                }
            }
            for &old in &functions {
                self.body(self.values[&old])?;
            }
            for old in aliases {
                self.poison_uses(old);
                (f.LLVMDeleteGlobal)(old);
            }
            // Bodies of replaced functions may refer to any old function or variable, so the old functions and variables are deleted only now.
            for old in functions {
                self.poison_uses(old);
                (f.LLVMDeleteFunction)(old);
            }
            for old in globals {
                self.poison_uses(old);
                (f.LLVMDeleteGlobal)(old);
            }
            Ok(())
        }
    }

    /// Replaces all remaining uses of a value by poison.
    unsafe fn poison_uses(&self, old: Raw) {
        // SAFETY: the condition of all methods; poison has the type of the value.
        unsafe { (self.f.LLVMReplaceAllUsesWith)(old, (self.f.LLVMGetPoison)((self.f.LLVMTypeOf)(old))) }
    }

    unsafe fn name(&self, value: Raw) -> String {
        let mut length = 0;
        // SAFETY: the name has that many bytes and lives until the value gets another name.
        unsafe {
            let first = (self.f.LLVMGetValueName2)(value, &mut length).cast::<u8>();
            String::from_utf8_lossy(std::slice::from_raw_parts(first, length)).into_owned()
        }
    }

    /// Gives a new value the name of an old one.
    unsafe fn rename(&self, old: Raw, new: Raw) {
        // SAFETY: the texts have the given lengths.
        unsafe {
            let name = self.name(old);
            (self.f.LLVMSetValueName2)(old, c"".as_ptr(), 0);
            (self.f.LLVMSetValueName2)(new, name.as_ptr().cast(), name.len());
        }
    }

    unsafe fn ty(&mut self, old: Raw) -> Raw {
        if let Some(known) = self.types.get(&old) {
            return *known;
        }
        let f = self.f;
        // SAFETY: each query fits the kind of type, and the lists have room for all parts.
        let new = unsafe {
            match (f.LLVMGetTypeKind)(old) {
                t::POINTER => (f.LLVMPointerTypeInContext)(self.context, 0),
                t::ARRAY => {
                    let element = self.ty((f.LLVMGetElementType)(old));
                    (f.LLVMArrayType2)(element, (f.LLVMGetArrayLength2)(old))
                }
                t::VECTOR => {
                    let element = self.ty((f.LLVMGetElementType)(old));
                    (f.LLVMVectorType)(element, (f.LLVMGetVectorSize)(old))
                }
                t::FUNCTION => {
                    let mut all = vec![std::ptr::null_mut(); (f.LLVMCountParamTypes)(old) as usize];
                    (f.LLVMGetParamTypes)(old, all.as_mut_ptr());
                    let mut all: Vec<Raw> = all.into_iter().map(|ty| self.ty(ty)).collect();
                    let returns = self.ty((f.LLVMGetReturnType)(old));
                    (f.LLVMFunctionType)(returns, all.as_mut_ptr(), all.len() as c_uint, (f.LLVMIsFunctionVarArg)(old))
                }
                t::STRUCT if (f.LLVMIsOpaqueStruct)(old) == 0 => self.structure(old),
                _ => old,
            }
        };
        self.types.insert(old, new);
        new
    }

    unsafe fn structure(&mut self, old: Raw) -> Raw {
        let f = self.f;
        // SAFETY: it is a struct with a body; the lists have room for all fields.
        unsafe {
            let count = (f.LLVMCountStructElementTypes)(old);
            let fields: Vec<Raw> = (0..count).map(|n| (f.LLVMStructGetTypeAtIndex)(old, n)).collect();
            let mut new: Vec<Raw> = fields.iter().map(|field| self.ty(*field)).collect();
            let (name, packed) = ((f.LLVMGetStructName)(old), (f.LLVMIsPackedStruct)(old));
            match () {
                () if new == fields => old,
                () if name.is_null() => (f.LLVMStructTypeInContext)(self.context, new.as_mut_ptr(), count, packed),
                () => {
                    let made = (f.LLVMStructCreateNamed)(self.context, name);
                    (f.LLVMStructSetBody)(made, new.as_mut_ptr(), count, packed);
                    made
                }
            }
        }
    }

    unsafe fn global(&mut self, old: Raw) {
        let f = self.f;
        // SAFETY: both values are global variables. The new variable has the replacement of the old variable's type.
        unsafe {
            let ty = self.ty((f.LLVMGlobalGetValueType)(old));
            let new = (f.LLVMAddGlobal)(self.module, ty, c"".as_ptr());
            self.rename(old, new);
            (f.LLVMSetGlobalConstant)(new, (f.LLVMIsGlobalConstant)(old));
            (f.LLVMSetAlignment)(new, (f.LLVMGetAlignment)(old));
            self.copy_global_properties(old, new);
            self.values.insert(old, new);
        }
    }

    /// Copies the properties that global variables and functions share.
    unsafe fn copy_global_properties(&self, old: Raw, new: Raw) {
        let f = self.f;
        // SAFETY: both values are global variables or both are functions; the section is a string.
        unsafe {
            (f.LLVMSetLinkage)(new, (f.LLVMGetLinkage)(old));
            (f.LLVMSetVisibility)(new, (f.LLVMGetVisibility)(old));
            (f.LLVMSetUnnamedAddress)(new, (f.LLVMGetUnnamedAddress)(old));
            let section = (f.LLVMGetSection)(old);
            if !section.is_null() && !CStr::from_ptr(section).is_empty() {
                (f.LLVMSetSection)(new, section);
            }
        }
    }

    /// Makes the replacement of a function. `name`: the name that the old function had.
    unsafe fn function(&mut self, old: Raw, name: &str, replaced: &HashSet<String>) {
        let f = self.f;
        // SAFETY: the condition of all methods. Blocks move unchanged from one function to the other.
        unsafe {
            let title = CString::new(in_address_space_0(name)).unwrap_or_default();
            let ty = self.ty((f.LLVMGlobalGetValueType)(old));
            // Intrinsics that differ only in address spaces become one function, so the new function may already exist.
            let mut new = (f.LLVMGetNamedFunction)(self.module, title.as_ptr());
            if new.is_null() {
                new = (f.LLVMAddFunction)(self.module, title.as_ptr(), ty);
                if (f.LLVMGetIntrinsicID)(new) == 0 && !replaced.contains(name) {
                    let attribute_indices = (0..=(f.LLVMCountParams)(old)).chain([FUNCTION_INDEX]);
                    for (index, attribute) in attribute_indices.flat_map(|index| self.attributes(old, index, false)) {
                        (f.LLVMAddAttributeAtIndex)(new, index, attribute);
                    }
                    self.copy_global_properties(old, new);
                }
            }
            self.values.insert(old, new);
            for n in 0..(f.LLVMCountParams)(old) {
                let (from, to) = ((f.LLVMGetParam)(old, n), (f.LLVMGetParam)(new, n));
                self.rename(from, to);
                self.values.insert(from, to);
            }
            if replaced.contains(name) {
                return;
            }
            let program = (f.LLVMGetSubprogram)(old);
            if !program.is_null() {
                (f.LLVMSetSubprogram)(old, std::ptr::null_mut());
                (f.LLVMSetSubprogram)(new, program);
            }
            for block in listed((f.LLVMGetFirstBasicBlock)(old), f.LLVMGetNextBasicBlock) {
                (f.LLVMRemoveBasicBlockFromParent)(block);
                (f.LLVMAppendExistingBasicBlock)(new, block);
            }
        }
    }

    /// The attributes at one index of a function or a call, without string attributes, each with the index.
    unsafe fn attributes(&self, of: Raw, index: c_uint, call: bool) -> Vec<(c_uint, Raw)> {
        let f = self.f;
        // SAFETY: the list has room for all attributes.
        unsafe {
            let mut all;
            if call {
                all = vec![std::ptr::null_mut(); (f.LLVMGetCallSiteAttributeCount)(of, index) as usize];
                (f.LLVMGetCallSiteAttributes)(of, index, all.as_mut_ptr());
            } else {
                all = vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(of, index) as usize];
                (f.LLVMGetAttributesAtIndex)(of, index, all.as_mut_ptr());
            }
            all.retain(|attribute| (f.LLVMIsStringAttribute)(*attribute) == 0);
            all.into_iter().map(|attribute| (index, attribute)).collect()
        }
    }

    unsafe fn body(&mut self, function: Raw) -> Result<(), String> {
        let f = self.f;
        // SAFETY: the condition of all methods. Old instructions are deleted when nothing uses them.
        unsafe {
            let blocks = listed((f.LLVMGetFirstBasicBlock)(function), f.LLVMGetNextBasicBlock);
            let all: Vec<Raw> = blocks
                .into_iter()
                .flat_map(|block| listed((f.LLVMGetFirstInstruction)(block), f.LLVMGetNextInstruction))
                .collect();
            let (assumes, all): (Vec<Raw>, Vec<Raw>) =
                all.into_iter().partition(|one| self.is_assume_with_bundles(*one));
            for one in assumes {
                (f.LLVMInstructionEraseFromParent)(one);
            }
            let (old, kept): (Vec<Raw>, Vec<Raw>) = all.into_iter().partition(|one| self.is_rebuilt(*one));
            for &one in old.iter().filter(|one| (f.LLVMGetInstructionOpcode)(**one) == o::PHI) {
                let ty = self.ty((f.LLVMTypeOf)(one));
                let new = self.built(one, |_, builder| (f.LLVMBuildPhi)(builder, ty, c"".as_ptr()));
                self.values.insert(one, new);
            }
            for &one in &old {
                self.value(one)?;
            }
            for &one in old.iter().filter(|one| (f.LLVMGetInstructionOpcode)(**one) == o::PHI) {
                for n in 0..(f.LLVMCountIncoming)(one) {
                    let mut value = self.value((f.LLVMGetIncomingValue)(one, n))?;
                    let mut from = (f.LLVMGetIncomingBlock)(one, n);
                    (f.LLVMAddIncoming)(self.values[&one], &mut value, &mut from, 1);
                }
            }
            for one in kept {
                for n in 0..c_uint::try_from((f.LLVMGetNumOperands)(one)).unwrap_or(0) {
                    let operand = (f.LLVMGetOperand)(one, n);
                    let new = self.value(operand)?;
                    if new != operand {
                        (f.LLVMSetOperand)(one, n, new);
                    }
                }
            }
            for &one in &old {
                if (f.LLVMGetTypeKind)((f.LLVMTypeOf)(one)) != t::VOID {
                    self.poison_uses(one);
                }
            }
            for one in old {
                (f.LLVMInstructionEraseFromParent)(one);
            }
        }
        Ok(())
    }

    /// True for a call of `llvm.assume` with operand bundles, which cannot be rebuilt. The call only states facts about addresses.
    unsafe fn is_assume_with_bundles(&self, one: Raw) -> bool {
        let f = self.f;
        // SAFETY: operand bundles and callees are queried only of calls.
        unsafe {
            (f.LLVMGetInstructionOpcode)(one) == o::CALL && (f.LLVMGetNumOperandBundles)(one) > 0 && {
                let callee = (f.LLVMGetCalledValue)(one);
                // Only the new function has a name; the old function has lost it.
                self.values.get(&callee).is_some_and(|new| self.name(*new) == "llvm.assume")
            }
        }
    }

    /// True if an instruction must be rebuilt. Every call must, because the callee's address is a pointer in an address space.
    unsafe fn is_rebuilt(&mut self, one: Raw) -> bool {
        let f = self.f;
        // SAFETY: it is an instruction.
        unsafe {
            let ty = match (f.LLVMGetInstructionOpcode)(one) {
                o::CALL | o::ADDRESS_SPACE_CAST => return true,
                o::ALLOCA => (f.LLVMGetAllocatedType)(one),
                _ => (f.LLVMTypeOf)(one),
            };
            self.ty(ty) != ty
        }
    }

    /// The replacement of a value; the value itself if it needs no replacement.
    unsafe fn value(&mut self, old: Raw) -> Result<Raw, String> {
        if let Some(known) = self.values.get(&old) {
            return Ok(*known);
        }
        let f = self.f;
        // SAFETY: each query fits the kind of value.
        let new = unsafe {
            match (f.LLVMGetValueKind)(old) {
                k::INSTRUCTION if (f.LLVMGetInstructionOpcode)(old) == 0 => old,
                k::INSTRUCTION if self.is_rebuilt(old) => self.instruction(old)?,
                k::NULL | k::ZERO => (f.LLVMConstNull)(self.type_of(old)),
                k::UNDEF => (f.LLVMGetUndef)(self.type_of(old)),
                k::POISON => (f.LLVMGetPoison)(self.type_of(old)),
                k::ARRAY | k::STRUCT | k::VECTOR => self.aggregate(old)?,
                k::EXPRESSION => self.expression(old)?,
                _ => old,
            }
        };
        self.values.insert(old, new);
        Ok(new)
    }

    /// The type of the replacement of a value.
    unsafe fn type_of(&mut self, value: Raw) -> Raw {
        // SAFETY: the condition of all methods.
        unsafe { self.ty((self.f.LLVMTypeOf)(value)) }
    }

    unsafe fn operands(&mut self, of: Raw) -> Result<Vec<Raw>, String> {
        // SAFETY: `count` is the number of operands.
        unsafe {
            let count = c_uint::try_from((self.f.LLVMGetNumOperands)(of)).unwrap_or(0);
            (0..count).map(|n| self.value((self.f.LLVMGetOperand)(of, n))).collect()
        }
    }

    unsafe fn aggregate(&mut self, old: Raw) -> Result<Raw, String> {
        let f = self.f;
        // SAFETY: it is a constant aggregate, with elements of its type.
        unsafe {
            let (ty, mut all) = (self.type_of(old), self.operands(old)?);
            let count = all.len() as c_uint;
            Ok(match (f.LLVMGetTypeKind)(ty) {
                t::ARRAY => (f.LLVMConstArray2)((f.LLVMGetElementType)(ty), all.as_mut_ptr(), u64::from(count)),
                t::VECTOR => (f.LLVMConstVector)(all.as_mut_ptr(), count),
                _ if (f.LLVMGetStructName)(ty).is_null() => {
                    (f.LLVMConstStructInContext)(self.context, all.as_mut_ptr(), count, (f.LLVMIsPackedStruct)(ty))
                }
                _ => (f.LLVMConstNamedStruct)(ty, all.as_mut_ptr(), count),
            })
        }
    }

    unsafe fn expression(&mut self, old: Raw) -> Result<Raw, String> {
        let f = self.f;
        // SAFETY: each query fits the opcode.
        unsafe {
            let (ty, mut all) = (self.type_of(old), self.operands(old)?);
            let operands_are_unchanged = (0..all.len()).all(|n| all[n] == (f.LLVMGetOperand)(old, n as c_uint));
            match ((f.LLVMGetConstOpcode)(old), &mut all[..]) {
                (o::ADDRESS_SPACE_CAST | o::BIT_CAST, [value]) => Ok(*value),
                (o::POINTER_TO_INT, [value]) => Ok((f.LLVMConstPtrToInt)(*value, ty)),
                (o::INT_TO_POINTER, [value]) => Ok((f.LLVMConstIntToPtr)(*value, ty)),
                (o::GEP, [base, indices @ ..]) => {
                    let source = self.ty((f.LLVMGetGEPSourceElementType)(old));
                    let (count, flags) = (indices.len() as c_uint, (f.LLVMGEPGetNoWrapFlags)(old));
                    Ok((f.LLVMConstGEPWithNoWrapFlags)(source, *base, indices.as_mut_ptr(), count, flags))
                }
                _ if operands_are_unchanged => Ok(old),
                (opcode, _) => Err(format!("a constant expression on an address has an unsupported opcode: {opcode}")),
            }
        }
    }

    /// Builds an instruction before an old instruction. The new instruction gets the old one's name, source location and metadata.
    unsafe fn built(&self, old: Raw, build: impl FnOnce(&Functions, Raw) -> Raw) -> Raw {
        let f = self.f;
        // SAFETY: the old instruction is in a block. The builder is disposed of once.
        unsafe {
            let builder = (f.LLVMCreateBuilderInContext)(self.context);
            (f.LLVMPositionBuilderBefore)(builder, old);
            let new = build(f, builder);
            (f.LLVMDisposeBuilder)(builder);
            if (f.LLVMGetValueKind)(new) == k::INSTRUCTION && (f.LLVMGetInstructionOpcode)(new) != 0 {
                copy_metadata(f, self.context, old, new);
                if (f.LLVMGetTypeKind)((f.LLVMTypeOf)(new)) != t::VOID {
                    self.rename(old, new);
                }
            }
            new
        }
    }

    unsafe fn instruction(&mut self, old: Raw) -> Result<Raw, String> {
        let f = self.f;
        let no_name: *const c_char = c"".as_ptr();
        // SAFETY: each query fits the opcode.
        unsafe {
            let opcode = (f.LLVMGetInstructionOpcode)(old);
            if opcode == o::CALL {
                return self.call(old);
            }
            let (ty, mut all) = (self.type_of(old), self.operands(old)?);
            Ok(match (opcode, &mut all[..]) {
                (o::ADDRESS_SPACE_CAST | o::BIT_CAST, [value]) => *value,
                (o::INT_TO_POINTER, [value]) => {
                    self.built(old, |f, builder| (f.LLVMBuildCast)(builder, opcode, *value, ty, no_name))
                }
                (o::ALLOCA, [count]) => {
                    let allocated = self.ty((f.LLVMGetAllocatedType)(old));
                    let new =
                        self.built(old, |f, builder| (f.LLVMBuildArrayAlloca)(builder, allocated, *count, no_name));
                    (f.LLVMSetAlignment)(new, (f.LLVMGetAlignment)(old));
                    new
                }
                (o::LOAD, [from]) => {
                    let new = self.built(old, |f, builder| (f.LLVMBuildLoad2)(builder, ty, *from, no_name));
                    (f.LLVMSetAlignment)(new, (f.LLVMGetAlignment)(old));
                    (f.LLVMSetVolatile)(new, (f.LLVMGetVolatile)(old));
                    (f.LLVMSetOrdering)(new, (f.LLVMGetOrdering)(old));
                    new
                }
                (o::GEP, [base, indices @ ..]) => {
                    let source = self.ty((f.LLVMGetGEPSourceElementType)(old));
                    let (count, flags) = (indices.len() as c_uint, (f.LLVMGEPGetNoWrapFlags)(old));
                    self.built(old, |f, builder| {
                        let first = indices.as_mut_ptr();
                        (f.LLVMBuildGEPWithNoWrapFlags)(builder, source, *base, first, count, no_name, flags)
                    })
                }
                (o::SELECT, [condition, yes, no]) => {
                    self.built(old, |f, builder| (f.LLVMBuildSelect)(builder, *condition, *yes, *no, no_name))
                }
                (o::FREEZE, [value]) => self.built(old, |f, builder| (f.LLVMBuildFreeze)(builder, *value, no_name)),
                (o::EXTRACT_VALUE, [from]) if (f.LLVMGetNumIndices)(old) == 1 => {
                    let at = *(f.LLVMGetIndices)(old);
                    self.built(old, |f, builder| (f.LLVMBuildExtractValue)(builder, *from, at, no_name))
                }
                (o::INSERT_VALUE, [into, value]) if (f.LLVMGetNumIndices)(old) == 1 => {
                    let at = *(f.LLVMGetIndices)(old);
                    self.built(old, |f, builder| (f.LLVMBuildInsertValue)(builder, *into, *value, at, no_name))
                }
                _ => {
                    return Err(format!(
                        "an instruction on a pointer to an address space has an unsupported opcode: {opcode}"
                    ));
                }
            })
        }
    }

    unsafe fn call(&mut self, old: Raw) -> Result<Raw, String> {
        let f = self.f;
        // SAFETY: it is a call of a function of this type with `count` arguments.
        unsafe {
            if (f.LLVMGetNumOperandBundles)(old) > 0 {
                return Err("calls with operand bundles are not supported".into());
            }
            let count = (f.LLVMGetNumArgOperands)(old);
            let mut arguments =
                (0..count).map(|n| self.value((f.LLVMGetOperand)(old, n))).collect::<Result<Vec<Raw>, _>>()?;
            let ty = self.ty((f.LLVMGetCalledFunctionType)(old));
            let callee = self.value((f.LLVMGetCalledValue)(old))?;
            let new = self.built(old, |f, builder| {
                (f.LLVMBuildCall2)(builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr())
            });
            (f.LLVMSetTailCallKind)(new, (f.LLVMGetTailCallKind)(old));
            if (f.LLVMCanValueUseFastMathFlags)(new) != 0 {
                (f.LLVMSetFastMathFlags)(new, (f.LLVMGetFastMathFlags)(old));
            }
            let attribute_indices = (0..=count).chain([FUNCTION_INDEX]);
            for (index, attribute) in attribute_indices.flat_map(|index| self.attributes(old, index, true)) {
                (f.LLVMAddCallSiteAttribute)(new, index, attribute);
            }
            Ok(new)
        }
    }
}

/// The name of an intrinsic with all address spaces replaced by 0. Returns other names unchanged.
fn in_address_space_0(name: &str) -> String {
    if !name.starts_with("llvm.") {
        return name.to_owned();
    }
    let part = |part: &str| match part.strip_prefix('p').map(str::parse::<u32>) {
        Some(Ok(_)) => String::from("p0"),
        _ => part.to_owned(),
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}
