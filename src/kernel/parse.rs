//! Parses a module from untrusted bytes: magic number, version, id bound, word counts, functions.

use super::grammar;
use super::parsed::{Function, ParsedModule, WordSpan};
use crate::error::{Error, Result};
use crate::grow::Grow;
use rspirv::spirv::{AddressingModel, Capability, MAGIC_NUMBER, MemoryModel, Op};
use std::collections::HashSet;

pub(super) const HEADER_WORDS: usize = 5;
/// The SPIR-V specification's universal limit on ids.
pub(super) const MAX_BOUND: u32 = 0x3f_ffff;
const NEWEST_MINOR: u8 = 6;
/// A limit that no compiled module reaches, and that keeps word positions within 32 bits.
const MAX_BYTES: usize = 1 << 30;

/// Parses a module. Checks that every instruction lies inside the module and has at least the words that its opcode needs.
pub(super) fn parse(bytes: &[u8]) -> Result<ParsedModule> {
    parse_words(to_words(bytes)?)
}

/// As [`parse`], for words in the host's byte order that begin with a header.
pub(super) fn parse_words(words: Vec<u32>) -> Result<ParsedModule> {
    check_header(&words)?;
    let (spans, functions) = split_instructions(&words)?;
    ParsedModule::new(words, spans, functions)
}

fn to_words(bytes: &[u8]) -> Result<Vec<u32>> {
    let len = bytes.len();
    if len == 0 {
        return Err(Error::invalid("the SPIR-V module is empty (0 bytes); pass the content of a .spv file"));
    }
    if len > MAX_BYTES {
        return Err(Error::invalid(format!(
            "the SPIR-V module has {len} bytes, but revamp accepts at most {MAX_BYTES}; pass the size of the .spv file \
             in bytes"
        )));
    }
    if len % 4 != 0 {
        return Err(Error::invalid(format!(
            "the SPIR-V module has {len} bytes, which is not a multiple of 4; pass the whole .spv file, and its size in \
             bytes, not in words"
        )));
    }
    if len < HEADER_WORDS * 4 {
        return Err(Error::invalid(format!(
            "the SPIR-V module has {len} bytes, but a header alone has 20 bytes; pass the whole .spv file, and its \
             size in bytes, not in words"
        )));
    }
    let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
    let word: fn([u8; 4]) -> u32 = if magic == MAGIC_NUMBER.to_le_bytes() {
        u32::from_le_bytes
    } else if magic == MAGIC_NUMBER.to_be_bytes() {
        u32::from_be_bytes
    } else {
        return Err(Error::invalid(format!(
            "the data are not a SPIR-V module: they start with {:#010x}, expected {MAGIC_NUMBER:#010x}; pass the \
             binary that glslc, dxc, slangc or revamp-kernelc writes, not source text or LLVM bitcode",
            u32::from_le_bytes(magic)
        )));
    };
    let mut words = Vec::new();
    words.make_room(len / 4)?;
    words.extend(bytes.chunks_exact(4).map(|b| word([b[0], b[1], b[2], b[3]])));
    Ok(words)
}

fn check_header(words: &[u32]) -> Result<()> {
    let [low, minor, major, high] = words[1].to_le_bytes();
    if low != 0 || high != 0 || major != 1 || minor > NEWEST_MINOR {
        return Err(Error::unsupported(format!(
            "the SPIR-V module has version {major}.{minor} (word {:#010x}), expected 1.0 to 1.{NEWEST_MINOR}; compile \
             the module for an older target, such as --target-env=vulkan1.2",
            words[1]
        )));
    }
    let bound = words[3];
    if bound == 0 || bound > MAX_BOUND {
        return Err(Error::invalid(format!(
            "the SPIR-V module's id bound is {bound}, expected 1 to {MAX_BOUND}; the module is damaged: build the \
             module again, or run spirv-opt --compact-ids"
        )));
    }
    Ok(())
}

fn damaged(what: String) -> Error {
    Error::invalid(format!(
        "the SPIR-V module is damaged: {what}; pass the whole .spv file, and check it with spirv-val"
    ))
}

/// Finds where instructions and functions begin and end.
fn split_instructions(words: &[u32]) -> Result<(Vec<WordSpan>, Vec<Function>)> {
    let mut spans = Vec::new();
    let mut functions: Vec<Function> = Vec::new();
    let mut open: Option<(u32, usize, bool)> = None;
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (len, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let index = spans.len();
        let what = || format!("instruction {index} ({}) at byte {}", grammar::op_name(opcode), at * 4);
        let left = words.len() - at;
        if len == 0 || len > left {
            return Err(damaged(format!("{} claims {len} words, but 1 to {left} are possible", what())));
        }
        if let Some(shape) = grammar::opcode_info(opcode).filter(|shape| len < usize::from(shape.min_words)) {
            return Err(damaged(format!("{} has {len} words, expected at least {}", what(), shape.min_words)));
        }
        let start = u32::try_from(at).map_err(|_| damaged(format!("it has {} words", words.len())))?;
        spans.make_room(1)?;
        spans.push(WordSpan { start, len: len as u16 });
        match Op::from_u32(opcode) {
            Some(Op::Function) if open.is_some() => return Err(damaged(format!("{} is inside a function", what()))),
            Some(Op::Function) => open = Some((words[at + 2], index, false)),
            Some(Op::Label) => match &mut open {
                Some((_, _, has_body)) => *has_body = true,
                None => return Err(damaged(format!("{} is outside a function", what()))),
            },
            Some(Op::FunctionEnd) => match open.take() {
                Some((id, first, has_body)) => {
                    functions.make_room(1)?;
                    functions.push(Function { id, insts: first..index + 1, has_body });
                }
                None => return Err(damaged(format!("{} is outside a function", what()))),
            },
            _ => {}
        }
        at += len;
    }
    match open {
        Some((id, ..)) => Err(damaged(format!("function %{id} has no end: the module is cut off"))),
        None => Ok((spans, functions)),
    }
}

/// Refuses modules that are not for Vulkan. Returns capabilities and extensions.
pub(super) fn check_environment(code: &ParsedModule) -> Result<(Vec<Capability>, Vec<String>)> {
    let (mut capabilities, mut extensions, mut known) = (Vec::new(), Vec::new(), HashSet::new());
    let mut memory_model = None;
    for inst in code.globals() {
        match inst.op {
            Some(Op::Capability) => match Capability::from_u32(inst.word(1)) {
                Some(capability) if capabilities.contains(&capability) => {}
                Some(capability) => capabilities.push(capability),
                None => {
                    return Err(Error::unsupported(format!(
                        "the SPIR-V module needs capability number {}, which this version of revamp does not know; \
                         compile without the extension that adds the capability, or update revamp",
                        inst.word(1)
                    )));
                }
            },
            Some(Op::Extension) => {
                known.make_room(1)?;
                if known.insert(&inst.words[1..]) {
                    extensions.make_room(1)?;
                    extensions.push(grammar::text(&inst.words[1..]).unwrap_or_default());
                }
            }
            Some(Op::MemoryModel) => memory_model = memory_model.or(Some((inst.word(1), inst.word(2)))),
            _ => {}
        }
    }
    if capabilities.contains(&Capability::Kernel) {
        return Err(Error::unsupported(
            "the SPIR-V module has capability Kernel (it was compiled for OpenCL), but Vulkan devices accept only \
             modules with capability Shader; compile OpenCL C with clspv, and C++ with revamp-kernelc",
        ));
    }
    let Some((addressing, memory)) = memory_model else {
        return Err(damaged("it has no OpMemoryModel".into()));
    };
    let fits = [AddressingModel::Logical, AddressingModel::PhysicalStorageBuffer64];
    if !fits.iter().any(|&model| model as u32 == addressing) {
        let found = AddressingModel::from_u32(addressing).map_or(addressing.to_string(), |model| format!("{model:?}"));
        return Err(Error::unsupported(format!(
            "the SPIR-V module has addressing model {found}, expected Logical or PhysicalStorageBuffer64; compile the \
             module for Vulkan (glslc --target-env=vulkan1.2, clspv, revamp-kernelc)"
        )));
    }
    if memory == MemoryModel::OpenCL as u32 {
        return Err(Error::unsupported(
            "the SPIR-V module has memory model OpenCL, expected GLSL450 or Vulkan; compile OpenCL C with clspv",
        ));
    }
    Ok((capabilities, extensions))
}
