//! Tests that the snapshot copies globals, functions, types, blocks and debug metadata.

use super::files::FORMS;
use super::{function, module as read};
use crate::ir::{BlockId, Constant, Frame, FunctionId, LocalId, Location, LocationId, Module, Op, Type, Value};

#[test]
fn globals() {
    let module = read(FORMS);
    let global = |name: &str| module.globals.iter().find(|global| global.name == name).unwrap();
    let inner = Type::Struct { packed: true, fields: vec![Type::Int(8), Type::Int(64)].into() };
    let outer = Type::Struct { packed: false, fields: vec![inner, Type::Array(2, Type::Int(32).into())].into() };

    let shared = global("shared");
    assert_eq!((shared.space, shared.constant, shared.align), (1, true, 1));
    assert_eq!(shared.initializer, Some(Constant::Bytes(b"a\"\\\0"[..].into())));
    let quoted = global("quoted name");
    assert_eq!((quoted.space, quoted.constant, quoted.align), (3, false, 8));
    assert_eq!((&quoted.ty, &quoted.initializer), (&outer, &Some(Constant::Undef)));
    assert_eq!(global("").align, 8);
    let far = global("far");
    assert_eq!((&far.ty, &far.initializer), (&Type::Array(0, Type::Other.into()), &None));
}

#[test]
fn signatures_of_functions() {
    let module = read(FORMS);
    let kernel = function(&module, "kernel");
    assert!(kernel.kernel);
    assert_eq!(kernel.parameters[0].pointee.as_ref().unwrap().size(), Some(20));
    assert_eq!(kernel.parameters[1].pointee, None);
    let names: Vec<&str> = kernel.locals[..2].iter().map(|local| &*local.name).collect();
    assert_eq!(names, ["0", "named"]);

    let ranged = function(&module, "ranged");
    assert_eq!((ranged.returns.clone(), ranged.blocks.len(), ranged.kernel), (Type::Int(32), 0, false));
    assert_eq!(ranged.locals.len(), 2);
    assert_eq!(ranged.parameters[0].pointee.as_ref().unwrap().size(), Some(20));
    assert_eq!(function(&module, "callee").parameters.len(), 1);
    assert!(read("define spir_kernel void @k() {\n  ret void\n}").functions[0].kernel);
    assert!(!read("define spir_func void @k() {\n  ret void\n}").functions[0].kernel);
}

#[test]
fn functions_may_be_called_before_they_are_defined() {
    let module = read(
        "define i32 @first() {
  %1 = call i32 @second(i32 1)
  ret i32 %1
}
define i32 @second(i32) {
  ret i32 %0
}",
    );
    let call = &function(&module, "first").blocks[0].instructions[0];
    assert!(matches!(call.op, Op::Call { callee: FunctionId(1), .. }));
    assert_eq!(call.result, Some(LocalId(0)));
}

#[test]
fn types_may_be_used_before_they_are_defined() {
    let module = read(
        "@g = global { %\"a b\", %c } zeroinitializer
%\"a b\" = type { %c, [3 x %c] }
%c = type <{ ptr addrspace(3), <2 x half>, i1, x86_fp80 }>
%unused = type opaque",
    );
    let c = Type::Struct {
        packed: true,
        fields: vec![Type::Pointer(3), Type::Vector(2, Type::Half.into()), Type::Int(1), Type::Other].into(),
    };
    let ab = Type::Struct { packed: false, fields: vec![c.clone(), Type::Array(3, c.clone().into())].into() };
    assert_eq!(module.globals[0].ty, Type::Struct { packed: false, fields: vec![ab, c].into() });
}

#[test]
fn sizes_are_those_of_the_target() {
    let ty = |text: &str| read(&format!("declare void @f({text})")).functions[0].parameters[0].ty.clone();
    let size = |text: &str| (ty(text).size(), ty(text).align());
    assert_eq!(size("i1"), (Some(1), Some(1)));
    assert_eq!(size("i24"), (Some(4), Some(4)));
    assert_eq!(size("i128"), (Some(16), Some(16)));
    assert_eq!(size("<3 x float>"), (Some(16), Some(16)));
    assert_eq!(size("{ i8, i64, i8 }"), (Some(24), Some(8)));
    assert_eq!(size("<{ i8, i64, i8 }>"), (Some(10), Some(1)));
    assert_eq!(size("[3 x { i16, i8 }]"), (Some(12), Some(2)));
    assert_eq!(size("{}"), (Some(0), Some(1)));
    assert_eq!(size("<vscale x 2 x i32>"), (None, None));
    assert_eq!(ty("target(\"spirv.Image\", void, 1)"), Type::Other);
}

#[test]
fn blocks_are_in_the_order_of_the_text() {
    let module = read(FORMS);
    let control = function(&module, "control");
    let names: Vec<&str> = control.blocks.iter().map(|block| &*block.name).collect();
    assert_eq!(names, ["start", "0", "next", "pad", "last one"]);
    let Op::Switch { default, cases, .. } = &control.blocks[0].instructions[0].op else { panic!() };
    assert_eq!((*default, &**cases), (BlockId(4), &[(0, BlockId(1)), (-7, BlockId(2))][..]));
    let Op::Phi { incoming, .. } = &control.blocks[1].instructions[0].op else { panic!() };
    let second = control.locals.iter().position(|local| local.name == "2").unwrap();
    assert_eq!(
        *incoming,
        [(Value::Constant(Constant::Int(1)), BlockId(0)), (Value::Local(LocalId(second)), BlockId(2))]
    );
}

#[test]
fn blocks_without_labels_are_numbered() {
    let module = read(
        "define i32 @f(i32, i1 %c) {
  br i1 %c, label %2, label %4
  %3 = add i32 %0, 1
  br label %4
  %5 = phi i32 [ 0, %1 ], [ %3, %2 ]
  ret i32 %5
}",
    );
    let f = function(&module, "f");
    let names: Vec<&str> = f.blocks.iter().map(|block| &*block.name).collect();
    assert_eq!(names, ["1", "2", "4"]);
    assert_eq!(f.locals.iter().map(|local| &*local.name).collect::<Vec<_>>(), ["0", "c", "3", "5"]);
}

fn frame(function: &str, file: &str, line: u32, column: u32) -> Frame {
    Frame { function: function.into(), file: file.into(), line, column }
}

#[test]
fn source_locations() {
    let module = read(FORMS);
    let kernel = function(&module, "kernel");
    let frames = |name: &str| {
        let instruction = kernel.blocks[0]
            .instructions
            .iter()
            .find(|instruction| instruction.result.is_some_and(|id| kernel.locals[id.0].name == name));
        module.frames(instruction.unwrap().location.unwrap())
    };
    assert_eq!(frames("2"), [frame("kernel<int>", "/src/forms.cpp", 4, 7)]);
    assert_eq!(
        frames("4"),
        [frame("operator[]", "/lib/\"odd\".h", 41, 3), frame("kernel<int>", "/src/forms.cpp", 5, 9)]
    );
    let last = kernel.blocks[0].instructions.last().unwrap();
    assert_eq!(module.frames(last.location.unwrap()), [frame("kernel<int>", "/lib/\"odd\".h", 0, 0)]);
    assert_eq!(kernel.definition, Some(frame("kernel<int>", "/src/forms.cpp", 3, 0)));
    // An instruction that kernels cannot have.
    let asm = kernel.blocks[0].instructions.iter().find(|one| one.op == Op::Other { name: "asm" });
    assert_eq!(module.frames(asm.unwrap().location.unwrap()), [frame("kernel<int>", "/src/forms.cpp", 9, 1)]);
}

/// The text of a module: a function whose `ret` has this location, metadata that LLVM requires, and the lines `more`.
fn module_with_location(location: &str, more: &str) -> String {
    format!(
        "define void @f() !dbg !3 {{
  ret void, !dbg {location}
}}
!llvm.module.flags = !{{!0}}
!llvm.dbg.cu = !{{!1}}
!0 = !{{i32 2, !\"Debug Info Version\", i32 3}}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: \"a.cpp\", directory: \"/src\")
!3 = distinct !DISubprogram(name: \"f\", scope: !2, file: !2, line: 1, unit: !1, spFlags: DISPFlagDefinition)
{more}"
    )
}

#[test]
fn a_location_has_at_most_64_frames() {
    const MANY: usize = 2000;
    let chain: String = (4..MANY)
        .map(|n| format!("!{n} = distinct !DILocation(line: {n}, scope: !3, inlinedAt: !{})\n", n + 1))
        .collect();
    let module =
        read(&module_with_location("!4", &format!("{chain}!{MANY} = distinct !DILocation(line: 1, scope: !3)")));
    let frames = module.frames(module.functions[0].blocks[0].instructions[0].location.unwrap());
    assert_eq!((frames.len(), &frames[63]), (64, &frame("f", "/src/a.cpp", 67, 0)));
    assert_eq!(module.locations.len(), MANY - 3);
}

/// LLVM itself would never return from circular metadata, so the test creates the module without LLVM.
#[test]
fn a_circular_location_has_at_most_64_frames() {
    let location =
        Location { function: "f".into(), file: "a.cpp".into(), line: 1, column: 0, inlined_at: Some(LocationId(0)) };
    let module = Module { locations: vec![location], ..Module::default() };
    assert_eq!(module.frames(LocationId(0)), vec![frame("f", "a.cpp", 1, 0); 64]);
}
