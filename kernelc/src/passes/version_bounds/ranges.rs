//! The range of a value over all iterations of a loop nest, computed at run time before the nest.

mod counts;

use crate::analysis::loops::NaturalLoop;
use crate::ir::IntPredicate;
use crate::llvm::number::{INVARIANT_LOAD, opcode as o, ty as t, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Type, Value};
use revamp_image::table;
use std::collections::{HashMap, HashSet};

/// The bounds of a value, as 64-bit numbers. A narrower value equals its 64-bit number modulo a power of two. Therefore
/// intermediate sums and products need not fit into the narrower type if the value that is computed from them fits.
#[derive(Clone, Copy)]
pub struct Range<'m> {
    low: Value<'m>,
    high: Value<'m>,
    /// `low` and `high` are at least -2^bits and less than 2^bits.
    bits: u32,
    /// The condition on which the bounds hold; `None` if they always do.
    given: Option<Value<'m>>,
}

/// The maximum of `Range::bits` for a computed sum or product.
const MAX_BITS: u32 = 62;
/// The maximum of `Range::bits` for loaded 64-bit numbers, such as strides and offsets. A condition checks this
/// assumption.
const LONG_BITS: u32 = 46;

pub struct Ranges<'m, 'n> {
    edit: Editor<'m>,
    build: Builder<'m>,
    /// The argument block, and its size in bytes.
    argument: Value<'m>,
    bytes: u64,
    block_indices: &'n HashMap<Block<'m>, usize>,
    /// The loops, outermost first.
    loops: &'n [NaturalLoop],
    known: HashMap<Value<'m>, Option<Range<'m>>>,
    scalars: HashMap<Value<'m>, Option<Value<'m>>>,
    counts: HashMap<usize, Option<Range<'m>>>,
}

impl<'m, 'n> Ranges<'m, 'n> {
    pub fn new(
        edit: Editor<'m>,
        (argument, bytes): (Value<'m>, u64),
        before: Value<'m>,
        block_indices: &'n HashMap<Block<'m>, usize>,
        loops: &'n [NaturalLoop],
    ) -> Self {
        let build = edit.build_before(before);
        let (known, scalars, counts) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { edit, build, argument, bytes, block_indices, loops, known, scalars, counts }
    }

    /// The condition that a pointer's offset is below a limit in all iterations; `None` if it cannot be computed.
    pub fn inside(&mut self, offset: Value<'m>, limit: Value<'m>) -> Option<Value<'m>> {
        let (pointer, start) = operands_of(offset, o::SUB)?;
        let pointer = if is_instruction(pointer, o::POINTER_TO_INT) { pointer.operand(0)? } else { return None };
        let (limit, start) = (self.scalar(limit)?, self.scalar(start)?);
        let (base, offset) = self.address(pointer)?;
        let base = self.build.cast(o::POINTER_TO_INT, base, self.long(), "");
        let begin = self.build.binary(o::SUB, base, start, "");
        let begin = self.within(Range { low: begin, high: begin, bits: 64, given: None }, LONG_BITS);
        let all = self.sum(begin, offset);
        let above = self.compare(IntPredicate::Sge, all.low, self.number(0));
        let below = self.compare(IntPredicate::Ult, all.high, limit);
        let inside = self.and(above, below);
        Some(all.given.map_or(inside, |given| self.and(given, inside)))
    }

    pub fn and(&self, one: Value<'m>, other: Value<'m>) -> Value<'m> {
        self.build.binary(o::AND, one, other, "")
    }

    fn long(&self) -> Type<'m> {
        self.edit.integer_type(64)
    }

    fn number(&self, number: i64) -> Value<'m> {
        self.edit.i64(number as u64)
    }

    fn compare(&self, predicate: IntPredicate, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.build.compare(predicate as i32, left, right, "")
    }

    fn least(&self, one: Value<'m>, other: Value<'m>) -> Value<'m> {
        if one == other { one } else { self.build.select(self.compare(IntPredicate::Slt, one, other), one, other, "") }
    }

    fn most(&self, one: Value<'m>, other: Value<'m>) -> Value<'m> {
        if one == other { one } else { self.build.select(self.compare(IntPredicate::Sgt, one, other), one, other, "") }
    }

    fn is_in_nest(&self, value: Value<'m>) -> bool {
        matches!(value.form(), Form::Instruction(_))
            && value
                .block()
                .and_then(|block| self.block_indices.get(&block))
                .is_some_and(|n| self.loops[0].blocks.contains(n))
    }

    /// Computes, before the nest, a value that is the same in all iterations.
    fn scalar(&mut self, value: Value<'m>) -> Option<Value<'m>> {
        if let Some(known) = self.scalars.get(&value) {
            return *known;
        }
        let made = if !self.is_in_nest(value) {
            // The value may be poison if no iteration uses it.
            let constant = matches!(value.form(), Form::Other(k::INTEGER | k::NULL));
            Some(if constant { value } else { self.build.freeze(value) })
        } else {
            match value.form() {
                Form::Instruction(o::LOAD) => self.hoist_load(value),
                Form::Instruction(o::CALL) => {
                    let callee = value.called().filter(|callee| callee.name() == "llvm.usub.sat.i64")?;
                    let (left, right) = (self.scalar(value.operand(0)?)?, self.scalar(value.operand(1)?)?);
                    Some(self.build.call(callee, &[left, right], ""))
                }
                Form::Instruction(opcode @ (o::ADD | o::SUB)) => {
                    let (left, right) = (self.scalar(value.operand(0)?)?, self.scalar(value.operand(1)?)?);
                    Some(self.build.binary(opcode, left, right, ""))
                }
                _ => None,
            }
        };
        self.scalars.insert(value, made);
        made
    }

    /// Repeats, before the nest, a load from the argument block or from a member of an `array` object that the block
    /// points to. Neither memory changes, and both are readable even if no thread reads them.
    fn hoist_load(&mut self, load: Value<'m>) -> Option<Value<'m>> {
        if !self.is_captured(load) {
            return None;
        }
        let (base, offset) = constant_offset(load.operand(0)?)?;
        let base = if base == self.argument { base } else { self.scalar(base)? };
        let from = self.build.byte_address(base, self.edit.i64(offset), "");
        let made = self.build.load_aligned(load.ty()?, from, load.alignment(), "");
        Some(self.build.freeze(made))
    }

    /// True for a load from the argument block, from the table after the block, or from a member of an `array` object
    /// that the block points to (`zero_bounds` marks these loads). False for a load of an element: elements change, and
    /// may be out of bounds.
    fn is_captured(&self, load: Value<'m>) -> bool {
        let end = table::offset_after_block(self.bytes) + table::bytes(self.bytes);
        let ends_before = |offset: u64, end: u64| {
            load.ty().and_then(Type::bytes).and_then(|size| offset.checked_add(size)).is_some_and(|last| last <= end)
        };
        let plain = |one: Value<'m>| is_instruction(one, o::LOAD) && !one.is_volatile() && one.ordering() == 0;
        let address = |one: Value<'m>| one.operand(0).filter(|_| plain(one)).and_then(constant_offset);
        if !plain(load) {
            return false;
        }
        match address(load) {
            Some((base, offset)) if base == self.argument => ends_before(offset, end),
            Some((array, _)) if plain(array) && load.metadata(INVARIANT_LOAD).is_some() => {
                address(array).is_some_and(|(base, offset)| base == self.argument && offset < self.bytes)
            }
            _ => false,
        }
    }

    /// The base of an address, and the range of its offset.
    fn address(&mut self, pointer: Value<'m>) -> Option<(Value<'m>, Range<'m>)> {
        if !is_instruction(pointer, o::GEP) || !self.is_in_nest(pointer) {
            return Some((self.scalar(pointer)?, self.constant(0)));
        }
        let (base, mut offset) = self.address(pointer.operand(0)?)?;
        let mut ty = pointer.source_type()?;
        for n in 1..pointer.count_operands() {
            if n > 1 {
                ty = ty.element().filter(|_| ty.kind() == t::ARRAY)?;
            }
            let index = pointer.operand(n)?;
            let (range, width) = (self.range(index)?, index.ty()?.width());
            let (index, size) = (self.fit(range, width), self.constant(i64::try_from(ty.stride()?).ok()?));
            let bytes = self.product(index, size);
            offset = self.sum(offset, bytes);
        }
        Some((base, offset))
    }

    fn constant(&self, number: i64) -> Range<'m> {
        let bits = 64 - number.unsigned_abs().leading_zeros();
        Range { low: self.number(number), high: self.number(number), bits, given: None }
    }

    /// The range, on up to two additional conditions.
    fn given(&self, range: Range<'m>, all: [Option<Value<'m>>; 2]) -> Range<'m> {
        let given = all.into_iter().flatten().chain(range.given).reduce(|all, one| self.and(all, one));
        Range { given, ..range }
    }

    /// The range, on the condition that its ends have at most `bits` bits.
    fn within(&self, range: Range<'m>, bits: u32) -> Range<'m> {
        if range.bits <= bits {
            return range;
        }
        let (least, most) = (self.number(-(1 << bits)), self.number(1 << bits));
        let above = self.compare(IntPredicate::Sge, range.low, least);
        let below = self.compare(IntPredicate::Slt, range.high, most);
        self.given(Range { bits, ..range }, [Some(above), Some(below)])
    }

    /// The range, on the condition that its values fit into a signed integer of `width` bits.
    fn fit(&self, range: Range<'m>, width: u32) -> Range<'m> {
        self.within(range, (width - 1).min(MAX_BITS))
    }

    /// The range, on the condition that no value is below `least`.
    fn at_least(&self, range: Range<'m>, least: i64) -> Range<'m> {
        self.given(range, [Some(self.compare(IntPredicate::Sge, range.low, self.number(least))), None])
    }

    fn limit_bits(&self, range: Range<'m>, bits: u32) -> Range<'m> {
        if range.bits > bits { self.within(range, bits.min(LONG_BITS)) } else { range }
    }

    fn sum(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let [one, other] = [one, other].map(|one| self.limit_bits(one, MAX_BITS - 1));
        let [low, high] =
            [(one.low, other.low), (one.high, other.high)].map(|(a, b)| self.build.binary(o::ADD, a, b, ""));
        let range = Range { low, high, bits: one.bits.max(other.bits) + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    fn difference(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let [one, other] = [one, other].map(|one| self.limit_bits(one, MAX_BITS - 1));
        let [low, high] =
            [(one.low, other.high), (one.high, other.low)].map(|(a, b)| self.build.binary(o::SUB, a, b, ""));
        let range = Range { low, high, bits: one.bits.max(other.bits) + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    fn product(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let (mut one, mut other) = (one, other);
        if one.bits + other.bits > MAX_BITS {
            [one, other] = [one, other].map(|one| self.limit_bits(one, MAX_BITS / 2));
        }
        let multiply = |a, b| self.build.binary(o::MUL, a, b, "");
        let is_not_negative = |one: Value<'m>| one.form() == Form::Other(k::INTEGER) && one.sign_extended() >= 0;
        if other.low == other.high && is_not_negative(other.low) {
            let (low, high) = (multiply(one.low, other.low), multiply(one.high, other.low));
            let range = Range { low, high, bits: one.bits + other.bits, given: None };
            return self.given(range, [one.given, other.given]);
        }
        let mut all = vec![multiply(one.low, other.low)];
        for (a, b) in [(one.low, other.high), (one.high, other.low), (one.high, other.high)] {
            let ends_differ = (a == one.low || one.low != one.high) && (b == other.low || other.low != other.high);
            if ends_differ {
                all.push(multiply(a, b));
            }
        }
        let low = all.iter().copied().reduce(|a, b| self.least(a, b)).unwrap_or(one.low);
        let high = all.iter().copied().reduce(|a, b| self.most(a, b)).unwrap_or(one.high);
        // The product of the two lowest ends may equal 2^(one.bits + other.bits), which needs one more bit.
        let range = Range { low, high, bits: one.bits + other.bits + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    /// The smallest range that contains both ranges.
    fn union(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let (low, high) = (self.least(one.low, other.low), self.most(one.high, other.high));
        self.given(Range { low, high, bits: one.bits.max(other.bits), given: None }, [one.given, other.given])
    }

    /// The range from 0 to `high`.
    fn up_to(&self, high: Value<'m>, bits: u32, given: Option<Value<'m>>) -> Range<'m> {
        Range { low: self.number(0), high, bits, given }
    }

    /// The range of an integer.
    fn range(&mut self, value: Value<'m>) -> Option<Range<'m>> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        // A value that depends on itself has no range.
        self.known.insert(value, None);
        let made = self.compute_range(value);
        self.known.insert(value, made);
        made
    }

    fn compute_range(&mut self, value: Value<'m>) -> Option<Range<'m>> {
        let width = value.ty().filter(|ty| ty.kind() == t::INTEGER)?.width();
        if value.form() == Form::Other(k::INTEGER) {
            return (width <= 64).then(|| self.limit_bits(self.constant(value.sign_extended()), MAX_BITS));
        }
        if !self.is_in_nest(value) || is_instruction(value, o::LOAD) {
            return self.invariant_range(value, width);
        }
        let Form::Instruction(opcode) = value.form() else { return None };
        match opcode {
            o::PHI => self.phi(value),
            o::SELECT => {
                let (one, other) = (self.range(value.operand(1)?)?, self.range(value.operand(2)?)?);
                Some(self.union(self.fit(one, width), self.fit(other, width)))
            }
            o::TRUNC => self.range(value.operand(0)?),
            o::SEXT => {
                let from = value.operand(0)?;
                let range = self.range(from)?;
                Some(self.fit(range, from.ty()?.width()))
            }
            o::ZEXT => {
                let from = value.operand(0)?;
                let width = from.ty()?.width();
                match self.range(from).filter(|_| width > 1) {
                    Some(range) => Some(self.at_least(self.fit(range, width), 0)),
                    None => (width <= 16).then(|| self.up_to(self.number((1 << width) - 1), width, None)),
                }
            }
            o::CALL => self.called(value, width),
            _ => self.arithmetic(value, opcode, width),
        }
    }

    /// The range of a value that is the same in all iterations.
    fn invariant_range(&mut self, value: Value<'m>, width: u32) -> Option<Range<'m>> {
        if !(2..=64).contains(&width) {
            return None;
        }
        let scalar = self.scalar(value)?;
        if width == 64 {
            return Some(self.within(Range { low: scalar, high: scalar, bits: 64, given: None }, LONG_BITS));
        }
        let wide = self.build.cast(o::SEXT, scalar, self.long(), "");
        Some(Range { low: wide, high: wide, bits: width - 1, given: None })
    }

    fn arithmetic(&mut self, value: Value<'m>, opcode: i32, width: u32) -> Option<Range<'m>> {
        let (left, right) = operands_of(value, opcode)?;
        let constant = (right.form() == Form::Other(k::INTEGER)).then(|| right.sign_extended());
        match opcode {
            o::ADD => Some((self.range(left)?, self.range(right)?)).map(|(a, b)| self.sum(a, b)),
            o::OR if value.is_disjoint() => Some((self.range(left)?, self.range(right)?)).map(|(a, b)| self.sum(a, b)),
            o::SUB => Some((self.range(left)?, self.range(right)?)).map(|(a, b)| self.difference(a, b)),
            o::MUL => Some((self.range(left)?, self.range(right)?)).map(|(a, b)| self.product(a, b)),
            o::SHL => {
                let by = constant.filter(|by| (0..i64::from(width.min(40))).contains(by))?;
                let range = self.range(left)?;
                Some(self.product(range, self.constant(1 << by)))
            }
            o::AND => self.and_range(left, right, constant, width),
            o::LSHR => {
                let by = constant.filter(|by| (1..i64::from(width)).contains(by))?;
                match self.range(left) {
                    Some(range) => Some(self.shift_range(self.at_least(self.fit(range, width), 0), by)),
                    None if width <= 32 => {
                        let bits = width - u32::try_from(by).ok()?;
                        Some(self.up_to(self.number((1 << bits) - 1), bits, None))
                    }
                    None => None,
                }
            }
            o::ASHR => {
                let by = constant.filter(|by| (0..i64::from(width)).contains(by))?;
                let range = self.range(left)?;
                Some(self.shift_range(self.fit(range, width), by))
            }
            o::UDIV | o::SDIV => {
                let (left, right) = (self.range(left)?, self.range(right)?);
                let left = self.at_least(self.fit(left, width), 0);
                let right = self.at_least(self.fit(right, width), 1);
                // Avoids a division by 0 where the condition does not hold.
                let by = |end| self.most(end, self.number(1));
                let low = self.build.binary(o::SDIV, left.low, by(right.high), "");
                let high = self.build.binary(o::SDIV, left.high, by(right.low), "");
                Some(self.given(Range { low, high, bits: left.bits, given: None }, [left.given, right.given]))
            }
            o::UREM => {
                let right = self.range(right)?;
                let right = self.at_least(self.fit(right, width), 1);
                let high = self.build.binary(o::SUB, right.high, self.number(1), "");
                Some(self.up_to(high, right.bits, right.given))
            }
            o::SREM => {
                let (left, right) = (self.range(left)?, self.range(right)?);
                let left = self.at_least(self.fit(left, width), 0);
                let right = self.at_least(self.fit(right, width), 1);
                let high = self.build.binary(o::SUB, right.high, self.number(1), "");
                let range = self.up_to(self.least(high, left.high), right.bits, None);
                Some(self.given(range, [left.given, right.given]))
            }
            _ => None,
        }
    }

    fn shift_range(&self, range: Range<'m>, by: i64) -> Range<'m> {
        let [low, high] = [range.low, range.high].map(|end| self.build.binary(o::ASHR, end, self.number(by), ""));
        Range { low, high, ..range }
    }

    /// The range of the bitwise AND of two integers.
    fn and_range(&mut self, left: Value<'m>, right: Value<'m>, constant: Option<i64>, width: u32) -> Option<Range<'m>> {
        if let Some(mask) = constant {
            if mask >= 0 {
                return Some(self.up_to(self.number(mask), 64 - mask.leading_zeros(), None));
            }
            // The mask rounds down to a multiple of a power of two.
            if mask.count_ones() + mask.trailing_zeros() == 64 {
                let range = self.range(left)?;
                let range = self.fit(range, width);
                let [low, high] =
                    [range.low, range.high].map(|end| self.build.binary(o::AND, end, self.number(mask), ""));
                return Some(Range { low, high, bits: range.bits + 1, ..range });
            }
            return None;
        }
        if is_instruction(right, o::CALL)
            && right.called().is_some_and(|called| called.form() == Form::Other(k::ASSEMBLY))
        {
            // `native::wraps` hides counted values from LLVM by an opaque mask with all bits set.
            let (range, mask) = (self.range(left)?, self.invariant_range(right, width)?);
            return Some(self.given(range, [Some(self.compare(IntPredicate::Eq, mask.low, self.number(-1))), None]));
        }
        let right = match self.range(right) {
            Some(range) => range,
            None => self.range(left)?,
        };
        let right = self.at_least(self.fit(right, width), 0);
        Some(self.up_to(right.high, right.bits, right.given))
    }

    /// The range of the minimum or maximum of two integers.
    fn called(&mut self, call: Value<'m>, width: u32) -> Option<Range<'m>> {
        let name = call.called()?.name();
        let kind = name.strip_prefix("llvm.")?.split('.').next()?.to_owned();
        if !["smin", "smax", "umin", "umax"].contains(&kind.as_str()) {
            return None;
        }
        let operands = [call.operand(0)?, call.operand(1)?];
        let mut ranges = Vec::new();
        for one in operands {
            ranges.push(self.range(one).map(|range| self.fit(range, width)));
        }
        match (kind.as_str(), ranges[0], ranges[1]) {
            ("umin", Some(one), None) | ("umin", None, Some(one)) => {
                let one = self.at_least(one, 0);
                Some(self.up_to(one.high, one.bits, one.given))
            }
            ("smin" | "smax", None, None) => None,
            ("smin" | "smax", None, Some(end)) => self.clamp_range(&kind, operands[0], end, width),
            ("smin" | "smax", Some(end), None) => self.clamp_range(&kind, operands[1], end, width),
            (_, Some(mut one), Some(mut other)) => {
                if kind.starts_with('u') {
                    [one, other] = [one, other].map(|one| self.at_least(one, 0));
                }
                let ends = [(one.low, other.low), (one.high, other.high)];
                let [low, high] =
                    ends.map(|(a, b)| if kind.ends_with("in") { self.least(a, b) } else { self.most(a, b) });
                let range = Range { low, high, bits: one.bits.max(other.bits), given: None };
                Some(self.given(range, [one.given, other.given]))
            }
            _ => None,
        }
    }

    /// The range of `smin(smax(value, low), high)` or `smax(smin(value, high), low)`. The range of `value` need not be
    /// known.
    fn clamp_range(&mut self, outer: &str, inner: Value<'m>, end: Range<'m>, width: u32) -> Option<Range<'m>> {
        let callee = if is_instruction(inner, o::CALL) { inner.called()?.name() } else { return None };
        let opposite = if outer == "smin" { "llvm.smax." } else { "llvm.smin." };
        if !callee.starts_with(opposite) {
            return None;
        }
        let mut other = None;
        for n in 0..2 {
            other = other.or(self.range(inner.operand(n)?));
        }
        let other = self.fit(other?, width);
        Some(self.union(end, other))
    }

    /// The range of a phi, which merges paths or changes from iteration to iteration.
    fn phi(&mut self, phi: Value<'m>) -> Option<Range<'m>> {
        let width = phi.ty()?.width();
        let block_number = *self.block_indices.get(&phi.block()?)?;
        if let Some(n) = self.loops.iter().position(|one| one.header == block_number) {
            return self.induction(phi, n);
        }
        let mut all: Option<Range<'m>> = None;
        for n in 0..phi.count_incoming() {
            let one = self.range(phi.incoming_value(n)?)?;
            let one = self.fit(one, width);
            all = Some(match all {
                Some(all) => self.union(all, one),
                None => one,
            });
        }
        all
    }

    /// The range of a value that changes by the same amount in each iteration of a loop.
    fn induction(&mut self, phi: Value<'m>, loop_number: usize) -> Option<Range<'m>> {
        let (first, _, step) = self.steps(phi, loop_number)?;
        let (first, step, count) = (self.range(first)?, self.range(step)?, self.count(loop_number)?);
        let total_step = self.product(step, count);
        Some(self.sum(first, total_step))
    }

    /// For a phi in a loop's header: its first value, its value in the next iteration, and the step.
    fn steps(&self, phi: Value<'m>, loop_number: usize) -> Option<(Value<'m>, Value<'m>, Value<'m>)> {
        let inside = &self.loops[loop_number].blocks;
        let (mut first, mut next) = (None, None);
        for n in 0..phi.count_incoming() {
            let from = self.block_indices.get(&phi.incoming_block(n)?)?;
            let slot = if inside.contains(from) { &mut next } else { &mut first };
            if slot.replace(phi.incoming_value(n)?).is_some() {
                return None;
            }
        }
        let (first, next) = first.zip(next)?;
        let (left, right) = operands_of(next, o::ADD)?;
        let step = if left == phi { right } else { left };
        ((left == phi || right == phi) && self.is_invariant(step, inside)).then_some((first, next, step))
    }

    /// True if a value is the same in all iterations of a loop.
    fn is_invariant(&self, value: Value<'m>, inside: &HashSet<usize>) -> bool {
        if !matches!(value.form(), Form::Instruction(_)) {
            return true;
        }
        let place = value.block().and_then(|block| self.block_indices.get(&block));
        place.is_some_and(|place| !inside.contains(place)) || self.is_captured(value)
    }
}

/// The base of an address, and its constant offset from the base in bytes.
fn constant_offset(address: Value<'_>) -> Option<(Value<'_>, u64)> {
    let Some((base, index)) = operands_of(address, o::GEP).filter(|_| address.count_operands() == 2) else {
        return Some((address, 0));
    };
    let (base, offset) = constant_offset(base)?;
    let index = (index.form() == Form::Other(k::INTEGER)).then(|| index.zero_extended())?;
    let bytes = index.checked_mul(address.source_type()?.stride()?)?;
    Some((base, offset.checked_add(bytes)?))
}

/// The first two operands of an instruction with this opcode.
fn operands_of(value: Value<'_>, opcode: i32) -> Option<(Value<'_>, Value<'_>)> {
    if is_instruction(value, opcode) && value.count_operands() >= 2 {
        value.operand(0).zip(value.operand(1))
    } else {
        None
    }
}

fn is_instruction(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}
