//! A SPIR-V module with its chosen entry point: parsed and reflected once, queried often.

use super::constants::{self, SpecOverrides};
use super::entry_point::{self, EntryPoint};
use super::float_modes::{self, FloatModes};
use super::interface::{Binding, PushBlock, SampledPair, SpecConstant};
use super::nesting::{self, Depth};
use super::parsed::ParsedModule;
use super::split::SplitModule;
use super::usage::SpecValues;
use super::variant::Variant;
use super::workgroup_size::WorkgroupSize;
use super::{by_address, hash, overrun, parse, reflect, renumber, sampled, split, strip, type_layout, variant};
use crate::error::{Error, Result};
use crate::grow::Grow;
use rspirv::spirv::{Capability, Op};
use smallvec::SmallVec;
use std::ffi::CStr;
use std::fmt;

/// A checked and reflected SPIR-V module with its chosen entry point.
pub struct Module {
    code: ParsedModule,
    entry: EntryPoint,
    hash: u64,
    capabilities: Vec<Capability>,
    extensions: Vec<String>,
    bindings: Vec<Binding>,
    sampled: Vec<SampledPair>,
    push: Option<PushBlock>,
    spec: Vec<SpecConstant>,
    size: WorkgroupSize,
    /// The workgroup size, unless it depends on specialization constants.
    fixed_size: Option<[u32; 3]>,
    workgroup_bytes: u64,
    uniform_arguments: bool,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("entry_point", &self.entry.name)
            .field("hash", &format_args!("{:016x}", self.hash))
            .field("bindings", &self.bindings)
            .field("push", &self.push)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

impl Module {
    /// Checks `bytes` and reflects `entry_point` (`None`: the only compute entry point).
    ///
    /// Accepts either byte order. The checks are less than a full validation by spirv-val.
    pub fn new(bytes: &[u8], entry_point: Option<&str>) -> Result<Self> {
        Self::of(parse::parse(bytes)?, entry_point)
    }

    /// The module of `words` with the same entry point.
    fn rewritten(&self, words: Vec<u32>) -> Result<Self> {
        Self::of(parse::parse_words(words)?, self.entry.name.to_str().ok())
    }

    fn of(code: ParsedModule, entry_point: Option<&str>) -> Result<Self> {
        let (capabilities, extensions) = parse::check_environment(&code)?;
        let entry = entry_point::find(&code, entry_point)?;
        let defaults = constants::evaluate(&code, code.globals(), &SpecOverrides::new())?;
        let layouts = type_layout::layouts(&code, &defaults)?;
        let bindings = reflect::bindings(&code, &entry, &defaults, &layouts)?;
        let sampled = sampled::pairs(&code, &entry)?;
        let push = reflect::push(&code, &entry, &layouts)?;
        let spec = reflect::spec_constants(&code)?;
        let size = WorkgroupSize::find(&code, &entry)?;
        let fixed_size =
            if size.is_specialized(&code) { None } else { Some(size.evaluate(&code, &SpecOverrides::new())?) };
        let workgroup_bytes = type_layout::workgroup_bytes(&code, &layouts, &entry.variables);
        let uniform_arguments = reflect::arguments(&code, &entry).is_some();
        let hash = hash::fnv(code.words().iter().flat_map(|word| word.to_le_bytes()));
        Ok(Self {
            code,
            entry,
            hash,
            capabilities,
            extensions,
            bindings,
            sampled,
            push,
            spec,
            size,
            fixed_size,
            workgroup_bytes,
            uniform_arguments,
        })
    }
    /// The words in host byte order.
    pub fn words(&self) -> &[u32] {
        self.code.words()
    }
    /// Hash of the words: the same on every machine and in every version. The entry point is not part of it.
    pub fn hash(&self) -> u64 {
        self.hash
    }
    /// Name of the entry point.
    pub fn entry_point(&self) -> &CStr {
        &self.entry.name
    }
    /// SPIR-V version (major, minor).
    pub fn version(&self) -> (u8, u8) {
        self.code.version()
    }
    /// Declared capabilities.
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }
    /// Declared extensions.
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }
    /// Resources of the entry point, by (set, binding).
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }
    /// Number of descriptors of all bindings.
    pub fn descriptors(&self) -> usize {
        self.bindings.last().map_or(0, |b| b.first + b.count as usize)
    }
    /// The pairs of an image and a separate sampler that the kernel combines.
    pub fn sampled_pairs(&self) -> &[SampledPair] {
        &self.sampled
    }
    /// The push-constant block.
    pub fn push(&self) -> Option<&PushBlock> {
        self.push.as_ref()
    }
    /// Specialization constants, by id.
    pub fn spec_constants(&self) -> &[SpecConstant] {
        &self.spec
    }
    /// Checks that the module has a constant for each value, that the sizes agree, and that no constant gets two values.
    pub fn check_spec(&self, values: &SpecValues) -> Result<()> {
        let mut given: SmallVec<[bool; 64]> = SmallVec::from_elem(false, self.spec.len());
        for (id, bytes) in values {
            let found = self.spec.binary_search_by_key(id, |constant| constant.id);
            let Some((constant, given)) = found.ok().and_then(|at| self.spec.get(at).zip(given.get_mut(at))) else {
                return Err(Error::invalid(format!(
                    "a value is given for specialization constant {id}, which kernel \"{}\" does not have; the \
                     constants of the kernel are: {}",
                    self.entry.name.to_string_lossy(),
                    self.list_spec()
                )));
            };
            if !constant.kind.takes(bytes.len()) {
                return Err(Error::invalid(format!(
                    "the value for specialization constant {id} has {} bytes, expected {} ({}); the constants of \
                     kernel \"{}\" are: {}",
                    bytes.len(),
                    constant.kind.size(),
                    constant.kind,
                    self.entry.name.to_string_lossy(),
                    self.list_spec()
                )));
            }
            if std::mem::replace(given, true) {
                return Err(Error::invalid(format!(
                    "specialization constant {id} of kernel \"{}\" is given two values; give only one value",
                    self.entry.name.to_string_lossy()
                )));
            }
        }
        Ok(())
    }
    /// Workgroup size with these specialization constants.
    pub fn workgroup_size(&self, values: &SpecValues) -> Result<[u32; 3]> {
        self.check_spec(values)?;
        if let Some(size) = self.fixed_size {
            return Ok(size);
        }
        self.size.evaluate(&self.code, &overrides(values)?)
    }
    /// Bytes of Workgroup memory with these specialization constants.
    pub fn workgroup_bytes(&self, values: &SpecValues) -> Result<u64> {
        if values.is_empty() {
            return Ok(self.workgroup_bytes);
        }
        let values = constants::evaluate(&self.code, self.code.globals(), &overrides(values)?)?;
        Ok(type_layout::workgroup_bytes(&self.code, &type_layout::layouts(&self.code, &values)?, &self.entry.variables))
    }
    /// The module without non-semantic instruction sets and the extension for them; `None` if this module has neither.
    pub fn without_non_semantic(&self) -> Result<Option<Module>> {
        strip::strip(&self.code)?.map(|words| self.rewritten(words)).transpose()
    }
    /// The module with dense numbers: descriptor sets 0, 1, ... and bindings 0, 1, ... in each, in the order of
    /// [`Self::bindings`]. Drivers allocate memory in proportion to the highest number.
    pub fn renumbered(&self) -> Result<Module> {
        self.rewritten(renumber::renumber(&self.code, &self.bindings)?)
    }
    /// The nesting depth of conditions and loops.
    pub fn depth(&self) -> Result<Depth> {
        nesting::depth(&self.code, &self.entry)
    }
    /// True if the entry point reaches a loop.
    pub fn has_loops(&self) -> bool {
        overrun::has_loops(&self.code, &self.entry)
    }
    /// The module rewritten to report whether the driver stopped loops. The report goes to new storage buffers at bindings 0 and 1 of `set`.
    /// `has_excess_threads`: the driver runs excess threads beyond the workgroup, which must not enter the kernel.
    pub fn with_loops_checked(&self, set: u32, has_excess_threads: bool) -> Result<Module> {
        self.rewritten(overrun::checked(&self.code, &self.entry, set, has_excess_threads)?)
    }
    /// True if a compiled kernel reads its argument block from a uniform buffer ([`revamp_image::arguments`]).
    pub fn has_uniform_arguments(&self) -> bool {
        self.uniform_arguments
    }
    /// True if the kernel's code depends on whether captures may share memory that it writes.
    pub fn depends_on_sharing(&self) -> bool {
        variant::depends_on_sharing(&self.code)
    }
    /// True if the launch may choose the workgroup size of a compiled kernel.
    pub fn chooses_workgroup(&self) -> bool {
        self.fixed_size.is_none()
    }
    /// True if the kernel may add floats atomically, so that the result depends on the order of the additions. Atomic exchanges count
    /// too: C++ AMP has no atomic addition of floats, so programs write a loop around an exchange.
    pub fn may_add_floats(&self) -> bool {
        let sums = [Op::AtomicCompareExchange, Op::AtomicExchange, Op::AtomicFAddEXT];
        self.code.insts().any(|inst| inst.op.is_some_and(|op| sums.contains(&op)))
    }
    /// The module with declarations of those `modes` that its float types need; `None` if there are none.
    pub fn with_float_modes(&self, modes: &FloatModes) -> Result<Option<Module>> {
        float_modes::declare(&self.code, &self.entry, modes)?.map(|words| self.rewritten(words)).transpose()
    }
    /// The module with arguments that are read by address; `None` if it is this module.
    pub fn with_arguments_by_address(&self) -> Result<Option<Module>> {
        by_address::rewrite(&self.code, &self.entry)?.map(|words| self.rewritten(words)).transpose()
    }
    /// The module in which the decisions of a launch (`of`) are constants.
    pub fn variant(&self, of: Variant) -> Result<Module> {
        self.rewritten(variant::variant(&self.code, of)?)
    }
    /// See [`SplitModule`].
    pub fn split(&self) -> Result<SplitModule> {
        split::split(&self.code, &self.entry, self.size.source, self.push.as_ref().map(|push| push.size))
    }

    fn list_spec(&self) -> String {
        const SHOWN: usize = 16;
        let one = |constant: &SpecConstant| match &constant.name {
            Some(name) => format!("{} \"{name}\" ({})", constant.id, constant.kind),
            None => format!("{} ({})", constant.id, constant.kind),
        };
        let mut list = self.spec.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
        match self.spec.len() {
            0 => list.push_str("none"),
            n if n > SHOWN => list.push_str(&format!(" and {} more", n - SHOWN)),
            _ => {}
        }
        list
    }
}

/// The bits given for specialization constants, by SpecId.
fn overrides(values: &SpecValues) -> Result<SpecOverrides> {
    let bits = |bytes: &[u8]| match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        // Unreachable: check_spec has checked the sizes.
        _ => 0,
    };
    let mut given = SpecOverrides::new();
    given.make_room(values.len())?;
    given.extend(values.iter().map(|(id, bytes)| (*id, bits(bytes))));
    Ok(given)
}
