//! Writes rewritten modules: instructions, and the types and ids that a rewrite adds.

use super::parse::{HEADER_WORDS, MAX_BOUND};
use super::parsed::{Instruction, ParsedModule};
use crate::error::{Error, Result};
use crate::grow::Grow;
use rspirv::spirv::{Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// The instructions written so far.
#[derive(Default)]
pub(super) struct InstructionWriter(Vec<u32>);

impl InstructionWriter {
    /// Adds instruction `op` with these operand words.
    pub(super) fn emit(&mut self, op: Op, words: &[u32]) -> Result<()> {
        let Ok(len) = u16::try_from(words.len() + 1) else {
            return Err(Error::unsupported(format!(
                "the rewritten kernel needs an Op{op:?} instruction of {} words, but SPIR-V allows 65535; use fewer \
                 variables in the kernel",
                words.len() + 1
            )));
        };
        self.0.make_room(words.len() + 1)?;
        self.0.push(u32::from(len) << 16 | op as u32);
        self.0.extend_from_slice(words);
        Ok(())
    }
    /// Adds `inst` unchanged.
    pub(super) fn copy(&mut self, inst: Instruction<'_>) -> Result<()> {
        self.0.make_room(inst.words.len())?;
        self.0.extend_from_slice(inst.words);
        Ok(())
    }
    /// Adds `inst` with result type `ty`.
    pub(super) fn copy_with_type(&mut self, inst: Instruction<'_>, ty: u32) -> Result<()> {
        self.0.make_room(inst.words.len())?;
        self.0.push(inst.words[0]);
        self.0.push(ty);
        self.0.extend_from_slice(&inst.words[2..]);
        Ok(())
    }
    /// Returns the module: the header of `code` with the id bound `bound`, and the written instructions.
    pub(super) fn finish(self, code: &ParsedModule, bound: u32) -> Result<Vec<u32>> {
        if bound > MAX_BOUND {
            return Err(Error::unsupported(
                "the SPIR-V module uses all ids that SPIR-V allows, so it cannot be rewritten; run spirv-opt --compact-ids",
            ));
        }
        let header = code.words();
        let mut words = self.0;
        words.make_room(HEADER_WORDS)?;
        words.splice(..0, [header[0], header[1], header[2], bound, header[4]]);
        Ok(words)
    }
}

/// The types that a rewrite uses: the types of the module, and new ones.
///
/// A type must not be declared twice. Its declaration in the module may follow a new instruction that uses it. So some types move
/// before all other types (*early*): the types of built-ins, which consist of integers only, and the pointers to these types.
pub(super) struct TypeTable<'a> {
    code: &'a ParsedModule,
    next: u32,
    ints: HashMap<(u32, u32), u32>,
    vectors: HashMap<(u32, u32), u32>,
    pointers: HashMap<(u32, u32), u32>,
    early: Vec<(Op, Vec<u32>)>,
    early_ids: HashSet<u32>,
    late: Vec<(Op, Vec<u32>)>,
    constants: HashMap<u32, u32>,
    boolean: Option<u32>,
}

impl<'a> TypeTable<'a> {
    /// The types of `code`.
    pub(super) fn new(code: &'a ParsedModule) -> Result<Self> {
        let (mut ints, mut vectors, mut pointers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut boolean = None;
        for inst in code.globals() {
            let map = match inst.op {
                Some(Op::TypeBool) => {
                    boolean = inst.result();
                    continue;
                }
                Some(Op::TypeInt) => &mut ints,
                Some(Op::TypeVector) => &mut vectors,
                Some(Op::TypePointer) => &mut pointers,
                _ => continue,
            };
            map.make_room(1)?;
            map.entry((inst.word(2), inst.word(3))).or_insert(inst.word(1));
        }
        Ok(Self {
            code,
            next: code.bound(),
            ints,
            vectors,
            pointers,
            early: Vec::new(),
            early_ids: HashSet::new(),
            late: Vec::new(),
            constants: HashMap::new(),
            boolean,
        })
    }
    /// A new id.
    pub(super) fn fresh(&mut self) -> u32 {
        let id = self.next;
        // `InstructionWriter::finish` refuses a bound beyond the limit.
        self.next = self.next.saturating_add(1);
        id
    }
    /// One more than the largest id.
    pub(super) fn bound(&self) -> u32 {
        self.next
    }
    /// True if `ty` is `int` or `uint`.
    pub(super) fn is_int32(&self, ty: u32) -> bool {
        self.code.def_of(ty, Op::TypeInt).is_some_and(|inst| inst.word(2) == 32)
    }
    /// Moves an existing integer or vector type before all other types.
    pub(super) fn hoist(&mut self, id: u32) {
        if let Some(inst) = self.code.def(id).filter(|_| !self.early_ids.contains(&id)) {
            if let Some(op) = inst.op {
                self.add_early(op, inst.words[1..].to_vec());
            }
        }
    }
    fn add_early(&mut self, op: Op, words: Vec<u32>) {
        if let Some(&id) = words.first().filter(|id| !self.early_ids.contains(id)) {
            self.early_ids.insert(id);
            self.early.push((op, words));
        }
    }
    /// The type `uint`.
    pub(super) fn uint(&mut self) -> u32 {
        let id = match self.ints.get(&(32, 0)) {
            Some(&id) => id,
            None => self.fresh(),
        };
        self.ints.insert((32, 0), id);
        self.add_early(Op::TypeInt, vec![id, 32, 0]);
        id
    }
    fn uvec(&mut self, len: u32) -> u32 {
        let uint = self.uint();
        let id = match self.vectors.get(&(uint, len)) {
            Some(&id) => id,
            None => self.fresh(),
        };
        self.vectors.insert((uint, len), id);
        self.add_early(Op::TypeVector, vec![id, uint, len]);
        id
    }
    /// The type `uvec3`.
    pub(super) fn uvec3(&mut self) -> u32 {
        self.uvec(3)
    }
    /// The type `uvec4`.
    pub(super) fn uvec4(&mut self) -> u32 {
        self.uvec(4)
    }
    /// A type for pointers to an early type.
    pub(super) fn early_pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        let id = match self.pointers.get(&(class as u32, to)) {
            Some(&id) => id,
            None => self.fresh(),
        };
        self.pointers.insert((class as u32, to), id);
        self.add_early(Op::TypePointer, vec![id, class as u32, to]);
        id
    }
    /// A type for pointers to any type. It is declared last, so only functions can use it.
    pub(super) fn late_pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        if let Some(&id) = self.pointers.get(&(class as u32, to)) {
            return id;
        }
        let id = self.fresh();
        self.pointers.insert((class as u32, to), id);
        self.late.push((Op::TypePointer, vec![id, class as u32, to]));
        id
    }
    /// The type `bool`. A new one is declared last, so only functions can use it.
    pub(super) fn boolean(&mut self) -> u32 {
        match self.boolean {
            Some(id) => id,
            None => {
                let id = self.fresh();
                self.boolean = Some(id);
                self.late.push((Op::TypeBool, vec![id]));
                id
            }
        }
    }
    /// A `uint` constant. It is declared last, so only functions can use it.
    pub(super) fn uint_constant(&mut self, value: u32) -> u32 {
        if let Some(&id) = self.constants.get(&value) {
            return id;
        }
        let (uint, id) = (self.uint(), self.fresh());
        self.constants.insert(value, id);
        self.late.push((Op::Constant, vec![uint, id, value]));
        id
    }
    /// True if `id` is an early type.
    pub(super) fn is_early(&self, id: u32) -> bool {
        self.early_ids.contains(&id)
    }
    /// Writes the early types.
    pub(super) fn emit_early(&self, out: &mut InstructionWriter) -> Result<()> {
        self.early.iter().try_for_each(|(op, words)| out.emit(*op, words))
    }
    /// Writes the types and constants that only functions use.
    pub(super) fn emit_late(&self, out: &mut InstructionWriter) -> Result<()> {
        self.late.iter().try_for_each(|(op, words)| out.emit(*op, words))
    }
}
