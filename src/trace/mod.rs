//! What the library tells about itself: the log, and what was moved.

pub mod log;
pub mod transfers;
