//! Where a kernel keeps what lives across regions, and whether each of its calls can be made.

use super::analysis::{Kernel, Surroundings};
use super::calls::{callee, position};
use super::values::shared_within;
use crate::device_abi::{DeviceFunction, PREFIX};
use crate::ir::{GlobalId, Instruction, LocalId, Op, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A tile that takes more memory is not run as loops.
const MOST_MEMORY: u64 = 1 << 28;

/// Without tiles so many threads of a row go through a cut kernel together, and keep no more than this on the stack.
pub const ROW: u32 = 256;
const MOST_ON_STACK: u64 = 1 << 16;

/// How a kernel's variables lie in memory.
pub struct Layout {
    /// A tile's threads in x, y, z; `None` for a kernel without tiles.
    pub tile: Option<[u32; 3]>,
    pub threads: u64,
    /// Bytes of memory that it takes for a tile, or for a row.
    pub memory: u64,
    /// The tile_static variables that it uses, with their places.
    pub shared: BTreeMap<GlobalId, u64>,
    /// Variables kept per thread.
    pub kept: BTreeMap<LocalId, Kept>,
    /// Variables kept once.
    pub uniform: BTreeSet<LocalId>,
}

pub struct Kept {
    /// What a thread's takes.
    pub bytes: u64,
    pub align: u64,
    /// Its place in the memory; `None`: it is a variable of the function.
    pub place: Option<u64>,
}

impl Layout {
    pub fn of(kernel: &Kernel, around: &Surroundings) -> Result<Self, String> {
        let code = &kernel.code;
        let function = &code.functions[kernel.index];
        function.instructions().try_for_each(|one| check(kernel, one))?;
        let tile = tile_of(kernel)?;
        let row = if kernel.is_cut { ROW.into() } else { 1 };
        let threads = tile.map_or(row, |tile| tile.iter().map(|&n| u64::from(n)).product());
        let (shared, kept, uniform) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut layout = Self { tile, threads, memory: 0, shared, kept, uniform };
        for &name in &around.shared {
            let (global, only) = (&code.globals[name.0], BTreeSet::from([name]));
            let mut used = function.instructions().flat_map(|one| one.op.operands());
            if used.any(|value| shared_within(value, &only).is_some()) {
                let bytes = global.ty.size().ok_or("the type of a tile_static variable")?;
                let place = layout.room(bytes, if global.align == 0 { 16 } else { global.align })?;
                layout.shared.insert(name, place);
            }
        }
        layout.variables(kernel)?;
        if layout.is_cut_row() && layout.memory > MOST_ON_STACK {
            return Err("a row takes too much memory".into());
        }
        Ok(layout)
    }

    /// A row of threads that is gone through in pieces.
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
            let (bytes, align) = size(&variable.ty).ok_or("the type of a variable")?;
            let align = align.max(variable.align);
            let bytes = bytes.checked_next_multiple_of(align).ok_or("the size of a variable")?;
            // Rows of threads without tiles have no memory of their own.
            let in_memory = variable.plain || self.threads > 1;
            let place = in_memory.then(|| self.room(bytes.saturating_mul(self.threads), align)).transpose()?;
            self.kept.insert(name, Kept { bytes, align, place });
        }
        Ok(())
    }

    /// Where so many bytes lie in the tile's memory.
    fn room(&mut self, bytes: u64, align: u64) -> Result<u64, String> {
        let at = self.memory.checked_next_multiple_of(align.max(64));
        let end = at.and_then(|at| at.checked_add(bytes)).filter(|end| *end <= MOST_MEMORY);
        let (at, end) = at.zip(end).ok_or("a tile takes too much memory")?;
        self.memory = end;
        Ok(at)
    }
}

/// The size of the tiles that the kernel tells.
fn tile_of(kernel: &Kernel) -> Result<Option<[u32; 3]>, String> {
    let function = &kernel.code.functions[kernel.index];
    for one in function.instructions() {
        match (DeviceFunction::called(&kernel.code, &one.op), &one.op) {
            (Some(DeviceFunction::WorkgroupAuto), _) => return Ok(None),
            (Some(DeviceFunction::WorkgroupSize), Op::Call { arguments, .. }) => {
                let number = |n: usize| arguments.get(n)?.unsigned();
                let (Some(x), Some(y), Some(z)) = (number(0), number(1), number(2)) else {
                    return Err("the size of its tiles is no constant".into());
                };
                let sizes = [x, y, z].map(|n| u32::try_from(n).ok().filter(|n| (1..=1024).contains(n)));
                let [Some(x), Some(y), Some(z)] = sizes else { return Err("its tiles have too many threads".into()) };
                return if x * y * z <= 1024 {
                    Ok(Some([x, y, z]))
                } else {
                    Err("its tiles have too many threads".into())
                };
            }
            _ => {}
        }
    }
    Err("the size of its tiles is unknown".into())
}

/// What keeps a call from being made for the host.
fn check(kernel: &Kernel, one: &Instruction) -> Result<(), String> {
    let Some(name) = callee(&kernel.code, one) else { return Ok(()) };
    if let Some((_, axis)) = position(&kernel.code, one) {
        return match axis {
            Some(0..3) => Ok(()),
            Some(_) => Err("a position in a fourth dimension".into()),
            None => Err("a position of no constant".into()),
        };
    }
    use DeviceFunction as D;
    let known = match DeviceFunction::of(name) {
        // They give nothing, so that no instruction of the kernel needs them where they are left out.
        Some(D::TileBarrier | D::MemoryFence | D::WorkgroupAuto | D::WorkgroupSize | D::EndThread) => {
            one.result.is_none()
        }
        _ => !name.starts_with(PREFIX),
    };
    let is_declared = |callee: usize| kernel.code.functions[callee].blocks.is_empty();
    match one.op {
        Op::Call { callee, .. } if !known || !is_declared(callee.0) => Err(format!("it calls {name}")),
        _ => Ok(()),
    }
}
