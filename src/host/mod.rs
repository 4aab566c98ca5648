//! The host itself: its memory, its threads, and what only its operating system knows. Devices are not known here.

pub mod memory;
pub mod pool;
pub mod processor;
mod stream;
pub mod strided;
pub mod system;
pub mod threads;
pub mod workers;

pub use memory::{HostBlock, HostSpan};
pub use workers::Workers;
