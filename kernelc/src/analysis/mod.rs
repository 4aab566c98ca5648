//! Analyses of functions of `ir`: control flow, dominators, loops, locks. Each is valid for the copy that it was made of.

pub mod cfg;
pub mod flow;
pub mod locks;
pub mod loops;
