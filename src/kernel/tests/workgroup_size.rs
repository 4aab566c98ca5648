//! Tests of workgroup sizes, specialization constants and Workgroup memory.

use super::*;
use crate::kernel::SpecKind;

fn u32s(values: &[(u32, u32)]) -> Vec<(u32, Vec<u8>)> {
    values.iter().map(|(id, value)| (*id, value.to_ne_bytes().to_vec())).collect()
}

#[test]
fn sizes_from_specialization_constants() {
    let source = "layout(local_size_x_id = 3, local_size_y = 2, local_size_z_id = 1) in;
        layout(binding = 0) buffer A { uint a[]; };
        void main() { a[gl_LocalInvocationIndex] = gl_WorkGroupSize.x; }";
    for env in ["vulkan1.0", "vulkan1.2", "vulkan1.3"] {
        let m = module(&glsl_with(source, &[&format!("--target-env={env}")]));
        assert_eq!(
            m.spec_constants().iter().map(|c| (c.id, c.kind, c.default)).collect::<Vec<_>>(),
            [(1, SpecKind::Int(4), 1), (3, SpecKind::Int(4), 1)]
        );
        assert_eq!(m.workgroup_size(&vec![]).unwrap(), [1, 2, 1], "{env}");
        assert_eq!(m.workgroup_size(&u32s(&[(3, 32), (1, 5)])).unwrap(), [32, 2, 5]);
        assert_contains(&m.workgroup_size(&u32s(&[(3, 0)])).unwrap_err(), &["0 x 2 x 1", "expected 1 to 2147483648"]);
        assert_contains(&m.workgroup_size(&u32s(&[(3, u32::MAX)])).unwrap_err(), &["4294967295 x 2 x 1"]);
        assert_contains(&m.workgroup_size(&u32s(&[(3, 1 << 20), (1, 1 << 12)])).unwrap_err(), &["in total"]);
        assert_contains(
            &m.workgroup_size(&u32s(&[(7, 1)])).unwrap_err(),
            &["constant 7", "are: 1 (integer, 4 bytes), 3"],
        );
    }
}

#[test]
fn every_declaration_of_the_size() {
    let size = |env: &str, mode: &str, more: &str| {
        let text = format!(
            "{HEAD}OpEntryPoint GLCompute %10 \"main\"\n{mode}
            OpDecorate %30 SpecId 0
            {}
            %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%4 = OpTypeVector %3 3
            %20 = OpConstant %3 2\n%21 = OpConstant %3 4\n%30 = OpSpecConstant %3 16\n{more}
            %10 = OpFunction %1 None %2\n%40 = OpLabel\nOpReturn\nOpFunctionEnd",
            if more.contains("%50") { "OpDecorate %50 BuiltIn WorkgroupSize" } else { "" }
        );
        Module::new(&assemble(env, &text), None)
    };
    let (literal, ids) = ("OpExecutionMode %10 LocalSize 5 6 7", "OpExecutionModeId %10 LocalSizeId %30 %20 %21");
    let default = |m: crate::error::Result<Module>| m.unwrap().workgroup_size(&vec![]).unwrap();
    assert_eq!(default(size("spv1.3", literal, "")), [5, 6, 7]);
    let by_ids = size("spv1.6", ids, "").unwrap();
    assert_eq!(by_ids.workgroup_size(&vec![]).unwrap(), [16, 2, 4]);
    assert_eq!(by_ids.workgroup_size(&u32s(&[(0, 9)])).unwrap(), [9, 2, 4]);
    assert_eq!(default(size("spv1.3", literal, "%50 = OpConstantComposite %4 %20 %21 %20")), [2, 4, 2]);
    assert_eq!(default(size("spv1.6", ids, "%50 = OpSpecConstantComposite %4 %20 %30 %20")), [2, 16, 2]);
    assert_contains(&size("spv1.3", "", "").unwrap_err(), &["\"main\" states no workgroup size", "local_size_x"]);
    assert_contains(&size("spv1.3", "OpExecutionMode %10 LocalSize 0 1 1", "").unwrap_err(), &["0 x 1 x 1"]);
    assert_contains(
        &size("spv1.3", literal, "%50 = OpConstantComposite %4 %20 %21 %99").unwrap_err(),
        &["workgroup size depends"],
    );
}

#[test]
fn operations_on_specialization_constants() {
    // Each operation on %30 (16 by default) and the constants 2, 3, -6 gives the size in x.
    let x = |operation: &str, given: u32| {
        let text = format!(
            "{HEAD}OpEntryPoint GLCompute %10 \"main\"\nOpExecutionMode %10 LocalSize 1 1 1
            OpDecorate %30 SpecId 0\nOpDecorate %31 SpecId 1\nOpDecorate %50 BuiltIn WorkgroupSize
            %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%4 = OpTypeVector %3 3
            %5 = OpTypeInt 32 1\n%6 = OpTypeBool\n%7 = OpTypeVector %3 2\n%8 = OpTypeArray %4 %22\n%9 = OpTypeInt 16 1
            %11 = OpTypeInt 64 0
            %20 = OpConstant %3 2\n%21 = OpConstant %3 3\n%22 = OpConstant %3 1\n%23 = OpConstant %5 -6
            %24 = OpConstantNull %4\n%25 = OpConstant %9 -5
            %30 = OpSpecConstant %3 16\n%31 = OpSpecConstantTrue %6
            {operation}
            %50 = OpSpecConstantComposite %4 %60 %22 %22
            %10 = OpFunction %1 None %2\n%40 = OpLabel\nOpReturn\nOpFunctionEnd"
        );
        let m = Module::new(&assemble("spv1.3", &text), None).unwrap();
        m.workgroup_size(&u32s(&[(0, given)])).map(|size| size[0])
    };
    for (operation, expected) in [
        ("IAdd %30 %20", 14),
        ("ISub %30 %20", 10),
        ("IMul %30 %21", 36),
        ("UDiv %30 %21", 4),
        ("SDiv %23 %23", 1),
        ("UMod %30 %21", u32::MAX),
        ("ShiftLeftLogical %30 %20", 48),
        ("ShiftRightLogical %30 %20", 3),
        ("BitwiseAnd %30 %20", u32::MAX),
        ("BitwiseOr %30 %20", 14),
        ("BitwiseXor %30 %21", 15),
        ("Select %31 %30 %20", 12),
        ("SNegate %23", 6),
    ] {
        let result = x(&format!("%60 = OpSpecConstantOp %3 {operation}"), 12);
        match expected {
            u32::MAX => assert_contains(&result.unwrap_err(), &["0 x 1 x 1"]),
            expected => assert_eq!(result.unwrap(), expected, "{operation}"),
        }
    }
}

#[test]
fn comparisons_vectors_and_conversions() {
    let x = |operations: &str| {
        let text = format!(
            "OpCapability Int16\nOpCapability Int64\n{HEAD}OpEntryPoint GLCompute %10 \"main\"
            OpExecutionMode %10 LocalSize 1 1 1
            OpDecorate %30 SpecId 0\nOpDecorate %50 BuiltIn WorkgroupSize
            %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%4 = OpTypeVector %3 3
            %5 = OpTypeInt 32 1\n%6 = OpTypeBool\n%7 = OpTypeVector %3 2\n%9 = OpTypeInt 16 1\n%11 = OpTypeInt 64 0
            %20 = OpConstant %3 2\n%21 = OpConstant %3 3\n%22 = OpConstant %3 1\n%23 = OpConstant %5 -6
            %25 = OpConstant %9 -5\n%26 = OpConstant %5 4\n%27 = OpConstant %5 100
            %8 = OpTypeArray %4 %20\n%30 = OpSpecConstant %3 16
            %31 = OpSpecConstantComposite %4 %30 %20 %21\n%32 = OpSpecConstantComposite %8 %31 %31
            {operations}
            %50 = OpSpecConstantComposite %4 %60 %22 %22
            %10 = OpFunction %1 None %2\n%40 = OpLabel\nOpReturn\nOpFunctionEnd"
        );
        let m = Module::new(&assemble("spv1.3", &text), None).unwrap();
        m.workgroup_size(&vec![]).map(|size| size[0])
    };
    let pick = |condition: &str| {
        x(&format!("%51 = OpSpecConstantOp %6 {condition}\n%60 = OpSpecConstantOp %3 Select %51 %20 %21")).unwrap() == 2
    };
    for (condition, expected) in [
        ("ULessThan %23 %30", false),
        ("SLessThan %23 %30", true),
        ("UGreaterThan %23 %30", true),
        ("SGreaterThan %23 %30", false),
        ("ULessThanEqual %20 %20", true),
        ("SGreaterThanEqual %23 %26", false),
        ("IEqual %20 %20", true),
        ("INotEqual %20 %20", false),
    ] {
        assert_eq!(pick(condition), expected, "{condition}");
    }
    // Vectors are multiplied component-wise, shuffled, and extracted from an array.
    assert_eq!(
        x("%51 = OpSpecConstantOp %4 IMul %31 %31\n%60 = OpSpecConstantOp %3 CompositeExtract %51 2").unwrap(),
        9
    );
    assert_eq!(
        x("%51 = OpSpecConstantOp %7 VectorShuffle %31 %31 2 3\n%60 = OpSpecConstantOp %3 CompositeExtract %51 1")
            .unwrap(),
        16
    );
    assert_eq!(x("%60 = OpSpecConstantOp %3 CompositeExtract %32 1 1").unwrap(), 2);
    // Conversions: -5 with 16 bits, extended to 32 bits and shifted right by 1, is -3.
    let wide = "%51 = OpSpecConstantOp %5 SConvert %25\n%52 = OpSpecConstantOp %5 ShiftRightArithmetic %51 %22\n";
    assert_eq!(x(&format!("{wide}%60 = OpSpecConstantOp %5 IAdd %52 %27")).unwrap(), 97);
    assert_eq!(x("%51 = OpSpecConstantOp %5 SMod %23 %26\n%60 = OpSpecConstantOp %3 IAdd %51 %20").unwrap(), 4);
    assert_eq!(x("%51 = OpSpecConstantOp %5 SRem %23 %26\n%60 = OpSpecConstantOp %3 ISub %20 %51").unwrap(), 4);
    // Operations without a defined value.
    assert_contains(
        &x("%51 = OpConstant %3 0\n%60 = OpSpecConstantOp %3 UDiv %30 %51").unwrap_err(),
        &["%60 (OpUDiv)", "cannot"],
    );
    assert_contains(
        &x("%60 = OpSpecConstantOp %3 ShiftLeftLogical %30 %27").unwrap_err(),
        &["%60 (OpShiftLeftLogical)"],
    );
}

#[test]
fn specialization_constants_of_every_type() {
    let m = module(&glsl(
        "#extension GL_EXT_shader_explicit_arithmetic_types : require
        layout(local_size_x = 1) in;
        layout(constant_id = 0) const bool b = true;
        layout(constant_id = 10) const int i = -2;
        layout(constant_id = 20) const float f = 1.5;
        layout(constant_id = 30) const double d = 2.5;
        layout(constant_id = 40) const uint64_t u = 0x100000002ul;
        layout(constant_id = 50) const int16_t s = int16_t(-1);
        layout(binding = 0) buffer O { double o; };
        void main() { o = double(i) + double(f) + d + double(u) + double(s) + (b ? 1.0 : 0.0); }",
    ));
    let found: Vec<_> =
        m.spec_constants().iter().map(|c| (c.id, c.name.as_deref().unwrap(), c.kind, c.default)).collect();
    assert_eq!(
        found,
        [
            (0, "b", SpecKind::Bool, 1),
            (10, "i", SpecKind::Int(4), 0xffff_fffe),
            (20, "f", SpecKind::Float(4), u64::from(1.5_f32.to_bits())),
            (30, "d", SpecKind::Float(8), 2.5_f64.to_bits()),
            (40, "u", SpecKind::Int(8), 0x1_0000_0002),
            (50, "s", SpecKind::Int(2), 0xffff),
        ]
    );
    let check = |id: u32, len: usize| m.check_spec(&vec![(id, vec![0; len])]);
    for (id, len) in [(0, 4), (0, 1), (10, 4), (20, 4), (30, 8), (40, 8), (50, 2)] {
        check(id, len).unwrap();
    }
    for (id, len) in [(0, 2), (10, 8), (20, 2), (30, 4), (40, 0), (50, 4)] {
        assert_contains(
            &check(id, len).unwrap_err(),
            &[&format!("constant {id}"), &format!("{len} bytes, expected"), "30 \"d\""],
        );
    }
    assert_contains(&check(1, 4).unwrap_err(), &["constant 1,", "0 \"b\" (boolean, 4 bytes)"]);
    let twice = vec![(10, vec![0; 4]), (10, vec![0; 4])];
    assert_contains(&m.check_spec(&twice).unwrap_err(), &["constant 10", "two values"]);
}

#[test]
fn a_module_without_specialization_constants_says_none() {
    let m = module(&glsl("layout(local_size_x = 4) in; void main() {}"));
    assert_contains(&m.check_spec(&u32s(&[(0, 1)])).unwrap_err(), &["are: none"]);
    assert_eq!(m.workgroup_bytes(&vec![]).unwrap(), 0);
}

#[test]
fn workgroup_memory_is_summed() {
    let source = "layout(local_size_x = 64) in;
        layout(constant_id = 0) const uint N = 10;
        struct S { bool flag; double d; float f; };
        shared float tile[16][17]; shared uint sized[N]; shared vec3 v; shared S s; shared float unused[1000];
        layout(binding = 0) buffer O { float o[]; };
        void helper() { sized[0] = 1; s.flag = true; }
        void main() { tile[0][gl_LocalInvocationIndex] = 1.0; v = vec3(1); helper(); barrier(); o[0] = tile[0][1]; }";
    for env in ["vulkan1.0", "vulkan1.2"] {
        let m = module(&glsl_with(source, &[&format!("--target-env={env}")]));
        // Bytes: tile 1088, sized 40, v 12, s 24. The variables are in the order of their ids, so aligning s may add up to 8.
        let bytes = m.workgroup_bytes(&vec![]).unwrap();
        assert!((1164..=1172).contains(&bytes), "{bytes}");
    }
}
