//! Numbers that count the threads, or the rounds of a loop, and lose upper bits: `(local + 1) % 256`. LLVM takes them for counters of few bits
//! and goes through memory in their order, behind a test that they do not wrap. LLVM 22 leaves the test out where it also tests a counter of
//! more bits for the same address, and reads beyond the wrap. So that the number counts is hidden from it.

use super::analysis::Kernel;
use super::text::{Instruction, operand};
use super::variables::plain_name;
use crate::device_abi::Position;
use std::collections::{HashMap, HashSet};

/// Values are followed so far; beyond that they are taken for counted.
const MOST_STEPS: usize = 100;

/// What is known of values on the way; `None`: being looked at.
type Known<'k> = HashMap<&'k str, Option<bool>>;

impl Kernel {
    /// The instructions, by their results, that leave some bits of a counted number.
    pub fn wraps(&self) -> HashSet<String> {
        let made = self.made();
        let mut known = Known::new();
        let mut is = |i: &Instruction| {
            let Some(number) = i.uses.first().filter(|_| Cut::of(&i.text).is_some()) else { return false };
            // Bits are cut by a shift back.
            let back = i.opcode != "ashr" || made.get(number.as_str()).is_some_and(|of| of.opcode == "shl");
            back && self.counted(&made, &mut known, number, 0)
        };
        let all = self.function.blocks.iter().flat_map(|b| &b.instructions);
        all.filter(|i| is(i)).filter_map(|i| i.result.clone()).collect()
    }

    /// Sums and products make it of positions and of what loops count.
    fn counted<'k>(
        &'k self,
        made: &HashMap<&'k str, &'k Instruction>,
        known: &mut Known<'k>,
        name: &str,
        depth: usize,
    ) -> bool {
        let Some((&name, &instruction)) = made.get_key_value(name) else { return false };
        if let Some(found) = known.get(name) {
            return found.unwrap_or(true);
        }
        if depth == MOST_STEPS {
            return true;
        }
        known.insert(name, None);
        let mut of = |value: &str| self.counted(made, known, value, depth + 1);
        let found = match instruction.opcode.as_str() {
            "call" => instruction.position().is_some_and(|position| position != Position::Group),
            "add" | "sub" | "mul" | "shl" | "lshr" | "ashr" | "udiv" | "sdiv" | "or" | "sext" | "zext" | "trunc"
            | "freeze" => instruction.uses.iter().any(|used| of(used)),
            "load" => self
                .read(instruction)
                .filter(|v| v.plain)
                .is_some_and(|variable| variable.stores.iter().filter_map(|(_, value)| plain_name(value)).any(&mut of)),
            _ => false,
        };
        known.insert(name, Some(found));
        found
    }
}

/// An instruction that leaves some bits of an `i32` or `i64`: a remainder, an `and` or arithmetic shift by a constant, or a `trunc` to a type of few
/// bits.
pub struct Cut<'t> {
    pub ty: &'t str,
    value: &'t str,
}

impl<'t> Cut<'t> {
    pub fn of(text: &'t str) -> Option<Self> {
        let (_, body) = text.split_once(" = ")?;
        let (left, right) = operand(body);
        let given = match left.split(' ').next()? {
            "and" | "ashr" | "srem" | "urem" => {
                let number: i64 = right.split([',', ' ']).next()?.parse().ok()?;
                (number < i64::from(u32::MAX)).then_some(left)?
            }
            "trunc" => {
                let (given, bits) = left.rsplit_once(" to i")?;
                bits.parse::<u32>().ok().filter(|bits| *bits < 32)?;
                given
            }
            _ => return None,
        };
        let (words, value) = given.rsplit_once(' ')?;
        // A shift of 64 bits makes one of 32 a number of them.
        let wide = given.starts_with("ashr ");
        let ty = words.rsplit(' ').next().filter(|ty| *ty == "i32" || *ty == "i64" && !wide)?;
        value.starts_with('%').then_some(Self { ty, value })
    }

    /// What it is in `text`, with all bits of the number by an `and` named `new`; `mask` has all bits, and LLVM does not know it.
    pub fn hidden(&self, text: &str, mask: &str, new: &str) -> [String; 2] {
        let (ty, value) = (self.ty, self.value);
        let rest = text.replacen(&format!("{ty} {value}"), &format!("{ty} {new}"), 1);
        [format!("{new} = and {ty} {value}, {mask}"), rest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_some_bits() {
        for (text, ty, rest) in [
            ("%a = and i32 %b, 255", "i32", "%a = and i32 %n, 255"),
            ("%\"r1:8\" = srem i32 %\"r1:7\", 256", "i32", "%\"r1:8\" = srem i32 %n, 256"),
            ("%a = trunc nuw nsw i64 %b to i8", "i64", "%a = trunc nuw nsw i64 %n to i8"),
            ("%a = ashr exact i32 %b, 24, !x !1", "i32", "%a = ashr exact i32 %n, 24, !x !1"),
        ] {
            let cut = Cut::of(text).expect(text);
            assert_eq!(cut.ty, ty);
            assert_eq!(cut.hidden(text, "%m", "%n")[1], rest);
        }
        for text in [
            "%a = and i32 %b, %c",
            "%a = trunc i64 %b to i32",
            "%a = add i32 %b, 1",
            "%a = and i1 %b, 1",
            "%a = ashr i64 %b, 24",
            "ret i32 0",
        ] {
            assert!(Cut::of(text).is_none(), "{text}");
        }
    }
}
