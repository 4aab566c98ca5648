//! Sets of pointers that flow together, for the analysis of pointers.

use super::addresses::constant_address;
use crate::device_abi::DeviceFunction;
use crate::ir::{Function, Module, Op, Operand, Type, Value};

/// What the pointers of a set point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointerClass {
    /// To memory of the device, or nowhere.
    Device,
    /// Into a group.
    Group(usize),
}

/// Union-find over pointers: what flows together is one set.
pub(super) struct UnionFind {
    parent: Vec<usize>,
}

impl UnionFind {
    /// Each of so many pointers in a set of its own.
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

/// The node of a value in [`UnionFind`]: locals come first, then globals.
pub(super) fn node(function: &Function, value: &Value) -> Option<usize> {
    match value {
        Value::Local(id) => Some(id.0),
        Value::Constant(constant) => constant_address(constant).map(|(id, _)| function.locals.len() + id.0),
    }
}

/// True for a call of a function that prints.
pub(super) fn is_printed(module: &Module, op: &Op) -> bool {
    matches!(DeviceFunction::called(module, op), Some(DeviceFunction::Print(_)))
}

/// The pointer of a call that names an element.
pub(super) fn element_of<'m>(module: &Module, op: &'m Op) -> Option<&'m Operand> {
    match op {
        Op::Call { arguments, .. } if DeviceFunction::called(module, op) == Some(DeviceFunction::Element) => {
            arguments.first()
        }
        _ => None,
    }
}
