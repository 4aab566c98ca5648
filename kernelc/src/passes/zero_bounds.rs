//! Guards the accesses of native kernels for `-famp-bounds=zero`: reads outside the memory of an array or array_view give 0, writes are dropped.
//!
//! - Precondition: the code is for the host's processor, and all calls are inlined.
//! - Effect: each access of elements stands behind a branch. A pointer that is loaded from the argument block has an entry in the table behind the block
//!   ([`revamp_image::table`]), which the library fills in. Pointers that are made of it reach the same memory. What cannot be followed is looked up
//!   in the table when the kernel runs, or the kernel is refused. Loads of an array's members are marked as invariant, for `version_bounds`.
//! - Why: where an array begins and ends is known to the library alone. LLVM makes masked vector instructions of the branches.

use crate::device_abi::KERNEL;
use crate::ir::IntPredicate;
use crate::llvm::number::{self, opcode as o, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Module, Type, Value};
use revamp_image::table;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The library's look-up: where the memory begins in which an address lies, and its size. And what fills with zeros.
const CALLED: &str = "declare i64 @revamp_native_found(ptr, i64, ptr, i32) nounwind willreturn memory(read)\n\
                      declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

/// Guards all kernels. An error names a kernel that cannot be guarded.
pub fn run(module: &mut Module) -> Result<bool, String> {
    if !module.functions().any(is_kernel) {
        return Ok(false);
    }
    let called = module.beside(CALLED)?;
    module.edit(|edit| {
        let [found, fill] = ["revamp_native_found", "llvm.memset.p0.i64"].map(|name| edit.declared_as(&called, name));
        for kernel in edit.functions().filter(|function| is_kernel(*function)) {
            let guarded = Checks::new(edit, kernel)
                .and_then(|checks| Guards { checks, found, fill, spans: HashMap::new() }.apply());
            guarded.map_err(|why| format!("{}: {why}", kernel.name()))?;
        }
        Ok(true)
    })
}

fn is_kernel(function: Value<'_>) -> bool {
    function.has_attribute(KERNEL) && function.first_block().is_some()
}

/// What a pointer reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach<'m> {
    /// The function's own variables, `tile_static` ones and constants: not checked.
    Own,
    Block,
    Nothing,
    /// The memory of this pointer.
    Of(Value<'m>),
}

/// An address that an instruction accesses, and the bytes there.
type Access<'m> = (Value<'m>, u64);

struct Checks<'m> {
    edit: Editor<'m>,
    kernel: Value<'m>,
    /// The argument block, and its bytes.
    block: Value<'m>,
    bytes: u64,
    /// The pointers through which the address of an array's elements is read.
    arrays: HashSet<Value<'m>>,
    /// A variable's own address is kept in memory.
    kept: bool,
}

fn is(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}

fn is_pointer(value: Value<'_>) -> bool {
    value.ty().is_some_and(|ty| ty.kind() == number::ty::POINTER)
}

/// A load or store that is neither volatile nor atomic.
fn is_plain(one: Value<'_>, opcode: i32) -> bool {
    is(one, opcode) && !one.is_volatile() && one.ordering() == 0
}

/// The pointers that a phi or a select selects from.
fn inputs(one: Value<'_>) -> Vec<Value<'_>> {
    match one.form() {
        Form::Instruction(o::PHI) => (0..one.count_incoming()).filter_map(|n| one.incoming_value(n)).collect(),
        Form::Instruction(o::SELECT) => one.operands().skip(1).collect(),
        _ => Vec::new(),
    }
}

/// Whether a constant is made of the address of a global variable or a function.
fn names_global(value: Value<'_>) -> bool {
    match value.form() {
        Form::Expression(_) => value.operands().any(names_global),
        form => matches!(form, Form::Other(k::GLOBAL_VARIABLE | k::FUNCTION | k::ALIAS)),
    }
}

impl<'m> Checks<'m> {
    fn new(edit: Editor<'m>, kernel: Value<'m>) -> Result<Self, String> {
        let unknown = "the size of its arguments is not known";
        let bytes = kernel.dereferenceable(0).ok_or(unknown)?;
        let block = kernel.parameter(0).ok_or(unknown)?;
        let mut checks = Self { edit, kernel, block, bytes, arrays: HashSet::new(), kept: false };
        for one in kernel.instructions() {
            if is_plain(one, o::LOAD) && is_pointer(one) {
                checks.arrays.extend(one.operand(0).and_then(|from| match checks.reach(from) {
                    Reach::Of(array) => Some(array),
                    _ => None,
                }));
            } else if is_plain(one, o::STORE) {
                let value = one.operand(0).filter(|value| is_pointer(*value));
                checks.kept |= value.is_some_and(|value| checks.reach(value) == Reach::Own);
            }
        }
        Ok(checks)
    }

    fn reach(&self, pointer: Value<'m>) -> Reach<'m> {
        self.reach_of(pointer, &mut HashMap::new()).unwrap_or(Reach::Nothing)
    }

    /// `None`: only what is being looked at already. `known`: what was found so far, as `None` while it is being looked at. What was found then
    /// holds afterwards too: the one behind gets to know of all that it left out.
    fn reach_of(&self, pointer: Value<'m>, known: &mut HashMap<Value<'m>, Option<Reach<'m>>>) -> Option<Reach<'m>> {
        if pointer == self.block {
            return Some(Reach::Block);
        }
        match pointer.form() {
            Form::Instruction(o::ALLOCA) => Some(Reach::Own),
            Form::Instruction(o::GEP | o::BIT_CAST | o::FREEZE | o::ADDRESS_SPACE_CAST) => {
                self.reach_of(pointer.operand(0)?, known)
            }
            Form::Instruction(o::PHI | o::SELECT) => {
                if let Some(found) = known.get(&pointer) {
                    return *found;
                }
                known.insert(pointer, None);
                let mut all: Vec<Reach<'m>> = Vec::new();
                for input in inputs(pointer) {
                    let reach = self.reach_of(input, known);
                    all.extend(reach.filter(|reach| !all.contains(reach)));
                }
                let found = match all.as_slice() {
                    [] => None,
                    [one] => Some(*one),
                    _ => Some(Reach::Of(pointer)),
                };
                known.insert(pointer, found);
                found
            }
            Form::Instruction(_) => {
                let constant = is_plain(pointer, o::LOAD) && pointer.operand(0).is_some_and(is_constant);
                Some(if constant { Reach::Own } else { Reach::Of(pointer) })
            }
            _ => Some(if names_global(pointer) { Reach::Own } else { Reach::Nothing }),
        }
    }

    /// The pointers whose memory must be known, with the bytes of accesses through each, in the order of the kernel.
    fn needed(&self) -> Result<HashMap<Value<'m>, BTreeSet<u64>>, String> {
        let mut needed: HashMap<Value<'m>, BTreeSet<u64>> = HashMap::new();
        for one in self.kernel.instructions() {
            for (pointer, bytes) in self.accesses(one)? {
                if let Some(memory) = self.checked(pointer, one) {
                    needed.entry(memory).or_default().insert(bytes);
                }
            }
        }
        // Those that others are selected from.
        let mut open: Vec<Value<'m>> = needed.keys().copied().collect();
        while let Some(one) = open.pop() {
            for input in inputs(one) {
                if let Reach::Of(other) = self.reach(input) {
                    needed.entry(other).or_insert_with(|| {
                        open.push(other);
                        BTreeSet::new()
                    });
                }
            }
        }
        Ok(needed)
    }

    /// The pointer by whose memory an access is checked.
    fn checked(&self, pointer: Value<'m>, one: Value<'m>) -> Option<Value<'m>> {
        let Reach::Of(memory) = self.reach(pointer) else { return None };
        (!is(one, o::LOAD) || !self.is_of_array(pointer)).then_some(memory)
    }

    /// The address of a member of an array that the argument block points to, not of an element.
    fn is_of_array(&self, pointer: Value<'m>) -> bool {
        matches!(self.reach(pointer), Reach::Of(memory) if self.arrays.contains(&memory) && self.is_captured(memory))
    }

    /// A pointer that lies in the argument block.
    fn is_captured(&self, pointer: Value<'m>) -> bool {
        is_plain(pointer, o::LOAD) && pointer.operand(0).is_some_and(|from| self.reach(from) == Reach::Block)
    }

    /// The addresses that an instruction accesses.
    fn accesses(&self, one: Value<'m>) -> Result<Vec<Access<'m>>, String> {
        let (pointer, accessed) = match one.form() {
            Form::Instruction(o::LOAD) => (one.operand(0), one.ty()),
            Form::Instruction(o::STORE) => (one.operand(1), one.operand(0).and_then(Value::ty)),
            Form::Instruction(o::ATOMICRMW | o::CMPXCHG) => (one.operand(0), one.operand(1).and_then(Value::ty)),
            Form::Instruction(o::CALL) => return self.called(one),
            _ => return Ok(Vec::new()),
        };
        let bytes = accessed.and_then(Type::bytes).ok_or("it accesses a type without a size")?;
        Ok(pointer.map(|pointer| (pointer, bytes)).into_iter().collect())
    }

    /// What a call accesses: only intrinsics that copy and fill get pointers to elements.
    fn called(&self, call: Value<'m>) -> Result<Vec<Access<'m>>, String> {
        let arguments = (0..call.count_arguments()).filter_map(|n| call.operand(n));
        let pointers: Vec<Value<'m>> = arguments.filter(|one| is_pointer(*one)).collect();
        let elements = || pointers.iter().any(|pointer| matches!(self.reach(*pointer), Reach::Of(_)));
        let callee = call.called().map(Value::name).unwrap_or_default();
        if !["llvm.memset.", "llvm.memcpy.", "llvm.memmove."].iter().any(|begin| callee.starts_with(begin)) {
            return match elements() {
                true => Err(format!("it gives the address of an element to {callee}")),
                false => Ok(Vec::new()),
            };
        }
        match call.operand(2).filter(|length| length.form() == Form::Other(k::INTEGER)) {
            Some(length) => Ok(pointers.into_iter().map(|pointer| (pointer, length.zero_extended())).collect()),
            None if elements() => Err("it copies elements, and how many is not constant".into()),
            None => Ok(Vec::new()),
        }
    }

    /// Where in the block the pointer lies whose entry in the table tells of one that is loaded, and the place in the entry.
    fn entry(&self, made: Value<'m>) -> Option<(Value<'m>, u64)> {
        let address = made.operand(0).filter(|_| is_plain(made, o::LOAD))?;
        match self.reach(address) {
            Reach::Block => Some((address, table::POINTED)),
            Reach::Of(array) if self.is_captured(array) => Some((array.operand(0)?, table::ELEMENTS)),
            _ => None,
        }
    }
}

/// An address in a constant of the program.
fn is_constant(address: Value<'_>) -> bool {
    match address.form() {
        Form::Instruction(o::GEP) | Form::Expression(_) => address.operand(0).is_some_and(is_constant),
        Form::Other(k::GLOBAL_VARIABLE) => {
            let value = address.initializer().map(Value::form);
            // A tile_static variable has no initial value.
            !matches!(value, Some(Form::Other(k::UNDEF | k::POISON)))
        }
        _ => false,
    }
}

/// Where the memory of a pointer begins, its size, and by the bytes of an access where that may begin and one more.
#[derive(Clone)]
struct Span<'m> {
    start: Value<'m>,
    size: Value<'m>,
    limits: HashMap<u64, Value<'m>>,
}

struct Guards<'m> {
    checks: Checks<'m>,
    /// The library's look-up, and what fills with zeros.
    found: Value<'m>,
    fill: Value<'m>,
    spans: HashMap<Value<'m>, Span<'m>>,
}

impl<'m> Guards<'m> {
    fn apply(mut self) -> Result<(), String> {
        let (edit, kernel) = (self.checks.edit, self.checks.kernel);
        let needed = self.checks.needed()?;
        let mut guarded = Vec::new();
        for one in kernel.instructions() {
            if is(one, o::GEP) {
                // An address that may be outside is no reason for LLVM to take it for one that is inside.
                edit.drop_wrap_flags(one);
            }
            let accesses = self.checks.accesses(one)?;
            let memories: Vec<Option<Value<'m>>> =
                accesses.iter().map(|(pointer, _)| self.checks.checked(*pointer, one)).collect();
            if memories.iter().any(Option::is_some) {
                guarded.push((one, accesses, memories));
            } else if is(one, o::LOAD) && accesses.iter().any(|(from, _)| self.checks.is_of_array(*from)) {
                edit.set_metadata(one, number::INVARIANT, Some(edit.node(&[])));
            }
        }
        self.all_spans(&needed)?;
        for (n, (one, accesses, memories)) in guarded.into_iter().enumerate() {
            self.guard(one, &accesses, &memories, n + 1);
        }
        Ok(())
    }

    /// Computes what is known of each pointer's memory behind the instruction that makes the pointer.
    fn all_spans(&mut self, needed: &HashMap<Value<'m>, BTreeSet<u64>>) -> Result<(), String> {
        let (edit, kernel) = (self.checks.edit, self.checks.kernel);
        let all: Vec<(Value<'m>, &BTreeSet<u64>)> =
            kernel.instructions().filter_map(|one| Some((one, needed.get(&one)?))).collect();
        let (phis, mut open): (Vec<_>, Vec<_>) = all.into_iter().partition(|(one, _)| one.is_phi());
        for &(phi, _) in &phis {
            let (build, name, ty) = (edit.build_before(phi), phi.name(), edit.integer_type(64));
            let [start, size] = ["start", "size"].map(|what| build.phi(ty, &format!("span.{what}.{name}")));
            self.spans.insert(phi, Span { start, size, limits: HashMap::new() });
        }
        for &(phi, bytes) in &phis {
            let first = phi.block().and_then(|block| block.instructions().find(|one| !one.is_phi()));
            let build = edit.build_before(first.ok_or("a block without an end")?);
            self.limits(&build, phi, bytes);
        }
        // Blocks need not stand in an order in which values are made before they are used.
        while !open.is_empty() {
            let before = open.len();
            let (ready, waiting): (Vec<_>, Vec<_>) = open.into_iter().partition(|(one, _)| {
                inputs(*one).into_iter().all(|input| match self.checks.reach(input) {
                    Reach::Of(other) => self.spans.contains_key(&other),
                    _ => true,
                })
            });
            for (one, bytes) in ready {
                self.made(one, bytes)?;
            }
            open = waiting;
            if open.len() == before {
                return Err("a pointer is made of itself".into());
            }
        }
        for (phi, _) in phis {
            for n in 0..phi.count_incoming() {
                let Some((input, from)) = phi.incoming_value(n).zip(phi.incoming_block(n)) else { continue };
                let (of, own) = (self.span_of(input), self.spans[&phi].clone());
                edit.add_incoming(own.start, &[(of.0, from)]);
                edit.add_incoming(own.size, &[(of.1, from)]);
            }
        }
        Ok(())
    }

    /// Where the memory of a pointer begins, and its size.
    fn span_of(&self, pointer: Value<'m>) -> (Value<'m>, Value<'m>) {
        let number = |number| self.checks.edit.i64(number);
        match self.checks.reach(pointer) {
            Reach::Own | Reach::Block => (number(0), number(u64::MAX)),
            Reach::Nothing => (number(0), number(0)),
            Reach::Of(memory) => (self.spans[&memory].start, self.spans[&memory].size),
        }
    }

    /// How far accesses through a pointer may go.
    fn limits(&mut self, build: &Builder<'m>, pointer: Value<'m>, all: &BTreeSet<u64>) {
        let (edit, name) = (self.checks.edit, pointer.name());
        let Some(span) = self.spans.get_mut(&pointer) else { return };
        for &bytes in all {
            let rest = edit.i64(bytes.saturating_sub(1));
            let fits = build.compare(IntPredicate::Ugt as i32, span.size, rest, &format!("span.fits.{bytes}.{name}"));
            let last = build.binary(o::SUB, span.size, rest, &format!("span.last.{bytes}.{name}"));
            let limit = build.select(fits, last, edit.i64(0), &format!("span.limit.{bytes}.{name}"));
            span.limits.insert(bytes, limit);
        }
    }

    /// The memory of a pointer other than a phi, behind the instruction that makes the pointer.
    fn made(&mut self, made: Value<'m>, all: &BTreeSet<u64>) -> Result<(), String> {
        let checks = &self.checks;
        let (edit, name, block) = (checks.edit, made.name(), checks.block);
        let build = edit.build_before(made.next_instruction().ok_or("a block without an end")?);
        let part = |what: &str| format!("span.{what}.{name}");
        let (start, size) = if let (true, Some(condition)) = (is(made, o::SELECT), made.operand(0)) {
            let [yes, no] = inputs(made).into_iter().map(|input| self.span_of(input)).collect::<Vec<_>>()[..] else {
                return Err("a select".into());
            };
            (build.select(condition, yes.0, no.0, &part("start")), build.select(condition, yes.1, no.1, &part("size")))
        } else if let Some((slot, place)) = checks.entry(made) {
            let table = table::begins(checks.bytes) + table::ENTRIES + place;
            let long = edit.integer_type(64);
            let [slot, begin] = [(slot, "slot"), (block, "block")]
                .map(|(at, what)| build.cast(o::POINTER_TO_INT, at, long, &part(what)));
            let offset = build.binary(o::SUB, slot, begin, &part("offset"));
            let scaled = build.binary(o::MUL, offset, edit.i64(table::ENTRY / 8), &part("scaled"));
            let read = |at: u64, what: &str| {
                let sum = build.binary(o::ADD, scaled, edit.i64(at), &part(&format!("{what}.at")));
                build.load(long, build.byte_address(block, sum, &part(&format!("{what}.from"))), &part(what))
            };
            (read(table, "start"), read(table + 8, "size"))
        } else {
            if checks.kept {
                return Err(
                    "it keeps addresses of its own variables in memory, and reads addresses of elements there".into()
                );
            }
            let (table, entries) = (table::begins(checks.bytes), edit.i64(checks.bytes.div_ceil(8)));
            let whole = build.byte_address(block, edit.i64(table), &part("table"));
            let found = |what, name| build.call(self.found, &[whole, entries, made, edit.i32(what)], name);
            (found(0, &part("start")), found(1, &part("size")))
        };
        self.spans.insert(made, Span { start, size, limits: HashMap::new() });
        self.limits(&build, made, all);
        Ok(())
    }

    /// Puts an access behind a branch for each of its addresses that is checked.
    fn guard(&self, one: Value<'m>, accesses: &[Access<'m>], memories: &[Option<Value<'m>>], number: usize) {
        let edit = self.checks.edit;
        let Some(before) = edit.cut_before(one, &format!("zero.{number}")) else { return };
        let Some(behind) = one.block() else { return };
        let outside = self.exchanged(one, before);
        let mut at = before;
        for (n, (memory, &(pointer, bytes))) in memories.iter().zip(accesses).enumerate() {
            let Some(memory) = memory else { continue };
            // In place of what is copied from outside there are zeros.
            let other = if n == 1 { self.filled(accesses[0].0, bytes, behind, number) } else { behind };
            let within = edit.block_before(behind, &format!("zero.{number}.in.{n}"));
            if let Some(end) = at.terminator() {
                edit.erase(end);
            }
            let build = edit.build_at(at);
            build.branch_if(self.inside(&build, pointer, bytes, *memory), within, other);
            edit.build_at(within).branch(behind);
            at = within;
        }
        let Some(end) = at.terminator() else { return };
        let copy = edit.build_before(end).copy(one, &format!("zero.{number}.value"));
        if let Some(ty) = one.ty().filter(|ty| ty.kind() != number::ty::VOID) {
            let phi = edit.build_before(one).phi(ty, &one.name());
            let outside = outside.unwrap_or_else(|| edit.zero(ty));
            edit.add_incoming(phi, &[(copy, at), (outside, before)]);
            edit.replace_uses(one, phi);
        }
        edit.erase(one);
    }

    /// What a comparison and exchange outside gives: a comparison with the value there, which is 0, may hold.
    fn exchanged(&self, one: Value<'m>, before: Block<'m>) -> Option<Value<'m>> {
        if !is(one, o::CMPXCHG) {
            return None;
        }
        let (expected, made) = one.operand(1).zip(one.ty())?;
        let (edit, build) = (self.checks.edit, self.checks.edit.build_before(before.terminator()?));
        let equal = build.compare(IntPredicate::Eq as i32, expected, edit.zero(expected.ty()?), "");
        Some(build.insert_value(edit.zero(made), equal, 1, ""))
    }

    /// A block that fills the target of a copy with zeros.
    fn filled(&self, target: Value<'m>, bytes: u64, behind: Block<'m>, number: usize) -> Block<'m> {
        let edit = self.checks.edit;
        let block = edit.block_before(behind, &format!("zero.{number}.outside"));
        let build = edit.build_at(block);
        build.call(self.fill, &[target, edit.integer(edit.integer_type(8), 0), edit.i64(bytes), edit.truth(false)], "");
        build.branch(behind);
        block
    }

    /// Whether an access lies in the memory.
    fn inside(&self, build: &Builder<'m>, pointer: Value<'m>, bytes: u64, memory: Value<'m>) -> Value<'m> {
        let span = &self.spans[&memory];
        let at = build.cast(o::POINTER_TO_INT, pointer, self.checks.edit.integer_type(64), "");
        let offset = build.binary(o::SUB, at, span.start, "");
        build.compare(IntPredicate::Ult as i32, offset, span.limits[&bytes], "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_followed_is_refused() {
        let kept = "  %k = alloca ptr\n  store ptr %p, ptr %k, align 8\n  %q = load ptr, ptr %k, align 8\n  store i32 1, ptr %q, align 4\n";
        for (body, why) in [
            (
                format!("{kept}  store ptr %v, ptr %k, align 8\n"),
                "k: it keeps addresses of its own variables in memory",
            ),
            ("  call void @other(i32 1, ptr noundef %p)\n".into(), "k: it gives the address of an element to other"),
            (
                "  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 %n, i1 false)\n".into(),
                "k: it copies elements, and how many is not constant",
            ),
        ] {
            let text = format!(
                "declare void @other(i32, ptr)\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
                 define void @k(ptr noundef dereferenceable(40) %0, i64 %n) \"revamp-kernel\" {{\n  %v = alloca i32\n  \
                 %data = load ptr, ptr %0, align 8\n  %p = getelementptr i32, ptr %data, i64 5\n{body}  ret void\n}}\n"
            );
            let refusal = run(&mut crate::ir::tests::parsed(&text).unwrap()).err().unwrap_or_default();
            assert!(refusal.starts_with(why), "{refusal:?} of\n{body}");
        }
    }
}
