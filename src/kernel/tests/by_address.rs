//! Tests of arguments that are read by address.

use super::*;
use revamp_image::arguments;

/// A kernel that reads two arguments. `address`: the statement that uses the push constant.
fn kernel(address: &str) -> Module {
    let source = format!(
        "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        layout(local_size_x = 8) in;
        layout(push_constant) uniform P {{ uint64_t block; }};
        layout(set = 0, binding = 0) uniform A {{ uvec4 words[4]; }} arguments;
        layout(set = 1, binding = 0) buffer B {{ uint b[]; }};
        void main() {{ {address} if (arguments.words[1].y > 3) b[0] += arguments.words[2].z; }}"
    );
    let text = disassemble(module(&glsl(&source)).words());
    let named = text.replace("\"arguments\"", &format!("\"{}\"", arguments::NAME));
    assert_ne!(text, named);
    module(&assemble("vulkan1.2", &physical(&named)))
}

/// The module with the addressing model of compiled kernels.
fn physical(text: &str) -> String {
    let text = text.replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64");
    text.replacen("OpCapability Shader", "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses", 1)
}

#[test]
fn arguments_are_read_through_the_address_of_the_block() {
    let before = kernel("uint64_t first = block;");
    assert!(before.has_uniform_arguments());
    let after = before.with_arguments_by_address().unwrap().unwrap();
    validate(after.words());
    assert!(!after.has_uniform_arguments());
    assert_eq!((after.bindings().len(), after.push().unwrap().size), (1, 8));
    let text = disassemble(after.words());
    assert_eq!(text.matches("OpConvertUToPtr").count(), 1);
    assert_eq!(text.matches("Aligned 4").count(), 2);
    assert!(text.contains("NonWritable") && !text.contains(" Uniform"), "{text}");
    assert!(after.with_arguments_by_address().unwrap().is_none());
}

#[test]
fn kernels_that_do_not_load_the_address_first_are_not_changed() {
    for address in ["", "if (b[1] == 2) b[2] = uint(block);"] {
        assert!(kernel(address).with_arguments_by_address().unwrap().is_none(), "{address}");
    }
}
