//! Replaces a load through a phi of addresses, as in `contents ? tile[i] : view[j]`, by a load on each path and a phi of
//! the loaded values.
//!
//! - Precondition: all calls are inlined, and local variables are promoted to SSA values.
//! - Effect: applies to a phi of addresses if all its uses are reads in its block, before any other memory write. The
//!   loads, memory copies and address computations move to the ends of the incoming blocks, and each loaded value gets
//!   a phi. The phi of addresses stays if an address has another use, such as a store of the address, a write through it
//!   or a comparison. The phi also stays if a memory copy from the address comes after another memory access.
//! - Why: Clang selects between addresses in tile memory and device memory, but a SPIR-V pointer has one storage
//!   class. LLVM's `sroa` speculates loads only through a phi of allocas.

use crate::ir::{self, BlockId, Constant, Function, Instruction, LocalId, Op, Type, Value};
use crate::llvm::{self, Editor, Module};
use std::collections::HashSet;

/// Returns true if any loads were replaced.
pub fn run(module: &mut Module) -> bool {
    let mut any = false;
    loop {
        let code = ir::snapshot(module);
        // The last phi first, because its addresses may come from other phis.
        let found =
            code.functions.iter().enumerate().rev().find_map(|(n, body)| Some((n, last_address_phi(&code, body)?)));
        let Some((function, address_phi)) = found else { return any };
        module.edit(|edit| apply(edit, function, &address_phi));
        any = true;
    }
}

/// A phi of addresses that is used only for reads: the numbers of its block and of its instructions.
struct AddressPhi {
    block: usize,
    phi: usize,
    /// The instructions of the block that read through the phi, and the instructions that compute addresses for these reads.
    moved: Vec<usize>,
}

fn last_address_phi(code: &ir::Module, body: &Function) -> Option<AddressPhi> {
    let branches_unconditionally =
        |from: &BlockId| matches!(body.blocks[from.0].instructions.last().map(|one| &one.op), Some(Op::Br { .. }));
    (0..body.blocks.len()).rev().find_map(|block| {
        body.blocks[block].instructions.iter().enumerate().find_map(|(phi, one)| {
            let Op::Phi { ty: Type::Pointer(_), incoming } = &one.op else { return None };
            // If the incoming block had another successor, the moved load could read memory that does not exist on that path.
            let is_movable = !incoming.is_empty()
                && incoming.iter().all(|(_, from)| from.0 != block && branches_unconditionally(from));
            let moved = reads(code, body, block, one.result.filter(|_| is_movable)?)?;
            Some(AddressPhi { block, phi, moved })
        })
    })
}

/// The instructions that read through the phi's address, and the instructions that compute addresses for these reads.
/// `None` if the address has other uses, or if memory is written before the reads.
fn reads(code: &ir::Module, body: &Function, block: usize, phi: LocalId) -> Option<Vec<usize>> {
    let contents = &body.blocks[block].instructions;
    let own: HashSet<LocalId> = contents.iter().filter_map(|one| one.result).collect();
    let mut addresses = HashSet::from([phi]);
    let mut moved = Vec::new();
    let after_phis = contents.iter().enumerate().filter(|(_, one)| !matches!(one.op, Op::Phi { .. }));
    for (n, one) in after_phis.clone() {
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
            // Classes are copied by memcpy.
            op if copies_to(code, op).is_some_and(|to| !to.local().is_some_and(|to| addresses.contains(&to))) => {}
            _ => return None,
        }
        moved.push(n);
    }
    let last = *moved.last()?;
    let unmoved_before =
        |n: usize| after_phis.clone().take_while(move |(before, _)| *before < n).filter(|(n, _)| !moved.contains(n));
    let writes = unmoved_before(last).any(|(_, one)| writes(code, &one.op));
    // A copy writes too: it must not move above an instruction that uses its destination or begins the destination's lifetime.
    let copies = moved.iter().copied().filter(|&n| copies_to(code, &contents[n].op).is_some());
    let crosses_access = copies.max().is_some_and(|copy| unmoved_before(copy).any(|(_, one)| accesses(code, &one.op)));
    // An address that becomes the phi's value in the next iteration is used for more than reads.
    let Op::Phi { incoming, .. } = &contents.iter().find(|one| one.result == Some(phi))?.op else { return None };
    let is_loop_carried = incoming.iter().filter_map(|(from, _)| from.local()).any(|from| addresses.contains(&from));
    let uses_address = |one: &Instruction| {
        one.result != Some(phi)
            && one.op.operands().into_iter().filter_map(Value::local).any(|used| addresses.contains(&used))
    };
    let has_no_other_use = body.instructions().filter(|one| uses_address(one)).count() == moved.len();
    let reads = moved.iter().any(|&n| !matches!(contents[n].op, Op::Gep { .. }));
    (has_no_other_use && !writes && !crosses_access && !is_loop_carried && reads).then_some(moved)
}

/// The destination of a memory copy that is not volatile.
fn copies_to<'m>(code: &ir::Module, op: &'m Op) -> Option<&'m Value> {
    let Op::Call { callee, arguments, .. } = op else { return None };
    let [to, _, _, volatile] = &arguments[..] else { return None };
    let is_plain_copy = code.functions[callee.0].name.starts_with("llvm.memcpy.")
        && volatile.value == Value::Constant(Constant::Int(0));
    is_plain_copy.then_some(&to.value)
}

/// True if an instruction may access memory, which includes all calls.
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

fn apply(edit: Editor<'_>, function: usize, address_phi: &AddressPhi) {
    let all = edit.blocks();
    let instructions: Vec<llvm::Value<'_>> = all[function][address_phi.block].instructions().collect();
    let phi = instructions[address_phi.phi];
    let moved = address_phi.moved.iter().map(|&n| instructions[n]);
    let incoming = (0..phi.count_incoming()).filter_map(|n| Some((phi.incoming_value(n)?, phi.incoming_block(n)?)));
    let mut path_copies: Vec<Vec<(llvm::Value<'_>, llvm::Block<'_>)>> = vec![Vec::new(); address_phi.moved.len()];
    for (path_number, (address, from)) in incoming.enumerate() {
        let Some(end) = from.terminator() else { continue };
        let mut own = vec![(phi, address)];
        for (one, path_copies) in moved.clone().zip(&mut path_copies) {
            let copy = edit.build_before(end).copy(one, &format!("{}.{path_number}", one.name()));
            for (n, operand) in (0..).zip(one.operands()) {
                if let Some((_, new)) = own.iter().find(|(old, _)| *old == operand) {
                    edit.set_operand(copy, n, *new);
                }
            }
            own.push((one, copy));
            path_copies.push((copy, from));
        }
    }
    for (one, path_copies) in moved.clone().zip(&path_copies) {
        if one.is_load() {
            let Some(ty) = one.ty() else { continue };
            let new = edit.build_before(phi).phi(ty, &one.name());
            edit.add_incoming(new, path_copies);
            edit.replace_uses(one, new);
        }
    }
    moved.rev().for_each(|one| edit.erase(one));
    edit.erase(phi);
}
