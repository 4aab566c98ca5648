//! The functions of `fast_math` that are one instruction: what `cpp-shim/revamp/detail/device_math.h` calls.
//!
//! All take and give 32-bit floats. Everything else of `fast_math` and all of `precise_math` is code of the headers
//! (docs/decisions/0010-device-maths.md) and needs LLVM's intrinsics only.

use rspirv::spirv::GLOp;

/// An instruction of GLSL.std.450.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Which.
    pub op: GLOp,
    /// The number of operands.
    pub arity: usize,
}

/// The names, sorted. The second operand of `ldexp` is a 32-bit integer; all others are floats.
const TABLE: &[(&str, GLOp, usize)] = &[
    ("__revamp_fast_acos_f32", GLOp::Acos, 1),
    ("__revamp_fast_asin_f32", GLOp::Asin, 1),
    ("__revamp_fast_atan2_f32", GLOp::Atan2, 2),
    ("__revamp_fast_atan_f32", GLOp::Atan, 1),
    ("__revamp_fast_cos_f32", GLOp::Cos, 1),
    ("__revamp_fast_cosh_f32", GLOp::Cosh, 1),
    ("__revamp_fast_exp2_f32", GLOp::Exp2, 1),
    ("__revamp_fast_exp_f32", GLOp::Exp, 1),
    ("__revamp_fast_ldexp_f32", GLOp::Ldexp, 2),
    ("__revamp_fast_log2_f32", GLOp::Log2, 1),
    ("__revamp_fast_log_f32", GLOp::Log, 1),
    ("__revamp_fast_pow_f32", GLOp::Pow, 2),
    ("__revamp_fast_rsqrt_f32", GLOp::InverseSqrt, 1),
    ("__revamp_fast_sin_f32", GLOp::Sin, 1),
    ("__revamp_fast_sinh_f32", GLOp::Sinh, 1),
    ("__revamp_fast_tan_f32", GLOp::Tan, 1),
    ("__revamp_fast_tanh_f32", GLOp::Tanh, 1),
];

/// The instruction that a function of this name is, if it is one.
pub fn glsl(name: &str) -> Option<Instruction> {
    let at = TABLE.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
    let (_, op, arity) = TABLE[at];
    Some(Instruction { op, arity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for (name, op, arity) in TABLE {
            assert_eq!(glsl(name), Some(Instruction { op: *op, arity: *arity }), "{name}");
        }
        assert_eq!(glsl("__revamp_fast_tan_f32").map(|i| i.op as u32), Some(15));
        assert_eq!(glsl("__revamp_fast_tan_f64"), None);
    }
}
