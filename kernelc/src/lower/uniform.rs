//! What a launch cannot change, and its place in a uniform buffer (`revamp_image::arguments`): the argument block and the headers of arrays
//! that are captured by reference. GPUs read those through a cache for constants, without an address; through the block's
//! address the data is three loads away, each of which waits for the one before.

use super::addresses::{Steps, steps};
use super::pointers::PointerAnalysis;
use crate::bounds_option::Bounds;
use crate::ir::{CastOp, Function, Instruction, LocalId, Op, Operand, Type, Value};
use revamp_image::{ANY_OFFSET, arguments, table};
use std::collections::HashMap;

/// A place that is known when the kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownAddress {
    /// In the block.
    Block(i64),
    /// In the header of the array whose address is at this offset of the block.
    Header(u32, i64),
}

/// Where the places of a kernel are in its uniform buffer.
#[derive(Default)]
pub(super) struct Uniform {
    places: HashMap<LocalId, KnownAddress>,
    /// By the offsets of their references.
    headers: HashMap<u32, u64>,
    block_size: u64,
    /// All bytes of the buffer; 0 if the kernel has none.
    pub(super) size: u64,
}

impl Uniform {
    pub(super) fn of(function: &Function, pointers: &PointerAnalysis, block_size: u64, bounds: Bounds) -> Self {
        let behind = match bounds {
            Bounds::Off => block_size,
            _ => table::begins(block_size) + table::bytes(block_size),
        };
        let arrays = pointers.uses.keys().filter(|(offset, depth)| *depth > 0 && *offset != ANY_OFFSET);
        let headers: HashMap<u32, u64> =
            (0..).zip(arrays).map(|(n, (offset, _))| (*offset, arguments::header(behind, n))).collect();
        let size = arguments::header(behind, headers.len() as u64);
        if size > arguments::BYTES {
            return Self::default();
        }
        let mut uniform = Self { places: HashMap::new(), headers, block_size, size };
        for n in 0..function.parameters.len() {
            uniform.places.insert(LocalId(n), KnownAddress::Block(0));
        }
        while function.instructions().filter(|instruction| uniform.follow(instruction)).count() > 0 {}
        uniform
    }

    /// True if something new was found.
    fn follow(&mut self, instruction: &Instruction) -> bool {
        let Some(result) = instruction.result.filter(|result| !self.places.contains_key(result)) else { return false };
        let place = match &instruction.op {
            Op::Gep { source, base, indices, .. } => {
                let (Some(place), Some(Steps { offset, by })) = (self.place(base), steps(source, indices)) else {
                    return false;
                };
                match place {
                    _ if !by.is_empty() => return false,
                    KnownAddress::Block(at) => at.checked_add(offset).map(KnownAddress::Block),
                    KnownAddress::Header(slot, at) => at.checked_add(offset).map(|at| KnownAddress::Header(slot, at)),
                }
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } | Op::Freeze { value } => {
                self.place(value)
            }
            Op::Load { ty: Type::Pointer(_), pointer, .. } => match self.place(pointer) {
                Some(KnownAddress::Block(at)) => u32::try_from(at)
                    .ok()
                    .filter(|at| self.headers.contains_key(at))
                    .map(|at| KnownAddress::Header(at, 0)),
                _ => None,
            },
            _ => None,
        };
        place.is_some_and(|place| self.places.insert(result, place).is_none())
    }

    fn place(&self, pointer: &Operand) -> Option<KnownAddress> {
        let Value::Local(local) = pointer.value else { return None };
        self.places.get(&local).copied()
    }

    /// Where in the buffer so many bytes are at a pointer.
    pub(super) fn at(&self, pointer: &Operand, bytes: u64) -> Option<u64> {
        let inside = |at: i64, size: u64| {
            u64::try_from(at).ok().filter(|at| at.checked_add(bytes).is_some_and(|end| end <= size))
        };
        match self.place(pointer).filter(|_| self.size > 0)? {
            KnownAddress::Block(at) => inside(at, self.block_size),
            KnownAddress::Header(slot, at) => Some(self.headers.get(&slot)? + inside(at, arguments::HEADER_BYTES)?),
        }
    }
}
