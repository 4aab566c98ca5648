//! Writes the table of captured memory that follows the argument block of a kernel that checks bounds (`revamp_image::table`).

use crate::device::block::{AddressSlot, Block};
use crate::error::Result;
use crate::grow::Grow;
use crate::runtime::accelerators::loaded_kernel::KernelChecks;
use crate::runtime::accelerators::reports;
use revamp_image::table;

/// The memory of an argument: its address and its size in bytes.
pub(in crate::runtime) type Span = (u64, u64);

/// A table that is being filled in.
pub(super) struct Table {
    start: usize,
}

impl Table {
    /// Appends an empty table to a block that has nothing appended yet.
    pub fn begin(block: &mut Block, checks: &KernelChecks) -> Result<Self> {
        let size = block.bytes.len() as u64;
        let start = table::offset_after_block(size) as usize;
        let end = start + table::bytes(size) as usize;
        block.bytes.make_room(end - block.bytes.len())?;
        block.bytes.resize(end, 0);
        let this = Self { start };
        if let Some((report, number)) = &checks.report {
            this.write(block, table::REPORT, &report.address().to_ne_bytes());
            this.write(block, table::KERNEL, &number.to_ne_bytes());
            this.write(block, table::LAUNCH, &reports::launch().to_ne_bytes());
        }
        Ok(this)
    }

    /// Adds the memory of an argument to the table, after the address of the argument was put into the block.
    pub fn put(&self, block: &mut Block, slot: &AddressSlot<'_>, (address, size): Span) {
        let entry = table::entry(u64::from(slot.offset()));
        let place = match slot {
            AddressSlot::At(_) => table::POINTEE,
            AddressSlot::Indirect(_, header) => {
                if let Some(&(_, at)) = block.inner.last() {
                    block.inner.push((self.start + (entry + table::POINTEE) as usize, at));
                }
                self.write(block, entry + table::POINTEE + 8, &(header.len() as u64).to_ne_bytes());
                table::ELEMENTS
            }
        };
        self.write(block, entry + place, &address.to_ne_bytes());
        self.write(block, entry + place + 8, &size.to_ne_bytes());
    }

    /// Writes the size of the complete block, with everything that was appended to it, into the table.
    pub fn end(&self, block: &mut Block) {
        let whole = block.bytes.len() as u64;
        self.write(block, table::TOTAL_BYTES, &whole.to_ne_bytes());
    }

    fn write(&self, block: &mut Block, at: u64, value: &[u8]) {
        let at = self.start + at as usize;
        if let Some(place) = block.bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    }
}
