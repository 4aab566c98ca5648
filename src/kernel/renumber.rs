//! The rewrite that makes descriptor set and binding numbers dense, because drivers allocate memory in proportion to the highest
//! number. Only decorations change. The program still uses its own numbers.

use super::interface::Binding;
use super::parsed::{Instruction, ParsedModule};
use super::writer::InstructionWriter;
use crate::error::Result;
use rspirv::spirv::{Decoration, Op};

/// The words of `code` with the sets and bindings renumbered by [`dense`]. `bindings` is sorted.
pub(super) fn renumber(code: &ParsedModule, bindings: &[Binding]) -> Result<Vec<u32>> {
    let numbers: Vec<(u32, u32)> = dense(bindings.iter().map(|b| (b.set, b.binding))).collect();
    let mut out = InstructionWriter::default();
    let types = code.types_start();
    for inst in code.insts() {
        if inst.index == types {
            decorate(code, bindings, &numbers, &mut out)?;
        }
        if !is_number(inst) {
            out.copy(inst)?;
        }
    }
    out.finish(code, code.bound())
}

/// New numbers for sorted pairs of set and binding: sets are numbered from 0, and bindings in each set from 0.
pub fn dense(pairs: impl Iterator<Item = (u32, u32)>) -> impl Iterator<Item = (u32, u32)> {
    pairs.scan(None, |last: &mut Option<(u32, (u32, u32))>, (old, _)| {
        let next = match *last {
            None => (0, 0),
            Some((before, (set, binding))) if before == old => (set, binding + 1),
            Some((_, (set, _))) => (set + 1, 0),
        };
        *last = Some((old, next));
        Some(next)
    })
}

/// Writes the new numbers, also for variables that get their numbers from a decoration group. Variables that the entry point does
/// not use get set 0 and binding 0.
fn decorate(
    code: &ParsedModule,
    bindings: &[Binding],
    numbers: &[(u32, u32)],
    out: &mut InstructionWriter,
) -> Result<()> {
    for id in code.globals().filter(|inst| inst.is(Op::Variable)).filter_map(|inst| inst.result()) {
        let old = (code.literal(id, Decoration::DescriptorSet), code.literal(id, Decoration::Binding));
        let (Some(set), Some(binding)) = old else { continue };
        let at = bindings.binary_search_by_key(&(set, binding), |b| (b.set, b.binding));
        let (set, binding) = at.ok().and_then(|at| numbers.get(at)).copied().unwrap_or_default();
        out.emit(Op::Decorate, &[id, Decoration::DescriptorSet as u32, set])?;
        out.emit(Op::Decorate, &[id, Decoration::Binding as u32, binding])?;
    }
    Ok(())
}

/// True if `inst` decorates a variable or a decoration group with a set or binding number.
fn is_number(inst: Instruction<'_>) -> bool {
    let numbers = [Decoration::DescriptorSet as u32, Decoration::Binding as u32];
    inst.is(Op::Decorate) && numbers.contains(&inst.word(2))
}
