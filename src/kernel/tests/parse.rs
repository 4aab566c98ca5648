//! Tests of the parser and the choice of the entry point: bytes that are not a module, and modules that are not for Vulkan, are refused
//! with a reason.

use super::*;
use crate::error::ErrorKind;

const SIMPLE: &str = "layout(local_size_x = 8) in; void main() {}";

#[test]
fn bytes_that_are_not_a_module_are_refused() {
    assert_contains(&failure(&[], None), &["empty", "0 bytes"]);
    assert_contains(&failure(&[3, 2, 35], None), &["3 bytes", "multiple of 4"]);
    assert_contains(&failure(&[3, 2, 35, 7], None), &["4 bytes", "header"]);
    assert_contains(
        &failure(b"#version 460 void main() {} ", None),
        &["not a SPIR-V module", "start with 0x72657623", "glslc"],
    );
    let good = glsl(SIMPLE);
    assert_contains(&failure(&good[..good.len() - 4], None), &["damaged"]);
    assert_contains(&failure(&good[..good.len() - 2], None), &["multiple of 4"]);
}

#[test]
fn header_fields_are_checked() {
    let good = glsl(SIMPLE);
    let patched = |at: usize, word: u32| {
        let mut bytes = good.clone();
        bytes[at * 4..][..4].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    for version in [0x1_0700, 0x2_0000, 0, 0x1_0501, 0x0101_0500] {
        let error = failure(&patched(1, version), None);
        assert_eq!(error.kind, ErrorKind::UnsupportedFeature);
        assert_contains(&error, &["version", "expected 1.0 to 1.6"]);
    }
    for version in 0..=6 {
        assert_eq!(module(&patched(1, 0x1_0000 | version << 8)).version(), (1, version as u8));
    }
    for bound in [0, 0x40_0000, u32::MAX] {
        assert_contains(&failure(&patched(3, bound), None), &["bound", "expected 1 to 4194303"]);
    }
    assert_contains(&failure(&patched(3, 2), None), &["defines id", "header allows"]);
}

#[test]
fn both_byte_orders_are_accepted() {
    let little = glsl(SIMPLE);
    let big: Vec<u8> = little.chunks(4).flat_map(|c| c.iter().rev().copied()).collect();
    let (a, b) = (module(&little), module(&big));
    assert_eq!(a.words(), b.words());
    assert_eq!(a.hash(), b.hash());
    assert_eq!(b.entry_point(), c"main");
    assert_ne!(a.hash(), module(&glsl("layout(local_size_x = 9) in; void main() {}")).hash());
}

#[test]
fn damaged_instructions_are_refused() {
    let good: Vec<u32> = glsl(SIMPLE).chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    let with = |extra: &[u32]| bytes(&[&good[..], extra].concat());
    assert_contains(&failure(&with(&[0]), None), &["damaged", "OpNop", "claims 0 words"]);
    assert_contains(&failure(&with(&[9 << 16 | 54]), None), &["OpFunction", "9 words, but 1 to 1"]);
    assert_contains(&failure(&with(&[1 << 16 | 54]), None), &["OpFunction", "has 1 words, expected at least 5"]);
    assert_contains(&failure(&with(&[1 << 16 | 56]), None), &["OpFunctionEnd", "outside a function"]);
    assert_contains(&failure(&with(&[2 << 16 | 248, 900]), None), &["OpLabel", "outside a function"]);
    assert_contains(&failure(&with(&[5 << 16 | 54, 1, 3, 0, 1]), None), &["no end", "cut off"]);
    // An opcode that is newer than the grammar is passed on to the driver.
    assert!(Module::new(&with(&[2 << 16 | 60000, 7]), None).is_ok());
}

#[test]
fn a_twice_defined_id_is_refused() {
    let bytes = assemble(
        "spv1.3",
        &format!("{HEAD}OpEntryPoint GLCompute %1 \"main\"\n%5 = OpString \"a\"\n%5 = OpString \"b\"\n"),
    );
    assert_contains(&failure(&bytes, None), &["id 5 is defined twice", "OpString"]);
}

#[test]
fn opencl_modules_are_refused() {
    let cl = "OpCapability Addresses\nOpCapability Kernel\nOpMemoryModel Physical64 OpenCL\n\
        OpEntryPoint Kernel %1 \"k\"\n%2 = OpTypeVoid\n%3 = OpTypeFunction %2\n\
        %1 = OpFunction %2 None %3\n%4 = OpLabel\nOpReturn\nOpFunctionEnd";
    let error = failure(&assemble("spv1.2", cl), None);
    assert_eq!(error.kind, ErrorKind::UnsupportedFeature);
    assert_contains(&error, &["Kernel", "OpenCL", "clspv"]);
    let physical = cl.replace("OpCapability Kernel\n", "OpCapability Shader\n");
    assert_contains(
        &failure(&assemble("spv1.2", &physical), None),
        &["addressing model Physical64", "expected Logical"],
    );
    let model = physical.replace("Physical64", "Logical");
    assert_contains(&failure(&assemble("spv1.2", &model), None), &["memory model OpenCL"]);
    let none = model.replace("OpMemoryModel Logical OpenCL\n", "");
    assert_contains(&failure(&assemble("spv1.2", &none), None), &["no OpMemoryModel"]);
    // Capability 60001 is not assigned.
    let mut words = bytes(&[0x0723_0203, 0x1_0300, 0, 10, 0, 2 << 16 | 17, 60001]);
    words.extend(bytes(&[3 << 16 | 14, 0, 1]));
    assert_contains(&failure(&words, None), &["capability number 60001", "update revamp"]);
}

/// Two compute shaders and a fragment shader in one module.
pub(super) fn several_entry_points() -> Vec<u8> {
    assemble(
        "spv1.3",
        &format!(
            "{HEAD}
            OpEntryPoint GLCompute %10 \"first\" %20
            OpEntryPoint Fragment %11 \"paint\" %22
            OpEntryPoint GLCompute %12 \"second\" %21
            OpExecutionMode %10 LocalSize 4 1 1
            OpExecutionMode %11 OriginUpperLeft
            OpExecutionMode %12 LocalSize 8 2 1
            OpName %20 \"id\"
            OpDecorate %20 BuiltIn GlobalInvocationId
            OpDecorate %21 BuiltIn WorkgroupId
            OpDecorate %22 Location 0
            OpDecorate %30 DescriptorSet 0
            OpDecorate %30 Binding 0
            OpDecorate %31 DescriptorSet 0
            OpDecorate %31 Binding 1
            OpDecorate %6 ArrayStride 4
            OpDecorate %7 Block
            OpMemberDecorate %7 0 Offset 0
            %1 = OpTypeVoid
            %2 = OpTypeFunction %1
            %3 = OpTypeInt 32 0
            %4 = OpTypeVector %3 3
            %5 = OpTypePointer Input %4
            %6 = OpTypeRuntimeArray %3
            %7 = OpTypeStruct %6
            %8 = OpTypePointer StorageBuffer %7
            %9 = OpTypePointer StorageBuffer %3
            %13 = OpTypePointer Output %4
            %14 = OpConstant %3 0
            %15 = OpTypePointer Input %3
            %20 = OpVariable %5 Input
            %21 = OpVariable %5 Input
            %22 = OpVariable %13 Output
            %30 = OpVariable %8 StorageBuffer
            %31 = OpVariable %8 StorageBuffer
            %10 = OpFunction %1 None %2
            %40 = OpLabel
            %41 = OpAccessChain %15 %20 %14
            %42 = OpLoad %3 %41
            %43 = OpAccessChain %9 %30 %14 %42
            OpStore %43 %42
            OpReturn
            OpFunctionEnd
            %11 = OpFunction %1 None %2
            %50 = OpLabel
            OpReturn
            OpFunctionEnd
            %12 = OpFunction %1 None %2
            %60 = OpLabel
            %61 = OpLoad %4 %21
            %62 = OpCompositeExtract %3 %61 0
            %63 = OpAccessChain %9 %31 %14 %62
            OpStore %63 %62
            OpReturn
            OpFunctionEnd"
        ),
    )
}

#[test]
fn entry_points_are_chosen_by_name() {
    let bytes = several_entry_points();
    assert_contains(
        &failure(&bytes, None),
        &["several compute entry points", "\"first\" (GLCompute), \"second\" (GLCompute)"],
    );
    let (first, second) = (Module::new(&bytes, Some("first")).unwrap(), Module::new(&bytes, Some("second")).unwrap());
    assert_eq!((first.entry_point(), second.entry_point()), (c"first", c"second"));
    assert_eq!(first.workgroup_size(&vec![]).unwrap(), [4, 1, 1]);
    assert_eq!(second.workgroup_size(&vec![]).unwrap(), [8, 2, 1]);
    let numbers = |m: &Module| m.bindings().iter().map(|b| b.binding).collect::<Vec<_>>();
    assert_eq!((numbers(&first), numbers(&second)), (vec![0], vec![1]));
    assert_contains(&failure(&bytes, Some("paint")), &["\"paint\" (Fragment)", "expected GLCompute", "\"first\""]);
    assert_contains(
        &failure(&bytes, Some("third")),
        &["no entry point \"third\"", "\"first\" (GLCompute)", "\"paint\" (Fragment)"],
    );
    let only = module(&glsl(SIMPLE));
    assert_eq!(only.entry_point(), c"main");
}

#[test]
fn a_module_without_compute_entry_point_is_refused() {
    let source = "#version 460\nvoid main() {}";
    let fragment = tool("glslc", &["-fshader-stage=fragment", "-o", "-", "-"], source.as_bytes()).unwrap();
    assert_contains(&failure(&fragment, None), &["no compute entry point", "\"main\" (Fragment)"]);
}

#[test]
fn an_imported_function_is_refused() {
    let text = format!(
        "OpCapability Linkage\n{HEAD}OpEntryPoint GLCompute %10 \"main\"\nOpExecutionMode %10 LocalSize 1 1 1\n\
        OpName %11 \"elsewhere\"\nOpDecorate %11 LinkageAttributes \"elsewhere\" Import\n\
        %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%11 = OpFunction %1 None %2\nOpFunctionEnd\n\
        %10 = OpFunction %1 None %2\n%40 = OpLabel\n%41 = OpFunctionCall %1 %11\nOpReturn\nOpFunctionEnd"
    );
    assert_contains(&failure(&assemble("spv1.3", &text), None), &["elsewhere", "link the function in"]);
}

#[test]
fn capabilities_and_extensions_are_listed() {
    let m = module(&glsl(
        "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n#extension GL_EXT_buffer_reference : require\n
        layout(local_size_x = 1) in; layout(buffer_reference) buffer R { uint64_t v; };
        layout(push_constant) uniform P { R r; }; void main() { r.v += 1ul; }",
    ));
    use rspirv::spirv::Capability;
    for capability in [Capability::Shader, Capability::Int64, Capability::PhysicalStorageBufferAddresses] {
        assert!(m.capabilities().contains(&capability));
    }
    let old = module(&glsl_with(
        "layout(local_size_x = 1) in; layout(binding = 0) buffer B { float a[]; }; void main() { a[0] = 1; }",
        &["--target-env=vulkan1.0"],
    ));
    assert!(old.extensions().is_empty());
    let ext = "OpCapability Shader\nOpExtension \"SPV_KHR_storage_buffer_storage_class\"\nOpMemoryModel Logical GLSL450\n\
        OpEntryPoint GLCompute %10 \"main\"\nOpExecutionMode %10 LocalSize 1 1 1\n%1 = OpTypeVoid\n\
        %2 = OpTypeFunction %1\n%10 = OpFunction %1 None %2\n%40 = OpLabel\nOpReturn\nOpFunctionEnd";
    assert_eq!(module(&assemble("spv1.0", ext)).extensions(), ["SPV_KHR_storage_buffer_storage_class"]);
}
