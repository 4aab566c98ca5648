//! The text of C++ sources, as the kernel compiler and `revamp-port` both read it: [`tokens`] and their [`brackets`], and the formats of wide text whose
//! meaning differs from MSVC's ([`wide_formats`]).

#![forbid(unsafe_code)]

pub mod brackets;
pub mod tokens;
pub mod wide_formats;
