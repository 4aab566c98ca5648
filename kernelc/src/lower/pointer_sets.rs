//! The sets of the pointer analysis (`pointers`). Pointers that flow together (phi, select, arithmetic) are in one set.

use super::addresses::constant_address;
use crate::device_abi::DeviceFunction;
use crate::ir::{Function, Module, Op, Operand, Type, Value};

/// The memory that the pointers of a set point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointerClass {
    /// Device memory, or none (null).
    Device,
    /// The SPIR-V variable of the group with this index.
    Group(usize),
}

/// Union-find over pointers: pointers that flow together are in one set.
pub(super) struct UnionFind {
    parent: Vec<usize>,
}

impl UnionFind {
    /// Puts each of `count` pointers into a set of its own.
    pub(super) fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }
    pub(super) fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
    }
}

pub(super) fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_))
}

/// The node of a value in [`UnionFind`]: IR values (locals) come first, then global variables.
pub(super) fn node(function: &Function, value: &Value) -> Option<usize> {
    match value {
        Value::Local(id) => Some(id.0),
        Value::Constant(constant) => constant_address(constant).map(|(id, _)| function.locals.len() + id.0),
    }
}

/// True for a call of a function that prints.
pub(super) fn is_print_call(module: &Module, op: &Op) -> bool {
    matches!(DeviceFunction::called(module, op), Some(DeviceFunction::Print(_)))
}

/// The pointer argument of the call by which the headers describe an element of a view; `None` for other operations.
pub(super) fn element_of<'m>(module: &Module, op: &'m Op) -> Option<&'m Operand> {
    match op {
        Op::Call { arguments, .. } if DeviceFunction::called(module, op) == Some(DeviceFunction::Element) => {
            arguments.first()
        }
        _ => None,
    }
}
