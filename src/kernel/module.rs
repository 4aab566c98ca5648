//! A SPIR-V module with its chosen entry point: checked once, asked often.

use super::code::Code;
use super::reach::{self, Entry};
use super::values::{self, Overrides};
use super::{check, layout, reflect, renumber, size, split, strip};
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::kernel::{Access, SpecValues};
use rspirv::spirv::Capability;
use smallvec::SmallVec;
use std::ffi::CStr;
use std::fmt;

/// What kind of descriptor a binding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// Storage buffer.
    StorageBuffer,
    /// Anything else, which revamp cannot bind; its Vulkan name.
    Other(&'static str),
}

/// A resource the entry point uses.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Debug name, if the module kept it.
    pub name: Option<String>,
    /// Kind of descriptor.
    pub kind: BindingKind,
    /// From NonWritable/NonReadable decorations (on the variable, or on every member of its block), else from what the
    /// instructions do. [`Access::Write`] says that nothing is read, not that every byte is written.
    pub access: Access,
    /// Bytes of the fixed part of the block: a bound range must be at least this plus one element of a run-time array.
    pub min_size: u64,
    /// Byte stride of a run-time array at the end of the block.
    pub stride: Option<u64>,
    /// Descriptors in an arrayed binding (1 if not arrayed; 0, with [`BindingKind::Other`], if it has no fixed length).
    pub count: u32,
}

/// A member of the push-constant block.
#[derive(Debug, Clone)]
pub struct PushMember {
    /// Byte offset.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Debug name.
    pub name: Option<String>,
}

/// The push-constant block of the entry point.
#[derive(Debug, Clone)]
pub struct PushBlock {
    /// Bytes, from offset 0 to the end of the last member.
    pub size: u32,
    /// Its members.
    pub members: Vec<PushMember>,
    /// True if it is one 8-byte address (a 64-bit integer, a uvec2 or a physical-storage-buffer pointer).
    pub is_address: bool,
}

/// Type of a specialization constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecKind {
    /// Boolean (4 bytes, VkBool32).
    Bool,
    /// Integer of so many bytes.
    Int(u32),
    /// Floating point of so many bytes.
    Float(u32),
}

impl SpecKind {
    /// Bytes of a value.
    pub fn size(self) -> u32 {
        match self {
            Self::Bool => 4,
            Self::Int(bytes) | Self::Float(bytes) => bytes,
        }
    }
    /// True if a value may have so many bytes: a boolean also comes as one.
    fn takes(self, bytes: usize) -> bool {
        bytes == self.size() as usize || (self == Self::Bool && bytes == 1)
    }
}

impl fmt::Display for SpecKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "boolean, 4 bytes"),
            Self::Int(1) | Self::Float(1) => write!(f, "1 byte"),
            Self::Int(bytes) => write!(f, "integer, {bytes} bytes"),
            Self::Float(bytes) => write!(f, "floating point, {bytes} bytes"),
        }
    }
}

/// A specialization constant.
#[derive(Debug, Clone)]
pub struct SpecConstant {
    /// SpecId.
    pub id: u32,
    /// Debug name.
    pub name: Option<String>,
    /// Type.
    pub kind: SpecKind,
    /// Default, as bits.
    pub default: u64,
}

/// The module rewritten so that its workgroup numbers start at a base given in push constants.
#[derive(Debug, Clone)]
pub struct SplitModule {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// Offset of `uvec4 base` (xyz used) then `uvec4 total groups` (xyz used) in the push constants.
    pub offset: u32,
    /// Size of the whole push-constant range.
    pub push_size: u32,
}

/// A checked and reflected SPIR-V module with its chosen entry point.
pub struct Module {
    code: Code,
    entry: Entry,
    hash: u64,
    capabilities: Vec<Capability>,
    extensions: Vec<String>,
    bindings: Vec<Binding>,
    push: Option<PushBlock>,
    spec: Vec<SpecConstant>,
    size: size::Rule,
    /// The size, where no specialization constant changes it.
    fixed_size: Option<[u32; 3]>,
    workgroup_bytes: u64,
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
    /// Takes either byte order. What it does not check is left to the driver: spirv-val finds the rest.
    pub fn new(bytes: &[u8], entry_point: Option<&str>) -> Result<Self> {
        Self::of(check::read(bytes)?, entry_point)
    }

    /// The module of these words with the same entry point.
    fn rewritten(&self, words: Vec<u32>) -> Result<Self> {
        Self::of(check::index(words)?, self.entry.name.to_str().ok())
    }

    fn of(code: Code, entry_point: Option<&str>) -> Result<Self> {
        let (capabilities, extensions) = check::environment(&code)?;
        let entry = reach::entry(&code, entry_point)?;
        let defaults = values::evaluate(&code, code.globals(), &Overrides::new())?;
        let layouts = layout::layouts(&code, &defaults)?;
        let bindings = reflect::bindings(&code, &entry, &defaults, &layouts)?;
        let push = reflect::push(&code, &entry, &layouts)?;
        let spec = reflect::spec_constants(&code)?;
        let size = size::Rule::find(&code, &entry)?;
        let fixed_size = if size.is_specialized(&code) { None } else { Some(size.evaluate(&code, &Overrides::new())?) };
        let workgroup_bytes = layout::workgroup_bytes(&code, &layouts, &entry.variables);
        let hash = fnv(code.words().iter().flat_map(|word| word.to_le_bytes()));
        Ok(Self {
            code,
            entry,
            hash,
            capabilities,
            extensions,
            bindings,
            push,
            spec,
            size,
            fixed_size,
            workgroup_bytes,
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
    /// The push-constant block.
    pub fn push(&self) -> Option<&PushBlock> {
        self.push.as_ref()
    }
    /// Specialization constants, by id.
    pub fn spec_constants(&self) -> &[SpecConstant] {
        &self.spec
    }
    /// Checks that each value is for a constant of the module and has its size.
    pub fn check_spec(&self, values: &SpecValues) -> Result<()> {
        let mut given: SmallVec<[bool; 64]> = SmallVec::from_elem(false, self.spec.len());
        for (id, bytes) in values {
            let found = self.spec.binary_search_by_key(id, |constant| constant.id);
            let Some((constant, given)) = found.ok().and_then(|at| self.spec.get(at).zip(given.get_mut(at))) else {
                return Err(Error::invalid(format!(
                    "a value is given for specialization constant {id}, which kernel \"{}\" does not have; it has: {}",
                    self.entry.name.to_string_lossy(),
                    self.list_spec()
                )));
            };
            if !constant.kind.takes(bytes.len()) {
                return Err(Error::invalid(format!(
                    "the value for specialization constant {id} has {} bytes, expected {} ({}); kernel \"{}\" has: {}",
                    bytes.len(),
                    constant.kind.size(),
                    constant.kind,
                    self.entry.name.to_string_lossy(),
                    self.list_spec()
                )));
            }
            if std::mem::replace(given, true) {
                return Err(Error::invalid(format!(
                    "specialization constant {id} of kernel \"{}\" is given two values; give one",
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
        let values = values::evaluate(&self.code, self.code.globals(), &overrides(values)?)?;
        Ok(layout::workgroup_bytes(&self.code, &layout::layouts(&self.code, &values)?, &self.entry.variables))
    }
    /// The module without instructions that mean nothing to the device and the extension that brings them; `None` if it has
    /// none.
    pub fn without_non_semantic(&self) -> Result<Option<Module>> {
        strip::strip(&self.code)?.map(|words| self.rewritten(words)).transpose()
    }
    /// The module with descriptor sets 0, 1, ... and bindings 0, 1, ... in each, in the order of [`Self::bindings`], for
    /// drivers whose tables are as long as the highest number.
    pub fn renumbered(&self) -> Result<Module> {
        self.rewritten(renumber::renumber(&self.code, &self.bindings)?)
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
fn overrides(values: &SpecValues) -> Result<Overrides> {
    let bits = |bytes: &[u8]| match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        // Not reached: check_spec.
        _ => 0,
    };
    let mut given = Overrides::new();
    given.make_room(values.len())?;
    given.extend(values.iter().map(|(id, bytes)| (*id, bits(bytes))));
    Ok(given)
}

/// FNV-1a: names cache files, so it must not change between versions of the standard library.
pub(super) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
