//! Remarks of `-famp-report` on the code that becomes SPIR-V, from the analyses that the lowering uses.

mod addresses;
mod arrays;
mod kernel;
mod loads;
mod maths;
mod stores;

use super::barriers::cause;
use super::facts::Level;
use super::global_order::{Order, barrier_orders};
use super::pointers;
use super::uniformity::Uniformity;
use crate::device_abi::{DeviceFunction, GLOBAL_MEMORY};
use crate::ir::{Block, BlockId, Function, Module, Op, Operand};
use crate::report::{self, Remark, counted};
use kernel::Kernel;
use std::collections::BTreeMap;

/// A kernel in three forms.
pub struct Forms<'m> {
    /// Inlined, before any other pass of LLVM.
    pub inlined: Option<(&'m Module, &'m Function)>,
    /// Inlined, with variables as SSA values, and with the program's control flow.
    pub values: Option<(&'m Module, &'m Function)>,
    /// The code that becomes SPIR-V.
    pub last: (&'m Module, &'m Function),
}

/// The remarks on a kernel.
pub fn remarks(forms: &Forms<'_>) -> Vec<Remark> {
    let (module, function) = forms.last;
    let Ok(pointers) = pointers::analyse(module, function) else { return Vec::new() };
    let kernel = Kernel { module, function, pointers };
    let mut all = arrays::remarks(&kernel, forms.inlined);
    all.extend(stores::remarks(&kernel));
    all.extend(loads::remarks(&kernel));
    all.extend(maths::remarks(&kernel));
    all.extend(barriers(&kernel));
    all.extend(forms.values.into_iter().flat_map(|(module, function)| branches(module, function)));
    all
}

/// The size of a kernel, at the line of its lambda.
pub fn size(module: &Module, function: &Function, spirv: &[u32]) -> Option<Remark> {
    let place = report::place_of(module, function)?;
    let instructions = function.instructions().count();
    Some(Remark {
        place,
        text: format!("kernel of {}, {} bytes of SPIR-V", counted(instructions, "instruction"), spirv.len() * 4),
    })
}

/// Remarks on barriers that order device memory.
fn barriers(kernel: &Kernel<'_>) -> Vec<Remark> {
    let Kernel { module, function, pointers } = kernel;
    let orders = barrier_orders(module, function, pointers);
    let mut all = Vec::new();
    for (block, contents) in function.blocks.iter().enumerate() {
        for (at, instruction) in contents.instructions.iter().enumerate() {
            let Op::Call { arguments, .. } = &instruction.op else { continue };
            let barrier = DeviceFunction::called(module, &instruction.op) == Some(DeviceFunction::TileBarrier);
            let memory = arguments.first().and_then(Operand::unsigned).unwrap_or(0);
            if !barrier || memory & GLOBAL_MEMORY == 0 {
                continue;
            }
            let text = match orders.get(&(block, at)) {
                Some(Order::Never) => continue,
                Some(Order::IfShared) => {
                    "the barrier orders device memory in launches whose arrays or array_views overlap; \
                     wait_with_tile_static_memory_fence() never orders device memory"
                }
                Some(Order::Always) | None => {
                    "the barrier orders device memory, because different threads may access the same memory before and \
                     after the barrier; if no threads do so, wait_with_tile_static_memory_fence() is cheaper"
                }
            };
            all.extend(Remark::at(module, instruction.location, text));
        }
    }
    all
}

/// Counts of the operations in blocks that depend on one branch.
#[derive(Default)]
struct Dependent {
    loads: usize,
    stores: usize,
    barriers: usize,
}

impl Dependent {
    fn add(&mut self, module: &Module, block: &Block) {
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Load { .. } => self.loads += 1,
                Op::Store { .. } | Op::AtomicRmw { .. } | Op::CmpXchg { .. } => self.stores += 1,
                op if DeviceFunction::called(module, op) == Some(DeviceFunction::TileBarrier) => self.barriers += 1,
                _ => {}
            }
        }
    }
}

/// Remarks on branches that threads of a tile may take differently, if memory accesses or barriers depend on them. `function` has the
/// program's control flow.
fn branches(module: &Module, function: &Function) -> Vec<Remark> {
    let Some(uniformity) = Uniformity::of(module, function) else { return Vec::new() };
    let mut dependent: BTreeMap<BlockId, Dependent> = BTreeMap::new();
    for (block, contents) in function.blocks.iter().enumerate() {
        for branch in uniformity.causes(BlockId(block)) {
            dependent.entry(*branch).or_default().add(module, contents);
        }
    }
    let remark = |(branch, counts): (BlockId, Dependent)| {
        let how = match uniformity.branch(branch) {
            Level::Differs => "differs",
            Level::MayDiffer => "may differ",
            Level::Uniform | Level::Shared => return None,
        };
        let parts = [(counts.loads, "load"), (counts.stores, "store"), (counts.barriers, "barrier")];
        let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(*n, noun)).collect();
        let (last, first) = parts.split_last()?;
        let operations = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
        let verb = if counts.loads + counts.stores + counts.barriers == 1 { "depends" } else { "depend" };
        let cause = cause(module, function, &uniformity, branch);
        let location = function.blocks[branch.0].instructions.last().and_then(|instruction| instruction.location);
        let text = format!(
            "divergent branch: the condition {how} between threads of a tile because of {cause}; {operations} {verb} on \
             the branch"
        );
        Remark::at(module, location, text)
    };
    dependent.into_iter().filter_map(remark).collect()
}
