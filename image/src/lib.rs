//! The formats that the kernel compiler writes and the library reads, each with its encoder and its decoder.
//!
//! - The image of compiled kernels, which an object file carries: [`encode`], [`decode`].
//! - [`arguments`]: where kernels find their arguments.
//! - [`printf`]: the text that kernels print.
//! - [`table`]: the table after the arguments of kernels that check bounds, and the report that these kernels write.
//!
//! The compiler that built a program may be older than the library. Therefore the formats do not change within a version. The
//! bytes to decode may be damaged. Therefore decoders check every value.

#![forbid(unsafe_code)]

pub mod arguments;
mod kernels;
mod packed;
pub mod printf;
pub mod table;

pub use kernels::{
    ANY_OFFSET, Capture, Checks, DEVICE_PROPERTIES, DecodeError, DeviceProperty, HEADER_BYTES, IMAGE_SET, ImageUse,
    Kernel, MAGIC, SHARED_CAPTURES, SamplerUse, WithImages, bare_name, decode, decode_size, encode,
};
pub use packed::{pack, unpack};
