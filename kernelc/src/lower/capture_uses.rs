//! Finds out how a kernel uses each pointer in its argument block: whether it reads and writes memory through the pointer.

use super::addresses::{Steps, steps};
use super::pointer_sets::{PointerClass, UnionFind, element_of, is_pointer, is_print_call, node};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::device_abi::DeviceFunction;
use crate::ir::{CastOp, Function, Instruction, LocalId, Module, Op, Operand, Type, Value};
use revamp_image::ANY_OFFSET;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How the kernel uses a pointer that lies in its argument block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CaptureUse {
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// False if the kernel reads the memory only as an image.
    pub(super) by_address: bool,
    /// The maximum number of bytes that one thread accesses.
    pub(super) thread_bytes: ThreadBytes,
}

/// The maximum number of bytes that one thread accesses through a pointer; `None` if a loop accesses memory through it, or
/// if the size of an access is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadBytes(pub(super) Option<u64>);

impl Default for ThreadBytes {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl ThreadBytes {
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.0 = self.0.zip(bytes).and_then(|(sum, bytes)| sum.checked_add(bytes));
    }

    /// The number as kernel images have it: 0 if it is unknown or too large.
    pub(super) fn encoded(self) -> u16 {
        self.0.and_then(|bytes| u16::try_from(bytes).ok()).unwrap_or(0)
    }
}

/// The origin of the addresses in a set of pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The addresses lie in the argument block.
    Block,
    /// The addresses were loaded from the argument block at an offset (depth 0), or through the pointer at that offset (depth 1).
    Capture(u32, u32),
    Unknown,
}

/// Returns the uses of the pointers in the argument block, by the offset (or [`ANY_OFFSET`]) of the pointer and by
/// depth. Depth 0: the memory at the pointer, such as the elements of a view. Depth 1: the memory at a second pointer,
/// which is loaded through the first, such as the elements of an array that is captured by reference.
pub(super) fn capture_uses(
    module: &Module,
    function: &Function,
    nodes: &mut UnionFind,
    class: &[PointerClass],
    origins: &HashMap<usize, BTreeSet<Origin>>,
) -> BTreeMap<(u32, u32), CaptureUse> {
    let mut uses: BTreeMap<(u32, u32), CaptureUse> = BTreeMap::new();
    let mut mark = |pointer: &Operand, reads: bool, writes: bool, by_address: bool, bytes: Option<u64>| {
        let Some(n) = node(function, &pointer.value).filter(|&n| class[n] == PointerClass::Device) else { return };
        for origin in origins.get(&nodes.find(n)).into_iter().flatten() {
            let at = match *origin {
                Origin::Block => continue,
                Origin::Capture(offset, depth) => (offset, depth),
                Origin::Unknown => (ANY_OFFSET, 0),
            };
            let one = uses.entry(at).or_default();
            one.reads |= reads;
            one.writes |= writes;
            one.by_address |= by_address;
            one.thread_bytes.add(bytes);
        }
    };
    let loops = natural_loops(&ControlFlowGraph::of(&function.blocks));
    for (op, is_in_loop) in function.blocks.iter().enumerate().flat_map(|(n, block)| {
        let is_in_loop = loops.iter().any(|one| one.blocks.contains(&n));
        block.instructions.iter().map(move |one| (&one.op, is_in_loop))
    }) {
        let bytes = |ty: &Type| ty.size().filter(|_| !is_in_loop);
        match op {
            Op::Load { ty, pointer, .. } => mark(pointer, true, false, true, bytes(ty)),
            Op::Store { value, pointer, .. } => mark(pointer, false, true, true, bytes(&value.ty)),
            Op::AtomicRmw { pointer, value, .. } => mark(pointer, true, true, true, bytes(&value.ty)),
            Op::CmpXchg { pointer, new, .. } => mark(pointer, true, true, true, bytes(&new.ty)),
            // Printing a pointer uses its address, not its memory.
            Op::Call { .. } if is_print_call(module, op) || element_of(module, op).is_some() => {}
            Op::Call { arguments, .. }
                if DeviceFunction::called(module, op).is_some_and(DeviceFunction::reads_image) =>
            {
                if let Some(texels) = arguments.first() {
                    mark(texels, true, false, false, None);
                }
            }
            Op::Call { arguments, .. } => {
                for (n, argument) in arguments.iter().enumerate().filter(|(_, argument)| is_pointer(&argument.ty)) {
                    // memcpy and similar calls write through their first pointer and read through the second.
                    mark(argument, n > 0, n == 0, true, None);
                }
            }
            _ => {}
        }
    }
    uses
}

/// Returns two maps: the origins of each set of pointers, by the root of the set, and the constant offsets of pointers into the argument
/// block.
pub(super) fn origins(
    module: &Module,
    function: &Function,
    nodes: &mut UnionFind,
    class: &[PointerClass],
) -> (HashMap<usize, BTreeSet<Origin>>, HashMap<LocalId, i64>) {
    Tracing::new(module, function, nodes, class).run()
}

fn holds_pointer(ty: &Type) -> bool {
    match ty {
        Type::Pointer(_) => true,
        Type::Array(_, element) | Type::Vector(_, element) => holds_pointer(element),
        Type::Struct { fields, .. } => fields.iter().any(holds_pointer),
        _ => false,
    }
}

/// Finds the origins of pointers by iterating over the instructions to a fixed point.
struct Tracing<'a> {
    module: &'a Module,
    function: &'a Function,
    nodes: &'a mut UnionFind,
    class: &'a [PointerClass],
    /// The origins of each set of pointers, by the root of the set.
    origins: HashMap<usize, BTreeSet<Origin>>,
    /// The constant offsets of pointers into the argument block.
    argument_block_offset: HashMap<LocalId, i64>,
}

impl<'a> Tracing<'a> {
    fn new(module: &'a Module, function: &'a Function, nodes: &'a mut UnionFind, class: &'a [PointerClass]) -> Self {
        let mut tracing =
            Self { module, function, nodes, class, origins: HashMap::new(), argument_block_offset: HashMap::new() };
        for n in 0..function.parameters.len() {
            tracing.argument_block_offset.insert(LocalId(n), 0);
            tracing.add(n, Origin::Block);
        }
        tracing
    }

    fn run(mut self) -> (HashMap<usize, BTreeSet<Origin>>, HashMap<LocalId, i64>) {
        let mut changed = true;
        while changed {
            changed = false;
            for Instruction { result, op, .. } in self.function.instructions() {
                if let Some(result) = *result {
                    changed |= self.instruction(result, op);
                }
            }
        }
        (self.origins, self.argument_block_offset)
    }

    /// Adds an origin to the set of a pointer. Returns true if the origin is new.
    fn add(&mut self, node: usize, origin: Origin) -> bool {
        self.origins.entry(self.nodes.find(node)).or_default().insert(origin)
    }

    /// Records the origins or the offset of an instruction's result. Returns true if this adds an origin or an offset.
    fn instruction(&mut self, result: LocalId, op: &Op) -> bool {
        match op {
            Op::Gep { source, base, indices, .. } => {
                let Some(at) = self.offset(base) else { return false };
                match steps(source, indices) {
                    Some(Steps { offset, by }) if by.is_empty() => {
                        self.argument_block_offset.insert(result, at + offset).is_none()
                    }
                    _ => false,
                }
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } => {
                self.offset(value).is_some_and(|at| self.argument_block_offset.insert(result, at).is_none())
            }
            Op::Load { ty, pointer, .. } if holds_pointer(ty) => {
                let mut changed = false;
                for origin in self.loaded_through(pointer) {
                    changed |= self.add(result.0, origin);
                }
                changed
            }
            Op::Cast { op: CastOp::IntToPtr, .. } | Op::ExtractValue { .. } | Op::Call { .. }
                if element_of(self.module, op).is_none()
                    && self.class.get(result.0) == Some(&PointerClass::Device)
                    && is_pointer(&self.function.locals[result.0].ty) =>
            {
                self.add(result.0, Origin::Unknown)
            }
            _ => false,
        }
    }

    /// The offset of a pointer into the argument block, if it is a constant.
    fn offset(&self, pointer: &Operand) -> Option<i64> {
        let Value::Local(local) = pointer.value else { return None };
        self.argument_block_offset.get(&local).copied()
    }

    /// The origins of a pointer that is loaded through `pointer`.
    fn loaded_through(&mut self, pointer: &Operand) -> Vec<Origin> {
        if let Some(at) = self.offset(pointer) {
            return vec![u32::try_from(at).map_or(Origin::Unknown, |offset| Origin::Capture(offset, 0))];
        }
        let device = node(self.function, &pointer.value).filter(|&n| self.class[n] == PointerClass::Device);
        let Some(n) = device else { return vec![Origin::Unknown] };
        let through = |origin: &Origin| match origin {
            Origin::Capture(offset, 0) => Origin::Capture(*offset, 1),
            _ => Origin::Unknown,
        };
        self.origins.get(&self.nodes.find(n)).into_iter().flatten().map(through).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadBytes;

    #[test]
    fn sums_that_an_image_cannot_state_are_unknown() {
        let mut sum = ThreadBytes::default();
        sum.add(Some(0xfffe));
        sum.add(Some(1));
        assert_eq!(sum.encoded(), 0xffff);
        sum.add(Some(1));
        assert_eq!(sum.encoded(), 0);
        sum.add(None);
        sum.add(Some(4));
        assert_eq!(sum, ThreadBytes(None));
    }
}
