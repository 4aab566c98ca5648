//! Checks the invariants that each snapshot must fulfil, even a snapshot of a damaged module that LLVM accepts.

use crate::ir::{Block, BlockId, Constant, Function, Module, Op, Operand, Type, Value};

/// Panics if an index is out of range, a block is empty, or the type of a value differs from the type at its use.
pub fn check(module: &Module) {
    for global in &module.globals {
        if let Some(initializer) = &global.initializer {
            constant(module, &global.ty, initializer);
        }
    }
    for function in &module.functions {
        assert!(function.parameters.len() <= function.locals.len());
        for (parameter, local) in function.parameters.iter().zip(&function.locals) {
            assert_eq!(parameter.ty, local.ty);
        }
        for block in &function.blocks {
            check_block(module, function, block);
        }
    }
}

fn check_block(module: &Module, function: &Function, block: &Block) {
    let (last, non_terminators) = block.instructions.split_last().unwrap();
    let is_terminator = |op: &Op| {
        matches!(op, Op::Br { .. } | Op::CondBr { .. } | Op::Switch { .. } | Op::Ret { .. } | Op::Unreachable)
    };
    assert!(is_terminator(&last.op) || matches!(last.op, Op::Other { .. }), "{:?}", last.op);
    assert!(!non_terminators.iter().any(|instruction| is_terminator(&instruction.op)));
    for instruction in &block.instructions {
        if let Some(result) = instruction.result {
            assert!(!matches!(function.locals[result.0].ty, Type::Void));
        }
        if let Some(location) = instruction.location {
            module.frames(location);
        }
        check_op(module, Some(function), &instruction.op);
    }
}

fn check_op(module: &Module, function: Option<&Function>, op: &Op) {
    let operand = |one: &Operand| value(module, function, &one.ty, &one.value);
    let block = |id: &BlockId| assert!(id.0 < function.unwrap().blocks.len());
    match op {
        Op::Binary { left, right, .. } | Op::ICmp { left, right, .. } | Op::FCmp { left, right, .. } => {
            assert_eq!(left.ty, right.ty);
            operand(left);
            operand(right);
        }
        Op::ShuffleVector { left, right, .. } => {
            operand(left);
            operand(right);
        }
        Op::FNeg { value, .. } | Op::Cast { value, .. } | Op::Freeze { value } => operand(value),
        Op::Phi { ty, incoming } => {
            for (one, from) in incoming {
                value(module, function, ty, one);
                block(from);
            }
        }
        Op::Select { condition, yes, no } => {
            assert_eq!(yes.ty, no.ty);
            [condition, yes, no].into_iter().for_each(operand);
        }
        Op::Load { pointer, .. } => operand(pointer),
        Op::Store { value, pointer, .. } | Op::AtomicRmw { value, pointer, .. } => {
            operand(value);
            operand(pointer);
        }
        Op::Gep { base, indices, .. } => {
            operand(base);
            indices.iter().for_each(operand);
        }
        Op::Alloca { count, .. } => operand(count),
        Op::CmpXchg { pointer, expected, new } => {
            assert_eq!(expected.ty, new.ty);
            [pointer, expected, new].into_iter().for_each(operand);
        }
        Op::Call { callee, arguments, .. } => {
            assert!(callee.0 < module.functions.len());
            arguments.iter().for_each(operand);
        }
        Op::CallIndirect { callee, arguments, .. } => {
            operand(callee);
            arguments.iter().for_each(operand);
        }
        Op::ExtractValue { aggregate, path } => {
            assert!(!path.is_empty());
            operand(aggregate);
        }
        Op::InsertValue { aggregate, element, path } => {
            assert!(!path.is_empty());
            operand(aggregate);
            operand(element);
        }
        Op::ExtractElement { vector, at } => {
            operand(vector);
            operand(at);
        }
        Op::InsertElement { vector, element, at } => [vector, element, at].into_iter().for_each(operand),
        Op::Br { target } => block(target),
        Op::CondBr { condition, yes, no } => {
            assert_eq!(condition.ty, Type::Int(1));
            operand(condition);
            block(yes);
            block(no);
        }
        Op::Switch { value, default, cases } => {
            operand(value);
            block(default);
            cases.iter().for_each(|(_, target)| block(target));
        }
        Op::Ret { value } => value.iter().for_each(operand),
        Op::Fence | Op::Unreachable | Op::Other { .. } => {}
    }
}

fn value(module: &Module, function: Option<&Function>, ty: &Type, value: &Value) {
    match value {
        Value::Local(id) => {
            let local = &function.unwrap().locals[id.0].ty;
            assert_eq!(local, ty);
        }
        Value::Constant(one) => constant(module, ty, one),
    }
}

fn constant(module: &Module, ty: &Type, constant: &Constant) {
    match (constant, ty) {
        (_, Type::Other) | (Constant::Undef | Constant::Poison | Constant::Zero | Constant::Other, _) => {}
        (Constant::Int(_), Type::Int(_)) | (Constant::Float(_), Type::Half | Type::Float | Type::Double) => {}
        (Constant::Bytes(bytes), Type::Array(count, _)) => assert_eq!(bytes.len() as u64, *count),
        (Constant::Aggregate(elements), _) => {
            let fits = match ty {
                Type::Array(count, element) => {
                    elements.len() as u64 == *count && elements.iter().all(|e| e.ty == **element)
                }
                Type::Vector(count, element) => {
                    elements.len() == *count as usize && elements.iter().all(|e| e.ty == **element)
                }
                Type::Struct { fields, .. } => elements.iter().map(|e| &e.ty).eq(fields.iter()),
                _ => false,
            };
            assert!(fits, "{elements:?} {ty:?}");
            elements.iter().for_each(|one| value(module, None, &one.ty, &one.value));
        }
        (Constant::Global(id), Type::Pointer(_)) => assert!(id.0 < module.globals.len()),
        (Constant::Function(id) | Constant::BlockAddress(id), Type::Pointer(_)) => {
            assert!(id.0 < module.functions.len())
        }
        (Constant::Expression(op), _) => {
            assert!(matches!(**op, Op::Gep { .. } | Op::Cast { .. } | Op::Binary { .. }));
            check_op(module, None, op);
        }
        _ => panic!("{constant:?} of {ty:?}"),
    }
}
