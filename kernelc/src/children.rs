//! Dispatches the child processes in which this program runs itself. The first argument names the work.

use crate::native::{by_threads, process};
use crate::{kernel_process, parts, refuse};
use std::ffi::OsString;

/// Does the work of a child process, if the arguments of the program are those of one: its exit code.
pub fn run(arguments: &[OsString]) -> Option<i32> {
    let (first, rest) = arguments.split_first()?;
    match first.to_str()? {
        refuse::CHILD => Some(refuse::child(rest)),
        kernel_process::CHILD => Some(kernel_process::child(rest)),
        process::CHILD => Some(process::child(rest)),
        by_threads::CHILD => Some(by_threads::child(rest)),
        parts::CHILD => Some(parts::child(rest)),
        process::CODE => Some(process::code_child(rest)),
        _ => None,
    }
}
