//! The memory layout of variables that are live across regions, and the check that the host supports the kernel's calls.

use super::analysis::{Kernel, Surroundings};
use super::calls::{callee, position};
use super::values::shared_within;
use crate::device_abi::{DeviceFunction, PREFIX};
use crate::ir::{GlobalId, Instruction, LocalId, Op, Type};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum memory of a tile, in bytes. A kernel that needs more gets no native code.
const MAX_MEMORY: u64 = 1 << 28;

/// The number of threads that run together in a kernel without tiles that is split into several regions. A longer row
/// of threads runs in pieces of this length.
pub const PIECE_THREADS: u32 = 256;
/// The maximum memory that the threads of such a piece have on the stack, in bytes.
const MAX_ON_STACK: u64 = 1 << 16;

/// The memory layout of a kernel's variables.
pub struct Layout {
    /// A tile's threads in x, y, z; `None` for a kernel without tiles.
    pub tile: Option<[u32; 3]>,
    pub threads: u64,
    /// The memory for a tile, or for a piece of a row of threads, in bytes.
    pub memory: u64,
    /// The tile_static variables that the kernel uses, with their offsets.
    pub shared: BTreeMap<GlobalId, u64>,
    /// Variables kept per thread.
    pub kept: BTreeMap<LocalId, Kept>,
    /// Variables kept once for all threads.
    pub uniform: BTreeSet<LocalId>,
}

pub struct Kept {
    /// The bytes for one thread.
    pub bytes: u64,
    pub align: u64,
    /// The variable's offset in `Layout::memory`; `None` if the variable is a local variable of the native function.
    pub offset: Option<u64>,
}

impl Layout {
    pub fn of(kernel: &Kernel, surroundings: &Surroundings) -> Result<Self, String> {
        let code = &kernel.code;
        let function = &code.functions[kernel.index];
        function.instructions().try_for_each(|instruction| check(kernel, instruction))?;
        let tile = tile_of(kernel)?;
        let row = if kernel.is_cut { PIECE_THREADS.into() } else { 1 };
        let threads = tile.map_or(row, |tile| tile.iter().map(|&n| u64::from(n)).product());
        let (shared, kept, uniform) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut layout = Self { tile, threads, memory: 0, shared, kept, uniform };
        for &name in &surroundings.shared {
            let (global, variable_set) = (&code.globals[name.0], BTreeSet::from([name]));
            let mut used_values = function.instructions().flat_map(|instruction| instruction.op.operands());
            if used_values.any(|value| shared_within(value, &variable_set).is_some()) {
                let bytes = global.ty.size().ok_or("the type of a tile_static variable has no known size")?;
                let place = layout.reserve(bytes, if global.align == 0 { 16 } else { global.align })?;
                layout.shared.insert(name, place);
            }
        }
        layout.variables(kernel)?;
        if layout.is_cut_row() && layout.memory > MAX_ON_STACK {
            return Err("a row of threads takes too much memory".into());
        }
        Ok(layout)
    }

    /// True if the kernel has no tiles but several regions, so that a row of threads runs in pieces of `PIECE_THREADS` threads.
    pub fn is_cut_row(&self) -> bool {
        self.tile.is_none() && self.threads > 1
    }

    fn variables(&mut self, kernel: &Kernel) -> Result<(), String> {
        let starts = kernel.starts();
        for (&name, variable) in &kernel.variables {
            if variable.plain {
                let across = starts.iter().any(|&start| start != 0 && kernel.live[start].contains(&name));
                if !across || variable.rematerialised.is_some() {
                    continue;
                }
                if !variable.varies {
                    self.uniform.insert(name);
                    continue;
                }
            }
            let size = |ty: &Type| Some((ty.size()?, ty.align()?));
            let (bytes, align) = size(&variable.ty).ok_or("the type of a variable has no known size")?;
            let align = align.max(variable.align);
            let bytes = bytes.checked_next_multiple_of(align).ok_or("a variable is too large")?;
            // If threads run one by one, variables that are not plain are local variables of the native function.
            let in_memory = variable.plain || self.threads > 1;
            let offset = in_memory.then(|| self.reserve(bytes.saturating_mul(self.threads), align)).transpose()?;
            self.kept.insert(name, Kept { bytes, align, offset });
        }
        Ok(())
    }

    /// Reserves `bytes` bytes in the memory of the tile or row, and returns their offset.
    fn reserve(&mut self, bytes: u64, align: u64) -> Result<u64, String> {
        let at = self.memory.checked_next_multiple_of(align.max(64));
        let end = at.and_then(|at| at.checked_add(bytes)).filter(|end| *end <= MAX_MEMORY);
        let (at, end) = at.zip(end).ok_or_else(|| {
            let what = if self.tile.is_some() { "a tile" } else { "a row" };
            format!("{what} takes too much memory")
        })?;
        self.memory = end;
        Ok(at)
    }
}

/// The size of the tiles that the kernel declares.
fn tile_of(kernel: &Kernel) -> Result<Option<[u32; 3]>, String> {
    let function = &kernel.code.functions[kernel.index];
    for instruction in function.instructions() {
        match (DeviceFunction::called(&kernel.code, &instruction.op), &instruction.op) {
            (Some(DeviceFunction::WorkgroupAuto), _) => return Ok(None),
            (Some(DeviceFunction::WorkgroupSize), Op::Call { arguments, .. }) => {
                let number = |n: usize| arguments.get(n)?.unsigned();
                let (Some(x), Some(y), Some(z)) = (number(0), number(1), number(2)) else {
                    return Err("the size of the tiles of the kernel is not constant".into());
                };
                let sizes = [x, y, z].map(|n| u32::try_from(n).ok().filter(|n| (1..=1024).contains(n)));
                let [Some(x), Some(y), Some(z)] = sizes else {
                    return Err("the tiles of the kernel have too many threads".into());
                };
                return if x * y * z <= 1024 {
                    Ok(Some([x, y, z]))
                } else {
                    Err("the tiles of the kernel have too many threads".into())
                };
            }
            _ => {}
        }
    }
    Err("the size of the tiles of the kernel is unknown".into())
}

/// The error for a call that the host does not support.
fn check(kernel: &Kernel, instruction: &Instruction) -> Result<(), String> {
    let Some(name) = callee(&kernel.code, instruction) else { return Ok(()) };
    if let Some((_, axis)) = position(&kernel.code, instruction) {
        return match axis {
            Some(0..3) => Ok(()),
            Some(_) => Err("the kernel reads a thread position in a fourth dimension".into()),
            None => Err("the kernel reads a thread position in a dimension that is not a constant".into()),
        };
    }
    use DeviceFunction as D;
    let is_supported = match DeviceFunction::of(name) {
        // Calls of these functions are removed, so they must not have a result.
        Some(D::TileBarrier | D::MemoryFence | D::WorkgroupAuto | D::WorkgroupSize | D::EndThread) => {
            instruction.result.is_none()
        }
        _ => !name.starts_with(PREFIX),
    };
    let is_declaration = |callee: usize| kernel.code.functions[callee].blocks.is_empty();
    match instruction.op {
        Op::Call { callee, .. } if !is_supported || !is_declaration(callee.0) => {
            Err(format!("the kernel calls {name}"))
        }
        _ => Ok(()),
    }
}
