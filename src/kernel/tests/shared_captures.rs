//! Modules for launches whose captures share no memory.

use super::*;

#[test]
fn only_the_constant_that_asks_becomes_false() {
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
    let after = before.apart().unwrap();
    validate(after.words());
    let lines = |module: &Module| disassemble(module.words());
    assert_eq!(lines(&before).matches("SpecConstantTrue").count(), 2);
    assert_eq!(
        (lines(&after).matches("SpecConstantTrue").count(), lines(&after).matches("SpecConstantFalse").count()),
        (1, 1)
    );
    assert!(!after.depends_on_sharing() && after.hash() != before.hash());
    assert_eq!(after.apart().unwrap().words(), after.words());
    assert!(!module(&glsl(&source(7))).depends_on_sharing());
}
