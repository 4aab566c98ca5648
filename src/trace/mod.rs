//! What the library reports about its own work: the log, counters of transfers, and traces.

pub mod delivery;
mod encode;
pub mod events;
pub mod labels;
pub mod lines;
pub mod log;
pub mod names;
pub mod pace;
pub mod recorder;
pub mod transfers;

use std::sync::atomic as sync;
