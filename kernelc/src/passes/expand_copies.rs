//! Replaces `memcpy`, `memmove` and `memset` by loads and stores.
//!
//! - Precondition: none. The pass comes after LLVM's passes, which would merge the accesses into calls again.
//! - Effect: a call whose size is a constant of at most [`MAX_BYTES`] becomes accesses to words. A copy reads all words before it writes
//!   any, because the operands of `memmove` may overlap. Other calls stay, and the lowering refuses them.
//! - Why: devices have no such calls. The loads and stores of a copy are then optimised like all others.

use super::calls;
use crate::llvm::number::{opcode as o, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Type, Value};

/// The size of the largest copy.
pub const MAX_BYTES: u64 = 16 << 10;

/// A call of one of the intrinsics.
#[derive(Clone, Copy)]
struct Call<'m> {
    at: Value<'m>,
    is_copy: bool,
    to: Value<'m>,
    /// The source of a copy, or the byte that `memset` writes.
    from: Value<'m>,
    bytes: u64,
}

/// Returns true if there are such calls.
pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let calls: Vec<Call<'_>> =
            edit.functions().flat_map(|function| function.instructions()).filter_map(Call::of).collect();
        for call in &calls {
            call.expand(edit);
            edit.erase(call.at);
        }
        !calls.is_empty()
    })
}

impl<'m> Call<'m> {
    fn of(at: Value<'m>) -> Option<Self> {
        let callee = if at.form() == Form::Instruction(o::CALL) { at.called()? } else { return None };
        let name = callee.name();
        if !calls::copies_or_sets(&name) {
            return None;
        }
        let is_copy = !name.starts_with("llvm.memset.");
        let (to, from, size) = (at.operand(0)?, at.operand(1)?, at.operand(2)?);
        let bytes = Some(size).filter(|size| size.form() == Form::Other(k::INTEGER))?.zero_extended();
        (bytes <= MAX_BYTES).then_some(Self { at, is_copy, to, from, bytes })
    }

    fn expand(self, edit: Editor<'m>) {
        let build = edit.build_before(self.at);
        let width = [4, 2].into_iter().find(|width| self.bytes % width == 0).unwrap_or(1);
        let word = edit.integer_type(width as u32 * 8);
        let offsets = (0..self.bytes).step_by(width as usize);
        let values: Vec<Value<'m>> = if self.is_copy {
            let load = |offset| {
                let (from, align) = self.address(&build, 1, self.from, offset);
                build.load_aligned(word, from, align, "")
            };
            offsets.clone().map(load).collect()
        } else {
            vec![repeated(&build, self.from, word); (self.bytes / width) as usize]
        };
        for (offset, value) in offsets.zip(values) {
            let (to, align) = self.address(&build, 0, self.to, offset);
            build.store_aligned(value, to, align);
        }
    }

    /// The address `offset` bytes after an argument, and its alignment.
    fn address(self, build: &Builder<'m>, argument: u32, base: Value<'m>, offset: u64) -> (Value<'m>, u32) {
        let align = self.at.argument_alignment(argument).unwrap_or(1);
        let align = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) };
        let at = if offset == 0 { base } else { build.byte_address_inbounds(base, build.edit.i64(offset), "") };
        (at, align as u32)
    }
}

/// A word of which each byte is `byte`.
fn repeated<'m>(build: &Builder<'m>, byte: Value<'m>, word: Type<'m>) -> Value<'m> {
    if word.width() == 8 {
        return byte;
    }
    let ones = build.edit.integer(word, 0x0101_0101 >> (32 - word.width()));
    build.binary(o::MUL, build.cast(o::ZEXT, byte, word, ""), ones, "")
}
