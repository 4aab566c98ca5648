//! Tests of split modules: they are valid, keep their interface, and take their workgroup ids from the push constants.

use super::*;
use crate::error::ErrorKind;
use rspirv::spirv::BuiltIn;

/// Splits the module, validates the result, and checks that its interface is unchanged.
fn split(bytes: &[u8], entry: Option<&str>) -> (Module, Module, u32) {
    let before = Module::new(bytes, entry).unwrap();
    let split = before.split().unwrap();
    validate(&split.words);
    let after = Module::new(&super::bytes(&split.words), None).unwrap();
    assert_eq!(before.entry_point(), after.entry_point());
    assert_eq!(before.version(), after.version());
    assert_eq!(before.workgroup_bytes(&vec![]).unwrap(), after.workgroup_bytes(&vec![]).unwrap());
    assert_eq!(format!("{:?}", before.bindings()), format!("{:?}", after.bindings()));
    assert_eq!(format!("{:?}", before.spec_constants()), format!("{:?}", after.spec_constants()));
    assert_eq!(before.workgroup_size(&vec![]).unwrap(), after.workgroup_size(&vec![]).unwrap());
    let old = before.push().map_or(0, |push| push.size);
    assert_eq!(split.offset, old.next_multiple_of(16));
    assert_eq!(split.push_size, split.offset + 32);
    let push = after.push().unwrap();
    assert_eq!(push.size, split.push_size);
    let [.., base, total] = &push.members[..] else { panic!("{push:?}") };
    assert_eq!((base.offset, base.size), (split.offset, 16));
    assert_eq!((total.offset, total.size), (split.offset + 16, 16));
    // A split module can be split once more.
    let twice = after.split().unwrap();
    validate(&twice.words);
    (before, after, split.offset)
}

/// The number of variables with the built-in.
fn builtins(module: &Module, builtin: BuiltIn) -> usize {
    let (mut rest, mut count) = (&module.words()[5..], 0);
    while let [first, ..] = rest {
        let (inst, after) = rest.split_at((first >> 16) as usize);
        // OpDecorate _ BuiltIn
        count += usize::from(inst[0] & 0xffff == 71 && inst[2..] == [11, builtin as u32]);
        rest = after;
    }
    count
}

/// Tests variants of one source: SPIR-V 1.0 to 1.6; unoptimised, optimised, or with debug information.
fn check_all_variants(source: &str) {
    let variants = [
        ("vulkan1.0", "-O"),
        ("vulkan1.1", "-O0"),
        ("vulkan1.1", "-O"),
        ("vulkan1.2", "-g"),
        ("vulkan1.2", "-O"),
        ("vulkan1.3", "-O0"),
    ];
    for (env, mode) in variants {
        let (before, after, _) = split(&glsl_with(source, &[&format!("--target-env={env}"), mode]), None);
        for builtin in [BuiltIn::WorkgroupId, BuiltIn::GlobalInvocationId, BuiltIn::NumWorkgroups] {
            let expected = builtins(&before, builtin).min(1);
            assert_eq!(builtins(&after, builtin), expected, "{env} {mode} {builtin:?}");
        }
    }
}

const OUT: &str = "layout(binding = 0) buffer O { uint o[]; };\n";

#[test]
fn without_push_constants() {
    check_all_variants(&format!(
        "layout(local_size_x = 8, local_size_y = 4) in;\n{OUT}
        void main() {{
            uvec3 id = gl_GlobalInvocationID;
            o[id.y * gl_NumWorkGroups.x * 8 + id.x] = gl_WorkGroupID.x + gl_WorkGroupID.z;
        }}"
    ));
}

#[test]
fn each_builtin_alone_and_none() {
    for value in
        ["gl_GlobalInvocationID.x", "gl_WorkGroupID[o[1] % 3]", "gl_NumWorkGroups.z", "gl_LocalInvocationIndex"]
    {
        check_all_variants(&format!("layout(local_size_x = 8) in;\n{OUT} void main() {{ o[0] = {value}; }}"));
    }
}

#[test]
fn with_push_constants() {
    for block in
        ["uint n;", "uint n; vec3 v; float w;", "uint n; mat3 m; layout(row_major) mat2 r;", "uint n; uvec4 a[3];"]
    {
        check_all_variants(&format!(
            "layout(local_size_x = 8) in;\n{OUT} layout(push_constant) uniform P {{ {block} }} p;
            void main() {{ uint i = gl_GlobalInvocationID.x; if (i < p.n) o[i] = gl_NumWorkGroups.x; }}"
        ));
    }
}

#[test]
fn a_struct_shared_with_other_blocks_is_left_alone() {
    check_all_variants(&format!(
        "layout(local_size_x = 8) in;\n{OUT} struct S {{ uint a; vec2 b; }};
        layout(push_constant, std430) uniform P {{ S s; uint n; }} p;
        layout(binding = 1, std430) buffer Q {{ S s; S t[]; }} q;
        void main() {{ S mine = p.s; q.t[gl_WorkGroupID.y] = mine; q.s = p.s; o[0] = p.n + mine.a; }}"
    ));
}

#[test]
fn with_a_specialized_workgroup_size() {
    let source = format!(
        "layout(local_size_x_id = 0, local_size_y = 2, local_size_z_id = 4) in;\n{OUT}
        shared uint tile[gl_WorkGroupSize.x * 2];
        void main() {{
            tile[gl_LocalInvocationID.x] = gl_GlobalInvocationID.x * gl_WorkGroupSize.z;
            barrier(); o[gl_GlobalInvocationID.z] = tile[0];
        }}"
    );
    check_all_variants(&source);
    let (before, after, _) = split(&glsl(&source), None);
    let given = vec![(0, 24_u32.to_ne_bytes().to_vec()), (4, 3_u32.to_ne_bytes().to_vec())];
    assert_eq!(before.workgroup_size(&given).unwrap(), [24, 2, 3]);
    assert_eq!(after.workgroup_size(&given).unwrap(), [24, 2, 3]);
}

#[test]
fn with_addresses() {
    let source = "#extension GL_EXT_buffer_reference : require
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        layout(local_size_x = 8) in;
        layout(buffer_reference, std430) buffer Args { uint64_t data; uint n; };
        layout(buffer_reference, std430) buffer Data { uint v[]; };
        layout(push_constant) uniform P { uint64_t args; };
        void main() {
            Args a = Args(args); uint i = gl_GlobalInvocationID.x;
            if (i < a.n) Data(a.data).v[i] = i;
        }";
    for env in ["vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let (before, after, offset) = split(&glsl_with(source, &[&format!("--target-env={env}")]), None);
        assert!(before.push().unwrap().is_address && !after.push().unwrap().is_address);
        assert_eq!(offset, 16);
    }
}

#[test]
fn builtins_passed_to_functions_by_value() {
    check_all_variants(&format!(
        "layout(local_size_x = 8) in;\n{OUT}
        uint f(uvec3 a, in uint b) {{ return a.x + b + gl_WorkGroupID.z; }}
        void main() {{ uvec3 copy = gl_WorkGroupID; o[f(copy, gl_NumWorkGroups.y)] = f(gl_GlobalInvocationID, 1); }}"
    ));
}

#[test]
fn one_of_several_entry_points() {
    for name in ["first", "second"] {
        let (_, after, _) = split(&super::parse::several_entry_points(), Some(name));
        let text = disassemble(after.words());
        assert_eq!(text.matches("OpEntryPoint").count(), 1, "{text}");
        assert_eq!(text.matches("OpExecutionMode").count(), 1, "{text}");
    }
}

/// The text of a module with signed built-ins (%20, %21) and a push-constant block (%22). `body` is the code of its entry point.
/// `more` is text before the entry point's function.
fn text(more: &str, body: &str) -> String {
    format!(
        "{HEAD}OpEntryPoint GLCompute %10 \"main\" %20 %21
        OpExecutionMode %10 LocalSize 4 1 1
        OpDecorate %20 BuiltIn NumWorkgroups\nOpDecorate %21 BuiltIn WorkgroupId
        OpDecorate %7 Block\nOpMemberDecorate %7 0 Offset 0\nOpMemberDecorate %7 1 Offset 16
        OpDecorate %30 DescriptorSet 0\nOpDecorate %30 Binding 0
        %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 1\n%4 = OpTypeVector %3 3
        %5 = OpTypePointer Input %4\n%6 = OpTypePointer Input %3\n%7 = OpTypeStruct %3 %4
        %8 = OpTypePointer PushConstant %7\n%9 = OpTypePointer StorageBuffer %7
        %11 = OpTypePointer StorageBuffer %3
        %14 = OpConstant %3 0
        %15 = OpTypeFunction %1 %5\n%16 = OpTypeFunction %1 %8
        %20 = OpVariable %5 Input\n%21 = OpVariable %5 Input\n%22 = OpVariable %8 PushConstant
        %12 = OpTypePointer Private %4\n%13 = OpTypePointer Private %3
        %30 = OpVariable %9 StorageBuffer\n%31 = OpVariable %12 Private
        {more}
        %10 = OpFunction %1 None %2\n%40 = OpLabel
        {body}
        OpReturn\nOpFunctionEnd"
    )
}

#[test]
fn signed_builtins_and_types_declared_late() {
    let body = "%50 = OpCopyObject %5 %20\n%51 = OpAccessChain %6 %50 %14\n%52 = OpLoad %3 %51\n%53 = OpLoad %4 %21
        OpStore %31 %53\n%54 = OpInBoundsAccessChain %6 %21 %14\n%55 = OpLoad %3 %54\n%56 = OpIAdd %3 %52 %55
        OpCopyMemory %31 %21\n%57 = OpAccessChain %11 %30 %14\nOpStore %57 %56";
    let (_, after, _) = split(&assemble("spv1.3", &text("", body)), None);
    let text = disassemble(after.words());
    assert!(text.contains("OpBitcast"), "{text}");
}

#[test]
fn whole_push_constant_blocks_are_loaded_by_member() {
    let body = "%43 = OpLoad %7 %22\nOpStore %30 %43\n%44 = OpCompositeExtract %4 %43 1\nOpStore %31 %44";
    let (_, after, offset) = split(&assemble("spv1.3", &text("", body)), None);
    assert_eq!(offset, 32);
    assert!(disassemble(after.words()).contains("%43 = OpCompositeConstruct %7 "));
}

#[test]
fn unsupported_modules_are_refused() {
    let check_refused = |more: &str, body: &str, parts: &[&str]| {
        let error = module(&assemble("spv1.3", &text(more, body))).split().unwrap_err();
        assert_eq!(error.kind, ErrorKind::UnsupportedFeature);
        assert_contains(&error, parts);
    };
    let function = |ty: u32, pointer: u32| {
        format!(
            "%60 = OpFunction %1 None %{ty}\n%61 = OpFunctionParameter %{pointer}\n%62 = OpLabel\nOpReturn\nOpFunctionEnd"
        )
    };
    check_refused(
        &function(15, 5),
        "%63 = OpFunctionCall %1 %60 %21",
        &["%21 is used as a pointer by OpFunctionCall", "copy"],
    );
    check_refused(
        &function(16, 8),
        "%63 = OpFunctionCall %1 %60 %22",
        &["%22", "push-constant block", "OpFunctionCall"],
    );
    check_refused("", "%63 = OpCopyObject %8 %22\n%64 = OpLoad %7 %63", &["push-constant block", "OpCopyObject"]);
    let workgroup_id_decoration = "OpDecorate %70 BuiltIn WorkgroupId";
    let wide = text(
        "%71 = OpTypeInt 64 0\n%72 = OpTypeVector %71 3\n%73 = OpTypePointer Input %72\n%70 = OpVariable %73 Input",
        "%74 = OpLoad %72 %70",
    )
    .replace("OpDecorate %21 BuiltIn WorkgroupId", workgroup_id_decoration);
    let error = module(&assemble("spv1.3", &wide)).split().unwrap_err();
    assert_contains(&error, &["%70", "three 32-bit integers"]);
}

#[test]
fn signed_and_unsigned_size_ids() {
    for ty in [3, 5] {
        let source = format!(
            "{HEAD}OpEntryPoint GLCompute %10 \"main\" %20 %30\nOpExecutionModeId %10 LocalSizeId %21 %22 %21
            OpName %20 \"id\"\nOpDecorate %20 BuiltIn GlobalInvocationId\nOpDecorate %22 SpecId 0
            OpDecorate %30 DescriptorSet 0\nOpDecorate %30 Binding 0
            OpDecorate %8 Block\nOpMemberDecorate %8 0 Offset 0
            %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%4 = OpTypeVector %3 3\n%5 = OpTypeInt 32 1
            %6 = OpTypePointer Input %4\n%8 = OpTypeStruct %4\n%9 = OpTypePointer StorageBuffer %8
            %11 = OpTypePointer StorageBuffer %4\n%14 = OpConstant %3 0
            %21 = OpConstant %{ty} 2\n%22 = OpSpecConstant %{ty} 8
            %20 = OpVariable %6 Input\n%30 = OpVariable %9 StorageBuffer
            %10 = OpFunction %1 None %2\n%40 = OpLabel
            %41 = OpLoad %4 %20\n%42 = OpAccessChain %11 %30 %14\nOpStore %42 %41
            OpReturn\nOpFunctionEnd"
        );
        let (before, _, _) = split(&assemble("spv1.6", &source), None);
        assert_eq!(before.workgroup_size(&vec![(0, 6_u32.to_ne_bytes().to_vec())]).unwrap(), [2, 6, 2]);
    }
}

#[test]
fn a_module_out_of_ids_is_refused() {
    let mut bytes = glsl("layout(local_size_x = 1) in; void main() {}");
    bytes[12..16].copy_from_slice(&0x3f_ffff_u32.to_le_bytes());
    assert_contains(&module(&bytes).split().unwrap_err(), &["all ids", "--compact-ids"]);
}

#[test]
fn debug_instructions_survive() {
    // Global debug instructions may be placed between types, and refer to variables.
    let text = text(
        "%80 = OpExtInst %1 %79 DebugSource %78\n%81 = OpExtInst %1 %79 DebugInfoNone",
        "%53 = OpLoad %4 %21\nOpStore %31 %53\n%82 = OpExtInst %1 %79 DebugNoLine",
    )
    .replace(
        "OpMemoryModel",
        "OpExtension \"SPV_KHR_non_semantic_info\"\n%79 = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\nOpMemoryModel",
    )
    .replace("OpDecorate %20 BuiltIn", "%78 = OpString \"a.comp\"\nOpDecorate %20 BuiltIn");
    split(&assemble("spv1.3", &text), None);
}
