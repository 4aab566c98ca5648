//! What the library reports about itself: the log, and the transfers.

pub mod log;
pub mod transfers;
