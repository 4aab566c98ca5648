//! Accesses outside the memory that a pointer may reach: reads give 0, writes are dropped, and if asked for it is reported.
//!
//! What a pointer may reach is found in the table behind the argument block ([`revamp_image::table`]), which the library fills in.
//! A read outside goes to zeros in that table, so that it needs no branch; writes and atomic operations are branched around.

use super::assembler::{Assembler, Scalar};
use super::checked::{Element, Span};
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use super::pointer_sets::PointerClass;
use super::reach::Reach;
use crate::bounds_option::Bounds;
use crate::ir::{Frame, LocalId, Op, Operand, Type, Value};
use revamp_image::table::{self, report};
use rspirv::dr;
use rspirv::spirv::{self, Op as S, StorageClass, Word};

/// An access: where it goes, whether that is known to be inside, and what is to be reported otherwise.
pub(super) struct Access {
    pub(super) at: Address,
    inside: Option<Word>,
    report: Option<Report>,
}

struct Report {
    site: u32,
    element: Option<Element>,
    /// From the beginning of the memory, and its size; 64 bits.
    offset: Word,
    size: Word,
}

impl Emitter<'_> {
    fn checks(&self) -> bool {
        self.options.bounds != Bounds::Off
    }

    /// At the beginning of the kernel: the entries of the pointers that it loads.
    pub(super) fn begin_checks(&mut self, block_size: u64) {
        if !self.checks() {
            return;
        }
        self.checked.table = table::begins(block_size);
        let zeros = self.checked.table + table::ZEROS;
        self.checked.zeros = Address::Device(self.arguments).plus(&mut self.asm, zeros).word();
        let whole = self.table_u64(table::WHOLE);
        self.checked.whole = Some((self.arguments, whole));
        for slot in self.reaches.slots.clone() {
            for place in [table::POINTED, table::ELEMENTS] {
                if place == table::POINTED || self.reaches.headers.contains(&slot) {
                    let at = table::entry(u64::from(slot)) + place;
                    let span = (self.table_u64(at), self.table_u64(at + 8));
                    self.checked.slots.insert((slot, place), span);
                }
            }
        }
    }

    /// A number of the table.
    fn table_u64(&mut self, at: u64) -> Word {
        let at = self.checked.table + at;
        if let Some(word) = self.uniform_u64(at) {
            return word;
        }
        let from = Address::Device(self.arguments).plus(&mut self.asm, at);
        device_load(&mut self.asm, from.word(), Scalar::U64)
    }

    /// After an instruction made a pointer: the memory in which it lies, if that is known only now.
    pub(super) fn pointer_made(&mut self, result: LocalId, op: &Op) -> Lowered<()> {
        if !self.checks() || self.pointers.class_of(result) != PointerClass::Device {
            return Ok(());
        }
        let span = match (self.reaches.of(&Value::Local(result)), op) {
            (Reach::Chosen(chosen), Op::Load { pointer, .. }) if chosen == result => self.chosen(pointer)?,
            (Reach::Found(found), _) if found == result => self.found(result)?,
            _ => return Ok(()),
        };
        self.checked.spans.insert(result, span);
        Ok(())
    }

    /// The entry of a pointer that was loaded from a place in the block that is known at run time.
    fn chosen(&mut self, pointer: &Operand) -> Lowered<Span> {
        let at = self.word(pointer)?;
        let offset = self.asm.make(S::ISub, Scalar::U64, &[at, self.arguments]);
        let scale = self.asm.constant(Scalar::U64, table::ENTRY / 8);
        let scaled = self.asm.make(S::IMul, Scalar::U64, &[offset, scale]);
        let from = self.asm.make(S::IAdd, Scalar::U64, &[self.arguments, scaled]);
        let entries = self.checked.table + table::ENTRIES;
        let first = Address::Device(from).plus(&mut self.asm, entries);
        let second = first.plus(&mut self.asm, 8);
        let start = device_load(&mut self.asm, first.word(), Scalar::U64);
        let size = device_load(&mut self.asm, second.word(), Scalar::U64);
        Ok((start, size))
    }

    /// Of all memory of the launch that in which a pointer lies, by a loop over all entries; none if it lies in none.
    fn found(&mut self, pointer: LocalId) -> Lowered<Span> {
        let Some(&[at]) = self.values.get(&pointer).map(Vec::as_slice) else {
            return Err(self.internal("a pointer of several parts"));
        };
        let whole = self.checked.whole.ok_or_else(|| self.internal("a kernel without its table"))?;
        let none = self.asm.constant(Scalar::U64, 0);
        let (inside, ..) = self.within(at, 1, 1, whole);
        let first = [
            self.asm.make(S::Select, Scalar::U64, &[inside, whole.0, none]),
            self.asm.make(S::Select, Scalar::U64, &[inside, whole.1, none]),
        ];
        let begin = Address::Device(self.arguments).plus(&mut self.asm, self.checked.table + table::ENTRIES).word();
        let end =
            Address::Device(self.arguments).plus(&mut self.asm, self.checked.table + table::bytes(self.block_size));
        let (head, body, latch, merge) = (self.asm.id(), self.asm.id(), self.asm.id(), self.asm.id());
        let (next, found) = (self.asm.id(), [self.asm.id(), self.asm.id()]);
        let before = self.block;
        self.branch(S::Branch, &[head]);
        self.begin_block(head);
        let place = self.asm.make(S::Phi, Scalar::U64, &[begin, before, next, latch]);
        let known = [
            self.asm.make(S::Phi, Scalar::U64, &[first[0], before, found[0], latch]),
            self.asm.make(S::Phi, Scalar::U64, &[first[1], before, found[1], latch]),
        ];
        let more = self.asm.make(S::ULessThan, Scalar::Bool, &[place, end.word()]);
        let operands = vec![
            dr::Operand::IdRef(merge),
            dr::Operand::IdRef(latch),
            dr::Operand::LoopControl(spirv::LoopControl::NONE),
        ];
        self.asm.push(dr::Instruction::new(S::LoopMerge, None, None, operands));
        self.branch(S::BranchConditional, &[more, body, merge]);
        self.begin_block(body);
        let start = device_load(&mut self.asm, place, Scalar::U64);
        let second = Address::Device(place).plus(&mut self.asm, 8).word();
        let size = device_load(&mut self.asm, second, Scalar::U64);
        let (inside, ..) = self.within(at, 1, 1, (start, size));
        self.asm.make_as(found[0], S::Select, Scalar::U64, &[inside, start, known[0]]);
        self.asm.make_as(found[1], S::Select, Scalar::U64, &[inside, size, known[1]]);
        self.branch(S::Branch, &[latch]);
        self.begin_block(latch);
        let step = self.asm.constant(Scalar::U64, table::ELEMENTS - table::POINTED);
        self.asm.make_as(next, S::IAdd, Scalar::U64, &[place, step]);
        self.branch(S::Branch, &[head]);
        self.begin_block(merge);
        Ok((known[0], known[1]))
    }

    /// Remembers what a pointer reaches that was merged, if it was.
    pub(super) fn merged_span(&mut self, result: LocalId) -> bool {
        self.checks() && self.reaches.of(&Value::Local(result)) == Reach::Merged(result)
    }

    pub(super) fn set_span(&mut self, result: LocalId, span: Span) {
        self.checked.spans.insert(result, span);
    }

    /// The memory that a pointer reaches.
    pub(super) fn span(&mut self, pointer: &Value) -> Lowered<Span> {
        match self.reaches.of(pointer) {
            Reach::Nothing => {
                let zero = self.asm.constant(Scalar::U64, 0);
                Ok((zero, zero))
            }
            Reach::Block(_) => Ok((self.arguments, self.asm.constant(Scalar::U64, self.block_size))),
            Reach::Captured(slot) => self.slot(slot, table::POINTED),
            Reach::Elements(slot) => self.slot(slot, table::ELEMENTS),
            Reach::Chosen(local) | Reach::Merged(local) | Reach::Found(local) => self
                .checked
                .spans
                .get(&local)
                .copied()
                .ok_or_else(|| self.internal("a pointer whose memory is not known")),
        }
    }

    fn slot(&self, slot: u32, place: u64) -> Lowered<Span> {
        self.checked.slots.get(&(slot, place)).copied().ok_or_else(|| self.internal("a pointer without an entry"))
    }

    /// The place of an access of so many bytes, `offset` bytes after the pointer. `align` is what the place is a multiple of.
    pub(super) fn access(
        &mut self,
        pointer: &Operand,
        offset: u64,
        bytes: u64,
        align: u64,
        what: &str,
    ) -> Lowered<Access> {
        let at = match self.narrow_addresses.address(pointer) {
            Some(near) => Address::Device(near),
            None => self.address(pointer)?,
        };
        let at = at.plus(&mut self.asm, offset);
        let free = Access { at, inside: None, report: None };
        if !self.checks() || bytes == 0 {
            return Ok(free);
        }
        let (inside, from, size) = match (self.class_of(pointer), at) {
            (PointerClass::Device, Address::Device(word)) => match self.reaches.of(&pointer.value) {
                // What was captured, at a place that is known.
                Reach::Block(Some(_)) => return Ok(free),
                // The extents of an array.
                Reach::Captured(slot) if self.reaches.headers.contains(&slot) => return Ok(free),
                _ => {
                    let span = self.span(&pointer.value)?;
                    self.within(word, bytes, align, span)
                }
            },
            (PointerClass::Group(group), Address::In(variable, word)) => {
                let last = self.pointers.groups[group].size.saturating_sub(bytes) / variable.unit;
                // Others are at places that are known.
                if self.options.bounds == Bounds::Zero || self.asm.constant_u32(word).is_some_and(|at| at <= last) {
                    return Ok(free);
                }
                let end = self.asm.constant(Scalar::U32, last + 1);
                let inside = self.asm.make(S::ULessThan, Scalar::Bool, &[word, end]);
                let unit = self.asm.constant(Scalar::U32, variable.unit);
                let bytes = self.asm.make(S::IMul, Scalar::U32, &[word, unit]);
                let offset = self.asm.make(S::SConvert, Scalar::U64, &[bytes]);
                let size = self.asm.constant(Scalar::U64, self.pointers.groups[group].size);
                (inside, offset, size)
            }
            _ => return Ok(free),
        };
        if self.options.bounds != Bounds::Report {
            return Ok(Access { at, inside: Some(inside), report: None });
        }
        let element = self.named(pointer, offset, bytes);
        let inside = match &element {
            Some(element) => self.asm.make(S::LogicalAnd, Scalar::Bool, &[inside, element.inside]),
            None => inside,
        };
        let site = self.site(pointer, element.as_ref(), what, bytes);
        Ok(Access { at, inside: Some(inside), report: Some(Report { site, element, offset: from, size }) })
    }

    /// The element of a view in which an access lies.
    fn named(&self, pointer: &Operand, offset: u64, bytes: u64) -> Option<Element> {
        let (call, at) = self.reaches.element(&pointer.value)?;
        let element = self.checked.named.get(&call)?;
        let end = u64::try_from(at).ok()?.checked_add(offset)?.checked_add(bytes)?;
        (end <= element.size).then(|| element.clone())
    }

    /// Whether so many bytes at an address lie in a span, the offset, and the span's size.
    ///
    /// Offsets are compared with the size as the table has it, which is an operand in constant memory. A limit of `size - bytes + 1`
    /// would be a 64-bit value in uniform registers for the whole kernel, and NVIDIA's driver 580.159.04 can compare with the
    /// wrong register once it spills them (docs/devices.md; the random programs 7000 and 7001 of the GPU bundle).
    fn within(&mut self, at: Word, bytes: u64, align: u64, (start, size): Span) -> (Word, Word, Word) {
        let asm = &mut self.asm;
        let offset = asm.make(S::ISub, Scalar::U64, &[at, start]);
        let last = match bytes - 1 {
            0 => offset,
            rest => {
                let rest = asm.constant(Scalar::U64, rest);
                asm.make(S::IAdd, Scalar::U64, &[offset, rest])
            }
        };
        let mut inside = asm.make(S::ULessThan, Scalar::Bool, &[last, size]);
        // Memory begins at a multiple of 4, so an aligned access of up to 4 bytes has no byte on each side of the start. Another one can begin
        // before it, and `last` then wraps around.
        if bytes > align.min(4) {
            let first = asm.make(S::ULessThan, Scalar::Bool, &[offset, size]);
            inside = asm.make(S::LogicalAnd, Scalar::Bool, &[first, inside]);
        }
        (inside, offset, size)
    }

    /// A load that is checked.
    pub(super) fn checked_load(
        &mut self,
        pointer: &Operand,
        ty: &Type,
        align: u64,
        load: impl Fn(&mut Self, Address) -> Lowered<Vec<Word>>,
    ) -> Lowered<Vec<Word>> {
        let bytes = ty.size().unwrap_or(0);
        let access = self.access(pointer, 0, bytes, align, READS)?;
        let Some(inside) = access.inside else { return load(self, access.at) };
        // More than there are zeros, and what is in variables.
        if bytes > table::ZERO_BYTES || !matches!(access.at, Address::Device(_)) {
            let mut kinds = Vec::new();
            for leaf in self.leaves(ty)? {
                kinds.push(leaf.kind.register());
            }
            return self.guarded(access, &kinds, load);
        }
        let safe = self.safe(access.at, inside);
        self.report_outside(access)?;
        load(self, safe)
    }

    /// An address from which may be read.
    pub(super) fn safe(&mut self, at: Address, inside: Word) -> Address {
        match at {
            Address::Device(word) => {
                let zeros = self.checked.zeros;
                Address::Device(self.asm.make(S::Select, Scalar::U64, &[inside, word, zeros]))
            }
            other => other,
        }
    }

    /// Reports an access that is outside; the code goes on behind.
    fn report_outside(&mut self, access: Access) -> Lowered<()> {
        if access.report.is_some() {
            self.guarded(access, &[], |_, _| Ok(Vec::new()))?;
        }
        Ok(())
    }

    /// Does something with an address if that is inside, and reports otherwise. What is made is 0 outside.
    pub(super) fn guarded(
        &mut self,
        access: Access,
        kinds: &[Scalar],
        act: impl FnOnce(&mut Self, Address) -> Lowered<Vec<Word>>,
    ) -> Lowered<Vec<Word>> {
        let Some(inside) = access.inside else { return act(self, access.at) };
        let (yes, no, merge) = (self.asm.id(), self.asm.id(), self.asm.id());
        let control = dr::Operand::SelectionControl(spirv::SelectionControl::NONE);
        let operands = vec![dr::Operand::IdRef(merge), control];
        self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, operands));
        let before = self.block;
        let outside = if access.report.is_some() { no } else { merge };
        self.branch(S::BranchConditional, &[inside, yes, outside]);
        self.begin_block(yes);
        let made = act(self, access.at)?;
        let after = self.block;
        self.branch(S::Branch, &[merge]);
        if let Some(report) = access.report {
            self.begin_block(no);
            self.keep(&report);
            self.branch(S::Branch, &[merge]);
        }
        self.begin_block(merge);
        let from = if outside == no { no } else { before };
        let mut words = Vec::new();
        for (word, &scalar) in made.into_iter().zip(kinds) {
            let zero = self.asm.constant(scalar, 0);
            words.push(self.asm.make(S::Phi, scalar, &[word, after, zero, from]));
        }
        Ok(words)
    }

    pub(super) fn branch(&mut self, op: S, to: &[Word]) {
        let operands = to.iter().map(|&word| dr::Operand::IdRef(word)).collect();
        self.asm.push(dr::Instruction::new(op, None, None, operands));
    }

    pub(super) fn begin_block(&mut self, label: Word) {
        self.block = label;
        self.asm.begin_block(label);
    }

    /// A call of the headers that names the element of a view.
    pub(super) fn name_element(&mut self, result: Option<LocalId>, arguments: &[Operand]) -> Lowered<Vec<Word>> {
        let [pointer, size, rank, rest @ ..] = arguments else {
            return Err(self.internal("an element without a name"));
        };
        let made = self.words(pointer)?;
        let (Some(size), Some(rank), Some(result), 6) = (size.unsigned(), rank.unsigned(), result, rest.len()) else {
            return Ok(made);
        };
        let mut words = [0; 6];
        for (word, operand) in words.iter_mut().zip(rest) {
            *word = self.word(operand)?;
        }
        let (index, extent) = ([words[0], words[1], words[2]], [words[3], words[4], words[5]]);
        let mut inside = self.asm.constant(Scalar::Bool, 1);
        for n in 0..(rank as usize).min(3) {
            let one = self.asm.make(S::ULessThan, Scalar::Bool, &[index[n], extent[n]]);
            inside = if n == 0 { one } else { self.asm.make(S::LogicalAnd, Scalar::Bool, &[inside, one]) };
        }
        self.checked.named.insert(result, Element { size, rank, index, extent, inside, location: self.location });
        Ok(made)
    }

    /// The number of an access in reports.
    fn site(&mut self, pointer: &Operand, element: Option<&Element>, what: &str, bytes: u64) -> u32 {
        let named = element.and_then(|element| element.location);
        let frame = named.or(self.location).and_then(|location| user_frame(self.module.frames(location)));
        let place = frame.as_ref().map_or_else(String::new, |frame| format!("{}:{}: ", frame.file, frame.line));
        let name = frame.as_ref().filter(|_| named.is_some()).and_then(|frame| self.names.name(frame));
        let of = match (name, self.reaches.of(&pointer.value), self.class_of(pointer)) {
            (Some(name), ..) => format!("'{name}'"),
            (_, _, PointerClass::Group(_)) => "a local or tile_static array".to_string(),
            (_, Reach::Captured(at) | Reach::Elements(at), _) => {
                format!("the array_view or array captured at byte {at} of the functor")
            }
            _ => "an array_view or array".to_string(),
        };
        let text = format!("{place}{what} {bytes} bytes outside of {of}");
        if let Some(known) = self.checked.sites.iter().position(|site| *site == text) {
            return known as u32;
        }
        self.checked.sites.push(text);
        self.checked.sites.len() as u32 - 1
    }

    /// The texts of the accesses that are reported; `None` if nothing is checked.
    pub(super) fn take_sites(&mut self) -> Option<Vec<String>> {
        self.checks().then(|| std::mem::take(&mut self.checked.sites))
    }

    /// Keeps what is to be reported until the thread ends: there it costs one branch, and here a few variables.
    fn keep(&mut self, report: &Report) {
        if self.checked.kept.is_empty() {
            let kinds: Vec<Scalar> = [Scalar::U32; 8].into_iter().chain([Scalar::U64; 2]).collect();
            for &kind in &kinds {
                let zero = self.asm.constant(kind, 0);
                let ty = self.asm.scalar(kind);
                let variable = self.asm.variable(StorageClass::Function, ty, Some(zero));
                self.checked.kept.push((variable, kind));
            }
        }
        let zero = self.asm.constant(Scalar::U32, 0);
        let site = self.asm.constant(Scalar::U32, u64::from(report.site) + 1);
        let (rank, index, extent) = match &report.element {
            Some(element) => {
                // Inside its extents, but not of its memory.
                let rank = self.asm.constant(Scalar::U32, element.rank);
                let rank = self.asm.make(S::Select, Scalar::U32, &[element.inside, zero, rank]);
                (rank, element.index, element.extent)
            }
            None => (zero, [zero; 3], [zero; 3]),
        };
        let mut words = vec![site, rank];
        words.extend(index.into_iter().chain(extent));
        words.extend([report.offset, report.size]);
        for ((variable, _), word) in self.checked.kept.clone().into_iter().zip(words) {
            let operands = [variable, word].map(dr::Operand::IdRef).to_vec();
            self.asm.push(dr::Instruction::new(S::Store, None, None, operands));
        }
    }

    /// Where the thread ends: reports what was kept.
    pub(super) fn end_checks(&mut self) {
        let kept = self.checked.kept.clone();
        let Some(&(site, _)) = kept.first() else { return };
        let zero = self.asm.constant(Scalar::U32, 0);
        let site = self.asm.make(S::Load, Scalar::U32, &[site]);
        let some = self.asm.make(S::INotEqual, Scalar::Bool, &[site, zero]);
        let (report, end) = (self.asm.id(), self.asm.id());
        self.selection(some, report, end);
        self.begin_block(report);
        let one = self.asm.constant(Scalar::U32, 1);
        let mut words = vec![self.asm.make(S::ISub, Scalar::U32, &[site, one])];
        for &(variable, kind) in &kept[1..] {
            words.push(self.asm.make(S::Load, kind, &[variable]));
        }
        self.report(&words);
        self.branch(S::Branch, &[end]);
        self.begin_block(end);
    }

    /// Writes the report, if no thread has: the site's number, then as the fields follow.
    fn report(&mut self, words: &[Word]) {
        let (first, free, taken, end) = (self.asm.id(), self.asm.id(), self.asm.id(), self.asm.id());
        let to = self.table_u64(table::REPORT);
        let none = self.asm.constant(Scalar::U64, 0);
        let some = self.asm.make(S::INotEqual, Scalar::Bool, &[to, none]);
        self.selection(some, first, end);
        self.begin_block(first);
        let (device, zero, one) = (
            self.asm.constant(Scalar::U32, spirv::Scope::Device as u64),
            self.asm.constant(Scalar::U32, 0),
            self.asm.constant(Scalar::U32, 1),
        );
        let place = Address::Device(to).plus(&mut self.asm, report::TAKEN).word();
        let word = memory::device_pointer(&mut self.asm, place, Scalar::U32);
        // Not a compare-and-exchange: what has one may add floats, and its workgroup is not looked for (decision 37).
        let old = self.asm.make(S::AtomicUMax, Scalar::U32, &[word, device, zero, one]);
        let is_free = self.asm.make(S::IEqual, Scalar::Bool, &[old, zero]);
        self.selection(is_free, free, taken);
        self.begin_block(free);
        let mut values = Vec::new();
        for (from, at) in [(table::KERNEL, report::KERNEL), (table::LAUNCH, report::LAUNCH)] {
            let from = Address::Device(self.arguments).plus(&mut self.asm, self.checked.table + from).word();
            values.push((at, device_load(&mut self.asm, from, Scalar::U32), Scalar::U32));
        }
        let mut places = vec![report::SITE, report::RANK];
        places.extend((0..3).map(|n| report::INDEX + 4 * n));
        places.extend((0..3).map(|n| report::EXTENT + 4 * n));
        places.extend([report::OFFSET, report::SIZE]);
        let kinds: Vec<Scalar> = self.checked.kept.iter().map(|&(_, kind)| kind).collect();
        values.extend(
            places.into_iter().zip(words.iter().copied()).zip(kinds).map(|((at, word), kind)| (at, word, kind)),
        );
        for (at, value, scalar) in values {
            let place = Address::Device(to).plus(&mut self.asm, at).word();
            device_store(&mut self.asm, place, scalar, value);
        }
        self.fence(1);
        let filled = self.asm.constant(Scalar::U32, u64::from(report::FILLED));
        let operands = [word, device, zero, filled].map(dr::Operand::IdRef).to_vec();
        self.asm.push(dr::Instruction::new(S::AtomicStore, None, None, operands));
        self.branch(S::Branch, &[taken]);
        self.begin_block(taken);
        self.branch(S::Branch, &[end]);
        self.begin_block(end);
    }

    fn selection(&mut self, condition: Word, yes: Word, merge: Word) {
        let control = dr::Operand::SelectionControl(spirv::SelectionControl::NONE);
        let operands = vec![dr::Operand::IdRef(merge), control];
        self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, operands));
        self.branch(S::BranchConditional, &[condition, yes, merge]);
    }
}

/// What accesses do, as reports say it.
pub(super) const READS: &str = "reads";
pub(super) const WRITES: &str = "writes";
pub(super) const UPDATES: &str = "an atomic operation on";

/// The innermost place that the user wrote.
fn user_frame(frames: Vec<Frame>) -> Option<Frame> {
    frames.into_iter().find(|frame| !frame.file.contains("/revamp/detail/") && frame.line > 0)
}

fn device_load(asm: &mut Assembler, at: Word, scalar: Scalar) -> Word {
    let pointer = memory::device_pointer(asm, at, scalar);
    let ty = asm.scalar(scalar);
    let id = asm.id();
    let mut operands = vec![dr::Operand::IdRef(pointer)];
    operands.extend(aligned(scalar));
    asm.push(dr::Instruction::new(S::Load, Some(ty), Some(id), operands));
    id
}

fn device_store(asm: &mut Assembler, at: Word, scalar: Scalar, value: Word) {
    let pointer = memory::device_pointer(asm, at, scalar);
    let mut operands = vec![dr::Operand::IdRef(pointer), dr::Operand::IdRef(value)];
    operands.extend(aligned(scalar));
    asm.push(dr::Instruction::new(S::Store, None, None, operands));
}

fn aligned(scalar: Scalar) -> [dr::Operand; 2] {
    let flags = spirv::MemoryAccess::ALIGNED;
    [dr::Operand::MemoryAccess(flags), dr::Operand::LiteralBit32(scalar.size() as u32)]
}
