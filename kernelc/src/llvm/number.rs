//! Values of enums in LLVM's C API, which LLVM keeps stable, and names of metadata.

/// `LLVMTypeKind`.
pub mod ty {
    pub const VOID: i32 = 0;
    pub const HALF: i32 = 1;
    pub const FLOAT: i32 = 2;
    pub const DOUBLE: i32 = 3;
    pub const INTEGER: i32 = 8;
    pub const FUNCTION: i32 = 9;
    pub const STRUCT: i32 = 10;
    pub const ARRAY: i32 = 11;
    pub const POINTER: i32 = 12;
    pub const VECTOR: i32 = 13;
}
/// `LLVMValueKind`.
pub mod value {
    pub const ARGUMENT: i32 = 0;
    pub const FUNCTION: i32 = 5;
    pub const ALIAS: i32 = 6;
    pub const GLOBAL_VARIABLE: i32 = 8;
    pub const BLOCK_ADDRESS: i32 = 9;
    pub const EXPRESSION: i32 = 10;
    pub const ARRAY: i32 = 11;
    pub const STRUCT: i32 = 12;
    pub const VECTOR: i32 = 13;
    pub const UNDEF: i32 = 14;
    pub const ZERO: i32 = 15;
    pub const DATA_ARRAY: i32 = 16;
    pub const DATA_VECTOR: i32 = 17;
    pub const INTEGER: i32 = 18;
    pub const FLOAT: i32 = 19;
    pub const NULL: i32 = 20;
    pub const METADATA: i32 = 22;
    pub const ASSEMBLY: i32 = 23;
    pub const INSTRUCTION: i32 = 24;
    pub const POISON: i32 = 25;
}
/// `LLVMMetadataKind`.
pub mod node {
    pub const LOCATION: u32 = 5;
    pub const FILE: u32 = 15;
    pub const SUBPROGRAM: u32 = 17;
}
/// `LLVMOpcode`.
pub mod opcode {
    pub const RET: i32 = 1;
    pub const BR: i32 = 2;
    pub const SWITCH: i32 = 3;
    pub const UNREACHABLE: i32 = 7;
    pub const ADD: i32 = 8;
    pub const SUB: i32 = 10;
    pub const FADD: i32 = 9;
    pub const FSUB: i32 = 11;
    pub const MUL: i32 = 12;
    pub const FMUL: i32 = 13;
    pub const UDIV: i32 = 14;
    pub const SDIV: i32 = 15;
    pub const FDIV: i32 = 16;
    pub const UREM: i32 = 17;
    pub const SREM: i32 = 18;
    pub const FREM: i32 = 19;
    pub const SHL: i32 = 20;
    pub const LSHR: i32 = 21;
    pub const ASHR: i32 = 22;
    pub const AND: i32 = 23;
    pub const OR: i32 = 24;
    pub const XOR: i32 = 25;
    pub const ALLOCA: i32 = 26;
    pub const LOAD: i32 = 27;
    pub const STORE: i32 = 28;
    pub const GEP: i32 = 29;
    pub const TRUNC: i32 = 30;
    pub const ZEXT: i32 = 31;
    pub const SEXT: i32 = 32;
    pub const UITOFP: i32 = 35;
    pub const SITOFP: i32 = 36;
    pub const FPTRUNC: i32 = 37;
    pub const FPEXT: i32 = 38;
    pub const POINTER_TO_INT: i32 = 39;
    pub const ICMP: i32 = 42;
    pub const FCMP: i32 = 43;
    pub const PHI: i32 = 44;
    pub const CALL: i32 = 45;
    pub const SELECT: i32 = 46;
    pub const EXTRACT_ELEMENT: i32 = 50;
    pub const INSERT_ELEMENT: i32 = 51;
    pub const SHUFFLE_VECTOR: i32 = 52;
    pub const EXTRACT_VALUE: i32 = 53;
    pub const INSERT_VALUE: i32 = 54;
    pub const FENCE: i32 = 55;
    pub const CMPXCHG: i32 = 56;
    pub const ATOMICRMW: i32 = 57;
    pub const INT_TO_POINTER: i32 = 40;
    pub const BIT_CAST: i32 = 41;
    pub const ADDRESS_SPACE_CAST: i32 = 60;
    pub const FNEG: i32 = 66;
    pub const FREEZE: i32 = 68;
}
/// `LLVMGEPFlagInBounds`.
pub const IN_BOUNDS: u32 = 1;
/// `LLVMAtomicOrdering`.
pub const MONOTONIC: i32 = 2;
pub const ACQUIRE: i32 = 4;
pub const ACQUIRE_RELEASE: i32 = 6;
/// `LLVMLinkage`.
pub mod linkage {
    pub const EXTERNAL: i32 = 0;
    pub const AVAILABLE_EXTERNALLY: i32 = 1;
    pub const WEAK_ODR: i32 = 6;
    pub const APPENDING: i32 = 7;
    pub const INTERNAL: i32 = 8;
    pub const EXTERN_WEAK: i32 = 12;
    pub const PRIVATE: i32 = 9;
}
/// `LLVMHiddenVisibility`.
pub const HIDDEN_VISIBILITY: i32 = 1;
/// `LLVMFastMathAll`.
pub const FAST: u32 = 127;
/// The name of the metadata that marks loads from memory that never changes.
pub const INVARIANT_LOAD: &str = "invariant.load";
/// The name of the metadata of loops.
pub const LOOP_METADATA: &str = "llvm.loop";
/// `LLVMAttributeFunctionIndex`.
pub const FUNCTION_INDEX: u32 = u32::MAX;
/// The calling convention SPIR_FUNC.
pub const SPIR_FUNCTION: u32 = 75;
/// The calling conventions SPIR_KERNEL and AMDGPU_KERNEL.
pub const KERNEL_CONVENTIONS: [u32; 2] = [76, 91];
/// `LLVMFastMathAllowReassoc`.
pub const REASSOCIATE: u32 = 1;
/// `LLVMFastMathAllowReciprocal`.
pub const RECIPROCAL: u32 = 16;
/// `LLVMFastMathAllowContract`.
pub const CONTRACT: u32 = 32;
/// `LLVMIntEQ`, the first of ten consecutive predicates.
pub const FIRST_INTEGER_PREDICATE: i32 = 32;
