//! Tests of the removal of non-semantic instructions: the modules stay valid and are otherwise unchanged.

use super::*;

const PRINTS: &str = "#extension GL_EXT_debug_printf : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (b[i] > 2) debugPrintfEXT(\"%u: %f\\n\", i, b[i]);
    b[i] = sin(b[i]);
}";

#[test]
fn print_instructions_are_removed() {
    for env in ["vulkan1.2", "vulkan1.3"] {
        let before = module(&glsl_with(PRINTS, &[&format!("--target-env={env}"), "-g"]));
        let after = before.without_non_semantic().unwrap().unwrap();
        validate(after.words());
        let (old, new) = (disassemble(before.words()), disassemble(after.words()));
        assert!(old.contains("NonSemantic.DebugPrintf") && !new.contains("NonSemantic"), "{new}");
        assert!(after.extensions().is_empty() && new.contains("GLSL.std.450") && new.contains(" Sin "), "{new}");
        assert_eq!(format!("{:?}", before.bindings()), format!("{:?}", after.bindings()));
        assert_eq!(before.entry_point(), after.entry_point());
        // Nothing is left to remove, and the module can still be split for large domains.
        assert!(after.without_non_semantic().unwrap().is_none());
        validate(&after.split().unwrap().words);
        validate(&before.split().unwrap().words);
    }
}

#[test]
fn names_of_removed_instructions_are_removed() {
    let text = "OpCapability Shader\nOpExtension \"SPV_KHR_non_semantic_info\"\n\
                %20 = OpExtInstImport \"NonSemantic.Acme\"\nOpMemoryModel Logical GLSL450\n\
                OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n\
                OpName %1 \"kept\"\nOpName %21 \"gone\"\n\
                %2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%21 = OpExtInst %2 %20 7\n\
                %1 = OpFunction %2 None %3\n%4 = OpLabel\n%22 = OpExtInst %2 %20 8 %21\nOpReturn\nOpFunctionEnd\n";
    let after = module(&assemble("vulkan1.2", text)).without_non_semantic().unwrap().unwrap();
    validate(after.words());
    let text = disassemble(after.words());
    assert!(text.contains("\"kept\"") && !text.contains("gone") && !text.contains("OpExt"), "{text}");
}

#[test]
fn modules_without_non_semantic_instructions_are_unchanged() {
    let plain = module(&glsl("layout(local_size_x = 8) in;\nvoid main() {}"));
    assert!(plain.without_non_semantic().unwrap().is_none());
}
