//! The contract between the C++ headers and the kernel compiler, which `cpp-shim/revamp/detail/device_abi.h` declares and documents.
//! No other module knows these names; the tests compare the table with the header.
//!
//! A kernel is a function that the header marks with `REVAMP_KERNEL`, the attribute `global`. Clang 22 gives such functions a calling
//! convention of their own, `spir_kernel`, which LLVM's passes keep. The alternatives are worse: `annotate` becomes an entry of the
//! variable `llvm.global.annotations`, and `[[omp::assume]]`, which can create custom attributes, warns of unknown words. The host's
//! processors lack the calling convention, so `passes::host_target` replaces it by an attribute.

use crate::demangle::identifier;
use crate::ir::{Module, Op};
use revamp_image::printf::Function as Print;
use rspirv::spirv::GlslStd450Op as Glsl;

/// How the names of the functions begin.
pub const PREFIX: &str = "__revamp_";

/// Bits of the argument of barriers and fences: the memory that they order.
pub const GLOBAL_MEMORY: u64 = 1;
pub const TILE_MEMORY: u64 = 2;

/// A function of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFunction {
    /// The thread's position in a dimension.
    Position(Position),
    /// The tile's size.
    WorkgroupSize,
    /// Marks a kernel whose workgroup size the compiler chooses.
    WorkgroupAuto,
    TileBarrier,
    MemoryFence,
    EndThread,
    /// Prints its arguments.
    Print(Print),
    /// Returns its first argument, a pointer to an element.
    Element,
    /// Returns whether textures are read as images.
    WithImages,
    ReadImage(ImageRead),
    /// A specialisation constant.
    OfDevice,
    /// The device's division. GLSL.std.450 has no such instruction, and `/` is correctly rounded (`quotients`).
    Quotient,
    /// An instruction of GLSL.std.450 on 32-bit floats; the second operand of `ldexp` is a 32-bit integer.
    Maths(Glsl),
    ForHost,
    Within,
    Own,
    HostChecks,
    /// Inserted by `passes::spin_marks` where control flow joins.
    Meet,
}

/// What a position is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    Global,
    Local,
    Group,
}

/// How an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageRead {
    FetchFloats,
    FetchInts,
    FetchUnsigned,
    Sample,
    Gather,
}

/// The side effects of a call, as the attributes of its declaration state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// No side effect, and the result depends only on the arguments and the thread: `const`.
    None,
    /// Waits for the threads of the tile: `convergent`.
    Waits,
    /// Ends the thread: `noreturn`.
    Ends,
    /// Another effect, or another body on the host's processor.
    Some,
}

const TABLE: [(&str, DeviceFunction, Effect); 40] = [
    ("__revamp_global_id", DeviceFunction::Position(Position::Global), Effect::None),
    ("__revamp_local_id", DeviceFunction::Position(Position::Local), Effect::None),
    ("__revamp_group_id", DeviceFunction::Position(Position::Group), Effect::None),
    ("__revamp_workgroup_size", DeviceFunction::WorkgroupSize, Effect::Some),
    ("__revamp_workgroup_auto", DeviceFunction::WorkgroupAuto, Effect::Some),
    ("__revamp_tile_barrier", DeviceFunction::TileBarrier, Effect::Waits),
    ("__revamp_memory_fence", DeviceFunction::MemoryFence, Effect::Some),
    ("__revamp_printf", DeviceFunction::Print(Print::Printf), Effect::Some),
    ("__revamp_errorf", DeviceFunction::Print(Print::Errorf), Effect::Some),
    ("__revamp_end_thread", DeviceFunction::EndThread, Effect::Ends),
    ("__revamp_element", DeviceFunction::Element, Effect::None),
    ("__revamp_with_images", DeviceFunction::WithImages, Effect::None),
    ("__revamp_image_fetch_f", DeviceFunction::ReadImage(ImageRead::FetchFloats), Effect::None),
    ("__revamp_image_fetch_i", DeviceFunction::ReadImage(ImageRead::FetchInts), Effect::None),
    ("__revamp_image_fetch_u", DeviceFunction::ReadImage(ImageRead::FetchUnsigned), Effect::None),
    ("__revamp_image_sample", DeviceFunction::ReadImage(ImageRead::Sample), Effect::None),
    ("__revamp_image_gather", DeviceFunction::ReadImage(ImageRead::Gather), Effect::None),
    ("__revamp_of_device", DeviceFunction::OfDevice, Effect::None),
    ("__revamp_fast_quotient_f32", DeviceFunction::Quotient, Effect::None),
    ("__revamp_fast_acos_f32", DeviceFunction::Maths(Glsl::Acos), Effect::None),
    ("__revamp_fast_asin_f32", DeviceFunction::Maths(Glsl::Asin), Effect::None),
    ("__revamp_fast_atan2_f32", DeviceFunction::Maths(Glsl::Atan2), Effect::None),
    ("__revamp_fast_atan_f32", DeviceFunction::Maths(Glsl::Atan), Effect::None),
    ("__revamp_fast_cos_f32", DeviceFunction::Maths(Glsl::Cos), Effect::None),
    ("__revamp_fast_cosh_f32", DeviceFunction::Maths(Glsl::Cosh), Effect::None),
    ("__revamp_fast_exp2_f32", DeviceFunction::Maths(Glsl::Exp2), Effect::None),
    ("__revamp_fast_exp_f32", DeviceFunction::Maths(Glsl::Exp), Effect::None),
    ("__revamp_fast_ldexp_f32", DeviceFunction::Maths(Glsl::Ldexp), Effect::None),
    ("__revamp_fast_log2_f32", DeviceFunction::Maths(Glsl::Log2), Effect::None),
    ("__revamp_fast_log_f32", DeviceFunction::Maths(Glsl::Log), Effect::None),
    ("__revamp_fast_pow_f32", DeviceFunction::Maths(Glsl::Pow), Effect::None),
    ("__revamp_fast_rsqrt_f32", DeviceFunction::Maths(Glsl::InverseSqrt), Effect::None),
    ("__revamp_fast_sin_f32", DeviceFunction::Maths(Glsl::Sin), Effect::None),
    ("__revamp_fast_sinh_f32", DeviceFunction::Maths(Glsl::Sinh), Effect::None),
    ("__revamp_fast_tan_f32", DeviceFunction::Maths(Glsl::Tan), Effect::None),
    ("__revamp_for_host", DeviceFunction::ForHost, Effect::Some),
    ("__revamp_within", DeviceFunction::Within, Effect::Some),
    ("__revamp_own", DeviceFunction::Own, Effect::Some),
    ("__revamp_host_checks", DeviceFunction::HostChecks, Effect::Some),
    ("__revamp_meet", DeviceFunction::Meet, Effect::Some),
];

impl DeviceFunction {
    /// The function of a symbol. Those that print are templates, whose symbols go on with the types of the arguments.
    pub fn of(symbol: &str) -> Option<Self> {
        let is_template = !symbol.starts_with(PREFIX);
        let name = match symbol.strip_prefix("_Z") {
            Some(rest) => identifier(rest).filter(|(_, rest)| rest.starts_with('I'))?.0,
            None => symbol,
        };
        let (_, function, _) = TABLE.iter().find(|(known, ..)| *known == name)?;
        (matches!(function, Self::Print(_)) == is_template).then_some(*function)
    }

    /// The function that an instruction calls.
    pub fn called(module: &Module, op: &Op) -> Option<Self> {
        let Op::Call { callee, .. } = op else { return None };
        Self::of(&module.functions[callee.0].name)
    }

    /// Whether a text of IR calls or declares the function. Does not work for functions that print.
    pub fn is_named_in(self, text: &str) -> bool {
        Self::named(text).any(|function| function == self)
    }

    /// The functions that a text of IR calls or declares, except functions that print.
    pub fn named(text: &str) -> impl Iterator<Item = Self> {
        let names = text.split('@').skip(1).filter(|rest| rest.starts_with(PREFIX));
        names.filter_map(|rest| Self::of(rest.split('(').next()?))
    }

    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(_, function, _)| *function == self).map_or("", |(name, ..)| name)
    }

    pub fn reads_image(self) -> bool {
        matches!(self, Self::ReadImage(_))
    }

    /// A call may be removed, moved and repeated, and writes no memory.
    pub fn is_pure(self) -> bool {
        TABLE.iter().any(|(_, function, effect)| *function == self && *effect == Effect::None)
    }
}

/// The attribute of a kernel for the host's processor.
pub const KERNEL: &str = "revamp-kernel";

/// The attribute by which the header marks a kernel in `Pass::OnHost`.
pub const ASSUMED: &str = "llvm.assume";

/// Whether a line of the device's code begins a kernel.
pub fn begins_kernel(line: &str) -> bool {
    line.starts_with("define ") && (line.contains(" spir_kernel ") || line.contains(" amdgpu_kernel "))
}

/// Whether a type of the type-based alias information is a view or the header of an array. Kernels do not change their members.
pub fn is_view(name: &str) -> bool {
    name.starts_with("_ZTSN6revamp") && VIEWS.iter().any(|class| name.contains(class))
}

const VIEWS: [&str; 2] = ["basic_view", "array_header"];

/// Whether a function is defined in the headers, or is a lambda in such a function.
pub fn is_of_headers(symbol: &str) -> bool {
    let Some(name) = symbol.strip_prefix("_Z") else { return symbol.starts_with(PREFIX) };
    let Some(name) = name.trim_start_matches('Z').strip_prefix('N') else { return false };
    let name = name.trim_start_matches(['K', 'R', 'O']);
    ["11Concurrency", "6revamp"].iter().any(|space| name.starts_with(space))
}

/// A function of C++ AMP: `precise_math`, `sin` and `f` of `_ZN11Concurrency5abi_112precise_math3sinEf`, and `direct3d_abort` and `v`.
pub fn of_concurrency(symbol: &str) -> Option<(Vec<&str>, &str)> {
    let (_, mut rest) = identifier(symbol.strip_prefix("_ZN11Concurrency")?)?;
    let mut names = Vec::new();
    while let Some((name, more)) = identifier(rest) {
        names.push(name);
        rest = more;
    }
    Some((names, rest.strip_prefix('E')?))
}

#[cfg(test)]
#[path = "device_abi_tests.rs"]
mod tests;
