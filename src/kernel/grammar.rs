//! Queries of the SPIR-V grammar: whether an opcode has a type and a result, and which of its words are ids.
//!
//! The tables are rspirv's. Its parser and loader are not used: they panic on hostile input (`OpSpecConstantOp` of a
//! constant, a string that runs past the end), and they refuse valid modules (`OpExecutionModeId`, global debug
//! instructions, `OpSpecConstantOp VectorShuffle`, opcodes newer than the tables).

use rspirv::grammar::{INSTRUCTION_TABLE, LogicalOperand, OperandKind as Kind, OperandQuantifier as Count};
use rspirv::spirv::{MemoryAccess, Op};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The grammar of one opcode.
pub(super) struct OpcodeInfo {
    /// The name of the opcode, without `Op`.
    pub(super) name: &'static str,
    /// True if word 1 is the result type.
    pub(super) has_type: bool,
    /// True if the next word is the result id.
    pub(super) has_result: bool,
    /// The minimum number of words, including the opcode's.
    pub(super) min_words: u16,
    operands: &'static [LogicalOperand],
}

static OPCODES: LazyLock<HashMap<u32, OpcodeInfo>> = LazyLock::new(|| {
    let info = |inst: &'static rspirv::grammar::Instruction<'static>| {
        let has = |kind| inst.operands.iter().any(|o| o.kind == kind);
        let least = |o: &LogicalOperand| match (o.quantifier, o.kind) {
            (Count::One, Kind::PairLiteralIntegerIdRef | Kind::PairIdRefLiteralInteger | Kind::PairIdRefIdRef) => 2,
            (Count::One, _) => 1,
            _ => 0,
        };
        OpcodeInfo {
            name: inst.opname,
            has_type: has(Kind::IdResultType),
            has_result: has(Kind::IdResult),
            min_words: 1 + inst.operands.iter().map(least).sum::<u16>(),
            operands: inst.operands,
        }
    };
    INSTRUCTION_TABLE.iter().map(|inst| (inst.opcode as u32, info(inst))).collect()
});

/// The grammar of `opcode`; `None` if it is newer than the tables.
pub(super) fn opcode_info(opcode: u32) -> Option<&'static OpcodeInfo> {
    OPCODES.get(&opcode)
}

/// `Op` and the name, or `instruction` and the number if the opcode is unknown.
pub(super) fn op_name(opcode: u32) -> String {
    match opcode_info(opcode) {
        Some(info) => format!("Op{}", info.name),
        None => format!("instruction {opcode}"),
    }
}

/// Calls `each` with the position and value of every id that an instruction uses, except its type and result.
///
/// Words of unknown meaning count as ids, so callers must tolerate literals among the ids.
pub(super) fn for_each_id(opcode: u32, words: &[u32], mut each: impl FnMut(usize, u32)) {
    let mut at = 1;
    let Some(info) = opcode_info(opcode) else {
        words.iter().enumerate().skip(1).for_each(|(at, &word)| each(at, word));
        return;
    };
    // The index of an operand in the grammar. The last operand repeats if its quantifier is `ZeroOrMore`.
    let mut operand = 0;
    while at < words.len() {
        let Some(logical) = info.operands.get(operand) else { return };
        match logical.kind {
            Kind::IdRef | Kind::IdScope | Kind::IdMemorySemantics => {
                each(at, words[at]);
                at += 1;
            }
            Kind::PairIdRefLiteralInteger => {
                each(at, words[at]);
                at += 2;
            }
            Kind::PairIdRefIdRef => {
                each(at, words[at]);
                if let Some(&second) = words.get(at + 1) {
                    each(at + 1, second);
                }
                at += 2;
            }
            Kind::LiteralString => at += string_words(&words[at..]),
            Kind::MemoryAccess => {
                // Each of these flags is followed by one word: an alignment, a scope or an alias list, never a variable.
                let with_word = MemoryAccess::ALIGNED
                    | MemoryAccess::MAKE_POINTER_AVAILABLE
                    | MemoryAccess::MAKE_POINTER_VISIBLE
                    | MemoryAccess::ALIAS_SCOPE_INTEL_MASK
                    | MemoryAccess::NO_ALIAS_INTEL_MASK;
                at += 1 + (words[at] & with_word.bits()).count_ones() as usize;
            }
            // A mask. All words after it are ids.
            Kind::ImageOperands | Kind::TensorAddressingOperands | Kind::TensorOperands => {
                for (at, &word) in words.iter().enumerate().skip(at + 1) {
                    each(at, word);
                }
                return;
            }
            // All words up to the end of the instruction are literals or labels.
            Kind::LoopControl
            | Kind::ExecutionMode
            | Kind::Decoration
            | Kind::LiteralContextDependentNumber
            | Kind::LiteralSpecConstantOpInteger
            | Kind::PairLiteralIntegerIdRef => return,
            _ => at += 1,
        }
        if logical.quantifier != Count::ZeroOrMore {
            operand += 1;
        }
    }
}

/// The number of words that the literal string at the start of `words` takes, including its NUL.
pub(super) fn string_words(words: &[u32]) -> usize {
    let ends = |word: &u32| word.to_le_bytes().contains(&0);
    words.iter().position(ends).map_or(words.len(), |last| last + 1)
}

/// The bytes of the literal string at the start of `words`, without its NUL; `None` if it has no NUL.
pub(super) fn string_bytes(words: &[u32]) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = words[..string_words(words)].iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|&b| b == 0)?;
    Some(bytes[..end].to_vec())
}

/// The length at which names are cut, in bytes: messages may repeat one name very often.
const LONGEST_NAME: usize = 512;

/// A literal string for messages, cut if very long, with invalid UTF-8 replaced. `None` if it is empty or has no NUL.
pub(super) fn text(words: &[u32]) -> Option<String> {
    let mut shown: Vec<u8> =
        words.iter().take(LONGEST_NAME / 4).flat_map(|word| word.to_le_bytes()).take_while(|&b| b != 0).collect();
    let is_cut = shown.len() == LONGEST_NAME;
    let has_end = is_cut || shown.len() < words.len() * 4;
    if is_cut {
        shown.extend(b"...");
    }
    (has_end && !shown.is_empty()).then(|| String::from_utf8_lossy(&shown).into_owned())
}

/// True for instructions that precede types, constants and variables.
pub(super) fn is_preamble(op: Option<Op>) -> bool {
    op.is_some_and(|op| {
        op.is_annotation()
            || matches!(
                op,
                Op::Capability
                    | Op::Extension
                    | Op::ExtInstImport
                    | Op::MemoryModel
                    | Op::EntryPoint
                    | Op::ExecutionMode
                    | Op::ExecutionModeId
                    | Op::String
                    | Op::SourceExtension
                    | Op::Source
                    | Op::SourceContinued
                    | Op::Name
                    | Op::MemberName
                    | Op::ModuleProcessed
            )
    })
}
