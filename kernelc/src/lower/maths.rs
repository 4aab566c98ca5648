//! The functions of `fast_math` that are one instruction of GLSL.std.450: what
//! `cpp-shim/revamp/detail/device_math.h` calls.
//!
//! All take and give 32-bit floats, but for the second operand of `ldexp`, a 32-bit integer. Everything else of
//! `fast_math` and all of `precise_math` is code of the headers (docs/decisions/0010-device-maths.md) and needs LLVM's
//! intrinsics only.

/// Sorted by name.
const TABLE: &[(&str, u32)] = &[
    ("__revamp_fast_acos_f32", 17),
    ("__revamp_fast_asin_f32", 16),
    ("__revamp_fast_atan2_f32", 25),
    ("__revamp_fast_atan_f32", 18),
    ("__revamp_fast_cos_f32", 14),
    ("__revamp_fast_cosh_f32", 20),
    ("__revamp_fast_exp2_f32", 29),
    ("__revamp_fast_exp_f32", 27),
    ("__revamp_fast_ldexp_f32", 53),
    ("__revamp_fast_log2_f32", 30),
    ("__revamp_fast_log_f32", 28),
    ("__revamp_fast_pow_f32", 26),
    ("__revamp_fast_rsqrt_f32", 32),
    ("__revamp_fast_sin_f32", 13),
    ("__revamp_fast_sinh_f32", 19),
    ("__revamp_fast_tan_f32", 15),
    ("__revamp_fast_tanh_f32", 21),
];

/// The number of the instruction that the function of this name is, if it is one.
pub fn glsl(name: &str) -> Option<u32> {
    let at = TABLE.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(TABLE[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::grammar::GlslStd450InstructionTable;

    #[test]
    fn every_name_is_found_and_has_its_instruction() {
        for &(name, number) in TABLE {
            assert_eq!(glsl(name), Some(number), "{name}");
            let instruction = GlslStd450InstructionTable::lookup_opcode(number).map(|i| i.opname.to_lowercase());
            let plain = name.trim_start_matches("__revamp_fast_").trim_end_matches("_f32");
            let expected = if plain == "rsqrt" { "inversesqrt" } else { plain };
            assert_eq!(instruction.as_deref(), Some(expected), "{name}");
        }
        assert_eq!(glsl("__revamp_fast_tan_f64"), None);
    }
}
