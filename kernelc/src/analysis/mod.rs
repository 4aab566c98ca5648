//! Analyses of functions of `ir`: control flow, dominators, loops, locks, effects on memory. A change of a function makes the function's analyses invalid.

pub mod cfg;
pub mod effects;
pub mod flow;
pub mod locks;
pub mod loops;
