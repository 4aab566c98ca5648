//! Which tile barriers must order memory of the device, and not the tile's alone.
//!
//! A barrier orders what the threads of a tile do to each other's memory. Of memory of the device it must do so only where one
//! thread may write before it what another one touches after it, or read before it what another one writes after it (unless what
//! was read has been stored in tile memory before: then it cannot be what is written later). On GPUs that part costs: all writes of a thread must have arrived where the others look.

use super::addresses::constant_address;
use super::capture_uses::Origin;
use super::pointer_sets::{PointerClass, element_of, is_pointer, is_printed};
use super::pointers::{MemorySpace, PointerAnalysis};
use crate::analysis::cfg::ControlFlowGraph;
use crate::device_abi::DeviceFunction;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Operand, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// When a barrier must order memory of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Never,
    /// If what the kernel writes may be the memory of another capture; the launch knows.
    IfShared,
    Always,
}

/// What some instructions do to memory of the device.
#[derive(Clone, Default)]
struct Touched {
    reads: BTreeSet<Origin>,
    writes: BTreeSet<Origin>,
    /// Of the reads those that may still be under way: the thread has not stored in tile memory what it read.
    open: BTreeSet<Origin>,
    /// They may learn what other tiles have written: by atomic operations or fences.
    learns: bool,
}

impl Touched {
    fn add(&mut self, other: &Touched) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.open.extend(&other.open);
        self.learns |= other.learns;
    }
}

/// More work than this for one kernel, blocks times barriers, is not done: its barriers order everything.
const MOST_WORK: usize = 1 << 22;

/// For each barrier, by its block and its place there.
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
    if barriers.is_empty() || barriers.len() * function.blocks.len() > MOST_WORK {
        return HashMap::new();
    }
    let looking = Looking { module, function, pointers };
    let blocks: Vec<Touched> = function.blocks.iter().map(|block| looking.all(&block.instructions)).collect();
    let graph = ControlFlowGraph::of(&function.blocks);
    let mut kernel = Touched::default();
    graph.order.iter().for_each(|&block| kernel.add(&blocks[block]));
    let order = |&(b, n): &(usize, usize)| {
        let instructions = &function.blocks[b].instructions;
        let mut before = looking.all(&instructions[..n]);
        let mut after = looking.all(&instructions[n + 1..]);
        reached(&graph.predecessors, b).into_iter().for_each(|block| before.add(&blocks[block]));
        reached(&graph.successors, b).into_iter().for_each(|block| after.add(&blocks[block]));
        if before.learns {
            // What other tiles have written is passed on to the threads of this one.
            before.writes.extend(&kernel.writes);
        }
        ((b, n), order(&before, &after))
    };
    barriers.iter().map(order).collect()
}

/// The blocks that are reached from one, it alone only if it is in a loop.
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

fn order(before: &Touched, after: &Touched) -> Order {
    let mut found = Order::Never;
    let mut both = |one: &BTreeSet<Origin>, other: &BTreeSet<Origin>| {
        for a in one {
            for b in other {
                let order = if a == b || *a == Origin::Unknown || *b == Origin::Unknown {
                    Order::Always
                } else {
                    Order::IfShared
                };
                found = found.max(order);
            }
        }
    };
    both(&before.writes, &after.reads);
    both(&before.writes, &after.writes);
    both(&before.open, &after.writes);
    found
}

struct Looking<'a> {
    module: &'a Module,
    function: &'a Function,
    pointers: &'a PointerAnalysis,
}

impl Looking<'_> {
    fn all(&self, instructions: &[Instruction]) -> Touched {
        let mut touched = Touched::default();
        let settled = self.settled(instructions);
        for Instruction { op, result, .. } in instructions {
            match op {
                Op::Load { pointer, atomic: false, .. } if result.is_some_and(|r| settled.contains(&r)) => {
                    let mut read = Touched::default();
                    self.mark(&mut read, pointer, true, false);
                    touched.reads.extend(&read.reads);
                }
                Op::Load { pointer, atomic, .. } => self.mark(&mut touched, pointer, true, *atomic),
                Op::Store { pointer, atomic, .. } => self.mark(&mut touched, pointer, *atomic, true),
                Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => {
                    // Memory of a tile tells nothing of others.
                    touched.learns |= !self.is_tile(pointer);
                    self.mark(&mut touched, pointer, true, true);
                }
                Op::Fence => touched.learns = true,
                Op::Call { .. } if is_printed(self.module, op) || element_of(self.module, op).is_some() => {}
                Op::Call { arguments, .. } => {
                    touched.learns |= DeviceFunction::called(self.module, op) == Some(DeviceFunction::MemoryFence);
                    for (n, argument) in arguments.iter().enumerate().filter(|(_, a)| is_pointer(&a.ty)) {
                        // memcpy and the like: the first is written, the second read.
                        self.mark(&mut touched, argument, n > 0, n == 0);
                    }
                }
                _ => {}
            }
        }
        touched
    }

    /// What of the values that instructions in a row make, others of them store in tile memory, as it is or computed with.
    fn settled(&self, instructions: &[Instruction]) -> HashSet<LocalId> {
        let mut settled = HashSet::new();
        for Instruction { op, result, .. } in instructions.iter().rev() {
            let used = match op {
                Op::Store { value, pointer, .. } if self.is_tile(pointer) => vec![&value.value],
                Op::Binary { .. } | Op::FNeg { .. } | Op::Cast { .. }
                    if result.is_some_and(|r| settled.contains(&r)) =>
                {
                    op.operands()
                }
                _ => continue,
            };
            settled.extend(used.iter().filter_map(|value| match value {
                Value::Local(local) => Some(*local),
                Value::Constant(_) => None,
            }));
        }
        settled
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

    fn mark(&self, touched: &mut Touched, pointer: &Operand, reads: bool, writes: bool) {
        let Value::Local(local) = pointer.value else { return };
        if self.pointers.class_of(local) != PointerClass::Device {
            return;
        }
        let all = self.pointers.origins_of(local);
        if all.is_empty() && local.0 >= self.function.parameters.len() {
            touched.reads.insert(Origin::Unknown);
            touched.open.insert(Origin::Unknown);
            touched.writes.insert(Origin::Unknown);
        }
        // The argument block and the headers of arrays in it are not written while a kernel runs.
        let changes = |origin: &&Origin| match **origin {
            Origin::Block => false,
            Origin::Capture(offset, 0) => !self.pointers.uses.contains_key(&(offset, 1)),
            _ => true,
        };
        for origin in all.iter().filter(changes) {
            if reads {
                touched.reads.insert(*origin);
                touched.open.insert(*origin);
            }
            if writes {
                touched.writes.insert(*origin);
            }
        }
    }
}
