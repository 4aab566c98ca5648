//! Splits addresses that may be in several memories (address spaces). An example is `p` in
//! `const float *p = inside ? &tile[i] : &view[j]`, followed by loops, writes or other selections that use `p`.
//!
//! - Precondition: all calls are inlined, and local variables are promoted to SSA values.
//! - Effect: an address that may be in several memories becomes one address for each memory, plus the number of the
//!   memory at run time. Each instruction that uses the address becomes a branch on this number, with a copy of the
//!   instruction for each memory. A function stays unchanged if a use cannot be split, such as an ordered comparison.
//! - Why: a SPIR-V pointer has one storage class. LLVM's `infer-address-spaces` leaves an address generic if it may be
//!   in several memories. If all uses of a phi of addresses are reads in the phi's block, `phi_loads` has already
//!   replaced the phi by a phi of the loaded values, without a branch for each read.

use crate::ir::{IntPredicate, space};
use crate::llvm::number::{self, opcode as o, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Module, Type, Value};
use std::collections::HashMap;

/// The memories: those of the device, of a tile and of a thread. Each constant is a bit in a set of memories, and also
/// the memory's number at run time.
const DEVICE: u8 = 1;
const TILE: u8 = 2;
const THREAD: u8 = 4;
/// The null pointer. It is in no memory: tile memory and thread memory have no representation for it.
const NOWHERE: u8 = 8;

const EQ: i32 = IntPredicate::Eq as i32;
const NE: i32 = IntPredicate::Ne as i32;

/// Returns true if any address was split.
pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let mut any = false;
        for function in edit.functions() {
            let memories = Memories::of(function);
            if let Some(uses) = memories.uses(function) {
                Split { edit, memories, address_in: HashMap::new(), numbers: HashMap::new() }.apply(function, uses);
                any = true;
            }
        }
        any
    })
}

/// True if the type is a pointer in the generic address space.
fn is_flat(ty: Option<Type<'_>>) -> bool {
    ty.is_some_and(|ty| ty.kind() == number::ty::POINTER && ty.space() == space::GENERIC)
}

fn is(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}

/// The addresses from which an instruction computes a generic address; `None` for all other instructions.
fn sources(one: Value<'_>) -> Option<Vec<Value<'_>>> {
    if !is_flat(one.ty()) {
        return None;
    }
    match one.form() {
        Form::Instruction(o::PHI) => Some((0..one.count_incoming()).filter_map(|n| one.incoming_value(n)).collect()),
        Form::Instruction(o::SELECT) => Some(one.operands().skip(1).collect()),
        Form::Instruction(o::GEP | o::FREEZE) => Some(vec![one.operand(0)?]),
        _ => None,
    }
}

/// For each computed address: the memories in which it may be.
struct Memories<'m>(HashMap<Value<'m>, u8>);

/// The instructions that use addresses that may be in several memories.
struct Uses<'m> {
    comparisons: Vec<Value<'m>>,
    others: Vec<Value<'m>>,
}

impl<'m> Memories<'m> {
    fn of(function: Value<'m>) -> Self {
        let casts = function.instructions().filter(|one| is(*one, o::ADDRESS_SPACE_CAST) && is_flat(one.ty()));
        let space = |one: Value<'m>| match one.operand(0)?.ty().filter(|ty| ty.kind() == number::ty::POINTER)?.space() {
            space::TILE => Some((one, TILE)),
            space::PRIVATE => Some((one, THREAD)),
            _ => Some((one, DEVICE)),
        };
        let mut all = Self(casts.filter_map(space).collect());
        let made: Vec<_> = function.instructions().filter_map(|one| Some((one, sources(one)?))).collect();
        all.0.extend(made.iter().map(|(one, _)| (*one, 0)));
        loop {
            let mut changed = false;
            for (one, sources) in &made {
                let set = sources.iter().fold(0, |set, value| set | all.memories_of(*value));
                changed |= all.0.insert(*one, set) != Some(set);
            }
            if !changed {
                return all;
            }
        }
    }

    /// The memories in which an operand may be.
    fn memories_of(&self, value: Value<'m>) -> u8 {
        match value.form() {
            Form::Other(k::UNDEF | k::POISON) => 0,
            Form::Other(k::NULL) => NOWHERE,
            Form::Other(k::GLOBAL_VARIABLE) => match value.ty().map(Type::space) {
                Some(space::TILE) => TILE,
                _ => THREAD,
            },
            Form::Expression(_) => value.operands().fold(0, |set, inner| set | self.memories_of_constant(inner)).max(1),
            _ => self.0.get(&value).copied().unwrap_or(DEVICE),
        }
    }

    /// The memories in which an operand of a constant expression may be. Integers are in no memory.
    fn memories_of_constant(&self, value: Value<'m>) -> u8 {
        match value.form() {
            Form::Other(k::INTEGER) => 0,
            _ => self.memories_of(value),
        }
    }

    /// The memories of an address that may be in several; `None` for other addresses.
    fn memories_if_several(&self, value: Value<'m>) -> Option<u8> {
        self.0.get(&value).copied().filter(is_several)
    }

    /// True for a comparison of addresses that may be in several memories.
    fn compares(&self, one: Value<'m>) -> bool {
        let set = || one.operands().fold(0, |set, value| set | self.memories_of(value));
        is(one, o::ICMP) && is_flat(one.operand(0).and_then(Value::ty)) && is_several(&set())
    }

    /// The uses of addresses that may be in several memories; `None` if there is nothing to split, or a use that cannot be split.
    fn uses(&self, function: Value<'m>) -> Option<Uses<'m>> {
        let mut uses = Uses { comparisons: Vec::new(), others: Vec::new() };
        for one in function.instructions().filter(|one| self.memories_if_several(*one).is_none()) {
            if self.compares(one) {
                if ![EQ, NE].contains(&(one.integer_predicate() - number::FIRST_INTEGER_PREDICATE)) {
                    return None;
                }
                uses.comparisons.push(one);
            } else if one.operands().any(|value| self.memories_if_several(value).is_some()) {
                // Terminators, and phis that merge the address with other values, cannot be split.
                if one.is_phi() || one.next_instruction().is_none() {
                    return None;
                }
                uses.others.push(one);
            }
        }
        let any = !uses.comparisons.is_empty() || self.0.values().any(is_several);
        any.then_some(uses)
    }
}

fn is_several(set: &u8) -> bool {
    set.count_ones() > 1 && *set != DEVICE | NOWHERE
}

fn memories_in(set: u8) -> impl Iterator<Item = u8> {
    [DEVICE, TILE, THREAD].into_iter().filter(move |one| set & one != 0)
}

/// The state while a function's addresses are split.
struct Split<'m> {
    edit: Editor<'m>,
    memories: Memories<'m>,
    /// For an address that may be in several memories: its address in each memory.
    address_in: HashMap<(Value<'m>, u8), Value<'m>>,
    /// For an address that may be in several memories: the number of its memory at run time.
    numbers: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Split<'m> {
    fn apply(mut self, function: Value<'m>, uses: Uses<'m>) {
        let all: Vec<(Value<'m>, u8)> =
            function.instructions().filter_map(|one| Some((one, self.memories.memories_if_several(one)?))).collect();
        self.addresses(&all);
        for one in uses.comparisons {
            self.split_comparison(one);
        }
        let mut worklist = uses.others;
        worklist.reverse();
        while let Some(one) = worklist.pop() {
            self.copy_per_memory(one, &mut worklist);
        }
        for (one, _) in &all {
            if let Some(ty) = one.ty() {
                self.edit.replace_uses(*one, self.edit.poison(ty));
            }
        }
        for (one, _) in all {
            self.edit.erase(one);
        }
    }

    /// Computes one address for each memory, and the number of the memory.
    fn addresses(&mut self, all: &[(Value<'m>, u8)]) {
        for &(phi, set) in all.iter().filter(|(one, _)| one.is_phi()) {
            let (build, name) = (self.edit.build_before(phi), phi.name());
            let Some(ty) = phi.ty() else { continue };
            for memory in memories_in(set) {
                self.address_in.insert((phi, memory), build.phi(ty, &format!("{name}.memory{memory}")));
            }
            self.numbers.insert(phi, build.phi(self.edit.integer_type(32), &format!("{name}.memory")));
        }
        // An operand may be computed in a block that is later in the list.
        let mut worklist: Vec<(Value<'m>, u8)> = all.iter().copied().filter(|(one, _)| !one.is_phi()).collect();
        while !worklist.is_empty() {
            let before = worklist.len();
            worklist.retain(|&(one, set)| {
                let known = |value: &Value<'m>| {
                    self.memories.memories_if_several(*value).is_none() || self.numbers.contains_key(value)
                };
                let is_ready = sources(one).unwrap_or_default().iter().all(known);
                if is_ready {
                    self.split_computed_address(one, set);
                }
                !is_ready
            });
            assert!(worklist.len() < before, "an address depends on itself, but not through a phi");
        }
        for &(phi, set) in all.iter().filter(|(one, _)| one.is_phi()) {
            for n in 0..phi.count_incoming() {
                let Some((value, from)) = phi.incoming_value(n).zip(phi.incoming_block(n)) else { continue };
                for memory in memories_in(set) {
                    self.edit.add_incoming(self.address_in[&(phi, memory)], &[(self.value(value, memory), from)]);
                }
                self.edit.add_incoming(self.numbers[&phi], &[(self.memory(value, set), from)]);
            }
        }
    }

    fn split_computed_address(&mut self, one: Value<'m>, set: u8) {
        let (build, name) = (self.edit.build_before(one), one.name());
        for memory in memories_in(set) {
            let copy = build.copy(one, &format!("{name}.memory{memory}"));
            for n in 0..copy.count_operands() {
                let Some(value) = copy.operand(n).filter(|value| is_flat(value.ty())) else { continue };
                self.edit.set_operand(copy, n, self.value(value, memory));
            }
            self.address_in.insert((one, memory), copy);
        }
        let of: Vec<Value<'m>> =
            sources(one).unwrap_or_default().into_iter().map(|from| self.memory(from, set)).collect();
        let number = match (of.as_slice(), one.operand(0)) {
            (&[yes, no], Some(condition)) => build.select(condition, yes, no, &format!("{name}.memory")),
            (&[number, ..], _) => number,
            _ => return,
        };
        self.numbers.insert(one, number);
    }

    /// An operand as an address in one memory; poison if the operand cannot be in this memory.
    fn value(&self, value: Value<'m>, memory: u8) -> Value<'m> {
        let ty = || value.ty().unwrap_or_else(|| unreachable!("an operand has no type"));
        match (self.memories.memories_if_several(value), self.memories.memories_of(value)) {
            (Some(set), _) if set & memory != 0 => self.address_in[&(value, memory)],
            (None, known) if [0, memory, memory | NOWHERE].contains(&known) => value,
            (None, NOWHERE) if memory == DEVICE => self.edit.zero(ty()),
            _ => self.edit.poison(ty()),
        }
    }

    /// The number of the memory that an operand is in.
    fn memory(&self, value: Value<'m>, set: u8) -> Value<'m> {
        let known = self.memories.memories_of(value);
        let number = match self.numbers.get(&value) {
            Some(number) => return *number,
            None if known == NOWHERE => 0,
            None => memories_in(if known == 0 { set } else { known }).next().unwrap_or(DEVICE),
        };
        self.edit.i32(u32::from(number))
    }

    /// Replaces a comparison of addresses by a comparison in each memory. Two addresses are equal if they are in the
    /// same memory and have the same value in it.
    fn split_comparison(&self, one: Value<'m>) {
        let Some((first, second)) = one.operand(0).zip(one.operand(1)) else { return };
        let test = one.integer_predicate() - number::FIRST_INTEGER_PREDICATE;
        let (build, name) = (self.edit.build_before(one), one.name());
        let set = self.memories.memories_of(first) | self.memories.memories_of(second);
        let (a, b) = (self.memory(first, set), self.memory(second, set));
        let mut same = self.edit.i1(test == EQ);
        for memory in memories_in(set) {
            let [of_first, of_second] = [first, second].map(|value| self.value(value, memory));
            // If one operand is in this memory and the other cannot be, the numbers differ, and `memories_differ`
            // decides.
            if [of_first, of_second].iter().any(|value| value.form() == Form::Other(k::POISON)) {
                continue;
            }
            let inside = build.compare(test, of_first, of_second, &format!("{name}.in{memory}"));
            let number = self.edit.i32(u32::from(memory));
            let is_in_memory = build.compare(EQ, a, number, &format!("{name}.is{memory}"));
            same = build.select(is_in_memory, inside, same, &format!("{name}.of{memory}"));
        }
        let (x, y) =
            (self.memory_unless_null(&build, first, a, &name), self.memory_unless_null(&build, second, b, &name));
        let memories_differ = build.compare(NE, x, y, &format!("{name}.apart"));
        // Where the numbers differ, `same` may be poison and must not be the result.
        let made = build.select(memories_differ, self.edit.i1(test == NE), same, &name);
        self.edit.replace_uses(one, made);
        self.edit.erase(one);
    }

    /// The number of an operand's memory, or 0 if the operand is in device memory and null at run time.
    fn memory_unless_null(&self, build: &Builder<'m>, value: Value<'m>, number: Value<'m>, name: &str) -> Value<'m> {
        if self.memories.memories_of(value) & DEVICE == 0 {
            return number;
        }
        let address = self.value(value, DEVICE);
        let Some(ty) = address.ty() else { return number };
        let is_null = build.compare(EQ, address, self.edit.zero(ty), &format!("{name}.null"));
        let is_device = build.compare(EQ, number, self.edit.i32(u32::from(DEVICE)), &format!("{name}.device"));
        let is_null_device_address = build.select(is_device, is_null, self.edit.i1(false), &format!("{name}.no"));
        build.select(is_null_device_address, self.edit.i32(0), number, &format!("{name}.number"))
    }

    /// Copies an instruction for each memory. The copies are added to the worklist, because they may use another
    /// address that may be in several memories.
    fn copy_per_memory(&self, one: Value<'m>, worklist: &mut Vec<Value<'m>>) {
        let Some((address, set)) =
            one.operands().find_map(|value| Some((value, self.memories.memories_if_several(value)?)))
        else {
            return;
        };
        // An assumption about the address is dropped.
        if is(one, o::CALL) && one.called().is_some_and(|callee| callee.name() == "llvm.assume") {
            return self.edit.erase(one);
        }
        let all: Vec<u8> = memories_in(set).collect();
        if let [memory] = all[..] {
            self.replace_address(one, address, memory);
            return worklist.push(one);
        }
        let name = one.block().map(Block::name).unwrap_or_default();
        let Some(mut from) = self.edit.split_before(one, &format!("{name}.behind")) else { return };
        let (Some(continuation), mut incoming) = (one.block(), Vec::new()) else { return };
        for (n, &memory) in all.iter().enumerate() {
            let mut at = from;
            if n + 1 < all.len() {
                let [yes, no] =
                    ["in", "not"].map(|word| self.edit.block_before(continuation, &format!("{name}.{word}{memory}")));
                if let Some(end) = from.terminator() {
                    self.edit.erase(end);
                }
                let (build, number) = (self.edit.build_at(from), self.edit.i32(u32::from(memory)));
                build.branch_if(build.compare(EQ, self.numbers[&address], number, ""), yes, no);
                self.edit.build_at(yes).branch(continuation);
                self.edit.build_at(no).branch(continuation);
                (at, from) = (yes, no);
            }
            let Some(end) = at.terminator() else { continue };
            let copy = self.edit.build_before(end).copy(one, &format!("{}.memory{memory}", one.name()));
            self.replace_address(copy, address, memory);
            worklist.push(copy);
            incoming.push((copy, at));
        }
        if let Some(ty) = one.ty().filter(|ty| ty.kind() != number::ty::VOID) {
            let phi = self.edit.build_before(one).phi(ty, &one.name());
            self.edit.add_incoming(phi, &incoming);
            self.edit.replace_uses(one, phi);
        }
        self.edit.erase(one);
    }

    /// Replaces an address in an instruction by the address in one memory.
    fn replace_address(&self, one: Value<'m>, address: Value<'m>, memory: u8) {
        for n in (0..one.count_operands()).filter(|&n| one.operand(n) == Some(address)) {
            self.edit.set_operand(one, n, self.address_in[&(address, memory)]);
        }
    }
}
