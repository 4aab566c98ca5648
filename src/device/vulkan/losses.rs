//! Error messages for lost commands.

use crate::error::Error;
use std::sync::Arc;

/// The names of a batch's commands. Each entry has the first sequence number to which it applies, and the kernel of a launch (`None`
/// for a copy).
pub(super) type Names = Vec<(u64, Option<Arc<str>>)>;

/// The error for the command `sequence` of a lost batch.
pub(super) fn lost_command(names: &Names, sequence: u64, reason: &Error) -> Error {
    let at = names.partition_point(|(first, _)| *first <= sequence);
    let what = match at.checked_sub(1).map(|at| names[at].1.as_ref()) {
        Some(Some(kernel)) => format!("a launch of kernel {kernel}"),
        Some(None) => "a copy".to_owned(),
        None => "work".to_owned(),
    };
    reason.clone().context(format_args!("the results of {what} are lost"))
}
