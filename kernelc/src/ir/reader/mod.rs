//! Reads LLVM IR in its textual form, as LLVM 22 prints it, in one pass over the tokens.
//!
//! A survey of the lines comes first and gives every global, function and named type its place, for all of them may be
//! used before they are defined. A definition has to begin a line, as LLVM prints it. No input makes the reader panic,
//! nest deeply or take more than a fixed multiple of the size of the text.

mod constants;
mod cursor;
mod functions;
mod instructions;
mod keywords;
mod metadata;
mod top_level;
mod types;

pub use cursor::ReadError;
pub use top_level::read;
