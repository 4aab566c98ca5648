//! Replaces loads through a selected address by loads on each path and a selected value: `inside ? tile[i] : view[j]`.
//!
//! - Precondition: all calls are inlined, and variables are values.
//! - Effect: where a phi of addresses is only read through, in its block and before any other write, the loads, the copies of memory and
//!   the address arithmetic stand at the ends of the blocks that the addresses come from. A phi has each value that was loaded. Addresses that are kept,
//!   written through or compared stay phis, and so do addresses of which a copy is made behind another access to memory.
//! - Why: Clang selects between addresses of the tile's and the device's memory, and SPIR-V keeps the two apart. LLVM's `sroa` speculates loads through a phi
//!   of variables of a thread only.

use crate::ir::{self, BlockId, Constant, Function, Instruction, LocalId, Op, Type, Value};
use crate::llvm::{self, Editor, Module};
use std::collections::HashSet;

/// Whether there were any.
pub fn run(module: &mut Module) -> bool {
    let mut any = false;
    loop {
        let code = ir::snapshot(module);
        // The last first: a selected address may be selected from others.
        let found = code.functions.iter().enumerate().rev().find_map(|(n, body)| Some((n, last_choice(&code, body)?)));
        let Some((function, choice)) = found else { return any };
        module.edit(|edit| apply(edit, function, &choice));
        any = true;
    }
}

/// An address that is selected and only read through, by number.
struct Choice {
    block: usize,
    phi: usize,
    /// The instructions of the block that read, and those that make addresses for them.
    moved: Vec<usize>,
}

fn last_choice(code: &ir::Module, body: &Function) -> Option<Choice> {
    let goes_on =
        |from: &BlockId| matches!(body.blocks[from.0].instructions.last().map(|one| &one.op), Some(Op::Br { .. }));
    (0..body.blocks.len()).rev().find_map(|block| {
        body.blocks[block].instructions.iter().enumerate().find_map(|(phi, one)| {
            let Op::Phi { ty: Type::Pointer(_), incoming } = &one.op else { return None };
            // Another path out of such a block would read what need not be there.
            let alone = !incoming.is_empty() && incoming.iter().all(|(_, from)| from.0 != block && goes_on(from));
            let moved = reads(code, body, block, one.result.filter(|_| alone)?)?;
            Some(Choice { block, phi, moved })
        })
    })
}

/// The instructions that read through the address, if these are all that use it and nothing before them writes.
fn reads(code: &ir::Module, body: &Function, block: usize, phi: LocalId) -> Option<Vec<usize>> {
    let inside = &body.blocks[block].instructions;
    let own: HashSet<LocalId> = inside.iter().filter_map(|one| one.result).collect();
    let mut addresses = HashSet::from([phi]);
    let mut moved = Vec::new();
    let behind_phis = inside.iter().enumerate().filter(|(_, one)| !matches!(one.op, Op::Phi { .. }));
    for (n, one) in behind_phis.clone() {
        let used: Vec<LocalId> = one.op.operands().into_iter().filter_map(Value::local).collect();
        if !used.iter().any(|local| addresses.contains(local)) {
            continue;
        }
        if used.iter().any(|local| !addresses.contains(local) && own.contains(local)) {
            return None;
        }
        match &one.op {
            Op::Gep { .. } => addresses.extend(one.result),
            Op::Load { volatile: false, atomic: false, .. } => {}
            // Classes are copied.
            op if copies_to(code, op).is_some_and(|to| !to.local().is_some_and(|to| addresses.contains(&to))) => {}
            _ => return None,
        }
        moved.push(n);
    }
    let last = *moved.last()?;
    let stays =
        |n: usize| behind_phis.clone().take_while(move |(before, _)| *before < n).filter(|(n, _)| !moved.contains(n));
    let writes = stays(last).any(|(_, one)| writes(code, &one.op));
    // A copy writes too: it must not pass what uses its destination or begins that variable's lifetime.
    let copies = moved.iter().copied().filter(|&n| copies_to(code, &inside[n].op).is_some());
    let passes = copies.max().is_some_and(|copy| stays(copy).any(|(_, one)| accesses(code, &one.op)));
    // An address that the next iteration gets is not only read through.
    let Op::Phi { incoming, .. } = &inside.iter().find(|one| one.result == Some(phi))?.op else { return None };
    let walks = incoming.iter().filter_map(|(from, _)| from.local()).any(|from| addresses.contains(&from));
    let uses = |one: &Instruction| {
        one.result != Some(phi)
            && one.op.operands().into_iter().filter_map(Value::local).any(|used| addresses.contains(&used))
    };
    let only_here = body.instructions().filter(|one| uses(one)).count() == moved.len();
    let reads = moved.iter().any(|&n| !matches!(inside[n].op, Op::Gep { .. }));
    (only_here && !writes && !passes && !walks && reads).then_some(moved)
}

/// Where a copy of memory goes that is not volatile.
fn copies_to<'m>(code: &ir::Module, op: &'m Op) -> Option<&'m Value> {
    let Op::Call { callee, arguments, .. } = op else { return None };
    let [to, _, _, volatile] = &arguments[..] else { return None };
    let plain = code.functions[callee.0].name.starts_with("llvm.memcpy.")
        && volatile.value == Value::Constant(Constant::Int(0));
    plain.then_some(&to.value)
}

/// Any call may.
fn accesses(code: &ir::Module, op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Call { .. }) || writes(code, op)
}

fn writes(code: &ir::Module, op: &Op) -> bool {
    match op {
        Op::Call { callee, .. } => !code.functions[callee.0].name.starts_with("llvm.lifetime."),
        Op::CallIndirect { .. } | Op::Store { .. } | Op::Fence | Op::Other { .. } => true,
        op => op.is_atomic_update(),
    }
}

fn apply(edit: Editor<'_>, function: usize, choice: &Choice) {
    let all = edit.blocks();
    let instructions: Vec<llvm::Value<'_>> = all[function][choice.block].instructions().collect();
    let phi = instructions[choice.phi];
    let moved = choice.moved.iter().map(|&n| instructions[n]);
    let incoming = (0..phi.count_incoming()).filter_map(|n| Some((phi.incoming_value(n)?, phi.incoming_block(n)?)));
    let mut made: Vec<Vec<(llvm::Value<'_>, llvm::Block<'_>)>> = vec![Vec::new(); choice.moved.len()];
    for (way, (address, from)) in incoming.enumerate() {
        let Some(end) = from.terminator() else { continue };
        let mut own = vec![(phi, address)];
        for (one, made) in moved.clone().zip(&mut made) {
            let copy = edit.build_before(end).copy(one, &format!("{}.{way}", one.name()));
            for (n, operand) in (0..).zip(one.operands()) {
                if let Some((_, new)) = own.iter().find(|(old, _)| *old == operand) {
                    edit.set_operand(copy, n, *new);
                }
            }
            own.push((one, copy));
            made.push((copy, from));
        }
    }
    for (one, made) in moved.clone().zip(&made) {
        if one.is_load() {
            let Some(ty) = one.ty() else { continue };
            let new = edit.build_before(phi).phi(ty, &one.name());
            edit.add_incoming(new, made);
            edit.replace_uses(one, new);
        }
    }
    moved.rev().for_each(|one| edit.erase(one));
    edit.erase(phi);
}
