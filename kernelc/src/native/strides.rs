//! How far apart threads side by side read and write: whether a loop over them goes through memory in its order.

use super::analysis::Kernel;
use super::text::{Instruction, operand, size, split_type};
use super::variables::plain_name;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Values are followed so far.
const MOST_STEPS: usize = 40;

/// What is known on the way: the kernel's instructions, variables that are looked at, and what is taken for theirs.
struct Search<'k> {
    made: HashMap<&'k str, &'k Instruction>,
    open: HashSet<&'k str>,
    taken: HashMap<&'k str, i64>,
}

impl Kernel {
    /// What these blocks read and write lies side by side for threads side by side in x, or is the same for all of them; and some
    /// of it lies side by side.
    pub fn is_side_by_side(&self, blocks: &BTreeSet<usize>) -> bool {
        let all = self.strides(blocks);
        all.iter().all(|(stride, bytes)| *stride == Some(0) || stride == bytes)
            && all.iter().any(|(s, _)| *s != Some(0))
    }

    /// Some of what these blocks read and write certainly lies apart for threads side by side in x.
    pub fn is_apart(&self, blocks: &BTreeSet<usize>) -> bool {
        let apart =
            |(stride, bytes): &(Option<i64>, Option<i64>)| stride.is_some_and(|s| s != 0 && Some(s.abs()) != *bytes);
        self.strides(blocks).iter().any(apart)
    }

    /// The strides of the accesses of memory, with the bytes that each takes.
    fn strides(&self, blocks: &BTreeSet<usize>) -> Vec<(Option<i64>, Option<i64>)> {
        let mut search = Search { made: self.made(), open: HashSet::new(), taken: HashMap::new() };
        let accesses =
            blocks.iter().flat_map(|&n| &self.function.blocks[n].instructions).filter_map(Instruction::access);
        let is_plain = |address| plain_name(address).and_then(|name| self.variables.get(name)).is_some_and(|v| v.plain);
        let memory = accesses.filter(|access| !is_plain(access.address));
        let bytes = |ty: &str| size(ty, &HashMap::new()).and_then(|(bytes, _)| i64::try_from(bytes).ok());
        memory.map(|access| (self.stride(&mut search, access.address, 0), bytes(access.ty))).collect()
    }

    /// By how much a number or an address of two threads side by side differs; `None` if that is not known.
    fn stride<'k>(&'k self, search: &mut Search<'k>, value: &str, depth: usize) -> Option<i64> {
        let Some(name) = plain_name(value) else { return Some(0) };
        if name == self.function.parameter {
            return Some(0);
        }
        let &instruction = search.made.get(name).filter(|_| depth < MOST_STEPS)?;
        if !self.varying.contains(name) {
            return Some(0);
        }
        let (left, right) = sides(instruction);
        let mut of = |value: &str| self.stride(search, value, depth + 1);
        match instruction.opcode.as_str() {
            "call" if instruction.position().is_some() => {
                Some(i64::from(instruction.text.contains("(i32 noundef 0)") || instruction.text.contains("(i32 0)")))
            }
            "add" => of(left)?.checked_add(of(right)?),
            "or" if instruction.body().starts_with("or disjoint ") => of(left)?.checked_add(of(right)?),
            "sub" => of(left)?.checked_sub(of(right)?),
            "mul" => of(left)?.checked_mul(right.parse().ok()?),
            "shl" => of(left)?.checked_mul(1 << right.parse::<u32>().ok().filter(|n| *n < 32)?),
            "sext" | "zext" | "trunc" | "freeze" => of(&format!("%{}", instruction.uses.first()?)),
            "getelementptr" => {
                let (mut ty, mut rest) = split_type(element(instruction.body())?)?;
                let (base, indices) = operand(rest.split_once("ptr ")?.1);
                let mut sum = of(base)?;
                rest = indices;
                while !rest.is_empty() {
                    let (index, more) = operand(rest);
                    let bytes = i64::try_from(size(ty, &HashMap::new())?.0).ok()?;
                    sum = sum.checked_add(of(index.split_once(' ')?.1)?.checked_mul(bytes)?)?;
                    if !more.is_empty() {
                        ty = ty.strip_prefix('[')?.strip_suffix(']')?.split_once(" x ")?.1;
                    }
                    rest = more;
                }
                Some(sum)
            }
            "load" => self.stride_of_variable(search, plain_name(instruction.access()?.address)?, depth),
            _ => None,
        }
    }

    /// The same of a variable: of all that is stored to it. What a loop adds to it is the same for all threads.
    fn stride_of_variable<'k>(&'k self, search: &mut Search<'k>, name: &str, depth: usize) -> Option<i64> {
        if let Some(known) = search.taken.get(name) {
            return Some(*known);
        }
        let (name, variable) = self.variables.get_key_value(name).filter(|(_, v)| v.plain)?;
        if !search.open.insert(name) {
            return None;
        }
        let first = variable.stores.iter().find_map(|(_, value)| self.stride(search, value, depth + 1));
        search.open.remove(name.as_str());
        search.taken.insert(name, first?);
        let all = variable.stores.iter().all(|(_, value)| self.stride(search, value, depth + 1) == first);
        if !all {
            search.taken.remove(name.as_str());
        }
        first.filter(|_| all)
    }
}

/// The two values of an instruction that has such.
fn sides(instruction: &Instruction) -> (&str, &str) {
    let (left, right) = operand(instruction.body());
    (left.rsplit(' ').next().unwrap_or_default(), operand(right).0.trim())
}

/// What stands behind the word `getelementptr` and its flags: a type and operands.
fn element(body: &str) -> Option<&str> {
    let mut rest = body.strip_prefix("getelementptr ")?;
    for flag in ["inbounds ", "nusw ", "nuw "] {
        rest = rest.strip_prefix(flag).unwrap_or(rest);
    }
    Some(rest)
}
