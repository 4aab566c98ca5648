//! The host: its memory, its threads, and calls of the operating system. Independent of devices.

mod board;
pub mod heap;
pub mod memory;
pub mod pool;
pub mod processor;
pub mod spin;
mod stream;
pub mod strided;
mod sync;
pub mod system;
pub mod threads;
pub mod workers;

pub use memory::{HostBlock, HostSpan};
pub use workers::Workers;
