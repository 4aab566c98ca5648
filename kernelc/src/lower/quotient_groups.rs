//! Orders the instructions of a block so that quotients of floats follow each other.
//!
//! A quotient ends a driver's block, because it branches to a slow path for rare operands (`quotients`). Drivers do not move loads across
//! this branch. So each block becomes a sequence of stages: a stage computes whatever needs no quotient of this stage, and loads data for
//! the next stage. It ends with a group of quotients, which share one branch.

use crate::analysis::effects::may_write;
use crate::ir::{BinaryOp, Block, Function, Instruction, LocalId, Module, Op, Type, Value};
use std::collections::HashMap;

/// The maximum number of quotients in a group. If one of them has rare operands, all take the slow path.
const MAX_GROUP: usize = 4;

/// True for a quotient of floats that must be correctly rounded.
pub(super) fn is_quotient(op: &Op) -> bool {
    matches!(op, Op::Binary { op: BinaryOp::FDiv, left, flags, .. } if left.ty == Type::Float && !flags.reciprocal)
}

/// The group that begins with the first of these instructions: quotients of which none is an operand of another.
pub(super) fn group(instructions: &[Instruction]) -> &[Instruction] {
    let uses = |one: &Instruction, earlier: &Instruction| {
        one.op.operands().into_iter().filter_map(Value::local).any(|local| Some(local) == earlier.result)
    };
    let is_end = |at: usize| {
        let one = &instructions[at];
        !is_quotient(&one.op) || instructions[..at].iter().any(|earlier| uses(one, earlier))
    };
    let most = instructions.len().min(MAX_GROUP);
    &instructions[..(0..most).find(|&at| is_end(at)).unwrap_or(most)]
}

/// Orders the instructions of all blocks that have quotients.
pub(super) fn order(module: &Module, function: &mut Function) {
    for block in &mut function.blocks {
        if block.instructions.iter().any(|one| is_quotient(&one.op)) {
            order_block(module, block);
        }
    }
}

fn order_block(module: &Module, block: &mut Block) {
    let is_fixed = |one: &Instruction| matches!(one.op, Op::Phi { .. } | Op::Alloca { .. });
    let begin = block.instructions.iter().take_while(|one| is_fixed(one)).count();
    let end = block.instructions.len() - 1;
    let stages = stages(module, &block.instructions[begin..end]);
    let mut ordered: Vec<_> = block.instructions.drain(begin..end).zip(stages).collect();
    ordered.sort_by_key(|(one, stage)| (*stage, is_quotient(&one.op)));
    block.instructions.splice(begin..begin, ordered.into_iter().map(|(one, _)| one));
}

/// The stage of each instruction.
fn stages(module: &Module, instructions: &[Instruction]) -> Vec<usize> {
    let before = predecessors(module, instructions);
    // The first possible stage of each instruction.
    let mut stages: Vec<usize> = Vec::new();
    let mut group_sizes: HashMap<usize, usize> = HashMap::new();
    for (at, one) in instructions.iter().enumerate() {
        let after = |&earlier: &usize| stages[earlier] + usize::from(is_quotient(&instructions[earlier].op));
        let mut stage = before[at].iter().map(after).max().unwrap_or(0);
        if is_quotient(&one.op) {
            while group_sizes.get(&stage) == Some(&MAX_GROUP) {
                stage += 1;
            }
            *group_sizes.entry(stage).or_default() += 1;
        }
        stages.push(stage);
    }
    // All others move to the last possible stage, which keeps few values alive. Loads stay one stage ahead.
    let last = stages.iter().copied().max().unwrap_or(0);
    let mut latest = vec![last; instructions.len()];
    for (at, one) in instructions.iter().enumerate().rev() {
        if !is_quotient(&one.op) && !may_write(module, one) {
            let ahead = usize::from(matches!(one.op, Op::Load { .. }));
            stages[at] = stages[at].max(latest[at].saturating_sub(ahead));
        }
        for &earlier in &before[at] {
            let quotient = usize::from(is_quotient(&instructions[earlier].op));
            latest[earlier] = latest[earlier].min(stages[at].saturating_sub(quotient));
        }
    }
    stages
}

/// For each instruction, the earlier instructions that must stay before it: its operands, and accesses to memory.
fn predecessors(module: &Module, instructions: &[Instruction]) -> Vec<Vec<usize>> {
    let mut definitions: HashMap<LocalId, usize> = HashMap::new();
    let (mut last_write, mut loads) = (None, Vec::new());
    let mut all = Vec::new();
    for (at, one) in instructions.iter().enumerate() {
        let operands = one.op.operands().into_iter().filter_map(Value::local);
        let mut before: Vec<usize> = operands.filter_map(|local| definitions.get(&local).copied()).collect();
        if may_write(module, one) {
            before.extend(last_write);
            before.append(&mut loads);
            last_write = Some(at);
        } else if matches!(one.op, Op::Load { .. }) {
            before.extend(last_write);
            loads.push(at);
        }
        definitions.extend(one.result.map(|result| (result, at)));
        all.push(before);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// A function whose only block has these lines. %x and %y are floats, %p and %q are pointers.
    fn function(lines: &str) -> Function {
        let text = format!("define void @f(float %x, float %y, ptr %p, ptr %q) {{\n{lines}  ret void\n}}\n");
        crate::ir::tests::module(&text).functions.remove(0)
    }

    /// The instructions of such a block after the ordering.
    fn ordered(lines: &str) -> Vec<Instruction> {
        let mut function = function(lines);
        order(&Module::default(), &mut function);
        function.blocks.remove(0).instructions
    }

    /// The kinds of instructions, in order: a quotient, a load, a store, or another instruction.
    fn kinds(instructions: &[Instruction]) -> String {
        let kind = |one: &Instruction| match one.op {
            _ if is_quotient(&one.op) => 'q',
            Op::Load { .. } => 'l',
            Op::Store { .. } => 's',
            Op::Ret { .. } => 'r',
            _ => 'o',
        };
        instructions.iter().map(kind).collect()
    }

    #[test]
    fn quotients_are_grouped_and_loads_precede_them() {
        let all = ordered(
            "  %a = fdiv float %x, %y
  %l = load float, ptr %p
  %b = fsub float %l, %a
  %c = fdiv float %y, 3.0
  %d = fdiv float %b, %c
  store float %d, ptr %q
",
        );
        assert_eq!(kinds(&all), "lqqoqsr");
        assert_eq!(group(&all[1..]).len(), 2);
        assert_eq!(group(&all[4..]).len(), 1);
    }

    #[test]
    fn loads_stay_after_stores() {
        let all = ordered(
            "  %a = fdiv float %x, %y
  store float %a, ptr %q
  %l = load float, ptr %p
  %b = fdiv float %l, %a
  store float %b, ptr %q
",
        );
        assert_eq!(kinds(&all), "qslqsr");
    }

    #[test]
    fn groups_are_limited_and_inexact_quotients_stay() {
        let quotients: String = (0..7).map(|n| format!("  %q{n} = fdiv float %x, {n}.5\n")).collect();
        let all = ordered(&quotients);
        assert_eq!([group(&all).len(), group(&all[MAX_GROUP..]).len()], [MAX_GROUP, 7 - MAX_GROUP]);
        assert_eq!(kinds(&ordered("  %a = fdiv arcp float %x, %y\n")), "or");
    }

    /// For each stored value, and for the end, the loads since the store before.
    fn loads_between_stores(instructions: &[Instruction]) -> Vec<(HashSet<LocalId>, Option<LocalId>)> {
        let (mut all, mut loads) = (Vec::new(), HashSet::new());
        for one in instructions {
            match &one.op {
                Op::Load { .. } => loads.extend(one.result),
                Op::Store { value, .. } => all.push((std::mem::take(&mut loads), value.value.local())),
                _ => {}
            }
        }
        all.push((loads, None));
        all
    }

    proptest! {
        /// A random block keeps its instructions, the order of definitions and uses, and the order of each write and every other access
        /// to memory.
        #[test]
        fn order_keeps_dependences(choices in prop::collection::vec((0..6u8, any::<u16>(), any::<u16>()), 1..60)) {
            let (mut lines, mut values) = (String::new(), vec!["%x".to_string(), "%y".to_string()]);
            for (n, (kind, a, b)) in choices.iter().enumerate() {
                let [a, b] = [a, b].map(|word| values[*word as usize % values.len()].clone());
                lines += &match kind {
                    0 | 1 => format!("  %v{n} = fdiv float {a}, {b}\n"),
                    2 => format!("  %v{n} = fadd float {a}, {b}\n"),
                    3 | 4 => format!("  %v{n} = load float, ptr %p\n"),
                    _ => format!("  store float {a}, ptr %q\n"),
                };
                if *kind < 5 {
                    values.push(format!("%v{n}"));
                }
            }
            let all = ordered(&lines);
            prop_assert_eq!(all.len(), choices.len() + 1);
            let mut defined: HashSet<LocalId> = (0..4).map(LocalId).collect();
            for one in &all {
                for local in one.op.operands().into_iter().filter_map(Value::local) {
                    prop_assert!(defined.contains(&local), "{:?} is used before its definition", local);
                }
                defined.extend(one.result);
            }
            prop_assert_eq!(loads_between_stores(&all), loads_between_stores(&function(&lines).blocks[0].instructions));
        }
    }
}
