//! Finds the tile barriers that must order device memory, and not only tile memory.
//!
//! A barrier orders memory accesses between the threads of a tile. It must order device memory only in three cases:
//!
//! - A thread writes memory before the barrier, and another thread may access this memory after the barrier.
//! - A thread reads memory before the barrier, and another thread may write this memory after the barrier. This case does not occur if the
//!   thread has already stored the value in tile memory, because the read is then complete.
//! - A thread communicates with other tiles, by atomic accesses or fences, and these tiles may access the same memory.
//!   A barrier after the communication makes the writes of other tiles visible to this tile. A barrier before it
//!   completes the accesses of this tile.
//!
//! Ordering device memory is expensive on GPUs: the barrier waits until all writes of a thread are visible to the others.

use super::addresses::constant_address;
use super::capture_uses::Origin;
use super::pointer_sets::{PointerClass, element_of, is_pointer, is_print_call};
use super::pointers::{MemorySpace, PointerAnalysis};
use crate::analysis::cfg::ControlFlowGraph;
use crate::device_abi::DeviceFunction;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Operand, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The launches in which a barrier must order device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Never,
    /// Only in launches where the kernel writes memory that another of its captures also refers to.
    IfShared,
    Always,
}

/// The accesses of some instructions to device memory.
#[derive(Clone, Default)]
struct DeviceAccesses {
    reads: BTreeSet<Origin>,
    writes: BTreeSet<Origin>,
    /// The reads that may still be in flight: the thread has not stored their values in tile memory.
    reads_in_flight: BTreeSet<Origin>,
    /// True if the instructions may exchange data with other tiles, by atomic accesses or fences.
    communicates: bool,
}

impl DeviceAccesses {
    fn add(&mut self, other: &DeviceAccesses) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.reads_in_flight.extend(&other.reads_in_flight);
        self.communicates |= other.communicates;
    }
}

/// The maximum work for one kernel, in blocks times barriers. Above it, all barriers order device memory.
const MAX_WORK: usize = 1 << 22;

/// The order of each barrier, by the block of the barrier and its index in the block.
pub(super) fn barrier_orders(
    module: &Module,
    function: &Function,
    pointers: &PointerAnalysis,
) -> HashMap<(usize, usize), Order> {
    let mut barriers = Vec::new();
    for (b, block) in function.blocks.iter().enumerate() {
        for (n, instruction) in block.instructions.iter().enumerate() {
            if DeviceFunction::called(module, &instruction.op) == Some(DeviceFunction::TileBarrier) {
                barriers.push((b, n));
            }
        }
    }
    if barriers.is_empty() || barriers.len() * function.blocks.len() > MAX_WORK {
        return HashMap::new();
    }
    let access_analysis = AccessAnalysis { module, function, pointers };
    let blocks: Vec<DeviceAccesses> =
        function.blocks.iter().map(|block| access_analysis.accesses_of(&block.instructions)).collect();
    let graph = ControlFlowGraph::of(&function.blocks);
    let mut kernel = DeviceAccesses::default();
    graph.order.iter().for_each(|&block| kernel.add(&blocks[block]));
    let order = |&(b, n): &(usize, usize)| {
        let instructions = &function.blocks[b].instructions;
        let mut before = access_analysis.accesses_of(&instructions[..n]);
        let mut after = access_analysis.accesses_of(&instructions[n + 1..]);
        reached(&graph.predecessors, b).into_iter().for_each(|block| before.add(&blocks[block]));
        reached(&graph.successors, b).into_iter().for_each(|block| after.add(&blocks[block]));
        if before.communicates {
            // The barrier also makes other tiles' writes, which one thread has observed, visible to the other threads of this tile.
            before.writes.extend(&kernel.writes);
        }
        if after.communicates {
            // The barrier also completes this tile's accesses before one thread tells other tiles about them.
            after.reads.extend(&kernel.reads);
            after.writes.extend(&kernel.writes);
        }
        ((b, n), order(&before, &after))
    };
    barriers.iter().map(order).collect()
}

/// The blocks that are reachable from `from` along `edges`. `from` itself is one of them only if it is in a loop.
fn reached(edges: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<usize> = edges[from].clone();
    while let Some(block) = stack.pop() {
        if seen.insert(block) {
            stack.extend(&edges[block]);
        }
    }
    seen
}

fn order(before: &DeviceAccesses, after: &DeviceAccesses) -> Order {
    let mut strictest = Order::Never;
    let mut order_accesses = |one: &BTreeSet<Origin>, other: &BTreeSet<Origin>| {
        for a in one {
            for b in other {
                let order = if a == b || *a == Origin::Unknown || *b == Origin::Unknown {
                    Order::Always
                } else {
                    Order::IfShared
                };
                strictest = strictest.max(order);
            }
        }
    };
    order_accesses(&before.writes, &after.reads);
    order_accesses(&before.writes, &after.writes);
    order_accesses(&before.reads_in_flight, &after.writes);
    strictest
}

struct AccessAnalysis<'a> {
    module: &'a Module,
    function: &'a Function,
    pointers: &'a PointerAnalysis,
}

impl AccessAnalysis<'_> {
    fn accesses_of(&self, instructions: &[Instruction]) -> DeviceAccesses {
        let mut accesses = DeviceAccesses::default();
        let completed_reads = self.completed_reads(instructions);
        for Instruction { op, result, .. } in instructions {
            match op {
                Op::Load { pointer, atomic: false, .. } if result.is_some_and(|r| completed_reads.contains(&r)) => {
                    let mut read = DeviceAccesses::default();
                    self.mark(&mut read, pointer, true, false);
                    accesses.reads.extend(&read.reads);
                }
                Op::Load { pointer, atomic: false, .. } => self.mark(&mut accesses, pointer, true, false),
                Op::Store { pointer, atomic: false, .. } => self.mark(&mut accesses, pointer, false, true),
                Op::Load { pointer, .. }
                | Op::Store { pointer, .. }
                | Op::AtomicRmw { pointer, .. }
                | Op::CmpXchg { pointer, .. } => {
                    // Atomic accesses to tile memory do not communicate with other tiles.
                    accesses.communicates |= !self.is_tile(pointer);
                    self.mark(&mut accesses, pointer, true, true);
                }
                Op::Fence => accesses.communicates = true,
                Op::Call { .. } if is_print_call(self.module, op) || element_of(self.module, op).is_some() => {}
                Op::Call { arguments, .. } => {
                    accesses.communicates |=
                        DeviceFunction::called(self.module, op) == Some(DeviceFunction::MemoryFence);
                    for (n, argument) in arguments.iter().enumerate().filter(|(_, a)| is_pointer(&a.ty)) {
                        // memcpy and similar calls write through their first pointer and read through the second.
                        self.mark(&mut accesses, argument, n > 0, n == 0);
                    }
                }
                _ => {}
            }
        }
        accesses
    }

    /// The values that `instructions` store in tile memory, directly or as operands of arithmetic.
    fn completed_reads(&self, instructions: &[Instruction]) -> HashSet<LocalId> {
        let mut completed_reads = HashSet::new();
        for Instruction { op, result, .. } in instructions.iter().rev() {
            let used = match op {
                Op::Store { value, pointer, .. } if self.is_tile(pointer) => vec![&value.value],
                Op::Binary { .. } | Op::FNeg { .. } | Op::Cast { .. }
                    if result.is_some_and(|r| completed_reads.contains(&r)) =>
                {
                    op.operands()
                }
                _ => continue,
            };
            completed_reads.extend(used.iter().filter_map(|value| match value {
                Value::Local(local) => Some(*local),
                Value::Constant(_) => None,
            }));
        }
        completed_reads
    }

    fn is_tile(&self, pointer: &Operand) -> bool {
        let class = match &pointer.value {
            Value::Local(local) => self.pointers.class_of(*local),
            Value::Constant(constant) => match constant_address(constant) {
                Some((global, _)) => self.pointers.class_of_global(global),
                None => return false,
            },
        };
        matches!(class, PointerClass::Group(group) if self.pointers.groups[group].space == MemorySpace::Tile)
    }

    fn mark(&self, accesses: &mut DeviceAccesses, pointer: &Operand, reads: bool, writes: bool) {
        let Value::Local(local) = pointer.value else { return };
        if self.pointers.class_of(local) != PointerClass::Device {
            return;
        }
        let all = self.pointers.origins_of(local);
        if all.is_empty() && local.0 >= self.function.parameters.len() {
            accesses.reads.insert(Origin::Unknown);
            accesses.reads_in_flight.insert(Origin::Unknown);
            accesses.writes.insert(Origin::Unknown);
        }
        // The argument block and the headers of captured arrays do not change while a kernel runs.
        let changes = |origin: &&Origin| match **origin {
            Origin::Block => false,
            Origin::Capture(offset, 0) => !self.pointers.uses.contains_key(&(offset, 1)),
            _ => true,
        };
        for origin in all.iter().filter(changes) {
            if reads {
                accesses.reads.insert(*origin);
                accesses.reads_in_flight.insert(*origin);
            }
            if writes {
                accesses.writes.insert(*origin);
            }
        }
    }
}
