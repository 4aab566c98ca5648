//! The C++ AMP model in safe Rust.

pub mod selection;
