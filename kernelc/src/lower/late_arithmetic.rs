//! Moves arithmetic to its use, where it then occupies fewer registers.
//!
//! Drivers keep the order of arithmetic. A sum of vectors, as in `a + b * 0.1f`, computes all products before the first sum, and each product
//! needs a register. If `b` is used later anyway, a product that directly precedes its sum needs one register in all.
//!
//! An instruction moves only if its operands stay in registers until its new place without it.

use super::quotient_groups::is_quotient;
use crate::ir::{BinaryOp, Block, Function, Instruction, LocalId, Op, Value};
use std::collections::{HashMap, HashSet};

/// A use of a value: the block, and the index of the instruction. `None` for a phi, which uses the value in a preceding block.
type Use = (usize, Option<usize>);

/// Orders the arithmetic of all blocks.
pub(super) fn order(function: &mut Function) {
    let mut uses: HashMap<LocalId, Vec<Use>> = HashMap::new();
    for (number, block) in function.blocks.iter().enumerate() {
        for (at, one) in block.instructions.iter().enumerate() {
            let at = (!matches!(one.op, Op::Phi { .. })).then_some(at);
            for local in one.op.operands().into_iter().filter_map(Value::local) {
                uses.entry(local).or_default().push((number, at));
            }
        }
    }
    for (number, block) in function.blocks.iter_mut().enumerate() {
        order_block(block, number, &uses);
    }
}

fn order_block(block: &mut Block, number: usize, uses: &HashMap<LocalId, Vec<Use>>) {
    let own: HashSet<LocalId> = block.instructions.iter().filter_map(|one| one.result).collect();
    // For each instruction: the index of the instruction before which it moves, or its own index.
    let mut places: Vec<usize> = (0..block.instructions.len()).collect();
    for (at, one) in block.instructions.iter().enumerate().rev() {
        let user = only_user(one, number, uses).filter(|&user| !is_quotient(&block.instructions[user].op));
        let Some(to) = user.map(|user| places[user]) else { continue };
        let is_used_later = |local: LocalId| {
            uses.get(&local).into_iter().flatten().any(|used| match *used {
                (block, Some(user)) if block == number => user != at && places[user] >= to,
                // A value of another block may be used only in blocks before this one.
                _ => own.contains(&local),
            })
        };
        if one.op.operands().into_iter().filter_map(Value::local).all(is_used_later) {
            places[at] = to;
        }
    }
    let mut ordered: Vec<_> = std::mem::take(&mut block.instructions).into_iter().zip(places).collect();
    ordered.sort_by_key(|&(_, place)| place);
    block.instructions = ordered.into_iter().map(|(one, _)| one).collect();
}

/// The index of the only user of an arithmetic instruction, if it is in the same block.
fn only_user(one: &Instruction, number: usize, uses: &HashMap<LocalId, Vec<Use>>) -> Option<usize> {
    use BinaryOp::{FAdd, FMul, FSub};
    let is_arithmetic = matches!(one.op, Op::FNeg { .. } | Op::Binary { op: FAdd | FMul | FSub, .. });
    match *uses.get(&one.result.filter(|_| is_arithmetic)?)?.as_slice() {
        [(block, user)] if block == number => user,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_form};
    use rspirv::spirv::Op;

    /// The sums and products of a kernel with these lines, in their order. The kernel has loaded the numbers `%x` and `%y`.
    fn arithmetic(rolled: bool, lines: &str) -> Vec<Op> {
        let body = format!(
            "{LOADS}  %x = load float, ptr addrspace(4) %a, align 4
  %q = getelementptr inbounds float, ptr addrspace(4) %a, i64 1
  %y = load float, ptr addrspace(4) %q, align 4
{lines}  store float %s, ptr addrspace(4) %b, align 4
  store float %t, ptr addrspace(4) %q, align 4
  ret void"
        );
        let module = compile_form(&body, rolled);
        let all = module.all_inst_iter().map(|one| one.class.opcode);
        all.filter(|op| matches!(op, Op::FAdd | Op::FMul)).collect()
    }

    #[test]
    fn products_precede_their_sums() {
        let sums = "  %m = fmul float %x, 3.0
  %n = fmul float %y, 3.0
  %s = fadd float %m, %x
  %t = fadd float %n, %y
";
        assert_eq!(arithmetic(true, sums), [Op::FMul, Op::FAdd, Op::FMul, Op::FAdd]);
        assert_eq!(arithmetic(false, sums), [Op::FMul, Op::FMul, Op::FAdd, Op::FAdd]);
    }

    #[test]
    fn products_stay_if_their_factors_would_need_registers() {
        let sums = "  %m = fmul float %x, 3.0
  %n = fmul float %y, 3.0
  %s = fadd float %m, 1.0
  %t = fadd float %n, 1.0
";
        assert_eq!(arithmetic(true, sums), [Op::FMul, Op::FMul, Op::FAdd, Op::FAdd]);
    }
}
