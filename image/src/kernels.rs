//! The image of compiled kernels: the format in which the kernel compiler stores the kernels of a source.
//!
//! All numbers are little-endian. The header: `RVMPKERN`, u32 version, u32 number of kernels, u64 size of the whole image in bytes.
//! Then for each kernel:
//! - name and location: for each a u32 length, and UTF-8;
//! - u64 size and u64 alignment of the argument block;
//! - u32 number of captures; for each capture u32 offset and u32 flags ([`READS`], [`WRITES`], [`INDIRECT`]; in version 4 the upper
//!   16 bits are [`Capture::thread_bytes`]);
//! - u32 length of the SPIR-V module in bytes, and the module;
//! - from version 2 on: u32 flags ([`CHECKED`], from version 3 on [`WITH_IMAGES`], from version 5 on [`ROLLED`] and [`ROLLED_IMAGES`]);
//! - with `CHECKED`: u32 number of accesses that the kernel can report, and the text of each;
//! - with `WITH_IMAGES`, the variant with images: captures and module as above; u32 number of images; for each image u32 offset,
//!   u32 flags ([`INDIRECT`], [`CAPTURED`], [`FIXED`], [`GATHERS`]), and two u32. With `CAPTURED` they are the sampler's offset and
//!   0, with `FIXED` the filter and the address mode, otherwise 0;
//! - with `ROLLED`: u32 length of the module with rolled loops in bytes, and the module, packed by [`pack`](crate::pack);
//! - with `ROLLED_IMAGES`: the same for the variant with images.
//!
//! The version of an image is the lowest version that can represent its kernels.

use std::fmt;

/// The size of the header in bytes.
pub const HEADER_BYTES: usize = 24;
/// The first bytes of an image.
pub const MAGIC: &[u8; 8] = b"RVMPKERN";
const VERSION: u32 = 1;
/// The version of kernel images in which a kernel checks bounds.
const VERSION_WITH_CHECKS: u32 = 2;

/// The version of kernel images in which a kernel has a variant whose textures are images.
const VERSION_WITH_IMAGES: u32 = 3;

/// The version of kernel images in which captures state how many bytes a thread accesses.
const VERSION_WITH_THREAD_BYTES: u32 = 4;

/// The version of kernel images in which a kernel has a module with rolled loops.
const VERSION_WITH_ROLLED_LOOPS: u32 = 5;

/// The `offset` of a [`Capture`] that stands for all pointers of unknown origin.
pub const ANY_OFFSET: u32 = u32::MAX;

/// The number of a specialization constant: a bool, true if memory that the kernel writes may also be memory of another capture.
/// The constant is true by default. Kernels that do not depend on the constant do not have it.
pub const SHARED_CAPTURES: u32 = 3;

/// The first number of the specialization constants that describe a device: bools for its arithmetic
/// (`revamp/detail/device_close.h`), its memory and its compiler. The constants are false by default. Specialization constants of
/// programs do not have such large numbers.
pub const DEVICE_PROPERTIES: u32 = 0x5256_4d00;

/// Properties of a device's arithmetic, memory and compiler. Each has a specialization constant, with the number
/// [`DEVICE_PROPERTIES`] plus the number here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceProperty {
    /// An fma rounds once.
    Fused = 0,
    /// Square roots are rounded correctly.
    ExactRoots = 1,
    /// 2^x is as accurate as in CUDA.
    ClosePowers = 2,
    /// Threads see each other's writes in order without fences. A thread may stop forever at a fence that not all
    /// threads of its tile reach.
    Ordered = 3,
    /// A branch out of the middle of a loop is faster than a flag that ends the loop.
    Breaks = 4,
    /// If several integers have the same divisor, multiplying by its reciprocal is faster than dividing.
    Reciprocals = 5,
    /// The driver simplifies operations with a constant zero as if infinities, NaN and negative zeros did not exist.
    ShortensZeros = 6,
    /// Quotients of floats are rounded correctly.
    ExactQuotients = 7,
    /// The error of 1 / x is at most 1 ulp, and 1 / x is correctly rounded for x up to 5 ulp below a power of two. For a subnormal
    /// x, 1 / x is infinite or has the same accuracy.
    NearReciprocals = 8,
    /// Every memory allocation is smaller than 4 GiB, and the device can add 32-bit offsets to addresses.
    NarrowOffsets = 9,
    /// 1 / sqrt(x) of a double has an error of at most 1 ulp, also for subnormal x, and is right for zero, infinity and NaN. After 1 /
    /// sqrt(x) of a float, one correction with an fma rounds the square root correctly.
    NearInverseRoots = 10,
    /// The driver merges loads from adjacent addresses, unless the addresses are constants, but no stores.
    MergesOnlyLoads = 11,
    /// The driver keeps a local array of fewer than 64 words in registers, and compares an index that is known only at run time with the
    /// number of each element.
    SmallArraysInRegisters = 12,
}

impl DeviceProperty {
    /// True if the property says that floating-point arithmetic is better than Vulkan requires.
    pub fn is_float_precision(self) -> bool {
        matches!(
            self,
            Self::Fused
                | Self::ExactRoots
                | Self::ClosePowers
                | Self::ExactQuotients
                | Self::NearReciprocals
                | Self::NearInverseRoots
        )
    }
}

// Flags of a capture.
const READS: u32 = 1;
const WRITES: u32 = 2;
const INDIRECT: u32 = 4;
/// The lowest bit of [`Capture::thread_bytes`].
const THREAD_BYTES_SHIFT: u32 = 16;

/// A flag of a kernel: the kernel checks bounds, by the table after its argument block.
const CHECKED: u32 = 1;

/// A flag of a kernel: the kernel has a variant with images.
const WITH_IMAGES: u32 = 2;

/// A flag of a kernel: the kernel has a module with rolled loops.
const ROLLED: u32 = 4;

/// A flag of a kernel: the variant with images has a module with rolled loops.
const ROLLED_IMAGES: u32 = 8;

// Flags of an image, in addition to INDIRECT.
const CAPTURED: u32 = 1;
const FIXED: u32 = 2;
const GATHERS: u32 = 8;

/// The descriptor set of images; bindings count from 0.
pub const IMAGE_SET: u32 = 1;

/// The size of a sampler object in the block, in bytes.
const SAMPLER_BYTES: u64 = 24;
/// The size of an encoded [`ImageUse`] in bytes.
const IMAGE_BYTES: usize = 16;

/// The size of an encoded [`Capture`] in bytes.
const CAPTURE_BYTES: usize = 8;
/// The size of a captured pointer in the block, in bytes.
const POINTER_BYTES: u64 = 8;

/// A pointer in the argument block through which the kernel accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// The pointer's offset in the block, in bytes, or [`ANY_OFFSET`].
    pub offset: u32,
    /// True if the kernel accesses memory not at this pointer, but at a pointer loaded through it.
    pub indirect: bool,
    /// True if the kernel reads the memory.
    pub reads: bool,
    /// True if the kernel writes the memory.
    pub writes: bool,
    /// The maximum number of bytes that one thread reads and writes through this pointer; 0 if it is unknown.
    pub thread_bytes: u16,
}

/// A texture that a kernel reads as an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageUse {
    /// The offset of the texture's address in the block, in bytes.
    pub offset: u32,
    /// True if the block has at this offset a pointer to the address, instead of the address.
    pub indirect: bool,
    /// How the texture is sampled; `None` if it is read by index alone.
    pub sampler: Option<SamplerUse>,
    /// True if the texture is gathered, which ignores filters.
    pub gathers: bool,
}

/// How a texture is sampled, with C++ AMP's numbers for filters and address modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplerUse {
    /// By a captured sampler at this offset in the block: filter, address mode, border colour.
    Captured(u32),
    /// By constants in the source.
    Fixed {
        /// The filter.
        filter: u32,
        /// The address mode, never `address_border`.
        address: u32,
    },
}

/// The variant of a kernel whose textures are images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithImages<'a> {
    /// The pointers in the block that the variant uses.
    pub captures: Vec<Capture>,
    /// The SPIR-V module.
    pub spirv: &'a [u8],
    /// The images, by binding.
    pub images: Vec<ImageUse>,
    /// As [`Kernel::rolled`].
    pub rolled: Option<&'a [u8]>,
}

/// A compiled kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// The compiler's name of the kernel.
    pub name: &'a str,
    /// File and line of the lambda or functor, for messages; may be empty.
    pub location: &'a str,
    /// The size of the argument block in bytes.
    pub block_size: u64,
    /// The alignment of the argument block.
    pub block_align: u64,
    /// The pointers in the block that the kernel uses.
    pub captures: Vec<Capture>,
    /// The SPIR-V module, in little-endian words.
    pub spirv: &'a [u8],
    /// The reports of a kernel that checks bounds.
    pub checks: Option<Checks<'a>>,
    /// The variant whose textures are images, if the textures can be images.
    pub with_images: Option<WithImages<'a>>,
    /// The module with rolled loops, packed by [`pack`](crate::pack). It suits drivers that unroll loops.
    pub rolled: Option<&'a [u8]>,
}

/// The reports of a kernel that checks bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks<'a> {
    /// The text of each access; a report has the index of its text. Empty if the kernel reports nothing.
    pub sites: Vec<&'a str>,
}

/// Why bytes cannot be decoded as an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes are damaged.
    Damaged(&'static str),
    /// The image has a version that this crate does not know.
    Version(u32),
    /// There is no memory for this number of bytes.
    OutOfMemory(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) => f.write_str(why),
            Self::Version(version) => {
                write!(
                    f,
                    "the kernel image has version {version}, but this library reads only versions {VERSION} to \
                     {VERSION_WITH_ROLLED_LOOPS}"
                )
            }
            Self::OutOfMemory(bytes) => write!(f, "{bytes} bytes of memory could not be allocated"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Encodes kernels as an image.
pub fn encode(kernels: &[Kernel<'_>]) -> Vec<u8> {
    let mut image = MAGIC.to_vec();
    // The lowest possible version, so that older libraries can read the image.
    let has = |of: fn(&Kernel<'_>) -> bool| kernels.iter().any(of);
    let version = match () {
        () if has(is_rolled) => VERSION_WITH_ROLLED_LOOPS,
        () if has(states_thread_bytes) => VERSION_WITH_THREAD_BYTES,
        () if has(|kernel| kernel.with_images.is_some()) => VERSION_WITH_IMAGES,
        () if has(|kernel| kernel.checks.is_some()) => VERSION_WITH_CHECKS,
        () => VERSION,
    };
    image.extend(version.to_le_bytes());
    image.extend((kernels.len() as u32).to_le_bytes());
    let size_at = image.len();
    image.extend([0; 8]);
    for kernel in kernels {
        encode_kernel(&mut image, kernel);
        if version > VERSION {
            encode_optional_parts(&mut image, kernel);
        }
    }
    let size = image.len() as u64;
    image[size_at..HEADER_BYTES].copy_from_slice(&size.to_le_bytes());
    image
}

/// True if the kernel has a module with rolled loops.
fn is_rolled(kernel: &Kernel<'_>) -> bool {
    kernel.rolled.is_some() || rolled_images(kernel).is_some()
}

/// The module of the variant with images that has rolled loops.
fn rolled_images<'a>(kernel: &Kernel<'a>) -> Option<&'a [u8]> {
    kernel.with_images.as_ref()?.rolled
}

/// True if a capture of the kernel states how many bytes a thread accesses.
fn states_thread_bytes(kernel: &Kernel<'_>) -> bool {
    let with_images = kernel.with_images.iter().flat_map(|with| &with.captures);
    kernel.captures.iter().chain(with_images).any(|capture| capture.thread_bytes > 0)
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
        let flags = flag(capture.reads, READS) | flag(capture.writes, WRITES) | flag(capture.indirect, INDIRECT);
        let flags = flags | u32::from(capture.thread_bytes) << THREAD_BYTES_SHIFT;
        image.extend(capture.offset.to_le_bytes());
        image.extend(flags.to_le_bytes());
    }
}

fn encode_optional_parts(image: &mut Vec<u8>, kernel: &Kernel<'_>) {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    let (rolled, rolled_images) = (kernel.rolled, rolled_images(kernel));
    let flags = flag(kernel.checks.is_some(), CHECKED) | flag(kernel.with_images.is_some(), WITH_IMAGES);
    let flags = flags | flag(rolled.is_some(), ROLLED) | flag(rolled_images.is_some(), ROLLED_IMAGES);
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
            let (sampler_flag, sampler) = match used.sampler {
                None => (0, [0, 0]),
                Some(SamplerUse::Captured(offset)) => (CAPTURED, [offset, 0]),
                Some(SamplerUse::Fixed { filter, address }) => (FIXED, [filter, address]),
            };
            let flags = sampler_flag | flag(used.indirect, INDIRECT) | flag(used.gathers, GATHERS);
            [used.offset, flags, sampler[0], sampler[1]].iter().for_each(|n| image.extend(n.to_le_bytes()));
        }
    }
    [rolled, rolled_images].into_iter().flatten().for_each(|packed| encode_bytes(image, packed));
}

/// Writes the length of the bytes, then the bytes.
fn encode_bytes(image: &mut Vec<u8>, bytes: &[u8]) {
    image.extend((bytes.len() as u32).to_le_bytes());
    image.extend(bytes);
}

/// The size of a whole image, from its header.
pub fn decode_size(header: &[u8; HEADER_BYTES]) -> Result<usize, DecodeError> {
    Ok(Reader { rest: header }.header()?.size)
}

/// The kernels of a whole image. The length of the image limits allocations, even if its numbers are damaged.
pub fn decode(image: &[u8]) -> Result<Vec<Kernel<'_>>, DecodeError> {
    let mut reader = Reader { rest: image };
    let header = reader.header()?;
    if header.size != image.len() {
        return Err(WRONG_SIZE);
    }
    let mut kernels = Vec::new();
    for _ in 0..header.kernels {
        let mut kernel = reader.kernel(header.version)?;
        if header.version > VERSION {
            reader.optional_parts(&mut kernel, header.version)?;
        }
        reserve(&mut kernels, 1)?;
        kernels.push(kernel);
    }
    if header.version == VERSION_WITH_CHECKS && kernels.iter().all(|kernel| kernel.checks.is_none()) {
        return Err(DecodeError::Damaged(
            "the version of the kernel image requires a kernel that checks bounds, but no kernel does",
        ));
    }
    if header.version == VERSION_WITH_IMAGES && kernels.iter().all(|kernel| kernel.with_images.is_none()) {
        return Err(DecodeError::Damaged(
            "the version of the kernel image requires a kernel with a variant for images, but no kernel has one",
        ));
    }
    if header.version == VERSION_WITH_THREAD_BYTES && !kernels.iter().any(states_thread_bytes) {
        return Err(DecodeError::Damaged(
            "the version of the kernel image requires a capture that states the bytes of a thread, but none does",
        ));
    }
    if header.version == VERSION_WITH_ROLLED_LOOPS && !kernels.iter().any(is_rolled) {
        return Err(DecodeError::Damaged(
            "the version of the kernel image requires a kernel with rolled loops, but no kernel has them",
        ));
    }
    if reader.rest.is_empty() {
        Ok(kernels)
    } else {
        Err(DecodeError::Damaged("the kernel image has bytes after the last kernel"))
    }
}

const WRONG_SIZE: DecodeError = DecodeError::Damaged("the size of the kernel image is wrong");
const TOO_SHORT: DecodeError = DecodeError::Damaged("the kernel image ends too early");
const TOO_MANY_CAPTURES: DecodeError = DecodeError::Damaged("the kernel image ends before the captures of a kernel");

fn reserve<T>(to: &mut Vec<T>, more: usize) -> Result<(), DecodeError> {
    to.try_reserve(more).map_err(|_| DecodeError::OutOfMemory(more.saturating_mul(size_of::<T>())))
}

struct Header {
    version: u32,
    kernels: u32,
    size: usize,
}

/// Reads an image from its beginning; `rest` is the unread part.
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
            return Err(DecodeError::Damaged("the kernel image does not begin with RVMPKERN"));
        }
        let version = self.u32()?;
        if !(VERSION..=VERSION_WITH_ROLLED_LOOPS).contains(&version) {
            return Err(DecodeError::Version(version));
        }
        let kernels = self.u32()?;
        let size =
            usize::try_from(self.u64()?).ok().filter(|&size| (HEADER_BYTES..=isize::MAX as usize).contains(&size));
        Ok(Header { version, kernels, size: size.ok_or(WRONG_SIZE)? })
    }

    fn kernel(&mut self, version: u32) -> Result<Kernel<'a>, DecodeError> {
        let (name, location) = (self.text()?, self.text()?);
        let (block_size, block_align) = (self.u64()?, self.u64()?);
        let captures = self.captures(block_size, version)?;
        let spirv = self.sized()?;
        Ok(Kernel {
            name,
            location,
            block_size,
            block_align,
            captures,
            spirv,
            checks: None,
            with_images: None,
            rolled: None,
        })
    }

    fn optional_parts(&mut self, kernel: &mut Kernel<'a>, version: u32) -> Result<(), DecodeError> {
        let flags = self.u32()?;
        let known_flags = match version {
            ..VERSION_WITH_IMAGES => CHECKED,
            VERSION_WITH_IMAGES..VERSION_WITH_ROLLED_LOOPS => CHECKED | WITH_IMAGES,
            _ => CHECKED | WITH_IMAGES | ROLLED | ROLLED_IMAGES,
        };
        if flags & !known_flags != 0 {
            return Err(DecodeError::Damaged("a kernel has unknown flags"));
        }
        if flags & CHECKED != 0 {
            kernel.checks = Some(self.checks()?);
        }
        if flags & WITH_IMAGES != 0 {
            let captures = self.captures(kernel.block_size, version)?;
            let spirv = self.sized()?;
            let images = self.images(kernel.block_size)?;
            kernel.with_images = Some(WithImages { captures, spirv, images, rolled: None });
        }
        if flags & ROLLED != 0 {
            kernel.rolled = Some(self.sized()?);
        }
        if flags & ROLLED_IMAGES != 0 {
            let without = DecodeError::Damaged("a kernel has rolled loops for images, but no variant with images");
            kernel.with_images.as_mut().ok_or(without)?.rolled = Some(self.sized()?);
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
            let damaged = |why| Err(DecodeError::Damaged(why));
            if flags & !(CAPTURED | FIXED | INDIRECT | GATHERS) != 0 {
                return damaged("an image has unknown flags");
            }
            if u64::from(offset) + POINTER_BYTES > block_size {
                return damaged("an image is outside of the argument block of its kernel");
            }
            let sampler = match flags & (CAPTURED | FIXED) {
                0 if flags & GATHERS != 0 => return damaged("an image gathers without a sampler"),
                0 if first != 0 || second != 0 => return damaged("an image without a sampler has a sampler's numbers"),
                0 => None,
                CAPTURED if second != 0 => return damaged("a captured sampler has a second number"),
                CAPTURED if u64::from(first) + SAMPLER_BYTES > block_size => {
                    return damaged("a sampler is outside of the argument block of its kernel");
                }
                CAPTURED => Some(SamplerUse::Captured(first)),
                FIXED => Some(SamplerUse::Fixed { filter: first, address: second }),
                _ => return damaged("a sampler is both captured and fixed"),
            };
            let has = |flag| flags & flag != 0;
            images.push(ImageUse { offset, indirect: has(INDIRECT), sampler, gathers: has(GATHERS) });
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

    fn captures(&mut self, block_size: u64, version: u32) -> Result<Vec<Capture>, DecodeError> {
        let count = self.u32()? as usize;
        if count > self.rest.len() / CAPTURE_BYTES {
            return Err(TOO_MANY_CAPTURES);
        }
        let mut captures = Vec::new();
        reserve(&mut captures, count)?;
        for _ in 0..count {
            let (offset, flags) = (self.u32()?, self.u32()?);
            let thread_bytes = (flags >> THREAD_BYTES_SHIFT) as u16;
            let flags = flags & ((1 << THREAD_BYTES_SHIFT) - 1);
            if flags & !(READS | WRITES | INDIRECT) != 0 || (thread_bytes > 0 && version < VERSION_WITH_THREAD_BYTES) {
                return Err(DecodeError::Damaged("a capture has unknown flags"));
            }
            if offset != ANY_OFFSET && u64::from(offset) + POINTER_BYTES > block_size {
                return Err(DecodeError::Damaged("a capture is outside of the argument block of its kernel"));
            }
            let has = |flag| flags & flag != 0;
            let (indirect, reads, writes) = (has(INDIRECT), has(READS), has(WRITES));
            captures.push(Capture { offset, indirect, reads, writes, thread_bytes });
        }
        Ok(captures)
    }
}

/// A kernel's name without the parts that differ between the device and host passes of sources with overloads on restriction. In
/// the device pass of such a source, functions have internal linkage (an `L` before their names), and some have an attribute. The
/// image of such a source has bare names. In the host pass, a name has the `L` only if the program declares the function `static`.
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
            Capture { offset: 8, indirect: true, reads: true, writes: false, thread_bytes: 0 },
            Capture { offset: ANY_OFFSET, indirect: false, reads: true, writes: true, thread_bytes: 0 },
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
            rolled: None,
        }]
    }

    fn kernels_with_checks() -> Vec<Kernel<'static>> {
        let mut kernels = sample();
        kernels.extend(sample());
        kernels[1].checks = Some(Checks { sites: vec!["a.c:4", ""] });
        kernels
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_is_stable() {
        let bytes = b"RVMPKERN\x01\0\0\0\x01\0\0\0\x52\0\0\0\0\0\0\0\
                      \x01\0\0\0k\x05\0\0\0a.c:3\x10\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\0\0\0\x08\0\0\0\x05\0\0\0\
                      \xff\xff\xff\xff\x03\0\0\0\x04\0\0\0\x03\x02\x23\x07";
        assert_eq!(encode(&sample()), bytes);
        assert_eq!(decode(bytes).unwrap(), sample());
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_of_checks_is_stable() {
        let image = encode(&kernels_with_checks());
        let (plain, checked) = (&encode(&sample())[HEADER_BYTES..], &image[HEADER_BYTES..]);
        assert_eq!(image[..16], *b"RVMPKERN\x02\0\0\0\x02\0\0\0");
        let rest = checked.strip_prefix(plain).unwrap().strip_prefix(b"\0\0\0\0").unwrap();
        let sites = b"\x01\0\0\0\x02\0\0\0\x05\0\0\0a.c:4\0\0\0\0";
        assert_eq!(rest.strip_prefix(plain).unwrap(), sites);
        assert_eq!(decode(&image).unwrap(), kernels_with_checks());
    }

    fn kernels_with_images() -> Vec<Kernel<'static>> {
        let mut kernels = sample();
        let plain = ImageUse { offset: 8, indirect: true, sampler: None, gathers: false };
        let fixed = Some(SamplerUse::Fixed { filter: 21, address: 3 });
        let images = vec![plain, ImageUse { sampler: fixed, gathers: true, ..plain }];
        let captures = kernels[0].captures[..1].to_vec();
        kernels[0].with_images = Some(WithImages { captures, spirv: b"\x03\x02\x23\x07", images, rolled: None });
        kernels
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_of_images_is_stable() {
        let image = encode(&kernels_with_images());
        let plain = &encode(&sample())[HEADER_BYTES..];
        assert_eq!(image[..16], *b"RVMPKERN\x03\0\0\0\x01\0\0\0");
        let rest = image[HEADER_BYTES..].strip_prefix(plain).unwrap();
        let bytes = b"\x02\0\0\0\x01\0\0\0\x08\0\0\0\x05\0\0\0\x04\0\0\0\x03\x02\x23\x07\x02\0\0\0\
                      \x08\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\x0e\0\0\0\x15\0\0\0\x03\0\0\0";
        assert_eq!(rest, bytes);
        assert_eq!(decode(&image).unwrap(), kernels_with_images());
    }

    fn kernels_with_thread_bytes() -> Vec<Kernel<'static>> {
        let mut kernels = kernels_with_images();
        kernels[0].captures[0].thread_bytes = 0x1234;
        kernels
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_of_thread_bytes_is_stable() {
        let (image, mut other) = (encode(&kernels_with_thread_bytes()), encode(&kernels_with_images()));
        other[8] = 4;
        // The upper half of the flags of the first capture.
        other[64..66].copy_from_slice(b"\x34\x12");
        assert_eq!(image, other);
        assert_eq!(decode(&image).unwrap(), kernels_with_thread_bytes());
    }

    fn kernels_with_rolled_loops() -> Vec<Kernel<'static>> {
        let mut kernels = kernels_with_images();
        kernels[0].rolled = Some(b"ab");
        kernels[0].with_images.as_mut().unwrap().rolled = Some(b"c");
        kernels
    }

    /// Existing programs contain these bytes, so they must remain readable.
    #[test]
    fn the_format_of_rolled_loops_is_stable() {
        let (image, other) = (encode(&kernels_with_rolled_loops()), encode(&kernels_with_images()));
        let without_flags = encode(&sample()).len();
        assert_eq!(image[..16], *b"RVMPKERN\x05\0\0\0\x01\0\0\0");
        assert_eq!(image[HEADER_BYTES..without_flags], other[HEADER_BYTES..without_flags]);
        assert_eq!(image[without_flags], WITH_IMAGES as u8 | 4 | 8);
        let rest = image[without_flags + 1..].strip_prefix(&other[without_flags + 1..]).unwrap();
        assert_eq!(rest, b"\x02\0\0\0ab\x01\0\0\0c");
        assert_eq!(decode(&image).unwrap(), kernels_with_rolled_loops());
    }

    #[test]
    fn rolled_loops_for_images_need_a_variant_with_images() {
        let mut kernels = sample();
        kernels[0].rolled = Some(b"ab");
        let flags = encode(&sample()).len();
        let mut image = encode(&kernels);
        image[flags] = ROLLED_IMAGES as u8;
        let why = "a kernel has rolled loops for images, but no variant with images";
        assert_eq!(decode(&image), Err(DecodeError::Damaged(why)));
    }

    #[test]
    fn every_truncation_is_refused() {
        let kernels = [
            sample(),
            kernels_with_checks(),
            kernels_with_images(),
            kernels_with_thread_bytes(),
            kernels_with_rolled_loops(),
        ];
        for image in kernels.map(|kernels| encode(&kernels)) {
            for length in 0..image.len() {
                // A cut image is also refused if the size in the header is the shorter length.
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
    fn errors_name_the_damage() {
        let change = |at: usize, value: u8| {
            let mut image = encode(&sample());
            image[at] = value;
            decode(&image).unwrap_err()
        };
        assert_eq!(change(0, b'X'), DecodeError::Damaged("the kernel image does not begin with RVMPKERN"));
        assert_eq!(change(8, 6), DecodeError::Version(6));
        assert_eq!(
            change(8, 6).to_string(),
            "the kernel image has version 6, but this library reads only versions 1 to 5"
        );
        let mut unchecked = encode(&sample());
        unchecked[8] = 2;
        unchecked[16] += 4;
        unchecked.extend([0; 4]);
        assert_eq!(
            decode(&unchecked),
            Err(DecodeError::Damaged(
                "the version of the kernel image requires a kernel that checks bounds, but no kernel does"
            ))
        );
        assert_eq!(change(12, 0), DecodeError::Damaged("the kernel image has bytes after the last kernel"));
        assert_eq!(change(12, 2), TOO_SHORT);
        assert_eq!(change(16, 0), WRONG_SIZE);
        assert_eq!(change(23, 0x80), WRONG_SIZE);
        assert_eq!(change(28, 0xff), DecodeError::Damaged("a name is not UTF-8"));
        // The first capture: its offset (58), beyond the block of 16 bytes, and its flags (62).
        assert_eq!(change(58, 9), DecodeError::Damaged("a capture is outside of the argument block of its kernel"));
        assert_eq!(change(62, 8), DecodeError::Damaged("a capture has unknown flags"));
        assert_eq!(change(64, 1), DecodeError::Damaged("a capture has unknown flags"));
        let mut longer = encode(&sample());
        longer.push(0);
        assert_eq!(decode(&longer), Err(WRONG_SIZE));
    }

    #[test]
    fn errors_name_the_damage_of_images() {
        // The last image: its offset, its flags, and the two numbers of its sampler.
        let damage = |numbers: [u32; 4]| {
            let mut image = encode(&kernels_with_images());
            let at = image.len() - IMAGE_BYTES;
            image.splice(at.., numbers.into_iter().flat_map(u32::to_le_bytes));
            match decode(&image) {
                Err(DecodeError::Damaged(why)) => why,
                other => panic!("{numbers:?}: {other:?}"),
            }
        };
        for (numbers, why) in [
            ([9, 0, 0, 0], "an image is outside of the argument block of its kernel"),
            ([8, 1 << 31, 0, 0], "an image has unknown flags"),
            ([8, GATHERS, 0, 0], "an image gathers without a sampler"),
            ([8, 0, 1, 0], "an image without a sampler has a sampler's numbers"),
            ([8, 0, 0, 1], "an image without a sampler has a sampler's numbers"),
            ([8, CAPTURED, 16, 0], "a sampler is outside of the argument block of its kernel"),
            ([8, CAPTURED, 0, 1], "a captured sampler has a second number"),
            ([8, CAPTURED | FIXED, 0, 0], "a sampler is both captured and fixed"),
        ] {
            assert_eq!(damage(numbers), why, "{numbers:?}");
        }
    }

    #[test]
    fn counts_beyond_the_image_allocate_nothing() {
        let mut image = encode(&sample());
        // The number of captures is refused before memory is allocated for the captures.
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
        assert_eq!(
            decode_size(&[0; HEADER_BYTES]),
            Err(DecodeError::Damaged("the kernel image does not begin with RVMPKERN"))
        );
    }

    /// The owned data that a [`Kernel`] borrows.
    type Owned = (String, String, u64, u64, Vec<(u32, bool, bool, bool, u16)>, Vec<u8>, Option<Vec<String>>, Image);
    type Image = Option<(u32, bool, Option<(bool, u32, u32)>, bool)>;

    fn kernels(owned: &[Owned]) -> Vec<Kernel<'_>> {
        let capture = |&(offset, indirect, reads, writes, thread_bytes): &_| Capture {
            offset,
            indirect,
            reads,
            writes,
            thread_bytes,
        };
        owned
            .iter()
            .map(|(name, location, size, align, captures, spirv, sites, images)| Kernel {
                name,
                location,
                // The block is large enough for all captures.
                block_size: (*size).max(1 << 33),
                block_align: *align,
                captures: captures.iter().map(capture).collect(),
                spirv,
                checks: sites.as_ref().map(|sites| Checks { sites: sites.iter().map(String::as_str).collect() }),
                with_images: images.as_ref().map(|&(offset, indirect, sampler, gathers)| {
                    let captures = captures.iter().map(capture).collect();
                    let sampler = sampler.map(|(captured, a, b)| match captured {
                        true => SamplerUse::Captured(a),
                        false => SamplerUse::Fixed { filter: a, address: b },
                    });
                    let image = ImageUse { offset, indirect, sampler, gathers: gathers && sampler.is_some() };
                    WithImages { captures, spirv, images: vec![image], rolled: indirect.then_some(spirv) }
                }),
                rolled: (align % 2 == 1).then_some(spirv),
            })
            .collect()
    }

    fn some_kernels() -> impl Strategy<Value = Vec<Owned>> {
        let capture = (any::<u32>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<u16>());
        let captures = proptest::collection::vec(capture, 0..4);
        let spirv = proptest::collection::vec(any::<u8>(), 0..40);
        let sites = proptest::option::of(proptest::collection::vec(".*", 0..4));
        let sampler = proptest::option::of((any::<bool>(), any::<u32>(), any::<u32>()));
        let images = proptest::option::of((any::<u32>(), any::<bool>(), sampler, any::<bool>()));
        proptest::collection::vec((".*", ".*", any::<u64>(), any::<u64>(), captures, spirv, sites, images), 0..4)
    }

    proptest! {
        #[test]
        fn decoding_reverses_encoding(owned in some_kernels()) {
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
            // Decoding fails, or the kernels encode to the same bytes.
            if let Ok(kernels) = decode(&image) {
                prop_assert_eq!(encode(&kernels), image);
            }
        }
    }
}
