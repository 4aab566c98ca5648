//! Launches of the kernels that the kernel compiler made of C++ AMP lambdas, on Vulkan views.

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
use crate::runtime::launch::shared::are_apart;
use crate::runtime::launch::submit::submit;
use crate::runtime::launch::uses::reads_and_writes;
use crate::runtime::launch::workgroup::workgroup;
use smallvec::SmallVec;
use std::sync::Arc;

/// Fails if the kernel reads and writes a texture of less than 32 bits, by whichever of its arguments (TEX-21). Read-only
/// views are left to the check of levels (TEX-33).
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
                "{}: the kernel reads and writes a texture of {bits} bits per scalar element (it reads argument \
                 {reader} and writes argument {writer}); a kernel can do both only with 32 bits; use 32 bits, or read \
                 one texture and write another",
                kernel.location
            )));
        }
    }
    Ok(())
}

/// Checks that the launch fits what was compiled.
pub(in crate::runtime) fn check(kernel: &Compiled, launch: &FunctionLaunch<'_>) -> Result<()> {
    let refused = |what: String| Err(Error::runtime(format!("{}: {what}", kernel.location)));
    let given = (launch.block.len() as u64, launch.block_align as u64);
    // The compiler may know a smaller alignment than the source asks for.
    if given.0 != kernel.block_size || given.1 < kernel.block_align {
        return refused(format!(
            "the kernel was compiled for arguments of {} bytes aligned to {}, but the host passes {} bytes aligned to \
             {}; the functor must have the same layout in host and device code",
            kernel.block_size, kernel.block_align, given.0, given.1
        ));
    }
    for c in kernel.captures.iter().filter(|c| c.offset != ANY_OFFSET) {
        let mut slots = launch.arguments.iter().filter_map(|a| a.slot.as_ref());
        let is_it = |slot: &AddressSlot<'_>| {
            slot.offset() == c.offset && (!c.further || matches!(slot, AddressSlot::Behind(..)))
        };
        if !slots.any(is_it) {
            return refused(format!(
                "the kernel uses a pointer captured at byte {} of its functor that belongs to no array_view and no \
                 live array; capture an array_view, or a reference to an array",
                c.offset
            ));
        }
    }
    Ok(())
}

/// The error text if there is no compiled kernel.
pub(in crate::runtime) fn missing(accelerator: &Accelerator) -> Error {
    Error::unsupported(format!(
        "{} runs SPIR-V, but the program has no compiled kernel for this launch; compile the source file with revamp-c++ or \
         with revamp_add_kernels() of CMake, or run it on host threads, the accelerator direct3d\\warp \
         (accelerator::direct3d_warp)",
        accelerator.name()
    ))
}

/// The addresses for the address slots, and with `checks` the memory behind each.
fn addresses(
    used: &[Option<Access>],
    resolved: &ResolvedArguments,
    accelerator: &Accelerator,
    checks: bool,
) -> Result<(SmallVec<[u64; 4]>, Vec<Span>)> {
    let mut bound = resolved.uses.iter();
    let mut addresses: SmallVec<[u64; 4]> = SmallVec::new();
    let mut spans: Vec<Span> = Vec::new();
    for access in used {
        // The extent of an array may be used even if its elements are not.
        let (address, span) = match access.and_then(|_| bound.next()) {
            None => (0, (0, 0)),
            // Reached by its descriptor alone.
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

/// Runs the kernel on `view`. `used`: how it uses each argument; the used ones are `captured`. `again` gets the cached
/// launch if there can be one. `as_images`: textures may be read as images.
#[allow(clippy::too_many_arguments)]
pub(in crate::runtime) fn run(
    kernel: &Arc<Compiled>,
    launch: &FunctionLaunch<'_>,
    used: &[Option<Access>],
    captured: &[Captured<'_>],
    view: &Arc<AcceleratorView>,
    held: &mut LockedSources<'_>,
    again: Option<&mut Option<CachedLaunch>>,
    as_images: bool,
) -> Result<Point> {
    check(kernel, launch)?;
    let accelerator = view.accelerator();
    if let Some(lost) = view.device().lost() {
        return Err(lost);
    }
    let mut form = if as_images { mirrors::form(kernel, launch, captured, view)? } else { TextureAccess::Texels };
    let (device, compiled, kernels) = view.loads();
    let load = |kernel| compiled.load(device, kernels, kernel);
    let with_images =
        kernel.with_images.as_ref().filter(|_| matches!(form, TextureAccess::Images(..))).map(|(k, _)| load(k));
    let mut loaded = match with_images {
        Some(Ok(loaded)) => loaded,
        other => {
            if let Some(Err(e)) = other {
                crate::log!(Info, "{}: kernels read textures as texels, not as images: {e}", kernel.location);
                form = TextureAccess::Texels;
            }
            load(kernel)?
        }
    };
    let mut variant = Variant::default();
    let mut size = loaded.workgroup();
    let mut searched = None;
    if launch.tile.is_none() && loaded.chooses_workgroup() {
        let domain = threads(launch.extent);
        let chosen = workgroup(size, domain);
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
    variant.apart = loaded.depends_on_sharing() && are_apart(&resolved.uses);
    if let Some(decided) = loaded.variant(device, kernels, variant)? {
        loaded = decided;
    }
    let shadows = Shadows::of(kernel, launch, &form, used, captured, &mut resolved, view)?;
    let (addresses, spans) = addresses(used, &resolved, accelerator, loaded.checks().is_some())?;
    resolved.uses.retain(|u| u.buffer.image().is_none());
    let slots = launch.arguments.iter().map(|a| a.slot.as_ref()).zip(&addresses);
    let slots = slots.filter_map(|(slot, &address)| Some((slot?, address)));
    let images = if let TextureAccess::Images(_, bound) = &form { &bound[..] } else { &[] };
    let give = |d: &Dispatch<'_>| match (&searched, launch.timer) {
        (None, None) => view.dispatch(&loaded, d),
        (None, Some(slot)) => view.dispatch_into(&loaded, d, slot),
        (Some(searched), slot) => searched.dispatch(view, d, slot),
    };
    let point = match submit(give, &loaded, groups, &resolved.uses, images, launch.block, slots, &spans, launch.after) {
        // The device lacks a sampler.
        Err(e) if !images.is_empty() && e.kind == ErrorKind::UnsupportedFeature => {
            crate::log!(Info, "{}: kernels read textures as texels, not as images: {e}", kernel.location);
            return run(kernel, launch, used, captured, view, held, None, false);
        }
        done => done?,
    };
    if let Some(shadows) = &shadows {
        shadows.write(view)?;
    }
    resolved.written(captured, held)?;
    let repeats =
        searched.as_ref().is_none_or(|s| s.repeats) && shadows.is_none() && !matches!(form, TextureAccess::TexelsNow);
    if let Some(again) = again.filter(|_| repeats) {
        let launched = Launched {
            view,
            compiled: kernel,
            kernel: &loaded,
            groups,
            captured,
            resolved: &resolved,
            addresses,
            spans,
            images: if let TextureAccess::Images(all, _) = form { all } else { Vec::new() },
        };
        *again = CachedLaunch::of(launch, launched, held)?;
    }
    Ok(point)
}
