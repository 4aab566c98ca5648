//! (interface draft; being implemented)
use crate::device::{Access, SpecValues};
use crate::error::Result;
/// A checked and reflected SPIR-V module with its chosen entry point.
pub struct Module {}
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
    /// From NonWritable/NonReadable decorations (on the variable, or on every member of its block).
    pub access: Access,
    /// Bytes of the fixed part of the block: a bound range must be at least this plus one element of a run-time array.
    pub min_size: u64,
    /// Byte stride of a run-time array at the end of the block.
    pub stride: Option<u64>,
    /// Descriptors in an arrayed binding (1 if not arrayed).
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
pub struct SplitModule {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// Offset of `uvec4 base` (xyz used) then `uvec4 total groups` (xyz used) in the push constants.
    pub offset: u32,
    /// Size of the whole push-constant range.
    pub push_size: u32,
}
impl Module {
    /// Checks `bytes` and reflects `entry_point` (`None`: the only compute entry point).
    pub fn new(_bytes: &[u8], _entry_point: Option<&str>) -> Result<Self> {
        Ok(Self {})
    }
    /// The words in host byte order.
    pub fn words(&self) -> &[u32] {
        &[]
    }
    /// Hash of the words.
    pub fn hash(&self) -> u64 {
        0
    }
    /// Name of the entry point.
    pub fn entry_point(&self) -> &std::ffi::CStr {
        c"main"
    }
    /// SPIR-V version (major, minor).
    pub fn version(&self) -> (u8, u8) {
        (1, 0)
    }
    /// Declared capabilities.
    pub fn capabilities(&self) -> &[rspirv::spirv::Capability] {
        &[]
    }
    /// Declared extensions.
    pub fn extensions(&self) -> &[String] {
        &[]
    }
    /// Resources of the entry point, by (set, binding).
    pub fn bindings(&self) -> &[Binding] {
        &[]
    }
    /// The push-constant block.
    pub fn push(&self) -> Option<&PushBlock> {
        None
    }
    /// Specialization constants, by id.
    pub fn spec_constants(&self) -> &[SpecConstant] {
        &[]
    }
    /// Checks that each value is for a constant of the module and has its size.
    pub fn check_spec(&self, _values: &SpecValues) -> Result<()> {
        Ok(())
    }
    /// Workgroup size with these specialization constants.
    pub fn workgroup_size(&self, _values: &SpecValues) -> Result<[u32; 3]> {
        Ok([1; 3])
    }
    /// Bytes of Workgroup memory (with default specialization constants).
    pub fn workgroup_bytes(&self) -> u64 {
        0
    }
    /// See [`SplitModule`].
    pub fn split(&self) -> Result<SplitModule> {
        Ok(SplitModule { words: vec![], offset: 0, push_size: 0 })
    }
}
