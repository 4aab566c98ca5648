//! The instructions of a module, indexed by the ids that they define, name and decorate.

use super::grammar::{self, text};
use crate::error::{Error, Result};
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// One instruction.
#[derive(Clone, Copy)]
pub(super) struct Instruction<'a> {
    /// The index of the instruction in the module.
    pub(super) index: usize,
    /// The opcode as a number.
    pub(super) opcode: u32,
    /// The opcode, if the grammar knows it.
    pub(super) op: Option<Op>,
    /// All words, beginning with the opcode's word.
    pub(super) words: &'a [u32],
}

impl Instruction<'_> {
    /// Word `at`, or 0 (never a valid id) if the instruction is shorter.
    pub(super) fn word(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }
    /// True if the opcode is `op`.
    pub(super) fn is(&self, op: Op) -> bool {
        self.op == Some(op)
    }
    /// The id that the instruction defines.
    pub(super) fn result(&self) -> Option<u32> {
        let info = grammar::opcode_info(self.opcode)?;
        info.has_result.then(|| self.word(1 + usize::from(info.has_type)))
    }
    /// Calls `each` with the position and value of every id that the instruction uses; see [`grammar::for_each_id`].
    pub(super) fn for_each_id(&self, each: impl FnMut(usize, u32)) {
        grammar::for_each_id(self.opcode, self.words, each);
    }
}

/// The words of an instruction in the module.
#[derive(Clone, Copy)]
pub(super) struct WordSpan {
    /// The index of the first word.
    pub(super) start: u32,
    /// Number of words.
    pub(super) len: u16,
}

/// A function: its id and its instructions, `OpFunction` and `OpFunctionEnd` included.
#[derive(Debug, Clone)]
pub(super) struct Function {
    /// Result id.
    pub(super) id: u32,
    /// The indices of the instructions.
    pub(super) insts: Range<usize>,
    /// False for a declaration, which has to be linked.
    pub(super) has_body: bool,
}

/// A decoration: `words` are the decoration and its literals.
#[derive(Clone)]
struct DecorationRecord {
    member: Option<u32>,
    words: Range<usize>,
    index: usize,
}

/// Decorations by the id they decorate.
type Decorations = HashMap<u32, Vec<DecorationRecord>>;

fn decorate(
    all: &mut Decorations,
    id: u32,
    more: impl IntoIterator<Item = DecorationRecord, IntoIter: ExactSizeIterator>,
) -> Result<()> {
    let more = more.into_iter();
    all.make_room(1)?;
    let of_id = all.entry(id).or_default();
    of_id.make_room(more.len())?;
    of_id.extend(more);
    Ok(())
}

/// A module's words, with indexes of their instructions.
pub(super) struct ParsedModule {
    words: Vec<u32>,
    spans: Vec<WordSpan>,
    defs: HashMap<u32, usize>,
    names: HashMap<u32, usize>,
    member_names: HashMap<(u32, u32), usize>,
    decorated: HashMap<(u32, Option<u32>, u32), Range<usize>>,
    decorations: Decorations,
    functions: Vec<Function>,
    function_by_id: HashMap<u32, usize>,
    non_semantic: HashSet<u32>,
}

/// A limit on the number of decorations that group decorations expand to. Compilers emit no group decorations, so only hostile
/// modules reach it.
const MAX_EXPANDED: usize = 1 << 20;

impl ParsedModule {
    /// Indexes instructions whose word counts [`super::parse`] has checked.
    pub(super) fn new(words: Vec<u32>, spans: Vec<WordSpan>, functions: Vec<Function>) -> Result<Self> {
        let mut function_by_id = HashMap::new();
        function_by_id.make_room(functions.len())?;
        function_by_id.extend(functions.iter().enumerate().map(|(at, f)| (f.id, at)));
        let mut code = Self {
            words,
            spans,
            defs: HashMap::new(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorated: HashMap::new(),
            decorations: HashMap::new(),
            functions,
            function_by_id,
            non_semantic: HashSet::new(),
        };
        code.index_definitions()?;
        code.index_decorations()?;
        Ok(code)
    }

    fn index_definitions(&mut self) -> Result<()> {
        let (mut defs, mut names, mut member_names) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut non_semantic = HashSet::new();
        for inst in self.insts() {
            if let Some(id) = inst.result() {
                if id == 0 || id >= self.bound() {
                    return Err(Error::invalid(format!(
                        "the SPIR-V module is damaged: instruction {} ({}) defines id {id}, but the header allows 1 to \
                         {}; build the module again and check it with spirv-val",
                        inst.index,
                        grammar::op_name(inst.opcode),
                        self.bound().saturating_sub(1),
                    )));
                }
                defs.make_room(1)?;
                if defs.insert(id, inst.index).is_some() {
                    return Err(Error::invalid(format!(
                        "the SPIR-V module is damaged: id {id} is defined twice, the second time by instruction {} \
                         ({}); build the module again and check it with spirv-val",
                        inst.index,
                        grammar::op_name(inst.opcode),
                    )));
                }
            }
            match inst.op {
                Some(Op::Name) => {
                    names.make_room(1)?;
                    names.insert(inst.word(1), inst.index);
                }
                Some(Op::ExtInstImport) => {
                    let set = text(&inst.words[2..]).unwrap_or_default();
                    if set.starts_with("NonSemantic.") || set.contains("DebugInfo") {
                        non_semantic.insert(inst.word(1));
                    }
                }
                Some(Op::MemberName) => {
                    member_names.make_room(1)?;
                    member_names.insert((inst.word(1), inst.word(2)), inst.index);
                }
                _ => {}
            }
        }
        (self.defs, self.names, self.member_names, self.non_semantic) = (defs, names, member_names, non_semantic);
        Ok(())
    }

    fn index_decorations(&mut self) -> Result<()> {
        let mut all = Decorations::new();
        let mut expanded = 0;
        for inst in self.insts() {
            let start = self.spans[inst.index].start as usize;
            let end = start + inst.words.len();
            let deco = |member, from: usize| DecorationRecord {
                member,
                words: (start + from).min(end)..end,
                index: inst.index,
            };
            match inst.op {
                Some(Op::Decorate | Op::DecorateId | Op::DecorateString) => {
                    decorate(&mut all, inst.word(1), [deco(None, 2)])?;
                }
                Some(Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT) => {
                    decorate(&mut all, inst.word(1), [deco(Some(inst.word(2)), 3)])?;
                }
                // A group without targets is not copied, however large it is.
                Some(Op::GroupDecorate | Op::GroupMemberDecorate) if inst.words.len() > 2 => {
                    // The decorations of a group precede its use. Decorations of the group's members do not apply.
                    let group = all.get(&inst.word(1)).into_iter().flatten().filter(|d| d.member.is_none());
                    let group: Vec<_> = group.cloned().collect();
                    let pairs = inst.is(Op::GroupMemberDecorate);
                    for target in inst.words[2..].chunks(if pairs { 2 } else { 1 }) {
                        expanded += group.len();
                        if expanded > MAX_EXPANDED {
                            return Err(Error::invalid(
                                "the SPIR-V module has more than a million group decorations, which no compiler \
                                 writes; rebuild it, or run spirv-opt --flatten-decorations",
                            ));
                        }
                        let member = if pairs { target.get(1).copied() } else { None };
                        let each = group.iter().map(|d| DecorationRecord { member, ..d.clone() });
                        decorate(&mut all, target[0], each)?;
                    }
                }
                _ => {}
            }
        }
        for (&id, decos) in &all {
            for d in decos {
                if let Some(&kind) = self.words[d.words.clone()].first() {
                    self.decorated.make_room(1)?;
                    self.decorated.entry((id, d.member, kind)).or_insert(d.words.start + 1..d.words.end);
                }
            }
        }
        self.decorations = all;
        Ok(())
    }

    /// The words in host byte order.
    pub(super) fn words(&self) -> &[u32] {
        &self.words
    }
    /// The major and minor version.
    pub(super) fn version(&self) -> (u8, u8) {
        let [_, minor, major, _] = self.words[1].to_le_bytes();
        (major, minor)
    }
    /// The id bound of the header: all ids are less.
    pub(super) fn bound(&self) -> u32 {
        self.words[3]
    }
    /// Instruction `index`.
    pub(super) fn inst(&self, index: usize) -> Instruction<'_> {
        let span = self.spans[index];
        let words = &self.words[span.start as usize..][..span.len as usize];
        let opcode = words[0] & 0xffff;
        Instruction { index, opcode, op: Op::from_u32(opcode), words }
    }
    /// The index of an instruction's first word.
    pub(super) fn start(&self, inst: Instruction<'_>) -> usize {
        self.spans[inst.index].start as usize
    }
    /// All instructions.
    pub(super) fn insts(&self) -> impl Iterator<Item = Instruction<'_>> {
        (0..self.spans.len()).map(|index| self.inst(index))
    }
    /// The instructions before the first function.
    pub(super) fn globals(&self) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        (0..self.functions_start()).map(|index| self.inst(index))
    }
    /// The index of the first function's first instruction; the number of instructions if there is no function.
    pub(super) fn functions_start(&self) -> usize {
        self.functions.first().map_or(self.spans.len(), |f| f.insts.start)
    }
    /// The index of the first instruction after the preamble, where types begin; the number of instructions if there is none.
    pub(super) fn types_start(&self) -> usize {
        self.insts().position(|inst| !grammar::is_preamble(inst.op)).unwrap_or(self.spans.len())
    }
    /// The instruction that defines `id`.
    pub(super) fn def(&self, id: u32) -> Option<Instruction<'_>> {
        self.defs.get(&id).map(|&index| self.inst(index))
    }
    /// The instruction that defines `id`, if it is `op`.
    pub(super) fn def_of(&self, id: u32, op: Op) -> Option<Instruction<'_>> {
        self.def(id).filter(|inst| inst.is(op))
    }
    /// All functions.
    pub(super) fn functions(&self) -> &[Function] {
        &self.functions
    }
    /// The position of function `id` in [`Self::functions`].
    pub(super) fn function(&self, id: u32) -> Option<usize> {
        self.function_by_id.get(&id).copied()
    }
    /// The instructions of function number `at`.
    pub(super) fn body(&self, at: usize) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        self.functions[at].insts.clone().map(|index| self.inst(index))
    }
    /// Debug name of `id`.
    pub(super) fn name(&self, id: u32) -> Option<String> {
        self.names.get(&id).and_then(|&index| text(&self.inst(index).words[2..]))
    }
    /// Debug name of a struct's member.
    pub(super) fn member_name(&self, id: u32, member: u32) -> Option<String> {
        self.member_names.get(&(id, member)).and_then(|&index| text(&self.inst(index).words[3..]))
    }
    /// The literals of `decoration`, if `id` has it.
    pub(super) fn decoration(&self, id: u32, decoration: Decoration) -> Option<&[u32]> {
        self.decorated.get(&(id, None, decoration as u32)).map(|range| &self.words[range.clone()])
    }
    /// The literals of `decoration`, if the member has it.
    pub(super) fn member_decoration(&self, id: u32, member: u32, decoration: Decoration) -> Option<&[u32]> {
        self.decorated.get(&(id, Some(member), decoration as u32)).map(|range| &self.words[range.clone()])
    }
    /// The first literal of `id`'s `decoration`.
    pub(super) fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.decoration(id, decoration)?.first().copied()
    }
    /// The first literal of a member's `decoration`.
    pub(super) fn member_literal(&self, id: u32, member: u32, decoration: Decoration) -> Option<u32> {
        self.member_decoration(id, member, decoration)?.first().copied()
    }
    /// Every decoration of `id`: the decorated member (if any), the decoration's words, and the opcode of the
    /// decorating instruction.
    pub(super) fn decorations(&self, id: u32) -> impl Iterator<Item = (Option<u32>, &[u32], u32)> {
        let all = self.decorations.get(&id).map_or(&[][..], Vec::as_slice);
        all.iter().map(|d| (d.member, &self.words[d.words.clone()], self.inst(d.index).opcode))
    }
    /// The storage class and pointee of a pointer type.
    pub(super) fn pointer(&self, ty: u32) -> Option<(u32, u32)> {
        self.def_of(ty, Op::TypePointer).map(|inst| (inst.word(2), inst.word(3)))
    }
    /// The storage class and pointee of global variable `id`.
    pub(super) fn variable(&self, id: u32) -> Option<(u32, u32)> {
        let inst = self.def_of(id, Op::Variable)?;
        let (_, pointee) = self.pointer(inst.word(1))?;
        (inst.word(3) != StorageClass::Function as u32).then(|| (inst.word(3), pointee))
    }
    /// The text for `id` in messages, with its debug name, if it has one.
    pub(super) fn show(&self, id: u32) -> String {
        match self.name(id).filter(|name| !name.is_empty()) {
            Some(name) => format!("%{id} \"{name}\""),
            None => format!("%{id}"),
        }
    }
    /// True for instructions without effect on the shader: debug information and calls of non-semantic instruction sets.
    pub(super) fn is_non_semantic(&self, inst: Instruction<'_>) -> bool {
        match inst.op {
            Some(Op::Line | Op::NoLine) => true,
            Some(Op::ExtInst) => self.non_semantic.contains(&inst.word(3)),
            _ => false,
        }
    }
}
