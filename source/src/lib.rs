//! Reads the text of C++ sources for the kernel compiler and `revamp-port`: [`tokens`] and their [`brackets`], and the conversions in wide
//! format strings that MSVC reads differently ([`wide_formats`]).

#![forbid(unsafe_code)]

pub mod brackets;
pub mod tokens;
pub mod wide_formats;
