//! Tests that the snapshot copies LLVM's instructions.

use super::{body, function, int, module, one, pair, parameter as p};
use crate::ir::{
    AtomicOp, BinaryOp, CastOp, Constant, Flags, FloatPredicate, FunctionId, IntPredicate, Op, Operand, Type, Value,
};

fn flags() -> Flags {
    Flags::default()
}

#[test]
fn binary() {
    use BinaryOp::*;
    for (word, op) in [
        ("add", Add),
        ("sub", Sub),
        ("mul", Mul),
        ("udiv", UDiv),
        ("sdiv", SDiv),
        ("urem", URem),
        ("srem", SRem),
        ("shl", Shl),
        ("lshr", LShr),
        ("ashr", AShr),
        ("and", And),
        ("or", Or),
        ("xor", Xor),
    ] {
        let expected = Op::Binary { op, left: p("i"), right: int(32, -3), flags: flags() };
        assert_eq!(one(&format!("  %1 = {word} i32 %i, -3")), (expected, Type::Int(32)));
    }
    for (word, op) in [("fadd", FAdd), ("fsub", FSub), ("fmul", FMul), ("fdiv", FDiv), ("frem", FRem)] {
        let expected = Op::Binary { op, left: p("x"), right: p("x"), flags: flags() };
        assert_eq!(one(&format!("  %1 = {word} float %x, %x")), (expected, Type::Float));
    }
    let vector = Op::Binary { op: Add, left: p("v"), right: p("v"), flags: flags() };
    assert_eq!(one("  %1 = add <4 x i32> %v, %v"), (vector, p("v").ty));
}

#[test]
fn flags_are_copied() {
    let flags_of = |line: &str| match one(line).0 {
        Op::Binary { flags, .. } | Op::FNeg { flags, .. } | Op::FCmp { flags, .. } | Op::Call { flags, .. } => flags,
        other => panic!("{other:?}"),
    };
    assert_eq!(flags_of("  %1 = add nuw i32 %i, 1"), Flags { nuw: true, ..flags() });
    assert_eq!(flags_of("  %1 = shl nuw nsw i32 %i, 1"), Flags { nuw: true, nsw: true, ..flags() });
    assert_eq!(flags_of("  %1 = udiv exact i32 %i, 1"), flags());
    assert_eq!(flags_of("  %1 = or disjoint i32 %i, 1"), Flags { disjoint: true, ..flags() });
    let fast = Flags { contract: true, reciprocal: true, ..flags() };
    assert_eq!(flags_of("  %1 = fmul fast float %x, %x"), fast);
    assert_eq!(flags_of("  %1 = fmul reassoc nnan ninf nsz arcp contract afn float %x, %x"), fast);
    assert_eq!(
        flags_of("  %1 = fmul reassoc nnan ninf nsz arcp afn float %x, %x"),
        Flags { reciprocal: true, ..flags() }
    );
    assert_eq!(flags_of("  %1 = fneg contract float %x"), Flags { contract: true, ..flags() });
    assert_eq!(flags_of("  %1 = fcmp nnan contract oeq float %x, %x"), Flags { contract: true, ..flags() });
    assert_eq!(
        flags_of("  %1 = tail call contract addrspace(4) float @sinf(float %x)"),
        Flags { contract: true, ..flags() }
    );
}

#[test]
fn casts() {
    use CastOp::*;
    for (line, op, value, to) in [
        ("trunc nuw nsw i64 %l to i32", Trunc, "l", Type::Int(32)),
        ("zext nneg i32 %i to i64", ZExt, "i", Type::Int(64)),
        ("sext i32 %i to i64", SExt, "i", Type::Int(64)),
        ("fptrunc contract float %x to half", FpTrunc, "x", Type::Half),
        ("fpext float %x to double", FpExt, "x", Type::Double),
        ("fptoui float %x to i32", FpToUi, "x", Type::Int(32)),
        ("fptosi float %x to i32", FpToSi, "x", Type::Int(32)),
        ("uitofp nneg i32 %i to float", UiToFp, "i", Type::Float),
        ("sitofp i32 %i to float", SiToFp, "i", Type::Float),
        ("ptrtoint ptr addrspace(1) %g to i64", PtrToInt, "g", Type::Int(64)),
        ("ptrtoaddr ptr addrspace(1) %g to i64", PtrToAddr, "g", Type::Int(64)),
        ("inttoptr i64 %l to ptr addrspace(3)", IntToPtr, "l", Type::Pointer(3)),
        ("bitcast <4 x i32> %v to i128", BitCast, "v", Type::Int(128)),
        ("addrspacecast ptr %p to ptr addrspace(4)", AddrSpaceCast, "p", Type::Pointer(4)),
    ] {
        let expected = Op::Cast { op, value: p(value), to: to.clone() };
        assert_eq!(one(&format!("  %1 = {line}")), (expected, to));
    }
}

#[test]
fn comparisons() {
    use IntPredicate as I;
    for (word, predicate) in [
        ("eq", I::Eq),
        ("ne", I::Ne),
        ("ugt", I::Ugt),
        ("uge", I::Uge),
        ("ult", I::Ult),
        ("ule", I::Ule),
        ("sgt", I::Sgt),
        ("sge", I::Sge),
        ("slt", I::Slt),
        ("sle", I::Sle),
    ] {
        let expected = Op::ICmp { predicate, left: p("i"), right: int(32, 0) };
        assert_eq!(one(&format!("  %1 = icmp {word} i32 %i, 0")), (expected, Type::Int(1)));
    }
    use FloatPredicate as F;
    for (word, predicate) in [
        ("false", F::False),
        ("oeq", F::Oeq),
        ("ogt", F::Ogt),
        ("oge", F::Oge),
        ("olt", F::Olt),
        ("ole", F::Ole),
        ("one", F::One),
        ("ord", F::Ord),
        ("ueq", F::Ueq),
        ("ugt", F::Ugt),
        ("uge", F::Uge),
        ("ult", F::Ult),
        ("ule", F::Ule),
        ("une", F::Une),
        ("uno", F::Uno),
        ("true", F::True),
    ] {
        let expected = Op::FCmp { predicate, left: p("x"), right: p("x"), flags: flags() };
        assert_eq!(one(&format!("  %1 = fcmp {word} float %x, %x")), (expected, Type::Int(1)));
    }
    let pointers = Op::ICmp {
        predicate: I::Ult,
        left: p("p"),
        right: Operand { ty: p("p").ty, value: Value::Constant(Constant::Zero) },
    };
    assert_eq!(one("  %1 = icmp samesign ult ptr %p, null").0, pointers);
    assert_eq!(one("  %1 = icmp eq <4 x i32> %v, %v").1, Type::Vector(4, Type::Int(1).into()));
}

#[test]
fn memory() {
    let load =
        |ty: &Type, align, volatile, atomic| Op::Load { ty: ty.clone(), pointer: p("g"), align, volatile, atomic };
    let i32 = Type::Int(32);
    assert_eq!(one("  %1 = load i32, ptr addrspace(1) %g, align 4"), (load(&i32, 4, false, false), i32.clone()));
    assert_eq!(one("  %1 = load volatile i32, ptr addrspace(1) %g").0, load(&i32, 4, true, false));
    assert_eq!(
        one("  %1 = load atomic i32, ptr addrspace(1) %g syncscope(\"agent\") monotonic, align 8").0,
        load(&i32, 8, false, true)
    );
    let store = |align, volatile, atomic| Op::Store { value: p("i"), pointer: p("p"), align, volatile, atomic };
    assert_eq!(one("  store i32 %i, ptr %p, align 2"), (store(2, false, false), Type::Void));
    assert_eq!(one("  store volatile i32 %i, ptr %p").0, store(4, true, false));
    assert_eq!(one("  store atomic volatile i32 %i, ptr %p seq_cst, align 4").0, store(4, true, true));

    let alloca = |ty: &Type, count, align, space| Op::Alloca { ty: ty.clone(), count, align, space };
    assert_eq!(one("  %1 = alloca %pair, align 8"), (alloca(&pair(), int(32, 1), 8, 0), Type::Pointer(0)));
    assert_eq!(one("  %1 = alloca i32, i64 5, align 8").0, alloca(&i32, int(64, 5), 8, 0));
    assert_eq!(one("  %1 = alloca i32, addrspace(5)"), (alloca(&i32, int(32, 1), 4, 5), Type::Pointer(5)));
    assert_eq!(one("  fence syncscope(\"workgroup\") acq_rel"), (Op::Fence, Type::Void));
}

#[test]
fn addresses() {
    let gep = |base: &str, indices, inbounds| Op::Gep { source: pair(), base: p(base), indices, inbounds };
    assert_eq!(
        one("  %1 = getelementptr inbounds nuw %pair, ptr addrspace(1) %g, i64 %l, i32 1"),
        (gep("g", vec![p("l"), int(32, 1)], true), Type::Pointer(1))
    );
    assert_eq!(one("  %1 = getelementptr nusw %pair, ptr %p, i32 %i").0, gep("p", vec![p("i")], false));
    let pointer_vector = Type::Vector(4, Type::Pointer(0).into());
    assert_eq!(one("  %1 = getelementptr %pair, ptr %p, <4 x i32> %v").1, pointer_vector);
}

#[test]
fn atomics() {
    use AtomicOp::*;
    for (word, op) in [
        ("xchg", Xchg),
        ("add", Add),
        ("sub", Sub),
        ("and", And),
        ("or", Or),
        ("xor", Xor),
        ("nand", Nand),
        ("max", Max),
        ("min", Min),
        ("umax", UMax),
        ("umin", UMin),
    ] {
        let expected = Op::AtomicRmw { op, pointer: p("p"), value: p("i") };
        let line = format!("  %1 = atomicrmw volatile {word} ptr %p, i32 %i syncscope(\"agent\") acq_rel, align 4");
        assert_eq!(one(&line), (expected, Type::Int(32)));
    }
    for (word, op) in [("fadd", FAdd), ("fsub", FSub), ("fmax", FMax), ("fmin", FMin)] {
        let expected = Op::AtomicRmw { op, pointer: p("p"), value: p("x") };
        assert_eq!(one(&format!("  %1 = atomicrmw {word} ptr %p, float %x seq_cst")), (expected, Type::Float));
    }
    assert_eq!(
        one("  %1 = atomicrmw usub_sat ptr %p, i32 %i seq_cst"),
        (Op::Other { name: "atomicrmw" }, Type::Int(32))
    );
    let value_and_success = Type::Struct { packed: false, fields: vec![Type::Int(32), Type::Int(1)].into() };
    assert_eq!(
        one("  %1 = cmpxchg weak volatile ptr %p, i32 0, i32 %i syncscope(\"agent\") acq_rel monotonic, align 4"),
        (Op::CmpXchg { pointer: p("p"), expected: int(32, 0), new: p("i") }, value_and_success)
    );
}

#[test]
fn parts_of_values() {
    let s = || p("s");
    assert_eq!(
        one("  %1 = extractvalue %pair %s, 1"),
        (Op::ExtractValue { aggregate: s(), path: vec![1] }, Type::Int(64))
    );
    assert_eq!(
        one("  %1 = insertvalue %pair %s, i64 %l, 1"),
        (Op::InsertValue { aggregate: s(), element: p("l"), path: vec![1] }, pair())
    );
    let (deep, ty) = one("  %1 = extractvalue { i8, [3 x %pair] } undef, 1, 2, 0");
    assert!(matches!(deep, Op::ExtractValue { path, .. } if path == [1, 2, 0]));
    assert_eq!(ty, Type::Int(8));
    let v = || p("v");
    assert_eq!(
        one("  %1 = extractelement <4 x i32> %v, i32 %i"),
        (Op::ExtractElement { vector: v(), at: p("i") }, Type::Int(32))
    );
    assert_eq!(
        one("  %1 = insertelement <4 x i32> %v, i32 7, i64 0"),
        (Op::InsertElement { vector: v(), element: int(32, 7), at: int(64, 0) }, v().ty)
    );
}

#[test]
fn shuffles() {
    let mask = |text: &str| match one(&format!("  %1 = shufflevector <4 x i32> %v, <4 x i32> poison, {text}")) {
        (Op::ShuffleVector { left, mask, .. }, Type::Vector(count, element)) => {
            assert_eq!((left, &*element, count as usize), (p("v"), &Type::Int(32), mask.len()));
            mask
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(mask("<3 x i32> <i32 3, i32 poison, i32 7>"), [Some(3), None, Some(7)]);
    assert_eq!(mask("<4 x i32> zeroinitializer"), [Some(0); 4]);
    assert_eq!(mask("<2 x i32> poison"), [None, None]);
    assert_eq!(mask("<2 x i32> splat (i32 1)"), [Some(1), Some(1)]);
}

#[test]
fn select_and_freeze() {
    let select = Op::Select { condition: p("b"), yes: p("i"), no: int(32, 0) };
    assert_eq!(one("  %1 = select i1 %b, i32 %i, i32 0"), (select, Type::Int(32)));
    assert_eq!(one("  %1 = freeze i32 %i"), (Op::Freeze { value: p("i") }, Type::Int(32)));
}

#[test]
fn calls() {
    let call = |callee, arguments, returns: &Type| Op::Call {
        callee: FunctionId(callee),
        arguments,
        returns: returns.clone(),
        flags: flags(),
    };
    assert_eq!(
        one(
            "  %1 = tail call spir_func noundef nofpclass(nan inf) addrspace(4) float @sinf(float noundef %x) nounwind"
        ),
        (call(1, vec![p("x")], &Type::Float), Type::Float)
    );
    assert_eq!(
        one(
            "  tail call fastcc addrspace(4) void (...) @sink(ptr noundef align 8 dereferenceable(8) %p, i32 range(i32 0, 5) 4, ptr byval(%pair) %p) nounwind memory(none) \"a\"=\"b\" [ \"deopt\"(i32 1, ptr null) ]"
        ),
        (call(0, vec![p("p"), int(32, 4), p("p")], &Type::Void), Type::Void)
    );
    let with_metadata_argument = module(
        "declare i64 @llvm.read_register.i64(metadata)
define i64 @f() {
  %r = call i64 @llvm.read_register.i64(metadata !{!\"sp\"})
  ret i64 %r
}",
    );
    let Op::Call { arguments, .. } = &with_metadata_argument.functions[1].blocks[0].instructions[0].op else {
        panic!()
    };
    assert_eq!(*arguments, [Operand { ty: Type::Other, value: Value::Constant(Constant::Other) }]);
    assert_eq!(
        one("  %1 = call addrspace(1) i32 %g(i32 %i)"),
        (Op::CallIndirect { callee: p("g"), arguments: vec![p("i")], returns: Type::Int(32) }, Type::Int(32))
    );
    assert!(matches!(one("  call void inttoptr (i64 64 to ptr)()").0, Op::CallIndirect { .. }));
    assert!(matches!(one("  call void null()").0, Op::CallIndirect { .. }));
}

#[test]
fn a_result_without_a_name_has_a_number() {
    let module = module("declare i32 @g()\ndefine i32 @f() {\n  call i32 @g()\n  %2 = add i32 %1, 1\n  ret i32 %2\n}");
    let names: Vec<_> = function(&module, "f").locals.iter().map(|local| local.name.clone()).collect();
    assert_eq!(names, ["1", "2"]);
}

#[test]
fn unsupported_instructions_become_other() {
    let (_, instructions) = body(
        "  %1 = va_arg ptr %p, i32
  %2 = add i32 %1, 1
  %3 = call addrspace(0) i64 asm \"bar $0\", \"=r,r,~{memory}\"(i64 %l)
  %4 = add i64 %3, 1
  %5 = shufflevector <4 x i32> %v, <4 x i32> %v, <1025 x i32> zeroinitializer",
    );
    let name = |n: usize| match &instructions[n].op {
        Op::Other { name } => *name,
        other => panic!("{other:?}"),
    };
    assert_eq!([name(0), name(2), name(4)], ["va_arg", "asm", "shufflevector"]);
    assert!(matches!(instructions[3].op, Op::Binary { .. }));

    let module = module(
        "declare i32 @personality(...)
define void @f(ptr %p) personality ptr @personality {
  invoke void %p(i32 0) [ \"x\"() ]
          to label %a unwind label %b
a:
  indirectbr ptr %p, [label %a, label %c]
b:
  %pad = landingpad { ptr, i32 }
          cleanup
          filter [0 x ptr] zeroinitializer
  %first = extractvalue { ptr, i32 } %pad, 0
  resume { ptr, i32 } %pad
c:
  callbr void asm \"\", \"!i\"()
          to label %a [label %c]
}",
    );
    let terminators: Vec<&str> = module.functions[1]
        .blocks
        .iter()
        .map(|block| match &block.instructions.last().unwrap().op {
            Op::Other { name } => *name,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(terminators, ["invoke", "indirectbr", "resume", "callbr"]);
}

#[test]
fn debug_records_are_not_instructions() {
    let module = module(super::files::FORMS);
    let kernel = function(&module, "kernel");
    assert!(kernel.blocks[0].instructions.iter().take(2).all(|one| matches!(one.op, Op::Gep { .. } | Op::Load { .. })));
}
