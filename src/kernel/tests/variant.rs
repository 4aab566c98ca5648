//! Tests of variants: modules in which the decisions of a launch are constants.

use super::*;
use crate::kernel::Variant;

#[test]
fn only_the_shared_captures_constant_becomes_false() {
    let source = |number: u32| {
        format!(
            "layout(local_size_x = 8) in;
            layout(constant_id = 2) const bool other = true; layout(constant_id = {number}) const bool shared_captures = true;
            layout(set = 0, binding = 0) buffer B {{ float b[]; }};
            void main() {{ if (other && shared_captures) b[gl_GlobalInvocationID.x] = 1; }}"
        )
    };
    let before = module(&glsl(&source(revamp_image::SHARED_CAPTURES)));
    assert!(before.depends_on_sharing());
    let no_aliasing = Variant { no_aliasing: true, workgroup: None };
    let after = before.variant(no_aliasing).unwrap();
    validate(after.words());
    let lines = |module: &Module| disassemble(module.words());
    assert_eq!(lines(&before).matches("SpecConstantTrue").count(), 2);
    assert_eq!(
        (lines(&after).matches("SpecConstantTrue").count(), lines(&after).matches("SpecConstantFalse").count()),
        (1, 1)
    );
    assert!(!after.depends_on_sharing() && after.hash() != before.hash());
    assert_eq!(after.variant(no_aliasing).unwrap().words(), after.words());
    assert!(!module(&glsl(&source(7))).depends_on_sharing());
}

#[test]
fn the_launch_sets_the_workgroup_size() {
    let source = "layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
        layout(constant_id = 4) const uint other = 7; layout(set = 0, binding = 0) buffer B { uint b[]; };
        void main() { b[gl_GlobalInvocationID.x] = other; }";
    let before = module(&glsl(source));
    let after = before.variant(Variant { no_aliasing: false, workgroup: Some([64, 2, 1]) }).unwrap();
    validate(after.words());
    assert!(before.chooses_workgroup() && !after.depends_on_sharing());
    assert_eq!(after.workgroup_size(&Vec::new()).unwrap(), [64, 2, 1]);
    let text = disassemble(after.words());
    let kept = |line: &str| line.contains("OpSpecConstant ") && line.trim_end().ends_with(" 7");
    assert!(text.lines().any(kept), "{text}");
}
