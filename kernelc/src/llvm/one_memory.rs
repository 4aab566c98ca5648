//! Makes a module whose pointers are all in address space 0 of one whose pointers are in several.
//!
//! The type of a value cannot be changed, and the type of a function names those of its parameters. So global variables, functions, and instructions whose
//! type has such a pointer are made anew. Other instructions get other operands.
#![allow(unsafe_code)]

use super::Module;
use super::load::Functions;
use super::number::{OF_FUNCTION, opcode as o, ty as t, value as k};
use super::rebuild::copy_metadata;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_char, c_uint, c_void};

type Raw = *mut c_void;

impl Module {
    /// Makes the module one for a target with a single address space, which lies in memory as `layout` says. Functions have the target's calling convention, and neither they nor
    /// calls keep attributes that are text. Global variables of LLVM's own and those in `dropped` go. Functions in `replaced` are only declared afterwards, without attributes. An error tells
    /// what cannot be made anew; the module is broken then.
    pub fn in_one_memory(
        &mut self,
        (triple, layout): (&str, &str),
        is_dropped: impl Fn(&str) -> bool,
        replaced: &HashSet<String>,
    ) -> Result<(), String> {
        let f = self.llvm.functions;
        let text = |text: &str| CString::new(text).map_err(|_| String::from("a zero in the name of a target"));
        let (triple, layout) = (text(triple)?, text(layout)?);
        let mut remap =
            Remap { f, module: self.raw, context: self.context.raw, types: HashMap::new(), values: HashMap::new() };
        // SAFETY: the module is valid, and nobody has handles of it. `Remap` only uses values of the module. What is made anew is deleted when nothing uses it.
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
    types: HashMap<Raw, Raw>,
    /// What stands for a value.
    values: HashMap<Raw, Raw>,
}

/// The values of a list of LLVM's.
///
/// # Safety
/// `next` gives null or a value of the module for each value that it gave.
unsafe fn listed(first: Raw, next: unsafe extern "C" fn(Raw) -> Raw) -> Vec<Raw> {
    let some = |raw: Raw| (!raw.is_null()).then_some(raw);
    // SAFETY: as the caller says.
    std::iter::successors(some(first), |at| some(unsafe { next(*at) })).collect()
}

/// All methods: values, types and blocks are of the module.
impl Remap<'_> {
    unsafe fn all(&mut self, is_dropped: &dyn Fn(&str) -> bool, replaced: &HashSet<String>) -> Result<(), String> {
        let f = self.f;
        // SAFETY: as of all methods. Lists are copied before they change.
        unsafe {
            let globals = listed((f.LLVMGetFirstGlobal)(self.module), f.LLVMGetNextGlobal);
            let functions = listed((f.LLVMGetFirstFunction)(self.module), f.LLVMGetNextFunction);
            let aliases = listed((f.LLVMGetFirstGlobalAlias)(self.module), f.LLVMGetNextGlobalAlias);
            let (dropped, globals): (Vec<Raw>, Vec<Raw>) = globals.into_iter().partition(|one| {
                let name = self.name(*one);
                name.starts_with("llvm.") || is_dropped(&name)
            });
            for one in dropped {
                self.unused(one);
                (f.LLVMDeleteGlobal)(one);
            }
            for &old in &globals {
                self.global(old);
            }
            // All names are free before the first function takes one.
            let named: Vec<(Raw, String)> = functions.iter().map(|&old| (old, self.name(old))).collect();
            for &old in &functions {
                (f.LLVMSetValueName2)(old, c"".as_ptr(), 0);
            }
            for (old, name) in named {
                self.function(old, &name, replaced);
            }
            for &old in &aliases {
                let stands_for = self.value((f.LLVMAliasGetAliasee)(old))?;
                self.values.insert(old, stands_for);
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
                self.unused(old);
                (f.LLVMDeleteGlobal)(old);
            }
            // The bodies of replaced functions, which go with them, may name any of these.
            for old in functions {
                self.unused(old);
                (f.LLVMDeleteFunction)(old);
            }
            for old in globals {
                self.unused(old);
                (f.LLVMDeleteGlobal)(old);
            }
            Ok(())
        }
    }

    /// Nothing uses a value any more.
    unsafe fn unused(&self, old: Raw) {
        // SAFETY: as of all methods; poison has the type of the value.
        unsafe { (self.f.LLVMReplaceAllUsesWith)(old, (self.f.LLVMGetPoison)((self.f.LLVMTypeOf)(old))) }
    }

    unsafe fn name(&self, value: Raw) -> String {
        let mut length = 0;
        // SAFETY: the name has that many bytes and lives as long as the value keeps it.
        unsafe {
            let first = (self.f.LLVMGetValueName2)(value, &mut length).cast::<u8>();
            String::from_utf8_lossy(std::slice::from_raw_parts(first, length)).into_owned()
        }
    }

    /// Gives a new value the name of an old one.
    unsafe fn rename(&self, old: Raw, new: Raw) {
        // SAFETY: the text has as many bytes as it says.
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
        // SAFETY: each kind of type has what is asked for, and lists have room for all.
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
        // SAFETY: it is a struct with a body; lists have room for all.
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
        // SAFETY: both are global variables, the new one with the type of the old one.
        unsafe {
            let ty = self.ty((f.LLVMGlobalGetValueType)(old));
            let new = (f.LLVMAddGlobal)(self.module, ty, c"".as_ptr());
            self.rename(old, new);
            (f.LLVMSetGlobalConstant)(new, (f.LLVMIsGlobalConstant)(old));
            (f.LLVMSetAlignment)(new, (f.LLVMGetAlignment)(old));
            self.of_global(old, new);
            self.values.insert(old, new);
        }
    }

    /// What global variables and functions have.
    unsafe fn of_global(&self, old: Raw, new: Raw) {
        let f = self.f;
        // SAFETY: both are of one kind; the section is a string.
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

    /// `name`: the one that the function had.
    unsafe fn function(&mut self, old: Raw, name: &str, replaced: &HashSet<String>) {
        let f = self.f;
        // SAFETY: as of all methods. Blocks move from one function to the other as they are.
        unsafe {
            let title = CString::new(one_space(name)).unwrap_or_default();
            let ty = self.ty((f.LLVMGlobalGetValueType)(old));
            // Intrinsics of several address spaces are one.
            let mut new = (f.LLVMGetNamedFunction)(self.module, title.as_ptr());
            if new.is_null() {
                new = (f.LLVMAddFunction)(self.module, title.as_ptr(), ty);
                if (f.LLVMGetIntrinsicID)(new) == 0 && !replaced.contains(name) {
                    let places = (0..=(f.LLVMCountParams)(old)).chain([OF_FUNCTION]);
                    for (place, attribute) in places.flat_map(|place| self.attributes(old, place, false)) {
                        (f.LLVMAddAttributeAtIndex)(new, place, attribute);
                    }
                    self.of_global(old, new);
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

    /// The attributes of a function or a call at a place that are no text, with the place.
    unsafe fn attributes(&self, of: Raw, place: c_uint, call: bool) -> Vec<(c_uint, Raw)> {
        let f = self.f;
        // SAFETY: the list has room for all.
        unsafe {
            let mut all;
            if call {
                all = vec![std::ptr::null_mut(); (f.LLVMGetCallSiteAttributeCount)(of, place) as usize];
                (f.LLVMGetCallSiteAttributes)(of, place, all.as_mut_ptr());
            } else {
                all = vec![std::ptr::null_mut(); (f.LLVMGetAttributeCountAtIndex)(of, place) as usize];
                (f.LLVMGetAttributesAtIndex)(of, place, all.as_mut_ptr());
            }
            all.retain(|attribute| (f.LLVMIsStringAttribute)(*attribute) == 0);
            all.into_iter().map(|attribute| (place, attribute)).collect()
        }
    }

    unsafe fn body(&mut self, function: Raw) -> Result<(), String> {
        let f = self.f;
        // SAFETY: as of all methods. Instructions that were made anew are deleted when nothing uses them.
        unsafe {
            let blocks = listed((f.LLVMGetFirstBasicBlock)(function), f.LLVMGetNextBasicBlock);
            let all: Vec<Raw> = blocks
                .into_iter()
                .flat_map(|block| listed((f.LLVMGetFirstInstruction)(block), f.LLVMGetNextInstruction))
                .collect();
            let (debug_uses, all): (Vec<Raw>, Vec<Raw>) = all.into_iter().partition(|one| self.only_tells(*one));
            for one in debug_uses {
                (f.LLVMInstructionEraseFromParent)(one);
            }
            let (old, kept): (Vec<Raw>, Vec<Raw>) = all.into_iter().partition(|one| self.changes(*one));
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
                    self.unused(one);
                }
            }
            for one in old {
                (f.LLVMInstructionEraseFromParent)(one);
            }
        }
        Ok(())
    }

    /// A call that only tells about an address, in an operand bundle, which cannot be made anew.
    unsafe fn only_tells(&self, one: Raw) -> bool {
        let f = self.f;
        // SAFETY: only calls are asked for what calls have.
        unsafe {
            (f.LLVMGetInstructionOpcode)(one) == o::CALL && (f.LLVMGetNumOperandBundles)(one) > 0 && {
                let callee = (f.LLVMGetCalledValue)(one);
                // Functions have given their names away.
                self.values.get(&callee).is_some_and(|new| self.name(*new) == "llvm.assume")
            }
        }
    }

    /// Whether an instruction is made anew. All calls are: the address of a function is one of these pointers.
    unsafe fn changes(&mut self, one: Raw) -> bool {
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

    /// What stands for a value.
    unsafe fn value(&mut self, old: Raw) -> Result<Raw, String> {
        if let Some(known) = self.values.get(&old) {
            return Ok(*known);
        }
        let f = self.f;
        // SAFETY: the kind says what the value is.
        let new = unsafe {
            match (f.LLVMGetValueKind)(old) {
                k::INSTRUCTION if (f.LLVMGetInstructionOpcode)(old) == 0 => old,
                k::INSTRUCTION if self.changes(old) => self.instruction(old)?,
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

    /// The type that a value's type becomes.
    unsafe fn type_of(&mut self, value: Raw) -> Raw {
        // SAFETY: as of all methods.
        unsafe { self.ty((self.f.LLVMTypeOf)(value)) }
    }

    unsafe fn operands(&mut self, of: Raw) -> Result<Vec<Raw>, String> {
        // SAFETY: it has so many operands.
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
        // SAFETY: the opcode says what operands the expression has.
        unsafe {
            let (ty, mut all) = (self.type_of(old), self.operands(old)?);
            let same = (0..all.len()).all(|n| all[n] == (f.LLVMGetOperand)(old, n as c_uint));
            match ((f.LLVMGetConstOpcode)(old), &mut all[..]) {
                (o::ADDRESS_SPACE_CAST | o::BIT_CAST, [value]) => Ok(*value),
                (o::POINTER_TO_INT, [value]) => Ok((f.LLVMConstPtrToInt)(*value, ty)),
                (o::INT_TO_POINTER, [value]) => Ok((f.LLVMConstIntToPtr)(*value, ty)),
                (o::GEP, [base, indices @ ..]) => {
                    let source = self.ty((f.LLVMGetGEPSourceElementType)(old));
                    let (count, flags) = (indices.len() as c_uint, (f.LLVMGEPGetNoWrapFlags)(old));
                    Ok((f.LLVMConstGEPWithNoWrapFlags)(source, *base, indices.as_mut_ptr(), count, flags))
                }
                _ if same => Ok(old),
                (opcode, _) => Err(format!("a constant of an address, by operation {opcode}")),
            }
        }
    }

    /// Builds an instruction before an old one, whose name, place of the source and metadata it gets.
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
        let none: *const c_char = c"".as_ptr();
        // SAFETY: the opcode says what the instruction has.
        unsafe {
            let opcode = (f.LLVMGetInstructionOpcode)(old);
            if opcode == o::CALL {
                return self.call(old);
            }
            let (ty, mut all) = (self.type_of(old), self.operands(old)?);
            Ok(match (opcode, &mut all[..]) {
                (o::ADDRESS_SPACE_CAST | o::BIT_CAST, [value]) => *value,
                (o::INT_TO_POINTER, [value]) => {
                    self.built(old, |f, builder| (f.LLVMBuildCast)(builder, opcode, *value, ty, none))
                }
                (o::ALLOCA, [count]) => {
                    let allocated = self.ty((f.LLVMGetAllocatedType)(old));
                    let new = self.built(old, |f, builder| (f.LLVMBuildArrayAlloca)(builder, allocated, *count, none));
                    (f.LLVMSetAlignment)(new, (f.LLVMGetAlignment)(old));
                    new
                }
                (o::LOAD, [from]) => {
                    let new = self.built(old, |f, builder| (f.LLVMBuildLoad2)(builder, ty, *from, none));
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
                        (f.LLVMBuildGEPWithNoWrapFlags)(builder, source, *base, first, count, none, flags)
                    })
                }
                (o::SELECT, [condition, yes, no]) => {
                    self.built(old, |f, builder| (f.LLVMBuildSelect)(builder, *condition, *yes, *no, none))
                }
                (o::FREEZE, [value]) => self.built(old, |f, builder| (f.LLVMBuildFreeze)(builder, *value, none)),
                (o::EXTRACT_VALUE, [from]) if (f.LLVMGetNumIndices)(old) == 1 => {
                    let at = *(f.LLVMGetIndices)(old);
                    self.built(old, |f, builder| (f.LLVMBuildExtractValue)(builder, *from, at, none))
                }
                (o::INSERT_VALUE, [into, value]) if (f.LLVMGetNumIndices)(old) == 1 => {
                    let at = *(f.LLVMGetIndices)(old);
                    self.built(old, |f, builder| (f.LLVMBuildInsertValue)(builder, *into, *value, at, none))
                }
                _ => return Err(format!("an address of an address space, by operation {opcode}")),
            })
        }
    }

    unsafe fn call(&mut self, old: Raw) -> Result<Raw, String> {
        let f = self.f;
        // SAFETY: it is a call of a function of that type with so many arguments.
        unsafe {
            if (f.LLVMGetNumOperandBundles)(old) > 0 {
                return Err("a call with operand bundles".into());
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
            let places = (0..=count).chain([OF_FUNCTION]);
            for (place, attribute) in places.flat_map(|place| self.attributes(old, place, true)) {
                (f.LLVMAddCallSiteAttribute)(new, place, attribute);
            }
            Ok(new)
        }
    }
}

/// The name of an intrinsic for address space 0; other names as they are.
fn one_space(name: &str) -> String {
    if !name.starts_with("llvm.") {
        return name.to_owned();
    }
    let part = |part: &str| match part.strip_prefix('p').map(str::parse::<u32>) {
        Some(Ok(_)) => String::from("p0"),
        _ => part.to_owned(),
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}
