//! The image of compiled kernels.
//!
//! All numbers are little-endian. The header: `RVMPKERN`, u32 version, u32 number of kernels, u64 bytes of the whole image.
//! Then for each kernel: name and location (each a u32 length and UTF-8), u64 size and u64 alignment of the argument block,
//! u32 number of captures, for each u32 offset and u32 flags ([`READS`], [`WRITES`], [`FURTHER`]), u32 length of the SPIR-V
//! module in bytes, the module. In versions 2 and 3 there follows u32 flags ([`CHECKED`], in version 3 [`WITH_IMAGES`]). If the first
//! is set, u32 number of places that report, and the text of each; if the second is, the form with images: its captures and its
//! module as above, u32 number of images, for each u32 offset, u32 flags ([`FURTHER`], [`CAPTURED`], [`FIXED`], [`GATHERS`]), two
//! u32 of the sampler: its offset, or filter and address mode. An image has the least version that holds its kernels.

use std::fmt;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 24;
/// What an image begins with.
pub const MAGIC: &[u8; 8] = b"RVMPKERN";
const VERSION: u32 = 1;
/// The version of images with kernels that check bounds.
const CHECKING: u32 = 2;

/// The version of images with kernels that have a form with images of textures.
const IMAGING: u32 = 3;

/// Offset of a capture that stands for all pointers of unknown origin.
pub const ANY_OFFSET: u32 = u32::MAX;

/// The specialization constant, a bool, by which a kernel learns whether memory that it writes may be memory of another capture
/// too. It is true by default; kernels to which it makes no difference do not have it.
pub const SHARED_CAPTURES: u32 = 3;

/// The specialization constants, bools, by which a kernel learns of the device's arithmetic (`revamp/detail/device_close.h`),
/// its memory, and what its compiler makes fast code of: this number and the next ones. They are false by default, and no program's own kernel has
/// such numbers by chance.
pub const OF_DEVICE: u32 = 0x5256_4d00;

/// What a device's arithmetic, memory and compiler are: the constants behind [`OF_DEVICE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfDevice {
    /// An fma rounds once.
    Fused = 0,
    /// Square roots are rounded correctly.
    ExactRoots = 1,
    /// 2^x is as good as in CUDA.
    ClosePowers = 2,
    /// Threads see each other's memory in order without fences; a fence that not all threads of a tile come to stops some.
    Ordered = 3,
    /// Branches out of the middle of a loop make faster code than a flag does.
    Breaks = 4,
    /// Integers are divided faster by a reciprocal where several are divided by the same one.
    Reciprocals = 5,
    /// Operations with a constant zero are shortened as if there were no infinities, NaN and negative zeros.
    ShortensZeros = 6,
    /// Quotients of floats are rounded correctly.
    ExactQuotients = 7,
    /// 1 / x is at most 1 ulp off, and rounded correctly for x up to 5 ulp below a power of two. For a subnormal x it is infinite, or as good.
    NearReciprocals = 8,
    /// No memory has 4 GiB, and the device adds offsets of 32 bits to addresses.
    NarrowOffsets = 9,
}

impl OfDevice {
    /// The device's floating-point arithmetic is better than Vulkan promises.
    pub fn is_of_floats(self) -> bool {
        matches!(
            self,
            Self::Fused | Self::ExactRoots | Self::ClosePowers | Self::ExactQuotients | Self::NearReciprocals
        )
    }
}

// Flags of a capture.
const READS: u32 = 1;
const WRITES: u32 = 2;
const FURTHER: u32 = 4;

/// A flag of a kernel: it checks bounds, by the table behind its block.
const CHECKED: u32 = 1;

/// A flag of a kernel: it has a form with images.
const WITH_IMAGES: u32 = 2;

// Flags of an image, beside FURTHER.
const CAPTURED: u32 = 1;
const FIXED: u32 = 2;
const GATHERS: u32 = 8;

/// The descriptor set of images; bindings count from 0.
pub const IMAGE_SET: u32 = 1;

/// Bytes of an image and of a sampler of the program, in the block.
const SAMPLER_BYTES: u64 = 24;
const IMAGE_BYTES: usize = 16;

/// Bytes of a capture in the image, and of the pointer that it describes.
const CAPTURE_BYTES: usize = 8;
const POINTER_BYTES: u64 = 8;

/// A pointer in the argument block through which the kernel accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Where it lies in the block, in bytes, or [`ANY_OFFSET`].
    pub offset: u32,
    /// The memory accessed is not that at the pointer, but that at a pointer loaded through it.
    pub further: bool,
    /// The kernel reads the memory.
    pub reads: bool,
    /// The kernel writes the memory.
    pub writes: bool,
}

/// A texture that a kernel reads as an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageUse {
    /// Where its address lies in the block, in bytes.
    pub offset: u32,
    /// The address is not there, but at a pointer that lies there.
    pub further: bool,
    /// How it is sampled; `None` if it is read by index alone.
    pub sampler: Option<SamplerUse>,
    /// It is gathered, for which filters do not count.
    pub gathers: bool,
}

/// How a texture is sampled: in the numbers of C++ AMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplerUse {
    /// As a sampler says that is captured, at this offset in the block: filter, address mode, border colour.
    Captured(u32),
    /// As the program says.
    Fixed {
        /// The filter.
        filter: u32,
        /// The address mode, which is not the border's.
        address: u32,
    },
}

/// A kernel whose textures are images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithImages<'a> {
    /// The pointers in the block that it uses.
    pub captures: Vec<Capture>,
    /// The SPIR-V module.
    pub spirv: &'a [u8],
    /// What it reads, by binding.
    pub images: Vec<ImageUse>,
}

/// A compiled kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// What the compiler calls it.
    pub name: &'a str,
    /// File and line of the lambda or functor, for messages; may be empty.
    pub location: &'a str,
    /// Bytes of the argument block.
    pub block_size: u64,
    /// Its alignment.
    pub block_align: u64,
    /// The pointers in the block that the kernel uses.
    pub captures: Vec<Capture>,
    /// The SPIR-V module, in the compiler's byte order.
    pub spirv: &'a [u8],
    /// It checks bounds.
    pub checks: Option<Checks<'a>>,
    /// The same kernel where its textures are images, if they can be.
    pub with_images: Option<WithImages<'a>>,
}

/// What a kernel that checks bounds reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks<'a> {
    /// The accesses, by the numbers in reports; empty if it reports nothing.
    pub sites: Vec<&'a str>,
}

/// Why bytes are no image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// They are damaged.
    Damaged(&'static str),
    /// They are of a version that this crate does not know.
    Version(u32),
    /// There is no memory for so many bytes.
    OutOfMemory(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) => f.write_str(why),
            Self::Version(version) => {
                write!(f, "it is of version {version}, this library reads {VERSION} to {IMAGING}")
            }
            Self::OutOfMemory(bytes) => write!(f, "there is no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The image of these kernels.
pub fn encode(kernels: &[Kernel<'_>]) -> Vec<u8> {
    let mut image = MAGIC.to_vec();
    // A library that knows no checks reads all others.
    let has = |of: fn(&Kernel<'_>) -> bool| kernels.iter().any(of);
    let version = match () {
        () if has(|kernel| kernel.with_images.is_some()) => IMAGING,
        () if has(|kernel| kernel.checks.is_some()) => CHECKING,
        () => VERSION,
    };
    image.extend(version.to_le_bytes());
    image.extend((kernels.len() as u32).to_le_bytes());
    let size_at = image.len();
    image.extend([0; 8]);
    for kernel in kernels {
        encode_kernel(&mut image, kernel);
        if version > VERSION {
            encode_more(&mut image, kernel);
        }
    }
    let size = image.len() as u64;
    image[size_at..HEADER_BYTES].copy_from_slice(&size.to_le_bytes());
    image
}

fn encode_kernel(image: &mut Vec<u8>, kernel: &Kernel<'_>) {
    encode_bytes(image, kernel.name.as_bytes());
    encode_bytes(image, kernel.location.as_bytes());
    image.extend(kernel.block_size.to_le_bytes());
    image.extend(kernel.block_align.to_le_bytes());
    encode_captures(image, &kernel.captures);
    encode_bytes(image, kernel.spirv);
}

fn encode_captures(image: &mut Vec<u8>, captures: &[Capture]) {
    image.extend((captures.len() as u32).to_le_bytes());
    for capture in captures {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let flags = flag(capture.reads, READS) | flag(capture.writes, WRITES) | flag(capture.further, FURTHER);
        image.extend(capture.offset.to_le_bytes());
        image.extend(flags.to_le_bytes());
    }
}

fn encode_more(image: &mut Vec<u8>, kernel: &Kernel<'_>) {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    let flags = flag(kernel.checks.is_some(), CHECKED) | flag(kernel.with_images.is_some(), WITH_IMAGES);
    image.extend(flags.to_le_bytes());
    if let Some(checks) = &kernel.checks {
        image.extend((checks.sites.len() as u32).to_le_bytes());
        checks.sites.iter().for_each(|site| encode_bytes(image, site.as_bytes()));
    }
    if let Some(with) = &kernel.with_images {
        encode_captures(image, &with.captures);
        encode_bytes(image, with.spirv);
        image.extend((with.images.len() as u32).to_le_bytes());
        for used in &with.images {
            let (how, sampler) = match used.sampler {
                None => (0, [0, 0]),
                Some(SamplerUse::Captured(offset)) => (CAPTURED, [offset, 0]),
                Some(SamplerUse::Fixed { filter, address }) => (FIXED, [filter, address]),
            };
            let flags = how | flag(used.further, FURTHER) | flag(used.gathers, GATHERS);
            [used.offset, flags, sampler[0], sampler[1]].iter().for_each(|n| image.extend(n.to_le_bytes()));
        }
    }
}

/// Bytes after their length.
fn encode_bytes(image: &mut Vec<u8>, bytes: &[u8]) {
    image.extend((bytes.len() as u32).to_le_bytes());
    image.extend(bytes);
}

/// The size of a whole image, from its header.
pub fn decode_size(header: &[u8; HEADER_BYTES]) -> Result<usize, DecodeError> {
    Ok(Reader { rest: header }.header()?.size)
}

/// The kernels of a whole image. Allocates no more than the image justifies by its length, whatever numbers it has.
pub fn decode(image: &[u8]) -> Result<Vec<Kernel<'_>>, DecodeError> {
    let mut reader = Reader { rest: image };
    let header = reader.header()?;
    if header.size != image.len() {
        return Err(WRONG_SIZE);
    }
    let mut kernels = Vec::new();
    for _ in 0..header.kernels {
        let mut kernel = reader.kernel()?;
        if header.version > VERSION {
            reader.more(&mut kernel, header.version)?;
        }
        reserve(&mut kernels, 1)?;
        kernels.push(kernel);
    }
    if header.version == CHECKING && kernels.iter().all(|kernel| kernel.checks.is_none()) {
        return Err(DecodeError::Damaged("none of its kernels checks bounds"));
    }
    if header.version == IMAGING && kernels.iter().all(|kernel| kernel.with_images.is_none()) {
        return Err(DecodeError::Damaged("none of its kernels has a form with images"));
    }
    if reader.rest.is_empty() { Ok(kernels) } else { Err(DecodeError::Damaged("it has more bytes than kernels")) }
}

const WRONG_SIZE: DecodeError = DecodeError::Damaged("its size is wrong");
const TOO_SHORT: DecodeError = DecodeError::Damaged("it ends too early");
const TOO_MANY_CAPTURES: DecodeError = DecodeError::Damaged("it ends before its captures");

fn reserve<T>(to: &mut Vec<T>, more: usize) -> Result<(), DecodeError> {
    to.try_reserve(more).map_err(|_| DecodeError::OutOfMemory(more.saturating_mul(size_of::<T>())))
}

struct Header {
    version: u32,
    kernels: u32,
    size: usize,
}

/// What is left of an image.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (number, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*number)
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.number()?))
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.number()?))
    }

    fn sized(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.u32()? as usize;
        self.bytes(length)
    }

    fn text(&mut self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.sized()?).map_err(|_| DecodeError::Damaged("a name is not UTF-8"))
    }

    fn header(&mut self) -> Result<Header, DecodeError> {
        if self.bytes(MAGIC.len())? != MAGIC {
            return Err(DecodeError::Damaged("it does not begin with RVMPKERN"));
        }
        let version = self.u32()?;
        if !(VERSION..=IMAGING).contains(&version) {
            return Err(DecodeError::Version(version));
        }
        let kernels = self.u32()?;
        let size =
            usize::try_from(self.u64()?).ok().filter(|&size| (HEADER_BYTES..=isize::MAX as usize).contains(&size));
        Ok(Header { version, kernels, size: size.ok_or(WRONG_SIZE)? })
    }

    fn kernel(&mut self) -> Result<Kernel<'a>, DecodeError> {
        let (name, location) = (self.text()?, self.text()?);
        let (block_size, block_align) = (self.u64()?, self.u64()?);
        let captures = self.captures(block_size)?;
        let spirv = self.sized()?;
        Ok(Kernel { name, location, block_size, block_align, captures, spirv, checks: None, with_images: None })
    }

    fn more(&mut self, kernel: &mut Kernel<'a>, version: u32) -> Result<(), DecodeError> {
        let flags = self.u32()?;
        let known = if version == IMAGING { CHECKED | WITH_IMAGES } else { CHECKED };
        if flags & !known != 0 {
            return Err(DecodeError::Damaged("a kernel has flags that are not known"));
        }
        if flags & CHECKED != 0 {
            kernel.checks = Some(self.checks()?);
        }
        if flags & WITH_IMAGES != 0 {
            let captures = self.captures(kernel.block_size)?;
            let spirv = self.sized()?;
            kernel.with_images = Some(WithImages { captures, spirv, images: self.images(kernel.block_size)? });
        }
        Ok(())
    }

    fn images(&mut self, block_size: u64) -> Result<Vec<ImageUse>, DecodeError> {
        let count = self.u32()? as usize;
        if count > self.rest.len() / IMAGE_BYTES {
            return Err(TOO_MANY_CAPTURES);
        }
        let mut images = Vec::new();
        reserve(&mut images, count)?;
        for _ in 0..count {
            let (offset, flags, first, second) = (self.u32()?, self.u32()?, self.u32()?, self.u32()?);
            let sampler = match flags & (CAPTURED | FIXED) {
                0 => None,
                CAPTURED if second == 0 && u64::from(first) + SAMPLER_BYTES <= block_size => {
                    Some(SamplerUse::Captured(first))
                }
                FIXED => Some(SamplerUse::Fixed { filter: first, address: second }),
                _ => return Err(DecodeError::Damaged("a sampler is not in its block")),
            };
            let is_plain = sampler.is_some() || first == 0 && second == 0 && flags & GATHERS == 0;
            let is_inside = u64::from(offset) + POINTER_BYTES <= block_size;
            if !is_plain || !is_inside || flags & !(CAPTURED | FIXED | FURTHER | GATHERS) != 0 {
                return Err(DecodeError::Damaged("an image is not in its block"));
            }
            let has = |flag| flags & flag != 0;
            images.push(ImageUse { offset, further: has(FURTHER), sampler, gathers: has(GATHERS) });
        }
        Ok(images)
    }

    fn checks(&mut self) -> Result<Checks<'a>, DecodeError> {
        let mut sites = Vec::new();
        for _ in 0..self.u32()? {
            let site = self.text()?;
            reserve(&mut sites, 1)?;
            sites.push(site);
        }
        Ok(Checks { sites })
    }

    fn captures(&mut self, block_size: u64) -> Result<Vec<Capture>, DecodeError> {
        let count = self.u32()? as usize;
        if count > self.rest.len() / CAPTURE_BYTES {
            return Err(TOO_MANY_CAPTURES);
        }
        let mut captures = Vec::new();
        reserve(&mut captures, count)?;
        for _ in 0..count {
            let (offset, flags) = (self.u32()?, self.u32()?);
            let is_inside = offset == ANY_OFFSET || u64::from(offset) + POINTER_BYTES <= block_size;
            if !is_inside || flags & !(READS | WRITES | FURTHER) != 0 {
                return Err(DecodeError::Damaged("a capture is not in its block"));
            }
            let has = |flag| flags & flag != 0;
            captures.push(Capture { offset, further: has(FURTHER), reads: has(READS), writes: has(WRITES) });
        }
        Ok(captures)
    }
}

/// A kernel's name without what differs between the passes for the device and for the host where functions differ by
/// restriction: there the device's functions are internal to the unit (an `L` before their names), and some carry an attribute.
/// The image has bare names then; the host's name has the `L` where the program itself says `static`.
pub fn bare_name(name: &str) -> String {
    let name = name.replace("Ua9enable_ifILb1EE", "");
    let mut bare = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != 'L' || !rest.peek().is_some_and(char::is_ascii_digit) {
            bare.push(letter);
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Vec<Kernel<'static>> {
        let captures = vec![
            Capture { offset: 8, further: true, reads: true, writes: false },
            Capture { offset: ANY_OFFSET, further: false, reads: true, writes: true },
        ];
        let spirv = b"\x03\x02\x23\x07";
        vec![Kernel {
            name: "k",
            location: "a.c:3",
            block_size: 16,
            block_align: 8,
            captures,
            spirv,
            checks: None,
            with_images: None,
        }]
    }

    fn checking() -> Vec<Kernel<'static>> {
        let mut kernels = sample();
        kernels.extend(sample());
        kernels[1].checks = Some(Checks { sites: vec!["a.c:4", ""] });
        kernels
    }

    /// Programs that are already built carry these bytes: they must be readable for ever.
    #[test]
    fn the_format_is_stable() {
        let bytes = b"RVMPKERN\x01\0\0\0\x01\0\0\0\x52\0\0\0\0\0\0\0\
                      \x01\0\0\0k\x05\0\0\0a.c:3\x10\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\x08\0\0\0\x05\0\0\0\
                      \xff\xff\xff\xff\x03\0\0\0\x04\0\0\0\x03\x02\x23\x07";
        assert_eq!(encode(&sample()), bytes);
        assert_eq!(decode(bytes).unwrap(), sample());
    }

    /// So must these.
    #[test]
    fn the_format_of_checks_is_stable() {
        let image = encode(&checking());
        let (plain, checked) = (&encode(&sample())[HEADER_BYTES..], &image[HEADER_BYTES..]);
        assert_eq!(image[..16], *b"RVMPKERN\x02\0\0\0\x02\0\0\0");
        let rest = checked.strip_prefix(plain).unwrap().strip_prefix(b"\0\0\0\0").unwrap();
        let sites = b"\x01\0\0\0\x02\0\0\0\x05\0\0\0a.c:4\0\0\0\0";
        assert_eq!(rest.strip_prefix(plain).unwrap(), sites);
        assert_eq!(decode(&image).unwrap(), checking());
    }

    fn imaging() -> Vec<Kernel<'static>> {
        let mut kernels = sample();
        let plain = ImageUse { offset: 8, further: true, sampler: None, gathers: false };
        let fixed = Some(SamplerUse::Fixed { filter: 21, address: 3 });
        let images = vec![plain, ImageUse { sampler: fixed, gathers: true, ..plain }];
        let captures = kernels[0].captures[..1].to_vec();
        kernels[0].with_images = Some(WithImages { captures, spirv: b"\x03\x02\x23\x07", images });
        kernels
    }

    /// And these.
    #[test]
    fn the_format_of_images_is_stable() {
        let image = encode(&imaging());
        let plain = &encode(&sample())[HEADER_BYTES..];
        assert_eq!(image[..16], *b"RVMPKERN\x03\0\0\0\x01\0\0\0");
        let rest = image[HEADER_BYTES..].strip_prefix(plain).unwrap();
        let bytes = b"\x02\0\0\0\x01\0\0\0\x08\0\0\0\x05\0\0\0\x04\0\0\0\x03\x02\x23\x07\x02\0\0\0\
                      \x08\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\x0e\0\0\0\x15\0\0\0\x03\0\0\0";
        assert_eq!(rest, bytes);
        assert_eq!(decode(&image).unwrap(), imaging());
    }

    #[test]
    fn every_truncation_is_refused() {
        for image in [encode(&sample()), encode(&checking()), encode(&imaging())] {
            for length in 0..image.len() {
                // Also where the header agrees with the length.
                let mut cut = image[..length].to_vec();
                assert!(decode(&cut).is_err(), "{length}");
                if let Some(size) = cut.get_mut(16..24) {
                    size.copy_from_slice(&(length as u64).to_le_bytes());
                    assert!(decode(&cut).is_err(), "{length}");
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let change = |at: usize, value: u8| {
            let mut image = encode(&sample());
            image[at] = value;
            decode(&image).unwrap_err()
        };
        assert_eq!(change(0, b'X'), DecodeError::Damaged("it does not begin with RVMPKERN"));
        assert_eq!(change(8, 4), DecodeError::Version(4));
        assert_eq!(change(8, 4).to_string(), "it is of version 4, this library reads 1 to 3");
        let mut unchecked = encode(&sample());
        unchecked[8] = 2;
        unchecked[16] += 4;
        unchecked.extend([0; 4]);
        assert_eq!(decode(&unchecked), Err(DecodeError::Damaged("none of its kernels checks bounds")));
        assert_eq!(change(12, 0), DecodeError::Damaged("it has more bytes than kernels"));
        assert_eq!(change(12, 2), TOO_SHORT);
        assert_eq!(change(16, 0), WRONG_SIZE);
        assert_eq!(change(23, 0x80), WRONG_SIZE);
        assert_eq!(change(28, 0xff), DecodeError::Damaged("a name is not UTF-8"));
        // The first capture, of a block of 16 bytes.
        assert_eq!(change(58, 9), DecodeError::Damaged("a capture is not in its block"));
        assert_eq!(change(62, 8), DecodeError::Damaged("a capture is not in its block"));
        let mut longer = encode(&sample());
        longer.push(0);
        assert_eq!(decode(&longer), Err(WRONG_SIZE));
    }

    #[test]
    fn counts_beyond_the_image_allocate_nothing() {
        let mut image = encode(&sample());
        // The number of captures. It is refused before it is used.
        for count in [u32::MAX, 4] {
            image[54..58].copy_from_slice(&count.to_le_bytes());
            assert_eq!(decode(&image), Err(TOO_MANY_CAPTURES));
        }
    }

    #[test]
    fn the_size_is_read_from_the_header() {
        let image = encode(&sample());
        let header: [u8; HEADER_BYTES] = std::array::from_fn(|i| image[i]);
        assert_eq!(decode_size(&header), Ok(image.len()));
        assert_eq!(decode_size(&[0; HEADER_BYTES]), Err(DecodeError::Damaged("it does not begin with RVMPKERN")));
    }

    /// What a kernel owns, from which a [`Kernel`] borrows.
    type Owned = (String, String, u64, u64, Vec<(u32, bool, bool, bool)>, Vec<u8>, Option<Vec<String>>, Image);
    type Image = Option<(u32, bool, Option<(bool, u32, u32)>, bool)>;

    fn kernels(owned: &[Owned]) -> Vec<Kernel<'_>> {
        let capture = |&(offset, further, reads, writes): &_| Capture { offset, further, reads, writes };
        owned
            .iter()
            .map(|(name, location, size, align, captures, spirv, sites, images)| Kernel {
                name,
                location,
                // A block that holds all of the captures.
                block_size: (*size).max(1 << 33),
                block_align: *align,
                captures: captures.iter().map(capture).collect(),
                spirv,
                checks: sites.as_ref().map(|sites| Checks { sites: sites.iter().map(String::as_str).collect() }),
                with_images: images.as_ref().map(|&(offset, further, sampler, gathers)| {
                    let captures = captures.iter().map(capture).collect();
                    let sampler = sampler.map(|(captured, a, b)| match captured {
                        true => SamplerUse::Captured(a),
                        false => SamplerUse::Fixed { filter: a, address: b },
                    });
                    let image = ImageUse { offset, further, sampler, gathers: gathers && sampler.is_some() };
                    WithImages { captures, spirv, images: vec![image] }
                }),
            })
            .collect()
    }

    fn some_kernels() -> impl Strategy<Value = Vec<Owned>> {
        let capture = (any::<u32>(), any::<bool>(), any::<bool>(), any::<bool>());
        let captures = proptest::collection::vec(capture, 0..4);
        let spirv = proptest::collection::vec(any::<u8>(), 0..40);
        let sites = proptest::option::of(proptest::collection::vec(".*", 0..4));
        let sampler = proptest::option::of((any::<bool>(), any::<u32>(), any::<u32>()));
        let images = proptest::option::of((any::<u32>(), any::<bool>(), sampler, any::<bool>()));
        proptest::collection::vec((".*", ".*", any::<u64>(), any::<u64>(), captures, spirv, sites, images), 0..4)
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(owned in some_kernels()) {
            let kernels = kernels(&owned);
            let bytes = encode(&kernels);
            prop_assert_eq!(decode(&bytes), Ok(kernels));
        }

        #[test]
        fn damage_does_no_harm(owned in some_kernels(), changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6)) {
            let mut image = encode(&kernels(&owned));
            for (at, value) in changes {
                let at = at % image.len();
                image[at] = value;
            }
            // Either it is refused, or it is an image, which encodes to the same bytes.
            if let Ok(kernels) = decode(&image) {
                prop_assert_eq!(encode(&kernels), image);
            }
        }
    }
}
