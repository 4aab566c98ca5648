//! The kernels that the kernel compiler put into an object file, as bytes. Written by `kernelc/src/image.rs`; read here,
//! and never trusted.
//!
//! All numbers are little-endian. The head: `RVMPKERN`, u32 version, u32 number of kernels, u64 bytes of the whole image.
//! Then for each kernel: name, location (each a u32 length and UTF-8), u64 size and u64 alignment of the argument block,
//! u32 number of captures, for each u32 offset and u32 use (bit 0 read, bit 1 written, bit 2: not the memory at the pointer but
//! that at a pointer loaded through it), u32 length of the SPIR-V module in
//! bytes, the module.

use crate::error::{Error, Result};
use std::ops::Range;

/// Bytes of the head.
pub const HEAD: usize = 24;
const MAGIC: &[u8; 8] = b"RVMPKERN";
const VERSION: u32 = 1;
/// Offset of a capture that stands for pointers of unknown origin.
pub const ANY_OFFSET: u32 = u32::MAX;

/// A pointer in the argument block, through which the kernel reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Where it lies in the block, or [`ANY_OFFSET`].
    pub offset: u32,
    /// What is used is not the memory at the pointer, but at a pointer that was loaded through it.
    pub further: bool,
    /// The kernel reads through it.
    pub reads: bool,
    /// The kernel writes through it.
    pub writes: bool,
}

/// A kernel of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the compiler calls it.
    pub name: String,
    /// File and line of the functor, for messages.
    pub location: String,
    /// Bytes of the argument block.
    pub block_size: u64,
    /// Its alignment.
    pub block_align: u64,
    /// The pointers in it that the kernel uses.
    pub captures: Vec<Capture>,
    /// Where in the image the SPIR-V module lies.
    pub spirv: Range<usize>,
}

/// The size of a whole image, from its head.
pub fn size(head: &[u8; HEAD]) -> Result<usize> {
    let mut from = Reader { bytes: head, at: 0 };
    let (_, size) = from.head()?;
    Ok(size)
}

/// The kernels of a whole image.
pub fn read(image: &[u8]) -> Result<Vec<Entry>> {
    let mut from = Reader { bytes: image, at: 0 };
    let (count, size) = from.head()?;
    if size != image.len() {
        return Err(bad("its size is wrong"));
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(from.entry()?);
    }
    if from.at != image.len() {
        return Err(bad("it has more bytes than kernels"));
    }
    Ok(entries)
}

fn bad(why: &str) -> Error {
    Error::runtime(format!(
        "the compiled kernels of the program are damaged ({why}), or of another version of revamp; build it again"
    ))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| bad("it ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N)?);
        Ok(number)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.number()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.number()?))
    }

    fn text(&mut self) -> Result<String> {
        let length = self.u32()? as usize;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| bad("a name is not UTF-8"))?;
        Ok(text.to_owned())
    }

    fn head(&mut self) -> Result<(u32, usize)> {
        if self.take(MAGIC.len())? != MAGIC {
            return Err(bad("it does not begin with RVMPKERN"));
        }
        let version = self.u32()?;
        if version != VERSION {
            return Err(bad(&format!("it is of version {version}, this library reads {VERSION}")));
        }
        let count = self.u32()?;
        let size = usize::try_from(self.u64()?).ok().filter(|&size| (HEAD..=isize::MAX as usize).contains(&size));
        Ok((count, size.ok_or_else(|| bad("its size is wrong"))?))
    }

    fn entry(&mut self) -> Result<Entry> {
        let (name, location) = (self.text()?, self.text()?);
        let (block_size, block_align) = (self.u64()?, self.u64()?);
        let count = self.u32()?;
        let mut captures = Vec::new();
        for _ in 0..count {
            let (offset, used) = (self.u32()?, self.u32()?);
            if used > 7 || offset != ANY_OFFSET && u64::from(offset) + 8 > block_size {
                return Err(bad("a capture is not in its block"));
            }
            let (reads, writes, further) = (used & 1 != 0, used & 2 != 0, used & 4 != 0);
            captures.push(Capture { offset, further, reads, writes });
        }
        let length = self.u32()? as usize;
        let start = self.at;
        self.take(length)?;
        Ok(Entry { name, location, block_size, block_align, captures, spirv: start..start + length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What `kernelc/src/image.rs` writes for one kernel; its tests hold the same bytes.
    fn sample() -> Vec<u8> {
        let mut image = b"RVMPKERN\x01\0\0\0\x01\0\0\0".to_vec();
        let tail = b"\x01\0\0\0k\x05\0\0\0a.c:3\x10\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\x08\0\0\0\x05\0\0\0\
                     \xff\xff\xff\xff\x03\0\0\0\x04\0\0\0\x03\x02\x23\x07";
        image.extend((HEAD as u64 + tail.len() as u64).to_le_bytes());
        image.extend(tail);
        image
    }

    #[test]
    fn reads_what_the_compiler_writes() {
        let image = sample();
        let head: [u8; HEAD] = std::array::from_fn(|i| image[i]);
        assert_eq!(size(&head).unwrap(), image.len());
        let all = read(&image).unwrap();
        assert_eq!(all.len(), 1);
        let one = &all[0];
        assert_eq!((one.name.as_str(), one.location.as_str()), ("k", "a.c:3"));
        assert_eq!((one.block_size, one.block_align), (16, 8));
        let captures = [
            Capture { offset: 8, further: true, reads: true, writes: false },
            Capture { offset: ANY_OFFSET, further: false, reads: true, writes: true },
        ];
        assert_eq!(one.captures, captures);
        assert_eq!(&image[one.spirv.clone()], b"\x03\x02\x23\x07");
    }

    #[test]
    fn every_cut_is_refused() {
        let image = sample();
        for length in 0..image.len() {
            assert!(read(&image[..length]).is_err(), "{length}");
        }
        let mut longer = image.clone();
        longer.push(0);
        assert!(read(&longer).is_err());
        let mut newer = image;
        newer[8] = 2;
        assert!(read(&newer).unwrap_err().to_string().contains("version 2"));
    }

    proptest! {
        #[test]
        fn changed_bytes_do_no_harm(at in 0..98_usize, value: u8) {
            let mut image = sample();
            let at = at % image.len();
            image[at] = value;
            for one in read(&image).unwrap_or_default() {
                prop_assert!(image.get(one.spirv.clone()).is_some());
            }
        }
    }
}
