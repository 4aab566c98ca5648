//! Analyses of functions of `ir`: control flow, dominators, loops, locks. A change of a function makes the function's analyses invalid.

pub mod cfg;
pub mod flow;
pub mod locks;
pub mod loops;
