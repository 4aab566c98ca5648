//! Analyses of functions of `ir`: control flow, dominators, loops. Each is valid for the copy that it was made of.

pub mod cfg;
pub mod flow;
pub mod loops;
