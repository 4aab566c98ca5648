//! The kernels that the kernel compiler put into the program and its libraries, found by the address of their host stub.
//!
//! Each object file registers its *image* (its encoded kernels). For each kernel it also registers the address of the host stub,
//! and the kernel's name in the image. Object files that instantiate the same template or inline function share one stub. The
//! kernel of a shared stub comes from the first of these files that is still loaded. The stub's address is the address of a
//! constant. Each program or shared library has its own constant, so kernels of the same name in two libraries differ. An image
//! is decoded when one of its kernels is first looked up, so that registration costs nothing at program start.

use super::image::{self, Capture, ImageUse, Kernel};
use super::registry::RecordId;
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::lock::{RwLock, rank};
use crate::trace::names::CachedName;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The form of compiled kernels for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelForm {
    /// Loops are not unrolled, for drivers that unroll loops.
    pub rolled_loops: bool,
    /// Arguments are read by address, not from a uniform buffer.
    pub arguments_by_address: bool,
}

/// A compiled kernel. It outlives its image.
#[derive(Debug)]
pub struct Compiled {
    /// The compiler's name for the kernel.
    pub name: String,
    /// File and line of the functor.
    pub location: String,
    /// A number that no other kernel of the process has.
    pub id: u64,
    /// The location as a name in traces.
    pub cached_name: CachedName,
    /// The SPIR-V module.
    spirv: Arc<[u8]>,
    /// The packed module with rolled loops.
    rolled: Option<Arc<[u8]>>,
    /// Bytes of the argument block, without the data that launches append to it.
    pub block_size: u64,
    /// Alignment of the argument block.
    pub block_align: u64,
    /// The pointers in the argument block through which the kernel accesses memory.
    pub captures: Vec<Capture>,
    /// The number of distinct offsets in `captures`, not counting [`image::ANY_OFFSET`].
    pub offset_count: usize,
    /// The native kernel for the host's processor.
    pub native: Option<Native>,
    /// The checked accesses, if the kernel checks bounds.
    pub checks: Option<Arc<Checks>>,
    /// The form of this kernel that reads its textures as images, and the uses of these images, indexed by binding number.
    pub with_images: Option<(Arc<Compiled>, Vec<ImageUse>)>,
}

impl Compiled {
    /// A kernel of an image.
    fn new(kernel: &Kernel<'_>, native: Option<Native>) -> Self {
        let form = |spirv: &[u8], rolled: Option<&[u8]>, captures: &[Capture]| Self {
            name: kernel.name.to_owned(),
            location: kernel.location.to_owned(),
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            cached_name: CachedName::new(),
            spirv: Arc::from(spirv),
            rolled: rolled.map(Arc::from),
            block_size: kernel.block_size,
            block_align: kernel.block_align,
            captures: captures.to_owned(),
            offset_count: offset_count(captures),
            native: None,
            checks: None,
            with_images: None,
        };
        let sites = |sites: &[&str]| Arc::new(Checks { sites: sites.iter().map(|&site| site.to_owned()).collect() });
        let with_images = kernel.with_images.as_ref();
        let with_images = with_images.map(|w| (Arc::new(form(w.spirv, w.rolled, &w.captures)), w.images.clone()));
        let checks = kernel.checks.as_ref().map(|checks| sites(&checks.sites));
        Self { native, checks, with_images, ..form(kernel.spirv, kernel.rolled, &kernel.captures) }
    }

    /// The SPIR-V module: the module with rolled loops if `form` has them and the kernel has such a module.
    pub fn spirv(&self, form: KernelForm) -> Result<Cow<'_, [u8]>> {
        match &self.rolled {
            Some(packed) if form.rolled_loops => image::unpack(packed).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(&*self.spirv)),
        }
    }

    /// The ascending offsets, in the argument block, of references to arrays whose elements the kernel uses.
    pub fn references(&self) -> Vec<u32> {
        let arrays = self.captures.iter().filter(|c| c.indirect && c.offset != image::ANY_OFFSET);
        let mut offsets: Vec<u32> = arrays.map(|c| c.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }
}

/// A kernel compiled for the host (`kernelc/src/native`). Usually it has one function for each processor level, which runs whole tiles
/// or rows. If `by_threads`, it has a single function, which runs one thread of a tile, or a row.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    /// The addresses of the functions for x86-64-v1, -v3, -v4; with `by_threads` all three are the same.
    pub functions: [usize; 3],
    /// Bytes of memory that a tile takes while it runs.
    pub memory: u64,
    /// A tile's threads in x, y, z; zeros for a kernel without tiles.
    pub tile: [u32; 3],
    /// True if the kernel checks its accesses against the table that follows its argument block.
    pub checked: bool,
    /// True if the function is called for each thread of a tile.
    pub by_threads: bool,
}

/// The reports of a kernel that checks bounds.
#[derive(Debug)]
pub struct Checks {
    /// The checked accesses, indexed by the numbers in reports; empty if the kernel reports nothing.
    pub sites: Vec<String>,
}

/// A registered image.
struct Image {
    /// The address of the wrapper struct that the object file passed when it registered the image.
    wrapper_address: usize,
    /// An error if the registered bytes are not an image.
    bytes: Result<&'static [u8]>,
    kernels: OnceLock<Result<HashMap<&'static str, Kernel<'static>>>>,
    native: HashMap<String, Native>,
}

/// A stub that an image registered.
struct Stub {
    image: RecordId,
    name: String,
    kernel: OnceLock<Result<Arc<Compiled>>>,
}

#[derive(Default)]
struct Images {
    images: Vec<(RecordId, Image)>,
    stubs: BTreeMap<usize, Vec<Stub>>,
    last_id: u64,
}

static IMAGES: OnceLock<RwLock<Images, { rank::IMAGES }>> = OnceLock::new();
/// The number of registered images.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn images() -> &'static RwLock<Images, { rank::IMAGES }> {
    IMAGES.get_or_init(RwLock::default)
}

/// Adds an image, which must stay loaded until [`unregister`]. [`find`] reports errors, because nothing can report them while
/// the program starts. The object file identifies the image by the address of a wrapper struct.
pub fn register(wrapper_address: usize, bytes: Result<&'static [u8]>) -> RecordId {
    let mut images = images().write();
    let id = images.register(wrapper_address, bytes);
    COUNT.store(images.images.len(), Ordering::Release);
    id
}

/// True if an image is registered with the wrapper struct at this address.
pub fn is_registered(wrapper_address: usize) -> bool {
    images().read().images.iter().any(|(_, image)| image.wrapper_address == wrapper_address)
}

/// Registers the stub at `address`: its launches run kernel `name` of `image`.
pub fn add(image: RecordId, address: usize, name: &str) {
    images().write().add(image, address, name);
}

/// Adds the native form of kernel `name` of an image.
pub fn add_native(image: RecordId, name: &str, native: Native) {
    let mut images = images().write();
    if let Some((_, image)) = images.images.iter_mut().find(|(id, _)| *id == image) {
        image.native.insert(name.to_owned(), native);
    }
}

/// Removes an image and its stubs.
pub fn unregister(image: RecordId) {
    let mut images = images().write();
    images.unregister(image);
    COUNT.store(images.images.len(), Ordering::Release);
}

/// True if any image is registered.
pub fn any() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// The kernel of the stub at `address`, if one is registered.
pub fn find(address: usize) -> Result<Option<Arc<Compiled>>> {
    images().read().find(address)
}

impl Images {
    fn register(&mut self, wrapper_address: usize, bytes: Result<&'static [u8]>) -> RecordId {
        self.last_id += 1;
        let id = RecordId(self.last_id);
        self.images.push((id, Image { wrapper_address, bytes, kernels: OnceLock::new(), native: HashMap::new() }));
        id
    }

    fn add(&mut self, image: RecordId, address: usize, name: &str) {
        let stubs = self.stubs.entry(address).or_default();
        stubs.push(Stub { image, name: name.to_owned(), kernel: OnceLock::new() });
        if let Some(other) = stubs.iter().find(|stub| stub.name != name) {
            let merged = Error::runtime(format!(
                "the linker merged the kernels \"{}\" and \"{name}\"; link without --ignore-data-address-equality",
                other.name
            ));
            stubs.iter_mut().for_each(|stub| stub.kernel = OnceLock::from(Err(merged.clone())));
        }
    }

    fn unregister(&mut self, image: RecordId) {
        self.images.retain(|(id, _)| *id != image);
        self.stubs.retain(|_, stubs| {
            stubs.retain(|s| s.image != image);
            !stubs.is_empty()
        });
    }

    fn find(&self, address: usize) -> Result<Option<Arc<Compiled>>> {
        let Some(stub) = self.stubs.get(&address).and_then(|stubs| stubs.first()) else { return Ok(None) };
        stub.kernel.get_or_init(|| self.load(stub)).clone().map(Some)
    }

    fn load(&self, stub: &Stub) -> Result<Arc<Compiled>> {
        let image = self.images.iter().find(|(id, _)| *id == stub.image).map(|(_, image)| image);
        let image = image.ok_or_else(|| Error::internal("a kernel was registered without its image"))?;
        let bytes = image.bytes.clone()?;
        let kernels = image.kernels.get_or_init(|| by_name(bytes)).as_ref().map_err(Clone::clone)?;
        let bare = || kernels.get(image::bare_name(&stub.name).as_str());
        let kernel = kernels.get(stub.name.as_str()).or_else(bare).ok_or_else(|| {
            Error::runtime(format!("the compiled kernels of the program lack \"{}\"; rebuild the program", stub.name))
        })?;
        Ok(Arc::new(Compiled::new(kernel, image.native.get(kernel.name).copied())))
    }
}

/// Calls `each` for the compiled kernels in the bytes of a program, library or object file, in order. Returns the number of kernels.
pub fn each_in_program(program: &[u8], mut each: impl FnMut(Compiled) -> Result<()>) -> Result<usize> {
    let mut count = 0;
    for image in image::in_program(program) {
        for kernel in image::read(image)? {
            each(Compiled::new(&kernel, None))?;
            count += 1;
        }
    }
    Ok(count)
}

fn offset_count(captures: &[Capture]) -> usize {
    let known: BTreeSet<u32> = captures.iter().map(|c| c.offset).filter(|&at| at != image::ANY_OFFSET).collect();
    known.len()
}

/// The kernels of an image.
fn by_name(image: &'static [u8]) -> Result<HashMap<&'static str, Kernel<'static>>> {
    let all = image::read(image)?;
    let mut kernels = HashMap::new();
    kernels.make_room(all.len())?;
    kernels.extend(all.into_iter().map(|kernel| (kernel.name, kernel)));
    Ok(kernels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of kernels with these names. The name of each kernel is also its module.
    fn image(names: &[&'static str]) -> Result<&'static [u8]> {
        let kernel = |&name: &&'static str| Kernel {
            name,
            location: name,
            block_size: 0,
            block_align: 0,
            captures: Vec::new(),
            checks: None,
            with_images: None,
            rolled: Some(b"\x01"),
            spirv: name.as_bytes(),
        };
        Ok(revamp_image::encode(&names.iter().map(kernel).collect::<Vec<_>>()).leak())
    }

    #[test]
    fn two_images_may_share_a_stub() {
        let mut all = Images::default();
        let a = all.register(0, image(&["x", "shared"]));
        let b = all.register(0, image(&["shared"]));
        all.add(a, 16, "x");
        all.add(a, 32, "shared");
        all.add(b, 32, "shared");
        assert_eq!(*all.find(16).unwrap().unwrap().spirv(KernelForm::default()).unwrap(), b"x"[..]);
        let rolled = KernelForm { rolled_loops: true, ..KernelForm::default() };
        assert_eq!(*all.find(16).unwrap().unwrap().spirv(rolled).unwrap(), b"\x01\0\0\0"[..]);
        assert!(all.find(48).unwrap().is_none());
        let kept = all.find(32).unwrap().unwrap();
        assert!(Arc::ptr_eq(&kept, &all.find(32).unwrap().unwrap()), "read once");
        all.unregister(a);
        assert!(all.find(16).unwrap().is_none());
        assert_eq!(*all.find(32).unwrap().unwrap().spirv(KernelForm::default()).unwrap(), b"shared"[..]);
        all.unregister(b);
        assert!(all.find(32).unwrap().is_none() && all.stubs.is_empty() && all.images.is_empty());
        assert_eq!(kept.name, "shared", "a kernel outlives its image");
    }

    #[test]
    fn two_kernels_with_one_address_are_refused() {
        let mut all = Images::default();
        let a = all.register(0, image(&["x", "y", "z"]));
        all.add(a, 16, "x");
        all.add(a, 32, "z");
        assert!(all.find(16).is_ok());
        all.add(a, 16, "y");
        let text = all.find(16).unwrap_err().to_string();
        assert!(text.contains("\"x\" and \"y\"") && all.find(32).is_ok(), "{text}");
    }

    #[test]
    fn damaged_images_are_reported_by_find() {
        let mut all = Images::default();
        let a = all.register(0, Ok(b"RVMPKERN"));
        all.add(a, 16, "x");
        assert!(all.find(16).unwrap_err().to_string().contains("damaged"));
        let b = all.register(0, image(&["x"]));
        all.add(b, 32, "y");
        assert!(all.find(32).unwrap_err().to_string().contains("lack \"y\""));
    }
}
