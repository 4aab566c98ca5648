//! `-famp-report`: what became of each kernel, as remarks at lines of the program.
//!
//! Each remark says what a finished pass or an analysis of its result knows. This room has the form of remarks and those that come from LLVM:
//! `loops` says how often LLVM unrolled the loops of kernels for devices. `lower::remarks` has those about the code that becomes SPIR-V.

mod keys;
mod loops;
mod remark;
mod threads;

pub use loops::{Way, unrolled};
pub use remark::{Remark, counted, is_library, place_of, printed, users};
pub use threads::Threads;
