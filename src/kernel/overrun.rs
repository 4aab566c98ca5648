//! The rewrite for drivers that stop loops (llvmpipe): the rewritten kernel reports whether the driver has stopped a loop.
//!
//! llvmpipe counts the iterations of all loops of a subgroup with one counter, which nothing resets. When the counter has run out,
//! each loop ends after its first iteration. So a new entry point calls the old one, and then runs a loop of two iterations. If that
//! loop ends early, the counter has run out, and the kernel reports it in two buffers, one of the launch and one of the device. The
//! number of iterations is read from a buffer too, so that no compiler can fold the loop.
//!
//! llvmpipe also runs a workgroup as vectors, and the last vector may extend beyond the workgroup. Its excess threads
//! store nothing, and their loads in conditional code return 0. If a loop's bound is loaded from memory, these threads
//! may stay in the loop until the counter has run out. So a thread calls the old entry point only if a conditional load
//! returns a value other than 0.

use super::entry_point::EntryPoint;
use super::parsed::{Instruction, ParsedModule};
use super::writer::{InstructionWriter, TypeTable};
use crate::error::Result;
use rspirv::spirv::{Decoration, FunctionControl, LoopControl, Op, SelectionControl, StorageClass};

/// The contents of each buffer before a launch. Word 0 becomes 1 if loops were stopped. Word 1 is the number of iterations of the
/// added loop.
pub const INITIAL_WORDS: [u32; 2] = [0, 2];

/// True if the entry point reaches a loop.
pub(super) fn has_loops(code: &ParsedModule, entry: &EntryPoint) -> bool {
    entry.functions.iter().any(|&at| code.body(at).any(|inst| inst.is(Op::LoopMerge)))
}

struct Rewrite<'a> {
    code: &'a ParsedModule,
    /// The function of the entry point.
    old: u32,
    /// The function that replaces `old`.
    new: u32,
    types: TypeTable<'a>,
    uint: u32,
    boolean: u32,
    word_pointer: u32,
    block: u32,
    block_pointer: u32,
    /// The buffers at bindings 0 and 1.
    buffers: [u32; 2],
    /// The descriptor set of the buffers.
    set: u32,
    zero: u32,
    one: u32,
    has_excess_threads: bool,
    out: InstructionWriter,
}

/// The words of `code` with storage buffers at bindings 0 and 1 of `set`, in which the kernel reports stopped loops.
/// `has_excess_threads`: vectors may extend beyond the workgroup.
pub(super) fn checked(code: &ParsedModule, entry: &EntryPoint, set: u32, has_excess_threads: bool) -> Result<Vec<u32>> {
    let mut types = TypeTable::new(code)?;
    let class = class(code);
    let uint = types.uint();
    let boolean = types.boolean();
    let word_pointer = types.late_pointer(class, uint);
    let mut rewrite = Rewrite {
        code,
        old: entry.function,
        new: types.fresh(),
        uint,
        boolean,
        word_pointer,
        block: types.fresh(),
        block_pointer: types.fresh(),
        buffers: [types.fresh(), types.fresh()],
        set,
        zero: types.uint_constant(0),
        one: types.uint_constant(1),
        has_excess_threads,
        types,
        out: InstructionWriter::default(),
    };
    rewrite.module()?;
    let Rewrite { types, out, .. } = rewrite;
    out.finish(code, types.bound())
}

/// The storage class of storage buffers, which have their own class since SPIR-V 1.3.
fn class(code: &ParsedModule) -> StorageClass {
    if code.version() >= (1, 3) { StorageClass::StorageBuffer } else { StorageClass::Uniform }
}

impl Rewrite<'_> {
    fn module(&mut self) -> Result<()> {
        let code = self.code;
        let (types, functions) = (code.types_start(), code.functions_start());
        for inst in code.insts() {
            if inst.index == types {
                self.decorate()?;
                self.types.emit_early(&mut self.out)?;
            }
            if inst.index == functions {
                self.globals()?;
            }
            match inst.op {
                Some(Op::EntryPoint) if inst.word(2) == self.old => self.entry_point(inst)?,
                Some(op @ (Op::ExecutionMode | Op::ExecutionModeId)) if inst.word(1) == self.old => {
                    self.out.emit(op, &[&[self.new], &inst.words[2..]].concat())?;
                }
                _ if inst.result().is_some_and(|id| self.types.is_early(id)) => {}
                _ => self.out.copy(inst)?,
            }
        }
        self.function()
    }

    fn entry_point(&mut self, inst: Instruction<'_>) -> Result<()> {
        let mut words = [&[inst.word(1), self.new], &inst.words[3..]].concat();
        // Since SPIR-V 1.4 the interface lists variables of every storage class.
        if self.code.version() >= (1, 4) {
            words.extend(self.buffers);
        }
        self.out.emit(Op::EntryPoint, &words)
    }

    fn decorate(&mut self) -> Result<()> {
        let has_storage_class = self.code.version() >= (1, 3);
        let block = if has_storage_class { Decoration::Block } else { Decoration::BufferBlock };
        let (out, offset) = (&mut self.out, Decoration::Offset as u32);
        out.emit(Op::Decorate, &[self.block, block as u32])?;
        out.emit(Op::MemberDecorate, &[self.block, 0, offset, 0])?;
        out.emit(Op::MemberDecorate, &[self.block, 1, offset, 4])?;
        for (binding, buffer) in (0..).zip(self.buffers) {
            out.emit(Op::Decorate, &[buffer, Decoration::DescriptorSet as u32, self.set])?;
            out.emit(Op::Decorate, &[buffer, Decoration::Binding as u32, binding])?;
        }
        Ok(())
    }

    fn globals(&mut self) -> Result<()> {
        self.types.emit_late(&mut self.out)?;
        let class = class(self.code) as u32;
        self.out.emit(Op::TypeStruct, &[self.block, self.uint, self.uint])?;
        self.out.emit(Op::TypePointer, &[self.block_pointer, class, self.block])?;
        self.buffers.iter().try_for_each(|buffer| self.out.emit(Op::Variable, &[self.block_pointer, *buffer, class]))
    }

    /// Writes the call of the old entry point, for threads of the workgroup only. Returns the label of the block that follows.
    fn call(&mut self, void: u32, start: u32) -> Result<u32> {
        if !self.has_excess_threads {
            // Unconditional code has faster loads, and drivers compile it faster.
            let call = self.types.fresh();
            self.out.emit(Op::FunctionCall, &[void, call, self.old])?;
            return Ok(start);
        }
        let Self { uint, boolean, word_pointer, buffers: [first, last], zero, one, .. } = *self;
        let [load, loaded, inside, end] = std::array::from_fn(|_| self.types.fresh());
        let [at, always, is_true, under, word, found, is_inside, call] = std::array::from_fn(|_| self.types.fresh());
        let (out, select) = (&mut self.out, SelectionControl::NONE.bits());
        out.emit(Op::AccessChain, &[word_pointer, at, first, one])?;
        out.emit(Op::Load, &[uint, always, at])?;
        out.emit(Op::INotEqual, &[boolean, is_true, always, zero])?;
        out.emit(Op::SelectionMerge, &[loaded, select])?;
        out.emit(Op::BranchConditional, &[is_true, load, loaded])?;
        out.emit(Op::Label, &[load])?;
        out.emit(Op::AccessChain, &[word_pointer, under, last, one])?;
        out.emit(Op::Load, &[uint, word, under])?;
        out.emit(Op::Branch, &[loaded])?;
        out.emit(Op::Label, &[loaded])?;
        out.emit(Op::Phi, &[uint, found, zero, start, word, load])?;
        out.emit(Op::INotEqual, &[boolean, is_inside, found, zero])?;
        out.emit(Op::SelectionMerge, &[end, select])?;
        out.emit(Op::BranchConditional, &[is_inside, inside, end])?;
        out.emit(Op::Label, &[inside])?;
        out.emit(Op::FunctionCall, &[void, call, self.old])?;
        out.emit(Op::Branch, &[end])?;
        out.emit(Op::Label, &[end])?;
        Ok(end)
    }

    /// Writes the new entry point. It calls the old entry point, and then runs a loop that counts up to the second word of the last
    /// buffer. If the loop ends at a lower count, it sets the first word of both buffers.
    fn function(&mut self) -> Result<()> {
        let Some(old) = self.code.def_of(self.old, Op::Function) else { return Ok(()) };
        let (void, signature) = (old.word(1), old.word(4));
        let [start, header, next, merge, stopped, end] = std::array::from_fn(|_| self.types.fresh());
        let [at, limit, count, more, counted, early] = std::array::from_fn(|_| self.types.fresh());
        let flags = self.buffers.map(|buffer| (buffer, self.types.fresh()));
        let Self { uint, boolean, word_pointer, buffers: [_, last], zero, one, .. } = *self;
        self.out.emit(Op::Function, &[void, self.new, FunctionControl::NONE.bits(), signature])?;
        self.out.emit(Op::Label, &[start])?;
        let called = self.call(void, start)?;
        let out = &mut self.out;
        out.emit(Op::AccessChain, &[word_pointer, at, last, one])?;
        out.emit(Op::Load, &[uint, limit, at])?;
        out.emit(Op::Branch, &[header])?;
        out.emit(Op::Label, &[header])?;
        out.emit(Op::Phi, &[uint, count, zero, called, counted, next])?;
        out.emit(Op::ULessThan, &[boolean, more, count, limit])?;
        out.emit(Op::LoopMerge, &[merge, next, LoopControl::NONE.bits()])?;
        out.emit(Op::BranchConditional, &[more, next, merge])?;
        out.emit(Op::Label, &[next])?;
        out.emit(Op::IAdd, &[uint, counted, count, one])?;
        out.emit(Op::Branch, &[header])?;
        out.emit(Op::Label, &[merge])?;
        out.emit(Op::INotEqual, &[boolean, early, count, limit])?;
        out.emit(Op::SelectionMerge, &[end, SelectionControl::NONE.bits()])?;
        out.emit(Op::BranchConditional, &[early, stopped, end])?;
        out.emit(Op::Label, &[stopped])?;
        for (buffer, flag) in flags {
            out.emit(Op::AccessChain, &[word_pointer, flag, buffer, zero])?;
            out.emit(Op::Store, &[flag, one])?;
        }
        out.emit(Op::Branch, &[end])?;
        out.emit(Op::Label, &[end])?;
        out.emit(Op::Return, &[])?;
        out.emit(Op::FunctionEnd, &[])
    }
}
