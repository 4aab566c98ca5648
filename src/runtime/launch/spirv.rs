//! Launches SPIR-V kernels: chooses the accelerator_view, checks the domain, and binds the arguments (rules SEL and PFE).

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
use crate::runtime::launch::choose::{check_runs_kernels, choose, is_view_undetermined};
use crate::runtime::launch::domain::groups;
use crate::runtime::launch::images::{self, ImageArgument};
use crate::runtime::launch::kept::KeptLaunch;
use crate::runtime::launch::later::{later, points_on_device};
use crate::runtime::launch::request::{Argument, SpirvDomain, SpirvLaunch};
use crate::runtime::operations::after::{After, AsyncOptions};
use crate::runtime::operations::completion::Completion;
use crate::runtime::race;
use crate::runtime::runtime;
use crate::trace::events::{Object, Span, cause, caused_by};
use crate::trace::transfers::{Call, Rule, implicit};
use smallvec::SmallVec;
use std::ops::RangeInclusive;
use std::sync::Arc;

const DISPATCH: Call = implicit(c"revamp_dispatch", Rule::Av2);

/// Launches `kernel`, and returns before the kernel has run.
pub fn dispatch(
    view: Option<Arc<AcceleratorView>>,
    kernel: &Arc<SpirvKernel>,
    launch: &SpirvLaunch<'_>,
) -> Result<Point> {
    let _span = Span::call(DISPATCH, || Object::named(kernel.name()));
    let launched = || {
        let mut prepared = PreparedLaunch::new(kernel, launch);
        prepared.check(view.as_ref())?;
        let _using = prepared.uses(&After::default());
        for c in &prepared.captured {
            c.operand.wait_pending(c.needs)?;
        }
        prepared.launch(view.as_ref(), None)
    };
    launched().map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
}

/// [`dispatch`] after the completions of `options`. The call itself does not wait for the completions.
pub fn dispatch_async(
    view: Option<Arc<AcceleratorView>>,
    kernel: &Arc<SpirvKernel>,
    launch: &SpirvLaunch<'_>,
    options: AsyncOptions,
) -> Result<Arc<Completion>> {
    let _span = Span::call(DISPATCH, || Object::named(kernel.name()));
    let begun = || -> Result<_> {
        let device_points = points_on_device(view.as_ref(), &options.after);
        let timer = options.timer.clone();
        let launch =
            SpirvLaunch { after: device_points.as_deref().unwrap_or_default(), timer: timer.as_deref(), ..*launch };
        let mut prepared = PreparedLaunch::new(kernel, &launch);
        prepared.check(view.as_ref())?;
        let using = prepared.uses(&options.after);
        if device_points.is_some() && !prepared.captured.iter().any(|c| c.operand.is_pending(c.needs)) {
            let made = Completion::timed(vec![prepared.launch(view.as_ref(), None)?], options.timer);
            made.begins_after(&using);
            return Ok(made);
        }
        let is_view_undetermined = is_view_undetermined(view.as_ref(), prepared.captured.iter().map(|c| c.operand));
        let default = if is_view_undetermined { Some(prepared.default_view()?) } else { None };
        let (kept, kernel) = (KeptLaunch::new(&launch, options.timer.clone()), kernel.clone());
        let captured = prepared.captured.iter().map(|c| (c.operand, c.needs));
        let cause = cause();
        let made = later(view.clone(), default, captured, options, move |view, default| {
            let launch = |launch: &SpirvLaunch<'_>| {
                let mut prepared = PreparedLaunch::new(&kernel, launch);
                prepared.check(view.as_ref())?;
                prepared.launch(view.as_ref(), default.as_ref())
            };
            caused_by(cause, || kept.with(launch)).map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
        });
        made.begins_after(&using);
        Ok(made)
    };
    begun().map_err(|e| e.context(format_args!("kernel {}", kernel.label())))
}

/// A descriptor: set, binding, and index in an array of descriptors.
type DescriptorIndex = (u32, u32, u32);

/// How an array, array_view or texture is passed to the kernel.
enum Role<'a> {
    /// A buffer descriptor, and the kind of this descriptor.
    Binding(DescriptorIndex, BoundAs),
    /// An image descriptor, the argument, and true for a storage image.
    Image(DescriptorIndex, &'a ImageArgument, bool),
    /// An address in the argument block.
    Address(AddressSlot<'a>),
}

/// Bound arguments other than arrays, array_views and textures.
#[derive(Default)]
struct OtherArguments<'a> {
    samplers: SmallVec<[(DescriptorIndex, &'a Sampler); 4]>,
    uniforms: SmallVec<[(DescriptorIndex, &'a [u8]); 2]>,
}

/// A launch whose view is not chosen yet. Constructed empty and filled in place, to avoid moves.
struct PreparedLaunch<'a> {
    kernel: &'a Arc<SpirvKernel>,
    launch: &'a SpirvLaunch<'a>,
    captured: SmallVec<[Captured<'a>; 16]>,
    roles: SmallVec<[Role<'a>; 16]>,
    other_arguments: OtherArguments<'a>,
    /// One flag for each descriptor of the kernel, in the order of declaration: true if the launch gives an argument for it.
    given: SmallVec<[bool; 32]>,
    spec: SpecValues,
    constants: Constants,
    groups: [u64; 3],
}

impl<'a> PreparedLaunch<'a> {
    #[inline(always)]
    fn new(kernel: &'a Arc<SpirvKernel>, launch: &'a SpirvLaunch<'a>) -> Self {
        Self {
            kernel,
            launch,
            captured: SmallVec::new(),
            roles: SmallVec::new(),
            other_arguments: OtherArguments::default(),
            given: SmallVec::new(),
            spec: Vec::new(),
            constants: Constants::new(kernel.module().push().map_or(0, |p| p.size)),
            groups: [0; 3],
        }
    }

    /// Checks the launch against the declarations of the kernel, and adds the arguments to this object.
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
                let descriptor = (*set, *binding, *element);
                let (bound, bound_as) = bind(self.kernel, self.mark_given(descriptor)?, descriptor, section, *access)?;
                self.captured.push(bound);
                self.roles.push(Role::Binding(descriptor, bound_as));
            }
            Argument::Uniform { set, binding, element, data } => {
                let descriptor = (*set, *binding, *element);
                check_uniform(self.kernel, self.mark_given(descriptor)?, descriptor, data.len() as u64)?;
                self.other_arguments.uniforms.push((descriptor, data));
            }
            Argument::Image(image) => {
                let descriptor = (image.set, image.binding, image.element);
                let (bound, storage) = bind_image(self.kernel, self.mark_given(descriptor)?, image)?;
                self.captured.push(bound);
                self.roles.push(Role::Image(descriptor, image, storage));
            }
            Argument::Sampler { set, binding, element, sampler } => {
                let descriptor = (*set, *binding, *element);
                images::check_sampler(self.mark_given(descriptor)?)?;
                self.other_arguments.samplers.push((descriptor, sampler));
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
                         the texture with REVAMP_TEXTURE_STORAGE_TEXELS",
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

    /// Fails if an argument is missing or given twice, or if arguments do not fit together.
    #[inline(always)]
    fn check_complete(&mut self) -> Result<()> {
        let module = self.kernel.module();
        let Self { launch, roles, other_arguments, given, spec, constants, .. } = self;
        if given.contains(&false) {
            return Err(not_given(self.kernel, given));
        }
        for pair in module.sampled_pairs() {
            let images = roles.iter().filter_map(|r| match r {
                &Role::Image((set, binding, _), image, _) if (set, binding) == pair.image => Some(image),
                _ => None,
            });
            for image in images {
                for ((set, binding, _), sampler) in &other_arguments.samplers {
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
            return Err(Error::invalid(format!("specialization constant {id} is given twice; give it only once")));
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
                "both an argument block and push constants are given, but the kernel's only push constant is the \
                 address of the block; pass only the block",
            ));
        }
        Ok(())
    }

    /// The number of workgroups in x, y and z.
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

    /// The uses of the arguments, for the race check. The launch begins after the completions of `after`.
    fn uses(&self, after: &After) -> race::CallUses {
        let elements = self.captured.iter().filter_map(|c| Some((c.operand.elements()?, c.needs)));
        race::uses_after(DISPATCH.name, elements, || after.completions())
    }

    /// The default view of the kernel's accelerator.
    fn default_view(&self) -> Result<Arc<AcceleratorView>> {
        runtime()?.default_view(self.kernel.accelerator())
    }

    /// Marks a descriptor as given, and returns the declaration of its binding in the kernel. Fails if the descriptor
    /// is already marked.
    #[inline]
    fn mark_given(&mut self, descriptor: DescriptorIndex) -> Result<&'a Binding> {
        let all = self.kernel.module().bindings();
        let (set, binding, element) = descriptor;
        let Some(b) = all.iter().find(|b| (b.binding, b.set) == (binding, set)) else {
            return Err(no_binding(all, set, binding));
        };
        if element >= b.count {
            return Err(no_element(self.kernel, b, element));
        }
        if std::mem::replace(&mut self.given[b.first + element as usize], true) {
            return Err(given_twice(self.kernel, descriptor));
        }
        Ok(b)
    }

    /// Gives the launch to a queue. No pending operation may conflict with the launch. `default`: the default view, if it was
    /// chosen when the program requested the launch.
    fn launch(&self, view: Option<&Arc<AcceleratorView>>, default: Option<&Arc<AcceleratorView>>) -> Result<Point> {
        let sources = Sources::of(self.captured.iter().map(|c| c.operand));
        sources.attempt(|held| self.hand_over(view.cloned(), default, held))
    }

    /// Chooses the view of the launch, and gives the launch to the queue of that view.
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
                "the kernel was loaded on {}, but the launch is on an accelerator_view of {}; load the kernel on the \
                 accelerator of the launch",
                kernel.accelerator().name(),
                view.accelerator().name()
            )));
        }
        if let Some(lost) = view.device().lost() {
            return Err(lost);
        }
        let mut bindings: SmallVec<[BoundBuffer; 8]> = SmallVec::new();
        let mut images: Option<Vec<BoundImage>> = None;
        for &((set, binding, element), sampler) in &self.other_arguments.samplers {
            let bound = BoundImage { set, binding, element, image: None, storage: false, sampler: Some(*sampler) };
            images.get_or_insert_default().push(bound);
        }
        for &(descriptor, data) in &self.other_arguments.uniforms {
            bindings.push(uniform(&view, descriptor, data)?);
        }
        let mut uses: SmallVec<[Use; 8]> = SmallVec::new();
        let mut resolved = ResolvedArguments::default();
        resolved.make_valid(&self.captured, &view, held, DISPATCH)?;
        for (bound, role) in resolved.uses.drain(..).zip(&self.roles) {
            match role {
                &Role::Binding(descriptor, bound_as) => {
                    check_alignment(kernel, descriptor, bound_as, &bound)?;
                    let (set, binding, element) = descriptor;
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
        // On a device of the program, the kernel must be loaded again.
        let reloaded = view.load_on_program_device(kernel.loaded())?;
        let loaded: &LoadedKernel = reloaded.as_deref().unwrap_or(kernel);
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

/// Makes a uniform buffer for one launch, with these bytes.
#[cold]
fn uniform(view: &AcceleratorView, (set, binding, element): DescriptorIndex, data: &[u8]) -> Result<BoundBuffer> {
    let bytes = data.len() as u64;
    let buffer = view.device().allocate(bytes, Placement::Staging, "uniform block")?;
    let memory = buffer.host().ok_or_else(|| Error::internal("the host cannot access staging memory"))?;
    memory.sub(0..bytes)?.write(data)?;
    let bound = Use { buffer, range: 0..bytes, access: Access::Read };
    Ok(BoundBuffer { set, binding, element, bound_as: BoundAs::HostWrittenUniform, bound })
}

/// The error for a missing argument. `given`: see [`PreparedLaunch::given`].
#[cold]
fn not_given(kernel: &SpirvKernel, given: &[bool]) -> Error {
    let declared = kernel.module().bindings().iter().flat_map(|b| (0..b.count).map(move |element| (b, element)));
    let missing = declared.zip(given).find(|(_, given)| !**given);
    let Some(((b, element), _)) = missing else {
        return Error::internal("a descriptor is reported as missing, but all descriptors are given");
    };
    Error::invalid(format!(
        "{}, a {}, is not given: the kernel uses {} bindings, but the launch gives only {}; pass an argument for each \
         binding",
        binding_name(kernel, (b.set, b.binding, element)),
        b.kind.name(),
        given.len(),
        given.iter().filter(|given| **given).count()
    ))
}

#[cold]
fn given_twice(kernel: &SpirvKernel, descriptor: DescriptorIndex) -> Error {
    Error::invalid(format!("{} is given twice; give it only once", binding_name(kernel, descriptor)))
}

#[cold]
fn no_element(kernel: &SpirvKernel, b: &Binding, element: u32) -> Error {
    Error::invalid(format!(
        "{} has {} descriptors, numbered from 0; descriptor {element} does not exist",
        binding_name(kernel, (b.set, b.binding, 0)),
        b.count
    ))
}

#[cold]
fn no_binding(all: &[Binding], set: u32, binding: u32) -> Error {
    let all: Vec<_> = all.iter().map(|b| format!("{} of set {}", b.binding, b.set)).collect();
    Error::invalid(format!(
        "the kernel has no binding {binding} of set {set}; its bindings are: {}",
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    ))
}

/// The access of a binding: `access` if the caller gives one, otherwise the access that the kernel declares. Fails if the two
/// conflict.
#[inline]
fn used_access(kernel: &SpirvKernel, declared: &Binding, access: Option<Access>) -> Result<Access> {
    let is_conflict = match access {
        Some(Access::Read) => declared.access.writes(),
        Some(Access::Write) => declared.access == Access::Read,
        _ => false,
    };
    if is_conflict { Err(wrong_access(kernel, declared, access)) } else { Ok(access.unwrap_or(declared.access)) }
}

#[cold]
fn wrong_access(kernel: &SpirvKernel, declared: &Binding, access: Option<Access>) -> Error {
    Error::invalid(format!(
        "{} is given with access {access:?}, but the kernel uses it with {:?}; pass the access that the kernel uses, \
         or REVAMP_ACCESS_AUTO",
        binding_name(kernel, (declared.set, declared.binding, 0)),
        declared.access
    ))
}

/// Checks an image. Returns the captured argument, and true for a storage image.
#[cold]
fn bind_image<'a>(kernel: &SpirvKernel, declared: &Binding, image: &'a ImageArgument) -> Result<(Captured<'a>, bool)> {
    images::check(kernel, declared, image)?;
    let access = used_access(kernel, declared, image.access)?;
    let storage = matches!(declared.kind, BindingKind::StorageImage(_));
    Ok((Captured { operand: &image.section, access, needs: access }, storage))
}

/// The name of a descriptor in messages.
fn binding_name(kernel: &SpirvKernel, (set, binding, element): DescriptorIndex) -> String {
    let declared = kernel.module().bindings().iter().find(|b| (b.set, b.binding) == (set, binding));
    let binding = declared.map_or_else(|| format!("binding {binding} of set {set}"), Binding::to_string);
    if element == 0 { binding } else { format!("descriptor {element} of {binding}") }
}

/// Checks the size of a buffer against the declaration in the kernel and the limits of the device.
#[inline]
fn check_bytes(kernel: &SpirvKernel, declared: &Binding, descriptor: DescriptorIndex, bytes: u64) -> Result<()> {
    let p = kernel.accelerator().properties();
    let min_bytes = declared.min_size + declared.stride.unwrap_or(0);
    let max_bytes = match declared.kind {
        BindingKind::UniformBuffer => p.max_uniform_buffer_range,
        _ => p.max_storage_buffer_range,
    };
    if (min_bytes..=max_bytes).contains(&bytes) {
        Ok(())
    } else {
        Err(wrong_bytes(kernel, declared, descriptor, bytes, min_bytes..=max_bytes))
    }
}

#[cold]
fn wrong_bytes(
    kernel: &SpirvKernel,
    declared: &Binding,
    descriptor: DescriptorIndex,
    bytes: u64,
    allowed: RangeInclusive<u64>,
) -> Error {
    let (at, min_bytes, max_bytes) = (binding_name(kernel, descriptor), allowed.start(), allowed.end());
    if bytes < *min_bytes {
        return Error::invalid(format!(
            "{at} needs at least {min_bytes} bytes, but is given {bytes}; pass a larger buffer"
        ));
    }
    let advice = match declared.kind {
        BindingKind::UniformBuffer => "bind a section, or use a storage buffer",
        _ => "bind sections, or pass an address",
    };
    Error::invalid(format!(
        "{at} is given {bytes} bytes, but a binding covers at most {max_bytes} bytes on {}; {advice}",
        kernel.accelerator().name()
    ))
}

/// Checks that the kernel declares the descriptor as a uniform buffer, and that `bytes` is an allowed size for it.
#[cold]
fn check_uniform(kernel: &SpirvKernel, declared: &Binding, descriptor: DescriptorIndex, bytes: u64) -> Result<()> {
    if declared.kind != BindingKind::UniformBuffer {
        return Err(Error::invalid(format!(
            "{} is a {}, but is given the bytes of a uniform buffer; pass an array, array_view, texture or sampler",
            binding_name(kernel, descriptor),
            declared.kind.name()
        )));
    }
    check_bytes(kernel, declared, descriptor, bytes)
}

/// Checks a storage or uniform buffer against the declaration in the kernel, and returns how the buffer is bound.
fn bind<'a>(
    kernel: &SpirvKernel,
    declared: &Binding,
    descriptor: DescriptorIndex,
    section: &'a Operand,
    access: Option<Access>,
) -> Result<(Captured<'a>, BoundAs)> {
    let bound_as = match declared.kind {
        BindingKind::StorageBuffer => BoundAs::Storage,
        BindingKind::UniformBuffer => BoundAs::Uniform,
        other => {
            return Err(Error::invalid(format!(
                "{} is a {}, but is given an array or array_view; pass a texture or sampler",
                binding_name(kernel, descriptor),
                other.name()
            )));
        }
    };
    let at = || binding_name(kernel, descriptor);
    let range = section.layout().hull();
    check_bytes(kernel, declared, descriptor, range.end - range.start)?;
    let used = used_access(kernel, declared, access)?;
    if let Operand::View(part) = section {
        part.check(used).map_err(|e| e.context(at()))?;
    }
    // A kernel that declares the buffer as write-only may leave elements unwritten, so the elements must be valid before. If the
    // caller gives write access, the library trusts that the kernel writes all elements.
    let needs = if access.is_none() && used == Access::Write { Access::ReadWrite } else { used };
    Ok((Captured { operand: section, access: used, needs }, bound_as))
}

/// Checks the alignment of a buffer's first byte.
fn check_alignment(kernel: &SpirvKernel, descriptor: DescriptorIndex, bound_as: BoundAs, bound: &Use) -> Result<()> {
    let p = kernel.accelerator().properties();
    let alignment = match bound_as {
        BoundAs::Storage => p.min_storage_buffer_alignment,
        BoundAs::Uniform | BoundAs::HostWrittenUniform => p.min_uniform_buffer_alignment,
    }
    .max(1);
    let start = bound.buffer.base() + bound.range.start;
    if start % alignment != 0 {
        return Err(Error::invalid(format!(
            "{} is given a section that begins at byte {start}, but on {} the start must be a multiple of {alignment}; \
             use another section, or pass an address",
            binding_name(kernel, descriptor),
            kernel.accelerator().name(),
        )));
    }
    Ok(())
}

/// The push-constant block, filled in piece by piece.
struct Constants {
    bytes: SmallVec<[u8; 128]>,
    /// The number of bytes of the block. `bytes` is padded to a multiple of 4.
    size: usize,
    /// The number of bytes that the launch has not given.
    missing: usize,
    /// One flag for each byte: true if the launch has given it. Empty until the launch gives a part of the block.
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
                "push constants for bytes {from}..{to} are given, but the kernel's block has only {} bytes",
                self.size
            )));
        }
        if data.len() > self.missing || !self.given.is_empty() && self.given[from..to].contains(&true) {
            return Err(Error::invalid(format!(
                "push constants for bytes {from}..{to} are given twice; give them only once"
            )));
        }
        self.bytes[from..to].copy_from_slice(data);
        self.missing -= data.len();
        if data.len() < self.size {
            self.given.resize(self.size, false);
            self.given[from..to].fill(true);
        }
        Ok(())
    }

    /// True if the launch has given any byte.
    fn has_any(&self) -> bool {
        self.missing < self.size
    }

    #[inline]
    fn check_complete(&self, kernel: &SpirvKernel) -> Result<()> {
        if self.missing == 0 { Ok(()) } else { self.check_members(kernel) }
    }

    /// Fails if a byte of a member of the block was not given. Padding bytes between the members need not be given.
    #[cold]
    fn check_members(&self, kernel: &SpirvKernel) -> Result<()> {
        let Some(push) = kernel.module().push() else { return Ok(()) };
        for m in &push.members {
            let (from, to) = (m.offset as usize, (m.offset + m.size) as usize);
            if !self.given.get(from..to).is_some_and(|g| g.iter().all(|&x| x)) {
                let name = m.name.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
                return Err(Error::invalid(format!(
                    "push constants for bytes {from}..{to}{name} are not all given; give all {} bytes of the kernel's \
                     block",
                    push.size
                )));
            }
        }
        Ok(())
    }
}
