//! Launches of SPIR-V kernels: where they run (SEL), their domain (PFE), and their arguments.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::{BoundAs, BoundBuffer, BoundImage, Dispatch, Placement, Sampler, Use};
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::kernel::{Access, Binding, BindingKind, SpecValues};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;
use crate::runtime::accelerators::spirv_kernel::SpirvKernel;
use crate::runtime::data::locked::{LockedSources, Sources};
use crate::runtime::data::operand::Operand;
use crate::runtime::data::texture::check_levels;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::choose::{check_runs_kernels, choose, is_free};
use crate::runtime::launch::domain::groups;
use crate::runtime::launch::images::{self, ImageArgument};
use crate::runtime::launch::kept::KeptLaunch;
use crate::runtime::launch::later::{later, points_here};
use crate::runtime::launch::request::{Argument, SpirvDomain, SpirvLaunch};
use crate::runtime::operations::after::AsyncOptions;
use crate::runtime::operations::completion::Completion;
use crate::runtime::race;
use crate::runtime::runtime;
use crate::trace::events::{Object, Span, cause, caused_by};
use crate::trace::transfers::{Call, implicit};
use smallvec::SmallVec;
use std::ops::RangeInclusive;
use std::sync::Arc;

const DISPATCH: Call = implicit(c"revamp_dispatch");

/// Launches `kernel`; returns before it has run.
pub fn dispatch(
    view: Option<Arc<AcceleratorView>>,
    kernel: &Arc<SpirvKernel>,
    launch: &SpirvLaunch<'_>,
) -> Result<Point> {
    let _span = Span::call(DISPATCH, || Object::named(kernel.name()));
    let launched = || {
        let mut wanted = Wanted::new(kernel, launch);
        wanted.check(view.as_ref())?;
        let _using = wanted.uses(|_| false);
        for c in &wanted.captured {
            c.operand.wait_pending(c.needs)?;
        }
        wanted.launch(view.as_ref(), None)
    };
    launched().map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
}

/// [`dispatch`] after the completions of `options`, without waiting for any of them.
pub fn dispatch_async(
    view: Option<Arc<AcceleratorView>>,
    kernel: &Arc<SpirvKernel>,
    launch: &SpirvLaunch<'_>,
    options: AsyncOptions,
) -> Result<Arc<Completion>> {
    let _span = Span::call(DISPATCH, || Object::named(kernel.name()));
    let begun = || -> Result<_> {
        let here = points_here(view.as_ref(), &options.after);
        let timer = options.timer.clone();
        let launch = SpirvLaunch { after: here.as_deref().unwrap_or_default(), timer: timer.as_deref(), ..*launch };
        let mut wanted = Wanted::new(kernel, &launch);
        wanted.check(view.as_ref())?;
        let _using = wanted.uses(|completion| options.after.contains(completion));
        if here.is_some() && !wanted.captured.iter().any(|c| c.operand.is_pending(c.needs)) {
            return Ok(Completion::timed(vec![wanted.launch(view.as_ref(), None)?], options.timer));
        }
        let is_free = is_free(view.as_ref(), wanted.captured.iter().map(|c| c.operand));
        let default = if is_free { Some(wanted.default_view()?) } else { None };
        let (kept, kernel) = (KeptLaunch::new(&launch, options.timer.clone()), kernel.clone());
        let captured = wanted.captured.iter().map(|c| (c.operand, c.needs));
        let cause = cause();
        Ok(later(view.clone(), default, captured, options, move |view, default| {
            let launch = |launch: &SpirvLaunch<'_>| {
                let mut wanted = Wanted::new(&kernel, launch);
                wanted.check(view.as_ref())?;
                wanted.launch(view.as_ref(), default.as_ref())
            };
            caused_by(cause, || kept.with(launch)).map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
        }))
    };
    begun().map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
}

/// A descriptor: set, binding, and number in an array of descriptors.
type Place = (u32, u32, u32);

/// How an array or view is passed to the kernel.
enum Role<'a> {
    /// A descriptor, and its kind.
    Binding(Place, BoundAs),
    /// The descriptor of an image, the argument, and if it is a storage image.
    Image(Place, &'a ImageArgument, bool),
    /// An address in the argument block.
    Address(AddressSlot<'a>),
}

/// What is bound that is no array, view or texture.
#[derive(Default)]
struct Others<'a> {
    samplers: SmallVec<[(Place, &'a Sampler); 4]>,
    uniforms: SmallVec<[(Place, &'a [u8]); 2]>,
}

/// A launch before it is decided where it runs. Made empty and then filled, so that nothing of it is moved.
struct Wanted<'a> {
    kernel: &'a Arc<SpirvKernel>,
    launch: &'a SpirvLaunch<'a>,
    captured: SmallVec<[Captured<'a>; 16]>,
    roles: SmallVec<[Role<'a>; 16]>,
    others: Others<'a>,
    /// Which descriptors are given, in the order in which the kernel declares them.
    given: SmallVec<[bool; 32]>,
    spec: SpecValues,
    constants: Constants,
    groups: [u64; 3],
}

impl<'a> Wanted<'a> {
    #[inline(always)]
    fn new(kernel: &'a Arc<SpirvKernel>, launch: &'a SpirvLaunch<'a>) -> Self {
        Self {
            kernel,
            launch,
            captured: SmallVec::new(),
            roles: SmallVec::new(),
            others: Others::default(),
            given: SmallVec::new(),
            spec: Vec::new(),
            constants: Constants::new(kernel.module().push().map_or(0, |p| p.size)),
            groups: [0; 3],
        }
    }

    /// Checks the launch against what the kernel declares, and reads its arguments.
    fn check(&mut self, view: Option<&Arc<AcceleratorView>>) -> Result<()> {
        check_runs_kernels(view)?;
        let count = self.launch.arguments.len();
        if count > self.captured.inline_size() {
            self.captured.make_room(count)?;
            self.roles.make_room(count)?;
        }
        let descriptors = self.kernel.module().descriptors();
        if descriptors > self.given.inline_size() {
            self.given.make_room(descriptors)?;
        }
        self.given.resize(descriptors, false);
        for argument in self.launch.arguments {
            self.add(argument)?;
        }
        self.check_complete()?;
        self.groups = self.workgroups()?;
        check_levels(self.captured.iter().map(|c| (c.operand, c.access)))
    }

    /// Adds an argument.
    #[inline(always)]
    fn add(&mut self, argument: &'a Argument<'a>) -> Result<()> {
        match argument {
            Argument::Buffer { set, binding, element, section, access } => {
                let place = (*set, *binding, *element);
                let (bound, bound_as) = bind(self.kernel, self.declared(place)?, place, section, *access)?;
                self.captured.push(bound);
                self.roles.push(Role::Binding(place, bound_as));
            }
            Argument::Uniform { set, binding, element, data } => {
                let place = (*set, *binding, *element);
                check_uniform(self.kernel, self.declared(place)?, place, data.len() as u64)?;
                self.others.uniforms.push((place, data));
            }
            Argument::Image(image) => {
                let place = (image.set, image.binding, image.element);
                let (bound, storage) = bind_image(self.kernel, self.declared(place)?, image)?;
                self.captured.push(bound);
                self.roles.push(Role::Image(place, image, storage));
            }
            Argument::Sampler { set, binding, element, sampler } => {
                let place = (*set, *binding, *element);
                images::check_sampler(self.declared(place)?)?;
                self.others.samplers.push((place, sampler));
            }
            Argument::Address { slot, section, access } => {
                slot.check(self.launch.block.len())?;
                if let Operand::View(part) = section {
                    let at = slot.offset();
                    part.check(*access).map_err(|e| e.context(format_args!("the address at offset {at}")))?;
                }
                if matches!(section, Operand::Array(array, _) if array.shadow().is_some()) {
                    return Err(Error::runtime(
                        "a texture that is stored as an image is given by address, but images have no address; create \
                         it with REVAMP_TEXTURE_STORAGE_TEXELS",
                    ));
                }
                self.captured.push(Captured { operand: section, access: *access, needs: *access });
                self.roles.push(Role::Address(*slot));
            }
            Argument::PushConstant { offset, data } => self.constants.put(*offset, data)?,
            Argument::Specialization { id, data } => self.spec.push((*id, data.to_vec())),
        }
        Ok(())
    }

    /// Fails if something is missing, or given twice.
    #[inline(always)]
    fn check_complete(&mut self) -> Result<()> {
        let module = self.kernel.module();
        let Self { launch, roles, others, given, spec, constants, .. } = self;
        if given.contains(&false) {
            return Err(not_given(self.kernel, given));
        }
        for pair in module.sampled_pairs() {
            let images = roles.iter().filter_map(|r| match r {
                &Role::Image((set, binding, _), image, _) if (set, binding) == pair.image => Some(image),
                _ => None,
            });
            for image in images {
                for ((set, binding, _), sampler) in &others.samplers {
                    if (*set, *binding) == pair.sampler {
                        images::check_pair(self.kernel, image, (*set, *binding, sampler))?;
                    }
                }
            }
        }
        if spec.len() > 1 {
            spec.sort_by_key(|(id, _)| *id);
        }
        if let Some((id, _)) = spec.windows(2).find(|two| two[0].0 == two[1].0).and_then(<[_]>::first) {
            return Err(Error::invalid(format!("specialization constant {id} is given twice; give it once")));
        }
        let takes_block = module.push().is_some_and(|p| p.is_address);
        if !takes_block && !launch.block.is_empty() {
            return Err(Error::invalid(format!(
                "an argument block of {} bytes is given, but the kernel's push constants are not a single address; pass push constants instead",
                launch.block.len()
            )));
        }
        if launch.block.is_empty() {
            constants.check_complete(self.kernel)?;
        } else if constants.has_any() {
            return Err(Error::invalid(
                "both an argument block and push constants are given, but the kernel's only push constant is the address of the block; pass the block alone",
            ));
        }
        Ok(())
    }

    /// The workgroups of the domain.
    #[inline(always)]
    fn workgroups(&self) -> Result<[u64; 3]> {
        let size = if self.spec.is_empty() {
            self.kernel.workgroup()
        } else {
            self.kernel.module().check_spec(&self.spec)?;
            self.kernel.module().workgroup_size(&self.spec)?
        };
        match &self.launch.domain {
            SpirvDomain::Extent(extent) => groups(extent, size),
            SpirvDomain::Groups(g) => {
                if g.contains(&0) {
                    return Err(Error::domain(format!("the number of workgroups is {g:?}; each must be at least 1")));
                }
                let all = g.iter().chain(&size).try_fold(1_u64, |all, &n| all.checked_mul(u64::from(n)));
                if all.is_none_or(|all| all > u64::from(u32::MAX)) {
                    return Err(Error::domain(format!(
                        "{g:?} workgroups of {size:?} threads have more than 4294967295 threads, which is the limit; launch smaller domains"
                    )));
                }
                Ok(g.map(u64::from))
            }
        }
    }

    /// The uses of its arguments, for the race check. `is_before` tells whether it begins after a completion.
    fn uses(&self, is_before: impl Fn(u64) -> bool) -> race::Using {
        let elements = self.captured.iter().filter_map(|c| Some((c.operand.elements()?, c.needs)));
        race::uses_after(DISPATCH.name, elements, is_before)
    }

    /// The default view that it may run on now.
    fn default_view(&self) -> Result<Arc<AcceleratorView>> {
        runtime()?.default_view(self.kernel.accelerator())
    }

    /// The binding of a descriptor as the kernel declares it. Fails if something is given for the descriptor already.
    #[inline]
    fn declared(&mut self, place: Place) -> Result<&'a Binding> {
        let all = self.kernel.module().bindings();
        let (set, binding, element) = place;
        let Some(b) = all.iter().find(|b| (b.binding, b.set) == (binding, set)) else {
            return Err(no_binding(all, set, binding));
        };
        if element >= b.count {
            return Err(no_element(self.kernel, b, element));
        }
        if std::mem::replace(&mut self.given[b.first + element as usize], true) {
            return Err(given_twice(self.kernel, place));
        }
        Ok(b)
    }

    /// Gives the launch to a queue. Nothing pending may conflict. `default` is the default view, if the call has chosen it.
    fn launch(&self, view: Option<&Arc<AcceleratorView>>, default: Option<&Arc<AcceleratorView>>) -> Result<Point> {
        let sources = Sources::of(self.captured.iter().map(|c| c.operand));
        sources.attempt(|held| self.hand_over(view.cloned(), default, held))
    }

    /// Gives the launch to the queue of the view it runs on.
    fn hand_over(
        &self,
        view: Option<Arc<AcceleratorView>>,
        default: Option<&Arc<AcceleratorView>>,
        held: &mut LockedSources<'_>,
    ) -> Result<Point> {
        let kernel = self.kernel;
        let mut block = Block::default();
        block.begin(self.launch.block)?;
        let view = choose(view, self.captured.iter().map(|c| c.operand), held, || {
            default.cloned().map_or_else(|| self.default_view(), Ok)
        })?;
        if !Arc::ptr_eq(view.accelerator(), kernel.accelerator()) {
            return Err(Error::runtime(format!(
                "the kernel was loaded on {}, but the launch is on an accelerator_view of {}; load the kernel there",
                kernel.accelerator().name(),
                view.accelerator().name()
            )));
        }
        if let Some(lost) = view.device().lost() {
            return Err(lost);
        }
        let mut bindings: SmallVec<[BoundBuffer; 8]> = SmallVec::new();
        let mut images: Option<Vec<BoundImage>> = None;
        for &((set, binding, element), sampler) in &self.others.samplers {
            let bound = BoundImage { set, binding, element, image: None, storage: false, sampler: Some(*sampler) };
            images.get_or_insert_default().push(bound);
        }
        for &(place, data) in &self.others.uniforms {
            bindings.push(uniform(&view, place, data)?);
        }
        let mut uses: SmallVec<[Use; 8]> = SmallVec::new();
        let mut resolved = ResolvedArguments::default();
        resolved.make_valid(&self.captured, &view, held, DISPATCH)?;
        for (bound, role) in resolved.uses.drain(..).zip(&self.roles) {
            match role {
                &Role::Binding(place, bound_as) => {
                    check_alignment(kernel, place, bound_as, &bound)?;
                    let (set, binding, element) = place;
                    bindings.push(BoundBuffer { set, binding, element, bound_as, bound });
                }
                &Role::Image((set, binding, element), argument, storage) => {
                    let (image, sampler) = (Some((bound, argument.levels.clone())), argument.sampler);
                    images.get_or_insert_default().push(BoundImage { set, binding, element, image, storage, sampler });
                }
                Role::Address(slot) => {
                    let start = bound.buffer.device_address().ok_or_else(|| {
                        let name = view.accelerator().name();
                        Error::runtime(format!("an array given by address has no device address on {name}"))
                    })?;
                    block.put(slot, start + bound.range.start)?;
                    uses.push(bound);
                }
            }
        }
        let lent = view.loaded(kernel.loaded())?;
        let loaded: &LoadedKernel = lent.as_deref().unwrap_or(kernel);
        let dispatch = Dispatch {
            kernel: &**loaded.kernel(),
            spec: &self.spec,
            bindings: &bindings,
            images: images.as_deref().unwrap_or_default(),
            uses: &uses,
            push: &self.constants.bytes,
            block: Some(&block).filter(|b| !b.bytes.is_empty()),
            groups: self.groups,
            after: self.launch.after,
        };
        let point = match self.launch.timer {
            None => view.dispatch(loaded, &dispatch)?,
            Some(slot) => view.dispatch_into(loaded, &dispatch, slot)?,
        };
        resolved.written(&self.captured, held)?;
        Ok(point)
    }
}

/// A uniform buffer with bytes of the program, for one launch.
#[cold]
fn uniform(view: &AcceleratorView, (set, binding, element): Place, data: &[u8]) -> Result<BoundBuffer> {
    let bytes = data.len() as u64;
    let buffer = view.device().allocate(bytes, Placement::Staging, "uniform block")?;
    let memory = buffer.host().ok_or_else(|| Error::internal("staging memory that the host does not address"))?;
    memory.sub(0..bytes)?.write(data)?;
    let bound = Use { buffer, range: 0..bytes, access: Access::Read };
    Ok(BoundBuffer { set, binding, element, bound_as: BoundAs::Constants, bound })
}

/// `given`: which descriptors are given, in the order in which the kernel declares them.
#[cold]
fn not_given(kernel: &SpirvKernel, given: &[bool]) -> Error {
    let declared = kernel.module().bindings().iter().flat_map(|b| (0..b.count).map(move |element| (b, element)));
    let missing = declared.zip(given).find(|(_, given)| !**given);
    let Some(((b, element), _)) = missing else { return Error::internal("all descriptors are given") };
    Error::invalid(format!(
        "{}, a {}, is not given: the kernel uses {} bindings, but the launch gives {}; pass an argument for each",
        binding_name(kernel, (b.set, b.binding, element)),
        b.kind.name(),
        given.len(),
        given.iter().filter(|given| **given).count()
    ))
}

#[cold]
fn given_twice(kernel: &SpirvKernel, place: Place) -> Error {
    Error::invalid(format!("{} is given twice; give it once", binding_name(kernel, place)))
}

#[cold]
fn no_element(kernel: &SpirvKernel, b: &Binding, element: u32) -> Error {
    Error::invalid(format!(
        "{} has {} descriptors; there is no number {element}",
        binding_name(kernel, (b.set, b.binding, 0)),
        b.count
    ))
}

#[cold]
fn no_binding(all: &[Binding], set: u32, binding: u32) -> Error {
    let all: Vec<_> = all.iter().map(|b| format!("{} of set {}", b.binding, b.set)).collect();
    Error::invalid(format!(
        "the kernel has no binding {binding} of set {set}; it has {}",
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    ))
}

/// The access of a binding: the caller's, or the kernel's if the caller gives none. Fails if they conflict.
#[inline]
fn used_access(kernel: &SpirvKernel, declared: &Binding, access: Option<Access>) -> Result<Access> {
    let wrong = match access {
        Some(Access::Read) => declared.access.writes(),
        Some(Access::Write) => declared.access == Access::Read,
        _ => false,
    };
    if wrong { Err(wrong_access(kernel, declared, access)) } else { Ok(access.unwrap_or(declared.access)) }
}

#[cold]
fn wrong_access(kernel: &SpirvKernel, declared: &Binding, access: Option<Access>) -> Error {
    Error::invalid(format!(
        "{} is given with access {access:?}, but the kernel uses it with {:?}; pass this access or REVAMP_ACCESS_AUTO",
        binding_name(kernel, (declared.set, declared.binding, 0)),
        declared.access
    ))
}

/// Checks an image; also tells if it is a storage image.
#[cold]
fn bind_image<'a>(kernel: &SpirvKernel, declared: &Binding, image: &'a ImageArgument) -> Result<(Captured<'a>, bool)> {
    images::check(kernel, declared, image)?;
    let access = used_access(kernel, declared, image.access)?;
    let storage = matches!(declared.kind, BindingKind::StorageImage(_));
    Ok((Captured { operand: &image.section, access, needs: access }, storage))
}

/// The name of a descriptor in messages.
fn binding_name(kernel: &SpirvKernel, (set, binding, element): Place) -> String {
    let declared = kernel.module().bindings().iter().find(|b| (b.set, b.binding) == (set, binding));
    let binding = declared.map_or_else(|| format!("binding {binding} of set {set}"), Binding::to_string);
    if element == 0 { binding } else { format!("descriptor {element} of {binding}") }
}

/// Checks how many bytes a buffer gets.
#[inline]
fn check_bytes(kernel: &SpirvKernel, declared: &Binding, place: Place, bytes: u64) -> Result<()> {
    let p = kernel.accelerator().properties();
    let needed = declared.min_size + declared.stride.unwrap_or(0);
    let most = match declared.kind {
        BindingKind::UniformBuffer => p.max_uniform_buffer_range,
        _ => p.max_storage_buffer_range,
    };
    if (needed..=most).contains(&bytes) {
        Ok(())
    } else {
        Err(wrong_bytes(kernel, declared, place, bytes, needed..=most))
    }
}

#[cold]
fn wrong_bytes(
    kernel: &SpirvKernel,
    declared: &Binding,
    place: Place,
    bytes: u64,
    allowed: RangeInclusive<u64>,
) -> Error {
    let (at, needed, most) = (binding_name(kernel, place), allowed.start(), allowed.end());
    if bytes < *needed {
        return Error::invalid(format!(
            "{at} needs at least {needed} bytes, but is given {bytes}; pass a larger buffer"
        ));
    }
    let advice = match declared.kind {
        BindingKind::UniformBuffer => "bind a section, or use a storage buffer",
        _ => "bind sections, or pass an address",
    };
    Error::invalid(format!(
        "{at} is given {bytes} bytes, but a binding covers at most {most} bytes on {}; {advice}",
        kernel.accelerator().name()
    ))
}

/// Checks the bytes of a uniform buffer against what the kernel declares.
#[cold]
fn check_uniform(kernel: &SpirvKernel, declared: &Binding, place: Place, bytes: u64) -> Result<()> {
    if declared.kind != BindingKind::UniformBuffer {
        return Err(Error::invalid(format!(
            "{} is a {}, but is given the bytes of a uniform buffer; pass an array, array_view, texture or sampler",
            binding_name(kernel, place),
            declared.kind.name()
        )));
    }
    check_bytes(kernel, declared, place, bytes)
}

/// Checks a storage or uniform buffer against what the kernel declares, and tells which it is.
fn bind<'a>(
    kernel: &SpirvKernel,
    declared: &Binding,
    place: Place,
    section: &'a Operand,
    access: Option<Access>,
) -> Result<(Captured<'a>, BoundAs)> {
    let bound_as = match declared.kind {
        BindingKind::StorageBuffer => BoundAs::Storage,
        BindingKind::UniformBuffer => BoundAs::Uniform,
        other => {
            return Err(Error::invalid(format!(
                "{} is a {}, but is given an array or array_view; pass a texture or sampler",
                binding_name(kernel, place),
                other.name()
            )));
        }
    };
    let at = || binding_name(kernel, place);
    let range = section.layout().hull();
    check_bytes(kernel, declared, place, range.end - range.start)?;
    let used = used_access(kernel, declared, access)?;
    if let Operand::View(part) = section {
        part.check(used).map_err(|e| e.context(at()))?;
    }
    // A kernel that is only declared to write may leave elements out; the caller knows better.
    let needs = if access.is_none() && used == Access::Write { Access::ReadWrite } else { used };
    Ok((Captured { operand: section, access: used, needs }, bound_as))
}

/// Checks where a buffer begins.
fn check_alignment(kernel: &SpirvKernel, place: Place, bound_as: BoundAs, bound: &Use) -> Result<()> {
    let p = kernel.accelerator().properties();
    let alignment = match bound_as {
        BoundAs::Storage => p.min_storage_buffer_alignment,
        BoundAs::Uniform | BoundAs::Constants => p.min_uniform_buffer_alignment,
    }
    .max(1);
    let start = bound.buffer.base() + bound.range.start;
    if start % alignment != 0 {
        return Err(Error::invalid(format!(
            "{} is given a section that begins at byte {start}; on {} the start must be a multiple of {alignment}: use \
             another section, or pass an address",
            binding_name(kernel, place),
            kernel.accelerator().name(),
        )));
    }
    Ok(())
}

/// The push-constant block while it is filled.
struct Constants {
    bytes: SmallVec<[u8; 128]>,
    /// Bytes of the block, which may end before `bytes`.
    size: usize,
    /// How many of them are not given.
    missing: usize,
    /// Which are given. Empty until a part of the block is given.
    given: SmallVec<[bool; 128]>,
}

impl Constants {
    #[inline(always)]
    fn new(size: u32) -> Self {
        let (padded, size) = (size.next_multiple_of(4) as usize, size as usize);
        Self { bytes: SmallVec::from_elem(0, padded), size, missing: size, given: SmallVec::new() }
    }

    fn put(&mut self, offset: u32, data: &[u8]) -> Result<()> {
        let (from, to) = (offset as usize, (offset as usize).saturating_add(data.len()));
        if to > self.size {
            return Err(Error::invalid(format!(
                "push constants {from}..{to} are given, but the kernel's block has {} bytes",
                self.size
            )));
        }
        if data.len() > self.missing || !self.given.is_empty() && self.given[from..to].contains(&true) {
            return Err(Error::invalid(format!("push constants in {from}..{to} are given twice; give them once")));
        }
        self.bytes[from..to].copy_from_slice(data);
        self.missing -= data.len();
        if data.len() < self.size {
            self.given.resize(self.size, false);
            self.given[from..to].fill(true);
        }
        Ok(())
    }

    /// True if any byte is given.
    fn has_any(&self) -> bool {
        self.missing < self.size
    }

    #[inline]
    fn check_complete(&self, kernel: &SpirvKernel) -> Result<()> {
        if self.missing == 0 { Ok(()) } else { self.check_members(kernel) }
    }

    /// Bytes between the members of the block need not be given.
    #[cold]
    fn check_members(&self, kernel: &SpirvKernel) -> Result<()> {
        let Some(push) = kernel.module().push() else { return Ok(()) };
        for m in &push.members {
            let (from, to) = (m.offset as usize, (m.offset + m.size) as usize);
            if !self.given.get(from..to).is_some_and(|g| g.iter().all(|&x| x)) {
                let name = m.name.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
                return Err(Error::invalid(format!(
                    "push constants {from}..{to}{name} are not all given; give all {} bytes of the kernel's block",
                    push.size
                )));
            }
        }
        Ok(())
    }
}
