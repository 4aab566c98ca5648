//! Guards the accesses of native kernels for `-famp-bounds=zero`: reads outside the memory of an array or array_view give 0, and writes do nothing.
//!
//! - Precondition: the code is for the host's processor, and all calls are inlined.
//! - Effect: a branch that checks the bounds guards each access to elements. Each pointer in the argument block has an
//!   entry in the table after the block ([`revamp_image::table`]), which the library fills in. A pointer computed from
//!   such a pointer points into the same memory. A pointer of unknown origin is looked up in the table at run time, or
//!   the kernel is refused. Loads of an array's members are marked as invariant, for `version_bounds`.
//! - Why: only the library knows where an array begins and ends. LLVM turns the branches into masked vector instructions.

use super::calls;
use crate::device_abi::KERNEL;
use crate::ir::IntPredicate;
use crate::llvm::number::{self, opcode as o, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Module, Type, Value};
use revamp_image::table;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Declares the library's look-up, which returns the start or the size of the memory that contains an address, and the intrinsic memset.
const DECLARATIONS: &str = "declare i64 @revamp_native_found(ptr, i64, ptr, i32) nounwind willreturn memory(read)\n\
                      declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

/// Guards all kernels. An error names a kernel that cannot be guarded.
pub fn run(module: &mut Module) -> Result<bool, String> {
    if !module.functions().any(is_kernel) {
        return Ok(false);
    }
    let called = module.parse_in_same_context(DECLARATIONS)?;
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

/// The memory that a pointer points into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointsTo<'m> {
    /// Local variables of the function, `tile_static` variables and constants. Accesses to them are not checked.
    Unchecked,
    Block,
    Nothing,
    /// The memory of this pointer, which is known at run time only.
    Of(Value<'m>),
}

/// An address that an instruction accesses, and the number of bytes.
type Access<'m> = (Value<'m>, u64);

struct Checks<'m> {
    edit: Editor<'m>,
    kernel: Value<'m>,
    /// The argument block, and its size in bytes.
    block: Value<'m>,
    bytes: u64,
    /// The pointers to `array` objects, from which the kernel loads the addresses of elements.
    arrays: HashSet<Value<'m>>,
    /// True if the kernel stores the address of one of its own variables in memory.
    stores_own_address: bool,
}

fn is_instruction(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}

fn is_pointer(value: Value<'_>) -> bool {
    value.ty().is_some_and(|ty| ty.kind() == number::ty::POINTER)
}

/// A load or store that is neither volatile nor atomic.
fn is_plain(one: Value<'_>, opcode: i32) -> bool {
    is_instruction(one, opcode) && !one.is_volatile() && one.ordering() == 0
}

/// The pointers that a phi or a select selects from.
fn inputs(one: Value<'_>) -> Vec<Value<'_>> {
    match one.form() {
        Form::Instruction(o::PHI) => (0..one.count_incoming()).filter_map(|n| one.incoming_value(n)).collect(),
        Form::Instruction(o::SELECT) => one.operands().skip(1).collect(),
        _ => Vec::new(),
    }
}

/// True if a constant contains the address of a global variable or a function.
fn names_global(value: Value<'_>) -> bool {
    match value.form() {
        Form::Expression(_) => value.operands().any(names_global),
        form => matches!(form, Form::Other(k::GLOBAL_VARIABLE | k::FUNCTION | k::ALIAS)),
    }
}

impl<'m> Checks<'m> {
    fn new(edit: Editor<'m>, kernel: Value<'m>) -> Result<Self, String> {
        let unknown = "the size of the kernel's arguments is not known";
        let bytes = kernel.dereferenceable(0).ok_or(unknown)?;
        let block = kernel.parameter(0).ok_or(unknown)?;
        let mut checks = Self { edit, kernel, block, bytes, arrays: HashSet::new(), stores_own_address: false };
        for one in kernel.instructions() {
            if is_plain(one, o::LOAD) && is_pointer(one) {
                checks.arrays.extend(one.operand(0).and_then(|from| match checks.points_to(from) {
                    PointsTo::Of(array) => Some(array),
                    _ => None,
                }));
            } else if is_plain(one, o::STORE) {
                let value = one.operand(0).filter(|value| is_pointer(*value));
                checks.stores_own_address |= value.is_some_and(|value| checks.points_to(value) == PointsTo::Unchecked);
            }
        }
        Ok(checks)
    }

    fn points_to(&self, pointer: Value<'m>) -> PointsTo<'m> {
        self.points_to_input(pointer, &mut HashMap::new()).unwrap_or(PointsTo::Nothing)
    }

    /// Returns `None` if the pointer depends only on pointers under evaluation. `known`: the results so far, with `None`
    /// for pointers under evaluation. In a cycle, a result may lack the inputs of a pointer under evaluation; the result
    /// of that pointer has them.
    fn points_to_input(
        &self,
        pointer: Value<'m>,
        known: &mut HashMap<Value<'m>, Option<PointsTo<'m>>>,
    ) -> Option<PointsTo<'m>> {
        if pointer == self.block {
            return Some(PointsTo::Block);
        }
        match pointer.form() {
            Form::Instruction(o::ALLOCA) => Some(PointsTo::Unchecked),
            Form::Instruction(o::GEP | o::BIT_CAST | o::FREEZE | o::ADDRESS_SPACE_CAST) => {
                self.points_to_input(pointer.operand(0)?, known)
            }
            Form::Instruction(o::PHI | o::SELECT) => {
                if let Some(found) = known.get(&pointer) {
                    return *found;
                }
                known.insert(pointer, None);
                let mut all: Vec<PointsTo<'m>> = Vec::new();
                for input in inputs(pointer) {
                    let points_to = self.points_to_input(input, known);
                    all.extend(points_to.filter(|points_to| !all.contains(points_to)));
                }
                let found = match all.as_slice() {
                    [] => None,
                    [one] => Some(*one),
                    _ => Some(PointsTo::Of(pointer)),
                };
                known.insert(pointer, found);
                found
            }
            Form::Instruction(_) => {
                let constant = is_plain(pointer, o::LOAD) && pointer.operand(0).is_some_and(is_constant);
                Some(if constant { PointsTo::Unchecked } else { PointsTo::Of(pointer) })
            }
            _ => Some(if names_global(pointer) { PointsTo::Unchecked } else { PointsTo::Nothing }),
        }
    }

    /// The pointers whose memory must be known. For each pointer: the sizes of the accesses through it.
    fn needed(&self) -> Result<HashMap<Value<'m>, BTreeSet<u64>>, String> {
        let mut needed: HashMap<Value<'m>, BTreeSet<u64>> = HashMap::new();
        for one in self.kernel.instructions() {
            for (pointer, bytes) in self.accesses(one)? {
                if let Some(memory) = self.checked_memory(pointer, one) {
                    needed.entry(memory).or_default().insert(bytes);
                }
            }
        }
        // Adds the pointers from which needed phis and selects choose.
        let mut worklist: Vec<Value<'m>> = needed.keys().copied().collect();
        while let Some(one) = worklist.pop() {
            for input in inputs(one) {
                if let PointsTo::Of(other) = self.points_to(input) {
                    needed.entry(other).or_insert_with(|| {
                        worklist.push(other);
                        BTreeSet::new()
                    });
                }
            }
        }
        Ok(needed)
    }

    /// The pointer whose memory limits an access; `None` if the access is not checked.
    fn checked_memory(&self, pointer: Value<'m>, one: Value<'m>) -> Option<Value<'m>> {
        let PointsTo::Of(memory) = self.points_to(pointer) else { return None };
        (!is_instruction(one, o::LOAD) || !self.is_of_array(pointer)).then_some(memory)
    }

    /// True for the address of a member of an `array` object that the argument block points to; false for the address of an element.
    fn is_of_array(&self, pointer: Value<'m>) -> bool {
        matches!(self.points_to(pointer), PointsTo::Of(memory) if self.arrays.contains(&memory) && self.is_captured(memory))
    }

    /// True if the pointer is loaded from the argument block.
    fn is_captured(&self, pointer: Value<'m>) -> bool {
        is_plain(pointer, o::LOAD) && pointer.operand(0).is_some_and(|from| self.points_to(from) == PointsTo::Block)
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
        let bytes = accessed.and_then(Type::bytes).ok_or("the kernel accesses a type without a size")?;
        Ok(pointer.map(|pointer| (pointer, bytes)).into_iter().collect())
    }

    /// The accesses of a call. Only intrinsics that copy and fill may get pointers to elements.
    fn called(&self, call: Value<'m>) -> Result<Vec<Access<'m>>, String> {
        let arguments = (0..call.count_arguments()).filter_map(|n| call.operand(n));
        let pointers: Vec<Value<'m>> = arguments.filter(|one| is_pointer(*one)).collect();
        let elements = || pointers.iter().any(|pointer| matches!(self.points_to(*pointer), PointsTo::Of(_)));
        let callee = call.called().map(Value::name).unwrap_or_default();
        if !calls::copies_or_sets(&callee) {
            return match elements() {
                true => Err(format!("the kernel passes the address of an element to {callee}")),
                false => Ok(Vec::new()),
            };
        }
        match call.operand(2).filter(|length| length.form() == Form::Other(k::INTEGER)) {
            Some(length) => Ok(pointers.into_iter().map(|pointer| (pointer, length.zero_extended())).collect()),
            None if elements() => Err("the kernel copies a number of elements that is not constant".into()),
            None => Ok(Vec::new()),
        }
    }

    /// For a loaded pointer: the address in the argument block whose table entry describes the pointer's memory, and the
    /// offset within this entry.
    fn entry(&self, made: Value<'m>) -> Option<(Value<'m>, u64)> {
        let address = made.operand(0).filter(|_| is_plain(made, o::LOAD))?;
        match self.points_to(address) {
            PointsTo::Block => Some((address, table::POINTEE)),
            PointsTo::Of(array) if self.is_captured(array) => Some((array.operand(0)?, table::ELEMENTS)),
            _ => None,
        }
    }
}

/// True for an address in a constant of the program.
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

/// The start and the size of a pointer's memory. For each access size, the limit of the offsets at which an access may begin.
#[derive(Clone)]
struct Span<'m> {
    start: Value<'m>,
    size: Value<'m>,
    limits: HashMap<u64, Value<'m>>,
}

struct Guards<'m> {
    checks: Checks<'m>,
    /// The library's look-up, and the intrinsic that fills memory.
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
            if is_instruction(one, o::GEP) {
                // LLVM must not conclude from the flags that an address is in bounds.
                edit.drop_wrap_flags(one);
            }
            let accesses = self.checks.accesses(one)?;
            let memories: Vec<Option<Value<'m>>> =
                accesses.iter().map(|(pointer, _)| self.checks.checked_memory(*pointer, one)).collect();
            if memories.iter().any(Option::is_some) {
                guarded.push((one, accesses, memories));
            } else if is_instruction(one, o::LOAD) && accesses.iter().any(|(from, _)| self.checks.is_of_array(*from)) {
                edit.set_metadata(one, number::INVARIANT_LOAD, Some(edit.node(&[])));
            }
        }
        self.all_spans(&needed)?;
        for (n, (one, accesses, memories)) in guarded.into_iter().enumerate() {
            self.guard(one, &accesses, &memories, n + 1);
        }
        Ok(())
    }

    /// Computes the span of each needed pointer, after the instruction that computes the pointer.
    fn all_spans(&mut self, needed: &HashMap<Value<'m>, BTreeSet<u64>>) -> Result<(), String> {
        let (edit, kernel) = (self.checks.edit, self.checks.kernel);
        let all: Vec<(Value<'m>, &BTreeSet<u64>)> =
            kernel.instructions().filter_map(|one| Some((one, needed.get(&one)?))).collect();
        let (phis, mut worklist): (Vec<_>, Vec<_>) = all.into_iter().partition(|(one, _)| one.is_phi());
        for &(phi, _) in &phis {
            let (build, name, ty) = (edit.build_before(phi), phi.name(), edit.integer_type(64));
            let [start, size] = ["start", "size"].map(|what| build.phi(ty, &format!("span.{what}.{name}")));
            self.spans.insert(phi, Span { start, size, limits: HashMap::new() });
        }
        for &(phi, bytes) in &phis {
            let first = phi.block().and_then(|block| block.instructions().find(|one| !one.is_phi()));
            let build = edit.build_before(first.ok_or("a block of the kernel has no terminator")?);
            self.limits(&build, phi, bytes);
        }
        // An operand may be computed in a block that is later in the list.
        while !worklist.is_empty() {
            let before = worklist.len();
            let (ready, waiting): (Vec<_>, Vec<_>) = worklist.into_iter().partition(|(one, _)| {
                inputs(*one).into_iter().all(|input| match self.checks.points_to(input) {
                    PointsTo::Of(other) => self.spans.contains_key(&other),
                    _ => true,
                })
            });
            for (one, bytes) in ready {
                self.compute_span(one, bytes)?;
            }
            worklist = waiting;
            if worklist.len() == before {
                return Err("a pointer depends on itself, but not through a phi".into());
            }
        }
        for (phi, _) in phis {
            for n in 0..phi.count_incoming() {
                let Some((input, from)) = phi.incoming_value(n).zip(phi.incoming_block(n)) else { continue };
                let (input_span, phi_span) = (self.span_of(input), self.spans[&phi].clone());
                edit.add_incoming(phi_span.start, &[(input_span.0, from)]);
                edit.add_incoming(phi_span.size, &[(input_span.1, from)]);
            }
        }
        Ok(())
    }

    /// The start and the size of a pointer's memory.
    fn span_of(&self, pointer: Value<'m>) -> (Value<'m>, Value<'m>) {
        let number = |number| self.checks.edit.i64(number);
        match self.checks.points_to(pointer) {
            PointsTo::Unchecked | PointsTo::Block => (number(0), number(u64::MAX)),
            PointsTo::Nothing => (number(0), number(0)),
            PointsTo::Of(memory) => (self.spans[&memory].start, self.spans[&memory].size),
        }
    }

    /// Computes the limits of the accesses through a pointer.
    fn limits(&mut self, build: &Builder<'m>, pointer: Value<'m>, all: &BTreeSet<u64>) {
        let (edit, name) = (self.checks.edit, pointer.name());
        let Some(span) = self.spans.get_mut(&pointer) else { return };
        for &bytes in all {
            let trailing_bytes = edit.i64(bytes.saturating_sub(1));
            let fits = build.compare(
                IntPredicate::Ugt as i32,
                span.size,
                trailing_bytes,
                &format!("span.fits.{bytes}.{name}"),
            );
            let last = build.binary(o::SUB, span.size, trailing_bytes, &format!("span.last.{bytes}.{name}"));
            let limit = build.select(fits, last, edit.i64(0), &format!("span.limit.{bytes}.{name}"));
            span.limits.insert(bytes, limit);
        }
    }

    /// Computes the span of a pointer other than a phi, after the instruction that computes the pointer.
    fn compute_span(&mut self, pointer: Value<'m>, all: &BTreeSet<u64>) -> Result<(), String> {
        let checks = &self.checks;
        let (edit, name, block) = (checks.edit, pointer.name(), checks.block);
        let build = edit.build_before(pointer.next_instruction().ok_or("a block of the kernel has no terminator")?);
        let part_name = |what: &str| format!("span.{what}.{name}");
        let (start, size) = if let (true, Some(condition)) = (is_instruction(pointer, o::SELECT), pointer.operand(0)) {
            let [yes, no] = inputs(pointer).into_iter().map(|input| self.span_of(input)).collect::<Vec<_>>()[..] else {
                return Err("a select instruction of the kernel does not have two values to choose from".into());
            };
            (
                build.select(condition, yes.0, no.0, &part_name("start")),
                build.select(condition, yes.1, no.1, &part_name("size")),
            )
        } else if let Some((slot, entry_offset)) = checks.entry(pointer) {
            let table = table::offset_after_block(checks.bytes) + table::ENTRIES + entry_offset;
            let long = edit.integer_type(64);
            let [slot, begin] = [(slot, "slot"), (block, "block")]
                .map(|(at, what)| build.cast(o::POINTER_TO_INT, at, long, &part_name(what)));
            let offset = build.binary(o::SUB, slot, begin, &part_name("offset"));
            let scaled = build.binary(o::MUL, offset, edit.i64(table::ENTRY_BYTES / 8), &part_name("scaled"));
            let read_entry = |at: u64, what: &str| {
                let sum = build.binary(o::ADD, scaled, edit.i64(at), &part_name(&format!("{what}.at")));
                build.load(long, build.byte_address(block, sum, &part_name(&format!("{what}.from"))), &part_name(what))
            };
            (read_entry(table, "start"), read_entry(table + 8, "size"))
        } else {
            if checks.stores_own_address {
                return Err(
                    "the kernel stores addresses of its variables in memory, and loads addresses of elements from the \
                     same memory"
                        .into(),
                );
            }
            let (table, entries) = (table::offset_after_block(checks.bytes), edit.i64(checks.bytes.div_ceil(8)));
            let table_address = build.byte_address(block, edit.i64(table), &part_name("table"));
            let found = |what, name| build.call(self.found, &[table_address, entries, pointer, edit.i32(what)], name);
            (found(0, &part_name("start")), found(1, &part_name("size")))
        };
        self.spans.insert(pointer, Span { start, size, limits: HashMap::new() });
        self.limits(&build, pointer, all);
        Ok(())
    }

    /// Guards an access by a branch for each checked address.
    fn guard(&self, one: Value<'m>, accesses: &[Access<'m>], memories: &[Option<Value<'m>>], number: usize) {
        let edit = self.checks.edit;
        let Some(before) = edit.split_before(one, &format!("zero.{number}")) else { return };
        let Some(continuation) = one.block() else { return };
        let outside = self.failed_exchange_result(one, before);
        let mut at = before;
        for (n, (memory, &(pointer, bytes))) in memories.iter().zip(accesses).enumerate() {
            let Some(memory) = memory else { continue };
            // If the source of a copy is out of bounds, zeros are written to the destination.
            let other =
                if n == 1 { self.zero_fill_block(accesses[0].0, bytes, continuation, number) } else { continuation };
            let in_bounds_block = edit.block_before(continuation, &format!("zero.{number}.in.{n}"));
            if let Some(end) = at.terminator() {
                edit.erase(end);
            }
            let build = edit.build_at(at);
            build.branch_if(self.in_bounds(&build, pointer, bytes, *memory), in_bounds_block, other);
            edit.build_at(in_bounds_block).branch(continuation);
            at = in_bounds_block;
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

    /// The result of a compare-exchange out of bounds. The value in memory counts as 0, so the comparison succeeds if 0 is expected.
    fn failed_exchange_result(&self, one: Value<'m>, before: Block<'m>) -> Option<Value<'m>> {
        if !is_instruction(one, o::CMPXCHG) {
            return None;
        }
        let (expected, made) = one.operand(1).zip(one.ty())?;
        let (edit, build) = (self.checks.edit, self.checks.edit.build_before(before.terminator()?));
        let equal = build.compare(IntPredicate::Eq as i32, expected, edit.zero(expected.ty()?), "");
        Some(build.insert_value(edit.zero(made), equal, 1, ""))
    }

    /// A block that fills the destination of a copy with zeros.
    fn zero_fill_block(&self, target: Value<'m>, bytes: u64, continuation: Block<'m>, number: usize) -> Block<'m> {
        let edit = self.checks.edit;
        let block = edit.block_before(continuation, &format!("zero.{number}.outside"));
        let build = edit.build_at(block);
        build.call(self.fill, &[target, edit.integer(edit.integer_type(8), 0), edit.i64(bytes), edit.i1(false)], "");
        build.branch(continuation);
        block
    }

    /// Emits the check that an access is in bounds.
    fn in_bounds(&self, build: &Builder<'m>, pointer: Value<'m>, bytes: u64, memory: Value<'m>) -> Value<'m> {
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
    fn unguardable_accesses_are_refused() {
        let stores_own_address = "  %k = alloca ptr\n  store ptr %p, ptr %k, align 8\n  %q = load ptr, ptr %k, align 8\n  store i32 1, ptr %q, align 4\n";
        for (body, why) in [
            (
                format!("{stores_own_address}  store ptr %v, ptr %k, align 8\n"),
                "k: the kernel stores addresses of its variables in memory",
            ),
            (
                "  call void @other(i32 1, ptr noundef %p)\n".into(),
                "k: the kernel passes the address of an element to other",
            ),
            (
                "  call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 %n, i1 false)\n".into(),
                "k: the kernel copies a number of elements that is not constant",
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
