//! Remarks of `-famp-report` on the code that becomes SPIR-V, by the analyses that its lowering uses.

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
    /// Inlined, with the program's control flow.
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

/// Barriers that order memory of the device.
fn barriers(kernel: &Kernel<'_>) -> Vec<Remark> {
    let Kernel { module, function, pointers } = kernel;
    let orders = barrier_orders(module, function, pointers);
    let mut all = Vec::new();
    for (block, inside) in function.blocks.iter().enumerate() {
        for (at, one) in inside.instructions.iter().enumerate() {
            let Op::Call { arguments, .. } = &one.op else { continue };
            let barrier = DeviceFunction::called(module, &one.op) == Some(DeviceFunction::TileBarrier);
            let memory = arguments.first().and_then(Operand::unsigned).unwrap_or(0);
            if !barrier || memory & GLOBAL_MEMORY == 0 {
                continue;
            }
            let text = match orders.get(&(block, at)) {
                Some(Order::Never) => continue,
                Some(Order::IfShared) => {
                    "the barrier orders memory of the device in launches whose arrays or array_views overlap; \
                     wait_with_tile_static_memory_fence() never does"
                }
                Some(Order::Always) | None => {
                    "the barrier orders memory of the device: threads may access behind it what others accessed before it; if \
                     none does, wait_with_tile_static_memory_fence() is cheaper"
                }
            };
            all.extend(Remark::at(module, one.location, text));
        }
    }
    all
}

/// What blocks do that depend on one branch.
#[derive(Default)]
struct Dependent {
    loads: usize,
    stores: usize,
    barriers: usize,
}

impl Dependent {
    fn add(&mut self, module: &Module, block: &Block) {
        for one in &block.instructions {
            match &one.op {
                Op::Load { .. } => self.loads += 1,
                Op::Store { .. } | Op::AtomicRmw { .. } | Op::CmpXchg { .. } => self.stores += 1,
                op if DeviceFunction::called(module, op) == Some(DeviceFunction::TileBarrier) => self.barriers += 1,
                _ => {}
            }
        }
    }
}

/// Branches that threads of a tile take differently, with memory accesses or barriers behind them. `function` has the program's control flow.
fn branches(module: &Module, function: &Function) -> Vec<Remark> {
    let Some(uniformity) = Uniformity::of(module, function) else { return Vec::new() };
    let mut dependent: BTreeMap<BlockId, Dependent> = BTreeMap::new();
    for (block, inside) in function.blocks.iter().enumerate() {
        for branch in uniformity.causes(BlockId(block)) {
            dependent.entry(*branch).or_default().add(module, inside);
        }
    }
    let remark = |(branch, found): (BlockId, Dependent)| {
        let how = match uniformity.branch(branch) {
            Level::Differs => "differs",
            Level::May => "may differ",
            Level::Uniform | Level::Shared => return None,
        };
        let parts = [(found.loads, "load"), (found.stores, "store"), (found.barriers, "barrier")];
        let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(*n, noun)).collect();
        let (last, first) = parts.split_last()?;
        let behind = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
        let verb = if found.loads + found.stores + found.barriers == 1 { "depends" } else { "depend" };
        let cause = cause(module, function, &uniformity, branch);
        let location = function.blocks[branch.0].instructions.last().and_then(|one| one.location);
        let text = format!("divergent branch: it {how} between threads of a tile by {cause}; {behind} {verb} on it");
        Remark::at(module, location, text)
    };
    dependent.into_iter().filter_map(remark).collect()
}
