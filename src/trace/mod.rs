//! What the library reports about itself: the log, and the transfers.

pub mod delivery;
pub mod log;
pub mod transfers;

use std::sync::atomic as sync;
