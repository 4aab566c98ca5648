//! Finds libLLVM, loads it, and holds the functions of its C API that this compiler calls.
//!
//! The declarations of these functions are our own. They use integers for C's enums, because a later LLVM may return values that a Rust
//! enum does not have.
#![allow(unsafe_code)]

use libloading::Library;
use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// `LLVMDiagnosticHandler`.
pub(super) type DiagnosticHandler = extern "C" fn(diagnostic: *mut c_void, list: *mut c_void);

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of LLVM's C API, each in a field of the same name.
        #[expect(non_snake_case, reason = "LLVM's names")]
        pub(super) struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Functions {
            /// Looks up the functions.
            ///
            /// # Safety
            /// The library is a libLLVM whose functions have these signatures, and it stays loaded as long as they are called.
            unsafe fn of(library: &Library) -> Result<Self, String> {
                Ok(Self { $($name: {
                    let name = stringify!($name);
                    // SAFETY: the caller promises the signature; the library stays loaded.
                    *unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> $result>(name.as_bytes()) }
                        .map_err(|_| format!("the library has no {name}"))?
                },)* })
            }
        }
    };
}

functions! {
    LLVMContextCreate() -> *mut c_void;
    LLVMContextDispose(*mut c_void) -> ();
    LLVMContextSetDiagnosticHandler(*mut c_void, DiagnosticHandler, *mut c_void) -> ();
    LLVMGetDiagInfoDescription(*mut c_void) -> *mut c_char;
    LLVMGetDiagInfoSeverity(*mut c_void) -> c_int;
    LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> *mut c_void;
    LLVMParseIRInContext(*mut c_void, *mut c_void, *mut *mut c_void, *mut *mut c_char) -> c_int;
    LLVMCloneModule(*mut c_void) -> *mut c_void;
    LLVMDisposeModule(*mut c_void) -> ();
    LLVMPrintModuleToString(*mut c_void) -> *mut c_char;
    LLVMVerifyModule(*mut c_void, c_int, *mut *mut c_char) -> c_int;
    LLVMGetTarget(*mut c_void) -> *const c_char;
    LLVMDisposeMessage(*mut c_char) -> ();
    LLVMInitializeSPIRVTargetInfo() -> ();
    LLVMInitializeSPIRVTarget() -> ();
    LLVMInitializeSPIRVTargetMC() -> ();
    LLVMGetTargetFromTriple(*const c_char, *mut *mut c_void, *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine(*mut c_void, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> *mut c_void;
    LLVMDisposeTargetMachine(*mut c_void) -> ();
    LLVMCreateTargetDataLayout(*mut c_void) -> *mut c_void;
    LLVMCopyStringRepOfTargetData(*mut c_void) -> *mut c_char;
    LLVMDisposeTargetData(*mut c_void) -> ();
    LLVMCreatePassBuilderOptions() -> *mut c_void;
    LLVMDisposePassBuilderOptions(*mut c_void) -> ();
    LLVMRunPasses(*mut c_void, *const c_char, *mut c_void, *mut c_void) -> *mut c_void;
    LLVMGetErrorMessage(*mut c_void) -> *mut c_char;
    LLVMDisposeErrorMessage(*mut c_char) -> ();
    LLVMParseCommandLineOptions(c_int, *const *const c_char, *const c_char) -> ();
    LLVMGetFirstGlobal(*mut c_void) -> *mut c_void;
    LLVMGetNextGlobal(*mut c_void) -> *mut c_void;
    LLVMGetFirstFunction(*mut c_void) -> *mut c_void;
    LLVMGetNextFunction(*mut c_void) -> *mut c_void;
    LLVMGetInitializer(*mut c_void) -> *mut c_void;
    LLVMGlobalGetValueType(*mut c_void) -> *mut c_void;
    LLVMIsGlobalConstant(*mut c_void) -> c_int;
    LLVMAliasGetAliasee(*mut c_void) -> *mut c_void;
    LLVMGetBlockAddressFunction(*mut c_void) -> *mut c_void;
    LLVMGetAlignment(*mut c_void) -> c_uint;
    LLVMGetFunctionCallConv(*mut c_void) -> c_uint;
    LLVMCountParams(*mut c_void) -> c_uint;
    LLVMGetParam(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetEnumAttributeKindForName(*const c_char, usize) -> c_uint;
    LLVMGetEnumAttributeAtIndex(*mut c_void, c_uint, c_uint) -> *mut c_void;
    LLVMGetStringAttributeAtIndex(*mut c_void, c_uint, *const c_char, c_uint) -> *mut c_void;
    LLVMIsTypeAttribute(*mut c_void) -> c_int;
    LLVMGetTypeAttributeValue(*mut c_void) -> *mut c_void;
    LLVMGetValueName2(*mut c_void, *mut usize) -> *const c_char;
    LLVMGetFirstBasicBlock(*mut c_void) -> *mut c_void;
    LLVMGetNextBasicBlock(*mut c_void) -> *mut c_void;
    LLVMGetFirstInstruction(*mut c_void) -> *mut c_void;
    LLVMGetNextInstruction(*mut c_void) -> *mut c_void;
    LLVMBasicBlockAsValue(*mut c_void) -> *mut c_void;
    LLVMTypeOf(*mut c_void) -> *mut c_void;
    LLVMGetTypeKind(*mut c_void) -> c_int;
    LLVMGetIntTypeWidth(*mut c_void) -> c_uint;
    LLVMGetPointerAddressSpace(*mut c_void) -> c_uint;
    LLVMGetArrayLength2(*mut c_void) -> u64;
    LLVMGetVectorSize(*mut c_void) -> c_uint;
    LLVMGetElementType(*mut c_void) -> *mut c_void;
    LLVMIsOpaqueStruct(*mut c_void) -> c_int;
    LLVMIsPackedStruct(*mut c_void) -> c_int;
    LLVMCountStructElementTypes(*mut c_void) -> c_uint;
    LLVMStructGetTypeAtIndex(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetReturnType(*mut c_void) -> *mut c_void;
    LLVMIntTypeInContext(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetValueKind(*mut c_void) -> c_int;
    LLVMConstIntGetZExtValue(*mut c_void) -> u64;
    LLVMConstIntGetSExtValue(*mut c_void) -> i64;
    LLVMConstRealGetDouble(*mut c_void, *mut c_int) -> f64;
    LLVMConstBitCast(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMIsConstantString(*mut c_void) -> c_int;
    LLVMGetAsString(*mut c_void, *mut usize) -> *const c_char;
    LLVMGetAggregateElement(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetConstOpcode(*mut c_void) -> c_int;
    LLVMGetInstructionOpcode(*mut c_void) -> c_int;
    LLVMGetNumOperands(*mut c_void) -> c_int;
    LLVMGetOperand(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetNSW(*mut c_void) -> c_int;
    LLVMGetNUW(*mut c_void) -> c_int;
    LLVMGetIsDisjoint(*mut c_void) -> c_int;
    LLVMCanValueUseFastMathFlags(*mut c_void) -> c_int;
    LLVMGetFastMathFlags(*mut c_void) -> c_uint;
    LLVMGetOrdering(*mut c_void) -> c_int;
    LLVMGetVolatile(*mut c_void) -> c_int;
    LLVMGetICmpPredicate(*mut c_void) -> c_int;
    LLVMGetFCmpPredicate(*mut c_void) -> c_int;
    LLVMCountIncoming(*mut c_void) -> c_uint;
    LLVMGetIncomingValue(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetIncomingBlock(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetGEPSourceElementType(*mut c_void) -> *mut c_void;
    LLVMIsInBounds(*mut c_void) -> c_int;
    LLVMGetAllocatedType(*mut c_void) -> *mut c_void;
    LLVMGetAtomicRMWBinOp(*mut c_void) -> c_int;
    LLVMGetCalledValue(*mut c_void) -> *mut c_void;
    LLVMGetNumArgOperands(*mut c_void) -> c_uint;
    LLVMGetNumIndices(*mut c_void) -> c_uint;
    LLVMGetIndices(*mut c_void) -> *const c_uint;
    LLVMGetNumMaskElements(*mut c_void) -> c_uint;
    LLVMGetMaskValue(*mut c_void, c_uint) -> c_int;
    LLVMIsConditional(*mut c_void) -> c_int;
    LLVMGetCondition(*mut c_void) -> *mut c_void;
    LLVMGetSuccessor(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetNumSuccessors(*mut c_void) -> c_uint;
    LLVMGetSwitchCaseValue(*mut c_void, c_uint) -> *mut c_void;
    LLVMInstructionGetDebugLoc(*mut c_void) -> *mut c_void;
    LLVMGetSubprogram(*mut c_void) -> *mut c_void;
    LLVMMetadataAsValue(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMValueAsMetadata(*mut c_void) -> *mut c_void;
    LLVMIsAMDNode(*mut c_void) -> *mut c_void;
    LLVMGetMDNodeNumOperands(*mut c_void) -> c_uint;
    LLVMGetMDNodeOperands(*mut c_void, *mut *mut c_void) -> ();
    LLVMGetMDString(*mut c_void, *mut c_uint) -> *const c_char;
    LLVMGetMetadataKind(*mut c_void) -> c_uint;
    LLVMDILocationGetScope(*mut c_void) -> *mut c_void;
    LLVMDILocationGetInlinedAt(*mut c_void) -> *mut c_void;
    LLVMDILocationGetLine(*mut c_void) -> c_uint;
    LLVMDILocationGetColumn(*mut c_void) -> c_uint;
    LLVMDISubprogramGetLine(*mut c_void) -> c_uint;
    LLVMStripModuleDebugInfo(*mut c_void) -> c_int;
    LLVMGetIntrinsicID(*mut c_void) -> c_uint;
    LLVMGetInstructionParent(*mut c_void) -> *mut c_void;
    LLVMGetFirstUse(*mut c_void) -> *mut c_void;
    LLVMGetNextUse(*mut c_void) -> *mut c_void;
    LLVMGetUser(*mut c_void) -> *mut c_void;
    LLVMInstructionRemoveFromParent(*mut c_void) -> ();
    LLVMDeleteInstruction(*mut c_void) -> ();
    LLVMReplaceAllUsesWith(*mut c_void, *mut c_void) -> ();
    LLVMConstInt(*mut c_void, u64, c_int) -> *mut c_void;
    LLVMSetFastMathFlags(*mut c_void, c_uint) -> ();
    LLVMCreateEnumAttribute(*mut c_void, c_uint, u64) -> *mut c_void;
    LLVMAddAttributeAtIndex(*mut c_void, c_uint, *mut c_void) -> ();
    LLVMRemoveEnumAttributeAtIndex(*mut c_void, c_uint, c_uint) -> ();
    LLVMAddCallSiteAttribute(*mut c_void, c_uint, *mut c_void) -> ();
    LLVMRemoveCallSiteEnumAttribute(*mut c_void, c_uint, c_uint) -> ();
    LLVMCreateBuilderInContext(*mut c_void) -> *mut c_void;
    LLVMDisposeBuilder(*mut c_void) -> ();
    LLVMPositionBuilderBefore(*mut c_void, *mut c_void) -> ();
    LLVMVoidTypeInContext(*mut c_void) -> *mut c_void;
    LLVMFunctionType(*mut c_void, *mut *mut c_void, c_uint, c_int) -> *mut c_void;
    LLVMAddFunction(*mut c_void, *const c_char, *mut c_void) -> *mut c_void;
    LLVMSetFunctionCallConv(*mut c_void, c_uint) -> ();
    LLVMSetLinkage(*mut c_void, c_int) -> ();
    LLVMSetComdat(*mut c_void, *mut c_void) -> ();
    LLVMGetLinkage(*mut c_void) -> c_int;
    LLVMBuildFence(*mut c_void, c_int, c_int, *const c_char) -> *mut c_void;
    LLVMSetOrdering(*mut c_void, c_int) -> ();
    LLVMGetCmpXchgSuccessOrdering(*mut c_void) -> c_int;
    LLVMGetCmpXchgFailureOrdering(*mut c_void) -> c_int;
    LLVMSetCmpXchgSuccessOrdering(*mut c_void, c_int) -> ();
    LLVMSetCmpXchgFailureOrdering(*mut c_void, c_int) -> ();
    LLVMMDStringInContext2(*mut c_void, *const c_char, usize) -> *mut c_void;
    LLVMMDNodeInContext2(*mut c_void, *mut *mut c_void, usize) -> *mut c_void;
    LLVMTemporaryMDNode(*mut c_void, *mut *mut c_void, usize) -> *mut c_void;
    LLVMMetadataReplaceAllUsesWith(*mut c_void, *mut c_void) -> ();
    LLVMGetMDKindIDInContext(*mut c_void, *const c_char, c_uint) -> c_uint;
    LLVMGetMetadata(*mut c_void, c_uint) -> *mut c_void;
    LLVMGetBasicBlockTerminator(*mut c_void) -> *mut c_void;
    LLVMInsertBasicBlockInContext(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMPositionBuilderAtEnd(*mut c_void, *mut c_void) -> ();
    LLVMInsertIntoBuilderWithName(*mut c_void, *mut c_void, *const c_char) -> ();
    LLVMSetSuccessor(*mut c_void, c_uint, *mut c_void) -> ();
    LLVMBuildBr(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMBuildCondBr(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> *mut c_void;
    LLVMBuildAlloca(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildLoad2(*mut c_void, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildStore(*mut c_void, *mut c_void, *mut c_void) -> *mut c_void;
    LLVMInstructionClone(*mut c_void) -> *mut c_void;
    LLVMInstructionSetDebugLoc(*mut c_void, *mut c_void) -> ();
    LLVMDIBuilderCreateDebugLocation(*mut c_void, c_uint, c_uint, *mut c_void, *mut c_void) -> *mut c_void;
    LLVMSetOperand(*mut c_void, c_uint, *mut c_void) -> ();
    LLVMBuildRetVoid(*mut c_void) -> *mut c_void;
    LLVMBuildFNeg(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildBinOp(*mut c_void, c_int, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildCast(*mut c_void, c_int, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildFCmp(*mut c_void, c_int, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildSelect(*mut c_void, *mut c_void, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildPhi(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMAddIncoming(*mut c_void, *mut *mut c_void, *mut *mut c_void, c_uint) -> ();
    LLVMBuildCall2(*mut c_void, *mut c_void, *mut c_void, *mut *mut c_void, c_uint, *const c_char) -> *mut c_void;
    LLVMGetCalledFunctionType(*mut c_void) -> *mut c_void;
    LLVMGetInstructionCallConv(*mut c_void) -> c_uint;
    LLVMSetInstructionCallConv(*mut c_void, c_uint) -> ();
    LLVMGetTailCallKind(*mut c_void) -> c_int;
    LLVMSetTailCallKind(*mut c_void, c_int) -> ();
    LLVMGetNumOperandBundles(*mut c_void) -> c_uint;
    LLVMGetCallSiteEnumAttribute(*mut c_void, c_uint, c_uint) -> *mut c_void;
    LLVMGetCallSiteAttributeCount(*mut c_void, c_uint) -> c_uint;
    LLVMGetCallSiteAttributes(*mut c_void, c_uint, *mut *mut c_void) -> ();
    LLVMSetValueName2(*mut c_void, *const c_char, usize) -> ();
    LLVMInstructionGetAllMetadataOtherThanDebugLoc(*mut c_void, *mut usize) -> *mut c_void;
    LLVMValueMetadataEntriesGetKind(*mut c_void, c_uint) -> c_uint;
    LLVMValueMetadataEntriesGetMetadata(*mut c_void, c_uint) -> *mut c_void;
    LLVMDisposeValueMetadataEntries(*mut c_void) -> ();
    LLVMSetMetadata(*mut c_void, c_uint, *mut c_void) -> ();
    LLVMGEPSetNoWrapFlags(*mut c_void, c_uint) -> ();
    LLVMGetModuleDataLayout(*mut c_void) -> *mut c_void;
    LLVMStoreSizeOfType(*mut c_void, *mut c_void) -> u64;
    LLVMABISizeOfType(*mut c_void, *mut c_void) -> u64;
    LLVMTypeIsSized(*mut c_void) -> c_int;
    LLVMGetEnumAttributeValue(*mut c_void) -> u64;
    LLVMGetAttributeCountAtIndex(*mut c_void, c_uint) -> c_uint;
    LLVMGetAttributesAtIndex(*mut c_void, c_uint, *mut *mut c_void) -> ();
    LLVMConstAllOnes(*mut c_void) -> *mut c_void;
    LLVMConstVector(*mut *mut c_void, c_uint) -> *mut c_void;
    LLVMSetDataLayout(*mut c_void, *const c_char) -> ();
    LLVMSetTarget(*mut c_void, *const c_char) -> ();
    LLVMGetFirstGlobalAlias(*mut c_void) -> *mut c_void;
    LLVMGetNextGlobalAlias(*mut c_void) -> *mut c_void;
    LLVMDeleteGlobal(*mut c_void) -> ();
    LLVMDeleteFunction(*mut c_void) -> ();
    LLVMSetInitializer(*mut c_void, *mut c_void) -> ();
    LLVMRemoveBasicBlockFromParent(*mut c_void) -> ();
    LLVMAppendExistingBasicBlock(*mut c_void, *mut c_void) -> ();
    LLVMPointerTypeInContext(*mut c_void, c_uint) -> *mut c_void;
    LLVMArrayType2(*mut c_void, u64) -> *mut c_void;
    LLVMVectorType(*mut c_void, c_uint) -> *mut c_void;
    LLVMCountParamTypes(*mut c_void) -> c_uint;
    LLVMGetParamTypes(*mut c_void, *mut *mut c_void) -> ();
    LLVMIsFunctionVarArg(*mut c_void) -> c_int;
    LLVMGetStructName(*mut c_void) -> *const c_char;
    LLVMStructTypeInContext(*mut c_void, *mut *mut c_void, c_uint, c_int) -> *mut c_void;
    LLVMStructCreateNamed(*mut c_void, *const c_char) -> *mut c_void;
    LLVMStructSetBody(*mut c_void, *mut *mut c_void, c_uint, c_int) -> ();
    LLVMAddGlobal(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMSetGlobalConstant(*mut c_void, c_int) -> ();
    LLVMSetVisibility(*mut c_void, c_int) -> ();
    LLVMGetVisibility(*mut c_void) -> c_int;
    LLVMSetUnnamedAddress(*mut c_void, c_int) -> ();
    LLVMGetUnnamedAddress(*mut c_void) -> c_int;
    LLVMGetSection(*mut c_void) -> *const c_char;
    LLVMSetSection(*mut c_void, *const c_char) -> ();
    LLVMSetSubprogram(*mut c_void, *mut c_void) -> ();
    LLVMIsStringAttribute(*mut c_void) -> c_int;
    LLVMInstructionEraseFromParent(*mut c_void) -> ();
    LLVMGetUndef(*mut c_void) -> *mut c_void;
    LLVMConstArray2(*mut c_void, *mut *mut c_void, u64) -> *mut c_void;
    LLVMConstStructInContext(*mut c_void, *mut *mut c_void, c_uint, c_int) -> *mut c_void;
    LLVMConstNamedStruct(*mut c_void, *mut *mut c_void, c_uint) -> *mut c_void;
    LLVMConstPtrToInt(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMConstIntToPtr(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMGEPGetNoWrapFlags(*mut c_void) -> c_uint;
    LLVMConstGEPWithNoWrapFlags(*mut c_void, *mut c_void, *mut *mut c_void, c_uint, c_uint) -> *mut c_void;
    LLVMBuildArrayAlloca(*mut c_void, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMSetVolatile(*mut c_void, c_int) -> ();
    LLVMBuildGEPWithNoWrapFlags(*mut c_void, *mut c_void, *mut c_void, *mut *mut c_void, c_uint, *const c_char, c_uint) -> *mut c_void;
    LLVMBuildFreeze(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMBuildExtractValue(*mut c_void, *mut c_void, c_uint, *const c_char) -> *mut c_void;
    LLVMCreateStringAttribute(*mut c_void, *const c_char, c_uint, *const c_char, c_uint) -> *mut c_void;
    LLVMGetEnumAttributeKind(*mut c_void) -> c_uint;
    LLVMAppendBasicBlockInContext(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMConstStringInContext2(*mut c_void, *const c_char, usize, c_int) -> *mut c_void;
    LLVMDoubleTypeInContext(*mut c_void) -> *mut c_void;
    LLVMConstReal(*mut c_void, f64) -> *mut c_void;
    LLVMBuildUnreachable(*mut c_void) -> *mut c_void;
    LLVMBuildRet(*mut c_void, *mut c_void) -> *mut c_void;
    LLVMTargetMachineEmitToFile(*mut c_void, *mut c_void, *const c_char, c_int, *mut *mut c_char) -> c_int;
    LLVMGetPoison(*mut c_void) -> *mut c_void;
    LLVMConstNull(*mut c_void) -> *mut c_void;
    LLVMBuildICmp(*mut c_void, c_int, *mut c_void, *mut c_void, *const c_char) -> *mut c_void;
    LLVMSetAlignment(*mut c_void, c_uint) -> ();
    LLVMBuildInsertValue(*mut c_void, *mut c_void, *mut c_void, c_uint, *const c_char) -> *mut c_void;
    LLVMGetNamedFunction(*mut c_void, *const c_char) -> *mut c_void;
    LLVMGetNamedMetadataNumOperands(*mut c_void, *const c_char) -> c_uint;
    LLVMGetNamedMetadataOperands(*mut c_void, *const c_char, *mut *mut c_void) -> ();
    LLVMIsDeclaration(*mut c_void) -> c_int;
    LLVMSetNUW(*mut c_void, c_int) -> ();
    LLVMSetNSW(*mut c_void, c_int) -> ();
    LLVMSetNNeg(*mut c_void, c_int) -> ();
    LLVMBuildSwitch(*mut c_void, *mut c_void, *mut c_void, c_uint) -> *mut c_void;
    LLVMAddCase(*mut c_void, *mut c_void, *mut c_void) -> ();
    LLVMGetInlineAsm(*mut c_void, *const c_char, usize, *const c_char, usize, c_int, c_int, c_int, c_int) -> *mut c_void;
    LLVMLinkModules2(*mut c_void, *mut c_void) -> c_int;
    LLVMWriteBitcodeToFile(*mut c_void, *const c_char) -> c_int;
}

/// The libLLVM of this process: loaded once, never unloaded.
pub(super) struct Loaded {
    functions: Functions,
    /// The functions of the library that register the targets of native kernels. Some libraries lack a target.
    target_initializers: Vec<unsafe extern "C" fn()>,
    /// Keeps the library loaded.
    _library: Library,
}

/// A hidden option of LLVM that keeps LLVM's parser from upgrading debug information of older versions. For an upgrade, the parser would verify
/// the module, and end the process if the module is broken. `Module::read` verifies each module itself, and returns an error.
const KEEP_DEBUG_INFO: &CStr = c"-disable-auto-upgrade-debug-info";

const TARGET_INITIALIZERS: [&str; 10] = [
    "LLVMInitializeX86TargetInfo",
    "LLVMInitializeX86Target",
    "LLVMInitializeX86TargetMC",
    "LLVMInitializeX86AsmPrinter",
    "LLVMInitializeX86AsmParser",
    "LLVMInitializeAArch64TargetInfo",
    "LLVMInitializeAArch64Target",
    "LLVMInitializeAArch64TargetMC",
    "LLVMInitializeAArch64AsmPrinter",
    "LLVMInitializeAArch64AsmParser",
];

static LOADED: OnceLock<Loaded> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The LLVM of this process.
#[derive(Clone, Copy)]
pub struct Llvm {
    pub(super) functions: &'static Functions,
}

impl Llvm {
    /// Loads libLLVM in a child process. The arguments are the first three arguments of the child (`Clang::child`): the compiler, `opt`, their
    /// version.
    pub fn of_child([compiler, opt, major]: [&OsString; 3]) -> Result<Self, String> {
        let major = major.to_str().and_then(|major| major.parse().ok());
        let major = major.ok_or("this command is internal to revamp-kernelc; do not call it directly")?;
        Self::load([Path::new(compiler), Path::new(opt)], major)
    }

    /// Loads the libLLVM of a compiler with the major version `major`. The two paths are programs of the same LLVM, the compiler first.
    pub fn load(llvm_programs: [&Path; 2], major: u32) -> Result<Self, String> {
        let one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if LOADED.get().is_none() {
            let loaded = loaded(llvm_programs, major)?;
            let f = &loaded.functions;
            let options = [c"kernelc".as_ptr(), KEEP_DEBUG_INFO.as_ptr()];
            // SAFETY: the functions write LLVM's list of targets and LLVM's options, which no other code uses before the library is in
            // `LOADED`. The options are two strings.
            unsafe {
                (f.LLVMParseCommandLineOptions)(2, options.as_ptr(), c"".as_ptr());
                (f.LLVMInitializeSPIRVTargetInfo)();
                (f.LLVMInitializeSPIRVTarget)();
                (f.LLVMInitializeSPIRVTargetMC)();
                loaded.target_initializers.iter().for_each(|register| register());
            }
            let _ = LOADED.set(loaded);
        }
        drop(one_at_a_time);
        Self::current().ok_or_else(|| "libLLVM is not loaded".into())
    }

    /// The loaded LLVM, if any.
    pub(super) fn current() -> Option<Self> {
        LOADED.get().map(|loaded| Self { functions: &loaded.functions })
    }
}

/// Candidates for libLLVM: files in the installation folders of the programs, then names for the system's loader.
fn candidates(programs: [&Path; 2], major: u32) -> Vec<PathBuf> {
    let (folder, names, general) = if cfg!(windows) {
        ("bin", vec!["LLVM-C.dll".into()], None)
    } else if cfg!(target_os = "macos") {
        ("lib", vec![format!("libLLVM-{major}.dylib")], Some("libLLVM.dylib"))
    } else {
        ("lib", vec![format!("libLLVM.so.{major}.1"), format!("libLLVM-{major}.so")], Some("libLLVM.so"))
    };
    let home = |program: &Path| Some(program.canonicalize().ok()?.parent()?.parent()?.join(folder));
    let all: Vec<&str> = names.iter().map(String::as_str).chain(general).collect();
    let in_folder = |home: PathBuf| all.iter().map(move |name| home.join(name)).collect::<Vec<_>>();
    let files = programs.into_iter().filter_map(home).flat_map(in_folder).filter(|file| file.is_file());
    files.chain(names.iter().map(PathBuf::from)).collect()
}

pub(super) fn loaded(llvm_programs: [&Path; 2], major: u32) -> Result<Loaded, String> {
    let mut reasons = Vec::new();
    let compiler = llvm_programs[0].display();
    for path in candidates(llvm_programs, major) {
        // SAFETY: by its name, the file is a libLLVM, whose initialisers have no preconditions.
        let library = match unsafe { Library::new(&path) } {
            Ok(library) => library,
            Err(why) => {
                reasons.push(why.to_string());
                continue;
            }
        };
        let unusable = |why: String| format!("{} cannot be used: {why}", path.display());
        let version = version(&library).map_err(unusable)?;
        if version != major {
            return Err(format!(
                "{} is LLVM {version}, but {} is Clang {major}; both must have the same version",
                path.display(),
                compiler
            ));
        }
        // SAFETY: it is a libLLVM of the right version. Its functions stay valid, because `Loaded` keeps the library.
        let functions = unsafe { Functions::of(&library) }.map_err(unusable)?;
        let target_initializers = TARGET_INITIALIZERS.iter().filter_map(|name| {
            // SAFETY: these functions have no arguments and no result. They stay valid, because `Loaded` keeps the library.
            unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.ok().map(|function| *function)
        });
        return Ok(Loaded { functions, target_initializers: target_initializers.collect(), _library: library });
    }
    Err(format!(
        "libLLVM of LLVM {major}, which compiles kernels, was not found for {} ({}); install it (Debian and Ubuntu: \
         apt-get install libllvm{major})",
        compiler,
        reasons.join("; ")
    ))
}

/// The major version of a libLLVM.
fn version(library: &Library) -> Result<u32, String> {
    let mut numbers: [c_uint; 3] = [0; 3];
    let [major, minor, patch] = &mut numbers;
    // SAFETY: `LLVMGetVersion` has had this signature since it exists (LLVM 16). It writes three numbers.
    unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint)>(b"LLVMGetVersion");
        get.map_err(|_| "the library is older than LLVM 16")?(major, minor, patch);
    }
    Ok(numbers[0])
}
