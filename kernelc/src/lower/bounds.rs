//! Bounds checks of memory accesses: out-of-bounds reads give 0, and out-of-bounds writes are dropped. `Bounds::Report` also reports them.
//!
//! A table after the argument block ([`revamp_image::table`]) lists the memory that each captured pointer may access. The library fills in
//! this table. An out-of-bounds read loads zeros from the table, so that reads need no branch. Writes and atomic operations are guarded by
//! a branch.

use super::assembler::{Assembler, Scalar};
use super::checked::{Element, Span};
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use super::pointer_sets::PointerClass;
use super::reach::Provenance;
use crate::bounds_option::Bounds;
use crate::ir::{Frame, LocalId, Op, Operand, Type, Value};
use revamp_image::table::{self, report};
use rspirv::dr;
use rspirv::spirv::{self, Op as S, StorageClass, Word};

/// A memory access. `inside`: the condition that the access is in bounds (`None`: no check). `report`: the report if it is out of bounds.
pub(super) struct Access {
    pub(super) at: Address,
    inside: Option<Word>,
    report: Option<Report>,
}

struct Report {
    site: u32,
    element: Option<Element>,
    /// The 64-bit offset of the access from the beginning of the memory, in bytes.
    offset: Word,
    /// The 64-bit size of the memory in bytes.
    size: Word,
}

impl Emitter<'_> {
    fn checks_bounds(&self) -> bool {
        self.options.bounds != Bounds::Off
    }

    /// Loads the table entries of the pointers that the kernel loads from the argument block. Called at the beginning of the kernel.
    pub(super) fn begin_checks(&mut self, block_size: u64) {
        if !self.checks_bounds() {
            return;
        }
        self.checked.table = table::offset_after_block(block_size);
        let zeros = self.checked.table + table::ZEROS;
        self.checked.zeros = Address::Device(self.arguments).plus(&mut self.asm, zeros).word();
        let whole = self.table_u64(table::TOTAL_BYTES);
        self.checked.whole = Some((self.arguments, whole));
        for slot in self.provenances.slots.clone() {
            for place in [table::POINTEE, table::ELEMENTS] {
                if place == table::POINTEE || self.provenances.headers.contains(&slot) {
                    let at = table::entry(u64::from(slot)) + place;
                    let span = (self.table_u64(at), self.table_u64(at + 8));
                    self.checked.slots.insert((slot, place), span);
                }
            }
        }
    }

    /// The 64-bit number at an offset in the table.
    fn table_u64(&mut self, at: u64) -> Word {
        let at = self.checked.table + at;
        if let Some(word) = self.uniform_u64(at) {
            return word;
        }
        let from = Address::Device(self.arguments).plus(&mut self.asm, at);
        device_load(&mut self.asm, from.word(), Scalar::U64)
    }

    /// Emits code that finds the memory of a pointer, if this memory is known only at run time. Called after each instruction whose result
    /// is a pointer.
    pub(super) fn compute_span(&mut self, result: LocalId, op: &Op) -> Lowered<()> {
        if !self.checks_bounds() || self.pointers.class_of(result) != PointerClass::Device {
            return Ok(());
        }
        let span = match (self.provenances.of(&Value::Local(result)), op) {
            (Provenance::DynamicSlot(dynamic_slot), Op::Load { pointer, .. }) if dynamic_slot == result => {
                self.dynamic_slot(pointer)?
            }
            (Provenance::Searched(found), _) if found == result => self.search_table(result)?,
            _ => return Ok(()),
        };
        self.checked.spans.insert(result, span);
        Ok(())
    }

    /// The table entry of a pointer that was loaded from the argument block at an offset known only at run time.
    fn dynamic_slot(&mut self, pointer: &Operand) -> Lowered<Span> {
        let at = self.word(pointer)?;
        let offset = self.asm.make(S::ISub, Scalar::U64, &[at, self.arguments]);
        let scale = self.asm.constant(Scalar::U64, table::ENTRY_BYTES / 8);
        let scaled = self.asm.make(S::IMul, Scalar::U64, &[offset, scale]);
        let from = self.asm.make(S::IAdd, Scalar::U64, &[self.arguments, scaled]);
        let entries = self.checked.table + table::ENTRIES;
        let first = Address::Device(from).plus(&mut self.asm, entries);
        let second = first.plus(&mut self.asm, 8);
        let start = device_load(&mut self.asm, first.word(), Scalar::U64);
        let size = device_load(&mut self.asm, second.word(), Scalar::U64);
        Ok((start, size))
    }

    /// Emits a loop over all table entries that finds the span of a pointer. The span is empty if no entry contains the
    /// pointer.
    fn search_table(&mut self, pointer: LocalId) -> Lowered<Span> {
        let Some(&[at]) = self.values.get(&pointer).map(Vec::as_slice) else {
            return Err(self.internal("a pointer consists of several values, but must be one value"));
        };
        let whole = self.checked.whole.ok_or_else(|| self.internal("the kernel has no table of array bounds"))?;
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
        let step = self.asm.constant(Scalar::U64, table::ELEMENTS - table::POINTEE);
        self.asm.make_as(next, S::IAdd, Scalar::U64, &[place, step]);
        self.branch(S::Branch, &[head]);
        self.begin_block(merge);
        Ok((known[0], known[1]))
    }

    /// True if a phi or select merges pointers into different memory, so that its span must be merged too.
    pub(super) fn merged_span(&mut self, result: LocalId) -> bool {
        self.checks_bounds() && self.provenances.of(&Value::Local(result)) == Provenance::Merged(result)
    }

    pub(super) fn set_span(&mut self, result: LocalId, span: Span) {
        self.checked.spans.insert(result, span);
    }

    /// The memory that a pointer may access.
    pub(super) fn span(&mut self, pointer: &Value) -> Lowered<Span> {
        match self.provenances.of(pointer) {
            Provenance::Nothing => {
                let zero = self.asm.constant(Scalar::U64, 0);
                Ok((zero, zero))
            }
            Provenance::Block(_) => Ok((self.arguments, self.asm.constant(Scalar::U64, self.block_size))),
            Provenance::Captured(slot) => self.slot(slot, table::POINTEE),
            Provenance::Elements(slot) => self.slot(slot, table::ELEMENTS),
            Provenance::DynamicSlot(local) | Provenance::Merged(local) | Provenance::Searched(local) => self
                .checked
                .spans
                .get(&local)
                .copied()
                .ok_or_else(|| self.internal("the memory of a pointer is not known")),
        }
    }

    fn slot(&self, slot: u32, place: u64) -> Lowered<Span> {
        self.checked
            .slots
            .get(&(slot, place))
            .copied()
            .ok_or_else(|| self.internal("a pointer has no entry in the table of array bounds"))
    }

    /// An access to `bytes` bytes at `offset` bytes after the pointer. `align` is the alignment of that address.
    pub(super) fn access(
        &mut self,
        pointer: &Operand,
        offset: u64,
        bytes: u64,
        align: u64,
        what: &str,
    ) -> Lowered<Access> {
        let at = match self.narrow_address(pointer) {
            Some(near) => Address::Device(near),
            None => self.address(pointer)?,
        };
        let at = at.plus(&mut self.asm, offset);
        let free = Access { at, inside: None, report: None };
        if !self.checks_bounds() || bytes == 0 {
            return Ok(free);
        }
        let (inside, from, size) = match (self.class_of(pointer), at) {
            (PointerClass::Device, Address::Device(word)) => match self.provenances.of(&pointer.value) {
                // A captured value at a constant offset needs no check.
                Provenance::Block(Some(_)) => return Ok(free),
                // The header of an array, such as its extents, needs no check.
                Provenance::Captured(slot) if self.provenances.headers.contains(&slot) => return Ok(free),
                _ => {
                    let span = self.span(&pointer.value)?;
                    self.within(word, bytes, align, span)
                }
            },
            (PointerClass::Group(group), Address::In(variable, word)) => {
                let last = self.pointers.groups[group].size.saturating_sub(bytes) / variable.unit;
                // No check is needed at a constant offset in bounds. With `Bounds::Zero`, variables are not checked at all.
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
        let element = self.element_of_access(pointer, offset, bytes);
        let inside = match &element {
            Some(element) => self.asm.make(S::LogicalAnd, Scalar::Bool, &[inside, element.inside]),
            None => inside,
        };
        let site = self.site(pointer, element.as_ref(), what, bytes);
        Ok(Access { at, inside: Some(inside), report: Some(Report { site, element, offset: from, size }) })
    }

    /// The element of a view that contains an access, if a call in the headers has described this element.
    fn element_of_access(&self, pointer: &Operand, offset: u64, bytes: u64) -> Option<Element> {
        let (call, at) = self.provenances.element(&pointer.value)?;
        let element = self.checked.elements.get(&call)?;
        let end = u64::try_from(at).ok()?.checked_add(offset)?.checked_add(bytes)?;
        (end <= element.size).then(|| element.clone())
    }

    /// Returns three values: the condition that `bytes` bytes at an address lie in a span, the offset of these bytes in the span, and the
    /// size of the span.
    ///
    /// The condition compares the last byte's offset with the size itself, which the driver can use as an operand in constant memory. A
    /// limit of `size - bytes + 1` would be a 64-bit value in uniform registers for the whole kernel. If NVIDIA's driver 580.159.04 spills
    /// uniform registers, it can compare with the wrong register (docs/devices.md; the random programs 7000 and 7001 of the GPU bundle).
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
        // Memory begins at a multiple of 4, so an aligned access of up to 4 bytes cannot cross the beginning. A larger or unaligned access
        // can begin before the memory and end in it: `last` then wraps around to a small number.
        if bytes > align.min(4) {
            let first = asm.make(S::ULessThan, Scalar::Bool, &[offset, size]);
            inside = asm.make(S::LogicalAnd, Scalar::Bool, &[first, inside]);
        }
        (inside, offset, size)
    }

    /// A bounds-checked load.
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
        // Loads from variables need a branch, and so do loads of more bytes than the zeros in the table.
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

    /// The address itself if it is in bounds, otherwise the address of the table's zeros.
    pub(super) fn safe(&mut self, at: Address, inside: Word) -> Address {
        match at {
            Address::Device(word) => {
                let zeros = self.checked.zeros;
                Address::Device(self.asm.make(S::Select, Scalar::U64, &[inside, word, zeros]))
            }
            other => other,
        }
    }

    /// Emits code that reports an access if it is out of bounds, and then continues.
    fn report_outside(&mut self, access: Access) -> Lowered<()> {
        if access.report.is_some() {
            self.guarded(access, &[], |_, _| Ok(Vec::new()))?;
        }
        Ok(())
    }

    /// Emits a branch: `act` runs if the access is in bounds, otherwise the access is reported. The results are 0 if it is out of bounds.
    pub(super) fn guarded(
        &mut self,
        access: Access,
        kinds: &[Scalar],
        act: impl FnOnce(&mut Self, Address) -> Lowered<Vec<Word>>,
    ) -> Lowered<Vec<Word>> {
        let Some(inside) = access.inside else { return act(self, access.at) };
        let (yes, no, merge) = (self.asm.id(), self.asm.id(), self.asm.id());
        let before = self.block;
        let outside = if access.report.is_some() { no } else { merge };
        self.selection(inside, [yes, outside], merge);
        self.begin_block(yes);
        let made = act(self, access.at)?;
        let after = self.block;
        self.branch(S::Branch, &[merge]);
        if let Some(report) = access.report {
            self.begin_block(no);
            self.store_report(&report);
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

    /// Ends the block with a branch to the first label if the condition holds, else to the second. Both paths meet at `merge`.
    pub(super) fn selection(&mut self, condition: Word, [yes, no]: [Word; 2], merge: Word) {
        let control = dr::Operand::SelectionControl(spirv::SelectionControl::NONE);
        self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, vec![dr::Operand::IdRef(merge), control]));
        self.branch(S::BranchConditional, &[condition, yes, no]);
    }

    pub(super) fn begin_block(&mut self, label: Word) {
        self.block = label;
        self.asm.begin_block(label);
    }

    /// Lowers the call by which the headers describe an element of a view: its size, index and extents.
    pub(super) fn name_element(&mut self, result: Option<LocalId>, arguments: &[Operand]) -> Lowered<Vec<Word>> {
        let [pointer, size, rank, rest @ ..] = arguments else {
            return Err(self.internal("a call that names an element has fewer than three arguments"));
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
        self.checked.elements.insert(result, Element { size, rank, index, extent, inside, location: self.location });
        Ok(made)
    }

    /// The number by which reports identify an access.
    fn site(&mut self, pointer: &Operand, element: Option<&Element>, what: &str, bytes: u64) -> u32 {
        let element_location = element.and_then(|element| element.location);
        let frame = element_location.or(self.location).and_then(|location| user_frame(self.module.frames(location)));
        let place = frame.as_ref().map_or_else(String::new, |frame| format!("{}:{}: ", frame.file, frame.line));
        let name = frame.as_ref().filter(|_| element_location.is_some()).and_then(|frame| self.names.name(frame));
        let of = match (name, self.provenances.of(&pointer.value), self.class_of(pointer)) {
            (Some(name), ..) => format!("'{name}'"),
            (_, _, PointerClass::Group(_)) => "a local or tile_static array".to_string(),
            (_, Provenance::Captured(at) | Provenance::Elements(at), _) => {
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

    /// The descriptions of the accesses that can be reported; `None` if bounds are not checked.
    pub(super) fn take_sites(&mut self) -> Option<Vec<String>> {
        self.checks_bounds().then(|| std::mem::take(&mut self.checked.sites))
    }

    /// Stores a report in variables. `end_checks` writes it to memory at the end of the thread.
    fn store_report(&mut self, report: &Report) {
        if self.checked.report_variables.is_empty() {
            let kinds: Vec<Scalar> = [Scalar::U32; 8].into_iter().chain([Scalar::U64; 2]).collect();
            for &kind in &kinds {
                let zero = self.asm.constant(kind, 0);
                let ty = self.asm.scalar(kind);
                let variable = self.asm.variable(StorageClass::Function, ty, Some(zero));
                self.checked.report_variables.push((variable, kind));
            }
        }
        let zero = self.asm.constant(Scalar::U32, 0);
        let site = self.asm.constant(Scalar::U32, u64::from(report.site) + 1);
        let (rank, index, extent) = match &report.element {
            Some(element) => {
                // If the index is within the extents although the element is not in the memory, the report has no index.
                let rank = self.asm.constant(Scalar::U32, element.rank);
                let rank = self.asm.make(S::Select, Scalar::U32, &[element.inside, zero, rank]);
                (rank, element.index, element.extent)
            }
            None => (zero, [zero; 3], [zero; 3]),
        };
        let mut words = vec![site, rank];
        words.extend(index.into_iter().chain(extent));
        words.extend([report.offset, report.size]);
        for ((variable, _), word) in self.checked.report_variables.clone().into_iter().zip(words) {
            let operands = [variable, word].map(dr::Operand::IdRef).to_vec();
            self.asm.push(dr::Instruction::new(S::Store, None, None, operands));
        }
    }

    /// Writes the report that `store_report` stored, at the end of the thread.
    pub(super) fn end_checks(&mut self) {
        let report_variables = self.checked.report_variables.clone();
        let Some(&(site, _)) = report_variables.first() else { return };
        let zero = self.asm.constant(Scalar::U32, 0);
        let site = self.asm.make(S::Load, Scalar::U32, &[site]);
        let some = self.asm.make(S::INotEqual, Scalar::Bool, &[site, zero]);
        let (report, end) = (self.asm.id(), self.asm.id());
        self.selection(some, [report, end], end);
        self.begin_block(report);
        let one = self.asm.constant(Scalar::U32, 1);
        let mut words = vec![self.asm.make(S::ISub, Scalar::U32, &[site, one])];
        for &(variable, kind) in &report_variables[1..] {
            words.push(self.asm.make(S::Load, kind, &[variable]));
        }
        self.report(&words);
        self.branch(S::Branch, &[end]);
        self.begin_block(end);
    }

    /// Writes the report unless another thread has written one. `words`: the number of the access, then the other fields in the order of
    /// `report_variables`.
    fn report(&mut self, words: &[Word]) {
        let (first, free, taken, end) = (self.asm.id(), self.asm.id(), self.asm.id(), self.asm.id());
        let to = self.table_u64(table::REPORT);
        let none = self.asm.constant(Scalar::U64, 0);
        let some = self.asm.make(S::INotEqual, Scalar::Bool, &[to, none]);
        self.selection(some, [first, end], end);
        self.begin_block(first);
        let (device, zero, one) = (
            self.asm.constant(Scalar::U32, spirv::Scope::Device as u64),
            self.asm.constant(Scalar::U32, 0),
            self.asm.constant(Scalar::U32, 1),
        );
        let place = Address::Device(to).plus(&mut self.asm, report::STATE).word();
        let word = memory::device_pointer(&mut self.asm, place, Scalar::U32);
        // This is no compare-exchange, because the workgroup search skips kernels with one, which may add floats
        // (decision 37).
        let old = self.asm.make(S::AtomicUMax, Scalar::U32, &[word, device, zero, one]);
        let is_free = self.asm.make(S::IEqual, Scalar::Bool, &[old, zero]);
        self.selection(is_free, [free, taken], taken);
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
        let kinds: Vec<Scalar> = self.checked.report_variables.iter().map(|&(_, kind)| kind).collect();
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
}

/// The kinds of access, as reports name them.
pub(super) const READS: &str = "reads";
pub(super) const WRITES: &str = "writes";
pub(super) const UPDATES: &str = "an atomic operation on";

/// The innermost frame in the user's sources.
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
