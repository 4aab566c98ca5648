//! Tests of the rewrite that reports stopped loops: the rewritten modules are valid, and otherwise unchanged.

use super::*;

const LOOPS: &str = "layout(local_size_x = 8) in;
layout(constant_id = 3) const uint most = 5;
layout(set = 1, binding = 2) buffer B { uint b[]; };
layout(push_constant) uniform P { uint n; };
uint inner(uint x) { for (uint k = 0; k < most; k++) { if (x == 77) return x; x = x * 3 + k; } return x; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    while (b[i] < n) { b[i] = inner(b[i]); if (b[i] == 3) break; }
}";

/// Adds the report of stopped loops, in set 2. Checks that the result and its split form are valid, and that the interface is kept.
fn checked(before: &Module) -> Module {
    let plain = before.with_loops_checked(2, false).unwrap();
    validate(plain.words());
    let conditions = |module: &Module| disassemble(module.words()).matches("OpSelectionMerge").count();
    let after = before.with_loops_checked(2, true).unwrap();
    assert_eq!(conditions(&after), conditions(&plain) + 2);
    validate(after.words());
    validate(&after.split().unwrap().words);
    assert_eq!(before.entry_point(), after.entry_point());
    assert_eq!(format!("{:?}", before.push()), format!("{:?}", after.push()));
    assert_eq!(format!("{:?}", before.spec_constants()), format!("{:?}", after.spec_constants()));
    assert_eq!(before.workgroup_size(&vec![]).unwrap(), after.workgroup_size(&vec![]).unwrap());
    let [original @ .., flag, word] = after.bindings() else { panic!("{:?}", after.bindings()) };
    assert_eq!(format!("{original:?}"), format!("{:?}", before.bindings()));
    assert_eq!([flag, word].map(|b| (b.set, b.binding, b.min_size)), [(2, 0, 8), (2, 1, 8)]);
    after
}

#[test]
fn a_new_entry_point_calls_the_old_one() {
    for env in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        for mode in ["-O0", "-O", "-g"] {
            let before = module(&glsl_with(LOOPS, &[&format!("--target-env={env}"), mode]));
            assert!(before.has_loops());
            let text = disassemble(checked(&before).words());
            let old = disassemble(before.words());
            let count = |text: &str, what: &str| text.matches(what).count();
            assert_eq!(count(&text, "OpLoopMerge"), count(&old, "OpLoopMerge") + 1, "{text}");
            assert_eq!(count(&text, "OpFunctionCall"), count(&old, "OpFunctionCall") + 1, "{text}");
        }
    }
}

#[test]
fn specialized_workgroup_sizes_and_all_entry_points_are_kept() {
    let sized = LOOPS.replace("local_size_x = 8", "local_size_x_id = 0");
    checked(&module(&glsl(&sized)));
    let two = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %1 \"a\"\nOpEntryPoint GLCompute %1 \"b\"\n\
               OpExecutionMode %1 LocalSize 4 1 1\n%2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%1 = OpFunction %2 None %3\n\
               %4 = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let before = Module::new(&assemble("vulkan1.2", two), Some("b")).unwrap();
    assert!(!before.has_loops());
    let after = checked(&before);
    assert_eq!(disassemble(after.words()).matches("OpEntryPoint").count(), 2);
}

#[test]
fn only_loops_that_are_reached_count() {
    let with = |main: &str| {
        let source = format!(
            "layout(local_size_x = 8) in;\nlayout(set = 0, binding = 0) buffer B {{ uint b[]; }};
            void other() {{ while (b[1] < 7) b[1]++; }}\nvoid main() {{ {main} }}"
        );
        module(&glsl_with(&source, &["--target-env=vulkan1.2", "-O0"])).has_loops()
    };
    assert!(with("other();") && with("for (uint i = 0; i < b[2]; i++) b[i] = i;") && !with("b[0] = 1;"));
}
