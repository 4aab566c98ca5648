//! copy and copy_async.

pub mod copy;
