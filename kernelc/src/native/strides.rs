//! Computes the stride of memory accesses: the distance between the addresses that neighbouring threads access. The
//! strides show which loops over threads access consecutive memory.

use super::analysis::Kernel;
use super::calls::position;
use super::values::BLOCK;
use super::variables::Access;
use crate::ir::{BinaryOp, CastOp, Constant, Flags, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The maximum depth of the search through operands.
const MAX_STEPS: usize = 40;

/// The state of a search. `in_progress`: the variables that are being examined. `assumed`: the strides that the search assumes for variables.
#[derive(Default)]
struct Search {
    in_progress: HashSet<LocalId>,
    assumed: HashMap<LocalId, i64>,
}

impl Kernel {
    /// True if each access of these blocks has consecutive addresses in neighbouring threads in x, or the same address
    /// in all threads, and if at least one access has consecutive addresses.
    pub fn is_consecutive(&self, blocks: &BTreeSet<usize>) -> bool {
        let all = self.strides(blocks);
        all.iter().all(|(stride, bytes)| *stride == Some(0) || stride == bytes)
            && all.iter().any(|(s, _)| *s != Some(0))
    }

    /// True if at least one access of these blocks certainly has gaps between neighbouring threads in x.
    pub fn has_gaps(&self, blocks: &BTreeSet<usize>) -> bool {
        let has_gap =
            |(stride, bytes): &(Option<i64>, Option<i64>)| stride.is_some_and(|s| s != 0 && Some(s.abs()) != *bytes);
        self.strides(blocks).iter().any(has_gap)
    }

    /// The stride and the size, in bytes, of each memory access.
    fn strides(&self, blocks: &BTreeSet<usize>) -> Vec<(Option<i64>, Option<i64>)> {
        let mut search = Search::default();
        let is_plain = |address: &Value| {
            address.local().and_then(|name| self.variables.get(&name)).is_some_and(|variable| variable.plain)
        };
        let accesses = self.instructions(blocks).filter_map(Access::of).filter(|access| !is_plain(access.address));
        accesses.map(|access| (self.stride(&mut search, access.address, 0), bytes(access.ty))).collect()
    }

    /// The difference of a number or an address between neighbouring threads; `None` if it is unknown.
    fn stride(&self, search: &mut Search, value: &Value, depth: usize) -> Option<i64> {
        let Some(name) = value.local().filter(|name| *name != BLOCK) else { return Some(0) };
        let instruction = self.definition(name).filter(|_| depth < MAX_STEPS)?;
        if !self.varying.contains(&name) {
            return Some(0);
        }
        let mut of = |value: &Operand| self.stride(search, &value.value, depth + 1);
        match &instruction.op {
            Op::Call { .. } => position(&self.code, instruction).map(|(_, axis)| i64::from(axis == Some(0))),
            Op::Binary { op: BinaryOp::Add, left, right, .. }
            | Op::Binary { op: BinaryOp::Or, left, right, flags: Flags { disjoint: true, .. } } => {
                of(left)?.checked_add(of(right)?)
            }
            Op::Binary { op: BinaryOp::Sub, left, right, .. } => of(left)?.checked_sub(of(right)?),
            Op::Binary { op: BinaryOp::Mul, left, right, .. } => of(left)?.checked_mul(number(&right.value)?),
            Op::Binary { op: BinaryOp::Shl, left, right, .. } => {
                of(left)?.checked_mul(1 << right.unsigned().filter(|n| *n < 32)?)
            }
            Op::Cast { op: CastOp::SExt | CastOp::ZExt | CastOp::Trunc, value, .. } | Op::Freeze { value } => of(value),
            Op::Gep { source, base, indices, .. } => {
                let (mut ty, mut sum) = (source, of(base)?);
                for (n, index) in indices.iter().enumerate() {
                    if n > 0 {
                        let Type::Array(_, element) = ty else { return None };
                        ty = element;
                    }
                    sum = sum.checked_add(of(index)?.checked_mul(bytes(ty)?)?)?;
                }
                Some(sum)
            }
            Op::Load { .. } => self.stride_of_variable(search, Access::of(instruction)?.address.local()?, depth),
            _ => None,
        }
    }

    /// The common stride of all values that are stored to a variable. A loop may store values that depend on the
    /// variable, such as `i + 1`. So the search assumes that the variable has the stride of the first value, and
    /// examines the other values under this assumption.
    fn stride_of_variable(&self, search: &mut Search, name: LocalId, depth: usize) -> Option<i64> {
        if let Some(known) = search.assumed.get(&name) {
            return Some(*known);
        }
        let variable = self.variables.get(&name).filter(|v| v.plain)?;
        if !search.in_progress.insert(name) {
            return None;
        }
        let first = variable.stores.iter().find_map(|store| self.stride(search, &store.value, depth + 1));
        search.in_progress.remove(&name);
        let before = search.assumed.clone();
        search.assumed.insert(name, first?);
        let all = variable.stores.iter().all(|store| self.stride(search, &store.value, depth + 1) == first);
        if !all {
            // Removes the strides of other variables too, because they may follow from the assumption.
            search.assumed = before;
        }
        first.filter(|_| all)
    }
}

fn bytes(ty: &Type) -> Option<i64> {
    i64::try_from(ty.size()?).ok()
}

/// The value of a constant integer.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Constant(Constant::Int(number)) => i64::try_from(*number).ok(),
        _ => None,
    }
}
