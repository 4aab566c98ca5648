//! Cached launches: launches that can be repeated without new lookups (decision 14).
//!
//! A program launches the same kernels on the same views over and over. The lookups of a launch find its accelerator_view, the
//! buffers of its array_views, and whether the array_views are valid there. The results hold until the [`Stamp`] of a data
//! source changes. A cached launch keeps no object alive. If anything has changed, the launch is prepared like a new one.

use crate::device::block::AddressSlot;
use crate::device::hazard::{Detour, Point};
use crate::device::{BoundImage, Buffer, Use};
use crate::error::{ErrorKind, Result};
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;
use crate::runtime::data::array::Array;
use crate::runtime::data::locked::LockedSources;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::source::Source;
use crate::runtime::data::source_state::Stamp;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::bounds::Span;
use crate::runtime::launch::mirrors::{self, Mirroring};
use crate::runtime::launch::request::FunctionLaunch;
use crate::runtime::launch::submit::submit;
use crate::runtime::race;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// A [`Use`] that keeps nothing alive.
type WeakUse = (Weak<dyn Buffer>, Range<u64>, Access);

/// An array. For a texture with a mirror image, also the bytes that the kernel may write.
type CapturedArray = (Weak<Array>, Option<Range<u64>>);

/// The results of the lookups of a launch of a compiled kernel on a Vulkan view.
pub struct CachedLaunch {
    view: Weak<AcceleratorView>,
    compiled: Weak<Compiled>,
    kernel: Weak<LoadedKernel>,
    groups: [u64; 3],
    /// The data sources of the array_views, in the order in which they are locked.
    sources: SmallVec<[(Weak<Source>, Stamp); 4]>,
    /// Arrays that are captured directly, not through array_views.
    arrays: SmallVec<[CapturedArray; 2]>,
    uses: SmallVec<[WeakUse; 4]>,
    /// The addresses for the address slots. 0 for an argument that the kernel does not use.
    addresses: SmallVec<[u64; 4]>,
    /// For a kernel that checks bounds: the memory at each address.
    spans: Vec<Span>,
    /// The textures that are read as images.
    images: Vec<Mirroring>,
}

/// The data of a launch that was just submitted.
pub(in crate::runtime) struct Launched<'a> {
    pub view: &'a Arc<AcceleratorView>,
    pub compiled: &'a Arc<Compiled>,
    pub kernel: &'a Arc<LoadedKernel>,
    pub groups: [u64; 3],
    pub captured: &'a [Captured<'a>],
    pub resolved: &'a ResolvedArguments,
    pub addresses: SmallVec<[u64; 4]>,
    pub spans: Vec<Span>,
    pub images: Vec<Mirroring>,
}

impl CachedLaunch {
    /// Caches a launch that was just submitted. Returns `None` if the next launch may differ. `held`: the locked data
    /// sources of the launch.
    pub(in crate::runtime) fn of(
        launch: &FunctionLaunch<'_>,
        launched: Launched<'_>,
        held: &mut LockedSources<'_>,
    ) -> Result<Option<Self>> {
        // Arguments that have just changed may change again before the next launch.
        if race::is_on() || launched.resolved.changed() {
            return Ok(None);
        }
        for (c, holder) in launched.captured.iter().zip(launched.resolved.holders()) {
            if let (Operand::View(part), Some(holder)) = (c.operand, holder) {
                let state = held.state(part)?;
                if !part.is_known_valid(state, holder, c.needs) || !state.uses_one_buffer(holder) {
                    return Ok(None);
                }
            }
        }
        let mut view_sources: SmallVec<[&Arc<Source>; 8]> = SmallVec::new();
        let mut arrays = SmallVec::new();
        // Arguments that the kernel does not use also influence where the kernel runs.
        for argument in launch.arguments {
            match &argument.section {
                Operand::View(part) => view_sources.push(part.source()),
                // `held` tells whether the array has a data source. Asking the array itself would violate the order of locks.
                Operand::Array(array, layout) if held.of_array(array).is_none() => {
                    let bytes = array.mirror().map(|_| layout.hull());
                    let is_same_section = |o: &Operand| match (o, &bytes) {
                        (Operand::Array(a, l), Some(bytes)) => Arc::ptr_eq(a, array) && l.hull() == *bytes,
                        _ => false,
                    };
                    let written = launched.captured.iter().any(|c| c.access.writes() && is_same_section(c.operand));
                    arrays.push((Arc::downgrade(array), bytes.filter(|_| written)));
                }
                _ => return Ok(None),
            }
        }
        view_sources.sort_unstable_by_key(|s| s.id());
        view_sources.dedup_by_key(|s| s.id());
        let mut sources = SmallVec::new();
        for source in view_sources {
            sources.push((Arc::downgrade(source), held.of(source)?.stamp()));
        }
        Ok(Some(Self {
            view: Arc::downgrade(launched.view),
            compiled: Arc::downgrade(launched.compiled),
            kernel: Arc::downgrade(launched.kernel),
            groups: launched.groups,
            sources,
            arrays,
            uses: launched
                .resolved
                .uses
                .iter()
                .map(|u| (Arc::downgrade(&u.buffer), u.range.clone(), u.access))
                .collect(),
            addresses: launched.addresses,
            spans: launched.spans,
            images: launched.images,
        }))
    }

    /// Repeats the launch with `block`, an argument block of the same size. Writes the addresses to `slots` of the block.
    /// `None` if something has changed.
    pub fn launch(&self, block: &[u8], slots: &[AddressSlot<'_>]) -> Result<Option<Point>> {
        if self.images.is_empty() {
            return self.launch_with(&[], block, slots);
        }
        self.launch_with_images(block, slots)
    }

    /// [`Self::launch`] with images. A separate cold function, because most launches have no images.
    #[cold]
    fn launch_with_images(&self, block: &[u8], slots: &[AddressSlot<'_>]) -> Result<Option<Point>> {
        match mirrors::rebound(&self.images, block)? {
            Some(images) => self.launch_with(&images, block, slots),
            None => Ok(None),
        }
    }

    #[inline(always)]
    fn launch_with(&self, images: &[BoundImage], block: &[u8], slots: &[AddressSlot<'_>]) -> Result<Option<Point>> {
        let (Some(view), Some(kernel)) = (self.view.upgrade(), self.kernel.upgrade()) else { return Ok(None) };
        if self.compiled.strong_count() == 0 || view.device().lost().is_some() {
            return Ok(None);
        }
        for (array, _) in &self.arrays {
            let Some(array) = array.upgrade() else { return Ok(None) };
            if !array.pending().is_idle() || array.source().is_some() {
                return Ok(None);
            }
        }
        let mut sources: SmallVec<[Arc<Source>; 8]> = SmallVec::new();
        for (source, _) in &self.sources {
            match source.upgrade() {
                Some(source) if source.pending().is_idle() => sources.push(source),
                _ => return Ok(None),
            }
        }
        let mut held: SmallVec<[_; 8]> = SmallVec::new();
        for (source, (_, stamp)) in sources.iter().zip(&self.sources) {
            let state = source.lock();
            if state.stamp() != *stamp || source.host_access().any() {
                return Ok(None);
            }
            held.push(state);
        }
        let mut uses: SmallVec<[Use; 8]> = SmallVec::new();
        for (buffer, range, access) in &self.uses {
            let Some(buffer) = buffer.upgrade() else { return Ok(None) };
            uses.push(Use { buffer, range: range.clone(), access: *access });
        }
        let slots = slots.iter().zip(self.addresses.iter().copied());
        match submit(|d| view.dispatch(&kernel, d), &kernel, self.groups, &uses, images, block, slots, &self.spans, &[])
        {
            // The launch needs a wait first, or bytes of its buffers are lost.
            Err(e) if Detour::of(&e).is_some() => Ok(None),
            Err(e) if !images.is_empty() && e.kind == ErrorKind::UnsupportedFeature => Ok(None),
            done => {
                if !self.arrays.is_empty() {
                    self.outdate_mirrors();
                }
                done.map(Some)
            }
        }
    }

    /// Marks the mirror images of written textures as outdated. Cold, because most launches have no arrays.
    #[cold]
    fn outdate_mirrors(&self) {
        for (array, written) in &self.arrays {
            let (Some(bytes), Some(array)) = (written, array.upgrade()) else { continue };
            if let Some(mirror) = array.mirror() {
                mirror.written(bytes);
            }
        }
    }
}
