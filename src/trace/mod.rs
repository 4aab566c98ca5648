//! What the library tells about itself. Today the log; counters and the transfer log join it with array_view.

pub mod log;
