//! `-famp-report`: reports, as remarks at lines of the program, how each kernel was compiled.
//!
//! Each remark states the result of a finished pass, or of an analysis after it. This module has the format of remarks,
//! and the remarks that come from LLVM. `loops` reports how often LLVM unrolled the loops of device kernels. `threads`
//! reports which loops over threads LLVM vectorised in native kernels. `lower::remarks` has the remarks on the code that becomes SPIR-V.

mod keys;
mod loops;
mod remark;
mod threads;

pub use loops::{UnrollSettings, unrolled};
pub use remark::{Remark, counted, is_library, place_of, printed, program_frame};
pub use threads::Threads;
