//! Finds the pairs of separate images and samplers that a kernel combines. Texel fetches do not count, because they use no sampler.

use super::entry_point::EntryPoint;
use super::interface::SampledPair;
use super::parsed::{Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op};
use std::collections::HashMap;

/// The distinct pairs in the functions that `entry` reaches. The result may be incomplete: for a parameter of a function, the analysis
/// knows the descriptor of only one call, and it does not follow all instructions.
pub(super) fn pairs(code: &ParsedModule, entry: &EntryPoint) -> Result<Vec<SampledPair>> {
    let all = || entry.functions.iter().flat_map(|&at| code.body(at));
    let mut found: Vec<SampledPair> = Vec::new();
    if !all().any(|inst| inst.is(Op::SampledImage)) {
        return Ok(found);
    }
    // The variable from which each pointer, and each value loaded through a pointer, is derived.
    let mut roots: HashMap<u32, u32> = entry.variables.iter().map(|&id| (id, id)).collect();
    let mut add = |id: u32, from: u32| -> Result<bool> {
        let Some(&root) = roots.get(&from).filter(|_| !roots.contains_key(&id)) else { return Ok(false) };
        roots.make_room(1)?;
        roots.insert(id, root);
        Ok(true)
    };
    let parameters = parameters(code, entry)?;
    // Functions may precede or follow their callers, so one round may not suffice.
    for _ in 0..4 {
        let mut any = false;
        for inst in all() {
            if let (Some(id), true) = (inst.result(), keeps_root(inst)) {
                any |= add(id, inst.word(3))?;
            }
            if inst.is(Op::FunctionCall) {
                let taken = parameters.get(&inst.word(3)).map_or(&[][..], |p| &p[..]);
                for (&parameter, &argument) in taken.iter().zip(inst.words.iter().skip(4)) {
                    any |= add(parameter, argument)?;
                }
            }
        }
        if !any {
            break;
        }
    }
    let descriptor_of = |id: u32| {
        let root = *roots.get(&id)?;
        Some((code.literal(root, Decoration::DescriptorSet)?, code.literal(root, Decoration::Binding)?))
    };
    let mut sampled_images: HashMap<u32, SampledPair> = HashMap::new();
    for inst in all() {
        if let (Some(id), true) = (inst.result(), inst.is(Op::SampledImage)) {
            if let (Some(image), Some(sampler)) = (descriptor_of(inst.word(3)), descriptor_of(inst.word(4))) {
                sampled_images.make_room(1)?;
                sampled_images.insert(id, SampledPair { image, sampler });
            }
        } else if let Some(&pair) = sampled_images.get(&inst.word(3)).filter(|_| !inst.is(Op::Image)) {
            found.make_room(1)?;
            found.push(pair);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The parameters of each function.
fn parameters(code: &ParsedModule, entry: &EntryPoint) -> Result<HashMap<u32, Vec<u32>>> {
    let mut found: HashMap<u32, Vec<u32>> = HashMap::new();
    for &at in &entry.functions {
        let mut function = None;
        for inst in code.body(at) {
            match (inst.op, inst.result()) {
                (Some(Op::Function), id) => function = id,
                (Some(Op::FunctionParameter), Some(id)) => {
                    found.make_room(1)?;
                    let all = found.entry(function.unwrap_or(0)).or_default();
                    all.make_room(1)?;
                    all.push(id);
                }
                (Some(Op::Label), _) => break,
                _ => {}
            }
        }
    }
    Ok(found)
}

/// True for instructions whose result is derived from the same variable as their first operand.
fn keeps_root(inst: Instruction<'_>) -> bool {
    matches!(inst.op, Some(Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::Image))
}
