//! Tests of float execution modes: kernels declare the modes that the device supports, for the float types that they use.

use super::super::FloatModes;
use super::*;

const FLOATS: &str = "layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { float b[]; };
void main() { b[0] += 1; }";
const BOTH: &str = "layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer B { double d; float b[]; };
void main() { d += b[0]; }";

fn modes(source: &str, modes: FloatModes) -> Vec<String> {
    let before = module(&glsl(source));
    let Some(after) = before.with_float_modes(&modes).unwrap() else { return Vec::new() };
    validate(after.words());
    validate(&after.split().unwrap().words);
    assert_eq!(before.entry_point(), after.entry_point());
    let text = disassemble(after.words());
    let mode = |line: &str| {
        let (_, of) = line.split_once("OpExecutionMode ")?;
        of.split_once(' ').map(|(_, mode)| mode.to_owned())
    };
    text.lines().filter_map(mode).filter(|mode| !mode.starts_with("LocalSize")).collect()
}

#[test]
fn supported_modes_are_declared_for_the_float_types_of_the_kernel() {
    let all = FloatModes { special: [true; 3], subnormal: [true; 3], same_for_all_widths: false };
    let of_32 = ["SignedZeroInfNanPreserve 32", "DenormPreserve 32"];
    assert_eq!(modes(FLOATS, all), of_32);
    let special = FloatModes { special: [false, true, false], ..FloatModes::default() };
    assert_eq!(modes(BOTH, special), of_32[..1]);
    assert_eq!(modes(BOTH, all).len(), 4);
    assert!(modes(BOTH, FloatModes::default()).is_empty());
}

#[test]
fn the_subnormal_mode_is_omitted_if_not_all_widths_support_it() {
    let some = FloatModes { subnormal: [false, true, false], ..FloatModes::default() };
    let same_for_all_widths = FloatModes { same_for_all_widths: true, ..some };
    assert_eq!(modes(BOTH, some), ["DenormPreserve 32"]);
    assert!(modes(BOTH, same_for_all_widths).is_empty());
    assert_eq!(modes(FLOATS, same_for_all_widths), ["DenormPreserve 32"]);
}
