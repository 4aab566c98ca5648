//! The error type of the crate: the class of C++ AMP exception, the HRESULT and the text.
//!
//! Kinds follow the exception classes in docs/spec/errors.md. The text says what was requested, what the limit is, and
//! what the user can do.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// `E_INVALIDARG`.
pub const E_INVALIDARG: i32 = 0x8007_0057_u32 as i32;
/// `E_FAIL`.
pub const E_FAIL: i32 = 0x8000_4005_u32 as i32;
/// `E_OUTOFMEMORY`.
pub const E_OUTOFMEMORY: i32 = 0x8007_000E_u32 as i32;
/// `E_HANDLE`.
pub const E_HANDLE: i32 = 0x8007_0006_u32 as i32;
/// `E_UNEXPECTED`.
pub const E_UNEXPECTED: i32 = 0x8000_FFFF_u32 as i32;
/// `E_NOTIMPL`.
pub const E_NOTIMPL: i32 = 0x8000_4001_u32 as i32;
/// `DXGI_ERROR_DEVICE_REMOVED`.
pub const DEVICE_REMOVED: i32 = 0x887A_0005_u32 as i32;
/// `DXGI_ERROR_DEVICE_HUNG`.
pub const DEVICE_HUNG: i32 = 0x887A_0006_u32 as i32;

/// The class of an [`Error`]; each has one status code in the C API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// `runtime_exception`: the call cannot be done as requested.
    Runtime,
    /// `runtime_exception` with `E_INVALIDARG`: an argument has a value that is not allowed.
    InvalidArgument,
    /// A null, freed, foreign or wrong-type handle.
    InvalidHandle,
    /// `invalid_compute_domain`.
    InvalidComputeDomain,
    /// `out_of_memory`.
    OutOfMemory,
    /// `uninitialized_object`.
    UninitializedObject,
    /// `unsupported_feature`.
    UnsupportedFeature,
    /// `accelerator_view_removed`: the device was lost, and the view stays unusable.
    AcceleratorViewRemoved,
    /// A message of the Vulkan validation layer while `REVAMP_VALIDATION=2` is set.
    Validation,
    /// The process is exiting: the library has drained its work.
    ShutDown,
    /// The process was forked after the library was used.
    Forked,
    /// A defect in revamp itself (a caught panic).
    Internal,
}

impl ErrorKind {
    /// All classes.
    pub const ALL: [Self; 12] = [
        Self::Runtime,
        Self::InvalidArgument,
        Self::InvalidHandle,
        Self::InvalidComputeDomain,
        Self::OutOfMemory,
        Self::UninitializedObject,
        Self::UnsupportedFeature,
        Self::AcceleratorViewRemoved,
        Self::Validation,
        Self::ShutDown,
        Self::Forked,
        Self::Internal,
    ];
}

/// An error with its class, HRESULT and text.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The class.
    pub kind: ErrorKind,
    /// The HRESULT that C++ code sees.
    pub hresult: i32,
    /// The text.
    pub message: Cow<'static, str>,
    /// The action after which the runtime retries the operation instead of reporting the error: a [`crate::device::hazard::Detour`].
    pub detour: Option<Arc<dyn Any + Send + Sync>>,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind` with the HRESULT of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let hresult = match kind {
            ErrorKind::InvalidArgument => E_INVALIDARG,
            ErrorKind::InvalidHandle => E_HANDLE,
            ErrorKind::OutOfMemory => E_OUTOFMEMORY,
            ErrorKind::UnsupportedFeature => E_NOTIMPL,
            ErrorKind::AcceleratorViewRemoved => DEVICE_REMOVED,
            ErrorKind::Internal => E_UNEXPECTED,
            _ => E_FAIL,
        };
        Self { kind, hresult, message: message.into(), detour: None }
    }
    /// `runtime_exception`.
    pub fn runtime(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Runtime, message)
    }
    /// `runtime_exception` with `E_INVALIDARG`.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }
    /// `invalid_compute_domain`.
    pub fn domain(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidComputeDomain, message)
    }
    /// `unsupported_feature`.
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::UnsupportedFeature, message)
    }
    /// `out_of_memory`.
    pub fn out_of_memory(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::OutOfMemory, message)
    }
    /// `accelerator_view_removed`.
    pub fn removed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::AcceleratorViewRemoved, message)
    }
    /// A defect of revamp.
    #[cold]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self::new(
            ErrorKind::Internal,
            format!("internal error: {message}; please report it with the log of REVAMP_LOG=debug"),
        )
    }
    /// The same error with `context` before its text.
    #[must_use]
    pub fn context(self, context: impl std::fmt::Display) -> Self {
        Self { message: format!("{context}: {}", self.message).into(), ..self }
    }
}
