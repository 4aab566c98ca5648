//! Maps the numbers of a function's values in `ir` to LLVM's values, and back.

use crate::ir::LocalId;
use crate::llvm::number::ty as t;
use crate::llvm::{Type, Value};
use std::collections::HashMap;

pub struct Handles<'m> {
    pub locals: Vec<Value<'m>>,
    /// The instructions of each block.
    pub blocks: Vec<Vec<Value<'m>>>,
    pub ids: HashMap<Value<'m>, LocalId>,
}

impl<'m> Handles<'m> {
    pub fn of(function: Value<'m>) -> Self {
        let blocks: Vec<Vec<Value<'m>>> = function.blocks().map(|block| block.instructions().collect()).collect();
        let parameters = (0..function.count_parameters()).filter_map(|n| function.parameter(n));
        let results = blocks.iter().flatten().copied().filter(|one| one.ty().map(Type::kind) != Some(t::VOID));
        let locals: Vec<Value<'m>> = parameters.chain(results).collect();
        let ids = locals.iter().enumerate().map(|(n, value)| (*value, LocalId(n))).collect();
        Self { locals, blocks, ids }
    }
}
