//! Edits of control flow. LLVM's C API cannot change from which block a phi takes a value, so none of these needs it.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::number;
use super::value::{Block, Form, Value};
use number::opcode as o;
use std::ffi::{CString, c_void};

impl<'m> Editor<'m> {
    pub(super) fn own_block(self, block: Block<'m>) -> *mut c_void {
        assert!(block.is_of(self.module), "a block of another module");
        block.raw()
    }

    /// Ends a block behind an instruction that is neither a phi nor the block's end, as [`Self::cut_before`].
    pub fn cut_behind(self, last: Value<'m>, name: &str) {
        assert!(last.next_instruction().is_some() && !last.is_phi(), "a block cut behind {:?}", last.form());
        if let Some(next) = last.next_instruction() {
            self.cut_before(next, name);
        }
    }

    /// Ends a block before an instruction that is no phi. The instruction and what follows stay in the block, from which phis take their values, and which gets the
    /// name. What is before is a new block, which takes the old name and all that led to the block.
    pub fn cut_before(self, at: Value<'m>, name: &str) -> Option<Block<'m>> {
        assert!(!at.is_phi(), "a block cut before a phi");
        let f = self.llvm.functions;
        let block = at.block()?;
        let function = block.function()?;
        let (raw, old) = (self.own_block(block), block.name());
        let before: Vec<Block<'m>> = function.blocks().collect();
        // SAFETY: the block is one of a function. The names have that many bytes. What the builder inserts is in no block then.
        let first = unsafe {
            let first = (f.LLVMInsertBasicBlockInContext)(self.context.raw, raw, c"".as_ptr());
            (f.LLVMSetValueName2)((f.LLVMBasicBlockAsValue)(raw), name.as_ptr().cast(), name.len());
            (f.LLVMSetValueName2)((f.LLVMBasicBlockAsValue)(first), old.as_ptr().cast(), old.len());
            let moved: Vec<Value<'m>> = block.instructions().take_while(|one| *one != at).collect();
            self.build_at_end(first, |f, builder| {
                for one in moved {
                    let name = CString::new(one.name()).unwrap_or_default();
                    (f.LLVMInstructionRemoveFromParent)(one.raw());
                    (f.LLVMInsertIntoBuilderWithName)(builder, one.raw(), name.as_ptr());
                }
                (f.LLVMBuildBr)(builder, raw)
            });
            Block::of(self.module, first)
        };
        let first = first?;
        before.into_iter().for_each(|from| self.redirect(from, block, first));
        Some(first)
    }

    /// What goes from a block to `old`, which has no phis, goes to `new`.
    pub fn redirect(self, from: Block<'m>, old: Block<'m>, new: Block<'m>) {
        assert!(!old.first().is_some_and(Value::is_phi), "a phi would take a value from where nothing comes from");
        let Some(end) = from.terminator().filter(|end| matches!(end.form(), Form::Instruction(o::BR | o::SWITCH)))
        else {
            return;
        };
        for n in (0..end.count_successors()).filter(|&n| end.successor(n) == Some(old)) {
            // SAFETY: the branch has this successor.
            unsafe { (self.llvm.functions.LLVMSetSuccessor)(self.own(end), n, self.own_block(new)) }
        }
    }

    /// A copy of an instruction before another one, with other values in place of some. It keeps its source location.
    pub fn clone_before(
        self,
        one: Value<'m>,
        at: Value<'m>,
        values: &[(Value<'m>, Value<'m>)],
        name: &str,
    ) -> Value<'m> {
        assert!(one.is_placed() && !one.is_phi(), "a copy of {:?}", one.form());
        let (raw, name) = (self.own(one), CString::new(name).unwrap_or_default());
        let copy = self.before(at, |f, builder| {
            // SAFETY: the copy is new and in no block yet. A void result has no name.
            unsafe {
                let copy = (f.LLVMInstructionClone)(raw);
                let named = (f.LLVMGetTypeKind)((f.LLVMTypeOf)(raw)) != number::ty::VOID;
                (f.LLVMInsertIntoBuilderWithName)(builder, copy, if named { name.as_ptr() } else { c"".as_ptr() });
                (f.LLVMInstructionSetDebugLoc)(copy, (f.LLVMInstructionGetDebugLoc)(raw));
                Value::of(self.module, copy)
            }
        });
        let copy = copy.unwrap_or_else(|| unreachable!("LLVM copies each instruction"));
        for n in 0..copy.count_operands() {
            let new = values.iter().find(|(old, _)| copy.operand(n) == Some(*old)).map(|(_, new)| *new);
            if let Some(new) = new {
                assert!(new.ty() == copy.operand(n).and_then(Value::ty), "a value of another type");
                // SAFETY: the copy has this operand, and the value has its type.
                unsafe { (self.llvm.functions.LLVMSetOperand)(self.own(copy), n, self.own(new)) }
            }
        }
        copy
    }

    /// A phi before another one, of values of one type.
    pub fn phi(self, at: Value<'m>, incoming: &[(Value<'m>, Block<'m>)], name: &str) -> Value<'m> {
        let ty = incoming.first().and_then(|(value, _)| value.ty());
        assert!(at.is_phi() && incoming.iter().all(|(value, _)| value.ty() == ty), "a phi of several types");
        let name = CString::new(name).unwrap_or_default();
        let made = self.before(at, |f, builder| {
            // SAFETY: the builder stands at a phi, and all values have this type.
            unsafe {
                let phi = (f.LLVMBuildPhi)(builder, ty?.raw(), name.as_ptr());
                for (value, from) in incoming {
                    let (mut value, mut from) = (self.own(*value), self.own_block(*from));
                    (f.LLVMAddIncoming)(phi, &mut value, &mut from, 1);
                }
                Value::of(self.module, phi)
            }
        });
        made.unwrap_or_else(|| unreachable!("a phi of no values"))
    }

    /// A variable of a thread that says yes or no, made at the beginning of a function.
    pub fn flag(self, entry: Block<'m>, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the builder stands in the block; the type is of the context.
        self.before(entry.first()?, |f, builder| unsafe {
            let truth = (f.LLVMIntTypeInContext)(self.context.raw, 1);
            Value::of(self.module, (f.LLVMBuildAlloca)(builder, truth, name.as_ptr()))
        })
    }

    /// Sets a variable that [`Self::flag`] made, before an instruction.
    pub fn set_flag(self, flag: Value<'m>, to: bool, at: Value<'m>) {
        assert!(flag.form() == Form::Instruction(o::ALLOCA), "a flag in {:?}", flag.form());
        let place = self.own(flag);
        // SAFETY: the builder stands in a block; the address is that of a variable.
        self.before(at, |f, builder| unsafe {
            let truth = (f.LLVMIntTypeInContext)(self.context.raw, 1);
            (f.LLVMBuildStore)(builder, (f.LLVMConstInt)(truth, u64::from(to), 0), place)
        });
    }

    /// A new block before `yes` that goes there if the flag is set, else to `no`. Neither has phis.
    pub fn branch_on_flag(self, flag: Value<'m>, yes: Block<'m>, no: Block<'m>, name: &str) -> Option<Block<'m>> {
        assert!(flag.form() == Form::Instruction(o::ALLOCA), "a flag in {:?}", flag.form());
        let (f, place, name) = (self.llvm.functions, self.own(flag), CString::new(name).unwrap_or_default());
        // SAFETY: the blocks are of one function, as is the variable.
        unsafe {
            let made = (f.LLVMInsertBasicBlockInContext)(self.context.raw, self.own_block(yes), name.as_ptr());
            self.build_at_end(made, |f, builder| {
                let truth = (f.LLVMIntTypeInContext)(self.context.raw, 1);
                let is = (f.LLVMBuildLoad2)(builder, truth, place, c"".as_ptr());
                (f.LLVMBuildCondBr)(builder, is, self.own_block(yes), self.own_block(no))
            });
            Block::of(self.module, made)
        }
    }
}
