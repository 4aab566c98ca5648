//! The rewrite for domains beyond the device's limit on workgroups per dimension.
//!
//! The runtime dispatches the domain in pieces. It cannot use `vkCmdDispatchBase`, which has the same limit. So WorkgroupId,
//! GlobalInvocationId and NumWorkgroups become Private variables. The entry point sets these variables at its start. It computes
//! them from the real built-ins and from two `uvec4` that are appended to the push constants: `base` (the first workgroup of the
//! piece) and `total` (the number of workgroups of the domain). The rewrite copies all other instructions unchanged.

use super::entry_point::EntryPoint;
use super::grammar;
use super::parsed::{Instruction, ParsedModule};
use super::reflect;
use super::workgroup_size::SizeSource;
use super::writer::{InstructionWriter, TypeTable};
use crate::error::{Error, Result};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// The module rewritten so that its workgroup ids start at a base given in push constants.
#[derive(Debug, Clone)]
pub struct SplitModule {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// The offset of `uvec4 base` in the push constants. `uvec4 total` follows it. The component `w` of both is unused.
    pub offset: u32,
    /// Size of the whole push-constant range.
    pub push_size: u32,
}

/// A built-in variable that becomes a Private variable.
struct RewrittenBuiltIn {
    /// The variable, Private after the rewrite.
    id: u32,
    builtin: BuiltIn,
    /// The new Input variable of the built-in.
    input: u32,
    /// The pointer type of `input`.
    input_pointer: u32,
    /// The type of the two variables: a vector of three integers.
    vector: u32,
    /// The type of a Private pointer to `vector`.
    private_vector: u32,
}

/// The push-constant block with `base` and `total` at its end.
struct PushBlockRewrite {
    variable: u32,
    /// The original struct of the variable, if the module has a block.
    old: Option<u32>,
    block: u32,
    pointer: u32,
    /// The types of the original members, each with a pointer type if the module loads the whole block.
    members: Vec<(u32, Option<u32>)>,
    offset: u32,
    /// Constants with the indices of all members, for access chains; `base` and `total` are the last two.
    indices: Vec<u32>,
}

struct Rewrite<'a> {
    code: &'a ParsedModule,
    entry: &'a EntryPoint,
    types: TypeTable<'a>,
    /// Sorted by id.
    targets: Vec<RewrittenBuiltIn>,
    /// Private pointer types by the type they point to.
    private: HashMap<u32, u32>,
    push: PushBlockRewrite,
    /// The ids of the targets, and of pointers that functions derive from the targets.
    derived: HashSet<u32>,
    /// The number of member loads that replace loads of the whole block.
    member_loads: usize,
    out: InstructionWriter,
}

/// A limit on `member_loads` that no compiled module reaches.
const MAX_MEMBER_LOADS: usize = 1 << 16;

/// See [`SplitModule`]. `push_size`: the size of the push-constant block, if there is one.
pub(super) fn split(
    code: &ParsedModule,
    entry: &EntryPoint,
    size: SizeSource,
    push_size: Option<u32>,
) -> Result<SplitModule> {
    let mut types = TypeTable::new(code)?;
    let mut private = HashMap::new();
    let targets = targets(code, entry, &mut types, &mut private)?;
    let push = push(code, entry, &mut types, push_size)?;
    let derived = targets.iter().map(|target| target.id).collect();
    let offset = push.offset;
    let mut split = Rewrite {
        code,
        entry,
        types,
        targets,
        private,
        push,
        derived,
        member_loads: 0,
        out: InstructionWriter::default(),
    };
    split.module(size)?;
    let Rewrite { types, out, .. } = split;
    Ok(SplitModule { words: out.finish(code, types.bound())?, offset, push_size: offset + 32 })
}

const REWRITTEN: [BuiltIn; 3] = [BuiltIn::WorkgroupId, BuiltIn::GlobalInvocationId, BuiltIn::NumWorkgroups];

fn rewritten(number: Option<u32>) -> Option<BuiltIn> {
    REWRITTEN.into_iter().find(|&builtin| Some(builtin as u32) == number)
}

fn unsupported(code: &ParsedModule, id: u32, why: &str) -> Error {
    Error::unsupported(format!(
        "the domain has more workgroups than the device supports in one dispatch, and the kernel cannot be rewritten \
         for several dispatches: {} {why}, or launch smaller domains",
        code.show(id)
    ))
}

fn targets(
    code: &ParsedModule,
    entry: &EntryPoint,
    types: &mut TypeTable<'_>,
    private: &mut HashMap<u32, u32>,
) -> Result<Vec<RewrittenBuiltIn>> {
    let mut targets = Vec::new();
    for &id in &entry.variables {
        let Some((class, vector)) = code.variable(id) else { continue };
        if class != StorageClass::Input as u32 {
            continue;
        }
        let members = code.def_of(vector, Op::TypeStruct).map_or(0, |inst| inst.words.len() as u32 - 2);
        if (0..members).any(|m| rewritten(code.member_literal(vector, m, Decoration::BuiltIn)).is_some()) {
            return Err(unsupported(code, id, "is a struct of built-ins; use a separate variable for each built-in"));
        }
        let Some(builtin) = rewritten(code.literal(id, Decoration::BuiltIn)) else { continue };
        let part = code.def_of(vector, Op::TypeVector).filter(|inst| inst.word(3) == 3).map(|inst| inst.word(2));
        let Some(part) = part.filter(|&part| types.is_int32(part)) else {
            return Err(unsupported(code, id, "is not a vector of three 32-bit integers; use uvec3"));
        };
        let input_pointer = code.def(id).map_or(0, |inst| inst.word(1));
        types.hoist(part);
        types.hoist(vector);
        let private_vector = types.early_pointer(StorageClass::Private, vector);
        private.extend([(vector, private_vector), (part, types.early_pointer(StorageClass::Private, part))]);
        let input = types.fresh();
        targets.push(RewrittenBuiltIn { id, builtin, input, input_pointer, vector, private_vector });
    }
    Ok(targets)
}

fn push(
    code: &ParsedModule,
    entry: &EntryPoint,
    types: &mut TypeTable<'_>,
    size: Option<u32>,
) -> Result<PushBlockRewrite> {
    let old = reflect::push_variable(code, entry)?;
    let members = old.and_then(|(_, ty)| code.def(ty)).map_or(&[][..], |inst| &inst.words[2..]);
    let Some(offset) = size.unwrap_or(0).checked_next_multiple_of(16).filter(|&offset| offset <= u32::MAX - 32) else {
        return Err(Error::unsupported("the push-constant block is too big to append to; pass big data in a buffer"));
    };
    Ok(PushBlockRewrite {
        variable: old.map_or_else(|| types.fresh(), |(id, _)| id),
        old: old.map(|(_, ty)| ty),
        block: types.fresh(),
        pointer: types.fresh(),
        members: members.iter().map(|&ty| (ty, None)).collect(),
        offset,
        indices: (0..members.len() + 2).map(|_| types.fresh()).collect(),
    })
}

impl Rewrite<'_> {
    fn module(&mut self, size: SizeSource) -> Result<()> {
        let code = self.code;
        let main = code.function(self.entry.function).map_or(0..0, |at| code.functions()[at].insts.clone());
        let start = last_of_preamble(code, main);
        // All new types and constants must be known before the first of them is written.
        let uvec4 = self.types.uvec4();
        let uvec4_pointer = self.types.early_pointer(StorageClass::PushConstant, uvec4);
        let uvec3 = self.types.uvec3();
        if let SizeSource::Literal(size) = size {
            for n in size {
                self.types.uint_constant(n);
            }
        }
        self.prepare_loads();
        let (types, functions) = (code.types_start(), code.functions_start());
        for inst in code.insts() {
            if inst.index == types {
                self.decorate()?;
                self.types.emit_early(&mut self.out)?;
            }
            if inst.index == functions {
                self.late_globals()?;
            }
            if inst.index < functions {
                self.global(inst)?
            } else {
                self.instruction(inst)?
            }
            if inst.index == start {
                self.prologue(size, uvec3, uvec4, uvec4_pointer)?;
            }
        }
        Ok(())
    }

    /// Creates the pointer types for the member loads that replace loads of the whole block.
    fn prepare_loads(&mut self) {
        let (variable, Some(_)) = (self.push.variable, self.push.old) else { return };
        let functions = 0..self.code.functions().len();
        let mut insts = functions.flat_map(|at| self.code.body(at));
        if insts.any(|inst| inst.is(Op::Load) && inst.word(3) == variable) {
            for (ty, pointer) in &mut self.push.members {
                *pointer = Some(self.types.late_pointer(StorageClass::PushConstant, *ty));
            }
        }
    }

    fn target(&self, id: u32) -> Option<&RewrittenBuiltIn> {
        self.targets.binary_search_by_key(&id, |target| target.id).ok().map(|at| &self.targets[at])
    }

    /// Writes the decorations of the new variables and the new block.
    fn decorate(&mut self) -> Result<()> {
        let block = self.push.block;
        for target in &self.targets {
            let words = [target.input, Decoration::BuiltIn as u32, target.builtin as u32];
            self.out.emit(Op::Decorate, &words)?;
        }
        match self.push.old {
            None => self.out.emit(Op::Decorate, &[block, Decoration::Block as u32])?,
            Some(old) => {
                for (member, words, opcode) in self.code.decorations(old) {
                    let string = [Op::DecorateString as u32, Op::MemberDecorateString as u32].contains(&opcode);
                    let id = [Op::DecorateId as u32, Op::MemberDecorateIdEXT as u32].contains(&opcode);
                    let op = match (member, string, id) {
                        (None, true, _) => Op::DecorateString,
                        (None, _, true) => Op::DecorateId,
                        (None, ..) => Op::Decorate,
                        (Some(_), true, _) => Op::MemberDecorateString,
                        (Some(_), _, true) => Op::MemberDecorateIdEXT,
                        (Some(_), ..) => Op::MemberDecorate,
                    };
                    let head: Vec<u32> = [block].into_iter().chain(member).chain(words.iter().copied()).collect();
                    self.out.emit(op, &head)?;
                }
            }
        }
        let first = self.push.members.len() as u32;
        for (member, offset) in [(first, self.push.offset), (first + 1, self.push.offset + 16)] {
            self.out.emit(Op::MemberDecorate, &[block, member, Decoration::Offset as u32, offset])?;
        }
        Ok(())
    }

    /// Rewrites an instruction before the first function.
    fn global(&mut self, inst: Instruction<'_>) -> Result<()> {
        match inst.op {
            Some(Op::EntryPoint) if inst.index == self.entry.inst => return self.entry_point(inst),
            Some(Op::EntryPoint) => return Ok(()),
            Some(Op::ExecutionMode | Op::ExecutionModeId) if inst.word(1) != self.entry.function => return Ok(()),
            Some(Op::Decorate | Op::DecorateId | Op::DecorateString) if self.derived.contains(&inst.word(1)) => {
                return Ok(());
            }
            Some(Op::GroupDecorate) => {
                let keep = |id: &u32| !self.derived.contains(id);
                let words: Vec<u32> = inst.words[1..].iter().copied().filter(keep).collect();
                return self.out.emit(Op::GroupDecorate, &words);
            }
            Some(Op::Variable) => {
                let id = inst.word(2);
                if let Some(target) = self.target(id) {
                    let words = [target.private_vector, id, StorageClass::Private as u32];
                    return self.out.emit(Op::Variable, &words);
                }
                if id == self.push.variable {
                    return self.push_globals();
                }
            }
            _ => {}
        }
        if inst.result().is_some_and(|id| self.types.is_early(id)) {
            return Ok(());
        }
        self.out.copy(inst)
    }

    fn entry_point(&mut self, inst: Instruction<'_>) -> Result<()> {
        let (head, interface) = inst.words.split_at(self.entry.interface.min(inst.words.len()));
        // Since SPIR-V 1.4 the interface lists variables of every storage class. Before 1.4, it lists only Input and Output.
        let lists_all = self.code.version() >= (1, 4);
        let mut listed: Vec<u32> =
            interface.iter().copied().filter(|id| lists_all || !self.derived.contains(id)).collect();
        let mut seen: HashSet<u32> = listed.iter().copied().collect();
        let mut add = |id: u32| {
            if seen.insert(id) {
                listed.push(id);
            }
        };
        self.targets.iter().for_each(|target| add(target.input));
        if lists_all {
            self.targets.iter().for_each(|target| add(target.id));
            add(self.push.variable);
        }
        self.out.emit(Op::EntryPoint, &[&head[1..], &listed].concat())
    }

    /// Writes the extended block and its variable.
    fn push_globals(&mut self) -> Result<()> {
        let PushBlockRewrite { variable, block, pointer, ref members, .. } = self.push;
        let class = StorageClass::PushConstant as u32;
        let uvec4 = self.types.uvec4();
        let types = members.iter().map(|(ty, _)| *ty).chain([uvec4, uvec4]);
        let words: Vec<u32> = [block].into_iter().chain(types).collect();
        self.out.emit(Op::TypeStruct, &words)?;
        self.out.emit(Op::TypePointer, &[pointer, class, block])?;
        self.out.emit(Op::Variable, &[pointer, variable, class])
    }

    /// Writes the new instructions that must follow all other types, constants and variables.
    fn late_globals(&mut self) -> Result<()> {
        if self.push.old.is_none() {
            self.push_globals()?;
        }
        self.types.emit_late(&mut self.out)?;
        let uint = self.types.uint();
        for (number, &id) in self.push.indices.iter().enumerate() {
            self.out.emit(Op::Constant, &[uint, id, number as u32])?;
        }
        for target in &self.targets {
            let words = [target.input_pointer, target.input, StorageClass::Input as u32];
            self.out.emit(Op::Variable, &words)?;
        }
        Ok(())
    }

    /// Rewrites an instruction of a function.
    fn instruction(&mut self, inst: Instruction<'_>) -> Result<()> {
        if self.code.is_non_semantic(inst) {
            return self.out.copy(inst);
        }
        let is_chain = matches!(inst.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
        // The position of the pointer operand, for instructions that stay valid when the pointer's storage class changes.
        let base = match inst.op {
            _ if is_chain => Some(3),
            Some(Op::Load | Op::CopyObject) => Some(3),
            Some(Op::CopyMemory) => Some(2),
            _ => None,
        };
        let mut fault = None;
        inst.for_each_id(|at, id| {
            if self.derived.contains(&id) && Some(at) != base {
                fault = Some(id);
            }
            // The only use of the whole block that can be rewritten is a load.
            let taken = (is_chain && inst.words.len() > 4) || inst.is(Op::Load);
            if Some(id) == self.push.old.map(|_| self.push.variable) && !(Some(at) == base && taken) {
                fault = Some(id);
            }
        });
        if let Some(id) = fault {
            let what = grammar::op_name(inst.opcode);
            let why = if id == self.push.variable {
                format!(
                    "(the push-constant block) is used as a whole by {what}; use the members of the block one by one"
                )
            } else {
                format!("is used as a pointer by {what}; copy the built-in's value to a local variable and use that")
            };
            return Err(unsupported(self.code, id, &why));
        }
        if base == Some(3) && self.derived.contains(&inst.word(3)) && !inst.is(Op::Load) {
            return self.repoint(inst);
        }
        if inst.is(Op::Load) && self.push.old.is_some() && inst.word(3) == self.push.variable {
            return self.load_members(inst);
        }
        self.out.copy(inst)
    }

    /// Gives a pointer derived from a target the storage class Private.
    fn repoint(&mut self, inst: Instruction<'_>) -> Result<()> {
        let pointee = self.code.pointer(inst.word(1)).map(|(_, pointee)| pointee);
        let Some(&pointer) = pointee.and_then(|ty| self.private.get(&ty)) else {
            return Err(unsupported(
                self.code,
                inst.word(3),
                "is accessed through an unsupported pointer type; load its value",
            ));
        };
        self.derived.insert(inst.word(2));
        self.out.copy_with_type(inst, pointer)
    }

    /// Replaces a load of the whole block: loads the original members and composes the original struct.
    fn load_members(&mut self, inst: Instruction<'_>) -> Result<()> {
        self.member_loads += self.push.members.len();
        if self.member_loads > MAX_MEMBER_LOADS {
            let why = "(the push-constant block) is loaded as a whole too often; load the block only once";
            return Err(unsupported(self.code, self.push.variable, why));
        }
        let mut parts = vec![inst.word(1), inst.word(2)];
        for (at, &(ty, pointer)) in self.push.members.iter().enumerate() {
            let (chain, value) = (self.types.fresh(), self.types.fresh());
            let words = [pointer.unwrap_or(0), chain, self.push.variable, self.push.indices[at]];
            self.out.emit(Op::AccessChain, &words)?;
            self.out.emit(Op::Load, &[ty, value, chain])?;
            parts.push(value);
        }
        self.out.emit(Op::CompositeConstruct, &parts)
    }

    /// Writes the start of the entry point, which sets the Private variables.
    fn prologue(&mut self, size: SizeSource, uvec3: u32, uvec4: u32, uvec4_pointer: u32) -> Result<()> {
        let first = self.push.members.len();
        let read = |out: &mut InstructionWriter, types: &mut TypeTable<'_>, at: usize| {
            let (chain, four, three) = (types.fresh(), types.fresh(), types.fresh());
            out.emit(Op::AccessChain, &[uvec4_pointer, chain, self.push.variable, self.push.indices[at]])?;
            out.emit(Op::Load, &[uvec4, four, chain])?;
            out.emit(Op::VectorShuffle, &[uvec3, three, four, four, 0, 1, 2])?;
            Ok::<u32, Error>(three)
        };
        let (out, types) = (&mut self.out, &mut self.types);
        let base = read(out, types, first)?;
        for target in &self.targets {
            let value = types.fresh();
            if target.builtin == BuiltIn::NumWorkgroups {
                let total = read(out, types, first + 1)?;
                if target.vector == uvec3 {
                    out.emit(Op::Store, &[target.id, total])?;
                    continue;
                }
                out.emit(Op::Bitcast, &[target.vector, value, total])?;
                out.emit(Op::Store, &[target.id, value])?;
                continue;
            }
            let mut add = base;
            if target.builtin == BuiltIn::GlobalInvocationId {
                let size = size_value(self.code, size, out, types, uvec3)?;
                add = types.fresh();
                out.emit(Op::IMul, &[uvec3, add, base, size])?;
            }
            let input = types.fresh();
            out.emit(Op::Load, &[target.vector, input, target.input])?;
            // OpIAdd allows operands whose signedness differs from its result's.
            out.emit(Op::IAdd, &[target.vector, value, input, add])?;
            out.emit(Op::Store, &[target.id, value])?;
        }
        Ok(())
    }
}

/// An id with the workgroup size as three 32-bit integers.
fn size_value(
    code: &ParsedModule,
    size: SizeSource,
    out: &mut InstructionWriter,
    types: &mut TypeTable<'_>,
    uvec3: u32,
) -> Result<u32> {
    let strange = |id| unsupported(code, id, "(the workgroup size) is not made of 32-bit integers; use uint constants");
    let parts = match size {
        SizeSource::BuiltIn(id) => {
            let vector = code.def(id).and_then(|inst| code.def_of(inst.word(1), Op::TypeVector));
            let fits = vector.is_some_and(|v| v.word(3) == 3 && types.is_int32(v.word(2)));
            return if fits { Ok(id) } else { Err(strange(id)) };
        }
        SizeSource::Literal(size) => size.map(|n| types.uint_constant(n)),
        SizeSource::Ids(ids) => {
            let mut parts = ids;
            for id in &mut parts {
                let ty = code.def(*id).map_or(0, |inst| inst.word(1));
                if !types.is_int32(ty) {
                    return Err(strange(*id));
                }
                if ty != types.uint() {
                    let cast = types.fresh();
                    out.emit(Op::Bitcast, &[types.uint(), cast, *id])?;
                    *id = cast;
                }
            }
            parts
        }
    };
    let whole = types.fresh();
    out.emit(Op::CompositeConstruct, &[uvec3, whole, parts[0], parts[1], parts[2]])?;
    Ok(whole)
}

/// The index of the last instruction that must stay at the start of a function: its first label, or a variable.
fn last_of_preamble(code: &ParsedModule, insts: std::ops::Range<usize>) -> usize {
    let mut last = insts.start;
    let mut labels = 0;
    for inst in insts.map(|at| code.inst(at)) {
        match inst.op {
            Some(Op::Label) => labels += 1,
            Some(Op::Variable | Op::UntypedVariableKHR) => {}
            _ => continue,
        }
        if labels > 1 {
            break;
        }
        last = inst.index;
    }
    last
}
