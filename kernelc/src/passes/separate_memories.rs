//! Splits addresses that are selected from several memories and kept: `const float *p = inside ? &tile[i] : &view[j]`, with loops, writes and
//! other choices behind it.
//!
//! - Precondition: all calls are inlined, and variables are values.
//! - Effect: such an address becomes one address for each memory and the number of the memory that holds. Each instruction that uses the address becomes a
//!   branch by that number, with a copy of the instruction for each memory. A function that uses such an address otherwise stays as it is.
//! - Why: SPIR-V keeps the memory of a tile, of a thread and of devices apart. LLVM's `infer-address-spaces` leaves an address flat that may be in
//!   several. What is only read in one place is selected as a value before (`phi_loads`), which costs no branch.

use crate::ir::{IntPredicate, space};
use crate::llvm::number::{self, opcode as o, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Module, Type, Value};
use std::collections::HashMap;

/// The memories, as bits of a set and as the numbers that tell them apart.
const DEVICE: u8 = 1;
const TILE: u8 = 2;
const THREAD: u8 = 4;
/// No memory: a null pointer, which has no form of its own in those of tiles and threads.
const NOWHERE: u8 = 8;

const EQ: i32 = IntPredicate::Eq as i32;
const NE: i32 = IntPredicate::Ne as i32;

/// Whether there were any.
pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let mut any = false;
        for function in edit.functions() {
            let memories = Memories::of(function);
            if let Some(uses) = memories.uses(function) {
                Split { edit, memories, own: HashMap::new(), numbers: HashMap::new() }.apply(function, uses);
                any = true;
            }
        }
        any
    })
}

/// Whether an address may point anywhere, by its type.
fn is_flat(ty: Option<Type<'_>>) -> bool {
    ty.is_some_and(|ty| ty.kind() == number::ty::POINTER && ty.space() == space::GENERIC)
}

fn is(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}

/// The addresses that an instruction makes its address of, if it makes one that may be anywhere of others.
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

/// In which memories each address may be that is made of others.
struct Memories<'m>(HashMap<Value<'m>, u8>);

/// What uses addresses that may be in several memories.
struct Uses<'m> {
    compared: Vec<Value<'m>>,
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
            let mut grown = false;
            for (one, sources) in &made {
                let set = sources.iter().fold(0, |set, value| set | all.find(*value));
                grown |= all.0.insert(*one, set) != Some(set);
            }
            if !grown {
                return all;
            }
        }
    }

    /// Those of an operand.
    fn find(&self, value: Value<'m>) -> u8 {
        match value.form() {
            Form::Other(k::UNDEF | k::POISON) => 0,
            Form::Other(k::NULL) => NOWHERE,
            Form::Other(k::GLOBAL_VARIABLE) => match value.ty().map(Type::space) {
                Some(space::TILE) => TILE,
                _ => THREAD,
            },
            Form::Expression(_) => value.operands().fold(0, |set, inner| set | self.find_constant(inner)).max(1),
            _ => self.0.get(&value).copied().unwrap_or(DEVICE),
        }
    }

    /// Of what a constant address is made of: numbers are in no memory.
    fn find_constant(&self, value: Value<'m>) -> u8 {
        match value.form() {
            Form::Other(k::INTEGER) => 0,
            _ => self.find(value),
        }
    }

    /// Those of an address that may be in several.
    fn several(&self, value: Value<'m>) -> Option<u8> {
        self.0.get(&value).copied().filter(is_several)
    }

    /// A comparison of addresses that may be in several.
    fn compares(&self, one: Value<'m>) -> bool {
        let set = || one.operands().fold(0, |set, value| set | self.find(value));
        is(one, o::ICMP) && is_flat(one.operand(0).and_then(Value::ty)) && is_several(&set())
    }

    /// What uses them; `None` if nothing does, or something that cannot be split.
    fn uses(&self, function: Value<'m>) -> Option<Uses<'m>> {
        let mut uses = Uses { compared: Vec::new(), others: Vec::new() };
        for one in function.instructions().filter(|one| self.several(*one).is_none()) {
            if self.compares(one) {
                if ![EQ, NE].contains(&(one.integer_predicate() - number::FIRST_INTEGER_PREDICATE)) {
                    return None;
                }
                uses.compared.push(one);
            } else if one.operands().any(|value| self.several(value).is_some()) {
                // An address that ends a block or is merged with other values.
                if one.is_phi() || one.next_instruction().is_none() {
                    return None;
                }
                uses.others.push(one);
            }
        }
        let any = !uses.compared.is_empty() || self.0.values().any(is_several);
        any.then_some(uses)
    }
}

fn is_several(set: &u8) -> bool {
    set.count_ones() > 1 && *set != DEVICE | NOWHERE
}

fn each(set: u8) -> impl Iterator<Item = u8> {
    [DEVICE, TILE, THREAD].into_iter().filter(move |one| set & one != 0)
}

/// A function while its addresses are split.
struct Split<'m> {
    edit: Editor<'m>,
    memories: Memories<'m>,
    /// The address of each memory that stands for one that may be in several.
    own: HashMap<(Value<'m>, u8), Value<'m>>,
    /// The number of the memory that holds.
    numbers: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Split<'m> {
    fn apply(mut self, function: Value<'m>, uses: Uses<'m>) {
        let all: Vec<(Value<'m>, u8)> =
            function.instructions().filter_map(|one| Some((one, self.memories.several(one)?))).collect();
        self.addresses(&all);
        for one in uses.compared {
            self.compared(one);
        }
        let mut open = uses.others;
        open.reverse();
        while let Some(one) = open.pop() {
            self.chosen(one, &mut open);
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

    /// One address for each memory, and the number of the one that holds.
    fn addresses(&mut self, all: &[(Value<'m>, u8)]) {
        for &(phi, set) in all.iter().filter(|(one, _)| one.is_phi()) {
            let (build, name) = (self.edit.build_before(phi), phi.name());
            let Some(ty) = phi.ty() else { continue };
            for memory in each(set) {
                self.own.insert((phi, memory), build.phi(ty, &format!("{name}.memory{memory}")));
            }
            self.numbers.insert(phi, build.phi(self.edit.integer_type(32), &format!("{name}.memory")));
        }
        // Blocks need not stand in an order in which values are made before they are used.
        let mut open: Vec<(Value<'m>, u8)> = all.iter().copied().filter(|(one, _)| !one.is_phi()).collect();
        while !open.is_empty() {
            let before = open.len();
            open.retain(|&(one, set)| {
                let known =
                    |value: &Value<'m>| self.memories.several(*value).is_none() || self.numbers.contains_key(value);
                let ready = sources(one).unwrap_or_default().iter().all(known);
                if ready {
                    self.made_of_others(one, set);
                }
                !ready
            });
            assert!(open.len() < before, "an address that is made of itself without a phi");
        }
        for &(phi, set) in all.iter().filter(|(one, _)| one.is_phi()) {
            for n in 0..phi.count_incoming() {
                let Some((value, from)) = phi.incoming_value(n).zip(phi.incoming_block(n)) else { continue };
                for memory in each(set) {
                    self.edit.add_incoming(self.own[&(phi, memory)], &[(self.value(value, memory), from)]);
                }
                self.edit.add_incoming(self.numbers[&phi], &[(self.memory(value, set), from)]);
            }
        }
    }

    fn made_of_others(&mut self, one: Value<'m>, set: u8) {
        let (build, name) = (self.edit.build_before(one), one.name());
        for memory in each(set) {
            let copy = build.copy(one, &format!("{name}.memory{memory}"));
            for n in 0..copy.count_operands() {
                let Some(value) = copy.operand(n).filter(|value| is_flat(value.ty())) else { continue };
                self.edit.set_operand(copy, n, self.value(value, memory));
            }
            self.own.insert((one, memory), copy);
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

    /// An operand as it is in one memory: poison if it cannot be there.
    fn value(&self, value: Value<'m>, memory: u8) -> Value<'m> {
        let ty = || value.ty().unwrap_or_else(|| unreachable!("an operand has a type"));
        match (self.memories.several(value), self.memories.find(value)) {
            (Some(set), _) if set & memory != 0 => self.own[&(value, memory)],
            (None, known) if [0, memory, memory | NOWHERE].contains(&known) => value,
            (None, NOWHERE) if memory == DEVICE => self.edit.zero(ty()),
            _ => self.edit.poison(ty()),
        }
    }

    /// The number of the memory that an operand is in.
    fn memory(&self, value: Value<'m>, set: u8) -> Value<'m> {
        let known = self.memories.find(value);
        let number = match self.numbers.get(&value) {
            Some(number) => return *number,
            None if known == NOWHERE => 0,
            None => each(if known == 0 { set } else { known }).next().unwrap_or(DEVICE),
        };
        self.edit.i32(u32::from(number))
    }

    /// Two addresses are the same if they are in one memory, and there the same.
    fn compared(&self, one: Value<'m>) {
        let Some((first, second)) = one.operand(0).zip(one.operand(1)) else { return };
        let test = one.integer_predicate() - number::FIRST_INTEGER_PREDICATE;
        let (build, name) = (self.edit.build_before(one), one.name());
        let set = self.memories.find(first) | self.memories.find(second);
        let (a, b) = (self.memory(first, set), self.memory(second, set));
        let mut same = self.edit.truth(test == EQ);
        for memory in each(set) {
            let [of_first, of_second] = [first, second].map(|value| self.value(value, memory));
            // In a memory that an address cannot be in, the numbers differ already.
            if [of_first, of_second].iter().any(|value| value.form() == Form::Other(k::POISON)) {
                continue;
            }
            let inside = build.compare(test, of_first, of_second, &format!("{name}.in{memory}"));
            let number = self.edit.i32(u32::from(memory));
            let holds = build.compare(EQ, a, number, &format!("{name}.is{memory}"));
            same = build.select(holds, inside, same, &format!("{name}.of{memory}"));
        }
        let (x, y) = (self.nowhere(&build, first, a, &name), self.nowhere(&build, second, b, &name));
        let apart = build.compare(NE, x, y, &format!("{name}.apart"));
        // What is poison where the numbers differ must not be seen there.
        let made = build.select(apart, self.edit.truth(test == NE), same, &name);
        self.edit.replace_uses(one, made);
        self.edit.erase(one);
    }

    /// The number of an operand's memory, or 0 where it is null in the memory of devices.
    fn nowhere(&self, build: &Builder<'m>, value: Value<'m>, number: Value<'m>, name: &str) -> Value<'m> {
        if self.memories.find(value) & DEVICE == 0 {
            return number;
        }
        let address = self.value(value, DEVICE);
        let Some(ty) = address.ty() else { return number };
        let null = build.compare(EQ, address, self.edit.zero(ty), &format!("{name}.null"));
        let of_devices = build.compare(EQ, number, self.edit.i32(u32::from(DEVICE)), &format!("{name}.device"));
        let no = build.select(of_devices, null, self.edit.truth(false), &format!("{name}.no"));
        build.select(no, self.edit.i32(0), number, &format!("{name}.number"))
    }

    /// An instruction once for each memory. `open`: copies that use another such address.
    fn chosen(&self, one: Value<'m>, open: &mut Vec<Value<'m>>) {
        let Some((address, set)) = one.operands().find_map(|value| Some((value, self.memories.several(value)?))) else {
            return;
        };
        // What only tells about it.
        if is(one, o::CALL) && one.called().is_some_and(|callee| callee.name() == "llvm.assume") {
            return self.edit.erase(one);
        }
        let all: Vec<u8> = each(set).collect();
        if let [memory] = all[..] {
            self.in_memory(one, address, memory);
            return open.push(one);
        }
        let name = one.block().map(Block::name).unwrap_or_default();
        let Some(mut from) = self.edit.cut_before(one, &format!("{name}.behind")) else { return };
        let (Some(behind), mut incoming) = (one.block(), Vec::new()) else { return };
        for (n, &memory) in all.iter().enumerate() {
            let mut at = from;
            if n + 1 < all.len() {
                let [yes, no] =
                    ["in", "not"].map(|word| self.edit.block_before(behind, &format!("{name}.{word}{memory}")));
                if let Some(end) = from.terminator() {
                    self.edit.erase(end);
                }
                let (build, number) = (self.edit.build_at(from), self.edit.i32(u32::from(memory)));
                build.branch_if(build.compare(EQ, self.numbers[&address], number, ""), yes, no);
                self.edit.build_at(yes).branch(behind);
                self.edit.build_at(no).branch(behind);
                (at, from) = (yes, no);
            }
            let Some(end) = at.terminator() else { continue };
            let copy = self.edit.build_before(end).copy(one, &format!("{}.memory{memory}", one.name()));
            self.in_memory(copy, address, memory);
            open.push(copy);
            incoming.push((copy, at));
        }
        if let Some(ty) = one.ty().filter(|ty| ty.kind() != number::ty::VOID) {
            let phi = self.edit.build_before(one).phi(ty, &one.name());
            self.edit.add_incoming(phi, &incoming);
            self.edit.replace_uses(one, phi);
        }
        self.edit.erase(one);
    }

    /// Gives an instruction the address of one memory.
    fn in_memory(&self, one: Value<'m>, address: Value<'m>, memory: u8) {
        for n in (0..one.count_operands()).filter(|&n| one.operand(n) == Some(address)) {
            self.edit.set_operand(one, n, self.own[&(address, memory)]);
        }
    }
}
