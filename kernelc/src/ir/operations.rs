//! Maps the numbers of operations in LLVM's C API to the types of `ir`.

use super::module::{AtomicOp, BinaryOp, CastOp, FloatPredicate, IntPredicate};

/// The operations that the values of `LLVMAtomicRMWBinOp` stand for, in order.
pub const ATOMIC_OPERATIONS: [AtomicOp; 15] = {
    use AtomicOp as A;
    [
        A::Xchg,
        A::Add,
        A::Sub,
        A::And,
        A::Nand,
        A::Or,
        A::Xor,
        A::Max,
        A::Min,
        A::UMax,
        A::UMin,
        A::FAdd,
        A::FSub,
        A::FMax,
        A::FMin,
    ]
};

/// The predicates that the values of `LLVMIntPredicate` stand for, in order from `FIRST_INTEGER_PREDICATE`.
pub const INTEGER_PREDICATES: [IntPredicate; 10] = {
    use IntPredicate as I;
    [I::Eq, I::Ne, I::Ugt, I::Uge, I::Ult, I::Ule, I::Sgt, I::Sge, I::Slt, I::Sle]
};

/// The predicates that the values of `LLVMRealPredicate` stand for, in order.
pub const FLOAT_PREDICATES: [FloatPredicate; 16] = {
    use FloatPredicate as F;
    [
        F::False,
        F::Oeq,
        F::Ogt,
        F::Oge,
        F::Olt,
        F::Ole,
        F::One,
        F::Ord,
        F::Uno,
        F::Ueq,
        F::Ugt,
        F::Uge,
        F::Ult,
        F::Ule,
        F::Une,
        F::True,
    ]
};

/// Values of `LLVMOpcode` for binary operations.
pub const BINARY_OPERATIONS: [(i32, BinaryOp); 18] = {
    use BinaryOp as B;
    [
        (8, B::Add),
        (9, B::FAdd),
        (10, B::Sub),
        (11, B::FSub),
        (12, B::Mul),
        (13, B::FMul),
        (14, B::UDiv),
        (15, B::SDiv),
        (16, B::FDiv),
        (17, B::URem),
        (18, B::SRem),
        (19, B::FRem),
        (20, B::Shl),
        (21, B::LShr),
        (22, B::AShr),
        (23, B::And),
        (24, B::Or),
        (25, B::Xor),
    ]
};

/// Values of `LLVMOpcode` for conversions.
pub const CAST_OPERATIONS: [(i32, CastOp); 14] = {
    use CastOp as C;
    [
        (30, C::Trunc),
        (31, C::ZExt),
        (32, C::SExt),
        (33, C::FpToUi),
        (34, C::FpToSi),
        (35, C::UiToFp),
        (36, C::SiToFp),
        (37, C::FpTrunc),
        (38, C::FpExt),
        (39, C::PtrToInt),
        (40, C::IntToPtr),
        (41, C::BitCast),
        (60, C::AddrSpaceCast),
        (69, C::PtrToAddr),
    ]
};

/// Values of `LLVMOpcode` for instructions that kernels cannot have, with their names.
pub const UNSUPPORTED_INSTRUCTIONS: [(i32, &str); 11] = [
    (4, "indirectbr"),
    (5, "invoke"),
    (49, "va_arg"),
    (58, "resume"),
    (59, "landingpad"),
    (61, "cleanupret"),
    (62, "catchret"),
    (63, "catchpad"),
    (64, "cleanuppad"),
    (65, "catchswitch"),
    (67, "callbr"),
];
