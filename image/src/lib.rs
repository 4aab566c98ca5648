//! The formats that the kernel compiler writes and the library reads, each with its encoder and its decoder.
//!
//! - The image of compiled kernels, which an object file carries: [`encode`], [`decode`].
//! - [`arguments`]: where kernels find their arguments.
//! - [`printf`]: the text that kernels print.
//! - [`table`]: what kernels that check bounds find behind their arguments, and where they report.
//!
//! A program may have been built by an older compiler than the library it runs with, and what is decoded may be damaged. So
//! the formats do not change within a version, and decoders trust nothing.

#![forbid(unsafe_code)]

pub mod arguments;
mod kernels;
pub mod printf;
pub mod table;

pub use kernels::{
    ANY_OFFSET, Capture, Checks, DecodeError, HEADER_BYTES, IMAGE_SET, ImageUse, Kernel, MAGIC, OF_DEVICE, OfDevice,
    SHARED_CAPTURES, SamplerUse, WithImages, bare_name, decode, decode_size, encode,
};
