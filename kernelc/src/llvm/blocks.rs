//! Edits of control flow. LLVM's C API cannot change from which block a phi takes a value, so none of these needs it.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::number::opcode as o;
use super::value::{Block, Form, Value};
use std::ffi::c_void;

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
        let (raw, old) = (self.own_block(block), block.name());
        let before: Vec<Block<'m>> = block.predecessors().collect();
        let first = self.block_before(block, "");
        // SAFETY: both are blocks. The names have that many bytes.
        unsafe {
            (f.LLVMSetValueName2)((f.LLVMBasicBlockAsValue)(raw), name.as_ptr().cast(), name.len());
            (f.LLVMSetValueName2)((f.LLVMBasicBlockAsValue)(first.raw()), old.as_ptr().cast(), old.len());
        }
        let moved: Vec<Value<'m>> = block.instructions().take_while(|one| *one != at).collect();
        let build = self.build_at(first);
        moved.into_iter().for_each(|one| build.moved(one));
        build.branch(block);
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
            self.set_successor(end, n, new);
        }
    }

    /// Another block of the same function as a successor of a `br` or a `switch`.
    pub fn set_successor(self, end: Value<'m>, n: u32, to: Block<'m>) {
        assert!(n < end.count_successors(), "successor {n} of {:?}", end.form());
        // SAFETY: the branch has this successor.
        unsafe { (self.llvm.functions.LLVMSetSuccessor)(self.own(end), n, self.own_block(to)) }
    }

    /// A new block before `yes` that goes there if a variable says so, else to `no`. Neither has phis.
    pub fn branch_on(self, variable: Value<'m>, yes: Block<'m>, no: Block<'m>, name: &str) -> Block<'m> {
        let made = self.block_before(yes, name);
        let build = self.build_at(made);
        build.branch_if(build.load(self.integer_type(1), variable, ""), yes, no);
        made
    }
}
