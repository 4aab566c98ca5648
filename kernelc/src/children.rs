//! The child processes that are this program itself, told apart by the first argument.

use crate::{kernel_process, refuse};
use std::ffi::OsString;

/// Does the work of a child process, if the arguments of the program are those of one: its exit code.
pub fn run(arguments: &[OsString]) -> Option<i32> {
    let (first, rest) = arguments.split_first()?;
    match first.to_str()? {
        refuse::CHILD => Some(refuse::child(rest)),
        kernel_process::CHILD => Some(kernel_process::child(rest)),
        _ => None,
    }
}
