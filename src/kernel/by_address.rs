//! The rewrite for drivers that read memory faster through an address than through the descriptor of a uniform buffer. The arguments of a
//! compiled kernel are also at the address of the argument block (`revamp_image::arguments`), which the kernel has as a push constant.
//!
//! RADV loads a descriptor before it reads a uniform buffer. The address of the argument block is in registers when the kernel starts.

use super::entry_point::EntryPoint;
use super::parsed::{Instruction, ParsedModule};
use super::reflect;
use super::writer::InstructionWriter;
use crate::error::Result;
use rspirv::spirv::{Decoration, MemoryAccess, Op, StorageClass};

/// The words of `code` with arguments that are read by address. `None` if the kernel has no uniform arguments, or does not load the address of
/// its argument block first.
pub(super) fn rewrite(code: &ParsedModule, entry: &EntryPoint) -> Result<Option<Vec<u32>>> {
    let Some(rewrite) = Rewrite::of(code, entry) else { return Ok(None) };
    let mut out = InstructionWriter::default();
    for inst in code.insts() {
        rewrite.copy(inst, &mut out)?;
    }
    out.finish(code, rewrite.block + 1).map(Some)
}

struct Rewrite<'a> {
    code: &'a ParsedModule,
    entry: &'a EntryPoint,
    /// The uniform variable.
    variable: u32,
    /// The type of pointers to the variable's contents.
    pointer: u32,
    contents: u32,
    /// The load of the address.
    load: Instruction<'a>,
    /// The new id of the pointer to the argument block.
    block: u32,
}

impl<'a> Rewrite<'a> {
    fn of(code: &'a ParsedModule, entry: &'a EntryPoint) -> Option<Self> {
        let variable = reflect::arguments(code, entry)?;
        let (uniform, push) = (StorageClass::Uniform as u32, StorageClass::PushConstant as u32);
        let in_class = |class: u32| code.globals().filter(move |inst| inst.is(Op::Variable) && inst.word(3) == class);
        let pointer = code.def(variable)?.word(1);
        let (_, contents) = code.pointer(pointer)?;
        let push = in_class(push).next()?.word(2);
        let [function] = code.functions() else { return None };
        let first_block = function.insts.clone().map(|index| code.inst(index)).skip(2);
        let mut first_block = first_block.take_while(|inst| !inst.is(Op::Branch) && !inst.is(Op::BranchConditional));
        let is_chain_of =
            |id: u32, variable: u32| code.def_of(id, Op::AccessChain).is_some_and(|chain| chain.word(3) == variable);
        let load = first_block.find(|inst| inst.is(Op::Load) && is_chain_of(inst.word(3), push))?;
        let is_loaded = |inst: Instruction<'_>| {
            inst.index > load.index && inst.is(Op::AccessChain) || inst.is(Op::EntryPoint) || is_annotation(inst)
        };
        let mut uses = code.insts().filter(|inst| inst.result() != Some(variable) && uses(*inst, variable));
        let is_plain = uses.all(is_loaded) && in_class(uniform).count() == 1;
        is_plain.then_some(Self { code, entry, variable, pointer, contents, load, block: code.bound() })
    }

    fn copy(&self, inst: Instruction<'_>, out: &mut InstructionWriter) -> Result<()> {
        let (uniform, physical) = (StorageClass::Uniform as u32, StorageClass::PhysicalStorageBuffer as u32);
        match inst.op {
            Some(Op::EntryPoint) if inst.index == self.entry.inst => {
                let (head, interface) = inst.words.split_at(self.entry.interface);
                let others = interface.iter().copied().filter(|id| *id != self.variable).collect();
                out.emit(Op::EntryPoint, &[head[1..].to_vec(), others].concat())
            }
            Some(Op::TypePointer) if inst.word(2) == uniform => {
                out.emit(Op::TypePointer, &[inst.word(1), physical, inst.word(3)])
            }
            Some(Op::MemberDecorate) if inst.word(1) == self.contents && inst.word(3) == Decoration::Offset as u32 => {
                out.copy(inst)?;
                out.emit(Op::MemberDecorate, &[self.contents, inst.word(2), Decoration::NonWritable as u32])
            }
            Some(Op::Load) if inst.index == self.load.index => {
                out.copy(inst)?;
                out.emit(Op::ConvertUToPtr, &[self.pointer, self.block, inst.word(2)])
            }
            Some(Op::AccessChain) if inst.word(3) == self.variable => {
                out.emit(Op::AccessChain, &[&[inst.word(1), inst.word(2), self.block], &inst.words[4..]].concat())
            }
            Some(Op::Load) if self.reads_argument(inst) => {
                let aligned = [MemoryAccess::ALIGNED.bits(), size_of::<u32>() as u32];
                out.emit(Op::Load, &[&inst.words[1..4], &aligned].concat())
            }
            _ if inst.result() == Some(self.variable) || is_annotation(inst) && inst.word(1) == self.variable => Ok(()),
            _ => out.copy(inst),
        }
    }

    fn reads_argument(&self, load: Instruction<'_>) -> bool {
        self.code.def_of(load.word(3), Op::AccessChain).is_some_and(|chain| chain.word(3) == self.variable)
    }
}

fn is_annotation(inst: Instruction<'_>) -> bool {
    matches!(inst.op, Some(Op::Name | Op::Decorate))
}

fn uses(inst: Instruction<'_>, id: u32) -> bool {
    let mut found = false;
    inst.for_each_id(|_, used| found |= used == id);
    found
}
