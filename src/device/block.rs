//! Argument blocks: the caller's bytes, with addresses written into them.

use crate::error::{Error, Result};
use crate::grow::Grow;
use revamp_image::arguments;
use smallvec::SmallVec;
use std::ffi::c_void;

/// Appended bytes begin at multiples of this many bytes.
const APPENDED_ALIGN: usize = 16;
const HEADER_BYTES: usize = arguments::HEADER_BYTES as usize;
const ADDRESS_BYTES: usize = size_of::<u64>();

/// An address slot: the place in a block for the address of an array or array_view.
#[derive(Debug, Clone, Copy)]
pub enum AddressSlot<'a> {
    /// In the block at this offset.
    At(u32),
    /// At the beginning of these bytes, which are appended to the block. The address of the appended bytes goes into the block
    /// at the offset.
    Indirect(u32, &'a [u8]),
}

impl AddressSlot<'_> {
    /// The offset in the caller's block at which an address is written.
    pub fn offset(&self) -> u32 {
        match *self {
            Self::At(offset) | Self::Indirect(offset, _) => offset,
        }
    }

    /// Checks that the slot fits a block of this many bytes.
    pub fn check(&self, block: usize) -> Result<()> {
        let at = self.offset() as usize;
        if at % ADDRESS_BYTES != 0 || at + ADDRESS_BYTES > block {
            return Err(Error::invalid(format!(
                "an address at offset {at} does not fit the argument block of {block} bytes; the offset must be a \
                 multiple of 8, and the 8 bytes of the address must end inside of the block"
            )));
        }
        match self {
            Self::Indirect(_, bytes) if bytes.len() < ADDRESS_BYTES => Err(Error::invalid(format!(
                "REVAMP_ARGUMENT_INDIRECT appends {} bytes to the argument block, but these bytes must hold an address \
                 of 8 bytes; pass at least 8 bytes",
                bytes.len()
            ))),
            _ => Ok(()),
        }
    }
}

/// An argument block with the addresses written into it, before it is copied to the memory where the kernel reads it.
#[derive(Debug, Default)]
pub struct Block {
    /// The bytes of the block, with the appended bytes.
    pub bytes: SmallVec<[u8; 256]>,
    /// Pairs of offsets in the block: the address of the byte at the second offset is written at the first offset.
    pub inner: SmallVec<[(usize, usize); 4]>,
    /// Offsets of slots, each with the offset of the place reserved for the slot's array header.
    headers: SmallVec<[(u32, usize); 4]>,
}

impl Block {
    /// Begins an empty block with these bytes.
    #[inline]
    pub fn begin(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.len() > self.bytes.inline_size() {
            self.bytes.make_room(bytes.len())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Reserves a place after the block for the header of each array that the kernel captures by reference.
    /// `references`: the offsets of these references in the block, which are address slots; the header is the bytes
    /// that the slot appends. The kernel reads the headers as a part of its uniform buffer.
    pub fn reserve_headers(&mut self, references: &[u32]) -> Result<()> {
        if references.is_empty() {
            return Ok(());
        }
        let block_end = self.bytes.len() as u64;
        let end = arguments::header(block_end, references.len() as u64) as usize;
        if end > self.bytes.inline_size() {
            self.bytes.make_room(end - self.bytes.len())?;
        }
        self.bytes.resize(end, 0);
        for (n, &reference) in (0..).zip(references) {
            self.headers.push((reference, arguments::header(block_end, n) as usize));
        }
        Ok(())
    }

    /// Writes the address of an argument to its slot, which [`AddressSlot::check`] has accepted.
    #[inline]
    pub fn put(&mut self, slot: &AddressSlot<'_>, address: u64) -> Result<()> {
        let at = match *slot {
            AddressSlot::At(offset) => offset as usize,
            AddressSlot::Indirect(offset, bytes) => self.append(offset, bytes)?,
        };
        self.bytes[at..at + ADDRESS_BYTES].copy_from_slice(&address.to_ne_bytes());
        if let AddressSlot::Indirect(offset, bytes) = *slot {
            // `append` uses the reserved place only for bytes that are no larger than a header. Otherwise the reserved
            // place gets a copy of the first HEADER_BYTES.
            let header = self.headers.iter().find(|(reference, start)| *reference == offset && *start != at);
            if let Some(&(_, start)) = header {
                self.bytes[start..start + HEADER_BYTES].copy_from_slice(&bytes[..HEADER_BYTES]);
                self.bytes[start..start + ADDRESS_BYTES].copy_from_slice(&address.to_ne_bytes());
            }
        }
        Ok(())
    }

    /// Appends bytes whose address goes to `offset`. Returns the offset at which the appended bytes begin.
    fn append(&mut self, offset: u32, bytes: &[u8]) -> Result<usize> {
        let header = self.headers.iter().find(|(reference, _)| *reference == offset).map(|&(_, start)| start);
        if let Some(start) = header.filter(|_| bytes.len() <= HEADER_BYTES) {
            self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
            self.inner.push((offset as usize, start));
            return Ok(start);
        }
        let start = self.bytes.len().next_multiple_of(APPENDED_ALIGN);
        if start + bytes.len() > self.bytes.inline_size() {
            self.bytes.make_room(start + bytes.len() - self.bytes.len())?;
        }
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(bytes);
        self.inner.push((offset as usize, start));
        Ok(start)
    }

    /// A copy of the bytes, with the addresses of the appended bytes, for a block that lies at `base`.
    pub fn with_addresses(&self, base: u64) -> Result<SmallVec<[u8; 256]>> {
        let mut bytes = SmallVec::new();
        bytes.make_room(self.bytes.len())?;
        bytes.extend_from_slice(&self.bytes);
        self.put_addresses(&mut bytes, base);
        Ok(bytes)
    }

    /// Writes the addresses of the appended bytes into `copy`, a copy of the block that lies at `base`.
    pub fn put_addresses(&self, copy: &mut [u8], base: u64) {
        for &(slot, target) in &self.inner {
            copy[slot..slot + ADDRESS_BYTES].copy_from_slice(&(base + target as u64).to_ne_bytes());
        }
    }
}

/// The alignment of the copy of a block, in bytes.
const COPY_ALIGN: usize = 64;

/// The copy of a block that lives until the launch is done. It is aligned within an unaligned allocation, which takes half as long as an
/// aligned one.
#[derive(Default)]
pub struct BlockCopy {
    room: Vec<u8>,
    first: usize,
}

impl BlockCopy {
    /// A copy of `block`, with the addresses of the appended bytes.
    pub fn of(block: &Block) -> Result<Self> {
        if block.bytes.is_empty() {
            return Ok(Self::default());
        }
        let length = block.bytes.len().next_multiple_of(COPY_ALIGN);
        let mut room: Vec<u8> = Vec::new();
        room.make_room(length + COPY_ALIGN)?;
        room.resize(length + COPY_ALIGN, 0);
        let first = room.as_ptr().align_offset(COPY_ALIGN);
        let copy = &mut room[first..first + length];
        copy[..block.bytes.len()].copy_from_slice(&block.bytes);
        let address = copy.as_mut_ptr().expose_provenance() as u64;
        block.put_addresses(copy, address);
        Ok(Self { room, first })
    }

    /// True if the block has no bytes.
    pub fn is_empty(&self) -> bool {
        self.room.is_empty()
    }

    /// The first byte of the copy.
    pub fn as_ptr(&self) -> *const c_void {
        self.room[self.first..].as_ptr().cast()
    }

    /// The first byte of the copy, for a functor that may change itself.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.room[self.first..].as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn put_writes_addresses_and_appends_bytes() {
        let mut block = Block::default();
        block.begin(&[0; 20]).unwrap();
        let header = [0, 0, 0, 0, 0, 0, 0, 0, 7];
        block.put(&AddressSlot::At(8), 5).unwrap();
        block.put(&AddressSlot::Indirect(0, &header), 6).unwrap();
        assert_eq!(block.bytes.len(), 41);
        let bytes = block.with_addresses(1000).unwrap();
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        assert_eq!((word(0), word(8), word(32), bytes[40]), (1032, 5, 6, 7));
    }

    #[test]
    fn headers_are_in_their_reserved_places() {
        let mut block = Block::default();
        block.begin(&[1; 40]).unwrap();
        block.reserve_headers(&[8, 24]).unwrap();
        let (small, large) = ([7; 24], [9; 56]);
        block.put(&AddressSlot::Indirect(24, &large), 1).unwrap();
        block.put(&AddressSlot::Indirect(16, &small), 2).unwrap();
        block.put(&AddressSlot::Indirect(8, &small), 3).unwrap();
        let bytes = block.with_addresses(1000).unwrap();
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        assert_eq!(word(8), 1048);
        assert_eq!((word(48), bytes[56..72].to_vec()), (3, vec![7; 16]));
        // The beginning of a larger header is in the reserved place, and the whole header at its address.
        assert_eq!((word(96), word(24), word(144)), (1, 1144, 1));
        assert!(bytes[104..144] == [9; 40] && bytes[152..200] == [9; 48]);
        // A header without a reserved place comes after the reserved places.
        assert_eq!((word(16), word(208)), (1208, 2));
    }

    #[test]
    fn check_rejects_slots_that_do_not_fit() {
        assert!(AddressSlot::At(8).check(16).is_ok());
        for wrong in [AddressSlot::At(4), AddressSlot::At(16), AddressSlot::At(!7), AddressSlot::Indirect(0, &[0; 7])] {
            assert!(wrong.check(16).is_err(), "{wrong:?}");
        }
    }
}
