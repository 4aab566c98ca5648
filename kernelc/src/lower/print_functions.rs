//! The functions that print, which are called rather than inlined.

use revamp_image::printf::Function;

/// Which of them a function of this name is.
pub(super) fn print_function(name: &str) -> Option<Function> {
    // Templates, whose names go on with the types of the arguments.
    if name.starts_with("_Z15__revamp_printfI") {
        Some(Function::Printf)
    } else if name.starts_with("_Z15__revamp_errorfI") {
        Some(Function::Errorf)
    } else {
        None
    }
}
