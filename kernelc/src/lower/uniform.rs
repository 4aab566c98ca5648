//! Finds the loads of data that does not change during a launch: the argument block, and the headers of arrays that are
//! captured by reference. These loads read a uniform buffer (`revamp_image::arguments`). GPUs read a uniform buffer
//! through a constant cache, without an address. Through the address of the argument block, the data would be three
//! dependent loads away.

use super::addresses::{Steps, steps};
use super::pointers::PointerAnalysis;
use crate::bounds_option::Bounds;
use crate::ir::{CastOp, Function, Instruction, LocalId, Op, Operand, Type, Value};
use revamp_image::{ANY_OFFSET, arguments, table};
use std::collections::HashMap;

/// An address that is known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownAddress {
    /// At this offset in the argument block.
    Block(i64),
    /// In the header of an array. The first offset is where the argument block holds the address of the array; the second is the offset in
    /// the header.
    Header(u32, i64),
}

/// The contents of a kernel's uniform buffer.
#[derive(Default)]
pub(super) struct Uniform {
    known_addresses: HashMap<LocalId, KnownAddress>,
    /// The offset of each array header in the buffer, by the offset of the array's reference in the argument block.
    headers: HashMap<u32, u64>,
    block_size: u64,
    /// The size of the buffer in bytes; 0 if the kernel has none.
    pub(super) size: u64,
}

impl Uniform {
    pub(super) fn of(function: &Function, pointers: &PointerAnalysis, block_size: u64, bounds: Bounds) -> Self {
        let headers_begin = match bounds {
            Bounds::Off => block_size,
            _ => table::offset_after_block(block_size) + table::bytes(block_size),
        };
        let arrays = pointers.uses.keys().filter(|(offset, depth)| *depth > 0 && *offset != ANY_OFFSET);
        let headers: HashMap<u32, u64> =
            (0..).zip(arrays).map(|(n, (offset, _))| (*offset, arguments::header(headers_begin, n))).collect();
        let size = arguments::header(headers_begin, headers.len() as u64);
        if size > arguments::BYTES {
            return Self::default();
        }
        let mut uniform = Self { known_addresses: HashMap::new(), headers, block_size, size };
        for n in 0..function.parameters.len() {
            uniform.known_addresses.insert(LocalId(n), KnownAddress::Block(0));
        }
        while function.instructions().filter(|instruction| uniform.record_address(instruction)).count() > 0 {}
        uniform
    }

    /// Records the address that is the result of an instruction, if it is known. Returns true if the record is new.
    fn record_address(&mut self, instruction: &Instruction) -> bool {
        let Some(result) = instruction.result.filter(|result| !self.known_addresses.contains_key(result)) else {
            return false;
        };
        let known_address = match &instruction.op {
            Op::Gep { source, base, indices, .. } => {
                let (Some(known_address), Some(Steps { offset, by })) =
                    (self.known_address(base), steps(source, indices))
                else {
                    return false;
                };
                match known_address {
                    _ if !by.is_empty() => return false,
                    KnownAddress::Block(at) => at.checked_add(offset).map(KnownAddress::Block),
                    KnownAddress::Header(slot, at) => at.checked_add(offset).map(|at| KnownAddress::Header(slot, at)),
                }
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } | Op::Freeze { value } => {
                self.known_address(value)
            }
            Op::Load { ty: Type::Pointer(_), pointer, .. } => match self.known_address(pointer) {
                Some(KnownAddress::Block(at)) => u32::try_from(at)
                    .ok()
                    .filter(|at| self.headers.contains_key(at))
                    .map(|at| KnownAddress::Header(at, 0)),
                _ => None,
            },
            _ => None,
        };
        known_address.is_some_and(|known_address| self.known_addresses.insert(result, known_address).is_none())
    }

    fn known_address(&self, pointer: &Operand) -> Option<KnownAddress> {
        let Value::Local(local) = pointer.value else { return None };
        self.known_addresses.get(&local).copied()
    }

    /// The offset in the buffer of `bytes` bytes at a pointer; `None` if the buffer does not contain them.
    pub(super) fn at(&self, pointer: &Operand, bytes: u64) -> Option<u64> {
        let inside = |at: i64, size: u64| {
            u64::try_from(at).ok().filter(|at| at.checked_add(bytes).is_some_and(|end| end <= size))
        };
        match self.known_address(pointer).filter(|_| self.size > 0)? {
            KnownAddress::Block(at) => inside(at, self.block_size),
            KnownAddress::Header(slot, at) => Some(self.headers.get(&slot)? + inside(at, arguments::HEADER_BYTES)?),
        }
    }
}
