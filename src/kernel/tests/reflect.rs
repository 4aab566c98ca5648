//! Tests of reflection: bindings, their access, and push constants.

use super::*;
use crate::kernel::{Access, BindingKind, ImageFormat, ImageType, SampledType};

const HEADER: &str = "layout(local_size_x = 64) in;\n";

fn accesses(source: &str, args: &[&str]) -> Vec<(u32, u32, Access)> {
    let m = module(&glsl_with(&format!("{HEADER}{source}"), args));
    m.bindings().iter().map(|b| (b.set, b.binding, b.access)).collect()
}

#[test]
fn bindings_in_several_sets() {
    let source = "layout(local_size_x = 64) in;
        layout(set = 2, binding = 5) readonly buffer In { uint count; vec3 scale; float x[]; } i;
        layout(set = 0, binding = 1) writeonly buffer Out { float y[]; };
        layout(set = 0, binding = 0) buffer Fixed { mat4 m; vec3 a[3]; float b; } f[2];
        layout(set = 1, binding = 9) buffer Unused { float z[]; };
        layout(set = 1, binding = 0) uniform U { vec4 u; };
        layout(set = 1, binding = 1) uniform sampler2D tex;
        layout(set = 1, binding = 2, rgba8) uniform readonly image2D img;
        layout(set = 1, binding = 3) uniform samplerBuffer tb;
        void main() {
            uint n = gl_GlobalInvocationID.x;
            y[n] = i.x[n] * i.scale.x + u.x + texelFetch(tex, ivec2(0), 0).x + imageLoad(img, ivec2(0)).x
                + texelFetch(tb, 0).x;
            f[1].b = f[0].m[0].x;
        }";
    let image = |format| ImageType { dimensions: 2, sampled: SampledType::Float, format };
    for env in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let m = module(&glsl_with(source, &[&format!("--target-env={env}")]));
        let found: Vec<_> = m.bindings().iter().map(|b| (b.set, b.binding, b.kind, b.access, b.count)).collect();
        assert_eq!(
            found,
            [
                (0, 0, BindingKind::StorageBuffer, Access::ReadWrite, 2),
                (0, 1, BindingKind::StorageBuffer, Access::Write, 1),
                (1, 0, BindingKind::UniformBuffer, Access::Read, 1),
                (1, 1, BindingKind::CombinedImageSampler(image(None)), Access::Read, 1),
                (1, 2, BindingKind::StorageImage(image(Some(ImageFormat::Rgba8))), Access::Read, 1),
                (1, 3, BindingKind::Other("uniform texel buffer"), Access::Read, 1),
                (2, 5, BindingKind::StorageBuffer, Access::Read, 1),
            ],
            "{env}"
        );
        let i = binding(&m, 2, 5);
        // std430: count at 0, scale at 16, x at 28.
        assert_eq!((i.min_size, i.stride, i.name.as_deref()), (28, Some(4), Some("i")));
        let out = binding(&m, 0, 1);
        assert_eq!((out.min_size, out.stride, out.name.as_deref()), (0, Some(4), Some("Out")));
        let f = binding(&m, 0, 0);
        assert_eq!((f.min_size, f.stride), (64 + 48 + 4, None));
    }
}

#[test]
fn images_by_their_types() {
    let source = "layout(local_size_x = 1) in;
        layout(binding = 0) uniform itexture1D a;
        layout(binding = 1) uniform utexture3D b;
        layout(binding = 2) uniform sampler s;
        layout(binding = 3, r32ui) uniform uimage2D c;
        layout(binding = 4) uniform writeonly image3D d;
        layout(binding = 5) uniform texture2DArray e;
        layout(binding = 6) uniform samplerCube f;
        layout(binding = 7) uniform sampler2DShadow g;
        void main() {
            uint n = uint(texelFetch(isampler1D(a, s), 0, 0).x) + texelFetch(usampler3D(b, s), ivec3(0), 0).x
                + uint(texelFetch(sampler2DArray(e, s), ivec3(0), 0).x) + uint(textureLod(f, vec3(0), 0).x)
                + uint(textureLod(g, vec3(0), 0));
            imageStore(c, ivec2(0), imageLoad(c, ivec2(0)) + n);
            imageStore(d, ivec3(0), vec4(n));
        }";
    let m = module(&glsl(source));
    let found: Vec<_> = m.bindings().iter().map(|b| (b.binding, b.kind, b.access)).collect();
    let image = |dimensions, sampled, format| ImageType { dimensions, sampled, format };
    let expected = [
        (0, BindingKind::SampledImage(image(1, SampledType::Int, None)), Access::Read),
        (1, BindingKind::SampledImage(image(3, SampledType::Uint, None)), Access::Read),
        (2, BindingKind::Sampler, Access::Read),
        (3, BindingKind::StorageImage(image(2, SampledType::Uint, Some(ImageFormat::R32ui))), Access::ReadWrite),
        (4, BindingKind::StorageImage(image(3, SampledType::Float, None)), Access::Write),
        (5, BindingKind::Other("sampled image of an unsupported type"), Access::Read),
        (6, BindingKind::Other("combined image sampler of an unsupported type"), Access::Read),
        (7, BindingKind::Other("combined image sampler of an unsupported type"), Access::Read),
    ];
    assert_eq!(found, expected);
}

#[test]
fn images_are_paired_with_their_samplers() {
    let source = "layout(set = 1, binding = 0) uniform texture2D a;
        layout(binding = 1) uniform utexture2D b;
        layout(binding = 2) uniform sampler s[2];
        layout(binding = 4) uniform sampler t;
        layout(binding = 5) buffer O { float o[]; };
        float of(texture2D image, sampler by) { return textureLod(sampler2D(image, by), vec2(0), 0).x; }
        void main() {
            o[0] = of(a, t) + float(textureLod(usampler2D(b, s[1]), vec2(0), 0).x)
                + float(texelFetch(usampler2D(b, t), ivec2(0), 0).x) + textureGather(sampler2D(a, s[0]), vec2(0)).x;
        }";
    for optimise in ["-O0", "-O"] {
        let m = module(&glsl_with(&format!("{HEADER}{source}"), &["--target-env=vulkan1.2", optimise]));
        let found: Vec<_> = m.sampled_pairs().iter().map(|p| (p.image, p.sampler)).collect();
        assert_eq!(found, [((0, 1), (0, 2)), ((1, 0), (0, 2)), ((1, 0), (0, 4))], "{optimise}");
    }
}

#[test]
fn access_by_static_analysis() {
    let source = "layout(binding = 0) buffer A { float a[]; };
        layout(binding = 1) buffer B { float b[]; };
        layout(binding = 2) buffer C { float c[]; };
        layout(binding = 3) buffer D { uint d[]; };
        layout(binding = 4) buffer E { uint e[]; };
        layout(binding = 5) buffer F { float f[]; };
        void helper(uint n) { b[n] = a[n]; }
        void never() { a[0] = 1.0; }
        void main() {
            uint n = gl_GlobalInvocationID.x;
            helper(n);
            c[n] += 1.0;
            atomicAdd(d[0], 1u);
            b[n + 1] = float(e.length());
            f[n] = 2.0; if (f[n + 1] > 1.0) f[n] = 3.0;
        }";
    let expected = [
        (0, 0, Access::Read),
        (0, 1, Access::Write),
        (0, 2, Access::ReadWrite),
        (0, 3, Access::ReadWrite),
        (0, 4, Access::Read),
        (0, 5, Access::ReadWrite),
    ];
    for env in ["vulkan1.0", "vulkan1.2"] {
        for optimise in ["-O0", "-O"] {
            let env = format!("--target-env={env}");
            assert_eq!(accesses(source, &[&env, optimise]), expected, "{env} {optimise}");
        }
    }
}

#[test]
fn copies_of_whole_blocks_are_accesses() {
    let source = "struct S { float v[4]; };
        layout(binding = 0) buffer A { S a; };
        layout(binding = 1) buffer B { S b; };
        void main() { b = a; }";
    let expected = [(0, 0, Access::Read), (0, 1, Access::Write)];
    assert_eq!(accesses(source, &["--target-env=vulkan1.2"]), expected);
    assert_eq!(accesses(source, &["--target-env=vulkan1.0"]), expected);
}

/// A module with two storage buffers of uint, %30 and %31. `body` is the code of its entry point, where %43 points to the first
/// element of %30. `functions` are further functions.
fn with_buffer(body: &str, functions: &str) -> Vec<u8> {
    assemble(
        "spv1.3",
        &format!(
            "OpCapability VariablePointers\n{HEAD}OpEntryPoint GLCompute %10 \"main\"\nOpExecutionMode %10 LocalSize 1 1 1
            OpDecorate %30 DescriptorSet 0\nOpDecorate %30 Binding 0
            OpDecorate %31 DescriptorSet 0\nOpDecorate %31 Binding 1
            OpDecorate %6 ArrayStride 4\nOpDecorate %7 Block\nOpMemberDecorate %7 0 Offset 0
            %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%6 = OpTypeRuntimeArray %3
            %7 = OpTypeStruct %6\n%8 = OpTypePointer StorageBuffer %7\n%9 = OpTypePointer StorageBuffer %3
            %14 = OpConstant %3 0\n%15 = OpTypeFunction %3 %9\n%16 = OpTypePointer Private %9\n%17 = OpTypeBool
            %18 = OpConstantTrue %17\n%19 = OpConstant %3 1
            %30 = OpVariable %8 StorageBuffer\n%31 = OpVariable %8 StorageBuffer\n%32 = OpVariable %16 Private
            {functions}
            %10 = OpFunction %1 None %2\n%40 = OpLabel
            %43 = OpAccessChain %9 %30 %14 %14
            {body}
            OpReturn\nOpFunctionEnd"
        ),
    )
}

#[test]
fn escaping_pointers_count_as_read_and_written() {
    let access = |body: &str, functions: &str| binding(&module(&with_buffer(body, functions)), 0, 0).access;
    assert_eq!(access("%44 = OpLoad %3 %43", ""), Access::Read);
    assert_eq!(access("%44 = OpCopyObject %9 %43\nOpStore %44 %14", ""), Access::Write);
    assert_eq!(access("%44 = OpAtomicLoad %3 %43 %19 %14", ""), Access::Read);
    assert_eq!(access("OpAtomicStore %43 %19 %14 %14", ""), Access::Write);
    assert_eq!(access("%44 = OpAtomicIIncrement %3 %43 %19 %14", ""), Access::ReadWrite);
    assert_eq!(access("%44 = OpPtrAccessChain %9 %43 %19\n%45 = OpLoad %3 %44", ""), Access::Read);
    assert_eq!(access("OpStore %32 %43", ""), Access::ReadWrite);
    let select = "%50 = OpAccessChain %9 %31 %14 %14\n%51 = OpSelect %9 %18 %43 %50\nOpStore %51 %14";
    assert_eq!(access(select, ""), Access::ReadWrite);
    let function = "%20 = OpFunction %3 None %15\n%21 = OpFunctionParameter %9\n%22 = OpLabel\n%23 = OpLoad %3 %21\n\
        OpReturnValue %23\nOpFunctionEnd";
    assert_eq!(access("%44 = OpFunctionCall %3 %20 %43", function), Access::ReadWrite);
    let both = module(&with_buffer("%50 = OpAccessChain %9 %31 %14 %14\nOpCopyMemory %43 %50", ""));
    assert_eq!((binding(&both, 0, 0).access, binding(&both, 0, 1).access), (Access::Write, Access::Read));
}

#[test]
fn variables_with_the_same_binding_are_merged() {
    let m = module(&glsl(
        "layout(local_size_x = 1) in;
        layout(binding = 0) readonly buffer A { float a[]; };
        layout(binding = 0) writeonly buffer B { uint n; dvec2 b[]; };
        void main() { b[0] = dvec2(a[0]); }",
    ));
    let [only] = m.bindings() else { panic!("{:?}", m.bindings()) };
    assert_eq!((only.access, only.min_size, only.stride), (Access::ReadWrite, 16, Some(16)));
    let mixed = glsl(
        "layout(local_size_x = 1) in;
        layout(binding = 3) buffer A { float a[]; };
        layout(binding = 3) uniform B { float b; };
        void main() { a[0] = b; }",
    );
    assert_contains(
        &failure(&mixed, None),
        &["set 0, binding 3", "storage buffer", "uniform buffer", "its own binding"],
    );
}

#[test]
fn descriptor_arrays_without_length_are_no_storage_buffers() {
    let m = module(&glsl(
        "#extension GL_EXT_nonuniform_qualifier : require
        layout(local_size_x = 1) in; layout(binding = 3) buffer A { float a; } many[];
        void main() { many[gl_GlobalInvocationID.x].a = 1.0; }",
    ));
    let many = binding(&m, 0, 3);
    assert_eq!((many.kind, many.count), (BindingKind::Other("descriptor array without a fixed length"), 0));
}

#[test]
fn group_decorations_are_seen() {
    let text = group_decorations_text();
    let m = module(&assemble("spv1.3", &text));
    assert_eq!((binding(&m, 4, 7).access, binding(&m, 4, 7).stride), (Access::Read, Some(4)));
}

fn group_decorations_text() -> String {
    format!(
        "{HEAD}OpEntryPoint GLCompute %10 \"main\"\nOpExecutionMode %10 LocalSize 1 1 1
        OpDecorate %50 DescriptorSet 4\nOpDecorate %50 NonWritable\n%50 = OpDecorationGroup\nOpGroupDecorate %50 %30
        OpDecorate %30 Binding 7
        OpDecorate %51 Offset 0\n%51 = OpDecorationGroup\nOpGroupMemberDecorate %51 %7 0
        OpDecorate %6 ArrayStride 4\nOpDecorate %7 Block
        %1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpTypeInt 32 0\n%6 = OpTypeRuntimeArray %3
        %7 = OpTypeStruct %6\n%8 = OpTypePointer StorageBuffer %7\n%9 = OpTypePointer StorageBuffer %3
        %14 = OpConstant %3 0\n%30 = OpVariable %8 StorageBuffer
        %10 = OpFunction %1 None %2\n%40 = OpLabel\n%43 = OpAccessChain %9 %30 %14 %14\n%44 = OpLoad %3 %43
        OpReturn\nOpFunctionEnd"
    )
}

#[test]
fn a_resource_without_binding_is_refused() {
    let text = group_decorations_text().replace("OpDecorate %30 Binding 7", "OpName %30 \"data\"");
    assert_contains(
        &failure(&assemble("spv1.3", &text), None),
        &["\"data\"", "no Binding decoration", "layout(set = N"],
    );
}

#[test]
fn push_constant_members() {
    let m = module(&glsl(
        "layout(local_size_x = 1) in; struct S { vec2 a; float b[3]; };
        layout(push_constant, std430) uniform P {
            uint n; vec3 v; mat3 m; layout(row_major) mat2x3 r; S s[2]; double d; layout(offset = 240) float last;
        } p;
        layout(binding = 0) buffer O { float o; };
        void main() { o = p.v.x + p.s[1].b[2] + float(p.n) + p.m[0].x + p.r[0].x + float(p.d) + p.last; }",
    ));
    let push = m.push().unwrap();
    let members: Vec<_> = push.members.iter().map(|m| (m.name.as_deref().unwrap(), m.offset, m.size)).collect();
    // mat2x3 by rows: 3 rows of 8 bytes; S: 8 + 12, padded to 24.
    assert_eq!(
        members,
        [("n", 0, 4), ("v", 16, 12), ("m", 32, 48), ("r", 80, 24), ("s", 104, 48), ("d", 152, 8), ("last", 240, 4)]
    );
    assert_eq!((push.size, push.is_address), (244, false));
}

#[test]
fn an_address_as_the_only_push_constant_is_seen() {
    let head = "#extension GL_EXT_buffer_reference : require
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        #extension GL_EXT_buffer_reference_uvec2 : require
        layout(local_size_x = 1) in; layout(buffer_reference, std430) buffer R { uint v[]; };\n";
    let push = |block: &str, body: &str| {
        let m =
            module(&glsl(&format!("{head}layout(push_constant) uniform P {{ {block} }} p; void main() {{ {body} }}")));
        assert!(m.bindings().is_empty());
        let push = m.push().unwrap();
        (push.size, push.is_address)
    };
    assert_eq!(push("uint64_t a;", "R(p.a).v[0] = 1;"), (8, true));
    assert_eq!(push("R a;", "p.a.v[0] = 1;"), (8, true));
    assert_eq!(push("uvec2 a;", "R(p.a).v[0] = 1;"), (8, true));
    assert_eq!(push("uint64_t a; uint n;", "R(p.a).v[0] = p.n;"), (12, false));
    assert_eq!(push("vec2 a;", "R(uvec2(p.a)).v[0] = 1;"), (8, false));
    assert_eq!(push("layout(offset = 8) R a;", "p.a.v[0] = 1;"), (16, false));
}

#[test]
fn an_unused_push_constant_block_is_none() {
    let m = module(&glsl("layout(local_size_x = 1) in; layout(push_constant) uniform P { uint n; }; void main() {}"));
    assert!(m.push().is_none());
}

#[test]
fn debug_information_does_not_count_as_a_use() {
    let source = format!(
        "{HEADER}layout(binding = 0) buffer A {{ float a[]; }}; layout(binding = 1) buffer B {{ float b[]; }};
        void main() {{ a[gl_GlobalInvocationID.x] = b[0]; }}"
    );
    let m = module(&glsl_with(&source, &["--target-env=vulkan1.2", "-g"]));
    assert_eq!((binding(&m, 0, 0).access, binding(&m, 0, 1).access), (Access::Write, Access::Read));
}

#[test]
fn long_names_are_cut() {
    for (length, shown) in [(511, 511), (512, 515), (900, 515)] {
        let name = "n".repeat(length);
        let source = format!(
            "layout(local_size_x = 1) in; layout(binding = 0) buffer B {{ uint v[]; }} {name}; void main() {{ {name}.v[0] = 1; }}"
        );
        let module = module(&glsl_with(&source, &["--target-env=vulkan1.2", "-g"]));
        let found = binding(&module, 0, 0).name.clone().unwrap();
        assert_eq!((found.len(), found.ends_with("...")), (shown, length >= 512), "{found}");
    }
}
