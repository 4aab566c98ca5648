//! The mathematical functions that are one instruction of GLSL.std.450.

/// The instruction's number.
pub fn glsl(_name: &str) -> Option<u32> {
    None
}
