//! The functions of `fast_math` that are one instruction of GLSL.std.450: what
//! `cpp-shim/revamp/detail/device_math.h` calls.
//!
//! All operands and results are 32-bit floats, except the second operand of `ldexp`, a 32-bit integer. Everything else of
//! `fast_math` and all of `precise_math` is code of the headers (docs/decisions/0010-device-maths.md) and needs LLVM's
//! intrinsics only.

use rspirv::spirv::GlslStd450Op as Op;

/// Sorted by name.
const TABLE: &[(&str, Op)] = &[
    ("__revamp_fast_acos_f32", Op::Acos),
    ("__revamp_fast_asin_f32", Op::Asin),
    ("__revamp_fast_atan2_f32", Op::Atan2),
    ("__revamp_fast_atan_f32", Op::Atan),
    ("__revamp_fast_cos_f32", Op::Cos),
    ("__revamp_fast_cosh_f32", Op::Cosh),
    ("__revamp_fast_exp2_f32", Op::Exp2),
    ("__revamp_fast_exp_f32", Op::Exp),
    ("__revamp_fast_ldexp_f32", Op::Ldexp),
    ("__revamp_fast_log2_f32", Op::Log2),
    ("__revamp_fast_log_f32", Op::Log),
    ("__revamp_fast_pow_f32", Op::Pow),
    ("__revamp_fast_rsqrt_f32", Op::InverseSqrt),
    ("__revamp_fast_sin_f32", Op::Sin),
    ("__revamp_fast_sinh_f32", Op::Sinh),
    ("__revamp_fast_tan_f32", Op::Tan),
];

/// The driver's quotient, which is no instruction of GLSL.std.450: `/` is rounded correctly (`quotients`).
pub(super) const QUOTIENT: &str = "__revamp_fast_quotient_f32";

/// The instruction that a function of this name is.
pub fn glsl(name: &str) -> Option<u32> {
    let at = TABLE.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    Some(TABLE[at].1 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for &(name, instruction) in TABLE {
            assert_eq!(glsl(name), Some(instruction as u32), "{name}");
        }
        assert_eq!(glsl("__revamp_fast_tan_f64"), None);
    }
}
