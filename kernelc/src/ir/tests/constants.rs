//! Tests that the snapshot copies LLVM's constants.

use super::{int, module};
use crate::ir::{BinaryOp, CastOp, Constant, Flags, FunctionId, GlobalId, Op, Operand, Type, Value};

/// The copied initialiser of a global variable, whose type and value are `text`.
fn constant(text: &str) -> Constant {
    let text = format!("@a = global i8 0\n@b = addrspace(1) global i8 0\n@g = global {text}\ndeclare void @f()");
    module(&text).globals[2].initializer.clone().unwrap()
}

fn value(ty: Type, constant: Constant) -> Operand {
    Operand { ty, value: Value::Constant(constant) }
}

#[test]
fn integers() {
    assert_eq!(constant("i32 -5"), Constant::Int(-5));
    assert_eq!(constant("i32 2147483647"), Constant::Int(0x7fff_ffff));
    assert_eq!(constant("i64 -9223372036854775808"), Constant::Int(i64::MIN.into()));
    assert_eq!(constant("i1 true"), Constant::Int(1));
    assert_eq!(constant("i1 false"), Constant::Int(0));
    assert_eq!(constant("i65 1"), Constant::Other);
    assert_eq!(constant("i128 -170141183460469231731687303715884105728"), Constant::Other);
    assert_eq!(constant("i16 u0xFF"), Constant::Int(255));
}

#[test]
fn floats() {
    assert_eq!(constant("float 1.500000e+00"), Constant::Float(1.5_f64.to_bits()));
    assert_eq!(constant("double -0.000000e+00"), Constant::Float((-0.0_f64).to_bits()));
    assert_eq!(constant("double 1.000000e-310"), Constant::Float(1e-310_f64.to_bits()));
    assert_eq!(constant("float 0x3FB99999A0000000"), Constant::Float(f64::from(0.1_f32).to_bits()));
    assert_eq!(constant("float 0x7FF4000020000000"), Constant::Float(0x7FF4_0000_2000_0000));
    assert_eq!(constant("double 0xFFF0000000000000"), Constant::Float(f64::NEG_INFINITY.to_bits()));
    for other in ["fp128 0xL00000000000000003FFF000000000000", "x86_fp80 0xK3FFF8000000000000000", "bfloat 0xR3F80"] {
        assert_eq!(constant(other), Constant::Other);
    }
}

#[test]
fn halves_become_doubles() {
    let half = |text: &str| match constant(&format!("half {text}")) {
        Constant::Float(bits) => bits,
        other => panic!("{other:?}"),
    };
    assert_eq!(half("0xH3C00"), 1_f64.to_bits());
    assert_eq!(half("0xHC100"), (-2.5_f64).to_bits());
    assert_eq!(half("0xH7BFF"), 65504_f64.to_bits());
    // The smallest and the largest subnormal number.
    assert_eq!(half("0xH0001"), 2_f64.powi(-24).to_bits());
    assert_eq!(half("0xH83FF"), (-1023.0 * 2_f64.powi(-24)).to_bits());
    assert_eq!(half("0xH0400"), 2_f64.powi(-14).to_bits());
    assert_eq!(half("0xH8000"), (-0_f64).to_bits());
    assert_eq!(half("0xHFC00"), f64::NEG_INFINITY.to_bits());
    assert_eq!(half("0xH7E01"), 0x7FF8_0400_0000_0000);
    assert_eq!(half("5.000000e-01"), 0.5_f64.to_bits());
}

#[test]
fn null_undef_poison_and_symbols() {
    assert_eq!(constant("ptr null"), Constant::Zero);
    assert_eq!(constant("{ i8, [2 x i32] } zeroinitializer"), Constant::Zero);
    assert_eq!(constant("<2 x i32> undef"), Constant::Undef);
    assert_eq!(constant("float poison"), Constant::Poison);
    assert_eq!(constant("ptr addrspace(1) @b"), Constant::Global(GlobalId(1)));
    assert_eq!(constant("ptr @f"), Constant::Function(FunctionId(0)));
}

#[test]
fn aggregates() {
    let ints = |bits| [int(bits, 1), int(bits, 2)];
    assert_eq!(constant("[2 x i32] [i32 1, i32 2]"), Constant::Aggregate(ints(32).into()));
    assert_eq!(constant("<2 x i8> <i8 1, i8 2>"), Constant::Aggregate(ints(8).into()));
    assert_eq!(constant("{ i32, i32 } { i32 1, i32 2 }"), Constant::Aggregate(ints(32).into()));
    assert_eq!(constant("<{ i8, i8 }> <{ i8 1, i8 2 }>"), Constant::Aggregate(ints(8).into()));
    let inner = value(Type::Array(2, Type::Int(8).into()), Constant::Bytes([1, 2].into()));
    assert_eq!(constant("{ [2 x i8] } { [2 x i8] [i8 1, i8 2] }"), Constant::Aggregate([inner].into()));
    assert_eq!(constant(r#"[5 x i8] c"a\0A\\\22\00""#), Constant::Bytes(b"a\n\\\"\0"[..].into()));
    let one_half = value(Type::Float, Constant::Float(0.5_f64.to_bits()));
    assert_eq!(
        constant("<3 x float> splat (float 5.000000e-01)"),
        Constant::Aggregate([one_half.clone(), one_half.clone(), one_half].into())
    );
}

#[test]
fn expressions() {
    let a = value(Type::Pointer(0), Constant::Global(GlobalId(0)));
    let b = value(Type::Pointer(1), Constant::Global(GlobalId(1)));
    let expression = |op| Constant::Expression(Box::new(op));
    let cast = |op, value, to| Op::Cast { op, value, to };
    let generic = cast(CastOp::AddrSpaceCast, b.clone(), Type::Pointer(4));
    assert_eq!(
        constant("ptr addrspace(4) addrspacecast (ptr addrspace(1) @b to ptr addrspace(4))"),
        expression(generic.clone())
    );
    let address = expression(cast(CastOp::PtrToInt, a.clone(), Type::Int(64)));
    assert_eq!(constant("i64 ptrtoint (ptr @a to i64)"), address);
    assert_eq!(
        constant("ptr inttoptr (i64 16 to ptr)"),
        expression(cast(CastOp::IntToPtr, int(64, 16), Type::Pointer(0)))
    );
    let address = value(Type::Int(64), address);
    for (word, op) in [("add", BinaryOp::Add), ("sub", BinaryOp::Sub), ("xor", BinaryOp::Xor)] {
        let flags = Flags::default();
        assert_eq!(
            constant(&format!("i64 {word} (i64 ptrtoint (ptr @a to i64), i64 1)")),
            expression(Op::Binary { op, left: address.clone(), right: int(64, 1), flags })
        );
    }
    let base = value(Type::Pointer(4), expression(generic));
    let fields = Type::Struct { packed: false, fields: vec![Type::Int(8), Type::Int(32)].into() };
    assert_eq!(
        constant(
            "ptr addrspace(4) getelementptr inbounds nuw inrange(-4, 12) ({ i8, i32 }, ptr addrspace(4)
             addrspacecast (ptr addrspace(1) @b to ptr addrspace(4)), i64 0, i32 1)"
        ),
        expression(Op::Gep { source: fields, base, indices: vec![int(64, 0), int(32, 1)], inbounds: true })
    );
}

#[test]
fn aliases_are_copied_as_their_aliasees() {
    let module = module(
        "@first = alias void (), ptr @second
@second = internal alias void (), ptr @f
@inner = alias i8, getelementptr (i8, ptr @g, i64 1)
@late = ifunc void (), ptr @resolver
@g = global i16 0
@same = alias i16, ptr @g
@table = global [4 x ptr] [ptr @first, ptr @same, ptr @inner, ptr @late]
define void @f() {
  ret void
}
define ptr @resolver() {
  ret ptr null
}
define void @caller() {
  call void @first()
  call void @late()
  ret void
}",
    );
    assert_eq!(module.globals.len(), 2);
    let Some(Constant::Aggregate(elements)) = &module.globals[1].initializer else { panic!() };
    let values: Vec<_> = elements.iter().map(|one| one.value.clone()).collect();
    let (f, g) = (Constant::Function(FunctionId(0)), Constant::Global(GlobalId(0)));
    assert_eq!(values, [f, g, Constant::Other, Constant::Other].map(Value::Constant));
    let calls = &module.functions[2].blocks[0].instructions;
    assert!(matches!(calls[0].op, Op::Call { callee: FunctionId(0), .. }));
    assert!(matches!(calls[1].op, Op::CallIndirect { .. }));
}

#[test]
fn constants_that_kernels_lack_become_other() {
    let labels = "@g = global ptr blockaddress(@f, %next)\ndefine void @f() {\n  br label %next\nnext:\n  ret void\n}";
    assert_eq!(module(labels).globals[0].initializer, Some(Constant::BlockAddress(FunctionId(0))));
    for text in [
        "dso_local_equivalent @f",
        "no_cfi @f",
        "ptrauth (ptr @f, i32 2, i64 5)",
        "extractelement (<2 x ptr> <ptr @a, ptr inttoptr (i64 1 to ptr)>, i32 ptrtoint (ptr @a to i32))",
    ] {
        assert_eq!(constant(&format!("ptr {text}, align 8")), Constant::Other);
    }
}
