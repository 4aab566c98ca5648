//! The keywords of instructions, predicates and the like.

use crate::ir::module::{AtomicOp, BinaryOp, CastOp, FloatPredicate, IntPredicate};

pub(super) fn binary_op(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        "udiv" => BinaryOp::UDiv,
        "sdiv" => BinaryOp::SDiv,
        "urem" => BinaryOp::URem,
        "srem" => BinaryOp::SRem,
        "shl" => BinaryOp::Shl,
        "lshr" => BinaryOp::LShr,
        "ashr" => BinaryOp::AShr,
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "xor" => BinaryOp::Xor,
        "fadd" => BinaryOp::FAdd,
        "fsub" => BinaryOp::FSub,
        "fmul" => BinaryOp::FMul,
        "fdiv" => BinaryOp::FDiv,
        "frem" => BinaryOp::FRem,
        _ => return None,
    })
}

pub(super) fn cast_op(word: &str) -> Option<CastOp> {
    Some(match word {
        "trunc" => CastOp::Trunc,
        "zext" => CastOp::ZExt,
        "sext" => CastOp::SExt,
        "fptrunc" => CastOp::FpTrunc,
        "fpext" => CastOp::FpExt,
        "fptoui" => CastOp::FpToUi,
        "fptosi" => CastOp::FpToSi,
        "uitofp" => CastOp::UiToFp,
        "sitofp" => CastOp::SiToFp,
        "ptrtoint" => CastOp::PtrToInt,
        "ptrtoaddr" => CastOp::PtrToAddr,
        "inttoptr" => CastOp::IntToPtr,
        "bitcast" => CastOp::BitCast,
        "addrspacecast" => CastOp::AddrSpaceCast,
        _ => return None,
    })
}

pub(super) fn int_predicate(word: &str) -> Option<IntPredicate> {
    Some(match word {
        "eq" => IntPredicate::Eq,
        "ne" => IntPredicate::Ne,
        "ugt" => IntPredicate::Ugt,
        "uge" => IntPredicate::Uge,
        "ult" => IntPredicate::Ult,
        "ule" => IntPredicate::Ule,
        "sgt" => IntPredicate::Sgt,
        "sge" => IntPredicate::Sge,
        "slt" => IntPredicate::Slt,
        "sle" => IntPredicate::Sle,
        _ => return None,
    })
}

pub(super) fn float_predicate(word: &str) -> Option<FloatPredicate> {
    Some(match word {
        "false" => FloatPredicate::False,
        "oeq" => FloatPredicate::Oeq,
        "ogt" => FloatPredicate::Ogt,
        "oge" => FloatPredicate::Oge,
        "olt" => FloatPredicate::Olt,
        "ole" => FloatPredicate::Ole,
        "one" => FloatPredicate::One,
        "ord" => FloatPredicate::Ord,
        "ueq" => FloatPredicate::Ueq,
        "ugt" => FloatPredicate::Ugt,
        "uge" => FloatPredicate::Uge,
        "ult" => FloatPredicate::Ult,
        "ule" => FloatPredicate::Ule,
        "une" => FloatPredicate::Une,
        "uno" => FloatPredicate::Uno,
        "true" => FloatPredicate::True,
        _ => return None,
    })
}

pub(super) fn atomic_op(word: &str) -> Option<AtomicOp> {
    Some(match word {
        "xchg" => AtomicOp::Xchg,
        "add" => AtomicOp::Add,
        "sub" => AtomicOp::Sub,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "nand" => AtomicOp::Nand,
        "max" => AtomicOp::Max,
        "min" => AtomicOp::Min,
        "umax" => AtomicOp::UMax,
        "umin" => AtomicOp::UMin,
        "fadd" => AtomicOp::FAdd,
        "fsub" => AtomicOp::FSub,
        "fmax" => AtomicOp::FMax,
        "fmin" => AtomicOp::FMin,
        _ => return None,
    })
}

/// Whether an instruction that no kernel holds ends its block.
pub(super) fn ends_block(name: &str) -> bool {
    matches!(name, "invoke" | "callbr" | "indirectbr" | "resume" | "cleanupret" | "catchret" | "catchswitch")
}
