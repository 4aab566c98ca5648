//! Entry points of the child processes. The compiler starts its own executable, and the first argument names the child's task.

use crate::native::{by_threads, process};
use crate::{kernel_process, parts, refuse};
use std::ffi::OsString;

/// If the program's arguments are those of a child process, does the child's task and returns the exit code.
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
