//! Launches compiled kernels on Vulkan views. The kernel compiler has made these kernels from C++ AMP lambdas.

use crate::device::Dispatch;
use crate::device::block::AddressSlot;
use crate::device::hazard::Point;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::compiled::Compiled;
use crate::kernel::image::ANY_OFFSET;
use crate::kernel::{Access, Variant};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::locked::LockedSources;
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::bounds::Span;
use crate::runtime::launch::cached_launch::{CachedLaunch, Launched};
use crate::runtime::launch::domain::{groups, threads};
use crate::runtime::launch::mirrors::{self, TextureAccess};
use crate::runtime::launch::request::{DISPATCH, FunctionArgument, FunctionLaunch};
use crate::runtime::launch::searched::Searched;
use crate::runtime::launch::shadows::Shadows;
use crate::runtime::launch::shared::are_disjoint;
use crate::runtime::launch::submit::submit;
use crate::runtime::launch::uses::reads_and_writes;
use crate::runtime::launch::workgroup::workgroup;
use smallvec::SmallVec;
use std::sync::Arc;

/// Fails if the kernel reads and writes a texture of less than 32 bits per component, through the same or different arguments
/// (TEX-21). [`check_levels`](crate::runtime::data::texture::check_levels) covers read-only texture views (TEX-33).
pub(in crate::runtime) fn check_narrow(kernel: &Compiled, arguments: &[FunctionArgument<'_>]) -> Result<()> {
    let mut narrow: SmallVec<[_; 4]> = SmallVec::new();
    for (n, a) in arguments.iter().enumerate().filter(|(_, a)| a.access.writes()) {
        if let (Some(bits), Some(slot), Operand::Array(array, layout)) = (a.narrow_bits, &a.slot, &a.section) {
            narrow.extend(reads_and_writes(kernel, slot).map(|uses| (n, bits, array, layout.hull(), uses)));
        }
    }
    for (reader, bits, texture, texels, _) in narrow.iter().filter(|(.., (reads, _))| *reads) {
        let mut writers = narrow.iter().filter(|(.., (_, writes))| *writes);
        if let Some((writer, ..)) = writers.find(|w| arguments[w.0].section.overlaps(texture, texels)) {
            return Err(Error::unsupported(format!(
                "{}: the kernel reads and writes the same texture (reads argument {reader}, writes argument {writer}). \
                 Such a texture must have 32 bits per scalar element, but has {bits} bits; use 32 bits, or write \
                 another texture",
                kernel.location
            )));
        }
    }
    Ok(())
}

/// Checks that the launch matches the compiled kernel.
pub(in crate::runtime) fn check(kernel: &Compiled, launch: &FunctionLaunch<'_>) -> Result<()> {
    let refused = |what: String| Err(Error::runtime(format!("{}: {what}", kernel.location)));
    let given = (launch.block.len() as u64, launch.block_align as u64);
    // The block may be aligned more strictly than the compiler requires.
    if given.0 != kernel.block_size || given.1 < kernel.block_align {
        return refused(format!(
            "the kernel was compiled for arguments of {} bytes aligned to {}, but the host passes {} bytes aligned to \
             {}; the functor must have the same layout in host and device code",
            kernel.block_size, kernel.block_align, given.0, given.1
        ));
    }
    for c in kernel.captures.iter().filter(|c| c.offset != ANY_OFFSET) {
        let mut slots = launch.arguments.iter().filter_map(|a| a.slot.as_ref());
        let is_slot_of_capture = |slot: &AddressSlot<'_>| {
            slot.offset() == c.offset && (!c.indirect || matches!(slot, AddressSlot::Indirect(..)))
        };
        if !slots.any(is_slot_of_capture) {
            return refused(format!(
                "the kernel uses a pointer that belongs to no array_view and no live array (captured at byte {} of the \
                 functor); capture an array_view, or a reference to an array",
                c.offset
            ));
        }
    }
    Ok(())
}

/// The error of a launch without a compiled kernel on an accelerator that needs one.
pub(in crate::runtime) fn missing_kernel_error(accelerator: &Accelerator) -> Error {
    Error::unsupported(format!(
        "{} runs SPIR-V, but the program has no compiled kernel for this launch; compile the source file with \
         revamp-c++ or with revamp_add_kernels() of CMake, or launch on host threads (direct3d\\warp, \
         accelerator::direct3d_warp)",
        accelerator.name()
    ))
}

/// The addresses for the address slots, and with `checks` also the memory at each address.
fn addresses(
    used_as: &[Option<Access>],
    resolved: &ResolvedArguments,
    accelerator: &Accelerator,
    checks: bool,
) -> Result<(SmallVec<[u64; 4]>, Vec<Span>)> {
    let mut bound = resolved.uses.iter();
    let mut addresses: SmallVec<[u64; 4]> = SmallVec::new();
    let mut spans: Vec<Span> = Vec::new();
    for access in used_as {
        // A kernel may use the extent of an array but not the elements. The address of the elements is then 0.
        let (address, span) = match access.and_then(|_| bound.next()) {
            None => (0, (0, 0)),
            // The kernel accesses an image only through a descriptor.
            Some(b) if b.buffer.image().is_some() => (0, (0, 0)),
            Some(b) => {
                let start = b.buffer.device_address().ok_or_else(|| {
                    Error::runtime(format!("an array of the launch has no device address on {}", accelerator.name()))
                })?;
                (start + b.range.start, (start, b.buffer.size()))
            }
        };
        addresses.push(address);
        if checks {
            spans.push(span);
        }
    }
    Ok((addresses, spans))
}

/// Runs the kernel on `view`.
///
/// - `used_as`: the kernel's access to each argument, `None` for an argument that the kernel does not use.
/// - `captured`: the used arguments.
/// - `cache_slot` receives the cached launch if the launch can be cached.
/// - `as_images`: true if textures may be read as images.
#[allow(clippy::too_many_arguments)]
pub(in crate::runtime) fn run(
    kernel: &Arc<Compiled>,
    launch: &FunctionLaunch<'_>,
    used_as: &[Option<Access>],
    captured: &[Captured<'_>],
    view: &Arc<AcceleratorView>,
    held: &mut LockedSources<'_>,
    cache_slot: Option<&mut Option<CachedLaunch>>,
    as_images: bool,
) -> Result<Point> {
    check(kernel, launch)?;
    let accelerator = view.accelerator();
    if let Some(lost) = view.device().lost() {
        return Err(lost);
    }
    let mut texture_access =
        if as_images { mirrors::texture_access(kernel, launch, captured, view)? } else { TextureAccess::Texels };
    let (device, compiled, kernels) = view.device_and_kernels();
    let load = |kernel| compiled.load(device, kernels, kernel);
    let with_images = kernel
        .with_images
        .as_ref()
        .filter(|_| matches!(texture_access, TextureAccess::Images(..)))
        .map(|(k, _)| load(k));
    let mut loaded = match with_images {
        Some(Ok(loaded)) => loaded,
        other => {
            if let Some(Err(e)) = other {
                crate::log!(Info, "{}: the kernel reads textures as texels instead of images: {e}", kernel.location);
                texture_access = TextureAccess::Texels;
            }
            load(kernel)?
        }
    };
    let mut variant = Variant::default();
    let mut size = loaded.workgroup();
    let mut searched = None;
    if launch.tile.is_none() && loaded.chooses_workgroup() {
        let domain = threads(launch.extent);
        let properties = accelerator.properties();
        let subgroup = Some(properties.hardware.subgroup_size).filter(|_| !properties.is_emulated);
        let chosen = workgroup(size, domain, subgroup);
        if loaded.is_searched() {
            let found = Searched::begin(view, &loaded, chosen, domain)?;
            (size, loaded) = (found.size, found.kernel.clone());
            searched = Some(found);
        } else {
            variant.workgroup = Some(chosen).filter(|&chosen| chosen != size);
            size = chosen;
        }
    }
    if let Some(tile) = launch.tile {
        let wanted: SmallVec<[u32; 3]> = tile.iter().rev().map(|&t| t as u32).chain([1, 1]).take(3).collect();
        if wanted[..] != size {
            return Err(Error::runtime(format!(
                "{}: the kernel was compiled for tiles of {size:?} threads (x, y, z), but the launch has tiles of \
                 {wanted:?}; rebuild the program",
                kernel.location
            )));
        }
    }
    let groups = groups(launch.extent, size)?;
    let mut resolved = ResolvedArguments::default();
    resolved.make_valid(captured, view, held, DISPATCH)?;
    variant.no_aliasing = loaded.depends_on_sharing() && are_disjoint(&resolved.uses);
    if let Some(decided) = loaded.variant(device, kernels, variant)? {
        loaded = decided;
    }
    let shadows = Shadows::of(kernel, launch, &texture_access, used_as, captured, &mut resolved, view)?;
    let (addresses, spans) = addresses(used_as, &resolved, accelerator, loaded.checks().is_some())?;
    resolved.uses.retain(|u| u.buffer.image().is_none());
    let slots = launch.arguments.iter().map(|a| a.slot.as_ref()).zip(&addresses);
    let slots = slots.filter_map(|(slot, &address)| Some((slot?, address)));
    let images = if let TextureAccess::Images(_, bound) = &texture_access { &bound[..] } else { &[] };
    let enqueue = |d: &Dispatch<'_>| match (&searched, launch.timer) {
        (None, None) => view.dispatch(&loaded, d),
        (None, Some(slot)) => view.dispatch_into(&loaded, d, slot),
        (Some(searched), slot) => searched.dispatch(view, d, slot),
    };
    let point =
        match submit(enqueue, &loaded, groups, &resolved.uses, images, launch.block, slots, &spans, launch.after) {
            // The device does not support a sampler of the launch.
            Err(e) if !images.is_empty() && e.kind == ErrorKind::UnsupportedFeature => {
                crate::log!(Info, "{}: the kernel reads textures as texels instead of images: {e}", kernel.location);
                return run(kernel, launch, used_as, captured, view, held, None, false);
            }
            done => done?,
        };
    if let Some(shadows) = &shadows {
        shadows.write(view)?;
    }
    resolved.written(captured, held)?;
    let repeats = searched.as_ref().is_none_or(|s| s.repeats)
        && shadows.is_none()
        && !matches!(texture_access, TextureAccess::TexelsNow);
    if let Some(cache_slot) = cache_slot.filter(|_| repeats) {
        let launched = Launched {
            view,
            compiled: kernel,
            kernel: &loaded,
            groups,
            captured,
            resolved: &resolved,
            addresses,
            spans,
            images: if let TextureAccess::Images(all, _) = texture_access { all } else { Vec::new() },
        };
        *cache_slot = CachedLaunch::of(launch, launched, held)?;
    }
    Ok(point)
}
