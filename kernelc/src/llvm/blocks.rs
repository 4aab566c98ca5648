//! Edits of control flow. LLVM's C API cannot change the incoming blocks of a phi, so these edits keep all incoming blocks valid.
#![allow(unsafe_code)]

use super::edit::Editor;
use super::number::opcode as o;
use super::value::{Block, Form, Value};
use std::ffi::c_void;

impl<'m> Editor<'m> {
    pub(super) fn checked_raw_block(self, block: Block<'m>) -> *mut c_void {
        assert!(block.belongs_to(self.module), "the block belongs to another module");
        block.raw()
    }

    /// Splits a block after an instruction that is neither a phi nor the terminator, as [`Self::split_before`] does.
    pub fn split_after(self, last: Value<'m>, name: &str) {
        assert!(last.next_instruction().is_some() && !last.is_phi(), "a block cannot be split after {:?}", last.form());
        if let Some(next) = last.next_instruction() {
            self.split_before(next, name);
        }
    }

    /// Splits a block before an instruction that is not a phi, and returns the new first block. The instruction and all later instructions stay
    /// in the old block, so phis in later blocks stay valid. The old block gets the name `name`. The earlier instructions move to the new
    /// block, which gets the old name and the predecessors.
    pub fn split_before(self, at: Value<'m>, name: &str) -> Option<Block<'m>> {
        assert!(!at.is_phi(), "a block cannot be split before a phi");
        let f = self.llvm.functions;
        let block = at.block()?;
        let (raw, old) = (self.checked_raw_block(block), block.name());
        let before: Vec<Block<'m>> = block.predecessors().collect();
        let first = self.block_before(block, "");
        // SAFETY: both pointers are blocks. The names have that many bytes.
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

    /// Changes the branches from `from` to `old` so that they go to `new`. `old` must have no phis.
    pub fn redirect(self, from: Block<'m>, old: Block<'m>, new: Block<'m>) {
        assert!(
            !old.first().is_some_and(Value::is_phi),
            "the old target of a redirected branch has a phi, but must have none"
        );
        let Some(end) = from.terminator().filter(|end| matches!(end.form(), Form::Instruction(o::BR | o::SWITCH)))
        else {
            return;
        };
        for n in (0..end.count_successors()).filter(|&n| end.successor(n) == Some(old)) {
            self.set_successor(end, n, new);
        }
    }

    /// Replaces a successor of a `br` or a `switch` by another block of the same function.
    pub fn set_successor(self, end: Value<'m>, n: u32, to: Block<'m>) {
        assert!(n < end.count_successors(), "successor {n} of {:?} does not exist", end.form());
        // SAFETY: the branch has this successor.
        unsafe { (self.llvm.functions.LLVMSetSuccessor)(self.checked_raw(end), n, self.checked_raw_block(to)) }
    }

    /// Creates a block before `yes`. The new block branches to `yes` if the variable is true, else to `no`. `yes` and
    /// `no` must have no phis.
    pub fn branch_on(self, variable: Value<'m>, yes: Block<'m>, no: Block<'m>, name: &str) -> Block<'m> {
        let made = self.block_before(yes, name);
        let build = self.build_at(made);
        build.branch_if(build.load(self.integer_type(1), variable, ""), yes, no);
        made
    }
}
