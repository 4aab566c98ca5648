//! Rounds the addresses in tile_static memory with which loops begin down to a multiple of 16 bytes.
//!
//! LLVM's `loop-reduce` may let a pointer begin at the second element, and access the first one with a negative offset. NVIDIA's driver
//! merges the loads of several iterations into vector loads, but only if it knows how the pointer is aligned. It knows this of a pointer that
//! begins at a multiple of the vector's size and advances by multiples of it.

use super::addresses::{constant_address, steps};
use crate::ir::{Block, Constant, Function, Instruction, Local, LocalId, Module, Op, Operand, Type, Value};

/// The size of the largest vector load in bytes.
const VECTOR_BYTES: i64 = 16;
/// The smallest step of a pointer with which iterations access adjacent vectors, in bytes.
const MIN_STEP: i64 = 8;

/// A pointer that advances in a loop.
struct LoopPointer {
    /// The block and the index of the phi.
    place: (usize, usize),
    phi: LocalId,
    /// The value of the next iteration.
    next: LocalId,
    /// The address with which the loop begins, rounded down.
    start: Value,
    /// The distance from `start` to the address with which the loop begins now, in bytes.
    distance: i64,
}

/// Rounds the addresses in all loops of the function.
pub(super) fn round_down(module: &Module, function: &mut Function) {
    for block in 0..function.blocks.len() {
        let phis =
            function.blocks[block].instructions.iter().take_while(|one| matches!(one.op, Op::Phi { .. })).count();
        for index in 0..phis {
            if let Some(pointer) = loop_pointer(module, function, (block, index)) {
                apply(function, &pointer);
            }
        }
    }
}

/// The phi at this place, if rounding its first address helps.
fn loop_pointer(module: &Module, function: &Function, place: (usize, usize)) -> Option<LoopPointer> {
    let Instruction { result: Some(phi), op: Op::Phi { ty: Type::Pointer(_), incoming }, .. } =
        &function.blocks[place.0].instructions[place.1]
    else {
        return None;
    };
    let [(a, _), (b, _)] = &incoming[..] else { return None };
    let (Value::Constant(first), Value::Local(next)) = (if a.local().is_none() { (a, b) } else { (b, a) }) else {
        return None;
    };
    let (global, at) = constant_address(first)?;
    let distance = at.rem_euclid(VECTOR_BYTES);
    let is_aligned = module.globals[global.0].align % VECTOR_BYTES as u64 == 0;
    let advances = function.instructions().any(|one| one.result == Some(*next) && step(&one.op, *phi) >= MIN_STEP);
    if distance == 0 || at < distance || !is_aligned || !advances {
        return None;
    }
    let base = Operand { ty: function.locals[phi.0].ty.clone(), value: Value::Constant(Constant::Global(global)) };
    let start = Value::Constant(Constant::Expression(Box::new(after(base, at - distance))));
    Some(LoopPointer { place, phi: *phi, next: *next, start, distance })
}

/// The number of bytes that `op` adds to the pointer `phi`; 0 for other operations.
fn step(op: &Op, phi: LocalId) -> i64 {
    match op {
        Op::Gep { source, base, indices, .. } if base.value == Value::Local(phi) => {
            steps(source, indices).filter(|steps| steps.by.is_empty()).map_or(0, |steps| steps.offset)
        }
        _ => 0,
    }
}

/// The address `bytes` bytes after `base`.
fn after(base: Operand, bytes: i64) -> Op {
    let index = Operand { ty: Type::Int(64), value: Value::Constant(Constant::Int(bytes.into())) };
    Op::Gep { source: Type::Int(8), base, indices: vec![index], inbounds: false }
}

fn apply(function: &mut Function, pointer: &LoopPointer) {
    let (block, index) = pointer.place;
    let ty = function.locals[pointer.phi.0].ty.clone();
    // The addresses as they were, for all other uses of the phi and of the next value.
    let [now, next] = [pointer.phi, pointer.next].map(|of| {
        let local = LocalId(function.locals.len());
        let name = format!("{}.{}", function.locals[of.0].name, local.0);
        function.locals.push(Local { ty: ty.clone(), name });
        (of, local)
    });
    for one in function.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        let is_phi = one.result == Some(pointer.phi);
        let is_next = one.result == Some(pointer.next);
        for value in one.op.operands_mut() {
            match value.local() {
                Some(used) if used == now.0 && !is_next => *value = Value::Local(now.1),
                Some(used) if used == next.0 && !is_phi => *value = Value::Local(next.1),
                None if is_phi => *value = pointer.start.clone(),
                _ => {}
            }
        }
    }
    let address = |(of, local): (LocalId, LocalId)| {
        let base = Operand { ty: ty.clone(), value: Value::Local(of) };
        Instruction { result: Some(local), op: after(base, pointer.distance), location: None }
    };
    for Block { instructions, .. } in &mut function.blocks {
        if let Some(at) = instructions.iter().position(|one| one.result == Some(pointer.next)) {
            instructions.insert(at + 1, address(next));
        }
    }
    let instructions = &mut function.blocks[block].instructions;
    let phis = instructions[index..].iter().take_while(|one| matches!(one.op, Op::Phi { .. })).count();
    instructions.insert(index + phis, address(now));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::tests::module;

    /// The offsets of the addresses of the loads from the phi, and the address with which the loop begins.
    fn rounded(start: &str, align: u32, step: u32) -> (i64, Vec<i64>) {
        let mut code = module(&format!(
            "@tile = internal addrspace(3) global [64 x float] undef, align {align}
             define void @f() {{
             entry:
               br label %loop
             loop:
               %p = phi ptr addrspace(3) [ {start}, %entry ], [ %next, %loop ]
               %a = load float, ptr addrspace(3) %p
               %q = getelementptr i8, ptr addrspace(3) %p, i64 -4
               %b = load float, ptr addrspace(3) %q
               %next = getelementptr i8, ptr addrspace(3) %p, i64 {step}
               %c = load float, ptr addrspace(3) %next
               br i1 undef, label %loop, label %end
             end:
               ret void
             }}"
        ));
        let mut function = code.functions.remove(0);
        round_down(&code, &mut function);
        let definitions = function.definitions();
        let mut begin = 0;
        let mut offsets = Vec::new();
        for one in function.instructions() {
            match &one.op {
                Op::Phi { incoming, .. } => {
                    let constants = incoming.iter().filter_map(|(value, _)| match value {
                        Value::Constant(constant) => constant_address(constant),
                        Value::Local(_) => None,
                    });
                    begin = constants.map(|(_, at)| at).next().unwrap();
                }
                Op::Load { pointer, .. } => {
                    offsets.push(crate::lower::addresses::Sum::of(&definitions, &pointer.value).unwrap().offset);
                }
                _ => {}
            }
        }
        (begin, offsets)
    }

    #[test]
    fn pointers_begin_at_multiples_of_vectors() {
        let second = "getelementptr (i8, ptr addrspace(3) @tile, i64 4)";
        assert_eq!(rounded(second, 16, 8), (0, vec![4, 0, 12]));
        let later = "getelementptr ([64 x float], ptr addrspace(3) @tile, i64 0, i64 7)";
        assert_eq!(rounded(later, 16, 32), (16, vec![12, 8, 44]));
    }

    #[test]
    fn other_pointers_stay() {
        let second = "getelementptr (i8, ptr addrspace(3) @tile, i64 4)";
        assert_eq!(rounded("@tile", 16, 8), (0, vec![0, -4, 8]));
        assert_eq!(rounded(second, 4, 8), (4, vec![0, -4, 8]));
        assert_eq!(rounded(second, 16, 4), (4, vec![0, -4, 4]));
    }
}
