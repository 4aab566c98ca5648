//! Which of a tile's threads have nothing to do in a region: those beyond a bound, in `if (local < half)`. The loop over the
//! threads then ends there.

use super::analysis::{Kernel, is_harmless_call, is_simple};
use super::text::{Instruction, operand, split_type};
use super::variables::plain_name;
use crate::device_abi::Position;
use std::collections::{BTreeSet, HashMap};

/// The threads whose place in x is beyond a value do nothing.
pub struct Bound {
    /// The instructions that make the value, each behind what it uses; of a load, the value that it stands for if the region
    /// stores one before.
    pub chain: Vec<(Instruction, Option<String>)>,
    pub ty: String,
    /// The value: a number, or a name that the chain makes.
    pub value: String,
    /// A thread at the value itself has something to do.
    pub inclusive: bool,
    pub signed: bool,
}

/// A branch on a thread's place in x.
struct Comparison<'k> {
    /// What holds of the place and the value where the branch goes to the first of its targets.
    predicate: &'static str,
    ty: &'k str,
    value: &'k str,
}

impl Kernel {
    /// The bound of a region, if there is one. `uniform`: the variables that are kept once.
    pub fn bound(&self, start: usize, uniform: &BTreeSet<String>) -> Option<Bound> {
        let region = self.region(start);
        if region.iter().all(|&n| !self.divergent[n]) && self.is_harmless(&region, start) {
            // The first thread does all there is to do.
            let (chain, value) = (Vec::new(), "1".to_owned());
            return Some(Bound { chain, ty: "i32".to_owned(), value, inclusive: false, signed: true });
        }
        let mut way = vec![start];
        while let &[next] = self.flow[*way.last()?].next.as_slice() {
            if way.contains(&next) {
                return None;
            }
            way.push(next);
        }
        let at = *way.last()?;
        let passed: Vec<&Instruction> = way.iter().flat_map(|&n| &self.function.blocks[n].instructions).collect();
        let all = self.made();
        let comparison = self.comparison(&all, at)?;
        let &[yes, no] = self.flow[at].next.as_slice() else { return None };
        // Where the condition holds there is work; or where it does not.
        let sides = [(comparison.predicate, no), (opposite(comparison.predicate), yes)];
        sides.into_iter().find_map(|(predicate, idle)| {
            let (inclusive, signed) = match predicate {
                "slt" => (false, true),
                "sle" => (true, true),
                "ult" => (false, false),
                "ule" | "eq" => (true, false),
                _ => return None,
            };
            let mut seen = BTreeSet::new();
            let mut open = vec![start, idle];
            while let Some(n) = open.pop() {
                if seen.insert(n) && n != at {
                    open.extend(&self.flow[n].next);
                }
            }
            if seen.iter().any(|&n| n != at && self.divergent[n]) || !self.is_harmless(&seen, start) {
                return None;
            }
            let mut chain = Vec::new();
            if !self.known_before(&passed, comparison.value, uniform, &mut chain, 0) {
                return None;
            }
            let (ty, value) = (comparison.ty.to_owned(), comparison.value.to_owned());
            Some(Bound { chain, ty, value, inclusive, signed })
        })
    }

    /// The comparison of the place in x with another value that a block's branch depends on.
    fn comparison<'k>(&'k self, made: &HashMap<&str, &'k Instruction>, block: usize) -> Option<Comparison<'k>> {
        let end = self.function.blocks[block].instructions.last().filter(|i| i.opcode == "br")?;
        let compared = made.get(end.uses.first()?.as_str()).filter(|i| i.opcode == "icmp")?;
        let words = compared.body().strip_prefix("icmp ")?;
        let (predicate, rest) = words.strip_prefix("samesign ").unwrap_or(words).split_once(' ')?;
        let predicate = PREDICATES.iter().find(|row| row[0] == predicate)?;
        let (ty, rest) = split_type(rest).filter(|(ty, _)| matches!(*ty, "i32" | "i64"))?;
        let (left, right) = operand(rest.trim_start());
        let (left, right) = (left.trim(), operand(right).0.trim());
        match (self.is_place(made, left, 0), self.is_place(made, right, 0)) {
            (true, false) => Some(Comparison { predicate: predicate[0], ty, value: right }),
            (false, true) => Some(Comparison { predicate: predicate[1], ty, value: left }),
            _ => None,
        }
    }

    /// A value is the thread's place in x within its tile, perhaps in more bits.
    fn is_place(&self, made: &HashMap<&str, &Instruction>, value: &str, depth: usize) -> bool {
        let Some(instruction) = plain_name(value).and_then(|name| made.get(name)).filter(|_| depth < 16) else {
            return false;
        };
        match instruction.opcode.as_str() {
            "call" => instruction.position() == Some(Position::Local) && instruction.text.contains("(i32 noundef 0)"),
            "sext" | "zext" => {
                instruction.uses.first().is_some_and(|used| self.is_place(made, &format!("%{used}"), depth + 1))
            }
            "load" => {
                self.read(instruction).and_then(Self::single).is_some_and(|value| self.is_place(made, value, depth + 1))
            }
            _ => false,
        }
    }

    /// Cuts loops with barriers before a branch that only some threads, up to a bound, do something behind.
    pub fn cut_before_bounds(&mut self, types: &std::collections::HashSet<String>) {
        let starts = self.starts();
        let uniform: BTreeSet<String> = self
            .variables
            .iter()
            .filter(|(_, v)| v.plain && !v.varies && v.again.is_none())
            .map(|(n, _)| n.clone())
            .collect();
        let wanted: Vec<usize> = (0..self.flow.len())
            .filter(|n| !starts.contains(n) && !self.parted.contains(n) && self.flow[*n].next.len() == 2)
            .filter(|&n| self.comparison(&self.made(), n).is_some() && self.is_repeated(n))
            .filter(|&n| !self.may_part(n) && self.bound(n, &uniform).is_some())
            .collect();
        for header in wanted {
            let before: Vec<usize> = (0..self.flow.len()).filter(|&n| self.flow[n].next.contains(&header)).collect();
            for n in before {
                self.cut_edge(n, header, types);
            }
        }
    }

    /// A block is in a loop with barriers.
    fn is_repeated(&self, block: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.exits(block).into_iter().flatten().collect();
        while let Some(at) = open.pop() {
            if at == block {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.flow[at].next.iter().chain(&self.flow[at].barrier));
            }
        }
        false
    }

    /// What these blocks of a region do the first thread does for all.
    fn is_harmless(&self, blocks: &BTreeSet<usize>, start: usize) -> bool {
        let exits = self.exits(start);
        let live = |name: &str| exits.iter().flatten().any(|&exit| self.live[exit].contains(name));
        let harmless = |i: &Instruction| match i.access() {
            Some(access) if i.opcode == "store" => plain_name(access.address)
                .and_then(|name| Some((name, self.variables.get(name)?)))
                .is_some_and(|(name, v)| v.plain && (!v.varies || v.again.is_some() || !live(name))),
            Some(_) => true,
            None => match i.callee() {
                Some(name) => is_harmless_call(i, name),
                None => i.ends() || is_simple(&i.opcode) || i.opcode == "alloca",
            },
        };
        blocks.iter().all(|&n| self.function.blocks[n].instructions.iter().all(harmless))
    }

    /// Appends what makes a value of numbers and of uniform variables as they are at the begin of the region. `passed`: the
    /// instructions before.
    fn known_before(
        &self,
        passed: &[&Instruction],
        value: &str,
        uniform: &BTreeSet<String>,
        chain: &mut Vec<(Instruction, Option<String>)>,
        depth: usize,
    ) -> bool {
        let Some(name) = plain_name(value) else { return !value.contains(['%', '@', '(']) };
        let Some(at) = passed.iter().position(|i| i.result.as_deref() == Some(name)).filter(|_| depth < 12) else {
            return false;
        };
        let instruction = passed[at];
        let mut stands_for = None;
        let known = match instruction.opcode.as_str() {
            "load" => {
                let Some(variable) = instruction.access().and_then(|a| plain_name(a.address)) else { return false };
                let is_store = |i: &&&Instruction| {
                    i.opcode == "store" && i.access().is_some_and(|a| plain_name(a.address) == Some(variable))
                };
                match passed[..at].iter().rev().find(is_store).and_then(|i| i.access()) {
                    Some(store) => {
                        stands_for = Some(store.value.trim().to_owned());
                        self.variables.get(variable).is_some_and(|v| v.plain)
                            && self.known_before(&passed[..at], store.value.trim(), uniform, chain, depth + 1)
                    }
                    None => uniform.contains(variable),
                }
            }
            opcode => {
                is_simple(opcode)
                    && instruction
                        .uses
                        .iter()
                        .all(|used| self.known_before(&passed[..at], &format!("%{used}"), uniform, chain, depth + 1))
            }
        };
        if known && !chain.iter().any(|(i, _)| i.result == instruction.result) {
            chain.push((instruction.clone(), stands_for));
        }
        known
    }
}

/// Predicates, each with what it is with its sides changed, and its opposite.
const PREDICATES: [[&str; 3]; 10] = [
    ["slt", "sgt", "sge"],
    ["sle", "sge", "sgt"],
    ["sgt", "slt", "sle"],
    ["sge", "sle", "slt"],
    ["ult", "ugt", "uge"],
    ["ule", "uge", "ugt"],
    ["ugt", "ult", "ule"],
    ["uge", "ule", "ult"],
    ["eq", "eq", "ne"],
    ["ne", "ne", "eq"],
];

fn opposite(predicate: &str) -> &'static str {
    PREDICATES.iter().find(|row| row[0] == predicate).map_or("", |row| row[2])
}
