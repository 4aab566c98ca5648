//! The range of a value over all iterations of a nest of loops, computed before the nest when the program runs.

mod counts;

use crate::analysis::loops::NaturalLoop;
use crate::ir::IntPredicate;
use crate::llvm::number::{INVARIANT, opcode as o, ty as t, value as k};
use crate::llvm::{Block, Builder, Editor, Form, Type, Value};
use revamp_image::table;
use std::collections::{HashMap, HashSet};

/// Numbers of 64 bits between which a value lies. The value, of some width, is the number modulo a power of two: sums and products need not fit as
/// long as what is made of them fits.
#[derive(Clone, Copy)]
pub struct Range<'m> {
    low: Value<'m>,
    high: Value<'m>,
    /// Both lie from -2^bits to 2^bits.
    bits: u32,
    /// What must hold for that; `None`: nothing.
    given: Option<Value<'m>>,
}

/// The most bits of a sum or product that is computed.
const MOST_BITS: u32 = 62;
/// Bits of numbers that are loaded as 64 bits, offsets in memory, strides.
const LONG_BITS: u32 = 46;

pub struct Ranges<'m, 'n> {
    edit: Editor<'m>,
    build: Builder<'m>,
    /// The argument block, and its bytes.
    argument: Value<'m>,
    bytes: u64,
    places: &'n HashMap<Block<'m>, usize>,
    /// The outermost loop is the first.
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
        places: &'n HashMap<Block<'m>, usize>,
        loops: &'n [NaturalLoop],
    ) -> Self {
        let build = edit.build_before(before);
        let (known, scalars, counts) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { edit, build, argument, bytes, places, loops, known, scalars, counts }
    }

    /// Whether a pointer's offset is below a limit in all iterations, if that can be computed.
    pub fn inside(&mut self, offset: Value<'m>, limit: Value<'m>) -> Option<Value<'m>> {
        let (pointer, start) = sides(offset, o::SUB)?;
        let pointer = if is(pointer, o::POINTER_TO_INT) { pointer.operand(0)? } else { return None };
        let (limit, start) = (self.scalar(limit)?, self.scalar(start)?);
        let (base, offset) = self.address(pointer)?;
        let base = self.build.cast(o::POINTER_TO_INT, base, self.long(), "");
        let begin = self.build.binary(o::SUB, base, start, "");
        let begin = self.within(Range { low: begin, high: begin, bits: 64, given: None }, LONG_BITS);
        let all = self.sum(begin, offset);
        let above = self.compare(IntPredicate::Sge, all.low, self.number(0));
        let below = self.compare(IntPredicate::Ult, all.high, limit);
        let inside = self.both(above, below);
        Some(all.given.map_or(inside, |given| self.both(given, inside)))
    }

    pub fn both(&self, one: Value<'m>, other: Value<'m>) -> Value<'m> {
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

    fn is_inside(&self, value: Value<'m>) -> bool {
        matches!(value.form(), Form::Instruction(_))
            && value.block().and_then(|block| self.places.get(&block)).is_some_and(|n| self.loops[0].blocks.contains(n))
    }

    /// A value that is the same in all iterations, before the nest.
    fn scalar(&mut self, value: Value<'m>) -> Option<Value<'m>> {
        if let Some(known) = self.scalars.get(&value) {
            return *known;
        }
        let made = if !self.is_inside(value) {
            // What no iteration uses may be poison.
            let constant = matches!(value.form(), Form::Other(k::INTEGER | k::NULL));
            Some(if constant { value } else { self.build.freeze(value) })
        } else {
            match value.form() {
                Form::Instruction(o::LOAD) => self.loaded(value),
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

    /// What a load takes from the argument block, or from a member of an array that the block points to. Neither changes, and both are there whether or not a
    /// thread reads them.
    fn loaded(&mut self, load: Value<'m>) -> Option<Value<'m>> {
        if !self.is_captured(load) {
            return None;
        }
        let (base, offset) = constant_offset(load.operand(0)?)?;
        let base = if base == self.argument { base } else { self.scalar(base)? };
        let from = self.build.byte_address(base, self.edit.i64(offset), "");
        let made = self.build.load_aligned(load.ty()?, from, load.alignment(), "");
        Some(self.build.freeze(made))
    }

    /// A load from the argument block, from the table behind it, or of a member of an array that the block points to, which `zero_bounds` marks. A
    /// load of an element is none: elements change, and need not be there.
    fn is_captured(&self, load: Value<'m>) -> bool {
        let end = table::begins(self.bytes) + table::bytes(self.bytes);
        let ends_before = |offset: u64, end: u64| {
            load.ty().and_then(Type::bytes).and_then(|size| offset.checked_add(size)).is_some_and(|last| last <= end)
        };
        let plain = |one: Value<'m>| is(one, o::LOAD) && !one.is_volatile() && one.ordering() == 0;
        let address = |one: Value<'m>| one.operand(0).filter(|_| plain(one)).and_then(constant_offset);
        if !plain(load) {
            return false;
        }
        match address(load) {
            Some((base, offset)) if base == self.argument => ends_before(offset, end),
            Some((array, _)) if plain(array) && load.metadata(INVARIANT).is_some() => {
                address(array).is_some_and(|(base, offset)| base == self.argument && offset < self.bytes)
            }
            _ => false,
        }
    }

    /// The base of an address, and the range of its offset.
    fn address(&mut self, pointer: Value<'m>) -> Option<(Value<'m>, Range<'m>)> {
        if !is(pointer, o::GEP) || !self.is_inside(pointer) {
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

    /// A range with two conditions more.
    fn given(&self, range: Range<'m>, all: [Option<Value<'m>>; 2]) -> Range<'m> {
        let given = all.into_iter().flatten().chain(range.given).reduce(|all, one| self.both(all, one));
        Range { given, ..range }
    }

    /// The same, given that its ends have so few bits.
    fn within(&self, range: Range<'m>, bits: u32) -> Range<'m> {
        if range.bits <= bits {
            return range;
        }
        let (least, most) = (self.number(-(1 << bits)), self.number(1 << bits));
        let above = self.compare(IntPredicate::Sge, range.low, least);
        let below = self.compare(IntPredicate::Slt, range.high, most);
        self.given(Range { bits, ..range }, [Some(above), Some(below)])
    }

    /// The same, given that it is the signed value of an integer of so many bits.
    fn fit(&self, range: Range<'m>, width: u32) -> Range<'m> {
        self.within(range, (width - 1).min(MOST_BITS))
    }

    /// The same, given that no value is less.
    fn at_least(&self, range: Range<'m>, least: i64) -> Range<'m> {
        self.given(range, [Some(self.compare(IntPredicate::Sge, range.low, self.number(least))), None])
    }

    fn small_enough(&self, range: Range<'m>, bits: u32) -> Range<'m> {
        if range.bits > bits { self.within(range, bits.min(LONG_BITS)) } else { range }
    }

    fn sum(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let [one, other] = [one, other].map(|one| self.small_enough(one, MOST_BITS - 1));
        let [low, high] =
            [(one.low, other.low), (one.high, other.high)].map(|(a, b)| self.build.binary(o::ADD, a, b, ""));
        let range = Range { low, high, bits: one.bits.max(other.bits) + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    fn difference(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let [one, other] = [one, other].map(|one| self.small_enough(one, MOST_BITS - 1));
        let [low, high] =
            [(one.low, other.high), (one.high, other.low)].map(|(a, b)| self.build.binary(o::SUB, a, b, ""));
        let range = Range { low, high, bits: one.bits.max(other.bits) + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    fn product(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let (mut one, mut other) = (one, other);
        if one.bits + other.bits > MOST_BITS {
            [one, other] = [one, other].map(|one| self.small_enough(one, MOST_BITS / 2));
        }
        let multiply = |a, b| self.build.binary(o::MUL, a, b, "");
        let positive = |one: Value<'m>| one.form() == Form::Other(k::INTEGER) && one.sign_extended() >= 0;
        if other.low == other.high && positive(other.low) {
            let (low, high) = (multiply(one.low, other.low), multiply(one.high, other.low));
            let range = Range { low, high, bits: one.bits + other.bits, given: None };
            return self.given(range, [one.given, other.given]);
        }
        let mut all = vec![multiply(one.low, other.low)];
        for (a, b) in [(one.low, other.high), (one.high, other.low), (one.high, other.high)] {
            let other_ends = (a == one.low || one.low != one.high) && (b == other.low || other.low != other.high);
            if other_ends {
                all.push(multiply(a, b));
            }
        }
        let low = all.iter().copied().reduce(|a, b| self.least(a, b)).unwrap_or(one.low);
        let high = all.iter().copied().reduce(|a, b| self.most(a, b)).unwrap_or(one.high);
        // The product of the two lowest ends may be the power of two itself.
        let range = Range { low, high, bits: one.bits + other.bits + 1, given: None };
        self.given(range, [one.given, other.given])
    }

    /// All values of both.
    fn union(&self, one: Range<'m>, other: Range<'m>) -> Range<'m> {
        let (low, high) = (self.least(one.low, other.low), self.most(one.high, other.high));
        self.given(Range { low, high, bits: one.bits.max(other.bits), given: None }, [one.given, other.given])
    }

    /// From 0 to a number.
    fn up_to(&self, high: Value<'m>, bits: u32, given: Option<Value<'m>>) -> Range<'m> {
        Range { low: self.number(0), high, bits, given }
    }

    /// The range of an integer.
    fn range(&mut self, value: Value<'m>) -> Option<Range<'m>> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        // What depends on itself has none.
        self.known.insert(value, None);
        let made = self.made(value);
        self.known.insert(value, made);
        made
    }

    fn made(&mut self, value: Value<'m>) -> Option<Range<'m>> {
        let width = value.ty().filter(|ty| ty.kind() == t::INTEGER)?.width();
        if value.form() == Form::Other(k::INTEGER) {
            return (width <= 64).then(|| self.small_enough(self.constant(value.sign_extended()), MOST_BITS));
        }
        if !self.is_inside(value) || is(value, o::LOAD) {
            return self.leaf(value, width);
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

    /// A value that is the same in all iterations.
    fn leaf(&mut self, value: Value<'m>, width: u32) -> Option<Range<'m>> {
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
        let (left, right) = sides(value, opcode)?;
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
            o::AND => self.masked(left, right, constant, width),
            o::LSHR => {
                let by = constant.filter(|by| (1..i64::from(width)).contains(by))?;
                match self.range(left) {
                    Some(range) => Some(self.shifted(self.at_least(self.fit(range, width), 0), by)),
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
                Some(self.shifted(self.fit(range, width), by))
            }
            o::UDIV | o::SDIV => {
                let (left, right) = (self.range(left)?, self.range(right)?);
                let left = self.at_least(self.fit(left, width), 0);
                let right = self.at_least(self.fit(right, width), 1);
                // No division by 0 where the condition does not hold.
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

    fn shifted(&self, range: Range<'m>, by: i64) -> Range<'m> {
        let [low, high] = [range.low, range.high].map(|end| self.build.binary(o::ASHR, end, self.number(by), ""));
        Range { low, high, ..range }
    }

    /// The bits that two integers have in common.
    fn masked(&mut self, left: Value<'m>, right: Value<'m>, constant: Option<i64>, width: u32) -> Option<Range<'m>> {
        if let Some(mask) = constant {
            if mask >= 0 {
                return Some(self.up_to(self.number(mask), 64 - mask.leading_zeros(), None));
            }
            // Rounds down to a multiple.
            if mask.count_ones() + mask.trailing_zeros() == 64 {
                let range = self.range(left)?;
                let range = self.fit(range, width);
                let [low, high] =
                    [range.low, range.high].map(|end| self.build.binary(o::AND, end, self.number(mask), ""));
                return Some(Range { low, high, bits: range.bits + 1, ..range });
            }
            return None;
        }
        if is(right, o::CALL) && right.called().is_some_and(|called| called.form() == Form::Other(k::ASSEMBLY)) {
            // `native::wraps` hides by a mask of all bits what a value counts.
            let (range, mask) = (self.range(left)?, self.leaf(right, width)?);
            return Some(self.given(range, [Some(self.compare(IntPredicate::Eq, mask.low, self.number(-1))), None]));
        }
        let right = match self.range(right) {
            Some(range) => range,
            None => self.range(left)?,
        };
        let right = self.at_least(self.fit(right, width), 0);
        Some(self.up_to(right.high, right.bits, right.given))
    }

    /// The least and the greatest of two integers.
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
            ("smin" | "smax", None, Some(end)) => self.clamped(&kind, operands[0], end, width),
            ("smin" | "smax", Some(end), None) => self.clamped(&kind, operands[1], end, width),
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

    /// `smin(smax(value, low), high)` and `smax(smin(value, high), low)` of any value.
    fn clamped(&mut self, outer: &str, inner: Value<'m>, end: Range<'m>, width: u32) -> Option<Range<'m>> {
        let callee = if is(inner, o::CALL) { inner.called()?.name() } else { return None };
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

    /// A value that other values become, on several paths or from iteration to iteration.
    fn phi(&mut self, phi: Value<'m>) -> Option<Range<'m>> {
        let width = phi.ty()?.width();
        let here = *self.places.get(&phi.block()?)?;
        if let Some(n) = self.loops.iter().position(|one| one.header == here) {
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

    /// A value to which each iteration of a loop adds the same.
    fn induction(&mut self, phi: Value<'m>, of: usize) -> Option<Range<'m>> {
        let (first, _, step) = self.steps(phi, of)?;
        let (first, step, count) = (self.range(first)?, self.range(step)?, self.count(of)?);
        let added = self.product(step, count);
        Some(self.sum(first, added))
    }

    /// What a phi of a loop's header is at first, in the next iteration, and what is added to it.
    fn steps(&self, phi: Value<'m>, of: usize) -> Option<(Value<'m>, Value<'m>, Value<'m>)> {
        let inside = &self.loops[of].blocks;
        let (mut first, mut next) = (None, None);
        for n in 0..phi.count_incoming() {
            let from = self.places.get(&phi.incoming_block(n)?)?;
            let side = if inside.contains(from) { &mut next } else { &mut first };
            if side.replace(phi.incoming_value(n)?).is_some() {
                return None;
            }
        }
        let (first, next) = first.zip(next)?;
        let (left, right) = sides(next, o::ADD)?;
        let step = if left == phi { right } else { left };
        ((left == phi || right == phi) && self.is_before(step, inside)).then_some((first, next, step))
    }

    /// A value that is the same in all iterations of a loop.
    fn is_before(&self, value: Value<'m>, inside: &HashSet<usize>) -> bool {
        if !matches!(value.form(), Form::Instruction(_)) {
            return true;
        }
        let place = value.block().and_then(|block| self.places.get(&block));
        place.is_some_and(|place| !inside.contains(place)) || self.is_captured(value)
    }
}

/// The base of an address that lies a constant number of bytes behind it.
fn constant_offset(address: Value<'_>) -> Option<(Value<'_>, u64)> {
    let Some((base, index)) = sides(address, o::GEP).filter(|_| address.count_operands() == 2) else {
        return Some((address, 0));
    };
    let (base, offset) = constant_offset(base)?;
    let index = (index.form() == Form::Other(k::INTEGER)).then(|| index.zero_extended())?;
    let bytes = index.checked_mul(address.source_type()?.stride()?)?;
    Some((base, offset.checked_add(bytes)?))
}

/// The first two operands of an instruction of a kind.
fn sides(value: Value<'_>, opcode: i32) -> Option<(Value<'_>, Value<'_>)> {
    if is(value, opcode) && value.count_operands() >= 2 { value.operand(0).zip(value.operand(1)) } else { None }
}

fn is(value: Value<'_>, opcode: i32) -> bool {
    value.form() == Form::Instruction(opcode)
}
